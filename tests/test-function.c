// SPDX-License-Identifier: BSD-2-Clause
// Functions in spaces (ritz/function.h): interpolants of polynomials are these at any point, on all shapes;
// boundary values, norms of errors, points outside, refusals.
#include <ritz/function.h>
#include <ritz/geometry.h>

#include "tests/shapes-kit.h"

typedef struct {
  int shape;
  CeedInt order, degree;
  int num_regions; // geometry-kit.h
} Case;

// Affine elements have all polynomials of their degree, curved ones those of degree one in their coordinates.
static const Case cases[] = {
    {CEED_TOPOLOGY_LINE, 1, 4, 1}, {CEED_TOPOLOGY_LINE, 2, 2, 3},    {CEED_TOPOLOGY_TRIANGLE, 1, 4, 1},
    {CEED_TOPOLOGY_QUAD, 1, 4, 1}, {CEED_TOPOLOGY_QUAD, 2, 3, 3},    {CEED_TOPOLOGY_TET, 1, 3, 1},
    {CEED_TOPOLOGY_TET, 2, 3, 3},  {CEED_TOPOLOGY_PRISM, 1, 3, 1},   {CEED_TOPOLOGY_HEX, 1, 4, 1},
    {CEED_TOPOLOGY_HEX, 2, 3, 3},  {CEED_TOPOLOGY_PYRAMID, 1, 3, 1}, {MIXED_PLANE, 1, 3, 1},
    {MIXED_SOLID, 1, 3, 1},
};
enum { NUM_CASES = sizeof(cases) / sizeof(cases[0]) };

typedef struct {
  RitzMesh mesh;
  RitzSpace space;
  RitzLocator locator;
  CeedVector u;
  CeedInt dim;
} Problem;

static int create_problem(Ceed ceed, const Case *c, Problem *p) {
  uint64_t seed = 5;
  CeedSize size = 0;
  RitzMeshDraft draft;

  *p = (Problem){.dim = dim_of(c->shape)};
  MixedMap map = mixed_map(p->dim, c->num_regions, &seed);
  RITZ_TRY(flat_draft(ceed, c->shape, c->order, &draft));
  RITZ_TRY(build_mapped(ceed, &draft, &map, &p->mesh));
  RITZ_TRY(RitzSpaceCreate(p->mesh, c->degree, 2, &p->space));
  RITZ_TRY(RitzLocatorCreate(p->mesh, -1, &p->locator));
  RITZ_TRY(RitzSpaceGetSize(p->space, &size));
  return CeedVectorCreate(ceed, size, &p->u);
}

static void destroy_problem(Problem *p) {
  CeedVectorDestroy(&p->u);
  RitzLocatorDestroy(&p->locator);
  RitzSpaceDestroy(&p->space);
  RitzMeshDestroy(&p->mesh);
}

// Of degree *ctx, and linear.
static int polynomial(void *ctx, const double *x, double *values) {
  const double y = x[0] + 0.5;

  values[0] = 1;
  for (int d = 0; d < *(int *)ctx; d++) values[0] *= y;
  values[1] = 2 - 3 * x[0];
  return 0;
}

static int degree_of(const Case *c) { return c->num_regions == 1 ? (int)c->degree : 1; }

// Centres of the corners of all elements, moved towards one corner: points inside.
static double *new_points(const Problem *p, int64_t *num) {
  double *x;

  RitzMeshGetNumElements(p->mesh, num);
  x = reference_new(*num * p->dim);
  for (int b = 0; b < p->mesh->num_blocks; b++) {
    const RitzMeshBlock *block = &p->mesh->blocks[b];
    for (int64_t e = 0; e < block->num_elem; e++) {
      for (CeedInt d = 0; d < p->dim; d++) {
        double sum = 0;
        for (int64_t n = 0; n < block->num_nodes; n++)
          sum += (n == 0 ? 1.5 : 1) *
                 p->mesh->coords[(block->node_base + e * block->num_nodes + n) * p->dim + d];
        x[(block->first + e) * p->dim + d] = sum / ((double)block->num_nodes + 0.5);
      }
    }
  }
  return x;
}

