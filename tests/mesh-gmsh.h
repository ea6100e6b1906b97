// SPDX-License-Identifier: BSD-2-Clause
// Boxes of cells with known maps, written as Gmsh 2.2 and 4.1: text, binary, binary of the other byte order.
// The orders of nodes are tables here, not computed as in the library. Included by tests/test-readers*.c.
#ifndef RITZ_TESTS_MESH_GMSH_H
#define RITZ_TESTS_MESH_GMSH_H

#include "tests/mesh-files.h"

// Lattice positions of nodes, digits along x, y, z: from generated files.
static const char *const gmsh_lines[] = {"0 1", "0 2 1", "0 3 1 2"};
static const char *const gmsh_quads[] = {"00 10 11 01", "00 20 22 02 10 21 12 01 11",
                                         "00 30 33 03 10 20 31 32 23 13 02 01 11 21 22 12"};
static const char *const gmsh_hexes[] = {
    "000 100 110 010 001 101 111 011",
    "000 200 220 020 002 202 222 022 100 010 001 210 201 120 221 021 102 012 212 122 110 101 011 211 121 112 "
    "111",
    "000 300 330 030 003 303 333 033 100 200 010 020 001 002 310 320 301 302 230 130 331 332 031 032 103 203 "
    "013 023 313 323 233 133 110 120 220 210 101 201 202 102 011 012 022 021 311 321 322 312 231 131 132 232 "
    "113 213 223 123 111 211 221 121 112 212 222 122"};
static const int gmsh_codes[4][3] = {{15, 15, 15}, {1, 8, 26}, {3, 10, 36}, {5, 12, 92}};

typedef struct {
  SampleMap map;
  int n[3];    // cells per direction, 1 beyond map.dim
  int version; // 2 or 4
  bool is_binary, is_swapped;
  bool has_sparse_tags, has_parameters, has_groups, has_entities, has_others;
  int num_closed; // the first so many directions are periodic
} GmshSample;

// Physical groups: cells 101 "matter" (first half) and 102 (no name); facets 201 "left side" (x = 0), 202 (x
// = 1), 203 "two sides" (x = 0 and, from two dimensions on, y = 0). Other facets are in no group.
enum { NUM_SIDES = 6 };

static inline int gmsh_num_nodes(const GmshSample *s) {
  int num = 1;

  for (int d = 0; d < s->map.dim; d++) num *= s->n[d] * s->map.degree + 1;
  return num;
}

static inline long long gmsh_tag(const GmshSample *s, int node) {
  return s->has_sparse_tags ? 1000003 - 7LL * node : node + 1;
}

// Node of the whole lattice at position `at`.
static inline int gmsh_node(const GmshSample *s, const int at[3]) {
  int node = 0, stride = 1;

  for (int d = 0; d < s->map.dim; d++) {
    node += at[d] * stride;
    stride *= s->n[d] * s->map.degree + 1;
  }
  return node;
}

static inline void gmsh_node_position(const GmshSample *s, int node, double x[3]) {
  double X[3] = {0, 0, 0};

  for (int d = 0; d < s->map.dim; d++) {
    int num = s->n[d] * s->map.degree + 1;

    X[d] = (double)(node % num) / (num - 1);
    node /= num;
  }
  sample_map(s->map, X, x);
}

// The nodes of an element of dimension `dim` whose lattice starts at `origin` and runs along axes[dim].
static inline int gmsh_element_nodes(const GmshSample *s, int dim, const int origin[3], const int axes[3],
                                     int *nodes) {
  const char *const *tables[] = {NULL, gmsh_lines, gmsh_quads, gmsh_hexes};
  int num = 0;

  if (dim == 0) {
    nodes[0] = gmsh_node(s, origin);
    return 1;
  }
  for (const char *c = tables[dim][s->map.degree - 1]; *c; c += dim, c += *c == ' ') {
    int at[3] = {origin[0], origin[1], origin[2]};

    for (int d = 0; d < dim; d++) at[axes[d]] += c[d] - '0';
    nodes[num++] = gmsh_node(s, at);
  }
  return num;
}

typedef struct {
  int dim, entity, group; // group: version 2.2
  int num_nodes, nodes[64];
} GmshElement;

typedef struct {
  int num;
  GmshElement *list; // owned
} GmshElements;

static inline GmshElement *gmsh_append(GmshElements *elements) {
  elements->list = realloc(elements->list, (size_t)(elements->num + 1) * sizeof(GmshElement));
  if (!elements->list) abort();
  return &elements->list[elements->num++];
}

