// SPDX-License-Identifier: BSD-2-Clause
// The figures of the machine: plausible, kept in a file, and measured again when the file is of no use. Most
// measurements are short ones: what is tested does not depend on their precision.
#include "tests/tap.h"

#include "base/memory.h"
#include "machine/machine.h"
#include <dirent.h>
#include <ritz.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const RitzMachineEffort brief = {.seconds = 1e-4, .max_bytes = 4 << 20};

// ---- Folders ----

// A fresh path, which is the cache folder from now on.
static const char *use_fresh_folder(void) {
  const char *folder = tap_temp_file("cache", NULL, 0);

  setenv("RITZ_CACHE_DIR", folder, 1);
  unsetenv("RITZ_CACHE");
  return folder;
}

static const char *file_in(const char *folder) {
  static char path[4096];

  snprintf(path, sizeof(path), "%s/machine.txt", folder);
  return path;
}

// Contents of a file, "" when there is none; longer ones are cut.
typedef struct {
  char text[2000];
} Contents;

static Contents read_file(const char *path) {
  Contents contents = {""};
  FILE *file = fopen(path, "r");

  if (!file) return contents;
  contents.text[fread(contents.text, 1, sizeof(contents.text) - 1, file)] = '\0';
  fclose(file);
  return contents;
}

static void write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "w");

  CHECK(file, "%s cannot be written", path);
  fputs(text, file);
  CHECK(!fclose(file), "%s cannot be written", path);
}

// What the file says of one thread's triad bandwidth is replaced by a number that nobody measures.
enum { PLANTED = 77777777 };
static void plant(const char *path) {
  Contents old = read_file(path), new = {""};
  char *at = strstr(old.text, "one.triad_bandwidth "), *end = at ? strchr(at, '\n') : NULL;

  CHECK(end, "no such line in %s:\n%s", path, old.text);
  snprintf(new.text, sizeof(new.text), "%.*sone.triad_bandwidth %d%s", (int)(at - old.text), old.text,
           PLANTED, end);
  write_file(path, new.text);
}

// A folder with a planted file.
static const char *use_planted_folder(void) {
  const char *folder = use_fresh_folder();
  RitzMachine machine;

  if (!ritz_machine_get(false, brief, &machine)) plant(file_in(folder));
  return folder;
}

static bool is_planted(void) {
  RitzMachine machine = {.one.triad_bandwidth = -1};

  return !ritz_machine_get(false, brief, &machine) && machine.one.triad_bandwidth == PLANTED;
}

// ---- Figures ----

static void check_rates(const RitzMachineRates *rates, int num_threads, int vector_bits) {
  // Four pipes at 10 GHz, and a terabyte per second and thread: more is no measurement of anything.
  double most = num_threads * 2.0 * 4 * 1e10 * vector_bits / 64;

  CHECK(rates->triad_bandwidth > 1e6 && rates->triad_bandwidth < 1e12 * num_threads, "%g bytes/s",
        (double)rates->triad_bandwidth);
  CHECK(rates->update_bandwidth > 1e6 && rates->update_bandwidth < 1e12 * num_threads, "%g bytes/s",
        (double)rates->update_bandwidth);
  CHECK(rates->double_flops > 1e6 && rates->double_flops < most, "%g flops/s", (double)rates->double_flops);
  CHECK(rates->single_flops > 1e6 && rates->single_flops < 2 * most, "%g flops/s",
        (double)rates->single_flops);
}

TEST(rates_are_those_of_a_computer) {
  RitzMachine m;

  CHECK_OK(ritz_machine_measure(0, brief, &m));
  check_rates(&m.one, 1, m.vector_bits);
  check_rates(&m.all, m.num_threads, m.vector_bits);
  CHECK(m.num_threads == m.num_processors && m.num_processors == ritz_num_processors(), "%d and %d threads",
        m.num_threads, m.num_processors);
  CHECK(m.vector_bits >= 64 && m.vector_bits % 64 == 0, "%d bits", m.vector_bits);
  CHECK(m.last_level_bytes >= m.l1_bytes && m.last_level_bytes >= m.l3_bytes, "caches smaller than one");
  CHECK(strlen(m.cpu_name) > 0 && !strchr(m.cpu_name, '\n'), "'%s' is no name", m.cpu_name);
}

