// SPDX-License-Identifier: BSD-2-Clause
// Command lines: a table of options per command, from which both the parser and the --help text come. Used by
// every command of the `ritz` program.
//
// Options are written "--order 3" or "--order=3"; "--" ends them. Messages have the form
//     ritz solve: --order: expected an integer >= 1, found 'x'
#ifndef RITZ_CLI_ARGS_H
#define RITZ_CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>

// Kind of value, and the type of the member of the command's options that receives it.
typedef enum {
  ARG_FLAG,        // bool: no value
  ARG_TEXT,        // const char *
  ARG_TEXT_LIST,   // ArgTexts: may be repeated
  ARG_INT,         // int
  ARG_INT_LIST,    // ArgInts: 1,2,4 or 1-4; also "all" when there is a largest value
  ARG_COUNT,       // double holding an integer: 100000 or 1e5
  ARG_REAL,        // double
  ARG_CHOICE,      // int: index of one of the words
  ARG_CHOICE_LIST, // ArgInts: indices, of words such as stored,affine
} ArgKind;

typedef struct {
  size_t num;
  const char **items; // owned; the texts are those of argv
} ArgTexts;

typedef struct {
  size_t num;
  int *items; // owned
} ArgInts;

enum { ARG_MAX_INTS = 1000, ARG_MAX_CHOICES = 10, ARG_MAX_OPTIONS = 64 };

typedef struct {
  const char *name;  // "--order"
  const char *value; // what stands for the value in the help text; NULL: flags, a choice
  const char *help;  // lines separated by \n
  ArgKind kind;
  size_t offset;                        // of the member in the command's options
  double min, max;                      // numbers; INFINITY: no limit
  const char *choices[ARG_MAX_CHOICES]; // of ARG_CHOICE and its list, ends with NULL
} ArgOption;

#define ARG_OPTION(name, value, kind, place, min, max, help)                                                 \
  {                                                                                                          \
    name, value, help, kind, place, min, max, { NULL }                                                       \
  }
// An option whose value is one, or a list, of the words that follow the help text.
#define ARG_WORDS(name, value, kind, place, help, ...)                                                       \
  {                                                                                                          \
    name, value, help, kind, place, 0, 0, { __VA_ARGS__, NULL }                                              \
  }

// Options of several commands; `place`: of the text, of the number.
#define ARG_CEED(place)                                                                                      \
  ARG_OPTION("--ceed", "RESOURCE", ARG_TEXT, place, 0, 0, "backend, see 'ritz info' (default /cpu/self)")
#define ARG_THREADS(place)                                                                                   \
  ARG_OPTION("--threads", "N", ARG_INT, place, 1, INFINITY,                                                  \
             "threads of backends below /cpu/self that have some (default\nOMP_NUM_THREADS, else all "       \
             "processors that it may use)")
#define ARG_SIZE(place)                                                                                      \
  ARG_OPTION("--size", "DOFS", ARG_COUNT, place, 1, INFINITY,                                                \
             "number of unique degrees of freedom, such as 1e6; the nearest\nbox is taken (default 1e5, "    \
             "with CUDA 8e6)")

typedef struct {
  const char *name;      // "ritz solve"
  const char *operand;   // name of the one argument that is not an option, NULL: there is none; "[MESH]": it
                         // may be left out
  size_t operand_offset; // of its const char *
  const char *description; // printed below the usage line
  const char *notes;       // printed below the options, or NULL
  const char *examples;    // printed last, or NULL: command lines, separated by \n
  size_t num_options;
  const ArgOption *options; // --help is understood without being listed
} ArgCommand;

typedef enum { ARGS_RUN, ARGS_HELP, ARGS_WRONG } ArgsResult;

// Parses argv[1 ..] into `options`, which holds the defaults. ARGS_HELP: the help text was printed to stdout;
// ARGS_WRONG: a message was printed to stderr.
ArgsResult args_parse(const ArgCommand *command, int argc, char **argv, void *options);

// An argument list, which ends with NULL, and what it points to beside argv.
typedef struct {
  int argc, num_texts;
  char **argv, **texts; // owned, and the texts
} ArgWords;

// Words "@FILE" before a "--" become the words in FILE: separated by blanks and ends of lines, in '...' or
// "..." as they are, without what follows a '#' where a word would begin. Returns an exit code, after the
// reason was printed; to be freed in any case.
int args_read_files(const ArgCommand *command, int argc, char **argv, ArgWords *words);
void args_free_words(ArgWords *words);

// ---- Help: args-help.c ----

void args_print_help(const ArgCommand *command);
// "poisson|mass" for "--problem", else what stands for the value, "" for flags.
enum { ARG_SHOWN_VALUE = 160 };
const char *args_value(const ArgOption *option, char shown[ARG_SHOWN_VALUE]);
// For shells, what the last of num >= 1 words behind the command may become: lines "word", or "word TAB
// help". Nothing where it is a file or a text.
void args_complete(const ArgCommand *command, int num, char **words);
// A line of it, if the name begins like `word`.
void args_offer(const char *word, const char *name, const char *help);

// Frees the lists among the options.
void args_free(const ArgCommand *command, void *options);

// A list that was given, else `items`, borrowed.
ArgInts args_or_else(ArgInts given, size_t num, int *items);

// Prints "COMMAND: OPTION: message" (without OPTION when it is NULL) and how to get help; returns ARGS_WRONG.
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
ArgsResult
args_wrong(const ArgCommand *command, const char *option, const char *format, ...);

// The one of the names that is most like the word, or NULL when none is.
const char *args_nearest(const char *word, size_t num, const char *const *names);

// The text as it can be shown in a message: control characters replaced, long texts cut.
enum { ARG_SHOWN = 72 };
const char *args_shown(const char *text, char shown[ARG_SHOWN]);

#endif
