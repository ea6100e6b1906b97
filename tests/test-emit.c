// SPDX-License-Identifier: BSD-2-Clause
// Texts of kernels: pure functions of the plan, compilable by every compiler that is there, and for typical
// operators those of tests/golden-kernels, but for rounding errors of their numbers. `test-emit
// --write-golden` writes these files anew. What the kernels compute: test-gen-random.c.
#include "tests/gen-kit.h"
#include "tests/golden-kit.h"
#include "tests/plan-kit.h"

#include "emit/emit.h"
#include "tests/random-operator.h"
#include <ctype.h>
#include <ritz/basis.h>
#include <ritz/precision.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Relative to the top folder of the sources, where tests run.
static const char source[] = "tests/gen-qfunctions.h:GenMass";

// ---- Operators ----

// Paths in a text begin in the top folder, wherever that is.
static void forget_folder(char *text) {
  char folder[1200];

  if (!getcwd(folder, sizeof(folder) - 1)) return;
  strcat(folder, "/");
  for (char *at = strstr(text, folder); at; at = strstr(at, folder))
    memmove(at, at + strlen(folder), strlen(at + strlen(folder)) + 1);
}

// The text of the kernel of k->op, owned by the caller (RITZ_FREE); NULL on failure.
static char *emit(Kit *k, const Machine *machine) {
  char *text = NULL;

  make_plan(k, machine, find_rows);
  if (k->plan && !tap_failed()) NOTE_OK(ritz_emit_cpu(k->ceed, k->plan, k->target, &text));
  if (text) forget_folder(text);
  return text;
}

// A box of n elements a direction.
static CeedElemRestriction box_of(Kit *k, CeedInt dim, CeedInt n, CeedInt degree, CeedInt num_comp) {
  CeedElemRestriction *rstr = &k->rstr[k->num_rstr++];

  NOTE_OK(grid_create_restriction(k->ceed, dim, n, degree, num_comp, rstr));
  return *rstr;
}

static void set_mass(Kit *k, CeedInt n, CeedInt degree) {
  const CeedInt P = degree + 1, Q = degree + 2, num_elem = n * n * n;
  CeedElemRestriction rstr = box_of(k, 3, n, degree, 1), rstr_q = strided(k, num_elem, Q * Q * Q, 1);
  CeedBasis basis = lagrange(k, 3, 1, P, Q, CEED_GAUSS);
  const Field fields[] = {ACTIVE("u", INTERP, rstr, basis),
                          DATA("qdata", rstr_q, vector(k, (CeedSize)num_elem * Q * Q * Q)),
                          ACTIVE("v", INTERP, rstr, basis)};

  set_function(k, 1, source, 2, 1, fields);
}

static void set_diffusion(Kit *k, CeedInt degree, CeedInt num_comp, CeedQuadMode mode) {
  const CeedInt P = degree + 1, Q = mode == CEED_GAUSS ? P + 1 : P;
  CeedElemRestriction rstr = box_of(k, 3, 2, degree, num_comp), rstr_q = strided(k, 8, Q * Q * Q, 6);
  CeedBasis basis = lagrange(k, 3, num_comp, P, Q, mode);
  const Field fields[] = {ACTIVE("du", GRAD, rstr, basis), DATA("qdata", rstr_q, vector(k, 48 * Q * Q * Q)),
                          ACTIVE("dv", GRAD, rstr, basis)};

  set_function(k, 1, source, 2, 1, fields);
}

static void set_mass_p2(Kit *k) { set_mass(k, 2, 2); }
static void set_diffusion_p4(Kit *k) { set_diffusion(k, 4, 1, CEED_GAUSS); }
static void set_collocated_p3(Kit *k) { set_diffusion(k, 3, 3, CEED_GAUSS_LOBATTO); }

