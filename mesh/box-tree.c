// SPDX-License-Identifier: BSD-2-Clause
// A packed tree of boxes (contract in mesh/locate.h). Called by mesh/locate.c. Knows nothing of elements.
#include <math.h>
#include <string.h>

#include "mesh/locate.h"

// ---- Morton order ----

// Bits of the three numbers, one after the other in turn.
static uint64_t interleave(int space_dim, int bits, const uint32_t *cell) {
  uint64_t code = 0;

  for (int b = bits - 1; b >= 0; b--) {
    for (int d = 0; d < space_dim; d++) code = code << 1 | (cell[d] >> b & 1);
  }
  return code;
}

// codes [num]: of the centres in a grid of 2^bits cells a direction.
static void fill_codes(int space_dim, int64_t num, const double *boxes, int bits, uint64_t *codes) {
  const double top = (double)((1 << bits) - 1);
  double low[3], high[3];

  ritz_mesh_bounds(space_dim, 2 * num, boxes, low, high);
  for (int64_t i = 0; i < num; i++, boxes += 2 * space_dim) {
    uint32_t cell[3] = {0, 0, 0};

    for (int d = 0; d < space_dim; d++) {
      const double length = high[d] - low[d], at = 0.5 * (boxes[d] + boxes[space_dim + d]) - low[d];

      cell[d] = length > 0.0 ? (uint32_t)fmin(fmax(at / length * top, 0.0), top) : 0;
    }
    codes[i] = interleave(space_dim, bits, cell);
  }
}

// order [num]: 0 .. num - 1 by ascending codes, equal ones as they were; 11 bits a pass. spare [num].
static void sort_by_code(int64_t num, int bits, const uint64_t *codes, int64_t **order, int64_t **spare) {
  enum { DIGIT = 11, NUM_DIGITS = 1 << DIGIT };
  int64_t starts[NUM_DIGITS + 1];

  for (int64_t i = 0; i < num; i++) (*order)[i] = i;
  for (int shift = 0; shift < bits; shift += DIGIT) {
    memset(starts, 0, sizeof(starts));
    for (int64_t i = 0; i < num; i++) starts[(codes[i] >> shift & (NUM_DIGITS - 1)) + 1]++;
    for (int k = 0; k < NUM_DIGITS; k++) starts[k + 1] += starts[k];
    for (int64_t i = 0; i < num; i++) {
      const int64_t item = (*order)[i];

      (*spare)[starts[codes[item] >> shift & (NUM_DIGITS - 1)]++] = item;
    }
    int64_t *sorted = *spare;

    *spare = *order;
    *order = sorted;
  }
}

// Cells enough for a few boxes in each, should they be spread evenly.
static int num_bits(int space_dim, int64_t num) {
  int bits = 2;

  while (bits < 20 && num >> (space_dim * (bits - 2)) > 1) bits++;
  return bits;
}

static int order_leaves(Ceed ceed, const double *boxes, RitzBoxTree *tree) {
  const int bits = num_bits(tree->space_dim, tree->num[0]);
  uint64_t *codes = NULL;
  int64_t *spare = NULL;
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)tree->num[0], &tree->leaves));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)tree->num[0], &codes));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)tree->num[0], &spare));
  fill_codes(tree->space_dim, tree->num[0], boxes, bits, codes);
  sort_by_code(tree->num[0], bits * tree->space_dim, codes, &tree->leaves, &spare);

cleanup:
  RITZ_FREE(&spare);
  RITZ_FREE(&codes);
  return ierr;
}

// ---- Levels ----

static void lay_out_levels(RitzBoxTree *tree) {
  tree->num_levels = 1;
  while (tree->num[tree->num_levels - 1] > RITZ_TREE_WIDTH) {
    const int level = tree->num_levels++;

    tree->first[level] = tree->first[level - 1] + tree->num[level - 1];
    tree->num[level] = (tree->num[level - 1] + RITZ_TREE_WIDTH - 1) / RITZ_TREE_WIDTH;
  }
}

// The box around boxes of the level below.
static void join_boxes(const RitzBoxTree *tree, int level, int64_t i) {
  const int n = tree->space_dim;
  const int64_t begin = i * RITZ_TREE_WIDTH, rest = tree->num[level - 1] - begin;
  double *box = tree->boxes + (tree->first[level] + i) * 2 * n;

  ritz_mesh_bounds(n, 2 * (rest < RITZ_TREE_WIDTH ? rest : RITZ_TREE_WIDTH),
                   tree->boxes + (tree->first[level - 1] + begin) * 2 * n, box, box + n);
}

int ritz_box_tree_create(Ceed ceed, int space_dim, int64_t num, const double *boxes, RitzBoxTree *tree) {
  const size_t size = 2 * (size_t)space_dim;
  RitzBoxTree t = {.space_dim = space_dim, .num = {num}};
  int ierr = CEED_ERROR_SUCCESS;

  lay_out_levels(&t);
  const int top = t.num_levels - 1;

  RITZ_TRY_CLEANUP(order_leaves(ceed, boxes, &t));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)(t.first[top] + t.num[top]) * size, &t.boxes));
  for (int64_t i = 0; i < num; i++)
    memcpy(t.boxes + (size_t)i * size, boxes + (size_t)t.leaves[i] * size, size * sizeof(*boxes));
  for (int level = 1; level < t.num_levels; level++) {
    for (int64_t i = 0; i < t.num[level]; i++) join_boxes(&t, level, i);
  }

cleanup:
  if (ierr) ritz_box_tree_clear(&t);
  *tree = t;
  return ierr;
}

void ritz_box_tree_clear(RitzBoxTree *tree) {
  RITZ_FREE(&tree->boxes);
  RITZ_FREE(&tree->leaves);
  *tree = (RitzBoxTree){0};
}

// ---- Queries ----

RitzBoxWalk ritz_box_tree_walk(const RitzBoxTree *tree, const double *x) {
  RitzBoxWalk walk = {.tree = tree, .x = x, .level = tree->num_levels - 1};

  walk.next[walk.level] = 0;
  walk.end[walk.level] = tree->num[walk.level];
  return walk;
}

static bool holds(int n, const double *box, const double *x) {
  for (int d = 0; d < n; d++) {
    if (!(box[d] <= x[d] && x[d] <= box[n + d])) return false;
  }
  return true;
}

int64_t ritz_box_walk_next(RitzBoxWalk *w) {
  const RitzBoxTree *tree = w->tree;

  while (w->level < tree->num_levels) {
    const int level = w->level;

    if (w->next[level] == w->end[level]) {
      w->level++;
      continue;
    }
    const int64_t i = w->next[level]++;

    if (!holds(tree->space_dim, tree->boxes + (tree->first[level] + i) * 2 * tree->space_dim, w->x)) continue;
    if (level == 0) return tree->leaves[i];
    const int64_t begin = i * RITZ_TREE_WIDTH, rest = tree->num[level - 1] - begin;

    w->level--;
    w->next[w->level] = begin;
    w->end[w->level] = begin + (rest < RITZ_TREE_WIDTH ? rest : RITZ_TREE_WIDTH);
  }
  return -1;
}
