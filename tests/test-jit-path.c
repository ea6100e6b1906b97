// SPDX-License-Identifier: BSD-2-Clause
// Sources of QFunctions: text with local includes expanded, which means the same to a compiler as the files
// do; QFunctions that programs add to the gallery. Paths and their roots: test-qfunction.c.
#define RITZ_SOURCE_DIR "/no/such/folder" // as a Makefile of others may say
#include "tests/tap.h"

#include "base/memory.h"
#include <ceed/backend.h>
#include <ceed/jit-tools-deprecated.h>
#include <ceed/jit-tools.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- Files ----

// Name of a file for #include.
static const char *name_of(const char *path) { return strrchr(path, '/') + 1; }

// A path in the folder of temporary files for text that is written later: files may name each other.
static const char *reserve(const char *name) { return tap_temp_file(name, NULL, 0); }

static void write_text(const char *path, const char *format, ...) TAP_PRINTF(2, 3);
static void write_text(const char *path, const char *format, ...) {
  FILE *file = fopen(path, "w");
  va_list args;

  CHECK(file, "cannot write %s", path);
  va_start(args, format);
  vfprintf(file, format, args);
  va_end(args);
  fclose(file);
}

static int count(const char *text, const char *word) {
  int num = 0;

  for (const char *p = strstr(text, word); p; p = strstr(p + 1, word)) num++;
  return num;
}

// ---- Expansion of includes ----

TEST_EACH_BACKEND(text_without_includes_is_loaded_as_it_is) {
  static const char text[] =
      "// first\n#include <math.h>\n\tint a = '\\'';\n\n#define B \"x\" /* y\n z */ 3\r\nint b;\n";
  char *buffer = NULL;

  CHECK_OK(CeedLoadSourceToBuffer(ceed, tap_temp_text("plain.h", text), &buffer));
  CHECK(!strcmp(buffer, text), "%s", buffer);
  free(buffer);
  CHECK_OK(CeedLoadSourceToBuffer(ceed, tap_temp_text("empty.h", ""), &buffer));
  CHECK(!strcmp(buffer, ""), "'%s'", buffer);
  free(buffer);
  CHECK_OK(CeedLoadSourceToBuffer(ceed, tap_temp_text("open-line.h", "int a"), &buffer));
  CHECK(!strcmp(buffer, "int a\n"), "'%s'", buffer); // as a compiler reads it
  free(buffer);
}

TEST_EACH_BACKEND(long_texts_are_loaded_whole) {
  enum { SIZE = 100000 };
  char *text = malloc(SIZE + 1), *buffer = NULL;

  for (int i = 0; i < SIZE; i++) text[i] = (char)(i % 80 == 79 ? '\n' : 'a' + i % 26);
  text[SIZE - 1] = '\n', text[SIZE] = '\0';
  CHECK_OK(CeedLoadSourceToBuffer(ceed, tap_temp_text("long.h", text), &buffer));
  CHECK(!strcmp(buffer, text), "texts differ");
  free(buffer);
  free(text);
}

TEST_EACH_BACKEND(local_includes_are_replaced_by_the_text_of_the_file) {
  const char *inner = tap_temp_text("inner.h", "int inner;"), *outer = reserve("outer.h");
  char *buffer = NULL;

  write_text(outer, "char a[] = \"/*\", b = '\"', c = '\\'';\n #  include\t\"./%s\" // why\nint after;\n",
             name_of(inner));
  CHECK_OK(CeedLoadSourceToBuffer(ceed, outer, &buffer));
  CHECK(!strcmp(buffer, "char a[] = \"/*\", b = '\"', c = '\\'';\nint inner;\n // why\nint after;\n"), "%s",
        buffer);
  free(buffer);
}

TEST_EACH_BACKEND(includes_in_comments_and_strings_are_text) {
  static const char text[] = "/* for example\n#include \"none.h\"\n*/\n// #include \"none.h\"\n"
                             "const char *a = \"/*\";\nconst char *b = \"#include \\\"none.h\\\" */\";\n"
                             "#define C /* open\n#include \"none.h\"\n still */ 1\n/*\n#include \"none.h\" "
                             "*/ int d;\n#include_next \"none.h\"\n";
  char *buffer = NULL;

  CHECK_OK(CeedLoadSourceToBuffer(ceed, tap_temp_text("comments.h", text), &buffer));
  CHECK(!strcmp(buffer, text), "%s", buffer);
  free(buffer);
}

