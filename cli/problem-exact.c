// SPDX-License-Identifier: BSD-2-Clause
// The known solution, a product of sines: its values, its source, the errors against it.
#include <math.h>
#include <ritz/operator.h>

#include "cli/cli.h"
#include "cli/problem-points.h"

static const double pi = 3.14159265358979323846;

static double get_amplitude(const Problem *p) { return p->options.kind == PROBLEM_HEAT ? exp(-p->time) : 1; }

double problem_sine(const void *ctx, const ProblemPoint *point, CeedInt component) {
  const Problem *p = ctx;
  double product = p->options.kind == PROBLEM_HEAT ? exp(-point->x[PROBLEM_TIME]) : 1;

  (void)component;
  for (CeedInt d = 0; d < p->space_dim; d++) product *= sin(pi * point->x[d]);
  return product;
}

// With s the product and n dimensions: - div k grad s = n pi^2 k s, and for u = s in each component
// (- div sigma)_c = n pi^2 mu s - (lambda + mu) sum_d d_c d_d s, where d_c d_c s = - pi^2 s. Axisymmetric,
// r = x and z = y, with ring = k or mu, there are besides
//
//     - div k grad s     - ring d_r s / r
//     (- div sigma)_r    - (lambda + mu + ring) (d_r s / r - s / r^2)
//     (- div sigma)_z    - (lambda + mu) d_z s / r - ring d_r s / r
static PointsKnown get_known(const Problem *p) {
  const ProblemMaterial *m = p->options.materials;
  const double laplacian = p->space_dim * pi * pi, conductivity = m->conductivity.value;
  double a = 1, b = 0, ring = 0;

  if (p->options.kind != PROBLEM_MASS) ring = conductivity * get_amplitude(p);
  if (p->options.kind == PROBLEM_POISSON) a = conductivity * laplacian;
  if (p->options.kind == PROBLEM_HELMHOLTZ) a = conductivity * laplacian + m->reaction.value;
  if (p->options.kind == PROBLEM_HEAT)
    a = (conductivity * laplacian - m->reaction.value) * get_amplitude(p); // du/dt = -u
  if (p->options.kind == PROBLEM_ELASTICITY) {
    double lambda = 0, mu = 0;

    problem_get_lame(&p->options, m, &lambda, &mu);
    a = laplacian * mu + (lambda + mu) * pi * pi;
    b = -(lambda + mu);
    ring = mu;
  }
  return (PointsKnown){get_amplitude(p), a, b, ring};
}

// ---- Source ----

static int create_source(const Problem *p, const Points *points, CeedOperator *op) {
  const PointsKnown known = get_known(p);
  const PointsField fields[] = {points_position(p, points), points_geometry(p, points),
                                points_weights(points), points_test(p, points)};

  return points_create_operator(p, points, &known, points_sine_source, 3, 1, fields, op);
}

static int add_block_source(const Problem *p, CeedInt block, CeedVector rhs) {
  CeedOperator op = NULL;
  Points points;
  int ierr;

  CLI_TRY_CLEANUP(points_create(p, block, POINTS_LOADS, &points));
  CLI_TRY_CLEANUP(create_source(p, &points, &op));
  CLI_TRY_CLEANUP(CeedOperatorApplyAdd(op, CEED_VECTOR_NONE, rhs, CEED_REQUEST_IMMEDIATE));
cleanup:
  CeedOperatorDestroy(&op);
  points_destroy(&points);
  return ierr;
}

int problem_add_sine_source(const Problem *p, CeedVector rhs) {
  for (CeedInt b = 0; b < p->num_blocks; b++) CLI_TRY(add_block_source(p, b, rhs));
  return CEED_ERROR_SUCCESS;
}

// ---- Errors ----

// A sum: value + rest.
typedef struct {
  double value, rest;
} ErrorSum;

