// SPDX-License-Identifier: BSD-2-Clause
// Error macros of the library's own sources: three of them cover every case. They declare no hidden
// variables. Public functions report once, where a fault is detected, through CeedError; everybody above
// passes the code on.
#ifndef RITZ_BASE_ERROR_H
#define RITZ_BASE_ERROR_H

#include <assert.h>
#include <ceed.h>

#include "base/handle.h"

// Pass a failure up unchanged.
#define RITZ_TRY(expr)                                                                                       \
  do {                                                                                                       \
    int ritz_try_code_ = (expr);                                                                             \
    if (ritz_try_code_) return ritz_try_code_;                                                               \
  } while (0)

// Pass a failure of an object used inside a larger action up: what is a caller's mistake one level below (a
// positive code) is a failed action here, CEED_ERROR_BACKEND. Negative codes pass unchanged.
#define RITZ_TRY_BACKEND(expr)                                                                               \
  do {                                                                                                       \
    int ritz_try_code_ = (expr);                                                                             \
    if (ritz_try_code_) return ritz_try_code_ > 0 ? CEED_ERROR_BACKEND : ritz_try_code_;                     \
  } while (0)

// The same inside a function that holds resources: sets ierr and jumps to its cleanup label.
#define RITZ_TRY_CLEANUP(expr)                                                                               \
  do {                                                                                                       \
    ierr = (expr);                                                                                           \
    if (ierr) goto cleanup;                                                                                  \
  } while (0)

// Errors of the calling thread that have no context go to this handler (NULL: no more); returns the one
// before.
CeedErrorHandler ritz_error_divert(CeedErrorHandler handler);

// The longest message that is kept, with its final zero.
#define RITZ_MESSAGE_LENGTH 1024

// The error of two calls that were both made.
static inline int ritz_first_error(int first, int second) { return first ? first : second; }

// The caller's mistake: reports code and message (call, what was found, what was needed) unless cond holds.
#define RITZ_REQUIRE(cond, ceed, code, ...)                                                                  \
  do {                                                                                                       \
    if (!(cond)) return CeedError((ceed), (code), __VA_ARGS__);                                              \
  } while (0)

// Our own mistake: debug builds only.
#define RITZ_ASSERT(cond) assert(cond)

#endif