// Two files that include each other and themselves, protected in the ways there are.
static void check_mutual(Ceed ceed, const char *open, const char *close) {
  const char *first = reserve("first.h"), *second = reserve("second.h");
  char *buffer = NULL, other[256];

  snprintf(other, sizeof(other), "%s", open);
  for (char *p = other; (p = strstr(p, "FIRST")); p++) memcpy(p, "OTHER", 5);
  write_text(first, "%s#include \"%s\"\n#include \"%s\"\nint first;\n%s", open, name_of(second),
             name_of(first), close);
  write_text(second, "%s#include \"%s\"\n#include \"%s\"\nint second;\n%s", other, name_of(second),
             name_of(first), close);
  CHECK_OK(CeedLoadSourceToBuffer(ceed, first, &buffer));
  CHECK(count(buffer, "int first;") == 1 && count(buffer, "int second;") == 1, "%s", buffer);
  CHECK(count(buffer, "#include") == 0 && count(buffer, "once") == 0, "%s", buffer);
  free(buffer);
}

TEST_EACH_BACKEND(files_that_include_each_other_end) {
  check_mutual(ceed, "#pragma once\n", "");
  check_mutual(ceed, "// a\n#  pragma \t once // b\r\n", "");
  check_mutual(ceed, "#ifndef FIRST\n#define FIRST\n", "#endif\n");
  check_mutual(ceed, "// what\n\n/* it\n is */\n # ifndef FIRST /* x */\n#define FIRST\n#if 1\n",
               "#endif\n#endif // FIRST\n\n// end\n");
}

TEST_EACH_BACKEND(files_without_protection_are_taken_in_every_time) {
  const char *item = tap_temp_text("item.h", "ITEM\n"), *list = reserve("list.h");
  char *buffer = NULL;

  write_text(list, "#include \"%s\"\n#include \"%s\"\n", name_of(item), name_of(item));
  CHECK_OK(CeedLoadSourceToBuffer(ceed, list, &buffer));
  CHECK(count(buffer, "ITEM") == 2, "%s", buffer);
  free(buffer);
}

// A chain of files, each of which names the next one twice: the text grows with the files, not with the ways
// through them.
static void check_chain(Ceed ceed, bool has_guard) {
  const char *next = tap_temp_text("last.h", "#pragma once\n");
  char *buffer = NULL;

  for (int i = 0; i < 24; i++) {
    const char *path = reserve("link.h");

    if (has_guard) {
      write_text(path, "#ifndef G%d\n#define G%d\n#include \"%s\"\n#include \"%s\"\n#endif\n", i, i,
                 name_of(next), name_of(next));
    } else {
      write_text(path, "#pragma once\n#include \"%s\"\n#include \"%s\"\n", name_of(next), name_of(next));
    }
    next = path;
  }
  CHECK_OK(CeedLoadSourceToBuffer(ceed, next, &buffer));
  CHECK(strlen(buffer) < 24 * 512, "%zu characters", strlen(buffer));
  free(buffer);
}

TEST_EACH_BACKEND(protected_files_are_taken_in_once) {
  check_chain(ceed, false);
  check_chain(ceed, true);
}

// What looks like a guard but does not enclose the file protects nothing.
TEST_EACH_BACKEND(half_a_guard_is_no_guard) {
  const char *const texts[] = {"#ifndef X\n#define X\n#endif\nITEM\n", "ITEM\n#ifndef X\n#define X\n#endif\n",
                               "#ifndef X\n#define Y\nITEM\n#endif\n", "#ifdef X\n#define X\n#endif\nITEM\n",
                               "#ifndef X\nITEM\n#define X\n#endif\n", "#ifndef X\n#define X\nITEM\n"};

  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
    const char *item = tap_temp_text("item.h", texts[i]), *list = reserve("list.h");
    char *buffer = NULL;

    write_text(list, "#include \"%s\"\n#include \"%s\"\n", name_of(item), name_of(item));
    CHECK_OK(CeedLoadSourceToBuffer(ceed, list, &buffer));
    CHECK(count(buffer, "ITEM") == 2, "text %zu:\n%s", i, buffer);
    free(buffer);
  }
}

// ---- What a compiler makes of it ----

// The text that remains after preprocessing, each run of blanks and newlines as one blank; "" without a
// compiler.
static void preprocess(const char *path, const char *options, char *text, size_t size) {
  char command[4096];
  size_t length = 0;

  snprintf(command, sizeof(command), "cc -E -P -w %s -x c '%s' 2>&1", options, path);
  FILE *pipe = popen(command, "r");
  bool after_blank = true;

  for (int c = pipe ? fgetc(pipe) : EOF; c != EOF && length + 1 < size; c = fgetc(pipe)) {
    bool is_blank = strchr(" \t\r\n", c) != NULL;

    if (!is_blank || !after_blank) text[length++] = (char)(is_blank ? ' ' : c);
    after_blank = is_blank;
  }
  if (pipe && pclose(pipe)) length = 0;
  text[length] = '\0';
}

