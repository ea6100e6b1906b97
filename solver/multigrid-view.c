// SPDX-License-Identifier: BSD-2-Clause
// What multigrid preconditioners consist of, for people: the table of levels, memory, times.
#include <inttypes.h>
#include <string.h>

#include "solver/multigrid.h"

// ---- Memory ----

typedef struct {
  Ceed ceed; // borrowed
  CeedInt num;
  CeedVector *vectors; // owned array, borrowed
} Seen;

static int64_t vector_bytes(CeedVector vec) {
  return vec ? (int64_t)vec->length * (int64_t)ritz_scalar_bytes(vec->precision) : 0;
}

static int add_vector(Seen *seen, CeedVector vec, int64_t *bytes) {
  if (vec == CEED_VECTOR_ACTIVE || vec == CEED_VECTOR_NONE) return CEED_ERROR_SUCCESS;
  for (CeedInt i = 0; i < seen->num; i++) {
    if (seen->vectors[i] == vec) return CEED_ERROR_SUCCESS;
  }
  RITZ_TRY(RITZ_REALLOC(seen->ceed, (size_t)seen->num + 1, &seen->vectors));
  seen->vectors[seen->num++] = vec;
  *bytes += vector_bytes(vec);
  return CEED_ERROR_SUCCESS;
}

static int add_operator(Seen *seen, CeedOperator op, int64_t *bytes) {
  for (CeedInt i = 0; i < op->num_sub; i++) RITZ_TRY(add_operator(seen, op->sub[i], bytes));
  for (CeedInt i = 0; i < op->num_in; i++) RITZ_TRY(add_vector(seen, op->in[i]->vec, bytes));
  return CEED_ERROR_SUCCESS;
}

int ritz_operators_count_stored(Ceed ceed, CeedInt num, const CeedOperator ops[], int64_t bytes[]) {
  Seen seen = {.ceed = ceed};
  int ierr = CEED_ERROR_SUCCESS;

  for (CeedInt i = 0; i < num; i++) bytes[i] = 0;
  for (CeedInt i = 0; !ierr && i < num; i++) {
    if (ops[i]) ierr = add_operator(&seen, ops[i], &bytes[i]);
  }
  RITZ_FREE((void **)&seen.vectors);
  return ierr;
}

int ritz_multigrid_count_stored(RitzMultigrid *mg) {
  const CeedInt num = mg->num_levels;
  Ceed ceed = mg->levels[0].system.ceed;
  CeedOperator *ops = NULL;
  int64_t *bytes = NULL;

  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num, &ops));
  int ierr = RITZ_CALLOC(ceed, (size_t)num, &bytes);
  for (CeedInt i = 0; i < num; i++) ops[i] = mg->levels[num - 1 - i].system.op; // the finest first
  if (!ierr) ierr = ritz_operators_count_stored(ceed, num, ops, bytes);
  for (CeedInt i = 0; !ierr && i < num; i++) mg->levels[num - 1 - i].stored_bytes = bytes[i];
  RITZ_FREE((void **)&ops);
  RITZ_FREE(&bytes);
  return ierr;
}

// Bytes of the vectors of a level and its smoother.
static int64_t level_bytes(const RitzCycleLevel *l) {
  int64_t bytes = vector_bytes(l->b) + vector_bytes(l->x) + vector_bytes(l->r), smoother = 0;

  for (CeedInt i = 0; i < l->system.num_null; i++) bytes += vector_bytes(l->system.null[i]);
  return RitzPreconditionerGetBytes(l->smoother, &smoother) ? bytes : bytes + smoother;
}

int64_t ritz_multigrid_bytes(RitzPreconditioner pc) {
  const RitzMultigrid *mg = pc->data;
  int64_t bytes = 0;

  for (CeedInt i = 0; i < mg->num_levels; i++) {
    const RitzCycleLevel *l = &mg->levels[i];
    bytes += level_bytes(l) + (l->is_copy ? l->stored_bytes : 0);
  }
  return bytes;
}

// ---- Work ----

// Visits of a level in one application.
static double count_visits(const RitzMultigrid *mg, CeedInt level) {
  double sum = 0;

  for (CeedInt start = mg->is_full ? (level > 0 ? level : 1) : mg->num_levels - 1; start < mg->num_levels;
       start++) {
    const CeedInt depth = start - level;
    // W solves the coarsest problem as often as it visits level 1.
    if (mg->cycle == RITZ_CYCLE_V)
      sum += 1;
    else if (mg->cycle == RITZ_CYCLE_F)
      sum += level == 0 && depth > 0 ? depth : depth + 1;
    else
      sum += (double)((int64_t)1 << (level == 0 && depth > 0 ? depth - 1 : depth));
  }
  return sum + (mg->is_full && level == 0);
}

// Applies of a level's operator in one application, in applies of the finest one by their unknowns; with
// those of smoothers. The coarsest problem is not counted.
static double level_applies(const RitzMultigrid *mg, CeedInt level) {
  const RitzCycleLevel *l = &mg->levels[level];
  const CeedInt finest = mg->num_levels - 1;
  const bool from_zero = level == finest && !mg->is_full;
  // A visit: smoothing twice and a residual. All V-visits but those of full multigrid begin with zero.
  const double applies = 2.0 * mg->num_smooth * (l->num_applies + l->inverse_applies) + 1;
  const double visits = count_visits(mg, level);
  const double zero_starts = from_zero ? 1 : mg->cycle == RITZ_CYCLE_V ? visits - mg->is_full : visits / 2;

  if (level == 0) return 0;
  // From zero a smoother saves the apply of its first residual, if it has one.
  return (visits * applies - (l->num_applies > 0 ? zero_starts : 0)) * (double)l->n /
         (double)mg->levels[finest].n;
}