// Velocity and pressure, geometry on the fly, values and gradients of one space.
static void set_mixed(Kit *k) {
  CeedElemRestriction rstr_u = box(k, 2, 2, 2), rstr_p = box(k, 2, 1, 1), rstr_x = box(k, 2, 1, 2);
  CeedBasis basis_u = lagrange(k, 2, 2, 3, 4, CEED_GAUSS), basis_p = lagrange(k, 2, 1, 2, 4, CEED_GAUSS);
  CeedBasis basis_x = lagrange(k, 2, 2, 2, 4, CEED_GAUSS);
  const Field fields[] = {ACTIVE("u", INTERP, rstr_u, basis_u),
                          ACTIVE("du", GRAD, rstr_u, basis_u),
                          PASSIVE("p", INTERP, rstr_p, basis_p, vector(k, 9)),
                          PASSIVE("dx", GRAD, rstr_x, basis_x, vector(k, 18)),
                          WEIGHTS(basis_x),
                          ACTIVE("v", INTERP, rstr_u, basis_u),
                          ACTIVE("dv", GRAD, rstr_u, basis_u),
                          PASSIVE("q", INTERP, rstr_p, basis_p, vector(k, 9))};

  set_function(k, 1, source, 5, 3, fields);
}

// Coordinates of degree one, a factor for each element, weights.
static void set_trilinear(Kit *k) {
  static const CeedScalar ones[4] = {1, 1, 1, 1}, zeros[4];
  CeedElemRestriction rstr = box(k, 3, 2, 1), rstr_x = box(k, 3, 1, 3), rstr_f = strided(k, 8, 1, 2);
  CeedBasis basis = lagrange(k, 3, 1, 3, 4, CEED_GAUSS), basis_x = lagrange(k, 3, 3, 2, 4, CEED_GAUSS);
  CeedBasis *basis_f = &k->basis[k->num_basis++];

  NOTE_OK(CeedBasisCreateTensorH1(k->ceed, 3, 2, 1, 4, ones, zeros, zeros, ones, basis_f));
  const Field fields[] = {ACTIVE("du", GRAD, rstr, basis),
                          PASSIVE("x", INTERP, rstr_x, basis_x, vector(k, 81)),
                          PASSIVE("dx", GRAD, rstr_x, basis_x, k->vec[k->num_vec - 1]),
                          PASSIVE("f", INTERP, rstr_f, *basis_f, vector(k, 16)),
                          WEIGHTS(basis_x),
                          ACTIVE("dv", GRAD, rstr, basis)};

  set_function(k, 1, source, 5, 1, fields);
}

static void set_dense(Kit *k) {
  CeedElemRestriction rstr = strided(k, 4, DENSE_P, 2), rstr_q = strided(k, 4, DENSE_Q, 1);
  CeedBasis basis = dense(k, CeedBasisCreateH1, CEED_TOPOLOGY_TRIANGLE, 2);
  const Field fields[] = {ACTIVE("u", INTERP, rstr, basis), ACTIVE("du", GRAD, rstr, basis), WEIGHTS(basis),
                          DATA("q", rstr_q, vector(k, 16)), ACTIVE("dv", GRAD, rstr, basis)};

  set_function(k, 1, source, 4, 1, fields);
}

// Ten nodes and six points; the exchange of the first two directions swaps neighbours, but for the last two
// of each.
static CeedInt image_of(CeedInt i, CeedInt n) { return i < n - 2 ? i ^ 1 : i; }

static CeedBasis symmetric(Kit *k) {
  enum { P = 10, Q = 6 };
  CeedBasis *basis = &k->basis[k->num_basis++];
  CeedScalar interp[Q * P], grad[2 * Q * P];

  for (CeedInt q = 0; q < Q; q++) {
    for (CeedInt p = 0; p < P; p++) {
      const CeedInt s = image_of(q, Q), r = image_of(p, P);
      interp[q * P + p] = 1 / (CeedScalar)(1 + q * P + p) + 1 / (CeedScalar)(1 + s * P + r);
      grad[q * P + p] = grad[(Q + s) * P + r] = 1 / (CeedScalar)(2 + q * P + p);
    }
  }
  NOTE_OK(CeedBasisCreateH1(k->ceed, CEED_TOPOLOGY_TRIANGLE, 1, P, Q, interp, grad, NULL, NULL, basis));
  return *basis;
}

static void set_even_odd(Kit *k) {
  CeedElemRestriction rstr = strided(k, 4, 10, 1), rstr_q = strided(k, 4, 6, 1);
  CeedBasis basis = symmetric(k);
  const Field fields[] = {ACTIVE("u", INTERP, rstr, basis), ACTIVE("du", GRAD, rstr, basis),
                          DATA("q", rstr_q, vector(k, 24)), ACTIVE("dv", GRAD, rstr, basis)};

  set_function(k, 1, source, 3, 1, fields);
}

