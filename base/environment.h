// SPDX-License-Identifier: BSD-2-Clause
// The environment. All of the library reads it here, by the enumerators of one table (base/variables.h).
#ifndef RITZ_BASE_ENVIRONMENT_H
#define RITZ_BASE_ENVIRONMENT_H

#include <stdbool.h>

#define VARIABLE(group, name, values, otherwise, meaning) ENV_##name,
typedef enum {
#include "base/variables.h"
  NUM_ENVIRONMENT
} RitzVariable;
#undef VARIABLE

// Whether the program has other rights than its caller: it does not trust its environment.
bool ritz_is_set_uid(void);
// Value of a variable; NULL when it is unset or empty, and in a set-uid program. Of a task as ritz_getenv.
const char *ritz_environment(RitzVariable variable);
const char *ritz_environment_name(RitzVariable variable); // "RITZ_CC"

#endif
