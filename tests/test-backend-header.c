// SPDX-License-Identifier: BSD-2-Clause
// Functions of ceed/backend.h that no other test has a reason to call: data of assembly, Householder
// reflectors under the standard's name, memory and message helpers of the header.
#include "tests/reference.h"
#include "tests/tap.h"

#include <ceed/backend.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- What assembly is made of ----

enum { P = 3, Q = 4, NODES = P * P, POINTS = Q * Q };

static int copy_all(void *ctx, const CeedInt n, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  memcpy(out[0], in[0], 2 * (size_t)n * sizeof(CeedScalar));
  memcpy(out[1], in[1], (size_t)n * sizeof(CeedScalar));
  return 0;
}

// One square: inputs du (gradient) and u, outputs dv and v, all on one basis.
static int create_operator(Ceed ceed, CeedElemRestriction *rstr, CeedBasis *basis, CeedOperator *op) {
  static const char *const names[] = {"du", "u", "dv", "v"};
  CeedInt offsets[NODES];
  CeedQFunction qf = NULL;

  for (CeedInt i = 0; i < NODES; i++) offsets[i] = i;
  int ierr =
      CeedElemRestrictionCreate(ceed, 1, NODES, 1, 1, NODES, CEED_MEM_HOST, CEED_COPY_VALUES, offsets, rstr);
  if (!ierr) ierr = CeedBasisCreateTensorH1Lagrange(ceed, 2, 1, P, Q, CEED_GAUSS, basis);
  if (!ierr) ierr = CeedQFunctionCreateInterior(ceed, 1, copy_all, "", &qf);
  if (!ierr) ierr = CeedQFunctionAddInput(qf, names[0], 2, CEED_EVAL_GRAD);
  if (!ierr) ierr = CeedQFunctionAddInput(qf, names[1], 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionAddOutput(qf, names[2], 2, CEED_EVAL_GRAD);
  if (!ierr) ierr = CeedQFunctionAddOutput(qf, names[3], 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, op);
  for (int i = 0; !ierr && i < 4; i++) {
    ierr = CeedOperatorSetField(*op, names[i], *rstr, *basis, CEED_VECTOR_ACTIVE);
  }
  CeedQFunctionDestroy(&qf);
  return ierr;
}

TEST_EACH_BACKEND(assembly_data_list_bases_modes_and_tables) {
  static const CeedEvalMode wanted[] = {CEED_EVAL_GRAD, CEED_EVAL_GRAD, CEED_EVAL_INTERP};
  CeedElemRestriction rstr = NULL, *rstrs_in, *rstrs_out;
  CeedBasis basis = NULL, *bases_in, *bases_out;
  CeedOperator op = NULL;
  CeedOperatorAssemblyData data;
  CeedInt num_in, num_out, *num_modes_in, *num_modes_out;
  const CeedEvalMode **modes_in, **modes_out;
  CeedSize **offsets_in, **offsets_out, num_components;
  const CeedScalar **tables_in, **tables_out, *interp, *grad;

  CHECK_OK(create_operator(ceed, &rstr, &basis, &op));
  CHECK_OK(CeedOperatorGetOperatorAssemblyData(op, &data));
  CHECK_OK(CeedOperatorAssemblyDataGetBases(data, &num_in, &bases_in, &tables_in, &num_out, &bases_out,
                                            &tables_out));
  CHECK(num_in == 1 && num_out == 1 && bases_in[0] == basis && bases_out[0] == basis, "one basis each way");
  CHECK_OK(CeedOperatorAssemblyDataGetElemRestrictions(data, &num_in, &rstrs_in, &num_out, &rstrs_out));
  CHECK(num_in == 1 && num_out == 1 && rstrs_in[0] == rstr && rstrs_out[0] == rstr,
        "one restriction each way");
  CHECK_OK(CeedOperatorAssemblyDataGetEvalModes(data, &num_in, &num_modes_in, &modes_in, &offsets_in,
                                                &num_out, &num_modes_out, &modes_out, &offsets_out,
                                                &num_components));
  CHECK(num_modes_in[0] == 3 && num_modes_out[0] == 3 && num_components == 3, "three components each way");
  CHECK_OK(CeedBasisGetInterp(basis, &interp));
  CHECK_OK(CeedBasisGetGrad(basis, &grad));
  for (CeedInt m = 0; m < 3; m++) {
    const CeedScalar *matrix = m < 2 ? grad + m * POINTS * NODES : interp;

    CHECK(modes_in[0][m] == wanted[m] && modes_out[0][m] == wanted[m], "mode %d", (int)m);
    CHECK(offsets_in[0][m] == m && offsets_out[0][m] == m, "offset %d", (int)m);
    for (CeedInt k = 0; k < POINTS * NODES; k++) {
      CeedInt at = (k / NODES * 3 + m) * NODES + k % NODES;

      CHECK(tables_in[0][at] == matrix[k] && tables_out[0][at] == matrix[k], "mode %d, entry %d", (int)m,
            (int)k);
    }
  }
  CHECK_OK(CeedOperatorAssemblyDataGetBases(data, NULL, NULL, NULL, NULL, NULL, NULL));
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedBasisDestroy(&basis));
  CHECK_OK(CeedElemRestrictionDestroy(&rstr));
}

