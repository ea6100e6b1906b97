// SPDX-License-Identifier: BSD-2-Clause
// Boxes of triangles, tetrahedra, prisms, pyramids and mixtures under known maps, written as Gmsh and MFEM
// files. Cells know where their corners lie, so nodes are found by position; the orders of nodes are tables
// that Gmsh itself gave out, and MFEM's degrees of freedom are listed as points. Nothing is shared with the
// library. Included by tests/test-readers*.c and tests/test-vtu.c.
#ifndef RITZ_TESTS_MESH_SHAPES_H
#define RITZ_TESTS_MESH_SHAPES_H

#include "tests/mesh-gmsh.h"

// ---- Shapes, by MFEM's codes; corners as both formats list them ----

enum { POINT, SEGMENT, TRIANGLE, SQUARE, TET, CUBE, PRISM, PYRAMID, NUM_SHAPES };

typedef struct {
  int dim, num_corners;
  int axes[3];               // corners at the ends of the lattice's axes from corner 0; 0: none
  const char *edges, *faces; // MFEM's tables
  int turn[8];               // one rotation
  int gmsh_codes[6];
} ShapeTable;

static const ShapeTable shape_tables[NUM_SHAPES] = {
    {0, 1, {0}, "", "", {0}, {15, 15, 15, 15, 15, 15}},
    {1, 2, {1}, "", "0 1", {0, 1}, {1, 8, 26, 27, 28, 62}},
    {2, 3, {1, 2}, "01 12 20", "01 12 20", {1, 2, 0}, {2, 9, 21, 23, 25, 42}},
    {2, 4, {1, 3}, "01 12 23 30", "01 12 23 30", {1, 2, 3, 0}, {3, 10, 36, 37, 38, 47}},
    {3, 4, {1, 2, 3}, "01 02 03 12 13 23", "123 032 013 021", {1, 2, 0, 3}, {4, 11, 29, 30, 31, 71}},
    {3,
     8,
     {1, 3, 4},
     "01 12 32 03 45 56 76 47 04 15 26 37",
     "3210 0154 1265 2376 3047 4567",
     {1, 2, 3, 0, 5, 6, 7, 4},
     {5, 12, 92}},
    {3,
     6,
     {1, 2, 3},
     "01 12 20 34 45 53 03 14 25",
     "021 345 0143 1254 2035",
     {1, 2, 0, 4, 5, 3},
     {6, 13, 90, 91, 106, 107}},
    {3,
     5,
     {1, 3, 4},
     "01 12 32 03 04 14 24 34",
     "3210 014 124 234 304",
     {1, 2, 3, 0, 4},
     {7, 14, 118, 119, 120, 121}}};

