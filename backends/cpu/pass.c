// SPDX-License-Identifier: BSD-2-Clause
// Passes over vectors (core/vector-pass.h) on the threads of the context. A pass goes through blocks of
// entries that stay in the first cache: each term of a line is a loop over a block, so that every vector
// comes from memory once, whatever the form of the pass.
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/cpu.h"
#include "base/simd.h"
#include "core/vector-pass.h"

enum { BLOCK = 256 }; // entries: ten vectors and work are 28 KiB at most

#define RITZ_REAL       double
#define RITZ_LOOP(name) name##_doubles
#include "backends/cpu/pass-loops.h"
#undef RITZ_REAL
#undef RITZ_LOOP
#define RITZ_REAL       float
#define RITZ_LOOP(name) name##_floats
#include "backends/cpu/pass-loops.h"

// Sums of a slot, apart from those of other threads.
typedef struct {
  RitzSum sum[RITZ_PASS_SUMS];
} Sums;

typedef struct {
  const RitzPassArrays *arrays;
  const double *factors;
  Sums *sums; // [slots]; NULL: none
} Run;

typedef struct {
  _Alignas(64) double acc[BLOCK], widened[3][BLOCK];
} Work;

// Whether a line is the sum of multiples of two vectors, which then takes one loop; the factors.
static inline bool is_of_two(const Run *run, const RitzPassLine *line, double factors[2]) {
  if (line->num_terms != 2) return false;
  for (int t = 0; t < 2; t++) {
    factors[t] = line->term[t].factor < 0 ? 1 : run->factors[line->term[t].factor];
    if (line->term[t].y >= 0 || factors[t] == 0) return false;
  }
  return true;
}

// ---- Arithmetic in float: all vectors are ----

RITZ_INLINED void run_line_floats(const Run *run, const RitzPassLine *line, int64_t first, int64_t n,
                                  float *acc) {
  float *const *v = (float *const *)run->arrays->array;
  double two[2];
  bool adds = false;

  if (is_of_two(run, line, two)) {
    add_two_floats(n, (float)two[0], v[line->term[0].x] + first, (float)two[1], v[line->term[1].x] + first,
                   v[line->to] + first);
    return;
  }

  for (int t = 0; t < line->num_terms; t++) {
    const RitzPassTerm *term = &line->term[t];
    const float f = term->factor < 0 ? 1 : (float)run->factors[term->factor];
    if (term->factor >= 0 && run->factors[term->factor] == 0) continue;
    add_term_floats(n, adds, f, v[term->x] + first, term->y < 0 ? NULL : v[term->y] + first, acc);
    adds = true;
  }
  if (adds)
    memcpy(v[line->to] + first, acc, (size_t)n * sizeof(float));
  else
    memset(v[line->to] + first, 0, (size_t)n * sizeof(float));
}

RITZ_CLONED static void run_floats(void *data, int slot, int64_t first, int64_t count) {
  const Run *run = data;
  const RitzPass *pass = run->arrays->pass;
  float *const *v = (float *const *)run->arrays->array;
  _Alignas(64) float acc[BLOCK];
  const int64_t start = run->arrays->first + first, end = start + count;

  for (int64_t begin = start; begin < end; begin += BLOCK) {
    const int64_t n = end - begin < BLOCK ? end - begin : BLOCK;
    for (int k = 0; k < pass->num_lines; k++) run_line_floats(run, &pass->line[k], begin, n, acc);
    for (int k = 0; k < pass->num_sums; k++) {
      const RitzPassSum *sum = &pass->sum[k];
      add_products_floats(&run->sums[slot].sum[k], n, v[sum->x] + begin, v[sum->y] + begin,
                          sum->w < 0 ? NULL : v[sum->w] + begin);
    }
  }
}

// ---- Arithmetic in double ----

// Entries of a vector, those of float vectors in a copy.
RITZ_INLINED const double *widen(const Run *run, int vector, int64_t first, int64_t n, double *copy) {
  if (vector < 0) return NULL;
  const void *array = run->arrays->array[vector];
  if (run->arrays->precision[vector] != CEED_SCALAR_FP32) return (const double *)array + first;
  for (int64_t i = 0; i < n; i++) copy[i] = (double)((const float *)array)[first + i];
  return copy;
}

