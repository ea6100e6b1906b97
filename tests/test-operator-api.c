// SPDX-License-Identifier: BSD-2-Clause
// CeedOperator: fields and their checks, readiness, queries, names, flops, views. What happens in an apply is
// in tests/test-operator-apply.c, composites in tests/test-composite.c, context fields in
// tests/test-operator-context.c.
#include "tests/small-operator.h"
#include "tests/tap.h"

// ---- Creation ----

TEST_EACH_BACKEND(an_operator_needs_a_qfunction) {
  CeedQFunction qf = small_qfunction(ceed);
  CeedOperator op = NULL;

  CHECK_ERROR(ceed, CeedOperatorCreate(ceed, NULL, NULL, NULL, &op), CEED_ERROR_MINOR, "CeedOperatorCreate:");
  CHECK_ERROR(ceed, CeedOperatorCreate(ceed, CEED_QFUNCTION_NONE, NULL, NULL, &op), CEED_ERROR_MINOR,
              "CeedOperatorCreate:");
  CHECK_ERROR(ceed, CeedOperatorCreateAtPoints(ceed, NULL, NULL, NULL, &op), CEED_ERROR_MINOR,
              "CeedOperatorCreateAtPoints:");
  CHECK(op == NULL, "a handle is made");
  CHECK_OK(CeedOperatorCreate(ceed, qf, NULL, CEED_QFUNCTION_NONE, &op));
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedOperatorCreate(ceed, qf, qf, qf, &op)); // derivatives are kept, whatever they are
  CHECK_OK(CeedQFunctionDestroy(&qf));
  CHECK_OK(CeedOperatorDestroy(&op));
}

TEST_EACH_BACKEND(references_are_counted) {
  Small s;
  CeedOperator copy = NULL, first;
  Ceed found = NULL;

  SMALL_OPEN(ceed, &s);
  first = s.op;
  CHECK_OK(CeedOperatorCreateComposite(ceed, &copy));
  CHECK_OK(CeedOperatorReferenceCopy(s.op, &copy)); // over a live handle, which goes
  CHECK_OK(CeedOperatorReferenceCopy(s.op, &s.op)); // onto itself
  CHECK(copy == first && s.op == first, "other handles");
  CHECK_OK(CeedOperatorDestroy(&copy));
  CHECK_OK(CeedOperatorDestroy(&copy)); // a second time
  CHECK_OK(CeedOperatorGetCeed(s.op, &found));
  CHECK(found == ceed && CeedOperatorReturnCeed(s.op) == ceed, "another context");
  CHECK_OK(CeedDestroy(&found));
  SMALL_CHECK_WORKS(&s);
  small_close(&s);
}

// The caller may drop its handles at once.
TEST_EACH_BACKEND(an_operator_keeps_alive_what_it_was_given) {
  Small s;

  SMALL_OPEN(ceed, &s);
  CHECK_OK(CeedElemRestrictionDestroy(&s.rstr_u));
  CHECK_OK(CeedElemRestrictionDestroy(&s.rstr_q));
  CHECK_OK(CeedBasisDestroy(&s.basis));
  CHECK_OK(CeedQFunctionDestroy(&s.qf));
  CHECK_OK(CeedVectorDestroy(&s.qd));
  SMALL_CHECK_WORKS(&s);
  small_close(&s);
}

// ---- SetField: the checks of doc/ceed-api.md, Operators, in their order ----

// Things that do not fit the small operator.
typedef struct {
  CeedElemRestriction three_elem, two_comp, longer, points;
  CeedBasis three_points, two_comp_basis;
} Misfits;

static void open_misfits(Ceed ceed, Misfits *m) {
  const CeedInt offsets[6] = {0}, lists[5] = {3, 4, 5, 0, 1};

  *m = (Misfits){.two_comp_basis = small_basis(ceed, 2)};
  CHECK_OK(CeedElemRestrictionCreate(ceed, 3, 2, 1, 1, 3, CEED_MEM_HOST, CEED_COPY_VALUES, offsets,
                                     &m->three_elem));
  CHECK_OK(
      CeedElemRestrictionCreate(ceed, 2, 2, 2, 1, 4, CEED_MEM_HOST, CEED_COPY_VALUES, offsets, &m->two_comp));
  CHECK_OK(
      CeedElemRestrictionCreate(ceed, 2, 2, 1, 1, 9, CEED_MEM_HOST, CEED_COPY_VALUES, offsets, &m->longer));
  CHECK_OK(CeedElemRestrictionCreateAtPoints(ceed, 2, 2, 1, 2, CEED_MEM_HOST, CEED_COPY_VALUES, lists,
                                             &m->points));
  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 2, 3, CEED_GAUSS, &m->three_points));
}

static void close_misfits(Misfits *m) {
  CHECK_OK(CeedElemRestrictionDestroy(&m->three_elem));
  CHECK_OK(CeedElemRestrictionDestroy(&m->two_comp));
  CHECK_OK(CeedElemRestrictionDestroy(&m->longer));
  CHECK_OK(CeedElemRestrictionDestroy(&m->points));
  CHECK_OK(CeedBasisDestroy(&m->three_points));
  CHECK_OK(CeedBasisDestroy(&m->two_comp_basis));
}

