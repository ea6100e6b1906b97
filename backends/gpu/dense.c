// SPDX-License-Identifier: BSD-2-Clause
// Dense solver (core/dense-solver.h) on devices: kernels of kernels/gpu/dense-*.h. CUDA has tensor cores for
// products and clusters of blocks for panels from compute capability 9.0 on; elsewhere operands are rounded
// by instructions, and a block has a panel.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/gpu/algebra.h"
#include "backends/gpu/context.h"
#include "backends/gpu/dense-vendor.h"
#include "backends/gpu/memory.h"
#include "core/dense-solver.h"

enum {
  PADDING = 128,                 // rows and columns of zeros
  MOVES_STRIDE = 129,            // of kernels/gpu/dense-solver.h
  CLUSTER_THREADS = 512,         // of a block, kernels/gpu/dense-cluster.h
  SOLVED = 128,                  // of kernels/gpu/dense-solver.h
  STAGES = 3 * 2 * 128 * 20 * 8, // bytes, of kernels/gpu/dense-mma-f64.h
  NUM_HELD = 4,                  // kinds of threads there: they have 1, 2, 4, 8 rows
  SOLVE_PARTS = 4,               // of kernels/gpu/dense-solve.h
  PAGE = 512,    // doubles, as many ints: OpenCL devices ask for arguments that begin at multiples of it
  SECOND = PAGE, // small results: place of the second coefficients
  SQUARE = 2 * PAGE,
  FACTOR = 3 * PAGE,
  NUM_NUMBERS = 4 * PAGE,
  LOW_ORDER = 8192,  // from which on low precisions gain
  VENDOR_ORDER = 512 // from which on cuSOLVER gains enough for what loading it takes
};

typedef struct {
  int64_t ld, rows; // of F; of a diagonal block that is inverted
  bool is_double, has_tensor_cores;
  int panel_threads, cluster; // of a panel's block; blocks of a panel, 1: no clusters
  // Owned, device memory; NULL: not there.
  void *F, *inverse;
  int *pivots, *moves, *bad, *order;
  double *scales, *work, *numbers; // scales: of rows, with the shift, then of columns
  size_t factor_bytes, other_bytes;
  double *row_scale;                                                  // owned, host: without the shift
  RitzGpuDenseVendor *vendor;                                         // owned; NULL: not yet
  RitzGpuKernel factor[2], solve[2], refine, mma[RITZ_DENSE_F16 + 1]; // owned; NONE: not yet
  RitzGpuKernel panels[NUM_HELD][2];
} Device;

static Device *device_of(const RitzDenseSolver s) { return s->data; }
static int64_t num_blocks_of(const RitzDenseSolver s) {
  return (s->n + device_of(s)->rows - 1) / device_of(s)->rows;
}

// ---- Kernels: described when they are needed ----

static int describe(RitzDenseSolver s, const char *name, const char *text, RitzGpuKernel *kernel) {
  return ritz_gpu_kernel_describe(s->ceed, &(RitzGpuText){.name = name, .num = 1, .texts = {text}}, kernel);
}

static int describe_real(RitzDenseSolver s, const char *name, const char *file, RitzGpuKernel *kernels) {
  const Device *d = device_of(s);
  char text[256];
  snprintf(text, sizeof(text),
           "%s#define RITZ_THREADS %d\n#define RITZ_ROWS %d\n#include \"kernels/gpu/%s.h\"\n",
           d->is_double ? "" : "#define RITZ_ENTRY_F32\n", d->panel_threads, (int)d->rows, file);
  return describe(s, name, text, &kernels[d->is_double]);
}

static int describe_mma(RitzDenseSolver s, RitzDensePrecision precision) {
  static const char *const kinds[] = {[RITZ_DENSE_TF32X3] = "TF32X3",
                                      [RITZ_DENSE_TF32] = "TF32",
                                      [RITZ_DENSE_BF16] = "BF16",
                                      [RITZ_DENSE_F16] = "F16"};
  char text[128] = "#include \"kernels/gpu/dense-mma-f64.h\"\n";
  if (precision != RITZ_DENSE_F64)
    snprintf(text, sizeof(text),
             "#define RITZ_ENTRY_F32\n#define RITZ_MMA_%s\n#include \"kernels/gpu/dense-mma.h\"\n",
             kinds[precision]);
  return describe(s, "dense-mma", text, &device_of(s)->mma[precision]);
}

