// SPDX-License-Identifier: BSD-2-Clause
// The mesh of `ritz solve`: a box or a file, refined; and what is said about it.
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <limits.h>
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
  RitzMesh coarse = NULL;
  int ierr;

  if (dim)
    CLI_TRY(RitzMeshCreateBox(s->ceed, dim, n, NULL, NULL, 1, NULL, NULL, &coarse));
  else
    CLI_TRY(RitzMeshRead(s->ceed, s->options.mesh, &coarse));
  if (s->options.refine == 0) {
    s->mesh = coarse;
    return CEED_ERROR_SUCCESS;
  }
  ierr = RitzMeshRefine(coarse, s->options.refine, &s->mesh);
  RitzMeshDestroy(&coarse);
  return ierr;
}

int solve_open_mesh(Solve *s) {
  const char *mesh = s->options.mesh;
  CeedInt dim = 0, n[3] = {0};
  char shown[ARG_SHOWN];

  if (!strncmp(mesh, "box:", 4) && !parse_box(mesh, &dim, n)) {
    args_wrong(&solve_command, "MESH",
               "expected box:N, box:NxN or box:NxNxN with integers N >= 1, found '%s'",
               args_shown(mesh, shown));
    return CLI_USAGE;
  }
  if (create_mesh(s, n, dim)) return cli_report(solve_command.name, s->ceed);
  if (RitzMeshGetDimensions(s->mesh, &s->dim, &s->space_dim)) return cli_report(solve_command.name, s->ceed);
  return CLI_OK;
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
    length +=
        snprintf(*text + length, COUNTED, "%s%lld %s", b ? ", " : "", (long long)num, shape_name(topology));
  }
  return CEED_ERROR_SUCCESS;
}

static int show_elements(const Solve *s) {
  int64_t num_vertices = 0;
  CeedInt geometry_order = 0;
  char shown[ARG_SHOWN], refined[40] = "", *counts = NULL;
  int ierr;

  CLI_TRY(RitzMeshGetNumVertices(s->mesh, &num_vertices));
  CLI_TRY(RitzMeshGetGeometryOrder(s->mesh, &geometry_order));
  if (s->options.refine) snprintf(refined, sizeof(refined), ", refined %d times", s->options.refine);
  cli_fact("mesh", "%s, %" CeedInt_FMT "D%s", args_shown(s->options.mesh, shown), s->space_dim, refined);
  ierr = count_elements(s, &counts);
  if (!ierr) {
    cli_fact("elements", "%s, %lld vertices, geometry of degree %" CeedInt_FMT, counts,
             (long long)num_vertices, geometry_order);
  }
  free(counts);
  return ierr;
}

static int show_geometry(const Solve *s) {
  static const char *const names[] = {"", "length", "area", "volume"};
  int64_t kinds[3] = {0};
  double measure = 0, min_det = 0, max_det = 0;

  CLI_TRY(RitzMeshClassifyElements(s->mesh, -1, NULL, kinds));
  CLI_TRY(RitzMeshGetMeasure(s->mesh, &measure, &min_det, &max_det));
  cli_fact("geometry", "%lld affine, %lld %slinear, %lld curved, %s %.6g", (long long)kinds[0],
           (long long)kinds[1],
           s->dim == 3   ? "tri"
           : s->dim == 2 ? "bi"
                         : "",
           (long long)kinds[2], names[s->dim], measure);
  return CEED_ERROR_SUCCESS;
}

enum { MAX_PARTS_SHOWN = 24 };

static int write_part(const Solve *s, FILE *stream, const char *name, const char *glue) {
  int64_t num = 0;

  CLI_TRY(RitzMeshGetBoundaryPart(s->mesh, name, &num, NULL, NULL));
  fprintf(stream, "%s%s (%lld)", glue, name, (long long)num);
  return CEED_ERROR_SUCCESS;
}

static int write_parts(const Solve *s, FILE *stream) {
  CeedInt num_parts = 0;

  CLI_TRY(RitzMeshGetNumBoundaryParts(s->mesh, &num_parts));
  for (CeedInt i = 0; i < num_parts && i < MAX_PARTS_SHOWN; i++) {
    const char *name = NULL;
    CLI_TRY(RitzMeshGetBoundaryPartName(s->mesh, i, &name));
    CLI_TRY(write_part(s, stream, name, i ? ", " : ""));
  }
  if (num_parts > MAX_PARTS_SHOWN) fprintf(stream, ", %" CeedInt_FMT " more", num_parts - MAX_PARTS_SHOWN);
  return write_part(s, stream, "all", num_parts ? ", " : "");
}

static int show_boundary(const Solve *s) {
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  int ierr;

  if (!stream) return CeedError(s->ceed, CEED_ERROR_MAJOR, "no memory for the names of boundary parts");
  ierr = write_parts(s, stream);
  fclose(stream);
  if (!ierr) cli_fact("facets", "%s", text);
  free(text);
  return ierr;
}

int solve_show_mesh(const Solve *s) {
  CLI_TRY(show_elements(s));
  CLI_TRY(show_geometry(s));
  return show_boundary(s);
}
