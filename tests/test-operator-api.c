// SPDX-License-Identifier: BSD-2-Clause
// CeedOperator: fields and their checks, readiness, queries, names, flops, views, composites as containers.
// What happens in an apply is in tests/test-operator-apply.c, context fields in
// tests/test-operator-context.c.
#include "core/memory.h"
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

// ---- SetField: the checks of the standard, 3.3, in their order ----

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
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, small_scale, "", &qf));
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

  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, small_scale, "", &qf));
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
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 4, small_scale, "", &qf));
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

  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, small_scale, "", &qf));
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
  CHECK(!strcmp(name, "scale"), "'%s'", name);
  CHECK_OK(CeedOperatorSetName(s.op, mine));
  mine[0] = 'x';
  CHECK_OK(CeedOperatorGetName(s.op, &name));
  CHECK(!strcmp(name, "mass"), "'%s'", name);
  CHECK_OK(CeedOperatorSetName(s.op, ""));
  CHECK_OK(CeedOperatorGetName(s.op, &name));
  CHECK(!strcmp(name, "scale"), "'%s'", name);
  CHECK_OK(CeedOperatorSetName(s.op, "again"));
  CHECK_OK(CeedOperatorSetName(s.op, NULL));
  CHECK_OK(CeedOperatorGetName(s.op, &name));
  CHECK(!strcmp(name, "scale"), "'%s'", name);
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
  CeedQFunctionCreateInterior(ceed, 1, small_scale, "", &qf);
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
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, small_scale, "", &qf));
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
  CHECK_PRINTS_CODE(CEED_ERROR_INCOMPLETE, "CeedOperator - scale\n", CeedOperatorView(s.op, stream));
  CHECK_PRINTS("CeedOperator - scale\n", CeedOperatorViewTerse(s.op, stream));
  CHECK_OK(small_set_fields(s.op, &s));
  CHECK_PRINTS("CeedOperator - scale\n" BODY(""), CeedOperatorView(s.op, stream));
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

  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, small_scale, "", &qf));
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
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, small_scale, "f.h:push", &qf));
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

