// SPDX-License-Identifier: BSD-2-Clause
// RitzWriteVTU: the structure of the file and the exactness of what stands in it, checked without VTK by the
// reader of tests/vtu-read.h. `test-vtu --write FOLDER` makes files for tests/test-vtu-vtk.sh, which asks
// VTK's own reader.
#include <ritz.h>

#include <dirent.h>
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "tests/tap.h"
#include "tests/vtu-lattice.h"
#include "tests/vtu-read.h"

// ---- A mesh and fields whose values are known everywhere ----

// A curved box and its undeformed twin: both number their elements and nodes in the same way.
typedef struct {
  Ceed ceed;
  RitzMesh flat, mesh;
  CeedInt dim, order, n[3];
} Boxes;

enum { max_fields = 3 };

typedef struct {
  CeedInt num;
  RitzSpace space[max_fields];
  CeedVector values[max_fields];
  RitzOutputField field[max_fields];
} Fields;

// A polynomial of degree *ctx in every direction.
static int bend(void *ctx, CeedInt dim, const double *X, double *x) {
  CeedInt order = *(CeedInt *)ctx;

  for (CeedInt d = 0; d < dim; d++) x[d] = (d + 1) * X[d] + 0.1 * pow(X[(d + 1) % dim], order);
  return 0;
}

// Component c of the field of degree p, of full degree p in every direction; at most about 8 on [0,1]^dim.
static double polynomial(CeedInt p, CeedInt c, CeedInt dim, const double *X) {
  double value = 1;

  for (CeedInt d = 0; d < dim; d++) value *= 1 + pow(X[d] - 0.1 * (c + d + 1), p);
  return value;
}

static int make_boxes(CeedInt dim, const CeedInt n[], CeedInt order, Boxes *b) {
  *b = (Boxes){.ceed = tap_ceed("/cpu/self/ref"), .dim = dim, .order = order};
  memcpy(b->n, n, (size_t)dim * sizeof(*n));
  int ierr = RitzMeshCreateBox(b->ceed, dim, n, NULL, NULL, 1, NULL, NULL, &b->flat);
  return ierr ? ierr : RitzMeshCreateBox(b->ceed, dim, n, NULL, NULL, order, bend, &b->order, &b->mesh);
}

static void destroy_boxes(Boxes *b) {
  RitzMeshDestroy(&b->mesh);
  RitzMeshDestroy(&b->flat);
  CeedDestroy(&b->ceed);
}

// Nodal values of the polynomials at the nodes of the undeformed box.
static int fill_values(const Boxes *b, CeedInt degree, CeedInt num_comp, CeedVector values) {
  RitzSpace flat;
  int64_t num_nodes;
  CeedScalar *u;

  if (RitzSpaceCreate(b->flat, degree, num_comp, &flat)) return 1;
  RitzSpaceGetNumNodes(flat, &num_nodes);
  double *X = malloc((size_t)(num_nodes * b->dim) * sizeof(*X));
  int ierr = !X || RitzSpaceGetNodeCoordinates(flat, X) || CeedVectorGetArrayWrite(values, CEED_MEM_HOST, &u);
  for (int64_t i = 0; !ierr && i < num_nodes; i++) {
    for (CeedInt c = 0; c < num_comp; c++)
      u[i * num_comp + c] = (CeedScalar)polynomial(degree, c, b->dim, X + i * b->dim);
  }
  if (!ierr) ierr = CeedVectorRestoreArray(values, &u);
  free(X);
  RitzSpaceDestroy(&flat);
  return ierr;
}

static int add_field(const Boxes *b, const char *name, CeedInt degree, CeedInt num_comp, Fields *fields) {
  CeedInt f = fields->num;
  CeedSize size;

  if (RitzSpaceCreate(b->mesh, degree, num_comp, &fields->space[f])) return 1;
  RitzSpaceGetSize(fields->space[f], &size);
  if (CeedVectorCreate(b->ceed, size, &fields->values[f])) return 1;
  fields->field[f] = (RitzOutputField){.name = name, .space = fields->space[f], .values = fields->values[f]};
  fields->num++;
  return fill_values(b, degree, num_comp, fields->values[f]);
}

static void destroy_fields(Fields *fields) {
  for (CeedInt f = 0; f < fields->num; f++) {
    CeedVectorDestroy(&fields->values[f]);
    RitzSpaceDestroy(&fields->space[f]);
  }
}

// ---- What a file must hold ----

// Place in the undeformed box of a lattice node of element e.
static void locate(const Boxes *b, const Lattice *l, int64_t e, int64_t node, double X[3]) {
  for (CeedInt d = 0; d < b->dim; d++) {
    X[d] = ((double)(e % b->n[d]) + (double)l->at[node][d] / l->p) / b->n[d];
    e /= b->n[d];
  }
}

