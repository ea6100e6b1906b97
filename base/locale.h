// SPDX-License-Identifier: BSD-2-Clause
// Texts for compilers and for comparisons have numbers with a decimal point, whatever locale the program has
// selected. Called by plan/ and emit/ around what they print.
#ifndef RITZ_BASE_LOCALE_H
#define RITZ_BASE_LOCALE_H

#include <locale.h>

#include "base/error.h"

typedef struct {
  locale_t c, users;
} RitzLocale;

// The C locale for this thread, until ritz_locale_leave.
static inline int ritz_locale_enter(Ceed ceed, RitzLocale *locale) {
  locale->c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  RITZ_REQUIRE(locale->c != (locale_t)0, ceed, CEED_ERROR_MAJOR, "the C locale is not available");
  locale->users = uselocale(locale->c);
  return CEED_ERROR_SUCCESS;
}

static inline void ritz_locale_leave(RitzLocale *locale) {
  uselocale(locale->users);
  freelocale(locale->c);
}

#endif