// Every device that has clusters runs those of 8 blocks; of 16 where a group of multiprocessors has as many,
// which 8 groups of more than 120 do.
static int cluster_size(const RitzGpu *gpu, int arch) {
  return arch < 110 && gpu->info->num_units > 120 ? 16 : 8;
}

// Panels by clusters whose threads have 2^held rows.
static int describe_panel(RitzDenseSolver s, int held) {
  Device *d = device_of(s);
  char text[256];
  snprintf(text, sizeof(text),
           "%s#define RITZ_CLUSTER %d\n#define RITZ_CLUSTER_THREADS %d\n#define RITZ_ROWS_HELD %d\n"
           "#include \"kernels/gpu/dense-cluster.h\"\n",
           d->is_double ? "" : "#define RITZ_ENTRY_F32\n", d->cluster, CLUSTER_THREADS, 1 << held);
  return describe(s, "dense-cluster", text, &d->panels[held][d->is_double]);
}

static int describe_refine(RitzDenseSolver s) {
  return describe(s, "dense-refine", "#include \"kernels/gpu/dense-refine.h\"\n", &device_of(s)->refine);
}

// ---- Memory ----

static RitzDensePrecision choose(const RitzDenseSolver s) {
  return device_of(s)->has_tensor_cores && s->n >= LOW_ORDER ? RITZ_DENSE_F16 : RITZ_DENSE_F64;
}

static void free_factors(RitzDenseSolver s) {
  Device *d = device_of(s);
  ritz_gpu_free(s->ceed, &d->F);
  ritz_gpu_free(s->ceed, &d->inverse);
  d->factor_bytes = 0;
}

static void free_ints(RitzDenseSolver s, int **p) {
  void *memory = *p;
  ritz_gpu_free(s->ceed, &memory);
  *p = NULL;
}

static void free_vectors(RitzDenseSolver s, double **p) {
  void *memory = *p;
  ritz_gpu_free(s->ceed, &memory);
  *p = NULL;
}

static int destroy(RitzDenseSolver s) {
  const RitzGpu *gpu = ritz_gpu(s->ceed);
  Device *d = device_of(s);
  const int ierr = gpu->driver->synchronize(s->ceed, gpu->device, gpu->stream);
  int **const ints[] = {&d->pivots, &d->moves, &d->bad, &d->order};
  for (size_t i = 0; i < sizeof(ints) / sizeof(ints[0]); i++) free_ints(s, ints[i]);
  free_vectors(s, &d->scales);
  free_vectors(s, &d->work);
  free_vectors(s, &d->numbers);
  free_factors(s);
  RITZ_FREE(&d->row_scale);
  ritz_gpu_dense_vendor_destroy(s->ceed, &d->vendor);
  for (int i = 0; i < 2; i++) ritz_gpu_kernel_release(s->ceed, &d->factor[i]);
  for (int i = 0; i < 2; i++) ritz_gpu_kernel_release(s->ceed, &d->solve[i]);
  for (int i = 0; i <= RITZ_DENSE_F16; i++) ritz_gpu_kernel_release(s->ceed, &d->mma[i]);
  for (int i = 0; i < 2 * NUM_HELD; i++) ritz_gpu_kernel_release(s->ceed, &d->panels[i / 2][i % 2]);
  ritz_gpu_kernel_release(s->ceed, &d->refine);
  RITZ_FREE(&d);
  s->data = NULL;
  return ierr;
}

static int alloc_ints(RitzDenseSolver s, int64_t num, int **p) {
  void *memory;
  RITZ_TRY(ritz_gpu_alloc(s->ceed, (size_t)num * sizeof(int), &memory));
  *p = memory;
  device_of(s)->other_bytes += (size_t)num * sizeof(int);
  return CEED_ERROR_SUCCESS;
}

static int alloc(RitzDenseSolver s, int64_t num, double **p) {
  void *memory;
  RITZ_TRY(ritz_gpu_alloc(s->ceed, (size_t)num * sizeof(double), &memory));
  *p = memory;
  return CEED_ERROR_SUCCESS;
}

