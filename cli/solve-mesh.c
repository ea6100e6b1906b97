// SPDX-License-Identifier: BSD-2-Clause
// The mesh of `ritz solve`: a box or a file, refined; and what is said about it.
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/solve.h"

// "box:8", "box:8x8" or "box:8x8x8"; false: malformed.
static bool parse_box(const char *text, CeedInt *dim, CeedInt n[3]) {
  const char *c = text + strlen("box:");

  for (*dim = 0; *dim < 3;) {
    char *end;
    if (*c < '0' || *c > '9') return false;
    errno = 0;
    long value = strtol(c, &end, 10);
    if (errno || value < 1 || value > INT_MAX) return false;
    n[(*dim)++] = (CeedInt)value;
    if (*end == '\0') return true;
    if (*end != 'x') return false;
    c = end + 1;
  }
  return false;
}

static int create_mesh(Solve *s, const CeedInt n[3], CeedInt dim) {
  if (dim) return RitzMeshCreateBox(s->ceed, dim, n, NULL, NULL, 1, NULL, NULL, &s->mesh);
  const RitzMeshReadOptions options = {.ignore_periodic = s->options.ignore_periodic,
                                       .merge = s->options.merge >= 0,
                                       .merge_distance = s->options.merge};

  return RitzMeshReadWith(s->ceed, s->options.mesh, &options, &s->mesh);
}

enum { MAX_CRACK_ORDER = 16 }; // of RitzMeshFindCracks

// "2 vertices coincide with others, the first at (1, 0, 0)", to be told or refused; "": there are none.
static int describe_cracks(const Solve *s, size_t size, char *text) {
  RitzMeshCracks c = {0};
  CeedInt order = 0;
  int n = 0;

  text[0] = '\0';
  CLI_TRY(RitzMeshGetGeometryOrder(s->mesh, &order));
  if (order > MAX_CRACK_ORDER) return CEED_ERROR_SUCCESS;
  CLI_TRY(RitzMeshFindCracks(s->mesh, &c));
  if (c.num_coincident)
    n = snprintf(text, size, "vertices coincide with others: %lld, the first at (%g, %g, %g)",
                 (long long)c.num_coincident, c.coincident_at[0], c.coincident_at[1], c.coincident_at[2]);
  if (c.num_hanging)
    snprintf(text + n, size - (size_t)n,
             "%svertices lie on elements that do not have them: %lld, the first at (%g, %g, %g)",
             n ? "; " : "", (long long)c.num_hanging, c.hanging_at[0], c.hanging_at[1], c.hanging_at[2]);
  return CEED_ERROR_SUCCESS;
}

static int refuse_cracks(const Solve *s) {
  char text[400], shown[ARG_SHOWN];

  if (describe_cracks(s, sizeof(text), text)) return cli_report(s->command->name, s->ceed);
  if (!*text) return CLI_OK;
  fprintf(cli_stderr(), "%s: %s: %s\n", s->command->name, args_shown(s->options.mesh, shown), text);
  fprintf(cli_stderr(),
          "The mesh has cracks there: --merge DISTANCE joins vertices, --allow-cracks goes on.\n");
  return CLI_FAILED;
}

// Boxes in parts are cut with fewer elements and refined again, so that multigrid has levels below them, down
// to enough elements for parts to be alike, and about as many as a coarsest problem that every part has whole
// should have: levels below would be all exchanges and no work.
static void coarsen_box(Solve *s, CeedInt dim, CeedInt n[3]) {
  const double least = fmax(512, 64.0 * s->base->num_parts);

  for (;;) {
    double num = 1;

    for (CeedInt d = 0; d < dim; d++) num *= n[d] % 2 ? 0 : n[d] / 2;
    if (num < least) return;
    for (CeedInt d = 0; d < dim; d++) n[d] /= 2;
    s->num_halved++;
  }
}

// Every part finds the same list by itself.
static int cut_mesh(Solve *s) {
  const RitzTransport *t = s->base;
  RitzMesh part = NULL;
  int64_t num_elem = 0;
  int32_t *parts = NULL;

  CLI_TRY(RitzMeshGetNumElements(s->mesh, &num_elem));
  CLI_TRY(cli_allocate(s->ceed, (size_t)num_elem, sizeof(*parts), &parts));
  int ierr = RitzMeshPartition(s->mesh, RITZ_PARTITION_AUTO, t->num_parts, NULL, parts);

  if (!ierr) ierr = RitzMeshCreateSubmesh(s->mesh, t->num_parts, parts, t->part, &part);
  free(parts);
  CLI_TRY(ierr);
  RitzMeshDestroy(&s->mesh);
  s->mesh = part;
  return CEED_ERROR_SUCCESS;
}