// Adds the two interlaced components to the sums, with compensation.
static int add_errors(CeedVector errors, ErrorSum sum[2]) {
  const CeedScalar *array = NULL;
  CeedSize length = 0;

  CLI_TRY(CeedVectorGetLength(errors, &length));
  CLI_TRY(CeedVectorGetArrayRead(errors, CEED_MEM_HOST, &array));
  for (CeedSize i = 0; i < length; i++) {
    ErrorSum *s = &sum[i % 2];
    const double old = s->value, total = old + array[i], added = total - old;
    s->rest += (old - (total - added)) + (array[i] - added); // what the addition has lost
    s->value = total;
  }
  return CeedVectorRestoreArrayRead(errors, &array);
}

// errors: a new vector, what the operator gives.
static int create_errors(const Problem *p, const Points *points, CeedVector *errors, CeedOperator *op) {
  const PointsKnown known = get_known(p);
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  int ierr;

  CLI_TRY_CLEANUP(points_create_sums(p, points, 2, &rstr, &basis, errors));
  const PointsField fields[] = {
      points_position(p, points),
      points_geometry(p, points),
      points_weights(points),
      {"u", p->num_comp, CEED_EVAL_INTERP, points->rstr_u, points->basis_u, CEED_VECTOR_ACTIVE},
      {"du", p->dim * p->num_comp, CEED_EVAL_GRAD, points->rstr_u, points->basis_u, CEED_VECTOR_ACTIVE},
      {"errors", 2, CEED_EVAL_INTERP, rstr, basis, CEED_VECTOR_ACTIVE},
  };
  ierr = points_create_operator(p, points, &known, points_sine_errors, 5, 1, fields, op);
cleanup:
  CeedBasisDestroy(&basis);
  CeedElemRestrictionDestroy(&rstr);
  return ierr;
}

static int add_block_errors(const Problem *p, CeedInt block, CeedVector u, ErrorSum sum[2]) {
  CeedVector errors = NULL;
  CeedOperator op = NULL;
  Points points;
  int ierr;

  CLI_TRY_CLEANUP(points_create(p, block, POINTS_ERRORS, &points));
  CLI_TRY_CLEANUP(create_errors(p, &points, &errors, &op));
  CLI_TRY_CLEANUP(CeedOperatorApply(op, u, errors, CEED_REQUEST_IMMEDIATE));
  CLI_TRY_CLEANUP(add_errors(errors, sum));
cleanup:
  CeedOperatorDestroy(&op);
  CeedVectorDestroy(&errors);
  points_destroy(&points);
  return ierr;
}

int problem_sine_errors(const Problem *p, CeedVector u, double *l2, double *h1) {
  ErrorSum sum[2] = {{0, 0}, {0, 0}};

  for (CeedInt b = 0; b < p->num_blocks; b++) CLI_TRY(add_block_errors(p, b, u, sum));
  double squares[2] = {sum[0].value + sum[0].rest, sum[1].value + sum[1].rest};

  CLI_TRY(problem_reduce(p, RITZ_REDUCTION_SUM, 2, squares));
  *l2 = sqrt(squares[0]);
  *h1 = sqrt(squares[1]);
  return CEED_ERROR_SUCCESS;
}

// ---- Kernels ahead of both ----

static int prepare_block(const Problem *p, CeedInt block) {
  CeedOperator ops[] = {NULL, NULL};
  CeedVector errors = NULL;
  Points loads, all;
  int ierr = points_create(p, block, POINTS_LOADS, &loads);

  if (!ierr) ierr = create_source(p, &loads, &ops[0]);
  points_destroy(&loads);
  CLI_TRY_CLEANUP(ierr);
  CLI_TRY_CLEANUP(points_create(p, block, POINTS_ERRORS, &all));
  ierr = create_errors(p, &all, &errors, &ops[1]);
  points_destroy(&all);
  if (!ierr) ierr = RitzOperatorsPrepare(2, ops, NULL, true);
cleanup:
  for (int i = 0; i < 2; i++) CeedOperatorDestroy(&ops[i]);
  CeedVectorDestroy(&errors);
  return ierr;
}

int problem_prepare_sine(const Problem *p) {
  for (CeedInt b = 0; b < p->num_blocks && problem_is_on_device(p); b++) CLI_TRY(prepare_block(p, b));
  return CEED_ERROR_SUCCESS;
}
