// SPDX-License-Identifier: BSD-2-Clause
// The context and what belongs to no object in particular: constants, texts of enumerators, version,
// resources, error handlers, environment, JiT lists, work vectors, lifetime of the context. No test here
// makes temporary files: children that end through exit() would remove them.
#include "tests/api.h"
#include "tests/tap.h"

#include <ceed/backend.h>
#include <ritz/version.h>
#include <signal.h>

// ---- Constants and texts ----

typedef struct {
  int value, wanted;
  const char *text, *wanted_text;
} Enumerator;

#define ROW(table, value, wanted, wanted_text)                                                               \
  { value, wanted, (table)[value], wanted_text }

static void check_enumerators(size_t n, const Enumerator *rows) {
  for (size_t i = 0; i < n; i++) {
    CHECK(rows[i].value == rows[i].wanted, "'%s' is %d, not %d", rows[i].wanted_text, rows[i].value,
          rows[i].wanted);
    CHECK(rows[i].text && !strcmp(rows[i].text, rows[i].wanted_text), "text of %d is '%s', not '%s'",
          rows[i].value, rows[i].text ? rows[i].text : "NULL", rows[i].wanted_text);
  }
}

TEST(error_codes_have_the_values_and_texts_of_the_standard) {
  const Enumerator rows[] = {
      ROW(CeedErrorTypes, CEED_ERROR_SUCCESS, 0, "success"),
      ROW(CeedErrorTypes, CEED_ERROR_MINOR, 1, "generic minor error"),
      ROW(CeedErrorTypes, CEED_ERROR_DIMENSION, 2, "dimension mismatch"),
      ROW(CeedErrorTypes, CEED_ERROR_INCOMPLETE, 3, "object setup incomplete"),
      ROW(CeedErrorTypes, CEED_ERROR_INCOMPATIBLE, 4, "incompatible arguments"),
      ROW(CeedErrorTypes, CEED_ERROR_ACCESS, 5, "access lock in use"),
      ROW(CeedErrorTypes, CEED_ERROR_MAJOR, -1, "generic major error"),
      ROW(CeedErrorTypes, CEED_ERROR_BACKEND, -2, "internal backend error"),
      ROW(CeedErrorTypes, CEED_ERROR_UNSUPPORTED, -3, "operation unsupported by backend"),
  };
  check_enumerators(sizeof(rows) / sizeof(rows[0]), rows);
}

TEST(enumerators_have_the_values_and_texts_of_the_standard) {
  const Enumerator rows[] = {
      ROW(CeedMemTypes, CEED_MEM_HOST, 0, "host"),
      ROW(CeedMemTypes, CEED_MEM_DEVICE, 1, "device"),
      ROW(CeedCopyModes, CEED_COPY_VALUES, 0, "copy values"),
      ROW(CeedCopyModes, CEED_USE_POINTER, 1, "use pointer"),
      ROW(CeedCopyModes, CEED_OWN_POINTER, 2, "own pointer"),
      ROW(CeedTransposeModes, CEED_NOTRANSPOSE, 0, "no transpose"),
      ROW(CeedTransposeModes, CEED_TRANSPOSE, 1, "transpose"),
      ROW(CeedEvalModes, CEED_EVAL_NONE, 0, "none"),
      ROW(CeedEvalModes, CEED_EVAL_INTERP, 1, "interpolation"),
      ROW(CeedEvalModes, CEED_EVAL_GRAD, 2, "gradient"),
      ROW(CeedEvalModes, CEED_EVAL_DIV, 4, "divergence"),
      ROW(CeedEvalModes, CEED_EVAL_CURL, 8, "curl"),
      ROW(CeedEvalModes, CEED_EVAL_WEIGHT, 16, "quadrature weights"),
      ROW(CeedQuadModes, CEED_GAUSS, 0, "Gauss"),
      ROW(CeedQuadModes, CEED_GAUSS_LOBATTO, 1, "Gauss Lobatto"),
      ROW(CeedElemTopologies, CEED_TOPOLOGY_LINE, 65536, "line"),
      ROW(CeedElemTopologies, CEED_TOPOLOGY_TRIANGLE, 131073, "triangle"),
      ROW(CeedElemTopologies, CEED_TOPOLOGY_QUAD, 131074, "quadrilateral"),
      ROW(CeedElemTopologies, CEED_TOPOLOGY_TET, 196611, "tetrahedron"),
      ROW(CeedElemTopologies, CEED_TOPOLOGY_PYRAMID, 196612, "pyramid"),
      ROW(CeedElemTopologies, CEED_TOPOLOGY_PRISM, 196613, "prism"),
      ROW(CeedElemTopologies, CEED_TOPOLOGY_HEX, 196614, "hexahedron"),
      ROW(CeedContextFieldTypes, CEED_CONTEXT_FIELD_DOUBLE, 1, "double"),
      ROW(CeedContextFieldTypes, CEED_CONTEXT_FIELD_INT32, 2, "int32"),
      ROW(CeedContextFieldTypes, CEED_CONTEXT_FIELD_BOOL, 3, "bool"),
      ROW(CeedFESpaces, CEED_FE_SPACE_H1, 1, "H^1 space"),
      ROW(CeedFESpaces, CEED_FE_SPACE_HDIV, 2, "H(div) space"),
      ROW(CeedFESpaces, CEED_FE_SPACE_HCURL, 3, "H(curl) space"),
  };
  check_enumerators(sizeof(rows) / sizeof(rows[0]), rows);
}

TEST(enumerators_without_texts_have_the_values_of_the_standard) {
  CHECK(CEED_NORM_1 == 0 && CEED_NORM_2 == 1 && CEED_NORM_MAX == 2, "norms");
  CHECK(CEED_SCALAR_FP32 == 0 && CEED_SCALAR_FP64 == 1, "scalars");
  CHECK(CEED_RESTRICTION_STANDARD == 1 && CEED_RESTRICTION_ORIENTED == 2 &&
            CEED_RESTRICTION_CURL_ORIENTED == 3 && CEED_RESTRICTION_STRIDED == 4 &&
            CEED_RESTRICTION_POINTS == 5,
        "restrictions");
  CHECK(CEED_DEBUG_COLOR_SUCCESS == 108 && CEED_DEBUG_COLOR_WARNING == 208 && CEED_DEBUG_COLOR_ERROR == 196 &&
            CEED_DEBUG_COLOR_NONE == 255,
        "colours");
}

// The table has 17 entries; only powers of two and 0 are modes.
TEST(texts_of_evaluation_modes_have_gaps) {
  for (int mode = 0; mode <= 16; mode++) {
    bool is_mode = (mode & (mode - 1)) == 0;
    CHECK(is_mode == (CeedEvalModes[mode] != NULL), "mode %d", mode);
  }
}

