// SPDX-License-Identifier: BSD-2-Clause
// The figures by which targets of devices are chosen, each with what it was fitted to. Times are of one
// NVIDIA H200 (sm_90, CUDA 13.0, doubles) on about 8 million degrees of freedom, rates in 10^9 degrees of
// freedom a second; problems and tables: doc/performance-gpu.md. 'Compiled kernels': registers and spills as
// NVRTC tells them (test-nvrtc-kernels). 'Not on record': no measurement of this figure was kept, which does
// not mean that none was made. Called by plan/gpu*.c; the rules are there and in doc/gpu.md.
#ifndef RITZ_PLAN_GPU_MODEL_H
#define RITZ_PLAN_GPU_MODEL_H

// ---- Facts of devices ----

enum {
  RITZ_GPU_WARP = 32,
  RITZ_GPU_MOST_REGISTERS = 255,  // of a thread, 32 bits each
  RITZ_GPU_MOST_BLOCKS = 32,      // of a multiprocessor
  RITZ_GPU_SCHEDULERS = 4,        // of a multiprocessor; warps and registers are shared out among them
  RITZ_GPU_REGISTER_UNIT = 8,     // registers are given to threads in such portions
  RITZ_GPU_RESERVED_BYTES = 1024, // of shared memory, for the system
  RITZ_GPU_MMA_PLACES = 8         // of a line that tensor cores multiply: m16n8k8
};

// ---- Loops over points ----

enum {
  // Points of a line times scalars of the function's arguments for which the loop is unrolled. Lines that are
  // not unrolled lie in local memory: BP3 p = 7 falls from 26 to 15. The bound itself: not on record; no
  // bake-off problem up to p = 8 has more than 280.
  RITZ_GPU_POINT_WORK = 600,
  // Work for all points of a whole element. 0e27ce6: BP1, BP2, BP6 p = 1 10.8, 15.0, 13.7 -> 15.5, 24.9,
  // 19.5, of which BP6 has 192. The bound itself: not on record.
  RITZ_GPU_ELEMENT_WORK = 200,
  // Work for a whole element whose points take no data and compute no geometry. a44d31b: affine BP1, 3, 5 p =
  // 2 33.7, 17.7, 33.8 -> 52.4, 30.1, 50.2 as whole elements. The bound itself: not on record.
  RITZ_GPU_LIGHT_ELEMENT_WORK = 900,
  // Diagonals: points of a line times scalars of arguments times calls at a point. Not on record.
  RITZ_GPU_DIAGONAL_WORK = 1200,
  // Pairs of active modes of a diagonal, each of them a line of text: NVRTC takes 1 s for 2500, 14 s for
  // 10000.
  RITZ_GPU_DIAGONAL_PAIRS = 1024,
  // Points of a line of values alone up to which points are not kept apart where geometry is computed. That
  // the fence costs where registers allow to do without: a44d31b, with a faster quotient, BP5 trilinear
  // p = 4, 7 43.1, 61.4 -> 45.8, 65.1. This bound: not on record.
  RITZ_GPU_SHORT_LINE = 7
};

// ---- Dense bases by tensor cores ----

enum {
  // Warps of a block, of 16 elements each: of 2, 4 and 8, and as many blocks as fit, what `ritz tune` chose
  // on
  // an H200 for tetrahedra, BP1 and BP3 of degree 3 to 6.
  RITZ_GPU_TILE_WARPS = 4,
  // Bytes of the matrices in the memory of a block, and of data at points that its threads copy ahead.
  RITZ_GPU_STAGED_BYTES = 36 << 10,
  RITZ_GPU_AHEAD_BYTES = 32 << 10,
  // Bytes of the matrices of a tile, from which on data of two tiles are there. H200, BP3 on tetrahedra,
  // GDOF/s with those of one and of two: p = 3 9.57, 9.14; p = 4 8.88, 8.94; p = 5 8.40, 8.19; p = 6, 17 KB,
  // 7.43, 8.05.
  RITZ_GPU_LARGE_TILE_BYTES = 16 << 10,
  // Nodes of an element times values and derivatives at a point, from which on tensor cores are the choice.
  // H200, tetrahedra: with 30 (BP3 p = 2) 1.1 times threads of elements and points, with 12 the same, with 10
  // (BP1 p = 2) 0.95.
  RITZ_GPU_LEAST_TILE = 20,
  // Numbers of a thread: nodes and sums, twice the values at its points. Compiled for sm_90, diffusion with
  // 56
  // nodes has 80 of them and takes 234 registers; these do not all fit 255.
  RITZ_GPU_TILE_NUMBERS = 128
};

