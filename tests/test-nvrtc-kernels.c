// SPDX-License-Identifier: BSD-2-Clause
// The kernels of /gpu/cuda, compiled without a GPU: operators run on a driver that is played here, whose
// compiler is NVRTC and whose launches do nothing. Those of the benchmark set keep their numbers in
// registers; of the fused ones a table tells registers, spills and blocks. Skipped where there is no
// compiler. `test-nvrtc-kernels --dump BP ORDER` prints the fused kernel of a bake-off problem for an H200
// and needs no compiler; with a third word, trilinear or affine, that with such a geometry (BP 1, 3 and 5).
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tests/many-operator.h"
#include "tests/nvrtc-runs.h"
#include "tests/random-operator.h"
#include "tests/texts-kit.h"

// ---- The benchmark set ----

enum { MAX_ORDER = 8, MAX_SPILLS = 128 };

// All degrees at level full; of the quick level some.
static bool is_wanted(CeedInt order) {
  return tap_level() > TAP_QUICK || order <= 3 || order == 5 || order == MAX_ORDER;
}

static int run_benchmark_set(const RitzBackend *backend, RitzDevice device) {
  Ceed ceed;
  int ierr = open_context(backend, device, &ceed);

  for (CeedInt order = 1; !ierr && order <= MAX_ORDER; order++) {
    if (!is_wanted(order)) continue;
    for (int bp = BP_FIRST; !ierr && bp <= BP_LAST; bp++) ierr = run_bp(ceed, bp, order, NULL);
  }
  CeedDestroy(&ceed);
  return ierr;
}

// ---- Bases by matrix products ----

TEST(bases_by_matrix_products_compile) {
  Ceed ceed;

  NEEDS_NVRTC();
  CHECK_OK(open_context(&ritz_cuda_shared_backend, &devices[0], &ceed));
  CHECK_OK(run_products(ceed, 3, false));
  for (CeedInt order = 1; order <= 6; order += 5) CHECK_OK(run_products(ceed, order, true));
  CHECK_OK(CeedDestroy(&ceed));
}

// Of each degree six kernels at least: B and its transpose for mass, diffusion, and diffusion on collocated
// points; beside them one program of the library's own, four functions that apply and two that build factors.
static int fewest_programs(void) {
  int num = 7;
  for (CeedInt order = 1; order <= MAX_ORDER; order++) num += is_wanted(order) ? 6 : 0;
  return num;
}

TEST(kernels_of_the_benchmark_set_keep_their_numbers_in_registers) {
  const int num_devices = tap_level() > TAP_FULL ? 2 : 1;

  NEEDS_NVRTC();
  for (int i = 0; i < num_devices; i++) {
    totals = (Totals){.wants_registers = true};
    CHECK_OK(run_benchmark_set(&ritz_cuda_ref_backend, &devices[i]));
    CHECK_OK(run_benchmark_set(&ritz_cuda_shared_backend, &devices[i]));
    tell_totals(&devices[i]);
    CHECK(totals.num_programs >= fewest_programs(), "%d programs", totals.num_programs);
    CHECK(totals.num_kernels >= totals.num_programs, "%d kernels in the logs", totals.num_kernels);
    CHECK(totals.num_in_memory == 0, "%d kernels keep numbers in memory", totals.num_in_memory);
  }
}

// ---- Texts of users ----

static int run_text(const RitzBackend *backend, const Text *text) {
  TextRun r = {.op = NULL};
  Ceed ceed;

  CeedCall(open_context(backend, &devices[0], &ceed));
  snprintf(running, sizeof(running), "the text '%s'", text->name);
  int ierr = CeedAddJitSourceRoot(ceed, "tests/texts/app/");
  if (!ierr) ierr = texts_open(ceed, text, &r);
  if (!ierr) ierr = texts_apply(&r, false);
  texts_close(&r);
  CeedDestroy(&ceed);
  return ierr;
}

// CUDA's compiler takes C++, and what C has in common with it.
TEST(texts_of_cxx_habits_compile_for_cuda) {
  const RitzBackend *const backends[] = {&ritz_cuda_ref_backend, &ritz_cuda_gen_backend};

  NEEDS_NVRTC();
  for (int b = 0; b < 2; b++)
    for (int i = 0; i < NUM_TEXTS && !tap_failed(); i++) {
      totals = (Totals){.num_programs = 0};
      const int ierr = run_text(backends[b], &texts[i]);
      CHECK((texts[i].language == TEXT_C) == (ierr != 0), "%s: error %d", texts[i].name, ierr);
      CHECK(totals.num_programs > 0, "%s was not compiled", texts[i].name);
    }
}

