// SPDX-License-Identifier: BSD-2-Clause
// How fast errors fall: see orders.h.
#include "tests/orders.h"

#include "tests/poisson.h"
#include "tests/reference.h"
#include "tests/tap.h"
#include <ceed/backend.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// The refined mesh has the same polynomial maps, restricted to the children: the domain does not change.
int orders_read_file(Ceed ceed, const OrdersFamily *f, CeedInt level, CeedInt degree, RitzMesh *mesh) {
  RitzMesh coarse = NULL;
  int ierr = RitzMeshRead(ceed, f->file, &coarse);

  (void)degree;
  if (!ierr) ierr = RitzMeshRefine(coarse, level, mesh);
  RitzMeshDestroy(&coarse);
  return ierr;
}

// ---- Errors ----

// Largest extent of the geometry nodes.
static int measure_extent(RitzMesh mesh, double *extent) {
  CeedInt space_dim, num_blocks, order;
  double low[3], high[3];

  CeedCall(RitzMeshGetDimensions(mesh, NULL, &space_dim));
  CeedCall(RitzMeshGetNumBlocks(mesh, &num_blocks));
  CeedCall(RitzMeshGetGeometryOrder(mesh, &order));
  for (CeedInt d = 0; d < space_dim; d++) low[d] = INFINITY, high[d] = -INFINITY;
  for (CeedInt b = 0; b < num_blocks; b++) {
    CeedElemTopology topology;
    CeedInt num_nodes;
    int64_t num_elem;
    const double *x;

    CeedCall(RitzMeshGetBlock(mesh, b, &topology, NULL, &num_elem, NULL, &x));
    CeedCall(RitzLagrangeNodes(RitzMeshReturnCeed(mesh), topology, order, &num_nodes, NULL));
    for (int64_t i = 0; i < num_elem * num_nodes * space_dim; i++) {
      low[i % space_dim] = fmin(low[i % space_dim], x[i]);
      high[i % space_dim] = fmax(high[i % space_dim], x[i]);
    }
  }
  *extent = 0.0;
  for (CeedInt d = 0; d < space_dim; d++) *extent = fmax(*extent, high[d] - low[d]);
  return CEED_ERROR_SUCCESS;
}

static int solve(Ceed ceed, const OrdersFamily *f, CeedInt level, CeedInt degree, PoissonResult *result) {
  PoissonSolution solution = {.shift = {0.3, 0.7, 1.1}};
  RitzMesh mesh = NULL;
  double extent = 1;
  int ierr = f->create(ceed, f, level, degree, &mesh);

  if (!ierr) ierr = measure_extent(mesh, &extent);
  if (!ierr) {
    solution.wave = f->num_waves * acos(-1.0) / extent;
    ierr = poisson_solve(ceed, mesh, degree, &solution, result);
  }
  RitzMeshDestroy(&mesh);
  return ierr;
}

static bool is_tensor(CeedElemTopology topology) {
  return topology == CEED_TOPOLOGY_LINE || topology == CEED_TOPOLOGY_QUAD || topology == CEED_TOPOLOGY_HEX;
}

// Multiplications of an apply, but for a factor: (p + 2)^(dim + 1) for each element with a tensor basis, the
// square of the number of nodes for others.
static int add_block_work(RitzMesh mesh, CeedInt block, CeedInt degree, double *work) {
  CeedElemTopology topology;
  CeedInt dim, num_nodes;
  int64_t num_elem;

  CeedCall(RitzMeshGetDimensions(mesh, &dim, NULL));
  CeedCall(RitzMeshGetBlock(mesh, block, &topology, NULL, &num_elem, NULL, NULL));
  CeedCall(RitzLagrangeNodes(RitzMeshReturnCeed(mesh), topology, degree, &num_nodes, NULL));
  *work += (double)num_elem * (is_tensor(topology) ? pow(degree + 2, dim + 1) : pow(num_nodes, 2));
  return CEED_ERROR_SUCCESS;
}

