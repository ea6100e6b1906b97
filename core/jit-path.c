// SPDX-License-Identifier: BSD-2-Clause
// Finding QFunction sources: files below the JiT source roots (doc/ceed-api.md, QFunctions), and those that
// the library carries inside.
#define _GNU_SOURCE // dladdr
#include <ceed/jit-tools.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/embedded.h"
#include "base/environment.h"
#include "config/ritz-config.h"
#include "core/core.h"

const RitzEmbeddedFile *ritz_embedded_find(const char *name) {
  for (size_t i = 0; i < ritz_num_embedded_files; i++) {
    if (!strcmp(ritz_embedded_files[i].name, name)) return &ritz_embedded_files[i];
  }
  return NULL;
}

// fault may be NULL.
static bool is_readable(const char *path, RitzFileFault *fault) {
  const int fd = ritz_regular_open(path, 0, RITZ_MAX_TEXT_BYTES, NULL, fault);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

int CeedCheckFilePath(Ceed ceed, const char *source_file_path, bool *is_valid) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, source_file_path);
  RITZ_ARGUMENT(ceed, is_valid);
  char *path = NULL;
  const char *colon = strrchr(source_file_path, ':');
  RITZ_TRY(ritz_strdup(ceed, source_file_path, &path));
  if (colon) path[colon - source_file_path] = '\0';
  *is_valid = is_readable(path, NULL);
  RITZ_FREE(&path);
  return CEED_ERROR_SUCCESS;
}

int CeedGetJitRelativePath(const char *absolute_file_path, const char **relative_file_path) {
  *relative_file_path = strstr(absolute_file_path, "ceed/jit-source");
  RITZ_REQUIRE(*relative_file_path, NULL, CEED_ERROR_MAJOR, "%s: '%s' has no 'ceed/jit-source' in it",
               __func__, absolute_file_path);
  return CEED_ERROR_SUCCESS;
}

// A folder counts up to and including its last '/'; a root without a final '/' is taken whole as well.
static int join(Ceed ceed, const char *folder, bool whole, const char *relative, char **path) {
  const char *slash = strrchr(folder, '/');
  size_t length = whole ? strlen(folder) : slash ? (size_t)(slash - folder) + 1 : 0;
  RITZ_TRY(RITZ_MALLOC(ceed, length + strlen(relative) + 2, path));
  sprintf(*path, "%.*s%s%s", (int)length, folder, whole ? "/" : "", relative);
  return CEED_ERROR_SUCCESS;
}

// Keeps the first fault of a path that exists but cannot be read, which says more than "there is none".
static void note_fault(const char *path, const RitzFileFault *found, RitzFileFault *fault) {
  struct stat status;
  if (fault && !fault->text[0] && !stat(path, &status)) *fault = *found;
}

static int find_below(Ceed ceed, const char *root, const char *relative, char **found, RitzFileFault *fault) {
  for (int whole = 0; whole < 2; whole++) {
    RitzFileFault here;
    RITZ_TRY(join(ceed, root, whole, relative, found));
    if (is_readable(*found, &here)) return CEED_ERROR_SUCCESS;
    note_fault(*found, &here, fault);
    RITZ_FREE(found);
  }
  return CEED_ERROR_SUCCESS;
}

// *found NULL: *fault says why, unless it does already.
static int find_below_roots(Ceed ceed, const char *path, char **found, RitzFileFault *fault) {
  *found = NULL;
  for (CeedInt i = 0; !*found && i < ceed->jit_roots.num; i++) {
    RITZ_TRY(find_below(ceed, ceed->jit_roots.item[i], path, found, fault));
  }
  if (!*found && fault && !fault->text[0])
    strcpy(fault->text,
           "is neither in the current folder nor below a JiT source root, nor beside the program");
  return CEED_ERROR_SUCCESS;
}

// Texts that the library carries stand for its include folder, which is the first root: a tree may be moved,
// and the texts are those that the library's functions were compiled from.
static int find_file(Ceed ceed, const char *including, const char *path, char **found, RitzFileFault *fault) {
  RitzFileFault here;
  if (fault) fault->text[0] = '\0';
  RITZ_TRY(join(ceed, including && path[0] != '/' ? including : "", false, path, found));
  if (ritz_embedded_find(*found) || is_readable(*found, &here)) return CEED_ERROR_SUCCESS;
  note_fault(*found, &here, fault);
  RITZ_FREE(found);
  return ritz_embedded_find(path) ? ritz_strdup(ceed, path, found)
                                  : find_below_roots(ceed, path, found, fault);
}