// Lattice positions of nodes in the order of Gmsh, degrees 1 to 6 (cubes: gmsh_hexes).
static const char *const shape_gmsh_lines[] = {
    "0 1", "0 2 1", "0 3 1 2", "0 4 1 2 3", "0 5 1 2 3 4", "0 6 1 2 3 4 5",
};
static const char *const shape_gmsh_quads[] = {
    "00 10 11 01",
    "00 20 22 02 10 21 12 01 11",
    "00 30 33 03 10 20 31 32 23 13 02 01 11 21 22 12",
    "00 40 44 04 10 20 30 41 42 43 34 24 14 03 02 01 11 31 33 13 21 32 23 12 22",
    "00 50 55 05 10 20 30 40 51 52 53 54 45 35 25 15 04 03 02 01 11 41 44 14 21 31 42 43 34 24 13 12 22 "
    "32 33 23",
    "00 60 66 06 10 20 30 40 50 61 62 63 64 65 56 46 36 26 16 05 04 03 02 01 11 51 55 15 21 31 41 52 53 "
    "54 45 35 25 14 13 12 22 42 44 24 32 43 34 23 33",
};
static const char *const shape_gmsh_triangles[] = {
    "00 10 01",
    "00 20 02 10 11 01",
    "00 30 03 10 20 21 12 02 01 11",
    "00 40 04 10 20 30 31 22 13 03 02 01 11 21 12",
    "00 50 05 10 20 30 40 41 32 23 14 04 03 02 01 11 31 13 21 22 12",
    "00 60 06 10 20 30 40 50 51 42 33 24 15 05 04 03 02 01 11 41 14 21 31 32 23 13 12 22",
};
static const char *const shape_gmsh_tets[] = {
    "000 100 010 001",
    "000 200 020 002 100 110 010 001 011 101",
    "000 300 030 003 100 200 210 120 020 010 002 001 012 021 102 201 110 101 011 111",
    "000 400 040 004 100 200 300 310 220 130 030 020 010 003 002 001 013 022 031 103 202 301 110 120 "
    "210 101 201 102 011 012 021 112 211 121 111",
    "000 500 050 005 100 200 300 400 410 320 230 140 040 030 020 010 004 003 002 001 014 023 032 041 "
    "104 203 302 401 110 130 310 120 220 210 101 301 103 201 202 102 011 013 031 012 022 021 113 311 "
    "131 212 221 122 111 211 121 112",
    "000 600 060 006 100 200 300 400 500 510 420 330 240 150 050 040 030 020 010 005 004 003 002 001 "
    "015 024 033 042 051 105 204 303 402 501 110 140 410 120 130 230 320 310 210 220 101 401 104 201 "
    "301 302 203 103 102 202 011 014 041 012 013 023 032 031 021 022 114 411 141 213 312 321 231 132 "
    "123 222 111 311 131 113 211 221 121 112 122 212",
};
static const char *const shape_gmsh_prisms[] = {
    "000 100 010 001 101 011",
    "000 200 020 002 202 022 100 010 001 110 201 021 102 012 112 101 011 111",
    "000 300 030 003 303 033 100 200 010 020 001 002 210 120 301 302 031 032 103 203 013 023 213 123 "
    "110 113 101 201 202 102 011 012 022 021 211 121 122 212 111 112",
    "000 400 040 004 404 044 100 200 300 010 020 030 001 002 003 310 220 130 401 402 403 041 042 043 "
    "104 204 304 014 024 034 314 224 134 110 120 210 114 214 124 101 301 303 103 201 302 203 102 202 "
    "011 013 033 031 012 023 032 021 022 311 131 133 313 221 132 223 312 222 111 113 112 211 213 212 "
    "121 123 122",
    "000 500 050 005 505 055 100 200 300 400 010 020 030 040 001 002 003 004 410 320 230 140 501 502 "
    "503 504 051 052 053 054 105 205 305 405 015 025 035 045 415 325 235 145 110 130 310 120 220 210 "
    "115 315 135 215 225 125 101 401 404 104 201 301 402 403 304 204 103 102 202 302 303 203 011 014 "
    "044 041 012 013 024 034 043 042 031 021 022 023 033 032 411 141 144 414 321 231 142 143 234 324 "
    "413 412 322 232 233 323 111 114 112 113 311 314 312 313 131 134 132 133 211 214 212 213 221 224 "
    "222 223 121 124 122 123",
    "000 600 060 006 606 066 100 200 300 400 500 010 020 030 040 050 001 002 003 004 005 510 420 330 "
    "240 150 601 602 603 604 605 061 062 063 064 065 106 206 306 406 506 016 026 036 046 056 516 426 "
    "336 246 156 110 140 410 120 130 230 320 310 210 220 116 416 146 216 316 326 236 136 126 226 101 "
    "501 505 105 201 301 401 502 503 504 405 305 205 104 103 102 202 402 404 204 302 403 304 203 303 "
    "011 015 055 051 012 013 014 025 035 045 054 053 052 041 031 021 022 024 044 042 023 034 043 032 "
    "033 511 151 155 515 421 331 241 152 153 154 245 335 425 514 513 512 422 242 244 424 332 243 334 "
    "423 333 111 115 112 113 114 411 415 412 413 414 141 145 142 143 144 211 215 212 213 214 311 315 "
    "312 313 314 321 325 322 323 324 231 235 232 233 234 131 135 132 133 134 121 125 122 123 124 221 "
    "225 222 223 224",
};
static const char *const shape_gmsh_pyramids[] = {
    "000 100 110 010 001",
    "000 200 220 020 002 100 010 001 210 101 120 111 011 110",
    "000 300 330 030 003 100 200 010 020 001 002 310 320 201 102 230 130 221 112 021 012 101 011 211 "
    "121 110 120 220 210 111",
    "000 400 440 040 004 100 200 300 010 020 030 001 002 003 410 420 430 301 202 103 340 240 140 331 "
    "222 113 031 022 013 101 201 102 021 011 012 311 321 212 231 131 122 110 130 330 310 120 230 320 "
    "210 220 111 211 221 121 112",
    "000 500 550 050 005 100 200 300 400 010 020 030 040 001 002 003 004 510 520 530 540 401 302 203 "
    "104 450 350 250 150 441 332 223 114 041 032 023 014 101 301 103 201 202 102 031 011 013 021 012 "
    "022 411 431 213 421 322 312 341 141 123 241 132 232 110 140 440 410 120 130 240 340 430 420 310 "
    "210 220 230 330 320 111 311 331 131 113 211 121 112 321 212 231 222 122 221",
    "000 600 660 060 006 100 200 300 400 500 010 020 030 040 050 001 002 003 004 005 610 620 630 640 "
    "650 501 402 303 204 105 560 460 360 260 160 551 442 333 224 115 051 042 033 024 015 101 401 104 "
    "201 301 302 203 103 102 202 041 011 014 031 021 012 013 023 032 022 511 541 214 521 531 432 323 "
    "313 412 422 451 151 124 351 251 142 133 233 342 242 110 150 550 510 120 130 140 250 350 450 540 "
    "530 520 410 310 210 220 240 440 420 230 340 430 320 330 111 411 441 141 114 211 311 121 131 112 "
    "113 421 431 312 213 341 241 332 223 132 123 212 122 322 232 221 231 331 321 222",
};