TEST_EACH_BACKEND(composites_have_no_assembly_data) {
  CeedOperator op = NULL;
  CeedOperatorAssemblyData data;

  CHECK_OK(CeedOperatorCreateComposite(ceed, &op));
  CHECK_ERROR(ceed, CeedOperatorGetOperatorAssemblyData(op, &data), CEED_ERROR_INCOMPATIBLE, "composite");
  CHECK_OK(CeedOperatorDestroy(&op));
}

// ---- Householder reflectors ----

enum { M = 5, N = 3 };

// A = Q R: applied to A, Q^T gives R, and Q gives A back. Also with entries stored by columns.
TEST_EACH_BACKEND(reflectors_take_a_matrix_to_its_triangle_and_back) {
  CeedScalar A[M * N], mat[M * N], tau[M], copy[M * N];
  uint64_t state = 7;

  for (int i = 0; i < M * N; i++) mat[i] = A[i] = (CeedScalar)tap_uniform(&state);
  CHECK_OK(CeedQRFactorization(ceed, mat, tau, M, N));
  for (int by_columns = 0; by_columns < 2; by_columns++) {
    CeedInt row = by_columns ? 1 : N, col = by_columns ? M : 1;

    for (int i = 0; i < M; i++) {
      for (int j = 0; j < N; j++) copy[i * row + j * col] = A[i * N + j];
    }
    CHECK_OK(CeedHouseholderApplyQ(copy, mat, tau, CEED_TRANSPOSE, M, N, N, row, col));
    for (int i = 0; i < M; i++) {
      for (int j = 0; j < N; j++) {
        // Entries are below 1; a reflector costs a few roundings of the column's norm.
        CHECK_NEAR(copy[i * row + j * col], i <= j ? mat[i * N + j] : 0, 20 * M * eps, "(%d, %d)", i, j);
      }
    }
    CHECK_OK(CeedHouseholderApplyQ(copy, mat, tau, CEED_NOTRANSPOSE, M, N, N, row, col));
    for (int i = 0; i < M; i++) {
      for (int j = 0; j < N; j++)
        CHECK_NEAR(copy[i * row + j * col], A[i * N + j], 40 * M * eps, "(%d, %d)", i, j);
    }
  }
}

// ---- Helpers of the header ----

TEST(memory_helpers_clear_grow_and_free) {
  CeedInt *p = NULL;

  CHECK_OK(CeedCalloc(100, &p));
  for (int i = 0; i < 100; i++) CHECK(p[i] == 0, "entry %d", i);
  for (int i = 0; i < 100; i++) p[i] = i;
  CHECK_OK(CeedRealloc(1000, &p));
  for (int i = 0; i < 100; i++) CHECK(p[i] == i, "entry %d after growth", i);
  CHECK_OK(CeedFree(&p));
  CHECK(p == NULL, "the pointer is cleared");
  CHECK_OK(CeedMalloc(10, &p));
  CHECK((uintptr_t)p % CEED_ALIGN == 0, "aligned to %d bytes", CEED_ALIGN);
  CHECK_OK(CeedFree(&p));
}

