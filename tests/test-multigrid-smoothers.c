// SPDX-License-Identifier: BSD-2-Clause
// Multigrid with Schwarz smoothers: iterations of the measured table as bounds, symmetry by the order of
// colours, cycles and full multigrid as solvers, which smoother is chosen for a mesh, and what cannot be.
#include "tests/multigrid-kit.h"

#include "base/memory.h"
#include "solver/multigrid.h"
#include "tests/api.h"
#include "tests/cold-cache.h"
#include <float.h>

enum { HAS_DOUBLE = sizeof(CeedScalar) == sizeof(double) };
static const double scalar_eps = HAS_DOUBLE ? DBL_EPSILON : FLT_EPSILON;

static const MultigridCase box = {.dim = 3,
                                  .n = 8,
                                  .degree = 2,
                                  .kind = RITZ_HIERARCHY_H,
                                  .max_levels = 3,
                                  .options = {.smoother = RITZ_SMOOTHER_PATCHES}};

// Iterations of any method for f = 1; -1: an error, 1000: not converged.
static CeedInt count_by(Ceed ceed, const MultigridCase *c, RitzSolverType type, double rtol) {
  MultigridKit k;
  RitzSolver solver = NULL;
  RitzSolverReason reason = RITZ_ITERATING;
  CeedInt num = 0;
  int ierr = kit_open(ceed, c, &k);
  CeedVector b = ierr ? NULL : kit_vector(&k), x = ierr ? NULL : kit_vector(&k);
  if (!ierr) ierr = kit_right_hand_side(&k, NULL, b);
  if (!ierr) ierr = RitzSolverCreate(ceed, type, &solver);
  if (!ierr) ierr = RitzSolverSetOperator(solver, k.op);
  if (!ierr) ierr = RitzSolverSetPreconditioner(solver, k.pc);
  if (!ierr) ierr = RitzSolverSetConstraintIndices(solver, k.fixed);
  if (!ierr) ierr = RitzSolverSetTolerances(solver, rtol, 0, 60);
  if (!ierr) ierr = CeedVectorSetValue(x, 0);
  if (!ierr) ierr = RitzSolverSolve(solver, b, x);
  if (!ierr) ierr = RitzSolverGetReason(solver, &reason);
  if (!ierr) ierr = RitzSolverGetIterations(solver, &num);
  ierr |= RitzSolverDestroy(&solver) | CeedVectorDestroy(&b) | CeedVectorDestroy(&x) | kit_close(&k);
  return ierr ? -1 : reason > 0 ? num : 1000;
}

// The text of the view, to be freed.
static char *view_of(Ceed ceed, const MultigridCase *c) {
  MultigridKit k;
  Capture capture;
  FILE *stream = capture_begin(&capture);
  int ierr = kit_open(ceed, c, &k);
  if (!ierr) ierr = RitzPreconditionerViewLevels(k.pc, stream);
  fclose(stream);
  ierr |= kit_close(&k);
  if (ierr) capture.text[0] = 0;
  return capture.text;
}

// ---- Iterations ----

// Exact patches: the table of the design, one more at most.
TEST(iterations_with_vertex_patches_are_those_of_the_table) {
  static const struct {
    RitzSolverType type;
    bool is_reversed;
    CeedInt most[4]; // degrees 1 to 4
  } rows[] = {{RITZ_SOLVER_FLEXIBLE_CG, false, {7, 6, 5, 5}},
              {RITZ_SOLVER_RICHARDSON, false, {8, 7, 5, 5}},
              {RITZ_SOLVER_CG, true, {8, 7, 7, 6}}};
  if (!HAS_DOUBLE) NOT_HERE("1e-9 is below the rounding of floats");
  Ceed ceed = tap_ceed("/cpu/self");
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    for (CeedInt degree = 1; degree <= (tap_level() < TAP_FULL ? 3 : 4); degree++) {
      MultigridCase c = box;
      c.degree = degree;
      c.options.is_reversed = rows[i].is_reversed;
      const CeedInt num = count_by(ceed, &c, rows[i].type, 1e-9);
      CHECK(num > 0 && num <= rows[i].most[degree - 1], "%s, degree %d: %d iterations, at most %d",
            RitzSolverTypeName(rows[i].type), (int)degree, (int)num, (int)rows[i].most[degree - 1]);
    }
  }
  CHECK_OK(CeedDestroy(&ceed));
}

