// SPDX-License-Identifier: BSD-2-Clause
// Point blocks of operators of /cpu/self/gen: generated kernels against the reference backend and against
// applies to unit vectors, the nodes that they can have, what is left to loops. That blocks
// are those of the matrices is tested for all backends in tests/test-assembly.c.
#include "tests/diagonal-kit.h"

#include "base/memory.h"
#include "tests/cold-cache.h"
#include "tests/precision-fields.h"
#include <float.h>

static const char ref[] = "/cpu/self/ref", gen[] = "/cpu/self/gen";

// ---- Random operators ----

// Used once, and nothing in the cache.
static bool is_once = false;

static void check_case(const Case *c, int threads, uint64_t seed) {
  check_random(c, true, is_once, threads, seed);
}

TEST(random_tensor_operators_have_the_blocks_of_the_reference_backend) {
  static const int num[] = {3, 40, 600};

  for (int i = 0; i < num[tap_level()] && !tap_failed(); i++) {
    uint64_t seed = 500 + (uint64_t)i;
    const Case c = draw_block_case(&seed);
    check_case(&c, 1 + i % 3, seed);
  }
}

TEST(what_is_used_once_has_the_blocks_of_the_reference_backend_without_a_compilation) {
  static const int num[] = {60, 400, 4000};
  ColdCache cache;

  cold_begin(&cache);
  is_once = true;
  for (int i = 0; i < num[tap_level()] && !tap_failed(); i++) {
    uint64_t seed = 600000 + (uint64_t)i;
    const Case c = draw_block_case(&seed);
    check_case(&c, 1 + i % 3, seed);
  }
  is_once = false;
  const int compiled = cold_end(&cache);
  CHECK(compiled == 0, "%d compiled", compiled);
}

// Two components on a box of 2D elements, gradients and values in and out.
static const Case coupled = {.dim = 2,
                             .P = 3,
                             .Q = 4,
                             .num_comp = 2,
                             .num_elem = 9,
                             .n = 3,
                             .vec_length = 1,
                             .num_in = 2,
                             .num_out = 2,
                             .in = {CEED_EVAL_GRAD, CEED_EVAL_INTERP},
                             .out = {CEED_EVAL_INTERP, CEED_EVAL_GRAD},
                             .has_passive = true};

// Rows of three points.
TEST(a_point_function_with_a_vector_length_has_a_kernel) {
  Case c = coupled;

  c.Q = c.vec_length = 3;
  check_case(&c, 1, 7);
}

// ---- Entries of the matrix ----

static int read_entries(CeedVector v, CeedInt nc, const CeedInt *at, double *values) {
  const CeedScalar *array;

  CeedCall(CeedVectorGetArrayRead(v, CEED_MEM_HOST, &array));
  for (CeedInt c = 0; c < nc; c++) values[c] = array[at[c]];
  return CeedVectorRestoreArrayRead(v, &array);
}

// The block of the node with the first entry `offset`, components `stride` apart, by applies.
static int apply_to_node(Problem *p, CeedInt offset, CeedInt stride, double *block) {
  const CeedInt nc = p->c->num_comp;
  CeedInt at[6];
  double column[6];
  CeedVector u = NULL, v = NULL;

  for (CeedInt c = 0; c < nc; c++) at[c] = offset + c * stride;
  CeedCall(CeedElemRestrictionCreateVector(p->rstr, &u, NULL));
  CeedCall(CeedElemRestrictionCreateVector(p->rstr, &v, NULL));
  for (CeedInt i = 0; i < nc; i++) {
    CeedScalar *array;
    CeedCall(CeedVectorSetValue(u, 0));
    CeedCall(CeedVectorGetArray(u, CEED_MEM_HOST, &array));
    array[at[i]] = 1;
    CeedCall(CeedVectorRestoreArray(u, &array));
    CeedCall(CeedOperatorApply(p->op, u, v, CEED_REQUEST_IMMEDIATE));
    CeedCall(read_entries(v, nc, at, column));
    for (CeedInt c = 0; c < nc; c++) block[c * nc + i] = column[c];
  }
  CeedCall(CeedVectorDestroy(&u));
  return CeedVectorDestroy(&v);
}

static void check_by_applies(const Case *c, uint64_t seed) {
  const CeedInt nc = c->num_comp, size = nc * nc;
  Problem p;

  CHECK_OK(open_problem(gen, c, seed, &p));
  double *blocks = new_blocks(&p, false), wanted[36];
  CeedInt stride = 0;
  CHECK(blocks && is_fused_of(p.op, of_blocks), "one kernel");
  CHECK_OK(CeedElemRestrictionGetCompStride(p.rstr, &stride));
  const CeedInt num_nodes = (CeedInt)vector_length(p.diagonal) / nc;
  const double allowed = tolerance(c, num_nodes * size, blocks);
  for (CeedInt n = 0; n < num_nodes && !tap_failed(); n++) {
    CHECK_OK(apply_to_node(&p, stride == 1 ? n * nc : n, stride, wanted));
    CHECK_NEAR(reference_distance(size, blocks + n * size, wanted), 0, allowed, "node %d", (int)n);
  }
  free(blocks);
  close_problem(&p);
}

