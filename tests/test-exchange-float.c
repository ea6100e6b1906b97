// SPDX-License-Identifier: BSD-2-Clause
// Tests of parts that exchange vectors of float, as threads of one process: exchanges beside those of
// CeedScalars, products and diagonals beside those of one part, what is refused (ritz/exchange.h).
#include <ritz/precision.h>

#include "tests/exchange-kit.h"

// ---- Exchanges ----

// Entries of 64 different values, so that sums of those of eight parts are exact in float, too.
static int make_quarters(const Case *c, const Part *p, CeedVector *v) {
  CeedScalar *x = NULL;

  RITZ_TRY(CeedVectorCreate(p->ceed, p->num_nodes * c->num_comp, v));
  RITZ_TRY(CeedVectorGetArrayWrite(*v, CEED_MEM_HOST, &x));
  for (int64_t i = 0; i < p->num_nodes * c->num_comp; i++)
    x[i] = (CeedScalar)0.25 * (CeedScalar)((p->num_nodes + 5 * i) % 64 - 20);
  return CeedVectorRestoreArray(*v, &x);
}

static int require_equal(Case *c, CeedInt part, CeedVector floats, CeedVector wanted) {
  const CeedScalar *y = NULL;
  const float *x = NULL;
  CeedSize n = 0;
  int code = CEED_ERROR_SUCCESS;

  RITZ_TRY(CeedVectorGetLength(wanted, &n));
  RITZ_TRY(CeedVectorGetArrayRead(wanted, CEED_MEM_HOST, &y));
  RITZ_TRY(RitzVectorGetArrayReadF32(floats, CEED_MEM_HOST, &x));
  for (CeedSize i = 0; i < n && !code; i++) {
    if ((double)x[i] != (double)y[i]) code = fail(c, part, "in float", i, (double)x[i], (double)y[i]);
  }
  RITZ_TRY(RitzVectorRestoreArrayReadF32(floats, &x));
  return ritz_first_error(code, CeedVectorRestoreArrayRead(wanted, &y));
}

// Of entries that float has the results are those of CeedScalars, each mode in one call and in two.
static int exchange_floats(Case *c, CeedInt part, const Part *p, RitzExchange exchange) {
  CeedVector v = NULL, floats = NULL;

  RITZ_TRY(make_quarters(c, p, &v));
  int code = RitzVectorCreate(p->ceed, p->num_nodes * c->num_comp, CEED_SCALAR_FP32, &floats);

  for (int i = 0; i < 4 && !code; i++) {
    const RitzExchangeMode mode = i % 2 ? RITZ_EXCHANGE_TO_OWNERS : RITZ_EXCHANGE_TO_GHOSTS;

    if (i % 2 == 0) code = RitzVectorConvert(v, floats);
    if (!code) code = RitzExchangeRun(p->exchange, mode, v);
    if (!code)
      code = i < 2 ? RitzExchangeRun(exchange, mode, floats) : RitzExchangeBegin(exchange, mode, floats);
    if (!code && i >= 2) code = RitzExchangeEnd(exchange, mode, floats);
    if (!code) code = require_equal(c, part, floats, v);
  }
  code = ritz_first_error(code, CeedVectorDestroy(&v));
  return ritz_first_error(code, CeedVectorDestroy(&floats));
}

static int run_floats(void *ctx, const RitzTransport *t) {
  Case *c = ctx;
  Counted counted = {.c = c, .other = t};
  const RitzTransport counting = count_messages(&counted, t);
  RitzExchange exchange = NULL;
  Part p;
  int code = open_part(c, c->by_nccl ? t : &counting, &p);

  if (!code)
    code = RitzExchangeCreateInPrecision(p.space, p.ceed, c->by_nccl ? &p.transport : &counting,
                                         CEED_SCALAR_FP32, &exchange);
  if (!code) code = exchange_floats(c, t->part, &p, exchange);
  RitzExchangeDestroy(&exchange);
  close_part(c, t->part, code, &p);
  return code;
}

TEST_EACH_BACKEND(vectors_of_float_are_exchanged_in_half_the_bytes) {
  static const CeedInt nums[] = {1, 2, 3, 8};
  Case c = {.levels = 0, .degree = 3, .num_comp = 2};

  if (is_for_one_thread(ceed)) return;
  name_resource(ceed, &c);
  for (c.which = 0; c.which < NUM_MESHES; c.which++) {
    if (is_left_out(ceed, c.which)) continue;
    for (int n = 0; n < 4 && !tap_failed(); n++) {
      c.how = (c.which + n) % NUM_CUTS;
      c.num_parts = nums[n];
      c.num_bytes = 0;
      run_case(ceed, &c, run_floats, mesh_names[c.which]);
      if (tap_failed()) return;
      // twice both ways, of CeedScalars and of floats
      const int64_t entry = (int64_t)sizeof(CeedScalar) + (int64_t)sizeof(float);
      const int64_t wanted = 4 * count_ghosts(ceed, &c) * c.num_comp * entry;
      CHECK(c.num_bytes == wanted, "%s in %d parts: %lld bytes, wanted %lld", mesh_names[c.which],
            (int)c.num_parts, (long long)c.num_bytes, (long long)wanted);
    }
  }
}

