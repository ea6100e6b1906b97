// SPDX-License-Identifier: BSD-2-Clause
// Operators on devices give the numbers of the reference backend: whatever may be in an operator, meshes of
// every size, several contexts at once. Where a context says that it is deterministic, every bit is repeated.
// Memory: test-gpu-memory.c, QFunctions: test-gpu-qfunction.c.
#include "backends/gpu/memory.h"
#include "tests/gpu-kit.h"

#include "base/threads.h"
#include "tests/random-operator.h"
#include <math.h>

static int by_level(int quick, int full, int exhaustive) {
  const int values[] = {quick, full, exhaustive};

  return values[tap_level()];
}

// ---- Random operators ----

// Strides that a backend chooses may differ: then the same numbers mean another operator.
static bool are_alike(const RandomOperator *a, const RandomOperator *b) {
  for (int i = 0; i < a->num_spaces; i++) {
    if (a->spaces[i].type != CEED_RESTRICTION_STRIDED) continue;
    if (memcmp(a->spaces[i].strides, b->spaces[i].strides, sizeof(a->spaces[i].strides)) != 0) return false;
  }
  return true;
}

// New values of all outputs, those of the active one in *out.
static int apply_random(const RandomOperator *r, const double *x, CeedVector *out) {
  CeedVector in = r->input_size ? reference_vector(r->ceed, r->input_size, x) : CEED_VECTOR_NONE;
  int ierr = CEED_ERROR_SUCCESS;

  *out = CEED_VECTOR_NONE;
  if (r->output_size) ierr = CeedVectorCreate(r->ceed, r->output_size, out);
  if (!ierr) ierr = CeedOperatorApply(r->op, in, *out, CEED_REQUEST_IMMEDIATE);
  CeedVectorDestroy(&in);
  return ierr;
}

static void compare_targets(const RandomOperator *a, CeedVector out_a, const RandomOperator *b,
                            CeedVector out_b, const double *x) {
  for (int i = 0; i < a->num_targets && !tap_failed(); i++) {
    const RandomTarget *t = &a->targets[i];
    double *y = reference_new(t->length), tolerance = 2 * random_target_apply(a, t, x, y);
    double *values_a = reference_new_values(t->vector ? t->vector->vector : out_a);
    double *values_b = reference_new_values(t->vector ? b->targets[i].vector->vector : out_b);
    double error = reference_distance(t->length, values_a, values_b);

    free(y);
    free(values_a);
    free(values_b);
    CHECK(error <= tolerance, "output %d differs by %g, allowed %g", i, error, tolerance);
  }
}

static void compare_random(const RandomOperator *a, const RandomOperator *b, uint64_t *seed) {
  double *x = reference_new_random(a->input_size, seed);
  CeedVector out_a = CEED_VECTOR_NONE, out_b = CEED_VECTOR_NONE;
  int ierr = apply_random(a, x, &out_a);

  if (!ierr) ierr = apply_random(b, x, &out_b);
  if (!ierr) compare_targets(a, out_a, b, out_b, x);
  free(x);
  CeedVectorDestroy(&out_a);
  CeedVectorDestroy(&out_b);
  CHECK_OK(ierr);
}

// The same draw on a device and on the reference backend.
static void draw_and_compare(Ceed ceed, Ceed reference, uint64_t seed, int *num_compared) {
  const RandomOptions options = {.in_batches = seed % 2 == 0};
  RandomOperator a, b;
  uint64_t state_a = seed, state_b = seed;
  int ierr = random_operator_create(ceed, &options, &state_a, &a);
  int ierr_b = random_operator_create(reference, &options, &state_b, &b);

  if (!ierr) ierr = ierr_b;
  if (!ierr && are_alike(&a, &b)) {
    compare_random(&a, &b, &state_a);
    ++*num_compared;
  }
  if (ierr || tap_failed())
    tap_note("operator of seed %llu: %s", (unsigned long long)seed, random_operator_describe(&a));
  random_operator_destroy(&a);
  random_operator_destroy(&b);
  CHECK_OK(ierr);
}

