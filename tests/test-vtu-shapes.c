// SPDX-License-Identifier: BSD-2-Clause
// RitzWriteVTU on triangles, tetrahedra, prisms, pyramids and mixed meshes, as tests/test-vtu.c does it on
// the other shapes. `test-vtu-shapes --write FOLDER` makes files for tests/test-vtu-vtk.sh.
#include <ritz.h>

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/mesh-shapes.h"
#include "tests/tap.h"
#include "tests/vtu-lattice.h"
#include "tests/vtu-read.h"

enum { max_fields = 3 };

typedef struct {
  CeedInt num;
  RitzSpace space[max_fields];
  CeedVector values[max_fields];
  RitzOutputField field[max_fields];
} Fields;

static void destroy_fields(Fields *fields) {
  for (CeedInt f = 0; f < fields->num; f++) {
    CeedVectorDestroy(&fields->values[f]);
    RitzSpaceDestroy(&fields->space[f]);
  }
}

// ---- Meshes and fields whose values are known everywhere ----

// Lattice positions of the nodes of VTK's cells, from VTK's own parametric coordinates.
static const char *const vtk_triangles[] = {
    "00 10 01",
    "00 20 02 10 11 01",
    "00 30 03 10 20 21 12 02 01 11",
    "00 40 04 10 20 30 31 22 13 03 02 01 11 21 12",
    "00 50 05 10 20 30 40 41 32 23 14 04 03 02 01 11 31 13 21 22 12",
};
static const char *const vtk_tets[] = {
    "000 100 010 001",
    "000 200 020 002 100 110 010 001 101 011",
    "000 300 030 003 100 200 210 120 020 010 001 002 201 102 021 012 101 111 011 110",
    "000 400 040 004 100 200 300 310 220 130 030 020 010 001 002 003 301 202 103 031 022 013 101 201 "
    "102 121 112 211 011 012 021 110 120 210 111",
    "000 500 050 005 100 200 300 400 410 320 230 140 040 030 020 010 001 002 003 004 401 302 203 104 "
    "041 032 023 014 101 301 103 201 202 102 131 113 311 122 212 221 011 013 031 012 022 021 110 130 "
    "310 120 220 210 111 211 121 112",
};
static const char *const vtk_wedges[] = {
    "000 100 010 001 101 011",
    "000 200 020 002 202 022 100 110 010 102 112 012 001 201 021 101 111 011",
    "000 300 030 003 303 033 100 200 210 120 020 010 103 203 213 123 023 013 001 002 301 302 031 032 "
    "110 113 101 201 102 202 211 121 212 122 021 011 022 012 111 112",
    "000 400 040 004 404 044 100 200 300 310 220 130 030 020 010 104 204 304 314 224 134 034 024 014 "
    "001 002 003 401 402 403 041 042 043 110 210 120 114 214 124 101 201 301 102 202 302 103 203 303 "
    "311 221 131 312 222 132 313 223 133 031 021 011 032 022 012 033 023 013 111 211 121 112 212 122 "
    "113 213 123",
    "000 500 050 005 505 055 100 200 300 400 410 320 230 140 040 030 020 010 105 205 305 405 415 325 "
    "235 145 045 035 025 015 001 002 003 004 501 502 503 504 051 052 053 054 110 210 310 120 220 130 "
    "115 215 315 125 225 135 101 201 301 401 102 202 302 402 103 203 303 403 104 204 304 404 411 321 "
    "231 141 412 322 232 142 413 323 233 143 414 324 234 144 041 031 021 011 042 032 022 012 043 033 "
    "023 013 044 034 024 014 111 211 311 121 221 131 112 212 312 122 222 132 113 213 313 123 223 133 "
    "114 214 314 124 224 134",
};

// The mesh of a sample and its twin without the map, which numbers elements and nodes in the same way.
typedef struct {
  Ceed ceed;
  ShapeSample sample;
  ShapeCells cells;
  RitzMesh flat, mesh;
} Shapes;

static int read_shapes(const ShapeSample *s, Ceed ceed, RitzMesh *mesh) {
  FileBytes file = shape_gmsh_file(s, 2, false);
  const char *path = tap_temp_file("shapes.msh", file.data, file.size);

  file_clear(&file);
  return RitzMeshRead(ceed, path, mesh);
}

