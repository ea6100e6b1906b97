// SPDX-License-Identifier: BSD-2-Clause
// Vectors over one memory of the program (CEED_USE_POINTER): as input and output they are refused like one
// vector given twice, wherever their ranges overlap; where nothing that they share is written they are free.
#include <ritz/operator.h>
#include <ritz/preconditioner.h>
#include <ritz/solver.h>
#include <ritz/vector.h>

#include "tests/small-operator.h"

enum { ENTRIES = 12 };

// Vectors of n entries over one array of 1 .. 12: a at its beginning, b from entry `shift` on.
typedef struct {
  CeedScalar array[ENTRIES];
  CeedVector a, b;
} Shared;

static void open_shared(Ceed ceed, CeedSize n, int shift, Shared *s) {
  for (int i = 0; i < ENTRIES; i++) s->array[i] = i + 1;
  s->a = vector_of(ceed, n, NULL);
  s->b = vector_of(ceed, n, NULL);
  CHECK_OK(CeedVectorSetArray(s->a, CEED_MEM_HOST, CEED_USE_POINTER, s->array));
  CHECK_OK(CeedVectorSetArray(s->b, CEED_MEM_HOST, CEED_USE_POINTER, s->array + shift));
}

static void close_shared(Shared *s) {
  CHECK_OK(CeedVectorDestroy(&s->a));
  CHECK_OK(CeedVectorDestroy(&s->b));
}

#define OPEN_SHARED(ceed, n, shift, s)                                                                       \
  do {                                                                                                       \
    open_shared((ceed), (n), (shift), (s));                                                                  \
    if (tap_failed()) return;                                                                                \
  } while (0)

#define REFUSED(call, code) CHECK_ERROR(ceed, call, code, "same memory")

static const CeedEvalMode interp = CEED_EVAL_INTERP;

TEST_EACH_BACKEND(an_operator_needs_memory_of_its_own_for_what_it_writes) {
  for (int shift = 0; shift <= 2; shift++) { // by 2 the last entry of one is the first of the other
    Twice t;
    Shared s;
    OPEN_TWICE(ceed, &t);
    OPEN_SHARED(ceed, SMALL_NODES, shift, &s);
    REFUSED(CeedOperatorApply(t.op, s.a, s.b, CEED_REQUEST_IMMEDIATE), CEED_ERROR_INCOMPATIBLE);
    REFUSED(CeedOperatorApply(t.op, s.b, s.a, CEED_REQUEST_IMMEDIATE), CEED_ERROR_INCOMPATIBLE);
    REFUSED(CeedOperatorApplyAdd(t.op, s.a, s.b, CEED_REQUEST_IMMEDIATE), CEED_ERROR_INCOMPATIBLE);
    REFUSED(CeedOperatorApplyAddActive(t.op, s.a, s.b, CEED_REQUEST_IMMEDIATE), CEED_ERROR_INCOMPATIBLE);
    REFUSED(RitzOperatorApplyMany(t.small.op, 2, (CeedVector[]){t.small.u, s.a}, (CeedVector[]){s.b, t.v}),
            CEED_ERROR_INCOMPATIBLE);
    REFUSED(RitzOperatorApplyMany(t.small.op, 2, (CeedVector[]){t.small.u, t.small.u},
                                  (CeedVector[]){s.a, s.b}),
            CEED_ERROR_INCOMPATIBLE);
    CHECK_HOLDS(s.a, 1, 2, 3);
    CHECK_OK(CeedOperatorApply(t.op, s.a, t.v, CEED_REQUEST_IMMEDIATE)); // nobody holds anything
    CHECK_HOLDS(t.v, 2, 8, 6);
    close_shared(&s);
    close_twice(&t);
  }
}

