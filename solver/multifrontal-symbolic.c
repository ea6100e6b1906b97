// SPDX-License-Identifier: BSD-2-Clause
// Symbolic factorization (contract in solver/multifrontal.h): elimination tree (Liu, The role of elimination
// trees in sparse factorization, 1990), counts by row subtrees, supernodes, which are merged with their
// parents where few zeros are added (Ashcraft & Grimes, 1989), levels from the roots, places of all entries.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/multifrontal.h"

typedef struct {
  Ceed ceed;
  const RitzPattern *a;
  int64_t n;
  int64_t *perm, *inverse; // inverse: owned; perm becomes the symbolic's
  int64_t *parent;         // owned, [n] of columns; -1: roots
  int64_t *count;          // owned, [n]: entries below the diagonal
  int64_t *mark;           // owned, [n]
  int64_t *link, *head;    // owned, [n], [n + 1]: lists
  // Supernodes in the order of their columns.
  int64_t num;
  int64_t *first;     // owned, [n + 1]
  int64_t *below;     // owned, [n]: rows below the own columns
  int64_t *of_column; // owned, [n]
  int64_t *up;        // owned, [n]: parent supernode
  int64_t *row_start; // owned, [n + 1]
  int64_t *rows;      // owned, [row_start[num]]: ascending
  int64_t *number;    // owned, [n]: of the front
} Analysis;

// ---- Columns ----

// Neighbours of column k of the permuted matrix: for each, i is its number.
#define EACH_NEIGHBOUR(s, k, i)                                                                              \
  for (int64_t e_ = (s)->a->starts[(s)->perm[k]], i; e_ < (s)->a->starts[(s)->perm[k] + 1]; e_++)            \
    if ((i = (s)->inverse[(s)->a->cols[e_]]) != (k))

static void invert_permutation(Analysis *s) {
  for (int64_t k = 0; k < s->n; k++) s->inverse[s->perm[k]] = k;
}

// mark: ancestors, with paths made short.
static void find_parents(Analysis *s) {
  for (int64_t k = 0; k < s->n; k++) s->parent[k] = s->mark[k] = -1;
  for (int64_t k = 0; k < s->n; k++) {
    EACH_NEIGHBOUR(s, k, i) {
      for (int64_t at = i, next; at >= 0 && at < k; at = next) {
        next = s->mark[at];
        if (next == k) break;
        s->mark[at] = k;
        if (next < 0) s->parent[at] = k;
      }
    }
  }
}

// Renumbers columns so that subtrees are consecutive.
static void order_by_subtrees(Analysis *s) {
  int64_t *const stack = s->mark, *const place = s->count, *const old = s->of_column;
  int64_t num = 0, at = 0;
  for (int64_t k = 0; k <= s->n; k++) s->head[k] = -1;
  for (int64_t k = s->n - 1; k >= 0; k--) {
    const int64_t up = s->parent[k] >= 0 ? s->parent[k] : s->n;
    s->link[k] = s->head[up];
    s->head[up] = k;
  }
  for (int64_t root = s->head[s->n]; root >= 0; root = s->link[root]) {
    stack[num++] = root;
    while (num > 0) {
      const int64_t node = stack[num - 1], child = s->head[node];
      if (child >= 0) {
        s->head[node] = s->link[child];
        stack[num++] = child;
      } else {
        place[node] = at++;
        num--;
      }
    }
  }
  for (int64_t k = 0; k < s->n; k++) old[place[k]] = s->perm[k];
  for (int64_t k = 0; k < s->n; k++) s->link[place[k]] = s->parent[k] >= 0 ? place[s->parent[k]] : -1;
  for (int64_t k = 0; k < s->n; k++) {
    s->perm[k] = old[k];
    s->parent[k] = s->link[k];
  }
  invert_permutation(s);
}

// Row k of L has the columns on the paths from its neighbours up to k.
static void count_columns(Analysis *s) {
  for (int64_t k = 0; k < s->n; k++) {
    s->count[k] = 0;
    s->mark[k] = k;
    EACH_NEIGHBOUR(s, k, i) {
      for (int64_t at = i; at >= 0 && at < k && s->mark[at] != k; at = s->parent[at]) {
        s->count[at]++;
        s->mark[at] = k;
      }
    }
  }
}

// ---- Supernodes ----

