// SPDX-License-Identifier: BSD-2-Clause
// Copies of operators in another precision: they do what the operator does, share what they can, and convert
// a vector once.
#include "tests/precision-kit.h"

#include "core/core.h"
#include "tests/small-operator.h"
#include <string.h>

static int apply(CeedOperator op, CeedScalarType precision, CeedSize n, const double *u, double *v) {
  Ceed ceed = CeedOperatorReturnCeed(op);
  CeedVector x = precise_vector(ceed, precision, n, u), y = precise_vector(ceed, precision, n, NULL);
  int ierr = CeedOperatorApply(op, x, y, CEED_REQUEST_IMMEDIATE);
  if (!ierr) ierr = get_values(y, v);
  return ierr | CeedVectorDestroy(&x) | CeedVectorDestroy(&y);
}

static CeedVector passive(CeedOperator op, const char *name) {
  for (CeedInt i = 0; i < op->num_in + op->num_out; i++) {
    if (!strcmp(ritz_operator_field(op, i)->qf_field->name, name)) return ritz_operator_field(op, i)->vec;
  }
  return NULL;
}

// As good as the operator whose vectors and arithmetic were float from the start; the operator itself stays
// as it was.
TEST_EACH_BACKEND(copies_in_float_do_what_the_operator_does) {
  double u[KIT_MAX_SIZE], v[3][KIT_MAX_SIZE];
  kit_input(u);
  for (int i = 0; i < NUM_PRECISION_CASES; i++) {
    Oracle o;
    PrecisionKit k, floats;
    CeedOperator copy = NULL;
    CeedScalarType precision;
    CHECK_OK(oracle_of(&precision_cases[i], u, &o));
    CHECK_OK(kit_open(ceed, &precision_cases[i], CEED_SCALAR_TYPE, CEED_SCALAR_TYPE, &k));
    CHECK_OK(kit_open(ceed, &precision_cases[i], CEED_SCALAR_FP32, CEED_SCALAR_FP32, &floats));
    CHECK_OK(apply(k.op, CEED_SCALAR_TYPE, k.size, u, v[0]));
    CHECK_OK(RitzOperatorCopyInPrecision(k.op, CEED_SCALAR_FP32, &copy));
    CHECK_OK(RitzOperatorGetPrecision(copy, &precision));
    CHECK(precision == CEED_SCALAR_FP32, "%d", precision);
    CHECK_OK(apply(copy, CEED_SCALAR_FP32, k.size, u, v[1]));
    CHECK_OK(apply(floats.op, CEED_SCALAR_FP32, k.size, u, v[2]));
    CHECK(values_agree(k.size, v[1], o.v, kit_tolerance(&o)), "%s", precision_cases[i].function);
    CHECK(values_agree(k.size, v[1], v[2], kit_tolerance(&o)), "%s: made in float",
          precision_cases[i].function);
    CHECK_OK(CeedOperatorDestroy(&copy));
    CHECK_OK(apply(k.op, CEED_SCALAR_TYPE, k.size, u, v[1]));
    // The same kernel on the same data; threads may add in another order.
    CHECK(values_agree(k.size, v[1], v[0], 10 * (double)CEED_EPSILON * o.size),
          "%s: the operator has changed", precision_cases[i].function);
    CHECK_OK(kit_close(&k));
    CHECK_OK(kit_close(&floats));
  }
}

TEST_EACH_BACKEND(a_copy_in_the_same_precision_shares_all_vectors) {
  PrecisionKit k;
  CeedOperator copy = NULL;
  CHECK_OK(kit_open(ceed, &precision_cases[2], CEED_SCALAR_TYPE, CEED_SCALAR_TYPE, &k));
  CHECK_OK(CeedOperatorSetName(k.op, "stiffness"));
  CHECK_OK(RitzOperatorCopyInPrecision(k.op, CEED_SCALAR_TYPE, &copy));
  CHECK(copy != k.op && passive(copy, "qdata") == k.qdata, "the coefficient");
  CHECK(copy->name && !strcmp(copy->name, "stiffness"), "the name");
  CHECK(copy->qf == k.qf && copy->qf_data == k.op->qf_data, "QFunction and its assembled values");
  CHECK_OK(CeedOperatorDestroy(&copy));
  CHECK_OK(kit_close(&k));
}

