// SPDX-License-Identifier: BSD-2-Clause
// Conjugate gradients on devices: merged iterations and those of the standard variant are those of the host;
// what ends a solve; what is copied and kept. On mass matrices with random coefficients, which take one
// kernel.
#include "backends/gpu/operators.h"
#include "base/memory.h"
#include "solver/solver.h"
#include "tests/gpu-kit.h"

#include <math.h>

// ---- Systems ----

enum { MAX_STEPS = 64 };

typedef enum {
  NO_FAULT,
  ZERO_B,               // and first guess
  NAN_IN_B,             // in a free entry
  NAN_IN_OPERATOR,      // in a coefficient; the first guess is zero
  NEGATIVE_OPERATOR,    // and the first guess is zero
  NEGATIVE_DIAGONAL,    // in a free entry
  NAN_IN_DIAGONAL,      // likewise
  NAN_WHERE_CONSTRAINED // in b and the diagonal
} Fault;

// What the operator is, besides a mass in one dimension with a tensor basis.
typedef enum {
  LINES_1D,
  LINES_3D,
  WHOLE_ELEMENTS,
  THREE_COMPONENTS,
  DENSE,
  SEVERAL_RESTRICTIONS,
  NUM_KINDS
} Kind;

typedef struct {
  Kind kind;
  CeedInt num_elem; // of a chain
  bool has_jacobi, is_constrained, is_composite;
  double size; // of the right-hand side and the first guess; 0: one
  Fault fault;
  double rtol;
  CeedInt max_it, stop_at; // stop_at: what the monitor ends, 0: nothing
} Case;

typedef struct {
  Chain chains[2];
  CeedOperator op; // counted
  CeedVector b, x, diagonal;
  int64_t *constraints;
  int64_t num_constraints;
  RitzSolver solver;
} System;

typedef struct {
  RitzSolverReason reason;
  CeedInt iterations;
  int num_residuals;
  double residuals[MAX_STEPS], *x, *first;           // x, first guess: malloc's
  int64_t most_bytes_out, most_bytes_in, most_reads; // between two calls of the monitor
} Result;

static ChainShape shape_of(const Case *c) {
  const bool is_whole = c->kind == WHOLE_ELEMENTS;
  return (ChainShape){.dim = is_whole || c->kind == LINES_3D ? 3 : 1,
                      .num_elem = c->num_elem,
                      .P_1d = is_whole ? 2 : 3,
                      .Q_1d = is_whole ? 2 : 4,
                      .is_diffusion = c->kind == LINES_3D,
                      .seed = 7,
                      .num_comp = c->kind == THREE_COMPONENTS ? 3 : 1,
                      .quad_mode = CEED_GAUSS};
}

static CeedSize size_of(const Case *c) {
  const ChainShape shape = shape_of(c);
  return chain_size(&shape);
}

// 1 .. 2, in symmetric matrices beside the diagonal 0.1 .. 0.2: condition numbers of some ten.
static void set_coefficients(const Case *c, CeedVector qdata) {
  const ChainShape s = shape_of(c);
  const CeedInt Q = CeedIntPow(s.Q_1d, s.dim), num_q = s.is_diffusion ? 6 : 1;
  double *values = reference_new_values(qdata);
  CeedScalar *array = NULL;
  CeedSize length = 0;

  CeedVectorGetLength(qdata, &length);
  CeedVectorGetArrayWrite(qdata, CEED_MEM_HOST, &array);
  for (CeedSize i = 0; i < length; i++) {
    const double factor = i / Q % num_q >= s.dim ? 0.1 : 1;
    array[i] = (CeedScalar)(factor * (1 + fabs(values[i])) * (c->fault == NEGATIVE_OPERATOR ? -1 : 1));
  }
  if (c->fault == NAN_IN_OPERATOR) array[length / 2] = NAN;
  CeedVectorRestoreArray(qdata, &array);
  free(values);
}

// Exchanges the basis for a dense one with the same matrices.
static int make_dense(Ceed ceed, const ChainShape *shape, Chain *c) {
  const CeedScalar *interp = NULL, *grad = NULL;
  CeedScalar zeros[16] = {0};
  CeedBasis dense = NULL;

  CeedCall(CeedBasisGetInterp(c->basis, &interp));
  CeedCall(CeedBasisGetGrad(c->basis, &grad));
  CeedCall(CeedBasisCreateH1(ceed, CEED_TOPOLOGY_LINE, 1, shape->P_1d, shape->Q_1d, interp, grad, zeros,
                             zeros, &dense));
  CeedBasisDestroy(&c->basis);
  c->basis = dense;
  CeedCall(CeedOperatorDestroy(&c->op));
  return chain_create_operator(ceed, shape, c);
}

