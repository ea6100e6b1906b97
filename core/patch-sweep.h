// SPDX-License-Identifier: BSD-2-Clause
// Sweeps over vertex patches of a rectangular box: each patch, the cells around a vertex, is solved exactly
// for its interior nodes, one colour after the other. Called by solver/patches.c; served by the slots
// patch_sweep_* of backends, which may make kernels for them.
//
// The operator is separable, here for dim = 3 (x: first direction, last factor):
//
//     A = c_x M x M x A + c_y M x A x M + c_z A x M x M + c_m M x M x M
//
// with 1D matrices of the whole line in each direction. In direction d the nodes of the L-vector are at 0 ..
// cells[d] p; patches are at positions, vertices first[d] .. first[d] + count[d] - 1. The closure of position
// v is the m = 2p + 1 nodes at (v - 1) p .. (v + 1) p, the interior the n = 2p - 1 between its ends. Some of
// these nodes do not exist (outside 0 .. cells[d] p) or are not free (values are given at an end of the
// line): there the tables have zeros, reads are clamped to the line, and nothing is written. A free node is
// in the interior of one position or, inside a cell, of two.
//
// One step of a patch makes u_I the solution of A_II u_I = b_I - A_IB u_B: old interior values do not enter.
// Constrained entries of x are zero and stay so; those of b may be anything.
//
// Colours: parities of the positions' numbers v (of the last direction: last_origin + v, for boxes that are a
// piece of a longer one), first direction fastest: colour 0 has even numbers in all directions, 2^dim - 1 odd
// ones. Patches of one colour write to no node that another one of it reads. A
// sweep goes through the colours 0, 1, ..., reversed through ..., 1, 0.
//
// L-vector: node (i, j, k) and component c at (i + nodes[0] (j + nodes[1] k)) num_comp + c; all components
// have the same matrix.
#ifndef RITZ_CORE_PATCH_SWEEP_H
#define RITZ_CORE_PATCH_SWEEP_H

#include <ritz/preconditioner.h>

#include "core/core.h"
#include "fe/fe.h"

// Tables of one position, for nodes of the closure c = 0 .. m - 1, interior nodes i = c - 1, modes k:
// A_II S = M_II S diag(lambda), S^T M_II S = I. Modes that a position does not have (fewer free nodes) have
// zeros everywhere and lambda 1.
//
// Lifted form (RITZ_PATCH_LIFTED): with the boundary functions of the ends s = 0, 1 made orthogonal to the
// interior in M, phi~_s = phi_s + sum_i extension[s][i] phi_i, M couples no interior mode to the ends, and A
// couples mode k by coupling[s][k] = (S^T A phi~_s)_k. So
//
//     u^_ijk = (b^_ijk - c_x X_ijk - c_y Y_ijk - c_z Z_ijk) / (c_x lambda_i + c_y lambda_j + c_z lambda_k +
//     c_m)
//
// where b^ = modes of b_I and X_ijk = sum_s coupling[s][i] (modes in y, z of the face s in x)_jk, Y, Z alike;
// modes of a face are S^T M on lines of the closure (`modes`). Back in each direction: u_i = sum_k S[i][k]
// u^_k
// + sum_s extension[s][i] u_s, where u_s is the end's value, in modes in the directions not yet done.
typedef struct {
  const double *A, *M;     // [n][m]: rows of the interior nodes
  const double *S;         // [n][n]: S[i][k]
  const double *lambda;    // [n]
  const double *modes;     // [n][m]: modes[k][c] = (S^T M)_kc
  const double *coupling;  // [2][n]
  const double *extension; // [2][n]
} RitzPatchLine;

// The members in `table` of ritz_fe_patch_line (fe/fe.h), where they are stored one behind the other.
RitzPatchLine ritz_patch_line(CeedInt degree, const double *table);

// The box that is swept: numbers alone, no objects.
typedef struct {
  CeedInt dim, degree, num_comp; // dim 2 or 3
  CeedScalarType precision;      // of vectors and arithmetic
  RitzPatchForm form;
  int64_t cells[3], nodes[3]; // 0 and 1 beyond dim
  int64_t first[3], count[3]; // positions; count 1 beyond dim, else at least 1
  int64_t last_origin;        // number in the longer box of vertex 0 of the last direction
  bool is_fixed[3][2];        // values are given at the low, high end
  double factor[4];           // c_x, c_y, c_z (0 beyond dim), c_m
  // All positions of all directions have one table: interior vertices of lines whose cells are alike, no free
  // ends. Then modes 0 .. p - 1 are even, p .. 2p - 2 odd under reflection, exactly.
  bool is_uniform;
  double
      *tables[3]; // owned: [count[d]] of ritz_fe_patch_line_size; is_uniform: [1], the same in all directions
} RitzPatchBox;

struct RitzPatchSweep_private {
  Ceed ceed; // counted
  RitzPatchBox box;
  CeedSize length; // of vectors
  void *data;      // of the backend
};

// Table of position `v` of direction `d`.
static inline const double *ritz_patch_table(const RitzPatchBox *box, int d, int64_t v) {
  return box->tables[d] +
         (box->is_uniform ? 0 : (size_t)(v - box->first[d]) * ritz_fe_patch_line_size(box->degree));
}
// Positions of direction d of this parity, ascending by 2: the first one and how many.
static inline int64_t ritz_patch_count(const RitzPatchBox *box, int d, int parity, int64_t *first) {
  const int64_t origin = d == box->dim - 1 ? box->last_origin : 0;
  const int64_t skip = ((origin + box->first[d]) & 1) != parity;
  *first = box->first[d] + skip;
  return (box->count[d] - skip + 1) / 2;
}

// Takes the tables of `box` over, also when it fails.
int ritz_patch_sweep_create(Ceed ceed, RitzPatchBox *box, RitzPatchSweep *sweep);
int ritz_patch_sweep_destroy(RitzPatchSweep *sweep);
// Kernels begin to be made, beside what the caller does next; the first run waits, or (RITZ_USE_NO_WAIT)
// serves itself otherwise.
int ritz_patch_sweep_prepare(RitzPatchSweep sweep);
// One sweep: x := s_last ... s_1 x. b, x: of the box's precision, different. x_is_zero: x has no values on
// entry and counts as zero.
int ritz_patch_sweep_run(RitzPatchSweep sweep, CeedVector b, CeedVector x, bool x_is_zero, bool is_reversed);
// Flops of a sweep, and bytes of vectors that it needs to move at least (b read, x read and written once).
void ritz_patch_sweep_cost(const RitzPatchBox *box, double *flops, double *bytes);

#endif
