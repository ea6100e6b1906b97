// SPDX-License-Identifier: BSD-2-Clause
// Typical kernels for processors: of every shape of elements, action and precision that there are texts of,
// batches of matrices and sweeps over patches. Included by test-emit.c, which holds their texts against those
// of tests/golden-kernels.
#ifndef RITZ_TESTS_CPU_CASES_H
#define RITZ_TESTS_CPU_CASES_H

#include "tests/operators-kit.h"

#include <string.h>
#include <unistd.h>

#include "core/batched.h"
#include "emit/emit.h"
#include "plan/matrix.h"
#include "plan/point-blocks.h"
#include "tests/patch-kit.h"
#include "tests/points-problem.h"

// ---- Operators ----

// A box of n elements a direction with data at the points in batch order.
static inline void set_packed_box(Kit *k, const Shape *s, CeedInt n) {
  const CeedInt num_elem = power(n, s->dim), Q = power(s->Q, s->dim);
  const CeedInt num_q = s->is_gradient ? s->dim * (s->dim + 1) / 2 : 1;
  CeedElemRestriction *rstr = &k->rstr[k->num_rstr++];
  NOTE_OK(grid_create_restriction(k->ceed, s->dim, n, s->P - 1, s->num_comp, rstr));
  CeedElemRestriction rstr_q = strided(k, num_elem, Q, num_q);
  CeedBasis basis = basis_of(k, s);
  const Field fields[] = {active(s->is_gradient ? "du" : "u", s, *rstr, basis),
                          DATA("qdata", rstr_q, vector(k, (CeedSize)num_elem * Q * num_q)),
                          active(s->is_gradient ? "dv" : "v", s, *rstr, basis)};

  set_function(k, 1, gen_source, 2, 1, fields);
}

static inline void set_packed(Kit *k, const Shape *s) { set_packed_box(k, s, 2); }

// Values or gradients of Lagrange elements of degree P - 1 on any shape, exact quadrature of degree Q.
static inline void set_lagrange(Kit *k, const Shape *s) {
  enum { NUM_ELEM = 8 };
  const CeedInt num_q = s->is_gradient ? s->dim * (s->dim + 1) / 2 : 1;
  CeedBasis *basis = &k->basis[k->num_basis++];
  CeedInt P, Q;

  NOTE_OK(RitzBasisCreateLagrange(k->ceed, s->topology, s->num_comp, s->P - 1, s->Q, basis));
  NOTE_OK(CeedBasisGetNumNodes(*basis, &P));
  NOTE_OK(CeedBasisGetNumQuadraturePoints(*basis, &Q));
  CeedElemRestriction rstr = chain_of(k, NUM_ELEM, P, s->num_comp);
  CeedElemRestriction rstr_q = strided(k, NUM_ELEM, Q, num_q);
  const Field fields[] = {active("u", s, rstr, *basis), WEIGHTS(*basis),
                          DATA("qdata", rstr_q, vector(k, (CeedSize)NUM_ELEM * Q * num_q)),
                          active("v", s, rstr, *basis)};

  set_function(k, 1, gen_source, 3, 1, fields);
}

// Velocity and pressure, geometry on the fly, values and gradients of one space.
static inline void set_stokes(Kit *k, const Shape *s) {
  CeedElemRestriction rstr_u = box(k, 2, 2, 2), rstr_p = box(k, 2, 1, 1), rstr_x = box(k, 2, 1, 2);
  CeedBasis basis_u = lagrange(k, 2, 2, 3, 4, CEED_GAUSS), basis_p = lagrange(k, 2, 1, 2, 4, CEED_GAUSS);
  CeedBasis basis_x = lagrange(k, 2, 2, 2, 4, CEED_GAUSS);
  const Field fields[] = {ACTIVE("u", INTERP, rstr_u, basis_u),
                          ACTIVE("du", GRAD, rstr_u, basis_u),
                          PASSIVE("p", INTERP, rstr_p, basis_p, vector(k, 9)),
                          PASSIVE("dx", GRAD, rstr_x, basis_x, vector(k, 18)),
                          WEIGHTS(basis_x),
                          ACTIVE("v", INTERP, rstr_u, basis_u),
                          ACTIVE("dv", GRAD, rstr_u, basis_u),
                          PASSIVE("q", INTERP, rstr_p, basis_p, vector(k, 9))};

  (void)s;
  set_function(k, 1, gen_source, 5, 3, fields);
}