TEST_EACH_BACKEND(so_do_passive_fields_against_one_another_and_the_active_ones) {
  Small small;
  Shared s;
  SMALL_OPEN(ceed, &small);
  OPEN_SHARED(ceed, SMALL_POINTS, 1, &s);
  // u, v, s of which two share memory; NULL stands for the active vector.
  const CeedVector fields[][3] = {{s.a, s.b, small.qd}, {s.a, NULL, s.b}, {NULL, s.a, s.b}};
  CeedVector v = vector_of(ceed, SMALL_NODES, small_u);
  for (int i = 0; i < 3; i++) {
    CeedVector field[3];
    for (int k = 0; k < 3; k++) field[k] = fields[i][k] ? fields[i][k] : CEED_VECTOR_ACTIVE;
    CeedOperator op = twice_operator(ceed, &small, field[0], field[1], field[2]), composite = NULL;
    CeedVector in = fields[i][0] ? CEED_VECTOR_NONE : small.u, out = fields[i][1] ? CEED_VECTOR_NONE : v;
    CHECK(op, "no operator");
    CHECK_OK(CeedOperatorCreateComposite(ceed, &composite));
    CHECK_OK(CeedOperatorCompositeAddSub(composite, op));
    REFUSED(CeedOperatorApply(op, in, out, CEED_REQUEST_IMMEDIATE), CEED_ERROR_INCOMPATIBLE);
    REFUSED(CeedOperatorApplyAdd(op, in, out, CEED_REQUEST_IMMEDIATE), CEED_ERROR_INCOMPATIBLE);
    REFUSED(CeedOperatorApply(composite, in, out, CEED_REQUEST_IMMEDIATE), CEED_ERROR_INCOMPATIBLE);
    CHECK_OK(CeedOperatorDestroy(&composite));
    CHECK_OK(CeedOperatorDestroy(&op));
  }
  CeedOperator op = twice_operator(ceed, &small, CEED_VECTOR_ACTIVE, CEED_VECTOR_ACTIVE, s.b);
  REFUSED(CeedOperatorApply(op, s.a, v, CEED_REQUEST_IMMEDIATE), CEED_ERROR_INCOMPATIBLE);
  REFUSED(CeedOperatorApply(op, small.u, s.a, CEED_REQUEST_IMMEDIATE), CEED_ERROR_INCOMPATIBLE);
  CHECK_HOLDS(s.b, 2, 3, 4, 5);
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedVectorDestroy(&v));
  close_shared(&s);
  small_close(&small);
}

