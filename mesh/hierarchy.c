// SPDX-License-Identifier: BSD-2-Clause
// Hierarchies of nested spaces, coarsest first: lower degrees on one mesh, the same degree on coarser meshes.
#include <ritz/multigrid.h>

#include "mesh/mesh.h"

const RitzClass ritz_hierarchy_class = {.name = "RitzHierarchy"};

struct RitzHierarchy_private {
  const RitzClass *class;
  Ceed ceed; // counted
  CeedInt num_levels;
  RitzSpace *spaces; // owned and counted, [num_levels]; while levels are added: finest first
};

// ---- Life ----

int RitzHierarchyDestroy(RitzHierarchy *hierarchy) {
  if (!hierarchy || !*hierarchy) return CEED_ERROR_SUCCESS;
  RitzHierarchy h = *hierarchy;
  RITZ_TRY(ritz_check_handle(NULL, __func__, "hierarchy", h, &ritz_hierarchy_class));
  int ierr = CEED_ERROR_SUCCESS;

  *hierarchy = NULL;
  for (CeedInt i = 0; i < h->num_levels; i++) {
    ierr = ritz_first_error(ierr, RitzSpaceDestroy(&h->spaces[i]));
  }
  Ceed ceed = h->ceed;

  RITZ_FREE(&h->spaces);
  RITZ_FREE(&h);
  return ritz_first_error(ierr, CeedDestroy(&ceed));
}

// ---- Levels, finest first ----

// Takes the space over, also after a failure.
static int append(RitzHierarchy h, RitzSpace space) {
  int ierr = RITZ_REALLOC(h->ceed, (size_t)h->num_levels + 1, &h->spaces);

  if (ierr) {
    RitzSpaceDestroy(&space);
    return ierr;
  }
  h->spaces[h->num_levels++] = space;
  return CEED_ERROR_SUCCESS;
}

static int append_space(RitzHierarchy h, RitzMesh mesh, CeedInt degree) {
  CeedInt num_comp = 0;
  RitzSpace space = NULL;

  RITZ_TRY(RitzSpaceGetNumComponents(h->spaces[0], &num_comp));
  RITZ_TRY(RitzSpaceCreate(mesh, degree, num_comp, &space));
  return append(h, space);
}

static CeedInt lower_degree(CeedInt degree, CeedInt divisor) {
  const CeedInt lower = divisor == 0 ? (degree + 1) / 2 : divisor == 1 ? degree - 1 : degree / divisor;

  return lower > 1 ? lower : 1;
}

// Degrees below that of the last level, on its mesh.
static int append_degrees(RitzHierarchy h, const RitzHierarchyOptions *options) {
  RitzMesh mesh;
  CeedInt degree = 1;

  RITZ_TRY(RitzSpaceGetMesh(h->spaces[h->num_levels - 1], &mesh));
  RITZ_TRY(RitzSpaceGetDegree(h->spaces[h->num_levels - 1], &degree));
  while (degree > 1 && h->num_levels < options->max_levels) {
    degree = lower_degree(degree, options->degree_divisor);
    RITZ_TRY(append_space(h, mesh, degree));
  }
  return CEED_ERROR_SUCCESS;
}

// Meshes below that of the last level, with its degree.
static int append_meshes(RitzHierarchy h, const RitzHierarchyOptions *options) {
  CeedInt degree = 1;

  RITZ_TRY(RitzSpaceGetDegree(h->spaces[h->num_levels - 1], &degree));
  while (h->num_levels < options->max_levels) {
    RitzMesh mesh, coarser = NULL;
    int64_t num_elem = 0;

    RITZ_TRY(RitzSpaceGetMesh(h->spaces[h->num_levels - 1], &mesh));
    RITZ_TRY(RitzMeshGetCoarser(mesh, &coarser));
    if (!coarser) break;
    int ierr = RitzMeshGetNumElements(coarser, &num_elem);
    const bool is_large = coarser->seam || num_elem >= options->min_elements;

    if (!ierr && is_large) ierr = append_space(h, coarser, degree);
    RitzMeshDestroy(&coarser);
    RITZ_TRY(ierr);
    if (!is_large) break;
  }
  return CEED_ERROR_SUCCESS;
}

static int append_levels(RitzHierarchy h, const RitzHierarchyOptions *options) {
  const RitzHierarchyKind kind = options->kind;

  if (kind == RITZ_HIERARCHY_P || kind == RITZ_HIERARCHY_AUTO) RITZ_TRY(append_degrees(h, options));
  if (kind != RITZ_HIERARCHY_P) RITZ_TRY(append_meshes(h, options));
  if (kind == RITZ_HIERARCHY_HP) RITZ_TRY(append_degrees(h, options));
  RITZ_REQUIRE(options->num_levels <= h->num_levels, h->ceed, CEED_ERROR_DIMENSION,
               "RitzHierarchyCreate: %" CeedInt_FMT " levels are wanted, possible are %" CeedInt_FMT,
               options->num_levels, h->num_levels);
  return CEED_ERROR_SUCCESS;
}

// ---- Creation ----

