// SPDX-License-Identifier: BSD-2-Clause
// Random operators on /gpu/*/gen against their dense matrices, which are put together in the test, and
// against /cpu/self/ref: all three ways to apply them, changed contexts and passive data, composites. Of each
// text a few operators run, on other meshes; half of the texts are of deterministic contexts. On all backends
// alike: test-operator.c, test-gpu.c.
//
//     test-gpu-random [test]
//     test-gpu-random --seed N     the one operator that a message names
#include <math.h>
#include <ritz/jit.h>
#include <ritz/operator.h>

#include "tests/gpu-kit.h"
#include "tests/random-operator.h"

// ---- Which operators ----

enum { SEED = 30000000, MESHES = 5 }; // operators of a text

static uint64_t only_seed; // the one that runs; 0: all do

// Bases of one text in five are of any kind: dense ones too, or none.
static RandomOptions options_of(uint64_t seed) {
  return (RandomOptions){.in_batches = true, .is_tensor = seed / MESHES % 5 != 4, .mesh = seed};
}

static int create_operator(Ceed ceed, uint64_t seed, RandomOperator *r) {
  const RandomOptions options = options_of(seed);
  uint64_t shape = seed / MESHES;

  return random_operator_create(ceed, &options, &shape, r);
}

static int num_operators(Ceed ceed) {
  static const int num[] = {15, 200, 1000}, num_on_cuda[] = {15, 1000, 4000};

  return (is_cuda(ceed) ? num_on_cuda : num)[tap_level()];
}

// ---- Applying ----

typedef struct {
  const char *name;
  int (*call)(CeedOperator op, CeedVector in, CeedVector out, CeedRequest *request);
  bool adds_active, adds_passive;
} Way;

static const Way ways[] = {{"Apply", CeedOperatorApply, false, false},
                           {"ApplyAdd", CeedOperatorApplyAdd, true, true},
                           {"ApplyAddActive", CeedOperatorApplyAddActive, true, false}};

// Numbers of all targets: [num_targets].
typedef struct {
  double *y[RANDOM_MAX_FIELDS]; // owned
} Results;

static void free_results(const RandomOperator *r, Results *results) {
  for (int i = 0; i < r->num_targets; i++) free(results->y[i]);
}

static CeedVector vector_of_target(const RandomTarget *t, CeedVector out) {
  return t->vector ? t->vector->vector : out;
}

static int set_values(CeedVector vector, CeedSize length, const double *values) {
  CeedScalar *array = NULL;

  CeedCall(CeedVectorGetArrayWrite(vector, CEED_MEM_HOST, &array));
  for (CeedSize i = 0; i < length; i++) array[i] = (CeedScalar)values[i];
  return CeedVectorRestoreArray(vector, &array);
}

// Applies to x, with the targets holding `before`.
static int apply_way(const RandomOperator *r, const Way *way, const double *x, const Results *before,
                     Results *after) {
  CeedVector in = r->input_size ? reference_vector(r->ceed, r->input_size, x) : CEED_VECTOR_NONE;
  CeedVector out = CEED_VECTOR_NONE;
  int ierr = r->output_size ? CeedVectorCreate(r->ceed, r->output_size, &out) : CEED_ERROR_SUCCESS;

  for (int i = 0; !ierr && i < r->num_targets; i++)
    ierr = set_values(vector_of_target(&r->targets[i], out), r->targets[i].length, before->y[i]);
  if (!ierr) ierr = way->call(r->op, in, out, CEED_REQUEST_IMMEDIATE);
  for (int i = 0; i < r->num_targets; i++)
    after->y[i] = ierr ? reference_new(r->targets[i].length)
                       : reference_new_values(vector_of_target(&r->targets[i], out));
  CeedVectorDestroy(&in);
  CeedVectorDestroy(&out);
  return ierr;
}

// The matrix times x, and what was there before if it adds; returns a bound of the rounding errors.
static double expected(const RandomOperator *r, int target, const Way *way, const double *x,
                       const Results *before, double *y) {
  const RandomTarget *t = &r->targets[target];
  double tolerance = random_target_apply(r, t, x, y);

  if (!(t->vector ? way->adds_passive : way->adds_active)) return tolerance;
  for (CeedSize k = 0; k < t->length; k++) y[k] += before->y[target][k];
  return tolerance + eps * reference_largest(t->length, before->y[target]) * r->num_elem * r->Q;
}

// ---- One operator, there and on the reference backend ----

typedef struct {
  RandomOperator r, reference;
  bool
      has_reference; // strides that a backend chooses may differ: then the same numbers mean another operator
} Pair;