TEST_EACH_GPU(random_operators_equal_those_of_the_reference_backend) {
  Ceed reference = tap_ceed("/cpu/self/ref");
  int num = by_level(4, tap_compiles_slowly(ceed) ? 40 : 100, 1000), num_compared = 0;

  for (int i = 0; i < num && !tap_failed(); i++)
    draw_and_compare(ceed, reference, 7000000 + (uint64_t)i, &num_compared);
  CeedDestroy(&reference);
  if (!tap_failed()) CHECK(num_compared >= num / 4, "only %d of %d could be compared", num_compared, num);
}

// ---- Sizes ----

static void compare_chain(Ceed ceed, Ceed reference, ChainShape s) {
  CeedSize size = chain_size(&s);
  uint64_t seed = 12345;
  double *x = reference_new_random(size, &seed), *y = reference_new(size), *wanted = reference_new(size);
  int ierr;

  s.seed = 54321;
  ierr = chain_apply(ceed, &s, x, y);
  if (!ierr) ierr = chain_apply(reference, &s, x, wanted);
  double error = reference_distance(size, y, wanted), tolerance = chain_tolerance(&s, wanted);
  free(x);
  free(y);
  free(wanted);
  if (ierr || !(error <= tolerance))
    tap_note("%s in %dD, degree %d, %d^%d points, %d elements", s.is_diffusion ? "diffusion" : "mass",
             (int)s.dim, (int)s.P_1d - 1, (int)s.Q_1d, (int)s.dim, (int)s.num_elem);
  CHECK_OK(ierr);
  CHECK(error <= tolerance, "off by %g, allowed %g", error, tolerance);
}

// One element, primes, less than a block of threads and more than one.
static void compare_chains(Ceed ceed, Ceed reference, CeedInt dim, CeedInt degree) {
  static const CeedInt num_elem[] = {1, 2, 7, 61, 257, 1009};
  const CeedInt max_nodes = by_level(3000, 50000, 200000);

  for (size_t k = 0; k < sizeof(num_elem) / sizeof(num_elem[0]) && !tap_failed(); k++) {
    if (k > 1 && num_elem[k] * CeedIntPow(degree + 1, dim) > max_nodes) break;
    for (int is_diffusion = 0; is_diffusion < 2 && !tap_failed(); is_diffusion++) {
      compare_chain(ceed, reference,
                    (ChainShape){.dim = dim,
                                 .num_elem = num_elem[k],
                                 .P_1d = degree + 1,
                                 .Q_1d = degree + 2,
                                 .is_diffusion = is_diffusion});
    }
  }
}

TEST_EACH_GPU(mass_and_diffusion_equal_the_reference_on_any_number_of_elements) {
  static const CeedInt max_degree[] = {0, 3, 3, 1};
  Ceed reference = tap_ceed("/cpu/self/ref");

  for (CeedInt dim = 1; dim <= 3; dim++) {
    const bool is_quick = tap_level() == TAP_QUICK;
    const CeedInt most = is_quick ? max_degree[dim] : 8;
    const CeedInt step = is_quick ? 2 : tap_compiles_slowly(ceed) ? 3 : 1;

    for (CeedInt degree = 1; degree <= most && !tap_failed(); degree += step)
      compare_chains(ceed, reference, dim, degree);
  }
  CeedDestroy(&reference);
}

TEST_EACH_GPU(fewer_points_than_nodes_and_many_more_equal_the_reference) {
  Ceed reference = tap_ceed("/cpu/self/ref");

  for (CeedInt dim = 1; dim <= by_level(2, 3, 3) && !tap_failed(); dim++) {
    compare_chain(ceed, reference,
                  (ChainShape){.dim = dim, .num_elem = 13, .P_1d = 5, .Q_1d = 2, .is_diffusion = true});
    compare_chain(ceed, reference,
                  (ChainShape){.dim = dim, .num_elem = 13, .P_1d = 2, .Q_1d = 7, .is_diffusion = true});
  }
  CeedDestroy(&reference);
}

// More nodes than any block has threads: kernels compiled for a size give way to those for any size.
TEST_EACH_GPU(elements_of_any_order_equal_the_reference) {
  Ceed reference = tap_ceed("/cpu/self/ref");

  compare_chain(ceed, reference,
                (ChainShape){.dim = 2, .num_elem = 2, .P_1d = 33, .Q_1d = 35, .is_diffusion = true});
  if (!tap_failed() && tap_level() > TAP_QUICK)
    compare_chain(ceed, reference,
                  (ChainShape){.dim = 3, .num_elem = 2, .P_1d = 17, .Q_1d = 18, .is_diffusion = true});
  CeedDestroy(&reference);
}

