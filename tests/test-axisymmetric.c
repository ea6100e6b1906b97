// SPDX-License-Identifier: BSD-2-Clause
// Bodies of revolution in the library (is_axisymmetric of ritz/geometry.h): volumes and areas, the same
// operators under all policies, functions of the position, nodes on the axis, what is refused.
#include <ritz/form.h>

#include "tests/axisymmetric-qfunctions.h"
#include "tests/geometry-kit.h"

static const double pi = 3.14159265358979323846;

// Thirds of a section that are affine, bilinear, curved, from x = 0 on.
static int bend_section(void *ctx, CeedInt dim, const double *X, double *x) {
  const double bend = fmax(X[0] - 1.0 / 3, 0), curve = fmax(X[0] - 2.0 / 3, 0);

  (void)ctx;
  (void)dim;
  x[0] = X[0] + 0.6 * bend * X[1] + 0.4 * curve * curve;
  x[1] = X[1] + 0.3 * X[0] - 0.5 * curve * curve;
  return 0;
}

static int make_section(Ceed ceed, CeedInt order, CeedElemTopology shape, RitzMesh *mesh) {
  RitzMesh quads = NULL;

  RITZ_TRY(RitzMeshCreateBox(ceed, 2, mixed_size, NULL, NULL, order, bend_section, NULL, &quads));
  if (shape == CEED_TOPOLOGY_QUAD) {
    *mesh = quads;
    return CEED_ERROR_SUCCESS;
  }
  const int ierr = RitzMeshSplit(quads, shape, mesh);

  RitzMeshDestroy(&quads);
  return ierr;
}

typedef struct {
  Ceed ceed; // borrowed
  RitzMesh mesh;
  RitzGeometry geometry;
  RitzSpace space;
  CeedSize size;
} Body;

static int create_body(Ceed ceed, CeedInt order, CeedElemTopology shape, CeedInt degree, CeedInt num_comp,
                       Body *b) {
  *b = (Body){.ceed = ceed};
  RITZ_TRY(make_section(ceed, order, shape, &b->mesh));
  RITZ_TRY(RitzGeometryCreate(b->mesh, -1, &b->geometry));
  RITZ_TRY(RitzSpaceCreate(b->mesh, degree, num_comp, &b->space));
  return RitzSpaceGetSize(b->space, &b->size);
}

static void destroy_body(Body *b) {
  RitzSpaceDestroy(&b->space);
  RitzGeometryDestroy(&b->geometry);
  RitzMeshDestroy(&b->mesh);
}

// The sum of op u, u constant; NULL: without input.
static double total(CeedOperator op, CeedSize size, bool has_input) {
  CeedVector u = NULL, v = NULL;
  CeedScalar *values = NULL;
  CeedSize num = size;
  double sum = NAN;

  if (CeedVectorCreate(CeedOperatorReturnCeed(op), num, &u) || CeedVectorSetValue(u, 1) ||
      CeedVectorCreate(CeedOperatorReturnCeed(op), num, &v) ||
      CeedOperatorApply(op, has_input ? u : CEED_VECTOR_NONE, v, CEED_REQUEST_IMMEDIATE))
    return NAN;
  if (!CeedVectorGetArray(v, CEED_MEM_HOST, &values)) {
    sum = 0;
    for (CeedSize i = 0; i < num; i++) sum += (double)values[i];
    CeedVectorRestoreArray(v, &values);
  }
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  return sum;
}

// ---- Volumes and areas ----

// What a point of the outline of the section adds: pi x^2 dy, 2 pi x ds.
static double ring(const double *x, const double *step, bool is_area) {
  return is_area ? 2 * pi * x[0] * hypot(step[0], step[1]) : pi * x[0] * x[0] * step[1];
}

