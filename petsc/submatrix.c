// SPDX-License-Identifier: BSD-2-Clause
// A submatrix of a matrix that has products: x is put among zeros, multiplied, and rows are taken. (PETSc's
// own virtual submatrix wants sizes that the block size divides: fields of a vector space do not have them.)
#include "petsc/matrix.h"

typedef struct {
  Mat mat;               // counted: of which this is a part
  VecScatter rows, cols; // owned: from vectors of the whole to those of the submatrix
  Vec x, y;              // owned: of the whole
} Submatrix;

static PetscErrorCode clear_submatrix(Submatrix *s) {
  PetscFunctionBeginUser;
  PetscCall(VecScatterDestroy(&s->rows));
  PetscCall(VecScatterDestroy(&s->cols));
  PetscCall(VecDestroy(&s->x));
  PetscCall(VecDestroy(&s->y));
  PetscCall(MatDestroy(&s->mat));
  PetscFunctionReturn(0);
}

static PetscErrorCode destroy_submatrix(Mat sub) {
  Submatrix *s = NULL;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(sub, &s));
  PetscCall(clear_submatrix(s));
  PetscCall(PetscFree(s));
  PetscFunctionReturn(0);
}

static PetscErrorCode put(VecScatter scatter, Vec part, Vec whole) {
  PetscFunctionBeginUser;
  PetscCall(VecSet(whole, 0));
  PetscCall(VecScatterBegin(scatter, part, whole, INSERT_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterEnd(scatter, part, whole, INSERT_VALUES, SCATTER_REVERSE));
  PetscFunctionReturn(0);
}

static PetscErrorCode take(VecScatter scatter, Vec whole, Vec part) {
  PetscFunctionBeginUser;
  PetscCall(VecScatterBegin(scatter, whole, part, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, whole, part, INSERT_VALUES, SCATTER_FORWARD));
  PetscFunctionReturn(0);
}

static PetscErrorCode multiply_submatrix(Mat sub, Vec x, Vec y) {
  Submatrix *s = NULL;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(sub, &s));
  PetscCall(put(s->cols, x, s->x));
  PetscCall(MatMult(s->mat, s->x, s->y));
  PetscCall(take(s->rows, s->y, y));
  PetscFunctionReturn(0);
}

static PetscErrorCode multiply_transposed(Mat sub, Vec x, Vec y) {
  Submatrix *s = NULL;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(sub, &s));
  PetscCall(put(s->rows, x, s->y));
  PetscCall(MatMultTranspose(s->mat, s->y, s->x));
  PetscCall(take(s->cols, s->x, y));
  PetscFunctionReturn(0);
}

// The diagonal of a submatrix with the same rows and columns.
static PetscErrorCode get_diagonal(Mat sub, Vec diagonal) {
  Submatrix *s = NULL;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(sub, &s));
  PetscCall(MatGetDiagonal(s->mat, s->y));
  PetscCall(take(s->rows, s->y, diagonal));
  PetscFunctionReturn(0);
}

static PetscErrorCode create_scatter(MPI_Comm comm, Vec whole, IS set, VecScatter *scatter) {
  PetscInt num = 0;
  Vec part = NULL;

  PetscFunctionBeginUser;
  PetscCall(ISGetLocalSize(set, &num));
  PetscCall(VecCreate(comm, &part));
  PetscCall(VecSetSizes(part, num, PETSC_DETERMINE));
  PetscCall(VecSetType(part, VECSTANDARD));
  PetscCall(VecScatterCreate(whole, set, part, NULL, scatter));
  PetscCall(VecDestroy(&part));
  PetscFunctionReturn(0);
}

static PetscErrorCode fill_submatrix(Submatrix *s, Mat mat, IS rows, IS cols) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)mat);

  PetscFunctionBeginUser;
  PetscCall(PetscObjectReference((PetscObject)mat));
  s->mat = mat;
  PetscCall(MatCreateVecs(mat, &s->x, &s->y));
  PetscCall(create_scatter(comm, s->y, rows, &s->rows));
  PetscCall(create_scatter(comm, s->x, cols, &s->cols));
  PetscFunctionReturn(0);
}

static PetscErrorCode set_operations(Mat sub, Mat mat, PetscBool is_square) {
  PetscBool has_transposed = PETSC_FALSE, is_symmetric = PETSC_FALSE, is_known = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(MatHasOperation(mat, MATOP_MULT_TRANSPOSE, &has_transposed));
  PetscCall(MatIsSymmetricKnown(mat, &is_known, &is_symmetric));
  PetscCall(MatShellSetOperation(sub, MATOP_DESTROY, (RitzPetscOperation)destroy_submatrix));
  PetscCall(MatShellSetOperation(sub, MATOP_DUPLICATE, (RitzPetscOperation)ritz_petsc_no_duplicate));
  PetscCall(MatShellSetOperation(sub, MATOP_MULT, (RitzPetscOperation)multiply_submatrix));
  if (has_transposed)
    PetscCall(MatShellSetOperation(sub, MATOP_MULT_TRANSPOSE, (RitzPetscOperation)multiply_transposed));
  if (is_square) PetscCall(MatShellSetOperation(sub, MATOP_GET_DIAGONAL, (RitzPetscOperation)get_diagonal));
  if (is_square && is_known && is_symmetric) PetscCall(MatSetOption(sub, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(
      MatShellSetOperation(sub, MATOP_CREATE_SUBMATRIX, (RitzPetscOperation)ritz_petsc_create_submatrix));
  PetscFunctionReturn(0);
}

PetscErrorCode ritz_petsc_create_submatrix(Mat mat, IS rows, IS cols, MatReuse reuse, Mat *sub) {
  PetscInt num_rows = 0, num_cols = 0;
  PetscBool is_square = PETSC_FALSE;
  Submatrix *s = NULL;

  PetscFunctionBeginUser;
  if (!cols) cols = rows;
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(MatShellGetContext(*sub, &s));
    PetscCall(PetscObjectReference((PetscObject)mat)); // it may be held by what is cleared alone
    PetscCall(clear_submatrix(s));
    PetscCall(fill_submatrix(s, mat, rows, cols));
    PetscCall(MatDestroy(&mat));
    PetscFunctionReturn(0);
  }
  PetscCall(PetscNew(&s));
  PetscCall(fill_submatrix(s, mat, rows, cols));
  PetscCall(ISGetLocalSize(rows, &num_rows));
  PetscCall(ISGetLocalSize(cols, &num_cols));
  PetscCall(ISEqual(rows, cols, &is_square));
  PetscCall(MatCreateShell(PetscObjectComm((PetscObject)mat), num_rows, num_cols, PETSC_DETERMINE,
                           PETSC_DETERMINE, s, sub));
  PetscCall(MatSetUp(*sub));
  PetscCall(set_operations(*sub, mat, is_square));
  PetscFunctionReturn(0);
}
