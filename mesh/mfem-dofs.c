// SPDX-License-Identifier: BSD-2-Clause
// Degrees of freedom of MFEM's node collections on segments, squares and cubes. Called by mesh/mfem-nodes.c.
//
// Shared collections number four blocks: vertices, edges (p-1 nodes each), faces ((p-1)^2), interiors
// ((p-1)^dim). Vertices that nothing uses have no number. Edges and faces are numbered as the walk through
// the elements meets them. The nodes of an edge run from its smaller to its larger vertex. The nodes of a
// face (b0, b1, b2, b3), as the element that meets it first lists it, run along b0 b1 and then along b0 b3;
// another element finds them through the same four vertices.
//
// Nodes of an element are addressed by their lattice index i + (p+1) j + (p+1)^2 k.
#include "mesh/mfem.h"

// Listed corners of edges and faces, in the order in which an element meets them.
static const RitzMeshEntities square_edges = {4, 2, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}};
static const RitzMeshEntities cube_edges = {
    12, 2, {{0, 1}, {1, 2}, {3, 2}, {0, 3}, {4, 5}, {5, 6}, {7, 6}, {4, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}}};
static const RitzMeshEntities cube_faces = {
    6, 4, {{3, 2, 1, 0}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}, {4, 5, 6, 7}}};
static const RitzMeshEntities none = {0};

static const RitzMeshEntities *local_edges(int dim) {
  return dim == 1 ? &none : dim == 2 ? &square_edges : &cube_edges;
}

static const int64_t *listed_vertices(const RitzMfemFile *file, int64_t e) {
  return &file->elements.vertices[e * ritz_shapes[file->shape].num_corners];
}

// ---- Numbering edges and faces ----

// Numbers edges or faces as they are met; *numbers is new.
static int number_entities(const RitzMfemFile *file, const RitzMeshEntities *entities, int64_t *count,
                           int64_t **numbers) {
  RitzMeshTable table = {0};
  int64_t num_elem = file->elements.num;
  Ceed ceed = file->text->ceed;

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(num_elem * entities->num), numbers));
  int ierr = ritz_mesh_number_entities(ceed, entities, ritz_shapes[file->shape].num_corners, num_elem,
                                       file->elements.vertices, &table, *numbers);

  *count = table.num_keys;
  ritz_mesh_table_clear(&table);
  return ierr;
}

