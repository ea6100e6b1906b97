// SPDX-License-Identifier: BSD-2-Clause
// Numerics without objects: quadrature, Lagrange tables on all shapes, tensor actions, small dense algebra.
// Called by core/ (public wrappers), backends/ and mesh/. All matrices are row-major; the reference interval
// is [-1,1]; everything is computed in double whatever CeedScalar is. `ceed` is used for error reports only
// and may be NULL. Where memory runs out, functions return CEED_ERROR_MAJOR.
#ifndef RITZ_FE_H
#define RITZ_FE_H

#include <ceed.h>
#include <stdint.h>

// base^exponent, for sizes: nodes, points and entries of tensor products.
static inline int64_t ritz_power(int64_t base, int exponent) {
  int64_t power = 1;
  for (int i = 0; i < exponent; i++) power *= base;
  return power;
}

// ---- Quadrature (fe/quadrature.c) ----

// Points ascending and exactly symmetric (x[n-1-i] == -x[i], middle point of odd rules exactly 0), weights
// symmetric. Gauss: exact to degree 2n-1, n >= 1. Gauss-Lobatto: exact to degree 2n-3, n >= 2, ends exactly
// -1 and 1; w may be NULL. Newton's method on Legendre polynomials (three-term recurrence). Points
// and weights are within one round-off of 1 (2^-52) for any n. The caller checks n.
void ritz_fe_gauss(int n, double *x, double *w);
void ritz_fe_gauss_lobatto(int n, double *x, double *w);

// ---- Lagrange and Chebyshev polynomials (fe/lagrange.c) ----

// Cardinal polynomials of P distinct nodes in any order, evaluated at Q points. values [Q][P], derivatives
// [Q][P]; either may be NULL. Barycentric form (Berrut & Trefethen, SIAM Review 46, 2004); a point that
// equals a node gives exactly the identity row; each derivative row sums to zero up to round-off. For P = 1:
// value 1, derivative 0. Mirrored input gives bitwise mirrored output: for symmetric nodes and points,
// values[Q-1-q][P-1-p] == values[q][p] and derivatives[Q-1-q][P-1-p] == -derivatives[q][p].
// P < 1: CEED_ERROR_DIMENSION; nodes that coincide or are not finite: CEED_ERROR_MINOR.
int ritz_fe_lagrange(Ceed ceed, int P, const double *nodes, int Q, const double *points, double *values,
                     double *derivatives);

// Edge functions of P >= 2 distinct ascending nodes: the P - 1 polynomials of degree P - 2 whose integral
// from node j to node j + 1 is 1 for j = i and 0 for other j (fe/edge.c: Gerritsma 2011). values [Q][P-1].
// For symmetric nodes and points values[Q-1-q][P-2-i] == values[q][i], bit for bit. Errors as above.
int ritz_fe_edge(Ceed ceed, int P, const double *nodes, int Q, const double *points, double *values);

// Chebyshev polynomials of the first kind T_0..T_{n-1} and their derivatives at x. value[n], derivative[n];
// either may be NULL.
void ritz_fe_chebyshev(int n, double x, double *value, double *derivative);

// ---- Finite elements on all shapes (fe/shape*.c) ----
//
// Reference elements lie in [-1,1]^dim. LINE, QUAD, HEX: all of it. TRIANGLE: corners (-1,-1), (1,-1),
// (-1,1). TET: these at t = -1, and (-1,-1,1). PRISM: triangle x line. PYRAMID: base [-1,1]^2 at t = -1, apex
// (0,0,1).
//
// Nodes of degree p sit on a lattice, first index fastest. LINE, QUAD, HEX: 0..p in each direction; TRIANGLE:
// i+j <= p; TET: i+j+k <= p; PRISM: i+j <= p, k = 0..p; PYRAMID: k = 0..p, 0 <= i,j <= p-k. Corners are those
// of the lattice. Edges have Gauss-Lobatto points, quadrilateral faces their tensor products, triangular
// faces the nodes of TRIANGLE, whatever the shape.
//
// The space of degree p: all polynomials of degree p on LINE, TRIANGLE and TET; of degree p in each direction
// on QUAD and HEX; products of triangle and line on PRISM; on PYRAMID a space of rational functions that
// holds all polynomials of degree p, whose traces are those of TRIANGLE and QUAD. A gradient at the apex of a
// PYRAMID is the limit along the axis (that of xy / (1 - t) depends on the direction); points beside the
// apex, by rounding (1 - t < 2e-14), count as points of the nearest side.
//
// Points and nodes are [num][dim], values [num_points][num_nodes], gradients [dim][num_points][num_nodes].
// Errors: CEED_ERROR_DIMENSION for what is no topology, for degrees below 1 and sizes beyond an int.

// Number of nodes, the dimension of the space. 0 where the other functions report an error.
int ritz_fe_shape_num_nodes(CeedElemTopology topology, int degree);

int ritz_fe_shape_nodes(Ceed ceed, CeedElemTopology topology, int degree, double *nodes);

// The Lagrange basis of these nodes at any points of the element. values or gradients may be NULL. Accuracy:
// round-off times the condition of the basis, at most a few hundred for degrees up to 10. Exchanging the
// first two coordinates of a point gives, bit for bit, the tables with nodes and derivatives exchanged; rows
// of values sum to one and rows of derivatives to zero, up to the rounding of their entries.
int ritz_fe_shape_lagrange(Ceed ceed, CeedElemTopology topology, int degree, int num_points,
                           const double *points, double *values, double *gradients);

