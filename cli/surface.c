// SPDX-License-Identifier: BSD-2-Clause
// The surface of a grid (contract in cli/surface.h): shapes of cells, where a face's nodes stand among those
// of its cell, which faces are outside. Called by cli/picture.c.
//
// Nodes of a cell: corners; inner nodes of the edges, each from its first corner to the second; inner nodes
// of the faces; the inside. Cells of one file often have points of their own, so neighbours are found by
// position.
#include "cli/surface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

// ---- Shapes ----

typedef struct {
  int dim, num_corners;
  const char *edges;
  const char *faces[6]; // by corners: c0 at (0,0), c1 at (p,0), then c2 at (0,p), or at (p,p) and c3 at (0,p)
} Shape;

enum { TRIANGLE, QUAD, TET, HEX, WEDGE, PYRAMID, NUM_SHAPES };
static const Shape shapes[NUM_SHAPES] = {
    {2, 3, "01 12 20", {"012"}},
    {2, 4, "01 12 32 03", {"0123"}},
    {3, 4, "01 12 20 03 13 23", {"013", "231", "032", "021"}},
    {3, 8, "01 12 32 03 45 56 76 47 04 15 26 37", {"0374", "1265", "0154", "3267", "0123", "4567"}},
    {3, 6, "01 12 20 34 45 53 03 14 25", {"012", "345", "0143", "1254", "2035"}},
    {3, 5, "01 12 32 03 04 14 24 34", {"0123", "014", "124", "234", "304"}},
};

static int64_t num_nodes(int shape, int64_t p) {
  switch (shape) {
  case TRIANGLE: return (p + 1) * (p + 2) / 2;
  case QUAD: return (p + 1) * (p + 1);
  case TET: return (p + 1) * (p + 2) * (p + 3) / 6;
  case HEX: return (p + 1) * (p + 1) * (p + 1);
  case WEDGE: return (p + 1) * (p + 1) * (p + 2) / 2;
  default: return p == 1 ? 5 : 0;
  }
}

// VTK's codes: linear cells, those of degree 2 whose nodes are in the order of Lagrange cells, Lagrange
// cells.
static int shape_of_code(int code) {
  static const uint8_t codes[][2] = {{5, TRIANGLE}, {9, QUAD},     {10, TET},      {12, HEX},
                                     {13, WEDGE},   {14, PYRAMID}, {22, TRIANGLE}, {24, TET},
                                     {28, QUAD},    {29, HEX},     {69, TRIANGLE}, {70, QUAD},
                                     {71, TET},     {72, HEX},     {73, WEDGE},    {74, PYRAMID}};

  for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
    if (codes[i][0] == code) return codes[i][1];
  }
  return -1;
}

// Vertices and lines, which are not drawn.
static bool is_thin(int code) { return (code >= 1 && code <= 4) || code == 21 || code == 35 || code == 68; }

static int64_t begin_of_cell(const VtuGrid *grid, int64_t cell) { return cell ? grid->ends[cell - 1] : 0; }

// -1: its number of nodes fits no degree.
static int degree_of_cell(const VtuGrid *grid, int64_t cell) {
  const int64_t num = grid->ends[cell] - begin_of_cell(grid, cell);
  const int shape = shape_of_code(grid->types[cell]);

  for (int p = 1; p <= SURFACE_MAX_DEGREE; p++) {
    if (num_nodes(shape, p) == num) return p;
  }
  return -1;
}

// ---- Nodes of a face, counted in its cell ----

// Node m of those from corner a to b.
static int edge_node(const Shape *shape, int p, int a, int b, int m) {
  if (m == 0) return a - '0';
  if (m == p) return b - '0';
  int e = 0;
  for (const char *edge = shape->edges;; edge += 3, e++) {
    const int first = shape->num_corners + e * (p - 1);

    if (edge[0] == a && edge[1] == b) return first + m - 1;
    if (edge[0] == b && edge[1] == a) return first + p - m - 1;
  }
}

