// SPDX-License-Identifier: BSD-2-Clause
// Poisson's equation on triangles, tetrahedra, prisms, pyramids and on meshes of several shapes: errors fall
// as theory says, polynomials of the space are found, operators are symmetric and the same on all backends.
// `test-convergence-shapes --table MESH [WAVES [RESOURCE]]` prints the errors on a mesh file instead.
#include "tests/orders.h"
#include "tests/poisson.h"
#include "tests/reference.h"
#include "tests/tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Meshes ----

// A box cut into elements of another shape.
static int create_split_box(Ceed ceed, const OrdersFamily *f, CeedInt level, CeedInt degree, RitzMesh *mesh) {
  RitzMesh box = NULL, coarse = NULL;
  int ierr = RitzMeshCreateBox(ceed, f->dim, f->n, NULL, NULL, 1, NULL, NULL, &box);

  (void)degree;
  if (!ierr) ierr = RitzMeshSplit(box, f->shape, &coarse);
  if (!ierr) ierr = RitzMeshRefine(coarse, level, mesh);
  RitzMeshDestroy(&coarse);
  RitzMeshDestroy(&box);
  return ierr;
}

static const char own_mesh[] = "examples/meshes/four-shapes.msh";

// Elements of all solid shapes, all affine: a tetrahedron, a pyramid on one of its faces, a hexahedron on the
// base of this, a prism on another face of the hexahedron, and a tetrahedron on a triangle of the prism. The
// file has the first `num`.
static const char *write_elements(int num) {
  static const char *const elements[] = {"1 4 7 5 8 11\n", "1 7 1 3 7 5 8\n", "1 5 0 1 3 2 4 5 7 6\n",
                                         "1 6 4 9 5 6 10 7\n", "1 4 4 5 9 12\n"};
  static const char vertices[] = "\nboundary\n0\n\nvertices\n13\n3\n"
                                 "0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 0 1\n1 0 1\n0 1 1\n1 1 1\n"
                                 "1.8 0.4 0.6\n0.2 0 1.7\n0.2 1 1.7\n1.6 0.5 1.4\n0.3 -0.8 1.2\n";
  char text[1024];

  int length = snprintf(text, sizeof(text), "MFEM mesh v1.0\n\ndimension\n3\n\nelements\n%d\n", num);
  for (int e = 0; e < num; e++) {
    length += snprintf(text + length, sizeof(text) - (size_t)length, "%s", elements[e]);
  }
  snprintf(text + length, sizeof(text) - (size_t)length, "%s", vertices);
  return tap_temp_text("elements.mesh", text);
}

// ---- Orders ----

// How the error falls does not depend on who computes it: that backends agree is tested below, so short runs
// are spared the compilation of kernels for all shapes and degrees.
static void check_orders(const OrdersFamily *families, int num) {
  Ceed ceed = tap_ceed(tap_level() == TAP_EXHAUSTIVE ? "/cpu/self" : "/cpu/self/ref");

  for (int i = 0; i < num && !tap_failed(); i++) {
    orders_check(ceed, &families[i]);
    if (!tap_failed()) orders_check_coarse(ceed, &families[i]);
  }
  CeedDestroy(&ceed);
}

TEST(errors_on_boxes_of_each_shape_fall_as_theory_says) {
  static const OrdersFamily boxes[] = {{.name = "triangles",
                                        .create = create_split_box,
                                        .dim = 2,
                                        .n = {2, 2, 1},
                                        .num_waves = 1.0,
                                        .max_degree = {6, 6, 6},
                                        .max_work = {3e4, 1.2e5, 1e6},
                                        .shape = CEED_TOPOLOGY_TRIANGLE},
                                       {.name = "tetrahedra",
                                        .create = create_split_box,
                                        .dim = 3,
                                        .n = {1, 1, 1},
                                        .num_waves = 0.25,
                                        .max_degree = {2, 4, 6},
                                        .max_work = {5e4, 5e5, 5e6},
                                        .shape = CEED_TOPOLOGY_TET},
                                       {.name = "prisms",
                                        .create = create_split_box,
                                        .dim = 3,
                                        .n = {1, 1, 1},
                                        .num_waves = 0.25,
                                        .max_degree = {2, 4, 6},
                                        .max_work = {5e4, 5e5, 5e6},
                                        .shape = CEED_TOPOLOGY_PRISM},
                                       {.name = "pyramids",
                                        .create = create_split_box,
                                        .dim = 3,
                                        .n = {1, 1, 1},
                                        .num_waves = 0.25,
                                        .max_degree = {2, 4, 6},
                                        .max_work = {5e4, 5e5, 5e6},
                                        .shape = CEED_TOPOLOGY_PYRAMID}};

  check_orders(boxes, 4);
}

TEST(errors_on_a_mesh_of_all_shapes_fall_as_theory_says) {
  static const OrdersFamily own = {.name = "four-shapes.msh",
                                   .create = orders_read_file,
                                   .file = own_mesh,
                                   .num_waves = 1.0,
                                   .max_degree = {1, 2, 6},
                                   .max_work = {5e4, 3e5, 6e7}};

  check_orders(&own, 1);
}

