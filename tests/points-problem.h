// SPDX-License-Identifier: BSD-2-Clause
// Operators at points on a box of cubes: a nodal field of any degree to the points (interpolate), from them
// (deposit), or both. Called by test-gpu-points.c, test-nvrtc-kernels.c and points-rates.c.
#ifndef RITZ_TESTS_POINTS_PROBLEM_H
#define RITZ_TESTS_POINTS_PROBLEM_H

#include <stdlib.h>

#include "tests/points-copy.h"
#include "tests/tap.h"

typedef enum { POINTS_INTERPOLATE, POINTS_DEPOSIT, POINTS_BOTH, POINTS_NUM_KINDS } PointsKind;
static const char *const points_kinds[] = {"interpolate", "deposit", "both"};

typedef struct {
  CeedInt n, degree, num_comp; // cubes a direction
  CeedInt per_cell;            // points of a cube; 0: none to hundreds
  bool repeats;                // every point is listed twice
  CeedEvalMode mode;           // of the nodal field
} PointsShape;

typedef struct {
  CeedOperator op;
  CeedVector u, v; // active input, output
  CeedInt num_points;
} PointsProblem;

static inline CeedInt points_in_cube(const PointsShape *s, CeedInt e) {
  if (s->per_cell) return s->per_cell;
  return e % 5 == 1 ? 0 : e % 7 == 2 ? 1 : e == 3 ? 300 : (e * 7) % 13;
}

static inline int points_mesh(Ceed ceed, const PointsShape *s, CeedInt num_comp, CeedElemRestriction *rstr) {
  const CeedInt n = s->n, p = s->degree, line = n * p + 1, P = p + 1, num_elem = n * n * n;
  CeedInt *offsets = malloc((size_t)num_elem * (size_t)(P * P * P) * sizeof(*offsets)), at = 0;

  for (CeedInt e = 0; e < num_elem; e++) {
    const CeedInt x = e % n, y = e / n % n, z = e / n / n;
    for (CeedInt k = 0; k < P; k++)
      for (CeedInt j = 0; j < P; j++)
        for (CeedInt i = 0; i < P; i++)
          offsets[at++] = num_comp * (((z * p + k) * line + y * p + j) * line + x * p + i);
  }
  const int ierr = CeedElemRestrictionCreate(ceed, num_elem, P * P * P, num_comp, 1,
                                             (CeedSize)num_comp * line * line * line, CEED_MEM_HOST,
                                             CEED_COPY_VALUES, offsets, rstr);
  free(offsets);
  return ierr;
}

// Lists of points in the order of the cubes, the same for all restrictions. Owned (free()).
static inline CeedInt *points_lists(const PointsShape *s, CeedInt *num_points) {
  const CeedInt num_elem = s->n * s->n * s->n;
  CeedInt num = 0;

  for (CeedInt e = 0; e < num_elem; e++) num += points_in_cube(s, e);
  CeedInt *lists = malloc((size_t)(num_elem + 1 + num) * sizeof(*lists));
  lists[0] = num_elem + 1;
  for (CeedInt e = 0; e < num_elem; e++) lists[e + 1] = lists[e] + points_in_cube(s, e);
  for (CeedInt i = 0; i < num; i++) lists[num_elem + 1 + i] = s->repeats ? i / 2 : i;
  *num_points = num;
  return lists;
}

static inline int points_coordinates(Ceed ceed, CeedSize length, CeedVector *coords) {
  CeedScalar *x;
  uint64_t seed = 11;

  CeedCall(CeedVectorCreate(ceed, length, coords));
  CeedCall(CeedVectorGetArrayWrite(*coords, CEED_MEM_HOST, &x));
  for (CeedSize i = 0; i < length; i++) x[i] = (CeedScalar)tap_uniform(&seed);
  return CeedVectorRestoreArray(*coords, &x);
}

// The output is the input; of three scalars without a loop of a length that is known at run time.
static inline int points_function(Ceed ceed, CeedInt size, CeedEvalMode in, CeedEvalMode out,
                                  CeedQFunction *qf) {
  if (size != 3) return CeedQFunctionCreateIdentity(ceed, size, in, out, qf);
  CeedCall(CeedQFunctionCreateInterior(ceed, 1, PointsCopy, PointsCopy_loc, qf));
  CeedCall(CeedQFunctionAddInput(*qf, "input", size, in));
  return CeedQFunctionAddOutput(*qf, "output", size, out);
}