static void find_supernodes(Analysis *s) {
  s->num = 0;
  for (int64_t k = 0; k < s->n; k++) {
    const bool goes_on = k > 0 && s->parent[k - 1] == k && s->count[k - 1] == s->count[k] + 1;
    if (!goes_on) s->first[s->num++] = k;
    s->of_column[k] = s->num - 1;
    s->below[s->num - 1] = s->count[k];
  }
  s->first[s->num] = s->n;
  for (int64_t f = 0; f < s->num; f++) {
    const int64_t parent = s->parent[s->first[f + 1] - 1];
    s->up[f] = parent >= 0 ? s->of_column[parent] : -1;
  }
}

// Whether a front with so many columns may have this share of zeros among the entries of its panel.
static bool is_worth(double columns, double zeros, double entries) {
  const double most = columns <= 8 ? 1 : columns <= 24 ? 0.6 : columns <= 64 ? 0.15 : 0.05;
  return zeros <= most * entries;
}

// Joins a supernode to its parent where its columns come directly before and few zeros are added. link, as
// there are supernodes: zeros so far; head: those that are joined to the next.
static void merge_supernodes(Analysis *s) {
  int64_t *const zeros = s->link, *const joins = s->head, *const kept = s->mark;
  int64_t num = 0;
  for (int64_t f = 0; f < s->num; f++) zeros[f] = 0;
  for (int64_t f = 0; f < s->num; f++) {
    joins[f] = 0;
    if (s->up[f] != f + 1) continue;
    const int64_t begin = s->first[f], middle = s->first[f + 1], end = s->first[f + 2],
                  below = s->below[f + 1];
    const int64_t more = (middle - begin) * (end - middle + below - s->below[f]);
    const double cols = (double)(end - begin), entries = cols * (cols + 1) / 2 + cols * (double)below;
    if (!is_worth(cols, (double)(zeros[f] + zeros[f + 1] + more), entries)) continue;
    joins[f] = 1;
    zeros[f + 1] += zeros[f] + more;
    s->first[f + 1] = begin;
  }
  for (int64_t f = 0; f < s->num; f++) {
    kept[f] = num;
    num += !joins[f];
  }
  for (int64_t f = 0, to = 0; f < s->num; f++) { // a joined one has the number of the one that it joins
    if (joins[f]) continue;
    s->first[to] = s->first[f];
    s->below[to] = s->below[f];
    s->up[to] = s->up[f] >= 0 ? kept[s->up[f]] : -1;
    to++;
  }
  s->num = num;
  s->first[num] = s->n;
  for (int64_t f = 0; f < num; f++)
    for (int64_t k = s->first[f]; k < s->first[f + 1]; k++) s->of_column[k] = f;
}

