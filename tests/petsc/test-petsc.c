// SPDX-License-Identifier: BSD-2-Clause
// Vectors, matrices and multigrid of libritz-petsc in any number of processes.
#include "kit.h"

#define EPS 2.220446049250313e-16

// ---- Numbering and vectors ----

// Global numbers go from roots to leaves as the map from local to global entries has them.
static PetscErrorCode sf_takes_values_of_owners_to_ghosts(Ceed ceed) {
  PetscInt num_owned = 0, first = 0, num_ghosts = 0, num = 0, all = 0, *numbers = NULL, *places = NULL;
  ISLocalToGlobalMapping map = NULL;
  PetscSF sf = NULL;
  KitProblem p;

  PetscFunctionBeginUser;
  PetscCall(kit_problem(ceed, "four-shapes.msh", 3, 2, RITZ_OPERATOR_MASS, NULL, &p));
  PetscCall(RitzPetscSpaceGetSizes(p.s, &num_owned, &first, &num_ghosts));
  PetscCall(RitzPetscSpaceGetSF(p.s, &sf));
  PetscCall(RitzPetscSpaceGetLocalToGlobal(p.s, &map));
  num = num_owned + num_ghosts;
  PetscCall(PetscMalloc2(num, &numbers, num, &places));
  for (PetscInt i = 0; i < num; i++) numbers[i] = i < num_owned ? first + i : -1;
  PetscCall(PetscSFBcastBegin(sf, MPIU_INT, numbers, numbers, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_INT, numbers, numbers, MPI_REPLACE));
  for (PetscInt i = 0; i < num; i++) places[i] = i;
  PetscCall(ISLocalToGlobalMappingApply(map, num, places, places));
  for (PetscInt i = 0; i < num; i++)
    CHECK(numbers[i] == places[i], "entry %d is %d and %d", (int)i, (int)numbers[i], (int)places[i]);
  PetscCall(MatGetSize(p.mat, &all, NULL));
  for (PetscInt i = 0; i < num; i++)
    CHECK(numbers[i] >= 0 && numbers[i] < all, "entry %d is %d", (int)i, (int)numbers[i]);
  PetscCall(PetscFree2(numbers, places));
  PetscCall(kit_clear(&p));
  PetscFunctionReturn(0);
}

// Ghosts added to owners: by PETSc's ghosted vector, by the SF, and by the exchange of Ritz.
static PetscErrorCode sums_of_ghosts_agree(Ceed ceed) {
  RitzExchange exchange = NULL;
  const RitzTransport *transport = NULL;
  CeedVector x = NULL;
  PetscMPIInt rank = 0;
  Vec a = NULL, b = NULL, local = NULL;
  KitProblem p;

  PetscFunctionBeginUser;
  PetscCall(kit_problem(ceed, NULL, 3, 3, RITZ_OPERATOR_MASS, NULL, &p));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(RitzPetscSpaceGetExchange(p.s, &exchange));
  PetscCall(RitzPetscSpaceGetTransport(p.s, &transport));
  CHECK(transport->part == rank, "part %d in process %d", (int)transport->part, rank);
  PetscCall(RitzPetscSpaceCreateVec(p.s, &a));
  PetscCall(RitzPetscSpaceCreateVec(p.s, &b));
  PetscCall(VecGhostGetLocalForm(a, &local));
  PetscCall(VecSet(local, 1));
  PetscCall(VecGhostRestoreLocalForm(a, &local));
  if (transport->num_parts > 1) {
    PetscCall(VecGhostUpdateBegin(a, ADD_VALUES, SCATTER_REVERSE));
    PetscCall(VecGhostUpdateEnd(a, ADD_VALUES, SCATTER_REVERSE));
  }
  PetscCall(RitzPetscVecGetCeedVector(p.s, b, RITZ_ACCESS_WRITE, &x));
  RitzPetscCall(ceed, CeedVectorSetValue(x, 1));
  RitzPetscCall(ceed, RitzExchangeRun(exchange, RITZ_EXCHANGE_TO_OWNERS, x));
  PetscCall(RitzPetscVecRestoreCeedVector(p.s, b, &x));
  CHECK(!x, "the vector is still there");
  PetscCall(kit_same(a, b, 0, "sums of ghosts"));
  PetscCall(VecDestroy(&a));
  PetscCall(VecDestroy(&b));
  PetscCall(kit_clear(&p));
  PetscFunctionReturn(0);
}

