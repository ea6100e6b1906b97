// SPDX-License-Identifier: BSD-2-Clause
// Tests of meshes: kinds of elements, coordinates as a Ceed field, the view. The meshes themselves are tested
// in test-mesh.c.
#include <ceed/backend.h>

#include "tests/mesh-tools.h"

// ---- Kinds ----

// x = scale (A X + bend terms) + shift
typedef struct {
  double scale, shift, bilinear, quadratic;
} Deformation;

static int deformation_map(void *ctx, CeedInt dim, const double *X, double *x) {
  static const double A[3][3] = {{1.0, 0.3, -0.2}, {0.1, 0.8, 0.25}, {-0.15, 0.2, 1.1}};
  const Deformation *f = ctx;

  for (CeedInt i = 0; i < dim; i++) {
    x[i] = f->bilinear * X[0] * X[dim - 1] + f->quadratic * X[0] * X[0];
    for (CeedInt j = 0; j < dim; j++) x[i] += A[i][j] * X[j];
    x[i] = f->scale * x[i] + f->shift;
  }
  return 0;
}

TEST(kinds_of_elements_do_not_depend_on_scale_and_place) {
  static const Deformation deformations[] = {
      {1.0, 0.0, 0.0, 0.0},    {1e-9, 0.0, 0.0, 0.0},    {1e9, 0.0, 0.0, 0.0},    {1.0, 1e6, 0.0, 0.0},
      {1.0, 0.0, 0.1, 0.0},    {1e-9, 0.0, 0.1, 0.0},    {1e9, 0.0, 0.1, 0.0},    {1.0, 1e6, 0.1, 0.0},
      {1.0, 0.0, 0.1, 0.1},    {1e-9, 0.0, 0.1, 0.1},    {1e9, 0.0, 0.1, 0.1},    {1.0, 1e6, 0.1, 0.1},
      {1e-6, 1.0, 0.0, 0.0},   {1e-6, 1.0, 0.1, 0.0},    {1e-6, 1.0, 0.1, 0.1},   {1e-90, 0.0, 0.1, 0.1},
      {1.0, -1e6, 0.0, 1e-14}, {1.0, 0.0, 1e-14, 1e-14}, {1.0, 0.0, 1e-9, 1e-14}, {1.0, 0.0, 0.0, 1e-9},
  };
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (size_t i = 0; i < sizeof(deformations) / sizeof(deformations[0]); i++) {
    Deformation f = deformations[i];
    RitzElementKind expected = f.quadratic > 1e-12  ? RITZ_ELEMENT_CURVED
                               : f.bilinear > 1e-12 ? RITZ_ELEMENT_TRILINEAR
                                                    : RITZ_ELEMENT_AFFINE;

    for (CeedInt dim = 2; dim <= 3; dim++) {
      for (CeedInt order = f.quadratic > 1e-12 ? 2 : 1; order <= 4; order++) {
        RitzMesh mesh;
        RitzElementKind kinds[24];
        int64_t counts[3];

        CHECK_OK(make_box(ceed, dim, order, deformation_map, &f, &mesh));
        CHECK_OK(RitzMeshClassifyElements(mesh, -1.0, kinds, counts));
        for (int64_t e = 0; e < mesh->num_elem; e++) {
          CHECK(kinds[e] == expected, "deformation %d dim %d order %d: element %lld is of kind %d, not %d",
                (int)i, (int)dim, (int)order, (long long)e, (int)kinds[e], (int)expected);
        }
        CHECK(counts[expected] == mesh->num_elem && counts[0] + counts[1] + counts[2] == mesh->num_elem,
              "counts of deformation %d", (int)i);
        RitzMeshDestroy(&mesh);
      }
    }
  }
  CeedDestroy(&ceed);
}

// A unit square or cube of the given order with one geometry node displaced.
static int make_dented(Ceed ceed, CeedInt dim, CeedInt order, int64_t node, double displacement,
                       RitzMesh *mesh) {
  const CeedInt n[3] = {1, 1, 1};
  RitzMesh straight;

  RITZ_TRY(RitzMeshCreateBox(ceed, dim, n, NULL, NULL, order, NULL, NULL, &straight));
  RitzMeshDraft draft = draft_of_mesh(straight);

  draft.coords[node * dim] += displacement;
  RitzMeshDestroy(&straight);
  return ritz_mesh_build(ceed, "dented", &draft, mesh);
}

