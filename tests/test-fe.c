// SPDX-License-Identifier: BSD-2-Clause
// Tests of fe/: quadrature, Lagrange and Chebyshev tables, tensor actions. Small dense algebra:
// test-fe-dense.c. Calls the hidden functions of fe/fe.h; their public wrappers are tested with the objects
// of core/.
#include "tests/tap.h"

#include "base/memory.h"
#include "fe/fe.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { MAX_N = 64 };
static const double eps = DBL_EPSILON;

typedef void (*Rule)(int n, double *x, double *w);
static const struct {
  const char *name;
  Rule rule;
  int least, lost; // smallest n; exact to degree 2n - lost
} rules[] = {{"Gauss", ritz_fe_gauss, 1, 1}, {"Gauss-Lobatto", ritz_fe_gauss_lobatto, 2, 3}};
enum { NUM_RULES = sizeof(rules) / sizeof(rules[0]) };

// ---- Helpers ----

// Legendre polynomials P_0 ... P_n and their derivatives at x, in extended precision where there is one.
// P_{k+1}' = P_{k-1}' + (2k+1) P_k.
static void legendre(int n, long double x, long double *p, long double *dp) {
  p[0] = 1.0L, dp[0] = 0.0L;
  if (n > 0) p[1] = x, dp[1] = 1.0L;
  for (int k = 1; k < n; k++) {
    p[k + 1] = ((2 * k + 1) * x * p[k] - k * p[k - 1]) / (k + 1);
    dp[k + 1] = dp[k - 1] + (2 * k + 1) * p[k];
  }
}

static void fill_random(size_t n, double *a, uint64_t *seed) {
  for (size_t i = 0; i < n; i++) a[i] = tap_uniform(seed);
}

static double largest(size_t n, const double *a) {
  double m = 0.0;

  for (size_t i = 0; i < n; i++) m = fmax(m, fabs(a[i]));
  return m;
}

// T [n][m] = A [m][n]^T
static void transpose(int m, int n, const double *A, double *T) {
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < n; j++) T[j * m + i] = A[i * n + j];
  }
}

// Largest difference of A from diag(d); d = NULL: from the identity. NaN if A holds one.
static double distance_from_diagonal(int n, const double *A, const double *d) {
  double worst = 0.0;

  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      double error = fabs(A[i * n + j] - (i == j ? (d ? d[i] : 1.0) : 0.0));

      if (error > worst || isnan(error)) worst = error;
    }
  }
  return worst;
}

// Largest difference of the entries; NaN if there is one.
static double distance(size_t n, const double *a, const double *b) {
  double worst = 0.0;

  for (size_t i = 0; i < n; i++) {
    double error = fabs(a[i] - b[i]);

    if (error > worst || isnan(error)) worst = error;
  }
  return worst;
}

// ---- Quadrature ----

// The sum has n terms of total size 2 and each carries a few round-offs; a round-off in x changes x^k
// relatively by k of them.
static double quadrature_tolerance(int n, int degree) { return 2.0 * eps * (n + degree + 2); }

static double integrate_monomial(int n, const double *x, const double *w, int degree) {
  double sum = 0.0;

  for (int i = 0; i < n; i++) sum += w[i] * pow(x[i], degree);
  return sum;
}

static double integrate_legendre(int n, const double *x, const double *w, int degree) {
  long double p[2 * MAX_N + 1], dp[2 * MAX_N + 1], sum = 0.0L;

  for (int i = 0; i < n; i++) {
    legendre(degree, x[i], p, dp);
    sum += w[i] * p[degree];
  }
  return (double)sum;
}

TEST(quadrature_integrates_monomials_exactly_to_its_degree) {
  double x[MAX_N], w[MAX_N];

  for (int r = 0; r < NUM_RULES; r++) {
    for (int n = rules[r].least; n <= 20; n++) {
      rules[r].rule(n, x, w);
      for (int degree = 0; degree <= 2 * n - rules[r].lost; degree++) {
        double exact = degree % 2 ? 0.0 : 2.0 / (degree + 1);

        CHECK_NEAR(integrate_monomial(n, x, w, degree), exact, quadrature_tolerance(n, degree),
                   "%s, %d points, degree %d", rules[r].name, n, degree);
      }
    }
  }
}

