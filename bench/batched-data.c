// SPDX-License-Identifier: BSD-2-Clause
// Operands of `ritz bench --batched` in the memory where a context computes: bytes of vectors, which serve
// hosts and devices alike, whatever CeedScalar is.
#include <math.h>
#include <ritz/vector.h>
#include <stdlib.h>
#include <string.h>

#include "bench/batched.h"
#include "cli/cli.h"

// ---- Memory ----

static int make_memory(Ceed ceed, size_t num_bytes, BatchedMemory *m) {
  return CeedVectorCreate(ceed, (CeedSize)(num_bytes / sizeof(CeedScalar) + 2), &m->vec);
}

static int lend_memory(Ceed ceed, BatchedMemory *m) {
  CeedMemType memory;

  CLI_TRY(CeedGetPreferredMemType(ceed, &memory));
  return m->vec ? CeedVectorGetArray(m->vec, memory, &m->array) : CEED_ERROR_SUCCESS;
}

static int take_back_memory(BatchedMemory *m) {
  return m->array ? CeedVectorRestoreArray(m->vec, &m->array) : CEED_ERROR_SUCCESS;
}

// Memory that holds these bytes.
static int make_filled(Ceed ceed, size_t num_bytes, const void *bytes, BatchedMemory *m) {
  CeedScalar *array;

  CLI_TRY(make_memory(ceed, num_bytes, m));
  CLI_TRY(CeedVectorGetArrayWrite(m->vec, CEED_MEM_HOST, &array));
  if (bytes)
    memcpy(array, bytes, num_bytes);
  else
    memset(array, 0, num_bytes);
  return CeedVectorRestoreArray(m->vec, &array);
}

// ---- Shapes ----

int batched_size(const BatchedData *d, int64_t i) { return d->sizes ? d->sizes[i] : d->of.n; }

static bool is_square(const BatchedData *d, int operand) {
  return d->of.routine->operand[operand] == BATCHED_MATRIX;
}

static int columns_of(const BatchedData *d, int operand, int64_t i) {
  return is_square(d, operand) ? batched_size(d, i) : batched_columns(&d->of, operand);
}

int64_t batched_before(const BatchedData *d, int operand, int64_t i) {
  if (!d->sizes) return i * d->of.n * batched_columns(&d->of, operand);
  return is_square(d, operand) ? d->before_2[i] : d->before_1[i] * batched_columns(&d->of, operand);
}

static int64_t entry_at(const BatchedData *d, int operand, int64_t i, int row, int col) {
  const int64_t width = d->width;

  if (width == 1) return batched_before(d, operand, i) + row + (int64_t)col * batched_size(d, i);
  return (batched_before(d, operand, i / width) + row + (int64_t)col * d->of.n) * width + i % width;
}

// ---- Contents ----

// Contents repeat after so many matrices, a multiple of any width; making them takes no time to speak of.
static int64_t period_of(const BatchedCase *c) {
  const int64_t matrices = (int64_t)1 << 20, least = 64, num = matrices / (c->n * c->n) / least * least;
  const int64_t period = num < least ? least : num > 1024 ? 1024 : num;

  return period < c->count ? period : c->count;
}

// In [-1, 1): a congruence modulo 2^64 with Knuth's factor, its upper bits.
static double draw(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return ldexp((double)(*state >> 11), -52) - 1;
}

static void set_entry(const BatchedData *d, void *array, int64_t at, double value) {
  if (d->of.precision == CEED_SCALAR_FP32)
    ((float *)array)[at] = (float)value;
  else
    ((double *)array)[at] = value;
}

static void fill_matrix(const BatchedData *d, int operand, int64_t i, uint64_t *state, void *array) {
  const int size = batched_size(d, i);
  const int shift = d->of.routine->contents == BATCHED_SHIFTED ? (int)(i % size) : 0;

  for (int col = 0; col < columns_of(d, operand, i); col++) {
    for (int row = 0; row < size; row++) {
      const double any = draw(state), diagonal = (row + shift) % size == col;
      set_entry(d, array, entry_at(d, operand, i, row, col), operand ? any : diagonal + any / size);
    }
  }
}

static int make_operand(BatchedData *d, int operand) {
  const size_t size = batched_entry_bytes(&d->of);
  const int64_t period = period_of(&d->of), count = d->of.count, all = batched_before(d, operand, count);
  const size_t part = (size_t)batched_before(d, operand, period) * size;
  BatchedOperand *o = &d->operand[operand];
  uint64_t state = 7 + (uint64_t)operand;
  CeedScalar *array;

  CLI_TRY(make_memory(d->ceed, (size_t)all * size, &o->start));
  CLI_TRY(CeedVectorGetArrayWrite(o->start.vec, CEED_MEM_HOST, &array));
  for (int64_t i = 0; i < period; i++) fill_matrix(d, operand, i, &state, array);
  for (size_t done = part; done < (size_t)all * size; done += part) {
    const size_t left = (size_t)all * size - done;
    memcpy((char *)array + done, array, left < part ? left : part);
  }
  CLI_TRY(CeedVectorRestoreArray(o->start.vec, &array));
  for (int copy = 0; copy < d->num_copies; copy++)
    CLI_TRY(make_memory(d->ceed, (size_t)all * size, &o->data[copy]));
  return CEED_ERROR_SUCCESS;
}

