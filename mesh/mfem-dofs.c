// SPDX-License-Identifier: BSD-2-Clause
// Degrees of freedom of MFEM's node collections on all shapes. Called by mesh/mfem-nodes.c.
//
// Shared collections number four blocks: vertices, edges (p-1 nodes each), faces (of solids), interiors.
// Vertices that nothing uses have no number. Edges and faces are numbered as the walk through the elements
// meets them. The nodes of an edge run from its smaller to its larger vertex. The nodes of a face (b0, b1,
// b2, b3), as the element that meets it first lists it, run along b0 b1 and then along b0 b3, those of a
// triangle (b0, b1, b2) along b0 b1 and then along b0 b2; another element finds them through the same
// vertices. Inside they follow the element's own lattice.
#include "mesh/mfem.h"

// Listed corners of edges and faces, in the order in which an element meets them; -1 fills up triangles.
typedef struct {
  int num_edges, num_faces;
  int8_t edges[12][2], faces[6][4];
} Entities;

static const Entities entities[RITZ_NUM_SHAPES] = {
    [RITZ_SHAPE_TRIANGLE] = {3, 0, {{0, 1}, {1, 2}, {2, 0}}, {{0}}},
    [RITZ_SHAPE_SQUARE] = {4, 0, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}, {{0}}},
    [RITZ_SHAPE_TETRAHEDRON] = {6,
                                4,
                                {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}},
                                {{1, 2, 3, -1}, {0, 3, 2, -1}, {0, 1, 3, -1}, {0, 2, 1, -1}}},
    [RITZ_SHAPE_CUBE] =
        {12,
         6,
         {{0, 1}, {1, 2}, {3, 2}, {0, 3}, {4, 5}, {5, 6}, {7, 6}, {4, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}},
         {{3, 2, 1, 0}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}, {4, 5, 6, 7}}},
    [RITZ_SHAPE_PRISM] = {9,
                          5,
                          {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}, {0, 3}, {1, 4}, {2, 5}},
                          {{0, 2, 1, -1}, {3, 4, 5, -1}, {0, 1, 4, 3}, {1, 2, 5, 4}, {2, 0, 3, 5}}},
    [RITZ_SHAPE_PYRAMID] = {8,
                            5,
                            {{0, 1}, {1, 2}, {3, 2}, {0, 3}, {0, 4}, {1, 4}, {2, 4}, {3, 4}},
                            {{3, 2, 1, 0}, {0, 1, 4, -1}, {1, 2, 4, -1}, {2, 3, 4, -1}, {3, 0, 4, -1}}},
};

static RitzShape shape_of(const RitzMfemFile *file, int64_t e) { return (RitzShape)file->elements.shapes[e]; }

static const Entities *entities_of(const RitzMfemFile *file, int64_t e) {
  return &entities[shape_of(file, e)];
}

static const int64_t *listed_vertices(const RitzMfemFile *file, int64_t e) {
  return &file->elements.vertices[file->elements.first[e]];
}

static int64_t num_triangle_nodes(int64_t p) { return (p - 1) * (p - 2) / 2; }

static int64_t num_inner_nodes(RitzShape shape, int64_t p) {
  switch (shape) {
  case RITZ_SHAPE_SEGMENT: return p - 1;
  case RITZ_SHAPE_TRIANGLE: return num_triangle_nodes(p);
  case RITZ_SHAPE_SQUARE: return (p - 1) * (p - 1);
  case RITZ_SHAPE_TETRAHEDRON: return num_triangle_nodes(p) * (p - 3) / 3;
  case RITZ_SHAPE_CUBE: return (p - 1) * (p - 1) * (p - 1);
  case RITZ_SHAPE_PRISM: return num_triangle_nodes(p) * (p - 1);
  default: return 0; // pyramids are read for p = 1 only
  }
}

// ---- Numbering edges and faces ----

