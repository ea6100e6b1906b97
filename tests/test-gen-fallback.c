// SPDX-License-Identifier: BSD-2-Clause
// Steps down on /cpu/self/gen that tests/test-gen.c does not have: sources that are no files, names that are
// no names, values that are not finite, what is delegated, and how often all of that is told.
#define GEN_PROGRAM_FLAG

#include "tests/api.h"
#include "tests/gen-run.h"
#include <math.h>
#include <ritz/version.h>
#include <unistd.h>

// ---- Sources ----

// Whatever stands in a path, it adds no line to the kernel's text.
TEST(control_characters_in_a_path_keep_the_text_out) {
  GEN_NEEDS_COMPILER();
  check_folder("new\"\n#error line\n#include \"line", BY_POINTER, 1);
  if (!tap_failed()) check_folder("return\rand tab\t", BY_POINTER, 1);
}

TEST(what_is_no_name_of_a_function_keeps_the_text_out) {
  static const char *const names[] = {"a b",  "3x",       "GenMass)(0,0,0,0);}int x(void){return (GenMass",
                                      "x\ny", "GenMass ", "Gen-Mass"};
  const char *path = tap_temp_text("function.h", mass_text);
  char source[8192], wanted[256];

  GEN_NEEDS_COMPILER();
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !tap_failed(); i++) {
    const Function f = {.f = GenMass, .source = source, .name = "hidden"};

    snprintf(source, sizeof(source), "%s:%s", path, names[i]);
    snprintf(wanted, sizeof(wanted), "'%s' in the source", names[i]);
    if (strchr(wanted, '\n')) *strchr(wanted, '\n') = ' ';
    check_function(&f, BY_POINTER, 1, wanted);
  }
}

// A pipe would keep a reader waiting, a device would never end.
TEST(a_source_that_is_no_regular_file_is_not_read) {
  char pipe[8192], sources[4][8300];
  static const char *const wanted[] = {"function.h' of its QFunction is not a regular file",
                                       "/dev/zero' of its QFunction is not a regular file",
                                       "/' of its QFunction is not a regular file",
                                       "large.h' of its QFunction has 67108865 bytes"};

  GEN_NEEDS_COMPILER();
  snprintf(pipe, sizeof(pipe), "%s", tap_temp_file("function.h", NULL, 0));
  CHECK(!mkfifo(pipe, 0600), "no pipe");
  const char *large = tap_temp_text("large.h", mass_text);
  CHECK(!truncate(large, (64 << 20) + 1), "no large file");
  snprintf(sources[0], sizeof(sources[0]), "%s:GenMass", pipe);
  snprintf(sources[1], sizeof(sources[1]), "/dev/zero:GenMass");
  snprintf(sources[2], sizeof(sources[2]), "/:GenMass");
  snprintf(sources[3], sizeof(sources[3]), "%s:GenMass", large);
  for (int i = 0; i < 4 && !tap_failed(); i++) {
    const Function f = {.f = GenMass, .source = sources[i]};

    check_function(&f, BY_POINTER, 1, wanted[i]);
  }
}

// ---- RITZ_WARNINGS ----

// Two operators in each of two contexts step down for the same reason. Explanations never depend on the
// variable.
static void check_warnings(const char *value, const char *name, int num_first, int num_later) {
  const Function f = {.f = GenByFlag, .source = GenByFlag_loc, .name = name};

  if (value)
    setenv("RITZ_WARNINGS", value, 1);
  else
    unsetenv("RITZ_WARNINGS");
  for (int i = 0; i < 2 && !tap_failed(); i++) {
    Run first = open_on("/cpu/self/gen", &f), second = open_beside(first.ceed, &f);

    check_applies(&first, &f, BY_POINTER, i ? num_later : num_first, num_first && !i ? name : NULL);
    if (!tap_failed()) check_applies(&second, &f, BY_POINTER, num_later, NULL);
    if (tap_failed()) return;
    CHECK(strstr(explain(first.op), "  because: "), "not explained: %s", explain(first.op));
    close_beside(&second);
    close_run(&first);
  }
}

TEST(the_same_warning_is_given_once_a_process_never_or_each_time) {
  GEN_NEEDS_COMPILER();
  check_warnings(NULL, "warned of by default", 1, 0);
  if (!tap_failed()) check_warnings("once", "warned of once", 1, 0);
  if (!tap_failed()) check_warnings("", "warned of without a value", 1, 0);
  if (!tap_failed()) check_warnings("off", "never warned of", 0, 0);
  if (!tap_failed()) check_warnings("all", "warned of each time", 1, 1);
}

