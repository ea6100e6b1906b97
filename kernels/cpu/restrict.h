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

// Shape of an element array.
typedef struct {
  int num_comp, groups, size, group_stride, comp_stride;
} RitzShape;

RITZ_INLINE int ritz_shape_nodes(const RitzShape *s) { return s->groups * s->size; }

// ---- One vector ----

#if RITZ_LANES == 8
typedef RitzReal RitzPair __attribute__((vector_size(2 * sizeof(RitzReal))));
typedef RitzReal RitzQuad __attribute__((vector_size(4 * sizeof(RitzReal))));

RITZ_INLINE RitzVec ritz_join(RitzQuad a, RitzQuad b) { return RITZ_SHUFFLE(a, b, 0, 1, 2, 3, 4, 5, 6, 7); }
RITZ_INLINE RitzVec ritz_gather(const RitzReal *u, const int64_t *at) {
  const RitzPair a = {u[at[0]], u[at[1]]}, b = {u[at[2]], u[at[3]]}, c = {u[at[4]], u[at[5]]},
                 d = {u[at[6]], u[at[7]]};
  return ritz_join(RITZ_SHUFFLE(a, b, 0, 1, 2, 3), RITZ_SHUFFLE(c, d, 0, 1, 2, 3));
}
#else
RITZ_INLINE RitzVec ritz_gather(const RitzReal *u, const int64_t *at) {
  RitzVec x;
  RITZ_UNROLL for (int l = 0; l < RITZ_LANES; l++) x[l] = u[at[l]];
  return x;
}
#endif

RITZ_INLINE void ritz_scatter_add(RitzReal *v, const int64_t *at, int num, RitzVec x) {
  if (num == RITZ_LANES) {
    RITZ_UNROLL for (int l = 0; l < RITZ_LANES; l++) v[at[l]] += x[l];
  } else {
    RITZ_ROLLED for (int l = 0; l < num; l++) v[at[l]] += x[l];
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
        x[c * s->comp_stride + k * s->group_stride + i] =
            ritz_gather(space->array + c * space->strides[1], at);
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
        ritz_scatter_add(space->array + c * space->strides[1], at, b->num,
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
        x[c * s->comp_stride + k * s->group_stride + i] =
            ritz_gather(space->array + c * space->strides[1], at);
      }
    }
  }
}

