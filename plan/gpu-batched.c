// SPDX-License-Identifier: BSD-2-Clause
// Kernels and sizes of blocks of batched dense algebra on devices.
#include "plan/gpu-batched.h"

static RitzBatchKind kind_of(RitzBatchedOperation operation) {
  switch (operation) {
  case RITZ_BATCHED_GEMM:
  case RITZ_BATCHED_GEMV:
  case RITZ_BATCHED_SYRK:
  case RITZ_BATCHED_SYMM:
  case RITZ_BATCHED_SYMV:
  case RITZ_BATCHED_TRMM: return RITZ_BATCH_PRODUCT;
  case RITZ_BATCHED_POTRF: return RITZ_BATCH_POTRF;
  case RITZ_BATCHED_GETRF: return RITZ_BATCH_GETRF;
  case RITZ_BATCHED_GETRI: return RITZ_BATCH_GETRI;
  case RITZ_BATCHED_INV: return RITZ_BATCH_INV;
  case RITZ_BATCHED_COPY: return RITZ_BATCH_COPY;
  case RITZ_BATCHED_GEAM: return RITZ_BATCH_GEAM;
  case RITZ_BATCHED_LASET: return RITZ_BATCH_LASET;
  case RITZ_BATCHED_LASWP: return RITZ_BATCH_LASWP;
  case RITZ_BATCHED_GEQRF: return RITZ_BATCH_GEQRF;
  case RITZ_BATCHED_ORMQR: return RITZ_BATCH_ORMQR;
  case RITZ_BATCHED_ORGQR: return RITZ_BATCH_ORGQR;
  case RITZ_BATCHED_GELS: return RITZ_BATCH_GELS;
  case RITZ_BATCHED_SYEVJ: return RITZ_BATCH_SYEVJ;
  case RITZ_BATCHED_GESVDJ: return RITZ_BATCH_GESVDJ;
  default: return RITZ_BATCH_SOLVE;
  }
}

static void set_three(int *to, int a, int b, int c) { to[0] = a, to[1] = b, to[2] = c; }

void ritz_gpu_batched_operands(const RitzBatched b, int operand[RITZ_BATCHED_MAX_OPERANDS]) {
  const bool is_left = b->options.side == RITZ_SIDE_LEFT;
  switch (b->operation) {
  case RITZ_BATCHED_SYRK: set_three(operand, 0, 0, 1); break;
  case RITZ_BATCHED_SYMM: set_three(operand, !is_left, is_left, 2); break;
  case RITZ_BATCHED_TRMM: set_three(operand, !is_left, is_left, 1); break;
  case RITZ_BATCHED_COPY: set_three(operand, 0, 0, 1); break;
  case RITZ_BATCHED_LASET:
  case RITZ_BATCHED_LASWP: set_three(operand, 0, 0, 0); break;
  default: set_three(operand, 0, 1, 2); break;
  }
}

void ritz_gpu_batched_dims(const RitzBatched b, RitzBatchDim dim[RITZ_NUM_DIMS]) {
  const bool is_transposed = b->options.trans_a == CEED_TRANSPOSE,
             is_left = b->options.side == RITZ_SIDE_LEFT;
  const RitzBatchDim side = is_left ? RITZ_DIM_M : RITZ_DIM_N, other = is_left ? RITZ_DIM_N : RITZ_DIM_M;
  dim[0] = RITZ_DIM_M, dim[1] = RITZ_DIM_N, dim[2] = RITZ_DIM_K;
  switch (b->operation) {
  case RITZ_BATCHED_GEMV:
    dim[0] = is_transposed ? RITZ_DIM_N : RITZ_DIM_M;
    dim[1] = RITZ_DIM_ONE;
    dim[2] = is_transposed ? RITZ_DIM_M : RITZ_DIM_N;
    break;
  case RITZ_BATCHED_GETRI: dim[2] = RITZ_DIM_N; break;
  case RITZ_BATCHED_TRSM: dim[0] = RITZ_DIM_ONE, dim[1] = side, dim[2] = other; break;
  case RITZ_BATCHED_SYRK: dim[0] = RITZ_DIM_N; break;
  case RITZ_BATCHED_SYMM:
  case RITZ_BATCHED_TRMM: dim[2] = side; break;
  case RITZ_BATCHED_SYMV: dim[0] = dim[2] = RITZ_DIM_N, dim[1] = RITZ_DIM_ONE; break;
  default: break;
  }
}

