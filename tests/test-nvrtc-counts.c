// SPDX-License-Identifier: BSD-2-Clause
// Kernels of /gpu/cuda take the registers, spills, memory and instructions that are kept for this compiler:
// tests/golden-gpu/counts-*.txt, one table a version of it, since another one makes other code.
// `test-nvrtc-counts --write-golden` writes the table of the compiler that is there. Skipped where there is
// no compiler or no table of its version. Of the quick level: the cases that say so.
#include "tests/golden-kit.h"
#include "tests/nvrtc-runs.h"

// ---- Cases ----

// What runs, with two numbers: mostly bake-off problem and degree.
typedef struct {
  const char *name;
  int (*run)(Ceed ceed, int a, int b); // NULL: nothing, and the library's own kernels are counted
  int a, b;
  bool is_quick;
  const RitzBackend *backend; // NULL: that of fused kernels
} Counted;

static int benchmark(Ceed ceed, int bp, int order) { return run_bp(ceed, bp, order, NULL); }
static int single(Ceed ceed, int bp, int order) { return run_single_bp(ceed, bp, order); }
static int several_vectors(Ceed ceed, int bp, int order) { return run_bp(ceed, bp, order, apply_three); }
static int point_blocks(Ceed ceed, int bp, int order) { return run_bp(ceed, bp, order, assemble_blocks); }
static int pattern(Ceed ceed, int bp, int order) { return run_bp(ceed, bp, order, assemble_in_pattern); }
static int triples(Ceed ceed, int bp, int order) { return run_bp(ceed, bp, order, assemble_triples); }
static int qfunction(Ceed ceed, int bp, int order) { return run_bp(ceed, bp, order, assemble_qfunction); }
static int gradients(Ceed ceed, int bp, int order) {
  return run_bp(ceed, bp, order, run_conjugate_gradients);
}
static int products(Ceed ceed, int is_tet, int order) { return run_products(ceed, order, is_tet); }

static int diagonal_of(CeedOperator op) {
  CeedVector diagonal = NULL;
  int ierr = CeedVectorCreate(op->obj.ceed, op->output_size, &diagonal);

  if (!ierr) ierr = CeedOperatorLinearAssembleDiagonal(op, diagonal, CEED_REQUEST_IMMEDIATE);
  CeedVectorDestroy(&diagonal);
  return ierr;
}

static int diagonal(Ceed ceed, int bp, int order) { return run_bp(ceed, bp, order, diagonal_of); }

static int trilinear(Ceed ceed, int bp, int order) {
  return run_geometry(ceed, &(GeometryShape){bp, order, false}, NULL);
}

static int affine(Ceed ceed, int bp, int order) {
  return run_geometry(ceed, &(GeometryShape){bp, order, true}, NULL);
}

static int tetrahedra(Ceed ceed, int bp, int order) {
  static const BpShape tets = {CEED_TOPOLOGY_TET, RitzBasisCreateLagrange, RitzLagrangeNodes};

  return run_bp_on(ceed, &tets, bp, order, NULL);
}

static int by_tensor_cores(Ceed ceed, int bp, int order) {
  setenv("RITZ_GPU_MMA", "on", 1);
  const int ierr = run_bp(ceed, bp, order, NULL);
  unsetenv("RITZ_GPU_MMA");
  return ierr;
}

static int vector_basis(Ceed ceed, CeedEvalMode mode, int dim, int order) {
  return run_vector(ceed, &(VectorShape){mode, dim, order, order + 2, {2, 2, 2}, false});
}

static int curl(Ceed ceed, int dim, int order) { return vector_basis(ceed, CEED_EVAL_CURL, dim, order); }
static int divergence(Ceed ceed, int dim, int order) { return vector_basis(ceed, CEED_EVAL_DIV, dim, order); }

static int at_points(Ceed ceed, int kind, int degree) {
  return apply_at_points(ceed, &(PointsShape){1, degree, 1, 8, false, CEED_EVAL_INTERP}, (PointsKind)kind,
                         NULL);
}

static int patches(Ceed ceed, int form, int degree) {
  const PatchCase c = {.dim = 3,
                       .degree = degree,
                       .num_comp = 1,
                       .cells = {2, 2, 2},
                       .is_fixed = {{true, true}, {true, true}, {true, true}},
                       .factor = {1, 1, 1},
                       .precision = CEED_SCALAR_TYPE,
                       .form = (RitzPatchForm)form};
  return run_patch_sweep(ceed, &c);
}

