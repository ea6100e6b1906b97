// SPDX-License-Identifier: BSD-2-Clause
// Bounds of the spectrum of P A (contract in solver/eigenvalues.h). Called by chebyshev.c and stationary.c.
//
// Conjugate gradients on A x = b with a random b are the method of Lanczos: with step lengths alpha_j and
// beta_j, the tridiagonal matrix
//
//     T_jj = 1 / alpha_j + beta_(j-1) / alpha_(j-1),   T_j,j+1 = sqrt(beta_j) / alpha_j
//
// is that of P A in the Krylov space (Golub & Van Loan, 11.3; Saad 2003, 6.7.3): its largest eigenvalue comes
// from below, soon near the largest of P A.
#include "solver/eigenvalues.h"

#include <float.h>
#include <math.h>

#include "core/apply-hooks.h"

enum { MAX_STEPS = 200 };

// ---- Eigenvalues of a tridiagonal matrix ----

// How many are below `shift`: negative pivots of T - shift.
static int count_below(int n, const double *diagonal, const double *beside, double shift) {
  double pivot = 1;
  int count = 0;

  for (int i = 0; i < n; i++) {
    const double square = i > 0 ? beside[i - 1] * beside[i - 1] : 0;
    if (pivot == 0) pivot = DBL_MIN;
    pivot = diagonal[i] - shift - square / pivot;
    count += pivot < 0;
  }
  return count;
}

// The eigenvalue with `index` smaller ones, in (low, high).
static double bisect(int n, const double *diagonal, const double *beside, int index, double low,
                     double high) {
  for (int i = 0; i < 100; i++) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    if (count_below(n, diagonal, beside, middle) > index)
      high = middle;
    else
      low = middle;
  }
  return low + (high - low) / 2;
}

// Eigenvalues of the symmetric tridiagonal matrix with this diagonal [n] and these numbers beside it [n - 1],
// n > 0, by bisection (Givens 1954: signs of the pivots).
static void find_tridiagonal_extremes(int n, const double *diagonal, const double *beside, double *smallest,
                                      double *largest) {
  double low = INFINITY, high = -INFINITY;

  for (int i = 0; i < n; i++) { // Gershgorin's discs
    const double radius = (i > 0 ? fabs(beside[i - 1]) : 0) + (i < n - 1 ? fabs(beside[i]) : 0);
    low = fmin(low, diagonal[i] - radius);
    high = fmax(high, diagonal[i] + radius);
  }
  const double margin = 1e-14 * fmax(fabs(low), fabs(high)) + DBL_MIN;
  *smallest = bisect(n, diagonal, beside, 0, low - margin, high + margin);
  *largest = bisect(n, diagonal, beside, n - 1, low - margin, high + margin);
}

// ---- The starting vector ----

typedef struct {
  void *array;
  CeedScalarType precision;
  uint64_t seed;
} Filling;

// Entry i depends on i and the seed alone, whoever computes it: splitmix64 (Steele, Lea & Flood 2014).
static double random_entry(uint64_t seed, int64_t i) {
  uint64_t z = seed + ((uint64_t)i + 1) * UINT64_C(0x9e3779b97f4a7c15);

  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  z ^= z >> 31;
  return (double)(int64_t)(z >> 11) * 0x1p-52 - 1;
}

static void fill_random(void *data, int slot, int64_t first, int64_t count) {
  const Filling *filling = data;
  (void)slot;
  for (int64_t i = first; i < first + count; i++) {
    const double value = random_entry(filling->seed, i);
    if (filling->precision == CEED_SCALAR_FP32)
      ((float *)filling->array)[i] = (float)value;
    else
      ((double *)filling->array)[i] = value;
  }
}

int ritz_system_set_random(const RitzSystem *system, CeedVector v, uint64_t seed) {
  Filling filling = {.precision = v->precision, .seed = seed};

  RITZ_TRY(ritz_vector_lock(v, RITZ_ACCESS_WRITE, CEED_MEM_HOST, &filling.array));
  const int ierr = ritz_run_ranges(system->ceed, v->length, fill_random, &filling);
  RITZ_TRY(ritz_vector_unlock(v, RITZ_ACCESS_WRITE, &filling.array, ierr));
  RITZ_TRY(ritz_system_zero_constrained(system, v));
  return ritz_system_project(system, v);
}

// ---- Lanczos ----

typedef struct {
  const RitzSystem *system;
  RitzPreconditioner pc;
  CeedVector r, z, p, q; // owned; z is r without a preconditioner
  int num_steps;
  double alpha[MAX_STEPS], beta[MAX_STEPS];
} Lanczos;

static int precondition(const Lanczos *lanczos, double *rz) {
  if (lanczos->pc) {
    RITZ_TRY(ritz_preconditioner_apply(lanczos->pc, lanczos->r, lanczos->z));
    RITZ_TRY(ritz_system_project(lanczos->system, lanczos->z));
  }
  return RitzVectorDot(lanczos->r, lanczos->z, rz);
}

// Whether a product is that of rounding errors: the space is exhausted.
static bool is_exhausted(double value, double first, CeedScalarType precision) {
  const double eps = precision == CEED_SCALAR_FP32 ? 0x1p-23 : 0x1p-52;
  return fabs(value) <= 100 * eps * eps * first;
}