// Legendre polynomials are a sharper test than monomials: at high degree they see all points, not the ends
// only. Their slope is up to degree^2 / 2 at the ends, where the weights are of size 1 / n^2, and of order
// degree elsewhere: the same tolerance holds.
TEST(quadrature_integrates_legendre_polynomials_exactly_to_its_degree) {
  double x[MAX_N], w[MAX_N];

  for (int r = 0; r < NUM_RULES; r++) {
    for (int n = rules[r].least; n <= 20; n++) {
      rules[r].rule(n, x, w);
      for (int degree = 0; degree <= 2 * n - rules[r].lost; degree++) {
        CHECK_NEAR(integrate_legendre(n, x, w, degree), degree ? 0.0 : 2.0, quadrature_tolerance(n, degree),
                   "%s, %d points, degree %d", rules[r].name, n, degree);
      }
    }
  }
}

TEST(quadrature_with_64_points_is_exact_to_its_degree) {
  double x[MAX_N], w[MAX_N];
  int n = MAX_N;

  for (int r = 0; r < NUM_RULES; r++) {
    rules[r].rule(n, x, w);
    for (int degree = 0; degree <= 2 * n - rules[r].lost; degree++) {
      CHECK_NEAR(integrate_legendre(n, x, w, degree), degree ? 0.0 : 2.0, quadrature_tolerance(n, degree),
                 "%s, degree %d", rules[r].name, degree);
    }
  }
}

// Gauss: the rule gives 0 for P_n^2 = sum_k c_k P_2k, 0 < c_k <= 1, whose integral is 2/(2n+1); hence it
// gives -2 / ((2n+1) c_n) for P_2n. Lobatto, m = n - 1: it gives 2/m for P_m^2 instead of 2/(2m+1), hence at
// least 2/m - 2/(2m+1) > 1/m for P_2m.
TEST(quadrature_is_not_exact_one_degree_further) {
  double x[MAX_N], w[MAX_N];

  for (int n = 1; n <= 20; n++) {
    ritz_fe_gauss(n, x, w);
    CHECK(integrate_legendre(n, x, w, 2 * n) < -1.9 / (2 * n + 1), "Gauss, %d points", n);
  }
  for (int n = 2; n <= 20; n++) {
    ritz_fe_gauss_lobatto(n, x, w);
    CHECK(integrate_legendre(n, x, w, 2 * n - 2) > 1.0 / (n - 1), "Gauss-Lobatto, %d points", n);
  }
}

TEST(quadrature_points_ascend_and_are_exactly_symmetric) {
  double x[MAX_N], w[MAX_N];

  for (int r = 0; r < NUM_RULES; r++) {
    for (int n = rules[r].least; n <= MAX_N; n++) {
      rules[r].rule(n, x, w);
      for (int i = 0; i < n; i++) {
        CHECK(x[n - 1 - i] == -x[i] && w[n - 1 - i] == w[i], "%s, point %d of %d", rules[r].name, i, n);
        CHECK(i == 0 || x[i] > x[i - 1], "%s, point %d of %d", rules[r].name, i, n);
        CHECK(fabs(x[i]) <= 1.0, "%s, point %d of %d", rules[r].name, i, n);
      }
      CHECK(n % 2 == 0 || (x[n / 2] == 0.0 && !signbit(x[n / 2])), "%s, middle of %d", rules[r].name, n);
    }
  }
}

TEST(quadrature_weights_are_positive_and_add_to_two) {
  double x[MAX_N], w[MAX_N];

  for (int r = 0; r < NUM_RULES; r++) {
    for (int n = rules[r].least; n <= MAX_N; n++) {
      double sum = 0.0;

      rules[r].rule(n, x, w);
      for (int i = 0; i < n; i++) {
        CHECK(w[i] > 0.0, "%s, weight %d of %d is %g", rules[r].name, i, n, w[i]);
        sum += w[i];
      }
      // Round-offs of the sum and of the weights add up like a random walk.
      CHECK_NEAR(sum, 2.0, 4 * eps * sqrt(n), "%s, %d points", rules[r].name, n);
    }
  }
}

TEST(lobatto_ends_are_exact_and_weights_are_optional) {
  double x[MAX_N], w[MAX_N], alone[MAX_N];

  for (int n = 2; n <= MAX_N; n++) {
    ritz_fe_gauss_lobatto(n, x, w);
    ritz_fe_gauss_lobatto(n, alone, NULL);
    CHECK(x[0] == -1.0 && x[n - 1] == 1.0, "%d points", n);
    CHECK_NEAR(w[0], 2.0 / (n * (n - 1.0)), eps * w[0], "%d points", n);
    CHECK(memcmp(x, alone, (size_t)n * sizeof(*x)) == 0, "%d points", n);
  }
}