// Nothing is printed unless one of the three variables is set.
TEST(debug_messages_follow_the_environment) {
  CHECK_OK(unsetenv("CEED_DEBUG") | unsetenv("DEBUG") | unsetenv("DBG"));
  CHECK(!CeedDebugIsOn(), "off without variables");
  CHECK_OK(setenv("DBG", "0", 1));
  CHECK(CeedDebugIsOn(), "on whatever the value");
  CHECK_OK(unsetenv("DBG"));
  CeedDebug(NULL, "this line must not appear");
}

// ---- Names that bindings and configure scripts look for ----

static int init_nothing(const char *resource, Ceed ceed) {
  (void)resource;
  (void)ceed;
  return 0;
}

TEST(a_backend_that_is_registered_is_refused_in_words) {
  Ceed ceed = NULL;

  CHECK_ERROR(NULL, CeedRegister("/cpu/self/mine", init_nothing, 1), CEED_ERROR_UNSUPPORTED,
              "CeedRegister: the backend '/cpu/self/mine' cannot be added");
  CHECK_ERROR(NULL, CeedRegister(NULL, NULL, 0), CEED_ERROR_UNSUPPORTED, "CeedRegister");
  CHECK_ERROR(NULL, CeedInit("/cpu/self/mine", &ceed), CEED_ERROR_MAJOR, "No suitable backend");
}

// Rises by 2 with every modification, is odd while the array is lent for writing.
TEST_EACH_BACKEND(the_state_of_a_vector_counts_its_modifications) {
  CeedScalar values[] = {1, 2}, *array;
  const CeedScalar *read;
  uint64_t state = 1;
  CeedVector v = NULL;

#define CHECK_STATE(wanted)                                                                                  \
  do {                                                                                                       \
    CHECK_OK(CeedVectorGetState(v, &state));                                                                 \
    CHECK(state == (wanted), "state %d, not %d", (int)state, (int)(wanted));                                 \
  } while (0)
  CHECK_OK(CeedVectorCreate(ceed, 2, &v));
  CHECK_STATE(0);
  CHECK_OK(CeedVectorSetArray(v, CEED_MEM_HOST, CEED_COPY_VALUES, values));
  CHECK_STATE(2);
  CHECK_OK(CeedVectorSetValue(v, 3));
  CHECK_STATE(4);
  CHECK_OK(CeedVectorGetArrayRead(v, CEED_MEM_HOST, &read));
  CHECK_STATE(4);
  CHECK_OK(CeedVectorRestoreArrayRead(v, &read));
  CHECK_STATE(4);
  CHECK_OK(CeedVectorGetArray(v, CEED_MEM_HOST, &array));
  CHECK_STATE(5);
  CHECK_OK(CeedVectorRestoreArray(v, &array));
  CHECK_STATE(6);
  CHECK_OK(CeedVectorGetArrayWrite(v, CEED_MEM_HOST, &array));
  CHECK_STATE(7);
  array[0] = array[1] = 0;
  CHECK_OK(CeedVectorRestoreArray(v, &array));
  CHECK_STATE(8);
  CHECK_OK(CeedVectorScale(v, 2));
  CHECK_STATE(10);
#undef CHECK_STATE
  CHECK_ERROR(NULL, CeedVectorGetState(NULL, &state), CEED_ERROR_INCOMPATIBLE, "CeedVectorGetState");
  CHECK_OK(CeedVectorDestroy(&v));
}

