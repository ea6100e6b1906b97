// SPDX-License-Identifier: BSD-2-Clause
// One batch of patches in the forms that the literature describes: the residual of the interior rows by
// Kronecker sums (seven contractions in 3D), then the inverse by fast diagonalization, in one pass. Added to
// the interior (RESIDUAL), or with zeros inside and stored (BOUNDARY).
#ifndef RITZ_KERNELS_CPU_PATCH_RESIDUAL_H
#define RITZ_KERNELS_CPU_PATCH_RESIDUAL_H

#include "kernels/cpu/patch-lines.h"

enum { RITZ_SLAB = RITZ_DIM == 3 ? RITZ_N * RITZ_N : RITZ_N }; // nodes of all directions but the last

typedef struct {
  RitzVec r[RITZ_N * RITZ_SLAB]; // interior, last direction slowest
  // Slabs at the nodes of the closure in the last direction: mass in the others; the sum of stiffness in one
  // and mass in the others, and the factor of the mass times mass.
  RitzVec mass[RITZ_M][RITZ_SLAB], stiffness[RITZ_M][RITZ_SLAB];
  RitzVec rows[2][RITZ_M][RITZ_N];
} RitzPatchWork;

// A row of the closure: mass and stiffness in x.
RITZ_INLINE void ritz_patch_closure_row(const RitzPatch *p, const RitzReal *x, int j, int k, RitzVec *mass,
                                        RitzVec *stiffness) {
  RitzVec u[RITZ_M];
  RitzPatchValues line;

  ritz_patch_get(p, false, x + ritz_patch_row(p, false, j, k), 0, RITZ_M, u);
#if RITZ_IS_BOUNDARY
  if (j > 0 && j < RITZ_M - 1 && (RITZ_DIM < 3 || (k > 0 && k < RITZ_M - 1))) {
    RITZ_UNROLL for (int i = 1; i < RITZ_M - 1; i++) u[i] = ritz_splat(0);
  }
#endif
  ritz_patch_split(RITZ_M, u, 1, &line);
  ritz_patch_mass(0, p->tables[0], &line, mass);
  ritz_patch_stiffness(0, p->tables[0], &line, stiffness);
}

// Slab k of the closure.
RITZ_INLINE void ritz_patch_slab(const RitzPatch *p, const RitzReal *x, int k, RitzPatchWork *w) {
  const RitzReal *c = (const RitzReal *)p->args->factor;

#if RITZ_DIM == 3
  RITZ_ROLLED for (int j = 0; j < RITZ_M; j++)
      ritz_patch_closure_row(p, x, j, k, w->rows[0][j], w->rows[1][j]);
  RITZ_ROLLED for (int i = 0; i < RITZ_N; i++) {
    RitzPatchValues mass, stiffness;
    RitzVec mm[RITZ_N], am[RITZ_N], ma[RITZ_N];
    ritz_patch_split(RITZ_M, &w->rows[0][0][i], RITZ_N, &mass);
    ritz_patch_split(RITZ_M, &w->rows[1][0][i], RITZ_N, &stiffness);
    ritz_patch_mass(1, p->tables[1], &mass, mm);
    ritz_patch_stiffness(1, p->tables[1], &mass, am);
    ritz_patch_mass(1, p->tables[1], &stiffness, ma);
    RITZ_UNROLL for (int j = 0; j < RITZ_N; j++) {
      w->mass[k][j * RITZ_N + i] = mm[j];
      w->stiffness[k][j * RITZ_N + i] = c[0] * ma[j] + c[1] * am[j] + c[3] * mm[j];
    }
  }
#else
  ritz_patch_closure_row(p, x, k, 0, w->mass[k], w->stiffness[k]);
  RITZ_UNROLL for (int i = 0; i < RITZ_N; i++) w->stiffness[k][i] =
      c[0] * w->stiffness[k][i] + c[3] * w->mass[k][i];
#endif
}

// Row j, k of the interior.
RITZ_INLINE int64_t ritz_patch_interior_row(const RitzPatch *p, bool of_b, int j, int k) {
  return ritz_patch_row(p, of_b, j + 1, RITZ_DIM == 3 ? k + 1 : k);
}

