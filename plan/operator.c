// SPDX-License-Identifier: BSD-2-Clause
// CeedOperator -> plan: the mathematical half, and the order of the steps. Called by backends that fuse
// operators.
#include <stdlib.h>

#include "plan/parts.h"

// ---- Operators without a plan ----

static const char *refusal(CeedElemRestriction rstr) {
  if (rstr == CEED_ELEMRESTRICTION_NONE) return NULL;
  if (rstr->type == CEED_RESTRICTION_POINTS) return "a restriction to points";
  if (rstr->block_size > 1) return "a blocked restriction";
  bool is_absolute = rstr->type == CEED_RESTRICTION_CURL_ORIENTED && rstr->use_orients && !rstr->use_signs;
  return is_absolute ? "an unsigned curl-oriented restriction" : NULL;
}

static CeedOperatorField field_of(CeedOperator op, CeedInt i) {
  return i < op->num_in ? op->in[i] : op->out[i - op->num_in];
}

static const char *find_refusal(CeedOperator op) {
  const char *reason = op->is_at_points ? "the operator is at points" : NULL;
  for (CeedInt i = 0; !reason && i < op->num_in + op->num_out; i++) reason = refusal(field_of(op, i)->rstr);
  return reason;
}

// ---- Bases ----

static int find_basis(const RitzPlan *plan, CeedBasis basis) {
  for (int i = 0; i < plan->num_bases; i++) {
    if (plan->bases[i].basis == basis) return i;
  }
  return -1;
}

static void list_bases(CeedOperator op, RitzPlan *plan) {
  for (CeedInt i = 0; i < op->num_in + op->num_out; i++) {
    CeedBasis basis = field_of(op, i)->basis;
    if (basis != CEED_BASIS_NONE && find_basis(plan, basis) < 0) plan->bases[plan->num_bases++].basis = basis;
  }
}

