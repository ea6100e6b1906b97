// SPDX-License-Identifier: BSD-2-Clause
// Passes over vectors (contract in core/vector-pass.h): checks, locks, then the slot of the backend.
#include "core/vector-pass.h"

#include <math.h>
#include <string.h>

#include "core/profile.h"
#include "core/vector.h"

// ---- Forms ----

int ritz_pass_num_factors(const RitzPass *pass) {
  int num = 0;

  for (int k = 0; k < pass->num_lines; k++) {
    for (int t = 0; t < pass->line[k].num_terms; t++)
      num = pass->line[k].term[t].factor >= num ? pass->line[k].term[t].factor + 1 : num;
  }
  return num;
}

static bool line_reads(const RitzPassLine *line, int vector) {
  for (int t = 0; t < line->num_terms; t++) {
    if (line->term[t].x == vector || line->term[t].y == vector) return true;
  }
  return false;
}

RitzAccess ritz_pass_access(const RitzPass *pass, int vector) {
  bool is_read = false;

  for (int k = 0; k < pass->num_lines; k++) {
    is_read = is_read || line_reads(&pass->line[k], vector);
    if (pass->line[k].to != vector) continue;
    return is_read ? RITZ_ACCESS_READ_WRITE : RITZ_ACCESS_WRITE;
  }
  return RITZ_ACCESS_READ;
}

bool ritz_pass_is_single(const RitzPassArrays *arrays) {
  for (int i = 0; i < arrays->pass->num_vectors; i++) {
    if (arrays->precision[i] != CEED_SCALAR_FP32) return false;
  }
  return true;
}

double ritz_factor_value(const RitzFactor *factor, const double *scalars, double largest) {
  if (factor->a < 0) return factor->sign;
  const double value = factor->sign * scalars[factor->a];
  if (factor->b < 0) return value;
  const double divisor = scalars[factor->b], quotient = value / divisor;
  return divisor > 0 && fabs(quotient) <= largest ? quotient : 0;
}

RitzPassForm ritz_pass_form(const RitzPass *pass, CeedScalarType precision) {
  RitzPassForm form = {.pass = pass};

  for (int i = 0; i < pass->num_vectors; i++) form.precision[i] = precision;
  return form;
}

void ritz_pass_forms_add(RitzPassForms *forms, RitzPassForm form) {
  for (int i = 0; i < forms->num; i++) {
    const RitzPassForm *known = &forms->form[i];
    if (known->pass == form.pass && !memcmp(known->precision, form.precision, sizeof(form.precision))) return;
  }
  RITZ_ASSERT(forms->num < RITZ_PASS_FORMS);
  forms->form[forms->num++] = form;
}

int ritz_passes_prepare(Ceed ceed, int num, const RitzPassForm forms[]) {
  return ceed->backend.passes_prepare ? ceed->backend.passes_prepare(ceed, num, forms) : CEED_ERROR_SUCCESS;
}

// ---- Locks ----

static int check_vectors(const RitzPass *pass, const char *call, bool is_partial, const CeedVector v[]) {
  Ceed ceed = v[0]->obj.ceed;

  for (int i = 1; i < pass->num_vectors; i++) {
    RITZ_TRY(ritz_vector_check_same_ceed(call, v[0], v[i]));
    RITZ_REQUIRE(v[i]->length == v[0]->length || is_partial, ceed, CEED_ERROR_DIMENSION,
                 "%s: a vector has %" CeedSize_FMT " entries, another one %" CeedSize_FMT, call, v[0]->length,
                 v[i]->length);
    for (int j = 0; j < i; j++) {
      const bool are_read =
          ritz_pass_access(pass, i) == RITZ_ACCESS_READ && ritz_pass_access(pass, j) == RITZ_ACCESS_READ;
      RITZ_REQUIRE(are_read || v[i] != v[j], ceed, CEED_ERROR_INCOMPATIBLE,
                   "%s: the same vector is read and written under two names", call);
      RITZ_REQUIRE(are_read || !ritz_vectors_meet(v[i], v[j]), ceed, CEED_ERROR_INCOMPATIBLE,
                   "%s: a vector lies in the memory of one that is written", call);
    }
  }
  return CEED_ERROR_SUCCESS;
}

