// SPDX-License-Identifier: BSD-2-Clause
// Arithmetic on whole arrays: the loops of the reference backend on the threads of the context; norms with
// sums of their own.
#include <math.h>

#include "backends/cpu/cpu.h"
#include "backends/ref/ref.h"
#include "base/simd.h"

typedef struct Job Job;
struct Job {
  Ceed ceed;
  CeedScalarType precision, other; // of x; of y where it differs
  CeedScalar alpha, beta;
  const void *x, *y;
  void *to;
  int (*run)(const Job *part, CeedSize n);
};

static const void *at(const void *array, CeedScalarType precision, int64_t first) {
  return array ? (const char *)array + (size_t)first * ritz_scalar_bytes(precision) : NULL;
}

// No loop of the reference can fail.
static void run_range(void *data, int slot, int64_t first, int64_t count) {
  const Job *job = data;
  Job part = *job;

  (void)slot;
  part.x = at(job->x, job->precision, first);
  part.y = at(job->y, job->precision, first);
  part.to = (void *)at(job->to, job->other, first);
  (void)part.run(&part, count);
}

static int run_cpu_vector(Job *job, CeedSize n) { return ritz_cpu_run_ranges(job->ceed, n, run_range, job); }

// ---- Entries by themselves ----

static int set_value(const Job *job, CeedSize n) {
  return ritz_ref_vector_set_value(job->ceed, job->precision, n, job->alpha, job->to);
}
static int scale(const Job *job, CeedSize n) {
  return ritz_ref_vector_scale(job->ceed, job->precision, n, job->alpha, job->to);
}
static int axpby(const Job *job, CeedSize n) {
  return ritz_ref_vector_axpby(job->ceed, job->precision, n, job->alpha, job->beta, job->x, job->to);
}
static int multiply_cpu_vector(const Job *job, CeedSize n) {
  return ritz_ref_vector_pointwise_mult(job->ceed, job->precision, n, job->x, job->y, job->to);
}
static int invert_cpu_vector(const Job *job, CeedSize n) {
  return ritz_ref_vector_reciprocal(job->ceed, job->precision, n, job->to);
}
static int filter(const Job *job, CeedSize n) {
  return ritz_ref_vector_filter(job->ceed, job->precision, n, job->alpha, job->to);
}
static int convert(const Job *job, CeedSize n) {
  return ritz_ref_vector_convert(job->ceed, n, job->precision, job->x, job->other, job->to);
}

int ritz_cpu_vector_set_value(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar value, void *x) {
  return run_cpu_vector(&(Job){ceed, precision, precision, value, 0, NULL, NULL, x, set_value}, n);
}

int ritz_cpu_vector_scale(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar alpha, void *x) {
  return run_cpu_vector(&(Job){ceed, precision, precision, alpha, 0, NULL, NULL, x, scale}, n);
}

int ritz_cpu_vector_axpby(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar alpha, CeedScalar beta,
                          const void *x, void *y) {
  return run_cpu_vector(&(Job){ceed, precision, precision, alpha, beta, x, NULL, y, axpby}, n);
}

int ritz_cpu_vector_pointwise_mult(Ceed ceed, CeedScalarType precision, CeedSize n, const void *x,
                                   const void *y, void *w) {
  return run_cpu_vector(&(Job){ceed, precision, precision, 0, 0, x, y, w, multiply_cpu_vector}, n);
}

int ritz_cpu_vector_reciprocal(Ceed ceed, CeedScalarType precision, CeedSize n, void *x) {
  return run_cpu_vector(&(Job){ceed, precision, precision, 0, 0, NULL, NULL, x, invert_cpu_vector}, n);
}

int ritz_cpu_vector_filter(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar threshold, void *x) {
  return run_cpu_vector(&(Job){ceed, precision, precision, threshold, 0, NULL, NULL, x, filter}, n);
}