// Entities: cells 1 and 2, side i of the box 11 + i, a point 31.
static inline void gmsh_add_cells(const GmshSample *s, GmshElements *elements) {
  const int axes[3] = {0, 1, 2};
  int num_cells = s->n[0] * s->n[1] * s->n[2];

  for (int e = 0; e < num_cells; e++) {
    int cell[3] = {e % s->n[0], e / s->n[0] % s->n[1], e / s->n[0] / s->n[1]}, origin[3];
    GmshElement *element = gmsh_append(elements);

    for (int d = 0; d < 3; d++) origin[d] = cell[d] * s->map.degree;
    *element = (GmshElement){s->map.dim, 2 * e < num_cells ? 1 : 2, 2 * e < num_cells ? 101 : 102, 0, {0}};
    element->num_nodes = gmsh_element_nodes(s, s->map.dim, origin, axes, element->nodes);
  }
}

static inline void gmsh_add_side(const GmshSample *s, int side, int group, GmshElements *elements) {
  int axis = side / 2, axes[3], num_axes = 0, num[3] = {s->n[0], s->n[1], s->n[2]};

  for (int d = 0; d < s->map.dim; d++) {
    if (d != axis) axes[num_axes++] = d;
  }
  num[axis] = 1;
  for (int i = 0; i < num[0] * num[1] * num[2]; i++) {
    int cell[3] = {i % num[0], i / num[0] % num[1], i / num[0] / num[1]}, origin[3];
    GmshElement *element = gmsh_append(elements);

    for (int d = 0; d < 3; d++) origin[d] = cell[d] * s->map.degree;
    if (side % 2) origin[axis] = s->n[axis] * s->map.degree;
    *element = (GmshElement){s->map.dim - 1, 11 + side, group, 0, {0}};
    element->num_nodes = gmsh_element_nodes(s, s->map.dim - 1, origin, axes, element->nodes);
  }
}

// Facets before cells, as Gmsh writes them; in version 2.2 elements in two groups come twice.
static inline GmshElements gmsh_elements(const GmshSample *s) {
  GmshElements elements = {0, NULL};
  bool is_old = s->version == 2;

  for (int side = 0; side < 2 * s->map.dim; side++) {
    int group = side == 0 ? 201 : side == 1 ? 202 : side == 2 ? 203 : 0;

    gmsh_add_side(s, side, s->has_groups ? group : 0, &elements);
  }
  if (s->has_groups && is_old) gmsh_add_side(s, 0, 203, &elements);
  if (s->map.dim > 1) *gmsh_append(&elements) = (GmshElement){0, 31, 0, 1, {gmsh_num_nodes(s)}};
  int first_cell = elements.num;

  gmsh_add_cells(s, &elements);
  if (s->has_groups && is_old) {
    GmshElement *again = gmsh_append(&elements);

    *again = elements.list[first_cell];
    again->group = 103;
  }
  if (!s->has_groups) {
    for (int i = 0; i < elements.num; i++) elements.list[i].group = 0;
  }
  return elements;
}

static inline void gmsh_put_format(const GmshSample *s, FileBytes *f) {
  file_text(f, "$MeshFormat\n%s %d 8\n", s->version == 2 ? "2.2" : "4.1", s->is_binary);
  f->is_binary = s->is_binary;
  f->is_swapped = s->is_swapped;
  if (s->is_binary) {
    file_int(f, 1);
    file_text(f, "\n");
  }
  file_text(f, "$EndMeshFormat\n");
}

static inline void gmsh_put_names(const GmshSample *s, FileBytes *f) {
  if (!s->has_groups) return;
  file_text(f, "$PhysicalNames\n");
  file_text_count(f, 4);
  file_text(f, "%d 201 \"left side\"\n%d 203 \"two sides\"\n", s->map.dim - 1, s->map.dim - 1);
  file_text(f, "%d 101 \"matter\"\n%d 201 \"not a facet\"\n$EndPhysicalNames\n", s->map.dim, s->map.dim);
}

// ---- Gmsh 2.2 ----

static inline void gmsh2_put_node(const GmshSample *s, int node, bool is_extra, FileBytes *f) {
  double x[3] = {5, 6, 7};

  if (!is_extra) gmsh_node_position(s, node, x);
  file_int(f, gmsh_tag(s, node));
  for (int d = 0; d < 3; d++) file_double(f, x[d]);
  if (s->has_parameters) {
    int dim = node % 4; // as many parameters as dimensions, but none in volumes

    file_int(f, dim);
    file_int(f, 11);
    for (int d = 0; d < dim && dim < 3; d++) file_double(f, 0.5);
  }
  file_line(f);
}

