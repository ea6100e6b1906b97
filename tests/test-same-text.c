// SPDX-License-Identifier: BSD-2-Clause
// A kernel's text is made of the identity of a plan and the print of its target: equal ones, equal bytes, in
// every context, process, environment and locale, for the CPU and for devices. Texts themselves: test-emit.c,
// test-gpu-text.c.
#include "tests/comma-locale.h"
#include "tests/golden-kit.h"
#include "tests/gpu-cases.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- Texts ----

enum { CPU = NUM_DEVICES, NUM_TARGETS };

static GpuText make_cpu_text(Kit *k) {
  const Machine host = {
      .lanes = 8, .allows_text = true, .allows_simple_inputs = true, .allows_even_odd = true};
  GpuText made = {NULL, NULL};
  char *text = NULL;
  size_t length = 0;

  make_plan(k, &host, find_rows);
  if (tap_failed()) return made;
  FILE *stream = open_memstream(&made.print, &length);
  NOTE_OK(ritz_plan_write(k->plan, stream));
  NOTE_OK(ritz_plan_cpu_print(k->plan, k->target, stream));
  fclose(stream);
  if (k->target->evaluation != RITZ_EVALUATE_NONE) NOTE_OK(ritz_emit_cpu(k->ceed, k->plan, k->target, &text));
  made.text = text ? take(&text) : strdup("none");
  return made;
}

static GpuText make_text(Kit *k, const GpuCase *c, int target) {
  return target == CPU ? make_cpu_text(k) : make_gpu_text(k, c, &devices[target].machine);
}

// All prints and texts, one after the other; owned (free()).
static char *make_all(void) {
  char *all = NULL;
  size_t length = 0;
  FILE *stream = open_memstream(&all, &length);

  for (int i = 0; i < NUM_CASES && !tap_failed(); i++)
    for (int target = 0; target < NUM_TARGETS && !tap_failed(); target++) {
      Kit k = kit_open();
      cases[i].set(&k, &cases[i].shape);
      GpuText made = make_text(&k, &cases[i], target);
      fprintf(stream, "======== %s, target %d\n%s%s", cases[i].name, target, made.print, made.text);
      free_gpu_text(&made);
      kit_close(&k);
    }
  fclose(stream);
  return all;
}

static void check_same(const char *a, const char *b) {
  size_t k = 0;

  while (a[k] && a[k] == b[k]) k++;
  if (a[k] != b[k]) tap_note("one:\n%.200s\nother:\n%.200s", a + k, b + k);
  CHECK(a[k] == b[k], "byte %zu", k);
}

// ---- Contexts ----

// Both are there at the same time.
static void check_made_twice(const GpuCase *c, int target) {
  Kit k[2] = {kit_open(), kit_open()};
  GpuText made[2];

  for (int i = 0; i < 2; i++) c->set(&k[i], &c->shape);
  for (int i = 0; i < 2; i++) made[i] = make_text(&k[i], c, target);
  const bool is_there = made[0].text && made[1].text;
  const bool is_same =
      is_there && !strcmp(made[0].text, made[1].text) && !strcmp(made[0].print, made[1].print);

  for (int i = 0; i < 2; i++) free_gpu_text(&made[i]);
  for (int i = 0; i < 2; i++) kit_close(&k[i]);
  CHECK(is_same, "%s, target %d", c->name, target);
}

TEST(equal_operators_in_two_contexts_have_equal_prints_and_equal_texts) {
  for (int i = 0; i < NUM_CASES && !tap_failed(); i++)
    for (int target = 0; target < NUM_TARGETS && !tap_failed(); target++) check_made_twice(&cases[i], target);
}

// ---- Processes, environments and locales ----

static const char *program; // argv[0]

// All that lowering and its surroundings look at, other than usual.
static void change_environment(void) {
  static const char *const variables[][2] = {
      {"RITZ_LANES", "2"},        {"RITZ_QFUNCTION", "pointer"}, {"RITZ_SIMPLE_INPUTS", "off"},
      {"RITZ_EVEN_ODD", "off"},   {"RITZ_GPU_MMA", "on"},        {"RITZ_TUNE", "off"},
      {"RITZ_CACHE", "off"},      {"RITZ_GPU_WORK", "1"},        {"RITZ_CFLAGS", "-O0"},
      {"RITZ_STRICT", "1"},       {"RITZ_DUMP", "/nowhere"},     {"OMP_NUM_THREADS", "7"},
      {"HOME", "/nowhere"},       {"PATH", "/nowhere"},          {"TMPDIR", "/nowhere"},
      {"CPATH", "/nowhere"},      {"XDG_CACHE_HOME", "/x"},      {"CUDA_HOME", "/nowhere"},
      {"RITZ_VECTOR_MATH", "off"}};

  for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
    setenv(variables[i][0], variables[i][1], 1);
}

