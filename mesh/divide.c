// SPDX-License-Identifier: BSD-2-Clause
// Makes a mesh of the pieces of another one's elements (contract in mesh/mesh.h). Called by refinement and
// RitzMeshSplit, which say what the pieces are.
#include <math.h>
#include <string.h>

#include "fe/fe.h"
#include "mesh/mesh.h"

enum { NUM_SHAPES = 7 };
static int shape_index(CeedElemTopology topology) { return topology & 0xffff; }

// ---- Lattice of degree 2 ----

int8_t ritz_mesh_corner_node(const RitzMeshShape *shape, int corner) {
  int64_t at[3];

  ritz_mesh_lattice_point(shape, 2, (const int8_t[]){(int8_t)corner}, 1, NULL, at);
  return (int8_t)ritz_mesh_lattice_index(shape->topology, 2, at);
}

// Lattice coordinates of a node, which are an affine image of its position.
static void find_point(const RitzMeshShape *shape, int node, int at[3]) {
  for (int i = 0; i < 27; i++) {
    const int64_t point[3] = {i % 3, i / 3 % 3, i / 9};

    for (int d = 0; d < 3; d++) at[d] = (int)point[d];
    if (shape->dim < 3 && point[2] > 0) continue;
    if (shape->topology == CEED_TOPOLOGY_PYRAMID && (point[0] > 2 - point[2] || point[1] > 2 - point[2]))
      continue;
    if (!shape->is_tensor && shape->topology != CEED_TOPOLOGY_PYRAMID && point[0] + point[1] > 2) continue;
    if (shape->topology == CEED_TOPOLOGY_TET && point[0] + point[1] + point[2] > 2) continue;
    if (ritz_mesh_lattice_index(shape->topology, 2, point) == node) return;
  }
}

// Six times the volume (in the plane twice the area) at the first corner, in lattice coordinates.
static int find_determinant(const RitzMeshShape *parent, const RitzMeshChild *child) {
  // The ends of the edges from corner 0 in the three directions.
  const int end = child->topology == CEED_TOPOLOGY_PYRAMID || child->topology == CEED_TOPOLOGY_HEX ? 4 : 3;
  int x[4][3];

  find_point(parent, child->node[0], x[3]);
  for (int i = 0; i < 3; i++) {
    find_point(parent, child->node[i < 2 ? i + 1 : end], x[i]);
    for (int d = 0; d < 3; d++) x[i][d] -= x[3][d];
  }
  if (parent->dim == 2) return x[0][0] * x[1][1] - x[0][1] * x[1][0];
  return x[0][0] * (x[1][1] * x[2][2] - x[1][2] * x[2][1]) -
         x[0][1] * (x[1][0] * x[2][2] - x[1][2] * x[2][0]) +
         x[0][2] * (x[1][0] * x[2][1] - x[1][1] * x[2][0]);
}

static void swap_corners(RitzMeshChild *child, int a, int b) {
  int8_t kept = child->node[a];

  child->node[a] = child->node[b];
  child->node[b] = kept;
}

void ritz_mesh_child_orient(const RitzMeshShape *parent, RitzMeshChild *child) {
  if (find_determinant(parent, child) > 0) return;
  swap_corners(child, 1, 2);
  if (child->topology == CEED_TOPOLOGY_PRISM) swap_corners(child, 4, 5);
}

// ---- Geometry of pieces ----

// Map from the nodes of a parent to those of one of its pieces.
typedef struct {
  RitzMeshChild child;
  double *matrix; // owned, [nodes of the child][nodes of the parent]
} Piece;

// The pieces met so far in one block, and tables [P][P] that take the nodes of a tensor shape to those of its
// lower and upper half in one direction.
typedef struct {
  const RitzMeshShape *shape; // of the parents
  CeedInt order, space_dim;
  int64_t num_nodes;
  int num_pieces, max_pieces;
  Piece *pieces;    // owned
  double *half[2];  // owned
  size_t work_size; // of a thread
  double *work;     // owned, [num_slots][work_size]
} Geometry;

static void clear_geometry(Geometry *g) {
  for (int i = 0; i < g->num_pieces; i++) RITZ_FREE(&g->pieces[i].matrix);
  RITZ_FREE(&g->pieces);
  RITZ_FREE(&g->half[0]);
  RITZ_FREE(&g->half[1]);
  RITZ_FREE(&g->work);
}

