// SPDX-License-Identifier: BSD-2-Clause
// CeedOperator -> plan (contract in plan/plan.h). Called by backends that fuse operators.
#include "base/text.h"
#include "plan/internal.h"
#include "plan/steps.h"

// ---- Operators without a plan ----

static const char *refusal(CeedElemRestriction rstr) {
  if (rstr == CEED_ELEMRESTRICTION_NONE) return NULL;
  if (rstr->type == CEED_RESTRICTION_POINTS) return "a restriction to points";
  if (rstr->block_size > 1) return "a blocked restriction";
  bool is_absolute = rstr->type == CEED_RESTRICTION_CURL_ORIENTED && rstr->use_orients && !rstr->use_signs;
  return is_absolute ? "an unsigned curl-oriented restriction" : NULL;
}

// Fields at points are those of operators at points.
static const char *why_not_at_points(CeedOperator op) {
  bool is_other = op->precision != CEED_SCALAR_TYPE || op->active_precision[0] != CEED_SCALAR_TYPE ||
                  op->active_precision[1] != CEED_SCALAR_TYPE ||
                  op->point_coords->precision != CEED_SCALAR_TYPE;
  for (CeedInt i = 0; i < op->num_in + op->num_out; i++) {
    CeedOperatorField field = ritz_operator_field(op, i);
    if (ritz_field_is_unused(field)) continue;
    if (field->vec != CEED_VECTOR_ACTIVE && field->vec != CEED_VECTOR_NONE)
      is_other = is_other || field->vec->precision != CEED_SCALAR_TYPE;
    if (field->basis != CEED_BASIS_NONE && field->basis->dim > 3)
      return "a basis at points in more than three dimensions";
  }
  return is_other ? "the operator is at points, and not all of it in CeedScalar" : NULL;
}

static const char *why_no_plan(CeedOperator op, bool allows_points) {
  const char *reason = !op->is_at_points ? NULL
                       : allows_points   ? why_not_at_points(op)
                                         : "the operator is at points";
  for (CeedInt i = 0; !reason && i < op->num_in + op->num_out; i++) {
    CeedElemRestriction rstr = ritz_operator_field(op, i)->rstr;
    const bool is_at_points =
        rstr != CEED_ELEMRESTRICTION_NONE && rstr->type == CEED_RESTRICTION_POINTS && op->is_at_points;
    if (!is_at_points) reason = refusal(rstr);
  }
  return reason;
}

// ---- Bases ----

static CeedBasis ceed_basis_of(CeedOperator op, const RitzPlanBasis *basis) {
  return ritz_operator_field(op, basis->field)->basis;
}

static int find_basis(CeedOperator op, const RitzPlan *plan, CeedBasis basis) {
  for (int i = 0; i < plan->num_bases; i++) {
    if (ceed_basis_of(op, &plan->bases[i]) == basis) return i;
  }
  return -1;
}

static void list_bases(CeedOperator op, RitzPlan *plan) {
  for (CeedInt i = 0; i < op->num_in + op->num_out; i++) {
    CeedBasis basis = ritz_operator_field(op, i)->basis;
    if (basis != CEED_BASIS_NONE && find_basis(op, plan, basis) < 0)
      plan->bases[plan->num_bases++].field = (int)i;
  }
}

