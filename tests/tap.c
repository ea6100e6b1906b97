// SPDX-License-Identifier: BSD-2-Clause
// The test harness behind tests/tap.h: runs tests, prints TAP, counts, and cleans up after them.
// Linked into ritz-tests. Leaves the verdict on a whole run to ctest, which reads the exit status.
#include "tests/tap.h"

#include "base/memory.h"
#include <ftw.h>
#include <math.h>
#include <ritz/version.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// Every backend that must pass every test; a later backend adds a line. Those of devices only where there is
// one.
static const struct {
  const char *resource;
  bool needs_device;
} all_backends[] = {
    {"/cpu/self/gen", false},   {"/cpu/self/ref", false},
    {"/cpu/self/check", false}, {"/cpu/self/check:mem=device", false},
    {"/gpu/cuda/gen", true},    {"/gpu/cuda/ref", true},
    {"/gpu/cuda/shared", true}, {"/gpu/opencl/gen", true},
    {"/gpu/opencl/ref", true},  {"/gpu/opencl/shared", true},
};
enum { NUM_ALL_BACKENDS = sizeof(all_backends) / sizeof(all_backends[0]) };

// Those of this run.
static const char *backends[NUM_ALL_BACKENDS];
static size_t num_backends;

typedef enum { PASSED, SKIPPED, FAILED } Outcome;

// The test that runs now.
static struct {
  Outcome outcome;
  atomic_int num_checks; // made, or left out with a reason
  char skip_reason[256];
  char error[1200]; // last message raised in a context of tap_ceed
  double start;     // seconds of the monotonic clock
} current;

// The run as a whole: lines printed, and how many of them ended how.
static struct { int num_lines, num_outcomes[3]; } run;

static void bail_out(const char *what, const char *detail) {
  printf("Bail out! %s: %s\n", what, detail);
  exit(1);
}

// ---- Backends ----

// Why a backend of a device is not there, in one line; NULL: it is.
static const char *why_missing(const char *resource) {
  CeedInt num = 0;
  RitzBackendInfo info;

  RitzGetNumBackends(&num);
  for (CeedInt i = 0; i < num && !RitzGetBackendInfo(i, &info); i++) {
    if (!strcmp(info.resource, resource)) return info.usable ? NULL : info.reason;
  }
  return "not in this version";
}

static bool is_missing(size_t row) {
  return all_backends[row].needs_device && why_missing(all_backends[row].resource);
}

// The next name of a list, which `list` is moved behind; false at its end.
static bool next_name(const char **list, char *name, size_t size) {
  size_t length;

  *list += strspn(*list, ", ");
  length = strcspn(*list, ", ");
  if (length >= size) bail_out("a name is too long", *list);
  snprintf(name, size, "%.*s", (int)length, *list);
  *list += length;
  return length > 0;
}

static bool begins_with(const char *text, const char *start) { return !strncmp(text, start, strlen(start)); }

// Whether a name in the list is the beginning of the resource. No list: every resource is meant.
static bool is_listed(const char *resource, const char *list) {
  char name[256];

  if (!list || !*list) return true;
  while (next_name(&list, name, sizeof(name))) {
    if (begins_with(resource, name)) return true;
  }
  return false;
}

// Every name in the list that the variable holds must be the beginning of a usable backend.
static void demand_backends(const char *variable) {
  const char *list = getenv(variable);
  char name[256], text[1024];

  while (list && next_name(&list, name, sizeof(name))) {
    size_t row = 0, used;

    while (row < NUM_ALL_BACKENDS && (!begins_with(all_backends[row].resource, name) || is_missing(row)))
      row++;
    if (row < NUM_ALL_BACKENDS) continue;
    used = (size_t)snprintf(text, sizeof(text), "'%s'", name);
    for (row = 0; row < NUM_ALL_BACKENDS && used < sizeof(text); row++) {
      const char *resource = all_backends[row].resource;

      if (!begins_with(resource, name)) continue;
      used += (size_t)snprintf(text + used, sizeof(text) - used, "; %s: %s", resource, why_missing(resource));
    }
    printf("Bail out! %s names no usable backend: %s\n", variable, text);
    exit(1);
  }
}

