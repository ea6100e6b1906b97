// SPDX-License-Identifier: BSD-2-Clause
// Dense bases that are symmetric: exchanging the first two coordinates takes nodes to nodes and points to
// points, as on every reference element with symmetric points. Then sums and differences of pairs do not mix,
// and a matrix falls into two of a quarter of its size (kernels/cpu/dense.h). Found in the matrices alone:
// the coordinates of the points are the application's. Called by plan/operator.c.
#include <float.h>
#include <math.h>

#include "plan/internal.h"

// Entries are taken for each other's images when they differ by this part of the largest one: tables come
// from solutions in doubles, which are rounded once more where scalars are floats. Whether they are near
// enough shows then (RITZ_EVEN_ODD_ROUNDOFFS).
#define DIFFERENCE (500 * DBL_EPSILON + 4 * (double)CEED_EPSILON)

// Fewer nodes do not pay for the sums and differences (measured).
enum { MIN_NODES = 10 };

typedef struct {
  const RitzPlanBasis *basis;
  const CeedScalar *interp, *grad;   // [Q][P], [dim][Q][P]
  double interp_error, grad_error;   // what two entries may differ by
  double *sums;                      // of cubes of rows, [1 + dim][Q]
  CeedInt *point_image, *node_image; // [Q], [P]
} Exchange;

static double largest_entry(CeedSize n, const CeedScalar *a) {
  double largest = 0;
  for (CeedSize k = 0; k < n; k++) largest = fmax(largest, fabs((double)a[k]));
  return largest;
}

// ---- Points ----

// Image of direction d under the swap of the first two coordinates.
static CeedInt direction_image(CeedInt d) { return d == 0 ? 1 : d == 1 ? 0 : d; }

// Sum of cubes of a row. Like a derivative, and unlike a sum of squares, it changes its sign when the element
// is reflected.
static double sum_of_cubes(CeedInt n, const CeedScalar *row) {
  double sum = 0;
  for (CeedInt p = 0; p < n; p++) sum += (double)row[p] * (double)row[p] * (double)row[p];
  return sum;
}

// Fills sums [1 + dim][Q] of values and derivatives; sums over the nodes do not depend on their order.
static int sum_rows(Ceed ceed, Exchange *x) {
  const RitzPlanBasis *b = x->basis;
  RITZ_TRY(ritz_widen(ceed, (CeedSize)(1 + b->dim) * b->Q, NULL, &x->sums));
  for (CeedInt q = 0; q < b->Q; q++) x->sums[q] = sum_of_cubes(b->P, x->interp + (CeedSize)q * b->P);
  for (CeedInt i = 0; i < b->dim * b->Q; i++)
    x->sums[b->Q + i] = sum_of_cubes(b->P, x->grad + (CeedSize)i * b->P);
  return CEED_ERROR_SUCCESS;
}

// How far the sums at q are from what they would be if its image was s.
static double image_distance(const Exchange *x, CeedInt q, CeedInt s) {
  const CeedInt Q = x->basis->Q;
  double sum = fabs(x->sums[q] - x->sums[s]);
  for (CeedInt d = 0; d < x->basis->dim; d++)
    sum += fabs(x->sums[(CeedSize)(1 + d) * Q + q] - x->sums[(CeedSize)(1 + direction_image(d)) * Q + s]);
  return sum;
}

// Takes the nearest point as image; whether it is right shows at the nodes.
static void find_point_images(Exchange *x) {
  for (CeedInt q = 0; q < x->basis->Q; q++) {
    CeedInt nearest = 0;
    for (CeedInt s = 1; s < x->basis->Q; s++) {
      if (image_distance(x, q, s) < image_distance(x, q, nearest)) nearest = s;
    }
    x->point_image[q] = nearest;
  }
}

// ---- Nodes ----

