// SPDX-License-Identifier: BSD-2-Clause
// Files and folders (contract in jit/files.h).
#include "jit/files.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/threads.h"
#include "jit/strings.h"

enum { BUFFER_SIZE = 16384, MAX_BINARY_BYTES = 1 << 30 };

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
  const int fd = ritz_regular_open(path, O_NOFOLLOW, MAX_BINARY_BYTES, &status, NULL);

  if (fd < 0) return -1;
  if (status.st_uid == owner && !others_may_write(&status)) return fd;
  close(fd);
  return -1;
}

int ritz_file_read(Ceed ceed, int fd, char **text) {
  size_t length = 0;

  return ritz_regular_read_rest(ceed, fd, RITZ_MAX_TEXT_BYTES, &length, text, NULL);
}

int ritz_file_read_bytes(Ceed ceed, int fd, size_t *num_bytes, char **bytes) {
  *bytes = NULL;
  if (lseek(fd, 0, SEEK_SET)) return CEED_ERROR_SUCCESS;
  return ritz_regular_read_rest(ceed, fd, MAX_BINARY_BYTES, num_bytes, bytes, NULL);
}

int ritz_file_read_path(Ceed ceed, const char *path, char **text) {
  size_t length = 0;

  return ritz_regular_read(ceed, path, RITZ_MAX_TEXT_BYTES, &length, text, NULL);
}

bool ritz_file_hash(int fd, RitzHash *hash) {
  unsigned char buffer[BUFFER_SIZE];
  int64_t length = 0;
  RitzHasher hasher;
  ssize_t n;

  if (lseek(fd, 0, SEEK_SET)) return false;
  ritz_hash_begin(&hasher);
  while ((n = ritz_read_some(fd, buffer, sizeof(buffer))) > 0 && (length += n) <= MAX_BINARY_BYTES)
    ritz_hash_add(&hasher, buffer, (size_t)n);
  *hash = ritz_hash_end(&hasher);
  return n == 0;
}

bool ritz_file_hash_path(const char *path, RitzHash *hash) {
  const int fd = ritz_regular_open(path, 0, MAX_BINARY_BYTES, NULL, NULL);
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

static int create_folder(const char *path) {
  return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
}

bool ritz_file_write(const char *path, const void *data, size_t size) {
  int fd = create_folder(path);

  if (fd < 0) return false;
  bool is_written = write_all(fd, data, size);
  return !close(fd) && is_written;
}

bool ritz_file_copy(int fd, const char *path) {
  unsigned char buffer[BUFFER_SIZE];
  ssize_t n = -1;
  int to = create_folder(path);

  if (to < 0) return false;
  bool is_written = lseek(fd, 0, SEEK_SET) == 0;
  while (is_written && (n = ritz_read_some(fd, buffer, sizeof(buffer))) > 0)
    is_written = write_all(to, buffer, (size_t)n);
  return !close(to) && is_written && n == 0;
}