// ---- Fused kernels of the benchmark set ----

static bool is_wanted_fused(CeedInt order) { return tap_level() > TAP_QUICK || order == 7; }

static void check_fused_named(const char *name, CeedInt order, int most_spills) {
  tap_note("%s  %d  %9d  %6d  %5d  %7d  %8d  %8d  %5d   %s", name, (int)order, fused.registers,
           fused.spill_bytes, fused.stack_bytes, fused.num_threads, fused.num_elem, fused.num_blocks,
           fused.num_bytes, fused.unrolled ? "yes" : "no");
  CHECK(fused.registers > 0, "no fused kernel");
  CHECK(fused.num_threads % 32 == 0 && fused.num_threads <= 1024 && fused.num_elem >= 1, "shape of blocks");
  // What the bounds of the launch demand is there.
  CHECK(fused.registers * fused.num_threads * fused.num_blocks <= 64 << 10, "registers of %d blocks",
        fused.num_blocks);
  CHECK((fused.num_bytes + 1024) * fused.num_blocks <= 228 << 10, "memory of %d blocks", fused.num_blocks);
  CHECK(fused.spill_bytes <= most_spills, "%d bytes are spilled", fused.spill_bytes);
}

static void check_fused(int bp, CeedInt order, int most_spills) {
  check_fused_named((const char[]){'B', 'P', (char)('0' + bp), '\0'}, order, most_spills);
}

static void check_fused_set(RitzDevice device) {
  Ceed ceed;

  CHECK_OK(open_context(&ritz_cuda_gen_backend, device, &ceed));
  tap_note("%s  p  registers  spills  stack  threads  elements  resident  bytes   unrolled",
           device->info.arch);
  for (int bp = BP_FIRST; bp <= BP_LAST; bp++)
    for (CeedInt order = 1; order <= MAX_ORDER; order++) {
      if (!is_wanted_fused(order)) continue;
      fused = (Fused){0};
      CHECK_OK(run_bp(ceed, bp, order, NULL));
      check_fused(bp, order, bp % 2 ? 0 : MAX_SPILLS);
      if (tap_failed()) return;
    }
  CeedDestroy(&ceed);
}

// Of one component not a byte. Of three a thread keeps more of its line: up to MAX_SPILLS bytes, stores and
// loads.
TEST(fused_kernels_of_the_benchmark_set_spill_nothing_for_one_component) {
  const int num_devices = tap_level() > TAP_FULL ? 2 : 1;

  NEEDS_NVRTC();
  for (int i = 0; i < num_devices && !tap_failed(); i++) {
    totals = (Totals){0};
    check_fused_set(&devices[i]);
    if (!tap_failed()) tell_totals(&devices[i]);
  }
}

TEST(point_blocks_compile_for_cuda) {
  Ceed ceed;

  NEEDS_NVRTC();
  totals = (Totals){0};
  CHECK_OK(open_context(&ritz_cuda_gen_backend, &devices[0], &ceed));
  CHECK_OK(run_bp(ceed, 4, 3, NULL));
  const int num_programs = totals.num_programs;
  CHECK_OK(run_bp(ceed, 4, 3, assemble_blocks));
  CHECK(totals.num_programs == num_programs + 1, "%d programs", totals.num_programs - num_programs);
  CeedDestroy(&ceed);
}

// ---- Several vectors ----

// Lines, whole elements: another program each, of no more registers than the blocks of one vector have.
TEST(fused_kernels_for_several_vectors_spill_nothing) {
  static const struct {
    int bp;
    CeedInt order;
  } shapes[] = {{5, 4}, {3, 3}, {1, 2}};
  Ceed ceed;

  NEEDS_NVRTC();
  CHECK_OK(open_context(&ritz_cuda_gen_backend, &devices[0], &ceed));
  tap_note("%s  p  registers  spills  stack  threads  elements  resident  bytes   unrolled",
           devices[0].info.arch);
  for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
    CHECK_OK(run_bp(ceed, shapes[i].bp, shapes[i].order, apply_three));
    CHECK(totals.num_programs == 1, "%d programs", totals.num_programs);
    check_fused(shapes[i].bp, shapes[i].order, 0);
    if (tap_failed()) return;
  }
  CeedDestroy(&ceed);
}

