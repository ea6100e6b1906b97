// SPDX-License-Identifier: BSD-2-Clause
// Multiplicative Schwarz on vertex patches of rectangular boxes as a preconditioner and as a smoother
// (ritz/preconditioner.h). The sweeps are the backend's (core/patch-sweep.h); here is what decides whether
// the operator is one that they solve.
//
// The test: a sweep over b = A x with a random x leaves x as it is, since every patch is solved exactly for
// what is right already. A row of any patch that is not that of A would show, and the entry tells where.
#include <float.h>
#include <math.h>
#include <ritz/operator.h>

#include "solver/eigenvalues.h"
#include "solver/patch-box.h"
#include "solver/preconditioner.h"

typedef struct {
  RitzSystem system;    // owned
  RitzSpace space;      // counted
  RitzPatchSweep sweep; // owned
  RitzPatchOptions options;
} Patches;

// ---- The preconditioner ----

static int apply_patches(RitzPreconditioner pc, CeedVector r, CeedVector z) {
  const Patches *p = pc->data;

  RITZ_TRY(ritz_patch_sweep_run(p->sweep, r, z, true, false));
  return p->options.is_symmetric ? ritz_patch_sweep_run(p->sweep, r, z, false, true) : CEED_ERROR_SUCCESS;
}

static int smooth_patches(RitzPreconditioner pc, CeedVector b, CeedVector x, bool starts_from_zero,
                          bool is_after) {
  const Patches *p = pc->data;

  return ritz_patch_sweep_run(p->sweep, b, x, starts_from_zero, is_after && p->options.is_symmetric);
}

static int view_patches(RitzPreconditioner pc, FILE *stream, int indent) {
  static const char *const forms[] = {"lifted", "residual and solution", "boundary residual and solution"};
  const Patches *p = pc->data;
  const RitzPatchBox *box = &p->sweep->box;

  fprintf(stream, "%*svertex patches, %d colours, %s, %s: degree %" CeedInt_FMT ", %s box of %lld", indent,
          "", 1 << box->dim, forms[box->form], p->options.is_symmetric ? "there and back" : "one order",
          box->degree, box->is_uniform ? "uniform" : "rectangular", (long long)box->cells[0]);
  for (int d = 1; d < box->dim; d++) fprintf(stream, " x %lld", (long long)box->cells[d]);
  fprintf(stream, " cells, factors");
  for (int d = 0; d < box->dim; d++) fprintf(stream, " %.4g", box->factor[d]);
  fprintf(stream, ", of the mass %.4g\n", box->factor[3]);
  return CEED_ERROR_SUCCESS;
}

static int64_t patches_bytes(RitzPreconditioner pc) {
  const RitzPatchBox *box = &((const Patches *)pc->data)->sweep->box;
  int64_t num = box->is_uniform ? 1 : 0;

  for (int d = 0; d < box->dim && !box->is_uniform; d++) num += box->count[d];
  return num * (int64_t)(ritz_fe_patch_line_size(box->degree) * sizeof(double));
}

static int patches_work(RitzPreconditioner pc, RitzSmoothingWork *work) {
  const Patches *p = pc->data;
  double bytes;

  work->num_applies = 0;
  ritz_patch_sweep_cost(&p->sweep->box, &work->flops, &bytes);
  return CEED_ERROR_SUCCESS;
}

static int free_patches(Patches *p) {
  int ierr = ritz_patch_sweep_destroy(&p->sweep);

  ierr = ritz_first_error(ierr, RitzSpaceDestroy(&p->space));
  ierr = ritz_first_error(ierr, ritz_system_destroy(&p->system));
  RITZ_FREE(&p);
  return ierr;
}

static int destroy_patches(RitzPreconditioner pc) { return free_patches(pc->data); }

// ---- The test ----

typedef struct {
  CeedVector x, b, y; // owned
} Trial;

static double entry_at(CeedVector v, const void *array, CeedSize i) {
  return v->precision == CEED_SCALAR_FP32 ? (double)((const float *)array)[i] : ((const double *)array)[i];
}

// The entry of the largest size, or the first one that is no number. (Steps of a sweep spread what the first
// wrong one does, so most lies near the cause.)
static int find_largest(CeedVector v, CeedSize *entry) {
  void *array = NULL;
  double largest = 0;

  *entry = 0;
  RITZ_TRY(ritz_vector_lock(v, RITZ_ACCESS_READ, CEED_MEM_HOST, &array));
  for (CeedSize i = 0; i < v->length && !isnan(largest); i++) {
    const double size = fabs(entry_at(v, array, i));

    if (size <= largest) continue;
    largest = size;
    *entry = i;
  }
  return ritz_vector_unlock(v, RITZ_ACCESS_READ, &array, CEED_ERROR_SUCCESS);
}