// The points of a file in the order of its cells.
typedef struct {
  VtuFile file;
  Lattice lattice;
  int64_t num_elem, num_points;
  VtuArray points, connectivity;
} Contents;

static void open_contents(const Boxes *b, int degree, const char *path, Contents *c) {
  memset(c, 0, sizeof(*c));
  c->file = vtu_open(path);
  c->lattice = make_lattice(b->dim, degree);
  RitzMeshGetNumElements(b->mesh, &c->num_elem);
  c->num_points = c->num_elem * c->lattice.num;
  c->points = vtu_array(&c->file, "Points");
  c->connectivity = vtu_array(&c->file, "connectivity");
}

static void close_contents(Contents *c) {
  free(c->lattice.at);
  free(c->points.values);
  free(c->connectivity.values);
  vtu_close(&c->file);
}

// Number of the point that is node `node` of cell e; -1 outside of the points.
static int64_t point_of(const Contents *c, int64_t e, int64_t node) {
  double point = c->connectivity.values[e * c->lattice.num + node];

  return point >= 0 && point < (double)c->num_points ? (int64_t)point : -1;
}

// Positions are double in every build. Rounding: values up to 4, tables with absolute row sums up to 8.
static void check_points(const Boxes *b, const Contents *c) {
  double worst = 0;

  CHECK(!c->file.fault, "%s", c->file.fault);
  CHECK(c->points.num == c->num_points && c->points.num_comp == 3, "found %lld points",
        (long long)c->points.num);
  CHECK(c->connectivity.num == c->num_points, "found %lld ids", (long long)c->connectivity.num);
  for (int64_t e = 0; e < c->num_elem; e++) {
    for (int64_t m = 0; m < c->lattice.num; m++) {
      int64_t point = point_of(c, e, m);
      double X[3], x[3] = {0};

      CHECK(point >= 0, "cell %lld, node %lld", (long long)e, (long long)m);
      locate(b, &c->lattice, e, m, X);
      bend((void *)&b->order, b->dim, X, x);
      for (int d = 0; d < 3; d++) worst = tap_larger(worst, fabs(c->points.values[3 * point + d] - x[d]));
    }
  }
  CHECK_NEAR(worst, 0, 100 * DBL_EPSILON, "dim %d, order %d", (int)b->dim, (int)b->order);
}

static void check_field(const Boxes *b, Contents *c, const char *name, CeedInt degree, CeedInt num_comp,
                        CeedInt num_written) {
  VtuArray u = vtu_array(&c->file, name);
  double worst = 0;

  CHECK(!c->file.fault, "%s: %s", name, c->file.fault);
  CHECK(u.num == c->num_points && u.num_comp == num_written, "%s: %lld tuples of %lld", name,
        (long long)u.num, (long long)u.num_comp);
  for (int64_t e = 0; e < c->num_elem; e++) {
    for (int64_t m = 0; m < c->lattice.num; m++) {
      const double *value = u.values + num_written * point_of(c, e, m);
      double X[3];

      locate(b, &c->lattice, e, m, X);
      for (CeedInt i = 0; i < num_written; i++) {
        double wanted = i < num_comp ? polynomial(degree, i, b->dim, X) : 0;

        worst = tap_larger(worst, fabs(value[i] - wanted));
      }
    }
  }
  free(u.values);
  // Values up to 8, tables with absolute row sums up to 8 (degree 6 in three directions).
  CHECK_NEAR(worst, 0, 200 * CEED_EPSILON, "%s of degree %d in %d dimensions", name, (int)degree,
             (int)b->dim);
}

static const CeedInt sizes[3] = {3, 2, 2};

// ---- Contents ----

TEST(points_lie_at_equispaced_positions_of_the_map) {
  for (CeedInt dim = 1; dim <= 3; dim++) {
    for (CeedInt order = 1; order <= 6; order++) {
      const char *path = tap_temp_file("points.vtu", NULL, 0);
      Boxes b;
      Contents c;

      CHECK_OK(make_boxes(dim, sizes, order, &b));
      CHECK_OK(RitzWriteVTU(b.mesh, 0, NULL, path));
      open_contents(&b, order, path, &c);
      check_points(&b, &c);
      close_contents(&c);
      destroy_boxes(&b);
      if (tap_failed()) return;
    }
  }
}

