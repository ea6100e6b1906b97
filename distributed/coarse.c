// SPDX-License-Identifier: BSD-2-Clause
// Coarsest problems that every part has whole (contract in distributed/coarse.h). Entries of the whole
// problem are the owned ones of part 0, of part 1, ...; ghosts learn their numbers by an exchange. What parts
// have is put into places of one array, zero elsewhere, and added up over the parts: sums with zeros are
// exact, so that all parts get the same bits and compute the same factors.
#include "distributed/coarse.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "core/core.h"
#include "distributed/exchange.h"
#include "solver/preconditioner.h"

// Factors of so many unknowns and fewer are the host's, also below devices: what is solved comes through the
// host, whose processor has solved before a device has started its kernels (0.2 ms and 0.8 ms of 3400
// unknowns).
enum { MOST_ON_HOST = 8000 };

struct RitzGathered {
  RitzExchange exchange;     // counted
  Ceed ceed;                 // counted: where factors are, the exchange's or one on the host
  int64_t num_local, length; // entries of this part, of the whole problem
  int64_t num_unknowns;      // not constrained
  int64_t *numbers;          // owned, [num_local]: places in the whole; -1: constrained
  double *sums;              // owned, [length]
  CeedVector b, x;           // owned, of the whole
  RitzPreconditioner solver; // owned
};

// ---- Sums over parts ----

enum { MOST_AT_ONCE = 1 << 28 }; // of numbers in a reduction

static int add_up(const RitzGathered *g, RitzReduction kind, int64_t num, double values[]) {
  for (int64_t first = 0; first < num; first += MOST_AT_ONCE) {
    const int64_t left = num - first;

    RITZ_TRY(RitzExchangeReduce(g->exchange, kind, (CeedInt)(left < MOST_AT_ONCE ? left : MOST_AT_ONCE),
                                values + first));
  }
  return CEED_ERROR_SUCCESS;
}

// *first: how many the parts before have; *all: all of them.
static int count(const RitzGathered *g, int64_t num, int64_t *first, int64_t *all) {
  const RitzTransport *t = &g->exchange->transport;
  double *counts = NULL;

  RITZ_TRY(RITZ_CALLOC(g->exchange->ceed, (size_t)t->num_parts, &counts));
  counts[t->part] = (double)num;
  const int ierr = add_up(g, RITZ_REDUCTION_SUM, t->num_parts, counts);

  *first = *all = 0;
  for (CeedInt part = 0; part < t->num_parts; part++) {
    if (part < t->part) *first += (int64_t)counts[part];
    *all += (int64_t)counts[part];
  }
  RITZ_FREE(&counts);
  return ierr;
}

// ---- Numbers ----

static int mark_constraints(RitzGathered *g, RitzIndices constraints) {
  const int64_t *entries = NULL;
  int64_t num = 0;

  if (constraints) RITZ_TRY(RitzIndicesGet(constraints, &num, &entries));
  for (int64_t i = 0; i < num; i++) g->numbers[entries[i]] = -1;
  return CEED_ERROR_SUCCESS;
}

// In a vector: owned entries have theirs and send them to ghosts.
static int share_numbers(RitzGathered *g, int64_t first, CeedVector v) {
  const RitzExchange e = g->exchange;
  const CeedScalar *read = NULL;
  CeedScalar *write = NULL;

  RITZ_TRY(CeedVectorGetArrayWrite(v, CEED_MEM_HOST, &write));
  for (CeedSize i = 0; i < e->length; i++) write[i] = i < e->num_owned ? (CeedScalar)(first + i) : 0;
  RITZ_TRY(CeedVectorRestoreArray(v, &write));
  RITZ_TRY(RitzExchangeRun(e, RITZ_EXCHANGE_TO_GHOSTS, v));
  RITZ_TRY(CeedVectorGetArrayRead(v, CEED_MEM_HOST, &read));
  for (CeedSize i = 0; i < e->length; i++) g->numbers[i] = (int64_t)read[i];
  return CeedVectorRestoreArrayRead(v, &read);
}

static int number_entries(RitzGathered *g, int64_t first, RitzIndices constraints) {
  const RitzExchange e = g->exchange;
  CeedVector v = NULL;

  RITZ_TRY(RITZ_MALLOC(e->ceed, (size_t)e->length, &g->numbers));
  RITZ_TRY(CeedVectorCreate(e->ceed, e->length, &v));
  const int ierr = share_numbers(g, first, v);

  RITZ_TRY(ritz_first_error(ierr, CeedVectorDestroy(&v)));
  return mark_constraints(g, constraints);
}

