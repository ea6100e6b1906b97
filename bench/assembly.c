// SPDX-License-Identifier: BSD-2-Clause
// Times matrices in a fixed pattern (ritz/assembly.h) of -div grad u on boxes of hexahedra and tetrahedra,
// against the time to write their values, and the operator's diagonal against an apply.
// A row for each shape and degree: degrees of freedom, nonzeros, milliseconds of the symbolic phase (once),
// then medians of CeedVectorSetValue on the values, of a run, and their ratio; of CeedOperatorApply, of
// CeedOperatorLinearAssembleDiagonal, and their ratio. They take turns, so that a busy machine disturbs them
// alike; where others take the processor away in long runs more than in short ones, the time of the process
// (cpu) with one thread says more. On devices each is waited for. Exit status: 0 done, 1 failed, 2 wrong
// usage.
#define _POSIX_C_SOURCE 200809L
#include <ritz.h>
#include <stdio.h>
#include <stdlib.h>

#include "bp/times.h"
#include "cli/args.h"

#define TRY(expr)                                                                                            \
  do {                                                                                                       \
    const int ierr_ = (expr);                                                                                \
    if (ierr_) return ierr_;                                                                                 \
  } while (0)

// ---- Options ----

typedef struct {
  const char *resource;
  ArgInts orders;
  int shape, repetitions, clock, policy;
  double size;
} Options;
enum { CPU = 1, BOTH_SHAPES = 0, TET = 2 }; // words of --clock, of --shape

#define MEMBER(name) offsetof(Options, name)

static const ArgOption options_table[] = {
    ARG_OPTION("--ceed", "RESOURCE", ARG_TEXT, MEMBER(resource), 0, 0, "backend (default /cpu/self/gen)"),
    ARG_OPTION("--order", "LIST", ARG_INT_LIST, MEMBER(orders), 1, 8, "polynomial degrees (default 1-3)"),
    ARG_OPTION("--size", "DOFS", ARG_COUNT, MEMBER(size), 1, 1e8, "degrees of freedom (default 2e5)"),
    ARG_OPTION("--reps", "N", ARG_INT, MEMBER(repetitions), 1, TIMES_MAX, "turns (default 7)"),
    ARG_WORDS("--clock", NULL, ARG_CHOICE, MEMBER(clock), "cpu: of the process (default wall)", "wall",
              "cpu"),
    ARG_WORDS("--policy", NULL, ARG_CHOICE, MEMBER(policy), "of geometry (default auto)", "auto", "stored",
              "affine", "trilinear", "partial", "merged", "isoparametric"),
    ARG_WORDS("--shape", NULL, ARG_CHOICE, MEMBER(shape), "of elements (default both)", "both", "hex",
              "tet")};

static const ArgCommand command = {
    .name = "ritz-bench-assembly",
    .description = "Times matrices in a fixed pattern, the diagonal, and an apply of diffusion.",
    .num_options = sizeof(options_table) / sizeof(options_table[0]),
    .options = options_table};

// ---- Problem ----

// A cube of about `size` nodes, slightly deformed.
static int deform(void *ctx, CeedInt dim, const double *x, double *y) {
  (void)ctx;
  for (CeedInt d = 0; d < dim; d++) y[d] = x[d] + 0.02 * x[(d + 1) % 3] * (1.0 - x[(d + 1) % 3]);
  return 0;
}

static int create_mesh(Ceed ceed, bool is_tet, int order, double size, RitzMesh *mesh) {
  RitzMesh box = NULL;
  CeedInt n = 1;
  while ((double)(n * order + 1) * (n * order + 1) * (n * order + 1) < size) n++;
  if (!is_tet) return RitzMeshCreateBox(ceed, 3, (CeedInt[]){n, n, n}, NULL, NULL, 1, deform, NULL, mesh);
  TRY(RitzMeshCreateBox(ceed, 3, (CeedInt[]){n, n, n}, NULL, NULL, 1, deform, NULL, &box));
  const int ierr = RitzMeshSplit(box, CEED_TOPOLOGY_TET, mesh);
  (void)RitzMeshDestroy(&box);
  return ierr;
}

static int create_operator(Ceed ceed, const Options *o, RitzMesh mesh, bool is_tet, int order,
                           CeedOperator *op) {
  RitzSpace space = NULL;
  RitzGeometry geometry = NULL;
  int ierr = RitzSpaceCreate(mesh, order, 1, &space);
  if (!ierr) ierr = RitzGeometryCreate(mesh, -1, &geometry);
  const RitzOperatorOptions options = {.kind = RITZ_OPERATOR_DIFFUSION,
                                       .space = space,
                                       .num_points = is_tet ? order : order + 1,
                                       .policy = (RitzGeometryPolicy)o->policy};
  if (!ierr) ierr = RitzGeometryCreateOperator(geometry, ceed, &options, op);
  (void)RitzGeometryDestroy(&geometry);
  (void)RitzSpaceDestroy(&space);
  return ierr;
}

// ---- Times ----

