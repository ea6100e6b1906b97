// SPDX-License-Identifier: BSD-2-Clause
// The bake-off problems: costs, checks, timing, conjugate gradients. Includes the public Ceed header and
// nothing else of any library, so that it compiles against every implementation.
#define _POSIX_C_SOURCE 200809L

#include "bp/bp.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "bp/problem.h"
#include "bp/times.h"

static const double own_eps = sizeof(CeedScalar) == 4 ? FLT_EPSILON : DBL_EPSILON;

static double eps_of(const BpResult *r) { return r->options.single ? FLT_EPSILON : own_eps; }

bool bp_checks_hold(const BpResult *result) {
  for (int i = 0; i < result->num_checks; i++) {
    if (!(result->checks[i].error <= result->checks[i].tolerance)) return false;
  }
  return true;
}

// ---- Sums ----

// Sum of a_i b_i with eight partial sums.
static double dot(CeedSize n, const CeedScalar *a, const CeedScalar *b) {
  double part[8] = {0};
  CeedSize i = 0;

  for (; i + 8 <= n; i += 8) {
    for (int l = 0; l < 8; l++) part[l] += (double)a[i + l] * b[i + l];
  }
  for (; i < n; i++) part[0] += (double)a[i] * b[i];
  return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

// Compensated (Neumaier): rounding of many equal terms has one sign and would add up.
static double sum(CeedSize n, const CeedScalar *a) {
  double value = 0, rest = 0;

  for (CeedSize i = 0; i < n; i++) {
    double term = (double)a[i], total = value + term;
    rest += fabs(value) >= fabs(term) ? (value - total) + term : (term - total) + value;
    value = total;
  }
  return value + rest;
}

static double largest(CeedSize n, const CeedScalar *a) {
  double max = 0;

  for (CeedSize i = 0; i < n; i++) {
    if (!(fabs((double)a[i]) <= max)) max = fabs((double)a[i]); // NaN gets through
    if (isnan(max)) break;
  }
  return max;
}

// ---- Fixed vectors ----

// Entry i of a vector without structure, in [-1,1): the same on every machine (a step of splitmix64).
static CeedScalar scrambled(CeedSize i) {
  uint64_t z = ((uint64_t)i + 1) * 0x9e3779b97f4a7c15u;

  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return (CeedScalar)((double)(z >> 11) * 0x1p-52 - 1);
}

static int set_scrambled(const BpProblem *p) {
  CeedScalar *u = NULL;

  BP_TRY(CeedVectorGetArrayWrite(p->u, CEED_MEM_HOST, &u));
  for (CeedSize i = 0; i < p->sizes->dofs; i++) u[i] = scrambled(i);
  return CeedVectorRestoreArray(p->u, &u);
}

// Positions x [3 num] of all nodes.
static int find_positions(const BpProblem *p, CeedSize num, double *x) {
  const BpResult *r = p->sizes;
  CeedScalar *q_ref = NULL;
  double *t1d = NULL;
  int ierr;

  if (r->options.shape) return bp_shape_node_positions(p, r->options.order, x);
  BP_TRY(bp_allocate(p->ceed, r->P, sizeof(*q_ref), &q_ref));
  ierr = bp_allocate(p->ceed, r->P, sizeof(*t1d), &t1d);
  if (!ierr) ierr = CeedLobattoQuadrature(r->P, q_ref, NULL);
  for (CeedInt i = 0; i < r->P && !ierr; i++) t1d[i] = 0.5 * (1 + (double)q_ref[i]);
  for (CeedSize k = 0; k < num && !ierr; k++) bp_node_position(r, r->options.order, t1d, k, x + 3 * k);
  free(q_ref);
  free(t1d);
  return ierr;
}

// u = x + 2 y + 3 z in every component, interpolated at the nodes.
static int set_linear(const BpProblem *p) {
  const BpResult *r = p->sizes;
  const CeedSize num = r->dofs / r->num_comp;
  CeedScalar *u = NULL;
  double *x = NULL;
  int ierr;

  BP_TRY(bp_allocate(p->ceed, 3 * num, sizeof(*x), &x));
  ierr = find_positions(p, num, x);
  if (!ierr) ierr = CeedVectorGetArrayWrite(p->u, CEED_MEM_HOST, &u);
  if (!ierr) {
    for (CeedSize i = 0; i < r->dofs; i++) {
      const double *at = x + 3 * (i / r->num_comp);
      u[i] = (CeedScalar)(at[0] + 2 * at[1] + 3 * at[2]);
    }
    ierr = CeedVectorRestoreArray(p->u, &u);
  }
  free(x);
  return ierr;
}

// ---- Applies ----

static int apply_once(const BpProblem *p) {
  return CeedOperatorApply(p->op, p->in, p->out, CEED_REQUEST_IMMEDIATE);
}

// The input as u has it; v as the output has it.
static int give_input(const BpProblem *p) {
  const BpSingle *single = p->sizes->options.single;
  return single ? single->convert(p->u, p->in) : CEED_ERROR_SUCCESS;
}

static int take_output(const BpProblem *p) {
  const BpSingle *single = p->sizes->options.single;
  return single ? single->convert(p->out, p->v) : CEED_ERROR_SUCCESS;
}

// Seconds until the results of all applies are there: a norm waits for a device.
static int time_batch(const BpProblem *p, int applies, double *seconds) {
  CeedScalar norm;
  double start = times_now();

  for (int i = 0; i < applies; i++) BP_TRY(apply_once(p));
  if (p->on_device) BP_TRY(CeedVectorNorm(p->out, CEED_NORM_MAX, &norm));
  *seconds = times_now() - start;
  return CEED_ERROR_SUCCESS;
}

// ---- Checks ----

// Numbers that a check compares after v = A u.
typedef struct {
  double uv, sum, max; // u . v, sum of v, largest |v|
} Products;

static int apply_and_look(const BpProblem *p, Products *products) {
  const CeedScalar *u = NULL, *v = NULL;
  CeedSize n = p->sizes->dofs;

  BP_TRY(give_input(p));
  BP_TRY(apply_once(p));
  BP_TRY(take_output(p));
  BP_TRY(CeedVectorGetArrayRead(p->u, CEED_MEM_HOST, &u));
  BP_TRY(CeedVectorGetArrayRead(p->v, CEED_MEM_HOST, &v));
  products->uv = dot(n, u, v);
  products->max = largest(n, v);
  products->sum = sum(n, v);
  BP_TRY(CeedVectorRestoreArrayRead(p->v, &v));
  return CeedVectorRestoreArrayRead(p->u, &u);
}

static void add_check(BpResult *r, const char *name, double error, double tolerance) {
  r->checks[r->num_checks++] = (BpCheck){.name = name, .error = error, .tolerance = tolerance};
}

// The displacement keeps the boundary, and the shear the volume, so that this stays 1 and the trilinear
// elements fill it. Weights and interpolation in three directions, both ways, carry a few P eps each.
static int check_mass(const BpProblem *p, BpResult *r) {
  Products ones;

  BP_TRY(CeedVectorSetValue(p->u, 1));
  BP_TRY(apply_and_look(p, &ones));
  add_check(r, "sum(A 1) = volume", fabs(ones.sum / r->num_comp - 1), 100 * eps_of(r) * r->P);
  return CEED_ERROR_SUCCESS;
}

// Derivatives at the points carry an error of eps P^2 / h. That of the energy is relative to values of size 1
// whose differences matter: another factor of the nodes per direction. The energy is exact when the
// quadrature integrates det J, of degree 2 per direction on deformed elements.
static int check_diffusion(const BpProblem *p, BpResult *r, double max_scrambled) {
  Products ones, linear;
  double P = r->P, lines = P * fmax(r->elements[0], fmax(r->elements[1], r->elements[2]));

  BP_TRY(CeedVectorSetValue(p->u, 1));
  BP_TRY(apply_and_look(p, &ones));
  add_check(r, "A 1 = 0", ones.max / max_scrambled, 100 * eps_of(r) * P * P);
  if (r->options.bp > 4 && r->options.order == 1 && r->options.deform != 0) return CEED_ERROR_SUCCESS;
  BP_TRY(set_linear(p));
  BP_TRY(apply_and_look(p, &linear));
  add_check(r, "energy of a linear function", fabs(linear.uv / (14.0 * r->num_comp) - 1),
            100 * eps_of(r) * P * P * lines);
  return CEED_ERROR_SUCCESS;
}

// Leaves the scrambled vector in u.
static int check_operator(const BpProblem *p, BpResult *r) {
  Products products;

  BP_TRY(set_scrambled(p));
  BP_TRY(give_input(p));
  BP_TRY(time_batch(p, 1, &r->seconds_first));
  BP_TRY(apply_and_look(p, &products));
  r->checksum = products.uv;
  if (bp_is_mass(r->options.bp))
    BP_TRY(check_mass(p, r));
  else
    BP_TRY(check_diffusion(p, r, products.max));
  BP_TRY(set_scrambled(p));
  return give_input(p);
}

// ---- Timing ----

// What a clock, or the wait for a device, does not disturb.
static double least_batch(const BpProblem *p) { return p->on_device ? 2e-2 : 1e-3; }

static bool want_more(const BpProblem *p, const Times *times) {
  return times_want_more(times, p->sizes->options.repetitions, 5, p->on_device ? 0.25 : 0.5);
}

// Smallest and median sample, divided by the number of things that each sample contains.
static void summarize(const BpProblem *p, Times *times, double things, BpResult *r) {
  r->seconds_min = times_least(times) / things;
  r->seconds_median = times_median(times) / things;
  r->seconds = p->on_device ? r->seconds_median : r->seconds_min;
  r->dofs_per_second = r->seconds > 0 ? (double)r->dofs / r->seconds : 0;
}

static int time_applies(const BpProblem *p, BpResult *r) {
  double seconds = 0;
  int batch = 1;

  BP_TRY(time_batch(p, 1, &seconds)); // warm up
  BP_TRY(time_batch(p, 1, &seconds));
  while (seconds < least_batch(p) && batch < 1 << 20) {
    batch *= 2;
    BP_TRY(time_batch(p, batch, &seconds));
  }

  Times times = {0};
  while (want_more(p, &times)) {
    BP_TRY(time_batch(p, batch, &seconds));
    times_add(&times, seconds, seconds);
  }
  summarize(p, &times, batch, r);
  return CEED_ERROR_SUCCESS;
}

// ---- Several vectors ----

typedef struct {
  CeedInt num;
  CeedVector *in, *out; // owned, [num]: all inputs are equal
} Vectors;

static void free_vectors(Vectors *v) {
  for (CeedInt k = 0; k < v->num; k++) {
    if (v->in) CeedVectorDestroy(&v->in[k]);
    if (v->out) CeedVectorDestroy(&v->out[k]);
  }
  free(v->in);
  free(v->out);
}

static int create_like(const BpProblem *p, CeedVector *vec) {
  const BpSingle *single = p->sizes->options.single;
  return single ? single->create(p->ceed, p->sizes->dofs, vec)
                : CeedVectorCreate(p->ceed, p->sizes->dofs, vec);
}

static int create_vectors(const BpProblem *p, Vectors *v) {
  v->in = calloc((size_t)v->num, sizeof(CeedVector));
  v->out = calloc((size_t)v->num, sizeof(CeedVector));
  if (!v->in || !v->out) return CeedError(p->ceed, CEED_ERROR_MAJOR, "no memory for vectors");
  for (CeedInt k = 0; k < v->num; k++) {
    BP_TRY(create_like(p, &v->in[k]));
    BP_TRY(create_like(p, &v->out[k]));
    BP_TRY(CeedVectorCopy(p->in, v->in[k]));
  }
  return CEED_ERROR_SUCCESS;
}

static int time_many_batch(const BpProblem *p, const Vectors *v, CeedInt num, int applies, double *seconds) {
  CeedScalar norm;
  double start = times_now();

  for (int i = 0; i < applies; i++) BP_TRY(p->sizes->options.many->apply(p->op, num, v->in, v->out));
  if (p->on_device) BP_TRY(CeedVectorNorm(v->out[num - 1], CEED_NORM_MAX, &norm));
  *seconds = times_now() - start;
  return CEED_ERROR_SUCCESS;
}

// The last output against that of one vector.
static int check_vectors(const BpProblem *p, const Vectors *v, BpResult *r) {
  CeedScalar error = 0, norm = 0;
  double seconds;

  BP_TRY(time_many_batch(p, v, v->num, 1, &seconds));
  BP_TRY(apply_once(p));
  BP_TRY(CeedVectorNorm(p->out, CEED_NORM_MAX, &norm));
  BP_TRY(CeedVectorAXPY(v->out[v->num - 1], -1, p->out));
  BP_TRY(CeedVectorNorm(v->out[v->num - 1], CEED_NORM_MAX, &error));
  add_check(r, "several vectors = one", (double)error / (double)norm, 100 * eps_of(r) * r->P);
  return CEED_ERROR_SUCCESS;
}

// Pairs of batches with as many vectors, of one and of `num` at a time; the median of the ratios.
static int time_pairs(const BpProblem *p, const Vectors *v, CeedInt num, double *ratio) {
  Times times = {0};
  double one, many;
  int batch = 1;

  BP_TRY(time_many_batch(p, v, num, 1, &many)); // warm up
  BP_TRY(time_many_batch(p, v, num, 1, &many));
  while (many * batch < least_batch(p) && batch < 1 << 20) batch *= 2;
  while (want_more(p, &times)) {
    BP_TRY(time_batch(p, batch * num, &one));
    BP_TRY(time_many_batch(p, v, num, batch, &many));
    times_add(&times, one / many, one + many);
  }
  *ratio = times_median(&times);
  return CEED_ERROR_SUCCESS;
}

static int time_many(const BpProblem *p, BpResult *r) {
  const BpMany *many = r->options.many;
  Vectors v = {.num = 1};

  for (int i = 0; i < many->num; i++) v.num = many->counts[i] > v.num ? many->counts[i] : v.num;
  int ierr = create_vectors(p, &v);
  if (!ierr) ierr = check_vectors(p, &v, r);
  for (int i = 0; !ierr && i < many->num; i++) ierr = time_pairs(p, &v, many->counts[i], &r->many[i]);
  free_vectors(&v);
  return ierr;
}

// ---- Conjugate gradients ----

// Direction and its image, or right-hand side and solution of a library's solver, are the vectors u and v of
// the problem.
typedef struct {
  CeedSize n;
  CeedInt num_masked;
  CeedInt *masked;     // owned: entries on the boundary
  CeedScalar *x, *r;   // owned, [n]; NULL for a library's solver
  double rr, first_rr; // r . r now and at the start
  void *solver;        // owned: the library's
  BpSolve last;
} Cg;

static void mask(const Cg *cg, CeedScalar *v) {
  for (CeedInt i = 0; i < cg->num_masked; i++) v[cg->masked[i]] = 0;
}

// Lists all entries of nodes on the surface of the box.
static int find_boundary(const BpProblem *p, Cg *cg) {
  const BpResult *r = p->sizes;
  CeedInt nodes[3], node[3];
  const CeedSize num = r->num_comp * bp_count_nodes(r, r->options.order, nodes);

  BP_TRY(bp_allocate(p->ceed, num, sizeof(CeedInt), &cg->masked));
  for (CeedInt i = 0; i < num; i++) {
    CeedInt k = i / r->num_comp;
    bool outside = false;
    for (int d = 0; d < 3; d++) {
      node[d] = k % nodes[d];
      k /= nodes[d];
      outside = outside || node[d] == 0 || node[d] == nodes[d] - 1;
    }
    if (outside) cg->masked[cg->num_masked++] = i;
  }
  return CEED_ERROR_SUCCESS;
}

// u = b, a masked vector without structure.
static int set_right_side(const BpProblem *p, const Cg *cg) {
  CeedScalar *u = NULL;

  BP_TRY(CeedVectorGetArrayWrite(p->u, CEED_MEM_HOST, &u));
  for (CeedSize i = 0; i < cg->n; i++) u[i] = scrambled(i);
  mask(cg, u);
  return CeedVectorRestoreArray(p->u, &u);
}

// x = 0 and r = p = b.
static int cg_start(const BpProblem *p, Cg *cg) {
  const CeedScalar *u = NULL;

  BP_TRY(set_right_side(p, cg));
  BP_TRY(CeedVectorGetArrayRead(p->u, CEED_MEM_HOST, &u));
  for (CeedSize i = 0; i < cg->n; i++) cg->x[i] = 0, cg->r[i] = u[i];
  BP_TRY(CeedVectorRestoreArrayRead(p->u, &u));
  cg->rr = cg->first_rr = dot(cg->n, cg->r, cg->r);
  return CEED_ERROR_SUCCESS;
}

// x += alpha u, r -= alpha v in one pass; returns r . r.
static double cg_update(Cg *cg, double alpha, const CeedScalar *u, const CeedScalar *v) {
  double part[8] = {0};
  CeedScalar *x = cg->x, *r = cg->r;
  CeedSize i = 0;

  for (; i + 8 <= cg->n; i += 8) {
    for (int l = 0; l < 8; l++) {
      x[i + l] = (CeedScalar)(x[i + l] + alpha * u[i + l]);
      r[i + l] = (CeedScalar)(r[i + l] - alpha * v[i + l]);
      part[l] += (double)r[i + l] * r[i + l];
    }
  }
  for (; i < cg->n; i++) {
    x[i] = (CeedScalar)(x[i] + alpha * u[i]);
    r[i] = (CeedScalar)(r[i] - alpha * v[i]);
    part[0] += (double)r[i] * r[i];
  }
  return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

// One iteration: reads and writes eleven vectors besides those of the apply.
static int cg_iterate(const BpProblem *p, Cg *cg) {
  CeedScalar *u = NULL, *v = NULL;

  BP_TRY(apply_once(p));
  BP_TRY(CeedVectorGetArray(p->u, CEED_MEM_HOST, &u));
  BP_TRY(CeedVectorGetArray(p->v, CEED_MEM_HOST, &v));
  mask(cg, v);
  double uv = dot(cg->n, u, v), rr = cg_update(cg, cg->rr / uv, u, v), beta = rr / cg->rr;
  for (CeedSize i = 0; i < cg->n; i++) u[i] = (CeedScalar)(cg->r[i] + beta * u[i]);
  cg->rr = rr;
  BP_TRY(CeedVectorRestoreArray(p->v, &v));
  BP_TRY(CeedVectorRestoreArray(p->u, &u));
  if (uv > 0 && isfinite(rr)) return CEED_ERROR_SUCCESS;
  return CeedError(p->ceed, CEED_ERROR_MAJOR,
                   "BP%d: CG broke down, p . A p = %g: the operator is not positive definite",
                   p->sizes->options.bp, uv);
}

// A solve: the fixed number of iterations, or fewer when nothing is left (as good as zero in small problems).
static int solve_on_host(const BpProblem *p, Cg *cg, double *seconds) {
  CeedInt *iterations = &cg->last.iterations;

  BP_TRY(cg_start(p, cg));
  double start = times_now();
  for (*iterations = 0; *iterations < BP_CG_ITERATIONS && cg->rr > own_eps * own_eps * cg->first_rr;
       ++*iterations) {
    BP_TRY(cg_iterate(p, cg));
  }
  *seconds = times_now() - start;
  cg->last.reduction = cg->first_rr > 0 ? sqrt(cg->rr / cg->first_rr) : 0;
  return CEED_ERROR_SUCCESS;
}

static int solve_by_library(const BpProblem *p, Cg *cg, double *seconds) {
  CeedScalar norm;

  BP_TRY(CeedVectorSetValue(p->v, 0));
  double start = times_now();
  BP_TRY(p->sizes->options.solver->solve(cg->solver, p->u, p->v, BP_CG_ITERATIONS, &cg->last));
  if (p->on_device) BP_TRY(CeedVectorNorm(p->v, CEED_NORM_MAX, &norm)); // waits
  *seconds = times_now() - start;
  return CEED_ERROR_SUCCESS;
}

static int cg_solve(const BpProblem *p, Cg *cg, double *seconds) {
  return cg->solver ? solve_by_library(p, cg, seconds) : solve_on_host(p, cg, seconds);
}

static int time_solves(const BpProblem *p, Cg *cg, BpResult *r) {
  Times times = {0};
  double seconds = 0;

  BP_TRY(cg_solve(p, cg, &seconds)); // warm up
  while (want_more(p, &times)) {
    BP_TRY(cg_solve(p, cg, &seconds));
    times_add(&times, seconds, seconds);
  }
  r->iterations = cg->last.iterations;
  r->reduction = cg->last.reduction;
  r->merged = cg->last.merged;
  bp_count_costs(r);
  if (r->iterations) summarize(p, &times, r->iterations, r); // else no entry is free: nothing to time
  return CEED_ERROR_SUCCESS;
}

static int create_cg(const BpProblem *p, Cg *cg) {
  const BpSolver *solver = p->sizes->options.solver;

  if (!bp_is_mass(p->sizes->options.bp)) BP_TRY(find_boundary(p, cg));
  if (solver) {
    BP_TRY(set_right_side(p, cg));
    return solver->create(p->op, solver->variant, cg->num_masked, cg->masked, &cg->solver);
  }
  BP_TRY(bp_allocate(p->ceed, cg->n, sizeof(CeedScalar), &cg->x));
  return bp_allocate(p->ceed, cg->n, sizeof(CeedScalar), &cg->r);
}

static int run_cg(const BpProblem *p, BpResult *r) {
  Cg cg = {.n = r->dofs};
  int ierr = create_cg(p, &cg);

  if (!ierr) ierr = time_solves(p, &cg, r);
  if (cg.solver) r->options.solver->destroy(&cg.solver);
  free(cg.x);
  free(cg.r);
  free(cg.masked);
  return ierr;
}

// ---- All of it ----

int bp_run(Ceed ceed, const BpOptions *options, BpResult *result) {
  BpProblem problem = {.ceed = ceed, .sizes = result};
  int ierr;

  BP_TRY(bp_predict(ceed, options, result));
  ierr = bp_problem_create(&problem);
  if (!ierr) ierr = check_operator(&problem, result);
  if (!ierr) ierr = options->mode == BP_CG ? run_cg(&problem, result) : time_applies(&problem, result);
  if (!ierr && options->many) ierr = time_many(&problem, result);
  bp_problem_destroy(&problem);
  if (!ierr && result->seconds > 0) result->roofline = result->seconds_bound / result->seconds;
  return ierr;
}
