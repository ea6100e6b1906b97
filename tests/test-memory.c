// SPDX-License-Identifier: BSD-2-Clause
// Running out of memory: each scenario below is run again and again, with its first, second, third ...
// allocation failing, until it needs no more. Every time the code is that of a failed allocation, the message
// says so, and nothing is left behind.
#include "base/memory.h"
#include "tests/small-operator.h"
#include "tests/tap.h"

#include <ceed/jit-tools-deprecated.h>
#include <ceed/jit-tools.h>
#include <ritz/basis.h>

// Does the call unless one before has failed.
#define DO(call)                                                                                             \
  do {                                                                                                       \
    if (!ierr) ierr = (call);                                                                                \
  } while (0)

// ---- Scenarios: they return the code of their first failure, and destroy what they have made ----

static int use_vectors(Ceed ceed) {
  CeedVector a = NULL, b = NULL, c = NULL, work = NULL;
  CeedScalar norm;
  int ierr = 0;

  DO(CeedVectorCreate(ceed, 5, &a));
  DO(CeedVectorCreate(ceed, 5, &b));
  DO(CeedVectorCreate(ceed, 5, &c));
  DO(CeedVectorSetValue(a, 1));
  DO(CeedVectorSetArray(b, CEED_MEM_HOST, CEED_COPY_VALUES, (CeedScalar[]){1, 2, 3, 4, 5}));
  DO(CeedVectorCopy(a, c));
  DO(CeedVectorAXPY(c, 2, b));
  DO(CeedVectorPointwiseMult(c, a, b));
  DO(CeedVectorNorm(c, CEED_NORM_2, &norm));
  DO(CeedGetWorkVector(ceed, 7, &work));
  DO(CeedVectorSetValue(work, 1));
  if (work) CeedRestoreWorkVector(ceed, &work);
  CeedClearWorkVectors(ceed, 100);
  CeedVectorDestroy(&a);
  CeedVectorDestroy(&b);
  CeedVectorDestroy(&c);
  return ierr;
}

static int use_restrictions(Ceed ceed) {
  const CeedInt lists[5] = {3, 4, 5, 0, 1};
  const bool orients[4] = {true, false, true, false};
  const CeedInt8 curl[12] = {0, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0};
  CeedElemRestriction r[6] = {NULL};
  CeedVector l = NULL, e = NULL, mult = NULL;
  int ierr = 0;

  DO(CeedElemRestrictionCreateOriented(ceed, 2, 2, 1, 1, 3, CEED_MEM_HOST, CEED_COPY_VALUES, small_offsets,
                                       orients, &r[0]));
  DO(CeedElemRestrictionCreateCurlOriented(ceed, 2, 2, 1, 1, 3, CEED_MEM_HOST, CEED_COPY_VALUES,
                                           small_offsets, curl, &r[1]));
  DO(CeedElemRestrictionCreateUnsignedCopy(r[1], &r[2]));
  DO(CeedElemRestrictionCreateAtPoints(ceed, 2, 2, 1, 2, CEED_MEM_HOST, CEED_COPY_VALUES, lists, &r[3]));
  if (!has_device_memory(ceed)) {
    DO(CeedElemRestrictionCreateBlockedCurlOriented(ceed, 2, 2, 3, 1, 1, 3, CEED_MEM_HOST, CEED_COPY_VALUES,
                                                    small_offsets, curl, &r[4]));
    DO(CeedElemRestrictionCreateBlockedOriented(ceed, 2, 2, 3, 1, 1, 3, CEED_MEM_HOST, CEED_COPY_VALUES,
                                                small_offsets, orients, &r[5]));
  }
  for (int i = 0; i < 6 && !ierr; i++) {
    if (!r[i]) continue;
    DO(CeedElemRestrictionCreateVector(r[i], &l, &e));
    DO(CeedVectorSetValue(l, 1));
    DO(CeedElemRestrictionApply(r[i], CEED_NOTRANSPOSE, l, e, CEED_REQUEST_IMMEDIATE));
    DO(CeedElemRestrictionApply(r[i], CEED_TRANSPOSE, e, l, CEED_REQUEST_IMMEDIATE));
    DO(CeedElemRestrictionCreateVector(r[i], &mult, NULL));
    DO(CeedElemRestrictionGetMultiplicity(r[i], mult));
    CeedVectorDestroy(&l);
    CeedVectorDestroy(&e);
    CeedVectorDestroy(&mult);
  }
  for (int i = 0; i < 6; i++) CeedElemRestrictionDestroy(&r[i]);
  return ierr;
}

