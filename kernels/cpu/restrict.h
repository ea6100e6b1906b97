// SPDX-License-Identifier: BSD-2-Clause
// Between L-vectors and the arrays of a batch. Element arrays are [component][group][node]: `groups` groups
// of `size` nodes, `group_stride` vectors apart, components `comp_stride` vectors apart.
//
// Scalar loads beat the gather instruction three to one where microcode guards it; rows of consecutive nodes
// are loaded as wholes and transposed. Lanes may overlap in memory, so every read-add-write of a scatter is
// finished before the next begins; idle lanes are never written.
#ifndef RITZ_KERNELS_CPU_RESTRICT_H
#define RITZ_KERNELS_CPU_RESTRICT_H

#include "kernels/cpu/vector.h"

// Shape of an element array, and whether its L-vector is in the other precision (RitzOther): entries are
// converted on the way, and added in double.
typedef struct {
  int num_comp, groups, size, group_stride, comp_stride;
  bool is_other;
} RitzShape;

RITZ_INLINE int ritz_shape_nodes(const RitzShape *s) { return s->groups * s->size; }

// ---- Entries of an L-vector ----

// Entries of an L-vector from `first` on. is_overwritten: ritz_add... store instead of adding. Both flags are
// constants to the compiler.
typedef struct {
  char *first;
  bool is_other, is_overwritten;
} RitzEntries;

RITZ_INLINE RitzEntries ritz_entries(RitzEntries u, int64_t i) {
  const int64_t bytes = u.is_other ? sizeof(RitzOther) : sizeof(RitzReal);
  return (RitzEntries){u.first + i * bytes, u.is_other, u.is_overwritten};
}

RITZ_INLINE RitzEntries ritz_component(const RitzKernelSpace *space, const RitzShape *s, int c) {
  const RitzEntries all = {(char *)space->array, s->is_other, false};
  return ritz_entries(all, c * space->strides[1]);
}

RITZ_INLINE RitzReal ritz_load(RitzEntries u, int64_t i) {
  return u.is_other ? (RitzReal)((const RitzOther *)u.first)[i] : ((const RitzReal *)u.first)[i];
}

RITZ_INLINE void ritz_add(RitzEntries v, int64_t i, RitzReal x) {
  if (v.is_overwritten) {
    ((RitzReal *)v.first)[i] = x;
  } else if (v.is_other) {
    RitzOther *at = (RitzOther *)v.first + i;
    *at = (RitzOther)((double)*at + (double)x);
  } else {
    ((RitzReal *)v.first)[i] += x;
  }
}