// No element has a node twice: there the matrix has more than the blocks of the element.
TEST(columns_of_blocks_are_applies_to_unit_vectors) {
  const Case cube = {.dim = 3,
                     .P = 2,
                     .Q = 2,
                     .num_comp = 3,
                     .num_elem = 8,
                     .n = 2,
                     .vec_length = 1,
                     .num_in = 1,
                     .num_out = 1,
                     .in = {CEED_EVAL_GRAD},
                     .out = {CEED_EVAL_GRAD},
                     .has_passive = true};

  check_by_applies(&coupled, 11);
  if (!tap_failed()) check_by_applies(&cube, 12);
}

TEST(blocks_of_one_component_are_the_diagonal) {
  Problem p;

  CHECK_OK(open_problem(gen, &plain, 9, &p));
  double *blocks = new_blocks(&p, false), *diagonal = new_diagonal(&p, false);
  const CeedSize n = vector_length(p.diagonal);
  const bool is_same = blocks && diagonal && !memcmp(blocks, diagonal, (size_t)n * sizeof(double));
  char *line = new_explanation(p.op, of_blocks);
  const bool has_line = line[0];

  free(blocks);
  free(diagonal);
  free(line);
  close_problem(&p);
  CHECK(is_same, "a bit differs");
  CHECK(!has_line, "there is a kernel for each");
}

TEST(blocks_of_a_composite_are_sums) {
  CeedOperator composite = NULL;
  Problem p;

  CHECK_OK(open_problem(gen, &coupled, 9, &p));
  const CeedOperator part = p.op;
  CHECK_OK(CeedOperatorCreateComposite(p.ceed, &composite));
  CHECK_OK(CeedOperatorCompositeAddSub(composite, part));
  CHECK_OK(CeedOperatorCompositeAddSub(composite, part));
  double *one = new_blocks(&p, false);
  p.op = composite;
  double *two = new_blocks(&p, false);
  p.op = part;
  const CeedSize n = vector_length(p.diagonal) * coupled.num_comp;
  for (CeedSize i = 0; i < n; i++) one[i] *= 2;
  const double error = reference_distance(n, one, two), allowed = tolerance(&coupled, n, one);
  free(one);
  free(two);
  CeedOperatorDestroy(&composite);
  close_problem(&p);
  CHECK_NEAR(error, 0, allowed, "twice the same");
}

TEST(with_a_fixed_order_threads_change_no_bit) {
  static const char *const resources[] = {"/cpu/self/gen:deterministic:threads=1",
                                          "/cpu/self/gen:deterministic:threads=2",
                                          "/cpu/self/gen:deterministic:threads=3"};
  double *values[3] = {NULL};
  bool is_same = true;

  for (int i = 0; i < 3; i++) {
    Problem p;
    if (!open_problem(resources[i], &coupled, 9, &p)) values[i] = new_blocks(&p, false);
    const size_t n = (size_t)vector_length(p.diagonal) * (size_t)coupled.num_comp;
    close_problem(&p);
    is_same = is_same && values[0] && values[i] && !memcmp(values[0], values[i], n * sizeof(double));
  }
  for (int i = 0; i < 3; i++) free(values[i]);
  CHECK(is_same, "a bit differs");
}

TEST(kernels_of_blocks_are_made_ahead) {
  const int wanted = RITZ_PREPARE_APPLY | RITZ_PREPARE_POINT_BLOCKS;
  Problem p;

  CHECK_OK(open_problem(gen, &coupled, 9, &p));
  const bool is_late = explains_of(p.op, of_blocks, "not compiled yet");
  CHECK_OK(RitzOperatorsPrepare(1, &p.op, &wanted, false));
  const bool is_there = is_fused_of(p.op, of_blocks);
  const bool has_diagonal = !explains(p.op, "not compiled yet");
  close_problem(&p);
  CHECK(is_late && is_there, "%s", is_late ? "not made" : "made before");
  CHECK(!has_diagonal, "nobody asked for the diagonal");
}

// ---- Precisions ----

static int read_entries_of(CeedVector vec, double *values) {
  CeedVector doubles = NULL;
  CeedCall(precision_copy(vec, CEED_SCALAR_FP64, &doubles));
  reference_values(doubles, values);
  return CeedVectorDestroy(&doubles);
}

