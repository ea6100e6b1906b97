// SPDX-License-Identifier: BSD-2-Clause
// Block preconditioners (RitzPreconditionerCreateBlocks) against the same by hand: all kinds, couplings by
// the operator and given, precisions, symmetry, refusals.
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "tests/mixed-kit.h"
#include "tests/tap.h"

// The definite problem of two fields on quadrilaterals; Jacobi inverses of its blocks.
typedef struct {
  RitzMesh mesh;
  MixedKit k;
  CeedOperator op, b, b_transposed;
  CeedVector r, z, part[2];
  double *diagonal; // owned
  RitzBlock blocks[2];
  CeedSize n, n_u;
} Blocks;

static void make_blocks(Ceed ceed, Blocks *s) {
  CeedVector diagonal = NULL;
  uint64_t seed = 17;

  *s = (Blocks){.mesh = NULL};
  CHECK_OK(kit_mesh(ceed, KIT_QUADS, 1, NULL, &s->mesh));
  CHECK_OK(mixed_create(ceed, s->mesh, 2, 1, &s->k));
  CHECK_OK(mixed_operator(&s->k, &mixed_definite, &s->op));
  CHECK_OK(mixed_operator(&s->k, &mixed_b, &s->b));
  CHECK_OK(mixed_operator(&s->k, &mixed_b_transposed, &s->b_transposed));
  s->n = mixed_size(&s->k, -1);
  s->n_u = mixed_size(&s->k, 0);
  CHECK_OK(mixed_random(&s->k, -1, &seed, &s->r));
  CHECK_OK(CeedVectorCreate(ceed, s->n, &s->z));
  CHECK_OK(CeedVectorCreate(ceed, s->n, &diagonal));
  CHECK_OK(CeedOperatorLinearAssembleDiagonal(s->op, diagonal, CEED_REQUEST_IMMEDIATE));
  s->diagonal = reference_new_values(diagonal);
  for (CeedInt i = 0; i < 2; i++) {
    CHECK_OK(CeedVectorCreate(ceed, mixed_size(&s->k, i), &s->part[i]));
    CHECK_OK(RitzProductSpaceGetPart(s->k.product, i, diagonal, s->part[i]));
    CHECK_OK(
        RitzPreconditionerCreateJacobi(ceed, s->part[i], i == 0 ? s->k.fixed : NULL, &s->blocks[i].inverse));
  }
  s->blocks[1].factor = 0.5;
  CeedVectorDestroy(&diagonal);
}

static void destroy_blocks(Blocks *s) {
  for (int i = 0; i < 2; i++) {
    RitzPreconditionerDestroy(&s->blocks[i].inverse);
    CeedVectorDestroy(&s->part[i]);
  }
  CeedVectorDestroy(&s->r);
  CeedVectorDestroy(&s->z);
  free(s->diagonal);
  CeedOperatorDestroy(&s->op);
  CeedOperatorDestroy(&s->b);
  CeedOperatorDestroy(&s->b_transposed);
  mixed_destroy(&s->k);
  RitzMeshDestroy(&s->mesh);
}

// ---- By hand ----

// z_i += f_i D_i^-1 (r_i - c_i) on the entries of block i that are not constrained.
static void apply_block_by_hand(const Blocks *s, int i, const double *r, const double *coupling, double *z) {
  const CeedSize first = i == 0 ? 0 : s->n_u, end = i == 0 ? s->n_u : s->n;
  const int64_t *fixed;
  int64_t num = 0;

  CHECK_OK(RitzIndicesGet(s->k.fixed, &num, &fixed));
  for (CeedSize e = first; e < end; e++) {
    z[e] += (i == 1 ? 0.5 : 1) * (r[e] - (coupling ? coupling[e] : 0)) / s->diagonal[e];
  }
  for (int64_t k = 0; i == 0 && k < num; k++) z[fixed[k]] = 0;
}

