// SPDX-License-Identifier: BSD-2-Clause
// Conjugate gradients: passes over vectors with their sums, and steps that follow from sums without the host.
// Run by backends/gpu/cg.c, all with the same number of blocks.
//
// Sums are made in a fixed order: a thread adds its entries with compensation, a block its threads, and each
// block of the pass that needs a sum the numbers of all blocks, `partial`. Constrained entries are bits of
// `mask`; mask and inverse, the preconditioner, may be NULL. Two records, each of four doubles, take turns:
// before iteration k, `number`, of the last one and after it of this one.
#ifndef RITZ_KERNELS_GPU_CG_H
#define RITZ_KERNELS_GPU_CG_H

#define RITZ_CG_PQ    0
#define RITZ_CG_RR    1
#define RITZ_CG_RZ    2
#define RITZ_CG_SCALE 3 // r, p and q are divided by it, x is not

// Numbers of blocks in `partial`, which has one array for each.
#define RITZ_CG_AT_PQ 0 // first
#define RITZ_CG_AT_RR 2
#define RITZ_CG_AT_RZ 3

#define RITZ_CG_LARGEST 1.7976931348623157e308 // finite number

// ---- Sums ----

typedef struct {
  double value, rest;
} RitzCgSum;

RITZ_INLINE void ritz_cg_add(RitzCgSum *sum, double term) {
  double total = sum->value + term, part = total - sum->value;
  sum->rest += (sum->value - (total - part)) + (term - part);
  sum->value = total;
}

#define RITZ_CG_SCRATCH 272

// The sum over the threads of the block, which all get.
RITZ_INLINE double ritz_cg_sum_of_block(double mine, RITZ_SHARED double *scratch) {
  int t = RITZ_THREAD;
  double sum = 0;
  scratch[t] = mine;
  RITZ_BARRIER();
  if (t < 16) {
    RITZ_UNROLL
    for (int k = 0; k < 16; k++) sum += scratch[t + 16 * k];
    scratch[256 + t] = sum;
  }
  RITZ_BARRIER();
  sum = 0;
  RITZ_UNROLL
  for (int k = 0; k < 16; k++) sum += scratch[256 + k];
  return sum;
}

RITZ_INLINE double ritz_cg_largest_of_block(double mine, RITZ_SHARED double *scratch) {
  double largest = mine;
  scratch[RITZ_THREAD] = mine;
  RITZ_BARRIER();
  RITZ_ROLL
  for (int t = 0; t < 256; t++) {
    if (scratch[t] > largest) largest = scratch[t];
  }
  RITZ_BARRIER();
  return largest;
}

// The sum over all blocks.
RITZ_INLINE double ritz_cg_total(RITZ_GLOBAL const double *partial, int num, RITZ_SHARED double *scratch) {
  double sum = 0;
  for (int b = RITZ_THREAD; b < num; b += 256) sum += partial[b];
  return ritz_cg_sum_of_block(sum, scratch);
}

RITZ_INLINE int ritz_cg_num_blocks(void) { return (int)(RITZ_NUM_ITEMS / 256); }

RITZ_INLINE void ritz_cg_keep(double mine, int at, RITZ_GLOBAL double *partial) {
  if (RITZ_THREAD == 0) partial[(RitzLong)at * ritz_cg_num_blocks() + RITZ_BLOCK] = mine;
}

RITZ_INLINE void ritz_cg_keep_sum(RitzCgSum mine, RITZ_SHARED double *scratch, int at,
                                  RITZ_GLOBAL double *partial) {
  ritz_cg_keep(ritz_cg_sum_of_block(mine.value + mine.rest, scratch), at, partial);
}

// ---- Entries: 16 bytes at a time ----
// Vectors of the library's own end with a whole pack, filled up with zeros; x may end and begin anywhere.

#ifdef CEED_SCALAR_IS_FP64
#define RITZ_SUM_WIDTH 2
#else
#define RITZ_SUM_WIDTH 4
#endif

typedef struct RITZ_ALIGN16 {
  RitzReal v[RITZ_SUM_WIDTH];
} RitzCgPack;

// i: the first entries of the packs of this thread.
#define RITZ_CG_EACH_PACK(i, n)                                                                              \
  for (RitzLong i = RITZ_ITEM * RITZ_SUM_WIDTH; i < n; i += RITZ_NUM_ITEMS * RITZ_SUM_WIDTH)

