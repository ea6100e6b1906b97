// SPDX-License-Identifier: BSD-2-Clause
// Products and sums of vectors (ritz/vector.h), as passes; copies of ranges.
#include <string.h>

#include "core/apply-hooks.h"
#include "core/vector-pass.h"
#include "core/vector.h"

enum { NONE = RITZ_PASS_NONE, MOST = 8 }; // the second: vectors beside y in a pass

// Inner products of 8, 4, 2 and 1 vectors with y, so that devices compile few kernels. Vector `num` is y.
static const RitzPass dots[] = {
    {.name = "dots_8",
     .num_vectors = 9,
     .num_sums = 8,
     .sum = {{0, 8, NONE},
             {1, 8, NONE},
             {2, 8, NONE},
             {3, 8, NONE},
             {4, 8, NONE},
             {5, 8, NONE},
             {6, 8, NONE},
             {7, 8, NONE}}},
    {.name = "dots_4",
     .num_vectors = 5,
     .num_sums = 4,
     .sum = {{0, 4, NONE}, {1, 4, NONE}, {2, 4, NONE}, {3, 4, NONE}}},
    {.name = "dots_2", .num_vectors = 3, .num_sums = 2, .sum = {{0, 2, NONE}, {1, 2, NONE}}},
    {.name = "dot", .num_vectors = 2, .num_sums = 1, .sum = {{0, 1, NONE}}},
};
static const RitzPass square = {.name = "square", .num_vectors = 1, .num_sums = 1, .sum = {{0, 0, NONE}}};

// y += sum of f_i x_i; the last vector is y.
static const RitzPass axpys[] = {
    {.name = "axpys_8",
     .num_vectors = 9,
     .num_lines = 3,
     .line = {{8, 4, {{0, 0, NONE}, {1, 1, NONE}, {2, 2, NONE}, {NONE, 8, NONE}}},
              {8, 4, {{3, 3, NONE}, {4, 4, NONE}, {5, 5, NONE}, {NONE, 8, NONE}}},
              {8, 3, {{6, 6, NONE}, {7, 7, NONE}, {NONE, 8, NONE}}}}},
    {.name = "axpys_4",
     .num_vectors = 5,
     .num_lines = 2,
     .line = {{4, 4, {{0, 0, NONE}, {1, 1, NONE}, {2, 2, NONE}, {NONE, 4, NONE}}},
              {4, 2, {{3, 3, NONE}, {NONE, 4, NONE}}}}},
    {.name = "axpys_2",
     .num_vectors = 3,
     .num_lines = 1,
     .line = {{2, 3, {{0, 0, NONE}, {1, 1, NONE}, {NONE, 2, NONE}}}}},
    {.name = "axpy", .num_vectors = 2, .num_lines = 1, .line = {{1, 2, {{0, 0, NONE}, {NONE, 1, NONE}}}}},
};

static const RitzPass three = { // w = f x + g y
    .name = "sum",
    .num_vectors = 3,
    .num_lines = 1,
    .line = {{2, 2, {{0, 0, NONE}, {1, 1, NONE}}}}};
static const RitzPass update = { // y = f x + g y
    .name = "update",
    .num_vectors = 2,
    .num_lines = 1,
    .line = {{1, 2, {{0, 0, NONE}, {1, 1, NONE}}}}};
static const RitzPass multiple = { // w = f x
    .name = "multiple",
    .num_vectors = 2,
    .num_lines = 1,
    .line = {{1, 1, {{0, 0, NONE}}}}};
static const RitzPass scaling = { // x = f x
    .name = "scaling",
    .num_vectors = 1,
    .num_lines = 1,
    .line = {{0, 1, {{0, 0, NONE}}}}};
static const RitzPass product = { // y += f d x
    .name = "add_product",
    .num_vectors = 3,
    .num_lines = 1,
    .line = {{2, 2, {{0, 0, 1}, {NONE, 2, NONE}}}}};
static const RitzPass own = { // x = f x + g x
    .name = "own_update",
    .num_vectors = 1,
    .num_lines = 1,
    .line = {{0, 2, {{0, 0, NONE}, {1, 0, NONE}}}}};

