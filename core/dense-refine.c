// SPDX-License-Identifier: BSD-2-Clause
// Dense solver: refinement in double, classical (Wilkinson) and by GMRES with the factors as preconditioner
// (Carson and Higham, A new analysis of iterative refinement and its application to accurate solution of
// ill-conditioned sparse linear systems, 2017), and the estimate of the condition that chooses between them.
#include <math.h>
#include <string.h>

#include "core/dense-solver.h"

enum { M = RITZ_DENSE_RESTART };
// Condition times roundoff of the factors up to which classical refinement gains a digit a step.
static const double classical_limit = 0.1;

// ---- Condition ----

static double sum_of(int64_t n, const double *x) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += fabs(x[i]);
  return sum;
}

static int64_t largest_of(int64_t n, const double *x) {
  int64_t at = 0;
  for (int64_t i = 1; i < n; i++) {
    if (fabs(x[i]) > fabs(x[at])) at = i;
  }
  return at;
}

static int solve_on_host(RitzDenseSolver s, bool is_transposed, double *x) {
  double *v = ritz_dense_vector(s, RITZ_DENSE_Z);
  RITZ_TRY(s->methods->copy_in(s, s->n, v, x));
  RITZ_TRY(s->methods->solve(s, is_transposed, v));
  return s->methods->copy_out(s, s->n, x, v);
}

// |M^-1|_1 from below: Hager 1984, with the further vector of Higham, Accuracy and stability of numerical
// algorithms, algorithm 15.4. x: work, n numbers.
static int estimate_inverse(RitzDenseSolver s, double *x, double *norm) {
  const int64_t n = s->n;
  int64_t at = -1;
  *norm = 0;
  for (int64_t i = 0; i < n; i++) x[i] = 1.0 / (double)n;
  for (int step = 0; step < 5; step++) {
    RITZ_TRY(solve_on_host(s, false, x));
    const double sum = sum_of(n, x);
    if (!isfinite(sum)) return *norm = INFINITY, CEED_ERROR_SUCCESS;
    if (step > 0 && sum <= *norm) break;
    *norm = sum;
    for (int64_t i = 0; i < n; i++) x[i] = x[i] < 0 ? -1 : 1;
    RITZ_TRY(solve_on_host(s, true, x));
    const int64_t next = largest_of(n, x);
    if (next == at) break;
    at = next;
    memset(x, 0, (size_t)n * sizeof(*x));
    x[at] = 1;
  }
  for (int64_t i = 0; i < n; i++) x[i] = (i % 2 ? -1 : 1) * (1 + (double)i / (double)(n > 1 ? n - 1 : 1));
  RITZ_TRY(solve_on_host(s, false, x));
  const double other = 2 * sum_of(n, x) / (3 * (double)n);
  if (!(other <= *norm)) *norm = other;
  return CEED_ERROR_SUCCESS;
}

int ritz_dense_condition(RitzDenseSolver s, double *condition) {
  double *x = NULL, norm = 0;
  RITZ_TRY(RITZ_MALLOC(s->ceed, (size_t)s->n, &x));
  const int ierr = estimate_inverse(s, x, &norm);
  RITZ_FREE(&x);
  RITZ_TRY(ierr);
  norm = ldexp(norm, s->shift) * s->scaled_norm;
  *condition = isnan(norm) ? INFINITY : norm;
  return CEED_ERROR_SUCCESS;
}

// ---- Steps ----

typedef enum { GOES_ON, CONVERGED, STAGNATED, NOT_FINITE, USED_UP } State;
static const char *const words[] = {[STAGNATED] = "refinement stagnates",
                                    [NOT_FINITE] = "numbers of the refinement are not finite",
                                    [USED_UP] = "refinement has used up its iterations"};

// Refinement of one column of X in one precision.
typedef struct {
  double tolerance, error; // backward error of X
  CeedInt iterations;      // of this precision
  int num_slow;            // steps that did not halve the error
  State state;
} Run;

// a / (b c), of which products and quotients may be out of range.
static double quotient(double a, double b, double c) {
  int i, j, k;
  if (a == 0) return 0;
  const double part = frexp(a, &i) / (frexp(b, &j) * frexp(c, &k));
  return ldexp(part, i - j - k);
}

// R = B - A X and its backward error.
static int measure(RitzDenseSolver s, double *error) {
  double norms[2];
  RITZ_TRY(s->methods->residual(s, ritz_dense_vector(s, RITZ_DENSE_B), ritz_dense_vector(s, RITZ_DENSE_X),
                                ritz_dense_vector(s, RITZ_DENSE_R), norms));
  *error = !isfinite(norms[0]) || !isfinite(norms[1]) ? INFINITY : quotient(norms[0], norms[1], s->norm);
  return CEED_ERROR_SUCCESS;
}

