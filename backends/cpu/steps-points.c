// SPDX-License-Identifier: BSD-2-Clause
// Blocks of points, and the steps on them (contract in steps-points.h).
#include "backends/cpu/steps-points.h"

#include <string.h>

#include "backends/cpu/unfused.h"
#include "base/simd.h"
#include "kernels/cpu/at-points.h"

#define evaluate_values    RITZ_STEPS_NAME(evaluate_values)
#define evaluate_gradients RITZ_STEPS_NAME(evaluate_gradients)
#define deposit_values     RITZ_STEPS_NAME(deposit_values)
#define deposit_gradients  RITZ_STEPS_NAME(deposit_gradients)
#define tabulate           RITZ_STEPS_NAME(tabulate)
#define gather_points      RITZ_STEPS_NAME(gather_points)

static const RitzPlanSpace *space_of(const RitzCpuRun *run, int buffer) {
  return &run->list->plan->spaces[run->list->buffers[buffer].space];
}

// ---- Blocks ----

// The points of a batch: lists of point numbers of its elements.
typedef struct {
  const int32_t *list[RITZ_LANES];
  int64_t num[RITZ_LANES], most, total;
  int32_t any; // a point
  bool by_lane;
  int lane; // where the next vector begins
  int64_t next;
} Points;

static Points begin_points(const int32_t *offsets, const RitzBatch *b) {
  Points p = {.any = -1};
  int64_t num_vectors = 0;
  for (int l = 0; l < b->num; l++) {
    const int32_t begin = offsets[b->elem[l]], end = offsets[b->elem[l] + 1];
    p.list[l] = offsets + begin;
    p.num[l] = end - begin;
    p.total += p.num[l];
    num_vectors += (p.num[l] + RITZ_LANES - 1) / RITZ_LANES;
    if (p.num[l] > p.most) p.most = p.num[l];
    if (p.num[l] > 0) p.any = p.list[l][0];
  }
  p.by_lane = p.most <= num_vectors;
  return p;
}

static void put(RitzCpuPoints *points, int q, int l, bool is_idle, int32_t point) {
  points->point[q][l] = point;
  points->is_idle[q][l] = is_idle;
  points->has_idle[q] = points->has_idle[q] || is_idle;
}

// Point number `next` of every element.
static void fill_by_lane(Points *p, RitzCpuPoints *points) {
  for (; p->next < p->most && points->num < RITZ_POINTS_AT_ONCE; p->next++) {
    const int q = points->num++;
    points->owner[q] = -1;
    points->has_idle[q] = false;
    for (int l = 0; l < RITZ_LANES; l++) {
      const bool is_idle = p->next >= p->num[l];
      put(points, q, l, is_idle, !is_idle ? p->list[l][p->next] : p->num[l] ? p->list[l][0] : p->any);
    }
  }
}

// The next points of element `lane`, or of the next one that has some.
static void fill_by_element(Points *p, RitzCpuPoints *points) {
  while (p->lane < RITZ_LANES && points->num < RITZ_POINTS_AT_ONCE) {
    const int64_t left = p->num[p->lane] - p->next;
    if (left <= 0) {
      p->lane++;
      p->next = 0;
      continue;
    }
    const int q = points->num++;
    points->owner[q] = p->lane;
    points->has_idle[q] = false;
    for (int l = 0; l < RITZ_LANES; l++)
      put(points, q, l, l >= left, p->list[p->lane][p->next + (l < left ? l : left - 1)]);
    p->next += RITZ_LANES;
  }
}

static bool next_block(Points *p, RitzCpuPoints *points) {
  points->num = 0;
  if (p->total == 0) return false;
  (p->by_lane ? fill_by_lane : fill_by_element)(p, points);
  return points->num > 0;
}

// ---- Between L-vectors and blocks [component][vector] ----

RITZ_CLONED static void gather_points(const RitzCpuPoints *points, CeedInt num_comp, const RitzReal *from,
                                      RitzVec *x) {
  for (CeedInt c = 0; c < num_comp; c++) {
    for (int q = 0; q < points->num; q++) {
      RitzReal *to = (RitzReal *)(x + c * points->num + q);
      for (int l = 0; l < RITZ_LANES; l++) to[l] = from[(int64_t)points->point[q][l] * num_comp + c];
    }
  }
}