// Coordinates of degree one, a factor for each element, weights.
static inline void set_coordinates(Kit *k, const Shape *s) {
  static const CeedScalar ones[4] = {1, 1, 1, 1}, zeros[4];
  CeedElemRestriction rstr = box(k, 3, 2, 1), rstr_x = box(k, 3, 1, 3), rstr_f = strided(k, 8, 1, 2);
  CeedBasis basis = lagrange(k, 3, 1, 3, 4, CEED_GAUSS), basis_x = lagrange(k, 3, 3, 2, 4, CEED_GAUSS);
  CeedBasis *basis_f = &k->basis[k->num_basis++];

  NOTE_OK(CeedBasisCreateTensorH1(k->ceed, 3, 2, 1, 4, ones, zeros, zeros, ones, basis_f));
  const Field fields[] = {ACTIVE("du", GRAD, rstr, basis),
                          PASSIVE("x", INTERP, rstr_x, basis_x, vector(k, 81)),
                          PASSIVE("dx", GRAD, rstr_x, basis_x, k->vec[k->num_vec - 1]),
                          PASSIVE("f", INTERP, rstr_f, *basis_f, vector(k, 16)),
                          WEIGHTS(basis_x),
                          ACTIVE("dv", GRAD, rstr, basis)};

  (void)s;
  set_function(k, 1, gen_source, 5, 1, fields);
}

static inline void set_triangles(Kit *k, const Shape *s) {
  CeedElemRestriction rstr = strided(k, 4, DENSE_P, 2), rstr_q = strided(k, 4, DENSE_Q, 1);
  CeedBasis basis = dense(k, CeedBasisCreateH1, CEED_TOPOLOGY_TRIANGLE, 2);
  const Field fields[] = {ACTIVE("u", INTERP, rstr, basis), ACTIVE("du", GRAD, rstr, basis), WEIGHTS(basis),
                          DATA("q", rstr_q, vector(k, 16)), ACTIVE("dv", GRAD, rstr, basis)};

  (void)s;
  set_function(k, 1, gen_source, 4, 1, fields);
}

// Ten nodes and six points; the exchange of the first two directions swaps neighbours, but for the last two
// of each.
static inline CeedInt image_of(CeedInt i, CeedInt n) { return i < n - 2 ? i ^ 1 : i; }

static inline CeedBasis symmetric(Kit *k) {
  enum { P = 10, Q = 6 };
  CeedBasis *basis = &k->basis[k->num_basis++];
  CeedScalar interp[Q * P], grad[2 * Q * P];

  for (CeedInt q = 0; q < Q; q++) {
    for (CeedInt p = 0; p < P; p++) {
      const CeedInt s = image_of(q, Q), r = image_of(p, P);
      interp[q * P + p] = 1 / (CeedScalar)(1 + q * P + p) + 1 / (CeedScalar)(1 + s * P + r);
      grad[q * P + p] = grad[(Q + s) * P + r] = 1 / (CeedScalar)(2 + q * P + p);
    }
  }
  NOTE_OK(CeedBasisCreateH1(k->ceed, CEED_TOPOLOGY_TRIANGLE, 1, P, Q, interp, grad, NULL, NULL, basis));
  return *basis;
}

static inline void set_even_odd(Kit *k, const Shape *s) {
  CeedElemRestriction rstr = strided(k, 4, 10, 1), rstr_q = strided(k, 4, 6, 1);
  CeedBasis basis = symmetric(k);
  const Field fields[] = {ACTIVE("u", INTERP, rstr, basis), ACTIVE("du", GRAD, rstr, basis),
                          DATA("q", rstr_q, vector(k, 24)), ACTIVE("dv", GRAD, rstr, basis)};

  (void)s;
  set_function(k, 1, gen_source, 3, 1, fields);
}

// Hexahedra of order 2: 54 nodes, three blocks of 2 x 3 x 3, 3 x 2 x 3 and 3 x 3 x 2.
static inline void set_discontinuous_nedelec(Kit *k, const Shape *s) {
  CeedElemRestriction rstr = strided(k, 4, 54, 1), rstr_q = strided(k, 4, 27, 1);
  CeedBasis *basis = &k->basis[k->num_basis++];

  NOTE_OK(RitzBasisCreateTensorHcurl(k->ceed, 3, 1, 2, 3, CEED_GAUSS, basis));
  const Field fields[] = {ACTIVE("u", INTERP, rstr, *basis), ACTIVE("curl u", CURL, rstr, *basis),
                          DATA("q", rstr_q, vector(k, 108)), WEIGHTS(*basis),
                          ACTIVE("v", INTERP, rstr, *basis), ACTIVE("curl v", CURL, rstr, *basis)};
  (void)s;
  set_function(k, 1, gen_source, 4, 2, fields);
}

