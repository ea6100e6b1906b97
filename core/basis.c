// SPDX-License-Identifier: BSD-2-Clause
// CeedBasis: creation from tables or as Lagrange bases, application (doc/ceed-api.md, Bases).
// Evaluation is the backend's.
#include <limits.h>
#include <string.h>

#include "core/core.h"
#include "core/vector.h"
#include "fe/fe.h"

static int view_basis(CeedObject object, FILE *stream) { return CeedBasisView((CeedBasis)object, stream); }
static int destroy_basis(CeedObject *object) { return CeedBasisDestroy((CeedBasis *)object); }

const RitzClass ritz_basis_class = {.name = "CeedBasis", .view = view_basis, .destroy = destroy_basis};

// ---- Creation ----

static int require_positive(Ceed ceed, const char *call, const char *what, CeedInt value) {
  RITZ_REQUIRE(value > 0, ceed, CEED_ERROR_DIMENSION, "%s: %s must be at least 1, found %" CeedInt_FMT, call,
               what, value);
  return CEED_ERROR_SUCCESS;
}

// Copy of n entries, zeros when there is no source.
static int copy_table(Ceed ceed, CeedSize n, const CeedScalar *from, CeedScalar **to) {
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)n, to));
  if (from) memcpy(*to, from, (size_t)n * sizeof(CeedScalar));
  return CEED_ERROR_SUCCESS;
}

static int abandon(CeedBasis basis, int ierr) {
  CeedBasisDestroy(&basis);
  return ierr;
}

// base^dim as long as it fits a CeedInt.
static int tensor_size(Ceed ceed, const char *call, CeedInt base, CeedInt dim, CeedInt *size) {
  CeedSize product = 1;
  for (CeedInt d = 0; base > 1 && d < dim; d++) {
    product *= base;
    RITZ_REQUIRE(product <= INT_MAX, ceed, CEED_ERROR_DIMENSION,
                 "%s: %" CeedInt_FMT "^%" CeedInt_FMT " nodes or points exceed 32-bit sizes", call, base,
                 dim);
  }
  *size = (CeedInt)product;
  return CEED_ERROR_SUCCESS;
}

int CeedBasisCreateTensorH1(Ceed ceed, CeedInt dim, CeedInt num_comp, CeedInt P_1d, CeedInt Q_1d,
                            const CeedScalar *interp_1d, const CeedScalar *grad_1d,
                            const CeedScalar *q_ref_1d, const CeedScalar *q_weight_1d, CeedBasis *basis) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, basis);
  CeedInt P, Q;
  RITZ_TRY(require_positive(ceed, __func__, "dimension", dim));
  RITZ_TRY(require_positive(ceed, __func__, "number of components", num_comp));
  RITZ_TRY(require_positive(ceed, __func__, "number of nodes P_1d", P_1d));
  RITZ_TRY(require_positive(ceed, __func__, "number of points Q_1d", Q_1d));
  RITZ_TRY(tensor_size(ceed, __func__, P_1d, dim, &P));
  RITZ_TRY(tensor_size(ceed, __func__, Q_1d, dim, &Q));

  CeedBasis b = NULL;
  RITZ_TRY(ritz_object_create(ceed, &ritz_basis_class, sizeof(*b), &b));
  b->topology = dim == 1 ? CEED_TOPOLOGY_LINE : dim == 2 ? CEED_TOPOLOGY_QUAD : CEED_TOPOLOGY_HEX;
  b->space = CEED_FE_SPACE_H1;
  b->is_tensor = true;
  b->dim = dim;
  b->num_comp = num_comp;
  b->P_1d = P_1d;
  b->Q_1d = Q_1d;
  b->P = P;
  b->Q = Q;
  int ierr = copy_table(ceed, Q_1d, q_ref_1d, &b->q_ref);
  if (!ierr) ierr = copy_table(ceed, Q_1d, q_weight_1d, &b->q_weight);
  if (!ierr) ierr = copy_table(ceed, (CeedSize)Q_1d * P_1d, interp_1d, &b->interp_1d);
  if (!ierr) ierr = copy_table(ceed, (CeedSize)Q_1d * P_1d, grad_1d, &b->grad_1d);
  if (ierr) return abandon(b, ierr);
  *basis = b;
  return CEED_ERROR_SUCCESS;
}

