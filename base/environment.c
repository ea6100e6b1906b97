// SPDX-License-Identifier: BSD-2-Clause
// The environment: who may trust it, and the table of its variables (contract in base/environment.h and, of
// what programs may ask, in ritz/version.h).
#include "base/environment.h"

#include <ritz/version.h>
#include <unistd.h>

#include "base/error.h"
#include "base/threads.h"

static const struct {
  const char *group, *name, *values, *otherwise, *meaning;
} variables[] = {
#define COMPILERS                                         "Compilers of kernels"
#define FILES                                             "Files and folders"
#define MESSAGES                                          "Messages and errors"
#define RUNNING                                           "How operators and solvers run"
#define DEVICES                                           "Devices"
#define PROCESSES                                         "Processes"
#define PYTHON                                            "The Python package"
#define VARIABLE(group, name, values, otherwise, meaning) {group, #name, values, otherwise, meaning},
#include "base/variables.h"
#undef VARIABLE
};

bool ritz_is_set_uid(void) { return getuid() != geteuid() || getgid() != getegid(); }

const char *ritz_environment_name(RitzVariable variable) { return variables[variable].name; }

const char *ritz_environment(RitzVariable variable) {
  const char *value = ritz_is_set_uid() ? NULL : ritz_getenv(variables[variable].name);

  return value && *value ? value : NULL;
}

int RitzGetNumVariables(CeedInt *num) {
  *num = NUM_ENVIRONMENT;
  return CEED_ERROR_SUCCESS;
}

int RitzGetVariableInfo(CeedInt index, RitzVariableInfo *info) {
  RITZ_REQUIRE(index >= 0 && index < NUM_ENVIRONMENT, NULL, CEED_ERROR_DIMENSION,
               "RitzGetVariableInfo: index %" CeedInt_FMT " is outside the table of %d entries", index,
               (int)NUM_ENVIRONMENT);
  *info = (RitzVariableInfo){.group = variables[index].group,
                             .name = variables[index].name,
                             .values = variables[index].values,
                             .otherwise = variables[index].otherwise,
                             .meaning = variables[index].meaning,
                             .value = ritz_environment((RitzVariable)index)};
  return CEED_ERROR_SUCCESS;
}