RITZ_INLINED void put(const Run *run, int vector, int64_t first, int64_t n, const double *from) {
  void *array = run->arrays->array[vector];
  if (run->arrays->precision[vector] != CEED_SCALAR_FP32)
    memcpy((double *)array + first, from, (size_t)n * sizeof(double));
  else
    for (int64_t i = 0; i < n; i++) ((float *)array)[first + i] = (float)from[i];
}

RITZ_INLINED void run_line_doubles(const Run *run, const RitzPassLine *line, int64_t first, int64_t n,
                                   Work *work) {
  const bool is_rounded = run->arrays->precision[line->to] == CEED_SCALAR_FP32;
  double *to = is_rounded ? work->acc : (double *)run->arrays->array[line->to] + first, two[2];
  bool adds = false;

  if (is_of_two(run, line, two)) {
    add_two_doubles(n, two[0], widen(run, line->term[0].x, first, n, work->widened[0]), two[1],
                    widen(run, line->term[1].x, first, n, work->widened[1]), to);
    if (is_rounded) put(run, line->to, first, n, to);
    return;
  }

  for (int t = 0; t < line->num_terms; t++) {
    const RitzPassTerm *term = &line->term[t];
    const double f = term->factor < 0 ? 1 : run->factors[term->factor];
    if (f == 0) continue;
    add_term_doubles(n, adds, f, widen(run, term->x, first, n, work->widened[0]),
                     widen(run, term->y, first, n, work->widened[1]), work->acc);
    adds = true;
  }
  if (!adds) memset(work->acc, 0, (size_t)n * sizeof(double));
  put(run, line->to, first, n, work->acc);
}

RITZ_CLONED static void run_doubles(void *data, int slot, int64_t first, int64_t count) {
  const Run *run = data;
  const RitzPass *pass = run->arrays->pass;
  Work work;
  const int64_t start = run->arrays->first + first, end = start + count;

  for (int64_t begin = start; begin < end; begin += BLOCK) {
    const int64_t n = end - begin < BLOCK ? end - begin : BLOCK;
    for (int k = 0; k < pass->num_lines; k++) run_line_doubles(run, &pass->line[k], begin, n, &work);
    for (int k = 0; k < pass->num_sums; k++) {
      const RitzPassSum *sum = &pass->sum[k];
      add_products_doubles(&run->sums[slot].sum[k], n, widen(run, sum->x, begin, n, work.widened[0]),
                           widen(run, sum->y, begin, n, work.widened[1]),
                           widen(run, sum->w, begin, n, work.widened[2]));
    }
  }
}

// ---- Slots ----

static void add_up(const RitzPass *pass, int num_slots, const Sums *of_slots, double *sums) {
  for (int k = 0; k < pass->num_sums; k++) {
    RitzTotal total = {0};
    for (int s = 0; s < num_slots; s++) ritz_total_add(&total, &of_slots[s].sum[k]);
    sums[k] = total.value + total.rest;
  }
}

// By as many threads as have bytes to move.
static int run_shared(Ceed ceed, const RitzPassArrays *arrays, Run *run) {
  int64_t bytes = 0;

  for (int i = 0; i < arrays->pass->num_vectors; i++)
    bytes += (int64_t)ritz_scalar_bytes(arrays->precision[i]);
  return ritz_cpu_run_grained(ceed, arrays->n, RITZ_RANGE_BYTES / bytes,
                              ritz_pass_is_single(arrays) ? run_floats : run_doubles, run);
}

// Solvers sum in every iteration: nothing is allocated for as many threads as most machines have.
static int run_with_sums(Ceed ceed, const RitzPassArrays *arrays, Run *run, double *sums) {
  enum { NUM_FEW = 32 };
  Sums few[NUM_FEW];
  int num_slots = 0;

  RITZ_TRY(ritz_cpu_run_ranges_slots(ceed, &num_slots));
  if (num_slots > NUM_FEW) {
    RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num_slots, &run->sums));
  } else {
    run->sums = memset(few, 0, (size_t)num_slots * sizeof(*few));
  }
  const int ierr = run_shared(ceed, arrays, run);
  if (!ierr) add_up(arrays->pass, num_slots, run->sums, sums);
  if (run->sums != few) RITZ_FREE(&run->sums);
  return ierr;
}

int ritz_cpu_vector_pass(Ceed ceed, const RitzPassArrays *arrays, const double *factors, double *sums) {
  Run run = {.arrays = arrays, .factors = factors};

  return arrays->pass->num_sums > 0 ? run_with_sums(ceed, arrays, &run, sums)
                                    : run_shared(ceed, arrays, &run);
}