// Tables of the Lagrange basis in one array of doubles: nodes [P], points [Q], weights [Q], interp [Q][P],
// grad [Q][P].
static int lagrange_tables(Ceed ceed, CeedInt P, CeedInt Q, CeedQuadMode quad_mode, double *tables) {
  double *nodes = tables, *points = nodes + P, *weights = points + Q, *interp = weights + Q;
  ritz_fe_gauss_lobatto(P, nodes, NULL);
  if (quad_mode == CEED_GAUSS)
    ritz_fe_gauss(Q, points, weights);
  else
    ritz_fe_gauss_lobatto(Q, points, weights);
  return ritz_fe_lagrange(ceed, P, nodes, Q, points, interp, interp + (CeedSize)P * Q);
}

// Before tables are made that may be as large as wrong sizes are.
static int check_lagrange_size(Ceed ceed, const char *call, CeedInt base, CeedInt dim) {
  CeedInt size;
  RITZ_REQUIRE(base == 1 || ritz_fe_shape_num_nodes(CEED_TOPOLOGY_LINE, base - 1) > 0, ceed,
               CEED_ERROR_DIMENSION,
               "%s: %" CeedInt_FMT
               " nodes or points per direction are too many, a table of their squares exceeds 32-bit sizes",
               call, base);
  return tensor_size(ceed, call, base, dim, &size);
}

int CeedBasisCreateTensorH1Lagrange(Ceed ceed, CeedInt dim, CeedInt num_comp, CeedInt P, CeedInt Q,
                                    CeedQuadMode quad_mode, CeedBasis *basis) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, basis);
  RITZ_TRY(require_positive(ceed, __func__, "dimension", dim));
  RITZ_TRY(require_positive(ceed, __func__, "number of components", num_comp));
  RITZ_REQUIRE(P >= 2, ceed, CEED_ERROR_DIMENSION,
               "%s: needs at least 2 nodes per direction, found %" CeedInt_FMT, __func__, P);
  RITZ_REQUIRE(quad_mode == CEED_GAUSS || quad_mode == CEED_GAUSS_LOBATTO, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: %d is no quadrature mode", __func__, (int)quad_mode);
  CeedInt min_Q = quad_mode == CEED_GAUSS ? 1 : 2;
  RITZ_REQUIRE(Q >= min_Q, ceed, CEED_ERROR_DIMENSION,
               "%s: needs at least %" CeedInt_FMT " points per direction, found %" CeedInt_FMT, __func__,
               min_Q, Q);
  RITZ_TRY(check_lagrange_size(ceed, __func__, P, dim));
  RITZ_TRY(check_lagrange_size(ceed, __func__, Q, dim));

  size_t n = (size_t)P + 2 * (size_t)Q + 2 * (size_t)P * (size_t)Q;
  double *tables = NULL;
  CeedScalar *rounded = NULL;
  int ierr;
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, n, &tables));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, n, &rounded));
  RITZ_TRY_CLEANUP(lagrange_tables(ceed, P, Q, quad_mode, tables));
  for (size_t i = 0; i < n; i++) rounded[i] = (CeedScalar)tables[i];
  const CeedScalar *points = rounded + P, *weights = points + Q, *interp = weights + Q;
  ierr = CeedBasisCreateTensorH1(ceed, dim, num_comp, P, Q, interp, interp + (CeedSize)P * Q, points, weights,
                                 basis);
cleanup:
  RITZ_FREE(&rounded);
  RITZ_FREE(&tables);
  return ierr;
}