// Z = M^-1 2^shift R r.
static int precondition(RitzDenseSolver s, double *z) {
  RITZ_TRY(s->methods->scale_rows(s, ritz_dense_vector(s, RITZ_DENSE_R), z));
  return s->methods->solve(s, false, z);
}

static int classical_step(RitzDenseSolver s, Run *run) {
  double *z = ritz_dense_vector(s, RITZ_DENSE_Z);
  RITZ_TRY(precondition(s, z));
  run->iterations++;
  return s->methods->add_columns(s, 1, z, ritz_dense_vector(s, RITZ_DENSE_X));
}

// ---- GMRES: (M^-1 2^shift R A C) z = M^-1 2^shift R r, x += C z ----

typedef struct {
  double H[M][M + 1]; // triangle after rotations, by columns
  double cosine[M], sine[M], g[M + 1];
} Krylov;

// Rotates column `step`, whose last entry is `norm`, and the right-hand side.
static void rotate(Krylov *k, int step, double norm) {
  double *h = k->H[step];
  for (int i = 0; i < step; i++) {
    const double a = h[i], b = h[i + 1];
    h[i] = k->cosine[i] * a + k->sine[i] * b;
    h[i + 1] = k->cosine[i] * b - k->sine[i] * a;
  }
  const double length = hypot(h[step], norm);
  k->cosine[step] = length > 0 ? h[step] / length : 1;
  k->sine[step] = length > 0 ? norm / length : 0;
  h[step] = length;
  k->g[step + 1] = -k->sine[step] * k->g[step];
  k->g[step] *= k->cosine[step];
}