// Line i of the last direction: the residual, to modes.
RITZ_INLINE void ritz_patch_residual_line(const RitzPatch *p, int i, RitzPatchWork *w) {
  const int last = RITZ_DIM - 1;
  const RitzReal c = ((const RitzReal *)p->args->factor)[last];
  RitzPatchValues mass, stiffness;
  RitzVec a[RITZ_N], m[RITZ_N];

  ritz_patch_split(RITZ_M, &w->mass[0][i], RITZ_SLAB, &mass);
  ritz_patch_split(RITZ_M, &w->stiffness[0][i], RITZ_SLAB, &stiffness);
  ritz_patch_stiffness(last, p->tables[last], &mass, a);
  ritz_patch_mass(last, p->tables[last], &stiffness, m);
  RITZ_UNROLL for (int k = 0; k < RITZ_N; k++) a[k] = w->r[k * RITZ_SLAB + i] - c * a[k] - m[k];
  ritz_patch_forward(last, p->tables[last], a, 1, w->r + i, RITZ_SLAB);
}

// Slab of mode k of the last direction: the other directions to modes, divided, and back.
RITZ_INLINE void ritz_patch_divide(const RitzPatch *p, int k, RitzVec *slab) {
  const RitzVec none = ritz_splat(0);
  RitzVec line[RITZ_N];

#if RITZ_DIM == 3
  RITZ_ROLLED for (int j = 0; j < RITZ_N; j++)
      ritz_patch_forward(0, p->tables[0], slab + j * RITZ_N, 1, slab + j * RITZ_N, 1);
  RITZ_ROLLED for (int i = 0; i < RITZ_N; i++) {
    ritz_patch_forward(1, p->tables[1], slab + i, RITZ_N, line, 1);
    RITZ_ROLLED for (int j = 0; j < RITZ_N; j++) line[j] *= ritz_patch_scale(p, i, j, k);
    ritz_patch_back(1, p->tables[1], line, 1, none, none, slab + i, RITZ_N);
  }
  RITZ_ROLLED for (int j = 0; j < RITZ_N; j++)
      ritz_patch_back(0, p->tables[0], slab + j * RITZ_N, 1, none, none, slab + j * RITZ_N, 1);
#else
  ritz_patch_forward(0, p->tables[0], slab, 1, line, 1);
  RITZ_ROLLED for (int i = 0; i < RITZ_N; i++) line[i] *= ritz_patch_scale(p, i, 0, k);
  ritz_patch_back(0, p->tables[0], line, 1, none, none, slab, 1);
#endif
}

RITZ_INLINE void ritz_patch_store_row(const RitzPatch *p, int j, int k, const RitzVec *r, RitzReal *x) {
  RitzReal *row = x + ritz_patch_interior_row(p, false, j, k);
  RitzVec u[RITZ_N];

  if (!ritz_patch_is_free(p, j, k)) return;
#if RITZ_IS_BOUNDARY
  RITZ_UNROLL for (int i = 0; i < RITZ_N; i++) u[i] = r[i];
#else
  ritz_patch_get(p, false, row, 1, RITZ_N, u);
  RITZ_UNROLL for (int i = 0; i < RITZ_N; i++) u[i] += r[i];
#endif
  ritz_patch_put(p, row, u);
}

// Rows of the interior are numbered through: j the middle, k the last direction (2D: j, and k = 0).
RITZ_INLINE void ritz_patch_solve(const RitzPatch *p, const RitzReal *b, RitzReal *x, RitzPatchWork *w) {
  const int last = RITZ_DIM - 1;
  const RitzVec none = ritz_splat(0);

  RITZ_ROLLED for (int k = 0; k < RITZ_M; k++) ritz_patch_slab(p, x, k, w);
  RITZ_ROLLED for (int k = 0; k < (RITZ_DIM == 3 ? RITZ_N : 1); k++) {
    RITZ_ROLLED for (int j = 0; j < RITZ_N; j++)
        ritz_patch_get(p, true, b + ritz_patch_interior_row(p, true, j, k), 1, RITZ_N,
                       w->r + (k * RITZ_N + j) * RITZ_N);
  }
  RITZ_ROLLED for (int i = 0; i < RITZ_SLAB; i++) ritz_patch_residual_line(p, i, w);
  RITZ_ROLLED for (int k = 0; k < RITZ_N; k++) ritz_patch_divide(p, k, w->r + k * RITZ_SLAB);
  RITZ_ROLLED for (int i = 0; i < RITZ_SLAB; i++)
      ritz_patch_back(last, p->tables[last], w->r + i, RITZ_SLAB, none, none, w->r + i, RITZ_SLAB);
  RITZ_ROLLED for (int k = 0; k < (RITZ_DIM == 3 ? RITZ_N : 1); k++) {
    RITZ_ROLLED for (int j = 0; j < RITZ_N; j++)
        ritz_patch_store_row(p, j, k, w->r + (k * RITZ_N + j) * RITZ_N, x);
  }
}

#endif
