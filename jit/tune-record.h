// SPDX-License-Identifier: BSD-2-Clause
// Records of tuning in the disk cache, KEY.tune: the choices that `ritz tune` has measured, one line of text,
// for later runs of any program. Same folder and rules as for kernels (jit/cache.h): a file of another owner,
// of another key, or with anything unexpected in it counts as absent. Called by backends/gpu/tune-store.c and
// jit/cache.c.
#ifndef RITZ_JIT_TUNE_RECORD_H
#define RITZ_JIT_TUNE_RECORD_H

#include "jit/cache.h"

#define RITZ_TUNE_SUFFIX ".tune"

// *text: owned by the caller; NULL: no record.
int ritz_tune_record_find(Ceed ceed, const RitzHash *key, char **text);
// Writes `text` under `key`, replacing an earlier text. name: shown in lists of the cache; neither has line
// breaks. A text that cannot be written is no error.
int ritz_tune_record_write(Ceed ceed, const RitzHash *key, const char *name, const char *text);
// Name in the contents of a record, shortened to fit; false: this is no record.
bool ritz_tune_record_name(const char *contents, size_t size, char *name);

#endif
