// SPDX-License-Identifier: BSD-2-Clause
// Chebyshev polynomials in P A as preconditioner and smoother, over any preconditioner P. Called by programs
// and by multigrid.
//
// Fourth kind (Lottes, "Optimal polynomial smoothers for multigrid V-cycles", 2023; Phillips & Fischer,
// "Optimal Chebyshev smoothers and one-sided V-cycles", 2022), l the upper bound of the spectrum, i = 0, 1,
// ...:
//
//     d_0 = 4 / (3 l) z_0,   d_i = (2 i - 1) / (2 i + 3) d_(i-1) + (8 i + 4) / ((2 i + 3) l) z_i
//
// First kind on [a, b] (Saad 2003, 12.3.2), t = (b + a) / 2, h = (b - a) / 2, s = t / h:
//
//     d_0 = z_0 / t,   d_i = rho_i rho_(i-1) d_(i-1) + 2 rho_i / h z_i,   rho_0 = 1 / s, rho_i = 1 / (2 s -
//     rho_(i-1))
//
// with x_(i+1) = x_i + d_i, z_i = P (b - A x_i). Residuals are computed from x, not updated: no vector for
// them, and one vector less written a step. Where P is Jacobi a step is an application of A and one pass over
// the vectors; where it is s B s with a vector s, as Schwarz methods are, an application of A, one of B and
// two passes, in which both s are: 10 vectors read or written, 14 with passes of their own; else an
// application of A, one of P and two short passes. The errors are multiplied by a polynomial in P A, so the
// method is symmetric when started from zero: it is a polynomial in P A times P.
#include <math.h>

#include "core/vector-pass.h"
#include "solver/eigenvalues.h"
#include "solver/schwarz.h"

enum { DEFAULT_DEGREE = 3, DEFAULT_STEPS = 12 };
static const double default_safety = 1.1, default_lower_fraction = 0.1;

typedef struct {
  RitzSystem system;        // owned
  RitzPreconditioner inner; // counted
  bool has_inverse;         // inner is Jacobi's, see ritz_jacobi_inverse
  CeedVector q, d, z;       // owned; z: unless inner is Jacobi
  RitzChebyshevKind kind;
  CeedInt degree;
  double estimate, lower, upper;
  RitzChebyshevOptions options; // as given
  bool is_estimated, is_redone;
} Chebyshev;

// ---- Options ----

