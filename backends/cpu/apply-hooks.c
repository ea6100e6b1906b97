// SPDX-License-Identifier: BSD-2-Clause
// Applies with hooks (core/apply-hooks.h): one apply whose kernels call the solver's functions before the
// first and after the last touch of each chunk of RITZ_CHUNK entries, and passes over ranges on the same
// threads. Called through the table of the backend.
//
// The ranges of a single operator are those of its schedule. The sub-operators of a composite run one after
// the other: `before` of a chunk belongs to the first one that touches it, `after` to the last one, and the
// lists of each schedule are cut down to these. Memory, kept with the operator: 96 bytes a section of the
// schedule; of a composite of several also 16 bytes a batch and 32 bytes, or a bit more, per chunk.
#include "core/apply-hooks.h"
#include "backends/cpu/cpu.h"
#include "core/profile.h"

#include <string.h>

// A sub-operator with elements, or the operator itself.
typedef struct {
  CeedOperator op; // borrowed
  int64_t number;  // of its tier when this was made
  // Ranges of each position as in RitzSchedule; owned where there are several pieces, else the schedule's.
  int64_t *before_begin, *after_begin;
  RitzRange *before, *after;
} Piece;

// Arguments of the hooks of one section.
typedef struct {
  const RitzApplyHooks *hooks;
  CeedScalar *in, *out;
  int slot;
} Caller;

struct RitzCpuApplyHooks {
  const char *reason; // static: why there can be none; NULL
  CeedInt num_sub;    // of the composite when this was made
  CeedInt num_pieces;
  Piece *pieces; // owned, in the order in which they run
  int num_slots; // the most sections that a schedule has
  // Owned, [num_slots]:
  Caller *callers;
  RitzKernelHook *before, *after;
};

void ritz_cpu_apply_hooks_destroy(RitzCpuApplyHooks **hooks) {
  RitzCpuApplyHooks *s = *hooks;
  if (!s) return;
  for (CeedInt i = 0; s->num_pieces > 1 && i < s->num_pieces; i++) {
    RITZ_FREE(&s->pieces[i].before_begin);
    RITZ_FREE(&s->pieces[i].before);
    RITZ_FREE(&s->pieces[i].after_begin);
    RITZ_FREE(&s->pieces[i].after);
  }
  RITZ_FREE(&s->pieces);
  RITZ_FREE(&s->callers);
  RITZ_FREE(&s->before);
  RITZ_FREE(&s->after);
  RITZ_FREE(hooks);
}

// ---- What can be applied with hooks ----

// Both restrictions name the same entries for each element.
static bool same_entries(CeedElemRestriction a, CeedElemRestriction b) {
  if (a == b) return true;
  const bool is_strided = a->type == CEED_RESTRICTION_STRIDED;
  if (is_strided != (b->type == CEED_RESTRICTION_STRIDED) || a->elem_size != b->elem_size ||
      a->num_comp != b->num_comp)
    return false;
  if (is_strided) {
    CeedInt strides[2][3];
    ritz_restriction_l_strides(a, strides[0]);
    ritz_restriction_l_strides(b, strides[1]);
    return !memcmp(strides[0], strides[1], sizeof(strides[0]));
  }
  const size_t num = (size_t)a->num_elem * (size_t)a->elem_size;
  return a->comp_stride == b->comp_stride && !memcmp(a->offsets, b->offsets, num * sizeof(*a->offsets));
}

// An active output touches the entries that this input reads, batch by batch.
static bool is_covered(CeedOperator op, const RitzPlan *plan, const RitzPlanSpace *input) {
  for (int s = 0; s < plan->num_spaces; s++) {
    const RitzPlanSpace *output = &plan->spaces[s];
    if (!output->is_input && same_entries(ritz_operator_field(op, input->field)->rstr,
                                          ritz_operator_field(op, output->field)->rstr))
      return true;
  }
  return false;
}

