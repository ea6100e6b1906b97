// SPDX-License-Identifier: BSD-2-Clause
// How devices do batched dense algebra (core/batched.h): kernels and sizes of blocks. Pure functions of
// numbers. Called by backends/gpu/batched.c; texts: emit/gpu-batched.c.
#ifndef RITZ_PLAN_GPU_BATCHED_H
#define RITZ_PLAN_GPU_BATCHED_H

#include "core/batched.h"

// Kinds of kernels: products, triangular solves, factorizations, inverses, reflectors, rotations.
typedef enum {
  RITZ_BATCH_PRODUCT, // GEMM, GEMV, SYRK, SYMM, SYMV, TRMM
  RITZ_BATCH_SOLVE,   // GETRS, POTRS, TRSM, TRSV
  RITZ_BATCH_POTRF,
  RITZ_BATCH_GETRF,
  RITZ_BATCH_GETRI,
  RITZ_BATCH_INV,
  RITZ_BATCH_COPY, // up to LASWP: kernels/gpu/batched-move.h
  RITZ_BATCH_GEAM,
  RITZ_BATCH_LASET,
  RITZ_BATCH_LASWP,
  RITZ_BATCH_GEQRF, // from here on kernels of gpu-batched-orthogonal.c
  RITZ_BATCH_ORMQR,
  RITZ_BATCH_ORGQR,
  RITZ_BATCH_GELS,
  RITZ_BATCH_SYEVJ,
  RITZ_BATCH_GESVDJ,
} RitzBatchKind;

// As in kernels/gpu/batched.h: in forms of operands; how operands of products are read.
enum { RITZ_BATCH_WIDTH_BITS = 7, RITZ_BATCH_IS_TRANSPOSED = 16 };
enum {
  RITZ_BATCH_MASK_TRIANGLE = 1,
  RITZ_BATCH_MASK_LOWER = 2,
  RITZ_BATCH_MASK_MIRRORED = 4,
  RITZ_BATCH_MASK_UNIT = 8
};

// Texts of kernels.
typedef enum {
  RITZ_BATCH_ANY,     // kernels/gpu/batched-any.h: sizes at run time, in global memory
  RITZ_BATCH_ROWS,    // batched-rows.h: a row a thread
  RITZ_BATCH_ROLLED,  // batched-rolled.h: likewise, 33 to 64 rows, GETRF with pivots and POTRF: steps share
                      // code
  RITZ_BATCH_MMA,     // batched-mma.h: products of doubles by tensor cores
  RITZ_BATCH_QR,      // batched-qr.h: a block a matrix of any size, in shared memory where it fits
  RITZ_BATCH_JACOBI,  // batched-jacobi.h: likewise
  RITZ_BATCH_COLUMNS, // batched-qr-columns.h: GEQRF up to 32 x 32, a column a thread
} RitzBatchDesign;

// m, n, k of a kernel: C m x n with k products; unknowns n, columns k; A m x n.
typedef struct {
  RitzBatchKind kind;
  CeedScalarType precision;
  CeedInt size[RITZ_NUM_DIMS]; // bounds
  RitzBatchDesign design;
  bool has_rows;                         // sizes are compiled in: ROWS, TURNS, MMA
  bool has_blocks;                       // instead of RITZ_BATCH_ANY: batched-blocks.h
  CeedInt ld[RITZ_BATCHED_MAX_OPERANDS]; // of the layouts; the caller's: how operands are turned
  int form[RITZ_BATCHED_MAX_OPERANDS];   // without pointers
  bool is_uniform;                       // sizes are those of all matrices
  bool takes_all;                        // not uniform: there are no other classes
  bool has_any_size;                     // bounds are arguments: one kernel for all sizes
  bool is_transposed[2];                 // A, B of products
  int mask[2];                           // how they are read
  int keeps;           // products: the triangle of C that is written, 1: lower, 2: upper; 0: all of it
  int in_place;        // products: C is B: 1, A: 2; 0: neither
  bool is_interleaved; // some operand
  bool has_pivots;     // GETRF, GETRS, GETRI
  bool solves_twice, is_symmetric;
  int num_threads;  // of a block
  int group;        // has_rows: threads of a matrix; rows: a power of 2; mma: whole warps
  int num_resident; // has_rows: blocks of a multiprocessor, which bounds the registers of a thread
  int num_columns;  // rows: right-hand sides, or columns of C, at a time
  int num_steps;    // turns: that share their code
  int num_tiles;    // mma: tiles of 16 rows of a warp
  bool shares;      // mma: B in shared memory, a matrix a block
  int work;         // batched-any.h: room for a column; 0: none
  // batched-blocks.h:
  bool holds;                // the matrix lies in shared memory while it is factored
  int warp_rows, warp_cols;  // products: entries of C of a warp; 0: with triangles, 32 x 32, or one column
  int tile_rows, tile_cols;  // and warps of a block, which takes parts of C in turns
  int num_stages, num_parts; // parts of operands in shared memory; blocks that share a matrix
  int64_t shared_bytes;
  // batched-move.h:
  bool has_tiles;                       // the kernel
  CeedScalarType target;                // precision of the result
  int tile[RITZ_NUM_DIMS];              // rows, columns, matrices of a tile
  bool is_in_memory;                    // swaps: without shared memory
  int order[RITZ_BATCHED_MAX_OPERANDS]; // of entries in memory: bits RITZ_BATCH_COLUMNS_FIRST, ...
  // batched-qr.h, batched-jacobi.h (with holds, shared_bytes and work):
  int num_lanes; // threads that share a column
  int64_t room;  // entries of global memory that a block needs beside the operands
} RitzGpuBatched;

