// SPDX-License-Identifier: BSD-2-Clause
// Boxes of cells with known maps, rotated against each other, written as MFEM meshes. Degrees of freedom are
// listed as points, block by block as the format describes them, not found from the elements as in the
// library. Included by tests/test-readers*.c.
#ifndef RITZ_TESTS_MESH_MFEM_H
#define RITZ_TESTS_MESH_MFEM_H

#include "tests/mesh-files.h"

typedef struct {
  SampleMap map;
  int n[3];
  const char *version;    // "1.0"
  const char *collection; // NULL: straight; "H1_2D_P3" ...
  bool is_shared, is_cubic;
  double points[8]; // 1D nodes on [0,1], degree + 1 of them
  int ordering;
  uint64_t seed; // of rotations and vertex numbers; 0: all cells alike, vertices lexicographic
} MfemSample;

// How a cell lies in the box: local direction d runs along axis[d], backwards if is_back[d].
typedef struct {
  int axis[3];
  bool is_back[3];
} MfemFrame;

typedef struct {
  int num_cells, num_vertices, num_corners;
  MfemFrame frames[64];
  int vertices[64][8]; // as listed
  int position[512];   // of vertex v: lattice point
} MfemCells;

static const int mfem_corners[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                       {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};

// One of the rotations: 24 in space, 4 in the plane.
static inline MfemFrame mfem_frame(int dim, uint64_t *state) {
  for (;;) {
    MfemFrame frame = {{0, 1, 2}, {false, false, false}};
    int sign = 1;

    for (int d = dim - 1; d > 0 && *state; d--) {
      int other = (int)tap_integer(state, d + 1), kept = frame.axis[d];

      sign = other == d ? sign : -sign;
      frame.axis[d] = frame.axis[other];
      frame.axis[other] = kept;
    }
    for (int d = 0; d < dim && *state; d++) {
      frame.is_back[d] = dim > 1 && tap_integer(state, 2);
      sign = frame.is_back[d] ? -sign : sign;
    }
    if (sign > 0) return frame;
  }
}

// The point of the box at local coordinates r of a cell.
static inline void mfem_point(const MfemSample *s, const MfemCells *cells, int e, const double r[3],
                              double X[3]) {
  const int cell[3] = {e % s->n[0], e / s->n[0] % s->n[1], e / s->n[0] / s->n[1]};
  const MfemFrame *frame = &cells->frames[e];

  X[0] = X[1] = X[2] = 0;
  for (int d = 0; d < s->map.dim; d++) {
    int axis = frame->axis[d];

    X[axis] = (cell[axis] + (frame->is_back[d] ? 1 - r[d] : r[d])) / s->n[axis];
  }
}

static inline int mfem_lattice(const MfemSample *s, const double X[3]) {
  int lattice = 0, stride = 1;

  for (int d = 0; d < s->map.dim; d++, stride *= s->n[d - 1] + 1)
    lattice += (int)(X[d] * s->n[d] + 0.5) * stride;
  return lattice;
}

static inline MfemCells mfem_cells(const MfemSample *s) {
  MfemCells cells = {
      .num_cells = s->n[0] * s->n[1] * s->n[2], .num_corners = 1 << s->map.dim, .num_vertices = 1};
  uint64_t state = s->seed;
  int number[512];

  for (int d = 0; d < s->map.dim; d++) cells.num_vertices *= s->n[d] + 1;
  for (int v = 0; v < cells.num_vertices; v++) cells.position[v] = v;
  for (int v = cells.num_vertices - 1; v > 0 && state; v--) {
    int other = (int)tap_integer(&state, v + 1), kept = cells.position[v];

    cells.position[v] = cells.position[other];
    cells.position[other] = kept;
  }
  for (int v = 0; v < cells.num_vertices; v++) number[cells.position[v]] = v;
  for (int e = 0; e < cells.num_cells; e++) {
    cells.frames[e] = mfem_frame(s->map.dim, &state);
    for (int c = 0; c < cells.num_corners; c++) {
      const double r[3] = {mfem_corners[c][0], mfem_corners[c][1], mfem_corners[c][2]};
      double X[3];

      mfem_point(s, &cells, e, r, X);
      cells.vertices[e][c] = number[mfem_lattice(s, X)];
    }
  }
  return cells;
}

static inline void mfem_vertex_point(const MfemSample *s, const MfemCells *cells, int v, double X[3]) {
  int lattice = cells->position[v];

  X[0] = X[1] = X[2] = 0;
  for (int d = 0; d < s->map.dim; d++) {
    X[d] = (double)(lattice % (s->n[d] + 1)) / s->n[d];
    lattice /= s->n[d] + 1;
  }
}

// Degrees of freedom as a list of points of the box, made block by block as the format describes them.
typedef struct {
  int num;
  double (*points)[3]; // owned
} MfemDofs;

static inline void mfem_add_dof(MfemDofs *dofs, const double X[3]) {
  dofs->points = realloc(dofs->points, (size_t)(dofs->num + 1) * sizeof(*dofs->points));
  if (!dofs->points) abort();
  memcpy(dofs->points[dofs->num++], X, sizeof(*dofs->points));
}

// a + r (b - a) + s (c - a)
static inline void mfem_blend(const double *a, const double *b, const double *c, double r, double s,
                              double *X) {
  for (int d = 0; d < 3; d++) X[d] = a[d] + r * (b[d] - a[d]) + s * (c[d] - a[d]);
}

// Whether `vertices` has come before as a set of `size`; if not, it is remembered.
typedef struct {
  int num, sets[1024][4];
} MfemSeen;

static inline bool mfem_is_new(MfemSeen *seen, int size, const int *vertices) {
  for (int i = 0; i < seen->num; i++) {
    int num_common = 0;

    for (int a = 0; a < size; a++) {
      for (int b = 0; b < size; b++) num_common += vertices[a] == seen->sets[i][b];
    }
    if (num_common == size) return false;
  }
  if (seen->num == 1024) abort();
  memcpy(seen->sets[seen->num++], vertices, (size_t)size * sizeof(int));
  return true;
}

static inline void mfem_add_edges(const MfemSample *s, const MfemCells *cells, MfemDofs *dofs) {
  static const char *const tables[] = {"", "", "01 12 23 30", "01 12 32 03 45 56 76 47 04 15 26 37"};
  MfemSeen *seen = calloc(1, sizeof(*seen));

  for (int e = 0; e < cells->num_cells && seen; e++) {
    for (const char *c = tables[s->map.dim]; *c; c += 2, c += *c == ' ') {
      int v[2] = {cells->vertices[e][c[0] - '0'], cells->vertices[e][c[1] - '0']}, small = v[0] > v[1];
      double a[3], b[3], X[3];

      if (!mfem_is_new(seen, 2, v)) continue;
      mfem_vertex_point(s, cells, v[small], a);
      mfem_vertex_point(s, cells, v[!small], b);
      for (int i = 1; i < s->map.degree; i++) {
        mfem_blend(a, b, a, s->points[i], 0, X);
        mfem_add_dof(dofs, X);
      }
    }
  }
  free(seen);
}

static inline void mfem_add_faces(const MfemSample *s, const MfemCells *cells, MfemDofs *dofs) {
  MfemSeen *seen = calloc(1, sizeof(*seen));

  for (int e = 0; e < cells->num_cells && seen; e++) {
    for (const char *c = "3210 0154 1265 2376 3047 4567"; *c; c += 4, c += *c == ' ') {
      int b[4];
      double x[3][3], X[3];

      for (int i = 0; i < 4; i++) b[i] = cells->vertices[e][c[i] - '0'];
      if (!mfem_is_new(seen, 4, b)) continue;
      for (int i = 0; i < 3; i++) mfem_vertex_point(s, cells, b[i == 2 ? 3 : i], x[i]);
      for (int j = 1; j < s->map.degree; j++) {
        for (int i = 1; i < s->map.degree; i++) {
          mfem_blend(x[0], x[1], x[2], s->points[i], s->points[j], X);
          mfem_add_dof(dofs, X);
        }
      }
    }
  }
  free(seen);
}

// Nodes first .. last of each direction of cell e.
static inline void mfem_add_inside(const MfemSample *s, const MfemCells *cells, int e, int first, int last,
                                   MfemDofs *dofs) {
  static const int around[4][2] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}};
  int num = last - first + 1, dim = s->map.dim, total = sample_int_power(num > 0 ? num : 0, dim);

  for (int m = 0; m < total; m++) {
    int at[3] = {first + m % num, first + m / num % num, first + m / num / num};
    double X[3];

    if (s->is_cubic && dim == 3 && num == 2) memcpy(at, around[m % 4], sizeof(around[0]));
    const double r[3] = {s->points[at[0]], s->points[at[1]], dim == 3 ? s->points[at[2]] : 0};

    mfem_point(s, cells, e, r, X);
    mfem_add_dof(dofs, X);
  }
}