int ritz_cpu_vector_convert(Ceed ceed, CeedSize n, CeedScalarType from, const void *x, CeedScalarType to,
                            void *y) {
  return run_cpu_vector(&(Job){ceed, from, to, 0, 0, x, NULL, y, convert}, n);
}

// ---- Some of the entries: a range with a step, a set ----

typedef struct {
  Ceed ceed;
  CeedScalarType precision;
  CeedSize start, stop, step;
  const int64_t *entries;
  const CeedScalar *values; // of entries; NULL: the value
  double value;
  const void *from; // NULL: values
  void *to;
} Choice;

static void run_steps(void *data, int slot, int64_t first, int64_t count) {
  const Choice *c = data;
  const CeedSize start = c->start + first * c->step, end = start + (count - 1) * c->step + 1;

  (void)slot;
  if (c->from)
    (void)ritz_ref_vector_copy_strided(c->ceed, c->precision, start, end, c->step, c->from, c->to);
  else
    (void)ritz_ref_vector_set_value_strided(c->ceed, c->precision, start, end, c->step, (CeedScalar)c->value,
                                            c->to);
}

static void run_entries(void *data, int slot, int64_t first, int64_t count) {
  const Choice *c = data;

  (void)slot;
  if (c->from)
    (void)ritz_ref_vector_copy_entries(c->ceed, c->precision, count, c->entries + first, c->from, c->to);
  else
    (void)ritz_ref_vector_set_entries(c->ceed, c->precision, count, c->entries + first,
                                      c->values ? c->values + first : NULL, c->value, c->to);
}

static CeedSize count_steps(const Choice *c) {
  return c->stop > c->start ? (c->stop - c->start - 1) / c->step + 1 : 0;
}

int ritz_cpu_vector_set_value_strided(Ceed ceed, CeedScalarType precision, CeedSize start, CeedSize stop,
                                      CeedSize step, CeedScalar value, void *x) {
  Choice c = {.ceed = ceed, .precision = precision, .start = start, .stop = stop, .step = step, .to = x};

  c.value = (double)value;
  return ritz_cpu_run_ranges(ceed, count_steps(&c), run_steps, &c);
}

int ritz_cpu_vector_copy_strided(Ceed ceed, CeedScalarType precision, CeedSize start, CeedSize stop,
                                 CeedSize step, const void *x, void *y) {
  Choice c = {.ceed = ceed, .precision = precision, .start = start, .stop = stop, .step = step, .to = y};

  c.from = x;
  return ritz_cpu_run_ranges(ceed, count_steps(&c), run_steps, &c);
}

int ritz_cpu_vector_set_entries(Ceed ceed, CeedScalarType precision, int64_t num, const int64_t *entries,
                                const CeedScalar *values, double value, void *x) {
  Choice c = {.ceed = ceed, .precision = precision, .entries = entries, .values = values, .value = value};

  c.to = x;
  return ritz_cpu_run_ranges(ceed, num, run_entries, &c);
}

int ritz_cpu_vector_copy_entries(Ceed ceed, CeedScalarType precision, int64_t num, const int64_t *entries,
                                 const void *x, void *y) {
  Choice c = {.ceed = ceed, .precision = precision, .entries = entries, .from = x, .to = y};

  return ritz_cpu_run_ranges(ceed, num, run_entries, &c);
}

// ---- Norms ----

typedef struct {
  RitzSum sum; // of |x|, or of (x / scale)^2
  double largest[RITZ_SUM_WIDTH];
} Share;

typedef struct {
  CeedScalarType precision;
  const void *x;
  double scale; // 0: |x|
  Share *shares;
} Norm;

