// SPDX-License-Identifier: BSD-2-Clause
// Blocks of sweeps over vertex patches on devices (contract in plan/gpu-patch.h).
#include "plan/gpu-patch.h"

#include <math.h>

#include "plan/lines.h"

static int ceil_div(int a, int b) { return (a + b - 1) / b; }

// ---- Blocks ----

// Lines of a patch along one direction.
static int num_lines(CeedInt dim, CeedInt degree) {
  const int n = 2 * degree - 1;
  return dim == 3 ? n * n : n;
}

// Patches whose lines fill warps: 128 threads, but 5 x 5 lines 160, and 7 x 7 and 9 x 9 lines 256, as
// measured on an H200.
static int wanted_patches(CeedInt dim, CeedInt degree) {
  static const int of_cubes[6] = {0, 64, 128, 160, 256, 256}; // by degree
  const int most = degree == 1 ? 64 : dim == 3 && degree < 6 ? of_cubes[degree] : 128;
  const int num = most / num_lines(dim, degree);
  return num < 1 ? 1 : num;
}

// Blocks that a multiprocessor of 65536 registers is to hold, as compiled without spills (doc/gpu.md).
static int wanted_resident(const RitzGpuPatch *p) {
  static const unsigned char doubles[17] = {1, 16, 12, 10, 4, 4, 6, 4, 3, 2, 2, 1, 1, 1, 1, 1, 1};
  static const unsigned char floats[17] = {1, 16, 16, 16, 8, 8, 8, 8, 5, 4, 2, 2, 2, 2, 2, 1, 1};
  const bool is_single = p->precision == CEED_SCALAR_FP32;
  if (p->dim == 3 && p->degree == 3) return is_single ? 12 : 8; // larger blocks than in 2D
  return is_single ? floats[p->degree] : doubles[p->degree];
}

static int num_columns(const RitzGpuPatch *p) { return p->num_patches * (2 * p->degree - 1); }

// Places of the array for this stride (kernels/gpu/patch.h).
static int64_t num_places(const RitzGpuPatch *p) {
  const int64_t n = 2 * p->degree - 1;
  return (n + 2) * p->plane + (p->dim == 3 ? 2 * n * num_columns(p) : 0);
}

// ---- Strides ----

enum { ALONG_MIDDLE, ALONG_INNER, ENDS_ALONG_MIDDLE };

static int num_tasks(const RitzGpuPatch *p, int kind) {
  return kind == ENDS_ALONG_MIDDLE ? (2 * p->degree + 1) * (p->num_patches + 1)
                                   : num_lines(p->dim, p->degree) * p->num_patches;
}

// Where the line of a thread begins. Lines along outer begin side by side.
static int line_begin(const RitzGpuPatch *p, int kind, int line) {
  const int n = 2 * p->degree - 1, columns = num_columns(p), ends = p->num_patches + 1;
  if (kind == ALONG_MIDDLE) return line / columns * p->plane + line % columns;
  if (kind == ENDS_ALONG_MIDDLE) return line / ends * p->plane + line % ends;
  return line % p->num_patches * n + line / p->num_patches % n * p->plane +
         line / (p->num_patches * n) * p->step % n * columns;
}

// Accesses of groups of threads, one after the other where they meet in a bank.
static int count_accesses(const RitzGpuPatch *p, int kind, int num_banks) {
  const int all = num_tasks(p, kind);
  int num = 0;
  for (int begin = 0; begin < all; begin += num_banks) {
    int counts[RITZ_MAX_BANKS] = {0}, fullest = 0;
    for (int line = begin; line < all && line < begin + num_banks; line++) {
      const int count = ++counts[line_begin(p, kind, line) % num_banks];
      fullest = count > fullest ? count : fullest;
    }
    num += fullest;
  }
  return num;
}

static int greatest_divisor(int a, int b) { return b == 0 ? a : greatest_divisor(b, a % b); }