static int check_options(Ceed ceed, const RitzHierarchyOptions *options) {
  RITZ_REQUIRE(options->kind >= RITZ_HIERARCHY_AUTO && options->kind <= RITZ_HIERARCHY_HP, ceed,
               CEED_ERROR_INCOMPATIBLE, "RitzHierarchyCreate: %d is no kind of hierarchy",
               (int)options->kind);
  RITZ_REQUIRE(options->max_levels >= 0 && options->num_levels >= 0 && options->degree_divisor >= 0 &&
                   options->min_elements >= 0,
               ceed, CEED_ERROR_DIMENSION,
               "RitzHierarchyCreate: max_levels %" CeedInt_FMT ", num_levels %" CeedInt_FMT
               ", degree_divisor %" CeedInt_FMT ", min_elements %" CeedInt_FMT ", needed at least 0",
               options->max_levels, options->num_levels, options->degree_divisor, options->min_elements);
  RITZ_REQUIRE(options->num_levels == 0 || options->max_levels == 0 ||
                   options->num_levels <= options->max_levels,
               ceed, CEED_ERROR_DIMENSION,
               "RitzHierarchyCreate: %" CeedInt_FMT " levels are wanted, but at most %" CeedInt_FMT,
               options->num_levels, options->max_levels);
  return CEED_ERROR_SUCCESS;
}

static RitzHierarchyOptions complete(const RitzHierarchyOptions *options) {
  RitzHierarchyOptions o = *options;

  if (o.max_levels == 0) o.max_levels = INT32_MAX;
  if (o.num_levels > 0) o.max_levels = o.num_levels;
  if (o.min_elements == 0) o.min_elements = 1;
  return o;
}

static void reverse(RitzHierarchy h) {
  for (CeedInt i = 0; i < h->num_levels / 2; i++) {
    RitzSpace space = h->spaces[i];

    h->spaces[i] = h->spaces[h->num_levels - 1 - i];
    h->spaces[h->num_levels - 1 - i] = space;
  }
}

// All spaces of a multigrid method have been numbered: nobody waits for edges and faces any more.
static int drop_topologies(RitzHierarchy h) {
  for (CeedInt i = 0; i < h->num_levels; i++) {
    RitzMesh mesh;

    RITZ_TRY(RitzSpaceGetMesh(h->spaces[i], &mesh));
    ritz_mesh_topology_clear(&mesh->topology);
  }
  return CEED_ERROR_SUCCESS;
}

int RitzHierarchyCreate(RitzSpace fine, const RitzHierarchyOptions *options, RitzHierarchy *hierarchy) {
  const RitzHierarchyOptions none = {.kind = RITZ_HIERARCHY_AUTO};
  RitzHierarchy h = NULL;
  RitzSpace finest = NULL;
  RitzMesh mesh;
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_HANDLE(fine);
  RITZ_TRY(RitzSpaceGetMesh(fine, &mesh));
  const Ceed ceed = RitzMeshReturnCeed(mesh);

  RITZ_ARGUMENT(ceed, hierarchy);
  *hierarchy = NULL;
  RITZ_TRY(ritz_space_require_continuous(fine, __func__));
  if (!options) options = &none;
  RITZ_TRY(check_options(ceed, options));
  const RitzHierarchyOptions completed = complete(options);

  RITZ_TRY(RITZ_CALLOC(ceed, 1, &h));
  h->class = &ritz_hierarchy_class;
  RITZ_TRY_CLEANUP(CeedReferenceCopy(ceed, &h->ceed));
  RITZ_TRY_CLEANUP(RitzSpaceReferenceCopy(fine, &finest));
  RITZ_TRY_CLEANUP(append(h, finest));
  RITZ_TRY_CLEANUP(append_levels(h, &completed));
  reverse(h);
  RITZ_TRY_CLEANUP(drop_topologies(h));

cleanup:
  if (ierr) RitzHierarchyDestroy(&h);
  *hierarchy = h;
  return ierr;
}

// ---- Queries ----

int RitzHierarchyGetNumLevels(RitzHierarchy hierarchy, CeedInt *num_levels) {
  RITZ_HANDLE(hierarchy);
  RITZ_ARGUMENT(hierarchy->ceed, num_levels);
  *num_levels = hierarchy->num_levels;
  return CEED_ERROR_SUCCESS;
}

int RitzHierarchyGetSpace(RitzHierarchy hierarchy, CeedInt level, RitzSpace *space) {
  RITZ_HANDLE(hierarchy);
  RITZ_ARGUMENT(hierarchy->ceed, space);
  RITZ_REQUIRE(level >= 0 && level < hierarchy->num_levels, hierarchy->ceed, CEED_ERROR_DIMENSION,
               "RitzHierarchyGetSpace: there is no level %" CeedInt_FMT ", the hierarchy has %" CeedInt_FMT,
               level, hierarchy->num_levels);
  *space = hierarchy->spaces[level];
  return CEED_ERROR_SUCCESS;
}

int RitzHierarchyView(RitzHierarchy hierarchy, FILE *stream) {
  RITZ_HANDLE(hierarchy);
  RITZ_ARGUMENT(hierarchy->ceed, stream);
  fprintf(stream, "%5s %6s %10s %12s\n", "level", "degree", "elements", "unknowns");
  for (CeedInt level = hierarchy->num_levels - 1; level >= 0; level--) {
    const RitzSpace space = hierarchy->spaces[level];
    RitzMesh mesh;
    CeedInt degree = 0;
    CeedSize size = 0;
    int64_t num_elem = 0;

    RITZ_TRY(RitzSpaceGetMesh(space, &mesh));
    RITZ_TRY(RitzSpaceGetDegree(space, &degree));
    RITZ_TRY(RitzSpaceGetSize(space, &size));
    RITZ_TRY(RitzMeshGetNumElements(mesh, &num_elem));
    fprintf(stream, "%5d %6d %10lld %12lld\n", (int)level, (int)degree, (long long)num_elem, (long long)size);
  }
  return CEED_ERROR_SUCCESS;
}