static int make_halves(Ceed ceed, int num_slots, Geometry *g) {
  const CeedInt P = g->order + 1;
  double *nodes = NULL; // owned: nodes [P], points [P]
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY(RITZ_MALLOC(ceed, 2 * (size_t)P, &nodes));
  ritz_fe_gauss_lobatto(P, nodes, NULL);
  for (int side = 0; side < 2; side++) {
    double *points = nodes + P;

    RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)P * (size_t)P, &g->half[side]));
    for (CeedInt i = 0; i < P; i++) points[i] = 0.5 * (nodes[i] + (side ? 1.0 : -1.0));
    RITZ_TRY_CLEANUP(ritz_fe_lagrange(ceed, P, nodes, P, points, g->half[side], NULL));
  }
  g->work_size = (size_t)ritz_mesh_map_work_size(g->shape->dim, g->space_dim, P, P);
  ierr = RITZ_MALLOC(ceed, (size_t)num_slots * g->work_size, &g->work);

cleanup:
  RITZ_FREE(&nodes);
  return ierr;
}

static int make_geometry(RitzMesh mesh, const RitzMeshBlock *block, int num_slots, Geometry *g) {
  *g = (Geometry){.shape = ritz_mesh_shape(block->topology),
                  .order = mesh->order,
                  .space_dim = mesh->space_dim,
                  .num_nodes = block->num_nodes};
  return g->shape->is_tensor ? make_halves(mesh->ceed, num_slots, g) : CEED_ERROR_SUCCESS;
}

// Rounding must not lead out of a pyramid: near the apex its functions change over any distance.
static void keep_in_pyramid(int64_t num_nodes, double *x) {
  for (int64_t i = 0; i < num_nodes; i++, x += 3) {
    double half = fmax(0.5 * (1.0 - x[2]), 0.0);

    for (int d = 0; d < 2; d++) x[d] = fmin(fmax(x[d], -half), half);
  }
}

int ritz_mesh_child_positions(Ceed ceed, CeedElemTopology parent, const RitzMeshChild *child, CeedInt degree,
                              double *x) {
  const RitzMeshShape *shape = ritz_mesh_shape(child->topology);
  const int dim = shape->dim, num_corners = shape->num_corners;
  const int64_t num_nodes = ritz_mesh_num_nodes(child->topology, degree);
  double *nodes = NULL, *weights = NULL, lattice[27 * 3], corners[3 * RITZ_MESH_MAX_CORNERS];
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY(ritz_fe_shape_nodes(ceed, parent, 2, lattice));
  for (int k = 0; k < num_corners; k++) {
    for (int d = 0; d < dim; d++) corners[k * dim + d] = lattice[child->node[k] * dim + d];
  }
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)(num_nodes * dim), &nodes));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)(num_nodes * num_corners), &weights));
  RITZ_TRY_CLEANUP(ritz_fe_shape_nodes(ceed, child->topology, degree, nodes));
  RITZ_TRY_CLEANUP(ritz_fe_shape_lagrange(ceed, child->topology, 1, (int)num_nodes, nodes, weights, NULL));
  ritz_mesh_map_dense(dim, num_nodes, num_corners, weights, corners, x);
  if (parent == CEED_TOPOLOGY_PYRAMID) keep_in_pyramid(num_nodes, x);

cleanup:
  RITZ_FREE(&nodes);
  RITZ_FREE(&weights);
  return ierr;
}

static int fill_matrix(Ceed ceed, const Geometry *g, Piece *piece) {
  const int64_t num_nodes = ritz_mesh_num_nodes(piece->child.topology, g->order);
  double *points = NULL;
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)(num_nodes * g->shape->dim), &points));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)(num_nodes * g->num_nodes), &piece->matrix));
  RITZ_TRY_CLEANUP(ritz_mesh_child_positions(ceed, g->shape->topology, &piece->child, g->order, points));
  ierr =
      ritz_fe_shape_lagrange(ceed, g->shape->topology, g->order, (int)num_nodes, points, piece->matrix, NULL);

cleanup:
  RITZ_FREE(&points);
  return ierr;
}

static bool is_same_child(const RitzMeshChild *a, const RitzMeshChild *b) {
  return a->topology == b->topology && !memcmp(a->node, b->node, sizeof(a->node));
}

