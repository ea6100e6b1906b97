// SPDX-License-Identifier: BSD-2-Clause
// RitzWritePVD (contract in ritz/output.h): the list of a series of files with their times. Leaves the files
// themselves to mesh/vtu.c, temporary names and renaming to mesh/vtu-file.c.
#include <math.h>
#include <ritz/output.h>
#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/locale.h"
#include "mesh/vtu-file.h"

typedef struct {
  const char *call;
  Ceed ceed; // borrowed, as what follows
  CeedInt num;
  const double *times;
  const char *const *files;
  const char *path;
} Series;

// How many characters of the path are its folder, with the slash.
static size_t folder_length(const char *path) {
  const char *slash = strrchr(path, '/');

  return slash ? (size_t)(slash - path) + 1 : 0;
}

static int check_file(const Series *s, CeedInt i) {
  const size_t length = folder_length(s->path);
  const char *file = s->files[i];

  RITZ_REQUIRE(file && *file, s->ceed, CEED_ERROR_INCOMPATIBLE, "%s: file %" CeedInt_FMT " has no name",
               s->call, i);
  RITZ_REQUIRE(ritz_vtu_is_text(file), s->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the name of file %" CeedInt_FMT " must be UTF-8 without control characters", s->call, i);
  RITZ_REQUIRE(file[0] == '/' || !strncmp(file, s->path, length), s->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: file '%s' is not below the folder '%.*s' of the series", s->call, file, (int)length,
               s->path);
  RITZ_REQUIRE(isfinite(s->times[i]), s->ceed, CEED_ERROR_INCOMPATIBLE, "%s: time %" CeedInt_FMT " is %g",
               s->call, i, s->times[i]);
  RITZ_REQUIRE(i == 0 || s->times[i] > s->times[i - 1], s->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: time %" CeedInt_FMT ", %.17g, is not behind the one before, %.17g", s->call, i,
               s->times[i], s->times[i - 1]);
  return CEED_ERROR_SUCCESS;
}

static int check(const Series *s) {
  static const char end[] = ".pvd";
  const size_t length = s->path ? strlen(s->path) : 0;

  RITZ_REQUIRE(length > strlen(end) && !strcmp(s->path + length - strlen(end), end), s->ceed,
               CEED_ERROR_INCOMPATIBLE, "%s: expected a path that ends in .pvd, found '%s'", s->call,
               s->path ? s->path : "(NULL)");
  RITZ_REQUIRE(s->num >= 0, s->ceed, CEED_ERROR_DIMENSION, "%s: the number of files is %" CeedInt_FMT,
               s->call, s->num);
  RITZ_REQUIRE(s->num == 0 || (s->times && s->files), s->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: argument '%s' is NULL", s->call, s->times ? "files" : "times");
  for (CeedInt i = 0; i < s->num; i++) RITZ_TRY(check_file(s, i));
  return CEED_ERROR_SUCCESS;
}

// Readers look for a file from the folder of the list, unless its name is absolute.
static int print_series(const Series *s, RitzVtuFile *file) {
  const size_t length = folder_length(s->path);

  RITZ_TRY(ritz_vtu_file_print(file, "<?xml version=\"1.0\"?>\n"
                                     "<VTKFile type=\"Collection\" version=\"0.1\">\n  <Collection>\n"));
  for (CeedInt i = 0; i < s->num; i++) {
    const bool is_below = !strncmp(s->files[i], s->path, length);

    RITZ_TRY(ritz_vtu_file_print(file, "    <DataSet timestep=\"%.17g\" part=\"0\" file=\"", s->times[i]));
    RITZ_TRY(ritz_vtu_file_print_escaped(file, s->files[i] + (is_below ? length : 0)));
    RITZ_TRY(ritz_vtu_file_print(file, "\"/>\n"));
  }
  RITZ_TRY(ritz_vtu_file_print(file, "  </Collection>\n</VTKFile>\n"));
  return ritz_vtu_file_complete(file);
}

int RitzWritePVD(Ceed ceed, CeedInt num, const double *times, const char *const *files, const char *path) {
  RITZ_HANDLE(ceed);
  const Series s = {.call = __func__, .ceed = ceed, .num = num, .times = times, .files = files, .path = path};
  RitzLocale locale;
  RitzVtuFile file;

  RITZ_TRY(check(&s));
  RITZ_TRY(ritz_locale_enter(ceed, &locale));
  int ierr = ritz_vtu_file_open(ceed, __func__, path, &file);
  if (!ierr) ierr = print_series(&s, &file);
  ritz_vtu_file_discard(&file);
  ritz_locale_leave(&locale);
  return ierr;
}