TEST(the_topology_tells_its_dimension) {
  const struct {
    CeedElemTopology topology;
    CeedInt dim;
  } rows[] = {{CEED_TOPOLOGY_LINE, 1}, {CEED_TOPOLOGY_TRIANGLE, 2}, {CEED_TOPOLOGY_QUAD, 2},
              {CEED_TOPOLOGY_TET, 3},  {CEED_TOPOLOGY_PYRAMID, 3},  {CEED_TOPOLOGY_PRISM, 3},
              {CEED_TOPOLOGY_HEX, 3}};

  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    CeedInt dim = 0;
    CHECK_OK(CeedBasisGetTopologyDimension(rows[i].topology, &dim));
    CHECK(dim == rows[i].dim, "%s: %d", CeedElemTopologies[rows[i].topology], (int)dim);
  }
}

TEST(sentinels_and_constants_are_distinct_and_not_null) {
  CHECK(CEED_REQUEST_IMMEDIATE && CEED_REQUEST_ORDERED && CEED_REQUEST_IMMEDIATE != CEED_REQUEST_ORDERED,
        "requests");
  CHECK(CEED_VECTOR_ACTIVE && CEED_VECTOR_NONE && CEED_VECTOR_ACTIVE != CEED_VECTOR_NONE, "vectors");
  CHECK(CEED_BASIS_NONE && CEED_ELEMRESTRICTION_NONE && CEED_QFUNCTION_NONE, "others");
  for (int i = 0; i < 3; i++) CHECK(CEED_STRIDES_BACKEND[i] == 0, "stride %d", i);
  CHECK(CEED_MAX_RESOURCE_LEN == 1024 && CEED_MAX_BACKEND_PRIORITY == UINT_MAX && CEED_ALIGN == 64 &&
            CEED_COMPOSITE_MAX == 16 && CEED_FIELD_MAX == 16 && CEED_TAB_WIDTH == 2,
        "limits");
}

TEST(scalars_and_integers_are_what_their_macros_say) {
  CeedScalarType type = (CeedScalarType)-1;
  char text[64];

  CHECK_OK(CeedGetScalarType(&type));
  CHECK(type == CEED_SCALAR_TYPE, "library %d, header %d", (int)type, (int)CEED_SCALAR_TYPE);
  CHECK(sizeof(CeedScalar) == (type == CEED_SCALAR_FP64 ? sizeof(double) : sizeof(float)), "size");
#ifdef CEED_SCALAR_IS_FP64
  CHECK(type == CEED_SCALAR_FP64 && CEED_EPSILON == 1e-16, "epsilon %g", (double)CEED_EPSILON);
#else
  CHECK(type == CEED_SCALAR_FP32 && CEED_EPSILON == 6e-08, "epsilon %g", (double)CEED_EPSILON);
#endif
  CHECK(sizeof(CeedInt) == 4 && sizeof(CeedSize) == sizeof(ptrdiff_t) && sizeof(CeedInt8) == 1, "integers");
  snprintf(text, sizeof(text), "%" CeedInt_FMT " %" CeedSize_FMT " %" CeedInt8_FMT, (CeedInt)-7,
           -((CeedSize)1 << 33), (CeedInt8)-1);
  CHECK(!strcmp(text, "-7 -8589934592 -1"), "'%s'", text);
}

TEST(small_integer_functions) {
  CHECK(CeedIntPow(3, 0) == 1 && CeedIntPow(0, 0) == 1 && CeedIntPow(3, 4) == 81, "powers");
  CHECK(CeedIntPow(-2, 3) == -8 && CeedIntPow(7, 1) == 7, "odd powers");
  CHECK(CeedIntMin(-3, 2) == -3 && CeedIntMin(2, -3) == -3 && CeedIntMax(-3, 2) == 2 && CeedIntMax(4, 4) == 4,
        "smallest and largest");
}

// ---- Version and build ----

#if !CEED_VERSION_GE(0, 12, 0)
#error "the version macro cannot be used by the preprocessor"
#endif

// A development state is newer than everything: MFEM chooses its variant of the API by this.
TEST(the_version_macro_takes_this_state_for_newer_than_all) {
  for (int major = 0; major < 3; major++) {
    for (int minor = 0; minor < 40; minor += 13) {
      CHECK(CEED_VERSION_GE(major, minor, 5), "%d.%d.5", major, minor);
    }
  }
  CHECK(!CEED_VERSION_RELEASE, "a release");
}

TEST(the_version_is_that_of_the_header) {
  int major = -1, minor = -1, patch = -1;
  bool release = true;

  CHECK_OK(CeedGetVersion(&major, &minor, &patch, &release));
  CHECK(major == 0 && minor == 12 && patch == 0 && !release, "%d.%d.%d", major, minor, patch);
  CHECK_OK(CeedGetVersion(NULL, NULL, NULL, NULL));
  CHECK_OK(RitzGetVersion(&major, &minor, &patch));
  CHECK(major == RITZ_VERSION_MAJOR && minor == RITZ_VERSION_MINOR && patch == RITZ_VERSION_PATCH, "%d.%d.%d",
        major, minor, patch);
  CHECK_OK(RitzGetVersion(NULL, NULL, NULL));
}

TEST(the_build_configuration_has_lines_name_value) {
  const char *git = NULL, *config = NULL;
  int num_lines = 0;

  CHECK_OK(CeedGetGitVersion(&git));
  CHECK(git && git[0], "no description of the source");
  CHECK_OK(CeedGetBuildConfiguration(&config));
  for (const char *line = config; *line; num_lines++) {
    const char *end = strchr(line, '\n'), *equals = strstr(line, " = ");
    CHECK(end, "the last line '%s' does not end", line);
    CHECK(equals && equals > line && equals < end, "line '%.*s'", (int)(end - line), line);
    line = end + 1;
  }
  CHECK(num_lines > 0, "no line");
}

// ---- Resources ----

static bool is_prefix_component(const char *stem, size_t length, const char *name) {
  return !strncmp(stem, name, length) && (name[length] == '\0' || name[length] == '/');
}

// The rule of the standard, the obvious way: of all names that continue the stem the one of lowest priority,
// of several the first.
static const char *meant_by(const char *stem, size_t length, size_t n, char **names,
                            const CeedInt *priorities) {
  size_t best = n;

  for (size_t i = 0; i < n; i++) {
    if (!is_prefix_component(stem, length, names[i])) continue;
    if (best == n || priorities[i] < priorities[best]) best = i;
  }
  return best < n ? names[best] : NULL;
}

static void check_stem(const char *name, size_t length, const char *wanted) {
  char request[CEED_MAX_RESOURCE_LEN];
  const char *found = NULL;
  Ceed ceed = NULL;

  snprintf(request, sizeof(request), "%.*s", (int)length, name);
  CHECK_OK(CeedInit(request, &ceed));
  CHECK_OK(CeedGetResource(ceed, &found));
  CHECK(!strcmp(found, wanted), "'%s' means '%s', not '%s'", request, found, wanted);
  CeedDestroy(&ceed);
  snprintf(request, sizeof(request), "%.*s:deterministic", (int)length, name);
  CHECK_OK(CeedInit(request, &ceed));
  CHECK_OK(CeedGetResource(ceed, &found));
  CHECK(!strcmp(found, wanted), "'%s' means '%s', not '%s'", request, found, wanted);
  CeedDestroy(&ceed);
}

