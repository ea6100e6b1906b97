// SPDX-License-Identifier: BSD-2-Clause
// Vector bases whose components are tensor products of 1D tables of their own (ritz/basis.h): creation from
// tables, and the matrices that those who want them get. Evaluation is the backend's.
#include <limits.h>
#include <ritz/basis.h>
#include <string.h>

#include "core/core.h"
#include "core/vector-basis.h"

int ritz_basis_block_row(CeedFESpace space, CeedInt dim, CeedInt c, CeedInt d, int *sign) {
  *sign = 1;
  if (space == CEED_FE_SPACE_HDIV) return c == d ? 0 : -1;
  if (space != CEED_FE_SPACE_HCURL || c == d) return -1;
  if (dim == 2) {
    *sign = d == 0 ? 1 : -1;
    return 0;
  }
  const int row = (int)(3 - c - d);
  *sign = d == (row + 1) % 3 ? 1 : -1;
  return row;
}

// ---- Matrices, made on request ----

// Adds sign times the tensor product of tables [Q_1d][P[d]] to columns first .. first + num_nodes - 1 of full
// [Q][P].
static void add_product(CeedBasis b, const RitzBasisBlock *block, const CeedScalar *const tables[3], int sign,
                        CeedScalar *full) {
  for (CeedInt q = 0; q < b->Q; q++) {
    CeedScalar *row = full + (CeedSize)q * b->P + block->first;
    for (CeedInt p = 0; p < block->num_nodes; p++) {
      CeedScalar product = (CeedScalar)sign;
      for (CeedInt d = 0, q_rest = q, p_rest = p; d < b->dim; d++) {
        product *= tables[d][q_rest % b->Q_1d * block->P[d] + p_rest % block->P[d]];
        q_rest /= b->Q_1d;
        p_rest /= block->P[d];
      }
      row[p] += product;
    }
  }
}

static void add_values(CeedBasis b, CeedScalar *full) {
  for (CeedInt c = 0; c < b->dim; c++) {
    const RitzBasisBlock *block = &b->blocks[c];
    const CeedScalar *tables[3] = {block->interp[0], block->interp[1], block->interp[2]};
    add_product(b, block, tables, 1, full + (CeedSize)c * b->Q * b->P);
  }
}

static void add_derivatives(CeedBasis b, CeedScalar *full) {
  for (CeedInt c = 0; c < b->dim; c++) {
    const RitzBasisBlock *block = &b->blocks[c];
    for (CeedInt d = 0; d < b->dim; d++) {
      int sign;
      const int row = ritz_basis_block_row(b->space, b->dim, c, d, &sign);
      const CeedScalar *tables[3] = {block->interp[0], block->interp[1], block->interp[2]};
      if (row < 0) continue;
      tables[d] = block->grad[d];
      add_product(b, block, tables, sign, full + (CeedSize)row * b->Q * b->P);
    }
  }
}

int ritz_basis_table(CeedBasis b, CeedEvalMode mode, const CeedScalar **table) {
  CeedScalar **kept = mode == CEED_EVAL_INTERP ? &b->interp
                      : mode == CEED_EVAL_GRAD ? &b->grad
                      : mode == CEED_EVAL_DIV  ? &b->div
                                               : &b->curl;
  const bool has_derivative = (mode == CEED_EVAL_DIV && b->space == CEED_FE_SPACE_HDIV) ||
                              (mode == CEED_EVAL_CURL && b->space == CEED_FE_SPACE_HCURL);
  if (b->blocks && !*kept && (mode == CEED_EVAL_INTERP || has_derivative)) {
    const size_t rows = (size_t)ritz_basis_num_q_comp(b, mode) * (size_t)b->Q;
    RITZ_TRY(RITZ_CALLOC(b->obj.ceed, rows * (size_t)b->P, kept));
    (mode == CEED_EVAL_INTERP ? add_values : add_derivatives)(b, *kept);
  }
  *table = *kept;
  return CEED_ERROR_SUCCESS;
}

// ---- Checks ----

static int require_positive(Ceed ceed, const char *call, const char *what, CeedInt value) {
  RITZ_REQUIRE(value > 0, ceed, CEED_ERROR_DIMENSION, "%s: %s must be at least 1, found %" CeedInt_FMT, call,
               what, value);
  return CEED_ERROR_SUCCESS;
}

