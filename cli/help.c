// SPDX-License-Identifier: BSD-2-Clause
// The topics of `ritz help`, from the tables of the library (contract in cli/help.h).
#include "cli/help.h"

#include <ritz/version.h>
#include <stdio.h>
#include <string.h>

const char cli_exit_status[] = "0 done; 1 the computation failed or did not converge; 2 wrong usage.";

enum { INDENT = 6, WIDTH = 94 };

// A paragraph, in lines of WIDTH at most.
static void print_paragraph(const char *text) {
  int column = printf("%*s", INDENT, "");

  for (const char *at = text; *at;) {
    const int length = (int)strcspn(at, " ");
    if (column > INDENT && column + 1 + length > WIDTH) column = printf("\n%*s", INDENT, "") - 1;
    column += printf("%s%.*s", column > INDENT ? " " : "", length, at);
    at += length + (at[length] == ' ');
  }
  putchar('\n');
}

static void print_environment(void) {
  const char *group = "";
  RitzVariableInfo info;
  CeedInt num = 0;
  char text[1000];

  printf("Variables of the environment that Ritz reads. One that is empty is as one that is not set; a\n"
         "program with other rights than its caller (set-uid) reads none. Words in capitals stand for\n"
         "something.\n");
  RitzGetNumVariables(&num);
  for (CeedInt i = 0; i < num && !RitzGetVariableInfo(i, &info); i++) {
    if (strcmp(group, info.group)) printf("\n%s\n\n", info.group);
    group = info.group;
    printf("  %s=%s\n", info.name, info.values);
    snprintf(text, sizeof(text), "%s%s%s%s", info.meaning, *info.otherwise ? " (default: " : "",
             info.otherwise, *info.otherwise ? ")" : "");
    print_paragraph(text);
    if (info.value) printf("%*snow: %s\n", INDENT, "", info.value);
  }
}

static void print_resources(void) {
  RitzResourceOptionInfo option;
  RitzBackendInfo info;
  CeedInt num = 0;
  char text[1000];

  printf(
      "What computes, for --ceed and CeedInit: a name, or the beginning of one up to a '/', which means the\n"
      "first that is usable; options follow, as in /gpu/cuda:device_id=1:deterministic. 'ritz info' tells\n"
      "why one is not usable here.\n\nNames\n\n");
  RitzGetNumBackends(&num);
  for (CeedInt i = 0; i < num && !RitzGetBackendInfo(i, &info); i++)
    printf("  %s%s%s\n", info.resource, info.alias_of ? ", the same as " : "",
           info.alias_of ? info.alias_of : "");
  printf("\nOptions\n\n");
  RitzGetNumResourceOptions(&num);
  for (CeedInt i = 0; i < num && !RitzGetResourceOptionInfo(i, &option); i++) {
    const bool is_of_all = !strcmp(option.below, "/");
    printf("  :%s\n", option.option);
    snprintf(text, sizeof(text), "%s%s: %s", is_of_all ? "all" : "of ", is_of_all ? "" : option.below,
             option.meaning);
    print_paragraph(text);
  }
}

const CliTopic cli_topics[CLI_NUM_TOPICS] = {
    {"environment", "the variables of the environment, and what they are now", print_environment},
    {"resources", "what computes: names and options of --ceed", print_resources},
};