// Vectors of two, four and all lanes at any entry: RitzPair ritz_load_pair(u, i), void ritz_add_pair(v, i,
// x), and so on.
#define RITZ_AT_ENTRIES(Type, name, count)                                                                   \
  typedef RitzReal Type##At                                                                                  \
      __attribute__((vector_size((count) * sizeof(RitzReal)), aligned(sizeof(RitzReal))));                   \
  typedef RitzOther Type##Other                                                                              \
      __attribute__((vector_size((count) * sizeof(RitzOther)), aligned(sizeof(RitzOther))));                 \
  typedef double Type##Double __attribute__((vector_size((count) * sizeof(double))));                        \
  RITZ_INLINE Type ritz_load_##name(RitzEntries u, int64_t i) {                                              \
    if (u.is_other) return RITZ_CONVERT(*(const Type##Other *)((const RitzOther *)u.first + i), Type);       \
    return *(const Type##At *)((const RitzReal *)u.first + i);                                               \
  }                                                                                                          \
  RITZ_INLINE void ritz_add_##name(RitzEntries v, int64_t i, Type x) {                                       \
    if (v.is_overwritten) {                                                                                  \
      *(Type##At *)((RitzReal *)v.first + i) = x;                                                            \
    } else if (v.is_other) {                                                                                 \
      Type##Other *at = (Type##Other *)((RitzOther *)v.first + i);                                           \
      const Type##Double sum = RITZ_CONVERT(*at, Type##Double) + RITZ_CONVERT(x, Type##Double);              \
      *at = RITZ_CONVERT(sum, Type##Other);                                                                  \
    } else {                                                                                                 \
      *(Type##At *)((RitzReal *)v.first + i) += x;                                                           \
    }                                                                                                        \
  }

#if RITZ_LANES >= 4
typedef RitzReal RitzPair __attribute__((vector_size(2 * sizeof(RitzReal))));
typedef RitzReal RitzQuad __attribute__((vector_size(4 * sizeof(RitzReal))));
RITZ_AT_ENTRIES(RitzPair, pair, 2)
RITZ_AT_ENTRIES(RitzQuad, quad, 4)
RITZ_AT_ENTRIES(RitzVec, vec, RITZ_LANES)
#endif

// How rows of nodes are transposed: by pairs of lanes, for doubles; by blocks of 4 x 4, for floats; else
// entry by entry.
#if RITZ_LANES == 8 && RITZ_REAL_BYTES == 8
#define RITZ_BY_PAIRS
#elif (RITZ_LANES == 8 || RITZ_LANES == 16) && RITZ_REAL_BYTES == 4
#define RITZ_BY_BLOCKS
#endif

// ---- One vector ----

#if defined(RITZ_BY_PAIRS) || defined(RITZ_BY_BLOCKS)
typedef RitzReal RitzEight __attribute__((vector_size(8 * sizeof(RitzReal))));

RITZ_INLINE RitzQuad ritz_gather_quad(RitzEntries u, const int64_t *at) {
  const RitzPair a = {ritz_load(u, at[0]), ritz_load(u, at[1])},
                 b = {ritz_load(u, at[2]), ritz_load(u, at[3])};
  return RITZ_SHUFFLE(a, b, 0, 1, 2, 3);
}
RITZ_INLINE RitzEight ritz_join(RitzQuad a, RitzQuad b) { return RITZ_SHUFFLE(a, b, 0, 1, 2, 3, 4, 5, 6, 7); }
#endif

#if RITZ_LANES == 8 && (defined(RITZ_BY_PAIRS) || defined(RITZ_BY_BLOCKS))
RITZ_INLINE RitzVec ritz_gather(RitzEntries u, const int64_t *at) {
  return ritz_join(ritz_gather_quad(u, at), ritz_gather_quad(u, at + 4));
}
#elif defined(RITZ_BY_BLOCKS)
RITZ_INLINE RitzVec ritz_join_eights(RitzEight a, RitzEight b) {
  return RITZ_SHUFFLE(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
RITZ_INLINE RitzVec ritz_gather(RitzEntries u, const int64_t *at) {
  return ritz_join_eights(ritz_join(ritz_gather_quad(u, at), ritz_gather_quad(u, at + 4)),
                          ritz_join(ritz_gather_quad(u, at + 8), ritz_gather_quad(u, at + 12)));
}
#else
RITZ_INLINE RitzVec ritz_gather(RitzEntries u, const int64_t *at) {
  RitzVec x;
  RITZ_UNROLL for (int l = 0; l < RITZ_LANES; l++) x[l] = ritz_load(u, at[l]);
  return x;
}
#endif

RITZ_INLINE void ritz_scatter_add(RitzEntries v, const int64_t *at, int num, RitzVec x) {
  if (num == RITZ_LANES) {
    RITZ_UNROLL for (int l = 0; l < RITZ_LANES; l++) ritz_add(v, at[l], x[l]);
  } else {
    RITZ_ROLLED for (int l = 0; l < num; l++) ritz_add(v, at[l], x[l]);
  }
}

// ---- One offset per node: [elem][node] ----

RITZ_INLINE void ritz_node_entries(const RitzKernelSpace *space, const RitzBatch *b, int num_nodes, int node,
                                   int64_t *at) {
  RITZ_UNROLL for (int l = 0; l < RITZ_LANES; l++) at[l] =
      space->offsets[(int64_t)b->elem[l] * num_nodes + node];
}

RITZ_INLINE void ritz_gather_nodes(const RitzKernelSpace *space, const RitzBatch *b, const RitzShape *s,
                                   RitzVec *x) {
  const int num_nodes = ritz_shape_nodes(s);
  RITZ_ROLLED for (int k = 0; k < s->groups; k++) {
    RITZ_ROLLED for (int i = 0; i < s->size; i++) {
      int64_t at[RITZ_LANES];
      ritz_node_entries(space, b, num_nodes, k * s->size + i, at);
      RITZ_ROLLED for (int c = 0; c < s->num_comp; c++) {
        x[c * s->comp_stride + k * s->group_stride + i] = ritz_gather(ritz_component(space, s, c), at);
      }
    }
  }
}

RITZ_INLINE void ritz_scatter_nodes(const RitzKernelSpace *space, const RitzBatch *b, const RitzShape *s,
                                    const RitzVec *y) {
  const int num_nodes = ritz_shape_nodes(s);
  RITZ_ROLLED for (int k = 0; k < s->groups; k++) {
    RITZ_ROLLED for (int i = 0; i < s->size; i++) {
      int64_t at[RITZ_LANES];
      ritz_node_entries(space, b, num_nodes, k * s->size + i, at);
      RITZ_ROLLED for (int c = 0; c < s->num_comp; c++) {
        ritz_scatter_add(ritz_component(space, s, c), at, b->num,
                         y[c * s->comp_stride + k * s->group_stride + i]);
      }
    }
  }
}

// ---- No offsets: entry = node*strides[0] + component*strides[1] + elem*strides[2] ----

RITZ_INLINE void ritz_strided_entries(const RitzKernelSpace *space, const RitzBatch *b, int node,
                                      int64_t *at) {
  RITZ_UNROLL for (int l = 0; l < RITZ_LANES; l++) at[l] =
      b->elem[l] * space->strides[2] + node * space->strides[0];
}

RITZ_INLINE void ritz_gather_strided(const RitzKernelSpace *space, const RitzBatch *b, const RitzShape *s,
                                     RitzVec *x) {
  RITZ_ROLLED for (int k = 0; k < s->groups; k++) {
    RITZ_ROLLED for (int i = 0; i < s->size; i++) {
      int64_t at[RITZ_LANES];
      ritz_strided_entries(space, b, k * s->size + i, at);
      RITZ_ROLLED for (int c = 0; c < s->num_comp; c++) {
        x[c * s->comp_stride + k * s->group_stride + i] = ritz_gather(ritz_component(space, s, c), at);
      }
    }
  }
}

// Packed data [batch][component][node][lane]; what lanes that repeat an element store is what readers expect.
RITZ_INLINE void ritz_store_packed(const RitzKernelSpace *space, const RitzBatch *b, const RitzShape *s,
                                   const RitzVec *y) {
  const int64_t num_nodes = ritz_shape_nodes(s);
  RitzVec *to = (RitzVec *)space->array + b->number * s->num_comp * num_nodes;
  RITZ_ROLLED for (int c = 0; c < s->num_comp; c++) {
    RITZ_ROLLED for (int k = 0; k < s->groups; k++) {
      RITZ_ROLLED for (int i = 0; i < s->size; i++) to[c * num_nodes + k * s->size + i] =
          y[c * s->comp_stride + k * s->group_stride + i];
    }
  }
}

RITZ_INLINE void ritz_scatter_strided(const RitzKernelSpace *space, const RitzBatch *b, const RitzShape *s,
                                      const RitzVec *y) {
  if (space->is_packed) {
    ritz_store_packed(space, b, s, y);
    return;
  }
  RITZ_ROLLED for (int k = 0; k < s->groups; k++) {
    RITZ_ROLLED for (int i = 0; i < s->size; i++) {
      int64_t at[RITZ_LANES];
      ritz_strided_entries(space, b, k * s->size + i, at);
      RITZ_ROLLED for (int c = 0; c < s->num_comp; c++) {
        ritz_scatter_add(ritz_component(space, s, c), at, b->num,
                         y[c * s->comp_stride + k * s->group_stride + i]);
      }
    }
  }
}

// ---- Orientations, on an element array after the gather or before the scatter ----

RITZ_INLINE int ritz_shape_at(const RitzShape *s, int c, int i) {
  return c * s->comp_stride + i / s->size * s->group_stride + i % s->size;
}

RITZ_INLINE void ritz_orient(const RitzKernelSpace *space, const RitzBatch *b, const RitzShape *s,
                             RitzVec *x) {
  const int num_nodes = ritz_shape_nodes(s);
  RITZ_ROLLED for (int i = 0; i < num_nodes; i++) {
    RitzVec sign;
    for (int l = 0; l < RITZ_LANES; l++)
      sign[l] = space->orients[(int64_t)b->elem[l] * num_nodes + i] ? -1 : 1;
    RITZ_ROLLED for (int c = 0; c < s->num_comp; c++) x[ritz_shape_at(s, c, i)] *= sign;
  }
}

// Entry `which` (below, diagonal, above) of row `node` of the tridiagonal matrices.
RITZ_INLINE RitzVec ritz_curl_entry(const RitzKernelSpace *space, const RitzBatch *b, int num_nodes, int node,
                                    int which) {
  RitzVec t;
  for (int l = 0; l < RITZ_LANES; l++)
    t[l] = space->curl_orients[3 * ((int64_t)b->elem[l] * num_nodes + node) + which];
  return t;
}

// x = T x; transposed: x = T^T x, whose entries below and above the diagonal stand in the neighbouring rows.
RITZ_INLINE void ritz_curl_orient(const RitzKernelSpace *space, const RitzBatch *b, const RitzShape *s,
                                  bool transposed, RitzVec *x) {
  const int num_nodes = ritz_shape_nodes(s), t = transposed;
  RITZ_ROLLED for (int c = 0; c < s->num_comp; c++) {
    RitzVec below = ritz_splat(0);
    RITZ_ROLLED for (int i = 0; i < num_nodes; i++) {
      RitzVec *at = x + ritz_shape_at(s, c, i);
      const RitzVec here = *at;
      RitzVec sum = ritz_curl_entry(space, b, num_nodes, i, 1) * here;
      if (i > 0) sum += ritz_curl_entry(space, b, num_nodes, i - t, 2 * t) * below;
      if (i + 1 < num_nodes)
        sum += ritz_curl_entry(space, b, num_nodes, i + t, 2 - 2 * t) * x[ritz_shape_at(s, c, i + 1)];
      *at = sum;
      below = here;
    }
  }
}

// ---- Rows: `n` consecutive columns of each lane begin at u[o[lane]]; column m is component m % nc of node m
// / nc ----

RITZ_INLINE void ritz_row_entries(const int32_t *o, int64_t *at) {
  RITZ_UNROLL for (int l = 0; l < RITZ_LANES; l++) at[l] = o[l];
}

#define RITZ_COLUMN(m) ((m) % nc * cs + (m) / nc)

#ifdef RITZ_BY_PAIRS
// Four columns cost 8 half loads (4 of them merge) and 8 shuffles; pairing lanes (0,2)(1,3)(4,6)(5,7) makes
// the order come out right in two steps.
RITZ_INLINE RitzVec ritz_two_quads(RitzEntries u, int64_t a, int64_t b) {
  return ritz_join(ritz_load_quad(u, a), ritz_load_quad(u, b));
}
RITZ_INLINE RitzVec ritz_evens(RitzVec a, RitzVec b) { return RITZ_SHUFFLE(a, b, 0, 8, 2, 10, 4, 12, 6, 14); }
RITZ_INLINE RitzVec ritz_odds(RitzVec a, RitzVec b) { return RITZ_SHUFFLE(a, b, 1, 9, 3, 11, 5, 13, 7, 15); }

RITZ_INLINE void ritz_load_4(RitzEntries u, const int32_t *o, RitzVec *c) {
  const RitzVec a = ritz_two_quads(u, o[0], o[2]), b = ritz_two_quads(u, o[1], o[3]);
  const RitzVec d = ritz_two_quads(u, o[4], o[6]), e = ritz_two_quads(u, o[5], o[7]);
  const RitzVec al = ritz_evens(a, b), ah = ritz_odds(a, b), dl = ritz_evens(d, e), dh = ritz_odds(d, e);
  c[0] = RITZ_SHUFFLE(al, dl, 0, 1, 4, 5, 8, 9, 12, 13);
  c[1] = RITZ_SHUFFLE(ah, dh, 0, 1, 4, 5, 8, 9, 12, 13);
  c[2] = RITZ_SHUFFLE(al, dl, 2, 3, 6, 7, 10, 11, 14, 15);
  c[3] = RITZ_SHUFFLE(ah, dh, 2, 3, 6, 7, 10, 11, 14, 15);
}

RITZ_INLINE RitzQuad ritz_two_pairs(RitzEntries u, int64_t a, int64_t b) {
  return RITZ_SHUFFLE(ritz_load_pair(u, a), ritz_load_pair(u, b), 0, 1, 2, 3);
}

RITZ_INLINE void ritz_load_2(RitzEntries u, const int32_t *o, RitzVec *c) {
  const RitzVec a = ritz_join(ritz_two_pairs(u, o[0], o[2]), ritz_two_pairs(u, o[4], o[6]));
  const RitzVec b = ritz_join(ritz_two_pairs(u, o[1], o[3]), ritz_two_pairs(u, o[5], o[7]));
  c[0] = ritz_evens(a, b);
  c[1] = ritz_odds(a, b);
}

RITZ_INLINE void ritz_add_two_quads(RitzEntries v, int64_t a, int64_t b, RitzVec x) {
  ritz_add_quad(v, a, RITZ_SHUFFLE(x, x, 0, 1, 2, 3));
  ritz_add_quad(v, b, RITZ_SHUFFLE(x, x, 4, 5, 6, 7));
}

RITZ_INLINE void ritz_add_4(RitzEntries v, const int32_t *o, const RitzVec *c) {
  const RitzVec al = RITZ_SHUFFLE(c[0], c[2], 0, 1, 8, 9, 2, 3, 10, 11);
  const RitzVec ah = RITZ_SHUFFLE(c[1], c[3], 0, 1, 8, 9, 2, 3, 10, 11);
  const RitzVec dl = RITZ_SHUFFLE(c[0], c[2], 4, 5, 12, 13, 6, 7, 14, 15);
  const RitzVec dh = RITZ_SHUFFLE(c[1], c[3], 4, 5, 12, 13, 6, 7, 14, 15);
  ritz_add_two_quads(v, o[0], o[2], ritz_evens(al, ah));
  ritz_add_two_quads(v, o[1], o[3], ritz_odds(al, ah));
  ritz_add_two_quads(v, o[4], o[6], ritz_evens(dl, dh));
  ritz_add_two_quads(v, o[5], o[7], ritz_odds(dl, dh));
}

RITZ_INLINE void ritz_add_2(RitzEntries v, const int32_t *o, const RitzVec *c) {
  const RitzVec a = ritz_evens(c[0], c[1]), b = ritz_odds(c[0], c[1]);
  ritz_add_pair(v, o[0], RITZ_SHUFFLE(a, a, 0, 1));
  ritz_add_pair(v, o[1], RITZ_SHUFFLE(b, b, 0, 1));
  ritz_add_pair(v, o[2], RITZ_SHUFFLE(a, a, 2, 3));
  ritz_add_pair(v, o[3], RITZ_SHUFFLE(b, b, 2, 3));
  ritz_add_pair(v, o[4], RITZ_SHUFFLE(a, a, 4, 5));
  ritz_add_pair(v, o[5], RITZ_SHUFFLE(b, b, 4, 5));
  ritz_add_pair(v, o[6], RITZ_SHUFFLE(a, a, 6, 7));
  ritz_add_pair(v, o[7], RITZ_SHUFFLE(b, b, 6, 7));
}

RITZ_INLINE void ritz_load_row(int n, int nc, int cs, RitzEntries u, const int32_t *o, RitzVec *x) {
  RitzVec c[4];
  RITZ_UNROLL for (int m = 0; m + 4 <= n; m += 4) {
    ritz_load_4(ritz_entries(u, m), o, c);
    RITZ_UNROLL for (int i = 0; i < 4; i++) x[RITZ_COLUMN(m + i)] = c[i];
  }
  if (n % 4 >= 2) {
    ritz_load_2(ritz_entries(u, n / 4 * 4), o, c);
    RITZ_UNROLL for (int i = 0; i < 2; i++) x[RITZ_COLUMN(n / 4 * 4 + i)] = c[i];
  }
  if (n % 2) {
    int64_t at[RITZ_LANES];
    ritz_row_entries(o, at);
    x[RITZ_COLUMN(n - 1)] = ritz_gather(ritz_entries(u, n - 1), at);
  }
}

// The last lane of `before` and all lanes but the last of x: each lane moves on by one.
#define RITZ_MOVE_ON(before, x) RITZ_SHUFFLE(before, x, 0, 8, 9, 10, 11, 12, 13, 14)

// Columns of one and of two nodes of a whole chain are consecutive in memory.
RITZ_INLINE void ritz_add_chain_2(RitzEntries v, int64_t first, const RitzVec *c) {
  ritz_add_vec(v, first, RITZ_SHUFFLE(c[0], c[1], 0, 8, 1, 9, 2, 10, 3, 11));
  ritz_add_vec(v, first + 8, RITZ_SHUFFLE(c[0], c[1], 4, 12, 5, 13, 6, 14, 7, 15));
}
#endif

#ifdef RITZ_BY_BLOCKS
// A shuffle of two vectors that does the same in each four lanes; n and up are RITZ_LANES and on.
#if RITZ_LANES == 16
#define RITZ_IN_FOURS(x, y, a, b, c, d)                                                                      \
  RITZ_SHUFFLE(x, y, a, b, c, d, (a) + 4, (b) + 4, (c) + 4, (d) + 4, (a) + 8, (b) + 8, (c) + 8, (d) + 8,     \
               (a) + 12, (b) + 12, (c) + 12, (d) + 12)
#else
#define RITZ_IN_FOURS(x, y, a, b, c, d) RITZ_SHUFFLE(x, y, a, b, c, d, (a) + 4, (b) + 4, (c) + 4, (d) + 4)
#endif
RITZ_INLINE RitzVec ritz_low(RitzVec a, RitzVec b) {
  return RITZ_IN_FOURS(a, b, 0, RITZ_LANES, 1, RITZ_LANES + 1);
}
RITZ_INLINE RitzVec ritz_high(RitzVec a, RitzVec b) {
  return RITZ_IN_FOURS(a, b, 2, RITZ_LANES + 2, 3, RITZ_LANES + 3);
}
RITZ_INLINE RitzVec ritz_first_halves(RitzVec a, RitzVec b) {
  return RITZ_IN_FOURS(a, b, 0, 1, RITZ_LANES, RITZ_LANES + 1);
}
RITZ_INLINE RitzVec ritz_second_halves(RitzVec a, RitzVec b) {
  return RITZ_IN_FOURS(a, b, 2, 3, RITZ_LANES + 2, RITZ_LANES + 3);
}

// Blocks of 4 x 4 inside of four vectors, transposed.
RITZ_INLINE void ritz_transpose(const RitzVec *x, RitzVec *y) {
  const RitzVec a = ritz_low(x[0], x[1]), b = ritz_low(x[2], x[3]);
  const RitzVec c = ritz_high(x[0], x[1]), d = ritz_high(x[2], x[3]);
  y[0] = ritz_first_halves(a, b);
  y[1] = ritz_second_halves(a, b);
  y[2] = ritz_first_halves(c, d);
  y[3] = ritz_second_halves(c, d);
}

// Four entries of lanes l, l + 4, ...
RITZ_INLINE RitzVec ritz_every_fourth(RitzEntries u, const int32_t *o) {
  const RitzEight a = ritz_join(ritz_load_quad(u, o[0]), ritz_load_quad(u, o[4]));
#if RITZ_LANES == 16
  return ritz_join_eights(a, ritz_join(ritz_load_quad(u, o[8]), ritz_load_quad(u, o[12])));
#else
  return a;
#endif
}

RITZ_INLINE void ritz_load_4(RitzEntries u, const int32_t *o, RitzVec *c) {
  const RitzVec x[4] = {ritz_every_fourth(u, o), ritz_every_fourth(u, o + 1), ritz_every_fourth(u, o + 2),
                        ritz_every_fourth(u, o + 3)};
  ritz_transpose(x, c);
}

// Two entries of lanes 0, 1, 4, 5, 8, 9 ..., side by side.
RITZ_INLINE RitzQuad ritz_two_pairs(RitzEntries u, const int32_t *o) {
  return RITZ_SHUFFLE(ritz_load_pair(u, o[0]), ritz_load_pair(u, o[1]), 0, 1, 2, 3);
}
RITZ_INLINE RitzVec ritz_every_fourth_pair(RitzEntries u, const int32_t *o) {
  const RitzEight a = ritz_join(ritz_two_pairs(u, o), ritz_two_pairs(u, o + 4));
#if RITZ_LANES == 16
  return ritz_join_eights(a, ritz_join(ritz_two_pairs(u, o + 8), ritz_two_pairs(u, o + 12)));
#else
  return a;
#endif
}

RITZ_INLINE void ritz_load_2(RitzEntries u, const int32_t *o, RitzVec *c) {
  const RitzVec a = ritz_every_fourth_pair(u, o), b = ritz_every_fourth_pair(u, o + 2);
  c[0] = RITZ_IN_FOURS(a, b, 0, 2, RITZ_LANES, RITZ_LANES + 2);
  c[1] = RITZ_IN_FOURS(a, b, 1, 3, RITZ_LANES + 1, RITZ_LANES + 3);
}

// The last columns are loaded together with some before them, never with what follows the row: that may be
// the end of the array.
RITZ_INLINE void ritz_load_row(int n, int nc, int cs, RitzEntries u, const int32_t *o, RitzVec *x) {
  RitzVec c[4];
  RITZ_UNROLL for (int m = 0; m + 4 <= n; m += 4) {
    ritz_load_4(ritz_entries(u, m), o, c);
    RITZ_UNROLL for (int i = 0; i < 4; i++) x[RITZ_COLUMN(m + i)] = c[i];
  }
  if (n % 4 && n > 4) {
    ritz_load_4(ritz_entries(u, n - 4), o, c);
    RITZ_UNROLL for (int i = 4 - n % 4; i < 4; i++) x[RITZ_COLUMN(n - 4 + i)] = c[i];
  } else if (n == 2 || n == 3) {
    ritz_load_2(u, o, c);
    RITZ_UNROLL for (int i = 0; i < 2; i++) x[RITZ_COLUMN(i)] = c[i];
    if (n == 3) {
      ritz_load_2(ritz_entries(u, 1), o, c);
      x[RITZ_COLUMN(2)] = c[1];
    }
  } else if (n == 1) {
    int64_t at[RITZ_LANES];
    ritz_row_entries(o, at);
    x[RITZ_COLUMN(0)] = ritz_gather(u, at);
  }
}

// Lanes l, l + 4, ... of a row each.
RITZ_INLINE void ritz_add_every_fourth(RitzEntries v, const int32_t *o, RitzVec x) {
  ritz_add_quad(v, o[0], RITZ_SHUFFLE(x, x, 0, 1, 2, 3));
  ritz_add_quad(v, o[4], RITZ_SHUFFLE(x, x, 4, 5, 6, 7));
#if RITZ_LANES == 16
  ritz_add_quad(v, o[8], RITZ_SHUFFLE(x, x, 8, 9, 10, 11));
  ritz_add_quad(v, o[12], RITZ_SHUFFLE(x, x, 12, 13, 14, 15));
#endif
}

RITZ_INLINE void ritz_add_4(RitzEntries v, const int32_t *o, const RitzVec *c) {
  RitzVec x[4];
  ritz_transpose(c, x);
  RITZ_UNROLL for (int l = 0; l < 4; l++) ritz_add_every_fourth(v, o + l, x[l]);
}

// x: two entries of lanes 0, 1, 4, 5, 8, 9 ...
RITZ_INLINE void ritz_add_every_fourth_pair(RitzEntries v, const int32_t *o, RitzVec x) {
  ritz_add_pair(v, o[0], RITZ_SHUFFLE(x, x, 0, 1));
  ritz_add_pair(v, o[1], RITZ_SHUFFLE(x, x, 2, 3));
  ritz_add_pair(v, o[4], RITZ_SHUFFLE(x, x, 4, 5));
  ritz_add_pair(v, o[5], RITZ_SHUFFLE(x, x, 6, 7));
#if RITZ_LANES == 16
  ritz_add_pair(v, o[8], RITZ_SHUFFLE(x, x, 8, 9));
  ritz_add_pair(v, o[9], RITZ_SHUFFLE(x, x, 10, 11));
  ritz_add_pair(v, o[12], RITZ_SHUFFLE(x, x, 12, 13));
  ritz_add_pair(v, o[13], RITZ_SHUFFLE(x, x, 14, 15));
#endif
}

RITZ_INLINE void ritz_add_2(RitzEntries v, const int32_t *o, const RitzVec *c) {
  ritz_add_every_fourth_pair(v, o, ritz_low(c[0], c[1]));
  ritz_add_every_fourth_pair(v, o + 2, ritz_high(c[0], c[1]));
}

// Each lane moves on by one; the first one comes from the last of `before`.
// Columns of two nodes of a whole chain are consecutive in memory.
#if RITZ_LANES == 16
#define RITZ_MOVE_ON(before, x)                                                                              \
  RITZ_SHUFFLE(before, x, 0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30)
RITZ_INLINE void ritz_add_chain_2(RitzEntries v, int64_t first, const RitzVec *c) {
  ritz_add_vec(v, first, RITZ_SHUFFLE(c[0], c[1], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
  ritz_add_vec(v, first + 16,
               RITZ_SHUFFLE(c[0], c[1], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31));
}
#else
#define RITZ_MOVE_ON(before, x) RITZ_SHUFFLE(before, x, 0, 8, 9, 10, 11, 12, 13, 14)
RITZ_INLINE void ritz_add_chain_2(RitzEntries v, int64_t first, const RitzVec *c) {
  ritz_add_vec(v, first, RITZ_SHUFFLE(c[0], c[1], 0, 8, 1, 9, 2, 10, 3, 11));
  ritz_add_vec(v, first + 8, RITZ_SHUFFLE(c[0], c[1], 4, 12, 5, 13, 6, 14, 7, 15));
}
#endif
#endif

#if defined(RITZ_BY_PAIRS) || defined(RITZ_BY_BLOCKS)
// Adds columns c [n] of whole batches.
RITZ_INLINE void ritz_add_columns(int n, RitzEntries v, const int32_t *o, const RitzVec *c) {
  int64_t at[RITZ_LANES];
  ritz_row_entries(o, at);
  // two columns: lanes of a chain overlap by half a store, which breaks store forwarding; scalars do not
  if (n == 2) {
    ritz_scatter_add(v, at, RITZ_LANES, c[0]);
    ritz_scatter_add(ritz_entries(v, 1), at, RITZ_LANES, c[1]);
    return;
  }
  RITZ_UNROLL for (int m = 0; m + 4 <= n; m += 4) ritz_add_4(ritz_entries(v, m), o, c + m);
  if (n % 4 >= 2) ritz_add_2(ritz_entries(v, n / 4 * 4), o, c + n / 4 * 4);
  if (n % 2) ritz_scatter_add(ritz_entries(v, n - 1), at, RITZ_LANES, c[n - 1]);
}

// A chain: lane l + 1 begins where lane l ends, as in a row of elements of a box. The shared node is added in
// registers, so that no lane writes what another one reads next, and one node less is written.
RITZ_INLINE void ritz_add_chain(int n, int nc, RitzEntries v, const int32_t *o, RitzVec *c) {
  const int m = n - nc;
  const RitzVec zero = ritz_splat(0);
  const RitzEntries end = ritz_entries(v, o[RITZ_LANES - 1] + m);
  RITZ_UNROLL for (int i = 0; i < nc; i++) {
    ritz_add(end, i, c[m + i][RITZ_LANES - 1]);
    c[i] += RITZ_MOVE_ON(zero, c[m + i]);
  }
  if (m == 1)
    ritz_add_vec(v, o[0], c[0]);
  else if (m == 2)
    ritz_add_chain_2(v, o[0], c);
  else
    ritz_add_columns(m, v, o, c);
}
#else
RITZ_INLINE void ritz_load_row(int n, int nc, int cs, RitzEntries u, const int32_t *o, RitzVec *x) {
  int64_t at[RITZ_LANES];
  ritz_row_entries(o, at);
  RITZ_UNROLL for (int m = 0; m < n; m++) x[RITZ_COLUMN(m)] = ritz_gather(ritz_entries(u, m), at);
}

RITZ_INLINE void ritz_add_columns(int n, RitzEntries v, const int32_t *o, const RitzVec *c) {
  int64_t at[RITZ_LANES];
  ritz_row_entries(o, at);
  RITZ_UNROLL for (int m = 0; m < n; m++) ritz_scatter_add(ritz_entries(v, m), at, RITZ_LANES, c[m]);
}

RITZ_INLINE void ritz_add_chain(int n, int nc, RitzEntries v, const int32_t *o, RitzVec *c) {
  (void)nc;
  ritz_add_columns(n, v, o, c);
}
#endif

// Most columns of a row.
#ifndef RITZ_MAX_ROW
#define RITZ_MAX_ROW RITZ_MAX_1D
#endif

RITZ_INLINE void ritz_add_row(int length, int nc, int cs, RitzEntries v, const int32_t *o, int num,
                              bool is_chain, const RitzVec *y) {
  const int n = length * nc;
  RitzVec c[RITZ_MAX_ROW];
  if (num < RITZ_LANES) {
    int64_t at[RITZ_LANES];
    ritz_row_entries(o, at);
    RITZ_ROLLED for (int m = 0; m < n; m++) ritz_scatter_add(ritz_entries(v, m), at, num, y[RITZ_COLUMN(m)]);
    return;
  }
  RITZ_UNROLL for (int m = 0; m < n; m++) c[m] = y[RITZ_COLUMN(m)];
  if (is_chain)
    ritz_add_chain(n, nc, v, o, c);
  else
    ritz_add_columns(n, v, o, c);
}

// Rows of `length` nodes; is_interlaced: the components lie between the nodes, else strides[1] apart.
RITZ_INLINE void ritz_gather_rows(const RitzKernelSpace *space, const RitzBatch *b, const RitzShape *s,
                                  int length, bool is_interlaced, RitzVec *x) {
  const int rows = s->size / length, nc = is_interlaced ? s->num_comp : 1;
  const int32_t *o = space->offsets + b->number * s->groups * rows * RITZ_LANES;
  RITZ_ROLLED for (int k = 0; k < s->groups; k++) {
    RITZ_ROLLED for (int j = 0; j < rows; j++, o += RITZ_LANES) {
      RITZ_ROLLED for (int c = 0; c < s->num_comp; c += nc) {
        ritz_load_row(length * nc, nc, s->comp_stride, ritz_component(space, s, c), o,
                      x + c * s->comp_stride + k * s->group_stride + j * length);
      }
    }
  }
}

RITZ_INLINE void ritz_scatter_rows_as(const RitzKernelSpace *space, const RitzBatch *b, const RitzShape *s,
                                      int length, bool is_interlaced, int num, bool is_chain,
                                      const RitzVec *y) {
  const int rows = s->size / length, nc = is_interlaced ? s->num_comp : 1;
  const int32_t *o = space->offsets + b->number * s->groups * rows * RITZ_LANES;
  RITZ_ROLLED for (int k = 0; k < s->groups; k++) {
    RITZ_ROLLED for (int j = 0; j < rows; j++, o += RITZ_LANES) {
      RITZ_ROLLED for (int c = 0; c < s->num_comp; c += nc) {
        ritz_add_row(length, nc, s->comp_stride, ritz_component(space, s, c), o, num, is_chain,
                     y + c * s->comp_stride + k * s->group_stride + j * length);
      }
    }
  }
}

RITZ_INLINE void ritz_scatter_rows(const RitzKernelSpace *space, const RitzBatch *b, const RitzShape *s,
                                   int length, bool is_interlaced, const RitzVec *y) {
  if (b->num < RITZ_LANES)
    ritz_scatter_rows_as(space, b, s, length, is_interlaced, b->num, false, y);
  else if (space->is_chain && space->is_chain[b->number])
    ritz_scatter_rows_as(space, b, s, length, is_interlaced, RITZ_LANES, true, y);
  else
    ritz_scatter_rows_as(space, b, s, length, is_interlaced, RITZ_LANES, false, y);
}

#endif