// ---- Sizes, pivots, addresses ----

static int make_sizes(BatchedData *d) {
  const int64_t count = d->of.count, period = period_of(&d->of);
  uint64_t state = 3;

  CLI_TRY(cli_allocate(d->ceed, (size_t)count, sizeof(*d->sizes), &d->sizes));
  CLI_TRY(cli_allocate(d->ceed, (size_t)count + 1, sizeof(*d->before_1), &d->before_1));
  CLI_TRY(cli_allocate(d->ceed, (size_t)count + 1, sizeof(*d->before_2), &d->before_2));
  for (int64_t i = 0; i < count; i++) {
    const int drawn = 1 + (int)((1 + draw(&state)) / 2 * d->of.n);
    const int32_t size = i < period ? (int32_t)drawn : d->sizes[i - period];

    d->sizes[i] = size;
    d->before_1[i + 1] = d->before_1[i] + size;
    d->before_2[i + 1] = d->before_2[i] + (int64_t)size * size;
  }
  return make_filled(d->ceed, (size_t)count * sizeof(*d->sizes), d->sizes, &d->rows);
}

int32_t batched_pivot(const BatchedData *d, int64_t i, int32_t k) {
  const int64_t place = i % period_of(&d->of);
  const int size = batched_size(d, i);

  return k < size ? (int32_t)(k + 1 + (place + k) % (size - k)) : k + 1;
}

static int make_pivots(BatchedData *d) {
  const int64_t count = d->of.count;
  const size_t all = (size_t)(count * d->of.n);
  int32_t *ipiv = NULL;

  CLI_TRY(cli_allocate(d->ceed, all, sizeof(*ipiv), &ipiv));
  for (size_t at = 0; at < all; at++)
    ipiv[at] = batched_pivot(d, (int64_t)at / d->of.n, (int32_t)(at % (size_t)d->of.n));
  const int ierr = make_filled(d->ceed, all * sizeof(*ipiv), ipiv, &d->ipiv);
  free(ipiv);
  return ierr ? ierr : make_filled(d->ceed, (size_t)count * sizeof(*ipiv), NULL, &d->info);
}

// Offsets, and addresses in copy `copy`.
static int make_places(BatchedData *d, int operand) {
  BatchedOperand *o = &d->operand[operand];
  const size_t num = (size_t)d->of.count, size = batched_entry_bytes(&d->of);
  int64_t *places = NULL;
  int ierr;

  CLI_TRY(cli_allocate(d->ceed, num, sizeof(*places), &places));
  for (size_t i = 0; i < num; i++) places[i] = batched_before(d, operand, (int64_t)i);
  ierr = d->sizes ? make_filled(d->ceed, num * sizeof(*places), places, &o->offsets) : CEED_ERROR_SUCCESS;
  for (int copy = 0; copy < d->num_copies && d->has_pointers && !ierr; copy++) {
    ierr = CeedVectorCopy(o->start.vec, o->data[copy].vec);
    if (!ierr) ierr = lend_memory(d->ceed, &o->data[copy]);
    for (size_t i = 0; i < num && !ierr; i++) {
      const char *address =
          (char *)o->data[copy].array + (size_t)batched_before(d, operand, (int64_t)i) * size;
      memcpy(&places[i], &address, sizeof(address));
    }
    if (!ierr) ierr = take_back_memory(&o->data[copy]);
    if (!ierr) ierr = make_filled(d->ceed, num * sizeof(*places), places, &o->pointers[copy]);
  }
  free(places);
  return ierr;
}

int batched_data_make(Ceed ceed, const BatchedCase *c, bool has_pointers, BatchedData *d) {
  CeedMemType memory;

  *d = (BatchedData){.ceed = ceed, .of = *c, .has_pointers = has_pointers || c->form == BATCHED_POINTERS};
  CLI_TRY(CeedGetPreferredMemType(ceed, &memory));
  d->width = c->form == BATCHED_INTERLEAVED ? (CeedInt)(64 / batched_entry_bytes(c)) : 1;
  d->num_copies = memory == CEED_MEM_DEVICE ? BATCHED_MAX_COPIES : 1;
  if (c->form == BATCHED_NONUNIFORM) CLI_TRY(make_sizes(d));
  CLI_TRY(make_pivots(d));
  for (int k = 0; k < BATCHED_MAX_OPERANDS && batched_columns(c, k); k++) {
    CLI_TRY(make_operand(d, k));
    CLI_TRY(make_places(d, k));
  }
  return CEED_ERROR_SUCCESS;
}