// ---- Assembly ----

// One component and three: values, blocks, matrices, and these added up with and without atomics.
TEST(kernels_of_assembly_keep_their_numbers_in_registers) {
  int (*const looks[])(CeedOperator op) = {assemble_qfunction, assemble_blocks, assemble_triples,
                                           assemble_in_pattern};
  const RitzBackend *const backends[] = {&ritz_cuda_shared_backend, &ritz_cuda_ref_backend};

  NEEDS_NVRTC();
  totals = (Totals){.wants_registers = true};
  for (int b = 0; b < 2 && !tap_failed(); b++) {
    Ceed ceed;
    CHECK_OK(open_context(backends[b], &devices[0], &ceed));
    for (int i = b ? 3 : 0; i < 4 && !tap_failed(); i++) {
      const int num_programs = totals.num_programs;
      for (int bp = 3; bp <= 4 && !tap_failed(); bp++) CHECK_OK(run_bp(ceed, bp, 2, looks[i]));
      CHECK(totals.num_programs >= num_programs + 2, "%d programs of action %d",
            totals.num_programs - num_programs, i);
    }
    CeedDestroy(&ceed);
  }
  tell_totals(&devices[0]);
  CHECK(totals.num_in_memory == 0, "%d kernels keep numbers in memory", totals.num_in_memory);
}

// ---- Vector bases ----

// By lines of their components, with two points more than nodes along the shorter ones as bake-off problems
// have.
TEST(kernels_of_curls_and_divergences_keep_their_numbers_in_registers) {
  Ceed ceed;

  NEEDS_NVRTC();
  totals = (Totals){.wants_registers = true};
  CHECK_OK(open_context(&ritz_cuda_gen_backend, &devices[0], &ceed));
  tap_note("space    p  registers  spills  stack  threads  elements  resident  bytes   unrolled");
  for (CeedInt dim = 3; dim >= (tap_level() ? 2 : 3) && !tap_failed(); dim--) {
    for (CeedInt order = tap_level() ? 1 : 3; order <= (tap_level() ? 6 : 3); order++) {
      for (int i = 0; i < 2 && !tap_failed(); i++) {
        const VectorShape shape = {
            i ? CEED_EVAL_DIV : CEED_EVAL_CURL, dim, order, order + 2, {2, 2, 2}, false};
        fused = (Fused){0};
        CHECK_OK(run_vector(ceed, &shape));
        check_fused_named(i          ? (dim == 3 ? "div 3D " : "div 2D ")
                          : dim == 3 ? "curl 3D"
                                     : "curl 2D",
                          order, 0);
      }
    }
  }
  CeedDestroy(&ceed);
  CHECK(totals.num_in_memory == 0, "%d kernels keep numbers in memory", totals.num_in_memory);
}

// ---- Single precision ----

// A number takes one register, not two: below the kernel of doubles stands that of floats.
TEST(fused_kernels_in_single_precision_spill_nothing) {
  static const CeedInt orders[] = {2, 4, 7};
  Ceed ceed;

  NEEDS_NVRTC();
  if (sizeof(CeedScalar) != sizeof(double)) SKIP("a library of float has one precision");
  totals = (Totals){0};
  CHECK_OK(open_context(&ritz_cuda_gen_backend, &devices[0], &ceed));
  tap_note("single  p  registers  spills  stack  threads  elements  resident  bytes   unrolled");
  for (int bp = 1; bp <= 5; bp += 2)
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]) && !tap_failed(); i++) {
      fused = (Fused){0};
      CHECK_OK(run_bp(ceed, bp, orders[i], NULL));
      if (fused.registers > 0) check_fused(bp, orders[i], 0); // unless another test has compiled it
      fused = (Fused){0};
      CHECK_OK(run_single_bp(ceed, bp, orders[i]));
      check_fused(bp, orders[i], 0);
    }
  CeedDestroy(&ceed);
  if (!tap_failed()) tell_totals(&devices[0]);
}

// ---- Conjugate gradients ----

