// SPDX-License-Identifier: BSD-2-Clause
// Products of spaces in parts, threads of one process (ritz/product.h, ritz/exchange.h): vectors, exchanges
// and operators are those of one part, as are solves with preconditioners of blocks, multigrid of parts in
// them.
#include "tests/exchange-kit.h"
#include "tests/mixed-kit.h"

// What all parts do, and where results go.
typedef struct {
  Case c;
  const MixedForm *form;
  CeedInt degree[2];
  bool solves; // else applies
  RitzBlocksKind kind;
  RitzSolverType method;
  PlacedNodes all[2]; // of the whole spaces
  CeedScalar *y[2];   // results at owned nodes
  CeedInt iterations[8];
} Setting;

static const CeedInt comps[2] = {2, 1};
static const RitzFixedPart whole_boundary = {.part = "all"};

// ---- A part, or the whole ----

typedef struct {
  MixedKit k;
  Setting *s;
  const RitzTransport *transport; // NULL: the whole
  PlacedNodes placed[2];
  int64_t num_owned[2];
  RitzExchange exchange;
} Fields;

static int open_fields(Setting *s, Ceed ceed, RitzMesh mesh, const RitzTransport *t, Fields *f) {
  *f = (Fields){.s = s, .transport = t};
  RITZ_TRY(mixed_create(ceed, mesh, s->degree[0], s->degree[1], &f->k));
  for (int i = 0; i < 2; i++) {
    RitzHalo halo = NULL;

    RITZ_TRY(place_all(f->k.space[i], &f->placed[i]));
    RITZ_TRY(RitzSpaceGetHalo(f->k.space[i], &halo));
    RITZ_TRY(RitzHaloGetSizes(halo, &f->num_owned[i], NULL));
  }
  return t ? RitzExchangeCreateOfProduct(f->k.product, ceed, t, CEED_SCALAR_TYPE, &f->exchange)
           : CEED_ERROR_SUCCESS;
}

static void close_fields(Fields *f) {
  RitzExchangeDestroy(&f->exchange);
  for (int i = 0; i < 2; i++) free(f->placed[i].nodes);
  mixed_destroy(&f->k);
}

// A vector of the product, of the function of each field at owned nodes.
static int make_fields(const Fields *f, CeedScalar at_ghosts, CeedVector *whole) {
  RITZ_TRY(CeedVectorCreate(f->k.ceed, mixed_size(&f->k, -1), whole));
  RITZ_TRY(CeedVectorSetValue(*whole, 0));
  for (CeedInt i = 0; i < 2; i++) {
    CeedVector part = NULL;
    CeedScalar *x = NULL;

    RITZ_TRY(CeedVectorCreate(f->k.ceed, mixed_size(&f->k, i), &part));
    RITZ_TRY(CeedVectorGetArrayWrite(part, CEED_MEM_HOST, &x));
    for (int64_t n = 0; n < f->placed[i].num; n++) {
      for (CeedInt c = 0; c < comps[i]; c++)
        x[n * comps[i] + c] =
            n < f->num_owned[i] ? (CeedScalar)function_at(f->placed[i].nodes[n].x, c + 3 * i) : at_ghosts;
    }
    RITZ_TRY(CeedVectorRestoreArray(part, &x));
    RITZ_TRY(RitzProductSpaceSetPart(f->k.product, i, part, *whole));
    RITZ_TRY(CeedVectorDestroy(&part));
  }
  return CEED_ERROR_SUCCESS;
}

static int hand_in_fields(const Fields *f, CeedVector whole) {
  for (CeedInt i = 0; i < 2; i++) {
    const CeedScalar *x = NULL;
    CeedVector part = NULL;

    RITZ_TRY(CeedVectorCreate(f->k.ceed, mixed_size(&f->k, i), &part));
    RITZ_TRY(RitzProductSpaceGetPart(f->k.product, i, whole, part));
    RITZ_TRY(CeedVectorGetArrayRead(part, CEED_MEM_HOST, &x));
    for (int64_t n = 0; n < f->num_owned[i]; n++) {
      const int64_t node = find_placed(&f->s->all[i], &f->placed[i].nodes[n]);

      for (CeedInt c = 0; node >= 0 && c < comps[i]; c++)
        f->s->y[i][node * comps[i] + c] = x[n * comps[i] + c];
    }
    RITZ_TRY(CeedVectorRestoreArrayRead(part, &x));
    RITZ_TRY(CeedVectorDestroy(&part));
  }
  return CEED_ERROR_SUCCESS;
}

