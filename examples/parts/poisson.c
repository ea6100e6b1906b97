// SPDX-License-Identifier: BSD-2-Clause
// Poisson's equation -div grad u = 1 with u = 0 on the boundary, on a mesh in parts. Parts are threads of one
// process, or processes of MPI where it is compiled so:
//
//     cc examples/parts/poisson.c $(pkg-config --cflags --libs ritz) -lm -o poisson
//     ./poisson --parts 4
//
//     mpicc -DRITZ_WITH_MPI examples/parts/poisson.c $(pkg-config --cflags --libs ritz) -lm -o poisson
//     mpiexec -n 4 ./poisson
//
//     poisson [--mesh FILE] [--box N] [--refine LEVELS] [--order P] [--ceed RESOURCE] [--parts N]
//             [--method multigrid|jacobi] [--fail PART]
//
// Prints, from part 0, sizes, iterations and the energy u . b to 13 digits, which does not depend on the
// number of parts but for rounding. --fail: that part ends with an error instead of solving, to see what
// others do.
#include <ritz.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef RITZ_WITH_MPI
#include <ritz/mpi.h>
#endif

#define TRY(expr)                                                                                            \
  do {                                                                                                       \
    const int ierr_ = (expr);                                                                                \
    if (ierr_) return ierr_;                                                                                 \
  } while (0)

typedef struct {
  const char *mesh, *resource;
  int box, levels, order, num_parts, fails;
  bool has_multigrid; // flexible conjugate gradients with V-cycles, else conjugate gradients with Jacobi
} Options;

// Everything of one part.
typedef struct {
  Ceed ceed;
  RitzMesh mesh;
  RitzSpace space;
  RitzGeometry geometry;
  CeedOperator inside, seam, mass; // without ghosts, with ghosts; of all elements
  RitzExchange exchange;
  RitzPartOperator op;
  RitzIndices boundary;
  RitzPreconditioner multigrid; // NULL: Jacobi
  RitzSolver solver;
  CeedVector b, x, diagonal;
} Part;

// ---- Mesh and space ----

static int make_whole(const Options *o, Ceed ceed, RitzMesh *whole) {
  const CeedInt n[] = {o->box, o->box, o->box};

  if (o->mesh) return RitzMeshRead(ceed, o->mesh, whole);
  return RitzMeshCreateBox(ceed, 3, n, NULL, NULL, 1, NULL, NULL, whole);
}

// All parts cut the whole mesh alike, keep their own elements, and refine them.
static int make_mesh(const Options *o, const RitzTransport *t, Part *p) {
  RitzMesh whole = NULL, coarse = NULL;
  int64_t num_elem = 0;

  TRY(make_whole(o, p->ceed, &whole));
  TRY(RitzMeshGetNumElements(whole, &num_elem));
  int32_t *parts = malloc((size_t)num_elem * sizeof(*parts));

  TRY(RitzMeshPartition(whole, RITZ_PARTITION_AUTO, t->num_parts, NULL, parts));
  TRY(RitzMeshCreateSubmesh(whole, t->num_parts, parts, t->part, &coarse));
  free(parts);
  TRY(RitzMeshDestroy(&whole));
  TRY(RitzMeshRefine(coarse, o->levels, &p->mesh));
  TRY(RitzMeshDestroy(&coarse));
  return RitzSpaceCreate(p->mesh, o->order, 1, &p->space);
}

// ---- Operators ----

// Diffusion on the elements without ghosts and on the others, either of which there may be none of.
static int make_diffusion(Ceed ceed, RitzSpace space, CeedOperator *inside, CeedOperator *seam) {
  RitzOperatorOptions options = {.kind = RITZ_OPERATOR_DIFFUSION, .space = space};
  RitzGeometry geometry = NULL;
  RitzMesh mesh = NULL;

  TRY(RitzSpaceGetMesh(space, &mesh));
  TRY(RitzGeometryCreate(mesh, -1, &geometry));
  options.elements = RITZ_ELEMENTS_INSIDE;
  TRY(RitzGeometryCreateOperator(geometry, ceed, &options, inside));
  options.elements = RITZ_ELEMENTS_SEAM;
  TRY(RitzGeometryCreateOperator(geometry, ceed, &options, seam));
  return RitzGeometryDestroy(&geometry);
}

