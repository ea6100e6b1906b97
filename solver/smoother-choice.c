// SPDX-License-Identifier: BSD-2-Clause
// RITZ_SMOOTHER_MEASURED: the smoother whose solve is predicted to be the shortest; and what AUTO stands for
// where there are several components. Called by solver/multigrid.c when the operators of all levels are
// there.
//
// The prediction is iterations (smoother-model.h) times the work of one on the finest level. By the model
// that work is a number of applies. Where a solve takes long enough, the operator and one action of each
// smoother that is not beaten clearly by the model are timed instead; solves below some seconds are not worth
// it, as each smoother may have kernels to be compiled. Who is timed has its kernels: the choice is the same
// whether they come from a cache or a compiler.
#include <math.h>

#include <ritz/operator.h>

#include "core/profile.h"
#include "solver/eigenvalues.h"
#include "solver/multigrid.h"

typedef RitzMultigridSetup Setup;

// Measured are solves with so many unknowns times applies (seconds of one core, or of a large device), and
// smoothers whose predicted time is within this factor of the best one.
double ritz_smoother_min_work[2] = {4e8, 4e10};
static const double max_factor = 1.6;
// Work that smoothers with kernels of their own have to save, in the same units: some hundredths of a second.
static const double min_gain[2] = {1e6, 2e8};
double ritz_smoother_min_gain_of_waiting = 4e8; // one to two seconds
// Factors of the cycle's work beside the finest level, and of the apply in double around a cycle in float.
static const double coarser_levels = 8.0 / 7, double_apply = 1.6;

enum { NUM_RUNS = 3 };

static double predicted(const RitzSmootherCandidate *c) {
  return c->iterations * (c->seconds > 0 ? c->seconds : c->applies);
}

static void choose(RitzSmootherChoice *choice) {
  choice->chosen = 0;
  for (int i = 1; i < choice->num; i++) {
    if (predicted(&choice->candidates[i]) < predicted(&choice->candidates[choice->chosen]))
      choice->chosen = i;
  }
}

static void drop(RitzSmootherChoice *choice, int i) {
  choice->num--;
  for (; i < choice->num; i++) choice->candidates[i] = choice->candidates[i + 1];
}

// Sets the smoother of the setup to the chosen one. Levels below the finest keep to the least degree of the
// options.
static void set_chosen(Setup *s) {
  const RitzSmootherCandidate *c = &s->mg->choice.candidates[s->mg->choice.chosen];
  const CeedInt degree = s->mg->levels[s->num - 1].degree;

  s->kind = c->kind;
  s->schwarz_degree = CeedIntMin(s->options->schwarz_degree, degree);
  s->steps = s->options->chebyshev.degree > 0 ? s->options->chebyshev.degree : c->steps;
}

// ---- What serves ----

// Whether what the best one gains on Jacobi's method in a solve is worth the kernels that it needs.
static bool is_worth_kernels(const RitzSmootherChoice *choice, bool is_device, double num_unknowns) {
  const double gain = predicted(&choice->candidates[0]) - predicted(&choice->candidates[choice->chosen]);

  return gain * num_unknowns > min_gain[is_device];
}

void ritz_smoother_predict(bool is_device, double num_unknowns, RitzSmootherChoice *choice) {
  choose(choice);
  if (choice->chosen == 0 || is_worth_kernels(choice, is_device, num_unknowns)) return;
  choice->chosen = 0;
  choice->is_settled = true;
  choice->note = "others are not worth their kernels in a problem of this size";
}