// What this program writes in a process of its own, whose memory lies elsewhere.
static char *make_all_elsewhere(bool changes) {
  const char *path = tap_temp_file("texts", NULL, 0);
  int status = -1;
  pid_t child = fork();

  if (child == 0) {
    if (changes) change_environment();
    execl(program, program, "--texts", path, (char *)NULL);
    _exit(127);
  }
  if (child > 0) waitpid(child, &status, 0);
  tap_check(status == 0, __FILE__, __LINE__, "the other process ends well", "status %d", status);
  return golden_read(path);
}

static void compare_with_elsewhere(bool changes) {
  char *here = make_all(), *there = make_all_elsewhere(changes);

  if (!tap_failed()) check_same(here, there);
  free(here);
  free(there);
}

TEST(another_process_makes_the_same_prints_and_texts) { compare_with_elsewhere(false); }

TEST(environment_variables_change_no_print_and_no_text) { compare_with_elsewhere(true); }

TEST(a_decimal_comma_changes_no_print_and_no_text) {
  char *with_point = make_all();
  const char *found = select_comma_locale();
  char *with_comma = make_all();

  select_c_locale();
  if (found && !tap_failed()) check_same(with_point, with_comma);
  free(with_point);
  free(with_comma);
  if (!found) SKIP("no locale with a decimal comma is installed, and localedef makes none");
}

// ---- Whether the print tells what the text depends on ----

static void add_define(Kit *k) { NOTE_OK(CeedAddJitDefine(k->ceed, "SOME=1")); }
static void add_constant_context(Kit *k) { add_context(k, false); }
static void add_writable_context(Kit *k) { add_context(k, true); }

// Data at points [element][component][point], and by components side by side.
static void set_strides(Kit *k, const Shape *s, const CeedInt strides[3]) {
  const CeedInt Q = power(s->Q, s->dim);
  CeedElemRestriction rstr = box(k, s->dim, s->P - 1, s->num_comp), *rstr_q = &k->rstr[k->num_rstr++];
  CeedBasis basis = basis_of(k, s);

  NOTE_OK(CeedElemRestrictionCreateStrided(k->ceed, num_elem_of(s), Q, 6, (CeedSize)num_elem_of(s) * Q * 6,
                                           strides, rstr_q));
  const Field fields[] = {active("u", s, rstr, basis),
                          DATA("qdata", *rstr_q, vector(k, (CeedSize)num_elem_of(s) * Q * 6)),
                          active("v", s, rstr, basis)};
  set_function(k, 1, gen_source, 2, 1, fields);
}

static void set_by_element(Kit *k, const Shape *s) {
  const CeedInt Q = power(s->Q, s->dim);
  set_strides(k, s, (CeedInt[]){1, Q, 6 * Q});
}

static void set_side_by_side(Kit *k, const Shape *s) {
  const CeedInt Q = power(s->Q, s->dim);
  set_strides(k, s, (CeedInt[]){6, 1, 6 * Q});
}

// Two operators, or one with and without a change, that have two texts for CUDA; for others perhaps.
typedef struct {
  const char *what;
  GpuCase first, second;
  void (*change)(Kit *k);
  bool is_of_cpu; // the texts for the CPU differ, too
} Pair;

#define TABLES(mode) SHAPE(3, 3, 5, 1, true, mode)
#define LINES        DIFFUSION(3, 4, 1)