// Along the outline, each edge of the box between its multiples of a third (where the map changes) by so many
// points that rounding is all that is wrong with polynomials.
static double around(bool is_area) {
  static const double points[3] = {-0.7745966692414834, 0, 0.7745966692414834}, weights[3] = {5, 8, 5};
  static const double corners[5][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}};
  const double h = 1e-3; // differences of polynomials of degree 2 are exact
  double sum = 0;

  for (int i = 0; i < 4 * 3 * 3; i++) {
    const double *from = corners[i / 9], *to = corners[i / 9 + 1];
    const double t = (i / 3 % 3 + 0.5 + points[i % 3] / 2) / 3;
    double x[3][2], step[2]; // before, at and after the point

    for (int k = 0; k < 3; k++) {
      const double part = t + (k - 1) * h;
      const double X[2] = {from[0] + part * (to[0] - from[0]), from[1] + part * (to[1] - from[1])};

      bend_section(NULL, 2, X, x[k]);
    }
    for (int d = 0; d < 2; d++) step[d] = (x[2][d] - x[0][d]) / (2 * h);
    sum += ring(x[1], step, is_area) * weights[i % 3] / 18 / 3;
  }
  return sum;
}

static const CeedElemTopology shapes[] = {CEED_TOPOLOGY_QUAD, CEED_TOPOLOGY_TRIANGLE};

TEST_EACH_BACKEND(the_mass_of_one_is_the_volume) {
  // By the divergence theorem; differences over 2e-3 in double, sums of some hundred numbers.
  const double wanted = around(false), tolerance = fmax(1e-11, 500 * CEED_EPSILON);

  for (int s = 0; s < 2; s++) {
    Body b;
    CeedOperator op = NULL;

    CHECK_OK(create_body(ceed, 2, shapes[s], 1, 1, &b));
    const RitzOperatorOptions options = {
        .kind = RITZ_OPERATOR_MASS, .space = b.space, .num_points = 4, .is_axisymmetric = true};
    CHECK_OK(RitzGeometryCreateOperator(b.geometry, ceed, &options, &op));
    CHECK_NEAR(total(op, b.size, true), wanted, tolerance, "shape %d", s);
    CeedOperatorDestroy(&op);
    destroy_body(&b);
  }
}

static const char area_text[] = RITZ_TEXT(CEED_QFUNCTION_HELPER void area(const void *ctx, CeedScalar v[1]) {
  (void)ctx;
  v[0] = 1;
});

// With the gradient of a function, so that elements stand for their facets.
static const char element_area_text[] = RITZ_TEXT(
    CEED_QFUNCTION_HELPER void element_area(const void *ctx, const CeedScalar grad_u[1][2], CeedScalar v[1]) {
      (void)ctx;
      v[0] = 1 + 0 * grad_u[0][0];
    });

TEST_EACH_BACKEND(the_integral_of_one_over_the_boundary_is_the_area) {
  for (int k = 0; k < 4; k++) {
    // Facets at x = 0 have no area; of curved ones the length is no polynomial.
    const bool has_gradient = k % 2 != 0;
    const double wanted = around(true);
    Body b;
    CeedOperator op = NULL;

    CHECK_OK(create_body(ceed, 2, shapes[k / 2], 1, 1, &b));
    const RitzFormField in = {.name = "u", .what = RITZ_FORM_GRADIENT, .space = b.space},
                        out = {.name = "v", .what = RITZ_FORM_VALUE, .space = b.space};
    const RitzForm form = {has_gradient ? element_area_text : area_text,
                           has_gradient ? "element_area" : "area",
                           0,
                           has_gradient,
                           &in,
                           1,
                           &out};
    const RitzBoundaryOptions options = {.space = b.space, .num_points = 8, .is_axisymmetric = true};
    CHECK_OK(RitzGeometryCreateBoundaryFormOperator(b.geometry, ceed, &options, &form, NULL, &op));
    CHECK_NEAR(total(op, b.size, has_gradient), wanted, 1e-3 * wanted, "case %d", k);
    CeedOperatorDestroy(&op);
    destroy_body(&b);
  }
}

// ---- Policies ----

static int twice_around(void *ctx, const double *x, double *value) {
  *value = *(const double *)ctx * 2 * pi * x[0];
  return 0;
}

static const double lambda = 1.7, mu = 0.6;

