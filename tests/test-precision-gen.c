// SPDX-License-Identifier: BSD-2-Clause
// Arithmetic and vectors of float on /cpu/self/gen, by kernels of its own (RITZ_STRICT: nothing else runs):
// random operators against their dense matrices, the bake-off problems against the reference backend in
// double, in all combinations of precisions. What has no kernel: core/ converts (test-precision.c).
#define GEN_PROGRAM_FLAG
#include "tests/gen-run.h"

#include "backends/cpu/cpu.h"
#include "bp/problem.h"
#include "tests/cold-cache.h"
#include "tests/random-operator.h"
#include "tests/reference.h"
#include <math.h>
#include <ritz/basis.h>
#include <ritz/operator.h>
#include <ritz/precision.h>

// Notes a failure and goes on: what was made is to be destroyed.
#define NOTE_OK(expr) tap_check_ok((expr), __FILE__, __LINE__, #expr)

// ---- Vectors ----

// Values of a vector of any precision, to be freed; NULL on failure.
static double *values_of(CeedVector vec) {
  CeedVector own = NULL;
  CeedSize n = 0;
  double *values = NULL;

  if (CeedVectorGetLength(vec, &n)) return NULL;
  if (!CeedVectorCreate(vec->obj.ceed, n, &own) && !RitzVectorConvert(vec, own))
    values = reference_new_values(own);
  CeedVectorDestroy(&own);
  return values;
}

// The library's own precision or float, as likely as not.
static CeedScalarType random_precision(uint64_t *seed) {
  return tap_integer(seed, 2) ? CEED_SCALAR_FP32 : CEED_SCALAR_TYPE;
}

// A vector of these values, which are rounded if they have to be; NULL on failure.
static CeedVector random_vector_in(Ceed ceed, CeedScalarType precision, CeedSize length, double *values) {
  CeedVector own = reference_vector(ceed, length, values), rounded = NULL;

  if (!own || precision == CEED_SCALAR_TYPE) return own;
  for (CeedSize i = 0; i < length; i++) values[i] = (double)(float)values[i];
  if (!RitzVectorCreate(ceed, length, precision, &rounded) && RitzVectorConvert(own, rounded))
    CeedVectorDestroy(&rounded);
  CeedVectorDestroy(&own);
  return rounded;
}

static int set_values(CeedVector vec, CeedSize n, const double *values) {
  CeedVector own = reference_vector(vec->obj.ceed, n, values);
  const int ierr = own ? RitzVectorConvert(own, vec) : CEED_ERROR_MAJOR;

  CeedVectorDestroy(&own);
  return ierr;
}

// ---- Random operators ----

typedef struct {
  CeedVector in, out;
  double *x;
} Active;

static int create_active(const RandomOperator *r, uint64_t *seed, Active *a) {
  *a = (Active){
      .in = CEED_VECTOR_NONE, .out = CEED_VECTOR_NONE, .x = reference_new_random(r->input_size, seed)};
  const CeedScalarType in = random_precision(seed), out = random_precision(seed);
  if (r->input_size) a->in = random_vector_in(r->ceed, in, r->input_size, a->x);
  return r->output_size ? RitzVectorCreate(r->ceed, r->output_size, out, &a->out) : CEED_ERROR_SUCCESS;
}

static void destroy_active(Active *a) {
  CeedVectorDestroy(&a->in);
  CeedVectorDestroy(&a->out);
  free(a->x);
}

// Every target is its matrix times x, and what was there before where the apply adds. Products and sums are
// made, and L-vectors added up, in float: the bound of double times the ratio of the precisions.
static void check_target(const RandomOperator *r, const RandomTarget *t, const Active *a,
                         const double *before) {
  double *y = reference_new(t->length), tolerance = random_target_apply(r, t, a->x, y);
  double *found = values_of(t->vector ? t->vector->vector : a->out);

  tolerance *= FLT_EPSILON / eps;
  for (CeedSize k = 0; before && k < t->length; k++) y[k] += before[k];
  if (before) tolerance += FLT_EPSILON * reference_largest(t->length, before) * r->num_elem * r->Q;
  const double error = found ? reference_distance(t->length, found, y) : INFINITY;
  free(y);
  free(found);
  CHECK(error <= tolerance, "off by %g, allowed %g", error, tolerance);
}

