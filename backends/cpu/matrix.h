// SPDX-License-Identifier: BSD-2-Clause
// Kernels of element matrices (plan/matrix.h) of operators on /cpu/self/gen. Called by assembly.c.
#ifndef RITZ_BACKENDS_CPU_MATRIX_H
#define RITZ_BACKENDS_CPU_MATRIX_H

#include "backends/cpu/cpu.h"
#include "plan/matrix.h"

typedef struct {
  RitzKernelArgs args;
  RitzKernelSpace *spaces; // owned: those of the plan, then the matrices
  CeedScalar *matrix;      // owned, [rows][cols][lanes]: of the batch that was run last
  int32_t batch;
} RitzCpuMatrixThread;

struct RitzCpuMatrix {
  RitzCpuMatrix *next;         // owned
  CeedInt a, b;                // groups of input and output
  CeedElemRestriction in, out; // of the groups; fields of the operator hold them
  char *reason;                // owned: why there is no kernel; else NULL
  bool is_left;                // no kernel, or none yet, since that was asked for (RitzOperatorSetUse)
  RitzMatrixPlan *plan;        // owned
  RitzCpuTarget *target;       // owned
  RitzJitKernel code;
  RitzKernel kernel;     // NULL: none
  const void **matrices; // owned: those of the plan, then its tables
  int num_threads;
  RitzCpuMatrixThread *threads; // owned
  int num_held;                 // inputs, while it runs
};

// Of an operator in CeedScalar with groups: makes the kernel, or says why there is none. Kept with the
// operator. A kernel that nobody waits for (RITZ_USE_NO_WAIT) is there in a later call.
int ritz_cpu_matrix_make(CeedOperator op, CeedInt a, CeedInt b, RitzCpuMatrix **matrix);
bool ritz_cpu_matrix_is_made(CeedOperator op, CeedInt a, CeedInt b);
// Arrays of passive inputs and the context are held between begin and end, which passes `ierr` on.
int ritz_cpu_matrix_begin(CeedOperator op, RitzCpuMatrix *m);
int ritz_cpu_matrix_end(CeedOperator op, RitzCpuMatrix *m, int ierr);
// On thread t: the matrices of a batch, orientations included, in threads[t].matrix. Returns the code of the
// QFunction.
int ritz_cpu_matrix_run(RitzCpuMatrix *m, int t, int32_t batch);

#endif