// The last node is used by no cell.
static inline void gmsh2_put_nodes(const GmshSample *s, FileBytes *f) {
  int num = gmsh_num_nodes(s);

  file_text(f, s->has_parameters ? "$ParametricNodes\n" : "$Nodes\n");
  file_text_count(f, num + 1);
  for (int i = 0; i <= num; i++) gmsh2_put_node(s, i, i == num, f);
  file_text(f, s->has_parameters ? "%s$EndParametricNodes\n" : "%s$EndNodes\n", s->is_binary ? "\n" : "");
}

static inline void gmsh2_put_elements(const GmshSample *s, FileBytes *f) {
  GmshElements elements = gmsh_elements(s);

  file_text(f, "$Elements\n");
  file_text_count(f, elements.num);
  for (int i = 0; i < elements.num; i++) {
    const GmshElement *element = &elements.list[i];
    int code = gmsh_codes[element->dim][s->map.degree - 1];

    if (!s->is_binary) file_int(f, 10 * i + 5);
    file_int(f, code);
    if (s->is_binary) file_int(f, 1);
    file_int(f, 2);
    if (s->is_binary) file_int(f, 10 * i + 5);
    file_int(f, element->group);
    file_int(f, element->entity);
    for (int m = 0; m < element->num_nodes; m++) file_int(f, gmsh_tag(s, element->nodes[m]));
    file_line(f);
  }
  file_text(f, s->is_binary ? "\n$EndElements\n" : "$EndElements\n");
  free(elements.list);
}

// ---- Gmsh 4.1 ----

static inline void gmsh4_put_entity(const GmshSample *s, int dim, int tag, int num_groups, const int *groups,
                                    FileBytes *f) {
  (void)s;
  file_int(f, tag);
  for (int i = 0; i < (dim == 0 ? 3 : 6); i++) file_double(f, 0.25 * i);
  file_size_count(f, num_groups);
  for (int i = 0; i < num_groups; i++) file_int(f, groups[i]);
  if (dim > 0) {
    file_size_count(f, 2);
    file_int(f, 900);
    file_int(f, -901);
  }
  file_line(f);
}

// A group with a negative tag has the entity the other way round; the name is that of the positive tag.
static inline void gmsh4_put_entities(const GmshSample *s, FileBytes *f) {
  static const int side_groups[NUM_SIDES][2] = {{-201, 203}, {202, 0}, {203, 0}};
  static const int cell_groups[2][1] = {{101}, {102}};
  int dim = s->map.dim;

  file_text(f, "$Entities\n");
  for (int d = 0; d <= 3; d++)
    file_size_count(f, d == dim ? 2 : (d == dim - 1 ? 2 * dim : 0) + (d == 0 && dim > 1));
  file_line(f);
  for (int d = 0; d <= 3; d++) {
    if (d == 0 && dim > 1) gmsh4_put_entity(s, 0, 31, 0, NULL, f);
    for (int side = 0; side < 2 * dim && d == dim - 1; side++) {
      int num = s->has_groups ? (side == 0 ? 2 : side < 3) : 0;

      gmsh4_put_entity(s, d, 11 + side, num, side_groups[side], f);
    }
    for (int i = 0; i < 2 && d == dim; i++) gmsh4_put_entity(s, d, 1 + i, s->has_groups, cell_groups[i], f);
  }
  file_text(f, s->is_binary ? "\n$EndEntities\n" : "$EndEntities\n");
}

static inline void gmsh4_put_node_block(const GmshSample *s, int dim, int first, int num, FileBytes *f) {
  file_int(f, dim);
  file_int(f, 1);
  file_int(f, s->has_parameters);
  file_size_count(f, num);
  file_line(f);
  for (int i = first; i < first + num; i++) {
    file_size(f, gmsh_tag(s, i));
    file_line(f);
  }
  for (int i = first; i < first + num; i++) {
    double x[3] = {5, 6, 7};

    if (i < gmsh_num_nodes(s)) gmsh_node_position(s, i, x);
    for (int d = 0; d < 3; d++) file_double(f, x[d]);
    for (int d = 0; d < dim && s->has_parameters; d++) file_double(f, 0.5);
    file_line(f);
  }
}

// Four blocks: one without nodes, the others of dimensions 0 (the node that no cell uses), 1 and 2.
static inline void gmsh4_put_nodes(const GmshSample *s, FileBytes *f) {
  int num = gmsh_num_nodes(s), half = num / 2;

  file_text(f, "$Nodes\n");
  file_size_count(f, 4);
  file_size_count(f, num + 1);
  file_size(f, 1);
  file_size(f, 1000003);
  file_line(f);
  gmsh4_put_node_block(s, 3, 0, 0, f);
  gmsh4_put_node_block(s, 0, num, 1, f);
  gmsh4_put_node_block(s, 1, 0, half, f);
  gmsh4_put_node_block(s, 2, half, num - half, f);
  file_text(f, s->is_binary ? "\n$EndNodes\n" : "$EndNodes\n");
}