static inline int points_problem_create(Ceed ceed, const PointsShape *s, PointsKind kind, PointsProblem *p) {
  const CeedInt size = s->num_comp * (s->mode == CEED_EVAL_GRAD ? 3 : 1), num_elem = s->n * s->n * s->n;
  const bool reads_nodes = kind != POINTS_DEPOSIT, writes_nodes = kind != POINTS_INTERPOLATE;
  CeedElemRestriction nodes = NULL, at_points = NULL, places = NULL;
  CeedBasis basis = NULL;
  CeedQFunction qf = NULL;
  CeedVector coords = NULL, points = NULL, mesh = NULL;
  CeedInt *lists = points_lists(s, &p->num_points), num = p->num_points;

  CeedCall(points_mesh(ceed, s, s->num_comp, &nodes));
  CeedCall(CeedElemRestrictionCreateAtPoints(ceed, num_elem, num, size, (CeedSize)num * size, CEED_MEM_HOST,
                                             CEED_COPY_VALUES, lists, &at_points));
  CeedCall(CeedElemRestrictionCreateAtPoints(ceed, num_elem, num, 3, (CeedSize)num * 3, CEED_MEM_HOST,
                                             CEED_COPY_VALUES, lists, &places));
  CeedCall(points_coordinates(ceed, (CeedSize)num * 3, &coords));
  CeedCall(CeedBasisCreateTensorH1Lagrange(ceed, 3, s->num_comp, s->degree + 1, s->degree + 2, CEED_GAUSS,
                                           &basis));
  CeedCall(points_function(ceed, size, reads_nodes ? s->mode : CEED_EVAL_NONE,
                           writes_nodes ? s->mode : CEED_EVAL_NONE, &qf));
  CeedCall(CeedOperatorCreateAtPoints(ceed, qf, NULL, NULL, &p->op));
  CeedCall(CeedOperatorSetField(p->op, "input", reads_nodes ? nodes : at_points,
                                reads_nodes ? basis : CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  CeedCall(CeedOperatorSetField(p->op, "output", writes_nodes ? nodes : at_points,
                                writes_nodes ? basis : CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  CeedCall(CeedOperatorAtPointsSetPoints(p->op, places, coords));
  CeedCall(CeedElemRestrictionCreateVector(at_points, &points, NULL));
  CeedCall(CeedElemRestrictionCreateVector(nodes, &mesh, NULL));
  CeedCall(CeedVectorReferenceCopy(reads_nodes ? mesh : points, &p->u));
  if (kind == POINTS_BOTH) {
    CeedCall(CeedElemRestrictionCreateVector(nodes, &p->v, NULL));
  } else {
    CeedCall(CeedVectorReferenceCopy(writes_nodes ? mesh : points, &p->v));
  }
  CeedElemRestrictionDestroy(&nodes);
  CeedElemRestrictionDestroy(&at_points);
  CeedElemRestrictionDestroy(&places);
  CeedBasisDestroy(&basis);
  CeedQFunctionDestroy(&qf);
  CeedVectorDestroy(&coords);
  CeedVectorDestroy(&points);
  CeedVectorDestroy(&mesh);
  free(lists);
  return CEED_ERROR_SUCCESS;
}

static inline int points_problem_fill(PointsProblem *p) {
  CeedScalar *array;
  CeedSize length;
  uint64_t seed = 7;

  CeedCall(CeedVectorGetLength(p->u, &length));
  CeedCall(CeedVectorGetArrayWrite(p->u, CEED_MEM_HOST, &array));
  for (CeedSize i = 0; i < length; i++) array[i] = (CeedScalar)tap_uniform(&seed);
  return CeedVectorRestoreArray(p->u, &array);
}

static inline void points_problem_destroy(PointsProblem *p) {
  CeedOperatorDestroy(&p->op);
  CeedVectorDestroy(&p->u);
  CeedVectorDestroy(&p->v);
}

#endif
