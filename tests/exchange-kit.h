// SPDX-License-Identifier: BSD-2-Clause
// Parts that work together, as threads of one process: a run of all of them, a mesh and space in each, the
// operator u v + grad u . grad v, and results beside those of one part. Included by test-exchange*.c,
// test-part-solvers.c and test-part-multigrid.c.
#ifndef RITZ_TESTS_EXCHANGE_KIT_H
#define RITZ_TESTS_EXCHANGE_KIT_H

#include <ritz/device.h>
#include <stdatomic.h>

#include "devices/nccl.h"
#include "tests/parts-kit.h"

// Makes an operator on chosen elements of a mesh; NULL: there are none.
typedef int (*MakeOperator)(Ceed ceed, RitzMesh mesh, RitzSpace space, RitzElementChoice elements,
                            CeedOperator *op);

// What all parts of a run know, and where their results go. Threads report by codes and by `why`: checks are
// made when all have ended.
typedef struct {
  char resource[128];
  int which, how;
  CeedInt num_parts, levels, degree, num_comp;
  bool overlaps;     // elements without ghosts are an operator of their own
  bool by_nccl;      // a device for each part
  MakeOperator make; // NULL: u v + grad u . grad v
  RitzSolverType method;
  RitzCGVariant variant;
  double *norms;                // of part 0; NULL: they are not kept
  PlacedNodes all;              // of the whole space
  CeedScalar *y;                // [nodes of the whole]: results at owned nodes
  CeedInt iterations[8];        // of each part
  _Atomic int64_t num_bytes;    // that were sent
  _Atomic int64_t num_messages; // that were not empty

  char why[8][256]; // what went wrong in a part
} Case;

// One part: its context, mesh and space.
typedef struct {
  Ceed ceed;
  RitzMesh mesh;
  RitzSpace space;
  PlacedNodes placed;
  int64_t num_owned, num_nodes;
  RitzTransport transport; // that of NCCL
  RitzExchange exchange;
} Part;

static inline double function_at(const double *x, CeedInt comp) {
  return sin(1.0 + 2.0 * x[0] + (double)comp) + x[1] * x[1] - 0.5 * x[2] * x[0] + 0.25;
}