TEST(strictly_a_step_down_is_an_error_without_warnings_too) {
  const Function by_flag = {.f = GenByFlag, .source = GenByFlag_loc};

  GEN_NEEDS_COMPILER();
  setenv("RITZ_WARNINGS", "off", 1);
  setenv("RITZ_STRICT", "1", 1);
  check_refused(&by_flag, "GenByFlag");
}

TEST(another_value_of_the_warnings_is_an_error_of_the_context) {
  static const char *const values[] = {"on", "1", "0", "Off", "once ", "all,off"};
  Ceed ceed = NULL;
  const char *message;

  gen_begin();
  for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
    char wanted[128];

    setenv("RITZ_WARNINGS", values[i], 1);
    CHECK(CeedInit("/cpu/self/ref", &ceed) == CEED_ERROR_INCOMPATIBLE && !ceed, "'%s'", values[i]);
    CHECK_OK(RitzGetInitMessage(&message));
    snprintf(wanted, sizeof(wanted), "CeedInit: RITZ_WARNINGS is '%s'; it may be off, once or all",
             values[i]);
    CHECK(!strcmp(message, wanted), "%s", message);
  }
}

// ---- Values that are not finite ----

// The first element sees them all: in the active input, in the data, in a context.
static void check_unusual(double value, bool in_data, const Function *f, const char *path, const char *part) {
  Run r = open_on("/cpu/self/gen", f);
  CeedScalar *array = NULL;
  GenErrors errors;

  CHECK_OK(CeedVectorGetArray(in_data ? r.q : r.u, CEED_MEM_HOST, &array));
  array[1] = (CeedScalar)value;
  CHECK_OK(CeedVectorRestoreArray(in_data ? r.q : r.u, &array));
  gen_errors_begin(&errors);
  const int ierr = apply(&r);
  gen_errors_end(&errors);
  CHECK_OK(ierr);
  check_path(r.op, path);
  if (tap_failed()) return;
  CHECK(part ? strstr(errors.text, part) != NULL : !errors.text[0], "%s", errors.text);
  CHECK(!strstr(explain(r.op), "unchecked"), "%s", explain(r.op));
  close_run(&r);
}

TEST(values_that_are_not_finite_do_not_keep_the_text_out) {
  const double values[] = {NAN, INFINITY, -INFINITY};

  GEN_NEEDS_COMPILER();
  for (int i = 0; i < 6 && !tap_failed(); i++) check_unusual(values[i / 2], i % 2, &mass, BY_TEXT, NULL);
}

TEST(values_that_are_not_finite_do_not_hide_that_text_and_function_differ) {
  const Function by_flag = {.f = GenByFlag, .source = GenByFlag_loc};

  GEN_NEEDS_COMPILER();
  for (int in_data = 0; in_data < 2 && !tap_failed(); in_data++)
    check_unusual(NAN, in_data, &by_flag, BY_POINTER, "some of the values are not finite");
}

// All results are NaN: nothing speaks against the text, and the explanation says that nothing speaks for it.
TEST(a_text_whose_results_cannot_be_compared_runs_and_is_called_unchecked) {
  const GenNumbers numbers = {NAN, 0};
  const Function scaled = {
      .f = GenScaled, .source = GenScaled_loc, .context = &numbers, .context_size = sizeof(numbers)};
  GenErrors errors;

  GEN_NEEDS_COMPILER();
  Run r = open_on("/cpu/self/gen", &scaled);
  gen_errors_begin(&errors);
  const int ierr = apply(&r);
  gen_errors_end(&errors);
  CHECK_OK(ierr);
  check_path(r.op, BY_TEXT);
  if (tap_failed()) return;
  CHECK(!errors.text[0], "%s", errors.text);
  CHECK(strstr(explain(r.op),
               "unchecked: text and function could not be compared, their results are not finite"),
        "%s", explain(r.op));
  close_run(&r);
}

// ---- Delegation ----

typedef int (*Action)(const Run *r, CeedVector *values);

static int make_vector(const Run *r, CeedSize n, CeedVector *values) {
  CeedCall(CeedVectorCreate(r->ceed, n, values));
  return CeedVectorSetValue(*values, 0);
}

static int assemble_kept_point_blocks(const Run *r, CeedVector *values) {
  CeedCall(make_vector(r, r->num_nodes, values));
  CeedCall(CeedOperatorSetQFunctionAssemblyReuse(r->op, true));
  return CeedOperatorLinearAssemblePointBlockDiagonal(r->op, *values, CEED_REQUEST_IMMEDIATE);
}

