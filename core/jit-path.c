// SPDX-License-Identifier: BSD-2-Clause
// Finding QFunction sources below the JiT source roots (doc/ceed-api.md, QFunctions).
#include <ceed/jit-tools.h>
#include <string.h>

#include "core/core.h"

// A folder can be opened, but not read.
static bool is_readable(const char *path) {
  FILE *file = fopen(path, "r");
  if (!file) return false;
  fgetc(file);
  bool is_file = !ferror(file);
  fclose(file);
  return is_file;
}

int CeedCheckFilePath(Ceed ceed, const char *source_file_path, bool *is_valid) {
  char *path = NULL;
  const char *colon = strrchr(source_file_path, ':');
  RITZ_TRY(ritz_strdup(ceed, source_file_path, &path));
  if (colon) path[colon - source_file_path] = '\0';
  *is_valid = is_readable(path);
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

static int find_below(Ceed ceed, const char *root, const char *relative, char **found) {
  for (int whole = 0; whole < 2; whole++) {
    RITZ_TRY(join(ceed, root, whole, relative, found));
    if (is_readable(*found)) return CEED_ERROR_SUCCESS;
    RITZ_FREE(found);
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_jit_find(Ceed ceed, const char *including, const char *path, char **found) {
  RITZ_TRY(join(ceed, including && path[0] != '/' ? including : "", false, path, found));
  if (is_readable(*found)) return CEED_ERROR_SUCCESS;
  RITZ_FREE(found);
  for (CeedInt i = 0; !*found && i < ceed->jit_roots.num; i++) {
    RITZ_TRY(find_below(ceed, ceed->jit_roots.item[i], path, found));
  }
  return CEED_ERROR_SUCCESS;
}

int CeedGetJitAbsolutePath(Ceed ceed, const char *relative_file_path, const char **absolute_file_path) {
  RITZ_HANDLE(ceed);
  char *found = NULL;
  RITZ_TRY(ritz_jit_find(ceed, NULL, relative_file_path, &found));
  RITZ_REQUIRE(found, ceed, CEED_ERROR_MAJOR,
               "%s: no file '%s' in the current folder or below a JiT source root", __func__,
               relative_file_path);
  ritz_memory_give(found);
  *absolute_file_path = found;
  return CEED_ERROR_SUCCESS;
}
