// SPDX-License-Identifier: BSD-2-Clause
// Bytes and flops that an operator needs at least, by any implementation: the formulas behind the rooflines
// of `ritz bench` and of the bake-off problems. Numbers only, no objects.
//
// d components, E elements, N degrees of freedom, V vertices of the mesh, P nodes and Q points per direction,
// S = 2 (P^3 Q + P^2 Q^2 + P Q^3), the flops of one interpolation (0 when Q = P: nodes are points);
// 8 stands for the size of a scalar of the vectors, a fused multiply-add counts as two flops.
//
//   useful flops     mass d (2 S + Q^3) E;  diffusion d (2 S + 12 Q^4 + 15 Q^3) E (interpolation, three
//                    derivatives at the points, 15 at a point, all transposed);  both d (... + 2 Q^3) E more
//   bytes            8 (3 N + factors) + 4 P^3 E: u once, v twice, offsets; factors, with f = 1 for mass, 6
//                    for diffusion, 7 for both, and m = 1, or 2 for both:
//     stored         f Q^3 E
//     affine         f E
//     trilinear      3 V, and 8 offsets an element: 4 * 8 E bytes
//     partial        those of trilinear + Q^3 E (w / det); mass alone: as stored
//     merged         those of trilinear + m Q^3 E (mu w / det, lambda w det); mass alone: as stored
//   recomputation, flops at a point (Q^3 E points)
//     J 12           six multiply-adds: columns of J are linear in one direction
//     K 27           the adjugate, nine products and nine multiply-adds; mass alone: one row, 9
//     det 5          a row of K times a column of J
//     w 1            weights of two directions times that of the third
//     diffusion      min(18 d, 36) more than 15 d: as vectors, K^T u, scaled, K times that: 33 d; or as a
//                    matrix, six scaled products of rows: 36 + 15 d
//     trilinear      J + K + det + w, 1 for w / det and the line above (diffusion), 1 for w det (mass)
//     partial        J + K and the line above; with mass det and 2 more
//     merged         J + K and the line above
//     affine         w; mass 1; diffusion min(3 d, 6)
//
// Tetrahedra, prisms and pyramids, n nodes, q points and c corners an element: useful flops d (4 n q + q) E
// for mass, d (12 n q + 15 q) E for diffusion; bytes as above with q for Q^3, n for P^3 and c offsets of
// corners. Jacobians of tetrahedra are those of whole elements: recomputation with geometry from the corners
// is that of affine elements. On the others J takes 18 c, by a table. Symmetric points allow half of the
// multiplications (doc/kernels.md): more than 100 % of a roofline of flops is possible.
#ifndef RITZ_BP_COSTS_H
#define RITZ_BP_COSTS_H

#include <stdbool.h>

// Where geometric factors come from.
typedef enum {
  COST_STORED,    // all of them at all points
  COST_TRILINEAR, // computed from the corners
  COST_AFFINE,    // once an element, times the weights
  COST_PARTIAL,   // computed from the corners, with w / det stored
  COST_MERGED,    // computed from the corners, with what contains a division or a coefficient stored
} CostGeometry;

typedef struct {
  bool mass, diffusion;
  CostGeometry geometry;
  double components, elements, dofs, vertices;
  double P, Q;          // hexahedra
  double nodes, points; // of an element of another shape; 0: hexahedra
  double corners;       // of that
  double scalar_bytes;  // of all vectors; 0: those of a CeedScalar
} CostedOperator;

typedef struct {
  double bytes, flops; // useful flops
  double recompute;    // flops for geometry
} Costs;

// Costs of one apply.
Costs cost_of_apply(const CostedOperator *op);

// Makes the costs of an apply those of an iteration of conjugate gradients. Standard: 11 N scalars and 10 N
// flops more, with Jacobi's preconditioner 2 N and 3 N beyond that. Merged with the operator, x, r, p and A p
// are read and written once, 8 N scalars in place of the 3 N of the apply, with Jacobi N more.
void cost_add_cg(Costs *costs, double dofs, bool merged, bool jacobi);

#endif