// Each call breaks one rule and, where that is possible, the next ones too: the first counts.
static void check_refused_fields(Ceed ceed, const Small *s, const Misfits *m) {
  CeedOperator op = s->op;
  const CeedElemRestriction no_rstr = CEED_ELEMRESTRICTION_NONE;
  const CeedBasis no_basis = CEED_BASIS_NONE;
  const CeedVector active = CEED_VECTOR_ACTIVE;

#define REFUSED(code, fragment, name, rstr, basis, vec)                                                      \
  CHECK_ERROR(ceed, CeedOperatorSetField(op, name, rstr, basis, vec), code, fragment)
  REFUSED(CEED_ERROR_INCOMPATIBLE, "restriction", "x", NULL, NULL, NULL);
  REFUSED(CEED_ERROR_INCOMPATIBLE, "basis", "x", m->three_elem, NULL, NULL);
  REFUSED(CEED_ERROR_INCOMPATIBLE, "vector", "x", m->three_elem, m->three_points, NULL);
  REFUSED(CEED_ERROR_INCOMPATIBLE, "name", NULL, s->rstr_u, s->basis, active);
  REFUSED(CEED_ERROR_DIMENSION, "elements", "x", m->three_elem, m->three_points, active);
  REFUSED(CEED_ERROR_UNSUPPORTED, "at-points", "x", m->points, m->three_points, active);
  REFUSED(CEED_ERROR_UNSUPPORTED, "at-points", "qd", m->points, no_basis, active);
  REFUSED(CEED_ERROR_DIMENSION, "quadrature points", "x", no_rstr, m->three_points, active);
  REFUSED(CEED_ERROR_INCOMPLETE, "'x'", "x", no_rstr, no_basis, active);
  REFUSED(CEED_ERROR_INCOMPATIBLE, "restriction", "v", no_rstr, no_basis, active);
  REFUSED(CEED_ERROR_INCOMPATIBLE, "restriction", "w", m->two_comp, s->basis, CEED_VECTOR_NONE);
  REFUSED(CEED_ERROR_INCOMPATIBLE, "basis", "v", m->two_comp, no_basis, active);
  REFUSED(CEED_ERROR_INCOMPATIBLE, "basis", "qd", m->two_comp, s->basis, s->qd);
  REFUSED(CEED_ERROR_DIMENSION, "components", "v", m->two_comp, s->basis, active);
  REFUSED(CEED_ERROR_DIMENSION, "components", "v", m->longer, m->two_comp_basis, active);
  REFUSED(CEED_ERROR_DIMENSION, "size", "qd", m->two_comp, no_basis, s->qd);
  REFUSED(CEED_ERROR_DIMENSION, "size", "v", m->two_comp, m->two_comp_basis, active);
#undef REFUSED
}

TEST_EACH_BACKEND(fields_that_do_not_fit_are_refused_in_the_order_of_the_standard) {
  Small s;
  Misfits m;
  CeedInt num_set = -1;

  small_open_without_fields(ceed, &s);
  open_misfits(ceed, &m);
  if (tap_failed()) return;
  CHECK_OK(CeedOperatorSetField(s.op, "u", s.rstr_u, s.basis, CEED_VECTOR_ACTIVE)); // fixes the sizes
  check_refused_fields(ceed, &s, &m);
  if (tap_failed()) return;
  CHECK_OK(CeedOperatorGetNumArgs(s.op, &num_set));
  CHECK(num_set == 1, "%d fields are set", num_set);
  CHECK_OK(small_set_fields(s.op, &s)); // "u" once more: a field may be replaced
  CHECK_OK(CeedOperatorGetNumArgs(s.op, &num_set));
  CHECK(num_set == 4, "%d fields are set", num_set);
  SMALL_CHECK_WORKS(&s);
  CHECK_ERROR(ceed, CeedOperatorSetField(s.op, "x", NULL, NULL, NULL), CEED_ERROR_MAJOR, "in use");
  SMALL_CHECK_WORKS(&s);
  close_misfits(&m);
  small_close(&s);
}