// The output has a restriction of its own, so that nobody knows that it is that of the input.
static int split_restriction(Ceed ceed, const ChainShape *shape, Chain *c) {
  const CeedInt *offsets = NULL;
  CeedElemRestriction own = NULL, first = c->rstr;
  CeedQFunction qf = NULL;

  CeedCall(CeedElemRestrictionGetOffsets(first, CEED_MEM_HOST, &offsets));
  int ierr = CeedElemRestrictionCreate(ceed, shape->num_elem, shape->P_1d, 1, 1, c->size, CEED_MEM_HOST,
                                       CEED_COPY_VALUES, offsets, &own);
  CeedElemRestrictionRestoreOffsets(first, &offsets);
  CeedOperatorDestroy(&c->op);
  if (!ierr) ierr = CeedQFunctionCreateInteriorByName(ceed, "MassApply", &qf);
  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, &c->op);
  if (!ierr) ierr = CeedOperatorSetField(c->op, "u", first, c->basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(c->op, "qdata", c->rstr_q, CEED_BASIS_NONE, c->qdata);
  if (!ierr) ierr = CeedOperatorSetField(c->op, "v", own, c->basis, CEED_VECTOR_ACTIVE);
  CeedQFunctionDestroy(&qf);
  CeedElemRestrictionDestroy(&own);
  return ierr;
}

static int create_part(Ceed ceed, const Case *c, Chain *chain) {
  const ChainShape shape = shape_of(c);

  CeedCall(chain_create(ceed, &shape, chain));
  set_coefficients(c, chain->qdata);
  if (c->kind == DENSE) return make_dense(ceed, &shape, chain);
  return c->kind == SEVERAL_RESTRICTIONS ? split_restriction(ceed, &shape, chain) : CEED_ERROR_SUCCESS;
}

static int create_operator(Ceed ceed, const Case *c, System *s) {
  if (c->is_composite) CeedCall(CeedOperatorCreateComposite(ceed, &s->op));
  for (int i = 0; i < 1 + c->is_composite; i++) {
    CeedCall(create_part(ceed, c, &s->chains[i]));
    if (c->is_composite) CeedCall(CeedOperatorCompositeAddSub(s->op, s->chains[i].op));
  }
  return c->is_composite ? CEED_ERROR_SUCCESS : CeedOperatorReferenceCopy(s->chains[0].op, &s->op);
}

// Every fifth entry, the first, and one twice.
static void choose_constraints(const Case *c, CeedSize n, System *s) {
  if (!c->is_constrained) return;
  s->constraints = malloc((size_t)(n / 5 + 2) * sizeof(*s->constraints));
  for (CeedSize i = 0; i < n; i += 5) s->constraints[s->num_constraints++] = i;
  s->constraints[s->num_constraints++] = 0;
}

static int create_vectors(Ceed ceed, const Case *c, CeedSize n, System *s) {
  const bool starts_at_zero =
      c->fault == ZERO_B || c->fault == NAN_IN_OPERATOR || c->fault == NEGATIVE_OPERATOR;
  uint64_t seed = 3;
  double *b = reference_new_random(n, &seed), *x = reference_new_random(n, &seed);
  double *d = reference_new_random(n, &seed);
  const double size = c->size > 0 ? c->size : 1;

  for (CeedSize i = 0; i < n; i++) {
    b[i] = c->fault == ZERO_B ? 0 : b[i] * size;
    x[i] = starts_at_zero ? 0 : x[i] * size;
    d[i] = 1 + 3 * fabs(d[i]);
  }
  if (c->fault == NAN_IN_B) b[n / 2 + (n / 2 % 5 == 0)] = NAN;
  if (c->fault == NEGATIVE_DIAGONAL) d[n - 2] = -1;
  if (c->fault == NAN_IN_DIAGONAL) d[n - 2] = NAN;
  if (c->fault == NAN_WHERE_CONSTRAINED) b[5] = d[10] = NAN;
  s->b = reference_vector(ceed, n, b);
  s->x = reference_vector(ceed, n, x);
  if (c->has_jacobi) s->diagonal = reference_vector(ceed, n, d);
  free(b);
  free(x);
  free(d);
  return s->b && s->x && (s->diagonal || !c->has_jacobi) ? CEED_ERROR_SUCCESS : CEED_ERROR_MAJOR;
}