// fichera-mixed.mesh is so coarse that even degrees reach their orders only after three refinements.
TEST(errors_on_foreign_meshes_fall_as_theory_says) {
  OrdersFamily files[] = {
      {.name = "escher.mesh", .num_waves = 1.0, .max_degree = {2, 4, 6}, .max_work = {5e4, 5e5, 2e7}},
      {.name = "beam-tet.mesh", .num_waves = 1.0, .max_degree = {2, 3, 6}, .max_work = {5e4, 1.6e5, 2e7}},
      {.name = "fichera-mixed.mesh", .num_waves = 0.25, .max_degree = {2, 3, 5}, .max_work = {5e4, 2e5, 2e7}},
  };
  char path[4096];

  if (!tap_meshes()) SKIP("RITZ_TEST_MESHES names no folder");
  for (int i = 0; i < 3; i++) {
    snprintf(path, sizeof(path), "%s/%s", tap_meshes(), files[i].name);
    files[i].create = orders_read_file;
    files[i].file = path;
    check_orders(&files[i], 1);
    if (tap_failed()) return;
  }
}

// ---- Polynomials ----

// u of degree p is in the space, and all integrals are exact: what is left is round-off of the solver, which
// stops at 450 eps of the residual (single precision: 8 eps). The gradient is larger than u by up to p^2 over
// the size of an element.
static void check_polynomial(RitzMesh mesh, Ceed ceed, CeedInt degree) {
  const bool is_single = sizeof(CeedScalar) == sizeof(float);
  const PoissonSolution solution = {.power = degree, .wave = 0.5, .shift = {0.9, 0.7, -0.6}};
  PoissonResult result;

  CHECK_OK(poisson_solve(ceed, mesh, degree, &solution, &result));
  const double tolerance = (is_single ? 1e3 : 5e4) * eps * result.norm;

  CHECK(result.l2 <= tolerance, "p = %d: error %g of %g", (int)degree, result.l2, result.norm);
  CHECK(result.h1 <= tolerance * 2 * degree * degree, "p = %d: error of the gradient %g", (int)degree,
        result.h1);
}