static bool is_node_image(const Exchange *x, CeedInt p, CeedInt r) {
  const CeedInt P = x->basis->P, Q = x->basis->Q;
  for (CeedInt q = 0; q < Q; q++) {
    const CeedInt s = x->point_image[q];
    if (!(fabs((double)x->interp[(CeedSize)q * P + p] - (double)x->interp[(CeedSize)s * P + r]) <=
          x->interp_error))
      return false;
    for (CeedInt d = 0; d < x->basis->dim; d++) {
      const CeedSize here = ((CeedSize)d * Q + q) * P + p,
                     there = ((CeedSize)direction_image(d) * Q + s) * P + r;
      if (!(fabs((double)x->grad[here] - (double)x->grad[there]) <= x->grad_error)) return false;
    }
  }
  return true;
}

static bool find_node_images(Exchange *x) {
  const CeedInt P = x->basis->P;
  for (CeedInt p = 0; p < P; p++) {
    CeedInt r = 0;
    while (r < P && !is_node_image(x, p, r)) r++;
    if (r == P) return false;
    x->node_image[p] = r;
  }
  return true;
}

static bool is_exchange(CeedInt n, const CeedInt *image) {
  for (CeedInt i = 0; i < n; i++) {
    if (image[image[i]] != i) return false;
  }
  return true;
}

// ---- What the split would leave out ----

// Half the difference of an entry of a table [num][Q][P] and its image, num = 1 or the directions.
static double remainder_of(const Exchange *x, const CeedScalar *A, CeedInt num, CeedInt row, CeedInt p) {
  const CeedInt P = x->basis->P, Q = x->basis->Q;
  const CeedInt d = num > 1 ? direction_image(row / Q) : 0, image = d * Q + x->point_image[row % Q];
  return fabs((double)A[(CeedSize)row * P + p] - (double)A[(CeedSize)image * P + x->node_image[p]]) / 2;
}

// The largest sums over rows and over columns: of entries, or of remainders.
static void find_norms(const Exchange *x, const CeedScalar *A, CeedInt num, bool of_remainders,
                       double *columns, double norm[2]) {
  const CeedInt P = x->basis->P;
  norm[0] = norm[1] = 0;
  for (CeedInt p = 0; p < P; p++) columns[p] = 0;
  for (CeedInt row = 0; row < num * x->basis->Q; row++) {
    double sum = 0;
    for (CeedInt p = 0; p < P; p++) {
      const double size =
          of_remainders ? remainder_of(x, A, num, row, p) : fabs((double)A[(CeedSize)row * P + p]);
      sum += size;
      columns[p] += size;
    }
    norm[0] = fmax(norm[0], sum);
  }
  for (CeedInt p = 0; p < P; p++) norm[1] = fmax(norm[1], columns[p]);
}

static bool is_remainder_small(const Exchange *x, const CeedScalar *A, CeedInt num, double *columns) {
  double of_table[2], of_remainder[2];
  find_norms(x, A, num, false, columns, of_table);
  find_norms(x, A, num, true, columns, of_remainder);
  return of_remainder[0] <= RITZ_EVEN_ODD_ROUNDOFFS * CEED_EPSILON * of_table[0] &&
         of_remainder[1] <= RITZ_EVEN_ODD_ROUNDOFFS * CEED_EPSILON * of_table[1];
}

static int compare_images(Ceed ceed, const Exchange *x, bool *is_near) {
  double *columns = NULL;
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)x->basis->P, &columns));
  *is_near =
      is_remainder_small(x, x->interp, 1, columns) && is_remainder_small(x, x->grad, x->basis->dim, columns);
  RITZ_FREE(&columns);
  return CEED_ERROR_SUCCESS;
}

// ---- Pairs ----

// Values are [num][n], num = 1 or the directions.
static int make_pairs(Ceed ceed, CeedInt num, CeedInt n, const CeedInt *image, RitzPlanPairs *pairs) {
  CeedInt k = 0;
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num * (size_t)n, &pairs->at));
  for (int is_alone = 0; is_alone < 2; is_alone++) {
    for (CeedInt i = 0; i < num * n; i++) {
      const CeedInt d = num > 1 ? direction_image(i / n) : 0, j = d * n + image[i % n];
      if (is_alone ? i != j : i >= j) continue;
      pairs->at[k++] = i;
      if (!is_alone) pairs->at[k++] = j;
    }
    if (!is_alone) pairs->pairs = k / 2;
  }
  pairs->alone = k - 2 * pairs->pairs;
  return CEED_ERROR_SUCCESS;
}