// Whether boxes are cut into slabs, which keep the kernels of a whole box: equal ones, down to a coarsest
// mesh that every part may have whole.
static bool has_slabs(const Solve *s) {
  const double most = 4096;
  double num = 1;

  if (!s->base || !s->box_dim || s->options.refine) return false;
  for (CeedInt d = 0; d < s->box_dim; d++) num *= s->box[d];
  for (CeedInt h = 0; h <= s->num_halved; h++) {
    const CeedInt layers = s->box[s->box_dim - 1] >> h;

    if (num <= most && layers % s->base->num_parts == 0 && layers >= 2 * s->base->num_parts) return true;
    num /= 1 << s->box_dim;
  }
  return false;
}

// The part alone, as fine as it was asked for.
static int create_slab(Solve *s) {
  RitzMesh slab = NULL;

  CLI_TRY(RitzMeshCreateBoxSlab(s->ceed, s->box_dim, s->box, NULL, NULL, 1, NULL, NULL, s->base->num_parts,
                                s->base->part, &slab));
  RitzMeshDestroy(&s->mesh);
  s->mesh = slab;
  return CEED_ERROR_SUCCESS;
}

int solve_divide_mesh(Solve *s) {
  RitzMesh fine = NULL;

  if (has_slabs(s)) return create_slab(s);
  if (s->base) CLI_TRY(cut_mesh(s));
  if (s->options.refine + s->num_halved == 0) return CEED_ERROR_SUCCESS;
  CLI_TRY(RitzMeshRefine(s->mesh, s->options.refine + s->num_halved, &fine));
  RitzMeshDestroy(&s->mesh);
  s->mesh = fine;
  return CEED_ERROR_SUCCESS;
}

int solve_open_mesh(Solve *s) {
  const char *mesh = s->options.mesh;
  CeedInt dim = 0, n[3] = {0};
  char shown[ARG_SHOWN];

  if (!strncmp(mesh, "box:", 4) && !parse_box(mesh, &dim, n)) {
    args_wrong(s->command, "MESH", "expected box:N, box:NxN or box:NxNxN with integers N >= 1, found '%s'",
               args_shown(mesh, shown));
    return CLI_USAGE;
  }
  s->box_dim = dim;
  memcpy(s->box, n, sizeof(n));
  if (s->base && dim > 0) coarsen_box(s, dim, n);
  if (create_mesh(s, n, dim)) return cli_report(s->command->name, s->ceed);
  if (RitzMeshGetDimensions(s->mesh, &s->dim, &s->space_dim)) return cli_report(s->command->name, s->ceed);
  return dim > 0 || s->options.allow_cracks ? CLI_OK : refuse_cracks(s);
}

// ---- Facts ----

static const char *shape_name(CeedElemTopology topology) {
  switch (topology) {
  case CEED_TOPOLOGY_LINE: return "lines";
  case CEED_TOPOLOGY_TRIANGLE: return "triangles";
  case CEED_TOPOLOGY_QUAD: return "quadrilaterals";
  case CEED_TOPOLOGY_TET: return "tetrahedra";
  case CEED_TOPOLOGY_PYRAMID: return "pyramids";
  case CEED_TOPOLOGY_PRISM: return "prisms";
  case CEED_TOPOLOGY_HEX: return "hexahedra";
  }
  return "elements";
}

// Sums counts over all parts.
static int add_counts(const Solve *s, CeedInt num, int64_t counts[]) {
  for (CeedInt i = 0; i < num; i++) {
    double sum = (double)counts[i];

    CLI_TRY(solve_reduce(s, RITZ_REDUCTION_SUM, 1, &sum));
    counts[i] = (int64_t)sum;
  }
  return CEED_ERROR_SUCCESS;
}

// Vertices are nodes of degree 1; those of several parts have one owner.
static int count_vertices(const Solve *s, int64_t *num) {
  RitzSpace space = NULL;
  RitzHalo halo = NULL;

  if (!s->transport) return RitzMeshGetNumVertices(s->mesh, num);
  CLI_TRY(RitzSpaceCreate(s->mesh, 1, 1, &space));
  int ierr = RitzSpaceGetHalo(space, &halo);

  if (!ierr) ierr = RitzHaloGetSizes(halo, num, NULL);
  RitzSpaceDestroy(&space);
  return ierr ? ierr : add_counts(s, 1, num);
}

enum { COUNTED = 40 }; // characters of "9223372036854775807 quadrilaterals, "