// The combination of `num` vectors with the least residual, added to X.
static int add_combination(RitzDenseSolver s, const Krylov *k, int num, double size) {
  double y[M], *z = ritz_dense_vector(s, RITZ_DENSE_Z);
  for (int i = num - 1; i >= 0; i--) {
    y[i] = k->g[i];
    for (int j = i + 1; j < num; j++) y[i] -= k->H[j][i] * y[j];
    y[i] = k->H[i][i] != 0 ? y[i] / k->H[i][i] : 0;
  }
  if (num == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(s->methods->combine(s, num, s->basis, y, 0, z));
  return s->methods->add_columns(s, size, z, ritz_dense_vector(s, RITZ_DENSE_X));
}

// The first vector of the basis, of norm 1; *size: power of 2 by which the residual was divided first.
static int begin_refinement(RitzDenseSolver s, Krylov *k, double *size) {
  double largest, *v = s->basis;
  RITZ_TRY(precondition(s, v));
  RITZ_TRY(s->methods->largest(s, v, &largest));
  *size = largest;
  if (!isfinite(largest) || largest == 0) return CEED_ERROR_SUCCESS;
  int exponent;
  (void)frexp(largest, &exponent);
  if (exponent < -1000) exponent = -1000;
  *size = ldexp(1, exponent);
  RITZ_TRY(s->methods->combine(s, 0, NULL, NULL, 1 / *size, v));
  return s->methods->orthogonalize(s, 0, NULL, v, k->g);
}

// Until the correction has the digits that the tolerance wants of it.
static int gmres_step(RitzDenseSolver s, Run *run) {
  const CeedInt left = s->max_iterations - run->iterations;
  const int most = left < M ? (int)left : M;
  const double wanted = fmin(1e-2, fmax(1e-10, 0.1 * run->tolerance / run->error));
  double size, norm;
  Krylov k = {.g = {0}};
  int step = 0;
  if (!s->basis) RITZ_TRY(s->methods->alloc(s, s->stride * (M + 1), &s->basis));
  RITZ_TRY(begin_refinement(s, &k, &size));
  const double first = k.g[0];
  if (!isfinite(size)) return run->state = NOT_FINITE, CEED_ERROR_SUCCESS;
  while (size != 0 && step < most) {
    double *next = s->basis + (step + 1) * s->stride;
    RITZ_TRY(s->methods->product(s, s->basis + step * s->stride, next));
    RITZ_TRY(s->methods->solve(s, false, next));
    RITZ_TRY(s->methods->orthogonalize(s, step + 1, s->basis, next, k.H[step]));
    norm = k.H[step][step + 1];
    run->iterations++;
    if (!isfinite(norm)) return run->state = NOT_FINITE, CEED_ERROR_SUCCESS;
    rotate(&k, step, norm);
    step++;
    if (norm == 0 || fabs(k.g[step]) <= wanted * first) break;
  }
  return add_combination(s, &k, step, size);
}

// ---- One column ----

// One step, which is taken back where it makes X worse.
static int refine_once(RitzDenseSolver s, RitzDenseRefinement method, Run *run) {
  double *x = ritz_dense_vector(s, RITZ_DENSE_X), *before = ritz_dense_vector(s, RITZ_DENSE_BEFORE);
  const double old = run->error;
  RITZ_TRY(s->methods->copy(s, s->n, before, x));
  RITZ_TRY(method == RITZ_REFINEMENT_GMRES ? gmres_step(s, run) : classical_step(s, run));
  RITZ_TRY(measure(s, &run->error));
  if (!(run->error <= 0.5 * old)) run->num_slow++;
  if (run->error < old) return CEED_ERROR_SUCCESS;
  if (run->error == INFINITY) run->state = NOT_FINITE;
  RITZ_TRY(s->methods->copy(s, s->n, x, before));
  return measure(s, &run->error);
}

static int refine_by(RitzDenseSolver s, RitzDenseRefinement method, Run *run) {
  run->num_slow = 0;
  run->state = GOES_ON;
  s->report.refinement = method;
  while (run->state == GOES_ON) {
    if (run->error <= run->tolerance)
      run->state = CONVERGED;
    else if (run->num_slow == 2)
      run->state = STAGNATED;
    else if (run->iterations >= s->max_iterations)
      run->state = USED_UP;
    else
      RITZ_TRY(refine_once(s, method, run));
  }
  return CEED_ERROR_SUCCESS;
}

static int choose(RitzDenseSolver s, RitzDenseRefinement *method) {
  const RitzDensePrecision precision = s->report.precision;
  *method = s->refinement;
  if (*method != RITZ_REFINEMENT_AUTO) return CEED_ERROR_SUCCESS;
  *method = RITZ_REFINEMENT_CLASSICAL;
  if (precision == RITZ_DENSE_F64) return CEED_ERROR_SUCCESS;
  if (ritz_dense_roundoff(precision) > 0x1p-24) return *method = RITZ_REFINEMENT_GMRES, CEED_ERROR_SUCCESS;
  if (s->report.condition == 0) RITZ_TRY(ritz_dense_condition(s, &s->report.condition));
  if (s->report.condition * ritz_dense_roundoff(precision) > classical_limit) *method = RITZ_REFINEMENT_GMRES;
  return CEED_ERROR_SUCCESS;
}

// Solves and refines by the present factors.
static int run_once(RitzDenseSolver s, Run *run) {
  double *x = ritz_dense_vector(s, RITZ_DENSE_X), *z = ritz_dense_vector(s, RITZ_DENSE_Z);
  RitzDenseRefinement method;
  s->report.refinement = RITZ_REFINEMENT_NONE;
  RITZ_TRY(s->methods->copy(s, s->n, ritz_dense_vector(s, RITZ_DENSE_R), ritz_dense_vector(s, RITZ_DENSE_B)));
  RITZ_TRY(precondition(s, z));
  RITZ_TRY(s->methods->combine(s, 0, NULL, NULL, 0, x));
  RITZ_TRY(s->methods->add_columns(s, 1, z, x));
  RITZ_TRY(measure(s, &run->error));
  run->state = run->error <= run->tolerance ? CONVERGED : run->error == INFINITY ? NOT_FINITE : GOES_ON;
  if (run->state != GOES_ON || s->refinement == RITZ_REFINEMENT_NONE) return CEED_ERROR_SUCCESS;
  RITZ_TRY(choose(s, &method));
  RITZ_TRY(refine_by(s, method, run));
  if (s->refinement == RITZ_REFINEMENT_AUTO && method == RITZ_REFINEMENT_CLASSICAL &&
      run->state != CONVERGED && s->report.precision != RITZ_DENSE_F64)
    RITZ_TRY(refine_by(s, RITZ_REFINEMENT_GMRES, run));
  return CEED_ERROR_SUCCESS;
}

int ritz_dense_refine(RitzDenseSolver s, const char *call) {
  const double tolerance = s->tolerance > 0 ? s->tolerance : sqrt((double)s->n) * 0x1p-53;
  CeedInt iterations = 0;
  Run run;
  for (;;) {
    run = (Run){.tolerance = tolerance};
    RITZ_TRY(run_once(s, &run));
    iterations += run.iterations;
    if (run.state == CONVERGED || run.state == GOES_ON || s->report.precision == RITZ_DENSE_F64) break;
    RITZ_TRY(ritz_dense_give_up(s, call, words[run.state]));
  }
  if (iterations > s->report.iterations) s->report.iterations = iterations;
  if (!(run.error <= s->report.backward_error)) s->report.backward_error = run.error;
  if (run.state != CONVERGED && !(run.error <= tolerance)) s->report.is_converged = false;
  return CEED_ERROR_SUCCESS;
}
