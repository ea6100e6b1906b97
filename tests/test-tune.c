// SPDX-License-Identifier: BSD-2-Clause
// Kernels chosen by measurement: what RitzOperatorTune does to results and vectors, who finds what was
// measured, and what becomes of files that are not as they should be.
#include <ritz/operator.h>

#include "backends/gpu/gemm.h"
#include "base/memory.h"
#include "jit/tune-record.h"
#include "plan/choice.h"
#include "tests/gpu-kit.h"
#include "tests/jit-damage.h"

static const ChainShape shape = {
    .dim = 2, .num_elem = 13, .P_1d = 3, .Q_1d = 4, .is_diffusion = true, .seed = 7};

// ---- Surroundings ----

// Few kernels to try and a cache that is new; kernels that this process has loaded stay loaded. The folder
// that was in use before, NULL: none was named.
static char *begin_tuning(void) {
  const char *cache = getenv("RITZ_CACHE_DIR");
  char *kept = cache ? strdup(cache) : NULL;

  setenv("RITZ_CACHE_DIR", tap_temp_file("cache", NULL, 0), 1);
  setenv("RITZ_TUNE", "3", 1);
  return kept;
}

static void end_tuning(char *kept) {
  if (kept) setenv("RITZ_CACHE_DIR", kept, 1);
  if (!kept) unsetenv("RITZ_CACHE_DIR");
  unsetenv("RITZ_CACHE");
  unsetenv("RITZ_TUNE");
  free(kept);
}

#define TEST_TUNING(name)                                                                                    \
  static void name##_inside(Ceed ceed);                                                                      \
  TEST_EACH_GEN(name) {                                                                                      \
    char *kept = begin_tuning();                                                                             \
    name##_inside(ceed);                                                                                     \
    end_tuning(kept);                                                                                        \
  }                                                                                                          \
  static void name##_inside(Ceed ceed)

// Whether a line of what is told of an operator contains the words.
static bool explains(CeedOperator op, const char *words) {
  char line[1000];
  bool found = false;
  FILE *file = tmpfile();

  if (!file) return false;
  int ierr = RitzOperatorExplain(op, file);
  rewind(file);
  while (!ierr && fgets(line, sizeof(line), file)) found = found || strstr(line, words);
  fclose(file);
  return found;
}

static bool is_measured(CeedOperator op) { return explains(op, "choices: measured (ritz tune)"); }
static bool is_by_model(CeedOperator op) { return explains(op, "choices: by the model"); }

// A new operator of this shape; is_measured or is_by_model of it.
static bool says(Ceed ceed, const ChainShape *s, bool (*what)(CeedOperator op)) {
  Chain c;
  const bool answer = !chain_create(ceed, s, &c) && what(c.op);

  chain_destroy(&c);
  return answer;
}

static int tune(CeedOperator op, CeedSize size, RitzTuning *tuning) {
  Ceed ceed = CeedOperatorReturnCeed(op);
  CeedVector in = NULL, out = NULL;
  int ierr = CeedVectorCreate(ceed, size, &in);

  if (!ierr) ierr = CeedVectorCreate(ceed, size, &out);
  if (!ierr) ierr = CeedVectorSetValue(in, 1);
  if (!ierr) ierr = RitzOperatorTune(op, in, out, tuning);
  CeedVectorDestroy(&in);
  CeedVectorDestroy(&out);
  return ierr;
}

// Tunes an operator of the shape; the path of the file that keeps the outcome, NULL: there is none.
static const char *tune_and_find_file(Ceed ceed) {
  RitzTuning tuning;
  RitzJitEntry *entries = NULL;
  size_t num = 0;
  Chain c;
  const char *path = NULL;
  int ierr = chain_create(ceed, &shape, &c);

  if (!ierr) ierr = tune(c.op, c.size, &tuning);
  if (!ierr) ierr = RitzJitList(ceed, &num, &entries);
  for (size_t i = 0; i < num; i++) {
    char name[64];
    snprintf(name, sizeof(name), "%s" RITZ_TUNE_SUFFIX, entries[i].key);
    if (entries[i].is_tuning) path = jit_path(getenv("RITZ_CACHE_DIR"), name);
  }
  free(entries);
  chain_destroy(&c);
  return path;
}

