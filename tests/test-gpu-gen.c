// SPDX-License-Identifier: BSD-2-Clause
// Fused kernels of /gpu/*/gen: high orders and what is beyond them, blocks that are not full, results that
// repeat bit for bit, several contexts at once, changing contexts and vectors, what users are told. Random
// operators: test-gpu-random.c; the kernels of other backends: test-gpu.c.
#include <math.h>
#include <ritz/jit.h>
#include <ritz/operator.h>
#include <stddef.h>

#include "backends/gpu/context.h"
#include "base/threads.h"
#include "tests/gpu-kit.h"
#include "tests/gpu-scale.h"

static int by_level(int quick, int full, int exhaustive) {
  const int values[] = {quick, full, exhaustive};

  return values[tap_level()];
}

// ---- What users are told ----

enum { MAX_TEXT = 8192 };

// What RitzOperatorExplain says, cut to the size.
static int explain(CeedOperator op, char text[MAX_TEXT]) {
  FILE *stream = tmpfile();
  const int ierr = RitzOperatorExplain(op, stream);

  rewind(stream);
  text[fread(text, 1, MAX_TEXT - 1, stream)] = '\0';
  fclose(stream);
  return ierr;
}

static const char fused[] = "one generated kernel", not_fused[] = "not fused: ";

// The number behind some words of a text; -1: they are not there.
static int number_behind(const char *text, const char *words) {
  const char *at = strstr(text, words);
  return at ? atoi(at + strlen(words)) : -1;
}

TEST_EACH_GEN(an_explanation_names_the_path_the_shape_of_blocks_and_registers) {
  const ChainShape s = {.dim = 3, .num_elem = 5, .P_1d = 3, .Q_1d = 4, .is_diffusion = true};
  const char *source = NULL;
  char text[MAX_TEXT];
  Chain c;

  CHECK_OK(chain_create(ceed, &s, &c));
  CHECK_OK(explain(c.op, text));
  const int num_threads = number_behind(text, "blocks of "), num_elem = number_behind(text, " threads for ");
  const int registers = number_behind(text, "registers: ");
  tap_note("%s: %d threads for %d elements, %d registers", resource_of(ceed), num_threads, num_elem,
           registers);
  CHECK(strstr(text, fused) && !strstr(text, not_fused), "%s", text);
  CHECK(strstr(text, "basis 0: ") && strstr(text, "atomic additions"), "%s", text);
  CHECK(num_threads > 0 && num_elem > 0 && num_elem * 16 <= num_threads, "%s", text);
  CHECK(is_cuda(ceed) ? registers > 0 && registers < 256 : true, "%s", text);
  CHECK_OK(RitzOperatorGetSource(c.op, &source));
  CHECK(source && strstr(source, "ritz_operator(") && strstr(source, "Poisson3DApply"), "no source");
  chain_destroy(&c);
}

// Once what threads compile beside is there and counted.
static void count_texts(RitzJitCounters *counters) {
  ritz_tasks_wait();
  CHECK_OK(RitzJitGetCounters(counters));
}

TEST_EACH_GEN(an_operator_compiles_its_kernel_once_and_when_it_is_needed) {
  // Of no other test.
  const ChainShape s = {.dim = 2, .num_elem = 5, .P_1d = 3, .Q_1d = 6, .is_diffusion = true};
  RitzJitCounters start, created, applied, again;
  double *x = reference_new(chain_size(&s)), *y = reference_new(chain_size(&s));
  Chain c, other;

  count_texts(&start);
  CHECK_OK(chain_create(ceed, &s, &c));
  CHECK_OK(chain_create(ceed, &s, &other));
  count_texts(&created);
  CHECK_OK(apply_to_values(c.op, c.size, x, y));
  count_texts(&applied);
  CHECK_OK(apply_to_values(c.op, c.size, x, y));
  CHECK_OK(apply_to_values(other.op, c.size, x, y));
  count_texts(&again);
  const int64_t num_made =
      applied.compilations + applied.disk_hits - created.compilations - created.disk_hits;
  CHECK(created.compilations == start.compilations && created.disk_hits == start.disk_hits,
        "texts are compiled when operators are created");
  CHECK(num_made == 1, "%d texts for one operator", (int)num_made);
  CHECK(again.compilations == applied.compilations && again.disk_hits == applied.disk_hits,
        "texts are compiled twice");
  chain_destroy(&c);
  chain_destroy(&other);
  free(x);
  free(y);
}

TEST_EACH_GEN(a_function_that_does_not_compile_is_told_with_the_name_of_the_operator) {
  const char *path = tap_temp_text("wrong.h", "CEED_QFUNCTION(wrong)(void *ctx, const CeedInt Q,\n"
                                              "  const CeedScalar *const *in, CeedScalar *const *out) {\n"
                                              "  out[0][0] = undeclared * in[0][0];\n"
                                              "  return 0;\n}\n");
  const ChainShape s = {.dim = 1, .num_elem = 5, .P_1d = 3, .Q_1d = 3};
  double *x = reference_new(chain_size(&s)), *y = reference_new(chain_size(&s));
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  char source[2048];
  Chain c;

  snprintf(source, sizeof(source), "%s:wrong", path);
  CHECK_OK(chain_create(ceed, &s, &c));
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, NULL, source, &qf));
  CHECK_OK(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  CHECK_OK(CeedOperatorSetName(op, "stiffness of the left wing"));
  CHECK_OK(CeedOperatorSetField(op, "u", c.rstr, c.basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(op, "v", c.rstr, c.basis, CEED_VECTOR_ACTIVE));
  CHECK_ERROR(ceed, apply_to_values(op, c.size, x, y), CEED_ERROR_BACKEND, "stiffness of the left wing");
  CHECK_ERROR(ceed, apply_to_values(op, c.size, x, y), CEED_ERROR_BACKEND, "wrong.h");
  CHECK_OK(apply_to_values(c.op, c.size, x, y));
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&op);
  chain_destroy(&c);
  free(x);
  free(y);
}

// ---- Against the reference ----

