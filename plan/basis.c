// SPDX-License-Identifier: BSD-2-Clause
// Bases of a plan: their 1D matrices, what symmetry these have, and the route of evaluation that they allow.
// Called by plan/operator.c.
#include <math.h>
#include <string.h>

#include "fe/fe.h"
#include "plan/internal.h"

// Two numbers are the same when they differ by so many round-offs of the largest entry: in given tables, and
// in what is computed from them.
enum { TABLE_ROUNDOFFS = 16, SOLVED_ROUNDOFFS = 1000 };
// Largest deviation of the sum of a row from 0 or 1, in round-offs of the sum of its magnitudes.
enum { SUM_ROUNDOFFS = 16 };

static size_t num_entries(const RitzPlanMatrix *A) { return (size_t)A->rows * (size_t)A->cols; }

static double largest_entry(const RitzPlanMatrix *A) {
  double largest = 0;
  for (size_t k = 0; k < num_entries(A); k++) largest = fmax(largest, fabs((double)A->values[k]));
  return largest;
}

// ---- Parity: reversing rows and columns reverses the array of entries ----

// Half the difference of entry k and its mirror image, by which make_exact changes both.
static double remainder_of(const RitzPlanMatrix *A, size_t k, int parity) {
  return fabs((double)A->values[num_entries(A) - 1 - k] - parity * (double)A->values[k]) / 2;
}

// The sum over a row or column, of entries or of remainders (parity not 0).
static double sum_of_line(const RitzPlanMatrix *A, bool is_row, CeedInt line, int parity) {
  const size_t step = is_row ? 1 : (size_t)A->cols, first = (size_t)line * (is_row ? (size_t)A->cols : 1);
  double sum = 0;
  for (size_t n = 0; n < (size_t)(is_row ? A->cols : A->rows); n++) {
    const size_t k = first + n * step;
    sum += parity ? remainder_of(A, k, parity) : fabs((double)A->values[k]);
  }
  return sum;
}

static bool is_remainder_small(const RitzPlanMatrix *A, bool is_row, int parity) {
  const CeedInt num = is_row ? A->rows : A->cols;
  double norm = 0;
  for (CeedInt i = 0; i < num; i++) norm = fmax(norm, sum_of_line(A, is_row, i, 0));
  for (CeedInt i = 0; i < num; i++) {
    if (!(sum_of_line(A, is_row, i, parity) <= RITZ_EVEN_ODD_ROUNDOFFS * CEED_EPSILON * norm)) return false;
  }
  return true;
}

static bool has_parity(const RitzPlanMatrix *A, int parity) {
  return is_remainder_small(A, true, parity) && is_remainder_small(A, false, parity);
}

static void make_exact(RitzPlanMatrix *A, int parity) {
  size_t n = num_entries(A);
  A->parity = parity;
  for (size_t k = 0; k < (n + 1) / 2; k++) {
    CeedScalar mean = (A->values[k] + parity * A->values[n - 1 - k]) / 2;
    A->values[n - 1 - k] = parity * mean;
    A->values[k] = mean;
  }
}

static void find_parity(RitzPlanMatrix *A) {
  if (has_parity(A, 1))
    make_exact(A, 1);
  else if (has_parity(A, -1))
    make_exact(A, -1);
}

// ---- Matrices ----

static int allocate_matrix(Ceed ceed, CeedInt rows, CeedInt cols, RitzPlanMatrix *A) {
  *A = (RitzPlanMatrix){.rows = rows, .cols = cols};
  return RITZ_CALLOC(ceed, num_entries(A), &A->values);
}

static int copy_matrix(Ceed ceed, CeedInt rows, CeedInt cols, const CeedScalar *values, RitzPlanMatrix *A) {
  RITZ_TRY(allocate_matrix(ceed, rows, cols, A));
  memcpy(A->values, values, num_entries(A) * sizeof(*values));
  find_parity(A);
  return CEED_ERROR_SUCCESS;
}

static CeedScalar unit_entry(const RitzPlanMatrix *A, size_t k) {
  return k % ((size_t)A->cols + 1) == 0 ? 1 : 0;
}

static bool is_unit(const RitzPlanMatrix *A) {
  if (A->rows != A->cols) return false;
  for (size_t k = 0; k < num_entries(A); k++) {
    if (!(fabs((double)(A->values[k] - unit_entry(A, k))) <= TABLE_ROUNDOFFS * CEED_EPSILON)) return false;
  }
  return true;
}

