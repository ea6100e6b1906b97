// SPDX-License-Identifier: BSD-2-Clause
// Files of `ritz info`.
#ifndef RITZ_CLI_INFO_H
#define RITZ_CLI_INFO_H

#include "cli/args.h"

int cli_info_mesh(const ArgCommand *command, const char *mesh); // an exit code

#endif