static int assemble_diagonal(const Run *r, CeedVector *values) {
  CeedCall(make_vector(r, r->num_nodes, values));
  return CeedOperatorLinearAssembleDiagonal(r->op, *values, CEED_REQUEST_IMMEDIATE);
}

static int assemble_kept_diagonal(const Run *r, CeedVector *values) {
  CeedCall(CeedOperatorSetQFunctionAssemblyReuse(r->op, true));
  return assemble_diagonal(r, values);
}

static int assemble_function(const Run *r, CeedVector *values) {
  CeedElemRestriction rstr = NULL;
  const int ierr = CeedOperatorLinearAssembleQFunction(r->op, values, &rstr, CEED_REQUEST_IMMEDIATE);

  CeedElemRestrictionDestroy(&rstr);
  return ierr;
}

static int assemble_matrices(const Run *r, CeedVector *values) {
  const CeedSize n = DEGREE + 1;

  CeedCall(make_vector(r, NUM_ELEM * n * n, values));
  return CeedOperatorLinearAssemble(r->op, *values);
}

static int copy_twice(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) out[0][i] = out[1][i] = in[0][i];
  return CEED_ERROR_SUCCESS;
}

// One line from the first of two contexts, none from the second; without warnings none; strictly an error.
static void check_delegated(Action act, const char *what) {
  static const char *const warnings[] = {"once", "once", "off"};

  for (int i = 0; i < 4 && !tap_failed(); i++) {
    CeedVector values = NULL;
    GenErrors errors;

    setenv("RITZ_STRICT", i == 3 ? "1" : "0", 1);
    setenv("RITZ_WARNINGS", i < 3 ? warnings[i] : "all", 1);
    Run r = open_on("/cpu/self/gen", &mass);
    gen_errors_begin(&errors);
    const int ierr = act(&r, &values);
    gen_errors_end(&errors);
    CHECK(gen_count(errors.text, "\n") == (i == 0), "case %d: %s", i, errors.text);
    CHECK(i || strstr(errors.text, what), "'%s' is not in: %s", what, errors.text);
    if (i < 3) CHECK_OK(ierr);
    CeedVectorDestroy(&values);
    if (i == 3) CHECK_ERROR(r.ceed, act(&r, &values), CEED_ERROR_BACKEND, "RITZ_STRICT");
    CeedVectorDestroy(&values);
    close_run(&r);
  }
}

// What has no kernel runs by loops on the threads of the context, which is no step down: not a word, not even
// strictly an error, and the numbers of the reference backend.
TEST(assembly_without_a_kernel_is_no_step_down) {
  const Action actions[] = {assemble_function, assemble_kept_point_blocks, assemble_kept_diagonal};

  GEN_NEEDS_COMPILER();
  setenv("RITZ_STRICT", "1", 1);
  for (int i = 0; i < 6; i++) {
    CeedVector values = NULL, wanted = NULL;
    GenErrors errors;
    Run r = open_on(i < 3 ? "/cpu/self/gen" : "/cpu/self/gen:threads=3", &mass),
        oracle = open_on("/cpu/self/ref", &mass);
    gen_errors_begin(&errors);
    const int ierr = actions[i % 3](&r, &values);
    gen_errors_end(&errors);
    CHECK_OK(ierr);
    CHECK_OK(actions[i % 3](&oracle, &wanted));
    CHECK(!errors.text[0], "%s", errors.text);
    const CeedSize n = vector_length(wanted);
    double *a = reference_new_values(values), *b = reference_new_values(wanted);
    for (CeedSize k = 0; k < n; k++) CHECK(a[k] == b[k], "action %d, entry %td: %g, %g", i, k, a[k], b[k]);
    free(a);
    free(b);
    CeedVectorDestroy(&values);
    CeedVectorDestroy(&wanted);
    close_run(&r);
    close_run(&oracle);
  }
}

// One of several threads calls it, and a look at whether it writes leaves no trace: two unit vectors a point.
TEST(a_function_that_counts_in_its_context_counts_each_call_of_an_assembly) {
  const CeedInt zero = 0;
  const Function counting = {
      .f = GenCounting, .source = GenCounting_loc, .context = &zero, .context_size = sizeof(zero)};
  CeedVector values = NULL;
  CeedInt *found = NULL;
  Run r = open_on("/cpu/self/gen:threads=3", &counting);

  CHECK_OK(assemble_function(&r, &values));
  CHECK_OK(CeedQFunctionContextGetDataRead(r.context, CEED_MEM_HOST, &found));
  CHECK(*found == 2 * NUM_ELEM * Q_1D, "%d points", (int)*found);
  CHECK_OK(CeedQFunctionContextRestoreDataRead(r.context, &found));
  CeedVectorDestroy(&values);
  close_run(&r);
}

