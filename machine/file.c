// SPDX-License-Identifier: BSD-2-Clause
// The figures on disk (place and rules: ritz/machine.h): a heading that says what they belong to, then one
// line "name value" for each, all of them whole numbers, in a fixed order.
#include <inttypes.h>
#include <ritz/jit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "machine/machine.h"

// Loops that are not optimized, or watched by a sanitizer, measure something else.
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static const char build[] = "optimized";
#else
static const char build[] = "not optimized";
#endif

// Slower than `least` is no computer of today, or was stopped meanwhile.
static const struct {
  const char *name;
  size_t offset;
  int64_t least;
} figures[] = {
    {"measured", offsetof(RitzMachine, measured), 1},
    {"load_percent", offsetof(RitzMachine, load_percent), 0},
    {"one.triad_bandwidth", offsetof(RitzMachine, one.triad_bandwidth), 20000000},
    {"one.update_bandwidth", offsetof(RitzMachine, one.update_bandwidth), 20000000},
    {"one.double_flops", offsetof(RitzMachine, one.double_flops), 1000000},
    {"one.single_flops", offsetof(RitzMachine, one.single_flops), 1000000},
    {"all.triad_bandwidth", offsetof(RitzMachine, all.triad_bandwidth), 20000000},
    {"all.update_bandwidth", offsetof(RitzMachine, all.update_bandwidth), 20000000},
    {"all.double_flops", offsetof(RitzMachine, all.double_flops), 1000000},
    {"all.single_flops", offsetof(RitzMachine, all.single_flops), 1000000},
};
enum { NUM_FIGURES = sizeof(figures) / sizeof(figures[0]), MAX_HEADING = 400, MAX_BYTES = 65536 };

static void write_heading(const RitzMachine *machine, char heading[MAX_HEADING]) {
  char microcode[40];

  ritz_machine_value("microcode", "unknown", microcode, sizeof(microcode));
  snprintf(heading, MAX_HEADING, "ritz machine 2, %s\ncpu %s\nmicrocode %s\nprocessors %d\nvector_bits %d\n",
           build, machine->cpu_name, microcode, machine->num_processors, machine->vector_bits);
}

// ---- Where ----

static int join(const char *begin, const char *end, char **text) {
  RITZ_TRY(RITZ_MALLOC(NULL, strlen(begin) + strlen(end) + 1, text));
  strcpy(*text, begin);
  strcat(*text, end);
  return CEED_ERROR_SUCCESS;
}

// *path: owned by the caller; NULL: nothing is to be read or written.
static int find_file(char **path) {
  const char *folder = NULL;

  *path = NULL;
  RITZ_TRY(RitzJitGetFolder(&folder, NULL));
  return folder ? join(folder, "/machine.txt", path) : CEED_ERROR_SUCCESS;
}

// ---- Reading ----

// Only a file of this user.
static FILE *open_own(const char *path) {
  struct stat info;
  const int descriptor = ritz_regular_open(path, 0, MAX_BYTES, &info, NULL);

  if (descriptor < 0) return NULL;
  FILE *file = info.st_uid == geteuid() ? fdopen(descriptor, "r") : NULL;
  if (!file) close(descriptor);
  return file;
}

static bool read_heading(FILE *file, const RitzMachine *machine) {
  char wanted[MAX_HEADING], found[MAX_HEADING];

  write_heading(machine, wanted);
  size_t length = strlen(wanted);
  return fread(found, 1, length, file) == length && !memcmp(found, wanted, length);
}

static bool read_figures(FILE *file, RitzMachine *machine) {
  char name[40], end;

  for (int i = 0; i < NUM_FIGURES; i++) {
    int64_t *figure = (int64_t *)(void *)((char *)machine + figures[i].offset);
    if (fscanf(file, "%39s %" SCNd64 "%c", name, figure, &end) != 3 || end != '\n') return false;
    if (strcmp(name, figures[i].name) != 0 || *figure < figures[i].least) return false;
  }
  return fgetc(file) == EOF;
}

// Whether they are to be measured again: for their age, or because other programs that held them down are
// gone.
static bool is_stale(const RitzMachine *machine) {
  const int64_t half_a_year = 183 * INT64_C(86400), day = 86400,
                age = (int64_t)time(NULL) - machine->measured;

  if (age > half_a_year || age < -day) return true;
  return machine->load_percent > 50 && ritz_machine_load_percent() < machine->load_percent / 2;
}

int ritz_machine_load(RitzMachine *machine, bool *found) {
  RitzMachine loaded = *machine;
  char *path = NULL;

  *found = false;
  RITZ_TRY(find_file(&path));
  FILE *file = path ? open_own(path) : NULL;
  RITZ_FREE(&path);
  if (!file) return CEED_ERROR_SUCCESS;
  *found = read_heading(file, machine) && read_figures(file, &loaded) && !is_stale(&loaded);
  fclose(file);
  if (!*found) return CEED_ERROR_SUCCESS;
  *machine = loaded;
  machine->num_threads = machine->num_processors;
  return CEED_ERROR_SUCCESS;
}

// ---- Writing ----

static bool write_figures(int descriptor, const RitzMachine *machine) {
  FILE *file = fdopen(descriptor, "w");
  char heading[MAX_HEADING];

  if (!file) {
    close(descriptor);
    return false;
  }
  write_heading(machine, heading);
  fputs(heading, file);
  for (int i = 0; i < NUM_FIGURES; i++) {
    const int64_t *figure = (const int64_t *)(const void *)((const char *)machine + figures[i].offset);
    fprintf(file, "%s %" PRId64 "\n", figures[i].name, *figure);
  }
  bool failed = ferror(file);
  return !fclose(file) && !failed;
}

int ritz_machine_keep(const RitzMachine *machine) {
  char *path = NULL, *draft = NULL;
  int ierr;

  RITZ_TRY(find_file(&path));
  if (!path) return CEED_ERROR_SUCCESS;
  RITZ_TRY_CLEANUP(join(path, ".XXXXXX", &draft));
  int descriptor = mkstemp(draft);
  if (descriptor >= 0 && (!write_figures(descriptor, machine) || rename(draft, path))) unlink(draft);
cleanup:
  RITZ_FREE(&draft);
  RITZ_FREE(&path);
  return ierr;
}