TEST(conjugate_gradients_keep_their_numbers_in_registers) {
  static const struct {
    int bp;
    CeedInt order;
  } cases[] = {{3, 3}, {1, 1}, {3, 7}, {4, 2}};
  const size_t num = tap_level() > TAP_QUICK ? sizeof(cases) / sizeof(cases[0]) : 1;
  Ceed ceed;

  NEEDS_NVRTC();
  totals = (Totals){.wants_registers = true};
  CHECK_OK(open_context(&ritz_cuda_gen_backend, &devices[0], &ceed));
  for (size_t i = 0; i < num && !tap_failed(); i++) {
    CHECK_OK(run_bp(ceed, cases[i].bp, cases[i].order, run_conjugate_gradients));
    check_fused(cases[i].bp, cases[i].order, cases[i].bp % 2 ? 0 : MAX_SPILLS);
    CHECK(i > 0 || totals.num_in_memory == 0, "%d kernels keep numbers in memory", totals.num_in_memory);
  }
  CeedDestroy(&ceed);
  tell_totals(&devices[0]);
}

// ---- Geometry that is computed in the kernel ----

// Of affine elements nothing is spilled. Few bytes cost less than fewer warps, and a whole trilinear element
// at Gauss points is more than a thread can hold.
static void check_geometry(Ceed ceed, const GeometryShape *s) {
  const int most_spills = s->is_affine ? 0 : s->order > 1 || s->bp != 3 ? MAX_SPILLS : 6 * MAX_SPILLS;

  fused = (Fused){0};
  CHECK_OK(run_geometry(ceed, s, NULL));
  check_fused(s->bp, s->order, most_spills);
}

static bool is_wanted_geometry(CeedInt order) {
  return tap_level() > TAP_FULL || order == 7 || (tap_level() == TAP_FULL && order == 4);
}

TEST(fused_kernels_that_compute_their_geometry_spill_little) {
  Ceed ceed;

  NEEDS_NVRTC();
  totals = (Totals){0};
  CHECK_OK(open_context(&ritz_cuda_gen_backend, &devices[0], &ceed));
  for (int is_affine = 0; is_affine < 2; is_affine++) {
    tap_note("%s  p  registers  spills  stack  threads  elements  resident  bytes   unrolled",
             is_affine ? "affine" : "trilin");
    for (int bp = 1; bp <= 5; bp += 2)
      for (CeedInt order = 1; order <= MAX_ORDER && !tap_failed(); order++) {
        if (!is_wanted_geometry(order)) continue;
        check_geometry(ceed, &(GeometryShape){bp, order, is_affine});
      }
  }
  if (!tap_failed()) tell_totals(&devices[0]);
  CeedDestroy(&ceed);
}

// ---- Tensor cores ----

// What it compiles for stands in the text: an instruction that is there or is refused.
TEST(kernels_that_multiply_by_tensor_cores_compile_and_spill_little) {
  static const GeometryShape shapes[] = {{3, 6, false}, {5, 7, false}};
  Ceed ceed;

  NEEDS_NVRTC();
  if (sizeof(CeedScalar) != sizeof(double)) SKIP("tensor cores multiply doubles only");
  setenv("RITZ_GPU_MMA", "on", 1);
  for (int i = 0; i < (tap_level() ? 2 : 1) && !tap_failed(); i++) {
    CHECK_OK(open_context(&ritz_cuda_gen_backend, &devices[i], &ceed));
    for (int k = 0; k < (tap_level() ? 2 : 1) && !tap_failed(); k++) {
      check_geometry(ceed, &shapes[k]);
      CHECK(fused.uses_mma, "BP%d of degree %d without", shapes[k].bp, (int)shapes[k].order);
    }
    for (int bp = 3; tap_level() && bp <= 6 && !tap_failed(); bp++) {
      fused = (Fused){0};
      CHECK_OK(run_bp(ceed, bp, bp < 5 ? 6 : 7, NULL));
      check_fused(bp, bp < 5 ? 6 : 7, bp % 2 ? 0 : MAX_SPILLS);
      CHECK(fused.uses_mma, "BP%d without", bp);
    }
    CeedDestroy(&ceed);
  }
  unsetenv("RITZ_GPU_MMA");
}

