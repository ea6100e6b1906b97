// SPDX-License-Identifier: BSD-2-Clause
// The disk cache between processes: many that start at once, some that are killed, locks that nobody gives
// back, what a warm start costs, folders that are full or do not let code be loaded, set-uid programs.
// Everything runs in child processes, which know nothing of each other.
#define _GNU_SOURCE // unshare: a mount that only one child sees
#include "tests/jit-kit.h"

#include <errno.h>
#include <fcntl.h>
#include <ritz/jit.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/wait.h>

enum { UNUSABLE = 77 }; // what a child wants cannot be had here

// ---- Children ----

static pid_t start_child(int (*work)(const void *data), const void *data) {
  fflush(NULL);
  pid_t pid = fork();

  if (pid == 0) _exit(work(data));
  return pid;
}

// Status of a child; 1000 + signal when it was killed.
static int end_child(pid_t pid) {
  int status = 0;

  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int run_child(int (*work)(const void *data), const void *data) {
  return end_child(start_child(work, data));
}

// Number of texts 100, 101, ... (of *data) that give a wrong answer, in a process of its own.
static int load_texts(const void *data) {
  int num = *(const int *)data, wrong = 0;
  RitzJitSource sources[16];
  RitzJitModule modules[16];
  Ceed ceed = NULL;

  if (CeedInit("/cpu/self/ref", &ceed)) return 99;
  for (int i = 0; i < num; i++) sources[i] = jit_number(100 + i);
  if (ritz_jit_load(ceed, (size_t)num, sources, modules)) return 98;
  for (int i = 0; i < num; i++) {
    wrong += jit_answer(modules[i]) != 100 + i;
    if (ritz_jit_status(modules[i])) fprintf(stderr, "# %s\n", ritz_jit_reason(modules[i]));
    ritz_jit_release(&modules[i]);
  }
  CeedDestroy(&ceed);
  return wrong;
}

// ---- Many at once ----

TEST(sixty_four_processes_on_an_empty_cache_compile_each_text_once) {
  enum { NUM = 64, NUM_TEXTS = 3 };
  NEEDS_COMPILER();
  const char *folder = jit_begin(), *count = tap_temp_file("count", NULL, 0);
  const int num_texts = NUM_TEXTS;
  pid_t children[NUM];
  int num_bad = 0;

  setenv("RITZ_CC", jit_counting_compiler(count), 1);
  for (int i = 0; i < NUM; i++) children[i] = start_child(load_texts, &num_texts);
  for (int i = 0; i < NUM; i++) num_bad += end_child(children[i]) != 0;
  CHECK(num_bad == 0, "%d processes failed", num_bad);
  CHECK(jit_count_files(folder, ".so") == NUM_TEXTS, "%d entries", jit_count_files(folder, ".so"));
  CHECK(jit_count_files(folder, "") == 2 * NUM_TEXTS + 1, "%d files", jit_count_files(folder, ""));
  CHECK(jit_count_lines(count) == NUM_TEXTS, "%d compilations", jit_count_lines(count));
}

TEST(a_warm_start_runs_no_program) {
  NEEDS_COMPILER();
  const char *count = tap_temp_file("count", NULL, 0), *real = jit_real_compiler();
  const int num_texts = 2;

  jit_begin();
  setenv("RITZ_CC", jit_script("echo x >>'%s'\nexec '%s' \"$@\"\n", count, real), 1);
  CHECK(run_child(load_texts, &num_texts) == 0, "cold");
  CHECK(jit_count_lines(count) == 4, "%d runs: version, flags, two texts", jit_count_lines(count));
  CHECK(run_child(load_texts, &num_texts) == 0, "warm");
  CHECK(jit_count_lines(count) == 4, "%d runs", jit_count_lines(count));
}

static int start_and_load(const void *data) {
  return RitzJitStart() || RitzJitStart() ? 1 : load_texts(data);
}

// Who needs the compiler meanwhile waits for the answers rather than asking, too.
TEST(a_compiler_that_is_asked_ahead_is_asked_once) {
  NEEDS_COMPILER();
  const char *count = tap_temp_file("count", NULL, 0), *real = jit_real_compiler();
  const int num_texts = 2;

  jit_begin();
  setenv("RITZ_CC", jit_script("echo x >>'%s'\nexec '%s' \"$@\"\n", count, real), 1);
  for (int is_warm = 0; is_warm < 2; is_warm++) {
    CHECK(run_child(start_and_load, &num_texts) == 0, "child");
    CHECK(jit_count_lines(count) == 4, "%d runs: version, flags, two texts", jit_count_lines(count));
  }
}

// ---- Killed at any moment ----

TEST(processes_killed_at_any_moment_leave_a_cache_that_works) {
  NEEDS_COMPILER();
  const char *folder = jit_begin();
  const int num_texts = 2, num_rounds = tap_level() > TAP_QUICK ? 60 : 10;
  uint64_t state = 7;
  int num_killed = 0;

  for (int round = 0; round < num_rounds; round++) {
    struct timespec pause = {.tv_nsec = 1000000 * tap_integer(&state, 120)};
    pid_t child = start_child(load_texts, &num_texts);

    nanosleep(&pause, NULL);
    kill(child, SIGKILL);
    int status = end_child(child);
    CHECK(status == 0 || status == 1000 + SIGKILL, "round %d: status %d", round, status);
    num_killed += status != 0;
    CHECK(run_child(load_texts, &num_texts) == 0, "after round %d", round);
    CHECK_OK(RitzJitClear(NULL, NULL));
  }
  tap_note("%d of %d killed; %d names in the folder", num_killed, num_rounds, jit_count_files(folder, ""));
  CHECK(run_child(load_texts, &num_texts) == 0, "at last");
  nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL); // compilers without a parent still write
}