int ritz_chebyshev_check(Ceed ceed, const char *call, const RitzChebyshevOptions *options) {
  RITZ_REQUIRE(options->kind == RITZ_CHEBYSHEV_FOURTH || options->kind == RITZ_CHEBYSHEV_FIRST, ceed,
               CEED_ERROR_INCOMPATIBLE, "%s: there is no kind %d of Chebyshev polynomials", call,
               (int)options->kind);
  RITZ_REQUIRE(options->update >= RITZ_BOUNDS_ESTIMATE && options->update <= RITZ_BOUNDS_KEEP, ceed,
               CEED_ERROR_INCOMPATIBLE, "%s: update of bounds %d, needed a RitzBoundsUpdate", call,
               (int)options->update);
  RITZ_REQUIRE(options->degree >= 0 && options->num_steps >= 0, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: degree %" CeedInt_FMT ", steps of the estimate %" CeedInt_FMT
               ": both need to be positive, or 0 for the default",
               call, options->degree, options->num_steps);
  RITZ_REQUIRE(options->lower_fraction >= 0 && options->lower_fraction < 1, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: lower fraction %g, needed a number between 0 and 1", call, options->lower_fraction);
  RITZ_REQUIRE(options->largest >= 0 && isfinite(options->largest) && options->safety >= 0 &&
                   isfinite(options->safety),
               ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: largest eigenvalue %g, safety %g: both need to be positive and finite, or 0 for the "
               "default",
               call, options->largest, options->safety);
  return CEED_ERROR_SUCCESS;
}

int ritz_chebyshev_bounds(const RitzChebyshevOptions *options, const RitzSystem *system,
                          RitzPreconditioner inner, CeedSize n, CeedScalarType precision,
                          RitzSpectrum *spectrum, double *upper) {
  const CeedInt num_steps = options->num_steps ? options->num_steps : DEFAULT_STEPS;
  const double safety = options->safety > 0 ? options->safety : default_safety;

  *spectrum = (RitzSpectrum){.largest = options->largest};
  *upper = options->largest;
  if (options->largest > 0) return CEED_ERROR_SUCCESS;
  for (int i = 1; i <= 2; i++) {
    RITZ_TRY(ritz_estimate_spectrum(system, inner, n, precision, i * num_steps, (uint64_t)i, spectrum));
    if (spectrum->fault == RITZ_ITERATING) break;
  }
  *upper = safety * spectrum->largest;
  return CEED_ERROR_SUCCESS;
}

// ---- Coefficients ----

static RitzChebyshevStep fourth_kind(double upper, int i) {
  if (i == 0) return (RitzChebyshevStep){.fresh = 4 / (3 * upper)};
  return (RitzChebyshevStep){.old = (2.0 * i - 1) / (2.0 * i + 3),
                             .fresh = (8.0 * i + 4) / ((2.0 * i + 3) * upper)};
}

static RitzChebyshevStep first_kind(double lower, double upper, int i, double *rho) {
  const double t = (upper + lower) / 2, h = (upper - lower) / 2, s = t / h, before = *rho;

  *rho = i > 0 ? 1 / (2 * s - before) : 1 / s;
  if (i == 0) return (RitzChebyshevStep){.fresh = 1 / t};
  return (RitzChebyshevStep){.old = *rho * before, .fresh = 2 * *rho / h};
}

RitzChebyshevStep ritz_chebyshev_step(RitzChebyshevKind kind, double lower, double upper, int i,
                                      double *rho) {
  // Nothing to iterate on: all entries are constrained.
  if (!(upper > 0)) return (RitzChebyshevStep){0};
  return kind == RITZ_CHEBYSHEV_FOURTH ? fourth_kind(upper, i) : first_kind(lower, upper, i, rho);
}

// ---- Jacobi inside: one pass a step ----

// x = d = fresh m b
static const RitzPass jacobi_first = {
    .name = "chebyshev_jacobi_first",
    .num_vectors = 4,
    .num_lines = 2,
    .line = {{.to = 2, .num_terms = 1, .term = {{.factor = 0, .x = 0, .y = 1}}},
             {.to = 3, .num_terms = 1, .term = {{.factor = RITZ_PASS_NONE, .x = 2, .y = RITZ_PASS_NONE}}}},
};
// x = fresh m b, where no other step follows
static const RitzPass jacobi_only = {
    .name = "chebyshev_jacobi_only",
    .num_vectors = 3,
    .num_lines = 1,
    .line = {{.to = 2, .num_terms = 1, .term = {{.factor = 0, .x = 0, .y = 1}}}},
};
// d = fresh m b - fresh m q, x = x + d, with q = A x
static const RitzPass jacobi_begin = {
    .name = "chebyshev_jacobi_begin",
    .num_vectors = 5,
    .num_lines = 2,
    .line = {{.to = 2,
              .num_terms = 2,
              .term = {{.factor = 0, .x = 0, .y = 1}, {.factor = 1, .x = 0, .y = 4}}},
             {.to = 3,
              .num_terms = 2,
              .term = {{.factor = RITZ_PASS_NONE, .x = 3, .y = RITZ_PASS_NONE},
                       {.factor = RITZ_PASS_NONE, .x = 2, .y = RITZ_PASS_NONE}}}},
};
// d = old d + fresh m b - fresh m q, x = x + d
static const RitzPass jacobi_step = {
    .name = "chebyshev_jacobi_step",
    .num_vectors = 5,
    .num_lines = 2,
    .line = {{.to = 2,
              .num_terms = 3,
              .term = {{.factor = 0, .x = 2, .y = RITZ_PASS_NONE},
                       {.factor = 1, .x = 0, .y = 1},
                       {.factor = 2, .x = 0, .y = 4}}},
             {.to = 3,
              .num_terms = 2,
              .term = {{.factor = RITZ_PASS_NONE, .x = 3, .y = RITZ_PASS_NONE},
                       {.factor = RITZ_PASS_NONE, .x = 2, .y = RITZ_PASS_NONE}}}},
};
// The last step, after which d is not needed any more: x = x + old d + fresh m b - fresh m q
static const RitzPass jacobi_last = {
    .name = "chebyshev_jacobi_last",
    .num_vectors = 5,
    .num_lines = 1,
    .line = {{.to = 3,
              .num_terms = 4,
              .term = {{.factor = RITZ_PASS_NONE, .x = 3, .y = RITZ_PASS_NONE},
                       {.factor = 0, .x = 2, .y = RITZ_PASS_NONE},
                       {.factor = 1, .x = 0, .y = 1},
                       {.factor = 2, .x = 0, .y = 4}}}},
};

static int smooth_by_jacobi(const Chebyshev *c, CeedVector inverse, double factor, CeedVector b, CeedVector x,
                            bool starts_from_zero) {
  const CeedVector v[] = {inverse, b, c->d, x, c->q};
  double rho = 0;

  for (int i = 0; i < c->degree; i++) {
    const RitzChebyshevStep step = ritz_chebyshev_step(c->kind, c->lower, c->upper, i, &rho);
    const double fresh = step.fresh * factor;
    const bool is_last = i == c->degree - 1;
    if (i == 0 && starts_from_zero) {
      if (is_last) return ritz_pass_run(&jacobi_only, (CeedVector[]){inverse, b, x}, &fresh, NULL);
      RITZ_TRY(ritz_pass_run(&jacobi_first, v, &fresh, NULL));
      continue;
    }
    RITZ_TRY(ritz_system_apply_raw(&c->system, x, c->q)); // the inverse is zero on constrained entries
    if (i == 0 && !is_last) {
      RITZ_TRY(ritz_pass_run(&jacobi_begin, v, (double[]){fresh, -fresh}, NULL));
      continue;
    }
    RITZ_TRY(
        ritz_pass_run(is_last ? &jacobi_last : &jacobi_step, v, (double[]){step.old, fresh, -fresh}, NULL));
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Anything else inside ----

// Passes of a step, of vectors z, d, x and s, which z is multiplied with (RITZ_PASS_NONE: it is not):
//     x = d = fresh z;  d = fresh z, x = x + d;  d = old d + fresh z, x = x + d;
//     x = x + old d + fresh z, where d is not needed any more
typedef struct {
  RitzPass first, begin, step, last;
} StepPasses;
enum { Z, D, X, S };
#define ONE(vector)                                                                                          \
  { .factor = RITZ_PASS_NONE, .x = vector, .y = RITZ_PASS_NONE }
#define OLD                                                                                                  \
  { .factor = 0, .x = D, .y = RITZ_PASS_NONE }
#define FRESH(which, s)                                                                                      \
  { .factor = which, .x = Z, .y = s }
#define STEP_PASSES(prefix, num, s)                                                                          \
  {                                                                                                          \
    .first = {.name = prefix "_first",                                                                       \
              .num_vectors = num,                                                                            \
              .num_lines = 2,                                                                                \
              .line = {{.to = D, .num_terms = 1, .term = {FRESH(0, s)}},                                     \
                       {.to = X, .num_terms = 1, .term = {ONE(D)}}}},                                        \
    .begin = {.name = prefix "_begin",                                                                       \
              .num_vectors = num,                                                                            \
              .num_lines = 2,                                                                                \
              .line = {{.to = D, .num_terms = 1, .term = {FRESH(0, s)}},                                     \
                       {.to = X, .num_terms = 2, .term = {ONE(X), ONE(D)}}}},                                \
    .step = {.name = prefix "_step",                                                                         \
             .num_vectors = num,                                                                             \
             .num_lines = 2,                                                                                 \
             .line = {{.to = D, .num_terms = 2, .term = {OLD, FRESH(1, s)}},                                 \
                      {.to = X, .num_terms = 2, .term = {ONE(X), ONE(D)}}}},                                 \
    .last = {.name = prefix "_last",                                                                         \
             .num_vectors = num,                                                                             \
             .num_lines = 1,                                                                                 \
             .line = {{.to = X, .num_terms = 3, .term = {ONE(X), OLD, FRESH(1, s)}}}},                       \
  }
static const StepPasses step_passes = STEP_PASSES("chebyshev", 3, RITZ_PASS_NONE);
static const StepPasses scaled_passes = STEP_PASSES("chebyshev_scaled", 4, S);
// w = s b - s q
static const RitzPass scaled_residual = {
    .name = "chebyshev_scaled_residual",
    .num_vectors = 4,
    .num_lines = 1,
    .line = {{.to = 3,
              .num_terms = 2,
              .term = {{.factor = RITZ_PASS_NONE, .x = 0, .y = 1}, {.factor = 0, .x = 0, .y = 2}}}},
};

// Whether P = s B s with s and B that can be had, see RitzInside.
static bool has_inside(const Chebyshev *c, CeedScalarType precision, RitzInside *inside) {
  const RitzPreconditioner pc = c->inner;

  if (!pc->methods->get_inside || pc->ceed != c->system.ceed || pc->precision != precision) return false;
  if (pc->lacks_values) return false; // it says so when it is applied
  pc->methods->get_inside(pc, inside);
  return true;
}

// z := P (b - A x)
static int find_direction(const Chebyshev *c, CeedVector b, CeedVector x, bool is_zero) {
  if (is_zero) return ritz_preconditioner_apply(c->inner, b, c->z);
  RITZ_TRY(ritz_system_apply_raw(&c->system, x, c->q));
  RITZ_TRY(RitzVectorSum(c->q, 1, b, -1, c->q)); // whatever it has on constrained entries
  return ritz_preconditioner_apply(c->inner, c->q, c->z);
}

// *z := B s (b - A x)
static int find_scaled_direction(const Chebyshev *c, const RitzInside *inside, CeedVector b, CeedVector x,
                                 bool is_zero, CeedVector *z) {
  const CeedSize n = c->inner->n;
  CeedVector s = inside->scale, work = inside->work;

  if (is_zero) {
    RITZ_TRY(ritz_pass_run_first(&ritz_schwarz_scale_into, n, (CeedVector[]){s, b, work}, NULL, NULL));
  } else {
    RITZ_TRY(ritz_system_apply_raw(&c->system, x, c->q));
    RITZ_TRY(
        ritz_pass_run_first(&scaled_residual, n, (CeedVector[]){s, b, c->q, work}, (double[]){-1}, NULL));
  }
  return c->inner->methods->apply_inside(c->inner, c->z, z);
}

static int smooth_in_general(const Chebyshev *c, CeedVector b, CeedVector x, bool starts_from_zero) {
  RitzInside inside = {NULL, NULL};
  const bool is_scaled = has_inside(c, c->d->precision, &inside);
  const StepPasses *passes = is_scaled ? &scaled_passes : &step_passes;
  CeedVector z = c->z;
  double rho = 0;

  for (int i = 0; i < c->degree; i++) {
    const RitzChebyshevStep step = ritz_chebyshev_step(c->kind, c->lower, c->upper, i, &rho);
    const bool is_zero = i == 0 && starts_from_zero, is_last = i == c->degree - 1;
    const double factors[] = {i == 0 ? step.fresh : step.old, step.fresh};

    RITZ_TRY(is_scaled ? find_scaled_direction(c, &inside, b, x, is_zero, &z)
                       : find_direction(c, b, x, is_zero));
    RITZ_TRY(ritz_pass_run_first(is_zero   ? &passes->first
                                 : i == 0  ? &passes->begin
                                 : is_last ? &passes->last
                                           : &passes->step,
                                 c->inner->n, (CeedVector[]){z, c->d, x, inside.scale}, factors, NULL));
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Bounds ----

static void set_lower(Chebyshev *c) {
  c->lower = (c->options.lower_fraction > 0 ? c->options.lower_fraction : default_lower_fraction) * c->upper;
}

int ritz_chebyshev_estimate_beside(RitzPreconditioner pc, const RitzSystem *system,
                                   const RitzChebyshevOptions *options) {
  Chebyshev *c = pc->data;
  RitzSpectrum spectrum;
  double upper = 0;

  RITZ_TRY(ritz_chebyshev_bounds(options, system, c->inner, pc->n, pc->precision, &spectrum, &upper));
  RITZ_REQUIRE(spectrum.fault == RITZ_ITERATING, pc->ceed, CEED_ERROR_MAJOR,
               "the estimate of eigenvalues beside the nullspace failed: %s",
               RitzSolverReasonName(spectrum.fault));
  c->estimate = c->upper = c->options.largest = upper;
  set_lower(c);
  return CEED_ERROR_SUCCESS;
}

// The bounds, estimated unless they are given.
static int find_bounds(Chebyshev *c, const char *call, CeedScalarType precision) {
  const RitzPreconditioner inner = c->inner;
  RitzSpectrum spectrum;

  RITZ_TRY(ritz_chebyshev_bounds(&c->options, &c->system, inner, inner->n, precision, &spectrum, &c->upper));
  RITZ_REQUIRE(spectrum.fault == RITZ_ITERATING, c->system.ceed, CEED_ERROR_MAJOR,
               "%s: the estimate of eigenvalues over '%s' failed: %s", call, inner->methods->name,
               spectrum.fault == RITZ_DIVERGED_INDEFINITE
                   ? "the operator is not positive definite on the free entries"
               : spectrum.fault == RITZ_DIVERGED_PRECONDITIONER
                   ? "the inner preconditioner is not positive definite on the free entries"
                   : "a product is not a finite number");
  c->estimate = spectrum.largest;
  set_lower(c);
  return CEED_ERROR_SUCCESS;
}

// ---- The preconditioner ----

static int smooth_chebyshev(RitzPreconditioner pc, CeedVector b, CeedVector x, bool starts_from_zero,
                            bool is_after) {
  const Chebyshev *c = pc->data;
  double factor = 1;
  CeedVector inverse = ritz_jacobi_inverse(c->inner, c->system.ceed, &factor);
  (void)is_after; // a polynomial is its own adjoint
  // A Jacobi method without values says so when it is applied.
  if (c->has_inverse && !inverse) return ritz_preconditioner_apply(c->inner, b, c->q);
  return inverse ? smooth_by_jacobi(c, inverse, factor, b, x, starts_from_zero)
                 : smooth_in_general(c, b, x, starts_from_zero);
}

static int apply_chebyshev(RitzPreconditioner pc, CeedVector r, CeedVector z) {
  return smooth_chebyshev(pc, r, z, true, false);
}

int ritz_chebyshev_better_bound(const RitzChebyshevOptions *options, const RitzSystem *system,
                                RitzPreconditioner inner, CeedSize n, CeedScalarType precision,
                                RitzSpectrum *spectrum, double *upper) {
  RitzChebyshevOptions more = *options;
  const double before = *upper;

  more.num_steps = 4 * (options->num_steps ? options->num_steps : DEFAULT_STEPS);
  RITZ_TRY(ritz_chebyshev_bounds(&more, system, inner, n, precision, spectrum, upper));
  *upper = fmax(*upper, fmax(1.2 * before, default_safety * spectrum->largest));
  return CEED_ERROR_SUCCESS;
}

static int strengthen_chebyshev(RitzPreconditioner pc, bool *is_changed) {
  Chebyshev *c = pc->data;
  RitzSpectrum spectrum;

  RITZ_TRY(ritz_preconditioner_strengthen(c->inner, is_changed));
  if (!c->is_estimated || c->is_redone) return CEED_ERROR_SUCCESS;
  c->is_redone = true;
  RITZ_TRY(ritz_chebyshev_better_bound(&c->options, &c->system, c->inner, pc->n, pc->precision, &spectrum,
                                       &c->upper));
  if (spectrum.fault == RITZ_ITERATING) c->estimate = spectrum.largest;
  set_lower(c);
  *is_changed = true;
  return CEED_ERROR_SUCCESS;
}

static int prepare_chebyshev(RitzPreconditioner pc) {
  return ritz_preconditioner_prepare(((const Chebyshev *)pc->data)->inner);
}

static const char *why_chebyshev_is_not_updated(RitzPreconditioner pc) {
  return ritz_preconditioner_why_not_updated(((const Chebyshev *)pc->data)->inner);
}

static int update_chebyshev(RitzPreconditioner pc) {
  Chebyshev *c = pc->data;

  RITZ_TRY(ritz_preconditioner_update(c->inner));
  c->is_redone = false;
  return c->options.update == RITZ_BOUNDS_KEEP ? CEED_ERROR_SUCCESS
                                               : find_bounds(c, "Chebyshev", pc->precision);
}

static int view_chebyshev(RitzPreconditioner pc, FILE *stream, int indent) {
  const Chebyshev *c = pc->data;
  const bool is_fourth = c->kind == RITZ_CHEBYSHEV_FOURTH;

  fprintf(stream, "%*sChebyshev, %s kind, degree %" CeedInt_FMT ", ", indent, "",
          is_fourth ? "fourth" : "first", c->degree);
  if (is_fourth) {
    fprintf(stream, "eigenvalues up to %.4g", c->upper);
  } else {
    fprintf(stream, "eigenvalues from %.4g to %.4g", c->lower, c->upper);
  }
  fprintf(stream, " (largest %s: %.4g), over\n", c->is_estimated ? "estimated" : "given", c->estimate);
  return ritz_preconditioner_view(c->inner, stream, indent + 2);
}

static int64_t chebyshev_bytes(RitzPreconditioner pc) {
  const Chebyshev *c = pc->data;
  const int64_t vector = (int64_t)pc->n * (int64_t)ritz_scalar_bytes(pc->precision);
  return (c->z ? 3 : 2) * vector + ritz_preconditioner_bytes(c->inner);
}

// An application of the inner one begins from zero.
static int chebyshev_work(RitzPreconditioner pc, RitzSmoothingWork *work) {
  const Chebyshev *c = pc->data;
  RitzSmoothingWork inner;

  RITZ_TRY(ritz_preconditioner_work(c->inner, &inner));
  work->num_applies = c->degree * inner.num_applies;
  work->flops = c->degree * inner.flops;
  return CEED_ERROR_SUCCESS;
}

static int free_chebyshev(Chebyshev *c) {
  int ierr = ritz_system_destroy(&c->system);

  ierr = ritz_first_error(ierr, RitzPreconditionerDestroy(&c->inner));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&c->q));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&c->d));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&c->z));
  RITZ_FREE(&c);
  return ierr;
}

