// SPDX-License-Identifier: BSD-2-Clause
// What Ritz adds to CeedQFunction: sources that are texts in memory.
#ifndef RITZ_QFUNCTION_H
#define RITZ_QFUNCTION_H

#include <ceed.h>

// A QFunction whose source is `text`, which is copied: what a file would hold that
// CeedQFunctionCreateInterior is given, in C; `name` is the function in it:
//
//     CEED_QFUNCTION(name)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out)
//
// It has no function pointer. /cpu/self/gen and devices make their kernels of the text; what calls a pointer
// on the host (the reference backend, the checking one, assembly of element matrices, operators that run
// ahead of time) compiles one of the text when it is first needed. What the text includes is looked up below
// the JiT source roots. CeedQFunctionGetSourcePath gives NULL, CeedQFunctionLoadSourceToBuffer the text. To
// be destroyed with CeedQFunctionDestroy.
//
// Errors: CEED_ERROR_INCOMPATIBLE, NULL or a name that is none; CEED_ERROR_DIMENSION, vec_length below 1.
// That the text does not compile is an error of the first use (CEED_ERROR_BACKEND, with the compiler's
// words).
CEED_EXTERN int RitzQFunctionCreateFromText(Ceed ceed, CeedInt vec_length, const char *text, const char *name,
                                            CeedQFunction *qf);

#endif