// The kind, with the couplings of any operator of the product that is applied to a vector of values.
static void apply_by_hand(Ceed ceed, const Blocks *s, RitzBlocksKind kind, bool are_given, const double *r,
                          double *z) {
  const int order[2] = {kind == RITZ_BLOCKS_UPPER, kind != RITZ_BLOCKS_UPPER};
  double *coupling = reference_new(s->n);
  CeedVector x = NULL, y = NULL;

  memset(z, 0, (size_t)s->n * sizeof(*z));
  apply_block_by_hand(s, order[0], r, NULL, z);
  if (are_given) {
    const int from = order[0];

    CHECK_OK(kit_fill(ceed, from == 0 ? s->n_u : s->n - s->n_u, z + (from == 0 ? 0 : s->n_u), &x));
    CHECK_OK(CeedVectorCreate(ceed, from == 0 ? s->n - s->n_u : s->n_u, &y));
    CHECK_OK(kit_apply(from == 0 ? s->b : s->b_transposed, x, y));
    reference_values(y, coupling + (from == 0 ? s->n_u : 0));
  } else {
    CHECK_OK(kit_fill(ceed, s->n, z, &x));
    CHECK_OK(CeedVectorCreate(ceed, s->n, &y));
    CHECK_OK(kit_apply(s->op, x, y));
    reference_values(y, coupling);
  }
  apply_block_by_hand(s, order[1], r, kind == RITZ_BLOCKS_DIAGONAL ? NULL : coupling, z);
  if (kind == RITZ_BLOCKS_SYMMETRIC) {
    CeedVectorDestroy(&x);
    CHECK_OK(kit_fill(ceed, s->n, z, &x));
    CHECK_OK(kit_apply(s->op, x, y));
    reference_values(y, coupling);
    apply_block_by_hand(s, 0, r, coupling, z);
  }
  free(coupling);
  CeedVectorDestroy(&x);
  CeedVectorDestroy(&y);
}

static void check_kind(Ceed ceed, Blocks *s, RitzBlocksKind kind, bool are_given) {
  const RitzBlockCoupling couplings[2] = {{1, 0, s->b}, {0, 1, s->b_transposed}};
  const RitzBlocksOptions options = {.kind = kind,
                                     .op = are_given ? NULL : s->op,
                                     .num_couplings = are_given ? 2 : 0,
                                     .couplings = are_given ? couplings : NULL};
  RitzPreconditioner pc = NULL;
  bool is_symmetric = false;

  CHECK_OK(RitzPreconditionerCreateBlocks(ceed, 2, s->blocks, &options, &pc));
  CHECK_OK(RitzPreconditionerIsSymmetric(pc, &is_symmetric));
  CHECK(is_symmetric == (kind == RITZ_BLOCKS_DIAGONAL || kind == RITZ_BLOCKS_SYMMETRIC),
        "kind %d is symmetric: %d", (int)kind, is_symmetric);
  double *r = reference_new_values(s->r), *z = reference_new(s->n);
  apply_by_hand(ceed, s, kind, are_given, r, z);
  for (int time = 0; time < 2; time++) { // the second time nothing is left of the first
    CHECK_OK(RitzPreconditionerApply(pc, s->r, s->z));
    // An apply and a quotient an entry: sums of less than a hundred terms of the size of the largest entry.
    CHECK(kit_distance(s->z, z) <= 200 * eps * reference_largest(s->n, z), "kind %d, couplings %s", (int)kind,
          are_given ? "given" : "by the operator");
  }
  free(r);
  free(z);
  RitzPreconditionerDestroy(&pc);
}

TEST_EACH_BACKEND(blocks_equal_the_same_by_hand) {
  Blocks s;

  make_blocks(ceed, &s);
  for (int kind = RITZ_BLOCKS_DIAGONAL; kind <= RITZ_BLOCKS_SYMMETRIC; kind++) {
    check_kind(ceed, &s, (RitzBlocksKind)kind, false);
    if (kind != RITZ_BLOCKS_SYMMETRIC) check_kind(ceed, &s, (RitzBlocksKind)kind, true);
  }
  destroy_blocks(&s);
}