static int make_shapes(int dim, const int n[3], const char *kinds, int order, Shapes *b) {
  *b = (Shapes){.ceed = tap_ceed("/cpu/self/ref")};
  b->sample = (ShapeSample){.dim = dim, .degree = order, .n = {n[0], n[1], n[2]}, .kinds = kinds, .seed = 3};
  b->cells = shape_cells(&b->sample);
  ShapeSample flat = b->sample;

  flat.is_flat = true;
  int ierr = read_shapes(&flat, b->ceed, &b->flat);
  return ierr ? ierr : read_shapes(&b->sample, b->ceed, &b->mesh);
}

static void destroy_shapes(Shapes *b) {
  free(b->cells.list);
  RitzMeshDestroy(&b->flat);
  RitzMeshDestroy(&b->mesh);
  CeedDestroy(&b->ceed);
}

// A polynomial of total degree p, at most about 1.
static double simplex_polynomial(int p, const double X[3]) {
  return pow(0.1 + 0.3 * X[0] - 0.2 * X[1] + 0.4 * X[2], p) + 0.2 * X[0];
}

// A field of X (degree 1, dim components) or of the polynomial of that degree.
static int add_shape_field(const Shapes *b, const char *name, int degree, bool is_place, Fields *fields) {
  CeedInt f = fields->num++, dim = b->sample.dim;
  RitzSpace flat;
  int64_t num_nodes;
  CeedSize size;
  CeedScalar *u;

  if (RitzSpaceCreate(b->mesh, degree, is_place ? dim : 1, &fields->space[f])) return 1;
  if (RitzSpaceGetSize(fields->space[f], &size) || CeedVectorCreate(b->ceed, size, &fields->values[f]))
    return 1;
  fields->field[f] = (RitzOutputField){.name = name, .space = fields->space[f], .values = fields->values[f]};
  if (RitzSpaceCreate(b->flat, degree, 1, &flat)) return 1;
  RitzSpaceGetNumNodes(flat, &num_nodes);
  double *X = malloc((size_t)(num_nodes * dim) * sizeof(*X));
  int ierr = !X || RitzSpaceGetNodeCoordinates(flat, X) ||
             CeedVectorGetArrayWrite(fields->values[f], CEED_MEM_HOST, &u);
  for (int64_t i = 0; !ierr && i < num_nodes; i++) {
    const double *at = X + i * dim, place[3] = {at[0], at[1], dim == 3 ? at[2] : 0};

    for (CeedInt d = 0; d < dim && is_place; d++) u[i * dim + d] = (CeedScalar)place[d];
    if (!is_place) u[i] = (CeedScalar)simplex_polynomial(degree, place);
  }
  if (!ierr) ierr = CeedVectorRestoreArray(fields->values[f], &u);
  free(X);
  RitzSpaceDestroy(&flat);
  return ierr;
}

// Everything that a file of one field says.
typedef struct {
  const Shapes *b;
  int degree; // of the cells
  VtuFile file;
  VtuArray points, connectivity, offsets, types, element, region, u;
} ShapeContents;

static void open_shape_contents(const Shapes *b, int degree, const char *path, ShapeContents *c) {
  *c = (ShapeContents){.b = b, .degree = degree, .file = vtu_open(path)};
  c->points = vtu_array(&c->file, "Points");
  c->connectivity = vtu_array(&c->file, "connectivity");
  c->offsets = vtu_array(&c->file, "offsets");
  c->types = vtu_array(&c->file, "types");
  c->element = vtu_array(&c->file, "element");
  c->region = vtu_array(&c->file, "region");
  c->u = vtu_array(&c->file, "u");
}

static void close_shape_contents(ShapeContents *c) {
  free(c->points.values);
  free(c->connectivity.values);
  free(c->offsets.values);
  free(c->types.values);
  free(c->element.values);
  free(c->region.values);
  free(c->u.values);
  vtu_close(&c->file);
}

// The cell of the sample that became element e: blocks keep the order of the file.
static const ShapeCell *shape_of_element(const Shapes *b, int64_t e) {
  static const int order[] = {TRIANGLE, SQUARE, TET, PYRAMID, PRISM, CUBE};

  for (int s = 0; s < 6; s++) {
    for (int i = 0; i < b->cells.num; i++) {
      if (b->cells.list[i].shape == order[s] && e-- == 0) return &b->cells.list[i];
    }
  }
  return NULL;
}

