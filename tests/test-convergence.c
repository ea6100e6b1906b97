// SPDX-License-Identifier: BSD-2-Clause
// The error of finite element solutions of Poisson's equation falls as theory says, on straight, curved and
// rotated elements: meshes, spaces, operators and solver together. `test-convergence --table MESH [WAVES
// [RESOURCE]]` prints the errors on a mesh file instead.
#include "tests/orders.h"
#include "tests/tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Meshes ----

// Displacements that vanish nowhere in particular: edges and faces become curved too.
static int deform(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  for (CeedInt d = 0; d < dim; d++) x[d] = X[d] + 0.08 * sin(2.0 * X[(d + 1) % dim] + 1.5 * X[d] + d);
  return 0;
}

static int create_box(Ceed ceed, const OrdersFamily *f, CeedInt level, CeedInt degree, RitzMesh *mesh) {
  CeedInt n[3];

  (void)degree;
  for (int d = 0; d < 3; d++) n[d] = f->n[d] << level;
  return RitzMeshCreateBox(ceed, f->dim, n, NULL, NULL, 1, NULL, NULL, mesh);
}

// Geometry of the degree of the solution, interpolated anew on each level.
static int create_deformed_box(Ceed ceed, const OrdersFamily *f, CeedInt level, CeedInt degree,
                               RitzMesh *mesh) {
  CeedInt n[3];

  for (int d = 0; d < 3; d++) n[d] = f->n[d] << level;
  return RitzMeshCreateBox(ceed, f->dim, n, NULL, NULL, degree, deform, NULL, mesh);
}

// ---- Rotated elements ----

enum { NUM_ROTATIONS = 24 };

// Rotation number r of the cube as a map of corners, numbered by their bits: corner[b] is where corner b
// goes. Axis d goes to axis[d], in the opposite direction if bit d of `flips` is set; a rotation if the sign
// of the permutation and of the flips agree.
static void list_rotations(int corner[NUM_ROTATIONS][8]) {
  static const int axes[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};

  for (int i = 0, r = 0; i < 6 * 8; i++) {
    const int *axis = axes[i / 8];
    int flips = i % 8, num_flips = (flips & 1) + (flips >> 1 & 1) + (flips >> 2);

    if (num_flips % 2 != (i / 8 >= 3)) continue;
    for (int b = 0; b < 8; b++) {
      corner[r][b] = 0;
      for (int d = 0; d < 3; d++) corner[r][b] |= ((b ^ flips) >> d & 1) << axis[d];
    }
    r++;
  }
}

// An MFEM file of 2 x 3 x 4 trilinear elements of the unit cube, each rotation used once, in random order;
// inner vertices are displaced.
static const char *write_rotated_box(void) {
  static const int n[] = {2, 3, 4}, mfem_corners[] = {0, 1, 3, 2, 4, 5, 7, 6};
  static char text[16384];
  int corner[NUM_ROTATIONS][8], order[NUM_ROTATIONS], length;
  uint64_t seed = 12;

  list_rotations(corner);
  for (int i = 0; i < NUM_ROTATIONS; i++) {
    int k = (int)tap_integer(&seed, i + 1);

    order[i] = order[k];
    order[k] = i;
  }
  length = snprintf(text, sizeof(text), "MFEM mesh v1.0\n\ndimension\n3\n\nelements\n%d\n", NUM_ROTATIONS);
  for (int e = 0; e < NUM_ROTATIONS; e++) {
    int first[] = {e % n[0], e / n[0] % n[1], e / n[0] / n[1]};

    length += snprintf(text + length, sizeof(text) - (size_t)length, "1 5");
    for (int b = 0; b < 8; b++) {
      int c = corner[order[e]][mfem_corners[b]], i = first[0] + (c & 1), j = first[1] + (c >> 1 & 1),
          k = first[2] + (c >> 2);

      length += snprintf(text + length, sizeof(text) - (size_t)length, " %d",
                         i + (n[0] + 1) * (j + (n[1] + 1) * k));
    }
    length += snprintf(text + length, sizeof(text) - (size_t)length, "\n");
  }
  length +=
      snprintf(text + length, sizeof(text) - (size_t)length, "\nboundary\n0\n\nvertices\n%d\n3\n", 3 * 4 * 5);
  for (int v = 0; v < 3 * 4 * 5; v++) {
    int i[] = {v % (n[0] + 1), v / (n[0] + 1) % (n[1] + 1), v / (n[0] + 1) / (n[1] + 1)};

    for (int d = 0; d < 3; d++) {
      double move = i[d] == 0 || i[d] == n[d] ? 0.0 : 0.1 * tap_uniform(&seed) / n[d];

      length += snprintf(text + length, sizeof(text) - (size_t)length, "%.17g ", (double)i[d] / n[d] + move);
    }
    length += snprintf(text + length, sizeof(text) - (size_t)length, "\n");
  }
  return tap_temp_text("rotated.mesh", text);
}

// On the backend that programs get by default.
static void check_file(const char *folder, OrdersFamily f) {
  Ceed ceed = tap_ceed("/cpu/self");
  char path[4096];

  snprintf(path, sizeof(path), "%s%s", folder, f.file);
  f.create = orders_read_file;
  f.name = f.file;
  f.file = path;
  orders_check(ceed, &f);
  if (!tap_failed()) orders_check_coarse(ceed, &f);
  CeedDestroy(&ceed);
}