// On hosts no entry is copied: both have the same array.
static PetscErrorCode local_form_is_the_l_vector(Ceed ceed) {
  const PetscScalar *theirs = NULL;
  const CeedScalar *ours = NULL;
  CeedMemType type = CEED_MEM_HOST;
  CeedVector x = NULL, y = NULL;
  CeedSize length = 0;
  PetscInt num_owned = 0, num_ghosts = 0, n = 0, bs = 0;
  Vec v = NULL, w = NULL, local = NULL;
  KitProblem p;

  PetscFunctionBeginUser;
  RitzPetscCall(ceed, CeedGetPreferredMemType(ceed, &type));
  PetscCall(kit_problem(ceed, NULL, 2, 3, RITZ_OPERATOR_MASS, NULL, &p));
  PetscCall(RitzPetscSpaceGetSizes(p.s, &num_owned, NULL, &num_ghosts));
  PetscCall(RitzPetscSpaceCreateVec(p.s, &v));
  PetscCall(VecDuplicate(v, &w));
  PetscCall(VecGetBlockSize(w, &bs));
  CHECK(bs == 3, "block size %d", (int)bs);
  PetscCall(kit_fill(v, 1));
  PetscCall(VecGhostGetLocalForm(v, &local));
  PetscCall(VecGetLocalSize(local, &n));
  CHECK(n == num_owned + num_ghosts, "%d entries in the local form", (int)n);
  PetscCall(VecGetArrayRead(local, &theirs));
  PetscCall(RitzPetscVecGetCeedVector(p.s, v, RITZ_ACCESS_READ, &x));
  PetscCall(RitzPetscVecGetCeedVector(p.s, w, RITZ_ACCESS_WRITE, &y)); // two at once
  RitzPetscCall(ceed, CeedVectorGetLength(x, &length));
  CHECK(length == n, "%d entries in the L-vector", (int)length);
  RitzPetscCall(ceed, CeedVectorGetArrayRead(x, CEED_MEM_HOST, &ours));
  CHECK(type != CEED_MEM_HOST || ours == theirs, "the L-vector is a copy");
  RitzPetscCall(ceed, CeedVectorRestoreArrayRead(x, &ours));
  RitzPetscCall(ceed, RitzVectorSum(y, 2, x, 0, CEED_VECTOR_NONE));
  PetscCall(RitzPetscVecRestoreCeedVector(p.s, v, &x));
  PetscCall(RitzPetscVecRestoreCeedVector(p.s, w, &y));
  PetscCall(VecRestoreArrayRead(local, &theirs));
  PetscCall(VecGhostRestoreLocalForm(v, &local));
  PetscCall(VecScale(v, 2));
  PetscCall(kit_same(v, w, 0, "twice the vector"));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&w));
  PetscCall(kit_clear(&p));
  PetscFunctionReturn(0);
}

static PetscErrorCode create_plain(Vec like, Vec *v) {
  PetscInt n = 0;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(like, &n));
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, n, PETSC_DETERMINE, v));
  PetscFunctionReturn(0);
}

// Vectors without ghosts serve, too: owned entries are copied.
static PetscErrorCode other_vectors_are_copied(Ceed ceed) {
  Vec x = NULL, y = NULL, plain_x = NULL, plain_y = NULL;
  CeedVector l = NULL;
  KitProblem p;

  PetscFunctionBeginUser;
  PetscCall(kit_problem(ceed, NULL, 3, 1, RITZ_OPERATOR_DIFFUSION, "xmin", &p));
  PetscCall(MatCreateVecs(p.mat, &x, &y));
  PetscCall(create_plain(x, &plain_x));
  PetscCall(create_plain(x, &plain_y));
  PetscCall(kit_fill(x, 1));
  PetscCall(kit_fill(plain_x, 1));
  PetscCall(MatMult(p.mat, x, y));
  PetscCall(MatMult(p.mat, plain_x, plain_y));
  PetscCall(VecSet(x, 0));
  PetscCall(VecCopy(plain_y, x));
  PetscCall(kit_same(y, x, 0, "products"));
  PetscCall(RitzPetscVecGetCeedVector(p.s, plain_x, RITZ_ACCESS_READ_WRITE, &l));
  RitzPetscCall(ceed, CeedVectorScale(l, 3));
  PetscCall(RitzPetscVecRestoreCeedVector(p.s, plain_x, &l));
  PetscCall(kit_fill(plain_y, 1));
  PetscCall(VecScale(plain_y, 3));
  PetscCall(kit_same(plain_y, plain_x, 0, "three times the vector"));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&plain_x));
  PetscCall(VecDestroy(&plain_y));
  PetscCall(kit_clear(&p));
  PetscFunctionReturn(0);
}

