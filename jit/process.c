// SPDX-License-Identifier: BSD-2-Clause
// Programs that run beside this one (contract in jit/process.h).
#define _GNU_SOURCE // fallocate on Linux
#include "jit/process.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "jit/files.h"
#include "jit/strings.h"

double ritz_process_limit(void) {
  const char *text = ritz_environment(ENV_RITZ_JIT_TIMEOUT);
  double seconds = text ? strtod(text, NULL) : 0;

  return seconds > 0 && isfinite(seconds) ? seconds : 300;
}

// ---- Starting ----

static bool names(const char *variable, const char *name) {
  return !strncmp(variable, name, strlen(name)) && variable[strlen(name)] == '=';
}

// Messages in English, temporary files in a folder that is removed whatever happens; a set-uid program hands
// on nothing of its caller's.
static int make_environment(const char *folder, RitzStrings *words) {
  if (ritz_is_set_uid()) ritz_strings_add(words, "PATH=/usr/local/bin:/usr/bin:/bin");
  for (char *const *variable = ritz_environment_all(); variable && *variable && !ritz_is_set_uid();
       variable++)
    if (!names(*variable, "LC_ALL") && !names(*variable, "TMPDIR")) ritz_strings_add(words, "%s", *variable);
  ritz_strings_add(words, "LC_ALL=C");
  ritz_strings_add(words, "TMPDIR=%s", folder);
  return words->error;
}

// A group of its own, so that it can be stopped with its children; the signals as every program expects them.
static int set_attributes(posix_spawnattr_t *attributes) {
  static const int usual[] = {SIGINT, SIGTERM, SIGPIPE, SIGCHLD, SIGFPE, SIGSEGV, SIGABRT};
  sigset_t none, set;

  sigemptyset(&none);
  sigemptyset(&set);
  for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) sigaddset(&set, usual[i]);
  int code = posix_spawnattr_setflags(attributes,
                                      POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  if (!code) code = posix_spawnattr_setpgroup(attributes, 0);
  if (!code) code = posix_spawnattr_setsigmask(attributes, &none);
  return code ? code : posix_spawnattr_setsigdefault(attributes, &set);
}

static int set_files(posix_spawn_file_actions_t *actions, const char *log) {
  int code = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);

  if (!code)
    code = posix_spawn_file_actions_addopen(actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
  return code ? code : posix_spawn_file_actions_adddup2(actions, 1, 2);
}

// An errno value.
static int spawn(char *const *arguments, char *const *environment, const char *log, pid_t *pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  int code = posix_spawn_file_actions_init(&actions);

  if (code) return code;
  code = posix_spawnattr_init(&attributes);
  if (!code) {
    code = set_attributes(&attributes);
    if (!code) code = set_files(&actions, log);
    if (!code) code = posix_spawn(pid, arguments[0], &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&actions);
  return code;
}

int ritz_process_start(Ceed ceed, char *const *arguments, const char *folder, const char *log,
                       RitzProcess *process) {
  RitzStrings environment = {.ceed = ceed};
  char *log_path = NULL;
  int ierr = make_environment(folder, &environment);

  *process = (RitzProcess){.start = ritz_seconds(), .limit = ritz_process_limit(), .log = -1};
  if (!ierr) ierr = ritz_format(ceed, &log_path, "%s/%s", folder, log);
  if (!ierr) {
    int code = spawn(arguments, environment.item, log_path, &process->pid);

    if (code) process->pid = 0;
    if (code) snprintf(process->outcome, sizeof(process->outcome), "cannot be run: %s", strerror(code));
    if (!code) process->log = open(log_path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  }
  RITZ_FREE(&log_path);
  ritz_strings_free(&environment);
  return ierr;
}

// ---- What it says ----

enum { LOG_END = 64 << 10, MAX_LOG = 1 << 20 }; // kept at both ends; looked at while it grows

// Too long a log of a running program becomes a hole between its ends, which takes no room on the disk. Where
// there are no holes the log is cut when the program has ended.
static void bound_log(RitzProcess *process) {
#ifdef FALLOC_FL_PUNCH_HOLE
  struct stat status;

  if (process->log < 0 || fstat(process->log, &status) || status.st_size <= process->hole_end + MAX_LOG)
    return;
  process->hole_end = status.st_size - LOG_END;
  (void)!fallocate(process->log, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, LOG_END,
                   process->hole_end - LOG_END);
#else
  (void)process;
#endif
}

// Beginning, a line that says how much is missing, end.
static void end_log(RitzProcess *process) {
  char *end = malloc(LOG_END), note[80];
  struct stat status;
  ssize_t length = 0;
  long long num_lost = 0;

  if (end && process->log >= 0 && !fstat(process->log, &status) && status.st_size > 2 * LOG_END) {
    num_lost = (long long)status.st_size - 2 * LOG_END;
    length = pread(process->log, end, LOG_END, status.st_size - LOG_END);
  }
  if (length > 0 && !ftruncate(process->log, LOG_END)) {
    const int n = snprintf(note, sizeof(note), "\n[%lld bytes are left out]\n", num_lost);
    if (pwrite(process->log, note, (size_t)n, LOG_END) == n)
      (void)!pwrite(process->log, end, (size_t)length, LOG_END + n);
  }
  if (process->log >= 0) close(process->log);
  process->log = -1;
  free(end);
}

// ---- Ending ----

static void set_outcome(RitzProcess *process, int status) {
  size_t size = sizeof(process->outcome);

  process->pid = 0;
  end_log(process);
  process->seconds = ritz_seconds() - process->start;
  process->is_good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  process->is_violent = process->is_violent || WIFSIGNALED(status);
  if (process->outcome[0]) return; // we have stopped it
  if (WIFSIGNALED(status)) {
    snprintf(process->outcome, size, "was killed by signal %d", WTERMSIG(status));
  } else {
    snprintf(process->outcome, size, "ended with status %d", WEXITSTATUS(status));
  }
}

// A program that ignores SIGCHLD, or whose handler waits for every child, leaves no status: then the files
// that were written have to speak for themselves.
static bool collect(RitzProcess *process, int options) {
  int status = 0;
  pid_t pid;

  while ((pid = waitpid(process->pid, &status, options)) < 0 && errno == EINTR) continue;
  if (pid == 0) return false;
  set_outcome(process, pid < 0 ? 0 : status);
  return true;
}

static void stop(RitzProcess *process) {
  process->is_violent = true;
  kill(-process->pid, SIGKILL);
  collect(process, 0);
}

bool ritz_process_has_ended(RitzProcess *process) {
  if (!process->pid || collect(process, WNOHANG)) return true;
  bound_log(process);
  if (ritz_seconds() - process->start < process->limit) return false;
  snprintf(process->outcome, sizeof(process->outcome), "took more than %g s and was stopped", process->limit);
  stop(process);
  process->is_good = false;
  return true;
}

void ritz_process_wait(RitzProcess *process) {
  double moment = 0;

  while (!ritz_process_has_ended(process)) ritz_pause(&moment);
}

void ritz_process_kill(RitzProcess *process) {
  if (process->pid) stop(process);
}

void ritz_pause(double *moment) {
  *moment = *moment > 0 ? fmin(1.5 * *moment, 0.002) : 0.0005;
  nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * *moment)}, NULL);
}
