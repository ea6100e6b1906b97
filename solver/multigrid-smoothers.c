// SPDX-License-Identifier: BSD-2-Clause
// Smoothers of multigrid levels, and the coarse solver, by the options. Called by solver/multigrid.c.
#include "solver/eigenvalues.h"
#include "solver/multigrid.h"
#include "solver/patch-box.h"

typedef RitzMultigridSetup Setup;

// ---- Which one ----

// Whether a degree is below those that Schwarz smoothers on cells are kept for: in degree 1 the layer of
// nodes around a cell is its neighbours whole.
static bool is_below_schwarz(const Setup *s, CeedInt degree) {
  if (s->kind == RITZ_SMOOTHER_OVERLAPPED_SCHWARZ && degree < 2) return true;
  return (s->kind == RITZ_SMOOTHER_ELEMENT_SCHWARZ || s->kind == RITZ_SMOOTHER_OVERLAPPED_SCHWARZ ||
          s->kind == RITZ_SMOOTHER_DENSE_SCHWARZ) &&
         degree < s->schwarz_degree;
}

static RitzSmootherKind of_nodes(CeedOperator op) {
  return ritz_operator_num_components(op) > 1 ? RITZ_SMOOTHER_POINT_BLOCKS : RITZ_SMOOTHER_JACOBI;
}

RitzSmootherKind ritz_multigrid_smoother_kind(const Setup *s, CeedOperator op, CeedInt degree) {
  if (s->kind != RITZ_SMOOTHER_AUTO && !is_below_schwarz(s, degree)) return s->kind;
  return of_nodes(op);
}

const char *ritz_smoother_kind_name(RitzSmootherKind kind) {
  static const char *const names[] = {[RITZ_SMOOTHER_AUTO] = "auto",
                                      [RITZ_SMOOTHER_JACOBI] = "Jacobi",
                                      [RITZ_SMOOTHER_POINT_BLOCKS] = "point blocks",
                                      [RITZ_SMOOTHER_ELEMENT_SCHWARZ] = "element Schwarz",
                                      [RITZ_SMOOTHER_OVERLAPPED_SCHWARZ] = "overlapped Schwarz",
                                      [RITZ_SMOOTHER_ADDITIVE_PATCHES] = "additive patches",
                                      [RITZ_SMOOTHER_PATCHES] = "vertex patches",
                                      [RITZ_SMOOTHER_MEASURED] = "the measured choice",
                                      [RITZ_SMOOTHER_DENSE_SCHWARZ] = "dense Schwarz"};
  return names[kind];
}

// ---- Chebyshev polynomials ----

static RitzChebyshevOptions chebyshev_of(const Setup *s, CeedInt level) {
  RitzChebyshevOptions options = s->options->chebyshev;

  options.degree = s->steps;
  if (options.degree == 0 || (is_below_schwarz(s, s->mg->levels[level].degree) && options.degree < 3))
    options.degree = 3;
  return options;
}

static int create_inner(const Setup *s, CeedInt level, RitzSmootherKind kind, RitzPreconditioner *inner) {
  const RitzSystem *system = &s->mg->levels[level].system;
  RitzSpace space = s->levels[level].space;

  switch (kind) {
  case RITZ_SMOOTHER_POINT_BLOCKS:
    return RitzPreconditionerCreatePointBlockJacobi(system->op, system->constraints, inner);
  case RITZ_SMOOTHER_ELEMENT_SCHWARZ:
    return RitzPreconditionerCreateElementSchwarz(system->op, space, NULL, system->constraints, inner);
  case RITZ_SMOOTHER_OVERLAPPED_SCHWARZ:
    return RitzPreconditionerCreateSchwarz(system->op, space, NULL, system->constraints,
                                           RITZ_SCHWARZ_OVERLAPPED, inner);
  case RITZ_SMOOTHER_DENSE_SCHWARZ:
    return RitzPreconditionerCreateDenseSchwarz(system->op, space, system->constraints, inner);
  case RITZ_SMOOTHER_ADDITIVE_PATCHES:
    return RitzPreconditionerCreateSchwarz(system->op, space, NULL, system->constraints, RITZ_SCHWARZ_PATCHES,
                                           inner);
  default: return RitzPreconditionerCreateOperatorJacobi(system->op, system->constraints, inner);
  }
}