static int64_t count_unknowns(const RitzGathered *g) {
  int64_t num = 0;

  for (CeedSize i = 0; i < g->exchange->num_owned; i++) num += g->numbers[i] >= 0;
  return num;
}

// ---- Rows of this part ----

// Entries of the matrix, of this part's elements or all parts'. Rows and columns are numbers of the whole.
typedef struct {
  int64_t num, room;
  double *rows, *cols, *values; // owned, [num]; numbers are exact
} Entries;

static void free_entries(Entries *e) {
  RITZ_FREE(&e->rows);
  RITZ_FREE(&e->cols);
  RITZ_FREE(&e->values);
}

static int reserve(Ceed ceed, Entries *e, int64_t more) {
  e->room += more;
  RITZ_TRY(RITZ_REALLOC(ceed, (size_t)e->room, &e->rows));
  RITZ_TRY(RITZ_REALLOC(ceed, (size_t)e->room, &e->cols));
  return RITZ_REALLOC(ceed, (size_t)e->room, &e->values);
}

static int append(const RitzGathered *g, const int64_t *starts, const int64_t *cols, CeedVector values,
                  Entries *e) {
  const CeedScalar *array = NULL;

  RITZ_TRY(reserve(g->exchange->ceed, e, starts[g->num_local]));
  RITZ_TRY(CeedVectorGetArrayRead(values, CEED_MEM_HOST, &array));
  for (int64_t i = 0; i < g->num_local; i++) {
    for (int64_t k = starts[i]; k < starts[i + 1] && g->numbers[i] >= 0; k++) {
      if (g->numbers[cols[k]] < 0) continue;
      e->rows[e->num] = (double)g->numbers[i];
      e->cols[e->num] = (double)g->numbers[cols[k]];
      e->values[e->num++] = (double)array[k];
    }
  }
  return CeedVectorRestoreArrayRead(values, &array);
}

// Adds the matrix of an operator on some elements of this part.
static int assemble(const RitzGathered *g, CeedOperator op, Entries *e) {
  CeedSize num_rows = 0, num_cols = 0;
  int64_t *starts = NULL, *cols = NULL;
  CeedVector values = NULL;

  if (!op) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RitzOperatorAssembleCSRSymbolic(op, &num_rows, &num_cols, &starts, &cols));
  int ierr = CeedVectorCreate(g->exchange->ceed, starts[num_rows], &values);

  if (!ierr) ierr = RitzOperatorAssembleCSR(op, starts, cols, values);
  if (!ierr) ierr = append(g, starts, cols, values, e);
  free(starts);
  free(cols);
  return ritz_first_error(ierr, CeedVectorDestroy(&values));
}

// ---- Rows of all parts ----

static int gather_numbers(const RitzGathered *g, int64_t first, int64_t num, int64_t all, double **numbers) {
  double *whole = NULL;

  RITZ_TRY(RITZ_CALLOC(g->exchange->ceed, (size_t)all, &whole));
  if (num > 0) memcpy(whole + first, *numbers, (size_t)num * sizeof(*whole));
  RITZ_FREE(numbers);
  *numbers = whole;
  return add_up(g, RITZ_REDUCTION_SUM, all, whole);
}

static int gather_entries(const RitzGathered *g, Entries *e) {
  int64_t first = 0, all = 0;

  RITZ_TRY(count(g, e->num, &first, &all));
  RITZ_TRY(gather_numbers(g, first, e->num, all, &e->rows));
  RITZ_TRY(gather_numbers(g, first, e->num, all, &e->cols));
  RITZ_TRY(gather_numbers(g, first, e->num, all, &e->values));
  e->num = all;
  return CEED_ERROR_SUCCESS;
}

// unknowns [length]: numbers of the entries that are not constrained, -1; rows->entries: the reverse.
static int number_unknowns(const RitzGathered *g, RitzRows *rows, int64_t *unknowns) {
  double *is_free = NULL;

  RITZ_TRY(RITZ_CALLOC(g->exchange->ceed, (size_t)g->length, &is_free));
  for (CeedSize i = 0; i < g->exchange->num_owned; i++) {
    if (g->numbers[i] >= 0) is_free[g->numbers[i]] = 1;
  }
  const int ierr = add_up(g, RITZ_REDUCTION_SUM, g->length, is_free);

  for (int64_t i = 0; i < g->length; i++) {
    unknowns[i] = is_free[i] > 0 ? rows->n : -1;
    if (is_free[i] > 0) rows->entries[rows->n++] = i;
  }
  RITZ_FREE(&is_free);
  return ierr;
}

