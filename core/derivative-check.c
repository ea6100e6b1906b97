// SPDX-License-Identifier: BSD-2-Clause
// The Taylor test of a derivative (ritz/derivative.h).
#include <math.h>
#include <ritz/derivative.h>

#include "core/operator.h"
#include "core/vector.h"

typedef struct {
  CeedOperator op;
  CeedVector state;                          // borrowed
  CeedVector direction, moved, value, slope; // owned: w, u + h w, F(u), J w
  CeedVector remainder;                      // owned
  double value_size, slope_size;             // norms
} Test;

static int norm(CeedVector vec, double *size) {
  CeedScalar found;
  RITZ_TRY(CeedVectorNorm(vec, CEED_NORM_2, &found));
  *size = (double)found;
  return CEED_ERROR_SUCCESS;
}

// Numbers between -1 and 1, the same ones each time: the upper bits of a linear congruential generator (D. E.
// Knuth, The Art of Computer Programming 2, 3.3.4).
static int fill(CeedVector vec, double scale) {
  uint64_t seed = 1;
  CeedScalar *w;

  RITZ_TRY(CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &w));
  for (CeedSize i = 0; i < vec->length; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    w[i] = (CeedScalar)(scale * ((double)(seed >> 11) / 4503599627370496.0 - 1));
  }
  return CeedVectorRestoreArray(vec, &w);
}

static int begin(CeedOperator jacobian, Test *t) {
  const Ceed ceed = t->op->obj.ceed;
  CeedScalar largest;

  RITZ_TRY(CeedVectorCreate(ceed, t->state->length, &t->direction));
  RITZ_TRY(CeedVectorCreate(ceed, t->state->length, &t->moved));
  RITZ_TRY(CeedVectorCreate(ceed, t->op->output_size, &t->value));
  RITZ_TRY(CeedVectorCreate(ceed, t->op->output_size, &t->slope));
  RITZ_TRY(CeedVectorCreate(ceed, t->op->output_size, &t->remainder));
  RITZ_TRY(CeedVectorNorm(t->state, CEED_NORM_MAX, &largest));
  RITZ_TRY(fill(t->direction, largest > 1 ? (double)largest : 1));
  RITZ_TRY(CeedOperatorApply(t->op, t->state, t->value, CEED_REQUEST_IMMEDIATE));
  RITZ_TRY(CeedOperatorApply(jacobian, t->direction, t->slope, CEED_REQUEST_IMMEDIATE));
  RITZ_TRY(norm(t->value, &t->value_size));
  return norm(t->slope, &t->slope_size);
}

static int measure(Test *t, double h, double *remainder, double *rounding) {
  double size;

  RITZ_TRY(CeedVectorCopy(t->state, t->moved));
  RITZ_TRY(CeedVectorAXPY(t->moved, (CeedScalar)h, t->direction));
  RITZ_TRY(CeedOperatorApply(t->op, t->moved, t->remainder, CEED_REQUEST_IMMEDIATE));
  RITZ_TRY(norm(t->remainder, &size));
  RITZ_TRY(CeedVectorAXPY(t->remainder, -1, t->value));
  RITZ_TRY(CeedVectorAXPY(t->remainder, (CeedScalar)-h, t->slope));
  RITZ_TRY(norm(t->remainder, remainder));
  *rounding = 100 * (double)CEED_EPSILON * (t->value_size + size + t->slope_size);
  return CEED_ERROR_SUCCESS;
}

static double order_of(const RitzDerivativeCheck *check) {
  double order = INFINITY;
  for (int k = 0; k + 1 < RITZ_DERIVATIVE_STEPS; k++) {
    const double *r = &check->remainder[k];
    if (isnan(r[0]) || isnan(r[1])) return NAN;
    if (r[1] > check->rounding[k + 1]) order = log(r[0] / r[1]) / log(check->step[k] / check->step[k + 1]);
  }
  return order;
}

static int run(CeedOperator jacobian, double first_step, Test *t, RitzDerivativeCheck *check) {
  double h = first_step;

  RITZ_TRY(begin(jacobian, t));
  for (int k = 0; k < RITZ_DERIVATIVE_STEPS; k++, h /= 4) {
    check->step[k] = h;
    RITZ_TRY(measure(t, h, &check->remainder[k], &check->rounding[k]));
  }
  check->order = order_of(check);
  return CEED_ERROR_SUCCESS;
}

int RitzOperatorCheckDerivative(CeedOperator op, CeedVector state, CeedOperator jacobian, double first_step,
                                RitzDerivativeCheck *check) {
  RITZ_HANDLE(op, state, jacobian);
  RITZ_ARGUMENT(op, state);
  RITZ_ARGUMENT(op, jacobian);
  RITZ_ARGUMENT(op, check);
  const Ceed ceed = op->obj.ceed;
  Test t = {.op = op, .state = state};
  RitzDerivativeCheck found = {.order = 0};

  RITZ_TRY(CeedOperatorCheckReady(op));
  RITZ_TRY(CeedOperatorCheckReady(jacobian));
  RITZ_REQUIRE(first_step > 0 && isfinite(first_step), ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the first step is %g, needed a positive number", __func__, first_step);
  RITZ_TRY(ritz_vector_require_precision(state, __func__, CEED_SCALAR_TYPE));
  RITZ_REQUIRE(state->length == op->input_size && jacobian->input_size == op->input_size &&
                   jacobian->output_size == op->output_size,
               ceed, CEED_ERROR_DIMENSION,
               "%s: state has %" CeedSize_FMT " entries, op takes %" CeedSize_FMT " to %" CeedSize_FMT
               ", jacobian %" CeedSize_FMT " to %" CeedSize_FMT,
               __func__, state->length, op->input_size, op->output_size, jacobian->input_size,
               jacobian->output_size);
  int ierr = run(jacobian, first_step, &t, &found);
  CeedVector *const vectors[] = {&t.direction, &t.moved, &t.value, &t.slope, &t.remainder};
  for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) (void)CeedVectorDestroy(vectors[i]);
  if (!ierr) *check = found;
  return ierr;
}