// Dense bases differ in the space, the number of quadrature components of INTERP, and in the derivative they
// have.
typedef struct {
  const char *call;
  CeedFESpace space;
  CeedEvalMode derivative;
  const CeedScalar *interp, *derivative_table, *q_ref, *q_weight;
} DenseTables;

static int create_dense_basis(Ceed ceed, CeedElemTopology topo, CeedInt num_comp, CeedInt P, CeedInt Q,
                              const DenseTables *tables, CeedBasis *basis) {
  RITZ_HANDLE_OF(tables->call, ceed);
  RITZ_ARGUMENT_OF(ceed, tables->call, basis);
  CeedInt dim;
  RITZ_TRY(require_positive(ceed, tables->call, "number of components", num_comp));
  RITZ_TRY(require_positive(ceed, tables->call, "number of nodes", P));
  RITZ_TRY(require_positive(ceed, tables->call, "number of points", Q));
  bool exists = topo >= CEED_TOPOLOGY_LINE && topo <= CEED_TOPOLOGY_HEX && CeedElemTopologies[topo];
  RITZ_REQUIRE(exists, ceed, CEED_ERROR_DIMENSION, "%s: %d is no element topology", tables->call, (int)topo);
  RITZ_TRY(CeedBasisGetTopologyDimension(topo, &dim));

  CeedBasis b = NULL;
  RITZ_TRY(ritz_object_create(ceed, &ritz_basis_class, sizeof(*b), &b));
  b->topology = topo;
  b->space = tables->space;
  b->dim = dim;
  b->num_comp = num_comp;
  b->P = P;
  b->Q = Q;
  CeedSize q_interp = ritz_basis_num_q_comp(b, CEED_EVAL_INTERP);
  CeedSize q_derivative = ritz_basis_num_q_comp(b, tables->derivative);
  CeedScalar **derivative = tables->derivative == CEED_EVAL_GRAD  ? &b->grad
                            : tables->derivative == CEED_EVAL_DIV ? &b->div
                                                                  : &b->curl;
  int ierr = copy_table(ceed, (CeedSize)dim * Q, tables->q_ref, &b->q_ref);
  if (!ierr) ierr = copy_table(ceed, Q, tables->q_weight, &b->q_weight);
  if (!ierr) ierr = copy_table(ceed, q_interp * Q * P, tables->interp, &b->interp);
  if (!ierr) ierr = copy_table(ceed, q_derivative * Q * P, tables->derivative_table, derivative);
  if (ierr) return abandon(b, ierr);
  *basis = b;
  return CEED_ERROR_SUCCESS;
}

int CeedBasisCreateH1(Ceed ceed, CeedElemTopology topo, CeedInt num_comp, CeedInt num_nodes, CeedInt nqpts,
                      const CeedScalar *interp, const CeedScalar *grad, const CeedScalar *q_ref,
                      const CeedScalar *q_weights, CeedBasis *basis) {
  const DenseTables tables = {__func__, CEED_FE_SPACE_H1, CEED_EVAL_GRAD, interp, grad, q_ref, q_weights};
  return create_dense_basis(ceed, topo, num_comp, num_nodes, nqpts, &tables, basis);
}

int CeedBasisCreateHdiv(Ceed ceed, CeedElemTopology topo, CeedInt num_comp, CeedInt num_nodes, CeedInt nqpts,
                        const CeedScalar *interp, const CeedScalar *div, const CeedScalar *q_ref,
                        const CeedScalar *q_weights, CeedBasis *basis) {
  const DenseTables tables = {__func__, CEED_FE_SPACE_HDIV, CEED_EVAL_DIV, interp, div, q_ref, q_weights};
  return create_dense_basis(ceed, topo, num_comp, num_nodes, nqpts, &tables, basis);
}