// How products read their operands, and which entries of C they write.
static void describe_product(const RitzBatched b, RitzGpuBatched *p) {
  const RitzBatchedOptions *o = &b->options;
  const bool is_transposed = o->trans_a == CEED_TRANSPOSE, is_lower = o->uplo == RITZ_TRIANGLE_LOWER;
  const int at = o->side == RITZ_SIDE_RIGHT; // the operand with a triangle
  p->is_transposed[0] = is_transposed;
  p->is_transposed[1] = o->trans_b == CEED_TRANSPOSE;
  switch (b->operation) {
  case RITZ_BATCHED_SYRK:
    p->is_transposed[1] = !is_transposed;
    p->keeps = is_lower ? 1 : 2;
    break;
  case RITZ_BATCHED_SYMM:
  case RITZ_BATCHED_SYMV:
    p->mask[at] =
        RITZ_BATCH_MASK_TRIANGLE | RITZ_BATCH_MASK_MIRRORED | (is_lower ? RITZ_BATCH_MASK_LOWER : 0);
    break;
  case RITZ_BATCHED_TRMM:
    p->is_transposed[0] = at == 0 && is_transposed;
    p->is_transposed[1] = at == 1 && is_transposed;
    p->mask[at] = RITZ_BATCH_MASK_TRIANGLE | (is_lower != is_transposed ? RITZ_BATCH_MASK_LOWER : 0) |
                  (o->diag == RITZ_DIAGONAL_UNIT ? RITZ_BATCH_MASK_UNIT : 0);
    p->in_place = at + 1;
    break;
  default: break;
  }
}

int ritz_gpu_batched_product_options(const RitzGpuBatched *p) {
  enum { SHIFT_MASK_B = 4, SHIFT_KEEPS = 8, SHIFT_PLACE = 10 }; // as in kernels/gpu/batched.h
  return p->mask[0] | p->mask[1] << SHIFT_MASK_B | p->keeps << SHIFT_KEEPS | p->in_place << SHIFT_PLACE;
}

static int power_of_2(CeedInt least) {
  int power = 1;
  while (power < least) power *= 2;
  return power;
}

static void plan_any(RitzGpuBatched *p, int max_threads) {
  CeedInt largest = p->size[RITZ_DIM_M];
  if (p->size[RITZ_DIM_N] > largest) largest = p->size[RITZ_DIM_N];
  if (p->size[RITZ_DIM_K] > largest) largest = p->size[RITZ_DIM_K];
  p->num_threads = largest <= 64 ? 64 : 256;
  if (p->num_threads > max_threads) p->num_threads = max_threads;
  if (p->kind == RITZ_BATCH_GETRI || p->kind == RITZ_BATCH_INV)
    p->work = power_of_2(p->size[RITZ_DIM_N] < 64 ? 64 : p->size[RITZ_DIM_N]);
}

// Bytes of a block that columns of B take in shared memory.
enum { COLUMNS_BYTES = 32 << 10 };

static int choose_columns(const RitzGpuBatched *p) {
  const CeedInt num = p->kind == RITZ_BATCH_GETRI   ? p->size[RITZ_DIM_N]
                      : p->kind == RITZ_BATCH_SOLVE ? p->size[RITZ_DIM_K]
                                                    : p->size[RITZ_DIM_N];
  const int64_t column = (int64_t)(p->size[RITZ_DIM_K] + 4) * (int64_t)ritz_scalar_bytes(p->precision) *
                         (p->num_threads / p->group);
  int columns = p->kind == RITZ_BATCH_PRODUCT ? (int)(COLUMNS_BYTES / column) : 4;
  if (columns > num) columns = (int)num;
  return columns > 0 ? columns : 1;
}

// Blocks whose threads have this many registers.
static int resident_with(int registers, int num_threads) {
  enum { REGISTERS = 65536, MOST_THREADS = 2048, MOST_BLOCKS = 32, MOST_REGISTERS = 255 };
  registers = (registers + 7) / 8 * 8;
  if (registers > MOST_REGISTERS) registers = MOST_REGISTERS;
  int resident = REGISTERS / registers / num_threads;
  if (resident > MOST_THREADS / num_threads) resident = MOST_THREADS / num_threads;
  if (resident > MOST_BLOCKS) resident = MOST_BLOCKS;
  return resident > 0 ? resident : 1;
}

