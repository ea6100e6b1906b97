// SPDX-License-Identifier: BSD-2-Clause
// Notes in the disk cache: one line of text each, KEY.tune, for what was found out once and is to be used by
// later runs of any program. Same folder and rules as for kernels (jit/cache.h): a file of another owner, of
// another key, or with anything unexpected in it counts as not there. Called by backends/gpu/tune.c and
// jit/cache.c.
#ifndef RITZ_JIT_NOTE_H
#define RITZ_JIT_NOTE_H

#include "jit/cache.h"

#define RITZ_NOTE_SUFFIX ".tune"

// *text: owned by the caller; NULL: there is none.
int ritz_note_find(Ceed ceed, const RitzHash *key, char **text);
// Keeps `text` under `key`, replacing an earlier text. name: shown in lists of the cache; neither has line
// breaks. A text that cannot be kept is no error.
int ritz_note_keep(Ceed ceed, const RitzHash *key, const char *name, const char *text);
// Name in the contents of a note, shortened to fit; false: this is no note.
bool ritz_note_name(const char *contents, size_t size, char *name);

#endif
