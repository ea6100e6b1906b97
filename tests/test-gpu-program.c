// SPDX-License-Identifier: BSD-2-Clause
// Kernels on a device from text to launch (backends/gpu/kernel.h), with a driver that is played here: what is
// compiled and loaded when, what stays loaded, what users are told. No GPU is needed.
#include <pthread.h>
#include <stdatomic.h>

#include "backends/gpu/ahead.h"
#include "backends/gpu/context.h"
#include "backends/gpu/kernel.h"
#include "base/memory.h"
#include "base/threads.h"
#include "jit/files.h"
#include "jit/process.h"
#include "tests/jit-kit.h"

// ---- A driver ----

struct RitzDevice_private {
  int number;
};

struct RitzDeviceProgram_private {
  RitzDevice device;
  char *text; // owned; of the process, not of the library's count
};

static atomic_int num_compiled, num_loaded, num_unloaded, num_launched, num_loads_to_fail;
// Of the thread.
static _Thread_local char last_text[65536], last_unloaded[65536];
static _Thread_local RitzDeviceStream last_stream;
static _Thread_local int64_t last_num_blocks, last_num_cleared, last_shared_bytes;
static _Thread_local int last_num_args;
static bool refuses;
static atomic_int num_begun, num_hasty;
static atomic_bool is_shut; // texts with the word "gate" wait until it is opened, ten seconds at most

static void wait_at_gate(void) {
  const double start = ritz_seconds();
  double moment = 0;
  while (is_shut && ritz_seconds() - start < 10) ritz_pause(&moment);
}

// The bytes are the text.
static int compile(Ceed ceed, RitzDevice device, const char *name, const char *text, RitzDeviceCode *code) {
  (void)device, (void)name;
  num_begun++;
  if (strstr(text, "int gate")) wait_at_gate();
  num_compiled++;
  snprintf(last_text, sizeof(last_text), "%s", text);
  if (ritz_strdup(ceed, refuses ? "part 1(3): error: what is this\n" : "", &code->log))
    return CEED_ERROR_MAJOR;
  if (refuses) return CEED_ERROR_SUCCESS;
  code->num_bytes = strlen(text) + 1;
  return ritz_strdup(ceed, text, &code->bytes);
}

static int compile_hastily(Ceed ceed, RitzDevice device, const char *name, const char *text,
                           RitzDeviceCode *code) {
  num_hasty++;
  return compile(ceed, device, name, text, code);
}

static int load(Ceed ceed, RitzDevice device, size_t num_bytes, const char *bytes,
                RitzDeviceProgram *program) {
  *program = NULL;
  if (num_loads_to_fail > 0) {
    num_loads_to_fail--;
    return CeedError(ceed, CEED_ERROR_BACKEND, "driverLoad: %zu bytes: invalid image", num_bytes);
  }
  num_loaded++;
  *program = malloc(sizeof(**program));
  **program = (struct RitzDeviceProgram_private){device, strdup(bytes)};
  return CEED_ERROR_SUCCESS;
}

static int unload(Ceed ceed, RitzDevice device, RitzDeviceProgram *program) {
  (void)ceed;
  if (device != (*program)->device) return CEED_ERROR_BACKEND;
  num_unloaded++;
  snprintf(last_unloaded, sizeof(last_unloaded), "%s", (*program)->text);
  free((*program)->text);
  free(*program);
  *program = NULL;
  return CEED_ERROR_SUCCESS;
}

static int get_kernel(Ceed ceed, RitzDeviceProgram program, const char *name, RitzDeviceKernel *kernel) {
  if (!strstr(program->text, name)) return CeedError(ceed, CEED_ERROR_BACKEND, "no kernel '%s'", name);
  *kernel = (RitzDeviceKernel)program;
  return CEED_ERROR_SUCCESS;
}