static void scatter_points(const RitzCpuPoints *points, CeedInt num_comp, const RitzVec *y, RitzReal *to) {
  for (CeedInt c = 0; c < num_comp; c++) {
    for (int q = 0; q < points->num; q++) {
      const RitzReal *from = (const RitzReal *)(y + c * points->num + q);
      for (int l = 0; l < RITZ_LANES; l++) {
        if (!points->is_idle[q][l]) to[(int64_t)points->point[q][l] * num_comp + c] += from[l];
      }
    }
  }
}

// ---- Polynomials ----

// Data of a step at points.
typedef struct {
  int n, dim, num_comp, size[3];
  CeedSize num_coefficients; // of a component
  RitzPolynomials p;         // [vector][3][n]
} Form;

static CeedInt most_polynomials(const RitzSteps *list) {
  CeedInt n = 0;
  for (int b = 0; b < list->plan->num_bases; b++) n = CeedIntMax(n, list->plan->bases[b].Q_1d);
  return n;
}

int64_t ritz_cpu_polynomials_size(const RitzSteps *list) {
  return list->plan->is_at_points ? (int64_t)2 * RITZ_POINTS_AT_ONCE * 3 * most_polynomials(list) : 0;
}

static Form describe_steps_points(const RitzCpuRun *run, const RitzStep *step) {
  const RitzPlanBasis *b = &run->list->plan->bases[step->basis];
  const int n = (int)b->Q_1d, dim = (int)b->dim;
  return (Form){.n = n,
                .dim = dim,
                .num_comp = (int)space_of(run, step->from)->num_comp,
                .size = {n, dim > 1 ? n : 1, dim > 2 ? n : 1},
                .num_coefficients = b->Q,
                .p = {run->polynomials, run->polynomials + (int64_t)RITZ_POINTS_AT_ONCE * 3 * n}};
}

RITZ_INLINE void tabulate_here(const Form *f, bool has_slopes, int num, const RitzVec *x) {
  RitzVec *values = (RitzVec *)f->p.values, *slopes = (RitzVec *)f->p.slopes;
  for (int q = 0; q < num; q++) {
    for (int d = 0; d < 3; d++) {
      const int at = (3 * q + d) * f->n;
      if (d < f->dim) {
        ritz_chebyshev(f->n, x[d * num + q], values + at);
        if (has_slopes) ritz_chebyshev_slopes(f->n, x[d * num + q], slopes + at);
      } else {
        values[at] = ritz_splat(1);
        slopes[at] = ritz_splat(0);
      }
    }
  }
}

// ---- Evaluation and deposit ----

RITZ_INLINE RitzPolynomials polynomials_of(const Form *f, int q) {
  const int at = 3 * f->n * q;
  return (RitzPolynomials){f->p.values + at, f->p.slopes + at};
}

// The compiler knows n up to RITZ_MAX_POLYNOMIALS.
#define FOR_SIZES(n, DO, OTHERS)                                                                             \
  switch (n) {                                                                                               \
  case 2: DO(2); break;                                                                                      \
  case 3: DO(3); break;                                                                                      \
  case 4: DO(4); break;                                                                                      \
  case 5: DO(5); break;                                                                                      \
  case 6: DO(6); break;                                                                                      \
  case 7: DO(7); break;                                                                                      \
  case 8: DO(8); break;                                                                                      \
  case 9: DO(9); break;                                                                                      \
  case 10: DO(10); break;                                                                                    \
  default: OTHERS(n);                                                                                        \
  }

// Coefficients of a component -> values [num].
RITZ_INLINE void evaluate_values_here(const Form *f, const RitzCpuPoints *points, const RitzVec *c,
                                      RitzVec *y) {
  for (int q = 0; q < points->num; q++) {
    const RitzPolynomials p = polynomials_of(f, q);
    const int owner = points->owner[q];
#define VALUE(n)                                                                                             \
  y[q] = owner < 0 ? ritz_value_at(n, f->size, p, c, -1) : ritz_value_at(n, f->size, p, c, owner)
    FOR_SIZES(f->n, VALUE, VALUE)
#undef VALUE
  }
}