const RitzPass *ritz_vector_sum_pass(RitzVectorSumKind kind) {
  static const RitzPass *const passes[] = {
      [RITZ_SUM_DOT] = &dots[3],      [RITZ_SUM_SQUARE] = &square,     [RITZ_SUM_AXPY] = &axpys[3],
      [RITZ_SUM_UPDATE] = &update,    [RITZ_SUM_MULTIPLE] = &multiple, [RITZ_SUM_SCALING] = &scaling,
      [RITZ_SUM_DOTS_2] = &dots[2],   [RITZ_SUM_DOTS_4] = &dots[1],    [RITZ_SUM_DOTS_8] = &dots[0],
      [RITZ_SUM_AXPYS_2] = &axpys[2], [RITZ_SUM_AXPYS_4] = &axpys[1],  [RITZ_SUM_AXPYS_8] = &axpys[0]};
  return passes[kind];
}

void ritz_pass_forms_add_many(RitzPassForms *forms, CeedInt num, bool or_fewer, CeedScalarType precision) {
  for (int form = 0; MOST >> form > 0; form++) {
    const CeedInt count = MOST >> form, rest = form == 0 || or_fewer ? num : num % (2 * count);
    if (rest < count) continue;
    ritz_pass_forms_add(forms, ritz_pass_form(&dots[form], precision));
    ritz_pass_forms_add(forms, ritz_pass_form(&axpys[form], precision));
  }
}

// ---- Checks ----

static int require_like(const char *call, CeedVector y, CeedVector x) {
  Ceed ceed = y->obj.ceed;
  RITZ_TRY(ritz_vector_check_same_ceed(call, y, x));
  RITZ_REQUIRE(x->length == y->length, ceed, CEED_ERROR_DIMENSION,
               "%s: a vector has %" CeedSize_FMT " entries, another one %" CeedSize_FMT, call, y->length,
               x->length);
  RITZ_REQUIRE(
      x->precision == y->precision, ceed, CEED_ERROR_INCOMPATIBLE,
      "%s: a vector has precision %s, another one %s, needed one precision; RitzVectorConvert converts", call,
      ritz_precision_name(y->precision), ritz_precision_name(x->precision));
  return CEED_ERROR_SUCCESS;
}

static int check_range(const char *call, CeedVector vec, CeedSize first, CeedSize num) {
  RITZ_REQUIRE(first >= 0 && num >= 0 && num <= vec->length && first <= vec->length - num, vec->obj.ceed,
               CEED_ERROR_DIMENSION,
               "%s: %" CeedSize_FMT " entries from %" CeedSize_FMT
               " on are outside of a vector of %" CeedSize_FMT,
               call, num, first, vec->length);
  return CEED_ERROR_SUCCESS;
}

