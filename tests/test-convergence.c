// SPDX-License-Identifier: BSD-2-Clause
// The error of finite element solutions of Poisson's equation falls as theory says, on straight, curved and
// rotated elements: meshes, spaces, operators and solver together. `test-convergence --table MESH [WAVES
// [RESOURCE]]` prints the errors on a mesh file instead.
#include "tests/tap.h"

#include "tests/poisson.h"
#include "tests/reference.h"
#include <ceed/backend.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEGREE = 6 };

// ---- Meshes ----

// A family of meshes, refined by halves.
typedef struct Family {
  const char *name;
  int (*create)(Ceed ceed, const struct Family *f, CeedInt level, CeedInt degree, RitzMesh *mesh);
  CeedInt dim, n[3];     // boxes: elements of level 0
  const char *file;      // files: path
  double num_waves;      // half waves of u across the largest extent of the mesh
  CeedInt max_degree[3]; // by level of the tests: degrees whose orders are looked at
} Family;

// Displacements that vanish nowhere in particular: edges and faces become curved too.
static int deform(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  for (CeedInt d = 0; d < dim; d++) x[d] = X[d] + 0.08 * sin(2.0 * X[(d + 1) % dim] + 1.5 * X[d] + d);
  return 0;
}

static int create_box(Ceed ceed, const Family *f, CeedInt level, CeedInt degree, RitzMesh *mesh) {
  CeedInt n[3];

  (void)degree;
  for (int d = 0; d < 3; d++) n[d] = f->n[d] << level;
  return RitzMeshCreateBox(ceed, f->dim, n, NULL, NULL, 1, NULL, NULL, mesh);
}

// Geometry of the degree of the solution, interpolated anew on each level.
static int create_deformed_box(Ceed ceed, const Family *f, CeedInt level, CeedInt degree, RitzMesh *mesh) {
  CeedInt n[3];

  for (int d = 0; d < 3; d++) n[d] = f->n[d] << level;
  return RitzMeshCreateBox(ceed, f->dim, n, NULL, NULL, degree, deform, NULL, mesh);
}