static int create_by_hand(const Body *b, RitzOperatorKind kind, CeedOperator *op) {
  const RitzOperatorOptions options = {.kind = kind,
                                       .space = b->space,
                                       .policy = RITZ_POLICY_STORED,
                                       .lambda_function = twice_around,
                                       .lambda_ctx = (void *)&lambda,
                                       .mu_function = twice_around,
                                       .mu_ctx = (void *)&mu};
  return RitzGeometryCreateOperator(b->geometry, b->ceed, &options, op);
}

static double largest(CeedSize n, const double *values) {
  double most = 0;

  for (CeedSize i = 0; i < n; i++) most = fmax(most, fabs(values[i]));
  return most;
}

static double difference(CeedSize n, const double *a, const double *b) {
  double most = 0;

  for (CeedSize i = 0; i < n; i++) most = tap_larger(most, fabs(a[i] - b[i]));
  return most;
}

// Backends whose kernels are compiled one by one look at fewer cases.
static bool is_short(Ceed ceed) {
  const char *resource = "";

  CeedGetResource(ceed, &resource);
  return tap_level() == TAP_QUICK && (strstr(resource, "/gpu/") || strstr(resource, "/gen"));
}

TEST_EACH_BACKEND(operators_have_the_circumference_in_their_coefficients) {
  Ceed plain = tap_ceed("/cpu/self/ref");
  uint64_t seed = 8;
  Body b, reference;

  CHECK_OK(create_body(plain, 2, CEED_TOPOLOGY_QUAD, 2, 1, &reference));
  CHECK_OK(create_body(ceed, 2, CEED_TOPOLOGY_QUAD, 2, 1, &b));
  double *u = reference_new_random(b.size, &seed);

  for (int kind = is_short(ceed) ? RITZ_OPERATOR_HELMHOLTZ : RITZ_OPERATOR_MASS;
       kind <= RITZ_OPERATOR_HELMHOLTZ; kind++) {
    CeedOperator by_hand = NULL;

    CHECK_OK(create_by_hand(&reference, (RitzOperatorKind)kind, &by_hand));
    double *wanted = apply_operator(by_hand, b.size, u);

    for (int policy = RITZ_POLICY_AUTO; policy <= RITZ_POLICY_ISOPARAMETRIC; policy++) {
      const RitzOperatorOptions options = {.kind = (RitzOperatorKind)kind,
                                           .space = b.space,
                                           .policy = (RitzGeometryPolicy)policy,
                                           .lambda = lambda,
                                           .mu = mu,
                                           .is_axisymmetric = true};
      CeedOperator op = NULL;

      CHECK_OK(RitzGeometryCreateOperator(b.geometry, ceed, &options, &op));
      double *found = apply_operator(op, b.size, u);
      // Sums of some products.
      CHECK_NEAR(difference(b.size, found, wanted), 0, 500 * CEED_EPSILON * largest(b.size, wanted), "%s, %s",
                 kind_name((RitzOperatorKind)kind), RitzGeometryPolicyName((RitzGeometryPolicy)policy));
      free(found);
      CeedOperatorDestroy(&op);
    }
    free(wanted);
    CeedOperatorDestroy(&by_hand);
  }
  free(u);
  destroy_body(&b);
  destroy_body(&reference);
  CeedDestroy(&plain);
}

// The Helmholtz operator of by_hand as a form.
static const char isotropic_text[] =
    RITZ_TEXT(CEED_QFUNCTION_HELPER void isotropic(const void *ctx, const CeedScalar u[1],
                                                   const CeedScalar grad_u[1][2], CeedScalar v[1],
                                                   CeedScalar grad_v[1][2]) {
      v[0] = (CeedScalar)1.7 * u[0];
      for (int d = 0; d < 2; d++) grad_v[0][d] = (CeedScalar)0.6 * grad_u[0][d];
    });

