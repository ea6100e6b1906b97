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

// One option of resources, as in "/gpu/cuda:device_id=1".
typedef struct {
  const char *option;  // "threads=N|all"; without '=' it takes no value
  const char *below;   // resources that have it: those whose name, not an alias, begins so
  const char *meaning; // with the default
} RitzResourceOptionInfo;

// Entry `index` of the table of options, which `ritz help resources` prints; CEED_ERROR_DIMENSION past its
// end. Strings are static.
CEED_EXTERN int RitzGetNumResourceOptions(CeedInt *num);
CEED_EXTERN int RitzGetResourceOptionInfo(CeedInt index, RitzResourceOptionInfo *info);

// One variable of the environment that the library, its headers, the program `ritz` or the Python package
// reads. A set-uid program reads none of them; an empty one is as one that is not set.
typedef struct {
  const char *group;     // "Compilers of kernels"; those of a group follow each other
  const char *name;      // "RITZ_CACHE"
  const char *values;    // "off|N", words in capitals stand for something
  const char *otherwise; // what holds when it is not set; "": the opposite of the meaning
  const char *meaning;
  const char *value; // what it is now, as getenv returns it; NULL: not set
} RitzVariableInfo;

// Entry `index` of the table of variables, which `ritz help environment` prints; CEED_ERROR_DIMENSION past
// its end. Strings but the value are static.
CEED_EXTERN int RitzGetNumVariables(CeedInt *num);
CEED_EXTERN int RitzGetVariableInfo(CeedInt index, RitzVariableInfo *info);

// *message: what the last CeedInit of the calling thread said when the backend that it found did not start,
// where CEED_ERROR_HANDLER is store or return; else "". Valid until the thread's next CeedInit.
CEED_EXTERN int RitzGetInitMessage(const char **message);

#endif
