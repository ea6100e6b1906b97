// SPDX-License-Identifier: BSD-2-Clause
// Arguments from files: "@FILE" stands for the words in FILE. Called by commands before args_parse.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"

enum { MAX_BYTES = 1 << 20 };

typedef struct {
  const ArgCommand *command;
  const char *path; // of the file that is read
  ArgWords *words;
} Reader;

static int fail(const Reader *r, const char *why) {
  char shown[ARG_SHOWN];

  fprintf(cli_stderr(), "%s: @%s: %s\n", r->command->name, args_shown(r->path, shown), why);
  return CLI_FAILED;
}

static int add_word(const Reader *r, char *word) {
  ArgWords *words = r->words;
  char **larger = realloc(words->argv, ((size_t)words->argc + 2) * sizeof(*larger));

  if (!larger) return cli_no_memory(r->command->name);
  words->argv = larger;
  words->argv[words->argc++] = word;
  words->argv[words->argc] = NULL;
  return CLI_OK;
}

// The text of a file, NULL with the reason printed.
static char *read_text(const Reader *r) {
  FILE *file = fopen(r->path, "rb");
  char *text = malloc(MAX_BYTES + 1);
  size_t length = 0;

  if (!file)
    (void)fail(r, strerror(errno));
  else if (!text)
    (void)cli_no_memory(r->command->name);
  else
    length = fread(text, 1, MAX_BYTES + 1, file);
  const bool has_failed = !file || !text || ferror(file);

  if (file && text && has_failed) (void)fail(r, "cannot be read");
  if (!has_failed && length > MAX_BYTES) (void)fail(r, "is longer than 1 MiB");
  if (!has_failed && memchr(text, '\0', length)) (void)fail(r, "is no text");
  if (file) fclose(file);
  if (has_failed || length > MAX_BYTES || memchr(text, '\0', length)) {
    free(text);
    return NULL;
  }
  text[length] = '\0';
  return text;
}

// Where the word at `from` ends, which is written to *to without its quotation marks; NULL: a mark is alone.
static char *take_word(char *from, char **to) {
  char mark = '\0';

  for (; *from && (mark || !strchr(" \t\r\n", *from)); from++) {
    if (mark ? *from == mark : *from == '\'' || *from == '"')
      mark = mark ? '\0' : *from;
    else
      *(*to)++ = *from;
  }
  return mark ? NULL : from;
}

// Words of a text, in place. Where one begins with '#' it is a remark, up to the end of the line.
static int add_words(const Reader *r, char *text) {
  char *from = text, *to = text;

  for (;;) {
    from += strspn(from, " \t\r\n");
    if (!*from) return CLI_OK;
    if (*from == '#') {
      from += strcspn(from, "\n");
      continue;
    }
    if (*from == '@') return fail(r, "files of arguments do not name others");
    char *word = to, *end = take_word(from, &to);

    if (!end) return fail(r, "a quotation mark has no partner");
    const bool is_last = !*end;

    *to++ = '\0'; // at most where the word ended
    CLI_TRY(add_word(r, word));
    if (is_last) return CLI_OK;
    from = end + 1;
  }
}

static int add_file(Reader *r, const char *path) {
  r->path = path;
  char *text = read_text(r), **larger;

  if (!text) return CLI_FAILED;
  larger = realloc(r->words->texts, ((size_t)r->words->num_texts + 1) * sizeof(*larger));
  if (!larger) {
    free(text);
    return cli_no_memory(r->command->name);
  }
  r->words->texts = larger;
  r->words->texts[r->words->num_texts++] = text;
  return add_words(r, text);
}

int args_read_files(const ArgCommand *command, int argc, char **argv, ArgWords *words) {
  Reader reader = {.command = command, .words = words};
  bool only_operands = false;

  *words = (ArgWords){0};
  for (int i = 0; i < argc; i++) {
    only_operands |= !strcmp(argv[i], "--");
    if (i > 0 && !only_operands && argv[i][0] == '@' && argv[i][1])
      CLI_TRY(add_file(&reader, argv[i] + 1));
    else
      CLI_TRY(add_word(&reader, argv[i]));
  }
  return CLI_OK;
}

void args_free_words(ArgWords *words) {
  for (int i = 0; i < words->num_texts; i++) free(words->texts[i]);
  free(words->texts);
  free(words->argv);
  *words = (ArgWords){0};
}
