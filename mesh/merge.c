// SPDX-License-Identifier: BSD-2-Clause
// Vertices of a draft that are closer than a distance become one (contract in mesh/reader.h). Called by
// mesh/read.c.
#include <math.h>

#include "mesh/reader.h"

// Vertices that stay, in the cells of a grid.
typedef struct {
  Ceed ceed;                  // borrowed
  const RitzMeshDraft *draft; // borrowed
  double distance, size;      // of a cell
  RitzMeshTable cells;        // owned: their numbers
  int64_t num_firsts, *first; // owned, by cell: its last vertex, -1: none
  int64_t *next;              // owned, by vertex: the one before in its cell
  double *x;                  // owned, [num_vertices][3]
  int64_t *merged;            // owned, by vertex: the one that it becomes; -1: not seen yet
} Merge;

static void clear_merge(Merge *m) {
  ritz_mesh_table_clear(&m->cells);
  RITZ_FREE(&m->first);
  RITZ_FREE(&m->next);
  RITZ_FREE(&m->x);
  RITZ_FREE(&m->merged);
}

static double square_distance(const double *a, const double *b) {
  double square = 0.0;

  for (int d = 0; d < 3; d++) square += (a[d] - b[d]) * (a[d] - b[d]);
  return square;
}

// A vertex of the cell that is near enough, or -1.
static int64_t find_in_cell(const Merge *m, const int64_t cell[3], const double *x) {
  const int64_t number = ritz_mesh_table_find(&m->cells, cell);

  if (number < 0) return -1;
  for (int64_t v = m->first[number]; v >= 0; v = m->next[v]) {
    if (square_distance(m->x + 3 * v, x) <= m->distance * m->distance) return v;
  }
  return -1;
}

static int64_t find_near(const Merge *m, const double *x) {
  int64_t low[3], high[3], cell[3];

  for (int d = 0; d < 3; d++) {
    low[d] = (int64_t)floor((x[d] - m->distance) / m->size);
    high[d] = (int64_t)floor((x[d] + m->distance) / m->size);
  }
  for (cell[0] = low[0]; cell[0] <= high[0]; cell[0]++) {
    for (cell[1] = low[1]; cell[1] <= high[1]; cell[1]++) {
      for (cell[2] = low[2]; cell[2] <= high[2]; cell[2]++) {
        const int64_t found = find_in_cell(m, cell, x);

        if (found >= 0) return found;
      }
    }
  }
  return -1;
}

static int enter(Merge *m, int64_t v) {
  const double *x = m->x + 3 * v;
  int64_t cell[3], number;

  for (int d = 0; d < 3; d++) cell[d] = (int64_t)floor(x[d] / m->size);
  RITZ_TRY(ritz_mesh_table_insert(m->ceed, &m->cells, cell, &number));
  m->next[v] = number < m->num_firsts ? m->first[number] : -1;
  if (number == m->num_firsts) m->num_firsts++;
  m->first[number] = v;
  return CEED_ERROR_SUCCESS;
}

static int merge_vertex(Merge *m, int64_t v, const double *x) {
  if (m->merged[v] >= 0) return CEED_ERROR_SUCCESS;
  for (CeedInt d = 0; d < m->draft->space_dim; d++) m->x[3 * v + d] = x[d];
  const int64_t near = find_near(m, m->x + 3 * v);

  m->merged[v] = near < 0 ? v : near;
  return near < 0 ? enter(m, v) : CEED_ERROR_SUCCESS;
}

static int merge_block(Merge *m, const RitzMeshBlock *block) {
  const RitzMeshDraft *draft = m->draft;
  const RitzMeshShape *shape = ritz_mesh_shape(block->topology);
  const int64_t *vertices = draft->elem_vertices + block->corner_base;
  const double *x = draft->coords + block->node_base * draft->space_dim;
  int64_t nodes[RITZ_MESH_MAX_CORNERS];

  for (int k = 0; k < block->num_corners; k++) {
    int64_t at[3];

    for (int d = 0; d < 3; d++) at[d] = shape->corner_at[k][d] * draft->order;
    nodes[k] = ritz_mesh_lattice_index(block->topology, draft->order, at);
  }
  for (int64_t e = 0; e < block->num_elem; e++) {
    for (int k = 0; k < block->num_corners; k++)
      RITZ_TRY(merge_vertex(m, vertices[k], x + nodes[k] * draft->space_dim));
    vertices += block->num_corners;
    x += block->num_nodes * draft->space_dim;
  }
  return CEED_ERROR_SUCCESS;
}

static int find_merged(Merge *m) {
  const RitzMeshDraft *draft = m->draft;
  const int64_t num = draft->num_vertices;
  double low[3], high[3], extent = 0.0;

  ritz_mesh_bounds(draft->space_dim, draft->num_points, draft->coords, low, high);
  for (CeedInt d = 0; d < draft->space_dim; d++) extent = fmax(extent, fmax(fabs(low[d]), fabs(high[d])));
  // Neither more cells than can be numbered nor many vertices in one.
  m->size = fmax(4.0 * m->distance, 1e-12 * fmax(extent, 1e-280));
  RITZ_TRY(ritz_mesh_table_create(m->ceed, 3, 0, &m->cells));
  RITZ_TRY(RITZ_MALLOC(m->ceed, (size_t)num, &m->first));
  RITZ_TRY(RITZ_MALLOC(m->ceed, (size_t)num, &m->next));
  RITZ_TRY(RITZ_MALLOC(m->ceed, (size_t)num, &m->merged));
  RITZ_TRY(RITZ_CALLOC(m->ceed, 3 * (size_t)num, &m->x));
  for (int64_t v = 0; v < num; v++) m->merged[v] = -1;
  for (int b = 0; b < draft->num_blocks; b++) RITZ_TRY(merge_block(m, &draft->blocks[b]));
  return CEED_ERROR_SUCCESS;
}

int ritz_reader_merge(Ceed ceed, double distance, RitzMeshDraft *draft) {
  Merge m = {.ceed = ceed, .draft = draft, .distance = distance};
  const int ierr = find_merged(&m);

  if (!ierr) ritz_reader_renumber(m.merged, draft);
  clear_merge(&m);
  return ierr;
}