// Tensor shapes are cut into tensor shapes by halving only.
static bool is_half(const Geometry *g, const RitzMeshChild *child) {
  return g->shape->is_tensor && child->topology == g->shape->topology;
}

// num_pieces: not met yet.
static int find_piece(const Geometry *g, const RitzMeshChild *child) {
  int i = 0;

  while (i < g->num_pieces && !is_same_child(&g->pieces[i].child, child)) i++;
  return i;
}

static int meet_piece(Ceed ceed, Geometry *g, const RitzMeshChild *child) {
  const int i = is_half(g, child) ? -1 : find_piece(g, child);

  if (i < g->num_pieces) return CEED_ERROR_SUCCESS;
  if (i == g->max_pieces) {
    RITZ_TRY(RITZ_REALLOC(ceed, 2 * (size_t)i + 8, &g->pieces));
    g->max_pieces = 2 * i + 8;
  }
  g->pieces[g->num_pieces++] = (Piece){.child = *child};
  return fill_matrix(ceed, g, &g->pieces[i]);
}

// Nodes y of a child that has been met from those of its parent, x.
static void map_nodes(const Geometry *g, int slot, const RitzMeshChild *child, const double *x, double *y) {
  if (is_half(g, child)) {
    const double *M[3];
    int at[3];

    find_point(g->shape, child->node[0], at);
    for (int d = 0; d < 3; d++) M[d] = g->half[at[d] > 0];
    ritz_mesh_map_points(g->shape->dim, g->space_dim, g->order + 1, g->order + 1, M, x, y,
                         g->work + (size_t)slot * g->work_size);
    return;
  }
  ritz_mesh_map_dense(g->space_dim, ritz_mesh_num_nodes(child->topology, g->order), g->num_nodes,
                      g->pieces[find_piece(g, child)].matrix, x, y);
}

// ---- Pieces of all elements ----

typedef struct {
  const RitzMeshCut *cut;                  // borrowed
  RitzMeshDraft fine;                      // owned
  int fine_block[NUM_SHAPES];              // by shape
  int64_t *num_before;                     // owned, [num_elem][NUM_SHAPES]: pieces of the elements before it
  Geometry geometry[RITZ_MESH_MAX_BLOCKS]; // owned: of the blocks that are cut
} Divide;

// Blocks of a part without elements have pieces without elements: all parts of a mesh have the same blocks.
// (Parts are refined only; pyramids have tetrahedra among their pieces.)
static bool is_kept_empty(RitzMesh mesh, CeedElemTopology topology) {
  for (int b = 0; b < mesh->num_blocks && mesh->seam; b++) {
    if (mesh->blocks[b].topology == topology) return true;
    if (mesh->blocks[b].topology == CEED_TOPOLOGY_PYRAMID && topology == CEED_TOPOLOGY_TET) return true;
  }
  return false;
}

// Meets all pieces, too.
static int count_pieces_of(Divide *d, int b, int64_t counts[NUM_SHAPES]) {
  const RitzMesh mesh = d->cut->mesh;
  const RitzMeshBlock *block = &mesh->blocks[b];

  for (int64_t e = block->first; e < block->first + block->num_elem; e++) {
    RitzMeshDivision division;

    memcpy(d->num_before + e * NUM_SHAPES, counts, NUM_SHAPES * sizeof(*counts));
    d->cut->choose(d->cut->ctx, b, e, &division);
    for (int i = 0; i < division.num; i++) {
      counts[shape_index(division.child[i].topology)]++;
      RITZ_TRY(meet_piece(mesh->ceed, &d->geometry[b], &division.child[i]));
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int count_pieces(Divide *d) {
  static const CeedElemTopology topologies[NUM_SHAPES] = {CEED_TOPOLOGY_LINE,    CEED_TOPOLOGY_TRIANGLE,
                                                          CEED_TOPOLOGY_QUAD,    CEED_TOPOLOGY_TET,
                                                          CEED_TOPOLOGY_PYRAMID, CEED_TOPOLOGY_PRISM,
                                                          CEED_TOPOLOGY_HEX};
  const RitzMesh mesh = d->cut->mesh;
  int64_t counts[NUM_SHAPES] = {0};
  int num_slots = 1;

  RITZ_TRY(ritz_run_ranges_slots(mesh->ceed, &num_slots));
  RITZ_TRY(RITZ_MALLOC(mesh->ceed, (size_t)mesh->num_elem * NUM_SHAPES, &d->num_before));
  for (int b = 0; b < mesh->num_blocks; b++) {
    RITZ_TRY(make_geometry(mesh, &mesh->blocks[b], num_slots, &d->geometry[b]));
    RITZ_TRY(count_pieces_of(d, b, counts));
  }
  for (int i = 0; i < NUM_SHAPES; i++) {
    if (!counts[i] && !is_kept_empty(mesh, topologies[i])) continue;
    d->fine_block[i] = d->fine.num_blocks;
    d->fine.blocks[d->fine.num_blocks++] = (RitzMeshBlock){.topology = topologies[i], .num_elem = counts[i]};
  }
  return ritz_mesh_draft_lay_out(mesh->ceed, d->cut->call, &d->fine);
}

static int allocate_pieces(Divide *d) {
  const Ceed ceed = d->cut->mesh->ceed;
  RitzMeshDraft *fine = &d->fine;

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)fine->num_places, &fine->elem_vertices));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(fine->num_points * fine->space_dim), &fine->coords));
  return RITZ_MALLOC(ceed, (size_t)fine->num_elem, &fine->elem_regions);
}