// Fewer points than nodes, and a passive output.
static inline void set_fewer_points(Kit *k, const Shape *s) {
  CeedElemRestriction rstr = box(k, 2, 3, 1), rstr_q = strided(k, 4, 9, 2);
  CeedBasis basis = lagrange(k, 2, 1, 4, 3, CEED_GAUSS);
  const Field fields[] = {ACTIVE("du", GRAD, rstr, basis), ACTIVE("dv", GRAD, rstr, basis),
                          DATA("flux", rstr_q, vector(k, 100))};

  (void)s;
  set_function(k, 1, gen_source, 1, 2, fields);
}

// Coordinates of degree one at fewer points than nodes: a form, whatever the route of their basis.
static inline void set_one_point(Kit *k, const Shape *s) {
  CeedElemRestriction rstr = box(k, 2, 1, 1), rstr_x = box(k, 2, 1, 2);
  CeedBasis basis = lagrange(k, 2, 1, 2, 1, CEED_GAUSS), basis_x = lagrange(k, 2, 2, 2, 1, CEED_GAUSS);
  CeedVector x = vector(k, 18);
  const Field fields[] = {ACTIVE("du", GRAD, rstr, basis), PASSIVE("x", INTERP, rstr_x, basis_x, x),
                          PASSIVE("dx", GRAD, rstr_x, basis_x, x), ACTIVE("dv", GRAD, rstr, basis)};

  (void)s;
  set_function(k, 1, gen_source, 3, 1, fields);
}

// At points of each element's own: a field of the nodes to the points, from the points, or both.
static inline void set_at_points(Kit *k, const Shape *s, PointsKind kind) {
  const PointsShape shape = {.n = 2,
                             .degree = s->P - 1,
                             .num_comp = s->num_comp,
                             .per_cell = 9,
                             .mode = s->is_gradient ? CEED_EVAL_GRAD : CEED_EVAL_INTERP};
  PointsProblem p = {.op = NULL};

  NOTE_OK(points_problem_create(k->ceed, &shape, kind, &p));
  k->op = p.op;
  p.op = NULL;
  points_problem_destroy(&p);
}

static inline void set_interpolation(Kit *k, const Shape *s) { set_at_points(k, s, POINTS_INTERPOLATE); }
static inline void set_deposit(Kit *k, const Shape *s) { set_at_points(k, s, POINTS_DEPOSIT); }
static inline void set_both_at_points(Kit *k, const Shape *s) { set_at_points(k, s, POINTS_BOTH); }

// ---- Cases ----

typedef enum {
  ACTION_APPLY,
  ACTION_STEPS, // of operators at points, which have no text
  ACTION_DIAGONAL,
  ACTION_POINT_BLOCKS, // a column
  ACTION_MATRIX,       // element matrices of the first groups of active fields
  ACTION_BATCHED,
  ACTION_PATCHES
} Action;

typedef struct {
  const char *name;
  Action action;
  CeedInt lanes; // 0: 8
  // Operators.
  void (*set)(Kit *k, const Shape *shape);
  Shape shape;
  int floats;
  bool calls_pointer; // to the QFunction; else its text is part of the kernel's
  // Batches of matrices.
  RitzBatchedOperation operation;
  RitzBatchedText which;
  RitzBatchedOptions options;
  // Sweeps over patches.
  PatchCase box;
  bool is_scattered;
} CpuCase;

// Named initializers: dimension, nodes a direction, components.
#define MASS(d, p, nc)                                                                                       \
  { .dim = d, .P = p, .Q = (p) + 1, .num_comp = nc }
#define DIFFUSION(d, p, nc)                                                                                  \
  { .dim = d, .P = p, .Q = (p) + 1, .num_comp = nc, .is_gradient = true }
#define COLLOCATED(d, p, nc)                                                                                 \
  { .dim = d, .P = p, .Q = p, .num_comp = nc, .is_gradient = true, .mode = CEED_GAUSS_LOBATTO }
#define NEDELEC(d, order, q)                                                                                 \
  { .dim = d, .P = order, .Q = q }