static int launch(Ceed ceed, RitzDeviceKernel kernel, RitzDeviceStream stream, int64_t num_blocks,
                  int block_size, int64_t shared_bytes, int num_args, const RitzDeviceArg *args) {
  (void)ceed, (void)kernel, (void)block_size, (void)args;
  num_launched++;
  last_stream = stream;
  last_num_blocks = num_blocks;
  last_num_args = num_args;
  last_shared_bytes = shared_bytes;
  return CEED_ERROR_SUCCESS;
}

static int clear(Ceed ceed, RitzDevice device, RitzDeviceStream stream, size_t num_bytes, void *p) {
  (void)ceed, (void)device, (void)stream, (void)p;
  last_num_cleared = (int64_t)num_bytes;
  return CEED_ERROR_SUCCESS;
}

static int launch_cleared(Ceed ceed, RitzDeviceKernel kernel, RitzDeviceStream stream, size_t num_bytes,
                          void *p, int64_t num_blocks, int block_size, int64_t shared_bytes, int num_args,
                          const RitzDeviceArg *args, RitzDeviceReplay *replay) {
  *replay = (RitzDeviceReplay)kernel;
  clear(ceed, NULL, stream, num_bytes, p);
  return launch(ceed, kernel, stream, num_blocks, block_size, shared_bytes, num_args, args);
}

static int replay_destroy(Ceed ceed, RitzDevice device, RitzDeviceReplay *replay) {
  (void)ceed, (void)device;
  *replay = NULL;
  return CEED_ERROR_SUCCESS;
}

static const RitzDriver played = {.name = "played",
                                  .compile = compile,
                                  .load = load,
                                  .unload = unload,
                                  .kernel = get_kernel,
                                  .clear = clear,
                                  .launch = launch,
                                  .launch_cleared = launch_cleared,
                                  .replay_destroy = replay_destroy};
static const RitzDriver beside = {.name = "beside",
                                  .compiles_beside = true,
                                  .compile = compile,
                                  .compile_hastily = compile_hastily,
                                  .load = load,
                                  .unload = unload,
                                  .kernel = get_kernel};
static struct RitzDevice_private devices[2];
static const RitzDeviceInfo info = {.driver = &played, .name = "Device 7", .arch = "arch_1", .version = "1"};

// ---- A context ----

typedef struct {
  Ceed ceed;
  void *data; // of the context's own backend
  RitzGpu gpu;
} Context;

static void begin(Context *context, int device) {
  *context = (Context){.ceed = tap_ceed("/cpu/self/ref"),
                       .gpu = {.driver = &played, .device = &devices[device], .info = &info}};
  context->data = context->ceed->data;
  context->ceed->data = &context->gpu;
}

// On a driver that several threads may call at once.
static void begin_beside(Context *context) {
  begin(context, 0);
  context->gpu.driver = &beside;
}

static void end(Context *context) {
  ritz_gpu_ahead_destroy(context->ceed);
  context->ceed->data = context->data;
  CeedDestroy(&context->ceed);
}

static void forget_counts(void) {
  num_compiled = num_loaded = num_unloaded = num_launched = num_loads_to_fail = 0;
  num_begun = num_hasty = 0;
  refuses = false;
  is_shut = false;
  last_unloaded[0] = '\0';
}

// The kernel of a text with one part that no other test uses, loaded.
static int describe(Context *context, const char *part, RitzGpuKernel *kernel) {
  const RitzGpuText text = {.name = "test", .what = "the text of the test", .num = 1, .texts = {part}};
  return ritz_gpu_kernel_describe(context->ceed, &text, kernel);
}

static int get(Context *context, const char *part, RitzGpuKernel *kernel) {
  const int ierr = describe(context, part, kernel);
  return ierr ? ierr : ritz_gpu_kernel_load(context->ceed, kernel);
}

// ---- Texts ----

