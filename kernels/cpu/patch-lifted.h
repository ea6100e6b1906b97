// SPDX-License-Identifier: BSD-2-Clause
// One batch of patches in the lifted form (core/patch-sweep.h): values at the ends of lines enter as rank-one
// terms in modes. Four phases in 3D: faces, to modes in all directions but their own; right-hand sides, plane
// by plane to modes in x and y; lines in z: to modes, divided, and back; planes: back in y and x. Ends come
// in pairs [2], as kernels/cpu/patch-lines.h keeps them.
#ifndef RITZ_KERNELS_CPU_PATCH_LIFTED_H
#define RITZ_KERNELS_CPU_PATCH_LIFTED_H

#include "kernels/cpu/patch-lines.h"

#if RITZ_DIM == 3

typedef struct {
  RitzVec u[RITZ_N * RITZ_N * RITZ_N]; // [z][y][x]
  // Ends in x and y: nodes [z][y]; nodes in z, modes in x; ends in z: modes [y][x].
  RitzVec x_ends[2][RITZ_M][RITZ_M], y_ends[2][RITZ_M][RITZ_N], z_ends[2][RITZ_N][RITZ_N];
  // Their modes, times the factor of their direction: [z][y], [z][x].
  RitzVec x_modes[2][RITZ_N][RITZ_N], y_modes[2][RITZ_N][RITZ_N];
  RitzVec rows[2][RITZ_M][RITZ_N];
} RitzPatchWork;

// Rows of both faces in z, and what they have of the ends in x and y.
RITZ_INLINE void ritz_patch_z_faces(const RitzPatch *p, const RitzReal *x, RitzPatchWork *w) {
  RITZ_ROLLED for (int j = 0; j < RITZ_M; j++) {
    RITZ_UNROLL for (int s = 0; s < 2; s++) {
      const int k = s * 2 * RITZ_P;
      RitzVec row[RITZ_M];
      ritz_patch_get(p, false, x + ritz_patch_row(p, false, j, k), 0, RITZ_M, row);
      w->x_ends[0][k][j] = row[0];
      w->x_ends[1][k][j] = row[RITZ_M - 1];
      ritz_patch_ends(&w->x_ends[0][k][j], &w->x_ends[1][k][j]);
      ritz_patch_modes(0, p->tables[0], row, 1, w->rows[s][j], 1);
    }
  }
  RITZ_ROLLED for (int i = 0; i < RITZ_N; i++) {
    RITZ_UNROLL for (int s = 0; s < 2; s++) {
      const int k = s * 2 * RITZ_P;
      w->y_ends[0][k][i] = w->rows[s][0][i];
      w->y_ends[1][k][i] = w->rows[s][RITZ_M - 1][i];
      ritz_patch_ends(&w->y_ends[0][k][i], &w->y_ends[1][k][i]);
    }
    RITZ_ROLLED for (int j = 0; j < RITZ_M; j++) ritz_patch_ends(&w->rows[0][j][i], &w->rows[1][j][i]);
    RITZ_ROLLED for (int s = 0; s < 2; s++)
        ritz_patch_modes(1, p->tables[1], &w->rows[s][0][i], RITZ_N, &w->z_ends[s][0][i], RITZ_N);
  }
}

// Rows of the faces in y between those in z, and the ends of the others.
RITZ_INLINE void ritz_patch_side_faces(const RitzPatch *p, const RitzReal *x, RitzPatchWork *w) {
  RITZ_ROLLED for (int k = 1; k < RITZ_M - 1; k++) {
    RITZ_ROLLED for (int s = 0; s < 2; s++) {
      const int j = s * 2 * RITZ_P;
      RitzVec row[RITZ_M];
      ritz_patch_get(p, false, x + ritz_patch_row(p, false, j, k), 0, RITZ_M, row);
      w->x_ends[0][k][j] = row[0];
      w->x_ends[1][k][j] = row[RITZ_M - 1];
      ritz_patch_ends(&w->x_ends[0][k][j], &w->x_ends[1][k][j]);
      ritz_patch_modes(0, p->tables[0], row, 1, w->y_ends[s][k], 1);
    }
    RITZ_UNROLL for (int i = 0; i < RITZ_N; i++) ritz_patch_ends(&w->y_ends[0][k][i], &w->y_ends[1][k][i]);
    RITZ_ROLLED for (int j = 1; j < RITZ_M - 1; j++) {
      RitzVec low, high;
      ritz_patch_get_ends(p, x + ritz_patch_row(p, false, j, k), &low, &high);
      ritz_patch_ends(&low, &high);
      w->x_ends[0][k][j] = low;
      w->x_ends[1][k][j] = high;
    }
  }
}