TEST_EACH_BACKEND(an_isotropic_form_is_over_the_whole_body) {
  uint64_t seed = 9;
  CeedOperator by_hand = NULL;
  Body b;

  CHECK_OK(create_body(ceed, 2, CEED_TOPOLOGY_QUAD, 2, 1, &b));
  CHECK_OK(create_by_hand(&b, RITZ_OPERATOR_HELMHOLTZ, &by_hand));
  const RitzFormField u = {.name = "u", .what = RITZ_FORM_BOTH, .space = b.space},
                      v = {.name = "v", .what = RITZ_FORM_BOTH, .space = b.space};
  const RitzForm form = {isotropic_text, "isotropic", RITZ_FORM_ISOTROPIC, 1, &u, 1, &v};
  double *x = reference_new_random(b.size, &seed), *wanted = apply_operator(by_hand, b.size, x);

  for (int policy = RITZ_POLICY_AUTO; policy <= RITZ_POLICY_AFFINE; policy++) {
    const RitzOperatorOptions options = {
        .space = b.space, .policy = (RitzGeometryPolicy)policy, .is_axisymmetric = true};
    CeedOperator op = NULL;

    CHECK_OK(RitzGeometryCreateFormOperator(b.geometry, ceed, &options, &form, NULL, &op));
    double *found = apply_operator(op, b.size, x);
    // Sums of some products.
    CHECK_NEAR(difference(b.size, found, wanted), 0, 500 * CEED_EPSILON * largest(b.size, wanted), "%s",
               RitzGeometryPolicyName((RitzGeometryPolicy)policy));
    free(found);
    CeedOperatorDestroy(&op);
  }
  free(x);
  free(wanted);
  CeedOperatorDestroy(&by_hand);
  destroy_body(&b);
}

static const RitzPointFunction rings = RITZ_POSITION_FUNCTION_TABLE(axisymmetric_rings, 2, 2);

static int create_rings(const Body *b, RitzGeometryPolicy policy, CeedOperator *op) {
  const RitzOperatorOptions options = {.space = b->space, .policy = policy, .is_axisymmetric = true};
  CeedScalar data = (CeedScalar)1.2;
  CeedQFunctionContext ctx = NULL;

  RITZ_TRY(CeedQFunctionContextCreate(b->ceed, &ctx));
  int ierr = CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(data), &data);

  if (!ierr) ierr = RitzGeometryCreatePointOperator(b->geometry, b->ceed, &options, &rings, ctx, op);
  CeedQFunctionContextDestroy(&ctx);
  return ierr;
}

TEST_EACH_BACKEND(functions_of_the_position_do_not_depend_on_the_policy) {
  static const RitzGeometryPolicy policies[] = {RITZ_POLICY_AUTO, RITZ_POLICY_STORED, RITZ_POLICY_AFFINE,
                                                RITZ_POLICY_TRILINEAR, RITZ_POLICY_ISOPARAMETRIC};
  Ceed plain = tap_ceed("/cpu/self/ref");
  uint64_t seed = 4;

  for (int s = 0; s < (is_short(ceed) ? 1 : 2); s++) {
    CeedOperator stored = NULL;
    Body b, reference;

    CHECK_OK(create_body(plain, 2, shapes[s], 2, 2, &reference));
    CHECK_OK(create_body(ceed, 2, shapes[s], 2, 2, &b));
    double *u = reference_new_random(b.size, &seed);
    CHECK_OK(create_rings(&reference, RITZ_POLICY_STORED, &stored));
    double *wanted = apply_operator(stored, b.size, u);

    for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
      CeedOperator op = NULL;

      CHECK_OK(create_rings(&b, policies[i], &op));
      double *found = apply_operator(op, b.size, u);
      CHECK_NEAR(difference(b.size, found, wanted), 0, 500 * CEED_EPSILON * largest(b.size, wanted), "%s",
                 RitzGeometryPolicyName(policies[i]));
      free(found);
      CeedOperatorDestroy(&op);
    }
    free(u);
    free(wanted);
    CeedOperatorDestroy(&stored);
    destroy_body(&b);
    destroy_body(&reference);
  }
  CeedDestroy(&plain);
}

// The moment of the weights, by functions that get position and weight.
static const char moment_text[] =
    RITZ_TEXT(CEED_QFUNCTION_HELPER void moment(const void *ctx, const CeedScalar x[2], const CeedScalar w[1],
                                                CeedScalar v[1], CeedScalar numbers[1]) {
      (void)ctx;
      v[0] = x[1];
      numbers[0] = w[0] * x[1];
    });

