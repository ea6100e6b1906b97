// SPDX-License-Identifier: BSD-2-Clause
// Iterations and costs of smoothers by tables (see smoother-model.h).
#include "solver/smoother-model.h"

#include <math.h>
#include <stdlib.h>

#include "fe/fe.h"

// ---- Shape of the elements ----

enum { MAX_SAMPLES = 1000 };

typedef struct {
  CeedInt dim, space_dim, num_nodes;
  int num_points;
  double *derivatives; // owned, [dim][num_points][num_nodes]
} Map;

// Points of a rule of degree 3.
static int create_map(Ceed ceed, CeedElemTopology topology, CeedInt order, Map *map) {
  double *points = NULL;
  int ierr;

  map->num_nodes = ritz_fe_shape_num_nodes(topology, order);
  RITZ_TRY(ritz_fe_shape_quadrature(ceed, topology, 3, &map->num_points, NULL, NULL));
  const size_t num = (size_t)map->dim * (size_t)map->num_points;
  RITZ_TRY(RITZ_MALLOC(ceed, num * (size_t)map->num_nodes, &map->derivatives));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, num + (size_t)map->num_points, &points));
  RITZ_TRY_CLEANUP(ritz_fe_shape_quadrature(ceed, topology, 3, &map->num_points, points, points + num));
  RITZ_TRY_CLEANUP(
      ritz_fe_shape_lagrange(ceed, topology, order, map->num_points, points, NULL, map->derivatives));
cleanup:
  RITZ_FREE(&points);
  return ierr;
}

// J_d [space_dim] at a point.
static void jacobian_at(const Map *map, const double *x, int point, double J[3][3]) {
  for (CeedInt d = 0; d < map->dim; d++) {
    const double *row =
        map->derivatives + ((size_t)d * (size_t)map->num_points + (size_t)point) * (size_t)map->num_nodes;

    J[d][0] = J[d][1] = J[d][2] = 0;
    for (CeedInt n = 0; n < map->num_nodes; n++) {
      for (CeedInt c = 0; c < map->space_dim; c++) J[d][c] += row[n] * x[n * map->space_dim + c];
    }
  }
}

