// SPDX-License-Identifier: BSD-2-Clause
// Progress of compilers (contract in jit/progress.h).
#include "jit/progress.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/environment.h"
#include "base/threads.h"
#include "jit/files.h"

// Since there was nothing to compile; guarded by RITZ_LOCK_JIT.
static struct { int num, num_done; } texts;

static atomic_flag is_showing = ATOMIC_FLAG_INIT;

void ritz_progress_count(int num, int num_done) {
  ritz_lock(RITZ_LOCK_JIT);
  if (texts.num == texts.num_done) texts.num = texts.num_done = 0;
  texts.num += num;
  texts.num_done += num_done;
  ritz_unlock(RITZ_LOCK_JIT);
}

static bool is_wanted(void) {
  const char *text = ritz_environment(ENV_RITZ_PROGRESS);

  return text && !strcmp(text, "1");
}

void ritz_wait_show(RitzWait *wait) {
  const double patience = 1, period = 0.2, now = ritz_seconds();

  if (wait->start == 0) wait->start = now;
  if (now - wait->start < patience || now - wait->last_shown < period || !is_wanted()) return;
  wait->last_shown = now;
  wait->shows = wait->shows || !atomic_flag_test_and_set(&is_showing);
  ritz_lock(RITZ_LOCK_JIT);
  const int num = texts.num, num_done = texts.num_done;
  ritz_unlock(RITZ_LOCK_JIT);
  if (!wait->shows || num_done >= num) return;
  fprintf(stderr, "\r  compiling kernel %d of %d, %.0f s ", num_done + 1, num, now - wait->start);
  fflush(stderr);
}

void ritz_wait_end(RitzWait *wait) {
  if (!wait->shows) return;
  fprintf(stderr, "\r%60s\r", "");
  fflush(stderr);
  wait->shows = false;
  atomic_flag_clear(&is_showing);
}
