// SPDX-License-Identifier: BSD-2-Clause
// Pages for man as roff (contract in cli/help.h). The build prints ritz.1 and ritz-bench.1 with it.
#include <ritz/version.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/help.h"

// ---- Text ----

// `num` characters as they are. '-' is one that can be copied, not a hyphen.
static void put(const char *text, size_t num) {
  for (size_t i = 0; i < num; i++) {
    if (i == 0 && (text[i] == '.' || text[i] == '\'')) fputs("\\&", stdout);
    switch (text[i]) {
    case '\\': fputs("\\e", stdout); break;
    case '-': fputs("\\-", stdout); break;
    case '^': fputs("\\(ha", stdout); break;
    case '~': fputs("\\(ti", stdout); break;
    case '`': fputs("\\(ga", stdout); break;
    case '\'': fputs("\\(aq", stdout); break;
    default: putchar(text[i]);
    }
  }
}

static void put_text(const char *text) { put(text, strlen(text)); }

static void put_in_font(char font, const char *text) {
  printf("\\f%c", font);
  put_text(text);
  fputs("\\fR", stdout);
}

// Lines of a text, which man may fill.
static void put_lines(const char *text) {
  for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
    put(line, strcspn(line, "\n"));
    putchar('\n');
  }
}

// As they are.
static void put_set(const char *text) {
  puts(".nf");
  put_lines(text);
  puts(".fi");
}

// ---- Sections ----

static void put_option(const ArgOption *option) {
  char value[ARG_SHOWN_VALUE];

  puts(".TP");
  put_in_font('B', option->name);
  if (*args_value(option, value)) {
    putchar(' ');
    put_in_font('I', value);
  }
  putchar('\n');
  put_lines(option->help);
}

static void put_command(const ArgCommand *command) {
  printf(".SS ");
  put_text(command->name);
  if (command->operand) printf(" %s", command->operand);
  puts(" [options]");
  put_set(command->description);
  for (size_t i = 0; i < command->num_options; i++) put_option(&command->options[i]);
  puts(".TP\n\\fB\\-\\-help\\fR\nThe help of the command.");
  if (command->notes) {
    puts(".PP");
    put_set(command->notes);
  }
}

static void put_environment(void) {
  const char *group = "";
  RitzVariableInfo info;
  CeedInt num = 0;

  puts(
      ".SH ENVIRONMENT\nA variable that is empty is as one that is not set. A program with other rights than "
      "its caller reads none.");
  RitzGetNumVariables(&num);
  for (CeedInt i = 0; i < num && !RitzGetVariableInfo(i, &info); i++) {
    if (strcmp(group, info.group)) printf(".SS %s\n", info.group);
    group = info.group;
    puts(".TP");
    put_in_font('B', info.name);
    putchar('=');
    put_in_font('I', info.values);
    putchar('\n');
    put_text(info.meaning);
    if (*info.otherwise) {
      fputs(" (default: ", stdout);
      put_text(info.otherwise);
      putchar(')');
    }
    putchar('\n');
  }
}

static void put_resources(void) {
  RitzResourceOptionInfo option;
  CeedInt num = 0;

  puts(".SH RESOURCES\nOptions follow the name of a backend: \\fB/gpu/cuda:device_id=1:deterministic\\fR.");
  RitzGetNumResourceOptions(&num);
  for (CeedInt i = 0; i < num && !RitzGetResourceOptionInfo(i, &option); i++) {
    puts(".TP");
    fputs("\\fB:\\fR", stdout);
    put_in_font('B', option.option);
    printf(" (below %s)\n", option.below);
    put_text(option.meaning);
    putchar('\n');
  }
}

// ---- The page ----

static void put_names(const CliManual *m) {
  int version[3] = {0};

  RitzGetVersion(&version[0], &version[1], &version[2]);
  printf(".\\\" Printed by '%s --man' from its tables.\n.TH ", m->name);
  for (const char *c = m->name; *c; c++) putchar(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
  printf(" 1 \"\" \"Ritz %d.%d.%d\"\n.SH NAME\n", version[0], version[1], version[2]);
  put_text(m->name);
  printf(" \\- ");
  put_text(m->what);
  puts("\n.SH SYNOPSIS\n.nf");
  for (const char *line = m->synopsis; *line; line += strcspn(line, "\n"), line += *line == '\n') {
    put_in_font('B', m->name);
    putchar(' ');
    put(line, strcspn(line, "\n"));
    putchar('\n');
  }
  puts(".fi\n.SH DESCRIPTION");
  put_lines(m->description);
}

static void put_commands(const CliManual *m) {
  printf(".SH %s\n", m->list);
  for (int i = 0; i < m->num_commands; i++) {
    puts(".TP");
    put_in_font('B', m->commands[i].name);
    putchar('\n');
    put_text(m->commands[i].help);
    putchar('\n');
  }
}

int cli_print_manual(const CliManual *m) {
  put_names(m);
  put_commands(m);
  puts(".SH OPTIONS");
  for (int i = 0; i < m->num_commands; i++)
    if (m->commands[i].args) put_command(m->commands[i].args);
  put_resources();
  put_environment();
  puts(".SH EXIT STATUS");
  put_lines(cli_exit_status);
  puts(".SH EXAMPLES");
  for (int i = 0; i < m->num_commands; i++)
    if (m->commands[i].args) put_set(m->commands[i].args->examples);
  printf(".SH SEE ALSO\n%s\n", m->see_also);
  return CLI_OK;
}
