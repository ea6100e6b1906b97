// SPDX-License-Identifier: BSD-2-Clause
// What an apply does to vectors: overwriting and adding, active and passive, no elements, input in
// write-protected memory, and failures, after which everything works again. Composites:
// tests/test-composite.c.
#include "tests/small-operator.h"
#include "tests/tap.h"

#include "base/memory.h"
#include <sys/mman.h>
#include <unistd.h>

// ---- Overwriting and adding ----

TEST_EACH_BACKEND(apply_overwrites_whole_vectors) {
  Twice t;

  OPEN_TWICE(ceed, &t);
  for (int i = 0; i < 2; i++) {
    CHECK_OK(CeedOperatorApply(t.op, t.small.u, t.v, CEED_REQUEST_IMMEDIATE));
    CHECK_HOLDS(t.v, TWICE_V, 0, 0);
    CHECK_HOLDS(t.s, TWICE_S, 0);
  }
  CHECK_HOLDS(t.small.u, 1, 10, 100);
  close_twice(&t);
}

TEST_EACH_BACKEND(apply_needs_no_values_in_its_outputs) {
  Twice t;
  CeedVector v = vector_of(ceed, SMALL_NODES, NULL), s = vector_of(ceed, SMALL_POINTS, NULL);

  OPEN_TWICE(ceed, &t);
  CeedOperator op = twice_operator(ceed, &t.small, CEED_VECTOR_ACTIVE, CEED_VECTOR_ACTIVE, s);
  CHECK_OK(CeedOperatorApply(op, t.small.u, v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(v, TWICE_V);
  CHECK_HOLDS(s, TWICE_S);
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedVectorDestroy(&v));
  CHECK_OK(CeedVectorDestroy(&s));
  close_twice(&t);
}

TEST_EACH_BACKEND(apply_add_adds_to_active_and_passive_outputs) {
  Twice t;

  OPEN_TWICE(ceed, &t);
  CHECK_OK(CeedOperatorApplyAdd(t.op, t.small.u, t.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(t.v, 9, 47, 207, 7, 7);
  CHECK_HOLDS(t.s, 8, 17, 17, 107, 7);
  close_twice(&t);
}

TEST_EACH_BACKEND(apply_add_active_overwrites_passive_outputs) {
  Twice t;

  OPEN_TWICE(ceed, &t);
  CHECK_OK(CeedOperatorApplyAddActive(t.op, t.small.u, t.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(t.v, 9, 47, 207, 7, 7);
  CHECK_HOLDS(t.s, TWICE_S, 0);
  close_twice(&t);
}

TEST_EACH_BACKEND(adding_needs_values_in_the_outputs) {
  Twice t;
  CeedVector empty = vector_of(ceed, SMALL_NODES, NULL), s = vector_of(ceed, SMALL_POINTS, NULL);

  OPEN_TWICE(ceed, &t);
  CHECK_OK(CeedOperatorSetName(t.op, "twice"));
  CHECK_ERROR(
      ceed, CeedOperatorApplyAdd(t.op, t.small.u, empty, CEED_REQUEST_IMMEDIATE), CEED_ERROR_BACKEND,
      "CeedOperatorApplyAdd: active output field 'v' of operator 'twice': CeedVector has no valid data");
  CHECK_ERROR(ceed, CeedOperatorApplyAddActive(t.op, t.small.u, empty, CEED_REQUEST_IMMEDIATE),
              CEED_ERROR_BACKEND, "no valid data");
  CeedOperator op = twice_operator(ceed, &t.small, CEED_VECTOR_ACTIVE, CEED_VECTOR_ACTIVE, s);
  CHECK_OK(CeedOperatorSetName(op, "twice"));
  CHECK_ERROR(ceed, CeedOperatorApplyAdd(op, t.small.u, t.v, CEED_REQUEST_IMMEDIATE), CEED_ERROR_BACKEND,
              "CeedOperatorApplyAdd: output field 's' of operator 'twice': CeedVector has no valid data");
  CHECK_OK(CeedOperatorApplyAddActive(op, t.small.u, t.v, CEED_REQUEST_IMMEDIATE)); // zeroes the passive one
  CHECK_HOLDS(s, TWICE_S);
  CHECK_OK(CeedOperatorApply(t.op, t.small.u, t.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(t.v, TWICE_V);
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedVectorDestroy(&empty));
  CHECK_OK(CeedVectorDestroy(&s));
  close_twice(&t);
}

// Which field of which operator lacks values, also within a composite and after CeedOperatorSetName.
TEST_EACH_BACKEND(inputs_without_values_are_named) {
  Twice t;
  CeedVector empty = vector_of(ceed, SMALL_NODES, NULL);
  CeedOperator composite = NULL;

  OPEN_TWICE(ceed, &t);
  CHECK_OK(CeedOperatorSetName(t.op, "twice"));
  CHECK_ERROR(ceed, CeedOperatorApply(t.op, empty, t.v, CEED_REQUEST_IMMEDIATE), CEED_ERROR_BACKEND,
              "CeedOperatorApply: active input field 'u' of operator 'twice': CeedVector has no valid data");
  CeedOperator op = twice_operator(ceed, &t.small, empty, CEED_VECTOR_ACTIVE, t.s);
  CHECK_OK(CeedOperatorSetName(op, "load"));
  CHECK_ERROR(ceed, CeedOperatorApply(op, CEED_VECTOR_NONE, t.v, CEED_REQUEST_IMMEDIATE), CEED_ERROR_BACKEND,
              "CeedOperatorApply: input field 'u' of operator 'load': CeedVector has no valid data");
  CHECK_OK(CeedOperatorCreateComposite(ceed, &composite));
  CHECK_OK(CeedOperatorCompositeAddSub(composite, op));
  CHECK_ERROR(ceed, CeedOperatorApply(composite, CEED_VECTOR_NONE, t.v, CEED_REQUEST_IMMEDIATE),
              CEED_ERROR_BACKEND, "input field 'u' of operator 'load': CeedVector has no valid data");
  CHECK_ERROR(ceed, CeedVectorAXPY(t.small.u, 1, empty), CEED_ERROR_BACKEND,
              "CeedVectorAXPY: x: CeedVector has no valid data");
  CHECK_ERROR(ceed, CeedVectorAXPY(empty, 1, t.small.u), CEED_ERROR_BACKEND,
              "CeedVectorAXPY: y: CeedVector has no valid data");
  CHECK_ERROR(ceed,
              CeedElemRestrictionApply(t.small.rstr_u, CEED_TRANSPOSE, t.small.qd, empty,
                                       CEED_REQUEST_IMMEDIATE),
              CEED_ERROR_BACKEND, "CeedElemRestrictionApply: ru: CeedVector has no valid data");
  CHECK_ERROR(ceed, CeedBasisApply(t.small.basis, 1, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, empty, t.small.v),
              CEED_ERROR_BACKEND, "CeedBasisApply: u: CeedVector has no valid data");
  CHECK_ERROR(ceed,
              CeedQFunctionApply(t.small.qf, 2, (CeedVector[]){t.small.u, empty, t.small.qd}, &t.small.v),
              CEED_ERROR_BACKEND, "CeedQFunctionApply: input field 'qd': CeedVector has no valid data");
  CHECK_OK(CeedOperatorDestroy(&composite));
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedVectorDestroy(&empty));
  close_twice(&t);
}

TEST_EACH_BACKEND(an_operator_may_be_passive_altogether) {
  Twice t;
  const CeedVector none = CEED_VECTOR_NONE;
  CeedVector u = vector_of(ceed, SMALL_NODES + 1, (CeedScalar[]){1, 10, 100, 1000}); // longer than needed

  OPEN_TWICE(ceed, &t);
  CeedOperator op = twice_operator(ceed, &t.small, u, t.v, t.s);
  CeedSize in = 0, out = 0;
  CHECK_OK(CeedOperatorGetActiveVectorLengths(op, &in, &out));
  CHECK(in == -1 && out == -1, "%td, %td", in, out);
  CHECK_OK(CeedOperatorApply(op, none, none, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(t.v, TWICE_V, 0, 0);
  CHECK_OK(CeedOperatorApplyAddActive(op, none, none, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(t.v, TWICE_V, 0, 0);
  CHECK_OK(CeedOperatorApplyAdd(op, none, none, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(t.v, 4, 80, 400, 0, 0);
  CHECK_HOLDS(t.s, 2, 20, 20, 200, 0);
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedVectorDestroy(&u));
  close_twice(&t);
}

// An active and a passive output in one vector, and two passive ones: plain sums.
TEST_EACH_BACKEND(outputs_in_one_vector_are_summed) {
  Small small;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;

  SMALL_OPEN(ceed, &small);
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, SmallTwice, SmallTwice_loc, &qf));
  CHECK_OK(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedQFunctionAddOutput(qf, "a", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedQFunctionAddOutput(qf, "b", 1, CEED_EVAL_INTERP));
  for (int num_passive = 1; num_passive <= 2; num_passive++) {
    CeedVector a = num_passive == 2 ? small.v : CEED_VECTOR_ACTIVE;
    CHECK_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
    CHECK_OK(CeedOperatorSetField(op, "u", small.rstr_u, small.basis, CEED_VECTOR_ACTIVE));
    CHECK_OK(CeedOperatorSetField(op, "a", small.rstr_u, small.basis, a));
    CHECK_OK(CeedOperatorSetField(op, "b", small.rstr_u, small.basis, small.v));
    CHECK_OK(CeedOperatorApply(op, small.u, num_passive == 2 ? CEED_VECTOR_NONE : small.v,
                               CEED_REQUEST_IMMEDIATE));
    CHECK_HOLDS(small.v, 3, 60, 300);
    CHECK_OK(CeedOperatorDestroy(&op));
  }
  CHECK_OK(CeedQFunctionDestroy(&qf));
  small_close(&small);
}

TEST_EACH_BACKEND(a_passive_input_may_be_the_active_one_too) {
  Small small;
  CeedOperator op = NULL;
  CeedElemRestriction rstr = NULL;
  CeedVector both = vector_of(ceed, SMALL_POINTS, (CeedScalar[]){1, 2, 3, 4});

  SMALL_OPEN(ceed, &small);
  CHECK_OK(CeedElemRestrictionCreate(ceed, SMALL_ELEM, SMALL_P, 1, 1, SMALL_POINTS, CEED_MEM_HOST,
                                     CEED_COPY_VALUES, small_offsets, &rstr));
  CHECK_OK(CeedOperatorCreate(ceed, small.qf, NULL, NULL, &op));
  CHECK_OK(CeedOperatorSetField(op, "u", rstr, small.basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(op, "qd", small.rstr_q, CEED_BASIS_NONE, both));
  CHECK_OK(CeedOperatorSetField(op, "w", CEED_ELEMRESTRICTION_NONE, small.basis, CEED_VECTOR_NONE));
  CHECK_OK(CeedOperatorSetField(op, "v", small.rstr_u, small.basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorApply(op, both, small.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(small.v, 1 * 1 * 1, 2 * 2 * 2 + 2 * 3 * 1, 3 * 4 * 2);
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedElemRestrictionDestroy(&rstr));
  CHECK_OK(CeedVectorDestroy(&both));
  small_close(&small);
}

TEST_EACH_BACKEND(changes_of_passive_vectors_are_seen) {
  Small small;
  CeedScalar *array = NULL;

  SMALL_OPEN(ceed, &small);
  SMALL_CHECK_WORKS(&small);
  CHECK_OK(CeedVectorGetArray(small.qd, CEED_MEM_HOST, &array));
  array[0] = 5;
  CHECK_OK(CeedVectorRestoreArray(small.qd, &array));
  CHECK_OK(CeedOperatorApply(small.op, small.u, small.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(small.v, 5, 70, 800);
  CHECK_OK(CeedVectorSetValue(small.qd, 1));
  CHECK_OK(CeedOperatorApply(small.op, small.u, small.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(small.v, 1, 30, 200);
  small_close(&small);
}

TEST_EACH_BACKEND(requests_are_completed) {
  Small small;
  CeedRequest request = (CeedRequest)&request;

  SMALL_OPEN(ceed, &small);
  CHECK_OK(CeedOperatorApply(small.op, small.u, small.v, &request));
  CHECK(request == NULL, "not completed");
  CHECK_OK(CeedRequestWait(&request));
  CHECK_OK(CeedOperatorApplyAdd(small.op, small.u, small.v, CEED_REQUEST_ORDERED));
  CHECK_HOLDS(small.v, 2, 140, 1600);
  small_close(&small);
}

// ---- No elements ----

TEST_EACH_BACKEND(without_elements_outputs_are_still_zeroed) {
  Twice t;
  CeedElemRestriction rstr = NULL, rstr_q = NULL;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;

  OPEN_TWICE(ceed, &t);
  CHECK_OK(CeedElemRestrictionCreate(ceed, 0, SMALL_P, 1, 1, SMALL_NODES, CEED_MEM_HOST, CEED_COPY_VALUES,
                                     NULL, &rstr));
  CHECK_OK(CeedElemRestrictionCreateStrided(ceed, 0, SMALL_Q, 1, 0, CEED_STRIDES_BACKEND, &rstr_q));
  CHECK_OK(CeedOperatorGetQFunction(t.op, &qf));
  CHECK_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  CHECK_OK(CeedOperatorSetField(op, "u", rstr, t.small.basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(op, "v", rstr, t.small.basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(op, "s", rstr_q, CEED_BASIS_NONE, t.s));
  CHECK_OK(CeedOperatorApplyAdd(op, t.small.u, t.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(t.v, 7, 7, 7, 7, 7);
  CHECK_HOLDS(t.s, 7, 7, 7, 7, 7);
  CHECK_OK(CeedOperatorApplyAddActive(op, t.small.u, t.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(t.v, 7, 7, 7, 7, 7);
  CHECK_HOLDS(t.s, 0, 0, 0, 0, 0);
  CHECK_OK(CeedVectorSetValue(t.s, 7));
  CHECK_OK(CeedOperatorApply(op, t.small.u, t.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(t.v, 0, 0, 0, 0, 0);
  CHECK_HOLDS(t.s, 0, 0, 0, 0, 0);
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedQFunctionDestroy(&qf));
  CHECK_OK(CeedElemRestrictionDestroy(&rstr));
  CHECK_OK(CeedElemRestrictionDestroy(&rstr_q));
  close_twice(&t);
}

// ---- Failures ----

TEST_EACH_BACKEND(vectors_that_do_not_fit_are_refused) {
  Twice t;
  CeedVector two = vector_of(ceed, 2, (CeedScalar[]){1, 1}), empty = vector_of(ceed, SMALL_NODES, NULL),
             short_s = vector_of(ceed, SMALL_POINTS - 1, NULL);

  OPEN_TWICE(ceed, &t);
#define REFUSED(code, in, out, fragment)                                                                     \
  CHECK_ERROR(ceed, CeedOperatorApply(t.op, in, out, CEED_REQUEST_IMMEDIATE), code, fragment);               \
  CHECK_ERROR(ceed, CeedOperatorApplyAdd(t.op, in, out, CEED_REQUEST_IMMEDIATE), code, fragment);            \
  CHECK_ERROR(ceed, CeedOperatorApplyAddActive(t.op, in, out, CEED_REQUEST_IMMEDIATE), code, fragment)
  REFUSED(CEED_ERROR_BACKEND, two, t.v, "'u'");
  REFUSED(CEED_ERROR_BACKEND, t.small.u, two, "'v'");
  REFUSED(CEED_ERROR_BACKEND, empty, t.v, "no valid data");
  REFUSED(CEED_ERROR_INCOMPATIBLE, NULL, t.v, "CEED_VECTOR_NONE");
  REFUSED(CEED_ERROR_INCOMPATIBLE, t.small.u, NULL, "CEED_VECTOR_NONE");
  REFUSED(CEED_ERROR_INCOMPATIBLE, CEED_VECTOR_NONE, t.v, "'u'");
  REFUSED(CEED_ERROR_INCOMPATIBLE, t.small.u, CEED_VECTOR_NONE, "'v'");
  REFUSED(CEED_ERROR_INCOMPATIBLE, CEED_VECTOR_ACTIVE, t.v, "CEED_VECTOR_ACTIVE");
  REFUSED(CEED_ERROR_INCOMPATIBLE, t.small.u, CEED_VECTOR_ACTIVE, "CEED_VECTOR_ACTIVE");
  REFUSED(CEED_ERROR_INCOMPATIBLE, t.small.u, t.small.u, "same vector");
#undef REFUSED
  CeedOperator op = twice_operator(ceed, &t.small, CEED_VECTOR_ACTIVE, CEED_VECTOR_ACTIVE, short_s);
  CHECK_ERROR(ceed, CeedOperatorApply(op, t.small.u, t.v, CEED_REQUEST_IMMEDIATE), CEED_ERROR_BACKEND, "'s'");
  CHECK_OK(CeedOperatorApply(t.op, t.small.u, t.v, CEED_REQUEST_IMMEDIATE)); // nobody holds anything
  CHECK_HOLDS(t.v, TWICE_V);
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedVectorDestroy(&two));
  CHECK_OK(CeedVectorDestroy(&empty));
  CHECK_OK(CeedVectorDestroy(&short_s));
  close_twice(&t);
}

// A sentinel where nothing is active: refused, not used.
TEST_EACH_BACKEND(the_active_sentinel_is_no_vector) {
  Twice t;

  OPEN_TWICE(ceed, &t);
  CeedOperator op = twice_operator(ceed, &t.small, t.small.u, t.v, t.s);
  CHECK_ERROR(ceed, CeedOperatorApply(op, CEED_VECTOR_NONE, CEED_VECTOR_ACTIVE, CEED_REQUEST_IMMEDIATE),
              CEED_ERROR_INCOMPATIBLE, "CEED_VECTOR_ACTIVE");
  CHECK_ERROR(ceed, CeedOperatorApply(op, CEED_VECTOR_ACTIVE, CEED_VECTOR_NONE, CEED_REQUEST_IMMEDIATE),
              CEED_ERROR_INCOMPATIBLE, "CEED_VECTOR_ACTIVE");
  CHECK_OK(CeedOperatorDestroy(&op));
  close_twice(&t);
}

// An input of mode INTERP without a vector is found out when it is needed.
TEST_EACH_BACKEND(a_field_without_a_vector_is_refused_in_apply) {
  Twice t;

  OPEN_TWICE(ceed, &t);
  CeedOperator op = twice_operator(ceed, &t.small, CEED_VECTOR_NONE, CEED_VECTOR_ACTIVE, t.s);
  CHECK(op, "no operator");
  CHECK_ERROR(ceed, CeedOperatorApply(op, CEED_VECTOR_NONE, t.v, CEED_REQUEST_IMMEDIATE),
              CEED_ERROR_INCOMPATIBLE, "'u'");
  CHECK_OK(CeedOperatorDestroy(&op));
  close_twice(&t);
}

TEST_EACH_BACKEND(vectors_that_are_lent_out_stop_an_apply) {
  Twice t;
  CeedScalar *array = NULL;
  const CeedScalar *read = NULL;
  CeedVector *vectors[3];

  OPEN_TWICE(ceed, &t);
  vectors[0] = &t.small.u, vectors[1] = &t.v, vectors[2] = &t.s;
  for (int i = 0; i < 3; i++) {
    CHECK_OK(CeedVectorGetArray(*vectors[i], CEED_MEM_HOST, &array));
    CHECK_ERROR(ceed, CeedOperatorApply(t.op, t.small.u, t.v, CEED_REQUEST_IMMEDIATE), CEED_ERROR_BACKEND,
                "access lock");
    CHECK_ERROR(ceed, CeedOperatorApplyAdd(t.op, t.small.u, t.v, CEED_REQUEST_IMMEDIATE), CEED_ERROR_BACKEND,
                "access lock");
    CHECK_OK(CeedVectorRestoreArray(*vectors[i], &array));
  }
  for (int i = 1; i < 3; i++) {
    CHECK_OK(CeedVectorGetArrayRead(*vectors[i], CEED_MEM_HOST, &read));
    CHECK_ERROR(ceed, CeedOperatorApply(t.op, t.small.u, t.v, CEED_REQUEST_IMMEDIATE), CEED_ERROR_BACKEND,
                "read access");
    CHECK_OK(CeedVectorRestoreArrayRead(*vectors[i], &read));
  }
  CHECK_OK(CeedVectorGetArrayRead(t.small.u, CEED_MEM_HOST, &read)); // an input may have other readers
  CHECK_OK(CeedOperatorApply(t.op, t.small.u, t.v, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedVectorRestoreArrayRead(t.small.u, &read));
  CHECK_HOLDS(t.v, TWICE_V);
  close_twice(&t);
}

TEST_EACH_BACKEND(a_vector_cannot_be_passive_input_and_output) {
  Twice t;
  CeedVector both = vector_of(ceed, SMALL_NODES, small_u);

  OPEN_TWICE(ceed, &t);
  CeedOperator op = twice_operator(ceed, &t.small, both, both, t.s);
  CHECK_ERROR(ceed, CeedOperatorApply(op, CEED_VECTOR_NONE, CEED_VECTOR_NONE, CEED_REQUEST_IMMEDIATE),
              CEED_ERROR_BACKEND, "Cannot grant");
  CHECK_OK(CeedVectorSetValue(both, 1)); // nobody holds it
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedVectorDestroy(&both));
  close_twice(&t);
}

TEST_EACH_BACKEND(codes_of_the_callers_function_come_back) {
  const int codes[][2] = {{1, CEED_ERROR_BACKEND}, {9, CEED_ERROR_BACKEND}, {-1, -1}, {-3, -3}, {-70, -70}};
  Twice t;

  if (has_device_memory(ceed)) NOT_FOR_THIS_BACKEND("devices ignore the code");
  OPEN_TWICE(ceed, &t);
  for (int i = 0; i < 5; i++) {
    twice_code = codes[i][0];
    int code = CeedOperatorApply(t.op, t.small.u, t.v, CEED_REQUEST_IMMEDIATE);
    twice_code = 0;
    CHECK(code == codes[i][1], "%d gives %d", codes[i][0], code);
  }
  CHECK_OK(CeedOperatorApply(t.op, t.small.u, t.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(t.v, TWICE_V);
  close_twice(&t);
}

// After a failed apply: all that was there, or nothing, and reading says why.
static void check_failed(CeedVector vec, CeedSize n, bool keeps) {
  const CeedScalar *array = NULL;
  bool is_valid;

  CHECK_OK(CeedVectorHasValidArray(vec, &is_valid));
  CHECK(is_valid || !keeps, "a vector that was not written to has lost its values");
  if (!is_valid) {
    CHECK_ERROR(CeedVectorReturnCeed(vec), CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &array),
                CEED_ERROR_BACKEND, "no valid data, because an action that writes to it failed");
    return;
  }
  CHECK_OK(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &array));
  for (CeedSize i = 0; i < n; i++) CHECK_NEAR(array[i], 7.0, 0, "entry %d", (int)i);
  CHECK_OK(CeedVectorRestoreArrayRead(vec, &array));
}

TEST_EACH_BACKEND(an_apply_that_fails_leaves_what_was_there_or_nothing) {
  int (*const applies[])(CeedOperator, CeedVector, CeedVector, CeedRequest *) = {
      CeedOperatorApply, CeedOperatorApplyAdd, CeedOperatorApplyAddActive};
  Twice t;
  int num_failed = 0;

  OPEN_TWICE(ceed, &t);
  for (int n = 1, k = 0; n < 2000; n += 1 + n / 4, k++) {
    CHECK_OK(CeedVectorSetValue(t.v, 7));
    CHECK_OK(CeedVectorSetValue(t.s, 7));
    ritz_memory_fail_at(n);
    const int ierr = applies[k % 3](t.op, t.small.u, t.v, CEED_REQUEST_IMMEDIATE);
    ritz_memory_fail_at(0);
    if (!ierr) continue;
    num_failed++;
    check_failed(t.v, SMALL_NODES + 2, false);
    if (!tap_failed()) check_failed(t.s, SMALL_POINTS + 1, false);
    if (tap_failed()) return;
  }
  CHECK(num_failed > 0, "nothing failed");
  CHECK_OK(CeedOperatorApply(t.op, t.small.u, t.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(t.v, TWICE_V);
  CHECK_HOLDS(t.s, TWICE_S);
  close_twice(&t);
}

// What the function says is noticed when outputs are zeros already, or half of the sum.
TEST_EACH_BACKEND(outputs_of_a_function_that_fails_are_not_taken_for_results) {
  Twice t;

  if (has_device_memory(ceed)) NOT_FOR_THIS_BACKEND("devices ignore the code");
  OPEN_TWICE(ceed, &t);
  twice_code = -1;
  const int code = CeedOperatorApply(t.op, t.small.u, t.v, CEED_REQUEST_IMMEDIATE);
  twice_code = 0;
  CHECK(code == -1, "code %d", code);
  check_failed(t.v, SMALL_NODES + 2, false);
  if (!tap_failed()) check_failed(t.s, SMALL_POINTS + 1, false);
  if (tap_failed()) return;
  CHECK_ERROR(ceed, CeedOperatorApplyAdd(t.op, t.small.u, t.v, CEED_REQUEST_IMMEDIATE), CEED_ERROR_BACKEND,
              "no valid data");
  CHECK_OK(CeedOperatorApply(t.op, t.small.u, t.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(t.v, TWICE_V);
  close_twice(&t);
}

// Arguments that are refused touch nothing.
TEST_EACH_BACKEND(a_refused_apply_leaves_the_outputs) {
  Twice t;

  OPEN_TWICE(ceed, &t);
  CHECK_OK(CeedVectorSetValue(t.v, 7));
  CHECK_OK(CeedVectorSetValue(t.s, 7));
  CHECK_ERROR(ceed, CeedOperatorApply(t.op, t.v, t.v, CEED_REQUEST_IMMEDIATE), CEED_ERROR_INCOMPATIBLE,
              "same");
  check_failed(t.v, SMALL_NODES + 2, true);
  if (!tap_failed()) check_failed(t.s, SMALL_POINTS + 1, true);
  if (!tap_failed()) close_twice(&t);
}

TEST_EACH_BACKEND(a_context_that_is_lent_out_stops_an_apply) {
  Small small;
  CeedQFunctionContext ctx = NULL;
  double factor = 3, *data = NULL;
  const double *read = NULL;

  SMALL_OPEN(ceed, &small);
  CHECK_OK(CeedQFunctionContextCreate(ceed, &ctx));
  CHECK_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_USE_POINTER, sizeof(factor), &factor));
  CHECK_OK(CeedQFunctionSetContext(small.qf, ctx));
  CHECK_OK(CeedOperatorApply(small.op, small.u, small.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(small.v, 3, 210, 2400);
  CHECK_OK(CeedQFunctionContextGetDataRead(ctx, CEED_MEM_HOST, &read));
  CHECK_ERROR(ceed, CeedOperatorApply(small.op, small.u, small.v, CEED_REQUEST_IMMEDIATE), CEED_ERROR_BACKEND,
              "a process has read access");
  CHECK_OK(CeedQFunctionSetContextWritable(small.qf, false)); // readers do not mind readers
  CHECK_OK(CeedOperatorApply(small.op, small.u, small.v, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedQFunctionContextRestoreDataRead(ctx, &read));
  CHECK_OK(CeedQFunctionContextGetData(ctx, CEED_MEM_HOST, &data));
  CHECK_ERROR(ceed, CeedOperatorApply(small.op, small.u, small.v, CEED_REQUEST_IMMEDIATE), CEED_ERROR_BACKEND,
              "access lock");
  CHECK_OK(CeedQFunctionContextRestoreData(ctx, &data));
  CHECK_OK(CeedQFunctionSetContext(small.qf, NULL));
  SMALL_CHECK_WORKS(&small);
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
  small_close(&small);
}

// ---- Input that cannot be written ----

// A page that begins with small_u and can only be read; NULL when there is none to be had.
static CeedScalar *protected_input(size_t *size) {
  FILE *file = tmpfile();
  *size = (size_t)sysconf(_SC_PAGESIZE);
  if (!file) return NULL;
  bool is_written = fwrite(small_u, sizeof(small_u), 1, file) == 1 && !fflush(file) &&
                    !ftruncate(fileno(file), (off_t)*size);
  CeedScalar *page =
      is_written ? mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fileno(file), 0) : (CeedScalar *)MAP_FAILED;

  fclose(file); // the mapping stays
  return page == MAP_FAILED ? NULL : page;
}

// As a program does that has a constant array: the pointer loses its const, the library must not write.
TEST_EACH_BACKEND(active_and_passive_input_may_lie_in_write_protected_memory) {
  Twice t;
  size_t size = 0;
  CeedScalar *page = protected_input(&size), *taken = NULL;
  CeedVector u = vector_of(ceed, SMALL_NODES, NULL);
  CeedOperator composite = NULL;

  CHECK(page, "no protected page");
  OPEN_TWICE(ceed, &t);
  CHECK_OK(CeedVectorSetArray(u, CEED_MEM_HOST, CEED_USE_POINTER, page));
  CHECK_OK(CeedOperatorApply(t.op, u, t.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(t.v, TWICE_V);
  CHECK_OK(CeedOperatorCreateComposite(ceed, &composite));
  CHECK_OK(CeedOperatorCompositeAddSub(composite, t.op));
  CHECK_OK(CeedOperatorCompositeAddSub(composite, t.small.op));
  CHECK_OK(CeedOperatorApply(composite, u, t.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(t.v, 3, 110, 1000);
  CHECK_OK(CeedOperatorApplyAdd(composite, u, t.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(t.v, 6, 220, 2000);
  CeedOperator passive = twice_operator(ceed, &t.small, u, CEED_VECTOR_ACTIVE, t.s);
  CHECK_OK(CeedOperatorApply(passive, CEED_VECTOR_NONE, t.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(t.v, TWICE_V);
  CHECK_OK(CeedOperatorDestroy(&passive));
  CHECK_OK(CeedVectorTakeArray(u, CEED_MEM_HOST, &taken));
  CHECK(taken == page && !memcmp(page, small_u, sizeof(small_u)), "the input changes");
  CHECK_OK(CeedOperatorDestroy(&composite));
  CHECK_OK(CeedVectorDestroy(&u));
  close_twice(&t);
  munmap(page, size);
}

TEST_EACH_BACKEND(parts_of_an_operator_read_write_protected_memory_too) {
  Small small;
  size_t size = 0;
  CeedScalar *page = protected_input(&size);
  CeedVector u = vector_of(ceed, SMALL_NODES, NULL), e_vec = vector_of(ceed, SMALL_ELEM * SMALL_P, NULL),
             points = vector_of(ceed, SMALL_Q, NULL), copy = vector_of(ceed, SMALL_NODES, NULL);
  CeedScalar norm = 0;

  CHECK(page, "no protected page");
  SMALL_OPEN(ceed, &small);
  CHECK_OK(CeedVectorSetArray(u, CEED_MEM_HOST, CEED_USE_POINTER, page));
  CHECK_OK(CeedElemRestrictionApply(small.rstr_u, CEED_NOTRANSPOSE, u, e_vec, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(e_vec, 1, 10, 10, 100);
  CHECK_OK(CeedBasisApply(small.basis, 1, CEED_NOTRANSPOSE, CEED_EVAL_GRAD, u, points));
  CHECK_HOLDS(points, 9, 9);
  CHECK_OK(CeedVectorNorm(u, CEED_NORM_1, &norm));
  CHECK(norm == 111, "%g", (double)norm);
  CHECK_OK(CeedVectorCopy(u, copy));
  CHECK_OK(CeedVectorAXPY(copy, 1, u));
  CHECK_OK(CeedVectorPointwiseMult(copy, copy, u));
  CHECK_HOLDS(copy, 2, 200, 20000);
  CeedVector *all[] = {&u, &e_vec, &points, &copy};
  for (int i = 0; i < 4; i++) CHECK_OK(CeedVectorDestroy(all[i]));
  small_close(&small);
  munmap(page, size);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(apply_overwrites_whole_vectors, apply_needs_no_values_in_its_outputs,
                        apply_add_adds_to_active_and_passive_outputs,
                        apply_add_active_overwrites_passive_outputs, adding_needs_values_in_the_outputs,
                        inputs_without_values_are_named, an_operator_may_be_passive_altogether,
                        outputs_in_one_vector_are_summed, a_passive_input_may_be_the_active_one_too,
                        changes_of_passive_vectors_are_seen, requests_are_completed,
                        without_elements_outputs_are_still_zeroed, vectors_that_do_not_fit_are_refused,
                        the_active_sentinel_is_no_vector, a_field_without_a_vector_is_refused_in_apply,
                        vectors_that_are_lent_out_stop_an_apply, a_vector_cannot_be_passive_input_and_output,
                        codes_of_the_callers_function_come_back,
                        an_apply_that_fails_leaves_what_was_there_or_nothing,
                        outputs_of_a_function_that_fails_are_not_taken_for_results,
                        a_refused_apply_leaves_the_outputs, a_context_that_is_lent_out_stops_an_apply,
                        active_and_passive_input_may_lie_in_write_protected_memory,
                        parts_of_an_operator_read_write_protected_memory_too));
}
