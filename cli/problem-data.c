// SPDX-License-Identifier: BSD-2-Clause
// Functions of the position as data of a problem: integrated sources and loads, values at nodes.
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/problem-points.h"

// ---- Sources ----

static int add_block_source(const Problem *p, CeedInt block, const char *name, ProblemFunction f,
                            const void *ctx, CeedVector rhs) {
  Points points;
  int ierr = points_create(p, block, POINTS_LOADS, &points);

  if (!ierr && points.num_elem > 0)
    ierr = points_add_source(p, &points, name, f, ctx, rhs); // parts may be empty
  points_destroy(&points);
  return ierr;
}

int problem_add_source(const Problem *p, const char *name, ProblemFunction f, const void *ctx,
                       CeedVector rhs) {
  for (CeedInt b = 0; b < p->num_blocks; b++) CLI_TRY(add_block_source(p, b, name, f, ctx, rhs));
  return CEED_ERROR_SUCCESS;
}

// ---- Loads on boundary parts ----

// points_add_source or points_add_pressure
typedef int (*AddLoad)(const Problem *p, const Points *points, const char *name, ProblemFunction f,
                       const void *ctx, CeedVector rhs);

static int add_facets(const Problem *p, RitzFacets facets, CeedInt block, AddLoad add, const char *name,
                      ProblemFunction f, const void *ctx, CeedVector rhs) {
  Points points;
  int ierr = points_create_facets(p, facets, block, &points);

  if (!ierr) ierr = add(p, &points, name, f, ctx, rhs);
  points_destroy(&points);
  return ierr;
}

static int add_on_part(const Problem *p, AddLoad add, const char *name, const char *part, ProblemFunction f,
                       const void *ctx, CeedVector rhs) {
  RitzFacets facets = NULL;
  CeedInt num_blocks = 0;

  CLI_TRY(RitzFacetsCreate(p->mesh, part, &facets));
  int ierr = RitzFacetsGetNumBlocks(facets, &num_blocks);
  for (CeedInt b = 0; b < num_blocks && !ierr; b++) ierr = add_facets(p, facets, b, add, name, f, ctx, rhs);
  RitzFacetsDestroy(&facets);
  return ierr;
}

int problem_add_boundary(const Problem *p, const char *name, const char *part, ProblemFunction f,
                         const void *ctx, CeedVector rhs) {
  return add_on_part(p, points_add_source, name, part, f, ctx, rhs);
}

int problem_add_pressure(const Problem *p, const char *name, const char *part, ProblemFunction f,
                         const void *ctx, CeedVector rhs) {
  return add_on_part(p, points_add_pressure, name, part, f, ctx, rhs);
}

// ---- Values at nodes ----

static int set_node(const Problem *p, const char *name, ProblemFunction f, const void *ctx, CeedInt component,
                    const ProblemPoint *point, CeedScalar *values) {
  for (CeedInt c = 0; c < p->num_comp; c++) {
    if (component >= 0 && c != component) continue;
    CLI_TRY(problem_evaluate(p, name, f, ctx, point, c, &values[c]));
  }
  return CEED_ERROR_SUCCESS;
}

int problem_set_nodes(const Problem *p, const char *name, ProblemFunction f, const void *ctx,
                      CeedInt component, int64_t num, const int64_t *nodes, CeedVector u) {
  ProblemPoint point = {.x = {[PROBLEM_TIME] = p->time}};
  double *positions = NULL;
  CeedScalar *array = NULL;
  int ierr, restore;

  if (!nodes) CLI_TRY(RitzSpaceGetNumNodes(p->space, &num));
  CLI_TRY(cli_allocate(p->ceed, (size_t)num * (size_t)p->space_dim, sizeof(double), &positions));
  CLI_TRY_CLEANUP(nodes ? RitzSpaceGetCoordinatesOf(p->space, num, nodes, positions)
                        : RitzSpaceGetNodeCoordinates(p->space, positions));
  CLI_TRY_CLEANUP(CeedVectorGetArray(u, CEED_MEM_HOST, &array));
  for (int64_t i = 0; i < num && !ierr; i++) {
    const int64_t node = nodes ? nodes[i] : i;

    for (CeedInt d = 0; d < p->space_dim; d++) point.x[d] = positions[i * p->space_dim + d];
    ierr = set_node(p, name, f, ctx, component, &point, &array[node * p->num_comp]);
  }
  restore = CeedVectorRestoreArray(u, &array);
  ierr = ierr ? ierr : restore;
cleanup:
  free(positions);
  return ierr;
}