TEST(a_polynomial_of_the_degree_of_its_space_is_reproduced_at_every_point) {
  for (CeedInt dim = 1; dim <= 3; dim++) {
    for (CeedInt degree = 1; degree <= 6; degree++) {
      const char *path = tap_temp_file("field.vtu", NULL, 0);
      Boxes b;
      Fields fields = {0};
      Contents c;

      CHECK_OK(make_boxes(dim, sizes, 1, &b));
      CHECK_OK(add_field(&b, "u", degree, 1, &fields));
      CHECK_OK(RitzWriteVTU(b.mesh, fields.num, fields.field, path));
      open_contents(&b, degree, path, &c);
      check_points(&b, &c);
      if (!tap_failed()) check_field(&b, &c, "u", degree, 1, 1);
      close_contents(&c);
      destroy_fields(&fields);
      destroy_boxes(&b);
      if (tap_failed()) return;
    }
  }
}

TEST(fields_and_geometry_of_different_degrees_share_cells_of_the_highest) {
  static const CeedInt degrees[][3] = {{1, 3, 2}, {2, 5, 3}, {4, 2, 1}, {3, 1, 6}}; // u, v, geometry

  for (size_t i = 0; i < sizeof(degrees) / sizeof(degrees[0]); i++) {
    for (CeedInt dim = 1; dim <= 3; dim++) {
      const CeedInt *p = degrees[i];
      CeedInt highest = p[0] > p[1] ? p[0] : p[1];
      const char *path = tap_temp_file("mixed.vtu", NULL, 0);
      Boxes b;
      Fields fields = {0};
      Contents c;

      if (p[2] > highest) highest = p[2];
      CHECK_OK(make_boxes(dim, sizes, p[2], &b));
      CHECK_OK(add_field(&b, "u", p[0], 1, &fields));
      CHECK_OK(add_field(&b, "v", p[1], 3, &fields));
      CHECK_OK(RitzWriteVTU(b.mesh, fields.num, fields.field, path));
      open_contents(&b, highest, path, &c);
      check_points(&b, &c);
      if (!tap_failed()) check_field(&b, &c, "u", p[0], 1, 1);
      if (!tap_failed()) check_field(&b, &c, "v", p[1], 3, 3);
      close_contents(&c);
      destroy_fields(&fields);
      destroy_boxes(&b);
      if (tap_failed()) return;
    }
  }
}

TEST(two_components_get_a_third_in_the_plane_only) {
  for (CeedInt dim = 1; dim <= 3; dim++) {
    const char *path = tap_temp_file("vector.vtu", NULL, 0);
    Boxes b;
    Fields fields = {0};
    Contents c;

    CHECK_OK(make_boxes(dim, sizes, 1, &b));
    CHECK_OK(add_field(&b, "v", 2, 2, &fields));
    CHECK_OK(add_field(&b, "w", 2, 4, &fields));
    CHECK_OK(RitzWriteVTU(b.mesh, fields.num, fields.field, path));
    open_contents(&b, 2, path, &c);
    check_field(&b, &c, "v", 2, 2, dim == 2 ? 3 : 2);
    if (!tap_failed()) check_field(&b, &c, "w", 2, 4, 4);
    close_contents(&c);
    destroy_fields(&fields);
    destroy_boxes(&b);
    if (tap_failed()) return;
  }
}

// Two values out of four components.
static void squares(const double *v, double *values) {
  values[0] = v[0] * v[0] + v[1] * v[1];
  values[1] = v[2] * v[3];
}

// Of what is interpolated: interpolating what the function gives at nodes would be something else.
TEST(functions_are_those_of_the_components_at_every_point) {
  for (CeedInt dim = 1; dim <= 3; dim++) {
    const char *path = tap_temp_file("function.vtu", NULL, 0);
    Boxes b;
    Fields fields = {0};

    CHECK_OK(make_boxes(dim, sizes, 2, &b));
    CHECK_OK(add_field(&b, "v", dim == 1 ? 2 : 3, 4, &fields));
    RitzOutputField both[2] = {fields.field[0], fields.field[0]};
    both[1].name = "squares", both[1].function = squares, both[1].num_values = 2;
    CHECK_OK(RitzWriteVTU(b.mesh, 2, both, path));
    VtuFile file = vtu_open(path);
    VtuArray v = vtu_array(&file, "v"), found = vtu_array(&file, "squares");
    CHECK(v.num > 0 && found.num_comp == 2 && found.num == v.num, "dim %d: %lld values", (int)dim,
          (long long)found.num);
    for (int64_t i = 0; !tap_failed() && i < v.num; i++) {
      double expected[2];

      both[1].function(v.values + 4 * i, expected);
      CHECK(found.values[2 * i] == expected[0] && found.values[2 * i + 1] == expected[1],
            "dim %d, point %lld: %g", (int)dim, (long long)i, found.values[2 * i]);
    }
    free(v.values);
    free(found.values);
    vtu_close(&file);
    destroy_fields(&fields);
    destroy_boxes(&b);
  }
}

// ---- Structure ----