// ---- What tuning does ----

TEST_TUNING(results_are_the_same_before_and_after) {
  Chain c;
  uint64_t seed = 1;
  RitzTuning tuning;
  const CeedSize size = chain_size(&shape);
  double *x = reference_new_random(size, &seed), *before = reference_new(size), *after = reference_new(size);

  CHECK_OK(chain_create(ceed, &shape, &c));
  CHECK_OK(apply_to_values(c.op, size, x, before));
  CHECK(is_by_model(c.op), "the model does not choose");
  CHECK_OK(tune(c.op, size, &tuning));
  CHECK(tuning.num_tried >= 1 && tuning.num_tried <= 3, "%d tried", (int)tuning.num_tried);
  CHECK(!tuning.reason, "%s", tuning.reason);
  CHECK(tuning.best_seconds > 0 && tuning.best_seconds <= tuning.model_seconds, "%g s and %g s",
        tuning.best_seconds, tuning.model_seconds);
  CHECK(strstr(tuning.choice, "elements="), "choice '%s'", tuning.choice);
  CHECK(is_measured(c.op), "the operator does not use what was measured");
  CHECK_OK(apply_to_values(c.op, size, x, after));
  CHECK_NEAR(reference_distance(size, before, after), 0, chain_tolerance(&shape, before), "the results");
  chain_destroy(&c);
  free(x), free(before), free(after);
}

TEST_TUNING(tuning_again_begins_with_what_was_found) {
  Chain c;
  RitzTuning first, second;

  CHECK_OK(chain_create(ceed, &shape, &c));
  CHECK_OK(tune(c.op, c.size, &first));
  CHECK_OK(tune(c.op, c.size, &second));
  CHECK(second.num_tried >= 1, "nothing was measured: %s", second.reason);
  CHECK(is_measured(c.op), "the operator does not use what was measured");
  chain_destroy(&c);
}

static void check_output(Ceed ceed) {
  Chain c;
  uint64_t seed = 1;
  RitzTuning tuning;
  const CeedSize size = chain_size(&shape);
  double *x = reference_new_random(size, &seed), *wanted = reference_new(size), *found = reference_new(size);

  CHECK_OK(chain_create(ceed, &shape, &c));
  CHECK_OK(apply_to_values(c.op, size, x, wanted));
  CeedVector in = reference_vector(ceed, size, x), out = reference_vector(ceed, size, x);
  CHECK_OK(RitzOperatorTune(c.op, in, out, &tuning));
  CHECK((tuning.num_tried == 0) == (tuning.reason != NULL), "%d tried and reason '%s'", (int)tuning.num_tried,
        tuning.reason ? tuning.reason : "");
  reference_values(out, found);
  CHECK_NEAR(reference_distance(size, wanted, found), 0, chain_tolerance(&shape, wanted), "the output");
  CHECK_OK(RitzOperatorTune(c.op, in, out, NULL));
  CeedVectorDestroy(&in);
  CeedVectorDestroy(&out);
  chain_destroy(&c);
  free(x), free(wanted), free(found);
}

TEST_EACH_BACKEND(the_output_is_that_of_an_apply) {
  char *kept = begin_tuning();

  check_output(ceed);
  end_tuning(kept);
}

TEST(processors_have_nothing_to_choose) {
  Ceed ceed = tap_ceed("/cpu/self");
  Chain c;
  RitzTuning tuning;

  CHECK_OK(chain_create(ceed, &shape, &c));
  CHECK_OK(tune(c.op, c.size, &tuning));
  CHECK(tuning.num_tried == 0 && tuning.model_seconds == 0, "%d tried", (int)tuning.num_tried);
  CHECK(tuning.reason && strstr(tuning.reason, "nothing to choose"), "reason '%s'", tuning.reason);
  chain_destroy(&c);
  CeedDestroy(&ceed);
}

