// SPDX-License-Identifier: BSD-2-Clause
// Misuse of linear assembly: blocks that have no place, every row of the standard's tables, vectors and
// patterns that do not fit, QFunctions that fail.
#include "tests/scale-operator.h"

// ---- Point blocks that have no place ----

// Mass of 2 components; offsets and component stride as given, one element of 2 nodes on a line.
static int create_blocked(Ceed ceed, const CeedInt offsets[2], CeedInt comp_stride, CeedSize l_size,
                          CeedOperator *op) {
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  CeedQFunction qf = NULL;
  int ierr = CeedElemRestrictionCreate(ceed, 1, 2, 2, comp_stride, l_size, CEED_MEM_HOST, CEED_COPY_VALUES,
                                       offsets, &rstr);

  if (!ierr) ierr = CeedBasisCreateTensorH1Lagrange(ceed, 1, 2, 2, 2, CEED_GAUSS, &basis);
  if (!ierr) ierr = CeedQFunctionCreateIdentity(ceed, 2, CEED_EVAL_INTERP, CEED_EVAL_INTERP, &qf);
  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, op);
  if (!ierr) ierr = CeedOperatorSetField(*op, "input", rstr, basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(*op, "output", rstr, basis, CEED_VECTOR_ACTIVE);
  CeedElemRestrictionDestroy(&rstr);
  CeedBasisDestroy(&basis);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

// Blocks begin at offset * nc * nc: those of nodes in the upper half of the L-vector would end behind it.
TEST_EACH_BACKEND(point_blocks_without_a_place_are_refused) {
  static const CeedInt high[2] = {4, 5}, odd[2] = {0, 3};
  CeedOperator op = NULL;
  CeedVector v = NULL;
  CeedSize num;
  CeedInt *rows = NULL, *cols = NULL;

  CHECK_OK(CeedVectorCreate(ceed, 16, &v));
  for (int k = 0; k < 2; k++) {
    // Components apart, behind another field; nodes that overlap in an interlaced L-vector.
    CHECK_OK(create_blocked(ceed, k ? odd : high, k ? 1 : 2, 8, &op));
    CHECK_ERROR(ceed, CeedOperatorLinearAssemblePointBlockDiagonal(op, v, CEED_REQUEST_IMMEDIATE),
                CEED_ERROR_UNSUPPORTED, "block");
    CHECK_ERROR(ceed, CeedOperatorLinearAssemblePointBlockDiagonalSymbolic(op, &num, &rows, &cols),
                CEED_ERROR_UNSUPPORTED, "block");
    CeedOperatorDestroy(&op);
  }
  CeedVectorDestroy(&v);
}

// ---- Misuse ----

typedef struct {
  CeedOperator unset, no_input, no_output, composite, incomplete_composite, rectangular, two_restrictions,
      strided, two_outputs;
} Wrong;

static int create_identity(Ceed ceed, const Fixture *f, CeedElemRestriction rstr_out, CeedVector in,
                           CeedVector out, CeedOperator *op) {
  CeedQFunction qf = NULL;
  int ierr = CeedQFunctionCreateIdentity(ceed, 1, CEED_EVAL_INTERP, CEED_EVAL_INTERP, &qf);

  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, op);
  if (!ierr) ierr = CeedOperatorSetField(*op, "input", f->rstr, f->basis, in);
  if (!ierr) ierr = CeedOperatorSetField(*op, "output", rstr_out, f->basis, out);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

// Rows of one element of 3 nodes.
static int create_longer_restriction(Ceed ceed, CeedSize l_size, CeedElemRestriction *rstr) {
  CeedInt offsets[NUM_ELEM * NODES] = {0};

  return CeedElemRestrictionCreate(ceed, NUM_ELEM, NODES, 1, 1, l_size, CEED_MEM_HOST, CEED_COPY_VALUES,
                                   offsets, rstr);
}

static int create_strided_identity(Ceed ceed, const Fixture *f, CeedOperator *op) {
  CeedElemRestriction rstr = NULL;
  Fixture g = *f;
  int ierr = CeedElemRestrictionCreateStrided(ceed, NUM_ELEM, NODES, 1, NUM_ELEM * NODES,
                                              CEED_STRIDES_BACKEND, &rstr);

  g.rstr = rstr;
  if (!ierr) ierr = create_identity(ceed, &g, rstr, CEED_VECTOR_ACTIVE, CEED_VECTOR_ACTIVE, op);
  CeedElemRestrictionDestroy(&rstr);
  return ierr;
}

static int create_two_restrictions(Ceed ceed, const Fixture *f, CeedOperator *op) {
  CeedElemRestriction other = NULL;
  CeedBasis basis = NULL;
  CeedQFunction qf = NULL;
  int ierr = create_longer_restriction(ceed, SIZE, &other);

  if (!ierr) ierr = CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, NODES, POINTS, CEED_GAUSS, &basis);
  if (!ierr) ierr = CeedQFunctionCreateInterior(ceed, 1, TakeFirst, TakeFirst_loc, &qf);
  if (!ierr) ierr = CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionAddInput(qf, "w", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, op);
  if (!ierr) ierr = CeedOperatorSetField(*op, "u", f->rstr, f->basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(*op, "w", other, basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(*op, "v", f->rstr, f->basis, CEED_VECTOR_ACTIVE);
  CeedElemRestrictionDestroy(&other);
  CeedBasisDestroy(&basis);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

static int wrong_create(Ceed ceed, const Fixture *f, Wrong *w) {
  CeedElemRestriction longer = NULL;
  CeedVector passive = NULL;
  CeedQFunction qf = NULL;
  *w = (Wrong){0};
  int ierr = CeedQFunctionCreateIdentity(ceed, 1, CEED_EVAL_INTERP, CEED_EVAL_INTERP, &qf);

  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, &w->unset);
  if (!ierr) ierr = CeedVectorCreate(ceed, SIZE, &passive);
  if (!ierr) ierr = CeedVectorSetValue(passive, 0);
  if (!ierr) ierr = create_identity(ceed, f, f->rstr, passive, CEED_VECTOR_ACTIVE, &w->no_input);
  if (!ierr) ierr = create_identity(ceed, f, f->rstr, CEED_VECTOR_ACTIVE, passive, &w->no_output);
  if (!ierr) ierr = CeedOperatorCreateComposite(ceed, &w->composite);
  if (!ierr) ierr = CeedOperatorCompositeAddSub(w->composite, f->op);
  if (!ierr) ierr = CeedOperatorCreateComposite(ceed, &w->incomplete_composite);
  if (!ierr) ierr = CeedOperatorCompositeAddSub(w->incomplete_composite, w->unset);
  if (!ierr) ierr = create_longer_restriction(ceed, SIZE + 1, &longer);
  if (!ierr) ierr = create_identity(ceed, f, longer, CEED_VECTOR_ACTIVE, CEED_VECTOR_ACTIVE, &w->rectangular);
  CeedElemRestrictionDestroy(&longer);
  if (!ierr) ierr = create_longer_restriction(ceed, SIZE, &longer);
  if (!ierr) ierr = create_identity(ceed, f, longer, CEED_VECTOR_ACTIVE, CEED_VECTOR_ACTIVE, &w->two_outputs);
  if (!ierr) ierr = create_two_restrictions(ceed, f, &w->two_restrictions);
  if (!ierr) ierr = create_strided_identity(ceed, f, &w->strided);
  CeedElemRestrictionDestroy(&longer);
  CeedVectorDestroy(&passive);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

static void wrong_destroy(Wrong *w) {
  CeedOperatorDestroy(&w->composite);
  CeedOperatorDestroy(&w->incomplete_composite);
  CeedOperatorDestroy(&w->unset);
  CeedOperatorDestroy(&w->no_input);
  CeedOperatorDestroy(&w->no_output);
  CeedOperatorDestroy(&w->rectangular);
  CeedOperatorDestroy(&w->two_restrictions);
  CeedOperatorDestroy(&w->strided);
  CeedOperatorDestroy(&w->two_outputs);
}

// Every call once, with outputs that are thrown away.
static int call_qfunction(CeedOperator op) {
  CeedVector v = NULL;
  CeedElemRestriction rstr = NULL;
  int ierr = CeedOperatorLinearAssembleQFunction(op, &v, &rstr, CEED_REQUEST_IMMEDIATE);

  CeedVectorDestroy(&v);
  CeedElemRestrictionDestroy(&rstr);
  return ierr;
}

static int call_build_or_update(CeedOperator op) {
  CeedVector v = NULL;
  CeedElemRestriction rstr = NULL;
  int ierr = CeedOperatorLinearAssembleQFunctionBuildOrUpdate(op, &v, &rstr, CEED_REQUEST_IMMEDIATE);

  CeedVectorDestroy(&v);
  CeedElemRestrictionDestroy(&rstr);
  return ierr;
}

typedef int (*IntoVector)(CeedOperator op, CeedVector v, CeedRequest *request);

static int call_into_vector(CeedOperator op, IntoVector call) {
  CeedVector v = NULL;
  int ierr = CeedVectorCreate(CeedOperatorReturnCeed(op), 2 * SIZE, &v);

  if (!ierr) ierr = CeedVectorSetValue(v, 0);
  if (!ierr) ierr = call(op, v, CEED_REQUEST_IMMEDIATE);
  CeedVectorDestroy(&v);
  return ierr;
}

static int call_diagonal(CeedOperator op) { return call_into_vector(op, CeedOperatorLinearAssembleDiagonal); }
static int call_add_diagonal(CeedOperator op) {
  return call_into_vector(op, CeedOperatorLinearAssembleAddDiagonal);
}
static int call_blocks(CeedOperator op) {
  return call_into_vector(op, CeedOperatorLinearAssemblePointBlockDiagonal);
}
static int call_add_blocks(CeedOperator op) {
  return call_into_vector(op, CeedOperatorLinearAssembleAddPointBlockDiagonal);
}

static int call_block_symbolic(CeedOperator op) {
  CeedSize num;
  CeedInt *rows = NULL, *cols = NULL;
  int ierr = CeedOperatorLinearAssemblePointBlockDiagonalSymbolic(op, &num, &rows, &cols);

  free(rows);
  free(cols);
  return ierr;
}

static int call_count(CeedOperator op) {
  CeedSize num;

  return CeedOperatorLinearAssembleGetNumEntries(op, &num);
}

static int call_symbolic(CeedOperator op) {
  CeedSize num;
  CeedInt *rows = NULL, *cols = NULL;
  int ierr = CeedOperatorLinearAssembleSymbolic(op, &num, &rows, &cols);

  free(rows);
  free(cols);
  return ierr;
}

static int call_assemble(CeedOperator op) {
  CeedVector v = NULL;
  int ierr = CeedVectorCreate(CeedOperatorReturnCeed(op), (CeedSize)4 * NUM_ELEM * NODES * NODES, &v);

  if (!ierr) ierr = CeedOperatorLinearAssemble(op, v);
  CeedVectorDestroy(&v);
  return ierr;
}

static int call_csr_symbolic(CeedOperator op) {
  CeedSize num_rows, num_cols;
  int64_t *row_starts = NULL, *cols = NULL;
  int ierr = RitzOperatorAssembleCSRSymbolic(op, &num_rows, &num_cols, &row_starts, &cols);

  free(row_starts);
  free(cols);
  return ierr;
}

static int call_csr(CeedOperator op) {
  CeedVector v = NULL;
  int64_t row_starts[2 * SIZE] = {0}, cols[1] = {0};
  int ierr = CeedVectorCreate(CeedOperatorReturnCeed(op), 1, &v);

  if (!ierr) ierr = RitzOperatorAssembleCSR(op, row_starts, cols, v);
  CeedVectorDestroy(&v);
  return ierr;
}

typedef int (*Call)(CeedOperator op);
enum { OF_QFUNCTION, OF_DIAGONAL, OF_BLOCKS, OF_MATRIX };
static const struct {
  const char *name;
  Call call;
  int what;
} calls[] = {
    {"QFunction", call_qfunction, OF_QFUNCTION},
    {"BuildOrUpdate", call_build_or_update, OF_QFUNCTION},
    {"Diagonal", call_diagonal, OF_DIAGONAL},
    {"AddDiagonal", call_add_diagonal, OF_DIAGONAL},
    {"PointBlock", call_blocks, OF_BLOCKS},
    {"AddPointBlock", call_add_blocks, OF_BLOCKS},
    {"BlockSymbolic", call_block_symbolic, OF_BLOCKS},
    {"GetNumEntries", call_count, OF_MATRIX},
    {"Symbolic", call_symbolic, OF_MATRIX},
    {"Assemble", call_assemble, OF_MATRIX},
    {"CSRSymbolic", call_csr_symbolic, OF_MATRIX},
    {"CSR", call_csr, OF_MATRIX},
};
enum { NUM_CALLS = sizeof(calls) / sizeof(calls[0]) };

// All calls on one operator; codes by what is assembled, 0: any (another row looks).
static void check_calls(Ceed ceed, CeedOperator op, const char *name, const int codes[4], const char *text) {
  for (int k = 0; k < NUM_CALLS; k++) {
    int code = codes[calls[k].what];

    if (!code) continue;
    tap_forget_error(ceed);
    CHECK(tap_check_error(ceed, calls[k].call(op), code, text, __FILE__, __LINE__, calls[k].name),
          "of an operator that %s", name);
  }
}

TEST_EACH_BACKEND(what_cannot_be_assembled_is_refused) {
  Fixture f;
  Wrong w;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(wrong_create(ceed, &f, &w));
  const struct {
    CeedOperator op;
    const char *name;
    int codes[4];
    const char *text;
  } rows[] = {
      {w.unset,
       "is not ready",
       {CEED_ERROR_INCOMPLETE, CEED_ERROR_INCOMPLETE, CEED_ERROR_INCOMPLETE, CEED_ERROR_INCOMPLETE},
       "no field"},
      {w.incomplete_composite,
       "has a part that is not ready",
       {0, CEED_ERROR_INCOMPLETE, CEED_ERROR_INCOMPLETE, CEED_ERROR_INCOMPLETE},
       "no field"},
      {w.composite, "is a composite", {CEED_ERROR_UNSUPPORTED, 0, 0, 0}, "composite"},
      {w.incomplete_composite, "is a composite", {CEED_ERROR_UNSUPPORTED, 0, 0, 0}, "composite"},
      {w.no_input,
       "has no active input",
       {CEED_ERROR_BACKEND, CEED_ERROR_DIMENSION, CEED_ERROR_DIMENSION, CEED_ERROR_BACKEND},
       ""},
      {w.no_output,
       "has no active output",
       {CEED_ERROR_BACKEND, CEED_ERROR_DIMENSION, CEED_ERROR_DIMENSION, CEED_ERROR_BACKEND},
       ""},
      {w.rectangular, "is not square", {0, CEED_ERROR_DIMENSION, CEED_ERROR_DIMENSION, 0}, "not square"},
      {w.two_restrictions,
       "has two input restrictions",
       {0, 0, CEED_ERROR_MINOR, 0},
       "several active input restrictions"},
      {w.strided, "has a strided restriction", {0, 0, CEED_ERROR_UNSUPPORTED, 0}, "strided"},
      {w.two_outputs,
       "has another output restriction",
       {0, CEED_ERROR_UNSUPPORTED, 0, 0},
       "different restrictions"},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && !tap_failed(); i++)
    check_calls(ceed, rows[i].op, rows[i].name, rows[i].codes, rows[i].text);
  wrong_destroy(&w);
  fixture_destroy(&f);
}

TEST_EACH_BACKEND(parts_with_other_components_have_no_common_blocks) {
  static const CeedInt apart[2] = {0, 1}, together[2] = {0, 2};
  Fixture f;
  CeedOperator parts[3] = {NULL}, sum = NULL;

  CHECK_OK(create_blocked(ceed, apart, 4, SIZE, &parts[0]));
  CHECK_OK(create_blocked(ceed, together, 1, SIZE, &parts[1]));
  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedOperatorReferenceCopy(f.op, &parts[2])); // one component
  for (int k = 0; k < 2; k++) {
    CHECK_OK(CeedOperatorCreateComposite(ceed, &sum));
    CHECK_OK(CeedOperatorCompositeAddSub(sum, parts[0]));
    CHECK_OK(CeedOperatorCompositeAddSub(sum, parts[k + 1]));
    CHECK_ERROR(ceed, call_block_symbolic(sum), k ? CEED_ERROR_INCOMPATIBLE : CEED_ERROR_DIMENSION,
                k ? "2 and 1 components" : "component strides 4 and 1");
    CHECK_ERROR(ceed, call_blocks(sum), k ? CEED_ERROR_INCOMPATIBLE : CEED_ERROR_DIMENSION, "component");
    CeedOperatorDestroy(&sum);
  }
  for (int k = 0; k < 3; k++) CeedOperatorDestroy(&parts[k]);
  fixture_destroy(&f);
}

// ---- Vectors and patterns that do not fit ----

TEST_EACH_BACKEND(short_vectors_are_refused_and_stay_as_they_are) {
  Fixture f;
  CeedVector v = NULL;
  CeedSize num = 0;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedVectorCreate(ceed, SIZE - 1, &v));
  CHECK_OK(CeedVectorSetValue(v, 5));
  CHECK_ERROR(ceed, CeedOperatorLinearAssembleDiagonal(f.op, v, CEED_REQUEST_IMMEDIATE), CEED_ERROR_DIMENSION,
              "8 entries, needed 9");
  CHECK_ERROR(ceed, CeedOperatorLinearAssemblePointBlockDiagonal(f.op, v, CEED_REQUEST_IMMEDIATE),
              CEED_ERROR_DIMENSION, "8 entries, needed 9");
  CHECK_OK(CeedOperatorLinearAssembleGetNumEntries(f.op, &num));
  CHECK(num == NUM_ELEM * NODES * NODES, "%td entries", num);
  CHECK_ERROR(ceed, CeedOperatorLinearAssemble(f.op, v), CEED_ERROR_DIMENSION, "8 entries, needed 36");
  CHECK_HOLDS(v, 5, 5, 5, 5, 5, 5, 5, 5);
  CeedVectorDestroy(&v);
  fixture_destroy(&f);
}

TEST_EACH_BACKEND(adding_to_a_vector_without_values_is_refused) {
  Fixture f;
  CeedVector v = NULL;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedVectorCreate(ceed, SIZE, &v));
  CHECK_ERROR(ceed, CeedOperatorLinearAssembleAddDiagonal(f.op, v, CEED_REQUEST_IMMEDIATE),
              CEED_ERROR_BACKEND, "no valid data");
  CHECK_OK(CeedOperatorLinearAssembleDiagonal(f.op, v, CEED_REQUEST_IMMEDIATE));
  CeedVectorDestroy(&v);
  fixture_destroy(&f);
}