static void check_sequence(VtuFile *file, const char *name, const char *type, int64_t num, double first,
                           double step) {
  VtuArray array = vtu_array(file, name);

  CHECK(array.values && array.num == num && array.num_comp == 1, "%s: %lld", name, (long long)array.num);
  CHECK(!strcmp(array.type, type), "%s: type %s", name, array.type);
  for (int64_t e = 0; e < num; e++)
    CHECK(array.values[e] == first + (double)e * step, "%s[%lld] = %g", name, (long long)e, array.values[e]);
  free(array.values);
}

TEST(connectivity_is_a_permutation_and_offsets_are_the_ends_of_cells) {
  static const double types[] = {0, 68, 70, 72};

  for (CeedInt dim = 1; dim <= 3; dim++) {
    const char *path = tap_temp_file("cells.vtu", NULL, 0);
    Boxes b;
    Contents c;

    CHECK_OK(make_boxes(dim, sizes, 3, &b));
    CHECK_OK(RitzWriteVTU(b.mesh, 0, NULL, path));
    open_contents(&b, 3, path, &c);
    CHECK(!c.file.fault, "%s", c.file.fault);
    CHECK(c.connectivity.num == c.num_points, "found %lld ids", (long long)c.connectivity.num);
    char *is_used = calloc((size_t)c.num_points, 1);
    for (int64_t i = 0; i < c.num_points; i++) {
      int64_t point = point_of(&c, 0, i);

      CHECK(point >= 0 && !is_used[point], "id %lld of %lld", (long long)point, (long long)c.num_points);
      is_used[point] = 1;
    }
    free(is_used);
    double n = (double)c.lattice.num;
    check_sequence(&c.file, "offsets", "Int64", c.num_elem, n, n);
    check_sequence(&c.file, "types", "UInt8", c.num_elem, types[dim], 0);
    check_sequence(&c.file, "element", "Int64", c.num_elem, 0, 1);
    check_sequence(&c.file, "region", "Int32", c.num_elem, 1, 0);
    close_contents(&c);
    destroy_boxes(&b);
    if (tap_failed()) return;
  }
}