// Preprocessing the buffer gives what preprocessing the file gives.
static void check_same_meaning(Ceed ceed, const char *path, const char *options) {
  static char wanted[16384], found[16384];
  char *buffer = NULL;

  CHECK_OK(CeedLoadSourceToBuffer(ceed, path, &buffer));
  preprocess(path, options, wanted, sizeof(wanted));
  preprocess(tap_temp_text("buffer.h", buffer), options, found, sizeof(found));
  CHECK(!strcmp(found, wanted), "options '%s':\n%s\ninstead of\n%s\nfrom\n%s", options, found, wanted,
        buffer);
  free(buffer);
}

// A header that is first met where a condition may hide it, then again; headers with guards of both kinds and
// without, diamonds, macros that change between two inclusions.
TEST_EACH_BACKEND(expanded_text_means_the_same_to_a_compiler) {
  const char *once = tap_temp_text("once.h", "#pragma once\nint once;\n");
  const char *guarded =
      tap_temp_text("guarded.h", "#ifndef GUARDED\n#define GUARDED\nint guarded;\n#endif\n");
  const char *plain = tap_temp_text("plain.h", "int PASTE(plain, VALUE);\n");
  const char *middle = reserve("middle.h"), *top = reserve("top.h");
  char text[4096], probe[64];
  const char *const options[] = {"", "-DHIDDEN", "-DOTHER", "-DHIDDEN -DOTHER"};

  preprocess(once, "", probe, sizeof(probe));
  if (!probe[0]) SKIP("there is no C compiler called cc");
  write_text(middle,
             "#ifndef MIDDLE\n#define MIDDLE\n#include \"%s\"\n#include \"%s\"\n"
             "int middle = VALUE; /* tail */\n#endif\n",
             name_of(once), name_of(guarded));
  snprintf(text, sizeof(text),
           "#define PASTE_(a, b) a##b\n#define PASTE(a, b) PASTE_(a, b)\n#define VALUE 1\n"
           "#ifdef HIDDEN\n#include \"%s\"\n#include \"%s\" /* more\n lines */\nint more;\n#endif\n"
           "#include \"%s\"\n#undef VALUE\n#define VALUE 2\n#include \"%s\"\n"
           "#ifdef OTHER\n#include \"%s\"\n#else\nint other;\n#endif\n#include \"%s\"\n#include \"%s\"\nint "
           "top;\n",
           name_of(middle), name_of(guarded), name_of(plain), name_of(plain), name_of(once), name_of(middle),
           name_of(once));
  write_text(top, "%s", text);
  for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
    check_same_meaning(ceed, top, options[i]);
    if (tap_failed()) return;
  }
}

// ---- Where files are looked for ----

TEST_EACH_BACKEND(includes_are_found_beside_their_file_then_below_the_roots) {
  const char *far = tap_temp_text("far.h", "int far_away;\n"), *near = reserve("near.h");
  char root[1024], *buffer = NULL;

  snprintf(root, sizeof(root), "%.*s", (int)(name_of(far) - far), far);
  CHECK_OK(CeedAddJitSourceRoot(ceed, root));
  write_text(near, "#include \"ceed/jit-source/gallery/ceed-scale.h\"\n#include \"%s\"\n", name_of(far));
  CHECK_OK(CeedLoadSourceToBuffer(ceed, near, &buffer));
  CHECK(count(buffer, "int far_away;") == 1 && count(buffer, "CEED_QFUNCTION(Scale)") == 1, "%s", buffer);
  CHECK(count(buffer, "#include <ceed/types.h>") == 1, "system includes are kept");
  free(buffer);
}

