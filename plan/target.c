// SPDX-License-Identifier: BSD-2-Clause
// The target half of a plan: how the kernel works on this machine, by rules that were measured. Called by
// plan/operator.c; the machine's description and the change to the function pointer by backends.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plan/parts.h"

// ---- Machine ----

static CeedInt vector_bytes(void) {
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
  if (__builtin_cpu_supports("avx512f")) return 64;
  if (__builtin_cpu_supports("avx2")) return 32;
#endif
  return 16;
}

// RITZ_LANES: 2, 4, 8, 16 or 32 in place of what a vector register holds; else 0.
static CeedInt wanted_lanes(const char *text) {
  const long lanes = text ? strtol(text, NULL, 10) : 0;
  return lanes >= 2 && lanes <= 32 && (lanes & (lanes - 1)) == 0 ? (CeedInt)lanes : 0;
}

void ritz_plan_machine(RitzPlanMachine *machine) {
  bool is_trusted = getuid() == geteuid() && getgid() == getegid();
  const char *wanted = is_trusted ? getenv("RITZ_QFUNCTION") : NULL;
  machine->lanes = wanted_lanes(is_trusted ? getenv("RITZ_LANES") : NULL);
  if (!machine->lanes) machine->lanes = vector_bytes() / (CeedInt)sizeof(CeedScalar);
  machine->allows_text = !wanted || strcmp(wanted, "pointer");
  const char *forms = is_trusted ? getenv("RITZ_FORMS") : NULL;
  machine->allows_forms = !forms || strcmp(forms, "off");
  const char *folds = is_trusted ? getenv("RITZ_FOLD") : NULL;
  machine->allows_folds = !folds || strcmp(folds, "off");
}

// ---- Forms ----

static void choose_forms(RitzPlan *plan, bool allows_forms) {
  for (int i = 0; allows_forms && i < plan->num_spaces; i++)
    plan->spaces[i].form = ritz_plan_form_of(plan, &plan->spaces[i]);
}

// Dense bases that some field is contracted with.
static int fold_bases(RitzPlan *plan) {
  if (plan->target.evaluation == RITZ_EVALUATE_NONE) return CEED_ERROR_SUCCESS;
  for (int i = 0; i < plan->num_spaces; i++) {
    const RitzPlanSpace *space = &plan->spaces[i];
    RitzPlanBasis *basis = space->basis < 0 ? NULL : &plan->bases[space->basis];
    if (basis && space->form == RITZ_FORM_LINES && !basis->is_folded)
      RITZ_TRY(ritz_plan_fold(space->rstr->obj.ceed, basis));
  }
  return CEED_ERROR_SUCCESS;
}

// The basis of a space that goes line by line, if it is a tensor product.
static const RitzPlanBasis *line_basis_of(const RitzPlan *plan, const RitzPlanSpace *space) {
  const RitzPlanBasis *basis = space->basis < 0 ? NULL : &plan->bases[space->basis];
  return basis && basis->is_tensor && space->form == RITZ_FORM_LINES ? basis : NULL;
}

// ---- Evaluation and call ----

static const RitzPlanBasis *tensor_basis_of(const RitzPlan *plan, const RitzPlanSpace *space) {
  const RitzPlanBasis *basis = space->basis < 0 ? NULL : &plan->bases[space->basis];
  return basis && basis->is_tensor ? basis : NULL;
}

static RitzEvaluation choose_evaluation(const RitzPlan *plan) {
  RitzEvaluation evaluation = RITZ_EVALUATE_FLAT;
  for (int i = 0; i < plan->num_bases; i++) {
    const RitzPlanBasis *b = &plan->bases[i];
    if (!b->is_tensor) continue;
    if (b->dim > 3 || b->dim != plan->dim || b->Q_1d != plan->Q_1d) return RITZ_EVALUATE_NONE;
    evaluation = RITZ_EVALUATE_PLANES;
  }
  return evaluation;
}

// The points form a tensor grid.
static bool has_grid(const RitzPlan *plan) {
  return plan->target.evaluation == RITZ_EVALUATE_PLANES || plan->target.evaluation == RITZ_EVALUATE_VALUES;
}

static bool fits(const RitzPlan *plan) {
  return (CeedSize)plan->target.lanes * plan->target.call_points % plan->vec_length == 0;
}

// One point a call if the text is there to be inlined, else a row; all points, which the vector length
// divides, from a kernel that is not fused.
static void choose_call(RitzPlan *plan, bool has_text) {
  RitzPlanTarget *t = &plan->target;
  t->call = has_text ? RITZ_CALL_TEXT : RITZ_CALL_POINTER;
  t->call_points = has_text ? 1 : plan->Q_1d;
  if (!fits(plan)) t->call_points = plan->Q_1d;
  if (!fits(plan)) t->evaluation = RITZ_EVALUATE_NONE;
  if (t->evaluation != RITZ_EVALUATE_NONE) return;
  t->call = RITZ_CALL_POINTER;
  t->call_points = plan->Q;
}

// Values only, one point a call: whole rows of points stay in registers.
static bool has_values_only(const RitzPlan *plan) {
  bool has_values = false;
  for (int i = 0; i < plan->num_spaces; i++) {
    const RitzPlanSpace *space = &plan->spaces[i];
    const RitzPlanBasis *basis = line_basis_of(plan, space);
    if (!basis) continue;
    if (basis->route != RITZ_ROUTE_COLLOCATED || (space->modes & CEED_EVAL_GRAD)) return false;
    has_values = true;
  }
  return has_values && plan->dim >= 2 && plan->target.call_points == 1;
}

