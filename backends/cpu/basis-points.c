// SPDX-License-Identifier: BSD-2-Clause
// CeedBasisApplyAtPoints of the backend: the steps of the ahead-of-time kernel on one element, blocks of its
// points on the threads of the context. Deposits are summed for each slot of ritz_run_ranges, then over the
// slots in their order.
#include <string.h>

#include "backends/cpu/cpu.h"
#include "backends/cpu/steps-points.h"
#include "backends/ref/ref.h"

// ---- A plan of one space with the basis, and the coordinates ----

typedef struct {
  RitzPlanBasis basis;
  RitzPlanSpace spaces[2];
  RitzPlan plan;
} Alone;

static int describe_basis_points(CeedBasis basis, CeedEvalMode mode, Alone *a) {
  a->basis = (RitzPlanBasis){.is_tensor = true,
                             .route = RITZ_ROUTE_POINTS,
                             .dim = basis->dim,
                             .P_1d = basis->P_1d,
                             .Q_1d = basis->Q_1d,
                             .P = basis->P,
                             .Q = basis->Q,
                             .q_comp_interp = 1,
                             .q_comp_deriv = basis->dim,
                             .chebyshev = {.rows = basis->Q_1d, .cols = basis->P_1d}};
  a->spaces[0] = (RitzPlanSpace){.is_input = true,
                                 .field = -1,
                                 .num_nodes = RITZ_POINTS_AT_ONCE,
                                 .num_comp = basis->dim,
                                 .basis = -1,
                                 .precision = CEED_SCALAR_TYPE};
  a->spaces[1] = (RitzPlanSpace){.is_input = true,
                                 .num_nodes = basis->P,
                                 .num_comp = basis->num_comp,
                                 .modes = (unsigned)mode,
                                 .precision = CEED_SCALAR_TYPE};
  a->plan = (RitzPlan){.is_at_points = true,
                       .precision = CEED_SCALAR_TYPE,
                       .Q = RITZ_POINTS_AT_ONCE,
                       .num_bases = 1,
                       .num_spaces = 2,
                       .bases = &a->basis,
                       .spaces = a->spaces};
  RITZ_TRY(
      RITZ_MALLOC(basis->obj.ceed, (size_t)basis->Q_1d * (size_t)basis->P_1d, &a->basis.chebyshev.values));
  return CeedBasisGetChebyshevInterp1D(basis, a->basis.chebyshev.values);
}

// ---- Work on the threads ----

typedef struct {
  const RitzSteps *list;
  CeedInt num_points, at_points; // at_points: the buffer of values or derivatives
  int coefficients;              // buffer
  bool transposes;
  const CeedScalar *x; // [dim][num_points]
  const CeedScalar *u; // at the points, transposed
  CeedScalar *v;       // at the points
  char *memory, *aligned;
  int64_t bytes; // of a run
  int num_slots;
  RitzCpuRun *runs; // [num_slots]; the first is there before the others
  bool *is_used;    // [num_slots]
} Work;

static void begin_slot(Work *w, int slot) {
  w->runs[slot] = (RitzCpuRun){.list = w->list};
  ritz_cpu_begin_run(w->aligned + slot * w->bytes, &w->runs[slot]);
  ritz_cpu_clear_deposits(&w->runs[slot]);
}

// Idle lanes repeat the last point.
static void number_points(int64_t first, int64_t num, RitzCpuPoints *points) {
  points->num = (int)((num + RITZ_LANES - 1) / RITZ_LANES);
  for (int q = 0; q < points->num; q++) {
    points->owner[q] = 0;
    points->has_idle[q] = (q + 1) * RITZ_LANES > num;
    for (int l = 0; l < RITZ_LANES; l++) {
      const int64_t i = q * RITZ_LANES + l;
      points->is_idle[q][l] = i >= num;
      points->point[q][l] = (int32_t)(first + (i < num ? i : num - 1));
    }
  }
}

// Components of `num_points` numbers each -> [component][vector].
static void load_points(const Work *w, const RitzCpuPoints *points, CeedInt num_comp, const CeedScalar *from,
                        RitzVec *to) {
  for (CeedInt c = 0; c < num_comp; c++) {
    for (int q = 0; q < points->num; q++) {
      RitzReal *lanes = (RitzReal *)(to + c * points->num + q);
      for (int l = 0; l < RITZ_LANES; l++) lanes[l] = from[(CeedSize)c * w->num_points + points->point[q][l]];
    }
  }
}

static void store_points(const Work *w, const RitzCpuPoints *points, CeedInt num_comp, const RitzVec *from,
                         CeedScalar *to) {
  for (CeedInt c = 0; c < num_comp; c++) {
    for (int q = 0; q < points->num; q++) {
      const RitzReal *lanes = (const RitzReal *)(from + c * points->num + q);
      for (int l = 0; l < RITZ_LANES; l++) {
        if (!points->is_idle[q][l]) to[(CeedSize)c * w->num_points + points->point[q][l]] = lanes[l];
      }
    }
  }
}

static void run_block(const Work *w, const RitzCpuRun *run, int64_t first, int64_t num) {
  const CeedInt num_comp = w->list->buffers[w->at_points].num_comp;
  RitzVec *at_points = run->buffers[w->at_points];
  RitzCpuPoints points;
  number_points(first, num, &points);
  load_points(w, &points, w->list->buffers[w->list->coordinates].num_comp, w->x,
              run->buffers[w->list->coordinates]);
  if (w->transposes) load_points(w, &points, num_comp, w->u, at_points);
  (void)ritz_cpu_run_point_steps(run, &points); // no function to fail
  if (!w->transposes) store_points(w, &points, num_comp, at_points, w->v);
}