// From the folder in which tests run, none of these names is a file.
TEST_EACH_BACKEND(sources_of_the_library_are_inside_it) {
  static const struct {
    const char *name, *function;
  } sources[] = {{"ceed/jit-source/gallery/ceed-scale.h", "CEED_QFUNCTION(Scale)"},
                 {"ritz/jit-source/geometry/mass.h", "ritz_geometry_jacobian("}, // of points.h, beside it
                 {"ritz/point-function.h", "ritz_point_gradients("}};
  char *buffer = NULL;
  CeedQFunction qf = NULL;

  for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
    CHECK_OK(CeedLoadSourceToBuffer(ceed, sources[i].name, &buffer));
    CHECK(strstr(buffer, sources[i].function), "%s is not in %s", sources[i].function, sources[i].name);
    free(buffer);
  }
  CHECK_OK(CeedQFunctionCreateInteriorByName(ceed, "MassApply", &qf));
  CHECK_OK(CeedQFunctionLoadSourceToBuffer(qf, (const char **)&buffer));
  CHECK(buffer && strstr(buffer, "CEED_QFUNCTION(MassApply)"), "%s", buffer);
  free(buffer);
  CHECK_OK(CeedQFunctionDestroy(&qf));
}

TEST_EACH_BACKEND(files_that_cannot_be_read_are_named) {
  const char *lost = tap_temp_text("lost.h", "int a;\n#include \"no-such-file.h\"\n");
  const char *endless = reserve("endless.h"), *slash = strrchr(lost, '/');
  char folder[1024], *buffer = NULL;

  write_text(endless, "int again;\n#include \"%s\"\n", name_of(endless));
  snprintf(folder, sizeof(folder), "%.*s", (int)(slash - lost), lost);
  CHECK_ERROR(ceed, CeedLoadSourceToBuffer(ceed, "/no/such/file.h", &buffer), CEED_ERROR_MAJOR,
              "/no/such/file.h");
  CHECK_ERROR(ceed, CeedLoadSourceToBuffer(ceed, folder, &buffer), CEED_ERROR_MAJOR, folder);
  CHECK_ERROR(ceed, CeedLoadSourceToBuffer(ceed, lost, &buffer), CEED_ERROR_MAJOR, "no-such-file.h");
  CHECK_ERROR(ceed, CeedLoadSourceToBuffer(ceed, endless, &buffer), CEED_ERROR_MAJOR, "deeper");
  CHECK_ERROR(ceed, CeedLoadSourceToBuffer(ceed, NULL, &buffer), CEED_ERROR_MAJOR, "NULL");
  CHECK_ERROR(NULL, CeedLoadSourceToBuffer(NULL, lost, &buffer), CEED_ERROR_INCOMPATIBLE, "NULL");
  CHECK(!buffer, "a buffer was made");
}

// A pipe would keep the reader waiting, a device would never end.
TEST_EACH_BACKEND(only_regular_files_of_bounded_size_are_read) {
  const char *pipe = reserve("pipe.h"), *large = tap_temp_text("large.h", "int a;\n");
  const char *const paths[] = {pipe, "/dev/zero", large};
  const char *const wanted[] = {"is not a regular file", "is not a regular file", "has 67108865 bytes"};
  char *buffer = NULL;
  bool is_valid;

  CHECK(!mkfifo(pipe, 0600) && !truncate(large, (64 << 20) + 1), "no files");
  for (int i = 0; i < 3; i++) {
    const char *including = reserve("including.h"), *absolute = NULL;

    write_text(including, "#include \"%s\"\n", paths[i]);
    CHECK_ERROR(ceed, CeedLoadSourceToBuffer(ceed, paths[i], &buffer), CEED_ERROR_MAJOR, wanted[i]);
    CHECK_ERROR(ceed, CeedLoadSourceToBuffer(ceed, including, &buffer), CEED_ERROR_MAJOR, wanted[i]);
    CHECK_ERROR(ceed, CeedGetJitAbsolutePath(ceed, paths[i], &absolute), CEED_ERROR_MAJOR, wanted[i]);
    CHECK_OK(CeedCheckFilePath(ceed, paths[i], &is_valid));
    CHECK(!is_valid && !buffer && !absolute, "%s was accepted", paths[i]);
  }
}

// 2^40 files of a few lines each.
TEST_EACH_BACKEND(files_that_multiply_end) {
  enum { NUM = 40 };
  const char *paths[NUM + 1];
  char *buffer = NULL;

  for (int i = 0; i <= NUM; i++) paths[i] = reserve("double.h");
  for (int i = 0; i < NUM; i++)
    write_text(paths[i], "#include \"%s\"\n#include \"%s\"\n", name_of(paths[i + 1]), name_of(paths[i + 1]));
  write_text(paths[NUM], "%s", "");
  CHECK_ERROR(ceed, CeedLoadSourceToBuffer(ceed, paths[0], &buffer), CEED_ERROR_MAJOR,
              "includes more than 50000 files");
  CHECK(!buffer, "a buffer was made");
}