// ---- Products ----

// The part's operator for vectors of float: copies of both pieces below an exchange of its own.
static int make_float_operator(const Case *c, const RitzTransport *t, const Part *p, RitzPartOperator *op) {
  const RitzElementChoice choices[2] = {c->overlaps ? RITZ_ELEMENTS_INSIDE : RITZ_ELEMENTS_ALL,
                                        RITZ_ELEMENTS_SEAM};
  RitzExchange exchange = NULL;
  CeedOperator pieces[2] = {NULL, NULL};
  int ierr = RitzExchangeCreateInPrecision(p->space, p->ceed, t, CEED_SCALAR_FP32, &exchange);

  for (int i = 0; i < (c->overlaps ? 2 : 1) && !ierr; i++) {
    CeedOperator given = NULL;

    ierr = make_operator(p->ceed, p->mesh, p->space, choices[i], &given);
    if (!ierr && given) ierr = RitzOperatorCopyInPrecision(given, CEED_SCALAR_FP32, &pieces[i]);
    ierr = ritz_first_error(ierr, CeedOperatorDestroy(&given));
  }
  // without seam all elements are in the second place
  if (!ierr)
    ierr = RitzPartOperatorCreate(exchange, c->overlaps ? pieces[0] : NULL,
                                  c->overlaps ? pieces[1] : pieces[0], op);
  for (int i = 0; i < 2; i++) ierr = ritz_first_error(ierr, CeedOperatorDestroy(&pieces[i]));
  return ritz_first_error(ierr, RitzExchangeDestroy(&exchange));
}

// Products, or the diagonal, handed in as CeedScalars.
static int apply_floats(Case *c, const RitzTransport *t, const Part *p, bool is_diagonal) {
  CeedVector x = NULL, floats[2] = {NULL, NULL};
  RitzPartOperator op = NULL;

  RITZ_TRY(make_float_operator(c, t, p, &op));
  int ierr = make_vector(c, p, (CeedScalar)-77, &x);

  for (int i = 0; i < 2 && !ierr; i++)
    ierr = RitzVectorCreate(p->ceed, p->num_nodes * c->num_comp, CEED_SCALAR_FP32, &floats[i]);
  if (!ierr) ierr = RitzVectorConvert(x, floats[0]);
  if (!ierr)
    ierr = is_diagonal ? RitzPartOperatorGetDiagonal(op, floats[1])
                       : RitzPartOperatorApply(op, floats[0], floats[1]);
  if (!ierr) ierr = RitzVectorConvert(floats[1], x);
  if (!ierr) ierr = hand_in(c, p, x);
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&x));
  for (int i = 0; i < 2; i++) ierr = ritz_first_error(ierr, CeedVectorDestroy(&floats[i]));
  return ritz_first_error(ierr, RitzPartOperatorDestroy(&op));
}

static int run_apply_floats(void *ctx, const RitzTransport *t) {
  Case *c = ctx;
  Part p;
  int code = open_part(c, t, &p);

  if (!code) code = apply_floats(c, t, &p, false);
  close_part(c, t->part, code, &p);
  return code;
}

static int run_diagonal_floats(void *ctx, const RitzTransport *t) {
  Case *c = ctx;
  Part p;
  int code = open_part(c, t, &p);

  if (!code) code = apply_floats(c, t, &p, true);
  close_part(c, t->part, code, &p);
  return code;
}

// Sums over some hundred points and a few elements, and entries of tables, are rounded to float: 200 eps of
// the largest entry.
TEST_EACH_BACKEND(products_in_float_are_those_of_one_part_to_its_rounding) {
  static const CeedInt nums[] = {1, 2, 8};
  Case c = {.degree = 2, .num_comp = 1};
  Whole w;

  if (is_for_one_thread(ceed)) return;
  name_resource(ceed, &c);
  for (c.which = 0; c.which < NUM_MESHES && !tap_failed(); c.which++) {
    if (is_left_out(ceed, c.which)) continue;
    w = (Whole){0};
    CHECK_OK(open_whole(ceed, &c, &w));
    for (int n = 0; n < (tap_compiles_slowly(ceed) ? 2 : 3) && !tap_failed(); n++) {
      c.num_parts = nums[n];
      c.how = (c.which + n) % NUM_CUTS;
      c.overlaps = (c.which + n) % 2;
      CHECK_OK(CeedOperatorApply(w.op, w.x, w.y, CEED_REQUEST_IMMEDIATE));
      run_case(ceed, &c, run_apply_floats, mesh_names[c.which]);
      if (!tap_failed()) compare(&c, &w, 200 * 0x1p-24, "product in float");
      CHECK_OK(CeedOperatorLinearAssembleDiagonal(w.op, w.y, CEED_REQUEST_IMMEDIATE));
      if (!tap_failed()) run_case(ceed, &c, run_diagonal_floats, mesh_names[c.which]);
      if (!tap_failed()) compare(&c, &w, 200 * 0x1p-24, "diagonal in float");
    }
    close_whole(&c, &w);
  }
}