// ---- Cells ----

typedef struct {
  int shape, attribute;
  double corners[8][3]; // in the undeformed box, as listed
} ShapeCell;

typedef struct {
  int num, capacity;
  ShapeCell *list; // owned
} ShapeCells;

// A box of n cubes (squares) in the unit cube, each cut as its letter says: h hexahedron (in the plane: a
// quadrilateral), w 2 prisms, t 6 tetrahedra (in the plane: 2 triangles), p 6 pyramids, m 5 pyramids and 2
// tetrahedra at x = 1, . nothing.
typedef struct {
  int dim, degree, n[3];
  const char *kinds;  // [n[0] n[1] n[2]]
  uint64_t seed;      // of rotations and vertex numbers; 0: none
  bool is_flat;       // the map is the identity
  bool is_incomplete; // degree 2 of Gmsh, without nodes inside of faces and cubes
} ShapeSample;

// The map keeps volumes and is of total degree `degree`.
static inline void shape_map(const ShapeSample *s, const double X[3], double x[3]) {
  double bend = s->is_flat ? 0 : 1;

  x[0] = X[0] + bend * (0.2 * sample_power(X[1], s->degree) -
                        (s->dim == 3 ? 0.15 * sample_power(X[2], s->degree) : 0));
  x[1] = X[1] + (s->dim == 3 ? bend * 0.25 * sample_power(X[2], s->degree) : 0);
  x[2] = X[2];
}

// The point of a cell at r [0,1]^3 along the axes of its lattice.
static inline void shape_point(const ShapeCell *cell, const double r[3], double X[3]) {
  const int *axes = shape_tables[cell->shape].axes;

  for (int d = 0; d < 3; d++) {
    X[d] = cell->corners[0][d];
    for (int a = 0; a < 3; a++)
      X[d] += axes[a] ? r[a] * (cell->corners[axes[a]][d] - cell->corners[0][d]) : 0;
  }
}