TEST(kinds_change_where_the_deviation_passes_the_tolerance) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (CeedInt dim = 2; dim <= 3; dim++) {
    const double tolerance = 1e-6, diameter = sqrt(dim);

    for (int above = 0; above < 2; above++) {
      double deviation = tolerance * diameter * (above ? 1.01 : 0.99);
      RitzMesh mesh;
      int64_t counts[3];

      // The middle node of order 2 deviates by its displacement, which is orthogonal to all corners.
      CHECK_OK(make_dented(ceed, dim, 2, power(3, dim) / 2, deviation, &mesh));
      CHECK_OK(RitzMeshClassifyElements(mesh, tolerance, NULL, counts));
      CHECK(counts[above ? RITZ_ELEMENT_CURVED : RITZ_ELEMENT_AFFINE] == 1, "dim %d above %d", (int)dim,
            above);
      RitzMeshDestroy(&mesh);
      // A displaced corner of order 1 leaves displacement * (1 - (dim + 1) / 2^dim) beyond the affine part at
      // itself, where the deviation is largest in 3D; in 2D all corners deviate by a quarter.
      double share = 1.0 - (dim + 1.0) / (1 << dim);

      CHECK_OK(make_dented(ceed, dim, 1, 0, deviation / share, &mesh));
      CHECK_OK(RitzMeshClassifyElements(mesh, tolerance, NULL, counts));
      CHECK(counts[above ? RITZ_ELEMENT_TRILINEAR : RITZ_ELEMENT_AFFINE] == 1, "dim %d above %d", (int)dim,
            above);
      RitzMeshDestroy(&mesh);
    }
  }
  CeedDestroy(&ceed);
}

TEST(lines_are_affine_or_curved) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh;
  int64_t counts[3];
  CeedInt order = 2;

  CHECK_OK(make_box(ceed, 1, 1, wavy_map, NULL, &mesh));
  CHECK_OK(RitzMeshClassifyElements(mesh, -1.0, NULL, counts));
  CHECK(counts[RITZ_ELEMENT_AFFINE] == 4, "chords are affine");
  RitzMeshDestroy(&mesh);
  CHECK_OK(make_box(ceed, 1, order, polynomial_map, &order, &mesh));
  CHECK_OK(RitzMeshClassifyElements(mesh, -1.0, NULL, counts));
  CHECK(counts[RITZ_ELEMENT_CURVED] == 4, "parabolas are curved");
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

// ---- Coordinates as a field ----

// Interpolates the coordinates of one element, e_values [num_comp][num_local], to its nodes.
static void check_interpolation(CeedBasis basis, RitzMesh mesh, int64_t e, const CeedScalar *e_values,
                                double tol) {
  const CeedInt nc = mesh->space_dim;
  const int64_t num_local = power(mesh->order + 1, mesh->dim);
  CeedVector u, v;
  const CeedScalar *found;

  CHECK_OK(CeedVectorCreate(mesh->ceed, num_local * nc, &u));
  CHECK_OK(CeedVectorCreate(mesh->ceed, num_local * nc, &v));
  CHECK_OK(CeedVectorSetArray(u, CEED_MEM_HOST, CEED_COPY_VALUES, (CeedScalar *)e_values));
  CHECK_OK(CeedBasisApply(basis, 1, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, u, v));
  CHECK_OK(CeedVectorGetArrayRead(v, CEED_MEM_HOST, &found));
  for (int64_t i = 0; i < num_local * nc; i++) {
    double x = mesh->coords[(e * num_local + i % num_local) * nc + i / num_local];

    CHECK_NEAR(found[i], x, tol, "interpolation in element %lld", (long long)e);
  }
  CHECK_OK(CeedVectorRestoreArrayRead(v, &found));
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
}

