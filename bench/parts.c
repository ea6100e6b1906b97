// SPDX-License-Identifier: BSD-2-Clause
// Times conjugate gradients on a box in parts, threads of one process, beside the same box in one part.
//
// Compiled by mpicc with -DRITZ_WITH_MPI -I. and linked to libcli_parts.a, parts are processes, as many as
// mpiexec starts (--parts is not looked at): a row of theirs alone, to be compared with that of one process.
//
// Diffusion, hexahedra, Jacobi, a fixed number of iterations. Rows, in turns, medians of the rounds: one
// part; N parts, with standard iterations, with merged ones (one sum), and with the exchange behind elements
// without ghosts. On processors also one part with N threads, whose iterations are those of parts, and N
// threads with iterations inside the operator, which parts do not have; on devices N parts whose messages go
// by way of the host, and one device whose problem is no part.
// Rates count unknowns times iterations; "to one" is the rate over that of one part. Exchanges, messages that
// are sent and sums over all parts are those of part 0 in a solve over the iterations; its beginning and end
// are among them. Exit status: 0 done, 1 failed, 2 wrong usage.
#include <math.h>
#include <ritz.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef RITZ_WITH_MPI
#include <ritz/mpi.h>
#endif

#include "bp/times.h"
#include "cli/args.h"

#define TRY(expr)                                                                                            \
  do {                                                                                                       \
    const int ierr_ = (expr);                                                                                \
    if (ierr_) return ierr_;                                                                                 \
  } while (0)

typedef struct {
  const char *resource;
  int num_parts, num_gpus, order, num_its, num_rounds, bp, method;
  double size;
  bool is_weak;
} Options;
enum { BP3, BP5 };

#define MEMBER(name) offsetof(Options, name)

static const ArgOption options_table[] = {
    ARG_CEED(MEMBER(resource)),
    ARG_OPTION("--parts", "N", ARG_INT, MEMBER(num_parts), 1, INFINITY, "parts (default 2)"),
    ARG_OPTION("--gpus", "N", ARG_INT, MEMBER(num_gpus), 1, INFINITY,
               "a part on each of N devices, messages by NCCL; with --ceed\n/gpu/cuda"),
    ARG_WORDS("--bp", NULL, ARG_CHOICE, MEMBER(bp), "problem (default 5)", "3", "5"),
    ARG_OPTION("--order", "P", ARG_INT, MEMBER(order), 1, 16, "polynomial degree (default 4)"),
    ARG_OPTION("--size", "DOFS", ARG_COUNT, MEMBER(size), 1, 1e9,
               "degrees of freedom of all parts (default 2e6)"),
    ARG_OPTION("--weak", NULL, ARG_FLAG, MEMBER(is_weak), 0, 0,
               "so many in each part: the box grows along x"),
    ARG_OPTION("--its", "N", ARG_INT, MEMBER(num_its), 1, INFINITY, "iterations of a solve (default 30)"),
    ARG_OPTION("--rounds", "N", ARG_INT, MEMBER(num_rounds), 1, TIMES_MAX, "solves of each row (default 5)"),
    ARG_WORDS("--method", NULL, ARG_CHOICE, MEMBER(method), "of cutting the mesh (default auto)", "auto",
              "bricks", "metis", "hilbert")};

static const ArgCommand command = {
    .name = "ritz-bench-parts",
    .description = "Times conjugate gradients on a box in parts, beside the same box in one part.",
    .num_options = sizeof(options_table) / sizeof(options_table[0]),
    .options = options_table};

// Calls of a transport.
typedef struct {
  const RitzTransport *other;
  long num_exchanges, num_messages, num_sums;
} Counter;

// One row, and what it has found.
typedef struct {
  const Options *options;
  const char *name;
  int num_parts, num_threads;
  bool in_parts, overlaps, by_host;
  RitzCGVariant variant;
  Counter counter;
  double seconds;
  int64_t num_dofs, most_ghosts;
} Row;

// ---- Counting ----

static void count_messages(Counter *c, CeedInt num, const RitzMessage messages[]) {
  c->num_exchanges++;
  for (CeedInt i = 0; i < num; i++) c->num_messages += messages[i].send_bytes > 0;
}

static int begin_counted(const RitzTransport *t, CeedInt num, const RitzMessage messages[]) {
  Counter *c = t->ctx;

  count_messages(c, num, messages);
  return c->other->begin(c->other, num, messages);
}

static int end_counted(const RitzTransport *t, CeedInt num, const RitzMessage messages[]) {
  const Counter *c = t->ctx;

  return c->other->end(c->other, num, messages);
}