TEST(polynomials_of_low_degree_are_found_exactly_on_a_mesh_of_all_shapes) {
  static const CeedInt max_degree[] = {2, 3, 6};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh;

  CHECK_OK(RitzMeshRead(ceed, own_mesh, &mesh));
  for (CeedInt degree = 1; degree <= max_degree[tap_level()] && !tap_failed(); degree++) {
    check_polynomial(mesh, ceed, degree);
  }
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

TEST(polynomials_of_each_degree_are_found_exactly_on_all_shapes) {
  static const CeedInt max_degree_refined[] = {2, 4, 6};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh, fine;

  CHECK_OK(RitzMeshRead(ceed, write_elements(5), &mesh));
  CHECK_OK(RitzMeshRefine(mesh, 1, &fine));
  for (CeedInt degree = 1; degree <= ORDERS_MAX_DEGREE && !tap_failed(); degree++) {
    check_polynomial(mesh, ceed, degree);
    if (degree <= max_degree_refined[tap_level()]) check_polynomial(fine, ceed, degree);
  }
  RitzMeshDestroy(&fine);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

// ---- Operators ----

// Random numbers, or ones.
static void fill(CeedVector v, bool is_random, uint64_t seed) {
  CeedSize n;
  CeedScalar *values;

  CHECK_OK(CeedVectorGetLength(v, &n));
  CHECK_OK(CeedVectorGetArrayWrite(v, CEED_MEM_HOST, &values));
  for (CeedSize i = 0; i < n; i++) values[i] = is_random ? (CeedScalar)tap_uniform(&seed) : 1;
  CHECK_OK(CeedVectorRestoreArray(v, &values));
}

// A vector of these numbers and its product with the Laplacian, made by this context.
static void apply_laplacian(Ceed ceed, const char *path, CeedInt degree, bool is_random, uint64_t seed,
                            CeedVector *u, CeedVector *v) {
  RitzMesh mesh;
  CeedOperator op = NULL;
  CeedSize n;

  CHECK_OK(RitzMeshRead(ceed, path, &mesh));
  CHECK_OK(poisson_create_laplacian(ceed, mesh, degree, &op));
  CHECK_OK(CeedOperatorGetActiveVectorLengths(op, &n, NULL));
  CHECK_OK(CeedVectorCreate(ceed, n, u));
  CHECK_OK(CeedVectorCreate(ceed, n, v));
  fill(*u, is_random, seed);
  CHECK_OK(CeedOperatorApply(op, *u, *v, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(RitzMeshDestroy(&mesh));
}

// Sum of u v, and of their sizes.
static void multiply(CeedVector u, CeedVector v, double *product, double *size) {
  CeedSize n;
  const CeedScalar *a, *b;

  *product = *size = 0.0;
  CHECK_OK(CeedVectorGetLength(u, &n));
  CHECK_OK(CeedVectorGetArrayRead(u, CEED_MEM_HOST, &a));
  CHECK_OK(CeedVectorGetArrayRead(v, CEED_MEM_HOST, &b));
  for (CeedSize i = 0; i < n; i++) {
    *product += (double)a[i] * b[i];
    *size += fabs((double)a[i] * b[i]);
  }
  CHECK_OK(CeedVectorRestoreArrayRead(u, &a));
  CHECK_OK(CeedVectorRestoreArrayRead(v, &b));
}

// What is looked at on every backend. Each shape and degree has kernels of its own, so quick tests have
// tetrahedra and pyramids of degree 2 only.
static const char *create_file(void) { return write_elements(tap_level() == TAP_QUICK ? 2 : 5); }

static CeedInt min_degree(void) { return tap_level() == TAP_EXHAUSTIVE ? 1 : 2; }

static CeedInt max_degree_of(Ceed ceed) {
  static const CeedInt max_degree[] = {2, 3, 6};

  return tap_compiles_slowly(ceed) ? 2 : max_degree[tap_level()];
}

// Largest entry.
static double norm_of(CeedVector v) {
  CeedScalar norm = NAN;

  CeedVectorNorm(v, CEED_NORM_MAX, &norm);
  return norm;
}

// Entries are sums of some hundred products of tables, at most a few times larger than the largest of them.
static const double tolerance = 1e3;

TEST_EACH_BACKEND(laplacians_on_all_shapes_are_symmetric_and_vanish_on_constants) {
  const char *path = create_file();

  for (CeedInt degree = min_degree(); degree <= max_degree_of(ceed) && !tap_failed(); degree++) {
    CeedVector u[3] = {NULL}, v[3] = {NULL};
    double product[2], size[2];

    for (int i = 0; i < 3 && !tap_failed(); i++) {
      apply_laplacian(ceed, path, degree, i < 2, (uint64_t)(i + 1), &u[i], &v[i]);
    }
    if (tap_failed()) return;
    for (int i = 0; i < 2; i++) multiply(u[i], v[1 - i], &product[i], &size[i]);
    CHECK_NEAR(product[0], product[1], tolerance * eps * size[0], "degree %d", (int)degree);
    CHECK(norm_of(v[2]) <= tolerance * eps * norm_of(v[0]), "degree %d: constants give %g, others %g",
          (int)degree, norm_of(v[2]), norm_of(v[0]));
    for (int i = 0; i < 3; i++) {
      CeedVectorDestroy(&u[i]);
      CeedVectorDestroy(&v[i]);
    }
  }
}

TEST_EACH_BACKEND(laplacians_on_all_shapes_are_the_same_as_of_the_reference) {
  const char *path = create_file();
  Ceed reference = tap_ceed("/cpu/self/ref");

  for (CeedInt degree = min_degree(); degree <= max_degree_of(ceed) && !tap_failed(); degree++) {
    CeedVector u[2] = {NULL}, v[2] = {NULL};
    const CeedScalar *a, *b;
    CeedSize n;

    apply_laplacian(reference, path, degree, true, 7, &u[0], &v[0]);
    apply_laplacian(ceed, path, degree, true, 7, &u[1], &v[1]);
    if (tap_failed()) return;
    const double bound = tolerance * eps * norm_of(v[0]);

    CHECK_OK(CeedVectorGetLength(v[0], &n));
    CHECK_OK(CeedVectorGetArrayRead(v[0], CEED_MEM_HOST, &a));
    CHECK_OK(CeedVectorGetArrayRead(v[1], CEED_MEM_HOST, &b));
    for (CeedSize i = 0; i < n; i++) CHECK_NEAR(a[i], b[i], bound, "degree %d, entry %td", (int)degree, i);
    CHECK_OK(CeedVectorRestoreArrayRead(v[0], &a));
    CHECK_OK(CeedVectorRestoreArrayRead(v[1], &b));
    for (int i = 0; i < 2; i++) {
      CeedVectorDestroy(&u[i]);
      CeedVectorDestroy(&v[i]);
    }
  }
  CeedDestroy(&reference);
}

int main(int argc, char **argv) {
  if (argc > 2 && !strcmp(argv[1], "--table")) return orders_print_table(argc - 2, argv + 2);
  return tap_main(argc, argv,
                  TESTS(errors_on_boxes_of_each_shape_fall_as_theory_says,
                        errors_on_a_mesh_of_all_shapes_fall_as_theory_says,
                        errors_on_foreign_meshes_fall_as_theory_says,
                        polynomials_of_each_degree_are_found_exactly_on_all_shapes,
                        polynomials_of_low_degree_are_found_exactly_on_a_mesh_of_all_shapes,
                        laplacians_on_all_shapes_are_symmetric_and_vanish_on_constants,
                        laplacians_on_all_shapes_are_the_same_as_of_the_reference));
}