TEST(text_announces_version_indices_and_counts) {
  const char *path = tap_temp_file("text.vtu", NULL, 0);
  Boxes b;

  CHECK_OK(make_boxes(2, sizes, 2, &b));
  CHECK_OK(RitzWriteVTU(b.mesh, 0, NULL, path));
  VtuFile file = vtu_open(path);
  CHECK(!file.fault, "%s", file.fault);
  CHECK(strstr(file.bytes, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>") == file.bytes, "first line");
  CHECK(strstr(file.bytes, "type=\"UnstructuredGrid\" version=\"2.2\""), "version");
  CHECK(strstr(file.bytes, "header_type=\"UInt64\""), "words in front of arrays");
  CHECK(strstr(file.bytes, "<Piece NumberOfPoints=\"54\" NumberOfCells=\"6\">"), "counts");
  CHECK(!strcmp(file.bytes + file.size - 12, "\n</VTKFile>\n"), "end of the file");
  vtu_close(&file);
  destroy_boxes(&b);
}

// Blocks are 2^18 bytes: 2^15 segments give arrays of exactly one, two and a half block and other sizes.
// All of a file, or NULL; to be freed.
static char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  char *text = NULL;

  *size = 0;
  if (!file) return NULL;
  fseek(file, 0, SEEK_END);
  const long length = ftell(file);
  rewind(file);
  text = calloc((size_t)length + 1, 1);
  if (text) *size = fread(text, 1, (size_t)length, file);
  fclose(file);
  return text;
}

// A whole mesh is one piece, the bytes of a file; parts: test-cli-parts.sh.
TEST(a_list_of_pieces_names_arrays_and_the_piece_is_the_file) {
  static const char list[] = "pieces & more.pvtu", piece[] = "pieces & more-0.vtu", whole[] = "whole.vtu";
  static const char *const lines[] = {
      "<VTKFile type=\"PUnstructuredGrid\" version=\"2.2\"",
      "<PUnstructuredGrid GhostLevel=\"0\">",
      "<PPointData>\n        <PDataArray type=\"Float64\" Name=\"u\" NumberOfComponents=\"2\"/>\n",
      "<PDataArray type=\"Int32\" Name=\"region\" NumberOfComponents=\"1\"/>",
      "<PDataArray type=\"Float64\" Name=\"Points\" NumberOfComponents=\"3\"/>\n      </PPoints>",
      "<Piece Source=\"pieces &#38; more-0.vtu\"/>\n  </PUnstructuredGrid>\n</VTKFile>\n"};
  Boxes b;
  Fields fields = {0};
  size_t sizes_of[3];

  CHECK_OK(make_boxes(3, sizes, 1, &b));
  CHECK_OK(add_field(&b, "u", 3, 2, &fields));
  CHECK_ERROR(b.ceed, RitzWritePVTU(b.mesh, fields.num, fields.field, "pieces.vtu"), CEED_ERROR_INCOMPATIBLE,
              "expected a path that ends in .pvtu, found 'pieces.vtu'");
  CHECK_ERROR(b.ceed, RitzWritePVTU(b.mesh, fields.num, fields.field, ".pvtu"), CEED_ERROR_INCOMPATIBLE,
              "expected a path that ends in .pvtu");
  CHECK_OK(RitzWritePVTU(b.mesh, fields.num, fields.field, list));
  CHECK_OK(RitzWriteVTU(b.mesh, fields.num, fields.field, whole));
  char *text = read_file(list, &sizes_of[0]), *of_piece = read_file(piece, &sizes_of[1]),
       *of_whole = read_file(whole, &sizes_of[2]);
  const bool is_same =
      of_piece && of_whole && sizes_of[1] == sizes_of[2] && !memcmp(of_piece, of_whole, sizes_of[1]);
  const char *missing = NULL;

  for (int i = 0; i < 6; i++) missing = text && strstr(text, lines[i]) ? missing : lines[i];
  free(text), free(of_piece), free(of_whole);
  remove(list), remove(piece), remove(whole);
  destroy_fields(&fields);
  destroy_boxes(&b);
  CHECK(is_same, "the piece is another file than that of the whole mesh");
  CHECK(!missing, "the list has no '%s'", missing);
}

TEST(arrays_of_many_blocks_and_of_exactly_one_are_whole) {
  const CeedInt n[] = {1 << 15};
  const char *path = tap_temp_file("blocks.vtu", NULL, 0);
  Boxes b;
  Fields fields = {0};
  Contents c;

  CHECK_OK(make_boxes(1, n, 1, &b));
  CHECK_OK(add_field(&b, "u", 2, 1, &fields));
  CHECK_OK(RitzWriteVTU(b.mesh, fields.num, fields.field, path));
  open_contents(&b, 2, path, &c);
  check_points(&b, &c);
  check_field(&b, &c, "u", 2, 1, 1);
  check_sequence(&c.file, "element", "Int64", c.num_elem, 0, 1);
  check_sequence(&c.file, "offsets", "Int64", c.num_elem, 3, 3);
  check_sequence(&c.file, "types", "UInt8", c.num_elem, 68, 0);
  close_contents(&c);
  destroy_fields(&fields);
  destroy_boxes(&b);
}

TEST(names_are_escaped) {
  const char *path = tap_temp_file("names.vtu", NULL, 0);
  Boxes b;
  Fields fields = {0};
  Contents c;

  CHECK_OK(make_boxes(1, sizes, 1, &b));
  CHECK_OK(add_field(&b, "a<b> & \"c\" \xce\xb7", 1, 1, &fields));
  CHECK_OK(RitzWriteVTU(b.mesh, fields.num, fields.field, path));
  open_contents(&b, 1, path, &c);
  check_field(&b, &c, "a&#60;b&#62; &#38; &#34;c&#34; \xce\xb7", 1, 1, 1);
  close_contents(&c);
  destroy_fields(&fields);
  destroy_boxes(&b);
}

// Node 0 belongs to the first segment only.
TEST(values_that_are_not_numbers_stay_in_their_element) {
  static const CeedScalar strange[] = {(CeedScalar)NAN, (CeedScalar)INFINITY};

  for (size_t s = 0; s < 2; s++) {
    for (CeedInt degree = 1; degree <= 4; degree++) {
      const char *path = tap_temp_file("nan.vtu", NULL, 0);
      Boxes b;
      Fields fields = {0};
      const int64_t *nodes;
      CeedScalar *u;

      CHECK_OK(make_boxes(1, sizes, 1, &b));
      CHECK_OK(add_field(&b, "u", degree, 1, &fields));
      CHECK_OK(RitzSpaceGetElementNodes(fields.space[0], &nodes));
      CHECK_OK(CeedVectorGetArray(fields.values[0], CEED_MEM_HOST, &u));
      u[nodes[0]] = strange[s];
      CHECK_OK(CeedVectorRestoreArray(fields.values[0], &u));
      CHECK_OK(RitzWriteVTU(b.mesh, fields.num, fields.field, path));
      VtuFile file = vtu_open(path);
      VtuArray found = vtu_array(&file, "u");
      CHECK(found.num == 3 * (degree + 1), "found %lld values", (long long)found.num);
      CHECK(!isfinite(found.values[0]), "found %g at the node", found.values[0]);
      for (CeedInt i = degree <= 2 ? 1 : degree + 1; i < found.num; i++)
        CHECK(isfinite(found.values[i]), "value %d, degree %d", (int)i, (int)degree);
      free(found.values);
      vtu_close(&file);
      destroy_fields(&fields);
      destroy_boxes(&b);
    }
  }
}

// ---- Errors ----

// Number of entries in the folder of `path`, without "." and "..".
static int count_neighbours(const char *path) {
  char folder[PATH_MAX];
  int num = 0;

  snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path), path);
  DIR *dir = opendir(folder);
  while (dir && readdir(dir)) num++;
  if (dir) closedir(dir);
  return num - 2;
}