// Blocks whose threads have registers for a row, a step's right-hand sides and some numbers more.
static int choose_resident(const RitzGpuBatched *p, CeedInt length) {
  enum { OTHERS = 32 };
  const int words = p->precision == CEED_SCALAR_FP32 ? 1 : 2;
  int registers = (int)length * words + OTHERS;
  if (p->kind == RITZ_BATCH_SOLVE || p->kind == RITZ_BATCH_GETRI) registers += 2 * words * p->num_columns;
  if (p->kind == RITZ_BATCH_GETRF) registers += OTHERS / 2;
  if (p->kind == RITZ_BATCH_INV) registers += OTHERS;
  if (p->kind == RITZ_BATCH_PRODUCT && p->num_columns > 1) registers += OTHERS;
  // Addresses that are not known take registers, too; but where they are computed one by one.
  if (!p->is_uniform && p->kind != RITZ_BATCH_POTRF) registers += 2 * (int)length + 2 * OTHERS;
  const int resident = resident_with(registers, p->num_threads);
  // Multiprocessors have four parts with as many warps each: two blocks of two warps take what one takes.
  const bool is_pair = p->num_threads == 64 && p->kind != RITZ_BATCH_GETRF && resident > 1;
  return is_pair ? resident / 2 * 2 : resident;
}

static bool has_sizes_up_to(const RitzGpuBatched *p, CeedInt least, CeedInt most) {
  for (int d = 0; d < RITZ_NUM_DIMS; d++) {
    if (p->size[d] < least || p->size[d] > most) return false;
  }
  return true;
}

// Products by tensor cores. Three and four warps of a matrix share its B; else warps take up to two tiles, as
// far as registers have room for their rows of A.
static bool plan_mma(RitzGpuBatched *p) {
  enum { MOST = 64, MOST_PARTS = 10, OTHERS = 64, REGISTERS_A_PART = 12 }; // 8 of A, 4 of B
  if (p->kind != RITZ_BATCH_PRODUCT || p->precision != CEED_SCALAR_FP64 || p->is_interleaved) return false;
  if (!has_sizes_up_to(p, 8, MOST)) return false;
  const int tiles = (int)(p->size[RITZ_DIM_M] + 15) / 16, parts = (int)(p->size[RITZ_DIM_K] + 7) / 8;
  p->shares = tiles > 2;
  p->num_tiles = tiles == 2 && 2 * parts <= MOST_PARTS ? 2 : 1;
  p->group = 32 * ((tiles + p->num_tiles - 1) / p->num_tiles);
  p->num_threads = p->shares ? p->group : 128;
  p->num_resident = resident_with(OTHERS + REGISTERS_A_PART * p->num_tiles * parts, p->num_threads);
  p->design = RITZ_BATCH_MMA;
  p->has_rows = true;
  return true;
}

// Two warps a matrix whose steps share their code. Multiprocessors have four parts, each with the same number
// of warps: so blocks are even in number.
static void plan_turns(RitzGpuBatched *p, CeedInt length) {
  const bool is_single = p->precision == CEED_SCALAR_FP32;
  const int registers = (int)length * (is_single ? 1 : 2) + (is_single ? 40 : 32);
  p->num_steps = length > 56 && p->kind == RITZ_BATCH_GETRF ? 4 : 8;
  p->num_resident = resident_with(registers, p->num_threads) / 2 * 2;
  p->design = RITZ_BATCH_ROLLED;
}

// Bytes of the lines that kernels/gpu/batched-rows.h declares for a block.
static int64_t bytes_of_lines(const RitzGpuBatched *p, CeedInt length) {
  enum { PACK_BYTES = 16, AT_ONCE = 4 };
  const int64_t in_pack = PACK_BYTES / (int64_t)ritz_scalar_bytes(p->precision);
  const int64_t packs = (length + in_pack - 1) / in_pack;
  const int64_t at_once = p->num_columns < AT_ONCE ? p->num_columns : AT_ONCE;
  const int64_t num =
      p->kind == RITZ_BATCH_PRODUCT ? (p->num_columns + at_once) * packs + 1 : 2 * (packs + 1);
  return p->num_threads / p->group * num * PACK_BYTES;
}