// Blocks of this precision by arithmetic of that one; double where the reference backend does it.
static int assemble_in(const char *resource, CeedScalarType arithmetic, CeedScalarType entries,
                       double *values) {
  Problem p;
  CeedVector blocks = NULL;
  int ierr = open_problem(resource, &coupled, 9, &p);

  p.ceed->is_strict = true;
  if (!ierr) ierr = RitzOperatorSetPrecision(p.op, arithmetic);
  if (!ierr) ierr = RitzVectorCreate(p.ceed, coupled.num_comp * vector_length(p.diagonal), entries, &blocks);
  if (!ierr) ierr = CeedOperatorLinearAssemblePointBlockDiagonal(p.op, blocks, CEED_REQUEST_IMMEDIATE);
  if (!ierr) ierr = read_entries_of(blocks, values);
  CeedVectorDestroy(&blocks);
  close_problem(&p);
  return ierr;
}

TEST(blocks_have_kernels_in_both_precisions) {
  enum { SIZE = 49 * 2 * 2 };
  double wanted[SIZE], values[SIZE];

  if (sizeof(CeedScalar) != sizeof(double)) SKIP("a library of float has one precision");
  CHECK_OK(assemble_in(ref, CEED_SCALAR_FP64, CEED_SCALAR_FP64, wanted));
  const double allowed = FLT_EPSILON / eps * tolerance(&coupled, SIZE, wanted);
  for (int i = 1; i < 4 && !tap_failed(); i += tap_level() == TAP_QUICK ? 2 : 1) {
    CHECK_OK(assemble_in(gen, i % 2 ? CEED_SCALAR_FP32 : CEED_SCALAR_FP64,
                         i / 2 ? CEED_SCALAR_FP32 : CEED_SCALAR_FP64, values));
    const double error = reference_distance(SIZE, values, wanted);
    CHECK_NEAR(error, 0, allowed, "combination %d", i);
    CHECK(error > 0, "combination %d is in double", i);
  }
}

// ---- Nodes ----

// Nodes of the box with entries as given: node n has its component c at first + n * step + c * stride.
static int move_nodes(Problem *p, CeedInt first, CeedInt step, CeedInt stride, CeedSize length) {
  const Case *c = p->c;
  const CeedInt P = CeedIntPow(c->P, c->dim), num = c->num_elem * P;
  CeedInt *offsets = malloc((size_t)num * sizeof(*offsets));
  CeedElemRestriction old = p->rstr;
  const CeedInt *from;
  CeedInt old_stride;

  CeedCall(CeedElemRestrictionGetCompStride(old, &old_stride));
  CeedCall(CeedElemRestrictionGetOffsets(old, CEED_MEM_HOST, &from));
  for (CeedInt i = 0; i < num; i++)
    offsets[i] = first + (old_stride == 1 ? from[i] / c->num_comp : from[i]) * step;
  CeedCall(CeedElemRestrictionRestoreOffsets(old, &from));
  CeedCall(CeedElemRestrictionCreate(p->ceed, c->num_elem, P, c->num_comp, stride, length, CEED_MEM_HOST,
                                     CEED_COPY_VALUES, offsets, &p->rstr));
  free(offsets);
  CeedCall(CeedElemRestrictionDestroy(&old));
  CeedCall(CeedVectorDestroy(&p->diagonal));
  CeedCall(CeedVectorCreate(p->ceed, length, &p->diagonal));
  if (p->passive_out) {
    CeedCall(CeedVectorDestroy(&p->passive_out));
    CeedCall(CeedVectorCreate(p->ceed, length, &p->passive_out));
    CeedCall(CeedVectorSetValue(p->passive_out, 0));
  }
  return remake(p);
}

static void check_moved(CeedInt first, CeedInt step, CeedInt stride, CeedSize length) {
  Problem p, oracle;

  CHECK_OK(open_problem(gen, &coupled, 21, &p));
  CHECK_OK(open_problem(ref, &coupled, 21, &oracle));
  CHECK_OK(move_nodes(&p, first, step, stride, length));
  CHECK_OK(move_nodes(&oracle, first, step, stride, length));
  check_same_blocks(&p, &oracle, true);
  const bool is_fused = is_fused_of(p.op, of_blocks);
  close_problem(&p);
  close_problem(&oracle);
  CHECK(is_fused, "one kernel");
}

// 49 nodes, two components.
TEST(nodes_may_begin_anywhere_and_leave_gaps) {
  check_moved(5, 4, 1, 210);                          // interlaced, every other node, the third one first
  if (!tap_failed()) check_moved(0, 1, 49 + 11, 200); // one component after the other, with gaps
  if (tap_level() == TAP_QUICK) return;
  if (!tap_failed()) check_moved(1, 2, 1, 100);
  if (!tap_failed()) check_moved(3, 1, 60, 120);
}