// Numbers of an element's first pieces, by shape.
static void find_first(const Divide *d, int64_t e, int64_t first[NUM_SHAPES]) {
  for (int i = 0; i < NUM_SHAPES; i++)
    first[i] = d->num_before[e * NUM_SHAPES + i] + d->fine.blocks[d->fine_block[i]].first;
}

static void fill_piece(const Divide *d, int slot, int b, int64_t e, const RitzMeshChild *child, int64_t f) {
  const RitzMesh mesh = d->cut->mesh;
  const RitzMeshBlock *block = &mesh->blocks[b];
  const RitzMeshBlock *fine = &d->fine.blocks[d->fine_block[shape_index(child->topology)]];
  const int64_t node = block->node_base + (e - block->first) * block->num_nodes;
  const int64_t fine_node = fine->node_base + (f - fine->first) * fine->num_nodes;
  int64_t *vertices = d->fine.elem_vertices + fine->corner_base + (f - fine->first) * fine->num_corners;

  for (int k = 0; k < fine->num_corners; k++) {
    vertices[k] = d->cut->vertex(d->cut->ctx, b, e, child->node[k]);
  }
  d->fine.elem_regions[f] = mesh->elem_regions[e];
  map_nodes(&d->geometry[b], slot, child, mesh->coords + node * mesh->space_dim,
            d->fine.coords + fine_node * mesh->space_dim);
}

typedef struct {
  const Divide *divide; // whose pieces are filled
  int block;
} Filling;

static void fill_range(void *data, int slot, int64_t first, int64_t count) {
  const Filling *filling = data;
  const Divide *d = filling->divide;
  const int b = filling->block;

  for (int64_t i = first; i < first + count; i++) {
    const int64_t e = d->cut->mesh->blocks[b].first + i;
    int64_t next[NUM_SHAPES];
    RitzMeshDivision division;

    d->cut->choose(d->cut->ctx, b, e, &division);
    find_first(d, e, next);
    for (int k = 0; k < division.num; k++)
      fill_piece(d, slot, b, e, &division.child[k], next[shape_index(division.child[k].topology)]++);
  }
}