// ---- Derivatives ----

// Nodes a direction up to which each derivative has a sweep of its own. BP3 affine p = 4 to 8 with a sweep
// each 35.5, 37.8, 46.6, 44.2, 43.1, at the points 32.4, 38.2, 44.4, 46.0, 43.6; each from the nodes at p = 4
// (5 nodes) costs stored factors 4 %, trilinear geometry 9 %.
enum { RITZ_GPU_MOST_DIRECT = 4 };

// ---- Elements of a block ----

enum {
  // Threads of a block, at most. `ritz tune`, which varies elements, finds nothing better for BP1, BP5 p = 4
  // and
  // BP6 p = 2, 4 % for BP6 p = 8. The bound itself: not on record.
  RITZ_GPU_MODEL_THREADS = 192,
  // Lines of points in an element with geometry between which blocks may have more threads, the latter where
  // nodes are points. a44d31b: BP3 trilinear p = 5, 7 27.5, 32.4 -> 29.6, 36.7. Single bounds not on record.
  RITZ_GPU_LEAST_BUSY = 49,
  RITZ_GPU_MOST_BUSY = 128,
  RITZ_GPU_MOST_BUSY_IDENTITY = 64,
  RITZ_GPU_BUSY_THREADS = 256, // at most then
  // Values alone: a multiple of so many elements with two nodes a direction, twice as many with lines of so
  // many places at most. Not on record.
  RITZ_GPU_SIDE_BY_SIDE = 16,
  RITZ_GPU_SHORT_VALUES = 4,
  // Blocks that are to fit the memory of a multiprocessor, at the cost of elements. Not on record.
  RITZ_GPU_ROOMY_BLOCKS = 3
};
// Price of a thread more in a block, as a share of idle threads: waits at barriers. With geometry: a44d31b,
// above. Else not on record.
#define RITZ_GPU_THREAD_PRICE      0.0008
#define RITZ_GPU_BUSY_THREAD_PRICE 0.0003

// ---- Registers of a thread ----

enum {
  // Beside numbers of lines and points: addresses and such. By what kernels do with geometry: fitted to `ritz
  // tune`, a44d31b (rates above); table of registers: doc/performance-gpu.md, 'Computed geometry'.
  RITZ_GPU_OTHER_REGISTERS = 40,
  RITZ_GPU_IDENTITY_REGISTERS = 20,
  RITZ_GPU_GRADIENT_REGISTERS = 15,
  RITZ_GPU_VALUE_REGISTERS = 11,
  // Data at points that are read ahead, and arguments of an unrolled point: one in so many is held at once.
  // Compiled kernels; not on record.
  RITZ_GPU_AHEAD = 4,
  RITZ_GPU_POINT_SHARE = 2,
  // Numerator and denominator of the least share of the registers it wants that a thread with geometry gets.
  // `ritz tune` tries one block more and fewer; not on record.
  RITZ_GPU_LEAST_SHARE = 6,
  RITZ_GPU_WHOLE_SHARE = 7
};

// ---- Blocks of a multiprocessor ----

// Quarters of its memory that blocks take, which leaves the rest to the cache: BP6 p = 7 0.170 -> 0.150 ms
// with fewer blocks. At least ROOMY_BLOCKS, if they fit.
enum { RITZ_GPU_MEMORY_QUARTERS = 3 };

