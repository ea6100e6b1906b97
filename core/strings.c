// SPDX-License-Identifier: BSD-2-Clause
// Strings that go with enumerators, and the sentinels and constants that the standard exports as objects.
#include "core/operator.h"

const char *const CeedMemTypes[] = {[CEED_MEM_HOST] = "host", [CEED_MEM_DEVICE] = "device"};
const char *const CeedCopyModes[] = {[CEED_COPY_VALUES] = "copy values",
                                     [CEED_USE_POINTER] = "use pointer",
                                     [CEED_OWN_POINTER] = "own pointer"};
const char *const CeedTransposeModes[] = {
    [CEED_NOTRANSPOSE] = "no transpose", [CEED_TRANSPOSE] = "transpose"};
const char *const CeedQuadModes[] = {[CEED_GAUSS] = "Gauss", [CEED_GAUSS_LOBATTO] = "Gauss Lobatto"};
const char *const CeedEvalModes[] = {
    [CEED_EVAL_NONE] = "none",     [CEED_EVAL_INTERP] = "interpolation",
    [CEED_EVAL_GRAD] = "gradient", [CEED_EVAL_DIV] = "divergence",
    [CEED_EVAL_CURL] = "curl",     [CEED_EVAL_WEIGHT] = "quadrature weights"};
const char *const CeedElemTopologies[] = {
    [CEED_TOPOLOGY_LINE] = "line",          [CEED_TOPOLOGY_TRIANGLE] = "triangle",
    [CEED_TOPOLOGY_QUAD] = "quadrilateral", [CEED_TOPOLOGY_TET] = "tetrahedron",
    [CEED_TOPOLOGY_PYRAMID] = "pyramid",    [CEED_TOPOLOGY_PRISM] = "prism",
    [CEED_TOPOLOGY_HEX] = "hexahedron"};
const char *const CeedContextFieldTypes[] = {[CEED_CONTEXT_FIELD_DOUBLE] = "double",
                                             [CEED_CONTEXT_FIELD_INT32] = "int32",
                                             [CEED_CONTEXT_FIELD_BOOL] = "bool"};
const char *const CeedFESpaces[] = {[CEED_FE_SPACE_H1] = "H^1 space",
                                    [CEED_FE_SPACE_HDIV] = "H(div) space",
                                    [CEED_FE_SPACE_HCURL] = "H(curl) space"};

// Codes run from UNSUPPORTED (-3) to ACCESS (5); the exported pointer stands at SUCCESS.
static const char *const error_names[] = {
    [CEED_ERROR_UNSUPPORTED - CEED_ERROR_UNSUPPORTED] = "operation unsupported by backend",
    [CEED_ERROR_BACKEND - CEED_ERROR_UNSUPPORTED] = "internal backend error",
    [CEED_ERROR_MAJOR - CEED_ERROR_UNSUPPORTED] = "generic major error",
    [CEED_ERROR_SUCCESS - CEED_ERROR_UNSUPPORTED] = "success",
    [CEED_ERROR_MINOR - CEED_ERROR_UNSUPPORTED] = "generic minor error",
    [CEED_ERROR_DIMENSION - CEED_ERROR_UNSUPPORTED] = "dimension mismatch",
    [CEED_ERROR_INCOMPLETE - CEED_ERROR_UNSUPPORTED] = "object setup incomplete",
    [CEED_ERROR_INCOMPATIBLE - CEED_ERROR_UNSUPPORTED] = "incompatible arguments",
    [CEED_ERROR_ACCESS - CEED_ERROR_UNSUPPORTED] = "access lock in use",
};
const char *const *CeedErrorTypes = error_names - CEED_ERROR_UNSUPPORTED;

static CeedRequest request_immediate, request_ordered;
CeedRequest *const CEED_REQUEST_IMMEDIATE = &request_immediate;
CeedRequest *const CEED_REQUEST_ORDERED = &request_ordered;

#define SENTINEL(type, place) (type)(void *) & ritz_sentinels[place]
#define ASSERT_ROOM_FOR(type)                                                                                \
  _Static_assert(sizeof(struct type##_private) <= sizeof(RitzSentinelPlace), #type " fits a sentinel's "     \
                                                                                   "place")
ASSERT_ROOM_FOR(CeedVector);
ASSERT_ROOM_FOR(CeedElemRestriction);
ASSERT_ROOM_FOR(CeedBasis);
ASSERT_ROOM_FOR(CeedQFunction);

const CeedVector CEED_VECTOR_ACTIVE = SENTINEL(CeedVector, RITZ_VECTOR_ACTIVE);
const CeedVector CEED_VECTOR_NONE = SENTINEL(CeedVector, RITZ_VECTOR_NONE);
const CeedElemRestriction CEED_ELEMRESTRICTION_NONE = SENTINEL(CeedElemRestriction, RITZ_RESTRICTION_NONE);
const CeedBasis CEED_BASIS_NONE = SENTINEL(CeedBasis, RITZ_BASIS_NONE);
const CeedQFunction CEED_QFUNCTION_NONE = SENTINEL(CeedQFunction, RITZ_QFUNCTION_NONE);
const CeedInt CEED_STRIDES_BACKEND[3] = {0, 0, 0};

const char *ritz_operator_precisions(CeedOperator op) {
  static const char *const names[2][2][2] = {
      {{"FP32", "FP32, FP32 to FP64"}, {"FP32, FP64 to FP32", "FP32, FP64 to FP64"}},
      {{"FP64, FP32 to FP32", "FP64, FP32 to FP64"}, {"FP64, FP64 to FP32", "FP64"}}};
  const bool is_in_scalars = op->precision == CEED_SCALAR_TYPE &&
                             op->active_precision[0] == CEED_SCALAR_TYPE &&
                             op->active_precision[1] == CEED_SCALAR_TYPE;
  return is_in_scalars ? NULL
                       : names[op->precision == CEED_SCALAR_FP64][op->active_precision[0] == CEED_SCALAR_FP64]
                              [op->active_precision[1] == CEED_SCALAR_FP64];
}
