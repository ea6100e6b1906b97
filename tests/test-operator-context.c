// SPDX-License-Identifier: BSD-2-Clause
// Context fields through operators and composites: labels and who may use them, values set and read, locks,
// contexts that are exchanged. Contexts alone are tested in tests/test-context.c.
#include "tests/small-operator.h"
#include "tests/tap.h"

// What the contexts of these tests hold. SmallScale multiplies by the first number.
typedef struct {
  double factor;
  int32_t n[2];
  bool flag;
} Params;

// An operator of its own with a context that borrows `params`.
typedef struct {
  Small small;
  Params params;
  CeedQFunctionContext ctx; // owned
} Part;

static void open_part(Ceed ceed, Part *p, double factor) {
  *p = (Part){.params = {factor, {1, 2}, true}};
  small_open_without_fields(ceed, &p->small); // fields are not needed for any of this
  CHECK_OK(CeedQFunctionContextCreate(ceed, &p->ctx));
  CHECK_OK(
      CeedQFunctionContextSetData(p->ctx, CEED_MEM_HOST, CEED_USE_POINTER, sizeof(p->params), &p->params));
  CHECK_OK(CeedQFunctionContextRegisterDouble(p->ctx, "factor", offsetof(Params, factor), 1, "a factor"));
  CHECK_OK(CeedQFunctionContextRegisterInt32(p->ctx, "n", offsetof(Params, n), 2, "two counts"));
  CHECK_OK(CeedQFunctionContextRegisterBoolean(p->ctx, "flag", offsetof(Params, flag), 1, ""));
  CHECK_OK(CeedQFunctionSetContext(p->small.qf, p->ctx));
}

static void close_part(Part *p) {
  small_close(&p->small);
  CHECK_OK(CeedQFunctionContextDestroy(&p->ctx));
}

#define OPEN_PART(ceed, p, factor)                                                                           \
  do {                                                                                                       \
    open_part((ceed), (p), (factor));                                                                        \
    if (tap_failed()) return;                                                                                \
  } while (0)

// A composite of two such parts and one without a context.
typedef struct {
  Part a, b;
  Small bare;
  CeedOperator composite; // owned
} Parts;

static void open_parts(Ceed ceed, Parts *p) {
  *p = (Parts){0};
  open_part(ceed, &p->a, 2);
  open_part(ceed, &p->b, 3);
  small_open_without_fields(ceed, &p->bare);
  if (tap_failed()) return;
  CHECK_OK(CeedOperatorCreateComposite(ceed, &p->composite));
  CHECK_OK(CeedOperatorCompositeAddSub(p->composite, p->bare.op));
  CHECK_OK(CeedOperatorCompositeAddSub(p->composite, p->a.small.op));
  CHECK_OK(CeedOperatorCompositeAddSub(p->composite, p->b.small.op));
}

static void close_parts(Parts *p) {
  CHECK_OK(CeedOperatorDestroy(&p->composite));
  close_part(&p->a);
  close_part(&p->b);
  small_close(&p->bare);
}

#define OPEN_PARTS(ceed, p)                                                                                  \
  do {                                                                                                       \
    open_parts((ceed), (p));                                                                                 \
    if (tap_failed()) return;                                                                                \
  } while (0)

static CeedContextFieldLabel label_of(CeedOperator op, const char *name) {
  CeedContextFieldLabel label = NULL;
  return CeedOperatorGetContextFieldLabel(op, name, &label) ? NULL : label;
}

// ---- Single operators ----

TEST_EACH_BACKEND(an_operator_gives_the_context_of_its_qfunction) {
  Part p;
  CeedQFunctionContext found = (CeedQFunctionContext)&p; // overwritten
  CeedOperator composite = NULL;

  OPEN_PART(ceed, &p, 1);
  CHECK_OK(CeedOperatorGetContext(p.small.op, &found));
  CHECK(found == p.ctx, "another context");
  CHECK_OK(CeedQFunctionContextDestroy(&found)); // a new reference
  CHECK_OK(CeedOperatorCreateComposite(ceed, &composite));
  CHECK_ERROR(ceed, CeedOperatorGetContext(composite, &found), CEED_ERROR_INCOMPATIBLE,
              "CeedOperatorGetContext");
  CHECK_OK(CeedQFunctionSetContext(p.small.qf, NULL));
  CHECK_OK(CeedOperatorGetContext(p.small.op, &found));
  CHECK(found == NULL, "a context remains");
  CHECK_OK(CeedOperatorDestroy(&composite));
  close_part(&p);
}

