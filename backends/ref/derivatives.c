// SPDX-License-Identifier: BSD-2-Clause
// Derivatives by unit vectors through the user's function (contract in derivatives.h). Memory: one element.
#include "backends/ref/derivatives.h"

#include <string.h>

#include "backends/ref/ref.h"
#include "core/operator.h"

CeedInt ritz_ref_max_points(CeedOperator op) {
  return op->is_at_points ? op->first_points->max_points : op->num_qpts;
}

int ritz_ref_derivatives_open(CeedOperator op, bool use_cache, RitzRefDerivatives *d) {
  CeedOperatorAssemblyData data = op->assembly_data;
  *d = (RitzRefDerivatives){.op = op, .N_in = data->in.num_total, .N_out = data->out.num_total};
  bool is_reused = false;
  if (use_cache) RITZ_TRY(ritz_operator_is_reused(op, &is_reused));
  if (is_reused) {
    RITZ_TRY(CeedVectorGetArrayRead(op->qf_data->values, CEED_MEM_HOST, &d->cached));
    d->uses_cache = true;
  }
  RITZ_TRY(RITZ_MALLOC(op->obj.ceed, (size_t)(d->N_in * d->N_out * ritz_ref_max_points(op)), &d->D));
  return ritz_ref_state_open(op, NULL, NULL, &d->state);
}

int ritz_ref_derivatives_close(RitzRefDerivatives *d, int ierr) {
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

// The cache is read through its restriction: an element then looks as if evaluated.
int ritz_ref_derivatives_enter(RitzRefDerivatives *d, CeedInt elem) {
  ritz_ref_state_enter(&d->state, elem);
  d->num_points = d->state.num_points;
  if (!d->uses_cache) return evaluate_derivatives(&d->state, elem, d->D);
  ritz_ref_gather(d->op->qf_data->rstr, elem, d->cached, d->D);
  return CEED_ERROR_SUCCESS;
}

const CeedScalar *ritz_ref_derivatives_entry(const RitzRefDerivatives *d, CeedSize o, CeedSize i) {
  return d->D + (i * d->N_out + o) * d->num_points;
}

// Restrictions of assembled QFunctions touch every entry once: adding to zeros stores.
int ritz_ref_operator_assemble_qfunction(CeedOperator op, CeedElemRestriction rstr, CeedScalar *values) {
  RitzRefDerivatives d;
  if (rstr->l_size > 0) memset(values, 0, (size_t)rstr->l_size * sizeof(*values));
  int ierr = ritz_ref_derivatives_open(op, false, &d);
  for (CeedInt elem = 0; !ierr && elem < op->num_elem; elem++) {
    ierr = ritz_ref_derivatives_enter(&d, elem);
    if (!ierr) ritz_ref_scatter_add(rstr, elem, true, d.D, values);
  }
  return ritz_ref_derivatives_close(&d, ierr);
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
  RITZ_FREE(&d->tables[is_input]);
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)d->num_points * (size_t)num_modes * (size_t)P, &d->tables[is_input]));
  for (CeedInt i = is_input ? 0 : d->state.num_in, m = 0; m < num_modes; i++) {
    RitzRefField *f = &d->state.fields[i];
    if (!is_member(f, g, group)) continue;
    fill_field(d, f, num_modes, P, m, d->tables[is_input]);
    m += f->field->qf_field->size / f->field->rstr->num_comp;
  }
  *table = d->tables[is_input];
  return CEED_ERROR_SUCCESS;
}
