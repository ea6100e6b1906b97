// SPDX-License-Identifier: BSD-2-Clause
// BP1 and BP3 on tetrahedra beside what a program without Ritz would do at first: two matrix products of a
// BLAS and the QFunction between them, on one core, in turns with the operator on the same data. The
// BLAS begins and ends with values at the nodes of elements: it is spared gathering and scattering. It runs
// once over all elements, the two calls, and once in blocks of elements that stay in the second level cache.
//
//     bench-dgemm [--bp 1|3] [--order P] [--size DOFS] [--rounds N] [--ceed RESOURCE]
//
// Built where an OpenBLAS is found: `ninja ritz-bench-dgemm` (libopenblas-dev); no part of tests or of CI.
#define _POSIX_C_SOURCE 200809L

#include <cblas.h>
#include <ceed/backend.h>
#include <float.h>
#include <math.h>
#include <ritz/basis.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bp/problem.h"

#ifdef CEED_SCALAR_IS_FP32
#define GEMM cblas_sgemm
#else
#define GEMM cblas_dgemm
#endif

enum { BLOCK = 128, SQUARE = 768 };

// Data of all elements, by element: u, v [num_nodes], gradients du, dv [3][num_points] (values of BP1: one),
// factors [6][num_points] (BP1: one).
typedef struct {
  const BpProblem *problem;
  CeedInt num_values, num_factors; // at a point
  CeedQFunctionUser function;
  const CeedScalar *table; // [num_values][num_points][num_nodes]
  CeedScalar *u, *v, *du, *dv, *factors;
} Peer;