static const char *refuse_space(CeedOperator op, const RitzCpuTier *tier, int s) {
  const RitzPlanSpace *space = &tier->plan->spaces[s];
  if (!space->is_active || !space->is_input) return NULL;
  if (tier->target->spaces[s].gather == RITZ_GATHER_PACKED) return "the active input holds values at points";
  return is_covered(op, tier->plan, space) ? NULL
                                           : "active input and active output have different restrictions";
}

static bool is_too_short(CeedOperatorField field) {
  return field->vec != CEED_VECTOR_ACTIVE && field->rstr != CEED_ELEMRESTRICTION_NONE &&
         field->vec->length < field->rstr->l_size;
}

// Before operators are prepared, which looks at their functions with values of the inputs: a passive output
// may be one of them, and has values in an apply only.
static const char *refuse_fields(CeedOperator op) {
  const char *reason = NULL;
  for (CeedInt i = 0; i < op->num_out; i++) {
    if (op->out[i]->vec != CEED_VECTOR_ACTIVE && !ritz_field_is_unused(op->out[i]))
      return "the operator has a passive output";
  }
  for (CeedInt i = 0; i < op->num_in; i++) {
    if (is_too_short(op->in[i])) return "a passive vector is too short";
  }
  for (CeedInt i = 0; i < op->num_sub && !reason; i++) reason = refuse_fields(op->sub[i]);
  return reason;
}

// Why a prepared operator with elements cannot be applied with hooks (static string), or NULL. n: length of
// the active vectors.
static const char *why_no_hooks_of(CeedOperator op, const RitzCpuTier *tier, CeedSize n) {
  CeedSize covered = 0;

  if (tier->path == RITZ_PATH_DELEGATED) return "the reference backend runs the operator";
  if (tier->plan->is_at_points) return "the operator is at points";
  for (int s = 0; s < tier->plan->num_spaces; s++) {
    const RitzPlanSpace *space = &tier->plan->spaces[s];
    const char *reason = refuse_space(op, tier, s);
    if (reason) return reason;
    if (!space->is_input && space->restriction.l_size > covered) covered = space->restriction.l_size;
  }
  return covered == n ? NULL : "restrictions of the active vectors differ in their lengths";
}

// A generated kernel may come between two applies.
static int why_no_hooks(CeedOperator op, CeedSize n, const char **reason) {
  const RitzCpuOperator *data = op->data;
  *reason = why_no_hooks_of(op, ritz_cpu_tier(op), n);
  if (*reason) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_cpu_plan_kernel(op));
  if (ritz_cpu_is_coming(data)) *reason = why_no_hooks_of(op, &data->generated, n);
  return CEED_ERROR_SUCCESS;
}

// ---- Which piece a chunk belongs to ----

static void mark_chunk(int64_t chunk, int32_t piece, int32_t *first, int32_t *last) {
  if (first[chunk] < 0) first[chunk] = piece;
  last[chunk] = piece;
}

static void mark_offsets(CeedElemRestriction r, int32_t piece, int32_t *first, int32_t *last) {
  const int64_t num = (int64_t)r->num_elem * r->elem_size;
  for (CeedInt c = 0; c < r->num_comp; c++) {
    const int64_t shift = (int64_t)c * r->comp_stride;
    for (int64_t i = 0; i < num; i++) mark_chunk((r->offsets[i] + shift) / RITZ_CHUNK, piece, first, last);
  }
}

static void mark_strided(CeedElemRestriction r, int32_t piece, int32_t *first, int32_t *last) {
  for (CeedInt e = 0; e < r->num_elem; e++) {
    for (CeedInt c = 0; c < r->num_comp; c++) {
      for (CeedInt i = 0; i < r->elem_size; i++)
        mark_chunk(ritz_restriction_l_index(r, e, i, c) / RITZ_CHUNK, piece, first, last);
    }
  }
}