// *size: the product of the n numbers, all positive.
static int multiply_sizes(Ceed ceed, const char *call, const char *what, CeedInt n, const CeedInt *numbers,
                          CeedInt *size) {
  CeedSize product = 1;
  for (CeedInt i = 0; i < n; i++) {
    product *= numbers[i];
    RITZ_REQUIRE(product <= INT_MAX, ceed, CEED_ERROR_DIMENSION, "%s: %s exceed 32-bit sizes", call, what);
  }
  *size = (CeedInt)product;
  return CEED_ERROR_SUCCESS;
}

// Sizes of the basis and its blocks.
static int set_sizes(Ceed ceed, const RitzVectorTables *t, CeedBasis b) {
  const CeedInt points[3] = {t->Q_1d, t->Q_1d, t->Q_1d};
  CeedSize num_nodes = 0;
  RITZ_TRY(multiply_sizes(ceed, t->call, "quadrature points", t->dim, points, &b->Q));
  for (CeedInt c = 0; c < t->dim; c++) {
    RitzBasisBlock *block = &b->blocks[c];
    for (CeedInt d = 0; d < 3; d++) block->P[d] = d < t->dim ? t->P_1d[c * t->dim + d] : 1;
    RITZ_TRY(multiply_sizes(ceed, t->call, "nodes", t->dim, block->P, &block->num_nodes));
    block->first = (CeedInt)num_nodes;
    num_nodes += block->num_nodes;
    RITZ_REQUIRE(num_nodes <= INT_MAX, ceed, CEED_ERROR_DIMENSION, "%s: nodes exceed 32-bit sizes", t->call);
  }
  b->P = (CeedInt)num_nodes;
  return CEED_ERROR_SUCCESS;
}

int ritz_basis_check_vector(Ceed ceed, const char *call, CeedInt dim, CeedInt num_comp, CeedInt Q_1d) {
  RITZ_REQUIRE(dim == 2 || dim == 3, ceed, CEED_ERROR_DIMENSION,
               "%s: dimension must be 2 or 3, found %" CeedInt_FMT, call, dim);
  RITZ_TRY(require_positive(ceed, call, "number of components", num_comp));
  return require_positive(ceed, call, "number of points Q_1d", Q_1d);
}