TEST(iterations_with_vertex_patches_depend_neither_on_the_mesh_nor_on_the_precision) {
  if (!HAS_DOUBLE) NOT_HERE("one precision");
  Ceed ceed = tap_ceed("/cpu/self");
  for (CeedInt degree = 1; degree <= 3; degree++) {
    MultigridCase c = box;
    CeedInt num[4] = {0};
    c.degree = degree;
    for (int i = 0; i < (tap_level() < TAP_FULL && degree != 2 ? 3 : 4); i++) {
      c.n = i == 0 ? 4 : i < 3 ? 8 : 16;
      c.max_levels = i == 0 ? 2 : i < 3 ? 3 : 4;
      c.options.use_precision = i == 2;
      c.options.precision = i == 2 ? CEED_SCALAR_FP32 : CEED_SCALAR_FP64;
      num[i] = kit_count(ceed, &c, 1e-9);
    }
    CHECK(num[0] > 0 && num[1] <= num[0] + 2, "degree %d: %d on 4^3, %d on 8^3", (int)degree, (int)num[0],
          (int)num[1]);
    CHECK(abs(num[2] - num[1]) <= 1, "degree %d: %d, in float %d", (int)degree, (int)num[1], (int)num[2]);
    CHECK(num[3] >= 0 && num[3] <= num[1] + 1, "degree %d: %d on 8^3, %d on 16^3", (int)degree, (int)num[1],
          (int)num[3]);
  }
  CHECK_OK(CeedDestroy(&ceed));
}

// Every kind on a smoothly deformed box, where patches are coloured approximations. Bounds: the table, and
// one.
TEST(smoothers_on_deformed_boxes_keep_their_iterations) {
  static const struct {
    RitzSmootherKind kind;
    CeedInt steps, most;
    const char *name;
  } rows[] = {{RITZ_SMOOTHER_ELEMENT_SCHWARZ, 2, 8, "Chebyshev, element Schwarz"},
              {RITZ_SMOOTHER_OVERLAPPED_SCHWARZ, 2, 7, "Chebyshev, overlapped cells"},
              {RITZ_SMOOTHER_ADDITIVE_PATCHES, 2, 8, "Chebyshev, additive patches"},
              {RITZ_SMOOTHER_PATCHES, 0, 7, "coloured patches"},
              {RITZ_SMOOTHER_PATCHES, 0, 8, "coloured patches"}};
  if (!HAS_DOUBLE) NOT_HERE("1e-9 is below the rounding of floats");
  Ceed ceed = tap_ceed("/cpu/self");
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    MultigridCase c = box;
    c.amplitude = 0.1;
    c.options.smoother = rows[i].kind;
    c.options.chebyshev.degree = rows[i].steps;
    c.options.is_reversed = i == 4; // a symmetric cycle, for plain CG
    const CeedInt num = count_by(ceed, &c, i == 4 ? RITZ_SOLVER_CG : RITZ_SOLVER_FLEXIBLE_CG, 1e-9);
    char *text = view_of(ceed, &c);
    CHECK(num > 0 && num <= rows[i].most, "%s: %d iterations", rows[i].name, (int)num);
    CHECK(strstr(text, rows[i].name), "no '%s' in\n%s", rows[i].name, text);
    free(text);
  }
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- Symmetry ----

static const MultigridCase square = {
    .dim = 2, .n = 4, .degree = 2, .max_levels = 3, .options = {.smoother = RITZ_SMOOTHER_PATCHES}};

// x . B y - y . B x over x . B x
static int asymmetry(Ceed ceed, const MultigridCase *c, double *result, bool *is_symmetric) {
  MultigridKit k;
  double xBy = 0, yBx = 0, xBx = 0;
  CeedCall(kit_open(ceed, c, &k));
  CeedVector x = kit_random(&k, 1), y = kit_random(&k, 2), z = kit_vector(&k);
  CeedCall(RitzPreconditionerIsSymmetric(k.pc, is_symmetric));
  CeedCall(RitzPreconditionerApply(k.pc, y, z));
  CeedCall(RitzVectorDot(x, z, &xBy));
  CeedCall(RitzPreconditionerApply(k.pc, x, z));
  CeedCall(RitzVectorDot(y, z, &yBx));
  CeedCall(RitzVectorDot(x, z, &xBx));
  *result = fabs(xBy - yBx) / xBx;
  CeedCall(CeedVectorDestroy(&x) | CeedVectorDestroy(&y) | CeedVectorDestroy(&z));
  return kit_close(&k);
}

