// SPDX-License-Identifier: BSD-2-Clause
// The order of nodes in VTK's Lagrange lines, quadrilaterals and hexahedra, for tests/test-vtu*.c.
#ifndef RITZ_TESTS_VTU_LATTICE_H
#define RITZ_TESTS_VTU_LATTICE_H

#include <stdint.h>
#include <stdlib.h>

// Lattice positions of the nodes of a VTK Lagrange cell of degree p, one after the other.
typedef struct {
  int p;
  int64_t num;
  int (*at)[3];
} Lattice;

static inline void lattice_add(Lattice *l, int i, int j, int k) {
  int *at = l->at[l->num++];

  at[0] = i, at[1] = j, at[2] = k;
}

static const int vtk_corners[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                      {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};

static inline void lattice_edge(Lattice *l, int from, int to) {
  const int *a = vtk_corners[from], *b = vtk_corners[to];

  for (int m = 1; m < l->p; m++)
    lattice_add(l, a[0] * (l->p - m) + b[0] * m, a[1] * (l->p - m) + b[1] * m, a[2] * (l->p - m) + b[2] * m);
}

// Inner nodes of the face normal to `axis` at `side`; the lower of the other axes runs fastest.
static inline void lattice_face(Lattice *l, int axis, int side) {
  int fast = axis == 0 ? 1 : 0, slow = axis == 2 ? 1 : 2;

  for (int s = 1; s < l->p; s++) {
    for (int f = 1; f < l->p; f++) {
      int at[3] = {0};

      at[axis] = side * l->p, at[fast] = f, at[slow] = s;
      lattice_add(l, at[0], at[1], at[2]);
    }
  }
}

static inline Lattice make_lattice(int dim, int p) {
  static const int edges[12][2] = {{0, 1}, {1, 2}, {3, 2}, {0, 3}, {4, 5}, {5, 6},
                                   {7, 6}, {4, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
  static const int num_edges[] = {0, 1, 4, 12};
  Lattice l = {.p = p,
               .at = calloc((size_t)(p + 1) * (dim > 1 ? p + 1 : 1) * (dim > 2 ? p + 1 : 1), sizeof(*l.at))};

  for (int c = 0; c < 1 << dim; c++)
    lattice_add(&l, p * vtk_corners[c][0], p * vtk_corners[c][1], p * vtk_corners[c][2]);
  for (int e = 0; e < num_edges[dim]; e++) lattice_edge(&l, edges[e][0], edges[e][1]);
  if (dim == 2) lattice_face(&l, 2, 0);
  for (int face = 0; dim == 3 && face < 6; face++) lattice_face(&l, face / 2, face % 2);
  for (int k = 1; dim == 3 && k < p; k++) {
    for (int j = 1; j < p; j++) {
      for (int i = 1; i < p; i++) lattice_add(&l, i, j, k);
    }
  }
  return l;
}

#endif