// Point `point` has the position and the value that belong to r on the lattice of the cell.
static void check_shape_point(const ShapeContents *c, const ShapeCell *cell, const double r[3],
                              int64_t point) {
  double X[3], x[3];

  CHECK(point >= 0 && point < c->points.num, "point %lld", (long long)point);
  if (tap_failed()) return;
  shape_point(cell, r, X);
  shape_map(&c->b->sample, X, x);
  for (int d = 0; d < 3; d++)
    CHECK_NEAR(c->points.values[3 * point + d], x[d], 200 * DBL_EPSILON, "shape %d, point %lld", cell->shape,
               (long long)point);
  CHECK_NEAR(c->u.values[point], simplex_polynomial(c->degree, X), 200 * CEED_EPSILON, "shape %d, point %lld",
             cell->shape, (long long)point);
}

static void check_lagrange_cell(const ShapeContents *c, const ShapeCell *cell, int64_t first, int64_t num) {
  const char *const *const tables[NUM_SHAPES] = {
      [TRIANGLE] = vtk_triangles, [TET] = vtk_tets, [PRISM] = vtk_wedges};
  int dim = shape_tables[cell->shape].dim, p = c->degree;
  Lattice l = {.p = p, .at = NULL};
  const char *t = tables[cell->shape] ? tables[cell->shape][p - 1] : NULL;

  if (!t) l = make_lattice(dim, p);
  CHECK(num == (t ? (int64_t)(strlen(t) + 1) / (dim + 1) : l.num), "%lld nodes", (long long)num);
  for (int64_t m = 0; m < num && !tap_failed(); m++) {
    double r[3] = {0, 0, 0};

    for (int d = 0; d < dim; d++) r[d] = (double)(t ? t[m * (dim + 1) + d] - '0' : l.at[m][d]) / p;
    check_shape_point(c, cell, r, (int64_t)c->connectivity.values[first + m]);
  }
  free(l.at);
}

// Six times the volume of a tetrahedron.
static double tet_volume(const VtuArray *points, const int64_t p[4]) {
  double a[3][3];

  for (int i = 0; i < 3; i++) {
    for (int d = 0; d < 3; d++) a[i][d] = points->values[3 * p[i + 1] + d] - points->values[3 * p[0] + d];
  }
  return a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) -
         a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
         a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
}

// Adds that of a tetrahedron, or of a pyramid with a plane base, in two halves; all must be right-handed.
static void add_linear_volume(const ShapeContents *c, int64_t first, int64_t num, double *volume) {
  int64_t p[5] = {0};

  for (int64_t i = 0; i < num; i++) p[i] = (int64_t)c->connectivity.values[first + i];
  const int64_t half[4] = {p[0], p[1], p[2], p[num - 1]}, rest[4] = {p[0], p[2], p[3], p[num - 1]};
  double one = tet_volume(&c->points, half), two = num == 5 ? tet_volume(&c->points, rest) : 0;

  CHECK(one > 0 && (num == 4 || two > 0), "volumes %g and %g", one, two);
  *volume += (one + two) / 6;
}

// The points of a pyramid, lexicographic from `first` on.
static void check_pyramid_points(const ShapeContents *c, const ShapeCell *cell, int64_t first) {
  int p = c->degree;

  for (int k = 0; k <= p; k++) {
    for (int j = 0; j <= p - k; j++) {
      for (int i = 0; i <= p - k; i++) {
        const double r[3] = {(double)i / p, (double)j / p, (double)k / p};

        check_shape_point(c, cell, r, first++);
      }
    }
  }
}

