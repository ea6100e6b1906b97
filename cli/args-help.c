// SPDX-License-Identifier: BSD-2-Clause
// What the table of a command tells people and shells: help and completion. Manual pages: cli/man.c.
#include <ritz/version.h>
#include <stdio.h>
#include <string.h>

#include "cli/args.h"

// ---- Help ----

enum { HELP_COLUMN = 26 };

static void print_option(const char *left, const char *help) {
  int width = printf("  %s", left);

  if (width > HELP_COLUMN - 2) {
    putchar('\n');
    width = 0;
  }
  printf("%*s", HELP_COLUMN - width, "");
  for (const char *c = help; *c; c++) {
    putchar(*c);
    if (*c == '\n') printf("%*s", HELP_COLUMN, "");
  }
  putchar('\n');
}

const char *args_value(const ArgOption *option, char shown[ARG_SHOWN_VALUE]) {
  size_t n = (size_t)snprintf(shown, ARG_SHOWN_VALUE, "%s", option->value ? option->value : "");

  for (int k = 0; option->kind == ARG_CHOICE && option->choices[k] && n < ARG_SHOWN_VALUE; k++)
    n += (size_t)snprintf(shown + n, ARG_SHOWN_VALUE - n, "%s%s", k ? "|" : "", option->choices[k]);
  return shown;
}

void args_print_help(const ArgCommand *command) {
  char left[40 + ARG_SHOWN_VALUE], value[ARG_SHOWN_VALUE];

  printf("usage: %s%s%s [options]\n\n%s\n\noptions:\n", command->name, command->operand ? " " : "",
         command->operand ? command->operand : "", command->description);
  for (size_t i = 0; i < command->num_options; i++) {
    const ArgOption *option = &command->options[i];
    snprintf(left, sizeof(left), "%.39s %s", option->name, args_value(option, value));
    print_option(left, option->help);
  }
  print_option("--help", "this text");
  if (command->notes) printf("\n%s\n", command->notes);
  if (command->examples) putchar('\n');
  for (const char *line = command->examples; line && *line;
       line += strcspn(line, "\n"), line += *line == '\n')
    printf("  %.*s\n", (int)strcspn(line, "\n"), line);
}

// ---- Completion ----

void args_offer(const char *word, const char *name, const char *help) {
  if (strncmp(name, word, strlen(word))) return;
  printf("%s%s%.*s\n", name, help ? "\t" : "", help ? (int)strcspn(help, "\n") : 0, help ? help : "");
}

// The first `num_before` characters of the word stand in front of the name: "--cycle=".
static void offer_value(const char *word, size_t num_before, const char *name) {
  char whole[200];

  snprintf(whole, sizeof(whole), "%.*s%s", (int)num_before, word, name);
  args_offer(word, whole, NULL);
}

static void offer_values(const ArgOption *option, const char *word, size_t num_before) {
  RitzBackendInfo info;
  CeedInt num = 0;

  for (int k = 0; option->choices[k]; k++) offer_value(word, num_before, option->choices[k]);
  if (option->value && !strcmp(option->value, "RESOURCE")) RitzGetNumBackends(&num);
  for (CeedInt i = 0; i < num && !RitzGetBackendInfo(i, &info); i++)
    if (info.usable && !info.alias_of) offer_value(word, num_before, info.resource);
}

// "list|clear|path|warm"
static void offer_operands(const char *operand, const char *word) {
  char name[40];

  for (const char *at = operand; *at; at += strcspn(at, "|"), at += *at == '|') {
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, "|"), at);
    args_offer(word, name, NULL);
  }
}

static const ArgOption *find_option_with_value(const ArgCommand *command, const char *name, size_t length) {
  for (size_t i = 0; i < command->num_options; i++) {
    const ArgOption *option = &command->options[i];
    if (strlen(option->name) == length && !strncmp(option->name, name, length) && option->kind != ARG_FLAG)
      return option;
  }
  return NULL;
}

// The option whose value the last word is, or has behind *num_before characters. Shells may make "=" a word
// of its own: "--order", "=", "3".
static const ArgOption *option_of_value(const ArgCommand *command, int num, char **words,
                                        size_t *num_before) {
  const char *word = words[num - 1], *equals = strchr(word, '=');
  const int at = num >= 3 && !strcmp(words[num - 2], "=") ? num - 3 : num - 2;

  *num_before = equals ? (size_t)(equals - word) + 1 : 0;
  if (equals > word) return find_option_with_value(command, word, (size_t)(equals - word));
  return at >= 0 ? find_option_with_value(command, words[at], strlen(words[at])) : NULL;
}

void args_complete(const ArgCommand *command, int num, char **words) {
  size_t num_before;
  const ArgOption *option = option_of_value(command, num, words, &num_before);
  const char *word = words[num - 1];

  if (option) {
    offer_values(option, strcmp(word, "=") ? word : "", strcmp(word, "=") ? num_before : 0);
    return;
  }
  if (command->operand && strchr(command->operand, '|')) offer_operands(command->operand, word);
  if (word[0] != '-' && command->operand) return;
  for (size_t i = 0; i < command->num_options; i++)
    args_offer(word, command->options[i].name, command->options[i].help);
  args_offer(word, "--help", "this text");
}
