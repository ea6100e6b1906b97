// SPDX-License-Identifier: BSD-2-Clause
// Sweeps over vertex patches on /gpu/*/gen: blocks of any degree and of any number of patches. What sweeps
// compute: test-patch-sweep.c.
#include "tests/gpu-kit.h"
#include "tests/patch-kit.h"

#include <string.h>

#include "plan/gpu-patch.h"

// ---- Shapes of blocks ----

static void check_shape(const RitzGpuPatch *p, int64_t shared_bytes, int max_threads) {
  const int n = 2 * p->degree - 1, rows = p->dim == 3 ? n + 2 : 1;
  CHECK(p->shared_bytes > 0 && p->shared_bytes <= shared_bytes, "%d bytes", (int)p->shared_bytes);
  CHECK(p->num_threads > 0 && p->num_threads <= max_threads, "%d threads", p->num_threads);
  for (int i = 2; i <= p->step; i++) CHECK(n % i != 0 || p->step % i != 0, "step %d of %d", p->step, n);
  CHECK(p->plane >= rows * (p->num_patches * (n + 1) + 1), "stride %d", p->plane);
  CHECK(p->num_resident >= 1, "no block");
  CHECK(p->num_resident * (p->shared_bytes + 1024) <= 233472 || p->num_resident == 1 || p->degree > 8,
        "%d blocks of %d bytes", p->num_resident, (int)p->shared_bytes);
}

TEST(blocks_of_patches_fit_a_device) {
  for (CeedInt dim = 2; dim <= 3; dim++) {
    for (CeedInt degree = 1; degree <= 16; degree++) {
      for (int single = 0; single < 2; single++) {
        const CeedScalarType precision = single ? CEED_SCALAR_FP32 : CEED_SCALAR_FP64;
        const RitzGpuPatch large = ritz_plan_gpu_patch(dim, degree, precision, 232448, 1024, 0, 0);
        const RitzGpuPatch small = ritz_plan_gpu_patch(dim, degree, precision, 16384, 64, 0, 0);
        // Two patches' arrays of 29^3 and more doubles are too large.
        CHECK((large.num_patches > 0) == (dim == 2 || single || degree <= 14), "degree %d", (int)degree);
        if (large.num_patches) check_shape(&large, 232448, 1024);
        if (small.num_patches) check_shape(&small, 16384, 64);
        CHECK(dim == 3 || small.num_patches > 0, "degree %d", (int)degree);
        if (tap_failed()) return;
      }
    }
  }
}

// ---- Sweeps ----

static void fill(const RitzPatchBox *box, CeedSize n, double *b, double *x) {
  uint64_t seed = 11;
  for (CeedSize i = 0; i < n; i++) {
    b[i] = (double)(float)tap_uniform(&seed);
    x[i] = patch_is_constrained(box, i) ? 0 : (double)(float)tap_uniform(&seed);
  }
}

// x: after a sweep and a reversed one.
static int sweep_both_ways(Ceed ceed, const PatchCase *c, double **x, CeedSize *length) {
  RitzPatchSweep sweep = NULL;
  CeedCall(patch_sweep(ceed, c, &sweep));
  double *b = reference_new(sweep->length);
  *length = sweep->length;
  *x = reference_new(sweep->length);
  fill(&sweep->box, sweep->length, b, *x);
  int ierr = patch_run(sweep, b, *x, false, false);
  if (!ierr) ierr = patch_run(sweep, b, *x, false, true);
  free(b);
  return ierr | ritz_patch_sweep_destroy(&sweep);
}

static double difference_from(const double *wanted, const double *x, CeedSize n) {
  double most = 0;
  for (CeedSize i = 0; i < n; i++) {
    const double difference = fabs(wanted[i] - x[i]);
    most = difference <= most ? most : difference; // keeps what is no number
  }
  return most;
}

static void check_blocks(Ceed ceed, const PatchCase *c) {
  static const char *const blocks[] = {"0", "1", "3,4"};
  const double eps = c->precision == CEED_SCALAR_FP32 ? (double)FLT_EPSILON : DBL_EPSILON;
  double *wanted = NULL, *first = NULL, *x = NULL;
  CeedSize n = 0;
  Ceed ref = tap_ceed("/cpu/self/ref");
  CHECK_OK(sweep_both_ways(ref, c, &wanted, &n));
  for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]) && !tap_failed(); i++) {
    setenv("RITZ_PATCH_BLOCK", blocks[i], 1);
    CHECK_OK(sweep_both_ways(ceed, c, &x, &n));
    // Numbers of size 1; solutions lose digits like the condition of a patch, which p^3 bounds.
    CHECK_NEAR(difference_from(wanted, x, n), 0, 500 * eps * c->degree * c->degree * c->degree,
               "blocks of %s", blocks[i]);
    if (!first) first = x;
    CHECK(!memcmp(first, x, (size_t)n * sizeof(double)), "other bits: blocks of %s", blocks[i]);
    if (x != first) free(x);
  }
  unsetenv("RITZ_PATCH_BLOCK");
  free(wanted);
  free(first);
  CeedDestroy(&ref);
}

#define FIXED                                                                                                \
  {                                                                                                          \
    {true, true}, {true, true}, { true, true }                                                               \
  }

// Several blocks in a row, the last one not full.
TEST_EACH_GEN(all_blocks_give_the_same_bits) {
  const PatchCase cases[] = {
      {3, 3, 1, {14, 5, 7}, FIXED, false, {1, 0.8, 1.3, 0.5}, CEED_SCALAR_TYPE, RITZ_PATCH_LIFTED},
      {2, 2, 3, {90, 6, 1}, FIXED, false, {1, 0.8, 0, 0}, CEED_SCALAR_FP32, RITZ_PATCH_LIFTED}};
  for (int i = 0; i < 2 && !tap_failed(); i++) check_blocks(ceed, &cases[i]);
}

// Threads take several lines each, or patches do not fit into a block's memory.
TEST_EACH_GEN(high_degrees_agree_with_the_reference) {
  PatchCase c = {3, 9, 1, {3, 2, 2}, FIXED, false, {1, 0.8, 1.3, 0}, CEED_SCALAR_TYPE, RITZ_PATCH_LIFTED};
  for (; c.degree <= (tap_level() ? 16 : 9) && !tap_failed(); c.degree += 7) {
    double *wanted = NULL, *x = NULL;
    CeedSize n = 0;
    Ceed ref = tap_ceed("/cpu/self/ref");
    CHECK_OK(sweep_both_ways(ref, &c, &wanted, &n));
    CHECK_OK(sweep_both_ways(ceed, &c, &x, &n));
    CHECK_NEAR(difference_from(wanted, x, n), 0, 500 * (double)CEED_EPSILON * c.degree * c.degree * c.degree,
               "degree %d", (int)c.degree);
    free(wanted);
    free(x);
    CeedDestroy(&ref);
  }
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(blocks_of_patches_fit_a_device, all_blocks_give_the_same_bits,
                        high_degrees_agree_with_the_reference));
}
