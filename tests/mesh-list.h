// SPDX-License-Identifier: BSD-2-Clause
// All mesh files that tests read as a user would: those of the examples, and the ones of other projects where
// RITZ_TEST_MESHES names their folder. Included by tests that want every mesh.
#ifndef RITZ_TESTS_MESH_LIST_H
#define RITZ_TESTS_MESH_LIST_H

#include <stdbool.h>
#include <stdio.h>

#include "tests/tap.h"

enum { MESH_PATH = 1000 };

// The path of file i; false: there is none.
static inline bool mesh_list_path(size_t i, char path[MESH_PATH]) {
  static const char *const own[] = {"heat-sink.msh", "pipe-elbow.msh", "four-shapes.msh", "disk.msh"};
  static const char *const foreign[] = {"beam-hex.mesh",      "beam-tet.mesh",   "escher.mesh",
                                        "fichera-mixed.mesh", "fichera-q3.mesh", "fichera.mesh",
                                        "nested_cubes.msh",   "star-q3.mesh",    "star.mesh",
                                        "periodic-cube.msh",  "toroid-hex.mesh"};
  const size_t num_own = sizeof(own) / sizeof(own[0]), num_foreign = sizeof(foreign) / sizeof(foreign[0]);

  if (i < num_own) return snprintf(path, MESH_PATH, "examples/meshes/%s", own[i]) > 0;
  return tap_meshes() && i < num_own + num_foreign &&
         snprintf(path, MESH_PATH, "%s/%s", tap_meshes(), foreign[i - num_own]) > 0;
}

#endif