static int batched(Ceed ceed, int operation, int n) {
  return run_batched(ceed, (RitzBatchedOperation)operation, n, CEED_SCALAR_FP64, true);
}

static int batched_single(Ceed ceed, int operation, int n) {
  return run_batched(ceed, (RitzBatchedOperation)operation, n, CEED_SCALAR_FP32, true);
}

static int batched_sizes(Ceed ceed, int operation, int n) {
  return run_batched(ceed, (RitzBatchedOperation)operation, n, CEED_SCALAR_FP64, false);
}

static int dense_solver(Ceed ceed, int precision, int unused) {
  (void)unused;
  return run_dense(ceed, (RitzDensePrecision)precision);
}

// From which level on a case is there.
#define QUICK true
#define FULL  false
static const Counted cases[] = {
    {"bp1-degree1", benchmark, 1, 1, QUICK, NULL},
    {"bp1-degree3", benchmark, 1, 3, FULL, NULL},
    {"bp1-degree7", benchmark, 1, 7, FULL, NULL},
    {"bp2-degree3", benchmark, 2, 3, FULL, NULL},
    {"bp3-degree1", benchmark, 3, 1, FULL, NULL},
    {"bp3-degree2", benchmark, 3, 2, FULL, NULL},
    {"bp3-degree3", benchmark, 3, 3, QUICK, NULL},
    {"bp3-degree5", benchmark, 3, 5, FULL, NULL},
    {"bp3-degree7", benchmark, 3, 7, FULL, NULL},
    {"bp4-degree2", benchmark, 4, 2, FULL, NULL},
    {"bp4-degree5", benchmark, 4, 5, FULL, NULL},
    {"bp5-degree4", benchmark, 5, 4, FULL, NULL},
    {"bp5-degree7", benchmark, 5, 7, QUICK, NULL},
    {"bp6-degree3", benchmark, 6, 3, FULL, NULL},
    {"single-bp1-degree2", single, 1, 2, FULL, NULL},
    {"single-bp3-degree4", single, 3, 4, QUICK, NULL},
    {"single-bp5-degree7", single, 5, 7, FULL, NULL},
    {"several-bp1-degree2", several_vectors, 1, 2, FULL, NULL},
    {"several-bp3-degree3", several_vectors, 3, 3, FULL, NULL},
    {"several-bp5-degree4", several_vectors, 5, 4, QUICK, NULL},
    {"gradients-bp3-degree3", gradients, 3, 3, FULL, NULL},
    {"gradients-bp4-degree2", gradients, 4, 2, FULL, NULL},
    {"diagonal-bp1-degree3", diagonal, 1, 3, FULL, NULL},
    {"diagonal-bp3-degree4", diagonal, 3, 4, QUICK, NULL},
    {"diagonal-bp4-degree2", diagonal, 4, 2, FULL, NULL},
    {"point-blocks-bp4-degree2", point_blocks, 4, 2, QUICK, NULL},
    {"qfunction-bp3-degree2", qfunction, 3, 2, FULL, NULL},
    {"triples-bp3-degree2", triples, 3, 2, FULL, NULL},
    {"triples-bp4-degree1", triples, 4, 1, FULL, NULL},
    {"pattern-bp3-degree2", pattern, 3, 2, QUICK, NULL},
    {"trilinear-bp1-degree4", trilinear, 1, 4, FULL, NULL},
    {"trilinear-bp3-degree4", trilinear, 3, 4, FULL, NULL},
    {"trilinear-bp5-degree3", trilinear, 5, 3, FULL, NULL},
    {"affine-bp3-degree2", affine, 3, 2, FULL, NULL},
    {"affine-bp5-degree5", affine, 5, 5, FULL, NULL},
    {"tetrahedra-bp1-degree1", tetrahedra, 1, 1, FULL, NULL},
    {"tetrahedra-bp3-degree2", tetrahedra, 3, 2, QUICK, NULL},
    {"tetrahedra-bp4-degree3", tetrahedra, 4, 3, FULL, NULL},
    {"tensor-cores-bp3-degree6", by_tensor_cores, 3, 6, FULL, NULL},
    {"curl-3D-order2", curl, 3, 2, QUICK, NULL},
    {"curl-2D-order3", curl, 2, 3, FULL, NULL},
    {"divergence-3D-order3", divergence, 3, 3, FULL, NULL},
    {"divergence-2D-order2", divergence, 2, 2, FULL, NULL},
    {"products-degree3", products, false, 3, FULL, NULL},
    {"products-tetrahedra-degree2", products, true, 2, FULL, NULL},
    {"interpolate-at-points", at_points, POINTS_INTERPOLATE, 3, FULL, NULL},
    {"deposit-at-points", at_points, POINTS_DEPOSIT, 2, QUICK, NULL},
    {"patches-lifted", patches, RITZ_PATCH_LIFTED, 3, FULL, NULL},
    {"patches-residual", patches, RITZ_PATCH_RESIDUAL, 2, FULL, NULL},
    {"patches-boundary", patches, RITZ_PATCH_BOUNDARY, 2, FULL, NULL},
    {"gemm-12", batched, RITZ_BATCHED_GEMM, 12, QUICK, NULL},
    {"gemm-65", batched, RITZ_BATCHED_GEMM, 65, FULL, NULL},
    {"potrf-16", batched, RITZ_BATCHED_POTRF, 16, FULL, NULL},
    {"potrf-48", batched, RITZ_BATCHED_POTRF, 48, FULL, NULL},
    {"getrf-8", batched, RITZ_BATCHED_GETRF, 8, QUICK, NULL},
    {"getrf-32", batched, RITZ_BATCHED_GETRF, 32, FULL, NULL},
    {"getrf-65", batched, RITZ_BATCHED_GETRF, 65, FULL, NULL},
    {"getrs-24", batched, RITZ_BATCHED_GETRS, 24, FULL, NULL},
    {"inv-12", batched, RITZ_BATCHED_INV, 12, FULL, NULL},
    {"trsm-16", batched, RITZ_BATCHED_TRSM, 16, FULL, NULL},
    {"gesv-16", batched, RITZ_BATCHED_GESV, 16, FULL, NULL},
    {"geqrf-24", batched, RITZ_BATCHED_GEQRF, 24, FULL, NULL},
    {"gels-16", batched, RITZ_BATCHED_GELS, 16, FULL, NULL},
    {"syevj-16", batched, RITZ_BATCHED_SYEVJ, 16, FULL, NULL},
    {"gesvdj-16", batched, RITZ_BATCHED_GESVDJ, 16, FULL, NULL},
    {"getrf-16-single", batched_single, RITZ_BATCHED_GETRF, 16, FULL, NULL},
    {"gemm-32-single", batched_single, RITZ_BATCHED_GEMM, 32, FULL, NULL},
    {"getrf-24-of-sizes", batched_sizes, RITZ_BATCHED_GETRF, 24, FULL, NULL},
    {"gemm-16-of-sizes", batched_sizes, RITZ_BATCHED_GEMM, 16, FULL, NULL},
    {"dense-f64", dense_solver, RITZ_DENSE_F64, 0, FULL, NULL},
    {"dense-f16", dense_solver, RITZ_DENSE_F16, 0, FULL, NULL},
    {"separate-bp1-degree2", benchmark, 1, 2, FULL, &ritz_cuda_shared_backend},
    {"separate-bp4-degree3", benchmark, 4, 3, FULL, &ritz_cuda_shared_backend},
    {"separate-pattern-bp4-degree1", pattern, 4, 1, FULL, &ritz_cuda_ref_backend},
    {"own-kernels", NULL, 0, 0, FULL, NULL},
};
enum { NUM_CASES = sizeof(cases) / sizeof(cases[0]) };