// ---- Composites ----

// A 3D mesh and a 1D mesh of other order and number on the same L-vector; the longer one is cut off.
static int apply_composite(Ceed ceed, CeedSize size, const double *x, double *y) {
  const ChainShape shapes[2] = {
      {.dim = 3, .num_elem = 9, .P_1d = 3, .Q_1d = 4, .is_diffusion = true, .seed = 1},
      {.dim = 1, .num_elem = 78, .P_1d = 4, .Q_1d = 4, .is_diffusion = false, .seed = 2}};
  Chain parts[2] = {{0}, {0}};
  CeedOperator sum = NULL;
  int ierr = CeedOperatorCreateComposite(ceed, &sum);

  for (int i = 0; !ierr && i < 2; i++) {
    ierr = chain_create(ceed, &shapes[i], &parts[i]);
    if (!ierr) ierr = CeedOperatorCompositeAddSub(sum, parts[i].op);
  }
  if (!ierr) ierr = apply_to_values(sum, size, x, y);
  CeedOperatorDestroy(&sum);
  for (int i = 0; i < 2; i++) chain_destroy(&parts[i]);
  return ierr;
}

TEST_EACH_GPU(composites_of_different_meshes_equal_the_reference) {
  enum { SIZE = 9 * 26 + 1 }; // 78 * 3 + 1 as well
  Ceed reference = tap_ceed("/cpu/self/ref");
  uint64_t seed = 99;
  double *x = reference_new_random(SIZE, &seed), y[SIZE], wanted[SIZE];
  const ChainShape largest = {.dim = 3, .num_elem = 9, .P_1d = 3, .Q_1d = 4};

  CHECK_OK(apply_composite(ceed, SIZE, x, y));
  CHECK_OK(apply_composite(reference, SIZE, x, wanted));
  CHECK_NEAR(reference_distance(SIZE, y, wanted), 0, chain_tolerance(&largest, wanted), "the sum");
  free(x);
  CeedDestroy(&reference);
}

// ---- Repetition ----

// All elements share a few nodes: additions meet in every entry.
static int create_crowd(Ceed ceed, Chain *c) {
  return chain_create(
      ceed, &(ChainShape){.dim = 2, .num_elem = 600, .P_1d = 3, .Q_1d = 3, .seed = 5, .num_nodes = 11}, c);
}

static void check_repeats(Ceed ceed) {
  Chain c;
  uint64_t seed = 3;
  double *x = reference_new_random(11, &seed), y[11], first[11];
  bool is_deterministic = false;

  CHECK_OK(CeedIsDeterministic(ceed, &is_deterministic));
  CHECK(is_deterministic, "the context says that it is not deterministic");
  CHECK_OK(create_crowd(ceed, &c));
  CHECK_OK(apply_to_values(c.op, c.size, x, first));
  CHECK(reference_largest(11, first) > 0, "the result is zero");
  for (int i = 0; i < by_level(20, 200, 2000); i++) {
    CHECK_OK(apply_to_values(c.op, c.size, x, y));
    CHECK(!memcmp(y, first, sizeof(y)), "application %d differs by %g", i, reference_distance(11, y, first));
  }
  chain_destroy(&c);
  free(x);
}

TEST_EACH_GPU(deterministic_contexts_repeat_every_bit) {
  const bool is_ref = strstr(resource_of(ceed), "/ref");
  char resource[CEED_MAX_RESOURCE_LEN];

  snprintf(resource, sizeof(resource), "%s%s", resource_of(ceed), is_ref ? "" : ":deterministic");
  Ceed other = tap_ceed(resource);
  check_repeats(other);
  if (tap_failed()) return;
  CHECK_OK(CeedDestroy(&other));
}

TEST_EACH_GPU(additions_that_meet_are_all_counted) {
  Ceed reference = tap_ceed("/cpu/self/ref");
  Chain c;
  uint64_t seed = 4;
  double *x = reference_new_random(11, &seed), y[11], wanted[11];

  CHECK_OK(create_crowd(reference, &c));
  CHECK_OK(apply_to_values(c.op, c.size, x, wanted));
  chain_destroy(&c);
  CHECK_OK(create_crowd(ceed, &c));
  CHECK_OK(apply_to_values(c.op, c.size, x, y));
  chain_destroy(&c);
  free(x);
  // About 500 terms an entry, each with an error of its own; the sums differ in the order of the terms.
  CHECK_NEAR(reference_distance(11, y, wanted), 0, 2000 * eps * (1 + reference_largest(11, wanted)),
             "the sums");
  CeedDestroy(&reference);
}