static int make_bases(CeedOperator op, RitzPlan *plan) {
  for (int b = 0; b < plan->num_bases; b++) {
    RitzPlanBasis *basis = &plan->bases[b];
    unsigned modes = 0;
    for (int i = 0; i < plan->num_in + plan->num_out; i++) {
      if (plan->fields[i].basis == b) modes |= (unsigned)plan->fields[i].mode;
    }
    RITZ_TRY(ritz_plan_make_basis(op->obj.ceed, modes, basis));
    basis->first_matrix = basis->is_tensor ? -1 : plan->num_matrices;
    plan->num_matrices += basis->is_tensor ? 0 : 2;
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Spaces and fields ----

// Of spaces already listed that have the same vector, or a new one.
static int32_t number_array(RitzPlan *plan, const RitzPlanSpace *space) {
  for (int i = 0; i < plan->num_spaces; i++) {
    const RitzPlanSpace *s = &plan->spaces[i];
    if (s->vec == space->vec && (!s->is_active || s->is_input == space->is_input)) return s->array;
  }
  return plan->num_arrays++;
}

static void add_space(RitzPlan *plan, bool is_input, CeedOperatorField field) {
  CeedElemRestriction r = field->rstr;
  RitzPlanSpace space = {
      .is_input = is_input,
      .is_active = field->vec == CEED_VECTOR_ACTIVE,
      .rstr = r,
      .vec = field->vec,
      .num_nodes = r->elem_size,
      .num_comp = r->num_comp,
      .basis = find_basis(plan, field->basis),
      .is_oriented = r->type == CEED_RESTRICTION_ORIENTED && r->use_orients && r->use_signs,
      .is_curl_oriented = r->type == CEED_RESTRICTION_CURL_ORIENTED && r->use_orients,
      .is_interlaced = r->type != CEED_RESTRICTION_STRIDED && r->comp_stride == 1 && r->num_comp > 1,
      .overwrites = -1,
  };
  space.array = number_array(plan, &space);
  plan->spaces[plan->num_spaces++] = space;
}

// Number of the field's space, which is added when it is new.
static int find_space(RitzPlan *plan, bool is_input, CeedOperatorField field) {
  int basis = find_basis(plan, field->basis);
  for (int i = 0; i < plan->num_spaces; i++) {
    const RitzPlanSpace *s = &plan->spaces[i];
    if (s->is_input == is_input && s->rstr == field->rstr && s->vec == field->vec && s->basis == basis)
      return i;
  }
  add_space(plan, is_input, field);
  return plan->num_spaces - 1;
}

static void list_fields(CeedOperator op, RitzPlan *plan) {
  for (CeedInt i = 0; i < op->num_in + op->num_out; i++) {
    CeedOperatorField field = field_of(op, i);
    RitzPlanField *f = &plan->fields[i];
    *f = (RitzPlanField){.name = field->qf_field->name,
                         .mode = field->qf_field->eval_mode,
                         .size = field->qf_field->size,
                         .space = -1,
                         .basis = find_basis(plan, field->basis)};
    if (f->mode == CEED_EVAL_WEIGHT) continue;
    f->space = find_space(plan, i < op->num_in, field);
    plan->spaces[f->space].modes |= (unsigned)f->mode;
  }
}

// ---- Sizes and source ----

// All tensor bases have the grid of the first, or the operator is not fused.
static void set_grid(CeedOperator op, RitzPlan *plan) {
  plan->num_elem = op->num_elem;
  plan->Q = op->num_qpts;
  plan->dim = 1;
  plan->Q_1d = plan->Q;
  for (int i = plan->num_bases - 1; i >= 0; i--) {
    if (!plan->bases[i].is_tensor) continue;
    plan->dim = plan->bases[i].dim;
    plan->Q_1d = plan->bases[i].Q_1d;
  }
}

// A relative path is one of the application's folder now; the kernel is compiled elsewhere. Stays as it is
// where the system cannot tell.
static void make_absolute(char **path) {
  char *absolute = *path && (*path)[0] != '/' ? realpath(*path, NULL) : NULL;
  if (!absolute) return;
  ritz_memory_adopt(absolute);
  RITZ_FREE(path);
  *path = absolute;
}

// A missing file is no error: the application's function can be called.
static int find_source(CeedQFunction qf, RitzPlan *plan) {
  plan->function_name = qf->kernel_name;
  plan->vec_length = qf->vec_length;
  if (!qf->source_path || !qf->kernel_name[0]) return CEED_ERROR_SUCCESS;
  if (!qf->resolved_path) {
    RITZ_TRY(ritz_jit_find(qf->obj.ceed, NULL, qf->source_path, &qf->resolved_path));
    make_absolute(&qf->resolved_path);
  }
  plan->source_path = qf->resolved_path;
  return CEED_ERROR_SUCCESS;
}

static int describe(CeedOperator op, RitzPlan *plan) {
  Ceed ceed = op->obj.ceed;
  size_t num_fields = (size_t)op->num_in + (size_t)op->num_out;
  plan->num_in = op->num_in;
  plan->num_out = op->num_out;
  RITZ_TRY(CeedQFunctionGetName(op->qf, &plan->name));
  if (op->name) plan->name = op->name;
  RITZ_TRY(RITZ_CALLOC(ceed, num_fields, &plan->bases));
  RITZ_TRY(RITZ_CALLOC(ceed, num_fields, &plan->spaces));
  RITZ_TRY(RITZ_CALLOC(ceed, num_fields, &plan->fields));
  list_bases(op, plan);
  list_fields(op, plan);
  RITZ_TRY(make_bases(op, plan));
  set_grid(op, plan);
  return find_source(op->qf, plan);
}

// ---- The plan ----

int ritz_plan_operator(CeedOperator op, const RitzPlanMachine *machine, RitzPlanRows rows, RitzPlan **plan,
                       const char **reason) {
  RitzPlan *made = NULL;
  int ierr;
  *plan = NULL;
  RITZ_TRY(CeedOperatorCheckReady(op));
  *reason = find_refusal(op);
  if (*reason) return CEED_ERROR_SUCCESS;

  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, 1, &made));
  RITZ_TRY_CLEANUP(describe(op, made));
  RITZ_TRY_CLEANUP(ritz_plan_choose_target(made, machine, rows));
  ritz_plan_count_cost(made, op->qf->user_flops > 0 ? (double)op->qf->user_flops : 0);
  *plan = made;
  made = NULL;
cleanup:
  ritz_plan_free(&made);
  return ierr;
}

void ritz_plan_free(RitzPlan **plan) {
  RitzPlan *p = *plan;
  if (!p) return;
  for (int i = 0; i < p->num_bases; i++) ritz_plan_free_basis(&p->bases[i]);
  RITZ_FREE(&p->bases);
  RITZ_FREE(&p->spaces);
  RITZ_FREE(&p->fields);
  RITZ_FREE(plan);
}
