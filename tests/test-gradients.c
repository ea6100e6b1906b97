// SPDX-License-Identifier: BSD-2-Clause
// RitzGeometryCreateGradientOperator: gradients of polynomials are exact at the nodes of any space, on all
// shapes, curved and in space; means where elements differ; refusals.
#include <ritz/function.h>
#include <ritz/geometry.h>

#include "tests/reference.h"
#include "tests/shapes-kit.h"

typedef struct {
  int shape;
  CeedInt order, degree, to_degree;
  int num_regions; // geometry-kit.h
} Case;

// Affine elements have all polynomials of their degree, curved ones those of degree one in their coordinates.
static const Case cases[] = {
    {CEED_TOPOLOGY_LINE, 1, 4, 3, 1},
    {CEED_TOPOLOGY_LINE, 2, 2, 2, 3},
    {CEED_TOPOLOGY_TRIANGLE, 1, 4, 3, 1},
    {CEED_TOPOLOGY_QUAD, 1, 3, 2, 1},
    {CEED_TOPOLOGY_QUAD, 2, 3, 4, 3},
    {CEED_TOPOLOGY_TET, 1, 3, 2, 1},
    {CEED_TOPOLOGY_TET, 2, 3, 3, 3},
    {CEED_TOPOLOGY_PRISM, 1, 3, 2, 1},
    {CEED_TOPOLOGY_HEX, 1, 3, 2, 1},
    {CEED_TOPOLOGY_HEX, 2, 2, 1, 3},
    {CEED_TOPOLOGY_PYRAMID, 1, 3, 2, 1},
    {MIXED_PLANE, 1, 3, 3, 1},
    {MIXED_SOLID, 1, 2, 2, 1},
};
enum { NUM_CASES = sizeof(cases) / sizeof(cases[0]) };

typedef struct {
  RitzMesh mesh;
  RitzGeometry geometry;
  RitzSpace space, gradients;
  CeedVector u, g;
  CeedOperator op;
} Problem;

// Two components.
static int create_on(Ceed ceed, CeedInt space_dim, CeedInt degree, CeedInt to_degree, Problem *p) {
  CeedSize size = 0;

  RITZ_TRY(RitzGeometryCreate(p->mesh, -1, &p->geometry));
  RITZ_TRY(RitzSpaceCreate(p->mesh, degree, 2, &p->space));
  RITZ_TRY(RitzSpaceCreate(p->mesh, to_degree, 2 * space_dim, &p->gradients));
  RITZ_TRY(RitzSpaceGetSize(p->space, &size));
  RITZ_TRY(CeedVectorCreate(ceed, size, &p->u));
  RITZ_TRY(RitzSpaceGetSize(p->gradients, &size));
  RITZ_TRY(CeedVectorCreate(ceed, size, &p->g));
  return RitzGeometryCreateGradientOperator(p->geometry, ceed, p->space, p->gradients, &p->op);
}

static void destroy_problem(Problem *p) {
  CeedOperatorDestroy(&p->op);
  CeedVectorDestroy(&p->u);
  CeedVectorDestroy(&p->g);
  RitzSpaceDestroy(&p->space);
  RitzSpaceDestroy(&p->gradients);
  RitzGeometryDestroy(&p->geometry);
  RitzMeshDestroy(&p->mesh);
}

// ---- Polynomials ----

typedef struct {
  int degree;
  CeedInt dim;
} Polynomial;

// ((x_0 + x_last / 2)^degree, 2 - 3 x_0)
static int polynomial(void *ctx, const double *x, double *values) {
  const Polynomial *p = ctx;

  values[0] = pow(x[0] + 0.5 * x[p->dim - 1], p->degree);
  values[1] = 2 - 3 * x[0];
  return 0;
}

static int gradient(void *ctx, const double *x, double *values) {
  const Polynomial *p = ctx;
  const double slope = p->degree * pow(x[0] + 0.5 * x[p->dim - 1], p->degree - 1);

  for (CeedInt i = 0; i < 2 * p->dim; i++) values[i] = 0;
  values[0] = slope;
  values[p->dim - 1] += 0.5 * slope;
  values[p->dim] = -3;
  return 0;
}