static int make_product_operator(Fields *f, RitzPartOperator *op) {
  CeedOperator inside = NULL, seam = NULL;

  f->k.elements = RITZ_ELEMENTS_INSIDE;
  int ierr = mixed_operator(&f->k, f->s->form, &inside);

  f->k.elements = RITZ_ELEMENTS_SEAM;
  if (!ierr) ierr = mixed_operator(&f->k, f->s->form, &seam);
  if (!ierr) ierr = RitzPartOperatorCreate(f->exchange, inside, seam, op);
  ierr = ritz_first_error(ierr, CeedOperatorDestroy(&inside));
  return ritz_first_error(ierr, CeedOperatorDestroy(&seam));
}

// ---- Exchanges ----

static int require_values(const Fields *f, CeedVector x, CeedScalar factor) {
  CeedVector wanted = NULL;
  CeedScalar norm = 0;

  for (int i = 0; i < 2; i++) ((Fields *)f)->num_owned[i] += f->placed[i].num; // ghosts, too
  RITZ_TRY(make_fields(f, 0, &wanted));
  for (int i = 0; i < 2; i++) ((Fields *)f)->num_owned[i] -= f->placed[i].num;
  RITZ_TRY(CeedVectorAXPY(wanted, -factor, x));
  RITZ_TRY(CeedVectorNorm(wanted, CEED_NORM_MAX, &norm));
  RITZ_TRY(CeedVectorDestroy(&wanted));
  // positions of a node in two parts differ by rounding
  return norm <= 100 * CEED_EPSILON ? CEED_ERROR_SUCCESS
                                    : fail(&f->s->c, f->transport->part, "ghosts", 0, norm, 0);
}

// Ghosts of both fields get the values of their owners; the halo says where they are.
static int check_exchange(const Fields *f) {
  RitzHalo halo = NULL;
  int64_t num_owned = 0, num_ghosts = 0;
  CeedSize first = 0, length = 0;
  CeedVector x = NULL;

  RITZ_TRY(RitzProductSpaceGetHalo(f->k.product, &halo));
  RITZ_TRY(RitzHaloGetSizes(halo, &num_owned, &num_ghosts));
  RITZ_TRY(RitzProductSpaceGetRange(f->k.product, 1, &first, &length));
  if (first != f->num_owned[0] * 2 || length != f->num_owned[1] || num_owned != first + length ||
      num_owned + num_ghosts != mixed_size(&f->k, -1))
    return fail(&f->s->c, f->transport->part, "range", 1, (double)first, (double)num_owned);
  RITZ_TRY(make_fields(f, (CeedScalar)7, &x));
  RITZ_TRY(RitzExchangeRun(f->exchange, RITZ_EXCHANGE_TO_GHOSTS, x));
  const int ierr = require_values(f, x, 1);

  return ritz_first_error(ierr, CeedVectorDestroy(&x));
}

static int apply_in_part(Fields *f) {
  RitzPartOperator op = NULL;
  CeedVector x = NULL, y = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(check_exchange(f));
  RITZ_TRY_CLEANUP(make_fields(f, (CeedScalar)7, &x));
  RITZ_TRY_CLEANUP(CeedVectorCreate(f->k.ceed, mixed_size(&f->k, -1), &y));
  RITZ_TRY_CLEANUP(make_product_operator(f, &op));
  RITZ_TRY_CLEANUP(RitzPartOperatorApply(op, x, y));
  ierr = hand_in_fields(f, y);
cleanup:
  RitzPartOperatorDestroy(&op);
  CeedVectorDestroy(&x);
  CeedVectorDestroy(&y);
  return ierr;
}

// ---- Solvers ----