TEST_EACH_BACKEND(null_arguments_are_refused) {
  Fixture f;
  CeedVector v = NULL;
  CeedElemRestriction rstr = NULL;
  CeedSize n;
  CeedInt *rows, *cols;
  int64_t *row_starts, *columns, none[1] = {0};

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedVectorCreate(ceed, SIZE, &v));
  for (int k = 0; k < NUM_CALLS; k++) CHECK(calls[k].what >= 0, "%s", calls[k].name);
  const int wanted = CEED_ERROR_INCOMPATIBLE;
  CHECK_ERROR(NULL, CeedOperatorLinearAssembleQFunction(NULL, &v, &rstr, NULL), wanted, "op");
  CHECK_ERROR(NULL, CeedOperatorLinearAssembleQFunctionBuildOrUpdate(NULL, &v, &rstr, NULL), wanted, "op");
  CHECK_ERROR(ceed, CeedOperatorLinearAssembleQFunctionBuildOrUpdate(f.op, NULL, &rstr, NULL), wanted,
              "NULL");
  CHECK_ERROR(ceed, CeedOperatorLinearAssembleQFunctionBuildOrUpdate(f.op, &v, NULL, NULL), wanted, "NULL");
  CHECK_ERROR(NULL, CeedOperatorLinearAssembleDiagonal(NULL, v, NULL), wanted, "op");
  CHECK_ERROR(NULL, CeedOperatorLinearAssembleDiagonal(f.op, NULL, NULL), wanted, "assembled");
  CHECK_ERROR(NULL, CeedOperatorLinearAssemblePointBlockDiagonal(f.op, NULL, NULL), wanted, "assembled");
  CHECK_ERROR(NULL, CeedOperatorLinearAssemblePointBlockDiagonalSymbolic(NULL, &n, &rows, &cols), wanted, "");
  CHECK_ERROR(NULL, CeedOperatorLinearAssembleGetNumEntries(NULL, &n), wanted, "op");
  CHECK_ERROR(NULL, CeedOperatorLinearAssembleSymbolic(NULL, &n, &rows, &cols), wanted, "op");
  CHECK_ERROR(NULL, CeedOperatorLinearAssemble(NULL, v), wanted, "op");
  CHECK_ERROR(NULL, CeedOperatorLinearAssemble(f.op, NULL), wanted, "values");
  CHECK_ERROR(NULL, CeedOperatorSetQFunctionAssemblyReuse(NULL, true), wanted, "op");
  CHECK_ERROR(NULL, CeedOperatorSetQFunctionAssemblyDataUpdateNeeded(NULL, true), wanted, "op");
  CHECK_ERROR(NULL, CeedOperatorAssemblyDataStrip(NULL), wanted, "op");
  CHECK_ERROR(NULL, RitzOperatorAssembleCSRSymbolic(NULL, &n, &n, &row_starts, &columns), wanted, "op");
  CHECK_ERROR(NULL, RitzOperatorAssembleCSRSymbolic(f.op, NULL, &n, &row_starts, &columns), wanted,
              "num_rows");
  CHECK_ERROR(NULL, RitzOperatorAssembleCSRSymbolic(f.op, &n, NULL, &row_starts, &columns), wanted,
              "num_cols");
  CHECK_ERROR(NULL, RitzOperatorAssembleCSRSymbolic(f.op, &n, &n, NULL, &columns), wanted, "row_starts");
  CHECK_ERROR(NULL, RitzOperatorAssembleCSRSymbolic(f.op, &n, &n, &row_starts, NULL), wanted, "cols");
  CHECK_ERROR(NULL, RitzOperatorAssembleCSR(NULL, none, none, v), wanted, "op");
  CHECK_ERROR(NULL, RitzOperatorAssembleCSR(f.op, NULL, none, v), wanted, "row_starts");
  CHECK_ERROR(NULL, RitzOperatorAssembleCSR(f.op, none, none, NULL), wanted, "values");
  CeedVectorDestroy(&v);
  fixture_destroy(&f);
}

