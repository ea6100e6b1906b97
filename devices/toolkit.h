// SPDX-License-Identifier: BSD-2-Clause
// Where libraries of the CUDA toolkit are. Called by vendor.c.
#ifndef RITZ_DEVICES_TOOLKIT_H
#define RITZ_DEVICES_TOOLKIT_H

#include <stdbool.h>

// Calls take(path) for files of these names (NULL at the end), the first ones first, in CUDA_HOME, CUDA_PATH,
// where the loader looks, /usr/local/cuda and the newest of /usr/local/cuda-*, until one is taken. False:
// none was.
bool ritz_toolkit_look(const char *const *names, bool (*take)(const char *path));

#endif