static int use_bases(Ceed ceed) {
  CeedBasis tensor = NULL, dense = NULL, fine = NULL, projection = NULL, vector = NULL;
  CeedVector u = NULL, v = NULL, x = NULL;
  const CeedScalar *table;
  CeedScalar values[64];
  const CeedInt one[1] = {1};
  int ierr = 0;

  DO(CeedBasisCreateTensorH1Lagrange(ceed, 2, 1, 2, 3, CEED_GAUSS, &tensor));
  DO(CeedBasisCreateTensorH1Lagrange(ceed, 2, 1, 3, 3, CEED_GAUSS, &fine));
  DO(CeedBasisCreateHdiv(ceed, CEED_TOPOLOGY_TRIANGLE, 1, 3, 4, NULL, NULL, NULL, NULL, &dense));
  DO(RitzBasisCreateTensorHcurl(ceed, 2, 1, 1, 2, CEED_GAUSS, &vector));
  DO(CeedBasisGetInterp(vector, &table));
  DO(CeedBasisGetCurl(vector, &table));
  DO(CeedBasisGetInterp(tensor, &table));
  DO(CeedBasisGetGrad(tensor, &table));
  DO(CeedBasisGetCollocatedGrad(tensor, values));
  DO(CeedBasisGetChebyshevInterp1D(tensor, values));
  DO(CeedBasisCreateProjection(tensor, fine, &projection));
  DO(CeedVectorCreate(ceed, 4, &u));
  DO(CeedVectorCreate(ceed, 18, &v));
  DO(CeedVectorCreate(ceed, 2, &x));
  DO(CeedVectorSetValue(u, 1));
  DO(CeedVectorSetValue(x, 0));
  DO(CeedBasisApply(tensor, 1, CEED_NOTRANSPOSE, CEED_EVAL_GRAD, u, v));
  DO(CeedBasisApply(vector, 1, CEED_NOTRANSPOSE, CEED_EVAL_CURL, u, v));
  DO(CeedBasisApplyAdd(tensor, 1, CEED_TRANSPOSE, CEED_EVAL_GRAD, v, u));
  DO(CeedBasisApplyAtPoints(tensor, 1, one, CEED_NOTRANSPOSE, CEED_EVAL_GRAD, x, u, v));
  DO(CeedBasisApplyAddAtPoints(tensor, 1, one, CEED_TRANSPOSE, CEED_EVAL_INTERP, x, v, u));
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedVectorDestroy(&x);
  CeedBasisDestroy(&tensor);
  CeedBasisDestroy(&dense);
  CeedBasisDestroy(&fine);
  CeedBasisDestroy(&projection);
  CeedBasisDestroy(&vector);
  return ierr;
}

static int use_dense_algebra(Ceed ceed) {
  CeedScalar a[4] = {2, 1, 1, 3}, b[4] = {1, 0, 0, 1}, x[4], t[4];
  int ierr = 0;

  DO(CeedMatrixPseudoinverse(ceed, a, 2, 2, x));
  DO(CeedSimultaneousDiagonalization(ceed, a, b, x, t, 2));
  DO(CeedSymmetricSchurDecomposition(ceed, a, t, 2));
  DO(CeedQRFactorization(ceed, b, t, 2, 2));
  return ierr;
}

