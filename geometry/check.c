// SPDX-License-Identifier: BSD-2-Clause
// Looks at every element before operators are made of it: coordinates are finite, det J is positive at max(g
// + 1, 3) Gauss-Lobatto points a direction, on other than tensor shapes at the nodes of degree max(g, 2), the
// corners among them. Called when a geometry is created.
#include <ceed/backend.h>
#include <math.h>
#include <stdlib.h>

#include "base/ranges.h"
#include "fe/fe.h"
#include "geometry/geometry.h"

typedef struct {
  CeedElemTopology topology;
  CeedInt dim, space_dim, P, Q; // nodes and points a direction, degrees plus one
  int64_t num_nodes, num_points;
  CeedBasis basis;                 // owned, tensor shapes
  const CeedScalar *interp, *grad; // borrowed from the basis, [Q][P]
  double *gradients;               // owned, other shapes: [dim][num_points][num_nodes]
  double *jacobian;                // owned, [dim][space_dim][num_points]
  double *work;                    // owned, the nodes; tensor shapes: three arrays of max(P,Q)^dim
} Checker;

// to [after][Q][before] = M from [after][P][before]
static void contract_table(const Checker *c, const CeedScalar *M, int64_t before, int64_t after,
                           const double *from, double *to) {
  for (int64_t a = 0; a < after; a++) {
    for (CeedInt q = 0; q < c->Q; q++) {
      for (int64_t b = 0; b < before; b++) {
        double sum = 0;

        for (CeedInt p = 0; p < c->P; p++) sum += (double)M[q * c->P + p] * from[(a * c->P + p) * before + b];
        to[(a * c->Q + q) * before + b] = sum;
      }
    }
  }
}

static void differentiate_by_table(const Checker *c, int direction, double *result) {
  const double *gradient = c->gradients + direction * c->num_points * c->num_nodes;

  for (int64_t q = 0; q < c->num_points; q++) {
    result[q] = 0;
    for (int64_t i = 0; i < c->num_nodes; i++) result[q] += gradient[q * c->num_nodes + i] * c->work[i];
  }
}

static void differentiate_by_lines(const Checker *c, int direction, double *result) {
  const int64_t size = ritz_power(c->P > c->Q ? c->P : c->Q, c->dim);
  double *from = c->work;

  for (int d = 0; d < c->dim; d++) {
    double *to = d == c->dim - 1 ? result : c->work + (1 + d % 2) * size;

    contract_table(c, d == direction ? c->grad : c->interp, ritz_power(c->Q, d),
                   ritz_power(c->P, c->dim - 1 - d), from, to);
    from = to;
  }
}

// Derivative of one component along a direction at all points, of the nodes in the first work array.
static void differentiate(const Checker *c, int direction, double *result) {
  (c->gradients ? differentiate_by_table : differentiate_by_lines)(c, direction, result);
}

// det J over the product of the lengths of J's columns: 1 for a box of any sides, 0 for a flat element.
typedef struct {
  double det, relative;
} Determinant;