static void destroy_system(System *s) {
  RitzSolverDestroy(&s->solver);
  CeedOperatorDestroy(&s->op);
  chain_destroy(&s->chains[0]);
  chain_destroy(&s->chains[1]);
  CeedVectorDestroy(&s->b);
  CeedVectorDestroy(&s->x);
  CeedVectorDestroy(&s->diagonal);
  free(s->constraints);
}

// To be destroyed in any case.
static int create_system(Ceed ceed, const Case *c, System *s) {
  *s = (System){0};
  CeedCall(create_operator(ceed, c, s));
  const CeedSize n = s->chains[0].size;
  choose_constraints(c, n, s);
  CeedCall(create_vectors(ceed, c, n, s));
  CeedCall(RitzSolverCreateCG(ceed, &s->solver));
  CeedCall(RitzSolverSetOperator(s->solver, s->op));
  CeedCall(RitzSolverSetJacobi(s->solver, s->diagonal));
  CeedCall(RitzSolverSetConstraints(s->solver, s->num_constraints, s->constraints));
  return RitzSolverSetTolerances(s->solver, c->rtol, 0, c->max_it);
}

// ---- Solves ----

typedef struct {
  const Case *c;
  Ceed ceed;
  Result *result;
  RitzDeviceCounters before;
} Watch;

static int watch(void *ctx, CeedInt iteration, double residual, bool *stop) {
  Watch *w = ctx;
  Result *r = w->result;
  const RitzDeviceCounters now = counters_of(w->ceed);

  if (iteration != r->num_residuals) return CEED_ERROR_MAJOR;
  if (iteration < MAX_STEPS) r->residuals[iteration] = residual;
  r->num_residuals++;
  if (iteration > 0) {
    const int64_t out = now.bytes_out - w->before.bytes_out, in = now.bytes_in - w->before.bytes_in;
    r->most_bytes_out = out > r->most_bytes_out ? out : r->most_bytes_out;
    r->most_bytes_in = in > r->most_bytes_in ? in : r->most_bytes_in;
    const int64_t reads = now.num_reads - w->before.num_reads;
    r->most_reads = reads > r->most_reads ? reads : r->most_reads;
  }
  w->before = now;
  *stop = w->c->stop_at > 0 && iteration == w->c->stop_at;
  return CEED_ERROR_SUCCESS;
}

typedef enum { ON_HOST, MERGED, STANDARD } How;

static int run_solver(const System *s, How how) {
  CeedCall(RitzSolverSetVariant(s->solver, how == MERGED ? RITZ_CG_MERGED : RITZ_CG_STANDARD));
  return RitzSolverSolve(s->solver, s->b, s->x);
}

static void forget(Result *r) {
  free(r->x);
  free(r->first);
  *r = (Result){0};
}

// The result is to be forgotten in any case.
static int solve(Ceed ceed, const Case *c, How how, Result *r) {
  Watch w = {.c = c, .ceed = ceed, .result = r};
  System s;

  *r = (Result){0};
  int ierr = create_system(ceed, c, &s);
  if (!ierr) ierr = RitzSolverSetMonitor(s.solver, watch, &w);
  if (!ierr) r->first = reference_new_values(s.x);
  if (!ierr) ierr = run_solver(&s, how);
  if (!ierr) ierr = RitzSolverGetReason(s.solver, &r->reason);
  if (!ierr) ierr = RitzSolverGetIterations(s.solver, &r->iterations);
  if (!ierr) r->x = reference_new_values(s.x);
  destroy_system(&s);
  return ierr;
}

static const char *const hows[] = {"on the host", "merged", "standard"};

// ---- The iterates are those of the host ----

// Rounding of one iteration is some eps; the next ones magnify it at most by the condition number of the
// system, and by what is left of it in a matrix whose eigenvalues are spread evenly.
static double tolerance(const Case *c) { return 100 * eps * (20 + c->max_it); }

