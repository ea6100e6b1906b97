// SPDX-License-Identifier: BSD-2-Clause
// Plan of an operator -> plan of its diagonal (contract in plan/diagonal.h).
#include "plan/diagonal.h"

#include <string.h>

#include "plan/internal.h"
#include "plan/steps.h"

// ---- Which diagonals have a kernel ----

// The group of active inputs and the group of active outputs that meet on the diagonal.
typedef struct {
  const RitzActiveGroups *in, *out;
  CeedInt a, b;
  int num; // pairs of groups that meet; a and b are the last
} Meeting;

static Meeting find_meeting(CeedOperatorAssemblyData data) {
  Meeting m = {.in = &data->in, .out = &data->out};
  for (CeedInt a = 0; a < m.in->num; a++) {
    for (CeedInt b = 0; b < m.out->num; b++) {
      if (m.in->bases[a] != m.out->bases[b] || m.in->rstrs[a] != m.out->rstrs[b]) continue;
      m.a = a;
      m.b = b;
      m.num++;
    }
  }
  return m;
}

static const char *why_no_walk(const Meeting *m) {
  if (m->num == 0) return "no active input and output share a space";
  if (m->num > 1) return "it has several active spaces";
  CeedBasis basis = m->in->bases[m->a];
  if (basis == CEED_BASIS_NONE) return "its active fields have no basis";
  if (basis->is_tensor && basis->dim > 3) return "its active basis has more than three dimensions";
  if (m->in->rstrs[m->a]->type == CEED_RESTRICTION_CURL_ORIENTED)
    return "its active restriction is curl-oriented";
  return NULL;
}

static const char *why_no_diagonal_plan(const Meeting *m) {
  const char *reason = why_no_walk(m);
  const bool has_basis = m->num == 1 && m->in->bases[m->a] != CEED_BASIS_NONE;
  if (m->num == 1 && !(has_basis && m->in->bases[m->a]->is_tensor))
    return "its active basis is no tensor product";
  return reason;
}

// ---- Spaces and fields ----

static bool is_passive_input(const RitzPlanSpace *space) { return space->is_input && !space->is_active; }

static int copy_spaces(Ceed ceed, const RitzPlan *plan, RitzDiagonalPlan *d) {
  const size_t num = (size_t)plan->num_spaces;
  d->plan.num_spaces = 0;
  RITZ_TRY(RITZ_CALLOC(ceed, num, &d->plan.spaces));
  RITZ_TRY(RITZ_CALLOC(ceed, num, &d->origins));
  for (int s = 0; s < plan->num_spaces; s++) {
    if (!is_passive_input(&plan->spaces[s])) continue;
    d->origins[d->plan.num_spaces] = s;
    d->plan.spaces[d->plan.num_spaces++] = plan->spaces[s];
  }
  return CEED_ERROR_SUCCESS;
}

static bool is_output_of(CeedOperator op, const Meeting *m, const RitzPlanSpace *space) {
  if (space->is_input || !space->is_active || space->basis < 0) return false;
  CeedOperatorField field = ritz_operator_field(op, space->field);
  return field->rstr == m->out->rstrs[m->b] && field->basis == m->out->bases[m->b];
}

// Signs cancel on the diagonal.
static void set_output(CeedOperator op, const RitzPlan *plan, const Meeting *m, RitzDiagonalPlan *d) {
  int s = 0;
  while (!is_output_of(op, m, &plan->spaces[s])) s++;
  d->origins[d->plan.num_spaces] = s;
  d->output = plan->spaces[s];
  d->output.is_oriented = false;
}

