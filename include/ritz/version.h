// SPDX-License-Identifier: BSD-2-Clause
// Version of Ritz itself (CEED_VERSION_* is the version of the standard) and what this build and machine
// offer.
#ifndef RITZ_VERSION_H
#define RITZ_VERSION_H

#include <ceed.h>
#include <stdio.h>

#define RITZ_VERSION_MAJOR 0
#define RITZ_VERSION_MINOR 1
#define RITZ_VERSION_PATCH 0

// Each pointer may be NULL. Values compiled into the library.
CEED_EXTERN int RitzGetVersion(int *major, int *minor, int *patch);

// One backend known to the library, usable or not.
typedef struct {
  const char *resource; // name to pass to CeedInit
  const char *alias_of; // resource that serves it, or NULL when it is a backend of its own
  bool usable;
  const char *reason; // why it is not usable; NULL when usable
} RitzBackendInfo;

// Entry `index` of the table of backends; CEED_ERROR_DIMENSION past its end (index = *num of
// RitzGetNumBackends). Strings are static.
CEED_EXTERN int RitzGetNumBackends(CeedInt *num);
CEED_EXTERN int RitzGetBackendInfo(CeedInt index, RitzBackendInfo *info);

// *message: what the last CeedInit of the calling thread said when the backend that it found did not start,
// where CEED_ERROR_HANDLER is store or return; else "". Valid until the thread's next CeedInit.
CEED_EXTERN int RitzGetInitMessage(const char **message);

#endif
