// SPDX-License-Identifier: BSD-2-Clause
// Functions of the standard that this version does not implement yet: each reports itself by name and does
// nothing else. A function leaves this file when it is implemented; the file goes with the last one.
#include <ceed/jit-tools-deprecated.h>

#include "core/core.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

static int unsupported(Ceed ceed, const char *call) {
  return CeedError(ceed, CEED_ERROR_UNSUPPORTED, "%s: not implemented in this version of Ritz", call);
}

static Ceed context_of(const void *object) {
  return object ? ((const struct CeedObject_private *)object)->ceed : NULL;
}

// ---- Bases

int CeedBasisCreateProjection(CeedBasis basis_from, CeedBasis basis_to, CeedBasis *basis_project) {
  return unsupported(context_of(basis_from), __func__);
}
int CeedBasisGetChebyshevInterp1D(CeedBasis basis, CeedScalar *chebyshev_interp_1d) {
  return unsupported(context_of(basis), __func__);
}
int CeedBasisGetCollocatedGrad(CeedBasis basis, CeedScalar *colo_grad_1d) {
  return unsupported(context_of(basis), __func__);
}
int CeedTensorContractApply(CeedTensorContract contract, CeedInt A, CeedInt B, CeedInt C, CeedInt J,
                            const CeedScalar *CEED_RESTRICT t, CeedTransposeMode t_mode, const CeedInt Add,
                            const CeedScalar *CEED_RESTRICT u, CeedScalar *CEED_RESTRICT v) {
  return unsupported(NULL, __func__);
}

// ---- QFunctions

int CeedQFunctionRegister(const char *name, const char *source, CeedInt vec_length, CeedQFunctionUser f,
                          int (*init)(Ceed ceed, const char *requested, CeedQFunction qf)) {
  return unsupported(NULL, __func__);
}
int CeedLoadSourceToBuffer(Ceed ceed, const char *source_file_path, char **buffer) {
  return unsupported(ceed, __func__);
}
int CeedQFunctionLoadSourceToBuffer(CeedQFunction qf, const char **source_buffer) {
  return unsupported(context_of(qf), __func__);
}

// ---- Operators at points

// ---- Multigrid and element inverses

int CeedOperatorCompositeGetMultiplicity(CeedOperator op, CeedInt num_skip_indices, CeedInt *skip_indices,
                                         CeedVector mult) {
  return unsupported(context_of(op), __func__);
}
int CeedOperatorMultigridLevelCreate(CeedOperator op_fine, CeedVector p_mult_fine,
                                     CeedElemRestriction rstr_coarse, CeedBasis basis_coarse,
                                     CeedOperator *op_coarse, CeedOperator *op_prolong,
                                     CeedOperator *op_restrict) {
  return unsupported(context_of(op_fine), __func__);
}
int CeedOperatorMultigridLevelCreateTensorH1(CeedOperator op_fine, CeedVector p_mult_fine,
                                             CeedElemRestriction rstr_coarse, CeedBasis basis_coarse,
                                             const CeedScalar *interp_c_to_f, CeedOperator *op_coarse,
                                             CeedOperator *op_prolong, CeedOperator *op_restrict) {
  return unsupported(context_of(op_fine), __func__);
}
int CeedOperatorMultigridLevelCreateH1(CeedOperator op_fine, CeedVector p_mult_fine,
                                       CeedElemRestriction rstr_coarse, CeedBasis basis_coarse,
                                       const CeedScalar *interp_c_to_f, CeedOperator *op_coarse,
                                       CeedOperator *op_prolong, CeedOperator *op_restrict) {
  return unsupported(context_of(op_fine), __func__);
}
int CeedOperatorCreateFDMElementInverse(CeedOperator op, CeedOperator *fdm_inv, CeedRequest *request) {
  return unsupported(context_of(op), __func__);
}
