// SPDX-License-Identifier: BSD-2-Clause
// Work folders (contract in jit/work-folder.h).
#include "jit/work-folder.h"

#include <string.h>
#include <unistd.h>

#include "base/embedded.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/memory.h"
#include "jit/files.h"

void ritz_work_folder_parents(const char *first, RitzStrings *places) {
  const char *temporary = ritz_environment(ENV_TMPDIR);

  if (first) ritz_strings_add(places, "%s", first);
  if (temporary && temporary[0] == '/') ritz_strings_add(places, "%s", temporary);
  ritz_strings_add(places, "/tmp");
  ritz_strings_add(places, "/dev/shm");
  ritz_strings_add(places, "/run/user/%ld", (long)geteuid());
}

// Makes the folder of a file, unless it is that of the file before, too (NULL: there is none).
static bool make_folder(char *path, const char *before) {
  char *slash = strrchr(path, '/');
  const size_t n = (size_t)(slash - path);

  if (before && !strncmp(path, before, n + 1) && !strchr(before + n + 1, '/')) return true;
  *slash = '\0';
  const bool is_made = ritz_folder_make(path, 0755);
  *slash = '/';
  return is_made;
}

// *path: of the file that was written before, becomes that of this one; owned by the caller.
static int write_in(Ceed ceed, const char *folder, const char *name, const void *data, size_t size,
                    char **path, bool *is_written) {
  char *before = *path;

  *path = NULL;
  const int ierr = ritz_format(ceed, path, "%s/%s", folder, name);
  *is_written = !ierr && make_folder(*path, before) && ritz_file_write(*path, data, size);
  RITZ_FREE(&before);
  return ierr;
}

int ritz_work_folder_fill(Ceed ceed, const char *folder, const char *text, bool *is_written) {
  static const char ceed_h[] = "#include \"types.h\"\n"; // a kernel calls no function of the Ceed API
  char *path = NULL;
  int ierr = write_in(ceed, folder, "kernel.c", text, strlen(text), &path, is_written);

  if (*is_written) ierr = write_in(ceed, folder, "ceed/ceed.h", ceed_h, strlen(ceed_h), &path, is_written);
  for (size_t i = 0; *is_written && i < ritz_num_embedded_files; i++) {
    const RitzEmbeddedFile *file = &ritz_embedded_files[i];

    ierr = write_in(ceed, folder, file->name, file->bytes, file->size, &path, is_written);
  }
  RITZ_FREE(&path);
  return ierr;
}