static int destroy_chebyshev(RitzPreconditioner pc) { return free_chebyshev(pc->data); }

static const RitzPreconditionerMethods chebyshev_methods = {.name = "Chebyshev",
                                                            .apply = apply_chebyshev,
                                                            .smooth = smooth_chebyshev,
                                                            .strengthen = strengthen_chebyshev,
                                                            .prepare = prepare_chebyshev,
                                                            .view = view_chebyshev,
                                                            .bytes = chebyshev_bytes,
                                                            .work = chebyshev_work,
                                                            .why_not_updated = why_chebyshev_is_not_updated,
                                                            .update = update_chebyshev,
                                                            .destroy = destroy_chebyshev};

static int create_vectors(Chebyshev *c, CeedSize n, CeedScalarType precision) {
  CeedVector *const vectors[] = {&c->q, &c->d, &c->z};

  for (int i = 0; i < (c->has_inverse ? 2 : 3); i++) {
    RITZ_TRY(RitzVectorCreate(c->system.ceed, n, precision, vectors[i]));
    RITZ_TRY(CeedVectorSetValue(*vectors[i], 0));
  }
  return CEED_ERROR_SUCCESS;
}

// As many passes of steps over a diagonal as the degree needs.
static void add_jacobi_steps(CeedInt degree, CeedScalarType precision, RitzPassForms *forms) {
  const RitzPass *const passes[] = {degree > 1 ? &jacobi_first : &jacobi_only, &jacobi_last, &jacobi_begin,
                                    &jacobi_step};

  for (int i = 0; i < 1 + CeedIntMin(degree, 3); i++)
    ritz_pass_forms_add(forms, ritz_pass_form(passes[i], precision));
}