// ---- Several contexts ----

enum { NUM_USERS = 2 };

// What one user of a context does over and over.
typedef struct {
  const char *resource;
  ChainShape shape;
  CeedSize size;
  double *x, *wanted; // owned
  int num_rounds;
  double error; // largest; NaN if there is one
  int ierr;
} User;

static void open_users(Ceed ceed, Ceed reference, int num_rounds, User *users) {
  for (int i = 0; i < NUM_USERS; i++) {
    User *u = &users[i];
    uint64_t seed = (uint64_t)i;

    *u = (User){.resource = resource_of(ceed), .num_rounds = num_rounds};
    u->shape =
        (ChainShape){.dim = 2 + i, .num_elem = 40 + 13 * i, .P_1d = 3, .Q_1d = 4, .is_diffusion = i == 0};
    u->size = chain_size(&u->shape);
    u->x = reference_new_random(u->size, &seed);
    u->wanted = reference_new(u->size);
    u->ierr = chain_apply(reference, &u->shape, u->x, u->wanted);
  }
}

static void close_users(User *users) {
  for (int i = 0; i < NUM_USERS; i++) {
    free(users[i].x);
    free(users[i].wanted);
  }
}

static void check_users(const User *users) {
  for (int i = 0; i < NUM_USERS; i++) {
    CHECK_OK(users[i].ierr);
    CHECK_NEAR(users[i].error, 0, chain_tolerance(&users[i].shape, users[i].wanted), "user %d", i);
  }
}

static int run_round(User *u, CeedOperator op) {
  double *y = reference_new(u->size);
  int ierr = apply_to_values(op, u->size, u->x, y);
  double error = reference_distance(u->size, y, u->wanted);

  if (!(error <= u->error)) u->error = error;
  free(y);
  return ierr;
}

TEST_EACH_GPU(two_contexts_on_one_device_are_used_in_turns) {
  Ceed reference = tap_ceed("/cpu/self/ref"), ceeds[NUM_USERS] = {ceed, tap_ceed(resource_of(ceed))};
  User users[NUM_USERS];
  Chain chains[NUM_USERS];

  open_users(ceed, reference, by_level(20, 200, 2000), users);
  for (int i = 0; i < NUM_USERS; i++) CHECK_OK(chain_create(ceeds[i], &users[i].shape, &chains[i]));
  for (int round = 0; round < users[0].num_rounds; round++) {
    for (int i = 0; i < NUM_USERS; i++) CHECK_OK(run_round(&users[i], chains[i].op));
  }
  check_users(users);
  close_users(users);
  for (int i = 0; i < NUM_USERS; i++) chain_destroy(&chains[i]);
  CeedDestroy(&ceeds[1]);
  CeedDestroy(&reference);
}

// A context from its beginning to its end on one thread, several times.
static int use_context(void *data, int thread) {
  User *u = &((User *)data)[thread];

  for (int k = 0; k < 3 && !u->ierr; k++) {
    Ceed ceed = NULL;
    Chain chain = {0};

    u->ierr = CeedInit(u->resource, &ceed);
    if (!u->ierr) u->ierr = CeedSetErrorHandler(ceed, CeedErrorReturn);
    if (!u->ierr) u->ierr = chain_create(ceed, &u->shape, &chain);
    for (int i = 0; i < u->num_rounds && !u->ierr; i++) u->ierr = run_round(u, chain.op);
    chain_destroy(&chain);
    CeedDestroy(&ceed);
  }
  return CEED_ERROR_SUCCESS;
}

TEST_EACH_GPU(two_threads_use_contexts_of_their_own) {
  Ceed reference = tap_ceed("/cpu/self/ref");
  User users[NUM_USERS];
  RitzTeam team = NULL;

  open_users(ceed, reference, by_level(20, 200, 2000), users);
  CHECK_OK(ritz_team_create(NULL, NUM_USERS, &team));
  CHECK_OK(ritz_team_run(team, use_context, users));
  ritz_team_destroy(&team);
  check_users(users);
  close_users(users);
  CeedDestroy(&reference);
}