static void make_unit(RitzPlanMatrix *A) {
  A->parity = 1;
  for (size_t k = 0; k < num_entries(A); k++) A->values[k] = unit_entry(A, k);
}

// ---- Collocated derivative: C with C B = D ----

// x := x R^{-1} for the upper triangle R in an array with n columns. A zero on the diagonal gives a zero, and
// then a C that does not pass the test.
static void solve_row(CeedInt n, const double *R, double *x) {
  for (CeedInt j = 0; j < n; j++) {
    for (CeedInt i = 0; i < j; i++) x[j] -= x[i] * R[(CeedSize)i * n + j];
    double pivot = R[(CeedSize)j * n + j];
    x[j] = pivot != 0 ? x[j] / pivot : 0;
  }
}

// C [Q][Q] = D R^{-1} (first rows of H^T), where B = H R: the least of the solutions. With dependent columns
// of B there may be none; C is something then.
static int solve_collocated(Ceed ceed, const RitzPlanMatrix *B, const RitzPlanMatrix *D, double *C) {
  CeedInt Q = B->rows, P = B->cols;
  double *R = NULL, *tau = NULL;
  int ierr;
  RITZ_TRY_CLEANUP(ritz_widen(ceed, (CeedSize)Q * P, B->values, &R));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)P, &tau));
  RITZ_TRY_CLEANUP(ritz_fe_qr(ceed, R, tau, Q, P));
  for (CeedInt q = 0; q < Q; q++) {
    double *row = C + (CeedSize)q * Q;
    for (CeedInt j = 0; j < Q; j++) row[j] = j < P ? (double)D->values[(CeedSize)q * P + j] : 0;
    solve_row(P, R, row);
  }
  ritz_fe_householder_apply_q(C, R, tau, CEED_NOTRANSPOSE, Q, Q, P, 1, Q); // C^T := H C^T
cleanup:
  RITZ_FREE(&R);
  RITZ_FREE(&tau);
  return ierr;
}

static bool solves(const RitzPlanMatrix *C, const RitzPlanMatrix *B, const RitzPlanMatrix *D) {
  double tolerance = SOLVED_ROUNDOFFS * CEED_EPSILON * largest_entry(D);
  for (CeedInt q = 0; q < D->rows; q++) {
    for (CeedInt p = 0; p < D->cols; p++) {
      double difference = -(double)D->values[q * D->cols + p];
      for (CeedInt k = 0; k < C->cols; k++)
        difference += (double)C->values[q * C->cols + k] * (double)B->values[k * B->cols + p];
      if (!(fabs(difference) <= tolerance)) return false;
    }
  }
  return true;
}

static bool have_sums(const RitzPlanMatrix *A, double wanted) {
  for (CeedInt i = 0; i < A->rows; i++) {
    double sum = -wanted;
    for (CeedInt j = 0; j < A->cols; j++) sum += (double)A->values[(CeedSize)i * A->cols + j];
    if (!(fabs(sum) <= SUM_ROUNDOFFS * CEED_EPSILON * (fabs(wanted) + sum_of_line(A, true, i, 0))))
      return false;
  }
  return true;
}

// The derivative of a constant is zero: entries on the diagonal become minus the sum of the others
// (Baltensperger and Trummer, SIAM Journal on Scientific Computing 24, 2003). The middle row of an odd matrix
// has that sum.
static void correct_sums(RitzPlanMatrix *C) {
  const CeedInt n = C->rows;
  for (CeedInt i = 0; i < (C->parity ? n / 2 : n); i++) {
    CeedScalar *row = C->values + (CeedSize)i * n;
    long double others = 0;
    for (CeedInt j = 0; j < n; j++) others += j == i ? 0 : (long double)row[j];
    row[i] = (CeedScalar)-others;
    if (C->parity) C->values[(CeedSize)(n - 1 - i) * (n + 1)] = C->parity * row[i];
  }
}