TEST(wrong_arguments_are_errors_and_leave_no_file) {
  const char *path = tap_temp_file("arguments.vtu", NULL, 0);
  int before = count_neighbours(path);
  Boxes b;
  Fields fields = {0};
  CeedVector empty, shorter;

  CHECK_OK(make_boxes(2, sizes, 1, &b));
  CHECK_OK(add_field(&b, "u", 2, 1, &fields));
  CHECK_OK(CeedVectorCreate(b.ceed, 1, &shorter));
  CHECK_OK(CeedVectorSetValue(shorter, 0));
  CHECK_OK(CeedVectorCreate(b.ceed, 1000, &empty));
  RitzOutputField good = fields.field[0], bad = good, twice[2] = {good, good};
  CHECK_ERROR(NULL, RitzWriteVTU(NULL, 0, NULL, path), CEED_ERROR_INCOMPATIBLE, "mesh");
  CHECK_ERROR(b.ceed, RitzWriteVTU(b.mesh, 0, NULL, NULL), CEED_ERROR_INCOMPATIBLE, "no path");
  CHECK_ERROR(b.ceed, RitzWriteVTU(b.mesh, 0, NULL, ""), CEED_ERROR_INCOMPATIBLE, "no path");
  CHECK_ERROR(b.ceed, RitzWriteVTU(b.mesh, -1, &good, path), CEED_ERROR_DIMENSION, "found -1");
  CHECK_ERROR(b.ceed, RitzWriteVTU(b.mesh, 1, NULL, path), CEED_ERROR_INCOMPATIBLE, "'fields' is NULL");
  CHECK_ERROR(b.ceed, RitzWriteVTU(b.flat, 1, &good, path), CEED_ERROR_INCOMPATIBLE, "another mesh");
  CHECK_ERROR(b.ceed, RitzWriteVTU(b.mesh, 2, twice, path), CEED_ERROR_INCOMPATIBLE, "both called 'u'");
  bad.values = NULL;
  CHECK_ERROR(b.ceed, RitzWriteVTU(b.mesh, 1, &bad, path), CEED_ERROR_INCOMPATIBLE, "'u' has no values");
  bad.values = shorter;
  CHECK_ERROR(b.ceed, RitzWriteVTU(b.mesh, 1, &bad, path), CEED_ERROR_DIMENSION, "needs 35");
  bad.values = empty;
  CHECK(RitzWriteVTU(b.mesh, 1, &bad, path) != CEED_ERROR_SUCCESS, "a vector that was never set");
  bad = good, bad.space = NULL;
  CHECK_ERROR(b.ceed, RitzWriteVTU(b.mesh, 1, &bad, path), CEED_ERROR_INCOMPATIBLE, "'u' has no space");
  bad = good, bad.function = squares;
  CHECK_ERROR(b.ceed, RitzWriteVTU(b.mesh, 1, &bad, path), CEED_ERROR_DIMENSION, "at least 1 value, found 0");
  bad = good, bad.name = NULL;
  CHECK_ERROR(b.ceed, RitzWriteVTU(b.mesh, 1, &bad, path), CEED_ERROR_INCOMPATIBLE, "field 0 has no name");
  CHECK(count_neighbours(path) == before, "a file was left behind");
  CeedVectorDestroy(&empty);
  CeedVectorDestroy(&shorter);
  destroy_fields(&fields);
  destroy_boxes(&b);
}

TEST(names_that_xml_cannot_hold_are_errors) {
  static const char *const names[] = {"",
                                      "\n",
                                      "a\x01",
                                      "\x7f",
                                      "\xff",
                                      "\x80",
                                      "\xc0\x80",
                                      "\xce",
                                      "\xe0\x80\x80",
                                      "\xed\xa0\x80",
                                      "\xf4\x90\x80\x80",
                                      "\xf0\x80\x80\x80"};
  const char *path = tap_temp_file("name.vtu", NULL, 0);
  Boxes b;
  Fields fields = {0};

  CHECK_OK(make_boxes(1, sizes, 1, &b));
  CHECK_OK(add_field(&b, "u", 1, 1, &fields));
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    fields.field[0].name = names[i];
    CHECK_ERROR(b.ceed, RitzWriteVTU(b.mesh, 1, fields.field, path), CEED_ERROR_INCOMPATIBLE, "name");
  }
  destroy_fields(&fields);
  destroy_boxes(&b);
}