static inline bool gmsh4_begins_block(const GmshElements *elements, int i) {
  const GmshElement *a = &elements->list[i], *b = a - 1;

  return i == 0 || a->dim != b->dim || a->entity != b->entity;
}

// A block for each run of elements on one entity.
static inline void gmsh4_put_elements(const GmshSample *s, FileBytes *f) {
  GmshElements elements = gmsh_elements(s);
  int num_blocks = 0;

  for (int i = 0; i < elements.num; i++) num_blocks += gmsh4_begins_block(&elements, i);
  file_text(f, "$Elements\n");
  file_size_count(f, num_blocks);
  file_size_count(f, elements.num);
  file_size(f, 1);
  file_size(f, elements.num);
  file_line(f);
  for (int i = 0; i < elements.num; i++) {
    const GmshElement *element = &elements.list[i];

    if (gmsh4_begins_block(&elements, i)) {
      int end = i + 1;

      while (end < elements.num && !gmsh4_begins_block(&elements, end)) end++;
      file_int(f, element->dim);
      file_int(f, element->entity);
      file_int(f, gmsh_codes[element->dim][s->map.degree - 1]);
      file_size_count(f, end - i);
      file_line(f);
    }
    file_size(f, 10 * i + 5);
    for (int m = 0; m < element->num_nodes; m++) file_size(f, gmsh_tag(s, element->nodes[m]));
    file_line(f);
  }
  file_text(f, s->is_binary ? "\n$EndElements\n" : "$EndElements\n");
  free(elements.list);
}

// Also bytes that look like the end of another section, and a line that is no section.
static inline void gmsh_put_skipped(const GmshSample *s, FileBytes *f) {
  if (!s->has_others) return;
  file_text(f, "$Periods\n1\n0 1 2\nAffine 1 0 0 1 0 1 0 0 0 0 1 0 0 0 0 1\n1\n1 2\n$EndPeriodically\n");
  if (s->is_binary) file_put(f, "\1\2\3$EndNodes\n\0\n$EndPeriod\n", 26);
  file_text(f, "$EndPeriods\nnothing in particular\n");
}

// A pair of nodes for each node at the end of a direction, and the one at its beginning.
static inline void gmsh_put_pairs(const GmshSample *s, int d, FileBytes *f) {
  const int num_nodes = gmsh_num_nodes(s);
  int stride = 1;

  for (int i = 0; i < d; i++) stride *= s->n[i] * s->map.degree + 1;
  const int last = s->n[d] * s->map.degree;

  file_size(f, num_nodes / (last + 1));
  file_line(f);
  for (int node = 0; node < num_nodes; node++) {
    if (node / stride % (last + 1) != last) continue;
    file_size(f, gmsh_tag(s, node));
    file_size(f, gmsh_tag(s, node - last * stride));
    file_line(f);
  }
}

static inline void gmsh_put_periodic(const GmshSample *s, FileBytes *f) {
  if (!s->num_closed) return;
  file_text(f, "$Periodic\n");
  f->is_binary = s->is_binary && s->version == 4;
  file_size(f, s->num_closed);
  file_line(f);
  for (int d = 0; d < s->num_closed; d++) {
    file_int(f, s->map.dim - 1);
    file_int(f, 2 * d + 2);
    file_int(f, 2 * d + 1);
    file_line(f);
    if (s->version == 4) file_size(f, 16);
    if (s->version == 2 && d == 0) file_text(f, "Affine ");
    for (int i = 0; i < 16 && (s->version == 4 || d == 0); i++) file_double(f, i % 5 == 0);
    file_line(f);
    gmsh_put_pairs(s, d, f);
  }
  f->is_binary = s->is_binary;
  file_text(f, "%s$EndPeriodic\n", s->is_binary ? "\n" : "");
}

static inline FileBytes gmsh_file(const GmshSample *s) {
  FileBytes f = {.data = NULL};

  gmsh_put_format(s, &f);
  gmsh_put_names(s, &f);
  if (s->version == 4 && s->has_entities) gmsh4_put_entities(s, &f);
  gmsh_put_skipped(s, &f);
  gmsh_put_periodic(s, &f);
  if (s->version == 2) {
    gmsh2_put_nodes(s, &f);
    gmsh2_put_elements(s, &f);
  } else {
    gmsh4_put_nodes(s, &f);
    gmsh4_put_elements(s, &f);
  }
  return f;
}

#endif