// Beside steps in general with as many passes, of the method inside or of others.
static void add_general_steps(CeedInt degree, bool is_scaled, CeedScalarType precision,
                              RitzPassForms *forms) {
  const StepPasses *p = is_scaled ? &scaled_passes : &step_passes;
  const RitzPass *const passes[] = {is_scaled ? &scaled_residual : ritz_vector_sum_pass(RITZ_SUM_UPDATE),
                                    &p->first, &p->begin, &p->last, &p->step};

  for (int i = 0; i < 2 + CeedIntMin(degree, 3); i++)
    ritz_pass_forms_add(forms, ritz_pass_form(passes[i], precision));
}

static void add_estimate(bool has_update, CeedScalarType precision, RitzPassForms *forms) {
  const RitzVectorSumKind kinds[] = {RITZ_SUM_DOT, RITZ_SUM_MULTIPLE, RITZ_SUM_AXPY, RITZ_SUM_UPDATE};

  for (int i = 0; i < (has_update ? 4 : 3); i++)
    ritz_pass_forms_add(forms, ritz_pass_form(ritz_vector_sum_pass(kinds[i]), precision));
}

static CeedInt degree_of(const RitzChebyshevOptions *options) {
  return options->degree > 0 ? options->degree : DEFAULT_DEGREE;
}

