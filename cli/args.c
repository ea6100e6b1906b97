// SPDX-License-Identifier: BSD-2-Clause
// Parser of command lines, driven by the table of a command.
#include "cli/args.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

// ---- Messages ----

const char *args_shown(const char *text, char shown[ARG_SHOWN]) {
  size_t n = 0;

  for (; text[n] && n < ARG_SHOWN - 4; n++)
    shown[n] = (unsigned char)text[n] < 0x20 || text[n] == 0x7f ? '?' : text[n];
  strcpy(shown + n, text[n] ? "..." : "");
  return shown;
}

ArgsResult args_wrong(const ArgCommand *command, const char *option, const char *format, ...) {
  va_list args;

  fprintf(cli_stderr(), "%s: %s%s", command->name, option ? option : "", option ? ": " : "");
  va_start(args, format);
  vfprintf(cli_stderr(), format, args);
  va_end(args);
  fprintf(cli_stderr(), "\nTry '%s --help'.\n", command->name);
  return ARGS_WRONG;
}

enum { MAX_WORD = 40 };

static size_t smallest(size_t a, size_t b, size_t c) {
  size_t m = a < b ? a : b;
  return m < c ? m : c;
}

// Number of letters to insert, remove or replace to turn a into b (Levenshtein); both shorter than MAX_WORD.
static size_t edit_distance(const char *a, const char *b) {
  size_t row[MAX_WORD], length = strlen(b);

  for (size_t j = 0; j <= length; j++) row[j] = j;
  for (size_t i = 1; a[i - 1]; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= length; j++) {
      size_t above = row[j];
      row[j] = smallest(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
      diagonal = above;
    }
  }
  return row[length];
}

const char *args_nearest(const char *word, size_t num, const char *const *names) {
  const char *nearest = NULL;
  size_t limit = 2 + strlen(word) / 4, least = limit + 1;

  if (strlen(word) >= MAX_WORD) return NULL;
  for (size_t i = 0; i < num; i++) {
    if (strlen(names[i]) >= MAX_WORD) continue;
    size_t distance = edit_distance(word, names[i]);
    if (distance < least && distance < strlen(names[i]) - 2) least = distance, nearest = names[i];
  }
  return nearest;
}

static ArgsResult unknown_option(const ArgCommand *command, const char *word) {
  const char *names[ARG_MAX_OPTIONS + 1] = {"--help"}, *nearest;
  char shown[ARG_SHOWN];

  for (size_t i = 0; i < command->num_options; i++) names[i + 1] = command->options[i].name;
  nearest = args_nearest(word, command->num_options + 1, names);
  args_shown(word, shown);
  if (nearest) return args_wrong(command, NULL, "unknown option '%s' (did you mean %s?)", shown, nearest);
  return args_wrong(command, NULL, "unknown option '%s'", shown);
}

// Words for the values of an option, such as "an integer >= 1". `largest` is named when it is finite.
static void describe_value(const ArgOption *option, double largest, char *text, size_t size) {
  static const char *const nouns[] = {
      [ARG_TEXT] = "a text",       [ARG_TEXT_LIST] = "a text", [ARG_INT] = "an integer",
      [ARG_INT_LIST] = "integers", [ARG_COUNT] = "a number",   [ARG_REAL] = "a number",
  };
  size_t n = 0;

  if (option->kind == ARG_CHOICE || option->kind == ARG_CHOICE_LIST) {
    for (int i = 0; option->choices[i] && n < size; i++) {
      const char *glue = i == 0 ? "" : option->choices[i + 1] ? ", " : " or ";
      n += (size_t)snprintf(text + n, size - n, "%s%s", glue, option->choices[i]);
    }
    if (option->kind == ARG_CHOICE_LIST && n < size)
      snprintf(text + n, size - n, ", or several such as %s,%s", option->choices[0], option->choices[1]);
    return;
  }
  n = (size_t)snprintf(text, size, "%s", nouns[option->kind]);
  if (option->kind == ARG_TEXT || option->kind == ARG_TEXT_LIST) return;
  if (isfinite(largest))
    n += (size_t)snprintf(text + n, size - n, " from %.10g to %.10g", option->min, largest);
  else if (isfinite(option->min))
    n += (size_t)snprintf(text + n, size - n, " >= %g", option->min);
  if (option->kind == ARG_INT_LIST) n += (size_t)snprintf(text + n, size - n, " such as 1,2,4 or 1-4");
  if (option->kind == ARG_INT_LIST && isfinite(option->max)) snprintf(text + n, size - n, ", or all");
  if (option->kind == ARG_COUNT) snprintf(text + n, size - n, " such as 100000 or 1e5");
}