typedef struct {
  int64_t col, order;
  double value;
} Entry;

static int compare_entries(const void *a, const void *b) {
  const Entry *x = a, *y = b;

  if (x->col != y->col) return x->col < y->col ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

// Entries by rows, in the order of the parts within a row.
static void sort_by_rows(const Entries *e, const int64_t *unknowns, int64_t n, int64_t *ends, Entry *sorted) {
  for (int64_t k = 0; k < e->num; k++) ends[unknowns[(int64_t)e->rows[k]] + 1]++;
  for (int64_t i = 0; i < n; i++) ends[i + 1] += ends[i];
  for (int64_t k = 0; k < e->num; k++)
    sorted[ends[unknowns[(int64_t)e->rows[k]]]++] =
        (Entry){.col = unknowns[(int64_t)e->cols[k]], .order = k, .value = e->values[k]};
}

// Adds up entries of the same row and column; rows->starts are the starts of `sorted` before.
static void add_equal(RitzRows *rows, const int64_t *ends, Entry *sorted) {
  int64_t first = 0, at = 0;

  for (int64_t i = 0; i < rows->n; i++) {
    const int64_t num = ends[i] - first, start = at;

    rows->starts[i] = start;
    if (num > 0) qsort(sorted + first, (size_t)num, sizeof(*sorted), compare_entries);
    for (int64_t k = first; k < ends[i]; k++) {
      const bool is_next = at == start || rows->cols[at - 1] != sorted[k].col;

      if (is_next) rows->cols[at] = sorted[k].col, rows->values[at++] = 0;
      rows->values[at - 1] += sorted[k].value;
    }
    first = ends[i];
  }
  rows->starts[rows->n] = at;
}

static int make_rows(const RitzGathered *g, const Entries *e, RitzRows *rows, int64_t *unknowns) {
  Ceed ceed = g->exchange->ceed;
  int64_t *ends = NULL;
  Entry *sorted = NULL;

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)g->length, &rows->entries));
  RITZ_TRY(number_unknowns(g, rows, unknowns));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)rows->n + 1, &rows->starts));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)e->num, &rows->cols));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)e->num, &rows->values));
  int ierr = RITZ_CALLOC(ceed, (size_t)rows->n + 1, &ends);

  if (!ierr) ierr = RITZ_MALLOC(ceed, (size_t)e->num, &sorted);
  if (!ierr) {
    sort_by_rows(e, unknowns, rows->n, ends, sorted);
    add_equal(rows, ends, sorted);
  }
  RITZ_FREE(&ends);
  RITZ_FREE(&sorted);
  return ierr;
}

static void free_rows(RitzRows *rows) {
  RITZ_FREE(&rows->entries);
  RITZ_FREE(&rows->starts);
  RITZ_FREE(&rows->cols);
  RITZ_FREE(&rows->values);
}

static int gather_rows(const RitzGathered *g, RitzPartOperator op, RitzRows *rows) {
  CeedOperator pieces[2];
  Entries e = {0};
  int64_t *unknowns = NULL;

  ritz_part_operator_pieces(op, pieces);
  *rows = (RitzRows){.length = g->length, .num_comp = g->exchange->num_comp};
  int ierr = assemble(g, pieces[0], &e);

  if (!ierr) ierr = assemble(g, pieces[1], &e);
  if (!ierr) ierr = gather_entries(g, &e);
  if (!ierr) ierr = RITZ_MALLOC(g->exchange->ceed, (size_t)g->length, &unknowns);
  if (!ierr) ierr = make_rows(g, &e, rows, unknowns);
  RITZ_FREE(&unknowns);
  free_entries(&e);
  if (ierr) free_rows(rows);
  return ierr;
}

// ---- Vectors of the whole ----

// The host's context keeps its messages to itself.
static int report_error(const RitzGathered *g, int ierr) {
  const char *message = "";

  if (!ierr || g->ceed == g->exchange->ceed) return ierr;
  (void)CeedGetErrorMessage(g->ceed, &message);
  return CeedError(g->exchange->ceed, ierr, "%s", message);
}

