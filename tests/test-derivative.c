// SPDX-License-Identifier: BSD-2-Clause
// Derivatives from texts: the Taylor test, Jacobians by hand, what operators do otherwise, what is refused.
#include "tests/derivative-problem.h"
#include "tests/nvrtc-kit.h"
#include "tests/tap.h"

#include <ceed/backend.h>
#include <ceed/jit-tools-deprecated.h>
#include <math.h>
#include <ritz.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Right ----

TEST_EACH_BACKEND(remainders_of_derivatives_are_of_second_order) {
  NEEDS_CXX(ceed);
  for (Kind kind = 0; kind < NUM_KINDS; kind++) {
    Kit k;
    RitzDerivativeCheck check;
    if (kind == FUNCTIONS && sizeof(CeedScalar) == 4) continue; // no room between kinks and rounding
    CHECK_OK(kit_open(ceed, kind, &k));
    CHECK_OK(
        RitzOperatorCheckDerivative(k.residual, k.state, k.jacobian, kind == POISSON ? 0.1 : 0.02, &check));
    CHECK_NEAR(check.order, 2.0, sizeof(CeedScalar) == 8 ? 0.1 : 0.4, "%s", kinds[kind].name);
    CHECK_OK(kit_close(&k));
  }
}

// The residual in the place of its derivative: the order is that of the difference.
TEST_EACH_BACKEND(remainders_of_another_operator_are_of_first_order) {
  Kit k;
  RitzDerivativeCheck check;
  CHECK_OK(kit_open_without(ceed, POISSON, &k));
  CHECK_OK(RitzOperatorCheckDerivative(k.residual, k.state, k.residual, 0.1, &check));
  CHECK_NEAR(check.order, 1.0, 0.1, "order");
  CHECK_OK(RitzOperatorCheckDerivative(k.residual, k.state, k.by_hand, 0.1, &check));
  CHECK_NEAR(check.order, 2.0, sizeof(CeedScalar) == 8 ? 0.1 : 0.4, "order");
  CHECK_OK(kit_close(&k));
}

TEST_EACH_BACKEND(derivatives_are_those_by_hand_at_every_state) {
  NEEDS_CXX(ceed);
  for (Kind kind = 0; kind < FUNCTIONS; kind++) {
    Kit k;
    CHECK_OK(kit_open(ceed, kind, &k));
    for (int state = 0; state < 2; state++) {
      CHECK_OK(apply(k.jacobian, k.w, k.x));
      CHECK_OK(apply(k.by_hand, k.w, k.y));
      CHECK_NEAR(difference(k.x, k.y), 0.0, tolerance, "%s, state %d", kinds[kind].name, state);
      CHECK_OK(fill(k.state, kinds[kind].lowest, kinds[kind].range)); // seen without a word
    }
    CHECK_OK(kit_close(&k));
  }
}

TEST_EACH_BACKEND(derivatives_are_those_of_the_reference_backend) {
  NEEDS_CXX(ceed);
  Ceed reference = tap_ceed("/cpu/self/ref");
  for (Kind kind = 0; kind < NUM_KINDS; kind++) {
    Kit k, r;
    CHECK_OK(kit_open(ceed, kind, &k));
    CHECK_OK(kit_open(reference, kind, &r));
    CHECK_OK(RitzVectorConvert(k.qdata, r.qdata));
    CHECK_OK(RitzVectorConvert(k.state, r.state));
    CHECK_OK(RitzVectorConvert(k.w, r.w));
    CHECK_OK(apply(k.jacobian, k.w, k.x));
    CHECK_OK(apply(r.jacobian, r.w, r.x));
    CHECK_OK(RitzVectorConvert(k.x, r.y));
    CHECK_NEAR(difference(r.y, r.x), 0.0, tolerance, "%s", kinds[kind].name);
    CHECK_OK(kit_close(&k));
    CHECK_OK(kit_close(&r));
  }
  CHECK_OK(CeedDestroy(&reference));
}

