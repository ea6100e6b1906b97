// SPDX-License-Identifier: BSD-2-Clause
// Sweeps over vertex patches (contract in core/patch-sweep.h): life, locks, the slot of the backend.
#include "core/patch-sweep.h"

#include "core/profile.h"
#include "core/vector.h"

// ---- Tables ----

RitzPatchLine ritz_patch_line(CeedInt degree, const double *table) {
  const size_t n = 2 * (size_t)degree - 1, m = n + 2;
  RitzPatchLine line = {.A = table};

  line.M = line.A + n * m;
  line.S = line.M + n * m;
  line.lambda = line.S + n * n;
  line.modes = line.lambda + n;
  line.coupling = line.modes + n * m;
  line.extension = line.coupling + 2 * n;
  return line;
}

// ---- Life ----

static void clear_box(RitzPatchBox *box) {
  for (int d = 0; d < 3; d++) {
    if (box->is_uniform && d > 0)
      box->tables[d] = NULL; // the first one's
    else
      RITZ_FREE(&box->tables[d]);
  }
}

int ritz_patch_sweep_create(Ceed ceed, RitzPatchBox *box, RitzPatchSweep *sweep) {
  RitzPatchSweep s = NULL;
  int ierr = RITZ_CALLOC(ceed, 1, &s);

  if (!ierr) ierr = CeedReferenceCopy(ceed, &s->ceed);
  if (ierr) {
    clear_box(box);
    RITZ_FREE(&s);
    return ierr;
  }
  s->box = *box;
  s->length = (CeedSize)(box->nodes[0] * box->nodes[1] * box->nodes[2]) * box->num_comp;
  for (int d = 0; d < 3; d++) box->tables[d] = NULL;
  *sweep = s;
  return CEED_ERROR_SUCCESS;
}

int ritz_patch_sweep_destroy(RitzPatchSweep *sweep) {
  RitzPatchSweep s = *sweep;
  int ierr = CEED_ERROR_SUCCESS;

  *sweep = NULL;
  if (!s) return ierr;
  if (s->data) ierr = s->ceed->backend.patch_sweep_destroy(s);
  clear_box(&s->box);
  ierr = ritz_first_error(ierr, CeedDestroy(&s->ceed));
  RITZ_FREE(&s);
  return ierr;
}

int ritz_patch_sweep_prepare(RitzPatchSweep sweep) {
  const RitzBackend *backend = &sweep->ceed->backend;

  return backend->patch_sweep_prepare ? backend->patch_sweep_prepare(sweep) : CEED_ERROR_SUCCESS;
}

// ---- Runs ----

// Multiply-adds of a node of a patch: b to modes and back in each direction, one term of each face.
void ritz_patch_sweep_cost(const RitzPatchBox *box, double *flops, double *bytes) {
  const double n = 2 * box->degree - 1, p = box->degree,
               line = box->is_uniform ? p * p + (p - 1) * (p - 1) : n * n;
  double patches = box->num_comp, nodes = 1, unknowns = box->num_comp;

  for (int d = 0; d < box->dim; d++) {
    patches *= (double)box->count[d];
    unknowns *= (double)box->nodes[d];
    nodes *= n;
  }
  *flops = 2 * patches * nodes * box->dim * (2 * line / n + 2);
  *bytes = 3 * unknowns * (double)ritz_scalar_bytes(box->precision);
}

// Backends without the slot are served on the host.
static const RitzBackend *server(Ceed ceed) {
  return ceed->backend.patch_sweep_run ? &ceed->backend : ceed->backend.fallback;
}

static int run_timed(RitzPatchSweep sweep, const RitzBackend *backend, const void *b, void *x, bool x_is_zero,
                     bool is_reversed) {
  RitzProfilePass row = {.name = "patch_sweep", .size = sweep->length};
  double begin;

  if (!sweep->ceed->profile) return backend->patch_sweep_run(sweep, b, x, x_is_zero, is_reversed);
  ritz_patch_sweep_cost(&sweep->box, &row.cost.flops, &row.cost.bytes);
  row.cost.is_single = sweep->box.precision == CEED_SCALAR_FP32;
  if (CEED_SCALAR_TYPE == CEED_SCALAR_FP64 && row.cost.is_single) row.precisions = "FP32";
  RITZ_TRY(ritz_profile_begin(sweep->ceed, &begin));
  return ritz_profile_end_pass(sweep->ceed, &row, begin,
                               backend->patch_sweep_run(sweep, b, x, x_is_zero, is_reversed));
}

int ritz_patch_sweep_run(RitzPatchSweep sweep, CeedVector b, CeedVector x, bool x_is_zero, bool is_reversed) {
  const RitzBackend *backend = server(sweep->ceed);
  const RitzAccess access = x_is_zero ? RITZ_ACCESS_WRITE : RITZ_ACCESS_READ_WRITE;
  void *from = NULL, *to = NULL;

  RITZ_ASSERT(b->length == sweep->length && x->length == sweep->length && b != x &&
              b->precision == sweep->box.precision && x->precision == sweep->box.precision);
  RITZ_TRY(ritz_vector_lock(b, RITZ_ACCESS_READ, backend->mem_type, &from));
  int ierr = ritz_vector_lock(x, access, backend->mem_type, &to);
  if (!ierr) {
    ierr = run_timed(sweep, backend, from, to, x_is_zero, is_reversed);
    ierr = ritz_vector_unlock(x, access, &to, ierr);
  }
  return ritz_vector_unlock(b, RITZ_ACCESS_READ, &from, ierr);
}
