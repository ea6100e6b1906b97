// SPDX-License-Identifier: BSD-2-Clause
// The tables of variables of the environment and of options of resources, as programs are told of them.
#include <ritz/version.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

TEST(variables_of_the_environment_are_told_with_their_values) {
  RitzVariableInfo info;
  const char *before = "";
  CeedInt num = 0;

  CHECK_OK(RitzGetNumVariables(&num));
  CHECK(num > 0, "no entries");
  for (CeedInt i = 0; i < num; i++) {
    CHECK_OK(RitzGetVariableInfo(i, &info));
    CHECK(info.name[0] && info.values[0] && info.otherwise && info.meaning[0], "entry %d", (int)i);
    if (strcmp(info.name, "RITZ_PATCH_BLOCK")) continue;
    setenv(info.name, "2,1", 1);
    CHECK_OK(RitzGetVariableInfo(i, &info));
    CHECK(info.value && !strcmp(info.value, "2,1"), "set");
    setenv(info.name, "", 1);
    CHECK_OK(RitzGetVariableInfo(i, &info));
    CHECK(!info.value, "an empty one is as one that is not set");
    unsetenv(info.name);
    before = info.name;
  }
  CHECK(before[0], "the variable is not in the table");
  CHECK_ERROR(NULL, RitzGetVariableInfo(num, &info), CEED_ERROR_DIMENSION, "index");
  CHECK_ERROR(NULL, RitzGetVariableInfo(-1, &info), CEED_ERROR_DIMENSION, "index");
}

TEST(options_of_resources_are_told_with_where_they_hold) {
  RitzResourceOptionInfo info;
  CeedInt num = 0;

  CHECK_OK(RitzGetNumResourceOptions(&num));
  CHECK(num > 0, "no entries");
  for (CeedInt i = 0; i < num; i++) {
    static const char resource[] = "/cpu/self/ref";
    char request[80];
    Ceed ceed = NULL;

    CHECK_OK(RitzGetResourceOptionInfo(i, &info));
    CHECK(info.option[0] && info.meaning[0], "entry %d", (int)i);
    snprintf(request, sizeof(request), "%s:%s", resource, info.option);
    const bool is_known = !strncmp(resource, info.below, strlen(info.below));
    CHECK(CeedInit(request, &ceed) == (is_known ? CEED_ERROR_SUCCESS : CEED_ERROR_INCOMPATIBLE), "'%s'",
          request);
    CeedDestroy(&ceed);
  }
  CHECK_ERROR(NULL, RitzGetResourceOptionInfo(num, &info), CEED_ERROR_DIMENSION, "index");
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(variables_of_the_environment_are_told_with_their_values,
                        options_of_resources_are_told_with_where_they_hold));
}