// The coordinate along x is the node's; its extremes are those of the bar.
static PetscErrorCode coordinates_are_those_of_the_mesh(Ceed ceed) {
  PetscReal lower = 0, upper = 0;
  PetscInt n = 0, m = 0;
  Vec x = NULL;
  KitProblem p;

  PetscFunctionBeginUser;
  PetscCall(kit_problem(ceed, "four-shapes.msh", 2, 1, RITZ_OPERATOR_MASS, NULL, &p));
  PetscCall(RitzPetscSpaceCreateCoordinates(p.s, &x));
  PetscCall(VecGetSize(x, &n));
  PetscCall(MatGetSize(p.mat, &m, NULL));
  CHECK(n == 3 * m, "%d coordinates of %d nodes", (int)n, (int)m);
  PetscCall(VecStrideMax(x, 0, NULL, &upper));
  PetscCall(VecStrideMin(x, 2, NULL, &lower));
  CHECK_NEAR(upper, 3, 1e-12, "largest x");
  CHECK_NEAR(lower, 0, 1e-12, "smallest z");
  PetscCall(VecDestroy(&x));
  PetscCall(kit_clear(&p));
  PetscFunctionReturn(0);
}

// ---- The matrix ----

static PetscErrorCode check_symmetry(Ceed ceed, const char *file, CeedInt degree, CeedInt num_comp,
                                     const char *fixed) {
  PetscScalar a = 0, b = 0;
  PetscBool is_symmetric = PETSC_FALSE, is_set = PETSC_FALSE;
  Vec x = NULL, y = NULL, z = NULL;
  KitProblem p;

  PetscFunctionBeginUser;
  PetscCall(kit_problem(ceed, file, degree, num_comp, RITZ_OPERATOR_HELMHOLTZ, fixed, &p));
  PetscCall(MatCreateVecs(p.mat, &x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(kit_fill(x, 1));
  PetscCall(kit_fill(y, 2));
  PetscCall(MatMult(p.mat, x, z));
  PetscCall(VecDot(z, y, &a));
  PetscCall(MatMultTranspose(p.mat, y, z));
  PetscCall(VecDot(z, x, &b));
  CHECK_NEAR(a, b, 1e-11 * (1 + fabs(a)), "x . A y and y . A x");
  PetscCall(kit_fill(z, 1));
  PetscCall(kit_same(z, x, 0, "x after products"));
  PetscCall(MatIsSymmetricKnown(p.mat, &is_set, &is_symmetric));
  CHECK(is_set && is_symmetric, "the matrix does not say that it is symmetric");
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(kit_clear(&p));
  PetscFunctionReturn(0);
}

static PetscErrorCode the_matrix_is_symmetric(Ceed ceed) {
  PetscFunctionBeginUser;
  PetscCall(check_symmetry(ceed, NULL, 3, 1, "all"));
  PetscCall(check_symmetry(ceed, "four-shapes.msh", 2, 3, "left"));
  PetscCall(check_symmetry(ceed, "pipe-elbow.msh", 2, 1, NULL));
  PetscFunctionReturn(0);
}

// A x of the whole problem is what threads of one process would find: 1 . M 1 is the volume.
static PetscErrorCode mass_of_one_is_the_volume(Ceed ceed) {
  static const char *const files[] = {"four-shapes.msh", "heat-sink.msh"};
  static const double volumes[] = {3, 4.68e-5};
  PetscScalar sum = 0;
  Vec x = NULL, y = NULL;
  KitProblem p;

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    PetscCall(kit_problem(ceed, files[i], 2, 1, RITZ_OPERATOR_MASS, NULL, &p));
    PetscCall(MatCreateVecs(p.mat, &x, &y));
    PetscCall(VecSet(x, 1));
    PetscCall(MatMult(p.mat, x, y));
    PetscCall(VecDot(x, y, &sum));
    CHECK_NEAR(sum, volumes[i], 1e-12 * volumes[i], files[i]);
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(kit_clear(&p));
  }
  PetscFunctionReturn(0);
}

// Entries of the diagonal are e . A e for unit vectors; on constrained entries they are one, and A e is e.
static PetscErrorCode the_diagonal_is_that_of_unit_vectors(Ceed ceed) {
  Vec e = NULL, ae = NULL, diagonal = NULL;
  PetscInt n = 0;
  KitProblem p;

  PetscFunctionBeginUser;
  PetscCall(kit_problem(ceed, "four-shapes.msh", 2, 2, RITZ_OPERATOR_HELMHOLTZ, "left", &p));
  PetscCall(MatCreateVecs(p.mat, &e, &ae));
  PetscCall(VecDuplicate(e, &diagonal));
  PetscCall(MatGetDiagonal(p.mat, diagonal));
  PetscCall(MatGetSize(p.mat, &n, NULL));
  for (PetscInt i = 0; i < n; i += 1 + n / 60) {
    PetscScalar entry = 0, of_diagonal = 0;

    PetscCall(VecSet(e, 0));
    PetscCall(VecSetValue(e, i, 1, INSERT_VALUES)); // by all processes
    PetscCall(VecAssemblyBegin(e));
    PetscCall(VecAssemblyEnd(e));
    PetscCall(MatMult(p.mat, e, ae));
    PetscCall(VecDot(e, ae, &entry));
    PetscCall(VecDot(e, diagonal, &of_diagonal));
    CHECK_NEAR(entry, of_diagonal, 1e-12 * fabs(entry), "an entry of the diagonal");
  }
  PetscCall(VecSet(e, 0));
  PetscCall(VecDestroy(&e));
  PetscCall(VecDestroy(&ae));
  PetscCall(VecDestroy(&diagonal));
  PetscCall(kit_clear(&p));
  PetscFunctionReturn(0);
}

// With x zero but for constrained entries, A x is x.
static PetscErrorCode constrained_entries_are_the_identity(Ceed ceed) {
  CeedVector l = NULL;
  Vec x = NULL, y = NULL;
  KitProblem p;

  PetscFunctionBeginUser;
  PetscCall(kit_problem(ceed, "four-shapes.msh", 3, 2, RITZ_OPERATOR_DIFFUSION, "bottom", &p));
  PetscCall(MatCreateVecs(p.mat, &x, &y));
  PetscCall(RitzPetscVecGetCeedVector(p.s, x, RITZ_ACCESS_WRITE, &l));
  RitzPetscCall(ceed, CeedVectorSetValue(l, 0));
  RitzPetscCall(ceed, RitzVectorSetEntries(l, p.constraints, 7));
  PetscCall(RitzPetscVecRestoreCeedVector(p.s, x, &l));
  PetscCall(MatMult(p.mat, x, y));
  PetscCall(kit_same(x, y, 0, "A x and x"));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(kit_clear(&p));
  PetscFunctionReturn(0);
}

// ---- Assembled ----

static PetscErrorCode check_assembled(Ceed ceed, const char *file, CeedInt degree, CeedInt num_comp,
                                      const char *fixed) {
  Vec x = NULL, y = NULL, z = NULL;
  Mat aij = NULL;
  KitProblem p;

  PetscFunctionBeginUser;
  PetscCall(kit_problem(ceed, file, degree, num_comp, RITZ_OPERATOR_HELMHOLTZ, fixed, &p));
  PetscCall(RitzPetscMatAssemble(p.mat, MAT_INITIAL_MATRIX, &aij));
  PetscCall(MatCreateVecs(p.mat, &x, &y));
  PetscCall(MatCreateVecs(aij, NULL, &z));
  for (int i = 0; i < 2; i++) {
    PetscCall(kit_fill(x, i));
    PetscCall(MatMult(p.mat, x, y));
    PetscCall(MatMult(aij, x, z));
    PetscCall(kit_same(y, z, 1e-12, i == 0 ? "assembled matrix times x" : "the same, assembled again"));
    PetscCall(MatZeroEntries(aij));
    PetscCall(RitzPetscMatAssemble(p.mat, MAT_REUSE_MATRIX, &aij));
  }
  PetscCall(MatDestroy(&aij));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(kit_clear(&p));
  PetscFunctionReturn(0);
}

static PetscErrorCode the_assembled_matrix_is_the_same(Ceed ceed) {
  PetscFunctionBeginUser;
  PetscCall(check_assembled(ceed, NULL, 1, 3, "all"));
  PetscCall(check_assembled(ceed, NULL, 3, 1, NULL));
  PetscCall(check_assembled(ceed, "four-shapes.msh", 2, 2, "left"));
  PetscFunctionReturn(0);
}

// ---- Submatrices ----

// Every third of the entries of this process.
static PetscErrorCode every_third(Vec v, PetscInt offset, IS *set) {
  PetscInt first = 0, end = 0;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(v, &first, &end));
  PetscCall(
      ISCreateStride(PETSC_COMM_WORLD, PetscMax(0, (end - first - offset + 2) / 3), first + offset, 3, set));
  PetscFunctionReturn(0);
}