static void mark_piece(CeedOperator op, int32_t piece, int32_t *first, int32_t *last) {
  const RitzPlan *plan = ritz_cpu_tier(op)->plan;
  for (int s = 0; s < plan->num_spaces; s++) {
    CeedElemRestriction r = ritz_operator_field(op, plan->spaces[s].field)->rstr;
    if (plan->spaces[s].is_input) continue;
    (r->type == CEED_RESTRICTION_STRIDED ? mark_strided : mark_offsets)(r, piece, first, last);
  }
}

// ---- Lists of a piece ----

// Appends the chunks of a range that belong to `piece`; without `ranges` they are counted.
static void cut_range(RitzRange range, const int32_t *owner, int32_t piece, int64_t *num, RitzRange *ranges) {
  const int64_t end = range.first + range.count;
  for (int64_t begin = range.first, next; begin < end; begin = next) {
    const bool is_ours = owner[begin / RITZ_CHUNK] == piece;
    next = begin;
    while (next < end && (owner[next / RITZ_CHUNK] == piece) == is_ours) next += RITZ_CHUNK;
    if (next > end) next = end;
    if (!is_ours) continue;
    if (ranges) ranges[*num] = (RitzRange){begin, (int32_t)(next - begin), range.space};
    (*num)++;
  }
}

static int64_t cut_ranges(CeedInt num_batches, const int64_t *all_begin, const RitzRange *all,
                          const int32_t *owner, int32_t piece, int64_t *begin, RitzRange *ranges) {
  int64_t num = 0;
  for (CeedInt b = 0; b < num_batches; b++) {
    begin[b] = num;
    for (int64_t i = all_begin[b]; i < all_begin[b + 1]; i++) cut_range(all[i], owner, piece, &num, ranges);
  }
  return begin[num_batches] = num;
}

static int cut(Ceed ceed, CeedInt num_batches, const int64_t *all_begin, const RitzRange *all,
               const int32_t *owner, int32_t piece, int64_t **begin, RitzRange **ranges) {
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num_batches + 1, begin));
  const int64_t num = cut_ranges(num_batches, all_begin, all, owner, piece, *begin, NULL);
  if (num == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num, ranges));
  cut_ranges(num_batches, all_begin, all, owner, piece, *begin, *ranges);
  return CEED_ERROR_SUCCESS;
}

static const RitzSchedule *schedule_of(const Piece *piece) { return ritz_cpu_tier(piece->op)->schedule; }

static int cut_lists(Ceed ceed, RitzCpuApplyHooks *s, const int32_t *first, const int32_t *last) {
  for (int32_t i = 0; i < s->num_pieces; i++) {
    Piece *piece = &s->pieces[i];
    const RitzSchedule *all = schedule_of(piece);
    RITZ_TRY(cut(ceed, all->num_batches, all->before_begin, all->before, first, i, &piece->before_begin,
                 &piece->before));
    RITZ_TRY(cut(ceed, all->num_batches, all->after_begin, all->after, last, i, &piece->after_begin,
                 &piece->after));
  }
  return CEED_ERROR_SUCCESS;
}

// Chunks that no piece touches are left to the first one: its schedule has them, as it has all.
static void find_owners(const RitzCpuApplyHooks *s, int64_t num_chunks, int32_t *first, int32_t *last) {
  for (int64_t c = 0; c < num_chunks; c++) first[c] = last[c] = -1;
  for (int32_t i = 0; i < s->num_pieces; i++) mark_piece(s->pieces[i].op, i, first, last);
  for (int64_t c = 0; c < num_chunks; c++) {
    if (first[c] < 0) first[c] = last[c] = 0;
  }
}