// Of tetrahedra. Degree 5 has its matrices in parts; degree 6 spills some bytes.
TEST(dense_bases_by_tensor_cores_compile_and_spill_nothing) {
  static const BpShape tets = {CEED_TOPOLOGY_TET, RitzBasisCreateLagrange, RitzLagrangeNodes};
  static const CeedInt orders[] = {3, 5, 2, 4};
  Ceed ceed;

  NEEDS_NVRTC();
  if (sizeof(CeedScalar) != sizeof(double)) SKIP("tensor cores multiply doubles only");
  setenv("RITZ_GPU_MMA", "on", 1);
  CHECK_OK(open_context(&ritz_cuda_gen_backend, &devices[0], &ceed));
  for (int k = 0; k < (tap_level() ? 4 : 2) && !tap_failed(); k++) {
    fused = (Fused){0};
    CHECK_OK(run_bp_on(ceed, &tets, 3, orders[k], NULL));
    check_fused(3, orders[k], 0);
    CHECK(fused.uses_mma, "degree %d without", (int)orders[k]);
  }
  CeedDestroy(&ceed);
  unsetenv("RITZ_GPU_MMA");
}

// ---- Many fields ----

// The text of a diagonal grows with the product of the numbers of fields: no kernel for so many.
TEST(operators_of_200_fields_compile_and_their_diagonals_are_refused) {
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  CeedVector u = NULL, v = NULL;
  Ceed ceed;

  NEEDS_NVRTC();
  CHECK_OK(open_context(&ritz_cuda_gen_backend, &devices[0], &ceed));
  snprintf(running, sizeof(running), "200 fields");
  CHECK_OK(create_many(ceed, &qf, &op));
  CHECK_OK(CeedVectorCreate(ceed, 4, &u));
  CHECK_OK(CeedVectorSetValue(u, 1));
  CHECK_OK(CeedVectorCreate(ceed, 4, &v));
  CHECK_OK(CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE));
  const int num_programs = totals.num_programs;
  CHECK_OK(CeedOperatorLinearAssembleDiagonal(op, v, CEED_REQUEST_IMMEDIATE));
  CHECK(totals.num_programs == num_programs, "%d programs for the diagonal",
        totals.num_programs - num_programs);
  tell_totals(&devices[0]);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&op);
  CeedDestroy(&ceed);
}

// ---- Random operators ----

static int create_active_vector(Ceed ceed, CeedSize length, CeedVector *vector) {
  *vector = CEED_VECTOR_NONE;
  if (length == 0) return CEED_ERROR_SUCCESS;
  *vector = NULL;
  CeedCall(CeedVectorCreate(ceed, length, vector));
  return CeedVectorSetValue(*vector, 1);
}

static int run_random_operator(Ceed ceed, const RandomOptions *options, uint64_t *seed) {
  RandomOperator r;
  CeedVector in = NULL, out = NULL;
  int ierr = random_operator_create(ceed, options, seed, &r);

  snprintf(running, sizeof(running), "%s", random_operator_describe(&r));
  if (!ierr) ierr = create_active_vector(ceed, r.input_size, &in);
  if (!ierr) ierr = create_active_vector(ceed, r.output_size, &out);
  if (!ierr) ierr = CeedOperatorApply(r.op, in, out, CEED_REQUEST_IMMEDIATE);
  if (ierr) tap_note("%s", random_operator_describe(&r));
  CeedVectorDestroy(&in);
  CeedVectorDestroy(&out);
  random_operator_destroy(&r);
  return ierr;
}

// Until so many programs are compiled.
static void compile_random(const RitzBackend *backend, const RandomOptions *options, int num_programs) {
  uint64_t seed = 20;
  Ceed ceed;

  totals = (Totals){0};
  CHECK_OK(open_context(backend, &devices[0], &ceed));
  while (totals.num_programs < num_programs) CHECK_OK(run_random_operator(ceed, options, &seed));
  tell_totals(&devices[0]);
  CeedDestroy(&ceed);
}

TEST(kernels_of_random_operators_compile) {
  static const int num_wanted[] = {40, 240, 1000};

  NEEDS_NVRTC();
  compile_random(&ritz_cuda_shared_backend, &(RandomOptions){0}, num_wanted[tap_level()]);
}

TEST(fused_kernels_of_random_operators_compile) {
  static const int num_wanted[] = {15, 60, 500};

  NEEDS_NVRTC();
  compile_random(&ritz_cuda_gen_backend, &(RandomOptions){.is_tensor = true}, num_wanted[tap_level()]);
}

// ---- Texts for people ----