RITZ_INLINE RitzCgPack ritz_cg_load(RITZ_GLOBAL const RitzReal *x) {
  return *(RITZ_GLOBAL const RitzCgPack *)x;
}

RITZ_INLINE void ritz_cg_store(RITZ_GLOBAL RitzReal *x, RitzCgPack pack) {
  *(RITZ_GLOBAL RitzCgPack *)x = pack;
}

// Bit l: entry i + l is constrained; a pack lies in one word.
RITZ_INLINE unsigned ritz_cg_constraints(RITZ_GLOBAL const unsigned *mask, RitzLong i) {
  return mask ? RITZ_LOAD(&mask[i / 32]) >> (i % 32) : 0;
}

RITZ_INLINE double ritz_cg_square(RitzCgPack r) {
  double sum = 0;
  RITZ_UNROLL
  for (int l = 0; l < RITZ_SUM_WIDTH; l++) sum += (double)r.v[l] * r.v[l];
  return sum;
}

RITZ_INLINE double ritz_cg_weighted_square(RitzCgPack m, RitzCgPack r) {
  double sum = 0;
  RITZ_UNROLL
  for (int l = 0; l < RITZ_SUM_WIDTH; l++) sum += (double)m.v[l] * r.v[l] * r.v[l];
  return sum;
}

// ---- Before the first iteration ----

// r = (b - q) / scale on free entries, else zero. partial: largest |r|, number of entries that are not
// finite, |r|^2, r . M r.
RITZ_KERNEL(256)
ritz_cg_residual(RitzLong n, RITZ_GLOBAL const double *record, RITZ_GLOBAL const unsigned *mask,
                 RITZ_GLOBAL const RitzReal *inverse, RITZ_GLOBAL const RitzReal *b,
                 RITZ_GLOBAL const RitzReal *q, RITZ_GLOBAL RitzReal *r, RITZ_GLOBAL double *partial) {
  RITZ_SHARED_ARRAY double scratch[RITZ_CG_SCRATCH];
  RitzCgSum bad = {0, 0}, rr = {0, 0}, rz = {0, 0};
  double scale = record[RITZ_CG_SCALE], largest = 0;
  for (RitzLong i = RITZ_ITEM; i < n; i += RITZ_NUM_ITEMS) {
    int is_free = (ritz_cg_constraints(mask, i) & 1) == 0;
    RitzReal entry = is_free ? (RitzReal)((double)(b[i] - q[i]) / scale) : 0;
    double size = fabs((double)entry), square = (double)entry * entry;
    r[i] = entry;
    if (size > largest) largest = size;
    if (!(size <= RITZ_CG_LARGEST)) bad.value += 1;
    ritz_cg_add(&rr, square);
    ritz_cg_add(&rz, inverse ? inverse[i] * square : square);
  }
  ritz_cg_keep(ritz_cg_largest_of_block(largest, scratch), 0, partial);
  ritz_cg_keep_sum(bad, scratch, 1, partial);
  ritz_cg_keep_sum(rr, scratch, RITZ_CG_AT_RR, partial);
  ritz_cg_keep_sum(rz, scratch, RITZ_CG_AT_RZ, partial);
}

// inverse = smallest / diagonal on free entries, else zero. partial, of free entries: largest -diagonal;
// number of those that are no positive finite number, or their inverse is none.
RITZ_KERNEL(256)
ritz_cg_invert(RitzLong n, RitzReal smallest, RITZ_GLOBAL const unsigned *mask,
               RITZ_GLOBAL const RitzReal *diagonal, RITZ_GLOBAL RitzReal *inverse,
               RITZ_GLOBAL double *partial) {
  RITZ_SHARED_ARRAY double scratch[RITZ_CG_SCRATCH];
  RitzCgSum bad = {0, 0};
  double largest = -RITZ_CG_LARGEST;
  for (RitzLong i = RITZ_ITEM; i < n; i += RITZ_NUM_ITEMS) {
    int is_free = (ritz_cg_constraints(mask, i) & 1) == 0;
    double entry = diagonal[i];
    RitzReal quotient = is_free ? (RitzReal)((double)smallest / entry) : 0;
    inverse[i] = quotient;
    if (is_free && -entry > largest) largest = -entry;
    if (is_free && !(quotient > 0 && entry <= RITZ_CG_LARGEST)) bad.value += 1;
  }
  ritz_cg_keep(ritz_cg_largest_of_block(largest, scratch), 0, partial);
  ritz_cg_keep_sum(bad, scratch, 1, partial);
}

