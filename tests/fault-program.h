// SPDX-License-Identifier: BSD-2-Clause
// A program that uses every part of the library that allocates: contexts, vectors, restrictions, bases,
// QFunctions, operators, assembly, multigrid, points, meshes from files, output, solver. Called by
// test-faults.c, which makes its allocations fail.
#ifndef RITZ_TESTS_FAULT_PROGRAM_H
#define RITZ_TESTS_FAULT_PROGRAM_H

#include <ceed.h>
#include <stdbool.h>

enum { FAULT_NUM_MESHES = 4, FAULT_NUM_NUMBERS = 128 };

typedef struct {
  const char *resource;
  const char *mesh_paths[FAULT_NUM_MESHES]; // Gmsh 2.2 and 4.1, MFEM straight and with nodes
  const char *vtu_path;                     // to be written
} FaultInput;

typedef struct {
  const char *last_call, *repeated_call; // text of the call; static
  int num_retries, num_numbers;
  int destroyed;                     // code of the first destruction that failed
  double numbers[FAULT_NUM_NUMBERS]; // what the program has computed
  bool is_deterministic;             // the backend repeats every bit of them
} FaultResult;

// Mesh files, written anew; the resource is for the caller to set.
FaultInput fault_program_input(void);

// Runs the program until the first call that fails, or with `retries` to its end: a call that fails is made
// once more. Destroys everything that was made. Returns the code of the call that ended it.
int fault_program_run(const FaultInput *input, bool retries, FaultResult *result);

// Whether two runs on one backend to the program's end have computed the same.
bool fault_numbers_agree(const FaultResult *a, const FaultResult *b);

#endif
