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

// values [num][num_comp], of one component [num].
static int evaluate_nodes(const Problem *p, const char *name, ProblemFunction f, const void *ctx,
                          CeedInt component, int64_t num, const double *positions, CeedScalar *values) {
  const CeedInt first = component >= 0 ? component : 0, end = component >= 0 ? component + 1 : p->num_comp;
  ProblemPoint point = {.x = {[PROBLEM_TIME] = p->time}};

  for (int64_t i = 0; i < num; i++) {
    for (CeedInt d = 0; d < p->space_dim; d++) point.x[d] = positions[i * p->space_dim + d];
    for (CeedInt c = first; c < end; c++) CLI_TRY(problem_evaluate(p, name, f, ctx, &point, c, values++));
  }
  return CEED_ERROR_SUCCESS;
}

// The values go where u is: vectors of devices stay there.
static int put_values(const Problem *p, CeedInt component, int64_t num, const int64_t *nodes,
                      const CeedScalar *values, CeedVector u) {
  const CeedInt first = component >= 0 ? component : 0, count = component >= 0 ? 1 : p->num_comp;
  RitzIndices indices = NULL;
  int64_t *entries = NULL;
  int ierr;

  CLI_TRY(cli_allocate(p->ceed, (size_t)num * (size_t)count, sizeof(*entries), &entries));
  for (int64_t i = 0; i < num * count; i++) entries[i] = nodes[i / count] * p->num_comp + first + i % count;
  ierr = RitzIndicesCreate(p->ceed, num * count, entries, &indices);
  free(entries);
  if (!ierr) ierr = RitzVectorSetEntryValues(u, indices, values);
  RitzIndicesDestroy(&indices);
  return ierr;
}

static int set_all_nodes(const Problem *p, const char *name, ProblemFunction f, const void *ctx, int64_t num,
                         const double *positions, CeedVector u) {
  CeedScalar *array = NULL;

  CLI_TRY(CeedVectorGetArrayWrite(u, CEED_MEM_HOST, &array));
  const int ierr = evaluate_nodes(p, name, f, ctx, -1, num, positions, array);
  const int restore = CeedVectorRestoreArray(u, &array);
  return ierr ? ierr : restore;
}

int problem_set_nodes(const Problem *p, const char *name, ProblemFunction f, const void *ctx,
                      CeedInt component, int64_t num, const int64_t *nodes, CeedVector u) {
  double *positions = NULL;
  CeedScalar *values = NULL;
  int ierr;

  if (!nodes) CLI_TRY(RitzSpaceGetNumNodes(p->space, &num));
  CLI_TRY(cli_allocate(p->ceed, (size_t)num * (size_t)p->space_dim, sizeof(double), &positions));
  CLI_TRY_CLEANUP(nodes ? RitzSpaceGetCoordinatesOf(p->space, num, nodes, positions)
                        : RitzSpaceGetNodeCoordinates(p->space, positions));
  if (!nodes) {
    ierr = set_all_nodes(p, name, f, ctx, num, positions, u);
    goto cleanup;
  }
  CLI_TRY_CLEANUP(cli_allocate(p->ceed, (size_t)num * (size_t)p->num_comp, sizeof(*values), &values));
  CLI_TRY_CLEANUP(evaluate_nodes(p, name, f, ctx, component, num, positions, values));
  ierr = put_values(p, component, num, nodes, values, u);
cleanup:
  free(positions);
  free(values);
  return ierr;
}
