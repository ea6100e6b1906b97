// SPDX-License-Identifier: BSD-2-Clause
// What the sources of libritz-petsc share: the space of a whole problem, vectors that are lent to Ritz, small
// helpers. Made of public functions of Ritz, Ceed and PETSc alone.
#ifndef RITZ_PETSC_OBJECTS_H
#define RITZ_PETSC_OBJECTS_H

#include <ritz/petsc.h>
#include <stdbool.h>

// A vector of PETSc while Ritz has it. Serves one vector after the other.
typedef struct RitzPetscLoan RitzPetscLoan;
struct RitzPetscLoan {
  RitzPetscSpace space; // borrowed
  CeedVector direct;    // owned, of the L-vector's length: takes the array of the vector. NULL: not yet made
  CeedVector copy;      // owned, as long: an L-vector of its own. NULL: not yet made
  CeedVector owned;     // owned, of the owned entries: takes the array of the vector. NULL: not yet made
  CeedVector x;         // direct or copy while something is lent, else NULL
  Vec vec, local;       // borrowed; local: the vector whose array is lent, vec or its local form
  RitzAccess access;
  CeedMemType mem_type;
  PetscScalar *array;
  RitzPetscLoan *next; // in the list of a space
};

struct RitzPetscSpace_private {
  int ref_count;
  MPI_Comm comm;           // borrowed: the caller's
  Ceed ceed;               // counted
  RitzSpace space;         // counted
  RitzTransport transport; // owned
  RitzExchange exchange;   // owned
  PetscInt num_comp;
  PetscInt num_owned, num_ghosts, first, num_all; // entries; num_all: of all processes
  PetscInt *ghosts;                               // [num_ghosts / num_comp] global nodes, owned
  PetscSF sf;                                     // owned
  ISLocalToGlobalMapping map;                     // owned
  RitzPetscLoan *loans;                           // owned: lent by RitzPetscVecGetCeedVector
};

// x: the L-vector of v, as RitzPetscVecGetCeedVector says. The loan is zeros before the first use, and serves
// one space.
PetscErrorCode ritz_petsc_lend(RitzPetscLoan *loan, RitzPetscSpace s, Vec v, RitzAccess access,
                               CeedVector *x);
// Takes the vector back; nothing where none is lent.
PetscErrorCode ritz_petsc_return(RitzPetscLoan *loan);
PetscErrorCode ritz_petsc_loan_clear(RitzPetscLoan *loan);

// A vector of a space, and its loan.
typedef struct {
  RitzPetscLoan *loan;
  RitzPetscSpace space;
  Vec vec;
} RitzPetscEnd;
// run(ctx, x, y) with the L-vectors of both ends, lent to be read and to be written and taken back whatever
// happens.
PetscErrorCode ritz_petsc_run(RitzPetscEnd from, RitzPetscEnd to,
                              int (*run)(const void *ctx, CeedVector x, CeedVector y), const void *ctx);

// MATOP_DUPLICATE of all matrices: PETSC_ERR_SUP.
PetscErrorCode ritz_petsc_no_duplicate(Mat mat, MatDuplicateOption option, Mat *copy);
// *owned: the indices of owned entries, a new object; empty for NULL.
PetscErrorCode ritz_petsc_owned_indices(RitzPetscSpace s, RitzIndices indices, RitzIndices *owned);
// The global number of entry i of the L-vector.
PetscInt ritz_petsc_global(RitzPetscSpace s, PetscInt i);
// An operation of a MATSHELL, as MatShellSetOperation takes it.
typedef void (*RitzPetscOperation)(void);

#endif