// 2^12 times 64 KiB.
TEST_EACH_BACKEND(texts_that_multiply_end) {
  enum { NUM = 12 };
  const char *paths[NUM + 1];
  char *buffer = NULL;

  for (int i = 0; i <= NUM; i++) paths[i] = reserve("double.h");
  for (int i = 0; i < NUM; i++)
    write_text(paths[i], "#include \"%s\"\n#include \"%s\"\n", name_of(paths[i + 1]), name_of(paths[i + 1]));
  write_text(paths[NUM], "int a%065536d;\n", 0);
  CHECK_ERROR(ceed, CeedLoadSourceToBuffer(ceed, paths[0], &buffer), CEED_ERROR_MAJOR,
              "are more than 67108864 bytes");
  CHECK(!buffer, "a buffer was made");
}

// A line that ends where nobody expects it.
TEST_EACH_BACKEND(odd_lines_do_no_harm) {
  const char *const texts[] = {"#",
                               "#include",
                               "#include \"",
                               "#include \"a",
                               "/*",
                               "/",
                               "\"",
                               "'",
                               "\"\\",
                               "#pragma",
                               "#ifndef",
                               "#ifndef X\n#define",
                               "#endif\n#endif\n",
                               "*/",
                               "#include \"\n"};

  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
    char *buffer = NULL;

    CHECK_OK(CeedLoadSourceToBuffer(ceed, tap_temp_text("odd.h", texts[i]), &buffer));
    CHECK(!strncmp(buffer, texts[i], strlen(texts[i])), "text %zu: '%s'", i, buffer);
    free(buffer);
  }
}

TEST_EACH_BACKEND(loading_survives_every_failing_allocation) {
  const char *inner = tap_temp_text("inner.h", "#pragma once\nint inner;\n"), *outer = reserve("outer.h");
  int64_t live = ritz_memory_live();
  char *buffer = NULL;

  write_text(outer, "#include \"%s\"\n#include \"%s\"\n", name_of(inner), name_of(inner));
  for (int64_t n = 1;; n++) {
    ritz_memory_fail_at(n);
    int ierr = CeedLoadSourceToBuffer(ceed, outer, &buffer);

    ritz_memory_fail_at(0);
    CHECK(ritz_memory_live() == live, "allocation %d leaves memory behind", (int)n);
    if (!ierr) break;
    CHECK(ierr == CEED_ERROR_MAJOR && !buffer && n < 1000, "allocation %d: code %d", (int)n, ierr);
  }
  CHECK(count(buffer, "int inner;") == 1, "%s", buffer);
  free(buffer);
}

// ---- Sources of QFunctions ----

static int nothing(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx, (void)Q, (void)in, (void)out;
  return CEED_ERROR_SUCCESS;
}

TEST_EACH_BACKEND(a_qfunction_gives_the_text_of_its_source) {
  CeedQFunction gallery = NULL, without = NULL, lost = NULL;
  const char *buffer = "";

  CHECK_OK(CeedQFunctionCreateInteriorByName(ceed, "MassApply", &gallery));
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, nothing, "", &without));
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, nothing, "/no/such/file.h:f", &lost));
  CHECK_OK(CeedQFunctionLoadSourceToBuffer(without, &buffer));
  CHECK(!buffer, "text of nothing");
  CHECK_ERROR(ceed, CeedQFunctionLoadSourceToBuffer(lost, &buffer), CEED_ERROR_MAJOR, "/no/such/file.h");
  CHECK_ERROR(NULL, CeedQFunctionLoadSourceToBuffer(NULL, &buffer), CEED_ERROR_INCOMPATIBLE, "NULL");
  CHECK_OK(CeedQFunctionLoadSourceToBuffer(gallery, &buffer));
  CHECK(count(buffer, "CEED_QFUNCTION(MassApply)") == 1, "%s", buffer);
  free((char *)buffer);
  CeedQFunctionDestroy(&gallery);
  CeedQFunctionDestroy(&without);
  CeedQFunctionDestroy(&lost);
}

// ---- Additions to the gallery ----

static char requested_name[64];

static int add_fields(Ceed ceed, const char *requested, CeedQFunction qf) {
  (void)ceed;
  snprintf(requested_name, sizeof(requested_name), "%s", requested);
  int ierr = CeedQFunctionAddInput(qf, "in", 2, CEED_EVAL_NONE);

  return ierr ? ierr : CeedQFunctionAddOutput(qf, "out", 1, CEED_EVAL_INTERP);
}