// ---- Long vectors ----

enum { FAR_NODES = 4, FAR_COMP = 5 };
static const CeedInt far_stride = 1 << 30; // component 4 begins at entry 2^32

static int read_entry(Ceed ceed, CeedVector v, CeedSize at, CeedScalar *entry) {
  const CeedScalar *array = NULL;

  CeedCall(CeedVectorGetArrayRead(v, CEED_MEM_DEVICE, &array));
  int ierr = ritz_gpu_copy_out(ceed, sizeof(*entry), entry, array + at);
  CeedVectorRestoreArrayRead(v, &array);
  return ierr;
}

// Adding the E-vector to zeros and fetching it again.
static void check_far_components(Ceed ceed, CeedSize length) {
  const CeedInt offsets[FAR_NODES] = {3, 0, 2, 1};
  CeedElemRestriction rstr = NULL;
  CeedVector l = NULL, e = NULL, back = NULL;
  double values[FAR_NODES * FAR_COMP], found[FAR_NODES * FAR_COMP], sum = 0;
  CeedScalar norm = 0, entry = 0;

  for (int k = 0; k < FAR_NODES * FAR_COMP; k++) sum += values[k] = k + 1;
  CHECK_OK(CeedElemRestrictionCreate(ceed, 1, FAR_NODES, FAR_COMP, far_stride, length, CEED_MEM_HOST,
                                     CEED_COPY_VALUES, offsets, &rstr));
  CHECK_OK(CeedElemRestrictionCreateVector(rstr, &l, NULL));
  e = reference_vector(ceed, FAR_NODES * FAR_COMP, values);
  CHECK_OK(CeedVectorCreate(ceed, FAR_NODES * FAR_COMP, &back));
  CHECK_OK(CeedVectorSetValue(l, 0));
  CHECK_OK(CeedElemRestrictionApply(rstr, CEED_TRANSPOSE, e, l, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedElemRestrictionApply(rstr, CEED_NOTRANSPOSE, l, back, CEED_REQUEST_IMMEDIATE));
  reference_values(back, found);
  CHECK(!memcmp(found, values, sizeof(found)), "fetched entries differ by %g",
        reference_distance(FAR_NODES * FAR_COMP, found, values));
  for (int k = 0; k < FAR_NODES * FAR_COMP; k++) {
    CHECK_OK(read_entry(ceed, l, (CeedSize)(k / FAR_NODES) * far_stride + offsets[k % FAR_NODES], &entry));
    CHECK((double)entry == values[k], "entry %d is %g", k, (double)entry);
  }
  CHECK_OK(CeedVectorNorm(l, CEED_NORM_1, &norm));
  CHECK_NEAR(norm, sum, 0, "norm of the long vector"); // whole numbers
  CeedVectorDestroy(&l);
  CeedVectorDestroy(&e);
  CeedVectorDestroy(&back);
  CeedElemRestrictionDestroy(&rstr);
}

TEST_EACH_GPU(components_beyond_2_to_32_entries_are_reached) {
  const CeedSize length = (CeedSize)(FAR_COMP - 1) * far_stride + FAR_NODES;
  const int64_t needed = (int64_t)length * (int64_t)sizeof(CeedScalar);
  int64_t num_free = -1;

  CHECK_OK(ritz_gpu(ceed)->driver->memory(ceed, ritz_gpu(ceed)->device, &num_free));
  if (num_free < needed + needed / 10) {
    tap_note("not on %s: %lld bytes needed, %lld free", resource_of(ceed), (long long)needed,
             (long long)num_free);
    return;
  }
  check_far_components(ceed, length);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(random_operators_equal_those_of_the_reference_backend,
                        mass_and_diffusion_equal_the_reference_on_any_number_of_elements,
                        fewer_points_than_nodes_and_many_more_equal_the_reference,
                        elements_of_any_order_equal_the_reference,
                        composites_of_different_meshes_equal_the_reference,
                        deterministic_contexts_repeat_every_bit, additions_that_meet_are_all_counted,
                        two_contexts_on_one_device_are_used_in_turns, two_threads_use_contexts_of_their_own,
                        components_beyond_2_to_32_entries_are_reached));
}