// Full names give themselves; every leading path gives the best name below it.
TEST(every_leading_path_of_a_resource_means_the_best_name_below_it) {
  size_t n = 0;
  char **names = NULL;
  CeedInt *priorities = NULL;

  CHECK_OK(CeedRegistryGetList(&n, &names, &priorities));
  CHECK(n > 0, "no resource");
  for (size_t i = 0; i < n; i++) {
    for (size_t length = 2; length <= strlen(names[i]); length++) {
      if (!is_prefix_component(names[i], length, names[i])) continue;
      check_stem(names[i], length, meant_by(names[i], length, n, names, priorities));
      if (tap_failed()) return;
    }
    CHECK(!strcmp(meant_by(names[i], strlen(names[i]), n, names, priorities), names[i]),
          "a longer name hides '%s'", names[i]);
  }
  free(names);
  free(priorities);
}

TEST(the_list_of_resources_goes_without_priorities_and_has_no_doubles) {
  size_t n = 0;
  char **names = NULL;

  CHECK_OK(CeedRegisterAll());
  CHECK_OK(CeedRegisterAll());
  CHECK_OK(CeedRegistryGetList(&n, &names, NULL));
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < i; k++) CHECK(strcmp(names[i], names[k]), "'%s' twice", names[i]);
  }
  free(names);
}

TEST(the_table_of_backends_tells_which_are_usable) {
  CeedInt num = 0;
  RitzBackendInfo info;

  CHECK_OK(RitzGetNumBackends(&num));
  CHECK(num > 0, "no entries");
  for (CeedInt i = 0; i < num; i++) {
    Ceed ceed = NULL;
    CHECK_OK(RitzGetBackendInfo(i, &info));
    CHECK(info.usable == (info.reason == NULL), "'%s'", info.resource);
    int code = CeedInit(info.resource, &ceed);
    CHECK(info.usable ? code == CEED_ERROR_SUCCESS : code < 0, "'%s' returns %d", info.resource, code);
    CeedDestroy(&ceed);
  }
  CHECK_ERROR(NULL, RitzGetBackendInfo(num, &info), CEED_ERROR_DIMENSION, "index");
  CHECK_ERROR(NULL, RitzGetBackendInfo(-1, &info), CEED_ERROR_DIMENSION, "index");
}

static void check_refused(const char *request) {
  Ceed ceed = (Ceed)&ceed;

  CHECK(CeedInit(request, &ceed) == CEED_ERROR_MAJOR, "'%s'", request);
  CHECK(ceed == NULL, "'%s' leaves a context", request);
}

TEST(resources_that_do_not_exist_are_refused) {
  const char *const requests[] = {
      "",       "/", "/cpu/self/ref/serialx", "/cpu/selg",  "/nonsense", "cpu/self",
      "/cpu/s", ":", "/cpu/self/re",          ":/cpu/self", "/gpu/none", "/cpu/self/ref/serial/x",
  };

  for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
    check_refused(requests[i]);
    if (tap_failed()) return;
  }
  Ceed ceed = (Ceed)&ceed;
  CHECK(CeedInit(NULL, &ceed) == CEED_ERROR_MAJOR && ceed == NULL, "NULL");
}

// A child, since help is printed.
static void ask_for_help_with_nothing(void) {
  check_refused("help");
  check_refused("help:");
  check_refused("help:/nonsense");
  _exit(tap_failed() ? 1 : 0);
}

TEST(help_without_a_resource_is_refused) {
  char text[8192];
  int status = run_child(ask_for_help_with_nothing, text, sizeof(text));
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d: %s", status, text);
}

static void init_unknown(void) {
  Ceed ceed;
  unsetenv("CEED_ERROR_HANDLER");
  CeedInit("/cpu/self/refx:a=b", &ceed);
}

TEST(an_unknown_resource_ends_the_program_and_says_why) {
  char text[2048];
  int status = run_child(init_unknown, text, sizeof(text));

  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "status %d", status);
  CHECK(strstr(text, "No suitable backend:") && strstr(text, "/cpu/self/refx"), "stderr '%s'", text);
}

static void ask_for_help(void) {
  Ceed ceed = NULL;
  const char *resource;

  if (CeedInit("help:/cpu/self", &ceed) || CeedGetResource(ceed, &resource) || strstr(resource, "help"))
    _exit(1);
  CeedDestroy(&ceed);
}

TEST(help_lists_all_resources_and_continues) {
  char text[8192];
  int status = run_child(ask_for_help, text, sizeof(text));
  size_t n;
  char **names;

  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d", status);
  CHECK(!strncmp(text, "libCEED version: 0.12.0+development", 35), "'%s'", text);
  CHECK(strstr(text, "\nAvailable backend resources:\n"), "'%s'", text);
  CHECK_OK(CeedRegistryGetList(&n, &names, NULL));
  for (size_t i = 0; i < n; i++) {
    char line[CEED_MAX_RESOURCE_LEN + 8];
    snprintf(line, sizeof(line), "\n  %s\n", names[i]);
    CHECK(strstr(text, line), "'%s' is not listed", names[i]);
  }
  free(names);
}

// ---- Error handlers ----

static const char no_message[] = "No error message stored";

static const char *message_of(Ceed ceed) {
  const char *message = NULL;
  CeedGetErrorMessage(ceed, &message);
  return message;
}

TEST_EACH_BACKEND(a_stored_message_names_file_line_and_function) {
  const char *forgotten = "something";

  CHECK_OK(CeedSetErrorHandler(ceed, CeedErrorStore));
  CHECK(!strcmp(message_of(ceed), no_message), "at first '%s'", message_of(ceed));
  int code = CeedErrorImpl(ceed, "some/file.c", 12, "a_function", CEED_ERROR_DIMENSION, "%d and %s", 3, "x");
  CHECK(code == CEED_ERROR_DIMENSION, "code %d", code);
  CHECK(!strcmp(message_of(ceed), "some/file.c:12 in a_function(): 3 and x"), "'%s'", message_of(ceed));
  CHECK(message_of(ceed) == message_of(ceed), "the text moves");
  CHECK_OK(CeedResetErrorMessage(ceed, &forgotten));
  CHECK(forgotten == NULL && !strcmp(message_of(ceed), no_message), "after reset '%s'", message_of(ceed));
}

