// SPDX-License-Identifier: BSD-2-Clause
// Plain definitions of quadrature and bases: see tests/reference.h. Linked into every test program.
#include "tests/reference.h"

#include <math.h>
#include <ritz/precision.h>
#include <stdlib.h>

// ---- Legendre polynomials and quadrature ----

// P_n, P_n' and P_n'' at x. (1 - x^2) P' = n (P_{n-1} - x P_n), and Legendre's equation
// (1 - x^2) P'' = 2 x P' - n (n+1) P; the ends -1 and 1 are never asked for.
static void legendre_at(int n, long double x, long double p[3]) {
  long double before = 0.0L, value = 1.0L;

  for (int k = 0; k < n; k++) {
    long double next = ((2 * k + 1) * x * value - k * before) / (k + 1);

    before = value;
    value = next;
  }
  p[0] = value;
  p[1] = n * (before - x * value) / (1.0L - x * x);
  p[2] = (2.0L * x * p[1] - n * (n + 1.0L) * value) / (1.0L - x * x);
}

void reference_legendre(int n, double x, double *p, double *dp) {
  for (int k = 0; k <= n; k++) {
    p[k] = k == 0 ? 1.0 : k == 1 ? x : ((2 * k - 1) * x * p[k - 1] - (k - 1) * p[k - 2]) / k;
    if (dp) dp[k] = k == 0 ? 0.0 : k == 1 ? 1.0 : dp[k - 2] + (2 * k - 1) * p[k - 1];
  }
}

// Newton's method for a root of derivative number `order` (0 or 1) of P_n. It starts close enough for every
// n <= 16 and gains all digits in six steps.
static long double find_root(int n, int order, long double x) {
  long double p[3];

  for (int step = 0; step < 8; step++) {
    legendre_at(n, x, p);
    x -= p[order] / p[order + 1];
  }
  return x;
}

static void gauss(int n, long double *x, long double *w) {
  long double p[3];

  for (int i = 0; i < n; i++) {
    x[i] = find_root(n, 0, -cosl(acosl(-1.0L) * (i + 0.75L) / (n + 0.5L)));
    legendre_at(n, x[i], p);
    w[i] = 2.0L / ((1.0L - x[i] * x[i]) * p[1] * p[1]);
  }
}

static void lobatto(int n, long double *x, long double *w) {
  long double p[3];

  x[0] = -1.0L, x[n - 1] = 1.0L;
  w[0] = w[n - 1] = 2.0L / (n * (n - 1.0L));
  for (int i = 1; i < n - 1; i++) {
    x[i] = find_root(n - 1, 1, -cosl(acosl(-1.0L) * (i + 0.25L) / (n - 0.5L)));
    legendre_at(n - 1, x[i], p);
    w[i] = w[0] / (p[0] * p[0]);
  }
}

static void quadrature(CeedQuadMode mode, int n, long double *x, long double *w) {
  if (mode == CEED_GAUSS) {
    gauss(n, x, w);
  } else {
    lobatto(n, x, w);
  }
}

void reference_quadrature(CeedQuadMode mode, int n, double *x, double *w) {
  long double points[REFERENCE_MAX_1D], weights[REFERENCE_MAX_1D];

  quadrature(mode, n, points, weights);
  for (int i = 0; i < n; i++) {
    x[i] = (double)points[i];
    if (w) w[i] = (double)weights[i];
  }
}

// ---- Bases ----

// l_p(x) = prod_{k != p} (x - x_k) / (x_p - x_k), or the product without the factor of node `left_out`
// divided by x_p - x_left_out: one term of the derivative.
static long double lagrange_term(int P, const long double *nodes, int p, int left_out, long double x) {
  long double product = 1.0L;

  for (int k = 0; k < P; k++) {
    if (k == p) continue;
    product *= (k == left_out ? 1.0L : x - nodes[k]) / (nodes[p] - nodes[k]);
  }
  return product;
}

void reference_lagrange(int P, int Q, const double *x, double *interp, double *grad) {
  long double nodes[REFERENCE_MAX_1D], weights[REFERENCE_MAX_1D];

  lobatto(P, nodes, weights);
  for (int q = 0; q < Q; q++) {
    for (int p = 0; p < P; p++) {
      long double slope = 0.0L;

      for (int k = 0; k < P; k++) slope += k == p ? 0.0L : lagrange_term(P, nodes, p, k, x[q]);
      interp[q * P + p] = (double)lagrange_term(P, nodes, p, -1, x[q]);
      grad[q * P + p] = (double)slope;
    }
  }
}

