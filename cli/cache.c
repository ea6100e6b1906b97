// SPDX-License-Identifier: BSD-2-Clause
// `ritz cache`: the compiled kernels on disk, through ritz/jit.h.
#define _POSIX_C_SOURCE 200809L

#include <ritz/jit.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/args.h"
#include "cli/cli.h"

typedef struct {
  const char *action;
} CacheOptions;

static const ArgCommand command = {
    .name = "ritz cache",
    .operand = "list|clear|path",
    .operand_offset = offsetof(CacheOptions, action),
    .description = "Shows or empties the folder in which Ritz keeps the kernels that it has compiled:\n"
                   "  list   all kernels: key, size, age, name\n"
                   "  clear  removes them, and the messages of compilers that failed\n"
                   "  path   the folder",
    .notes =
        "The folder is $RITZ_CACHE_DIR, else $XDG_CACHE_HOME/ritz, else $HOME/.cache/ritz; RITZ_CACHE=off\n"
        "does without. Kernels that are missing are compiled again when they are needed. The figures of\n"
        "the machine, which lie in the same folder, stay: 'ritz info --measure' renews them.",
};

// ---- Actions ----

static int no_memory(void) {
  fprintf(stderr, "%s: not enough memory\n", command.name);
  return CLI_FAILED;
}

static void show_entry(const RitzJitEntry *entry) {
  time_t modified = (time_t)entry->modified;
  struct tm day;
  char date[40] = "-";

  if (localtime_r(&modified, &day)) strftime(date, sizeof(date), "%Y-%m-%d %H:%M", &day);
  printf("%-40s %8.1f KiB  %-16s  %s\n", entry->key, (double)entry->num_bytes / 1024, date, entry->name);
}

static int list(const char *folder) {
  RitzJitEntry *entries = NULL;
  size_t num = 0;
  double total = 0;

  if (RitzJitList(NULL, &num, &entries)) return no_memory();
  for (size_t i = 0; i < num; i++) {
    show_entry(&entries[i]);
    total += (double)entries[i].num_bytes;
  }
  printf("%zu kernel%s, %.1f KiB in %s\n", num, num == 1 ? "" : "s", total / 1024, folder);
  free(entries);
  return CLI_OK;
}

static int clear(const char *folder) {
  size_t num = 0;

  if (RitzJitClear(NULL, &num)) return no_memory();
  printf("%zu kernel%s removed from %s\n", num, num == 1 ? "" : "s", folder);
  return CLI_OK;
}

static int path(const char *folder) {
  printf("%s\n", folder);
  return CLI_OK;
}

// ---- The command ----

static const struct {
  const char *name;
  int (*run)(const char *folder);
} actions[] = {{"list", list}, {"clear", clear}, {"path", path}};
enum { NUM_ACTIONS = sizeof(actions) / sizeof(actions[0]) };

static int run(const char *action) {
  const char *folder = NULL, *why = NULL;
  char shown[ARG_SHOWN];
  int i = 0;

  while (i < NUM_ACTIONS && strcmp(actions[i].name, action) != 0) i++;
  if (i == NUM_ACTIONS) {
    args_wrong(&command, NULL, "expected list, clear or path, found '%s'", args_shown(action, shown));
    return CLI_USAGE;
  }
  if (RitzJitGetFolder(&folder, &why) || !folder) {
    fprintf(stderr, "%s: there is no cache: %s\n", command.name, why ? why : "unknown");
    return CLI_FAILED;
  }
  return actions[i].run(folder);
}

int cli_cache(int argc, char **argv) {
  CacheOptions options = {NULL};
  ArgsResult parsed = args_parse(&command, argc, argv, &options);

  if (parsed != ARGS_RUN) return parsed == ARGS_HELP ? CLI_OK : CLI_USAGE;
  return run(options.action);
}
