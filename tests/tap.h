// SPDX-License-Identifier: BSD-2-Clause
// The test harness: tests are sentences, results are TAP (Test Anything Protocol) on stdout.
// Included by tests/test-*.c, each a program of its own by a name of build/tests/ritz-tests (tests/main.c).
//
//     TEST(gradient_of_linear_field_is_constant) {
//       Ceed ceed = tap_ceed("/cpu/self/ref");
//       ...
//       CHECK_NEAR(grad[0], 2.0, 10 * CEED_EPSILON, "component %d", 0);
//       CeedDestroy(&ceed);
//     }
//     TEST_EACH_BACKEND(mass_of_one_is_the_volume) { ... uses `ceed`, which the harness makes and destroys
//     ... } int main(int argc, char **argv) {
//       return tap_main(argc, argv, TESTS(gradient_of_linear_field_is_constant, mass_of_one_is_the_volume));
//     }
//
// Run `test-x` for all tests of a file, `test-x name_of_a_test` for one. Environment: RITZ_TEST_LEVEL = quick
// (default), full or exhaustive; RITZ_TEST_MESHES = folder of foreign mesh files; RITZ_TEST_NOSKIP=1 makes a
// skipped test fail.
//
// TEST_EACH_BACKEND runs on the backends of the CPU and on those of GPUs that are usable on this machine. Two
// lists of the beginnings of resources, separated by commas, say otherwise: RITZ_TEST_BACKENDS (such as
// "/cpu" or "/gpu/opencl,/cpu/self/ref") leaves out all others, RITZ_TEST_REQUIRE only demands. A program
// ends at once when a name in either list is the beginning of no usable backend.
#ifndef RITZ_TESTS_TAP_H
#define RITZ_TESTS_TAP_H

#include <ceed.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TAP_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define TAP_PRINTF(text, first)
#endif

// One test: exactly one of the two functions is set.
typedef struct {
  const char *name;            // with underscores, as written in the source
  void (*run)(void);           // TEST
  void (*run_ceed)(Ceed ceed); // TEST_EACH_BACKEND: called once for each row of the backend table
} TapTest;

// ---- Declaring tests ----

