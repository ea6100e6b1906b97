// SPDX-License-Identifier: BSD-2-Clause
// Transfers between two spaces of a process's part as a rectangular MATSHELL. As in distributed/multigrid.c:
// ghosts of the coarse vector have values when they are prolonged, ghosts of the fine one are zero when it is
// restricted. Constrained entries of the vector that is read are zero meanwhile, and what they were
// afterwards.
#include "petsc/petsc-objects.h"

typedef struct {
  RitzPetscSpace space;    // counted
  RitzIndices constraints; // owned: those among the owned entries
  CeedVector kept;         // owned: values at constrained entries during products
  RitzPetscLoan loan;      // owned
} Side;

typedef struct {
  Side coarse, fine;
  CeedOperator prolong, restriction; // owned; NULL: this process has no elements
} Transfer;

static int hide_constraints(const Side *side, CeedVector x) {
  const int code = RitzVectorCopyEntries(x, side->constraints, side->kept);

  return code ? code : RitzVectorSetEntries(x, side->constraints, 0);
}

static int apply_transfer(CeedOperator op, CeedVector x, CeedVector y) {
  return op ? CeedOperatorApply(op, x, y, CEED_REQUEST_IMMEDIATE) : CeedVectorSetValue(y, 0);
}

static int prolong(const void *ctx, CeedVector x, CeedVector y) {
  const Transfer *t = ctx;
  int code = hide_constraints(&t->coarse, x);

  if (!code) code = RitzExchangeRun(t->coarse.space->exchange, RITZ_EXCHANGE_TO_GHOSTS, x);
  if (!code) code = apply_transfer(t->prolong, x, y);
  if (!code) code = RitzVectorSetEntries(y, t->fine.constraints, 0);
  if (!code) code = RitzVectorCopyEntries(t->coarse.kept, t->coarse.constraints, x);
  return code;
}

static int restrict_to(const void *ctx, CeedVector x, CeedVector y) {
  const Transfer *t = ctx;
  RitzIndices ghosts = NULL;
  int code = RitzExchangeGetGhosts(t->fine.space->exchange, &ghosts);

  if (!code) code = hide_constraints(&t->fine, x);
  if (!code) code = RitzVectorSetEntries(x, ghosts, 0);
  if (!code) code = apply_transfer(t->restriction, x, y);
  if (!code) code = RitzVectorCopyEntries(t->fine.kept, t->fine.constraints, x);
  if (!code) code = RitzExchangeRun(t->coarse.space->exchange, RITZ_EXCHANGE_TO_OWNERS, y);
  if (!code) code = RitzVectorSetEntries(y, t->coarse.constraints, 0);
  return code;
}

static RitzPetscEnd end_at(Side *side, Vec vec) { return (RitzPetscEnd){&side->loan, side->space, vec}; }

static PetscErrorCode multiply_transfer(Mat mat, Vec x, Vec y) {
  Transfer *t = NULL;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(mat, &t));
  PetscCall(ritz_petsc_run(end_at(&t->coarse, x), end_at(&t->fine, y), prolong, t));
  PetscFunctionReturn(0);
}

static PetscErrorCode multiply_transposed(Mat mat, Vec x, Vec y) {
  Transfer *t = NULL;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(mat, &t));
  PetscCall(ritz_petsc_run(end_at(&t->fine, x), end_at(&t->coarse, y), restrict_to, t));
  PetscFunctionReturn(0);
}

static PetscErrorCode create_vecs(Mat mat, Vec *right, Vec *left) {
  Transfer *t = NULL;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(mat, &t));
  if (right) PetscCall(RitzPetscSpaceCreateVec(t->coarse.space, right));
  if (left) PetscCall(RitzPetscSpaceCreateVec(t->fine.space, left));
  PetscFunctionReturn(0);
}

// ---- Life ----

static PetscErrorCode clear_side(Side *side) {
  PetscFunctionBeginUser;
  PetscCall(ritz_petsc_loan_clear(&side->loan));
  RitzPetscCall(side->space->ceed, CeedVectorDestroy(&side->kept));
  RitzPetscCall(side->space->ceed, RitzIndicesDestroy(&side->constraints));
  PetscCall(RitzPetscSpaceDestroy(&side->space));
  PetscFunctionReturn(0);
}

static PetscErrorCode destroy_transfer(Mat mat) {
  Transfer *t = NULL;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(mat, &t));
  RitzPetscCall(t->fine.space->ceed, CeedOperatorDestroy(&t->prolong));
  RitzPetscCall(t->fine.space->ceed, CeedOperatorDestroy(&t->restriction));
  PetscCall(clear_side(&t->coarse));
  PetscCall(clear_side(&t->fine));
  PetscCall(PetscFree(t));
  PetscFunctionReturn(0);
}

static PetscErrorCode fill_side(Side *side, RitzPetscSpace s, RitzIndices constraints) {
  PetscFunctionBeginUser;
  PetscCall(RitzPetscSpaceReferenceCopy(s, &side->space));
  PetscCall(ritz_petsc_owned_indices(s, constraints, &side->constraints));
  RitzPetscCall(s->ceed, CeedVectorCreate(s->ceed, s->num_owned + s->num_ghosts, &side->kept));
  RitzPetscCall(s->ceed, CeedVectorSetValue(side->kept, 0));
  PetscFunctionReturn(0);
}

PetscErrorCode RitzPetscMatCreateTransfer(RitzPetscSpace coarse, RitzIndices coarse_constraints,
                                          RitzPetscSpace fine, RitzIndices fine_constraints, Mat *mat) {
  Transfer *t = NULL;

  PetscFunctionBeginUser;
  PetscCheck(coarse && fine && mat, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL,
             "RitzPetscMatCreateTransfer: argument '%s' is NULL",
             !coarse ? "coarse"
             : !fine ? "fine"
                     : "mat");
  PetscCall(PetscNew(&t));
  PetscCall(fill_side(&t->coarse, coarse, coarse_constraints));
  PetscCall(fill_side(&t->fine, fine, fine_constraints));
  if (fine->num_owned + fine->num_ghosts > 0)
    RitzPetscCall(fine->ceed, RitzSpaceCreateTransfer(coarse->space, fine->space, fine->ceed,
                                                      CEED_SCALAR_TYPE, &t->prolong, &t->restriction));
  PetscCall(
      MatCreateShell(fine->comm, fine->num_owned, coarse->num_owned, fine->num_all, coarse->num_all, t, mat));
  PetscCall(MatSetUp(*mat));
  PetscCall(MatShellSetOperation(*mat, MATOP_DESTROY, (RitzPetscOperation)destroy_transfer));
  PetscCall(MatShellSetOperation(*mat, MATOP_DUPLICATE, (RitzPetscOperation)ritz_petsc_no_duplicate));
  PetscCall(MatShellSetOperation(*mat, MATOP_MULT, (RitzPetscOperation)multiply_transfer));
  PetscCall(MatShellSetOperation(*mat, MATOP_MULT_TRANSPOSE, (RitzPetscOperation)multiply_transposed));
  PetscCall(MatShellSetOperation(*mat, MATOP_CREATE_VECS, (RitzPetscOperation)create_vecs));
  PetscFunctionReturn(0);
}