// Below the folders, separated by colons, of a variable of the environment, unless *found is there already.
static int find_by_variable(Ceed ceed, RitzVariable variable, const char *name, char **found) {
  const char *folder = ritz_environment(variable);

  while (folder && *folder && !*found) {
    const int n = (int)strcspn(folder, ":");
    if (n) {
      RITZ_TRY(RITZ_MALLOC(ceed, (size_t)n + strlen(name) + 2, found));
      sprintf(*found, "%.*s/%s", n, folder, name);
      if (!is_readable(*found, NULL)) RITZ_FREE(found);
    }
    folder += n + (folder[n] == ':');
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_jit_find_include(Ceed ceed, const char *including, const char *name, char **found,
                          RitzFileFault *fault) {
  RITZ_TRY(find_file(ceed, including, name, found, fault));
  return find_by_variable(ceed, ENV_RITZ_INCLUDE_PATH, name, found);
}

int CeedGetJitAbsolutePath(Ceed ceed, const char *relative_file_path, const char **absolute_file_path) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, relative_file_path);
  RITZ_ARGUMENT(ceed, absolute_file_path);
  char *found = NULL;
  RitzFileFault fault = {{0}}, here;
  if (is_readable(relative_file_path, &here)) {
    RITZ_TRY(ritz_strdup(ceed, relative_file_path, &found));
  } else {
    note_fault(relative_file_path, &here, &fault);
    RITZ_TRY(find_below_roots(ceed, relative_file_path, &found, &fault));
  }
  RITZ_REQUIRE(
      found, ceed, CEED_ERROR_MAJOR, "%s: the file '%s' %s%s", __func__, relative_file_path, fault.text,
      ritz_embedded_find(relative_file_path) ? "; run-time compilers get it from inside the library" : "");
  ritz_memory_give(found);
  *absolute_file_path = found;
  return CEED_ERROR_SUCCESS;
}

// ---- The files of QFunctions ----

// The file that a function or datum was loaded from; of the program itself, whose name is what it was called
// by, and where the system does not tell, the program's. NULL: not known. Owned by the caller.
static char *object_of(const void *address) {
  Dl_info info;
  const bool is_path = address && dladdr(address, &info) && info.dli_fname && strchr(info.dli_fname, '/');
  char *file = is_path ? realpath(info.dli_fname, NULL) : NULL;
  if (!file) file = realpath("/proc/self/exe", NULL);
  if (file) ritz_memory_adopt(file);
  return file;
}

enum { PARENTS = 2 }; // as of build/bin

// `path` in the folder of an object file, or one of the parents of that.
static int find_near(Ceed ceed, const void *address, const char *path, char **found) {
  char *folder = object_of(address);
  int ierr = CEED_ERROR_SUCCESS;

  for (int k = 0; !ierr && folder && !*found && k <= PARENTS && strrchr(folder, '/'); k++) {
    *strrchr(folder, '/') = '\0';
    ierr = join(ceed, folder, true, path, found);
    if (!ierr && !is_readable(*found, NULL)) RITZ_FREE(found);
  }
  RITZ_FREE(&folder);
  return ierr;
}

int ritz_jit_find_source(Ceed ceed, CeedQFunctionUser f, const char *path, char **found,
                         RitzFileFault *fault) {
  const char *mark = strstr(path, "//"), *file = mark ? mark + 2 : path;
  const void *address;

  memcpy(&address, &f, sizeof(address)); // as dlsym has it the other way round
  RITZ_TRY(find_file(ceed, NULL, path, found, fault));
  if (!*found && mark) RITZ_TRY(find_file(ceed, NULL, file, found, fault));
  if (*found || *file == '/') return CEED_ERROR_SUCCESS;
  RITZ_TRY(find_by_variable(ceed, ENV_RITZ_SOURCE_DIR, file, found));
  if (!*found) RITZ_TRY(find_near(ceed, address, file, found));
  return *found ? CEED_ERROR_SUCCESS : find_near(ceed, NULL, file, found);
}

// ---- The include folder of the library ----

// *folder (owned by the caller): that `relative` to the folder of the file `object` if our headers are there,
// else NULL.
static int include_folder_near(Ceed ceed, const char *object, const char *relative, char **folder) {
  char *path = NULL, *mark = NULL;
  RITZ_TRY(join(ceed, object, false, relative, &path));
  *folder = realpath(path, NULL);
  RITZ_FREE(&path);
  if (!*folder) return CEED_ERROR_SUCCESS;
  ritz_memory_adopt(*folder);
  int ierr = join(ceed, *folder, true, "ritz/version.h", &mark);
  if (ierr || !is_readable(mark, NULL)) RITZ_FREE(folder);
  RITZ_FREE(&mark);
  return ierr;
}

int ritz_jit_add_include_folder(Ceed ceed) {
  static const char *const relative[] = {RITZ_LIBRARY_TO_INCLUDE, RITZ_PROGRAM_TO_INCLUDE};
  static const char here; // in the shared library, or in a program that was linked to the static one
  char *file = object_of(&here), *folder = NULL, *root = NULL;
  int ierr = CEED_ERROR_SUCCESS;
  for (int i = 0; !ierr && file && !folder && i < 2; i++)
    ierr = include_folder_near(ceed, file, relative[i], &folder);
  if (!ierr) ierr = join(ceed, folder ? folder : RITZ_INSTALL_INCLUDEDIR, true, "", &root);
  if (!ierr) ierr = CeedAddJitSourceRoot(ceed, root);
  RITZ_FREE(&root);
  RITZ_FREE(&folder);
  RITZ_FREE(&file);
  return ierr;
}