TEST_EACH_BACKEND(a_stored_message_is_cut_to_1024_bytes) {
  char name[3000], message[3000];

  memset(message, 'm', sizeof(message) - 1);
  message[sizeof(message) - 1] = '\0';
  memset(name, 'n', sizeof(name) - 1);
  name[sizeof(name) - 1] = '\0';
  CHECK_OK(CeedSetErrorHandler(ceed, CeedErrorStore));
  CeedErrorImpl(ceed, "f", 1, "g", CEED_ERROR_MINOR, "%s", message);
  CHECK(strlen(message_of(ceed)) == 1023, "%zu characters", strlen(message_of(ceed)));
  CHECK(!strncmp(message_of(ceed), "f:1 in g(): mmm", 15), "'%.20s'", message_of(ceed));
  CeedErrorImpl(ceed, name, 1, "g", CEED_ERROR_MINOR, "%s", message);
  CHECK(strlen(message_of(ceed)) == 1023 && message_of(ceed)[1022] == 'n', "a long file name");
}

static struct {
  int num_calls, line, code;
  char text[256];
  Ceed ceed;
} seen;

static int see_error(Ceed ceed, const char *file, int line, const char *func, int code, const char *format,
                     va_list *args) {
  (void)file, (void)func;
  seen.num_calls++;
  seen.line = line;
  seen.code = code;
  seen.ceed = ceed;
  vsnprintf(seen.text, sizeof(seen.text), format, *args);
  return 77;
}

TEST_EACH_BACKEND(a_handler_of_the_caller_gets_every_error_once) {
  CeedVector vec = NULL;

  memset(&seen, 0, sizeof(seen));
  CHECK_OK(CeedSetErrorHandler(ceed, see_error));
  CHECK(CeedErrorImpl(ceed, "f", 5, "g", CEED_ERROR_MINOR, "n = %d", 8) == 77, "the handler's result");
  CHECK(seen.num_calls == 1 && seen.line == 5 && seen.code == CEED_ERROR_MINOR && seen.ceed == ceed,
        "%d calls", seen.num_calls);
  CHECK(!strcmp(seen.text, "n = 8"), "'%s'", seen.text);
  CHECK(CeedError(ceed, 3, "text %d", 1) == 3, "the macro has the value of its code");
  CHECK(CeedError(ceed, 4, "only a format") == 4 && seen.num_calls == 3, "format alone");
  CHECK(CeedVectorCreate(ceed, -1, &vec) == CEED_ERROR_UNSUPPORTED, "code of a failing call");
  CHECK(seen.num_calls == 4 && strstr(seen.text, "CeedVectorCreate"), "'%s'", seen.text);
  CHECK(!strcmp(message_of(ceed), no_message), "a message is stored: '%s'", message_of(ceed));
  CHECK_OK(CeedSetErrorHandler(ceed, CeedErrorReturn));
  CHECK(CeedSetNumViewTabs(ceed, -1) == CEED_ERROR_MINOR && seen.num_calls == 4, "returning handler");
  CHECK(!strcmp(message_of(ceed), no_message), "returning handler stores '%s'", message_of(ceed));
}

TEST_EACH_BACKEND(a_handler_that_is_null_is_refused) {
  CHECK_ERROR(ceed, CeedSetErrorHandler(ceed, NULL), CEED_ERROR_INCOMPATIBLE, "CeedSetErrorHandler");
  CHECK_ERROR(ceed, CeedSetNumViewTabs(ceed, -1), CEED_ERROR_MINOR, "view tabs"); // the old one still works
}

static void fail_with_abort(void) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  CeedSetErrorHandler(ceed, CeedErrorAbort);
  CeedErrorImpl(ceed, "file.c", 3, "func", CEED_ERROR_MAJOR, "reason %d", 5);
}

static void fail_with_exit(void) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  CeedSetErrorHandler(ceed, CeedErrorExit);
  CeedErrorImpl(ceed, "file.c", 3, "func", CEED_ERROR_ACCESS, "reason %d", 5);
}

static void fail_without_context(void) {
  unsetenv("CEED_ERROR_HANDLER");
  CeedErrorImpl(NULL, "file.c", 3, "func", CEED_ERROR_MINOR, "reason %d", 5);
}

static void fail_without_context_but_exit(void) {
  setenv("CEED_ERROR_HANDLER", "exit", 1); // honoured by contexts only
  CeedErrorImpl(NULL, "file.c", 3, "func", CEED_ERROR_MINOR, "reason %d", 5);
}

TEST(aborting_and_exiting_handlers_print_the_message) {
  static const char wanted[] = "file.c:3 in func(): reason 5\n";
  void (*const aborting[])(void) = {fail_with_abort, fail_without_context, fail_without_context_but_exit};
  char text[1024];

  for (int i = 0; i < 3; i++) {
    int status = run_child(aborting[i], text, sizeof(text));
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "child %d: status %d", i, status);
    CHECK(!strcmp(text, wanted), "child %d prints '%s'", i, text);
  }
  int status = run_child(fail_with_exit, text, sizeof(text));
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == CEED_ERROR_ACCESS, "status %d", status);
  CHECK(!strncmp(text, wanted, strlen(wanted)), "'%s'", text); // what looks for leaks may have a word, too
}

TEST(an_error_without_a_context_returns_when_the_environment_says_so) {
  CHECK(CeedError(NULL, CEED_ERROR_ACCESS, "reason %d", 5) == CEED_ERROR_ACCESS, "the code");
  CHECK(CeedErrorImpl(NULL, "f", 1, "g", CEED_ERROR_BACKEND, "reason") == CEED_ERROR_BACKEND, "result");
}

// The environment as seen by a child: a context is made, then a call fails and is asked for its message.
static const char *child_handler;

static void fail_by_environment(void) {
  Ceed ceed = NULL;
  const char *message;

  if (child_handler)
    setenv("CEED_ERROR_HANDLER", child_handler, 1);
  else
    unsetenv("CEED_ERROR_HANDLER");
  if (CeedInit("/cpu/self/ref", &ceed)) _exit(98);
  int code = CeedSetNumViewTabs(ceed, -1);
  CeedGetErrorMessage(ceed, &message);
  int status = code != CEED_ERROR_MINOR ? 97 : strcmp(message, no_message) ? 50 : 51;
  CeedDestroy(&ceed);
  _exit(status);
}

TEST(the_environment_chooses_the_handler_of_new_contexts) {
  const struct {
    const char *handler;
    bool aborts;
    int exit_status;
  } rows[] = {{NULL, true, 0},
              {"abort", true, 0},
              {"nonsense", true, 0},
              {"", true, 0},
              {"exit", false, CEED_ERROR_MINOR},
              {"store", false, 50},
              {"return", false, 51}};

  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    char text[1024];
    child_handler = rows[i].handler;
    int status = run_child(fail_by_environment, text, sizeof(text));
    const char *name = child_handler ? child_handler : "(unset)";
    if (rows[i].aborts) {
      CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "'%s': status %d", name, status);
    } else {
      CHECK(WIFEXITED(status) && WEXITSTATUS(status) == rows[i].exit_status, "'%s': status %d, %s", name,
            status, text);
    }
    bool prints = rows[i].aborts || !strcmp(name, "exit");
    CHECK(prints == (strstr(text, "view tabs") != NULL), "'%s' prints '%s'", name, text);
  }
}