static int number_edges(RitzMfemDofs *dofs, int64_t *num_edges) {
  const RitzMfemFile *file = dofs->file;
  RitzMeshTable table = {0};
  Ceed ceed = file->text->ceed;
  int ierr = ritz_mesh_table_create(ceed, 2, file->elements.num, &table);

  for (int64_t e = 0; e < file->elements.num && !ierr; e++) {
    const int64_t *v = listed_vertices(file, e);

    for (int i = 0; i < entities_of(file, e)->num_edges && !ierr; i++) {
      const int8_t *corners = entities_of(file, e)->edges[i];
      int64_t key[2] = {v[corners[0]], v[corners[1]]};

      ritz_mesh_sort_vertices(2, key);
      ierr = ritz_mesh_table_insert(ceed, &table, key, &dofs->edges[e * dofs->max_edges + i]);
    }
  }
  *num_edges = table.num_keys;
  ritz_mesh_table_clear(&table);
  return ierr;
}

static int number_faces(RitzMfemDofs *dofs, int64_t *num_faces) {
  const RitzMfemFile *file = dofs->file;
  RitzMeshTable table = {0};
  Ceed ceed = file->text->ceed;
  int ierr = ritz_mesh_table_create(ceed, 4, file->elements.num, &table);

  for (int64_t e = 0; e < file->elements.num && !ierr; e++) {
    const int64_t *v = listed_vertices(file, e);

    for (int i = 0; i < entities_of(file, e)->num_faces && !ierr; i++) {
      int64_t key[4];

      for (int c = 0; c < 4; c++) {
        int corner = entities_of(file, e)->faces[i][c];

        key[c] = corner < 0 ? -1 : v[corner];
      }
      ritz_mesh_sort_vertices(4, key);
      ierr = ritz_mesh_table_insert(ceed, &table, key, &dofs->faces[e * dofs->max_faces + i]);
    }
  }
  *num_faces = table.num_keys;
  ritz_mesh_table_clear(&table);
  return ierr;
}

// Where each face is met first, and its dofs from *next_dof on.
static int number_face_dofs(RitzMfemDofs *dofs, int64_t num_faces, int64_t *next_dof) {
  const RitzMfemFile *file = dofs->file;
  int64_t p = dofs->layout.degree, next = 0;

  RITZ_TRY(RITZ_MALLOC(file->text->ceed, (size_t)num_faces, &dofs->face_records));
  RITZ_TRY(RITZ_MALLOC(file->text->ceed, (size_t)num_faces, &dofs->face_dofs));
  for (int64_t e = 0; next < num_faces; e++) {
    for (int i = 0; i < entities_of(file, e)->num_faces; i++) {
      int64_t record = e * dofs->max_faces + i;

      if (dofs->faces[record] != next) continue;
      dofs->face_records[next] = record;
      dofs->face_dofs[next++] = *next_dof;
      *next_dof += entities_of(file, e)->faces[i][3] < 0 ? num_triangle_nodes(p) : (p - 1) * (p - 1);
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int64_t number_vertices(const RitzMfemFile *file, int64_t *dofs) {
  const RitzMfemRecords *records[] = {&file->elements, &file->boundary};
  int64_t next = 0;

  for (int64_t v = 0; v < file->num_vertices; v++) dofs[v] = -1;
  for (int r = 0; r < 2; r++) {
    for (int64_t i = 0; i < records[r]->num_vertices; i++) dofs[records[r]->vertices[i]] = 0;
  }
  for (int64_t v = 0; v < file->num_vertices; v++) {
    if (dofs[v] == 0) dofs[v] = next++;
  }
  return next;
}

static int number_shared(RitzMfemDofs *dofs) {
  const RitzMfemFile *file = dofs->file;
  Ceed ceed = file->text->ceed;
  int64_t num_edges, num_faces;

  for (int s = 0; s < RITZ_NUM_SHAPES; s++) {
    if (!file->elements.counts[s]) continue;
    if (entities[s].num_edges > dofs->max_edges) dofs->max_edges = entities[s].num_edges;
    if (entities[s].num_faces > dofs->max_faces) dofs->max_faces = entities[s].num_faces;
  }
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)file->num_vertices, &dofs->vertex_dofs));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(file->elements.num * dofs->max_edges), &dofs->edges));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(file->elements.num * dofs->max_faces), &dofs->faces));
  dofs->first_edge = number_vertices(file, dofs->vertex_dofs);
  RITZ_TRY(number_edges(dofs, &num_edges));
  RITZ_TRY(number_faces(dofs, &num_faces));
  dofs->num_dofs = dofs->first_edge + num_edges * (dofs->layout.degree - 1);
  return number_face_dofs(dofs, num_faces, &dofs->num_dofs);
}