static void set_age(const char *path, time_t seconds) {
  struct timespec times[2] = {{.tv_sec = time(NULL) - seconds}, {.tv_sec = time(NULL) - seconds}};

  utimensat(AT_FDCWD, path, times, 0);
}

TEST(what_killed_processes_left_behind_is_removed_after_a_day) {
  NEEDS_COMPILER();
  const char *folder = jit_begin(), *old = jit_path(folder, "ritz-jit-abcDEF"),
             *young = jit_path(folder, "ritz-jit-abcDEG");
  const char *lock = jit_path(folder, "0123456789abcdef0123456789abcdef01234567.lock"),
             *other = jit_path(folder, "other.lock");
  const int num_texts = 1;

  mkdir(folder, 0700);
  mkdir(old, 0700);
  mkdir(young, 0700);
  jit_write(jit_path(old, "kernel.c"), "x\n");
  jit_write(lock, "");
  jit_write(other, "");
  set_age(old, 25 * 3600);
  set_age(young, 23 * 3600);
  set_age(lock, 25 * 3600);
  set_age(other, 25 * 3600);
  CHECK(run_child(load_texts, &num_texts) == 0, "load");
  CHECK(access(old, F_OK) && access(lock, F_OK), "old ones are left");
  CHECK(!access(young, F_OK) && !access(other, F_OK), "young ones, or files of others, are removed");
}

// ---- Locks ----

// Path of the lock of text 100, whose entry is removed again.
static const char *lock_of_first(const char *folder) {
  const int one = 1;
  RitzJitEntry *entries = NULL;
  char name[64] = "";
  size_t num = 0;

  if (run_child(load_texts, &one) || RitzJitList(NULL, &num, &entries) || num != 1) return NULL;
  snprintf(name, sizeof(name), "%s.lock", entries[0].key);
  free(entries);
  RitzJitClear(NULL, NULL);
  return jit_path(folder, name);
}