int orders_estimate_work(Ceed ceed, const OrdersFamily *f, CeedInt degree, double *work, CeedInt *dim) {
  RitzMesh mesh = NULL;
  CeedInt num_blocks = 0;
  int ierr = f->create(ceed, f, 0, 1, &mesh);

  *work = 0.0;
  if (!ierr) ierr = RitzMeshGetDimensions(mesh, dim, NULL);
  if (!ierr) ierr = RitzMeshGetNumBlocks(mesh, &num_blocks);
  for (CeedInt b = 0; !ierr && b < num_blocks; b++) ierr = add_block_work(mesh, b, degree, work);
  RitzMeshDestroy(&mesh);
  return ierr;
}

static double order_of(double coarse, double fine) { return log2(coarse / fine); }

// ---- Checks ----

// A mesh is refined while its work is below this.
static double max_work(const OrdersFamily *f, CeedInt dim) {
  static const double limits[][3] = {{1e5, 2e5, 2e5}, {1.1e5, 5e5, 1e6}, {1e6, 1.3e6, 1e7}};

  return f->max_work[tap_level()] > 0.0 ? f->max_work[tap_level()] : limits[dim - 1][tap_level()];
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
static void check_orders(Ceed ceed, const OrdersFamily *f, CeedInt degree) {
  int wanted = tap_level() == TAP_QUICK ? 1 : 2, in_a_row = 0;
  PoissonResult coarse = {0}, fine = {0};
  CeedInt dim, level;
  double work;

  CHECK_OK(orders_estimate_work(ceed, f, degree, &work, &dim));
  for (level = 0; in_a_row < wanted && work <= max_work(f, dim); level++, work *= pow(2.0, dim)) {
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
static CeedInt max_degree_of(Ceed ceed, const OrdersFamily *f) {
  const CeedInt max_degree = f->max_degree[tap_level()];
  const CeedInt most = tap_compiles_slowly(ceed) ? 2 : tap_checks_calls(ceed) ? 3 : ORDERS_MAX_DEGREE;
  return max_degree > most ? most : max_degree;
}

void orders_check(Ceed ceed, const OrdersFamily *f) {
  CeedInt max_degree = max_degree_of(ceed, f);

  for (CeedInt degree = 1; degree <= max_degree && !tap_failed(); degree++) check_orders(ceed, f, degree);
}

// On the coarsest mesh the degrees of which the order is not looked at.
void orders_check_coarse(Ceed ceed, const OrdersFamily *f) {
  CeedInt max_degree = f->max_degree[tap_level()], dim;

  if (tap_compiles_slowly(ceed)) return;
  for (CeedInt degree = max_degree + 1; degree <= ORDERS_MAX_DEGREE; degree++) {
    PoissonResult result;
    double work;

    CHECK_OK(orders_estimate_work(ceed, f, degree, &work, &dim));
    if (work > 2.0 * max_work(f, dim)) return;
    CHECK_OK(solve(ceed, f, 0, degree, &result));
    check_cea(&result);
    if (tap_failed()) tap_note("%s, p = %d", f->name, (int)degree);
    if (tap_failed()) return;
  }
}

// ---- Table ----

// Refines up to three times, while the work is below a hundred million.
static int print_degree(Ceed ceed, const OrdersFamily *f, CeedInt degree) {
  PoissonResult coarse, fine = {0};
  CeedInt dim;
  double work;
  int ierr = orders_estimate_work(ceed, f, degree, &work, &dim);

  for (CeedInt level = 0; !ierr && level <= 3 && work <= 100e6; level++, work *= pow(2.0, dim)) {
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

int orders_print_table(int argc, char **argv) {
  Ceed ceed = tap_ceed(argc > 2 ? argv[2] : "/cpu/self");
  OrdersFamily f = {.create = orders_read_file, .file = argv[0], .num_waves = argc > 1 ? atof(argv[1]) : 1.0};
  int ierr = 0;

  setvbuf(stdout, NULL, _IOLBF, 0);
  printf(" p      DOFs iterations   L2 / |u|  order    gradient  order\n");
  for (CeedInt degree = 1; degree <= ORDERS_MAX_DEGREE && !ierr; degree++)
    ierr = print_degree(ceed, &f, degree);
  if (ierr) {
    const char *message = "";

    CeedGetErrorMessage(ceed, &message);
    fprintf(stderr, "%s\n", message);
  }
  CeedDestroy(&ceed);
  return ierr ? 1 : 0;
}
