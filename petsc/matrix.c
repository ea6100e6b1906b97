// SPDX-License-Identifier: BSD-2-Clause
// The MATSHELL of an operator of the whole problem. Constrained entries of x are zero during a product and
// are what they were afterwards, so that no other vector is needed where x is an L-vector.
#include "petsc/matrix.h"

static const char mark[] = "RitzPetscMatCreate"; // of our MATSHELLs

PetscErrorCode ritz_petsc_operator(const char *call, Mat mat, RitzPetscOperator **op) {
  PetscContainer container = NULL;

  PetscFunctionBeginUser;
  PetscCheck(mat, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "%s: argument 'mat' is NULL", call);
  PetscCall(PetscObjectQuery((PetscObject)mat, mark, (PetscObject *)&container));
  PetscCheck(container, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "%s: the matrix is another one, needed that of RitzPetscMatCreate", call);
  PetscCall(PetscContainerGetPointer(container, (void **)op));
  PetscFunctionReturn(0);
}

// ---- Products and diagonal ----

static int apply_matrix(const void *ctx, CeedVector x, CeedVector y) {
  const RitzPetscOperator *op = ctx;
  int code = RitzVectorCopyEntries(x, op->constraints, op->kept);

  if (!code) code = RitzVectorSetEntries(x, op->constraints, 0);
  if (!code) code = RitzPartOperatorApply(op->op, x, y);
  if (!code) code = RitzVectorCopyEntries(op->kept, op->constraints, x);
  if (!code) code = RitzVectorCopyEntries(op->kept, op->constraints, y);
  return code;
}

static PetscErrorCode multiply_matrix(Mat mat, Vec x, Vec y) {
  RitzPetscOperator *op = NULL;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(mat, &op));
  PetscCall(ritz_petsc_run((RitzPetscEnd){&op->x, op->space, x}, (RitzPetscEnd){&op->y, op->space, y},
                           apply_matrix, op));
  PetscFunctionReturn(0);
}

static PetscErrorCode get_diagonal(Mat mat, Vec diagonal) {
  RitzPetscOperator *op = NULL;
  CeedVector d = NULL;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(mat, &op));
  PetscCall(ritz_petsc_lend(&op->y, op->space, diagonal, RITZ_ACCESS_WRITE, &d));
  int code = RitzPartOperatorGetDiagonal(op->op, d);

  if (!code) code = RitzVectorSetEntries(d, op->constraints, 1);
  PetscCall(ritz_petsc_return(&op->y));
  RitzPetscCall(op->space->ceed, code);
  PetscFunctionReturn(0);
}

static PetscErrorCode create_vecs(Mat mat, Vec *right, Vec *left) {
  RitzPetscOperator *op = NULL;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(mat, &op));
  if (right) PetscCall(RitzPetscSpaceCreateVec(op->space, right));
  if (left) PetscCall(RitzPetscSpaceCreateVec(op->space, left));
  PetscFunctionReturn(0);
}

// ---- Blocks ----

// The assembled matrix: found when it is asked for first, with values as they are now where they are wanted.
static PetscErrorCode get_assembled(Mat mat, RitzPetscOperator *op, bool needs_values) {
  PetscFunctionBeginUser;
  if (!op->aij) {
    PetscCall(RitzPetscMatAssemble(mat, MAT_INITIAL_MATRIX, &op->aij));
  } else if (needs_values) {
    PetscCall(RitzPetscMatAssemble(mat, MAT_REUSE_MATRIX, &op->aij));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode get_diagonal_block(Mat mat, Mat *block) {
  RitzPetscOperator *op = NULL;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(mat, &op));
  PetscCall(get_assembled(mat, op, true));
  PetscCall(MatGetDiagonalBlock(op->aij, block));
  PetscFunctionReturn(0);
}

static PetscErrorCode create_submatrices(Mat mat, PetscInt num, const IS rows[], const IS cols[],
                                         MatReuse reuse, Mat *sub[]) {
  RitzPetscOperator *op = NULL;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(mat, &op));
  PetscCall(get_assembled(mat, op, true));
  PetscCall(MatCreateSubMatrices(op->aij, num, rows, cols, reuse, sub));
  PetscFunctionReturn(0);
}

static PetscErrorCode increase_overlap(Mat mat, PetscInt num, IS sets[], PetscInt layers) {
  RitzPetscOperator *op = NULL;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(mat, &op));
  PetscCall(get_assembled(mat, op, false));
  PetscCall(MatIncreaseOverlap(op->aij, num, sets, layers));
  PetscFunctionReturn(0);
}

// ---- Life ----