// The bound is estimated here where there is a nullspace, which the smoother is not told of: eigenvalues are
// those beside it.
static int create_polynomial(const Setup *s, CeedInt level, RitzPreconditioner inner) {
  RitzCycleLevel *l = &s->mg->levels[level];
  RitzChebyshevOptions options = chebyshev_of(s, level);
  RitzChebyshevOptions first = options;

  RITZ_TRY(ritz_chebyshev_check(s->ceed, s->call, &options));
  l->has_bounds = true;
  l->chebyshev = options;
  if (l->system.num_null > 0 && options.largest == 0) first.largest = 1; // until it is estimated
  RITZ_TRY(
      RitzPreconditionerCreateChebyshev(l->system.op, l->system.constraints, inner, &first, &l->smoother));
  if (l->system.num_null == 0) return CEED_ERROR_SUCCESS;
  const int ierr = ritz_chebyshev_estimate_beside(l->smoother, &l->system, &options);
  return ierr ? ritz_first_error(ierr, RitzPreconditionerDestroy(&l->smoother)) : CEED_ERROR_SUCCESS;
}

static int create_chebyshev(const Setup *s, CeedInt level, RitzSmootherKind kind) {
  static const char *const names[] = {[RITZ_SMOOTHER_JACOBI] = "Chebyshev, Jacobi",
                                      [RITZ_SMOOTHER_POINT_BLOCKS] = "Chebyshev, point blocks",
                                      [RITZ_SMOOTHER_ELEMENT_SCHWARZ] = "Chebyshev, element Schwarz",
                                      [RITZ_SMOOTHER_OVERLAPPED_SCHWARZ] = "Chebyshev, overlapped cells",
                                      [RITZ_SMOOTHER_ADDITIVE_PATCHES] = "Chebyshev, additive patches",
                                      [RITZ_SMOOTHER_DENSE_SCHWARZ] = "Chebyshev, dense Schwarz"};
  RitzPreconditioner inner = NULL;

  s->mg->levels[level].smoother_name = names[kind];
  RITZ_TRY(create_inner(s, level, kind, &inner));
  const int ierr = create_polynomial(s, level, inner);
  return ritz_first_error(ierr, RitzPreconditionerDestroy(&inner));
}

// ---- Multiplicative patches ----

static int create_vertex_patches(const Setup *s, CeedInt level) {
  RitzCycleLevel *l = &s->mg->levels[level];
  const RitzPatchOptions options = {.form = s->options->patch_form, .is_symmetric = s->options->is_reversed};

  l->smoother_name = "vertex patches";
  l->has_bounds = false;
  return RitzPreconditionerCreateVertexPatches(l->system.op, s->levels[level].space, l->system.constraints,
                                               &options, &l->smoother);
}

static int create_coloured_patches(const Setup *s, CeedInt level) {
  RitzCycleLevel *l = &s->mg->levels[level];

  l->smoother_name = "coloured patches";
  l->has_bounds = false;
  return RitzPreconditionerCreateSchwarz(
      l->system.op, s->levels[level].space, NULL, l->system.constraints,
      s->options->is_reversed ? RITZ_SCHWARZ_SYMMETRIC_PATCHES : RITZ_SCHWARZ_COLOURED_PATCHES, &l->smoother);
}

// ---- Creation ----

static int create_kind(const Setup *s, CeedInt level, RitzSmootherKind kind) {
  return kind == RITZ_SMOOTHER_PATCHES ? create_vertex_patches(s, level) : create_chebyshev(s, level, kind);
}

static int create_approximate(const Setup *s, CeedInt level, RitzSmootherKind kind) {
  return kind == RITZ_SMOOTHER_PATCHES ? create_coloured_patches(s, level) : create_chebyshev(s, level, kind);
}

typedef int (*Creation)(const Setup *s, CeedInt level, RitzSmootherKind kind);

// Creates a smoother; errors are reported with the level. is_served NULL: a smoother that does not serve the
// level is an error, too.
static int create_on_level(const Setup *s, CeedInt level, RitzSmootherKind kind, Creation create,
                           bool *is_served) {
  const CeedErrorHandler handler = s->ceed->error_handler;
  const char *message = NULL;
  char text[1024];

  s->ceed->error_handler = CeedErrorStore;
  const int ierr = create(s, level, kind);
  s->ceed->error_handler = handler;
  if (is_served) *is_served = !ierr;
  if (!ierr) return CEED_ERROR_SUCCESS;
  RITZ_TRY(CeedGetErrorMessage(s->ceed, &message));
  snprintf(text, sizeof(text), "%s", message);
  RITZ_TRY(CeedResetErrorMessage(s->ceed, NULL));
  RITZ_REQUIRE(is_served && ierr == CEED_ERROR_UNSUPPORTED, s->ceed, ierr, "%s: level %" CeedInt_FMT ": %s",
               s->call, level, text);
  return CEED_ERROR_SUCCESS;
}