static ArgsResult wrong_value(const ArgCommand *command, const ArgOption *option, const char *found) {
  char expected[200], shown[ARG_SHOWN];
  bool overflow = option->kind == ARG_INT && found && strtod(found, NULL) > INT_MAX;

  describe_value(option, overflow ? INT_MAX : option->max, expected, sizeof(expected));
  if (!found) return args_wrong(command, option->name, "expected %s, found nothing", expected);
  return args_wrong(command, option->name, "expected %s, found '%s'", expected, args_shown(found, shown));
}

// ---- Values ----

// Decimal numbers only: strtod would also take blanks, hexadecimal numbers, "inf" and "nan".
static bool parse_real(const char *text, double *value) {
  char *end;

  if (!*text || text[strspn(text, "+-.0123456789eE")]) return false;
  *value = strtod(text, &end);
  return *end == '\0' && isfinite(*value);
}

static bool parse_int(const char *text, char **end, int *value) {
  long parsed;

  if (!*text || !strchr("+-0123456789", *text)) return false;
  errno = 0;
  parsed = strtol(text, end, 10);
  if (*end == text || errno || parsed < INT_MIN || parsed > INT_MAX) return false;
  *value = (int)parsed;
  return true;
}

static bool in_range(const ArgOption *option, double value) {
  return value >= option->min && value <= option->max;
}

static bool append_ints(ArgInts *list, int first, int last) {
  size_t count = (size_t)((long long)last - first + 1);

  if (list->num + count > ARG_MAX_INTS) return false;
  int *items = realloc(list->items, (list->num + count) * sizeof(int));
  if (!items) return false;
  list->items = items;
  for (int i = first; i <= last; i++) list->items[list->num++] = i;
  return true;
}

static bool parse_ints(const ArgOption *option, const char *text, ArgInts *list) {
  list->num = 0;
  if (!strcmp(text, "all") && isfinite(option->max))
    return append_ints(list, (int)option->min, (int)option->max);
  for (;;) {
    char *end;
    int first, last;
    if (!parse_int(text, &end, &first)) return false;
    last = first;
    if (*end == '-' && !parse_int(end + 1, &end, &last)) return false;
    if (last < first || !in_range(option, first) || !in_range(option, last)) return false;
    if (!append_ints(list, first, last)) return false;
    if (*end == '\0') return true;
    if (*end != ',') return false;
    text = end + 1;
  }
}

static bool parse_choice(const ArgOption *option, const char *text, int *choice) {
  for (int i = 0; option->choices[i]; i++) {
    if (!strcmp(option->choices[i], text)) return *choice = i, true;
  }
  return false;
}

static bool parse_choices(const ArgOption *option, const char *text, ArgInts *list) {
  list->num = 0;
  for (;;) {
    size_t length = strcspn(text, ",");
    int i = 0;
    while (option->choices[i] &&
           (strlen(option->choices[i]) != length || strncmp(option->choices[i], text, length)))
      i++;
    if (!option->choices[i] || !append_ints(list, i, i)) return false;
    if (!text[length]) return true;
    text += length + 1;
  }
}

static bool append_text(ArgTexts *list, const char *text) {
  const char **items = realloc(list->items, (list->num + 1) * sizeof(*items));

  if (!items) return false;
  list->items = items;
  list->items[list->num++] = text;
  return true;
}