// Where each face is met first.
static int find_face_records(int64_t num_faces, RitzMfemDofs *dofs) {
  int64_t next = 0;

  RITZ_TRY(RITZ_MALLOC(dofs->file->text->ceed, (size_t)num_faces, &dofs->face_records));
  for (int64_t i = 0; next < num_faces; i++) {
    if (dofs->faces[i] == next) dofs->face_records[next++] = i;
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
  int64_t inner = dofs->layout.degree - 1, num_edges, num_faces = 0;

  RITZ_TRY(RITZ_MALLOC(file->text->ceed, (size_t)file->num_vertices, &dofs->vertex_dofs));
  dofs->first_edge = number_vertices(file, dofs->vertex_dofs);
  RITZ_TRY(number_entities(file, local_edges(file->dim), &num_edges, &dofs->edges));
  if (file->dim == 3) {
    RITZ_TRY(number_entities(file, &cube_faces, &num_faces, &dofs->faces));
    RITZ_TRY(find_face_records(num_faces, dofs));
  }
  dofs->first_face = dofs->first_edge + num_edges * inner;
  dofs->first_interior = dofs->first_face + num_faces * inner * inner;
  dofs->num_dofs = dofs->first_interior + file->elements.num * ritz_mesh_power(inner, file->dim);
  return CEED_ERROR_SUCCESS;
}

int ritz_mfem_dofs_create(const RitzMfemFile *file, RitzMfemLayout layout, RitzMfemDofs *dofs) {
  *dofs = (RitzMfemDofs){.file = file, .layout = layout};
  dofs->num_dofs = file->elements.num * ritz_mesh_power(layout.degree + 1, file->dim);
  int ierr = layout.is_shared ? number_shared(dofs) : CEED_ERROR_SUCCESS;

  if (ierr) ritz_mfem_dofs_destroy(dofs);
  return ierr;
}

void ritz_mfem_dofs_destroy(RitzMfemDofs *dofs) {
  RITZ_FREE(&dofs->vertex_dofs);
  RITZ_FREE(&dofs->edges);
  RITZ_FREE(&dofs->faces);
  RITZ_FREE(&dofs->face_records);
}

// ---- Nodes of one element ----

// Lattice index of a listed corner: bit d of its lexicographic number says which end of axis d it is at.
static int64_t corner_node(const RitzMfemDofs *dofs, int corner) {
  int64_t p = dofs->layout.degree, node = 0, stride = p;

  for (int d = 0; d < 3; d++, stride *= p + 1) node += (ritz_listed_corner[corner] >> d & 1) * stride;
  return node;
}

static void place_edge(const RitzMfemDofs *dofs, int64_t e, int edge, int64_t *list) {
  const RitzMeshEntities *edges = local_edges(dofs->file->dim);
  const int8_t *corners = edges->corner[edge];
  const int64_t *v = listed_vertices(dofs->file, e);
  int64_t p = dofs->layout.degree, number = dofs->edges[e * edges->num + edge];
  bool is_forward = v[corners[0]] < v[corners[1]];
  int64_t from = corner_node(dofs, corners[!is_forward]), to = corner_node(dofs, corners[is_forward]);

  for (int64_t i = 1; i < p; i++)
    list[from + (to - from) / p * i] = dofs->first_edge + number * (p - 1) + i - 1;
}

// The corner of element e that is the vertex v.
static int find_corner(const RitzMfemFile *file, int64_t e, int64_t v) {
  const int64_t *vertices = listed_vertices(file, e);
  int corner = 0;

  while (corner < 7 && vertices[corner] != v) corner++;
  return corner;
}

static int place_face(const RitzMfemDofs *dofs, int64_t e, int face, int64_t *list) {
  const RitzMfemFile *file = dofs->file;
  int64_t p = dofs->layout.degree, number = dofs->faces[6 * e + face], record = dofs->face_records[number],
          b[4];
  int64_t dof = dofs->first_face + number * (p - 1) * (p - 1);
  const int64_t *owner = listed_vertices(file, record / 6);

  for (int i = 0; i < 4; i++) {
    b[i] = corner_node(dofs, find_corner(file, e, owner[cube_faces.corner[record % 6][i]]));
  }
  // For p >= 2 lattice indices add up like vectors here: b must go around the face of this element too.
  if (b[0] + b[2] != b[1] + b[3])
    return ritz_text_fail_at(
        file->text, file->elements.places[e], CEED_ERROR_MAJOR,
        "elements %lld and %lld (from 0) have the vertices of a common face in different "
        "orders",
        (long long)(record / 6), (long long)e);
  for (int64_t j = 1; j < p; j++) {
    for (int64_t i = 1; i < p; i++) list[b[0] + (b[1] - b[0]) / p * i + (b[3] - b[0]) / p * j] = dof++;
  }
  return CEED_ERROR_SUCCESS;
}

static void place_interior(const RitzMfemDofs *dofs, int64_t e, int64_t *list) {
  static const int around[2][2] = {{1, 2}, {4, 3}}; // [j][i]: (1,1) (2,1) (2,2) (1,2) counted from 1
  int64_t n = dofs->layout.degree + 1, inner = n - 2;
  int dim = dofs->file->dim;
  int64_t num_j = dim > 1 ? inner : 1, num_k = dim > 2 ? inner : 1;
  int64_t dof = dofs->first_interior + e * ritz_mesh_power(inner, dim);
  int64_t origin = 1 + (dim > 1 ? n : 0) + (dim > 2 ? n * n : 0);

  for (int64_t k = 0; k < num_k; k++) {
    for (int64_t j = 0; j < num_j; j++) {
      for (int64_t i = 0; i < inner; i++) {
        bool goes_around = dofs->layout.is_cubic && dim == 3;
        int64_t place = goes_around ? around[j][i] - 1 : i + inner * j;

        list[origin + i + n * (j + n * k)] = dof + place + inner * num_j * k;
      }
    }
  }
}

int ritz_mfem_dofs_of_element(const RitzMfemDofs *dofs, int64_t e, int64_t *list) {
  const RitzMfemFile *file = dofs->file;
  int dim = file->dim;
  int64_t num = ritz_mesh_power(dofs->layout.degree + 1, dim);

  if (!dofs->layout.is_shared) {
    for (int64_t i = 0; i < num; i++) list[i] = e * num + i;
    return CEED_ERROR_SUCCESS;
  }
  for (int c = 0; c < ritz_shapes[file->shape].num_corners; c++) {
    list[corner_node(dofs, c)] = dofs->vertex_dofs[listed_vertices(file, e)[c]];
  }
  for (int i = 0; i < local_edges(dim)->num; i++) place_edge(dofs, e, i, list);
  for (int i = 0; i < 6 && dim == 3 && dofs->layout.degree > 1; i++) RITZ_TRY(place_face(dofs, e, i, list));
  place_interior(dofs, e, list);
  return CEED_ERROR_SUCCESS;
}
