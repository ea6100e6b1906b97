// SPDX-License-Identifier: BSD-2-Clause
// Vectors of whole problems, and how Ritz gets at them: the array of a ghosted vector's local form is the
// L-vector; of other vectors the owned entries are copied, on the device where both compute there.
#include "petsc/petsc-objects.h"

PetscErrorCode RitzPetscSpaceCreateVec(RitzPetscSpace s, Vec *v) {
  PetscMPIInt size = 1;

  PetscFunctionBeginUser;
  PetscCheck(s && v, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "RitzPetscSpaceCreateVec: argument '%s' is NULL",
             s ? "v" : "s");
  PetscCallMPI(MPI_Comm_size(s->comm, &size));
  if (size > 1) {
    PetscCall(VecCreateGhostBlock(s->comm, s->num_comp, s->num_owned, PETSC_DETERMINE,
                                  s->num_ghosts / s->num_comp, s->ghosts, v));
    PetscCall(VecSet(*v, 0));
    PetscFunctionReturn(0);
  }
  PetscCall(VecCreate(s->comm, v));
  PetscCall(VecSetSizes(*v, s->num_owned, PETSC_DETERMINE));
  PetscCall(VecSetBlockSize(*v, s->num_comp));
  PetscCall(VecSetType(*v, VECSTANDARD));
  PetscCall(VecSetLocalToGlobalMapping(*v, s->map));
  PetscCall(VecSet(*v, 0));
  PetscFunctionReturn(0);
}

// ---- Loans ----

static bool computes_on_device(Ceed ceed) {
  CeedMemType type = CEED_MEM_HOST;

  return !CeedGetPreferredMemType(ceed, &type) && type == CEED_MEM_DEVICE;
}

// The array of loan->local; on the device where it is there and the context computes there. What is read only
// may be changed meanwhile and is what it was at the end (ghosts apart), hence not const.
static PetscErrorCode get_array(RitzPetscLoan *loan) {
  PetscMemType type = PETSC_MEMTYPE_HOST;
  const PetscScalar *read = NULL;

  PetscFunctionBeginUser;
  loan->mem_type = CEED_MEM_HOST;
  if (!computes_on_device(loan->space->ceed)) {
    if (loan->access == RITZ_ACCESS_READ) PetscCall(VecGetArrayRead(loan->local, &read));
    if (loan->access == RITZ_ACCESS_WRITE) PetscCall(VecGetArrayWrite(loan->local, &loan->array));
    if (loan->access == RITZ_ACCESS_READ_WRITE) PetscCall(VecGetArray(loan->local, &loan->array));
  } else {
    if (loan->access == RITZ_ACCESS_READ) PetscCall(VecGetArrayReadAndMemType(loan->local, &read, &type));
    if (loan->access == RITZ_ACCESS_WRITE)
      PetscCall(VecGetArrayWriteAndMemType(loan->local, &loan->array, &type));
    if (loan->access == RITZ_ACCESS_READ_WRITE)
      PetscCall(VecGetArrayAndMemType(loan->local, &loan->array, &type));
    if (PetscMemTypeDevice(type)) loan->mem_type = CEED_MEM_DEVICE;
  }
  if (loan->access == RITZ_ACCESS_READ) loan->array = (PetscScalar *)read;
  PetscFunctionReturn(0);
}

static PetscErrorCode restore_array(RitzPetscLoan *loan) {
  const PetscScalar *read = loan->array;

  PetscFunctionBeginUser;
  if (!computes_on_device(loan->space->ceed)) {
    if (loan->access == RITZ_ACCESS_READ) PetscCall(VecRestoreArrayRead(loan->local, &read));
    if (loan->access == RITZ_ACCESS_WRITE) PetscCall(VecRestoreArrayWrite(loan->local, &loan->array));
    if (loan->access == RITZ_ACCESS_READ_WRITE) PetscCall(VecRestoreArray(loan->local, &loan->array));
  } else {
    if (loan->access == RITZ_ACCESS_READ) PetscCall(VecRestoreArrayReadAndMemType(loan->local, &read));
    if (loan->access == RITZ_ACCESS_WRITE)
      PetscCall(VecRestoreArrayWriteAndMemType(loan->local, &loan->array));
    if (loan->access == RITZ_ACCESS_READ_WRITE)
      PetscCall(VecRestoreArrayAndMemType(loan->local, &loan->array));
  }
  loan->array = NULL;
  PetscFunctionReturn(0);
}