// The refined mesh has the same polynomial maps, restricted to the children: the domain does not change.
static int read_file(Ceed ceed, const Family *f, CeedInt level, CeedInt degree, RitzMesh *mesh) {
  RitzMesh coarse = NULL;
  int ierr = RitzMeshRead(ceed, f->file, &coarse);

  (void)degree;
  if (!ierr) ierr = RitzMeshRefine(coarse, level, mesh);
  RitzMeshDestroy(&coarse);
  return ierr;
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

// ---- Errors ----

// Largest extent of the geometry nodes.
static int measure_extent(RitzMesh mesh, double *extent) {
  CeedInt dim, space_dim, order;
  int64_t num_elem;
  const double *x;

  CeedCall(RitzMeshGetDimensions(mesh, &dim, &space_dim));
  CeedCall(RitzMeshGetGeometryOrder(mesh, &order));
  CeedCall(RitzMeshGetNumElements(mesh, &num_elem));
  CeedCall(RitzMeshGetElementCoordinates(mesh, &x));
  *extent = 0.0;
  for (CeedInt d = 0; d < space_dim; d++) {
    double low = INFINITY, high = -INFINITY;

    for (int64_t i = 0; i < num_elem * CeedIntPow(order + 1, dim); i++) {
      low = fmin(low, x[i * space_dim + d]);
      high = fmax(high, x[i * space_dim + d]);
    }
    *extent = fmax(*extent, high - low);
  }
  return CEED_ERROR_SUCCESS;
}

static int solve(Ceed ceed, const Family *f, CeedInt level, CeedInt degree, PoissonResult *result) {
  PoissonSolution solution = {.shift = {0.3, 0.7, 1.1}};
  RitzMesh mesh = NULL;
  double extent;
  int ierr = f->create(ceed, f, level, degree, &mesh);

  if (!ierr) ierr = measure_extent(mesh, &extent);
  if (!ierr) {
    solution.wave = f->num_waves * acos(-1.0) / extent;
    ierr = poisson_solve(ceed, mesh, degree, &solution, result);
  }
  RitzMeshDestroy(&mesh);
  return ierr;
}

// Multiplications of an apply, but for a factor: elements times (p + 2)^(dim + 1).
static int estimate_work(Ceed ceed, const Family *f, CeedInt degree, double *work, CeedInt *dim) {
  RitzMesh mesh = NULL;
  CeedInt space_dim;
  int64_t num_elem;
  int ierr = f->create(ceed, f, 0, 1, &mesh);

  if (!ierr) ierr = RitzMeshGetDimensions(mesh, dim, &space_dim);
  if (!ierr) ierr = RitzMeshGetNumElements(mesh, &num_elem);
  RitzMeshDestroy(&mesh);
  if (!ierr) *work = (double)num_elem * pow(degree + 2, *dim + 1);
  return ierr;
}

static double order_of(double coarse, double fine) { return log2(coarse / fine); }

// ---- Checks ----

// A mesh is refined while its work is below this.
static double max_work(CeedInt dim) {
  static const double limits[][3] = {{1e5, 2e5, 2e5}, {1.1e5, 5e5, 1e6}, {1e6, 1.3e6, 1e7}};

  return limits[dim - 1][tap_level()];
}

static const bool is_single = sizeof(CeedScalar) == sizeof(float);

// With the error so small relative to u, sums of rounding errors may show: a hundred times what the solver
// leaves of the residual, which is 8 eps in single and 450 eps in double precision.
static bool is_near_roundoff(const PoissonResult *r) {
  return r->l2 < (is_single ? 1e3 : 5e4) * eps * r->norm;
}

// Galerkin solutions have the smallest error in the energy norm of all functions with their boundary values
// (Cea's lemma), so of the interpolant at most; exactly so with exact integrals. Integrands on curved
// elements are rational and the rule with p + 2 points is off by terms of the size of the error: a tenth is
// allowed.
static void check_cea(const PoissonResult *r) {
  CHECK(r->h1 <= 1.1 * r->interpolation_h1 || is_near_roundoff(r), "error %g, of the interpolant %g", r->h1,
        r->interpolation_h1);
}

// Theory: the error is C h^(p+1) (1 + O(h)) in L2 and C h^p (1 + O(h)) for the gradient. The margin 0.3 lets
// the last term reach a fifth; so large it is on coarse curved meshes, which are refined until it is smaller.
// Much faster than theory is as wrong as slower: the fine mesh of a pair is then the first that resolves u.
static bool has_order(const PoissonResult *coarse, const PoissonResult *fine, CeedInt degree) {
  double l2 = order_of(coarse->l2, fine->l2) - (degree + 1), h1 = order_of(coarse->h1, fine->h1) - degree;

  return fabs(l2 - 0.1) <= 0.4 && fabs(h1 - 0.1) <= 0.4;
}

// Refines until the errors of one pair of meshes (full: of two pairs in a row, if the work allows) have the
// order of theory. In single precision there may be no such pair: then round-off is reached.
static void check_orders(Ceed ceed, const Family *f, CeedInt degree) {
  int wanted = tap_level() == TAP_QUICK ? 1 : 2, in_a_row = 0;
  PoissonResult coarse = {0}, fine = {0};
  CeedInt dim, level;
  double work;

  CHECK_OK(estimate_work(ceed, f, degree, &work, &dim));
  for (level = 0; in_a_row < wanted && work <= max_work(dim); level++, work *= pow(2.0, dim)) {
    coarse = fine;
    CHECK_OK(solve(ceed, f, level, degree, &fine));
    check_cea(&fine);
    if (tap_failed() || is_near_roundoff(&fine)) break;
    if (level > 0) in_a_row = has_order(&coarse, &fine, degree) ? in_a_row + 1 : 0;
  }
  CHECK(in_a_row > 0 || (is_single && is_near_roundoff(&fine)) || tap_failed(),
        "%s, p = %d, level %d: orders %.2f and %.2f, wanted %d and %d", f->name, (int)degree, (int)level - 1,
        order_of(coarse.l2, fine.l2), order_of(coarse.h1, fine.h1), (int)degree + 1, (int)degree);
}

// Every degree has kernels of its own.
static CeedInt max_degree_of(Ceed ceed, const Family *f) {
  const CeedInt most = 2, max_degree = f->max_degree[tap_level()];
  return tap_compiles_slowly(ceed) && max_degree > most ? most : max_degree;
}

static void check_family(Ceed ceed, const Family *f) {
  CeedInt max_degree = max_degree_of(ceed, f);

  for (CeedInt degree = 1; degree <= max_degree && !tap_failed(); degree++) check_orders(ceed, f, degree);
}

// On the coarsest mesh the degrees of which the order is not looked at.
static void check_coarse(Ceed ceed, const Family *f) {
  CeedInt max_degree = f->max_degree[tap_level()], dim;

  if (tap_compiles_slowly(ceed)) return;
  for (CeedInt degree = max_degree + 1; degree <= MAX_DEGREE; degree++) {
    PoissonResult result;
    double work;

    CHECK_OK(estimate_work(ceed, f, degree, &work, &dim));
    if (work > 2.0 * max_work(dim)) return;
    CHECK_OK(solve(ceed, f, 0, degree, &result));
    check_cea(&result);
    if (tap_failed()) tap_note("%s, p = %d", f->name, (int)degree);
    if (tap_failed()) return;
  }
}

// On the backend that programs get by default.
static void check_file(const char *folder, Family f) {
  Ceed ceed = tap_ceed("/cpu/self");
  char path[4096];

  snprintf(path, sizeof(path), "%s%s", folder, f.file);
  f.create = read_file;
  f.name = f.file;
  f.file = path;
  check_family(ceed, &f);
  if (!tap_failed()) check_coarse(ceed, &f);
  CeedDestroy(&ceed);
}

// ---- Tests ----

TEST_EACH_BACKEND(errors_on_boxes_fall_as_theory_says) {
  static const Family boxes[] = {{"1D box", create_box, 1, {4, 1, 1}, NULL, 1.0, {6, 6, 6}},
                                 {"2D box", create_box, 2, {2, 3, 1}, NULL, 1.0, {6, 6, 6}},
                                 {"3D box", create_box, 3, {2, 2, 2}, NULL, 1.0, {6, 6, 6}}};

  for (int i = 0; i < 3 && !tap_failed(); i++) check_family(ceed, &boxes[i]);
}

TEST(errors_on_deformed_boxes_fall_as_theory_says) {
  static const Family boxes[] = {
      {"deformed 2D box", create_deformed_box, 2, {3, 2, 1}, NULL, 1.0, {6, 6, 6}},
      {"deformed 3D box", create_deformed_box, 3, {2, 2, 2}, NULL, 1.0, {6, 6, 6}}};
  Ceed ceed = tap_ceed("/cpu/self");

  for (int i = 0; i < 2 && !tap_failed(); i++) check_family(ceed, &boxes[i]);
  CeedDestroy(&ceed);
}

TEST(errors_on_elements_in_all_24_rotations_fall_as_theory_says) {
  const char *path = write_rotated_box();

  check_file("", (Family){.file = path, .num_waves = 1.0, .max_degree = {4, 6, 6}});
}

TEST(errors_on_the_pipe_elbow_fall_as_theory_says) {
  check_file("examples/meshes/",
             (Family){.file = "pipe-elbow.msh", .num_waves = 1.0, .max_degree = {2, 2, 5}});
}

// star-q3.mesh and fichera-q3.mesh at p = 6 are refined too little, at every size that a test can afford.
TEST(errors_on_curved_foreign_meshes_fall_as_theory_says) {
  static const Family files[] = {{.file = "/star-q3.mesh", .num_waves = 0.5, .max_degree = {5, 5, 5}},
                                 {.file = "/fichera-q3.mesh", .num_waves = 0.25, .max_degree = {4, 5, 5}},
                                 {.file = "/toroid-hex.mesh", .num_waves = 0.5, .max_degree = {6, 6, 6}}};

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

// ---- Table ----

// Refines up to three levels, while the work is below 15 million.
static int print_degree(Ceed ceed, const Family *f, CeedInt degree) {
  PoissonResult coarse, fine = {0};
  CeedInt dim;
  double work;
  int ierr = estimate_work(ceed, f, degree, &work, &dim);

  for (CeedInt level = 0; !ierr && level <= 3 && work <= 15e6; level++, work *= pow(2.0, dim)) {
    coarse = fine;
    ierr = solve(ceed, f, level, degree, &fine);
    if (ierr) break;
    printf("%2d %9td %10d %11.3e ", (int)degree, fine.num_dofs, (int)fine.iterations, fine.l2 / fine.norm);
    if (level) {
      printf("%6.2f %11.3e %6.2f\n", order_of(coarse.l2, fine.l2), fine.h1, order_of(coarse.h1, fine.h1));
    } else {
      printf("%6s %11.3e %6s\n", "", fine.h1, "");
    }
  }
  return ierr;
}

// Arguments: path, half waves across the mesh (default 1), resource (default /cpu/self).
static int print_table(int argc, char **argv) {
  Ceed ceed = tap_ceed(argc > 2 ? argv[2] : "/cpu/self");
  Family f = {.create = read_file, .file = argv[0], .num_waves = argc > 1 ? atof(argv[1]) : 1.0};
  int ierr = 0;

  setvbuf(stdout, NULL, _IOLBF, 0);
  printf(" p      DOFs iterations   L2 / |u|  order    gradient  order\n");
  for (CeedInt degree = 1; degree <= MAX_DEGREE && !ierr; degree++) ierr = print_degree(ceed, &f, degree);
  if (ierr) {
    const char *message = "";

    CeedGetErrorMessage(ceed, &message);
    fprintf(stderr, "%s\n", message);
  }
  CeedDestroy(&ceed);
  return ierr ? 1 : 0;
}

int main(int argc, char **argv) {
  if (argc > 2 && !strcmp(argv[1], "--table")) return print_table(argc - 2, argv + 2);
  return tap_main(argc, argv,
                  TESTS(the_rotated_elements_are_in_24_rotations, errors_on_boxes_fall_as_theory_says,
                        errors_on_deformed_boxes_fall_as_theory_says,
                        errors_on_elements_in_all_24_rotations_fall_as_theory_says,
                        errors_on_the_pipe_elbow_fall_as_theory_says,
                        errors_on_curved_foreign_meshes_fall_as_theory_says));
}
