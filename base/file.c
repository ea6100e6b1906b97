// SPDX-License-Identifier: BSD-2-Clause
// Regular files of bounded size (contract in base/file.h).
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

static void set_fault(RitzFileFault *fault, const char *format, ...) {
  va_list args;
  if (!fault) return;
  va_start(args, format);
  vsnprintf(fault->text, sizeof(fault->text), format, args);
  va_end(args);
}

// Opening a pipe without O_NONBLOCK would wait for a process that writes to it.
int ritz_regular_open(const char *path, int flags, int64_t max_bytes, struct stat *status,
                      RitzFileFault *fault) {
  struct stat own;
  if (!status) status = &own;
  const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags);
  if (fd < 0) {
    set_fault(fault, "cannot be opened: %s", strerror(errno));
    return -1;
  }
  if (fstat(fd, status)) {
    set_fault(fault, "cannot be looked at: %s", strerror(errno));
  } else if (!S_ISREG(status->st_mode)) {
    set_fault(fault, "is not a regular file");
  } else if ((int64_t)status->st_size > max_bytes) {
    set_fault(fault, "has %lld bytes, at most %lld are read", (long long)status->st_size,
              (long long)max_bytes);
  } else {
    return fd;
  }
  close(fd);
  return -1;
}

ssize_t ritz_read_some(int fd, void *buffer, size_t size) {
  ssize_t n;
  while ((n = read(fd, buffer, size)) < 0 && errno == EINTR) continue;
  return n;
}

// Bytes to allocate first for a file of known size: one more shows its end, one is the zero.
static size_t first_capacity(int fd, int64_t max_bytes) {
  struct stat status;
  const bool is_known = !fstat(fd, &status) && status.st_size >= 0 && (int64_t)status.st_size <= max_bytes;
  return (is_known ? (size_t)status.st_size : 0) + 2;
}

int ritz_regular_read_rest(Ceed ceed, int fd, int64_t max_bytes, size_t *num_bytes, char **bytes,
                           RitzFileFault *fault) {
  size_t length = 0, capacity = 0;
  ssize_t n;
  *bytes = NULL;
  do {
    if (capacity - length < 2) {
      capacity = capacity ? 2 * capacity + 4096 : first_capacity(fd, max_bytes);
      const int ierr = RITZ_REALLOC(ceed, capacity, bytes);
      if (ierr) RITZ_FREE(bytes);
      RITZ_TRY(ierr);
    }
    n = ritz_read_some(fd, *bytes + length, capacity - length - 1);
    length += n > 0 ? (size_t)n : 0;
  } while (n > 0 && (int64_t)length <= max_bytes);
  if (n < 0) set_fault(fault, "cannot be read: %s", strerror(errno));
  if (n > 0) set_fault(fault, "has more than %lld bytes, which are read at most", (long long)max_bytes);
  if (n == 0)
    (*bytes)[length] = '\0';
  else
    RITZ_FREE(bytes);
  *num_bytes = length;
  return CEED_ERROR_SUCCESS;
}

int ritz_regular_read(Ceed ceed, const char *path, int64_t max_bytes, size_t *num_bytes, char **bytes,
                      RitzFileFault *fault) {
  *bytes = NULL;
  *num_bytes = 0;
  const int fd = ritz_regular_open(path, 0, max_bytes, NULL, fault);
  if (fd < 0) return CEED_ERROR_SUCCESS;
  const int ierr = ritz_regular_read_rest(ceed, fd, max_bytes, num_bytes, bytes, fault);
  close(fd);
  return ierr;
}
