// SPDX-License-Identifier: BSD-2-Clause
// Operators are what their definition says: random ones against dense matrices put together in the test
// (random-operator.h), and the properties that every E^T B^T D B E has. Gallery and geometry: test-gallery.c.
#include "tests/tap.h"

#include "tests/random-operator.h"
#include "tests/reference.h"
#include <float.h>
#include <math.h>
#include <ritz/precision.h>
#include <stdlib.h>
#include <string.h>

// ---- Helpers ----

// How many random operators a test draws, by level; the costly properties take a part of them.
static int num_draws(int part) {
  static const int num[] = {400, 4000, 40000};

  return num[tap_level()] / part;
}

// Vectors for the active fields of an operator, CEED_VECTOR_NONE where there are none.
typedef struct {
  double *x; // [input_size]
  CeedVector in, out;
} Vectors;

static Vectors make_vectors(const RandomOperator *r, uint64_t *seed) {
  Vectors v = {
      .x = reference_new_random(r->input_size, seed), .in = CEED_VECTOR_NONE, .out = CEED_VECTOR_NONE};

  if (r->input_size) v.in = reference_vector(r->ceed, r->input_size, v.x);
  if (r->output_size) CeedVectorCreate(r->ceed, r->output_size, &v.out);
  return v;
}

static void free_vectors(Vectors *v) {
  CeedVectorDestroy(&v->in);
  CeedVectorDestroy(&v->out);
  free(v->x);
}

static CeedVector vector_of(const RandomTarget *t, const Vectors *v) {
  return t->vector ? t->vector->vector : v->out;
}

// Every target holds scale * (matrix x) + before. before [num_targets]; NULL: nothing. slack: by which the
// tolerance of CeedScalars is widened.
static void check_targets(const RandomOperator *r, const Vectors *v, double *const *before, double slack) {
  for (int i = 0; i < r->num_targets && !tap_failed(); i++) {
    const RandomTarget *t = &r->targets[i];
    double *y = reference_new(t->length), *values = reference_new_values(vector_of(t, v));
    double tolerance = slack * random_target_apply(r, t, v->x, y);

    for (CeedSize k = 0; before && k < t->length; k++) y[k] += before[i][k];
    if (before) tolerance += eps * reference_largest(t->length, before[i]) * r->num_elem * r->Q;
    double error = reference_distance(t->length, values, y);

    free(y);
    free(values);
    CHECK(error <= tolerance, "%s: off by %g, allowed %g\n%s", t->vector ? "passive output" : "active output",
          error, tolerance, random_operator_describe(r));
  }
}

static void apply_and_check(const RandomOperator *r, uint64_t *seed) {
  Vectors v = make_vectors(r, seed);
  int ierr = CeedOperatorApply(r->op, v.in, v.out, CEED_REQUEST_IMMEDIATE);

  if (!ierr) check_targets(r, &v, NULL, 1);
  free_vectors(&v);
  CHECK_OK(ierr);
}

// Draws one operator and hands it to `check`.
static void with_operator(Ceed ceed, const RandomOptions *options, uint64_t seed,
                          void (*check)(RandomOperator *r, uint64_t *seed)) {
  RandomOperator r;
  uint64_t state = seed;
  int ierr = random_operator_create(ceed, options, &state, &r);

  if (!ierr) check(&r, &state);
  if (ierr || tap_failed())
    tap_note("operator of seed %llu: %s", (unsigned long long)seed, random_operator_describe(&r));
  random_operator_destroy(&r);
  CHECK_OK(ierr);
}

static void with_operators(Ceed ceed, RandomOptions options, int num, uint64_t first_seed,
                           void (*check)(RandomOperator *r, uint64_t *seed)) {
  num = random_num_draws(ceed, num);
  for (int i = 0; i < num && !tap_failed(); i++)
    with_operator(ceed, &options, first_seed + (uint64_t)i, check);
}

// ---- The definition ----

static void check_apply(RandomOperator *r, uint64_t *seed) { apply_and_check(r, seed); }

// Where tests with the same options begin to draw: their kernels are compiled once.
enum { SAME_OPERATORS = 1000000 };