static double now(int clock) {
  struct timespec t;
  clock_gettime(clock == CPU ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// The host waits for what is queued: a number behind it is read.
static int wait(CeedVector number) {
  const CeedScalar *array;
  TRY(CeedVectorSetValue(number, 0.0));
  TRY(CeedVectorGetArrayRead(number, CEED_MEM_HOST, &array));
  return CeedVectorRestoreArrayRead(number, &array);
}

// What takes turns.
enum { WRITE, RUN, APPLY, DIAGONAL, NUM_ACTIONS };

// All handles but that of the operator are owned.
typedef struct {
  CeedOperator op;
  RitzAssembly assembly;
  CeedVector values, in, out, number;
  CeedSize num_rows, num_nonzeros;
  double symbolic; // seconds
} Work;

static int create_work(Ceed ceed, int clock, Work *w) {
  const int64_t *starts;
  CeedSize input_size, output_size;
  const double start = now(clock);
  TRY(RitzAssemblyCreate(w->op, &w->assembly));
  w->symbolic = now(clock) - start;
  TRY(RitzAssemblyGetPattern(w->assembly, &w->num_rows, NULL, &starts, NULL));
  w->num_nonzeros = starts[w->num_rows];
  TRY(CeedOperatorGetActiveVectorLengths(w->op, &input_size, &output_size));
  TRY(CeedVectorCreate(ceed, w->num_nonzeros, &w->values));
  TRY(CeedVectorCreate(ceed, input_size, &w->in));
  TRY(CeedVectorCreate(ceed, output_size, &w->out));
  TRY(CeedVectorCreate(ceed, 1, &w->number));
  return CeedVectorSetValue(w->in, 1.0);
}

static void destroy_work(Work *w) {
  (void)CeedVectorDestroy(&w->number);
  (void)CeedVectorDestroy(&w->out);
  (void)CeedVectorDestroy(&w->in);
  (void)CeedVectorDestroy(&w->values);
  (void)RitzAssemblyDestroy(&w->assembly);
}

static int act(const Work *w, int action) {
  switch (action) {
  case WRITE: return CeedVectorSetValue(w->values, 1.0);
  case RUN: return RitzAssemblyRun(w->assembly, w->values);
  case APPLY: return CeedOperatorApply(w->op, w->in, w->out, CEED_REQUEST_IMMEDIATE);
  default: return CeedOperatorLinearAssembleDiagonal(w->op, w->out, CEED_REQUEST_IMMEDIATE);
  }
}

// Medians; a turn that does not count makes kernels.
static int time_actions(const Work *w, const Options *o, double *medians) {
  Times times[NUM_ACTIONS] = {{0}};

  for (int i = -1; i < o->repetitions; i++) {
    for (int a = 0; a < NUM_ACTIONS; a++) {
      const double start = now(o->clock);
      TRY(act(w, a));
      TRY(wait(w->number));
      const double seconds = now(o->clock) - start;
      if (i >= 0) times_add(&times[a], seconds, seconds);
    }
  }
  for (int a = 0; a < NUM_ACTIONS; a++) medians[a] = times_median(&times[a]);
  return CEED_ERROR_SUCCESS;
}

// ---- The table ----

static void print_heading(const char *resource) {
  printf("%s, milliseconds\n%-5s %s %9s %11s %9s %9s %9s %7s %9s %9s %7s\n", resource, "shape", "p", "dofs",
         "nonzeros", "symbolic", "write", "run", "/ write", "apply", "diagonal", "/ apply");
}

static int time_operator(Ceed ceed, const Options *o, bool is_tet, int order, CeedOperator op) {
  Work w = {.op = op};
  double s[NUM_ACTIONS] = {0};
  int ierr = create_work(ceed, o->clock, &w);
  if (!ierr) ierr = time_actions(&w, o, s);
  if (!ierr)
    printf("%-5s %d %9lld %11lld %9.3f %9.3f %9.3f %7.2f %9.3f %9.3f %7.2f\n", is_tet ? "tet" : "hex", order,
           (long long)w.num_rows, (long long)w.num_nonzeros, 1e3 * w.symbolic, 1e3 * s[WRITE], 1e3 * s[RUN],
           s[RUN] / s[WRITE], 1e3 * s[APPLY], 1e3 * s[DIAGONAL], s[DIAGONAL] / s[APPLY]);
  (void)fflush(stdout);
  destroy_work(&w);
  return ierr;
}

static int run_row(Ceed ceed, const Options *o, bool is_tet, int order) {
  RitzMesh mesh = NULL;
  CeedOperator op = NULL;
  int ierr = create_mesh(ceed, is_tet, order, o->size, &mesh);
  if (!ierr) ierr = create_operator(ceed, o, mesh, is_tet, order, &op);
  if (!ierr) ierr = time_operator(ceed, o, is_tet, order, op);
  (void)CeedOperatorDestroy(&op);
  (void)RitzMeshDestroy(&mesh);
  return ierr;
}

static int run_rows(const Options *o) {
  static int first_orders[] = {1, 2, 3};
  const ArgInts orders = args_or_else(o->orders, 3, first_orders);
  Ceed ceed = NULL;
  int ierr = CeedInit(o->resource, &ceed);
  if (!ierr) print_heading(o->resource);
  for (size_t i = 0; i < orders.num && !ierr; i++) {
    for (int is_tet = 0; is_tet < 2 && !ierr; is_tet++) {
      if (o->shape == BOTH_SHAPES || is_tet == (o->shape == TET))
        ierr = run_row(ceed, o, is_tet, orders.items[i]);
    }
  }
  (void)CeedDestroy(&ceed);
  return ierr ? 1 : 0;
}

int main(int argc, char **argv) {
  Options o = {.resource = "/cpu/self/gen", .repetitions = 7, .size = 2e5};
  setenv("RITZ_WAIT", "1", 0);
  const ArgsResult parsed = args_parse(&command, argc, argv, &o);
  const int code = parsed == ARGS_RUN ? run_rows(&o) : parsed == ARGS_HELP ? 0 : 2;
  args_free(&command, &o);
  return code;
}