static int compare(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

// Rows of a supernode: of its columns of A, and of its children. head, link: children of each.
static int find_rows(Analysis *s) {
  int64_t total = 0;
  for (int64_t f = 0; f < s->num; f++) {
    s->row_start[f] = total;
    total += s->below[f];
    s->head[f] = -1;
  }
  s->row_start[s->num] = total;
  RITZ_TRY(RITZ_MALLOC(s->ceed, (size_t)total + 1, &s->rows)); // there, also where fronts have none
  for (int64_t k = 0; k < s->n; k++) s->mark[k] = -1;
  for (int64_t f = 0; f < s->num; f++) {
    const int64_t end = s->first[f + 1];
    int64_t *rows = s->rows + s->row_start[f], num = 0;
    for (int64_t k = s->first[f]; k < end; k++) {
      EACH_NEIGHBOUR(s, k, i) {
        if (i < end || s->mark[i] == f) continue;
        s->mark[i] = f;
        rows[num++] = i;
      }
    }
    for (int64_t c = s->head[f]; c >= 0; c = s->link[c]) {
      for (int64_t e = s->row_start[c]; e < s->row_start[c + 1]; e++) {
        const int64_t i = s->rows[e];
        if (i < end || s->mark[i] == f) continue;
        s->mark[i] = f;
        rows[num++] = i;
      }
    }
    RITZ_ASSERT(num == s->below[f]);
    if (num > 1) qsort(rows, (size_t)num, sizeof(*rows), compare);
    if (s->up[f] < 0) continue;
    s->link[f] = s->head[s->up[f]];
    s->head[s->up[f]] = f;
  }
  return CEED_ERROR_SUCCESS;
}

static void find_costs(const Analysis *s, RitzSymbolic *y) {
  y->num_nonzeros = y->num_flops = 0;
  y->max_order = 0;
  for (int64_t f = 0; f < s->num; f++) {
    const double d1 = (double)(s->first[f + 1] - s->first[f]), d2 = (double)s->below[f];
    y->num_nonzeros += d1 * (d1 + 1) / 2 + d1 * d2;
    y->num_flops += d1 * d1 * d1 / 3 + d1 * d1 * d2 + d1 * d2 * d2;
    if (d1 + d2 > (double)y->max_order) y->max_order = (int64_t)(d1 + d2);
  }
  y->num_supernodes = s->num;
}

// ---- Fronts ----

// Levels from the roots; of one level in the order of their parents, so that children are consecutive. mark:
// supernodes in their new order; head, link: children, descending.
static int number_fronts(Analysis *s, int64_t pad, RitzSymbolic *y) {
  int64_t num = 0, begin = 0;
  for (int64_t f = s->num - 1; f >= 0; f--)
    if (s->up[f] < 0) s->mark[num++] = f;
  RITZ_TRY(RITZ_MALLOC(s->ceed, (size_t)s->num + 1, &y->level));
  RITZ_TRY(RITZ_MALLOC(s->ceed, (size_t)s->num + 1, &y->num_fronts));
  y->num = 0;
  for (int64_t end = num; begin < end; end = num) {
    y->level[y->num_levels] = y->num;
    y->num_fronts[y->num_levels++] = end - begin;
    for (int64_t k = begin; k < end; k++) {
      s->number[s->mark[k]] = y->num++;
      for (int64_t c = s->head[s->mark[k]]; c >= 0; c = s->link[c]) s->mark[num++] = c;
    }
    if (pad > 1) y->num = (y->num / pad + 1) * pad; // behind each level is an empty one
    begin = end;
  }
  return CEED_ERROR_SUCCESS;
}

static int allocate_fronts(Ceed ceed, RitzSymbolic *y) {
  const size_t num = (size_t)y->num;
  RITZ_TRY(RITZ_CALLOC(ceed, num, &y->d1));
  RITZ_TRY(RITZ_CALLOC(ceed, num, &y->d2));
  RITZ_TRY(RITZ_CALLOC(ceed, num, &y->order));
  RITZ_TRY(RITZ_MALLOC(ceed, num, &y->parent));
  RITZ_TRY(RITZ_CALLOC(ceed, num, &y->panel));
  RITZ_TRY(RITZ_CALLOC(ceed, num, &y->update));
  RITZ_TRY(RITZ_CALLOC(ceed, num + 1, &y->rows));
  RITZ_TRY(RITZ_CALLOC(ceed, num + 1, &y->children));
  RITZ_TRY(RITZ_CALLOC(ceed, num, &y->down_start));
  RITZ_TRY(RITZ_CALLOC(ceed, num, &y->first));
  return RITZ_MALLOC(ceed, (size_t)y->n, &y->place);
}

// Sizes, and where everything begins.
static int lay_out(const Analysis *s, RitzSymbolic *y) {
  RITZ_TRY(allocate_fronts(s->ceed, y));
  for (int64_t f = 0; f < y->num; f++) y->parent[f] = -1;
  for (int64_t k = 0; k < s->num; k++) {
    const int64_t f = s->number[k], cols = s->first[k + 1] - s->first[k];
    RITZ_REQUIRE(cols + s->below[k] <= INT32_MAX && y->num <= INT32_MAX, s->ceed, CEED_ERROR_UNSUPPORTED,
                 "sparse factorization: a front of order %lld is too large", (long long)(cols + s->below[k]));
    y->first[f] = s->first[k];
    y->d1[f] = (int32_t)cols;
    y->d2[f] = (int32_t)s->below[k];
    y->order[f] = y->d1[f] + y->d2[f];
    y->parent[f] = s->up[k] >= 0 ? (int32_t)s->number[s->up[k]] : -1;
  }
  for (int64_t f = 0; f < y->num; f++) {
    y->panel[f] = y->num_panel;
    y->num_panel += (int64_t)y->d1[f] * y->order[f];
    y->rows[f + 1] = y->rows[f] + y->order[f];
    y->down_start[f] = y->num_down;
    if (y->parent[f] >= 0) y->num_down += y->order[y->parent[f]];
    for (int64_t k = 0; k < y->d1[f]; k++) y->place[y->first[f] + k] = y->rows[f] + k;
  }
  for (int l = 0; l < y->num_levels; l++) {
    const bool is_last = l + 1 == y->num_levels;
    int64_t num = 0, child = is_last ? y->num : y->level[l + 1];
    const int64_t end = is_last ? y->num : child + y->num_fronts[l + 1];
    for (int64_t f = y->level[l]; f < y->level[l] + y->num_fronts[l]; f++) {
      y->update[f] = num;
      num += (int64_t)y->d2[f] * y->d2[f];
      y->children[f] = child;
      while (child < end && y->parent[child] == f) child++;
      y->children[f + 1] = child;
    }
    if (num > y->num_update[l % 2]) y->num_update[l % 2] = num;
  }
  return CEED_ERROR_SUCCESS;
}

// Rows of a front among those of its parent: own columns of the parent, or rows below, both ascending.
static int map_rows(const Analysis *s, RitzSymbolic *y) {
  RITZ_TRY(RITZ_CALLOC(s->ceed, (size_t)y->rows[y->num], &y->up));
  RITZ_TRY(RITZ_MALLOC(s->ceed, (size_t)y->num_down, &y->down));
  for (int64_t i = 0; i < y->num_down; i++) y->down[i] = -1;
  for (int64_t k = 0; k < s->num; k++) {
    const int64_t f = s->number[k], p = s->up[k];
    const int64_t *rows = s->rows + s->row_start[k];
    if (p < 0) continue;
    const int64_t *of_parent = s->rows + s->row_start[p], cols = s->first[p + 1] - s->first[p];
    int32_t *up = y->up + y->rows[f] + y->d1[f], *down = y->down + y->down_start[f];
    for (int64_t i = 0, at = 0; i < y->d2[f]; i++) {
      int64_t local = rows[i] - s->first[p];
      if (local >= cols) {
        while (of_parent[at] != rows[i]) at++;
        local = cols + at;
      }
      up[i] = (int32_t)local;
      down[local] = (int32_t)(y->d1[f] + i);
    }
  }
  return CEED_ERROR_SUCCESS;
}

// Row i of a supernode's panel.
static int64_t local_row(const Analysis *s, int64_t k, int64_t i) {
  const int64_t cols = s->first[k + 1] - s->first[k];
  int64_t low = s->row_start[k], high = s->row_start[k + 1];
  if (i < s->first[k + 1]) return i - s->first[k];
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    if (s->rows[middle] <= i)
      low = middle;
    else
      high = middle;
  }
  return cols + low - s->row_start[k];
}

