// SPDX-License-Identifier: BSD-2-Clause
// The table of the device that the checking backend plays, and its per-context data.
#include "backends/check/device.h"

#include "backends/check/check.h"
#include "backends/ref/ref.h"

static int check_device_ceed_create(Ceed ceed, const char *options) {
  (void)options; // read already, see check.c
  RitzCheckDevice *device = NULL;
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &device));
  ceed->data = device;
  return CEED_ERROR_SUCCESS;
}

// Memory of the device that the program has allocated and not freed is lost with the device.
static int check_device_ceed_destroy(Ceed ceed) {
  RitzCheckDevice *device = ceed->data;
  RITZ_REQUIRE(device->num == 0, ceed, CEED_ERROR_BACKEND,
               "check: CeedDestroy: %zu arrays in device memory have not been freed", device->num);
  RITZ_FREE(&device->block);
  RITZ_FREE(&device);
  ceed->data = NULL;
  return CEED_ERROR_SUCCESS;
}

// Fields and context are in device memory.
static int apply_qfunction(CeedQFunction qf, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  void *ctx;
  RITZ_TRY(ritz_qfunction_need_pointer(qf));
  RITZ_TRY_BACKEND(ritz_qfunction_get_context_data(qf, CEED_MEM_DEVICE, &ctx));
  int ierr = qf->obj.ceed->backend.qfunction_call(qf, ctx, Q, in, out);
  int restored = ritz_qfunction_restore_context_data(qf, &ctx);
  RITZ_TRY_BACKEND(ierr ? ierr : restored);
  return CEED_ERROR_SUCCESS;
}

// Arithmetic and assembly are the reference's: they take raw arrays wherever these are, and read what else
// they need on the host.
const RitzBackend ritz_check_device_backend = {
    .name = "/cpu/self/check",
    .fallback = &ritz_ref_backend,
    .mem_type = CEED_MEM_DEVICE,
    .is_deterministic = true,
    .pads_points = true,
    .ceed_create = check_device_ceed_create,
    .ceed_destroy = check_device_ceed_destroy,
    .restriction_layout = ritz_check_device_layout,
    .restriction_apply = ritz_check_device_restriction,
    .basis_apply = ritz_check_device_basis,
    .basis_apply_at_points = ritz_check_device_basis_at_points,
    .qfunction_call = ritz_check_qfunction_call,
    .qfunction_apply = apply_qfunction,
    .operator_apply = ritz_check_device_operator,
    .rep_alloc = ritz_check_rep_alloc,
    .rep_free = ritz_check_rep_free,
    .rep_copy = ritz_check_rep_copy,
    .rep_accept = ritz_check_rep_accept,
    .vector_lend = ritz_check_vector_lend,
    .vector_take_back = ritz_check_vector_take_back,
    .vector_forget = ritz_check_vector_forget,
    .batched_run = ritz_ref_batched_run,
    .batched_explain = ritz_ref_batched_explain,
    .dense = &ritz_ref_dense,
    .front_tree_run = ritz_ref_front_tree_run,
    .front_prepare = ritz_ref_front_prepare,
    .front_run = ritz_ref_front_run,
};