static int make_standard(const Fields *f, RitzSpace space, RitzElementChoice elements, CeedOperator *op) {
  const bool is_definite = f->s->form == &mixed_definite;
  CeedInt num_comp = 0;
  RitzGeometry geometry = NULL;
  RitzMesh mesh = NULL;

  RITZ_TRY(RitzSpaceGetNumComponents(space, &num_comp));
  const RitzOperatorOptions options = {.kind = is_definite     ? RITZ_OPERATOR_HELMHOLTZ
                                               : num_comp == 2 ? RITZ_OPERATOR_DIFFUSION
                                                               : RITZ_OPERATOR_MASS,
                                       .space = space,
                                       .elements = elements};

  RITZ_TRY(RitzSpaceGetMesh(space, &mesh));
  RITZ_TRY(RitzGeometryCreate(mesh, -1, &geometry));
  const int ierr = RitzGeometryCreateOperator(geometry, f->k.ceed, &options, op);

  return ritz_first_error(ierr, RitzGeometryDestroy(&geometry));
}

static int make_part_level(void *ctx, CeedInt level, RitzSpace space, CeedOperator *inside,
                           CeedOperator *seam) {
  (void)level;
  RITZ_TRY(make_standard(ctx, space, RITZ_ELEMENTS_INSIDE, inside));
  return make_standard(ctx, space, RITZ_ELEMENTS_SEAM, seam);
}

static int make_level(void *ctx, CeedInt level, RitzSpace space, CeedOperator *op) {
  (void)level;
  return make_standard(ctx, space, RITZ_ELEMENTS_ALL, op);
}

static int make_multigrid(Fields *f, RitzPreconditioner *pc) {
  const RitzPartMultigridOptions of_parts = {.smoother = RITZ_SMOOTHER_JACOBI};
  const RitzMultigridOptions of_whole = {.smoother = RITZ_SMOOTHER_JACOBI};
  RitzHierarchy hierarchy = NULL;
  Ceed ceed = f->k.ceed;

  RITZ_TRY(RitzHierarchyCreate(f->k.space[0], NULL, &hierarchy));
  const int ierr = f->transport
                       ? RitzPreconditionerCreatePartMultigrid(ceed, hierarchy, f->transport, make_part_level,
                                                               f, 1, &whole_boundary, &of_parts, pc)
                       : RitzPreconditionerCreateMultigridOfHierarchy(ceed, hierarchy, make_level, NULL, f, 1,
                                                                      &whole_boundary, &of_whole, pc);

  return ritz_first_error(ierr, RitzHierarchyDestroy(&hierarchy));
}

static int find_part_diagonal(Fields *f, CeedVector diagonal) {
  RitzExchange exchange = NULL;
  RitzPartOperator op = NULL;
  CeedOperator all = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(RitzExchangeCreate(f->k.space[1], f->k.ceed, f->transport, &exchange));
  RITZ_TRY_CLEANUP(make_standard(f, f->k.space[1], RITZ_ELEMENTS_ALL, &all));
  RITZ_TRY_CLEANUP(RitzPartOperatorCreate(exchange, NULL, all, &op));
  ierr = RitzPartOperatorGetDiagonal(op, diagonal);
cleanup:
  RitzPartOperatorDestroy(&op);
  CeedOperatorDestroy(&all);
  RitzExchangeDestroy(&exchange);
  return ierr;
}

static int make_jacobi(Fields *f, RitzPreconditioner *pc) {
  CeedVector diagonal = NULL;
  CeedOperator op = NULL;
  int ierr = CeedVectorCreate(f->k.ceed, mixed_size(&f->k, 1), &diagonal);

  if (!ierr && f->transport) ierr = find_part_diagonal(f, diagonal);
  if (!ierr && !f->transport) ierr = make_standard(f, f->k.space[1], RITZ_ELEMENTS_ALL, &op);
  if (!ierr && op) ierr = CeedOperatorLinearAssembleDiagonal(op, diagonal, CEED_REQUEST_IMMEDIATE);
  if (!ierr) ierr = RitzPreconditionerCreateJacobi(f->k.ceed, diagonal, NULL, pc);
  ierr = ritz_first_error(ierr, CeedOperatorDestroy(&op));
  return ritz_first_error(ierr, CeedVectorDestroy(&diagonal));
}