// ---- Several vectors at once ----

enum {
  // Vectors of an element that a thread takes, at most by the model.
  RITZ_GPU_TOGETHER = 4,
  // Twice as many vectors a thread: least ratio, in eighths, of what the threads of a multiprocessor have
  // together, from one to two and from two to four. H200, 8 vectors, rates with 1, 2, 4 of a thread by those
  // of applies to one, behind the ratios: BP5 p = 4 1.21, 1.40, 1.70 (2.0, 1.14); p = 7 1.43, 1.74, 1.33
  // (1.5, 1.0); BP3 p = 4 1.14, 1.32, 1.34 (1.5, 1.2); p = 7 1.19, 1.17, 1.09 (1.33, 1.0).
  RITZ_GPU_TWO_EIGHTHS = 12,
  RITZ_GPU_FOUR_EIGHTHS = 9
};

// ---- Whole elements ----

enum {
  // Nodes and points a direction; one more where points have no data (0e27ce6 and a44d31b, above), and in
  // single precision: BP1 p = 2 0.186 -> 0.135 ms.
  RITZ_GPU_ELEMENT_NODES = 2,
  RITZ_GPU_ELEMENT_POINTS = 3,
  // Data at points for each value at a node; with more, lines keep more reads on the way. Not on record.
  RITZ_GPU_ELEMENT_DATA = 4,
  // The most registers that the model may count where points have no data or the choice is given: the
  // compiler may need fewer. Compiled kernels: trilinear BP5 p = 2 has 255, trilinear BP3 p = 1 spills up to
  // 768 bytes.
  RITZ_GPU_ELEMENT_REGISTERS = 320,
  // Quarters of the numbers counted that are held at once. Compiled kernels; not on record.
  RITZ_GPU_HELD_QUARTERS = 3,
  // Sixths of the registers wanted with geometry and two nodes a direction: more threads. a44d31b: BP1, 3, 5
  // trilinear p = 1 12.4, 4.9, 15.2 -> 14.7, 6.4, 18.6, together with additions of each its own.
  RITZ_GPU_CORNER_SIXTHS = 5,
  RITZ_GPU_ELEMENT_BLOCKS = 4 // of a multiprocessor at least, by their memory; not on record
};

// ---- Dense bases ----

// Dense bases are bounded by loads (plan/gpu-dense.c). None of these figures is on record.
enum {
  RITZ_GPU_MOST_ELEM_PER_THREAD = 8, // elements of a thread
  RITZ_GPU_KEPT_BYTES = 288,         // of a thread's sums in registers
  RITZ_GPU_MOST_REUSE = 12,          // components times elements that an entry serves
  RITZ_GPU_DENSE_LEAST = 64,         // threads of a block
  RITZ_GPU_DENSE_MOST = 256,
  RITZ_GPU_LEAST_SHARING = 32,   // elements of a block, where matrices do not stay in the first cache
  RITZ_GPU_CACHED_BYTES = 32768, // matrices that do
  RITZ_GPU_POINTS_OF_THREAD = 16 // at most, without bases
};
// In shares of idle threads: of a block with fewer threads; of a thread more, where matrices do not stay in
// the first cache (else THREAD_PRICE); of a block whose elements share nothing then.
#define RITZ_GPU_DENSE_SMALL        0.2
#define RITZ_GPU_DENSE_THREAD_PRICE 0.0002
#define RITZ_GPU_DENSE_UNSHARED     0.3

// ---- Compilers and stacks ----

enum {
  // Spaces of a kernel: compilers take minutes over hundreds (3fd48f0).
  RITZ_GPU_MOST_SPACES = 64,
  // Lines of a space's contractions on a stack, where compilers keep nothing in registers (PoCL); with a
  // sweep
  // for each derivative. Estimates, of which half of the stack's limit may be used; not on record.
  RITZ_GPU_SCRATCH = 16,
  RITZ_GPU_SCRATCH_DIRECT = 24
};

#endif
