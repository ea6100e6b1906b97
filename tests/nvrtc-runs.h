// SPDX-License-Identifier: BSD-2-Clause
// What runs on the played device of tests/nvrtc-kit.h, so that its kernels are compiled: operators of the
// benchmark set and others with each of their actions, sweeps over patches, batches of matrices. Included by
// tests/test-nvrtc-*.c.
#ifndef RITZ_TESTS_NVRTC_RUNS_H
#define RITZ_TESTS_NVRTC_RUNS_H

#include <stdlib.h>
#include <string.h>

#include <ritz/assembly.h>
#include <ritz/basis.h>
#include <ritz/operator.h>
#include <ritz/solver.h>

#include "backends/gpu/gpu.h"
#include "bench/vector-problem.h"
#include "bp/problem.h"
#include "core/batched.h"
#include "core/dense-solver.h"
#include "tests/geometry-problem.h"
#include "tests/nvrtc-kit.h"
#include "tests/patch-kit.h"
#include "tests/points-problem.h"
#include "tests/precision-fields.h"

// ---- Operators of the benchmark set ----

static inline int apply_to_ones(CeedOperator op, CeedVector u, CeedVector v) {
  CeedCall(CeedVectorSetValue(u, 1));
  return CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE);
}

// Eight elements: strides that depend on the mesh are larger than those in an element, hence arguments, and
// kernels are those of any larger mesh. `look`: at the operator, after an apply; may be NULL.
static inline int run_bp_on(Ceed ceed, const BpShape *tets, int bp, CeedInt order,
                            int (*look)(CeedOperator op)) {
  BpResult sizes = {.options = {.bp = bp, .shape = tets, .order = order, .n = 2}};
  BpProblem problem = {.ceed = ceed, .sizes = &sizes};

  snprintf(running, sizeof(running), "BP%d of degree %d", bp, (int)order);
  CeedCall(bp_choose_sizes(ceed, &sizes));
  int ierr = bp_problem_create(&problem);
  if (!ierr) ierr = apply_to_ones(problem.op, problem.u, problem.v);
  if (!ierr && look) ierr = look(problem.op);
  bp_problem_destroy(&problem);
  return ierr;
}

static inline int run_bp(Ceed ceed, int bp, CeedInt order, int (*look)(CeedOperator op)) {
  return run_bp_on(ceed, NULL, bp, order, look);
}

// Arithmetic, factors and active vectors.
static inline int run_single_bp(Ceed ceed, int bp, CeedInt order) {
  BpResult sizes = {.options = {.bp = bp, .order = order, .n = 2}};
  BpProblem problem = {.ceed = ceed, .sizes = &sizes};
  CeedVector u = NULL, v = NULL;

  snprintf(running, sizeof(running), "BP%d of degree %d in single precision", bp, (int)order);
  CeedCall(bp_choose_sizes(ceed, &sizes));
  int ierr = bp_problem_create(&problem);
  if (!ierr) ierr = RitzOperatorSetPrecision(problem.op, CEED_SCALAR_FP32);
  if (!ierr) ierr = precision_change(problem.op, &problem.qdata, CEED_SCALAR_FP32);
  if (!ierr) ierr = CeedVectorSetValue(problem.u, 1);
  if (!ierr) ierr = precision_copy(problem.u, CEED_SCALAR_FP32, &u);
  if (!ierr) ierr = RitzVectorCreate(ceed, problem.op->output_size, CEED_SCALAR_FP32, &v);
  if (!ierr) ierr = CeedOperatorApply(problem.op, u, v, CEED_REQUEST_IMMEDIATE);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  bp_problem_destroy(&problem);
  return ierr;
}

// Of tensor bases and of dense ones, some of which have parts of each shape.
static inline int run_products(Ceed ceed, CeedInt order, bool is_tet) {
  static const BpShape tets = {CEED_TOPOLOGY_TET, RitzBasisCreateLagrange, RitzLagrangeNodes};
  BpResult sizes = {.options = {.bp = 3, .order = order, .n = 1, .shape = is_tet ? &tets : NULL}};
  BpProblem problem = {.ceed = ceed, .sizes = &sizes};

  snprintf(running, sizeof(running), "products of BP3 of degree %d", (int)order);
  CeedCall(bp_choose_sizes(ceed, &sizes));
  int ierr = bp_problem_create(&problem);
  if (!ierr) ierr = RitzOperatorSetRoute(problem.op, RITZ_OPERATOR_ROUTE_GEMM_OWN);
  if (!ierr) ierr = apply_to_ones(problem.op, problem.u, problem.v);
  bp_problem_destroy(&problem);
  return ierr;
}

// ---- Other actions: what is done with an operator after an apply ----