static int interleave(Problem *p) { return move_nodes(p, 0, 4, 2, 49 * 4 * 2); }

// ---- What loops and the ahead-of-time kernel do ----

static void check_served(const Case *c, int (*change)(Problem *p), const char *who, const char *reason) {
  Problem p, oracle;
  int ierr = open_problem(gen, c, 31, &p), code = open_problem(ref, c, 31, &oracle);

  if (!ierr) ierr = change(&p);
  if (!code) code = change(&oracle);
  if (!ierr && !code) check_same_blocks(&p, &oracle, false);
  const bool is_said = !ierr && explains_of(p.op, of_blocks, who) && explains_of(p.op, of_blocks, reason);
  close_problem(&p);
  close_problem(&oracle);
  CHECK_OK(ierr);
  CHECK_OK(code);
  CHECK(is_said, "wanted: %s", reason);
}

static void check_by_loops(const Case *c, int (*change)(Problem *p), const char *reason) {
  setenv("RITZ_STRICT", "1", 1); // no step down that would be told
  check_served(c, change, "loops ahead of time: ", reason);
  unsetenv("RITZ_STRICT");
}

// Two nodes lie in four entries: component 1 of the first follows component 0 of both.
TEST(nodes_between_components_of_others_are_left_to_loops) {
  check_by_loops(&coupled, interleave, "components of some nodes lie between those of others");
}

TEST(an_assembled_qfunction_that_is_reused_is_read_by_loops) {
  check_by_loops(&coupled, reuse, "the assembled QFunction is reused");
}

// Any matrices, for two components.
static int use_dense_vector_basis(Problem *p) {
  CeedScalar table[2 * 16 * 9];

  for (int i = 0; i < 2 * 16 * 9; i++) table[i] = (CeedScalar)(i % 5 - 2) / 3;
  CeedCall(CeedBasisDestroy(&p->basis));
  CeedCall(CeedBasisCreateH1(p->ceed, CEED_TOPOLOGY_QUAD, 2, 9, 16, table, table, table, table, &p->basis));
  return remake(p);
}

TEST(blocks_of_dense_bases_are_walked_through) {
  Case c = coupled;

  c.has_passive = false;
  check_served(&c, use_dense_vector_basis, "the ahead-of-time kernel for each column, ", "no tensor product");
}

// ---- Failures ----

// Every allocation of the first blocks fails once; the call after it succeeds.
TEST(blocks_say_so_when_memory_is_short) {
  Case c = plain;
  int64_t n = 1;
  bool is_done = false;

  c.num_comp = 2;
  for (; !is_done && n < 1000 && !tap_failed(); n++) {
    CeedVector blocks = NULL;
    Problem p;

    CHECK_OK(open_problem(gen, &c, 9, &p));
    CHECK_OK(CeedVectorCreate(p.ceed, 2 * vector_length(p.diagonal), &blocks));
    CHECK_OK(CeedVectorSetValue(blocks, 0));
    ritz_memory_fail_at(n);
    const int ierr = CeedOperatorLinearAssembleAddPointBlockDiagonal(p.op, blocks, CEED_REQUEST_IMMEDIATE);
    ritz_memory_fail_at(0);
    is_done = !ierr;
    CHECK(!ierr || ierr == CEED_ERROR_MAJOR, "allocation %d: code %d", (int)n, ierr);
    CHECK_OK(CeedOperatorLinearAssemblePointBlockDiagonal(p.op, blocks, CEED_REQUEST_IMMEDIATE));
    CHECK(is_fused_of(p.op, of_blocks), "after allocation %d", (int)n);
    CeedVectorDestroy(&blocks);
    close_problem(&p);
  }
  CHECK(n > 10, "only %d allocations", (int)n);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(random_tensor_operators_have_the_blocks_of_the_reference_backend,
                        what_is_used_once_has_the_blocks_of_the_reference_backend_without_a_compilation,
                        a_point_function_with_a_vector_length_has_a_kernel,
                        columns_of_blocks_are_applies_to_unit_vectors,
                        blocks_of_one_component_are_the_diagonal, blocks_of_a_composite_are_sums,
                        with_a_fixed_order_threads_change_no_bit, kernels_of_blocks_are_made_ahead,
                        blocks_have_kernels_in_both_precisions, nodes_may_begin_anywhere_and_leave_gaps,
                        nodes_between_components_of_others_are_left_to_loops,
                        an_assembled_qfunction_that_is_reused_is_read_by_loops,
                        blocks_of_dense_bases_are_walked_through, blocks_say_so_when_memory_is_short));
}
