// SPDX-License-Identifier: BSD-2-Clause
// `ritz bench`: runs the program ritz-bench, which lies beside this one, with the same arguments.
#define _GNU_SOURCE // memrchr

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

int cli_bench(int argc, char **argv) {
  const char *name = sizeof(CeedScalar) == sizeof(float) ? "ritz-f32-bench" : "ritz-bench";
  char path[4096 + 32];
  const ssize_t length = readlink("/proc/self/exe", path, 4096);
  char *folder_end = length > 0 ? memrchr(path, '/', (size_t)length) : NULL;

  (void)argc;
  strcpy(folder_end ? folder_end + 1 : path, name);
  argv[0] = path;
  execvp(path, argv); // without a folder: by PATH
  fprintf(stderr, "ritz bench: cannot run '%s': %s\nIt is built and installed beside 'ritz'.\n", path,
          strerror(errno));
  return CLI_FAILED;
}
