// SPDX-License-Identifier: BSD-2-Clause
// Random operators on /cpu/self/gen against their dense matrices, in every way in which it can run: threads,
// fixed parts, the pointer of the function, without a compiler; on borrowed arrays that must not be written,
// or read beyond their ends; bit by bit where results are to repeat. On all backends alike: test-operator.c.
#include "tests/gen-kit.h"

#include "backends/cpu/cpu.h"
#include "backends/cpu/rows.h"
#include "tests/random-operator.h"
#include "tests/reference.h"
#include <signal.h>
#include <sys/mman.h>

// ---- Operators ----

enum { CHUNK = 20 }; // operators that are compiled together

static const RandomOptions in_batches = {.in_batches = true};

// How many operators are drawn, by level.
static int num_operators(int part) {
  static const int num[] = {40, 200, 2000};

  return num[tap_level()] / part;
}

typedef struct {
  RandomOperator r[CHUNK];
  uint64_t seed[CHUNK]; // state after r was drawn
  int num;
} Chunk;

static int create_chunk(Ceed ceed, uint64_t first_seed, int num, Chunk *c) {
  CeedOperator ops[CHUNK];
  int ierr = CEED_ERROR_SUCCESS;

  c->num = 0;
  for (int i = 0; i < num && !ierr; i++) {
    c->seed[i] = first_seed + (uint64_t)i;
    ierr = random_operator_create(ceed, &in_batches, &c->seed[i], &c->r[i]);
    ops[i] = c->r[i].op;
    c->num++;
  }
  return ierr ? ierr : ritz_cpu_prepare(num, ops, CEED_VECTOR_NONE);
}

static void destroy_chunk(Chunk *c) {
  for (int i = 0; i < c->num; i++) random_operator_destroy(&c->r[i]);
}

// ---- Borrowed arrays ----

// Numbers at the end of a page; what follows cannot be touched.
typedef struct {
  char *pages;
  size_t num_bytes; // of all pages
  CeedScalar *array;
} Borrowed;

static uint64_t running; // seed of the operator that runs

static void report_fault(int signal) {
  static char text[200];
  const int n = snprintf(text, sizeof(text), "Bail out! signal %d in the operator of seed %llu\n", signal,
                         (unsigned long long)running);

  if (write(STDOUT_FILENO, text, (size_t)n) < 0) _exit(2);
  _exit(1);
}

static Borrowed borrow(CeedSize length, const double *values, bool is_writable) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (size_t)length * sizeof(CeedScalar);
  Borrowed b = {.num_bytes = (size + page - 1) / page * page + page};

  if (posix_memalign((void **)&b.pages, page, b.num_bytes)) abort();
  b.array = (CeedScalar *)(b.pages + b.num_bytes - page - size);
  for (CeedSize i = 0; i < length; i++) b.array[i] = (CeedScalar)(values ? values[i] : 7);
  if (!is_writable) mprotect(b.pages, b.num_bytes - page, PROT_READ);
  mprotect(b.pages + b.num_bytes - page, page, PROT_NONE);
  return b;
}

static void give_back(Borrowed *b) {
  if (b->pages) mprotect(b->pages, b->num_bytes, PROT_READ | PROT_WRITE);
  free(b->pages);
  b->pages = NULL;
}

// Lends the array to the vector.
static int lend(CeedVector vector, const Borrowed *b) {
  return CeedVectorSetArray(vector, CEED_MEM_HOST, CEED_USE_POINTER, b->array);
}

static int take_back(CeedVector vector) { return CeedVectorTakeArray(vector, CEED_MEM_HOST, NULL); }

// ---- Applying ----

typedef int (*ApplyCall)(CeedOperator op, CeedVector in, CeedVector out, CeedRequest *request);

// What an apply has left in the targets of an operator: [num_targets].
typedef struct {
  double *y[RANDOM_MAX_FIELDS]; // owned
} Results;

static void free_results(const RandomOperator *r, Results *results) {
  for (int i = 0; i < r->num_targets; i++) free(results->y[i]);
}

static CeedVector vector_of(const RandomTarget *t, CeedVector out) {
  return t->vector ? t->vector->vector : out;
}

static void set_values(CeedVector vector, CeedSize length, const double *values) {
  CeedScalar *array = NULL;

  if (CeedVectorGetArrayWrite(vector, CEED_MEM_HOST, &array)) return;
  for (CeedSize i = 0; i < length; i++) array[i] = (CeedScalar)values[i];
  CeedVectorRestoreArray(vector, &array);
}