static inline MfemDofs mfem_dofs(const MfemSample *s, const MfemCells *cells) {
  MfemDofs dofs = {0, NULL};
  int p = s->map.degree;

  for (int v = 0; v < cells->num_vertices && s->is_shared; v++) {
    double X[3];

    mfem_vertex_point(s, cells, v, X);
    mfem_add_dof(&dofs, X);
  }
  if (s->is_shared && s->map.dim > 1) mfem_add_edges(s, cells, &dofs);
  if (s->is_shared && s->map.dim > 2) mfem_add_faces(s, cells, &dofs);
  for (int e = 0; e < cells->num_cells; e++) {
    mfem_add_inside(s, cells, e, s->is_shared ? 1 : 0, s->is_shared ? p - 1 : p, &dofs);
  }
  return dofs;
}

static inline void mfem_put_nodes(const MfemSample *s, const MfemCells *cells, FileBytes *f) {
  MfemDofs dofs = mfem_dofs(s, cells);
  int space_dim = sample_space_dim(s->map);

  file_text(f, "nodes\nFiniteElementSpace\nFiniteElementCollection: %s\nVDim: %d\nOrdering: %d\n\n",
            s->collection, space_dim, s->ordering);
  for (int i = 0; i < dofs.num * space_dim; i++) {
    double x[3];

    sample_map(s->map, dofs.points[s->ordering ? i / space_dim : i % dofs.num], x);
    file_text(f, "%.17g\n", x[s->ordering ? i % space_dim : i / dofs.num]);
  }
  free(dofs.points);
}