// An apply to three vectors after that to one, whose program is not counted: another test may have left it
// loaded.
static inline int apply_three(CeedOperator op) {
  CeedVector in[3] = {NULL, NULL, NULL}, out[3] = {NULL, NULL, NULL};
  int ierr = CEED_ERROR_SUCCESS;

  for (int k = 0; !ierr && k < 3; k++) {
    ierr = CeedVectorCreate(op->obj.ceed, op->input_size, &in[k]);
    if (!ierr) ierr = CeedVectorSetValue(in[k], 1);
    if (!ierr) ierr = CeedVectorCreate(op->obj.ceed, op->output_size, &out[k]);
  }
  totals = (Totals){0};
  fused = (Fused){0};
  if (!ierr) ierr = RitzOperatorApplyMany(op, 3, in, out);
  for (int k = 0; k < 3; k++) {
    CeedVectorDestroy(&in[k]);
    CeedVectorDestroy(&out[k]);
  }
  return ierr;
}

static inline int assemble_blocks(CeedOperator op) {
  CeedSize input_size, output_size;
  CeedVector blocks = NULL;

  CeedCall(CeedOperatorGetActiveVectorLengths(op, &input_size, &output_size));
  CeedCall(CeedVectorCreate(op->obj.ceed, 3 * output_size, &blocks));
  const int ierr = CeedOperatorLinearAssemblePointBlockDiagonal(op, blocks, CEED_REQUEST_IMMEDIATE);
  CeedVectorDestroy(&blocks);
  return ierr;
}

static inline int assemble_qfunction(CeedOperator op) {
  CeedElemRestriction rstr = NULL;
  CeedVector D = NULL;
  const int ierr = CeedOperatorLinearAssembleQFunction(op, &D, &rstr, CEED_REQUEST_IMMEDIATE);

  CeedVectorDestroy(&D);
  CeedElemRestrictionDestroy(&rstr);
  return ierr;
}

static inline int assemble_triples(CeedOperator op) {
  CeedVector values = NULL;
  CeedSize num;

  CeedCall(CeedOperatorLinearAssembleGetNumEntries(op, &num));
  CeedCall(CeedVectorCreate(op->obj.ceed, num, &values));
  const int ierr = CeedOperatorLinearAssemble(op, values);
  CeedVectorDestroy(&values);
  return ierr;
}

static inline int assemble_in_pattern(CeedOperator op) {
  const int64_t *row_starts;
  CeedSize num_rows;
  CeedVector values = NULL;
  RitzAssembly assembly = NULL;

  CeedCall(RitzAssemblyCreate(op, &assembly));
  int ierr = RitzAssemblyGetPattern(assembly, &num_rows, NULL, &row_starts, NULL);
  if (!ierr) ierr = CeedVectorCreate(op->obj.ceed, row_starts[num_rows], &values);
  if (!ierr) ierr = RitzAssemblyRun(assembly, values);
  CeedVectorDestroy(&values);
  RitzAssemblyDestroy(&assembly);
  return ierr;
}

static inline int solve_once(CeedOperator op, CeedVector b, CeedVector x) {
  RitzCGVariant used = RITZ_CG_AUTO;
  RitzSolver solver = NULL;

  CeedCall(RitzSolverCreateCG(op->obj.ceed, &solver));
  int ierr = RitzSolverSetOperator(solver, op);
  if (!ierr) ierr = RitzSolverSetJacobi(solver, b);
  if (!ierr) ierr = RitzSolverSetTolerances(solver, 0, 0, 1);
  if (!ierr) ierr = RitzSolverSolve(solver, b, x);
  if (!ierr) ierr = RitzSolverGetVariantUsed(solver, &used, NULL);
  RitzSolverDestroy(&solver);
  return !ierr && used != RITZ_CG_MERGED ? CEED_ERROR_MAJOR : ierr;
}

// One merged iteration, of which the last kernel that is compiled for the operator gives A p and p . A p.
static inline int run_conjugate_gradients(CeedOperator op) {
  CeedVector b = NULL, x = NULL;
  int ierr = CeedVectorCreate(op->obj.ceed, op->input_size, &b);

  reads_ones = true;
  if (!ierr) ierr = CeedVectorCreate(op->obj.ceed, op->input_size, &x);
  if (!ierr) ierr = CeedVectorSetValue(b, 1);
  if (!ierr) ierr = CeedVectorSetValue(x, 0);
  if (!ierr) ierr = solve_once(op, b, x);
  reads_ones = false;
  CeedVectorDestroy(&b);
  CeedVectorDestroy(&x);
  return ierr;
}

// ---- Other operators ----