RITZ_INLINE void ritz_scatter_strided(const RitzKernelSpace *space, const RitzBatch *b, const RitzShape *s,
                                      const RitzVec *y) {
  RITZ_ROLLED for (int k = 0; k < s->groups; k++) {
    RITZ_ROLLED for (int i = 0; i < s->size; i++) {
      int64_t at[RITZ_LANES];
      ritz_strided_entries(space, b, k * s->size + i, at);
      RITZ_ROLLED for (int c = 0; c < s->num_comp; c++) {
        ritz_scatter_add(space->array + c * space->strides[1], at, b->num,
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

#if RITZ_LANES == 8
// Four columns cost 8 half loads (4 of them merge) and 8 shuffles; pairing lanes (0,2)(1,3)(4,6)(5,7) makes
// the order come out right in two steps.
typedef RitzReal RitzPairAt __attribute__((vector_size(2 * sizeof(RitzReal)), aligned(sizeof(RitzReal))));
typedef RitzReal RitzQuadAt __attribute__((vector_size(4 * sizeof(RitzReal)), aligned(sizeof(RitzReal))));
typedef RitzReal RitzVecAt __attribute__((vector_size(8 * sizeof(RitzReal)), aligned(sizeof(RitzReal))));

RITZ_INLINE RitzVec ritz_two_quads(const RitzReal *a, const RitzReal *b) {
  return ritz_join(*(const RitzQuadAt *)a, *(const RitzQuadAt *)b);
}
RITZ_INLINE RitzVec ritz_evens(RitzVec a, RitzVec b) { return RITZ_SHUFFLE(a, b, 0, 8, 2, 10, 4, 12, 6, 14); }
RITZ_INLINE RitzVec ritz_odds(RitzVec a, RitzVec b) { return RITZ_SHUFFLE(a, b, 1, 9, 3, 11, 5, 13, 7, 15); }

RITZ_INLINE void ritz_load_4(const RitzReal *u, const int32_t *o, RitzVec *c) {
  const RitzVec a = ritz_two_quads(u + o[0], u + o[2]), b = ritz_two_quads(u + o[1], u + o[3]);
  const RitzVec d = ritz_two_quads(u + o[4], u + o[6]), e = ritz_two_quads(u + o[5], u + o[7]);
  const RitzVec al = ritz_evens(a, b), ah = ritz_odds(a, b), dl = ritz_evens(d, e), dh = ritz_odds(d, e);
  c[0] = RITZ_SHUFFLE(al, dl, 0, 1, 4, 5, 8, 9, 12, 13);
  c[1] = RITZ_SHUFFLE(ah, dh, 0, 1, 4, 5, 8, 9, 12, 13);
  c[2] = RITZ_SHUFFLE(al, dl, 2, 3, 6, 7, 10, 11, 14, 15);
  c[3] = RITZ_SHUFFLE(ah, dh, 2, 3, 6, 7, 10, 11, 14, 15);
}

RITZ_INLINE RitzPair ritz_two(const RitzReal *a) { return *(const RitzPairAt *)a; }

RITZ_INLINE void ritz_load_2(const RitzReal *u, const int32_t *o, RitzVec *c) {
  const RitzVec a = ritz_join(RITZ_SHUFFLE(ritz_two(u + o[0]), ritz_two(u + o[2]), 0, 1, 2, 3),
                              RITZ_SHUFFLE(ritz_two(u + o[4]), ritz_two(u + o[6]), 0, 1, 2, 3));
  const RitzVec b = ritz_join(RITZ_SHUFFLE(ritz_two(u + o[1]), ritz_two(u + o[3]), 0, 1, 2, 3),
                              RITZ_SHUFFLE(ritz_two(u + o[5]), ritz_two(u + o[7]), 0, 1, 2, 3));
  c[0] = ritz_evens(a, b);
  c[1] = ritz_odds(a, b);
}

RITZ_INLINE void ritz_add_two_quads(RitzReal *a, RitzReal *b, RitzVec x) {
  *(RitzQuadAt *)a += RITZ_SHUFFLE(x, x, 0, 1, 2, 3);
  *(RitzQuadAt *)b += RITZ_SHUFFLE(x, x, 4, 5, 6, 7);
}

RITZ_INLINE void ritz_add_4(RitzReal *v, const int32_t *o, const RitzVec *c) {
  const RitzVec al = RITZ_SHUFFLE(c[0], c[2], 0, 1, 8, 9, 2, 3, 10, 11);
  const RitzVec ah = RITZ_SHUFFLE(c[1], c[3], 0, 1, 8, 9, 2, 3, 10, 11);
  const RitzVec dl = RITZ_SHUFFLE(c[0], c[2], 4, 5, 12, 13, 6, 7, 14, 15);
  const RitzVec dh = RITZ_SHUFFLE(c[1], c[3], 4, 5, 12, 13, 6, 7, 14, 15);
  ritz_add_two_quads(v + o[0], v + o[2], ritz_evens(al, ah));
  ritz_add_two_quads(v + o[1], v + o[3], ritz_odds(al, ah));
  ritz_add_two_quads(v + o[4], v + o[6], ritz_evens(dl, dh));
  ritz_add_two_quads(v + o[5], v + o[7], ritz_odds(dl, dh));
}

RITZ_INLINE void ritz_add_2(RitzReal *v, const int32_t *o, const RitzVec *c) {
  const RitzVec a = ritz_evens(c[0], c[1]), b = ritz_odds(c[0], c[1]);
  *(RitzPairAt *)(v + o[0]) += RITZ_SHUFFLE(a, a, 0, 1);
  *(RitzPairAt *)(v + o[1]) += RITZ_SHUFFLE(b, b, 0, 1);
  *(RitzPairAt *)(v + o[2]) += RITZ_SHUFFLE(a, a, 2, 3);
  *(RitzPairAt *)(v + o[3]) += RITZ_SHUFFLE(b, b, 2, 3);
  *(RitzPairAt *)(v + o[4]) += RITZ_SHUFFLE(a, a, 4, 5);
  *(RitzPairAt *)(v + o[5]) += RITZ_SHUFFLE(b, b, 4, 5);
  *(RitzPairAt *)(v + o[6]) += RITZ_SHUFFLE(a, a, 6, 7);
  *(RitzPairAt *)(v + o[7]) += RITZ_SHUFFLE(b, b, 6, 7);
}

RITZ_INLINE void ritz_load_row(int n, int nc, int cs, const RitzReal *u, const int32_t *o, RitzVec *x) {
  RitzVec c[4];
  RITZ_UNROLL for (int m = 0; m + 4 <= n; m += 4) {
    ritz_load_4(u + m, o, c);
    RITZ_UNROLL for (int i = 0; i < 4; i++) x[RITZ_COLUMN(m + i)] = c[i];
  }
  if (n % 4 >= 2) {
    ritz_load_2(u + n / 4 * 4, o, c);
    RITZ_UNROLL for (int i = 0; i < 2; i++) x[RITZ_COLUMN(n / 4 * 4 + i)] = c[i];
  }
  if (n % 2) {
    int64_t at[RITZ_LANES];
    ritz_row_entries(o, at);
    x[RITZ_COLUMN(n - 1)] = ritz_gather(u + n - 1, at);
  }
}

// Adds columns c [n] of whole batches.
RITZ_INLINE void ritz_add_columns(int n, RitzReal *v, const int32_t *o, const RitzVec *c) {
  int64_t at[RITZ_LANES];
  ritz_row_entries(o, at);
  // two columns: lanes of a chain overlap by half a store, which breaks store forwarding; scalars do not
  if (n == 2) {
    ritz_scatter_add(v, at, RITZ_LANES, c[0]);
    ritz_scatter_add(v + 1, at, RITZ_LANES, c[1]);
    return;
  }
  RITZ_UNROLL for (int m = 0; m + 4 <= n; m += 4) ritz_add_4(v + m, o, c + m);
  if (n % 4 >= 2) ritz_add_2(v + n / 4 * 4, o, c + n / 4 * 4);
  if (n % 2) ritz_scatter_add(v + n - 1, at, RITZ_LANES, c[n - 1]);
}

// A chain: lane l + 1 begins where lane l ends, as in a row of elements of a box. The shared node is added in
// registers, so that no lane writes what another one reads next, and one node less is written.
RITZ_INLINE void ritz_add_chain(int n, int nc, RitzReal *v, const int32_t *o, RitzVec *c) {
  const int m = n - nc;
  const RitzVec zero = ritz_splat(0);
  RitzReal *end = v + o[RITZ_LANES - 1] + m;
  RITZ_UNROLL for (int i = 0; i < nc; i++) {
    end[i] += c[m + i][RITZ_LANES - 1];
    c[i] += RITZ_SHUFFLE(zero, c[m + i], 0, 8, 9, 10, 11, 12, 13, 14);
  }
  RitzReal *w = v + o[0];
  if (m == 1) {
    *(RitzVecAt *)w += c[0];
  } else if (m == 2) {
    *(RitzVecAt *)w += RITZ_SHUFFLE(c[0], c[1], 0, 8, 1, 9, 2, 10, 3, 11);
    *(RitzVecAt *)(w + 8) += RITZ_SHUFFLE(c[0], c[1], 4, 12, 5, 13, 6, 14, 7, 15);
  } else {
    ritz_add_columns(m, v, o, c);
  }
}
#else
RITZ_INLINE void ritz_load_row(int n, int nc, int cs, const RitzReal *u, const int32_t *o, RitzVec *x) {
  int64_t at[RITZ_LANES];
  ritz_row_entries(o, at);
  RITZ_UNROLL for (int m = 0; m < n; m++) x[RITZ_COLUMN(m)] = ritz_gather(u + m, at);
}

RITZ_INLINE void ritz_add_columns(int n, RitzReal *v, const int32_t *o, const RitzVec *c) {
  int64_t at[RITZ_LANES];
  ritz_row_entries(o, at);
  RITZ_UNROLL for (int m = 0; m < n; m++) ritz_scatter_add(v + m, at, RITZ_LANES, c[m]);
}

RITZ_INLINE void ritz_add_chain(int n, int nc, RitzReal *v, const int32_t *o, RitzVec *c) {
  (void)nc;
  ritz_add_columns(n, v, o, c);
}
#endif

// Most columns of a row.
#ifndef RITZ_MAX_ROW
#define RITZ_MAX_ROW RITZ_MAX_1D
#endif

RITZ_INLINE void ritz_add_row(int length, int nc, int cs, RitzReal *v, const int32_t *o, int num,
                              bool is_chain, const RitzVec *y) {
  const int n = length * nc;
  RitzVec c[RITZ_MAX_ROW];
  if (num < RITZ_LANES) {
    int64_t at[RITZ_LANES];
    ritz_row_entries(o, at);
    RITZ_ROLLED for (int m = 0; m < n; m++) ritz_scatter_add(v + m, at, num, y[RITZ_COLUMN(m)]);
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
        ritz_load_row(length * nc, nc, s->comp_stride, space->array + c * space->strides[1], o,
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
        ritz_add_row(length, nc, s->comp_stride, space->array + c * space->strides[1], o, num, is_chain,
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