static double length(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static Determinant find_determinant(const Checker *c, int64_t point) {
  double J[3][3] = {{0}}, normal[3], product = 1, det;

  for (int d = 0; d < c->dim; d++) {
    for (int x = 0; x < c->space_dim; x++)
      J[d][x] = c->jacobian[(d * c->space_dim + x) * c->num_points + point];
    product *= length(J[d]);
  }
  for (int x = 0; x < 3; x++) {
    const int y = (x + 1) % 3, z = (x + 2) % 3;
    normal[x] = J[0][y] * J[1][z] - J[0][z] * J[1][y];
  }
  if (c->dim == 1)
    det = c->space_dim == 1 ? J[0][0] : length(J[0]);
  else if (c->dim == 2)
    det = c->space_dim == 2 ? normal[2] : length(normal);
  else
    det = J[2][0] * normal[0] + J[2][1] * normal[1] + J[2][2] * normal[2];
  return (Determinant){det, product > 0 ? det / product : det};
}

// At the point where it is relatively smallest, or is no number, of the element with nodes x
// [num_nodes][space_dim].
static Determinant smallest_determinant(const Checker *c, const double *x) {
  Determinant smallest = {INFINITY, INFINITY};

  for (int component = 0; component < c->space_dim; component++) {
    for (int64_t i = 0; i < c->num_nodes; i++) c->work[i] = x[i * c->space_dim + component];
    for (int d = 0; d < c->dim; d++)
      differentiate(c, d, c->jacobian + (d * c->space_dim + component) * c->num_points);
  }
  for (int64_t i = 0; i < c->num_points && !isnan(smallest.relative); i++) {
    const Determinant here = find_determinant(c, i);
    if (!(here.relative >= smallest.relative)) smallest = here;
  }
  return smallest;
}

static const double least_determinant = 8 * CEED_EPSILON; // below is rounding

static bool is_sound(const Checker *c, const double *x) {
  for (int64_t i = 0; i < c->num_nodes * c->space_dim; i++) {
    if (!isfinite(x[i])) return false;
  }
  return smallest_determinant(c, x).relative > least_determinant;
}

// Says why an element is not sound.
static int refuse(const Checker *c, Ceed ceed, int64_t element, const double *x) {
  for (int64_t i = 0; i < c->num_nodes * c->space_dim; i++) {
    RITZ_REQUIRE(isfinite(x[i]), ceed, CEED_ERROR_MAJOR,
                 "RitzGeometryCreate: element %lld has a coordinate that is not finite", (long long)element);
  }
  const Determinant smallest = smallest_determinant(c, x);

  return CeedError(ceed, CEED_ERROR_MAJOR,
                   "RitzGeometryCreate: element %lld is %s: its smallest Jacobian determinant is %g",
                   (long long)element, smallest.relative < -least_determinant ? "inverted" : "flat",
                   smallest.det);
}

// ---- Points of a shape ----

static int create_lines(Checker *c, Ceed ceed) {
  c->num_nodes = ritz_power(c->P, c->dim);
  c->num_points = ritz_power(c->Q, c->dim);
  RITZ_TRY(RITZ_MALLOC(ceed, 3 * (size_t)ritz_power(c->P > c->Q ? c->P : c->Q, c->dim), &c->work));
  RITZ_TRY(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, c->P, c->Q, CEED_GAUSS_LOBATTO, &c->basis));
  RITZ_TRY(CeedBasisGetInterp1D(c->basis, &c->interp));
  return CeedBasisGetGrad1D(c->basis, &c->grad);
}

// Without the apex of a pyramid, the last node, where the gradient depends on the direction. Where elements
// are straight det J is the same all the way from the base to the apex.
static int create_table(Checker *c, Ceed ceed) {
  const int num_points = ritz_fe_shape_num_nodes(c->topology, c->Q - 1);
  double *points = NULL;

  c->num_nodes = ritz_fe_shape_num_nodes(c->topology, c->P - 1);
  c->num_points = num_points - (c->topology == CEED_TOPOLOGY_PYRAMID);
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)c->num_nodes, &c->work));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(c->dim * c->num_points * c->num_nodes), &c->gradients));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num_points * (size_t)c->dim, &points));
  int ierr = ritz_fe_shape_nodes(ceed, c->topology, c->Q - 1, points);

  if (!ierr) {
    ierr =
        ritz_fe_shape_lagrange(ceed, c->topology, c->P - 1, (int)c->num_points, points, NULL, c->gradients);
  }
  RITZ_FREE(&points);
  return ierr;
}

static int create_check_operator(Checker *c, Ceed ceed) {
  const bool is_tensor = c->topology == CEED_TOPOLOGY_LINE || c->topology == CEED_TOPOLOGY_QUAD ||
                         c->topology == CEED_TOPOLOGY_HEX;

  RITZ_TRY((is_tensor ? create_lines : create_table)(c, ceed));
  return RITZ_MALLOC(ceed, (size_t)(c->dim * c->space_dim * c->num_points), &c->jacobian);
}

