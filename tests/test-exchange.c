// SPDX-License-Identifier: BSD-2-Clause
// Tests of parts that work together, as threads of one process: exchanges of ghosts, products, diagonals and
// solvers of the whole problem against one part; transports, failures, misuse (ritz/exchange.h).
#include <stdatomic.h>

#include "tests/parts-kit.h"

// What all parts of a run know, and where their results go. Threads report by codes and by `why`: checks are
// made when all have ended.
typedef struct {
  char resource[128];
  int which, how;
  CeedInt num_parts, levels, degree, num_comp;
  bool overlaps; // elements without ghosts are an operator of their own
  RitzSolverType method;
  PlacedNodes all;              // of the whole space
  CeedScalar *y;                // [nodes of the whole]: results at owned nodes
  CeedInt iterations[8];        // of each part
  _Atomic int64_t num_bytes;    // that were sent
  _Atomic int64_t num_messages; // that were not empty
  _Atomic int64_t num_reductions;
  char why[8][256]; // what went wrong in a part
} Case;

// One part: its context, mesh and space.
typedef struct {
  Ceed ceed;
  RitzMesh mesh;
  RitzSpace space;
  PlacedNodes placed;
  int64_t num_owned, num_nodes;
  RitzExchange exchange;
} Part;

static double function_at(const double *x, CeedInt comp) {
  return sin(1.0 + 2.0 * x[0] + (double)comp) + x[1] * x[1] - 0.5 * x[2] * x[0] + 0.25;
}

static int open_mesh(const Case *c, Ceed ceed, CeedInt part, RitzMesh *fine) {
  RitzMesh mesh = NULL, sub = NULL;
  int32_t *parts = NULL;

  RITZ_TRY(make_mesh(ceed, c->which, &mesh));
  int ierr = cut_mesh(mesh, c->how, c->num_parts, &parts);

  if (!ierr) ierr = RitzMeshCreateSubmesh(mesh, c->num_parts, parts, part, &sub);
  free(parts);
  RitzMeshDestroy(&mesh);
  if (!ierr) ierr = RitzMeshRefine(sub, c->levels, fine);
  RitzMeshDestroy(&sub);
  return ierr;
}

static int open_part(const Case *c, const RitzTransport *t, Part *p) {
  RitzHalo halo = NULL;

  *p = (Part){0};
  RITZ_TRY(CeedInit(c->resource, &p->ceed));
  RITZ_TRY(CeedSetErrorHandler(p->ceed, CeedErrorStore));
  RITZ_TRY(open_mesh(c, p->ceed, t->part, &p->mesh));
  RITZ_TRY(RitzSpaceCreate(p->mesh, c->degree, c->num_comp, &p->space));
  RITZ_TRY(place_all(p->space, &p->placed));
  RITZ_TRY(RitzSpaceGetHalo(p->space, &halo));
  RITZ_TRY(RitzHaloGetSizes(halo, &p->num_owned, NULL));
  RITZ_TRY(RitzSpaceGetNumNodes(p->space, &p->num_nodes));
  return RitzExchangeCreate(p->space, p->ceed, t, &p->exchange);
}

static void close_part(Case *c, CeedInt part, int code, Part *p) {
  const char *message = "";

  if (code && p->ceed) CeedGetErrorMessage(p->ceed, &message);
  if (code && !c->why[part][0]) snprintf(c->why[part], sizeof(c->why[part]), "code %d: %s", code, message);
  RitzExchangeDestroy(&p->exchange);
  RitzSpaceDestroy(&p->space);
  RitzMeshDestroy(&p->mesh);
  free(p->placed.nodes);
  CeedDestroy(&p->ceed);
}

// A vector with values at owned nodes and `at_ghosts` at ghosts.
static int make_vector(const Case *c, const Part *p, CeedScalar at_ghosts, CeedVector *v) {
  CeedScalar *x = NULL;

  RITZ_TRY(CeedVectorCreate(p->ceed, p->num_nodes * c->num_comp, v));
  RITZ_TRY(CeedVectorGetArrayWrite(*v, CEED_MEM_HOST, &x));
  for (int64_t i = 0; i < p->num_nodes * c->num_comp; i++) {
    const int64_t node = i / c->num_comp;

    x[i] = node < p->num_owned ? (CeedScalar)function_at(p->placed.nodes[node].x, (CeedInt)(i % c->num_comp))
                               : at_ghosts;
  }
  return CeedVectorRestoreArray(*v, &x);
}

static int fail(Case *c, CeedInt part, const char *text, int64_t i, double found, double wanted) {
  snprintf(c->why[part], sizeof(c->why[part]), "%s: entry %lld is %.17g, wanted %.17g", text, (long long)i,
           found, wanted);
  return CEED_ERROR_MAJOR;
}

// Runs all parts and reports the first that went wrong.
static void run_case(Ceed ceed, Case *c, RitzPartFunction run, const char *name) {
  memset(c->why, 0, sizeof(c->why));
  const int code = RitzRunParts(ceed, c->num_parts, run, c);

  for (CeedInt p = 0; p < c->num_parts; p++) CHECK(!c->why[p][0], "%s, part %d: %s", name, (int)p, c->why[p]);
  CHECK(code == CEED_ERROR_SUCCESS, "%s: code %d", name, code);
}