static int use_qfunctions(Ceed ceed) {
  CeedQFunction mass = NULL, identity = NULL;
  CeedQFunctionContext ctx = NULL;
  CeedContextFieldLabel label = NULL;
  CeedVector u[2] = {NULL}, v = NULL;
  const char *path = NULL;
  char *text = NULL;
  double number = 1;
  int ierr = 0;

  DO(CeedQFunctionCreateInteriorByName(ceed, "MassApply", &mass));
  DO(CeedQFunctionCreateIdentity(ceed, 2, CEED_EVAL_NONE, CEED_EVAL_NONE, &identity));
  DO(CeedQFunctionContextCreate(ceed, &ctx));
  DO(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(number), &number));
  DO(CeedQFunctionContextRegisterDouble(ctx, "number", 0, 1, "a number"));
  DO(CeedQFunctionContextGetFieldLabel(ctx, "number", &label));
  DO(CeedQFunctionContextSetDouble(ctx, label, &(double){2}));
  DO(CeedQFunctionSetContext(mass, ctx));
  DO(CeedQFunctionGetSourcePath(mass, &path));
  DO(CeedLoadSourceToBuffer(ceed, path, &text));
  for (int i = 0; i < 2; i++) {
    DO(CeedVectorCreate(ceed, 3, &u[i]));
    DO(CeedVectorSetValue(u[i], 1));
  }
  DO(CeedVectorCreate(ceed, 3, &v));
  DO(CeedQFunctionApply(mass, 3, u, &v));
  free(text);
  CeedVectorDestroy(&u[0]);
  CeedVectorDestroy(&u[1]);
  CeedVectorDestroy(&v);
  CeedQFunctionContextDestroy(&ctx);
  CeedQFunctionDestroy(&mass);
  CeedQFunctionDestroy(&identity);
  return ierr;
}

// ---- Operators: u -> v with mass-like QFunctions on two quadratic line elements ----

typedef struct {
  CeedElemRestriction rstr, rstr_q, rstr_coarse;
  CeedBasis basis, basis_coarse;
  CeedQFunction qf;
  CeedVector u, v, qd;
  CeedOperator op, composite;
} Line;

static int open_line(Ceed ceed, Line *s) {
  const CeedInt offsets[6] = {0, 1, 2, 2, 3, 4};
  int ierr = 0;

  *s = (Line){0};
  DO(CeedElemRestrictionCreate(ceed, 2, 3, 1, 1, 5, CEED_MEM_HOST, CEED_COPY_VALUES, offsets, &s->rstr));
  DO(CeedElemRestrictionCreate(ceed, 2, 2, 1, 1, 3, CEED_MEM_HOST, CEED_COPY_VALUES, small_offsets,
                               &s->rstr_coarse));
  DO(CeedElemRestrictionCreateStrided(ceed, 2, 4, 1, 8, CEED_STRIDES_BACKEND, &s->rstr_q));
  DO(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 3, 4, CEED_GAUSS, &s->basis));
  DO(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 2, 4, CEED_GAUSS, &s->basis_coarse));
  DO(CeedQFunctionCreateInteriorByName(ceed, "MassApply", &s->qf));
  DO(CeedVectorCreate(ceed, 5, &s->u));
  DO(CeedVectorCreate(ceed, 5, &s->v));
  DO(CeedVectorCreate(ceed, 8, &s->qd));
  DO(CeedVectorSetValue(s->u, 1));
  DO(CeedVectorSetValue(s->qd, 1));
  DO(CeedOperatorCreate(ceed, s->qf, NULL, NULL, &s->op));
  DO(CeedOperatorSetField(s->op, "u", s->rstr, s->basis, CEED_VECTOR_ACTIVE));
  DO(CeedOperatorSetField(s->op, "qdata", s->rstr_q, CEED_BASIS_NONE, s->qd));
  DO(CeedOperatorSetField(s->op, "v", s->rstr, s->basis, CEED_VECTOR_ACTIVE));
  DO(CeedOperatorSetName(s->op, "line"));
  DO(CeedOperatorCreateComposite(ceed, &s->composite));
  DO(CeedOperatorCompositeAddSub(s->composite, s->op));
  return ierr;
}

static void close_line(Line *s) {
  CeedOperatorDestroy(&s->op);
  CeedOperatorDestroy(&s->composite);
  CeedElemRestrictionDestroy(&s->rstr);
  CeedElemRestrictionDestroy(&s->rstr_q);
  CeedElemRestrictionDestroy(&s->rstr_coarse);
  CeedBasisDestroy(&s->basis);
  CeedBasisDestroy(&s->basis_coarse);
  CeedQFunctionDestroy(&s->qf);
  CeedVectorDestroy(&s->u);
  CeedVectorDestroy(&s->v);
  CeedVectorDestroy(&s->qd);
}