// Chooses the best smoother that serves the operator, which is seen by making it: the finest level has it
// then.
static int choose_served(Setup *s) {
  RitzSmootherChoice *choice = &s->mg->choice;
  bool is_served = false;

  while (!is_served) {
    choose(choice);
    const RitzSmootherKind kind = choice->candidates[choice->chosen].kind;
    set_chosen(s);
    if (choice->num == 1) return ritz_multigrid_create_smoother(s, s->num - 1);
    RITZ_TRY(ritz_multigrid_try_smoother(s, s->num - 1, kind, &is_served));
    if (is_served) return CEED_ERROR_SUCCESS;
    choice->note = kind == RITZ_SMOOTHER_PATCHES ? "no patches: the operator is not separable"
                                                 : "Schwarz methods do not serve the mesh";
    drop(choice, choice->chosen);
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Measuring ----

typedef struct {
  const Setup *s;
  RitzCycleLevel *finest;
  RitzPreconditioner smoother; // NULL: the operator alone
  CeedVector b, x;             // owned, while an action is timed
} Trial;

static int act(const Trial *t) {
  if (!t->smoother) return ritz_system_apply_raw(&t->finest->system, t->b, t->x);
  return ritz_preconditioner_smooth(t->smoother, &t->finest->system, t->b, t->x, false, t->finest->r, false);
}

// The median, after one action that finds everything in place; the sum ends when a device has.
static int time_runs(const Trial *t, double *seconds) {
  double times[NUM_RUNS + 1], ignored;

  for (int i = 0; i <= NUM_RUNS; i++) {
    const double begin = ritz_profile_seconds();
    RITZ_TRY(act(t));
    RITZ_TRY(RitzVectorDot(t->x, t->x, &ignored));
    times[i] = ritz_profile_seconds() - begin;
  }
  const double low = fmin(times[1], times[2]), high = fmax(times[1], times[2]);
  *seconds = fmax(low, fmin(high, times[3]));
  return CEED_ERROR_SUCCESS;
}

// The vectors are there for this alone: smoothers take several of their own while they are made.
static int time_action(Trial *t, double *seconds) {
  RitzCycleLevel *finest = t->finest;
  int ierr = RitzVectorCreate(t->s->ceed, finest->n, t->s->precision, &t->b);

  if (!ierr) ierr = RitzVectorCreate(t->s->ceed, finest->n, t->s->precision, &t->x);
  if (!ierr) ierr = ritz_system_set_random(&finest->system, t->b, 1);
  if (!ierr) ierr = CeedVectorSetValue(t->x, 0);
  if (!ierr) ierr = time_runs(t, seconds);
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&t->b));
  return ritz_first_error(ierr, CeedVectorDestroy(&t->x));
}

static int time_candidate(Setup *s, Trial *t, double apply, RitzSmootherCandidate *c) {
  // A cycle and an apply; from zero a polynomial saves one.
  const double saved = c->kind == RITZ_SMOOTHER_PATCHES ? 0 : apply;
  const double outer = s->precision == CEED_SCALAR_TYPE ? 1 : double_apply;
  double seconds = 0;

  RITZ_TRY(ritz_preconditioner_prepare(t->smoother));
  RITZ_TRY(time_action(t, &seconds));
  c->seconds = coarser_levels * (2 * seconds + apply - saved) + outer * apply;
  return CEED_ERROR_SUCCESS;
}

// The fastest so far stays the finest level's smoother; others are made, timed and dropped.
static int try_candidate(Setup *s, Trial *t, double apply, int i) {
  RitzSmootherChoice *choice = &s->mg->choice;
  RitzSmootherCandidate *c = &choice->candidates[i];
  RitzCycleLevel kept = *t->finest;
  bool is_served = true;

  if (i != choice->chosen) {
    s->steps = s->options->chebyshev.degree > 0 ? s->options->chebyshev.degree : c->steps;
    t->finest->smoother = NULL;
    const int ierr = ritz_multigrid_try_smoother(s, s->num - 1, c->kind, &is_served);
    if (ierr) {
      *t->finest = kept;
      return ierr;
    }
  }
  t->smoother = t->finest->smoother;
  int ierr = is_served ? time_candidate(s, t, apply, c) : CEED_ERROR_SUCCESS;
  if (i == choice->chosen) return ierr;
  if (!ierr && is_served && predicted(c) < predicted(&choice->candidates[choice->chosen])) {
    choice->chosen = i;
    return RitzPreconditionerDestroy(&kept.smoother);
  }
  ierr = ritz_first_error(ierr, RitzPreconditionerDestroy(&t->finest->smoother));
  *t->finest = kept;
  return ierr;
}