// Few elements are not worth a compiler, which is no fall; strictly there is a kernel.
TEST(few_element_matrices_are_assembled_without_a_word_and_strictly_by_a_kernel) {
  GEN_NEEDS_COMPILER();
  for (int is_strict = 0; is_strict < 2 && !tap_failed(); is_strict++) {
    CeedVector values = NULL;
    GenErrors errors;

    setenv("RITZ_STRICT", is_strict ? "1" : "0", 1);
    setenv("RITZ_WARNINGS", "all", 1);
    Run r = open_on("/cpu/self/gen", &mass);
    gen_errors_begin(&errors);
    const int ierr = assemble_matrices(&r, &values);
    gen_errors_end(&errors);
    CHECK(gen_count(errors.text, "\n") == 0, "strict %d: %s", is_strict, errors.text);
    CHECK_OK(ierr);
    if (is_strict) {
      CHECK_OK(CeedOperatorSetQFunctionAssemblyReuse(r.op, true));
      CHECK_OK(CeedOperatorLinearAssemble(r.op, values));
    }
    CeedVectorDestroy(&values);
    close_run(&r);
  }
}

// An operator with an active and a passive output, applied to the vector of the second.
static int apply_to_passive_output(const Run *r, CeedVector *values) {
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  int ierr = make_vector(r, r->num_nodes, values);

  if (!ierr) ierr = grid_create_restriction(r->ceed, 1, r->num_1d, DEGREE, 1, &rstr);
  if (!ierr) ierr = CeedBasisCreateTensorH1Lagrange(r->ceed, 1, 1, DEGREE + 1, Q_1D, CEED_GAUSS, &basis);
  if (!ierr) ierr = CeedQFunctionCreateInterior(r->ceed, 1, copy_twice, "", &qf);
  if (!ierr) ierr = CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionAddOutput(qf, "w", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedOperatorCreate(r->ceed, qf, NULL, NULL, &op);
  if (!ierr) ierr = CeedOperatorSetField(op, "u", rstr, basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(op, "v", rstr, basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(op, "w", rstr, basis, *values);
  if (!ierr) ierr = CeedOperatorApply(op, r->u, *values, CEED_REQUEST_IMMEDIATE);
  CeedElemRestrictionDestroy(&rstr);
  CeedBasisDestroy(&basis);
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&op);
  return ierr;
}

TEST(an_output_that_is_active_and_passive_is_delegated_with_a_word) {
  GEN_NEEDS_COMPILER();
  check_delegated(apply_to_passive_output, "its active output is one of its passive outputs, too");
}

TEST(a_diagonal_with_a_kernel_is_not_delegated) {
  CeedVector values = NULL;
  GenErrors errors;

  GEN_NEEDS_COMPILER();
  setenv("RITZ_STRICT", "1", 1);
  Run r = open_on("/cpu/self/gen", &mass);
  gen_errors_begin(&errors);
  const int ierr = assemble_diagonal(&r, &values);
  gen_errors_end(&errors);
  CHECK_OK(ierr);
  CHECK(!errors.text[0], "%s", errors.text);
  CeedVectorDestroy(&values);
  close_run(&r);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(control_characters_in_a_path_keep_the_text_out,
                        what_is_no_name_of_a_function_keeps_the_text_out,
                        a_source_that_is_no_regular_file_is_not_read,
                        the_same_warning_is_given_once_a_process_never_or_each_time,
                        strictly_a_step_down_is_an_error_without_warnings_too,
                        another_value_of_the_warnings_is_an_error_of_the_context,
                        values_that_are_not_finite_do_not_keep_the_text_out,
                        values_that_are_not_finite_do_not_hide_that_text_and_function_differ,
                        a_text_whose_results_cannot_be_compared_runs_and_is_called_unchecked,
                        assembly_without_a_kernel_is_no_step_down,
                        a_function_that_counts_in_its_context_counts_each_call_of_an_assembly,
                        few_element_matrices_are_assembled_without_a_word_and_strictly_by_a_kernel,
                        an_output_that_is_active_and_passive_is_delegated_with_a_word,
                        a_diagonal_with_a_kernel_is_not_delegated));
}