static bool is_half_as_fast(const RitzMachineRates *all, const RitzMachineRates *one) {
  return 2 * all->triad_bandwidth >= one->triad_bandwidth &&
         2 * all->update_bandwidth >= one->update_bandwidth && 2 * all->double_flops >= one->double_flops &&
         2 * all->single_flops >= one->single_flops;
}

// Other programs may take the processors away from one of the two measurements, but hardly every time.
TEST(all_threads_together_are_not_slower_than_one) {
  RitzMachine m;
  bool holds = false;

  for (int i = 0; i < 40 && !holds; i++) {
    CHECK_OK(ritz_machine_measure(0, (RitzMachineEffort){.seconds = 1e-3, .max_bytes = 16 << 20}, &m));
    holds = is_half_as_fast(&m.all, &m.one);
  }
  CHECK(holds, "triad %g and %g, update %g and %g, double %g and %g, single %g and %g",
        (double)m.one.triad_bandwidth, (double)m.all.triad_bandwidth, (double)m.one.update_bandwidth,
        (double)m.all.update_bandwidth, (double)m.one.double_flops, (double)m.all.double_flops,
        (double)m.one.single_flops, (double)m.all.single_flops);
}

TEST(any_number_of_threads_can_be_measured) {
  RitzMachine m;

  CHECK_OK(ritz_machine_measure(3, brief, &m));
  CHECK(m.num_threads == 3, "%d threads", m.num_threads);
  check_rates(&m.all, 3, m.vector_bits);
  CHECK_OK(ritz_machine_measure(1, brief, &m));
  CHECK(m.num_threads == 1 && !memcmp(&m.one, &m.all, sizeof(m.one)), "one thread is not all of one");
}

TEST(the_public_call_measures) {
  RitzMachine m;

  if (tap_level() < TAP_FULL) NOT_HERE("takes a second, at level full");
  CHECK_OK(RitzMachineMeasure(1, &m));
  check_rates(&m.one, 1, m.vector_bits);
}

TEST(threads_of_a_context_are_those_of_its_resource) {
  static const struct {
    const char *resource;
    int wanted;
  } rows[] = {{"/cpu/self/gen:threads=1", 1},
              {"/cpu/self/gen:threads=2", 2},
              {"/cpu/self/gen:threads=all", 1 << 20},
              {"/cpu/self/opt/serial:threads=all", 1 << 20},
              {"/cpu/self/ref:threads=all", 1}};

  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    const int most = ritz_num_processors(), wanted = rows[i].wanted < most ? rows[i].wanted : most;
    Ceed ceed = NULL;
    CeedInt num = 0;

    CHECK_OK(CeedInit(rows[i].resource, &ceed));
    CHECK_OK(RitzGetNumThreads(ceed, &num));
    CHECK(num == wanted, "%s: %d threads, not %d", rows[i].resource, (int)num, wanted);
    CeedDestroy(&ceed);
  }
}

// ---- The file ----

TEST(figures_are_kept) {
  const char *folder = use_fresh_folder();
  RitzMachine first, second;

  CHECK_OK(ritz_machine_get(false, brief, &first));
  CHECK_OK(ritz_machine_get(false, brief, &second));
  CHECK(!strcmp(first.cpu_name, second.cpu_name) && first.num_threads == second.num_threads, "other facts");
  CHECK(first.measured == second.measured, "measured at %g and %g", (double)first.measured,
        (double)second.measured);
  CHECK(!memcmp(&first.one, &second.one, sizeof(first.one)) &&
            !memcmp(&first.all, &second.all, sizeof(first.all)),
        "other figures after reading them");
  plant(file_in(folder));
  CHECK(is_planted(), "what the file says is not used");
  CHECK_OK(RitzMachineGet(false, &second));
  CHECK(second.one.triad_bandwidth == PLANTED, "the public call does not use the file");
}

TEST(measuring_again_replaces_the_figures) {
  const char *folder = use_planted_folder();
  RitzMachine m;

  CHECK_OK(ritz_machine_get(true, brief, &m));
  CHECK(m.one.triad_bandwidth != PLANTED, "not measured");
  CHECK(!is_planted(), "%s was not replaced", file_in(folder));
}