// Checks an operator against the same one of the reference backend; *is_fused: as its explanation says.
static void compare_shape(Ceed ceed, Ceed reference, const ChainShape *s, char text[MAX_TEXT]) {
  const CeedSize size = chain_size(s);
  uint64_t seed = 12345;
  double *x = reference_new_random(size, &seed), *y = reference_new(size), *wanted = reference_new(size);
  Chain c;
  int ierr = chain_create(ceed, s, &c);

  if (!ierr) ierr = apply_to_values(c.op, size, x, y);
  if (!ierr) ierr = explain(c.op, text);
  if (!ierr) ierr = chain_apply(reference, s, x, wanted);
  const double error = reference_distance(size, y, wanted), tolerance = chain_tolerance(s, wanted);
  chain_destroy(&c);
  free(x);
  free(y);
  free(wanted);
  if (ierr || !(error <= tolerance))
    tap_note("%s, %d components in %dD, %d nodes and %d points, %d elements",
             s->is_diffusion ? "diffusion" : "mass", (int)chain_num_comp(s), (int)s->dim, (int)s->P_1d,
             (int)s->Q_1d, (int)s->num_elem);
  CHECK_OK(ierr);
  CHECK(error <= tolerance, "off by %g, allowed %g", error, tolerance);
}

// ---- High orders ----

// Scalars in shared memory, at least: values and two derivatives of each component.
static int64_t fewest_bytes(const ChainShape *s) {
  const int64_t arrays = s->is_diffusion ? 3 : 1;
  return arrays * chain_num_comp(s) * CeedIntPow(s->Q_1d, 3) * (int64_t)sizeof(CeedScalar);
}

// Rows of banks may make arrays longer, and lines of nodes may be longer than lines of points.
static bool fits_surely(Ceed ceed, const ChainShape *s) {
  const CeedInt longest = s->P_1d > s->Q_1d ? s->P_1d : s->Q_1d;
  ChainShape cube = *s;

  cube.Q_1d = longest;
  return fewest_bytes(&cube) + fewest_bytes(&cube) / 5 <= ritz_gpu(ceed)->info->dynamic_shared_bytes;
}

// Nodes and points of each order.
static const struct {
  int more_points;
  bool is_diffusion;
  CeedQuadMode quad_mode;
} relations[] = {{1, true, CEED_GAUSS},  {0, true, CEED_GAUSS_LOBATTO}, {-2, true, CEED_GAUSS},
                 {1, false, CEED_GAUSS}, {0, true, CEED_GAUSS},         {-3, false, CEED_GAUSS}};
enum { NUM_RELATIONS = sizeof(relations) / sizeof(relations[0]) };

static void compare_high_order(Ceed ceed, Ceed reference, CeedInt order, int relation) {
  static const CeedInt num_elem[] = {1, 3};
  char text[MAX_TEXT];

  for (int i = 0; i < 2 && !tap_failed(); i++) {
    const ChainShape s = {.dim = 3,
                          .num_elem = num_elem[i],
                          .P_1d = order + 1,
                          .Q_1d = order + 1 + relations[relation].more_points,
                          .is_diffusion = relations[relation].is_diffusion,
                          .quad_mode = relations[relation].quad_mode};

    compare_shape(ceed, reference, &s, text);
    if (tap_failed()) return;
    CHECK(strstr(text, fused) || !fits_surely(ceed, &s), "order %d, %d points: %s", (int)order, (int)s.Q_1d,
          text);
  }
}

// At level quick two kernels, at level full half of all.
TEST_EACH_GEN(orders_up_to_sixteen_are_fused_and_equal_the_reference) {
  Ceed reference = tap_ceed("/cpu/self/ref");
  int num = 0;

  for (CeedInt order = 9; order <= 16; order++)
    for (int k = 0; k < NUM_RELATIONS && !tap_failed(); k++) {
      const bool is_quick = (order == 16 && k == 0) || (order == 9 && k == 2);
      if (tap_level() == TAP_QUICK ? !is_quick : tap_level() == TAP_FULL && (order + k) % 2) continue;
      compare_high_order(ceed, reference, order, k);
      num++;
    }
  if (!tap_failed()) tap_note("%s: %d kernels of order 9 to 16", resource_of(ceed), num);
  CeedDestroy(&reference);
}

// The first order of vector-valued diffusion that no block can hold; 0: it would take too long.
static CeedInt order_beyond(Ceed ceed) {
  ChainShape s = {.dim = 3, .is_diffusion = true, .num_comp = 3};

  for (s.Q_1d = 14; s.Q_1d < 34; s.Q_1d++)
    if (fewest_bytes(&s) > ritz_gpu(ceed)->info->dynamic_shared_bytes) return s.Q_1d - 2;
  return 0;
}

static void compare_beyond(Ceed ceed, Ceed reference, CeedInt order, CeedInt num_comp) {
  const ChainShape s = {.dim = 3,
                        .num_elem = 2,
                        .P_1d = order + 1,
                        .Q_1d = order + 2,
                        .is_diffusion = true,
                        .num_comp = num_comp};
  const bool may_fit = fewest_bytes(&s) <= ritz_gpu(ceed)->info->dynamic_shared_bytes;
  char text[MAX_TEXT];

  compare_shape(ceed, reference, &s, text);
  if (tap_failed()) return;
  tap_note("%s: order %d, %d components: %s", resource_of(ceed), (int)order, (int)num_comp,
           strstr(text, fused) ? "fused" : "separate kernels");
  CHECK(may_fit || strstr(text, "not fused: an element that does not fit shared memory"), "%s", text);
  CHECK(!fits_surely(ceed, &s) || strstr(text, fused), "%s", text);
}

TEST_EACH_GEN(orders_beyond_run_as_separate_kernels_which_is_told) {
  Ceed reference = tap_ceed("/cpu/self/ref");
  const CeedInt order = order_beyond(ceed);

  if (order) compare_beyond(ceed, reference, order, 3);
  if (!tap_failed() && tap_level() > TAP_QUICK) compare_beyond(ceed, reference, 20, 1);
  if (!tap_failed() && tap_level() > TAP_QUICK) compare_beyond(ceed, reference, 14, 3);
  CeedDestroy(&reference);
}