// ---- Devices ----

// By threads, and by NCCL where there are several devices (tools/gpu-check runs that).
TEST(parts_on_devices_exchange_floats_as_others_do) {
  const CeedInt most = num_connected_devices();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Case c = {.which = 7, .degree = 3, .num_comp = 2, .num_parts = 2};

  name_resource(ceed, &c);
  run_case(ceed, &c, run_floats, "threads");
  c.by_nccl = true;
  snprintf(c.resource, sizeof(c.resource), "/gpu/cuda/gen");
  for (; c.num_parts <= CeedIntMin(most, 8) && !tap_failed(); c.num_parts++) {
    for (c.which = 0; c.which < NUM_MESHES && !tap_failed(); c.which++) {
      c.how = c.which % NUM_CUTS;
      run_case(ceed, &c, run_floats, mesh_names[c.which]);
    }
  }
  CeedDestroy(&ceed);
}

// ---- Misuse ----

// Vectors of another precision than the exchange's, and solvers of what is in float; in a library of float
// all is in one precision.
static int refuse_floats(Case *c, const RitzTransport *t, const Part *p) {
  const int is_double = sizeof(CeedScalar) == 8, refused = is_double ? CEED_ERROR_INCOMPATIBLE : 0;
  CeedVector v = NULL, floats = NULL;
  RitzExchange exchange = NULL;
  RitzPartOperator op = NULL;
  RitzSolver solver = NULL;
  int code = CeedVectorCreate(p->ceed, p->num_nodes, &v);

  if (!code) code = RitzVectorCreate(p->ceed, p->num_nodes, CEED_SCALAR_FP32, &floats);
  if (!code) code = CeedVectorSetValue(v, 1);
  if (!code) code = CeedVectorSetValue(floats, 1);
  if (!code) code = RitzExchangeCreateInPrecision(p->space, p->ceed, t, CEED_SCALAR_FP32, &exchange);
  if (!code) code = RitzPartOperatorCreate(exchange, NULL, NULL, &op);
  if (!code) code = RitzSolverCreateCG(p->ceed, &solver);
  if (!code && (RitzExchangeRun(p->exchange, RITZ_EXCHANGE_TO_GHOSTS, floats) != refused ||
                RitzExchangeRun(exchange, RITZ_EXCHANGE_TO_GHOSTS, v) != refused ||
                RitzPartOperatorApply(op, floats, v) != refused ||
                RitzSolverSetPartOperator(solver, op, NULL) != refused))
    code = fail(c, t->part, "of two precisions something is not answered as wanted", 0, 0, refused);
  RitzSolverDestroy(&solver);
  RitzPartOperatorDestroy(&op);
  RitzExchangeDestroy(&exchange);
  CeedVectorDestroy(&v);
  CeedVectorDestroy(&floats);
  return code;
}

static int run_refusals(void *ctx, const RitzTransport *t) {
  Case *c = ctx;
  Part p;
  int code = open_part(c, t, &p);

  if (!code) code = refuse_floats(c, t, &p);
  close_part(c, t->part, code, &p);
  return code;
}

// Part 1 takes messages for half as long as part 0 does.
static int differ_in_precision(void *ctx, const RitzTransport *t) {
  const CeedScalarType precision = t->part ? CEED_SCALAR_FP32 : CEED_SCALAR_TYPE;
  const int wanted = sizeof(CeedScalar) == 8 ? CEED_ERROR_INCOMPATIBLE : CEED_ERROR_SUCCESS;
  Case *c = ctx;
  RitzExchange exchange = NULL;
  Part p;
  int code = open_part(c, t, &p);

  if (!code) {
    code = RitzExchangeCreateInPrecision(p.space, p.ceed, t, precision, &exchange);
    if (code != wanted) snprintf(c->why[t->part], sizeof(c->why[0]), "code %d", code);
  }
  RitzExchangeDestroy(&exchange);
  close_part(c, t->part, 0, &p);
  return CEED_ERROR_SUCCESS;
}

TEST(two_precisions_are_told_apart) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Case c = {.num_parts = 2,
            .which = 1,
            .how = CUT_HILBERT,
            .degree = 2,
            .num_comp = 1,
            .resource = "/cpu/self/ref"};

  run_case(ceed, &c, run_refusals, "vectors of two precisions");
  if (!tap_failed()) run_case(ceed, &c, differ_in_precision, "parts of two precisions");
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(vectors_of_float_are_exchanged_in_half_the_bytes,
                        products_in_float_are_those_of_one_part_to_its_rounding,
                        parts_on_devices_exchange_floats_as_others_do, two_precisions_are_told_apart));
}