static inline int run_vector(Ceed ceed, const VectorShape *shape) {
  VectorProblem p;

  snprintf(running, sizeof(running), "%s, order %d in %dD",
           shape->mode == CEED_EVAL_DIV ? "div div" : "curl curl", (int)shape->order, (int)shape->dim);
  int ierr = vector_problem_create(ceed, shape, &p);
  if (!ierr) ierr = apply_to_ones(p.op, p.u, p.v);
  vector_problem_destroy(&p);
  return ierr;
}

static inline int run_geometry(Ceed ceed, const GeometryShape *s, int (*look)(CeedOperator op)) {
  GeometryProblem p;

  snprintf(running, sizeof(running), "BP%d %s of degree %d", s->bp, s->is_affine ? "affine" : "trilinear",
           (int)s->order);
  int ierr = geometry_create(ceed, s, &p);
  if (!ierr) ierr = CeedOperatorApply(p.op, p.u, p.v, CEED_REQUEST_IMMEDIATE);
  if (!ierr && look) ierr = look(p.op);
  geometry_destroy(&p);
  return ierr;
}

static inline int apply_at_points(Ceed ceed, const PointsShape *shape, PointsKind kind, char **text) {
  PointsProblem p = {0};
  const char *source, *user;

  CeedCall(points_problem_create(ceed, shape, kind, &p));
  int ierr = points_problem_fill(&p);
  if (!ierr) ierr = CeedOperatorApply(p.op, p.u, p.v, CEED_REQUEST_IMMEDIATE);
  if (!ierr && text) {
    ierr = RitzOperatorGetSource(p.op, &source);
    user = ierr ? NULL : strstr(source, "\n// ---- The user's text");
    if (!ierr) *text = strndup(source, user ? (size_t)(user - source) : strlen(source));
  }
  points_problem_destroy(&p);
  return ierr;
}

// ---- Patches and batches ----

static inline int run_patch_sweep(Ceed ceed, const PatchCase *c) {
  RitzPatchSweep sweep = NULL;
  CeedVector b = NULL, x = NULL;
  CeedCall(patch_sweep(ceed, c, &sweep));
  int ierr = RitzVectorCreate(ceed, sweep->length, c->precision, &b);
  if (!ierr) ierr = RitzVectorCreate(ceed, sweep->length, c->precision, &x);
  if (!ierr) ierr = CeedVectorSetValue(b, 1);
  if (!ierr) ierr = ritz_patch_sweep_run(sweep, b, x, true, false);
  CeedVectorDestroy(&b);
  CeedVectorDestroy(&x);
  return ierr | ritz_patch_sweep_destroy(&sweep);
}

// Queues nothing: the kernel is compiled. m = n = k, one right-hand side of solves. Registers: a table.
static inline int run_batched(Ceed ceed, RitzBatchedOperation op, CeedInt n, CeedScalarType precision,
                              bool is_uniform) {
  const bool has_matrix = op == RITZ_BATCHED_GEMM || op == RITZ_BATCHED_INV || op == RITZ_BATCHED_TRSM ||
                          op == RITZ_BATCHED_SYRK || op == RITZ_BATCHED_SYMM || op == RITZ_BATCHED_TRMM ||
                          op == RITZ_BATCHED_COPY || op == RITZ_BATCHED_GEAM;
  const RitzBatchLayout square = {.precision = precision, .m = n, .n = n},
                        other = {.precision = precision, .m = n, .n = has_matrix ? n : 1};
  const RitzBatchedOptions options = {.A = square, .B = other, .C = other, .vectors = RITZ_VECTORS_NONE};
  const RitzBatchedCall call = {.count = 1, .alpha = 1, .is_uniform = is_uniform};
  RitzBatched batched = NULL;
  CeedCall(RitzBatchedCreate(ceed, op, &options, &batched));
  const int ierr = batched->server->batched_run(batched, &call);
  return ierr | RitzBatchedDestroy(&batched);
}

static inline int run_dense(Ceed ceed, RitzDensePrecision precision) {
  const RitzDenseUpdate update = {64, 32, 64, 32, 0, 64, false, false, precision};
  RitzDenseSolver s;
  CeedCall(RitzDenseSolverCreate(ceed, 96, &s));
  int ierr = s->methods->measure(s, &(bool){false});
  if (!ierr) ierr = s->methods->load(s, precision == RITZ_DENSE_F64, 0) || s->methods->panel(s, 0, 32);
  if (!ierr) ierr = s->methods->update(s, &update);
  if (!ierr) ierr = s->methods->solve(s, false, ritz_dense_vector(s, RITZ_DENSE_X));
  return ierr | RitzDenseSolverDestroy(&s);
}

#endif
