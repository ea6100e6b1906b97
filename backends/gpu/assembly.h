// SPDX-License-Identifier: BSD-2-Clause
// Matrices in a fixed pattern on devices: what assembly-pattern.c keeps there and assembly.c adds to.
#ifndef RITZ_BACKENDS_GPU_ASSEMBLY_H
#define RITZ_BACKENDS_GPU_ASSEMBLY_H

#include "backends/gpu/gpu.h"
#include "core/assembly-pattern.h"
#include "plan/gpu-assembly.h"

// Of a block of an assembly: rows in bundles, each added up by a block of threads
// (kernels/gpu/assembly-rows.h). Arrays on the device, owned.
typedef struct {
  RitzGpuAssembly shape; // without is_active, offsets and is_kept
  CeedInt num_bundles;
  void *firsts;        // [bundle]: its first chunk and row
  void *chunks;        // [chunk]: its first slot and row of an element
  void *slots;         // [slot]: element * num_comp + component, of the output
  void *nodes, *bases; // [row of an element]: slot of its chunk * num_nodes + node; first sum of its row, 16
                       // bits, and an order by rows
  void *starts, *sums; // [row]: its first nonzero, and among the sums of all rows; CeedInt or RitzLong
  void *places;        // [element][row][column], of shape.place_bytes
} RitzGpuPlaces;

// Whether there are kernels for these groups of an operator; else the reference backend assembles them.
bool ritz_gpu_assembles(CeedOperator op, CeedInt a, CeedInt b, bool is_diagonal);
// How a device adds up the rows of groups a and b of an operator in CeedScalar, from shape's num_sums, the
// longest row, place_bytes, is_long and is_repeated; false: it does not fit.
bool ritz_gpu_plan_rows(CeedOperator op, CeedInt a, CeedInt b, RitzGpuAssembly *shape);
// Values of the rows become their sums; adds: and what they were.
int ritz_gpu_operator_add_rows(CeedOperator op, CeedInt a, CeedInt b, const RitzGpuPlaces *places, bool adds,
                               CeedScalar *values);

#endif