// Exact inverses instead: the fields by themselves are u . v + grad u : grad v and 2 p q + grad p . grad q.
static void invert_blocks(Ceed ceed, Blocks *s) {
  RitzGeometry geometry = NULL;

  CHECK_OK(RitzGeometryCreate(s->mesh, -1, &geometry));
  for (int i = 0; i < 2; i++) {
    const RitzOperatorOptions options = {
        .kind = RITZ_OPERATOR_HELMHOLTZ, .space = s->k.space[i], .num_points = 3, .lambda = 1 + i};
    CeedOperator op = NULL;

    CHECK_OK(RitzGeometryCreateOperator(geometry, ceed, &options, &op));
    CHECK_OK(RitzPreconditionerDestroy(&s->blocks[i].inverse));
    CHECK_OK(RitzPreconditionerCreateDirect(op, i == 0 ? s->k.fixed : NULL, NULL, &s->blocks[i].inverse));
    s->blocks[i].factor = 1;
    CeedOperatorDestroy(&op);
  }
  RitzGeometryDestroy(&geometry);
}

// w . P r = r . P w. With exact inverses the eigenvalues of P A are 1 - c and 1 + c with blocks alone, 1 -
// c^2 with sweeps, c the cosines between the fields: conjugate gradients take about half the iterations.
TEST_EACH_BACKEND(symmetric_sweeps_are_symmetric_and_take_fewer_iterations) {
  RitzPreconditioner pc = NULL;
  RitzSolver solver = NULL;
  CeedVector w = NULL, pw = NULL;
  CeedInt num_it[2] = {0, 0};
  RitzSolverReason reason;
  uint64_t seed = 41;
  Blocks s;

  make_blocks(ceed, &s);
  invert_blocks(ceed, &s);
  CHECK_OK(mixed_random(&s.k, -1, &seed, &w));
  CHECK_OK(mixed_random(&s.k, -1, &seed, &pw));
  CHECK_OK(RitzVectorSetEntries(s.r, s.k.constraints, 0));
  CHECK_OK(RitzVectorSetEntries(w, s.k.constraints, 0));
  for (int i = 0; i < 2; i++) {
    const RitzBlocksOptions options = {.kind = i == 0 ? RITZ_BLOCKS_DIAGONAL : RITZ_BLOCKS_SYMMETRIC,
                                       .op = s.op};

    CHECK_OK(RitzPreconditionerCreateBlocks(ceed, 2, s.blocks, &options, &pc));
    CHECK_OK(RitzPreconditionerApply(pc, s.r, s.z));
    CHECK_OK(RitzPreconditionerApply(pc, w, pw));
    CHECK_NEAR(kit_dot(w, s.z), kit_dot(s.r, pw), 200 * eps * sqrt(kit_dot(w, w) * kit_dot(s.z, s.z)),
               "kind %d", (int)options.kind);
    CHECK_OK(CeedVectorSetValue(s.z, 0));
    CHECK_OK(RitzSolverCreateCG(ceed, &solver));
    CHECK_OK(RitzSolverSetOperator(solver, s.op));
    CHECK_OK(RitzSolverSetPreconditioner(solver, pc));
    CHECK_OK(RitzSolverSetConstraintIndices(solver, s.k.constraints));
    CHECK_OK(RitzSolverSetTolerances(solver, eps < 1e-10 ? 1e-8 : 1e-4, 0, 500));
    CHECK_OK(RitzSolverSolve(solver, s.r, s.z));
    CHECK_OK(RitzSolverGetReason(solver, &reason));
    CHECK(reason > 0, "kind %d: %s", (int)options.kind, RitzSolverReasonName(reason));
    CHECK_OK(RitzSolverGetIterations(solver, &num_it[i]));
    RitzSolverDestroy(&solver);
    RitzPreconditionerDestroy(&pc);
  }
  CHECK(num_it[1] <= 0.7 * num_it[0], "%d iterations, with blocks alone %d", (int)num_it[1], (int)num_it[0]);
  CeedVectorDestroy(&w);
  CeedVectorDestroy(&pw);
  destroy_blocks(&s);
}

