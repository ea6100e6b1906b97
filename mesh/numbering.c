// SPDX-License-Identifier: BSD-2-Clause
// Continuous numbering of the nodes of degree p. Called for spaces, for coordinates and, with p = 2, for the
// vertices of a refined mesh. Leaves finding the edges and faces to mesh/topology.c.
//
// The nodes of an edge, face or interior have consecutive numbers in a frame that depends on the numbers of
// its vertices only (in a part of a mesh: on their keys), so that all elements that have it agree. Boxes have
// a simpler numbering.
#include "mesh/mesh.h"

// Constants of one numbering and the first numbers of all vertices, edges and faces (-1: not met yet).
typedef struct {
  RitzMesh mesh; // borrowed
  RitzMeshFrames frames;
  RitzMeshTopology topology;
  int64_t *start[3]; // owned: by dimension of the entity
  int64_t num_nodes;
} Numbering;

// ---- Frames ----

// 0: the first corner has the smaller vertex.
static int edge_orientation(const int64_t v[4]) { return v[0] > v[1]; }

// Twice the corner with the smallest vertex, and 1 if the larger one of the other two comes first.
static int triangle_orientation(const int64_t v[4]) {
  int s = 0;

  for (int k = 1; k < 3; k++) s = v[k] < v[s] ? k : s;
  return 2 * s + (v[s == 0 ? 1 : 0] > v[s == 2 ? 1 : 2]);
}

// Twice the corner with the smallest vertex, and 1 if its smaller neighbour lies along the second axis.
static int quad_orientation(const int64_t v[4]) {
  int s = 0;

  for (int k = 1; k < 4; k++) s = v[k] < v[s] ? k : s;
  return 2 * s + (v[s ^ 2] < v[s ^ 1]);
}

static int fill_edges(Ceed ceed, int64_t p, RitzMeshOrders *edges) {
  edges->num_nodes = p - 1;
  RITZ_TRY(RITZ_MALLOC(ceed, 2 * (size_t)(p - 1), &edges->order));
  for (int64_t i = 0; i < p - 1; i++) {
    edges->order[i] = i;
    edges->order[p - 1 + i] = p - 2 - i;
  }
  return CEED_ERROR_SUCCESS;
}

// The node with `share` / p of each corner; the common frame starts at the smallest vertex.
static int64_t triangle_place(int64_t p, int orientation, const int64_t share[3]) {
  int smallest = orientation / 2;
  int others[2] = {smallest == 0 ? 1 : 0, smallest == 2 ? 1 : 2};
  const int64_t at[3] = {share[others[orientation % 2]] - 1, share[others[1 - orientation % 2]] - 1, 0};

  return ritz_mesh_lattice_index(CEED_TOPOLOGY_TRIANGLE, p - 3, at);
}