static bool are_alike(const RandomOperator *a, const RandomOperator *b) {
  for (int i = 0; i < a->num_spaces; i++) {
    if (a->spaces[i].type != CEED_RESTRICTION_STRIDED) continue;
    if (memcmp(a->spaces[i].strides, b->spaces[i].strides, sizeof(a->spaces[i].strides)) != 0) return false;
  }
  return true;
}

static int open_pair(Ceed ceed, Ceed reference, uint64_t seed, Pair *p) {
  const int ierr = create_operator(ceed, seed, &p->r),
            failed = create_operator(reference, seed, &p->reference);

  p->has_reference = !ierr && !failed && are_alike(&p->r, &p->reference);
  return ierr ? ierr : failed;
}

static void close_pair(Pair *p) {
  random_operator_destroy(&p->r);
  random_operator_destroy(&p->reference);
}

static void compare(const Pair *p, const Way *way, const double *x, const Results *before,
                    const Results *after, const Results *of_reference) {
  for (int i = 0; i < p->r.num_targets; i++) {
    const CeedSize length = p->r.targets[i].length;
    double *y = reference_new(length), tolerance = expected(&p->r, i, way, x, before, y);
    const double error = reference_distance(length, after->y[i], y);
    const double distance = of_reference ? reference_distance(length, after->y[i], of_reference->y[i]) : 0;

    free(y);
    CHECK(error <= tolerance, "%s: target %d is off by %g, allowed %g", way->name, i, error, tolerance);
    CHECK(distance <= 2 * tolerance, "%s: target %d differs from the reference backend's by %g, allowed %g",
          way->name, i, distance, 2 * tolerance);
  }
}

static void check_way(const Pair *p, const Way *way, uint64_t *seed) {
  double *x = reference_new_random(p->r.input_size, seed);
  Results before, after, of_reference = {{NULL}};
  int failed = CEED_ERROR_SUCCESS;

  for (int i = 0; i < p->r.num_targets; i++) before.y[i] = reference_new_random(p->r.targets[i].length, seed);
  const int ierr = apply_way(&p->r, way, x, &before, &after);
  if (p->has_reference) failed = apply_way(&p->reference, way, x, &before, &of_reference);
  if (!ierr && !failed) compare(p, way, x, &before, &after, p->has_reference ? &of_reference : NULL);
  free(x);
  free_results(&p->r, &before);
  free_results(&p->r, &after);
  free_results(&p->r, &of_reference);
  CHECK_OK(ierr);
  CHECK_OK(failed);
}

static int change(RandomOperator *r, uint64_t seed) {
  return seed % 2 ? random_operator_change_context(r, &seed) : random_operator_change_passive(r, &seed);
}

// All calls, then one more with other numbers in the context or the passive inputs.
static void check_pair(Pair *p, uint64_t seed) {
  uint64_t state = seed;

  for (int i = 0; i < 3 && !tap_failed(); i++) check_way(p, &ways[i], &state);
  if (tap_failed()) return;
  CHECK_OK(change(&p->r, seed));
  CHECK_OK(change(&p->reference, seed));
  check_way(p, &ways[0], &state);
}

// ---- Many operators ----

// Of a run on one backend.
static struct { int num, num_tensor, num_fused, num_tensor_fused, num_with_reference; } totals;

static int count_operator(const Pair *p, uint64_t seed) {
  const char *const fused = "one generated kernel";
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  const int ierr = RitzOperatorExplain(p->r.op, stream);

  fclose(stream);
  const bool is_fused = !ierr && strstr(text, fused);
  free(text);
  totals.num++;
  totals.num_with_reference += p->has_reference;
  totals.num_fused += is_fused;
  totals.num_tensor += options_of(seed).is_tensor;
  totals.num_tensor_fused += is_fused && options_of(seed).is_tensor;
  return ierr;
}

static void run_operator(Ceed ceed, Ceed reference, uint64_t seed) {
  static Pair p;
  int ierr = open_pair(ceed, reference, seed, &p);

  if (!ierr) check_pair(&p, seed);
  if (!ierr && !tap_failed()) ierr = count_operator(&p, seed);
  if (ierr || tap_failed())
    tap_note("--seed %llu on %s: %s", (unsigned long long)seed, resource_of(ceed),
             random_operator_describe(&p.r));
  if (tap_failed()) return;
  close_pair(&p);
  CHECK_OK(ierr);
}