static int report_difference(const RitzPatchBox *box, const char *call, CeedVector difference, double largest,
                             double bound) {
  int64_t node, at[3] = {0, 0, 0}, element = 0;
  CeedSize entry;

  RITZ_TRY(find_largest(difference, &entry));
  node = entry / box->num_comp;
  for (int d = 0; d < box->dim; d++, node /= box->nodes[d - 1]) at[d] = node % box->nodes[d];
  for (int d = box->dim - 1; d >= 0; d--) {
    const int64_t cell = at[d] / box->degree;
    element = element * box->cells[d] + (cell < box->cells[d] ? cell : cell - 1);
  }
  return CeedError(
      difference->obj.ceed, CEED_ERROR_UNSUPPORTED,
      "%s: the operator is not one number for each direction and a reaction on a rectangular box: "
      "patches change a random solution by %.2g, most at entry %" CeedSize_FMT
      ", node (%lld, %lld, %lld) of element %lld; needed at most %.2g (variable coefficients, inexact "
      "quadrature, components that are coupled: use overlapped elements or elements, "
      "RitzPreconditionerCreateSchwarz)",
      call, largest, entry, (long long)at[0], (long long)at[1], (long long)at[2], (long long)element, bound);
}

double ritz_patch_box_tolerance(const RitzPatchBox *box) {
  const double eps = box->precision == CEED_SCALAR_FP32 ? FLT_EPSILON : DBL_EPSILON, p = box->degree;
  return 256 * eps * p * p * p;
}

static int run_trial(const RitzSystem *system, const char *call, RitzPatchSweep sweep, Trial *t) {
  const RitzPatchBox *box = &sweep->box;
  CeedScalar largest = 0;

  RITZ_TRY(RitzVectorCreate(system->ceed, sweep->length, box->precision, &t->x));
  RITZ_TRY(RitzVectorCreate(system->ceed, sweep->length, box->precision, &t->b));
  RITZ_TRY(RitzVectorCreate(system->ceed, sweep->length, box->precision, &t->y));
  RITZ_TRY(ritz_system_set_random(system, t->x, 1));
  RITZ_TRY(ritz_system_apply(system, t->x, t->b));
  RITZ_TRY(CeedVectorCopy(t->x, t->y));
  RITZ_TRY(ritz_patch_sweep_run(sweep, t->b, t->y, false, false));
  RITZ_TRY(RitzVectorSum(t->y, 1, t->y, -1, t->x));
  RITZ_TRY(CeedVectorNorm(t->y, CEED_NORM_MAX, &largest));
  return (double)largest <= ritz_patch_box_tolerance(box)
             ? CEED_ERROR_SUCCESS
             : report_difference(box, call, t->y, (double)largest, ritz_patch_box_tolerance(box));
}

static int test_sweep(const RitzSystem *system, const char *call, RitzPatchSweep sweep) {
  Trial t = {.x = NULL};
  int ierr = run_trial(system, call, sweep, &t);

  ierr = ritz_first_error(ierr, CeedVectorDestroy(&t.x));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&t.b));
  return ritz_first_error(ierr, CeedVectorDestroy(&t.y));
}

// ---- Creation ----

static int check_arguments(CeedOperator op, const char *call, RitzSpace space, RitzIndices constraints,
                           const RitzPatchOptions *options) {
  RITZ_TRY(ritz_check_operator_of_space(op, call, space, constraints));
  RITZ_TRY(ritz_check_space_is_continuous(op->obj.ceed, call, space));
  RITZ_REQUIRE(options->form >= RITZ_PATCH_LIFTED && options->form <= RITZ_PATCH_BOUNDARY, op->obj.ceed,
               CEED_ERROR_INCOMPATIBLE, "%s: %d is no form, needed a RitzPatchForm", call,
               (int)options->form);
  return CEED_ERROR_SUCCESS;
}

