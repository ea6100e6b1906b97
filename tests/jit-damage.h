// SPDX-License-Identifier: BSD-2-Clause
// Ways to spoil an entry of the disk cache, for the tests of what must not be taken from there. Each returns
// false when it cannot be done here. Included by tests/test-jit.c and tests/test-jit-binary.c.
#ifndef RITZ_TESTS_JIT_DAMAGE_H
#define RITZ_TESTS_JIT_DAMAGE_H

#include "tests/jit-kit.h"

typedef struct {
  const char *what;
  const char *suffix; // of the file that is spoiled
  bool (*spoil)(const char *path);
} Damage;

static inline bool jit_flip_bit(const char *path, long at) {
  FILE *file = fopen(path, "r+");

  if (!file) return false;
  fseek(file, at, SEEK_SET);
  int c = fgetc(file);
  fseek(file, at, SEEK_SET);
  fputc(c ^ 1, file);
  return !fclose(file);
}

static inline bool jit_halve(const char *path) {
  struct stat status;

  return !stat(path, &status) && !truncate(path, status.st_size / 2);
}
static inline bool jit_empty(const char *path) { return !truncate(path, 0); }
static inline bool jit_remove_it(const char *path) { return !unlink(path); }
static inline bool jit_let_group_write(const char *path) { return !chmod(path, 0664); }
static inline bool jit_let_all_write(const char *path) { return !chmod(path, 0646); }
static inline bool jit_give_away(const char *path) {
  return geteuid() == 0 && !chown(path, 65534, (gid_t)-1);
}
static inline bool jit_make_link(const char *path) {
  const char *target = tap_temp_file("target", NULL, 0);

  return !rename(path, target) && !symlink(target, path);
}
static inline bool jit_make_pipe(const char *path) { return !unlink(path) && !mkfifo(path, 0600); }

#endif