#define RITZ_NORM_LOOPS(real)                                                                                \
  RITZ_INLINED void measure_##real(const real *x, int64_t n, double factor, Share *share) {                  \
    for (int64_t i = 0; i < n; i += RITZ_SUM_WIDTH) {                                                        \
      const int64_t left = n - i < RITZ_SUM_WIDTH ? n - i : RITZ_SUM_WIDTH;                                  \
      double part[RITZ_SUM_WIDTH] = {0};                                                                     \
      if (left == RITZ_SUM_WIDTH)                                                                            \
        for (int l = 0; l < RITZ_SUM_WIDTH; l++) part[l] = fabs((double)x[i + l]);                           \
      else                                                                                                   \
        for (int64_t l = 0; l < left; l++) part[l] = fabs((double)x[i + l]);                                 \
      for (int l = 0; l < RITZ_SUM_WIDTH; l++)                                                               \
        share->largest[l] = part[l] > share->largest[l] ? part[l] : share->largest[l];                       \
      if (factor > 0)                                                                                        \
        for (int l = 0; l < RITZ_SUM_WIDTH; l++) part[l] = (part[l] * factor) * (part[l] * factor);          \
      ritz_sum_add(&share->sum, part);                                                                       \
    }                                                                                                        \
  }
RITZ_NORM_LOOPS(float)
RITZ_NORM_LOOPS(double)

RITZ_CLONED static void measure(void *data, int slot, int64_t first, int64_t count) {
  const Norm *norm = data;

  if (norm->precision == CEED_SCALAR_FP32)
    measure_float((const float *)norm->x + first, count, norm->scale, &norm->shares[slot]);
  else
    measure_double((const double *)norm->x + first, count, norm->scale, &norm->shares[slot]);
}

// Solvers take norms in every iteration: nothing is allocated for as many threads as most machines have.
static int reduce(Ceed ceed, CeedSize n, Norm *norm, double *sum, double *largest) {
  enum { NUM_FEW = 32 };
  Share few[NUM_FEW];
  RitzTotal total = {0};
  int num_slots;

  RITZ_TRY(ritz_cpu_run_ranges_slots(ceed, &num_slots));
  memset(few, 0, sizeof(few));
  norm->shares = few;
  if (num_slots > NUM_FEW) RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num_slots, &norm->shares));
  const int ierr = ritz_cpu_run_ranges(ceed, n, measure, norm);
  *largest = 0;
  for (int s = 0; s < num_slots; s++) {
    ritz_total_add(&total, &norm->shares[s].sum);
    for (int l = 0; l < RITZ_SUM_WIDTH; l++) *largest = fmax(*largest, norm->shares[s].largest[l]);
  }
  *sum = total.value + total.rest;
  if (!isfinite(total.value)) *sum = total.value; // the rest of an infinity is none
  if (norm->shares != few) RITZ_FREE(&norm->shares);
  return ierr;
}

// Squares in one sweep; where these over- or underflow, or some entry is not finite, another one by the
// largest entry.
int ritz_cpu_vector_norm(Ceed ceed, CeedScalarType precision, CeedSize n, CeedNormType type, const void *x,
                         CeedScalar *result) {
  Norm norm = {.precision = precision, .x = x, .scale = type == CEED_NORM_2 ? 1 : 0};
  double sum, largest;

  RITZ_TRY(reduce(ceed, n, &norm, &sum, &largest));
  if (type == CEED_NORM_2 && largest > 0 && (largest > 1e140 || largest < 1e-140) && isfinite(largest)) {
    int exponent;
    (void)frexp(largest, &exponent);
    norm.scale = ldexp(1, exponent < -1000 ? 1000 : -exponent);
    RITZ_TRY(reduce(ceed, n, &norm, &sum, &largest));
    *result = (CeedScalar)(sqrt(sum) / norm.scale);
  } else {
    // A NaN or an infinity makes the sum one, and with it every norm.
    *result = (CeedScalar)(type == CEED_NORM_2                     ? sqrt(sum)
                           : type == CEED_NORM_1 || !isfinite(sum) ? sum
                                                                   : largest);
  }
  return CEED_ERROR_SUCCESS;
}