int CeedBasisCreateHcurl(Ceed ceed, CeedElemTopology topo, CeedInt num_comp, CeedInt num_nodes, CeedInt nqpts,
                         const CeedScalar *interp, const CeedScalar *curl, const CeedScalar *q_ref,
                         const CeedScalar *q_weights, CeedBasis *basis) {
  const DenseTables tables = {__func__, CEED_FE_SPACE_HCURL, CEED_EVAL_CURL, interp, curl, q_ref, q_weights};
  return create_dense_basis(ceed, topo, num_comp, num_nodes, nqpts, &tables, basis);
}

int CeedBasisReferenceCopy(CeedBasis basis, CeedBasis *basis_copy) {
  return RITZ_REFERENCE_COPY(basis, basis_copy);
}

int CeedBasisDestroy(CeedBasis *basis) {
  RITZ_RELEASE(basis);
  CeedBasis b = *basis;
  if (b->obj.ceed->backend.basis_destroy) RITZ_TRY(b->obj.ceed->backend.basis_destroy(b));
  CeedScalar **tables[] = {&b->q_ref, &b->q_weight, &b->interp_1d, &b->grad_1d,     &b->interp,
                           &b->grad,  &b->div,      &b->curl,      &b->chebyshev_1d};
  for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) RITZ_FREE(tables[i]);
  ritz_basis_free_blocks(b);
  ritz_object_free(&b);
  *basis = NULL;
  return CEED_ERROR_SUCCESS;
}

// ---- Action ----

// Tables there are for a mode; NULL means the mode is not available.
static bool has_mode(CeedBasis b, CeedEvalMode mode) {
  switch (mode) {
  case CEED_EVAL_INTERP:
  case CEED_EVAL_WEIGHT: return true;
  case CEED_EVAL_GRAD: return b->space == CEED_FE_SPACE_H1;
  case CEED_EVAL_DIV: return b->space == CEED_FE_SPACE_HDIV;
  case CEED_EVAL_CURL: return b->space == CEED_FE_SPACE_HCURL;
  default: return false;
  }
}

