// SPDX-License-Identifier: BSD-2-Clause
// Contexts and errors for bindings of other languages and for tests: creation under an error handler, errors
// that belong to no context, the last error of a thread, memory that is in use.
#ifndef RITZ_CONTEXT_H
#define RITZ_CONTEXT_H

#include <ceed.h>
#include <stdint.h>

// CeedInit under an error handler: errors of the call itself go there, and the context has it from the start
// (CeedSetErrorHandler), whatever CEED_ERROR_HANDLER says. The handler gets no context for errors of the
// call, or one that ends with it and is not to be kept. handler: NULL: as CeedInit. Errors: those of
// CeedInit, whose messages name that.
CEED_EXTERN int RitzInit(const char *resource, CeedErrorHandler handler, Ceed *ceed);

// Who gets errors that no context can be found for, such as those of calls with NULL in the place of every
// object (doc/ceed-api.md, Errors), in all threads from now on. NULL: as CEED_ERROR_HANDLER says, which is
// how it begins: CeedErrorReturn for `return`, else CeedErrorAbort.
CEED_EXTERN int RitzSetErrorHandler(CeedErrorHandler handler);

// Code and message of the last error that was reported in the calling thread, whatever its context and
// handler: "call: what was found, what was needed", without file and line, cut to 1023 bytes. 0 and "" where
// there was none; calls that succeed change nothing. Some errors are reported that the library then handles
// itself. Valid until the thread's next error. Either pointer may be NULL.
CEED_EXTERN int RitzGetLastError(int *code, const char **message);

// *num: the blocks of memory that the library has in use, once what it compiles in the background is done:
// 0 when the last context is gone, so that a program sees what it has forgotten to destroy.
CEED_EXTERN int RitzGetNumAllocations(int64_t *num);

#endif