// One thread a part: parts are threads already.
static void name_resource(Ceed ceed, Case *c) {
  const char *resource = NULL;

  CHECK_OK(CeedGetResource(ceed, &resource));
  snprintf(c->resource, sizeof(c->resource), "%s%s", resource,
           strncmp(resource, "/cpu/self/gen", 13) ? "" : ":threads=1");
}

// ---- Transports ----

static int sum_and_largest(void *ctx, const RitzTransport *t) {
  Case *c = ctx;
  double values[200];
  const double n = t->num_parts;

  for (int round = 0; round < 50; round++) {
    for (int i = 0; i < 200; i++) values[i] = (t->part + 1) * (i + round);
    RITZ_TRY(t->reduce(t, RITZ_REDUCTION_SUM, 200, values));
    for (int i = 0; i < 200; i++) {
      const double wanted = n * (n + 1) / 2 * (i + round);
      if (values[i] != wanted) return fail(c, t->part, "sum", i, values[i], wanted);
    }
    for (int i = 0; i < 3; i++) values[i] = i == 1 ? -t->part : t->part;
    RITZ_TRY(t->reduce(t, RITZ_REDUCTION_MAX, 2, values));
    if (values[0] != n - 1 || values[1] != 0) return fail(c, t->part, "largest", 0, values[0], n - 1);
  }
  return CEED_ERROR_SUCCESS;
}

TEST(numbers_of_all_parts_are_summed) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Case c = {0};

  for (c.num_parts = 1; c.num_parts <= 8; c.num_parts++) {
    run_case(ceed, &c, sum_and_largest, "reductions");
    if (tap_failed()) return;
  }
  CeedDestroy(&ceed);
}

// A ring: to the right one byte more each round, nothing to the left.
static int send_around(void *ctx, const RitzTransport *t) {
  Case *c = ctx;
  const CeedInt right = (t->part + 1) % t->num_parts, left = (t->part + t->num_parts - 1) % t->num_parts;
  uint8_t to[64], from[64];

  for (size_t round = 0; round < 64; round++) {
    memset(to, (int)round + t->part, sizeof(to));
    memset(from, 255, sizeof(from));
    const RitzMessage messages[2] = {{.part = right, .send_bytes = round, .send = to},
                                     {.part = left, .recv_bytes = round, .recv = from}};

    RITZ_TRY(t->begin(t, 2, messages));
    RITZ_TRY(t->end(t, 2, messages));
    for (size_t i = 0; i < 64; i++) {
      const uint8_t wanted = i < round ? (uint8_t)((int)round + left) : 255;
      if (from[i] != wanted) return fail(c, t->part, "message", (int64_t)i, from[i], wanted);
    }
  }
  return CEED_ERROR_SUCCESS;
}

TEST(messages_arrive_whole_and_in_order) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Case c = {0};

  for (c.num_parts = 3; c.num_parts <= 8; c.num_parts++) {
    run_case(ceed, &c, send_around, "messages");
    if (tap_failed()) return;
  }
  CeedDestroy(&ceed);
}