// Entries of this part's vector, of ghosts if wanted, at their places: sums over the parts, in all of them.
static int gather_vector(const RitzGathered *g, CeedVector from, bool with_ghosts, CeedVector whole) {
  const CeedSize num = with_ghosts ? g->exchange->length : g->exchange->num_owned;
  void *read = NULL;
  CeedScalar *write = NULL;

  if (g->length > 0) memset(g->sums, 0, (size_t)g->length * sizeof(*g->sums));
  RITZ_TRY(ritz_vector_lock(from, RITZ_ACCESS_READ, CEED_MEM_HOST, &read));
  for (CeedSize i = 0; i < num; i++) {
    if (g->numbers[i] >= 0) g->sums[g->numbers[i]] += ritz_entry(read, from->precision, i);
  }
  RITZ_TRY(ritz_vector_unlock(from, RITZ_ACCESS_READ, &read, CEED_ERROR_SUCCESS));
  RITZ_TRY(add_up(g, RITZ_REDUCTION_SUM, g->length, g->sums));
  RITZ_TRY(CeedVectorGetArrayWrite(whole, CEED_MEM_HOST, &write));
  for (int64_t i = 0; i < g->length; i++) write[i] = (CeedScalar)g->sums[i];
  return CeedVectorRestoreArray(whole, &write);
}

static int take_part(const RitzGathered *g, CeedVector whole, CeedVector to) {
  const CeedScalar *read = NULL;
  void *write = NULL;

  RITZ_TRY(ritz_vector_lock(to, RITZ_ACCESS_WRITE, CEED_MEM_HOST, &write));
  int ierr = CeedVectorGetArrayRead(whole, CEED_MEM_HOST, &read);

  for (int64_t i = 0; !ierr && i < g->num_local; i++)
    ritz_set_entry(write, to->precision, i, g->numbers[i] < 0 ? 0 : (double)read[g->numbers[i]]);
  if (!ierr) ierr = CeedVectorRestoreArrayRead(whole, &read);
  return ritz_vector_unlock(to, RITZ_ACCESS_WRITE, &write, ierr);
}

int ritz_gathered_solve(const RitzGathered *gathered, CeedVector b, bool with_ghosts, CeedVector x) {
  RITZ_TRY(gather_vector(gathered, b, with_ghosts, gathered->b));
  RITZ_TRY(report_error(gathered, RitzPreconditionerApply(gathered->solver, gathered->b, gathered->x)));
  return take_part(gathered, gathered->x, x);
}

// ---- Creation ----

static int destroy_vectors(CeedInt num, CeedVector vectors[]) {
  int ierr = CEED_ERROR_SUCCESS;

  for (CeedInt i = 0; i < num; i++) ierr = ritz_first_error(ierr, CeedVectorDestroy(&vectors[i]));
  return ierr;
}

// Where libraries of machines differ, parts may have found different ways: all of them have one, or none.
static int agree(RitzGathered *g, char why[]) {
  double is_missing = g->solver == NULL;

  RITZ_TRY(add_up(g, RITZ_REDUCTION_MAX, 1, &is_missing));
  if (is_missing == 0) return CEED_ERROR_SUCCESS;
  if (g->solver) (void)snprintf(why, RITZ_GATHERED_WHY, "another part has no factors");
  return RitzPreconditionerDestroy(&g->solver);
}

static int factorize_coarse(RitzGathered *g, RitzPartOperator op, CeedInt num_null, const CeedVector null[],
                            const RitzDirectOptions *options, char why[]) {
  RitzDirectOptions o = *options;
  CeedVector whole[RITZ_SYSTEM_MAX_NULL] = {NULL};
  RitzRows rows = {0};
  int ierr = CEED_ERROR_SUCCESS;

  for (CeedInt i = 0; i < num_null && !ierr; i++) {
    ierr = CeedVectorCreate(g->ceed, g->length, &whole[i]);
    if (!ierr) ierr = gather_vector(g, null[i], false, whole[i]);
  }
  o.num_null = num_null;
  o.null = whole;
  if (!ierr) ierr = gather_rows(g, op, &rows);
  if (!ierr) ierr = report_error(g, ritz_direct_create_of_rows(g->ceed, &rows, &o, why, &g->solver));
  ierr = ritz_first_error(ierr, destroy_vectors(num_null, whole));
  return ierr ? ierr : agree(g, why);
}