RITZ_INLINE void ritz_patch_face_modes(const RitzPatch *p, RitzPatchWork *w) {
  const RitzReal *c = (const RitzReal *)p->args->factor;

  RITZ_ROLLED for (int s = 0; s < 2; s++) {
    RITZ_ROLLED for (int i = 0; i < RITZ_N; i++)
        ritz_patch_modes(2, p->tables[2], &w->y_ends[s][0][i], RITZ_N, &w->y_modes[s][0][i], RITZ_N);
    RITZ_ROLLED for (int k = 0; k < RITZ_M; k++)
        ritz_patch_modes(1, p->tables[1], w->x_ends[s][k], 1, w->rows[0][k], 1);
    RITZ_ROLLED for (int j = 0; j < RITZ_N; j++)
        ritz_patch_modes(2, p->tables[2], &w->rows[0][0][j], RITZ_N, &w->x_modes[s][0][j], RITZ_N);
    RITZ_ROLLED for (int i = 0; i < RITZ_N * RITZ_N; i++) {
      w->x_modes[s][0][i] *= c[0];
      w->y_modes[s][0][i] *= c[1];
    }
  }
}

RITZ_INLINE void ritz_patch_right_hand_side(const RitzPatch *p, const RitzReal *b, RitzPatchWork *w) {
  RITZ_ROLLED for (int k = 0; k < RITZ_N; k++) {
    RitzVec plane[RITZ_N * RITZ_N];
    RITZ_ROLLED for (int j = 0; j < RITZ_N; j++) {
      RitzVec row[RITZ_N];
      ritz_patch_get(p, true, b + ritz_patch_row(p, true, j + 1, k + 1), 1, RITZ_N, row);
      ritz_patch_forward(0, p->tables[0], row, 1, plane + j * RITZ_N, 1);
    }
    RITZ_ROLLED for (int i = 0; i < RITZ_N; i++)
        ritz_patch_forward(1, p->tables[1], plane + i, RITZ_N, w->u + k * RITZ_N * RITZ_N + i, RITZ_N);
  }
}

RITZ_INLINE void ritz_patch_z_line(const RitzPatch *p, int i, int j, RitzPatchWork *w) {
  const RitzReal c = ((const RitzReal *)p->args->factor)[2];
  const RitzVec first = w->z_ends[0][j][i], second = w->z_ends[1][j][i];
  RitzVec *u = w->u + j * RITZ_N + i, z[RITZ_N];

  ritz_patch_forward(2, p->tables[2], u, RITZ_N * RITZ_N, z, 1);
  RITZ_EACH for (int k = 0; k < RITZ_N; k++) {
    z[k] -= ritz_patch_couple(0, p->tables[0], i, w->x_modes[0][k][j], w->x_modes[1][k][j]) +
            ritz_patch_couple(1, p->tables[1], j, w->y_modes[0][k][i], w->y_modes[1][k][i]) +
            ritz_patch_couple(2, p->tables[2], k, c * first, c * second);
    z[k] *= ritz_patch_scale(p, i, j, k);
  }
  ritz_patch_back(2, p->tables[2], z, 1, first, second, u, RITZ_N * RITZ_N);
}

RITZ_INLINE void ritz_patch_planes(const RitzPatch *p, RitzReal *x, RitzPatchWork *w) {
  RITZ_ROLLED for (int k = 0; k < RITZ_N; k++) {
    RitzVec plane[RITZ_N * RITZ_N];
    RITZ_ROLLED for (int i = 0; i < RITZ_N; i++)
        ritz_patch_back(1, p->tables[1], w->u + k * RITZ_N * RITZ_N + i, RITZ_N, w->y_ends[0][k + 1][i],
                        w->y_ends[1][k + 1][i], plane + i, RITZ_N);
    RITZ_ROLLED for (int j = 0; j < RITZ_N; j++) {
      RitzVec row[RITZ_N];
      if (!ritz_patch_is_free(p, j, k)) continue;
      ritz_patch_back(0, p->tables[0], plane + j * RITZ_N, 1, w->x_ends[0][k + 1][j + 1],
                      w->x_ends[1][k + 1][j + 1], row, 1);
      ritz_patch_put(p, x + ritz_patch_row(p, false, j + 1, k + 1), row);
    }
  }
}