static int fail(Ceed ceed, const char *requested, CeedQFunction qf) {
  (void)qf;
  return CeedError(ceed, CEED_ERROR_ACCESS, "not today: %s", requested);
}

// The caller's strings may go; the source counts from the folder that installations share.
TEST_EACH_BACKEND(added_qfunctions_are_made_by_name) {
  char name[] = "Test of additions", source[] = "/somewhere/include/ceed/jit-source/test.h:nothing";
  CeedQFunction qf = NULL;
  CeedQFunctionUser f = NULL;
  const char *text = "";
  CeedInt num_in = 0, num_out = 0, length = 0;

  CHECK_OK(CeedQFunctionRegister(name, source, 4, nothing, add_fields));
  memset(name, '?', strlen(name));
  memset(source, '?', strlen(source));
  CHECK_OK(CeedQFunctionCreateInteriorByName(ceed, "Test of additions", &qf));
  CHECK(!strcmp(requested_name, "Test of additions"), "init was asked for '%s'", requested_name);
  CHECK_OK(CeedQFunctionGetName(qf, &text));
  CHECK(!strcmp(text, "Test of additions"), "name '%s'", text);
  CHECK_OK(CeedQFunctionGetKernelName(qf, &text));
  CHECK(!strcmp(text, "nothing"), "kernel '%s'", text);
  CHECK_OK(CeedQFunctionGetNumArgs(qf, &num_in, &num_out));
  CHECK_OK(CeedQFunctionGetVectorLength(qf, &length));
  CHECK_OK(CeedQFunctionGetUserFunction(qf, &f));
  CHECK(num_in == 1 && num_out == 1 && length == 4 && f == nothing, "%d, %d, %d", num_in, num_out, length);
  CHECK_ERROR(ceed, CeedQFunctionGetSourcePath(qf, &text), CEED_ERROR_MAJOR, "'ceed/jit-source/test.h'");
  CHECK_ERROR(ceed, CeedQFunctionCreateInteriorByName(ceed, "Test of addition", &qf), CEED_ERROR_UNSUPPORTED,
              "no QF");
  CeedQFunctionDestroy(&qf);
}

TEST_EACH_BACKEND(additions_without_init_have_no_fields_and_failing_init_is_passed_on) {
  CeedQFunction qf = NULL;
  CeedInt num_in = -1, num_out = -1;

  CHECK_OK(CeedQFunctionRegister("Test without init", "ceed/jit-source/test.h:nothing", 1, nothing, NULL));
  CHECK_OK(CeedQFunctionCreateInteriorByName(ceed, "Test without init", &qf));
  CHECK_OK(CeedQFunctionGetNumArgs(qf, &num_in, &num_out));
  CHECK(num_in == 0 && num_out == 0, "%d, %d", num_in, num_out);
  CeedQFunctionDestroy(&qf);
  CHECK_OK(CeedQFunctionRegister("Test that fails", "ceed/jit-source/test.h:nothing", 1, nothing, fail));
  CHECK_ERROR(ceed, CeedQFunctionCreateInteriorByName(ceed, "Test that fails", &qf), CEED_ERROR_ACCESS,
              "today");
  CHECK_OK(CeedQFunctionRegister("Test of lengths", "ceed/jit-source/test.h:nothing", 0, nothing, NULL));
  CHECK_ERROR(ceed, CeedQFunctionCreateInteriorByName(ceed, "Test of lengths", &qf), CEED_ERROR_DIMENSION,
              "length");
  CHECK(!qf, "a QFunction was made");
}

TEST(names_of_additions_are_taken_once) {
  static const char source[] = "ceed/jit-source/test.h:nothing";

  CHECK_OK(CeedQFunctionRegister("Test of names", source, 1, nothing, add_fields));
  CHECK_OK(CeedQFunctionRegister("Test of names", source, 1, nothing, add_fields)); // the same again
  CHECK_ERROR(NULL, CeedQFunctionRegister("Test of names", source, 1, nothing, fail), CEED_ERROR_MINOR,
              "another");
  CHECK_ERROR(NULL, CeedQFunctionRegister("Test of names", source, 2, nothing, add_fields), CEED_ERROR_MINOR,
              "another");
  CHECK_ERROR(NULL, CeedQFunctionRegister("MassApply", source, 1, nothing, add_fields), CEED_ERROR_MINOR,
              "another");
  CHECK_ERROR(NULL, CeedQFunctionRegister("Test", "include/test.h:nothing", 1, nothing, add_fields),
              CEED_ERROR_MAJOR, "ceed/jit-source");
  CHECK_ERROR(NULL, CeedQFunctionRegister("Test", NULL, 1, nothing, add_fields), CEED_ERROR_MAJOR, "NULL");
  CHECK_ERROR(NULL, CeedQFunctionRegister(NULL, source, 1, nothing, add_fields), CEED_ERROR_INCOMPLETE,
              "NULL");
}