void batched_data_free(BatchedData *d) {
  for (int k = 0; k < BATCHED_MAX_OPERANDS; k++) {
    BatchedOperand *o = &d->operand[k];
    for (int copy = 0; copy < BATCHED_MAX_COPIES; copy++) {
      CeedVectorDestroy(&o->data[copy].vec);
      CeedVectorDestroy(&o->pointers[copy].vec);
    }
    CeedVectorDestroy(&o->start.vec);
    CeedVectorDestroy(&o->offsets.vec);
  }
  CeedVectorDestroy(&d->rows.vec);
  CeedVectorDestroy(&d->ipiv.vec);
  CeedVectorDestroy(&d->info.vec);
  free(d->sizes);
  free(d->before_1);
  free(d->before_2);
}

// ---- Use ----

int batched_data_restore(const BatchedData *d) {
  for (int k = 0; k < BATCHED_MAX_OPERANDS; k++) {
    for (int copy = 0; copy < d->num_copies && d->operand[k].start.vec; copy++)
      CLI_TRY(CeedVectorCopy(d->operand[k].start.vec, d->operand[k].data[copy].vec));
  }
  return CEED_ERROR_SUCCESS;
}

int batched_data_lend(BatchedData *d) {
  BatchedMemory *const shared[] = {&d->rows, &d->ipiv, &d->info};

  for (int i = 0; i < 3; i++) CLI_TRY(lend_memory(d->ceed, shared[i]));
  for (int k = 0; k < BATCHED_MAX_OPERANDS; k++) {
    CLI_TRY(lend_memory(d->ceed, &d->operand[k].offsets));
    for (int copy = 0; copy < d->num_copies; copy++) {
      CLI_TRY(lend_memory(d->ceed, &d->operand[k].data[copy]));
      CLI_TRY(lend_memory(d->ceed, &d->operand[k].pointers[copy]));
    }
  }
  return CEED_ERROR_SUCCESS;
}

int batched_data_take_back(BatchedData *d) {
  BatchedMemory *const shared[] = {&d->rows, &d->ipiv, &d->info};

  for (int i = 0; i < 3; i++) CLI_TRY(take_back_memory(shared[i]));
  for (int k = 0; k < BATCHED_MAX_OPERANDS; k++) {
    CLI_TRY(take_back_memory(&d->operand[k].offsets));
    for (int copy = 0; copy < d->num_copies; copy++) {
      CLI_TRY(take_back_memory(&d->operand[k].data[copy]));
      CLI_TRY(take_back_memory(&d->operand[k].pointers[copy]));
    }
  }
  return CEED_ERROR_SUCCESS;
}

RitzBatchArray batched_array(const BatchedData *d, int operand, int copy) {
  const BatchedOperand *o = &d->operand[operand];
  RitzBatchArray array = {.base = o->data[copy].array};

  if (d->of.form == BATCHED_POINTERS) {
    array.base = NULL;
    array.pointers = (void *const *)(const void *)o->pointers[copy].array;
  }
  if (d->of.form == BATCHED_NONUNIFORM) {
    array.offsets = (const int64_t *)(const void *)o->offsets.array;
    array.rows = (const int32_t *)(const void *)d->rows.array;
    if (is_square(d, operand)) array.cols = array.rows;
  }
  return array;
}

int batched_data_read(const BatchedData *d, int operand, const BatchedMemory *from, int64_t i, void *matrix) {
  const size_t size = batched_entry_bytes(&d->of), step = sizeof(CeedScalar);
  const int64_t width = d->width, first = i / width, rows = batched_size(d, i),
                cols = columns_of(d, operand, i);
  const size_t begin = (size_t)(batched_before(d, operand, first) * width) * size;
  const size_t bytes = (size_t)(rows * cols * width) * size;
  const CeedSize num = (CeedSize)((begin + bytes + step - 1) / step - begin / step);
  const CeedScalar *array;
  BatchedMemory part = {0};
  int ierr = CeedVectorCreate(d->ceed, num, &part.vec);

  if (!ierr) ierr = RitzVectorCopyRange(from->vec, (CeedSize)(begin / step), num, part.vec, 0);
  if (!ierr) ierr = CeedVectorGetArrayRead(part.vec, CEED_MEM_HOST, &array);
  if (!ierr) {
    const char *at = (const char *)array + begin % step;
    for (int64_t e = 0; e < rows * cols; e++)
      memcpy((char *)matrix + (size_t)e * size, at + (size_t)(e * width + i % width) * size, size);
    ierr = CeedVectorRestoreArrayRead(part.vec, &array);
  }
  CeedVectorDestroy(&part.vec);
  return ierr;
}
