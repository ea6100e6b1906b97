// SPDX-License-Identifier: BSD-2-Clause
// Files, folders and the environment (contract in jit/files.h).
#include "jit/files.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/error.h"
#include "core/memory.h"
#include "jit/words.h"

enum { BUFFER_SIZE = 16384 };

bool ritz_is_set_uid(void) { return getuid() != geteuid() || getgid() != getegid(); }

const char *ritz_environment(const char *name) {
  const char *value = ritz_is_set_uid() ? NULL : getenv(name);

  return value && *value ? value : NULL;
}

double ritz_seconds(void) {
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int64_t ritz_file_time(const struct stat *status) {
  return (int64_t)status->st_mtim.tv_sec * 1000000000 + status->st_mtim.tv_nsec;
}

// ---- Folders ----

bool ritz_folder_make(char *path, mode_t mode) {
  struct stat status;

  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    mkdir(path, mode);
    *slash = '/';
  }
  return !mkdir(path, mode) || (!stat(path, &status) && S_ISDIR(status.st_mode));
}

static bool others_may_write(const struct stat *status) { return status->st_mode & (S_IWGRP | S_IWOTH); }

const char *ritz_folder_doubt(const char *path, uid_t owner) {
  struct stat status;

  if (stat(path, &status) || !S_ISDIR(status.st_mode)) return "there is no such folder";
  if (status.st_uid != owner) return "the folder belongs to somebody else";
  if (others_may_write(&status)) return "others than its owner may write to the folder";
  return NULL;
}

int ritz_folder_make_temporary(Ceed ceed, const char *parent, char **path) {
  RITZ_TRY(ritz_format(ceed, path, "%s/ritz-jit-XXXXXX", parent));
  if (!mkdtemp(*path)) RITZ_FREE(path);
  return CEED_ERROR_SUCCESS;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place) {
  (void)status, (void)type, (void)place;
  remove(path);
  return 0;
}

void ritz_folder_remove(const char *path) {
  if (path) nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

// ---- Reading ----

int ritz_file_open(const char *path, uid_t owner) {
  struct stat status;
  int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC); // a pipe must not keep us waiting

  if (fd < 0) return -1;
  if (!fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_uid == owner && !others_may_write(&status))
    return fd;
  close(fd);
  return -1;
}

static ssize_t read_some(int fd, void *buffer, size_t size) {
  ssize_t n;

  while ((n = read(fd, buffer, size)) < 0 && errno == EINTR) continue;
  return n;
}

// A zero follows the bytes.
static int read_rest(Ceed ceed, int fd, size_t *num_bytes, char **text) {
  size_t length = 0, capacity = 0;
  ssize_t n;

  *text = NULL;
  do {
    if (capacity - length < 2) {
      capacity = 2 * capacity + BUFFER_SIZE;
      int ierr = RITZ_REALLOC(ceed, capacity, text);
      if (ierr) RITZ_FREE(text);
      RITZ_TRY(ierr);
    }
    n = read_some(fd, *text + length, capacity - length - 1);
    length += n > 0 ? (size_t)n : 0;
  } while (n > 0);
  if (n < 0) {
    RITZ_FREE(text);
  } else {
    (*text)[length] = '\0';
  }
  *num_bytes = length;
  return CEED_ERROR_SUCCESS;
}

int ritz_file_read(Ceed ceed, int fd, char **text) {
  size_t length = 0;

  return read_rest(ceed, fd, &length, text);
}

int ritz_file_read_bytes(Ceed ceed, int fd, size_t *num_bytes, char **bytes) {
  *bytes = NULL;
  return lseek(fd, 0, SEEK_SET) ? CEED_ERROR_SUCCESS : read_rest(ceed, fd, num_bytes, bytes);
}

int ritz_file_read_path(Ceed ceed, const char *path, char **text) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);

  *text = NULL;
  if (fd < 0) return CEED_ERROR_SUCCESS;
  int ierr = ritz_file_read(ceed, fd, text);
  close(fd);
  return ierr;
}

bool ritz_file_hash(int fd, RitzHash *hash) {
  unsigned char buffer[BUFFER_SIZE];
  RitzHasher hasher;
  ssize_t n;

  if (lseek(fd, 0, SEEK_SET)) return false;
  ritz_hash_begin(&hasher);
  while ((n = read_some(fd, buffer, sizeof(buffer))) > 0) ritz_hash_add(&hasher, buffer, (size_t)n);
  *hash = ritz_hash_end(&hasher);
  return n == 0;
}

bool ritz_file_hash_path(const char *path, RitzHash *hash) {
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  bool is_read = fd >= 0 && ritz_file_hash(fd, hash);

  if (fd >= 0) close(fd);
  return is_read;
}

// ---- Writing ----

static bool write_all(int fd, const void *data, size_t size) {
  const char *bytes = data;

  while (size) {
    ssize_t n = write(fd, bytes, size);

    if (n < 0 && errno != EINTR) return false;
    bytes += n > 0 ? n : 0;
    size -= n > 0 ? (size_t)n : 0;
  }
  return true;
}

static int create(const char *path) { return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644); }

bool ritz_file_write(const char *path, const void *data, size_t size) {
  int fd = create(path);

  if (fd < 0) return false;
  bool is_written = write_all(fd, data, size);
  return !close(fd) && is_written;
}

bool ritz_file_copy(int fd, const char *path) {
  unsigned char buffer[BUFFER_SIZE];
  ssize_t n = -1;
  int to = create(path);

  if (to < 0) return false;
  bool is_written = lseek(fd, 0, SEEK_SET) == 0;
  while (is_written && (n = read_some(fd, buffer, sizeof(buffer))) > 0)
    is_written = write_all(to, buffer, (size_t)n);
  return !close(to) && is_written && n == 0;
}