// S x is the restriction of A R^T x.
static PetscErrorCode check_submatrix(Mat mat, Mat sub, IS set) {
  Vec x = NULL, y = NULL, part = NULL, sx = NULL, sy = NULL, d = NULL;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(mat, &x, &y));
  PetscCall(MatCreateVecs(sub, &sx, &sy));
  PetscCall(kit_fill(sx, 5));
  PetscCall(VecSet(x, 0));
  PetscCall(VecGetSubVector(x, set, &part));
  PetscCall(VecCopy(sx, part));
  PetscCall(VecRestoreSubVector(x, set, &part));
  PetscCall(MatMult(mat, x, y));
  PetscCall(MatMult(sub, sx, sy));
  PetscCall(VecGetSubVector(y, set, &part));
  PetscCall(kit_same(sy, part, 1e-14, "product with the submatrix"));
  PetscCall(VecRestoreSubVector(y, set, &part));
  PetscCall(MatCreateVecs(sub, &d, NULL));
  PetscCall(MatGetDiagonal(sub, d));
  PetscCall(MatGetDiagonal(mat, y));
  PetscCall(VecGetSubVector(y, set, &part));
  PetscCall(kit_same(d, part, 1e-14, "diagonal of the submatrix"));
  PetscCall(VecRestoreSubVector(y, set, &part));
  PetscCall(VecDestroy(&d));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&sx));
  PetscCall(VecDestroy(&sy));
  PetscFunctionReturn(0);
}

