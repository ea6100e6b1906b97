// SPDX-License-Identifier: BSD-2-Clause
// Whether files can be written, before anything is computed. Used by all commands that write some; contract
// in cli.h.
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/cli.h"

static int refuse(const char *command, const char *name, const char *path, const char *reason) {
  char shown[ARG_SHOWN];

  fprintf(cli_stderr(), "%s: %s: cannot write '%s': %s\n", command, name, args_shown(path, shown), reason);
  return CLI_FAILED;
}

// The folder that a path lies in, to be freed: "." of "a", "/" of "/a", "a" of "a/b" and of "a//b/".
static char *create_folder_of(const char *path) {
  size_t length = strlen(path);

  while (length > 1 && path[length - 1] == '/') length--;
  while (length > 0 && path[length - 1] != '/') length--;
  if (length == 0) return strdup(".");
  while (length > 1 && path[length - 1] == '/') length--;
  return strndup(path, length);
}

// 0, or why no file can be made in a folder.
static int check_folder(const char *folder) {
  struct stat status;

  if (stat(folder, &status)) return errno;
  if (!S_ISDIR(status.st_mode)) return ENOTDIR;
  return access(folder, W_OK | X_OK) ? errno : 0;
}

int cli_check_file(const char *command, const char *name, const char *path, bool replaces) {
  char shown[ARG_SHOWN], reason[ARG_SHOWN + 40];
  struct stat status;
  int error = 0;

  if (!strcmp(path, "-")) return CLI_OK;
  const bool exists = !stat(path, &status);
  if (!exists && errno != ENOENT) return refuse(command, name, path, strerror(errno));
  if (exists && S_ISDIR(status.st_mode)) return refuse(command, name, path, "it is a folder");
  if (exists && replaces && !S_ISREG(status.st_mode))
    return refuse(command, name, path, "it is no regular file and is not replaced");
  if (exists && !replaces) return access(path, W_OK) ? refuse(command, name, path, strerror(errno)) : CLI_OK;

  char *folder = create_folder_of(path);
  error = folder ? check_folder(folder) : ENOMEM;
  snprintf(reason, sizeof(reason), "%s", strerror(error));
  if (error == ENOENT) snprintf(reason, sizeof(reason), "there is no folder '%s'", args_shown(folder, shown));
  free(folder);
  return error ? refuse(command, name, path, reason) : CLI_OK;
}

// Folders are made where they are missing, below the first one that is there.
static int check_new_folder(const char *command, const char *name, const char *path) {
  char *folder = strdup(path);
  int error = folder ? check_folder(folder) : ENOMEM;

  while (error == ENOENT && strcmp(folder, "/") != 0 && strcmp(folder, ".") != 0) {
    char *above = create_folder_of(folder);

    free(folder);
    folder = above;
    error = folder ? check_folder(folder) : ENOMEM;
  }
  free(folder);
  return error ? refuse(command, name, path, strerror(error)) : CLI_OK;
}

int cli_check_environment(const char *command) {
  const char *profile = cli_variable("RITZ_PROFILE"), *dump = cli_variable("RITZ_DUMP");

  if (profile && strcmp(profile, "0") != 0 && strcmp(profile, "1") != 0)
    CLI_TRY(cli_check_file(command, "RITZ_PROFILE", profile, false));
  return dump ? check_new_folder(command, "RITZ_DUMP", dump) : CLI_OK;
}
