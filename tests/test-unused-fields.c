// SPDX-License-Identifier: BSD-2-Clause
// Fields of size 0, which programs declare for what a variant of theirs does not use: an operator does not
// set them, the function gets pointers to nothing in their places, and all else is as without them.
#include "tests/small-operator.h"
#include "tests/unused-qfunctions.h"

#include "core/core.h"
#include "tests/reference.h"

#include <math.h>
#include <ritz/jit.h>

static CeedQFunction among_unused(Ceed ceed) {
  CeedQFunction qf = NULL;
  CeedQFunctionCreateInterior(ceed, 1, SmallScaleAmongUnused, SmallScaleAmongUnused_loc, &qf);
  CeedQFunctionAddInput(qf, "first", 0, CEED_EVAL_GRAD);
  CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP);
  CeedQFunctionAddInput(qf, "middle", 0, CEED_EVAL_NONE);
  CeedQFunctionAddInput(qf, "qd", 1, CEED_EVAL_NONE);
  CeedQFunctionAddInput(qf, "w", 1, CEED_EVAL_WEIGHT);
  CeedQFunctionAddInput(qf, "last", 0, CEED_EVAL_INTERP);
  CeedQFunctionAddOutput(qf, "nothing", 0, CEED_EVAL_INTERP);
  CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP);
  CeedQFunctionSetUserFlopsEstimate(qf, 2);
  return qf;
}

// Its operator takes the place of that without such fields.
static void open_without_fields(Ceed ceed, Small *s) {
  small_open_without_fields(ceed, s);
  CHECK_OK(CeedOperatorDestroy(&s->op));
  CHECK_OK(CeedQFunctionDestroy(&s->qf));
  s->qf = among_unused(ceed);
  CHECK_OK(CeedOperatorCreate(ceed, s->qf, NULL, NULL, &s->op));
}

static void open_unused(Ceed ceed, Small *s) {
  open_without_fields(ceed, s);
  CHECK_OK(small_set_fields(s->op, s));
}

// Whether the backend has a kernel made for the operator.
static bool is_fused(Ceed ceed) {
  const char *compiler = NULL;
  RitzJitGetCompiler(&compiler, NULL);
  return strstr(ceed->resource, "/gen") && (ceed->backend.mem_type == CEED_MEM_DEVICE || compiler);
}

