// SPDX-License-Identifier: BSD-2-Clause
// Meshes made by hand for the tests of mesh/: boxes in drafts, with rotated elements, shuffled vertices and
// periodic directions, and rings with a twist; positions computed independently of mesh/. Included by
// test-mesh*.c and test-space.c. Its own allocations are small and not checked.
#ifndef RITZ_TESTS_MESH_TOOLS_H
#define RITZ_TESTS_MESH_TOOLS_H

#include <math.h>
#include <ritz.h>
#include <stdlib.h>
#include <string.h>

#include "fe/fe.h"
#include "mesh/mesh.h"
#include "tests/tap.h"

static inline int64_t power(int64_t base, int exponent) {
  return exponent ? base * power(base, exponent - 1) : 1;
}

// ---- Boxes ----

// The boxes of the tests have 4, 4 x 3 or 4 x 3 x 2 elements.
static const CeedInt box_size[3] = {4, 3, 2};

static inline int make_box(Ceed ceed, CeedInt dim, CeedInt order, RitzMapFunction map, void *ctx,
                           RitzMesh *mesh) {
  return RitzMeshCreateBox(ceed, dim, box_size, NULL, NULL, order, map, ctx, mesh);
}

// Degree g = *ctx per direction; det J is a product of factors in X, Y and Z, of degree 3g - 1 in Z. The
// faces X = 0, 1 stay in planes.
static inline int polynomial_map(void *ctx, CeedInt dim, const double *X, double *x) {
  const double g = *(const CeedInt *)ctx;

  for (CeedInt d = 0; d < dim; d++) x[d] = 0.5 * (X[d] + pow(X[d], g));
  if (dim > 1) x[0] *= 1.0 + 0.5 * pow(X[1], g);
  if (dim > 2) x[1] *= 1.0 + 0.3 * pow(X[2], g);
  if (dim > 2) x[0] *= 1.0 + 0.2 * pow(X[2], g);
  return 0;
}

static inline int wavy_map(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  for (CeedInt d = 0; d < dim; d++) {
    x[d] = X[d] + 0.05 * sin(3.0 * X[(d + 1) % dim] + d) * cos(2.0 * X[(d + 2) % dim]);
  }
  return 0;
}

// ---- Rotations of the reference element ----

// New direction d runs along the old direction axis[d], backwards if flip[d].
typedef struct {
  int axis[3], flip[3];
} Rotation;

static inline int permutation_sign(const int *axis, int dim) {
  int sign = 1;

  for (int i = 0; i < dim; i++) {
    for (int j = 0; j < i; j++) sign = axis[j] > axis[i] ? -sign : sign;
  }
  return sign;
}