TEST_EACH_BACKEND(inputs_may_share_memory_and_neighbours_in_an_array_share_nothing) {
  Small small;
  Shared s;
  SMALL_OPEN(ceed, &small);
  OPEN_SHARED(ceed, SMALL_NODES, SMALL_NODES, &s);
  CHECK_OK(CeedOperatorApply(small.op, s.a, s.b, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(s.a, 1, 2, 3);
  CHECK_HOLDS(s.b, 1, 14, 24); // qd = {1, 2, 3, 4} times weights {1, 2, 1, 2}
  close_shared(&s);
  OPEN_SHARED(ceed, SMALL_POINTS, 0, &s);
  CHECK_OK(CeedVectorCopy(s.a, small.qd));
  CeedOperator op = NULL;
  CHECK_OK(CeedOperatorCreate(ceed, small.qf, NULL, NULL, &op));
  CHECK_OK(CeedOperatorSetField(op, "u", small.rstr_u, small.basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(op, "qd", small.rstr_q, CEED_BASIS_NONE, s.b));
  CHECK_OK(CeedOperatorSetField(op, "w", CEED_ELEMRESTRICTION_NONE, small.basis, CEED_VECTOR_NONE));
  CHECK_OK(CeedOperatorSetField(op, "v", small.rstr_u, small.basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorApply(op, s.a, small.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(small.v, 1, 14, 24);
  REFUSED(CeedOperatorApply(op, small.u, s.a, CEED_REQUEST_IMMEDIATE), CEED_ERROR_INCOMPATIBLE);
  CHECK_OK(CeedOperatorDestroy(&op));
  close_shared(&s);
  small_close(&small);
}

TEST_EACH_BACKEND(assembly_leaves_the_memory_that_an_operator_reads) {
  Small small;
  Shared s;
  SMALL_OPEN(ceed, &small);
  OPEN_SHARED(ceed, SMALL_POINTS, 2, &s);
  CeedOperator op = NULL;
  CHECK_OK(CeedOperatorCreate(ceed, small.qf, NULL, NULL, &op));
  CHECK_OK(CeedOperatorSetField(op, "u", small.rstr_u, small.basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(op, "qd", small.rstr_q, CEED_BASIS_NONE, s.a));
  CHECK_OK(CeedOperatorSetField(op, "w", CEED_ELEMRESTRICTION_NONE, small.basis, CEED_VECTOR_NONE));
  CHECK_OK(CeedOperatorSetField(op, "v", small.rstr_u, small.basis, CEED_VECTOR_ACTIVE));
  REFUSED(CeedOperatorLinearAssembleDiagonal(op, s.b, CEED_REQUEST_IMMEDIATE), CEED_ERROR_INCOMPATIBLE);
  REFUSED(CeedOperatorLinearAssembleAddDiagonal(op, s.b, CEED_REQUEST_IMMEDIATE), CEED_ERROR_INCOMPATIBLE);
  CHECK_ERROR(ceed, CeedOperatorLinearAssembleDiagonal(op, s.a, CEED_REQUEST_IMMEDIATE),
              CEED_ERROR_INCOMPATIBLE, "same vector");
  CHECK_HOLDS(s.a, 1, 2, 3, 4);
  CHECK_OK(CeedOperatorLinearAssembleDiagonal(op, small.v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(small.v, 1, 2 * 2 + 3, 4 * 2);
  CHECK_OK(CeedOperatorDestroy(&op));
  close_shared(&s);
  small_close(&small);
}

TEST_EACH_BACKEND(bases_and_restrictions_need_memory_of_their_own_for_what_they_write) {
  Small small;
  Shared s;
  const CeedInt num_points[] = {2};
  SMALL_OPEN(ceed, &small);
  CeedVector x = vector_of(ceed, 2, (CeedScalar[]){0, 0.5});
  OPEN_SHARED(ceed, SMALL_POINTS, 1, &s);
  for (int t = 0; t < 2; t++) {
    const CeedTransposeMode mode = t ? CEED_TRANSPOSE : CEED_NOTRANSPOSE;
    REFUSED(CeedElemRestrictionApply(small.rstr_u, mode, s.a, s.b, CEED_REQUEST_IMMEDIATE),
            CEED_ERROR_INCOMPATIBLE);
    REFUSED(CeedBasisApply(small.basis, 1, mode, interp, s.a, s.b), CEED_ERROR_INCOMPATIBLE);
    REFUSED(CeedBasisApplyAtPoints(small.basis, 1, num_points, mode, interp, x, s.a, s.b),
            CEED_ERROR_INCOMPATIBLE);
    REFUSED(CeedBasisApplyAtPoints(small.basis, 1, num_points, mode, interp, s.a, small.qd, s.b),
            CEED_ERROR_INCOMPATIBLE);
  }
  REFUSED(CeedBasisApplyAdd(small.basis, 1, CEED_TRANSPOSE, interp, s.a, s.b), CEED_ERROR_INCOMPATIBLE);
  CHECK_HOLDS(s.a, 1, 2, 3, 4);
  CHECK_OK(CeedVectorDestroy(&x));
  close_shared(&s);
  small_close(&small);
}

TEST_EACH_BACKEND(algebra_of_vectors_over_one_memory_is_refused_like_that_of_one_vector) {
  Shared s;
  RitzIndices first = NULL;
  const int64_t entry = 0;
  for (int shift = 0; shift <= 1; shift++) {
    OPEN_SHARED(ceed, 4, shift, &s);
    CHECK_OK(RitzIndicesCreate(ceed, 1, &entry, &first));
    REFUSED(CeedVectorAXPY(s.b, 2, s.a), CEED_ERROR_UNSUPPORTED);
    REFUSED(CeedVectorAXPBY(s.b, 2, 3, s.a), CEED_ERROR_UNSUPPORTED);
    REFUSED(RitzVectorCopyRange(s.a, 0, 1, s.b, 2), CEED_ERROR_INCOMPATIBLE);
    REFUSED(RitzVectorCopyEntries(s.a, first, s.b), CEED_ERROR_INCOMPATIBLE);
    CHECK_ERROR(ceed, RitzVectorSum(s.b, 2, s.a, 0, s.a), CEED_ERROR_INCOMPATIBLE, "memory of");
    CHECK_HOLDS(s.a, 1, 2, 3, 4);
    CHECK_OK(RitzIndicesDestroy(&first));
    close_shared(&s);
  }
}

// Factors may share memory, and a copy onto itself changes nothing.
TEST_EACH_BACKEND(products_and_copies_entry_by_entry_refuse_what_would_overwrite_their_input) {
  Shared s;
  CeedVector y = vector_of(ceed, 4, (CeedScalar[]){10, 10, 10, 10});
  OPEN_SHARED(ceed, 4, 1, &s);
  REFUSED(CeedVectorPointwiseMult(s.b, s.a, y), CEED_ERROR_UNSUPPORTED);
  REFUSED(CeedVectorPointwiseMult(s.b, y, s.a), CEED_ERROR_UNSUPPORTED);
  REFUSED(CeedVectorCopyStrided(s.a, 0, 4, 1, s.b), CEED_ERROR_UNSUPPORTED);
  CHECK_HOLDS(s.a, 1, 2, 3, 4);
  CHECK_OK(CeedVectorPointwiseMult(y, s.a, s.b)); // factors are read
  CHECK_HOLDS(y, 2, 6, 12, 20);
  close_shared(&s);
  OPEN_SHARED(ceed, 4, 0, &s);
  REFUSED(CeedVectorPointwiseMult(s.b, s.a, y), CEED_ERROR_UNSUPPORTED);
  REFUSED(CeedVectorPointwiseMult(s.b, s.b, s.a), CEED_ERROR_UNSUPPORTED);
  CHECK_OK(CeedVectorCopyStrided(s.a, 0, 4, 1, s.b));
  CHECK_HOLDS(s.b, 1, 2, 3, 4);
  close_shared(&s);
  CHECK_OK(CeedVectorDestroy(&y));
}

TEST_EACH_BACKEND(a_solver_and_a_preconditioner_find_shared_memory) {
  Small small;
  Shared s;
  RitzSolver solver = NULL;
  RitzPreconditioner pc = NULL;
  SMALL_OPEN(ceed, &small);
  OPEN_SHARED(ceed, SMALL_NODES, 1, &s);
  CHECK_OK(RitzSolverCreateCG(ceed, &solver));
  CHECK_OK(RitzSolverSetOperator(solver, small.op));
  REFUSED(RitzSolverSolve(solver, s.a, s.b), CEED_ERROR_INCOMPATIBLE);
  CHECK_OK(RitzPreconditionerCreateJacobi(ceed, small.u, NULL, &pc));
  REFUSED(RitzPreconditionerApply(pc, s.a, s.b), CEED_ERROR_INCOMPATIBLE);
  CHECK_OK(RitzPreconditionerDestroy(&pc));
  CHECK_OK(RitzSolverDestroy(&solver));
  close_shared(&s);
  small_close(&small);
}

// An array of device memory that a vector has lent, given to another one.
TEST_EACH_BACKEND(device_memory_is_found_too) {
  Small small;
  CeedScalar *array = NULL;
  if (!has_device_memory(ceed)) NOT_FOR_THIS_BACKEND("there is no such memory");
  SMALL_OPEN(ceed, &small);
  CeedVector other = vector_of(ceed, SMALL_NODES, NULL);
  CHECK_OK(CeedVectorGetArray(small.u, CEED_MEM_DEVICE, &array));
  CeedScalar *lent = array;
  CHECK_OK(CeedVectorSetArray(other, CEED_MEM_DEVICE, CEED_USE_POINTER, lent));
  CHECK_OK(CeedVectorRestoreArray(small.u, &array));
  const char *resource = "";
  CHECK_OK(CeedGetResource(ceed, &resource));
  if (!strstr(resource, "check")) // which lends copies
    REFUSED(CeedOperatorApply(small.op, small.u, other, CEED_REQUEST_IMMEDIATE), CEED_ERROR_INCOMPATIBLE);
  CeedVector third = vector_of(ceed, SMALL_NODES, NULL);
  CHECK_OK(CeedVectorSetArray(third, CEED_MEM_DEVICE, CEED_USE_POINTER, lent));
  REFUSED(CeedOperatorApply(small.op, other, third, CEED_REQUEST_IMMEDIATE), CEED_ERROR_INCOMPATIBLE);
  CHECK_OK(CeedVectorDestroy(&other));
  CHECK_OK(CeedVectorDestroy(&third));
  small_close(&small);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(an_operator_needs_memory_of_its_own_for_what_it_writes,
                        so_do_passive_fields_against_one_another_and_the_active_ones,
                        inputs_may_share_memory_and_neighbours_in_an_array_share_nothing,
                        assembly_leaves_the_memory_that_an_operator_reads,
                        bases_and_restrictions_need_memory_of_their_own_for_what_they_write,
                        algebra_of_vectors_over_one_memory_is_refused_like_that_of_one_vector,
                        products_and_copies_entry_by_entry_refuse_what_would_overwrite_their_input,
                        a_solver_and_a_preconditioner_find_shared_memory, device_memory_is_found_too));
}
