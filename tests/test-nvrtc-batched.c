// SPDX-License-Identifier: BSD-2-Clause
// Kernels of batched dense algebra and of the dense solver on CUDA, compiled by NVRTC without a GPU (see
// tests/nvrtc-kit.h): they keep their numbers in registers. Skipped where there is no compiler.
#include "backends/gpu/kernel.h"
#include "tests/nvrtc-runs.h"

// ---- Batched dense algebra ----

// By level: operations from SYRK on share most of their texts with those before, or are the same in both
// precisions.
static bool is_wanted(RitzBatchedOperation op, int size, int form) {
  const bool is_later = op > RITZ_BATCHED_TRSV;
  if (tap_level() == TAP_QUICK) return form == 0 && (!is_later || size == 2);
  return tap_level() == TAP_EXHAUSTIVE || !is_later || form == 0 || (form == 3 && size == 2);
}

TEST(batched_kernels_keep_their_numbers_in_registers) {
  static const CeedInt all[] = {2, 4, 8, 12, 16, 24, 32, 33, 48, 64, 65}, few[] = {65, 5, 32};
  const CeedInt *sizes = tap_level() == TAP_EXHAUSTIVE ? all : few;
  int num_in_memory = 0;
  Ceed ceed;
  NEEDS_NVRTC();
  totals = (Totals){.wants_registers = true};
  CHECK_OK(open_context(&ritz_cuda_gen_backend, &devices[0], &ceed));
  for (int operation = 0; operation < RITZ_BATCHED_NUM_OPERATIONS; operation++) {
    for (int i = 0; i < (tap_level() == TAP_EXHAUSTIVE ? 11 : 3); i++) {
      for (int form = 0; form < 4; form++) {
        if (!is_wanted((RitzBatchedOperation)operation, i, form)) continue;
        snprintf(running, sizeof(running), "%s of order %d, %s%s",
                 ritz_batched_root((RitzBatchedOperation)operation), (int)sizes[i], form & 1 ? "f32" : "f64",
                 form & 2 ? ", non-uniform" : "");
        totals.most_registers = totals.num_in_memory = 0;
        CHECK_OK(run_batched(ceed, (RitzBatchedOperation)operation, sizes[i],
                             form & 1 ? CEED_SCALAR_FP32 : CEED_SCALAR_FP64, !(form & 2)));
        if (sizes[i] <= 64) num_in_memory += totals.num_in_memory;
        if (tap_level()) tap_note("%s: %d registers", running, (int)totals.most_registers);
      }
    }
  }
  // Inverses and Cholesky (POSV, too) of order 32: 32 bytes, for which four and five blocks fit a
  // multiprocessor.
  CHECK(num_in_memory <= (tap_level() ? 30 : 3), "%d kernels keep numbers in memory", num_in_memory);
  CHECK(totals.num_programs >= 20, "%d programs", totals.num_programs);
  CeedDestroy(&ceed);
  tell_totals(&devices[0]);
}

// What the vendor's factorizations leave is taken by a kernel.
static int load_take(Ceed ceed, bool is_double) {
  const RitzGpuText text = {.name = "dense-vendor",
                            .num = 2,
                            .texts = {is_double ? "" : "#define RITZ_ENTRY_F32\n",
                                      "#include \"kernels/gpu/dense-vendor.h\"\n"}};
  RitzGpuKernel kernel = {0};
  CeedCall(ritz_gpu_kernel_describe(ceed, &text, &kernel));
  CeedCall(ritz_gpu_kernel_load(ceed, &kernel));
  ritz_gpu_kernel_release(ceed, &kernel);
  return CEED_ERROR_SUCCESS;
}

TEST(kernels_of_the_dense_solver_compile) {
  Ceed ceed;
  NEEDS_NVRTC();
  totals = (Totals){.wants_registers = true};
  RitzDriver driver = played; // with what is for CUDA alone
  driver.has_warps = true;
  CHECK_OK(open_context(&ritz_cuda_gen_backend, &devices[0], &ceed));
  ritz_gpu(ceed)->driver = &driver;
  for (int p = tap_level() ? RITZ_DENSE_F64 : RITZ_DENSE_F16; p <= RITZ_DENSE_F16;
       p += tap_level() == TAP_EXHAUSTIVE ? 1 : 5)
    CHECK_OK(run_dense(ceed, (RitzDensePrecision)p));
  for (int is_double = 0; is_double < 2; is_double++) CHECK_OK(load_take(ceed, is_double));
  // Panels in double and products of 16 bits: some bytes.
  CHECK(totals.num_in_memory <= 3, "%d in memory", totals.num_in_memory);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  setenv("RITZ_CACHE", "off", 1); // what comes from the cache has no log
  return tap_main(argc, argv,
                  TESTS(batched_kernels_keep_their_numbers_in_registers,
                        kernels_of_the_dense_solver_compile));
}