TEST(a_text_is_the_language_then_the_parts_under_their_names_and_includes_nothing_else) {
  const RitzGpuText text = {.name = "test",
                            .num = 3,
                            .texts = {ritz_gpu_template("kernels/gpu/qfunction.h"), "int a;", "int b;\n"}};
  Context c;
  RitzGpuKernel kernel = {0};

  jit_begin();
  begin(&c, 0);
  CHECK_OK(ritz_gpu_kernel_describe(c.ceed, &text, &kernel));
  CHECK_OK(ritz_gpu_kernel_load(c.ceed, &kernel));
  const char *wanted = sizeof(CeedScalar) == 8 ? "#line 1 " : "#define RITZ_SCALAR_F32\n#line 1 ";
  const char *at = last_text;
  CHECK(!strncmp(at, wanted, strlen(wanted)), "it begins with %.40s", at);
  CHECK((at = strstr(at, "#line 1 \"kernels/gpu/language.h\"\n// SPDX")), "no language");
  CHECK((at = strstr(at, "#line 1 \"ceed/types.h\"\n// SPDX")), "no types");
  CHECK((at = strstr(at, "#line 1 \"ceed/ceed-f64.h\"\n// SPDX")), "no scalars");
  CHECK((at = strstr(at, " \"ceed/types.h\"\n#endif")), "no way back to the types");
  CHECK((at = strstr(at, "#line 1 \"kernels/gpu/qfunction.h\"\n// SPDX")), "no template");
  CHECK(strstr(at, "\n#line 1 \"part 2\"\nint a;\n#line 1 \"part 3\"\nint b;\n"), "no parts");
  CHECK(!strstr(last_text, "#include <ceed") && !strstr(last_text, "#include \""), "an include");
  CHECK(!ritz_gpu_template("kernels/gpu/nothing.h") && !ritz_gpu_template("ceed/types.h"), "more templates");
  ritz_gpu_kernel_release(c.ceed, &kernel);
  CHECK(!kernel.program, "not NULL");
  end(&c);
}

TEST(a_part_that_is_not_in_the_library_is_an_error) {
  Context c;
  RitzGpuKernel kernel = {0};

  jit_begin();
  begin(&c, 0);
  CHECK_ERROR(c.ceed, get(&c, ritz_gpu_template("kernels/gpu/nothing.h"), &kernel), CEED_ERROR_BACKEND,
              "the text of the test: part 1");
  CHECK(!kernel.program, "a program");
  ritz_gpu_kernel_release(c.ceed, &kernel);
  end(&c);
}

// ---- Programs ----

TEST(equal_texts_on_a_device_are_one_program_and_other_devices_have_their_own) {
  Context a, b, other;
  RitzGpuKernel kernels[3] = {{0}};

  jit_begin();
  begin(&a, 0), begin(&b, 0), begin(&other, 1);
  forget_counts();
  jit_start_counting();
  CHECK_OK(get(&a, "int equal;\n", &kernels[0]));
  CHECK_OK(get(&b, "int equal;\n", &kernels[1]));
  CHECK_OK(get(&other, "int equal;\n", &kernels[2]));
  CHECK(kernels[0].program == kernels[1].program && kernels[0].program != kernels[2].program, "programs");
  CHECK(num_compiled == 1 && num_loaded == 2, "%d compiled, %d loaded", (int)num_compiled, (int)num_loaded);
  CHECK_COUNTED(1, 1, 1);
  ritz_gpu_kernel_release(a.ceed, &kernels[0]);
  ritz_gpu_kernel_release(b.ceed, &kernels[1]);
  ritz_gpu_kernel_release(other.ceed, &kernels[2]);
  CHECK_OK(get(&a, "int equal;\n", &kernels[0]));
  CHECK(num_compiled == 1 && num_loaded == 2 && num_unloaded == 0, "it did not stay loaded");
  ritz_gpu_kernel_release(a.ceed, &kernels[0]);
  ritz_gpu_kernel_release(a.ceed, &kernels[0]); // NULL: nothing
  end(&a), end(&b), end(&other);
}