// Up to the user's text. The text is the operator's.
static int print_kernel(CeedOperator op) {
  const char *text, *user;

  CeedCall(RitzOperatorGetSource(op, &text));
  user = strstr(text, "\n// ---- The user's text");
  printf("%.*s", user ? (int)(user - text) : (int)strlen(text), text);
  return CEED_ERROR_SUCCESS;
}

// geometry: NULL for stored factors.
static int dump(int bp, CeedInt order, const char *geometry) {
  Ceed ceed;

  is_dumping = true;
  int ierr = open_context(&ritz_cuda_gen_backend, &devices[0], &ceed);
  if (!ierr && geometry)
    ierr = run_geometry(ceed, &(GeometryShape){bp, order, !strcmp(geometry, "affine")}, print_kernel);
  else if (!ierr)
    ierr = run_bp(ceed, bp, order, print_kernel);
  CeedDestroy(&ceed);
  return ierr ? 1 : 0;
}

// ---- Sweeps over vertex patches ----

TEST(sweeps_over_patches_keep_their_numbers_in_registers) {
  const bool fixed = true;
  Ceed ceed;

  NEEDS_NVRTC();
  totals = (Totals){.wants_registers = true};
  CHECK_OK(open_context(&ritz_cuda_gen_backend, &devices[0], &ceed));
  for (CeedInt p = tap_level() ? 1 : 3; p <= 8; p += tap_level() ? 1 : 4) {
    for (int single = 0; single < 2 && !tap_failed(); single++) {
      const PatchCase c = {3,
                           p,
                           1,
                           {2, 2, 2},
                           {{fixed, fixed}, {fixed, fixed}, {fixed, fixed}},
                           false,
                           {1, 1, 1, 0},
                           single ? CEED_SCALAR_FP32 : CEED_SCALAR_TYPE,
                           RITZ_PATCH_LIFTED};
      snprintf(running, sizeof(running), "patches of degree %d", (int)p);
      CHECK_OK(run_patch_sweep(ceed, &c));
    }
  }
  const int num_programs = totals.num_programs;
  CHECK(totals.num_in_memory == 0, "%d kernels keep numbers in memory", totals.num_in_memory);
  totals.wants_registers = false;
  for (int form = RITZ_PATCH_LIFTED; form <= (tap_level() ? RITZ_PATCH_BOUNDARY : RITZ_PATCH_RESIDUAL);
       form++) {
    const PatchCase c = {3,
                         2,
                         1,
                         {2, 2, 2},
                         {{fixed, false}, {fixed, fixed}, {fixed, fixed}},
                         false,
                         {1, 1, 1, 0},
                         CEED_SCALAR_TYPE,
                         (RitzPatchForm)form};
    CHECK_OK(run_patch_sweep(ceed, &c));
  }
  CHECK(totals.num_programs >= num_programs + 2, "%d programs", totals.num_programs);
  CeedDestroy(&ceed);
  tell_totals(&devices[0]);
}

int main(int argc, char **argv) {
  setenv("RITZ_CACHE", "off", 1); // what comes from the cache has no log
  if (argc >= 4 && !strcmp(argv[1], "--dump"))
    return dump(atoi(argv[2]), atoi(argv[3]), argc > 4 ? argv[4] : NULL);
  return tap_main(argc, argv,
                  TESTS(bases_by_matrix_products_compile,
                        kernels_of_the_benchmark_set_keep_their_numbers_in_registers,
                        texts_of_cxx_habits_compile_for_cuda,
                        fused_kernels_of_the_benchmark_set_spill_nothing_for_one_component,
                        point_blocks_compile_for_cuda, fused_kernels_for_several_vectors_spill_nothing,
                        kernels_of_assembly_keep_their_numbers_in_registers,
                        sweeps_over_patches_keep_their_numbers_in_registers,
                        kernels_of_curls_and_divergences_keep_their_numbers_in_registers,
                        fused_kernels_in_single_precision_spill_nothing,
                        conjugate_gradients_keep_their_numbers_in_registers,
                        fused_kernels_that_compute_their_geometry_spill_little,
                        kernels_that_multiply_by_tensor_cores_compile_and_spill_little,
                        dense_bases_by_tensor_cores_compile_and_spill_nothing,
                        operators_of_200_fields_compile_and_their_diagonals_are_refused,
                        kernels_of_random_operators_compile, fused_kernels_of_random_operators_compile));
}