// Random numbers in a target, rounded to its precision; to be freed.
static double *fill_target(const RandomTarget *t, const Active *a, uint64_t *seed) {
  CeedVector vec = t->vector ? t->vector->vector : a->out;
  double *before = reference_new_random(t->length, seed);

  for (CeedSize k = 0; vec->precision == CEED_SCALAR_FP32 && k < t->length; k++)
    before[k] = (double)(float)before[k];
  NOTE_OK(set_values(vec, t->length, before));
  return before;
}

static void check_add(const RandomOperator *r, const Active *a, uint64_t *seed) {
  double *before[RANDOM_MAX_FIELDS] = {NULL};

  for (int i = 0; i < r->num_targets; i++) before[i] = fill_target(&r->targets[i], a, seed);
  NOTE_OK(CeedOperatorApplyAdd(r->op, a->in, a->out, CEED_REQUEST_IMMEDIATE));
  for (int i = 0; i < r->num_targets; i++) {
    if (!tap_failed()) check_target(r, &r->targets[i], a, before[i]);
    free(before[i]);
  }
}

static void check_operator(const RandomOperator *r, uint64_t *seed) {
  Active a;

  NOTE_OK(create_active(r, seed, &a));
  if (!tap_failed()) NOTE_OK(CeedOperatorApply(r->op, a.in, a.out, CEED_REQUEST_IMMEDIATE));
  for (int i = 0; i < r->num_targets && !tap_failed(); i++) check_target(r, &r->targets[i], &a, NULL);
  if (!tap_failed()) check_add(r, &a, seed);
  destroy_active(&a);
}

enum { CHUNK = 10, SEED = 7100000 }; // operators that are compiled together

static const RandomOptions mixed = {.in_batches = true, .is_mixed = true};

static int num_operators(int part) {
  static const int num[] = {30, 200, 1000};
  return num[tap_level()] / part;
}

// They are applied once: by the ahead-of-time kernel, unless theirs is in the cache.
static bool is_once = false;

// What kernels were made of, of operators and their variants for the active vectors.
static struct {
  int singles, doubles, others, packed, rows, nodes, strided, dense, served, unfused, left;
} drawn;

static void count_operator(CeedOperator op) {
  if (!op->data) return;
  const RitzCpuTier *tier = ritz_cpu_tier(op);
  drawn.served += tier->path <= RITZ_PATH_POINTER;
  drawn.unfused += tier->path == RITZ_PATH_UNFUSED;
  drawn.left += tier->path > RITZ_PATH_POINTER;
  if (!tier->plan) return;
  for (int s = 0; s < tier->plan->num_spaces; s++) {
    const RitzPlanSpace *space = &tier->plan->spaces[s];
    const bool is_other = space->precision != tier->plan->precision;
    drawn.others += is_other;
    drawn.packed += is_other && tier->target->spaces[s].gather == RITZ_GATHER_PACKED;
    drawn.rows += is_other && tier->target->spaces[s].gather == RITZ_GATHER_ROWS;
    drawn.nodes += is_other && tier->target->spaces[s].gather == RITZ_GATHER_NODES;
    drawn.strided += is_other && tier->target->spaces[s].gather == RITZ_GATHER_STRIDED;
  }
  drawn.dense += tier->plan->precision == CEED_SCALAR_FP32 && tier->plan->num_matrices > 0;
  *(tier->plan->precision == CEED_SCALAR_FP32 ? &drawn.singles : &drawn.doubles) += 1;
}

static void check_chunk(Ceed ceed, uint64_t first_seed, int num) {
  static RandomOperator r[CHUNK];
  uint64_t seed[CHUNK];

  for (int i = 0; i < num; i++) {
    seed[i] = first_seed + (uint64_t)i;
    NOTE_OK(random_operator_create(ceed, &mixed, &seed[i], &r[i]));
    NOTE_OK(RitzOperatorSetPrecision(r[i].op, random_precision(&seed[i])));
    if (is_once) NOTE_OK(RitzOperatorSetUse(r[i].op, RITZ_USE_ONCE));
  }
  for (int i = 0; i < num && !tap_failed(); i++) {
    check_operator(&r[i], &seed[i]);
    count_operator(r[i].op);
    for (int v = 0; v < 4; v++) {
      if (r[i].op->variants[v]) count_operator(r[i].op->variants[v]);
    }
    if (tap_failed())
      tap_note("seed %llu: %s", (unsigned long long)first_seed + (uint64_t)i,
               random_operator_describe(&r[i]));
  }
  for (int i = 0; i < num; i++) random_operator_destroy(&r[i]);
}