static int make_lists(CeedOperator op, RitzCpuApplyHooks *s) {
  const int64_t num_chunks = (op->input_size + RITZ_CHUNK - 1) / RITZ_CHUNK;
  const Ceed ceed = op->obj.ceed;
  int32_t *first = NULL, *last = NULL;
  int ierr = CEED_ERROR_SUCCESS;

  if (s->num_pieces == 1) {
    const RitzSchedule *schedule = schedule_of(s->pieces);
    s->pieces[0].before_begin = schedule->before_begin;
    s->pieces[0].before = schedule->before;
    s->pieces[0].after_begin = schedule->after_begin;
    s->pieces[0].after = schedule->after;
    return CEED_ERROR_SUCCESS;
  }
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)num_chunks, &first));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)num_chunks, &last));
  find_owners(s, num_chunks, first, last);
  RITZ_TRY_CLEANUP(cut_lists(ceed, s, first, last));
cleanup:
  RITZ_FREE(&first);
  RITZ_FREE(&last);
  return ierr;
}

// ---- Preparing ----

static int prepare_operators(CeedOperator op, CeedVector in) {
  if (op->is_composite) return ritz_cpu_prepare_composite(op, in, in);
  if (op->num_elem == 0 || ritz_cpu_is_ready(op)) return CEED_ERROR_SUCCESS;
  const double begin = op->obj.ceed->profile ? ritz_profile_seconds() : 0;
  RITZ_TRY(ritz_cpu_prepare(1, &op, in));
  if (op->obj.ceed->profile) ritz_profile_prepared(1, &op, begin);
  return CEED_ERROR_SUCCESS;
}

static int list_pieces(CeedOperator op, RitzCpuApplyHooks *s) {
  const CeedInt num = op->is_composite ? op->num_sub : 1;

  s->num_sub = op->num_sub;
  s->num_slots = 1;
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, (size_t)num, &s->pieces));
  for (CeedInt i = 0; i < num && !s->reason; i++) {
    CeedOperator sub = op->is_composite ? op->sub[i] : op;
    if (sub->num_elem == 0) continue;
    s->reason = "a sub-operator belongs to another context";
    if (sub->obj.ceed == op->obj.ceed) RITZ_TRY(why_no_hooks(sub, op->input_size, &s->reason));
    if (s->reason) return CEED_ERROR_SUCCESS;
    const Piece piece = {.op = sub, .number = ritz_cpu_tier(sub)->number};
    const int num_sections = ritz_schedule_num_sections(schedule_of(&piece));
    if (num_sections > s->num_slots) s->num_slots = num_sections;
    s->pieces[s->num_pieces++] = piece;
  }
  return CEED_ERROR_SUCCESS;
}

static int make_hooks(CeedOperator op, RitzCpuApplyHooks *s) {
  const Ceed ceed = op->obj.ceed;

  RITZ_TRY(list_pieces(op, s));
  if (s->reason || s->num_pieces == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)s->num_slots, &s->callers));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)s->num_slots, &s->before));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)s->num_slots, &s->after));
  return make_lists(op, s);
}

static RitzCpuApplyHooks *hooks_of(CeedOperator op) {
  if (op->is_composite) return op->data;
  return op->data ? ((RitzCpuOperator *)op->data)->hooks : NULL;
}

static void keep_hooks(CeedOperator op, RitzCpuApplyHooks *s) {
  if (op->is_composite) {
    op->data = s;
  } else {
    ((RitzCpuOperator *)op->data)->hooks = s;
  }
}

// A single operator without elements has nothing to keep hooks with.
static bool is_empty(CeedOperator op) { return !op->is_composite && op->num_elem == 0; }

// The composite has grown, or an operator has another tier.
static bool is_outdated(CeedOperator op, const RitzCpuApplyHooks *s) {
  bool is_other = s->num_sub != op->num_sub;
  for (CeedInt i = 0; i < s->num_pieces && !is_other; i++)
    is_other = s->pieces[i].number != ritz_cpu_tier(s->pieces[i].op)->number;
  return is_other;
}