static int run_counted(const RitzTransport *t, CeedInt num, const RitzMessage messages[]) {
  Counter *c = t->ctx;

  count_messages(c, num, messages);
  return c->other->run(c->other, num, messages);
}

static int reduce_counted(const RitzTransport *t, RitzReduction kind, CeedInt num, double values[]) {
  Counter *c = t->ctx;

  c->num_sums++;
  return c->other->reduce(c->other, kind, num, values);
}

static int reduce_in_memory_counted(const RitzTransport *t, RitzReduction kind, CeedInt num,
                                    double values[]) {
  Counter *c = t->ctx;

  c->num_sums++;
  return c->other->reduce_in_memory(c->other, kind, num, values);
}

static int run_and_sum_counted(const RitzTransport *t, CeedInt num, const RitzMessage messages[],
                               CeedInt num_values, double values[]) {
  Counter *c = t->ctx;

  c->num_sums++;
  count_messages(c, num, messages);
  return c->other->run_and_sum(c->other, num, messages, num_values, values);
}

static RitzTransport count_calls(Counter *c, const RitzTransport *t) {
  RitzTransport counted = *t;

  *c = (Counter){.other = t};
  counted.ctx = c;
  counted.begin = begin_counted;
  counted.end = end_counted;
  counted.run = t->run ? run_counted : NULL;
  counted.reduce = reduce_counted;
  counted.reduce_in_memory = t->reduce_in_memory ? reduce_in_memory_counted : NULL;
  counted.run_and_sum = t->run_and_sum ? run_and_sum_counted : NULL;
  counted.on_stop = NULL; // nobody asks it
  return counted;
}

// ---- One part ----

typedef struct {
  Ceed ceed;
  RitzMesh mesh;
  RitzSpace space;
  RitzGeometry geometry;
  RitzIndices boundary;
  CeedOperator inside, seam;
  RitzTransport transport; // between devices
  RitzTransport counted;   // the transport that serves
  Counter counter;
  RitzExchange exchange;
  RitzPartOperator op;
  CeedVector b, x, diagonal;
  RitzSolver solver;
} Part;

static int make_mesh(const Row *row, const RitzTransport *t, Part *p) {
  const Options *o = row->options;
  const CeedInt n = (CeedInt)fmax(1, round(cbrt(o->size) / o->order)),
                sizes[] = {o->is_weak ? n * row->num_parts : n, n, n};
  const double lengths[] = {(double)sizes[0] / n, 1, 1};
  RitzMesh whole = NULL;
  int64_t num_elem = 0;

  TRY(RitzMeshCreateBox(p->ceed, 3, sizes, NULL, lengths, 1, NULL, NULL, &whole));
  if (!row->in_parts) {
    p->mesh = whole;
    return CEED_ERROR_SUCCESS;
  }
  TRY(RitzMeshGetNumElements(whole, &num_elem));
  int32_t *parts = malloc((size_t)num_elem * sizeof(*parts));

  TRY(RitzMeshPartition(whole, (RitzPartitionMethod)row->options->method, t->num_parts, NULL, parts));
  TRY(RitzMeshCreateSubmesh(whole, t->num_parts, parts, t->part, &p->mesh));
  free(parts);
  return RitzMeshDestroy(&whole);
}

static int make_operators(const Row *row, Part *p) {
  RitzOperatorOptions options = {.kind = RITZ_OPERATOR_DIFFUSION,
                                 .space = p->space,
                                 .quad_mode = row->options->bp == BP5 ? CEED_GAUSS_LOBATTO : CEED_GAUSS};

  TRY(RitzGeometryCreate(p->mesh, -1, &p->geometry));
  if (row->overlaps) {
    options.elements = RITZ_ELEMENTS_INSIDE;
    TRY(RitzGeometryCreateOperator(p->geometry, p->ceed, &options, &p->inside));
    options.elements = RITZ_ELEMENTS_SEAM;
  }
  return RitzGeometryCreateOperator(p->geometry, p->ceed, &options, &p->seam);
}

static int make_vectors(Part *p) {
  CeedSize size = 0;
  int64_t num = 0, *nodes = NULL;

  TRY(RitzSpaceGetSize(p->space, &size));
  TRY(CeedVectorCreate(p->ceed, size, &p->b));
  TRY(CeedVectorCreate(p->ceed, size, &p->x));
  TRY(CeedVectorCreate(p->ceed, size, &p->diagonal));
  TRY(CeedVectorSetValue(p->b, 1));
  TRY(RitzSpaceGetBoundaryNodes(p->space, "all", &num, &nodes));
  TRY(RitzIndicesCreate(p->ceed, num, nodes, &p->boundary));
  free(nodes);
  return CEED_ERROR_SUCCESS;
}