static void choose_backends(void) {
  demand_backends("RITZ_TEST_BACKENDS");
  demand_backends("RITZ_TEST_REQUIRE");
  num_backends = 0;
  for (size_t row = 0; row < NUM_ALL_BACKENDS; row++) {
    const char *resource = all_backends[row].resource;

    if (is_listed(resource, getenv("RITZ_TEST_BACKENDS")) && !is_missing(row))
      backends[num_backends++] = resource;
  }
}

const char *const *tap_backends(size_t *n) {
  *n = num_backends;
  return backends;
}

int tap_runs_pointers(Ceed ceed) {
  const char *resource = "";

  CeedGetResource(ceed, &resource);
  return begins_with(resource, "/cpu/");
}

int tap_compiles_bases(Ceed ceed) {
  const char *resource = "";

  CeedGetResource(ceed, &resource);
  return begins_with(resource, "/gpu/") && !strstr(resource, "/ref");
}

int tap_compiles_slowly(Ceed ceed) {
  const char *resource = "";

  CeedGetResource(ceed, &resource);
  return begins_with(resource, "/gpu/opencl/");
}

int tap_compiles_c_alone(Ceed ceed) {
  const char *resource = "";

  CeedGetResource(ceed, &resource);
  return begins_with(resource, "/gpu/opencl");
}

int tap_checks_calls(Ceed ceed) {
  const char *resource = "";

  CeedGetResource(ceed, &resource);
  return begins_with(resource, "/cpu/self/check");
}

// ---- Diagnostics ----

static void print_note(const char *format, va_list args) {
  char text[2048];

  vsnprintf(text, sizeof(text), format, args);
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) printf("# %s\n", line);
}

void tap_note(const char *format, ...) {
  va_list args;

  va_start(args, format);
  print_note(format, args);
  va_end(args);
}

static void fail_at(const char *file, int line) {
  current.outcome = FAILED;
  tap_note("%s:%d", file, line);
}

int tap_failed(void) { return current.outcome == FAILED; }

// ---- Checks ----

// Threads of a test may check, too.
static void count_check(void) { atomic_fetch_add_explicit(&current.num_checks, 1, memory_order_relaxed); }

int tap_check(int holds, const char *file, int line, const char *text, const char *format, ...) {
  va_list args;

  count_check();
  if (holds) return 1;
  fail_at(file, line);
  tap_note("does not hold: %s", text);
  va_start(args, format);
  print_note(format, args);
  va_end(args);
  return 0;
}

double tap_larger(double a, double b) { return a > b || isnan(a) ? a : b; }

int tap_check_near(double a, double b, double tol, const char *file, int line, const char *text_a,
                   const char *text_b, const char *format, ...) {
  va_list args;

  count_check();
  if (fabs(a - b) <= tol) return 1;
  fail_at(file, line);
  tap_note("%s = %.17g", text_a, a);
  tap_note("%s = %.17g", text_b, b);
  tap_note("difference %.3g, allowed %.3g", fabs(a - b), tol);
  va_start(args, format);
  print_note(format, args);
  va_end(args);
  return 0;
}

int tap_check_ok(int code, const char *file, int line, const char *text) {
  count_check();
  if (code == CEED_ERROR_SUCCESS) return 1;
  fail_at(file, line);
  tap_note("%s returned %d", text, code);
  if (current.error[0]) tap_note("%s", current.error);
  return 0;
}

void tap_forget_error(Ceed ceed) {
  const char *message;

  current.error[0] = '\0';
  if (ceed) CeedResetErrorMessage(ceed, &message);
}

int tap_check_error(Ceed ceed, int code, int wanted, const char *fragment, const char *file, int line,
                    const char *text) {
  const char *message = "";

  count_check();
  if (ceed) CeedGetErrorMessage(ceed, &message);
  if (code == wanted && (!ceed || strstr(message, fragment))) return 1;
  fail_at(file, line);
  tap_note("%s", text);
  tap_note("returned %d, wanted %d", code, wanted);
  if (ceed) tap_note("message \"%s\", wanted a part \"%s\"", message, fragment);
  return 0;
}

