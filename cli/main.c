// SPDX-License-Identifier: BSD-2-Clause
// The `ritz` program: finds the command and runs it. Results go to stdout, diagnostics to stderr. The locale
// is never set, so numbers are read and written with a point everywhere.

#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"

static const struct {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *help;
} commands[] = {
    {"solve", cli_solve, "solve a boundary value problem on a mesh"},
    {"picture", cli_picture, "draw the surface of a solution"},
    {"bench", cli_bench, "time bake-off problems, solves, multigrid, batched algebra (ritz-bench)"},
    {"explain", cli_explain, "show how an operator runs: kernel, plan, costs, source"},
    {"tune", cli_tune, "find the fastest kernels of the bake-off problems by measurement"},
    {"info", cli_info, "version, backends, compiler, what the machine can do"},
    {"cache", cli_cache, "the compiled kernels on disk"},
};
enum { NUM_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void print_program_help(FILE *stream) {
  fprintf(stream, "usage: ritz COMMAND [arguments]\n\n"
                  "Matrix-free high-order finite elements.\n\ncommands:\n");
  for (int i = 0; i < NUM_COMMANDS; i++) fprintf(stream, "  %-10s%s\n", commands[i].name, commands[i].help);
  fprintf(stream, "\n  ritz COMMAND --help      the options of a command\n"
                  "  ritz --version           version of Ritz and of the Ceed API\n\n"
                  "Exit status: 0 done; 1 the computation failed or did not converge; 2 wrong usage.\n");
}

static int unknown_command(const char *word) {
  const char *names[NUM_COMMANDS], *nearest;
  char shown[ARG_SHOWN];

  for (int i = 0; i < NUM_COMMANDS; i++) names[i] = commands[i].name;
  nearest = args_nearest(word, NUM_COMMANDS, names);
  fprintf(stderr, "ritz: unknown %s '%s'", word[0] == '-' ? "option" : "command", args_shown(word, shown));
  if (nearest) fprintf(stderr, " (did you mean %s?)", nearest);
  fprintf(stderr, "\nTry 'ritz --help'.\n");
  return CLI_USAGE;
}

static int dispatch(int argc, char **argv) {
  if (argc < 2) {
    print_program_help(stderr);
    return CLI_USAGE;
  }
  if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
    print_program_help(stdout);
    return CLI_OK;
  }
  if (!strcmp(argv[1], "--version")) return cli_print_version();
  for (int i = 0; i < NUM_COMMANDS; i++) {
    if (!strcmp(argv[1], commands[i].name)) return commands[i].run(argc - 1, argv + 1);
  }
  return unknown_command(argv[1]);
}

int main(int argc, char **argv) { return cli_main("ritz", dispatch, argc, argv); }