static void check_values(Ceed ceed, const Case *c) {
  int degree = degree_of(c);
  int64_t num = 0, num_missed = -1;
  Problem p;

  CHECK_OK(create_problem(ceed, c, &p));
  CHECK_OK(RitzSpaceInterpolate(p.space, polynomial, &degree, p.u));
  double *x = new_points(&p, &num);
  CeedScalar *values = calloc((size_t)num * 2, sizeof(*values));
  CHECK_OK(RitzSpaceEvaluate(p.space, p.locator, p.u, num, x, values, &num_missed));
  CHECK(num_missed == 0, "%d of %d points missed, shape %d", (int)num_missed, (int)num, c->shape);
  for (int64_t i = 0; i < num; i++) {
    double wanted[2];

    polynomial(&degree, x + i * p.dim, wanted);
    // Sums of some hundred products; positions have an error of 1e-10 at most in the reference element.
    for (int k = 0; k < 2; k++)
      CHECK_NEAR(values[2 * i + k], wanted[k], 1e-8 + 500 * CEED_EPSILON * fabs(wanted[k]),
                 "shape %d, point %d", c->shape, (int)i);
  }
  free(values);
  free(x);
  destroy_problem(&p);
}

TEST_EACH_BACKEND(interpolants_of_polynomials_have_their_values_everywhere) {
  for (int i = 0; i < NUM_CASES && !tap_failed(); i++) check_values(ceed, &cases[i]);
}

TEST_EACH_BACKEND(boundary_values_leave_other_entries) {
  int degree = 1;
  int64_t num = 0, *nodes = NULL;
  CeedSize size = 0;
  Problem p;

  CHECK_OK(create_problem(ceed, &cases[8], &p));
  CHECK_OK(RitzSpaceGetSize(p.space, &size));
  CHECK_OK(CeedVectorSetValue(p.u, 77));
  CHECK_OK(RitzSpaceInterpolateOnBoundary(p.space, "all", polynomial, &degree, p.u));
  CHECK_OK(RitzSpaceGetBoundaryNodes(p.space, "all", &num, &nodes));
  double *u = reference_new(size), *x = reference_new(num * p.dim);
  reference_values(p.u, u);
  CHECK_OK(RitzSpaceGetCoordinatesOf(p.space, num, nodes, x));
  for (int64_t i = 0; i < num; i++) {
    CHECK_NEAR(u[2 * nodes[i] + 1], 2 - 3 * x[i * p.dim], 20 * CEED_EPSILON, "node %d", (int)nodes[i]);
    u[2 * nodes[i]] = u[2 * nodes[i] + 1] = 77;
  }
  for (CeedSize i = 0; i < size; i++) CHECK(u[i] == 77, "entry %d was changed to %g", (int)i, u[i]);
  CHECK(num > 0 && 2 * num < size, "%d nodes", (int)num);
  free(u);
  free(x);
  free(nodes);
  destroy_problem(&p);
}

// ---- Reactions ----

// u = (x, -2 x_last) has normal derivatives on two sides each, and no sources: reactions are the fluxes.
static int two_linear(void *ctx, const double *x, double *values) {
  values[0] = x[0];
  values[1] = -2 * x[*(int *)ctx - 1];
  return 0;
}

static const CeedElemTopology split_shapes[] = {CEED_TOPOLOGY_LINE,     CEED_TOPOLOGY_QUAD,
                                                CEED_TOPOLOGY_TRIANGLE, CEED_TOPOLOGY_HEX,
                                                CEED_TOPOLOGY_TET,      CEED_TOPOLOGY_PRISM,
                                                CEED_TOPOLOGY_PYRAMID};

static void check_reactions(Ceed ceed, CeedElemTopology shape) {
  static const char *const last[] = {"xmax", "ymax", "zmax"};
  const CeedInt n[3] = {2, 3, 2};
  int dim = (int)shape >> 16;
  double sums[2];
  CeedSize size = 0;
  RitzMesh box = NULL, mesh = NULL;
  RitzGeometry geometry = NULL;
  RitzOperatorOptions options = {.kind = RITZ_OPERATOR_DIFFUSION};
  CeedOperator op = NULL;
  CeedVector u = NULL, r = NULL;

  CHECK_OK(RitzMeshCreateBox(ceed, dim, n, NULL, NULL, 1, NULL, NULL, &box));
  CHECK_OK(RitzMeshSplit(box, shape, &mesh));
  CHECK_OK(RitzSpaceCreate(mesh, 2, 2, &options.space));
  CHECK_OK(RitzSpaceGetSize(options.space, &size));
  CHECK_OK(RitzGeometryCreate(mesh, -1, &geometry));
  CHECK_OK(RitzGeometryCreateOperator(geometry, ceed, &options, &op));
  CHECK_OK(CeedVectorCreate(ceed, size, &u));
  CHECK_OK(CeedVectorCreate(ceed, size, &r));
  CHECK_OK(RitzSpaceInterpolate(options.space, two_linear, &dim, u));
  CHECK_OK(CeedOperatorApply(op, u, r, CEED_REQUEST_IMMEDIATE));
  // sums of some hundred entries of size one
  CHECK_OK(RitzSpaceGetReactions(options.space, "xmin", r, sums));
  CHECK_NEAR(sums[0], -1, 1000 * CEED_EPSILON, "through xmin, %d directions", dim);
  CHECK_OK(RitzSpaceGetReactions(options.space, last[dim - 1], r, sums));
  CHECK_NEAR(sums[1], -2, 1000 * CEED_EPSILON, "through %s", last[dim - 1]);
  CHECK_OK(RitzSpaceGetReactions(options.space, "all", r, sums));
  CHECK(fabs(sums[0]) + fabs(sums[1]) <= 2000 * CEED_EPSILON, "out of balance by %g, %g", sums[0], sums[1]);
  CHECK_ERROR(ceed, RitzSpaceGetReactions(options.space, "lid", r, sums), CEED_ERROR_INCOMPATIBLE, "lid");
  CeedVectorDestroy(&r);
  CHECK_OK(CeedVectorCreate(ceed, size + 1, &r));
  CHECK_OK(CeedVectorSetValue(r, 1));
  CHECK_ERROR(ceed, RitzSpaceGetReactions(options.space, "all", r, sums), CEED_ERROR_DIMENSION,
              "RitzSpaceGetReactions: the vector has");
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&r);
  CeedOperatorDestroy(&op);
  RitzGeometryDestroy(&geometry);
  RitzSpaceDestroy(&options.space);
  RitzMeshDestroy(&mesh);
  RitzMeshDestroy(&box);
}