TEST(of_programs_that_nobody_refers_to_the_last_ones_stay_loaded) {
  enum { NUM = 100, NUM_KEPT = 64 }; // as in program.c
  Context c;
  RitzGpuKernel held = {0}, kernels[NUM] = {{0}};
  char part[64];

  jit_begin();
  setenv("RITZ_CACHE", "off", 1);
  begin(&c, 0);
  CHECK_OK(get(&c, "int held;\n", &held));
  for (int i = 0; i < NUM; i++) {
    snprintf(part, sizeof(part), "int number_%d;\n", i);
    CHECK_OK(get(&c, part, &kernels[i]));
  }
  forget_counts();
  for (int i = 0; i < NUM; i++) {
    ritz_gpu_kernel_release(c.ceed, &kernels[i]);
    snprintf(part, sizeof(part), "int number_%d;\n", i - NUM_KEPT);
    CHECK(i < NUM_KEPT || strstr(last_unloaded, part), "%d: another than number %d", i, i - NUM_KEPT);
  }
  CHECK(num_unloaded >= NUM - NUM_KEPT, "%d unloaded", (int)num_unloaded);
  forget_counts();
  CHECK_OK(get(&c, "int number_36;\n", &kernels[36])); // of those that are left the one that went first
  CHECK(num_loaded == 0, "it did not stay loaded");
  CHECK_OK(get(&c, "int number_35;\n", &kernels[35]));
  CHECK(num_loaded == 1, "it stayed loaded");
  ritz_gpu_kernel_release(c.ceed, &kernels[35]);
  ritz_gpu_kernel_release(c.ceed, &kernels[36]);
  CHECK_OK(get(&c, "int held;\n", &kernels[0]));
  CHECK(kernels[0].program == held.program, "what is in use was unloaded");
  ritz_gpu_kernel_release(c.ceed, &kernels[0]);
  ritz_gpu_kernel_release(c.ceed, &held);
  end(&c);
}

TEST(bytes_that_the_driver_does_not_take_are_made_anew_without_a_word) {
  Context c;
  RitzGpuKernel kernel = {0};
  const char *message = NULL;

  jit_begin();
  begin(&c, 0);
  forget_counts();
  num_loads_to_fail = 1;
  CHECK_OK(CeedResetErrorMessage(c.ceed, NULL));
  CHECK_OK(get(&c, "int taken_second;\n", &kernel));
  CHECK_OK(CeedGetErrorMessage(c.ceed, &message));
  CHECK(num_compiled == 2 && num_loaded == 1 && !strstr(message, "image"), "'%s'", message);
  ritz_gpu_kernel_release(c.ceed, &kernel);
  num_loads_to_fail = 2;
  CHECK_ERROR(c.ceed, get(&c, "int never_taken;\n", &kernel), CEED_ERROR_BACKEND, "invalid image");
  CHECK(!kernel.program, "a program");
  ritz_gpu_kernel_release(c.ceed, &kernel);
  end(&c);
}

TEST(a_refused_text_is_an_error_that_says_what_where_and_why) {
  Context c;
  RitzGpuKernel kernel = {0};

  jit_begin();
  begin(&c, 0);
  forget_counts();
  refuses = true;
  CHECK_ERROR(
      c.ceed, get(&c, "int refused;\n", &kernel), CEED_ERROR_BACKEND,
      "the text of the test does not compile for Device 7: part 1(3): error: what is this (the whole log: /");
  CHECK(!kernel.program && num_compiled == 1 && num_loaded == 0, "a program");
  ritz_gpu_kernel_release(c.ceed, &kernel);
  end(&c);
}