TEST_EACH_BACKEND(weights_of_forms_are_those_of_the_body) {
  Body b;
  CeedOperator op = NULL;
  CeedVector numbers = NULL, v = NULL;
  double sums[2] = {0, 0};

  CHECK_OK(create_body(ceed, 2, CEED_TOPOLOGY_QUAD, 2, 1, &b));
  const RitzOperatorOptions options = {.space = b.space, .is_axisymmetric = true};
  CHECK_OK(RitzGeometryCreatePointNumbers(b.geometry, ceed, &options, 1, &numbers));
  CHECK_OK(CeedVectorCreate(ceed, b.size, &v));
  const RitzFormField out[] = {
      {.name = "v", .what = RITZ_FORM_VALUE, .space = b.space},
      {.name = "numbers", .what = RITZ_FORM_NUMBERS, .num_numbers = 1, .vector = numbers}};
  const RitzForm form = {moment_text, "moment", RITZ_FORM_POSITION | RITZ_FORM_WEIGHT, 0, NULL, 2, out};
  CHECK_OK(RitzGeometryCreateFormOperator(b.geometry, ceed, &options, &form, NULL, &op));
  CHECK_OK(CeedOperatorApply(op, CEED_VECTOR_NONE, v, CEED_REQUEST_IMMEDIATE));
  for (int i = 0; i < 2; i++) {
    const CeedScalar *array = NULL;
    CeedVector vector = i ? numbers : v;
    CeedSize num = 0;

    CHECK_OK(CeedVectorGetLength(vector, &num));
    CHECK_OK(CeedVectorGetArrayRead(vector, CEED_MEM_HOST, &array));
    for (CeedSize k = 0; k < num; k++) sums[i] += (double)array[k];
    CHECK_OK(CeedVectorRestoreArrayRead(vector, &array));
  }
  // Sums of a hundred numbers, of a few units together.
  CHECK(sums[0] > 0.5, "found %g", sums[0]);
  CHECK_NEAR(sums[0], sums[1], 500 * CEED_EPSILON, "what is tested by one, and what the function sums up");
  CeedVectorDestroy(&v);
  CeedVectorDestroy(&numbers);
  CeedOperatorDestroy(&op);
  destroy_body(&b);
}

// ---- The axis ----

TEST(nodes_of_the_axis_are_those_at_x_0) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const RitzFixedPart parts[] = {{.is_axis = true, .num_comp = 1, .comp = {1}},
                                 {.part = "xmin", .num_comp = 1, .comp = {1}}};

  for (int s = 0; s < 2; s++) {
    RitzIndices found = NULL, wanted = NULL;
    const int64_t *at[2] = {NULL, NULL};
    int64_t num[2] = {0, 0};
    Body b;

    CHECK_OK(create_body(ceed, 2, shapes[s], 3, 2, &b));
    CHECK_OK(RitzSpaceCreateConstraints(b.space, ceed, 1, &parts[0], &found));
    CHECK_OK(RitzSpaceCreateConstraints(b.space, ceed, 1, &parts[1], &wanted));
    CHECK_OK(RitzIndicesGet(found, &num[0], &at[0]));
    CHECK_OK(RitzIndicesGet(wanted, &num[1], &at[1]));
    CHECK(num[0] == num[1] && num[0] == 2 * 3 + 1, "%lld nodes", (long long)num[0]);
    CHECK(!memcmp(at[0], at[1], (size_t)num[0] * sizeof(int64_t)), "others than on xmin, shape %d", s);
    RitzIndicesDestroy(&found);
    RitzIndicesDestroy(&wanted);
    destroy_body(&b);
  }
  CeedDestroy(&ceed);
}

