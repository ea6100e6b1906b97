// SPDX-License-Identifier: BSD-2-Clause
// Libraries of NVIDIA's (contract in devices/vendor.h).
#define _GNU_SOURCE // dladdr
#include "devices/vendor.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/threads.h"
#include "devices/toolkit.h"

static RitzVendor *wanted; // guarded by RITZ_LOCK_DEVICES

static bool take_library(const char *path) {
  Dl_info found;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

  // The loader's message about a file that exists is kept, rather than that about a missing one.
  if (!library) {
    const char *words = dlerror();
    if (!wanted->why[0] || !access(path, F_OK)) snprintf(wanted->why, sizeof(wanted->why), "%s", words);
    return false;
  }
  const char *missing = wanted->take(library);
  if (missing) {
    snprintf(wanted->why, sizeof(wanted->why), "%s has no function %s", path, missing);
    dlclose(library);
    return false;
  }
  const bool has_name = dladdr(dlsym(library, wanted->symbol), &found) && found.dli_fname;
  snprintf(wanted->file, sizeof(wanted->file), "%s", has_name ? found.dli_fname : path);
  return true;
}

static void look_for_library(RitzVendor *vendor) {
  const char *given = ritz_environment(vendor->variable);

  wanted = vendor;
  if (given)
    take_library(given);
  else
    ritz_toolkit_look(vendor->names, take_library);
}

const char *ritz_vendor_find(RitzVendor *vendor, const char **why) {
  if (!atomic_load(&vendor->is_known)) {
    ritz_lock(RITZ_LOCK_DEVICES);
    if (!atomic_load(&vendor->is_known)) {
      look_for_library(vendor);
      atomic_store(&vendor->is_known, true);
    }
    ritz_unlock(RITZ_LOCK_DEVICES);
  }
  *why = vendor->file[0] ? NULL : vendor->why;
  return vendor->file[0] ? vendor->file : NULL;
}