// A cell whose corners are corners of another one, by their digits; 8 is the centre.
static inline void shape_add(ShapeCells *cells, int shape, int attribute, double (*corners)[3],
                             const char *digits) {
  if (cells->num == cells->capacity) {
    cells->capacity = 2 * cells->num + 16;
    cells->list = realloc(cells->list, (size_t)cells->capacity * sizeof(ShapeCell));
    if (!cells->list) abort();
  }
  ShapeCell *cell = &cells->list[cells->num++];

  *cell = (ShapeCell){.shape = shape, .attribute = attribute};
  for (int c = 0; c < shape_tables[shape].num_corners; c++)
    memcpy(cell->corners[c], corners[digits[c] - '0'], sizeof(cell->corners[c]));
}

static inline void shape_turn(ShapeCell *cell) {
  ShapeCell before = *cell;

  for (int c = 0; c < shape_tables[cell->shape].num_corners; c++)
    memcpy(cell->corners[c], before.corners[shape_tables[cell->shape].turn[c]], sizeof(cell->corners[c]));
}

// Cells of a cube (square) with the corners 0 .. 7 and the centre 8, by letters.
static inline void shape_cut(ShapeCells *cells, char kind, int dim, int attribute, double (*corners)[3]) {
  static const char *const pyramids[] = {"01238", "04518", "03748", "26738", "47658", "15628"};
  static const char *const tets[] = {"0126", "0236", "0376", "0746", "0456", "0516"};

  if (kind == 'h') shape_add(cells, dim == 3 ? CUBE : SQUARE, attribute, corners, "01234567");
  if (kind == 'w') {
    shape_add(cells, PRISM, attribute, corners, "012456");
    shape_add(cells, PRISM, attribute, corners, "023467");
  }
  for (int i = 0; i < 2 && kind == 't' && dim == 2; i++)
    shape_add(cells, TRIANGLE, attribute, corners, i ? "023" : "012");
  for (int i = 0; i < 6 && kind == 't' && dim == 3; i++) shape_add(cells, TET, attribute, corners, tets[i]);
  for (int i = 0; i < (kind == 'p' ? 6 : kind == 'm' ? 5 : 0); i++)
    shape_add(cells, PYRAMID, attribute, corners, pyramids[i]);
  if (kind == 'm') {
    shape_add(cells, TET, attribute, corners, "1568");
    shape_add(cells, TET, attribute, corners, "1628");
  }
}