TEST(an_axis_with_a_name_is_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const RitzFixedPart named = {.part = "xmin", .is_axis = true},
                      beyond = {.is_axis = true, .num_comp = 1, .comp = {2}};
  RitzIndices constraints = NULL;
  Body b;

  CHECK_OK(create_body(ceed, 1, CEED_TOPOLOGY_QUAD, 1, 2, &b));
  CHECK_ERROR(ceed, RitzSpaceCreateConstraints(b.space, ceed, 1, &named, &constraints),
              CEED_ERROR_INCOMPATIBLE, "part 0 is the axis, but has the name 'xmin'");
  CHECK_ERROR(ceed, RitzSpaceCreateConstraints(b.space, ceed, 1, &beyond, &constraints), CEED_ERROR_DIMENSION,
              "component 2 of part 'x = 0', the space has 2");
  destroy_body(&b);
  CeedDestroy(&ceed);
}

// ---- What is refused ----

static int shift(void *ctx, CeedInt dim, const double *X, double *x) {
  for (CeedInt d = 0; d < dim; d++) x[d] = X[d];
  x[0] += *(const double *)ctx;
  return 0;
}

// The edge at x = 0 of degree 3 has its nodes there, but for one beside it: between them it is beyond the
// axis.
static int dip(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  for (CeedInt d = 0; d < dim; d++) x[d] = X[d];
  x[0] += (1 - X[0]) * fmax(0, 1 - fabs(9 * X[1] - 3)) * 0.8;
  return 0;
}

static void refuse(Ceed ceed, CeedInt dim, CeedInt order, RitzMapFunction map, double by, int code,
                   const char *volume, const char *boundary) {
  const CeedInt n[3] = {1, 1, 1};
  RitzMesh mesh = NULL;
  RitzGeometry geometry = NULL;
  RitzSpace space = NULL;
  CeedOperator op = NULL;

  CHECK_OK(RitzMeshCreateBox(ceed, dim, n, NULL, NULL, order, map, &by, &mesh));
  CHECK_OK(RitzGeometryCreate(mesh, -1, &geometry));
  CHECK_OK(RitzSpaceCreate(mesh, 5, 1, &space));
  const RitzOperatorOptions options = {.kind = RITZ_OPERATOR_MASS, .space = space, .is_axisymmetric = true};
  CHECK_ERROR(ceed, RitzGeometryCreateOperator(geometry, ceed, &options, &op), code, volume);
  CHECK(!op, "an operator after a failure");
  if (boundary) {
    const RitzFormField out = {.name = "v", .what = RITZ_FORM_VALUE, .space = space};
    const RitzForm form = {area_text, "area", 0, 0, NULL, 1, &out};
    const RitzBoundaryOptions on = {.space = space, .is_axisymmetric = true};

    CHECK_ERROR(ceed, RitzGeometryCreateBoundaryFormOperator(geometry, ceed, &on, &form, NULL, &op), code,
                boundary);
  }
  RitzSpaceDestroy(&space);
  RitzGeometryDestroy(&geometry);
  RitzMeshDestroy(&mesh);
}

TEST(sections_beyond_the_axis_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  refuse(ceed, 2, 1, shift, -0.25, CEED_ERROR_INCOMPATIBLE,
         "RitzGeometryCreateOperator: a body of revolution about x = 0 needs a mesh with x >= 0, found a "
         "node at "
         "(-0.25, 0)",
         "RitzGeometryCreateBoundaryFormOperator: a body of revolution about x = 0 needs a mesh with x >= 0");
  refuse(ceed, 2, 3, dip, 0, CEED_ERROR_INCOMPATIBLE,
         "needs elements with x >= 0, found one that bends to (-", NULL);
  refuse(ceed, 3, 1, shift, 0, CEED_ERROR_UNSUPPORTED,
         "a body of revolution needs a mesh of the plane, found one in space of dimension 3",
         "a body of revolution needs a mesh of the plane, found one in space of dimension 3");
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(the_mass_of_one_is_the_volume, the_integral_of_one_over_the_boundary_is_the_area,
                        operators_have_the_circumference_in_their_coefficients,
                        an_isotropic_form_is_over_the_whole_body,
                        functions_of_the_position_do_not_depend_on_the_policy,
                        weights_of_forms_are_those_of_the_body, nodes_of_the_axis_are_those_at_x_0,
                        an_axis_with_a_name_is_refused, sections_beyond_the_axis_are_refused));
}