// Part 2 fails in the fifth round: no part waits for ever, and its code is that of all.
static int fail_in_round_five(void *ctx, const RitzTransport *t) {
  _Atomic int *num_stopped = ctx;
  double value = 1;

  for (int round = 0; round < 10; round++) {
    if (round == 5 && t->part == 2) return 4711;
    const int code = t->reduce(t, RITZ_REDUCTION_SUM, 1, &value);

    if (code) {
      atomic_fetch_add(num_stopped, code == CEED_ERROR_MAJOR);
      return code;
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int fail_before_a_message(void *ctx, const RitzTransport *t) {
  _Atomic int *num_stopped = ctx;
  uint8_t buffer[2] = {0};
  const RitzMessage message = {t->part == 0 ? 1 : 0, 1, 1, buffer, buffer + 1};

  if (t->part == 2) return CEED_ERROR_SUCCESS;
  if (t->part == 0) return 4711;
  RITZ_TRY(t->begin(t, 1, &message));
  const int code = t->end(t, 1, &message);

  atomic_fetch_add(num_stopped, code == CEED_ERROR_MAJOR);
  return code;
}

TEST(a_part_that_fails_ends_all) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  _Atomic int num_stopped = 0;

  setenv("CEED_ERROR_HANDLER", "return", 1); // parts without a context report where they are
  CHECK(RitzRunParts(ceed, 5, fail_in_round_five, &num_stopped) == 4711, "the code of the part that failed");
  CHECK(num_stopped == 4, "%d parts were stopped", (int)num_stopped);
  num_stopped = 0;
  CHECK(RitzRunParts(ceed, 3, fail_before_a_message, &num_stopped) == 4711,
        "the code of the part that failed");
  CHECK(num_stopped == 1, "%d parts were stopped", (int)num_stopped);
  CeedDestroy(&ceed);
}

static int disagree(void *ctx, const RitzTransport *t) {
  double values[2] = {0};

  (void)ctx;
  return t->reduce(t, RITZ_REDUCTION_SUM, 1 + t->part, values);
}

static int disagree_on_bytes(void *ctx, const RitzTransport *t) {
  uint8_t buffer[8] = {0};
  const RitzMessage message = {1 - t->part, 4, t->part == 0 ? 4 : 3, buffer, buffer + 4};

  (void)ctx;
  RITZ_TRY(t->begin(t, 1, &message));
  return t->end(t, 1, &message);
}

TEST(parts_that_disagree_are_told) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  setenv("CEED_ERROR_HANDLER", "return", 1);
  CHECK(RitzRunParts(ceed, 2, disagree, NULL) != CEED_ERROR_SUCCESS, "different numbers of values");
  CHECK(RitzRunParts(ceed, 2, disagree_on_bytes, NULL) == CEED_ERROR_DIMENSION,
        "different sizes of a message");
  CHECK_ERROR(ceed, RitzRunParts(ceed, 0, disagree, NULL), CEED_ERROR_DIMENSION, "0 parts, needed 1");
  CHECK_ERROR(ceed, RitzRunParts(ceed, 2, NULL, NULL), CEED_ERROR_INCOMPATIBLE, "needed a function");
  CeedDestroy(&ceed);
}

// ---- Exchanges ----

// Counts what goes through another transport.
typedef struct {
  Case *c;
  const RitzTransport *other;
} Counted;

static int begin_counted(const RitzTransport *t, CeedInt num, const RitzMessage messages[]) {
  const Counted *counted = t->ctx;

  for (CeedInt i = 0; i < num; i++) {
    atomic_fetch_add(&counted->c->num_bytes, (int64_t)messages[i].send_bytes);
    atomic_fetch_add(&counted->c->num_messages, messages[i].send_bytes > 0);
  }
  return counted->other->begin(counted->other, num, messages);
}

static int end_counted(const RitzTransport *t, CeedInt num, const RitzMessage messages[]) {
  const Counted *counted = t->ctx;

  return counted->other->end(counted->other, num, messages);
}

static int reduce_counted(const RitzTransport *t, RitzReduction kind, CeedInt num, double values[]) {
  const Counted *counted = t->ctx;

  atomic_fetch_add(&counted->c->num_reductions, 1);
  return counted->other->reduce(counted->other, kind, num, values);
}

static RitzTransport count_messages(Counted *counted, const RitzTransport *t) {
  return (RitzTransport){.num_parts = t->num_parts,
                         .part = t->part,
                         .mem_type = t->mem_type,
                         .ctx = counted,
                         .begin = begin_counted,
                         .end = end_counted,
                         .reduce = reduce_counted};
}

// Values of the owners, exactly.
static int check_ghosts(Case *c, CeedInt part, const Part *p, CeedVector v) {
  const CeedScalar *x = NULL;
  int code = CEED_ERROR_SUCCESS;

  RITZ_TRY(CeedVectorGetArrayRead(v, CEED_MEM_HOST, &x));
  for (int64_t i = 0; i < p->num_nodes * c->num_comp && !code; i++) {
    const double wanted = function_at(p->placed.nodes[i / c->num_comp].x, (CeedInt)(i % c->num_comp));

    // positions of a node differ by rounding from part to part
    if (fabs((double)x[i] - wanted) > 100 * CEED_EPSILON)
      code = fail(c, part, "ghost", i, (double)x[i], wanted);
  }
  RITZ_TRY(CeedVectorRestoreArrayRead(v, &x));
  return code;
}

// Of vectors of ones owners get the number of parts that have the node, ghosts become zero.
static int check_multiplicity(Case *c, CeedInt part, const Part *p, CeedVector v) {
  const CeedScalar *x = NULL;
  CeedScalar *wanted = calloc((size_t)p->num_nodes + 1, sizeof(*wanted));
  CeedInt num = 0;
  RitzHalo halo = NULL;
  int code = CEED_ERROR_SUCCESS;

  RITZ_TRY(RitzSpaceGetHalo(p->space, &halo));
  RITZ_TRY(RitzHaloGetNumNeighbours(halo, &num));
  for (int64_t i = 0; i < p->num_owned; i++) wanted[i] = 1;
  for (CeedInt n = 0; n < num; n++) {
    const int64_t *send = NULL;
    int64_t num_send = 0;

    RITZ_TRY(RitzHaloGetNeighbour(halo, n, NULL, &num_send, &send, NULL, NULL));
    for (int64_t k = 0; k < num_send; k++) wanted[send[k]] += 1;
  }
  RITZ_TRY(CeedVectorGetArrayRead(v, CEED_MEM_HOST, &x));
  for (int64_t i = 0; i < p->num_nodes * c->num_comp && !code; i++) {
    if (x[i] != wanted[i / c->num_comp])
      code = fail(c, part, "multiplicity", i, (double)x[i], (double)wanted[i / c->num_comp]);
  }
  RITZ_TRY(CeedVectorRestoreArrayRead(v, &x));
  free(wanted);
  return code;
}

static int exchange_both_ways(Case *c, CeedInt part, const Part *p) {
  CeedVector v = NULL;

  RITZ_TRY(make_vector(c, p, (CeedScalar)-77, &v));
  int code = RitzExchangeRun(p->exchange, RITZ_EXCHANGE_TO_GHOSTS, v);

  if (!code) code = check_ghosts(c, part, p, v);
  if (!code) code = CeedVectorSetValue(v, 1);
  if (!code) code = RitzExchangeBegin(p->exchange, RITZ_EXCHANGE_TO_OWNERS, v);
  if (!code) code = RitzExchangeEnd(p->exchange, RITZ_EXCHANGE_TO_OWNERS, v);
  if (!code) code = check_multiplicity(c, part, p, v);
  return ritz_first_error(code, CeedVectorDestroy(&v));
}

static int run_exchange(void *ctx, const RitzTransport *t) {
  Case *c = ctx;
  Counted counted = {c, t};
  const RitzTransport counting = count_messages(&counted, t);
  Part p;
  int code = open_part(c, &counting, &p);

  if (!code) code = exchange_both_ways(c, t->part, &p);
  close_part(c, t->part, code, &p);
  return code;
}

// Nodes that are ghosts somewhere, counted as often.
static int64_t count_ghosts(Ceed ceed, const Case *c) {
  int64_t sum = 0;

  for (CeedInt p = 0; p < c->num_parts; p++) {
    RitzMesh mesh = NULL;
    RitzSpace space = NULL;
    RitzHalo halo = NULL;
    int64_t num = 0;

    open_mesh(c, ceed, p, &mesh);
    RitzSpaceCreate(mesh, c->degree, c->num_comp, &space);
    RitzSpaceGetHalo(space, &halo);
    RitzHaloGetSizes(halo, NULL, &num);
    sum += num;
    RitzSpaceDestroy(&space);
    RitzMeshDestroy(&mesh);
  }
  return sum;
}

// PoCL takes seconds for each kernel: two meshes there.
static bool is_left_out(Ceed ceed, int which) {
  return tap_compiles_slowly(ceed) && which != 2 && which != 7;
}

TEST_EACH_BACKEND(ghosts_get_their_owners_values_and_owners_the_sums) {
  static const CeedInt nums[] = {1, 2, 3, 8};
  Case c = {.levels = 0, .degree = 3, .num_comp = 2};

  name_resource(ceed, &c);
  for (c.which = 0; c.which < NUM_MESHES; c.which++) {
    if (is_left_out(ceed, c.which)) continue;
    for (int n = 0; n < 4; n++) {
      for (c.how = 0; c.how < NUM_CUTS; c.how++) {
        c.num_parts = nums[n];
        c.num_bytes = 0;
        run_case(ceed, &c, run_exchange, mesh_names[c.which]);
        if (tap_failed()) return;
        // both ways
        const int64_t wanted = 2 * count_ghosts(ceed, &c) * c.num_comp * (int64_t)sizeof(CeedScalar);
        CHECK(c.num_bytes == wanted, "%s in %d parts: %lld bytes, wanted %lld", mesh_names[c.which],
              (int)c.num_parts, (long long)c.num_bytes, (long long)wanted);
      }
    }
  }
}

// ---- Products ----

// u v + grad u . grad v on chosen elements of a mesh; NULL: there are none.
static int make_operator(Ceed ceed, RitzMesh mesh, RitzSpace space, RitzElementChoice elements,
                         CeedOperator *op) {
  const RitzOperatorOptions options = {.kind = RITZ_OPERATOR_HELMHOLTZ, .space = space, .elements = elements};
  RitzGeometry geometry = NULL;

  RITZ_TRY(RitzGeometryCreate(mesh, -1, &geometry));
  const int ierr = RitzGeometryCreateOperator(geometry, ceed, &options, op);

  return ritz_first_error(ierr, RitzGeometryDestroy(&geometry));
}

static int make_part_operator(const Case *c, const Part *p, RitzPartOperator *op) {
  CeedOperator inside = NULL, seam = NULL;
  int ierr = CEED_ERROR_SUCCESS;

  if (c->overlaps) ierr = make_operator(p->ceed, p->mesh, p->space, RITZ_ELEMENTS_INSIDE, &inside);
  if (!ierr)
    ierr = make_operator(p->ceed, p->mesh, p->space, c->overlaps ? RITZ_ELEMENTS_SEAM : RITZ_ELEMENTS_ALL,
                         &seam);
  if (!ierr) ierr = RitzPartOperatorCreate(p->exchange, inside, seam, op);
  ierr = ritz_first_error(ierr, CeedOperatorDestroy(&inside));
  return ritz_first_error(ierr, CeedOperatorDestroy(&seam));
}

// Values at owned nodes to their places in the whole.
static int hand_in(Case *c, const Part *p, CeedVector v) {
  const CeedScalar *x = NULL;

  RITZ_TRY(CeedVectorGetArrayRead(v, CEED_MEM_HOST, &x));
  for (int64_t i = 0; i < p->num_owned; i++) {
    const int64_t node = find_placed(&c->all, &p->placed.nodes[i]);

    for (CeedInt k = 0; node >= 0 && k < c->num_comp; k++)
      c->y[node * c->num_comp + k] = x[i * c->num_comp + k];
  }
  return CeedVectorRestoreArrayRead(v, &x);
}

static int apply_part(Case *c, const Part *p) {
  CeedVector x = NULL, y = NULL;
  RitzPartOperator op = NULL;

  RITZ_TRY(make_part_operator(c, p, &op));
  int ierr = make_vector(c, p, (CeedScalar)-77, &x);

  if (!ierr) ierr = CeedVectorCreate(p->ceed, p->num_nodes * c->num_comp, &y);
  if (!ierr) ierr = RitzPartOperatorApply(op, x, y);
  if (!ierr) ierr = hand_in(c, p, y);
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&x));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&y));
  return ritz_first_error(ierr, RitzPartOperatorDestroy(&op));
}

