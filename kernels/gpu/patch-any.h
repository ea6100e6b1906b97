// SPDX-License-Identifier: BSD-2-Clause
// Sweeps over vertex patches of any box and in all forms (core/patch-sweep.h): tables of positions are data,
// nodes that do not exist are clamped, only free nodes are written. A block takes patch after patch, a thread
// number after number of a step. The text in front (emit/gpu-patch.c) defines:
//
//   RITZ_DIM, RITZ_P   dimension 2 or 3, degree
//   RITZ_FORM          a RitzPatchForm: 0 lifted, 1 residual, 2 boundary
//   RITZ_THREADS       of a block
//   RITZ_WORK          memory of the block's arrays: RITZ_SHARED or RITZ_GLOBAL
//
// Arrays are lexicographic, first direction fastest, without gaps; in two dimensions the third one has
// extent 1.
#ifndef RITZ_KERNELS_GPU_PATCH_ANY_H
#define RITZ_KERNELS_GPU_PATCH_ANY_H

#define RITZ_N        (2 * RITZ_P - 1)
#define RITZ_M        (2 * RITZ_P + 1)
#define RITZ_N2       (RITZ_DIM == 3 ? RITZ_N : 1)
#define RITZ_M2       (RITZ_DIM == 3 ? RITZ_M : 1)
#define RITZ_INTERIOR (RITZ_N * RITZ_N * RITZ_N2)
#if RITZ_FORM == 0
#define RITZ_FACE   (2 * RITZ_M * RITZ_M2) // the faces of a direction: nodes, modes along one direction, modes
#define RITZ_FACE_1 (2 * RITZ_N * RITZ_M2)
#define RITZ_FACE_2 (2 * RITZ_N * RITZ_N2)
#define RITZ_FACES  (RITZ_FACE + RITZ_FACE_1 + RITZ_FACE_2)
#define RITZ_MEMORY (2 * RITZ_INTERIOR + RITZ_DIM * RITZ_FACES)
#else
#define RITZ_CLOSURE (RITZ_M * RITZ_M * RITZ_M2)
#define RITZ_HALF    (RITZ_N * RITZ_M * RITZ_M2) // interior along the first direction
#define RITZ_MEMORY  (RITZ_CLOSURE + 2 * RITZ_HALF + RITZ_N * RITZ_N * RITZ_M2)
#endif

#ifdef __OPENCL_VERSION__
#define RITZ_STEP() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#else
#define RITZ_STEP() RITZ_BARRIER()
#endif

// A table of a position (RitzPatchLine).
#define RITZ_TABLE_A(t)         (t)
#define RITZ_TABLE_M(t)         ((t) + RITZ_N * RITZ_M)
#define RITZ_TABLE_S(t)         ((t) + 2 * RITZ_N * RITZ_M)
#define RITZ_TABLE_LAMBDA(t)    (RITZ_TABLE_S(t) + RITZ_N * RITZ_N)
#define RITZ_TABLE_MODES(t)     (RITZ_TABLE_LAMBDA(t) + RITZ_N)
#define RITZ_TABLE_COUPLING(t)  (RITZ_TABLE_MODES(t) + RITZ_N * RITZ_M)
#define RITZ_TABLE_EXTENSION(t) (RITZ_TABLE_COUPLING(t) + 2 * RITZ_N)
#define RITZ_TABLE_SIZE         (RITZ_N * (3 * RITZ_M + RITZ_N + 5))

typedef RITZ_GLOBAL const RitzReal *RitzTable;

// A patch: first closure node of each direction (may be negative), nodes of the box, ends that are fixed,
// tables.
typedef struct {
  RitzLong corner[3], nodes[3];
  int fixed, num_comp, comp;
  RitzTable table[3];
  RitzReal c[4];
} RitzPatch;

// ---- Nodes ----

RITZ_INLINE RitzLong ritz_entry(const RitzPatch *p, int i, int j, int k) {
  const int closure[3] = {i, j, k};
  RitzLong index = 0;
  RITZ_UNROLL
  for (int d = RITZ_DIM - 1; d >= 0; d--) {
    RitzLong at = p->corner[d] + closure[d];
    at = at < 0 ? 0 : at >= p->nodes[d] ? p->nodes[d] - 1 : at;
    index = index * p->nodes[d] + at;
  }
  return index * p->num_comp + p->comp;
}

// Number q of the interior.
RITZ_INLINE RitzLong ritz_interior_entry(const RitzPatch *p, int q) {
  return ritz_entry(p, q % RITZ_N + 1, q / RITZ_N % RITZ_N + 1, q / (RITZ_N * RITZ_N) + 1);
}