// An operator modifies its outputs and nothing else.
TEST_EACH_BACKEND(an_operator_changes_the_state_of_its_outputs_alone) {
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  CeedOperator op = NULL;
  CeedVector u = NULL, v = NULL;
  uint64_t u_state, v_state, u_after, v_after;

  if (!tap_runs_pointers(ceed)) NOT_FOR_THIS_BACKEND("the function has no text");
  CHECK_OK(create_operator(ceed, &rstr, &basis, &op));
  CHECK_OK(CeedElemRestrictionCreateVector(rstr, &u, NULL));
  CHECK_OK(CeedElemRestrictionCreateVector(rstr, &v, NULL));
  CHECK_OK(CeedVectorSetValue(u, 1));
  CHECK_OK(CeedVectorSetValue(v, 1));
  for (int adds = 0; adds < 2; adds++) {
    CHECK_OK(CeedVectorGetState(u, &u_state));
    CHECK_OK(CeedVectorGetState(v, &v_state));
    CHECK_OK((adds ? CeedOperatorApplyAdd : CeedOperatorApply)(op, u, v, CEED_REQUEST_IMMEDIATE));
    CHECK_OK(CeedVectorGetState(u, &u_after));
    CHECK_OK(CeedVectorGetState(v, &v_after));
    CHECK(u_after == u_state, "the input is modified");
    CHECK(v_after > v_state && v_after % 2 == 0, "the output: %d, then %d", (int)v_state, (int)v_after);
  }
  CHECK_OK(CeedVectorDestroy(&u));
  CHECK_OK(CeedVectorDestroy(&v));
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedBasisDestroy(&basis));
  CHECK_OK(CeedElemRestrictionDestroy(&rstr));
}

// ---- Getters ----

static int strided(Ceed ceed, const CeedInt strides[3], CeedElemRestriction *rstr) {
  return CeedElemRestrictionCreateStrided(ceed, 2, 3, 1, 6, strides, rstr);
}

TEST_EACH_BACKEND(a_strided_restriction_tells_the_strides_that_it_was_given) {
  static const CeedInt mine[3] = {1, 6, 3};
  CeedElemRestriction rstr = NULL;
  CeedInt strides[3] = {-1, -1, -1};
  bool is_so = false;

  CHECK_OK(strided(ceed, mine, &rstr));
  CHECK_OK(CeedElemRestrictionGetStrides(rstr, strides));
  CHECK(!memcmp(strides, mine, sizeof(mine)), "%d %d %d", (int)strides[0], (int)strides[1], (int)strides[2]);
  CHECK_OK(CeedElemRestrictionHasBackendStrides(rstr, &is_so));
  CHECK(!is_so, "they are the program's");
  CHECK_OK(CeedElemRestrictionIsStrided(rstr, &is_so));
  CHECK(is_so, "it is strided");
  CHECK_OK(CeedElemRestrictionIsAtPoints(rstr, &is_so));
  CHECK(!is_so, "it is not at points");
  CHECK_OK(CeedElemRestrictionDestroy(&rstr));
  CHECK_OK(strided(ceed, CEED_STRIDES_BACKEND, &rstr));
  CHECK_OK(CeedElemRestrictionGetStrides(rstr, strides));
  CHECK(!memcmp(strides, CEED_STRIDES_BACKEND, sizeof(strides)), "what it was given");
  CHECK_OK(CeedElemRestrictionHasBackendStrides(rstr, &is_so));
  CHECK(is_so, "they are the backend's");
  CHECK_OK(CeedElemRestrictionDestroy(&rstr));
}