// The last check of the list: active fields of one direction share one L-vector.
TEST_EACH_BACKEND(active_fields_of_a_direction_have_one_length) {
  Small s;
  Misfits m;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;

  small_open_without_fields(ceed, &s);
  open_misfits(ceed, &m);
  if (tap_failed()) return;
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, SmallScale, "", &qf));
  CHECK_OK(CeedQFunctionAddInput(qf, "a", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedQFunctionAddInput(qf, "b", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedQFunctionAddOutput(qf, "c", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  CHECK_OK(CeedOperatorSetField(op, "a", s.rstr_u, s.basis, CEED_VECTOR_ACTIVE));
  CHECK_ERROR(ceed, CeedOperatorSetField(op, "b", m.longer, s.basis, CEED_VECTOR_ACTIVE),
              CEED_ERROR_INCOMPATIBLE, "'b'");
  CHECK_OK(CeedOperatorSetField(op, "c", m.longer, s.basis, CEED_VECTOR_ACTIVE)); // the other direction
  CHECK_OK(CeedOperatorSetField(op, "b", m.longer, s.basis, s.u));                // passive
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedQFunctionDestroy(&qf));
  close_misfits(&m);
  small_close(&s);
}

TEST_EACH_BACKEND(a_refused_field_fixes_no_sizes) {
  Small s;
  Misfits m;
  CeedInt num_elem = -1, num_qpts = -1;
  CeedSize in = 0, out = 0;

  small_open_without_fields(ceed, &s);
  open_misfits(ceed, &m);
  if (tap_failed()) return;
  CHECK_ERROR(ceed, CeedOperatorSetField(s.op, "x", m.three_elem, m.three_points, CEED_VECTOR_ACTIVE),
              CEED_ERROR_INCOMPLETE, "'x'");
  CHECK_ERROR(ceed, CeedOperatorSetField(s.op, "u", m.two_comp, m.three_points, CEED_VECTOR_ACTIVE),
              CEED_ERROR_DIMENSION, "components");
  CHECK_OK(CeedOperatorGetNumElements(s.op, &num_elem));
  CHECK_OK(CeedOperatorGetNumQuadraturePoints(s.op, &num_qpts));
  CHECK_OK(CeedOperatorGetActiveVectorLengths(s.op, &in, &out));
  CHECK(num_elem == 0 && num_qpts == 0 && in == -1 && out == -1, "%d elements, %d points", num_elem,
        num_qpts);
  CHECK_OK(small_set_fields(s.op, &s));
  SMALL_CHECK_WORKS(&s);
  close_misfits(&m);
  small_close(&s);
}

TEST_EACH_BACKEND(composites_have_no_fields) {
  Small s;
  CeedOperator composite = NULL;

  SMALL_OPEN(ceed, &s);
  CHECK_OK(CeedOperatorCreateComposite(ceed, &composite));
  CHECK_ERROR(ceed, CeedOperatorSetField(composite, "u", NULL, NULL, NULL), CEED_ERROR_INCOMPATIBLE,
              "composite");
  CHECK_OK(CeedOperatorDestroy(&composite));
  small_close(&s);
}

TEST_EACH_BACKEND(operators_at_points_take_points_of_one_kind) {
  const CeedInt lists[5] = {3, 4, 5, 0, 1}, other_lists[5] = {3, 4, 5, 1, 0};
  CeedElemRestriction points = NULL, others = NULL;
  Small s;
  CeedOperator op = NULL;
  CeedInt num_qpts = -1;
  bool is_at_points = false;

  small_open_without_fields(ceed, &s);
  if (tap_failed()) return;
  CHECK_OK(
      CeedElemRestrictionCreateAtPoints(ceed, 2, 2, 1, 2, CEED_MEM_HOST, CEED_COPY_VALUES, lists, &points));
  CHECK_OK(CeedElemRestrictionCreateAtPoints(ceed, 2, 2, 1, 2, CEED_MEM_HOST, CEED_COPY_VALUES, other_lists,
                                             &others));
  CHECK_OK(CeedOperatorCreateAtPoints(ceed, s.qf, NULL, NULL, &op));
  CHECK_OK(CeedOperatorIsAtPoints(op, &is_at_points));
  CHECK(is_at_points, "not at points");
  CHECK_OK(CeedOperatorIsAtPoints(s.op, &is_at_points));
  CHECK(!is_at_points, "an ordinary operator");
  CHECK_ERROR(ceed, CeedOperatorSetField(op, "qd", points, s.basis, s.qd), CEED_ERROR_UNSUPPORTED,
              "at-points");
  CHECK_OK(CeedOperatorSetField(op, "qd", points, CEED_BASIS_NONE, s.qd));
  CHECK_ERROR(ceed, CeedOperatorSetField(op, "qd", others, CEED_BASIS_NONE, s.qd), CEED_ERROR_INCOMPATIBLE,
              "points");
  CHECK_ERROR(ceed, CeedOperatorAtPointsSetPoints(op, others, s.u), CEED_ERROR_INCOMPATIBLE,
              "CeedOperatorAtPointsSetPoints");
  CHECK_ERROR(ceed, CeedOperatorAtPointsSetPoints(op, s.rstr_u, s.u), CEED_ERROR_UNSUPPORTED,
              "CeedOperatorAtPointsSetPoints");
  CHECK_ERROR(ceed, CeedOperatorAtPointsSetPoints(s.op, points, s.u), CEED_ERROR_MINOR,
              "CeedOperatorAtPointsSetPoints");
  CHECK_ERROR(ceed, CeedOperatorAtPointsGetPoints(s.op, NULL, NULL), CEED_ERROR_MINOR,
              "CeedOperatorAtPointsGetPoints");
  CHECK_OK(CeedOperatorAtPointsSetPoints(op, points, s.u));
  CHECK_OK(CeedOperatorGetNumQuadraturePoints(op, &num_qpts));
  CHECK(num_qpts == 0, "%d quadrature points", num_qpts);
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedElemRestrictionDestroy(&points));
  CHECK_OK(CeedElemRestrictionDestroy(&others));
  small_close(&s);
}

// ---- Readiness ----

TEST_EACH_BACKEND(an_operator_is_ready_when_all_fields_are_set) {
  Small s;
  CeedQFunction derivative = small_qfunction(ceed);
  CeedOperator op = NULL;
  bool is_immutable = true;

  small_open_without_fields(ceed, &s);
  if (tap_failed()) return;
  CHECK_OK(CeedOperatorCreate(ceed, s.qf, derivative, derivative, &op));
  CHECK_ERROR(ceed, CeedOperatorCheckReady(op), CEED_ERROR_INCOMPLETE, "no field");
  CHECK_OK(CeedOperatorSetField(op, "u", s.rstr_u, s.basis, CEED_VECTOR_ACTIVE));
  CHECK_ERROR(ceed, CeedOperatorCheckReady(op), CEED_ERROR_INCOMPLETE, "1 of 4 fields");
  CHECK_ERROR(ceed, CeedOperatorApply(op, s.u, s.v, CEED_REQUEST_IMMEDIATE), CEED_ERROR_INCOMPLETE, "fields");
  CHECK_ERROR(ceed, CeedOperatorApplyAdd(op, s.u, s.v, CEED_REQUEST_IMMEDIATE), CEED_ERROR_INCOMPLETE,
              "fields");
  CHECK_ERROR(ceed, CeedOperatorApplyAddActive(op, s.u, s.v, CEED_REQUEST_IMMEDIATE), CEED_ERROR_INCOMPLETE,
              "fields");
  CHECK_OK(CeedQFunctionIsImmutable(derivative, &is_immutable));
  CHECK(!is_immutable, "before the operator is ready");
  CHECK_OK(small_set_fields(op, &s));
  CHECK_OK(CeedOperatorCheckReady(op));
  CHECK_OK(CeedOperatorCheckReady(op));
  CHECK_OK(CeedQFunctionIsImmutable(derivative, &is_immutable));
  CHECK(is_immutable, "once the operator is ready");
  CHECK_ERROR(ceed, CeedOperatorSetField(op, "u", s.rstr_u, s.basis, CEED_VECTOR_ACTIVE), CEED_ERROR_MAJOR,
              "CeedOperatorSetField");
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedQFunctionDestroy(&derivative));
  small_close(&s);
}

TEST_EACH_BACKEND(an_operator_without_restrictions_is_not_ready) {
  CeedQFunction qf = NULL;
  CeedBasis basis = small_basis(ceed, 1);
  CeedOperator op = NULL;

  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, SmallScale, "", &qf));
  CHECK_OK(CeedQFunctionAddInput(qf, "w", 1, CEED_EVAL_WEIGHT));
  CHECK_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  CHECK_OK(CeedOperatorSetField(op, "w", CEED_ELEMRESTRICTION_NONE, basis, CEED_VECTOR_NONE));
  CHECK_ERROR(ceed, CeedOperatorCheckReady(op), CEED_ERROR_INCOMPLETE, "restriction");
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedQFunctionDestroy(&qf));
  CHECK_OK(CeedBasisDestroy(&basis));
}