// An array of vectors like y. None of them is y unless `may_be`.
static int check_vectors(const char *call, CeedVector y, CeedInt num, const CeedVector x[], bool may_be) {
  Ceed ceed = y->obj.ceed;
  RITZ_REQUIRE(num >= 0, ceed, CEED_ERROR_DIMENSION, "%s: the number of vectors is %" CeedInt_FMT, call, num);
  if (num > 0) RITZ_ARGUMENT_OF(ceed, call, x);
  for (CeedInt i = 0; i < num; i++) {
    RITZ_TRY(ritz_check_handle(ceed, call, "x[i]", x[i], &ritz_vector_class));
    RITZ_TRY(require_like(call, y, x[i]));
    RITZ_REQUIRE(may_be || x[i] != y, ceed, CEED_ERROR_INCOMPATIBLE,
                 "%s: x[%" CeedInt_FMT "] is y, they need to be different", call, i);
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Products ----

static int dot(const char *call, CeedVector x, CeedVector y, CeedSize first, CeedSize num, double *result) {
  Ceed ceed = x->obj.ceed;
  const RitzPass *form = x == y ? &square : &dots[3];
  const CeedVector v[] = {x, y};
  RitzPassArrays arrays;
  double sum = 0;

  RITZ_TRY(require_like(call, x, y));
  RITZ_TRY(check_range(call, x, first, num));
  RITZ_TRY(ritz_pass_lock(form, call, v, &arrays));
  const CeedSize left = arrays.n > first ? arrays.n - first : 0; // entries from there on that count

  arrays.first = first;
  arrays.n = num < left ? num : left;
  int ierr = arrays.n > 0 ? ritz_pass_call(ceed, &arrays, NULL, &sum) : CEED_ERROR_SUCCESS;
  ierr = ritz_pass_unlock(v, &arrays, ierr);
  if (!ierr) ierr = ritz_reduce(ceed, RITZ_REDUCTION_SUM, 1, &sum);
  if (!ierr) *result = sum;
  return ierr;
}

int RitzVectorDot(CeedVector x, CeedVector y, double *result) {
  RITZ_HANDLE(x, y);
  RITZ_ARGUMENT(x->obj.ceed, y);
  RITZ_ARGUMENT(x->obj.ceed, result);
  return dot(__func__, x, y, 0, x->length, result);
}

int RitzVectorDotRange(CeedVector x, CeedVector y, CeedSize first, CeedSize num, double *result) {
  RITZ_HANDLE(x, y);
  RITZ_ARGUMENT(x->obj.ceed, y);
  RITZ_ARGUMENT(x->obj.ceed, result);
  return dot(__func__, x, y, first, num, result);
}

int RitzVectorDots(CeedInt num, const CeedVector x[], CeedVector y, double results[]) {
  RITZ_HANDLE(y);
  RITZ_TRY(check_vectors(__func__, y, num, x, true));
  if (num > 0) RITZ_ARGUMENT(y->obj.ceed, results);
  for (CeedInt done = 0, form = 0; done < num;) {
    const int count = MOST >> form;
    if (count > num - done) {
      form++;
      continue;
    }
    CeedVector v[MOST + 1];
    for (int i = 0; i < count; i++) v[i] = x[done + i];
    v[count] = y;
    RITZ_TRY(ritz_pass_run_for(__func__, &dots[form], v, NULL, &results[done]));
    done += count;
  }
  return CEED_ERROR_SUCCESS;
}

int RitzVectorDotTo(CeedVector x, CeedVector y, RitzScalars scalars, CeedInt k) {
  RITZ_HANDLE(x, y, scalars);
  Ceed ceed = x->obj.ceed;
  RITZ_ARGUMENT(ceed, y);
  RITZ_ARGUMENT(ceed, scalars);
  RITZ_TRY(require_like(__func__, x, y));
  const CeedVector v[] = {x, y};
  return ritz_pass_run_by_for(__func__, x == y ? &square : &dots[3], v, scalars, NULL, k);
}

// ---- Sums ----

static int sum_of_one(const char *call, CeedVector w, double alpha, CeedVector x) {
  const CeedVector v[] = {x, w};
  return ritz_pass_run_for(call, w == x ? &scaling : &multiple, v, &alpha, NULL);
}

int RitzVectorSum(CeedVector w, double alpha, CeedVector x, double beta, CeedVector y) {
  RITZ_HANDLE(w, x, y);
  Ceed ceed = w->obj.ceed;
  RITZ_ARGUMENT(ceed, x);
  RITZ_TRY(require_like(__func__, w, x));
  if (beta == 0 && (y == CEED_VECTOR_NONE || y == w)) return sum_of_one(__func__, w, alpha, x);
  RITZ_ARGUMENT(ceed, y);
  RITZ_TRY(require_like(__func__, w, y));
  if (beta == 0) return sum_of_one(__func__, w, alpha, x);
  const double straight[] = {alpha, beta}, swapped[] = {beta, alpha};
  const CeedVector all[] = {x, y, w}, y_last[] = {x, y}, x_last[] = {y, x};
  if (x == y && x == w) return ritz_pass_run_for(__func__, &own, all, straight, NULL);
  if (w == y) return ritz_pass_run_for(__func__, &update, y_last, straight, NULL);
  if (w == x) return ritz_pass_run_for(__func__, &update, x_last, swapped, NULL);
  return ritz_pass_run_for(__func__, &three, all, straight, NULL);
}

int RitzVectorAXPYs(CeedVector y, CeedInt num, const double alpha[], const CeedVector x[]) {
  RITZ_HANDLE(y);
  RITZ_TRY(check_vectors(__func__, y, num, x, false));
  if (num > 0) RITZ_ARGUMENT(y->obj.ceed, alpha);
  for (CeedInt done = 0, form = 0; done < num;) {
    const int count = MOST >> form;
    if (count > num - done) {
      form++;
      continue;
    }
    CeedVector v[MOST + 1];
    for (int i = 0; i < count; i++) v[i] = x[done + i];
    v[count] = y;
    RITZ_TRY(ritz_pass_run_for(__func__, &axpys[form], v, &alpha[done], NULL));
    done += count;
  }
  return CEED_ERROR_SUCCESS;
}

int RitzVectorAddProduct(CeedVector y, double alpha, CeedVector d, CeedVector x) {
  RITZ_HANDLE(y, d, x);
  Ceed ceed = y->obj.ceed;
  RITZ_ARGUMENT(ceed, d);
  RITZ_ARGUMENT(ceed, x);
  RITZ_TRY(require_like(__func__, y, d));
  RITZ_TRY(require_like(__func__, y, x));
  RITZ_REQUIRE(d != y && x != y, ceed, CEED_ERROR_INCOMPATIBLE, "%s: %c is y, they need to be different",
               __func__, d == y ? 'd' : 'x');
  const CeedVector v[] = {d, x, y};
  return ritz_pass_run_for(__func__, &product, v, &alpha, NULL);
}

int RitzVectorAXPBYBy(CeedVector y, RitzScalars scalars, RitzFactor f, CeedVector x, RitzFactor g) {
  RITZ_HANDLE(y, scalars, x);
  Ceed ceed = y->obj.ceed;
  RITZ_ARGUMENT(ceed, scalars);
  RITZ_ARGUMENT(ceed, x);
  RITZ_TRY(require_like(__func__, y, x));
  const CeedVector v[] = {x, y};
  const RitzFactor factors[] = {f, g};
  return ritz_pass_run_by_for(__func__, x == y ? &own : &update, v, scalars, factors, 0);
}

// ---- Copies ----

typedef struct {
  char *to;
  const char *from;
  size_t entry_bytes;
} Copy;

static void copy_range(void *data, int slot, int64_t first, int64_t count) {
  const Copy *copy = data;
  const size_t at = (size_t)first * copy->entry_bytes;
  (void)slot;
  memcpy(copy->to + at, copy->from + at, (size_t)count * copy->entry_bytes);
}

static int copy_entries(Ceed ceed, CeedSize num, const Copy *copy) {
  if (ceed->backend.mem_type == CEED_MEM_HOST) {
    Copy range = *copy;
    return ritz_run_ranges(ceed, num, copy_range, &range);
  }
  return ceed->backend.rep_copy(ceed, (size_t)num * copy->entry_bytes, RITZ_REP_DEVICE, copy->to,
                                RITZ_REP_DEVICE, copy->from);
}

int RitzVectorCopyRange(CeedVector from, CeedSize first_from, CeedSize num, CeedVector to,
                        CeedSize first_to) {
  RITZ_HANDLE(from, to);
  Ceed ceed = from->obj.ceed;
  RITZ_ARGUMENT(ceed, to);
  RITZ_TRY(ritz_vector_check_same_ceed(__func__, to, from));
  RITZ_REQUIRE(!ritz_vectors_meet(from, to), ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: from and to %s, they need to be different", __func__, ritz_vectors_meet(from, to));
  RITZ_REQUIRE(from->precision == to->precision, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: a vector has precision %s, another one %s, needed one precision", __func__,
               ritz_precision_name(from->precision), ritz_precision_name(to->precision));
  RITZ_TRY(check_range(__func__, from, first_from, num));
  RITZ_TRY(check_range(__func__, to, first_to, num));
  if (num == 0) return CEED_ERROR_SUCCESS;
  const RitzAccess access = num == to->length ? RITZ_ACCESS_WRITE : RITZ_ACCESS_READ_WRITE;
  const size_t bytes = to->storage.entry_bytes;
  const CeedMemType mem_type = ceed->backend.mem_type;
  RitzRepKind kinds[2];
  void *x, *y;
  RITZ_TRY(ritz_vector_grant(from, __func__, RITZ_ACCESS_READ, mem_type, &kinds[0]));
  RITZ_TRY(ritz_vector_grant(to, __func__, access, mem_type, &kinds[1]));
  RITZ_TRY(ritz_vector_hand_out(from, RITZ_ACCESS_READ, kinds[0], &x));
  int ierr = ritz_vector_hand_out(to, access, kinds[1], &y);
  if (!ierr) {
    const Copy copy = {(char *)y + (size_t)first_to * bytes, (char *)x + (size_t)first_from * bytes, bytes};
    ierr = ritz_vector_unlock(to, access, &y, copy_entries(ceed, num, &copy));
  }
  return ritz_vector_unlock(from, RITZ_ACCESS_READ, &x, ierr);
}
