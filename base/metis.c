// SPDX-License-Identifier: BSD-2-Clause
// METIS, looked up at run time (contract in base/metis.h).
#include "base/metis.h"

#include "base/threads.h"

#ifdef RITZ_METIS
#include <dlfcn.h>

enum { NUM_OPTIONS = 40 }; // METIS_NOPTIONS of METIS 5

// METIS sets all options to -1: so many bytes as its integers have. 0: this is not METIS 5.
static size_t size_of_indices(void *library) {
  int (*set_default)(void *) = NULL;
  int64_t options[NUM_OPTIONS] = {0};

  *(void **)&set_default = dlsym(library, "METIS_SetDefaultOptions");
  if (!set_default) return 0;
  (void)set_default(options);
  return options[NUM_OPTIONS - 1] == -1 ? sizeof(int64_t) : sizeof(int32_t);
}

void *ritz_metis_function(const char *name, size_t index_size) {
  static void *library;
  static size_t size;
  static int is_known;

  ritz_lock(RITZ_LOCK_DIRECT);
  if (!is_known) {
    library = dlopen(RITZ_METIS, RTLD_NOW | RTLD_LOCAL);
    if (library) size = size_of_indices(library);
    is_known = 1;
  }
  ritz_unlock(RITZ_LOCK_DIRECT);
  return size == index_size ? dlsym(library, name) : NULL;
}
#else
void *ritz_metis_function(const char *name, size_t index_size) {
  (void)name, (void)index_size;
  return NULL;
}
#endif