TEST(a_backend_that_does_not_start_leaves_its_words) {
  static const char *const handlers[] = {"store", "return"}; // the last one is that of the harness
  const char *message = NULL;

  for (int i = 0; i < 2; i++) {
    Ceed ceed = NULL;
    setenv("CEED_ERROR_HANDLER", handlers[i], 1);
    int code = CeedInit("/cpu/self/gen:threads=many", &ceed);
    CHECK(code == CEED_ERROR_INCOMPATIBLE && !ceed, "'%s': code %d", handlers[i], code);
    CHECK_OK(RitzGetInitMessage(&message));
    CHECK(!strncmp(message, "CeedInit: ", 10) && strstr(message, "threads=many"), "'%s'", message);
    CHECK_OK(CeedInit("/cpu/self/gen:threads=1", &ceed));
    CHECK_OK(RitzGetInitMessage(&message));
    CHECK(!*message, "after a context that starts: '%s'", message);
    CeedDestroy(&ceed);
  }
}

// ---- Options ----

static void check_option(const char *resource, int wanted, const char *part) {
  const char *message = NULL;
  Ceed ceed = NULL;
  const int code = CeedInit(resource, &ceed);

  CHECK(code == wanted && !ceed == (code != 0), "'%s': code %d, wanted %d", resource, code, wanted);
  CHECK_OK(RitzGetInitMessage(&message));
  CHECK(strstr(message, part), "'%s': '%s' does not say '%s'", resource, message, part);
  CeedDestroy(&ceed);
}

TEST(options_that_a_resource_does_not_have_are_named_with_those_that_it_has) {
  static const struct {
    const char *resource, *part;
  } rows[] = {
      {"/cpu/self/gen:junk=1",
       "/cpu/self/gen has no option ':junk=1'; it has :threads=N|all, :deterministic"},
      {"/cpu/self:junk", "no option ':junk'; it has :threads=N"},
      {"/cpu/self/ref:device=99", "/cpu/self/ref has no option ':device=99'; it has"},
      {"/cpu/self/check:mems=device", "has no option ':mems=device'; it has :inner=ref, :mem=host|device"},
      {"/cpu/self/gen:threads=1:device_id=0", "no option ':device_id=0'"},
      {"/cpu/self/gen:thread=1", "no option ':thread=1'"},
      {"/cpu/self/gen:threadss=1", "no option ':threadss=1'"},
      {"/cpu/self/gen:", "no option ':'"},
      {"/cpu/self/gen::threads=1", "no option ':'"},
      {"/cpu/self/gen:threads=1:", "no option ':'"},
      {"/cpu/self/gen:=1", "no option ':=1'"},
      {"/cpu/self/gen:threads", "':threads' of /cpu/self/gen needs a value, as in ':threads=N|all'"},
      {"/cpu/self/gen:deterministic=0", "':deterministic=0' of /cpu/self/gen takes no value"},
      {"/cpu/self/gen:threads=1:deterministic:threads=1", "':threads' is given twice"},
      {"/cpu/self/gen:threads=99999999999", "':threads=99999999999' needs a number of threads, 1 to 1048576"},
      {"/cpu/self/gen:threads=18446744073709551617", "needs a number of threads"},
      {"/cpu/self/gen:threads=1048577", "needs a number of threads"},
      {"/cpu/self/gen:threads=0", "':threads=0' needs"},
      {"/cpu/self/gen:threads=-1", "':threads=-1' needs"},
      {"/cpu/self/gen:threads=+1", "':threads=+1' needs"},
      {"/cpu/self/gen:threads= 1", "needs"},
      {"/cpu/self/gen:threads=1x", "needs"},
      {"/cpu/self/gen:threads=al", "':threads=al' needs a number of threads, 1 to 1048576, or 'all'"},
      {"/cpu/self/gen:threads=:deterministic", "':threads=' needs"},
  };

  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && !tap_failed(); i++)
    check_option(rows[i].resource, CEED_ERROR_INCOMPATIBLE, rows[i].part);
}

TEST(options_that_a_resource_has_are_taken) {
  static const char *const resources[] = {"/cpu/self/gen:threads=1048576",
                                          "/cpu/self:threads=all:deterministic",
                                          "/cpu/self/ref:threads=2",
                                          "/cpu/self/check:deterministic:threads=2",
                                          "/cpu/self/check:inner=ref:mem=device",
                                          "/cpu/self/avx:threads=1"};

  for (size_t i = 0; i < sizeof(resources) / sizeof(resources[0]) && !tap_failed(); i++)
    check_option(resources[i], CEED_ERROR_SUCCESS, "");
}

// ---- Queries and views ----

// A context on a device goes on with lines about that.
TEST_EACH_BACKEND(a_context_is_shown_in_three_lines) {
  const char *resource;
  CeedMemType mem_type;
  char wanted[512];

  CHECK_OK(CeedGetResource(ceed, &resource));
  if (!strncmp(resource, "/gpu", 4)) NOT_FOR_THIS_BACKEND("its device is shown, too");
  CHECK_OK(CeedGetPreferredMemType(ceed, &mem_type));
  snprintf(wanted, sizeof(wanted), "Ceed\n  Ceed Resource: %s\n  Preferred MemType: %s\n", resource,
           CeedMemTypes[mem_type]);
  CHECK_PRINTS(wanted, CeedView(ceed, stream));
  CHECK_OK(CeedSetNumViewTabs(ceed, 2));
  snprintf(wanted, sizeof(wanted), "    Ceed\n      Ceed Resource: %s\n      Preferred MemType: %s\n",
           resource, CeedMemTypes[mem_type]);
  CHECK_PRINTS(wanted, CeedView(ceed, stream));
  CHECK_PRINTS(wanted, CeedObjectView((CeedObject)ceed, stream));
}

TEST_EACH_BACKEND(view_tabs_belong_to_the_object_and_are_not_negative) {
  CeedInt tabs = -1;
  Ceed copy = NULL;

  CHECK_OK(CeedGetNumViewTabs(ceed, &tabs));
  CHECK(tabs == 0, "at first %d", (int)tabs);
  CHECK_OK(CeedReferenceCopy(ceed, &copy));
  CHECK_OK(CeedSetNumViewTabs(copy, 3));
  CHECK_ERROR(ceed, CeedSetNumViewTabs(ceed, -1), CEED_ERROR_MINOR, "view tabs");
  CHECK_ERROR(ceed, CeedObjectSetNumViewTabs((CeedObject)ceed, -2), CEED_ERROR_MINOR, "view tabs");
  CHECK_OK(CeedObjectGetNumViewTabs((CeedObject)ceed, &tabs));
  CHECK(tabs == 3, "%d", (int)tabs);
  CHECK_OK(CeedDestroy(&copy));
}

