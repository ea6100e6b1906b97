// SPDX-License-Identifier: BSD-2-Clause
// An operator as separate kernels, in batches of elements whose E- and Q-vectors fit the work memory: what
// operator.c does for applies, and for assembly the part that evaluates passive inputs.
#include "backends/gpu/operators.h"
#ifndef RITZ_BACKENDS_GPU_RUN_H
#define RITZ_BACKENDS_GPU_RUN_H

typedef struct {
  CeedOperatorField field;  // NULL: coordinates of points
  CeedElemRestriction rstr; // as the vector, of used fields with a vector
  CeedEvalMode mode;
  bool is_input, is_unused;  // is_unused: of size 0; of assembly: active
  bool has_nodes;            // a basis takes E-vectors
  CeedVector vec;            // CEED_VECTOR_NONE: weights, unused
  CeedScalar *l_array;       // device array of vec; shared by outputs to one vector
  bool holds;                // this field got the array and restores it
  bool is_direct;            // an input whose L-vector is laid out like a Q-vector: read where it is
  CeedInt gathered_by;       // the first input with this vector and restriction, which has its E-vector
  CeedSize e_length;         // of an element; 0: nothing to keep
  CeedSize q_size;           // scalars of a point that are kept; 0: none
  CeedScalar *e_vec, *q_vec; // in work memory, for a batch
} RitzGpuRunField;

typedef struct {
  CeedOperator op;
  RitzOperatorRoute route;   // of its bases
  bool is_of_passive;        // passive inputs alone: for assembly
  bool is_of_columns;        // all fields, but arrays of passive inputs alone: for assembly at points
  CeedSize extra_length;     // scalars of an element that the caller wants beside them
  CeedScalar *extra;         // in work memory, for a batch
  CeedInt first_elem;        // of the first batch
  CeedInt num_fields, batch; // batch: elements at a time
  CeedInt num_all;           // with the field of coordinates, which is the last
  int64_t most_points;       // of a batch
  RitzGpuRunField *fields;   // owned: inputs, then outputs
  RitzGpuField *q_fields;    // owned: what the QFunction gets, of the batch that was evaluated last
} RitzGpuRun;

// Passive inputs, or not even these, by separate kernels; of operators that are not at points. Closed in any
// case.
int ritz_gpu_run_open_passive(CeedOperator op, bool has_fields, CeedSize extra_length, RitzGpuRun *run);
// An operator at points whose active inputs and outputs are the caller's: E- and Q-vectors in work memory.
int ritz_gpu_run_open_columns(CeedOperator op, CeedSize extra_length, RitzGpuRun *run);
int64_t ritz_gpu_run_points(const RitzGpuRun *run, CeedInt first, CeedInt num); // of these elements
// The basis of field i in a run of columns: E-vector -> Q-vector; outputs: Q-vector -> E-vector, overwritten.
int ritz_gpu_run_basis(const RitzGpuRun *run, CeedInt i, CeedInt first, CeedInt num);
// The inputs of the elements first .. first + num - 1 at the points, described by run->q_fields; of columns
// the passive ones.
int ritz_gpu_run_evaluate(const RitzGpuRun *run, CeedInt first, CeedInt num);
int ritz_gpu_run_close(RitzGpuRun *run, int ierr); // the first error

#endif