// Gives the array to *x, a vector of n entries that is made where there is none.
static int attach(RitzPetscLoan *loan, CeedSize n, CeedVector *x) {
  static CeedScalar nothing; // for vectors without entries, whose array may be NULL
  int code = *x ? 0 : CeedVectorCreate(loan->space->ceed, n, x);

  if (!code) code = CeedVectorSetArray(*x, loan->mem_type, CEED_USE_POINTER, n > 0 ? loan->array : &nothing);
  return code;
}

static int detach(const RitzPetscLoan *loan, CeedVector x) {
  CeedScalar *array = NULL;

  return CeedVectorTakeArray(x, loan->mem_type, &array);
}

// Whether the array of loan->local, which is found here, is that of the L-vector.
static PetscErrorCode find_local_form(RitzPetscLoan *loan, bool *is_direct) {
  const PetscInt length = loan->space->num_owned + loan->space->num_ghosts;
  PetscInt n = 0;

  PetscFunctionBeginUser;
  loan->local = loan->vec;
  *is_direct = loan->space->num_ghosts == 0;
  if (*is_direct) PetscFunctionReturn(0);
  PetscCall(VecGhostGetLocalForm(loan->vec, &loan->local));
  if (loan->local) PetscCall(VecGetLocalSize(loan->local, &n));
  *is_direct = n == length;
  if (*is_direct) PetscFunctionReturn(0);
  PetscCall(VecGhostRestoreLocalForm(loan->vec, &loan->local));
  loan->local = loan->vec;
  PetscFunctionReturn(0);
}

static int copy_owned(RitzPetscLoan *loan, bool is_back) {
  const PetscInt n = loan->space->num_owned;
  int code = 0;

  if (n == 0) return 0;
  code = attach(loan, n, &loan->owned);
  if (code) return code;
  code = is_back ? RitzVectorCopyRange(loan->copy, 0, n, loan->owned, 0)
                 : RitzVectorCopyRange(loan->owned, 0, n, loan->copy, 0);
  const int detached = detach(loan, loan->owned);

  return code ? code : detached;
}

static int lend_copy(RitzPetscLoan *loan) {
  int code = 0;

  if (!loan->copy)
    code = CeedVectorCreate(loan->space->ceed, loan->space->num_owned + loan->space->num_ghosts, &loan->copy);
  if (!code) code = CeedVectorSetValue(loan->copy, 0);
  if (!code && loan->access != RITZ_ACCESS_WRITE) code = copy_owned(loan, false);
  return code;
}

static PetscErrorCode give_back_array(RitzPetscLoan *loan) {
  PetscFunctionBeginUser;
  PetscCall(restore_array(loan));
  if (loan->local != loan->vec) PetscCall(VecGhostRestoreLocalForm(loan->vec, &loan->local));
  PetscFunctionReturn(0);
}

PetscErrorCode ritz_petsc_lend(RitzPetscLoan *loan, RitzPetscSpace s, Vec v, RitzAccess access,
                               CeedVector *x) {
  PetscInt n = 0;
  bool is_direct = false;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCheck(n == s->num_owned, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "a vector with %" PetscInt_FMT " entries in this process, the space has %" PetscInt_FMT, n,
             s->num_owned);
  PetscCheck(!loan->x, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "a vector is lent to Ritz already: products do not call each other");
  loan->space = s;
  loan->vec = v;
  loan->access = access;
  PetscCall(find_local_form(loan, &is_direct));
  PetscCall(get_array(loan));
  const int code = is_direct ? attach(loan, n + s->num_ghosts, &loan->direct) : lend_copy(loan);

  if (code) PetscCall(give_back_array(loan));
  RitzPetscCall(s->ceed, code);
  loan->x = is_direct ? loan->direct : loan->copy;
  *x = loan->x;
  PetscFunctionReturn(0);
}