TEST_EACH_BACKEND(a_context_is_its_own_context) {
  Ceed self = NULL;
  CeedObject object = NULL;

  CHECK_OK(CeedObjectGetCeed((CeedObject)ceed, &self));
  CHECK(self == ceed && CeedObjectReturnCeed((CeedObject)ceed) == ceed, "another context");
  object = (CeedObject)self;
  CHECK_OK(CeedObjectDestroy(&object));
  CHECK(object == NULL, "the handle stays");
  CHECK_OK(CeedObjectDestroy(&object)); // NULL: nothing to do
}

TEST_EACH_BACKEND(streams_are_refused_by_backends_without_them) {
  int queue = 0;

  CHECK_ERROR(ceed, CeedSetStream(ceed, NULL), CEED_ERROR_INCOMPATIBLE, "CeedSetStream");
  if (!has_device_memory(ceed)) {
    CHECK_ERROR(ceed, CeedSetStream(ceed, &queue), CEED_ERROR_UNSUPPORTED, "Backend does not implement");
  }
}

TEST_EACH_BACKEND(a_deterministic_backend_says_so) {
  bool is_deterministic = false;
  const char *resource;

  CHECK_OK(CeedIsDeterministic(ceed, &is_deterministic));
  CHECK_OK(CeedGetResource(ceed, &resource));
  if (!strncmp(resource, "/cpu/self/ref", 13)) CHECK(is_deterministic, "%s", resource);
}

static bool clang_of_new_context(const char *use, const char *compiler) {
  bool is_clang = false;

  unsetenv("CEED_USE_CLANG_CUDA");
  unsetenv("CEED_CLANG_CUDA_CXX");
  if (use) setenv("CEED_USE_CLANG_CUDA", use, 1);
  if (compiler) setenv("CEED_CLANG_CUDA_CXX", compiler, 1);
  Ceed ceed = tap_ceed("/cpu/self/ref");
  CeedGetIsClang(ceed, &is_clang);
  CeedDestroy(&ceed);
  unsetenv("CEED_USE_CLANG_CUDA");
  unsetenv("CEED_CLANG_CUDA_CXX");
  return is_clang;
}

TEST(clang_is_chosen_by_environment_call_or_rust_sources) {
  bool is_clang = true;

  CHECK(!clang_of_new_context(NULL, NULL) && !clang_of_new_context("0", NULL) &&
            !clang_of_new_context("false", NULL),
        "unset or refused");
  CHECK(clang_of_new_context("1", NULL) && !clang_of_new_context("", NULL) &&
            clang_of_new_context(NULL, "clang++") && clang_of_new_context("0", "clang++"),
        "asked for");
  Ceed ceed = tap_ceed("/cpu/self/ref");
  CHECK_OK(CeedGetIsClang(ceed, &is_clang));
  CHECK(!is_clang, "at first");
  CHECK_OK(CeedSetIsClang(ceed, true));
  CHECK_OK(CeedGetIsClang(ceed, &is_clang));
  CHECK(is_clang, "set");
  CHECK_OK(CeedSetIsClang(ceed, false));
  CHECK_OK(CeedAddRustSourceRoot(ceed, "/some/crate/"));
  CHECK_OK(CeedGetIsClang(ceed, &is_clang));
  CHECK(is_clang, "with Rust sources");
  CeedDestroy(&ceed);
}

TEST_EACH_BACKEND(jit_lists_copy_their_strings_and_refuse_null) {
  char root[] = "/some/folder/", define[] = "NAME=42";

  CHECK_OK(CeedAddJitSourceRoot(ceed, root));
  CHECK_OK(CeedAddJitDefine(ceed, define));
  memset(root, 'x', sizeof(root) - 1);
  memset(define, 'x', sizeof(define) - 1);
  for (int i = 0; i < 40; i++) CHECK_OK(CeedAddJitDefine(ceed, "N"));
  CHECK_ERROR(ceed, CeedAddJitSourceRoot(ceed, NULL), CEED_ERROR_INCOMPATIBLE, "CeedAddJitSourceRoot");
  CHECK_ERROR(ceed, CeedAddJitDefine(ceed, NULL), CEED_ERROR_INCOMPATIBLE, "CeedAddJitDefine");
  CHECK_ERROR(ceed, CeedAddRustSourceRoot(ceed, NULL), CEED_ERROR_INCOMPATIBLE, "CeedAddRustSourceRoot");
}