TEST_EACH_BACKEND(derivatives_of_gradients_of_energies_are_symmetric) {
  NEEDS_CXX(ceed);
  for (Kind kind = 0; kind < NUM_KINDS; kind++) {
    Kit k;
    double a, b, size;
    CeedVector v = NULL;
    if (!kinds[kind].has_energy) continue;
    CHECK_OK(kit_open(ceed, kind, &k));
    CHECK_OK(CeedVectorCreate(ceed, k.size, &v));
    CHECK_OK(fill(v, -1, 2));
    CHECK_OK(apply(k.jacobian, k.w, k.x));
    CHECK_OK(apply(k.jacobian, v, k.y));
    CHECK_OK(product(v, k.x, &a));
    CHECK_OK(product(k.w, k.y, &b));
    CHECK_OK(product(k.x, k.x, &size));
    CHECK_NEAR(a, b, tolerance * (sqrt(size) * sqrt((double)k.size)), "%s", kinds[kind].name);
    CHECK_OK(CeedVectorDestroy(&v));
    CHECK_OK(kit_close(&k));
  }
}

// ---- Like any other operator ----

TEST_EACH_BACKEND(derivatives_have_matrices_and_diagonals) {
  NEEDS_CXX(ceed);
  for (Kind kind = 0; kind < FUNCTIONS; kind++) {
    Kit k;
    CeedVector diagonal = NULL;
    CHECK_OK(kit_open(ceed, kind, &k));
    CHECK_OK(CeedVectorCreate(ceed, k.size, &diagonal));
    CHECK_OK(multiply(k.jacobian, k.w, k.y, diagonal));
    CHECK_OK(apply(k.jacobian, k.w, k.x));
    CHECK_NEAR(difference(k.x, k.y), 0.0, tolerance, "%s: matrix", kinds[kind].name);
    CHECK_OK(CeedOperatorLinearAssembleDiagonal(k.jacobian, k.x, CEED_REQUEST_IMMEDIATE));
    CHECK_NEAR(difference(k.x, diagonal), 0.0, tolerance, "%s: diagonal", kinds[kind].name);
    CHECK_OK(CeedVectorDestroy(&diagonal));
    CHECK_OK(kit_close(&k));
  }
}

TEST_EACH_BACKEND(derivatives_have_point_blocks) {
  NEEDS_CXX(ceed);
  Kit k;
  CeedVector blocks[2] = {NULL, NULL};
  CHECK_OK(kit_open(ceed, HYPERELASTIC, &k));
  for (int i = 0; i < 2; i++) {
    CHECK_OK(CeedVectorCreate(ceed, 3 * k.size, &blocks[i]));
    CHECK_OK(CeedOperatorLinearAssemblePointBlockDiagonal(i ? k.by_hand : k.jacobian, blocks[i],
                                                          CEED_REQUEST_IMMEDIATE));
  }
  CHECK_NEAR(difference(blocks[0], blocks[1]), 0.0, tolerance, "point blocks");
  for (int i = 0; i < 2; i++) CHECK_OK(CeedVectorDestroy(&blocks[i]));
  CHECK_OK(kit_close(&k));
}

TEST_EACH_BACKEND(derivatives_compute_in_float) {
  NEEDS_CXX(ceed);
  for (Kind kind = 0; kind < NUM_KINDS; kind++) {
    Kit k;
    CeedOperator copy = NULL;
    CeedVector in = NULL, out = NULL;
    CHECK_OK(kit_open(ceed, kind, &k));
    CHECK_OK(RitzOperatorCopyInPrecision(k.jacobian, CEED_SCALAR_FP32, &copy));
    CHECK_OK(RitzVectorCreate(ceed, k.size, CEED_SCALAR_FP32, &in));
    CHECK_OK(RitzVectorCreate(ceed, k.size, CEED_SCALAR_FP32, &out));
    CHECK_OK(RitzVectorConvert(k.w, in));
    CHECK_OK(apply(copy, in, out));
    CHECK_OK(RitzVectorConvert(out, k.x));
    CHECK_OK(apply(k.jacobian, k.w, k.y));
    CHECK_NEAR(difference(k.x, k.y), 0.0, 200 * 1.2e-7, "%s", kinds[kind].name);
    CHECK_OK(CeedVectorDestroy(&in));
    CHECK_OK(CeedVectorDestroy(&out));
    CHECK_OK(CeedOperatorDestroy(&copy));
    CHECK_OK(kit_close(&k));
  }
}