static int apply_operators(Ceed ceed) {
  Line s;
  int ierr = open_line(ceed, &s);

  DO(CeedOperatorApply(s.op, s.u, s.v, CEED_REQUEST_IMMEDIATE));
  DO(CeedOperatorApplyAdd(s.composite, s.u, s.v, CEED_REQUEST_IMMEDIATE));
  DO(CeedOperatorCompositeGetMultiplicity(s.composite, 0, NULL, s.v));
  close_line(&s);
  return ierr;
}

static int use_context_fields(Ceed ceed) {
  Line s;
  CeedQFunctionContext ctx = NULL;
  CeedContextFieldLabel label = NULL;
  double number = 1;
  int ierr = open_line(ceed, &s);

  DO(CeedQFunctionContextCreate(ceed, &ctx));
  DO(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(number), &number));
  DO(CeedQFunctionContextRegisterDouble(ctx, "number", 0, 1, "a number"));
  DO(CeedQFunctionSetContext(s.qf, ctx));
  DO(CeedOperatorGetContextFieldLabel(s.op, "number", &label));
  DO(CeedOperatorGetContextFieldLabel(s.composite, "number", &label));
  DO(CeedOperatorSetContextDouble(s.composite, label, &number));
  CeedQFunctionContextDestroy(&ctx);
  close_line(&s);
  return ierr;
}

static int assemble(Ceed ceed) {
  Line s;
  CeedVector qf_values = NULL, cached = NULL, values = NULL, blocks = NULL;
  CeedElemRestriction qf_rstr = NULL, cached_rstr = NULL;
  CeedSize num = 0;
  CeedInt *rows = NULL, *cols = NULL, *block_rows = NULL, *block_cols = NULL;
  int ierr = open_line(ceed, &s);

  DO(CeedOperatorLinearAssembleQFunction(s.op, &qf_values, &qf_rstr, CEED_REQUEST_IMMEDIATE));
  DO(CeedOperatorLinearAssembleQFunctionBuildOrUpdate(s.op, &cached, &cached_rstr, CEED_REQUEST_IMMEDIATE));
  DO(CeedOperatorLinearAssembleDiagonal(s.composite, s.v, CEED_REQUEST_IMMEDIATE));
  DO(CeedOperatorLinearAssemblePointBlockDiagonalSymbolic(s.op, &num, &block_rows, &block_cols));
  DO(CeedVectorCreate(ceed, 5, &blocks));
  DO(CeedOperatorLinearAssemblePointBlockDiagonal(s.op, blocks, CEED_REQUEST_IMMEDIATE));
  DO(CeedOperatorLinearAssembleSymbolic(s.composite, &num, &rows, &cols));
  DO(CeedVectorCreate(ceed, num, &values));
  DO(CeedOperatorLinearAssemble(s.composite, values));
  free(rows);
  free(cols);
  free(block_rows);
  free(block_cols);
  CeedVectorDestroy(&qf_values);
  CeedVectorDestroy(&cached);
  CeedVectorDestroy(&values);
  CeedVectorDestroy(&blocks);
  CeedElemRestrictionDestroy(&qf_rstr);
  CeedElemRestrictionDestroy(&cached_rstr);
  close_line(&s);
  return ierr;
}

static int make_other_operators(Ceed ceed) {
  Line s;
  CeedOperator coarse = NULL, prolong = NULL, restricting = NULL, inverse = NULL;
  CeedVector u = NULL;
  int ierr = open_line(ceed, &s);

  DO(CeedOperatorMultigridLevelCreate(s.op, s.u, s.rstr_coarse, s.basis_coarse, &coarse, &prolong,
                                      &restricting));
  DO(CeedVectorCreate(ceed, 3, &u));
  DO(CeedOperatorApply(restricting, s.u, u, CEED_REQUEST_IMMEDIATE));
  DO(CeedOperatorApply(prolong, u, s.v, CEED_REQUEST_IMMEDIATE));
  DO(CeedOperatorCreateFDMElementInverse(s.op, &inverse, CEED_REQUEST_IMMEDIATE));
  DO(CeedOperatorApply(inverse, s.u, s.v, CEED_REQUEST_IMMEDIATE));
  CeedOperatorDestroy(&coarse);
  CeedOperatorDestroy(&prolong);
  CeedOperatorDestroy(&restricting);
  CeedOperatorDestroy(&inverse);
  CeedVectorDestroy(&u);
  close_line(&s);
  return ierr;
}