// op: of the whole, or of all parts.
static int make_blocks(Fields *f, CeedOperator op, RitzPartOperator part_op, RitzPreconditioner *pc) {
  RitzBlock blocks[2] = {{.factor = 1}, {.factor = 0.4}};
  const RitzBlocksOptions options = {.kind = f->s->kind, .op = op};
  int ierr = make_multigrid(f, &blocks[0].inverse);

  if (!ierr) ierr = make_jacobi(f, &blocks[1].inverse);
  if (!ierr)
    ierr = f->transport
               ? RitzPreconditionerCreatePartBlocks(f->k.ceed, f->k.product, blocks, f->s->kind, part_op, pc)
               : RitzPreconditionerCreateBlocks(f->k.ceed, 2, blocks, &options, pc);
  if (!ierr) ierr = RitzPreconditionerUpdate(*pc); // the same values
  for (int i = 0; i < 2; i++) ierr = ritz_first_error(ierr, RitzPreconditionerDestroy(&blocks[i].inverse));
  return ierr;
}

// Pressures of Stokes flow are unique up to a constant.
static int set_nullspace(const Fields *f, RitzSolver solver) {
  CeedVector constant = NULL, part = NULL;
  int ierr;

  if (f->s->form == &mixed_definite) return CEED_ERROR_SUCCESS;
  RITZ_TRY_CLEANUP(CeedVectorCreate(f->k.ceed, mixed_size(&f->k, -1), &constant));
  RITZ_TRY_CLEANUP(CeedVectorCreate(f->k.ceed, mixed_size(&f->k, 1), &part));
  RITZ_TRY_CLEANUP(CeedVectorSetValue(constant, 0));
  RITZ_TRY_CLEANUP(CeedVectorSetValue(part, 1));
  RITZ_TRY_CLEANUP(RitzProductSpaceSetPart(f->k.product, 1, part, constant));
  ierr = RitzSolverSetNullspace(solver, 1, &constant);
cleanup:
  CeedVectorDestroy(&constant);
  CeedVectorDestroy(&part);
  return ierr;
}

static int run_solver(Fields *f, RitzSolver solver, RitzPreconditioner pc, CeedVector b, CeedVector x,
                      CeedInt *iterations) {
  RitzSolverReason reason = RITZ_ITERATING;

  RITZ_TRY(RitzSolverSetTolerances(solver, solver_rtol(), 0, 500));
  RITZ_TRY(RitzSolverSetRestart(solver, 100));
  RITZ_TRY(RitzSolverSetPreconditioner(solver, pc));
  RITZ_TRY(set_nullspace(f, solver));
  RITZ_TRY(CeedVectorSetValue(x, 0));
  RITZ_TRY(RitzSolverSolve(solver, b, x));
  RITZ_TRY(RitzSolverGetReason(solver, &reason));
  RITZ_TRY(RitzSolverGetIterations(solver, iterations));
  return reason > 0 ? CEED_ERROR_SUCCESS
                    : CeedError(f->k.ceed, CEED_ERROR_MAJOR, "%s", RitzSolverReasonName(reason));
}

static int solve_in_part(Fields *f) {
  RitzPartOperator op = NULL;
  RitzPreconditioner pc = NULL;
  RitzSolver solver = NULL;
  CeedVector b = NULL, x = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(make_fields(f, (CeedScalar)7, &b));
  RITZ_TRY_CLEANUP(CeedVectorCreate(f->k.ceed, mixed_size(&f->k, -1), &x));
  RITZ_TRY_CLEANUP(make_product_operator(f, &op));
  RITZ_TRY_CLEANUP(make_blocks(f, NULL, op, &pc));
  RITZ_TRY_CLEANUP(RitzSolverCreate(f->k.ceed, f->s->method, &solver));
  RITZ_TRY_CLEANUP(RitzSolverSetPartOperator(solver, op, f->k.constraints));
  RITZ_TRY_CLEANUP(run_solver(f, solver, pc, b, x, &f->s->iterations[f->transport->part]));
  ierr = hand_in_fields(f, x);
cleanup:
  RitzSolverDestroy(&solver);
  RitzPreconditionerDestroy(&pc);
  RitzPartOperatorDestroy(&op);
  CeedVectorDestroy(&b);
  CeedVectorDestroy(&x);
  return ierr;
}

static int run_part(void *ctx, const RitzTransport *t) {
  Setting *s = ctx;
  Part p = {0};
  Fields f = {0};
  int code = open_context(&s->c, t->part, &p.ceed);

  if (!code) code = open_mesh(&s->c, p.ceed, t->part, &p.mesh);
  if (!code) code = open_fields(s, p.ceed, p.mesh, t, &f);
  if (!code) code = s->solves ? solve_in_part(&f) : apply_in_part(&f);
  close_fields(&f);
  close_part(&s->c, t->part, code, &p);
  return code;
}