// ---- The merged iteration ----

RITZ_INLINE RITZ_GLOBAL double *ritz_cg_record(RITZ_GLOBAL double *records, int number) {
  return records + 4 * (number % 2);
}

// The length of a step, not negative; -1: there is none to make.
RITZ_INLINE double ritz_cg_step(RITZ_GLOBAL const double *before, double pq) {
  double alpha = before[RITZ_CG_RZ] / pq;
  int is_step = pq > 0 && pq <= RITZ_CG_LARGEST && fabs(alpha * before[RITZ_CG_SCALE]) <= RITZ_CG_LARGEST;
  return is_step ? alpha : -1;
}

// partial: a . b over free entries.
RITZ_KERNEL(256)
ritz_cg_dot(RitzLong n, RITZ_GLOBAL const unsigned *mask, RITZ_GLOBAL const RitzReal *a,
            RITZ_GLOBAL const RitzReal *b, RITZ_GLOBAL double *partial) {
  RITZ_SHARED_ARRAY double scratch[RITZ_CG_SCRATCH];
  RitzCgSum sum = {0, 0};
  RITZ_CG_EACH_PACK(i, n) {
    unsigned constraints = ritz_cg_constraints(mask, i);
    RitzCgPack u = ritz_cg_load(a + i), v = ritz_cg_load(b + i);
    double term = 0;
    RITZ_UNROLL
    for (int l = 0; l < RITZ_SUM_WIDTH; l++) term += constraints >> l & 1 ? 0 : (double)u.v[l] * v.v[l];
    ritz_cg_add(&sum, term);
  }
  ritz_cg_keep_sum(sum, scratch, RITZ_CG_AT_PQ, partial);
}

// The same number from its shares, which kernels of operators give (kernels/gpu/energy.h). adds: to what
// another operator has given.
RITZ_KERNEL(256)
ritz_cg_collect(RitzLong num_shares, RITZ_GLOBAL const double *shares, int adds,
                RITZ_GLOBAL double *partial) {
  RITZ_SHARED_ARRAY double scratch[RITZ_CG_SCRATCH];
  RitzCgSum sum = {0, 0};
  for (RitzLong i = RITZ_ITEM; i < num_shares; i += RITZ_NUM_ITEMS) ritz_cg_add(&sum, shares[i]);
  if (adds && RITZ_THREAD == 0) ritz_cg_add(&sum, partial[RITZ_BLOCK]);
  ritz_cg_keep_sum(sum, scratch, RITZ_CG_AT_PQ, partial);
}

// pq; r -= alpha q on free entries. partial: |r|^2, and with a preconditioner r . M r.
RITZ_KERNEL(256)
ritz_cg_advance(RitzLong n, int number, RITZ_GLOBAL double *records, RITZ_GLOBAL const unsigned *mask,
                RITZ_GLOBAL const RitzReal *inverse, RITZ_GLOBAL const RitzReal *RITZ_RESTRICT q,
                RITZ_GLOBAL RitzReal *RITZ_RESTRICT r, RITZ_GLOBAL double *partial) {
  RITZ_SHARED_ARRAY double scratch[RITZ_CG_SCRATCH];
  RitzCgSum rr = {0, 0}, rz = {0, 0};
  double pq = ritz_cg_total(partial, ritz_cg_num_blocks(), scratch);
  double alpha = ritz_cg_step(ritz_cg_record(records, number), pq);
  if (RITZ_ITEM == 0) ritz_cg_record(records, number + 1)[RITZ_CG_PQ] = pq;
  RITZ_CG_EACH_PACK(i, n) {
    unsigned constraints = ritz_cg_constraints(mask, i);
    RitzCgPack product = ritz_cg_load(q + i), residual = ritz_cg_load(r + i), m = residual;
    if (inverse) m = ritz_cg_load(inverse + i);
    RITZ_UNROLL
    for (int l = 0; l < RITZ_SUM_WIDTH; l++) {
      RitzReal next = (RitzReal)(residual.v[l] - alpha * product.v[l]);
      residual.v[l] = alpha < 0 || (constraints >> l & 1) ? residual.v[l] : next;
    }
    ritz_cg_store(r + i, residual);
    ritz_cg_add(&rr, ritz_cg_square(residual));
    if (inverse) ritz_cg_add(&rz, ritz_cg_weighted_square(m, residual));
  }
  ritz_cg_keep_sum(rr, scratch, RITZ_CG_AT_RR, partial);
  if (inverse) ritz_cg_keep_sum(rz, scratch, RITZ_CG_AT_RZ, partial);
}