static int fill_pieces(const Divide *d) {
  const RitzMesh mesh = d->cut->mesh;

  for (int b = 0; b < mesh->num_blocks; b++) {
    Filling filling = {d, b};

    RITZ_TRY(ritz_run_elements(mesh->ceed, mesh->blocks[b].num_elem, fill_range, &filling));
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Marks ----

// Points of the lattice of degree 2 on each facet, as bits.
static int find_facet_points(Ceed ceed, const RitzMeshShape *shape, uint32_t on_facet[RITZ_MESH_MAX_FACETS]) {
  RitzMeshElementNodes element;

  RITZ_TRY(ritz_mesh_element_nodes_create(ceed, shape->topology, 2, &element));
  for (int f = 0; f < shape->facets.num; f++) {
    on_facet[f] = 0;
    for (int i = 0; i < element.num; i++) {
      if (!ritz_mesh_entity_lies_on(&element.entities[i], shape->facets.corner[f])) continue;
      for (int64_t k = 0; k < element.entities[i].num_nodes; k++)
        on_facet[f] |= UINT32_C(1) << element.entities[i].nodes[k];
    }
  }
  ritz_mesh_element_nodes_clear(&element);
  return CEED_ERROR_SUCCESS;
}

static bool has_facet_among(const RitzMeshShape *shape, const RitzMeshChild *child, int facet,
                            uint32_t points) {
  for (int k = 0; k < shape->facets.num_corners && shape->facets.corner[facet][k] >= 0; k++) {
    if (!(points >> child->node[shape->facets.corner[facet][k]] & 1)) return false;
  }
  return true;
}

// The marked facet becomes facets of the pieces that lie on it.
static void divide_mark(const Divide *d, const RitzMeshDivision *division, const RitzMeshMark *mark,
                        uint32_t points, RitzMesh fine) {
  int64_t next[NUM_SHAPES];

  find_first(d, mark->elem, next);
  for (int i = 0; i < division->num; i++) {
    const RitzMeshChild *child = &division->child[i];
    const RitzMeshShape *shape = ritz_mesh_shape(child->topology);
    int64_t f = next[shape_index(child->topology)]++;

    for (int facet = 0; facet < shape->facets.num; facet++) {
      if (!has_facet_among(shape, child, facet, points)) continue;
      fine->marks[fine->num_marks++] = (RitzMeshMark){.elem = f, .part = mark->part, .facet = (int8_t)facet};
    }
  }
}

// A facet has at most 2^(dim-1) pieces.
static int divide_marks(const Divide *d, RitzMesh fine) {
  const RitzMesh mesh = d->cut->mesh;
  uint32_t points[RITZ_MESH_MAX_BLOCKS][RITZ_MESH_MAX_FACETS];

  for (int b = 0; b < mesh->num_blocks; b++) {
    RITZ_TRY(find_facet_points(mesh->ceed, ritz_mesh_shape(mesh->blocks[b].topology), points[b]));
  }
  RITZ_TRY(RITZ_MALLOC(mesh->ceed, (size_t)mesh->num_marks << (mesh->dim - 1), &fine->marks));
  for (int64_t i = 0; i < mesh->num_marks; i++) {
    const RitzMeshMark *mark = &mesh->marks[i];
    const int b = ritz_mesh_find_block(mesh->num_blocks, mesh->blocks, mark->elem);
    RitzMeshDivision division;

    d->cut->choose(d->cut->ctx, b, mark->elem, &division);
    divide_mark(d, &division, mark, points[b][mark->facet], fine);
  }
  return CEED_ERROR_SUCCESS;
}

// ---- All together ----

static int inherit(const Divide *d, RitzMesh fine) {
  const RitzMesh mesh = d->cut->mesh;

  RITZ_TRY(divide_marks(d, fine));
  if (mesh->seam) RITZ_TRY(ritz_mesh_seam_divide(d->cut, fine));
  return ritz_mesh_copy_sets(mesh, fine);
}

// The map may have a fold between the points where the parent was tested, so the pieces are tested, too.
int ritz_mesh_divide(const RitzMeshCut *cut, RitzMesh *pieces) {
  const RitzMesh mesh = cut->mesh;
  Divide d = {.cut = cut,
              .fine = {.dim = mesh->dim,
                       .space_dim = mesh->space_dim,
                       .order = mesh->order,
                       .num_vertices = cut->num_vertices,
                       .may_be_empty = mesh->seam != NULL}};
  int ierr = CEED_ERROR_SUCCESS;

  *pieces = NULL;
  RITZ_TRY_CLEANUP(count_pieces(&d));
  RITZ_TRY_CLEANUP(allocate_pieces(&d));
  RITZ_TRY_CLEANUP(fill_pieces(&d));
  RITZ_TRY_CLEANUP(ritz_mesh_check_orientation(mesh->ceed, cut->call, &d.fine, false));
  RITZ_TRY_CLEANUP(ritz_mesh_create_from(mesh->ceed, &d.fine, pieces));
  ierr = inherit(&d, *pieces);
  if (ierr) RitzMeshDestroy(pieces);

cleanup:
  for (int b = 0; b < mesh->num_blocks; b++) clear_geometry(&d.geometry[b]);
  RITZ_FREE(&d.num_before);
  ritz_mesh_draft_clear(&d.fine);
  return ierr;
}