// ---- One part ----

static int compute_whole(Fields *f, CeedVector y, CeedInt *iterations) {
  CeedOperator op = NULL;
  RitzPreconditioner pc = NULL;
  RitzSolver solver = NULL;
  CeedVector x = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(make_fields(f, 0, &x));
  RITZ_TRY_CLEANUP(mixed_operator(&f->k, f->s->form, &op));
  if (!f->s->solves) {
    ierr = CeedOperatorApply(op, x, y, CEED_REQUEST_IMMEDIATE);
    goto cleanup;
  }
  RITZ_TRY_CLEANUP(make_blocks(f, op, NULL, &pc));
  RITZ_TRY_CLEANUP(RitzSolverCreate(f->k.ceed, f->s->method, &solver));
  RITZ_TRY_CLEANUP(RitzSolverSetOperator(solver, op));
  RITZ_TRY_CLEANUP(RitzSolverSetConstraintIndices(solver, f->k.constraints));
  ierr = run_solver(f, solver, pc, x, y, iterations);
cleanup:
  RitzSolverDestroy(&solver);
  RitzPreconditionerDestroy(&pc);
  CeedOperatorDestroy(&op);
  CeedVectorDestroy(&x);
  return ierr;
}

static int open_mesh_of_whole(const Setting *s, Ceed ceed, RitzMesh *mesh) {
  RitzMesh coarse = NULL;

  RITZ_TRY(make_mesh(ceed, s->c.which, &coarse));
  const int ierr = RitzMeshRefine(coarse, s->c.levels, mesh);

  return ritz_first_error(ierr, RitzMeshDestroy(&coarse));
}

static void prepare_results(Setting *s, const Fields *f) {
  for (int i = 0; i < 2; i++) {
    const size_t num = (size_t)(f->placed[i].num * comps[i]);

    s->all[i] = (PlacedNodes){.num = f->placed[i].num, .nodes = malloc(num * sizeof(PlacedNode))};
    memcpy(s->all[i].nodes, f->placed[i].nodes, (size_t)f->placed[i].num * sizeof(PlacedNode));
    sort_placed(&s->all[i]);
    s->y[i] = malloc(num * sizeof(CeedScalar));
  }
}

// Both fields, beside the largest entry of either.
static void compare_fields(const Setting *s, const Fields *f, CeedVector y, double tolerance) {
  for (CeedInt i = 0; i < 2; i++) {
    const CeedScalar *x = NULL;
    CeedVector part = NULL;
    double largest = 0, error = 0;

    CHECK_OK(CeedVectorCreate(f->k.ceed, mixed_size(&f->k, i), &part));
    CHECK_OK(RitzProductSpaceGetPart(f->k.product, i, y, part));
    CHECK_OK(CeedVectorGetArrayRead(part, CEED_MEM_HOST, &x));
    for (int64_t n = 0; n < f->placed[i].num * comps[i]; n++) {
      largest = tap_larger(largest, fabs((double)x[n]));
      error = tap_larger(error, fabs((double)(s->y[i][n] - x[n])));
    }
    CHECK_OK(CeedVectorRestoreArrayRead(part, &x));
    CHECK_OK(CeedVectorDestroy(&part));
    CHECK(error <= tolerance * largest, "field %d, %s in %d parts: error %g of %g", (int)i,
          mesh_names[s->c.which], (int)s->c.num_parts, error, largest);
  }
}

static void check_parts(Ceed ceed, Setting *s, const CeedInt nums[], int num_runs, double tolerance) {
  Fields f = {0};
  RitzMesh mesh = NULL;
  CeedVector y = NULL;
  CeedInt iterations = 0;

  name_resource(ceed, &s->c);
  CHECK_OK(open_mesh_of_whole(s, ceed, &mesh));
  CHECK_OK(open_fields(s, ceed, mesh, NULL, &f));
  prepare_results(s, &f);
  CHECK_OK(CeedVectorCreate(ceed, mixed_size(&f.k, -1), &y));
  CHECK_OK(compute_whole(&f, y, &iterations));
  for (int k = 0; k < num_runs && !tap_failed(); k++) {
    s->c.num_parts = nums[k];
    for (int i = 0; i < 2; i++) {
      for (int64_t n = 0; n < f.placed[i].num * comps[i]; n++) s->y[i][n] = (CeedScalar)NAN;
    }
    run_case(ceed, &s->c, run_part, "product");
    for (CeedInt p = 0; p < nums[k] && s->solves && !tap_failed(); p++)
      CHECK(s->iterations[p] == s->iterations[0] &&
                abs((int)(s->iterations[p] - iterations)) <= iterations / 10 + 1,
            "%d iterations in part %d of %d, %d in one", (int)s->iterations[p], (int)p, (int)nums[k],
            (int)iterations);
    if (!tap_failed()) compare_fields(s, &f, y, tolerance);
  }
  CeedVectorDestroy(&y);
  for (int i = 0; i < 2; i++) {
    free(s->all[i].nodes);
    free(s->y[i]);
  }
  close_fields(&f);
  RitzMeshDestroy(&mesh);
}

