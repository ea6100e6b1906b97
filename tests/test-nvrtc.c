// SPDX-License-Identifier: BSD-2-Clause
// NVIDIA's run-time compiler, which needs no device: what it makes of a text, what it refuses, and what its
// log says. Skipped where there is no compiler.
#include "backends/gpu/kernel.h"
#include "devices/device.h"
#include "tests/nvrtc-log.h"
#include "tests/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char scale_text[] =
    "extern \"C\" __global__ void __launch_bounds__(256) scale(long long n, double a, "
    "double *x) {\n"
    "  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) x[i] *= a;\n"
    "}\n";
// Every thread has more than registers hold at once, read back in an order that is not known before.
static const char spilling_text[] =
    "extern \"C\" __global__ void __launch_bounds__(1024) shuffle(int n, double *x) {\n"
    "  double a[100];\n"
    "#pragma unroll\n"
    "  for (int i = 0; i < 100; i++) a[i] = x[i * n + threadIdx.x];\n"
    "  for (int k = 0; k < n; k++) {\n"
    "#pragma unroll\n"
    "    for (int i = 0; i < 100; i++) a[i] = a[i] * a[(i + 37) % 100] + a[(i + 11) % 100];\n"
    "  }\n"
    "#pragma unroll\n"
    "  for (int i = 0; i < 100; i++) x[i * n + threadIdx.x] = a[i];\n"
    "}\n";

// The tests below need a compiler; `ceed` is a context of the test.
#define NEEDS_NVRTC()                                                                                        \
  do {                                                                                                       \
    const char *why_;                                                                                        \
    if (!ritz_nvrtc_version(&why_)) SKIP("%s", why_);                                                        \
  } while (0)

static int compile(Ceed ceed, const char *arch, const char *text, RitzDeviceCode *code) {
  const char *why;

  return ritz_nvrtc_compile(ceed, arch, "some-text.cu", text, code, &why);
}

static int is_binary(const RitzDeviceCode *code) {
  return code->bytes && code->num_bytes > 4 && !memcmp(code->bytes, "\177ELF", 4);
}

TEST(there_is_a_compiler_or_a_reason_in_one_line) {
  const char *why, *again;
  const char *version = ritz_nvrtc_version(&why);

  CHECK(!version != !why, "version %s, reason %s", version ? version : "none", why ? why : "none");
  CHECK(version == ritz_nvrtc_version(&again) && why == again, "two answers");
  if (why) CHECK(strstr(why, "libnvrtc.so") && strstr(why, "CUDA_HOME") && !strchr(why, '\n'), "%s", why);
  tap_note("%s", version ? version : why);
}

static bool is_hidden; // this process has been started without the variables that name a compiler

