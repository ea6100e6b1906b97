// SPDX-License-Identifier: BSD-2-Clause
// Coarsest problems that every part has whole (contract in distributed/coarse.h). Entries of the whole
// problem are the owned ones of part 0, of part 1, ...; ghosts learn their numbers by an exchange. What parts
// have is put into places of one array, zero elsewhere, and added up over the parts: sums with zeros are
// exact, so that all parts get the same bits and compute the same factors.
#include "distributed/coarse.h"

#include <ritz/assembly.h>
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

// Of the whole matrix, in every part.
typedef struct {
  int64_t n;              // unknowns
  int64_t *entries;       // owned, [n]: their places in vectors
  int64_t *starts, *cols; // owned, [n + 1], [starts[n]]
  int64_t first, num_all; // the entries that all parts have, this part's from `first` on
  int64_t *places;        // owned, [num_all]: which of `cols` they are added to
} Pattern;

struct RitzGathered {
  RitzExchange exchange;      // counted
  Ceed ceed;                  // counted: where factors are, the exchange's or one on the host
  int64_t num_local, length;  // entries of this part, of the whole problem
  int64_t num_unknowns;       // not constrained
  int64_t *numbers;           // owned, [num_local]: places in the whole; -1: constrained
  double *sums;               // owned, [length]
  CeedVector b, x;            // owned, of the whole
  RitzPreconditioner solver;  // owned
  bool for_updates;           // what follows is kept, else zeros
  RitzAssembly assemblies[2]; // owned, of the operator's pieces; NULL: no such elements
  Pattern pattern;
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

// ---- Entries of this part ----

static int create_assemblies(RitzGathered *g, RitzPartOperator op) {
  CeedOperator pieces[2];

  ritz_part_operator_pieces(op, pieces);
  for (int i = 0; i < 2; i++) {
    if (pieces[i]) RITZ_TRY(RitzAssemblyCreate(pieces[i], &g->assemblies[i]));
  }
  return CEED_ERROR_SUCCESS;
}

static int destroy_assemblies(RitzGathered *g) {
  const int ierr = RitzAssemblyDestroy(&g->assemblies[0]);

  return ritz_first_error(ierr, RitzAssemblyDestroy(&g->assemblies[1]));
}

// Gets entries k of an assembled matrix that are not constrained, in their order; rows and columns are
// numbers of the whole.
typedef void (*TakeEntry)(void *ctx, int64_t row, int64_t column, int64_t k);

static int visit_entries(const RitzGathered *g, RitzAssembly assembly, TakeEntry take, void *ctx) {
  const int64_t *starts = NULL, *cols = NULL;

  RITZ_TRY(RitzAssemblyGetPattern(assembly, NULL, NULL, &starts, &cols));
  for (int64_t i = 0; i < g->num_local; i++) {
    for (int64_t k = starts[i]; k < starts[i + 1] && g->numbers[i] >= 0; k++) {
      if (g->numbers[cols[k]] >= 0) take(ctx, g->numbers[i], g->numbers[cols[k]], k);
    }
  }
  return CEED_ERROR_SUCCESS;
}

static void count_entry(void *num, int64_t row, int64_t column, int64_t k) {
  (void)row, (void)column, (void)k;
  ++*(int64_t *)num;
}

// Numbers are exact in double.
typedef struct {
  double *rows, *cols; // the next ones of either
} Places;

static void take_places(void *places, int64_t row, int64_t column, int64_t k) {
  Places *p = places;

  (void)k;
  *p->rows++ = (double)row;
  *p->cols++ = (double)column;
}

typedef struct {
  const CeedScalar *from; // values of the assembled matrix
  double *to;             // the next one
} Values;

static void take_value(void *values, int64_t row, int64_t column, int64_t k) {
  Values *v = values;

  (void)row, (void)column;
  *v->to++ = (double)v->from[k];
}

// The values that the operator has now; *to: behind those that were written.
static int assemble_values(const RitzGathered *g, RitzAssembly assembly, double **to) {
  const int64_t *starts = NULL;
  CeedSize num_rows = 0;
  CeedVector values = NULL;
  Values v = {.to = *to};

  RITZ_TRY(RitzAssemblyGetPattern(assembly, &num_rows, NULL, &starts, NULL));
  RITZ_TRY(CeedVectorCreate(g->exchange->ceed, starts[num_rows], &values));
  int ierr = RitzAssemblyRun(assembly, values);

  if (!ierr) ierr = CeedVectorGetArrayRead(values, CEED_MEM_HOST, &v.from);
  if (!ierr) {
    ierr = visit_entries(g, assembly, take_value, &v);
    ierr = ritz_first_error(ierr, CeedVectorRestoreArrayRead(values, &v.from));
  }
  *to = v.to;
  return ritz_first_error(ierr, CeedVectorDestroy(&values));
}

// ---- The matrix of all parts ----

static void free_pattern(Pattern *p) {
  RITZ_FREE(&p->starts);
  RITZ_FREE(&p->cols);
  RITZ_FREE(&p->places);
  RITZ_FREE(&p->entries);
}

// rows and cols [num_all]: of the entries of all parts.
static int gather_places(const RitzGathered *g, const Pattern *p, double *rows, double *cols) {
  if (p->num_all == 0) return CEED_ERROR_SUCCESS; // all are constrained
  Places places = {.rows = rows + p->first, .cols = cols + p->first};

  for (int i = 0; i < 2; i++) {
    if (g->assemblies[i]) RITZ_TRY(visit_entries(g, g->assemblies[i], take_places, &places));
  }
  RITZ_TRY(add_up(g, RITZ_REDUCTION_SUM, p->num_all, rows));
  return add_up(g, RITZ_REDUCTION_SUM, p->num_all, cols);
}

// unknowns [length]: numbers of the entries that are not constrained, -1; p->entries: the reverse.
static int number_unknowns(const RitzGathered *g, Pattern *p, int64_t *unknowns) {
  double *is_free = NULL;

  RITZ_TRY(RITZ_CALLOC(g->exchange->ceed, (size_t)g->length, &is_free));
  for (CeedSize i = 0; i < g->exchange->num_owned; i++) {
    if (g->numbers[i] >= 0) is_free[g->numbers[i]] = 1;
  }
  const int ierr = add_up(g, RITZ_REDUCTION_SUM, g->length, is_free);

  for (int64_t i = 0; i < g->length; i++) {
    unknowns[i] = is_free[i] > 0 ? p->n : -1;
    if (is_free[i] > 0) p->entries[p->n++] = i;
  }
  RITZ_FREE(&is_free);
  return ierr;
}

typedef struct {
  int64_t col, order;
} Entry;

static int compare_entries(const void *a, const void *b) {
  const Entry *x = a, *y = b;

  if (x->col != y->col) return x->col < y->col ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

// Entries by rows, in the order of the parts within a row.
static void sort_by_rows(const Pattern *p, const double *rows, const double *cols, const int64_t *unknowns,
                         int64_t *ends, Entry *sorted) {
  for (int64_t k = 0; k < p->num_all; k++) ends[unknowns[(int64_t)rows[k]] + 1]++;
  for (int64_t i = 0; i < p->n; i++) ends[i + 1] += ends[i];
  for (int64_t k = 0; k < p->num_all; k++)
    sorted[ends[unknowns[(int64_t)rows[k]]]++] = (Entry){.col = unknowns[(int64_t)cols[k]], .order = k};
}

// Entries of the same row and column have one place; p->starts are the starts of `sorted` before.
static void unite_equal(Pattern *p, const int64_t *ends, Entry *sorted) {
  int64_t first = 0, at = 0;

  for (int64_t i = 0; i < p->n; i++) {
    const int64_t num = ends[i] - first, start = at;

    p->starts[i] = start;
    if (num > 0) qsort(sorted + first, (size_t)num, sizeof(*sorted), compare_entries);
    for (int64_t k = first; k < ends[i]; k++) {
      if (at == start || p->cols[at - 1] != sorted[k].col) p->cols[at++] = sorted[k].col;
      p->places[sorted[k].order] = at - 1;
    }
    first = ends[i];
  }
  p->starts[p->n] = at;
}

static int sort_pattern(const RitzGathered *g, const double *rows, const double *cols, int64_t *unknowns,
                        Pattern *p) {
  Ceed ceed = g->exchange->ceed;
  int64_t *ends = NULL;
  Entry *sorted = NULL;

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)g->length, &p->entries));
  RITZ_TRY(number_unknowns(g, p, unknowns));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)p->n + 1, &p->starts));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)p->num_all, &p->cols));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)p->num_all, &p->places));
  int ierr = RITZ_CALLOC(ceed, (size_t)p->n + 1, &ends);

  if (!ierr) ierr = RITZ_MALLOC(ceed, (size_t)p->num_all, &sorted);
  if (!ierr) {
    sort_by_rows(p, rows, cols, unknowns, ends, sorted);
    unite_equal(p, ends, sorted);
  }
  RITZ_FREE(&ends);
  RITZ_FREE(&sorted);
  return ierr;
}