static void check_same(const Case *c, const Result *host, const Result *r, How how) {
  const double first = host->residuals[0];

  CHECK(r->reason == host->reason && r->iterations == host->iterations, "%s: %s after %d, wanted %s after %d",
        hows[how], RitzSolverReasonName(r->reason), (int)r->iterations, RitzSolverReasonName(host->reason),
        (int)host->iterations);
  CHECK(r->num_residuals == host->num_residuals, "%s", hows[how]);
  for (int k = 0; k < host->num_residuals && k < MAX_STEPS; k++)
    CHECK_NEAR(r->residuals[k] / first, host->residuals[k] / first, tolerance(c), "%s: residual %d",
               hows[how], k);
  for (CeedSize i = 0; i < size_of(c); i++)
    CHECK_NEAR(r->x[i] / first, host->x[i] / first, tolerance(c), "%s: entry %d of x", hows[how], (int)i);
  for (CeedSize i = 0; c->is_constrained && i < size_of(c); i += 5)
    CHECK(r->x[i] == r->first[i], "%s: constrained entry %d", hows[how], (int)i);
}

static void compare(Ceed ceed, const Case *c, How how, const Result *host) {
  Result r;
  const int ierr = solve(ceed, c, how, &r);

  if (ierr == CEED_ERROR_SUCCESS) check_same(c, host, &r, how);
  forget(&r);
  CHECK_OK(ierr);
}

static void compare_with_host(Ceed ceed, const Case *c) {
  Ceed host = tap_ceed("/cpu/self/ref");
  Result wanted;
  const int ierr = solve(host, c, ON_HOST, &wanted);

  if (ierr == CEED_ERROR_SUCCESS) {
    compare(ceed, c, MERGED, &wanted);
    compare(ceed, c, STANDARD, &wanted);
  }
  if (tap_failed())
    tap_note("kind %d, %d elements%s%s%s, size %g, fault %d, at most %d iterations", (int)c->kind,
             (int)c->num_elem, c->has_jacobi ? ", Jacobi" : "", c->is_constrained ? ", constraints" : "",
             c->is_composite ? ", composite" : "", c->size, (int)c->fault, (int)c->max_it);
  forget(&wanted);
  CeedDestroy(&host);
  CHECK_OK(ierr);
}

TEST_EACH_GPU(iterations_are_those_of_the_host) {
  for (int kind = 0; kind < 8 && !tap_failed(); kind++) {
    const Case c = {.num_elem = 40 + kind,
                    .has_jacobi = kind & 1,
                    .is_constrained = kind & 2,
                    .is_composite = kind & 4,
                    .max_it = 12};
    compare_with_host(ceed, &c);
  }
}

TEST_EACH_GPU(many_blocks_add_up_to_the_sums_of_the_host) {
  const CeedInt num_elem = tap_level() >= TAP_FULL ? 100000 : 10000;

  compare_with_host(ceed,
                    &(Case){.num_elem = num_elem, .has_jacobi = true, .is_constrained = true, .max_it = 5});
}

TEST_EACH_GPU(any_number_of_iterations_leaves_the_iterate_of_the_host) {
  const CeedInt limits[] = {0, 1, 2, 3, 8};

  for (int i = 0; i < 5 && !tap_failed(); i++)
    compare_with_host(ceed, &(Case){.num_elem = 3 + i, .has_jacobi = true, .max_it = limits[i]});
}

TEST_EACH_GPU(the_size_of_a_system_does_not_matter) {
  const int largest = sizeof(CeedScalar) == 4 ? 120 : 1000;
  const Case plain = {.num_elem = 20, .has_jacobi = true, .max_it = 6};

  for (int sign = -1; sign <= 1 && !tap_failed(); sign += 2) {
    Case c = plain;
    c.size = ldexp(1, sign * largest);
    compare_with_host(ceed, &c);
  }
}

// ---- p . A p ----

static void check_shares(Ceed ceed, const Case *c) {
  System s;
  int64_t num_shares = -1;
  int ierr = create_system(ceed, c, &s);

  if (!ierr) ierr = ritz_gpu_energy_prepare(s.op, &num_shares);
  destroy_system(&s);
  CHECK_OK(ierr);
  CHECK((num_shares > 0) == (c->kind != SEVERAL_RESTRICTIONS), "kind %d: %lld shares", (int)c->kind,
        (long long)num_shares);
}

TEST_EACH_GEN(kernels_of_operators_give_the_product_with_their_input) {
  const bool is_brief = tap_compiles_slowly(ceed) && tap_level() < TAP_FULL;

  for (Kind kind = LINES_1D; kind < NUM_KINDS && !tap_failed(); kind++) {
    const Case c = {.kind = kind, .num_elem = 37, .is_constrained = true, .max_it = 3};
    if (is_brief && kind != LINES_1D && kind != SEVERAL_RESTRICTIONS) continue;
    check_shares(ceed, &c);
    if (!tap_failed()) compare_with_host(ceed, &c);
  }
}