// Exact patches on a box, coloured approximations on a deformed one.
TEST_EACH_BACKEND(colours_in_reversed_order_make_a_symmetric_cycle) {
  const bool is_slow = tap_compiles_slowly(ceed);
  for (int i = 0; i < 4; i++) {
    const bool is_reversed = i % 2, is_deformed = i > 1;
    for (int num_smooth = 1; num_smooth <= (is_slow ? 1 : 2); num_smooth++) {
      MultigridCase c = square;
      double error = 0;
      bool is_symmetric = !is_reversed;
      c.amplitude = is_deformed ? 0.1 : 0;
      c.options.is_reversed = is_reversed;
      c.options.num_smooth = num_smooth;
      CHECK_OK(asymmetry(ceed, &c, &error, &is_symmetric));
      CHECK(is_symmetric == is_reversed, "case %d", i);
      // Rounding of the sums and of each of some hundred steps.
      if (is_reversed) CHECK(error < 1000 * scalar_eps, "case %d: not symmetric by %g", i, error);
      if (!is_reversed) CHECK(error > 1e-5, "case %d: the same order is symmetric, too: %g", i, error);
    }
  }
}

TEST(conjugate_gradients_refuse_a_cycle_that_is_not_symmetric) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  MultigridKit k;
  RitzSolver solver = NULL;
  CHECK_OK(kit_open(ceed, &square, &k));
  CeedVector b = kit_random(&k, 1), x = kit_vector(&k);
  CHECK_OK(RitzSolverCreateCG(ceed, &solver));
  CHECK_OK(RitzSolverSetOperator(solver, k.op));
  CHECK_OK(RitzSolverSetPreconditioner(solver, k.pc));
  CHECK_OK(CeedVectorSetValue(x, 0));
  CHECK_ERROR(
      ceed, RitzSolverSolve(solver, b, x), CEED_ERROR_INCOMPATIBLE,
      "'multigrid' is not: use the flexible RITZ_SOLVER_FLEXIBLE_CG, or a symmetric cycle (V or W, not "
      "full; of patches with is_reversed)");
  CHECK_OK(RitzSolverDestroy(&solver));
  CHECK_OK(CeedVectorDestroy(&b));
  CHECK_OK(CeedVectorDestroy(&x));
  CHECK_OK(kit_close(&k));
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- Full multigrid as a start ----

// The first application of a solve is that of full multigrid, which is not the one of a cycle; the next solve
// begins in the same way. Outside of solves there are cycles.
TEST_EACH_BACKEND(full_multigrid_begins_each_solve_and_cycles_follow) {
  if (tap_compiles_slowly(ceed)) NOT_FOR_THIS_BACKEND("no other kernels than of symmetric cycles");
  MultigridCase c = square;
  MultigridKit kits[3]; // a cycle, full multigrid always, full multigrid first
  CeedVector z[3];
  double difference = 0, norm = 0;
  for (int i = 0; i < 3; i++) {
    c.options.is_full = i == 1;
    c.options.starts_full = i == 2;
    CHECK_OK(kit_open(ceed, &c, &kits[i]));
    z[i] = kit_vector(&kits[i]);
  }
  CeedVector b = kit_random(&kits[0], 5);
  for (int step = 0; step < 4; step++) {
    const int like = step == 1; // outside; the first and second application of a solve; outside
    if (step == 1) ritz_preconditioner_enter_solve(kits[2].pc, true);
    if (step == 3) ritz_preconditioner_enter_solve(kits[2].pc, true);
    if (step == 3) ritz_preconditioner_enter_solve(kits[2].pc, false);
    CHECK_OK(RitzPreconditionerApply(kits[like].pc, b, z[like]));
    CHECK_OK(RitzPreconditionerApply(kits[2].pc, b, z[2]));
    CHECK_OK(RitzVectorSum(z[2], 1, z[2], -1, z[like]));
    CHECK_OK(RitzVectorDot(z[2], z[2], &difference));
    CHECK_OK(RitzVectorDot(z[like], z[like], &norm));
    CHECK(difference <= 100 * scalar_eps * scalar_eps * norm, "step %d: %g of %g", step, difference, norm);
  }
  CHECK_OK(RitzPreconditionerApply(kits[1].pc, b, z[1]));
  CHECK_OK(RitzPreconditionerApply(kits[0].pc, b, z[0]));
  CHECK_OK(RitzVectorSum(z[1], 1, z[1], -1, z[0]));
  CHECK_OK(RitzVectorDot(z[1], z[1], &difference));
  CHECK(difference > 1e-8 * norm, "full multigrid is a cycle: %g of %g", difference, norm);
  for (int i = 0; i < 3; i++) CHECK_OK(CeedVectorDestroy(&z[i]));
  CHECK_OK(CeedVectorDestroy(&b));
  for (int i = 0; i < 3; i++) CHECK_OK(kit_close(&kits[i]));
}