static PetscErrorCode a_submatrix_is_the_restriction(Ceed ceed) {
  IS set = NULL;
  Mat sub = NULL;
  Vec x = NULL;
  KitProblem p;

  PetscFunctionBeginUser;
  PetscCall(kit_problem(ceed, "four-shapes.msh", 2, 3, RITZ_OPERATOR_HELMHOLTZ, "left", &p));
  PetscCall(MatCreateVecs(p.mat, &x, NULL));
  PetscCall(every_third(x, 0, &set));
  PetscCall(MatCreateSubMatrix(p.mat, set, set, MAT_INITIAL_MATRIX, &sub));
  PetscCall(check_submatrix(p.mat, sub, set));
  PetscCall(MatCreateSubMatrix(p.mat, set, set, MAT_REUSE_MATRIX, &sub));
  PetscCall(check_submatrix(p.mat, sub, set));
  PetscCall(MatDestroy(&sub));
  PetscCall(ISDestroy(&set));
  PetscCall(VecDestroy(&x));
  PetscCall(kit_clear(&p));
  PetscFunctionReturn(0);
}

// The block of a process: its products are those of the assembled matrix's.
static PetscErrorCode diagonal_blocks_are_those_of_the_assembled_matrix(Ceed ceed) {
  Mat aij = NULL, ours = NULL, theirs = NULL;
  Vec x = NULL, y = NULL, z = NULL;
  PetscInt n = 0;
  KitProblem p;

  PetscFunctionBeginUser;
  PetscCall(kit_problem(ceed, NULL, 2, 1, RITZ_OPERATOR_HELMHOLTZ, "xmax", &p));
  PetscCall(RitzPetscMatAssemble(p.mat, MAT_INITIAL_MATRIX, &aij));
  PetscCall(MatGetDiagonalBlock(p.mat, &ours));
  PetscCall(MatGetDiagonalBlock(aij, &theirs));
  PetscCall(MatCreateVecs(ours, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecGetSize(x, &n));
  PetscCall(kit_fill(x, 3));
  PetscCall(MatMult(ours, x, y));
  PetscCall(MatMult(theirs, x, z));
  if (n > 0) PetscCall(kit_same(y, z, 0, "products with blocks"));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&aij));
  PetscCall(kit_clear(&p));
  PetscFunctionReturn(0);
}

// ---- Solvers ----

// A x = b for a random solution, by conjugate gradients and the options `text`; the error of x and its
// energy.
static PetscErrorCode solve(KitProblem *p, const char *text, PetscInt most) {
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  Vec x = NULL, b = NULL, u = NULL;
  PetscInt its = 0;
  KSP ksp = NULL;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, text));
  PetscCall(MatCreateVecs(p->mat, &x, &b));
  PetscCall(VecDuplicate(x, &u));
  PetscCall(kit_fill(u, 4));
  PetscCall(MatMult(p->mat, u, b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, "t_"));
  PetscCall(KSPSetOperators(ksp, p->mat, p->mat));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, 1e-11, 0, PETSC_DEFAULT, 1000));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  CHECK(reason > 0 && its <= most, "%s: %s after %d iterations, needed at most %d", text,
        KSPConvergedReasons[reason], (int)its, (int)most);
  PetscCall(kit_same(u, x, 1e-8, text));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&u));
  PetscFunctionReturn(0);
}

static PetscErrorCode preconditioners_by_blocks_and_fields_serve(Ceed ceed) {
  KitProblem p;

  PetscFunctionBeginUser;
  PetscCall(kit_problem(ceed, NULL, 2, 3, RITZ_OPERATOR_HELMHOLTZ, "all", &p));
  PetscCall(solve(&p, "-t_pc_type jacobi", 100));
  PetscCall(solve(&p, "-t_pc_type bjacobi", 60));
  PetscCall(solve(&p, "-t_pc_type asm -t_pc_asm_type basic", 60));
  PetscCall(solve(&p,
                  "-t_pc_type fieldsplit -t_pc_fieldsplit_type additive -t_fieldsplit_0_pc_type jacobi "
                  "-t_fieldsplit_1_pc_type jacobi -t_fieldsplit_2_pc_type jacobi "
                  "-t_fieldsplit_0_ksp_type preonly -t_fieldsplit_1_ksp_type preonly "
                  "-t_fieldsplit_2_ksp_type preonly",
                  100));
  PetscCall(kit_clear(&p));
  PetscFunctionReturn(0);
}