static int apply_at_points(Ceed ceed) {
  const CeedInt lists[6] = {3, 4, 6, 0, 1, 2};
  Line s;
  CeedElemRestriction points = NULL;
  CeedVector x = NULL, qd = NULL;
  CeedOperator op = NULL;
  int ierr = open_line(ceed, &s);

  DO(CeedElemRestrictionCreateAtPoints(ceed, 2, 3, 1, 3, CEED_MEM_HOST, CEED_COPY_VALUES, lists, &points));
  DO(CeedElemRestrictionCreateVector(points, &x, NULL));
  DO(CeedElemRestrictionCreateVector(points, &qd, NULL));
  DO(CeedVectorSetValue(x, 0));
  DO(CeedVectorSetValue(qd, 1));
  DO(CeedOperatorCreateAtPoints(ceed, s.qf, NULL, NULL, &op));
  DO(CeedOperatorSetField(op, "u", s.rstr, s.basis, CEED_VECTOR_ACTIVE));
  DO(CeedOperatorSetField(op, "qdata", points, CEED_BASIS_NONE, qd));
  DO(CeedOperatorSetField(op, "v", s.rstr, s.basis, CEED_VECTOR_ACTIVE));
  DO(CeedOperatorAtPointsSetPoints(op, points, x));
  DO(CeedOperatorApply(op, s.u, s.v, CEED_REQUEST_IMMEDIATE));
  CeedOperatorDestroy(&op);
  CeedElemRestrictionDestroy(&points);
  CeedVectorDestroy(&x);
  CeedVectorDestroy(&qd);
  close_line(&s);
  return ierr;
}

// ---- The runs ----

// The n-th allocation of the scenario fails; 0: none does.
static void run_scenario(Ceed ceed, int (*scenario)(Ceed), int n, int *code) {
  const char *message = NULL;

  tap_forget_error(ceed);
  ritz_memory_fail_at(n);
  *code = scenario(ceed);
  ritz_memory_fail_at(0);
  CHECK_OK(CeedGetErrorMessage(ceed, &message));
  // An allocation for which no context is known cannot leave a message.
  bool has_message = strstr(message, "out of memory") || !strcmp(message, "No error message stored");
  CHECK(!*code || (*code == CEED_ERROR_MAJOR && has_message), "allocation %d: code %d, '%s'", n, *code,
        message);
}

static void exhaust(Ceed ceed, int (*scenario)(Ceed)) {
  int code = 0, n = 0;

  run_scenario(ceed, scenario, 0, &code); // what the context keeps for itself is there from now on
  CHECK(code == 0 || tap_failed(), "code %d with all memory", code);
  const int64_t live = ritz_memory_live();
  do {
    run_scenario(ceed, scenario, ++n, &code);
    if (tap_failed()) return;
    CHECK(ritz_memory_live() == live, "allocation %d: %d are left", n, (int)(ritz_memory_live() - live));
  } while (code);
  CHECK(n > 1, "the scenario allocates nothing");
}

TEST_EACH_BACKEND(vectors_without_memory) { exhaust(ceed, use_vectors); }
TEST_EACH_BACKEND(restrictions_without_memory) { exhaust(ceed, use_restrictions); }
TEST_EACH_BACKEND(bases_without_memory) { exhaust(ceed, use_bases); }
TEST_EACH_BACKEND(dense_algebra_without_memory) { exhaust(ceed, use_dense_algebra); }
TEST_EACH_BACKEND(qfunctions_without_memory) {
  CHECK_OK(CeedAddJitSourceRoot(ceed, "include/")); // tests run in the top folder
  exhaust(ceed, use_qfunctions);
}
TEST_EACH_BACKEND(operators_without_memory) { exhaust(ceed, apply_operators); }
TEST_EACH_BACKEND(context_fields_without_memory) { exhaust(ceed, use_context_fields); }
TEST_EACH_BACKEND(assembly_without_memory) { exhaust(ceed, assemble); }
TEST_EACH_BACKEND(multigrid_and_inverses_without_memory) { exhaust(ceed, make_other_operators); }
TEST_EACH_BACKEND(operators_at_points_without_memory) { exhaust(ceed, apply_at_points); }

