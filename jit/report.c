// SPDX-License-Identifier: BSD-2-Clause
// Messages and dumps for people (contract in jit/report.h).
#include "jit/report.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "base/error.h"
#include "base/memory.h"
#include "jit/files.h"
#include "jit/work-folder.h"

// ---- Messages ----

static bool contains(const char *line, size_t length, const char *word) {
  const char *at = strstr(line, word);

  return at && at + strlen(word) <= line + length;
}

// "collect2: error: ld returned 1" only says that there are messages above.
static bool is_error(const char *line, size_t length) {
  return contains(line, length, "error:") && !contains(line, length, "collect2:");
}

static bool is_any(const char *line, size_t length) {
  (void)line;
  return length > 0;
}

static int pick_lines(Ceed ceed, const char *log, bool (*wants)(const char *line, size_t length),
                      char **messages) {
  enum { MAX_SHOWN = 1000 }; // of a line
  int num = 0;

  RITZ_TRY(ritz_strdup(ceed, "", messages));
  for (size_t n; *log && num < 3; log += n + (log[n] == '\n')) {
    char *longer = NULL;

    n = strcspn(log, "\n");
    if (!wants(log, n)) continue;
    const int shown = n > MAX_SHOWN ? MAX_SHOWN : (int)n;
    int ierr = ritz_format(ceed, &longer, "%s%s%.*s%s", *messages, num++ ? "; " : "", shown, log,
                           n > MAX_SHOWN ? "..." : "");
    RITZ_FREE(messages);
    RITZ_TRY(ierr);
    *messages = longer;
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_report_errors(Ceed ceed, const char *log, char **messages) {
  RITZ_TRY(pick_lines(ceed, log, is_error, messages));
  if (**messages) return CEED_ERROR_SUCCESS;
  RITZ_FREE(messages);
  return pick_lines(ceed, log, is_any, messages);
}

// ---- Dumps ----

// Quotes a word for a shell.
static int quote(Ceed ceed, const char *word, char **quoted) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  size_t n = 0;

  if (*word && strspn(word, plain) == strlen(word)) return ritz_strdup(ceed, word, quoted);
  RITZ_TRY(RITZ_MALLOC(ceed, 4 * strlen(word) + 3, quoted));
  (*quoted)[n++] = '\'';
  for (; *word; word++) n += (size_t)sprintf(*quoted + n, *word == '\'' ? "'\\''" : "%c", *word);
  strcpy(*quoted + n, "'");
  return CEED_ERROR_SUCCESS;
}

// *text: the words in one line that can be pasted.
static int make_line(Ceed ceed, const RitzStrings *words, char **text) {
  RITZ_TRY(ritz_strdup(ceed, "", text));
  for (size_t i = 0; i < words->num; i++) {
    char *quoted = NULL, *longer = NULL;
    int ierr = quote(ceed, words->item[i], &quoted);

    if (!ierr) ierr = ritz_format(ceed, &longer, "%s%s%s", *text, quoted, i + 1 < words->num ? " " : "\n");
    RITZ_FREE(&quoted);
    RITZ_FREE(text);
    RITZ_TRY(ierr);
    *text = longer;
  }
  return CEED_ERROR_SUCCESS;
}

static int make_command(Ceed ceed, const RitzCompiler *compiler, const RitzJitSource *source,
                        const char *folder, char **text) {
  RitzStrings words = {.ceed = ceed};

  ritz_compiler_command(compiler, source, folder, &words);
  int ierr = words.error ? words.error : make_line(ceed, &words, text);
  ritz_strings_free(&words);
  return ierr;
}

static int write_bytes(Ceed ceed, const char *folder, const char *name, const void *bytes, size_t num_bytes,
                       bool *is_written) {
  char *path = NULL;

  RITZ_TRY(ritz_format(ceed, &path, "%s/%s", folder, name));
  *is_written = *is_written && ritz_file_write(path, bytes, num_bytes);
  RITZ_FREE(&path);
  return CEED_ERROR_SUCCESS;
}

static int write_dump_text(Ceed ceed, const char *folder, const char *name, const char *text,
                           bool *is_written) {
  return write_bytes(ceed, folder, name, text, strlen(text), is_written);
}

static int copy_binary(Ceed ceed, const char *folder, int binary, bool *is_written) {
  char *path = NULL;

  if (binary < 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_format(ceed, &path, "%s/kernel.so", folder));
  *is_written = *is_written && ritz_file_copy(binary, path);
  RITZ_FREE(&path);
  return CEED_ERROR_SUCCESS;
}

// *folder: absolute, owned by the caller, made; NULL when it cannot be made.
static int make_folder(Ceed ceed, const char *name, const RitzHash *key, const char *below, char **folder) {
  char *path = NULL, *real = NULL;

  *folder = NULL;
  RITZ_TRY(ritz_format(ceed, &path, "%s/%s-%.8s", below, name, key->hex));
  for (char *c = path + strlen(below) + 1; *c; c++)
    if (!isalnum((unsigned char)*c) && *c != '-' && *c != '_') *c = '_';
  if (ritz_folder_make(path, 0777)) real = realpath(path, NULL);
  RITZ_FREE(&path);
  int ierr = real ? ritz_strdup(ceed, real, folder) : CEED_ERROR_SUCCESS;
  free(real);
  return ierr;
}

static void warn_once(const char *below) {
  static atomic_flag is_said = ATOMIC_FLAG_INIT;

  if (!atomic_flag_test_and_set(&is_said))
    fprintf(stderr, "ritz: RITZ_DUMP=%s: this folder cannot be written to\n", below);
}

// *folder: NULL when nothing is to be written.
static int open_dump(Ceed ceed, const char *name, const RitzHash *key, char **folder) {
  const char *below = ritz_environment(ENV_RITZ_DUMP);

  *folder = NULL;
  if (!below) return CEED_ERROR_SUCCESS;
  RITZ_TRY(make_folder(ceed, name, key, below, folder));
  if (!*folder) warn_once(below);
  return CEED_ERROR_SUCCESS;
}

static void close_dump(int ierr, bool is_written, char **folder) {
  if (!is_written) warn_once(ritz_environment(ENV_RITZ_DUMP));
  if (ierr || !is_written) RITZ_FREE(folder);
}

int ritz_report_dump(Ceed ceed, const RitzCompiler *compiler, const RitzJitSource *source,
                     const RitzHash *key, const char *log, int binary, char **folder) {
  char *command = NULL;
  bool is_written = true;
  int ierr = open_dump(ceed, source->name, key, folder);

  if (ierr || !*folder) return ierr;
  RITZ_TRY_CLEANUP(ritz_work_folder_fill(ceed, *folder, source->text, &is_written));
  RITZ_TRY_CLEANUP(make_command(ceed, compiler, source, *folder, &command));
  RITZ_TRY_CLEANUP(write_dump_text(ceed, *folder, "command.txt", command, &is_written));
  RITZ_TRY_CLEANUP(write_dump_text(ceed, *folder, "compile.log", log, &is_written));
  RITZ_TRY_CLEANUP(copy_binary(ceed, *folder, binary, &is_written));
cleanup:
  close_dump(ierr, is_written, folder);
  RITZ_FREE(&command);
  return ierr;
}

// *text: one word a line.
static int make_list(Ceed ceed, size_t num, const char *const *words, char **text) {
  RITZ_TRY(ritz_strdup(ceed, "", text));
  for (size_t i = 0; i < num; i++) {
    char *longer = NULL;
    int ierr = ritz_format(ceed, &longer, "%s%s\n", *text, words[i]);

    RITZ_FREE(text);
    RITZ_TRY(ierr);
    *text = longer;
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_report_dump_binary(Ceed ceed, const RitzJitBinary *source, const RitzHash *key, const char *log,
                            size_t num_bytes, const char *bytes, char **folder) {
  char *words = NULL, name[32];
  bool is_written = true;
  int ierr = open_dump(ceed, source->name, key, folder);

  if (ierr || !*folder) return ierr;
  snprintf(name, sizeof(name), "kernel.%s", source->extension);
  RITZ_TRY_CLEANUP(write_dump_text(ceed, *folder, name, source->text, &is_written));
  RITZ_TRY_CLEANUP(make_list(ceed, source->num_words, source->words, &words));
  RITZ_TRY_CLEANUP(write_dump_text(ceed, *folder, "device.txt", words, &is_written));
  RITZ_TRY_CLEANUP(write_dump_text(ceed, *folder, "compile.log", log, &is_written));
  if (bytes) RITZ_TRY_CLEANUP(write_bytes(ceed, *folder, "kernel.bin", bytes, num_bytes, &is_written));
cleanup:
  close_dump(ierr, is_written, folder);
  RITZ_FREE(&words);
  return ierr;
}
