// SPDX-License-Identifier: BSD-2-Clause
// All tests in one program, so that the library is linked once: each tests/test-*.c is compiled with another
// name for its main(), and the build writes ritz-tests.h, an ENTRY of each. The name that the program is
// called by says which one runs, else the first argument: `build/tests/test-vector [TEST]`,
// `build/tests/ritz-tests test-vector [TEST]`.
#include <stdio.h>
#include <string.h>

#define ENTRY(name, function) int function(int argc, char **argv);
#include "ritz-tests.h"
#undef ENTRY

typedef struct {
  const char *name;
  int (*run)(int argc, char **argv);
} Entry;

#define ENTRY(name, function) {name, function},
static const Entry entries[] = {
#include "ritz-tests.h"
    {NULL, NULL}};
#undef ENTRY

static const Entry *find(const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  const Entry *entry = entries;

  while (entry->name && strcmp(entry->name, name)) entry++;
  return entry->name ? entry : NULL;
}

int main(int argc, char **argv) {
  const Entry *entry = argc ? find(argv[0]) : NULL;

  if (entry) return entry->run(argc, argv);
  if (argc > 1 && (entry = find(argv[1]))) return entry->run(argc - 1, argv + 1);
  if (argc == 2 && !strcmp(argv[1], "--list")) {
    for (entry = entries; entry->name; entry++) puts(entry->name);
    return 0;
  }
  fprintf(stderr,
          "usage: ritz-tests --list | NAME [ARGUMENT]...; no test of the name: %s (RITZ_TESTS_ONLY may leave "
          "it out)\n",
          argc > 1 ? argv[1]
          : argc   ? argv[0]
                   : "");
  return 2;
}