// Alternating contexts: one that adds in any order, one whose results repeat.
static void run_operators(Ceed ceed, uint64_t first, uint64_t num) {
  char resource[CEED_MAX_RESOURCE_LEN];

  snprintf(resource, sizeof(resource), "%s:deterministic", resource_of(ceed));
  Ceed ceeds[2] = {ceed, tap_ceed(resource)}, reference = tap_ceed("/cpu/self/ref");
  for (uint64_t seed = first; seed < first + num && !tap_failed(); seed++)
    run_operator(ceeds[seed / MESHES % 2], reference, seed);
  CeedDestroy(&ceeds[1]);
  CeedDestroy(&reference);
}

TEST_EACH_GEN(random_operators_are_their_dense_matrices_and_equal_the_reference) {
  RitzJitCounters before, after;

  memset(&totals, 0, sizeof(totals));
  RitzJitGetCounters(&before);
  run_operators(ceed, only_seed ? only_seed : SEED, only_seed ? 1 : (uint64_t)num_operators(ceed));
  RitzJitGetCounters(&after);
  tap_note("%s: %d operators, %d fused, of %d with tensor bases alone %d; %d also compared with the "
           "reference backend",
           resource_of(ceed), totals.num, totals.num_fused, totals.num_tensor, totals.num_tensor_fused,
           totals.num_with_reference);
  tap_note("%d texts compiled in %.1f s, %d from the disk", (int)(after.compilations - before.compilations),
           after.compile_seconds - before.compile_seconds, (int)(after.disk_hits - before.disk_hits));
  if (tap_failed() || only_seed) return;
  CHECK(totals.num_tensor_fused == totals.num_tensor, "%d of %d with tensor bases are fused",
        totals.num_tensor_fused, totals.num_tensor);
  CHECK(totals.num_with_reference >= totals.num / 4, "%d were compared with the reference backend",
        totals.num_with_reference);
}

// ---- Composites ----

enum { PARTS = 3, INPUT = 70, OUTPUT = 45 };

static int create_parts(Ceed ceed, uint64_t seed, RandomOperator *parts, CeedOperator *sum) {
  int ierr = CeedOperatorCreateComposite(ceed, sum);

  for (int i = 0; i < PARTS; i++) {
    const RandomOptions options = {.in_batches = true,
                                   .is_tensor = true,
                                   .num_active_in = 1,
                                   .num_active_out = 1,
                                   .input_size = INPUT,
                                   .output_size = OUTPUT,
                                   .mesh = seed + (uint64_t)i};
    // Two of the parts are the same kernel.
    uint64_t shape = seed + (uint64_t)(i / 2);
    const int failed = random_operator_create(ceed, &options, &shape, &parts[i]);

    if (!ierr) ierr = failed;
    if (!ierr) ierr = CeedOperatorCompositeAddSub(*sum, parts[i].op);
  }
  return ierr;
}

// y = start + sum of all matrices times x; returns a bound of the rounding errors.
static double add_parts(const RandomOperator *parts, const double *x, const double *start, double *y) {
  double part[OUTPUT], tolerance = 10 * eps;

  memcpy(y, start, sizeof(part));
  for (int i = 0; i < PARTS; i++) {
    tolerance += random_target_apply(&parts[i], &parts[i].targets[0], x, part);
    for (int k = 0; k < OUTPUT; k++) y[k] += part[k];
  }
  return tolerance;
}

static void check_sum(Ceed ceed, const RandomOperator *parts, CeedOperator sum, uint64_t seed) {
  static const double zeros[OUTPUT];
  double *x = reference_new_random(INPUT, &seed), *start = reference_new_random(OUTPUT, &seed);
  double y[OUTPUT], wanted[OUTPUT];
  CeedVector in = reference_vector(ceed, INPUT, x), out = NULL;

  CHECK_OK(CeedVectorCreate(ceed, OUTPUT, &out));

  // Passive outputs have no numbers before the first apply.
  CHECK_OK(CeedOperatorApply(sum, in, out, CEED_REQUEST_IMMEDIATE));
  reference_values(out, y);
  const double tolerance = add_parts(parts, x, zeros, wanted);
  CHECK_NEAR(reference_distance(OUTPUT, y, wanted), 0, tolerance, "applied");
  CHECK_OK(set_values(out, OUTPUT, start));
  CHECK_OK(CeedOperatorApplyAdd(sum, in, out, CEED_REQUEST_IMMEDIATE));
  reference_values(out, y);
  add_parts(parts, x, start, wanted);
  CHECK_NEAR(reference_distance(OUTPUT, y, wanted), 0, tolerance, "added");
  CeedVectorDestroy(&in);
  CeedVectorDestroy(&out);
  free(x);
  free(start);
}