// Elements of degree p - 1 with quadrature of degree q.
#define LAGRANGE(shape, d, p, q, nc, gradient)                                                               \
  { .dim = d, .P = p, .Q = q, .num_comp = nc, .is_gradient = gradient, .topology = CEED_TOPOLOGY_##shape }

#define STEPS        .action = ACTION_STEPS
#define DIAGONAL     .action = ACTION_DIAGONAL
#define POINT_BLOCKS .action = ACTION_POINT_BLOCKS
#define MATRIX       .action = ACTION_MATRIX
#define BATCHED(op)  .action = ACTION_BATCHED, .operation = RITZ_BATCHED_##op
#define PATCHES      .action = ACTION_PATCHES
#define LAYOUT(m_, n_)                                                                                       \
  { .precision = CEED_SCALAR_FP64, .m = (m_), .n = (n_) }
#define FLOATS(m_, n_)                                                                                       \
  { .precision = CEED_SCALAR_FP32, .m = (m_), .n = (n_) }
#define FIXED .is_fixed = {{true, true}, {true, true}, {true, true}} // all sides

static const CpuCase cases[] = {
    // Applies: routes of bases, gathers, data at the points.
    {.name = "mass-degree2", .set = set_packed, .shape = MASS(3, 3, 1)},
    {.name = "diffusion-degree4", .set = set_packed, .shape = DIFFUSION(3, 5, 1)},
    {.name = "collocated-degree3", .set = set_packed, .shape = COLLOCATED(3, 4, 3)},
    {.name = "mixed", .set = set_stokes},
    {.name = "dense", .set = set_triangles},
    {.name = "even-odd", .set = set_even_odd},
    {.name = "oriented", .set = set_hdiv},
    {.name = "nedelec", .set = set_discontinuous_nedelec},
    {.name = "reduced", .set = set_fewer_points},
    {.name = "pointer", .set = set_packed, .shape = DIFFUSION(3, 5, 1), .calls_pointer = true},
    {.name = "trilinear", .set = set_coordinates},
    {.name = "one-point", .set = set_one_point},
    {.name = "bp1-degree1", .set = set_packed, .shape = MASS(3, 2, 1)},
    {.name = "bp1-degree7", .set = set_packed, .shape = MASS(3, 8, 1)},
    {.name = "bp2-degree4", .set = set_packed, .shape = MASS(3, 5, 3)},
    {.name = "bp3-degree1", .set = set_packed, .shape = DIFFUSION(3, 2, 1)},
    {.name = "bp3-degree9", .set = set_packed, .shape = DIFFUSION(3, 10, 1)},
    {.name = "bp4-degree3", .set = set_packed, .shape = DIFFUSION(3, 4, 3)},
    {.name = "bp5-degree7", .set = set_packed, .shape = COLLOCATED(3, 8, 1)},
    {.name = "line", .set = set_packed, .shape = DIFFUSION(1, 4, 1)},
    {.name = "line-mass", .set = set_stored, .shape = MASS(1, 3, 2)},
    {.name = "quadrilateral", .set = set_packed, .shape = DIFFUSION(2, 5, 1)},
    {.name = "quadrilateral-vector", .set = set_stored, .shape = MASS(2, 3, 2)},
    {.name = "quadrilateral-collocated", .set = set_packed, .shape = COLLOCATED(2, 6, 1)},
    {.name = "coordinates-quadrilateral", .set = set_trilinear, .shape = DIFFUSION(2, 4, 1)},
    {.name = "coordinates-mass", .set = set_trilinear, .shape = MASS(3, 6, 1)},
    {.name = "affine", .set = set_affine, .shape = DIFFUSION(3, 4, 1)},
    {.name = "coefficient", .set = set_coefficient, .shape = DIFFUSION(3, 4, 1)},
    {.name = "factors", .set = set_factors, .shape = DIFFUSION(3, 3, 3)},
    {.name = "mixed-hexahedron", .set = set_mixed, .shape = DIFFUSION(3, 4, 3)},
    {.name = "tensor-and-dense", .set = set_both, .shape = DIFFUSION(2, 3, 1)},
    {.name = "strided", .set = set_strided, .shape = DIFFUSION(3, 4, 2)},
    {.name = "signed-box", .set = set_oriented, .shape = MASS(3, 3, 1)},
    {.name = "curl-oriented", .set = set_curl_oriented, .shape = MASS(2, 4, 1)},
    {.name = "context", .set = set_writable, .shape = MASS(3, 4, 1)},
    {.name = "two-lanes", .lanes = 2, .set = set_packed, .shape = DIFFUSION(3, 3, 1)},
    {.name = "one-lane", .lanes = 1, .set = set_trilinear, .shape = DIFFUSION(2, 3, 1)},
    // Applies: other shapes, vector bases, points.
    {.name = "triangle", .set = set_lagrange, .shape = LAGRANGE(TRIANGLE, 2, 4, 6, 1, true)},
    {.name = "tetrahedron", .set = set_lagrange, .shape = LAGRANGE(TET, 3, 3, 4, 1, true)},
    {.name = "tetrahedron-vector", .set = set_lagrange, .shape = LAGRANGE(TET, 3, 2, 2, 3, false)},
    {.name = "pyramid", .set = set_lagrange, .shape = LAGRANGE(PYRAMID, 3, 3, 4, 1, true)},
    {.name = "prism", .set = set_lagrange, .shape = LAGRANGE(PRISM, 3, 3, 4, 1, true)},
    {.name = "prism-mass", .set = set_lagrange, .shape = LAGRANGE(PRISM, 3, 2, 2, 3, false)},
    {.name = "hexahedron", .set = set_lagrange, .shape = LAGRANGE(HEX, 3, 3, 4, 1, true)},
    {.name = "nedelec-quadrilateral", .set = set_nedelec, .shape = NEDELEC(2, 3, 5)},
    {.name = "nedelec-hexahedron", .set = set_nedelec, .shape = NEDELEC(3, 2, 3)},
    {.name = "raviart-thomas-quadrilateral", .set = set_raviart_thomas, .shape = NEDELEC(2, 2, 3)},
    {.name = "raviart-thomas-hexahedron", .set = set_raviart_thomas, .shape = NEDELEC(3, 3, 4)},
    {.name = "at-points-values", STEPS, .set = set_interpolation, .shape = MASS(3, 3, 1)},
    {.name = "at-points-gradients", STEPS, .set = set_interpolation, .shape = DIFFUSION(3, 4, 1)},
    {.name = "at-points-deposit", STEPS, .set = set_deposit, .shape = MASS(3, 3, 3)},
    {.name = "at-points-both", STEPS, .set = set_both_at_points, .shape = MASS(3, 2, 3)},
    // Diagonals, columns of point blocks.
    {.name = "diagonal-line", DIAGONAL, .set = set_packed, .shape = DIFFUSION(1, 4, 1)},
    {.name = "diagonal-quadrilateral", DIAGONAL, .set = set_trilinear, .shape = DIFFUSION(2, 4, 1)},
    {.name = "diagonal-mass", DIAGONAL, .set = set_packed, .shape = MASS(3, 4, 1)},
    {.name = "diagonal-diffusion", DIAGONAL, .set = set_packed, .shape = DIFFUSION(3, 4, 3)},
    {.name = "diagonal-collocated", DIAGONAL, .set = set_packed, .shape = COLLOCATED(3, 6, 1)},
    {.name = "diagonal-coefficient", DIAGONAL, .set = set_coefficient, .shape = DIFFUSION(3, 5, 1)},
    {.name = "diagonal-mixed", DIAGONAL, .set = set_stokes},
    {.name = "diagonal-signed", DIAGONAL, .set = set_oriented, .shape = MASS(3, 3, 1)},
    {.name = "point-blocks-quadrilateral", POINT_BLOCKS, .set = set_packed, .shape = MASS(2, 3, 2)},
    {.name = "point-blocks-hexahedron", POINT_BLOCKS, .set = set_packed, .shape = DIFFUSION(3, 3, 3)},
    {.name = "point-blocks-mixed", POINT_BLOCKS, .set = set_stokes},
    // Element matrices.
    {.name = "matrix-line", MATRIX, .set = set_packed, .shape = DIFFUSION(1, 4, 1)},
    {.name = "matrix-quadrilateral", MATRIX, .set = set_packed, .shape = DIFFUSION(2, 4, 1)},
    {.name = "matrix-quadrilateral-vector", MATRIX, .set = set_trilinear, .shape = DIFFUSION(2, 3, 2)},
    {.name = "matrix-mass", MATRIX, .set = set_packed, .shape = MASS(3, 4, 1)},
    {.name = "matrix-diffusion", MATRIX, .set = set_packed, .shape = DIFFUSION(3, 3, 3)},
    {.name = "matrix-mixed", MATRIX, .set = set_stokes},
    {.name = "matrix-triangle", MATRIX, .set = set_lagrange, .shape = LAGRANGE(TRIANGLE, 2, 3, 4, 1, true)},
    {.name = "matrix-tetrahedron", MATRIX, .set = set_lagrange, .shape = LAGRANGE(TET, 3, 2, 2, 3, true)},
    {.name = "matrix-pyramid", MATRIX, .set = set_lagrange, .shape = LAGRANGE(PYRAMID, 3, 2, 2, 1, true)},
    {.name = "matrix-prism", MATRIX, .set = set_lagrange, .shape = LAGRANGE(PRISM, 3, 3, 4, 1, false)},
    {.name = "matrix-hdiv", MATRIX, .set = set_hdiv},
    {.name = "matrix-nedelec", MATRIX, .set = set_nedelec, .shape = NEDELEC(3, 1, 2)},
    // Batches of matrices.
    {.name = "batched-gemm",
     BATCHED(GEMM),
     .options = {.A = LAYOUT(5, 7), .B = LAYOUT(7, 3), .C = LAYOUT(5, 3)}},
    {.name = "batched-gemv",
     BATCHED(GEMV),
     .options = {.A = LAYOUT(6, 4), .B = LAYOUT(4, 1), .C = LAYOUT(6, 1)}},
    {.name = "batched-potrf", BATCHED(POTRF), .options = {.A = LAYOUT(9, 9)}},
    {.name = "batched-getrf", BATCHED(GETRF), .options = {.A = LAYOUT(8, 6)}},
    {.name = "batched-getrs", BATCHED(GETRS), .options = {.A = LAYOUT(8, 8), .B = LAYOUT(8, 2)}},
    {.name = "batched-inv", BATCHED(INV), .options = {.A = LAYOUT(4, 4), .B = LAYOUT(4, 4)}},
    {.name = "batched-trsm",
     BATCHED(TRSM),
     .options = {.side = RITZ_SIDE_RIGHT, .A = LAYOUT(3, 3), .B = LAYOUT(5, 3)}},
    {.name = "batched-syrk", BATCHED(SYRK), .options = {.A = LAYOUT(6, 2), .B = LAYOUT(6, 6)}},
    {.name = "batched-symm",
     BATCHED(SYMM),
     .options = {.A = LAYOUT(5, 5), .B = LAYOUT(5, 4), .C = LAYOUT(5, 4)}},
    {.name = "batched-trmm", BATCHED(TRMM), .options = {.A = LAYOUT(4, 4), .B = LAYOUT(4, 7)}},
    {.name = "batched-gesv", BATCHED(GESV), .options = {.A = LAYOUT(6, 6), .B = LAYOUT(6, 1)}},
    {.name = "batched-posv", BATCHED(POSV), .options = {.A = LAYOUT(6, 6), .B = LAYOUT(6, 2)}},
    {.name = "batched-geqrf", BATCHED(GEQRF), .options = {.A = LAYOUT(7, 4), .B = LAYOUT(4, 1)}},
    {.name = "batched-ormqr",
     BATCHED(ORMQR),
     .options = {.A = LAYOUT(6, 3), .B = LAYOUT(3, 1), .C = LAYOUT(6, 2)}},
    {.name = "batched-orgqr", BATCHED(ORGQR), .options = {.A = LAYOUT(6, 4), .B = LAYOUT(3, 1)}},
    {.name = "batched-gels", BATCHED(GELS), .options = {.A = LAYOUT(8, 5), .B = LAYOUT(8, 2)}},
    {.name = "batched-classes",
     BATCHED(GETRF),
     .which = RITZ_BATCHED_OF_CLASSES,
     .options = {.A = LAYOUT(12, 12)}},
    {.name = "batched-large",
     BATCHED(POTRF),
     .which = RITZ_BATCHED_OF_LARGE,
     .options = {.A = LAYOUT(200, 200)}},
    {.name = "batched-single",
     BATCHED(GEMM),
     .lanes = 16,
     .options = {.A = FLOATS(4, 4), .B = FLOATS(4, 4), .C = FLOATS(4, 4)}},
    // Sweeps over vertex patches.
    {.name = "patches-quadrilaterals",
     PATCHES,
     .box = {.dim = 2, .degree = 3, .num_comp = 1, .cells = {6, 5}, FIXED, .factor = {1, 2}}},
    {.name = "patches-hexahedra",
     PATCHES,
     .box = {.dim = 3, .degree = 2, .num_comp = 1, .cells = {4, 4, 4}, FIXED, .factor = {1, 1, 1}}},
    {.name = "patches-scattered",
     PATCHES,
     .is_scattered = true,
     .box = {.dim = 3, .degree = 3, .num_comp = 1, .cells = {4, 4, 4}, FIXED, .factor = {1, 1, 1}}},
    {.name = "patches-residual",
     PATCHES,
     .box = {.dim = 3,
             .degree = 4,
             .num_comp = 1,
             .cells = {3, 3, 3},
             FIXED,
             .factor = {1, 1, 1},
             .form = RITZ_PATCH_RESIDUAL}},
    {.name = "patches-boundary",
     PATCHES,
     .box = {.dim = 2,
             .degree = 2,
             .num_comp = 2,
             .cells = {3, 3},
             FIXED,
             .factor = {1, 1},
             .form = RITZ_PATCH_BOUNDARY}},
    {.name = "patches-graded",
     PATCHES,
     .box = {.dim = 3,
             .degree = 2,
             .num_comp = 3,
             .cells = {3, 4, 3},
             .is_graded = true,
             .factor = {1, 1, 1, 1}}},
    {.name = "patches-single",
     PATCHES,
     .lanes = 16,
     .box = {.dim = 3,
             .degree = 2,
             .num_comp = 1,
             .cells = {4, 4, 4},
             FIXED,
             .factor = {1, 1, 1},
             .precision = CEED_SCALAR_FP32}},
    // Single precision of operators in a library of double precision.
    {.name = "single",
     .set = set_packed,
     .shape = MASS(3, 3, 1),
     .floats = FLOAT_ARITHMETIC | FLOAT_IN | FLOAT_OUT},
    {.name = "single-diffusion",
     .lanes = 16,
     .set = set_packed,
     .shape = DIFFUSION(3, 5, 1),
     .floats = FLOAT_ALL},
    {.name = "single-collocated",
     .lanes = 16,
     .set = set_packed,
     .shape = COLLOCATED(3, 4, 3),
     .floats = FLOAT_ALL},
    {.name = "single-vectors", .set = set_packed, .shape = DIFFUSION(3, 4, 1), .floats = FLOAT_VECTORS},
    {.name = "single-arithmetic",
     .lanes = 16,
     .set = set_trilinear,
     .shape = DIFFUSION(3, 3, 1),
     .floats = FLOAT_ARITHMETIC},
    {.name = "single-quadrilateral",
     .lanes = 16,
     .set = set_packed,
     .shape = MASS(2, 3, 2),
     .floats = FLOAT_ALL},
    {.name = "single-tetrahedron",
     .lanes = 16,
     .set = set_lagrange,
     .shape = LAGRANGE(TET, 3, 3, 4, 1, true),
     .floats = FLOAT_ALL},
    {.name = "single-nedelec",
     .lanes = 16,
     .set = set_nedelec,
     .shape = NEDELEC(3, 1, 2),
     .floats = FLOAT_ALL},
    {.name = "single-diagonal",
     DIAGONAL,
     .lanes = 16,
     .set = set_packed,
     .shape = DIFFUSION(3, 4, 1),
     .floats = FLOAT_ALL},
    {.name = "single-point-blocks",
     POINT_BLOCKS,
     .lanes = 16,
     .set = set_packed,
     .shape = MASS(3, 3, 3),
     .floats = FLOAT_ALL},
    {.name = "single-matrix", MATRIX, .set = set_packed, .shape = DIFFUSION(2, 3, 1), .floats = FLOAT_ALL},
};
enum {
  NUM_SINGLE = 11, // the last ones
  NUM_CASES = sizeof(cases) / sizeof(cases[0]) - (sizeof(CeedScalar) == sizeof(float) ? NUM_SINGLE : 0)
};

// ---- Texts ----

static inline bool is_operator(const CpuCase *c) { return c->action < ACTION_BATCHED; }

static inline Machine machine_of(const CpuCase *c) {
  return (Machine){.lanes = c->lanes ? c->lanes : 8,
                   .allows_text = !c->calls_pointer,
                   .allows_simple_inputs = true,
                   .allows_even_odd = true,
                   .allows_points = true};
}

// Operator, plan and target of a case.
static inline void plan_case(Kit *k, const CpuCase *c) {
  const Machine machine = machine_of(c);

  c->set(k, &c->shape);
  if (tap_failed()) return;
  if (c->floats) set_precision(k, c->floats);
  make_plan(k, &machine, find_rows);
}

static inline int emit_diagonal(const Kit *k, bool is_column, char **text) {
  RitzBlockNodes nodes;
  RitzDiagonalPlan *diagonal = NULL;
  RitzCpuTarget *target = NULL;
  const char *reason = NULL;
  int ierr = (is_column ? ritz_plan_refuse_point_blocks : ritz_plan_refuse_diagonal)(k->op, &reason);

  if (reason) tap_note("no kernel: %s", reason);
  if (ierr || reason) return ierr;
  ierr = is_column ? ritz_plan_point_blocks(k->op, k->plan, &diagonal, &nodes)
                   : ritz_plan_diagonal(k->op, k->plan, &diagonal);
  if (!ierr) ierr = ritz_plan_cpu_diagonal(k->ceed, diagonal, k->target, &target);
  if (!ierr) ierr = ritz_emit_cpu_diagonal(k->ceed, diagonal, target, text);
  ritz_plan_cpu_free(&target);
  ritz_plan_free_diagonal(&diagonal);
  return ierr;
}

static inline int emit_matrix(const Kit *k, char **text) {
  CeedOperatorAssemblyData data;
  RitzMatrixPlan *matrix = NULL;
  RitzCpuTarget *target = NULL;
  int ierr = CeedOperatorGetOperatorAssemblyData(k->op, &data);
  const char *reason = ierr ? NULL : ritz_plan_refuse_matrix(k->op, 0, 0);

  if (reason) tap_note("no kernel: %s", reason);
  if (ierr || reason) return ierr;
  ierr = ritz_plan_matrix(k->op, k->plan, 0, 0, &matrix);
  if (!ierr) ierr = ritz_plan_cpu_diagonal(k->ceed, &matrix->units, k->target, &target);
  if (!ierr) ierr = ritz_emit_cpu_matrix(k->ceed, matrix, target, text);
  ritz_plan_cpu_free(&target);
  ritz_plan_free_matrix(&matrix);
  return ierr;
}

// The list of steps of an apply, which the ahead-of-time kernel walks.
static inline int print_steps(const Kit *k, char **text) {
  char *print = NULL;
  size_t length = 0;
  FILE *stream = open_memstream(&print, &length);
  int ierr = ritz_plan_cpu_print_steps(k->plan, k->target, stream);

  fclose(stream);
  if (!ierr) ierr = ritz_strdup(k->ceed, print, text);
  free(print);
  return ierr;
}

// Of the action of a case, from the plan of its operator.
static inline int emit_plan(const Kit *k, Action action, char **text) {
  if (action == ACTION_STEPS) return print_steps(k, text);
  if (action == ACTION_APPLY) return ritz_emit_cpu(k->ceed, k->plan, k->target, text);
  if (action == ACTION_MATRIX) return emit_matrix(k, text);
  return emit_diagonal(k, action == ACTION_POINT_BLOCKS, text);
}

static inline int emit_batched(Ceed ceed, const CpuCase *c, char **text) {
  RitzBatched batched = NULL;
  int ierr = RitzBatchedCreate(ceed, c->operation, &c->options, &batched);

  if (!ierr) ierr = ritz_emit_cpu_batched(batched, c->which, machine_of(c).lanes, text);
  RitzBatchedDestroy(&batched);
  return ierr;
}

static inline int emit_patches(Ceed ceed, const CpuCase *c, char **text) {
  RitzPatchBox box;
  int ierr = patch_box(ceed, &c->box, &box);

  if (ierr) return ierr;
  ierr = ritz_emit_cpu_patch(ceed, &box, machine_of(c).lanes, c->is_scattered, text);
  ritz_patch_box_clear(&box);
  return ierr;
}

// Paths in a text begin in the top folder, wherever that is.
static inline void forget_folder(char *text) {
  char folder[1200];

  if (!text || !getcwd(folder, sizeof(folder) - 1)) return;
  strcat(folder, "/");
  for (char *at = strstr(text, folder); at; at = strstr(at, folder))
    memmove(at, at + strlen(folder), strlen(at + strlen(folder)) + 1);
}

// The text of a case, owned by the caller (RITZ_FREE); NULL on failure and where there is no such kernel.
static inline char *make_cpu_text(const CpuCase *c) {
  char *text = NULL;
  Kit k = kit_open();

  if (is_operator(c)) {
    plan_case(&k, c);
    if (!tap_failed()) NOTE_OK(emit_plan(&k, c->action, &text));
  } else {
    NOTE_OK((c->action == ACTION_BATCHED ? emit_batched : emit_patches)(k.ceed, c, &text));
  }
  kit_close(&k);
  forget_folder(text);
  return text;
}

#endif