static int triangle_size(int q) { return q < 0 ? 0 : (q + 1) * (q + 2) / 2; }

// The place of (i, j) in a triangle of degree q: row by row, as in faces of wedges, or ring by ring from
// outside, corners and then edges of each.
static int place_in_rows(int q, int i, int j) { return j * (q + 1) - j * (j - 1) / 2 + i; }

static int place_in_rings(int q, int i, int j) {
  int first = 0;

  for (; i > 0 && j > 0 && i + j < q; i--, j--, q -= 3) first += 3 * q;
  if (i == 0 && j == 0) return first;
  if (i == q) return first + 1;
  if (j == q) return first + 2;
  if (j == 0) return first + 2 + i;
  return i > 0 ? first + q + 1 + j : first + 3 * q - j;
}

static int inner_node(const Shape *shape, int face, int p, int i, int j) {
  int first = shape->num_corners + (int)((strlen(shape->edges) + 1) / 3) * (p - 1);
  const bool has_rows = shape == &shapes[WEDGE];

  for (int f = 0; f < face; f++) first += shape->faces[f][3] ? (p - 1) * (p - 1) : triangle_size(p - 3);
  if (shape->faces[face][3]) return first + (i - 1) + (p - 1) * (j - 1);
  return first + (has_rows ? place_in_rows : place_in_rings)(p - 3, i - 1, j - 1);
}

static int face_node(const Shape *shape, int face, int p, int i, int j) {
  const char *c = shape->faces[face];
  const bool is_quad = c[3];

  if (j == 0) return edge_node(shape, p, c[0], c[1], i);
  if (i == 0) return edge_node(shape, p, c[0], c[is_quad ? 3 : 2], j);
  if (!is_quad && i + j == p) return edge_node(shape, p, c[1], c[2], j);
  if (is_quad && i == p) return edge_node(shape, p, c[1], c[2], j);
  if (is_quad && j == p) return edge_node(shape, p, c[3], c[2], i);
  return inner_node(shape, face, p, i, j);
}

int surface_nodes(const Surface *surface, int64_t number, int *num_corners, int64_t ids[SURFACE_MAX_NODES]) {
  const VtuGrid *grid = surface->grid;
  const SurfaceFace *face = &surface->faces[number];
  const Shape *shape = &shapes[shape_of_code(grid->types[face->cell])];
  const int p = degree_of_cell(grid, face->cell);
  const int64_t *nodes = grid->ids + begin_of_cell(grid, face->cell);
  int n = 0;

  *num_corners = (int)strlen(shape->faces[face->face]);
  for (int j = 0; j <= p; j++) {
    for (int i = 0; i <= (*num_corners == 4 ? p : p - j); i++)
      ids[n++] = nodes[face_node(shape, face->face, p, i, j)];
  }
  return p;
}

// ---- Places ----

// Moves and scales the points into [-1,1]^3, without overflow, as the numbers come from a file.
static int normalize(const VtuFile *file, VtuGrid *grid) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, half = 0;

  for (int64_t i = 0; i < 3 * grid->num_points; i++) {
    low[i % 3] = fmin(low[i % 3], grid->points[i]);
    high[i % 3] = fmax(high[i % 3], grid->points[i]);
  }
  for (int d = 0; d < 3; d++) half = fmax(half, high[d] / 2 - low[d] / 2);
  if (!(half > 1e-300)) return vtu_fail(file, "all of its points lie in one place");
  for (int64_t i = 0; i < 3 * grid->num_points; i++)
    grid->points[i] = (grid->points[i] / 2 - (low[i % 3] / 4 + high[i % 3] / 4)) / (half / 2);
  return CLI_OK;
}

// Points that were met, in a table with open addressing: in cubes of the grid, several times as wide as
// places may differ.
typedef struct {
  const VtuGrid *grid;
  double width;
  uint64_t mask;
  int64_t *table; // owned, -1: free
} Places;

