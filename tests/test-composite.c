// SPDX-License-Identifier: BSD-2-Clause
// Composite operators: their parts and lengths, multiplicities, and what an apply does to the vectors that
// the parts share. That composites are sums is tested in tests/test-operator.c.
#include "tests/small-operator.h"
#include "tests/tap.h"

// ---- Parts ----

TEST_EACH_BACKEND(a_composite_lists_its_parts) {
  enum { NUM = 2 * CEED_COMPOSITE_MAX }; // the standard's limit is not enforced
  Small s;
  CeedOperator composite = NULL, *list = NULL, found = NULL;
  CeedInt num = -1;
  bool flag = true;

  SMALL_OPEN(ceed, &s);
  CHECK_OK(CeedOperatorCreateComposite(ceed, &composite));
  CHECK_OK(CeedOperatorIsComposite(composite, &flag));
  CHECK(flag, "no composite");
  CHECK_OK(CeedOperatorIsAtPoints(composite, &flag));
  CHECK(!flag, "at points");
  CHECK_OK(CeedOperatorCompositeIsSequential(composite, &flag));
  CHECK(!flag, "sequential at first");
  CHECK_OK(CeedOperatorCompositeSetSequential(composite, true));
  CHECK_OK(CeedOperatorCompositeIsSequential(composite, &flag));
  CHECK(flag, "not sequential");
  CHECK_OK(CeedOperatorCompositeGetSubByName(composite, "SmallScale", &found));
  CHECK(found == NULL, "a part of an empty composite");
  for (int i = 0; i < NUM; i++) CHECK_OK(CeedOperatorCompositeAddSub(composite, s.op)); // one operator often
  CHECK_OK(CeedOperatorCompositeGetNumSub(composite, &num));
  CHECK_OK(CeedOperatorCompositeGetSubList(composite, &list));
  CHECK(num == NUM && list[0] == s.op && list[NUM - 1] == s.op, "%d parts", num);
  CHECK_OK(CeedOperatorCompositeGetSubByName(composite, "SmallScale", &found));
  CHECK(found == NULL, "the name of a QFunction is no name of a part");
  CHECK_OK(CeedOperatorSetName(s.op, "part"));
  CHECK_OK(CeedOperatorCompositeGetSubByName(composite, "part", &found));
  CHECK(found == s.op, "not found");
  CHECK_ERROR(ceed, CeedOperatorCompositeGetSubByName(composite, NULL, &found), CEED_ERROR_INCOMPATIBLE,
              "name");
  CHECK_OK(CeedOperatorApply(composite, s.u, s.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(s.v, NUM * 1, NUM * 70, NUM * 800);
  CHECK_OK(CeedOperatorDestroy(&composite));
  small_close(&s);
}

TEST_EACH_BACKEND(calls_for_the_other_kind_of_operator_are_refused) {
  Small s;
  CeedOperator composite = NULL, *list = NULL, found = NULL;
  CeedInt n;
  bool flag;
  CeedQFunction qf = NULL;
  CeedBasis basis = NULL;
  CeedElemRestriction rstr = NULL;
  CeedOperatorField field = NULL;

  SMALL_OPEN(ceed, &s);
  CHECK_OK(CeedOperatorCreateComposite(ceed, &composite));
#define REFUSED(call, function) CHECK_ERROR(ceed, call, CEED_ERROR_MINOR, function)
  REFUSED(CeedOperatorCompositeAddSub(s.op, s.op), "CeedOperatorCompositeAddSub");
  REFUSED(CeedOperatorCompositeGetNumSub(s.op, &n), "CeedOperatorCompositeGetNumSub");
  REFUSED(CeedOperatorCompositeGetSubList(s.op, &list), "CeedOperatorCompositeGetSubList");
  REFUSED(CeedOperatorCompositeGetSubByName(s.op, "u", &found), "CeedOperatorCompositeGetSubByName");
  REFUSED(CeedOperatorCompositeSetSequential(s.op, true), "CeedOperatorCompositeSetSequential");
  REFUSED(CeedOperatorCompositeIsSequential(s.op, &flag), "CeedOperatorCompositeIsSequential");
  REFUSED(CeedOperatorCompositeGetMultiplicity(s.op, 0, NULL, s.v), "CeedOperatorCompositeGetMultiplicity");
  REFUSED(CeedOperatorGetFields(composite, &n, NULL, &n, NULL), "CeedOperatorGetFields");
  REFUSED(CeedOperatorGetFieldByName(composite, "u", &field), "CeedOperatorGetFieldByName");
  REFUSED(CeedOperatorGetNumElements(composite, &n), "CeedOperatorGetNumElements");
  REFUSED(CeedOperatorGetNumQuadraturePoints(composite, &n), "CeedOperatorGetNumQuadraturePoints");
  REFUSED(CeedOperatorGetQFunction(composite, &qf), "CeedOperatorGetQFunction");
  REFUSED(CeedOperatorGetNumArgs(composite, &n), "CeedOperatorGetNumArgs");
  REFUSED(CeedOperatorGetActiveBasis(composite, &basis), "CeedOperatorGetActiveBasis");
  REFUSED(CeedOperatorGetActiveElemRestriction(composite, &rstr), "CeedOperatorGetActiveElemRestriction");
  REFUSED(CeedOperatorCompositeAddSub(composite, composite), "CeedOperatorCompositeAddSub");
#undef REFUSED
  SMALL_CHECK_WORKS(&s);
  CHECK_OK(CeedOperatorDestroy(&composite));
  small_close(&s);
}

TEST_EACH_BACKEND(lengths_of_a_composite_are_those_of_its_parts) {
  Small s;
  CeedElemRestriction longer = NULL;
  CeedOperator composite = NULL, other = NULL;
  CeedSize in = 5, out = 5;

  small_open_without_fields(ceed, &s);
  if (tap_failed()) return;
  CHECK_OK(CeedElemRestrictionCreate(ceed, 2, 2, 1, 1, 9, CEED_MEM_HOST, CEED_COPY_VALUES, small_offsets,
                                     &longer));
  CHECK_OK(CeedOperatorCreateComposite(ceed, &composite));
  CHECK_OK(CeedOperatorGetActiveVectorLengths(composite, &in, &out));
  CHECK(in == -1 && out == -1, "empty: %td, %td", in, out);
  CHECK_OK(CeedOperatorCheckReady(composite));
  CHECK_OK(CeedOperatorGetActiveVectorLengths(composite, &in, &out));
  CHECK(in == 0 && out == 0, "empty and ready: %td, %td", in, out);
  CHECK_OK(
      CeedOperatorCompositeAddSub(composite, s.op)); // a used composite takes parts, also unfinished ones
  CHECK_ERROR(ceed, CeedOperatorCheckReady(composite), CEED_ERROR_INCOMPLETE, "field");
  CHECK_OK(CeedOperatorGetActiveVectorLengths(composite, &in, &out));
  CHECK(in == -1 && out == -1, "without fields: %td, %td", in, out);
  CHECK_OK(small_set_fields(s.op, &s));
  CHECK_OK(CeedOperatorGetActiveVectorLengths(composite, &in, &out));
  CHECK(in == SMALL_NODES && out == SMALL_NODES, "%td, %td", in, out);
  CHECK_OK(CeedOperatorCreate(ceed, s.qf, NULL, NULL, &other));
  CHECK_OK(CeedOperatorSetField(other, "u", longer, s.basis, CEED_VECTOR_ACTIVE));
  CHECK_ERROR(ceed, CeedOperatorCompositeAddSub(composite, other), CEED_ERROR_MAJOR,
              "CeedOperatorCompositeAddSub");
  CeedInt num = 0;
  CHECK_OK(CeedOperatorCompositeGetNumSub(composite, &num));
  CHECK(num == 1, "%d parts", num);
  CHECK_OK(CeedOperatorApply(composite, s.u, s.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(s.v, 1, 70, 800);
  CHECK_OK(CeedOperatorDestroy(&composite));
  CHECK_OK(CeedOperatorDestroy(&other));
  CHECK_OK(CeedElemRestrictionDestroy(&longer));
  small_close(&s);
}

// Parts that get their fields later may turn out not to fit.
TEST_EACH_BACKEND(parts_that_conflict_later_are_found_when_the_composite_is_used) {
  Small s;
  CeedElemRestriction longer = NULL;
  CeedOperator composite = NULL, other = NULL;
  CeedSize in = 0;

  small_open_without_fields(ceed, &s);
  if (tap_failed()) return;
  CHECK_OK(CeedElemRestrictionCreate(ceed, 2, 2, 1, 1, 9, CEED_MEM_HOST, CEED_COPY_VALUES, small_offsets,
                                     &longer));
  CHECK_OK(CeedOperatorCreateComposite(ceed, &composite));
  CHECK_OK(CeedOperatorCreate(ceed, s.qf, NULL, NULL, &other));
  CHECK_OK(CeedOperatorCompositeAddSub(composite, s.op));
  CHECK_OK(CeedOperatorCompositeAddSub(composite, other));
  CHECK_OK(small_set_fields(s.op, &s));
  CHECK_OK(CeedOperatorSetField(other, "u", longer, s.basis, CEED_VECTOR_ACTIVE));
  CHECK_ERROR(ceed, CeedOperatorGetActiveVectorLengths(composite, &in, NULL), CEED_ERROR_MAJOR, "disagree");
  CHECK_OK(CeedOperatorSetField(other, "qd", s.rstr_q, CEED_BASIS_NONE, s.qd));
  CHECK_OK(CeedOperatorSetField(other, "w", CEED_ELEMRESTRICTION_NONE, s.basis, CEED_VECTOR_NONE));
  CHECK_OK(CeedOperatorSetField(other, "v", s.rstr_u, s.basis, CEED_VECTOR_ACTIVE));
  CHECK_ERROR(ceed, CeedOperatorCheckReady(composite), CEED_ERROR_MAJOR, "disagree");
  CHECK_ERROR(ceed, CeedOperatorApply(composite, s.u, s.v, CEED_REQUEST_IMMEDIATE), CEED_ERROR_MAJOR,
              "disagree");
  SMALL_CHECK_WORKS(&s);
  CHECK_OK(CeedOperatorDestroy(&composite));
  CHECK_OK(CeedOperatorDestroy(&other));
  CHECK_OK(CeedElemRestrictionDestroy(&longer));
  small_close(&s);
}

// 0/1 for each part, not for each element; listed parts are left out.
TEST_EACH_BACKEND(multiplicities_count_the_parts_that_touch_an_entry) {
  Small s;
  CeedOperator composite = NULL, left = NULL;
  CeedElemRestriction rstr = NULL, rstr_q = NULL;
  CeedInt skip[] = {0};
  CeedVector mult = vector_of(ceed, SMALL_NODES, small_u);

  SMALL_OPEN(ceed, &s);
  CHECK_OK(CeedOperatorCreateComposite(ceed, &composite));
  CHECK_OK(
      CeedElemRestrictionCreate(ceed, 1, 2, 1, 1, 3, CEED_MEM_HOST, CEED_COPY_VALUES, small_offsets, &rstr));
  CHECK_OK(CeedElemRestrictionCreateStrided(ceed, 1, 2, 1, 4, CEED_STRIDES_BACKEND, &rstr_q));
  CHECK_OK(CeedOperatorCreate(ceed, s.qf, NULL, NULL, &left));
  CHECK_OK(CeedOperatorSetField(left, "u", rstr, s.basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(left, "qd", rstr_q, CEED_BASIS_NONE, s.qd));
  CHECK_OK(CeedOperatorSetField(left, "w", CEED_ELEMRESTRICTION_NONE, s.basis, CEED_VECTOR_NONE));
  CHECK_OK(CeedOperatorSetField(left, "v", rstr, s.basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorCompositeGetMultiplicity(composite, 0, NULL, mult));
  CHECK_HOLDS(mult, 0, 0, 0);
  CHECK_OK(CeedOperatorCompositeAddSub(composite, s.op));
  CHECK_OK(CeedOperatorCompositeAddSub(composite, left));
  CHECK_OK(CeedOperatorCompositeGetMultiplicity(composite, 0, NULL, mult));
  CHECK_HOLDS(mult, 2, 2, 1);
  CHECK_OK(CeedOperatorCompositeGetMultiplicity(composite, 1, skip, mult));
  CHECK_HOLDS(mult, 1, 1, 0);
  CHECK_OK(CeedOperatorDestroy(&composite));
  CHECK_OK(CeedOperatorDestroy(&left));
  CHECK_OK(CeedElemRestrictionDestroy(&rstr));
  CHECK_OK(CeedElemRestrictionDestroy(&rstr_q));
  CHECK_OK(CeedVectorDestroy(&mult));
  small_close(&s);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST_EACH_BACKEND(old_names_of_composite_calls_still_work) {
  Small s;
  CeedOperator composite = NULL, *list = NULL, found = NULL;
  CeedInt num = 0;

  SMALL_OPEN(ceed, &s);
  CHECK_OK(CeedOperatorSetName(s.op, "part"));
  CHECK_OK(CeedCompositeOperatorCreate(ceed, &composite));
  CHECK_OK(CeedCompositeOperatorAddSub(composite, s.op));
  CHECK_OK(CeedCompositeOperatorGetNumSub(composite, &num));
  CHECK_OK(CeedCompositeOperatorGetSubList(composite, &list));
  CHECK_OK(CeedCompositeOperatorGetSubByName(composite, "part", &found));
  CHECK(num == 1 && list[0] == s.op && found == s.op, "%d parts", num);
  CHECK_OK(CeedCompositeOperatorGetMultiplicity(composite, 0, NULL, s.v));
  CHECK_HOLDS(s.v, 1, 1, 1);
  CHECK_OK(CeedOperatorDestroy(&composite));
  small_close(&s);
}
#pragma GCC diagnostic pop

// ---- Application ----

// Part 1 writes s, part 2 adds u qd w with qd = s: with s = {1, 10, 10, 100} that is {1, 200 + 100, 20000}.
typedef struct {
  Twice t;
  CeedOperator consumer, composite;
} Chain;

static void open_chain(Ceed ceed, Chain *c) {
  *c = (Chain){0};
  open_twice(ceed, &c->t);
  if (tap_failed()) return;
  const Small *small = &c->t.small;
  CHECK_OK(CeedOperatorCreate(ceed, small->qf, NULL, NULL, &c->consumer));
  CHECK_OK(CeedOperatorSetField(c->consumer, "u", small->rstr_u, small->basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(c->consumer, "qd", small->rstr_q, CEED_BASIS_NONE, c->t.s));
  CHECK_OK(CeedOperatorSetField(c->consumer, "w", CEED_ELEMRESTRICTION_NONE, small->basis, CEED_VECTOR_NONE));
  CHECK_OK(CeedOperatorSetField(c->consumer, "v", small->rstr_u, small->basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorCreateComposite(ceed, &c->composite));
  CHECK_OK(CeedOperatorCompositeSetSequential(c->composite, true));
  CHECK_OK(CeedOperatorCompositeAddSub(c->composite, c->t.op));
  CHECK_OK(CeedOperatorCompositeAddSub(c->composite, c->consumer));
}

static void close_chain(Chain *c) {
  CHECK_OK(CeedOperatorDestroy(&c->composite));
  CHECK_OK(CeedOperatorDestroy(&c->consumer));
  close_twice(&c->t);
}

// Passive outputs are zeroed before the first part runs, not before each.
TEST_EACH_BACKEND(parts_of_a_composite_may_read_what_earlier_parts_wrote) {
  Chain c;

  open_chain(ceed, &c);
  if (tap_failed()) return;
  for (int i = 0; i < 2; i++) {
    CHECK_OK(CeedOperatorApply(c.composite, c.t.small.u, c.t.v, CEED_REQUEST_IMMEDIATE));
    CHECK_HOLDS(c.t.s, TWICE_S, 0);
    CHECK_HOLDS(c.t.v, 2 + 1, 40 + 300, 200 + 20000, 0, 0);
  }
  CHECK_OK(CeedVectorSetValue(c.t.v, 7));
  CHECK_OK(CeedOperatorApplyAddActive(c.composite, c.t.small.u, c.t.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(c.t.s, TWICE_S, 0);
  CHECK_HOLDS(c.t.v, 10, 347, 20207, 7, 7);
  CHECK_OK(CeedVectorSetValue(c.t.v, 7)); // s adds up: {2, 20, 20, 200} is what the second part reads
  CHECK_OK(CeedOperatorApplyAdd(c.composite, c.t.small.u, c.t.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(c.t.s, 2, 20, 20, 200, 0);
  CHECK_HOLDS(c.t.v, 7 + 2 + 2, 7 + 40 + 600, 7 + 200 + 40000, 7, 7);
  close_chain(&c);
}

// Two parts with one passive output: both contributions are in it.
TEST_EACH_BACKEND(passive_outputs_shared_by_parts_are_summed) {
  Twice t;
  CeedOperator composite = NULL;

  OPEN_TWICE(ceed, &t);
  CHECK_OK(CeedOperatorCreateComposite(ceed, &composite));
  CHECK_OK(CeedOperatorCompositeAddSub(composite, t.op));
  CHECK_OK(CeedOperatorCompositeAddSub(composite, t.op));
  CHECK_OK(CeedOperatorApply(composite, t.small.u, t.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(t.s, 2, 20, 20, 200, 0);
  CHECK_HOLDS(t.v, 4, 80, 400, 0, 0);
  CHECK_OK(CeedOperatorDestroy(&composite));
  close_twice(&t);
}

TEST_EACH_BACKEND(a_composite_of_passive_parts_needs_no_vectors) {
  Twice t;
  CeedOperator composite = NULL;

  OPEN_TWICE(ceed, &t);
  CeedOperator op = twice_operator(ceed, &t.small, t.small.u, t.v, t.s);
  CHECK_OK(CeedOperatorCreateComposite(ceed, &composite));
  CHECK_OK(CeedOperatorCompositeAddSub(composite, op));
  CHECK_OK(CeedOperatorApply(composite, CEED_VECTOR_NONE, CEED_VECTOR_NONE, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(t.v, TWICE_V, 0, 0);
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedOperatorDestroy(&composite));
  close_twice(&t);
}

TEST_EACH_BACKEND(an_empty_composite_zeroes_its_output) {
  Small small;
  CeedOperator composite = NULL;

  SMALL_OPEN(ceed, &small);
  CHECK_OK(CeedVectorSetValue(small.v, 7));
  CHECK_OK(CeedOperatorCreateComposite(ceed, &composite));
  CHECK_OK(CeedOperatorApplyAdd(composite, small.u, small.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(small.v, 7, 7, 7);
  CHECK_OK(CeedOperatorApply(composite, small.u, small.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(small.v, 0, 0, 0);
  CHECK_OK(CeedOperatorDestroy(&composite));
  small_close(&small);
}

// A part that fails: the vectors are free again, and the composite works once the cause is gone.
TEST_EACH_BACKEND(failures_of_parts_come_back) {
  Chain c;
  CeedScalar *array = NULL;

  open_chain(ceed, &c);
  if (tap_failed()) return;
  CHECK_OK(CeedVectorGetArray(c.t.s, CEED_MEM_HOST, &array));
  CHECK_ERROR(ceed, CeedOperatorApply(c.composite, c.t.small.u, c.t.v, CEED_REQUEST_IMMEDIATE),
              CEED_ERROR_BACKEND, "access lock");
  CHECK_OK(CeedVectorRestoreArray(c.t.s, &array));
  if (!has_device_memory(ceed)) { // devices ignore the code
    twice_code = -1;
    int code = CeedOperatorApply(c.composite, c.t.small.u, c.t.v, CEED_REQUEST_IMMEDIATE);
    twice_code = 0;
    CHECK(code == -1, "%d", code);
  }
  CHECK_ERROR(ceed, CeedOperatorApply(c.composite, c.t.small.u, CEED_VECTOR_NONE, CEED_REQUEST_IMMEDIATE),
              CEED_ERROR_INCOMPATIBLE, "'v'");
  CHECK_OK(CeedOperatorApply(c.composite, c.t.small.u, c.t.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(c.t.v, 3, 340, 20200);
  close_chain(&c);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(a_composite_lists_its_parts, calls_for_the_other_kind_of_operator_are_refused,
            lengths_of_a_composite_are_those_of_its_parts,
            parts_that_conflict_later_are_found_when_the_composite_is_used,
            multiplicities_count_the_parts_that_touch_an_entry, old_names_of_composite_calls_still_work,
            parts_of_a_composite_may_read_what_earlier_parts_wrote,
            passive_outputs_shared_by_parts_are_summed, a_composite_of_passive_parts_needs_no_vectors,
            an_empty_composite_zeroes_its_output, failures_of_parts_come_back));
}