// Compares the E-vector of the coordinates, and its interpolation to the nodes, with the element coordinates.
static void check_coordinates(Ceed ceed, RitzMesh mesh, CeedElemRestriction rstr, CeedVector x) {
  const CeedInt P = mesh->order + 1, nc = mesh->space_dim;
  const int64_t num_local = power(P, mesh->dim);
  // Coordinates up to 2 are rounded to CeedScalar, and summed over P^dim nodes in it.
  const double tol = 8.0 * (double)num_local * (double)CEED_EPSILON;
  CeedScalar *e_values = malloc((size_t)(num_local * nc) * sizeof(CeedScalar));
  CeedVector e_vec;
  CeedBasis basis;
  CeedInt layout[3];
  const CeedScalar *a;

  CHECK_OK(CeedElemRestrictionCreateVector(rstr, NULL, &e_vec));
  CHECK_OK(CeedElemRestrictionApply(rstr, CEED_NOTRANSPOSE, x, e_vec, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedElemRestrictionGetELayout(rstr, layout));
  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, mesh->dim, nc, P, P, CEED_GAUSS_LOBATTO, &basis));
  CHECK_OK(CeedVectorGetArrayRead(e_vec, CEED_MEM_HOST, &a));
  for (int64_t e = 0; e < mesh->num_elem; e++) {
    for (int64_t i = 0; i < num_local; i++) {
      for (CeedInt c = 0; c < nc; c++) {
        CeedScalar value = a[i * layout[0] + c * layout[1] + e * layout[2]];

        e_values[c * num_local + i] = value;
        CHECK_NEAR(value, mesh->coords[(e * num_local + i) * nc + c], tol, "element %lld", (long long)e);
      }
    }
    check_interpolation(basis, mesh, e, e_values, tol);
    if (tap_failed()) return;
  }
  CHECK_OK(CeedVectorRestoreArrayRead(e_vec, &a));
  CeedBasisDestroy(&basis);
  CeedVectorDestroy(&e_vec);
  free(e_values);
}

TEST_EACH_BACKEND(coordinates_as_a_field_are_those_of_the_elements) {
  for (CeedInt dim = 1; dim <= 3; dim++) {
    for (CeedInt order = 1; order <= 3; order++) {
      RitzMesh mesh;
      RitzMeshDraft draft;
      CeedElemRestriction rstr;
      CeedVector x;
      CeedSize length;
      int64_t num_nodes = dim;
      uint64_t state = 99;

      CHECK_OK(make_box(ceed, dim, order, wavy_map, NULL, &mesh));
      draft = draft_of_mesh(mesh);
      RitzMeshDestroy(&mesh);
      rotate_at_random(&draft, &state);
      CHECK_OK(ritz_mesh_build(ceed, "draft", &draft, &mesh));
      CHECK_OK(RitzMeshCreateCoordinates(mesh, ceed, &rstr, &x));
      for (CeedInt d = 0; d < dim; d++) num_nodes *= box_size[d] * order + 1;
      CHECK_OK(CeedVectorGetLength(x, &length));
      CHECK(length == num_nodes, "nodes are shared: length %lld", (long long)length);
      check_coordinates(ceed, mesh, rstr, x);
      if (tap_failed()) return;
      CeedElemRestrictionDestroy(&rstr);
      CeedVectorDestroy(&x);
      RitzMeshDestroy(&mesh);
    }
  }
}

TEST_EACH_BACKEND(coordinates_of_periodic_meshes_are_not_shared) {
  const CeedInt n[3] = {3, 3, 3};

  for (CeedInt dim = 1; dim <= 3; dim++) {
    RitzMesh mesh;
    RitzMeshDraft draft;
    CeedElemRestriction rstr;
    CeedVector x;
    CeedRestrictionType type;

    CHECK_OK(RitzMeshCreateBox(ceed, dim, n, NULL, NULL, 2, wavy_map, NULL, &mesh));
    draft = draft_of_mesh(mesh);
    RitzMeshDestroy(&mesh);
    close_box(&draft, n, 1);
    CHECK_OK(ritz_mesh_build(ceed, "closed", &draft, &mesh));
    CHECK_OK(RitzMeshCreateCoordinates(mesh, ceed, &rstr, &x));
    CHECK_OK(CeedElemRestrictionGetType(rstr, &type));
    CHECK(type == CEED_RESTRICTION_STRIDED, "the restriction is strided");
    check_coordinates(ceed, mesh, rstr, x);
    if (tap_failed()) return;
    CeedElemRestrictionDestroy(&rstr);
    CeedVectorDestroy(&x);
    RitzMeshDestroy(&mesh);
  }
}

