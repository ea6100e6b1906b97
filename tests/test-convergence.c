// SPDX-License-Identifier: BSD-2-Clause
// The error of finite element solutions of Poisson's equation falls as theory says, on straight, curved and
// rotated elements: meshes, spaces, operators and solver together. `test-convergence --table MESH [RESOURCE]`
// prints the errors on a mesh file instead.
#include "tests/tap.h"

#include "tests/poisson.h"
#include "tests/reference.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEGREE = 6, MAX_LEVEL = 12 };

// ---- Meshes ----

// A family of meshes, refined by halves.
typedef struct Family {
  const char *name;
  int (*create)(Ceed ceed, const struct Family *f, CeedInt level, CeedInt degree, RitzMesh *mesh);
  CeedInt dim, n[3];   // boxes: elements of level 0
  const char *file;    // files: path
  double num_waves;    // half waves of u across the largest extent of the mesh
  CeedInt num_elem;    // of level 0
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

// Rotation number r of the cube as a map of corners, numbered by their bits: corner[b] is where corner b goes.
// Axis d goes to axis[d], in the opposite direction if bit d of `flips` is set; a rotation if the sign of the
// permutation and of the flips agree.
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
      int c = corner[order[e]][mfem_corners[b]], i = first[0] + (c & 1), j = first[1] + (c >> 1 & 1), k = first[2] + (c >> 2);

      length += snprintf(text + length, sizeof(text) - (size_t)length, " %d", i + (n[0] + 1) * (j + (n[1] + 1) * k));
    }
    length += snprintf(text + length, sizeof(text) - (size_t)length, "\n");
  }
  length += snprintf(text + length, sizeof(text) - (size_t)length, "\nboundary\n0\n\nvertices\n%d\n3\n", 3 * 4 * 5);
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

  *extent = 0.0;
  int ierr = RitzMeshGetDimensions(mesh, &dim, &space_dim);
  if (!ierr) ierr = RitzMeshGetGeometryOrder(mesh, &order);
  if (!ierr) ierr = RitzMeshGetNumElements(mesh, &num_elem);
  if (!ierr) ierr = RitzMeshGetElementCoordinates(mesh, &x);
  if (ierr) return ierr;
  for (CeedInt d = 0; d < space_dim; d++) {
    double low = INFINITY, high = -INFINITY;

    for (int64_t i = 0; i < num_elem * CeedIntPow(order + 1, dim); i++) {
      low = fmin(low, x[i * space_dim + d]);
      high = fmax(high, x[i * space_dim + d]);
    }
    *extent = fmax(*extent, high - low);
  }
  return ierr;
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

static double order_of(double coarse, double fine) { return log2(coarse / fine); }

// ---- Table ----

static int print_table(const char *path, const char *resource) {
  Ceed ceed = tap_ceed(resource);
  Family f = {.create = read_file, .file = path, .num_waves = 2.0};
  int ierr = 0;

  printf("%2s %9s %6s %11s %6s %11s %6s\n", "p", "DOFs", "its", "L2", "order", "H1", "order");
  for (CeedInt degree = 1; degree <= MAX_DEGREE && !ierr; degree++) {
    PoissonResult coarse = {0}, fine;

    for (CeedInt level = 0; level <= MAX_LEVEL; level++) {
      ierr = solve(ceed, &f, level, degree, &fine);
      if (ierr) break;
      printf("%2d %9td %6d %11.3e", (int)degree, fine.num_dofs, (int)fine.iterations, fine.l2);
      printf(level ? " %6.2f" : " %6s", order_of(coarse.l2, fine.l2));
      coarse = fine;
      printf("\n");
    }
  }
  CeedDestroy(&ceed);
  return ierr;
}

int main(int argc, char **argv) {
  if (argc > 2 && !strcmp(argv[1], "--table")) return print_table(argv[2], argc > 3 ? argv[3] : "/cpu/self");
  return 0;
}
