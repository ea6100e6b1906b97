// SPDX-License-Identifier: BSD-2-Clause
// One operator of a QFunction that tests choose, on any resource, and looks at it: result, path,
// warnings. Included by tests/test-gen.c and test-gen-fallback.c.
#ifndef RITZ_TESTS_GEN_RUN_H
#define RITZ_TESTS_GEN_RUN_H

#include "tests/gen-kit.h"
#include "tests/gen-qfunctions.h"
#include "tests/grid.h"
#include "tests/reference.h"
#include <ceed/backend.h>
#include <ritz/operator.h>
#include <stdbool.h>
#include <sys/stat.h>

// All of the header: a program that includes this has none that is not used.
static const CeedQFunctionUser gen_functions[] = {GenMass,   GenScaled,    GenCounting, GenBlocks, GenByFlag,
                                                  GenNearly, GenCancelled, GenSlightly, GenHard,   GenTwice};

// ---- Operators ----

// Nine quadratic elements in a row, or 3 x 3: a full batch of eight and a ninth, or several of fewer lanes.
enum { NUM_ELEM = 9, DEGREE = 2, Q_1D = 6 };

typedef struct {
  CeedQFunctionUser f;
  const char *source;
  const char *name;        // of the operator; NULL: none
  CeedInt dim, vec_length; // 0: 1
  const void *context;     // NULL: none
  size_t context_size;
  bool keeps_context;        // the function promises not to write it
  bool lacks_data;           // nobody has set q
  const char *root, *define; // for the run-time compiler; NULL: none
} Function;

// All handles are owned.
typedef struct {
  Ceed ceed;
  CeedInt dim, num_1d, num_nodes, num_points; // all points
  CeedVector u, v, q;
  CeedQFunctionContext context;
  CeedOperator op;
} Run;

static inline CeedVector random_vector(Ceed ceed, CeedSize n, uint64_t seed) {
  double *values = reference_new_random(n, &seed);
  CeedVector vector = reference_vector(ceed, n, values);

  free(values);
  return vector;
}

static inline int create_function(Run *r, const Function *f, CeedQFunction *qf) {
  CeedCall(CeedQFunctionCreateInterior(r->ceed, f->vec_length ? f->vec_length : 1, f->f, f->source, qf));
  CeedCall(CeedQFunctionAddInput(*qf, "u", 1, CEED_EVAL_INTERP));
  CeedCall(CeedQFunctionAddInput(*qf, "du", r->dim, CEED_EVAL_GRAD));
  CeedCall(CeedQFunctionAddInput(*qf, "q", 1, CEED_EVAL_NONE));
  CeedCall(CeedQFunctionAddInput(*qf, "w", 1, CEED_EVAL_WEIGHT));
  CeedCall(CeedQFunctionAddOutput(*qf, "v", 1, CEED_EVAL_INTERP));
  if (!f->context) return CEED_ERROR_SUCCESS;
  CeedCall(CeedQFunctionContextCreate(r->ceed, &r->context));
  CeedCall(CeedQFunctionContextSetData(r->context, CEED_MEM_HOST, CEED_COPY_VALUES, f->context_size,
                                       (void *)f->context));
  CeedCall(CeedQFunctionSetContext(*qf, r->context));
  return CeedQFunctionSetContextWritable(*qf, !f->keeps_context);
}