// The sizes and tables that the space asks for.
static int check_tables(Ceed ceed, const RitzVectorTables *t) {
  RITZ_TRY(ritz_basis_check_vector(ceed, t->call, t->dim, t->num_comp, t->Q_1d));
  for (CeedInt i = 0; i < t->dim * t->dim; i++) {
    const CeedInt c = i / t->dim, d = i % t->dim;
    int sign;
    const bool needs_grad = ritz_basis_block_row(t->space, t->dim, c, d, &sign) >= 0;
    RITZ_TRY(require_positive(ceed, t->call, "number of nodes P_1d", t->P_1d[i]));
    RITZ_REQUIRE(t->interp_1d[i] && (!needs_grad || t->grad_1d[i]), ceed, CEED_ERROR_INCOMPATIBLE,
                 "%s: component %" CeedInt_FMT " needs a table of %s in direction %" CeedInt_FMT
                 ", found NULL",
                 t->call, c, t->interp_1d[i] ? "derivatives" : "values", d);
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Creation ----

static int copy_table(Ceed ceed, CeedInt Q_1d, CeedInt P_1d, const CeedScalar *from, CeedScalar **to) {
  const size_t n = (size_t)Q_1d * (size_t)P_1d;
  RITZ_TRY(RITZ_MALLOC(ceed, n, to));
  memcpy(*to, from, n * sizeof(CeedScalar));
  return CEED_ERROR_SUCCESS;
}

static int copy_tables(const RitzVectorTables *t, CeedBasis b) {
  for (CeedInt i = 0; i < t->dim * t->dim; i++) {
    const CeedInt c = i / t->dim, d = i % t->dim;
    int sign;
    RitzBasisBlock *block = &b->blocks[c];
    RITZ_TRY(copy_table(b->obj.ceed, b->Q_1d, block->P[d], t->interp_1d[i], &block->interp[d]));
    if (ritz_basis_block_row(t->space, t->dim, c, d, &sign) >= 0)
      RITZ_TRY(copy_table(b->obj.ceed, b->Q_1d, block->P[d], t->grad_1d[i], &block->grad[d]));
  }
  return CEED_ERROR_SUCCESS;
}

// Points [dim][Q], weights [Q] and [Q_1d]; zeros without a rule, as other bases have them.
static int make_rule(const RitzVectorTables *t, CeedBasis b) {
  const size_t Q = (size_t)b->Q;
  RITZ_TRY(RITZ_CALLOC(b->obj.ceed, (size_t)b->dim * Q, &b->q_ref));
  RITZ_TRY(RITZ_CALLOC(b->obj.ceed, Q, &b->q_weight));
  RITZ_TRY(RITZ_CALLOC(b->obj.ceed, (size_t)b->Q_1d, &b->q_weight_1d));
  if (t->q_weight_1d) memcpy(b->q_weight_1d, t->q_weight_1d, (size_t)b->Q_1d * sizeof(CeedScalar));
  for (CeedInt q = 0; q < b->Q; q++) {
    b->q_weight[q] = 1;
    for (CeedInt d = 0, rest = q; d < b->dim; d++, rest /= b->Q_1d) {
      b->q_weight[q] *= b->q_weight_1d[rest % b->Q_1d];
      if (t->q_ref_1d) b->q_ref[(CeedSize)d * b->Q + q] = t->q_ref_1d[rest % b->Q_1d];
    }
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_basis_create_vector(Ceed ceed, const RitzVectorTables *t, CeedBasis *basis) {
  CeedBasis b = NULL;
  int ierr;
  RITZ_TRY(check_tables(ceed, t));
  RITZ_TRY(ritz_object_create(ceed, &ritz_basis_class, sizeof(*b), &b));
  b->topology = t->dim == 2 ? CEED_TOPOLOGY_QUAD : CEED_TOPOLOGY_HEX;
  b->space = t->space;
  b->dim = t->dim;
  b->num_comp = t->num_comp;
  b->Q_1d = t->Q_1d;
  RITZ_TRY_CLEANUP(RITZ_CALLOC(ceed, (size_t)t->dim, &b->blocks));
  RITZ_TRY_CLEANUP(set_sizes(ceed, t, b));
  RITZ_TRY_CLEANUP(copy_tables(t, b));
  RITZ_TRY_CLEANUP(make_rule(t, b));
  *basis = b;
  b = NULL;
cleanup:
  if (b) CeedBasisDestroy(&b);
  return ierr;
}

int RitzBasisCreateTensorVector(Ceed ceed, CeedInt dim, CeedInt num_comp, CeedEvalMode derivative,
                                const CeedInt *P_1d, CeedInt Q_1d, const CeedScalar *const *interp_1d,
                                const CeedScalar *const *grad_1d, const CeedScalar *q_ref_1d,
                                const CeedScalar *q_weight_1d, CeedBasis *basis) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, P_1d);
  RITZ_ARGUMENT(ceed, interp_1d);
  RITZ_ARGUMENT(ceed, grad_1d);
  RITZ_ARGUMENT(ceed, basis);
  RITZ_REQUIRE(derivative == CEED_EVAL_DIV || derivative == CEED_EVAL_CURL, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the derivative must be CEED_EVAL_DIV or CEED_EVAL_CURL, found %d", __func__,
               (int)derivative);
  const RitzVectorTables tables = {.call = __func__,
                                   .space =
                                       derivative == CEED_EVAL_DIV ? CEED_FE_SPACE_HDIV : CEED_FE_SPACE_HCURL,
                                   .dim = dim,
                                   .num_comp = num_comp,
                                   .Q_1d = Q_1d,
                                   .P_1d = P_1d,
                                   .interp_1d = interp_1d,
                                   .grad_1d = grad_1d,
                                   .q_ref_1d = q_ref_1d,
                                   .q_weight_1d = q_weight_1d};
  return ritz_basis_create_vector(ceed, &tables, basis);
}

void ritz_basis_free_blocks(CeedBasis b) {
  for (CeedInt c = 0; b->blocks && c < b->dim; c++) {
    for (int d = 0; d < 3; d++) {
      RITZ_FREE(&b->blocks[c].interp[d]);
      RITZ_FREE(&b->blocks[c].grad[d]);
    }
  }
  RITZ_FREE(&b->blocks);
  RITZ_FREE(&b->q_weight_1d);
}
