// SPDX-License-Identifier: BSD-2-Clause
// Loading binaries (contract in jit/library.h).
#include "jit/library.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "jit/files.h"

// Whether the file can be mapped as code, as the loader does; not in a folder that is mounted noexec.
static bool may_execute(int fd) {
  void *page = mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

  if (page != MAP_FAILED) munmap(page, 1);
  return page != MAP_FAILED;
}

// Name of a descriptor that no other call gets: a loader takes an equal name for the library that is loaded
// already, although the descriptor was closed and given out again. The bits of a counter say where "./"
// stands.
static void descriptor_name(int fd, char name[256]) {
  static _Atomic uint64_t num_names;
  uint64_t number = atomic_fetch_add(&num_names, 1);
  int n = sprintf(name, "/proc/self/fd/");

  for (; number; number /= 2) n += sprintf(name + n, number % 2 ? "./" : "/");
  sprintf(name + n, "%d", fd);
}

static int open_library(Ceed ceed, int fd, const char *path, RitzLibrary *library) {
  char name[256];

  descriptor_name(fd, name);
  library->handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library->handle) library->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library->handle) return CEED_ERROR_SUCCESS;
  library->is_refused = true;
  return ritz_strdup(ceed, dlerror(), &library->why);
}

// *is_done: it was loaded, or the loader refuses it.
static int load_copy(Ceed ceed, int fd, const char *place, RitzLibrary *library, bool *is_done) {
  char *folder = NULL, *path = NULL;
  int ierr, copy = -1;

  RITZ_TRY_CLEANUP(ritz_folder_make_temporary(ceed, place, &folder));
  if (!folder) goto cleanup;
  RITZ_TRY_CLEANUP(ritz_format(ceed, &path, "%s/kernel.so", folder));
  if (ritz_file_copy(fd, path)) copy = ritz_file_open(path, geteuid());
  *is_done = copy >= 0 && may_execute(copy);
  if (*is_done) RITZ_TRY_CLEANUP(open_library(ceed, copy, path, library));
cleanup:
  if (copy >= 0) close(copy);
  ritz_folder_remove(folder);
  RITZ_FREE(&path);
  RITZ_FREE(&folder);
  return ierr;
}

int ritz_library_open(Ceed ceed, int fd, const char *path, const RitzStrings *places, RitzLibrary *library) {
  bool is_done = may_execute(fd);

  *library = (RitzLibrary){.handle = NULL};
  if (is_done) return open_library(ceed, fd, path, library);
  for (size_t i = 0; !is_done && i < places->num; i++)
    RITZ_TRY(load_copy(ceed, fd, places->item[i], library, &is_done));
  if (is_done) return CEED_ERROR_SUCCESS;
  return ritz_strdup(ceed,
                     "no folder that code may be loaded from: the cache, TMPDIR, /tmp, /dev/shm, /run/user",
                     &library->why);
}
