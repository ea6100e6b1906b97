// SPDX-License-Identifier: BSD-2-Clause
// Libraries of NVIDIA's on top of the driver, looked up with dlopen once in a process. Called by cublas.c,
// cusolver.c, nccl.c and nvrtc.c.
#ifndef RITZ_DEVICES_VENDOR_H
#define RITZ_DEVICES_VENDOR_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/environment.h"

typedef struct {
  RitzVariable variable;    // of the environment: the file, and nowhere else is looked
  const char *const *names; // where the toolkit is (devices/toolkit.h) else; NULL at the end
  // Looks all functions up. The name of one that is missing; NULL: all are there.
  const char *(*take)(void *library);
  const char *symbol;    // one of these
  _Atomic bool is_known; // the others are final
  char file[1024];       // "": there is no library that can be used
  char why[1024];
} RitzVendor;

// File of the library, static; NULL: there is none that can be used, and *why says so (static).
const char *ritz_vendor_find(RitzVendor *vendor, const char **why);

// For lists of functions, F(field, symbol, arguments): a member of a table; what looks it up.
#define RITZ_VENDOR_FIELD(name, symbol, args) int(*name) args; // the result is a status
#define RITZ_VENDOR_TAKE(table, name, symbol)                                                                \
  ritz_find_symbol(library, #symbol, &(table).name);                                                         \
  if (!(table).name) missing = #symbol

#endif