TEST_EACH_BACKEND(values_of_an_operator_are_set_and_read_by_label) {
  Part p;
  const double *d = NULL;
  const int32_t *i = NULL;
  const bool *b = NULL;
  size_t num = 0;

  OPEN_PART(ceed, &p, 1);
  CeedOperator op = p.small.op;
  CeedContextFieldLabel factor = label_of(op, "factor"), n = label_of(op, "n"), flag = label_of(op, "flag");
  CHECK(factor && n && flag && label_of(op, "factor") == factor, "labels");
  CHECK(label_of(op, "none") == NULL, "a label of nothing");
  CHECK_OK(CeedOperatorSetContextDouble(op, factor, &(double){5}));
  CHECK_OK(CeedOperatorSetContextInt32(op, n, (int32_t[2]){7, 8}));
  CHECK_OK(CeedOperatorSetContextBoolean(op, flag, &(bool){false}));
  CHECK(p.params.factor == 5 && p.params.n[0] == 7 && p.params.n[1] == 8 && !p.params.flag, "values");
  CHECK_OK(CeedOperatorGetContextDoubleRead(op, factor, &num, &d));
  CHECK(num == 1 && *d == 5, "%zu values", num);
  CHECK_OK(CeedOperatorGetContextInt32Read(op, n, &num, &i));
  CHECK(num == 2 && i[0] == 7 && i[1] == 8, "%zu values", num);
  CHECK_OK(CeedOperatorGetContextBooleanRead(op, flag, &num, &b));
  CHECK(num == 1 && !*b, "%zu values", num);
  CHECK_OK(CeedOperatorRestoreContextDoubleRead(op, factor, &d));
  CHECK_OK(CeedOperatorRestoreContextInt32Read(op, n, &i));
  CHECK_OK(CeedOperatorRestoreContextBooleanRead(op, flag, &b));
  CHECK(d == NULL && i == NULL && b == NULL, "pointers stay");
  CHECK_OK(small_set_fields(op, &p.small));
  CHECK_OK(CeedOperatorApply(op, p.small.u, p.small.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(p.small.v, 5, 350, 4000);
  close_part(&p);
}

TEST_EACH_BACKEND(labels_that_do_not_fit_an_operator_are_refused) {
  Part p;
  const int32_t *i = NULL;
  const double *d = NULL;
  size_t num = 3;

  OPEN_PART(ceed, &p, 1);
  CeedOperator op = p.small.op;
  CeedContextFieldLabel factor = label_of(op, "factor");
#define REFUSED(call, function) CHECK_ERROR(ceed, call, CEED_ERROR_UNSUPPORTED, function)
  REFUSED(CeedOperatorSetContextDouble(op, NULL, &(double){4}), "CeedOperatorSetContextDouble");
  REFUSED(CeedOperatorSetContextInt32(op, factor, (int32_t[2]){4, 4}), "CeedOperatorSetContextInt32");
  REFUSED(CeedOperatorSetContextBoolean(op, factor, &(bool){0}), "CeedOperatorSetContextBoolean");
  d = &p.params.factor;
  REFUSED(CeedOperatorGetContextDoubleRead(op, NULL, &num, &d), "CeedOperatorGetContextDoubleRead");
  CHECK(d == NULL && num == 0, "results of a refused call");
  REFUSED(CeedOperatorGetContextInt32Read(op, factor, &num, &i), "CeedOperatorGetContextInt32Read");
  REFUSED(CeedOperatorRestoreContextDoubleRead(op, NULL, &d), "CeedOperatorRestoreContextDoubleRead");
  CHECK_ERROR(ceed, CeedOperatorRestoreContextDoubleRead(op, factor, &d), CEED_ERROR_MINOR, "not granted");
  CHECK_ERROR(ceed, CeedOperatorGetContextFieldLabel(op, NULL, &factor), CEED_ERROR_INCOMPATIBLE, "name");
  CHECK_OK(CeedQFunctionSetContext(p.small.qf, NULL));
  REFUSED(CeedOperatorSetContextDouble(op, factor, &(double){4}), "CeedOperatorSetContextDouble");
  CHECK(label_of(op, "factor") == NULL, "a label without a context");
#undef REFUSED
  CHECK(p.params.factor == 1 && p.params.n[0] == 1 && p.params.flag, "values change");
  close_part(&p);
}

TEST_EACH_BACKEND(a_lent_context_refuses_new_values) {
  Part p;
  const double *d = NULL;
  Params *data = NULL;
  size_t num;

  OPEN_PART(ceed, &p, 1);
  CeedOperator op = p.small.op;
  CeedContextFieldLabel factor = label_of(op, "factor");
  CHECK_OK(CeedOperatorGetContextDoubleRead(op, factor, &num, &d));
  CHECK_ERROR(ceed, CeedOperatorSetContextDouble(op, factor, &(double){4}), CEED_ERROR_MINOR, "read access");
  CHECK_OK(CeedOperatorSetContextDouble(op, factor, &(double){1})); // equal values are not written
  CHECK_OK(CeedOperatorRestoreContextDoubleRead(op, factor, &d));
  CHECK_OK(CeedQFunctionContextGetData(p.ctx, CEED_MEM_HOST, &data));
  CHECK_ERROR(ceed, CeedOperatorGetContextDoubleRead(op, factor, &num, &d), CEED_ERROR_MINOR, "access lock");
  CHECK_ERROR(ceed, CeedOperatorSetContextDouble(op, factor, &(double){4}), CEED_ERROR_MINOR, "access lock");
  CHECK_OK(CeedQFunctionContextRestoreData(p.ctx, &data));
  CHECK_OK(CeedOperatorSetContextDouble(op, factor, &(double){4}));
  CHECK(p.params.factor == 4, "%g", p.params.factor);
  close_part(&p);
}

// A label from the context itself is good for every operator, until one has asked for it: from then on each
// has to ask.
TEST_EACH_BACKEND(labels_belong_to_the_operators_that_asked) {
  Part p;
  CeedOperator other = NULL;
  CeedContextFieldLabel label = NULL;

  OPEN_PART(ceed, &p, 1);
  CHECK_OK(CeedOperatorCreate(ceed, p.small.qf, NULL, NULL, &other)); // shares the context
  CHECK_OK(CeedQFunctionContextGetFieldLabel(p.ctx, "factor", &label));
  CHECK_OK(CeedOperatorSetContextDouble(p.small.op, label, &(double){2}));
  CHECK_OK(CeedOperatorSetContextDouble(other, label, &(double){3}));
  CHECK(label_of(other, "factor") == label, "another label");
  CHECK_OK(CeedOperatorSetContextDouble(other, label, &(double){4}));
  CHECK_ERROR(ceed, CeedOperatorSetContextDouble(p.small.op, label, &(double){5}), CEED_ERROR_UNSUPPORTED,
              "not issued by this operator");
  CHECK(p.params.factor == 4, "%g", p.params.factor);
  CHECK(label_of(p.small.op, "factor") == label, "another label");
  CHECK_OK(CeedOperatorSetContextDouble(p.small.op, label, &(double){6}));
  CHECK(p.params.factor == 6, "%g", p.params.factor);
  CHECK_OK(CeedOperatorDestroy(&other));
  close_part(&p);
}

// ---- Composites ----

TEST_EACH_BACKEND(a_composite_has_one_label_for_all_parts) {
  Parts p;
  const char *name = NULL, *description = NULL;
  size_t offset = 1, num = 0;
  CeedContextFieldType type;
  const int32_t *n = NULL;

  OPEN_PARTS(ceed, &p);
  CeedContextFieldLabel label = label_of(p.composite, "n"), factor = label_of(p.composite, "factor");
  CHECK(label && label_of(p.composite, "n") == label, "another label at the second time");
  CHECK(label_of(p.composite, "none") == NULL, "a label of nothing");
  CHECK_OK(CeedContextFieldLabelGetDescription(label, &name, &offset, &num, &description, &type));
  CHECK(!strcmp(name, "n") && offset == 0 && num == 2 && type == CEED_CONTEXT_FIELD_INT32, "'%s', %zu, %zu",
        name, offset, num);
  CHECK_OK(CeedOperatorSetContextInt32(p.composite, label, (int32_t[2]){5, 6}));
  CHECK_OK(CeedOperatorSetContextDouble(p.composite, factor, &(double){10}));
  CHECK(p.a.params.n[1] == 6 && p.b.params.n[1] == 6 && p.a.params.factor == 10 && p.b.params.factor == 10,
        "values");
  p.b.params.n[0] = 77;
  CHECK_OK(CeedOperatorGetContextInt32Read(p.composite, label, &num, &n));
  CHECK(num == 2 && n[0] == 5, "not those of the first part: %d", n[0]);
  CHECK_ERROR(ceed, CeedOperatorSetContextInt32(p.composite, label, (int32_t[2]){0, 0}), CEED_ERROR_MINOR,
              "read access");
  CHECK_OK(CeedOperatorRestoreContextInt32Read(p.composite, label, &n));
  CHECK(n == NULL, "the pointer stays");
  close_parts(&p);
}

TEST_EACH_BACKEND(a_composite_applies_what_was_set) {
  Parts p;

  OPEN_PARTS(ceed, &p);
  CHECK_OK(small_set_fields(p.a.small.op, &p.a.small));
  CHECK_OK(small_set_fields(p.b.small.op, &p.b.small));
  CHECK_OK(small_set_fields(p.bare.op, &p.bare));
  CHECK_OK(CeedOperatorApply(p.composite, p.bare.u, p.bare.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(p.bare.v, 6, 6 * 70, 6 * 800); // 1 + 2 + 3
  CHECK_OK(CeedOperatorSetContextDouble(p.composite, label_of(p.composite, "factor"), &(double){4}));
  CHECK_OK(CeedOperatorApply(p.composite, p.bare.u, p.bare.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(p.bare.v, 9, 9 * 70, 9 * 800); // 1 + 4 + 4
  close_parts(&p);
}

TEST_EACH_BACKEND(labels_of_composites_do_not_outlive_their_list_of_parts) {
  Parts p;
  const double *d = NULL;
  size_t num = 0;
  CeedOperator other = NULL;

  OPEN_PARTS(ceed, &p);
  CeedContextFieldLabel old = label_of(p.composite, "factor"), single = label_of(p.a.small.op, "factor");
  CHECK_OK(CeedOperatorSetContextDouble(p.composite, old, &(double){7}));
#define REFUSED(call) CHECK_ERROR(ceed, call, CEED_ERROR_UNSUPPORTED, "CeedOperator")
  REFUSED(CeedOperatorSetContextDouble(p.composite, single, &(double){8})); // that of a part
  REFUSED(CeedOperatorSetContextDouble(p.a.small.op, old, &(double){8}));   // that of the composite
  REFUSED(CeedOperatorSetContextDouble(p.composite, NULL, &(double){8}));
  REFUSED(CeedOperatorSetContextInt32(p.composite, old, &(int32_t){8}));
  CHECK_OK(CeedOperatorCreateComposite(ceed, &other));
  CHECK_OK(CeedOperatorCompositeAddSub(other, p.a.small.op));
  REFUSED(CeedOperatorSetContextDouble(other, old, &(double){8})); // another composite
  CHECK_OK(CeedOperatorCompositeAddSub(p.composite, p.a.small.op));
  REFUSED(CeedOperatorSetContextDouble(p.composite, old, &(double){8})); // has got a part
  REFUSED(CeedOperatorGetContextDoubleRead(p.composite, old, &num, &d));
#undef REFUSED
  CHECK(p.a.params.factor == 7 && p.b.params.factor == 7, "%g, %g", p.a.params.factor, p.b.params.factor);
  CeedContextFieldLabel fresh = label_of(p.composite, "factor");
  CHECK(fresh && fresh != old, "the old label");
  CHECK_OK(CeedOperatorSetContextDouble(p.composite, fresh, &(double){9}));
  CHECK(p.a.params.factor == 9 && p.b.params.factor == 9, "%g, %g", p.a.params.factor, p.b.params.factor);
  CHECK_OK(CeedOperatorDestroy(&other));
  close_parts(&p);
}

TEST_EACH_BACKEND(parts_that_register_a_name_differently_are_refused) {
  Parts p;
  CeedContextFieldLabel label = NULL;

  OPEN_PARTS(ceed, &p);
  CHECK_OK(CeedQFunctionContextRegisterDouble(p.a.ctx, "type", 0, 1, ""));
  CHECK_OK(CeedQFunctionContextRegisterInt32(p.b.ctx, "type", 0, 1, ""));
  CHECK_OK(CeedQFunctionContextRegisterInt32(p.a.ctx, "count", offsetof(Params, n), 1, ""));
  CHECK_OK(CeedQFunctionContextRegisterInt32(p.b.ctx, "count", offsetof(Params, n), 2, ""));
  CHECK_OK(CeedQFunctionContextRegisterDouble(p.b.ctx, "second", 0, 1, ""));
  CHECK_ERROR(ceed, CeedOperatorGetContextFieldLabel(p.composite, "type", &label), CEED_ERROR_INCOMPATIBLE,
              "CeedOperatorGetContextFieldLabel");
  CHECK_ERROR(ceed, CeedOperatorGetContextFieldLabel(p.composite, "count", &label), CEED_ERROR_INCOMPATIBLE,
              "CeedOperatorGetContextFieldLabel");
  label = label_of(p.composite, "second"); // of one part only
  CHECK_OK(CeedOperatorSetContextDouble(p.composite, label, &(double){12}));
  CHECK(p.a.params.factor == 2 && p.b.params.factor == 12, "%g, %g", p.a.params.factor, p.b.params.factor);
  close_parts(&p);
}

// The label of one context is no label of another, even if both have a field of the name.
TEST_EACH_BACKEND(labels_of_other_contexts_are_refused) {
  Part p, other;
  CeedContextFieldLabel label = NULL;

  OPEN_PART(ceed, &p, 2);
  OPEN_PART(ceed, &other, 3);
  CHECK_OK(CeedQFunctionContextGetFieldLabel(other.ctx, "factor", &label));
  CHECK_ERROR(ceed, CeedOperatorSetContextDouble(p.small.op, label, &(double){8}), CEED_ERROR_UNSUPPORTED,
              "another context");
  label = label_of(p.small.op, "factor");
  CHECK_OK(CeedQFunctionSetContext(p.small.qf, other.ctx)); // the operator's own label is of its old context
  CHECK_ERROR(ceed, CeedOperatorSetContextDouble(p.small.op, label, &(double){8}), CEED_ERROR_UNSUPPORTED,
              "another context");
  CHECK(p.params.factor == 2 && other.params.factor == 3, "%g, %g", p.params.factor, other.params.factor);
  CHECK_OK(CeedOperatorSetContextDouble(p.small.op, label_of(p.small.op, "factor"), &(double){8}));
  CHECK(p.params.factor == 2 && other.params.factor == 8, "%g, %g", p.params.factor, other.params.factor);
  close_part(&p);
  close_part(&other);
}

TEST_EACH_BACKEND(an_empty_composite_has_no_labels) {
  CeedOperator composite = NULL;

  CHECK_OK(CeedOperatorCreateComposite(ceed, &composite));
  CHECK(label_of(composite, "factor") == NULL, "a label");
  CHECK_OK(CeedOperatorDestroy(&composite));
}

// Contexts may be exchanged at any time: a composite's label means the field of this name in the contexts
// that its parts have now.
TEST_EACH_BACKEND(labels_of_composites_follow_exchanged_contexts) {
  Parts p;
  CeedQFunctionContext fresh = NULL;
  Params params = {0, {0, 0}, false};
  const double *d = NULL;
  size_t num = 0;

  OPEN_PARTS(ceed, &p);
  CeedContextFieldLabel label = label_of(p.composite, "factor");
  CHECK_OK(CeedQFunctionContextCreate(ceed, &fresh));
  CHECK_OK(CeedQFunctionContextSetData(fresh, CEED_MEM_HOST, CEED_USE_POINTER, sizeof(params), &params));
  CHECK_OK(CeedQFunctionContextRegisterDouble(fresh, "factor", offsetof(Params, factor), 1, ""));
  CHECK_OK(CeedQFunctionSetContext(p.a.small.qf, fresh));
  CHECK_OK(CeedQFunctionContextDestroy(&p.a.ctx)); // the label that the composite has seen is gone
  CHECK_OK(CeedOperatorSetContextDouble(p.composite, label, &(double){21}));
  CHECK(params.factor == 21 && p.b.params.factor == 21 && p.a.params.factor == 2, "%g, %g, %g", params.factor,
        p.b.params.factor, p.a.params.factor);
  CHECK_OK(CeedOperatorGetContextDoubleRead(p.composite, label, &num, &d));
  CHECK(num == 1 && d == &params.factor, "other values");
  CHECK_OK(CeedOperatorRestoreContextDoubleRead(p.composite, label, &d));
  CHECK_OK(CeedQFunctionContextDestroy(&fresh));
  close_parts(&p);
}

TEST_EACH_BACKEND(labels_of_composites_survive_detached_contexts) {
  Parts p;
  const double *d = NULL;
  size_t num = 0;

  OPEN_PARTS(ceed, &p);
  CeedContextFieldLabel label = label_of(p.composite, "factor");
  CHECK_OK(CeedQFunctionSetContext(p.a.small.qf, NULL));
  CHECK_OK(CeedQFunctionContextDestroy(&p.a.ctx));
  CHECK_OK(CeedOperatorSetContextDouble(p.composite, label, &(double){21}));
  CHECK(p.a.params.factor == 2 && p.b.params.factor == 21, "%g, %g", p.a.params.factor, p.b.params.factor);
  CHECK_OK(CeedQFunctionSetContext(p.b.small.qf, NULL));
  CHECK_OK(CeedQFunctionContextDestroy(&p.b.ctx));
  CHECK_ERROR(ceed, CeedOperatorGetContextDoubleRead(p.composite, label, &num, &d), CEED_ERROR_UNSUPPORTED,
              "factor");
  CHECK(d == NULL && num == 0, "values of nothing");
  close_parts(&p);
}

// ---- NULL ----

TEST(null_operators_are_refused) {
  CeedQFunctionContext ctx = NULL;
  CeedContextFieldLabel label = NULL;
  const double *d = NULL;
  const int32_t *i = NULL;
  const bool *b = NULL;
  size_t num;

#define REFUSED(expr) CHECK_ERROR(NULL, expr, CEED_ERROR_INCOMPATIBLE, "NULL")
  REFUSED(CeedOperatorGetContext(NULL, &ctx));
  REFUSED(CeedOperatorGetContextFieldLabel(NULL, "x", &label));
  REFUSED(CeedOperatorSetContextDouble(NULL, label, &(double){1}));
  REFUSED(CeedOperatorSetContextInt32(NULL, label, &(int32_t){1}));
  REFUSED(CeedOperatorSetContextBoolean(NULL, label, &(bool){1}));
  REFUSED(CeedOperatorGetContextDoubleRead(NULL, label, &num, &d));
  REFUSED(CeedOperatorGetContextInt32Read(NULL, label, &num, &i));
  REFUSED(CeedOperatorGetContextBooleanRead(NULL, label, &num, &b));
  REFUSED(CeedOperatorRestoreContextDoubleRead(NULL, label, &d));
  REFUSED(CeedOperatorRestoreContextInt32Read(NULL, label, &i));
  REFUSED(CeedOperatorRestoreContextBooleanRead(NULL, label, &b));
#undef REFUSED
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(an_operator_gives_the_context_of_its_qfunction, values_of_an_operator_are_set_and_read_by_label,
            labels_that_do_not_fit_an_operator_are_refused, a_lent_context_refuses_new_values,
            labels_belong_to_the_operators_that_asked, a_composite_has_one_label_for_all_parts,
            a_composite_applies_what_was_set, labels_of_composites_do_not_outlive_their_list_of_parts,
            parts_that_register_a_name_differently_are_refused, labels_of_other_contexts_are_refused,
            an_empty_composite_has_no_labels, labels_of_composites_follow_exchanged_contexts,
            labels_of_composites_survive_detached_contexts, null_operators_are_refused));
}
