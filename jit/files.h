// SPDX-License-Identifier: BSD-2-Clause
// Files and folders that are trusted only after a look at their owner and mode. Called by all of
// jit/.
#ifndef RITZ_JIT_FILES_H
#define RITZ_JIT_FILES_H

#include <ceed.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "jit/hash.h"

double ritz_seconds(void);                         // of a clock that never goes back
int64_t ritz_file_time(const struct stat *status); // last change in nanoseconds since 1970

// ---- Folders ----
bool ritz_folder_make(char *path, mode_t mode); // and its parents; true when it is there; path: as before
// Why a folder is not to be trusted (static), or NULL: it must belong to `owner`, who alone may write.
const char *ritz_folder_doubt(const char *path, uid_t owner);
// A new folder ".../ritz-jit-XXXXXX", mode 0700. *path: owned by the caller; NULL when it cannot be made.
int ritz_folder_make_temporary(Ceed ceed, const char *parent, char **path);
void ritz_folder_remove(const char *path); // with everything in it; NULL: nothing

// ---- Files ----
// A descriptor for reading, -1 when there is no such file or it is not to be trusted: a regular file of
// `owner`, no symbolic link, which others may not write.
int ritz_file_open(const char *path, uid_t owner);
// All of them (base/file.h): regular files of at most 1 GiB, texts of at most 64 MiB.
// The rest of a text file, owned by the caller; *text is NULL when it cannot be read.
int ritz_file_read(Ceed ceed, int fd, char **text);
// A whole file, from the start of fd, owned by the caller; *bytes is NULL when it cannot be read.
int ritz_file_read_bytes(Ceed ceed, int fd, size_t *num_bytes, char **bytes);
int ritz_file_read_path(Ceed ceed, const char *path, char **text); // of a file whose owner does not matter
bool ritz_file_write(const char *path, const void *data, size_t size); // false: it may be there in part
bool ritz_file_copy(int fd, const char *path);                         // from the start of fd
bool ritz_file_hash(int fd, RitzHash *hash);                           // from the start of fd
bool ritz_file_hash_path(const char *path, RitzHash *hash);

#endif