// Derivative at the points; no values when there is none.
static int make_collocated(Ceed ceed, const RitzPlanMatrix *B, const RitzPlanMatrix *D, RitzPlanMatrix *C) {
  CeedInt Q = B->rows;
  double *solution = NULL;
  int ierr;
  if (Q < B->cols) return CEED_ERROR_SUCCESS;
  RITZ_TRY_CLEANUP(ritz_widen(ceed, (CeedSize)Q * Q, NULL, &solution));
  RITZ_TRY_CLEANUP(solve_collocated(ceed, B, D, solution));
  RITZ_TRY_CLEANUP(allocate_matrix(ceed, Q, Q, C));
  ritz_narrow((CeedSize)Q * Q, solution, C->values);
  // The least solution has the symmetry of what it was made from, up to more round-off than that of a table.
  if (B->parity && D->parity)
    make_exact(C, B->parity * D->parity);
  else
    find_parity(C);
  if (C->parity <= 0 && have_sums(B, 1) && have_sums(D, 0)) correct_sums(C);
  if (!solves(C, B, D)) RITZ_FREE(&C->values);
cleanup:
  RITZ_FREE(&solution);
  return ierr;
}

// ---- Bases ----

static int copy_weights(Ceed ceed, CeedInt n, const CeedScalar *weights, CeedScalar **copy) {
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)n, copy));
  memcpy(*copy, weights, (size_t)n * sizeof(*weights));
  return CEED_ERROR_SUCCESS;
}

// By the basis alone, so that all operators compute its derivatives the same way: then the Jacobian of one
// and the gradient of another have the same round-off, which cancels where they are divided. Along a line one
// contraction for the derivative is never dearer than two. Without derivatives there is nothing to choose but
// whether values have to be interpolated.
static int choose_tensor_route(Ceed ceed, bool has_grad, RitzPlanBasis *b) {
  b->route = RITZ_ROUTE_COLLOCATED;
  if (is_unit(&b->interp)) {
    make_unit(&b->interp);
    b->route = RITZ_ROUTE_IDENTITY;
    return has_grad ? copy_matrix(ceed, b->Q_1d, b->P_1d, b->grad.values, &b->deriv) : CEED_ERROR_SUCCESS;
  }
  if (!has_grad) return CEED_ERROR_SUCCESS;
  if (b->dim > 1) RITZ_TRY(make_collocated(ceed, &b->interp, &b->grad, &b->deriv));
  if (!b->deriv.values) b->route = RITZ_ROUTE_DIRECT;
  return CEED_ERROR_SUCCESS;
}

static int make_tensor(CeedBasis basis, unsigned modes, RitzPlanBasis *b) {
  Ceed ceed = basis->obj.ceed;
  b->P_1d = basis->P_1d;
  b->Q_1d = basis->Q_1d;
  b->q_comp_interp = 1;
  b->q_comp_deriv = basis->dim;
  RITZ_TRY(copy_matrix(ceed, b->Q_1d, b->P_1d, basis->interp_1d, &b->interp));
  RITZ_TRY(copy_matrix(ceed, b->Q_1d, b->P_1d, basis->grad_1d, &b->grad));
  return choose_tensor_route(ceed, modes & CEED_EVAL_GRAD, b);
}

// Weights at points are ones: a basis that is asked for them alone needs no table.
int ritz_plan_make_basis_at_points(CeedBasis basis, unsigned modes, RitzPlanBasis *b) {
  Ceed ceed = basis->obj.ceed;
  b->is_tensor = basis->is_tensor;
  b->route = RITZ_ROUTE_POINTS;
  b->dim = basis->dim;
  b->P = basis->P;
  b->Q = basis->Q;
  b->P_1d = basis->P_1d;
  b->Q_1d = basis->Q_1d;
  b->q_comp_interp = 1;
  b->q_comp_deriv = basis->dim;
  if (!(modes & (CEED_EVAL_INTERP | CEED_EVAL_GRAD))) return CEED_ERROR_SUCCESS;
  RITZ_TRY(allocate_matrix(ceed, b->Q_1d, b->P_1d, &b->chebyshev));
  return CeedBasisGetChebyshevInterp1D(basis, b->chebyshev.values);
}

// The number in b->lines of a matrix, which is added when it is new.
static int find_line(Ceed ceed, CeedInt Q, CeedInt P, const CeedScalar *values, RitzPlanBasis *b,
                     int *number) {
  RitzPlanMatrix *made = &b->lines[b->num_lines];
  RITZ_TRY(copy_matrix(ceed, Q, P, values, made));
  for (*number = 0; *number < b->num_lines; (*number)++) {
    const RitzPlanMatrix *A = &b->lines[*number];
    if (A->cols == P && !memcmp(A->values, made->values, num_entries(A) * sizeof(*A->values))) {
      RITZ_FREE(&made->values);
      return CEED_ERROR_SUCCESS;
    }
  }
  b->num_lines++;
  return CEED_ERROR_SUCCESS;
}