TEST(a_lock_that_is_never_given_back_is_overtaken) {
  NEEDS_COMPILER();
  const char *folder = jit_begin(), *path = lock_of_first(folder);
  const int num_texts = 1;

  CHECK(path, "no entry");
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  CHECK(fd >= 0 && !flock(fd, LOCK_EX), "lock");
  setenv("RITZ_JIT_TIMEOUT", "2", 1); // as long as a compiler may take
  CHECK(run_child(load_texts, &num_texts) == 0, "beside a live holder");
  CHECK(jit_count_files(folder, ".so") == 1, "not kept");
  close(fd);
}

TEST(the_lock_of_a_dead_process_is_free) {
  NEEDS_COMPILER();
  const char *folder = jit_begin(), *path = lock_of_first(folder);
  const int num_texts = 1;

  CHECK(path, "no entry");
  jit_write(path, "");
  CHECK(run_child(load_texts, &num_texts) == 0, "load");
  CHECK(access(path, F_OK), "the lock is left");
}

// Who waits for a compiler that refuses the text does not queue behind all others.
static int load_refused(const void *data) {
  RitzJitSource source = jit_source("#error no\n");
  RitzJitModule module = NULL;
  Ceed ceed = NULL;

  (void)data;
  if (CeedInit("/cpu/self/ref", &ceed) || ritz_jit_load(ceed, 1, &source, &module)) return 98;
  int status = ritz_jit_status(module);
  ritz_jit_release(&module);
  CeedDestroy(&ceed);
  return status == RITZ_JIT_REFUSED ? 0 : 1;
}

TEST(processes_that_load_a_refused_text_all_learn_so) {
  NEEDS_COMPILER();
  const char *folder = jit_begin();
  pid_t children[8];

  for (int i = 0; i < 8; i++) children[i] = start_child(load_refused, NULL);
  for (int i = 0; i < 8; i++) CHECK(end_child(children[i]) == 0, "process %d", i);
  CHECK(jit_count_files(folder, ".lock") == 0 && jit_count_files(folder, ".so") == 0, "left behind");
}

// ---- Folders of other kinds ----

// A file system in memory at `folder`, seen by this process alone; false: not allowed here.
static bool mount_there(const char *folder, unsigned long flags, const char *options) {
  return !mount("ritz-test", folder, "tmpfs", flags, options);
}