// Known in closed form (Abramowitz & Stegun, section 25.4).
TEST(small_rules_match_their_closed_forms) {
  double x[4], w[4];

  ritz_fe_gauss(1, x, w);
  CHECK(x[0] == 0.0 && w[0] == 2.0, "midpoint rule: %g, %g", x[0], w[0]);
  ritz_fe_gauss(3, x, w);
  CHECK_NEAR(x[2], sqrt(0.6), 2 * eps, "Gauss, 3 points");
  CHECK_NEAR(w[2], 5.0 / 9.0, 2 * eps, "Gauss, 3 points");
  ritz_fe_gauss_lobatto(4, x, w);
  CHECK_NEAR(x[2], sqrt(0.2), 2 * eps, "Gauss-Lobatto, 4 points");
  CHECK_NEAR(w[2], 5.0 / 6.0, 2 * eps, "Gauss-Lobatto, 4 points");
}

// ---- Lagrange and Chebyshev polynomials ----

enum { MAX_P = 32, NUM_POINTS = 41 };

// Random points, and some that are nodes or so close that the formulas have to be careful.
static void fill_points(int P, const double *nodes, double *points, uint64_t *seed) {
  fill_random(NUM_POINTS, points, seed);
  for (int i = 0; i < 4; i++) {
    double node = nodes[tap_integer(seed, P)], away = pow(10.0, -4.0 * i);

    points[i] = node;
    points[4 + i] = node + 1e-3 * (node > 0.0 ? -away : away);
  }
  points[8] = nodes[0] < 0.0 ? nextafter(nodes[0], 0.0) : 0.5;
  points[9] = 1e-310;
}

// A random polynomial of degree P - 1 with coefficients a in the Legendre basis, and its derivative.
static void evaluate(int P, const double *a, double x, double *value, double *derivative) {
  long double p[MAX_P], dp[MAX_P], sum = 0.0L, slope = 0.0L;

  legendre(P - 1, x, p, dp);
  for (int k = 0; k < P; k++) sum += a[k] * p[k], slope += a[k] * dp[k];
  *value = (double)sum, *derivative = (double)slope;
}