static int create(RitzDenseSolver s) {
  const RitzGpu *gpu = ritz_gpu(s->ceed);
  Device *d = NULL;
  RITZ_TRY(RITZ_CALLOC(s->ceed, 1, &d));
  s->data = d;
  // Instructions for products in double came with 9.0, those for the other precisions before.
  const int arch =
      gpu->driver->has_warps && !strncmp(gpu->info->arch, "sm_", 3) ? atoi(gpu->info->arch + 3) : 0;
  d->has_tensor_cores = arch >= 90;
  d->cluster = arch >= 90 ? cluster_size(gpu, arch) : 1;
  d->rows = gpu->driver->has_warps ? 128 : 64;
  d->panel_threads = gpu->driver->has_warps ? 1024 : gpu->info->max_threads < 256 ? 64 : 256;
  s->stride = (s->n + PAGE - 1) / PAGE * PAGE;
  d->ld = (s->n + RITZ_DENSE_BLOCK - 1) / RITZ_DENSE_BLOCK * RITZ_DENSE_BLOCK + PADDING;
  const int64_t panels = s->n / RITZ_DENSE_BLOCK + 1;
  RITZ_TRY(alloc_ints(s, s->n, &d->pivots));
  RITZ_TRY(alloc_ints(s, panels * MOVES_STRIDE, &d->moves));
  RITZ_TRY(alloc_ints(s, 1, &d->bad));
  RITZ_TRY(alloc_ints(s, 4 * s->stride, &d->order));
  RITZ_TRY(alloc(s, 2 * s->stride, &d->scales));
  RITZ_TRY(alloc(s, 3 * s->stride + PAGE, &d->work));
  RITZ_TRY(alloc(s, NUM_NUMBERS, &d->numbers));
  d->other_bytes += (size_t)(5 * s->stride + PAGE + NUM_NUMBERS) * sizeof(double);
  return RITZ_MALLOC(s->ceed, (size_t)s->n, &d->row_scale);
}