// All signed permutations of the axes with determinant 1: 1, 4 or 24. Returns their number.
static inline int make_rotations(int dim, Rotation rotations[24]) {
  static const int permutations[6][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  static const int num_permutations[4] = {0, 1, 2, 6};
  int num = 0;

  for (int p = 0; p < num_permutations[dim]; p++) {
    for (int flips = 0; flips < 1 << dim; flips++) {
      Rotation rotation = {{0}, {0}};
      int sign = permutation_sign(permutations[p], dim);

      for (int d = 0; d < dim; d++) {
        rotation.axis[d] = permutations[p][d];
        rotation.flip[d] = flips >> d & 1;
        if (rotation.flip[d]) sign = -sign;
      }
      if (sign > 0) rotations[num++] = rotation;
    }
  }
  return num;
}

// Where the lattice point i of the rotated element, n points per direction, lies in the old numbering.
static inline int64_t rotated_index(const Rotation *rotation, int dim, int64_t n, int64_t i) {
  int64_t old = 0;

  for (int d = 0; d < dim; d++, i /= n) {
    old += (rotation->flip[d] ? n - 1 - i % n : i % n) * power(n, rotation->axis[d]);
  }
  return old;
}

// Renumbers the inside of element e of a draft.
static inline void rotate_element(RitzMeshDraft *draft, int64_t e, const Rotation *rotation) {
  const int dim = draft->dim, space_dim = draft->space_dim;
  const int64_t n = draft->order + 1, num_nodes = power(n, dim);
  int64_t *vertices = draft->elem_vertices + (e << dim), old_vertices[8];
  double *x = draft->coords + e * num_nodes * space_dim, *old_x = malloc((size_t)(num_nodes * space_dim) * 8);

  memcpy(old_vertices, vertices, sizeof(*vertices) << dim);
  memcpy(old_x, x, (size_t)(num_nodes * space_dim) * 8);
  for (int k = 0; k < 1 << dim; k++) vertices[k] = old_vertices[rotated_index(rotation, dim, 2, k)];
  for (int64_t i = 0; i < num_nodes; i++) {
    memcpy(x + i * space_dim, old_x + rotated_index(rotation, dim, n, i) * space_dim, (size_t)space_dim * 8);
  }
  free(old_x);
}

// ---- Drafts ----

// An empty draft with room for num_elem elements.
static inline RitzMeshDraft make_draft(int dim, int space_dim, int order, int64_t num_elem,
                                       int64_t num_vertices) {
  static const CeedElemTopology topologies[3] = {CEED_TOPOLOGY_LINE, CEED_TOPOLOGY_QUAD, CEED_TOPOLOGY_HEX};
  RitzMeshDraft draft = {.topology = topologies[dim - 1],
                         .dim = dim,
                         .space_dim = space_dim,
                         .order = order,
                         .num_elem = num_elem,
                         .num_vertices = num_vertices};

  RITZ_CALLOC(NULL, (size_t)(num_elem << dim), &draft.elem_vertices);
  RITZ_CALLOC(NULL, (size_t)(num_elem * power(order + 1, dim) * space_dim), &draft.coords);
  return draft;
}

// The elements of a mesh, without labels.
static inline RitzMeshDraft draft_of_mesh(RitzMesh mesh) {
  RitzMeshDraft draft =
      make_draft(mesh->dim, mesh->space_dim, mesh->order, mesh->num_elem, mesh->num_vertices);

  memcpy(draft.elem_vertices, mesh->elem_vertices, (size_t)(mesh->num_elem << mesh->dim) * 8);
  memcpy(draft.coords, mesh->coords,
         (size_t)(mesh->num_elem * power(mesh->order + 1, mesh->dim) * mesh->space_dim) * 8);
  return draft;
}

// Labels facet `facet` of element `elem`, its vertices in reverse order, as part `part`; parts grow as needed
// and are called by their number.
static inline void add_label(RitzMeshDraft *draft, int64_t elem, int facet, int part) {
  const RitzMeshEntities facets = ritz_mesh_local_facets(draft->dim);
  const int n = facets.num_corners;

  RITZ_REALLOC(NULL, (size_t)(draft->num_labels + 1) * (size_t)n, &draft->label_vertices);
  RITZ_REALLOC(NULL, (size_t)draft->num_labels + 1, &draft->label_part);
  for (int k = 0; k < n; k++) {
    draft->label_vertices[draft->num_labels * n + k] =
        draft->elem_vertices[(elem << draft->dim) + facets.corner[facet][n - 1 - k]];
  }
  draft->label_part[draft->num_labels++] = part;
  if (part < draft->num_parts) return;
  RITZ_REALLOC(NULL, (size_t)part + 1, &draft->parts);
  for (; draft->num_parts <= part; draft->num_parts++) {
    draft->parts[draft->num_parts] = (RitzMeshName){.name = NULL, .number = draft->num_parts};
  }
}

// Gives the vertices other numbers, in labels too.
static inline void shuffle_vertices(RitzMeshDraft *draft, uint64_t *state) {
  int64_t *number = malloc((size_t)draft->num_vertices * 8);

  for (int64_t i = 0; i < draft->num_vertices; i++) {
    int64_t j = tap_integer(state, i + 1);

    number[i] = number[j];
    number[j] = i;
  }
  for (int64_t i = 0; i < draft->num_elem << draft->dim; i++) {
    draft->elem_vertices[i] = number[draft->elem_vertices[i]];
  }
  for (int64_t i = 0; i < draft->num_labels << (draft->dim - 1); i++) {
    draft->label_vertices[i] = number[draft->label_vertices[i]];
  }
  free(number);
}

static inline void rotate_at_random(RitzMeshDraft *draft, uint64_t *state) {
  Rotation rotations[24];
  int num = make_rotations(draft->dim, rotations);

  for (int64_t e = 0; e < draft->num_elem; e++) rotate_element(draft, e, &rotations[tap_integer(state, num)]);
}

// A box whose opposite sides are one in the directions of the bits of `periodic`; the topology only.
static inline void close_box(RitzMeshDraft *draft, const CeedInt *n, int periodic) {
  for (int64_t i = 0; i < draft->num_elem << draft->dim; i++) {
    int64_t vertex = draft->elem_vertices[i], closed = 0, stride = 1;

    for (int d = 0; d < draft->dim; d++) {
      int64_t at = vertex % (n[d] + 1);

      vertex /= n[d] + 1;
      closed += (periodic >> d & 1 ? at % n[d] : at) * stride;
      stride *= n[d] + 1;
    }
    draft->elem_vertices[i] = closed;
  }
}

// Point at (r, s, t) in [-1,1]^3 of cell i in a ring of num cells around the z axis. The square cross-section
// turns by `turns` quarter turns on the way round.
static inline void ring_point(int64_t num, int turns, int64_t i, const double *r, double *x) {
  const double pi = 3.14159265358979323846;
  double way = ((double)i + 0.5 * (1.0 + r[2])) / (double)num, twist = 0.5 * pi * turns * way;
  double a = 0.2 * (r[0] * cos(twist) - r[1] * sin(twist)), b = 0.2 * (r[0] * sin(twist) + r[1] * cos(twist));

  x[0] = (1.0 + a) * cos(2.0 * pi * way);
  x[1] = (1.0 + a) * sin(2.0 * pi * way);
  x[2] = -b; // keeps the determinant positive
}

// num >= 3 hexahedra in a closed ring. Corner c of the cross-section of the last cell meets the corner of the
// first one that lies `turns` quarter turns further.
static inline RitzMeshDraft draft_of_ring(int64_t num, int order, int turns) {
  static const int next_corner[4] = {1, 3, 0, 2}; // of a square, counterclockwise, lexicographic numbers
  const int64_t n = order + 1;
  RitzMeshDraft draft = make_draft(3, 3, order, num, 4 * num);
  double *nodes = malloc((size_t)n * 8);

  ritz_fe_gauss_lobatto((int)n, nodes, NULL);
  for (int64_t e = 0; e < num; e++) {
    for (int k = 0; k < 8; k++) {
      int corner = k % 4;

      for (int turn = 0; e == num - 1 && k >= 4 && turn < turns; turn++) corner = next_corner[corner];
      draft.elem_vertices[8 * e + k] = 4 * ((e + k / 4) % num) + corner;
    }
    for (int64_t i = 0; i < n * n * n; i++) {
      double r[3] = {nodes[i % n], nodes[i / n % n], nodes[i / (n * n)]};

      ring_point(num, turns, e, r, draft.coords + 3 * (e * n * n * n + i));
    }
  }
  free(nodes);
  return draft;
}

// num >= 3 quadrilaterals in a closed strip with `turns` half turns, a surface in space.
static inline RitzMeshDraft draft_of_strip(int64_t num, int order, int turns) {
  const double pi = 3.14159265358979323846;
  const int64_t n = order + 1;
  RitzMeshDraft draft = make_draft(2, 3, order, num, 2 * num);
  double *nodes = malloc((size_t)n * 8);

  ritz_fe_gauss_lobatto((int)n, nodes, NULL);
  for (int64_t e = 0; e < num; e++) {
    for (int k = 0; k < 4; k++) {
      int side = e == num - 1 && k >= 2 && turns % 2 ? 1 - k % 2 : k % 2;

      draft.elem_vertices[4 * e + k] = 2 * ((e + k / 2) % num) + side;
    }
    for (int64_t i = 0; i < n * n; i++) {
      double way = ((double)e + 0.5 * (1.0 + nodes[i / n])) / (double)num, half = 0.3 * nodes[i % n];
      double *x = draft.coords + 3 * (e * n * n + i);

      x[0] = (1.0 + half * cos(pi * turns * way)) * cos(2.0 * pi * way);
      x[1] = (1.0 + half * cos(pi * turns * way)) * sin(2.0 * pi * way);
      x[2] = half * sin(pi * turns * way);
    }
  }
  free(nodes);
  return draft;
}

// ---- Positions ----

// Value of the j-th Lagrange polynomial of n nodes at r, and its derivative; product formulas.
static inline double lagrange(int n, const double *nodes, int j, double r) {
  double value = 1.0;

  for (int k = 0; k < n; k++) value *= k == j ? 1.0 : (r - nodes[k]) / (nodes[j] - nodes[k]);
  return value;
}

static inline double lagrange_derivative(int n, const double *nodes, int j, double r) {
  double sum = 0.0;

  for (int m = 0; m < n; m++) {
    double product = 1.0 / (nodes[j] - nodes[m]);

    if (m == j) continue;
    for (int k = 0; k < n; k++) product *= k == j || k == m ? 1.0 : (r - nodes[k]) / (nodes[j] - nodes[k]);
    sum += product;
  }
  return sum;
}

// x[3] = position of the point r of element e or, with derivative = 0, 1, 2, the derivative along that
// direction; -1: the position. Components beyond the space are 0.
static inline void evaluate_map(RitzMesh mesh, int64_t e, const double *r, int derivative, double *x) {
  const int dim = mesh->dim, n = mesh->order + 1;
  const int64_t num_nodes = power(n, dim);
  double *nodes = malloc((size_t)n * 8), *table = malloc((size_t)n * 24);

  ritz_fe_gauss_lobatto(n, nodes, NULL);
  for (int d = 0; d < dim; d++) {
    for (int j = 0; j < n; j++) {
      table[d * n + j] =
          d == derivative ? lagrange_derivative(n, nodes, j, r[d]) : lagrange(n, nodes, j, r[d]);
    }
  }
  x[0] = x[1] = x[2] = 0.0;
  for (int64_t i = 0; i < num_nodes; i++) {
    double weight = 1.0;
    int64_t rest = i;

    for (int d = 0; d < dim; d++, rest /= n) weight *= table[d * n + rest % n];
    for (int c = 0; c < mesh->space_dim; c++)
      x[c] += weight * mesh->coords[(e * num_nodes + i) * mesh->space_dim + c];
  }
  free(nodes);
  free(table);
}

#endif