// The diagonal: u qd w with u = 1 at both ends of an element.
static void check_diagonal(Small *s) {
  CHECK_OK(CeedOperatorLinearAssembleDiagonal(s->op, s->v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(s->v, 1, 7, 8);
}

// A generated kernel that cannot be is an error here.
TEST_EACH_BACKEND(operators_run_with_fields_of_size_zero) {
  Small s;

  ceed->is_strict = is_fused(ceed);
  open_unused(ceed, &s);
  if (!tap_failed()) small_check_works(&s);
  CHECK_OK(CeedOperatorApplyAdd(s.op, s.u, s.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(s.v, 2, 140, 1600);
  check_diagonal(&s);
  small_close(&s);
}

TEST_EACH_BACKEND(the_programs_function_is_called_with_fields_of_size_zero) {
  Small s;

  setenv("RITZ_QFUNCTION", "pointer", 1);
  open_unused(ceed, &s);
  if (!tap_failed()) small_check_works(&s);
  unsetenv("RITZ_QFUNCTION");
  small_close(&s);
}

TEST_EACH_BACKEND(a_function_with_fields_of_size_zero_is_applied_alone) {
  static const CeedScalar u[] = {1, 2}, qd[] = {3, 4}, w[] = {5, 6};
  CeedQFunction qf = among_unused(ceed);
  CeedVector in[6] = {NULL}, out[2] = {NULL};

  in[1] = vector_of(ceed, 2, u);
  in[3] = vector_of(ceed, 2, qd);
  in[4] = vector_of(ceed, 2, w);
  in[5] = CEED_VECTOR_NONE; // or NULL
  out[1] = vector_of(ceed, 2, NULL);
  CHECK_OK(CeedQFunctionApply(qf, 2, in, out));
  CHECK_HOLDS(out[1], 15, 48);
  for (int i = 0; i < 6; i++) CHECK_OK(CeedVectorDestroy(&in[i]));
  CHECK_OK(CeedVectorDestroy(&out[1]));
  CHECK_OK(CeedQFunctionDestroy(&qf));
}

TEST_EACH_BACKEND(fields_of_size_zero_take_no_data) {
  Small s;

  open_without_fields(ceed, &s);
  CHECK_ERROR(ceed, CeedOperatorSetField(s.op, "last", s.rstr_u, s.basis, CEED_VECTOR_ACTIVE),
              CEED_ERROR_DIMENSION, "'last' has size 0");
  CHECK_ERROR(ceed, CeedOperatorSetField(s.op, "middle", s.rstr_q, CEED_BASIS_NONE, s.qd),
              CEED_ERROR_DIMENSION, "'middle' has size 0");
  CHECK_ERROR(ceed, CeedOperatorSetField(s.op, "nothing", s.rstr_u, s.basis, s.v), CEED_ERROR_DIMENSION,
              "'nothing' has size 0");
  CHECK_OK(CeedOperatorSetField(s.op, "first", CEED_ELEMRESTRICTION_NONE, CEED_BASIS_NONE, CEED_VECTOR_NONE));
  CHECK_ERROR(ceed, CeedOperatorCheckReady(s.op), CEED_ERROR_INCOMPLETE, "4 of 8 fields are set");
  CHECK_OK(small_set_fields(s.op, &s));
  small_check_works(&s);
  small_close(&s);
}

TEST_EACH_BACKEND(queries_show_fields_of_size_zero_without_objects) {
  Small s;
  CeedOperatorField field;
  CeedElemRestriction rstr;
  CeedBasis basis;
  CeedVector vec;
  CeedInt num_in, num_out;
  CeedSize flops;
  bool is_tensor;
  Capture text;

  open_unused(ceed, &s);
  CHECK_OK(CeedOperatorGetFields(s.op, &num_in, NULL, &num_out, NULL));
  CHECK(num_in == 6 && num_out == 2, "%d inputs, %d outputs", num_in, num_out);
  CHECK_OK(CeedOperatorGetFieldByName(s.op, "middle", &field));
  CHECK_OK(CeedOperatorFieldGetData(field, NULL, &rstr, &basis, &vec));
  CHECK(rstr == CEED_ELEMRESTRICTION_NONE && basis == CEED_BASIS_NONE && vec == CEED_VECTOR_NONE, "objects");
  CHECK_OK(CeedOperatorHasTensorBases(s.op, &is_tensor));
  CHECK(is_tensor, "a basis that is not there counts");
  CHECK_OK(CeedOperatorGetFlopsEstimate(s.op, &flops));
  FILE *stream = capture_begin(&text);
  CHECK_OK(CeedOperatorView(s.op, stream));
  fclose(stream);
  CHECK(strstr(text.text, "8 fields") && strstr(text.text, "Size: 0"), "%s", text.text);
  free(text.text);
  small_close(&s);
}

// All entries of the matrix, and the coarser operator, whose fields are those of the finer one.
TEST_EACH_BACKEND(assembly_and_multigrid_pass_fields_of_size_zero_by) {
  Small s;
  CeedSize num_entries;
  CeedInt *rows, *cols;
  CeedVector values = NULL;
  CeedOperator coarse = NULL;
  const CeedScalar *array;
  CeedScalar sum = 0;

  open_unused(ceed, &s);
  CHECK_OK(CeedOperatorLinearAssembleSymbolic(s.op, &num_entries, &rows, &cols));
  CHECK_OK(CeedVectorCreate(ceed, num_entries, &values));
  CHECK_OK(CeedOperatorLinearAssemble(s.op, values));
  CHECK_OK(CeedVectorGetArrayRead(values, CEED_MEM_HOST, &array));
  for (CeedSize k = 0; k < num_entries; k++) sum += array[k];
  CHECK(num_entries == 8 && sum == 16, "%td entries, sum %g", num_entries, (double)sum); // 1 + 7 + 8
  CHECK_OK(CeedVectorRestoreArrayRead(values, &array));
  CHECK_OK(CeedOperatorMultigridLevelCreate(s.op, NULL, s.rstr_u, s.basis, &coarse, NULL, NULL));
  CHECK_OK(CeedOperatorApply(coarse, s.u, s.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(s.v, 1, 70, 800);
  CHECK_OK(CeedOperatorDestroy(&coarse));
  CHECK_OK(CeedVectorDestroy(&values));
  free(rows);
  free(cols);
  small_close(&s);
}

// One point at the left end of each element, of weight 1: v = u qd there.
TEST_EACH_BACKEND(operators_at_points_run_with_fields_of_size_zero) {
  static const CeedInt points[] = {3, 4, 5, 0, 1};
  static const CeedScalar ends[] = {-1, -1}, qd[] = {3, 4};
  CeedElemRestriction rstr_points = NULL, rstr_u = small_restriction(ceed);
  CeedQFunction qf = among_unused(ceed);
  CeedBasis basis = NULL;
  CeedOperator op = NULL;
  CeedVector x = vector_of(ceed, 2, ends), data = vector_of(ceed, 2, qd), u = vector_of(ceed, 3, small_u),
             v = vector_of(ceed, 3, NULL);

  CHECK_OK(CeedElemRestrictionCreateAtPoints(ceed, 2, 2, 1, 2, CEED_MEM_HOST, CEED_COPY_VALUES, points,
                                             &rstr_points));
  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, SMALL_P, SMALL_Q, CEED_GAUSS, &basis));
  CHECK_OK(CeedOperatorCreateAtPoints(ceed, qf, NULL, NULL, &op));
  CHECK_OK(CeedOperatorSetField(op, "u", rstr_u, basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(op, "qd", rstr_points, CEED_BASIS_NONE, data));
  CHECK_OK(CeedOperatorSetField(op, "w", CEED_ELEMRESTRICTION_NONE, basis, CEED_VECTOR_NONE));
  CHECK_OK(CeedOperatorSetField(op, "v", rstr_u, basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorAtPointsSetPoints(op, rstr_points, x));
  CHECK_OK(CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE));
  double *found = reference_new_values(v);
  const double wanted[] = {3, 40, 0};
  for (int i = 0; i < 3; i++) // a few roundings of the basis' values 0 and 1 at the ends, times 100
    CHECK(fabs(found[i] - wanted[i]) <= 1e4 * CEED_EPSILON, "entry %d: %g, not %g", i, found[i], wanted[i]);
  free(found);
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedQFunctionDestroy(&qf));
  CHECK_OK(CeedBasisDestroy(&basis));
  CHECK_OK(CeedElemRestrictionDestroy(&rstr_points));
  CHECK_OK(CeedElemRestrictionDestroy(&rstr_u));
  CHECK_OK(CeedVectorDestroy(&x));
  CHECK_OK(CeedVectorDestroy(&data));
  CHECK_OK(CeedVectorDestroy(&u));
  CHECK_OK(CeedVectorDestroy(&v));
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(operators_run_with_fields_of_size_zero,
                        the_programs_function_is_called_with_fields_of_size_zero,
                        a_function_with_fields_of_size_zero_is_applied_alone,
                        fields_of_size_zero_take_no_data, queries_show_fields_of_size_zero_without_objects,
                        assembly_and_multigrid_pass_fields_of_size_zero_by,
                        operators_at_points_run_with_fields_of_size_zero));
}