TEST_EACH_GEN(where_nothing_may_be_delegated_separate_kernels_are_refused) {
  const CeedInt order = order_beyond(ceed);
  const ChainShape s = {
      .dim = 3, .num_elem = 1, .P_1d = order + 1, .Q_1d = order + 2, .is_diffusion = true, .num_comp = 3};

  if (!order) NOT_FOR_THIS_BACKEND("a block may hold more than such an element");
  setenv("RITZ_STRICT", "1", 1);
  Ceed strict = tap_ceed(resource_of(ceed));
  unsetenv("RITZ_STRICT");
  double *x = reference_new(chain_size(&s)), *y = reference_new(chain_size(&s));
  Chain c;
  CHECK_OK(chain_create(strict, &s, &c));
  CHECK_ERROR(strict, apply_to_values(c.op, c.size, x, y), CEED_ERROR_BACKEND,
              "operator 'Vector3Poisson3DApply' is not fused");
  chain_destroy(&c);
  free(x);
  free(y);
  CeedDestroy(&strict);
}

// ---- Elements that no kernel takes ----

// Each is beyond one bound: places that tables of lines count (in three dimensions only where blocks have a
// megabyte), matrices in constant memory, a stack that the threads of a block share (that of a processor).
static const struct {
  ChainShape shape;
  const char *reason; // NULL: a device may have another, or none
} beyond[] = {
    {{.dim = 2, .num_elem = 2, .P_1d = 300, .Q_1d = 2}, "an element with more nodes or points"},
    {{.dim = 3, .num_elem = 1, .P_1d = 42, .Q_1d = 42}, NULL},
    {{.dim = 1, .num_elem = 3, .P_1d = 129, .Q_1d = 130, .is_diffusion = true},
     "1D matrices that do not fit"},
    {{.dim = 3, .num_elem = 1, .P_1d = 32, .Q_1d = 32, .is_diffusion = true}, NULL},
};

TEST_EACH_GEN(elements_that_no_kernel_can_take_are_right_and_told) {
  Ceed reference = tap_ceed("/cpu/self/ref");
  char text[MAX_TEXT];

  for (size_t i = 0; i < sizeof(beyond) / sizeof(beyond[0]); i++) {
    compare_shape(ceed, reference, &beyond[i].shape, text);
    if (tap_failed()) return;
    CHECK(!beyond[i].reason || (strstr(text, not_fused) && strstr(text, beyond[i].reason)), "%s", text);
  }
  CeedDestroy(&reference);
}

TEST_EACH_GEN(a_diagonal_with_more_tables_than_constants_is_not_fused_which_is_told) {
  const ChainShape s = {.dim = 2, .num_elem = 2, .P_1d = 45, .Q_1d = 45};
  char text[MAX_TEXT];
  Chain c;

  CHECK_OK(chain_create(ceed, &s, &c));
  CHECK_OK(explain(c.op, text));
  CHECK(strstr(text, fused) &&
            strstr(text, "diagonal: derivatives at the points, tables of the bases: 1D matrices"),
        "%s", text);
  chain_destroy(&c);
}

// ---- Restrictions and vectors that are used twice ----

// A mass operator with 64 nodes an element on this restriction, as one of dimension `dim` where nodes are
// points.
static int create_on(Ceed ceed, CeedInt dim, const Chain *c, CeedBasis *basis, CeedOperator *op) {
  const CeedInt P_1d = dim == 3 ? 4 : 8;
  CeedQFunction qf = NULL;

  CeedCall(CeedBasisCreateTensorH1Lagrange(ceed, dim, 1, P_1d, P_1d, CEED_GAUSS_LOBATTO, basis));
  CeedCall(CeedQFunctionCreateInteriorByName(ceed, "MassApply", &qf));
  CeedCall(CeedOperatorCreate(ceed, qf, NULL, NULL, op));
  CeedCall(CeedQFunctionDestroy(&qf));
  CeedCall(CeedOperatorSetField(*op, "u", c->rstr, *basis, CEED_VECTOR_ACTIVE));
  CeedCall(CeedOperatorSetField(*op, "qdata", c->rstr_q, CEED_BASIS_NONE, c->qdata));
  return CeedOperatorSetField(*op, "v", c->rstr, *basis, CEED_VECTOR_ACTIVE);
}

// Offsets of rows of four nodes must outlive those of eight, and what takes their place in memory.
TEST_EACH_GEN(operators_with_rows_of_two_lengths_share_a_restriction) {
  const ChainShape s = {.dim = 3, .num_elem = 64, .P_1d = 4, .Q_1d = 4, .quad_mode = CEED_GAUSS_LOBATTO};
  double *x = reference_new(chain_size(&s)), *y = reference_new(chain_size(&s)),
         *first = reference_new(chain_size(&s));
  CeedVector others[32];
  CeedBasis bases[2] = {0};
  CeedOperator ops[2] = {0};
  char text[MAX_TEXT];
  Chain c;

  for (CeedSize i = 0; i < chain_size(&s); i++) x[i] = 1 + (double)(i % 5);
  CHECK_OK(chain_create(ceed, &s, &c));
  for (int i = 0; i < 2; i++) CHECK_OK(create_on(ceed, 3 - i, &c, &bases[i], &ops[i]));
  CHECK_OK(apply_to_values(ops[0], c.size, x, first));
  CHECK_OK(apply_to_values(ops[1], c.size, x, y));
  CHECK_OK(explain(ops[1], text));
  CHECK(strstr(text, "one offset a row of nodes"), "%s", text);
  for (int i = 0; i < 32; i++) {
    CHECK_OK(CeedVectorCreate(ceed, 64 * 16 * (CeedSize)sizeof(CeedInt) / (CeedSize)sizeof(CeedScalar),
                              &others[i]));
    CHECK_OK(CeedVectorSetValue(others[i], 1e300));
  }
  CHECK_OK(apply_to_values(ops[0], c.size, x, y));
  // The same sums in another order.
  CHECK_NEAR(reference_distance(c.size, y, first), 0, 100 * eps * reference_largest(c.size, first), "again");
  for (int i = 0; i < 32; i++) CeedVectorDestroy(&others[i]);
  for (int i = 0; i < 2; i++) {
    CeedOperatorDestroy(&ops[i]);
    CeedBasisDestroy(&bases[i]);
  }
  chain_destroy(&c);
  free(x);
  free(y);
  free(first);
}