RITZ_INLINE int ritz_is_free(const RitzPatch *p, int q) {
  RITZ_UNROLL
  for (int d = 0; d < RITZ_DIM; d++, q /= RITZ_N) {
    const RitzLong at = p->corner[d] + q % RITZ_N + 1;
    if (at < 0 || at >= p->nodes[d]) return 0;
    if (at == 0 && (p->fixed >> 2 * d & 1)) return 0;
    if (at == p->nodes[d] - 1 && (p->fixed >> 2 * d & 2)) return 0;
  }
  return 1;
}

// ---- Products ----

// v = factor * table u along a direction, added where `adds`: u [outer][columns][inner], v
// [outer][rows][inner]. The table's entry (row, column) is at row * row_step + column * column_step.
RITZ_INLINE void ritz_contract(int inner, int columns, int rows, int outer, RitzTable table, int row_step,
                               int column_step, RitzReal factor, RITZ_WORK const RitzReal *u, int adds,
                               RITZ_WORK RitzReal *v) {
  RITZ_ROLL
  for (int q = RITZ_THREAD; q < inner * rows * outer; q += RITZ_THREADS) {
    const int row = q / inner % rows;
    RITZ_WORK const RitzReal *line = u + q / (inner * rows) * columns * inner + q % inner;
    RitzReal sum = 0;
    RITZ_ROLL
    for (int c = 0; c < columns; c++) sum += table[row * row_step + c * column_step] * line[c * inner];
    v[q] = factor * sum + (adds ? v[q] : 0);
  }
}

// Interior to modes along direction d.
RITZ_INLINE void ritz_to_modes(const RitzPatch *p, int d, RITZ_WORK const RitzReal *u,
                               RITZ_WORK RitzReal *v) {
  const int inner = d == 0 ? 1 : d == 1 ? RITZ_N : RITZ_N * RITZ_N;
  ritz_contract(inner, RITZ_N, RITZ_N, RITZ_INTERIOR / (inner * RITZ_N), RITZ_TABLE_S(p->table[d]), 1, RITZ_N,
                1, u, 0, v);
  RITZ_STEP();
}

RITZ_INLINE RitzReal ritz_divisor(const RitzPatch *p, int q) {
  RitzReal sum = p->c[3];
  RITZ_UNROLL
  for (int d = 0; d < RITZ_DIM; d++, q /= RITZ_N) sum += p->c[d] * RITZ_TABLE_LAMBDA(p->table[d])[q % RITZ_N];
  return sum;
}

RITZ_INLINE void ritz_read_b(const RitzPatch *p, RITZ_GLOBAL const RitzReal *b, RitzReal sign,
                             RITZ_WORK RitzReal *r) {
  RITZ_ROLL
  for (int q = RITZ_THREAD; q < RITZ_INTERIOR; q += RITZ_THREADS) {
    const RitzReal right = ritz_is_free(p, q) ? b[ritz_interior_entry(p, q)] : 0;
    r[q] = sign == 0 ? right : right + sign * r[q];
  }
}

#if RITZ_FORM == 0

// ---- Lifted ----

// Faces of direction d: [2][extent of the last other direction][of the first other one].
RITZ_INLINE void ritz_read_faces(const RitzPatch *p, int d, RITZ_GLOBAL const RitzReal *x,
                                 RITZ_WORK RitzReal *face) {
  RITZ_ROLL
  for (int q = RITZ_THREAD; q < RITZ_FACE; q += RITZ_THREADS) {
    const int i = q % RITZ_M, j = q / RITZ_M % RITZ_M2, end = q / (RITZ_M * RITZ_M2) * (RITZ_M - 1);
    face[q] = x[d == 0   ? ritz_entry(p, end, i, j)
                : d == 1 ? ritz_entry(p, i, end, j)
                         : ritz_entry(p, i, j, end)];
  }
}

RITZ_INLINE void ritz_face_to_modes_1(const RitzPatch *p, int d, RITZ_WORK RitzReal *face) {
  ritz_contract(1, RITZ_M, RITZ_N, 2 * RITZ_M2, RITZ_TABLE_MODES(p->table[d == 0 ? 1 : 0]), RITZ_M, 1, 1,
                face, 0, face + RITZ_FACE);
}

RITZ_INLINE void ritz_face_to_modes_2(const RitzPatch *p, int d, RITZ_WORK RitzReal *face) {
#if RITZ_DIM == 3
  ritz_contract(RITZ_N, RITZ_M, RITZ_N, 2, RITZ_TABLE_MODES(p->table[d == 2 ? 1 : 2]), RITZ_M, 1, 1,
                face + RITZ_FACE, 0, face + RITZ_FACE + RITZ_FACE_1);
#else
  (void)p, (void)d, (void)face;
#endif
}