static double dot(int n, const double *a, const double *b) {
  double sum = 0.0;

  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

TEST(lagrange_tables_reproduce_polynomials_and_their_derivatives) {
  double nodes[MAX_P], points[NUM_POINTS], values[NUM_POINTS * MAX_P], derivatives[NUM_POINTS * MAX_P];
  uint64_t seed = 1;

  for (int P = 2; P <= MAX_P; P++) {
    double a[MAX_P], u[MAX_P], unused;

    ritz_fe_gauss_lobatto(P, nodes, NULL);
    fill_points(P, nodes, points, &seed);
    fill_random((size_t)P, a, &seed);
    for (int j = 0; j < P; j++) evaluate(P, a, nodes[j], &u[j], &unused);
    CHECK_OK(ritz_fe_lagrange(NULL, P, nodes, NUM_POINTS, points, values, derivatives));

    // Sums of P terms. A row of values has a magnitude below 3, one of derivatives below P^2 (Markov).
    double tolerance = 4 * eps * P * largest((size_t)P, u);

    for (int q = 0; q < NUM_POINTS; q++) {
      double value, derivative;

      evaluate(P, a, points[q], &value, &derivative);
      CHECK_NEAR(dot(P, values + q * P, u), value, tolerance, "P = %d, x = %.17g", P, points[q]);
      CHECK_NEAR(dot(P, derivatives + q * P, u), derivative, tolerance * P * P, "P = %d, x = %.17g", P,
                 points[q]);
    }
  }
}

TEST(lagrange_tables_are_exactly_the_identity_at_their_nodes) {
  double nodes[MAX_P], values[MAX_P * MAX_P];

  for (int r = 0; r < NUM_RULES; r++) {
    for (int P = rules[r].least; P <= MAX_P; P++) {
      double weights[MAX_P];

      rules[r].rule(P, nodes, weights);
      CHECK_OK(ritz_fe_lagrange(NULL, P, nodes, P, nodes, values, NULL));
      CHECK(distance_from_diagonal(P, values, NULL) == 0.0, "%s nodes, P = %d", rules[r].name, P);
    }
  }
}

TEST(lagrange_values_add_to_one_and_derivatives_to_zero) {
  double nodes[MAX_P], points[NUM_POINTS], values[NUM_POINTS * MAX_P], derivatives[NUM_POINTS * MAX_P];
  uint64_t seed = 2;

  for (int P = 1; P <= MAX_P; P++) {
    double weights[MAX_P];

    ritz_fe_gauss(P, nodes, weights);
    fill_points(P, nodes, points, &seed);
    CHECK_OK(ritz_fe_lagrange(NULL, P, nodes, NUM_POINTS, points, values, derivatives));
    for (int q = 0; q < NUM_POINTS; q++) {
      double sum = 0.0, slope = 0.0, size = 0.0;

      for (int j = 0; j < P; j++) {
        sum += values[q * P + j];
        slope += derivatives[q * P + j];
        size += fabs(derivatives[q * P + j]);
      }
      // Rows of values have magnitudes that add to less than 8 for these P, also beyond the outer Gauss node.
      CHECK_NEAR(sum, 1.0, 8 * eps * P, "P = %d, x = %.17g", P, points[q]);
      CHECK_NEAR(slope, 0.0, 2 * eps * P * size, "P = %d, x = %.17g", P, points[q]);
    }
  }
}

TEST(lagrange_derivatives_are_continuous_at_the_nodes) {
  double nodes[MAX_P], points[2 * MAX_P], derivatives[2 * MAX_P * MAX_P];

  for (int P = 2; P <= MAX_P; P++) {
    ritz_fe_gauss_lobatto(P, nodes, NULL);
    for (int j = 0; j < P; j++) {
      points[2 * j] = nodes[j];
      points[2 * j + 1] = nextafter(nodes[j], j < P / 2 ? 2.0 : -2.0);
    }
    CHECK_OK(ritz_fe_lagrange(NULL, P, nodes, 2 * P, points, NULL, derivatives));
    // One round-off in x times second derivatives below P^4, and the round-off of entries below P^2.
    for (int j = 0; j < P; j++) {
      CHECK(distance((size_t)P, derivatives + 2 * j * P, derivatives + (2 * j + 1) * P) <=
                4 * eps * (pow(P, 4) + pow(P, 3)),
            "P = %d, node %d", P, j);
    }
  }
}

TEST(lagrange_tables_of_symmetric_nodes_are_exactly_symmetric) {
  double nodes[MAX_P], points[MAX_P], weights[MAX_P], values[MAX_P * MAX_P], derivatives[MAX_P * MAX_P];

  for (int P = 1; P <= 16; P++) {
    for (int Q = 1; Q <= 18; Q++) {
      if (P == 1)
        nodes[0] = 0.0;
      else
        ritz_fe_gauss_lobatto(P, nodes, NULL);
      ritz_fe_gauss(Q, points, weights);
      CHECK_OK(ritz_fe_lagrange(NULL, P, nodes, Q, points, values, derivatives));
      for (int i = 0; i < P * Q; i++) {
        CHECK(values[i] == values[P * Q - 1 - i], "P = %d, Q = %d, entry %d", P, Q, i);
        CHECK(derivatives[i] == -derivatives[P * Q - 1 - i], "P = %d, Q = %d, entry %d", P, Q, i);
      }
    }
  }
}

TEST(lagrange_takes_nodes_in_any_order_and_on_any_interval) {
  const double nodes[] = {103.0, 100.0, 104.5, 101.25}, points[] = {100.5, 104.5, 99.0};
  double values[12], derivatives[12];

  CHECK_OK(ritz_fe_lagrange(NULL, 4, nodes, 3, points, values, derivatives));
  for (int q = 0; q < 3; q++) {
    double value = 0.0, derivative = 0.0, x = points[q] - 102.0;

    for (int j = 0; j < 4; j++) {
      value += values[4 * q + j] * pow(nodes[j] - 102.0, 3);
      derivative += derivatives[4 * q + j] * pow(nodes[j] - 102.0, 3);
    }
    // Nodal values up to 16, rows of values up to 10 outside the nodes, a handful of operations.
    CHECK_NEAR(value, x * x * x, 2000 * eps, "x = %g", points[q]);
    CHECK_NEAR(derivative, 3 * x * x, 2000 * eps, "x = %g", points[q]);
  }
}

TEST(lagrange_with_one_node_is_constant) {
  const double node = 0.25, points[] = {-1.0, 0.25, 1.0};
  double values[3], derivatives[3];

  CHECK_OK(ritz_fe_lagrange(NULL, 1, &node, 3, points, values, derivatives));
  for (int q = 0; q < 3; q++) CHECK(values[q] == 1.0 && derivatives[q] == 0.0, "point %d", q);
}

TEST(lagrange_rejects_nodes_that_are_not_distinct_numbers) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const double twice[] = {-1.0, 0.0, 0.0, 1.0}, bad[] = {-1.0, NAN, 1.0}, far[] = {-1.0, INFINITY}, x = 0.5;
  double values[4];

  CHECK_ERROR(ceed, ritz_fe_lagrange(ceed, 4, twice, 1, &x, values, NULL), CEED_ERROR_MINOR, "node 1 of 4");
  CHECK_ERROR(ceed, ritz_fe_lagrange(ceed, 3, bad, 1, &x, values, NULL), CEED_ERROR_MINOR, "node 0 of 3");
  CHECK_ERROR(ceed, ritz_fe_lagrange(ceed, 2, far, 1, &x, values, NULL), CEED_ERROR_MINOR, "node 0 of 2");
  CHECK_ERROR(ceed, ritz_fe_lagrange(ceed, 1, bad + 1, 1, &x, values, NULL), CEED_ERROR_MINOR, "node 0 of 1");
  CHECK_ERROR(ceed, ritz_fe_lagrange(ceed, 0, bad, 1, &x, values, NULL), CEED_ERROR_DIMENSION, "0 nodes");
  CeedDestroy(&ceed);
}

