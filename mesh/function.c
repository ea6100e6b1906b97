// SPDX-License-Identifier: BSD-2-Clause
// Functions in spaces (ritz/function.h): interpolation of formulas, sums over boundary
// parts, values at points.
#include <math.h>
#include <ritz/function.h>
#include <ritz/partition.h>
#include <stdlib.h>

#include "fe/fe.h"
#include "mesh/mesh.h"

static int check_length(const char *call, RitzSpace space, CeedVector u) {
  CeedSize length = 0, size = 0;

  RITZ_TRY(CeedVectorGetLength(u, &length));
  RITZ_TRY(RitzSpaceGetSize(space, &size));
  RITZ_REQUIRE(length == size, CeedVectorReturnCeed(u), CEED_ERROR_DIMENSION,
               "%s: the vector has %lld entries, needed the space's %lld", call, (long long)length,
               (long long)size);
  return CEED_ERROR_SUCCESS;
}

// ---- Interpolation ----

typedef struct {
  const char *call;
  Ceed ceed; // of the vector
  RitzFieldFunction f;
  void *ctx;
  CeedInt space_dim, num_comp;
  double *values; // owned, [num_comp]
} Formula;

static int evaluate_formula(const Formula *formula, const double *x, CeedScalar *u) {
  const double at[3] = {x[0], formula->space_dim > 1 ? x[1] : 0, formula->space_dim > 2 ? x[2] : 0};
  const int code = formula->f(formula->ctx, x, formula->values);

  RITZ_REQUIRE(!code, formula->ceed, code, "%s: the function fails at (%g, %g, %g) with code %d",
               formula->call, at[0], at[1], at[2], code);
  for (CeedInt c = 0; c < formula->num_comp; c++) {
    u[c] = (CeedScalar)formula->values[c];
    RITZ_REQUIRE(isfinite(u[c]), formula->ceed, CEED_ERROR_MAJOR,
                 "%s: component %" CeedInt_FMT " of the function is not finite at (%g, %g, %g)",
                 formula->call, c, at[0], at[1], at[2]);
  }
  return CEED_ERROR_SUCCESS;
}

// nodes [num], NULL: all. x [num][space_dim]: where they are.
static int set_nodes(const Formula *formula, int64_t num, const int64_t *nodes, const double *x,
                     CeedVector u) {
  CeedScalar *array = NULL;
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY((nodes ? CeedVectorGetArray : CeedVectorGetArrayWrite)(u, CEED_MEM_HOST, &array));
  for (int64_t i = 0; i < num && !ierr; i++)
    ierr = evaluate_formula(formula, x + i * formula->space_dim,
                            array + (nodes ? nodes[i] : i) * formula->num_comp);
  for (int64_t i = 0; ierr && !nodes && i < num * formula->num_comp; i++) array[i] = 0; // none stays unset
  const int restored = CeedVectorRestoreArray(u, &array);
  return ierr ? ierr : restored;
}

// part NULL: everywhere.
static int interpolate(const char *call, RitzSpace space, const char *part, RitzFieldFunction f, void *ctx,
                       CeedVector u) {
  Formula formula = {.call = call, .ceed = CeedVectorReturnCeed(u), .f = f, .ctx = ctx};
  int64_t num = 0, *nodes = NULL;
  RitzMesh mesh = NULL;
  double *x = NULL;
  int ierr;

  RITZ_REQUIRE(f, formula.ceed, CEED_ERROR_INCOMPATIBLE, "%s: argument 'f' is NULL", call);
  RITZ_TRY(check_length(call, space, u));
  RITZ_TRY(RitzSpaceGetMesh(space, &mesh));
  RITZ_TRY(RitzMeshGetDimensions(mesh, NULL, &formula.space_dim));
  RITZ_TRY(RitzSpaceGetNumComponents(space, &formula.num_comp));
  RITZ_TRY_CLEANUP(RitzSpaceGetNumNodes(space, &num));
  if (part) RITZ_TRY_CLEANUP(RitzSpaceGetBoundaryNodes(space, part, &num, &nodes));
  RITZ_TRY_CLEANUP(
      RITZ_MALLOC(formula.ceed, (size_t)(num * formula.space_dim) + 1, &x)); // of none: an address
  RITZ_TRY_CLEANUP(RITZ_MALLOC(formula.ceed, (size_t)formula.num_comp, &formula.values));
  RITZ_TRY_CLEANUP(part ? RitzSpaceGetCoordinatesOf(space, num, nodes, x)
                        : RitzSpaceGetNodeCoordinates(space, x));
  if (!part || num > 0) ierr = set_nodes(&formula, num, nodes, x, u);
cleanup:
  RITZ_FREE(&formula.values);
  RITZ_FREE(&x);
  free(nodes);
  return ierr;
}