// Applies to x, with the targets holding `before` (NULL: nothing), and reads the targets.
static int apply_to(const RandomOperator *r, ApplyCall call, CeedVector in, CeedVector out,
                    const Results *before, Results *after) {
  for (int i = 0; before && i < r->num_targets; i++)
    set_values(vector_of(&r->targets[i], out), r->targets[i].length, before->y[i]);
  const int ierr = call(r->op, in, out, CEED_REQUEST_IMMEDIATE);
  for (int i = 0; i < r->num_targets; i++)
    after->y[i] =
        ierr ? reference_new(r->targets[i].length) : reference_new_values(vector_of(&r->targets[i], out));
  return ierr;
}

// Every target holds its matrix times x, and what was there before if it adds.
static void check_values(const RandomOperator *r, const double *x, const Results *after,
                         const Results *before, bool adds_active, bool adds_passive) {
  for (int i = 0; i < r->num_targets; i++) {
    const RandomTarget *t = &r->targets[i];
    double *y = reference_new(t->length), tolerance = random_target_apply(r, t, x, y);
    const bool adds = t->vector ? adds_passive : adds_active;

    for (CeedSize k = 0; adds && k < t->length; k++) y[k] += before->y[i][k];
    if (adds) tolerance += eps * reference_largest(t->length, before->y[i]) * r->num_elem * r->Q;
    const double error = reference_distance(t->length, after->y[i], y);
    free(y);
    CHECK(error <= tolerance, "target %d is off by %g, allowed %g", i, error, tolerance);
  }
}

static bool are_same(const RandomOperator *r, const Results *a, const Results *b) {
  for (int i = 0; i < r->num_targets; i++) {
    if (memcmp(a->y[i], b->y[i], (size_t)r->targets[i].length * sizeof(double)) != 0) return false;
  }
  return true;
}

static void draw_results(const RandomOperator *r, uint64_t *seed, Results *results) {
  for (int i = 0; i < r->num_targets; i++) results->y[i] = reference_new_random(r->targets[i].length, seed);
}

// ---- One operator ----

// Inputs, active and passive, are read-only memory of somebody else; the active output is memory of the exact
// size.
typedef struct {
  double *x;
  CeedVector in, out;
  Borrowed x_array, y_array, passive[2 * RANDOM_MAX_FIELDS];
} Surroundings;

static int surround(const RandomOperator *r, uint64_t *seed, Surroundings *s) {
  *s = (Surroundings){
      .x = reference_new_random(r->input_size, seed), .in = CEED_VECTOR_NONE, .out = CEED_VECTOR_NONE};
  if (r->input_size) {
    s->x_array = borrow(r->input_size, s->x, false);
    CeedCall(CeedVectorCreate(r->ceed, r->input_size, &s->in));
    CeedCall(lend(s->in, &s->x_array));
  }
  if (r->output_size) {
    s->y_array = borrow(r->output_size, NULL, true);
    CeedCall(CeedVectorCreate(r->ceed, r->output_size, &s->out));
    CeedCall(lend(s->out, &s->y_array));
  }
  for (int i = 0; i < r->num_vectors; i++) {
    const RandomVector *v = &r->vectors[i];
    if (!v->values) continue;
    s->passive[i] = borrow(v->length, v->values, false);
    CeedCall(lend(v->vector, &s->passive[i]));
  }
  return CEED_ERROR_SUCCESS;
}

static void leave(const RandomOperator *r, Surroundings *s) {
  for (int i = 0; i < r->num_vectors; i++) {
    if (s->passive[i].pages) take_back(r->vectors[i].vector);
    give_back(&s->passive[i]);
  }
  CeedVectorDestroy(&s->in);
  CeedVectorDestroy(&s->out);
  give_back(&s->x_array);
  give_back(&s->y_array);
  free(s->x);
}

typedef struct {
  ApplyCall call;
  bool adds_active, adds_passive;
} Way;

static const Way ways[] = {{CeedOperatorApply, false, false},
                           {CeedOperatorApplyAdd, true, true},
                           {CeedOperatorApplyAddActive, true, false}};

static void check_way(const RandomOperator *r, const Surroundings *s, const Way *way, const Results *before) {
  Results once, again;
  int ierr = apply_to(r, way->call, s->in, s->out, before, &once);
  if (!ierr) ierr = apply_to(r, way->call, s->in, s->out, before, &again);

  if (!ierr) check_values(r, s->x, &once, before, way->adds_active, way->adds_passive);
  const bool repeats = ierr || are_same(r, &once, &again);
  free_results(r, &once);
  if (!ierr) free_results(r, &again);
  CHECK_OK(ierr);
  CHECK(repeats, "other bits in the second apply");
}