// ---- Transfers and multigrid ----

// y . P x = x . P^T y; on constrained entries nothing arrives.
static PetscErrorCode check_transfer(Ceed ceed, const char *file, const char *fixed) {
  const RitzFixedPart part = {.part = fixed};
  RitzHierarchy hierarchy = NULL;
  RitzPetscSpace coarse = NULL;
  RitzSpace space = NULL;
  RitzIndices constraints = NULL;
  PetscScalar a = 0, b = 0;
  Vec x = NULL, y = NULL, px = NULL, py = NULL;
  CeedInt num = 0;
  Mat mat = NULL;
  KitProblem p;

  PetscFunctionBeginUser;
  PetscCall(kit_problem(ceed, file, 3, 2, RITZ_OPERATOR_MASS, fixed, &p));
  RitzPetscCall(ceed, RitzHierarchyCreate(p.space, NULL, &hierarchy));
  RitzPetscCall(ceed, RitzHierarchyGetNumLevels(hierarchy, &num));
  RitzPetscCall(ceed, RitzHierarchyGetSpace(hierarchy, num - 2, &space));
  PetscCall(RitzPetscSpaceCreate(PETSC_COMM_WORLD, ceed, space, &coarse));
  if (fixed) RitzPetscCall(ceed, RitzSpaceCreateConstraints(space, ceed, 1, &part, &constraints));
  PetscCall(RitzPetscMatCreateTransfer(coarse, constraints, p.s, p.constraints, &mat));
  PetscCall(MatCreateVecs(mat, &x, &y));
  PetscCall(VecDuplicate(x, &py));
  PetscCall(VecDuplicate(y, &px));
  PetscCall(VecSet(x, 1));
  PetscCall(VecSet(y, 1));
  PetscCall(MatMult(mat, x, px));
  if (!fixed) PetscCall(kit_same(y, px, 1e-13, "one, prolonged"));
  PetscCall(kit_fill(x, 1));
  PetscCall(kit_fill(y, 2));
  PetscCall(MatMult(mat, x, px));
  PetscCall(MatMultTranspose(mat, y, py));
  PetscCall(VecDot(y, px, &a));
  PetscCall(VecDot(x, py, &b));
  CHECK_NEAR(a, b, 1e-12 * (1 + fabs(a)), "y . P x and x . P^T y");
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&px));
  PetscCall(VecDestroy(&py));
  PetscCall(MatDestroy(&mat));
  RitzPetscCall(ceed, RitzIndicesDestroy(&constraints));
  PetscCall(RitzPetscSpaceDestroy(&coarse));
  RitzPetscCall(ceed, RitzHierarchyDestroy(&hierarchy));
  PetscCall(kit_clear(&p));
  PetscFunctionReturn(0);
}

static PetscErrorCode restriction_is_prolongation_transposed(Ceed ceed) {
  PetscFunctionBeginUser;
  PetscCall(check_transfer(ceed, NULL, NULL));
  PetscCall(check_transfer(ceed, "four-shapes.msh", NULL));
  PetscCall(check_transfer(ceed, "four-shapes.msh", "left"));
  PetscFunctionReturn(0);
}

static int make_level(void *ctx, CeedInt level, RitzSpace space, CeedOperator *inside, CeedOperator *seam) {
  (void)level;
  return kit_operators(ctx, space, RITZ_OPERATOR_DIFFUSION, inside, seam);
}

static int fail_level(void *ctx, CeedInt level, RitzSpace space, CeedOperator *inside, CeedOperator *seam) {
  (void)space, (void)inside, (void)seam;
  return CeedError(ctx, CEED_ERROR_MAJOR, "there is no operator of level %d", (int)level);
}

static PetscErrorCode solve_by_multigrid(Ceed ceed, const char *options, KitProblem *p, const char *fixed,
                                         CeedInt num_levels, PetscInt most) {
  const RitzHierarchyOptions levels = {.num_levels = num_levels};
  const RitzFixedPart part = {.part = fixed};
  RitzHierarchy hierarchy = NULL;
  Vec x = NULL, b = NULL, u = NULL;
  PetscInt its = 0;
  KSP ksp = NULL;
  PC pc = NULL;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, options));
  RitzPetscCall(ceed, RitzHierarchyCreate(p->space, &levels, &hierarchy));
  PetscCall(MatCreateVecs(p->mat, &x, &b));
  PetscCall(VecDuplicate(x, &u));
  PetscCall(kit_fill(u, 4));
  PetscCall(MatMult(p->mat, u, b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, "m_"));
  PetscCall(KSPSetOperators(ksp, p->mat, p->mat));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, 1e-11, 0, PETSC_DEFAULT, most));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(RitzPetscPCSetHierarchy(pc, ceed, hierarchy, make_level, ceed, 1, &part));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  CHECK(its < most, "multigrid %s: %d iterations, needed fewer than %d", options, (int)its, (int)most);
  PetscCall(kit_same(u, x, 1e-8, options));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&u));
  RitzPetscCall(ceed, RitzHierarchyDestroy(&hierarchy));
  PetscFunctionReturn(0);
}