// The first occurrence of `old` is replaced, or the text ends there when `new` is NULL.
static const struct {
  const char *what, *old, *new;
} damages[] = {
    {"another version", "machine 2", "machine 1"},
    {"another processor", "cpu ", "cpu Another "},
    {"another microcode", "microcode ", "microcode another "},
    {"an implausible bandwidth", "all.triad_bandwidth ", "all.triad_bandwidth 7\n"},
    {"a time of long ago", "measured 1", "measured 0"},
    {"a time to come", "measured ", "measured 9"},
    {"figures beside other programs that are gone", "load_percent ", "load_percent 99999"},
    {"another number of processors", "processors ", "processors 9"},
    {"a cut heading", "vector_bits", NULL},
    {"a cut list", "all.double_flops", NULL},
    {"a cut end", "all.single_flops", NULL},
    {"no number", "one.update_bandwidth ", "one.update_bandwidth x"},
    {"a negative number", "one.update_bandwidth ", "one.update_bandwidth -"},
    {"zero", "one.update_bandwidth ", "one.update_bandwidth 0\n"},
    {"a fraction", "\none.double_flops", ".5\none.double_flops"},
    {"another order", "one.double_flops", "one.single_flops"},
    {"a line too many", "all.single_flops ", "all.single_flops 1\nall.single_flops "},
    {"nothing", "ritz", NULL},
};
enum { NUM_DAMAGES = sizeof(damages) / sizeof(damages[0]) };

static void check_damaged(const char *path, const char *whole, int k) {
  const char *at = strstr(whole, damages[k].old);
  Contents damaged = {""};

  CHECK(at, "'%s' is not in the file:\n%s", damages[k].old, whole);
  snprintf(damaged.text, sizeof(damaged.text), "%.*s%s%s", (int)(at - whole), whole,
           damages[k].new ? damages[k].new : "", damages[k].new ? at + strlen(damages[k].old) : "");
  write_file(path, damaged.text);
  CHECK(!is_planted(), "%s: the file was used", damages[k].what);
  plant(path); // the file is whole again
  CHECK(is_planted(), "%s: the file was not replaced", damages[k].what);
}

TEST(a_damaged_file_is_replaced) {
  const char *path = file_in(use_planted_folder());
  Contents whole = read_file(path);

  CHECK(is_planted(), "nothing was kept");
  for (int k = 0; k < NUM_DAMAGES && !tap_failed(); k++) check_damaged(path, whole.text, k);
}

// Opening a pipe for reading would wait for a writer.
TEST(what_is_no_file_is_not_read) {
  const char *folder = use_planted_folder();

  CHECK(!remove(file_in(folder)) && !mkdir(file_in(folder), 0700), "no folder");
  CHECK(!is_planted(), "a folder was read");
  CHECK(!rmdir(file_in(folder)) && !mkfifo(file_in(folder), 0600), "no pipe");
  CHECK(!is_planted(), "a pipe was read");
  plant(file_in(folder));
  CHECK(is_planted(), "the pipe was not replaced");
}

TEST(a_file_of_another_owner_is_not_read) {
  const char *folder = use_planted_folder();

  if (geteuid() != 0) NOT_HERE("only root can give files away");
  CHECK(is_planted(), "nothing was kept");
  CHECK(!chown(file_in(folder), 12345, (gid_t)-1), "no other owner");
  CHECK(!is_planted(), "the file of another owner was read");
}

static int count_files(const char *folder) {
  DIR *list = opendir(folder);
  int num = 0;

  if (!list) return -1;
  for (struct dirent *entry = readdir(list); entry; entry = readdir(list)) num += entry->d_name[0] != '.';
  closedir(list);
  return num;
}

TEST(nothing_is_left_beside_the_file) {
  const char *folder = use_planted_folder();
  struct stat info;

  CHECK(count_files(folder) == 1, "%d files", count_files(folder));
  CHECK(!stat(folder, &info) && (info.st_mode & 0777) == 0700, "the folder is open to others");
}

