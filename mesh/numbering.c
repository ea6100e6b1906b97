// SPDX-License-Identifier: BSD-2-Clause
// Continuous numbering of the nodes of degree p. Called for spaces, for coordinates and, with p = 2, for the
// vertices of a refined mesh, on the threads of the context. Leaves finding the edges and faces to
// mesh/topology.c.
//
// The nodes of an edge, face or interior have consecutive numbers in a frame that depends on the numbers of
// its vertices only (in a part of a mesh: on their keys), so that all elements that have it agree. Boxes have
// a simpler numbering.
#include <string.h>

#include "mesh/mesh.h"

// One numbering, block by block: what is new in the elements is counted, gets its first numbers, and then all
// nodes get theirs.
typedef struct {
  RitzMesh mesh; // borrowed
  RitzMeshFrames frames;
  RitzMeshElementNodes elements[RITZ_MESH_MAX_BLOCKS]; // owned
  int64_t *start[3]; // owned: first numbers of all vertices, edges and faces
  int64_t *next;     // owned, [num_slots]: how many new nodes a thread has, then its first number
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

// keys: of the vertices of the element.
static const int64_t *frame_order(const RitzMeshFrames *f, const RitzMeshEntityNodes *entity,
                                  const int64_t *keys) {
  int64_t v[4] = {0, 0, 0, 0};

  if (entity->dim == 0 || entity->dim == f->dim) return NULL;
  for (int k = 0; k < entity->num_corners; k++) v[k] = keys[entity->corner[k]];
  if (entity->dim == 1) return f->edges.order + edge_orientation(v) * f->edges.num_nodes;
  if (entity->num_corners == 3) return f->triangles.order + triangle_orientation(v) * f->triangles.num_nodes;
  return f->quads.order + quad_orientation(v) * f->quads.num_nodes;
}

// Those of a whole mesh are the numbers; those of a part are written to `keys`.
static const int64_t *find_keys(RitzMesh mesh, int num, const int64_t *vertices, int64_t *keys) {
  if (!mesh->seam) return vertices;
  for (int k = 0; k < num; k++) keys[k] = mesh->seam->keys[vertices[k]];
  return keys;
}

const int64_t *ritz_mesh_frame_order(RitzMesh mesh, const RitzMeshFrames *f,
                                     const RitzMeshEntityNodes *entity, const int64_t *vertices) {
  int64_t keys[RITZ_MESH_MAX_CORNERS] = {0};

  for (int k = 0; k < entity->num_corners; k++)
    keys[entity->corner[k]] = ritz_mesh_vertex_key(mesh, vertices[entity->corner[k]]);
  return frame_order(f, entity, keys);
}

// ---- Elements ----

// Where the elements of a block have their edges and faces: the numbers of element e start at e * num.
typedef struct {
  const Numbering *n;
  const RitzMeshBlock *block;
  const RitzMeshElementNodes *element;
  int num_edges, num_faces;
  const int64_t *edges, *faces; // borrowed; NULL: not needed
  const uint32_t *is_new;       // borrowed, [num_elem]
  uint32_t bit[27];             // of the entities of `element` in is_new
  int64_t *nodes;               // borrowed, [num_elem][nodes of an element]
} Pattern;

// Of the interior of an element, which no other one has.
static const uint32_t interior_bit = UINT32_C(1) << 31;

static void set_bits(Pattern *p) {
  static const int first[3] = {0, RITZ_MESH_EDGE_BIT, RITZ_MESH_FACE_BIT};

  for (int i = 0; i < p->element->num; i++) {
    const RitzMeshEntityNodes *entity = &p->element->entities[i];

    p->bit[i] =
        entity->dim == p->n->mesh->dim ? interior_bit : UINT32_C(1) << (first[entity->dim] + entity->number);
  }
}

static const int64_t *vertices_of(const Pattern *p, int64_t e) {
  return p->n->mesh->elem_vertices + p->block->corner_base + e * p->block->num_corners;
}

// The first number of a vertex, edge or face of element e.
static int64_t *start_of(const Pattern *p, const RitzMeshEntityNodes *entity, int64_t e,
                         const int64_t *vertices) {
  if (entity->dim == 0) return &p->n->start[0][vertices[entity->number]];
  if (entity->dim == 1) return &p->n->start[1][p->edges[e * p->num_edges + entity->number]];
  return &p->n->start[2][p->faces[e * p->num_faces + entity->number]];
}

static void count_new(void *data, int slot, int64_t first, int64_t count) {
  const Pattern *p = data;
  int64_t num = 0;

  for (int64_t e = first; e < first + count; e++) {
    const uint32_t is_new = p->is_new[e] | interior_bit;

    for (int i = 0; i < p->element->num; i++)
      num += is_new & p->bit[i] ? p->element->entities[i].num_nodes : 0;
  }
  p->n->next[slot] = num;
}

static void start_new(void *data, int slot, int64_t first, int64_t count) {
  const Pattern *p = data;
  int64_t next = p->n->next[slot];

  for (int64_t e = first; e < first + count; e++) {
    const uint32_t is_new = p->is_new[e] | interior_bit;
    const int64_t *vertices = vertices_of(p, e);

    for (int i = 0; i < p->element->num; i++) {
      const RitzMeshEntityNodes *entity = &p->element->entities[i];

      if (!(is_new & p->bit[i])) continue;
      if (entity->dim < p->n->mesh->dim) *start_of(p, entity, e, vertices) = next;
      next += entity->num_nodes;
    }
  }
}

static void number_elements(void *data, int slot, int64_t first, int64_t count) {
  const Pattern *p = data;
  const RitzMesh mesh = p->n->mesh;
  int64_t next = p->n->next[slot];

  for (int64_t e = first; e < first + count; e++) {
    const uint32_t is_new = p->is_new[e] | interior_bit;
    const int64_t *vertices = vertices_of(p, e);
    int64_t written[RITZ_MESH_MAX_CORNERS];
    const int64_t *keys = find_keys(mesh, p->block->num_corners, vertices, written);
    int64_t *nodes = p->nodes + e * p->element->num_nodes;

    for (int i = 0; i < p->element->num; i++) {
      const RitzMeshEntityNodes *entity = &p->element->entities[i];
      const int64_t start = entity->dim < mesh->dim ? *start_of(p, entity, e, vertices) : next;
      const int64_t *order = frame_order(&p->n->frames, entity, keys);

      for (int64_t k = 0; k < entity->num_nodes; k++)
        nodes[entity->nodes[k]] = start + (order ? order[k] : k);
      if (is_new & p->bit[i]) next += entity->num_nodes;
    }
  }
}

static int number_block(Numbering *n, int b, int num_slots, int64_t *nodes) {
  const RitzMesh mesh = n->mesh;
  const RitzMeshTopology *t = &mesh->topology;
  const RitzMeshBlock *block = &mesh->blocks[b];
  const RitzMeshShape *shape = ritz_mesh_shape(block->topology);
  Pattern pattern = {.n = n,
                     .block = block,
                     .element = &n->elements[b],
                     .num_edges = shape->edges.num,
                     .num_faces = shape->facets.num,
                     .nodes = nodes};

  if (block->num_elem == 0) return CEED_ERROR_SUCCESS; // of a part without any
  pattern.is_new = t->is_new + block->first;
  if (t->edges.numbers) pattern.edges = t->edges.numbers + t->edges.base[b];
  if (t->faces.numbers) pattern.faces = t->faces.numbers + t->faces.base[b];
  set_bits(&pattern);
  memset(n->next, 0, (size_t)num_slots * sizeof(*n->next));
  RITZ_TRY(ritz_run_elements(mesh->ceed, block->num_elem, count_new, &pattern));
  n->num_nodes = ritz_mesh_count_slots(num_slots, n->num_nodes, n->next);
  RITZ_TRY(ritz_run_elements(mesh->ceed, block->num_elem, start_new, &pattern));
  return ritz_run_elements(mesh->ceed, block->num_elem, number_elements, &pattern);
}

// ---- Life ----

// Also finds the entities that have nodes, but for the interiors of elements.
static int prepare_numbering(Numbering *n, CeedInt degree) {
  const RitzMesh mesh = n->mesh;
  const Ceed ceed = mesh->ceed;
  int max_dim = 0;

  for (int b = 0; b < mesh->num_blocks; b++) {
    RITZ_TRY(ritz_mesh_element_nodes_create(ceed, mesh->blocks[b].topology, degree, &n->elements[b]));
    for (int i = 0; i < n->elements[b].num; i++) {
      const int dim = n->elements[b].entities[i].dim;
      if (dim < mesh->dim && dim > max_dim) max_dim = dim;
    }
  }
  RITZ_TRY(ritz_mesh_frames_create(mesh, degree, &n->frames));
  RITZ_TRY(ritz_mesh_require_topology(mesh, max_dim));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)mesh->num_vertices, &n->start[0]));
  if (max_dim >= 1) RITZ_TRY(RITZ_MALLOC(ceed, (size_t)mesh->topology.edges.num, &n->start[1]));
  if (max_dim >= 2) RITZ_TRY(RITZ_MALLOC(ceed, (size_t)mesh->topology.faces.num, &n->start[2]));
  return CEED_ERROR_SUCCESS;
}