int RitzSpaceInterpolate(RitzSpace space, RitzFieldFunction f, void *ctx, CeedVector u) {
  RITZ_HANDLE(space, u);
  RITZ_ARGUMENT(space, u);
  return interpolate(__func__, space, NULL, f, ctx, u);
}

int RitzSpaceInterpolateOnBoundary(RitzSpace space, const char *part, RitzFieldFunction f, void *ctx,
                                   CeedVector u) {
  RITZ_HANDLE(space, u);
  RITZ_ARGUMENT(space, u);
  RITZ_ARGUMENT(space, part);
  return interpolate(__func__, space, part, f, ctx, u);
}

// ---- Reactions ----

int RitzSpaceGetReactions(RitzSpace space, const char *part, CeedVector residual, double sums[]) {
  int64_t num = 0, num_owned = 0, *nodes = NULL;
  const CeedScalar *r = NULL;
  CeedInt num_comp = 0;
  RitzHalo halo = NULL;

  RITZ_HANDLE(space, residual);
  RITZ_ARGUMENT(space, residual);
  RITZ_ARGUMENT(space, part);
  RITZ_ARGUMENT(space, sums);
  RITZ_TRY(check_length(__func__, space, residual));
  RITZ_TRY(RitzSpaceGetNumComponents(space, &num_comp));
  RITZ_TRY(RitzSpaceGetHalo(space, &halo));
  RITZ_TRY(RitzHaloGetSizes(halo, &num_owned, NULL));
  RITZ_TRY(RitzSpaceGetBoundaryNodes(space, part, &num, &nodes));
  int ierr = CeedVectorGetArrayRead(residual, CEED_MEM_HOST, &r);
  for (CeedInt c = 0; c < num_comp && !ierr; c++) {
    sums[c] = 0;
    for (int64_t i = 0; i < num; i++)
      if (nodes[i] < num_owned) sums[c] += (double)r[nodes[i] * num_comp + c];
  }
  free(nodes);
  return ierr ? ierr : CeedVectorRestoreArrayRead(residual, &r);
}

// ---- Values at points ----

enum { CHUNK = 128 }; // points that tables are made for at a time

typedef struct {
  RitzSpace space;
  RitzMesh mesh;
  CeedInt dim, degree, num_comp;
  int64_t num_points;
  int64_t *elements; // owned, [num_points]
  double *xi;        // owned, [num_points][dim]
  double *table;     // owned, [CHUNK][nodes of an element]
  int64_t *scratch;  // owned, [nodes of an element]
  const CeedScalar *u;
  CeedScalar *values; // [num_points][num_comp]
} Evaluation;