// All three calls, each twice. *first: what the first of them gives, owned by the caller.
static void check_operator(const RandomOperator *r, uint64_t seed, Results *first) {
  Surroundings s;
  Results before;
  int ierr = surround(r, &seed, &s);

  draw_results(r, &seed, &before);
  for (int i = 0; i < 3 && !ierr && !tap_failed(); i++) check_way(r, &s, &ways[i], &before);
  const int failed = apply_to(r, CeedOperatorApply, s.in, s.out, NULL, first);
  free_results(r, &before);
  leave(r, &s);
  CHECK_OK(ierr);
  CHECK_OK(failed);
}

static void check_chunk(const Chunk *c, uint64_t first_seed, Results *first) {
  for (int i = 0; i < c->num && !tap_failed(); i++) {
    running = first_seed + (uint64_t)i;
    check_operator(&c->r[i], c->seed[i], &first[i]);
    if (tap_failed())
      tap_note("seed %llu: %s", (unsigned long long)running, random_operator_describe(&c->r[i]));
  }
}

static void free_first(const Chunk *c, Results *first) {
  for (int i = 0; i < c->num; i++) free_results(&c->r[i], &first[i]);
}

// ---- Many operators, in one or two ways ----

// Checks operators on both resources (the second may be NULL), and that they give the same bits.
static void check_seeds(const char *resource, const char *other, uint64_t first_seed, int num) {
  static Chunk c, d;
  Ceed ceed[2] = {tap_ceed(resource), other ? tap_ceed(other) : NULL};

  for (int n = 0; n < num && !tap_failed(); n += CHUNK) {
    const uint64_t seed = first_seed + (uint64_t)n;
    const int size = num - n < CHUNK ? num - n : CHUNK;
    Results first[CHUNK], second[CHUNK];

    d.num = 0;
    CHECK_OK(create_chunk(ceed[0], seed, size, &c));
    check_chunk(&c, seed, first);
    if (other && !tap_failed()) CHECK_OK(create_chunk(ceed[1], seed, size, &d));
    if (other && !tap_failed()) check_chunk(&d, seed, second);
    for (int i = 0; i < d.num && !tap_failed(); i++)
      CHECK(are_same(&c.r[i], &first[i], &second[i]), "seed %llu: other bits on %s than on %s",
            (unsigned long long)seed + (uint64_t)i, other, resource);
    if (tap_failed()) return;
    free_first(&c, first);
    free_first(&d, second);
    destroy_chunk(&c);
    destroy_chunk(&d);
  }
  CeedDestroy(&ceed[0]);
  if (other) CeedDestroy(&ceed[1]);
}

static void begin(void) {
  signal(SIGSEGV, report_fault);
  signal(SIGBUS, report_fault);
}

enum { SEED = 9000000 };

#define BEGIN()                                                                                              \
  do {                                                                                                       \
    GEN_NEEDS_COMPILER();                                                                                    \
    begin();                                                                                                 \
  } while (0)

TEST(generated_kernels_are_the_dense_matrices_of_their_operators) {
  BEGIN();
  check_seeds("/cpu/self/gen:threads=1", "/cpu/self/gen:threads=1", SEED, num_operators(1));
}

TEST(two_threads_are_right_and_repeat_every_bit) {
  BEGIN();
  check_seeds("/cpu/self/gen:threads=2", "/cpu/self/gen:threads=2", SEED, num_operators(1));
}

TEST(with_fixed_parts_every_number_of_threads_gives_the_same_bits) {
  BEGIN();
  check_seeds("/cpu/self/gen:deterministic:threads=1", "/cpu/self/gen:deterministic:threads=2", SEED,
              num_operators(1));
}

TEST(kernels_that_call_the_function_of_the_program_are_right) {
  BEGIN();
  setenv("RITZ_QFUNCTION", "pointer", 1);
  check_seeds("/cpu/self/gen:threads=1", NULL, SEED + 1000000, num_operators(10));
  if (!tap_failed()) check_seeds("/cpu/self/gen:threads=2", NULL, SEED + 2000000, num_operators(10));
}

// As users compile them, which takes longer.
TEST(kernels_of_all_compilers_with_the_flags_of_users_are_right) {
  static const char *const compilers[] = {"gcc", "clang"};

  BEGIN();
  unsetenv("RITZ_CFLAGS");
  for (int i = 0; i < 2 && !tap_failed(); i++) {
    setenv("RITZ_CC", compilers[i], 1);
    if (gen_has_compiler())
      check_seeds("/cpu/self/gen:threads=2", NULL, SEED + 3000000 + 1000 * i, num_operators(40));
  }
}

TEST(without_a_compiler_results_are_right_and_repeat_every_bit) {
  gen_begin();
  begin();
  setenv("RITZ_CC", "/nonexistent", 1);
  check_seeds("/cpu/self/gen:threads=1", "/cpu/self/gen:threads=1", SEED, num_operators(1));
  check_seeds("/cpu/self/gen:deterministic:threads=1", "/cpu/self/gen:deterministic:threads=2", SEED,
              num_operators(1));
}