// ---- Composites as containers ----

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
  CHECK_OK(CeedOperatorCompositeGetSubByName(composite, "scale", &found));
  CHECK(found == NULL, "a part of an empty composite");
  for (int i = 0; i < NUM; i++) CHECK_OK(CeedOperatorCompositeAddSub(composite, s.op)); // one operator often
  CHECK_OK(CeedOperatorCompositeGetNumSub(composite, &num));
  CHECK_OK(CeedOperatorCompositeGetSubList(composite, &list));
  CHECK(num == NUM && list[0] == s.op && list[NUM - 1] == s.op, "%d parts", num);
  CHECK_OK(CeedOperatorCompositeGetSubByName(composite, "scale", &found));
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
  Misfits m;
  CeedOperator composite = NULL, other = NULL;
  CeedSize in = 5, out = 5;

  small_open_without_fields(ceed, &s);
  open_misfits(ceed, &m);
  if (tap_failed()) return;
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
  CHECK_OK(CeedOperatorSetField(other, "u", m.longer, s.basis, CEED_VECTOR_ACTIVE));
  CHECK_ERROR(ceed, CeedOperatorCompositeAddSub(composite, other), CEED_ERROR_MAJOR,
              "CeedOperatorCompositeAddSub");
  CeedInt num = 0;
  CHECK_OK(CeedOperatorCompositeGetNumSub(composite, &num));
  CHECK(num == 1, "%d parts", num);
  CHECK_OK(CeedOperatorApply(composite, s.u, s.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(s.v, 1, 70, 800);
  CHECK_OK(CeedOperatorDestroy(&composite));
  CHECK_OK(CeedOperatorDestroy(&other));
  close_misfits(&m);
  small_close(&s);
}

// Parts that get their fields later may turn out not to fit.
TEST_EACH_BACKEND(parts_that_conflict_later_are_found_when_the_composite_is_used) {
  Small s;
  Misfits m;
  CeedOperator composite = NULL, other = NULL;
  CeedSize in = 0;

  small_open_without_fields(ceed, &s);
  open_misfits(ceed, &m);
  if (tap_failed()) return;
  CHECK_OK(CeedOperatorCreateComposite(ceed, &composite));
  CHECK_OK(CeedOperatorCreate(ceed, s.qf, NULL, NULL, &other));
  CHECK_OK(CeedOperatorCompositeAddSub(composite, s.op));
  CHECK_OK(CeedOperatorCompositeAddSub(composite, other));
  CHECK_OK(small_set_fields(s.op, &s));
  CHECK_OK(CeedOperatorSetField(other, "u", m.longer, s.basis, CEED_VECTOR_ACTIVE));
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
  close_misfits(&m);
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

// ---- Memory ----

// Everything that the small operator is made of, with one allocation after the other failing.
static int make_and_apply(Ceed ceed, Small *s, CeedOperator *composite) {
  CeedQFunctionContext ctx = NULL;
  double factor = 2;
  int ierr = CeedElemRestrictionCreate(ceed, SMALL_ELEM, SMALL_P, 1, 1, SMALL_NODES, CEED_MEM_HOST,
                                       CEED_COPY_VALUES, small_offsets, &s->rstr_u);

  if (!ierr) {
    ierr = CeedElemRestrictionCreateStrided(ceed, SMALL_ELEM, SMALL_Q, 1, SMALL_POINTS, CEED_STRIDES_BACKEND,
                                            &s->rstr_q);
  }
  if (!ierr) ierr = CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, SMALL_P, SMALL_Q, CEED_GAUSS, &s->basis);
  if (!ierr) ierr = CeedQFunctionCreateInterior(ceed, 1, small_scale, "small.h:scale", &s->qf);
  if (!ierr) ierr = CeedQFunctionAddInput(s->qf, "u", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionAddInput(s->qf, "qd", 1, CEED_EVAL_NONE);
  if (!ierr) ierr = CeedQFunctionAddInput(s->qf, "w", 1, CEED_EVAL_WEIGHT);
  if (!ierr) ierr = CeedQFunctionAddOutput(s->qf, "v", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionContextCreate(ceed, &ctx);
  if (!ierr) {
    ierr = CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(factor), &factor);
  }
  if (!ierr) ierr = CeedQFunctionContextRegisterDouble(ctx, "factor", 0, 1, "text");
  if (!ierr) ierr = CeedQFunctionSetContext(s->qf, ctx);
  if (!ierr) ierr = CeedVectorCreate(ceed, SMALL_NODES, &s->u);
  if (!ierr) ierr = CeedVectorCreate(ceed, SMALL_NODES, &s->v);
  if (!ierr) ierr = CeedVectorCreate(ceed, SMALL_POINTS, &s->qd);
  if (!ierr) ierr = CeedVectorSetValue(s->u, 1);
  if (!ierr) ierr = CeedVectorSetValue(s->qd, 1);
  if (!ierr) ierr = CeedOperatorCreate(ceed, s->qf, NULL, NULL, &s->op);
  if (!ierr) ierr = small_set_fields(s->op, s);
  if (!ierr) ierr = CeedOperatorSetName(s->op, "name");
  if (!ierr) ierr = CeedOperatorCreateComposite(ceed, composite);
  if (!ierr) ierr = CeedOperatorCompositeAddSub(*composite, s->op);
  CeedContextFieldLabel label = NULL;
  if (!ierr) ierr = CeedOperatorGetContextFieldLabel(*composite, "factor", &label);
  if (!ierr) ierr = CeedOperatorSetContextDouble(*composite, label, &factor);
  if (!ierr) ierr = CeedOperatorApply(*composite, s->u, s->v, CEED_REQUEST_IMMEDIATE);
  CeedQFunctionContextDestroy(&ctx);
  return ierr;
}

TEST_EACH_BACKEND(running_out_of_memory_anywhere_is_an_error_and_leaves_nothing) {
  int code = CEED_ERROR_MAJOR, n = 0;

  while (code) {
    Small s = {0};
    CeedOperator composite = NULL;
    const int64_t live = ritz_memory_live();
    tap_forget_error(ceed);
    ritz_memory_fail_at(++n);
    code = make_and_apply(ceed, &s, &composite);
    ritz_memory_fail_at(0);
    const char *message = NULL;
    CHECK_OK(CeedGetErrorMessage(ceed, &message));
    CHECK(!code || (code == CEED_ERROR_MAJOR && strstr(message, "out of memory")), "allocation %d: %d, '%s'",
          n, code, message);
    CHECK_OK(CeedOperatorDestroy(&composite));
    small_close(&s);
    if (tap_failed()) return;
    CHECK(ritz_memory_live() == live, "allocation %d: %d are left", n, (int)(ritz_memory_live() - live));
  }
  CHECK(n > 30, "only %d allocations", n);
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
            a_view_of_a_composite_shows_its_parts, a_composite_lists_its_parts,
            calls_for_the_other_kind_of_operator_are_refused, lengths_of_a_composite_are_those_of_its_parts,
            parts_that_conflict_later_are_found_when_the_composite_is_used,
            multiplicities_count_the_parts_that_touch_an_entry, old_names_of_composite_calls_still_work,
            running_out_of_memory_anywhere_is_an_error_and_leaves_nothing, null_operators_are_refused));
}