// A function that asked for a multiple of four points never gets another number.
TEST_EACH_BACKEND(points_of_an_operator_are_a_multiple_of_the_vector_length) {
  Small s;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;

  SMALL_OPEN(ceed, &s);
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 4, SmallScale, "", &qf));
  CHECK_OK(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  CHECK_OK(CeedOperatorSetField(op, "u", s.rstr_u, s.basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(op, "v", s.rstr_u, s.basis, CEED_VECTOR_ACTIVE));
  CHECK_ERROR(ceed, CeedOperatorCheckReady(op), CEED_ERROR_DIMENSION, "vector length");
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedQFunctionDestroy(&qf));
  small_close(&s);
}

// ---- Queries ----

TEST_EACH_BACKEND(fields_come_in_the_order_of_the_qfunction) {
  static const char *const names[] = {"u", "qd", "w"};
  Small s;
  CeedInt num_in = 0, num_out = 0;
  CeedOperatorField *in = NULL, *out = NULL, field = NULL;
  const char *name = NULL;

  small_open_without_fields(ceed, &s);
  if (tap_failed()) return;
  CHECK_ERROR(ceed, CeedOperatorGetFields(s.op, &num_in, &in, &num_out, &out), CEED_ERROR_INCOMPLETE,
              "field");
  CHECK_ERROR(ceed, CeedOperatorGetFieldByName(s.op, "u", &field), CEED_ERROR_INCOMPLETE, "field");
  CHECK_OK(
      CeedOperatorSetField(s.op, "v", s.rstr_u, s.basis, CEED_VECTOR_ACTIVE)); // from the last to the first
  CHECK_OK(CeedOperatorSetField(s.op, "w", CEED_ELEMRESTRICTION_NONE, s.basis, CEED_VECTOR_NONE));
  CHECK_OK(CeedOperatorSetField(s.op, "qd", s.rstr_q, CEED_BASIS_NONE, s.qd));
  CHECK_OK(CeedOperatorSetField(s.op, "u", s.rstr_u, s.basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorGetFields(s.op, &num_in, &in, &num_out, &out));
  CHECK_OK(CeedOperatorGetFields(s.op, NULL, NULL, NULL, NULL));
  CHECK(num_in == 3 && num_out == 1, "%d inputs, %d outputs", num_in, num_out);
  for (int i = 0; i < 3; i++) {
    CHECK_OK(CeedOperatorFieldGetName(in[i], &name));
    CHECK(!strcmp(name, names[i]), "input %d is '%s'", i, name);
    CHECK_OK(CeedOperatorGetFieldByName(s.op, names[i], &field));
    CHECK(field == in[i], "'%s'", name);
  }
  CHECK_OK(CeedOperatorGetFieldByName(s.op, "v", &field));
  CHECK(field == out[0], "'v'");
  CHECK_OK(CeedOperatorGetFieldByName(s.op, "none", &field));
  CHECK(field == NULL, "a field of nothing");
  CHECK_ERROR(ceed, CeedOperatorGetFieldByName(s.op, NULL, &field), CEED_ERROR_INCOMPATIBLE, "name");
  SMALL_CHECK_WORKS(&s);
  small_close(&s);
}

TEST_EACH_BACKEND(parts_of_a_field_are_new_references) {
  Small s;
  CeedOperatorField field = NULL;
  CeedElemRestriction rstr = (CeedElemRestriction)&s; // overwritten, not destroyed
  CeedBasis basis = (CeedBasis)&s;
  CeedVector vec = (CeedVector)&s;
  const char *name = NULL;

  SMALL_OPEN(ceed, &s);
  CHECK_OK(CeedOperatorGetFieldByName(s.op, "qd", &field));
  CHECK_OK(CeedOperatorFieldGetElemRestriction(field, &rstr));
  CHECK_OK(CeedOperatorFieldGetBasis(field, &basis));
  CHECK_OK(CeedOperatorFieldGetVector(field, &vec));
  CHECK(rstr == s.rstr_q && basis == CEED_BASIS_NONE && vec == s.qd, "parts of 'qd'");
  CHECK_OK(CeedElemRestrictionDestroy(&rstr));
  CHECK_OK(CeedBasisDestroy(&basis));
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK_OK(CeedOperatorGetFieldByName(s.op, "w", &field));
  CHECK_OK(CeedOperatorFieldGetData(field, &name, &rstr, &basis, &vec));
  CHECK_OK(CeedOperatorFieldGetData(field, NULL, NULL, NULL, NULL));
  CHECK(rstr == CEED_ELEMRESTRICTION_NONE && basis == s.basis && vec == CEED_VECTOR_NONE, "parts of 'w'");
  CHECK(!strcmp(name, "w"), "'%s'", name);
  CHECK_OK(CeedElemRestrictionDestroy(&rstr));
  CHECK_OK(CeedBasisDestroy(&basis));
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK_OK(CeedOperatorGetFieldByName(s.op, "u", &field));
  CHECK_OK(CeedOperatorFieldGetVector(field, &vec));
  CHECK(vec == CEED_VECTOR_ACTIVE, "vector of 'u'");
  SMALL_CHECK_WORKS(&s);
  small_close(&s);
}

TEST_EACH_BACKEND(an_operator_tells_its_sizes_and_parts) {
  Small s;
  CeedInt n = -1;
  CeedSize in = 0, out = 0;
  bool flag = true;
  CeedQFunction qf = (CeedQFunction)&s; // overwritten

  small_open_without_fields(ceed, &s);
  if (tap_failed()) return;
  CHECK_OK(CeedOperatorGetNumArgs(s.op, &n));
  CHECK(n == 0, "%d fields", n);
  CHECK_OK(small_set_fields(s.op, &s));
  CHECK_OK(CeedOperatorGetNumElements(s.op, &n));
  CHECK(n == SMALL_ELEM, "%d elements", n);
  CHECK_OK(CeedOperatorGetNumQuadraturePoints(s.op, &n));
  CHECK(n == SMALL_Q, "%d points", n);
  CHECK_OK(CeedOperatorGetNumArgs(s.op, &n));
  CHECK(n == 4, "%d fields", n);
  CHECK_OK(CeedOperatorGetActiveVectorLengths(s.op, &in, &out));
  CHECK_OK(CeedOperatorGetActiveVectorLengths(s.op, NULL, NULL));
  CHECK(in == SMALL_NODES && out == SMALL_NODES, "%td, %td", in, out);
  CHECK_OK(CeedOperatorIsComposite(s.op, &flag));
  CHECK(!flag, "a composite");
  CHECK_OK(CeedOperatorHasTensorBases(s.op, &flag));
  CHECK(flag, "no tensor bases");
  CHECK_OK(CeedOperatorGetQFunction(s.op, &qf));
  CHECK(qf == s.qf, "another QFunction");
  CHECK_OK(CeedQFunctionDestroy(&qf));
  small_close(&s);
}

// An operator with inputs on the given pair of bases and restrictions.
static void check_active_parts(Ceed ceed, const Small *s, CeedBasis b, CeedElemRestriction r, int code_basis,
                               int code_rstr) {
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  CeedBasis basis = NULL, in_basis = NULL, out_basis = NULL;
  CeedElemRestriction rstr = NULL, in_rstr = NULL, out_rstr = NULL;

  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, SmallScale, "", &qf));
  CHECK_OK(CeedQFunctionAddInput(qf, "a", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedQFunctionAddInput(qf, "b", 1, CEED_EVAL_GRAD));
  CHECK_OK(CeedQFunctionAddOutput(qf, "c", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  CHECK_OK(CeedOperatorSetField(op, "a", s->rstr_u, s->basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(op, "b", r, b, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(op, "c", s->rstr_u, s->basis, s->v));
  CHECK(CeedOperatorGetActiveBasis(op, &basis) == code_basis, "active basis");
  CHECK(CeedOperatorGetActiveElemRestriction(op, &rstr) == code_rstr, "active restriction");
  CHECK(code_basis || basis == s->basis, "another basis");
  CHECK(code_rstr || rstr == s->rstr_u, "another restriction");
  CHECK(CeedOperatorGetActiveBases(op, &in_basis, NULL) == code_basis, "active input basis");
  CHECK(CeedOperatorGetActiveElemRestrictions(op, &in_rstr, NULL) == code_rstr, "active input restriction");
  CHECK_ERROR(ceed, CeedOperatorGetActiveBases(op, NULL, &out_basis), CEED_ERROR_INCOMPLETE, "active output");
  CHECK_ERROR(ceed, CeedOperatorGetActiveElemRestrictions(op, NULL, &out_rstr), CEED_ERROR_INCOMPLETE,
              "active output");
  CHECK_OK(CeedBasisDestroy(&basis));
  CHECK_OK(CeedBasisDestroy(&in_basis));
  CHECK_OK(CeedElemRestrictionDestroy(&rstr));
  CHECK_OK(CeedElemRestrictionDestroy(&in_rstr));
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedQFunctionDestroy(&qf));
}

TEST_EACH_BACKEND(active_parts_are_those_that_all_active_fields_share) {
  Small s;
  CeedBasis other_basis = small_basis(ceed, 1);
  CeedElemRestriction other_rstr = small_restriction(ceed);

  SMALL_OPEN(ceed, &s);
  check_active_parts(ceed, &s, s.basis, s.rstr_u, CEED_ERROR_SUCCESS, CEED_ERROR_SUCCESS);
  if (tap_failed()) return;
  check_active_parts(ceed, &s, other_basis, s.rstr_u, CEED_ERROR_MINOR, CEED_ERROR_SUCCESS);
  if (tap_failed()) return;
  check_active_parts(ceed, &s, s.basis, other_rstr, CEED_ERROR_SUCCESS, CEED_ERROR_MINOR);
  if (tap_failed()) return;
  CHECK_OK(CeedBasisDestroy(&other_basis));
  CHECK_OK(CeedElemRestrictionDestroy(&other_rstr));
  small_close(&s);
}

TEST_EACH_BACKEND(names_are_copied_and_fall_back_to_the_qfunctions) {
  Small s;
  CeedOperator composite = NULL;
  const char *name = NULL;
  char mine[] = "mass";

  SMALL_OPEN(ceed, &s);
  CHECK_OK(CeedOperatorGetName(s.op, &name));
  CHECK(!strcmp(name, "SmallScale"), "'%s'", name);
  CHECK_OK(CeedOperatorSetName(s.op, mine));
  mine[0] = 'x';
  CHECK_OK(CeedOperatorGetName(s.op, &name));
  CHECK(!strcmp(name, "mass"), "'%s'", name);
  CHECK_OK(CeedOperatorSetName(s.op, ""));
  CHECK_OK(CeedOperatorGetName(s.op, &name));
  CHECK(!strcmp(name, "SmallScale"), "'%s'", name);
  CHECK_OK(CeedOperatorSetName(s.op, "again"));
  CHECK_OK(CeedOperatorSetName(s.op, NULL));
  CHECK_OK(CeedOperatorGetName(s.op, &name));
  CHECK(!strcmp(name, "SmallScale"), "'%s'", name);
  CHECK_OK(CeedOperatorCreateComposite(ceed, &composite));
  CHECK_OK(CeedOperatorGetName(composite, &name));
  CHECK(name == NULL, "'%s'", name);
  CHECK_OK(CeedOperatorSetName(composite, "sum"));
  CHECK_OK(CeedOperatorGetName(composite, &name));
  CHECK(!strcmp(name, "sum"), "'%s'", name);
  CHECK_OK(CeedOperatorDestroy(&composite));
  small_close(&s);
}

// ---- Flops ----

// A mass operator with restriction and basis of these sizes; the numbers in the tables do not matter.
static CeedOperator mass_operator(Ceed ceed, CeedBasis basis, CeedInt num_elem, CeedInt elem_size,
                                  CeedInt num_qpts) {
  CeedElemRestriction rstr = NULL, rstr_q = NULL;
  CeedQFunction qf = NULL;
  CeedVector qd = vector_of(ceed, (CeedSize)num_elem * num_qpts, NULL);
  CeedOperator op = NULL;
  CeedInt *offsets = calloc((size_t)(num_elem * elem_size) + 1, sizeof(*offsets));

  CeedElemRestrictionCreate(ceed, num_elem, elem_size, 1, 1, 10, CEED_MEM_HOST, CEED_OWN_POINTER, offsets,
                            &rstr);
  CeedElemRestrictionCreateStrided(ceed, num_elem, num_qpts, 1, (CeedSize)num_elem * num_qpts,
                                   CEED_STRIDES_BACKEND, &rstr_q);
  CeedQFunctionCreateInterior(ceed, 1, SmallScale, "", &qf);
  CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP);
  CeedQFunctionAddInput(qf, "qd", 1, CEED_EVAL_NONE);
  CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP);
  CeedQFunctionSetUserFlopsEstimate(qf, 1);
  CeedOperatorCreate(ceed, qf, NULL, NULL, &op);
  CeedOperatorSetField(op, "u", rstr, basis, CEED_VECTOR_ACTIVE);
  CeedOperatorSetField(op, "qd", rstr_q, CEED_BASIS_NONE, qd);
  CeedOperatorSetField(op, "v", rstr, basis, CEED_VECTOR_ACTIVE);
  CeedElemRestrictionDestroy(&rstr);
  CeedElemRestrictionDestroy(&rstr_q);
  CeedQFunctionDestroy(&qf);
  CeedVectorDestroy(&qd);
  CeedBasisDestroy(&basis);
  return op;
}

// The standard's check value: mass on 6 triangles of 6 nodes and 4 points, and on 6 quadrilaterals with P =
// 3, Q = 4. Triangles: 36 + 6 (2*6*4 + 4) = 348. Quadrilaterals: 54 + 6 (168 + 256 + 16) = 2694.
TEST_EACH_BACKEND(flops_of_a_composite_give_the_check_value_of_the_standard) {
  CeedBasis triangle = NULL, quad = NULL;
  CeedOperator composite = NULL, op = NULL;
  CeedSize flops = -1;

  CHECK_OK(CeedBasisCreateH1(ceed, CEED_TOPOLOGY_TRIANGLE, 1, 6, 4, NULL, NULL, NULL, NULL, &triangle));
  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 2, 1, 3, 4, CEED_GAUSS, &quad));
  CHECK_OK(CeedOperatorCreateComposite(ceed, &composite));
  CHECK_OK(CeedOperatorGetFlopsEstimate(composite, &flops));
  CHECK(flops == 0, "an empty composite: %td", flops);
  op = mass_operator(ceed, triangle, 6, 6, 4);
  CHECK_OK(CeedOperatorGetFlopsEstimate(op, &flops));
  CHECK(flops == 348, "triangles: %td", flops);
  CHECK_OK(CeedOperatorCompositeAddSub(composite, op));
  CHECK_OK(CeedOperatorDestroy(&op));
  op = mass_operator(ceed, quad, 6, 9, 16);
  CHECK_OK(CeedOperatorGetFlopsEstimate(op, &flops));
  CHECK(flops == 2694, "quadrilaterals: %td", flops);
  CHECK_OK(CeedOperatorCompositeAddSub(composite, op));
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedOperatorGetFlopsEstimate(composite, &flops));
  CHECK(flops == 3042, "both: %td", flops);
  CHECK_OK(CeedOperatorDestroy(&composite));
}