TEST_EACH_BACKEND(random_operators_match_their_dense_matrices) {
  with_operators(ceed, (RandomOptions){0}, num_draws(1), SAME_OPERATORS, check_apply);
}

// In float where that is drawn: arithmetic, active vectors, and already passive vectors. Values are rounded
// before, so that rounding in between is what differs: the bound in the eps of float, and as much for the
// results.
static void check_mixed_apply(RandomOperator *r, uint64_t *seed) {
  Vectors v = make_vectors(r, seed), used = v;
  const CeedScalarType drawn[] = {CEED_SCALAR_TYPE, CEED_SCALAR_FP32};

  for (CeedSize i = 0; i < r->input_size; i++) v.x[i] = (double)(float)v.x[i];
  int ierr = RitzOperatorSetPrecision(r->op, drawn[tap_integer(seed, 2)]);
  if (!ierr && r->input_size)
    ierr = RitzVectorCreate(r->ceed, r->input_size, drawn[tap_integer(seed, 2)], &used.in);
  if (!ierr && r->output_size)
    ierr = RitzVectorCreate(r->ceed, r->output_size, drawn[tap_integer(seed, 2)], &used.out);
  CeedVector rounded = reference_vector(r->ceed, r->input_size, v.x);
  if (!ierr && r->input_size) ierr = RitzVectorConvert(rounded, used.in);
  if (!ierr) ierr = CeedOperatorApply(r->op, used.in, used.out, CEED_REQUEST_IMMEDIATE);
  if (!ierr) check_targets(r, &used, NULL, 2 * (double)FLT_EPSILON / eps);
  CeedVectorDestroy(&rounded);
  if (used.in != v.in) CeedVectorDestroy(&used.in);
  if (used.out != v.out) CeedVectorDestroy(&used.out);
  free_vectors(&v);
  CHECK_OK(ierr);
}

TEST_EACH_BACKEND(random_operators_in_mixed_precisions_match_their_dense_matrices) {
  with_operators(ceed, (RandomOptions){.is_mixed = true}, num_draws(4), 9000000, check_mixed_apply);
}

TEST_EACH_BACKEND(random_operators_with_one_element_match_their_dense_matrices) {
  with_operators(ceed, (RandomOptions){.num_elem = 1}, num_draws(8), 2000000, check_apply);
}

// Counts of what was drawn by the test above: it says nothing of a kind that never came up.
static struct {
  int types[6], kinds[6], modes[17], passive_outputs, shared_vectors, all_passive, two_active_in,
      two_active_out;
} drawn;

static void count_field(const RandomField *f) {
  if (f->mode != CEED_EVAL_WEIGHT) drawn.types[f->space->type]++;
  drawn.kinds[f->space->kind]++;
  drawn.modes[f->mode]++;
}

static void count_drawn(RandomOperator *r, uint64_t *seed) {
  int num_active_in = 0, num_active_out = 0;

  (void)seed;
  for (int i = 0; i < r->num_in; i++) {
    count_field(&r->in[i]);
    num_active_in += r->in[i].is_active;
  }
  for (int i = 0; i < r->num_out; i++) {
    count_field(&r->out[i]);
    num_active_out += r->out[i].is_active;
    drawn.passive_outputs += !r->out[i].is_active;
    for (int k = 0; k < i; k++)
      drawn.shared_vectors += r->out[i].vector && r->out[i].vector == r->out[k].vector;
  }
  drawn.all_passive += num_active_in == 0 && num_active_out == 0;
  drawn.two_active_in += num_active_in > 1;
  drawn.two_active_out += num_active_out > 1;
}