// Blocks of few long rows declare more than devices let them: fewer columns at a time, then fewer matrices.
static bool fit_lines(RitzGpuBatched *p, CeedInt length) {
  enum { MOST_BYTES = 46 << 10, LEAST_THREADS = 32 }; // of 48 KiB, with what pivots take
  while (bytes_of_lines(p, length) > MOST_BYTES) {
    if (p->kind == RITZ_BATCH_PRODUCT && p->num_columns > 1)
      p->num_columns--;
    else if (p->num_threads > LEAST_THREADS && p->num_threads > p->group)
      p->num_threads /= 2;
    else
      return false;
  }
  return true;
}

// Rows of the matrix that threads hold, and their length.
static bool plan_rows(RitzGpuBatched *p, int max_threads) {
  const bool is_product = p->kind == RITZ_BATCH_PRODUCT, is_lu = p->kind == RITZ_BATCH_GETRF;
  const CeedInt rows = is_product || is_lu ? p->size[RITZ_DIM_M] : p->size[RITZ_DIM_N];
  const CeedInt length = is_product ? p->size[RITZ_DIM_K] : p->size[RITZ_DIM_N];
  if (!has_sizes_up_to(p, 1, INT32_MAX)) return false;
  if (rows > RITZ_BATCH_MAX_ROWS || length > RITZ_BATCH_MAX_ROWS) return false;
  p->group = power_of_2(rows);
  p->num_threads = p->group > 32 ? p->group : 128;
  if (p->num_threads > max_threads) return false;
  p->num_columns = choose_columns(p);
  if (!fit_lines(p, length)) return false;
  p->num_resident = choose_resident(p, length);
  p->design = RITZ_BATCH_ROWS;
  p->has_rows = true;
  if (p->group == 64 && (p->kind == RITZ_BATCH_POTRF || (is_lu && p->has_pivots))) plan_turns(p, length);
  return true;
}

RitzGpuBatched ritz_plan_gpu_batched(const RitzBatched b, const RitzGpuBatchMachine *machine,
                                     bool is_uniform) {
  RitzGpuBatched p = {.kind = kind_of(b->operation),
                      .precision = b->precision,
                      .is_uniform = is_uniform,
                      .has_pivots = b->form.has_pivots,
                      .solves_twice =
                          b->operation == RITZ_BATCHED_GETRS || b->operation == RITZ_BATCHED_POTRS,
                      .is_symmetric = b->operation == RITZ_BATCHED_POTRS,
                      .target = b->precision};
  RitzBatchDim dim[RITZ_NUM_DIMS];
  int operand[RITZ_BATCHED_MAX_OPERANDS];
  describe_product(b, &p);
  ritz_gpu_batched_dims(b, dim);
  ritz_gpu_batched_operands(b, operand);
  for (int d = 0; d < RITZ_NUM_DIMS; d++) p.size[d] = dim[d] == RITZ_DIM_ONE ? 1 : b->size[dim[d]];
  for (int i = 0; i < RITZ_BATCHED_MAX_OPERANDS; i++) {
    const RitzBatchLayout *layout = ritz_batched_layout(&b->options, operand[i]);
    p.ld[i] = layout->ld;
    p.is_interleaved = p.is_interleaved || layout->width > 1;
  }
  if (b->operation == RITZ_BATCHED_COPY) p.target = b->options.B.precision;
  if (ritz_gpu_batched_moves(p.kind) || ritz_gpu_batched_is_orthogonal(p.kind)) return p;
  const bool is_done =
      machine->can_have_rows && ((machine->has_mma && plan_mma(&p)) || plan_rows(&p, machine->max_threads));
  if (!is_done) plan_any(&p, machine->max_threads);
  return p;
}

RitzGpuBatched ritz_plan_gpu_batched_large(const CeedInt size[RITZ_NUM_DIMS], const bool is_transposed[2],
                                           CeedScalarType precision, int max_threads) {
  RitzGpuBatched p = {.kind = RITZ_BATCH_PRODUCT,
                      .precision = precision,
                      .target = precision,
                      .takes_all = true,
                      .has_any_size = true};
  for (int d = 0; d < RITZ_NUM_DIMS; d++) p.size[d] = size[d];
  for (int i = 0; i < 2; i++) p.form[i] = is_transposed[i] ? RITZ_BATCH_IS_TRANSPOSED : 0;
  plan_any(&p, max_threads);
  return p;
}
