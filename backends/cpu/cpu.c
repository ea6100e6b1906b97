// SPDX-License-Identifier: BSD-2-Clause
// The table of /cpu/self/gen and what belongs to a context: threads, scratch.
#include "backends/cpu/cpu.h"

#include <ritz/machine.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/rows.h"
#include "backends/cpu/unfused.h"
#include "backends/ref/ref.h"
#include "jit/kernel.h"

static int choose_threads(Ceed ceed, const char *options, int *num) {
  const char *given = ritz_resource_option(options, RITZ_OPTION_THREADS);
  const bool is_all = given && strcspn(given, ":") == 3 && !strncmp(given, "all", 3);
  const int available = ritz_num_processors();
  int64_t number = available;
  RITZ_REQUIRE(!given || is_all ||
                   (ritz_option_number(given, &number) && number >= 1 && number <= RITZ_MAX_THREADS),
               ceed, CEED_ERROR_INCOMPATIBLE,
               "CeedInit: option ':threads=%.*s' needs a number of threads, 1 to %d, or 'all'",
               (int)strcspn(given, ":"), given, (int)RITZ_MAX_THREADS);
  *num = given ? (int)number : ritz_threads_from_environment();
  if (*num < 1) *num = 1;
  if (*num > available) *num = available;
  return CEED_ERROR_SUCCESS;
}

static int cpu_ceed_destroy(Ceed ceed) {
  RitzCpu *cpu = ceed->data;
  ritz_jit_kernels_end();
  ritz_team_destroy(&cpu->team);
  for (int t = 0; cpu->work && t < cpu->num_threads; t++) RITZ_FREE(&cpu->work[t]);
  RITZ_FREE(&cpu->work);
  RITZ_FREE(&ceed->data);
  return CEED_ERROR_SUCCESS;
}

static int cpu_ceed_create(Ceed ceed, const char *options) {
  RitzCpu *cpu = NULL;
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &cpu));
  ceed->data = cpu;
  cpu->is_deterministic = ritz_resource_option(options, RITZ_OPTION_DETERMINISTIC) != NULL;
  cpu->waits = ritz_cpu_waits();
  int ierr = choose_threads(ceed, options, &cpu->num_threads);
  if (!ierr) ierr = ritz_team_create(ceed, cpu->num_threads, &cpu->team);
  if (!ierr) ierr = RITZ_CALLOC(ceed, (size_t)cpu->num_threads, &cpu->work);
  if (ierr) cpu_ceed_destroy(ceed);
  return ierr;
}

const RitzBackend ritz_cpu_backend = {
    .name = "/cpu/self/gen",
    .fallback = &ritz_ref_backend,
    .mem_type = CEED_MEM_HOST,
    .is_deterministic = true,
    .ceed_create = cpu_ceed_create,
    .ceed_destroy = cpu_ceed_destroy,
    .basis_apply = ritz_cpu_basis_apply,
    .operator_apply = ritz_cpu_operator_apply,
    .operators_prepare = ritz_cpu_operators_prepare,
    .composite_apply = ritz_cpu_composite_apply,
    .composite_prepare = ritz_cpu_prepare_composite,
    .operator_apply_many = ritz_cpu_operator_apply_many,
    .operator_supports_precision = ritz_cpu_operator_supports_precision,
    .diagonal_supports_precision = ritz_cpu_diagonal_supports_precision,
    .basis_apply_at_points = ritz_cpu_basis_apply_at_points,
    .operator_assemble = ritz_cpu_operator_assemble,
    .assembly_prepare = ritz_cpu_assembly_prepare,
    .assembly_run = ritz_cpu_assembly_run,
    .assembly_destroy = ritz_cpu_assembly_destroy,
    .operator_assemble_add_diagonal = ritz_cpu_operator_assemble_add_diagonal,
    .operator_apply_hooked_prepare = ritz_cpu_operator_apply_hooked_prepare,
    .operator_apply_hooked = ritz_cpu_operator_apply_hooked,
    .vector_set_value = ritz_cpu_vector_set_value,
    .vector_set_value_strided = ritz_cpu_vector_set_value_strided,
    .vector_copy_strided = ritz_cpu_vector_copy_strided,
    .vector_set_entries = ritz_cpu_vector_set_entries,
    .vector_copy_entries = ritz_cpu_vector_copy_entries,
    .vector_filter = ritz_cpu_vector_filter,
    .vector_norm = ritz_cpu_vector_norm,
    .vector_scale = ritz_cpu_vector_scale,
    .vector_axpby = ritz_cpu_vector_axpby,
    .vector_pointwise_mult = ritz_cpu_vector_pointwise_mult,
    .vector_reciprocal = ritz_cpu_vector_reciprocal,
    .vector_convert = ritz_cpu_vector_convert,
    .vector_pass = ritz_cpu_vector_pass,
    .patch_sweep_prepare = ritz_cpu_patch_sweep_prepare,
    .patch_sweep_run = ritz_cpu_patch_sweep_run,
    .patch_sweep_destroy = ritz_cpu_patch_sweep_destroy,
    .batched_prepare = ritz_cpu_batched_prepare,
    .batched_analyze = ritz_cpu_batched_analyze,
    .batched_run = ritz_cpu_batched_run,
    .batched_explain = ritz_cpu_batched_explain,
    .batched_destroy = ritz_cpu_batched_destroy,
    .front_prepare = ritz_cpu_front_prepare,
    .front_run = ritz_cpu_front_run,
    .run_ranges_slots = ritz_cpu_run_ranges_slots,
    .run_ranges = ritz_cpu_run_ranges,
    .operator_explain = ritz_cpu_operator_explain,
    .operator_source = ritz_cpu_operator_source,
    .operator_steps = ritz_cpu_operator_steps,
    .operator_cost = ritz_cpu_operator_cost,
    .limits = ritz_cpu_limits,
    .operator_destroy = ritz_cpu_operator_destroy,
    .restriction_destroy = ritz_rows_destroy,
};

int RitzGetNumThreads(Ceed ceed, CeedInt *num) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, num);
  *num = ceed->backend.ceed_create == cpu_ceed_create ? ((const RitzCpu *)ceed->data)->num_threads : 1;
  return CEED_ERROR_SUCCESS;
}