// Modes of a face at mode (i, j) of the other directions.
RITZ_INLINE RitzReal ritz_face_mode(RITZ_WORK const RitzReal *face, int side, int i, int j) {
  RITZ_WORK const RitzReal *modes = face + RITZ_FACE + (RITZ_DIM - 2) * RITZ_FACE_1;
  return modes[i + RITZ_N * (j + RITZ_N2 * side)];
}

RITZ_INLINE void ritz_divide(const RitzPatch *p, RITZ_WORK const RitzReal *faces, RITZ_WORK RitzReal *r) {
  RITZ_ROLL
  for (int q = RITZ_THREAD; q < RITZ_INTERIOR; q += RITZ_THREADS) {
    const int mode[3] = {q % RITZ_N, q / RITZ_N % RITZ_N, q / (RITZ_N * RITZ_N)};
    RitzReal right = r[q];
    RITZ_UNROLL
    for (int d = 0; d < RITZ_DIM; d++) {
      const int i = mode[d == 0 ? 1 : 0], j = mode[d == 2 ? 1 : 2];
      RitzTable coupling = RITZ_TABLE_COUPLING(p->table[d]) + mode[d];
      right -= p->c[d] * (coupling[0] * ritz_face_mode(faces + d * RITZ_FACES, 0, i, j) +
                          coupling[RITZ_N] * ritz_face_mode(faces + d * RITZ_FACES, 1, i, j));
    }
    r[q] = right / ritz_divisor(p, q);
  }
  RITZ_STEP();
}

// Value of an end of direction d beside interior number q: modes in the directions below d, nodes in those
// above.
RITZ_INLINE RitzReal ritz_end_value(int d, int side, int q, RITZ_WORK const RitzReal *face) {
  const int i = q % RITZ_N, j = q / RITZ_N % RITZ_N, k = q / (RITZ_N * RITZ_N) + RITZ_DIM - 2;
  if (d == 0) return face[j + 1 + RITZ_M * (k + RITZ_M2 * side)];
  if (d == 1) return face[RITZ_FACE + i + RITZ_N * (k + RITZ_M2 * side)];
  return face[RITZ_FACE + RITZ_FACE_1 + i + RITZ_N * (j + RITZ_N * side)];
}

RITZ_INLINE void ritz_to_nodes(const RitzPatch *p, int d, RITZ_WORK const RitzReal *faces,
                               RITZ_WORK const RitzReal *u, RITZ_WORK RitzReal *v) {
  const int inner = d == 0 ? 1 : d == 1 ? RITZ_N : RITZ_N * RITZ_N;
  RitzTable extension = RITZ_TABLE_EXTENSION(p->table[d]);
  ritz_contract(inner, RITZ_N, RITZ_N, RITZ_INTERIOR / (inner * RITZ_N), RITZ_TABLE_S(p->table[d]), RITZ_N, 1,
                1, u, 0, v);
  RITZ_ROLL
  for (int q = RITZ_THREAD; q < RITZ_INTERIOR; q += RITZ_THREADS) {
    const int i = q / inner % RITZ_N;
    v[q] += extension[i] * ritz_end_value(d, 0, q, faces + d * RITZ_FACES) +
            extension[RITZ_N + i] * ritz_end_value(d, 1, q, faces + d * RITZ_FACES);
  }
  RITZ_STEP();
}

// The new interior values, where this returns.
RITZ_INLINE RITZ_WORK RitzReal *ritz_solve(const RitzPatch *p, RITZ_GLOBAL const RitzReal *b,
                                           RITZ_GLOBAL const RitzReal *x, RITZ_WORK RitzReal *work) {
  RITZ_WORK RitzReal *r = work, *s = work + RITZ_INTERIOR, *faces = s + RITZ_INTERIOR;
  RITZ_UNROLL
  for (int d = 0; d < RITZ_DIM; d++) ritz_read_faces(p, d, x, faces + d * RITZ_FACES);
  ritz_read_b(p, b, 0, r);
  RITZ_STEP();
  RITZ_UNROLL
  for (int d = 0; d < RITZ_DIM; d++) ritz_face_to_modes_1(p, d, faces + d * RITZ_FACES);
  ritz_to_modes(p, 0, r, s);
  RITZ_UNROLL
  for (int d = 0; d < RITZ_DIM; d++) ritz_face_to_modes_2(p, d, faces + d * RITZ_FACES);
  ritz_to_modes(p, 1, s, r);
#if RITZ_DIM == 3
  ritz_to_modes(p, 2, r, s);
  ritz_divide(p, faces, s);
  ritz_to_nodes(p, 2, faces, s, r);
#else
  ritz_divide(p, faces, r);
#endif
  ritz_to_nodes(p, 1, faces, r, s);
  ritz_to_nodes(p, 0, faces, s, r);
  return r;
}