// Orientations, and a derivative with fewer points than nodes.
static void set_oriented(Kit *k) {
  static const CeedInt offsets[] = {0, 1, 2, 2, 3, 4};
  static const bool orients[] = {false, false, false, true, false, false};
  CeedElemRestriction *rstr = &k->rstr[k->num_rstr++];
  CeedBasis basis = dense(k, CeedBasisCreateHdiv, CEED_TOPOLOGY_TRIANGLE, 1);

  NOTE_OK(CeedElemRestrictionCreateOriented(k->ceed, 2, DENSE_P, 1, 1, 5, CEED_MEM_HOST, CEED_COPY_VALUES,
                                            offsets, orients, rstr));
  const Field fields[] = {ACTIVE("u", INTERP, *rstr, basis), ACTIVE("div u", DIV, *rstr, basis),
                          ACTIVE("v", INTERP, *rstr, basis), ACTIVE("div v", DIV, *rstr, basis)};
  set_function(k, 1, source, 2, 2, fields);
}

// Hexahedra of order 2: 54 nodes, three blocks of 2 x 3 x 3, 3 x 2 x 3 and 3 x 3 x 2.
static void set_nedelec(Kit *k) {
  CeedElemRestriction rstr = strided(k, 4, 54, 1), rstr_q = strided(k, 4, 27, 1);
  CeedBasis *basis = &k->basis[k->num_basis++];

  NOTE_OK(RitzBasisCreateTensorHcurl(k->ceed, 3, 1, 2, 3, CEED_GAUSS, basis));
  const Field fields[] = {ACTIVE("u", INTERP, rstr, *basis), ACTIVE("curl u", CURL, rstr, *basis),
                          DATA("q", rstr_q, vector(k, 108)), WEIGHTS(*basis),
                          ACTIVE("v", INTERP, rstr, *basis), ACTIVE("curl v", CURL, rstr, *basis)};
  set_function(k, 1, source, 4, 2, fields);
}

// Fewer points than nodes, and a passive output.
static void set_reduced(Kit *k) {
  CeedElemRestriction rstr = box(k, 2, 3, 1), rstr_q = strided(k, 4, 9, 2);
  CeedBasis basis = lagrange(k, 2, 1, 4, 3, CEED_GAUSS);
  const Field fields[] = {ACTIVE("du", GRAD, rstr, basis), ACTIVE("dv", GRAD, rstr, basis),
                          DATA("flux", rstr_q, vector(k, 100))};

  set_function(k, 1, source, 1, 2, fields);
}

// Coordinates of degree one at fewer points than nodes: a form, whatever the route of their basis.
static void set_one_point(Kit *k) {
  CeedElemRestriction rstr = box(k, 2, 1, 1), rstr_x = box(k, 2, 1, 2);
  CeedBasis basis = lagrange(k, 2, 1, 2, 1, CEED_GAUSS), basis_x = lagrange(k, 2, 2, 2, 1, CEED_GAUSS);
  CeedVector x = vector(k, 18);
  const Field fields[] = {ACTIVE("du", GRAD, rstr, basis), PASSIVE("x", INTERP, rstr_x, basis_x, x),
                          PASSIVE("dx", GRAD, rstr_x, basis_x, x), ACTIVE("dv", GRAD, rstr, basis)};

  set_function(k, 1, source, 3, 1, fields);
}

// Arithmetic and active vectors of float, stored data of double.
static void set_single(Kit *k) {
  set_mass_p2(k);
  if (k->op) NOTE_OK(RitzOperatorSetPrecision(k->op, CEED_SCALAR_FP32));
}

typedef struct {
  const char *name;
  void (*set)(Kit *k);
  bool allows_text;
} Golden;

