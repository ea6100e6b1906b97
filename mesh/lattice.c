// SPDX-License-Identifier: BSD-2-Clause
// Walks over the lattice of an element's nodes (contract in mesh/lattice.h).
#include "mesh/lattice.h"

// The last j of layer k. Layers of a tetrahedron or pyramid are triangles or squares of degree p - k.
static int64_t last_row(CeedElemTopology topology, int64_t p, int64_t k) {
  bool is_narrowing = topology == CEED_TOPOLOGY_TET || topology == CEED_TOPOLOGY_PYRAMID;

  return topology == CEED_TOPOLOGY_LINE ? 0 : is_narrowing ? p - k : p;
}

// The last i of row j of layer k.
static int64_t last_in_row(CeedElemTopology topology, int64_t p, int64_t j, int64_t k) {
  switch (topology) {
  case CEED_TOPOLOGY_TRIANGLE:
  case CEED_TOPOLOGY_PRISM: return p - j;
  case CEED_TOPOLOGY_TET: return p - j - k;
  case CEED_TOPOLOGY_PYRAMID: return p - k;
  default: return p;
  }
}

bool ritz_lattice_next(CeedElemTopology topology, int64_t p, int64_t at[3]) {
  if (at[0]++ < last_in_row(topology, p, at[1], at[2])) return true;
  at[0] = 0;
  if (at[1]++ < last_row(topology, p, at[2])) return true;
  at[1] = 0;
  return at[2]++ < (ritz_mesh_shape(topology)->dim == 3 ? p : 0);
}

bool ritz_lattice_is_inner(CeedElemTopology topology, int64_t p, const int64_t at[3]) {
  int dim = ritz_mesh_shape(topology)->dim;

  for (int d = 0; d < dim; d++) {
    if (at[d] == 0) return false;
  }
  if (at[0] == last_in_row(topology, p, at[1], at[2])) return false;
  if (topology == CEED_TOPOLOGY_TRIANGLE || topology == CEED_TOPOLOGY_TET) return true;
  if (dim > 1 && topology != CEED_TOPOLOGY_PRISM && at[1] == last_row(topology, p, at[2])) return false;
  return dim < 3 || at[2] < p;
}

// Coordinates in [-1,1] from the barycentric ones of the corners but the first.
static void place_simplex(int dim, int64_t p, const double *points, const int64_t *at, double *x) {
  double sum, part[3];
  int64_t rest = p;

  for (int d = 0; d < dim; d++) rest -= at[d];
  sum = 1 + points[rest];
  for (int d = 0; d < dim; d++) {
    part[d] = 1 + points[at[d]];
    sum += part[d];
  }
  for (int d = 0; d < dim; d++) x[d] = 2 * part[d] / sum - 1;
}

static void lattice_index(CeedElemTopology topology, int64_t p, const double *points, const int64_t at[3],
                          double *x) {
  int dim = ritz_mesh_shape(topology)->dim;

  switch (topology) {
  case CEED_TOPOLOGY_TRIANGLE:
  case CEED_TOPOLOGY_TET: place_simplex(dim, p, points, at, x); break;
  case CEED_TOPOLOGY_PRISM:
    place_simplex(2, p, points, at, x);
    x[2] = points[at[2]];
    break;
  case CEED_TOPOLOGY_PYRAMID:
    for (int d = 0; d < 2; d++) x[d] = (double)(2 * at[d] + at[2] - p) / (double)p;
    x[2] = (double)(2 * at[2] - p) / (double)p;
    break;
  default:
    for (int d = 0; d < dim; d++) x[d] = points[at[d]];
  }
}

void ritz_lattice_place(CeedElemTopology topology, int p, const double *points, double *positions) {
  int64_t at[3] = {0, 0, 0};

  do {
    lattice_index(topology, p, points, at, positions);
    positions += ritz_mesh_shape(topology)->dim;
  } while (ritz_lattice_next(topology, p, at));
}

// ---- Orders of nodes in files ----

// a + m (b - a) / n, for b at n steps from a.
static RitzLatticePoint step_along(RitzLatticePoint a, RitzLatticePoint b, int64_t m, int64_t n) {
  RitzLatticePoint point = a;

  for (int d = 0; d < 3; d++) point.at[d] += (b.at[d] - a.at[d]) / n * m;
  return point;
}

void ritz_lattice_walk_point(RitzLatticeWalk *walk, RitzLatticePoint point) {
  *walk->next++ = ritz_mesh_lattice_index(walk->topology, walk->p, point.at);
}

void ritz_lattice_walk_edge(RitzLatticeWalk *walk, RitzLatticePoint a, RitzLatticePoint b, int64_t n) {
  for (int64_t m = 1; m < n; m++) ritz_lattice_walk_point(walk, step_along(a, b, m, n));
}

void ritz_lattice_walk_face(RitzLatticeWalk *walk, int num_corners, const RitzLatticePoint *corners,
                            int64_t n) {
  int64_t inner = num_corners == 3 ? n - 3 : n - 2;
  RitzLatticePoint first = corners[0], shifted[4];

  if (inner < 0) return;
  for (int c = 0; c < num_corners; c++) {
    // One step along the first and the last edge leads to the new first corner, `inner` more to the others.
    bool is_along = c == 1 || (num_corners == 4 && c == 2);
    bool is_across = c == num_corners - 1 || (num_corners == 4 && c == 2);
    RitzLatticePoint along = step_along(first, corners[1], 1 + (is_along ? inner : 0), n);
    RitzLatticePoint across = step_along(first, corners[num_corners - 1], 1 + (is_across ? inner : 0), n);

    for (int d = 0; d < 3; d++) shifted[c].at[d] = along.at[d] + across.at[d] - first.at[d];
  }
  if (inner == 0) {
    ritz_lattice_walk_point(walk, shifted[0]);
    return;
  }
  for (int c = 0; c < num_corners; c++) ritz_lattice_walk_point(walk, shifted[c]);
  for (int c = 0; c < num_corners; c++)
    ritz_lattice_walk_edge(walk, shifted[c], shifted[(c + 1) % num_corners], inner);
  ritz_lattice_walk_face(walk, num_corners, shifted, inner);
}
