// SPDX-License-Identifier: BSD-2-Clause
// The bake-off problems on tetrahedra, prisms and pyramids, into which every box is cut so that faces of
// neighbours match: six tetrahedra along its diagonal, one for each order of the axes; two prisms along a
// diagonal of its bottom; six pyramids from its faces to its centre. Nodes of degree p lie on the lattice of
// p n + 1 points a direction that hexahedra have, those of pyramids inside a box on smaller ones around its
// centre; their positions in an element are those of the basis. Called by problem.c and bp.c.
#include <stdlib.h>

#include "bp/problem.h"

static CeedElemTopology topology_of(const BpResult *r) { return r->options.shape->topology; }

int bp_shape_elements(const BpShape *shape) { return shape->topology == CEED_TOPOLOGY_PRISM ? 2 : 6; }

int bp_shape_corners(const BpShape *shape) {
  return shape->topology == CEED_TOPOLOGY_TET ? 4 : shape->topology == CEED_TOPOLOGY_PYRAMID ? 5 : 6;
}

const char *bp_shape_name(const BpShape *shape) {
  return !shape                                     ? "hex"
         : shape->topology == CEED_TOPOLOGY_TET     ? "tet"
         : shape->topology == CEED_TOPOLOGY_PYRAMID ? "pyramid"
                                                    : "prism";
}

// Exact for mass matrices.
static CeedInt quad_degree(const BpResult *r) { return 2 * r->options.order; }

// ---- Bases ----

int bp_shape_create_basis(const BpProblem *p, CeedInt order, CeedInt num_comp, bool at_centre,
                          CeedBasis *basis) {
  return p->sizes->options.shape->create(p->ceed, topology_of(p->sizes), num_comp, order,
                                         at_centre ? 1 : quad_degree(p->sizes), basis);
}

int bp_shape_count(Ceed ceed, const BpResult *r, CeedInt *num_nodes, CeedInt *num_points) {
  const BpProblem problem = {.ceed = ceed, .sizes = r};
  CeedBasis basis = NULL;

  BP_TRY(r->options.shape->nodes(ceed, topology_of(r), r->options.order, num_nodes, NULL));
  BP_TRY(bp_shape_create_basis(&problem, 1, 1, false, &basis));
  int ierr = CeedBasisGetNumQuadraturePoints(basis, num_points);
  CeedBasisDestroy(&basis);
  return ierr;
}

int bp_shape_create_constant_basis(const BpProblem *p, CeedInt num_comp, CeedBasis *basis) {
  const CeedInt Q = p->sizes->num_points;
  CeedScalar *table = NULL; // interp [Q], grad [3][Q]

  BP_TRY(bp_allocate(p->ceed, 4 * (CeedSize)Q, sizeof(*table), &table));
  for (CeedInt q = 0; q < Q; q++) table[q] = 1;
  int ierr =
      CeedBasisCreateH1(p->ceed, topology_of(p->sizes), num_comp, 1, Q, table, table + Q, NULL, NULL, basis);
  free(table);
  return ierr;
}

// One by the volume of the reference element.
double bp_shape_inverse_volume(const BpShape *shape) {
  return shape->topology == CEED_TOPOLOGY_TET ? 0.75 : shape->topology == CEED_TOPOLOGY_PRISM ? 0.25 : 0.375;
}

// ---- Mesh ----

// Corner 0 of an element of a box and where its three directions lead from there: to corners 1, 2 and the
// first one above these. In halves of the box.
typedef struct {
  int corner[3], direction[3][3];
} Frame;

