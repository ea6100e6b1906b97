// SPDX-License-Identifier: BSD-2-Clause
// Continuous numbering of the nodes of degree p. Called for spaces, for coordinates and, with p = 2, for the
// vertices of a refined mesh. Leaves finding the edges and faces to mesh/topology.c.
//
// An element has 3^dim parts: in every direction the lower end, the interior or the upper end. Each part is a
// vertex, edge, face or the interior, and its nodes have consecutive numbers in a frame that depends on the
// numbers of its vertices only, so that all elements that have it agree. Boxes have a simpler numbering.
#include "mesh/mesh.h"

// One of the 3^dim parts of the reference element.
typedef struct {
  int num_free;      // its dimension
  int free[3];       // its directions, ascending
  int corner;        // its corner with the lower ends of the free directions
  int entity;        // number of the corner, edge or face in the element
  int64_t base_node; // local number of the lattice point (0 in free directions) of the part
} Part;

// Constants of one numbering and the first numbers of all vertices, edges and faces (-1: not met yet).
typedef struct {
  int dim, num_parts;
  Part parts[27];
  int64_t degree, stride[3]; // of the lattice of nodes
  RitzMeshTopology topology;
  int64_t *start[3]; // owned: by dimension of the entity
  int64_t num_nodes;
} Numbering;

// Digit d of `code` in base 3 tells where the part lies in direction d.
static Part make_part(const Numbering *n, int code) {
  Part part = {0};
  int fixed_direction = 0, fixed_side = 0, others = 0, num_others = 0;

  for (int d = 0; d < n->dim; d++, code /= 3) {
    int side = code % 3 == 2;

    if (code % 3 == 1) {
      part.free[part.num_free++] = d;
      continue;
    }
    part.corner |= side << d;
    part.base_node += side * n->degree * n->stride[d];
    others |= side << num_others++;
    fixed_direction = d;
    fixed_side = side;
  }
  if (part.num_free == 0) part.entity = part.corner;
  if (part.num_free == 1) part.entity = part.free[0] * (1 << (n->dim - 1)) + others;
  if (part.num_free == 2) part.entity = 2 * fixed_direction + fixed_side;
  return part;
}

static int allocate_starts(Ceed ceed, int64_t num, int64_t **start) {
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num, start));
  for (int64_t i = 0; i < num; i++) (*start)[i] = -1;
  return CEED_ERROR_SUCCESS;
}

static int prepare(RitzMesh mesh, CeedInt degree, Numbering *n) {
  *n = (Numbering){.dim = mesh->dim, .num_parts = 1, .degree = degree, .stride = {1}};
  for (int d = 1; d < n->dim; d++) n->stride[d] = n->stride[d - 1] * (n->degree + 1);
  for (int d = 0; d < n->dim; d++) n->num_parts *= 3;
  for (int code = 0; code < n->num_parts; code++) n->parts[code] = make_part(n, code);
  RITZ_TRY(allocate_starts(mesh->ceed, mesh->num_vertices, &n->start[0]));
  if (degree == 1) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_mesh_topology_create(mesh, &n->topology));
  RITZ_TRY(allocate_starts(mesh->ceed, n->topology.num_edges, &n->start[1]));
  return allocate_starts(mesh->ceed, n->topology.num_faces, &n->start[2]);
}

static void clear(Numbering *n) {
  for (int i = 0; i < 3; i++) RITZ_FREE(&n->start[i]);
  ritz_mesh_topology_clear(&n->topology);
}

// First number of the nodes of a part of element e; the nodes get their numbers if the part is new.
static int64_t first_number(Numbering *n, const Part *part, int64_t e, const int64_t *vertices) {
  int64_t count = 1, next = n->num_nodes, *start = &next;

  for (int i = 0; i < part->num_free; i++) count *= n->degree - 1;
  if (part->num_free < n->dim) {
    const RitzMeshTopology *t = &n->topology;
    int num_edges = n->dim * (1 << (n->dim - 1));

    if (part->num_free == 0) start = &n->start[0][vertices[part->entity]];
    if (part->num_free == 1) start = &n->start[1][t->elem_edges[e * num_edges + part->entity]];
    if (part->num_free == 2) start = &n->start[2][t->elem_faces[e * 6 + part->entity]];
    if (*start >= 0) return *start;
    *start = next;
  }
  n->num_nodes += count;
  return *start;
}