TEST(requests_that_are_done_need_no_waiting) {
  CeedRequest request = NULL;

  CHECK_OK(CeedRequestWait(&request));
  CHECK_OK(CeedRequestWait(CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedRequestWait(CEED_REQUEST_ORDERED));
  request = (CeedRequest)&request;
  CHECK_ERROR(NULL, CeedRequestWait(&request), CEED_ERROR_UNSUPPORTED, "CeedRequestWait");
}

// A second context on the same backend.
static Ceed another(Ceed ceed) {
  const char *resource = "";
  CeedGetResource(ceed, &resource);
  return tap_ceed(resource);
}

// ---- Work vectors ----

static double entries_in_pool(Ceed ceed) {
  CeedScalar usage = -1;
  CeedGetWorkVectorMemoryUsage(ceed, &usage);
  return (double)usage / (sizeof(CeedScalar) * 1e-6);
}

// The pool's size is a rounded product: one unit of rounding of 100 entries is far below 1e-3.
TEST_EACH_BACKEND(the_first_free_work_vector_that_is_long_enough_is_lent) {
  CeedVector a = NULL, b = NULL, c = NULL;

  CHECK_OK(CeedGetWorkVector(ceed, 10, &a));
  CHECK_OK(CeedGetWorkVector(ceed, 30, &b));
  CHECK(vector_length(a) == 10 && vector_length(b) == 30, "%td, %td", vector_length(a), vector_length(b));
  CHECK_NEAR(entries_in_pool(ceed), 40, 1e-3, "both lent");
  CeedVector first = a, second = b;
  CHECK_OK(CeedRestoreWorkVector(ceed, &a));
  CHECK_OK(CeedRestoreWorkVector(ceed, &b));
  CHECK(a == NULL && b == NULL, "handles stay");
  CHECK_OK(CeedGetWorkVector(ceed, 9, &a));
  CHECK_OK(CeedGetWorkVector(ceed, 9, &b));
  CHECK_OK(CeedGetWorkVector(ceed, 9, &c));
  CHECK(a == first && b == second && c != a && c != b, "order of lending");
  CHECK(vector_length(c) == 9, "a new one has exactly the length wanted, not %td", vector_length(c));
  CHECK_NEAR(entries_in_pool(ceed), 49, 1e-3, "three");
  CHECK_OK(CeedRestoreWorkVector(ceed, &c));
  CHECK_OK(CeedRestoreWorkVector(ceed, &b));
  CHECK_OK(CeedRestoreWorkVector(ceed, &a));
  CHECK_OK(CeedGetWorkVector(ceed, 20, &a));
  CHECK(a == second, "a shorter one is lent");
  CHECK_OK(CeedRestoreWorkVector(ceed, &a));
}

TEST_EACH_BACKEND(clearing_the_pool_spares_lent_and_long_vectors) {
  CeedVector a = NULL, b = NULL, c = NULL;

  CHECK_OK(CeedGetWorkVector(ceed, 5, &a));
  CHECK_OK(CeedGetWorkVector(ceed, 10, &b));
  CHECK_OK(CeedGetWorkVector(ceed, 20, &c));
  CHECK_OK(CeedRestoreWorkVector(ceed, &b));
  CHECK_OK(CeedRestoreWorkVector(ceed, &c));
  CHECK_OK(CeedClearWorkVectors(ceed, 10));
  CHECK_NEAR(entries_in_pool(ceed), 35, 1e-3, "10 is not shorter than 10; 5 is lent");
  CHECK_OK(CeedClearWorkVectors(ceed, 11));
  CHECK_NEAR(entries_in_pool(ceed), 25, 1e-3, "10 goes");
  CHECK_OK(CeedVectorSetValue(a, 1)); // the lent one lives
  CHECK_OK(CeedRestoreWorkVector(ceed, &a));
  CHECK_OK(CeedClearWorkVectors(ceed, 1000));
  CHECK_NEAR(entries_in_pool(ceed), 0, 1e-3, "all go");
}

TEST_EACH_BACKEND(vectors_that_were_not_lent_cannot_be_restored) {
  CeedVector vec = NULL, work = NULL, none = NULL, again;
  CeedScalar *array;

  CHECK_OK(CeedVectorCreate(ceed, 3, &vec));
  CHECK_ERROR(ceed, CeedRestoreWorkVector(ceed, &vec), CEED_ERROR_MAJOR, "CeedRestoreWorkVector");
  CHECK(vec != NULL, "the handle is gone");
  CHECK_ERROR(ceed, CeedRestoreWorkVector(ceed, &none), CEED_ERROR_MAJOR, "CeedRestoreWorkVector");
  CHECK_OK(CeedGetWorkVector(ceed, 3, &work));
  again = work;
  CHECK_OK(CeedVectorGetArrayWrite(work, CEED_MEM_HOST, &array));
  CHECK_ERROR(ceed, CeedRestoreWorkVector(ceed, &work), CEED_ERROR_ACCESS, "CeedRestoreWorkVector");
  CHECK_OK(CeedVectorRestoreArray(work, &array));
  CHECK_OK(CeedRestoreWorkVector(ceed, &work));
  CHECK_ERROR(ceed, CeedRestoreWorkVector(ceed, &again), CEED_ERROR_ACCESS, "CeedRestoreWorkVector");
  CHECK_OK(CeedVectorSetValue(vec, 1));
  CHECK_OK(CeedVectorDestroy(&vec));
}

TEST_EACH_BACKEND(a_context_is_not_destroyed_while_a_work_vector_is_lent) {
  Ceed own = another(ceed);
  CeedVector work = NULL;

  CHECK_OK(CeedGetWorkVector(own, 7, &work));
  CHECK_ERROR(own, CeedDestroy(&own), CEED_ERROR_ACCESS, "work vector");
  CHECK(own != NULL, "the handle is gone");
  CHECK_OK(CeedVectorSetValue(work, 2));
  CHECK_OK(CeedRestoreWorkVector(own, &work));
  CHECK_OK(CeedDestroy(&own));
  CHECK(own == NULL, "the handle stays");
}

// A reference to a pooled vector is a reference like any other: it keeps the context alive.
TEST(a_reference_to_a_work_vector_outlives_the_pool) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  CeedVector work = NULL, kept = NULL;
  CeedScalar norm = 0;

  CHECK_OK(CeedGetWorkVector(ceed, 4, &work));
  CHECK_OK(CeedVectorReferenceCopy(work, &kept));
  CHECK_OK(CeedRestoreWorkVector(ceed, &work));
  CHECK_OK(CeedDestroy(&ceed));
  CHECK_OK(CeedVectorSetValue(kept, 2));
  CHECK_OK(CeedVectorNorm(kept, CEED_NORM_1, &norm));
  CHECK(norm == 8, "%g", (double)norm);
  CHECK_OK(CeedVectorDestroy(&kept));
}

// ---- Lifetime ----

TEST_EACH_BACKEND(reference_copies_count) {
  Ceed a = another(ceed), b = NULL;
  const char *resource = NULL;

  CHECK_OK(CeedReferenceCopy(a, &b));
  CHECK(a == b, "another handle");
  CHECK_OK(CeedDestroy(&a));
  CHECK(a == NULL, "the handle stays");
  CHECK_OK(CeedDestroy(&a)); // a second time
  CHECK_OK(CeedGetResource(b, &resource));
  CHECK_OK(CeedReferenceCopy(b, &b)); // onto itself
  CHECK_OK(CeedGetResource(b, &resource));
  a = tap_ceed("/cpu/self/ref");
  CHECK_OK(CeedReferenceCopy(ceed, &a)); // over a live handle, which goes
  CHECK(a == ceed, "another handle");
  CHECK_OK(CeedDestroy(&a));
  CHECK_OK(CeedDestroy(&b));
}

static int do_nothing(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx, (void)Q, (void)in, (void)out;
  return 0;
}

TEST(every_object_outlives_the_handle_of_its_context) {
  Ceed ceed = tap_ceed("/cpu/self/ref"), found = NULL;
  CeedVector vec = NULL;
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  CeedQFunction qf = NULL;
  CeedQFunctionContext ctx = NULL;
  CeedOperator op = NULL, composite = NULL;

  CHECK_OK(CeedVectorCreate(ceed, 6, &vec));
  CHECK_OK(CeedElemRestrictionCreateStrided(ceed, 2, 3, 1, 6, CEED_STRIDES_BACKEND, &rstr));
  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 3, 3, CEED_GAUSS, &basis));
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, do_nothing, "", &qf));
  CHECK_OK(CeedQFunctionContextCreate(ceed, &ctx));
  CHECK_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  CHECK_OK(CeedOperatorCreateComposite(ceed, &composite));
  CHECK_OK(CeedOperatorCompositeAddSub(composite, op));
  CeedObject objects[] = {(CeedObject)vec, (CeedObject)rstr, (CeedObject)basis,    (CeedObject)qf,
                          (CeedObject)ctx, (CeedObject)op,   (CeedObject)composite};
  Ceed original = ceed;
  CHECK_OK(CeedDestroy(&ceed));

  CHECK_OK(CeedVectorSetValue(vec, 1));
  CHECK_OK(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP));
  for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
    CHECK(CeedObjectReturnCeed(objects[i]) == original, "object %zu", i);
    CHECK_OK(CeedObjectGetCeed(objects[i], &found));
    CHECK(found == original, "object %zu", i);
    CHECK_OK(CeedDestroy(&found));
  }
  for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
    CHECK_OK(CeedObjectDestroy(&objects[i]));
    CHECK(objects[i] == NULL, "handle %zu stays", i);
  }
}

