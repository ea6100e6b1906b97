// SPDX-License-Identifier: BSD-2-Clause
// The `ritz` program: finds the command and runs it. Results go to stdout, diagnostics to stderr. The locale
// is never set, so numbers are read and written with a point everywhere.

#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/help.h"

static int run_help(int argc, char **argv);

static const CliCommand commands[] = {
    {"solve", "solve a boundary value problem on a mesh", cli_solve, &solve_command},
    {"picture", "draw the surface of a solution", cli_picture, &picture_command},
    {"bench", "time bake-off problems, solves, multigrid, batched algebra (ritz-bench)", cli_bench, NULL},
    {"explain", "show how an operator runs: kernel, plan, costs, source", cli_explain, &explain_command},
    {"tune", "find the fastest kernels of the bake-off problems by measurement", cli_tune, &tune_command},
    {"info", "version, backends, compiler, what the machine can do", cli_info, &info_command},
    {"cache", "the compiled kernels on disk", cli_cache, &cache_command},
    {"help", "this text, the help of a command, or of a topic below", run_help, NULL},
};
enum { NUM_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static const CliManual manual = {
    .name = "ritz",
    .what = "solve partial differential equations by finite elements of high order",
    .synopsis = "COMMAND [arguments]\nhelp [COMMAND|environment|resources]\n--version",
    .description =
        "Matrix-free high-order finite elements on processors and GPUs: each operator becomes one kernel,\n"
        "which is compiled at run time and kept. The program solves boundary value problems on meshes\n"
        "from files, shows what its kernels cost, and measures them.",
    .list = "COMMANDS",
    .num_commands = NUM_COMMANDS,
    .commands = commands,
    .see_also = ".BR ritz\\-bench (1)",
};

static void print_program_help(FILE *stream) {
  fprintf(stream, "usage: ritz COMMAND [arguments]\n\n"
                  "Matrix-free high-order finite elements.\n\ncommands:\n");
  for (int i = 0; i < NUM_COMMANDS; i++) fprintf(stream, "  %-10s%s\n", commands[i].name, commands[i].help);
  fprintf(stream, "\n  ritz COMMAND --help      the options of a command\n");
  for (int i = 0; i < CLI_NUM_TOPICS; i++)
    fprintf(stream, "  ritz help %-14s %s\n", cli_topics[i].name, cli_topics[i].help);
  fprintf(stream,
          "  ritz --version           version of Ritz and of the Ceed API\n\n"
          "Exit status: %s\n",
          cli_exit_status);
}

// Topics are known to `ritz help` alone.
static int unknown_command(const char *word, bool has_topics) {
  const char *names[NUM_COMMANDS + CLI_NUM_TOPICS], *nearest;
  char shown[ARG_SHOWN];

  for (int i = 0; i < NUM_COMMANDS; i++) names[i] = commands[i].name;
  for (int i = 0; i < CLI_NUM_TOPICS; i++) names[NUM_COMMANDS + i] = cli_topics[i].name;
  nearest = args_nearest(word, NUM_COMMANDS + (has_topics ? CLI_NUM_TOPICS : 0), names);
  fprintf(stderr, "ritz: unknown %s '%s'",
          word[0] == '-' ? "option"
          : has_topics   ? "topic"
                         : "command",
          args_shown(word, shown));
  if (nearest) fprintf(stderr, " (did you mean %s?)", nearest);
  fprintf(stderr, "\nTry 'ritz --help'.\n");
  return CLI_USAGE;
}

static const CliCommand *find_command(const char *name) {
  for (int i = 0; i < NUM_COMMANDS; i++)
    if (!strcmp(name, commands[i].name)) return &commands[i];
  return NULL;
}

static bool is_help(const char *word) { return !strcmp(word, "--help") || !strcmp(word, "-h"); }

// `ritz help`, `ritz help TOPIC`, and `ritz help COMMAND ..`, which is `ritz COMMAND --help ..`.
static int run_help(int argc, char **argv) {
  static char option[] = "--help";
  const CliCommand *command = argc > 1 ? find_command(argv[1]) : NULL;

  if (command && command->run != run_help) {
    argv[0] = argv[1];
    argv[1] = option;
    return command->run(argc, argv);
  }
  if (argc < 2 || command || is_help(argv[1])) {
    print_program_help(stdout);
    return CLI_OK;
  }
  for (int i = 0; i < CLI_NUM_TOPICS; i++) {
    if (strcmp(argv[1], cli_topics[i].name)) continue;
    cli_topics[i].print();
    return CLI_OK;
  }
  return unknown_command(argv[1], true);
}

// ---- Completion ----

// `ritz --complete WORD..`, called by the shells' files in cli/completion: what the last word may become.
static int complete(int num, char **words) {
  const char *word = num > 0 ? words[num - 1] : "";
  const CliCommand *command = num > 1 ? find_command(words[0]) : NULL;
  const bool has_topics = command && command->run == run_help;

  for (int i = 0; i < NUM_COMMANDS && (num < 2 || (has_topics && num == 2)); i++)
    args_offer(word, commands[i].name, commands[i].help);
  for (int i = 0; i < CLI_NUM_TOPICS && has_topics && num == 2; i++)
    args_offer(word, cli_topics[i].name, cli_topics[i].help);
  if (num < 2) args_offer(word, "--help", "this text");
  if (num < 2) args_offer(word, "--version", "version of Ritz and of the Ceed API");
  if (command && command->args) args_complete(command->args, num - 1, words + 1);
  return CLI_OK;
}

static int dispatch(int argc, char **argv) {
  if (argc < 2) {
    print_program_help(stderr);
    return CLI_USAGE;
  }
  if (is_help(argv[1])) return run_help(1, argv);
  if (!strcmp(argv[1], "--version")) return cli_print_version();
  if (!strcmp(argv[1], "--man")) return cli_print_manual(&manual);
  if (!strcmp(argv[1], "--complete") && argc > 3 && !strcmp(argv[2], "bench")) {
    argv[2] = argv[1]; // `ritz-bench --complete WORD..`
    return cli_bench(argc - 1, argv + 1);
  }
  if (!strcmp(argv[1], "--complete")) return complete(argc - 2, argv + 2);
  const CliCommand *command = find_command(argv[1]);
  return command ? command->run(argc - 1, argv + 1) : unknown_command(argv[1], false);
}

int main(int argc, char **argv) { return cli_main("ritz", dispatch, argc, argv); }
