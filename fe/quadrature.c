// SPDX-License-Identifier: BSD-2-Clause
// Gauss and Gauss-Lobatto quadrature on [-1,1] for any number of points.
// Called by core/ for the standard's functions and by mesh/. Leaves the check of the number of points to
// them.
#include "fe/fe.h"

#include <math.h>

// Both rules are computed on the right half and mirrored, with t = 1 - x in (0,1] as the unknown: near x = 1,
// where the points crowd together, t keeps all its digits, and with it 1 - x^2 = t (2 - t) and the weights.

static const double pi = 3.14159265358979323846;

// Newton's method from the guesses below takes at most 5 steps for any n; it is quadratic, so that after a
// relative step of 1e-9 the next one would be below round-off.
enum { MAX_STEPS = 20 };
static const double last_step = 1e-9;

typedef struct {
  double value; // P_n(x)
  double drop;  // P_{n-1}(x) - P_n(x)
  double slope; // (1 - x^2) P_n'(x) = n (P_{n-1}(x) - x P_n(x))
} Legendre;

// The three-term recurrence (k+1) P_{k+1} = (2k+1) x P_k - k P_{k-1}, written for the differences:
// (k+1) (P_k - P_{k+1}) = k (P_{k-1} - P_k) + (2k+1) t P_k.
static Legendre legendre(int n, double t) {
  Legendre p = {1.0, 0.0, 0.0};

  for (int k = 0; k < n; k++) {
    p.drop = (k * p.drop + (2.0 * k + 1.0) * t * p.value) / (k + 1.0);
    p.value -= p.drop;
  }
  p.slope = n * (p.drop + t * p.value);
  return p;
}

// A root of P_n from the polar angle of a guess. The derivative is slope / (1 - x^2).
static double gauss_root(int n, double angle) {
  double t = 2.0 * sin(0.5 * angle) * sin(0.5 * angle);

  for (int i = 0; i < MAX_STEPS; i++) {
    Legendre p = legendre(n, t);
    double step = p.value * t * (2.0 - t) / p.slope;

    t += step;
    if (fabs(step) <= last_step * t) break;
  }
  return t;
}

// A root of (1 - x^2) P_n' inside the interval; by Legendre's equation its derivative is -n (n+1) P_n.
static double lobatto_root(int n, double angle) {
  double t = 2.0 * sin(0.5 * angle) * sin(0.5 * angle);

  for (int i = 0; i < MAX_STEPS; i++) {
    Legendre p = legendre(n, t);
    double step = p.slope / (n * (n + 1.0) * p.value);

    t -= step;
    if (fabs(step) <= last_step * t) break;
  }
  return t;
}

// Stores the i-th point from either end. The right one last: the middle point is +0, not -0.
static void store_pair(int n, int i, double t, double weight, double *x, double *w) {
  x[i] = -(1.0 - t);
  x[n - 1 - i] = 1.0 - t;
  if (w) w[i] = w[n - 1 - i] = weight;
}

// Points: roots of P_n. Weights: 2 / ((1 - x^2) P_n'^2) = 2 (1 - x^2) / slope^2. Guess: the leading term of
// the asymptotic expansion of the roots (Tricomi).
void ritz_fe_gauss(int n, double *x, double *w) {
  for (int i = 0; i < (n + 1) / 2; i++) {
    double t = 2 * i + 1 == n ? 1.0 : gauss_root(n, pi * (i + 0.75) / (n + 0.5));
    double slope = legendre(n, t).slope;

    store_pair(n, i, t, 2.0 * t * (2.0 - t) / (slope * slope), x, w);
  }
}

// With m = n - 1: points -1, 1 and the roots of P_m'; weights 2 / (m n P_m^2). Guess: Parter, "On the
// Legendre-Gauss-Lobatto points and weights", Journal of Scientific Computing 14, 1999.
void ritz_fe_gauss_lobatto(int n, double *x, double *w) {
  int m = n - 1;

  store_pair(n, 0, 0.0, 2.0 / ((double)m * n), x, w);
  for (int i = 1; i < (n + 1) / 2; i++) {
    double angle = pi * (i + 0.25) / m - 3.0 / (8.0 * m * pi * (i + 0.25));
    double t = 2 * i + 1 == n ? 1.0 : lobatto_root(m, angle);
    double value = legendre(m, t).value;

    store_pair(n, i, t, 2.0 / ((double)m * n * value * value), x, w);
  }
}
