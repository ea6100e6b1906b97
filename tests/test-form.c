// SPDX-License-Identifier: BSD-2-Clause
// Forms (ritz/form.h) on affine, multilinear and curved elements of all shapes: they are the operators of
// ritz/geometry.h with the same coefficients, whichever way these come; adjoint forms, functionals,
// derivatives, boundary parts, refusals.
#include <ritz/derivative.h>
#include <ritz/form.h>
#include <ritz/function.h>

#include "tests/shapes-kit.h"

// The text for a dimension, in one of a few buffers that take turns.
static const char *text_in(CeedInt dim, const char *text) {
  static char buffers[4][1000];
  static int turn;
  char *buffer = buffers[turn++ % 4];

  snprintf(buffer, sizeof(buffers[0]), "enum { DIM = %d };\n%s", (int)dim, text);
  return buffer;
}

// ---- Cases ----

typedef struct {
  int shape; // topology, or a mixture
  CeedInt order, degree;
  int num_regions; // 1: affine, 2: and multilinear, 3: and curved (geometry-kit.h)
} Case;

static const Case cases[] = {{CEED_TOPOLOGY_LINE, 2, 3, 3},
                             {CEED_TOPOLOGY_HEX, 2, 2, 3},
                             {MIXED_PLANE, 2, 2, 3},
                             {MIXED_SOLID, 2, 2, 3}};
enum { NUM_CASES = sizeof(cases) / sizeof(cases[0]) };

typedef struct {
  Ceed ceed; // borrowed
  RitzMesh mesh;
  RitzGeometry geometry;
  RitzSpace space;
  CeedInt dim;
  CeedSize size;
} Problem;

static int create_problem(Ceed ceed, const Case *c, Problem *p) {
  uint64_t seed = 5;
  MixedMap map = mixed_map(dim_of(c->shape), c->num_regions, &seed);
  RitzMeshDraft draft;

  *p = (Problem){.ceed = ceed, .dim = dim_of(c->shape)};
  RITZ_TRY(flat_draft(ceed, c->shape, c->order, &draft));
  RITZ_TRY(build_mapped(ceed, &draft, &map, &p->mesh));
  RITZ_TRY(RitzGeometryCreate(p->mesh, -1, &p->geometry));
  RITZ_TRY(RitzSpaceCreate(p->mesh, c->degree, 1, &p->space));
  return RitzSpaceGetSize(p->space, &p->size);
}

static void destroy_problem(Problem *p) {
  RitzSpaceDestroy(&p->space);
  RitzGeometryDestroy(&p->geometry);
  RitzMeshDestroy(&p->mesh);
}

// Sums of as many products as a vector has entries, of that size; inverse Jacobians lose a digit or two.
static double tolerance(CeedSize n, const double *values) {
  double most = 0;

  for (CeedSize i = 0; i < n; i++) most = fmax(most, fabs(values[i]));
  return 2000 * CEED_EPSILON * fmax(most, 1e-3);
}

// y = op x of other lengths; x NULL: no active input. NaN after a failure.
static double *apply(CeedOperator op, CeedSize n, const double *x, CeedSize m) {
  CeedVector in = x ? reference_vector(CeedOperatorReturnCeed(op), n, x) : NULL, out = NULL;
  double *y = reference_new(m);

  for (CeedSize i = 0; i < m; i++) y[i] = NAN;
  CeedVectorCreate(CeedOperatorReturnCeed(op), m, &out);
  if (!CeedOperatorApply(op, in ? in : CEED_VECTOR_NONE, out, CEED_REQUEST_IMMEDIATE))
    reference_values(out, y);
  CeedVectorDestroy(&in);
  CeedVectorDestroy(&out);
  return y;
}