TEST_EACH_BACKEND(orientations_are_lent_in_the_order_of_the_offsets) {
  static const CeedInt offsets[] = {0, 1, 1, 2};
  static const bool signs[] = {false, true, true, false};
  static const CeedInt8 curls[] = {0, 1, 1, 0, 1, 0, 0, 1, 0, -1, 1, 0};
  CeedElemRestriction oriented = NULL, curl = NULL;
  const bool *orients = NULL;
  const CeedInt8 *curl_orients = NULL;
  CeedInt strides[3];
  bool is_so;

  CHECK_OK(CeedElemRestrictionCreateOriented(ceed, 2, 2, 1, 1, 3, CEED_MEM_HOST, CEED_COPY_VALUES, offsets,
                                             signs, &oriented));
  CHECK_OK(CeedElemRestrictionCreateCurlOriented(ceed, 2, 2, 1, 1, 3, CEED_MEM_HOST, CEED_COPY_VALUES,
                                                 offsets, curls, &curl));
  CHECK_OK(CeedElemRestrictionGetOrientations(oriented, CEED_MEM_HOST, &orients));
  CHECK(!memcmp(orients, signs, sizeof(signs)), "the signs");
  CHECK_OK(CeedElemRestrictionRestoreOrientations(oriented, &orients));
  CHECK(!orients, "given back");
  CHECK_ERROR(ceed, CeedElemRestrictionRestoreOrientations(oriented, &orients), CEED_ERROR_ACCESS,
              "not granted");
  CHECK_OK(CeedElemRestrictionGetCurlOrientations(curl, CEED_MEM_HOST, &curl_orients));
  CHECK(!memcmp(curl_orients, curls, sizeof(curls)), "three a node");
  CHECK_OK(CeedElemRestrictionRestoreCurlOrientations(curl, &curl_orients));
  CHECK_ERROR(ceed, CeedElemRestrictionGetOrientations(curl, CEED_MEM_HOST, &orients), CEED_ERROR_MINOR,
              "needs an oriented");
  CHECK_ERROR(ceed, CeedElemRestrictionGetCurlOrientations(oriented, CEED_MEM_HOST, &curl_orients),
              CEED_ERROR_MINOR, "needs a curl-oriented");
  CHECK_ERROR(ceed, CeedElemRestrictionGetOrientations(oriented, CEED_MEM_DEVICE, &orients),
              CEED_ERROR_BACKEND, "host memory");
  CHECK_ERROR(ceed, CeedElemRestrictionGetStrides(oriented, strides), CEED_ERROR_MINOR, "strided");
  CHECK_ERROR(ceed, CeedElemRestrictionHasBackendStrides(oriented, &is_so), CEED_ERROR_MINOR, "strided");
  CHECK_OK(CeedElemRestrictionDestroy(&oriented));
  CHECK_OK(CeedElemRestrictionDestroy(&curl));
}

TEST_EACH_BACKEND(a_resource_has_a_root_and_a_function_one_context) {
  CeedQFunction qf = NULL;
  CeedQFunctionContext ctx = NULL, inner = NULL;
  char *root = NULL;

  CHECK_OK(CeedGetResourceRoot(ceed, "/gpu/cuda/gen:device_id=2", ":", &root));
  CHECK(!strcmp(root, "/gpu/cuda/gen"), "%s", root);
  CHECK_OK(CeedFree(&root));
  CHECK_OK(CeedGetResourceRoot(ceed, "/cpu/self", ":", &root));
  CHECK(!strcmp(root, "/cpu/self"), "%s", root);
  CHECK_OK(CeedFree(&root));
  CHECK_ERROR(ceed, CeedGetResourceRoot(ceed, NULL, ":", &root), CEED_ERROR_INCOMPATIBLE, "NULL");
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, copy_all, "", &qf));
  CHECK_OK(CeedQFunctionGetInnerContext(qf, &inner));
  CHECK(!inner, "there is none");
  CHECK_OK(CeedQFunctionContextCreate(ceed, &ctx));
  CHECK_OK(CeedQFunctionSetContext(qf, ctx));
  CHECK_OK(CeedQFunctionGetInnerContext(qf, &inner));
  CHECK(inner == ctx, "it is that of the function");
  CHECK_OK(CeedQFunctionContextDestroy(&inner));
  CHECK_OK(CeedQFunctionContextDestroy(&ctx));
  CHECK_OK(CeedQFunctionDestroy(&qf));
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(assembly_data_list_bases_modes_and_tables, composites_have_no_assembly_data,
                        reflectors_take_a_matrix_to_its_triangle_and_back, memory_helpers_clear_grow_and_free,
                        debug_messages_follow_the_environment,
                        a_backend_that_is_registered_is_refused_in_words,
                        the_state_of_a_vector_counts_its_modifications,
                        an_operator_changes_the_state_of_its_outputs_alone,
                        a_strided_restriction_tells_the_strides_that_it_was_given,
                        orientations_are_lent_in_the_order_of_the_offsets,
                        a_resource_has_a_root_and_a_function_one_context));
}