// Neighbours in a file may differ by rounding, which far from 0 is large beside the elements.
TEST(coordinates_are_shared_when_they_differ_by_rounding_only) {
  const CeedInt n[2] = {2, 1};
  const double lower[2] = {1e6, 0.0}, upper[2] = {1e6 + 1e-3, 1e-3};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int apart = 0; apart < 2; apart++) {
    RitzMesh mesh;
    RitzMeshDraft draft;
    CeedElemRestriction rstr;
    CeedRestrictionType type;
    CeedVector x;

    CHECK_OK(RitzMeshCreateBox(ceed, 2, n, lower, upper, 1, NULL, NULL, &mesh));
    draft = draft_of_mesh(mesh);
    RitzMeshDestroy(&mesh);
    draft.coords[8] = apart ? draft.coords[8] + 1e-6 : nextafter(draft.coords[8], INFINITY);
    CHECK_OK(ritz_mesh_build(ceed, "draft", &draft, &mesh));
    CHECK_OK(RitzMeshCreateCoordinates(mesh, ceed, &rstr, &x));
    CHECK_OK(CeedElemRestrictionGetType(rstr, &type));
    CHECK(type == (apart ? CEED_RESTRICTION_STRIDED : CEED_RESTRICTION_STANDARD), "apart: %d", apart);
    CeedElemRestrictionDestroy(&rstr);
    CeedVectorDestroy(&x);
    RitzMeshDestroy(&mesh);
  }
  CeedDestroy(&ceed);
}

// ---- View ----