static void check_composite(Ceed ceed, uint64_t seed) {
  static RandomOperator parts[PARTS];
  CeedOperator sum = NULL;
  const int ierr = create_parts(ceed, seed, parts, &sum);

  if (!ierr) check_sum(ceed, parts, sum, seed);
  for (int i = 0; i < PARTS && tap_failed(); i++) tap_note("%s", random_operator_describe(&parts[i]));
  CHECK_OK(ierr);
  if (tap_failed()) return;
  CeedOperatorDestroy(&sum);
  for (int i = 0; i < PARTS; i++) random_operator_destroy(&parts[i]);
}

TEST_EACH_GEN(composites_of_random_operators_are_sums) {
  static const int num[] = {1, 10, 100};

  for (int i = 0; i < num[tap_level()] && !tap_failed(); i++) check_composite(ceed, SEED + 10 * (uint64_t)i);
}

// ---- What is drawn ----

// Counts of what kernels are made of: the tests above say nothing of a kind that never comes up.
static struct {
  int dims[4], types[6], modes[17], components[4], interlaced, passive_outputs, two_active_out, numbers[130];
} drawn;

static void count_field(const RandomField *f) {
  drawn.modes[f->mode]++;
  if (f->mode == CEED_EVAL_WEIGHT) return;
  drawn.types[f->space->type]++;
  drawn.components[f->space->num_comp]++;
  drawn.interlaced += f->space->num_comp > 1 && f->space->comp_stride == 1;
}

static void count_drawn(const RandomOperator *r) {
  int num_active = 0;

  for (int i = 0; i < r->num_in; i++) count_field(&r->in[i]);
  for (int i = 0; i < r->num_out; i++) {
    count_field(&r->out[i]);
    num_active += r->out[i].is_active;
  }
  drawn.passive_outputs += num_active < r->num_out;
  drawn.two_active_out += num_active > 1;
  drawn.numbers[r->num_elem]++;
  drawn.dims[r->dim]++;
}

static void check_drawn(int num) {
  static const CeedEvalMode modes[] = {CEED_EVAL_NONE, CEED_EVAL_INTERP, CEED_EVAL_GRAD, CEED_EVAL_WEIGHT};
  static const CeedInt numbers[] = {1, 2, 3, 4, 5, 9, 17, 33, 64, 65, 127, 129};
  const int few = num / 20;

  for (int d = 1; d <= 3; d++) CHECK(drawn.dims[d] >= few, "%dD: %d", d, drawn.dims[d]);
  for (int t = CEED_RESTRICTION_STANDARD; t <= CEED_RESTRICTION_STRIDED; t++)
    CHECK(drawn.types[t] >= few, "restrictions of type %d: %d", t, drawn.types[t]);
  for (int m = 0; m < 4; m++)
    CHECK(drawn.modes[modes[m]] >= few, "mode %d: %d", modes[m], drawn.modes[modes[m]]);
  for (int c = 1; c <= 3; c++) CHECK(drawn.components[c] >= few, "%d components: %d", c, drawn.components[c]);
  for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
    CHECK(drawn.numbers[numbers[i]] >= 1, "never %d elements", (int)numbers[i]);
  CHECK(drawn.interlaced >= few && drawn.passive_outputs >= few && drawn.two_active_out >= few,
        "interlaced %d, passive outputs %d, several active outputs %d", drawn.interlaced,
        drawn.passive_outputs, drawn.two_active_out);
}

TEST(random_operators_cover_what_kernels_are_made_of) {
  enum { NUM = 200 }; // as many as run on PoCL at level full
  Ceed ceed = tap_ceed("/cpu/self/ref");

  memset(&drawn, 0, sizeof(drawn));
  for (int i = 0; i < NUM && !tap_failed(); i++) {
    static RandomOperator r;

    CHECK_OK(create_operator(ceed, SEED + (uint64_t)i, &r));
    count_drawn(&r);
    random_operator_destroy(&r);
  }
  check_drawn(NUM);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  if (argc == 3 && !strcmp(argv[1], "--seed")) {
    static char name[] = "random_operators_are_their_dense_matrices_and_equal_the_reference";

    only_seed = strtoull(argv[2], NULL, 10);
    argv[1] = name;
    argc = 2;
  }
  return tap_main(argc, argv,
                  TESTS(random_operators_are_their_dense_matrices_and_equal_the_reference,
                        composites_of_random_operators_are_sums,
                        random_operators_cover_what_kernels_are_made_of));
}