static const Golden goldens[] = {
    {"mass-degree2", set_mass_p2, true},
    {"diffusion-degree4", set_diffusion_p4, true},
    {"collocated-degree3", set_collocated_p3, true},
    {"mixed", set_mixed, true},
    {"dense", set_dense, true},
    {"even-odd", set_even_odd, true},
    {"oriented", set_oriented, true},
    {"nedelec", set_nedelec, true},
    {"reduced", set_reduced, true},
    {"pointer", set_diffusion_p4, false},
    {"trilinear", set_trilinear, true},
    {"one-point", set_one_point, true},
    {"single", set_single, true},
};
// The last one takes a library of two precisions.
enum { NUM_GOLDENS = sizeof(goldens) / sizeof(goldens[0]) - (sizeof(CeedScalar) == sizeof(float)) };

static Machine golden_machine(const Golden *g) {
  return (Machine){
      .lanes = 8, .allows_text = g->allows_text, .allows_simple_inputs = true, .allows_even_odd = true};
}

static char *emit_golden(const Golden *g) {
  const Machine machine = golden_machine(g);
  Kit k = kit_open();

  g->set(&k);
  char *text = tap_failed() ? NULL : emit(&k, &machine);
  kit_close(&k);
  return text;
}

// ---- The same plan, the same text ----

TEST(equal_plans_have_equal_texts) {
  for (int i = 0; i < NUM_GOLDENS && !tap_failed(); i++) {
    char *a = emit_golden(&goldens[i]), *b = emit_golden(&goldens[i]);

    CHECK(a && b && !strcmp(a, b), "%s", goldens[i].name);
    RITZ_FREE(&a);
    RITZ_FREE(&b);
  }
}

// So one compilation serves all meshes.
TEST(equal_operators_on_different_meshes_have_equal_texts) {
  char *text[2] = {NULL};

  for (int i = 0; i < 2; i++) {
    Kit k = kit_open();
    set_mass(&k, 2 + i, 2);
    text[i] = emit(&k, &eight_lanes);
    kit_close(&k);
  }
  CHECK(text[0] && text[1] && !strcmp(text[0], text[1]), "%s\n%s", text[0], text[1]);
  RITZ_FREE(&text[0]);
  RITZ_FREE(&text[1]);
}

// ---- Plans stand alone ----

// Owned by the caller (free): the identity of a plan.
static char *write_plan(const RitzPlan *plan) {
  Capture capture;

  ritz_plan_write(plan, capture_begin(&capture));
  fclose(capture.stream);
  return capture.text;
}

// Everything that the operator was made of is gone when its kernel is written again.
TEST(texts_are_made_from_plans_whose_operators_are_gone) {
  for (int i = 0; i < NUM_GOLDENS && !tap_failed(); i++) {
    const Machine machine = golden_machine(&goldens[i]);
    char *text[2] = {NULL};
    Kit k = kit_open();

    goldens[i].set(&k);
    make_plan(&k, &machine, find_rows);
    if (tap_failed()) return;
    CHECK_OK(ritz_emit_cpu(k.ceed, k.plan, k.target, &text[0]));
    Kit left = {.ceed = tap_ceed("/cpu/self/ref"), .plan = k.plan, .target = k.target};
    k.plan = NULL;
    k.target = NULL;
    kit_close(&k);
    CHECK_OK(ritz_emit_cpu(left.ceed, left.plan, left.target, &text[1]));
    kit_close(&left);
    CHECK(!strcmp(text[0], text[1]), "%s", goldens[i].name);
    RITZ_FREE(&text[0]);
    RITZ_FREE(&text[1]);
  }
}

TEST(equal_writings_mean_equal_texts_and_other_tables_or_defines_other_writings) {
  char *writing[4] = {NULL}, *text[4] = {NULL};

  for (int i = 0; i < 4;
       i++) { // the same, on another mesh, with a define, with a table changed by round-offs
    Kit k = kit_open();
    if (i == 2) CHECK_OK(CeedAddJitDefine(k.ceed, "SOME=1"));
    set_mass(&k, i == 1 ? 3 : 2, 2);
    make_plan(&k, &eight_lanes, find_rows);
    if (tap_failed()) return;
    if (i == 3) k.plan->bases[0].interp.values[0] *= 1 + 4 * CEED_EPSILON;
    writing[i] = write_plan(k.plan);
    CHECK_OK(ritz_emit_cpu(k.ceed, k.plan, k.target, &text[i]));
    kit_close(&k);
  }
  CHECK(!strcmp(writing[0], writing[1]) && !strcmp(text[0], text[1]), "another mesh:\n%s\n%s", writing[0],
        writing[1]);
  for (int i = 2; i < 4; i++)
    CHECK(strcmp(writing[0], writing[i]) && strcmp(text[0], text[i]), "case %d:\n%s", i, writing[i]);
  for (int i = 0; i < 4; i++) {
    free(writing[i]);
    RITZ_FREE(&text[i]);
  }
}