static PetscErrorCode multigrid_takes_few_iterations(Ceed ceed) {
  KitProblem p;

  PetscFunctionBeginUser;
  PetscCall(kit_problem(ceed, NULL, 4, 1, RITZ_OPERATOR_DIFFUSION, "all", &p));
  PetscCall(solve_by_multigrid(ceed, "", &p, "all", 0, 14));
  PetscCall(solve_by_multigrid(ceed, "-m_mg_levels_ksp_type richardson -m_mg_levels_ksp_richardson_scale 0.5",
                               &p, "all", 0, 40));
  PetscCall(solve_by_multigrid(ceed, "-m_mg_levels_ksp_type chebyshev", &p, "all", 1, 3)); // one level: LU
  PetscCall(kit_clear(&p));
  PetscCall(kit_problem(ceed, "four-shapes.msh", 2, 3, RITZ_OPERATOR_DIFFUSION, "left", &p));
  PetscCall(solve_by_multigrid(ceed, "-m_mg_coarse_pc_type gamg", &p, "left", 0, 40));
  PetscCall(kit_clear(&p));
  PetscFunctionReturn(0);
}

// ---- What goes wrong ----

static PetscErrorCode mistakes_are_errors(Ceed ceed) {
  RitzPetscSpace copy = NULL;
  CeedVector x = NULL, y = NULL;
  PetscInt num_owned = 0;
  RitzHierarchy hierarchy = NULL;
  Vec v = NULL, w = NULL, longer = NULL;
  Mat other = NULL, result = NULL, open = NULL;
  PC pc = NULL;
  KitProblem p;

  PetscFunctionBeginUser;
  PetscCall(kit_problem(ceed, NULL, 2, 1, RITZ_OPERATOR_MASS, NULL, &p));
  PetscCall(RitzPetscSpaceReferenceCopy(p.s, &copy));
  PetscCall(RitzPetscSpaceDestroy(&copy));
  PetscCall(RitzPetscSpaceGetSizes(p.s, &num_owned, NULL, NULL));
  PetscCall(RitzPetscSpaceCreateVec(p.s, &v));
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, num_owned + 1, PETSC_DETERMINE, &longer));
  CHECK_FAILS(RitzPetscVecGetCeedVector(p.s, longer, RITZ_ACCESS_READ, &x), PETSC_ERR_ARG_SIZ,
              "the space has");
  CHECK_FAILS(RitzPetscVecGetCeedVector(p.s, v, (RitzAccess)9, &x), PETSC_ERR_ARG_OUTOFRANGE, "no access 9");
  CHECK_FAILS(RitzPetscVecGetCeedVector(NULL, v, RITZ_ACCESS_READ, &x), PETSC_ERR_ARG_NULL, "'s' is NULL");
  PetscCall(RitzPetscVecGetCeedVector(p.s, v, RITZ_ACCESS_READ, &x));
  y = x;
  CHECK_FAILS(RitzPetscVecRestoreCeedVector(p.s, longer, &y), PETSC_ERR_ARG_WRONG, "is not lent");
  PetscCall(RitzPetscVecRestoreCeedVector(p.s, v, &x));
  CHECK_FAILS(RitzPetscVecRestoreCeedVector(p.s, v, &y), PETSC_ERR_ARG_WRONG, "is not lent");
  PetscCall(RitzPetscSpaceCreate(PETSC_COMM_WORLD, ceed, p.space, &copy));
  PetscCall(RitzPetscVecGetCeedVector(copy, v, RITZ_ACCESS_READ, &x));
  CHECK_FAILS(RitzPetscSpaceDestroy(&copy), PETSC_ERR_ARG_WRONGSTATE, "a vector is lent");
  PetscCall(RitzPetscVecRestoreCeedVector(copy, v, &x));
  PetscCall(RitzPetscSpaceDestroy(&copy));
  CHECK_FAILS(RitzPetscSpaceCreate(PETSC_COMM_WORLD, NULL, p.space, &copy), PETSC_ERR_ARG_NULL, "'ceed'");
  CHECK_FAILS(RitzPetscSpaceGetSF(p.s, NULL), PETSC_ERR_ARG_NULL, "RitzPetscSpaceGetSF");
  CHECK_FAILS(RitzPetscMeshCreatePart(PETSC_COMM_WORLD, NULL, NULL, NULL), PETSC_ERR_ARG_NULL, "'whole'");
  CHECK_FAILS(RitzPetscMatCreate(NULL, NULL, NULL, NULL, PETSC_TRUE, &result), PETSC_ERR_ARG_NULL, "'s'");
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, 1, 1, PETSC_DETERMINE, PETSC_DETERMINE, 1, NULL, 1, NULL, &other));
  CHECK_FAILS(RitzPetscMatAssemble(other, MAT_INITIAL_MATRIX, &result), PETSC_ERR_ARG_WRONG,
              "needed that of RitzPetscMatCreate");
  CHECK_FAILS(RitzPetscMatAssemble(p.mat, MAT_REUSE_MATRIX, &other), PETSC_ERR_ARG_WRONG, "MAT_REUSE_MATRIX");
  CHECK_FAILS(RitzPetscMatAssemble(p.mat, MAT_INPLACE_MATRIX, &other), PETSC_ERR_SUP, "reuse");
  PetscCall(RitzPetscMatCreate(p.s, NULL, NULL, NULL, PETSC_FALSE, &open));
  PetscCall(VecDuplicate(v, &w));
  CHECK_FAILS(MatMultTranspose(open, v, w), PETSC_ERR_SUP, "");
  CHECK_FAILS(MatDuplicate(open, MAT_COPY_VALUES, &result), PETSC_ERR_SUP, "no duplicates");
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  RitzPetscCall(ceed, RitzHierarchyCreate(p.space, NULL, &hierarchy));
  CHECK_FAILS(RitzPetscPCSetHierarchy(pc, ceed, NULL, make_level, ceed, 0, NULL), PETSC_ERR_ARG_NULL,
              "'hierarchy'");
  RitzPetscCall(ceed, RitzHierarchyDestroy(&hierarchy));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&open));
  PetscCall(MatDestroy(&other));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&w));
  PetscCall(VecDestroy(&longer));
  PetscCall(kit_clear(&p));
  PetscFunctionReturn(0);
}