void reference_tensor(int dim, int P_1d, int Q_1d, const double *interp, const double *grad, int derivative,
                      double *table) {
  CeedInt P = CeedIntPow(P_1d, dim), Q = CeedIntPow(Q_1d, dim);

  for (CeedInt q = 0; q < Q; q++) {
    for (CeedInt p = 0; p < P; p++) {
      double product = 1.0;

      for (CeedInt d = 0, q_rest = q, p_rest = p; d < dim; d++, q_rest /= Q_1d, p_rest /= P_1d) {
        product *= (d == derivative ? grad : interp)[(q_rest % Q_1d) * P_1d + p_rest % P_1d];
      }
      table[(CeedSize)q * P + p] = product;
    }
  }
}

// ---- Arrays ----

double *reference_new(CeedSize n) {
  double *array = calloc((size_t)n + 1, sizeof(*array));

  if (!array) abort();
  return array;
}

void reference_fill_random(size_t n, double *a, uint64_t *seed) {
  for (size_t i = 0; i < n; i++) a[i] = (double)(CeedScalar)tap_uniform(seed);
}

double *reference_new_random(CeedSize n, uint64_t *seed) {
  double *array = reference_new(n);

  reference_fill_random((size_t)n, array, seed);
  return array;
}

double reference_largest(CeedSize n, const double *a) {
  double worst = 0.0;

  for (CeedSize i = 0; i < n; i++) {
    if (fabs(a[i]) > worst || isnan(a[i])) worst = fabs(a[i]);
  }
  return worst;
}

double reference_distance(CeedSize n, const double *a, const double *b) {
  double worst = 0.0;

  for (CeedSize i = 0; i < n; i++) {
    double error = fabs(a[i] - b[i]);

    if (error > worst || isnan(error)) worst = error;
  }
  return worst;
}

double reference_dot(CeedSize n, const double *a, const double *b) {
  double sum = 0.0;

  for (CeedSize i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

// ---- Vectors ----

bool reference_is_device(Ceed ceed) {
  CeedMemType type = CEED_MEM_HOST;

  CeedGetPreferredMemType(ceed, &type);
  return type == CEED_MEM_DEVICE;
}

CeedVector reference_vector(Ceed ceed, CeedSize length, const double *values) {
  CeedVector vector = NULL;
  CeedScalar *array;

  if (CeedVectorCreate(ceed, length, &vector)) return NULL;
  if (CeedVectorGetArrayWrite(vector, CEED_MEM_HOST, &array)) return vector;
  for (CeedSize i = 0; i < length; i++) array[i] = (CeedScalar)values[i];
  CeedVectorRestoreArray(vector, &array);
  return vector;
}

static void values_of_scalars(CeedVector vector, CeedSize length, double *values) {
  const CeedScalar *array = NULL;
  int ierr = CeedVectorGetArrayRead(vector, CEED_MEM_HOST, &array);

  for (CeedSize i = 0; i < length; i++) values[i] = ierr ? NAN : (double)array[i];
  if (!ierr) CeedVectorRestoreArrayRead(vector, &array);
}

void reference_values(CeedVector vector, double *values) {
  CeedSize length = 0;
  CeedScalarType precision = CEED_SCALAR_TYPE;
  const float *array = NULL;

  CeedVectorGetLength(vector, &length);
  RitzVectorGetPrecision(vector, &precision);
  if (precision != CEED_SCALAR_FP32) {
    values_of_scalars(vector, length, values);
    return;
  }
  int ierr = RitzVectorGetArrayReadF32(vector, CEED_MEM_HOST, &array);

  for (CeedSize i = 0; i < length; i++) values[i] = ierr ? NAN : (double)array[i];
  if (!ierr) RitzVectorRestoreArrayReadF32(vector, &array);
}

double *reference_new_values(CeedVector vector) {
  CeedSize length = 0;

  CeedVectorGetLength(vector, &length);
  double *values = reference_new(length);
  reference_values(vector, values);
  return values;
}