static void check_seeds(const char *resource, uint64_t first_seed, int num) {
  Ceed ceed = tap_ceed(resource);

  for (int n = 0; n < num && !tap_failed(); n += CHUNK)
    check_chunk(ceed, first_seed + (uint64_t)n, num - n < CHUNK ? num - n : CHUNK);
  CeedDestroy(&ceed);
}

#define NEEDS_TWO_PRECISIONS()                                                                               \
  do {                                                                                                       \
    GEN_NEEDS_COMPILER();                                                                                    \
    if (CEED_SCALAR_TYPE == CEED_SCALAR_FP32) SKIP("a library of float has one precision");                  \
  } while (0)

TEST(operators_of_mixed_precision_are_their_dense_matrices) {
  NEEDS_TWO_PRECISIONS();
  memset(&drawn, 0, sizeof(drawn));
  check_seeds("/cpu/self/gen:threads=1", SEED, num_operators(1));
  if (tap_failed()) return;
  CHECK(drawn.singles >= 5 && drawn.doubles >= 5, "in float %d, in double %d", drawn.singles, drawn.doubles);
  CHECK(drawn.served > drawn.left, "%d by kernels of their own, %d not", drawn.served, drawn.left);
  CHECK(drawn.rows && drawn.nodes && drawn.strided && drawn.dense,
        "vectors that are converted: rows %d, nodes %d, strided %d; bases as matrices in float %d",
        drawn.rows, drawn.nodes, drawn.strided, drawn.dense);
}

TEST(threads_add_up_in_mixed_precision) {
  NEEDS_TWO_PRECISIONS();
  check_seeds("/cpu/self/gen:threads=2", SEED + 1000000, num_operators(4));
  check_seeds("/cpu/self/gen:threads=2:deterministic", SEED + 1000000, num_operators(4));
}

// Transfers have texts of their own for 8 lanes and 16, and one for all other numbers.
TEST(every_number_of_lanes_serves_both_precisions) {
  static const char *const lanes[] = {"4", "8", "16", "32"};

  NEEDS_TWO_PRECISIONS();
  for (int i = 0; i < (tap_level() ? 4 : 2) && !tap_failed(); i++) {
    setenv("RITZ_LANES", lanes[i], 1);
    check_seeds("/cpu/self/gen:threads=1", SEED + 2000000, num_operators(5));
  }
  unsetenv("RITZ_LANES");
}

// Nothing is compiled, in any mixture of precisions, and nothing is left to others (RITZ_STRICT).
TEST(what_is_applied_once_matches_its_dense_matrix_in_mixed_precision) {
  const int num = num_operators(1); // no compiler: more of them
  ColdCache cache;

  NEEDS_TWO_PRECISIONS();
  cold_begin(&cache);
  memset(&drawn, 0, sizeof(drawn));
  is_once = true;
  check_seeds("/cpu/self/gen:threads=1", SEED + 3000000, 10 * num);
  check_seeds("/cpu/self/gen:threads=2", SEED + 4000000, 2 * num);
  check_seeds("/cpu/self/gen:threads=2:deterministic", SEED + 5000000, 2 * num);
  is_once = false;
  const int compiled = cold_end(&cache);
  if (tap_failed()) return;
  CHECK(compiled == 0 && drawn.served == 0 && drawn.left == drawn.unfused,
        "%d compiled, %d on the reference backend", drawn.served, drawn.left - drawn.unfused);
  CHECK(drawn.singles >= 50 && drawn.doubles >= 50, "in float %d, in double %d", drawn.singles,
        drawn.doubles);
  CHECK(drawn.packed && drawn.nodes && drawn.strided && drawn.dense,
        "vectors that are converted: packed %d, nodes %d, strided %d; bases as matrices in float %d",
        drawn.packed, drawn.nodes, drawn.strided, drawn.dense);
}

// ---- Bake-off problems ----