TEST(random_operators_cover_what_the_standard_allows) {
  static const CeedEvalMode modes[] = {CEED_EVAL_NONE, CEED_EVAL_INTERP, CEED_EVAL_GRAD,
                                       CEED_EVAL_DIV,  CEED_EVAL_CURL,   CEED_EVAL_WEIGHT};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  memset(&drawn, 0, sizeof(drawn));
  with_operators(ceed, (RandomOptions){0}, num_draws(1), 1000000, count_drawn);
  CeedDestroy(&ceed);
  CHECK(!tap_failed(), "an operator could not be made");
  for (int i = CEED_RESTRICTION_STANDARD; i <= CEED_RESTRICTION_STRIDED; i++) {
    CHECK(drawn.types[i] >= 20, "restrictions of type %d: %d", i, drawn.types[i]);
  }
  for (int i = RANDOM_LAGRANGE; i <= RANDOM_NO_BASIS; i++) {
    CHECK(drawn.kinds[i] >= 20, "bases of kind %d: %d", i, drawn.kinds[i]);
  }
  for (int i = 0; i < 6; i++)
    CHECK(drawn.modes[modes[i]] >= 20, "mode %d: %d", modes[i], drawn.modes[modes[i]]);
  CHECK(drawn.passive_outputs >= 20, "passive outputs: %d", drawn.passive_outputs);
  CHECK(drawn.shared_vectors >= 3, "passive outputs with one vector: %d", drawn.shared_vectors);
  CHECK(drawn.all_passive >= 3, "without active fields: %d", drawn.all_passive);
  CHECK(drawn.two_active_in >= 20, "several active inputs: %d", drawn.two_active_in);
  CHECK(drawn.two_active_out >= 20, "several active outputs: %d", drawn.two_active_out);
}

TEST_EACH_BACKEND(operators_without_elements_give_zero) {
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  double ones[] = {1, 1, 1, 1, 1}, *y;
  CeedVector in = reference_vector(ceed, 5, ones), out = reference_vector(ceed, 5, ones);

  CHECK_OK(CeedElemRestrictionCreate(ceed, 0, 3, 1, 1, 5, CEED_MEM_HOST, CEED_COPY_VALUES, NULL, &rstr));
  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 3, 4, CEED_GAUSS, &basis));
  CHECK_OK(CeedQFunctionCreateIdentity(ceed, 1, CEED_EVAL_INTERP, CEED_EVAL_INTERP, &qf));
  CHECK_OK(CeedOperatorCreate(ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &op));
  CHECK_OK(CeedOperatorSetField(op, "input", rstr, basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(op, "output", rstr, basis, CEED_VECTOR_ACTIVE));

  CHECK_OK(CeedOperatorApplyAdd(op, in, out, CEED_REQUEST_IMMEDIATE));
  y = reference_new_values(out);
  CHECK(reference_largest(5, y) == 1.0 && y[4] == 1.0, "adding changes nothing: %g", y[4]);
  free(y);
  CHECK_OK(CeedOperatorApply(op, in, out, CEED_REQUEST_IMMEDIATE));
  y = reference_new_values(out);
  CHECK(reference_largest(5, y) == 0.0, "zero after apply");
  free(y);

  CeedVectorDestroy(&in);
  CeedVectorDestroy(&out);
  CeedElemRestrictionDestroy(&rstr);
  CeedBasisDestroy(&basis);
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&op);
}

// ---- Apply, ApplyAdd, ApplyAddActive ----

// Gives all targets random values, which are returned.
static void fill_targets(const RandomOperator *r, const Vectors *v, double **before, uint64_t *seed) {
  for (int i = 0; i < r->num_targets; i++) {
    CeedVector vector = vector_of(&r->targets[i], v), random;

    before[i] = reference_new_random(r->targets[i].length, seed);
    random = reference_vector(r->ceed, r->targets[i].length, before[i]);
    CeedVectorCopy(random, vector);
    CeedVectorDestroy(&random);
  }
}

typedef int (*ApplyCall)(CeedOperator op, CeedVector in, CeedVector out, CeedRequest *request);

// Whether active and passive targets keep what they held depends on the call.
static void check_call(RandomOperator *r, uint64_t *seed, ApplyCall call, bool adds_active,
                       bool adds_passive) {
  Vectors v = make_vectors(r, seed);
  double *before[RANDOM_MAX_FIELDS] = {NULL};

  fill_targets(r, &v, before, seed);
  int ierr = call(r->op, v.in, v.out, CEED_REQUEST_IMMEDIATE);
  for (int i = 0; i < r->num_targets; i++) {
    bool adds = r->targets[i].vector ? adds_passive : adds_active;

    if (!adds) memset(before[i], 0, (size_t)r->targets[i].length * sizeof(double));
  }
  if (!ierr) check_targets(r, &v, before, 1);
  for (int i = 0; i < r->num_targets; i++) free(before[i]);
  free_vectors(&v);
  CHECK_OK(ierr);
}