// Lower triangle of the permuted matrix, by its columns.
static int place_entries(const Analysis *s, RitzSymbolic *y) {
  int64_t num = 0;
  for (int64_t k = 0; k < s->n; k++)
    for (int64_t e = s->a->starts[s->perm[k]]; e < s->a->starts[s->perm[k] + 1]; e++)
      num += s->inverse[s->a->cols[e]] >= k;
  y->num_entries = num;
  RITZ_TRY(RITZ_MALLOC(s->ceed, (size_t)num, &y->from));
  RITZ_TRY(RITZ_MALLOC(s->ceed, (size_t)num, &y->to));
  num = 0;
  for (int64_t k = 0; k < s->n; k++) {
    const int64_t super = s->of_column[k], f = s->number[super];
    const int64_t column = y->panel[f] + (k - s->first[super]) * y->order[f];
    for (int64_t e = s->a->starts[s->perm[k]]; e < s->a->starts[s->perm[k] + 1]; e++) {
      const int64_t i = s->inverse[s->a->cols[e]];
      if (i < k) continue;
      y->from[num] = e;
      y->to[num++] = column + local_row(s, super, i);
    }
  }
  return CEED_ERROR_SUCCESS;
}

// ---- All of it ----

static int allocate_symbolic(Analysis *s) {
  const size_t n = (size_t)s->n;
  int64_t **const arrays[] = {&s->inverse, &s->parent,    &s->count, &s->mark,      &s->link,  &s->head,
                              &s->first,   &s->of_column, &s->up,    &s->row_start, &s->below, &s->number};
  for (size_t k = 0; k < sizeof(arrays) / sizeof(arrays[0]); k++)
    RITZ_TRY(RITZ_MALLOC(s->ceed, n + 1, arrays[k]));
  return CEED_ERROR_SUCCESS;
}

static void free_analysis(Analysis *s) {
  int64_t **const arrays[] = {&s->inverse, &s->parent, &s->count,     &s->mark, &s->link,
                              &s->head,    &s->first,  &s->of_column, &s->up,   &s->row_start,
                              &s->below,   &s->number, &s->rows};
  for (size_t k = 0; k < sizeof(arrays) / sizeof(arrays[0]); k++) RITZ_FREE(arrays[k]);
}

// Elimination in the order of perm, up to the work that a factorization takes.
static void eliminate(Analysis *s, RitzSymbolic *y) {
  invert_permutation(s);
  find_parents(s);
  order_by_subtrees(s);
  count_columns(s);
  find_supernodes(s);
  merge_supernodes(s);
  find_costs(s, y);
}