enum { NUM_THREADS = 4, NUM_EACH = 25 };

// Registers names of its own and one that all threads share, and makes them in a context of its own. Returns
// NULL, or anything else after a failure.
static void *add_some(void *number) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  bool failed = false;

  for (int i = 0; i < NUM_EACH; i++) {
    char name[64];
    CeedQFunction own = NULL, shared = NULL;
    int ierr = CeedQFunctionRegister("Test of threads", "ceed/jit-source/test.h:nothing", 1, nothing, NULL);

    snprintf(name, sizeof(name), "Test of thread %d, %d", *(int *)number, i);
    if (!ierr) ierr = CeedQFunctionRegister(name, "ceed/jit-source/test.h:nothing", 1, nothing, NULL);
    if (!ierr) ierr = CeedQFunctionCreateInteriorByName(ceed, name, &own);
    if (!ierr) ierr = CeedQFunctionCreateInteriorByName(ceed, "Test of threads", &shared);
    CeedQFunctionDestroy(&own);
    CeedQFunctionDestroy(&shared);
    failed = failed || ierr;
  }
  CeedDestroy(&ceed);
  return failed ? number : NULL;
}

TEST(several_threads_may_add_to_the_gallery) {
  pthread_t threads[NUM_THREADS];
  int numbers[NUM_THREADS];
  void *result = NULL;

  for (int i = 0; i < NUM_THREADS; i++) {
    numbers[i] = i;
    CHECK(!pthread_create(&threads[i], NULL, add_some, &numbers[i]), "thread %d", i);
  }
  for (int i = 0; i < NUM_THREADS; i++) {
    CHECK(!pthread_join(threads[i], &result) && !result, "thread %d failed", i);
  }
}

// The last test: it fills the gallery of this process.
TEST(the_gallery_holds_as_many_functions_as_the_standard_says) {
  static const char source[] = "ceed/jit-source/test.h:nothing";
  int num_added = 0, ierr = CEED_ERROR_SUCCESS;
  char name[64];
  Ceed ceed = tap_ceed("/cpu/self/ref");
  CeedQFunction qf = NULL;

  ritz_memory_fail_at(1);
  CHECK_ERROR(NULL, CeedQFunctionRegister("Test of memory", source, 1, nothing, NULL), CEED_ERROR_MAJOR,
              "memory");
  ritz_memory_fail_at(0);
  for (; !ierr && num_added < 2000; num_added += !ierr) {
    snprintf(name, sizeof(name), "Test of limits %d", num_added);
    ierr = CeedQFunctionRegister(name, source, 1, nothing, NULL);
  }
  CHECK(ierr == CEED_ERROR_MAJOR && num_added > 500 && num_added < 1024, "code %d after %d", ierr, num_added);
  CHECK_OK(CeedQFunctionCreateInteriorByName(ceed, "Test of limits 0", &qf));
  CHECK_OK(CeedQFunctionRegister("Test of limits 0", source, 1, nothing, NULL)); // known: nothing to add
  CeedQFunctionDestroy(&qf);
  CeedDestroy(&ceed);
}

// ---- Files that a compiler was given by a relative path ----

CEED_QFUNCTION(Nothing)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx, (void)Q, (void)in, (void)out;
  return 0;
}

// The file that the source "FILE:Nothing" is read from; "" where there is none. Valid until the next call.
static const char *file_of(Ceed ceed, const char *file) {
  static char found[4096];
  char source[16400];
  const char *path = NULL;
  CeedQFunction qf = NULL;

  snprintf(source, sizeof(source), "%s:Nothing", file);
  if (CeedQFunctionCreateInterior(ceed, 1, Nothing, source, &qf)) return NULL;
  snprintf(found, sizeof(found), "%s", CeedQFunctionGetSourcePath(qf, &path) || !path ? "" : path);
  return CeedQFunctionDestroy(&qf) ? NULL : found;
}

// Folder and name of a path: of `path` itself, which is cut.
static const char *split(char *path) {
  char *slash = strrchr(path, '/');

  *slash = '\0';
  return slash + 1;
}