// ---- What ends a solve ----

static void check_end(Ceed ceed, const Case *c, RitzSolverReason reason, CeedInt iterations) {
  for (How how = MERGED; how <= STANDARD && !tap_failed(); how++) {
    Result r;
    const int ierr = solve(ceed, c, how, &r);
    bool is_kept = true;
    for (CeedSize i = 0; !ierr && i < size_of(c); i++) is_kept &= r.x[i] == r.first[i];
    const Result seen = r;
    forget(&r);
    CHECK_OK(ierr);
    CHECK(seen.reason == reason && seen.iterations == iterations, "fault %d %s: %s after %d", (int)c->fault,
          hows[how], RitzSolverReasonName(seen.reason), (int)seen.iterations);
    CHECK(is_kept || iterations > 0, "fault %d %s: x has changed", (int)c->fault, hows[how]);
  }
}

TEST_EACH_GPU(a_solve_that_breaks_down_keeps_x_and_says_why) {
  const CeedInt n = 20;

  check_end(ceed, &(Case){.num_elem = n, .fault = ZERO_B, .max_it = 5}, RITZ_CONVERGED_ATOL, 0);
  check_end(ceed, &(Case){.num_elem = n, .fault = NAN_IN_B, .max_it = 5}, RITZ_DIVERGED_NAN, 0);
  check_end(ceed, &(Case){.num_elem = n, .fault = NAN_IN_OPERATOR, .max_it = 5}, RITZ_DIVERGED_NAN, 0);
  check_end(ceed, &(Case){.num_elem = n, .fault = NEGATIVE_OPERATOR, .max_it = 5}, RITZ_DIVERGED_INDEFINITE,
            0);
  check_end(ceed, &(Case){.num_elem = n, .has_jacobi = true, .fault = NEGATIVE_DIAGONAL, .max_it = 5},
            RITZ_DIVERGED_PRECONDITIONER, 0);
  check_end(ceed, &(Case){.num_elem = n, .has_jacobi = true, .fault = NAN_IN_DIAGONAL, .max_it = 5},
            RITZ_DIVERGED_PRECONDITIONER, 0);
  check_end(ceed, &(Case){.num_elem = n, .max_it = 5, .stop_at = 2}, RITZ_DIVERGED_MONITOR, 2);
}

// With an x that is the entries from `first` on of an array of `values` on the device; all of it comes back.
static int solve_in_place(Ceed ceed, const Case *c, CeedSize first, CeedSize length, double *values) {
  CeedVector whole = reference_vector(ceed, length, values);
  CeedScalar *array = NULL;
  System s;
  int ierr = create_system(ceed, c, &s);

  if (!ierr) ierr = CeedVectorGetArray(whole, CEED_MEM_DEVICE, &array);
  if (!ierr) ierr = CeedVectorSetArray(s.x, CEED_MEM_DEVICE, CEED_USE_POINTER, array + first);
  if (!ierr) ierr = run_solver(&s, MERGED);
  if (!ierr) ierr = CeedVectorTakeArray(s.x, CEED_MEM_DEVICE, NULL);
  if (array) CeedVectorRestoreArray(whole, &array);
  reference_values(whole, values);
  CeedVectorDestroy(&whole);
  destroy_system(&s);
  return ierr;
}

// OpenCL takes addresses at multiples of a number of bytes, 128 at most on devices that are known.
TEST_EACH_GPU(x_may_be_any_part_of_an_array) {
  const Case c = {.num_elem = 10, .is_constrained = true, .max_it = 4};
  const CeedSize step = strstr(resource_of(ceed), "opencl") ? 128 / sizeof(CeedScalar) : 1;
  const CeedSize n = size_of(&c), length = n + 4 * step + 4;

  for (CeedSize first = step; first <= 4 * step && !tap_failed(); first += step) {
    Result r;
    double *values = reference_new(length);
    int ierr = solve(ceed, &c, MERGED, &r), num_changed = 0, num_different = 0;

    for (CeedSize i = 0; i < length; i++) values[i] = 7;
    for (CeedSize i = 0; !ierr && i < n; i++) values[first + i] = r.first[i];
    if (!ierr) ierr = solve_in_place(ceed, &c, first, length, values);
    for (CeedSize i = 0; !ierr && i < length; i++) {
      const bool is_inside = i >= first && i < first + n;
      num_changed += !is_inside && values[i] != 7;
      num_different += is_inside && !(fabs(values[i] - r.x[i - first]) <= tolerance(&c) * r.residuals[0]);
    }
    free(values);
    forget(&r);
    CHECK_OK(ierr);
    CHECK(num_changed == 0 && num_different == 0, "from %d on: %d changed beside x, %d different", (int)first,
          num_changed, num_different);
  }
}