// Operators are ready and hooks fit them afterwards; *hooks NULL: there is nothing to be applied.
static int update_hooks(CeedOperator op, CeedVector in, RitzCpuApplyHooks **hooks) {
  *hooks = NULL;
  RITZ_TRY(prepare_operators(op, in));
  if (is_empty(op)) return CEED_ERROR_SUCCESS;
  RitzCpuApplyHooks *s = hooks_of(op);
  if (s && is_outdated(op, s)) {
    keep_hooks(op, NULL);
    ritz_cpu_apply_hooks_destroy(&s);
  }
  if (!s) {
    RITZ_TRY(RITZ_CALLOC(op->obj.ceed, 1, &s));
    const int ierr = make_hooks(op, s);
    if (ierr) {
      ritz_cpu_apply_hooks_destroy(&s);
      return ierr;
    }
    keep_hooks(op, s);
  }
  *hooks = s;
  return CEED_ERROR_SUCCESS;
}

// Schedules of kernels that come later may have more sections: as many as any has.
int ritz_cpu_operator_apply_hooked_prepare(CeedOperator op, CeedVector in, int *num_slots,
                                           const char **reason) {
  RitzCpuApplyHooks *s = NULL;

  *reason = refuse_fields(op);
  if (*reason) return CEED_ERROR_SUCCESS;
  RITZ_TRY(update_hooks(op, in, &s));
  if (!s) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_cpu_run_ranges_slots(op->obj.ceed, num_slots));
  if (s->num_slots > *num_slots) *num_slots = s->num_slots;
  *reason = s->reason;
  return CEED_ERROR_SUCCESS;
}

// ---- Running ----

static void call_before(void *data, int32_t space, int64_t first, int64_t count) {
  const Caller *c = data;
  (void)space;
  c->hooks->before(c->hooks->data, c->slot, c->in, c->out, first, count);
}

static void call_after(void *data, int32_t space, int64_t first, int64_t count) {
  const Caller *c = data;
  (void)space;
  c->hooks->after(c->hooks->data, c->slot, c->in, c->out, first, count);
}

static void set_hooks(RitzCpuApplyHooks *s, const Piece *piece) {
  for (int p = 0; p < ritz_schedule_num_sections(schedule_of(piece)); p++) {
    s->before[p] = (RitzKernelHook){
        .begin = piece->before_begin, .ranges = piece->before, .call = call_before, .data = &s->callers[p]};
    s->after[p] = (RitzKernelHook){
        .begin = piece->after_begin, .ranges = piece->after, .call = call_after, .data = &s->callers[p]};
  }
}

static int run_kernel(RitzCpuApplyHooks *s, CeedOperator op) {
  RitzCpuTier *tier = ritz_cpu_tier(op);
  const RitzCpu *ceed = op->obj.ceed->data;
  void *context;

  RITZ_TRY_BACKEND(ritz_qfunction_get_context_data(op->qf, CEED_MEM_HOST, &context));
  for (int t = 0; t < ceed->num_threads; t++) {
    tier->args[t].context = context;
    tier->args[t].work = ceed->work[t];
  }
  ((RitzCpuOperator *)op->data)->applies_left--;
  const int code =
      ritz_schedule_run_hooked(tier->schedule, ceed->team, tier->kernel, tier->args, s->before, s->after);
  const int restored = ritz_qfunction_restore_context_data(op->qf, &context);
  RITZ_TRY_BACKEND(code);
  return restored;
}

// *num_held: spaces whose arrays are there, also on failure.
static int get_hooked_arrays(const Caller *caller, CeedOperator op, int *num_held) {
  RitzCpuTier *tier = ritz_cpu_tier(op);
  for (int i = 0; i < tier->plan->num_spaces; i++) {
    const RitzPlanSpace *space = &tier->plan->spaces[i];
    if (space->is_active) {
      tier->spaces[i].array = space->is_input ? caller->in : caller->out;
    } else {
      RITZ_TRY(ritz_cpu_get_input(tier->plan, tier->target, i, ritz_operator_field(op, space->field)->vec,
                                  &tier->spaces[i]));
    }
    *num_held = i + 1;
  }
  return CEED_ERROR_SUCCESS;
}