// A test that is missing in TESTS(...) is an unused variable, hence a compiler warning.
#define TEST(name)                                                                                           \
  static void name##_body(void);                                                                             \
  static const TapTest name = {#name, name##_body, NULL};                                                    \
  static void name##_body(void)

#define TEST_EACH_BACKEND(name)                                                                              \
  static void name##_body(Ceed ceed);                                                                        \
  static const TapTest name = {#name, NULL, name##_body};                                                    \
  static void name##_body(Ceed ceed)

#define TESTS(...)                                                                                           \
  sizeof((const TapTest[]){__VA_ARGS__}) / sizeof(TapTest), (const TapTest[]) { __VA_ARGS__ }

// Runs the tests (or the one that argv[1] names) and one more that no memory of the library is left. Returns
// the exit status: 0 all passed, 1 some failed, 2 wrong usage, 77 all skipped.
int tap_main(int argc, char **argv, size_t num_tests, const TapTest *tests);

// ---- Checks ----
// The first check that fails marks the test, prints where and why, and returns from the (void) function. A
// test that makes none counts as skipped.

#define CHECK(cond, ...)                                                                                     \
  do {                                                                                                       \
    if (!tap_check((cond) ? 1 : 0, __FILE__, __LINE__, #cond, __VA_ARGS__)) return;                          \
  } while (0)

// |a - b| <= tol; false for NaN. The arguments are taken as double.
#define CHECK_NEAR(a, b, tol, ...)                                                                           \
  do {                                                                                                       \
    if (!tap_check_near((a), (b), (tol), __FILE__, __LINE__, #a, #b, __VA_ARGS__)) return;                   \
  } while (0)

// The larger number; NaN where one of them is, which fmax would leave out of the largest error.
double tap_larger(double a, double b);

// The call returns 0. The diagnostics show the last message raised in a context made by tap_ceed.
#define CHECK_OK(expr)                                                                                       \
  do {                                                                                                       \
    if (!tap_check_ok((expr), __FILE__, __LINE__, #expr)) return;                                            \
  } while (0)

// The call returns `code` and leaves a message in `ceed` that contains `fragment`. With ceed == NULL no
// message can be kept: only the code is checked and `fragment` is what a reader of the test should know.
#define CHECK_ERROR(ceed, expr, code, fragment)                                                              \
  do {                                                                                                       \
    tap_forget_error(ceed);                                                                                  \
    if (!tap_check_error((ceed), (expr), (code), (fragment), __FILE__, __LINE__, #expr)) return;             \
  } while (0)

// Leaves the test, which counts as neither passed nor failed.
#define SKIP(...)                                                                                            \
  do {                                                                                                       \
    tap_skip(__VA_ARGS__);                                                                                   \
    return;                                                                                                  \
  } while (0)

// Leaves a test that is about other surroundings: another level, another user. This is no skip: nothing is
// missing.
#define NOT_HERE(why)                                                                                        \
  do {                                                                                                       \
    tap_leave_out("here", (why));                                                                            \
    return;                                                                                                  \
  } while (0)
// The same of a test of every backend on one that the statement is not about.
#define NOT_FOR_THIS_BACKEND(why)                                                                            \
  do {                                                                                                       \
    tap_leave_out("for this backend", (why));                                                                \
    return;                                                                                                  \
  } while (0)

// What the macros call. The checks return whether they held.
int tap_check(int holds, const char *file, int line, const char *text, const char *format, ...)
    TAP_PRINTF(5, 6);
int tap_check_near(double a, double b, double tol, const char *file, int line, const char *text_a,
                   const char *text_b, const char *format, ...) TAP_PRINTF(8, 9);
int tap_check_ok(int code, const char *file, int line, const char *text);
int tap_check_error(Ceed ceed, int code, int wanted, const char *fragment, const char *file, int line,
                    const char *text);
void tap_forget_error(Ceed ceed);
void tap_skip(const char *format, ...) TAP_PRINTF(1, 2);
void tap_leave_out(const char *where, const char *why);

// True once a check of the running test has failed: lets a test stop after a helper whose check failed.
int tap_failed(void);

// A diagnostic line of the running test, shown whether it passes or not.
void tap_note(const char *format, ...) TAP_PRINTF(1, 2);

// ---- Surroundings ----

enum { TAP_QUICK = 0, TAP_FULL = 1, TAP_EXHAUSTIVE = 2 };
int tap_level(void);          // one of the above
const char *tap_meshes(void); // folder of foreign meshes, or NULL

// A context with an error handler that stores messages; ends the program when it cannot be made. The test
// destroys it.
Ceed tap_ceed(const char *resource);

// The backends that every TEST_EACH_BACKEND runs on: n resource strings. To be called inside of tests.
const char *const *tap_backends(size_t *n);

// Whether the backend calls the functions that the program points to. GPUs run the texts of QFunctions
// instead: they count nothing in the program, write to none of its variables and pass on no code.
int tap_runs_pointers(Ceed ceed);

// Whether the backend compiles kernels for the sizes of each basis: tests that go through all sizes leave
// some out.
int tap_compiles_bases(Ceed ceed);
// Whether a kernel takes a second or more to compile, as by PoCL: such backends are tested with fewer of them
// where more would repeat what others show.
int tap_compiles_slowly(Ceed ceed);
// Whether its kernels are C alone: derivatives of texts are C++.
int tap_compiles_c_alone(Ceed ceed);
// Whether the backend is `check`, whose calls take several times as long: solvers are tested there with fewer
// unknowns, as they run the reference backend's loops.
int tap_checks_calls(Ceed ceed);

// ---- Random numbers: the same on every machine, from a state that starts at any value ----

double tap_uniform(uint64_t *state);                 // in [-1, 1)
int64_t tap_integer(uint64_t *state, int64_t bound); // in 0 .. bound - 1; bound >= 1

// ---- Files: in a folder of this process, removed at exit ----

// Path of a fresh file whose name ends in `name` ("bad.msh") and which holds `size` bytes of data. With data
// == NULL the file is not created: the path is for something that the test writes. The strings live until
// exit.
const char *tap_temp_file(const char *name, const void *data, size_t size);
const char *tap_temp_text(const char *name, const char *text); // the same for a string

#endif
