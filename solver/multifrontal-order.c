// SPDX-License-Identifier: BSD-2-Clause
// Fill-reducing orderings (contract in solver/multifrontal.h): METIS, looked up at run time, else nested
// dissection by breadth-first searches (George, Nested dissection of a regular finite element mesh, 1973;
// George & Liu, Computer solution of large sparse positive definite systems, 1981, chapter 8): the separator
// of a connected part is a thin level of the search from a node at its edge, without the nodes that touch
// one side alone.
#include "solver/multifrontal.h"

#ifdef RITZ_METIS
#include <metis.h>

#include "base/metis.h"
#include "base/threads.h"

// ---- METIS ----

// The graph without the diagonal.
static void fill_graph(const RitzPattern *a, idx_t *starts, idx_t *cols) {
  idx_t num = 0;
  for (int64_t i = 0; i < a->n; i++) {
    starts[i] = num;
    for (int64_t k = a->starts[i]; k < a->starts[i + 1]; k++)
      if (a->cols[k] != i) cols[num++] = (idx_t)a->cols[k];
  }
  starts[a->n] = num;
}

int ritz_order_by_metis(Ceed ceed, const RitzPattern *a, int64_t *perm, bool *is_done) {
  int (*node_nd)(idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *) = NULL;
  idx_t n = (idx_t)a->n, *starts = NULL, *cols = NULL, *order = NULL, *inverse = NULL;
  *is_done = false;
  *(void **)&node_nd = ritz_metis_function("METIS_NodeND", sizeof(idx_t));
  if (!node_nd || a->n < 2 || a->starts[a->n] >= INT32_MAX) return CEED_ERROR_SUCCESS;
  int ierr = RITZ_MALLOC(ceed, (size_t)n + 1, &starts);
  if (!ierr) ierr = RITZ_MALLOC(ceed, (size_t)a->starts[n] + 1, &cols);
  if (!ierr) ierr = RITZ_MALLOC(ceed, 2 * (size_t)n, &order);
  if (!ierr) {
    inverse = order + n;
    fill_graph(a, starts, cols);
    ritz_lock(RITZ_LOCK_METIS);
    *is_done = node_nd(&n, starts, cols, NULL, NULL, order, inverse) == METIS_OK;
    ritz_unlock(RITZ_LOCK_METIS);
    for (int64_t k = 0; k < n && *is_done; k++) perm[k] = order[k];
  }
  RITZ_FREE(&starts);
  RITZ_FREE(&cols);
  RITZ_FREE(&order);
  return ierr;
}
#else
int ritz_order_by_metis(Ceed ceed, const RitzPattern *a, int64_t *perm, bool *is_done) {
  (void)ceed, (void)a, (void)perm;
  *is_done = false;
  return CEED_ERROR_SUCCESS;
}
#endif

// ---- Own nested dissection ----

enum { LEAF = 32 }; // parts up to this size are not divided: their fronts are dense

// Parts of perm that are still to be divided lie apart, so there are at most n of them.
typedef struct {
  int64_t begin, end;
  bool is_connected;
} Part;

typedef struct {
  const RitzPattern *a;
  int64_t *perm;  // borrowed: parts are ranges of it
  int64_t *queue; // owned, [n]
  int64_t *level; // owned, [n]: of the search; -1: not met
  int64_t *owner; // owned, [n]: stamp of the part that a node is in; 0: separators, nodes of leaves
  int64_t stamp;
  Part *parts; // owned, [n + 1]
  int64_t num_parts;
} Dissection;

static void push(Dissection *d, int64_t begin, int64_t end, bool is_connected) {
  if (end > begin) d->parts[d->num_parts++] = (Part){begin, end, is_connected};
}

// Breadth-first search among the nodes of part `stamp`, whose levels are -1. The nodes in their order go to
// queue[0 ..]; the number of nodes is the result.
static int64_t search(Dissection *d, int64_t from, int64_t *queue) {
  int64_t num = 1;
  queue[0] = from;
  d->level[from] = 0;
  for (int64_t k = 0; k < num; k++) {
    const int64_t node = queue[k];
    for (int64_t e = d->a->starts[node]; e < d->a->starts[node + 1]; e++) {
      const int64_t next = d->a->cols[e];
      if (d->owner[next] != d->stamp || d->level[next] >= 0) continue;
      d->level[next] = d->level[node] + 1;
      queue[num++] = next;
    }
  }
  return num;
}

static void stamp_part(Dissection *d, const Part *p) {
  d->stamp++;
  for (int64_t k = p->begin; k < p->end; k++) {
    d->owner[d->perm[k]] = d->stamp;
    d->level[d->perm[k]] = -1;
  }
}