static int copy_fields(Ceed ceed, const RitzPlan *plan, RitzDiagonalPlan *d) {
  const int num = plan->num_in + plan->num_out;
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num, &d->plan.fields));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num, &d->offsets));
  for (int i = 0; i < num; i++) {
    RitzPlanField *f = &d->plan.fields[i];
    CeedInt *size = i < plan->num_in ? &d->size_in : &d->size_out;
    *f = plan->fields[i];
    d->offsets[i] = -1;
    if (f->space >= 0 && plan->spaces[f->space].is_active) {
      d->offsets[i] = *size;
      *size += f->size;
    }
    f->space = -1;
    for (int s = 0; s < d->plan.num_spaces; s++) {
      if (d->origins[s] == plan->fields[i].space) f->space = s;
    }
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Products of tables ----

static int multiply_tables(Ceed ceed, const RitzPlanMatrix *A, const RitzPlanMatrix *B,
                           RitzPlanMatrix *product) {
  const size_t num = (size_t)A->rows * (size_t)A->cols;
  *product = (RitzPlanMatrix){.rows = A->rows, .cols = A->cols, .parity = A->parity * B->parity};
  RITZ_TRY(RITZ_CALLOC(ceed, num, &product->values));
  for (size_t k = 0; k < num; k++) product->values[k] = A->values[k] * B->values[k];
  return CEED_ERROR_SUCCESS;
}

static int make_products(Ceed ceed, RitzDiagonalPlan *d) {
  const RitzPlanBasis *b = &d->plan.bases[d->output.basis];
  if (!b->is_tensor) return CEED_ERROR_SUCCESS;
  RITZ_TRY(multiply_tables(ceed, &b->interp, &b->interp, &d->products[0]));
  RITZ_TRY(multiply_tables(ceed, &b->interp, &b->grad, &d->products[1]));
  return multiply_tables(ceed, &b->grad, &b->grad, &d->products[2]);
}

// ---- Terms ----

// First scalars of the modes of a group, and the rows of the basis that they take: of a tensor basis the
// directions that they differentiate (-1: none), else components of values, then of derivatives.
int ritz_plan_list_modes(Ceed ceed, const RitzActiveGroups *g, CeedInt group, CeedInt **first, int **rows) {
  const CeedInt num = g->num_modes[group];
  const CeedBasis basis = g->bases[group];
  const bool is_tensor = basis != CEED_BASIS_NONE && basis->is_tensor, has_rows = basis != CEED_BASIS_NONE;
  const int num_values = is_tensor || !has_rows ? 1 : (int)ritz_basis_num_q_comp(basis, CEED_EVAL_INTERP);
  int values = 0, derivatives = 0;
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num, first));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num, rows));
  for (CeedInt m = 0; m < num; m++) {
    const CeedEvalMode mode = g->modes[group][m];
    const int num_rows = has_rows ? (int)ritz_basis_num_q_comp(basis, mode) : 1;
    (*first)[m] = (CeedInt)g->offsets[group][m];
    (*rows)[m] = mode == CEED_EVAL_INTERP ? values++ % num_values : num_values + derivatives++ % num_rows;
    if (is_tensor) (*rows)[m]--;
  }
  return CEED_ERROR_SUCCESS;
}

static RitzDiagonalTerm make_term(bool is_tensor, int in, int out) {
  RitzDiagonalTerm term = {.product = {0}};
  if (is_tensor && in >= 0) term.product[in]++;
  if (is_tensor && out >= 0) term.product[out]++;
  term.rows[0] = is_tensor ? 0 : CeedIntMin(in, out);
  term.rows[1] = is_tensor ? 0 : CeedIntMax(in, out);
  return term;
}

// Number of the term, which is added when it is new.
static int find_term(RitzDiagonalPlan *d, RitzDiagonalTerm term) {
  for (int t = 0; t < d->num_terms; t++) {
    if (!memcmp(&d->terms[t], &term, sizeof(term))) return t;
  }
  d->terms[d->num_terms] = term;
  return d->num_terms++;
}

static int make_terms(Ceed ceed, const int *in, const int *out, RitzDiagonalPlan *d) {
  const size_t num = (size_t)d->num_in * (size_t)d->num_out;
  const bool is_tensor = d->plan.bases[d->output.basis].is_tensor;
  RITZ_TRY(RITZ_CALLOC(ceed, num, &d->terms));
  RITZ_TRY(RITZ_CALLOC(ceed, num, &d->term_of));
  for (int i = 0; i < d->num_in; i++) {
    for (int o = 0; o < d->num_out; o++)
      d->term_of[i * d->num_out + o] = find_term(d, make_term(is_tensor, in[i], out[o]));
  }
  return CEED_ERROR_SUCCESS;
}

// Products of the rows of modes i and o, whose tables are [Q][modes][P].
static void multiply_rows(const RitzDiagonalPlan *d, const CeedScalar *in, const CeedScalar *out, int i,
                          int o, CeedScalar *product) {
  const RitzPlanBasis *b = &d->plan.bases[d->output.basis];
  for (CeedInt q = 0; q < b->Q; q++) {
    const CeedScalar *a = in + ((CeedSize)q * d->num_in + i) * b->P;
    const CeedScalar *c = out + ((CeedSize)q * d->num_out + o) * b->P;
    for (CeedInt p = 0; p < b->P; p++) product[(CeedSize)q * b->P + p] = a[p] * c[p];
  }
}

static int make_matrices(CeedOperator op, const Meeting *m, RitzDiagonalPlan *d) {
  const RitzPlanBasis *b = &d->plan.bases[d->output.basis];
  const CeedSize size = (CeedSize)b->Q * b->P;
  RitzActiveGroups *in = &op->assembly_data->in, *out = &op->assembly_data->out;
  const CeedScalar *in_table, *out_table;
  if (b->is_tensor) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_group_table(op->obj.ceed, in, m->a, b->Q, &in_table));
  RITZ_TRY(ritz_group_table(op->obj.ceed, out, m->b, b->Q, &out_table));
  RITZ_TRY(RITZ_MALLOC(op->obj.ceed, (size_t)(d->num_terms * size), &d->matrices));
  for (int i = 0; i < d->num_in; i++) {
    for (int o = 0; o < d->num_out; o++)
      multiply_rows(d, in_table, out_table, i, o, d->matrices + d->term_of[i * d->num_out + o] * size);
  }
  return CEED_ERROR_SUCCESS;
}