// ---- Three blocks, functions of the program, precisions ----

static int double_it(void *ctx, CeedVector r, CeedVector z) {
  (void)ctx;
  return RitzVectorSum(z, 2, r, 0, CEED_VECTOR_NONE);
}

TEST_EACH_BACKEND(blocks_are_functions_of_the_program_and_any_preconditioner) {
  const CeedSize lengths[3] = {3, 4, 1};
  RitzBlock blocks[3] = {{NULL, 0}, {NULL, -3}, {NULL, 0.25}};
  RitzPreconditioner pc = NULL;
  CeedVector r = NULL, z = NULL;
  bool is_symmetric = true;
  const double values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  double expected[8];

  for (int i = 0; i < 3; i++) {
    CHECK_OK(RitzPreconditionerCreate(ceed, lengths[i], CEED_SCALAR_TYPE, double_it, NULL, NULL, true,
                                      &blocks[i].inverse));
  }
  CHECK_OK(RitzPreconditionerCreateBlocks(ceed, 3, blocks, NULL, &pc));
  for (int i = 0; i < 3; i++) RitzPreconditionerDestroy(&blocks[i].inverse);
  CHECK_OK(RitzPreconditionerIsSymmetric(pc, &is_symmetric));
  CHECK(!is_symmetric, "a negative factor: not definite");
  CHECK_OK(kit_fill(ceed, 8, values, &r));
  CHECK_OK(CeedVectorCreate(ceed, 8, &z));
  CHECK_OK(RitzPreconditionerApply(pc, r, z));
  for (int e = 0; e < 8; e++) expected[e] = 2 * values[e] * (e < 3 ? 1 : e < 7 ? -3 : 0.25);
  CHECK(kit_distance(z, expected) == 0, "each block has its function and factor");
  RitzPreconditionerDestroy(&pc);
  CeedVectorDestroy(&r);
  CeedVectorDestroy(&z);
}

TEST_EACH_BACKEND(blocks_of_other_precisions_convert_on_their_own) {
  const RitzBlocksOptions options = {.kind = RITZ_BLOCKS_DIAGONAL};
  RitzBlock blocks[2] = {{NULL, 0}, {NULL, 0}};
  RitzPreconditioner pc = NULL;
  CeedVector r = NULL, z = NULL;
  CeedScalarType precision = CEED_SCALAR_FP32;
  // Scaled together, the first block would be zero in float.
  const bool is_double = eps < 1e-10;
  const double values[3] = {is_double ? 1e-60 : 1e-6, 1, 2}, expected[3] = {2 * values[0], 2, 4};

  CHECK_OK(
      RitzPreconditionerCreate(ceed, 1, CEED_SCALAR_FP32, double_it, NULL, NULL, true, &blocks[0].inverse));
  CHECK_OK(
      RitzPreconditionerCreate(ceed, 2, CEED_SCALAR_TYPE, double_it, NULL, NULL, true, &blocks[1].inverse));
  CHECK_OK(RitzPreconditionerCreateBlocks(ceed, 2, blocks, &options, &pc));
  CHECK_OK(RitzPreconditionerGetPrecision(pc, &precision));
  CHECK(precision == CEED_SCALAR_TYPE, "that of the library, where they differ");
  CHECK_OK(kit_fill(ceed, 3, values, &r));
  CHECK_OK(CeedVectorCreate(ceed, 3, &z));
  CHECK_OK(RitzPreconditionerApply(pc, r, z));
  const CeedScalar *array;
  CHECK_OK(CeedVectorGetArrayRead(z, CEED_MEM_HOST, &array));
  // Rounding of float.
  for (int e = 0; e < 3; e++) CHECK_NEAR(array[e], expected[e], 1e-6 * expected[e], "entry %d", e);
  CHECK_OK(CeedVectorRestoreArrayRead(z, &array));
  RitzPreconditionerDestroy(&pc);
  CHECK_OK(RitzPreconditionerCreateBlocks(ceed, 1, blocks, &options, &pc));
  CHECK_OK(RitzPreconditionerGetPrecision(pc, &precision));
  CHECK(precision == CEED_SCALAR_FP32, "that of all inverses");
  for (int i = 0; i < 2; i++) RitzPreconditionerDestroy(&blocks[i].inverse);
  RitzPreconditionerDestroy(&pc);
  CeedVectorDestroy(&r);
  CeedVectorDestroy(&z);
}