// The sums of the last pass; x += alpha scale p, p = M r + beta p, q = 0. x has n entries; NULL: there was no
// step, only the direction is made.
RITZ_KERNEL(256)
ritz_cg_turn(RitzLong n, RITZ_GLOBAL const double *partial, int number, RITZ_GLOBAL double *records,
             RITZ_GLOBAL const RitzReal *inverse, RITZ_GLOBAL const RitzReal *RITZ_RESTRICT r,
             RITZ_GLOBAL RitzReal *RITZ_RESTRICT x, RITZ_GLOBAL RitzReal *RITZ_RESTRICT p,
             RITZ_GLOBAL RitzReal *RITZ_RESTRICT q) {
  RITZ_SHARED_ARRAY double scratch[RITZ_CG_SCRATCH];
  RITZ_GLOBAL const double *before = ritz_cg_record(records, number);
  RITZ_GLOBAL double *after = ritz_cg_record(records, number + 1);
  int num = ritz_cg_num_blocks(), is_aligned = ((size_t)x & 15) == 0;
  double rr = ritz_cg_total(partial + (RitzLong)RITZ_CG_AT_RR * num, num, scratch), rz = rr;
  if (inverse) rz = ritz_cg_total(partial + (RitzLong)RITZ_CG_AT_RZ * num, num, scratch);
  double alpha = x ? ritz_cg_step(before, after[RITZ_CG_PQ]) : 0;
  double beta = before[RITZ_CG_RZ] > 0 ? rz / before[RITZ_CG_RZ] : 0, length = alpha * before[RITZ_CG_SCALE];
  if (RITZ_ITEM == 0) {
    after[RITZ_CG_RR] = rr;
    after[RITZ_CG_RZ] = rz;
  }
  if (alpha < 0) return;
  RITZ_CG_EACH_PACK(i, n) {
    int is_whole = x && is_aligned && i + RITZ_SUM_WIDTH <= n;
    RitzCgPack direction = ritz_cg_load(p + i), residual = ritz_cg_load(r + i), m = residual, iterate, next,
               zero;
    if (inverse) m = ritz_cg_load(inverse + i);
    if (is_whole) iterate = ritz_cg_load(x + i);
    RITZ_UNROLL
    for (int l = 0; l < RITZ_SUM_WIDTH; l++) {
      double start = inverse ? (double)m.v[l] * residual.v[l] : (double)residual.v[l];
      next.v[l] = (RitzReal)(start + beta * direction.v[l]);
      zero.v[l] = 0;
    }
    ritz_cg_store(p + i, next);
    ritz_cg_store(q + i, zero);
    if (is_whole) {
      RITZ_UNROLL
      for (int l = 0; l < RITZ_SUM_WIDTH; l++)
        iterate.v[l] = (RitzReal)(iterate.v[l] + length * direction.v[l]);
      ritz_cg_store(x + i, iterate);
    } else if (x) {
      RITZ_UNROLL
      for (int l = 0; l < RITZ_SUM_WIDTH; l++) {
        if (i + l < n) x[i + l] = (RitzReal)(x[i + l] + length * direction.v[l]);
      }
    }
  }
}

// ---- The reference: what no kernel of kernels/gpu/vector.h does ----

// Zeroes constrained entries.
RITZ_KERNEL(256) ritz_cg_constrain(RitzLong n, RITZ_GLOBAL const unsigned *mask, RITZ_GLOBAL RitzReal *x) {
  for (RitzLong i = RITZ_ITEM; i < n; i += RITZ_NUM_ITEMS) {
    if (ritz_cg_constraints(mask, i) & 1) x[i] = 0;
  }
}

#endif