// ---- Rows of a table ----

// The rows of a case, owned (free()). Each case has a device of its own, which has no programs of others; the
// library's own kernels are not compiled unless they are counted.
static char *count_kernels(int i) {
  static struct RitzDevice_private own[NUM_CASES];
  const Counted *c = &cases[i];
  char *rows = NULL;
  size_t length = 0;
  Ceed ceed = NULL;
  FILE *stream = open_memstream(&rows, &length);

  own[i] = devices[0];
  fprintf(stream, "== %s\n", c->name);
  counts = stream;
  is_dumping = c->run;
  int ierr = open_context(c->backend ? c->backend : &ritz_cuda_gen_backend, &own[i], &ceed);
  is_dumping = false;
  if (!ierr && c->run) ierr = c->run(ceed, c->a, c->b);
  counts = NULL;
  fclose(stream);
  CeedDestroy(&ceed);
  tap_check_ok(ierr, __FILE__, __LINE__, c->name);
  return rows;
}

// "13.0.88", as the assembler signs its code; "": it does not.
static int find_version(char version[32]) {
  static const char mark[] = ", V";
  RitzDeviceCode code;
  Elf64_Shdr note;
  const char *why;
  Ceed ceed = tap_ceed("/cpu/self/ref");

  version[0] = '\0';
  CeedCall(
      ritz_nvrtc_compile(ceed, devices[0].info.arch, "version", "__global__ void none() {}", &code, &why));
  if (find_section(&code, ".note.nv.tkinfo", &note)) {
    const char *at = code.bytes + note.sh_offset, *end = at + note.sh_size - sizeof(mark);

    while (at < end && memcmp(at, mark, sizeof(mark) - 1)) at++;
    if (at < end) snprintf(version, 32, "%.*s", (int)strspn(at + 3, "0123456789."), at + 3);
  }
  ritz_device_code_free(&code);
  return CeedDestroy(&ceed);
}