// Cycles after the start, by the table of the design: 5 4 3 and one.
TEST(full_multigrid_saves_cycles) {
  static const CeedInt most[3] = {6, 5, 4};
  if (!HAS_DOUBLE) NOT_HERE("1e-9 is below the rounding of floats");
  Ceed ceed = tap_ceed("/cpu/self");
  for (CeedInt degree = 1; degree <= 3; degree++) {
    MultigridCase c = box;
    c.degree = degree;
    const CeedInt cycles = count_by(ceed, &c, RITZ_SOLVER_RICHARDSON, 1e-9);
    c.options.starts_full = true;
    const CeedInt after = count_by(ceed, &c, RITZ_SOLVER_RICHARDSON, 1e-9) - 1;
    CHECK(after > 0 && after <= most[degree - 1] && after < cycles,
          "degree %d: %d cycles after the start, %d", (int)degree, (int)after, (int)cycles);
  }
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- Memory ----

static int count_applications(Ceed ceed, const MultigridCase *c, int64_t live[2]) {
  MultigridKit k;
  CeedCall(kit_open(ceed, c, &k));
  CeedVector b = kit_random(&k, 5), z = kit_vector(&k);
  CeedCall(RitzPreconditionerApply(k.pc, b, z)); // vectors get their memory
  live[0] = ritz_memory_live();
  ritz_memory_fail_at(1); // whatever is allocated fails
  const int ierr = RitzPreconditionerApply(k.pc, b, z) | RitzPreconditionerApply(k.pc, b, z);
  ritz_memory_fail_at(0);
  live[1] = ritz_memory_live();
  CeedCall(CeedVectorDestroy(&b) | CeedVectorDestroy(&z) | kit_close(&k));
  return ierr;
}

TEST(cycles_allocate_nothing) {
  static const RitzSmootherKind kinds[] = {RITZ_SMOOTHER_JACOBI,           RITZ_SMOOTHER_POINT_BLOCKS,
                                           RITZ_SMOOTHER_ELEMENT_SCHWARZ,  RITZ_SMOOTHER_OVERLAPPED_SCHWARZ,
                                           RITZ_SMOOTHER_ADDITIVE_PATCHES, RITZ_SMOOTHER_PATCHES,
                                           RITZ_SMOOTHER_PATCHES};
  enum { NUM = sizeof(kinds) / sizeof(kinds[0]) };
  Ceed ceed = tap_ceed("/cpu/self/gen");
  for (int i = 0; i < NUM; i++) {
    for (int is_float = 0; is_float <= HAS_DOUBLE; is_float++) {
      MultigridCase c = square;
      int64_t live[2] = {0, 0};
      c.amplitude = i == NUM - 1 ? 0.1 : 0; // coloured approximations
      c.options.smoother = kinds[i];
      c.options.is_reversed = i == NUM - 1;
      c.options.use_precision = is_float;
      c.options.precision = CEED_SCALAR_FP32;
      CHECK_OK(count_applications(ceed, &c, live));
      CHECK(live[0] == live[1], "case %d: %lld allocations before, %lld after", i, (long long)live[0],
            (long long)live[1]);
    }
  }
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- The choice ----

// Large enough for kernels of their own, too small to measure: the model alone, the same everywhere.
TEST(smoothers_are_chosen_by_mesh_and_told) {
  static const struct {
    const char *what;
    CeedInt dim, n, degree;
    double amplitude, aspect;
    const char *allowed[2], *note;
  } rows[] = {
      {"small box", 3, 4, 2, 0, 0, {"Jacobi 3", NULL}, "not worth their kernels"},
      {"box", 3, 16, 3, 0, 0, {"vertex patches", NULL}, NULL},
      {"square", 2, 128, 3, 0, 0, {"vertex patches", NULL}, NULL},
      {"deformed square",
       2,
       96,
       4,
       0.1,
       0,
       {"element Schwarz 2", "overlapped Schwarz 2"},
       "no rectangular box"},
      {"deformed square", 2, 64, 1, 0.1, 0, {"Jacobi 3", NULL}, "no rectangular box"},
      {"stretched square", 2, 8, 2, 0, 16, {"Jacobi 3", "vertex patches"}, "stretched by up to 16"},
  };
  Ceed ceed = tap_ceed("/cpu/self");
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    const MultigridCase c = {.dim = rows[i].dim,
                             .n = rows[i].n,
                             .degree = rows[i].degree,
                             .amplitude = rows[i].amplitude,
                             .aspect = rows[i].aspect,
                             .options = {.smoother = RITZ_SMOOTHER_MEASURED}};
    char *text = view_of(ceed, &c), wanted[2][64];
    bool is_allowed = false;
    for (int a = 0; a < 2 && rows[i].allowed[a]; a++) {
      snprintf(wanted[a], sizeof(wanted[a]), "smoother: %s: predicted ", rows[i].allowed[a]);
      is_allowed = is_allowed || strstr(text, wanted[a]);
    }
    CHECK(is_allowed, "%s: not '%s' in\n%s", rows[i].what, wanted[0], text);
    CHECK(!rows[i].note || strstr(text, rows[i].note), "%s: no '%s' in\n%s", rows[i].what, rows[i].note,
          text);
    free(text);
  }
  CHECK_OK(CeedDestroy(&ceed));
}

// |P r - Q r| / |Q r| for the preconditioners of two cases that differ in options alone.
static int difference_of(Ceed ceed, const MultigridCase *a, const MultigridCase *b, double *difference) {
  MultigridKit k[2];
  CeedVector z[2];
  CeedScalar norms[2];
  CeedCall(kit_open(ceed, a, &k[0]));
  CeedCall(kit_open(ceed, b, &k[1]));
  CeedVector r = kit_random(&k[0], 3);
  for (int i = 0; i < 2; i++) {
    z[i] = kit_vector(&k[i]);
    CeedCall(RitzPreconditionerApply(k[i].pc, r, z[i]));
  }
  CeedCall(CeedVectorNorm(z[1], CEED_NORM_MAX, &norms[1]));
  CeedCall(CeedVectorAXPY(z[0], -1, z[1]));
  CeedCall(CeedVectorNorm(z[0], CEED_NORM_MAX, &norms[0]));
  *difference = (double)(norms[0] / norms[1]);
  CeedCall(CeedVectorDestroy(&z[0]) | CeedVectorDestroy(&z[1]) | CeedVectorDestroy(&r));
  CeedCall(kit_close(&k[0]));
  return kit_close(&k[1]);
}

// Of degrees 3, 2, 1: elements where the degree is two and more, blocks of nodes below.
TEST_EACH_BACKEND(several_components_are_smoothed_on_elements) {
  MultigridCase automatic = {.dim = 2, .n = 3, .degree = 3, .kind = RITZ_HIERARCHY_P, .num_comp = 2};
  MultigridCase given = automatic;
  double difference = 1;
  given.options = (RitzMultigridOptions){
      .smoother = RITZ_SMOOTHER_ELEMENT_SCHWARZ, .schwarz_degree = 2, .chebyshev = {.degree = 5}};

  CHECK_OK(difference_of(ceed, &automatic, &given, &difference));
  // The same cycle twice: devices add up in any order.
  CHECK(difference <= 100 * CEED_EPSILON, "auto differs by %g", difference);
  automatic.options.schwarz_degree = 3; // of what AUTO chooses, too
  given.options.schwarz_degree = 3;
  CHECK_OK(difference_of(ceed, &automatic, &given, &difference));
  CHECK(difference <= 100 * CEED_EPSILON, "auto from degree 3 on differs by %g", difference);
}

// Where solves are long enough to measure, times are told; with `:deterministic` the model decides alone.
TEST(smoothers_are_measured_for_long_solves_alone) {
  const double before = ritz_smoother_min_work[0];
  static const char *const resources[2] = {"/cpu/self/gen", "/cpu/self/gen:deterministic"};
  for (int i = 0; i < 4; i += tap_level() == TAP_QUICK ? 3 : 1) {
    Ceed ceed = tap_ceed(resources[i % 2]);
    const bool is_deformed = i > 1;
    const MultigridCase c = {.dim = 2,
                             .n = 96,
                             .degree = 3,
                             .amplitude = is_deformed ? 0.1 : 0,
                             .options = {.smoother = RITZ_SMOOTHER_MEASURED}};
    ritz_smoother_min_work[0] = 0;
    char *text = view_of(ceed, &c);
    ritz_smoother_min_work[0] = before;
    const char *line = strstr(text, "smoother: ");
    const bool is_timed = line && strstr(line, " ms = "), is_counted = line && strstr(line, " applies");
    CHECK(is_timed == !(i % 2) && is_counted == i % 2, "%s:\n%s", resources[i % 2], text);
    free(text);
    const CeedInt num = kit_count(ceed, &c, HAS_DOUBLE ? 1e-9 : 1e-4);
    CHECK(num > 0 && num < 20, "%d iterations", (int)num);
    CHECK_OK(CeedDestroy(&ceed));
  }
}

static int smooth_coefficient(void *ctx, const double *x, double *value) {
  (void)ctx;
  *value = 1 + x[0] * x[0];
  return 0;
}

static int variable_operator(void *ctx, CeedInt level, RitzSpace space, CeedOperator *op) {
  const MultigridKit *k = ctx;
  RitzMesh mesh;
  RitzGeometry geometry = NULL;
  const RitzOperatorOptions options = {
      .kind = RITZ_OPERATOR_DIFFUSION, .space = space, .mu_function = smooth_coefficient};
  (void)level;
  CeedCall(RitzSpaceGetMesh(space, &mesh));
  CeedCall(RitzGeometryCreate(mesh, -1, &geometry));
  const int ierr = RitzGeometryCreateOperator(geometry, k->ceed, &options, op);
  return ierr | RitzGeometryDestroy(&geometry);
}

// On a box patches are the best by the model, but not for a coefficient that varies: found out and told.
TEST(coefficients_that_vary_lead_to_another_smoother) {
  Ceed ceed = tap_ceed("/cpu/self");
  const MultigridCase c = {.dim = 2, .n = 128, .degree = 3, .options = {.smoother = RITZ_SMOOTHER_MEASURED}};
  const RitzFixedPart all = {.part = "all"};
  MultigridKit k;
  Capture capture;
  FILE *stream = capture_begin(&capture);
  CHECK_OK(kit_create_spaces(ceed, &c, &k));
  CHECK_OK(RitzPreconditionerCreateMultigridOfHierarchy(ceed, k.hierarchy, variable_operator, NULL, &k, 1,
                                                        &all, &c.options, &k.pc));
  CHECK_OK(RitzPreconditionerViewLevels(k.pc, stream));
  fclose(stream);
  CHECK(strstr(capture.text, "no patches: the operator is not separable"), "%s", capture.text);
  CHECK(!strstr(capture.text, "  vertex patches"), "%s", capture.text);
  free(capture.text);
  CHECK_OK(kit_close(&k));
  CHECK_OK(CeedDestroy(&ceed));
}

static int hasty_operator(void *ctx, CeedInt level, RitzSpace space, CeedOperator *op) {
  CeedCall(kit_operator(ctx, level, space, op));
  return RitzOperatorSetUse(*op, RITZ_USE_NO_WAIT);
}

// Sweeps wait for their kernels: programs that wait for none get another smoother on small boxes.
TEST(programs_that_do_not_wait_get_no_patches_on_small_boxes) {
  Ceed ceed = tap_ceed("/cpu/self");
  const MultigridCase c = {.dim = 2, .n = 128, .degree = 3, .options = {.smoother = RITZ_SMOOTHER_MEASURED}};
  const RitzFixedPart all = {.part = "all"};
  MultigridKit k;
  Capture capture;
  FILE *stream = capture_begin(&capture);
  CHECK_OK(kit_create_spaces(ceed, &c, &k));
  CHECK_OK(RitzPreconditionerCreateMultigridOfHierarchy(ceed, k.hierarchy, hasty_operator, NULL, &k, 1, &all,
                                                        &c.options, &k.pc));
  CHECK_OK(RitzPreconditionerViewLevels(k.pc, stream));
  fclose(stream);
  CHECK(strstr(capture.text, "smoother: "), "%s", capture.text);
  CHECK(!strstr(capture.text, "vertex patches"), "%s", capture.text);
  free(capture.text);
  CHECK_OK(kit_close(&k));
  CHECK_OK(CeedDestroy(&ceed));
}

static void check_prepared(MultigridKit *k) {
  ColdCache cold;
  cold_begin(&cold);
  const int before = cold_num_compiled();
  CHECK_OK(RitzOperatorSetUse(k->op, RITZ_USE_NO_WAIT));
  CHECK_OK(RitzPreconditionerCreateElementSchwarz(k->op, k->space, NULL, k->fixed, &k->pc));
  CHECK_OK(ritz_preconditioner_prepare(k->pc));
  const int prepared = cold_num_compiled();
  CeedVector r = kit_random(k, 3), z = kit_vector(k);
  CHECK_OK(RitzPreconditionerApply(k->pc, r, z));
  const int applied = cold_num_compiled();
  (void)cold_end(&cold);
  CHECK(prepared > before && applied == prepared, "%d, then %d kernels", prepared - before, applied - before);
  CHECK_OK(CeedVectorDestroy(&r) | CeedVectorDestroy(&z));
}

// What a smoother is timed by is no ahead-of-time kernel, whatever the cache has: the choice is the same.
TEST(smoothers_that_are_prepared_have_their_kernels) {
  const MultigridCase c = {.dim = 2, .n = 8, .degree = 3};
  MultigridKit k;
  Ceed ceed = tap_ceed("/cpu/self/gen");
  CHECK_OK(kit_create_spaces(ceed, &c, &k));
  check_prepared(&k);
  CHECK_OK(kit_close(&k));
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- Misuse ----

static void check_refused(Ceed ceed, const MultigridCase *c, int code, const char *fragment) {
  MultigridKit k;
  CHECK_ERROR(ceed, kit_open(ceed, c, &k), code, fragment);
  CHECK(!k.pc, "something was handed out");
  CHECK_OK(kit_close(&k));
}

TEST(smoothers_that_cannot_be_are_refused_with_what_serves) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  MultigridCase c = square;
  c.options.smoother = (RitzSmootherKind)(RITZ_SMOOTHER_DENSE_SCHWARZ + 1);
  check_refused(ceed, &c, CEED_ERROR_INCOMPATIBLE, "is no smoother");
  c = square;
  c.options.patch_form = (RitzPatchForm)9;
  check_refused(ceed, &c, CEED_ERROR_INCOMPATIBLE, "9 is no form of a patch's step");
  c = square;
  c.is_neumann = true; // nodes of free sides are inside of no patch of a deformed mesh
  c.amplitude = 0.1;
  check_refused(ceed, &c, CEED_ERROR_UNSUPPORTED, "use overlapped elements");
  CHECK_OK(CeedDestroy(&ceed));
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(iterations_with_vertex_patches_are_those_of_the_table,
                        iterations_with_vertex_patches_depend_neither_on_the_mesh_nor_on_the_precision,
                        smoothers_on_deformed_boxes_keep_their_iterations,
                        colours_in_reversed_order_make_a_symmetric_cycle,
                        conjugate_gradients_refuse_a_cycle_that_is_not_symmetric,
                        full_multigrid_begins_each_solve_and_cycles_follow, full_multigrid_saves_cycles,
                        cycles_allocate_nothing, smoothers_are_chosen_by_mesh_and_told,
                        several_components_are_smoothed_on_elements,
                        smoothers_are_measured_for_long_solves_alone,
                        coefficients_that_vary_lead_to_another_smoother,
                        programs_that_do_not_wait_get_no_patches_on_small_boxes,
                        smoothers_that_are_prepared_have_their_kernels,
                        smoothers_that_cannot_be_are_refused_with_what_serves));
}