// Points `list` [num] of one block.
static int evaluate_chunk(const Evaluation *e, int block, int num, const int64_t *list) {
  const RitzMeshBlock *b = &e->mesh->blocks[block];
  const int64_t num_nodes = ritz_mesh_num_nodes(b->topology, e->degree);
  double xi[3 * CHUNK];

  for (int i = 0; i < num; i++) {
    for (CeedInt d = 0; d < e->dim; d++) xi[i * e->dim + d] = e->xi[list[i] * e->dim + d];
  }
  RITZ_TRY(ritz_fe_shape_lagrange(e->mesh->ceed, b->topology, e->degree, num, xi, e->table, NULL));
  for (int i = 0; i < num; i++) {
    const int64_t *nodes = ritz_space_nodes(e->space, block, e->elements[list[i]] - b->first, e->scratch);

    for (CeedInt c = 0; c < e->num_comp; c++) {
      double sum = 0;
      for (int64_t n = 0; n < num_nodes; n++)
        sum += e->table[i * num_nodes + n] * (double)e->u[nodes[n] * e->num_comp + c];
      e->values[list[i] * e->num_comp + c] = (CeedScalar)sum;
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int evaluate_block(const Evaluation *e, int block) {
  const RitzMeshBlock *b = &e->mesh->blocks[block];
  int64_t list[CHUNK];
  int num = 0;

  for (int64_t i = 0; i < e->num_points; i++) {
    if (e->elements[i] >= b->first && e->elements[i] < b->first + b->num_elem) list[num++] = i;
    if (num == 0 || (num < CHUNK && i + 1 < e->num_points)) continue;
    RITZ_TRY(evaluate_chunk(e, block, num, list));
    num = 0;
  }
  return CEED_ERROR_SUCCESS;
}

static void mark_missed(const Evaluation *e, int64_t *num_missed) {
  int64_t num = 0;

  for (int64_t i = 0; i < e->num_points; i++) {
    if (e->elements[i] >= 0) continue;
    num++;
    for (CeedInt c = 0; c < e->num_comp; c++) e->values[i * e->num_comp + c] = (CeedScalar)NAN;
  }
  if (num_missed) *num_missed = num;
}

static int allocate(Evaluation *e) {
  const Ceed ceed = e->mesh->ceed;
  int64_t most = 0;

  for (int b = 0; b < e->mesh->num_blocks; b++) {
    const int64_t num = ritz_mesh_num_nodes(e->mesh->blocks[b].topology, e->degree);
    if (num > most) most = num;
  }
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)e->num_points, &e->elements));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(e->num_points * e->dim), &e->xi));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(CHUNK * most), &e->table));
  return RITZ_MALLOC(ceed, (size_t)most, &e->scratch);
}

static int evaluate_located(Evaluation *e, RitzLocator locator, CeedVector u, const double *x,
                            int64_t *num_missed) {
  RITZ_TRY(allocate(e));
  RITZ_TRY(RitzLocatorFind(locator, e->num_points, x, NULL, e->elements, e->xi));
  RITZ_TRY(CeedVectorGetArrayRead(u, CEED_MEM_HOST, &e->u));
  int ierr = CEED_ERROR_SUCCESS;
  for (int b = 0; b < e->mesh->num_blocks && !ierr; b++) ierr = evaluate_block(e, b);
  const int restored = CeedVectorRestoreArrayRead(u, &e->u);
  if (!ierr) mark_missed(e, num_missed);
  return ierr ? ierr : restored;
}

int RitzSpaceEvaluate(RitzSpace space, RitzLocator locator, CeedVector u, int64_t num_points, const double *x,
                      CeedScalar *values, int64_t *num_missed) {
  Evaluation e = {.space = space, .num_points = num_points, .values = values};
  RitzMesh mesh = NULL;

  RITZ_HANDLE(space, locator, u);
  RITZ_ARGUMENT(space, locator);
  RITZ_ARGUMENT(space, u);
  RITZ_TRY(RitzSpaceGetMesh(space, &e.mesh));
  RITZ_TRY(RitzLocatorGetMesh(locator, &mesh));
  RITZ_REQUIRE(mesh == e.mesh, mesh->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the locator is of another mesh than the space", __func__);
  RITZ_REQUIRE(num_points >= 0, mesh->ceed, CEED_ERROR_DIMENSION, "%s: %lld points, needed at least 0",
               __func__, (long long)num_points);
  RITZ_TRY(check_length(__func__, space, u));
  if (num_points > 0) RITZ_ARGUMENT(space, x);
  if (num_points > 0) RITZ_ARGUMENT(space, values);
  RITZ_TRY(RitzMeshGetDimensions(mesh, &e.dim, NULL));
  RITZ_TRY(RitzSpaceGetDegree(space, &e.degree));
  RITZ_TRY(RitzSpaceGetNumComponents(space, &e.num_comp));
  const int ierr = evaluate_located(&e, locator, u, x, num_missed);

  RITZ_FREE(&e.elements);
  RITZ_FREE(&e.xi);
  RITZ_FREE(&e.table);
  RITZ_FREE(&e.scratch);
  return ierr;
}
