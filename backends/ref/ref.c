// SPDX-License-Identifier: BSD-2-Clause
// The table of the reference backend.
#include "backends/ref/ref.h"

static int ref_ceed_create(Ceed ceed, const char *options) {
  (void)ceed, (void)options; // one thread, and always deterministic
  return CEED_ERROR_SUCCESS;
}

static int ref_ceed_destroy(Ceed ceed) {
  (void)ceed;
  return CEED_ERROR_SUCCESS;
}

const RitzBackend ritz_ref_backend = {
    .name = "/cpu/self/ref",
    .mem_type = CEED_MEM_HOST,
    .is_deterministic = true,
    .ceed_create = ref_ceed_create,
    .ceed_destroy = ref_ceed_destroy,
    .restriction_layout = ritz_ref_restriction_layout,
    .restriction_apply = ritz_ref_restriction_apply,
    .basis_apply = ritz_ref_basis_apply,
    .basis_apply_at_points = ritz_ref_basis_apply_at_points,
    .qfunction_call = ritz_ref_qfunction_call,
    .qfunction_compile = ritz_ref_qfunction_compile,
    .qfunction_apply = ritz_ref_qfunction_apply,
    .operator_apply = ritz_ref_operator_apply,
    .operator_assemble_qfunction = ritz_ref_operator_assemble_qfunction,
    .operator_assemble_add_diagonal = ritz_ref_operator_assemble_add_diagonal,
    .operator_assemble = ritz_ref_operator_assemble,
    .vector_set_value = ritz_ref_vector_set_value,
    .vector_set_value_strided = ritz_ref_vector_set_value_strided,
    .vector_copy_strided = ritz_ref_vector_copy_strided,
    .vector_convert = ritz_ref_vector_convert,
    .vector_norm = ritz_ref_vector_norm,
    .vector_scale = ritz_ref_vector_scale,
    .vector_filter = ritz_ref_vector_filter,
    .vector_axpby = ritz_ref_vector_axpby,
    .vector_pointwise_mult = ritz_ref_vector_pointwise_mult,
    .vector_reciprocal = ritz_ref_vector_reciprocal,
    .vector_pass = ritz_ref_vector_pass,
    .vector_pass_by = ritz_ref_vector_pass_by,
    .vector_set_entries = ritz_ref_vector_set_entries,
    .vector_copy_entries = ritz_ref_vector_copy_entries,
    .patch_sweep_run = ritz_ref_patch_sweep_run,
    .batched_run = ritz_ref_batched_run,
    .batched_explain = ritz_ref_batched_explain,
    .dense = &ritz_ref_dense,
    .front_tree_run = ritz_ref_front_tree_run,
    .front_prepare = ritz_ref_front_prepare,
    .front_run = ritz_ref_front_run,
};