static bool may_mount(void) {
  return !unshare(CLONE_NEWNS) && !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

// The status of a text in a cache on a file system of its own.
static int status_of_text(const char *text, int *answer) {
  RitzJitSource source = jit_source(text);
  RitzJitModule module = NULL;
  Ceed ceed = NULL;

  if (CeedInit("/cpu/self/ref", &ceed) || ritz_jit_load(ceed, 1, &source, &module)) return 98;
  int status = ritz_jit_status(module);
  *answer = jit_answer(module);
  if (status) fprintf(stderr, "# %s\n", ritz_jit_reason(module));
  ritz_jit_release(&module);
  CeedDestroy(&ceed);
  return status;
}

static const char answer_200[] = "int answer(void) { return 200; }\n";

static int load_from_noexec(const void *data) {
  const char *folder = data;
  int answer = 0;

  if (!may_mount() || !mount_there(folder, MS_NOEXEC, "mode=0700")) return UNUSABLE;
  for (int i = 0; i < 2; i++) {
    jit_start_counting();
    if (status_of_text(answer_200, &answer) || answer != 200) return 1;
    if (jit_counted().disk_hits != i) return 2; // it is kept there all the same
  }
  return jit_count_files(folder, ".so") == 1 ? 0 : 3;
}

static int load_from_full(const void *data) {
  static const char text[] = "char big[1 << 20] = {1};\nint answer(void) { return 199 + big[0]; }\n";
  const char *folder = data, *temporary = getenv("TMPDIR");
  int answer = 0;

  if (!may_mount() || !mount_there(folder, 0, "mode=0700,size=512k"))
    return UNUSABLE; // room for the text alone
  if (status_of_text(text, &answer) || answer != 200) return 1;
  if (jit_count_files(folder, ".so") != 0) return 2;
  return jit_count_files(temporary, "") == 0 ? 0 : 3;
}

static int load_from_read_only(const void *data) {
  const char *folder = data;
  int answer = 0;

  if (!may_mount() || !mount_there(folder, 0, "mode=0700")) return UNUSABLE;
  if (status_of_text(answer_200, &answer) || answer != 200) return 1;
  if (mount("none", folder, NULL, MS_REMOUNT | MS_RDONLY, NULL)) return UNUSABLE;
  jit_start_counting();
  if (status_of_text(answer_200, &answer) || answer != 200 || jit_counted().disk_hits != 1) return 2;
  if (status_of_text("int answer(void) { return 201; }\n", &answer) || answer != 201) return 3;
  return jit_count_files(folder, ".so") == 1 ? 0 : 4;
}

static int load_from_nowhere(const void *data) {
  const char *folders[] = {"/tmp", "/dev/shm", "/run/user"};
  int answer = 0;

  (void)data;
  if (!may_mount()) return UNUSABLE;
  mkdir("/run/user", 0755);
  for (int i = 0; i < 3; i++)
    if (!mount_there(folders[i], MS_NOEXEC, "mode=0755")) return UNUSABLE;
  setenv("RITZ_CACHE_DIR", "/tmp/cache", 1);
  unsetenv("TMPDIR");
  return status_of_text(answer_200, &answer) == RITZ_JIT_NOT_LOADED ? 0 : 1;
}

TEST(code_is_loaded_although_the_cache_is_full_or_read_only_or_not_executable) {
  static const struct {
    const char *what;
    int (*work)(const void *folder);
  } kinds[] = {{"noexec", load_from_noexec},
               {"full", load_from_full},
               {"read-only", load_from_read_only},
               {"nowhere", load_from_nowhere}};
  NEEDS_COMPILER();

  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
    const char *folder = jit_begin();

    mkdir(folder, 0700);
    setenv("TMPDIR", jit_folder("tmp"), 1);
    int status = run_child(kinds[i].work, folder);
    if (status == UNUSABLE) tap_note("%s: file systems cannot be mounted here", kinds[i].what);
    CHECK(status == 0 || status == UNUSABLE, "%s: status %d", kinds[i].what, status);
  }
}

// ---- Set-uid programs ----

static int load_as_somebody_else(const void *data) {
  const char *folder = NULL, *path = NULL, *why = NULL;
  int answer = 0;

  (void)data;
  if (geteuid() != 0 || seteuid(65534)) return UNUSABLE;
  RitzJitGetFolder(&folder, &why);
  RitzJitGetCompiler(&path, NULL);
  if (folder || !strstr(why, "set-uid")) return 1;
  if (!path) return UNUSABLE; // none in the folders that such a program looks into
  return status_of_text(answer_200, &answer) || answer != 200;
}

TEST(a_set_uid_program_ignores_its_environment) {
  NEEDS_COMPILER();
  const char *folder = jit_begin();

  setenv("RITZ_CC", "/nonexistent", 1);
  int status = run_child(load_as_somebody_else, NULL);
  if (status == UNUSABLE) tap_note("cannot be tried here");
  CHECK(status == 0 || status == UNUSABLE, "status %d", status);
  CHECK(jit_count_files(folder, "") == 0, "the folder is used");
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(sixty_four_processes_on_an_empty_cache_compile_each_text_once,
                        a_warm_start_runs_no_program, a_compiler_that_is_asked_ahead_is_asked_once,
                        processes_killed_at_any_moment_leave_a_cache_that_works,
                        what_killed_processes_left_behind_is_removed_after_a_day,
                        a_lock_that_is_never_given_back_is_overtaken, the_lock_of_a_dead_process_is_free,
                        processes_that_load_a_refused_text_all_learn_so,
                        code_is_loaded_although_the_cache_is_full_or_read_only_or_not_executable,
                        a_set_uid_program_ignores_its_environment));
}