TEST_EACH_BACKEND(patterns_of_other_operators_are_refused) {
  Fixture f;
  CeedVector v = NULL;
  // A diagonal matrix; one entry in the last row only.
  int64_t row_starts[SIZE + 1], cols[SIZE], last[SIZE + 1] = {0};

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedVectorCreate(ceed, SIZE - 1, &v));
  for (int k = 0; k < SIZE; k++) row_starts[k] = cols[k] = k;
  row_starts[SIZE] = SIZE;
  CHECK_ERROR(ceed, RitzOperatorAssembleCSR(f.op, row_starts, cols, v), CEED_ERROR_DIMENSION,
              "8 entries, needed 9");
  CeedVectorDestroy(&v);
  CHECK_OK(CeedVectorCreate(ceed, SIZE, &v));
  CHECK_ERROR(ceed, RitzOperatorAssembleCSR(f.op, row_starts, cols, v), CEED_ERROR_INCOMPATIBLE,
              "entry (0, 1) is not in the pattern");
  last[SIZE] = 1;
  CHECK_ERROR(ceed, RitzOperatorAssembleCSR(f.op, last, cols, v), CEED_ERROR_INCOMPATIBLE,
              "entry (0, 0) is not in the pattern");
  CHECK_ERROR(ceed, RitzOperatorAssembleCSR(f.op, row_starts, NULL, v), CEED_ERROR_INCOMPATIBLE, "NULL");
  row_starts[1] = INT64_MAX / 16;
  CHECK_ERROR(ceed, RitzOperatorAssembleCSR(f.op, row_starts, cols, v), CEED_ERROR_INCOMPATIBLE,
              "needed ascending row starts");
  last[SIZE] = -1;
  CHECK_ERROR(ceed, RitzOperatorAssembleCSR(f.op, last, cols, v), CEED_ERROR_INCOMPATIBLE,
              "row 8 begins at 0 and ends at -1");
  CeedVectorDestroy(&v);
  fixture_destroy(&f);
}