static int check_basis_mode(CeedBasis b, const char *call, CeedTransposeMode t_mode, CeedEvalMode mode) {
  RITZ_REQUIRE(t_mode == CEED_NOTRANSPOSE || t_mode == CEED_TRANSPOSE, b->obj.ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: %d is no transpose mode", call, (int)t_mode);
  // The standard gives these combinations the code of a failed backend.
  bool failed = mode == CEED_EVAL_NONE || (b->is_tensor && (mode == CEED_EVAL_DIV || mode == CEED_EVAL_CURL));
  RITZ_REQUIRE(!failed, b->obj.ceed, CEED_ERROR_BACKEND, "%s: mode '%s' is not available for this basis",
               call, CeedEvalModes[mode]);
  RITZ_REQUIRE(has_mode(b, mode), b->obj.ceed, CEED_ERROR_UNSUPPORTED, "%s: a basis in an %s has no mode %d",
               call, CeedFESpaces[b->space], (int)mode);
  RITZ_REQUIRE(mode != CEED_EVAL_WEIGHT || t_mode == CEED_NOTRANSPOSE, b->obj.ceed, CEED_ERROR_BACKEND,
               "%s: quadrature weights have no transpose", call);
  return CEED_ERROR_SUCCESS;
}

static int check_basis_lengths(CeedBasis b, const char *call, const RitzBasisAction *action, CeedVector u,
                               CeedVector v) {
  bool is_weight = action->eval_mode == CEED_EVAL_WEIGHT;
  bool transposes = action->t_mode == CEED_TRANSPOSE;
  CeedSize q_comp = ritz_basis_num_q_comp(b, action->eval_mode);
  CeedSize nodes = is_weight ? 0 : (CeedSize)action->num_elem * b->num_comp * b->P;
  CeedSize points = (CeedSize)action->num_elem * b->Q * (is_weight ? 1 : b->num_comp * q_comp);
  CeedSize u_needed = transposes ? points : nodes, v_needed = transposes ? nodes : points;
  RITZ_REQUIRE(u->length >= u_needed && v->length >= v_needed, b->obj.ceed, CEED_ERROR_DIMENSION,
               "%s: Input/output vectors too short for basis and evaluation mode: input has %" CeedSize_FMT
               " entries, needed %" CeedSize_FMT "; output has %" CeedSize_FMT ", needed %" CeedSize_FMT,
               call, u->length, u_needed, v->length, v_needed);
  return CEED_ERROR_SUCCESS;
}

static int apply_basis(CeedBasis b, const char *call, const RitzBasisAction *action, CeedVector u,
                       CeedVector v) {
  const RitzBackend *backend = &b->obj.ceed->backend;
  bool has_u = action->eval_mode != CEED_EVAL_WEIGHT;
  const CeedScalar *u_array = NULL;
  CeedScalar *v_array;
  RITZ_REQUIRE(action->num_elem >= 0, b->obj.ceed, CEED_ERROR_DIMENSION,
               "%s: number of elements %" CeedInt_FMT " is negative", call, action->num_elem);
  RITZ_VECTOR_OR_NONE(b->obj.ceed, call, u, !has_u);
  RITZ_ARGUMENT_OF(b->obj.ceed, call, v);
  RITZ_TRY(check_basis_mode(b, call, action->t_mode, action->eval_mode));
  RITZ_TRY(check_basis_lengths(b, call, action, u, v));
  RITZ_TRY(ritz_vector_require_scalars(call, has_u ? u : CEED_VECTOR_NONE, v));
  RITZ_REQUIRE(!ritz_vectors_meet(u, v), b->obj.ceed, CEED_ERROR_INCOMPATIBLE, "%s: input and output %s",
               call, ritz_vectors_meet(u, v));
  if (has_u) RITZ_TRY(ritz_vector_require_data_of(u, call, "u"));
  if (action->add) RITZ_TRY(ritz_vector_require_data_of(v, call, "v"));
  // The transpose overwrites the whole vector, which may be longer than the nodes.
  bool sums = action->t_mode == CEED_TRANSPOSE;
  if (has_u) RITZ_TRY(CeedVectorGetArrayRead(u, backend->mem_type, &u_array));
  int ierr = sums && !action->add ? CeedVectorSetValue(v, 0) : CEED_ERROR_SUCCESS;
  if (!ierr) ierr = (sums ? CeedVectorGetArray : CeedVectorGetArrayWrite)(v, backend->mem_type, &v_array);
  if (!ierr) {
    ierr = backend->basis_apply(b, action, u_array, v_array);
    ierr = (sums && action->add ? ritz_vector_end_update : ritz_vector_end_write)(v, &v_array, ierr);
  }
  int restored = has_u ? CeedVectorRestoreArrayRead(u, &u_array) : CEED_ERROR_SUCCESS;
  return ierr ? ierr : restored;
}

int CeedBasisApply(CeedBasis basis, CeedInt num_elem, CeedTransposeMode t_mode, CeedEvalMode eval_mode,
                   CeedVector u, CeedVector v) {
  RITZ_HANDLE(basis, u, v);
  const RitzBasisAction action = {num_elem, t_mode, eval_mode, false};
  return apply_basis(basis, __func__, &action, u, v);
}

int CeedBasisApplyAdd(CeedBasis basis, CeedInt num_elem, CeedTransposeMode t_mode, CeedEvalMode eval_mode,
                      CeedVector u, CeedVector v) {
  RITZ_HANDLE(basis, u, v);
  RITZ_REQUIRE(t_mode == CEED_TRANSPOSE, basis->obj.ceed, CEED_ERROR_UNSUPPORTED,
               "%s: adds only in transpose mode", __func__);
  const RitzBasisAction action = {num_elem, t_mode, eval_mode, true};
  return apply_basis(basis, __func__, &action, u, v);
}