// ---- Tests ----

// Sums over the elements of a node are made in another order. Elements without ghosts of one space may have
// some of the other one, of a higher degree.
TEST_EACH_BACKEND(operators_on_products_in_parts_are_those_of_one_part) {
  static const CeedInt nums[] = {3, 8, 1};

  for (int which = 1; which <= 3; which += 2) {
    for (int how = CUT_AUTO; how <= CUT_RANDOM && !tap_failed(); how += CUT_RANDOM - CUT_AUTO) {
      Setting s = {.c = {.which = which, .how = how, .levels = 1}, .form = &mixed_definite, .degree = {2, 1}};

      check_parts(ceed, &s, nums, is_slow(ceed) ? 1 : 3, 1e3 * CEED_EPSILON);
      if (is_slow(ceed)) continue;
      s.degree[0] = 1, s.degree[1] = 3;
      if (!tap_failed()) check_parts(ceed, &s, nums, 2, 1e3 * CEED_EPSILON);
    }
  }
}

// Solves stop at rtol of the residual, times the condition of the matrix, some thousands.
TEST_EACH_BACKEND(stokes_flow_in_parts_takes_the_iterations_of_one_part) {
  static const CeedInt nums[] = {3, 1, 2, 4, 8};

  for (int which = 1; which <= (is_slow(ceed) ? 1 : 3) && !tap_failed(); which += 2) {
    Setting s = {.c = {.which = which, .levels = 1},
                 .form = &mixed_stokes,
                 .degree = {2, 1},
                 .solves = true,
                 .kind = RITZ_BLOCKS_DIAGONAL,
                 .method = RITZ_SOLVER_MINRES};

    check_parts(ceed, &s, nums, is_slow(ceed) ? 1 : which == 1 ? 5 : 2, 1e4 * solver_rtol());
  }
}

TEST_EACH_BACKEND(all_kinds_of_blocks_serve_parts_as_they_serve_one) {
  static const RitzBlocksKind kinds[] = {RITZ_BLOCKS_LOWER, RITZ_BLOCKS_UPPER, RITZ_BLOCKS_SYMMETRIC};
  static const CeedInt nums[] = {5};

  for (int k = 0; k < 3 && !tap_failed(); k += is_slow(ceed) ? 2 : 1) {
    Setting s = {.c = {.which = 1, .levels = 1},
                 .form = &mixed_definite,
                 .degree = {is_slow(ceed) ? 2 : 3, 1},
                 .solves = true,
                 .kind = kinds[k],
                 .method = kinds[k] == RITZ_BLOCKS_SYMMETRIC ? RITZ_SOLVER_CG : RITZ_SOLVER_FGMRES};

    check_parts(ceed, &s, nums, 1, 1e3 * solver_rtol());
  }
}

// ---- What is refused ----

static int require_code(Setting *s, CeedInt line, int found, int wanted) {
  return found == wanted ? CEED_ERROR_SUCCESS : fail(&s->c, 0, "refusal", line, found, wanted);
}