static uint64_t hash_of_cube(const int64_t cube[3]) {
  uint64_t h = 0;

  for (int d = 0; d < 3; d++) {
    h = (h ^ (uint64_t)cube[d]) * UINT64_C(0x9e3779b97f4a7c15);
    h ^= h >> 29;
  }
  return h;
}

static int64_t find_in_cube(const Places *places, const int64_t cube[3], const double x[3]) {
  for (uint64_t at = hash_of_cube(cube);; at++) {
    const int64_t point = places->table[at & places->mask];

    if (point < 0) return -1;
    const double *y = places->grid->points + 3 * point, tolerance = places->grid->tolerance;
    if (fabs(x[0] - y[0]) <= tolerance && fabs(x[1] - y[1]) <= tolerance && fabs(x[2] - y[2]) <= tolerance)
      return point;
  }
}

// The first point that was met at the place of this one; -1: none was.
static int64_t find_place(const Places *places, int64_t point) {
  const double *x = places->grid->points + 3 * point;
  int64_t cube[3], low[3], high[3];

  for (int d = 0; d < 3; d++) {
    low[d] = (int64_t)floor((x[d] - places->grid->tolerance) / places->width);
    high[d] = (int64_t)floor((x[d] + places->grid->tolerance) / places->width);
  }
  for (cube[0] = low[0]; cube[0] <= high[0]; cube[0]++) {
    for (cube[1] = low[1]; cube[1] <= high[1]; cube[1]++) {
      for (cube[2] = low[2]; cube[2] <= high[2]; cube[2]++) {
        const int64_t found = find_in_cube(places, cube, x);

        if (found >= 0) return found;
      }
    }
  }
  return -1;
}

// As find_place, but a point at a new place becomes the first one there.
static int64_t meet_place(Places *places, int64_t point) {
  const double *x = places->grid->points + 3 * point;
  const int64_t found = find_place(places, point);
  int64_t cube[3];

  if (found >= 0) return found;
  for (int d = 0; d < 3; d++) cube[d] = (int64_t)floor(x[d] / places->width);
  uint64_t at = hash_of_cube(cube);
  while (places->table[at & places->mask] >= 0) at++;
  places->table[at & places->mask] = point;
  return point;
}

static int open_places(const VtuFile *file, const VtuGrid *grid, int64_t num, Places *places) {
  uint64_t size = 1024;

  while (size < 2 * (uint64_t)num) size *= 2;
  *places = (Places){grid, 8 * grid->tolerance, size - 1, malloc(size * sizeof(int64_t))};
  if (!places->table) return vtu_fail(file, "there is no memory for its surface");
  for (uint64_t i = 0; i < size; i++) places->table[i] = -1;
  return CLI_OK;
}

// ---- Faces of one cell alone ----

typedef struct {
  int64_t key[4]; // ascending: corners by place; -1 before those of a triangle
  int64_t cell;
  int face, dim;
} Candidate;

