// SPDX-License-Identifier: BSD-2-Clause
// The bake-off problems on tetrahedra: every box is cut into six along its diagonal, one for each order of
// the axes, so that faces of neighbours match. Nodes of degree p lie on the lattice of p n + 1 points a
// direction that hexahedra have; their positions in an element are those of the basis. Called by bp-problem.c
// and bp.c.
#include <stdlib.h>

#include "bench/bp-problem.h"

// Exact for mass matrices.
static CeedInt quad_degree(const BpResult *r) { return 2 * r->options.order; }

// ---- Bases ----

int bp_tet_create_basis(const BpProblem *p, CeedInt order, CeedInt num_comp, bool at_centre,
                        CeedBasis *basis) {
  return p->sizes->options.tets->create(p->ceed, CEED_TOPOLOGY_TET, num_comp, order,
                                        at_centre ? 1 : quad_degree(p->sizes), basis);
}

int bp_tet_count_points(Ceed ceed, const BpResult *r, CeedInt *num_points) {
  const BpProblem problem = {.ceed = ceed, .sizes = r};
  CeedBasis basis = NULL;

  BP_TRY(bp_tet_create_basis(&problem, 1, 1, false, &basis));
  int ierr = CeedBasisGetNumQuadraturePoints(basis, num_points);
  CeedBasisDestroy(&basis);
  return ierr;
}

int bp_tet_create_constant_basis(const BpProblem *p, CeedInt num_comp, CeedBasis *basis) {
  const CeedInt Q = p->sizes->num_points;
  CeedScalar *table = NULL; // interp [Q], grad [3][Q]

  BP_TRY(bp_allocate(p->ceed, 4 * (CeedSize)Q, sizeof(*table), &table));
  for (CeedInt q = 0; q < Q; q++) table[q] = 1;
  int ierr =
      CeedBasisCreateH1(p->ceed, CEED_TOPOLOGY_TET, num_comp, 1, Q, table, table + Q, NULL, NULL, basis);
  free(table);
  return ierr;
}

// ---- Mesh ----

// Corners of tetrahedron t of a box, [corner][direction], 0 or 1: from (0,0,0) along one axis after the other
// to (1,1,1). Where the order of the axes is odd two corners change places, so that volumes are positive.
static void find_corners(CeedInt t, CeedInt corner[4][3]) {
  static const int axes[BP_TETS][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  const bool is_odd = t >= BP_TETS / 2;

  for (int c = 0; c < 4; c++) {
    const int steps = is_odd && (c == 1 || c == 2) ? 3 - c : c;
    for (int d = 0; d < 3; d++) corner[c][d] = 0;
    for (int k = 0; k < steps; k++) corner[c][axes[t][k]] = 1;
  }
}

void bp_tet_lattice(const BpResult *r, CeedInt order, CeedInt e, CeedInt *nodes) {
  const CeedInt *n = r->elements, box = e / BP_TETS;
  const CeedInt first[3] = {box % n[0], box / n[0] % n[1], box / (n[0] * n[1])};
  CeedInt corner[4][3], size[3];

  bp_count_nodes(r, order, size);
  find_corners(e % BP_TETS, corner);
  for (CeedInt k = 0; k <= order; k++) {
    for (CeedInt j = 0; j <= order - k; j++) {
      for (CeedInt i = 0; i <= order - k - j; i++) {
        CeedInt at[3];
        for (int d = 0; d < 3; d++) {
          at[d] = order * first[d] + (order - i - j - k) * corner[0][d] + i * corner[1][d] +
                  j * corner[2][d] + k * corner[3][d];
        }
        *nodes++ = at[0] + size[0] * (at[1] + size[1] * at[2]);
      }
    }
  }
}

// Positions of the corners of element e.
static void find_vertices(const BpResult *r, CeedInt e, double vertex[4][3]) {
  const double ends[2] = {0, 1};
  CeedInt nodes[4];

  bp_tet_lattice(r, 1, e, nodes);
  for (int c = 0; c < 4; c++) bp_node_position(r, 1, ends, nodes[c], vertex[c]);
}

int bp_tet_node_positions(const BpProblem *p, CeedInt order, double *x) {
  const BpResult *r = p->sizes;
  CeedInt *nodes = NULL;
  double *reference = NULL; // [num_nodes][3] in [-1,1]

  BP_TRY(bp_allocate(p->ceed, r->num_nodes, sizeof(*nodes), &nodes));
  int ierr = bp_allocate(p->ceed, 3 * (CeedSize)r->num_nodes, sizeof(*reference), &reference);
  if (!ierr) ierr = r->options.tets->nodes(p->ceed, CEED_TOPOLOGY_TET, order, NULL, reference);
  for (CeedInt e = 0; e < r->num_elem && !ierr; e++) {
    double vertex[4][3];
    find_vertices(r, e, vertex);
    bp_tet_lattice(r, order, e, nodes);
    for (CeedInt i = 0; i < r->num_nodes; i++) {
      for (int d = 0; d < 3; d++) {
        double *to = &x[3 * (CeedSize)nodes[i] + d];
        *to = vertex[0][d];
        for (int k = 0; k < 3; k++) *to += (1 + reference[3 * i + k]) / 2 * (vertex[k + 1][d] - vertex[0][d]);
      }
    }
  }
  free(nodes);
  free(reference);
  return ierr;
}