void ritz_chebyshev_add_forms(const RitzChebyshevOptions *options, CeedScalarType precision,
                              RitzPassForms *forms) {
  add_jacobi_steps(degree_of(options), precision, forms);
  if (options->largest > 0) return;
  add_estimate(true, precision, forms);
  ritz_pass_forms_add(forms, ritz_pass_form(&ritz_jacobi_pass, precision));
}

// Prepares the passes of a step and of the estimate.
static int prepare_passes(const Chebyshev *c, CeedScalarType precision) {
  RitzInside inside;
  const bool is_scaled = has_inside(c, precision, &inside);
  RitzPassForms forms = {0};

  if (c->has_inverse)
    ritz_chebyshev_add_forms(&c->options, precision, &forms);
  else
    add_general_steps(c->degree, is_scaled, precision, &forms);
  if (!c->has_inverse && c->is_estimated) add_estimate(is_scaled, precision, &forms);
  return ritz_passes_prepare(c->system.ceed, forms.num, forms.form);
}

// c->system is made.
static int set_up_chebyshev(Chebyshev *c, const char *call, RitzPreconditioner inner,
                            const RitzChebyshevOptions *options, CeedScalarType precision) {
  RITZ_TRY(RitzPreconditionerReferenceCopy(inner, &c->inner));
  c->has_inverse = ritz_jacobi_inverse(inner, c->system.ceed, NULL) != NULL;
  c->options = *options;
  c->kind = options->kind;
  c->degree = degree_of(options);
  c->is_estimated = !(options->largest > 0);
  RITZ_TRY(prepare_passes(c, precision));
  RITZ_TRY(find_bounds(c, call, precision));
  return create_vectors(c, inner->n, precision);
}