// A level of degree 1 below, as of the operator by hand.
TEST_EACH_BACKEND(derivatives_have_levels_of_multigrid) {
  NEEDS_CXX(ceed);
  Kit k;
  CeedBasis basis = NULL;
  CeedElemRestriction rstr = NULL;
  CeedOperator coarse = NULL;
  CeedVector multiplicity = NULL, w = NULL, results[2] = {NULL, NULL};
  CeedInt offsets[CELLS * 8];
  CHECK_OK(kit_open(ceed, POISSON, &k));
  for (CeedInt n = 0; n < CELLS * 8; n++)
    offsets[n] = n / 8 % 2 + n % 2 + 3 * (n / 16 + n / 2 % 2 + 3 * (n / 4 % 2));
  CHECK_OK(
      CeedElemRestrictionCreate(ceed, CELLS, 8, 1, 1, 18, CEED_MEM_HOST, CEED_COPY_VALUES, offsets, &rstr));
  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 3, 1, 2, Q, CEED_GAUSS, &basis));
  CHECK_OK(CeedVectorCreate(ceed, k.size, &multiplicity));
  CHECK_OK(CeedElemRestrictionGetMultiplicity(k.rstr, multiplicity));
  CHECK_OK(CeedVectorCreate(ceed, 18, &w));
  CHECK_OK(fill(w, -1, 2));
  for (int i = 0; i < 2; i++) {
    CHECK_OK(CeedVectorCreate(ceed, 18, &results[i]));
    CHECK_OK(CeedOperatorMultigridLevelCreate(i ? k.by_hand : k.jacobian, multiplicity, rstr, basis, &coarse,
                                              NULL, NULL));
    CHECK_OK(apply(coarse, w, results[i]));
    CHECK_OK(CeedOperatorDestroy(&coarse));
  }
  CHECK_NEAR(difference(results[0], results[1]), 0.0, tolerance, "coarse operator");
  for (int i = 0; i < 2; i++) CHECK_OK(CeedVectorDestroy(&results[i]));
  CHECK_OK(CeedVectorDestroy(&w));
  CHECK_OK(CeedVectorDestroy(&multiplicity));
  CHECK_OK(CeedElemRestrictionDestroy(&rstr));
  CHECK_OK(CeedBasisDestroy(&basis));
  CHECK_OK(kit_close(&k));
}

TEST_EACH_BACKEND(derivatives_of_composites_are_composites) {
  NEEDS_CXX(ceed);
  Kit k, other;
  CeedOperator composite = NULL, jacobian = NULL;
  CHECK_OK(kit_open_without(ceed, POISSON, &k));
  CHECK_OK(kit_open_without(ceed, FUNCTIONS, &other));
  CHECK_OK(fill(k.state, 0.52, 0.12));
  CHECK_OK(CeedOperatorCreateComposite(ceed, &composite));
  CHECK_OK(CeedOperatorCompositeAddSub(composite, k.residual));
  CHECK_OK(CeedOperatorCompositeAddSub(composite, other.residual));
  CHECK_OK(RitzOperatorCreateDerivative(composite, k.state, &jacobian));
  CHECK_OK(RitzOperatorCreateDerivative(other.residual, k.state, &other.jacobian));
  CHECK_OK(CeedOperatorDestroy(&composite));
  CHECK_OK(apply(jacobian, k.w, k.x));
  CHECK_OK(apply(other.jacobian, k.w, k.y));
  CHECK_OK(CeedOperatorApplyAdd(k.by_hand, k.w, k.y, CEED_REQUEST_IMMEDIATE));
  CHECK_NEAR(difference(k.x, k.y), 0.0, tolerance, "sum");
  CHECK_OK(CeedOperatorDestroy(&jacobian));
  CHECK_OK(kit_close(&k));
  CHECK_OK(kit_close(&other));
}