TEST_EACH_BACKEND(flops_need_an_estimate_of_the_qfunction_and_elements) {
  Small s;
  CeedOperator op = NULL, empty = mass_operator(ceed, small_basis(ceed, 1), 0, 2, 2);
  CeedQFunction qf = NULL;
  CeedSize flops = -1;

  CHECK_OK(CeedOperatorGetFlopsEstimate(empty, &flops));
  CHECK(flops == 0, "without elements: %td", flops);
  small_open_without_fields(ceed, &s);
  if (tap_failed()) return;
  CHECK_ERROR(ceed, CeedOperatorGetFlopsEstimate(s.op, &flops), CEED_ERROR_INCOMPLETE, "field");
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, SmallScale, "", &qf));
  CHECK_OK(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  CHECK_OK(CeedOperatorSetField(op, "u", s.rstr_u, s.basis, s.u)); // passive: not counted
  CHECK_OK(CeedOperatorSetField(op, "v", s.rstr_u, s.basis, CEED_VECTOR_ACTIVE));
  CHECK_ERROR(ceed, CeedOperatorGetFlopsEstimate(op, &flops), CEED_ERROR_INCOMPLETE,
              "CeedOperatorGetFlopsEstimate");
  CHECK_OK(CeedQFunctionSetUserFlopsEstimate(qf, 100));
  CHECK_OK(CeedOperatorGetFlopsEstimate(op, &flops));
  CHECK(flops == 2 * 2 * 100 + 4 + 2 * (2 * 2 * 2), "%td", flops); // QFunction, restriction, basis
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedOperatorDestroy(&empty));
  CHECK_OK(CeedQFunctionDestroy(&qf));
  small_close(&s);
}

