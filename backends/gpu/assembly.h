// SPDX-License-Identifier: BSD-2-Clause
// Matrices in a fixed pattern on devices: what assembly-pattern.c keeps there and assembly.c adds to.
#ifndef RITZ_BACKENDS_GPU_ASSEMBLY_H
#define RITZ_BACKENDS_GPU_ASSEMBLY_H

#include "backends/gpu/context.h"
#include "core/assembly-pattern.h"

// Elements order[firsts[k]] .. order[firsts[k + 1] - 1], ascending, have no entry of the L-vector in common.
typedef struct {
  CeedInt num_colors;
  CeedInt *order, *firsts; // owned: on the host [num_elem], [num_colors + 1]
  void *device_order;      // owned
} RitzGpuColors;

// Places of a block's element matrices in the values of an assembly; arrays on the device.
typedef struct {
  void *starts, *places; // owned: [element][row], [element][row][column]
  bool is_long;          // starts are RitzLong, else CeedInt
  CeedInt place_bytes;
  bool is_ordered; // color after color, else by atomic additions
  RitzGpuColors colors;
} RitzGpuPlaces;

// Whether there are kernels for these groups of an operator; else the reference backend assembles them.
bool ritz_gpu_assembles(CeedOperator op, CeedInt a, CeedInt b, bool is_diagonal);
// Operators at points (points-assembly.c). The first adds the diagonal of groups a and b to values, in device
// memory; the others write element matrices, and the assembled QFunction, to host memory.
int ritz_gpu_points_diagonal(CeedOperator op, CeedInt a, CeedInt b, CeedScalar *values);
int ritz_gpu_points_matrices(CeedOperator op, CeedInt a, CeedInt b, CeedInt first_elem, CeedInt num_elem,
                             CeedSize length, CeedScalar *host);
int ritz_gpu_points_qfunction(CeedOperator op, CeedElemRestriction rstr, CeedScalar *host);
// Adds the element matrices of groups a and b of an operator in CeedScalar to values.
int ritz_gpu_operator_add_matrices(CeedOperator op, CeedInt a, CeedInt b, const RitzGpuPlaces *places,
                                   CeedScalar *values);

#endif
