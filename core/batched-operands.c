// SPDX-License-Identifier: BSD-2-Clause
// The operands of a batched call: what can be seen of them without reading memory is checked, and written
// down for backends (RitzBatchedCall). Called by core/batched-call.c.
#include "core/batched.h"

#include <string.h>

// ---- One operand ----

typedef struct {
  RitzBatched batched;
  const char *name; // of the call
  CeedInt i;        // of the operand
  const RitzBatchArray *array;
  const RitzBatchLayout *layout;
  int64_t count;
} Operand;

static char letter(const Operand *o) { return (char)('A' + o->i); }
static bool is_empty(const Operand *o) { return o->count == 0 || o->layout->m == 0 || o->layout->n == 0; }
static bool has_own_ld(const Operand *o) {
  return o->array->lds || (o->batched->follows_rows[o->i] && o->array->rows);
}
// Matrices are in equal places of equal size: base and stride alone.
static bool is_regular(const Operand *o) {
  const RitzBatchArray *a = o->array;
  return a->base && !a->offsets && !a->rows && !a->cols && !a->first_rows && !a->first_cols && !has_own_ld(o);
}

// Entries from the base to behind the last one of the last matrix, where the operand is regular.
static int64_t extent(const Operand *o) {
  const RitzBatchLayout *l = o->layout;
  const int64_t groups = (o->count - 1) / l->width;
  const int64_t last =
      (o->array->row0 + l->m - 1 + (int64_t)l->ld * (o->array->col0 + l->n - 1)) * l->width + 1;

  return groups * l->stride + last + (groups > 0 ? l->width - 1 : (o->count - 1) % l->width);
}