// -> derivatives, those along a direction `stride` vectors after those along the one before.
RITZ_INLINE void evaluate_gradients_here(const Form *f, const RitzCpuPoints *points, const RitzVec *c,
                                         RitzVec *y, int stride) {
  for (int q = 0; q < points->num; q++) {
    const RitzPolynomials p = polynomials_of(f, q);
    const int owner = points->owner[q];
    RitzVec g[3];
#define GRADIENT(n)                                                                                          \
  if (owner < 0)                                                                                             \
    ritz_gradient_at(n, f->size, p, c, -1, g);                                                               \
  else                                                                                                       \
    ritz_gradient_at(n, f->size, p, c, owner, g)
    FOR_SIZES(f->n, GRADIENT, GRADIENT)
#undef GRADIENT
    for (int d = 0; d < f->dim; d++) y[d * stride + q] = g[d];
  }
}

// Points q .. end - 1, which have one owner.
RITZ_INLINE int end_of_owner(const RitzCpuPoints *points, int q) {
  int end = q + 1;
  while (end < points->num && points->owner[end] == points->owner[q]) end++;
  return end;
}

RITZ_INLINE void deposit_values_here(const Form *f, const RitzCpuPoints *points, const RitzVec *u,
                                     RitzVec *c) {
  for (int q = 0, end; q < points->num; q = end) {
    const RitzPolynomials p = polynomials_of(f, q);
    end = end_of_owner(points, q);
#define PART(n, first, cols)                                                                                 \
  ritz_deposit_values(n, first, cols, f->size, end - q, p, u + q, points->owner[q], c)
#define WHOLE(n) PART(n, 0, n)
#define PARTS(n)                                                                                             \
  for (int i = 0; i < n; i += RITZ_MAX_POLYNOMIALS) PART(n, i, CeedIntMin(RITZ_MAX_POLYNOMIALS, n - i))
    FOR_SIZES(f->n, WHOLE, PARTS)
#undef PART
  }
}

RITZ_INLINE void deposit_gradients_here(const Form *f, const RitzCpuPoints *points, const RitzVec *g,
                                        int stride, RitzVec *c) {
  for (int q = 0, end; q < points->num; q = end) {
    const RitzPolynomials p = polynomials_of(f, q);
    end = end_of_owner(points, q);
#define PART(n, first, cols)                                                                                 \
  ritz_deposit_gradients(n, first, cols, f->size, f->dim, end - q, p, g + q, stride, points->owner[q], c)
    FOR_SIZES(f->n, WHOLE, PARTS)
#undef PART
#undef WHOLE
#undef PARTS
  }
}

// ---- The same, for several kinds of processors. Cloned functions pass no vectors: clang would have them in
// registers that others do not have. ----

RITZ_CLONED static void tabulate(const Form *f, bool has_slopes, int num, const RitzVec *x) {
  tabulate_here(f, has_slopes, num, x);
}

RITZ_CLONED static void evaluate_values(const Form *f, const RitzCpuPoints *points, const RitzVec *c,
                                        RitzVec *y) {
  evaluate_values_here(f, points, c, y);
}

RITZ_CLONED static void evaluate_gradients(const Form *f, const RitzCpuPoints *points, const RitzVec *c,
                                           RitzVec *y, int stride) {
  evaluate_gradients_here(f, points, c, y, stride);
}

RITZ_CLONED static void deposit_values(const Form *f, const RitzCpuPoints *points, const RitzVec *u,
                                       RitzVec *c) {
  deposit_values_here(f, points, u, c);
}

RITZ_CLONED static void deposit_gradients(const Form *f, const RitzCpuPoints *points, const RitzVec *g,
                                          int stride, RitzVec *c) {
  deposit_gradients_here(f, points, g, stride, c);
}

// Idle lanes deposit nothing, whatever is in them.
static void clear_idle(const RitzCpuPoints *points, CeedInt num_comp, RitzVec *y) {
  for (int q = 0; q < points->num; q++) {
    if (!points->has_idle[q]) continue;
    for (CeedInt c = 0; c < num_comp; c++) {
      RitzReal *lanes = (RitzReal *)(y + c * points->num + q);
      for (int l = 0; l < RITZ_LANES; l++) lanes[l] = points->is_idle[q][l] ? 0 : lanes[l];
    }
  }
}