// ---- Views and misuse ----

TEST(views_of_blocks_tell_what_serves_each) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzPreconditioner pc = NULL;
  char text[1000] = "";
  int64_t num_bytes = 0;
  Blocks s;

  make_blocks(ceed, &s);
  const RitzBlocksOptions options = {.kind = RITZ_BLOCKS_LOWER, .op = s.op};
  CHECK_OK(RitzPreconditionerCreateBlocks(ceed, 2, s.blocks, &options, &pc));
  const char *path = tap_temp_file("view.txt", NULL, 0);
  FILE *stream = fopen(path, "w+");
  CHECK_OK(RitzPreconditionerView(pc, stream));
  rewind(stream);
  text[fread(text, 1, sizeof(text) - 1, stream)] = 0;
  fclose(stream);
  CHECK(strstr(text, "lower triangular, couplings by the operator") && strstr(text, "factor 0.5") &&
            strstr(text, "Jacobi"),
        "%s", text);
  CHECK_OK(RitzPreconditionerGetBytes(pc, &num_bytes));
  CHECK(num_bytes == 4 * s.n * (int64_t)sizeof(CeedScalar), "three vectors and the diagonal: %d",
        (int)num_bytes);
  RitzPreconditionerDestroy(&pc);
  destroy_blocks(&s);
  CeedDestroy(&ceed);
}