static void clear_check(Checker *c) {
  CeedBasisDestroy(&c->basis);
  RITZ_FREE(&c->gradients);
  RITZ_FREE(&c->jacobian);
  RITZ_FREE(&c->work);
}

// ---- All elements ----

// The elements of a block, and the tables and findings of the threads.
typedef struct {
  int num_slots;
  Checker *checkers; // owned, [num_slots]
  int64_t *bad;      // owned, [num_slots]: the first element that is not sound, or -1
  const double *x;   // borrowed, [num_elem][num_nodes][space_dim]
} Check;

static void check_range(void *data, int slot, int64_t first, int64_t count) {
  const Check *check = data;
  const Checker *c = &check->checkers[slot];

  for (int64_t e = first; e < first + count && check->bad[slot] < 0; e++) {
    if (!is_sound(c, check->x + e * c->num_nodes * c->space_dim)) check->bad[slot] = e;
  }
}

static void clear_checkers(Check *check) {
  for (int slot = 0; slot < check->num_slots && check->checkers; slot++) clear_check(&check->checkers[slot]);
  RITZ_FREE(&check->checkers);
  RITZ_FREE(&check->bad);
}

static int create_checkers(const Checker *sizes, Ceed ceed, Check *check) {
  RITZ_TRY(ritz_run_ranges_slots(ceed, &check->num_slots));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)check->num_slots, &check->checkers));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)check->num_slots, &check->bad));
  for (int slot = 0; slot < check->num_slots; slot++) {
    check->checkers[slot] = *sizes;
    check->bad[slot] = -1;
    RITZ_TRY(create_check_operator(&check->checkers[slot], ceed));
  }
  return CEED_ERROR_SUCCESS;
}

static int check_block(const Checker *sizes, RitzMesh mesh, CeedInt block) {
  Ceed ceed = RitzMeshReturnCeed(mesh);
  Checker c = *sizes;
  Check check = {0};
  int64_t first = 0, num_elem = 0, bad = -1;

  RITZ_TRY(RitzMeshGetBlock(mesh, block, &c.topology, &first, &num_elem, NULL, &check.x));
  int ierr = create_checkers(&c, ceed, &check);

  if (!ierr) ierr = ritz_run_elements(ceed, num_elem, check_range, &check);
  for (int slot = 0; slot < check.num_slots && bad < 0 && !ierr; slot++) bad = check.bad[slot];
  if (bad >= 0) {
    const Checker *of = &check.checkers[0];
    ierr = refuse(of, ceed, first + bad, check.x + bad * of->num_nodes * of->space_dim);
  }
  clear_checkers(&check);
  return ierr;
}

// Whether the mesh is a box that planes cut into elements: distances of planes are far above the tolerance of
// that, so that all elements are sound.
static int check_planes(RitzMesh mesh, bool *is_sound) {
  double *planes[3] = {NULL};
  CeedInt n[3];
  int64_t elem = 0;

  RITZ_TRY(RitzMeshGetRectangularBox(mesh, is_sound, n, planes, &elem));
  for (int d = 0; d < 3; d++) {
    for (CeedInt i = 0; planes[d] && i < n[d]; i++)
      *is_sound &= planes[d][i + 1] - planes[d][i] > 1e-6 * (planes[d][n[d]] - planes[d][0]);
    free(planes[d]);
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_geometry_check(RitzMesh mesh) {
  CeedInt order = 0, num_blocks = 0;
  Checker c = {0};
  bool is_sound = false;

  RITZ_TRY(check_planes(mesh, &is_sound));
  if (is_sound) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RitzMeshGetDimensions(mesh, &c.dim, &c.space_dim));
  RITZ_TRY(RitzMeshGetGeometryOrder(mesh, &order));
  RITZ_TRY(RitzMeshGetNumBlocks(mesh, &num_blocks));
  c.P = order + 1;
  c.Q = c.P > 3 ? c.P : 3;
  for (CeedInt b = 0; b < num_blocks; b++) RITZ_TRY(check_block(&c, mesh, b));
  return CEED_ERROR_SUCCESS;
}