PetscErrorCode ritz_petsc_return(RitzPetscLoan *loan) {
  int code = 0;

  PetscFunctionBeginUser;
  if (!loan->x) PetscFunctionReturn(0);
  if (loan->x == loan->direct) {
    code = detach(loan, loan->direct);
  } else if (loan->access != RITZ_ACCESS_READ) {
    code = copy_owned(loan, true);
  }
  loan->x = NULL;
  PetscCall(give_back_array(loan));
  RitzPetscCall(loan->space->ceed, code);
  PetscFunctionReturn(0);
}

PetscErrorCode ritz_petsc_loan_clear(RitzPetscLoan *loan) {
  const Ceed ceed = loan->space ? loan->space->ceed : NULL;

  PetscFunctionBeginUser;
  PetscCall(ritz_petsc_return(loan));
  RitzPetscCall(ceed, CeedVectorDestroy(&loan->direct));
  RitzPetscCall(ceed, CeedVectorDestroy(&loan->copy));
  RitzPetscCall(ceed, CeedVectorDestroy(&loan->owned));
  PetscFunctionReturn(0);
}

PetscErrorCode ritz_petsc_run(RitzPetscEnd from, RitzPetscEnd to,
                              int (*run)(const void *ctx, CeedVector x, CeedVector y), const void *ctx) {
  CeedVector x = NULL, y = NULL;

  PetscFunctionBeginUser;
  PetscCall(ritz_petsc_lend(from.loan, from.space, from.vec, RITZ_ACCESS_READ, &x));
  const PetscErrorCode lent = ritz_petsc_lend(to.loan, to.space, to.vec, RITZ_ACCESS_WRITE, &y);

  if (lent) PetscCall(ritz_petsc_return(from.loan));
  PetscCall(lent);
  const int code = run(ctx, x, y);

  PetscCall(ritz_petsc_return(from.loan));
  PetscCall(ritz_petsc_return(to.loan));
  RitzPetscCall(from.space->ceed, code);
  PetscFunctionReturn(0);
}

// ---- For programs ----

PetscErrorCode RitzPetscVecGetCeedVector(RitzPetscSpace s, Vec v, RitzAccess access, CeedVector *x) {
  RitzPetscLoan *loan = NULL;

  PetscFunctionBeginUser;
  PetscCheck(s && v && x, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL,
             "RitzPetscVecGetCeedVector: argument '%s' is NULL",
             !s   ? "s"
             : !v ? "v"
                  : "x");
  PetscCheck(access == RITZ_ACCESS_READ || access == RITZ_ACCESS_WRITE || access == RITZ_ACCESS_READ_WRITE,
             PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "RitzPetscVecGetCeedVector: there is no access %d",
             (int)access);
  PetscCall(PetscNew(&loan));
  const PetscErrorCode code = ritz_petsc_lend(loan, s, v, access, x);

  if (code) {
    PetscCall(ritz_petsc_loan_clear(loan));
    PetscCall(PetscFree(loan));
  }
  PetscCall(code);
  loan->next = s->loans;
  s->loans = loan;
  PetscFunctionReturn(0);
}

PetscErrorCode RitzPetscVecRestoreCeedVector(RitzPetscSpace s, Vec v, CeedVector *x) {
  PetscFunctionBeginUser;
  PetscCheck(s && v && x, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL,
             "RitzPetscVecRestoreCeedVector: argument '%s' is NULL",
             !s   ? "s"
             : !v ? "v"
                  : "x");
  RitzPetscLoan **place = &s->loans;

  while (*place && ((*place)->vec != v || (*place)->x != *x)) place = &(*place)->next;
  RitzPetscLoan *loan = *place;

  PetscCheck(loan, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "RitzPetscVecRestoreCeedVector: this vector is not lent, needed both of "
             "RitzPetscVecGetCeedVector");
  *place = loan->next;
  *x = NULL;
  PetscCall(ritz_petsc_loan_clear(loan));
  PetscCall(PetscFree(loan));
  PetscFunctionReturn(0);
}