static void clear_numbering(Numbering *n) {
  for (int i = 0; i < 3; i++) RITZ_FREE(&n->start[i]);
  for (int b = 0; b < n->mesh->num_blocks; b++) ritz_mesh_element_nodes_clear(&n->elements[b]);
  ritz_mesh_frames_clear(&n->frames);
  RITZ_FREE(&n->next);
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
  Numbering n = {.mesh = mesh};
  int num_slots = 1, ierr;

  RITZ_TRY_CLEANUP(ritz_run_ranges_slots(mesh->ceed, &num_slots));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(mesh->ceed, (size_t)num_slots, &n.next));
  RITZ_TRY_CLEANUP(prepare_numbering(&n, degree));
  for (int b = 0; b < mesh->num_blocks; b++) {
    RITZ_TRY_CLEANUP(number_block(&n, b, num_slots, nodes));
    if (nodes) nodes += mesh->blocks[b].num_elem * n.elements[b].num_nodes;
  }
  *num_nodes = n.num_nodes;
cleanup:
  clear_numbering(&n);
  if (mesh->num_spaces == 0) ritz_mesh_topology_clear(&mesh->topology);
  return ierr;
}

int ritz_mesh_number_nodes(RitzMesh mesh, CeedInt degree, int64_t *num_nodes, int64_t *nodes) {
  return (mesh->grid[0] ? number_grid : number_by_parts)(mesh, degree, num_nodes, nodes);
}