// ---- Views ----

#define BODY(tab)                                                                                            \
  tab "  2 elements with 2 quadrature points each\n" tab "  4 fields\n" tab "  3 input fields:\n" tab        \
      "    Input field 0:\n" tab "      Name: \"u\"\n" tab "      Size: 1\n" tab                             \
      "      EvalMode: interpolation\n" tab "      Active vector\n" tab "    Input field 1:\n" tab           \
      "      Name: \"qd\"\n" tab "      Size: 1\n" tab "      EvalMode: none\n" tab "      No basis\n" tab   \
      "    Input field 2:\n" tab "      Name: \"w\"\n" tab "      Size: 1\n" tab                             \
      "      EvalMode: quadrature weights\n" tab "      No vector\n" tab "  1 output field:\n" tab           \
      "    Output field 0:\n" tab "      Name: \"v\"\n" tab "      Size: 1\n" tab                            \
      "      EvalMode: interpolation\n" tab "      Active vector\n"

TEST_EACH_BACKEND(a_view_shows_name_sizes_and_fields) {
  Small s;
  CeedInt tabs = -1;

  small_open_without_fields(ceed, &s);
  if (tap_failed()) return;
  CHECK_PRINTS_CODE(CEED_ERROR_INCOMPLETE, "CeedOperator - SmallScale\n", CeedOperatorView(s.op, stream));
  CHECK_PRINTS("CeedOperator - SmallScale\n", CeedOperatorViewTerse(s.op, stream));
  CHECK_OK(small_set_fields(s.op, &s));
  CHECK_PRINTS("CeedOperator - SmallScale\n" BODY(""), CeedOperatorView(s.op, stream));
  CHECK_OK(CeedOperatorSetName(s.op, "mass"));
  CHECK_OK(CeedOperatorSetNumViewTabs(s.op, 1));
  CHECK_PRINTS("  CeedOperator - mass\n" BODY("  "), CeedObjectView((CeedObject)s.op, stream));
  CHECK_PRINTS("  CeedOperator - mass\n", CeedOperatorViewTerse(s.op, stream));
  CHECK_ERROR(ceed, CeedOperatorSetNumViewTabs(s.op, -1), CEED_ERROR_MINOR, "view tabs");
  CHECK_OK(CeedOperatorGetNumViewTabs(s.op, &tabs));
  CHECK(tabs == 1, "%d", tabs);
  small_close(&s);
}