// Whether p . A p is that of rounding errors: what is left of r belongs to directions that A takes to zero.
// By the largest Rayleigh quotient of the steps before, r . P r standing for p . P^-1 p, which has as many of
// them as steps.
static bool is_null(const Lanczos *lanczos, int num_steps, double rz, double pq, CeedScalarType precision) {
  const double eps = precision == CEED_SCALAR_FP32 ? 0x1p-23 : 0x1p-52;
  double most = 0;

  for (int i = 0; i < num_steps; i++) most = fmax(most, 1 / lanczos->alpha[i]);
  return num_steps > 0 && fabs(pq) <= 100 * eps * (num_steps + 1) * most * rz;
}

// Residuals grow without end where the system has no solution (Kaasschieter 1988), as with a random
// right-hand side and a nullspace: what is left of them lies beside all that large eigenvalues belong to.
static bool has_no_solution(double value, double first) { return value > 100 * first; }

static RitzSolverReason fault_of(double product, RitzSolverReason reason) {
  if (!isfinite(product)) return RITZ_DIVERGED_NAN;
  return product > 0 ? RITZ_ITERATING : reason;
}

static int run_lanczos(Lanczos *lanczos, CeedInt num_steps, RitzSolverReason *fault) {
  const CeedScalarType precision = lanczos->r->precision;
  double rz = 0, pq = 0, next = 0, first = 0;

  RITZ_TRY(precondition(lanczos, &rz));
  RITZ_TRY(RitzVectorSum(lanczos->p, 1, lanczos->z, 0, CEED_VECTOR_NONE));
  if (rz != 0) *fault = fault_of(rz, RITZ_DIVERGED_PRECONDITIONER);
  first = rz;
  for (int i = 0; i < num_steps && rz > 0; i++) {
    RITZ_TRY(ritz_system_apply(lanczos->system, lanczos->p, lanczos->q));
    RITZ_TRY(ritz_system_project(lanczos->system, lanczos->q));
    RITZ_TRY(RitzVectorDot(lanczos->p, lanczos->q, &pq));
    if (is_null(lanczos, i, rz, pq, precision)) break;
    *fault = fault_of(pq, RITZ_DIVERGED_INDEFINITE);
    if (*fault) break;
    lanczos->alpha[i] = rz / pq;
    RITZ_TRY(RitzVectorAXPYs(lanczos->r, 1, (double[]){-lanczos->alpha[i]}, &lanczos->q));
    RITZ_TRY(precondition(lanczos, &next));
    lanczos->beta[i] = next / rz;
    lanczos->num_steps = i + 1;
    if (is_exhausted(next, first, precision) || has_no_solution(next, first)) break;
    *fault = fault_of(next, RITZ_DIVERGED_PRECONDITIONER);
    if (*fault) break;
    rz = next;
    RITZ_TRY(RitzVectorSum(lanczos->p, 1, lanczos->z, lanczos->beta[i], lanczos->p));
  }
  return CEED_ERROR_SUCCESS;
}

static void find_extremes(const Lanczos *lanczos, RitzSpectrum *spectrum) {
  double diagonal[MAX_STEPS], beside[MAX_STEPS];
  const int n = lanczos->num_steps;

  spectrum->num_steps = n;
  for (int i = 0; i < n; i++) {
    diagonal[i] = 1 / lanczos->alpha[i];
    if (i > 0) diagonal[i] += lanczos->beta[i - 1] / lanczos->alpha[i - 1];
    beside[i] = sqrt(fmax(0, lanczos->beta[i])) / lanczos->alpha[i];
  }
  if (n > 0) find_tridiagonal_extremes(n, diagonal, beside, &spectrum->smallest, &spectrum->largest);
}

int ritz_estimate_spectrum(const RitzSystem *system, RitzPreconditioner pc, CeedSize n,
                           CeedScalarType precision, CeedInt num_steps, uint64_t seed,
                           RitzSpectrum *spectrum) {
  Lanczos lanczos = {.system = system, .pc = pc};
  CeedVector *const vectors[] = {&lanczos.r, &lanczos.p, &lanczos.q, &lanczos.z};
  const int num_vectors = pc ? 4 : 3;
  int ierr = CEED_ERROR_SUCCESS;

  *spectrum = (RitzSpectrum){0};
  if (num_steps > MAX_STEPS) num_steps = MAX_STEPS;
  for (int i = 0; i < num_vectors && !ierr; i++) {
    ierr = RitzVectorCreate(system->ceed, n, precision, vectors[i]);
    if (!ierr) ierr = CeedVectorSetValue(*vectors[i], 0);
  }
  if (!pc) lanczos.z = lanczos.r;
  if (!ierr) ierr = ritz_system_set_random(system, lanczos.r, seed);
  if (!ierr) ierr = run_lanczos(&lanczos, num_steps, &spectrum->fault);
  if (!ierr) find_extremes(&lanczos, spectrum);
  for (int i = 0; i < num_vectors; i++) ierr = ritz_first_error(ierr, CeedVectorDestroy(vectors[i]));
  return ierr;
}
