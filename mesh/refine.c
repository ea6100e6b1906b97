// SPDX-License-Identifier: BSD-2-Clause
// Uniform refinement. The vertices of the children are the nodes of degree 2 of the parent, so the node
// numbering finds them on any topology; their positions are values of the parent's polynomial map.
#include "mesh/mesh.h"

#include "fe/fe.h"

// Tables [P][P] that take the nodes of a parent to those of its lower and its upper half, and work space.
typedef struct {
  CeedInt P;
  double *half[2]; // owned
  double *work;    // owned
} Halves;

static void clear_halves(Halves *halves) {
  RITZ_FREE(&halves->half[0]);
  RITZ_FREE(&halves->half[1]);
  RITZ_FREE(&halves->work);
}

static int make_halves(RitzMesh mesh, Halves *halves) {
  const CeedInt P = mesh->order + 1;
  const int64_t work_size = ritz_mesh_map_work_size(mesh->dim, mesh->space_dim, P, P);
  double *nodes = NULL; // owned: nodes [P], points [P]
  int ierr = CEED_ERROR_SUCCESS;

  *halves = (Halves){.P = P};
  RITZ_TRY(RITZ_MALLOC(mesh->ceed, 2 * (size_t)P, &nodes));
  ritz_fe_gauss_lobatto(P, nodes, NULL);
  for (int side = 0; side < 2; side++) {
    double *points = nodes + P;

    RITZ_TRY_CLEANUP(RITZ_MALLOC(mesh->ceed, (size_t)P * (size_t)P, &halves->half[side]));
    for (CeedInt i = 0; i < P; i++) points[i] = 0.5 * (nodes[i] + (side ? 1.0 : -1.0));
    RITZ_TRY_CLEANUP(ritz_fe_lagrange(mesh->ceed, P, nodes, P, points, halves->half[side], NULL));
  }
  ierr = RITZ_MALLOC(mesh->ceed, (size_t)work_size, &halves->work);

cleanup:
  if (ierr) clear_halves(halves);
  RITZ_FREE(&nodes);
  return ierr;
}

// Corners of the children from the lattice of 3^dim vertices of their parent.
static int split_topology(RitzMesh mesh, RitzMeshDraft *fine) {
  const int dim = mesh->dim, num_corners = 1 << dim;
  const int64_t num_lattice = ritz_mesh_power(3, dim);
  int64_t *lattice = NULL;
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY(RITZ_MALLOC(mesh->ceed, (size_t)(fine->num_elem * num_corners), &fine->elem_vertices));
  RITZ_TRY(RITZ_MALLOC(mesh->ceed, (size_t)(mesh->num_elem * num_lattice), &lattice));
  RITZ_TRY_CLEANUP(ritz_mesh_number_nodes(mesh, 2, &fine->num_vertices, lattice));
  for (int64_t f = 0; f < fine->num_elem; f++) {
    const int64_t *parent = lattice + (f >> dim) * num_lattice;

    for (int k = 0; k < num_corners; k++) {
      int place = 0;

      for (int d = 0, stride = 1; d < dim; d++, stride *= 3)
        place += (int)((f >> d & 1) + (k >> d & 1)) * stride;
      fine->elem_vertices[f * num_corners + k] = parent[place];
    }
  }

cleanup:
  RITZ_FREE(&lattice);
  return ierr;
}

static int split_geometry(RitzMesh mesh, RitzMeshDraft *fine) {
  const int64_t num_per_elem = ritz_mesh_power(mesh->order + 1, mesh->dim) * mesh->space_dim;
  Halves halves;

  RITZ_TRY(RITZ_MALLOC(mesh->ceed, (size_t)(fine->num_elem * num_per_elem), &fine->coords));
  RITZ_TRY(RITZ_MALLOC(mesh->ceed, (size_t)fine->num_elem, &fine->elem_regions));
  RITZ_TRY(make_halves(mesh, &halves));
  for (int64_t f = 0; f < fine->num_elem; f++) {
    const int64_t parent = f >> mesh->dim;
    const double *M[3];

    for (CeedInt d = 0; d < mesh->dim; d++) M[d] = halves.half[f >> d & 1];
    ritz_mesh_map_points(mesh->dim, mesh->space_dim, halves.P, halves.P, M,
                         mesh->coords + parent * num_per_elem, fine->coords + f * num_per_elem, halves.work);
    fine->elem_regions[f] = mesh->elem_regions[parent];
  }
  clear_halves(&halves);
  return CEED_ERROR_SUCCESS;
}