static int compare_numbers(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static int compare_keys(const void *a, const void *b) {
  const Candidate *x = a, *y = b;

  for (int i = 0; i < 4; i++) {
    if (x->key[i] != y->key[i]) return x->key[i] < y->key[i] ? -1 : 1;
  }
  return 0;
}

static int compare_candidates(const void *a, const void *b) {
  const Candidate *x = a, *y = b;

  if (compare_keys(a, b)) return compare_keys(a, b);
  if (x->cell != y->cell) return x->cell < y->cell ? -1 : 1;
  return (x->face > y->face) - (x->face < y->face);
}

static int compare_faces(const void *a, const void *b) {
  const SurfaceFace *x = a, *y = b;

  if (x->cell != y->cell) return x->cell < y->cell ? -1 : 1;
  return (x->face > y->face) - (x->face < y->face);
}

static int check_cells(const VtuFile *file, Surface *surface, int64_t *num_faces) {
  const VtuGrid *grid = surface->grid;

  *num_faces = 0;
  for (int64_t cell = 0; cell < grid->num_cells; cell++) {
    const int code = grid->types[cell], shape = shape_of_code(code);

    if (is_thin(code)) continue;
    if (shape < 0) return vtu_fail(file, "cells of VTK's type %d are not drawn", code);
    const int p = degree_of_cell(grid, cell);
    if (p < 0)
      return vtu_fail(file, "cell %lld, of VTK's type %d, has %lld points, which fit no degree up to %d",
                      (long long)cell, code, (long long)(grid->ends[cell] - begin_of_cell(grid, cell)),
                      SURFACE_MAX_DEGREE);
    surface->max_degree = p > surface->max_degree ? p : surface->max_degree;
    for (int f = 0; f < 6 && shapes[shape].faces[f]; f++) ++*num_faces;
  }
  if (!*num_faces) return vtu_fail(file, "it has no cells of dimension 2 or 3 to draw");
  return CLI_OK;
}

static void set_key(const int64_t places[4], int num, int64_t key[4]) {
  for (int i = 0; i < 4; i++) key[i] = i < num ? places[i] : -1;
  qsort(key, 4, sizeof(key[0]), compare_numbers);
}

static void list_candidates(const VtuGrid *grid, Places *places, Candidate *out) {
  for (int64_t cell = 0; cell < grid->num_cells; cell++) {
    const int shape = shape_of_code(grid->types[cell]);
    const int64_t *nodes = grid->ids + begin_of_cell(grid, cell);

    for (int f = 0; shape >= 0 && f < 6 && shapes[shape].faces[f]; f++, out++) {
      const char *c = shapes[shape].faces[f];

      int64_t corners[4];

      *out = (Candidate){.cell = cell, .face = f, .dim = shapes[shape].dim};
      for (int i = 0; c[i]; i++) corners[i] = meet_place(places, nodes[c[i] - '0']);
      set_key(corners, (int)strlen(c), out->key);
    }
  }
}

// Keeps faces whose corners no other one has, and all cells of dimension 2.
static void keep_outside(int64_t num, Candidate *candidates, Surface *surface) {
  qsort(candidates, (size_t)num, sizeof(*candidates), compare_candidates);
  for (int64_t i = 0, end; i < num; i = end) {
    for (end = i + 1; end < num && !memcmp(candidates[i].key, candidates[end].key, sizeof(candidates->key));)
      end++;
    for (int64_t k = i; k < end; k++) {
      if (end == i + 1 || candidates[k].dim == 2)
        surface->faces[surface->num_faces++] =
            (SurfaceFace){candidates[k].cell, (uint8_t)candidates[k].face, 0xf};
    }
  }
  qsort(surface->faces, (size_t)surface->num_faces, sizeof(*surface->faces), compare_faces);
}

// ---- Elements that were cut into linear cells ----
// Ritz cuts pyramids of higher degree between the nodes of their lattice.

// The linear faces of the surface by their corners; .cell is the number of the face.
static Candidate *sorted_linear_faces(const VtuFile *file, const Surface *surface, const Places *places,
                                      int64_t *num) {
  Candidate *linear = vtu_allocate(file, surface->num_faces, sizeof(*linear));
  int64_t ids[SURFACE_MAX_NODES], corners[4];

  *num = 0;
  for (int64_t f = 0; f < surface->num_faces && linear; f++) {
    int n;

    if (degree_of_cell(surface->grid, surface->faces[f].cell) != 1) continue;
    surface_nodes(surface, f, &n, ids);
    for (int i = 0; i < n; i++) corners[i] = find_place(places, ids[i]);
    linear[*num].cell = f;
    set_key(corners, n, linear[(*num)++].key);
  }
  if (linear) qsort(linear, (size_t)*num, sizeof(*linear), compare_keys);
  return linear;
}

// Marks the linear face with these corners; whether there is one.
static bool drop_piece(Surface *surface, const Places *places, int64_t num, const Candidate *linear, int n,
                       const int64_t ids[4]) {
  int64_t corners[4];
  Candidate wanted = {.cell = 0};

  for (int i = 0; i < n; i++) corners[i] = find_place(places, ids[i]);
  set_key(corners, n, wanted.key);
  const Candidate *found = bsearch(&wanted, linear, (size_t)num, sizeof(*linear), compare_keys);
  if (found) surface->faces[found->cell].cell = -1;
  return found;
}

// A face between an element and one that was cut: its pieces between nodes are faces of the other's cells.
static void drop_matches(Surface *surface, const Places *places, int64_t num, const Candidate *linear,
                         int64_t face) {
  int64_t ids[SURFACE_MAX_NODES];
  int n, row = 0;
  bool is_inside = false;
  const int p = surface_nodes(surface, face, &n, ids);

  for (int j = 0; j < p; j++, row++) {
    const int length = n == 4 ? p : p - j;

    for (int i = 0; i < length; i++, row++) {
      const int above = row + length + 1;
      const int64_t lower[4] = {ids[row], ids[row + 1], ids[above], n == 4 ? ids[above + 1] : -1};

      if (drop_piece(surface, places, num, linear, n, lower)) is_inside = true;
      if (n == 4 || i + 1 == length) continue;
      const int64_t upper[4] = {ids[row + 1], ids[above], ids[above + 1], -1};
      drop_piece(surface, places, num, linear, n, upper);
    }
  }
  if (is_inside) surface->faces[face].cell = -1;
}

static int drop_interfaces(const VtuFile *file, Surface *surface, const Places *places) {
  int64_t num, num_kept = 0;
  Candidate *linear = sorted_linear_faces(file, surface, places, &num);

  if (!linear) return CLI_FAILED;
  for (int64_t f = 0; f < surface->num_faces; f++) {
    const int64_t cell = surface->faces[f].cell;

    if (cell >= 0 && degree_of_cell(surface->grid, cell) > 1) drop_matches(surface, places, num, linear, f);
  }
  for (int64_t f = 0; f < surface->num_faces; f++) {
    if (surface->faces[f].cell >= 0) surface->faces[num_kept++] = surface->faces[f];
  }
  surface->num_faces = num_kept;
  free(linear);
  return CLI_OK;
}

// An edge of a face of the surface.
typedef struct {
  int64_t ends[2], element, face; // ends: ascending, by place
  int edge;
} Edge;

static int compare_edges(const void *a, const void *b) {
  const Edge *x = a, *y = b;
  const int64_t of_x[] = {x->ends[0], x->ends[1], x->element, x->face};
  const int64_t of_y[] = {y->ends[0], y->ends[1], y->element, y->face};

  for (int i = 0; i < 4; i++) {
    if (of_x[i] != of_y[i]) return of_x[i] < of_y[i] ? -1 : 1;
  }
  return 0;
}

static const int64_t *corner_ids(const Surface *surface, int64_t face, const char **corners) {
  const SurfaceFace *f = &surface->faces[face];

  *corners = shapes[shape_of_code(surface->grid->types[f->cell])].faces[f->face];
  return surface->grid->ids + begin_of_cell(surface->grid, f->cell);
}

static void normal_of_face(const Surface *surface, int64_t face, double normal[3]) {
  const char *c;
  const int64_t *ids = corner_ids(surface, face, &c);
  const double *x = surface->grid->points + 3 * ids[c[0] - '0'],
               *y = surface->grid->points + 3 * ids[c[1] - '0'],
               *z = surface->grid->points + 3 * ids[c[2] - '0'];
  double length = 0;

  for (int d = 0; d < 3; d++) {
    const int e = (d + 1) % 3, f = (d + 2) % 3;

    normal[d] = (y[e] - x[e]) * (z[f] - x[f]) - (y[f] - x[f]) * (z[e] - x[e]);
    length += normal[d] * normal[d];
  }
  for (int d = 0; d < 3; d++) normal[d] /= length > 0 ? sqrt(length) : 1;
}

// Two faces of cells of one element that meet in an edge belong to one face of the element if they are nearly
// flat.
static void hide_edge(Surface *surface, const Edge *a, const Edge *b) {
  double n[3], m[3];

  normal_of_face(surface, a->face, n);
  normal_of_face(surface, b->face, m);
  if (fabs(n[0] * m[0] + n[1] * m[1] + n[2] * m[2]) < 0.9) return;
  surface->faces[a->face].lines &= (uint8_t) ~(1u << a->edge);
  surface->faces[b->face].lines &= (uint8_t) ~(1u << b->edge);
}

static int hide_cuts(const VtuFile *file, Surface *surface, const Places *places) {
  const VtuGrid *grid = surface->grid;
  Edge *edges = vtu_allocate(file, 4 * surface->num_faces, sizeof(*edges));
  int64_t num = 0;

  if (!edges) return CLI_FAILED;
  for (int64_t f = 0; f < surface->num_faces; f++) {
    const char *c;
    const int64_t *ids = corner_ids(surface, f, &c), element = grid->elements[surface->faces[f].cell];
    const int n = (int)strlen(c);

    for (int e = 0; e < n; e++) {
      const int64_t a = find_place(places, ids[c[e] - '0']),
                    b = find_place(places, ids[c[(e + 1) % n] - '0']);

      edges[num++] = (Edge){{a < b ? a : b, a < b ? b : a}, element, f, e};
    }
  }
  qsort(edges, (size_t)num, sizeof(*edges), compare_edges);
  for (int64_t i = 1; i < num; i++) {
    const Edge *a = &edges[i - 1], *b = &edges[i];

    if (a->ends[0] == b->ends[0] && a->ends[1] == b->ends[1] && a->element == b->element &&
        surface->faces[a->face].cell != surface->faces[b->face].cell)
      hide_edge(surface, a, b);
  }
  free(edges);
  return CLI_OK;
}

// ---- All of it ----

static bool has_cut_elements(const VtuGrid *grid) {
  for (int64_t i = 1; i < grid->num_cells; i++) {
    if (grid->elements[i] == grid->elements[i - 1]) return true;
  }
  return false;
}

static int fill_surface(const VtuFile *file, const VtuGrid *grid, Places *places, int64_t num,
                        Surface *surface) {
  Candidate *candidates = vtu_allocate(file, num, sizeof(*candidates));

  surface->faces = candidates ? vtu_allocate(file, num, sizeof(*surface->faces)) : NULL;
  if (surface->faces) {
    list_candidates(grid, places, candidates);
    keep_outside(num, candidates, surface);
  }
  free(candidates);
  if (!surface->faces) return CLI_FAILED;
  if (has_cut_elements(grid)) {
    CLI_TRY(drop_interfaces(file, surface, places));
    CLI_TRY(hide_cuts(file, surface, places));
  }
  return surface->num_faces ? CLI_OK : vtu_fail(file, "its cells have no surface");
}

int surface_create(const VtuFile *file, VtuGrid *grid, Surface *surface) {
  Places places;
  int64_t num = 0;

  *surface = (Surface){.grid = grid};
  CLI_TRY(normalize(file, grid));
  CLI_TRY(check_cells(file, surface, &num));
  CLI_TRY(open_places(file, grid, 8 * grid->num_cells < grid->num_ids ? 8 * grid->num_cells : grid->num_ids,
                      &places));
  const int code = fill_surface(file, grid, &places, num, surface);
  free(places.table);
  if (code) surface_destroy(surface);
  return code;
}

void surface_destroy(Surface *surface) {
  free(surface->faces);
  *surface = (Surface){0};
}