static int diagonal_of_part(Case *c, const Part *p) {
  CeedVector d = NULL;
  RitzPartOperator op = NULL;

  RITZ_TRY(make_part_operator(c, p, &op));
  int ierr = CeedVectorCreate(p->ceed, p->num_nodes * c->num_comp, &d);

  if (!ierr) ierr = RitzPartOperatorGetDiagonal(op, d);
  if (!ierr) ierr = hand_in(c, p, d);
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&d));
  return ritz_first_error(ierr, RitzPartOperatorDestroy(&op));
}

static int run_apply(void *ctx, const RitzTransport *t) {
  Case *c = ctx;
  Part p;
  int code = open_part(c, t, &p);

  if (!code) code = apply_part(c, &p);
  close_part(c, t->part, code, &p);
  return code;
}

static int run_diagonal(void *ctx, const RitzTransport *t) {
  Case *c = ctx;
  Part p;
  int code = open_part(c, t, &p);

  if (!code) code = diagonal_of_part(c, &p);
  close_part(c, t->part, code, &p);
  return code;
}

// The whole problem in one part: mesh, space, operator; the case gets its nodes.
typedef struct {
  RitzMesh mesh;
  RitzSpace space;
  CeedOperator op;
  CeedVector x, y;
  int64_t num;
} Whole;