static int create_single(Ceed ceed, CeedSize length, CeedVector *vec) {
  return RitzVectorCreate(ceed, length, CEED_SCALAR_FP32, vec);
}
static int choose_single(CeedOperator op) { return RitzOperatorSetPrecision(op, CEED_SCALAR_FP32); }
static int choose_nothing(CeedOperator op) {
  (void)op;
  return CEED_ERROR_SUCCESS;
}

// Arithmetic and passive vectors by bits: 1 the arithmetic is in float, 2 the passive vectors are.
static const BpSingle combinations[] = {
    {CeedVectorCreate, RitzVectorConvert, choose_nothing},
    {CeedVectorCreate, RitzVectorConvert, choose_single},
    {create_single, RitzVectorConvert, choose_nothing},
    {create_single, RitzVectorConvert, choose_single},
};

static const BpShape tets = {CEED_TOPOLOGY_TET, RitzBasisCreateLagrange, RitzLagrangeNodes};

typedef struct {
  Ceed ceed[2]; // owned: the one that is tested, reference
  BpResult sizes[2];
  BpProblem problem[2];
} Pair;

static int create_pair(const char *resource, const BpOptions *options, Pair *p) {
  *p = (Pair){.ceed = {tap_ceed(resource), tap_ceed("/cpu/self/ref")}};
  for (int i = 0; i < 2; i++) {
    p->sizes[i].options = *options;
    if (i) p->sizes[i].options.single = NULL;
    p->problem[i] = (BpProblem){.ceed = p->ceed[i], .sizes = &p->sizes[i]};
    CeedCall(bp_choose_sizes(p->ceed[i], &p->sizes[i]));
    CeedCall(bp_problem_create(&p->problem[i]));
  }
  return CEED_ERROR_SUCCESS;
}

static void destroy_pair(Pair *p) {
  for (int i = 0; i < 2; i++) {
    bp_problem_destroy(&p->problem[i]);
    CeedDestroy(&p->ceed[i]);
  }
}

// The values of u in a vector of this precision, and an output of that one; NULL on failure.
static int create_vectors(const Pair *p, double *u, CeedScalarType in, CeedScalarType out,
                          CeedVector vecs[2]) {
  const CeedSize n = p->sizes[0].dofs;

  vecs[0] = random_vector_in(p->ceed[0], in, n, u);
  vecs[1] = NULL;
  if (!vecs[0]) return CEED_ERROR_MAJOR;
  return RitzVectorCreate(p->ceed[0], n, out, &vecs[1]);
}

// Rounding of the factors, of u and of the result, and that of the sums over the nodes and points of an
// element in every direction, both ways, against the largest entry of A u for u without structure.
static void compare(const Pair *p, CeedVector found_vec, CeedVector wanted_vec) {
  const CeedSize n = p->sizes[0].dofs;
  double *found = values_of(found_vec), *wanted = values_of(wanted_vec);
  const double P = 1 + p->sizes[0].options.order;
  const double tolerance = 20 * FLT_EPSILON * P * P * (wanted ? reference_largest(n, wanted) : 0);
  const double error = found && wanted ? reference_distance(n, found, wanted) : INFINITY;

  free(found);
  free(wanted);
  CHECK(error <= tolerance, "off by %g, allowed %g", error, tolerance);
}

static void check_apply(Pair *p, CeedScalarType in, CeedScalarType out, uint64_t *seed) {
  const CeedSize n = p->sizes[0].dofs;
  double *u = reference_new_random(n, seed);
  CeedVector vecs[2] = {NULL, NULL};

  NOTE_OK(create_vectors(p, u, in, out, vecs));
  if (!tap_failed()) NOTE_OK(CeedOperatorApply(p->problem[0].op, vecs[0], vecs[1], CEED_REQUEST_IMMEDIATE));
  if (!tap_failed()) NOTE_OK(set_values(p->problem[1].u, n, u));
  if (!tap_failed())
    NOTE_OK(CeedOperatorApply(p->problem[1].op, p->problem[1].u, p->problem[1].v, CEED_REQUEST_IMMEDIATE));
  if (!tap_failed()) compare(p, vecs[1], p->problem[1].v);
  CeedVectorDestroy(&vecs[0]);
  CeedVectorDestroy(&vecs[1]);
  free(u);
}