// A context that cannot be made; there is none yet to leave a message in.
TEST(contexts_without_memory) {
  size_t num;
  char **names = NULL;
  const int64_t live = ritz_memory_live();
  int code = CEED_ERROR_MAJOR, n = 0;

  while (code) {
    Ceed ceed = NULL;
    ritz_memory_fail_at(++n);
    code = CeedInit("/cpu/self/ref", &ceed);
    if (!code) code = CeedSetErrorHandler(ceed, CeedErrorStore);
    if (!code) code = CeedAddJitDefine(ceed, "NAME");
    if (!code) code = CeedRegistryGetList(&num, &names, NULL);
    ritz_memory_fail_at(0);
    free(names);
    names = NULL;
    CHECK(!code || code == CEED_ERROR_MAJOR, "allocation %d: code %d", n, code);
    CHECK_OK(CeedDestroy(&ceed));
    CHECK(ritz_memory_live() == live, "allocation %d: %d are left", n, (int)(ritz_memory_live() - live));
  }
}

// ---- Large blocks ----

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WATCHES_BLOCKS
#endif
#endif
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(WATCHES_BLOCKS)
#define KEEPS_BLOCKS
#endif

enum { LARGE = 8 << 20 };

static int count_blocks_at(void *const *blocks, int num, const void *p) {
  int n = 0;
  for (int i = 0; i < num; i++) n += blocks[i] == p;
  return n;
}

// What was freed is handed out again, to one owner at a time; the contents are anybody's.
TEST(large_blocks_that_are_freed_are_used_again) {
  enum { NUM = 4 };
  void *blocks[NUM] = {NULL}, *again[NUM] = {NULL};
  int num_again = 0;

  for (int i = 0; i < NUM; i++) CHECK_OK(ritz_malloc(NULL, LARGE, 1, &blocks[i]));
  void *const before[NUM] = {blocks[0], blocks[1], blocks[2], blocks[3]};
  for (int i = 0; i < NUM; i++) memset(blocks[i], 1 + i, LARGE);
  for (int i = 0; i < NUM; i++) ritz_free(&blocks[i]);
  for (int i = 0; i < NUM; i++) {
    CHECK_OK(ritz_malloc(NULL, LARGE, 1, &again[i]));
    CHECK(count_blocks_at(again, NUM, again[i]) == 1, "block %d has two owners", i);
    CHECK((uintptr_t)again[i] % 64 == 0, "block %d is not aligned", i);
    memset(again[i], 10 + i, LARGE);
    num_again += count_blocks_at(before, NUM, again[i]);
  }
  for (int i = 0; i < NUM; i++)
    CHECK(((char *)again[i])[LARGE / 2] == 10 + i, "block %d was written by another owner", i);
  // Zeros are zeros wherever they lie.
  for (int i = 0; i < NUM; i++) ritz_free(&again[i]);
  CHECK_OK(ritz_calloc(NULL, LARGE, 1, &again[0]));
  for (int i = 0; i < LARGE; i += 4093) CHECK(((char *)again[0])[i] == 0, "byte %d", i);
  ritz_free(&again[0]);
  ritz_memory_trim();
#ifdef KEEPS_BLOCKS
  CHECK(num_again == NUM, "%d used again", num_again);
#else
  tap_note("%d used again", num_again);
#endif
}

// A block given to the caller is his; one taken over from him is ours.
TEST(large_blocks_change_hands) {
  void *ours = NULL, *theirs = malloc(LARGE);

  CHECK(theirs, "no memory");
  CHECK_OK(ritz_malloc(NULL, LARGE, 1, &ours));
  ritz_memory_give(ours);
  memset(ours, 1, LARGE);
  free(ours);
  ritz_memory_adopt(theirs);
  ritz_free(&theirs);
  CHECK_OK(ritz_malloc(NULL, LARGE, 1, &ours));
  CHECK_OK(ritz_realloc(NULL, 3 * (size_t)LARGE, 1, &ours));
  memset(ours, 2, 3 * (size_t)LARGE);
  ritz_free(&ours);
  ritz_memory_trim();
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(large_blocks_that_are_freed_are_used_again, large_blocks_change_hands,
                        vectors_without_memory, restrictions_without_memory, bases_without_memory,
                        dense_algebra_without_memory, qfunctions_without_memory, operators_without_memory,
                        context_fields_without_memory, assembly_without_memory,
                        multigrid_and_inverses_without_memory, operators_at_points_without_memory,
                        contexts_without_memory));
}