// The pattern of the assemblies of all parts.
static int gather_pattern(RitzGathered *g) {
  Ceed ceed = g->exchange->ceed;
  Pattern *p = &g->pattern;
  int64_t num = 0, *unknowns = NULL;
  double *rows = NULL, *cols = NULL;
  int ierr;

  for (int i = 0; i < 2; i++) {
    if (g->assemblies[i]) RITZ_TRY(visit_entries(g, g->assemblies[i], count_entry, &num));
  }
  *p = (Pattern){0};
  RITZ_TRY(count(g, num, &p->first, &p->num_all));
  RITZ_TRY_CLEANUP(RITZ_CALLOC(ceed, (size_t)p->num_all, &rows));
  RITZ_TRY_CLEANUP(RITZ_CALLOC(ceed, (size_t)p->num_all, &cols));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)g->length, &unknowns));
  RITZ_TRY_CLEANUP(gather_places(g, p, rows, cols));
  ierr = sort_pattern(g, rows, cols, unknowns, p);
cleanup:
  RITZ_FREE(&rows);
  RITZ_FREE(&cols);
  RITZ_FREE(&unknowns);
  return ierr;
}

// rows->values of what all parts have now; the same bits in all of them.
static int gather_values(const RitzGathered *g, double *values) {
  const Pattern *p = &g->pattern;
  double *all = NULL;

  if (p->num_all == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_CALLOC(g->exchange->ceed, (size_t)p->num_all, &all));
  double *next = all + p->first;
  int ierr = CEED_ERROR_SUCCESS;

  for (int i = 0; i < 2 && !ierr; i++) {
    if (g->assemblies[i]) ierr = assemble_values(g, g->assemblies[i], &next);
  }
  if (!ierr) ierr = add_up(g, RITZ_REDUCTION_SUM, p->num_all, all);
  for (int64_t k = 0; !ierr && k < p->num_all; k++) values[p->places[k]] += all[k];
  RITZ_FREE(&all);
  return ierr;
}