static int open_whole(Ceed ceed, Case *c, Whole *w) {
  RitzMesh coarse = NULL;
  CeedScalar *x = NULL;

  RITZ_TRY(make_mesh(ceed, c->which, &coarse));
  RITZ_TRY(RitzMeshRefine(coarse, c->levels, &w->mesh));
  RITZ_TRY(RitzMeshDestroy(&coarse));
  RITZ_TRY(RitzSpaceCreate(w->mesh, c->degree, c->num_comp, &w->space));
  RITZ_TRY(make_operator(ceed, w->mesh, w->space, RITZ_ELEMENTS_ALL, &w->op));
  RITZ_TRY(place_all(w->space, &c->all));
  w->num = c->all.num * c->num_comp;
  RITZ_TRY(CeedVectorCreate(ceed, w->num, &w->x));
  RITZ_TRY(CeedVectorCreate(ceed, w->num, &w->y));
  RITZ_TRY(CeedVectorGetArrayWrite(w->x, CEED_MEM_HOST, &x));
  for (int64_t i = 0; i < w->num; i++)
    x[i] = (CeedScalar)function_at(c->all.nodes[i / c->num_comp].x, (CeedInt)(i % c->num_comp));
  RITZ_TRY(CeedVectorRestoreArray(w->x, &x));
  sort_placed(&c->all);
  c->y = malloc((size_t)w->num * sizeof(*c->y));
  for (int64_t i = 0; i < w->num; i++) c->y[i] = (CeedScalar)NAN;
  return CEED_ERROR_SUCCESS;
}

static void close_whole(Case *c, Whole *w) {
  free(c->y);
  free(c->all.nodes);
  CeedVectorDestroy(&w->x);
  CeedVectorDestroy(&w->y);
  CeedOperatorDestroy(&w->op);
  RitzSpaceDestroy(&w->space);
  RitzMeshDestroy(&w->mesh);
}

// What the parts have handed in is w->y, to `tolerance` of its largest entry.
static void compare(const Case *c, const Whole *w, double tolerance, const char *name) {
  const CeedScalar *y;
  double largest = 0, error = 0;

  CHECK_OK(CeedVectorGetArrayRead(w->y, CEED_MEM_HOST, &y));
  for (int64_t i = 0; i < w->num; i++) {
    largest = tap_larger(largest, fabs((double)y[i]));
    error = tap_larger(error, fabs((double)(c->y[i] - y[i])));
  }
  CHECK_OK(CeedVectorRestoreArrayRead(w->y, &y));
  CHECK(error <= tolerance * largest, "%s, %s in %d parts, cut %s: error %g of %g", name,
        mesh_names[c->which], (int)c->num_parts, cut_names[c->how], error, largest);
}

// Sums come in another order: 100 eps of the largest entry.
static void check_products(Ceed ceed, Case *c) {
  Whole w = {0};

  CHECK_OK(open_whole(ceed, c, &w));
  CHECK_OK(CeedOperatorApply(w.op, w.x, w.y, CEED_REQUEST_IMMEDIATE));
  run_case(ceed, c, run_apply, mesh_names[c->which]);
  if (!tap_failed()) compare(c, &w, 100 * CEED_EPSILON, "product");
  if (!tap_failed() && c->overlaps) {
    CHECK_OK(CeedOperatorLinearAssembleDiagonal(w.op, w.y, CEED_REQUEST_IMMEDIATE));
    run_case(ceed, c, run_diagonal, mesh_names[c->which]);
    if (!tap_failed()) compare(c, &w, 100 * CEED_EPSILON, "diagonal");
  }
  close_whole(c, &w);
}

TEST_EACH_BACKEND(products_and_diagonals_are_those_of_one_part) {
  static const CeedInt nums[] = {1, 2, 3, 8};
  Case c = {.degree = 2, .num_comp = 1};

  name_resource(ceed, &c);
  for (c.which = 0; c.which < NUM_MESHES; c.which++) {
    if (is_left_out(ceed, c.which)) continue;
    c.num_comp = c.which == 2 ? 2 : 1;
    for (int n = 0; n < (tap_compiles_slowly(ceed) ? 3 : 4); n++) {
      for (c.how = 0; c.how < NUM_CUTS; c.how++) {
        c.num_parts = nums[n];
        c.overlaps = (n + c.how) % 2 == 0;
        c.levels = n == 1 && c.how == CUT_RANDOM && c.which != 6;
        check_products(ceed, &c);
        if (tap_failed()) return;
      }
    }
  }
}

// ---- Solvers ----

