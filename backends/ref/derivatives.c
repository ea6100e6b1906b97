// SPDX-License-Identifier: BSD-2-Clause
// Derivatives by unit vectors through the user's function (contract in derivatives.h). Memory: one element.
#include "backends/ref/derivatives.h"

#include <string.h>

#include "backends/ref/ref.h"
#include "core/operator.h"

CeedInt ritz_ref_max_points(CeedOperator op) {
  return op->is_at_points ? op->first_points->max_points : op->num_qpts;
}

// Entries of the largest table of a group at points.
static size_t max_table_size(CeedOperator op, const RitzActiveGroups *g) {
  size_t size = 0;
  for (CeedInt k = 0; k < g->num; k++) {
    const CeedInt P = g->bases[k] == CEED_BASIS_NONE ? ritz_ref_max_points(op) : ritz_group_num_nodes(g, k);
    const size_t this = (size_t)ritz_ref_max_points(op) * (size_t)g->num_modes[k] * (size_t)P;
    if (this > size) size = this;
  }
  return size;
}

static int reserve_tables(CeedOperator op, RitzRefDerivatives *d) {
  const RitzActiveGroups *groups[] = {&op->assembly_data->out, &op->assembly_data->in};
  for (int k = 0; k < 2 && op->is_at_points; k++)
    RITZ_TRY(RITZ_MALLOC(op->obj.ceed, max_table_size(op, groups[k]), &d->tables[k]));
  return CEED_ERROR_SUCCESS;
}

static int open_derivatives(CeedOperator op, bool use_cache, const RitzRefDerivatives *leader,
                            RitzRefDerivatives *d) {
  CeedOperatorAssemblyData data = op->assembly_data;
  *d = (RitzRefDerivatives){.op = op, .N_in = data->in.num_total, .N_out = data->out.num_total};
  bool is_reused = false;
  if (use_cache) RITZ_TRY(ritz_operator_is_reused(op, &is_reused));
  if (is_reused) {
    RITZ_TRY(CeedVectorGetArrayRead(op->qf_data->values, CEED_MEM_HOST, &d->cached));
    d->uses_cache = true;
  }
  RITZ_TRY(RITZ_MALLOC(op->obj.ceed, (size_t)(d->N_in * d->N_out * ritz_ref_max_points(op)), &d->D));
  RITZ_TRY(reserve_tables(op, d));
  return ritz_ref_state_open_beside(op, leader ? &leader->state : NULL, &d->state);
}

static int close_derivatives(RitzRefDerivatives *d, int ierr) {
  int closed =
      d->uses_cache ? CeedVectorRestoreArrayRead(d->op->qf_data->values, &d->cached) : CEED_ERROR_SUCCESS;
  closed = ritz_ref_state_close(&d->state, closed);
  RITZ_FREE(&d->D);
  RITZ_FREE(&d->tables[0]);
  RITZ_FREE(&d->tables[1]);
  return ierr ? ierr : closed;
}

// ---- Derivatives ----

// All active outputs at the points, one after the other: column of D for one active input scalar. Returns its
// end.
static CeedScalar *copy_outputs(const RitzRefState *state, CeedScalar *column) {
  for (CeedInt i = state->num_in; i < state->num_fields; i++) {
    const RitzRefField *f = &state->fields[i];
    CeedSize size = (CeedSize)f->field->qf_field->size * state->num_points;
    if (!f->is_active) continue;
    memcpy(column, f->points, (size_t)size * sizeof(*column));
    column += size;
  }
  return column;
}

static void zero_active_inputs(RitzRefState *state) {
  for (CeedInt i = 0; i < state->num_in; i++) {
    RitzRefField *f = &state->fields[i];
    if (f->is_active) memset(f->points, 0, (size_t)f->num_points * sizeof(*f->points));
  }
}

// D[o][i] of point q at q + num_points*(i*N_out + o).
static int evaluate_derivatives(RitzRefState *state, CeedInt elem, CeedScalar *D) {
  CeedInt n = state->num_points;
  if (n == 0) return CEED_ERROR_SUCCESS;
  ritz_ref_state_evaluate(state, elem);
  zero_active_inputs(state);
  for (CeedInt i = 0; i < state->num_in; i++) {
    RitzRefField *f = &state->fields[i];
    for (CeedInt s = 0; f->is_active && s < f->field->qf_field->size; s++) {
      CeedScalar *unit = f->points + (CeedSize)s * n;
      for (CeedInt q = 0; q < n; q++) unit[q] = 1;
      RITZ_TRY(ritz_ref_state_call(state));
      D = copy_outputs(state, D);
      memset(unit, 0, (size_t)n * sizeof(*unit));
    }
  }
  return CEED_ERROR_SUCCESS;
}