// "4 pyramids, 8 hexahedra", an array to be freed.
static int count_elements(const Solve *s, char **text) {
  CeedInt num_blocks = 0;

  CLI_TRY(RitzMeshGetNumBlocks(s->mesh, &num_blocks));
  CLI_TRY(cli_allocate(s->ceed, (size_t)num_blocks, COUNTED, text));
  for (CeedInt b = 0, length = 0; b < num_blocks; b++) {
    CeedElemTopology topology = CEED_TOPOLOGY_LINE;
    int64_t num = 0;

    CLI_TRY(RitzMeshGetBlock(s->mesh, b, &topology, NULL, &num, NULL, NULL));
    CLI_TRY(add_counts(s, 1, &num));
    length +=
        snprintf(*text + length, COUNTED, "%s%lld %s", b ? ", " : "", (long long)num, shape_name(topology));
  }
  return CEED_ERROR_SUCCESS;
}

const char *solve_explain_surface(const Solve *s) {
  if (s->dim == 1)
    return "the file has elements of curves alone (of Gmsh: groups that need elements have to have names)";
  return "the file has elements of surfaces alone: in Gmsh the volume needs a physical group, too";
}

static int show_elements(const Solve *s) {
  int64_t num_vertices = 0;
  CeedInt geometry_order = 0;
  char shown[ARG_SHOWN], refined[40] = "", *counts = NULL;
  int ierr;

  CLI_TRY(count_vertices(s, &num_vertices));
  CLI_TRY(RitzMeshGetGeometryOrder(s->mesh, &geometry_order));
  if (s->options.refine) snprintf(refined, sizeof(refined), ", refined %d times", s->options.refine);
  cli_fact("mesh", "%s, %s%" CeedInt_FMT "D%s", args_shown(s->options.mesh, shown),
           s->dim == s->space_dim ? ""
           : s->dim == 1          ? "curves in "
                                  : "surfaces in ",
           s->space_dim, refined);
  if (s->dim < s->space_dim) cli_fact(NULL, "%s", solve_explain_surface(s));
  ierr = count_elements(s, &counts);
  if (!ierr) {
    cli_fact("elements", "%s, %lld vertices, geometry of degree %" CeedInt_FMT, counts,
             (long long)num_vertices, geometry_order);
  }
  free(counts);
  return ierr;
}

static const char *const measure_names[] = {"", "length", "area", "volume"};

static int show_geometry(const Solve *s) {
  int64_t kinds[3] = {0};
  double measure = 0, min_det = 0, max_det = 0;

  CLI_TRY(RitzMeshClassifyElements(s->mesh, -1, NULL, kinds));
  CLI_TRY(add_counts(s, 3, kinds));
  CLI_TRY(RitzMeshGetMeasure(s->mesh, &measure, &min_det, &max_det));
  CLI_TRY(solve_reduce(s, RITZ_REDUCTION_SUM, 1, &measure));
  cli_fact("geometry", "%lld affine, %lld %slinear, %lld curved, %s %.6g", (long long)kinds[0],
           (long long)kinds[1],
           s->dim == 3   ? "tri"
           : s->dim == 2 ? "bi"
                         : "",
           (long long)kinds[2], measure_names[s->dim], measure);
  return CEED_ERROR_SUCCESS;
}

enum { MAX_PARTS_SHOWN = 24 };

static int write_part(const Solve *s, FILE *stream, const char *name, const char *glue) {
  int64_t num = 0;

  CLI_TRY(RitzMeshGetBoundaryPart(s->mesh, name, &num, NULL, NULL));
  CLI_TRY(add_counts(s, 1, &num));
  fprintf(stream, "%s%s (%lld)", glue, name, (long long)num);
  return CEED_ERROR_SUCCESS;
}

static int write_parts(const Solve *s, FILE *stream) {
  CeedInt num_parts = 0;
  bool has_all = false;

  CLI_TRY(RitzMeshGetNumBoundaryParts(s->mesh, &num_parts));
  for (CeedInt i = 0; i < num_parts && i < MAX_PARTS_SHOWN; i++) {
    const char *name = NULL;
    CLI_TRY(RitzMeshGetBoundaryPartName(s->mesh, i, &name));
    CLI_TRY(write_part(s, stream, name, i ? ", " : ""));
    has_all = has_all || !strcmp(name, "all");
  }
  if (num_parts > MAX_PARTS_SHOWN) fprintf(stream, ", %" CeedInt_FMT " more", num_parts - MAX_PARTS_SHOWN);
  return has_all ? CEED_ERROR_SUCCESS : write_part(s, stream, "all", num_parts ? ", " : "");
}

