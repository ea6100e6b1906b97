// SPDX-License-Identifier: BSD-2-Clause
// How fast the errors of Poisson's equation fall when a mesh is refined. Called by test-convergence*.c.
#ifndef RITZ_TESTS_ORDERS_H
#define RITZ_TESTS_ORDERS_H

#include <ritz.h>

enum { ORDERS_MAX_DEGREE = 6 };

// A family of meshes, refined by halves.
typedef struct OrdersFamily {
  const char *name;
  int (*create)(Ceed ceed, const struct OrdersFamily *f, CeedInt level, CeedInt degree, RitzMesh *mesh);
  CeedInt dim, n[3];      // boxes: elements of level 0
  const char *file;       // files: path
  double num_waves;       // half waves of u across the largest extent of the mesh
  CeedInt max_degree[3];  // by level of the tests: degrees whose orders are looked at
  double max_work[3];     // by level of the tests: meshes are refined while the work is below; 0: default
  CeedElemTopology shape; // boxes that are split: into what
} OrdersFamily;

// Reads f->file.
int orders_read_file(Ceed ceed, const OrdersFamily *f, CeedInt level, CeedInt degree, RitzMesh *mesh);

// For each degree the error falls as theory says, and is about the best that the space allows.
void orders_check(Ceed ceed, const OrdersFamily *f);
// The latter only, on the coarsest mesh, for the degrees beyond.
void orders_check_coarse(Ceed ceed, const OrdersFamily *f);

// The work of solving with this degree on the mesh of level 0; it grows by 2^dim a level.
int orders_estimate_work(Ceed ceed, const OrdersFamily *f, CeedInt degree, double *work, CeedInt *dim);
// Prints the errors for all degrees. Arguments: path, half waves across the mesh (default 1), resource
// (default /cpu/self). Returns the exit status of the program.
int orders_print_table(int argc, char **argv);

#endif