TEST(defines_of_the_context_stand_before_the_users_text_and_nowhere_else) {
  static const char wanted[] = "#define SOME 1\n#define OTHER 2 + 2\n#define F(x) x=y\n#include \"tests/";
  Kit k = kit_open();
  const char *const defines[] = {"SOME", "OTHER=2 + 2", "F(x)=x=y"};

  for (int i = 0; i < 3; i++) CHECK_OK(CeedAddJitDefine(k.ceed, defines[i]));
  set_mass(&k, 2, 2);
  char *text = emit(&k, &eight_lanes);
  CHECK(text && strstr(text, wanted) && strstr(text, "kernels/cpu/loop.h") < strstr(text, wanted), "%s",
        text);
  RITZ_FREE(&text);
  const Machine by_pointer = {.lanes = 8, .allows_text = false};
  text = emit(&k, &by_pointer);
  CHECK(text && !strstr(text, "SOME"), "%s", text);
  RITZ_FREE(&text);
  kit_close(&k);
}

// ---- Golden kernels ----

static const char *path_of(const Golden *g) {
  static char path[200];

  snprintf(path, sizeof(path), "tests/golden-kernels/%s.txt", g->name);
  return path;
}

static void check_golden(const Golden *g) {
  char *text = emit_golden(g);

  golden_check(path_of(g), text, "test-emit");
  RITZ_FREE(&text);
}

TEST(typical_operators_have_the_texts_that_are_kept) {
  for (int i = 0; i < NUM_GOLDENS && !tap_failed(); i++) check_golden(&goldens[i]);
}

static int write_goldens(void) {
  for (int i = 0; i < NUM_GOLDENS; i++) {
    char *text = emit_golden(&goldens[i]);
    const bool is_written = golden_write(path_of(&goldens[i]), text);

    RITZ_FREE(&text);
    if (!is_written) return 1;
  }
  return 0;
}

// ---- Compilers ----

static bool runs(const char *compiler) {
  char command[200];

  snprintf(command, sizeof(command), "%s --version >/dev/null 2>&1", compiler);
  return !system(command);
}

// A new folder with the texts of all goldens.
static const char *write_texts(void) {
  const char *folder = tap_temp_file("kernels", NULL, 0);
  char path[8192];

  mkdir(folder, 0700);
  for (int i = 0; i < NUM_GOLDENS && !tap_failed(); i++) {
    char *text = emit_golden(&goldens[i]);
    snprintf(path, sizeof(path), "%s/%s.c", folder, goldens[i].name);
    FILE *file = fopen(path, "w");
    tap_check(text && file && fputs(text, file) >= 0 && !fclose(file), __FILE__, __LINE__,
              "the text is written", "%s", path);
    RITZ_FREE(&text);
  }
  return folder;
}

// Lines that warn; gcc does so of every loop that is to stay one, when it does not optimise.
static int count_warnings(const char *path) {
  FILE *file = fopen(path, "r");
  char line[4096];
  int num = 0;

  while (file && fgets(line, sizeof(line), file)) {
    if (!strstr(line, "warning:") || strstr(line, "ignoring loop annotation")) continue;
    tap_note("%s", line);
    num++;
  }
  if (file) fclose(file);
  return num;
}

// Texts made for all cases have parts that a case does not use, and vectors longer than registers.
static void check_compiles(const char *compiler, const char *folder) {
  const char *scalar = sizeof(CeedScalar) == sizeof(float) ? "-DRITZ_SCALAR_F32" : "";
  char command[16384], log[8192];

  snprintf(log, sizeof(log), "%s/%s.log", folder, compiler);
  snprintf(command, sizeof(command),
           "top=$PWD; cd '%s' && %s %s -std=gnu11 -O0 -Wall -Wextra -Wno-unused -Wno-unused-parameter "
           "-Wno-psabi -DCEED_RUNNING_JIT_PASS=1 %s -I\"$top\" -I\"$top\"/include *.c >'%s' 2>&1",
           folder, compiler, tap_level() > TAP_QUICK ? "-c" : "-fsyntax-only", scalar, log);
  CHECK(!system(command), "%s", command);
  CHECK(count_warnings(log) == 0, "%s", command);
}