static double count_applies(const RitzMultigrid *mg) {
  double sum = 0;

  for (CeedInt i = 1; i < mg->num_levels; i++) sum += level_applies(mg, i);
  return sum;
}

// ---- View ----

const char *ritz_multigrid_work_name(RitzMultigridWork work) {
  static const char *const names[] = {"smoothing", "residual", "transfer", "solve"};

  return names[work];
}

static void write_head(const RitzPreconditioner pc, FILE *stream, int indent) {
  static const char *const cycles[] = {"V", "W", "F"};
  const RitzMultigrid *mg = pc->data;
  const RitzCycleLevel *finest = &mg->levels[mg->num_levels - 1];
  int64_t num = 0, operators = 0;

  for (CeedInt i = 0; i < mg->num_levels; i++) {
    num += mg->levels[i].n;
    operators += mg->levels[i].stored_bytes;
  }
  fprintf(stream,
          "%*smultigrid: %s%s(%" CeedInt_FMT ",%" CeedInt_FMT ")-cycle in %s, %" CeedInt_FMT " levels%s\n",
          indent, "",
          mg->is_full       ? "full, "
          : mg->starts_full ? "first full, then "
                            : "",
          cycles[mg->cycle], mg->num_smooth, mg->num_smooth, ritz_precision_name(pc->precision),
          mg->num_levels, mg->is_reversed ? ", reversed order after the correction" : "");
  fprintf(stream,
          "%*sunknowns %" PRId64 " (%.2f a fine one), bytes a fine unknown: %.1f of the cycle, %.1f of "
          "its operators; work %.1f applies\n",
          indent, "", num, (double)num / (double)finest->n,
          (double)(ritz_multigrid_bytes(pc) - (finest->is_copy ? operators : 0)) / (double)finest->n,
          (double)operators / (double)finest->n, count_applies(mg));
}

static const char *smoother_name(const RitzCycleLevel *l) {
  return l->smoother_name ? l->smoother_name : l->smoother->methods->name;
}

static int write_bounds(const RitzCycleLevel *l, FILE *stream) {
  char text[32] = "-";

  if (l->has_bounds) {
    double estimate, lower, upper;

    RITZ_TRY(RitzPreconditionerGetChebyshevBounds(l->smoother, &estimate, &lower, &upper));
    snprintf(text, sizeof(text), "[%.3g, %.3g]", lower, upper);
  }
  fprintf(stream, "  %-16s", text);
  return CEED_ERROR_SUCCESS;
}

static int write_level(const RitzMultigrid *mg, CeedInt level, FILE *stream, int indent) {
  const RitzCycleLevel *l = &mg->levels[level];
  const bool is_timed = l->system.ceed->profile != NULL;
  char degree[16] = "-";

  if (l->degree > 0) snprintf(degree, sizeof(degree), "%" CeedInt_FMT, l->degree);
  fprintf(stream, "%*s%5" CeedInt_FMT "  %11" CeedSize_FMT "  %6s  %10" PRId64 "  %-27s", indent, "", level,
          l->n, degree, l->num_elem, smoother_name(l));
  RITZ_TRY(write_bounds(l, stream));
  fprintf(stream, "  %9.1f  %9.1f  %6.2f", (double)level_bytes(l) / (double)l->n,
          (double)l->stored_bytes / (double)l->n, level_applies(mg, level));
  for (int w = 0; is_timed && w < RITZ_MULTIGRID_NUM_WORKS; w++) fprintf(stream, "  %9.4f", l->seconds[w]);
  fprintf(stream, "\n");
  return CEED_ERROR_SUCCESS;
}

// The finest level has one residual in every application, an apply and a pass: the unit of the measured work.
static void write_times(const RitzMultigrid *mg, FILE *stream, int indent) {
  const double residual = mg->levels[mg->num_levels - 1].seconds[RITZ_MULTIGRID_RESIDUAL];
  double sum = 0;

  for (CeedInt i = 0; i < mg->num_levels; i++) {
    for (int w = 0; w < RITZ_MULTIGRID_NUM_WORKS; w++) sum += mg->levels[i].seconds[w];
  }
  fprintf(stream, "%*sseconds by kind of work, %" PRId64 " applications", indent, "", mg->num_calls);
  if (residual > 0)
    fprintf(stream, "; one takes as long as %.1f residuals of the finest level", sum / residual);
  fprintf(stream, "\n");
}

int ritz_multigrid_view(RitzPreconditioner pc, FILE *stream, int indent) {
  const RitzMultigrid *mg = pc->data;
  const bool is_timed = pc->ceed->profile != NULL;

  write_head(pc, stream, indent);
  if (mg->choice.num > 0) ritz_smoother_choice_view(&mg->choice, stream, indent);
  fprintf(stream, "%*slevel  %11s  %6s  %10s  %-27s  %-16s  %9s  %9s  %6s", indent, "", "unknowns", "degree",
          "elements", "smoother", "bounds", "B/unknown", "operator", "work");
  for (int w = 0; is_timed && w < RITZ_MULTIGRID_NUM_WORKS; w++)
    fprintf(stream, "  %9s", ritz_multigrid_work_name(w));
  fprintf(stream, "\n");
  for (CeedInt i = mg->num_levels - 1; i >= 0; i--) RITZ_TRY(write_level(mg, i, stream, indent));
  if (is_timed) write_times(mg, stream, indent);
  return CEED_ERROR_SUCCESS;
}