// G [3][3] = det g^-1 with g_ab = J_a . J_b, det^2 = det g; rows beyond dim those of the identity.
static void factors_at(const Map *map, const double *x, int point, double G[3][3]) {
  double J[3][3], g[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, square = 0;

  jacobian_at(map, x, point, J);
  for (CeedInt a = 0; a < map->dim; a++) {
    for (CeedInt b = 0; b < map->dim; b++)
      g[a][b] = J[a][0] * J[b][0] + J[a][1] * J[b][1] + J[a][2] * J[b][2];
  }
  for (int a = 0; a < 3; a++) {
    const int a1 = (a + 1) % 3, a2 = (a + 2) % 3;
    for (int b = 0; b < 3; b++) {
      const int b1 = (b + 1) % 3, b2 = (b + 2) % 3;
      G[a][b] = g[a1][b1] * g[a2][b2] - g[a1][b2] * g[a2][b1];
    }
  }
  for (int b = 0; b < 3; b++) square += g[0][b] * G[0][b];
  for (int i = 0; i < 9; i++) G[i / 3][i % 3] /= sqrt(square);
}

// Extreme eigenvalues of the symmetric matrix H [3][3], of its leading 2 x 2 part where dim is 2.
static void eigenvalues(CeedInt dim, double H[3][3], double *least, double *most) {
  const double mean = (H[0][0] + H[1][1] + (dim > 2 ? H[2][2] : 0)) / dim;
  const double off = H[0][1] * H[0][1] + (dim > 2 ? H[0][2] * H[0][2] + H[1][2] * H[1][2] : 0);
  double a[3], sum = 2 * off;

  for (CeedInt d = 0; d < dim; d++) {
    a[d] = H[d][d] - mean;
    sum += a[d] * a[d];
  }
  const double radius = sqrt(sum / (dim * (dim - 1)));
  double angle = 0;

  if (dim > 2 && radius > 0) { // the trigonometric roots of the characteristic polynomial
    const double det = a[0] * (a[1] * a[2] - H[1][2] * H[1][2]) -
                       H[0][1] * (H[0][1] * a[2] - H[1][2] * H[0][2]) +
                       H[0][2] * (H[0][1] * H[1][2] - a[1] * H[0][2]);
    angle = acos(fmax(-1, fmin(1, det / (2 * radius * radius * radius)))) / 3;
  }
  *most = mean + (dim > 2 ? 2 : 1) * radius * cos(angle);
  *least = dim > 2 ? mean + 2 * radius * cos(angle + 2 * acos(-1) / 3) : mean - radius;
}

static void add_element(const Map *map, const double *x, RitzMeshQuality *q) {
  double c[3] = {0}, least = INFINITY, most = 0, lowest = INFINITY, highest = 0, G[3][3];

  for (int point = 0; point < map->num_points; point++) {
    factors_at(map, x, point, G);
    for (CeedInt d = 0; d < map->dim; d++) c[d] += G[d][d] / map->num_points;
  }
  for (CeedInt d = 0; d < map->dim; d++) {
    lowest = fmin(lowest, c[d]);
    highest = fmax(highest, c[d]);
  }
  for (int point = 0; point < map->num_points; point++) {
    double smallest, largest;

    factors_at(map, x, point, G);
    for (CeedInt a = 0; a < map->dim; a++) {
      for (CeedInt b = 0; b < map->dim; b++) G[a][b] /= sqrt(c[a] * c[b]);
    }
    eigenvalues(map->dim, G, &smallest, &largest);
    least = fmin(least, smallest);
    most = fmax(most, largest);
  }
  q->aspect = fmax(q->aspect, sqrt(highest / lowest));
  q->spread = fmax(q->spread, least > 0 ? most / least : INFINITY);
}

static int sample_block(Ceed ceed, RitzMesh mesh, CeedInt block, RitzMeshQuality *q) {
  CeedElemTopology topology = CEED_TOPOLOGY_QUAD;
  CeedInt order = 1;
  int64_t num = 0;
  const double *x = NULL;
  Map map = {.dim = q->dim};

  RITZ_TRY(RitzMeshGetDimensions(mesh, NULL, &map.space_dim));
  RITZ_TRY(RitzMeshGetGeometryOrder(mesh, &order));
  RITZ_TRY(RitzMeshGetBlock(mesh, block, &topology, NULL, &num, NULL, &x));
  const int ierr = create_map(ceed, topology, order, &map);
  const int64_t count = num < MAX_SAMPLES ? num : MAX_SAMPLES;
  for (int64_t i = 0; !ierr && i < count; i++) {
    // Multiples of the golden ratio are spread evenly, and keep to no plane of a box.
    const double part = fmod((double)i * 0.6180339887498949, 1);
    const int64_t e = num <= MAX_SAMPLES ? i : (int64_t)(part * (double)num);
    add_element(&map, x + e * map.num_nodes * map.space_dim, q);
  }
  RITZ_FREE(&map.derivatives);
  return ierr;
}

int ritz_mesh_has_directions(RitzMesh mesh, bool *has_directions) {
  CeedInt num_blocks = 0;

  *has_directions = true;
  RITZ_TRY(RitzMeshGetNumBlocks(mesh, &num_blocks));
  for (CeedInt b = 0; b < num_blocks; b++) {
    CeedElemTopology topology = CEED_TOPOLOGY_QUAD;

    RITZ_TRY(RitzMeshGetBlock(mesh, b, &topology, NULL, NULL, NULL, NULL));
    if (topology != CEED_TOPOLOGY_QUAD && topology != CEED_TOPOLOGY_HEX) *has_directions = false;
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_mesh_quality(Ceed ceed, RitzMesh mesh, RitzMeshQuality *q) {
  CeedInt num_blocks = 0, n[3];
  double *planes[3] = {NULL};
  int64_t elem = 0;

  *q = (RitzMeshQuality){.aspect = 1, .spread = 1};
  RITZ_TRY(RitzMeshGetDimensions(mesh, &q->dim, NULL));
  RITZ_TRY(RitzMeshGetNumBlocks(mesh, &num_blocks));
  RITZ_TRY(ritz_mesh_has_directions(mesh, &q->has_directions));
  for (CeedInt b = 0; q->has_directions && b < num_blocks; b++) RITZ_TRY(sample_block(ceed, mesh, b, q));
  if (!q->has_directions) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RitzMeshGetRectangularBox(mesh, &q->is_box, n, planes, &elem));
  for (int d = 0; d < 3; d++) free(planes[d]);
  return CEED_ERROR_SUCCESS;
}

// ---- Tables ----

// Iterations to 1e-9 on 8^3 cells, three meshes, for degrees 1, 2, 3, 4, 5, 7.
enum { NUM_COLUMNS = 6 };
static const double column_degree[NUM_COLUMNS] = {1, 2, 3, 4, 5, 7};

typedef struct {
  double cubes[NUM_COLUMNS];
  double deformed[2][NUM_COLUMNS];  // of the two spreads below
  double stretched[2][NUM_COLUMNS]; // of the two aspects below
} Table;

static const double table_spread[2] = {6.2, 45}, table_aspect[2] = {4, 16};
static const Table jacobi_3 = {{4, 5, 6, 6, 7, 9},
                               {{6, 7, 9, 10, 13, 17}, {6, 9, 13, 17, 21, 29}},
                               {{10, 13, 16, 16, 17, 20}, {18, 32, 39, 45, 54, 72}}};
static const Table elements_2 = {{5, 5, 6, 6, 7, 7},
                                 {{6, 7, 8, 9, 10, 11}, {8, 9, 12, 14, 17, 19}},
                                 {{9, 9, 8, 9, 10, 12}, {18, 18, 22, 27, 28, 30}}};
static const Table elements_3 = {{5, 5, 5, 6, 6, 6},
                                 {{6, 6, 6, 7, 8, 9}, {7, 7, 9, 10, 12, 14}},
                                 {{6, 6, 6, 7, 7, 8}, {13, 13, 16, 19, 20, 21}}};
static const Table overlapped_2 = {{11, 5, 6, 6, 6, 6},
                                   {{11, 6, 7, 7, 7, 8}, {11, 9, 11, 12, 14, 16}},
                                   {{11, 6, 6, 7, 6, 7}, {11, 11, 14, 17, 17, 18}}};
static const Table overlapped_3 = {{7, 5, 5, 5, 5, 5},
                                   {{7, 6, 6, 6, 6, 7}, {7, 6, 7, 8, 9, 11}},
                                   {{7, 5, 6, 6, 6, 6}, {7, 7, 9, 12, 12, 12}}};
static const Table patches = {{6, 5, 4, 4, 3, 3},
                              {{6, 5, 4, 4, 3, 3}, {6, 5, 4, 4, 3, 3}},
                              {{19, 9, 6, 5, 5, 4}, {48, 20, 16, 13, 11, 9}}};

// At a degree, between the columns or beyond the last along its slope.
static double at_degree(const double row[NUM_COLUMNS], CeedInt degree) {
  int i = 0;

  while (i < NUM_COLUMNS - 2 && degree > column_degree[i + 1]) i++;
  const double t = (degree - column_degree[i]) / (column_degree[i + 1] - column_degree[i]);
  return row[i] + t * (row[i + 1] - row[i]);
}

// How many times the iterations of cubes: linear in the logarithm of the value, from 1 at value 1.
static double growth(double cubes, const double known[2], const double at[2], double value) {
  if (!(value > 1)) return 1;
  const double first = log(at[0]), second = log(at[1]), x = log(value);

  if (x <= first) return 1 + (known[0] / cubes - 1) * x / first;
  return (known[0] + (known[1] - known[0]) * (x - first) / (second - first)) / cubes;
}

static double predict(const Table *table, const RitzMeshQuality *q, CeedInt degree, bool is_exact) {
  const double cubes = at_degree(table->cubes, degree);
  double known[2][2];

  for (int i = 0; i < 2; i++) {
    known[0][i] = at_degree(table->deformed[i], degree);
    known[1][i] = at_degree(table->stretched[i], degree);
  }
  const double stretched = growth(cubes, known[1], table_aspect, q->aspect);
  // Deformed elements are a little stretched, too: the table of one has both.
  return cubes * (is_exact ? stretched : fmax(stretched, growth(cubes, known[0], table_spread, q->spread)));
}

// ---- Costs ----

// Applications of a method in applies of the operator, for the columns' degrees, on hosts and on devices:
// ratios of whole solves in float on boxes, of elements on devices between boxes and deformed boxes (one core
// with AVX-512; an H200).
static const double elements_cost[2][NUM_COLUMNS] = {{0.7, 0.6, 0.5, 0.5, 0.5, 0.5},
                                                     {0.65, 0.65, 0.65, 0.7, 0.75, 0.9}};
static const double overlapped_cost[2][NUM_COLUMNS] = {{2.0, 1.7, 1.6, 1.2, 1.1, 1.0},
                                                       {2.5, 2.5, 1.6, 1.7, 1.5, 1.4}};
static const double sweep_cost[2][NUM_COLUMNS] = {{1.4, 1.0, 1.3, 1.7, 2.0, 2.4},
                                                  {2.0, 2.1, 2.1, 2.2, 2.3, 3.1}};
// Costs of the method around the cycle: an apply in double where the cycle is in float, and passes over
// vectors.
static const double outer_cost = 1.5, pass_cost = 0.1;

static double chebyshev_applies(CeedInt steps, double inner) {
  return 2 * steps * (1 + inner + pass_cost) + outer_cost;
}

void ritz_smoother_candidates(const RitzMeshQuality *q, CeedInt degree, bool is_device, int *num,
                              RitzSmootherCandidate c[RITZ_MAX_CANDIDATES]) {
  const CeedInt steps = q->aspect > ritz_large_aspect ? 3 : 2;

  *num = 0;
  c[(*num)++] = (RitzSmootherCandidate){.kind = RITZ_SMOOTHER_JACOBI,
                                        .steps = 3,
                                        .iterations = predict(&jacobi_3, q, degree, false),
                                        .applies = chebyshev_applies(3, 0)};
  if (!q->has_directions) return;
  if (degree > 1) {
    c[(*num)++] = (RitzSmootherCandidate){
        .kind = RITZ_SMOOTHER_ELEMENT_SCHWARZ,
        .steps = steps,
        .iterations = predict(steps == 2 ? &elements_2 : &elements_3, q, degree, false),
        .applies = chebyshev_applies(steps, at_degree(elements_cost[is_device], degree))};
    c[(*num)++] = (RitzSmootherCandidate){
        .kind = RITZ_SMOOTHER_OVERLAPPED_SCHWARZ,
        .steps = steps,
        .iterations = predict(steps == 2 ? &overlapped_2 : &overlapped_3, q, degree, false),
        .applies = chebyshev_applies(steps, at_degree(overlapped_cost[is_device], degree))};
  }
  if (q->is_box) {
    c[(*num)++] =
        (RitzSmootherCandidate){.kind = RITZ_SMOOTHER_PATCHES,
                                .steps = 1,
                                .iterations = predict(&patches, q, degree, true),
                                .applies = 2 * at_degree(sweep_cost[is_device], degree) + 1 + outer_cost};
  }
}