// From (0,0,0) along one axis after the other to (1,1,1). Where the order of the axes is odd two corners
// change places, so that volumes are positive.
static Frame tet_frame(int t) {
  static const int axes[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  const bool is_odd = t >= 3;
  Frame f = {.corner = {0}};

  for (int c = 0; c < 3; c++) {
    const int steps = is_odd && c < 2 ? 2 - c : c + 1;
    for (int k = 0; k < steps; k++) f.direction[c][axes[t][k]] = 2;
  }
  return f;
}

static Frame prism_frame(int t) {
  return t ? (Frame){{2, 2, 0}, {{-2, 0, 0}, {0, -2, 0}, {0, 0, 2}}}
           : (Frame){{0, 0, 0}, {{2, 0, 0}, {0, 2, 0}, {0, 0, 2}}};
}

// On the lower or the upper face across an axis.
static Frame pyramid_frame(int t) {
  const int axis = t / 2, is_upper = t % 2, next = (axis + 1) % 3, last = (axis + 2) % 3;
  Frame f = {.direction = {{0}, {0}, {1, 1, 1}}};

  f.direction[is_upper][next] = f.direction[1 - is_upper][last] = 2;
  if (is_upper) f.corner[axis] = 2, f.direction[2][axis] = -1;
  return f;
}

static Frame find_frame(const BpShape *shape, int t) {
  return shape->topology == CEED_TOPOLOGY_TET     ? tet_frame(t)
         : shape->topology == CEED_TOPOLOGY_PRISM ? prism_frame(t)
                                                  : pyramid_frame(t);
}

// Nodes on the surface of a lattice of m + 1 points a direction.
static CeedInt surface_nodes(CeedInt m) { return m ? 6 * m * m + 2 : 1; }

// Which of them the one at x is, plane after plane.
static CeedInt surface_node(CeedInt m, const CeedInt x[3]) {
  const CeedInt plane = (m + 1) * (m + 1);

  if (x[2] == 0) return x[0] + (m + 1) * x[1];
  const CeedInt first = plane + (x[2] - 1) * 4 * m;
  if (x[2] == m) return first + x[0] + (m + 1) * x[1];
  return first + (x[1] == 0 ? x[0] : x[1] == m ? 3 * m - 1 + x[0] : m - 1 + 2 * x[1] + (x[0] == m));
}

CeedSize bp_shape_extra_nodes(const BpShape *shape, CeedInt order) {
  CeedSize num = 0;

  if (!shape || shape->topology != CEED_TOPOLOGY_PYRAMID) return 0;
  for (CeedInt m = 0; m < order; m++) num += surface_nodes(m);
  return num - (CeedSize)(order - 1) * (order - 1) * (order - 1);
}

// Number of node x, in halves of the lattice and of its box, of a box; layer: of a pyramid, from its base
// on. Nodes inside a box take its places in the lattice first, then those behind the whole lattice.
static CeedInt number_node(const BpResult *r, CeedInt order, CeedInt box, CeedInt layer, const CeedInt x[3]) {
  const CeedInt *n = r->elements, first[3] = {box % n[0], box / n[0] % n[1], box / (n[0] * n[1])};
  const CeedInt inner = order - 1, m = order - layer;
  CeedInt size[3], at[3] = {x[0] / 2, x[1] / 2, x[2] / 2}, k = 0;
  const CeedInt lattice = (CeedInt)bp_count_nodes(r, order, size);

  if (layer > 0) {
    const CeedInt y[3] = {(x[0] - layer) / 2, (x[1] - layer) / 2, (x[2] - layer) / 2};
    for (CeedInt outer = m + 1; outer < order; outer++) k += surface_nodes(outer);
    k += surface_node(m, y);
    if (k >= inner * inner * inner)
      return lattice + box * (CeedInt)bp_shape_extra_nodes(r->options.shape, order) + k -
             inner * inner * inner;
    at[0] = 1 + k % inner, at[1] = 1 + k / inner % inner, at[2] = 1 + k / (inner * inner);
  }
  for (int d = 0; d < 3; d++) at[d] += order * first[d];
  return at[0] + size[0] * (at[1] + size[1] * at[2]);
}

void bp_shape_lattice(const BpResult *r, CeedInt order, CeedInt e, CeedInt *nodes) {
  const CeedElemTopology topology = topology_of(r);
  const bool is_pyramid = topology == CEED_TOPOLOGY_PYRAMID;
  const CeedInt box = e / bp_shape_elements(r->options.shape);
  const Frame f = find_frame(r->options.shape, e % bp_shape_elements(r->options.shape));

  for (CeedInt k = 0; k <= order; k++) {
    const CeedInt width = topology == CEED_TOPOLOGY_PRISM ? order : order - k;
    for (CeedInt j = 0; j <= width; j++) {
      for (CeedInt i = 0; i <= (is_pyramid ? width : width - j); i++) {
        CeedInt x[3];
        for (int d = 0; d < 3; d++)
          x[d] = order * f.corner[d] + i * f.direction[0][d] + j * f.direction[1][d] + k * f.direction[2][d];
        *nodes++ = number_node(r, order, box, is_pyramid ? k : 0, x);
      }
    }
  }
}

// ---- Positions ----

// Functions of degree 1 of the corners at x, in [-1,1].
static void weigh_corners(const BpShape *shape, const double x[3], double *w) {
  const double r = (1 + x[0]) / 2, s = (1 + x[1]) / 2, t = (1 + x[2]) / 2;

  if (shape->topology == CEED_TOPOLOGY_TET) {
    w[0] = 1 - r - s - t, w[1] = r, w[2] = s, w[3] = t;
  } else if (shape->topology == CEED_TOPOLOGY_PRISM) {
    const double triangle[3] = {1 - r - s, r, s};
    for (int c = 0; c < 6; c++) w[c] = triangle[c % 3] * (c < 3 ? 1 - t : t);
  } else {
    const double width = 1 - t, a = width > 0 ? (1 + x[0] / width) / 2 : 0,
                 b = width > 0 ? (1 + x[1] / width) / 2 : 0;
    for (int c = 0; c < 4; c++) w[c] = width * (c % 2 ? a : 1 - a) * (c / 2 ? b : 1 - b);
    w[4] = t;
  }
}

// Positions of the corners of element e.
static void find_vertices(const BpResult *r, CeedInt e, double (*vertex)[3]) {
  const double ends[2] = {0, 1};
  CeedInt nodes[6];

  bp_shape_lattice(r, 1, e, nodes);
  for (int c = 0; c < bp_shape_corners(r->options.shape); c++)
    bp_node_position(r, 1, ends, nodes[c], vertex[c]);
}

// Positions of the nodes of an element, reference [num_nodes][3], at places nodes[] of x.
static void place_nodes(const BpResult *r, const double (*vertex)[3], const double *reference,
                        const CeedInt *nodes, double *x) {
  for (CeedInt i = 0; i < r->num_nodes; i++) {
    double *to = &x[3 * (CeedSize)nodes[i]], w[6];
    weigh_corners(r->options.shape, reference + 3 * (CeedSize)i, w);
    for (int d = 0; d < 3; d++) {
      to[d] = 0;
      for (int c = 0; c < bp_shape_corners(r->options.shape); c++) to[d] += w[c] * vertex[c][d];
    }
  }
}

int bp_shape_node_positions(const BpProblem *p, CeedInt order, double *x) {
  const BpResult *r = p->sizes;
  CeedInt *nodes = NULL;
  double *reference = NULL; // [num_nodes][3] in [-1,1]

  BP_TRY(bp_allocate(p->ceed, r->num_nodes, sizeof(*nodes), &nodes));
  int ierr = bp_allocate(p->ceed, 3 * (CeedSize)r->num_nodes, sizeof(*reference), &reference);
  if (!ierr) ierr = r->options.shape->nodes(p->ceed, topology_of(r), order, NULL, reference);
  for (CeedInt e = 0; e < r->num_elem && !ierr; e++) {
    double vertex[6][3];
    find_vertices(r, e, vertex);
    bp_shape_lattice(r, order, e, nodes);
    place_nodes(r, (const double(*)[3])vertex, reference, nodes, x);
  }
  free(nodes);
  free(reference);
  return ierr;
}