static const Pair pairs[] = {
    {.what = "tables of a basis",
     .first = {.set = set_stored, .shape = TABLES(CEED_GAUSS)},
     .second = {.set = set_stored, .shape = TABLES(CEED_GAUSS_LOBATTO)},
     .is_of_cpu = true},
    {.what = "defines of the context",
     .first = {.set = set_stored, .shape = LINES},
     .change = add_define,
     .is_of_cpu = true},
    {.what = "a context", .first = {.set = set_stored, .shape = LINES}, .change = add_constant_context},
    {.what = "a writable context",
     .first = {.set = set_context, .shape = LINES},
     .change = add_writable_context},
    {.what = "strides of data at points",
     .first = {.set = set_by_element, .shape = LINES},
     .second = {.set = set_side_by_side, .shape = LINES}},
    {.what = "energy",
     .first = {.set = set_stored, .shape = LINES},
     .second = {.set = set_stored, .shape = LINES, .action = ACTION_ENERGY}},
    {.what = "components",
     .first = {.set = set_stored, .shape = LINES},
     .second = {.set = set_stored, .shape = DIFFUSION(3, 4, 2)},
     .is_of_cpu = true},
    {.what = "elements of a block",
     .first = {.set = set_stored, .shape = LINES},
     .second = {.set = set_stored, .shape = LINES, .choice = {.num_elem = 1}}},
    {.what = "resident blocks",
     .first = {.set = set_stored, .shape = LINES},
     .second = {.set = set_stored, .shape = LINES, .choice = {.num_blocks = 1}}},
    {.what = "unrolling",
     .first = {.set = set_stored, .shape = LINES, .choice = {.unroll = 1}},
     .second = {.set = set_stored, .shape = LINES, .choice = {.unroll = -1}}},
    {.what = "fences",
     .first = {.set = set_stored, .shape = LINES, .choice = {.fence = 1}},
     .second = {.set = set_stored, .shape = LINES, .choice = {.fence = -1}}},
    {.what = "whole elements",
     .first = {.set = set_trilinear, .shape = DIFFUSION(3, 3, 1), .choice = {.whole = 1}},
     .second = {.set = set_trilinear, .shape = DIFFUSION(3, 3, 1), .choice = {.whole = -1}}},
    {.what = "joined neighbours",
     .first = {.set = set_trilinear, .shape = DIFFUSION(3, 2, 1), .choice = {.whole = 1, .join = 1}},
     .second = {.set = set_trilinear, .shape = DIFFUSION(3, 2, 1), .choice = {.whole = 1, .join = -1}}},
    {.what = "elements of a thread",
     .first = {.set = set_dense,
               .shape = SHAPE(3, 10, 14, 1, true, CEED_GAUSS),
               .choice = {.elem_per_thread = 1, .mma = -1}},
     .second = {.set = set_dense,
                .shape = SHAPE(3, 10, 14, 1, true, CEED_GAUSS),
                .choice = {.elem_per_thread = 4, .mma = -1}}},
    {.what = "tensor cores",
     .first = {.set = set_stored, .shape = DIFFUSION(3, 6, 1), .choice = {.mma = 1}},
     .second = {.set = set_stored, .shape = DIFFUSION(3, 6, 1), .choice = {.mma = -1}}},
    {.what = "E-vectors",
     .first = {.set = set_stored, .shape = LINES},
     .second = {.set = set_stored, .shape = LINES, .is_deterministic = true}},
};

static GpuText make_one(const GpuCase *c, void (*change)(Kit *k), int target) {
  Kit k = kit_open();

  c->set(&k, &c->shape);
  if (change) change(&k);
  const GpuText made = make_text(&k, c, target);
  kit_close(&k);
  return made;
}

static void check_pair(const Pair *p, int target) {
  GpuText a = make_one(&p->first, NULL, target);
  GpuText b = make_one(p->second.set ? &p->second : &p->first, p->change, target);
  const bool is_made = a.text && b.text, has_two_texts = is_made && strcmp(a.text, b.text);
  const bool has_two_prints = is_made && strcmp(a.print, b.print);

  free_gpu_text(&a);
  free_gpu_text(&b);
  CHECK(is_made, "%s: no text for target %d", p->what, target);
  const bool needs_doubles = p->first.choice.mma > 0;
  CHECK(target != CUDA || has_two_texts || (needs_doubles && sizeof(CeedScalar) != sizeof(double)),
        "%s: of no effect", p->what);
  CHECK(target != CPU || has_two_texts == p->is_of_cpu, "%s: effect on the CPU", p->what);
  CHECK(!has_two_texts || has_two_prints, "%s: the identity does not tell it for target %d", p->what, target);
}

TEST(prints_differ_where_texts_do) {
  for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]) && !tap_failed(); i++)
    for (int target = 0; target < NUM_TARGETS && !tap_failed(); target++) check_pair(&pairs[i], target);
}

static int write_all(const char *path) {
  char *all = make_all();
  const bool is_written = golden_write(path, all);

  free(all);
  return !tap_failed() && is_written ? 0 : 1;
}

int main(int argc, char **argv) {
  program = argv[0];
  if (argc == 3 && !strcmp(argv[1], "--texts")) return write_all(argv[2]);
  return tap_main(argc, argv,
                  TESTS(equal_operators_in_two_contexts_have_equal_prints_and_equal_texts,
                        another_process_makes_the_same_prints_and_texts,
                        environment_variables_change_no_print_and_no_text,
                        a_decimal_comma_changes_no_print_and_no_text, prints_differ_where_texts_do));
}