static void forget_levels(Dissection *d, int64_t num) {
  for (int64_t k = 0; k < num; k++) d->level[d->queue[k]] = -1;
}

// Its connected components, one after the other.
static void split(Dissection *d, const Part *p) {
  int64_t num = 0;
  stamp_part(d, p);
  for (int64_t k = p->begin; k < p->end; k++) {
    if (d->level[d->perm[k]] >= 0) continue;
    const int64_t more = search(d, d->perm[k], d->queue + num);
    push(d, p->begin + num, p->begin + num + more, true);
    num += more;
  }
  for (int64_t k = 0; k < num; k++) d->perm[p->begin + k] = d->queue[k];
}

// The level whose nodes separate best: few of them, and no side with less than a quarter where that can be.
// queue [num]: nodes by levels, the last of which is `last` >= 2.
static int64_t choose_level(const Dissection *d, int64_t num, int64_t last) {
  int64_t best = -1, best_size = 0, middle = -1;
  for (int64_t begin = 0, end; begin < num; begin = end) {
    const int64_t level = d->level[d->queue[begin]];
    for (end = begin; end < num && d->level[d->queue[end]] == level; end++) continue;
    if (level < 1 || level >= last) continue;
    if (middle < 0 || begin < num / 2) middle = level;
    if (begin < num / 4 || num - end < num / 4) continue;
    if (best < 0 || end - begin < best_size) {
      best = level;
      best_size = end - begin;
    }
  }
  return best >= 0 ? best : middle;
}

static bool touches_level(const Dissection *d, int64_t node, int64_t level) {
  for (int64_t e = d->a->starts[node]; e < d->a->starts[node + 1]; e++) {
    const int64_t next = d->a->cols[e];
    if (d->owner[next] == d->stamp && d->level[next] == level) return true;
  }
  return false;
}

// A search from a node at the edge of the connected part, of which the first one is any; its last level.
static int64_t search_from_edge(Dissection *d, const Part *p) {
  const int64_t num = p->end - p->begin;
  int64_t from = d->perm[p->begin], last = -1;
  for (int tries = 0;; tries++) { // ends where searches do not get longer
    (void)search(d, from, d->queue);
    from = d->queue[num - 1];
    if (d->level[from] <= last || tries == 3) return d->level[from];
    last = d->level[from];
    forget_levels(d, num);
  }
}

// A connected part falls into two sides and, behind them, the separator.
static void divide(Dissection *d, const Part *p) {
  const int64_t num = p->end - p->begin;
  int64_t num_high = 0, at = p->begin, end = p->end;
  stamp_part(d, p);
  const int64_t last = search_from_edge(d, p);
  if (last < 2) return; // everybody is a neighbour of one node: a dense front
  const int64_t level = choose_level(d, num, last);
  for (int64_t k = 0; k < num; k++) {
    const int64_t node = d->queue[k];
    num_high += d->level[node] > level;
    if (d->level[node] != level || !touches_level(d, node, level + 1)) continue;
    d->perm[--end] = node;
    d->owner[node] = 0;
  }
  const int64_t middle = end - num_high;
  for (int64_t k = 0, high = middle; k < num; k++) {
    const int64_t node = d->queue[k];
    if (d->owner[node] != 0) d->perm[d->level[node] > level ? high++ : at++] = node;
  }
  push(d, p->begin, middle, false);
  push(d, middle, end, false);
}

int ritz_order_by_levels(Ceed ceed, const RitzPattern *a, int64_t *perm) {
  const size_t n = (size_t)a->n;
  Dissection d = {.a = a, .perm = perm};
  int ierr = RITZ_MALLOC(ceed, n, &d.queue);
  if (!ierr) ierr = RITZ_MALLOC(ceed, n, &d.level);
  if (!ierr) ierr = RITZ_CALLOC(ceed, n, &d.owner);
  if (!ierr) ierr = RITZ_MALLOC(ceed, n + 1, &d.parts);
  if (!ierr) {
    for (int64_t i = 0; i < a->n; i++) perm[i] = i;
    push(&d, 0, a->n, false);
    while (d.num_parts > 0) {
      const Part p = d.parts[--d.num_parts];
      if (p.end - p.begin <= LEAF) continue;
      if (p.is_connected)
        divide(&d, &p);
      else
        split(&d, &p);
    }
  }
  RITZ_FREE(&d.queue);
  RITZ_FREE(&d.level);
  RITZ_FREE(&d.owner);
  RITZ_FREE(&d.parts);
  return ierr;
}
