// SPDX-License-Identifier: BSD-2-Clause
// What moves between the fronts of a tree (core/front.h says what the arrays are). A front takes from its
// children, in their order: no atomic additions, equal bits every time.

// The front that has this row of all fronts' rows, among `count` of them from `first` on; none is empty.
RITZ_INLINE RitzLong ritz_front_of(RITZ_GLOBAL const RitzLong *rows, RitzLong first, RitzLong count,
                                   RitzLong row) {
  RitzLong low = first, high = first + count;
  while (high - low > 1) {
    const RitzLong middle = low + (high - low) / 2;
    if (rows[middle] <= row)
      low = middle;
    else
      high = middle;
  }
  return low;
}

// A block is a column of a front.
RITZ_KERNEL(64)
front_tree_extend_add(RitzLong first, RitzLong count, RITZ_GLOBAL const RitzLong *rows,
                      RITZ_GLOBAL const int *d1s, RITZ_GLOBAL const int *d2s,
                      RITZ_GLOBAL const RitzLong *panel, RITZ_GLOBAL const RitzLong *update,
                      RITZ_GLOBAL const RitzLong *children, RITZ_GLOBAL const RitzLong *down_start,
                      RITZ_GLOBAL const int *down, RITZ_GLOBAL double *panels, RITZ_GLOBAL double *updates,
                      RITZ_GLOBAL const double *child_updates) {
  const RitzLong row = rows[first] + RITZ_BLOCK, f = ritz_front_of(rows, first, count, row);
  const int d1 = d1s[f], d2 = d2s[f], order = d1 + d2, col = (int)(row - rows[f]);
  RITZ_GLOBAL double *to = col < d1 ? panels + panel[f] + (RitzLong)col * order
                                    : updates + update[f] + (RitzLong)(col - d1) * d2 - d1;
  for (int i = (col < d1 ? col : d1) + RITZ_THREAD; i < order; i += 64) {
    double sum = col < d1 ? to[i] : 0;
    for (RitzLong c = children[f]; i >= col && c < children[f + 1]; c++) {
      RITZ_GLOBAL const int *of_child = down + down_start[c];
      const int r = of_child[i], s = of_child[col], own = d1s[c];
      if (r >= 0 && s >= 0) sum += child_updates[update[c] + (r - own) + (RitzLong)(s - own) * d2s[c]];
    }
    to[i] = sum;
  }
}

RITZ_KERNEL(256)
front_tree_forward(RitzLong first, RitzLong count, RITZ_GLOBAL const RitzLong *rows,
                   RITZ_GLOBAL const int *d1s, RITZ_GLOBAL const RitzLong *children,
                   RITZ_GLOBAL const RitzLong *down_start, RITZ_GLOBAL const int *down, int num_rhs,
                   RitzLong x_stride, RITZ_GLOBAL double *x) {
  const RitzLong num = rows[first + count] - rows[first], row = rows[first] + RITZ_ITEM % (num > 0 ? num : 1);
  if (RITZ_ITEM < num * num_rhs) {
    x += RITZ_ITEM / num * x_stride;
    const RitzLong f = ritz_front_of(rows, first, count, row);
    const int i = (int)(row - rows[f]);
    double sum = i < d1s[f] ? x[row] : 0;
    for (RitzLong c = children[f]; c < children[f + 1]; c++) {
      const int r = down[down_start[c] + i];
      if (r >= 0) sum += x[rows[c] + r];
    }
    x[row] = sum;
  }
}

RITZ_KERNEL(256)
front_tree_backward(RitzLong first, RitzLong count, RITZ_GLOBAL const RitzLong *rows,
                    RITZ_GLOBAL const int *d1s, RITZ_GLOBAL const int *parent, RITZ_GLOBAL const int *up,
                    int num_rhs, RitzLong x_stride, RITZ_GLOBAL double *x) {
  const RitzLong num = rows[first + count] - rows[first], row = rows[first] + RITZ_ITEM % (num > 0 ? num : 1);
  if (RITZ_ITEM < num * num_rhs) {
    x += RITZ_ITEM / num * x_stride;
    const RitzLong f = ritz_front_of(rows, first, count, row);
    if (row - rows[f] >= d1s[f] && parent[f] >= 0) x[row] = x[rows[parent[f]] + up[row]];
  }
}

// out[to[k]] = in[from[k]]; without a list: k.
#define RITZ_FRONT_TREE_MOVE(name, In, Out)                                                                  \
  RITZ_KERNEL(256)                                                                                           \
  name(RitzLong n, RITZ_GLOBAL const RitzLong *from, RITZ_GLOBAL const RitzLong *to, int has_from,           \
       int has_to, RITZ_GLOBAL const In *in, RITZ_GLOBAL Out *out) {                                         \
    const RitzLong k = RITZ_ITEM;                                                                            \
    if (k < n) out[has_to ? to[k] : k] = (Out)in[has_from ? from[k] : k];                                    \
  }
RITZ_FRONT_TREE_MOVE(front_tree_move, double, double)
RITZ_FRONT_TREE_MOVE(front_tree_widen, float, double)
RITZ_FRONT_TREE_MOVE(front_tree_narrow, double, float)