// ---- What is drawn ----

// Counts of what kernels are made of: the tests above say nothing of a kind that never comes up.
static struct {
  int routes[4], gathers[4], evaluations[4], chains, interlaced, oriented, curl_oriented, overwrites, ragged,
      batches, even_odd;
} drawn;

static int find_rows(CeedElemRestriction rstr, CeedInt row_length, CeedInt lanes, bool *has_rows) {
  const RitzRows *rows = NULL;
  CeedCall(ritz_rows_get(rstr, row_length, lanes, &rows));
  *has_rows = rows->has_rows;
  drawn.chains += rows->has_rows && rstr->num_elem >= lanes && rows->is_chain[0];
  return CEED_ERROR_SUCCESS;
}

static void count_plan(const RitzPlan *plan, const RitzCpuTarget *t) {
  drawn.evaluations[t->evaluation]++;
  drawn.batches += plan->num_elem > t->lanes;
  drawn.ragged += plan->num_elem % t->lanes != 0;
  for (int i = 0; i < plan->num_spaces; i++) {
    const RitzPlanSpace *s = &plan->spaces[i];
    drawn.gathers[t->spaces[i].gather]++;
    if (s->basis >= 0) drawn.routes[plan->bases[s->basis].route]++;
    if (s->basis >= 0) drawn.even_odd += plan->bases[s->basis].is_even_odd;
    drawn.interlaced += t->spaces[i].gather == RITZ_GATHER_ROWS && s->is_interlaced;
    drawn.oriented += s->is_oriented;
    drawn.curl_oriented += s->is_curl_oriented;
    drawn.overwrites += t->spaces[i].overwrites >= 0;
  }
}

static void plan_random(Ceed ceed, uint64_t seed) {
  const RitzPlanOptions options = {.allows_even_odd = true};
  const RitzCpuMachine machine = {.lanes = 64 / sizeof(CeedScalar), .allows_text = true};
  RandomOperator r;
  RitzPlan *plan = NULL;
  RitzCpuTarget *target = NULL;
  const char *reason;
  int ierr = random_operator_create(ceed, &in_batches, &seed, &r);

  if (!ierr) ierr = ritz_plan_operator(r.op, &options, &plan, &reason);
  if (plan) ierr = ritz_plan_cpu(r.op, plan, &machine, find_rows, &target);
  if (target) count_plan(plan, target);
  ritz_plan_cpu_free(&target);
  ritz_plan_free(&plan);
  random_operator_destroy(&r);
  CHECK_OK(ierr);
}

TEST(random_operators_cover_what_kernels_are_made_of) {
  Ceed ceed = tap_ceed("/cpu/self/gen");

  memset(&drawn, 0, sizeof(drawn));
  for (int i = 0; i < 200 && !tap_failed(); i++) plan_random(ceed, SEED + (uint64_t)i);
  CeedDestroy(&ceed);
  if (tap_failed()) return;
  for (int i = 0; i < 4; i++) {
    CHECK(drawn.routes[i] >= 10, "bases of route %d: %d", i, drawn.routes[i]);
    CHECK(drawn.gathers[i] >= 10, "gathers of kind %d: %d", i, drawn.gathers[i]);
    CHECK(i == RITZ_EVALUATE_NONE || drawn.evaluations[i] >= 10, "evaluations %d: %d", i,
          drawn.evaluations[i]);
  }
  CHECK(drawn.chains >= 10 && drawn.interlaced >= 10, "chains %d, interlaced rows %d", drawn.chains,
        drawn.interlaced);
  CHECK(drawn.oriented >= 10 && drawn.curl_oriented >= 10, "oriented %d, curl-oriented %d", drawn.oriented,
        drawn.curl_oriented);
  CHECK(drawn.overwrites >= 10, "shared arrays %d", drawn.overwrites);
  CHECK(drawn.even_odd >= 10, "even-odd bases %d", drawn.even_odd);
  CHECK(drawn.batches >= 50 && drawn.ragged >= 50, "several batches %d, ragged ones %d", drawn.batches,
        drawn.ragged);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(generated_kernels_are_the_dense_matrices_of_their_operators,
                        two_threads_are_right_and_repeat_every_bit,
                        with_fixed_parts_every_number_of_threads_gives_the_same_bits,
                        kernels_that_call_the_function_of_the_program_are_right,
                        kernels_of_all_compilers_with_the_flags_of_users_are_right,
                        without_a_compiler_results_are_right_and_repeat_every_bit,
                        random_operators_cover_what_kernels_are_made_of));
}