static int number(RitzMfemDofs *dofs) {
  const RitzMfemFile *file = dofs->file;
  int p = dofs->layout.degree;

  if (dofs->layout.is_shared) RITZ_TRY(number_shared(dofs));
  RITZ_TRY(RITZ_MALLOC(file->text->ceed, (size_t)file->elements.num, &dofs->first_inside));
  for (int64_t e = 0; e < file->elements.num; e++) {
    RitzShape shape = shape_of(file, e);

    dofs->first_inside[e] = dofs->num_dofs;
    dofs->num_dofs += dofs->layout.is_shared ? num_inner_nodes(shape, p)
                                             : ritz_mesh_num_nodes(ritz_shapes[shape].topology, p);
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_mfem_dofs_create(const RitzMfemFile *file, RitzMfemLayout layout, RitzMfemDofs *dofs) {
  *dofs = (RitzMfemDofs){.file = file, .layout = layout};
  int ierr = number(dofs);

  if (ierr) ritz_mfem_dofs_destroy(dofs);
  return ierr;
}

void ritz_mfem_dofs_destroy(RitzMfemDofs *dofs) {
  RITZ_FREE(&dofs->first_inside);
  RITZ_FREE(&dofs->vertex_dofs);
  RITZ_FREE(&dofs->edges);
  RITZ_FREE(&dofs->faces);
  RITZ_FREE(&dofs->face_records);
  RITZ_FREE(&dofs->face_dofs);
}

// ---- Nodes of one element ----

static const int8_t *corner_at(RitzShape shape, int listed_corner) {
  return ritz_mesh_shape(ritz_shapes[shape].topology)->corner_at[ritz_listed_corner(shape, listed_corner)];
}

// The node with these weights of three listed corners, whose sum is p.
static int64_t blend(const RitzMfemDofs *dofs, RitzShape shape, const int corners[3], int a, int b, int c) {
  const int8_t *x = corner_at(shape, corners[0]), *y = corner_at(shape, corners[1]),
               *z = corner_at(shape, corners[2]);
  const int64_t at[3] = {a * x[0] + b * y[0] + c * z[0], a * x[1] + b * y[1] + c * z[1],
                         a * x[2] + b * y[2] + c * z[2]};

  return ritz_mesh_lattice_index(ritz_shapes[shape].topology, dofs->layout.degree, at);
}

static void place_vertices(const RitzMfemDofs *dofs, int64_t e, int64_t *list) {
  RitzShape shape = shape_of(dofs->file, e);
  const int64_t *v = listed_vertices(dofs->file, e);

  for (int c = 0; c < ritz_shapes[shape].num_corners; c++) {
    const int corners[3] = {c, c, c};

    list[blend(dofs, shape, corners, dofs->layout.degree, 0, 0)] = dofs->vertex_dofs[v[c]];
  }
}

static void place_edge(const RitzMfemDofs *dofs, int64_t e, int edge, int64_t *list) {
  const int8_t *ends = entities_of(dofs->file, e)->edges[edge];
  const int64_t *v = listed_vertices(dofs->file, e);
  int p = dofs->layout.degree;
  int64_t number = dofs->edges[e * dofs->max_edges + edge];
  bool is_forward = v[ends[0]] < v[ends[1]];
  const int corners[3] = {ends[!is_forward], ends[is_forward], ends[is_forward]};

  for (int i = 1; i < p; i++)
    list[blend(dofs, shape_of(dofs->file, e), corners, p - i, i, 0)] =
        dofs->first_edge + number * (p - 1) + i - 1;
}

// The corner of element e that is the vertex v.
static int find_corner(const RitzMfemFile *file, int64_t e, int64_t v) {
  const int64_t *vertices = listed_vertices(file, e);
  int corner = 0, last = ritz_shapes[shape_of(file, e)].num_corners - 1;

  while (corner < last && vertices[corner] != v) corner++;
  return corner;
}

static void place_triangle(const RitzMfemDofs *dofs, int64_t e, const int b[3], int64_t dof, int64_t *list) {
  int p = dofs->layout.degree;

  for (int j = 1; j < p; j++) {
    for (int i = 1; i + j < p; i++) list[blend(dofs, shape_of(dofs->file, e), b, p - i - j, i, j)] = dof++;
  }
}

// i along b0 b1, j along b0 b3: b0 + i (b1 - b0) + j (b3 - b0) with b0 weighted by p - i - j.
static int place_square(const RitzMfemDofs *dofs, int64_t e, const int b[4], int64_t owner, int64_t dof,
                        int64_t *list) {
  RitzShape shape = shape_of(dofs->file, e);
  const int corners[3] = {b[0], b[1], b[3]};
  int p = dofs->layout.degree;

  for (int d = 0; d < 3; d++) {
    if (corner_at(shape, b[0])[d] + corner_at(shape, b[2])[d] !=
        corner_at(shape, b[1])[d] + corner_at(shape, b[3])[d])
      return ritz_text_fail_at(
          dofs->file->text, dofs->file->elements.places[e], CEED_ERROR_MAJOR,
          "elements %lld and %lld (from 0) have the vertices of a common face in different "
          "orders",
          (long long)owner, (long long)e);
  }
  for (int j = 1; j < p; j++) {
    for (int i = 1; i < p; i++) list[blend(dofs, shape, corners, p - i - j, i, j)] = dof++;
  }
  return CEED_ERROR_SUCCESS;
}

static int place_face(const RitzMfemDofs *dofs, int64_t e, int face, int64_t *list) {
  const RitzMfemFile *file = dofs->file;
  int64_t number = dofs->faces[e * dofs->max_faces + face], record = dofs->face_records[number];
  int64_t owner = record / dofs->max_faces;
  const int8_t *corners = entities_of(file, owner)->faces[record % dofs->max_faces];
  bool is_triangle = corners[3] < 0;
  int b[4];

  for (int i = 0; i < 4 - is_triangle; i++) {
    b[i] = find_corner(file, e, listed_vertices(file, owner)[corners[i]]);
  }
  if (!is_triangle) return place_square(dofs, e, b, owner, dofs->face_dofs[number], list);
  place_triangle(dofs, e, b, dofs->face_dofs[number], list);
  return CEED_ERROR_SUCCESS;
}

// In a cube of the collection `Cubic` the four nodes of a layer go around: (1,1) (2,1) (2,2) (1,2).
static void place_inside(const RitzMfemDofs *dofs, int64_t e, int64_t *list) {
  RitzShape shape = shape_of(dofs->file, e);
  CeedElemTopology topology = ritz_shapes[shape].topology;
  bool goes_around = dofs->layout.is_cubic && shape == RITZ_SHAPE_CUBE;
  int64_t dof = dofs->first_inside[e], p = dofs->layout.degree, at[3] = {0, 0, 0}, node = 0;

  do {
    int turned = goes_around && at[1] == 2 ? (at[0] == 1 ? 1 : -1) : 0;

    if (ritz_lattice_is_inner(topology, p, at)) list[node] = dof++ + turned;
    node++;
  } while (ritz_lattice_next(topology, p, at));
}

int ritz_mfem_dofs_of_element(const RitzMfemDofs *dofs, int64_t e, int64_t *list) {
  const Entities *its = entities_of(dofs->file, e);
  CeedElemTopology topology = ritz_shapes[shape_of(dofs->file, e)].topology;
  int64_t num = ritz_mesh_num_nodes(topology, dofs->layout.degree);

  if (!dofs->layout.is_shared) {
    for (int64_t i = 0; i < num; i++) list[i] = dofs->first_inside[e] + i;
    return CEED_ERROR_SUCCESS;
  }
  place_vertices(dofs, e, list);
  for (int i = 0; i < its->num_edges; i++) place_edge(dofs, e, i, list);
  for (int i = 0; i < its->num_faces && dofs->layout.degree > 1; i++) RITZ_TRY(place_face(dofs, e, i, list));
  place_inside(dofs, e, list);
  return CEED_ERROR_SUCCESS;
}