static int check_members(const Operand *o) {
  const RitzBatchArray *a = o->array;
  Ceed ceed = o->batched->ceed;

  RITZ_REQUIRE(!a->base || !a->pointers, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: %c has a base and pointers, needed one of them", o->name, letter(o));
  RITZ_REQUIRE(a->base || a->pointers || is_empty(o), ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: %c has neither a base nor pointers, needed one of them", o->name, letter(o));
  RITZ_REQUIRE(!a->offsets || !a->pointers, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: %c has offsets and pointers, needed a base for offsets", o->name, letter(o));
  RITZ_REQUIRE(o->layout->width == 1 || !(a->offsets || a->pointers || a->rows || a->cols || a->lds ||
                                          a->first_rows || a->first_cols),
               ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: %c is interleaved (width %" CeedInt_FMT
               ") and has arrays of places or sizes, which need width 1",
               o->name, letter(o), o->layout->width);
  RITZ_REQUIRE(a->row0 >= 0 && a->col0 >= 0, ceed, CEED_ERROR_DIMENSION,
               "%s: the sub-matrix of %c starts at (%d, %d), needed at least 0", o->name, letter(o),
               (int)a->row0, (int)a->col0);
  return CEED_ERROR_SUCCESS;
}

// A sub-matrix lies inside of its matrix, matrices apart from each other.
static int check_places(const Operand *o) {
  const RitzBatchArray *a = o->array;
  const RitzBatchLayout *l = o->layout;
  Ceed ceed = o->batched->ceed;

  if (is_empty(o) || a->rows || a->first_rows || has_own_ld(o)) return CEED_ERROR_SUCCESS;
  RITZ_REQUIRE((int64_t)a->row0 + l->m <= l->ld, ceed, CEED_ERROR_DIMENSION,
               "%s: %c has %" CeedInt_FMT
               " rows from row %d on, needed them within the leading dimension %" CeedInt_FMT,
               o->name, letter(o), l->m, (int)a->row0, l->ld);
  if (!is_regular(o)) return CEED_ERROR_SUCCESS;
  const int64_t end = (((int64_t)a->col0 + l->n - 1) * l->ld + a->row0 + l->m) * l->width;
  RITZ_REQUIRE(o->count <= l->width || end <= l->stride, ceed, CEED_ERROR_DIMENSION,
               "%s: the sub-matrix of %c ends at entry %lld, needed within the stride %lld", o->name,
               letter(o), (long long)end, (long long)l->stride);
  RITZ_REQUIRE((double)o->count / l->width * (double)l->stride < 1e18, ceed, CEED_ERROR_DIMENSION,
               "%s: %lld matrices of %c are %.3g entries, needed less than 1e18", o->name,
               (long long)o->count, letter(o), (double)o->count / l->width * (double)l->stride);
  return CEED_ERROR_SUCCESS;
}

static int check_vector(const Operand *o) {
  const CeedVector vec = o->array->vector;
  const RitzBatched b = o->batched;

  if (!vec) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_check_handle(b->ceed, o->name, "vector", vec, &ritz_vector_class));
  RITZ_REQUIRE(vec->obj.ceed == b->ceed, b->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the vector of %c belongs to another context", o->name, letter(o));
  RITZ_REQUIRE(vec->precision == o->layout->precision, b->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the vector of %c has %s, needed %s", o->name, letter(o),
               ritz_precision_name(vec->precision), ritz_precision_name(o->layout->precision));
  RITZ_REQUIRE(o->array->access != RITZ_ACCESS_READ || !b->form.operand[o->i].is_written, b->ceed,
               CEED_ERROR_INCOMPATIBLE, "%s: %c is written, but its vector was lent for reading", o->name,
               letter(o));
  if (is_empty(o) || !is_regular(o)) return CEED_ERROR_SUCCESS;
  RITZ_REQUIRE(extent(o) <= vec->length, b->ceed, CEED_ERROR_DIMENSION,
               "%s: %lld matrices of %c end at entry %lld, but the vector has %td", o->name,
               (long long)o->count, letter(o), (long long)extent(o), vec->length);
  return CEED_ERROR_SUCCESS;
}

// On devices: the array, or as much of it as is known, is memory of the context.
static int check_memory(const Operand *o, const void *p, int64_t num, size_t size) {
  Ceed ceed = o->batched->ceed;

  if (!p || num == 0 || ceed->backend.mem_type == CEED_MEM_HOST || !ceed->backend.rep_accept)
    return CEED_ERROR_SUCCESS;
  return ceed->backend.rep_accept(ceed, o->name, RITZ_REP_DEVICE, (size_t)num * size, false, p);
}

static int check_memories(const Operand *o) {
  const RitzBatchArray *a = o->array;
  const int64_t entries = is_empty(o) ? 0 : is_regular(o) ? extent(o) : 1;

  RITZ_TRY(check_memory(o, a->base, entries, ritz_scalar_bytes(o->layout->precision)));
  RITZ_TRY(check_memory(o, a->offsets, o->count, sizeof(*a->offsets)));
  RITZ_TRY(check_memory(o, a->pointers, o->count, sizeof(*a->pointers)));
  RITZ_TRY(check_memory(o, a->rows, o->count, sizeof(*a->rows)));
  RITZ_TRY(check_memory(o, a->cols, o->count, sizeof(*a->cols)));
  RITZ_TRY(check_memory(o, a->lds, o->count, sizeof(*a->lds)));
  RITZ_TRY(check_memory(o, a->first_rows, o->count, sizeof(*a->first_rows)));
  return check_memory(o, a->first_cols, o->count, sizeof(*a->first_cols));
}

static RitzBatchOperand write_down(const Operand *o) {
  const RitzBatchArray *a = o->array;

  return (RitzBatchOperand){.base = a->base,
                            .pointers = a->pointers,
                            .offsets = a->offsets,
                            .lds = a->lds                           ? a->lds
                                   : o->batched->follows_rows[o->i] ? a->rows
                                                                    : NULL,
                            .first_rows = a->first_rows,
                            .first_cols = a->first_cols,
                            .row0 = a->row0,
                            .col0 = a->col0,
                            .ld = o->layout->ld,
                            .stride = o->layout->stride,
                            .width = o->layout->width};
}

// ---- Overlap of a result with an operand ----

static int64_t modulo(int64_t a, int64_t b) { return a % b < 0 ? a % b + b : a % b; }

// Intervals [a, a + na) and [b, b + nb) on a circle of length n.
static bool intervals_overlap(int64_t a, int64_t na, int64_t b, int64_t nb, int64_t n) {
  return modulo(b - a, n) < na || modulo(a - b, n) < nb;
}

// Rectangles at places `a` and `b` of one matrix with this leading dimension.
static bool rectangles_overlap(int64_t a, const RitzBatchLayout *la, int64_t b, const RitzBatchLayout *lb) {
  const int64_t ld = la->ld, row_a = a % ld, row_b = b % ld, col_a = a / ld, col_b = b / ld;

  return row_a < row_b + lb->m && row_b < row_a + la->m && col_a < col_b + lb->n && col_b < col_a + la->n;
}

// Entries of one group, from the first to behind the last; where it begins.
static int64_t span(const RitzBatchLayout *l) { return ((int64_t)l->ld * (l->n - 1) + l->m) * l->width; }
static int64_t begin_of_group(const Operand *o) {
  return (o->array->row0 + (int64_t)o->array->col0 * o->layout->ld) * o->layout->width;
}

// Entries from the base of w to that of r.
static int64_t distance(const Operand *w, const Operand *r) {
  const int64_t size = (int64_t)ritz_scalar_bytes(w->layout->precision);

  return ((int64_t)(uintptr_t)r->array->base - (int64_t)(uintptr_t)w->array->base) / size;
}

// Two regular operands: whether some matrix of w has entries of some matrix of r. Equal strides are seen
// through, as those of several matrices in one record are; batches with different ones must lie apart.
static bool regular_ones_overlap(const Operand *w, const Operand *r) {
  const RitzBatchLayout *lw = w->layout, *lr = r->layout;
  const int64_t shift = distance(w, r), width = lw->width;
  const bool are_single = w->count <= lw->width && r->count <= lr->width;

  if (shift + begin_of_group(r) >= extent(w) || begin_of_group(w) >= shift + extent(r)) return false;
  if (lw->width != lr->width || (lw->stride != lr->stride && !are_single)) return true;
  const int64_t period = are_single ? extent(w) + extent(r) : lw->stride;
  const int64_t at_w = modulo(begin_of_group(w), period), at_r = modulo(shift + begin_of_group(r), period);
  if (!intervals_overlap(at_w, span(lw), at_r, span(lr), period)) return false;
  if (lw->ld != lr->ld || shift % width != 0 || at_w + span(lw) > period || at_r + span(lr) > period)
    return true;
  return rectangles_overlap(at_w / width, lw, at_r / width, lr);
}

static bool is_same_place(const Operand *w, const Operand *r) {
  const RitzBatchArray *a = w->array, *b = r->array;

  return a->base == b->base && a->pointers == b->pointers && a->offsets == b->offsets && a->row0 == b->row0 &&
         a->col0 == b->col0 && a->first_rows == b->first_rows && a->first_cols == b->first_cols &&
         a->rows == b->rows && a->cols == b->cols && a->lds == b->lds && w->layout->ld == r->layout->ld &&
         w->layout->stride == r->layout->stride && w->layout->width == r->layout->width;
}

// Two regular operands of different precisions: whether their ranges of bytes meet.
static bool ranges_meet(const Operand *w, const Operand *r) {
  const uintptr_t size_w = ritz_scalar_bytes(w->layout->precision),
                  size_r = ritz_scalar_bytes(r->layout->precision);
  const uintptr_t at_w = (uintptr_t)w->array->base + (uintptr_t)begin_of_group(w) * size_w,
                  at_r = (uintptr_t)r->array->base + (uintptr_t)begin_of_group(r) * size_r;

  return at_w < (uintptr_t)r->array->base + (uintptr_t)extent(r) * size_r &&
         at_r < (uintptr_t)w->array->base + (uintptr_t)extent(w) * size_w;
}

// As far as addresses show it; an operand that is nowhere regular is compared as a whole.
static bool overlap(const Operand *w, const Operand *r) {
  if (is_empty(w) || is_empty(r)) return false;
  if (is_same_place(w, r)) return true;
  if (!is_regular(w) || !is_regular(r)) return false;
  return w->layout->precision == r->layout->precision ? regular_ones_overlap(w, r) : ranges_meet(w, r);
}

static int check_overlaps(RitzBatched b, const Operand *operands) {
  for (CeedInt w = 0; w < b->form.num_operands; w++) {
    for (CeedInt r = 0; r < b->form.num_operands && b->form.operand[w].is_written; r++) {
      const Operand *result = &operands[w], *other = &operands[r];

      if (r == w || (b->operation == RITZ_BATCHED_INV && is_same_place(result, other))) continue;
      RITZ_REQUIRE(!overlap(result, other), b->ceed, CEED_ERROR_INCOMPATIBLE,
                   "%s: %c, which is written, has entries of %c, needed arrays without common entries",
                   result->name, letter(result), letter(other));
    }
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Sizes ----

bool ritz_batched_reads_sizes(Ceed ceed) {
  // The device that the checking backend plays has memory that can be read.
  return !strcmp(ceed->backend.name, "/cpu/self/check") ||
         (ceed->is_strict && ceed->backend.mem_type == CEED_MEM_HOST);
}

int ritz_batched_check_sizes(RitzBatched b, const char *name, RitzBatchDim dim, int64_t count,
                             const int32_t *sizes) {
  for (int64_t i = 0; sizes && i < count; i++)
    RITZ_REQUIRE(sizes[i] >= 0 && sizes[i] <= b->size[dim], b->ceed, CEED_ERROR_DIMENSION,
                 "%s: %c of matrix %lld is %d, needed 0 to %" CeedInt_FMT, name, "mnk"[dim], (long long)i,
                 (int)sizes[i], b -> size[dim]);
  return CEED_ERROR_SUCCESS;
}

// The array that says rows (or columns) of the operand; of a square one either serves.
static const int32_t *sizes_of(const Operand *o, bool is_of_rows) {
  const RitzBatchDim rows = o->batched->form.operand[o->i].rows, cols = o->batched->form.operand[o->i].cols;
  const int32_t *mine = is_of_rows ? o->array->rows : o->array->cols;

  if (mine || rows != cols) return mine;
  return is_of_rows ? o->array->cols : o->array->rows;
}

static int same_sizes(const Operand *o, const RitzBatchedCall *call, RitzBatchDim dim, const int32_t *sizes) {
  for (int64_t i = 0; sizes && i < o->count; i++) {
    const CeedInt wanted = ritz_batched_size(o->batched, call, dim, i);
    RITZ_REQUIRE(sizes[i] == wanted, o->batched->ceed, CEED_ERROR_DIMENSION,
                 "%s: matrix %lld of %c has the size %d, needed %" CeedInt_FMT, o->name, (long long)i,
                 letter(o), (int)sizes[i], wanted);
  }
  return CEED_ERROR_SUCCESS;
}

// Every matrix lies within its leading dimension.
static int check_rows(const Operand *o, const RitzBatchedCall *call) {
  const RitzBatchOperand *operand = &call->operand[o->i];
  const RitzBatchDim rows = o->batched->form.operand[o->i].rows;

  for (int64_t i = 0; i < o->count; i++) {
    const int64_t first = operand->row0 + (operand->first_rows ? operand->first_rows[i] : 0);
    const int64_t ld = operand->lds ? operand->lds[i] : operand->ld;
    const int64_t end = first + ritz_batched_size(o->batched, call, rows, i);

    RITZ_REQUIRE(first >= 0 && end <= ld, o->batched->ceed, CEED_ERROR_DIMENSION,
                 "%s: matrix %lld of %c has rows %lld to %lld, needed them within its leading dimension %lld",
                 o->name, (long long)i, letter(o), (long long)first, (long long)end - 1, (long long)ld);
  }
  return CEED_ERROR_SUCCESS;
}

static int read_sizes(RitzBatched b, const char *name, const Operand *operands, const RitzBatchedCall *call) {
  for (int d = 0; d < RITZ_NUM_DIMS; d++)
    RITZ_TRY(ritz_batched_check_sizes(b, name, (RitzBatchDim)d, call->count, call->sizes[d]));
  for (CeedInt i = 0; i < b->form.num_operands; i++) {
    RITZ_TRY(same_sizes(&operands[i], call, b->form.operand[i].rows, operands[i].array->rows));
    RITZ_TRY(same_sizes(&operands[i], call, b->form.operand[i].cols, operands[i].array->cols));
    RITZ_TRY(check_rows(&operands[i], call));
  }
  return CEED_ERROR_SUCCESS;
}

// ---- All operands ----

int ritz_batched_resolve(RitzBatched b, const char *name, const RitzBatchArray *const *arrays,
                         RitzBatchedCall *call) {
  const CeedInt num = b->form.num_operands;
  Operand operands[RITZ_BATCHED_MAX_OPERANDS];

  call->is_uniform = true;
  for (CeedInt i = num - 1; i >= 0; i--) {
    Operand *o = &operands[i];
    const RitzBatchArray *a = arrays[i];

    *o = (Operand){b, name, i, a, ritz_batched_layout(&b->options, i), call->count};
    RITZ_TRY(check_members(o));
    RITZ_TRY(check_places(o));
    RITZ_TRY(check_vector(o));
    RITZ_TRY(check_memories(o));
    call->operand[i] = write_down(o);
    for (int columns = 0; columns < 2; columns++) {
      const RitzBatchDim dim = columns ? b->form.operand[i].cols : b->form.operand[i].rows;
      if (dim < RITZ_NUM_DIMS && !call->sizes[dim]) call->sizes[dim] = sizes_of(o, !columns);
    }
    if (a->rows || a->cols || a->lds || a->first_rows || a->first_cols) call->is_uniform = false;
  }
  RITZ_TRY(check_overlaps(b, operands));
  return ritz_batched_reads_sizes(b->ceed) ? read_sizes(b, name, operands, call) : CEED_ERROR_SUCCESS;
}