static inline bool ritz_gpu_batched_moves(RitzBatchKind kind) {
  return kind >= RITZ_BATCH_COPY && kind <= RITZ_BATCH_LASWP;
}

enum { RITZ_BATCH_COLUMNS_FIRST = 1, RITZ_BATCH_MATRICES_FIRST = 2 };

enum {
  RITZ_BATCH_MAX_ROWS = 64,      // order of matrices for batched-rows.h
  RITZ_BATCH_MAX_BLOCKS = 512,   // for factorizations and solves of batched-blocks.h
  RITZ_BATCH_MAX_INVERSE = 2048, // order of matrices whose column and pivots fit into shared memory
};

// Properties of a device that plans use.
typedef struct {
  int max_threads;    // of a block
  bool can_have_rows; // false: RITZ_BATCH_ANY alone
  bool has_mma;       // tensor cores of doubles
} RitzGpuBatchMachine;

// Kernels have operands A, B and C (the result of products and of batched-move.h; other results are where the
// operation has them): the operand of the call; and the dimension of the operation that is m, n, k.
void ritz_gpu_batched_operands(const RitzBatched batched, int operand[RITZ_BATCHED_MAX_OPERANDS]);
void ritz_gpu_batched_dims(const RitzBatched batched, RitzBatchDim dim[RITZ_NUM_DIMS]);
// Options of a product, for kernels of any size.
int ritz_gpu_batched_product_options(const RitzGpuBatched *plan);
// The kernel of this operation. Of the texts, sizes and layouts decide: equal matrices have equal results in
// uniform and other batches.
RitzGpuBatched ritz_plan_gpu_batched(const RitzBatched batched, const RitzGpuBatchMachine *machine,
                                     bool is_uniform);
// The kernel of products of these sizes m, n, k, which it takes as arguments: ritz_plan_gpu_batched_blocks
// may choose a better one.
RitzGpuBatched ritz_plan_gpu_batched_large(const CeedInt size[RITZ_NUM_DIMS], const bool is_transposed[2],
                                           CeedScalarType precision, int max_threads);
// Non-uniform batches: matrices of a class have sizes up to its bound in the one or two dimensions that count
// (gpu-batched-classes.c), and kernels that know it. Matrices of a size are in one class whatever is beside
// them.
enum { RITZ_BATCH_MAX_CLASSES = 16 }; // as in kernels/gpu/batched-classes.h, with the same bounds
int ritz_gpu_batched_num_classes(const RitzBatched batched);
int ritz_gpu_batched_class_of(const RitzBatched batched, CeedInt size);
int ritz_gpu_batched_class_dims(const RitzBatched batched, RitzBatchDim dims[2]); // their number
RitzGpuBatched ritz_plan_gpu_batched_class(const RitzBatched batched, const RitzGpuBatchMachine *machine,
                                           int number);
// Where the kernel would be batched-any.h and batched-blocks.h has the operation and the sizes: that one.
// shared_bytes: what a block may have.
// Who has matrices in shared memory: reflectors and rotations; factorizations, too; nobody.
typedef enum { RITZ_BATCH_HOLDS_SOME, RITZ_BATCH_HOLDS_ALL, RITZ_BATCH_HOLDS_NONE } RitzBatchHolding;
void ritz_plan_gpu_batched_blocks(RitzGpuBatched *plan, int max_threads, int64_t shared_bytes,
                                  RitzBatchHolding holding); // gpu-batched-blocks.c
// Copies, sums, constants and swaps: tiles of `plan`, whose forms are known. is_plain: one kernel for all
// sizes and layouts.
void ritz_plan_gpu_batched_move(RitzGpuBatched *plan, int max_threads, bool is_plain); // gpu-batched-moves.c
int64_t ritz_gpu_batched_tiles(const RitzGpuBatched *plan, int64_t count);
// Kernels of reflectors and rotations: one for all sizes up to the bounds, so that equal matrices have equal
// bits.
typedef struct {
  bool has_warps;    // not a processor that plays a device
  bool can_hold;     // matrices may lie in shared memory
  bool has_columns;  // and columns in registers
  int64_t num_bytes; // that a block may have
} RitzGpuBatchShared;
bool ritz_gpu_batched_is_orthogonal(RitzBatchKind kind); // gpu-batched-orthogonal.c
bool ritz_gpu_batched_fits_work(const RitzGpuBatched *plan);
void ritz_plan_gpu_batched_orthogonal(const RitzBatched batched, const RitzGpuBatchShared *shared,
                                      RitzGpuBatched *plan);
// Blocks for so many matrices.
static inline int64_t ritz_gpu_batched_blocks(const RitzGpuBatched *p, int64_t count) {
  if (p->has_tiles) return ritz_gpu_batched_tiles(p, count);
  const bool has_groups = p->has_rows || p->design == RITZ_BATCH_COLUMNS;
  const int64_t per_block = has_groups ? p->num_threads / p->group : 1;
  return p->has_blocks ? count * p->num_parts : (count + per_block - 1) / per_block;
}

#endif