// A vector that is written in part keeps its other entries.
static RitzAccess access_of(const RitzPassArrays *arrays, int i, CeedVector v) {
  const RitzAccess access = ritz_pass_access(arrays->pass, i);
  return access == RITZ_ACCESS_WRITE && v->length > arrays->n ? RITZ_ACCESS_READ_WRITE : access;
}

static int give_back(const CeedVector v[], RitzPassArrays *arrays, int num, int ierr) {
  for (int i = 0; i < num; i++) {
    const int restored = ritz_vector_unlock(v[i], access_of(arrays, i, v[i]), &arrays->array[i], ierr);
    if (!ierr) ierr = restored;
  }
  return ierr;
}

// Every access is granted before the first array is handed out: a refusal changes nothing.
static int lock_arrays(const char *call, const CeedVector v[], RitzPassArrays *arrays) {
  const RitzPass *pass = arrays->pass;
  RitzRepKind kind[RITZ_PASS_VECTORS];

  for (int i = 0; i < pass->num_vectors; i++) {
    arrays->precision[i] = v[i]->precision;
    RITZ_TRY(ritz_vector_grant(v[i], call, access_of(arrays, i, v[i]), v[i]->obj.ceed->backend.mem_type,
                               &kind[i]));
  }
  for (int i = 0; i < pass->num_vectors; i++) {
    const int ierr = ritz_vector_hand_out(v[i], access_of(arrays, i, v[i]), kind[i], &arrays->array[i]);
    if (ierr) return give_back(v, arrays, i, ierr);
  }
  return CEED_ERROR_SUCCESS;
}

// How many entries of vectors of this length sums count: those that a part of a larger problem owns, where a
// solver of it that tells them apart runs in this context; else all. A pass with sums leaves the others as
// they are.
static CeedSize num_summed(Ceed ceed, CeedSize length) {
  return ceed->sums.reduce && length == ceed->sums.length ? ceed->sums.num_counted : length;
}

int ritz_pass_lock(const RitzPass *pass, const char *call, const CeedVector v[], RitzPassArrays *arrays) {
  const CeedSize length = v[0]->length;

  *arrays =
      (RitzPassArrays){.pass = pass, .n = pass->num_sums > 0 ? num_summed(v[0]->obj.ceed, length) : length};
  RITZ_TRY(check_vectors(pass, call, false, v));
  return lock_arrays(call, v, arrays);
}

int ritz_pass_unlock(const CeedVector v[], RitzPassArrays *arrays, int ierr) {
  return give_back(v, arrays, arrays->pass->num_vectors, ierr);
}

// ---- The slots, with times where they are counted ----

// NULL: the library's own, which is the only one where that is float.
static const char *precisions_of(const RitzPassArrays *arrays) {
  bool has_single = false;

  if (CEED_SCALAR_TYPE == CEED_SCALAR_FP32) return NULL;
  for (int i = 0; i < arrays->pass->num_vectors; i++)
    has_single = has_single || arrays->precision[i] == CEED_SCALAR_FP32;
  return !has_single ? NULL : ritz_pass_is_single(arrays) ? "FP32" : "FP32 and FP64";
}

// Flops of one entry of a line, without the sums.
static int line_flops(const RitzPassLine *line) {
  int num = line->num_terms > 0 ? line->num_terms - 1 : 0;

  for (int t = 0; t < line->num_terms; t++) num += (line->term[t].factor >= 0) + (line->term[t].y >= 0);
  return num;
}

// Every vector once from memory and once to it, as far as it is read and written.
static RitzOperatorCost pass_cost(const RitzPassArrays *arrays) {
  const RitzPass *pass = arrays->pass;
  size_t bytes = 0;
  int flops = 0;

  for (int i = 0; i < pass->num_vectors; i++) {
    const size_t size = ritz_scalar_bytes(arrays->precision[i]);
    bytes += ritz_pass_access(pass, i) == RITZ_ACCESS_READ_WRITE ? 2 * size : size;
  }
  for (int k = 0; k < pass->num_lines; k++) flops += line_flops(&pass->line[k]);
  for (int k = 0; k < pass->num_sums; k++) flops += pass->sum[k].w >= 0 ? 3 : 2;
  return (RitzOperatorCost){.flops = (double)flops * (double)arrays->n,
                            .bytes = (double)bytes * (double)arrays->n,
                            .is_single = ritz_pass_is_single(arrays)};
}