// Constraints: the boundary of the whole.
static int make_constraints(Ceed ceed, RitzSpace space, CeedInt num_comp, RitzIndices *constraints) {
  int64_t num = 0, *nodes = NULL;

  RITZ_TRY(RitzSpaceGetBoundaryNodes(space, "all", &num, &nodes));
  int64_t *entries = malloc((size_t)(num * num_comp + 1) * sizeof(*entries));

  for (int64_t i = 0; i < num * num_comp; i++) entries[i] = nodes[i / num_comp] * num_comp + i % num_comp;
  const int ierr = RitzIndicesCreate(ceed, num * num_comp, entries, constraints);

  free(entries);
  free(nodes);
  return ierr;
}

// Single precision reaches less.
static double solver_rtol(void) { return sizeof(CeedScalar) == 4 ? 1e-5 : 1e-10; }

static int set_up_solver(const Case *c, Ceed ceed, CeedVector diagonal, RitzSolver *solver) {
  RITZ_TRY(RitzSolverCreate(ceed, c->method, solver));
  RITZ_TRY(RitzSolverSetTolerances(*solver, solver_rtol(), 0, 2000));
  RITZ_TRY(RitzSolverSetDamping(*solver, 0.3));
  return RitzSolverSetJacobi(*solver, diagonal);
}

static int solve_part(Case *c, CeedInt part, const Part *p) {
  CeedVector b = NULL, x = NULL, d = NULL;
  RitzPartOperator op = NULL;
  RitzIndices constraints = NULL;
  RitzSolver solver = NULL;
  RitzSolverReason reason = RITZ_ITERATING;
  int ierr = make_part_operator(c, p, &op);

  if (!ierr) ierr = make_vector(c, p, (CeedScalar)5, &b);
  if (!ierr) ierr = CeedVectorCreate(p->ceed, p->num_nodes * c->num_comp, &x);
  if (!ierr) ierr = CeedVectorCreate(p->ceed, p->num_nodes * c->num_comp, &d);
  if (!ierr) ierr = CeedVectorSetValue(x, (CeedScalar)0.5);
  if (!ierr) ierr = RitzPartOperatorGetDiagonal(op, d);
  if (!ierr) ierr = make_constraints(p->ceed, p->space, c->num_comp, &constraints);
  if (!ierr) ierr = set_up_solver(c, p->ceed, d, &solver);
  if (!ierr) ierr = RitzSolverSetPartOperator(solver, op, constraints);
  if (!ierr) ierr = RitzSolverSolve(solver, b, x);
  if (!ierr) ierr = RitzSolverGetReason(solver, &reason);
  if (!ierr) ierr = RitzSolverGetIterations(solver, &c->iterations[part]);
  if (!ierr && reason <= 0) ierr = fail(c, part, RitzSolverReasonName(reason), 0, 0, 0);
  if (!ierr) ierr = hand_in(c, p, x);
  RitzSolverDestroy(&solver);
  RitzIndicesDestroy(&constraints);
  CeedVectorDestroy(&b);
  CeedVectorDestroy(&x);
  CeedVectorDestroy(&d);
  RitzPartOperatorDestroy(&op);
  return ierr;
}

static int run_solve(void *ctx, const RitzTransport *t) {
  Case *c = ctx;
  Counted counted = {c, t};
  const RitzTransport counting = count_messages(&counted, t);
  Part p;
  int code = open_part(c, &counting, &p);

  if (!code) code = solve_part(c, t->part, &p);
  close_part(c, t->part, code, &p);
  return code;
}