TEST_EACH_BACKEND(reactions_are_fluxes_in_balance) {
  const int num = (int)(sizeof(split_shapes) / sizeof(split_shapes[0]));

  for (int i = 0; i < num && !tap_failed(); i += tap_compiles_slowly(ceed) ? 3 : 1)
    check_reactions(ceed, split_shapes[i]);
}

// ---- Errors ----

// u = 2 - 3 x is off from f = 2 - 3 x + s_0 + s_1 x, in the first component, by that.
static int shifted(void *ctx, const double *x, double *values, double *gradients) {
  const double *shift = ctx;

  (void)gradients;
  values[0] = 2 - 3 * x[0] + shift[0] + shift[1] * x[0];
  values[1] = 2 - 3 * x[0];
  return 0;
}

// The same with gradients [2][dim].
static int shifted_in(CeedInt dim, void *ctx, const double *x, double *values, double *gradients) {
  for (CeedInt i = 0; i < 2 * dim; i++) gradients[i] = 0;
  gradients[0] = -3 + ((const double *)ctx)[1];
  gradients[dim] = -3;
  return shifted(ctx, x, values, NULL);
}
static int shifted_1(void *ctx, const double *x, double *values, double *gradients) {
  return shifted_in(1, ctx, x, values, gradients);
}
static int shifted_2(void *ctx, const double *x, double *values, double *gradients) {
  return shifted_in(2, ctx, x, values, gradients);
}
static int shifted_3(void *ctx, const double *x, double *values, double *gradients) {
  return shifted_in(3, ctx, x, values, gradients);
}

static int linear_twice(void *ctx, const double *x, double *values) {
  (void)ctx;
  values[0] = values[1] = 2 - 3 * x[0];
  return 0;
}

// Norms are |s_0| and |s_1| times the root of the volume where the other one is 0.
static void check_norms(Ceed ceed, const Case *c) {
  static const RitzKnownFunction by_dim[] = {shifted_1, shifted_2, shifted_3};
  double constant[2] = {1.5, 0}, linear[2] = {0, -0.7}, l2 = -1, h1 = -1, measure = 0;
  RitzGeometry geometry = NULL;
  Problem p;

  CHECK_OK(create_problem(ceed, c, &p));
  const RitzKnownFunction f = by_dim[p.dim - 1];
  CHECK_OK(RitzGeometryCreate(p.mesh, -1, &geometry));
  CHECK_OK(RitzSpaceInterpolate(p.space, linear_twice, NULL, p.u));
  CHECK_OK(RitzMeshGetMeasure(p.mesh, &measure, NULL, NULL));
  CHECK_OK(RitzGeometryGetErrorNorms(geometry, ceed, p.space, p.u, 0, f, constant, &l2, &h1));
  CHECK_NEAR(l2, 1.5 * sqrt(measure), 500 * CEED_EPSILON, "shape %d", c->shape);
  CHECK(h1 <= 2000 * CEED_EPSILON, "gradients off by %g, shape %d", h1, c->shape);
  CHECK_OK(RitzGeometryGetErrorNorms(geometry, ceed, p.space, p.u, 0, f, linear, &l2, &h1));
  CHECK_NEAR(h1, 0.7 * sqrt(measure), 2000 * CEED_EPSILON, "shape %d", c->shape);
  CHECK_OK(RitzGeometryGetErrorNorms(geometry, ceed, p.space, p.u, 3, shifted, constant, &l2, NULL));
  CHECK_NEAR(l2, 1.5 * sqrt(measure), 500 * CEED_EPSILON, "without gradients, shape %d", c->shape);
  RitzGeometryDestroy(&geometry);
  destroy_problem(&p);
}

