// SPDX-License-Identifier: BSD-2-Clause
// Kernels of operators at points on /gpu/cuda, without a GPU: fused texts for an H200 are those of
// tests/golden-gpu (`test-nvrtc-points --write-golden` writes these files anew), and where there is NVRTC,
// kernels compile and keep their numbers in registers. What they compute: test-points.c, test-gpu-points.c.
#include "tests/golden-kit.h"
#include "tests/nvrtc-runs.h"

typedef struct {
  const char *name;
  PointsShape shape;
  PointsKind kind;
} PointsText;

static const PointsText texts[] = {
    {"at-points-interpolate", {2, 3, 1, 8, false, CEED_EVAL_INTERP}, POINTS_INTERPOLATE},
    {"at-points-deposit", {2, 3, 1, 8, false, CEED_EVAL_INTERP}, POINTS_DEPOSIT},
    {"at-points-gradients", {2, 2, 1, 8, false, CEED_EVAL_GRAD}, POINTS_BOTH},
};
enum { NUM_TEXTS = sizeof(texts) / sizeof(texts[0]) };

// Up to the user's text. Owned (free()); NULL: there is none.
static char *make_text(const PointsText *t) {
  Ceed ceed;
  char *text = NULL;

  is_dumping = true;
  if (!open_context(&ritz_cuda_gen_backend, &devices[0], &ceed)) {
    if (apply_at_points(ceed, &t->shape, t->kind, &text)) text = NULL;
    CeedDestroy(&ceed);
  }
  is_dumping = false;
  return text;
}

static const char *path_of(const PointsText *t) {
  static char path[200];

  snprintf(path, sizeof(path), "tests/golden-gpu/%s.txt", t->name);
  return path;
}

TEST(operators_at_points_have_the_texts_that_are_kept) {
  if (sizeof(CeedScalar) != sizeof(double)) SKIP("kept texts are those of double precision");
  for (int i = 0; i < NUM_TEXTS && !tap_failed(); i++) {
    char *text = make_text(&texts[i]);

    golden_check(path_of(&texts[i]), text, "test-nvrtc-points");
    free(text);
  }
}

static void compile_at_points(const RitzBackend *backend) {
  Ceed ceed;

  CHECK_OK(open_context(backend, &devices[0], &ceed));
  for (CeedInt degree = 1; degree <= (tap_level() ? 7 : 3) && !tap_failed(); degree += tap_level() ? 1 : 2) {
    for (int i = 0; i < 4; i++) {
      const PointsShape shape = {1, degree, 1, 8, false, i == 3 ? CEED_EVAL_GRAD : CEED_EVAL_INTERP};
      const PointsKind kind = i == 3 ? POINTS_BOTH : (PointsKind)i;

      snprintf(running, sizeof(running), "%s of degree %d at points", points_kinds[kind], (int)degree);
      CHECK_OK(apply_at_points(ceed, &shape, kind, NULL));
    }
  }
  CeedDestroy(&ceed);
}

TEST(kernels_at_points_keep_their_numbers_in_registers) {
  NEEDS_NVRTC();
  totals = (Totals){.wants_registers = true};
  compile_at_points(&ritz_cuda_gen_backend);
  if (!tap_failed()) compile_at_points(&ritz_cuda_shared_backend);
  tell_totals(&devices[0]);
  CHECK(totals.num_programs >= 12, "%d programs", totals.num_programs);
  CHECK(totals.num_in_memory == 0, "%d kernels keep numbers in memory", totals.num_in_memory);
}

// A text that does not compile fails the apply.
TEST(kernels_of_any_size_at_points_compile) {
  Ceed ceed;

  NEEDS_NVRTC();
  totals = (Totals){0};
  CHECK_OK(open_context(&ritz_cuda_ref_backend, &devices[0], &ceed));
  CHECK_OK(apply_at_points(ceed, &texts[2].shape, POINTS_BOTH, NULL));
  CeedDestroy(&ceed);
}

static int write_goldens(void) {
  bool is_written = true;

  for (int i = 0; i < NUM_TEXTS && is_written; i++) {
    char *text = make_text(&texts[i]);

    is_written = golden_write(path_of(&texts[i]), text);
    free(text);
  }
  return is_written ? 0 : 1;
}

int main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "--write-golden")) return write_goldens();
  setenv("RITZ_CACHE", "off", 1); // what comes from the cache has no log
  return tap_main(argc, argv,
                  TESTS(operators_at_points_have_the_texts_that_are_kept,
                        kernels_at_points_keep_their_numbers_in_registers,
                        kernels_of_any_size_at_points_compile));
}