static inline void mfem_put_coordinates(const MfemSample *s, const MfemCells *cells, FileBytes *f) {
  int space_dim = sample_space_dim(s->map);

  file_text(f, "%d\n", space_dim);
  for (int v = 0; v < cells->num_vertices; v++) {
    double X[3], x[3];

    mfem_vertex_point(s, cells, v, X);
    sample_map(s->map, X, x);
    for (int d = 0; d < space_dim; d++) file_text(f, "%.17g ", x[d]);
    file_text(f, "\n");
  }
}

static const char *const mfem_facets[] = {"", "0 1", "01 12 23 30", "3210 0154 1265 2376 3047 4567"};

// Whether the facet of cell e with these listed corners lies on a side of the box (2 axis + end).
static inline bool mfem_is_on_side(const MfemSample *s, const MfemCells *cells, int e, const char *corners,
                                   int side) {
  for (int i = 0; i < 1 << (s->map.dim - 1); i++) {
    double X[3];

    mfem_vertex_point(s, cells, cells->vertices[e][corners[i] - '0'], X);
    if (X[side / 2] != side % 2) return false;
  }
  return true;
}

// The sides of the box have attributes 1 (x = 0), 2 (x = 1), 3 ...; facets are listed around.
static inline void mfem_put_boundary(const MfemSample *s, const MfemCells *cells, FileBytes *f) {
  static const int codes[] = {0, 0, 1, 3};
  int dim = s->map.dim, size = 1 << (dim - 1), num = 0;

  for (int d = 0; d < dim; d++) num += 2 * cells->num_cells / s->n[d];
  file_text(f, "boundary\n");
  file_text_count(f, num);
  for (int e = 0; e < cells->num_cells; e++) {
    for (const char *c = mfem_facets[dim]; *c; c += size, c += *c == ' ') {
      for (int side = 0; side < 2 * dim; side++) {
        if (!mfem_is_on_side(s, cells, e, c, side)) continue;
        file_text(f, "%d %d", side + 1, codes[dim]);
        for (int i = 0; i < size; i++) file_text(f, " %d", cells->vertices[e][c[i] - '0']);
        file_text(f, "\n");
      }
    }
  }
}

// Two sets, each with a count that tests may falsify.
static inline void mfem_put_sets(FileBytes *f, const char *keyword, const char *first, const char *second,
                                 int second_first_attribute, int second_last_attribute) {
  file_text(f, "\n%s\n", keyword);
  file_text_count(f, 2);
  file_text(f, "%s ", first);
  file_text_count(f, 1);
  file_text(f, "1\n%s ", second);
  file_text_count(f, 2);
  file_text(f, "%d %d\n", second_first_attribute, second_last_attribute);
}

static inline FileBytes mfem_file(const MfemSample *s) {
  static const int codes[] = {0, 1, 3, 5};
  FileBytes f = {.data = NULL};
  MfemCells cells = mfem_cells(s);
  bool has_sets = !strcmp(s->version, "1.3"), has_end = strcmp(s->version, "1.0") != 0;

  file_text(&f, "MFEM mesh v%s\n\n# a comment\n  # another one\n\ndimension\n%d\n\nelements\n", s->version,
            s->map.dim);
  file_text_count(&f, cells.num_cells);
  for (int e = 0; e < cells.num_cells; e++) {
    file_text(&f, "%d %d", 2 * e < cells.num_cells ? 1 : 7, codes[s->map.dim]);
    for (int c = 0; c < cells.num_corners; c++) file_text(&f, " %d", cells.vertices[e][c]);
    file_text(&f, "\n");
  }
  if (has_sets) mfem_put_sets(&f, "attribute_sets", "\"first half\"", "both", 1, 7);
  file_text(&f, "\n");
  mfem_put_boundary(s, &cells, &f);
  if (has_sets) mfem_put_sets(&f, "bdr_attribute_sets", "left", "\"x sides\"", 1, 2);
  file_text(&f, "\nvertices\n");
  if (s->collection)
    file_text(&f, "%d\n", cells.num_vertices); // a vertex more would just be unused
  else
    file_text_count(&f, cells.num_vertices);
  if (s->collection)
    mfem_put_nodes(s, &cells, &f);
  else
    mfem_put_coordinates(s, &cells, &f);
  if (has_end) file_text(&f, "mfem_mesh_end\n");
  return f;
}

#endif