static int end_pass(Ceed ceed, const RitzPassArrays *arrays, double begin, int ierr) {
  const RitzProfilePass pass = {.name = arrays->pass->name,
                                .precisions = precisions_of(arrays),
                                .size = arrays->n,
                                .cost = pass_cost(arrays)};
  return ritz_profile_end_pass(ceed, &pass, begin, ierr);
}

int ritz_pass_call(Ceed ceed, const RitzPassArrays *arrays, const double *factors, double *sums) {
  double begin;

  if (!ceed->profile) return ceed->backend.vector_pass(ceed, arrays, factors, sums);
  RITZ_TRY(ritz_profile_begin(ceed, &begin));
  return end_pass(ceed, arrays, begin, ceed->backend.vector_pass(ceed, arrays, factors, sums));
}

static int call_by(Ceed ceed, const RitzPassArrays *arrays, const RitzFactor *factors, double *scalars,
                   CeedInt first_sum) {
  double begin;

  if (!ceed->profile) return ceed->backend.vector_pass_by(ceed, arrays, factors, scalars, first_sum);
  RITZ_TRY(ritz_profile_begin(ceed, &begin));
  return end_pass(ceed, arrays, begin,
                  ceed->backend.vector_pass_by(ceed, arrays, factors, scalars, first_sum));
}

// ---- Parts of larger problems ----

RitzSums ritz_sums_set(Ceed ceed, const RitzSums *sums) {
  const RitzSums before = ceed->sums;

  ceed->sums = *sums;
  return before;
}

int ritz_reduce(Ceed ceed, RitzReduction kind, CeedInt num, double values[]) {
  return ceed->sums.reduce && num > 0 ? ceed->sums.reduce(ceed->sums.ctx, kind, num, values)
                                      : CEED_ERROR_SUCCESS;
}

int ritz_scalars_sum(RitzScalars scalars, CeedInt first, CeedInt num, double values[]) {
  const Ceed ceed = scalars->ceed;

  if (ceed->sums.reduce && ceed->sums.reduce_in_memory)
    RITZ_TRY(ceed->sums.reduce_in_memory(ceed->sums.ctx, RITZ_REDUCTION_SUM, num, scalars->values + first));
  RITZ_TRY(RitzScalarsGet(scalars, first, num, values));
  return ceed->sums.reduce_in_memory ? CEED_ERROR_SUCCESS
                                     : ritz_reduce(ceed, RITZ_REDUCTION_SUM, num, values);
}

// As ritz_scalars_sum, up to RITZ_PASS_SUMS numbers; nobody waits where the reduction stays there.
static int reduce_in_memory(RitzScalars scalars, CeedInt first, CeedInt num) {
  double values[RITZ_PASS_SUMS];

  if (!scalars->ceed->sums.reduce || num == 0) return CEED_ERROR_SUCCESS;
  if (scalars->ceed->sums.reduce_in_memory)
    return scalars->ceed->sums.reduce_in_memory(scalars->ceed->sums.ctx, RITZ_REDUCTION_SUM, num,
                                                scalars->values + first);
  RITZ_TRY(RitzScalarsGet(scalars, first, num, values));
  RITZ_TRY(ritz_reduce(scalars->ceed, RITZ_REDUCTION_SUM, num, values));
  return RitzScalarsSet(scalars, first, num, values);
}

// ---- Runs ----

static int run_and_unlock(const CeedVector v[], RitzPassArrays *arrays, const double factors[],
                          double sums[]) {
  Ceed ceed = v[0]->obj.ceed;

  for (int k = 0; k < arrays->pass->num_sums; k++) sums[k] = 0;
  const int ierr = arrays->n > 0 ? ritz_pass_call(ceed, arrays, factors, sums) : CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_pass_unlock(v, arrays, ierr));
  return ritz_reduce(ceed, RITZ_REDUCTION_SUM, arrays->pass->num_sums, sums);
}