static inline ShapeCells shape_cells(const ShapeSample *s) {
  static const int listed[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                   {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
  ShapeCells cells = {0, 0, NULL};
  uint64_t state = s->seed;

  for (int e = 0; e < s->n[0] * s->n[1] * s->n[2]; e++) {
    const int cube[3] = {e % s->n[0], e / s->n[0] % s->n[1], e / s->n[0] / s->n[1]};
    double corners[9][3] = {{0}};
    int first = cells.num;

    for (int c = 0; c < 9; c++) {
      for (int d = 0; d < s->dim; d++) corners[c][d] = (cube[d] + (c < 8 ? listed[c][d] : 0.5)) / s->n[d];
    }
    shape_cut(&cells, s->kinds[e], s->dim, e % 2 ? 7 : 1, corners);
    for (int i = first; i < cells.num && state; i++) {
      for (int64_t k = tap_integer(&state, 4); k > 0; k--) shape_turn(&cells.list[i]);
    }
  }
  return cells;
}

static inline double shape_measure(const ShapeSample *s) {
  int num = 0;

  for (const char *k = s->kinds; *k; k++) num += *k != '.';
  return (double)num / (s->n[0] * s->n[1] * s->n[2]);
}

// Facets on the sides of the box (2 axis + end) as cells with the attribute side + 1.
static inline ShapeCells shape_facets(const ShapeSample *s, const ShapeCells *cells) {
  static const int shape_of_size[] = {0, POINT, SEGMENT, TRIANGLE, SQUARE};
  ShapeCells facets = {0, 0, NULL};

  for (int e = 0; e < cells->num; e++) {
    ShapeCell cell = cells->list[e];

    for (const char *c = shape_tables[cell.shape].faces; *c; c += strcspn(c, " "), c += *c == ' ') {
      int size = (int)strcspn(c, " ");

      for (int side = 0; side < 2 * s->dim; side++) {
        bool is_on = true;

        for (int i = 0; i < size; i++) is_on = is_on && cell.corners[c[i] - '0'][side / 2] == side % 2;
        // The eight corners stand for the nine that shape_add takes: facets do not use the centre.
        if (is_on) shape_add(&facets, shape_of_size[size], side + 1, cell.corners, c);
      }
    }
  }
  return facets;
}

// ---- Points by position ----

typedef struct {
  int num;
  double (*X)[3]; // owned
} ShapePoints;

static inline void shape_points_add(ShapePoints *points, const double X[3]) {
  points->X = realloc(points->X, (size_t)(points->num + 1) * sizeof(*points->X));
  if (!points->X) abort();
  memcpy(points->X[points->num++], X, sizeof(*points->X));
}

static inline int shape_points_find(const ShapePoints *points, const double X[3]) {
  for (int i = 0; i < points->num; i++) {
    const double *Y = points->X[i];

    if (fabs(X[0] - Y[0]) + fabs(X[1] - Y[1]) + fabs(X[2] - Y[2]) < 1e-9) return i;
  }
  return -1;
}

static inline int shape_points_enter(ShapePoints *points, const double X[3]) {
  int found = shape_points_find(points, X);

  if (found >= 0) return found;
  shape_points_add(points, X);
  return points->num - 1;
}

// ---- Gmsh ----

static inline const char *shape_gmsh_order(int shape, int degree) {
  static const char *const *const tables[] = {
      NULL,       shape_gmsh_lines,  shape_gmsh_triangles, shape_gmsh_quads, shape_gmsh_tets,
      gmsh_hexes, shape_gmsh_prisms, shape_gmsh_pyramids};

  return tables[shape][degree - 1];
}

// Nodes and codes of incomplete cells, 0: there are none.
static const int shape_gmsh_incomplete[NUM_SHAPES][2] = {
    [SQUARE] = {8, 16}, [CUBE] = {20, 17}, [PRISM] = {15, 18}, [PYRAMID] = {13, 19}};

// The nodes of a cell in the order of Gmsh; entered into `points`.
static inline int shape_gmsh_nodes(const ShapeSample *s, const ShapeCell *cell, ShapePoints *points,
                                   int nodes[216]) {
  int num = 0, dim = shape_tables[cell->shape].dim, degree = s->degree;
  int most = s->is_incomplete ? shape_gmsh_incomplete[cell->shape][0] : 0;

  for (const char *c = shape_gmsh_order(cell->shape, degree); *c; c += dim, c += *c == ' ') {
    double r[3] = {0, 0, 0}, X[3];

    for (int d = 0; d < dim; d++) r[d] = (double)(c[d] - '0') / degree;
    if (most > 0 && num == most) break;
    shape_point(cell, r, X);
    nodes[num++] = shape_points_enter(points, X);
  }
  return num;
}

static inline long long shape_tag(const ShapePoints *points, int node) { return 3LL * (points->num - node); }

static inline void shape_put_gmsh_nodes(const ShapeSample *s, int version, const ShapePoints *points,
                                        FileBytes *f) {
  file_text(f, "$Nodes\n");
  if (version == 2) file_text_count(f, points->num);
  if (version == 4) {
    file_size_count(f, 1);
    file_size_count(f, points->num);
    file_size(f, 1);
    file_size(f, 3LL * points->num);
    file_line(f);
    for (int i = 0; i < 3; i++) file_int(f, 0);
    file_size_count(f, points->num);
    file_line(f);
    for (int i = 0; i < points->num; i++) file_size(f, shape_tag(points, i));
    file_line(f);
  }
  for (int i = 0; i < points->num; i++) {
    double x[3];

    shape_map(s, points->X[i], x);
    if (version == 2) file_int(f, shape_tag(points, i));
    for (int d = 0; d < 3; d++) file_double(f, x[d]);
    file_line(f);
  }
  file_text(f, f->is_binary ? "\n$EndNodes\n" : "$EndNodes\n");
}

static inline void shape_put_gmsh_element(const ShapeSample *s, int version, int number,
                                          const ShapeCell *cell, ShapePoints *points, FileBytes *f) {
  int nodes[216], num = shape_gmsh_nodes(s, cell, points, nodes);
  int code = shape_tables[cell->shape].gmsh_codes[s->degree - 1],
      incomplete = shape_gmsh_incomplete[cell->shape][1];

  if (s->is_incomplete && incomplete) code = incomplete;

  if (version == 2) {
    if (!f->is_binary) file_int(f, number);
    file_int(f, code);
    if (f->is_binary) file_int(f, 1);
    file_int(f, 2);
    if (f->is_binary) file_int(f, number);
    file_int(f, cell->attribute);
    file_int(f, cell->attribute);
    for (int i = 0; i < num; i++) file_int(f, shape_tag(points, nodes[i]));
  } else { // a block of its own
    file_int(f, shape_tables[cell->shape].dim);
    file_int(f, cell->attribute);
    file_int(f, code);
    file_size_count(f, 1);
    file_line(f);
    file_size(f, number);
    for (int i = 0; i < num; i++) file_size(f, shape_tag(points, nodes[i]));
  }
  file_line(f);
}

// Facets before cells; entities are the attributes.
static inline FileBytes shape_gmsh_file(const ShapeSample *s, int version, bool is_binary) {
  const GmshSample format = {.version = version, .is_binary = is_binary};
  FileBytes f = {.data = NULL};
  ShapeCells cells = shape_cells(s), facets = shape_facets(s, &cells);
  ShapePoints points = {0, NULL};
  int nodes[216], num = cells.num + facets.num;

  for (int e = 0; e < cells.num; e++) shape_gmsh_nodes(s, &cells.list[e], &points, nodes);
  gmsh_put_format(&format, &f);
  shape_put_gmsh_nodes(s, version, &points, &f);
  file_text(&f, "$Elements\n");
  if (version == 2) file_text_count(&f, num);
  for (int i = 0; i < 4 && version == 4; i++) {
    if (i < 2)
      file_size_count(&f, num);
    else
      file_size(&f, i == 2 ? 1 : num);
  }
  if (version == 4) file_line(&f);
  for (int i = 0; i < num; i++) {
    const ShapeCell *cell = i < facets.num ? &facets.list[i] : &cells.list[i - facets.num];

    shape_put_gmsh_element(s, version, i + 1, cell, &points, &f);
  }
  file_text(&f, is_binary ? "\n$EndElements\n" : "$EndElements\n");
  free(points.X);
  free(facets.list);
  free(cells.list);
  return f;
}

// ---- MFEM ----

// Nodes of a collection: 1D positions on [0,1].
typedef struct {
  const char *name; // NULL: straight
  bool is_shared;
  double points[12];
} ShapeCollection;

// A point with these weights of corners; they are divided by their sum.
static inline void shape_blend(int num, const double *const corners[], const double weights[], double X[3]) {
  double sum = 0;

  for (int i = 0; i < num; i++) sum += weights[i];
  for (int d = 0; d < 3; d++) {
    X[d] = 0;
    for (int i = 0; i < num; i++) X[d] += weights[i] / sum * corners[i][d];
  }
}

// Vertex numbers: corners in the order of their first use, or shuffled.
static inline ShapePoints shape_vertices(const ShapeSample *s, const ShapeCells *cells) {
  ShapePoints vertices = {0, NULL};
  uint64_t state = s->seed;

  for (int e = 0; e < cells->num; e++) {
    for (int c = 0; c < shape_tables[cells->list[e].shape].num_corners; c++)
      shape_points_enter(&vertices, cells->list[e].corners[c]);
  }
  for (int v = vertices.num - 1; v > 0 && state; v--) {
    int other = (int)tap_integer(&state, v + 1);
    double kept[3];

    memcpy(kept, vertices.X[v], sizeof(kept));
    memcpy(vertices.X[v], vertices.X[other], sizeof(kept));
    memcpy(vertices.X[other], kept, sizeof(kept));
  }
  return vertices;
}

// Whether the middle of these corners has not come before; it is remembered. (Middles of edges, of faces are
// different in these meshes.)
static inline bool shape_is_new(ShapePoints *seen, int num, const double *const corners[]) {
  const double weights[4] = {1, 1, 1, 1};
  double X[3];
  int before = seen->num;

  shape_blend(num, corners, weights, X);
  shape_points_enter(seen, X);
  return seen->num > before;
}

static inline void shape_add_edge_dofs(const ShapeSample *s, const ShapeCollection *c,
                                       const ShapeCells *cells, const ShapePoints *vertices,
                                       ShapePoints *dofs) {
  ShapePoints seen = {0, NULL};

  for (int e = 0; e < cells->num; e++) {
    const ShapeCell *cell = &cells->list[e];

    for (const char *t = shape_tables[cell->shape].edges; *t; t += 2, t += *t == ' ') {
      const double *a = cell->corners[t[0] - '0'], *b = cell->corners[t[1] - '0'];
      bool is_forward = shape_points_find(vertices, a) < shape_points_find(vertices, b);
      const double *const ends[2] = {is_forward ? a : b, is_forward ? b : a};

      if (!shape_is_new(&seen, 2, ends)) continue;
      for (int i = 1; i < s->degree; i++) {
        const double weights[2] = {1 - c->points[i], c->points[i]};
        double X[3];

        shape_blend(2, ends, weights, X);
        shape_points_add(dofs, X);
      }
    }
  }
  free(seen.X);
}

// (b0, b1, b2) or (b0, b1, b2, b3) as the first cell lists them.
static inline void shape_add_face(const ShapeSample *s, const ShapeCollection *c, int size,
                                  const double *const b[4], ShapePoints *dofs) {
  int p = s->degree;
  const double *x = c->points;

  for (int j = 1; j < p; j++) {
    for (int i = 1; i < (size == 3 ? p - j : p); i++) {
      double X[3];

      if (size == 3) {
        const double weights[3] = {x[p - i - j], x[i], x[j]};

        shape_blend(3, b, weights, X);
      } else {
        const double weights[4] = {(1 - x[i]) * (1 - x[j]), x[i] * (1 - x[j]), x[i] * x[j],
                                   (1 - x[i]) * x[j]};

        shape_blend(4, b, weights, X);
      }
      shape_points_add(dofs, X);
    }
  }
}

static inline void shape_add_face_dofs(const ShapeSample *s, const ShapeCollection *c,
                                       const ShapeCells *cells, ShapePoints *dofs) {
  ShapePoints seen = {0, NULL};

  for (int e = 0; e < cells->num && s->dim == 3; e++) {
    const ShapeCell *cell = &cells->list[e];

    for (const char *t = shape_tables[cell->shape].faces; *t; t += strcspn(t, " "), t += *t == ' ') {
      int size = (int)strcspn(t, " ");
      const double *b[4] = {NULL};

      for (int i = 0; i < size; i++) b[i] = cell->corners[t[i] - '0'];
      if (shape_is_new(&seen, size, b)) shape_add_face(s, c, size, b, dofs);
    }
  }
  free(seen.X);
}

// Nodes with all weights of index >= low: 1 inside, 0 everywhere.
static inline void shape_add_inside(const ShapeSample *s, const ShapeCollection *c, const ShapeCell *cell,
                                    int low, ShapePoints *dofs) {
  int p = s->degree, high = p - low, shape = cell->shape;
  bool has_layers = shape_tables[shape].dim == 3, is_simplex = shape == TRIANGLE || shape == TET;
  const double *x = c->points;

  for (int k = has_layers ? low : 0; k <= (has_layers ? high : 0); k++) {
    for (int j = low; j <= high; j++) {
      for (int i = low; i <= high; i++) {
        int rest = p - i - j - (shape == TET ? k : 0);
        double sum = 1, r[3] = {x[i], x[j], has_layers ? x[k] : 0}, X[3];

        if ((is_simplex || shape == PRISM) && rest < low) continue;
        if (is_simplex || shape == PRISM) sum = x[rest] + x[i] + x[j] + (shape == TET ? x[k] : 0);
        r[0] /= sum;
        r[1] /= sum;
        if (shape == TET) r[2] /= sum;
        shape_point(cell, r, X);
        shape_points_add(dofs, X);
      }
    }
  }
}

static inline void shape_put_mfem_nodes(const ShapeSample *s, const ShapeCollection *c,
                                        const ShapeCells *cells, const ShapePoints *vertices, FileBytes *f) {
  ShapePoints dofs = {0, NULL};

  for (int v = 0; v < vertices->num && c->is_shared; v++) shape_points_add(&dofs, vertices->X[v]);
  if (c->is_shared) {
    shape_add_edge_dofs(s, c, cells, vertices, &dofs);
    shape_add_face_dofs(s, c, cells, &dofs);
  }
  for (int e = 0; e < cells->num; e++) shape_add_inside(s, c, &cells->list[e], c->is_shared, &dofs);
  file_text(f, "nodes\nFiniteElementSpace\nFiniteElementCollection: %s\nVDim: %d\nOrdering: 1\n\n", c->name,
            s->dim);
  for (int i = 0; i < dofs.num; i++) {
    double x[3];

    shape_map(s, dofs.X[i], x);
    for (int d = 0; d < s->dim; d++) file_text(f, "%.17g\n", x[d]);
  }
  free(dofs.X);
}

static inline void shape_put_records(const ShapeCells *cells, const ShapePoints *vertices, FileBytes *f) {
  file_text_count(f, cells->num);
  for (int e = 0; e < cells->num; e++) {
    file_text(f, "%d %d", cells->list[e].attribute, cells->list[e].shape);
    for (int c = 0; c < shape_tables[cells->list[e].shape].num_corners; c++)
      file_text(f, " %d", shape_points_find(vertices, cells->list[e].corners[c]));
    file_text(f, "\n");
  }
}

static inline FileBytes shape_mfem_file(const ShapeSample *s, const ShapeCollection *c) {
  FileBytes f = {.data = NULL};
  ShapeCells cells = shape_cells(s), facets = shape_facets(s, &cells);
  ShapePoints vertices = shape_vertices(s, &cells);

  file_text(&f, "MFEM mesh v1.0\n\ndimension\n%d\n\nelements\n", s->dim);
  shape_put_records(&cells, &vertices, &f);
  file_text(&f, "\nboundary\n");
  shape_put_records(&facets, &vertices, &f);
  file_text(&f, "\nvertices\n");
  file_text(&f, "%d\n", vertices.num);
  if (c->name) {
    shape_put_mfem_nodes(s, c, &cells, &vertices, &f);
  } else {
    file_text(&f, "%d\n", s->dim);
    for (int v = 0; v < vertices.num; v++) {
      double x[3];

      shape_map(s, vertices.X[v], x);
      for (int d = 0; d < s->dim; d++) file_text(&f, "%.17g ", x[d]);
      file_text(&f, "\n");
    }
  }
  free(vertices.X);
  free(facets.list);
  free(cells.list);
  return f;
}

#endif