TEST_EACH_BACKEND(norms_of_known_errors_are_found) {
  for (int i = 0; i < NUM_CASES && !tap_failed(); i += tap_compiles_slowly(ceed) ? 6 : 1)
    check_norms(ceed, &cases[i]);
}

// ---- Refusals ----

static int fails(void *ctx, const double *x, double *values) {
  values[0] = values[1] = *(double *)ctx;
  return x[0] > 0.5 ? 3 : 0;
}

TEST(points_outside_and_wrong_functions_are_told) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const double x[2] = {-9, 1e99};
  double value = 1;
  CeedScalar values[4];
  int64_t num_missed = 0;
  CeedVector other = NULL;
  Problem p, q;

  CHECK_OK(create_problem(ceed, &cases[0], &p));
  CHECK_OK(create_problem(ceed, &cases[1], &q));
  CHECK_OK(CeedVectorSetValue(p.u, 1));
  CHECK_OK(RitzSpaceEvaluate(p.space, p.locator, p.u, 2, x, values, &num_missed));
  CHECK(num_missed == 2, "%d missed", (int)num_missed);
  for (int i = 0; i < 4; i++) CHECK(isnan(values[i]), "value %d is %g", i, (double)values[i]);
  CHECK_OK(RitzSpaceEvaluate(p.space, p.locator, p.u, 0, NULL, NULL, NULL));
  CHECK_ERROR(ceed, RitzSpaceEvaluate(p.space, p.locator, p.u, -1, x, values, NULL), CEED_ERROR_DIMENSION,
              "-1 points");
  CHECK_ERROR(ceed, RitzSpaceEvaluate(p.space, q.locator, p.u, 1, x, values, NULL), CEED_ERROR_INCOMPATIBLE,
              "another mesh");
  CHECK_OK(CeedVectorCreate(ceed, 3, &other));
  CHECK_ERROR(ceed, RitzSpaceEvaluate(p.space, p.locator, other, 1, x, values, NULL), CEED_ERROR_DIMENSION,
              "3 entries");
  CHECK_ERROR(ceed, RitzSpaceInterpolate(p.space, polynomial, &num_missed, other), CEED_ERROR_DIMENSION,
              "3 entries");
  CHECK_ERROR(ceed, RitzSpaceInterpolate(p.space, fails, &value, p.u), 3, "with code 3");
  value = NAN;
  CHECK_ERROR(ceed, RitzSpaceInterpolate(p.space, fails, &value, p.u), CEED_ERROR_MAJOR, "component 0");
  CHECK_ERROR(ceed, RitzSpaceInterpolate(p.space, NULL, NULL, p.u), CEED_ERROR_INCOMPATIBLE, "'f' is NULL");
  RitzGeometry geometry = NULL;
  double l2 = 0;
  CHECK_OK(RitzGeometryCreate(p.mesh, -1, &geometry));
  CHECK_ERROR(ceed, RitzGeometryGetErrorNorms(geometry, ceed, q.space, q.u, 0, shifted, &value, &l2, NULL),
              CEED_ERROR_INCOMPATIBLE, "another mesh");
  CHECK_ERROR(ceed, RitzGeometryGetErrorNorms(geometry, ceed, p.space, p.u, -2, shifted, &value, &l2, NULL),
              CEED_ERROR_INCOMPATIBLE, "-2 points");
  CHECK_ERROR(ceed, RitzGeometryGetErrorNorms(geometry, ceed, p.space, p.u, 0, NULL, NULL, &l2, NULL),
              CEED_ERROR_INCOMPATIBLE, "'f' is NULL");
  RitzGeometryDestroy(&geometry);
  CHECK_ERROR(ceed, RitzSpaceInterpolateOnBoundary(p.space, "inlet", polynomial, &num_missed, p.u),
              CEED_ERROR_INCOMPATIBLE, "inlet");
  CeedVectorDestroy(&other);
  destroy_problem(&p);
  destroy_problem(&q);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(interpolants_of_polynomials_have_their_values_everywhere,
                        boundary_values_leave_other_entries, reactions_are_fluxes_in_balance,
                        norms_of_known_errors_are_found, points_outside_and_wrong_functions_are_told));
}