static int find_factors(const RitzSystem *system, RitzPatchBox *box) {
  const CeedSize n = (CeedSize)(box->nodes[0] * box->nodes[1] * box->nodes[2]) * box->num_comp;
  RitzPatchShare all = {.num_owned = n};
  int ierr = RitzVectorCreate(system->ceed, n, box->precision, &all.x);

  if (!ierr) ierr = RitzVectorCreate(system->ceed, n, box->precision, &all.y);
  if (!ierr) ierr = ritz_patch_box_find_factors(system, &all, box);
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&all.x));
  return ritz_first_error(ierr, CeedVectorDestroy(&all.y));
}

static int create_box(const RitzSystem *system, const char *call, RitzSpace space, RitzPatchForm form,
                      RitzPatchBox *box) {
  CeedScalarType precision;

  RITZ_TRY(RitzOperatorGetPrecision(system->op, &precision));
  RITZ_TRY(ritz_patch_box_create(system->ceed, call, space, system->constraints, box));
  box->precision = precision;
  box->form = form;
  return CEED_ERROR_SUCCESS;
}

// From the numbers that the operator has now. *sweep belongs to the caller, also after a failure.
static int create_sweep(const char *call, const Patches *p, RitzPatchSweep *sweep) {
  const RitzSystem *system = &p->system;
  RitzPatchBox box;

  RITZ_TRY(create_box(system, call, p->space, p->options.form, &box));
  const int ierr = find_factors(system, &box);
  if (ierr) {
    ritz_patch_box_clear(&box);
    return ierr;
  }
  RITZ_TRY(ritz_patch_sweep_create(system->ceed, &box, sweep));
  RITZ_TRY(ritz_patch_sweep_prepare(*sweep));
  return test_sweep(system, call, *sweep);
}

int ritz_patches_begin(const RitzSystem *system, const char *call, RitzSpace space, RitzPatchForm form,
                       RitzPatchSweep *sweep) {
  RitzPatchBox box;

  RITZ_TRY(create_box(system, call, space, form, &box));
  for (CeedInt d = 0; d < box.dim; d++) box.factor[d] = 1;
  RITZ_TRY(ritz_patch_sweep_create(system->ceed, &box, sweep));
  return ritz_patch_sweep_prepare(*sweep);
}

// Tables of lines are all there is: they are made anew.
static int update_patches(RitzPreconditioner pc) {
  Patches *p = pc->data;
  RitzPatchSweep sweep = NULL, before = p->sweep;
  const int ierr = create_sweep(pc->methods->name, p, &sweep);

  if (ierr) return ritz_first_error(ierr, ritz_patch_sweep_destroy(&sweep));
  p->sweep = sweep;
  return ritz_patch_sweep_destroy(&before);
}

static const RitzPreconditionerMethods patches_methods = {.name = "vertex patches",
                                                          .symmetric_form = "RitzPatchOptions.is_symmetric",
                                                          .apply = apply_patches,
                                                          .smooth = smooth_patches,
                                                          .view = view_patches,
                                                          .bytes = patches_bytes,
                                                          .work = patches_work,
                                                          .update = update_patches,
                                                          .destroy = destroy_patches};

int RitzPreconditionerCreateVertexPatches(CeedOperator op, RitzSpace space, RitzIndices constraints,
                                          const RitzPatchOptions *options, RitzPreconditioner *pc) {
  const char *call = "RitzPreconditionerCreateVertexPatches";
  const RitzPatchOptions zeros = {.form = RITZ_PATCH_LIFTED};
  Patches *p = NULL;
  int ierr;

  if (!options) options = &zeros;
  RITZ_HANDLE(op, space, constraints);
  Ceed ceed = op->obj.ceed;
  RITZ_ARGUMENT(ceed, space);
  RITZ_OPTIONAL(ceed, constraints);
  RITZ_REQUIRE(pc != NULL, ceed, CEED_ERROR_INCOMPATIBLE, "%s: argument 'pc' is NULL", call);
  RITZ_TRY(check_arguments(op, call, space, constraints, options));
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &p));
  p->options = *options;
  RITZ_TRY_CLEANUP(ritz_system_create(ceed, op, NULL, NULL, constraints, &p->system));
  RITZ_TRY_CLEANUP(RitzSpaceReferenceCopy(space, &p->space));
  RITZ_TRY_CLEANUP(create_sweep(call, p, &p->sweep));
  RITZ_TRY_CLEANUP(ritz_preconditioner_create(ceed, call, p->sweep->length, p->sweep->box.precision,
                                              &patches_methods, p, p->options.is_symmetric, pc));
cleanup:
  return ierr ? ritz_first_error(ierr, free_patches(p)) : CEED_ERROR_SUCCESS;
}