static void *get_in_thread(void *arg) {
  Context *c = arg;

  for (int i = 0; i < 200; i++) {
    RitzGpuKernel kernel = {0};
    char part[64];

    snprintf(part, sizeof(part), "int threads_%d;\n", i % 90);
    if (get(c, part, &kernel)) return arg;
    if (!kernel.program || RITZ_GPU_RUN(c->ceed, &kernel, "threads", 1, 1, RITZ_INT(1))) return arg;
    ritz_gpu_kernel_release(c->ceed, &kernel);
  }
  return NULL;
}

TEST(threads_share_programs) {
  enum { NUM_THREADS = 4 };
  pthread_t threads[NUM_THREADS];
  Context contexts[NUM_THREADS];
  int num_bad = 0;

  jit_begin();
  forget_counts();
  for (int i = 0; i < NUM_THREADS; i++) begin(&contexts[i], 0);
  for (int i = 0; i < NUM_THREADS; i++)
    CHECK(!pthread_create(&threads[i], NULL, get_in_thread, &contexts[i]), "no thread");
  for (int i = 0; i < NUM_THREADS; i++) {
    void *result;
    pthread_join(threads[i], &result);
    num_bad += result != NULL;
  }
  CHECK(num_bad == 0, "%d threads failed", num_bad);
  CHECK(num_compiled == 90, "%d compiled", (int)num_compiled);
  for (int i = 0; i < NUM_THREADS; i++) end(&contexts[i]);
}

// ---- Ahead of the first use ----

// Another kernel of the same text is to find what was begun.
static int begin_ahead(Context *context, const char *part) {
  RitzGpuKernel kernel = {0};
  int ierr = describe(context, part, &kernel);
  if (!ierr) ierr = ritz_gpu_kernel_begin(context->ceed, &kernel);
  ritz_gpu_kernel_release(context->ceed, &kernel);
  return ierr;
}

static void wait_for_begun(int num) {
  const double start = ritz_seconds();
  double moment = 0;
  while (num_begun < num && ritz_seconds() - start < 10) ritz_pause(&moment);
}

TEST(a_program_begun_ahead_is_compiled_once_by_another_thread) {
  Context c;
  RitzGpuKernel kernel = {0}, again = {0};

  jit_begin();
  begin_beside(&c);
  forget_counts();
  is_shut = true;
  last_text[0] = '\0';
  CHECK_OK(begin_ahead(&c, "int gate_of_another_thread;\n"));
  CHECK_OK(begin_ahead(&c, "int gate_of_another_thread;\n"));
  wait_for_begun(1);
  CHECK(num_begun == 1 && num_compiled == 0, "%d begun, %d compiled", (int)num_begun, (int)num_compiled);
  is_shut = false;
  CHECK_OK(get(&c, "int gate_of_another_thread;\n", &kernel));
  CHECK_OK(begin_ahead(&c, "int gate_of_another_thread;\n")); // is there
  CHECK_OK(get(&c, "int gate_of_another_thread;\n", &again));
  CHECK(kernel.program && kernel.program == again.program, "two programs");
  CHECK(num_compiled == 1 && num_loaded == 1, "%d compiled, %d loaded", (int)num_compiled, (int)num_loaded);
  CHECK(!last_text[0], "the caller's thread has compiled");
  ritz_gpu_kernel_release(c.ceed, &kernel);
  ritz_gpu_kernel_release(c.ceed, &again);
  end(&c);
}

// What a thread makes ahead is not the caller's: its allocations are none of those that are to fail.
TEST(allocations_of_threads_beside_are_not_made_to_fail) {
  Context c;
  RitzGpuKernel kernel = {0};

  jit_begin();
  begin_beside(&c);
  forget_counts();
  is_shut = true;
  CHECK_OK(begin_ahead(&c, "int gate_before_allocations;\n"));
  wait_for_begun(1);
  (void)ritz_memory_fail_at(1);
  is_shut = false;
  ritz_tasks_wait();
  CHECK(ritz_memory_fail_at(0) == 1, "an allocation of the thread has failed");
  CHECK(num_compiled == 1, "waiting for threads has ended before they have: %d compiled", (int)num_compiled);
  CHECK_OK(get(&c, "int gate_before_allocations;\n", &kernel));
  CHECK(num_compiled == 1, "the thread has made nothing");
  ritz_gpu_kernel_release(c.ceed, &kernel);
  end(&c);
}