static void check_diagonal(Pair *p, CeedScalarType out) {
  CeedVector vec = NULL;

  NOTE_OK(RitzVectorCreate(p->ceed[0], p->sizes[0].dofs, out, &vec));
  if (!tap_failed())
    NOTE_OK(CeedOperatorLinearAssembleDiagonal(p->problem[0].op, vec, CEED_REQUEST_IMMEDIATE));
  if (!tap_failed())
    NOTE_OK(CeedOperatorLinearAssembleDiagonal(p->problem[1].op, p->problem[1].v, CEED_REQUEST_IMMEDIATE));
  if (!tap_failed()) compare(p, vec, p->problem[1].v);
  CeedVectorDestroy(&vec);
}

static const CeedScalarType precisions[] = {CEED_SCALAR_FP32, CEED_SCALAR_FP64};

// At the lowest level, where kernels are to be few, some combinations stand for all.
static bool is_wanted(bool is_among_few) { return is_among_few || tap_level() > 0; }

// All vectors in both precisions; the diagonal, of which there is a kernel on hexahedra.
static void check_problem(const BpOptions *options, int number, uint64_t *seed) {
  Pair p;

  NOTE_OK(create_pair("/cpu/self/gen:threads=2", options, &p));
  for (int i = 0; i < 4 && !tap_failed(); i++) {
    if (is_wanted(i == 0 || i == 1 + number % 3)) check_apply(&p, precisions[i % 2], precisions[i / 2], seed);
  }
  for (int i = 0; i < 2 && !tap_failed() && !options->shape; i++) {
    if (is_wanted(i == number % 2)) check_diagonal(&p, precisions[i]);
  }
  if (tap_failed())
    tap_note("BP%d, degree %d, %s, combination %d", options->bp, (int)options->order,
             bp_geometry_name(options->geometry), (int)(options->single - combinations));
  destroy_pair(&p);
}

// Every degree, geometry and combination comes up.
static void check_problems(const BpShape *on, int num_bps) {
  uint64_t seed = 5;
  int number = 0;

  setenv("RITZ_STRICT", "1", 1);
  for (int bp = 1; bp <= num_bps && !tap_failed(); bp++) {
    for (int order = 1; order <= 4 && !tap_failed(); order++, number++) {
      const BpOptions options = {.bp = bp,
                                 .order = order,
                                 .n = on           ? 2
                                      : order == 1 ? 5
                                                   : 3,
                                 .shape = on,
                                 .geometry = (CostGeometry)(number / 2 % 3),
                                 .single = &combinations[3 - number / 2 % 4]};
      if (is_wanted((bp + order) % 2 == 0)) check_problem(&options, number / 2, &seed);
    }
  }
  unsetenv("RITZ_STRICT");
}

TEST(bake_off_problems_run_in_float_on_hexahedra) {
  NEEDS_TWO_PRECISIONS();
  check_problems(NULL, 6);
}

TEST(bake_off_problems_run_in_float_on_tetrahedra) {
  NEEDS_TWO_PRECISIONS();
  check_problems(&tets, 4);
}

// Bases of matrices have no generated kernel for the diagonal.
TEST(diagonals_without_a_kernel_are_walked_through_in_float) {
  const BpOptions options = {.bp = 3, .order = 2, .n = 2, .shape = &tets, .single = &combinations[3]};
  Pair p;

  NEEDS_TWO_PRECISIONS();
  setenv("RITZ_STRICT", "1", 1);
  NOTE_OK(create_pair("/cpu/self/gen", &options, &p));
  for (int i = 0; i < 2 && !tap_failed(); i++) check_diagonal(&p, precisions[i]);
  destroy_pair(&p);
  unsetenv("RITZ_STRICT");
}