// The chosen one by the model first. What is not timed is out by the model.
static int run_trials(Setup *s, Trial *t) {
  RitzSmootherChoice *choice = &s->mg->choice;
  const int first = choice->chosen;
  double best, apply = 0;
  bool is_near[RITZ_MAX_CANDIDATES];

  RITZ_TRY(time_action(t, &apply));
  best = predicted(&choice->candidates[first]);
  for (int i = 0; i < choice->num; i++) is_near[i] = predicted(&choice->candidates[i]) < max_factor * best;
  for (int i = 0; i < choice->num; i++) choice->candidates[i].seconds = choice->candidates[i].applies * apply;
  RITZ_TRY(try_candidate(s, t, apply, first));
  for (int i = 0; i < choice->num; i++) {
    if (i != first && is_near[i]) RITZ_TRY(try_candidate(s, t, apply, i));
  }
  return CEED_ERROR_SUCCESS;
}

static int measure(Setup *s) {
  Trial t = {.s = s, .finest = &s->mg->levels[s->num - 1]};

  RITZ_TRY(RitzOperatorsPrepare(1, &t.finest->system.op, NULL, false));
  return run_trials(s, &t);
}

// ---- The choice ----

static bool is_worth_measuring(const Setup *s, bool is_device) {
  const RitzSmootherChoice *choice = &s->mg->choice;
  const double work = predicted(&choice->candidates[choice->chosen]) * (double)s->mg->levels[s->num - 1].n;

  return choice->num > 1 && work > ritz_smoother_min_work[is_device] && !s->ceed->repeats;
}

// Where the first sweep waits for its kernel, patches gain more than a compiler takes for the degrees of the
// levels, or are left out.
void ritz_smoother_drop_what_waits(double num_unknowns, RitzSmootherChoice *choice) {
  double best = INFINITY;

  for (int i = 0; i < choice->num; i++) {
    if (choice->candidates[i].kind != RITZ_SMOOTHER_PATCHES)
      best = fmin(best, predicted(&choice->candidates[i]));
  }
  for (int i = choice->num - 1; i >= 0; i--) {
    const double gain = best - predicted(&choice->candidates[i]);
    if (choice->candidates[i].kind != RITZ_SMOOTHER_PATCHES ||
        gain * num_unknowns > ritz_smoother_min_gain_of_waiting)
      continue;
    drop(choice, i);
    choice->note = "no patches: they gain less than their kernels take to be made";
  }
}

// On hosts, in programs that wait for no other kernel (RITZ_USE_NO_WAIT).
static int drop_what_waits(Setup *s, bool is_device) {
  RitzOperatorUse use;

  RITZ_TRY(RitzOperatorGetUse(s->levels[s->num - 1].op, &use));
  if (!is_device && use == RITZ_USE_NO_WAIT)
    ritz_smoother_drop_what_waits((double)s->mg->levels[s->num - 1].n, &s->mg->choice);
  return CEED_ERROR_SUCCESS;
}

static int find_candidates(Setup *s, bool is_device) {
  RitzSmootherChoice *choice = &s->mg->choice;
  const RitzMultigridLevel *finest = &s->levels[s->num - 1];
  RitzMesh mesh;
  CeedInt num_comp = 1, degree = 1;

  if (s->num < 2 || !finest->space || finest->smoother) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RitzSpaceGetNumComponents(finest->space, &num_comp));
  RITZ_TRY(RitzSpaceGetDegree(finest->space, &degree));
  RITZ_TRY(RitzSpaceGetMesh(finest->space, &mesh));
  if (num_comp > 1) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_mesh_quality(s->ceed, mesh, &choice->quality));
  if (!choice->quality.has_directions) return CEED_ERROR_SUCCESS;
  s->mg->levels[s->num - 1].degree = degree;
  ritz_smoother_candidates(&choice->quality, degree, is_device, &choice->num, choice->candidates);
  if (!choice->quality.is_box) choice->note = "no patches: the mesh is no rectangular box";
  return drop_what_waits(s, is_device);
}