// Derivatives at the points of an element. The cache is read through its restriction: an element then looks
// as if evaluated.
static int enter_element(RitzRefDerivatives *d, CeedInt elem) {
  ritz_ref_state_enter(&d->state, elem);
  d->num_points = d->state.num_points;
  if (!d->uses_cache) return evaluate_derivatives(&d->state, elem, d->D);
  ritz_ref_gather(d->op->qf_data->rstr, elem, d->cached, d->D);
  return CEED_ERROR_SUCCESS;
}

// ---- Threads ----

// Whether the function writes to its context, which keeps its bytes, on the first element.
static int look_at_context(RitzRefDerivatives *d, bool *writes) {
  const CeedQFunctionContext ctx = d->op->qf->ctx;
  const size_t size = ctx ? ctx->storage.num_bytes : 0;
  char *before = NULL;
  *writes = false;
  if (size == 0 || !d->op->qf->is_context_writable || d->op->num_elem == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_MALLOC(d->op->obj.ceed, size, &before));
  memcpy(before, d->state.context, size);
  const int ierr = enter_element(d, 0);
  *writes = memcmp(before, d->state.context, size);
  memcpy(d->state.context, before, size);
  RITZ_FREE(&before);
  return ierr;
}

int ritz_ref_crew_open(CeedOperator op, bool use_cache, RitzRefCrew *crew) {
  *crew = (RitzRefCrew){.op = op};
  int num_slots;
  bool writes = false;
  RITZ_TRY(ritz_run_ranges_slots(op->obj.ceed, &num_slots));
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, (size_t)num_slots, &crew->codes));
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, (size_t)num_slots, &crew->d));
  RITZ_TRY(open_derivatives(op, use_cache, NULL, &crew->d[crew->num_slots++]));
  if (num_slots > 1) RITZ_TRY(look_at_context(&crew->d[0], &writes));
  while (crew->num_slots < num_slots && !writes) {
    RitzRefDerivatives *d = &crew->d[crew->num_slots++];
    RITZ_TRY(open_derivatives(op, use_cache, &crew->d[0], d));
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_ref_crew_close(RitzRefCrew *crew, int ierr) {
  for (int s = 0; s < crew->num_slots; s++) ierr = close_derivatives(&crew->d[s], ierr);
  RITZ_FREE(&crew->d);
  RITZ_FREE(&crew->codes);
  return ierr;
}

typedef struct {
  RitzRefCrew *crew;
  CeedInt first;
  RitzRefVisit visit;
  void *data;
} CrewRun;

static void visit_range(void *data, int slot, int64_t first, int64_t count) {
  const CrewRun *run = data;
  RitzRefDerivatives *d = &run->crew->d[slot];
  int code = CEED_ERROR_SUCCESS;
  for (CeedInt k = 0; !code && k < (CeedInt)count; k++) {
    const CeedInt elem = run->first + (CeedInt)first + k;
    code = enter_element(d, elem);
    if (!code) code = run->visit(d, run->data, slot, elem);
  }
  run->crew->codes[slot] = code;
}

int ritz_ref_crew_run(RitzRefCrew *crew, CeedInt first, CeedInt num, RitzRefVisit visit, void *data) {
  CrewRun run = {crew, first, visit, data};
  for (int s = 0; s < crew->num_slots; s++) crew->codes[s] = CEED_ERROR_SUCCESS;
  if (crew->num_slots == 1)
    visit_range(&run, 0, 0, num);
  else
    RITZ_TRY(ritz_run_elements(crew->op->obj.ceed, num, visit_range, &run));
  for (int s = 0; s < crew->num_slots; s++) RITZ_TRY(crew->codes[s]);
  return CEED_ERROR_SUCCESS;
}

const CeedScalar *ritz_ref_derivatives_entry(const RitzRefDerivatives *d, CeedSize o, CeedSize i) {
  return d->D + (i * d->N_out + o) * d->num_points;
}

typedef struct {
  CeedElemRestriction rstr;
  CeedScalar *values;
} Assembled;

// Restrictions of assembled QFunctions touch every entry once: adding to zeros stores.
static int store_derivatives(RitzRefDerivatives *d, void *data, int slot, CeedInt elem) {
  const Assembled *to = data;
  (void)slot;
  ritz_ref_scatter_add(to->rstr, elem, true, d->D, to->values);
  return CEED_ERROR_SUCCESS;
}

int ritz_ref_operator_assemble_qfunction(CeedOperator op, CeedElemRestriction rstr, CeedScalar *values) {
  Assembled to = {rstr, values};
  RitzRefCrew crew;
  if (rstr->l_size > 0) memset(values, 0, (size_t)rstr->l_size * sizeof(*values));
  int ierr = ritz_ref_crew_open(op, false, &crew);
  if (!ierr) ierr = ritz_ref_crew_run(&crew, 0, op->num_elem, store_derivatives, &to);
  return ritz_ref_crew_close(&crew, ierr);
}

// ---- Tables of groups ----

static RitzActiveGroups *groups_of(const RitzRefDerivatives *d, bool is_input) {
  return is_input ? &d->op->assembly_data->in : &d->op->assembly_data->out;
}

CeedInt ritz_ref_group_num_nodes(const RitzRefDerivatives *d, bool is_input, CeedInt group) {
  const RitzActiveGroups *g = groups_of(d, is_input);
  bool has_points = d->op->is_at_points && g->bases[group] == CEED_BASIS_NONE;
  return has_points ? d->num_points : ritz_group_num_nodes(g, group);
}

// Values of a field at the points of the element for a unit vector at node p of its first component.
static const CeedScalar *unit_values(RitzRefDerivatives *d, RitzRefField *f, CeedInt p) {
  memset(f->points, 0, (size_t)f->num_points * sizeof(*f->points));
  if (!f->nodes) {
    f->points[p] = 1;
    return f->points;
  }
  memset(f->nodes, 0, (size_t)f->num_nodes * sizeof(*f->nodes));
  f->nodes[p] = 1;
  ritz_ref_state_basis(&d->state, f, CEED_NOTRANSPOSE, f->nodes, f->points);
  return f->points;
}

// Mode entries m, m+1, ... of one field.
static void fill_field(RitzRefDerivatives *d, RitzRefField *f, CeedInt num_modes, CeedInt P, CeedInt m,
                       CeedScalar *table) {
  CeedInt n = d->num_points, nc = f->field->rstr->num_comp, q_comp = f->field->qf_field->size / nc;
  for (CeedInt p = 0; p < P; p++) {
    const CeedScalar *values = unit_values(d, f, p);
    for (CeedInt k = 0; k < q_comp * n; k++) {
      CeedInt direction = k / n, q = k % n;
      table[((CeedSize)q * num_modes + m + direction) * P + p] = values[(CeedSize)direction * nc * n + q];
    }
  }
}

static bool is_member(const RitzRefField *f, const RitzActiveGroups *g, CeedInt group) {
  if (!f->is_active || f->field->basis != g->bases[group]) return false;
  return f->field->basis != CEED_BASIS_NONE || f->field->rstr == g->rstrs[group];
}

// At points a table belongs to the current element and is made anew; else all elements share it.
int ritz_ref_group_table(RitzRefDerivatives *d, bool is_input, CeedInt group, const CeedScalar **table) {
  RitzActiveGroups *g = groups_of(d, is_input);
  Ceed ceed = d->op->obj.ceed;
  if (!d->op->is_at_points) return ritz_group_table(ceed, g, group, d->op->num_qpts, table);
  CeedInt P = ritz_ref_group_num_nodes(d, is_input, group), num_modes = g->num_modes[group];
  for (CeedInt i = is_input ? 0 : d->state.num_in, m = 0; m < num_modes; i++) {
    RitzRefField *f = &d->state.fields[i];
    if (!is_member(f, g, group)) continue;
    fill_field(d, f, num_modes, P, m, d->tables[is_input]);
    m += f->field->qf_field->size / f->field->rstr->num_comp;
  }
  *table = d->tables[is_input];
  return CEED_ERROR_SUCCESS;
}