static double now(void) {
  struct timespec t;

  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---- The peer ----

static void run_points(const Peer *p, CeedInt num) {
  const CeedInt Q = p->problem->sizes->num_points;
  const CeedSize values = (CeedSize)p->num_values * Q, factors = (CeedSize)p->num_factors * Q;

  for (CeedInt e = 0; e < num; e++) {
    const CeedScalar *in[] = {p->du + e * values, p->factors + e * factors};
    CeedScalar *out[] = {p->dv + e * values};
    (void)p->function(NULL, Q, in, out);
  }
}

// Elements 0 .. num - 1 of what the peer points to.
static void run_elements(const Peer *p, CeedInt num) {
  const int P = p->problem->sizes->num_nodes, rows = p->num_values * p->problem->sizes->num_points;

  GEMM(CblasColMajor, CblasTrans, CblasNoTrans, rows, num, P, 1, p->table, P, p->u, P, 0, p->du, rows);
  run_points(p, num);
  GEMM(CblasColMajor, CblasNoTrans, CblasNoTrans, P, num, rows, 1, p->table, P, p->dv, rows, 0, p->v, P);
}

// In blocks, whose gradients overwrite each other.
static void run_blocks(const Peer *p) {
  const BpResult *r = p->problem->sizes;

  for (CeedInt e = 0; e < r->num_elem; e += BLOCK) {
    Peer block = *p;
    block.u += (CeedSize)e * r->num_nodes;
    block.v += (CeedSize)e * r->num_nodes;
    block.factors += (CeedSize)e * p->num_factors * r->num_points;
    run_elements(&block, CeedIntMin(BLOCK, r->num_elem - e));
  }
}

// ---- Its data ----

// E-vector of a vector, by element.
static int copy_elements(CeedElemRestriction rstr, CeedVector from, CeedScalar *to) {
  CeedInt num_elem, size, num_comp, layout[3];
  CeedVector e_vector = NULL;
  const CeedScalar *array = NULL;

  BP_TRY(CeedElemRestrictionGetNumElements(rstr, &num_elem));
  BP_TRY(CeedElemRestrictionGetElementSize(rstr, &size));
  BP_TRY(CeedElemRestrictionGetNumComponents(rstr, &num_comp));
  BP_TRY(CeedElemRestrictionGetELayout(rstr, layout));
  BP_TRY(CeedElemRestrictionCreateVector(rstr, NULL, &e_vector));
  BP_TRY(CeedElemRestrictionApply(rstr, CEED_NOTRANSPOSE, from, e_vector, CEED_REQUEST_IMMEDIATE));
  BP_TRY(CeedVectorGetArrayRead(e_vector, CEED_MEM_HOST, &array));
  for (CeedInt e = 0; e < num_elem; e++) {
    for (CeedInt c = 0; c < num_comp; c++) {
      for (CeedInt i = 0; i < size; i++) {
        *to++ = array[(CeedSize)e * layout[2] + (CeedSize)c * layout[1] + (CeedSize)i * layout[0]];
      }
    }
  }
  BP_TRY(CeedVectorRestoreArrayRead(e_vector, &array));
  CeedVectorDestroy(&e_vector);
  return CEED_ERROR_SUCCESS;
}

static int find_function(CeedOperator op, CeedQFunctionUser *function) {
  CeedQFunction qf = NULL;

  BP_TRY(CeedOperatorGetQFunction(op, &qf));
  BP_TRY(CeedQFunctionGetUserFunction(qf, function));
  return CeedQFunctionDestroy(&qf);
}

static int make_peer(const BpProblem *p, Peer *peer) {
  const BpResult *r = p->sizes;
  const bool is_mass = bp_is_mass(r->options.bp);
  const CeedSize nodes = (CeedSize)r->num_elem * r->num_nodes, points = (CeedSize)r->num_elem * r->num_points;

  *peer = (Peer){.problem = p, .num_values = is_mass ? 1 : 3, .num_factors = is_mass ? 1 : 6};
  BP_TRY(find_function(p->op, &peer->function));
  BP_TRY(is_mass ? CeedBasisGetInterp(p->basis_u, &peer->table) : CeedBasisGetGrad(p->basis_u, &peer->table));
  BP_TRY(bp_allocate(p->ceed, nodes, sizeof(CeedScalar), &peer->u));
  BP_TRY(bp_allocate(p->ceed, nodes, sizeof(CeedScalar), &peer->v));
  BP_TRY(bp_allocate(p->ceed, peer->num_values * points, sizeof(CeedScalar), &peer->du));
  BP_TRY(bp_allocate(p->ceed, peer->num_values * points, sizeof(CeedScalar), &peer->dv));
  BP_TRY(bp_allocate(p->ceed, peer->num_factors * points, sizeof(CeedScalar), &peer->factors));
  BP_TRY(copy_elements(p->rstr_qdata, p->qdata, peer->factors));
  return copy_elements(p->rstr_u, p->u, peer->u);
}

static void free_peer(Peer *peer) {
  free(peer->u);
  free(peer->v);
  free(peer->du);
  free(peer->dv);
  free(peer->factors);
}

// Largest difference of v between the two, relative to the largest entry.
static int find_difference(const Peer *peer, double *error) {
  const BpProblem *p = peer->problem;
  const BpResult *r = p->sizes;
  const CeedInt *offsets = NULL;
  const CeedScalar *v = NULL;
  double *sum = NULL, largest = 0;

  BP_TRY(bp_allocate(p->ceed, r->dofs, sizeof(*sum), &sum));
  BP_TRY(CeedElemRestrictionGetOffsets(p->rstr_u, CEED_MEM_HOST, &offsets));
  for (CeedSize i = 0; i < (CeedSize)r->num_elem * r->num_nodes; i++) sum[offsets[i]] += (double)peer->v[i];
  BP_TRY(CeedElemRestrictionRestoreOffsets(p->rstr_u, &offsets));
  BP_TRY(CeedVectorGetArrayRead(p->v, CEED_MEM_HOST, &v));
  for (CeedSize i = 0; i < r->dofs; i++) {
    *error = fmax(*error, fabs(sum[i] - (double)v[i]));
    largest = fmax(largest, fabs((double)v[i]));
  }
  *error /= largest;
  free(sum);
  return CeedVectorRestoreArrayRead(p->v, &v);
}

// ---- Timing ----

typedef struct {
  double operator, two_calls, blocks, product; // seconds; of one product of square matrices
} Seconds;

static void keep_least(double begin, double things, double *least) {
  *least = fmin(*least, (now() - begin) / things);
}

static int time_round(const Peer *peer, const CeedScalar *square, CeedScalar *result, Seconds *s) {
  const BpProblem *p = peer->problem;
  double begin = now();

  BP_TRY(CeedOperatorApply(p->op, p->u, p->v, CEED_REQUEST_IMMEDIATE));
  keep_least(begin, 1, &s->operator);
  begin = now();
  run_elements(peer, p->sizes->num_elem);
  keep_least(begin, 1, &s->two_calls);
  begin = now();
  run_blocks(peer);
  keep_least(begin, 1, &s->blocks);
  begin = now();
  GEMM(CblasColMajor, CblasNoTrans, CblasNoTrans, SQUARE, SQUARE, SQUARE, 1, square, SQUARE, square, SQUARE,
       0, result, SQUARE);
  keep_least(begin, 1, &s->product);
  return CEED_ERROR_SUCCESS;
}

static void print_dgemm_row(const BpResult *r, const Seconds *s, double error) {
  const double dofs = 1e-6 * (double)r->dofs, flops = 1e-9 * r->costs.flops;

  printf(
      "BP%d p = %d, %d nodes and %d points, %lld DOF: operator %.2f MDOF/s, %.1f GFLOP/s; two calls %.2f, "
      "%.1f; in blocks %.2f, %.1f; DGEMM of %d: %.1f GFLOP/s; ratio %.2f, to blocks %.2f; difference %.1e\n",
      r->options.bp, (int)r->options.order, (int)r->num_nodes, (int)r->num_points, (long long)r->dofs,
      dofs / s->operator, flops / s->operator, dofs / s->two_calls, flops / s->two_calls, dofs / s->blocks,
      flops / s->blocks, SQUARE, 2e-9 * SQUARE * SQUARE * (double)SQUARE / s->product,
      s->two_calls / s->operator, s->blocks / s->operator, error);
}

static int run_rounds(const Peer *peer, int num_rounds) {
  const BpProblem *p = peer->problem;
  Seconds seconds = {HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL};
  CeedScalar *square = NULL;
  double error = 0;

  BP_TRY(bp_allocate(p->ceed, 2 * SQUARE * SQUARE, sizeof(*square), &square));
  for (int i = 0; i < SQUARE * SQUARE; i++) square[i] = (CeedScalar)1 / (CeedScalar)(1 + i % 97);
  for (int i = 0; i < num_rounds; i++) BP_TRY(time_round(peer, square, square + SQUARE * SQUARE, &seconds));
  BP_TRY(find_difference(peer, &error));
  print_dgemm_row(p->sizes, &seconds, error);
  free(square);
  const double tolerance = 1000 * (sizeof(CeedScalar) == 4 ? FLT_EPSILON : DBL_EPSILON);
  return error <= tolerance ? CEED_ERROR_SUCCESS
                            : CeedError(p->ceed, CEED_ERROR_MAJOR, "results differ by %g", error);
}

// u without structure.
static int set_values(const BpProblem *p) {
  CeedScalar *u = NULL;

  BP_TRY(CeedVectorGetArrayWrite(p->u, CEED_MEM_HOST, &u));
  for (CeedSize i = 0; i < p->sizes->dofs; i++) u[i] = (CeedScalar)sin(1.0 + (double)(i * i % 10007));
  return CeedVectorRestoreArray(p->u, &u);
}

// ---- The program ----

static int time_dgemm(Ceed ceed, const BpOptions *options, int num_rounds) {
  BpResult sizes;
  BpProblem problem = {.ceed = ceed, .sizes = &sizes};
  Peer peer = {0};
  int ierr;

  BP_TRY(bp_predict(ceed, options, &sizes));
  ierr = bp_problem_create(&problem);
  if (!ierr) ierr = set_values(&problem);
  if (!ierr) ierr = make_peer(&problem, &peer);
  if (!ierr) ierr = run_rounds(&peer, num_rounds);
  free_peer(&peer);
  bp_problem_destroy(&problem);
  return ierr;
}

int main(int argc, char **argv) {
  static const BpShape tets = {CEED_TOPOLOGY_TET, RitzBasisCreateLagrange, RitzLagrangeNodes};
  BpOptions options = {.bp = 3, .shape = &tets, .order = 3, .size = 100000};
  const char *resource = "/cpu/self/gen:threads=1";
  int num_rounds = 50, ierr;
  Ceed ceed = NULL;

  for (int i = 1; i < argc; i += 2) {
    const int number = i + 1 < argc ? (int)strtod(argv[i + 1], NULL) : 0;
    if (!strcmp(argv[i], "--ceed") && i + 1 < argc) {
      resource = argv[i + 1];
    } else if (!strcmp(argv[i], "--bp") && (number == 1 || number == 3)) {
      options.bp = number;
    } else if (!strcmp(argv[i], "--order") && number > 0) {
      options.order = number;
    } else if (!strcmp(argv[i], "--size") && number > 0) {
      options.size = number;
    } else if (!strcmp(argv[i], "--rounds") && number > 0) {
      num_rounds = number;
    } else {
      fprintf(stderr,
              "usage: bench-dgemm [--bp 1|3] [--order P] [--size DOFS] [--rounds N] [--ceed RESOURCE]\n");
      return 2;
    }
  }
  openblas_set_num_threads(1);
  if (CeedInit(resource, &ceed)) return 1;
  ierr = time_dgemm(ceed, &options, num_rounds);
  CeedDestroy(&ceed);
  return ierr ? 1 : 0;
}