TEST(a_relative_source_is_found_below_the_folders_of_RITZ_SOURCE_DIR) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  char folder[4096], folders[8192], whole[8192];

  snprintf(folder, sizeof(folder), "%s", tap_temp_text("far.h", "int a;\n"));
  const char *name = split(folder);
  CHECK(!strcmp(file_of(ceed, name), ""), "'%s' is found", name);
  snprintf(folders, sizeof(folders), "/no/such/folder::%s", folder);
  setenv("RITZ_SOURCE_DIR", folders, 1);
  snprintf(whole, sizeof(whole), "%s/%s", folder, name);
  CHECK(!strcmp(file_of(ceed, name), whole), "%s", file_of(ceed, name));
  unsetenv("RITZ_SOURCE_DIR");
  CeedDestroy(&ceed);
}

// "FOLDER//FILE": FILE may be absolute, and the folder may be gone.
TEST(the_folder_of_compilation_stands_before_a_relative_source) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  char folder[4096], source[16384], whole[8192];

  CHECK(!strcmp(Nothing_loc, "/no/such/folder//" __FILE__ ":Nothing"), "%s", Nothing_loc);
  // An absolute path, or one below the folder of the build, which is found beside the program.
  CHECK(strstr(file_of(ceed, "/no/such/folder//" __FILE__), "tests/test-jit-path.c"), "%s", __FILE__);
  snprintf(folder, sizeof(folder), "%s", tap_temp_text("compiled.h", "int a;\n"));
  const char *name = split(folder);
  snprintf(whole, sizeof(whole), "%s/%s", folder, name);
  snprintf(source, sizeof(source), "%s//%s", folder, name);
  CHECK(!strcmp(file_of(ceed, source), source), "%s", file_of(ceed, source));
  snprintf(source, sizeof(source), "/no/such/folder//%s", whole); // three slashes in a row
  CHECK(!strcmp(file_of(ceed, source), whole), "%s", file_of(ceed, source));
  setenv("RITZ_SOURCE_DIR", folder, 1);
  snprintf(source, sizeof(source), "/no/such/folder//%s", name);
  CHECK(!strcmp(file_of(ceed, source), whole), "%s", file_of(ceed, source));
  unsetenv("RITZ_SOURCE_DIR");
  CeedDestroy(&ceed);
}

// The build writes a header beside the program.
TEST(a_relative_source_is_found_beside_the_program_wherever_that_runs) {
  static const char name[] = "ritz-tests.h";
  Ceed ceed = tap_ceed("/cpu/self/ref");
  char *program = realpath("/proc/self/exe", NULL), folder[4096], before[4096], whole[8192], below[8192];

  CHECK(program && getcwd(before, sizeof(before)) && !chdir("/"), "no folder to go to");
  snprintf(folder, sizeof(folder), "%s", program);
  split(folder);
  snprintf(whole, sizeof(whole), "%s/%s", folder, name);
  snprintf(below, sizeof(below), "%s/%s", split(folder), name);
  CHECK(!strcmp(file_of(ceed, name), whole), "%s: %s", name, file_of(ceed, name));
  CHECK(!strcmp(file_of(ceed, below), whole), "%s: %s", below, file_of(ceed, below));
  CHECK(!strcmp(file_of(ceed, "no-such-file.h"), ""), "what is nowhere is found");
  CHECK(!chdir(before), "the way back");
  free(program);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(text_without_includes_is_loaded_as_it_is, long_texts_are_loaded_whole,
                        local_includes_are_replaced_by_the_text_of_the_file,
                        includes_in_comments_and_strings_are_text, files_that_include_each_other_end,
                        files_without_protection_are_taken_in_every_time, protected_files_are_taken_in_once,
                        half_a_guard_is_no_guard, expanded_text_means_the_same_to_a_compiler,
                        includes_are_found_beside_their_file_then_below_the_roots,
                        sources_of_the_library_are_inside_it, files_that_cannot_be_read_are_named,
                        only_regular_files_of_bounded_size_are_read, files_that_multiply_end,
                        texts_that_multiply_end, odd_lines_do_no_harm,
                        loading_survives_every_failing_allocation, a_qfunction_gives_the_text_of_its_source,
                        added_qfunctions_are_made_by_name,
                        additions_without_init_have_no_fields_and_failing_init_is_passed_on,
                        names_of_additions_are_taken_once, several_threads_may_add_to_the_gallery,
                        the_gallery_holds_as_many_functions_as_the_standard_says,
                        a_relative_source_is_found_below_the_folders_of_RITZ_SOURCE_DIR,
                        the_folder_of_compilation_stands_before_a_relative_source,
                        a_relative_source_is_found_beside_the_program_wherever_that_runs));
}