int ritz_multigrid_predict_smoother(Setup *s) {
  RitzSmootherChoice *choice = &s->mg->choice;
  CeedMemType memory = CEED_MEM_HOST;

  RITZ_TRY(CeedGetPreferredMemType(s->ceed, &memory));
  const bool is_device = memory == CEED_MEM_DEVICE;
  RITZ_TRY(find_candidates(s, is_device));
  s->kind = RITZ_SMOOTHER_AUTO;
  if (choice->num == 0) return CEED_ERROR_SUCCESS;
  ritz_smoother_predict(is_device, (double)s->mg->levels[s->num - 1].n, choice);
  set_chosen(s);
  return CEED_ERROR_SUCCESS;
}

int ritz_multigrid_choose_coupled(Setup *s) {
  bool has_directions = false;
  RitzMesh mesh = NULL;

  if (s->num < 2 || ritz_operator_num_components(s->levels[s->num - 1].op) == 1) return CEED_ERROR_SUCCESS;
  if (s->steps == 0) s->steps = RITZ_COUPLED_STEPS;
  for (CeedInt i = 1; i < s->num; i++) {
    if (!s->levels[i].space) return CEED_ERROR_SUCCESS;
  }
  RITZ_TRY(RitzSpaceGetMesh(s->levels[s->num - 1].space, &mesh));
  RITZ_TRY(ritz_mesh_has_directions(mesh, &has_directions));
  if (!has_directions) return CEED_ERROR_SUCCESS;
  s->kind = RITZ_SMOOTHER_ELEMENT_SCHWARZ;
  s->schwarz_degree = CeedIntMax(s->schwarz_degree, RITZ_COUPLED_SCHWARZ_DEGREE);
  return CEED_ERROR_SUCCESS;
}

int ritz_multigrid_choose_smoother(Setup *s) {
  CeedMemType memory = CEED_MEM_HOST;

  if (s->mg->choice.num == 0 || s->mg->choice.is_settled) return CEED_ERROR_SUCCESS;
  RITZ_TRY(CeedGetPreferredMemType(s->ceed, &memory));
  RITZ_TRY(choose_served(s));
  if (is_worth_measuring(s, memory == CEED_MEM_DEVICE)) RITZ_TRY(measure(s));
  set_chosen(s);
  return CEED_ERROR_SUCCESS;
}

// ---- View ----

static void write_candidate(const RitzSmootherCandidate *c, const char *predicted_word, FILE *stream) {
  fprintf(stream, "%s", ritz_smoother_kind_name(c->kind));
  if (c->kind != RITZ_SMOOTHER_PATCHES) fprintf(stream, " %" CeedInt_FMT, c->steps);
  fprintf(stream, ": %s%.0f it. x ", predicted_word, c->iterations);
  if (c->seconds > 0)
    fprintf(stream, "%.3g ms = %.3g ms", 1e3 * c->seconds, 1e3 * predicted(c));
  else
    fprintf(stream, "%.1f = %.0f applies", c->applies, predicted(c));
}

void ritz_smoother_choice_view(const RitzSmootherChoice *choice, FILE *stream, int indent) {
  bool is_first = true;

  fprintf(stream, "%*ssmoother: ", indent, "");
  write_candidate(&choice->candidates[choice->chosen], "predicted ", stream);
  for (int i = 0; i < choice->num; i++) {
    if (i == choice->chosen) continue;
    fprintf(stream, "%s", is_first ? " (" : "; ");
    write_candidate(&choice->candidates[i], "", stream);
    is_first = false;
  }
  if (choice->note) fprintf(stream, "%s%s", is_first ? " (" : "; ", choice->note);
  fprintf(stream, "%s\n", is_first && !choice->note ? "" : ")");
  if (choice->quality.aspect > ritz_large_aspect)
    fprintf(stream, "%*swarning: elements are stretched by up to %.3g, which takes more iterations\n", indent,
            "", choice->quality.aspect);
}