// The parts are the same operator, an other one, and the first once more.
TEST_TUNING(composites_tune_each_kernel_once) {
  const ChainShape other = {.dim = 1, .num_elem = 26, .P_1d = 5, .Q_1d = 5, .seed = 3};
  const ChainShape *const shapes[3] = {&shape, &other, &shape};
  const CeedSize size = CeedIntMax((CeedInt)chain_size(&shape), (CeedInt)chain_size(&other));
  Chain parts[3];
  uint64_t seed = 1;
  RitzTuning tuning;
  CeedOperator sum = NULL;
  double *x = reference_new_random(size, &seed), *before = reference_new(size), *after = reference_new(size);

  CHECK_OK(CeedOperatorCreateComposite(ceed, &sum));
  for (int i = 0; i < 3; i++) {
    CHECK_OK(chain_create(ceed, shapes[i], &parts[i]));
    CHECK_OK(CeedOperatorCompositeAddSub(sum, parts[i].op));
  }
  CHECK_OK(apply_to_values(sum, size, x, before));
  CHECK_OK(tune(sum, size, &tuning));
  CHECK(tuning.num_tried >= 2 && tuning.num_tried <= 6, "%d tried", (int)tuning.num_tried);
  for (int i = 0; i < 3; i++) CHECK(is_measured(parts[i].op), "part %d", i);
  CHECK_OK(apply_to_values(sum, size, x, after));
  CHECK_NEAR(reference_distance(size, before, after), 0, 3 * chain_tolerance(&shape, before), "the sum");
  CeedOperatorDestroy(&sum);
  for (int i = 0; i < 3; i++) chain_destroy(&parts[i]);
  free(x), free(before), free(after);
}

TEST_EACH_BACKEND(bad_arguments_are_refused_as_by_an_apply) {
  Chain c;
  CeedVector u = NULL, small = NULL;

  CHECK_OK(chain_create(ceed, &shape, &c));
  CHECK_OK(CeedVectorCreate(ceed, c.size, &u));
  CHECK_OK(CeedVectorCreate(ceed, 3, &small));
  CHECK_OK(CeedVectorSetValue(u, 1));
  CHECK_ERROR(NULL, RitzOperatorTune(NULL, u, u, NULL), CEED_ERROR_INCOMPATIBLE, "'op' is NULL");
  CHECK_ERROR(ceed, RitzOperatorTune(c.op, u, u, NULL), CEED_ERROR_INCOMPATIBLE,
              "RitzOperatorTune: input and output are the same vector");
  CHECK_ERROR(ceed, RitzOperatorTune(c.op, u, NULL, NULL), CEED_ERROR_INCOMPATIBLE,
              "RitzOperatorTune: the output is NULL");
  CHECK_ERROR(ceed, RitzOperatorTune(c.op, u, small, NULL), CEED_ERROR_BACKEND, "has 3 entries");
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&small);
  chain_destroy(&c);
}

// ---- Who finds it ----

TEST_TUNING(other_contexts_and_meshes_find_what_was_measured) {
  const ChainShape longer = {.dim = 2, .num_elem = 31, .P_1d = 3, .Q_1d = 4, .is_diffusion = true, .seed = 8};
  const ChainShape other = {.dim = 2, .num_elem = 13, .P_1d = 3, .Q_1d = 5, .is_diffusion = true, .seed = 7};
  Ceed second = tap_ceed(resource_of(ceed));

  CHECK(says(ceed, &shape, is_by_model), "measured before tuning");
  CHECK(tune_and_find_file(ceed), "no file");
  CHECK(says(second, &shape, is_measured), "not found by another context");
  CHECK(says(second, &longer, is_measured), "not found on another mesh");
  CHECK(says(second, &other, is_by_model), "found for other points");
  CHECK(!setenv("RITZ_GPU_MMA", "off", 1), "environment");
  CHECK(says(second, &shape, is_by_model), "found where the environment chooses");
  unsetenv("RITZ_GPU_MMA");
  CeedDestroy(&second);
}

