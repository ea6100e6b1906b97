// SPDX-License-Identifier: BSD-2-Clause
// Work folders (contract in jit/work.h).
#include "jit/work.h"

#include <string.h>
#include <unistd.h>

#include "base/embedded.h"
#include "base/error.h"
#include "base/memory.h"
#include "jit/files.h"

void ritz_work_places(const char *first, RitzWords *places) {
  const char *temporary = ritz_environment("TMPDIR");

  if (first) ritz_words_add(places, "%s", first);
  if (temporary && temporary[0] == '/') ritz_words_add(places, "%s", temporary);
  ritz_words_add(places, "/tmp");
  ritz_words_add(places, "/dev/shm");
  ritz_words_add(places, "/run/user/%ld", (long)geteuid());
}

static int write_in(Ceed ceed, const char *folder, const char *name, const void *data, size_t size,
                    bool *is_written) {
  char *path = NULL;

  RITZ_TRY(ritz_format(ceed, &path, "%s/%s", folder, name));
  char *slash = strrchr(path, '/');
  *slash = '\0';
  *is_written = ritz_folder_make(path, 0755);
  *slash = '/';
  *is_written = *is_written && ritz_file_write(path, data, size);
  RITZ_FREE(&path);
  return CEED_ERROR_SUCCESS;
}

int ritz_work_fill(Ceed ceed, const char *folder, const char *text, bool *is_written) {
  static const char ceed_h[] = "#include \"types.h\"\n"; // a kernel calls no function of the Ceed API

  RITZ_TRY(write_in(ceed, folder, "kernel.c", text, strlen(text), is_written));
  if (*is_written) RITZ_TRY(write_in(ceed, folder, "ceed/ceed.h", ceed_h, strlen(ceed_h), is_written));
  for (size_t i = 0; *is_written && i < ritz_num_embedded_files; i++) {
    const RitzEmbeddedFile *file = &ritz_embedded_files[i];

    RITZ_TRY(write_in(ceed, folder, file->name, file->bytes, file->size, is_written));
  }
  return CEED_ERROR_SUCCESS;
}