static void solve_whole(Ceed ceed, const Case *c, const Whole *w, CeedInt *iterations) {
  CeedVector d;
  RitzIndices constraints;
  RitzSolver solver;
  RitzSolverReason reason;

  CHECK_OK(CeedVectorCreate(ceed, w->num, &d));
  CHECK_OK(CeedOperatorLinearAssembleDiagonal(w->op, d, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(make_constraints(ceed, w->space, c->num_comp, &constraints));
  CHECK_OK(set_up_solver(c, ceed, d, &solver));
  CHECK_OK(RitzSolverSetOperator(solver, w->op));
  CHECK_OK(RitzSolverSetConstraintIndices(solver, constraints));
  CHECK_OK(CeedVectorSetValue(w->y, (CeedScalar)0.5));
  CHECK_OK(RitzSolverSolve(solver, w->x, w->y));
  CHECK_OK(RitzSolverGetReason(solver, &reason));
  CHECK(reason > 0, "%s: %s", RitzSolverTypeName(c->method), RitzSolverReasonName(reason));
  CHECK_OK(RitzSolverGetIterations(solver, iterations));
  CHECK_OK(RitzSolverDestroy(&solver));
  CHECK_OK(RitzIndicesDestroy(&constraints));
  CHECK_OK(CeedVectorDestroy(&d));
}

// All methods take the steps that they take in one part, to the rounding of sums; all parts count the same.
// The methods stop at rtol of the residual, so solutions differ by that times the condition of the matrix,
// some hundreds here.
static void check_solves(Ceed ceed, Case *c) {
  Whole w = {0};
  CeedInt iterations = 0;

  CHECK_OK(open_whole(ceed, c, &w));
  solve_whole(ceed, c, &w, &iterations);
  if (!tap_failed()) run_case(ceed, c, run_solve, RitzSolverTypeName(c->method));
  if (!tap_failed()) compare(c, &w, 300 * solver_rtol(), RitzSolverTypeName(c->method));
  if (!tap_failed()) {
    for (CeedInt p = 1; p < c->num_parts; p++)
      CHECK(c->iterations[p] == c->iterations[0], "part %d takes %d iterations, the first %d", (int)p,
            (int)c->iterations[p], (int)c->iterations[0]);
    // Chebyshev: the lower bound, which decides, is estimated from another random vector
    const int most = c->method == RITZ_SOLVER_CHEBYSHEV ? iterations : iterations / 20 + 1;
    CHECK(abs((int)(c->iterations[0] - iterations)) <= most, "%s: %d iterations in %d parts, %d in one",
          RitzSolverTypeName(c->method), (int)c->iterations[0], (int)c->num_parts, (int)iterations);
  }
  close_whole(c, &w);
}

TEST_EACH_BACKEND(solvers_take_the_steps_of_one_part) {
  Case c = {.degree = 3, .num_comp = 1, .overlaps = true, .how = CUT_RANDOM};
  const int meshes[2] = {2, 7};

  name_resource(ceed, &c);
  for (int m = 0; m < (tap_compiles_slowly(ceed) ? 1 : 2); m++) {
    c.which = meshes[m];
    for (int method = 0; RitzSolverTypeName((RitzSolverType)method); method++) {
      c.method = (RitzSolverType)method;
      if (tap_compiles_slowly(ceed) && c.method != RITZ_SOLVER_CG && c.method != RITZ_SOLVER_FGMRES) continue;
      for (c.num_parts = 2; c.num_parts <= (tap_checks_calls(ceed) || tap_compiles_slowly(ceed) ? 2 : 5);
           c.num_parts += 3) {
        check_solves(ceed, &c);
        if (tap_failed()) return;
      }
    }
  }
}

// Problems without elements: the diagonal matrix of 1, 4, 9, ... 400, part p of N with entries p, p + N, ...
// No entry is shared, so reductions are all that is needed.
enum { DIAGONAL_LENGTH = 20 };

static int apply_squares(void *ctx, CeedVector x, CeedVector y) {
  const RitzTransport *t = ctx;
  const CeedScalar *from = NULL;
  CeedScalar *to = NULL;
  CeedSize n = 0;

  RITZ_TRY(CeedVectorGetLength(x, &n));
  RITZ_TRY(CeedVectorGetArrayRead(x, CEED_MEM_HOST, &from));
  RITZ_TRY(CeedVectorGetArrayWrite(y, CEED_MEM_HOST, &to));
  for (CeedSize i = 0; i < n; i++) {
    const CeedScalar root = (CeedScalar)(1 + t->part + i * t->num_parts);
    to[i] = root * root * from[i];
  }
  RITZ_TRY(CeedVectorRestoreArray(y, &to));
  return CeedVectorRestoreArrayRead(x, &from);
}

static int reduce_by_transport(void *ctx, RitzReduction kind, CeedInt num, double values[]) {
  const RitzTransport *t = ctx;

  return t->reduce(t, kind, num, values);
}

static int run_squares(void *ctx, const RitzTransport *t) {
  Case *c = ctx;
  const CeedSize n = (DIAGONAL_LENGTH - t->part + t->num_parts - 1) / t->num_parts;
  RitzTransport own = *t;
  Ceed ceed = NULL;
  CeedVector b = NULL, x = NULL;
  RitzSolver solver = NULL;
  RitzSolverReason reason = RITZ_ITERATING;
  int code = CeedInit("/cpu/self/ref", &ceed);

  if (!code) code = CeedVectorCreate(ceed, n, &b);
  if (!code) code = CeedVectorCreate(ceed, n, &x);
  if (!code) code = CeedVectorSetValue(b, 1);
  if (!code) code = CeedVectorSetValue(x, 0);
  if (!code) code = RitzSolverCreateCG(ceed, &solver);
  if (!code) code = RitzSolverSetTolerances(solver, solver_rtol(), 0, 100);
  if (!code) code = RitzSolverSetApply(solver, apply_squares, &own);
  if (!code) code = RitzSolverSetReduction(solver, reduce_by_transport, &own);
  if (!code) code = RitzSolverSolve(solver, b, x);
  if (!code) code = RitzSolverGetReason(solver, &reason);
  if (!code) code = RitzSolverGetIterations(solver, &c->iterations[t->part]);
  if (!code && reason != RITZ_CONVERGED_RTOL) code = fail(c, t->part, RitzSolverReasonName(reason), 0, 0, 0);
  RitzSolverDestroy(&solver);
  CeedVectorDestroy(&b);
  CeedVectorDestroy(&x);
  CeedDestroy(&ceed);
  return code;
}

TEST(products_are_reduced_by_any_function) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Case one = {.num_parts = 1}, c = {0};

  run_case(ceed, &one, run_squares, "one part");
  for (c.num_parts = 2; c.num_parts <= 8 && !tap_failed(); c.num_parts++) {
    run_case(ceed, &c, run_squares, "squares");
    for (CeedInt p = 0; p < c.num_parts; p++)
      CHECK(abs((int)(c.iterations[p] - one.iterations[0])) <= 1, "%d iterations in %d parts, %d in one",
            (int)c.iterations[p], (int)c.num_parts, (int)one.iterations[0]);
  }
  CeedDestroy(&ceed);
}

// ---- Misuse ----

// What an exchange answers, asked of a second reference.
static int check_queries(Case *c, CeedInt part, const Part *p) {
  RitzExchange copy = NULL;
  RitzIndices ghosts = NULL;
  CeedSize num_owned = 0;
  const int64_t *entries = NULL;
  int64_t num = 0;
  double largest = part;

  RITZ_TRY(RitzExchangeReferenceCopy(p->exchange, &copy));
  RITZ_TRY(RitzExchangeGetGhosts(copy, &ghosts));
  RITZ_TRY(RitzExchangeGetNumOwned(copy, &num_owned));
  RITZ_TRY(RitzExchangeReduce(copy, RITZ_REDUCTION_MAX, 1, &largest));
  RITZ_TRY(RitzIndicesGet(ghosts, &num, &entries));
  if (num_owned != p->num_owned) return fail(c, part, "owned", 0, (double)num_owned, (double)p->num_owned);
  if (num != p->num_nodes - p->num_owned) return fail(c, part, "ghosts", 0, (double)num, 0);
  for (int64_t i = 0; i < num; i++) {
    if (entries[i] != num_owned + i)
      return fail(c, part, "ghost", i, (double)entries[i], (double)(num_owned + i));
  }
  if (largest != c->num_parts - 1) return fail(c, part, "largest part", 0, largest, c->num_parts - 1);
  return RitzExchangeDestroy(&copy);
}

static int misuse(void *ctx, const RitzTransport *t) {
  Case *c = ctx;
  Part p;
  RitzExchange other = NULL;
  CeedVector v = NULL, other_v = NULL;
  RitzPartOperator op = NULL;
  RitzTransport wrong = *t;
  int code = open_part(c, t, &p);
  const char *message = NULL;

#define REFUSED(call, wanted, text)                                                                          \
  if (!code) {                                                                                               \
    const int got = (call);                                                                                  \
    CeedGetErrorMessage(p.ceed, &message);                                                                   \
    if (got != (wanted) || !strstr(message, text)) {                                                         \
      snprintf(c->why[t->part], 256, "%s gives %d: %.150s", #call, got, message);                            \
      code = CEED_ERROR_MAJOR;                                                                               \
    }                                                                                                        \
  }
  if (!code) code = check_queries(c, t->part, &p);
  if (!code) code = CeedVectorCreate(p.ceed, p.num_nodes, &v);
  if (!code) code = CeedVectorCreate(p.ceed, p.num_nodes + 1, &other_v);
  if (!code) code = CeedVectorSetValue(v, 1);
  if (!code) code = CeedVectorSetValue(other_v, 1);
  wrong.part = 1 - t->part;
  REFUSED(RitzExchangeCreate(p.space, p.ceed, &wrong, &other), CEED_ERROR_DIMENSION,
          "the transport that of part");
  wrong = *t;
  wrong.num_parts = 3;
  REFUSED(RitzExchangeCreate(p.space, p.ceed, &wrong, &other), CEED_ERROR_DIMENSION, "of 3");
  wrong = *t;
  wrong.reduce = NULL;
  REFUSED(RitzExchangeCreate(p.space, p.ceed, &wrong, &other), CEED_ERROR_INCOMPATIBLE, "needed all three");
  REFUSED(RitzExchangeCreate(p.space, p.ceed, NULL, &other), CEED_ERROR_INCOMPATIBLE, "transport");
  REFUSED(RitzExchangeEnd(p.exchange, RITZ_EXCHANGE_TO_GHOSTS, v), CEED_ERROR_INCOMPATIBLE,
          "RitzExchangeBegin first");
  REFUSED(RitzExchangeBegin(p.exchange, RITZ_EXCHANGE_TO_GHOSTS, other_v), CEED_ERROR_DIMENSION,
          "entries, the space");
  if (!code) code = RitzExchangeBegin(p.exchange, RITZ_EXCHANGE_TO_GHOSTS, v);
  REFUSED(RitzExchangeBegin(p.exchange, RITZ_EXCHANGE_TO_GHOSTS, v), CEED_ERROR_INCOMPATIBLE, "under way");
  REFUSED(RitzExchangeEnd(p.exchange, RITZ_EXCHANGE_TO_OWNERS, v), CEED_ERROR_INCOMPATIBLE,
          "no exchange of this mode");
  if (!code) code = RitzExchangeEnd(p.exchange, RITZ_EXCHANGE_TO_GHOSTS, v);
  if (!code) code = RitzPartOperatorCreate(p.exchange, NULL, NULL, &op);
  REFUSED(RitzPartOperatorApply(op, other_v, v), CEED_ERROR_DIMENSION, "entries, the space");
  RitzPartOperatorDestroy(&op);
  RitzExchangeDestroy(&other);
  CeedVectorDestroy(&v);
  CeedVectorDestroy(&other_v);
  close_part(c, t->part, code, &p);
  return code;
#undef REFUSED
}

TEST(misused_exchanges_are_refused_and_go_on) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Case c = {.which = 1,
            .how = CUT_HILBERT,
            .num_parts = 2,
            .degree = 2,
            .num_comp = 1,
            .resource = "/cpu/self/ref"};

  run_case(ceed, &c, misuse, "misuse");
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(numbers_of_all_parts_are_summed, messages_arrive_whole_and_in_order,
                        a_part_that_fails_ends_all, parts_that_disagree_are_told,
                        ghosts_get_their_owners_values_and_owners_the_sums,
                        products_and_diagonals_are_those_of_one_part, solvers_take_the_steps_of_one_part,
                        products_are_reduced_by_any_function, misused_exchanges_are_refused_and_go_on));
}