static int copy_numbers(Ceed ceed, int64_t num, const int64_t *from, int64_t **to) {
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num, to));
  if (num > 0) memcpy(*to, from, (size_t)num * sizeof(**to));
  return CEED_ERROR_SUCCESS;
}

static void free_rows(RitzRows *rows) {
  RITZ_FREE(&rows->entries);
  RITZ_FREE(&rows->starts);
  RITZ_FREE(&rows->cols);
  RITZ_FREE(&rows->values);
}

// Rows of the values that the operator has now. The pattern is made where it was not kept, and kept for
// updates alone.
static int gather_rows(RitzGathered *g, RitzPartOperator op, RitzRows *rows) {
  Ceed ceed = g->exchange->ceed;
  Pattern *p = &g->pattern;
  const bool is_known = p->starts != NULL;
  int ierr;

  *rows = (RitzRows){.length = g->length, .num_comp = g->exchange->num_comp};
  if (!is_known) RITZ_TRY_CLEANUP(create_assemblies(g, op));
  if (!is_known) RITZ_TRY_CLEANUP(gather_pattern(g));
  rows->n = p->n;
  RITZ_TRY_CLEANUP(copy_numbers(ceed, p->n, p->entries, &rows->entries));
  RITZ_TRY_CLEANUP(copy_numbers(ceed, p->n + 1, p->starts, &rows->starts));
  RITZ_TRY_CLEANUP(copy_numbers(ceed, p->starts[p->n], p->cols, &rows->cols));
  RITZ_TRY_CLEANUP(RITZ_CALLOC(ceed, (size_t)p->starts[p->n], &rows->values));
  ierr = gather_values(g, rows->values);
cleanup:
  if (ierr || !g->for_updates) {
    free_pattern(p);
    ierr = ritz_first_error(ierr, destroy_assemblies(g));
  }
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
  g->for_updates = options->for_updates;
  int ierr = RitzExchangeReferenceCopy(e, &g->exchange);

  if (!ierr) ierr = set_up_coarse(g, constraints, max_unknowns, &is_too_large, why);
  if (!ierr && !is_too_large) ierr = factorize_coarse(g, op, num_null, null, options, why);
  if (ierr || !g->solver) return ritz_first_error(ierr, ritz_gathered_destroy(&g));
  *gathered = g;
  return CEED_ERROR_SUCCESS;
}

// ---- New values ----

int ritz_gathered_update(RitzGathered *gathered, RitzPartOperator op) {
  RitzRows rows = {0};

  gathered->for_updates = true;
  RITZ_TRY(gather_rows(gathered, op, &rows));
  return report_error(gathered, ritz_direct_renew_rows(gathered->solver, &rows));
}

int ritz_gathered_destroy(RitzGathered **gathered) {
  RitzGathered *g = *gathered;

  if (!g) return CEED_ERROR_SUCCESS;
  int ierr = RitzPreconditionerDestroy(&g->solver);

  ierr = ritz_first_error(ierr, destroy_assemblies(g));
  free_pattern(&g->pattern);
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
  const Pattern *p = &gathered->pattern;
  int64_t num = 8 * gathered->num_local + (8 + 2 * (int64_t)sizeof(CeedScalar)) * gathered->length +
                ritz_preconditioner_bytes(gathered->solver);

  for (int i = 0; i < 2; i++) num += ritz_pattern_bytes(gathered->assemblies[i]);
  return p->starts ? num + 8 * (2 * p->n + 1 + p->starts[p->n] + p->num_all) : num;
}

int ritz_gathered_view(const RitzGathered *gathered, FILE *stream, int indent) {
  return ritz_preconditioner_view(gathered->solver, stream, indent);
}