TEST(with_fixed_parts_every_number_of_threads_gives_the_same_floats) {
  static const char *const resources[] = {"/cpu/self/gen:deterministic:threads=1",
                                          "/cpu/self/gen:deterministic:threads=2"};
  const BpOptions options = {.bp = 4, .order = 2, .n = 7, .single = &combinations[3]};
  double *found[2] = {NULL, NULL};
  CeedSize n = 0;

  NEEDS_TWO_PRECISIONS();
  for (int i = 0; i < 2; i++) {
    uint64_t seed = 3;
    BpResult sizes = {.options = options};
    BpProblem p = {.ceed = tap_ceed(resources[i]), .sizes = &sizes};
    NOTE_OK(bp_choose_sizes(p.ceed, &sizes));
    NOTE_OK(bp_problem_create(&p));
    n = sizes.dofs;
    double *u = reference_new_random(n, &seed);
    NOTE_OK(set_values(p.in, n, u));
    NOTE_OK(CeedOperatorApply(p.op, p.in, p.out, CEED_REQUEST_IMMEDIATE));
    found[i] = values_of(p.out);
    free(u);
    bp_problem_destroy(&p);
    CeedDestroy(&p.ceed);
  }
  const bool are_same = found[0] && found[1] && !memcmp(found[0], found[1], (size_t)n * sizeof(double));
  const double size = found[0] ? reference_largest(n, found[0]) : 0;
  free(found[0]);
  free(found[1]);
  CHECK(are_same && size > 0, "other bits, or nothing (largest entry %g)", size);
}

// ---- QFunctions ----

static const Function by_flag = {.f = GenByFlag, .source = GenByFlag_loc};

// An operator of floats, all of whose vectors are in double.
static Run open_single(const Function *f) {
  Run r = open_on("/cpu/self/gen", f);
  NOTE_OK(RitzOperatorSetPrecision(r.op, CEED_SCALAR_FP32));
  return r;
}

// As the reference backend has it, but for the roundings of float.
static bool is_right_in_float(const Run *r, const Function *f) {
  Run ref = open_on("/cpu/self/ref", f);
  const int ierr = apply(&ref);
  double *wanted = reference_new_values(ref.v), *found = reference_new_values(r->v);
  const double error = reference_distance(r->num_nodes, wanted, found);
  const double size = reference_largest(r->num_nodes, wanted);

  free(wanted);
  free(found);
  close_run(&ref);
  if (!(error <= 100 * FLT_EPSILON * size)) tap_note("off by %g of %g", error, size);
  return !ierr && size > 0 && error <= 100 * FLT_EPSILON * size;
}

// The applied operator is right, and tells so much, and what runs it; an error under RITZ_STRICT.
static void check_told(const Function *f, const char *part, const char *outcome) {
  GenErrors errors;
  Run r = open_single(f);

  gen_errors_begin(&errors);
  const int ierr = apply(&r);
  gen_errors_end(&errors);
  CHECK_OK(ierr);
  CHECK(strstr(errors.text, part) && strstr(errors.text, outcome), "wanted '%s' and '%s' in:\n%s", part,
        outcome, errors.text);
  CHECK(is_right_in_float(&r, f), "another result than that of the reference backend");
  CHECK(strstr(explain(r.op), part), "not explained: %s", explain(r.op));
  close_run(&r);
  setenv("RITZ_STRICT", "1", 1);
  Run strict = open_single(f);
  CHECK_ERROR(strict.ceed, apply(&strict), CEED_ERROR_BACKEND, "RITZ_STRICT");
  close_run(&strict);
  unsetenv("RITZ_STRICT");
}

TEST(a_text_that_disagrees_with_its_function_is_found_in_float) {
  NEEDS_TWO_PRECISIONS();
  check_told(&by_flag, "does not compute what the function in the program does",
             "the ahead-of-time kernel runs it");
}

TEST(a_function_that_is_called_by_its_pointer_computes_in_double) {
  NEEDS_TWO_PRECISIONS();
  setenv("RITZ_QFUNCTION", "pointer", 1);
  check_told(&mass, "RITZ_QFUNCTION is 'pointer'", "it computes in double between conversions");
  unsetenv("RITZ_QFUNCTION");
}

TEST(without_a_compiler_operators_in_float_run_on_the_ahead_of_time_kernel) {
  GenErrors errors;
  ColdCache cache;

  gen_begin();
  if (CEED_SCALAR_TYPE == CEED_SCALAR_FP32) SKIP("a library of float has one precision");
  cold_begin(&cache);
  unsetenv("RITZ_STRICT");
  setenv("RITZ_CC", "/nonexistent", 1);
  Run r = open_single(&mass);
  gen_errors_begin(&errors);
  const int ierr = apply(&r);
  gen_errors_end(&errors);
  CHECK_OK(ierr);
  CHECK(strstr(errors.text, "no compiler: RITZ_CC names"), "%s", errors.text);
  CHECK(strstr(errors.text, "the ahead-of-time kernel runs them"), "%s", errors.text);
  CHECK(is_right_in_float(&r, &mass), "another result than that of the reference backend");
  check_path(r.op, UNFUSED);
  close_run(&r);
  unsetenv("RITZ_CC");
  (void)cold_end(&cache);
}