// New numbers in the context of the residual, which the derivative shares.
TEST_EACH_BACKEND(derivatives_have_the_context_of_their_residual) {
  NEEDS_CXX(ceed);
  const Material material = {1, {4, 0.5}, 1.1, {2, 3}};
  Kit k;
  CHECK_OK(kit_open(ceed, HYPERELASTIC, &k));
  CHECK_OK(CeedQFunctionContextSetData(k.ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(material),
                                       (void *)&material));
  CHECK_OK(apply(k.jacobian, k.w, k.x));
  CHECK_OK(apply(k.by_hand, k.w, k.y));
  CHECK_NEAR(difference(k.x, k.y), 0.0, tolerance, "new moduli");
  CHECK_OK(kit_close(&k));
}

// All policies of the geometry: stored and computed factors; all that derivatives can store.
TEST_EACH_BACKEND(point_functions_have_derivatives) {
  NEEDS_CXX(ceed);
  static const RitzPointFunction function = RITZ_POINT_FUNCTION_TABLE(GradientDependent, 3, 1);
  const CeedInt n[3] = {2, 1, 1};
  const Moduli moduli = {2, 3};
  RitzMesh mesh = NULL;
  RitzSpace space = NULL;
  RitzGeometry geometry = NULL;
  CeedQFunctionContext ctx = NULL;
  CHECK_OK(RitzMeshCreateBox(ceed, 3, n, NULL, NULL, 1, NULL, NULL, &mesh));
  CHECK_OK(RitzSpaceCreate(mesh, 2, 1, &space));
  CHECK_OK(RitzGeometryCreate(mesh, 0, &geometry));
  CHECK_OK(CeedQFunctionContextCreate(ceed, &ctx));
  CHECK_OK(
      CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(moduli), (void *)&moduli));
  for (int i = 0; i < 6; i++) {
    const RitzDerivativeOptions stored = {.storage = (RitzDerivativeStorage)(RITZ_STORED_NOTHING + i / 2)};
    RitzOperatorOptions options = {.space = space,
                                   .policy = i % 2 ? RITZ_POLICY_ISOPARAMETRIC : RITZ_POLICY_STORED};
    CeedOperator op = NULL, jacobian = NULL;
    CeedVector state = NULL;
    CeedSize size;
    RitzDerivativeCheck check;
    CHECK_OK(RitzGeometryCreatePointOperator(geometry, ceed, &options, &function, ctx, &op));
    CHECK_OK(CeedOperatorGetActiveVectorLengths(op, &size, NULL));
    CHECK_OK(CeedVectorCreate(ceed, size, &state));
    CHECK_OK(fill(state, 0.5, 0.5));
    CHECK_OK(RitzOperatorCreateDerivativeStored(op, state, &stored, &jacobian));
    CHECK_OK(RitzOperatorCheckDerivative(op, state, jacobian, 0.1, &check));
    CHECK_NEAR(check.order, 2.0, sizeof(CeedScalar) == 8 ? 0.1 : 0.4, "policy %d, %s", i % 2,
               RitzDerivativeStorageName(stored.storage));
    CHECK_OK(CeedVectorDestroy(&state));
    CHECK_OK(CeedOperatorDestroy(&op));
    CHECK_OK(CeedOperatorDestroy(&jacobian));
  }
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
  CHECK_OK(RitzGeometryDestroy(&geometry));
  CHECK_OK(RitzSpaceDestroy(&space));
  CHECK_OK(RitzMeshDestroy(&mesh));
}

// ---- Texts in memory ----

static const char square[] =
    "#include <math.h>\n"
    "typedef struct Factor_ { CeedScalar a; struct Factor_ *next, *last; } Factor;\n"
    "CEED_QFUNCTION(square)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) "
    "{\n"
    "  const Factor *f = (const Factor *)ctx;\n"
    "  for (CeedInt i = 0; i < Q; i++) out[0][i] = in[1][i] * (f ? f->a : 1) * in[0][i] * sqrt(in[0][i]);\n"
    "  return 0;\n"
    "}\n";