// The two of pair i, which are one where it stays alone.
static void find_pair(const RitzPlanPairs *p, CeedInt i, CeedInt pair[2]) {
  const bool is_pair = i < p->pairs;
  pair[0] = p->at[is_pair ? 2 * i : p->pairs + i];
  pair[1] = is_pair ? p->at[2 * i + 1] : pair[0];
}

// sign 1: what takes sums to sums; -1: differences to differences.
static CeedScalar even_odd_entry(const CeedScalar *A, CeedInt P, const CeedInt row[2], const CeedInt col[2],
                                 int sign) {
  const CeedScalar *first = A + (CeedSize)row[0] * P, *second = A + (CeedSize)row[1] * P;
  return (first[col[0]] + second[col[1]] + sign * (first[col[1]] + second[col[0]])) / 4;
}

static int even_odd_matrix(Ceed ceed, const RitzPlanPairs *rows, const RitzPlanPairs *cols,
                           const CeedScalar *A, CeedScalar **even_odd) {
  const CeedInt num_rows = rows->pairs + rows->alone, num_cols = cols->pairs + cols->alone;
  const CeedInt P = 2 * cols->pairs + cols->alone;
  CeedScalar *entry;
  CeedInt row[2], col[2];

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num_rows * (size_t)num_cols + (size_t)rows->pairs * (size_t)cols->pairs,
                       even_odd));
  entry = *even_odd;
  for (int sign = 1; sign >= -1; sign -= 2) {
    for (CeedInt i = 0; i < (sign > 0 ? num_rows : rows->pairs); i++) {
      for (CeedInt j = 0; j < (sign > 0 ? num_cols : cols->pairs); j++) {
        find_pair(rows, i, row);
        find_pair(cols, j, col);
        *entry++ = even_odd_entry(A, P, row, col, sign);
      }
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int make_even_odd(Ceed ceed, const Exchange *x, RitzPlanBasis *b) {
  RITZ_TRY(make_pairs(ceed, 1, b->P, x->node_image, &b->node_pairs));
  RITZ_TRY(make_pairs(ceed, 1, b->Q, x->point_image, &b->interp_pairs));
  RITZ_TRY(make_pairs(ceed, b->dim, b->Q, x->point_image, &b->deriv_pairs));
  RITZ_TRY(even_odd_matrix(ceed, &b->interp_pairs, &b->node_pairs, x->interp, &b->even_odd_interp));
  RITZ_TRY(even_odd_matrix(ceed, &b->deriv_pairs, &b->node_pairs, x->grad, &b->even_odd_deriv));
  b->is_even_odd = true;
  return CEED_ERROR_SUCCESS;
}

int ritz_plan_find_even_odd(CeedBasis basis, bool near, RitzPlanBasis *b) {
  Ceed ceed = basis->obj.ceed;
  Exchange x = {.basis = b, .interp = basis->interp, .grad = basis->grad};
  bool is_near = near;
  int ierr;

  if (b->is_tensor || basis->space != CEED_FE_SPACE_H1 || b->dim < 2 || b->P < MIN_NODES)
    return CEED_ERROR_SUCCESS;
  x.interp_error = DIFFERENCE * largest_entry((CeedSize)b->Q * b->P, x.interp);
  x.grad_error = DIFFERENCE * largest_entry((CeedSize)b->dim * b->Q * b->P, x.grad);
  RITZ_TRY_CLEANUP(sum_rows(ceed, &x));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)b->Q, &x.point_image));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)b->P, &x.node_image));
  find_point_images(&x);
  if (is_exchange(b->Q, x.point_image) && find_node_images(&x) && is_exchange(b->P, x.node_image)) {
    if (!near) RITZ_TRY_CLEANUP(compare_images(ceed, &x, &is_near));
    if (is_near) RITZ_TRY_CLEANUP(make_even_odd(ceed, &x, b));
  }
cleanup:
  RITZ_FREE(&x.sums);
  RITZ_FREE(&x.point_image);
  RITZ_FREE(&x.node_image);
  return ierr;
}