TEST_TUNING(deterministic_kernels_are_others) {
  char resource[CEED_MAX_RESOURCE_LEN];

  snprintf(resource, sizeof(resource), "%s:deterministic", resource_of(ceed));
  Ceed second = tap_ceed(resource);
  CHECK(tune_and_find_file(ceed), "no file");
  CHECK(says(second, &shape, is_by_model), "found by a context that is deterministic");
  CeedDestroy(&second);
}

// Program and resource for which main() tells how the operator runs.
static bool says_in_a_process(const char *resource, const char *words) {
  char program[1000] = "", command[1200], line[1000];
  bool found = false;

  if (readlink("/proc/self/exe", program, sizeof(program) - 1) < 0) return false;
  snprintf(command, sizeof(command), "'%s' test-tune explain %s", program, resource);
  FILE *output = popen(command, "r");
  while (output && fgets(line, sizeof(line), output)) found = found || strstr(line, words);
  return output && !pclose(output) && found;
}

static int explain(const char *resource) {
  Ceed ceed = tap_ceed(resource);
  Chain c;
  int ierr = chain_create(ceed, &shape, &c);

  if (!ierr) ierr = RitzOperatorExplain(c.op, stdout);
  chain_destroy(&c);
  CeedDestroy(&ceed);
  return ierr;
}

TEST_TUNING(later_processes_find_what_was_measured) {
  CHECK(tune_and_find_file(ceed), "no file");
  CHECK(says_in_a_process(resource_of(ceed), "choices: measured (ritz tune)"), "not found");
  setenv("RITZ_TUNE", "off", 1);
  CHECK(says_in_a_process(resource_of(ceed), "choices: by the model"), "used with RITZ_TUNE=off");
}

TEST_TUNING(tuning_can_be_switched_off) {
  Chain c;
  RitzTuning tuning;

  CHECK(tune_and_find_file(ceed), "no file");
  setenv("RITZ_TUNE", "off", 1);
  CHECK(says(ceed, &shape, is_by_model), "what was measured is used");
  CHECK_OK(chain_create(ceed, &shape, &c));
  CHECK_OK(tune(c.op, c.size, &tuning));
  CHECK(tuning.num_tried == 0 && tuning.reason, "%d tried", (int)tuning.num_tried);
  chain_destroy(&c);
  setenv("RITZ_TUNE", "3", 1);
  CHECK(says(ceed, &shape, is_measured), "what was measured is not used any more");
}

TEST_TUNING(without_a_cache_the_process_remembers) {
  Chain c;
  RitzTuning tuning;

  setenv("RITZ_CACHE", "off", 1);
  CHECK_OK(chain_create(ceed, &shape, &c));
  CHECK_OK(tune(c.op, c.size, &tuning));
  CHECK(tuning.num_tried >= 1, "nothing was measured");
  CHECK(says(ceed, &shape, is_measured), "not found");
  chain_destroy(&c);
}

// ---- Files ----

// A copy in a cache of its own, which becomes the one in use.
static const char *copy_to_new_cache(const char *path) {
  const char *folder = jit_folder("cache"), *name = strrchr(path, '/') + 1, *copy = jit_path(folder, name);
  FILE *from = fopen(path, "r"), *to = fopen(copy, "w");

  for (int c; from && to && (c = fgetc(from)) != EOF;) fputc(c, to);
  if (from) fclose(from);
  if (to) fclose(to);
  chmod(copy, 0644);
  setenv("RITZ_CACHE_DIR", folder, 1);
  return copy;
}