// The exit status of this program's next test in a process that finds no compiler by its environment.
static int run_where_it_is_hidden(void) {
  int status = -1;
  pid_t child = fork();

  if (child == 0) {
    unsetenv("CUDA_HOME");
    unsetenv("CUDA_PATH");
    unsetenv("LD_LIBRARY_PATH");
    setenv("RITZ_TEST_HIDDEN", "1", 1);
    if (!freopen("/dev/null", "w", stdout)) _exit(99);
    execl("/proc/self/exe", "test-nvrtc", "without_a_compiler_nothing_is_raised", (char *)NULL);
    _exit(127);
  }
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(without_a_compiler_nothing_is_raised) {
  const char *why;
  RitzDeviceCode code;

  if (ritz_nvrtc_version(&why)) {
    if (!is_hidden) CHECK(run_where_it_is_hidden() == 0, "in a process whose environment names no compiler");
    if (is_hidden) NOT_HERE("the loader finds a compiler without being told");
    return;
  }
  Ceed ceed = tap_ceed("/cpu/self/ref");
  CHECK(ritz_nvrtc_compile(ceed, "sm_90", "a", scale_text, &code, &why) == CEED_ERROR_UNSUPPORTED && why,
        "answer");
  CHECK(!code.bytes && !code.log, "code of no compiler");
  CeedDestroy(&ceed);
}

TEST(a_text_is_compiled_for_sm_80_and_sm_90) {
  NEEDS_NVRTC();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzDeviceCode codes[2];

  CHECK_OK(compile(ceed, "sm_80", scale_text, &codes[0]));
  CHECK_OK(compile(ceed, "sm_90", scale_text, &codes[1]));
  for (int i = 0; i < 2; i++) CHECK(is_binary(&codes[i]), "no binary: %s", codes[i].log);
  CHECK(codes[0].num_bytes != codes[1].num_bytes ||
            memcmp(codes[0].bytes, codes[1].bytes, codes[0].num_bytes),
        "one binary for two architectures");
  for (int i = 0; i < 2; i++) ritz_device_code_free(&codes[i]);
  CeedDestroy(&ceed);
}

// The last architecture of this form: no compiler knows it.
TEST(for_a_device_newer_than_the_compiler_there_is_PTX) {
  NEEDS_NVRTC();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzDeviceCode code;

  CHECK_OK(compile(ceed, "sm_999", scale_text, &code));
  CHECK(code.bytes && strstr(code.bytes, ".target sm_") && strstr(code.bytes, ".entry scale"), "no PTX: %s",
        code.log);
  CHECK(code.bytes[code.num_bytes - 1] == '\0', "the text has no end");
  ritz_device_code_free(&code);
  CeedDestroy(&ceed);
}

TEST(an_architecture_older_than_the_compiler_knows_is_an_error) {
  NEEDS_NVRTC();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzDeviceCode code;

  CHECK_ERROR(ceed, compile(ceed, "sm_20", scale_text, &code), CEED_ERROR_BACKEND, "not for sm_20");
  CHECK(!code.bytes && !code.log, "code is left");
  CeedDestroy(&ceed);
}

TEST(a_refused_text_has_a_log_with_name_and_line) {
  NEEDS_NVRTC();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzDeviceCode code;

  CHECK_OK(
      compile(ceed, "sm_90", "extern \"C\" __global__ void f(double *x) {\n  x[0] = nowhere;\n}\n", &code));
  CHECK(!code.bytes && code.log, "not refused");
  CHECK(strstr(code.log, "some-text.cu(2): error") && strstr(code.log, "nowhere"), "%s", code.log);
  ritz_device_code_free(&code);
  CeedDestroy(&ceed);
}

TEST(a_log_names_the_file_of_a_line_mark) {
  NEEDS_NVRTC();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzDeviceCode code;

  CHECK_OK(
      compile(ceed, "sm_90", "\n\n#line 40 \"my/qfunction.h\"\nint f(void) { return nowhere; }\n", &code));
  CHECK(!code.bytes && strstr(code.log, "my/qfunction.h(40): error"), "%s", code.log);
  ritz_device_code_free(&code);
  CeedDestroy(&ceed);
}

// More shared memory than there is: the front end has no objection, the assembler has.
TEST(what_the_assembler_refuses_is_refused_with_a_log) {
  NEEDS_NVRTC();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzDeviceCode code;

  CHECK_OK(compile(ceed, "sm_90",
                   "extern \"C\" __global__ void large(double *x) {\n"
                   "  __shared__ double a[20000];\n"
                   "  a[threadIdx.x] = x[threadIdx.x];\n"
                   "  __syncthreads();\n"
                   "  x[threadIdx.x] = a[threadIdx.x ^ 1];\n"
                   "}\n",
                   &code));
  CHECK(!code.bytes && strstr(code.log, "large"), "%s", code.log ? code.log : "no log");
  ritz_device_code_free(&code);
  CeedDestroy(&ceed);
}

TEST(functions_need_not_say_that_they_run_on_the_device) {
  NEEDS_NVRTC();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzDeviceCode code;

  CHECK_OK(compile(ceed, "sm_90",
                   "static inline double twice(double x) { return 2 * x; }\n"
                   "extern \"C\" __global__ void f(double *x) { x[threadIdx.x] = twice(x[threadIdx.x]); }\n",
                   &code));
  CHECK(is_binary(&code), "%s", code.log);
  ritz_device_code_free(&code);
  CeedDestroy(&ceed);
}

TEST(the_log_tells_registers_and_spills) {
  NEEDS_NVRTC();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzDeviceCode slim, fat;

  CHECK_OK(compile(ceed, "sm_90", scale_text, &slim));
  CHECK_OK(compile(ceed, "sm_90", spilling_text, &fat));
  CHECK(strstr(slim.log, "scale") && strstr(slim.log, "registers"), "%s", slim.log);
  CHECK(nvrtc_spills(slim.log) == 0, "%lld bytes: %s", (long long)nvrtc_spills(slim.log), slim.log);
  CHECK(nvrtc_spills(fat.log) > 0, "%lld bytes: %s", (long long)nvrtc_spills(fat.log), fat.log);
  ritz_device_code_free(&slim);
  ritz_device_code_free(&fat);
  CeedDestroy(&ceed);
}

// Other code where the compiler knows the option.
TEST(a_text_that_is_compiled_hastily_has_code_and_a_log) {
  NEEDS_NVRTC();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzDeviceCode full, hasty;
  const char *why;

  CHECK_OK(compile(ceed, "sm_90", spilling_text, &full));
  CHECK_OK(ritz_nvrtc_compile_hastily(ceed, "sm_90", "some-text.cu", spilling_text, &hasty, &why));
  CHECK(is_binary(&hasty), "%s", hasty.log);
  CHECK(strstr(hasty.log, "shuffle") && strstr(hasty.log, "registers"), "%s", hasty.log);
  const bool is_same = full.num_bytes == hasty.num_bytes && !memcmp(full.bytes, hasty.bytes, full.num_bytes);
  CHECK(is_same == (atoi(ritz_nvrtc_version(&why)) < 13), "%s code of NVRTC %s",
        is_same ? "the same" : "other", ritz_nvrtc_version(&why));
  ritz_device_code_free(&full);
  ritz_device_code_free(&hasty);
  CeedDestroy(&ceed);
}

TEST(spills_of_all_kernels_of_a_log_are_added) {
  CHECK(nvrtc_spills("") == -1 && nvrtc_spills("ptxas info    : Used 32 registers") == -1, "unknown");
  CHECK(nvrtc_spills("    16 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads\n"
                     "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                     "    8 bytes stack frame, 100 bytes spill stores, 3 bytes spill loads\n") == 135,
        "sum");
}

// The text of fronts with panels of so many columns is compiled for an H200.
static int compile_fronts(Ceed ceed, int cols, bool is_ldlt, bool is_large, RitzDeviceCode *code) {
  const char *language = ritz_gpu_template("kernels/gpu/language.h");
  const char *fronts = ritz_gpu_template("kernels/gpu/front.h");
  const size_t length = strlen(language) + strlen(fronts) + 256;
  char *text = malloc(length);
  // What the language includes, the program's own text has in place of it.
  const char *include = strstr(language, "#include <ceed/types.h>");
  (void)snprintf(text, length,
                 "%.*stypedef double CeedScalar;\n%s\n#define RITZ_FRONT_COLS %d\n"
                 "#define RITZ_FRONT_IS_LDLT %d\n#define RITZ_FRONT_IS_LARGE %d\n%s",
                 (int)(include - language), language, strchr(include, '\n'), cols, is_ldlt, is_large, fronts);
  const int ierr = compile(ceed, "sm_90", text, code);
  free(text);
  return ierr;
}

TEST(kernels_of_fronts_keep_their_numbers_in_registers) {
  Ceed ceed;
  NEEDS_NVRTC();
  ceed = tap_ceed("/cpu/self/ref");
  for (int form = 0; form < 4 && !tap_failed(); form++) {
    RitzDeviceCode code = {0};
    CHECK_OK(compile_fronts(ceed, form == 3 ? 16 : 64, form > 0, form == 2, &code));
    CHECK(code.bytes && strstr(code.log, "front_forward"), "form %d: %s", form, code.log);
    CHECK(nvrtc_spills(code.log) == 0 && strstr(code.log, " 0 bytes stack frame"), "form %d: %s", form,
          code.log);
    ritz_device_code_free(&code);
  }
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  is_hidden = getenv("RITZ_TEST_HIDDEN") != NULL;
  return tap_main(
      argc, argv,
      TESTS(there_is_a_compiler_or_a_reason_in_one_line, without_a_compiler_nothing_is_raised,
            a_text_is_compiled_for_sm_80_and_sm_90, for_a_device_newer_than_the_compiler_there_is_PTX,
            an_architecture_older_than_the_compiler_knows_is_an_error,
            a_refused_text_has_a_log_with_name_and_line, a_log_names_the_file_of_a_line_mark,
            what_the_assembler_refuses_is_refused_with_a_log,
            functions_need_not_say_that_they_run_on_the_device, the_log_tells_registers_and_spills,
            a_text_that_is_compiled_hastily_has_code_and_a_log, spills_of_all_kernels_of_a_log_are_added,
            kernels_of_fronts_keep_their_numbers_in_registers));
}