int ritz_multigrid_try_smoother(const Setup *s, CeedInt level, RitzSmootherKind kind, bool *is_served) {
  return create_on_level(s, level, kind, create_kind, is_served);
}

// A smoother that was chosen here, or exact patches, may not serve a level: then another one does.
int ritz_multigrid_create_smoother(const Setup *s, CeedInt level) {
  RitzCycleLevel *l = &s->mg->levels[level];
  const RitzSmootherKind kind = ritz_multigrid_smoother_kind(s, l->system.op, l->degree);
  const bool is_free =
      s->options->smoother == RITZ_SMOOTHER_AUTO || s->options->smoother == RITZ_SMOOTHER_MEASURED;
  bool is_served = false;

  if (l->smoother) return CEED_ERROR_SUCCESS; // made while it was chosen
  if (s->levels[level].smoother)
    return RitzPreconditionerReferenceCopy(s->levels[level].smoother, &l->smoother);
  if (is_free || kind == RITZ_SMOOTHER_PATCHES)
    RITZ_TRY(ritz_multigrid_try_smoother(s, level, kind, &is_served));
  if (is_served) return CEED_ERROR_SUCCESS;
  return create_on_level(s, level, is_free ? of_nodes(l->system.op) : kind, create_approximate, NULL);
}

// ---- Kernels ahead of creation ----

static int begin_patches(const Setup *s, CeedInt level, RitzSmootherKind kind) {
  RitzCycleLevel *l = &s->mg->levels[level];

  (void)kind;
  return ritz_patches_begin(&l->system, s->call, s->levels[level].space, s->options->patch_form, &l->sweep);
}

// Passes over a level's vectors that its smoother is made of, or is tested by.
static void add_smoother_forms(const Setup *s, CeedInt level, RitzSmootherKind kind, RitzPassForms *forms) {
  const RitzVectorSumKind of_patches[] = {RITZ_SUM_DOT, RITZ_SUM_UPDATE};
  const RitzChebyshevOptions options = chebyshev_of(s, level);

  for (int i = 0; kind == RITZ_SMOOTHER_PATCHES && i < 2; i++)
    ritz_pass_forms_add(forms, ritz_pass_form(ritz_vector_sum_pass(of_patches[i]), s->precision));
  if (kind == RITZ_SMOOTHER_JACOBI) ritz_chebyshev_add_forms(&options, s->precision, forms);
}

int ritz_multigrid_begin_smoothers(const Setup *s) {
  RitzPassForms forms = {0};

  for (CeedInt i = s->num - 1; i > 0; i--) {
    const RitzCycleLevel *l = &s->mg->levels[i];
    const RitzSmootherKind kind = ritz_multigrid_smoother_kind(s, l->system.op, l->degree);
    bool is_served; // else another smoother is made, later

    if (s->levels[i].smoother) continue;
    add_smoother_forms(s, i, kind, &forms);
    if (kind == RITZ_SMOOTHER_PATCHES) RITZ_TRY(create_on_level(s, i, kind, begin_patches, &is_served));
  }
  return ritz_passes_prepare(s->ceed, forms.num, forms.form);
}

int ritz_multigrid_end_smoothers(const Setup *s) {
  int ierr = CEED_ERROR_SUCCESS;

  for (CeedInt i = 0; i < s->num; i++)
    ierr = ritz_first_error(ierr, ritz_patch_sweep_destroy(&s->mg->levels[i].sweep));
  return ierr;
}

// ---- The coarse solver ----

static int create_direct(const Setup *s, CeedInt level, RitzSmootherKind kind) {
  RitzCycleLevel *l = &s->mg->levels[level];
  RitzDirectOptions options = s->options->coarse;

  (void)kind;
  options.for_updates = options.for_updates || s->options->for_updates;
  options.num_null = s->levels[level].num_null;
  options.null = s->levels[level].null;
  return RitzPreconditionerCreateDirect(l->system.op, l->system.constraints, &options, &l->smoother);
}

int ritz_multigrid_create_coarse_solver(const Setup *s) {
  if (s->options->coarse_solver)
    return RitzPreconditionerReferenceCopy(s->options->coarse_solver, &s->mg->levels[0].smoother);
  return create_on_level(s, 0, s->kind, create_direct, NULL);
}