// One element, one field in all, no source and thus no name.
TEST_EACH_BACKEND(a_view_has_plurals_above_one_and_no_empty_name) {
  CeedQFunction qf = NULL;
  CeedElemRestriction rstr = NULL;
  CeedVector vec = vector_of(ceed, 1, NULL);
  CeedOperator op = NULL;

  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, SmallScale, "", &qf));
  CHECK_OK(CeedQFunctionAddOutput(qf, "z", 1, CEED_EVAL_NONE));
  CHECK_OK(CeedElemRestrictionCreateStrided(ceed, 1, 1, 1, 1, CEED_STRIDES_BACKEND, &rstr));
  CHECK_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  CHECK_PRINTS("CeedOperator\n", CeedOperatorViewTerse(op, stream));
  CHECK_OK(CeedOperatorSetField(op, "z", rstr, CEED_BASIS_NONE, vec));
  CHECK_PRINTS("CeedOperator\n  1 elements with 1 quadrature points each\n  1 field\n  0 input field:\n"
               "  1 output field:\n    Output field 0:\n      Name: \"z\"\n      Size: 1\n"
               "      EvalMode: none\n      No basis\n",
               CeedOperatorView(op, stream));
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedQFunctionDestroy(&qf));
  CHECK_OK(CeedElemRestrictionDestroy(&rstr));
  CHECK_OK(CeedVectorDestroy(&vec));
}

TEST_EACH_BACKEND(a_view_of_an_operator_at_points_counts_points) {
  const CeedInt lists[6] = {3, 4, 6, 0, 1, 0};
  CeedElemRestriction points = NULL;
  CeedQFunction qf = NULL;
  CeedVector vec = vector_of(ceed, 3, NULL);
  CeedOperator op = NULL;

  CHECK_OK(
      CeedElemRestrictionCreateAtPoints(ceed, 2, 3, 1, 3, CEED_MEM_HOST, CEED_COPY_VALUES, lists, &points));
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, SmallScale, "f.h:push", &qf));
  CHECK_OK(CeedQFunctionAddOutput(qf, "z", 1, CEED_EVAL_NONE));
  CHECK_OK(CeedOperatorCreateAtPoints(ceed, qf, NULL, NULL, &op));
  CHECK_OK(CeedOperatorSetField(op, "z", points, CEED_BASIS_NONE, vec));
  CHECK_OK(CeedOperatorAtPointsSetPoints(op, points, vec));
  CHECK_PRINTS("CeedOperator AtPoints - push\n", CeedOperatorViewTerse(op, stream));
  CHECK_PRINTS("CeedOperator AtPoints - push\n  2 elements with 2 max points each\n  1 field\n"
               "  0 input field:\n  1 output field:\n    Output field 0:\n      Name: \"z\"\n      Size: 1\n"
               "      EvalMode: none\n      No basis\n",
               CeedOperatorView(op, stream));
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedQFunctionDestroy(&qf));
  CHECK_OK(CeedElemRestrictionDestroy(&points));
  CHECK_OK(CeedVectorDestroy(&vec));
}

TEST_EACH_BACKEND(a_view_of_a_composite_shows_its_parts) {
  Small s;
  CeedOperator composite = NULL, second = NULL;

  SMALL_OPEN(ceed, &s);
  CHECK_OK(CeedOperatorCreateComposite(ceed, &composite));
  CHECK_PRINTS("Composite CeedOperator\n", CeedOperatorView(composite, stream));
  CHECK_OK(CeedOperatorSetName(composite, "rhs"));
  CHECK_OK(CeedOperatorSetName(s.op, "walls"));
  CHECK_OK(CeedOperatorSetNumViewTabs(s.op, 3)); // a part's own tabs do not count
  CHECK_OK(CeedOperatorCompositeAddSub(composite, s.op));
  CHECK_OK(CeedOperatorCreate(ceed, s.qf, NULL, NULL, &second));
  CHECK_OK(CeedOperatorCompositeAddSub(composite, second));
  CHECK_PRINTS("Composite CeedOperator - rhs\n  SubOperator 0 - walls\n  SubOperator 1\n",
               CeedOperatorViewTerse(composite, stream));
  CHECK_OK(small_set_fields(second, &s));
  CHECK_PRINTS("Composite CeedOperator - rhs\n  SubOperator 0 - walls:\n" BODY(
                   "  ") "  SubOperator 1:\n" BODY("  "),
               CeedOperatorView(composite, stream));
  CHECK_OK(CeedOperatorSetNumViewTabs(composite, 1));
  CHECK_PRINTS("  Composite CeedOperator - rhs\n    SubOperator 0 - walls\n    SubOperator 1\n",
               CeedOperatorViewTerse(composite, stream));
  CHECK_PRINTS("  Composite CeedOperator - rhs\n    SubOperator 0 - walls:\n" BODY(
                   "    ") "    SubOperator 1:\n" BODY("    "),
               CeedObjectView((CeedObject)composite, stream));
  CHECK_OK(CeedOperatorDestroy(&composite));
  CHECK_OK(CeedOperatorDestroy(&second));
  small_close(&s);
}

