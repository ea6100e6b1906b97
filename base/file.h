// SPDX-License-Identifier: BSD-2-Clause
// Reading files whose names come from users: sources of QFunctions and what they include, meshes, caches,
// kept figures. A pipe, a device or a folder under such a name is refused before anything is read, so that
// nothing waits or goes on for ever; what grows while it is read ends at its bound.
#ifndef RITZ_BASE_FILE_H
#define RITZ_BASE_FILE_H

#include <ceed.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum {
  RITZ_MAX_TEXT_BYTES = 64 << 20, // sources, texts that they expand to, manifests, logs
  RITZ_FILE_FAULT = 160
};

// Words for messages, to follow the name of a file: "is not a regular file".
typedef struct {
  char text[RITZ_FILE_FAULT];
} RitzFileFault;

// read(2), again after a signal.
ssize_t ritz_read_some(int fd, void *buffer, size_t size);

// A descriptor of a regular file of at most max_bytes, at its start, for the caller to close; *status is the
// file's. -1: *fault says why. flags: O_NOFOLLOW or 0. fault and status may be NULL.
int ritz_regular_open(const char *path, int flags, int64_t max_bytes, struct stat *status,
                      RitzFileFault *fault);
// The bytes from where fd stands to the end of its file, then a zero. *bytes: owned by the caller; NULL when
// they cannot be read, or are more than max_bytes: *fault (may be NULL) says why. An error: no memory.
int ritz_regular_read_rest(Ceed ceed, int fd, int64_t max_bytes, size_t *num_bytes, char **bytes,
                           RitzFileFault *fault);
// Both.
int ritz_regular_read(Ceed ceed, const char *path, int64_t max_bytes, size_t *num_bytes, char **bytes,
                      RitzFileFault *fault);

#endif