// Two operators with one coefficient, the first of them twice.
TEST_EACH_BACKEND(sub_operators_share_converted_vectors) {
  if (NUM_PRECISIONS == 1) NOT_FOR_THIS_BACKEND("one precision");
  double u[KIT_MAX_SIZE], v[KIT_MAX_SIZE], wanted[KIT_MAX_SIZE];
  Oracle o;
  PrecisionKit k[2];
  CeedOperator composite = NULL, copy = NULL;
  kit_input(u);
  CHECK_OK(oracle_of(&precision_cases[0], u, &o));
  CHECK_OK(CeedOperatorCreateComposite(ceed, &composite));
  CHECK_OK(CeedOperatorCompositeSetSequential(composite, true));
  for (int i = 0; i < 2; i++)
    CHECK_OK(kit_open(ceed, &precision_cases[0], CEED_SCALAR_FP64, CEED_SCALAR_TYPE, &k[i]));
  CHECK_OK(CeedOperatorSetField(k[1].op, "qdata", k[1].rstr_q, CEED_BASIS_NONE, k[0].qdata));
  for (int i = 0; i < 3; i++) CHECK_OK(CeedOperatorCompositeAddSub(composite, k[i / 2].op));
  CHECK_OK(RitzOperatorCopyInPrecision(composite, CEED_SCALAR_FP32, &copy));
  CHECK(copy->num_sub == 3 && copy->sub[0] == copy->sub[1] && copy->sub[2] != copy->sub[0], "sub-operators");
  CHECK(copy->is_sequential, "the order of sub-operators");
  CeedVector first = passive(copy->sub[0], "qdata");
  CHECK(first != k[0].qdata && first->precision == CEED_SCALAR_FP32, "the coefficient is not in float");
  CHECK(passive(copy->sub[2], "qdata") == first, "the coefficient was converted twice");
  CHECK_OK(CeedOperatorDestroy(&composite));
  for (int i = 0; i < 2; i++) CHECK_OK(kit_close(&k[i])); // the copy stands alone
  CHECK_OK(apply(copy, CEED_SCALAR_FP32, KIT_NODES, u, v));
  for (CeedSize i = 0; i < KIT_NODES; i++) wanted[i] = 3 * o.v[i];
  CHECK(values_agree(KIT_NODES, v, wanted, 3 * kit_tolerance(&o)), "the sum");
  CHECK_OK(CeedOperatorDestroy(&copy));
}

// Packed data take the place of the host's array when an operator runs; to convert them does not bring it
// back.
TEST_EACH_BACKEND(converted_vectors_are_kept_once) {
  if (NUM_PRECISIONS == 1) NOT_FOR_THIS_BACKEND("one precision");
  double u[KIT_MAX_SIZE], v[KIT_MAX_SIZE];
  PrecisionKit k;
  CeedOperator copy = NULL;
  kit_input(u);
  CHECK_OK(kit_open(ceed, &precision_cases[0], CEED_SCALAR_TYPE, CEED_SCALAR_TYPE, &k));
  CHECK_OK(apply(k.op, CEED_SCALAR_TYPE, k.size, u, v));
  const bool had_host = ritz_storage_pointer(&k.qdata->storage, RITZ_REP_HOST) != NULL;
  CHECK_OK(RitzOperatorCopyInPrecision(k.op, CEED_SCALAR_FP32, &copy));
  const bool has_host = ritz_storage_pointer(&k.qdata->storage, RITZ_REP_HOST) != NULL;
  CHECK(had_host || !has_host, "the coefficient has got an array on the host");
  CHECK_OK(apply(k.op, CEED_SCALAR_TYPE, k.size, u, v));
  CHECK_OK(CeedOperatorDestroy(&copy));
  CHECK_OK(kit_close(&k));
}

