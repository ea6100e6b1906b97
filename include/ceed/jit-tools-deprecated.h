// SPDX-License-Identifier: BSD-2-Clause
// Source text of QFunctions with its local includes expanded. Kept for old programs: a run-time compiler that
// is given the include folders needs neither function.
#ifndef CEED_JIT_TOOLS_DEPRECATED_H
#define CEED_JIT_TOOLS_DEPRECATED_H

#include <ceed.h>

// *buffer is a new NUL-terminated string with the text of the file, every local #include "..." replaced by
// the text of that file; the caller frees it with free(). Unreadable file: CEED_ERROR_MAJOR.
CEED_EXTERN int CeedLoadSourceToBuffer(Ceed ceed, const char *source_file_path, char **buffer);

// The same for the source of a QFunction; NULL and success if it has none.
CEED_EXTERN int CeedQFunctionLoadSourceToBuffer(CeedQFunction qf, const char **source_buffer);

#endif