TEST(lagrange_reports_a_failing_allocation_and_leaks_nothing) {
  const double nodes[] = {-1, 0, 1}, x = 0.5;
  double values[3];
  int64_t live = ritz_memory_live();

  ritz_memory_fail_at(1);
  int ierr = ritz_fe_lagrange(NULL, 3, nodes, 1, &x, values, NULL);

  ritz_memory_fail_at(0);
  CHECK(ierr == CEED_ERROR_MAJOR && ritz_memory_live() == live, "returned %d", ierr);
}

// T_k(cos t) = cos(k t), T_k'(cos t) = k sin(k t) / sin(t).
TEST(chebyshev_polynomials_match_cosines) {
  enum { N = 24 };
  double value[N], derivative[N];

  for (int i = 1; i < 50; i++) {
    double t = 3.14159265358979323846 * i / 50, x = cos(t);

    ritz_fe_chebyshev(N, x, value, derivative);
    // A round-off in x moves T_k by up to k^2 round-offs and T_k' by k^4 / 3; the recurrence adds as much.
    for (int k = 0; k < N; k++) {
      CHECK_NEAR(value[k], cos(k * t), 2 * eps * (k * k + 1), "T_%d(%g)", k, x);
      CHECK_NEAR(derivative[k], k * sin(k * t) / sin(t), 2 * eps * (pow(k, 4) + 1), "T_%d'(%g)", k, x);
    }
  }
}

TEST(chebyshev_polynomials_are_exact_at_the_ends) {
  enum { N = 24 };
  double value[N], derivative[N], alone[N];

  for (int sign = -1; sign <= 1; sign += 2) {
    ritz_fe_chebyshev(N, sign, value, derivative);
    for (int k = 0; k < N; k++) {
      double parity = k % 2 ? sign : 1.0;

      CHECK(value[k] == parity && derivative[k] == parity * sign * k * k, "T_%d(%d)", k, sign);
    }
    ritz_fe_chebyshev(N, sign, NULL, alone);
    CHECK(memcmp(alone, derivative, sizeof(alone)) == 0, "derivatives alone");
    ritz_fe_chebyshev(N, sign, alone, NULL);
    CHECK(memcmp(alone, value, sizeof(alone)) == 0, "values alone");
  }
}

// ---- Tensor products ----

enum { MAX_DIM = 4, MAX_1D = 5, MAX_TENSOR = 2 * 5 * 5 * 5 * 5 };

// Sizes of a tensor action with random matrices and data.
typedef struct {
  int dim, nc, rows, cols;
  size_t num_in, num_out; // numbers per component
  double M[MAX_DIM][MAX_1D * MAX_1D], u[MAX_TENSOR], v[MAX_TENSOR], work[2 * MAX_TENSOR];
} Tensor;

static void make_tensor(Tensor *t, int dim, int rows, int cols, uint64_t *seed) {
  t->dim = dim, t->nc = 2, t->rows = rows, t->cols = cols, t->num_in = t->num_out = 1;
  for (int d = 0; d < dim; d++) {
    t->num_in *= (size_t)cols, t->num_out *= (size_t)rows;
    fill_random((size_t)(rows * cols), t->M[d], seed);
  }
  fill_random(t->nc * t->num_in, t->u, seed);
}