static int make_operators(const RitzTransport *t, Part *p) {
  const RitzOperatorOptions options = {.kind = RITZ_OPERATOR_MASS, .space = p->space};

  TRY(make_diffusion(p->ceed, p->space, &p->inside, &p->seam));
  TRY(RitzGeometryCreate(p->mesh, -1, &p->geometry));
  TRY(RitzGeometryCreateOperator(p->geometry, p->ceed, &options, &p->mass));
  TRY(RitzExchangeCreate(p->space, p->ceed, t, &p->exchange));
  return RitzPartOperatorCreate(p->exchange, p->inside, p->seam, &p->op);
}

// b = M 1, with what other parts add to owned entries.
static int make_vectors(Part *p) {
  CeedSize size = 0;
  int64_t num = 0, *nodes = NULL;

  TRY(RitzSpaceGetSize(p->space, &size));
  TRY(CeedVectorCreate(p->ceed, size, &p->b));
  TRY(CeedVectorCreate(p->ceed, size, &p->x));
  TRY(CeedVectorCreate(p->ceed, size, &p->diagonal));
  TRY(CeedVectorSetValue(p->x, 1));
  TRY(CeedVectorSetValue(p->b, 0));
  if (p->mass) TRY(CeedOperatorApply(p->mass, p->x, p->b, CEED_REQUEST_IMMEDIATE));
  TRY(RitzExchangeRun(p->exchange, RITZ_EXCHANGE_TO_OWNERS, p->b));
  TRY(RitzPartOperatorGetDiagonal(p->op, p->diagonal));
  TRY(CeedVectorSetValue(p->x, 0));
  TRY(RitzSpaceGetBoundaryNodes(p->space, "all", &num, &nodes));
  TRY(RitzIndicesCreate(p->ceed, num, nodes, &p->boundary));
  free(nodes);
  return CEED_ERROR_SUCCESS;
}

// ---- The solve ----

static int make_level(void *ctx, CeedInt level, RitzSpace space, CeedOperator *inside, CeedOperator *seam) {
  const Part *p = ctx;

  (void)level;
  return make_diffusion(p->ceed, space, inside, seam);
}

// Lower degrees, then the meshes before refinement.
static int make_multigrid(const RitzTransport *t, Part *p) {
  const RitzFixedPart fixed = {.part = "all"};
  RitzHierarchy hierarchy = NULL;

  TRY(RitzHierarchyCreate(p->space, NULL, &hierarchy));
  TRY(RitzPreconditionerCreatePartMultigrid(p->ceed, hierarchy, t, make_level, p, 1, &fixed, NULL,
                                            &p->multigrid));
  return RitzHierarchyDestroy(&hierarchy);
}

static int solve(const Options *o, const RitzTransport *t, Part *p) {
  TRY(RitzSolverCreate(p->ceed, o->has_multigrid ? RITZ_SOLVER_FLEXIBLE_CG : RITZ_SOLVER_CG, &p->solver));
  TRY(RitzSolverSetTolerances(p->solver, sizeof(CeedScalar) == 4 ? 1e-5 : 1e-12, 0, 5000));
  if (o->has_multigrid) TRY(make_multigrid(t, p));
  TRY(o->has_multigrid ? RitzSolverSetPreconditioner(p->solver, p->multigrid)
                       : RitzSolverSetJacobi(p->solver, p->diagonal));
  TRY(RitzSolverSetPartOperator(p->solver, p->op, p->boundary));
  return RitzSolverSolve(p->solver, p->b, p->x);
}

static int report(const RitzTransport *t, Part *p) {
  CeedSize num_owned = 0;
  CeedInt iterations = 0;
  RitzSolverReason reason = RITZ_ITERATING;
  double energy = 0;

  TRY(RitzExchangeGetNumOwned(p->exchange, &num_owned));
  TRY(RitzVectorDotRange(p->b, p->x, 0, num_owned, &energy));
  double sums[2] = {energy, (double)num_owned};

  TRY(RitzExchangeReduce(p->exchange, RITZ_REDUCTION_SUM, 2, sums));
  TRY(RitzSolverGetIterations(p->solver, &iterations));
  TRY(RitzSolverGetReason(p->solver, &reason));
  if (t->part > 0) return CEED_ERROR_SUCCESS;
  printf("parts       %d\nunknowns    %.0f\niterations  %d, %s\nenergy      %.13g\n", (int)t->num_parts,
         sums[1], (int)iterations, RitzSolverReasonName(reason), sums[0]);
  return CEED_ERROR_SUCCESS;
}