TEST(a_path_that_cannot_be_written_is_an_error_with_path_and_reason) {
  const char *file = tap_temp_text("file", "text"), *pipe = tap_temp_file("pipe.vtu", NULL, 0);
  char path[PATH_MAX], folder[PATH_MAX];
  struct stat status;
  Boxes b;

  CHECK_OK(make_boxes(1, sizes, 1, &b));
  snprintf(path, sizeof(path), "%s/a.vtu", file);
  CHECK_ERROR(b.ceed, RitzWriteVTU(b.mesh, 0, NULL, path), CEED_ERROR_MAJOR, path);
  CHECK_ERROR(b.ceed, RitzWriteVTU(b.mesh, 0, NULL, path), CEED_ERROR_MAJOR, strerror(ENOTDIR));
  snprintf(path, sizeof(path), "%s-is-missing/a.vtu", file);
  CHECK_ERROR(b.ceed, RitzWriteVTU(b.mesh, 0, NULL, path), CEED_ERROR_MAJOR, strerror(ENOENT));
  snprintf(folder, sizeof(folder), "%s-folder", file);
  CHECK_OK(mkdir(folder, 0700));
  CHECK_ERROR(b.ceed, RitzWriteVTU(b.mesh, 0, NULL, folder), CEED_ERROR_MAJOR, "not a regular file");
  CHECK_OK(mkfifo(pipe, 0600));
  CHECK_ERROR(b.ceed, RitzWriteVTU(b.mesh, 0, NULL, pipe), CEED_ERROR_MAJOR, "not a regular file");
  CHECK(!stat(pipe, &status) && S_ISFIFO(status.st_mode), "the pipe was replaced");
  destroy_boxes(&b);
}

TEST(a_folder_without_permission_is_an_error) {
  const uid_t nobody = 65534;
  const char *name = tap_temp_file("closed", NULL, 0);
  char path[PATH_MAX];
  Boxes b;

  CHECK_OK(make_boxes(1, sizes, 1, &b));
  CHECK_OK(mkdir(name, 0500));
  snprintf(path, sizeof(path), "%s/a.vtu", name);
  bool is_root = geteuid() == 0;
  if (is_root) CHECK_OK(seteuid(nobody)); // the superuser may write everywhere
  CHECK_ERROR(b.ceed, RitzWriteVTU(b.mesh, 0, NULL, path), CEED_ERROR_MAJOR, strerror(EACCES));
  if (is_root) CHECK_OK(seteuid(0));
  destroy_boxes(&b);
}

static long size_of(const char *path) {
  struct stat status;

  return stat(path, &status) ? -1 : (long)status.st_size;
}

// A limit on the size of files stands in for a full disk: the system's reason is another, the path the same.
static int write_with_limit(const Boxes *b, const Fields *fields, const char *path, long limit) {
  struct rlimit old, low;

  if (getrlimit(RLIMIT_FSIZE, &old)) return -1;
  low = old;
  low.rlim_cur = (rlim_t)limit;
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &low);
  int ierr = RitzWriteVTU(b->mesh, fields->num, fields->field, path);
  setrlimit(RLIMIT_FSIZE, &old);
  signal(SIGXFSZ, handler);
  return ierr;
}

TEST(a_file_that_cannot_be_completed_leaves_the_old_one_and_no_other) {
  const char *path = tap_temp_text("full.vtu", "old");
  int before = count_neighbours(path);
  Boxes b;
  Fields fields = {0};

  CHECK_OK(make_boxes(2, sizes, 2, &b));
  CHECK_OK(add_field(&b, "u", 3, 1, &fields));
  CHECK_OK(RitzWriteVTU(b.mesh, fields.num, fields.field, path));
  long size = size_of(path);
  CHECK(size > 1000, "size %ld", size);
  path = tap_temp_text("full.vtu", "old");
  for (long limit = 0; limit < size; limit += size / 50) {
    CHECK_ERROR(b.ceed, write_with_limit(&b, &fields, path, limit), CEED_ERROR_MAJOR, strerror(EFBIG));
    CHECK(size_of(path) == 3, "the old file has gone, limit %ld", limit);
    CHECK(count_neighbours(path) == before + 1, "a file was left behind, limit %ld", limit);
  }
  CHECK_OK(write_with_limit(&b, &fields, path, size));
  CHECK(size_of(path) == size, "size %ld", size_of(path));
  destroy_fields(&fields);
  destroy_boxes(&b);
}