static PetscErrorCode destroy_operator(RitzPetscOperator *op) {
  const Ceed ceed = op->space->ceed;

  PetscFunctionBeginUser;
  PetscCall(MatDestroy(&op->aij));
  PetscCall(ritz_petsc_loan_clear(&op->x));
  PetscCall(ritz_petsc_loan_clear(&op->y));
  RitzPetscCall(ceed, CeedVectorDestroy(&op->kept));
  RitzPetscCall(ceed, RitzIndicesDestroy(&op->constraints));
  RitzPetscCall(ceed, RitzPartOperatorDestroy(&op->op));
  RitzPetscCall(ceed, CeedOperatorDestroy(&op->inside));
  RitzPetscCall(ceed, CeedOperatorDestroy(&op->seam));
  PetscCall(RitzPetscSpaceDestroy(&op->space));
  PetscCall(PetscFree(op));
  PetscFunctionReturn(0);
}

static PetscErrorCode destroy_matrix(Mat mat) {
  RitzPetscOperator *op = NULL;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(mat, &op));
  PetscCall(destroy_operator(op));
  PetscFunctionReturn(0);
}

static PetscErrorCode fill_matrix(RitzPetscOperator *op, RitzPetscSpace s, CeedOperator inside,
                                  CeedOperator seam, RitzIndices constraints) {
  const Ceed ceed = s->ceed;

  PetscFunctionBeginUser;
  PetscCall(RitzPetscSpaceReferenceCopy(s, &op->space));
  RitzPetscCall(ceed, RitzPartOperatorCreate(s->exchange, inside, seam, &op->op));
  if (inside) RitzPetscCall(ceed, CeedOperatorReferenceCopy(inside, &op->inside));
  if (seam) RitzPetscCall(ceed, CeedOperatorReferenceCopy(seam, &op->seam));
  PetscCall(ritz_petsc_owned_indices(s, constraints, &op->constraints));
  RitzPetscCall(ceed, CeedVectorCreate(ceed, s->num_owned + s->num_ghosts, &op->kept));
  RitzPetscCall(ceed, CeedVectorSetValue(op->kept, 0));
  PetscFunctionReturn(0);
}

// PETSc's own would share what both destroy.
PetscErrorCode ritz_petsc_no_duplicate(Mat mat, MatDuplicateOption option, Mat *copy) {
  (void)option;
  PetscFunctionBeginUser;
  *copy = NULL;
  SETERRQ(PetscObjectComm((PetscObject)mat), PETSC_ERR_SUP,
          "MatDuplicate: matrices of Ritz have no duplicates, needed one that is made anew or assembled");
}

static PetscErrorCode set_operations(Mat mat, PetscBool is_symmetric) {
  PetscFunctionBeginUser;
  PetscCall(MatShellSetOperation(mat, MATOP_DESTROY, (RitzPetscOperation)destroy_matrix));
  PetscCall(MatShellSetOperation(mat, MATOP_DUPLICATE, (RitzPetscOperation)ritz_petsc_no_duplicate));
  PetscCall(MatShellSetOperation(mat, MATOP_MULT, (RitzPetscOperation)multiply_matrix));
  PetscCall(MatShellSetOperation(mat, MATOP_GET_DIAGONAL, (RitzPetscOperation)get_diagonal));
  PetscCall(MatShellSetOperation(mat, MATOP_CREATE_VECS, (RitzPetscOperation)create_vecs));
  PetscCall(
      MatShellSetOperation(mat, MATOP_CREATE_SUBMATRIX, (RitzPetscOperation)ritz_petsc_create_submatrix));
  PetscCall(MatShellSetOperation(mat, MATOP_GET_DIAGONAL_BLOCK, (RitzPetscOperation)get_diagonal_block));
  PetscCall(MatShellSetOperation(mat, MATOP_CREATE_SUBMATRICES, (RitzPetscOperation)create_submatrices));
  PetscCall(MatShellSetOperation(mat, MATOP_INCREASE_OVERLAP, (RitzPetscOperation)increase_overlap));
  if (!is_symmetric) PetscFunctionReturn(0);
  PetscCall(MatShellSetOperation(mat, MATOP_MULT_TRANSPOSE, (RitzPetscOperation)multiply_matrix));
  PetscCall(MatSetOption(mat, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetOption(mat, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
  PetscFunctionReturn(0);
}

PetscErrorCode RitzPetscMatCreate(RitzPetscSpace s, CeedOperator inside, CeedOperator seam,
                                  RitzIndices constraints, PetscBool is_symmetric, Mat *mat) {
  RitzPetscOperator *op = NULL;
  PetscContainer container = NULL;

  PetscFunctionBeginUser;
  PetscCheck(s && mat, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "RitzPetscMatCreate: argument '%s' is NULL",
             s ? "mat" : "s");
  PetscCall(PetscNew(&op));
  op->is_symmetric = is_symmetric;
  PetscCall(fill_matrix(op, s, inside, seam, constraints));
  PetscCall(MatCreateShell(s->comm, s->num_owned, s->num_owned, s->num_all, s->num_all, op, mat));
  PetscCall(MatSetBlockSize(*mat, s->num_comp));
  PetscCall(MatSetUp(*mat));
  PetscCall(set_operations(*mat, is_symmetric));
  PetscCall(PetscContainerCreate(s->comm, &container));
  PetscCall(PetscContainerSetPointer(container, op));
  PetscCall(PetscObjectCompose((PetscObject)*mat, mark, (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(0);
}