// All threads of the library are kept at the gate.
TEST(what_no_thread_has_begun_is_made_by_its_first_user_and_dropped_with_the_context) {
  const int most = ritz_num_processors() < 32 ? ritz_num_processors() : 32;
  Context c;
  RitzGpuKernel kernel = {0};
  char part[64];

  jit_begin();
  begin_beside(&c);
  forget_counts();
  is_shut = true;
  for (int i = 0; i < most; i++) {
    snprintf(part, sizeof(part), "int gate_%d;\n", i);
    CHECK_OK(begin_ahead(&c, part));
  }
  wait_for_begun(most);
  CHECK_OK(begin_ahead(&c, "int of_the_first_user;\n"));
  CHECK_OK(begin_ahead(&c, "int of_nobody;\n"));
  last_text[0] = '\0';
  CHECK_OK(get(&c, "int of_the_first_user;\n", &kernel));
  CHECK(strstr(last_text, "int of_the_first_user;") && num_compiled == 1, "%d compiled", (int)num_compiled);
  ritz_gpu_kernel_release(c.ceed, &kernel);
  is_shut = false;
  end(&c);
  CHECK(num_compiled >= 1 + most && num_compiled <= 2 + most, "%d compiled", (int)num_compiled);
  CHECK(num_loaded == 1, "%d loaded, of which one was used", (int)num_loaded);
}

TEST(a_text_that_is_refused_ahead_is_an_error_of_its_first_use) {
  Context c;
  RitzGpuKernel kernel = {0};

  jit_begin();
  begin_beside(&c);
  forget_counts();
  refuses = true;
  CHECK_OK(begin_ahead(&c, "int refused_ahead;\n"));
  wait_for_begun(1);
  CHECK_ERROR(c.ceed, get(&c, "int refused_ahead;\n", &kernel), CEED_ERROR_BACKEND,
              "the text of the test does not compile");
  CHECK(!kernel.program, "a program");
  ritz_gpu_kernel_release(c.ceed, &kernel);
  end(&c);
}

TEST(a_driver_of_one_thread_compiles_at_once) {
  Context c;
  RitzGpuKernel kernel = {0};

  jit_begin();
  begin(&c, 0);
  forget_counts();
  CHECK_OK(begin_ahead(&c, "int at_once;\n"));
  CHECK(num_compiled == 1 && strstr(last_text, "int at_once;"), "%d compiled", (int)num_compiled);
  CHECK(num_loaded == 0, "loaded ahead of its use");
  CHECK_OK(get(&c, "int at_once;\n", &kernel));
  CHECK(num_compiled == 1 && num_loaded == 1, "%d compiled, %d loaded", (int)num_compiled, (int)num_loaded);
  ritz_gpu_kernel_release(c.ceed, &kernel);
  end(&c);
}

TEST(programs_that_run_once_are_others_where_a_driver_compiles_them_hastily) {
  const char *part = "int once;\n";
  const RitzGpuText once = {.name = "test", .kind = RITZ_TEXT_ONCE, .num = 1, .texts = {part}};
  RitzGpuKernel kernels[2] = {{0}};
  Context c;

  jit_begin();
  for (int is_hasty = 0; is_hasty < 2; is_hasty++) {
    (is_hasty ? begin_beside(&c) : begin(&c, 0));
    forget_counts();
    CHECK_OK(get(&c, part, &kernels[0]));
    CHECK_OK(ritz_gpu_kernel_describe(c.ceed, &once, &kernels[1]));
    CHECK_OK(ritz_gpu_kernel_load(c.ceed, &kernels[1]));
    CHECK((kernels[0].program == kernels[1].program) == !is_hasty, "programs");
    CHECK(num_hasty == is_hasty && num_compiled == 1, "%d of %d hasty", (int)num_hasty, (int)num_compiled);
    ritz_gpu_kernel_release(c.ceed, &kernels[0]);
    ritz_gpu_kernel_release(c.ceed, &kernels[1]);
    end(&c);
  }
}