// Every marked facet becomes the facets of the children on that side.
static int split_marks(RitzMesh mesh, RitzMesh fine) {
  const int num_children = 1 << mesh->dim;

  RITZ_TRY(RITZ_MALLOC(mesh->ceed, (size_t)mesh->num_marks * (size_t)(num_children / 2), &fine->marks));
  for (int64_t i = 0; i < mesh->num_marks; i++) {
    RitzMeshMark mark = mesh->marks[i];

    for (int child = 0; child < num_children; child++) {
      if ((child >> mark.facet / 2 & 1) != mark.facet % 2) continue;
      fine->marks[fine->num_marks] = mark;
      fine->marks[fine->num_marks++].elem = mesh->marks[i].elem * num_children + child;
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int copy_names(Ceed ceed, CeedInt num, const RitzMeshName *names, CeedInt *num_copied,
                      RitzMeshName **copies) {
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num, copies));
  for (*num_copied = 0; *num_copied < num; ++*num_copied) {
    (*copies)[*num_copied].number = names[*num_copied].number;
    RITZ_TRY(ritz_strdup(ceed, names[*num_copied].name, &(*copies)[*num_copied].name));
  }
  return CEED_ERROR_SUCCESS;
}

// Moves the arrays of the draft, which are the children's, and adds what is inherited.
static int assemble(RitzMesh mesh, RitzMeshDraft *draft, RitzMesh fine) {
  fine->topology = draft->topology;
  fine->dim = draft->dim;
  fine->space_dim = draft->space_dim;
  fine->order = draft->order;
  fine->num_elem = draft->num_elem;
  fine->num_vertices = draft->num_vertices;
  fine->elem_vertices = draft->elem_vertices;
  fine->coords = draft->coords;
  fine->elem_regions = draft->elem_regions;
  *draft = (RitzMeshDraft){0};
  RITZ_TRY(split_marks(mesh, fine));
  RITZ_TRY(copy_names(mesh->ceed, mesh->num_regions, mesh->regions, &fine->num_regions, &fine->regions));
  return copy_names(mesh->ceed, mesh->num_parts, mesh->parts, &fine->num_parts, &fine->parts);
}

// The polynomial may have a fold between the points where the parent was tested, so children are tested too.
static int refine_once(RitzMesh mesh, RitzMesh *refined) {
  RitzMeshDraft fine = {.topology = mesh->topology,
                        .dim = mesh->dim,
                        .space_dim = mesh->space_dim,
                        .order = mesh->order,
                        .num_elem = mesh->num_elem << mesh->dim};
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY_CLEANUP(split_topology(mesh, &fine));
  RITZ_TRY_CLEANUP(split_geometry(mesh, &fine));
  RITZ_TRY_CLEANUP(ritz_mesh_check_orientation(mesh->ceed, "RitzMeshRefine", &fine, false));
  RITZ_TRY_CLEANUP(ritz_mesh_create_empty(mesh->ceed, refined));
  ierr = assemble(mesh, &fine, *refined);
  if (ierr) RitzMeshDestroy(refined);

cleanup:
  ritz_mesh_draft_clear(&fine);
  return ierr;
}

// Checks that the sizes of the arrays of the finest mesh can be counted.
static int check_levels(RitzMesh mesh, CeedInt levels) {
  const int64_t num_local = ritz_mesh_power((int64_t)mesh->order + 1, mesh->dim);
  int64_t num_elem = levels <= 60 ? ritz_mesh_power(1 << mesh->dim, levels) : -1;

  RITZ_REQUIRE(levels >= 0, mesh->ceed, CEED_ERROR_DIMENSION,
               "RitzMeshRefine: %" CeedInt_FMT " levels, needed at least 0", levels);
  num_elem =
      ritz_mesh_product(4, (const int64_t[]){num_elem, mesh->num_elem, num_local, 12 * sizeof(double)});
  RITZ_REQUIRE(num_elem >= 0, mesh->ceed, CEED_ERROR_DIMENSION,
               "RitzMeshRefine: %" CeedInt_FMT " levels of %lld elements are too many", levels,
               (long long)mesh->num_elem);
  return CEED_ERROR_SUCCESS;
}

int RitzMeshRefine(RitzMesh mesh, CeedInt levels, RitzMesh *refined) {
  RitzMesh current = NULL;

  RITZ_NOT_NULL(mesh);
  RITZ_NOT_NULL(refined);
  *refined = NULL;
  RITZ_TRY(check_levels(mesh, levels));
  RITZ_TRY(RitzMeshReferenceCopy(mesh, &current));
  for (CeedInt level = 0; level < levels; level++) {
    RitzMesh finer = NULL;
    int ierr = refine_once(current, &finer);

    RitzMeshDestroy(&current);
    RITZ_TRY(ierr);
    current = finer;
  }
  *refined = current;
  return CEED_ERROR_SUCCESS;
}