static int choose_context(RitzGathered *g) {
  Ceed ceed = g->exchange->ceed;

  if (ceed->backend.mem_type == CEED_MEM_HOST || g->num_unknowns > MOST_ON_HOST)
    return CeedReferenceCopy(ceed, &g->ceed);
  RITZ_TRY(ritz_ceed_create(ceed->registry, "/cpu/self:threads=1", NULL, &g->ceed));
  return CeedSetErrorHandler(g->ceed, CeedErrorStore);
}

static int set_up_coarse(RitzGathered *g, RitzIndices constraints, int64_t max_unknowns, bool *is_too_large,
                         char why[]) {
  // Numbers are sent as entries of vectors.
  const int64_t max_length = sizeof(CeedScalar) == 4 ? INT64_C(1) << 24 : INT64_C(1) << 53;
  const RitzExchange e = g->exchange;
  int64_t first = 0, before = 0;

  g->num_local = e->length;
  RITZ_TRY(count(g, e->num_owned, &first, &g->length));
  RITZ_TRY(number_entries(g, first, constraints));
  RITZ_TRY(count(g, count_unknowns(g), &before, &g->num_unknowns));
  *is_too_large = g->num_unknowns > max_unknowns || g->length > max_length;
  if (*is_too_large) {
    (void)snprintf(why, RITZ_GATHERED_WHY, "%lld unknowns, gathered are at most %lld",
                   (long long)g->num_unknowns, (long long)(max_unknowns > 0 ? max_unknowns : 0));
    return CEED_ERROR_SUCCESS;
  }
  RITZ_TRY(RITZ_MALLOC(e->ceed, (size_t)g->length, &g->sums));
  RITZ_TRY(choose_context(g));
  RITZ_TRY(CeedVectorCreate(g->ceed, g->length, &g->b));
  return CeedVectorCreate(g->ceed, g->length, &g->x);
}

int ritz_gathered_create(const char *call, RitzPartOperator op, RitzIndices constraints, CeedInt num_null,
                         const CeedVector null[], const RitzDirectOptions *options, int64_t max_unknowns,
                         char why[RITZ_GATHERED_WHY], RitzGathered **gathered) {
  RitzExchange e = ritz_part_operator_pieces(op, NULL);
  RitzGathered *g = NULL;
  bool is_too_large = false;

  *gathered = NULL;
  RITZ_REQUIRE(num_null <= RITZ_SYSTEM_MAX_NULL, e->ceed, CEED_ERROR_DIMENSION,
               "%s: the nullspace has %" CeedInt_FMT " vectors, possible are 0 to %d", call, num_null,
               RITZ_SYSTEM_MAX_NULL);
  RITZ_TRY(RITZ_CALLOC(e->ceed, 1, &g));
  int ierr = RitzExchangeReferenceCopy(e, &g->exchange);

  if (!ierr) ierr = set_up_coarse(g, constraints, max_unknowns, &is_too_large, why);
  if (!ierr && !is_too_large) ierr = factorize_coarse(g, op, num_null, null, options, why);
  if (ierr || !g->solver) return ritz_first_error(ierr, ritz_gathered_destroy(&g));
  *gathered = g;
  return CEED_ERROR_SUCCESS;
}

int ritz_gathered_destroy(RitzGathered **gathered) {
  RitzGathered *g = *gathered;

  if (!g) return CEED_ERROR_SUCCESS;
  int ierr = RitzPreconditionerDestroy(&g->solver);

  ierr = ritz_first_error(ierr, CeedVectorDestroy(&g->b));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&g->x));
  ierr = ritz_first_error(ierr, CeedDestroy(&g->ceed));
  ierr = ritz_first_error(ierr, RitzExchangeDestroy(&g->exchange));
  RITZ_FREE(&g->numbers);
  RITZ_FREE(&g->sums);
  RITZ_FREE(gathered);
  return ierr;
}

// ---- Questions ----

bool ritz_gathered_is_symmetric(const RitzGathered *gathered) { return gathered->solver->is_symmetric; }

int64_t ritz_gathered_num_unknowns(const RitzGathered *gathered) { return gathered->num_unknowns; }

int64_t ritz_gathered_bytes(const RitzGathered *gathered) {
  return 8 * gathered->num_local + (8 + 2 * (int64_t)sizeof(CeedScalar)) * gathered->length +
         ritz_preconditioner_bytes(gathered->solver);
}

int ritz_gathered_view(const RitzGathered *gathered, FILE *stream, int indent) {
  return ritz_preconditioner_view(gathered->solver, stream, indent);
}