// w u^(3/2) of a text: an operator, and its derivative w 3/2 u^(1/2).
TEST_EACH_BACKEND(texts_in_memory_are_functions) {
  Kit k;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL, jacobian = NULL;
  RitzDerivativeCheck check;
  const char *path = "none", *text = NULL;
  CHECK_OK(kit_open_without(ceed, FUNCTIONS, &k));
  CHECK_OK(CeedQFunctionContextDestroy(&k.ctx));
  CHECK_OK(RitzQFunctionCreateFromText(ceed, 1, square, "square", &qf));
  CHECK_OK(make_operator_of(&k, qf, false, &op));
  CHECK_OK(CeedQFunctionGetSourcePath(qf, &path));
  CHECK(path == NULL, "%s", path);
  CHECK_OK(CeedQFunctionLoadSourceToBuffer(qf, &text));
  CHECK(!strcmp(text, square), "%s", text);
  free((void *)text);
  CHECK_OK(CeedQFunctionDestroy(&qf));
  CHECK_OK(apply(op, k.state, k.x));
  if (!tap_compiles_c_alone(ceed)) {
    CHECK_OK(RitzOperatorCreateDerivative(op, k.state, &jacobian));
    CHECK_OK(RitzOperatorCheckDerivative(op, k.state, jacobian, 0.1, &check));
    CHECK_NEAR(check.order, 2.0, sizeof(CeedScalar) == 8 ? 0.1 : 0.4, "order");
    CHECK_OK(apply(jacobian, k.state, k.y)); // homogeneous of degree 3/2
    CHECK_OK(CeedVectorScale(k.x, (CeedScalar)1.5));
    CHECK_NEAR(difference(k.x, k.y), 0.0, tolerance, "Euler's relation");
  }
  CHECK_OK(CeedOperatorLinearAssembleDiagonal(op, k.y, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedOperatorDestroy(&jacobian));
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(kit_close(&k));
}

TEST(texts_in_memory_are_refused_with_a_reason) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Kit k;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  CHECK_ERROR(ceed, RitzQFunctionCreateFromText(ceed, 1, NULL, "f", &qf), CEED_ERROR_INCOMPATIBLE, "text");
  CHECK_ERROR(ceed, RitzQFunctionCreateFromText(ceed, 1, square, "a b", &qf), CEED_ERROR_INCOMPATIBLE,
              "'a b'");
  CHECK_ERROR(ceed, RitzQFunctionCreateFromText(ceed, 0, square, "square", &qf), CEED_ERROR_DIMENSION,
              "length");
  CHECK_OK(kit_open_without(ceed, FUNCTIONS, &k));
  CHECK_OK(RitzQFunctionCreateFromText(ceed, 1, square, "cube", &qf));
  CHECK_OK(make_operator_of(&k, qf, false, &op));
  CHECK_ERROR(ceed, apply(op, k.state, k.x), CEED_ERROR_BACKEND, "cube");
  CHECK_OK(CeedQFunctionDestroy(&qf));
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(kit_close(&k));
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- CUDA, without a device ----

// Applies and diagonals, fused and by separate kernels. Applies keep all numbers in registers, but for lgamma
// and such.
TEST(derivatives_compile_for_CUDA) {
  const RitzBackend *const backends[] = {&ritz_cuda_gen_backend, &ritz_cuda_shared_backend};
  NEEDS_NVRTC();
  setenv("RITZ_CACHE", "off", 1); // what comes from the cache has no log
  for (int b = 0; b < 2; b++) {
    Ceed ceed;
    CHECK_OK(open_context(backends[b], &devices[0], &ceed));
    for (Kind kind = 0; kind < NUM_KINDS; kind++) {
      Kit k;
      totals = (Totals){.wants_registers = true};
      snprintf(running, sizeof(running), "derivative of %s", kinds[kind].name);
      CHECK_OK(kit_open(ceed, kind, &k));
      CHECK_OK(apply(k.jacobian, k.w, k.x));
      CHECK(totals.num_programs > 0, "nothing was compiled");
      CHECK(kind == FUNCTIONS || totals.num_in_memory == 0, "%s: %d kernels keep numbers in memory",
            kinds[kind].name, totals.num_in_memory);
      CHECK_OK(CeedOperatorLinearAssembleDiagonal(k.jacobian, k.x, CEED_REQUEST_IMMEDIATE));
      CHECK_OK(kit_close(&k));
    }
    CHECK_OK(CeedDestroy(&ceed));
  }
  unsetenv("RITZ_CACHE");
}

// ---- What is refused ----

TEST_EACH_BACKEND(misuse_ends_with_its_reason) {
  Kit k;
  CeedVector shorter = NULL;
  CeedOperator none = NULL, jacobian = NULL;
  RitzDerivativeCheck check;
  CHECK_OK(kit_open_without(ceed, POISSON, &k));
  CHECK_OK(CeedVectorCreate(ceed, k.size - 1, &shorter));
  if (tap_compiles_c_alone(ceed))
    CHECK_ERROR(ceed, RitzOperatorCreateDerivative(k.residual, k.state, &jacobian), CEED_ERROR_UNSUPPORTED,
                "OpenCL C");
  CHECK_ERROR(ceed, RitzOperatorCreateDerivative(k.residual, shorter, &jacobian), CEED_ERROR_DIMENSION,
              "state has");
  CHECK_ERROR(ceed, RitzOperatorCreateDerivative(k.residual, NULL, &jacobian), CEED_ERROR_INCOMPATIBLE,
              "state");
  CHECK_ERROR(ceed, RitzOperatorCreateDerivative(k.residual, k.state, NULL), CEED_ERROR_INCOMPATIBLE,
              "jacobian");
  CHECK_ERROR(NULL, RitzOperatorCreateDerivative(none, k.state, &jacobian), CEED_ERROR_INCOMPATIBLE, "NULL");
  CHECK_ERROR(ceed, RitzOperatorCheckDerivative(k.residual, k.state, k.by_hand, 0, &check),
              CEED_ERROR_INCOMPATIBLE, "first step");
  CHECK_ERROR(ceed, RitzOperatorCheckDerivative(k.residual, shorter, k.by_hand, 1, &check),
              CEED_ERROR_DIMENSION, "state has");
  CHECK(jacobian == NULL, "a result in spite of an error");
  CHECK_OK(CeedVectorDestroy(&shorter));
  CHECK_OK(kit_close(&k));
}

TEST(functions_without_a_text_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self");
  Kit k;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL, jacobian = NULL;
  CHECK_OK(kit_open_without(ceed, FUNCTIONS, &k));
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, AllFunctions, "", &qf));
  CHECK_OK(make_operator_of(&k, qf, false, &op));
  CHECK_ERROR(ceed, RitzOperatorCreateDerivative(op, k.state, &jacobian), CEED_ERROR_INCOMPLETE, "no text");
  CHECK_OK(CeedQFunctionDestroy(&qf));
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(kit_close(&k));
  CHECK_OK(CeedDestroy(&ceed));
}