static int check_inner(Ceed ceed, const char *call, RitzPreconditioner inner, CeedSize n) {
  RITZ_REQUIRE(inner->n == n, ceed, CEED_ERROR_DIMENSION,
               "%s: the inner preconditioner has %" CeedSize_FMT " entries, the operator %" CeedSize_FMT,
               call, inner->n, n);
  RITZ_REQUIRE(inner->is_symmetric, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the inner preconditioner '%s' is not symmetric or not fixed: its eigenvalues have no "
               "bounds to estimate",
               call, inner->methods->name);
  return CEED_ERROR_SUCCESS;
}

int ritz_chebyshev_create(const char *call, Ceed ceed, CeedOperator op, RitzApplyFunction apply, void *ctx,
                          CeedScalarType precision, RitzIndices constraints, RitzPreconditioner inner,
                          const RitzChebyshevOptions *options, RitzPreconditioner *pc) {
  const RitzChebyshevOptions defaults = {0};
  const CeedSize n = inner->n;
  Chebyshev *c = NULL;

  if (!options) options = &defaults;
  RITZ_TRY(ritz_chebyshev_check(ceed, call, options));
  RITZ_TRY(check_inner(ceed, call, inner, n));
  RITZ_TRY(ritz_check_constraints(ceed, call, constraints, n));
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &c));
  int ierr = ritz_system_create(ceed, op, apply, ctx, constraints, &c->system);
  if (!ierr) ierr = set_up_chebyshev(c, call, inner, options, precision);
  if (!ierr) ierr = ritz_preconditioner_create(ceed, call, n, precision, &chebyshev_methods, c, true, pc);
  return ierr ? ritz_first_error(ierr, free_chebyshev(c)) : CEED_ERROR_SUCCESS;
}