// An orthonormal basis of the same space (layouts as above with modes for nodes, mode 0 constant).
// values or gradients may be NULL.
int ritz_fe_shape_modes(Ceed ceed, CeedElemTopology topology, int degree, int num_points,
                        const double *points, double *values, double *gradients);

// The modes of one of TRIANGLE, TET, PYRAMID and PRISM at a point that may lie outside of the element: value
// [num_nodes], gradient [dim][num_nodes] (may be NULL). work: so many doubles. Takes no memory.
int64_t ritz_fe_shape_modes_work(CeedElemTopology topology, int degree);
void ritz_fe_shape_modes_at(CeedElemTopology topology, int degree, const double *x, double *value,
                            double *gradient, double *work);

// Quadrature that is exact for all polynomials of total degree `degree` >= 0 (LINE, QUAD, HEX: in each
// direction; PRISM: of that degree on the triangle and along the line). Positive weights, interior points.
// *num is the number of points; points and weights, both or neither NULL, receive them.
int ritz_fe_shape_quadrature(Ceed ceed, CeedElemTopology topology, int degree, int *num, double *points,
                             double *weights);

// ---- Tensor products (fe/tensor.c) ----

// v = (M_{dim-1} x ... x M_0) u, each M_d row-major [rows][cols]; u [nc][cols^dim], v [nc][rows^dim], first
// direction (M_0) fastest; dim >= 1. work: at least 2 * nc * max(rows, cols)^dim doubles (dim = 1: may be
// NULL). u, v and work do not overlap.
void ritz_fe_tensor_apply(int dim, int nc, int rows, int cols, const double *const M[], const double *u,
                          double *v, double *work);

// ---- Small dense algebra (fe/dense.c), the functions behind the standard's names ----

// mat [m][n] = Q R in place, 1 <= n <= m (else CEED_ERROR_UNSUPPORTED). R is the upper triangle; Q = H_0 ...
// H_{n-1} with H_i = I - tau_i v_i v_i^T, v_i zero above entry i, 1 there (not stored), the rest below the
// diagonal of column i. R_ii = -sign(a_ii) |active column i|. A zero column, and the last one of a square
// matrix, has tau = 0. tau [n].
int ritz_fe_qr(Ceed ceed, double *mat, double *tau, int m, int n);

// A := Q A or Q^T A for the m x n matrix with entry (i,j) at A[i*row + j*col]; Q: the first k reflectors,
// stored as above in an array with k columns.
void ritz_fe_householder_apply_q(double *A, const double *Q, const double *tau, CeedTransposeMode t_mode,
                                 int m, int n, int k, int row, int col);

// pinv [n][m] = R^{-1} Q^T, the left inverse of mat [m][n]. Not 1 <= n <= m: CEED_ERROR_UNSUPPORTED; columns
// that are dependent up to round-off: CEED_ERROR_MAJOR.
int ritz_fe_pseudoinverse(Ceed ceed, const double *mat, int m, int n, double *pinv);

// mat = V diag(lambda) V^T: the symmetric mat [n][n] becomes the orthogonal V, eigenvectors are columns.
// Eigenvalues ascend by magnitude. n < 2: CEED_ERROR_UNSUPPORTED; not symmetric, not finite or no
// convergence: CEED_ERROR_MINOR.
int ritz_fe_symmetric_eigen(Ceed ceed, double *mat, double *lambda, int n);

// X^T A X = diag(lambda) and X^T B X = I for symmetric A, symmetric positive definite B. Order and errors as
// above; B not positive definite (a pivot that is negative or round-off of its diagonal entry):
// CEED_ERROR_MINOR. X [n][n] does not overlap A and B.
int ritz_fe_simultaneous_diagonalization(Ceed ceed, const double *A, const double *B, double *X,
                                         double *lambda, int n);

// Solves the square system mat x = rhs in place, nrhs right-hand sides rhs [n][nrhs]; partial pivoting; mat
// is overwritten. A pivot that is zero or round-off of the numbers it came from is CEED_ERROR_MAJOR; the rows
// of rhs may then be interchanged. n < 1: CEED_ERROR_DIMENSION.
int ritz_fe_solve(Ceed ceed, int n, double *mat, int nrhs, double *rhs);

// ---- Lines through vertex patches (fe/patch.c) ----

// Tables of one direction of a patch, the cells beside a vertex: for nodes of the closure c = 0 .. 2p (m of
// them, Gauss-Lobatto in each cell) and the interior i = c - 1 (n of them), one behind the other:
//   A, M [n][m]         stiffness and mass, rows of the free interior nodes, others zero
//   S [n][n]            S[i][k]: A_II S = M_II S diag(lambda), S^T M_II S = I on the free nodes
//   lambda [n]
//   modes [n][m]        (S^T M)_kc
//   coupling [2][n]     (S^T A phi~_s)_k, where phi~_s is the function of end s plus its extension
//   extension [2][n]    e_s = -M_II^-1 M_Is, which makes phi~_s orthogonal to the interior in M
// length: of the cells on the low and the high side; 0: there is none. Free interior nodes: first_free ..
// first_free + num_free - 1. Cells of one length with all nodes free: modes 0 .. p - 1 are even, the others
// odd, all tables exactly so. Else modes num_free .. n - 1 are zero with lambda 1.
int ritz_fe_patch_line(Ceed ceed, int p, const double length[2], int first_free, int num_free, double *table);
size_t ritz_fe_patch_line_size(int p); // doubles of a table

#endif