TEST(blocks_refuse_what_does_not_fit) {
  Ceed ceed = tap_ceed("/cpu/self/ref"), other = tap_ceed("/cpu/self/ref");
  RitzPreconditioner pc = NULL;
  RitzBlock bad[2];
  Blocks s, elsewhere;

  make_blocks(ceed, &s);
  make_blocks(other, &elsewhere);
  memcpy(bad, s.blocks, sizeof(bad));
  CHECK_ERROR(ceed, RitzPreconditionerCreateBlocks(ceed, 0, s.blocks, NULL, &pc), CEED_ERROR_DIMENSION,
              "0 blocks");
  bad[1].factor = NAN;
  CHECK_ERROR(ceed, RitzPreconditionerCreateBlocks(ceed, 2, bad, NULL, &pc), CEED_ERROR_INCOMPATIBLE,
              "factor of block 1 is nan");
  bad[1].inverse = NULL;
  CHECK_ERROR(ceed, RitzPreconditionerCreateBlocks(ceed, 2, bad, NULL, &pc), CEED_ERROR_INCOMPATIBLE,
              "inverse of block 1 is NULL");
  RitzBlocksOptions options = {.kind = (RitzBlocksKind)7};
  CHECK_ERROR(ceed, RitzPreconditionerCreateBlocks(ceed, 2, s.blocks, &options, &pc), CEED_ERROR_INCOMPATIBLE,
              "7 is no kind");
  options.kind = RITZ_BLOCKS_UPPER;
  CHECK_ERROR(ceed, RitzPreconditionerCreateBlocks(ceed, 2, s.blocks, &options, &pc), CEED_ERROR_INCOMPLETE,
              "need the operator or couplings");
  options.kind = RITZ_BLOCKS_SYMMETRIC;
  CHECK_ERROR(ceed, RitzPreconditionerCreateBlocks(ceed, 2, s.blocks, &options, &pc), CEED_ERROR_INCOMPLETE,
              "symmetric sweeps need the operator");
  options.op = elsewhere.op;
  CHECK_ERROR(ceed, RitzPreconditionerCreateBlocks(ceed, 2, s.blocks, &options, &pc), CEED_ERROR_INCOMPATIBLE,
              "the operator belongs to another context");
  options.op = s.b;
  CHECK_ERROR(ceed, RitzPreconditionerCreateBlocks(ceed, 2, s.blocks, &options, &pc), CEED_ERROR_DIMENSION,
              "the operator takes");
  RitzBlockCoupling coupling = {0, 1, s.b};
  options = (RitzBlocksOptions){.kind = RITZ_BLOCKS_UPPER, .num_couplings = 1, .couplings = &coupling};
  CHECK_ERROR(ceed, RitzPreconditionerCreateBlocks(ceed, 2, s.blocks, &options, &pc), CEED_ERROR_DIMENSION,
              "the coupling takes");
  coupling.column = 2;
  CHECK_ERROR(ceed, RitzPreconditionerCreateBlocks(ceed, 2, s.blocks, &options, &pc), CEED_ERROR_DIMENSION,
              "no coupling of block 2 to 0");
  options.couplings = NULL;
  CHECK_ERROR(ceed, RitzPreconditionerCreateBlocks(ceed, 2, s.blocks, &options, &pc), CEED_ERROR_DIMENSION,
              "1 couplings and no array");
  CHECK(pc == NULL, "nothing is made");
  // Conjugate gradients take no triangular kind.
  options = (RitzBlocksOptions){.kind = RITZ_BLOCKS_LOWER, .op = s.op};
  RitzSolver solver = NULL;
  CHECK_OK(RitzPreconditionerCreateBlocks(ceed, 2, s.blocks, &options, &pc));
  CHECK_OK(RitzSolverCreateCG(ceed, &solver));
  CHECK_OK(RitzSolverSetOperator(solver, s.op));
  CHECK_OK(RitzSolverSetPreconditioner(solver, pc));
  CHECK_ERROR(ceed, RitzSolverSolve(solver, s.r, s.z), CEED_ERROR_INCOMPATIBLE, "RITZ_BLOCKS_DIAGONAL");
  RitzSolverDestroy(&solver);
  RitzPreconditionerDestroy(&pc);
  destroy_blocks(&s);
  destroy_blocks(&elsewhere);
  CeedDestroy(&ceed);
  CeedDestroy(&other);
}

TEST(blocks_leave_nothing_behind_whatever_allocation_fails) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzPreconditioner pc = NULL;
  int64_t n = 0, before = 0;
  int ierr = CEED_ERROR_MAJOR;
  Blocks s;

  make_blocks(ceed, &s);
  const RitzBlockCoupling coupling = {1, 0, s.b};
  const RitzBlocksOptions options = {.kind = RITZ_BLOCKS_LOWER, .num_couplings = 1, .couplings = &coupling};
  before = ritz_memory_live();
  while (ierr) {
    ritz_memory_fail_at(++n);
    ierr = RitzPreconditionerCreateBlocks(ceed, 2, s.blocks, &options, &pc);
    ritz_memory_fail_at(0);
    tap_forget_error(ceed);
    CHECK(!ierr || (!pc && ritz_memory_live() == before), "failing at allocation %d leaves %d", (int)n,
          (int)(ritz_memory_live() - before));
  }
  CHECK(n > 5, "the test has seen %d failures", (int)n - 1);
  RitzPreconditionerDestroy(&pc);
  destroy_blocks(&s);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(blocks_equal_the_same_by_hand, symmetric_sweeps_are_symmetric_and_take_fewer_iterations,
            blocks_are_functions_of_the_program_and_any_preconditioner,
            blocks_of_other_precisions_convert_on_their_own, views_of_blocks_tell_what_serves_each,
            blocks_refuse_what_does_not_fit, blocks_leave_nothing_behind_whatever_allocation_fails));
}
