// SPDX-License-Identifier: BSD-2-Clause
// Lets GNU compilers compare the arguments of CeedError with its format. Included by ceed/ceed.h; apart from
// it because attributes are nothing for the parsers of bindings.
#ifndef CEED_FORMAT_H
#define CEED_FORMAT_H

#include "ceed.h"

#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wredundant-decls"
int CeedErrorImpl(Ceed ceed, const char *filename, int lineno, const char *func, int ecode,
                  const char *format, ...) __attribute__((__format__(__printf__, 6, 7)));
#pragma GCC diagnostic pop
#endif

#endif