int ritz_pass_run_for(const char *call, const RitzPass *pass, const CeedVector v[], const double factors[],
                      double sums[]) {
  RitzPassArrays arrays;

  RITZ_TRY(ritz_pass_lock(pass, call, v, &arrays));
  return run_and_unlock(v, &arrays, factors, sums);
}

int ritz_pass_run_first(const RitzPass *pass, CeedSize n, const CeedVector v[], const double factors[],
                        double sums[]) {
  RitzPassArrays arrays = {.pass = pass, .n = n};

  for (int i = 0; i < pass->num_vectors; i++) {
    RITZ_REQUIRE(v[i]->length >= n, v[i]->obj.ceed, CEED_ERROR_DIMENSION,
                 "%s: a vector has %" CeedSize_FMT " entries, needed %" CeedSize_FMT " or more", pass->name,
                 v[i]->length, n);
  }
  RITZ_TRY(check_vectors(pass, pass->name, true, v));
  RITZ_TRY(lock_arrays(pass->name, v, &arrays));
  return run_and_unlock(v, &arrays, factors, sums);
}

int ritz_pass_run(const RitzPass *pass, const CeedVector v[], const double factors[], double sums[]) {
  return ritz_pass_run_for(pass->name, pass, v, factors, sums);
}

static int check_numbers(const RitzPass *pass, const char *call, RitzScalars scalars,
                         const RitzFactor factors[], CeedInt first_sum) {
  const int num_factors = ritz_pass_num_factors(pass);

  if (pass->num_sums > 0) RITZ_TRY(ritz_scalars_require(scalars, call, first_sum, pass->num_sums));
  for (int i = 0; i < num_factors; i++) {
    if (factors[i].a >= 0) RITZ_TRY(ritz_scalars_require(scalars, call, factors[i].a, 1));
    if (factors[i].a >= 0 && factors[i].b >= 0)
      RITZ_TRY(ritz_scalars_require(scalars, call, factors[i].b, 1));
  }
  return CEED_ERROR_SUCCESS;
}

// Sums over no entries.
static int set_zeros(RitzScalars scalars, CeedInt first, CeedInt num) {
  const double zeros[RITZ_PASS_SUMS] = {0};
  return num > 0 ? RitzScalarsSet(scalars, first, num, zeros) : CEED_ERROR_SUCCESS;
}

static int run_by(const char *call, const RitzPass *pass, const CeedVector v[], RitzScalars scalars,
                  const RitzFactor factors[], CeedInt first_sum) {
  Ceed ceed = v[0]->obj.ceed;
  RitzPassArrays arrays;

  RITZ_REQUIRE(scalars->ceed == ceed, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: vectors and numbers belong to different Ceed contexts", call);
  RITZ_TRY(check_numbers(pass, call, scalars, factors, first_sum));
  RITZ_TRY(ritz_pass_lock(pass, call, v, &arrays));
  const int ierr = arrays.n > 0
                       ? call_by(ceed, &arrays, factors, scalars->values, pass->num_sums ? first_sum : 0)
                       : set_zeros(scalars, first_sum, pass->num_sums);
  return ritz_pass_unlock(v, &arrays, ierr);
}

int ritz_pass_run_by_for(const char *call, const RitzPass *pass, const CeedVector v[], RitzScalars scalars,
                         const RitzFactor factors[], CeedInt first_sum) {
  RITZ_TRY(run_by(call, pass, v, scalars, factors, first_sum));
  return reduce_in_memory(scalars, first_sum, pass->num_sums);
}

int ritz_pass_run_by_alone(const RitzPass *pass, const CeedVector v[], RitzScalars scalars,
                           const RitzFactor factors[], CeedInt first_sum) {
  return run_by(pass->name, pass, v, scalars, factors, first_sum);
}

int ritz_pass_run_by(const RitzPass *pass, const CeedVector v[], RitzScalars scalars,
                     const RitzFactor factors[], CeedInt first_sum) {
  return ritz_pass_run_by_for(pass->name, pass, v, scalars, factors, first_sum);
}
