// SPDX-License-Identifier: BSD-2-Clause
// Operators of whole problems in compressed rows: the patterns of RitzAssembly in the numbering of the whole
// as a list of entries that PETSc adds up (MatSetValuesCOO), ghosts' rows among them. Constrained rows and
// columns are left out (negative numbers), one is added on their diagonal.
#include <ritz/assembly.h>

#include "petsc/matrix.h"

static const char mark[] = "RitzPetscMatAssemble"; // of matrices from here

// Kept with the matrix for the values to come.
typedef struct {
  Ceed ceed;                  // counted
  RitzAssembly assembly[2];   // owned, of elements inside and at the seam; NULL: none
  CeedVector values[2];       // owned; have the arrays while they are computed
  PetscCount num_of[2];       // nonzeros of each
  PetscCount num_constraints; // ones on the diagonal
  PetscCount num;             // all entries
  PetscScalar *list;          // [num], owned
} Entries;

static PetscErrorCode clear_entries(Entries *e) {
  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    RitzPetscCall(e->ceed, RitzAssemblyDestroy(&e->assembly[i]));
    RitzPetscCall(e->ceed, CeedVectorDestroy(&e->values[i]));
  }
  PetscCall(PetscFree(e->list));
  RitzPetscCall(NULL, CeedDestroy(&e->ceed));
  PetscCall(PetscFree(e));
  PetscFunctionReturn(0);
}

// The entries live with the matrix as the context of another one without rows: contexts of containers are
// destroyed by functions whose type changes with PETSc's version.
static PetscErrorCode destroy_keeper(Mat keeper) {
  Entries *e = NULL;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(keeper, &e));
  PetscCall(clear_entries(e));
  PetscFunctionReturn(0);
}

static PetscErrorCode keep_entries(Mat aij, Entries *e) {
  Mat keeper = NULL;

  PetscFunctionBeginUser;
  PetscCall(MatCreateShell(PETSC_COMM_SELF, 0, 0, 0, 0, e, &keeper));
  PetscCall(MatShellSetOperation(keeper, MATOP_DESTROY, (RitzPetscOperation)destroy_keeper));
  PetscCall(PetscObjectCompose((PetscObject)aij, mark, (PetscObject)keeper));
  PetscCall(MatDestroy(&keeper));
  PetscFunctionReturn(0);
}

// ---- Pattern ----

// is_kept [entries of the L-vector]: constrained by this process or by the owner.
static int mark_constraints(const RitzPetscOperator *op, PetscBool *is_kept) {
  const RitzPetscSpace s = op->space;
  const CeedScalar *read = NULL;
  CeedVector marks = NULL;
  int code = CeedVectorCreate(s->ceed, s->num_owned + s->num_ghosts, &marks);

  if (!code) code = CeedVectorSetValue(marks, 0);
  if (!code) code = RitzVectorSetEntries(marks, op->constraints, 1);
  if (!code) code = RitzExchangeRun(s->exchange, RITZ_EXCHANGE_TO_GHOSTS, marks);
  if (!code) code = CeedVectorGetArrayRead(marks, CEED_MEM_HOST, &read);
  if (!code) {
    for (PetscInt i = 0; i < s->num_owned + s->num_ghosts; i++) is_kept[i] = read[i] != 0;
    code = CeedVectorRestoreArrayRead(marks, &read);
  }
  const int destroyed = CeedVectorDestroy(&marks);

  return code ? code : destroyed;
}