static int list_terms(Ceed ceed, const Meeting *m, RitzDiagonalPlan *d) {
  int *in = NULL, *out = NULL, ierr;
  d->num_in = m->in->num_modes[m->a];
  d->num_out = m->out->num_modes[m->b];
  RITZ_TRY_CLEANUP(ritz_plan_list_modes(ceed, m->in, m->a, &d->first_in, &in));
  RITZ_TRY_CLEANUP(ritz_plan_list_modes(ceed, m->out, m->b, &d->first_out, &out));
  ierr = make_terms(ceed, in, out, d);
cleanup:
  RITZ_FREE(&in);
  RITZ_FREE(&out);
  return ierr;
}

// ---- The plan ----

int ritz_plan_passive(Ceed ceed, const RitzPlan *plan, RitzDiagonalPlan *d) {
  d->plan = *plan;
  d->plan.spaces = NULL;
  d->plan.fields = NULL;
  d->plan.steps = NULL;
  RITZ_TRY(copy_spaces(ceed, plan, d));
  RITZ_TRY(copy_fields(ceed, plan, d));
  return ritz_steps_inputs(ceed, &d->plan, &d->plan.steps);
}

static int describe_diagonal_plan(CeedOperator op, const RitzPlan *plan, const Meeting *m,
                                  RitzDiagonalPlan *d) {
  Ceed ceed = op->obj.ceed;
  RITZ_TRY(ritz_plan_passive(ceed, plan, d));
  set_output(op, plan, m, d);
  RITZ_TRY(make_products(ceed, d));
  RITZ_TRY(list_terms(ceed, m, d));
  return make_matrices(op, m, d);
}

int ritz_plan_refuse_diagonal(CeedOperator op, const char **reason) {
  CeedOperatorAssemblyData data;
  RITZ_TRY(CeedOperatorGetOperatorAssemblyData(op, &data));
  const Meeting meeting = find_meeting(data);
  *reason = why_no_diagonal_plan(&meeting);
  return CEED_ERROR_SUCCESS;
}

int ritz_plan_refuse_walk(CeedOperator op, const char **reason) {
  CeedOperatorAssemblyData data;
  RITZ_TRY(CeedOperatorGetOperatorAssemblyData(op, &data));
  const Meeting meeting = find_meeting(data);
  *reason = why_no_walk(&meeting);
  return CEED_ERROR_SUCCESS;
}

int ritz_plan_diagonal(CeedOperator op, const RitzPlan *plan, RitzDiagonalPlan **diagonal) {
  CeedOperatorAssemblyData data;
  RitzDiagonalPlan *made = NULL;

  *diagonal = NULL;
  RITZ_TRY(CeedOperatorGetOperatorAssemblyData(op, &data));
  const Meeting meeting = find_meeting(data);
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, 1, &made));
  const int ierr = describe_diagonal_plan(op, plan, &meeting, made);
  if (ierr) ritz_plan_free_diagonal(&made);
  *diagonal = made;
  return ierr;
}

void ritz_plan_clear_diagonal(RitzDiagonalPlan *d) {
  for (int k = 0; k < RITZ_NUM_PRODUCTS; k++) RITZ_FREE(&d->products[k].values);
  ritz_steps_free(&d->plan.steps);
  RITZ_FREE(&d->plan.spaces);
  RITZ_FREE(&d->plan.fields);
  RITZ_FREE(&d->origins);
  RITZ_FREE(&d->offsets);
  RITZ_FREE(&d->first_in);
  RITZ_FREE(&d->first_out);
  RITZ_FREE(&d->matrices);
  RITZ_FREE(&d->terms);
  RITZ_FREE(&d->term_of);
}

void ritz_plan_free_diagonal(RitzDiagonalPlan **diagonal) {
  if (!*diagonal) return;
  ritz_plan_clear_diagonal(*diagonal);
  RITZ_FREE(diagonal);
}

// ---- The target on a CPU ----

int ritz_plan_cpu_diagonal(Ceed ceed, const RitzDiagonalPlan *diagonal, const RitzCpuTarget *apply,
                           RitzCpuTarget **target) {
  const int num_spaces = diagonal->plan.num_spaces + 1;
  RitzCpuTarget *made = NULL;
  int ierr;
  *target = NULL;
  RITZ_ASSERT(apply->call == RITZ_CALL_TEXT);
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &made));
  *made = *apply;
  if (apply->evaluation == RITZ_EVALUATE_VALUES) made->evaluation = RITZ_EVALUATE_PLANES;
  made->spaces = NULL;
  made->arrays = NULL;
  made->calls = NULL;
  RITZ_TRY_CLEANUP(RITZ_CALLOC(ceed, (size_t)num_spaces, &made->spaces));
  RITZ_TRY_CLEANUP(ritz_cpu_allocate_calls(ceed, diagonal->plan.steps, made));
  for (int s = 0; s < num_spaces; s++) {
    made->spaces[s] = apply->spaces[diagonal->origins[s]];
    made->spaces[s].overwrites = -1;
  }
  ritz_cpu_lower(&diagonal->plan, made);
  *target = made;
  made = NULL;
cleanup:
  ritz_plan_cpu_free(&made);
  return ierr;
}