static int order_by(Analysis *s, RitzOrdering ordering, RitzSymbolic *y, bool *is_done) {
  *is_done = true;
  if (ordering == RITZ_ORDERING_OWN)
    RITZ_TRY(ritz_order_by_levels(s->ceed, s->a, s->perm));
  else
    RITZ_TRY(ritz_order_by_metis(s->ceed, s->a, s->perm, is_done));
  if (!*is_done) return CEED_ERROR_SUCCESS;
  y->ordering = ordering == RITZ_ORDERING_OWN ? "own nested dissection" : "METIS";
  eliminate(s, y);
  return CEED_ERROR_SUCCESS;
}

// METIS's in place of the own one, where that is there and leaves less work. kept: the own one.
static int improve(Analysis *s, int64_t *kept, RitzSymbolic *y) {
  const size_t num_bytes = (size_t)s->n * sizeof(*kept);
  const double num_flops = y->num_flops;
  bool is_done;
  memcpy(kept, s->perm, num_bytes);
  RITZ_TRY(order_by(s, RITZ_ORDERING_METIS, y, &is_done));
  if (is_done && y->num_flops <= num_flops) return CEED_ERROR_SUCCESS;
  memcpy(s->perm, kept, num_bytes);
  if (is_done) y->ordering = "own nested dissection";
  if (is_done) eliminate(s, y);
  return CEED_ERROR_SUCCESS;
}

static int order(Analysis *s, RitzOrdering ordering, RitzSymbolic *y) {
  // Flops: METIS takes longer than they do, some microseconds an unknown.
  const double is_worth_it = fmax(1e9, 2e4 * (double)s->n);
  bool is_done = false;
  if (ordering == RITZ_ORDERING_METIS) RITZ_TRY(order_by(s, ordering, y, &is_done));
  if (is_done) return CEED_ERROR_SUCCESS;
  RITZ_TRY(order_by(s, RITZ_ORDERING_OWN, y, &is_done));
  if (ordering != RITZ_ORDERING_AUTO || y->num_flops < is_worth_it) return CEED_ERROR_SUCCESS;
  int64_t *kept = NULL;
  RITZ_TRY(RITZ_MALLOC(s->ceed, (size_t)s->n, &kept));
  const int ierr = improve(s, kept, y);
  RITZ_FREE(&kept);
  return ierr;
}

static int analyze(Analysis *s, RitzOrdering ordering, int64_t pad, double max_flops, RitzSymbolic *y,
                   bool *is_too_long) {
  RITZ_TRY(allocate_symbolic(s));
  RITZ_TRY(order(s, ordering, y));
  *is_too_long = max_flops > 0 && y->num_flops > max_flops;
  if (*is_too_long) return CEED_ERROR_SUCCESS;
  RITZ_TRY(find_rows(s));
  RITZ_TRY(number_fronts(s, pad, y));
  RITZ_TRY(lay_out(s, y));
  RITZ_TRY(map_rows(s, y));
  return place_entries(s, y);
}

int ritz_symbolic_create(Ceed ceed, const RitzPattern *pattern, RitzOrdering ordering, int64_t pad,
                         double max_flops, RitzSymbolic *symbolic, bool *is_too_long) {
  *symbolic = (RitzSymbolic){.n = pattern->n};
  *is_too_long = false;
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)pattern->n, &symbolic->perm));
  Analysis s = {.ceed = ceed, .a = pattern, .n = pattern->n, .perm = symbolic->perm};
  const int ierr = analyze(&s, ordering, pad, max_flops, symbolic, is_too_long);
  free_analysis(&s);
  if (ierr) ritz_symbolic_free(symbolic);
  return ierr;
}

void ritz_symbolic_free_tables(RitzSymbolic *y) {
  RITZ_FREE(&y->d1);
  RITZ_FREE(&y->d2);
  RITZ_FREE(&y->order);
  RITZ_FREE(&y->parent);
  RITZ_FREE(&y->panel);
  RITZ_FREE(&y->update);
  RITZ_FREE(&y->children);
  RITZ_FREE(&y->down_start);
  RITZ_FREE(&y->up);
  RITZ_FREE(&y->down);
  RITZ_FREE(&y->place);
}

void ritz_symbolic_free(RitzSymbolic *y) {
  ritz_symbolic_free_tables(y);
  RITZ_FREE(&y->perm);
  RITZ_FREE(&y->level);
  RITZ_FREE(&y->num_fronts);
  RITZ_FREE(&y->rows);
  RITZ_FREE(&y->first);
  RITZ_FREE(&y->from);
  RITZ_FREE(&y->to);
}