static bool flip_in_text(const char *path) { return jit_flip_bit(path, 45); }
static bool flip_in_check(const char *path) { return jit_flip_bit(path, 100); }
static bool exchange(const char *path) {
  FILE *file = fopen(path, "w");
  if (file) fputs("This file is somebody else's.\n", file);
  return file && !fclose(file);
}

TEST_TUNING(damaged_files_are_ignored) {
  static const Damage damages[] = {{"a bit in its text", "", flip_in_text},
                                   {"a bit in its check", "", flip_in_check},
                                   {"half of it", "", jit_halve},
                                   {"empty", "", jit_empty},
                                   {"another text", "", exchange},
                                   {"of a group", "", jit_let_group_write},
                                   {"of everybody", "", jit_let_all_write},
                                   {"of somebody else", "", jit_give_away},
                                   {"a link", "", jit_make_link},
                                   {"a pipe", "", jit_make_pipe},
                                   {"gone", "", jit_remove_it}};
  const char *path = tune_and_find_file(ceed);

  CHECK(path, "no file");
  char *kept = strdup(path);
  (void)copy_to_new_cache(kept);
  CHECK(says(ceed, &shape, is_measured), "a good copy is not found");
  for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
    if (!damages[i].spoil(copy_to_new_cache(kept))) continue;
    CHECK(says(ceed, &shape, is_by_model), "used: %s", damages[i].what);
  }
  free(kept);
}

// Writes `text` as the record of tuning in `path`, in a cache of its own.
static int rewrite(Ceed ceed, const char *path, const char *text) {
  char device[512];
  RitzHash key;

  snprintf(device, sizeof(device), "%s device=%s", text, ritz_gpu(ceed)->info->name);
  const char *copy = copy_to_new_cache(path);
  snprintf(key.hex, sizeof(key.hex), "%s", strrchr(copy, '/') + 1);
  return ritz_tune_record_write(ceed, &key, "test", strstr(text, "device=") ? text : device);
}

TEST_TUNING(files_with_words_of_other_versions_are_ignored) {
  static const char *const texts[] = {"elephants=4 route=fused",
                                      "elements route=fused",
                                      "elements= route=fused",
                                      "elements=4x route=fused",
                                      "elements=-4 route=fused",
                                      "elements=4 elements=8 route=fused",
                                      "elements=99999999999 route=fused",
                                      "direct=1 route=fused",
                                      "elements=4",
                                      "elements=4 route=",
                                      "elements=4 route=auto",
                                      "elements=4 route=fuse",
                                      "elements=4 route=fused ",
                                      "elements=4route=fused",
                                      "elements=4 route=fused device=another one",
                                      "elements=4 route=fused device="};
  const char *path = tune_and_find_file(ceed);

  CHECK(path, "no file");
  char *kept = strdup(path);
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
    CHECK_OK(rewrite(ceed, kept, texts[i]));
    CHECK(says(ceed, &shape, is_by_model), "used: %s", texts[i]);
  }
  CHECK_OK(rewrite(ceed, kept, "elements=2 unroll=-1 route=fused"));
  CHECK(says(ceed, &shape, is_measured), "not used");
  free(kept);
}

