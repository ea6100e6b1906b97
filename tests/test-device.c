// SPDX-License-Identifier: BSD-2-Clause
// The drivers of devices (devices/device.h), each on the device that it chooses: memory, order, code,
// launches, and what is left of a device after a mistake. All numbers are integers that CeedScalar holds
// exactly.
#include "tests/tap.h"

#include <ritz.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/embedded.h"
#include "base/memory.h"
#include "base/threads.h"
#include "devices/device.h"

static const RitzDriver *const drivers[] = {&ritz_cuda, &ritz_opencl};
enum { NUM_DRIVERS = sizeof(drivers) / sizeof(drivers[0]) };

// ---- Texts ----

static const char kernels[] =
    "RITZ_KERNEL(64) all_kinds(int a, RitzLong n, CeedScalar s, const RITZ_GLOBAL CeedScalar *x,\n"
    "                          RITZ_GLOBAL CeedScalar *y, RITZ_GLOBAL CeedScalar *nothing, RitzLong big) {\n"
    "  RitzLong i = RITZ_ITEM;\n"
    "  if (i < n) y[i] = a * x[i] + s + (nothing ? 1000 : 0) + (CeedScalar)(big - 1099511627776);\n"
    "}\n"
    "RITZ_KERNEL(128) reverse_blocks(RITZ_GLOBAL CeedScalar *x) {\n"
    "  RITZ_SHARED_ARRAY CeedScalar block[128];\n"
    "  block[RITZ_THREAD] = x[RITZ_ITEM];\n"
    "  RITZ_BARRIER();\n"
    "  x[RITZ_BLOCK * 128 + RITZ_THREAD] = block[127 - RITZ_THREAD];\n"
    "}\n"
    "RITZ_KERNEL(64) grind(int n, int num_rounds, RITZ_GLOBAL CeedScalar *x) {\n"
    "  RitzLong i = RITZ_ITEM;\n"
    "  CeedScalar value = i < n ? x[i] : 0;\n"
    "  for (int k = 0; k < num_rounds; k++) value = value * (CeedScalar)0.5 + 4;\n" // ends at 8
    "  if (i < n) x[i] = value;\n"
    "}\n"
    "RITZ_KERNEL(256) add_all(RitzLong n, RITZ_GLOBAL CeedScalar *sums) {\n"
    "  RitzLong i = RITZ_ITEM;\n"
    "  if (i < n) ritz_atomic_add(&sums[i % 3], (CeedScalar)(i % 5 + 1));\n"
    "}\n";

// One block of 128 threads; COUNT is a multiple of 16.
static const char large_block[] =
    "typedef struct RITZ_ALIGN16 {\n"
    "  CeedScalar x[16 / sizeof(CeedScalar)];\n"
    "} Word;\n"
    "RITZ_TABLE CeedScalar factors[3] = {1, -2, 4};\n"
    "RITZ_KERNEL(128) reverse_large(RITZ_GLOBAL const CeedScalar *x, RITZ_GLOBAL CeedScalar *y) {\n"
    "  RITZ_SHARED_MEMORY(memory, COUNT);\n"
    "  const int width = 16 / sizeof(CeedScalar);\n"
    "  RITZ_SHARED Word *words = (RITZ_SHARED Word *)memory;\n"
    "  unsigned mask = RITZ_BALLOT(RITZ_THREAD >= 0);\n"
    "  for (int i = RITZ_THREAD; i < COUNT / width; i += 128) {\n"
    "    Word word;\n"
    "    for (int k = 0; k < width; k++)\n"
    "      word.x[k] = k ? RITZ_LOAD(x + width * i + k) : RITZ_LOAD_ONCE(x + width * i);\n"
    "    words[i] = word;\n"
    "  }\n"
    "  RITZ_FENCE(mask);\n"
    "  RITZ_BARRIER();\n"
    "  for (int i = RITZ_THREAD; i < COUNT; i += 128) y[i] = factors[i % 3] * memory[COUNT - 1 - i];\n"
    "}\n";

// A text that grows; it belongs to the test.
typedef struct {
  char *bytes;
  size_t num;
} Text;

static void append(Text *text, const char *bytes, size_t num) {
  text->bytes = realloc(text->bytes, text->num + num + 1);
  if (!text->bytes) abort();
  memcpy(text->bytes + text->num, bytes, num);
  text->num += num;
  text->bytes[text->num] = 0;
}

// A text inside the library, by the end of its name; NULL: there is none.
static const char *embedded(const RitzEmbeddedFile *files, size_t num, const char *name, size_t length) {
  for (size_t i = 0; i < num; i++) {
    const size_t n = strlen(files[i].name);
    if (n >= length && !strncmp(files[i].name + n - length, name, length))
      return (const char *)files[i].bytes;
  }
  return NULL;
}

// The lines of `from`, the headers of the library instead of the lines that include them.
static void expand(Text *text, const char *from) {
  for (const char *line = from, *end; *line; line = end) {
    end = line + strcspn(line, "\n");
    end += *end == '\n';
    const bool is_include = !strncmp(line, "#include", 8);
    const char *name = line + strcspn(line, "<\"\n") + 1;
    const char *header = NULL;
    if (is_include)
      header = embedded(ritz_embedded_files, ritz_num_embedded_files, name, strcspn(name, ">\"\n"));
    if (header)
      expand(text, header);
    else
      append(text, line, (size_t)(end - line));
  }
}

// language.h and the text after it, to be freed.
static char *with_language(const char *rest) {
  static const char name[] = "kernels/gpu/language.h";
  const char *language =
      embedded(ritz_embedded_templates, ritz_num_embedded_templates, name, sizeof(name) - 1);
  Text text = {0};

  if (!language) abort();
#ifdef CEED_SCALAR_IS_FP32
  expand(&text, "#define RITZ_SCALAR_F32\n");
#endif
  expand(&text, language);
  append(&text, rest, strlen(rest));
  return text.bytes;
}

// ---- Devices ----

// What a statement is checked on.
typedef struct {
  const RitzDriver *driver;
  RitzDevice device;
  const RitzDeviceInfo *info;
  Ceed ceed; // receives messages
} Machine;