static inline int open_mesh(const Case *c, Ceed ceed, CeedInt part, RitzMesh *fine) {
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

static inline int open_context(const Case *c, CeedInt part, Ceed *ceed) {
  char resource[160];

  snprintf(resource, sizeof(resource), c->by_nccl ? "%s:device_id=%d" : "%s", c->resource, (int)part);
  RITZ_TRY(CeedInit(resource, ceed));
  return CeedSetErrorHandler(*ceed, CeedErrorStore);
}

static inline int open_part(const Case *c, const RitzTransport *t, Part *p) {
  RitzHalo halo = NULL;

  *p = (Part){0};
  RITZ_TRY(open_context(c, t->part, &p->ceed));
  if (c->by_nccl) {
    RITZ_TRY(RitzTransportCreateNCCL(p->ceed, t, &p->transport));
    t = &p->transport;
  }
  RITZ_TRY(open_mesh(c, p->ceed, t->part, &p->mesh));
  RITZ_TRY(RitzSpaceCreate(p->mesh, c->degree, c->num_comp, &p->space));
  RITZ_TRY(place_all(p->space, &p->placed));
  RITZ_TRY(RitzSpaceGetHalo(p->space, &halo));
  RITZ_TRY(RitzHaloGetSizes(halo, &p->num_owned, NULL));
  RITZ_TRY(RitzSpaceGetNumNodes(p->space, &p->num_nodes));
  return RitzExchangeCreate(p->space, p->ceed, t, &p->exchange);
}

static inline void close_part(Case *c, CeedInt part, int code, Part *p) {
  const char *message = "";

  if (code && p->ceed) CeedGetErrorMessage(p->ceed, &message);
  if (code && !c->why[part][0]) snprintf(c->why[part], sizeof(c->why[part]), "code %d: %s", code, message);
  RitzExchangeDestroy(&p->exchange);
  RitzSpaceDestroy(&p->space);
  RitzMeshDestroy(&p->mesh);
  free(p->placed.nodes);
  (void)(code ? RitzTransportAbortNCCL : RitzTransportDestroyNCCL)(&p->transport);
  CeedDestroy(&p->ceed);
}

// A vector with values at owned nodes and `at_ghosts` at ghosts.
static inline int make_vector(const Case *c, const Part *p, CeedScalar at_ghosts, CeedVector *v) {
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

static inline int fail(Case *c, CeedInt part, const char *text, int64_t i, double found, double wanted) {
  snprintf(c->why[part], sizeof(c->why[part]), "%s: entry %lld is %.17g, wanted %.17g", text, (long long)i,
           found, wanted);
  return CEED_ERROR_MAJOR;
}

// Runs all parts and reports the first that went wrong.
static inline void run_case(Ceed ceed, Case *c, RitzPartFunction run, const char *name) {
  memset(c->why, 0, sizeof(c->why));
  const int code = RitzRunParts(ceed, c->num_parts, run, c);

  for (CeedInt p = 0; p < c->num_parts; p++) {
    const char *message = "";

    if (c->why[p][0]) CeedGetErrorMessage(ceed, &message);
    CHECK(!c->why[p][0], "%s, part %d: %s (%s)", name, (int)p, c->why[p], message);
  }
  CHECK(code == CEED_ERROR_SUCCESS, "%s: code %d", name, code);
}

// One thread a part: parts are threads already.
static inline void name_resource(Ceed ceed, Case *c) {
  const char *resource = NULL;

  CHECK_OK(CeedGetResource(ceed, &resource));
  snprintf(c->resource, sizeof(c->resource), "%s%s", resource,
           strncmp(resource, "/cpu/self/gen", 13) ? "" : ":threads=1");
}

// How many parts can have a device of CUDA each and NCCL between them.
static inline CeedInt num_connected_devices(void) {
  CeedInt num_drivers = 0;
  RitzDriverFacts facts = {0};
  const char *why = NULL;

  RitzDeviceGetNumDrivers(&num_drivers);
  for (CeedInt i = 0; i < num_drivers; i++) {
    RitzDeviceGetDriver(i, &facts);
    if (!strcmp(facts.name, "cuda")) return ritz_nccl_find(&why) ? facts.num_devices : 0;
  }
  return 0;
}

// NVIDIA's OpenCL (driver 580.159.04) ends the process in a thread of its own where several of ours use it at
// once; parts of such contexts have no tests there.
static inline bool is_for_one_thread(Ceed ceed) {
  const char *resource = "";
  RitzDeviceFacts facts = {0};

  CeedGetResource(ceed, &resource);
  return !strncmp(resource, "/gpu/opencl", 11) && !RitzDeviceGetInfo("opencl", 0, &facts) &&
         strstr(facts.name, "NVIDIA") != NULL;
}

// ---- Messages ----

// Counts what goes through another transport, in the case what all parts send.
typedef struct {
  Case *c;
  const RitzTransport *other;
  int64_t num_bytes; // that this part has sent
} Counted;

static inline int begin_counting(const RitzTransport *t, CeedInt num, const RitzMessage messages[]) {
  Counted *counted = t->ctx;

  for (CeedInt i = 0; i < num; i++) {
    counted->num_bytes += (int64_t)messages[i].send_bytes;
    atomic_fetch_add(&counted->c->num_bytes, (int64_t)messages[i].send_bytes);
    atomic_fetch_add(&counted->c->num_messages, messages[i].send_bytes > 0);
  }
  return counted->other->begin(counted->other, num, messages);
}

static inline int end_counting(const RitzTransport *t, CeedInt num, const RitzMessage messages[]) {
  const Counted *counted = t->ctx;

  return counted->other->end(counted->other, num, messages);
}

static inline int reduce_counting(const RitzTransport *t, RitzReduction kind, CeedInt num, double values[]) {
  const Counted *counted = t->ctx;

  return counted->other->reduce(counted->other, kind, num, values);
}

static inline RitzTransport count_messages(Counted *counted, const RitzTransport *t) {
  return (RitzTransport){.num_parts = t->num_parts,
                         .part = t->part,
                         .mem_type = t->mem_type,
                         .ctx = counted,
                         .begin = begin_counting,
                         .end = end_counting,
                         .reduce = reduce_counting};
}

// Nodes that are ghosts somewhere, counted as often.
static inline int64_t count_ghosts(Ceed ceed, const Case *c) {
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
static inline bool is_left_out(Ceed ceed, int which) {
  return tap_compiles_slowly(ceed) && which != 2 && which != 7;
}

// ---- Operators ----

// u v + grad u . grad v on chosen elements of a mesh; NULL: there are none.
static inline int make_operator(Ceed ceed, RitzMesh mesh, RitzSpace space, RitzElementChoice elements,
                                CeedOperator *op) {
  const RitzOperatorOptions options = {.kind = RITZ_OPERATOR_HELMHOLTZ, .space = space, .elements = elements};
  RitzGeometry geometry = NULL;

  RITZ_TRY(RitzGeometryCreate(mesh, -1, &geometry));
  const int ierr = RitzGeometryCreateOperator(geometry, ceed, &options, op);

  return ritz_first_error(ierr, RitzGeometryDestroy(&geometry));
}

static inline MakeOperator maker_of(const Case *c) { return c->make ? c->make : make_operator; }

static inline int make_part_operator(const Case *c, const Part *p, RitzPartOperator *op) {
  const MakeOperator make = maker_of(c);
  CeedOperator inside = NULL, seam = NULL;
  int ierr = CEED_ERROR_SUCCESS;

  if (c->overlaps) ierr = make(p->ceed, p->mesh, p->space, RITZ_ELEMENTS_INSIDE, &inside);
  if (!ierr)
    ierr = make(p->ceed, p->mesh, p->space, c->overlaps ? RITZ_ELEMENTS_SEAM : RITZ_ELEMENTS_ALL, &seam);
  if (!ierr) ierr = RitzPartOperatorCreate(p->exchange, inside, seam, op);
  ierr = ritz_first_error(ierr, CeedOperatorDestroy(&inside));
  return ritz_first_error(ierr, CeedOperatorDestroy(&seam));
}

// ---- Solvers ----

// Where a kernel takes seconds to compile, and calls several times as long: fewer of them.
static inline bool is_slow(Ceed ceed) { return tap_compiles_slowly(ceed) || tap_checks_calls(ceed); }

// Constraints: the boundary of the whole.
static inline int make_constraints(Ceed ceed, RitzSpace space, CeedInt num_comp, RitzIndices *constraints) {
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
static inline double solver_rtol(void) { return sizeof(CeedScalar) == 4 ? 1e-5 : 1e-10; }

// ---- Results ----

// Values at owned nodes to their places in the whole.
static inline int hand_in(Case *c, const Part *p, CeedVector v) {
  const CeedScalar *x = NULL;

  RITZ_TRY(CeedVectorGetArrayRead(v, CEED_MEM_HOST, &x));
  for (int64_t i = 0; i < p->num_owned; i++) {
    const int64_t node = find_placed(&c->all, &p->placed.nodes[i]);

    for (CeedInt k = 0; node >= 0 && k < c->num_comp; k++)
      c->y[node * c->num_comp + k] = x[i * c->num_comp + k];
  }
  return CeedVectorRestoreArrayRead(v, &x);
}

// The whole problem in one part: mesh, space, operator; the case gets its nodes.
typedef struct {
  RitzMesh mesh;
  RitzSpace space;
  CeedOperator op;
  CeedVector x, y;
  int64_t num;
} Whole;

static inline int open_whole(Ceed ceed, Case *c, Whole *w) {
  RitzMesh coarse = NULL;
  CeedScalar *x = NULL;

  RITZ_TRY(make_mesh(ceed, c->which, &coarse));
  RITZ_TRY(RitzMeshRefine(coarse, c->levels, &w->mesh));
  RITZ_TRY(RitzMeshDestroy(&coarse));
  RITZ_TRY(RitzSpaceCreate(w->mesh, c->degree, c->num_comp, &w->space));
  RITZ_TRY(maker_of(c)(ceed, w->mesh, w->space, RITZ_ELEMENTS_ALL, &w->op));
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

static inline void close_whole(Case *c, Whole *w) {
  free(c->y);
  free(c->all.nodes);
  CeedVectorDestroy(&w->x);
  CeedVectorDestroy(&w->y);
  CeedOperatorDestroy(&w->op);
  RitzSpaceDestroy(&w->space);
  RitzMeshDestroy(&w->mesh);
}

// What the parts have handed in is w->y, to `tolerance` of its largest entry.
static inline void compare(const Case *c, const Whole *w, double tolerance, const char *name) {
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

#endif