// Routes that were measured: each gives the same; that of a library that is not there is the model's again.
TEST_TUNING(a_route_that_was_measured_is_taken) {
  static const char *const routes[] = {"separate", "gemm-own", "gemm-vendor"};
  const CeedSize size = chain_size(&shape);
  const char *why, *path = tune_and_find_file(ceed);
  const bool has_vendor = ritz_gpu_gemm_vendor_find(ceed, &why);
  uint64_t seed = 1;
  double *x = reference_new_random(size, &seed), *wanted = reference_new(size), *found = reference_new(size);

  CHECK(path, "no file");
  char *kept = strdup(path);
  Ceed reference = tap_ceed("/cpu/self/ref");
  CHECK_OK(chain_apply(reference, &shape, x, wanted));
  for (int i = 0; i < 3; i++) {
    char text[64], words[64];
    Chain c;
    snprintf(text, sizeof(text), "elements=2 route=%s", routes[i]);
    CHECK_OK(rewrite(ceed, kept, text));
    CHECK_OK(chain_create(ceed, &shape, &c));
    CHECK_OK(apply_to_values(c.op, size, x, found));
    CHECK_NEAR(reference_distance(size, wanted, found), 0, chain_tolerance(&shape, wanted), "%s", routes[i]);
    snprintf(words, sizeof(words), "route: %s, measured (ritz tune)", routes[i]);
    CHECK(explains(c.op, words) == (i < 2 || has_vendor), "%s", routes[i]);
    CHECK_OK(RitzOperatorSetRoute(c.op, RITZ_OPERATOR_ROUTE_FUSED));
    CHECK(explains(c.op, "route: fused, as asked for"), "asked for after %s", routes[i]);
    chain_destroy(&c);
  }
  CeedDestroy(&reference);
  free(kept), free(x), free(wanted), free(found);
}

// What was tried, and by whom: the one that is used is the fastest, up to what does not count.
TEST_TUNING(routes_are_measured_beside_each_other) {
  // The latter has no fused kernel: lines that are too long for one device fit another.
  const ChainShape four_dims = {.dim = 4, .num_elem = 1, .P_1d = 2, .Q_1d = 3, .seed = 1};
  const ChainShape *const shapes[2] = {&shape, &four_dims};
  RitzTuning tuning;
  Chain c;

  for (int i = 0; i < 2; i++) {
    CHECK_OK(chain_create(ceed, shapes[i], &c));
    CHECK_OK(tune(c.op, c.size, &tuning));
    CHECK((tuning.route_seconds[RITZ_OPERATOR_ROUTE_FUSED] > 0) == (i == 0), "%s",
          i == 0 ? "no fused kernel" : "a fused kernel");
    CHECK(tuning.num_tried >= 1, "nothing was measured: %s", tuning.reason);
    for (int r = RITZ_OPERATOR_ROUTE_SEPARATE; r <= RITZ_OPERATOR_ROUTE_GEMM_OWN; r++)
      CHECK(tuning.route_seconds[r] > 0, "%s was not measured", RitzOperatorRouteName((RitzOperatorRoute)r));
    for (int r = 1; r <= RITZ_OPERATOR_ROUTE_GEMM_VENDOR; r++)
      CHECK(tuning.route_seconds[r] == 0 || 0.98 * tuning.best_seconds <= tuning.route_seconds[r],
            "%s is faster", RitzOperatorRouteName((RitzOperatorRoute)r));
    CHECK(explains(c.op, "measured (ritz tune)"), "it is not used");
    CHECK_OK(RitzOperatorSetRoute(c.op, RITZ_OPERATOR_ROUTE_SEPARATE));
    CHECK_OK(tune(c.op, c.size, &tuning));
    CHECK(tuning.reason && strstr(tuning.reason, "route was asked for"), "%s", tuning.reason);
    chain_destroy(&c);
  }
}

// More elements than a block has memory for, or threads.
TEST_TUNING(choices_that_a_device_does_not_have_are_cut_down) {
  const CeedSize size = chain_size(&shape);
  const char *path = tune_and_find_file(ceed);
  uint64_t seed = 1;
  Chain c;
  double *x = reference_new_random(size, &seed), *wanted = reference_new(size), *found = reference_new(size);

  CHECK(path, "no file");
  CHECK_OK(chain_create(ceed, &shape, &c));
  CHECK_OK(apply_to_values(c.op, size, x, wanted));
  chain_destroy(&c);
  CHECK_OK(rewrite(ceed, path, "elements=100000 blocks=1000 route=fused"));
  CHECK_OK(chain_create(ceed, &shape, &c));
  CHECK_OK(apply_to_values(c.op, size, x, found));
  CHECK(is_measured(c.op), "not found");
  CHECK_NEAR(reference_distance(size, wanted, found), 0, chain_tolerance(&shape, wanted), "the result");
  chain_destroy(&c);
  free(x), free(wanted), free(found);
}