static void run_on(const RitzDriver *driver, void (*body)(const Machine *)) {
  Machine m = {.driver = driver, .ceed = tap_ceed("/cpu/self/ref")};
  int index = -1, code = driver->choose(m.ceed, &index);

  if (!code) code = driver->open(m.ceed, index, &m.device);
  tap_check_ok(code, __FILE__, __LINE__, "the device opens");
  if (!code) {
    m.info = driver->info(m.device);
    body(&m);
  }
  CeedDestroy(&m.ceed);
}

static void on_each_device(void (*body)(const Machine *)) {
  const char *why[NUM_DRIVERS];
  int num = 0;

  for (int i = 0; i < NUM_DRIVERS && !tap_failed(); i++) {
    if (!drivers[i]->count(&why[i])) continue;
    run_on(drivers[i], body);
    num++;
  }
  if (!num) tap_skip("no device: %s; %s", why[0], why[1]);
}

#define TEST_EACH_DEVICE(name)                                                                               \
  static void name##_on(const Machine *m);                                                                   \
  TEST(name) { on_each_device(name##_on); }                                                                  \
  static void name##_on(const Machine *m)

// ---- Memory and programs: helpers that fail with the running test ----

static char *device_memory(const Machine *m, size_t num_bytes) {
  void *p = NULL;

  tap_check_ok(m->driver->alloc(m->ceed, m->device, num_bytes, &p), __FILE__, __LINE__,
               "memory for the test");
  return p;
}

static void release(const Machine *m, void *p) {
  if (p) tap_check_ok(m->driver->free(m->ceed, m->device, p), __FILE__, __LINE__, "memory is given back");
}

static int put(const Machine *m, size_t num_bytes, void *to, const void *from) {
  return m->driver->copy_in(m->ceed, m->device, NULL, num_bytes, to, from);
}

static int get(const Machine *m, size_t num_bytes, void *to, const void *from) {
  return m->driver->copy_out(m->ceed, m->device, NULL, num_bytes, to, from);
}

// Code of `kernels`, compiled once for each driver and kept to the end of the program.
static const Text *code_of_kernels(const Machine *m) {
  static Text kept[NUM_DRIVERS];
  Text *code = &kept[m->driver == drivers[0] ? 0 : 1];
  RitzDeviceCode made = {0};

  if (code->bytes) return code;
  char *text = with_language(kernels);
  const int ierr = m->driver->compile(m->ceed, m->device, "test-device", text, &made);
  if (tap_check_ok(ierr, __FILE__, __LINE__, "compile the kernels of the test") &&
      tap_check(made.bytes != NULL, __FILE__, __LINE__, "made.bytes", "refused: %s", made.log))
    append(code, made.bytes, made.num_bytes);
  ritz_device_code_free(&made);
  free(text);
  return code;
}

// A text behind language.h, loaded; NULL: a check has failed.
static RitzDeviceProgram load_text(const Machine *m, const char *text) {
  char *whole = with_language(text);
  RitzDeviceProgram program = NULL;
  RitzDeviceCode code = {0};

  int ierr = m->driver->compile(m->ceed, m->device, "test-device", whole, &code);
  if (!ierr && tap_check(code.bytes != NULL, __FILE__, __LINE__, "code.bytes", "refused: %s", code.log))
    ierr = m->driver->load(m->ceed, m->device, code.num_bytes, code.bytes, &program);
  tap_check_ok(ierr, __FILE__, __LINE__, "compile and load");
  ritz_device_code_free(&code);
  free(whole);
  return program;
}

// NULL: a check has failed.
static RitzDeviceProgram load_kernels(const Machine *m) {
  const Text *code = code_of_kernels(m);
  RitzDeviceProgram program = NULL;

  if (code->bytes)
    tap_check_ok(m->driver->load(m->ceed, m->device, code->num, code->bytes, &program), __FILE__, __LINE__,
                 "load the kernels of the test");
  return program;
}

static int unload(const Machine *m, RitzDeviceProgram *program) {
  return m->driver->unload(m->ceed, m->device, program);
}

// Queues blocks of `block` threads for n items.
static int launch(const Machine *m, RitzDeviceProgram program, const char *name, RitzDeviceStream stream,
                  int64_t n, int block, int num_args, const RitzDeviceArg *args) {
  RitzDeviceKernel kernel = NULL;
  const int code = m->driver->kernel(m->ceed, program, name, &kernel);

  return code ? code
              : m->driver->launch(m->ceed, kernel, stream, (n + block - 1) / block, block, 0, num_args, args);
}

static RitzDeviceArg pointer(const void *p) {
  return (RitzDeviceArg){.kind = RITZ_ARG_POINTER, .value.p = p};
}
static RitzDeviceArg integer(int32_t i) { return (RitzDeviceArg){.kind = RITZ_ARG_INT, .value.i = i}; }
static RitzDeviceArg wide(int64_t l) { return (RitzDeviceArg){.kind = RITZ_ARG_LONG, .value.l = l}; }
static RitzDeviceArg scalar(CeedScalar s) { return (RitzDeviceArg){.kind = RITZ_ARG_SCALAR, .value.s = s}; }

// y[i] = a x[i] + s + 3
static int launch_all_kinds(const Machine *m, RitzDeviceProgram program, int a, int64_t n, CeedScalar s,
                            const void *x, void *y) {
  const RitzDeviceArg args[] = {
      integer(a), wide(n), scalar(s), pointer(x), pointer(y), pointer(NULL), wide(((int64_t)1 << 40) + 3)};

  return launch(m, program, "all_kinds", NULL, n, 64, 7, args);
}

static int launch_grind(const Machine *m, RitzDeviceProgram program, RitzDeviceStream stream, int n,
                        int num_rounds, const void *x) {
  const RitzDeviceArg args[] = {integer(n), integer(num_rounds), pointer(x)};

  return launch(m, program, "grind", stream, n, 64, 3, args);
}

static double seconds(void) {
  struct timespec t;

  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fill_bytes(uint64_t *state, size_t num, unsigned char *bytes) {
  for (size_t i = 0; i < num; i++) bytes[i] = (unsigned char)tap_integer(state, 256);
}

// ---- What there is ----

TEST(a_driver_without_devices_says_why_in_one_line) {
  for (int i = 0; i < NUM_DRIVERS; i++) {
    const char *why, *again;
    const int num = drivers[i]->count(&why);

    CHECK(num >= 0, "%s: %d devices", drivers[i]->name, num);
    CHECK((num == 0) == (why != NULL), "%s: %d devices, reason '%s'", drivers[i]->name, num,
          why ? why : "none");
    CHECK(!why || (*why && !strchr(why, '\n')), "%s: '%s'", drivers[i]->name, why);
    CHECK(drivers[i]->count(&again) == num && again == why, "%s: another answer", drivers[i]->name);
    tap_note("%s: %d devices%s%s", drivers[i]->name, num, why ? ": " : "", why ? why : "");
  }
}

TEST_EACH_DEVICE(a_device_is_described_and_opened_once) {
  const RitzDeviceInfo *info = m->info;
  RitzDevice again = NULL;
  int64_t num_free = 0;

  tap_note("%s: %s, %s, %s", m->driver->name, info->name, info->arch, info->version);
  CHECK(info->driver == m->driver && info->index >= 0, "device %d", info->index);
  CHECK(*info->name && *info->arch && *info->version, "a word is missing");
  CHECK(info->num_bytes > 0 && info->num_units > 0 && info->warp_size > 0, "numbers");
  CHECK(info->max_threads >= 256 && info->shared_bytes >= 16384, "%d threads, %d bytes", info->max_threads,
        (int)info->shared_bytes);
  CHECK(info->dynamic_shared_bytes >= info->shared_bytes, "%d bytes", (int)info->dynamic_shared_bytes);
  CHECK_OK(m->driver->open(m->ceed, info->index, &again));
  CHECK(again == m->device, "a second device");
  CHECK_OK(m->driver->memory(m->ceed, m->device, &num_free));
  CHECK(num_free >= -1 && num_free <= info->num_bytes, "free memory");
}

// ---- Memory ----

// Bytes go in at an odd place, on to another one, and back; those around them stay.
static void check_round_trip(const Machine *m, size_t num, size_t skip, uint64_t *state) {
  const size_t total = num + 2 * skip;
  unsigned char *sent = malloc(3 * total), *found = sent + total, *wanted = found + total;
  char *x = device_memory(m, total), *y = device_memory(m, total);

  fill_bytes(state, total, sent);
  memset(wanted, 7, total);
  memcpy(wanted + skip, sent + skip, num);
  int code = put(m, total, x, sent);
  memset(found, 7, total);
  if (!code) code = put(m, total, y, found);
  if (!code) code = m->driver->copy(m->ceed, m->device, NULL, num, y + skip, x + skip);
  if (!code) code = get(m, total, found, y);
  tap_check_ok(code, __FILE__, __LINE__, "copies");
  tap_check(!memcmp(found, wanted, total), __FILE__, __LINE__, "memcmp", "within: %zu bytes", num);
  fill_bytes(state, num, sent);
  memcpy(wanted + skip, sent, num);
  code = put(m, num, y + skip, sent);
  memset(sent, 0, total);
  if (!code) code = get(m, total, found, y);
  if (!code) code = get(m, num, sent, y + skip);
  tap_check_ok(code, __FILE__, __LINE__, "copies of parts");
  tap_check(!memcmp(found, wanted, total), __FILE__, __LINE__, "memcmp", "in: %zu bytes", num);
  tap_check(!memcmp(sent, wanted + skip, num), __FILE__, __LINE__, "memcmp", "out: %zu bytes", num);
  release(m, x);
  release(m, y);
  free(sent);
}

TEST_EACH_DEVICE(copies_of_any_size_and_place_move_their_bytes_and_no_others) {
  static const size_t nums[] = {1, 3, 8, 127, 256, 1001, 65537, 1000003};
  uint64_t state = 1;

  for (size_t i = 0; i < sizeof(nums) / sizeof(nums[0]) && !tap_failed(); i++) {
    check_round_trip(m, nums[i], 0, &state);
    check_round_trip(m, nums[i], 13, &state);
  }
}

TEST_EACH_DEVICE(clearing_sets_the_bytes_asked_for_to_zero_and_no_others) {
  enum { TOTAL = 5000 };
  static const size_t parts[][2] = {{0, TOTAL}, {0, 1}, {8, 800}, {3, 17}, {4096, 904}, {4999, 1}};
  unsigned char bytes[TOTAL];
  char *x = device_memory(m, TOTAL);

  for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !tap_failed(); i++) {
    const size_t first = parts[i][0], num = parts[i][1];
    int num_wrong = 0;

    memset(bytes, 5, TOTAL);
    CHECK_OK(put(m, TOTAL, x, bytes));
    CHECK_OK(m->driver->clear(m->ceed, m->device, NULL, num, x + first));
    CHECK_OK(get(m, TOTAL, bytes, x));
    for (size_t k = 0; k < TOTAL; k++) num_wrong += bytes[k] != (k >= first && k < first + num ? 0 : 5);
    CHECK(num_wrong == 0, "%zu bytes at %zu: %d wrong", num, first, num_wrong);
  }
  release(m, x);
}

// Whether an address is found to be in the allocation of at least `num` bytes at `start`.
static bool is_found(const Machine *m, const char *p, const char *start, size_t num) {
  void *found;
  size_t num_found;

  m->driver->find(m->device, p, &found, &num_found);
  return found == start && num_found >= num;
}

static bool is_foreign(const Machine *m, const void *p) {
  void *found;
  size_t num_found;

  m->driver->find(m->device, p, &found, &num_found);
  return !found;
}

TEST_EACH_DEVICE(addresses_are_known_while_their_memory_is) {
  enum { NUM = 60 };
  uint64_t state = 3;
  char *p[NUM];
  size_t num[NUM];
  int here = 0;

  for (int i = 0; i < NUM; i++) {
    num[i] = (size_t)tap_integer(&state, 20000) + 1;
    p[i] = device_memory(m, num[i]);
    CHECK(p[i] && (uintptr_t)p[i] % 256 == 0, "allocation %d at %p", i, (void *)p[i]);
  }
  for (int k = 0; k < NUM; k++) { // in no order
    const int i = (k * 37 + 11) % NUM;
    CHECK(is_found(m, p[i], p[i], num[i]) && is_found(m, p[i] + num[i] - 1, p[i], num[i]) &&
              is_found(m, p[i] + num[i] / 2, p[i], num[i]),
          "allocation %d of %zu bytes", i, num[i]);
    release(m, p[i]);
    CHECK(is_foreign(m, p[i]) && is_foreign(m, p[i] + num[i] - 1), "allocation %d is freed", i);
  }
  CHECK(is_foreign(m, &here) && is_foreign(m, NULL), "memory of the host");
}

// ---- Kernels ----

static void check_all_kinds(const Machine *m, RitzDeviceProgram program, int n) {
  const size_t num_bytes = (size_t)n * sizeof(CeedScalar), inside = 1024;
  CeedScalar *x = malloc(num_bytes + sizeof(CeedScalar));
  char *memory = device_memory(m, 2 * inside + 2 * (num_bytes / 1024 + 1) * 1024);
  char *from = memory + inside, *to = from + (num_bytes / 1024 + 1) * 1024;
  int num_wrong = 0;

  for (int i = 0; i < n; i++) x[i] = i % 100;
  int code = put(m, num_bytes, from, x);
  x[n] = 77;
  if (!code) code = put(m, sizeof(CeedScalar), to + num_bytes, &x[n]);
  if (!code) code = launch_all_kinds(m, program, -2, n, 5, from, to);
  if (!code) code = get(m, num_bytes + sizeof(CeedScalar), x, to);
  tap_check_ok(code, __FILE__, __LINE__, "launch");
  for (int i = 0; i < n; i++) num_wrong += x[i] != -2 * (i % 100) + 5 + 3;
  tap_check(num_wrong == 0 && x[n] == 77, __FILE__, __LINE__, "values", "%d of %d wrong, the next is %g",
            num_wrong, n, (double)x[n]);
  release(m, memory);
  free(x);
}

TEST_EACH_DEVICE(kernels_get_arguments_of_all_kinds_and_addresses_inside_of_allocations) {
  static const int nums[] = {1, 63, 64, 65, 1000, 100001};
  RitzDeviceProgram program = load_kernels(m);

  for (size_t i = 0; i < sizeof(nums) / sizeof(nums[0]) && !tap_failed(); i++)
    check_all_kinds(m, program, nums[i]);
  CHECK_OK(unload(m, &program));
}

TEST_EACH_DEVICE(threads_of_a_block_share_memory) {
  enum { NUM = 20 * 128 };
  CeedScalar values[NUM];
  RitzDeviceProgram program = load_kernels(m);
  RitzDeviceKernel kernel, again;
  RitzDeviceKernelInfo info;
  char *x = device_memory(m, sizeof(values));
  const RitzDeviceArg args[] = {pointer(x)};

  for (int i = 0; i < NUM; i++) values[i] = i;
  CHECK(program, "no program");
  CHECK_OK(m->driver->kernel(m->ceed, program, "reverse_blocks", &kernel));
  CHECK_OK(m->driver->kernel(m->ceed, program, "reverse_blocks", &again));
  CHECK(kernel == again, "a kernel is kept");
  CHECK_OK(m->driver->kernel_info(m->ceed, kernel, &info));
  CHECK(info.max_threads >= 128 && info.shared_bytes >= (int64_t)(128 * sizeof(CeedScalar)),
        "%d threads, %d bytes", info.max_threads, (int)info.shared_bytes);
  CHECK_OK(put(m, sizeof(values), x, values));
  CHECK_OK(m->driver->launch(m->ceed, kernel, NULL, NUM / 128, 128, 0, 1, args));
  CHECK_OK(get(m, sizeof(values), values, x));
  for (int i = 0; i < NUM; i++)
    CHECK(values[i] == i / 128 * 128 + 127 - i % 128, "entry %d is %g", i, (double)values[i]);
  release(m, x);
  CHECK_OK(unload(m, &program));
}

TEST_EACH_DEVICE(a_block_may_have_all_the_memory_that_the_device_tells) {
  const int count = (int)((m->info->dynamic_shared_bytes - 1024) / 16 * 16 / (int)sizeof(CeedScalar));
  const size_t num_bytes = (size_t)count * sizeof(CeedScalar);
  char text[sizeof(large_block) + 64];
  CeedScalar *values = malloc(num_bytes);
  RitzDeviceKernel kernel;
  RitzDeviceKernelInfo info;
  char *x = device_memory(m, num_bytes), *y = device_memory(m, num_bytes);
  const RitzDeviceArg args[] = {pointer(x), pointer(y)};
  int num_wrong = 0;

  tap_note("%s: %d bytes", m->driver->name, (int)num_bytes);
  snprintf(text, sizeof(text), "#define COUNT %d\n%s", count, large_block);
  RitzDeviceProgram program = load_text(m, text);
  CHECK(program && x && y, "no program or memory");
  CHECK_OK(m->driver->kernel(m->ceed, program, "reverse_large", &kernel));
  CHECK_OK(m->driver->kernel_info(m->ceed, kernel, &info));
  for (int i = 0; i < count; i++) values[i] = i;
  CHECK_OK(put(m, num_bytes, x, values));
  CHECK_OK(m->driver->launch(m->ceed, kernel, NULL, 1, 128, (int64_t)num_bytes, 2, args));
  CHECK_OK(get(m, num_bytes, values, y));
  for (int i = 0; i < count; i++)
    num_wrong += values[i] != (i % 3 ? i % 3 == 1 ? -2 : 4 : 1) * (count - 1 - i);
  CHECK(num_wrong == 0, "%d of %d wrong", num_wrong, count);
  CHECK_ERROR(m->ceed,
              m->driver->launch(m->ceed, kernel, NULL, 1, 128, m->info->dynamic_shared_bytes + 16, 2, args),
              CEED_ERROR_BACKEND, "kernel 'reverse_large'");
  CHECK_OK(m->driver->launch(m->ceed, kernel, NULL, 1, 128, (int64_t)num_bytes, 2, args));
  CHECK_OK(m->driver->synchronize(m->ceed, m->device, NULL));
  release(m, x);
  release(m, y);
  CHECK_OK(unload(m, &program));
  free(values);
}

// x has 4 in its first n entries, zeros up to num_cleared, then what was there.
static void check_cleared(const Machine *m, RitzDeviceKernel kernel, RitzDeviceStream stream, int num_cleared,
                          int n, char *x, RitzDeviceReplay *replay) {
  enum { NUM = 1000 };
  CeedScalar values[NUM];
  const RitzDeviceArg args[] = {integer(n), integer(1), pointer(x)};
  int num_wrong = 0;

  for (int i = 0; i < NUM; i++) values[i] = 9;
  int code = m->driver->copy_in(m->ceed, m->device, stream, sizeof(values), x, values);
  if (!code)
    code = m->driver->launch_cleared(m->ceed, kernel, stream, (size_t)num_cleared * sizeof(CeedScalar), x,
                                     (n + 63) / 64, 64, 0, 3, args, replay);
  if (!code) code = m->driver->copy_out(m->ceed, m->device, stream, sizeof(values), values, x);
  tap_check_ok(code, __FILE__, __LINE__, "launch_cleared");
  for (int i = 0; i < NUM; i++) num_wrong += values[i] != (i < n ? 4 : i < num_cleared ? 0 : 9);
  tap_check(num_wrong == 0, __FILE__, __LINE__, "values", "%d of %d wrong for %d and %d", num_wrong, NUM, n,
            num_cleared);
}

TEST_EACH_DEVICE(repeated_launches_clear_and_compute_with_their_own_arguments) {
  static const int sizes[][2] = {{1000, 1000}, {1000, 1000}, {1000, 1000}, {1000, 500},  {800, 500},
                                 {800, 500},   {7, 1},       {1000, 999},  {1000, 1000}, {999, 3}};
  RitzDeviceProgram program = load_kernels(m);
  RitzDeviceKernel kernel;
  RitzDeviceStream streams[2] = {NULL, NULL};
  RitzDeviceReplay replay = NULL;
  char *x[] = {device_memory(m, 1000 * sizeof(CeedScalar)), device_memory(m, 1000 * sizeof(CeedScalar))};

  CHECK(program && x[0] && x[1], "no program or memory");
  CHECK_OK(m->driver->kernel(m->ceed, program, "grind", &kernel));
  CHECK_OK(m->driver->stream_create(m->ceed, m->device, &streams[1]));
  for (int k = 0; k < 40 && !tap_failed(); k++) {
    const int *size = sizes[k % 10];
    check_cleared(m, kernel, streams[k / 10 % 2], size[0], size[1], x[k / 20 ? k % 2 : 0], &replay);
  }
  CHECK_OK(m->driver->replay_destroy(m->ceed, m->device, &replay));
  CHECK(!replay, "a handle of what is gone");
  CHECK_OK(m->driver->stream_destroy(m->ceed, m->device, streams[1]));
  for (int i = 0; i < 2; i++) release(m, x[i]);
  CHECK_OK(unload(m, &program));
}

// NUM_CALLS times clearing and a small kernel: plainly, repeated, or with arguments that change. In seconds
// of a call.
static int time_small(const Machine *m, RitzDeviceKernel kernel, int how, int n, char *x,
                      RitzDeviceReplay *replay, double *time) {
  enum { NUM_CALLS = 1000 };
  const size_t num_bytes = (size_t)n * sizeof(CeedScalar);
  int code = m->driver->synchronize(m->ceed, m->device, NULL);
  const double start = seconds();

  for (int k = 0; k < NUM_CALLS && !code; k++) {
    const RitzDeviceArg args[] = {integer(how == 2 ? n - k % 2 : n), integer(1), pointer(x)};
    if (how) {
      code = m->driver->launch_cleared(m->ceed, kernel, NULL, num_bytes, x, (n + 63) / 64, 64, 0, 3, args,
                                       replay);
    } else {
      code = m->driver->clear(m->ceed, m->device, NULL, num_bytes, x);
      if (!code) code = m->driver->launch(m->ceed, kernel, NULL, (n + 63) / 64, 64, 0, 3, args);
    }
  }
  if (!code) code = m->driver->synchronize(m->ceed, m->device, NULL);
  *time = (seconds() - start) / NUM_CALLS;
  return code;
}

TEST_EACH_DEVICE(a_thousand_repeated_launches_leave_the_result_of_the_last) {
  enum { NUM = 640 };
  CeedScalar values[NUM];
  RitzDeviceProgram program = load_kernels(m);
  RitzDeviceKernel kernel;
  RitzDeviceReplay replay = NULL;
  char *x = device_memory(m, sizeof(values));
  double times[3] = {0};

  CHECK(program && x, "no program or memory");
  CHECK_OK(m->driver->kernel(m->ceed, program, "grind", &kernel));
  for (int how = 0; how < 3; how++) {
    CHECK_OK(time_small(m, kernel, how, NUM, x, &replay, &times[how]));
    CHECK_OK(get(m, sizeof(values), values, x));
    for (int i = 0; i < NUM; i++)
      CHECK(values[i] == (how == 2 && i == NUM - 1 ? 0 : 4), "entry %d is %g", i, (double)values[i]);
  }
  tap_note(
      "%s: %.1f us for clearing and a small kernel, %.1f us repeated, %.1f us with arguments that change",
      m->driver->name, 1e6 * times[0], 1e6 * times[1], 1e6 * times[2]);
  CHECK_OK(m->driver->replay_destroy(m->ceed, m->device, &replay));
  release(m, x);
  CHECK_OK(unload(m, &program));
}

TEST_EACH_DEVICE(additions_of_many_threads_to_one_number_are_all_counted) {
  enum { NUM = 100000 };
  CeedScalar sums[3], wanted[3] = {0};
  RitzDeviceProgram program = NULL;
  char *x = NULL;

  if (!m->info->adds_atomically) {
    NOT_HERE("the device has no atomic additions");
  }
  program = load_kernels(m);
  x = device_memory(m, sizeof(sums));
  for (int i = 0; i < NUM; i++) wanted[i % 3] += i % 5 + 1;
  const RitzDeviceArg args[] = {wide(NUM), pointer(x)};
  CHECK_OK(m->driver->clear(m->ceed, m->device, NULL, sizeof(sums), x));
  CHECK_OK(launch(m, program, "add_all", NULL, NUM, 256, 2, args));
  CHECK_OK(get(m, sizeof(sums), sums, x));
  for (int i = 0; i < 3; i++)
    CHECK(sums[i] == wanted[i], "sum %d: %g, not %g", i, (double)sums[i], (double)wanted[i]);
  release(m, x);
  CHECK_OK(unload(m, &program));
}

// ---- Order ----

// A stream works for a while; another one waits for its event, then copies what it has made.
TEST_EACH_DEVICE(a_stream_that_waits_for_an_event_sees_what_came_before_it) {
  enum { NUM = 256, NUM_ROUNDS = 300000 };
  CeedScalar values[NUM] = {0};
  RitzDeviceProgram program = load_kernels(m);
  RitzDeviceStream streams[2];
  RitzDeviceEvent begin, end;
  char *x = device_memory(m, sizeof(values)), *y = device_memory(m, sizeof(values));
  double elapsed = -1;

  CHECK(program && x && y, "no program or memory");
  for (int i = 0; i < 2; i++) CHECK_OK(m->driver->stream_create(m->ceed, m->device, &streams[i]));
  CHECK_OK(m->driver->event_create(m->ceed, m->device, &begin));
  CHECK_OK(m->driver->event_create(m->ceed, m->device, &end));
  CHECK_OK(put(m, sizeof(values), x, values));
  const double start = seconds();
  CHECK_OK(m->driver->event_record(m->ceed, m->device, streams[0], begin));
  CHECK_OK(launch_grind(m, program, streams[0], NUM, NUM_ROUNDS, x));
  CHECK_OK(m->driver->event_record(m->ceed, m->device, streams[0], end));
  CHECK_OK(m->driver->event_wait(m->ceed, m->device, streams[1], end));
  CHECK_OK(m->driver->copy(m->ceed, m->device, streams[1], sizeof(values), y, x));
  CHECK_OK(m->driver->copy_out(m->ceed, m->device, streams[1], sizeof(values), values, y));
  for (int i = 0; i < NUM; i++) CHECK(values[i] == 8, "entry %d is %g", i, (double)values[i]);
  CHECK_OK(m->driver->event_elapsed(m->ceed, m->device, begin, end, &elapsed));
  const double waited = seconds() - start;
  tap_note("%s: %g seconds between the events, %g of the host", m->driver->name, elapsed, waited);
  CHECK(elapsed > 0 && elapsed <= 1.01 * waited + 1e-4, "%g seconds", elapsed); // two clocks
  CHECK_OK(m->driver->event_record(m->ceed, m->device, streams[0], begin));     // anew
  CHECK_OK(m->driver->event_destroy(m->ceed, m->device, &begin));
  CHECK_OK(m->driver->event_destroy(m->ceed, m->device, &end));
  for (int i = 0; i < 2; i++) {
    CHECK_OK(m->driver->synchronize(m->ceed, m->device, streams[i]));
    CHECK_OK(m->driver->stream_destroy(m->ceed, m->device, streams[i]));
  }
  release(m, x);
  release(m, y);
  CHECK_OK(unload(m, &program));
}

TEST_EACH_DEVICE(memory_may_be_freed_while_work_on_it_is_queued) {
  enum { NUM = 256, NUM_ROUNDS = 100000 };
  CeedScalar values[NUM] = {0};
  RitzDeviceProgram program = load_kernels(m);
  char *y = device_memory(m, sizeof(values));

  for (int k = 0; k < 4; k++) {
    char *x = device_memory(m, sizeof(values));
    CHECK_OK(put(m, sizeof(values), x, values));
    CHECK_OK(launch_grind(m, program, NULL, NUM, NUM_ROUNDS, x));
    CHECK_OK(
        m->driver->copy(m->ceed, m->device, NULL, sizeof(values) / 4, y + (size_t)k * sizeof(values) / 4, x));
    release(m, x);
  }
  CHECK_OK(get(m, sizeof(values), values, y));
  for (int i = 0; i < NUM; i++) CHECK(values[i] == 8, "entry %d is %g", i, (double)values[i]);
  release(m, y);
  CHECK_OK(unload(m, &program));
}

// ---- Code ----

// Whether the device still computes.
static void check_usable(const Machine *m) {
  RitzDeviceProgram program = load_kernels(m);

  if (program) check_all_kinds(m, program, 100);
  tap_check_ok(unload(m, &program), __FILE__, __LINE__, "unload");
}

// "name:7:" or "name(7)", as compilers write it.
static bool names_line(const char *log, const char *name, int line) {
  char places[2][64];

  snprintf(places[0], sizeof(places[0]), "%s:%d:", name, line);
  snprintf(places[1], sizeof(places[1]), "%s(%d)", name, line);
  return strstr(log, places[0]) || strstr(log, places[1]);
}

// OpenCL does not say that compilers must heed #line; NVIDIA's does not.
static int heeds_line(const Machine *m) {
  return m->driver == &ritz_cuda || strstr(m->driver->info(m->device)->version, "PoCL");
}

TEST_EACH_DEVICE(a_refused_text_leaves_a_log_with_file_and_line) {
  static const char own[] = "RITZ_KERNEL(64) f(int n) {\n  n = nonsense;\n}\n";
  static const char marked[] = "#line 70 \"folder/user.h\"\nRITZ_KERNEL(64) f(int n) { n = nonsense; }\n";
  RitzDeviceCode code;

  CHECK_OK(
      m->driver->compile(m->ceed, m->device, "plain-text", "\n\nint f(int n) { return nonsense; }\n", &code));
  CHECK(!code.bytes && code.log && strstr(code.log, "nonsense"), "log: %s", code.log);
  CHECK(!heeds_line(m) || names_line(code.log, "plain-text", 3), "log: %s", code.log);
  ritz_device_code_free(&code);
  for (int i = 0; i < 2; i++) {
    char *text = with_language(i ? marked : own);
    const int ierr = m->driver->compile(m->ceed, m->device, "test-text", text, &code);
    free(text);
    CHECK_OK(ierr);
    CHECK(!code.bytes && strstr(code.log, "nonsense"), "log: %s", code.log);
    CHECK(i == 0 || !heeds_line(m) || names_line(code.log, "folder/user.h", 70), "log: %s", code.log);
    ritz_device_code_free(&code);
    CHECK(!code.log, "freed");
  }
  check_usable(m);
}

TEST_EACH_DEVICE(code_is_bytes_that_can_be_loaded_often) {
  RitzDeviceProgram programs[2] = {load_kernels(m), load_kernels(m)};

  CHECK(programs[0] && programs[1] && programs[0] != programs[1], "two programs");
  for (int i = 0; i < 2 && !tap_failed(); i++) check_all_kinds(m, programs[i], 1000);
  CHECK_OK(unload(m, &programs[0]));
  CHECK(!programs[0], "the handle is gone");
  if (!tap_failed()) check_all_kinds(m, programs[1], 1000);
  CHECK_OK(unload(m, &programs[1]));
}

TEST_EACH_DEVICE(bytes_that_are_no_code_are_refused) {
  char bytes[4096];
  RitzDeviceProgram program;

  memset(bytes, 'x', sizeof(bytes));
  bytes[sizeof(bytes) - 1] = 0;
  CHECK_ERROR(m->ceed, m->driver->load(m->ceed, m->device, sizeof(bytes), bytes, &program),
              CEED_ERROR_BACKEND, m->driver == &ritz_cuda ? "cuModuleLoadData: " : "4096 bytes: ");
  CHECK(!program, "a program");
  check_usable(m);
}

// ---- Mistakes ----

TEST_EACH_DEVICE(a_kernel_that_is_not_there_is_named) {
  RitzDeviceProgram program = load_kernels(m);
  RitzDeviceKernel kernel;

  CHECK(program, "no program");
  CHECK_ERROR(m->ceed, m->driver->kernel(m->ceed, program, "no_such", &kernel), CEED_ERROR_BACKEND,
              "'no_such'");
  check_all_kinds(m, program, 100);
  CHECK_OK(unload(m, &program));
}

TEST_EACH_DEVICE(memory_that_is_not_there_is_said_with_its_size) {
  void *p = &p;

  CHECK_ERROR(m->ceed, m->driver->alloc(m->ceed, m->device, (size_t)1 << 50, &p), CEED_ERROR_MAJOR,
              "1125899906842624 bytes wanted");
  CHECK(!p, "an address");
  check_usable(m);
}

TEST_EACH_DEVICE(memory_of_others_is_not_freed) {
  char *x = device_memory(m, 1000);
  int here = 0;

  CHECK_ERROR(m->ceed, m->driver->free(m->ceed, m->device, &here), CEED_ERROR_BACKEND, ": ");
  CHECK_ERROR(m->ceed, m->driver->free(m->ceed, m->device, x + 256), CEED_ERROR_BACKEND, ": ");
  release(m, x);
  CHECK_ERROR(m->ceed, m->driver->free(m->ceed, m->device, x), CEED_ERROR_BACKEND, ": ");
  check_usable(m);
}

// 0: all that a forked child asks for is refused, and it can give back what it has.
static int use_in_child(const Machine *m, char *x) {
  char bytes[8] = {0};
  void *p = NULL;

  CeedSetErrorHandler(m->ceed, CeedErrorStore);
  alarm(30);
  if (!m->driver->copy_out(m->ceed, m->device, NULL, sizeof(bytes), bytes, x)) return 1;
  if (!m->driver->copy_in(m->ceed, m->device, NULL, sizeof(bytes), x, bytes)) return 2;
  if (!m->driver->alloc(m->ceed, m->device, 100, &p)) return 3;
  if (!m->driver->synchronize(m->ceed, m->device, NULL)) return 4;
  return m->driver->free(m->ceed, m->device, x) ? 5 : 0;
}

TEST_EACH_DEVICE(a_forked_child_gets_errors_and_its_parent_goes_on) {
  char *x = device_memory(m, 1000);
  int status = -1;
  const pid_t child = fork();

  if (child == 0) _exit(use_in_child(m, x));
  CHECK(child > 0 && waitpid(child, &status, 0) == child, "no child");
  CHECK(status == 0, "the child ends with %d (signal %d)", status >> 8, status & 127);
  release(m, x);
  check_usable(m);
}

TEST_EACH_DEVICE(blocks_larger_than_declared_are_refused) {
  RitzDeviceProgram program = load_kernels(m);
  char *x = device_memory(m, 128 * sizeof(CeedScalar));
  const RitzDeviceArg args[] = {integer(128), integer(1), pointer(x)};

  CHECK(program && x, "no program or memory");
  CHECK_ERROR(m->ceed, launch(m, program, "grind", NULL, 128, 128, 3, args), CEED_ERROR_BACKEND,
              "kernel 'grind'");
  release(m, x);
  CHECK_OK(unload(m, &program));
  check_usable(m);
}

// CUDA has no such bounds: any address can be a kernel's argument or, on some machines, be copied to.
static void check_addresses(const Machine *m) {
  RitzDeviceProgram program = load_kernels(m);
  char *x = device_memory(m, 1000), here[8] = {0};
  const RitzDeviceArg args[] = {integer(1), integer(1), pointer(x + 8)};
  const RitzDeviceArg foreign[] = {integer(1), integer(1), pointer(here)};

  CHECK(program && x, "no program or memory");
  CHECK_ERROR(m->ceed, put(m, 8, here, here), CEED_ERROR_BACKEND, "no memory of this device");
  CHECK_ERROR(m->ceed, put(m, 8, x + 993, here), CEED_ERROR_BACKEND,
              "8 bytes at byte 993 of an allocation of 1000");
  CHECK_ERROR(m->ceed, launch(m, program, "grind", NULL, 1, 64, 3, args), CEED_ERROR_BACKEND,
              "needs a multiple of");
  CHECK_ERROR(m->ceed, launch(m, program, "grind", NULL, 1, 64, 3, foreign), CEED_ERROR_BACKEND,
              "argument 2: ");
  CHECK_ERROR(m->ceed, launch(m, program, "grind", NULL, 1, 64, 2, args), CEED_ERROR_BACKEND,
              "has 3 arguments");
  CHECK_ERROR(m->ceed, launch(m, program, "grind", NULL, 1, 32, 3, args), CEED_ERROR_BACKEND,
              "blocks of 64 threads");
  release(m, x);
  CHECK_OK(unload(m, &program));
  check_usable(m);
}

TEST(opencl_refuses_addresses_that_it_has_no_name_for) {
  const char *why;

  if (!ritz_opencl.count(&why)) SKIP("%s", why);
  run_on(&ritz_opencl, check_addresses);
}

// ---- Lack of memory on the host ----

static int load_and_launch(const Machine *m, const Text *code) {
  RitzDeviceProgram program = NULL;
  void *x = NULL;
  int ierr = m->driver->alloc(m->ceed, m->device, 64 * sizeof(CeedScalar), &x);

  if (!ierr) ierr = m->driver->load(m->ceed, m->device, code->num, code->bytes, &program);
  if (!ierr) ierr = launch_grind(m, program, NULL, 64, 1, x);
  if (program) unload(m, &program);
  if (x) m->driver->free(m->ceed, m->device, x);
  return ierr;
}

TEST_EACH_DEVICE(a_lack_of_memory_on_the_host_leaves_nothing_behind) {
  const Text *code = code_of_kernels(m);
  const int64_t num_live = ritz_memory_live();
  int num_failures = 0, ierr = CEED_ERROR_MAJOR;

  CHECK(code->bytes, "no code");
  for (; ierr; num_failures++) {
    ritz_memory_fail_at(num_failures + 1);
    ierr = load_and_launch(m, code);
    ritz_memory_fail_at(0);
    CHECK(!ierr || ierr == CEED_ERROR_MAJOR, "allocation %d: code %d", num_failures + 1, ierr);
    CHECK(ritz_memory_live() == num_live, "allocation %d: memory is left", num_failures + 1);
  }
  CHECK(num_failures > 2, "%d allocations", num_failures - 1);
  check_usable(m);
}

// ---- Threads ----

enum { NUM_THREADS = 4, NUM_ENTRIES = 1000 };

typedef struct {
  const Machine *m;
  RitzDeviceProgram program; // shared, as are its kernels
  Ceed ceeds[NUM_THREADS];
  int num_wrong[NUM_THREADS];
} Shared;

// Memory comes and goes; each launch has other arguments than those of the other threads.
static int launch_once(const Machine *m, RitzDeviceProgram program, int number, int *num_wrong) {
  CeedScalar x[NUM_ENTRIES];
  void *from = NULL, *to = NULL;
  int code = m->driver->alloc(m->ceed, m->device, sizeof(x), &from);

  for (int i = 0; i < NUM_ENTRIES; i++) x[i] = i;
  if (!code) code = m->driver->alloc(m->ceed, m->device, sizeof(x), &to);
  if (!code) code = put(m, sizeof(x), from, x);
  if (!code) code = launch_all_kinds(m, program, number, NUM_ENTRIES, number + 1, from, to);
  if (!code) code = get(m, sizeof(x), x, to);
  for (int i = 0; i < NUM_ENTRIES; i++) *num_wrong += x[i] != number * i + number + 4;
  if (from && !code) code = m->driver->free(m->ceed, m->device, from);
  if (to && !code) code = m->driver->free(m->ceed, m->device, to);
  return code;
}

static int run_thread(void *data, int thread) {
  Shared *s = data;
  Machine m = *s->m;
  int code = 0;

  m.ceed = s->ceeds[thread];
  for (int k = 0; k < 50 && !code; k++)
    code = launch_once(&m, s->program, 100 * thread + k, &s->num_wrong[thread]);
  return code;
}

TEST_EACH_DEVICE(threads_that_launch_one_kernel_at_once_get_their_own_results) {
  Shared shared = {.m = m, .program = load_kernels(m)};
  RitzTeam team = NULL;

  CHECK(shared.program, "no program");
  for (int i = 0; i < NUM_THREADS; i++) shared.ceeds[i] = tap_ceed("/cpu/self/ref");
  CHECK_OK(ritz_team_create(m->ceed, NUM_THREADS, &team));
  CHECK_OK(ritz_team_run(team, run_thread, &shared));
  ritz_team_destroy(&team);
  for (int i = 0; i < NUM_THREADS; i++) {
    CeedDestroy(&shared.ceeds[i]);
    CHECK(shared.num_wrong[i] == 0, "thread %d: %d wrong", i, shared.num_wrong[i]);
  }
  CHECK_OK(unload(m, &shared.program));
}

// ---- The end of the process ----

// Work that nobody waits for: it must not harm a process that ends, as the status of this one shows.
static void leave_work(const Machine *m) {
  // Known to the end, for those who look for lost memory; volatile, or compilers drop it.
  static RitzDeviceProgram volatile programs[NUM_DRIVERS];
  RitzDeviceProgram volatile *program = &programs[m->driver == drivers[0] ? 0 : 1];
  char *x = device_memory(m, 256 * sizeof(CeedScalar));

  *program = load_kernels(m);
  if (*program && x) CHECK_OK(launch_grind(m, *program, NULL, 256, 300000, x));
}

int main(int argc, char **argv) {
  const int status = tap_main(
      argc, argv,
      TESTS(a_driver_without_devices_says_why_in_one_line, a_device_is_described_and_opened_once,
            copies_of_any_size_and_place_move_their_bytes_and_no_others,
            clearing_sets_the_bytes_asked_for_to_zero_and_no_others,
            addresses_are_known_while_their_memory_is,
            kernels_get_arguments_of_all_kinds_and_addresses_inside_of_allocations,
            threads_of_a_block_share_memory, a_block_may_have_all_the_memory_that_the_device_tells,
            repeated_launches_clear_and_compute_with_their_own_arguments,
            a_thousand_repeated_launches_leave_the_result_of_the_last,
            additions_of_many_threads_to_one_number_are_all_counted,
            a_stream_that_waits_for_an_event_sees_what_came_before_it,
            memory_may_be_freed_while_work_on_it_is_queued, a_refused_text_leaves_a_log_with_file_and_line,
            code_is_bytes_that_can_be_loaded_often, bytes_that_are_no_code_are_refused,
            a_kernel_that_is_not_there_is_named, memory_that_is_not_there_is_said_with_its_size,
            memory_of_others_is_not_freed, a_forked_child_gets_errors_and_its_parent_goes_on,
            blocks_larger_than_declared_are_refused, opencl_refuses_addresses_that_it_has_no_name_for,
            a_lack_of_memory_on_the_host_leaves_nothing_behind,
            threads_that_launch_one_kernel_at_once_get_their_own_results));

  on_each_device(leave_work);
  return status;
}