static PetscErrorCode add_pattern(RitzPetscSpace s, RitzAssembly assembly, const PetscBool *is_kept,
                                  PetscInt *rows, PetscInt *cols) {
  const int64_t *starts = NULL, *places = NULL;
  CeedSize num_rows = 0;

  PetscFunctionBeginUser;
  RitzPetscCall(s->ceed, RitzAssemblyGetPattern(assembly, &num_rows, NULL, &starts, &places));
  for (CeedSize r = 0; r < num_rows; r++) {
    const PetscInt row = is_kept[r] ? -1 : ritz_petsc_global(s, (PetscInt)r);

    for (int64_t k = starts[r]; k < starts[r + 1]; k++) {
      rows[k] = row;
      cols[k] = row < 0 || is_kept[places[k]] ? -1 : ritz_petsc_global(s, (PetscInt)places[k]);
      if (cols[k] < 0) rows[k] = -1;
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode count_entries(const RitzPetscOperator *op, Entries *e) {
  const CeedOperator ops[] = {op->inside, op->seam};
  const Ceed ceed = op->space->ceed;
  const int64_t *starts = NULL;
  CeedSize num_rows = 0;
  int64_t num = 0;

  PetscFunctionBeginUser;
  RitzPetscCall(ceed, CeedReferenceCopy(ceed, &e->ceed));
  for (int i = 0; i < 2; i++) {
    if (!ops[i]) continue;
    RitzPetscCall(ceed, RitzAssemblyCreate(ops[i], &e->assembly[i]));
    RitzPetscCall(ceed, RitzAssemblyGetPattern(e->assembly[i], &num_rows, NULL, &starts, NULL));
    e->num_of[i] = (PetscCount)starts[num_rows];
    RitzPetscCall(ceed, CeedVectorCreate(ceed, starts[num_rows], &e->values[i]));
  }
  RitzPetscCall(ceed, RitzIndicesGet(op->constraints, &num, NULL));
  e->num_constraints = (PetscCount)num;
  e->num = e->num_of[0] + e->num_of[1] + e->num_constraints;
  PetscCall(PetscMalloc1(e->num, &e->list));
  PetscFunctionReturn(0);
}

static PetscErrorCode fill_pattern(const RitzPetscOperator *op, const Entries *e, PetscInt *rows,
                                   PetscInt *cols) {
  const RitzPetscSpace s = op->space;
  const int64_t *constraints = NULL;
  PetscBool *is_kept = NULL;
  PetscCount at = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(s->num_owned + s->num_ghosts, &is_kept));
  RitzPetscCall(s->ceed, mark_constraints(op, is_kept));
  for (int i = 0; i < 2; at += e->num_of[i++])
    if (e->assembly[i]) PetscCall(add_pattern(s, e->assembly[i], is_kept, rows + at, cols + at));
  RitzPetscCall(s->ceed, RitzIndicesGet(op->constraints, NULL, &constraints));
  for (PetscCount k = 0; k < e->num_constraints; k++)
    rows[at + k] = cols[at + k] = ritz_petsc_global(s, (PetscInt)constraints[k]);
  PetscCall(PetscFree(is_kept));
  PetscFunctionReturn(0);
}

static PetscErrorCode create_matrix(const RitzPetscOperator *op, const Entries *e, Mat *aij) {
  const RitzPetscSpace s = op->space;
  PetscInt *rows = NULL, *cols = NULL;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(s->comm, aij));
  PetscCall(MatSetSizes(*aij, s->num_owned, s->num_owned, s->num_all, s->num_all));
  PetscCall(MatSetBlockSize(*aij, s->num_comp));
  PetscCall(MatSetType(*aij, MATAIJ));
  PetscCall(PetscMalloc2(e->num, &rows, e->num, &cols));
  PetscCall(fill_pattern(op, e, rows, cols));
  PetscCall(MatSetPreallocationCOO(*aij, e->num, rows, cols));
  PetscCall(PetscFree2(rows, cols));
  if (op->is_symmetric) PetscCall(MatSetOption(*aij, MAT_SYMMETRIC, PETSC_TRUE));
  PetscFunctionReturn(0);
}

// ---- Values ----

static int compute_part(Entries *e, int i, PetscScalar *list) {
  CeedScalar *array = NULL;
  int code = 0;

  if (e->num_of[i] == 0) return 0;
  code = CeedVectorSetArray(e->values[i], CEED_MEM_HOST, CEED_USE_POINTER, list);
  if (code) return code;
  code = RitzAssemblyRun(e->assembly[i], e->values[i]);
  const int taken = CeedVectorTakeArray(e->values[i], CEED_MEM_HOST, &array);

  return code ? code : taken;
}

static PetscErrorCode compute_values(Entries *e, Mat aij) {
  PetscCount at = 0;

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; at += e->num_of[i++]) RitzPetscCall(e->ceed, compute_part(e, i, e->list + at));
  for (PetscCount k = 0; k < e->num_constraints; k++) e->list[at + k] = 1;
  PetscCall(MatSetValuesCOO(aij, e->list, INSERT_VALUES));
  PetscFunctionReturn(0);
}

// ---- Both ----

static PetscErrorCode assemble_first(const RitzPetscOperator *op, Mat *aij) {
  Entries *e = NULL;

  PetscFunctionBeginUser;
  PetscCall(PetscNew(&e));
  PetscCall(count_entries(op, e));
  PetscCall(create_matrix(op, e, aij));
  PetscCall(keep_entries(*aij, e));
  PetscCall(compute_values(e, *aij));
  PetscFunctionReturn(0);
}

PetscErrorCode RitzPetscMatAssemble(Mat mat, MatReuse reuse, Mat *aij) {
  Mat keeper = NULL;
  RitzPetscOperator *op = NULL;
  Entries *e = NULL;

  PetscFunctionBeginUser;
  PetscCall(ritz_petsc_operator("RitzPetscMatAssemble", mat, &op));
  PetscCheck(aij, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "RitzPetscMatAssemble: argument 'aij' is NULL");
  PetscCheck(reuse == MAT_INITIAL_MATRIX || reuse == MAT_REUSE_MATRIX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "RitzPetscMatAssemble: reuse %d, needed MAT_INITIAL_MATRIX or MAT_REUSE_MATRIX", (int)reuse);
  if (reuse == MAT_INITIAL_MATRIX) {
    PetscCall(assemble_first(op, aij));
    PetscFunctionReturn(0);
  }
  if (*aij) PetscCall(PetscObjectQuery((PetscObject)*aij, mark, (PetscObject *)&keeper));
  PetscCheck(keeper, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "RitzPetscMatAssemble: MAT_REUSE_MATRIX with another matrix, needed one of an earlier call");
  PetscCall(MatShellGetContext(keeper, &e));
  PetscCall(compute_values(e, *aij));
  PetscFunctionReturn(0);
}