#else

// ---- Residual, or its part from the boundary; then the matrix' inverse ----

RITZ_INLINE void ritz_read_closure(const RitzPatch *p, RITZ_GLOBAL const RitzReal *x,
                                   RITZ_WORK RitzReal *closure) {
  RITZ_ROLL
  for (int q = RITZ_THREAD; q < RITZ_CLOSURE; q += RITZ_THREADS) {
    const int i = q % RITZ_M, j = q / RITZ_M % RITZ_M, k = q / (RITZ_M * RITZ_M);
    const int is_inside =
        i > 0 && i < RITZ_M - 1 && j > 0 && j < RITZ_M - 1 && (RITZ_DIM == 2 || (k > 0 && k < RITZ_M - 1));
    closure[q] = RITZ_FORM == 2 && is_inside ? 0 : x[ritz_entry(p, i, j, k)];
  }
}

// Along the second direction, of values with M and with A along the first: what M and, in `others`, A along
// the third one are yet to be applied to.
RITZ_INLINE void ritz_second(const RitzPatch *p, RITZ_WORK const RitzReal *with_M,
                             RITZ_WORK const RitzReal *with_A, RITZ_WORK RitzReal *sum,
                             RITZ_WORK RitzReal *others) {
  RitzTable M = RITZ_TABLE_M(p->table[1]), A = RITZ_TABLE_A(p->table[1]);
  ritz_contract(RITZ_N, RITZ_M, RITZ_N, RITZ_M2, M, RITZ_M, 1, p->c[0], with_A, 0, sum);
  ritz_contract(RITZ_N, RITZ_M, RITZ_N, RITZ_M2, A, RITZ_M, 1, p->c[1], with_M, 1, sum);
  ritz_contract(RITZ_N, RITZ_M, RITZ_N, RITZ_M2, M, RITZ_M, 1, p->c[3], with_M, 1, sum);
  ritz_contract(RITZ_N, RITZ_M, RITZ_N, RITZ_M2, M, RITZ_M, 1, 1, with_M, 0, others);
  RITZ_STEP();
}

RITZ_INLINE void ritz_to_nodes(const RitzPatch *p, int d, RITZ_WORK const RitzReal *u,
                               RITZ_WORK RitzReal *v) {
  const int inner = d == 0 ? 1 : d == 1 ? RITZ_N : RITZ_N * RITZ_N;
  ritz_contract(inner, RITZ_N, RITZ_N, RITZ_INTERIOR / (inner * RITZ_N), RITZ_TABLE_S(p->table[d]), RITZ_N, 1,
                1, u, 0, v);
  RITZ_STEP();
}

RITZ_INLINE void ritz_divide(const RitzPatch *p, RITZ_WORK RitzReal *r) {
  RITZ_ROLL
  for (int q = RITZ_THREAD; q < RITZ_INTERIOR; q += RITZ_THREADS) r[q] /= ritz_divisor(p, q);
  RITZ_STEP();
}

RITZ_INLINE RITZ_WORK RitzReal *ritz_solve(const RitzPatch *p, RITZ_GLOBAL const RitzReal *b,
                                           RITZ_GLOBAL const RitzReal *x, RITZ_WORK RitzReal *work) {
  RITZ_WORK RitzReal *sum = work, *r = work + RITZ_CLOSURE, *s = r + RITZ_HALF, *others = s + RITZ_HALF;
  ritz_read_closure(p, x, work);
  RITZ_STEP();
  ritz_contract(1, RITZ_M, RITZ_N, RITZ_M * RITZ_M2, RITZ_TABLE_M(p->table[0]), RITZ_M, 1, 1, work, 0, r);
  ritz_contract(1, RITZ_M, RITZ_N, RITZ_M * RITZ_M2, RITZ_TABLE_A(p->table[0]), RITZ_M, 1, 1, work, 0, s);
  RITZ_STEP();
  ritz_second(p, r, s, sum, others);
#if RITZ_DIM == 3
  ritz_contract(RITZ_N * RITZ_N, RITZ_M, RITZ_N, 1, RITZ_TABLE_M(p->table[2]), RITZ_M, 1, 1, sum, 0, r);
  ritz_contract(RITZ_N * RITZ_N, RITZ_M, RITZ_N, 1, RITZ_TABLE_A(p->table[2]), RITZ_M, 1, p->c[2], others, 1,
                r);
  ritz_read_b(p, b, -1, r);
  RITZ_STEP();
  ritz_to_modes(p, 0, r, s);
  ritz_to_modes(p, 1, s, r);
  ritz_to_modes(p, 2, r, s);
  ritz_divide(p, s);
  ritz_to_nodes(p, 2, s, r);
  ritz_to_nodes(p, 1, r, s);
  ritz_to_nodes(p, 0, s, r);
  return r;
#else
  ritz_read_b(p, b, -1, sum);
  RITZ_STEP();
  ritz_to_modes(p, 0, sum, s);
  ritz_to_modes(p, 1, s, r);
  ritz_divide(p, r);
  ritz_to_nodes(p, 1, r, s);
  ritz_to_nodes(p, 0, s, r);
  return r;
#endif
}