static int show_boundary(const Solve *s) {
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  int ierr;

  if (!stream) return CeedError(s->ceed, CEED_ERROR_MAJOR, "no memory for the names of boundary parts");
  ierr = write_parts(s, stream);
  // without memory for the text there is none
  if (fclose(stream) && !ierr)
    ierr = CeedError(s->ceed, CEED_ERROR_MAJOR, "no memory for the names of boundary parts");
  if (!ierr) cli_fact("facets", "%s", text);
  free(text);
  return ierr;
}

// "points: a, b", of the groups of a file that are neither regions nor parts.
static int show_unused(const Solve *s) {
  for (CeedInt dim = 0; dim < s->dim - 1; dim++) {
    CeedInt num = 0;

    CLI_TRY(RitzMeshGetNumUnusedGroups(s->mesh, dim, &num));
    for (CeedInt i = 0; i < num; i++) {
      const char *name = NULL;
      char shown[ARG_SHOWN];

      CLI_TRY(RitzMeshGetUnusedGroup(s->mesh, dim, i, &name));
      cli_fact("not used", "'%s', a group of %s", args_shown(name, shown), dim ? "curves" : "points");
    }
  }
  return CEED_ERROR_SUCCESS;
}

int solve_show_mesh(const Solve *s) {
  CLI_TRY(show_elements(s));
  CLI_TRY(show_geometry(s));
  CLI_TRY(show_boundary(s));
  return show_unused(s);
}

// ---- Regions ----

// Adds `count` elements with the same region number to their region, or to those of their overlap.
static int add_to_regions(const Solve *s, int32_t number, int64_t count, double measure, CeedInt num_regions,
                          int64_t *counts, double *measures) {
  CeedInt num_overlaps = 0, num = 1;
  const int32_t *in = &number;

  CLI_TRY(RitzMeshGetNumOverlaps(s->mesh, &num_overlaps));
  if (number < 0 && num_overlaps > 0) CLI_TRY(RitzMeshGetOverlap(s->mesh, -1 - number, &num, &in));
  for (CeedInt i = 0; i < num_regions; i++) {
    int32_t region = 0;

    CLI_TRY(RitzMeshGetRegion(s->mesh, i, NULL, &region));
    for (CeedInt k = 0; k < num; k++) {
      if (in[k] != region) continue;
      counts[i] += count;
      measures[i] += measure;
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int measure_regions(const Solve *s, CeedInt num_regions, int64_t *counts, double *measures) {
  const int32_t *numbers = NULL;
  double *of_elements = NULL;
  int64_t num_elem = 0;
  int ierr;

  CLI_TRY(RitzMeshGetNumElements(s->mesh, &num_elem));
  CLI_TRY(RitzMeshGetElementRegions(s->mesh, &numbers));
  CLI_TRY(cli_allocate(s->ceed, (size_t)num_elem, sizeof(*of_elements), &of_elements));
  ierr = RitzMeshGetElementMeasures(s->mesh, of_elements);
  for (int64_t e = 0, count; e < num_elem && !ierr; e += count) {
    double measure = 0;

    for (count = 0; e + count < num_elem && numbers[e + count] == numbers[e]; count++)
      measure += of_elements[e + count];
    ierr = add_to_regions(s, numbers[e], count, measure, num_regions, counts, measures);
  }
  free(of_elements);
  return ierr;
}

int solve_show_cracks(const Solve *s) {
  char text[400];

  CLI_TRY(describe_cracks(s, sizeof(text), text));
  if (*text) cli_fact("cracks", "%s", text);
  return CEED_ERROR_SUCCESS;
}

int solve_show_regions(const Solve *s) {
  CeedInt num_regions = 0;
  int64_t *counts = NULL;
  double *measures = NULL;
  int ierr;

  CLI_TRY(RitzMeshGetNumRegions(s->mesh, &num_regions));
  CLI_TRY_CLEANUP(cli_allocate(s->ceed, (size_t)num_regions, sizeof(*counts), &counts));
  CLI_TRY_CLEANUP(cli_allocate(s->ceed, (size_t)num_regions, sizeof(*measures), &measures));
  CLI_TRY_CLEANUP(measure_regions(s, num_regions, counts, measures));
  for (CeedInt i = 0; i < num_regions; i++) {
    const char *name = NULL;
    char shown[ARG_SHOWN];

    CLI_TRY_CLEANUP(RitzMeshGetRegion(s->mesh, i, &name, NULL));
    cli_fact(i ? NULL : "regions", "%s: %lld elements, %s %.6g", args_shown(name, shown),
             (long long)counts[i], measure_names[s->dim], measures[i]);
  }
cleanup:
  free(counts);
  free(measures);
  return ierr;
}