static void choose_values(RitzPlan *plan) {
  if (plan->target.evaluation == RITZ_EVALUATE_PLANES && has_values_only(plan))
    plan->target.evaluation = RITZ_EVALUATE_VALUES;
}

// ---- Gathers ----

// Length of the rows that the kernel would take a space's nodes in; 0: none. Rows of one node are nodes.
static CeedInt wanted_row(const RitzPlan *plan, const RitzPlanSpace *space) {
  const RitzPlanBasis *basis = tensor_basis_of(plan, space);
  bool is_row_of_points = space->basis < 0 && has_grid(plan);
  CeedInt length = basis ? basis->P_1d : is_row_of_points ? plan->Q_1d : 0;
  return length > 1 ? length : 0;
}

// A vector is packed in one order at a time.
static bool is_packed_already(const RitzPlan *plan, const RitzPlanSpace *s) {
  for (const RitzPlanSpace *t = plan->spaces; t < s; t++) {
    if (t->array == s->array && t->gather == RITZ_GATHER_PACKED) return true;
  }
  return false;
}

static int choose_gather(const RitzPlan *plan, RitzPlanRows rows, RitzPlanSpace *s) {
  bool has_rows = false;
  if (s->rstr->type == CEED_RESTRICTION_STRIDED) {
    bool is_packed = ritz_plan_is_stored(s) && !is_packed_already(plan, s);
    s->gather = is_packed ? RITZ_GATHER_PACKED : RITZ_GATHER_STRIDED;
    return CEED_ERROR_SUCCESS;
  }
  s->gather = RITZ_GATHER_NODES;
  CeedInt row = wanted_row(plan, s);
  if (!rows || row == 0 || s->rstr->type != CEED_RESTRICTION_STANDARD) return CEED_ERROR_SUCCESS;
  RITZ_TRY(rows(s->rstr, row, plan->target.lanes, &has_rows));
  if (!has_rows) return CEED_ERROR_SUCCESS;
  s->gather = RITZ_GATHER_ROWS;
  s->row_length = row;
  return CEED_ERROR_SUCCESS;
}

// ---- Shared arrays ----

static bool is_taken(const RitzPlan *plan, int input) {
  for (int i = 0; i < plan->num_spaces; i++) {
    if (plan->spaces[i].overwrites == input) return true;
  }
  return false;
}

// The first input space whose arrays an output may have; -1: none.
static int find_spent(const RitzPlan *plan, const RitzPlanSpace *output) {
  const RitzPlanBasis *basis = tensor_basis_of(plan, output);
  if (output->is_input || !basis || basis->route == RITZ_ROUTE_DIRECT) return -1;
  for (int i = 0; i < plan->num_spaces; i++) {
    const RitzPlanSpace *s = &plan->spaces[i];
    bool is_like = s->is_input && s->form == RITZ_FORM_LINES && s->basis == output->basis &&
                   s->num_comp == output->num_comp;
    if (is_like && !is_taken(plan, i)) return i;
  }
  return -1;
}

static void share_arrays(RitzPlan *plan) {
  for (int i = 0; has_grid(plan) && i < plan->num_spaces; i++)
    plan->spaces[i].overwrites = find_spent(plan, &plan->spaces[i]);
}

// ---- Prefetching ----

// Stored data of the next batch, else its rows of nodes: memory would be idle while contractions run. Rows of
// two nodes are not worth it.
static void choose_prefetching(RitzPlan *plan) {
  RitzPlanTarget *t = &plan->target;
  bool is_fused = t->evaluation != RITZ_EVALUATE_NONE;
  bool has_packed = false, has_long_rows = false;
  for (int i = 0; i < plan->num_spaces; i++) {
    const RitzPlanBasis *basis = tensor_basis_of(plan, &plan->spaces[i]);
    has_packed = has_packed || plan->spaces[i].gather == RITZ_GATHER_PACKED;
    has_long_rows = has_long_rows || (basis && basis->P_1d > 2);
  }
  t->prefetch_packed = is_fused && has_packed;
  t->prefetch_vectors = is_fused && !has_packed && has_long_rows;
}

// ---- The target ----

int ritz_plan_choose_target(RitzPlan *plan, const RitzPlanMachine *machine, RitzPlanRows rows) {
  plan->target.lanes = machine->lanes;
  plan->target.evaluation = choose_evaluation(plan);
  choose_forms(plan, machine->allows_forms && plan->target.evaluation != RITZ_EVALUATE_NONE);
  choose_call(plan, machine->allows_text && plan->source_path);
  if (machine->allows_folds) RITZ_TRY(fold_bases(plan));
  choose_values(plan);
  for (int i = 0; i < plan->num_spaces; i++) RITZ_TRY(choose_gather(plan, rows, &plan->spaces[i]));
  share_arrays(plan);
  choose_prefetching(plan);
  return CEED_ERROR_SUCCESS;
}

// Planes instead of rows in registers; else the evaluation stays: a row fits whenever a point or a row of the
// text does.
void ritz_plan_use_pointer(RitzPlan *plan) {
  if (plan->target.evaluation == RITZ_EVALUATE_VALUES) plan->target.evaluation = RITZ_EVALUATE_PLANES;
  choose_call(plan, false);
}
