// SPDX-License-Identifier: BSD-2-Clause
// Series of files (RitzWritePVD): a complete file after each step, times to the last bit in any locale, names
// as readers look for them, refusals that leave the file of before.
#include <math.h>
#include <ritz/output.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/comma-locale.h"
#include "tests/tap.h"

enum { MAX_STEPS = 5 };

// What a reader finds. The names are as in the file, with references.
typedef struct {
  int num;
  double times[MAX_STEPS];
  char files[MAX_STEPS][256];
  bool is_whole; // from the first element to the end of the last one, nothing else
} Series;

static Series read_series(const char *path) {
  static const char head[] =
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n  <Collection>\n";
  Series s = {0};
  char text[4096] = "";
  FILE *file = fopen(path, "r");

  if (!file) return s;
  text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
  fclose(file);
  if (strncmp(text, head, strlen(head))) return s;
  const char *at = text + strlen(head);
  for (; s.num < MAX_STEPS; s.num++) {
    char number[64];
    int length = 0;
    if (sscanf(at, "    <DataSet timestep=\"%63[^\"]\" part=\"0\" file=\"%255[^\"]\"/>%n", number,
               s.files[s.num], &length) < 2 ||
        !length)
      break;
    s.times[s.num] = strtod(number, NULL);
    at += length + 1;
  }
  s.is_whole = !strcmp(at, "  </Collection>\n</VTKFile>\n");
  return s;
}

static const double times[MAX_STEPS] = {-1, 0, 1e-300, 1.0 / 3, 1e17 + 16};

static void check_steps(Ceed ceed, const char *path, const char *const *files, const char *wanted[]) {
  for (int num = 0; num <= MAX_STEPS; num++) {
    CHECK_OK(RitzWritePVD(ceed, num, times, files, path));
    const char *locale = setlocale(LC_ALL, NULL);
    char *kept = strdup(locale);
    setlocale(LC_ALL, "C");
    const Series s = read_series(path);
    setlocale(LC_ALL, kept);
    free(kept);
    CHECK(s.is_whole && s.num == num, "%d of %d steps", s.num, num);
    for (int i = 0; i < num; i++)
      CHECK(s.times[i] == times[i] && !strcmp(s.files[i], wanted[i]), "step %d: %.17g, '%s'", i, s.times[i],
            s.files[i]);
  }
}

TEST(every_step_leaves_a_complete_series) {
  const char *folder = tap_temp_file("run", NULL, 0);
  static const char *const given[MAX_STEPS] = {"a.vtu", "steps/b.pvtu", "c & d.vtu", "\"e\" <f>.vtu",
                                               "\xc3\xa9.vtu"};
  const char *wanted[MAX_STEPS] = {"a.vtu", "steps/b.pvtu", "c &#38; d.vtu", "&#34;e&#34; &#60;f&#62;.vtu",
                                   "\xc3\xa9.vtu"};
  char path[1024], names[MAX_STEPS][1024];
  const char *files[MAX_STEPS];
  Ceed ceed = tap_ceed("/cpu/self/ref");

  CHECK(!mkdir(folder, 0700), "no folder");
  snprintf(path, sizeof(path), "%s/run.pvd", folder);
  for (int i = 0; i < MAX_STEPS; i++) {
    snprintf(names[i], sizeof(names[i]), "%s/%s", folder, given[i]);
    files[i] = names[i];
  }
  check_steps(ceed, path, files, wanted);
  if (tap_failed()) return;
  files[2] = "/elsewhere/c.vtu";
  wanted[2] = files[2];
  if (select_comma_locale()) check_steps(ceed, path, files, wanted);
  select_c_locale();
  CeedDestroy(&ceed);
}

TEST(wrong_series_are_errors_and_leave_that_of_before) {
  const double late[2] = {1, 1}, infinite[1] = {INFINITY};
  const char *path = tap_temp_file("kept.pvd", NULL, 0), *none[2] = {NULL, NULL},
             *here[2] = {"x.vtu", "y.vtu"};
  char below[2][1024];
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < 2; i++) {
    snprintf(below[i], sizeof(below[i]), "%s", path);
    snprintf(strrchr(below[i], '/') + 1, 16, "%d.vtu", i);
  }
  const char *files[2] = {below[0], below[1]}, *control[1] = {"/a\nb.vtu"};
  CHECK_OK(RitzWritePVD(ceed, 2, times, files, path));
  CHECK_ERROR(ceed, RitzWritePVD(ceed, 1, times, files, "run.vtu"), CEED_ERROR_INCOMPATIBLE, "ends in .pvd");
  CHECK_ERROR(ceed, RitzWritePVD(ceed, 1, times, files, ".pvd"), CEED_ERROR_INCOMPATIBLE, "ends in .pvd");
  CHECK_ERROR(ceed, RitzWritePVD(ceed, 1, times, files, NULL), CEED_ERROR_INCOMPATIBLE, "(NULL)");
  CHECK_ERROR(ceed, RitzWritePVD(ceed, -1, times, files, path), CEED_ERROR_DIMENSION, "is -1");
  CHECK_ERROR(ceed, RitzWritePVD(ceed, 1, NULL, files, path), CEED_ERROR_INCOMPATIBLE, "'times' is NULL");
  CHECK_ERROR(ceed, RitzWritePVD(ceed, 1, times, NULL, path), CEED_ERROR_INCOMPATIBLE, "'files' is NULL");
  CHECK_ERROR(ceed, RitzWritePVD(ceed, 1, times, none, path), CEED_ERROR_INCOMPATIBLE, "file 0 has no name");
  CHECK_ERROR(ceed, RitzWritePVD(ceed, 1, times, here, path), CEED_ERROR_INCOMPATIBLE,
              "'x.vtu' is not below");
  CHECK_ERROR(ceed, RitzWritePVD(ceed, 1, times, control, path), CEED_ERROR_INCOMPATIBLE, "UTF-8");
  CHECK_ERROR(ceed, RitzWritePVD(ceed, 2, late, files, path), CEED_ERROR_INCOMPATIBLE,
              "time 1, 1, is not behind");
  CHECK_ERROR(ceed, RitzWritePVD(ceed, 1, infinite, files, path), CEED_ERROR_INCOMPATIBLE, "time 0 is inf");
  CHECK_ERROR(ceed, RitzWritePVD(ceed, 0, NULL, NULL, "/no/such/folder/run.pvd"), CEED_ERROR_MAJOR,
              "/no/such/folder/run.pvd");
  const Series s = read_series(path);
  CHECK(s.is_whole && s.num == 2 && !strcmp(s.files[1], "1.vtu"), "%d steps, '%s'", s.num, s.files[1]);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(every_step_leaves_a_complete_series,
                        wrong_series_are_errors_and_leave_that_of_before));
}