static void check_overwriting(RandomOperator *r, uint64_t *seed) {
  check_call(r, seed, CeedOperatorApply, false, false);
}
static void check_adding(RandomOperator *r, uint64_t *seed) {
  check_call(r, seed, CeedOperatorApplyAdd, true, true);
}
static void check_adding_active(RandomOperator *r, uint64_t *seed) {
  check_call(r, seed, CeedOperatorApplyAddActive, true, false);
}

TEST_EACH_BACKEND(apply_overwrites_all_outputs) {
  with_operators(ceed, (RandomOptions){0}, num_draws(8), SAME_OPERATORS, check_overwriting);
}

TEST_EACH_BACKEND(apply_add_adds_to_all_outputs) {
  with_operators(ceed, (RandomOptions){0}, num_draws(8), SAME_OPERATORS, check_adding);
}

TEST_EACH_BACKEND(apply_add_active_overwrites_passive_outputs) {
  with_operators(ceed, (RandomOptions){0}, num_draws(8), SAME_OPERATORS, check_adding_active);
}

static void check_input_is_kept(RandomOperator *r, uint64_t *seed) {
  Vectors v = make_vectors(r, seed);
  int ierr = CeedOperatorApply(r->op, v.in, v.out, CEED_REQUEST_IMMEDIATE);
  double *x = reference_new_values(v.in);
  int is_same = memcmp(x, v.x, (size_t)r->input_size * sizeof(*x)) == 0;

  free(x);
  free_vectors(&v);
  CHECK_OK(ierr);
  CHECK(is_same, "the active input was written");
}

TEST_EACH_BACKEND(apply_leaves_its_input_as_it_is) {
  with_operators(ceed, (RandomOptions){.num_active_in = 1}, num_draws(8), 3300000, check_input_is_kept);
}

// Backends may keep what does not depend on the active input between applies; not for longer than it is true.
static void check_changes(RandomOperator *r, uint64_t *seed) {
  apply_and_check(r, seed);
  if (!tap_failed()) CHECK_OK(random_operator_change_passive(r, seed));
  if (!tap_failed()) apply_and_check(r, seed);
  if (!tap_failed()) CHECK_OK(random_operator_change_context(r, seed));
  if (!tap_failed()) apply_and_check(r, seed);
}

TEST_EACH_BACKEND(changes_of_passive_vectors_and_context_are_seen) {
  with_operators(ceed, (RandomOptions){0}, num_draws(8), SAME_OPERATORS, check_changes);
}

// ---- Reproducibility ----

// The active output's bits after an apply of r to x.
static double *apply_to(const RandomOperator *r, const double *x) {
  CeedVector in = reference_vector(r->ceed, r->input_size, x), out = NULL;
  double *y = NULL;

  CeedVectorCreate(r->ceed, r->output_size, &out);
  if (!CeedOperatorApply(r->op, in, out, CEED_REQUEST_IMMEDIATE)) y = reference_new_values(out);
  CeedVectorDestroy(&in);
  CeedVectorDestroy(&out);
  return y ? y : reference_new(r->output_size);
}

static const RandomOptions with_both_active = {.num_active_in = 1, .num_active_out = 1};

TEST_EACH_BACKEND(deterministic_backends_repeat_every_bit) {
  bool is_deterministic = false;

  CHECK_OK(CeedIsDeterministic(ceed, &is_deterministic));
  if (!is_deterministic) NOT_FOR_THIS_BACKEND("not a deterministic backend");
  for (int i = 0; i < random_num_draws(ceed, num_draws(8)); i++) {
    uint64_t seeds[] = {4000000 + (uint64_t)i, 4000000 + (uint64_t)i};
    RandomOperator first, second; // the same operator, made twice

    int ierr = random_operator_create(ceed, &with_both_active, &seeds[0], &first) ||
               random_operator_create(ceed, &with_both_active, &seeds[1], &second);
    CHECK(!ierr, "operator of seed %d cannot be made", 4000000 + i);
    double *x = reference_new_random(first.input_size, &seeds[0]);
    double *y[] = {apply_to(&first, x), apply_to(&first, x), apply_to(&second, x)};
    size_t size = (size_t)first.output_size * sizeof(double);
    bool is_same[] = {!memcmp(y[0], y[1], size), !memcmp(y[0], y[2], size)};

    for (int k = 0; k < 3; k++) free(y[k]);
    free(x);
    random_operator_destroy(&second);
    random_operator_destroy(&first);
    CHECK(is_same[0], "second apply of operator %d", 4000000 + i);
    CHECK(is_same[1], "apply of an equal operator %d", 4000000 + i);
  }
}

