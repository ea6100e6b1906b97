// SPDX-License-Identifier: BSD-2-Clause
// Where the sources of QFunctions are found. Called by backends that compile them at run time.
#ifndef CEED_JIT_TOOLS_H
#define CEED_JIT_TOOLS_H

#include <ceed.h>

// Says whether the file can be opened for reading. Everything from the last ':' of the path on (":function")
// is cut off first.
CEED_EXTERN int CeedCheckFilePath(Ceed ceed, const char *source_file_path, bool *is_valid);

// *relative_file_path points into the argument, at the first "ceed/jit-source". Not present:
// CEED_ERROR_MAJOR, reported without a context.
CEED_EXTERN int CeedGetJitRelativePath(const char *absolute_file_path, const char **relative_file_path);

// Looks the relative path up in the JiT source roots of the outermost parent context, in the order in which
// they were added (the library's include folder first); the first file found wins. A root counts up to and
// including its last '/'. The string is new; the caller frees it with free(). Not found: CEED_ERROR_MAJOR.
CEED_EXTERN int CeedGetJitAbsolutePath(Ceed ceed, const char *relative_file_path,
                                       const char **absolute_file_path);

#endif