static inline int create_operator(Run *r, const Function *f) {
  CeedElemRestriction rstr = NULL, rstr_q = NULL;
  CeedBasis basis = NULL;
  CeedQFunction qf = NULL;
  int ierr = create_function(r, f, &qf);

  if (!ierr) ierr = grid_create_restriction(r->ceed, r->dim, r->num_1d, DEGREE, 1, &rstr);
  if (!ierr) {
    ierr = CeedElemRestrictionCreateStrided(r->ceed, NUM_ELEM, r->num_points / NUM_ELEM, 1, r->num_points,
                                            CEED_STRIDES_BACKEND, &rstr_q);
  }
  if (!ierr) ierr = CeedBasisCreateTensorH1Lagrange(r->ceed, r->dim, 1, DEGREE + 1, Q_1D, CEED_GAUSS, &basis);
  if (!ierr) ierr = CeedOperatorCreate(r->ceed, qf, NULL, NULL, &r->op);
  if (!ierr && f->name) ierr = CeedOperatorSetName(r->op, f->name);
  if (!ierr) ierr = CeedOperatorSetField(r->op, "u", rstr, basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(r->op, "du", rstr, basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(r->op, "q", rstr_q, CEED_BASIS_NONE, r->q);
  if (!ierr) ierr = CeedOperatorSetField(r->op, "w", CEED_ELEMRESTRICTION_NONE, basis, CEED_VECTOR_NONE);
  if (!ierr) ierr = CeedOperatorSetField(r->op, "v", rstr, basis, CEED_VECTOR_ACTIVE);
  CeedElemRestrictionDestroy(&rstr);
  CeedElemRestrictionDestroy(&rstr_q);
  CeedBasisDestroy(&basis);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

// Another operator in the context of `r`, which lives longer.
static inline Run open_beside(Ceed ceed, const Function *f) {
  const CeedInt dim = f->dim ? f->dim : 1;
  Run r = {.ceed = ceed, .dim = dim, .num_1d = dim == 1 ? 9 : 3};

  r.num_nodes = grid_num_nodes(dim, r.num_1d, DEGREE);
  r.num_points = NUM_ELEM * CeedIntPow(Q_1D, dim);
  r.u = random_vector(ceed, r.num_nodes, 1);
  if (f->lacks_data)
    CeedVectorCreate(ceed, r.num_points, &r.q);
  else
    r.q = random_vector(ceed, r.num_points, 2);
  tap_check_ok(CeedVectorCreate(ceed, r.num_nodes, &r.v), __FILE__, __LINE__, "CeedVectorCreate");
  if (f->root) CeedAddJitSourceRoot(ceed, f->root);
  if (f->define) CeedAddJitDefine(ceed, f->define);
  tap_check_ok(create_operator(&r, f), __FILE__, __LINE__, "create_operator");
  return r;
}

static inline Run open_on(const char *resource, const Function *f) {
  return open_beside(tap_ceed(resource), f);
}

static inline void close_beside(Run *r) {
  CeedOperatorDestroy(&r->op);
  CeedQFunctionContextDestroy(&r->context);
  CeedVectorDestroy(&r->u);
  CeedVectorDestroy(&r->v);
  CeedVectorDestroy(&r->q);
}

static inline void close_run(Run *r) {
  close_beside(r);
  CeedDestroy(&r->ceed);
}

// ---- What an operator does ----

// Sums of a few dozen products in another order; QFunctions of tests do not magnify them much.
static const double tolerance = 1000;

static inline int apply(const Run *r) { return CeedOperatorApply(r->op, r->u, r->v, CEED_REQUEST_IMMEDIATE); }

// r->v is what the reference backend makes of the same function, with the context that r has now.
static inline bool is_right(const Run *r, const Function *f) {
  Function now = *f;
  const void *bytes = NULL;

  if (r->context) CeedQFunctionContextGetDataRead(r->context, CEED_MEM_HOST, &bytes);
  now.context = bytes;
  Run ref = open_on("/cpu/self/ref", &now);
  if (r->context) CeedQFunctionContextRestoreDataRead(r->context, &bytes);
  const int ierr = apply(&ref);
  const CeedInt n = r->num_nodes;
  double *wanted = reference_new_values(ref.v), *found = reference_new_values(r->v);
  const double error = reference_distance(n, wanted, found), size = reference_largest(n, wanted);

  free(wanted);
  free(found);
  close_run(&ref);
  if (!(error <= tolerance * eps * size)) tap_note("off by %g of %g", error, size);
  return !ierr && size > 0 && error <= tolerance * eps * size;
}

// What RitzOperatorExplain says; lives until the next call.
static inline const char *explain(CeedOperator op) {
  static char kept[16384];
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  const int ierr = RitzOperatorExplain(op, stream);

  fclose(stream);
  snprintf(kept, sizeof(kept), "%s", ierr ? "" : text);
  free(text);
  return kept;
}

static inline const char *source_of(CeedOperator op) {
  const char *source = NULL;

  return RitzOperatorGetSource(op, &source) ? NULL : source;
}

// How RitzOperatorExplain begins to say what runs.
#define BY_TEXT    "one generated kernel, the text"
#define BY_POINTER "one generated kernel that calls the application's function"
#define UNFUSED    "the ahead-of-time kernel"
#define BY_REF     "the reference backend, element by element"

static inline void check_path(CeedOperator op, const char *path) {
  const char *text = explain(op), *source = source_of(op);
  const bool is_generated = !strcmp(path, BY_TEXT) || !strcmp(path, BY_POINTER);

  CHECK(strstr(text, "runs as: ") && !strncmp(strstr(text, "runs as: ") + 9, path, strlen(path)),
        "wanted: %s\n%s", path, text);
  CHECK((source != NULL) == is_generated, "source of a kernel that %s",
        is_generated ? "is generated" : "is not");
  if (!is_generated) return;
  CHECK(strstr(source, "#include \"kernels/cpu/kernel.h\""), "%s", source);
  CHECK((strstr(source, "args->function(") == NULL) == !strcmp(path, BY_TEXT), "%s", source);
}

// Applies twice (the second time nothing new is printed) and checks everything: result, path, number of
// warnings and, unless NULL, a part of them.
static inline void check_applies(const Run *r, const Function *f, const char *path, int num_warnings,
                                 const char *part) {
  GenErrors errors;

  gen_errors_begin(&errors);
  int ierr = apply(r);
  if (!ierr) ierr = apply(r);
  gen_errors_end(&errors);
  CHECK_OK(ierr);
  CHECK(gen_count(errors.text, "\n") == num_warnings && gen_count(errors.text, "Ritz: ") == num_warnings,
        "wanted %d warnings:\n%s", num_warnings, errors.text);
  CHECK(!part || strstr(errors.text, part), "wanted '%s' in:\n%s", part ? part : "", errors.text);
  CHECK(is_right(r, f), "another result than that of the reference backend");
  check_path(r->op, path);
}

static inline void check_function(const Function *f, const char *path, int num_warnings, const char *part) {
  Run r = open_on("/cpu/self/gen", f);

  if (!tap_failed()) check_applies(&r, f, path, num_warnings, part);
  if (!tap_failed()) close_run(&r);
}

static const Function mass = {.f = GenMass, .source = GenMass_loc};

// ---- Sources ----

// "FILE:FUNCTION" of a file that holds the text in a folder with this name; lives until the next call.
static inline const char *write_source(const char *folder, const char *text, const char *function) {
  static char source[8192];
  const char *path = tap_temp_file(folder, NULL, 0);

  setenv("RITZ_CACHE_DIR", tap_temp_file("cache", NULL, 0), 1); // nobody will ask for it again
  mkdir(path, 0700);
  snprintf(source, sizeof(source), "%s/function.h", path);
  FILE *file = fopen(source, "w");
  if (!file || fputs(text, file) < 0 || fclose(file)) abort();
  strcat(strcat(source, ":"), function);
  return source;
}

static const char mass_text[] =
    "#include <ceed/types.h>\n"
    "CEED_QFUNCTION(GenMass)\n"
    "(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {\n"
    "  for (CeedInt i = 0; i < Q; i++) out[0][i] = in[3][i] * in[2][i] * in[0][i];\n"
    "  return 0;\n"
    "}\n";

static inline void check_folder(const char *folder, const char *path, int num_warnings) {
  Function f = {.f = GenMass};

  f.source = write_source(folder, mass_text, "GenMass");
  check_function(&f, path, num_warnings, NULL);
  if (tap_failed()) tap_note("folder '%s'", folder);
}

// ---- RITZ_STRICT ----

static inline void check_refused(const Function *f, const char *part) {
  Run r = open_on("/cpu/self/gen", f);
  GenErrors errors;

  gen_errors_begin(&errors);
  const int code = apply(&r), again = apply(&r);
  gen_errors_end(&errors);
  CHECK(code == CEED_ERROR_BACKEND && again == code, "codes %d, %d", code, again);
  CHECK(!errors.text[0], "an error is no warning: %s", errors.text);
  CHECK_ERROR(r.ceed, apply(&r), CEED_ERROR_BACKEND, part);
  CHECK_ERROR(r.ceed, apply(&r), CEED_ERROR_BACKEND, "RITZ_STRICT");
  CHECK(!explain(r.op)[0] && !source_of(r.op), "explained");
  close_run(&r);
}

#endif