static int make_bases(CeedOperator op, bool allows_blocks, RitzPlan *plan) {
  for (int b = 0; b < plan->num_bases; b++) {
    RitzPlanBasis *basis = &plan->bases[b];
    unsigned modes = 0;
    for (int i = 0; i < plan->num_in + plan->num_out; i++) {
      if (plan->fields[i].basis == b) modes |= (unsigned)plan->fields[i].mode;
    }
    RITZ_TRY(op->is_at_points ? ritz_plan_make_basis_at_points(ceed_basis_of(op, basis), modes, basis)
                              : ritz_plan_make_basis(ceed_basis_of(op, basis), modes, allows_blocks, basis));
    const bool has_matrices = basis->route == RITZ_ROUTE_DENSE;
    basis->first_matrix = has_matrices ? plan->num_matrices : -1;
    plan->num_matrices += has_matrices ? 2 : 0;
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Spaces and fields ----

static CeedElemRestriction restriction_of(CeedOperator op, const RitzPlanSpace *space) {
  return space->field < 0 ? op->rstr_points : ritz_operator_field(op, space->field)->rstr;
}

static CeedVector vector_of(CeedOperator op, const RitzPlanSpace *space) {
  return space->field < 0 ? op->point_coords : ritz_operator_field(op, space->field)->vec;
}

// Number of the array of a space: that of an earlier space with the same vector, else a new one.
static int32_t number_array(CeedOperator op, RitzPlan *plan, const RitzPlanSpace *space) {
  CeedVector vec = vector_of(op, space);
  for (int i = 0; i < plan->num_spaces; i++) {
    const RitzPlanSpace *s = &plan->spaces[i];
    if (vector_of(op, s) == vec && (!s->is_active || s->is_input == space->is_input)) return s->array;
  }
  return plan->num_arrays++;
}

// Number of the restriction of a space: that of an earlier space with the same one, else a new one.
static int number_restriction(CeedOperator op, const RitzPlan *plan, CeedElemRestriction rstr) {
  int number = 0;
  for (int i = 0; i < plan->num_spaces; i++) {
    const RitzPlanSpace *s = &plan->spaces[i];
    if (restriction_of(op, s) == rstr) return s->restriction.number;
    number = s->restriction.number >= number ? s->restriction.number + 1 : number;
  }
  return number;
}

static RitzPlanRestriction describe_restriction(int number, CeedElemRestriction rstr) {
  RitzPlanRestriction made = {.number = number,
                              .type = rstr->type,
                              .comp_stride = rstr->comp_stride,
                              .row_step = ritz_restriction_row_step(rstr),
                              .l_size = rstr->l_size,
                              .e_size = rstr->e_size};
  if (rstr->type == CEED_RESTRICTION_STRIDED) ritz_restriction_l_strides(rstr, made.strides);
  return made;
}

// Active vectors have the precision that the operator is made for.
static CeedScalarType precision_of(CeedOperator op, bool is_input, CeedVector vec) {
  return vec == CEED_VECTOR_ACTIVE ? op->active_precision[is_input ? 0 : 1] : vec->precision;
}

static void add_space(CeedOperator op, RitzPlan *plan, bool is_input, CeedInt i) {
  CeedOperatorField field = ritz_operator_field(op, i);
  CeedElemRestriction r = field->rstr;
  RitzPlanSpace space = {
      .is_input = is_input,
      .is_active = field->vec == CEED_VECTOR_ACTIVE,
      .field = (int)i,
      .restriction = describe_restriction(number_restriction(op, plan, r), r),
      .precision = precision_of(op, is_input, field->vec),
      .num_nodes =
          op->is_at_points && r->type == CEED_RESTRICTION_POINTS ? RITZ_POINTS_AT_ONCE : r->elem_size,
      .num_comp = r->num_comp,
      .basis = find_basis(op, plan, field->basis),
      .is_oriented = r->type == CEED_RESTRICTION_ORIENTED && r->use_orients && r->use_signs,
      .is_curl_oriented = r->type == CEED_RESTRICTION_CURL_ORIENTED && r->use_orients,
      .is_interlaced = r->type != CEED_RESTRICTION_STRIDED && r->comp_stride == 1 && r->num_comp > 1,
  };
  space.array = number_array(op, plan, &space);
  plan->spaces[plan->num_spaces++] = space;
}

// Space 0.
static void add_coordinates(CeedOperator op, RitzPlan *plan) {
  CeedElemRestriction r = op->rstr_points;
  RitzPlanSpace space = {.is_input = true,
                         .field = -1,
                         .restriction = describe_restriction(0, r),
                         .precision = op->point_coords->precision,
                         .num_nodes = RITZ_POINTS_AT_ONCE,
                         .num_comp = r->num_comp,
                         .basis = -1};
  space.array = number_array(op, plan, &space);
  plan->spaces[plan->num_spaces++] = space;
}

// Number of the space of field i, which is added when it is new.
static int find_space(CeedOperator op, RitzPlan *plan, bool is_input, CeedInt i) {
  CeedOperatorField field = ritz_operator_field(op, i);
  int basis = find_basis(op, plan, field->basis);
  for (int k = 0; k < plan->num_spaces; k++) {
    const RitzPlanSpace *s = &plan->spaces[k];
    if (s->is_input == is_input && restriction_of(op, s) == field->rstr && vector_of(op, s) == field->vec &&
        s->basis == basis)
      return k;
  }
  add_space(op, plan, is_input, i);
  return plan->num_spaces - 1;
}

static int list_fields(CeedOperator op, RitzPlan *plan) {
  RitzPlanField *f = plan->fields;
  for (CeedInt i = 0; i < op->num_in + op->num_out; i++) {
    CeedOperatorField field = ritz_operator_field(op, i);
    if (ritz_field_is_unused(field)) continue;
    *f = (RitzPlanField){.argument = i < op->num_in ? (int)i : (int)(i - op->num_in),
                         .mode = field->qf_field->eval_mode,
                         .size = field->qf_field->size,
                         .space = -1,
                         .basis = find_basis(op, plan, field->basis)};
    RITZ_TRY(ritz_strdup(op->obj.ceed, field->qf_field->name, &f->name));
    if (f->mode != CEED_EVAL_WEIGHT) {
      f->space = find_space(op, plan, i < op->num_in, i);
      plan->spaces[f->space].modes |= (unsigned)f->mode;
    }
    f++;
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_plan_field_of(const RitzPlan *plan, bool is_input, int argument) {
  const int begin = is_input ? 0 : plan->num_in, num = is_input ? plan->num_in : plan->num_out;
  for (int i = 0; i < num; i++) {
    if (plan->fields[begin + i].argument == argument) return i;
  }
  return -1;
}

// ---- Sizes and source ----

// All bases on grids have the grid of the first, or the operator is not fused. At points there is none.
static void set_grid(CeedOperator op, RitzPlan *plan) {
  plan->num_elem = op->num_elem;
  plan->Q = op->is_at_points ? RITZ_POINTS_AT_ONCE : op->num_qpts;
  plan->dim = 1;
  plan->Q_1d = plan->Q;
  if (op->is_at_points) return;
  for (int i = plan->num_bases - 1; i >= 0; i--) {
    if (!ritz_plan_has_grid(&plan->bases[i])) continue;
    plan->dim = plan->bases[i].dim;
    plan->Q_1d = plan->bases[i].Q_1d;
  }
}

// A missing file, or a name that can stand in no text, is no error: the application's function can be called.
static int describe_function(CeedQFunction qf, RitzPlan *plan) {
  Ceed ceed = qf->obj.ceed;
  const RitzStringList *defines = &ceed->jit_defines;
  const char *path = NULL;
  const bool is_name = ritz_is_identifier(qf->kernel_name);
  plan->vec_length = qf->vec_length;
  plan->has_context = qf->ctx && qf->ctx->storage.num_bytes > 0;
  plan->is_context_writable = qf->is_context_writable;
  plan->user_flops = qf->user_flops > 0 ? (double)qf->user_flops : 0;
  RITZ_TRY(ritz_strdup(ceed, is_name ? qf->kernel_name : "", &plan->function_name));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)defines->num, &plan->defines));
  for (CeedInt i = 0; i < defines->num; i++) {
    RITZ_TRY(ritz_strdup(ceed, defines->item[i], &plan->defines[i]));
    plan->num_defines++;
  }
  plan->is_cxx = qf->is_cxx;
  if (is_name && qf->text) RITZ_TRY(ritz_strdup(ceed, qf->text, &plan->source_text));
  if (is_name) RITZ_TRY(ritz_qfunction_find_source(qf, &path));
  return path ? ritz_strdup(ceed, path, &plan->source_path) : CEED_ERROR_SUCCESS;
}

static int describe_space(CeedOperator op, const RitzPlanOptions *options, RitzPlan *plan) {
  Ceed ceed = op->obj.ceed;
  size_t num_fields = (size_t)op->num_in + (size_t)op->num_out;
  const char *name;
  plan->precision = op->precision;
  plan->is_at_points = op->is_at_points;
  plan->num_points = op->is_at_points ? op->rstr_points->num_points : 0;
  plan->num_in_arguments = op->num_in;
  plan->num_out_arguments = op->num_out;
  for (CeedInt i = 0; i < op->num_in; i++) plan->num_in += !ritz_field_is_unused(op->in[i]);
  for (CeedInt i = 0; i < op->num_out; i++) plan->num_out += !ritz_field_is_unused(op->out[i]);
  RITZ_TRY(CeedQFunctionGetName(op->qf, &name));
  RITZ_TRY(ritz_strdup(ceed, op->name ? op->name : name, &plan->name));
  RITZ_TRY(RITZ_CALLOC(ceed, num_fields, &plan->bases));
  RITZ_TRY(RITZ_CALLOC(ceed, num_fields + 1, &plan->spaces));
  RITZ_TRY(RITZ_CALLOC(ceed, num_fields, &plan->fields));
  list_bases(op, plan);
  if (op->is_at_points) add_coordinates(op, plan);
  RITZ_TRY(list_fields(op, plan));
  RITZ_TRY(make_bases(op, options->allows_blocks, plan));
  set_grid(op, plan);
  return describe_function(op->qf, plan);
}

// ---- Structure of bases ----

bool ritz_plan_has_one_grid(const RitzPlan *plan) {
  for (int i = 0; i < plan->num_bases; i++) {
    const RitzPlanBasis *b = &plan->bases[i];
    if (ritz_plan_has_grid(b) && (b->dim > 3 || b->dim != plan->dim || b->Q_1d != plan->Q_1d)) return false;
  }
  return true;
}

static void find_input_kinds(bool only_constant, RitzPlan *plan) {
  for (int i = 0; i < plan->num_spaces; i++) {
    const RitzInputKind kind = ritz_plan_input_kind(plan, &plan->spaces[i]);
    if (kind == RITZ_INPUT_CONSTANT || !only_constant) plan->spaces[i].kind = kind;
  }
}

// Finds the even-odd structure of dense bases that some field is contracted with.
static int find_even_odd(CeedOperator op, bool near, RitzPlan *plan) {
  for (int i = 0; i < plan->num_spaces; i++) {
    const RitzPlanSpace *space = &plan->spaces[i];
    RitzPlanBasis *basis = space->basis < 0 ? NULL : &plan->bases[space->basis];
    if (basis && space->kind == RITZ_INPUT_CONTRACTED && !basis->is_even_odd)
      RITZ_TRY(ritz_plan_find_even_odd(ceed_basis_of(op, basis), near, basis));
  }
  return CEED_ERROR_SUCCESS;
}

static int find_structure(CeedOperator op, const RitzPlanOptions *options, RitzPlan *plan) {
  if (plan->is_at_points || !ritz_plan_has_one_grid(plan)) return CEED_ERROR_SUCCESS;
  if (options->allows_simple_inputs) find_input_kinds(options->only_constant_inputs, plan);
  return options->allows_even_odd ? find_even_odd(op, options->even_odd_near, plan) : CEED_ERROR_SUCCESS;
}

// ---- The plan ----

int ritz_plan_operator(CeedOperator op, const RitzPlanOptions *options, RitzPlan **plan,
                       const char **reason) {
  RitzPlan *made = NULL;
  int ierr;
  *plan = NULL;
  RITZ_TRY(CeedOperatorCheckReady(op));
  *reason = why_no_plan(op, options->allows_points);
  if (*reason) return CEED_ERROR_SUCCESS;

  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, 1, &made));
  RITZ_TRY_CLEANUP(describe_space(op, options, made));
  RITZ_TRY_CLEANUP(find_structure(op, options, made));
  RITZ_TRY_CLEANUP(ritz_steps_apply(op->obj.ceed, made, &made->steps));
  *plan = made;
  made = NULL;
cleanup:
  ritz_plan_free(&made);
  return ierr;
}

void ritz_plan_free(RitzPlan **plan) {
  RitzPlan *p = *plan;
  if (!p) return;
  ritz_steps_free(&p->steps);
  for (int i = 0; i < p->num_bases; i++) ritz_plan_free_basis(&p->bases[i]);
  for (int i = 0; p->fields && i < p->num_in + p->num_out; i++) RITZ_FREE(&p->fields[i].name);
  for (int i = 0; i < p->num_defines; i++) RITZ_FREE(&p->defines[i]);
  RITZ_FREE(&p->name);
  RITZ_FREE(&p->function_name);
  RITZ_FREE(&p->source_path);
  RITZ_FREE(&p->source_text);
  RITZ_FREE((void **)&p->defines);
  RITZ_FREE(&p->bases);
  RITZ_FREE(&p->spaces);
  RITZ_FREE(&p->fields);
  RITZ_FREE(plan);
}