TEST_EACH_GPU(what_stands_at_constrained_entries_does_not_matter) {
  compare_with_host(ceed, &(Case){.num_elem = 20,
                                  .has_jacobi = true,
                                  .is_constrained = true,
                                  .fault = NAN_WHERE_CONSTRAINED,
                                  .max_it = 5});
}

// As on a process that has no part of a mesh.
TEST_EACH_GPU(a_system_without_entries_is_solved_by_zero_iterations) {
  System s = {0};
  RitzSolverReason reasons[2] = {RITZ_ITERATING, RITZ_ITERATING};
  int ierr = CeedOperatorCreateComposite(ceed, &s.op);

  if (!ierr) ierr = CeedOperatorCheckReady(s.op);
  if (!ierr) ierr = create_vectors(ceed, &(Case){.has_jacobi = true}, 0, &s);
  if (!ierr) ierr = RitzSolverCreateCG(ceed, &s.solver);
  if (!ierr) ierr = RitzSolverSetOperator(s.solver, s.op);
  if (!ierr) ierr = RitzSolverSetJacobi(s.solver, s.diagonal);
  for (How how = MERGED; how <= STANDARD && !ierr; how++) {
    ierr = run_solver(&s, how);
    if (!ierr) ierr = RitzSolverGetReason(s.solver, &reasons[how - MERGED]);
  }
  destroy_system(&s);
  CHECK_OK(ierr);
  for (int i = 0; i < 2; i++)
    CHECK(reasons[i] == RITZ_CONVERGED_ATOL, "%s: %s", hows[MERGED + i], RitzSolverReasonName(reasons[i]));
}

// They are copied; x gets the solution.
TEST_EACH_GPU(vectors_of_another_context_are_solved_for_where_the_operator_runs) {
  const Case c = {.num_elem = 10, .is_constrained = true, .max_it = 3};
  Ceed host = tap_ceed("/cpu/self/ref");
  RitzCGVariant used = RITZ_CG_AUTO;
  Result r = {0};
  System s;
  double *x = NULL;
  int ierr = solve(ceed, &c, MERGED, &r);
  if (!ierr) ierr = create_system(ceed, &c, &s);
  if (!ierr) {
    double *b = reference_new_values(s.b);
    CeedVectorDestroy(&s.b);
    CeedVectorDestroy(&s.x);
    s.b = reference_vector(host, size_of(&c), b);
    s.x = reference_vector(host, size_of(&c), r.first);
    free(b);
    ierr = RitzSolverSolve(s.solver, s.b, s.x);
    if (!ierr) ierr = RitzSolverGetVariantUsed(s.solver, &used, NULL);
    x = reference_new_values(s.x);
    destroy_system(&s);
  }
  const double distance = ierr ? NAN : reference_distance(size_of(&c), x, r.x);
  const double bound = tolerance(&c) * r.residuals[0];
  free(x);
  forget(&r);
  CeedDestroy(&host);
  CHECK_OK(ierr);
  CHECK(used == RITZ_CG_MERGED, "variant %d", (int)used);
  CHECK_NEAR(distance, 0, bound, "solutions");
}

// The true residual, by the host: that of the recurrence, and rounding.
static void check_solved(Ceed ceed, double rtol, RitzSolverReason reason, double most) {
  const Case c = {.num_elem = 50, .has_jacobi = true, .max_it = 1000, .rtol = rtol};
  const CeedSize n = size_of(&c);
  Ceed host = tap_ceed("/cpu/self/ref");
  double left[2] = {NAN, NAN}, *b = NULL, *ax = reference_new(n);
  RitzSolverReason reasons[2] = {RITZ_ITERATING, RITZ_ITERATING};
  System s;
  int ierr = create_system(host, &c, &s);

  if (!ierr) b = reference_new_values(s.b);
  for (How how = MERGED; how <= STANDARD && !ierr; how++) {
    Result r;
    double rr = 0;
    ierr = solve(ceed, &c, how, &r);
    if (!ierr) ierr = apply_to_values(s.op, n, r.x, ax);
    for (CeedSize i = 0; !ierr && i < n; i++) rr += (b[i] - ax[i]) * (b[i] - ax[i]);
    left[how - MERGED] = sqrt(rr) / r.residuals[0];
    reasons[how - MERGED] = r.reason;
    forget(&r);
  }
  destroy_system(&s);
  free(b);
  free(ax);
  CeedDestroy(&host);
  CHECK_OK(ierr);
  for (int i = 0; i < 2; i++) {
    CHECK(reasons[i] == reason, "%s: %s", hows[MERGED + i], RitzSolverReasonName(reasons[i]));
    CHECK_NEAR(left[i], 0, most, "%s: residual over the first", hows[MERGED + i]);
  }
}

