// SPDX-License-Identifier: BSD-2-Clause
// What an entry of the disk cache was made from: a text file beside the binary with the hash of the binary
// and size, time and hash of every file that the compiler read outside the system's folders. Called by
// jit/cache.c and jit/build.c.
#ifndef RITZ_JIT_MANIFEST_H
#define RITZ_JIT_MANIFEST_H

#include <stdbool.h>

#include "jit/files.h"
#include "jit/strings.h"

// Names of the files in the list that a compiler writes for make (-MD), made absolute; what lies in the
// system's folders or in `work` is left out. `list` is overwritten.
int ritz_manifest_read_list(Ceed ceed, char *list, const char *work, RitzStrings *files);
// `binary`: hash of the entry's .so; `start`: when the compilation began, by the clock of the files. *text:
// owned by the caller; NULL when a file has gone, or changed since.
int ritz_manifest_make(Ceed ceed, const char *name, const RitzHash *binary, const RitzStrings *files,
                       int64_t start, char **text);
// Whether `text` is complete, belongs to the binary, and all its files are as they were.
bool ritz_manifest_holds(char *text, const RitzHash *binary);
// Name of the source in `text`, shortened to fit; false: this is no manifest.
bool ritz_manifest_name(const char *text, size_t size, char *name);

#endif