// Waits: X, which a solve copies last, may be read by other streams.
static int copy(RitzDenseSolver s, int64_t num, double *to, const double *from) {
  const RitzGpu *gpu = ritz_gpu(s->ceed);
  if (num == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(gpu->driver->copy(s->ceed, gpu->device, gpu->stream, (size_t)num * sizeof(double), to, from));
  return gpu->driver->synchronize(s->ceed, gpu->device, gpu->stream);
}

static int copy_in(RitzDenseSolver s, int64_t num, double *to, const double *from) {
  return ritz_gpu_copy_in(s->ceed, (size_t)num * sizeof(double), to, from);
}

static int copy_out(RitzDenseSolver s, int64_t num, double *to, const double *from) {
  return ritz_gpu_copy_out(s->ceed, (size_t)num * sizeof(double), to, from);
}

static int clear(RitzDenseSolver s, int64_t num, int *p) {
  const RitzGpu *gpu = ritz_gpu(s->ceed);
  return gpu->driver->clear(s->ceed, gpu->device, gpu->stream, (size_t)num * sizeof(int), p);
}

static size_t num_bytes(const RitzDenseSolver s) {
  const Device *d = device_of(s);
  return d->factor_bytes + d->other_bytes + ritz_gpu_dense_vendor_bytes(d->vendor);
}

// ---- Scales ----

// measured [3][n]: of rows the largest size, the sum, the diagonal's size.
static void set_rows(RitzDenseSolver s, const double *measured, double *scale, bool *is_finite) {
  const int64_t n = s->n;
  *is_finite = true;
  s->norm = 0;
  for (int64_t i = 0; i < n; i++) {
    const double sum = measured[n + i], wanted = s->is_symmetric ? sqrt(measured[2 * n + i]) : measured[i];
    *is_finite &= isfinite(sum) != 0;
    if (sum > s->norm) s->norm = sum;
    scale[i] = isfinite(sum) ? ldexp(1, ritz_dense_exponent(wanted)) : 1;
  }
}

static void set_columns(RitzDenseSolver s, const double *measured, double *scale) {
  s->scaled_norm = 0;
  for (int64_t j = 0; j < s->n; j++) {
    scale[j] = s->is_symmetric ? device_of(s)->row_scale[j] : ldexp(1, ritz_dense_exponent(measured[j]));
    if (measured[s->n + j] * scale[j] > s->scaled_norm) s->scaled_norm = measured[s->n + j] * scale[j];
  }
}

static int measure_by(RitzDenseSolver s, double *host, bool *is_finite) {
  Device *d = device_of(s);
  const int64_t n = s->n;
  RITZ_TRY(describe_refine(s));
  RITZ_TRY(RITZ_GPU_RUN(s->ceed, &d->refine, "ritz_measure_rows", (n + 31) / 32, 256, RITZ_INT((int)n),
                        RITZ_POINTER(s->A), RITZ_LONG(s->ld), RITZ_POINTER(d->work)));
  RITZ_TRY(copy_out(s, 3 * n, host, d->work));
  set_rows(s, host, d->row_scale, is_finite);
  if (!*is_finite) return CEED_ERROR_SUCCESS;
  RITZ_TRY(copy_in(s, n, d->scales, d->row_scale));
  RITZ_TRY(RITZ_GPU_RUN(s->ceed, &d->refine, "ritz_measure_columns", n, 256, RITZ_INT((int)n),
                        RITZ_POINTER(s->A), RITZ_LONG(s->ld), RITZ_POINTER(d->scales),
                        RITZ_POINTER(d->work)));
  RITZ_TRY(copy_out(s, 2 * n, host, d->work));
  set_columns(s, host, host + 2 * n);
  return copy_in(s, n, d->scales + s->stride, host + 2 * n);
}

static int measure(RitzDenseSolver s, bool *is_finite) {
  double *host = NULL;
  RITZ_TRY(RITZ_MALLOC(s->ceed, 3 * (size_t)s->n, &host));
  const int ierr = measure_by(s, host, is_finite);
  RITZ_FREE(&host);
  return ierr;
}

// ---- Factors ----

static int alloc_factors(RitzDenseSolver s, bool is_double) {
  Device *d = device_of(s);
  const size_t size = is_double ? sizeof(double) : sizeof(float);
  const size_t matrix = (size_t)(d->ld * d->ld) * size;
  const size_t inverse = (size_t)(num_blocks_of(s) * 2 * d->rows * d->rows) * size;
  if (d->factor_bytes > 0 && d->is_double == is_double) return CEED_ERROR_SUCCESS;
  free_factors(s);
  d->is_double = is_double;
  RITZ_TRY(ritz_gpu_alloc(s->ceed, matrix, &d->F));
  RITZ_TRY(ritz_gpu_alloc(s->ceed, inverse, &d->inverse));
  d->factor_bytes = matrix + inverse;
  return CEED_ERROR_SUCCESS;
}

static int upload_rows(RitzDenseSolver s, int shift) {
  Device *d = device_of(s);
  double *scale = NULL;
  RITZ_TRY(RITZ_MALLOC(s->ceed, (size_t)s->n, &scale));
  for (int64_t i = 0; i < s->n; i++) scale[i] = ldexp(d->row_scale[i], shift);
  const int ierr = copy_in(s, s->n, d->scales, scale);
  RITZ_FREE(&scale);
  return ierr;
}

static int load(RitzDenseSolver s, bool is_double, int shift) {
  Device *d = device_of(s);
  const int64_t num = d->ld * d->ld, blocks = RITZ_GPU_BLOCKS(num);
  RITZ_TRY(alloc_factors(s, is_double));
  RITZ_TRY(describe_real(s, "dense-factor", "dense-factor", d->factor));
  RITZ_TRY(upload_rows(s, shift));
  RITZ_TRY(clear(s, 1, d->bad));
  RITZ_TRY(clear(s, (s->n / RITZ_DENSE_BLOCK + 1) * MOVES_STRIDE, d->moves));
  return RITZ_GPU_RUN(s->ceed, &d->factor[is_double], "ritz_load", blocks < 1 << 20 ? blocks : 1 << 20, 256,
                      RITZ_INT((int)s->n), RITZ_LONG(d->ld), RITZ_LONG(num), RITZ_POINTER(s->A),
                      RITZ_LONG(s->ld), RITZ_POINTER(d->scales), RITZ_POINTER(d->scales + s->stride),
                      RITZ_POINTER(d->F));
}

#define RUN_FACTOR(s, kernel, blocks, threads, ...)                                                          \
  RITZ_GPU_RUN((s)->ceed, &device_of(s)->factor[device_of(s)->is_double], kernel, blocks, threads,           \
               __VA_ARGS__)

// Place of entry (row, col) of the factors.
static int64_t place_of(const RitzDenseSolver s, int64_t row, int64_t col) {
  return row + col * device_of(s)->ld;
}

static int panel_by_cluster(RitzDenseSolver s, int64_t first, int64_t num, int held) {
  Device *d = device_of(s);
  RITZ_TRY(describe_panel(s, held));
  return RITZ_GPU_RUN(s->ceed, &d->panels[held][d->is_double], "ritz_panel_cluster", d->cluster,
                      CLUSTER_THREADS, RITZ_INT((int)s->n), RITZ_LONG(d->ld), RITZ_POINTER(d->F),
                      RITZ_INT((int)first), RITZ_INT((int)num), RITZ_POINTER(d->pivots),
                      RITZ_POINTER(d->moves), RITZ_POINTER(d->bad));
}

static int panel(RitzDenseSolver s, int64_t first, int64_t num) {
  const Device *d = device_of(s);
  const int64_t rows_at_once = (int64_t)d->cluster * CLUSTER_THREADS;
  int held = 0;
  while (held < NUM_HELD && (rows_at_once << held) < s->n - first) held++;
  if (d->has_tensor_cores && held < NUM_HELD) return panel_by_cluster(s, first, num, held);
  return RUN_FACTOR(s, "ritz_panel", 1, d->panel_threads, RITZ_INT((int)s->n), RITZ_LONG(d->ld),
                    RITZ_POINTER(d->F), RITZ_INT((int)first), RITZ_INT((int)num), RITZ_POINTER(d->pivots),
                    RITZ_POINTER(d->moves), RITZ_POINTER(d->bad));
}

static int swap(RitzDenseSolver s, int64_t first, int64_t num, int64_t col, int64_t num_cols) {
  const Device *d = device_of(s);
  const int64_t panels = (num + RITZ_DENSE_BLOCK - 1) / RITZ_DENSE_BLOCK;
  return RUN_FACTOR(s, "ritz_swap", (num_cols + 3) / 4, 256, RITZ_LONG(d->ld), RITZ_POINTER(d->F),
                    RITZ_INT((int)first), RITZ_INT((int)panels), RITZ_INT((int)col), RITZ_INT((int)num_cols),
                    RITZ_POINTER(d->moves));
}

static int solve_rows(RitzDenseSolver s, int64_t first, int64_t num, int64_t col, int64_t num_cols) {
  const Device *d = device_of(s);
  return RUN_FACTOR(s, "ritz_solve_rows", (num_cols + 31) / 32, 256, RITZ_LONG(d->ld), RITZ_POINTER(d->F),
                    RITZ_INT((int)first), RITZ_INT((int)num), RITZ_INT((int)col), RITZ_INT((int)num_cols));
}

static int cholesky(RitzDenseSolver s, int64_t first, int64_t num) {
  const Device *d = device_of(s);
  return RUN_FACTOR(s, "ritz_cholesky", 1, 64, RITZ_LONG(d->ld), RITZ_POINTER(d->F), RITZ_INT((int)first),
                    RITZ_INT((int)num), RITZ_POINTER(d->bad));
}

static int solve_columns(RitzDenseSolver s, int64_t first, int64_t num, int64_t row, int64_t num_rows) {
  const Device *d = device_of(s);
  return RUN_FACTOR(s, "ritz_solve_columns", (num_rows + 63) / 64, 64, RITZ_LONG(d->ld), RITZ_POINTER(d->F),
                    RITZ_INT((int)first), RITZ_INT((int)num), RITZ_INT((int)row), RITZ_INT((int)num_rows));
}

static int update_by_tensor_cores(RitzDenseSolver s, const RitzDenseUpdate *u, int64_t C, int64_t A,
                                  int64_t B) {
  Device *d = device_of(s);
  const int64_t rows = (u->num_rows + 127) / 128, cols = (u->num_cols + 127) / 128;
  const RitzDeviceArg args[] = {RITZ_LONG(d->ld),
                                RITZ_POINTER(d->F),
                                RITZ_LONG(C),
                                RITZ_LONG(A),
                                RITZ_LONG(B),
                                RITZ_INT(u->is_symmetric),
                                RITZ_INT((int)u->num_rows),
                                RITZ_INT((int)u->num_cols),
                                RITZ_INT((int)u->k),
                                RITZ_INT((int)rows),
                                RITZ_INT(u->is_lower)};
  RITZ_TRY(describe_mma(s, u->precision));
  return ritz_gpu_launch(s->ceed, &d->mma[u->precision], "ritz_update_mma", rows * cols, 256,
                         u->precision == RITZ_DENSE_F64 ? STAGES : 0, (int)(sizeof(args) / sizeof(args[0])),
                         args);
}

// Products of floats have no tensor cores; those of doubles need more shared memory than a block has on some
// devices.
static bool has_tensor_cores_for(const RitzDenseSolver s, RitzDensePrecision precision) {
  const bool has_room =
      precision != RITZ_DENSE_F64 || ritz_gpu(s->ceed)->info->dynamic_shared_bytes >= STAGES;
  return device_of(s)->has_tensor_cores && precision != RITZ_DENSE_F32 && has_room;
}

static int update(RitzDenseSolver s, const RitzDenseUpdate *u) {
  const Device *d = device_of(s);
  const int64_t rows = (u->num_rows + 63) / 64, cols = (u->num_cols + 63) / 64;
  const int64_t C = place_of(s, u->row, u->col), A = place_of(s, u->row, u->k0);
  const int64_t B = u->is_symmetric ? place_of(s, u->col, u->k0) : place_of(s, u->k0, u->col);
  if (has_tensor_cores_for(s, u->precision)) return update_by_tensor_cores(s, u, C, A, B);
  return RUN_FACTOR(s, "ritz_update", rows * cols, 256, RITZ_LONG(d->ld), RITZ_POINTER(d->F), RITZ_LONG(C),
                    RITZ_LONG(A), RITZ_LONG(B), RITZ_LONG(u->is_symmetric ? d->ld : 1),
                    RITZ_LONG(u->is_symmetric ? 1 : d->ld), RITZ_INT((int)u->num_rows),
                    RITZ_INT((int)u->num_cols), RITZ_INT((int)u->k), RITZ_INT((int)rows),
                    RITZ_INT(u->is_lower), RITZ_INT((int)u->precision));
}

static const char *find_vendor(const RitzDenseSolver s, const char **why) {
  return ritz_gpu_dense_vendor_find(s->ceed, why);
}

static int factor_by_vendor(RitzDenseSolver s) {
  Device *d = device_of(s);
  const RitzGpuDenseFactors factors = {s->is_symmetric, d->is_double, s->n, d->ld, d->F, d->pivots, d->bad};
  return ritz_gpu_dense_vendor_factor(s->ceed, &factors, &d->vendor);
}

// order [2][n]: row i of P x is row order[i] of x, and back.
static void make_order(int64_t n, const int *pivots, int *order) {
  for (int64_t i = 0; i < n; i++) order[i] = (int)i;
  for (int64_t i = 0; i < n; i++) {
    const int kept = order[i];
    order[i] = order[pivots[i]];
    order[pivots[i]] = kept;
  }
  for (int64_t i = 0; i < n; i++) order[n + order[i]] = (int)i;
}

static int upload_order(RitzDenseSolver s) {
  const Device *d = device_of(s);
  const size_t n = (size_t)s->n;
  int *host = NULL;
  RITZ_TRY(RITZ_MALLOC(s->ceed, 3 * n, &host));
  int ierr = ritz_gpu_copy_out(s->ceed, n * sizeof(int), host, d->pivots);
  if (!ierr) make_order(s->n, host, host + n);
  if (!ierr) ierr = ritz_gpu_copy_in(s->ceed, n * sizeof(int), d->order, host + n);
  if (!ierr) ierr = ritz_gpu_copy_in(s->ceed, n * sizeof(int), d->order + 2 * s->stride, host + 2 * n);
  RITZ_FREE(&host);
  return ierr;
}

static int finish(RitzDenseSolver s, int64_t *bad) {
  const Device *d = device_of(s);
  int found = 0;
  RITZ_TRY(ritz_gpu_copy_out(s->ceed, sizeof(found), &found, d->bad));
  *bad = found;
  if (found) return CEED_ERROR_SUCCESS;
  if (!s->is_symmetric) RITZ_TRY(upload_order(s));
  return RUN_FACTOR(s, "ritz_invert", 2 * num_blocks_of(s), (int)d->rows, RITZ_INT((int)s->n),
                    RITZ_LONG(d->ld), RITZ_POINTER(d->F), RITZ_INT(!s->is_symmetric),
                    RITZ_POINTER(d->inverse));
}

// ---- Solves ----

static int permute(RitzDenseSolver s, const int *from, const double *x, double *y) {
  Device *d = device_of(s);
  return RITZ_GPU_RUN(s->ceed, &d->solve[d->is_double], "ritz_permute", RITZ_GPU_BLOCKS(s->n), 256,
                      RITZ_INT((int)s->n), RITZ_POINTER(from), RITZ_POINTER(x), RITZ_POINTER(y));
}

// x = T^-1 b or T^-T b. taken: zero; x: zeros.
static int solve_triangle(RitzDenseSolver s, bool is_upper, bool is_transposed, int *taken, const double *b,
                          double *x) {
  Device *d = device_of(s);
  const RitzGpu *gpu = ritz_gpu(s->ceed);
  const int64_t num = num_blocks_of(s), most = gpu->driver->has_warps ? 2 * gpu->info->num_units : 1;
  return RITZ_GPU_RUN(s->ceed, &d->solve[d->is_double], "ritz_triangle", num < most ? num : most,
                      (int)(SOLVE_PARTS * d->rows), RITZ_INT((int)s->n), RITZ_LONG(d->ld), RITZ_POINTER(d->F),
                      RITZ_POINTER(d->inverse), RITZ_INT(is_upper), RITZ_INT(is_transposed),
                      RITZ_POINTER(taken), RITZ_POINTER(b), RITZ_POINTER(x));
}

// The lower triangle forward, transposed backward; the upper one the other way round.
static int solve(RitzDenseSolver s, bool is_transposed, double *v) {
  Device *d = device_of(s);
  const bool is_lu = !s->is_symmetric;
  double *b = d->work, *y = b + s->stride, *x = y + s->stride;
  int *taken = (int *)(x + s->stride);
  RITZ_TRY(describe_real(s, "dense-solve", "dense-solve", d->solve));
  RITZ_TRY(clear(s, 2 * (3 * s->stride + PAGE), (int *)b));
  RITZ_TRY(permute(s, is_lu && !is_transposed ? d->order : NULL, v, b));
  RITZ_TRY(solve_triangle(s, is_lu && is_transposed, is_lu && is_transposed, taken, b, y));
  RITZ_TRY(solve_triangle(s, is_lu && !is_transposed, !is_lu || is_transposed, taken + PAGE, y, x));
  return permute(s, is_lu && is_transposed ? d->order + 2 * s->stride : NULL, x, v);
}

// ---- The matrix and vectors ----

#define RUN_REFINE(s, kernel, blocks, ...)                                                                   \
  RITZ_GPU_RUN((s)->ceed, &device_of(s)->refine, kernel, blocks, 256, __VA_ARGS__)

static int multiply(RitzDenseSolver s, const double *b, const double *x, double *y) {
  const Device *d = device_of(s);
  return RUN_REFINE(s, "ritz_product", (s->n + 31) / 32, RITZ_INT((int)s->n), RITZ_POINTER(s->A),
                    RITZ_LONG(s->ld), RITZ_POINTER(d->scales), RITZ_POINTER(b), RITZ_POINTER(x),
                    RITZ_POINTER(y));
}

static int scale(RitzDenseSolver s, const double *by, const double *factor, const double *x, double *y) {
  return RUN_REFINE(s, "ritz_scale", RITZ_GPU_BLOCKS(s->n), RITZ_INT((int)s->n), RITZ_POINTER(by),
                    RITZ_POINTER(factor), RITZ_POINTER(x), RITZ_POINTER(y));
}

static int product(RitzDenseSolver s, const double *x, double *y) {
  const Device *d = device_of(s);
  RITZ_TRY(scale(s, d->scales + s->stride, NULL, x, d->work));
  return multiply(s, NULL, d->work, y);
}

static int largest_of_two(RitzDenseSolver s, const double *x, const double *y, double values[2]) {
  const Device *d = device_of(s);
  RITZ_TRY(RUN_REFINE(s, "ritz_largest", 1, RITZ_INT((int)s->n), RITZ_POINTER(x), RITZ_POINTER(y),
                      RITZ_POINTER(d->numbers)));
  return copy_out(s, 2, values, d->numbers);
}

static int residual(RitzDenseSolver s, const double *b, const double *x, double *r, double norms[2]) {
  RITZ_TRY(multiply(s, b, x, r));
  return largest_of_two(s, r, x, norms);
}

static int largest(RitzDenseSolver s, const double *x, double *value) {
  double values[2];
  RITZ_TRY(largest_of_two(s, x, x, values));
  *value = values[0];
  return CEED_ERROR_SUCCESS;
}

static int scale_rows(RitzDenseSolver s, const double *r, double *z) {
  return scale(s, device_of(s)->scales, NULL, r, z);
}

static int add_columns(RitzDenseSolver s, double factor, const double *z, double *x) {
  const Device *d = device_of(s);
  RITZ_TRY(copy_in(s, 1, d->numbers + FACTOR, &factor));
  return scale(s, d->scales + s->stride, d->numbers + FACTOR, z, x);
}

static int run_combine(RitzDenseSolver s, int num, const double *V, const double *h, bool is_subtracted,
                       const double *square, double *w) {
  return RUN_REFINE(s, "ritz_combine", RITZ_GPU_BLOCKS(s->n), RITZ_INT((int)s->n), RITZ_LONG(s->stride),
                    RITZ_INT(num), RITZ_POINTER(V), RITZ_POINTER(h), RITZ_INT(is_subtracted),
                    RITZ_POINTER(square), RITZ_POINTER(w));
}

static int run_dots(RitzDenseSolver s, int num, const double *V, const double *w, double *h) {
  return RUN_REFINE(s, "ritz_dots", num, RITZ_INT((int)s->n), RITZ_LONG(s->stride), RITZ_POINTER(V),
                    RITZ_POINTER(w), RITZ_POINTER(h));
}

static int combine(RitzDenseSolver s, int num, const double *V, const double *h, double beta, double *w) {
  const Device *d = device_of(s);
  double numbers[RITZ_DENSE_RESTART + 1] = {0};
  for (int i = 0; i < num; i++) numbers[i] = h[i];
  numbers[num] = beta;
  RITZ_TRY(copy_in(s, num + 1, d->numbers, numbers));
  return run_combine(s, num, V, d->numbers, false, NULL, w);
}

static int orthogonalize(RitzDenseSolver s, int num, const double *V, double *w, double *h) {
  const Device *d = device_of(s);
  double numbers[SQUARE + 1];
  for (int pass = 0; pass < 2 && num > 0; pass++) {
    double *coefficients = d->numbers + pass * SECOND;
    RITZ_TRY(run_dots(s, num, V, w, coefficients));
    RITZ_TRY(run_combine(s, num, V, coefficients, true, NULL, w));
  }
  RITZ_TRY(run_dots(s, 1, w, w, d->numbers + SQUARE));
  RITZ_TRY(run_combine(s, 0, NULL, NULL, true, d->numbers + SQUARE, w));
  RITZ_TRY(copy_out(s, SQUARE + 1, numbers, d->numbers));
  for (int i = 0; i < num; i++) h[i] = numbers[i] + numbers[SECOND + i];
  h[num] = sqrt(numbers[SQUARE]);
  return CEED_ERROR_SUCCESS;
}

static void explain(const RitzDenseSolver s, FILE *stream) {
  const Device *d = device_of(s);
  const char *tiles = "64 x 64 by instructions";
  if (has_tensor_cores_for(s, RITZ_DENSE_F64))
    tiles = "128 x 128 by tensor cores (f32: 64 x 64 by instructions)";
  else if (d->has_tensor_cores)
    tiles = "128 x 128 by tensor cores (f64, f32: 64 x 64 by instructions)";
  fprintf(stream, "  factorizations by halves, products in tiles of %s\n", tiles);
  fprintf(stream, "  triangles in blocks of %d with inverses of their diagonal blocks\n", (int)d->rows);
}

static const RitzDenseVendor vendor = {
    .name = "cuSOLVER", .least_order = VENDOR_ORDER, .find = find_vendor, .factor = factor_by_vendor};

const RitzDenseMethods ritz_gpu_dense =
    RITZ_DENSE_METHODS("the library's own kernels on the device", SOLVED, copy_in, copy_out);