static const char *path_of(const char *version) {
  static char path[200];

  snprintf(path, sizeof(path), "tests/golden-gpu/counts-%s.txt", version);
  return path;
}

// ---- Kept tables ----

// Whether the rows are those of the table, which ends its last case as the others by a line of "==".
static bool has_rows(const char *table, const char *rows) {
  const size_t length = strlen(rows);
  const char *at = strstr(table, rows);

  return at && !strncmp(at + length, "==", 2);
}

// The rows that a table has of a case; "": none.
static void tell_kept(const char *table, const Counted *c) {
  char title[100];

  snprintf(title, sizeof(title), "== %s\n", c->name);
  const char *at = strstr(table, title), *end = at ? strstr(at + 2, "==") : NULL;
  tap_note("kept:\n%.*s", end ? (int)(end - at) : 0, at ? at : "");
}

static void check_case(const char *table, int i) {
  const Counted *c = &cases[i];
  char *rows = count_kernels(i);
  const bool is_kept = rows && has_rows(table, rows);

  if (!is_kept) tell_kept(table, c);
  if (!is_kept) tap_note("now:\n%s", rows);
  free(rows);
  CHECK(is_kept, "%s has other counts; `test-nvrtc-counts --write-golden` accepts all", c->name);
}

TEST(kernels_have_the_registers_spills_and_instructions_that_are_kept) {
  char version[32];

  NEEDS_NVRTC();
  if (sizeof(CeedScalar) != sizeof(double)) SKIP("kept counts are those of double precision");
  CHECK_OK(find_version(version));
  char *table = golden_read(path_of(version));
  if (!*table) tap_note("no %s", path_of(version));
  const bool is_there = *table;
  for (int i = 0; is_there && i < NUM_CASES && !tap_failed(); i++)
    if (cases[i].is_quick || tap_level() > TAP_QUICK) check_case(table, i);
  free(table);
  if (!is_there) SKIP("no counts are kept for NVRTC %s", version);
}

static int write_goldens(void) {
  char version[32], *table = NULL;
  size_t length = 0;
  FILE *stream = open_memstream(&table, &length);
  int ierr = find_version(version);

  fprintf(stream,
          "Kernels for %s, compiled by NVRTC %s\n%-32s registers  spills  stack  shared  instructions\n",
          devices[0].info.arch, version, "");
  for (int i = 0; !ierr && i < NUM_CASES && !tap_failed(); i++) {
    char *rows = count_kernels(i);

    fprintf(stream, "%s", rows);
    free(rows);
  }
  fprintf(stream, "==\n");
  fclose(stream);
  const bool is_written = !ierr && !tap_failed() && golden_write(path_of(version), table);
  free(table);
  return is_written ? 0 : 1;
}

int main(int argc, char **argv) {
  setenv("RITZ_CACHE", "off", 1); // what comes from the cache has no log
  if (argc == 2 && !strcmp(argv[1], "--write-golden")) return write_goldens();
  return tap_main(argc, argv, TESTS(kernels_have_the_registers_spills_and_instructions_that_are_kept));
}