TEST_EACH_GPU(a_converged_solve_solves_the_system) {
  check_solved(ceed, 1e4 * eps, RITZ_CONVERGED_RTOL, 1.1e4 * eps);
}

// What the sums on the device say goes on falling.
TEST_EACH_GPU(a_solve_to_less_than_rounding_ends_there_and_says_so) {
  check_solved(ceed, eps / 1000, RITZ_CONVERGED_ROUNDING, 100 * eps);
}

// ---- What is copied and kept ----

TEST_EACH_GPU(an_iteration_copies_a_few_numbers_to_the_host_and_nothing_to_the_device) {
  const Case c = {.num_elem = 100, .has_jacobi = true, .is_constrained = true, .max_it = 4};
  Result r;
  const int ierr = solve(ceed, &c, MERGED, &r);
  const Result seen = r;

  forget(&r);
  CHECK_OK(ierr);
  CHECK(seen.most_bytes_out <= 32, "%lld bytes", (long long)seen.most_bytes_out);
  CHECK(seen.most_bytes_in == 0, "%lld bytes", (long long)seen.most_bytes_in);
  CHECK(seen.most_reads == 1, "%lld reads", (long long)seen.most_reads);
}

// Standard ones, with Jacobi or a Chebyshev polynomial.
static int watch_standard(Ceed ceed, RitzSolverType type, bool has_jacobi, Result *r) {
  const Case c = {.num_elem = 100, .has_jacobi = true, .is_constrained = true, .max_it = 6};
  Watch w = {.c = &c, .ceed = ceed, .result = r};
  RitzPreconditioner jacobi = NULL, pc = NULL;
  RitzSolver solver = NULL;
  RitzIndices fixed = NULL;
  System s;

  *r = (Result){0};
  int ierr = create_system(ceed, &c, &s);
  if (!ierr) ierr = RitzIndicesCreate(ceed, s.num_constraints, s.constraints, &fixed);
  if (!ierr) ierr = RitzPreconditionerCreateJacobi(ceed, s.diagonal, fixed, &jacobi);
  if (!ierr) ierr = RitzPreconditionerCreateChebyshev(s.op, fixed, jacobi, NULL, &pc);
  if (!ierr) ierr = RitzSolverCreate(ceed, type, &solver);
  if (!ierr) ierr = RitzSolverSetVariant(solver, RITZ_CG_STANDARD);
  if (!ierr) ierr = RitzSolverSetOperator(solver, s.op);
  if (!ierr) ierr = RitzSolverSetConstraintIndices(solver, fixed);
  if (!ierr) ierr = RitzSolverSetPreconditioner(solver, has_jacobi ? jacobi : pc);
  if (!ierr) ierr = RitzSolverSetTolerances(solver, 1e-30, 0, c.max_it);
  if (!ierr) ierr = RitzSolverSetMonitor(solver, watch, &w);
  if (!ierr) ierr = RitzSolverSolve(solver, s.b, s.x);
  RitzSolverDestroy(&solver);
  RitzPreconditionerDestroy(&pc);
  RitzPreconditionerDestroy(&jacobi);
  RitzIndicesDestroy(&fixed);
  destroy_system(&s);
  return ierr;
}

TEST_EACH_GPU(the_host_waits_once_an_iteration_whatever_the_preconditioner) {
  const RitzSolverType types[] = {RITZ_SOLVER_CG, RITZ_SOLVER_FLEXIBLE_CG};

  for (int i = 0; i < 4; i++) {
    Result r;
    CHECK_OK(watch_standard(ceed, types[i / 2], i % 2, &r));
    CHECK(r.num_residuals > 3 && r.most_reads == 1, "%s, %s: %d reads in one of %d iterations",
          RitzSolverTypeName(types[i / 2]), i % 2 ? "Jacobi" : "Chebyshev", (int)r.most_reads,
          r.num_residuals);
    CHECK(r.most_bytes_in == 0, "%lld bytes", (long long)r.most_bytes_in);
  }
}