TEST(an_allocation_that_fails_is_reported_and_nothing_is_left) {
  Context c;
  bool has_failed = true;
  char part[64];
  int n = 1;

  jit_begin();
  begin(&c, 0);
  for (; has_failed; n++) {
    const int64_t live = ritz_memory_live();
    RitzGpuKernel kernel = {0};

    snprintf(part, sizeof(part), "int allocation_%d;\n", n);
    ritz_memory_fail_at(n);
    has_failed = get(&c, part, &kernel);
    ritz_memory_fail_at(0);
    CHECK(has_failed == !kernel.program, "allocation %d", n);
    ritz_gpu_kernel_release(c.ceed, &kernel);
    CHECK(ritz_memory_live() == live, "allocation %d: %d are left", n, (int)(ritz_memory_live() - live));
  }
  CHECK(n > 15, "%d allocations", n);
  end(&c);
}

// ---- Launches ----

TEST(a_launch_goes_to_the_stream_of_the_context_and_none_is_made_for_no_blocks) {
  Context c;
  RitzGpuKernel kernel = {0};
  int stream;

  jit_begin();
  begin(&c, 0);
  forget_counts();
  c.gpu.stream = &stream;
  CHECK_OK(get(&c, "void scale() {}\n", &kernel));
  CHECK_OK(RITZ_GPU_RUN(c.ceed, &kernel, "scale", 0, 256, RITZ_LONG(1)));
  CHECK(num_launched == 0, "launched");
  CHECK_OK(RITZ_GPU_RUN(c.ceed, &kernel, "scale", (int64_t)1 << 33, 256, RITZ_LONG(1), RITZ_SCALAR(2.),
                        RITZ_POINTER(&stream)));
  CHECK(num_launched == 1 && last_stream == &stream && last_num_blocks == (int64_t)1 << 33 &&
            last_num_args == 3,
        "not as asked");
  CHECK_ERROR(c.ceed, RITZ_GPU_RUN(c.ceed, &kernel, "no_such_kernel", 1, 256, RITZ_LONG(1)),
              CEED_ERROR_BACKEND, "no kernel 'no_such_kernel'");
  ritz_gpu_kernel_release(c.ceed, &kernel);
  end(&c);
}

TEST(a_kernel_that_is_kept_is_launched_with_and_without_clearing) {
  Context c;
  RitzGpuKernel kernel = {0};
  RitzDeviceReplay replay = NULL;
  char y[80];
  int stream;

  jit_begin();
  begin(&c, 0);
  forget_counts();
  c.gpu.stream = &stream;
  const RitzGpuText text = {.name = "test", .entry = "apply", .num = 1, .texts = {"void apply() {}\n"}};
  CHECK_OK(ritz_gpu_kernel_describe(c.ceed, &text, &kernel));
  const RitzDeviceArg args[] = {RITZ_POINTER(y), RITZ_INT(3)};
  CHECK_OK(ritz_gpu_launch(c.ceed, &kernel, NULL, 0, 256, 0, 2, args));
  CHECK(num_launched == 0, "launched without blocks");
  CHECK_OK(ritz_gpu_launch(c.ceed, &kernel, NULL, 4, 256, 100000, 2, args));
  CHECK(num_launched == 1 && last_stream == &stream && last_shared_bytes == 100000, "not as asked");
  CHECK_OK(ritz_gpu_launch_cleared(c.ceed, &kernel, 80, y, 5, 256, 1000, 2, args, &replay));
  CHECK(num_launched == 2 && last_num_blocks == 5 && last_num_cleared == 80 && last_shared_bytes == 1000 &&
            replay,
        "not as asked");
  CHECK_OK(ritz_gpu_launch_cleared(c.ceed, &kernel, 0, NULL, 6, 256, 0, 2, args, &replay));
  CHECK(num_launched == 3 && last_num_blocks == 6 && last_num_cleared == 80, "no launch, or nothing cleared");
  CHECK_OK(ritz_gpu_launch_cleared(c.ceed, &kernel, 40, y, 0, 256, 0, 2, args, &replay));
  CHECK(num_launched == 3 && last_num_cleared == 40, "a launch without blocks, or not cleared");
  ritz_gpu_replay_destroy(c.ceed, &replay);
  ritz_gpu_replay_destroy(c.ceed, &replay);
  CHECK(!replay, "a handle of what is gone");
  ritz_gpu_kernel_release(c.ceed, &kernel);
  end(&c);
}