TEST_TUNING(the_cache_lists_and_clears_what_was_measured) {
  RitzJitEntry *entries = NULL;
  size_t num = 0, num_tunings = 0;

  CHECK(tune_and_find_file(ceed), "no file");
  CHECK_OK(RitzJitList(ceed, &num, &entries));
  for (size_t i = 0; i < num; i++) {
    num_tunings += entries[i].is_tuning;
    CHECK(!entries[i].is_tuning || !strcmp(entries[i].name, "Poisson2DApply"), "name '%s'", entries[i].name);
  }
  free(entries);
  CHECK(num_tunings == 1, "%zu of %zu entries", num_tunings, num);
  CHECK_OK(RitzJitClear(ceed, &num));
  CHECK(num >= 1, "%zu removed", num);
  CHECK(jit_count_files(getenv("RITZ_CACHE_DIR"), RITZ_TUNE_SUFFIX) == 0, "a file is left");
}

// ---- Memory that fails ----

// What fails for a variant leaves it out; all else is an error, and afterwards the operator works.
TEST_TUNING(without_memory_tuning_fails_or_tries_less) {
  enum { MOST = 500 }; // more allocations than tuning makes
  const int step = tap_level() == TAP_QUICK ? 23 : 1;
  Chain c;
  RitzTuning tuning;
  int num_errors = 0;

  setenv("RITZ_TUNE", "2", 1);
  CHECK_OK(chain_create(ceed, &shape, &c));
  CHECK_OK(tune(c.op, c.size, &tuning));
  for (int n = 1; n <= MOST; n += step) {
    ritz_memory_fail_at(n);
    const int ierr = tune(c.op, c.size, &tuning);
    ritz_memory_fail_at(0);
    num_errors += ierr != CEED_ERROR_SUCCESS;
    CHECK(ierr <= 0, "code %d when allocation %d fails", ierr, n);
  }
  CHECK(num_errors > 0 && num_errors < MOST, "%d errors", num_errors);
  CHECK_OK(tune(c.op, c.size, &tuning));
  CHECK(is_measured(c.op), "what was measured is not used");
  chain_destroy(&c);
}

// ---- Choices as text ----

TEST(texts_of_choices_are_read_as_they_were_written) {
  const RitzGpuChoice choices[] = {
      {0}, {.num_elem = 4}, {7, 5, 1, -1, 4, 1, -1, 1, 2}, {.fence = 1, .num_blocks = 32}};

  for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
    char text[RITZ_CHOICE_LENGTH];
    RitzGpuChoice read;
    ritz_plan_gpu_write_choice(&choices[i], text);
    CHECK(ritz_plan_gpu_read_choice(text, &read), "'%s' is not read", text);
    CHECK(!memcmp(&read, &choices[i], sizeof(read)), "'%s' is another choice", text);
  }
}

int main(int argc, char **argv) {
  if (argc == 3 && !strcmp(argv[1], "explain")) return explain(argv[2]);
  return tap_main(
      argc, argv,
      TESTS(results_are_the_same_before_and_after, tuning_again_begins_with_what_was_found,
            the_output_is_that_of_an_apply, processors_have_nothing_to_choose,
            composites_tune_each_kernel_once, bad_arguments_are_refused_as_by_an_apply,
            other_contexts_and_meshes_find_what_was_measured, deterministic_kernels_are_others,
            later_processes_find_what_was_measured, tuning_can_be_switched_off,
            without_a_cache_the_process_remembers, damaged_files_are_ignored,
            files_with_words_of_other_versions_are_ignored, a_route_that_was_measured_is_taken,
            routes_are_measured_beside_each_other, choices_that_a_device_does_not_have_are_cut_down,
            the_cache_lists_and_clears_what_was_measured, without_memory_tuning_fails_or_tries_less,
            texts_of_choices_are_read_as_they_were_written));
}