#endif

// ---- Patches ----

// first, num: positions' vertices, 2 apart, of this colour; begin: those whose tables come first; table_step:
// from table to table, 0 where all are alike; fixed: bits of low and high ends, direction by direction.
typedef struct {
  int first[3], num[3], begin[3];
} RitzColour;

RITZ_INLINE void ritz_take_patch(const RitzColour *colour, RitzLong number, int table_step,
                                 RitzTable tables_0, RitzTable tables_1, RitzTable tables_2, RitzPatch *p) {
  RitzTable tables[3];
  tables[0] = tables_0;
  tables[1] = tables_1;
  tables[2] = tables_2;
  p->comp = (int)(number % p->num_comp);
  number /= p->num_comp;
  RITZ_UNROLL
  for (int d = 0; d < 3; d++) {
    const int vertex = colour->first[d] + 2 * (int)(number % colour->num[d]);
    number /= colour->num[d];
    p->corner[d] = (vertex - 1) * (RitzLong)RITZ_P;
    p->table[d] = tables[d] + (RitzLong)(vertex - colour->begin[d]) * table_step;
  }
}

RITZ_KERNEL(RITZ_THREADS)
ritz_patch_any(RitzLong num_patches, int num_comp, int first_0, int first_1, int first_2, int num_0,
               int num_1, int num_2, int begin_0, int begin_1, int begin_2, RitzLong nodes_0,
               RitzLong nodes_1, RitzLong nodes_2, int fixed, CeedScalar c_0, CeedScalar c_1, CeedScalar c_2,
               CeedScalar c_mass, int table_step, RITZ_GLOBAL const RitzReal *tables_0,
               RITZ_GLOBAL const RitzReal *tables_1, RITZ_GLOBAL const RitzReal *tables_2,
               RITZ_GLOBAL const RitzReal *b, RITZ_GLOBAL RitzReal *x, RITZ_GLOBAL RitzReal *memory) {
#ifdef RITZ_PATCH_SHARED
  RITZ_SHARED_MEMORY(work, RITZ_MEMORY);
#else
  RITZ_GLOBAL RitzReal *work = memory + RITZ_BLOCK * RITZ_MEMORY;
#endif
  const RitzColour colour = {{first_0, first_1, first_2}, {num_0, num_1, num_2}, {begin_0, begin_1, begin_2}};
  RitzPatch p;
  p.nodes[0] = nodes_0;
  p.nodes[1] = nodes_1;
  p.nodes[2] = nodes_2;
  p.fixed = fixed;
  p.num_comp = num_comp;
  p.c[0] = (RitzReal)c_0;
  p.c[1] = (RitzReal)c_1;
  p.c[2] = (RitzReal)c_2;
  p.c[3] = (RitzReal)c_mass;
  RITZ_ROLL
  for (RitzLong number = RITZ_BLOCK; number < num_patches; number += RITZ_NUM_ITEMS / RITZ_THREADS) {
    RITZ_WORK const RitzReal *values;
    ritz_take_patch(&colour, number, table_step, tables_0, tables_1, tables_2, &p);
    values = ritz_solve(&p, b, x, work);
    RITZ_ROLL
    for (int q = RITZ_THREAD; q < RITZ_INTERIOR; q += RITZ_THREADS) {
      const RitzLong at = ritz_interior_entry(&p, q);
      if (ritz_is_free(&p, q)) x[at] = values[q] + (RITZ_FORM == 1 ? x[at] : 0);
    }
    RITZ_STEP();
  }
}

#endif
