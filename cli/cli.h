// SPDX-License-Identifier: BSD-2-Clause
// What the files of the programs share: commands, exit codes, messages, facts. Only public headers of the
// library are used by programs.
#ifndef RITZ_CLI_CLI_H
#define RITZ_CLI_CLI_H

#include <ceed.h>
#include <stdbool.h>
#include <stdio.h>

#include "cli/args.h"

// Exit codes. Failed: a file cannot be read, a backend is not there, memory is short, the solver did not
// converge. Wrong usage: another command line is needed.
enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

// Commands; argv[0] is the command's name.
int cli_solve(int argc, char **argv);
int cli_bench(int argc, char **argv);
int cli_explain(int argc, char **argv);
int cli_picture(int argc, char **argv);
int cli_info(int argc, char **argv);
int cli_cache(int argc, char **argv);
int cli_tune(int argc, char **argv);

extern const ArgCommand solve_command, picture_command, explain_command, tune_command, info_command,
    cache_command;

// The main() of a program: runs it in the environment of programs and returns its exit code, CLI_FAILED where
// the output could not be written.
int cli_main(const char *program, int (*run)(int argc, char **argv), int argc, char **argv);

// Passes a code other than 0 on: a Ceed error code, or an exit code.
#define CLI_TRY(expr)                                                                                        \
  do {                                                                                                       \
    int cli_try_code_ = (expr);                                                                              \
    if (cli_try_code_) return cli_try_code_;                                                                 \
  } while (0)

// The same inside a function that holds resources: sets ierr and jumps to its cleanup label.
#define CLI_TRY_CLEANUP(expr)                                                                                \
  do {                                                                                                       \
    ierr = (expr);                                                                                           \
    if (ierr) goto cleanup;                                                                                  \
  } while (0)

// Makes a context that stores error messages, or says on stderr why not. Returns an exit code.
int cli_open_ceed(const char *command, const char *resource, Ceed *ceed);

// Prints the message stored in the context to stderr, after the command's name. Returns CLI_FAILED.
int cli_report(const char *command, Ceed ceed);
int cli_no_memory(const char *command); // says it; CLI_FAILED

// ---- Files to be written ----
// Asked before anything is computed: whether a file can be written later, as far as that can be seen without
// making or changing it. CLI_FAILED: the reason was printed after `name`, an option or a variable.

// replaces: the file is written beside its path and renamed, else opened there. "-" is standard output.
int cli_check_file(const char *command, const char *name, const char *path, bool replaces);
// Files of RITZ_PROFILE and RITZ_DUMP; cli_open_ceed asks for them.
int cli_check_environment(const char *command);

// Value of a variable of the library's table, NULL: it is not set.
const char *cli_variable(const char *name);

// Zeroed memory for n things, to be freed with free(); the failure is reported to ceed.
int cli_allocate(Ceed ceed, size_t n, size_t size, void *p);

// Degrees of freedom that fill what computes, in memory that any of them has.
double cli_default_size(Ceed ceed);

// One line "label  text" on stdout, texts aligned below each other and long ones broken at ", ". A NULL label
// continues the one above.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void cli_fact(const char *label, const char *format, ...);

int cli_print_version(void); // of the library and the API
double cli_seconds(void);    // of a clock that never goes back

// ---- Parts ----
// Of several threads or processes that run a command together the first one alone prints facts, and the
// others leave out what all of them find alike.

// From now on this thread is one of several; not the first: facts are not printed, and messages wait until
// cli_speak(), which forgets those so far, or cli_tell(), which prints them. It has to end with one of the
// two.
void cli_be_part(bool is_first);
void cli_speak(void);
void cli_tell(void);
bool cli_is_quiet(void); // facts are not printed
FILE *cli_stderr(void);  // where messages of this thread go

#endif