// A part of several in a communicator of one process: the message is that of RitzExchangeCreate.
static PetscErrorCode parts_have_to_fit_the_communicator(Ceed ceed) {
  RitzPetscSpace s = NULL;
  PetscMPIInt size = 1;
  KitProblem p;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(kit_problem(ceed, NULL, 1, 1, RITZ_OPERATOR_MASS, NULL, &p));
  if (size > 1)
    CHECK_FAILS(RitzPetscSpaceCreate(PETSC_COMM_SELF, ceed, p.space, &s), PETSC_ERR_LIB,
                "the transport that of part 0 of 1");
  CHECK(!s, "there is a space after an error");
  PetscCall(kit_clear(&p));
  PetscFunctionReturn(0);
}

// The message of Ritz is in PETSc's error.
static PetscErrorCode messages_of_ritz_arrive(Ceed ceed) {
  CeedOperator inside = NULL, seam = NULL;

  PetscFunctionBeginUser;
  CHECK_FAILS(RitzPetscError(ceed, fail_level(ceed, 3, NULL, &inside, &seam), 1, "f", "file"), PETSC_ERR_LIB,
              "there is no operator of level 3");
  CHECK_FAILS(RitzPetscError(NULL, -1, 1, "f", "file"), PETSC_ERR_LIB, "no message was kept");
  CHECK(RitzPetscError(ceed, 0, 1, "f", "file") == 0, "code 0 is an error");
  PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
#define ROW(name)                                                                                            \
  { #name, name }
  static const KitTest tests[] = {ROW(sf_takes_values_of_owners_to_ghosts),
                                  ROW(sums_of_ghosts_agree),
                                  ROW(local_form_is_the_l_vector),
                                  ROW(other_vectors_are_copied),
                                  ROW(coordinates_are_those_of_the_mesh),
                                  ROW(the_matrix_is_symmetric),
                                  ROW(mass_of_one_is_the_volume),
                                  ROW(the_diagonal_is_that_of_unit_vectors),
                                  ROW(constrained_entries_are_the_identity),
                                  ROW(the_assembled_matrix_is_the_same),
                                  ROW(a_submatrix_is_the_restriction),
                                  ROW(diagonal_blocks_are_those_of_the_assembled_matrix),
                                  ROW(preconditioners_by_blocks_and_fields_serve),
                                  ROW(restriction_is_prolongation_transposed),
                                  ROW(multigrid_takes_few_iterations),
                                  ROW(mistakes_are_errors),
                                  ROW(parts_have_to_fit_the_communicator),
                                  ROW(messages_of_ritz_arrive)};

  return kit_run(argc, argv, sizeof tests / sizeof *tests, tests) ? 1 : 0;
}
