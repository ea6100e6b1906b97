// SPDX-License-Identifier: BSD-2-Clause
// How devices apply an operator at points in one kernel (kernels/gpu/points.h, at-points.h): what its fields
// have in common, and which array is where in the memory of a block. Called by backends/gpu/at-points.c;
// text: emit/gpu-at-points.c.
#ifndef RITZ_PLAN_GPU_AT_POINTS_H
#define RITZ_PLAN_GPU_AT_POINTS_H

#include "core/core.h"
#include "plan/gpu.h"

// Threads of a multiprocessor that registers are to suffice for: 170 each, with 64K.
enum { RITZ_POINTS_RESIDENT = 384 };

// Weights of a line of nodes at a point; bases of the same tables share them.
typedef struct {
  CeedInt P, K, num_nodes; // nodes and coefficients of a direction; nodes of an element
  bool has_slopes;         // some field has a gradient
  CeedScalar *c;           // owned, [K][P]: from nodal values to coefficients of Chebyshev polynomials
  CeedInt place;           // of the weights in the block's memory, in scalars
} RitzPointsBasis;

typedef enum {
  RITZ_POINTS_READ,
  RITZ_POINTS_ADD,      // by atomic additions
  RITZ_POINTS_OWN,      // points that are listed once, and nothing else in their entries: without
  RITZ_POINTS_E_VECTOR, // nodes: added in order afterwards
} RitzPointsAccess;

// A vector by a restriction, at the points or with a basis.
typedef struct {
  CeedInt field; // the first with it: number among inputs, then outputs
  int basis;     // -1: at the points
  bool is_strided;
  CeedInt num_comp;
  RitzPointsAccess access;
  CeedInt place; // of nodes [component][element][node] in the block's memory
} RitzPointsSpace;

typedef struct {
  CeedEvalMode mode;
  CeedInt size;  // scalars of a point; 0: unused
  int space;     // -1: none
  CeedInt place; // of an output with a basis: its values at the round's points
} RitzPointsField;

typedef struct {
  const char *reason; // NULL: there is a kernel; else why not (static)
  CeedInt dim, num_in, num_out;
  int num_bases, num_spaces;
  RitzPointsBasis *bases; // owned, like the rest
  RitzPointsSpace *spaces;
  RitzPointsField *fields;    // inputs, then outputs
  int num_threads, max_elems; // of a block
  CeedInt line, num_scalars;  // most nodes of a direction; of the block's memory
} RitzGpuAtPoints;

// are_distinct: no point is listed twice. *plan is the caller's.
int ritz_plan_gpu_at_points(CeedOperator op, const RitzGpuMachine *machine, bool is_deterministic,
                            bool are_distinct, RitzGpuAtPoints **plan);
void ritz_plan_gpu_at_points_free(RitzGpuAtPoints **plan);

// *c [*K][P_1d], the caller's: from nodal values of a line to coefficients of Chebyshev polynomials, without
// last rows of zeros. The basis is a tensor basis with at least two points a direction.
int ritz_plan_points_coefficients(CeedBasis basis, CeedInt *K, CeedScalar **c);
bool ritz_plan_points_are_finite(CeedBasis basis); // all values of the basis

#endif