static int refuse_in_part(Fields *f) {
  Setting *s = f->s;
  Ceed ceed = f->k.ceed;
  RitzProductSpace product = f->k.product;
  RitzPreconditioner pc = NULL;
  RitzBlock blocks[2] = {{.factor = 1}, {.factor = 1}}, turned[2];
  RitzExchange exchange = NULL;
  RitzPartOperator op = NULL;
  CeedOperator none = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(make_multigrid(f, &blocks[0].inverse));
  RITZ_TRY_CLEANUP(make_jacobi(f, &blocks[1].inverse));
  RITZ_TRY_CLEANUP(RitzExchangeCreate(f->k.space[0], ceed, f->transport, &exchange));
  RITZ_TRY_CLEANUP(RitzPartOperatorCreate(exchange, NULL, NULL, &op));
  turned[0] = blocks[1], turned[1] = blocks[0];
#define REFUSED(code, ...) RITZ_TRY_CLEANUP(require_code(s, __LINE__, __VA_ARGS__, code))
  REFUSED(CEED_ERROR_INCOMPLETE,
          RitzPreconditionerCreatePartBlocks(ceed, product, blocks, RITZ_BLOCKS_LOWER, NULL, &pc));
  REFUSED(CEED_ERROR_DIMENSION,
          RitzPreconditionerCreatePartBlocks(ceed, product, blocks, RITZ_BLOCKS_LOWER, op, &pc));
  REFUSED(CEED_ERROR_DIMENSION,
          RitzPreconditionerCreatePartBlocks(ceed, product, turned, RITZ_BLOCKS_DIAGONAL, NULL, &pc));
  REFUSED(CEED_ERROR_INCOMPATIBLE,
          RitzPreconditionerCreatePartBlocks(ceed, product, blocks, (RitzBlocksKind)9, NULL, &pc));
  turned[0] = blocks[0], turned[0].factor = NAN, turned[1] = blocks[1];
  REFUSED(CEED_ERROR_INCOMPATIBLE,
          RitzPreconditionerCreatePartBlocks(ceed, product, turned, RITZ_BLOCKS_DIAGONAL, NULL, &pc));
  REFUSED(CEED_ERROR_UNSUPPORTED,
          RitzProductSpaceCreateTransfer(product, product, ceed, CEED_SCALAR_TYPE, &none, NULL));
cleanup:
  RitzPartOperatorDestroy(&op);
  RitzExchangeDestroy(&exchange);
  for (int i = 0; i < 2; i++) RitzPreconditionerDestroy(&blocks[i].inverse);
  return ierr;
}

static int run_refusals(void *ctx, const RitzTransport *t) {
  Setting *s = ctx;
  Part p = {0};
  Fields f = {0};
  int code = open_context(&s->c, t->part, &p.ceed);

  if (!code) code = open_mesh(&s->c, p.ceed, t->part, &p.mesh);
  if (!code) code = open_fields(s, p.ceed, p.mesh, t, &f);
  if (!code) code = refuse_in_part(&f);
  close_fields(&f);
  close_part(&s->c, t->part, code, &p);
  return code;
}

TEST(blocks_of_parts_refuse_what_does_not_fit) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Setting s = {.c = {.which = 1, .num_parts = 2}, .form = &mixed_definite, .degree = {2, 1}};

  name_resource(ceed, &s.c);
  run_case(ceed, &s.c, run_refusals, "refusals");
  CeedDestroy(&ceed);
}

// Parts whose products differ would wait for ever.
static int run_different(void *ctx, const RitzTransport *t) {
  Setting *s = ctx, own = *s;
  Part p = {0};
  Fields f = {0};

  own.degree[1] += t->part;
  int code = open_context(&s->c, t->part, &p.ceed);

  if (!code) code = open_mesh(&s->c, p.ceed, t->part, &p.mesh);
  if (!code) code = open_fields(&own, p.ceed, p.mesh, t, &f);
  close_fields(&f);
  close_part(&s->c, t->part, code, &p);
  return code;
}

TEST(products_that_differ_between_parts_are_an_error_of_all) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Setting s = {.c = {.which = 1, .num_parts = 2}, .degree = {2, 1}};

  name_resource(ceed, &s.c);
  CHECK_ERROR(ceed, RitzRunParts(ceed, 2, run_different, &s), CEED_ERROR_INCOMPATIBLE, "has ended");
  for (int p = 0; p < 2; p++) CHECK(strstr(s.c.why[p], "do not expect"), "part %d: %s", p, s.c.why[p]);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(operators_on_products_in_parts_are_those_of_one_part,
                        stokes_flow_in_parts_takes_the_iterations_of_one_part,
                        all_kinds_of_blocks_serve_parts_as_they_serve_one,
                        blocks_of_parts_refuse_what_does_not_fit,
                        products_that_differ_between_parts_are_an_error_of_all));
}
