// SPDX-License-Identifier: BSD-2-Clause
// What is behind the MATSHELL of an operator, for products (matrix.c), submatrices (submatrix.c)
// and assembly (assemble.c).
#ifndef RITZ_PETSC_MATRIX_H
#define RITZ_PETSC_MATRIX_H

#include "petsc/petsc-objects.h"

typedef struct {
  RitzPetscSpace space;      // counted
  RitzPartOperator op;       // owned
  CeedOperator inside, seam; // counted; NULL: no such elements
  RitzIndices constraints;   // owned: those among the owned entries
  CeedVector kept;           // owned: values at constrained entries during products
  RitzPetscLoan x, y;        // owned
  PetscBool is_symmetric;
  Mat aij; // owned: for blocks; NULL: not asked for
} RitzPetscOperator;

// The context of a MATSHELL of RitzPetscMatCreate; others are PETSC_ERR_ARG_WRONG.
PetscErrorCode ritz_petsc_operator(const char *call, Mat mat, RitzPetscOperator **op);
// MATOP_CREATE_SUBMATRIX of any matrix that has products: a MATSHELL.
PetscErrorCode ritz_petsc_create_submatrix(Mat mat, IS rows, IS cols, MatReuse reuse, Mat *sub);

#endif
