// SPDX-License-Identifier: BSD-2-Clause
// Loads a binary through the descriptor that was checked, from wherever the system lets code be loaded.
// Called by jit/load.c and jit/build.c.
#ifndef RITZ_JIT_LIBRARY_H
#define RITZ_JIT_LIBRARY_H

#include <ceed.h>
#include <stdbool.h>

#include "jit/strings.h"

typedef struct {
  void *handle;    // of dlopen, owned by the caller; NULL: not loaded
  bool is_refused; // the binary is at fault (a symbol is missing), and not the folder
  char *why;       // why it is not loaded, owned by the caller; NULL when it is
} RitzLibrary;

// fd stays open. `path` names it where descriptors have no names. A folder mounted without permission to
// execute is left for `places`, where the binary is copied and removed once it is loaded.
int ritz_library_open(Ceed ceed, int fd, const char *path, const RitzStrings *places, RitzLibrary *library);

#endif