RITZ_INLINE void ritz_patch_solve(const RitzPatch *p, const RitzReal *b, RitzReal *x, RitzPatchWork *w) {
  ritz_patch_z_faces(p, x, w);
  ritz_patch_side_faces(p, x, w);
  ritz_patch_face_modes(p, w);
  ritz_patch_right_hand_side(p, b, w);
  RITZ_ROLLED for (int j = 0; j < RITZ_N; j++) {
    RITZ_ROLLED for (int i = 0; i < RITZ_N; i++) ritz_patch_z_line(p, i, j, w);
  }
  ritz_patch_planes(p, x, w);
}

#else

typedef struct {
  RitzVec u[RITZ_N * RITZ_N];                   // [y][x]
  RitzVec x_ends[2][RITZ_M], y_ends[2][RITZ_N]; // nodes [y]; modes [x]
  RitzVec x_modes[2][RITZ_N];                   // modes [y], times the factor of x
} RitzPatchWork;

RITZ_INLINE void ritz_patch_faces(const RitzPatch *p, const RitzReal *x, RitzPatchWork *w) {
  const RitzReal c = ((const RitzReal *)p->args->factor)[0];

  RITZ_ROLLED for (int s = 0; s < 2; s++) {
    const int j = s * 2 * RITZ_P;
    RitzVec row[RITZ_M];
    ritz_patch_get(p, false, x + ritz_patch_row(p, false, j, 0), 0, RITZ_M, row);
    w->x_ends[0][j] = row[0];
    w->x_ends[1][j] = row[RITZ_M - 1];
    ritz_patch_modes(0, p->tables[0], row, 1, w->y_ends[s], 1);
  }
  RITZ_UNROLL for (int i = 0; i < RITZ_N; i++) ritz_patch_ends(&w->y_ends[0][i], &w->y_ends[1][i]);
  RITZ_ROLLED for (int j = 1; j < RITZ_M - 1; j++)
      ritz_patch_get_ends(p, x + ritz_patch_row(p, false, j, 0), &w->x_ends[0][j], &w->x_ends[1][j]);
  RITZ_ROLLED for (int j = 0; j < RITZ_M; j++) ritz_patch_ends(&w->x_ends[0][j], &w->x_ends[1][j]);
  RITZ_ROLLED for (int s = 0; s < 2; s++) {
    ritz_patch_modes(1, p->tables[1], w->x_ends[s], 1, w->x_modes[s], 1);
    RITZ_UNROLL for (int j = 0; j < RITZ_N; j++) w->x_modes[s][j] *= c;
  }
}

RITZ_INLINE void ritz_patch_y_line(const RitzPatch *p, int i, RitzPatchWork *w) {
  const RitzReal c = ((const RitzReal *)p->args->factor)[1];
  const RitzVec first = w->y_ends[0][i], second = w->y_ends[1][i];
  RitzVec y[RITZ_N];

  ritz_patch_forward(1, p->tables[1], w->u + i, RITZ_N, y, 1);
  RITZ_EACH for (int j = 0; j < RITZ_N; j++) {
    y[j] -= ritz_patch_couple(0, p->tables[0], i, w->x_modes[0][j], w->x_modes[1][j]) +
            ritz_patch_couple(1, p->tables[1], j, c * first, c * second);
    y[j] *= ritz_patch_scale(p, i, 0, j);
  }
  ritz_patch_back(1, p->tables[1], y, 1, first, second, w->u + i, RITZ_N);
}

RITZ_INLINE void ritz_patch_solve(const RitzPatch *p, const RitzReal *b, RitzReal *x, RitzPatchWork *w) {
  RitzVec row[RITZ_N];

  ritz_patch_faces(p, x, w);
  RITZ_ROLLED for (int j = 0; j < RITZ_N; j++) {
    ritz_patch_get(p, true, b + ritz_patch_row(p, true, j + 1, 0), 1, RITZ_N, row);
    ritz_patch_forward(0, p->tables[0], row, 1, w->u + j * RITZ_N, 1);
  }
  RITZ_ROLLED for (int i = 0; i < RITZ_N; i++) ritz_patch_y_line(p, i, w);
  RITZ_ROLLED for (int j = 0; j < RITZ_N; j++) {
    if (!ritz_patch_is_free(p, j, 0)) continue;
    ritz_patch_back(0, p->tables[0], w->u + j * RITZ_N, 1, w->x_ends[0][j + 1], w->x_ends[1][j + 1], row, 1);
    ritz_patch_put(p, x + ritz_patch_row(p, false, j + 1, 0), row);
  }
}

#endif

#endif
