// SPDX-License-Identifier: BSD-2-Clause
// CeedBasis: tables and other queries, view, flops; quadrature rules (doc/ceed-api.md,
// Bases).
#include <math.h>
#include <string.h>

#include "core/core.h"
#include "fe/fe.h"

#define GETTER(function, type, field)                                                                        \
  int function(CeedBasis basis, type *value) {                                                               \
    RITZ_HANDLE(basis);                                                                                      \
    RITZ_ARGUMENT(basis, value);                                                                             \
    *value = basis->field;                                                                                   \
    return CEED_ERROR_SUCCESS;                                                                               \
  }
GETTER(CeedBasisGetDimension, CeedInt, dim)
GETTER(CeedBasisGetTopology, CeedElemTopology, topology)
GETTER(CeedBasisGetNumComponents, CeedInt, num_comp)
GETTER(CeedBasisGetNumNodes, CeedInt, P)
GETTER(CeedBasisGetNumQuadraturePoints, CeedInt, Q)
GETTER(CeedBasisGetQRef, const CeedScalar *, q_ref)
GETTER(CeedBasisGetQWeights, const CeedScalar *, q_weight)
GETTER(CeedBasisIsTensor, bool, is_tensor)
GETTER(CeedBasisGetFESpace, CeedFESpace, space)
#undef GETTER

static int require_tensor(CeedBasis basis, const char *call) {
  RITZ_REQUIRE(basis->is_tensor, basis->obj.ceed, CEED_ERROR_MINOR, "%s: needs a tensor-product basis", call);
  return CEED_ERROR_SUCCESS;
}

#define TENSOR_GETTER(function, type, field)                                                                 \
  int function(CeedBasis basis, type *value) {                                                               \
    RITZ_HANDLE(basis);                                                                                      \
    RITZ_ARGUMENT(basis, value);                                                                             \
    RITZ_TRY(require_tensor(basis, __func__));                                                               \
    *value = basis->field;                                                                                   \
    return CEED_ERROR_SUCCESS;                                                                               \
  }
TENSOR_GETTER(CeedBasisGetNumNodes1D, CeedInt, P_1d)
TENSOR_GETTER(CeedBasisGetNumQuadraturePoints1D, CeedInt, Q_1d)
TENSOR_GETTER(CeedBasisGetInterp1D, const CeedScalar *, interp_1d)
TENSOR_GETTER(CeedBasisGetGrad1D, const CeedScalar *, grad_1d)
#undef TENSOR_GETTER

int CeedBasisGetCeed(CeedBasis basis, Ceed *ceed) {
  RITZ_HANDLE(basis);
  RITZ_ARGUMENT(basis, ceed);
  return CeedObjectGetCeed((CeedObject)basis, ceed);
}
Ceed CeedBasisReturnCeed(CeedBasis basis) { return RITZ_RETURN_CEED(basis); }
int CeedBasisSetNumViewTabs(CeedBasis basis, CeedInt num_tabs) {
  RITZ_HANDLE(basis);
  return CeedObjectSetNumViewTabs((CeedObject)basis, num_tabs);
}
int CeedBasisGetNumViewTabs(CeedBasis basis, CeedInt *num_tabs) {
  RITZ_HANDLE(basis);
  RITZ_ARGUMENT(basis, num_tabs);
  return CeedObjectGetNumViewTabs((CeedObject)basis, num_tabs);
}

int CeedBasisGetTopologyDimension(CeedElemTopology topo, CeedInt *dim) {
  *dim = (CeedInt)topo >> 16;
  return CEED_ERROR_SUCCESS;
}

CeedInt ritz_basis_num_q_comp(CeedBasis basis, CeedEvalMode mode) {
  switch (mode) {
  case CEED_EVAL_INTERP: return basis->space == CEED_FE_SPACE_H1 ? 1 : basis->dim;
  case CEED_EVAL_GRAD: return basis->dim;
  case CEED_EVAL_CURL: return basis->dim < 3 ? 1 : basis->dim;
  default: return 1;
  }
}