static int make_part(const Options *o, const RitzTransport *t, Part *p) {
  TRY(CeedInit(o->resource, &p->ceed));
  TRY(CeedSetErrorHandler(p->ceed, CeedErrorStore));
  if (o->fails == t->part)
    return CeedError(p->ceed, CEED_ERROR_MAJOR, "poisson: part %d was asked to fail", (int)t->part);
  TRY(make_mesh(o, t, p));
  TRY(make_operators(t, p));
  TRY(make_vectors(p));
  TRY(solve(o, t, p));
  return report(t, p);
}

static int run_part(void *ctx, const RitzTransport *t) {
  Part p = {0};
  const int code = make_part(ctx, t, &p);

  const char *message = "no context";

  if (code && p.ceed) CeedGetErrorMessage(p.ceed, &message);
  if (code) fprintf(stderr, "poisson: part %d of %d: %s\n", (int)t->part, (int)t->num_parts, message);
  RitzSolverDestroy(&p.solver);
  RitzPreconditionerDestroy(&p.multigrid);
  RitzIndicesDestroy(&p.boundary);
  RitzPartOperatorDestroy(&p.op);
  RitzExchangeDestroy(&p.exchange);
  CeedVectorDestroy(&p.b);
  CeedVectorDestroy(&p.x);
  CeedVectorDestroy(&p.diagonal);
  CeedOperatorDestroy(&p.inside);
  CeedOperatorDestroy(&p.seam);
  CeedOperatorDestroy(&p.mass);
  RitzGeometryDestroy(&p.geometry);
  RitzSpaceDestroy(&p.space);
  RitzMeshDestroy(&p.mesh);
  CeedDestroy(&p.ceed);
  return code;
}

// ---- Processes or threads ----

#ifdef RITZ_WITH_MPI
static int run_parts(Options *o) { return RitzRunRanks(MPI_COMM_WORLD, run_part, o); }
#else
static int run_parts(Options *o) {
  Ceed ceed = NULL;

  TRY(CeedInit("/cpu/self/ref", &ceed));
  TRY(CeedSetErrorHandler(ceed, CeedErrorStore));
  const int code = RitzRunParts(ceed, o->num_parts, run_part, o);
  const char *message = "";

  if (code) CeedGetErrorMessage(ceed, &message);
  if (code) fprintf(stderr, "poisson: %s\n", message);
  CeedDestroy(&ceed);
  return code;
}
#endif

static bool set_option(Options *o, const char *name, const char *text) {
  if (!strcmp(name, "--mesh")) return o->mesh = text, true;
  if (!strcmp(name, "--ceed")) return o->resource = text, true;
  if (!strcmp(name, "--box")) return sscanf(text, "%d", &o->box) == 1;
  if (!strcmp(name, "--refine")) return sscanf(text, "%d", &o->levels) == 1;
  if (!strcmp(name, "--order")) return sscanf(text, "%d", &o->order) == 1;
  if (!strcmp(name, "--parts")) return sscanf(text, "%d", &o->num_parts) == 1;
  if (!strcmp(name, "--fail")) return sscanf(text, "%d", &o->fails) == 1;
  if (strcmp(name, "--method") != 0) return false;
  o->has_multigrid = strcmp(text, "jacobi") != 0;
  return !o->has_multigrid || !strcmp(text, "multigrid");
}

int main(int argc, char **argv) {
  Options o = {NULL, "/cpu/self:threads=1", 8, 0, 3, 2, -1, true};
  int code = 0;

#ifdef RITZ_WITH_MPI
  MPI_Init(&argc, &argv);
#endif
  for (int i = 1; i < argc && !code; i += 2) {
    if (i + 1 < argc && set_option(&o, argv[i], argv[i + 1])) continue;
    fprintf(stderr,
            "usage: %s [--mesh FILE] [--box N] [--refine LEVELS] [--order P] [--ceed RESOURCE] [--parts N] "
            "[--method multigrid|jacobi] "
            "[--fail PART]\n",
            argv[0]);
    code = 2;
  }
  if (!code) code = run_parts(&o) ? 1 : 0;
#ifdef RITZ_WITH_MPI
  MPI_Finalize();
#endif
  return code;
}