TEST(operators_at_points_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self");
  CeedQFunction qf = NULL;
  CeedOperator op = NULL, jacobian = NULL;
  CeedVector state = NULL;
  CHECK_OK(CeedQFunctionCreateInteriorByName(ceed, "Identity", &qf));
  CHECK_OK(CeedOperatorCreateAtPoints(ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &op));
  CHECK_OK(CeedVectorCreate(ceed, 1, &state));
  CHECK_ERROR(ceed, RitzOperatorCreateDerivative(op, state, &jacobian), CEED_ERROR_UNSUPPORTED, "at points");
  CHECK_OK(CeedVectorDestroy(&state));
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedQFunctionDestroy(&qf));
  CHECK_OK(CeedDestroy(&ceed));
}

#define BODY(lines)                                                                                          \
  "typedef struct { CeedScalar a[2]; CeedInt n; } Numbers;\n"                                                \
  "CEED_QFUNCTION(f)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {\n"   \
  "  for (CeedInt i = 0; i < Q; i++) {\n" lines "  }\n  return 0;\n}\n"

// What C++ refuses, and what cannot be followed in a context.
TEST(texts_that_cannot_be_differentiated_are_refused) {
  static const struct {
    const char *text, *words;
  } cases[] = {
      {BODY("const Numbers *n = ctx; out[0][i] = n->a[0] * in[0][i];\n"), "which is done in C++"},
      {BODY("double u = in[0][i]; out[0][i] = u;\n"), "which is done in C++"},
      {BODY("out[0][i] = (double)in[0][i];\n"), "which is done in C++"},
      {BODY("const int k = in[0][i]; out[0][i] = k;\n"), "which is done in C++"},
      {BODY("const CeedScalar *a = ((const Numbers *)ctx)->a; out[0][i] = a[1] * in[0][i];\n"),
       "which is done in C++"},
      {BODY("Numbers n; memcpy(&n, ctx, sizeof(n)); out[0][i] = n.a[0] * in[0][i];\n"), "by its bytes"},
      {BODY("out[0][i] = ((const CeedScalar(*)[2])ctx)[0][1] * in[0][i];\n"), "cast to an array"},
      {BODY("out[0][i] = ((const Unknown *)ctx)->a * in[0][i];\n"), "no struct in this text"},
      {BODY("out[0][i] = *(const CeedScalar *)((const char *)ctx + 8) * in[0][i];\n"), "as in a context"},
      {BODY("out[0][i] = ((const Numbers *)((const char *)ctx + 8))->a[0] * in[0][i];\n"), "as in a context"},
      {BODY("const Numbers *n = (const Numbers *)ctx; out[0][i] = *(const CeedScalar *)n->a * in[0][i];\n"),
       "as in a context"},
      {BODY("const double *u = (const double *)in[0]; out[0][i] = u[i];\n"), "something else"},
      {BODY("const Numbers *n = (const Numbers *)ctx, *m = (const Numbers *)in[0];\n"
            "out[0][i] = n->a[0] * m->a[0];\n"),
       "of other numbers, too"},
  };
  Ceed ceed = tap_ceed("/cpu/self");
  Kit k;
  CHECK_OK(kit_open_without(ceed, FUNCTIONS, &k));
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    CeedQFunction qf = NULL;
    CeedOperator op = NULL, jacobian = NULL;
    CHECK_OK(RitzQFunctionCreateFromText(ceed, 1, cases[i].text, "f", &qf));
    CHECK_OK(make_operator_of(&k, qf, false, &op));
    CHECK_ERROR(ceed, RitzOperatorCreateDerivative(op, k.state, &jacobian), CEED_ERROR_UNSUPPORTED,
                cases[i].words);
    CHECK(!jacobian, "case %zu", i);
    CHECK_OK(CeedQFunctionDestroy(&qf));
    CHECK_OK(CeedOperatorDestroy(&op));
  }
  CHECK_OK(kit_close(&k));
  CHECK_OK(CeedDestroy(&ceed));
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(remainders_of_derivatives_are_of_second_order, remainders_of_another_operator_are_of_first_order,
            derivatives_are_those_by_hand_at_every_state, derivatives_are_those_of_the_reference_backend,
            derivatives_of_gradients_of_energies_are_symmetric, derivatives_have_matrices_and_diagonals,
            derivatives_have_point_blocks, derivatives_compute_in_float, derivatives_have_levels_of_multigrid,
            derivatives_of_composites_are_composites, derivatives_have_the_context_of_their_residual,
            point_functions_have_derivatives, texts_in_memory_are_functions, derivatives_compile_for_CUDA,
            texts_in_memory_are_refused_with_a_reason, misuse_ends_with_its_reason,
            functions_without_a_text_are_refused, operators_at_points_are_refused,
            texts_that_cannot_be_differentiated_are_refused));
}