static int fill_triangles(Ceed ceed, int64_t p, RitzMeshOrders *triangles) {
  triangles->num_nodes = (p - 1) * (p - 2) / 2;
  RITZ_TRY(RITZ_MALLOC(ceed, 6 * (size_t)triangles->num_nodes, &triangles->order));
  for (int orientation = 0; orientation < 6 && triangles->num_nodes > 0; orientation++) {
    int64_t *next = triangles->order + orientation * triangles->num_nodes;

    for (int64_t j = 1; j < p; j++) {
      for (int64_t i = 1; i + j < p; i++) {
        *next++ = triangle_place(p, orientation, (const int64_t[]){p - i - j, i, j});
      }
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int fill_quads(Ceed ceed, int64_t p, RitzMeshOrders *quads) {
  quads->num_nodes = (p - 1) * (p - 1);
  RITZ_TRY(RITZ_MALLOC(ceed, 8 * (size_t)quads->num_nodes, &quads->order));
  for (int orientation = 0; orientation < 8 && quads->num_nodes > 0; orientation++) {
    int64_t *next = quads->order + orientation * quads->num_nodes;

    for (int64_t node = 0; node < quads->num_nodes; node++) {
      int64_t i = node % (p - 1), j = node / (p - 1);

      if (orientation / 2 & 1) i = p - 2 - i;
      if (orientation / 2 & 2) j = p - 2 - j;
      *next++ = orientation % 2 ? i * (p - 1) + j : j * (p - 1) + i;
    }
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_mesh_frames_create(RitzMesh mesh, int64_t degree, RitzMeshFrames *frames) {
  const Ceed ceed = mesh->ceed;
  int ierr = CEED_ERROR_SUCCESS;

  *frames = (RitzMeshFrames){.dim = mesh->dim};
  if (degree == 1) return CEED_ERROR_SUCCESS;
  if (mesh->dim >= 2) ierr = fill_edges(ceed, degree, &frames->edges);
  if (!ierr && mesh->dim == 3) ierr = fill_triangles(ceed, degree, &frames->triangles);
  if (!ierr && mesh->dim == 3) ierr = fill_quads(ceed, degree, &frames->quads);
  if (ierr) ritz_mesh_frames_clear(frames);
  return ierr;
}

void ritz_mesh_frames_clear(RitzMeshFrames *frames) {
  RITZ_FREE(&frames->edges.order);
  RITZ_FREE(&frames->triangles.order);
  RITZ_FREE(&frames->quads.order);
}

const int64_t *ritz_mesh_frame_order(RitzMesh mesh, const RitzMeshFrames *f,
                                     const RitzMeshEntityNodes *entity, const int64_t *vertices) {
  int64_t v[4] = {0, 0, 0, 0};

  if (entity->dim == 0 || entity->dim == f->dim) return NULL;
  for (int k = 0; k < entity->num_corners; k++)
    v[k] = ritz_mesh_vertex_key(mesh, vertices[entity->corner[k]]);
  if (entity->dim == 1) return f->edges.order + edge_orientation(v) * f->edges.num_nodes;
  if (entity->num_corners == 3) return f->triangles.order + triangle_orientation(v) * f->triangles.num_nodes;
  return f->quads.order + quad_orientation(v) * f->quads.num_nodes;
}

// ---- Life ----

static int allocate_starts(Ceed ceed, int64_t num, int64_t **start) {
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num, start));
  for (int64_t i = 0; i < num; i++) (*start)[i] = -1;
  return CEED_ERROR_SUCCESS;
}

static int count_entities(RitzMesh mesh, CeedInt degree, Numbering *n) {
  const Ceed ceed = mesh->ceed;

  *n = (Numbering){.mesh = mesh};
  RITZ_TRY(allocate_starts(ceed, mesh->num_vertices, &n->start[0]));
  if (degree == 1) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_mesh_topology_create(mesh, &n->topology));
  RITZ_TRY(allocate_starts(ceed, n->topology.num_edges, &n->start[1]));
  RITZ_TRY(allocate_starts(ceed, n->topology.num_faces, &n->start[2]));
  return ritz_mesh_frames_create(mesh, degree, &n->frames);
}

static void clear_numbering(Numbering *n) {
  for (int i = 0; i < 3; i++) RITZ_FREE(&n->start[i]);
  ritz_mesh_frames_clear(&n->frames);
  ritz_mesh_topology_clear(&n->topology);
}

// ---- Elements ----

// Where the elements of a block have their edges and faces: the numbers of element e start at e * num.
typedef struct {
  const RitzMeshShape *shape;
  RitzMeshElementNodes element;
  const int64_t *edges, *faces; // borrowed; NULL: not needed
} Pattern;

// First number of the nodes of an entity of element e of a block; the nodes get their numbers if the entity
// is new.
static int64_t first_number(Numbering *n, const Pattern *pattern, const RitzMeshEntityNodes *entity,
                            int64_t e, const int64_t *vertices) {
  int64_t next = n->num_nodes, *start = &next;

  if (entity->dim < n->mesh->dim) {
    const RitzMeshShape *shape = pattern->shape;

    if (entity->dim == 0) start = &n->start[0][vertices[entity->number]];
    if (entity->dim == 1) start = &n->start[1][pattern->edges[e * shape->edges.num + entity->number]];
    if (entity->dim == 2) start = &n->start[2][pattern->faces[e * shape->facets.num + entity->number]];
    if (*start >= 0) return *start;
    *start = next;
  }
  n->num_nodes += entity->num_nodes;
  return *start;
}

static void number_entity(Numbering *n, const Pattern *pattern, const RitzMeshEntityNodes *entity, int64_t e,
                          const int64_t *vertices, int64_t *nodes) {
  const int64_t first = first_number(n, pattern, entity, e, vertices);
  const int64_t *order = ritz_mesh_frame_order(n->mesh, &n->frames, entity, vertices);

  for (int64_t i = 0; i < entity->num_nodes; i++) nodes[entity->nodes[i]] = first + (order ? order[i] : i);
}

static int number_block(RitzMesh mesh, int b, CeedInt degree, Numbering *n, int64_t *nodes) {
  const RitzMeshBlock *block = &mesh->blocks[b];
  const RitzMeshTopology *t = &n->topology;
  Pattern pattern = {.shape = ritz_mesh_shape(block->topology)};

  if (t->edges.numbers) pattern.edges = t->edges.numbers + t->edges.base[b];
  if (t->faces.numbers) pattern.faces = t->faces.numbers + t->faces.base[b];
  RITZ_TRY(ritz_mesh_element_nodes_create(mesh->ceed, block->topology, degree, &pattern.element));
  for (int64_t e = 0; e < block->num_elem; e++, nodes += pattern.element.num_nodes) {
    const int64_t *vertices = mesh->elem_vertices + block->corner_base + e * block->num_corners;

    for (int i = 0; i < pattern.element.num; i++) {
      number_entity(n, &pattern, &pattern.element.entities[i], e, vertices, nodes);
    }
  }
  ritz_mesh_element_nodes_clear(&pattern.element);
  return CEED_ERROR_SUCCESS;
}

// ---- Boxes: lexicographic, so that rows of elements are rows of consecutive nodes ----

static void grid_sizes(RitzMesh mesh, int64_t degree, int64_t size[3]) {
  for (int d = 0; d < 3; d++) size[d] = d < mesh->dim ? mesh->grid[d] * degree + 1 : 1;
}

int64_t ritz_mesh_grid_num_nodes(RitzMesh mesh, int64_t degree) {
  int64_t size[3];

  grid_sizes(mesh, degree, size);
  return size[0] * size[1] * size[2];
}

void ritz_mesh_grid_nodes(RitzMesh mesh, int64_t degree, int64_t e, int64_t *nodes) {
  const int64_t *n = mesh->grid, P = degree + 1, rows = mesh->dim > 1 ? P : 1, planes = mesh->dim > 2 ? P : 1;
  const int64_t at[3] = {e % n[0], e / n[0] % n[1], e / n[0] / n[1]};
  int64_t size[3];

  grid_sizes(mesh, degree, size);
  const int64_t first = degree * ((at[2] * size[1] + at[1]) * size[0] + at[0]);
  for (int64_t k = 0; k < planes; k++) {
    for (int64_t j = 0; j < rows; j++) {
      for (int64_t i = 0; i < P; i++) *nodes++ = first + (k * size[1] + j) * size[0] + i;
    }
  }
}

void ritz_mesh_grid_range(RitzMesh mesh, int64_t degree, int64_t e, int64_t range[2]) {
  const int64_t *n = mesh->grid;
  const int64_t at[3] = {e % n[0], e / n[0] % n[1], e / n[0] / n[1]};
  int64_t size[3], last[3];

  grid_sizes(mesh, degree, size);
  for (int d = 0; d < 3; d++) last[d] = d < mesh->dim ? degree : 0;
  range[0] = degree * ((at[2] * size[1] + at[1]) * size[0] + at[0]);
  range[1] = range[0] + (last[2] * size[1] + last[1]) * size[0] + last[0];
}

typedef struct {
  RitzMesh mesh;
  int64_t degree, num_local;
  int64_t *nodes;
} Grid;

static void number_range(void *data, int slot, int64_t first, int64_t count) {
  const Grid *grid = data;

  (void)slot;
  for (int64_t e = first; e < first + count; e++)
    ritz_mesh_grid_nodes(grid->mesh, grid->degree, e, grid->nodes + e * grid->num_local);
}

static int number_grid(RitzMesh mesh, CeedInt degree, int64_t *num_nodes, int64_t *nodes) {
  Grid grid = {mesh, degree, ritz_mesh_power(degree + 1, mesh->dim), nodes};

  *num_nodes = ritz_mesh_grid_num_nodes(mesh, degree);
  return ritz_run_elements(mesh->ceed, mesh->num_elem, number_range, &grid);
}

// ---- Any mesh ----

static int number_by_parts(RitzMesh mesh, CeedInt degree, int64_t *num_nodes, int64_t *nodes) {
  Numbering n;
  int ierr = count_entities(mesh, degree, &n);

  for (int b = 0; b < mesh->num_blocks && !ierr; b++) {
    ierr = number_block(mesh, b, degree, &n, nodes);
    if (nodes) nodes += mesh->blocks[b].num_elem * ritz_mesh_num_nodes(mesh->blocks[b].topology, degree);
  }
  *num_nodes = n.num_nodes;
  clear_numbering(&n);
  return ierr;
}

int ritz_mesh_number_nodes(RitzMesh mesh, CeedInt degree, int64_t *num_nodes, int64_t *nodes) {
  return (mesh->grid[0] ? number_grid : number_by_parts)(mesh, degree, num_nodes, nodes);
}