// ---- Delegation ----

static int count_told(const Context *a, const Context *b, const char *what) {
  const char *path = tap_temp_file("said", NULL, 0);

  fflush(stderr);
  const int kept = dup(2);
  if (!freopen(path, "w", stderr)) abort();
  for (int i = 0; i < 3; i++) {
    if (ritz_gpu_delegate(a->ceed, what, "it has no kernel") ||
        ritz_gpu_delegate(a->ceed, "an operator", what) ||
        ritz_gpu_delegate(b->ceed, what, "it has no kernel"))
      abort();
  }
  fflush(stderr);
  dup2(kept, 2);
  close(kept);
  return jit_count_lines(path);
}

TEST(delegation_is_warned_of_once_a_process_and_an_error_where_it_is_not_wanted) {
  Context a, b;

  begin(&a, 0), begin(&b, 0);
  int num = count_told(&a, &b, "a basis");
  CHECK(num == 2, "%d lines", num);
  num = count_told(&a, &b, "a basis");
  CHECK(num == 0, "%d lines", num);
  a.ceed->warnings = RITZ_WARNINGS_ALL;
  num = count_told(&a, &b, "a basis");
  CHECK(num == 6, "%d lines", num);
  a.ceed->warnings = b.ceed->warnings = RITZ_WARNINGS_OFF;
  num = count_told(&a, &b, "another basis");
  CHECK(num == 0, "%d lines", num);
  b.ceed->is_strict = true;
  CHECK_ERROR(b.ceed, ritz_gpu_delegate(b.ceed, "a basis", "it has no kernel"), CEED_ERROR_BACKEND,
              "a basis: it has no kernel (RITZ_STRICT is set)");
  end(&a), end(&b);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(a_text_is_the_language_then_the_parts_under_their_names_and_includes_nothing_else,
                        a_part_that_is_not_in_the_library_is_an_error,
                        equal_texts_on_a_device_are_one_program_and_other_devices_have_their_own,
                        of_programs_that_nobody_refers_to_the_last_ones_stay_loaded,
                        bytes_that_the_driver_does_not_take_are_made_anew_without_a_word,
                        a_refused_text_is_an_error_that_says_what_where_and_why, threads_share_programs,
                        a_program_begun_ahead_is_compiled_once_by_another_thread,
                        allocations_of_threads_beside_are_not_made_to_fail,
                        what_no_thread_has_begun_is_made_by_its_first_user_and_dropped_with_the_context,
                        a_text_that_is_refused_ahead_is_an_error_of_its_first_use,
                        a_driver_of_one_thread_compiles_at_once,
                        programs_that_run_once_are_others_where_a_driver_compiles_them_hastily,
                        an_allocation_that_fails_is_reported_and_nothing_is_left,
                        a_launch_goes_to_the_stream_of_the_context_and_none_is_made_for_no_blocks,
                        a_kernel_that_is_kept_is_launched_with_and_without_clearing,
                        delegation_is_warned_of_once_a_process_and_an_error_where_it_is_not_wanted));
}