TEST(view_tells_sizes_parts_and_regions) {
  static const char *const fragments[] = {"24 elements", "60 vertices",  "24 affine",     "[0, 1]",
                                          "52",          "part xmin: 6", "part zmax: 12", "region 1 1: 24",
                                          "order 2",     "hexahedron"};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh;
  char text[2000] = "";
  FILE *file = fopen(tap_temp_text("view", ""), "w+");

  CHECK(file, "a temporary file");
  CHECK_OK(make_box(ceed, 3, 2, NULL, NULL, &mesh));
  CHECK_OK(RitzMeshView(mesh, file));
  rewind(file);
  size_t length = fread(text, 1, sizeof(text) - 1, file);

  fclose(file);
  CHECK(length > 0 && length < sizeof(text) - 1, "%zu characters", length);
  for (size_t i = 0; i < sizeof(fragments) / sizeof(fragments[0]); i++) {
    CHECK(strstr(text, fragments[i]), "'%s' in:\n%s", fragments[i], text);
  }
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

// ---- Rectangular boxes ----

static int stay(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  for (CeedInt d = 0; d < dim; d++) x[d] = X[d];
  return 0;
}

// Meshes with the same nodes: a is known to be rectangular, b is looked at element by element.
static void compare_boxes(RitzMesh a, RitzMesh b) {
  const size_t size = (size_t)(a->num_points * a->dim) * sizeof(double);
  RitzElementKind kinds[2][140];
  int64_t counts[2][3], elem;
  double measures[2][3], *planes[2][3];
  CeedInt n[2][3];
  bool is_box = false;

  CHECK(a->is_rectangular && !b->is_rectangular, "dim %d: rectangular", (int)a->dim);
  CHECK(!memcmp(a->coords, b->coords, size), "dim %d: nodes", (int)a->dim);
  CHECK(!memcmp(a->elem_vertices, b->elem_vertices, (size_t)(a->num_elem << a->dim) * sizeof(int64_t)),
        "dim %d: vertices", (int)a->dim);
  for (int i = 0; i < 2; i++) {
    RitzMesh mesh = i ? b : a;
    CHECK_OK(RitzMeshClassifyElements(mesh, 0, kinds[i], counts[i]));
    CHECK_OK(RitzMeshGetMeasure(mesh, &measures[i][0], &measures[i][1], &measures[i][2]));
    CHECK_OK(RitzMeshGetRectangularBox(mesh, &is_box, n[i], planes[i], &elem));
    CHECK(is_box && elem == -1, "dim %d: no box", (int)a->dim);
  }
  CHECK(!memcmp(kinds[0], kinds[1], (size_t)a->num_elem * sizeof(kinds[0][0])), "dim %d: kinds", (int)a->dim);
  CHECK(!memcmp(counts[0], counts[1], sizeof(counts[0])), "dim %d: counts", (int)a->dim);
  // Sides are exact to 2 eps of the largest coordinate, 64 times the smallest one.
  for (int k = 0; k < 3; k++)
    CHECK_NEAR(measures[0][k], measures[1][k], 400 * 0x1p-52 * measures[1][k], "dim %d: measure %d",
               (int)a->dim, k);
  for (int d = 0; d < a->dim; d++) {
    CHECK(n[0][d] == n[1][d], "elements");
    CHECK(!memcmp(planes[0][d], planes[1][d], (size_t)(n[0][d] + 1) * sizeof(double)), "planes %d", d);
    free(planes[0][d]);
    free(planes[1][d]);
  }
}

static void compare_coordinates(Ceed ceed, RitzMesh a, RitzMesh b) {
  const size_t num = (size_t)a->num_elem << a->dim;
  CeedElemRestriction rstr[2] = {NULL};
  CeedVector x[2] = {NULL};
  const CeedInt *offsets[2];
  const CeedScalar *values[2];
  CeedSize length[2];

  for (int i = 0; i < 2; i++) {
    CHECK_OK(RitzMeshCreateCoordinates(i ? b : a, ceed, &rstr[i], &x[i]));
    CHECK_OK(CeedElemRestrictionGetOffsets(rstr[i], CEED_MEM_HOST, &offsets[i]));
    CHECK_OK(CeedVectorGetArrayRead(x[i], CEED_MEM_HOST, &values[i]));
    CHECK_OK(CeedVectorGetLength(x[i], &length[i]));
  }
  CHECK(length[0] == length[1], "lengths");
  CHECK(!memcmp(offsets[0], offsets[1], num * sizeof(CeedInt)), "offsets");
  CHECK(!memcmp(values[0], values[1], (size_t)length[0] * sizeof(CeedScalar)), "coordinates");
  for (int i = 0; i < 2; i++) {
    CHECK_OK(CeedElemRestrictionRestoreOffsets(rstr[i], &offsets[i]));
    CHECK_OK(CeedVectorRestoreArrayRead(x[i], &values[i]));
    CeedElemRestrictionDestroy(&rstr[i]);
    CeedVectorDestroy(&x[i]);
  }
}

TEST(rectangular_boxes_are_those_of_a_map_that_moves_nothing) {
  const double lower[] = {-0.3, 1.7, 5}, upper[] = {1.1, 1.9, 8};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (CeedInt dim = 1; dim <= 3; dim++) {
    RitzMesh a = NULL, b = NULL, coarse_a = NULL, coarse_b = NULL;

    CHECK_OK(RitzMeshCreateBox(ceed, dim, (const CeedInt[]){6, 4, 2}, lower, upper, 1, NULL, NULL, &a));
    CHECK_OK(RitzMeshCreateBox(ceed, dim, (const CeedInt[]){6, 4, 2}, lower, upper, 1, stay, NULL, &b));
    compare_boxes(a, b);
    compare_coordinates(ceed, a, b);
    CHECK_OK(RitzMeshGetCoarser(a, &coarse_a));
    CHECK_OK(RitzMeshGetCoarser(b, &coarse_b));
    compare_boxes(coarse_a, coarse_b);
    RitzMeshDestroy(&coarse_a);
    RitzMeshDestroy(&coarse_b);
    RitzMeshDestroy(&a);
    RitzMeshDestroy(&b);
  }
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(kinds_of_elements_do_not_depend_on_scale_and_place,
            kinds_change_where_the_deviation_passes_the_tolerance, lines_are_affine_or_curved,
            rectangular_boxes_are_those_of_a_map_that_moves_nothing,
            coordinates_as_a_field_are_those_of_the_elements, coordinates_of_periodic_meshes_are_not_shared,
            coordinates_are_shared_when_they_differ_by_rounding_only, view_tells_sizes_parts_and_regions));
}