// Stores the value; false: it is not one for this option.
static bool set_value(const ArgOption *option, const char *text, void *options) {
  void *member = (char *)options + option->offset;
  double real;
  char *end;
  int integer;

  switch (option->kind) {
  case ARG_FLAG: *(bool *)member = true; return true;
  case ARG_TEXT: *(const char **)member = text; return *text != '\0';
  case ARG_TEXT_LIST: return *text && append_text(member, text);
  case ARG_INT:
    if (!parse_int(text, &end, &integer) || *end || !in_range(option, integer)) return false;
    *(int *)member = integer;
    return true;
  case ARG_INT_LIST: return parse_ints(option, text, member);
  case ARG_COUNT:
  case ARG_REAL:
    if (!parse_real(text, &real) || !in_range(option, real)) return false;
    if (option->kind == ARG_COUNT && real != floor(real)) return false;
    *(double *)member = real;
    return true;
  case ARG_CHOICE: return parse_choice(option, text, member);
  case ARG_CHOICE_LIST: return parse_choices(option, text, member);
  }
  return false;
}

// ---- The command line ----

// Option whose name is the first `length` characters of the word.
static const ArgOption *find_option(const ArgCommand *command, const char *word, size_t length) {
  for (size_t i = 0; i < command->num_options; i++) {
    const char *name = command->options[i].name;
    if (strlen(name) == length && !strncmp(name, word, length)) return &command->options[i];
  }
  return NULL;
}

// Handles the option argv[*i], and its value in the same or the next argument.
static ArgsResult parse_option(const ArgCommand *command, int argc, char **argv, int *i, void *options) {
  const char *word = argv[*i], *equals = strchr(word, '='), *value = equals ? equals + 1 : NULL;
  size_t length = equals ? (size_t)(equals - word) : strlen(word);
  const ArgOption *option = find_option(command, word, length);
  char name[MAX_WORD] = "";

  if (!option) {
    if (length < MAX_WORD) memcpy(name, word, length);
    return unknown_option(command, length < MAX_WORD ? name : word);
  }
  if (option->kind == ARG_FLAG) {
    if (value) return args_wrong(command, option->name, "takes no value");
  } else if (!value) {
    value = *i + 1 < argc ? argv[++*i] : NULL;
    if (!value) return wrong_value(command, option, NULL);
  }
  return set_value(option, value, options) ? ARGS_RUN : wrong_value(command, option, value);
}

static ArgsResult set_operand(const ArgCommand *command, const char *text, void *options) {
  const char **operand = (const char **)(void *)((char *)options + command->operand_offset);
  char shown[ARG_SHOWN];

  if (!command->operand || *operand) {
    return args_wrong(command, NULL, "unexpected argument '%s'", args_shown(text, shown));
  }
  *operand = text;
  return ARGS_RUN;
}

ArgsResult args_parse(const ArgCommand *command, int argc, char **argv, void *options) {
  bool only_operands = false;

  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
      args_print_help(command);
      return ARGS_HELP;
    }
    if (!strcmp(argv[i], "--")) break;
  }
  for (int i = 1; i < argc; i++) {
    ArgsResult result;

    if (!only_operands && !strcmp(argv[i], "--")) {
      only_operands = true;
      continue;
    }
    if (!only_operands && argv[i][0] == '-' && argv[i][1])
      result = parse_option(command, argc, argv, &i, options);
    else
      result = set_operand(command, argv[i], options);
    if (result != ARGS_RUN) return result;
  }
  if (command->operand && *command->operand != '[' &&
      !*(const char **)(void *)((char *)options + command->operand_offset)) {
    return args_wrong(command, NULL, "%s is missing", command->operand);
  }
  return ARGS_RUN;
}

ArgInts args_or_else(ArgInts given, size_t num, int *items) {
  return given.num ? given : (ArgInts){num, items};
}

void args_free(const ArgCommand *command, void *options) {
  for (size_t i = 0; i < command->num_options; i++) {
    void *member = (char *)options + command->options[i].offset;
    if (command->options[i].kind == ARG_TEXT_LIST) free(((ArgTexts *)member)->items);
    if (command->options[i].kind == ARG_INT_LIST || command->options[i].kind == ARG_CHOICE_LIST)
      free(((ArgInts *)member)->items);
  }
}