TEST_EACH_GPU(a_solve_leaves_no_device_memory_behind) {
  const Case c = {.num_elem = 100, .has_jacobi = true, .is_constrained = true, .max_it = 2};
  Result r;
  int64_t live[2];

  for (int i = 0; i < 2; i++) {
    for (How how = MERGED; how <= STANDARD; how++) {
      const int ierr = solve(ceed, &c, how, &r);
      forget(&r);
      CHECK_OK(ierr);
    }
    live[i] = counters_of(ceed).bytes_live;
  }
  CHECK(live[0] == live[1], "%lld and %lld bytes", (long long)live[0], (long long)live[1]);
}

TEST_EACH_GPU(without_memory_a_solve_fails_and_keeps_nothing) {
  const Case c = {.num_elem = 10, .has_jacobi = true, .is_constrained = true, .max_it = 2};
  System s;
  int code = CEED_ERROR_MAJOR;

  int ierr = create_system(ceed, &c, &s);
  if (!ierr) ierr = run_solver(&s, MERGED); // everything is compiled now
  if (!ierr) ierr = ritz_workspace_clear(&s.solver->work);
  const int64_t live = ritz_memory_live(), device_live = counters_of(ceed).bytes_live;
  int num_failures = 0;
  bool is_clean = true;
  while (!ierr && code && is_clean && num_failures < 200) {
    ritz_memory_fail_at(num_failures + 1);
    code = run_solver(&s, MERGED);
    ritz_memory_fail_at(0);
    ierr = ritz_workspace_clear(&s.solver->work); // what a solver keeps for the next solve
    num_failures += code != 0;
    is_clean = ritz_memory_live() == live && counters_of(ceed).bytes_live == device_live;
  }
  destroy_system(&s);
  CHECK_OK(ierr);
  CHECK(is_clean, "after allocation %d", num_failures);
  CHECK(code == 0 && num_failures > 3, "%d failures, code %d", num_failures, code);
}

TEST_EACH_GEN(deterministic_contexts_repeat_a_solve_bit_for_bit) {
  const Case c = {.num_elem = 3000, .has_jacobi = true, .max_it = 8};
  char resource[128];
  Result r[2];
  int ierr = CEED_ERROR_SUCCESS;

  snprintf(resource, sizeof(resource), "%s:deterministic", resource_of(ceed));
  for (int i = 0; i < 2; i++) {
    Ceed deterministic = tap_ceed(resource);
    const int code = solve(deterministic, &c, MERGED, &r[i]);
    if (!ierr) ierr = code;
    CeedDestroy(&deterministic);
  }
  bool is_same = !ierr && r[0].reason == r[1].reason;
  for (int k = 0; is_same && k < r[0].num_residuals; k++) is_same = r[0].residuals[k] == r[1].residuals[k];
  for (CeedSize i = 0; is_same && i < size_of(&c); i++) is_same = r[0].x[i] == r[1].x[i];
  forget(&r[0]);
  forget(&r[1]);
  CHECK_OK(ierr);
  CHECK(is_same, "two solves");
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(iterations_are_those_of_the_host, many_blocks_add_up_to_the_sums_of_the_host,
            kernels_of_operators_give_the_product_with_their_input,
            any_number_of_iterations_leaves_the_iterate_of_the_host, the_size_of_a_system_does_not_matter,
            a_solve_that_breaks_down_keeps_x_and_says_why, x_may_be_any_part_of_an_array,
            what_stands_at_constrained_entries_does_not_matter,
            a_system_without_entries_is_solved_by_zero_iterations,
            vectors_of_another_context_are_solved_for_where_the_operator_runs,
            a_converged_solve_solves_the_system, a_solve_to_less_than_rounding_ends_there_and_says_so,
            an_iteration_copies_a_few_numbers_to_the_host_and_nothing_to_the_device,
            the_host_waits_once_an_iteration_whatever_the_preconditioner,
            a_solve_leaves_no_device_memory_behind, without_memory_a_solve_fails_and_keeps_nothing,
            deterministic_contexts_repeat_a_solve_bit_for_bit));
}
