// SPDX-License-Identifier: BSD-2-Clause
// Work folders: temporary ones that hold a text (kernel.c) and the headers that the library carries inside.
// Called by jit/load.c, jit/build.c and jit/report.c.
#ifndef RITZ_JIT_WORK_FOLDER_H
#define RITZ_JIT_WORK_FOLDER_H

#include <ceed.h>
#include <stdbool.h>

#include "jit/strings.h"

// Appends the folders that temporary ones can be made in, `first` (may be NULL) before all others.
void ritz_work_folder_parents(const char *first, RitzStrings *places);
// Writes kernel.c and the headers; *is_written is false when the folder cannot take them.
int ritz_work_folder_fill(Ceed ceed, const char *folder, const char *text, bool *is_written);

#endif