static int run_piece(RitzCpuApplyHooks *s, const Piece *piece) {
  RitzCpuTier *tier = ritz_cpu_tier(piece->op);
  int num_held = 0;
  int ierr = get_hooked_arrays(s->callers, piece->op, &num_held);

  set_hooks(s, piece);
  if (!ierr) ierr = run_kernel(s, piece->op);
  for (int i = 0; i < num_held; i++) {
    const RitzPlanSpace *space = &tier->plan->spaces[i];
    const int restored =
        space->is_active
            ? CEED_ERROR_SUCCESS
            : ritz_cpu_restore_input(tier->target, i, ritz_operator_field(piece->op, space->field)->vec,
                                     &tier->spaces[i]);
    if (space->is_active) tier->spaces[i].array = NULL;
    if (!ierr) ierr = restored;
  }
  return ierr;
}

static int run_pieces(CeedOperator op, RitzCpuApplyHooks *s, const Caller *caller) {
  const Ceed ceed = op->obj.ceed;

  for (int p = 0; p < s->num_slots; p++) {
    s->callers[p] = *caller;
    s->callers[p].slot = p;
  }
  for (CeedInt i = 0; i < s->num_pieces; i++) {
    CeedOperator sub = s->pieces[i].op;
    double begin = 0;
    if (ceed->profile) RITZ_TRY(ritz_profile_begin(ceed, &begin));
    const int ierr = run_piece(s, &s->pieces[i]);
    RITZ_TRY(ceed->profile ? ritz_profile_end(sub, RITZ_PROFILE_APPLY, begin, ierr) : ierr);
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_cpu_operator_apply_hooked(CeedOperator op, CeedVector in, CeedVector out,
                                   const RitzApplyHooks *hooks) {
  Caller caller = {.hooks = hooks};
  RitzCpuApplyHooks *s = NULL;

  RITZ_TRY(update_hooks(op, in, &s));
  RITZ_TRY_BACKEND(CeedVectorGetArray(in, CEED_MEM_HOST, &caller.in));
  int ierr = CeedVectorGetArray(out, CEED_MEM_HOST, &caller.out);
  if (!ierr) {
    if (s && s->num_pieces > 0) {
      ierr = run_pieces(op, s, &caller);
    } else if (in->length > 0) {
      hooks->before(hooks->data, 0, caller.in, caller.out, 0, in->length);
      hooks->after(hooks->data, 0, caller.in, caller.out, 0, in->length);
    }
    const int restored = CeedVectorRestoreArray(out, &caller.out);
    if (!ierr) ierr = restored;
  }
  const int restored = CeedVectorRestoreArray(in, &caller.in);
  return ierr ? ierr : restored;
}

// ---- Passes ----

int ritz_cpu_run_ranges_slots(Ceed ceed, int *num_slots) {
  const RitzCpu *cpu = ceed->data;
  *num_slots = cpu->is_deterministic ? RITZ_FIXED_PARTS : cpu->num_threads;
  return CEED_ERROR_SUCCESS;
}

int ritz_cpu_run_grained(Ceed ceed, int64_t n, int64_t grain, RitzRangeFunction run, void *data) {
  const RitzCpu *cpu = ceed->data;
  int num_slots = 1;

  RITZ_TRY(ritz_cpu_run_ranges_slots(ceed, &num_slots));
  return ritz_team_run_ranges(cpu->team, num_slots, n, grain, run, data);
}

int ritz_cpu_run_ranges(Ceed ceed, int64_t n, RitzRangeFunction run, void *data) {
  return ritz_cpu_run_grained(ceed, n, RITZ_RANGE_GRAIN, run, data);
}