TEST(kernels_compile_without_warnings) {
  static const char *const compilers[] = {"gcc", "clang"};
  const char *folder = write_texts();
  int num = 0;

  for (int i = 0; i < 2 && !tap_failed(); i++) {
    if (!runs(compilers[i])) continue;
    num++;
    check_compiles(compilers[i], folder);
  }
  if (!num) SKIP("neither gcc nor clang is there");
}

// ---- Random operators ----

// Whether one of the words stands in the text as a whole word.
static bool has_word(const char *text, const char *word) {
  const size_t n = strlen(word);

  for (const char *at = text; (at = strstr(at, word)); at += n) {
    const bool begins = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_' || at[-1] == '"');
    if (begins && !isalnum((unsigned char)at[n]) && at[n] != '_') return true;
  }
  return false;
}

static void check_random(uint64_t seed) {
  static const RandomOptions options;
  RandomOperator r;
  Kit k = kit_open();
  uint64_t state = seed;
  int ierr = random_operator_create(k.ceed, &options, &state, &r);

  k.op = r.op;
  if (!ierr) make_plan(&k, &eight_lanes, find_rows);
  if (!ierr && !tap_failed() && k.target->evaluation != RITZ_EVALUATE_NONE) {
    char *text = NULL;
    CHECK_OK(ritz_emit_cpu(k.ceed, k.plan, k.target, &text));
    CHECK(!has_word(text, "nan") && !has_word(text, "inf"), "%s", text);
    RITZ_FREE(&text);
  }
  if (tap_failed()) tap_note("seed %llu: %s", (unsigned long long)seed, random_operator_describe(&r));
  k.op = NULL;
  kit_free_plan(&k);
  random_operator_destroy(&r);
  kit_close(&k);
  CHECK_OK(ierr);
}

TEST(texts_hold_finite_numbers_alone) {
  static const int num[] = {200, 2000, 20000};

  for (int i = 0; i < num[tap_level()] && !tap_failed(); i++) check_random(8000000 + (uint64_t)i);
}

// ---- Failures ----

// The n-th allocation fails. Whether the text could be made.
static bool emit_failing(const Kit *k, int64_t n) {
  char *text = NULL;
  const int64_t live = ritz_memory_live();

  ritz_memory_fail_at(n);
  const int ierr = ritz_emit_cpu(k->ceed, k->plan, k->target, &text);
  ritz_memory_fail_at(0);
  const bool is_made = ierr == CEED_ERROR_SUCCESS, is_honest = is_made == (text != NULL);
  RITZ_FREE(&text);
  tap_check(is_honest && ritz_memory_live() == live, __FILE__, __LINE__, "no memory is left",
            "allocation %lld: code %d", (long long)n, ierr);
  return is_made;
}

TEST(failed_allocations_are_reported_and_leave_nothing) {
  for (int i = 0; i < NUM_GOLDENS && !tap_failed(); i++) {
    Kit k = kit_open();
    int64_t n = 1;

    goldens[i].set(&k);
    PLAN(&k, &eight_lanes, find_rows);
    while (!emit_failing(&k, n) && !tap_failed()) n++;
    CHECK(n > 1, "%s: %lld allocations", goldens[i].name, (long long)n);
    kit_close(&k);
  }
}

int main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "--write-golden")) return write_goldens();
  return tap_main(argc, argv,
                  TESTS(equal_plans_have_equal_texts, equal_operators_on_different_meshes_have_equal_texts,
                        texts_are_made_from_plans_whose_operators_are_gone,
                        equal_writings_mean_equal_texts_and_other_tables_or_defines_other_writings,
                        defines_of_the_context_stand_before_the_users_text_and_nowhere_else,
                        typical_operators_have_the_texts_that_are_kept, kernels_compile_without_warnings,
                        texts_hold_finite_numbers_alone, failed_allocations_are_reported_and_leave_nothing));
}