// ---- Properties of every linear operator ----

// A bound for the rounding errors of y . (A x) in terms of those of the entries of A x, for |y_i| <= 1.
static double product_tolerance(const RandomOperator *r, const double *x) {
  double *y = reference_new(r->output_size), tolerance = random_target_apply(r, &r->targets[0], x, y);

  free(y);
  return tolerance * (double)r->output_size;
}

// A (a x + b z) = a A x + b A z
static void check_linear(RandomOperator *r, uint64_t *seed) {
  double a = 0.75, b = -1.5, *x = reference_new_random(r->input_size, seed),
         *z = reference_new_random(r->input_size, seed);
  double *sum = reference_new(r->input_size), *ax = apply_to(r, x), *az = apply_to(r, z);

  for (CeedSize i = 0; i < r->input_size; i++) sum[i] = (double)(CeedScalar)(a * x[i] + b * z[i]);
  double *asum = apply_to(r, sum);
  for (CeedSize i = 0; i < r->output_size; i++) ax[i] = a * ax[i] + b * az[i];
  double error = reference_distance(r->output_size, ax, asum), *y = reference_new(r->output_size);
  double tolerance =
      3.0 * (random_target_apply(r, &r->targets[0], x, y) + random_target_apply(r, &r->targets[0], z, y));
  double *all[] = {x, z, sum, ax, az, asum, y};

  for (int i = 0; i < 7; i++) free(all[i]);
  CHECK(error <= tolerance, "off by %g, allowed %g", error, tolerance);
}

TEST_EACH_BACKEND(operators_with_linear_qfunctions_are_linear) {
  RandomOptions options = with_both_active;

  options.is_linear = true;
  with_operators(ceed, options, num_draws(8), 5000000, check_linear);
}

static void check_symmetric(RandomOperator *r, uint64_t *seed) {
  CeedSize n = r->input_size;
  double *u = reference_new_random(n, seed), *v = reference_new_random(n, seed), *au = apply_to(r, u),
         *av = apply_to(r, v);
  double uav = reference_dot(n, u, av), vau = reference_dot(n, v, au);
  double tolerance = product_tolerance(r, u) + product_tolerance(r, v);
  double *all[] = {u, v, au, av};

  for (int i = 0; i < 4; i++) free(all[i]);
  CHECK_NEAR(uav, vau, tolerance, "u . A v and v . A u");
}

TEST_EACH_BACKEND(symmetric_qfunctions_give_symmetric_operators) {
  RandomOptions options = {.num_active_in = 1, .is_linear = true, .is_symmetric = true};

  with_operators(ceed, options, num_draws(8), 5100000, check_symmetric);
}

// y . A x = x . A^T y, where A^T is an operator with inputs and outputs exchanged.
static void check_adjoint(RandomOperator *r, uint64_t *seed) {
  RandomOperator adjoint;
  int ierr = random_operator_create_adjoint(r, &adjoint);
  double *x = reference_new_random(r->input_size, seed), *y = reference_new_random(r->output_size, seed);
  double *ax = apply_to(r, x), *ay = ierr ? NULL : apply_to(&adjoint, y);
  double yax = reference_dot(r->output_size, y, ax), xay = ay ? reference_dot(r->input_size, x, ay) : NAN;
  double tolerance = product_tolerance(r, x) + (ierr ? 0.0 : product_tolerance(&adjoint, y));
  double *all[] = {x, y, ax, ay};

  for (int i = 0; i < 4; i++) free(all[i]);
  random_operator_destroy(&adjoint);
  CHECK_OK(ierr);
  CHECK_NEAR(yax, xay, tolerance, "y . A x and x . A^T y");
}