static void apply_tensor(Tensor *t) {
  const double *M[MAX_DIM];

  for (int d = 0; d < t->dim; d++) M[d] = t->M[d];
  ritz_fe_tensor_apply(t->dim, t->nc, t->rows, t->cols, M, t->u, t->v, t->work);
}

// Entry (i, j) of the Kronecker product: the product of the entries at the digits of i and j, first direction
// least significant.
static double kronecker_entry(const Tensor *t, size_t i, size_t j) {
  double product = 1.0;

  for (int d = 0; d < t->dim; d++) {
    product *= t->M[d][i % (size_t)t->rows * (size_t)t->cols + j % (size_t)t->cols];
    i /= (size_t)t->rows, j /= (size_t)t->cols;
  }
  return product;
}

TEST(tensor_apply_equals_the_kronecker_product) {
  static const int shapes[][2] = {{3, 3}, {5, 2}, {2, 5}, {4, 3}, {1, 3}, {3, 1}};
  static Tensor t;
  uint64_t seed = 3;

  for (int dim = 1; dim <= MAX_DIM; dim++) {
    for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
      make_tensor(&t, dim, shapes[s][0], shapes[s][1], &seed);
      apply_tensor(&t);
      for (int c = 0; c < t.nc; c++) {
        for (size_t i = 0; i < t.num_out; i++) {
          double sum = 0.0, size = 0.0;

          for (size_t j = 0; j < t.num_in; j++) {
            double term = kronecker_entry(&t, i, j) * t.u[c * t.num_in + j];

            sum += term, size += fabs(term);
          }
          // Either side adds num_in terms of `size` altogether.
          CHECK_NEAR(t.v[c * t.num_out + i], sum, 2 * eps * (double)t.num_in * size,
                     "dim %d, %d x %d, component %d, entry %d", dim, t.rows, t.cols, c, (int)i);
        }
      }
    }
  }
}

TEST(tensor_apply_with_transposed_matrices_is_the_adjoint) {
  static Tensor t, adjoint;
  uint64_t seed = 4;

  for (int dim = 1; dim <= MAX_DIM; dim++) {
    make_tensor(&t, dim, 5, 3, &seed);
    make_tensor(&adjoint, dim, 3, 5, &seed);
    for (int d = 0; d < dim; d++) transpose(5, 3, t.M[d], adjoint.M[d]);
    apply_tensor(&t);
    apply_tensor(&adjoint);
    int n = (int)(t.nc * t.num_in), m = (int)(t.nc * t.num_out);
    double left = dot(m, adjoint.u, t.v), right = dot(n, adjoint.v, t.u);

    // All factors are below 1, so that every one of the m n / nc terms is.
    CHECK_NEAR(left, right, 4 * eps * m * (double)t.num_in, "dim %d", dim);
    CHECK(fabs(left) > 1e-3, "dim %d: the product %g must not vanish", dim, left);
  }
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(quadrature_integrates_monomials_exactly_to_its_degree,
            quadrature_integrates_legendre_polynomials_exactly_to_its_degree,
            quadrature_with_64_points_is_exact_to_its_degree, quadrature_is_not_exact_one_degree_further,
            quadrature_points_ascend_and_are_exactly_symmetric,
            quadrature_weights_are_positive_and_add_to_two, lobatto_ends_are_exact_and_weights_are_optional,
            small_rules_match_their_closed_forms, lagrange_tables_reproduce_polynomials_and_their_derivatives,
            lagrange_tables_are_exactly_the_identity_at_their_nodes,
            lagrange_values_add_to_one_and_derivatives_to_zero,
            lagrange_derivatives_are_continuous_at_the_nodes,
            lagrange_tables_of_symmetric_nodes_are_exactly_symmetric,
            lagrange_takes_nodes_in_any_order_and_on_any_interval, lagrange_with_one_node_is_constant,
            lagrange_rejects_nodes_that_are_not_distinct_numbers,
            lagrange_reports_a_failing_allocation_and_leaks_nothing, chebyshev_polynomials_match_cosines,
            chebyshev_polynomials_are_exact_at_the_ends, tensor_apply_equals_the_kronecker_product,
            tensor_apply_with_transposed_matrices_is_the_adjoint));
}