static int make_block(CeedBasis basis, CeedInt c, RitzPlanBasis *b) {
  const RitzBasisBlock *from = &basis->blocks[c];
  RitzPlanBlock *block = &b->blocks[c];
  Ceed ceed = basis->obj.ceed;
  *block = (RitzPlanBlock){.num_nodes = from->num_nodes, .first = from->first};
  for (CeedInt d = 0; d < 3; d++) {
    block->P[d] = from->P[d];
    block->interp[d] = block->grad[d] = block->row[d] = block->sign[d] = -1;
    if (d >= b->dim) continue;
    RITZ_TRY(find_line(ceed, b->Q_1d, from->P[d], from->interp[d], b, &block->interp[d]));
    if (b->deriv_mode == CEED_EVAL_NONE || !from->grad[d]) continue;
    RITZ_TRY(find_line(ceed, b->Q_1d, from->P[d], from->grad[d], b, &block->grad[d]));
    block->row[d] = ritz_basis_block_row(basis->space, b->dim, c, d, &block->sign[d]);
  }
  return CEED_ERROR_SUCCESS;
}

static int make_blocks(CeedBasis basis, RitzPlanBasis *b) {
  b->route = RITZ_ROUTE_BLOCKS;
  b->Q_1d = basis->Q_1d;
  RITZ_TRY(RITZ_CALLOC(basis->obj.ceed, 2 * (size_t)(b->dim * b->dim), &b->lines));
  for (CeedInt c = 0; c < b->dim; c++) RITZ_TRY(make_block(basis, c, b));
  return CEED_ERROR_SUCCESS;
}

static void describe_dense(CeedBasis basis, unsigned modes, RitzPlanBasis *b) {
  b->route = RITZ_ROUTE_DENSE;
  b->deriv_mode = (CeedEvalMode)(modes & (CEED_EVAL_GRAD | CEED_EVAL_DIV | CEED_EVAL_CURL)); // at most one
  b->q_comp_interp = ritz_basis_num_q_comp(basis, CEED_EVAL_INTERP);
  b->q_comp_deriv = b->deriv_mode == CEED_EVAL_NONE ? 0 : ritz_basis_num_q_comp(basis, b->deriv_mode);
}

int ritz_plan_make_basis(CeedBasis basis, unsigned modes, bool allows_blocks, RitzPlanBasis *b) {
  b->is_tensor = basis->is_tensor;
  b->dim = basis->dim;
  b->P = basis->P;
  b->Q = basis->Q;
  if (b->is_tensor)
    RITZ_TRY(make_tensor(basis, modes, b));
  else
    describe_dense(basis, modes, b);
  if (basis->blocks && allows_blocks) RITZ_TRY(make_blocks(basis, b));
  RITZ_TRY(ritz_plan_find_simple_rows(basis, b));
  if (!(modes & CEED_EVAL_WEIGHT)) return CEED_ERROR_SUCCESS;
  const CeedScalar *weights = b->route == RITZ_ROUTE_BLOCKS ? basis->q_weight_1d : basis->q_weight;
  return copy_weights(basis->obj.ceed, ritz_plan_has_grid(b) ? b->Q_1d : b->Q, weights, &b->weights);
}

void ritz_plan_free_basis(RitzPlanBasis *b) {
  RITZ_FREE(&b->interp.values);
  RITZ_FREE(&b->grad.values);
  RITZ_FREE(&b->deriv.values);
  RITZ_FREE(&b->chebyshev.values);
  for (int i = 0; i < b->num_lines; i++) RITZ_FREE(&b->lines[i].values);
  RITZ_FREE(&b->lines);
  RITZ_FREE(&b->weights);
  RITZ_FREE(&b->points);
  RITZ_FREE(&b->constant_interp);
  RITZ_FREE(&b->constant_deriv);
  RITZ_FREE(&b->node_pairs.at);
  RITZ_FREE(&b->interp_pairs.at);
  RITZ_FREE(&b->deriv_pairs.at);
  RITZ_FREE(&b->even_odd_interp);
  RITZ_FREE(&b->even_odd_deriv);
}