void tap_skip(const char *format, ...) {
  va_list args;

  va_start(args, format);
  vsnprintf(current.skip_reason, sizeof(current.skip_reason), format, args);
  va_end(args);
  if (current.outcome == PASSED) current.outcome = SKIPPED;
}

void tap_leave_out(const char *where, const char *why) {
  count_check();
  tap_note("not %s: %s", where, why);
}

// ---- Surroundings ----

int tap_level(void) {
  static const char *const names[] = {"quick", "full", "exhaustive"};
  const char *text = getenv("RITZ_TEST_LEVEL");

  if (!text || !*text) return TAP_QUICK;
  for (int level = TAP_QUICK; level <= TAP_EXHAUSTIVE; level++) {
    if (!strcmp(text, names[level])) return level;
  }
  bail_out("RITZ_TEST_LEVEL must be quick, full or exhaustive, not", text);
  return TAP_QUICK;
}

const char *tap_meshes(void) {
  const char *folder = getenv("RITZ_TEST_MESHES");

  return folder && *folder ? folder : NULL;
}

// CeedErrorStore, and a copy that outlives the context for the diagnostics of CHECK_OK.
static int store_error(Ceed ceed, const char *file, int line, const char *func, int code, const char *format,
                       va_list *args) {
  va_list copy;

  va_copy(copy, *args);
  vsnprintf(current.error, sizeof(current.error), format, copy);
  va_end(copy);
  return CeedErrorStore(ceed, file, line, func, code, format, args);
}

Ceed tap_ceed(const char *resource) {
  Ceed ceed = NULL;

  if (CeedInit(resource, &ceed) || CeedSetErrorHandler(ceed, store_error))
    bail_out("CeedInit fails", resource);
  return ceed;
}

// ---- Random numbers ----

// SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
static uint64_t next_random(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

// The upper 53 bits fill the mantissa of a double in [0, 1).
double tap_uniform(uint64_t *state) { return 2.0 * ((double)(next_random(state) >> 11) * 0x1p-53) - 1.0; }

int64_t tap_integer(uint64_t *state, int64_t bound) {
  return (int64_t)(next_random(state) % (uint64_t)bound);
}

// ---- Files ----

typedef struct TempFile {
  struct TempFile *next; // owned
  char path[];
} TempFile;

static char temp_folder[1024]; // "": not made yet
static TempFile *temp_files;   // owned: the strings handed out

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place) {
  (void)status, (void)type, (void)place;
  return remove(path);
}

