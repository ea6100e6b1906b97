// SPDX-License-Identifier: BSD-2-Clause
// Functions of the position as data of a problem: integrated sources, values at nodes.
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/problem-points.h"

// ---- Sources ----

static int evaluate_at_points(const Problem *p, const Points *points, const char *name, ProblemFunction f,
                              const void *ctx, const CeedScalar *positions, CeedScalar *values) {
  const int32_t *regions = NULL;
  ProblemPoint point = {.x = {0, 0, 0, p->time}};

  CLI_TRY(RitzMeshGetElementRegions(p->mesh, &regions));
  for (CeedInt e = 0; e < points->num_elem; e++) {
    point.region = regions[points->first + e];
    for (CeedSize i = (CeedSize)e * points->num; i < (CeedSize)(e + 1) * points->num; i++) {
      for (CeedInt d = 0; d < p->space_dim; d++) point.x[d] = positions[i * p->space_dim + d];
      for (CeedInt c = 0; c < p->num_comp; c++)
        CLI_TRY(problem_evaluate(p, name, f, ctx, &point, c, &values[i * p->num_comp + c]));
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int evaluate_vector(const Problem *p, const Points *points, const char *name, ProblemFunction f,
                           const void *ctx, CeedVector positions, CeedVector values) {
  const CeedScalar *positions_array = NULL;
  CeedScalar *values_array = NULL;
  int ierr, restore;

  CLI_TRY(CeedVectorGetArrayRead(positions, CEED_MEM_HOST, &positions_array));
  ierr = CeedVectorGetArrayWrite(values, CEED_MEM_HOST, &values_array);
  if (!ierr) {
    ierr = evaluate_at_points(p, points, name, f, ctx, positions_array, values_array);
    restore = CeedVectorRestoreArray(values, &values_array);
    ierr = ierr ? ierr : restore;
  }
  restore = CeedVectorRestoreArrayRead(positions, &positions_array);
  return ierr ? ierr : restore;
}

static int add_block_source(const Problem *p, CeedInt block, const char *name, ProblemFunction f,
                            const void *ctx, CeedVector rhs) {
  CeedElemRestriction rstr_positions = NULL, rstr_values = NULL;
  CeedVector positions = NULL, values = NULL;
  Points points;
  int ierr;

  CLI_TRY_CLEANUP(points_create(p, block, false, &points));
  CLI_TRY_CLEANUP(points_create_field(p, &points, p->space_dim, &rstr_positions, &positions));
  CLI_TRY_CLEANUP(points_create_field(p, &points, p->num_comp, &rstr_values, &values));
  CLI_TRY_CLEANUP(points_compute_positions(p, &points, rstr_positions, positions));
  CLI_TRY_CLEANUP(evaluate_vector(p, &points, name, f, ctx, positions, values));
  CLI_TRY_CLEANUP(points_add_source(p, &points, rstr_values, values, rhs));
cleanup:
  CeedVectorDestroy(&positions);
  CeedVectorDestroy(&values);
  CeedElemRestrictionDestroy(&rstr_positions);
  CeedElemRestrictionDestroy(&rstr_values);
  points_destroy(&points);
  return ierr;
}

int problem_add_source(const Problem *p, const char *name, ProblemFunction f, const void *ctx,
                       CeedVector rhs) {
  for (CeedInt b = 0; b < p->num_blocks; b++) CLI_TRY(add_block_source(p, b, name, f, ctx, rhs));
  return CEED_ERROR_SUCCESS;
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
  ProblemPoint point = {.x = {0, 0, 0, p->time}};
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