TEST_EACH_BACKEND(exchanging_inputs_and_outputs_gives_the_adjoint) {
  RandomOptions options = with_both_active;

  options.is_linear = true;
  with_operators(ceed, options, num_draws(8), 5200000, check_adjoint);
}

// ---- Composite operators ----

enum { NUM_PARTS = 3 };

// Sums of random operators of equal active lengths, one of them used twice.
static void check_composite(Ceed ceed, uint64_t seed) {
  RandomOptions options = {.num_active_in = 1, .num_active_out = 1, .input_size = 60, .output_size = 45};
  RandomOperator parts[NUM_PARTS];
  CeedOperator sum = NULL;
  int ierr = CeedOperatorCreateComposite(ceed, &sum);

  for (int i = 0; i < NUM_PARTS; i++) {
    int failed = random_operator_create(ceed, &options, &seed, &parts[i]);

    if (!ierr) ierr = failed;
    if (!ierr) ierr = CeedOperatorCompositeAddSub(sum, parts[i].op);
  }
  if (!ierr) ierr = CeedOperatorCompositeAddSub(sum, parts[0].op);

  Vectors v = make_vectors(&parts[0], &seed);
  double *before = reference_new_random(45, &seed), *y = reference_new(45), *part = reference_new(45),
         tolerance = 0.0, error = NAN;
  for (int i = 0; i <= NUM_PARTS; i++) {
    tolerance += random_target_apply(&parts[i % NUM_PARTS], &parts[i % NUM_PARTS].targets[0], v.x, part);
    for (int k = 0; k < 45; k++) y[k] += part[k];
  }
  if (!ierr) ierr = CeedOperatorApply(sum, v.in, v.out, CEED_REQUEST_IMMEDIATE);
  if (!ierr) reference_values(v.out, part);
  if (!ierr) error = reference_distance(45, y, part);
  // Passive outputs of the parts: the first part runs twice.
  for (int i = 1; !ierr && i < NUM_PARTS && !tap_failed(); i++) {
    RandomOperator passive = parts[i];

    if (passive.num_targets < 2) continue;
    passive.num_targets--;
    memmove(passive.targets, passive.targets + 1, (size_t)passive.num_targets * sizeof(*passive.targets));
    check_targets(&passive, &v, NULL, 1);
  }

  // The same, added to what is there.
  CeedVector old = reference_vector(ceed, 45, before);
  if (!ierr) ierr = CeedOperatorApplyAdd(sum, v.in, old, CEED_REQUEST_IMMEDIATE);
  if (!ierr) reference_values(old, part);
  for (int k = 0; k < 45; k++) y[k] += before[k];
  double error_of_adding = ierr ? NAN : reference_distance(45, y, part);

  CeedVectorDestroy(&old);
  double *all[] = {before, y, part};
  for (int i = 0; i < 3; i++) free(all[i]);
  free_vectors(&v);
  CeedOperatorDestroy(&sum);
  for (int i = 0; i < NUM_PARTS; i++) random_operator_destroy(&parts[i]);
  CHECK_OK(ierr);
  CHECK(error <= tolerance, "apply is off by %g, allowed %g", error, tolerance);
  CHECK(error_of_adding <= tolerance + 4 * eps, "adding is off by %g, allowed %g", error_of_adding,
        tolerance);
}

TEST_EACH_BACKEND(composite_operators_are_sums) {
  for (int i = 0; i < random_num_draws(ceed, num_draws(16)) && !tap_failed(); i++)
    check_composite(ceed, 6000000 + (uint64_t)i);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(random_operators_match_their_dense_matrices,
                        random_operators_in_mixed_precisions_match_their_dense_matrices,
                        random_operators_with_one_element_match_their_dense_matrices,
                        random_operators_cover_what_the_standard_allows, operators_without_elements_give_zero,
                        apply_overwrites_all_outputs, apply_add_adds_to_all_outputs,
                        apply_add_active_overwrites_passive_outputs, apply_leaves_its_input_as_it_is,
                        changes_of_passive_vectors_and_context_are_seen,
                        deterministic_backends_repeat_every_bit, operators_with_linear_qfunctions_are_linear,
                        symmetric_qfunctions_give_symmetric_operators,
                        exchanging_inputs_and_outputs_gives_the_adjoint, composite_operators_are_sums));
}