static void evaluate(const RitzCpuRun *run, const RitzStep *step, const RitzCpuPoints *points) {
  const Form f = describe_steps_points(run, step);
  const bool has_slopes = step->table == RITZ_TABLE_GRAD;
  const int num = points->num, stride = f.num_comp * num;
  RitzVec *coefficients = run->buffers[step->is_transposed ? step->to : step->from];
  RitzVec *at_points = run->buffers[step->is_transposed ? step->from : step->to];
  tabulate(&f, has_slopes, num, run->buffers[step->with]);
  if (step->is_transposed) clear_idle(points, run->list->buffers[step->from].num_comp, at_points);
  for (int k = 0; k < f.num_comp; k++) {
    RitzVec *c = coefficients + k * f.num_coefficients, *y = at_points + k * num;
    if (step->is_transposed && has_slopes)
      deposit_gradients(&f, points, y, stride, c);
    else if (step->is_transposed)
      deposit_values(&f, points, y, c);
    else if (has_slopes)
      evaluate_gradients(&f, points, c, y, stride);
    else
      evaluate_values(&f, points, c, y);
  }
}

// ---- Lists ----

static const RitzReal *array_of(const RitzCpuRun *run, int vector) {
  return run->args->spaces[run->list->buffers[vector].space].array;
}

static void move_points(const RitzCpuRun *run, const RitzStep *step, int num) {
  const CeedSize size = (CeedSize)run->list->buffers[step->from].num_comp * num;
  const RitzVec *x = run->buffers[step->from];
  RitzVec *y = run->buffers[step->to];
  for (CeedSize i = 0; i < size; i++) y[i] = step->adds ? y[i] + x[i] : x[i];
}

int ritz_cpu_run_point_steps(const RitzCpuRun *run, const RitzCpuPoints *points) {
  int code = 0;
  for (int n = 0; n < run->list->num_steps && !code; n++) {
    const RitzStep *step = &run->list->steps[n];
    if (!ritz_steps_is_at_points(run->list, step)) continue;
    switch (step->kind) {
    case RITZ_STEP_GATHER:
      gather_points(points, run->list->buffers[step->to].num_comp, array_of(run, step->from),
                    run->buffers[step->to]);
      break;
    case RITZ_STEP_SCATTER:
      scatter_points(points, run->list->buffers[step->from].num_comp, run->buffers[step->from],
                     (RitzReal *)array_of(run, step->to));
      break;
    case RITZ_STEP_EVALUATE: evaluate(run, step, points); break;
    case RITZ_STEP_POINT: code = ritz_cpu_call_function(run, points->num); break;
    default: move_points(run, step, points->num);
    }
  }
  return code;
}

// The QFunction, or the first step at points.
static int find_split(const RitzSteps *list) {
  int first = list->num_steps;
  for (int n = list->num_steps - 1; n >= 0; n--) {
    if (list->steps[n].kind == RITZ_STEP_POINT) return n;
    if (ritz_steps_is_at_points(list, &list->steps[n])) first = n;
  }
  return first;
}

void ritz_cpu_run_whole_steps(const RitzCpuRun *run, const RitzBatch *b, bool is_before) {
  const int split = find_split(run->list);
  const int begin = is_before ? 0 : split, end = is_before ? split : run->list->num_steps;
  for (int n = begin; n < end; n++) {
    if (!ritz_steps_is_at_points(run->list, &run->list->steps[n]))
      (void)ritz_cpu_run_step(run, &run->list->steps[n], b); // no function to fail
  }
}

void ritz_cpu_clear_deposits(const RitzCpuRun *run) {
  for (int n = 0; n < run->list->num_steps; n++) {
    const RitzStep *step = &run->list->steps[n];
    if (step->kind == RITZ_STEP_EVALUATE && step->is_transposed && !step->adds)
      memset(run->buffers[step->to], 0, (size_t)ritz_steps_size(run->list, step->to) * sizeof(RitzVec));
  }
}

int ritz_cpu_run_at_points(const RitzCpuRun *run, const RitzBatch *b) {
  Points left = begin_points(run->args->spaces[0].offsets, b);
  RitzCpuPoints points;
  if (left.total == 0) return 0;
  ritz_cpu_run_whole_steps(run, b, true);
  ritz_cpu_clear_deposits(run);
  while (next_block(&left, &points)) {
    const int code = ritz_cpu_run_point_steps(run, &points);
    if (code) return code;
  }
  ritz_cpu_run_whole_steps(run, b, false);
  return 0;
}