// All cells in their order; pyramids are made of linear cells, which fill them when the map is linear.
static void check_cells(const ShapeContents *c) {
  static const int types[NUM_SHAPES] = {0, 68, 69, 70, 71, 72, 73, 0};
  int64_t start = 0, point = 0, last = -1, pyramid_size = 0;
  double volume = 0, wanted = 0;
  const int32_t *regions;

  CHECK_OK(RitzMeshGetElementRegions(c->b->mesh, &regions));
  for (int q = 0; q <= c->degree; q++) pyramid_size += (q + 1) * (q + 1);
  for (int64_t i = 0; i < c->types.num && !tap_failed(); i++) {
    int64_t e = (int64_t)c->element.values[i], end = (int64_t)c->offsets.values[i];
    const ShapeCell *cell = shape_of_element(c->b, e);
    bool is_new = e != last;

    CHECK(e == last + is_new && cell && end <= c->connectivity.num, "element %lld follows %lld", (long long)e,
          (long long)last);
    if (tap_failed()) return;
    CHECK(c->region.values[i] == regions[e], "region of element %lld", (long long)e);
    if (cell->shape == PYRAMID) {
      if (is_new) {
        check_pyramid_points(c, cell, point);
        wanted += 1.0 / 6 / (c->b->sample.n[0] * c->b->sample.n[1] * c->b->sample.n[2]);
        point += pyramid_size;
      }
      CHECK(c->types.values[i] == (end - start == 4 ? 10 : 14), "type %g", c->types.values[i]);
      for (int64_t m = start; m < end; m++)
        CHECK(c->connectivity.values[m] < (double)point &&
                  c->connectivity.values[m] >= (double)(point - pyramid_size),
              "point of another element");
      add_linear_volume(c, start, end - start, &volume);
    } else {
      CHECK(is_new && c->types.values[i] == types[cell->shape], "type %g", c->types.values[i]);
      check_lagrange_cell(c, cell, start, end - start);
      point += end - start;
    }
    last = e;
    start = end;
  }
  CHECK(last + 1 == c->b->cells.num && point == c->points.num && start == c->connectivity.num,
        "%lld elements, %lld points", (long long)last + 1, (long long)point);
  if (c->b->sample.degree == 1) CHECK_NEAR(volume, wanted, 1e-14, "pyramids, degree %d", c->degree);
}

static const struct {
  int dim, n[3];
  const char *kinds;
} shape_boxes[] = {
    {2, {2, 2, 1}, "htth"}, {3, {1, 1, 1}, "t"}, {3, {2, 1, 1}, "ww"}, {3, {3, 1, 2}, "hwm.t."}};
enum { NUM_SHAPE_BOXES = 4 };

TEST(cells_of_every_shape_hold_positions_and_polynomials_of_their_degree) {
  for (int i = 0; i < NUM_SHAPE_BOXES * 5 && !tap_failed(); i++) {
    static const int orders[] = {1, 2, 3, 1, 2};
    int box = i / 5, degree = 1 + i % 5, order = orders[i % 5];
    const char *path = tap_temp_file("shapes.vtu", NULL, 0);
    Shapes b;
    Fields fields = {0};
    ShapeContents c;

    CHECK_OK(make_shapes(shape_boxes[box].dim, shape_boxes[box].n, shape_boxes[box].kinds, order, &b));
    CHECK_OK(add_shape_field(&b, "u", degree, false, &fields));
    CHECK_OK(RitzWriteVTU(b.mesh, fields.num, fields.field, path));
    open_shape_contents(&b, degree, path, &c);
    CHECK(!c.file.fault, "%s", c.file.fault);
    if (!tap_failed()) check_cells(&c);
    if (tap_failed()) tap_note("cells %s, degree %d, order %d", shape_boxes[box].kinds, degree, order);
    close_shape_contents(&c);
    destroy_fields(&fields);
    destroy_shapes(&b);
  }
}

// ---- Files for other readers ----

// FOLDER/KINDS-DIM-DEGREE-ORDER.vtu: the fields u of that degree and X on a geometry of that order.
static int write_shape_sample(const char *folder, int box, int degree, int order) {
  char path[PATH_MAX];
  Shapes b;
  Fields fields = {0};

  snprintf(path, sizeof(path), "%s/%s-%d-%d-%d.vtu", folder, shape_boxes[box].kinds, shape_boxes[box].dim,
           degree, order);
  int ierr = make_shapes(shape_boxes[box].dim, shape_boxes[box].n, shape_boxes[box].kinds, order, &b) ||
             add_shape_field(&b, "u", degree, false, &fields) || add_shape_field(&b, "X", 1, true, &fields) ||
             RitzWriteVTU(b.mesh, fields.num, fields.field, path);
  destroy_fields(&fields);
  destroy_shapes(&b);
  return ierr;
}

static int write_samples(const char *folder) {
  for (int box = 0; box < NUM_SHAPE_BOXES; box++) {
    for (int degree = 1; degree <= 4; degree *= 2) {
      // Linear cells show the volume of pyramids only under a linear map.
      int order = strchr(shape_boxes[box].kinds, 'm') ? 1 : degree < 3 ? degree : 3;

      if (write_shape_sample(folder, box, degree, order)) return 1;
    }
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 3 && !strcmp(argv[1], "--write")) return write_samples(argv[2]);
  return tap_main(argc, argv, TESTS(cells_of_every_shape_hold_positions_and_polynomials_of_their_degree));
}