// The order of lines along inner with the fewest accesses for this stride.
static int choose_step(RitzGpuPatch *p, int num_banks) {
  const int n = 2 * p->degree - 1;
  int best = 1, fewest = 0;
  for (p->step = 1; p->step < n || p->step == 1; p->step++) {
    if (greatest_divisor(n, p->step) > 1) continue;
    const int num = count_accesses(p, ALONG_INNER, num_banks);
    if (p->step > 1 && num >= fewest) continue;
    fewest = num;
    best = p->step;
  }
  p->step = best;
  return fewest;
}

// Memory counts, too: what blocks leave is the first cache, and more blocks fit.
static void choose_strides(RitzGpuPatch *p) {
  const int num_banks = p->precision == CEED_SCALAR_FP32 ? 32 : 16,
            rows = p->dim == 3 ? 2 * p->degree + 1 : 1;
  const int least = rows * (num_columns(p) + p->num_patches + 1);
  RitzGpuPatch best = *p;
  double best_cost = HUGE_VAL;
  for (p->plane = least; p->plane < least + num_banks; p->plane++) {
    // Weights: reads and writes of a node, along inner also reads of a cap and a side.
    double cost = 3.0 * choose_step(p, num_banks);
    if (p->dim == 3)
      cost += 4.0 * count_accesses(p, ALONG_MIDDLE, num_banks) +
              2.0 * count_accesses(p, ENDS_ALONG_MIDDLE, num_banks);
    cost *= (double)num_places(p);
    if (cost >= best_cost) continue;
    best_cost = cost;
    best = *p;
  }
  *p = best;
}

// ---- Choice ----

static void make_blocks(RitzGpuPatch *p, int num_patches, int max_threads) {
  const int lines = num_lines(p->dim, p->degree) * num_patches, most = max_threads < 256 ? max_threads : 256;
  const int rounds = ceil_div(lines, most), warps = ceil_div(ceil_div(lines, rounds), 32);
  p->num_patches = num_patches;
  p->num_threads = 32 * warps > max_threads ? max_threads : 32 * warps;
  choose_strides(p);
  p->shared_bytes = num_places(p) * (int64_t)ritz_scalar_bytes(p->precision);
}

RitzGpuPatch ritz_plan_gpu_patch(CeedInt dim, CeedInt degree, CeedScalarType precision, int64_t shared_bytes,
                                 int max_threads, int num_patches, int num_resident) {
  RitzGpuPatch p = {.dim = dim, .degree = degree, .precision = precision};
  const int most = RITZ_PATCH_NODES / (2 * degree),
            wanted = num_patches > 0 ? num_patches : wanted_patches(dim, degree);
  int num = wanted < most ? wanted : most;
  for (; num > 0; num--) {
    make_blocks(&p, num, max_threads);
    if (p.shared_bytes <= shared_bytes) break;
  }
  p.num_patches = num;
  p.num_resident = num_resident > 0 ? num_resident : wanted_resident(&p);
  return p;
}

RitzGpuPatchAny ritz_plan_gpu_patch_any(const RitzPatchBox *box, int64_t shared_bytes, int max_threads) {
  const int64_t n = 2 * box->degree - 1, m = n + 2, n2 = box->dim == 3 ? n : 1, m2 = box->dim == 3 ? m : 1;
  const int64_t faces = 2 * (m * m2 + n * m2 + n * n2);
  RitzGpuPatchAny p = {.dim = box->dim, .degree = box->degree, .form = box->form};
  p.num_threads = max_threads < 128 ? max_threads : 128;
  p.num_places = box->form == RITZ_PATCH_LIFTED ? 2 * n * n * n2 + box->dim * faces
                                                : m * m * m2 + 2 * n * m * m2 + n * n * m2;
  p.shared_bytes = p.num_places * (int64_t)ritz_scalar_bytes(box->precision);
  p.is_in_shared = p.shared_bytes <= shared_bytes;
  if (!p.is_in_shared) p.shared_bytes = 0;
  return p;
}