TEST(without_a_folder_the_machine_is_measured) {
  RitzMachine m;

  use_fresh_folder();
  setenv("RITZ_CACHE_DIR", "/dev/null/cache", 1);
  CHECK_OK(ritz_machine_get(false, brief, &m));
  check_rates(&m.all, m.num_threads, m.vector_bits);
  unsetenv("RITZ_CACHE_DIR");
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "", 1);
  CHECK_OK(ritz_machine_get(false, brief, &m));
  check_rates(&m.all, m.num_threads, m.vector_bits);
}

TEST(nothing_is_kept_nor_read_when_the_cache_is_off) {
  const char *folder = use_planted_folder();
  Contents before = read_file(file_in(folder));

  setenv("RITZ_CACHE", "off", 1);
  CHECK(!is_planted(), "the file was read");
  CHECK(!strcmp(before.text, read_file(file_in(folder)).text), "the file was written");
  setenv("RITZ_CACHE", "on", 1);
  CHECK(is_planted(), "'on' is not 'off'");
}

// Each line of the rules before it is more binding than the next.
TEST(the_folder_is_the_first_one_that_the_environment_names) {
  char path[3][4096];

  snprintf(path[0], sizeof(path[0]), "%s/machine.txt", use_fresh_folder());
  setenv("XDG_CACHE_HOME", tap_temp_file("xdg", NULL, 0), 1);
  snprintf(path[1], sizeof(path[1]), "%s/ritz/machine.txt", getenv("XDG_CACHE_HOME"));
  setenv("HOME", tap_temp_file("home", NULL, 0), 1);
  snprintf(path[2], sizeof(path[2]), "%s/.cache/ritz/machine.txt", getenv("HOME"));
  static const char *const names[] = {"RITZ_CACHE_DIR", "XDG_CACHE_HOME", "HOME"};
  for (int i = 0; i < 3 && !tap_failed(); i++) {
    RitzMachine m;
    CHECK_OK(ritz_machine_get(false, brief, &m));
    for (int k = 0; k < 3; k++)
      CHECK(!access(path[k], R_OK) == (k <= i), "%s, before %s is unset", path[k], names[i]);
    unsetenv(names[i]);
  }
}

// ---- Misuse ----

TEST(wrong_arguments_are_refused) {
  RitzMachine m;

  CHECK_ERROR(NULL, RitzMachineMeasure(1, NULL), CEED_ERROR_INCOMPATIBLE, "");
  CHECK_ERROR(NULL, RitzMachineMeasure(-1, &m), CEED_ERROR_INCOMPATIBLE, "");
  CHECK_ERROR(NULL, RitzMachineGet(true, NULL), CEED_ERROR_INCOMPATIBLE, "");
}

// Without memory for the name of the folder there is none, which is no error.
TEST(lack_of_memory_leaves_nothing) {
  int64_t before = ritz_memory_live();
  int num_errors = 0;

  for (int n = 1; n < 30; n++) {
    RitzMachine m;
    ritz_memory_fail_at(n);
    int code = ritz_machine_get(true, brief, &m);
    ritz_memory_fail_at(0);
    CHECK(code == CEED_ERROR_SUCCESS || code == CEED_ERROR_MAJOR, "code %d", code);
    CHECK(ritz_memory_live() == before, "allocation %d failed and something is left", n);
    num_errors += code != CEED_ERROR_SUCCESS;
  }
  CHECK(num_errors >= 4, "%d errors: the team and the arrays, for one thread and all", num_errors);
}

int main(int argc, char **argv) {
  setenv("CEED_ERROR_HANDLER", "return", 1);
  return tap_main(argc, argv,
                  TESTS(rates_are_those_of_a_computer, all_threads_together_are_not_slower_than_one,
                        any_number_of_threads_can_be_measured, the_public_call_measures,
                        threads_of_a_context_are_those_of_its_resource, figures_are_kept,
                        measuring_again_replaces_the_figures, a_damaged_file_is_replaced,
                        what_is_no_file_is_not_read, a_file_of_another_owner_is_not_read,
                        nothing_is_left_beside_the_file, without_a_folder_the_machine_is_measured,
                        nothing_is_kept_nor_read_when_the_cache_is_off,
                        the_folder_is_the_first_one_that_the_environment_names, wrong_arguments_are_refused,
                        lack_of_memory_leaves_nothing));
}