int RitzPreconditionerCreateChebyshev(CeedOperator op, RitzIndices constraints, RitzPreconditioner inner,
                                      const RitzChebyshevOptions *options, RitzPreconditioner *pc) {
  const char *call = "RitzPreconditionerCreateChebyshev";
  CeedScalarType precision = CEED_SCALAR_TYPE;
  CeedSize n = 0;

  RITZ_HANDLE(op, constraints, inner);
  Ceed ceed = op->obj.ceed;
  RITZ_OPTIONAL(ceed, constraints);
  RITZ_ARGUMENT(ceed, inner);
  RITZ_REQUIRE(pc != NULL, ceed, CEED_ERROR_INCOMPATIBLE, "%s: argument 'pc' is NULL", call);
  if (options) RITZ_TRY(ritz_chebyshev_check(ceed, call, options));
  RITZ_TRY(ritz_operator_square_length(op, call, &n));
  RITZ_TRY(check_inner(ceed, call, inner, n));
  RITZ_TRY(RitzOperatorGetPrecision(op, &precision));
  return ritz_chebyshev_create(call, ceed, op, NULL, NULL, precision, constraints, inner, options, pc);
}

int RitzPreconditionerGetChebyshevBounds(RitzPreconditioner pc, double *estimate, double *lower,
                                         double *upper) {
  RITZ_HANDLE(pc);
  RITZ_REQUIRE(pc->methods == &chebyshev_methods, pc->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzPreconditionerGetChebyshevBounds: the preconditioner is '%s', needed 'Chebyshev'",
               pc->methods->name);
  const Chebyshev *c = pc->data;
  if (estimate) *estimate = c->estimate;
  if (lower) *lower = c->kind == RITZ_CHEBYSHEV_FIRST ? c->lower : 0;
  if (upper) *upper = c->upper;
  return CEED_ERROR_SUCCESS;
}