TEST(every_failing_allocation_is_an_error_and_leaves_nothing) {
  const char *path = tap_temp_file("memory.vtu", NULL, 0);
  int before = count_neighbours(path), ierr = 1;
  Boxes b;
  Fields fields = {0};

  CHECK_OK(make_boxes(2, sizes, 2, &b));
  CHECK_OK(add_field(&b, "u", 3, 2, &fields));
  int64_t live = ritz_memory_live();
  for (int64_t n = 1; ierr && n < 1000; n++) {
    ritz_memory_fail_at(n);
    ierr = RitzWriteVTU(b.mesh, fields.num, fields.field, path);
    ritz_memory_fail_at(0);
    CHECK(ritz_memory_live() == live, "allocation %d", (int)n);
    CHECK(count_neighbours(path) == before + !ierr, "allocation %d left a file", (int)n);
  }
  CHECK_OK(ierr);
  destroy_fields(&fields);
  destroy_boxes(&b);
}

TEST(the_file_may_be_read_by_whom_the_mask_allows) {
  const char *path = tap_temp_file("mask.vtu", NULL, 0);
  struct stat status;
  Boxes b;

  CHECK_OK(make_boxes(1, sizes, 1, &b));
  mode_t mask = umask(022);
  int ierr = RitzWriteVTU(b.mesh, 0, NULL, path);
  umask(mask);
  CHECK_OK(ierr);
  CHECK(!stat(path, &status) && (status.st_mode & 0777) == 0644, "mode %o", (unsigned)status.st_mode);
  destroy_boxes(&b);
}

// ---- Files for other readers ----

// The field X of degree 1: the place in the undeformed box.
static int add_places(const Boxes *b, Fields *fields) {
  RitzSpace flat;
  CeedSize size;
  CeedScalar *u;

  if (add_field(b, "X", 1, b->dim, fields) || RitzSpaceCreate(b->flat, 1, b->dim, &flat)) return 1;
  RitzSpaceGetSize(flat, &size);
  double *X = calloc((size_t)size, sizeof(*X));
  int ierr = !X || RitzSpaceGetNodeCoordinates(flat, X) ||
             CeedVectorGetArrayWrite(fields->values[fields->num - 1], CEED_MEM_HOST, &u);
  for (CeedSize i = 0; !ierr && i < size; i++) u[i] = (CeedScalar)X[i];
  if (!ierr) ierr = CeedVectorRestoreArray(fields->values[fields->num - 1], &u);
  free(X);
  RitzSpaceDestroy(&flat);
  return ierr;
}

// FOLDER/DIM-DEGREE-ORDER.vtu: the fields u of that degree and X on a geometry of that order.
static int write_sample(const char *folder, CeedInt dim, CeedInt degree, CeedInt order) {
  char path[PATH_MAX];
  Boxes b;
  Fields fields = {0};

  snprintf(path, sizeof(path), "%s/%d-%d-%d.vtu", folder, (int)dim, (int)degree, (int)order);
  int ierr = make_boxes(dim, sizes, order, &b) || add_field(&b, "u", degree, 1, &fields) ||
             add_places(&b, &fields) || RitzWriteVTU(b.mesh, fields.num, fields.field, path);
  destroy_fields(&fields);
  destroy_boxes(&b);
  return ierr;
}

// Prints the accuracy to expect, relative to the values: polynomials of degree 6 in three directions.
static int write_samples(const char *folder) {
  printf("%g\n", 1000 * (double)CEED_EPSILON);
  for (CeedInt dim = 1; dim <= 3; dim++) {
    for (CeedInt degree = 1; degree <= 6; degree++) {
      if (write_sample(folder, dim, degree, 1) || write_sample(folder, dim, degree, 2)) return 1;
    }
    if (write_sample(folder, dim, 2, 5)) return 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 3 && !strcmp(argv[1], "--write")) return write_samples(argv[2]);
  return tap_main(argc, argv,
                  TESTS(points_lie_at_equispaced_positions_of_the_map,
                        a_polynomial_of_the_degree_of_its_space_is_reproduced_at_every_point,
                        fields_and_geometry_of_different_degrees_share_cells_of_the_highest,
                        two_components_get_a_third_in_the_plane_only,
                        functions_are_those_of_the_components_at_every_point,
                        connectivity_is_a_permutation_and_offsets_are_the_ends_of_cells,
                        text_announces_version_indices_and_counts,
                        a_list_of_pieces_names_arrays_and_the_piece_is_the_file,
                        arrays_of_many_blocks_and_of_exactly_one_are_whole, names_are_escaped,
                        values_that_are_not_numbers_stay_in_their_element,
                        wrong_arguments_are_errors_and_leave_no_file, names_that_xml_cannot_hold_are_errors,
                        a_path_that_cannot_be_written_is_an_error_with_path_and_reason,
                        a_folder_without_permission_is_an_error,
                        a_file_that_cannot_be_completed_leaves_the_old_one_and_no_other,
                        every_failing_allocation_is_an_error_and_leaves_nothing,
                        the_file_may_be_read_by_whom_the_mask_allows));
}