// ---- Tests ----

TEST_EACH_BACKEND(errors_on_boxes_fall_as_theory_says) {
  static const OrdersFamily boxes[] = {{.name = "1D box",
                                        .create = create_box,
                                        .dim = 1,
                                        .n = {4, 1, 1},
                                        .num_waves = 1.0,
                                        .max_degree = {4, 5, 6}},
                                       {.name = "2D box",
                                        .create = create_box,
                                        .dim = 2,
                                        .n = {2, 3, 1},
                                        .num_waves = 1.0,
                                        .max_degree = {4, 5, 6}},
                                       {.name = "3D box",
                                        .create = create_box,
                                        .dim = 3,
                                        .n = {2, 2, 2},
                                        .num_waves = 1.0,
                                        .max_degree = {3, 5, 6}}};

  for (int i = 0; i < 3 && !tap_failed(); i++) orders_check(ceed, &boxes[i]);
}

TEST(errors_on_deformed_boxes_fall_as_theory_says) {
  static const OrdersFamily boxes[] = {{.name = "deformed 2D box",
                                        .create = create_deformed_box,
                                        .dim = 2,
                                        .n = {3, 2, 1},
                                        .num_waves = 1.0,
                                        .max_degree = {4, 5, 6}},
                                       {.name = "deformed 3D box",
                                        .create = create_deformed_box,
                                        .dim = 3,
                                        .n = {2, 2, 2},
                                        .num_waves = 1.0,
                                        .max_degree = {4, 5, 6}}};
  Ceed ceed = tap_ceed("/cpu/self");

  for (int i = 0; i < 2 && !tap_failed(); i++) orders_check(ceed, &boxes[i]);
  CeedDestroy(&ceed);
}

TEST(errors_on_elements_in_all_24_rotations_fall_as_theory_says) {
  const char *path = write_rotated_box();

  check_file("", (OrdersFamily){.file = path, .num_waves = 1.0, .max_degree = {3, 6, 6}});
}

TEST(errors_on_the_pipe_elbow_fall_as_theory_says) {
  check_file("examples/meshes/",
             (OrdersFamily){.file = "pipe-elbow.msh", .num_waves = 1.0, .max_degree = {2, 2, 5}});
}

// star-q3.mesh and fichera-q3.mesh at p = 6 are refined too little, at every size that a test can afford.
TEST(errors_on_curved_foreign_meshes_fall_as_theory_says) {
  static const OrdersFamily files[] = {
      {.file = "/star-q3.mesh", .num_waves = 0.5, .max_degree = {3, 5, 5}},
      {.file = "/fichera-q3.mesh", .num_waves = 0.25, .max_degree = {3, 5, 5}},
      {.file = "/toroid-hex.mesh", .num_waves = 0.5, .max_degree = {4, 5, 6}}};

  if (!tap_meshes()) SKIP("RITZ_TEST_MESHES names no folder");
  for (int i = 0; i < 3 && !tap_failed(); i++) check_file(tap_meshes(), files[i]);
}

TEST(the_rotated_elements_are_in_24_rotations) {
  int corner[NUM_ROTATIONS][8];

  list_rotations(corner);
  for (int r = 0; r < NUM_ROTATIONS; r++) {
    int origin = corner[r][0], axis[3];
    bool reaches[8] = {false};

    for (int b = 0; b < 8; b++) reaches[corner[r][b]] = true;
    for (int b = 0; b < 8; b++) CHECK(reaches[b], "rotation %d misses corner %d", r, b);
    // Corners next to the origin along x, y, z: their determinant is 1.
    double J[3][3];
    for (int d = 0; d < 3; d++) {
      axis[d] = corner[r][1 << d] ^ origin;
      CHECK(axis[d] == 1 || axis[d] == 2 || axis[d] == 4, "rotation %d: edge %d is no edge", r, d);
      for (int c = 0; c < 3; c++) J[c][d] = (double)(corner[r][1 << d] >> c & 1) - (origin >> c & 1);
    }
    double det = J[0][0] * (J[1][1] * J[2][2] - J[1][2] * J[2][1]) -
                 J[0][1] * (J[1][0] * J[2][2] - J[1][2] * J[2][0]) +
                 J[0][2] * (J[1][0] * J[2][1] - J[1][1] * J[2][0]);
    CHECK(det == 1.0, "rotation %d has determinant %g", r, det);
    for (int s = 0; s < r; s++) {
      CHECK(memcmp(corner[r], corner[s], sizeof(corner[r])) != 0, "rotations %d and %d are equal", r, s);
    }
  }
}

int main(int argc, char **argv) {
  if (argc > 2 && !strcmp(argv[1], "--table")) return orders_print_table(argc - 2, argv + 2);
  return tap_main(argc, argv,
                  TESTS(the_rotated_elements_are_in_24_rotations, errors_on_boxes_fall_as_theory_says,
                        errors_on_deformed_boxes_fall_as_theory_says,
                        errors_on_elements_in_all_24_rotations_fall_as_theory_says,
                        errors_on_the_pipe_elbow_fall_as_theory_says,
                        errors_on_curved_foreign_meshes_fall_as_theory_says));
}
