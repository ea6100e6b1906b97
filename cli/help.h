// SPDX-License-Identifier: BSD-2-Clause
// Help beyond that of a command: topics of `ritz help`, pages for man, completion for shells. All are printed
// from the tables of commands (cli/args.h) and of the library (ritz/version.h).
#ifndef RITZ_CLI_HELP_H
#define RITZ_CLI_HELP_H

#include "cli/args.h"

// A command of a program, or a mode of ritz-bench.
typedef struct {
  const char *name, *help; // one line
  int (*run)(int argc, char **argv);
  const ArgCommand *args; // NULL: those of ritz-bench
} CliCommand;

// `ritz help NAME` of what is no command.
typedef struct {
  const char *name, *help;
  void (*print)(void);
} CliTopic;
enum { CLI_NUM_TOPICS = 2 };
extern const CliTopic cli_topics[CLI_NUM_TOPICS];

typedef struct {
  const char *name, *what; // "ritz", one line
  const char *synopsis;    // what follows the name, separated by \n
  const char *description;
  const char *list; // what the commands are: "COMMANDS"
  int num_commands;
  const CliCommand *commands;
  const char *see_also; // as roff
} CliManual;

// Prints a page for man. An exit code.
int cli_print_manual(const CliManual *manual);

extern const char cli_exit_status[]; // of all commands

#endif