static int make_solver(const Row *row, const RitzTransport *t, Part *p) {
  TRY(RitzSolverCreateCG(p->ceed, &p->solver));
  TRY(RitzSolverSetTolerances(p->solver, 0, 0, row->options->num_its));
  TRY(RitzSolverSetVariant(p->solver, row->variant));
  if (!row->in_parts) {
    TRY(CeedOperatorLinearAssembleDiagonal(p->seam, p->diagonal, CEED_REQUEST_IMMEDIATE));
    TRY(RitzSolverSetJacobi(p->solver, p->diagonal));
    TRY(RitzSolverSetConstraintIndices(p->solver, p->boundary));
    return RitzSolverSetOperator(p->solver, p->seam);
  }
  TRY(RitzExchangeCreate(p->space, p->ceed, t, &p->exchange));
  TRY(RitzPartOperatorCreate(p->exchange, p->inside, p->seam, &p->op));
  TRY(RitzPartOperatorGetDiagonal(p->op, p->diagonal));
  TRY(RitzSolverSetJacobi(p->solver, p->diagonal));
  return RitzSolverSetPartOperator(p->solver, p->op, p->boundary);
}

static int make_part(const Row *row, const RitzTransport *t, Part *p) {
  char resource[256];

  snprintf(resource, sizeof(resource), row->options->num_gpus ? "%s:device_id=%d" : "%s:threads=%d",
           row->options->resource, row->options->num_gpus ? (int)t->part : row->num_threads);
  TRY(CeedInit(resource, &p->ceed));
  if (row->options->num_gpus && row->in_parts && !row->by_host) {
    TRY(RitzTransportCreateNCCL(p->ceed, t, &p->transport));
    t = &p->transport;
  }
  p->counted = count_calls(&p->counter, t);
  t = &p->counted;
  TRY(make_mesh(row, t, p));
  TRY(RitzSpaceCreate(p->mesh, row->options->order, 1, &p->space));
  TRY(make_operators(row, p));
  TRY(make_vectors(p));
  return make_solver(row, t, p);
}

// The second solve is timed, from when all parts are there until all have ended.
static int time_solves(const RitzTransport *t, Part *p, double *seconds) {
  double begin = 0, meet = 0;

  for (int round = 0; round < 2; round++) {
    TRY(CeedVectorSetValue(p->x, 0));
    TRY(t->reduce(t, RITZ_REDUCTION_SUM, 1, &meet));
    p->counter = (Counter){.other = p->counter.other};
    begin = times_now();
    TRY(RitzSolverSolve(p->solver, p->b, p->x));
    TRY(t->reduce(t, RITZ_REDUCTION_SUM, 1, &meet));
  }
  *seconds = times_now() - begin;
  return CEED_ERROR_SUCCESS;
}

static int count_nodes(const RitzTransport *t, Part *p, Row *row) {
  int64_t num_owned = 0, num_ghosts = 0;
  RitzHalo halo = NULL;

  TRY(RitzSpaceGetHalo(p->space, &halo));
  TRY(RitzHaloGetSizes(halo, &num_owned, &num_ghosts));
  double sum = (double)num_owned, most = (double)num_ghosts;

  TRY(t->reduce(t, RITZ_REDUCTION_SUM, 1, &sum));
  TRY(t->reduce(t, RITZ_REDUCTION_MAX, 1, &most));
  if (t->part > 0) return CEED_ERROR_SUCCESS;
  row->num_dofs = (int64_t)sum;
  row->most_ghosts = (int64_t)most;
  return CEED_ERROR_SUCCESS;
}

static void destroy_part(Part *p) {
  RitzSolverDestroy(&p->solver);
  RitzPartOperatorDestroy(&p->op);
  RitzExchangeDestroy(&p->exchange);
  CeedVectorDestroy(&p->b);
  CeedVectorDestroy(&p->x);
  CeedVectorDestroy(&p->diagonal);
  CeedOperatorDestroy(&p->inside);
  CeedOperatorDestroy(&p->seam);
  RitzIndicesDestroy(&p->boundary);
  RitzGeometryDestroy(&p->geometry);
  RitzSpaceDestroy(&p->space);
  RitzMeshDestroy(&p->mesh);
  RitzTransportDestroyNCCL(&p->transport);
  CeedDestroy(&p->ceed);
}