static int require_mode(CeedBasis basis, const char *call, CeedEvalMode mode) {
  RITZ_REQUIRE((int)mode >= 0 && mode <= CEED_EVAL_WEIGHT, basis->obj.ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: there is no mode %d", call, (int)mode);
  return CEED_ERROR_SUCCESS;
}

int CeedBasisGetNumQuadratureComponents(CeedBasis basis, CeedEvalMode eval_mode, CeedInt *q_comp) {
  RITZ_HANDLE(basis);
  RITZ_ARGUMENT(basis, q_comp);
  RITZ_TRY(require_mode(basis, __func__, eval_mode));
  *q_comp = basis == CEED_BASIS_NONE ? 1 : ritz_basis_num_q_comp(basis, eval_mode);
  return CEED_ERROR_SUCCESS;
}

int CeedBasisIsCollocated(CeedBasis basis, bool *is_collocated) {
  RITZ_HANDLE(basis);
  RITZ_ARGUMENT(basis, is_collocated);
  *is_collocated = basis->is_tensor && basis->P_1d == basis->Q_1d;
  for (CeedInt q = 0; *is_collocated && q < basis->Q_1d; q++) {
    for (CeedInt p = 0; p < basis->P_1d; p++) {
      CeedScalar identity = p == q ? 1 : 0;
      if (fabs((double)(basis->interp_1d[q * basis->P_1d + p] - identity)) > 10 * CEED_EPSILON)
        *is_collocated = false;
    }
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Full matrices of tensor bases, made on request ----

// full [Q][P] = product over directions of tables[d] [Q_1d][P_1d], first direction fastest in both indices.
static void tensor_matrix(CeedBasis b, const CeedScalar *const *tables, CeedScalar *full) {
  for (CeedInt q = 0; q < b->Q; q++) {
    for (CeedInt p = 0; p < b->P; p++) {
      CeedScalar product = 1;
      for (CeedInt d = 0, q_rest = q, p_rest = p; d < b->dim; d++, q_rest /= b->Q_1d, p_rest /= b->P_1d) {
        product *= tables[d][(q_rest % b->Q_1d) * b->P_1d + p_rest % b->P_1d];
      }
      full[(CeedSize)q * b->P + p] = product;
    }
  }
}

// num matrices; in matrix m the table of direction m is grad_1d when differentiated.
static int make_full(CeedBasis b, CeedInt num, bool differentiates, CeedScalar **full) {
  CeedScalar *made = NULL;
  const CeedScalar **tables = NULL;
  RITZ_TRY(RITZ_MALLOC(b->obj.ceed, (size_t)num * (size_t)b->Q * (size_t)b->P, &made));
  int ierr = RITZ_MALLOC(b->obj.ceed, (size_t)b->dim, &tables);
  if (ierr) {
    RITZ_FREE(&made);
    return ierr;
  }
  for (CeedInt m = 0; m < num; m++) {
    for (CeedInt d = 0; d < b->dim; d++) tables[d] = differentiates && d == m ? b->grad_1d : b->interp_1d;
    tensor_matrix(b, tables, made + (CeedSize)m * b->Q * b->P);
  }
  RITZ_FREE((void **)&tables);
  *full = made;
  return CEED_ERROR_SUCCESS;
}

int CeedBasisGetInterp(CeedBasis basis, const CeedScalar **interp) {
  RITZ_HANDLE(basis);
  RITZ_ARGUMENT(basis, interp);
  if (!basis->is_tensor) return ritz_basis_table(basis, CEED_EVAL_INTERP, interp);
  if (!basis->interp) RITZ_TRY(make_full(basis, 1, false, &basis->interp));
  *interp = basis->interp;
  return CEED_ERROR_SUCCESS;
}

int CeedBasisGetGrad(CeedBasis basis, const CeedScalar **grad) {
  RITZ_HANDLE(basis);
  RITZ_ARGUMENT(basis, grad);
  if (basis->is_tensor && !basis->grad) RITZ_TRY(make_full(basis, basis->dim, true, &basis->grad));
  *grad = basis->grad;
  return CEED_ERROR_SUCCESS;
}

int CeedBasisGetDiv(CeedBasis basis, const CeedScalar **div) {
  RITZ_HANDLE(basis);
  RITZ_ARGUMENT(basis, div);
  return ritz_basis_table(basis, CEED_EVAL_DIV, div);
}

int CeedBasisGetCurl(CeedBasis basis, const CeedScalar **curl) {
  RITZ_HANDLE(basis);
  RITZ_ARGUMENT(basis, curl);
  return ritz_basis_table(basis, CEED_EVAL_CURL, curl);
}

// ---- View ----

static void print_values(CeedInt n, const CeedScalar *values, FILE *stream) {
  for (CeedInt i = 0; i < n; i++) {
    double value = (double)values[i];
    fprintf(stream, "\t% 12.8f", fabs(value) > 1e-14 ? value : 0.0);
  }
  fprintf(stream, "\n");
}

static void print_table(CeedBasis b, const char *name, CeedInt rows, CeedInt cols, const CeedScalar *values,
                        FILE *stream) {
  ritz_object_indent(&b->obj, stream);
  if (rows == 1) {
    char label[16];
    snprintf(label, sizeof(label), "%s:", name);
    fprintf(stream, "  %-10s", label);
    print_values(cols, values, stream);
    return;
  }
  fprintf(stream, "  %s:\n", name);
  for (CeedInt i = 0; i < rows; i++) {
    ritz_object_indent(&b->obj, stream);
    fprintf(stream, "    [%" CeedInt_FMT "]", i);
    print_values(cols, values + (CeedSize)i * cols, stream);
  }
}

static void print_number(CeedBasis b, const char *name, CeedInt value, FILE *stream) {
  ritz_object_indent(&b->obj, stream);
  fprintf(stream, "  %s: %" CeedInt_FMT "\n", name, value);
}

// The 1D tables of component c along direction d as "interp1d c d"; points along the first direction are
// those of all.
static void print_blocks(CeedBasis b, FILE *stream) {
  print_number(b, "Q1d", b->Q_1d, stream);
  print_table(b, "qref1d", 1, b->Q_1d, b->q_ref, stream);
  print_table(b, "qweight1d", 1, b->Q_1d, b->q_weight_1d, stream);
  for (CeedInt i = 0; i < b->dim * b->dim; i++) {
    const CeedInt c = i / b->dim, d = i % b->dim, P = b->blocks[c].P[d];
    char name[48];
    snprintf(name, sizeof(name), "interp1d %" CeedInt_FMT " %" CeedInt_FMT, c, d);
    print_table(b, name, b->Q_1d, P, b->blocks[c].interp[d], stream);
    snprintf(name, sizeof(name), "grad1d %" CeedInt_FMT " %" CeedInt_FMT, c, d);
    if (b->blocks[c].grad[d]) print_table(b, name, b->Q_1d, P, b->blocks[c].grad[d], stream);
  }
}

int CeedBasisView(CeedBasis basis, FILE *stream) {
  RITZ_HANDLE(basis);
  RITZ_ARGUMENT(basis, stream);
  CeedBasis b = basis;
  ritz_object_indent(&b->obj, stream);
  fprintf(stream, "CeedBasis in a %s on a %s element\n", CeedFESpaces[b->space],
          CeedElemTopologies[b->topology]);
  print_number(b, "P", b->is_tensor ? b->P_1d : b->P, stream);
  print_number(b, "Q", b->is_tensor ? b->Q_1d : b->Q, stream);
  print_number(b, "dimension", b->dim, stream);
  print_number(b, "field components", b->num_comp, stream);
  if (b->blocks) {
    print_blocks(b, stream);
    return CEED_ERROR_SUCCESS;
  }
  if (b->is_tensor) {
    print_table(b, "qref1d", 1, b->Q_1d, b->q_ref, stream);
    print_table(b, "qweight1d", 1, b->Q_1d, b->q_weight, stream);
    print_table(b, "interp1d", b->Q_1d, b->P_1d, b->interp_1d, stream);
    print_table(b, "grad1d", b->Q_1d, b->P_1d, b->grad_1d, stream);
    return CEED_ERROR_SUCCESS;
  }
  print_table(b, "qref", 1, b->dim * b->Q, b->q_ref, stream);
  print_table(b, "qweight", 1, b->Q, b->q_weight, stream);
  print_table(b, "interp", ritz_basis_num_q_comp(b, CEED_EVAL_INTERP) * b->Q, b->P, b->interp, stream);
  if (b->grad) print_table(b, "grad", b->dim * b->Q, b->P, b->grad, stream);
  if (b->div) print_table(b, "div", b->Q, b->P, b->div, stream);
  if (b->curl) print_table(b, "curl", ritz_basis_num_q_comp(b, CEED_EVAL_CURL) * b->Q, b->P, b->curl, stream);
  return CEED_ERROR_SUCCESS;
}

// ---- Quadrature ----

// Computes in double and rounds; weights may be NULL.
static int quadrature(const char *call, CeedInt Q, void (*rule)(int, double *, double *), CeedScalar *points,
                      CeedScalar *weights) {
  double *x = NULL;
  RITZ_REQUIRE(Q == 1 || ritz_fe_shape_num_nodes(CEED_TOPOLOGY_LINE, Q - 1) > 0, NULL, CEED_ERROR_DIMENSION,
               "%s: %" CeedInt_FMT " points are too many, a table of their squares exceeds 32-bit sizes",
               call, Q);
  RITZ_TRY(RITZ_MALLOC(NULL, 2 * (size_t)Q, &x));
  rule(Q, x, x + Q);
  for (CeedInt i = 0; i < Q; i++) {
    points[i] = (CeedScalar)x[i];
    if (weights) weights[i] = (CeedScalar)x[Q + i];
  }
  RITZ_FREE(&x);
  return CEED_ERROR_SUCCESS;
}

int CeedGaussQuadrature(CeedInt Q, CeedScalar *q_ref_1d, CeedScalar *q_weight_1d) {
  RITZ_REQUIRE(Q >= 1, NULL, CEED_ERROR_DIMENSION, "%s: needs at least 1 point, found %" CeedInt_FMT,
               __func__, Q);
  return quadrature(__func__, Q, ritz_fe_gauss, q_ref_1d, q_weight_1d);
}

int CeedLobattoQuadrature(CeedInt Q, CeedScalar *q_ref_1d, CeedScalar *q_weight_1d) {
  RITZ_REQUIRE(Q >= 2, NULL, CEED_ERROR_DIMENSION, "%s: needs at least 2 points, found %" CeedInt_FMT,
               __func__, Q);
  return quadrature(__func__, Q, ritz_fe_gauss_lobatto, q_ref_1d, q_weight_1d);
}

// ---- Flops (doc/ceed-api.md, Views and estimates) ----

// Contractions of one tensor evaluation, b^0 .. b^dim points appearing direction by direction.
static CeedSize tensor_flops(CeedBasis basis, CeedSize a, CeedSize b) {
  CeedSize flops = 0;
  for (CeedInt d = 0; d < basis->dim; d++) {
    CeedSize term = 2 * (CeedSize)basis->num_comp;
    for (CeedInt i = 0; i < basis->dim - d; i++) term *= a;
    for (CeedInt i = 0; i <= d; i++) term *= b;
    flops += term;
  }
  return flops;
}

// Flops of one tensor product of a block.
static CeedSize block_flops(CeedBasis basis, const RitzBasisBlock *block, bool transposes) {
  CeedSize flops = 0, size = transposes ? basis->Q : block->num_nodes;
  for (CeedInt d = 0; d < basis->dim; d++) {
    CeedSize a = transposes ? basis->Q_1d : block->P[d], b = transposes ? block->P[d] : basis->Q_1d;
    size = size / a * b;
    flops += 2 * a * size;
  }
  return flops * basis->num_comp;
}

// A tensor product for each component, or for each derivative that is taken.
static CeedSize blocks_flops(CeedBasis basis, CeedTransposeMode t_mode, CeedEvalMode mode) {
  CeedSize flops = 0;
  for (CeedInt i = 0; i < basis->dim * basis->dim; i++) {
    const RitzBasisBlock *block = &basis->blocks[i / basis->dim];
    const bool is_taken =
        mode == CEED_EVAL_INTERP ? i % basis->dim == 0 : block->grad[i % basis->dim] != NULL;
    if (is_taken) flops += block_flops(basis, block, t_mode == CEED_TRANSPOSE);
  }
  return flops;
}

static int tensor_estimate(CeedBasis basis, CeedTransposeMode t_mode, CeedEvalMode mode, CeedSize *flops) {
  CeedSize b = basis->Q_1d, a = t_mode == CEED_TRANSPOSE ? b : basis->P_1d;
  switch (mode) {
  case CEED_EVAL_NONE: *flops = 0; return CEED_ERROR_SUCCESS;
  case CEED_EVAL_INTERP: *flops = tensor_flops(basis, a, b); return CEED_ERROR_SUCCESS;
  case CEED_EVAL_GRAD: *flops = 2 * tensor_flops(basis, a, b); return CEED_ERROR_SUCCESS;
  case CEED_EVAL_WEIGHT: *flops = basis->dim * ritz_power(b, basis->dim); return CEED_ERROR_SUCCESS;
  default:
    return CeedError(basis->obj.ceed, CEED_ERROR_INCOMPATIBLE,
                     "CeedBasisGetFlopsEstimate: a tensor basis has no mode %d", (int)mode);
  }
}

// Values of all Chebyshev polynomials at a point, and their derivatives, by recurrence; then one contraction
// a point.
static int points_estimate(CeedBasis basis, CeedTransposeMode t_mode, CeedEvalMode mode, CeedSize n,
                           CeedSize *flops) {
  bool transposes = t_mode == CEED_TRANSPOSE,
       on_device = basis->obj.ceed->backend.mem_type == CEED_MEM_DEVICE;
  CeedSize b = basis->Q_1d, a = transposes ? b : basis->P_1d, C = basis->num_comp, dim = basis->dim;
  CeedSize cheb = 3 * (b - 2) + 1, dcheb = 8 * (b - 2) + 1, contraction = 0;
  CeedSize before = ritz_power(b, basis->dim - 1), after = 1;
  for (CeedInt d = 0; d < basis->dim; d++) {
    contraction += 2 * before * b * after;
    before /= a;
    after *= b;
  }
  CeedSize base =
      tensor_flops(basis, a, b) + n * C * (contraction + (transposes ? ritz_power(b, basis->dim) : 0));
  CeedSize copies = on_device ? C : 1;
  bool unrolled = on_device && dim == 3;
  switch (mode) {
  case CEED_EVAL_NONE: *flops = 0; return CEED_ERROR_SUCCESS;
  case CEED_EVAL_WEIGHT: *flops = n; return CEED_ERROR_SUCCESS;
  case CEED_EVAL_INTERP:
    *flops = base + (unrolled ? n * b * (cheb + C * (2 * cheb + 2 * b * b + (transposes ? 2 * b + 1 : 3 * b)))
                              : n * copies * dim * cheb);
    return CEED_ERROR_SUCCESS;
  case CEED_EVAL_GRAD:
    *flops = base + (unrolled ? n * b *
                                    (cheb + dcheb +
                                     C * (dim * (2 * b * b + (transposes ? 2 : 3) * b) +
                                          (dim - 1) * (2 * cheb + dcheb) + (transposes ? 1 : 0)))
                              : n * copies * dim * (dcheb + (dim - 1) * cheb));
    return CEED_ERROR_SUCCESS;
  default:
    return CeedError(basis->obj.ceed, CEED_ERROR_INCOMPATIBLE,
                     "CeedBasisGetFlopsEstimate: no mode %d at points", (int)mode);
  }
}

int CeedBasisGetFlopsEstimate(CeedBasis basis, CeedTransposeMode t_mode, CeedEvalMode eval_mode,
                              bool is_at_points, CeedInt num_points, CeedSize *flops) {
  RITZ_HANDLE(basis);
  RITZ_ARGUMENT(basis, flops);
  RITZ_REQUIRE(t_mode == CEED_NOTRANSPOSE || t_mode == CEED_TRANSPOSE, basis->obj.ceed,
               CEED_ERROR_INCOMPATIBLE, "%s: %d is no transpose mode", __func__, (int)t_mode);
  RITZ_REQUIRE(num_points >= 0 || !is_at_points, basis->obj.ceed, CEED_ERROR_DIMENSION,
               "%s: number of points %" CeedInt_FMT " is negative", __func__, num_points);
  if (basis->is_tensor && !is_at_points) return tensor_estimate(basis, t_mode, eval_mode, flops);
  if (basis->is_tensor) return points_estimate(basis, t_mode, eval_mode, num_points, flops);
  RITZ_REQUIRE(!is_at_points, basis->obj.ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: a dense basis has no evaluation at points", __func__);
  bool is_free = eval_mode == CEED_EVAL_NONE || eval_mode == CEED_EVAL_WEIGHT;
  *flops = is_free ? 0
           : basis->blocks
               ? blocks_flops(basis, t_mode, eval_mode)
               : (CeedSize)basis->P * basis->Q * basis->num_comp * ritz_basis_num_q_comp(basis, eval_mode);
  return CEED_ERROR_SUCCESS;
}