static void run_points(void *data, int slot, int64_t first, int64_t count) {
  Work *w = data;
  const int64_t at_once = (int64_t)RITZ_POINTS_AT_ONCE * RITZ_LANES;
  if (slot > 0) begin_slot(w, slot);
  w->is_used[slot] = true;
  if (!w->transposes) w->runs[slot].buffers[w->coefficients] = w->runs[0].buffers[w->coefficients];
  for (int64_t i = 0; i < count; i += at_once)
    run_block(w, &w->runs[slot], first + i, count - i < at_once ? count - i : at_once);
}

static void add_slots(const Work *w) {
  const CeedSize size = ritz_steps_size(w->list, w->coefficients);
  for (int slot = 1; slot < w->num_slots; slot++) {
    for (CeedSize k = 0; w->is_used[slot] && k < size; k++)
      w->runs[0].buffers[w->coefficients][k] += w->runs[slot].buffers[w->coefficients][k];
  }
}

// ---- The slot ----

static int allocate_basis_points(Ceed ceed, Work *w) {
  RITZ_TRY(ritz_run_ranges_slots(ceed, &w->num_slots));
  w->bytes = (ritz_cpu_run_bytes(w->list) + 63) / 64 * 64;
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(w->num_slots * w->bytes) + sizeof(RitzVec), &w->memory));
  w->aligned = w->memory + (sizeof(RitzVec) - (uintptr_t)w->memory % sizeof(RitzVec));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)w->num_slots, &w->runs));
  return RITZ_CALLOC(ceed, (size_t)w->num_slots, &w->is_used);
}

// The buffer of nodes that is given or wanted; what steps evaluate goes from coefficients to the points.
static int find_ends(Work *w) {
  int nodes = 0;
  while (w->list->buffers[nodes].role != RITZ_ROLE_NODES) nodes++;
  for (int n = 0; n < w->list->num_steps; n++) {
    const RitzStep *step = &w->list->steps[n];
    if (step->kind != RITZ_STEP_EVALUATE) continue;
    w->coefficients = step->is_transposed ? step->to : step->from;
    w->at_points = step->is_transposed ? step->from : step->to;
  }
  return nodes;
}

static int run_basis_points(Ceed ceed, Work *w, CeedSize num_nodes, const CeedScalar *u, CeedScalar *v) {
  const RitzBatch batch = {.num = 1};
  const int nodes = find_ends(w);
  RITZ_TRY(allocate_basis_points(ceed, w));
  begin_slot(w, 0);
  RitzVec *x = w->runs[0].buffers[nodes];
  for (CeedSize i = 0; !w->transposes && i < num_nodes; i++) x[i] = ritz_splat(u[i]);
  ritz_cpu_run_whole_steps(&w->runs[0], &batch, true);
  RITZ_TRY(ritz_run_ranges(ceed, w->num_points, run_points, w));
  if (!w->transposes) return CEED_ERROR_SUCCESS;
  add_slots(w);
  ritz_cpu_run_whole_steps(&w->runs[0], &batch, false);
  for (CeedSize i = 0; i < num_nodes; i++) v[i] += ((const RitzReal *)(x + i))[0];
  return CEED_ERROR_SUCCESS;
}

static int list_steps(Ceed ceed, const Alone *a, bool transposes, RitzSteps **list) {
  RitzSteps *forward = NULL;
  RITZ_TRY(ritz_steps_input(ceed, &a->plan, 1, false, &forward));
  if (!transposes) {
    *list = forward;
    return CEED_ERROR_SUCCESS;
  }
  const int ierr = ritz_steps_adjoint(ceed, forward, list);
  ritz_steps_free(&forward);
  return ierr;
}

static int apply_basis_points(CeedBasis basis, const RitzBasisAction *action, CeedInt num_points,
                              const CeedScalar *x, const CeedScalar *u, CeedScalar *v) {
  const Ceed ceed = basis->obj.ceed;
  Work w = {.num_points = num_points, .transposes = action->t_mode == CEED_TRANSPOSE, .x = x, .u = u, .v = v};
  Alone alone;
  RitzSteps *list = NULL;
  int ierr = describe_basis_points(basis, action->eval_mode, &alone);
  if (!ierr) ierr = list_steps(ceed, &alone, w.transposes, &list);
  w.list = list;
  if (!ierr) ierr = run_basis_points(ceed, &w, (CeedSize)basis->num_comp * basis->P, u, v);
  RITZ_FREE(&w.memory);
  RITZ_FREE(&w.runs);
  RITZ_FREE(&w.is_used);
  ritz_steps_free(&list);
  RITZ_FREE(&alone.basis.chebyshev.values);
  return ierr;
}

int ritz_cpu_basis_apply_at_points(CeedBasis basis, const RitzBasisAction *action, const CeedInt *num_points,
                                   const CeedScalar *x, const CeedScalar *u, CeedScalar *v) {
  if (basis->dim > 3)
    RITZ_TRY(ritz_cpu_delegate(basis->obj.ceed, "evaluation of a basis at points",
                               "there are no kernels in more than three dimensions"));
  if (action->eval_mode == CEED_EVAL_WEIGHT || basis->dim > 3)
    return ritz_ref_basis_apply_at_points(basis, action, num_points, x, u, v);
  return apply_basis_points(basis, action, num_points[0], x, u, v);
}