// ---- QFunctions that fail ----

typedef struct {
  int code;
} FailContext;

static int fail(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  memcpy(out[0], in[0], (size_t)Q * sizeof(CeedScalar));
  return ((const FailContext *)ctx)->code;
}

// Whatever fails, the operator works when its function does.
TEST_EACH_BACKEND(failures_of_the_qfunction_are_passed_on) {
  Fixture f;
  FailContext c = {0};
  CeedOperator op = NULL;
  CeedQFunction qf = NULL;
  CeedQFunctionContext context = NULL;

  if (!tap_runs_pointers(ceed)) NOT_FOR_THIS_BACKEND("devices ignore the code");
  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedQFunctionContextCreate(ceed, &context));
  CHECK_OK(CeedQFunctionContextSetData(context, CEED_MEM_HOST, CEED_USE_POINTER, sizeof(c), &c));
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, fail, "", &qf));
  CHECK_OK(CeedQFunctionSetContext(qf, context));
  CHECK_OK(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  CHECK_OK(CeedOperatorSetField(op, "u", f.rstr, f.basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(op, "v", f.rstr, f.basis, CEED_VECTOR_ACTIVE));
  for (int k = 0; k < NUM_CALLS; k++) {
    if (calls[k].call == call_block_symbolic || calls[k].call == call_count ||
        calls[k].call == call_symbolic || calls[k].call == call_csr_symbolic || calls[k].call == call_csr)
      continue; // they call no function, or fail before
    c.code = 5;
    CHECK(calls[k].call(op) == CEED_ERROR_BACKEND, "%s of a positive code", calls[k].name);
    c.code = -77;
    CHECK(calls[k].call(op) == -77, "%s of a negative code", calls[k].name);
    c.code = 0;
    CHECK_OK(calls[k].call(op));
  }
  for (int kind = 0; kind < NUM_KINDS; kind++) CHECK_SCALE(op, kind, 1.0);
  CeedQFunctionContextDestroy(&context);
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&op);
  fixture_destroy(&f);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(point_blocks_without_a_place_are_refused, what_cannot_be_assembled_is_refused,
                        parts_with_other_components_have_no_common_blocks,
                        short_vectors_are_refused_and_stay_as_they_are,
                        adding_to_a_vector_without_values_is_refused, null_arguments_are_refused,
                        patterns_of_other_operators_are_refused, failures_of_the_qfunction_are_passed_on));
}
