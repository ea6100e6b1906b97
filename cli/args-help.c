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

static void offer_resources(const char *word) {
  RitzBackendInfo info;
  CeedInt num = 0;

  RitzGetNumBackends(&num);
  for (CeedInt i = 0; i < num; i++)
    if (!RitzGetBackendInfo(i, &info) && info.usable && !info.alias_of) args_offer(word, info.resource, NULL);
}

// The values of an option.
static void offer_values(const ArgOption *option, const char *word) {
  for (int k = 0; option->choices[k]; k++) args_offer(word, option->choices[k], NULL);
  if (option->value && !strcmp(option->value, "RESOURCE")) offer_resources(word);
}

// "list|clear|path|warm"
static void offer_operands(const char *operand, const char *word) {
  char name[40];

  for (const char *at = operand; *at; at += strcspn(at, "|"), at += *at == '|') {
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, "|"), at);
    args_offer(word, name, NULL);
  }
}

static const ArgOption *find_option_with_value(const ArgCommand *command, const char *name) {
  for (size_t i = 0; i < command->num_options; i++) {
    const ArgOption *option = &command->options[i];
    if (!strcmp(option->name, name) && option->kind != ARG_FLAG) return option;
  }
  return NULL;
}

// Shells may make "=" a word of its own: "--order", "=", "3".
void args_complete(const ArgCommand *command, int num, char **words) {
  const char *word = num > 0 ? words[num - 1] : "";
  int at = num - 2;

  if (!strcmp(word, "="))
    word = "";
  else if (at >= 0 && !strcmp(words[at], "="))
    at--;
  const ArgOption *option = at >= 0 ? find_option_with_value(command, words[at]) : NULL;
  if (option) {
    offer_values(option, word);
    return;
  }
  if (command->operand && strchr(command->operand, '|')) offer_operands(command->operand, word);
  if (word[0] != '-' && command->operand) return;
  for (size_t i = 0; i < command->num_options; i++)
    args_offer(word, command->options[i].name, command->options[i].help);
  args_offer(word, "--help", "this text");
}