// Number of the part's node (1, ..) relative to its first number, and the steps along its free directions.
// The frame starts at the smallest vertex; the first axis of a face goes to the smaller neighbour.
static int64_t orient(const Numbering *n, const Part *part, const int64_t *vertices, int64_t step[3]) {
  int64_t inner = n->degree - 1, offset = 0;
  int origin = part->corner;

  step[0] = 1, step[1] = inner, step[2] = inner * inner;
  if (part->num_free == 0 || part->num_free == n->dim) return 0;
  for (int k = 1; k < 1 << part->num_free; k++) {
    int corner = part->corner | (k & 1) << part->free[0] | (k >> 1) << part->free[1];

    if (vertices[corner] < vertices[origin]) origin = corner;
  }
  if (part->num_free == 2 && vertices[origin ^ 1 << part->free[1]] < vertices[origin ^ 1 << part->free[0]]) {
    step[0] = inner, step[1] = 1;
  }
  for (int i = 0; i < part->num_free; i++) {
    if (!((origin >> part->free[i]) & 1)) continue;
    offset += (inner - 1) * step[i];
    step[i] = -step[i];
  }
  return offset;
}

static void number_part(Numbering *n, const Part *part, int64_t e, const int64_t *vertices, int64_t *nodes) {
  int64_t step[3], count[3], stride[3];

  if (part->num_free > 0 && n->degree == 1) return;
  int64_t first = first_number(n, part, e, vertices) + orient(n, part, vertices, step);

  nodes += part->base_node;
  for (int i = 0; i < 3; i++) {
    bool is_free = i < part->num_free;

    count[i] = is_free ? n->degree - 1 : 1;
    stride[i] = is_free ? n->stride[part->free[i]] : 0;
    nodes += stride[i];
  }
  for (int64_t k = 0; k < count[2]; k++) {
    for (int64_t j = 0; j < count[1]; j++) {
      for (int64_t i = 0; i < count[0]; i++) {
        nodes[i * stride[0] + j * stride[1] + k * stride[2]] =
            first + i * step[0] + j * step[1] + k * step[2];
      }
    }
  }
}

// ---- Boxes: lexicographic, so that rows of elements are rows of consecutive nodes ----

static void number_grid_element(const int64_t first, const int64_t size[3], int64_t P, int dim,
                                int64_t *nodes) {
  const int64_t rows = dim > 1 ? P : 1, planes = dim > 2 ? P : 1;

  for (int64_t k = 0; k < planes; k++) {
    for (int64_t j = 0; j < rows; j++) {
      for (int64_t i = 0; i < P; i++) *nodes++ = first + (k * size[1] + j) * size[0] + i;
    }
  }
}

static int64_t number_grid(RitzMesh mesh, int64_t degree, int64_t *nodes) {
  const int64_t *n = mesh->grid, num_local = ritz_mesh_power(degree + 1, mesh->dim);
  int64_t size[3];

  for (int d = 0; d < 3; d++) size[d] = d < mesh->dim ? n[d] * degree + 1 : 1;
  for (int64_t e = 0; e < mesh->num_elem; e++) {
    const int64_t at[3] = {e % n[0], e / n[0] % n[1], e / n[0] / n[1]};

    number_grid_element(degree * ((at[2] * size[1] + at[1]) * size[0] + at[0]), size, degree + 1, mesh->dim,
                        nodes + e * num_local);
  }
  return size[0] * size[1] * size[2];
}

// ---- Any mesh ----

static int number_by_parts(RitzMesh mesh, CeedInt degree, int64_t *num_nodes, int64_t *nodes) {
  Numbering n;
  int ierr = prepare(mesh, degree, &n);

  if (!ierr) {
    int64_t num_local = ritz_mesh_power((int64_t)degree + 1, mesh->dim);

    for (int64_t e = 0; e < mesh->num_elem; e++) {
      const int64_t *vertices = mesh->elem_vertices + (e << mesh->dim);

      for (int i = 0; i < n.num_parts; i++) number_part(&n, &n.parts[i], e, vertices, nodes + e * num_local);
    }
  }
  *num_nodes = n.num_nodes;
  clear(&n);
  return ierr;
}

int ritz_mesh_number_nodes(RitzMesh mesh, CeedInt degree, int64_t *num_nodes, int64_t *nodes) {
  if (!mesh->grid[0]) return number_by_parts(mesh, degree, num_nodes, nodes);
  *num_nodes = number_grid(mesh, degree, nodes);
  return CEED_ERROR_SUCCESS;
}