// v = 2 u at the points, w = 3 u at the nodes of smaller elements, both added to one vector by strides.
static const char two_outputs[] = "CEED_QFUNCTION(two)(void *ctx, const CeedInt Q,\n"
                                  "  const CeedScalar *const *in, CeedScalar *const *out) {\n"
                                  "  for (CeedInt i = 0; i < Q; i++) {\n"
                                  "    out[0][i] = 2 * in[0][i];\n    out[1][i] = 3 * in[0][i];\n  }\n"
                                  "  return 0;\n}\n";

typedef struct {
  CeedQFunction qf;
  CeedElemRestriction points, nodes;
  CeedBasis basis;
  CeedOperator op;
} TwoOutputs;

static int create_two_outputs(Ceed ceed, CeedInt num_elem, TwoOutputs *t) {
  const CeedInt at_points[3] = {1, 8, 8}, at_nodes[3] = {1, 4, 4};
  char source[2048];

  *t = (TwoOutputs){0};
  snprintf(source, sizeof(source), "%s:two", tap_temp_text("two.h", two_outputs));
  CeedCall(CeedQFunctionCreateInterior(ceed, 1, NULL, source, &t->qf));
  CeedCall(CeedQFunctionAddInput(t->qf, "u", 1, CEED_EVAL_NONE));
  CeedCall(CeedQFunctionAddOutput(t->qf, "v", 1, CEED_EVAL_NONE));
  CeedCall(CeedQFunctionAddOutput(t->qf, "w", 1, CEED_EVAL_INTERP));
  CeedCall(CeedElemRestrictionCreateStrided(ceed, num_elem, 8, 1, 8 * num_elem, at_points, &t->points));
  CeedCall(CeedElemRestrictionCreateStrided(ceed, num_elem, 4, 1, 8 * num_elem, at_nodes, &t->nodes));
  CeedCall(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 4, 8, CEED_GAUSS, &t->basis));
  CeedCall(CeedOperatorCreate(ceed, t->qf, NULL, NULL, &t->op));
  CeedCall(CeedOperatorSetField(t->op, "u", t->points, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  CeedCall(CeedOperatorSetField(t->op, "v", t->points, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  return CeedOperatorSetField(t->op, "w", t->nodes, t->basis, CEED_VECTOR_ACTIVE);
}

// The rows of nodes' values sum to one: all of w sums to 3 for each point.
TEST_EACH_GEN(outputs_that_meet_in_a_vector_are_added_atomically) {
  enum { NUM_ELEM = 50 };
  double x[8 * NUM_ELEM], y[8 * NUM_ELEM], sum = 0;
  char text[MAX_TEXT];
  TwoOutputs t;

  for (int i = 0; i < 8 * NUM_ELEM; i++) x[i] = 1;
  CHECK_OK(create_two_outputs(ceed, NUM_ELEM, &t));
  CHECK_OK(apply_to_values(t.op, 8 * NUM_ELEM, x, y));
  for (int i = 0; i < 8 * NUM_ELEM; i++) sum += y[i];
  CHECK_NEAR(sum, 5 * 8 * NUM_ELEM, 8 * NUM_ELEM * 100 * eps, "the sum of all entries");
  CHECK_NEAR(y[8 * NUM_ELEM - 1], 2, 10 * eps, "an entry that has points alone");
  CHECK_OK(explain(t.op, text));
  CHECK(strstr(text, fused) && !strstr(text, "entries of their own"), "%s", text);
  CeedOperatorDestroy(&t.op);
  CeedBasisDestroy(&t.basis);
  CeedElemRestrictionDestroy(&t.points);
  CeedElemRestrictionDestroy(&t.nodes);
  CeedQFunctionDestroy(&t.qf);
}

// ---- Blocks that are not full ----

static const ChainShape ragged[] = {
    {.dim = 3, .P_1d = 3, .Q_1d = 4, .is_diffusion = true},
    {.dim = 3, .P_1d = 3, .Q_1d = 3, .is_diffusion = true, .num_comp = 3, .quad_mode = CEED_GAUSS_LOBATTO},
    {.dim = 2, .P_1d = 6, .Q_1d = 3, .is_diffusion = true, .num_comp = 3},
    {.dim = 1, .P_1d = 4, .Q_1d = 5},
};

// Numbers of elements: near the ends of blocks alone at level quick.
static bool is_wanted(int num_elem, int block) {
  const int rest = num_elem % block;
  return tap_level() > TAP_QUICK || rest <= 1 || rest == block - 1 || num_elem == block / 2;
}

static void compare_ragged(Ceed ceed, Ceed reference, ChainShape s) {
  char text[MAX_TEXT];

  s.num_elem = 1;
  compare_shape(ceed, reference, &s, text);
  const int block = number_behind(text, " threads for ");
  if (tap_failed()) return;
  CHECK(block >= 1, "%s", text);
  tap_note("%s: blocks of %d elements", resource_of(ceed), block);
  for (s.num_elem = 2; s.num_elem <= 2 * block + 1 && !tap_failed(); s.num_elem++)
    if (is_wanted(s.num_elem, block)) compare_shape(ceed, reference, &s, text);
}

TEST_EACH_GEN(every_number_of_elements_from_one_to_more_than_two_blocks_is_right) {
  Ceed reference = tap_ceed("/cpu/self/ref");
  const size_t num = tap_level() > TAP_QUICK ? sizeof(ragged) / sizeof(ragged[0]) : 1;

  for (size_t i = 0; i < num && !tap_failed(); i++) compare_ragged(ceed, reference, ragged[i]);
  CeedDestroy(&reference);
}

// Tells in its context of data that are not 1.
static const char careful[] = "CEED_QFUNCTION(careful)(void *ctx, const CeedInt Q,\n"
                              "  const CeedScalar *const *in, CeedScalar *const *out) {\n"
                              "  for (CeedInt i = 0; i < Q; i++) {\n"
                              "    if (in[1][i] != 1) ((double *)ctx)[0] = 1;\n"
                              "    out[0][i] = in[0][i] * in[1][i];\n  }\n"
                              "  return 0;\n}\n";

static int create_careful(Ceed ceed, const Chain *c, CeedQFunctionContext *ctx, CeedOperator *op) {
  const double none = 0;
  CeedQFunction qf = NULL;
  char source[2048];

  snprintf(source, sizeof(source), "%s:careful", tap_temp_text("careful.h", careful));
  CeedCall(CeedQFunctionCreateInterior(ceed, 1, NULL, source, &qf));
  CeedCall(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP));
  CeedCall(CeedQFunctionAddInput(qf, "data", 1, CEED_EVAL_NONE));
  CeedCall(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP));
  CeedCall(CeedQFunctionContextCreate(ceed, ctx));
  CeedCall(CeedQFunctionContextSetData(*ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(none), (void *)&none));
  CeedCall(CeedQFunctionSetContext(qf, *ctx));
  CeedCall(CeedOperatorCreate(ceed, qf, NULL, NULL, op));
  CeedCall(CeedQFunctionDestroy(&qf));
  CeedCall(CeedOperatorSetField(*op, "u", c->rstr, c->basis, CEED_VECTOR_ACTIVE));
  CeedCall(CeedOperatorSetField(*op, "data", c->rstr_q, CEED_BASIS_NONE, c->qdata));
  return CeedOperatorSetField(*op, "v", c->rstr, c->basis, CEED_VECTOR_ACTIVE);
}

// The function may be called for elements beyond the last one, with data that a mesh has.
TEST_EACH_GEN(functions_see_no_data_but_those_of_elements) {
  for (CeedInt P = 2; P <= 4; P++) {
    const ChainShape s = {.dim = 3, .num_elem = 5, .P_1d = P, .Q_1d = P};
    double *x = reference_new(chain_size(&s)), *y = reference_new(chain_size(&s));
    const double *seen = NULL;
    CeedQFunctionContext ctx = NULL;
    CeedOperator op = NULL;
    Chain c;

    CHECK_OK(chain_create(ceed, &s, &c));
    CHECK_OK(CeedVectorSetValue(c.qdata, 1));
    CHECK_OK(create_careful(ceed, &c, &ctx, &op));
    CHECK_OK(apply_to_values(op, c.size, x, y));
    CHECK_OK(CeedQFunctionContextGetDataRead(ctx, CEED_MEM_HOST, (void *)&seen));
    CHECK(*seen == 0, "other data at points of elements of %d nodes a direction", (int)P);
    CHECK_OK(CeedQFunctionContextRestoreDataRead(ctx, (void *)&seen));
    CeedOperatorDestroy(&op);
    CeedQFunctionContextDestroy(&ctx);
    chain_destroy(&c);
    free(x);
    free(y);
  }
}

TEST_EACH_GEN(no_elements_give_zero_and_adding_them_changes_nothing) {
  const ChainShape s = {.dim = 3, .num_elem = 0, .P_1d = 3, .Q_1d = 4};
  double one = 1, found = -1;
  CeedVector in = reference_vector(ceed, 1, &one), out = reference_vector(ceed, 1, &one);
  Chain c;

  CHECK_OK(chain_create(ceed, &s, &c));
  CHECK_OK(CeedOperatorApplyAdd(c.op, in, out, CEED_REQUEST_IMMEDIATE));
  reference_values(out, &found);
  CHECK(found == 1, "adding gives %g", found);
  CHECK_OK(CeedOperatorApply(c.op, in, out, CEED_REQUEST_IMMEDIATE));
  reference_values(out, &found);
  CHECK(found == 0, "applying gives %g", found);
  CeedVectorDestroy(&in);
  CeedVectorDestroy(&out);
  chain_destroy(&c);
}

// ---- Repetition ----

// Additions of numbers of all sizes meet in every entry: another order would give other bits.
static const ChainShape crowds[] = {
    {.dim = 3, .num_elem = 200, .P_1d = 3, .Q_1d = 4, .is_diffusion = true, .num_nodes = 37},
    {.dim = 2, .num_elem = 300, .P_1d = 4, .Q_1d = 4, .num_comp = 3, .num_nodes = 11},
};

static double *wide_numbers(CeedSize n, uint64_t *seed) {
  double *x = reference_new(n);

  for (CeedSize i = 0; i < n; i++)
    x[i] = (double)(CeedScalar)(tap_uniform(seed) * pow(10, 8 * tap_uniform(seed)));
  return x;
}

static void check_repeats(Ceed ceed, Ceed second, const ChainShape *s, int num_applies) {
  const CeedSize size = chain_size(s);
  uint64_t seed = 3;
  double *x = wide_numbers(size, &seed), *y = reference_new(size), *first = reference_new(size);
  Chain c, other;

  CHECK_OK(chain_create(ceed, s, &c));
  CHECK_OK(chain_create(second, s, &other));
  CHECK_OK(apply_to_values(c.op, size, x, first));
  CHECK(reference_largest(size, first) > 0, "the result is zero");
  for (int i = 0; i < num_applies; i++) {
    CHECK_OK(apply_to_values(i % 4 == 3 ? other.op : c.op, size, x, y));
    CHECK(!memcmp(y, first, (size_t)size * sizeof(double)), "application %d differs by %g of %g", i,
          reference_distance(size, y, first), reference_largest(size, first));
  }
  chain_destroy(&c);
  chain_destroy(&other);
  free(x);
  free(y);
  free(first);
}

TEST_EACH_GEN(deterministic_contexts_repeat_every_bit_and_agree) {
  bool is_deterministic = true;
  char resource[CEED_MAX_RESOURCE_LEN];

  CHECK_OK(CeedIsDeterministic(ceed, &is_deterministic));
  CHECK(!is_deterministic, "atomic additions repeat no bits");
  snprintf(resource, sizeof(resource), "%s:deterministic", resource_of(ceed));
  Ceed ceeds[2] = {tap_ceed(resource), tap_ceed(resource)};
  CHECK_OK(CeedIsDeterministic(ceeds[0], &is_deterministic));
  CHECK(is_deterministic, "the context says that it is not deterministic");
  for (size_t i = 0; i < sizeof(crowds) / sizeof(crowds[0]) && !tap_failed(); i++)
    check_repeats(ceeds[0], ceeds[1], &crowds[i], by_level(100, 100, 1000));
  if (tap_failed()) return;
  CeedDestroy(&ceeds[0]);
  CeedDestroy(&ceeds[1]);
}

// ---- Many applies, several contexts ----

enum { NUM_IN = 3, NUM_OUT = 2, NUM_WORKERS = 2 };

// An operator and vectors of its own, used over and over: launches are replayed, with other arrays in any
// order.
typedef struct {
  const char *resource;
  bool has_stream; // one of its own
  ChainShape shape;
  int num_rounds;
  CeedSize size;
  double *x[NUM_IN], *wanted[NUM_IN]; // owned
  double error, tolerance;            // largest, also NaN; allowed
  int ierr;

  Ceed ceed;
  RitzDeviceStream stream; // owned
  Chain chain;
  CeedVector in[NUM_IN], out[NUM_OUT];
} Worker;

static void prepare_worker(Ceed reference, const char *resource, int number, Worker *w) {
  uint64_t seed = (uint64_t)number;

  *w = (Worker){.resource = resource, .num_rounds = by_level(40, 400, 4000)};
  w->shape = (ChainShape){
      .dim = 2 + number, .num_elem = 40 + 13 * number, .P_1d = 3, .Q_1d = 4, .is_diffusion = number == 0};
  w->size = chain_size(&w->shape);
  for (int i = 0; i < NUM_IN; i++) {
    w->x[i] = reference_new_random(w->size, &seed);
    w->wanted[i] = reference_new(w->size);
    if (!w->ierr) w->ierr = chain_apply(reference, &w->shape, w->x[i], w->wanted[i]);
    w->tolerance = fmax(w->tolerance, 2 * chain_tolerance(&w->shape, w->wanted[i]));
  }
}

static int open_worker(Worker *w) {
  CeedCall(CeedInit(w->resource, &w->ceed));
  CeedCall(CeedSetErrorHandler(w->ceed, CeedErrorReturn));
  if (w->has_stream) {
    const RitzGpu *gpu = ritz_gpu(w->ceed);
    CeedCall(gpu->driver->stream_create(w->ceed, gpu->device, &w->stream));
    CeedCall(CeedSetStream(w->ceed, w->stream));
  }
  CeedCall(chain_create(w->ceed, &w->shape, &w->chain));
  for (int i = 0; i < NUM_IN; i++) w->in[i] = reference_vector(w->ceed, w->size, w->x[i]);
  for (int i = 0; i < NUM_OUT; i++) CeedCall(CeedVectorCreate(w->ceed, w->size, &w->out[i]));
  return CEED_ERROR_SUCCESS;
}

static void close_worker(Worker *w) {
  chain_destroy(&w->chain);
  for (int i = 0; i < NUM_IN; i++) CeedVectorDestroy(&w->in[i]);
  for (int i = 0; i < NUM_OUT; i++) CeedVectorDestroy(&w->out[i]);
  if (w->stream) {
    const RitzGpu *gpu = ritz_gpu(w->ceed);
    const int ierr = gpu->driver->stream_destroy(w->ceed, gpu->device, w->stream);
    if (!w->ierr) w->ierr = ierr;
  }
  CeedDestroy(&w->ceed);
}

static void free_worker(Worker *w) {
  for (int i = 0; i < NUM_IN; i++) {
    free(w->x[i]);
    free(w->wanted[i]);
  }
}

// Largest difference of a vector from A x[i], or from A (x[i] + x[j]).
static void note_error(Worker *w, CeedVector vector, int i, int j) {
  double *y = reference_new_values(vector);

  for (CeedSize k = 0; j >= 0 && k < w->size; k++) y[k] -= w->wanted[j][k];
  const double error = reference_distance(w->size, y, w->wanted[i]);
  if (!(error <= w->error)) w->error = error;
  free(y);
}

// Two applies in a row, each with other vectors than the last; looks at the results now and then.
static int run_round(Worker *w, int round) {
  const int i = round % NUM_IN, j = (round + 1) % NUM_IN;
  const bool adds = round % 5 == 0;

  if (round % 7 == 0) { // another array, perhaps at the same place
    CeedCall(CeedVectorDestroy(&w->out[0]));
    CeedCall(CeedVectorCreate(w->ceed, w->size, &w->out[0]));
  }
  CeedCall(CeedOperatorApply(w->chain.op, w->in[i], w->out[0], CEED_REQUEST_IMMEDIATE));
  CeedCall(CeedOperatorApply(w->chain.op, w->in[j], w->out[1], CEED_REQUEST_IMMEDIATE));
  if (adds) CeedCall(CeedOperatorApplyAdd(w->chain.op, w->in[i], w->out[1], CEED_REQUEST_IMMEDIATE));
  if (round % 4 && !adds) return CEED_ERROR_SUCCESS;
  note_error(w, w->out[0], i, -1);
  note_error(w, w->out[1], j, adds ? i : -1);
  return CEED_ERROR_SUCCESS;
}

static void check_worker(const Worker *w) {
  CHECK_OK(w->ierr);
  CHECK(w->error <= w->tolerance, "off by %g, allowed %g", w->error, w->tolerance);
}

TEST_EACH_GEN(many_applies_with_alternating_vectors_are_right) {
  Ceed reference = tap_ceed("/cpu/self/ref");

  for (int number = 0; number < 2 && !tap_failed(); number++) {
    Worker w;

    prepare_worker(reference, resource_of(ceed), number, &w);
    if (!w.ierr) w.ierr = open_worker(&w);
    for (int round = 0; round < w.num_rounds && !w.ierr; round++) w.ierr = run_round(&w, round);
    close_worker(&w);
    free_worker(&w);
    check_worker(&w);
  }
  CeedDestroy(&reference);
}

TEST_EACH_GEN(two_contexts_in_turns_on_streams_of_their_own_are_right) {
  Ceed reference = tap_ceed("/cpu/self/ref");
  Worker w[NUM_WORKERS];
  int ierr = CEED_ERROR_SUCCESS;

  for (int i = 0; i < NUM_WORKERS; i++) {
    prepare_worker(reference, resource_of(ceed), i, &w[i]);
    w[i].has_stream = is_cuda(ceed);
    if (!w[i].ierr) w[i].ierr = open_worker(&w[i]);
  }
  for (int round = 0; round < w[0].num_rounds && !ierr; round++)
    for (int i = 0; i < NUM_WORKERS && !ierr; i++)
      ierr = w[i].ierr = w[i].ierr ? w[i].ierr : run_round(&w[i], round);
  for (int i = 0; i < NUM_WORKERS; i++) close_worker(&w[i]);
  for (int i = 0; i < NUM_WORKERS; i++) free_worker(&w[i]);
  for (int i = 0; i < NUM_WORKERS && !tap_failed(); i++) check_worker(&w[i]);
  CeedDestroy(&reference);
}

// A context from its beginning to its end on one thread, several times.
static int work(void *data, int thread) {
  Worker *w = &((Worker *)data)[thread];

  for (int k = 0; k < 3 && !w->ierr; k++) {
    w->ierr = open_worker(w);
    for (int round = 0; round < w->num_rounds && !w->ierr; round++) w->ierr = run_round(w, round);
    close_worker(w);
    w->stream = NULL;
  }
  return CEED_ERROR_SUCCESS;
}

TEST_EACH_GEN(two_threads_with_contexts_and_streams_of_their_own_are_right) {
  Ceed reference = tap_ceed("/cpu/self/ref");
  Worker w[NUM_WORKERS];
  RitzTeam team = NULL;

  for (int i = 0; i < NUM_WORKERS; i++) {
    prepare_worker(reference, resource_of(ceed), i, &w[i]);
    w[i].has_stream = is_cuda(ceed);
  }
  CHECK_OK(ritz_team_create(NULL, NUM_WORKERS, &team));
  CHECK_OK(ritz_team_run(team, work, w));
  ritz_team_destroy(&team);
  for (int i = 0; i < NUM_WORKERS; i++) free_worker(&w[i]);
  for (int i = 0; i < NUM_WORKERS && !tap_failed(); i++) check_worker(&w[i]);
  CeedDestroy(&reference);
}

// ---- Contexts of QFunctions ----

enum { SCALED_ELEM = 9, SCALED_P = 3 };

// v = factor u at the points, three components in two dimensions. All handles are owned.
typedef struct {
  Chain chain; // restriction and basis; its operator is not used
  CeedQFunctionContext ctx;
  CeedQFunction qf;
  CeedOperator op;
  double *x, *one; // A x of the factor 1
} Scaled;

static int create_scaled(Ceed ceed, Scaled *s) {
  const ChainShape shape = {.dim = 2, .num_elem = SCALED_ELEM, .P_1d = SCALED_P, .Q_1d = 4, .num_comp = 3};
  GpuContext context = {.factor = {1}};
  uint64_t seed = 8;

  *s = (Scaled){.x = reference_new_random(chain_size(&shape), &seed),
                .one = reference_new(chain_size(&shape))};
  CeedCall(chain_create(ceed, &shape, &s->chain));
  CeedCall(CeedQFunctionCreateInterior(ceed, 1, GpuScale, GpuScale_loc, &s->qf));
  CeedCall(CeedQFunctionAddInput(s->qf, "u", 3, CEED_EVAL_INTERP));
  CeedCall(CeedQFunctionAddOutput(s->qf, "v", 3, CEED_EVAL_INTERP));
  CeedCall(CeedQFunctionContextCreate(ceed, &s->ctx));
  CeedCall(CeedQFunctionContextSetData(s->ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(context), &context));
  CeedCall(CeedQFunctionContextRegisterDouble(s->ctx, "factor", offsetof(GpuContext, factor), 3, NULL));
  CeedCall(CeedQFunctionSetContext(s->qf, s->ctx));
  CeedCall(CeedQFunctionSetContextWritable(s->qf, false));
  CeedCall(CeedOperatorCreate(ceed, s->qf, NULL, NULL, &s->op));
  CeedCall(CeedOperatorSetField(s->op, "u", s->chain.rstr, s->chain.basis, CEED_VECTOR_ACTIVE));
  return CeedOperatorSetField(s->op, "v", s->chain.rstr, s->chain.basis, CEED_VECTOR_ACTIVE);
}

static void destroy_scaled(Scaled *s) {
  CeedOperatorDestroy(&s->op);
  CeedQFunctionDestroy(&s->qf);
  CeedQFunctionContextDestroy(&s->ctx);
  chain_destroy(&s->chain);
  free(s->x);
  free(s->one);
}

// A x = factor times what the factor 1 gives, to rounding of a few operations.
static void check_factor(Scaled *s, double factor, const char *when) {
  const CeedSize size = s->chain.size;
  double *y = reference_new(size), *wanted = reference_new(size);
  const int ierr = apply_to_values(s->op, size, s->x, y);

  for (CeedSize k = 0; k < size; k++) wanted[k] = factor * s->one[k];
  const double error = reference_distance(size, y, wanted);
  const double tolerance = 50 * eps * fabs(factor) * reference_largest(size, s->one);
  free(y);
  free(wanted);
  CHECK_OK(ierr);
  CHECK(error <= tolerance, "%s: off by %g, allowed %g", when, error, tolerance);
}

#define CHECK_FACTOR(...)                                                                                    \
  do {                                                                                                       \
    check_factor(__VA_ARGS__);                                                                               \
    if (tap_failed()) return;                                                                                \
  } while (0)

static int set_factor(Scaled *s, double factor) {
  GpuContext *context = NULL;

  CeedCall(CeedQFunctionContextGetData(s->ctx, CEED_MEM_HOST, &context));
  context->factor[0] = factor;
  return CeedQFunctionContextRestoreData(s->ctx, &context);
}

// Other data of num_bytes, which begin with a context of this factor.
static int set_data(Scaled *s, double factor, size_t num_bytes) {
  GpuContext *context = calloc(1, num_bytes);

  context->factor[0] = factor;
  const int ierr = CeedQFunctionContextSetData(s->ctx, CEED_MEM_HOST, CEED_COPY_VALUES, num_bytes, context);
  free(context);
  return ierr;
}

TEST_EACH_GEN(contexts_whose_content_and_size_change_between_applies_are_seen) {
  CeedContextFieldLabel label = NULL;
  double factors[3] = {0.25, 1, 1};
  Scaled s;

  CHECK_OK(create_scaled(ceed, &s));
  CHECK_OK(apply_to_values(s.op, s.chain.size, s.x, s.one));
  CHECK(reference_largest(s.chain.size, s.one) > 0, "the result is zero");
  CHECK_OK(set_factor(&s, 3));
  CHECK_FACTOR(&s, 3, "written data");
  CHECK_OK(CeedOperatorGetContextFieldLabel(s.op, "factor", &label));
  CHECK_OK(CeedOperatorSetContextDouble(s.op, label, factors));
  CHECK_FACTOR(&s, 0.25, "a field");
  for (int round = 0; round < 3; round++) {
    CHECK_OK(set_data(&s, -5 - round, sizeof(GpuContext) + 24));
    CHECK_FACTOR(&s, -5 - round, "more bytes");
    CHECK_OK(set_data(&s, 7 + round, sizeof(GpuContext)));
    CHECK_FACTOR(&s, 7 + round, "as many as before");
  }
  CHECK_OK(CeedQFunctionSetContextWritable(s.qf, true));
  CHECK_FACTOR(&s, 9, "writable");
  CHECK_OK(set_factor(&s, 1.5));
  CHECK_FACTOR(&s, 1.5, "written data of a writable context");
  CHECK_FACTOR(&s, 1.5, "once more");
  destroy_scaled(&s);
}

// With OpenCL every thread has a copy, those of a block in 8 MiB on processors.
TEST_EACH_GEN(contexts_of_many_bytes_are_right) {
  static const size_t num_bytes[] = {100 << 10, 1 << 20};
  Scaled s;

  CHECK_OK(create_scaled(ceed, &s));
  CHECK_OK(apply_to_values(s.op, s.chain.size, s.x, s.one));
  for (int i = 0; i < 2; i++) {
    CHECK_OK(set_data(&s, 2 + i, num_bytes[i]));
    CHECK_FACTOR(&s, 2 + i, "many bytes");
  }
  destroy_scaled(&s);
}

TEST_EACH_GEN(applies_that_add_leave_what_was_there) {
  const ChainShape shapes[] = {{.dim = 3, .num_elem = 21, .P_1d = 3, .Q_1d = 4, .is_diffusion = true},
                               {.dim = 2, .num_elem = 21, .P_1d = 4, .Q_1d = 4, .num_comp = 3}};
  char resource[CEED_MAX_RESOURCE_LEN];

  snprintf(resource, sizeof(resource), "%s:deterministic", resource_of(ceed));
  Ceed ceeds[2] = {ceed, tap_ceed(resource)};
  for (int i = 0; i < 2; i++) {
    const CeedSize size = chain_size(&shapes[i]);
    uint64_t seed = 21;
    double *x = reference_new_random(size, &seed), *y = reference_new(size), *sum = reference_new(size);
    CeedVector in = reference_vector(ceeds[i], size, x), out = reference_vector(ceeds[i], size, x);
    Chain c;

    CHECK_OK(chain_create(ceeds[i], &shapes[i], &c));
    CHECK_OK(apply_to_values(c.op, size, x, y));
    for (int k = 0; k < 3; k++) CHECK_OK(CeedOperatorApplyAdd(c.op, in, out, CEED_REQUEST_IMMEDIATE));
    reference_values(out, sum);
    for (CeedSize k = 0; k < size; k++) sum[k] -= x[k] + 3 * y[k];
    // Sums of a few terms beside what the additions of an apply are off by.
    CHECK_NEAR(reference_largest(size, sum), 0, 100 * eps * (1 + reference_largest(size, y)), "%d", i);
    CeedVectorDestroy(&in);
    CeedVectorDestroy(&out);
    chain_destroy(&c);
    free(x);
    free(y);
    free(sum);
  }
  CeedDestroy(&ceeds[1]);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(an_explanation_names_the_path_the_shape_of_blocks_and_registers,
                        an_operator_compiles_its_kernel_once_and_when_it_is_needed,
                        a_function_that_does_not_compile_is_told_with_the_name_of_the_operator,
                        orders_up_to_sixteen_are_fused_and_equal_the_reference,
                        orders_beyond_run_as_separate_kernels_which_is_told,
                        where_nothing_may_be_delegated_separate_kernels_are_refused,
                        elements_that_no_kernel_can_take_are_right_and_told,
                        a_diagonal_with_more_tables_than_constants_is_not_fused_which_is_told,
                        operators_with_rows_of_two_lengths_share_a_restriction,
                        outputs_that_meet_in_a_vector_are_added_atomically,
                        every_number_of_elements_from_one_to_more_than_two_blocks_is_right,
                        functions_see_no_data_but_those_of_elements,
                        no_elements_give_zero_and_adding_them_changes_nothing,
                        deterministic_contexts_repeat_every_bit_and_agree,
                        many_applies_with_alternating_vectors_are_right,
                        two_contexts_in_turns_on_streams_of_their_own_are_right,
                        two_threads_with_contexts_and_streams_of_their_own_are_right,
                        contexts_whose_content_and_size_change_between_applies_are_seen,
                        contexts_of_many_bytes_are_right, applies_that_add_leave_what_was_there));
}