// ---- NULL ----

TEST(null_operators_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref"), found = NULL;
  CeedOperator op = NULL, live = NULL, *list;
  CeedOperatorField *fields, field;
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  CeedVector vec = NULL;
  CeedQFunction qf = NULL;
  CeedInt n;
  CeedSize size;
  const char *name;
  bool flag;

  CHECK_OK(CeedOperatorCreateComposite(ceed, &live));
#define REFUSED(expr) CHECK_ERROR(NULL, expr, CEED_ERROR_INCOMPATIBLE, "NULL")
  REFUSED(CeedOperatorCreate(NULL, CEED_QFUNCTION_NONE, NULL, NULL, &op));
  REFUSED(CeedOperatorCreateAtPoints(NULL, CEED_QFUNCTION_NONE, NULL, NULL, &op));
  REFUSED(CeedOperatorCreateComposite(NULL, &op));
  REFUSED(CeedOperatorReferenceCopy(NULL, &op));
  REFUSED(CeedOperatorSetField(NULL, "u", NULL, NULL, NULL));
  REFUSED(CeedOperatorGetFields(NULL, &n, &fields, &n, &fields));
  REFUSED(CeedOperatorGetFieldByName(NULL, "u", &field));
  REFUSED(CeedOperatorFieldGetName(NULL, &name));
  REFUSED(CeedOperatorFieldGetElemRestriction(NULL, &rstr));
  REFUSED(CeedOperatorFieldGetBasis(NULL, &basis));
  REFUSED(CeedOperatorFieldGetVector(NULL, &vec));
  REFUSED(CeedOperatorFieldGetData(NULL, &name, NULL, NULL, NULL));
  REFUSED(CeedOperatorGetNumElements(NULL, &n));
  REFUSED(CeedOperatorGetNumQuadraturePoints(NULL, &n));
  REFUSED(CeedOperatorGetActiveVectorLengths(NULL, &size, &size));
  REFUSED(CeedOperatorGetCeed(NULL, &found));
  REFUSED(CeedOperatorCompositeAddSub(NULL, live));
  REFUSED(CeedOperatorCompositeAddSub(live, NULL));
  REFUSED(CeedOperatorCompositeGetNumSub(NULL, &n));
  REFUSED(CeedOperatorCompositeGetSubList(NULL, &list));
  REFUSED(CeedOperatorCompositeGetSubByName(NULL, "x", &op));
  REFUSED(CeedOperatorCompositeSetSequential(NULL, true));
  REFUSED(CeedOperatorCompositeIsSequential(NULL, &flag));
  REFUSED(CeedOperatorCompositeGetMultiplicity(NULL, 0, NULL, vec));
  REFUSED(CeedOperatorCheckReady(NULL));
  REFUSED(CeedOperatorSetName(NULL, "x"));
  REFUSED(CeedOperatorGetName(NULL, &name));
  REFUSED(CeedOperatorGetFlopsEstimate(NULL, &size));
  REFUSED(CeedOperatorSetNumViewTabs(NULL, 1));
  REFUSED(CeedOperatorGetNumViewTabs(NULL, &n));
  REFUSED(CeedOperatorView(NULL, stderr));
  REFUSED(CeedOperatorViewTerse(NULL, stderr));
  REFUSED(CeedOperatorIsAtPoints(NULL, &flag));
  REFUSED(CeedOperatorIsComposite(NULL, &flag));
  REFUSED(CeedOperatorGetQFunction(NULL, &qf));
  REFUSED(CeedOperatorGetActiveBasis(NULL, &basis));
  REFUSED(CeedOperatorGetActiveElemRestriction(NULL, &rstr));
  REFUSED(CeedOperatorGetNumArgs(NULL, &n));
  REFUSED(CeedOperatorHasTensorBases(NULL, &flag));
  REFUSED(CeedOperatorAtPointsSetPoints(NULL, rstr, vec));
  REFUSED(CeedOperatorAtPointsGetPoints(NULL, &rstr, &vec));
#undef REFUSED
  CHECK(CeedOperatorReturnCeed(NULL) == NULL && op == NULL, "something comes of nothing");
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedOperatorDestroy(&live));
  CHECK_OK(CeedDestroy(&ceed));
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(an_operator_needs_a_qfunction, references_are_counted, an_operator_keeps_alive_what_it_was_given,
            fields_that_do_not_fit_are_refused_in_the_order_of_the_standard,
            active_fields_of_a_direction_have_one_length, a_refused_field_fixes_no_sizes,
            composites_have_no_fields, operators_at_points_take_points_of_one_kind,
            an_operator_is_ready_when_all_fields_are_set, an_operator_without_restrictions_is_not_ready,
            points_of_an_operator_are_a_multiple_of_the_vector_length,
            fields_come_in_the_order_of_the_qfunction, parts_of_a_field_are_new_references,
            an_operator_tells_its_sizes_and_parts, active_parts_are_those_that_all_active_fields_share,
            names_are_copied_and_fall_back_to_the_qfunctions,
            flops_of_a_composite_give_the_check_value_of_the_standard,
            flops_need_an_estimate_of_the_qfunction_and_elements, a_view_shows_name_sizes_and_fields,
            a_view_has_plurals_above_one_and_no_empty_name, a_view_of_an_operator_at_points_counts_points,
            a_view_of_a_composite_shows_its_parts, null_operators_are_refused));
}
