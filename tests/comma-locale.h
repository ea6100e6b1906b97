// SPDX-License-Identifier: BSD-2-Clause
// A locale whose numbers have a decimal comma, as programs of many users select. Included by tests of what
// writes or reads numbers.
#ifndef RITZ_TESTS_COMMA_LOCALE_H
#define RITZ_TESTS_COMMA_LOCALE_H

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tests/tap.h"

// One that is installed, or one that is made: its name; NULL: there is neither. Leaves it selected, with
// LC_ALL and LOCPATH for children.
static inline const char *select_comma_locale(void) {
  static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ru_RU.UTF-8",
                                      "pl_PL.UTF-8"};
  const size_t num = sizeof(names) / sizeof(names[0]);
  const char *found = NULL;

  for (size_t i = 0; i < num && !found; i++) found = setlocale(LC_ALL, names[i]) ? names[i] : NULL;
  if (!found) {
    const char *folder = tap_temp_file("locales", NULL, 0);
    char command[2048];

    snprintf(command, sizeof(command), "localedef -i de_DE -f UTF-8 '%s/de_DE.UTF-8' >/dev/null 2>&1",
             folder);
    if (!mkdir(folder, 0700) && !system(command) && !setenv("LOCPATH", folder, 1))
      found = setlocale(LC_ALL, names[0]) ? names[0] : NULL;
  }
  if (found) setenv("LC_ALL", found, 1);
  return found;
}

static inline void select_c_locale(void) {
  setlocale(LC_ALL, "C");
  unsetenv("LC_ALL");
  unsetenv("LOCPATH");
}

#endif