static double product(CeedSize n, const double *x, const double *y) {
  double sum = 0;

  for (CeedSize i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

// Compilers of devices take their time: two cases there.
static int num_cases(Ceed ceed) {
  const char *resource = "";

  CeedGetResource(ceed, &resource);
  return strncmp(resource, "/gpu/", 5) ? NUM_CASES : 2;
}

// ---- One operator in three ways ----

static int coefficient(void *ctx, const double *x, double *value) {
  const CeedInt dim = *(const CeedInt *)ctx;

  *value = 1 + x[0];
  for (CeedInt d = 1; d < dim; d++) *value += (d + 1) * 0.25 * x[d];
  return 0;
}

static int coefficient_at_nodes(void *ctx, const double *x, double *values) {
  return coefficient(ctx, x, values);
}

// k u phi + k grad u . grad phi; k from the position, a function in a space, or numbers at points
static const char by_position[] =
    RITZ_TEXT(CEED_QFUNCTION_HELPER void helmholtz(const void *ctx, const CeedScalar x[DIM],
                                                   const CeedScalar u[1], const CeedScalar grad_u[1][DIM],
                                                   CeedScalar v[1], CeedScalar grad_v[1][DIM]) {
      CeedScalar k = 1 + x[0];
      for (int d = 1; d < DIM; d++) k += (d + 1) * (CeedScalar)0.25 * x[d];
      v[0] = k * u[0];
      for (int d = 0; d < DIM; d++) grad_v[0][d] = k * grad_u[0][d];
    });
static const char by_coefficient[] =
    RITZ_TEXT(CEED_QFUNCTION_HELPER void helmholtz(const void *ctx, const CeedScalar k[1],
                                                   const CeedScalar u[1], const CeedScalar grad_u[1][DIM],
                                                   CeedScalar v[1], CeedScalar grad_v[1][DIM]) {
      v[0] = k[0] * u[0];
      for (int d = 0; d < DIM; d++) grad_v[0][d] = k[0] * grad_u[0][d];
    });
static const char to_numbers[] =
    RITZ_TEXT(CEED_QFUNCTION_HELPER void sample(const void *ctx, const CeedScalar x[DIM], CeedScalar k[1]) {
      k[0] = 1 + x[0];
      for (int d = 1; d < DIM; d++) k[0] += (d + 1) * (CeedScalar)0.25 * x[d];
    });

typedef enum { POSITION, FUNCTION, NUMBERS } Way;

// *k: the space's interpolant of degree 1, exact where elements are affine; or numbers, by another form.
static int create_coefficient(const Problem *p, const RitzOperatorOptions *options, Way way, RitzSpace linear,
                              CeedVector *k) {
  CeedSize size = 0;

  if (way == FUNCTION) {
    RITZ_TRY(RitzSpaceGetSize(linear, &size));
    RITZ_TRY(CeedVectorCreate(p->ceed, size, k));
    return RitzSpaceInterpolate(linear, coefficient_at_nodes, (void *)&p->dim, *k);
  }
  const RitzFormField out = {.name = "k", .what = RITZ_FORM_NUMBERS, .num_numbers = 1};
  const RitzForm form = {text_in(p->dim, to_numbers), "sample", RITZ_FORM_POSITION, 0, NULL, 1, &out};
  CeedOperator op = NULL;

  RITZ_TRY(RitzGeometryCreatePointNumbers(p->geometry, p->ceed, options, 1, k));
  int ierr = RitzGeometryCreateFormOperator(p->geometry, p->ceed, options, &form, NULL, &op);

  if (!ierr) ierr = CeedOperatorApply(op, CEED_VECTOR_NONE, *k, CEED_REQUEST_IMMEDIATE);
  CeedOperatorDestroy(&op);
  return ierr;
}

static double *apply_way(const Problem *p, const RitzOperatorOptions *options, Way way, bool is_isotropic,
                         const double *u) {
  RitzFormField in[2], out = {.name = "v", .what = RITZ_FORM_BOTH, .space = p->space};
  const RitzFormField unknown = {.name = "u", .what = RITZ_FORM_BOTH, .space = p->space};
  RitzForm form = {text_in(p->dim, by_position), "helmholtz", RITZ_FORM_POSITION, 1, in, 1, &out};
  RitzSpace linear = NULL;
  CeedVector k = NULL;
  CeedOperator op = NULL;
  double *y = NULL;

  in[0] = in[1] = unknown;
  if (way != POSITION) {
    if (RitzSpaceCreate(p->mesh, 1, 1, &linear) || create_coefficient(p, options, way, linear, &k))
      return NULL;
    in[0] = way == FUNCTION
                ? (RitzFormField){.name = "k", .what = RITZ_FORM_VALUE, .space = linear, .vector = k}
                : (RitzFormField){.name = "k", .what = RITZ_FORM_NUMBERS, .num_numbers = 1, .vector = k};
    form = (RitzForm){text_in(p->dim, by_coefficient), "helmholtz", 0, 2, in, 1, &out};
  }
  if (is_isotropic) form.gets |= RITZ_FORM_ISOTROPIC;
  if (!RitzGeometryCreateFormOperator(p->geometry, p->ceed, options, &form, NULL, &op))
    y = apply(op, p->size, u, p->size);
  CeedOperatorDestroy(&op);
  CeedVectorDestroy(&k);
  RitzSpaceDestroy(&linear);
  return y;
}

static double *apply_standard(const Problem *p, const double *u) {
  const RitzOperatorOptions options = {.kind = RITZ_OPERATOR_HELMHOLTZ,
                                       .space = p->space,
                                       .policy = RITZ_POLICY_STORED,
                                       .lambda_function = coefficient,
                                       .mu_function = coefficient,
                                       .lambda_ctx = (void *)&p->dim,
                                       .mu_ctx = (void *)&p->dim};
  CeedOperator op = NULL;
  double *y = NULL;

  if (!RitzGeometryCreateOperator(p->geometry, p->ceed, &options, &op)) y = apply(op, p->size, u, p->size);
  CeedOperatorDestroy(&op);
  return y;
}

static void check_ways(Ceed ceed, const Case *c, RitzGeometryPolicy policy, bool is_isotropic, Way last) {
  uint64_t seed = 11;
  Problem p;

  CHECK_OK(create_problem(ceed, c, &p));
  const RitzOperatorOptions options = {.space = p.space, .policy = policy};
  double *u = reference_new_random(p.size, &seed), *wanted = apply_standard(&p, u);

  CHECK(wanted, "no reference");
  for (Way way = POSITION; way <= last && !tap_failed(); way++) {
    if (way == FUNCTION && c->num_regions > 1) continue;
    double *y = apply_way(&p, &options, way, is_isotropic, u);

    CHECK(y, "shape %d, %s, way %d: no operator", c->shape, RitzGeometryPolicyName(policy), (int)way);
    CHECK_NEAR(reference_distance(p.size, y, wanted), 0, tolerance(p.size, wanted), "shape %d, %s, way %d",
               c->shape, RitzGeometryPolicyName(policy), (int)way);
    free(y);
  }
  free(u);
  free(wanted);
  destroy_problem(&p);
}

TEST_EACH_BACKEND(a_coefficient_by_position_or_numbers_is_that_of_the_standard_operator) {
  for (int i = 0; i < num_cases(ceed) && !tap_failed(); i++)
    check_ways(ceed, &cases[i], RITZ_POLICY_AUTO, false, NUMBERS);
}

TEST_EACH_BACKEND(a_form_does_not_depend_on_the_policy) {
  static const RitzGeometryPolicy policies[] = {RITZ_POLICY_STORED, RITZ_POLICY_AFFINE, RITZ_POLICY_TRILINEAR,
                                                RITZ_POLICY_ISOPARAMETRIC};

  for (int i = 0; i < num_cases(ceed) && !tap_failed(); i++)
    check_ways(ceed, &cases[1], policies[i], false, POSITION);
}

TEST_EACH_BACKEND(a_linear_coefficient_may_be_a_function_of_degree_one) {
  static const Case affine[] = {{CEED_TOPOLOGY_HEX, 1, 3, 1}, {MIXED_PLANE, 1, 2, 1}};

  for (int i = 0; i < (tap_compiles_slowly(ceed) ? 1 : 2) && !tap_failed(); i++)
    check_ways(ceed, &affine[i], RITZ_POLICY_AUTO, false, NUMBERS);
}

TEST_EACH_BACKEND(an_isotropic_form_is_that_of_the_metric) {
  static const RitzGeometryPolicy policies[] = {RITZ_POLICY_AFFINE, RITZ_POLICY_STORED,
                                                RITZ_POLICY_ISOPARAMETRIC};

  for (int i = 0; i < num_cases(ceed); i++) {
    for (int k = 0; k < 3 && !tap_failed(); k++) {
      if (!tap_compiles_slowly(ceed) || k == i) check_ways(ceed, &cases[i], policies[k], true, NUMBERS);
    }
  }
}

// ---- Outputs of other spaces ----

// (q . grad u) and its adjoint: from a scalar function of one degree to a vector function of another.
static const char gradient_text[] = RITZ_TEXT(
    CEED_QFUNCTION_HELPER void gradient(const void *ctx, const CeedScalar grad_u[1][DIM], CeedScalar q[DIM]) {
      for (int d = 0; d < DIM; d++) q[d] = grad_u[0][d];
    });
static const char divergence_text[] =
    RITZ_TEXT(CEED_QFUNCTION_HELPER void divergence(const void *ctx, const CeedScalar q[DIM],
                                                    CeedScalar grad_v[1][DIM]) {
      for (int d = 0; d < DIM; d++) grad_v[0][d] = q[d];
    });

TEST_EACH_BACKEND(gradient_and_weak_divergence_between_two_spaces_are_adjoint) {
  for (int i = 1; i < num_cases(ceed) && !tap_failed(); i++) {
    uint64_t seed = 17;
    CeedOperator forward = NULL, backward = NULL;
    CeedSize size = 0;
    RitzSpace vectors = NULL;
    Problem p;

    CHECK_OK(create_problem(ceed, &cases[i], &p));
    CHECK_OK(RitzSpaceCreate(p.mesh, 1, p.dim, &vectors));
    CHECK_OK(RitzSpaceGetSize(vectors, &size));
    const RitzOperatorOptions options = {.space = p.space};
    const RitzFormField u = {.name = "u", .what = RITZ_FORM_GRADIENT, .space = p.space},
                        q = {.name = "q", .what = RITZ_FORM_VALUE, .space = vectors};
    const RitzForm to = {text_in(p.dim, gradient_text), "gradient", 0, 1, &u, 1, &q},
                   from = {text_in(p.dim, divergence_text), "divergence", 0, 1, &q, 1, &u};

    CHECK_OK(RitzGeometryCreateFormOperator(p.geometry, ceed, &options, &to, NULL, &forward));
    CHECK_OK(RitzGeometryCreateFormOperator(p.geometry, ceed, &options, &from, NULL, &backward));
    double *x = reference_new_random(p.size, &seed), *z = reference_new_random(size, &seed);
    double *Ax = apply(forward, p.size, x, size), *Bz = apply(backward, size, z, p.size);
    const double wanted = product(p.size, x, Bz);

    // Sums of size products of numbers below 1.
    CHECK_NEAR(product(size, z, Ax), wanted, 1000 * CEED_EPSILON * fmax(1, fabs(wanted)), "shape %d",
               cases[i].shape);
    CHECK(fabs(wanted) > 1e-3, "the forms are zero");
    free(x);
    free(z);
    free(Ax);
    free(Bz);
    CeedOperatorDestroy(&forward);
    CeedOperatorDestroy(&backward);
    RitzSpaceDestroy(&vectors);
    destroy_problem(&p);
  }
}

// ---- Functionals ----

static const char divergence_at_points[] = RITZ_TEXT(
    CEED_QFUNCTION_HELPER void divergence(const void *ctx, const CeedScalar x[DIM], const CeedScalar w[1],
                                          const CeedScalar grad_f[DIM][DIM], CeedScalar sum[1]) {
      sum[0] = 0;
      for (int d = 0; d < DIM; d++) sum[0] += w[0] * grad_f[d][d] * (1 + 0 * x[0]);
    });
static const char flux_text[] =
    RITZ_TEXT(CEED_QFUNCTION_HELPER void flux(const void *ctx, const CeedScalar n[DIM],
                                              const CeedScalar f[DIM], CeedScalar v[1]) {
      v[0] = 0;
      for (int d = 0; d < DIM; d++) v[0] += f[d] * n[d];
    });
static const char element_flux_text[] =
    RITZ_TEXT(CEED_QFUNCTION_HELPER void flux(const void *ctx, const CeedScalar x[DIM],
                                              const CeedScalar n[DIM], const CeedScalar f[DIM],
                                              const CeedScalar grad_f[DIM][DIM], CeedScalar v[1]) {
      v[0] = 0;
      for (int d = 0; d < DIM; d++) v[0] += f[d] * n[d] + 0 * grad_f[d][0];
    });

static double sum_of(CeedOperator op, CeedSize n) {
  double *y = apply(op, 0, NULL, n), sum = 0;

  for (CeedSize i = 0; i < n; i++) sum += y[i];
  free(y);
  return sum;
}

// The sum over points of div f w, and that over the boundary of f . n; f any function of a space of vectors.
static void check_divergence(Ceed ceed, const Case *c) {
  uint64_t seed = 23;
  CeedOperator inside = NULL, around = NULL, by_elements = NULL;
  CeedVector f = NULL, numbers = NULL;
  CeedSize size = 0, num = 0;
  RitzSpace vectors = NULL;
  Problem p;

  CHECK_OK(create_problem(ceed, c, &p));
  CHECK_OK(RitzSpaceCreate(p.mesh, 2, p.dim, &vectors));
  CHECK_OK(RitzSpaceGetSize(vectors, &size));
  double *values = reference_new_random(size, &seed);

  f = reference_vector(ceed, size, values);
  // The divergence times the determinant is a polynomial; facets' normals times areas are, too.
  const RitzOperatorOptions options = {.space = p.space, .num_points = 7};
  const RitzBoundaryOptions boundary = {.space = p.space, .num_points = 7};
  const RitzFormField in = {.name = "f", .what = RITZ_FORM_GRADIENT, .space = vectors, .vector = f};
  const RitzFormField trace = {.name = "f", .what = RITZ_FORM_VALUE, .space = vectors, .vector = f},
                      both = {.name = "f", .what = RITZ_FORM_BOTH, .space = vectors, .vector = f};
  const RitzFormField sum = {.name = "sum", .what = RITZ_FORM_NUMBERS, .num_numbers = 1};
  const RitzFormField v = {.name = "v", .what = RITZ_FORM_VALUE, .space = p.space};
  const RitzForm of_volume = {text_in(p.dim, divergence_at_points),
                              "divergence",
                              RITZ_FORM_POSITION | RITZ_FORM_WEIGHT,
                              1,
                              &in,
                              1,
                              &sum};
  const RitzForm of_trace = {text_in(p.dim, flux_text), "flux", RITZ_FORM_NORMAL, 1, &trace, 1, &v};
  const RitzForm of_element = {
      text_in(p.dim, element_flux_text), "flux", RITZ_FORM_POSITION | RITZ_FORM_NORMAL, 1, &both, 1, &v};

  CHECK_OK(RitzGeometryCreatePointNumbers(p.geometry, ceed, &options, 1, &numbers));
  CHECK_OK(CeedVectorGetLength(numbers, &num));
  CHECK_OK(RitzGeometryCreateFormOperator(p.geometry, ceed, &options, &of_volume, NULL, &inside));
  CHECK_OK(RitzGeometryCreateBoundaryFormOperator(p.geometry, ceed, &boundary, &of_trace, NULL, &around));
  CHECK_OK(
      RitzGeometryCreateBoundaryFormOperator(p.geometry, ceed, &boundary, &of_element, NULL, &by_elements));
  const double wanted = sum_of(inside, num);

  // Sums of num numbers of the size of f and its derivatives.
  CHECK_NEAR(sum_of(around, p.size), wanted, 2000 * CEED_EPSILON, "shape %d", c->shape);
  CHECK_NEAR(sum_of(by_elements, p.size), wanted, 2000 * CEED_EPSILON, "shape %d, by elements", c->shape);
  CeedOperatorDestroy(&inside);
  CeedOperatorDestroy(&around);
  CeedOperatorDestroy(&by_elements);
  CeedVectorDestroy(&f);
  CeedVectorDestroy(&numbers);
  free(values);
  RitzSpaceDestroy(&vectors);
  destroy_problem(&p);
}

TEST_EACH_BACKEND(the_flux_of_a_passive_function_through_the_boundary_is_its_divergence_inside) {
  for (int i = 0; i < num_cases(ceed) && !tap_failed(); i++) check_divergence(ceed, &cases[i]);
}

// ---- Derivatives ----

static const char nonlinear_text[] = RITZ_TEXT(CEED_QFUNCTION_HELPER void nonlinear(
    const void *ctx, const CeedScalar x[DIM], const CeedScalar u[1], const CeedScalar grad_u[1][DIM],
    const CeedScalar k[1], CeedScalar v[1], CeedScalar grad_v[1][DIM]) {
  CeedScalar square = k[0];
  for (int d = 0; d < DIM; d++) square += grad_u[0][d] * grad_u[0][d];
  v[0] = exp(u[0]) * (1 + x[0]);
  for (int d = 0; d < DIM; d++) grad_v[0][d] = sqrt(1 + square) * grad_u[0][d];
});

TEST_EACH_BACKEND(a_form_has_its_derivative) {
  uint64_t seed = 29;
  RitzDerivativeCheck check;
  CeedOperator op = NULL, jacobian = NULL;
  CeedVector k = NULL, state = NULL;
  CeedSize num = 0;
  Problem p;

  if (tap_compiles_c_alone(ceed)) NOT_FOR_THIS_BACKEND("OpenCL compiles C alone");
  CHECK_OK(create_problem(ceed, &cases[2], &p));
  const RitzOperatorOptions options = {.space = p.space};
  CHECK_OK(RitzGeometryCreatePointNumbers(p.geometry, ceed, &options, 1, &k));
  CHECK_OK(CeedVectorGetLength(k, &num));
  CHECK_OK(CeedVectorSetValue(k, 2));
  const RitzFormField in[] = {{.name = "u", .what = RITZ_FORM_BOTH, .space = p.space},
                              {.name = "k", .what = RITZ_FORM_NUMBERS, .num_numbers = 1, .vector = k}};
  const RitzFormField out = {.name = "v", .what = RITZ_FORM_BOTH, .space = p.space};
  const RitzForm form = {text_in(p.dim, nonlinear_text), "nonlinear", RITZ_FORM_POSITION, 2, in, 1, &out};
  double *u = reference_new_random(p.size, &seed), *w = reference_new_random(p.size, &seed);

  state = reference_vector(ceed, p.size, u);
  CHECK_OK(RitzGeometryCreateFormOperator(p.geometry, ceed, &options, &form, NULL, &op));
  CHECK_OK(RitzOperatorCreateDerivative(op, state, &jacobian));
  CHECK_OK(RitzOperatorCheckDerivative(op, state, jacobian, 0.1, &check));
  CHECK(check.order > 1.8, "order %g", check.order);
  double *Ju = apply(jacobian, p.size, u, p.size), *Jw = apply(jacobian, p.size, w, p.size);
  const double wanted = product(p.size, w, Ju);

  CHECK_NEAR(product(p.size, u, Jw), wanted, 1000 * CEED_EPSILON * fmax(1, fabs(wanted)), "symmetry");
  free(u);
  free(w);
  free(Ju);
  free(Jw);
  CeedOperatorDestroy(&op);
  CeedOperatorDestroy(&jacobian);
  CeedVectorDestroy(&k);
  CeedVectorDestroy(&state);
  destroy_problem(&p);
}

static const char isotropic_text[] =
    RITZ_TEXT(CEED_QFUNCTION_HELPER void isotropic(const void *ctx, const CeedScalar x[DIM],
                                                   const CeedScalar u[1], const CeedScalar grad_u[1][DIM],
                                                   CeedScalar v[1], CeedScalar grad_v[1][DIM]) {
      v[0] = exp(u[0]) * (1 + x[0]);
      for (int d = 0; d < DIM; d++) grad_v[0][d] = (1 + u[0] * u[0]) * grad_u[0][d];
    });

// J w around the state u; NULL after a failure.
static double *apply_derivative(const Problem *p, RitzGeometryPolicy policy, int gets, const double *u,
                                const double *w) {
  const RitzOperatorOptions options = {.space = p->space, .policy = policy};
  const RitzFormField in = {.name = "u", .what = RITZ_FORM_BOTH, .space = p->space};
  const RitzFormField out = {.name = "v", .what = RITZ_FORM_BOTH, .space = p->space};
  const RitzForm form = {
      text_in(p->dim, isotropic_text), "isotropic", RITZ_FORM_POSITION | gets, 1, &in, 1, &out};
  CeedVector state = reference_vector(p->ceed, p->size, u);
  CeedOperator op = NULL, jacobian = NULL;
  double *y = NULL;

  if (!RitzGeometryCreateFormOperator(p->geometry, p->ceed, &options, &form, NULL, &op) &&
      !RitzOperatorCreateDerivative(op, state, &jacobian))
    y = apply(jacobian, p->size, w, p->size);
  CeedOperatorDestroy(&op);
  CeedOperatorDestroy(&jacobian);
  CeedVectorDestroy(&state);
  return y;
}

TEST_EACH_BACKEND(the_derivative_of_an_isotropic_form_is_that_of_any) {
  static const RitzGeometryPolicy policies[] = {RITZ_POLICY_AFFINE, RITZ_POLICY_STORED};
  uint64_t seed = 31;
  Problem p;

  if (tap_compiles_c_alone(ceed)) NOT_FOR_THIS_BACKEND("OpenCL compiles C alone");
  CHECK_OK(create_problem(ceed, &cases[2], &p));
  double *u = reference_new_random(p.size, &seed), *w = reference_new_random(p.size, &seed);

  for (int k = 0; k < 2 && !tap_failed(); k++) {
    double *wanted = apply_derivative(&p, policies[k], 0, u, w);
    double *y = apply_derivative(&p, policies[k], RITZ_FORM_ISOTROPIC, u, w);

    CHECK(wanted && y, "no derivative");
    CHECK_NEAR(reference_distance(p.size, y, wanted), 0, tolerance(p.size, wanted), "policy %d", k);
    free(wanted);
    free(y);
  }
  free(u);
  free(w);
  destroy_problem(&p);
}

// ---- Refusals ----

TEST(forms_without_meaning_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  CeedVector shorter = NULL, numbers = NULL;
  CeedOperator op = NULL;
  RitzSpace elsewhere = NULL;
  Problem p, other;

  CHECK_OK(create_problem(ceed, &cases[2], &p));
  CHECK_OK(create_problem(ceed, &cases[2], &other));
  CHECK_OK(CeedVectorCreate(ceed, p.size - 1, &shorter));
  elsewhere = other.space;
  const RitzOperatorOptions options = {.space = p.space};
  const RitzBoundaryOptions boundary = {.space = p.space};
  const RitzFormField good = {.name = "v", .what = RITZ_FORM_BOTH, .space = p.space};
  const struct {
    RitzFormField field;
    int code;
    const char *words;
  } rows[] = {
      {{.name = NULL, .what = RITZ_FORM_BOTH, .space = p.space},
       CEED_ERROR_INCOMPATIBLE,
       "field 0 of the form is 'NULL'"},
      {{.name = "a b", .what = RITZ_FORM_BOTH, .space = p.space},
       CEED_ERROR_INCOMPATIBLE,
       "'a b', needed an identifier"},
      {{.name = "v", .what = RITZ_FORM_BOTH, .space = p.space},
       CEED_ERROR_INCOMPATIBLE,
       "two fields of the form"},
      {{.name = "u", .what = 0, .space = p.space}, CEED_ERROR_INCOMPATIBLE, "field 'u' is 0, needed"},
      {{.name = "u", .what = 5, .space = p.space}, CEED_ERROR_INCOMPATIBLE, "field 'u' is 5, needed"},
      {{.name = "u", .what = RITZ_FORM_BOTH, .space = NULL},
       CEED_ERROR_INCOMPATIBLE,
       "the space of field 'u' is NULL"},
      {{.name = "u", .what = RITZ_FORM_BOTH, .space = elsewhere}, CEED_ERROR_INCOMPATIBLE, "another mesh"},
      {{.name = "u", .what = RITZ_FORM_BOTH, .space = p.space, .vector = shorter},
       CEED_ERROR_DIMENSION,
       "the vector of field 'u' has"},
      {{.name = "u", .what = RITZ_FORM_NUMBERS, .space = NULL, .vector = shorter},
       CEED_ERROR_INCOMPATIBLE,
       "0 numbers at points"},
      {{.name = "u", .what = RITZ_FORM_NUMBERS, .num_numbers = 2, .vector = shorter},
       CEED_ERROR_DIMENSION,
       "needed 2 at"},
  };

  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    const RitzForm form = {"", "f", 0, 1, &rows[i].field, 1, &good};

    CHECK_ERROR(ceed, RitzGeometryCreateFormOperator(p.geometry, ceed, &options, &form, NULL, &op),
                rows[i].code, rows[i].words);
  }
  const RitzFormField at_points = {.name = "k", .what = RITZ_FORM_NUMBERS, .num_numbers = 1};
  RitzForm form = {"", "f", RITZ_FORM_NORMAL, 0, NULL, 1, &good};

  CHECK_ERROR(ceed, RitzGeometryCreateFormOperator(p.geometry, ceed, &options, &form, NULL, &op),
              CEED_ERROR_INCOMPATIBLE, "is to get 2");
  form = (RitzForm){"", "f", 0, 0, NULL, 1, &at_points};
  CHECK_ERROR(ceed, RitzGeometryCreateBoundaryFormOperator(p.geometry, ceed, &boundary, &form, NULL, &op),
              CEED_ERROR_UNSUPPORTED, "facets do not have");
  form = (RitzForm){"", "a-b", 0, 0, NULL, 1, &good};
  CHECK_ERROR(ceed, RitzGeometryCreateFormOperator(p.geometry, ceed, &options, &form, NULL, &op),
              CEED_ERROR_INCOMPATIBLE, "'a-b' is no name");
  form = (RitzForm){"", "f", 0, 0, NULL, 0, NULL};
  CHECK_ERROR(ceed, RitzGeometryCreateFormOperator(p.geometry, ceed, &options, &form, NULL, &op),
              CEED_ERROR_INCOMPATIBLE, "0 outputs");
  CHECK_ERROR(ceed, RitzGeometryCreatePointNumbers(p.geometry, ceed, &options, 0, &numbers),
              CEED_ERROR_DIMENSION, "0 numbers at a point");
  CHECK(!op && !numbers, "left a handle");
  CeedVectorDestroy(&shorter);
  destroy_problem(&other);
  destroy_problem(&p);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(an_isotropic_form_is_that_of_the_metric, the_derivative_of_an_isotropic_form_is_that_of_any,
            a_coefficient_by_position_or_numbers_is_that_of_the_standard_operator,
            a_form_does_not_depend_on_the_policy, a_linear_coefficient_may_be_a_function_of_degree_one,
            gradient_and_weak_divergence_between_two_spaces_are_adjoint,
            the_flux_of_a_passive_function_through_the_boundary_is_its_divergence_inside,
            a_form_has_its_derivative, forms_without_meaning_are_refused));
}