static void check_against(const Problem *p, RitzFieldFunction f, void *ctx, double tolerance, int shape) {
  CeedSize size = 0;

  CHECK_OK(CeedOperatorApply(p->op, p->u, p->g, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(RitzSpaceGetSize(p->gradients, &size));
  double *found = reference_new_values(p->g);
  CHECK_OK(RitzSpaceInterpolate(p->gradients, f, ctx, p->g));
  double *wanted = reference_new_values(p->g);
  CHECK(reference_distance(size, found, wanted) <= tolerance, "shape %d: off by %g", shape,
        reference_distance(size, found, wanted));
  free(found);
  free(wanted);
}

static void check_case(Ceed ceed, const Case *c) {
  Polynomial f = {c->num_regions == 1 ? (int)c->degree : 1, dim_of(c->shape)};
  uint64_t seed = 5;
  RitzMeshDraft draft;
  Problem p = {0};
  MixedMap map = mixed_map(f.dim, c->num_regions, &seed);

  CHECK_OK(flat_draft(ceed, c->shape, c->order, &draft));
  CHECK_OK(build_mapped(ceed, &draft, &map, &p.mesh));
  CHECK_OK(create_on(ceed, f.dim, c->degree, c->to_degree, &p));
  CHECK_OK(RitzSpaceInterpolate(p.space, polynomial, &f, p.u));
  // values of some ten, times slopes of functions of degree 4 at most on a third of the size
  check_against(&p, gradient, &f, 5000 * eps, c->shape);
  destroy_problem(&p);
}

TEST_EACH_BACKEND(gradients_of_polynomials_are_exact_at_all_nodes) {
  for (int i = 0; i < NUM_CASES && !tap_failed(); i += tap_compiles_slowly(ceed) ? 4 : 1)
    check_case(ceed, &cases[i]);
}

// ---- A plane in space, with normal (-1, -1, 1) ----

// Of -3 x_0 + x_2 the part along the plane: (-3, 0, 1) less 4/3 (-1, -1, 1).
static int along_plane(void *ctx, const double *x, double *values) {
  static const double part[3] = {-3 + 4.0 / 3, 4.0 / 3, 1 - 4.0 / 3};

  (void)ctx, (void)x;
  for (int i = 0; i < 3; i++) values[i] = values[3 + i] = part[i];
  return 0;
}

static int sloping(void *ctx, const double *x, double *values) {
  (void)ctx;
  values[0] = values[1] = -3 * x[0] + x[2];
  return 0;
}

TEST_EACH_BACKEND(gradients_on_surfaces_lie_in_them) {
  RitzMeshDraft draft;
  Problem p = {0};

  CHECK_OK(flat_draft(ceed, MIXED_PLANE, 1, &draft));
  double *flat = draft.coords;
  draft.coords = NULL;
  draft.space_dim = 3;
  CHECK_OK(RITZ_CALLOC(NULL, (size_t)(draft.num_points * 3), &draft.coords));
  for (int64_t i = 0; i < draft.num_points; i++) {
    draft.coords[3 * i] = flat[2 * i];
    draft.coords[3 * i + 1] = flat[2 * i + 1];
    draft.coords[3 * i + 2] = flat[2 * i] + flat[2 * i + 1];
  }
  RITZ_FREE(&flat);
  CHECK_OK(ritz_mesh_build(ceed, "plane", &draft, &p.mesh));
  CHECK_OK(create_on(ceed, 3, 2, 1, &p));
  CHECK_OK(RitzSpaceInterpolate(p.space, sloping, NULL, p.u));
  check_against(&p, along_plane, NULL, 200 * eps, MIXED_PLANE);
  destroy_problem(&p);
}

// ---- Means ----

// |x - 1/2| on two elements: slopes -1 and 1, at the middle their mean 0.
static int bent(void *ctx, const double *x, double *values) {
  (void)ctx;
  values[0] = values[1] = fabs(x[0] - 0.5);
  return 0;
}

static int bent_slope(void *ctx, const double *x, double *values) {
  (void)ctx;
  values[0] = values[1] = x[0] < 0.49 ? -1 : x[0] > 0.51 ? 1 : 0;
  return 0;
}

TEST_EACH_BACKEND(elements_that_differ_give_their_mean) {
  Problem p = {0};

  CHECK_OK(RitzMeshCreateBox(ceed, 1, (CeedInt[]){2}, NULL, NULL, 1, NULL, NULL, &p.mesh));
  CHECK_OK(create_on(ceed, 1, 1, 2, &p));
  CHECK_OK(RitzSpaceInterpolate(p.space, bent, NULL, p.u));
  check_against(&p, bent_slope, NULL, 20 * eps, CEED_TOPOLOGY_LINE);
  destroy_problem(&p);
}

// ---- Refusals ----

TEST(spaces_that_do_not_fit_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const CeedInt n[2] = {1, 1};
  RitzSpace other = NULL;
  CeedOperator op = NULL;
  RitzMesh mesh = NULL;
  Problem p = {0};

  CHECK_OK(RitzMeshCreateBox(ceed, 2, n, NULL, NULL, 1, NULL, NULL, &p.mesh));
  CHECK_OK(RitzMeshCreateBox(ceed, 2, n, NULL, NULL, 1, NULL, NULL, &mesh));
  CHECK_OK(create_on(ceed, 2, 1, 1, &p));
  CHECK_OK(RitzSpaceCreate(mesh, 1, 4, &other));
  CHECK_ERROR(ceed, RitzGeometryCreateGradientOperator(p.geometry, ceed, p.space, p.space, &op),
              CEED_ERROR_INCOMPATIBLE, "has 2 components, needed 2 * 2");
  CHECK_ERROR(ceed, RitzGeometryCreateGradientOperator(p.geometry, ceed, p.space, other, &op),
              CEED_ERROR_INCOMPATIBLE, "the space 'gradients' is on another mesh");
  CHECK_ERROR(ceed, RitzGeometryCreateGradientOperator(p.geometry, ceed, other, p.gradients, &op),
              CEED_ERROR_INCOMPATIBLE, "the space 'space' is on another mesh");
  CHECK(!op, "nothing was made");
  destroy_problem(&p);
  RitzSpaceDestroy(&other);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(gradients_of_polynomials_are_exact_at_all_nodes, gradients_on_surfaces_lie_in_them,
                        elements_that_differ_give_their_mean, spaces_that_do_not_fit_are_refused));
}