static void remove_temp_files(void) {
  nftw(temp_folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
  while (temp_files) {
    TempFile *next = temp_files->next;

    free(temp_files);
    temp_files = next;
  }
}

static void make_temp_folder(void) {
  const char *parent = getenv("TMPDIR");

  if (temp_folder[0]) return;
  if (!parent || !*parent) parent = "/tmp";
  int length = (int)strlen(parent);
  while (length > 1 && parent[length - 1] == '/') length--; // tests look for slashes in a row
  snprintf(temp_folder, sizeof(temp_folder), "%.*s/ritz-test-XXXXXX", length, parent);
  if (!mkdtemp(temp_folder)) bail_out("cannot make a folder for temporary files", temp_folder);
  atexit(remove_temp_files);
}

const char *tap_temp_file(const char *name, const void *data, size_t size) {
  static int count;

  make_temp_folder();
  size_t length = strlen(temp_folder) + strlen(name) + 16;
  TempFile *entry = malloc(sizeof(*entry) + length);

  if (!entry) bail_out("no memory for the path of", name);
  entry->next = temp_files;
  temp_files = entry;
  snprintf(entry->path, length, "%s/%d-%s", temp_folder, ++count, name);
  if (data) {
    FILE *file = fopen(entry->path, "wb");

    if (!file || fwrite(data, 1, size, file) != size || fclose(file)) bail_out("cannot write", entry->path);
  }
  return entry->path;
}

const char *tap_temp_text(const char *name, const char *text) {
  return tap_temp_file(name, text, strlen(text));
}

// ---- Running ----

// A test whose loops are empty here, say over the devices of a machine without any, has shown nothing.
static void refuse_idleness(void) {
  if (current.outcome == PASSED && atomic_load(&current.num_checks) == 0) tap_skip("nothing was checked");
}

static double now(void) { // seconds
  struct timespec time;

  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// "ok 3 - mass of one is the volume (/cpu/self/ref)"; backend may be NULL.
static void print_result(const char *name, const char *backend) {
  const char *noskip = getenv("RITZ_TEST_NOSKIP");

  if (current.outcome == SKIPPED && noskip && !strcmp(noskip, "1")) {
    tap_note("skipped where nothing may be: %s", current.skip_reason);
    current.outcome = FAILED;
  }
  if (now() - current.start >= 1) tap_note("%.1f s", now() - current.start);
  run.num_outcomes[current.outcome]++;
  printf("%s %d - ", current.outcome == FAILED ? "not ok" : "ok", ++run.num_lines);
  for (const char *c = name; *c; c++) putchar(*c == '_' ? ' ' : *c);
  if (backend) printf(" (%s)", backend);
  if (current.outcome == SKIPPED) printf(" # SKIP %s", current.skip_reason);
  putchar('\n');
}

static void start_test(void) {
  memset(&current, 0, sizeof(current));
  current.start = now();
}

static void run_once(const TapTest *test, const char *backend) {
  int64_t live_before = ritz_memory_live();

  start_test();
  if (test->run_ceed) {
    Ceed ceed = tap_ceed(backend);

    test->run_ceed(ceed);
    CeedDestroy(&ceed);
  } else {
    test->run();
  }
  if (current.outcome == PASSED && ritz_memory_live() > live_before) {
    tap_note("allocations left behind: %lld", (long long)(ritz_memory_live() - live_before));
  }
  refuse_idleness();
  print_result(test->name, backend);
}

static void run_test(const TapTest *test) {
  if (!test->run_ceed) {
    run_once(test, NULL);
    return;
  }
  for (size_t b = 0; b < num_backends; b++) run_once(test, backends[b]);
}

// A failed test returns early and keeps its objects, so the count says something only when all have passed.
static void check_memory(void) {
  int64_t live = ritz_memory_live();

  start_test();
  if (run.num_outcomes[FAILED]) {
    tap_skip("a test that fails leaves its objects behind");
  } else if (live) {
    current.outcome = FAILED;
    tap_note("live allocations: %lld", (long long)live);
  }
  print_result("no_memory_is_left", NULL);
}

// Names may be given with blanks or underscores.
static int is_named(const TapTest *test, const char *name) {
  const char *a = test->name, *b = name;

  while (*a && (*a == *b || (*a == '_' && *b == ' '))) a++, b++;
  return !*a && !*b;
}

static int print_usage(const char *program, size_t num_tests, const TapTest *tests) {
  fprintf(stderr, "usage: %s [test]\ntests:\n", program);
  for (size_t i = 0; i < num_tests; i++) fprintf(stderr, "  %s\n", tests[i].name);
  return 2;
}

int tap_main(int argc, char **argv, size_t num_tests, const TapTest *tests) {
  const char *wanted = argc > 1 ? argv[1] : NULL;
  int num_runs = 0;

  choose_backends();
  for (size_t i = 0; i < num_tests; i++) {
    if (!wanted || is_named(&tests[i], wanted)) num_runs += tests[i].run_ceed ? (int)num_backends : 1;
  }
  if (argc > 2 || (wanted && !num_runs)) return print_usage(argv[0], num_tests, tests);

  setvbuf(stdout, NULL, _IOLBF, 0); // a crash must not swallow the lines before it
  setenv("RITZ_WAIT", "1", 0);      // generated kernels are tested, not the ahead-of-time kernel before them
  setenv("CEED_ERROR_HANDLER", "return", 1); // errors without a context return their code instead of aborting
  printf("1..%d\n", num_runs + 1);
  for (size_t i = 0; i < num_tests; i++) {
    if (!wanted || is_named(&tests[i], wanted)) run_test(&tests[i]);
  }
  int all_skipped = run.num_outcomes[SKIPPED] == num_runs;
  check_memory();
  if (run.num_outcomes[FAILED]) printf("# failed: %d of %d\n", run.num_outcomes[FAILED], run.num_lines);
  if (run.num_outcomes[FAILED]) return 1;
  return all_skipped ? 77 : 0;
}