static int run_part(void *ctx, const RitzTransport *t) {
  Row *row = ctx;
  Part p = {0};
  double seconds = 0;
  int ierr = make_part(row, t, &p);

  if (!ierr) ierr = time_solves(t, &p, &seconds);
  if (!ierr) ierr = count_nodes(t, &p, row);
  if (t->part == 0) row->seconds = seconds;
  if (t->part == 0) row->counter = p.counter;
  destroy_part(&p);
  return ierr;
}

// ---- All rows ----

enum { NUM_ROWS = 6 };

static void print_rows(const Options *o, int num_rows, const Row rows[], Times times[]) {
  double rate_of_one = 0;

  printf("%-34s %9s %8s %9s %9s %7s %10s %9s %5s\n", "", "DOF", "ghosts", "s", "MDOF/s", "to one",
         "exchanges", "messages", "sums");
  for (int i = 0; i < num_rows; i++) {
    const double seconds = times_median(&times[i]);
    const double rate = (double)rows[i].num_dofs * o->num_its / seconds;

    if (i == 0) rate_of_one = rate;
    const Counter *c = &rows[i].counter;
    const double num_its = o->num_its;

    printf("%-34s %9lld %8lld %9.4f %9.1f %7.2f %10.2f %9.2f %5.2f\n", rows[i].name,
           (long long)rows[i].num_dofs, (long long)rows[i].most_ghosts, seconds, 1e-6 * rate,
           rate / rate_of_one, (double)c->num_exchanges / num_its, (double)c->num_messages / num_its,
           (double)c->num_sums / num_its);
  }
}

#ifdef RITZ_WITH_MPI
static int run_rows(const Options *o) {
  Row row = {.options = o, .name = "processes", .num_threads = 1, .in_parts = true, .overlaps = true};
  Times times[NUM_ROWS] = {{0}};
  RitzTransport transport;

  TRY(RitzTransportCreateMPI(MPI_COMM_WORLD, &transport));
  row.num_parts = transport.num_parts;
  for (int round = 0; round < o->num_rounds; round++) {
    TRY(run_part(&row, &transport));
    times_add(&times[0], row.seconds, row.seconds);
  }
  if (transport.part == 0) print_rows(o, 1, &row, times);
  return RitzTransportDestroyMPI(&transport);
}
#else
static int run_rows(const Options *o) {
  const int n = o->num_gpus ? o->num_gpus : o->num_parts;
  Row rows[NUM_ROWS] = {{o, "one part", 1, 1, .in_parts = true},
                        {o, "parts, standard iterations", n, 1, .in_parts = true,
                         .variant = RITZ_CG_STANDARD},
                        {o, "parts, merged iterations", n, 1, .in_parts = true, .variant = RITZ_CG_MERGED},
                        {o, "parts, exchanges behind elements", n, 1, .in_parts = true, .overlaps = true},
                        {o, "threads, one part", 1, n, .in_parts = true},
                        {o, "threads, no part, merged iterations", 1, n, .in_parts = false}};
  Times times[NUM_ROWS] = {{0}};
  Ceed ceed = NULL;

  if (o->num_gpus) {
    rows[4] =
        (Row){o, "parts, by way of the host", n, 1, .in_parts = true, .overlaps = true, .by_host = true};
    rows[5] = (Row){o, "no part, merged iterations", 1, 1, .in_parts = false};
  }
  TRY(CeedInit("/cpu/self/ref", &ceed));
  for (int round = 0; round < o->num_rounds; round++) {
    for (int i = 0; i < NUM_ROWS; i++) {
      TRY(RitzRunParts(ceed, rows[i].num_parts, run_part, &rows[i]));
      times_add(&times[i], rows[i].seconds, rows[i].seconds);
    }
  }
  print_rows(o, NUM_ROWS, rows, times);
  return CeedDestroy(&ceed);
}
#endif

int main(int argc, char **argv) {
  Options o = {.resource = "/cpu/self",
               .num_parts = 2,
               .order = 4,
               .num_its = 30,
               .num_rounds = 5,
               .bp = BP5,
               .size = 2e6};

  setenv("RITZ_WAIT", "1", 0);
#ifdef RITZ_WITH_MPI
  MPI_Init(&argc, &argv);
#endif
  const ArgsResult parsed = args_parse(&command, argc, argv, &o);
  const int status = parsed == ARGS_RUN ? run_rows(&o) != 0 : parsed == ARGS_HELP ? 0 : 2;
#ifdef RITZ_WITH_MPI
  if (status) MPI_Abort(MPI_COMM_WORLD, status);
  MPI_Finalize();
#endif
  return status;
}