TEST(sentinels_survive_destruction_and_copies) {
  CeedVector vec = CEED_VECTOR_NONE, vec_copy = NULL;
  CeedBasis basis = CEED_BASIS_NONE, basis_copy = NULL;
  CeedElemRestriction rstr = CEED_ELEMRESTRICTION_NONE, rstr_copy = NULL;
  CeedQFunction qf = CEED_QFUNCTION_NONE;
  CeedSize length = -1;

  CHECK_OK(CeedVectorGetLength(CEED_VECTOR_NONE, &length));
  CHECK(length == 0, "%td", length);
  for (int i = 0; i < 3; i++) {
    CHECK_OK(CeedVectorReferenceCopy(CEED_VECTOR_ACTIVE, &vec_copy));
    CHECK_OK(CeedBasisReferenceCopy(CEED_BASIS_NONE, &basis_copy));
    CHECK_OK(CeedElemRestrictionReferenceCopy(CEED_ELEMRESTRICTION_NONE, &rstr_copy));
  }
  CHECK(vec_copy == CEED_VECTOR_ACTIVE && basis_copy == CEED_BASIS_NONE &&
            rstr_copy == CEED_ELEMRESTRICTION_NONE,
        "copies differ");
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK_OK(CeedVectorDestroy(&vec_copy));
  CHECK_OK(CeedBasisDestroy(&basis));
  CHECK_OK(CeedBasisDestroy(&basis_copy));
  CHECK_OK(CeedElemRestrictionDestroy(&rstr));
  CHECK_OK(CeedElemRestrictionDestroy(&rstr_copy));
  CHECK_OK(CeedQFunctionDestroy(&qf));
  CHECK(!vec && !vec_copy && !basis && !basis_copy && !rstr && !rstr_copy && !qf, "handles stay");
}

TEST(null_contexts_are_refused) {
  CeedVector vec = NULL;
  CeedInt tabs;
  bool flag;
  CeedScalar usage;
  const char *text;
  CeedMemType mem_type;
  Ceed copy = NULL;

#define REFUSED(expr) CHECK_ERROR(NULL, expr, CEED_ERROR_INCOMPATIBLE, "NULL")
  REFUSED(CeedReferenceCopy(NULL, &copy));
  REFUSED(CeedGetResource(NULL, &text));
  REFUSED(CeedGetPreferredMemType(NULL, &mem_type));
  REFUSED(CeedIsDeterministic(NULL, &flag));
  REFUSED(CeedSetStream(NULL, &tabs));
  REFUSED(CeedAddJitSourceRoot(NULL, "/"));
  REFUSED(CeedAddRustSourceRoot(NULL, "/"));
  REFUSED(CeedAddJitDefine(NULL, "N"));
  REFUSED(CeedSetIsClang(NULL, true));
  REFUSED(CeedGetIsClang(NULL, &flag));
  REFUSED(CeedView(NULL, stdout));
  REFUSED(CeedSetNumViewTabs(NULL, 1));
  REFUSED(CeedGetNumViewTabs(NULL, &tabs));
  REFUSED(CeedSetErrorHandler(NULL, CeedErrorStore));
  REFUSED(CeedGetErrorMessage(NULL, &text));
  REFUSED(CeedResetErrorMessage(NULL, &text));
  REFUSED(CeedGetWorkVector(NULL, 1, &vec));
  REFUSED(CeedRestoreWorkVector(NULL, &vec));
  REFUSED(CeedClearWorkVectors(NULL, 1));
  REFUSED(CeedGetWorkVectorMemoryUsage(NULL, &usage));
  REFUSED(CeedObjectView(NULL, stdout));
  REFUSED(CeedObjectSetNumViewTabs(NULL, 1));
  REFUSED(CeedObjectGetNumViewTabs(NULL, &tabs));
  REFUSED(CeedObjectGetCeed(NULL, &copy));
#undef REFUSED
  CHECK(CeedObjectReturnCeed(NULL) == NULL, "a context of nothing");
  CHECK_OK(CeedDestroy(&copy));
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(error_codes_have_the_values_and_texts_of_the_standard,
            enumerators_have_the_values_and_texts_of_the_standard,
            enumerators_without_texts_have_the_values_of_the_standard, texts_of_evaluation_modes_have_gaps,
            the_topology_tells_its_dimension, sentinels_and_constants_are_distinct_and_not_null,
            scalars_and_integers_are_what_their_macros_say, small_integer_functions,
            the_version_macro_takes_this_state_for_newer_than_all, the_version_is_that_of_the_header,
            the_build_configuration_has_lines_name_value,
            every_leading_path_of_a_resource_means_the_best_name_below_it,
            the_list_of_resources_goes_without_priorities_and_has_no_doubles,
            the_table_of_backends_tells_which_are_usable, resources_that_do_not_exist_are_refused,
            help_without_a_resource_is_refused, an_unknown_resource_ends_the_program_and_says_why,
            help_lists_all_resources_and_continues, a_stored_message_names_file_line_and_function,
            a_stored_message_is_cut_to_1024_bytes, a_handler_of_the_caller_gets_every_error_once,
            a_handler_that_is_null_is_refused, aborting_and_exiting_handlers_print_the_message,
            an_error_without_a_context_returns_when_the_environment_says_so,
            the_environment_chooses_the_handler_of_new_contexts,
            a_backend_that_does_not_start_leaves_its_words,
            options_that_a_resource_does_not_have_are_named_with_those_that_it_has,
            options_that_a_resource_has_are_taken, a_context_is_shown_in_three_lines,
            view_tabs_belong_to_the_object_and_are_not_negative, a_context_is_its_own_context,
            streams_are_refused_by_backends_without_them, a_deterministic_backend_says_so,
            clang_is_chosen_by_environment_call_or_rust_sources, jit_lists_copy_their_strings_and_refuse_null,
            requests_that_are_done_need_no_waiting, the_first_free_work_vector_that_is_long_enough_is_lent,
            clearing_the_pool_spares_lent_and_long_vectors, vectors_that_were_not_lent_cannot_be_restored,
            a_context_is_not_destroyed_while_a_work_vector_is_lent,
            a_reference_to_a_work_vector_outlives_the_pool, reference_copies_count,
            every_object_outlives_the_handle_of_its_context, sentinels_survive_destruction_and_copies,
            null_contexts_are_refused));
}