TEST(a_function_with_a_context_computes_in_double_inside_the_kernel) {
  const GenNumbers numbers = {.factor = 1.0 / 3};
  const Function scaled = {.f = GenScaled,
                           .source = GenScaled_loc,
                           .context = &numbers,
                           .context_size = sizeof(numbers),
                           .keeps_context = true};

  NEEDS_TWO_PRECISIONS();
  setenv("RITZ_STRICT", "1", 1);
  Run r = open_single(&scaled);
  CHECK_OK(apply(&r));
  CHECK(is_right_in_float(&r, &scaled), "another result than that of the reference backend");
  CHECK(strstr(explain(r.op), "which has a context, computes in double"), "not explained: %s", explain(r.op));
  close_run(&r);
  unsetenv("RITZ_STRICT");
}

// Both outputs of GenTwice into one vector: three times what the mass matrix gives.
static int apply_twice(const Run *r, CeedVector both) {
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  int ierr = grid_create_restriction(r->ceed, 1, r->num_1d, DEGREE, 1, &rstr);

  if (!ierr) ierr = CeedBasisCreateTensorH1Lagrange(r->ceed, 1, 1, DEGREE + 1, Q_1D, CEED_GAUSS, &basis);
  if (!ierr) ierr = CeedQFunctionCreateInterior(r->ceed, 1, GenTwice, GenTwice_loc, &qf);
  if (!ierr) ierr = CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionAddOutput(qf, "w", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedOperatorCreate(r->ceed, qf, NULL, NULL, &op);
  if (!ierr) ierr = RitzOperatorSetPrecision(op, CEED_SCALAR_FP32);
  if (!ierr) ierr = CeedOperatorSetField(op, "u", rstr, basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(op, "v", rstr, basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(op, "w", rstr, basis, both);
  if (!ierr) ierr = CeedOperatorApply(op, r->u, r->v, CEED_REQUEST_IMMEDIATE);
  if (!ierr) ierr = CeedVectorScale(r->v, (CeedScalar)3);
  if (!ierr) ierr = CeedOperatorApply(op, r->u, both, CEED_REQUEST_IMMEDIATE);
  CeedElemRestrictionDestroy(&rstr);
  CeedBasisDestroy(&basis);
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&op);
  return ierr;
}

TEST(an_output_that_is_active_and_passive_gets_both_in_float) {
  CeedVector both = NULL;

  NEEDS_TWO_PRECISIONS();
  setenv("RITZ_STRICT", "1", 1);
  Run r = open_on("/cpu/self/gen", &mass);
  NOTE_OK(RitzVectorCreate(r.ceed, r.num_nodes, CEED_SCALAR_FP32, &both));
  NOTE_OK(apply_twice(&r, both));
  double *found = values_of(both), *wanted = reference_new_values(r.v);
  const double error = found ? reference_distance(r.num_nodes, found, wanted) : INFINITY;
  const double size = reference_largest(r.num_nodes, wanted);
  free(found);
  free(wanted);
  CeedVectorDestroy(&both);
  close_run(&r);
  unsetenv("RITZ_STRICT");
  CHECK(size > 0 && error <= 100 * FLT_EPSILON * size, "off by %g of %g", error, size);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(operators_of_mixed_precision_are_their_dense_matrices,
                        threads_add_up_in_mixed_precision, every_number_of_lanes_serves_both_precisions,
                        what_is_applied_once_matches_its_dense_matrix_in_mixed_precision,
                        bake_off_problems_run_in_float_on_hexahedra,
                        bake_off_problems_run_in_float_on_tetrahedra,
                        diagonals_without_a_kernel_are_walked_through_in_float,
                        with_fixed_parts_every_number_of_threads_gives_the_same_floats,
                        a_text_that_disagrees_with_its_function_is_found_in_float,
                        a_function_that_is_called_by_its_pointer_computes_in_double,
                        without_a_compiler_operators_in_float_run_on_the_ahead_of_time_kernel,
                        a_function_with_a_context_computes_in_double_inside_the_kernel,
                        an_output_that_is_active_and_passive_gets_both_in_float));
}