// s = u at the points goes where the operator wrote it.
TEST_EACH_BACKEND(passive_outputs_are_shared) {
  const double u[3] = {1, 10, 100};
  double v[3], s[4];
  Small small;
  CeedOperator copy = NULL;
  SMALL_OPEN(ceed, &small);
  CeedVector s_vec = precise_vector(ceed, CEED_SCALAR_TYPE, 4, NULL);
  CeedOperator op = twice_operator(ceed, &small, CEED_VECTOR_ACTIVE, CEED_VECTOR_ACTIVE, s_vec);
  CHECK(op, "the operator");
  twice_code = 0;
  CHECK_OK(RitzOperatorCopyInPrecision(op, CEED_SCALAR_FP32, &copy));
  CHECK_OK(apply(copy, CEED_SCALAR_FP32, 3, u, v));
  CHECK_OK(get_values(s_vec, s));
  CHECK(v[0] == 2 && v[1] == 40 && v[2] == 200, "%g %g %g", v[0], v[1], v[2]);
  CHECK(s[0] == 1 && s[1] == 10 && s[2] == 10 && s[3] == 100, "%g %g %g %g", s[0], s[1], s[2], s[3]);
  CHECK_OK(CeedOperatorDestroy(&copy));
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedVectorDestroy(&s_vec));
  small_close(&small);
}

TEST_EACH_BACKEND(operators_that_cannot_be_copied_are_refused) {
  PrecisionKit k;
  Small small;
  CeedOperator copy = NULL, at_points = NULL, composite = NULL;
  SMALL_OPEN(ceed, &small);
  CHECK_ERROR(ceed, RitzOperatorCopyInPrecision(small.op, (CeedScalarType)7, &copy), CEED_ERROR_INCOMPATIBLE,
              "RitzOperatorCopyInPrecision: 7 is no precision");
  CHECK_OK(CeedOperatorCreateAtPoints(ceed, small.qf, NULL, NULL, &at_points));
  CHECK_OK(CeedOperatorSetName(at_points, "particles"));
  CHECK_OK(CeedOperatorCreateComposite(ceed, &composite));
  CHECK_OK(CeedOperatorCompositeAddSub(composite, at_points));
  CHECK_ERROR(ceed, RitzOperatorCopyInPrecision(composite, CEED_SCALAR_FP32, &copy), CEED_ERROR_UNSUPPORTED,
              "RitzOperatorCopyInPrecision: operator 'particles' is at points");
  CHECK_OK(CeedOperatorDestroy(&composite));
  CHECK_OK(CeedOperatorDestroy(&at_points));
  if (NUM_PRECISIONS == 2) {
    CHECK_OK(kit_open(ceed, &precision_cases[0], CEED_SCALAR_FP64, CEED_SCALAR_FP64, &k));
    CHECK_OK(CeedVectorDestroy(&k.qdata));
    k.qdata = precise_vector(ceed, CEED_SCALAR_FP64, k.num_qdata, NULL);
    CHECK_OK(CeedOperatorSetField(k.op, "qdata", k.rstr_q, CEED_BASIS_NONE, k.qdata));
    CHECK_ERROR(ceed, RitzOperatorCopyInPrecision(k.op, CEED_SCALAR_FP32, &copy), CEED_ERROR_BACKEND,
                "no valid data");
    CHECK_OK(kit_close(&k));
  } else {
    CHECK_ERROR(ceed, RitzOperatorCopyInPrecision(small.op, CEED_SCALAR_FP64, &copy), CEED_ERROR_UNSUPPORTED,
                "FP64");
  }
  CHECK(!copy, "something was handed out");
  small_close(&small);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(copies_in_float_do_what_the_operator_does,
                        a_copy_in_the_same_precision_shares_all_vectors,
                        sub_operators_share_converted_vectors, converted_vectors_are_kept_once,
                        passive_outputs_are_shared, operators_that_cannot_be_copied_are_refused));
}
