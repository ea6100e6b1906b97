// SPDX-License-Identifier: BSD-2-Clause
// All policies of ritz/geometry.h make the same operator: on meshes of affine, multilinear and curved
// elements, on curves and surfaces, for every kind of operator and for functions at points; applied and
// assembled; and it is the right one, by volumes and energies that are known.
#include "tests/geometry-kit.h"
#include "tests/geometry-points.h"

static bool is_named(Ceed ceed, const char *part) {
  const char *resource = "";

  CeedGetResource(ceed, &resource);
  return strstr(resource, part);
}

// Kernels are compiled for each operator: few cases there.
static bool compiles(Ceed ceed) { return is_named(ceed, "/gpu/") || is_named(ceed, "/gen"); }

// So few that nothing but what most programs use is looked at.
static bool is_short(Ceed ceed) { return tap_level() == TAP_QUICK || tap_compiles_slowly(ceed); }

// ---- Cases ----

typedef struct {
  CeedInt dim, space_dim, order; // of the mesh
  int num_regions, periodic;
  CeedInt degree, num_comp, num_points;
  RitzOperatorKind kind;
  CeedQuadMode quad_mode;
  bool lambda_varies, mu_varies;
} Case;

static const char *describe(const Case *c, RitzGeometryPolicy policy) {
  static char text[300];

  snprintf(text, sizeof(text),
           "%s, %s: dim %d in %d, order %d, regions %d, periodic %d, degree %d, components %d, points %d, "
           "rule %d, "
           "varying %d %d",
           kind_name(c->kind), RitzGeometryPolicyName(policy), (int)c->dim, (int)c->space_dim, (int)c->order,
           c->num_regions, c->periodic, (int)c->degree, (int)c->num_comp, (int)c->num_points,
           (int)c->quad_mode, c->lambda_varies, c->mu_varies);
  return text;
}

typedef struct {
  Ceed ceed; // borrowed, of the mesh and of the operators
  RitzMesh mesh;
  RitzGeometry geometry;
  RitzSpace space;
  CeedSize size;
} Problem;

static int close_mesh(Ceed ceed, const Case *c, RitzMesh *mesh) {
  RitzMeshDraft draft = draft_of_mesh(*mesh);

  close_box(&draft, mixed_size, c->periodic);
  RitzMeshDestroy(mesh);
  return ritz_mesh_build(ceed, "closed", &draft, mesh);
}

static int create_problem(Ceed ceed, const Case *c, uint64_t seed, Problem *p) {
  MixedMap map = mixed_map(c->space_dim, c->num_regions, &seed);

  *p = (Problem){.ceed = ceed};
  RITZ_TRY(make_mixed_box(ceed, c->dim, c->order, &map, &p->mesh));
  if (c->periodic) RITZ_TRY(close_mesh(ceed, c, &p->mesh));
  RITZ_TRY(RitzGeometryCreate(p->mesh, -1, &p->geometry));
  RITZ_TRY(RitzSpaceCreate(p->mesh, c->degree, c->num_comp, &p->space));
  return RitzSpaceGetSize(p->space, &p->size);
}

static void destroy_problem(Problem *p) {
  RitzSpaceDestroy(&p->space);
  RitzGeometryDestroy(&p->geometry);
  RitzMeshDestroy(&p->mesh);
}

// *ctx: the dimension of space.
static int varying_lambda(void *ctx, const double *x, double *value) {
  *value = 2;
  for (CeedInt d = 0; d < *(CeedInt *)ctx; d++) *value += 0.3 * sin(x[d] + d);
  return 0;
}

static int varying_mu(void *ctx, const double *x, double *value) {
  *value = 1;
  for (CeedInt d = 0; d < *(CeedInt *)ctx; d++) *value += x[d] * x[d];
  return 0;
}

static RitzOperatorOptions make_options(const Case *c, const Problem *p, RitzGeometryPolicy policy) {
  return (RitzOperatorOptions){.kind = c->kind,
                               .space = p->space,
                               .num_points = c->num_points,
                               .quad_mode = c->quad_mode,
                               .policy = policy,
                               .lambda = 1.7,
                               .mu = 0.6,
                               .lambda_function = c->lambda_varies ? varying_lambda : NULL,
                               .mu_function = c->mu_varies ? varying_mu : NULL,
                               .lambda_ctx = (void *)&c->space_dim,
                               .mu_ctx = (void *)&c->space_dim};
}

static int create_operator(const Case *c, const Problem *p, RitzGeometryPolicy policy, CeedOperator *op) {
  const RitzOperatorOptions options = make_options(c, p, policy);

  return RitzGeometryCreateOperator(p->geometry, p->ceed, &options, op);
}

// ---- Application ----

// Sums of products, at most Q^3 long, of factors whose own error is a few dozen eps; the factors of curved
// elements by interpolation from (order+1)^3 nodes.
static double tolerance(CeedSize n, const double *y) { return 500 * eps * reference_largest(n, y); }

static double *apply_policy(const Case *c, const Problem *p, RitzGeometryPolicy policy, const double *u) {
  CeedOperator op = NULL;

  if (create_operator(c, p, policy, &op)) return NULL;
  double *y = apply_operator(op, p->size, u);

  CeedOperatorDestroy(&op);
  return y;
}

static void check_policy(const Case *c, const Problem *p, RitzGeometryPolicy policy, const double *u,
                         const double *wanted) {
  double *y = apply_policy(c, p, policy, u);

  CHECK(y, "%s: no operator", describe(c, policy));
  CHECK_NEAR(reference_distance(p->size, y, wanted), 0, tolerance(p->size, wanted), "%s",
             describe(c, policy));
  free(y);
}

static void check_case(Ceed ceed, const Case *c, RitzGeometryPolicy first, RitzGeometryPolicy last) {
  Ceed plain = tap_ceed("/cpu/self/ref");
  uint64_t seed = 7;
  Problem p, reference;

  CHECK_OK(create_problem(plain, c, 3, &reference));
  CHECK_OK(create_problem(ceed, c, 3, &p));
  double *u = reference_new_random(p.size, &seed);
  double *wanted = apply_policy(c, &reference, RITZ_POLICY_STORED, u);

  CHECK(wanted, "%s: no reference", describe(c, RITZ_POLICY_STORED));
  for (int policy = (int)first; policy <= (int)last && !tap_failed(); policy++)
    check_policy(c, &p, (RitzGeometryPolicy)policy, u, wanted);
  free(u);
  free(wanted);
  destroy_problem(&p);
  destroy_problem(&reference);
  CeedDestroy(&plain);
}

// Every kind, dimension and number of components, the rest at random.
static Case random_case(int index, uint64_t *seed) {
  Case c = {.kind = (RitzOperatorKind)(index % 3), .dim = 1 + index / 3 % 3, .num_comp = 1 + index / 9 % 3};

  c.space_dim = c.dim + (tap_integer(seed, 3) == 0 ? (CeedInt)tap_integer(seed, 4 - c.dim) : 0);
  c.num_regions = 1 + (int)tap_integer(seed, 3);
  c.order = c.num_regions < 3 ? 1 + (CeedInt)tap_integer(seed, 2) : 2 + (CeedInt)tap_integer(seed, 2);
  c.degree = 1 + (CeedInt)tap_integer(seed, c.dim == 3 ? 3 : 4);
  c.quad_mode = tap_integer(seed, 2) ? CEED_GAUSS : CEED_GAUSS_LOBATTO;
  c.num_points = tap_integer(seed, 3) ? 0 : c.degree + 3;
  c.lambda_varies = tap_integer(seed, 3) == 0;
  c.mu_varies = tap_integer(seed, 3) == 0;
  c.periodic = tap_integer(seed, 4) == 0 && c.dim == c.space_dim ? 1 << (c.dim - 1) : 0;
  if (mixed_size[c.dim - 1] < 3) c.periodic = 0; // two elements would be neighbours on both sides
  return c;
}

TEST_EACH_BACKEND(all_policies_give_the_same_operator) {
  const int num_cases = tap_level() == TAP_QUICK ? 27 : tap_level() == TAP_FULL ? 81 : 540;
  uint64_t seed = 11;

  if (compiles(ceed) && tap_level() < TAP_EXHAUSTIVE) NOT_FOR_THIS_BACKEND("each case compiles ten kernels");
  for (int i = 0; i < num_cases && !tap_failed(); i++) {
    const Case c = random_case(i, &seed);
    check_case(ceed, &c, RITZ_POLICY_AUTO, RITZ_POLICY_ISOPARAMETRIC);
  }
}

// Hexahedra of all kinds at once, what most programs use: on all backends.
TEST_EACH_BACKEND(diffusion_on_mixed_hexahedra_does_not_depend_on_the_policy) {
  const Case quick = {.dim = 3,
                      .space_dim = 3,
                      .order = 2,
                      .num_regions = 3,
                      .degree = 2,
                      .num_comp = 1,
                      .kind = RITZ_OPERATOR_DIFFUSION};
  Case vector = quick;

  vector.num_comp = 3;
  vector.quad_mode = CEED_GAUSS_LOBATTO;
  vector.kind = RITZ_OPERATOR_HELMHOLTZ;
  vector.mu_varies = true;
  check_case(ceed, &quick, RITZ_POLICY_AFFINE,
             tap_compiles_slowly(ceed) ? RITZ_POLICY_AFFINE : RITZ_POLICY_TRILINEAR);
  if (is_short(ceed)) return;
  check_case(ceed, &quick, RITZ_POLICY_PARTIAL, RITZ_POLICY_ISOPARAMETRIC);
  check_case(ceed, &vector, RITZ_POLICY_TRILINEAR, RITZ_POLICY_TRILINEAR);
}

TEST_EACH_BACKEND(high_degrees_do_not_depend_on_the_policy) {
  Case c = {
      .dim = 2, .space_dim = 2, .order = 3, .num_regions = 3, .num_comp = 1, .kind = RITZ_OPERATOR_HELMHOLTZ};

  const bool is_fast = !compiles(ceed) || is_named(ceed, "/cuda/");

  if (tap_level() == TAP_QUICK || (!is_fast && tap_level() < TAP_EXHAUSTIVE)) NOT_HERE("at a higher level");
  for (c.degree = 5; c.degree <= 9 && !tap_failed(); c.degree++)
    check_case(ceed, &c, RITZ_POLICY_AUTO, RITZ_POLICY_ISOPARAMETRIC);
  c.dim = c.space_dim = 3;
  c.degree = 9;
  if (!tap_failed()) check_case(ceed, &c, RITZ_POLICY_AFFINE, RITZ_POLICY_MERGED);
}

// ---- What the operators compute ----

static double energy(CeedOperator op, CeedSize n, const double *u) {
  double *y = apply_operator(op, n, u), result = reference_dot(n, u, y);

  free(y);
  return result;
}

// Component 0 is coordinate number d of the position, the others vanish.
static double *new_coordinate(const Problem *p, const Case *c, CeedInt d) {
  const int64_t num_nodes = p->size / c->num_comp;
  double *x = reference_new((CeedSize)num_nodes * c->space_dim), *u = reference_new(p->size);

  RitzSpaceGetNodeCoordinates(p->space, x);
  for (int64_t i = 0; i < num_nodes; i++) u[i * c->num_comp] = (double)(CeedScalar)x[i * c->space_dim + d];
  free(x);
  return u;
}

// 1.7 times the volume and the number of components.
static double mass_of_one(CeedOperator op, const Problem *p) {
  double *u = reference_new(p->size);

  for (CeedSize i = 0; i < p->size; i++) u[i] = 1;
  double result = energy(op, p->size, u);

  free(u);
  return result;
}

// 0.6 times the volume and the dimension: the squared gradients of all coordinates along the elements add up
// to the trace of the projection on them.
static double energy_of_coordinates(CeedOperator op, const Problem *p, const Case *c) {
  double sum = 0;

  for (CeedInt d = 0; d < c->space_dim; d++) {
    double *u = new_coordinate(p, c, d);

    sum += energy(op, p->size, u);
    free(u);
  }
  return sum;
}

// The degree is at least the order, so that coordinates are in the space; the rule integrates det exactly.
static void check_integrals(Ceed ceed, const Case *c, RitzGeometryPolicy policy) {
  CeedOperator op = NULL;
  double volume = 0;
  Problem p;

  CHECK_OK(create_problem(ceed, c, 5, &p));
  CHECK_OK(RitzMeshGetMeasure(p.mesh, &volume, NULL, NULL));
  CHECK_OK(create_operator(c, &p, policy, &op));
  if (c->kind == RITZ_OPERATOR_MASS) {
    CHECK_NEAR(mass_of_one(op, &p), 1.7 * c->num_comp * volume, 1000 * eps * volume * c->num_comp, "%s",
               describe(c, policy));
  } else {
    CHECK_NEAR(energy_of_coordinates(op, &p, c), 0.6 * c->dim * volume, 3000 * eps * volume, "%s",
               describe(c, policy));
  }
  CeedOperatorDestroy(&op);
  destroy_problem(&p);
}

// On curves and surfaces in space det is a root, which is integrated exactly where it is constant.
static void check_all_integrals(Ceed ceed, CeedInt dim, CeedInt space_dim, RitzGeometryPolicy policy) {
  for (int kind = RITZ_OPERATOR_MASS; kind <= RITZ_OPERATOR_DIFFUSION && !tap_failed(); kind++) {
    const Case c = {.dim = dim,
                    .space_dim = space_dim,
                    .order = 2,
                    .num_regions = dim < space_dim ? 1 : 3,
                    .degree = 2,
                    .num_comp = 3 - kind,
                    .kind = (RitzOperatorKind)kind};

    if (!compiles(ceed) || kind == RITZ_OPERATOR_DIFFUSION) check_integrals(ceed, &c, policy);
  }
}

TEST_EACH_BACKEND(mass_has_the_volume_and_diffusion_the_energy_of_coordinates) {
  if (compiles(ceed) && is_short(ceed)) NOT_FOR_THIS_BACKEND("makes too many kernels");
  if (compiles(ceed)) {
    check_all_integrals(ceed, 3, 3, RITZ_POLICY_AUTO);
    return;
  }
  for (int policy = RITZ_POLICY_AUTO; policy <= RITZ_POLICY_ISOPARAMETRIC; policy++) {
    for (CeedInt dim = 1; dim <= 3; dim++) {
      for (CeedInt space_dim = dim; space_dim <= 3; space_dim++)
        check_all_integrals(ceed, dim, space_dim, (RitzGeometryPolicy)policy);
    }
  }
}

// ---- Assembly and multigrid ----

typedef int (*Assemble)(CeedOperator op, CeedVector assembled, CeedRequest *request);

static double *assemble(CeedOperator op, CeedSize n, Assemble assemble_diagonal) {
  CeedVector diagonal = NULL;
  double *result = reference_new(n);

  CeedVectorCreate(CeedOperatorReturnCeed(op), n, &diagonal);
  for (CeedSize i = 0; i < n; i++) result[i] = NAN;
  if (!assemble_diagonal(op, diagonal, CEED_REQUEST_IMMEDIATE)) reference_values(diagonal, result);
  CeedVectorDestroy(&diagonal);
  return result;
}

static double *assemble_matrix(CeedOperator op, CeedSize *num) {
  CeedSize num_rows = 0, num_cols = 0;
  int64_t *starts = NULL, *cols = NULL;
  CeedVector values = NULL;
  double *result = NULL;

  *num = 0;
  if (RitzOperatorAssembleCSRSymbolic(op, &num_rows, &num_cols, &starts, &cols)) return NULL;
  *num = (CeedSize)starts[num_rows];
  CeedVectorCreate(CeedOperatorReturnCeed(op), *num, &values);
  if (!RitzOperatorAssembleCSR(op, starts, cols, values)) result = reference_new_values(values);
  CeedVectorDestroy(&values);
  free(starts);
  free(cols);
  return result;
}

static void check_equal(CeedSize n, double *a, double *b, const char *what, const char *which) {
  const bool exist = a && b;
  const double distance = exist ? reference_distance(n, a, b) : NAN, allowed = exist ? tolerance(n, b) : 0;

  free(a);
  free(b);
  CHECK_NEAR(distance, 0, allowed, "%s, %s", what, which);
}

static void check_assembly(const Case *c, const Problem *p, RitzGeometryPolicy policy, CeedOperator stored) {
  const CeedSize num_blocks = p->size * c->num_comp;
  CeedSize num = 0, num_stored = 0;
  CeedOperator op = NULL;

  CHECK_OK(create_operator(c, p, policy, &op));
  double *matrix = assemble_matrix(op, &num), *stored_matrix = assemble_matrix(stored, &num_stored);

  CHECK(num == num_stored && num > 0, "%s: patterns differ", describe(c, policy));
  check_equal(num, matrix, stored_matrix, describe(c, policy), "matrix");
  check_equal(p->size, assemble(op, p->size, CeedOperatorLinearAssembleDiagonal),
              assemble(stored, p->size, CeedOperatorLinearAssembleDiagonal), describe(c, policy), "diagonal");
  check_equal(num_blocks, assemble(op, num_blocks, CeedOperatorLinearAssemblePointBlockDiagonal),
              assemble(stored, num_blocks, CeedOperatorLinearAssemblePointBlockDiagonal), describe(c, policy),
              "point blocks");
  CeedOperatorDestroy(&op);
}

TEST_EACH_BACKEND(all_policies_assemble_the_same_matrix) {
  const int first = compiles(ceed) ? RITZ_POLICY_TRILINEAR : RITZ_POLICY_AUTO;
  const int last = compiles(ceed) ? RITZ_POLICY_TRILINEAR : RITZ_POLICY_ISOPARAMETRIC;

  if (compiles(ceed) && is_short(ceed)) NOT_FOR_THIS_BACKEND("makes too many kernels");
  for (int kind = compiles(ceed); kind <= (compiles(ceed) ? 1 : 2); kind++) {
    const Case c = {.dim = 2,
                    .space_dim = 2,
                    .order = 2,
                    .num_regions = 3,
                    .degree = 2,
                    .num_comp = 2,
                    .kind = (RitzOperatorKind)kind,
                    .mu_varies = kind == RITZ_OPERATOR_HELMHOLTZ};
    CeedOperator stored = NULL;
    Problem p;

    CHECK_OK(create_problem(ceed, &c, 9, &p));
    CHECK_OK(create_operator(&c, &p, RITZ_POLICY_STORED, &stored));
    for (int policy = first; policy <= last && !tap_failed(); policy++)
      check_assembly(&c, &p, (RitzGeometryPolicy)policy, stored);
    CeedOperatorDestroy(&stored);
    destroy_problem(&p);
  }
}

// All elements are one part, so that the coarse space is that of the whole mesh.
static void check_levels(Ceed ceed, const Case *c, RitzGeometryPolicy policy) {
  Case coarse_case = *c;
  CeedOperator fine = NULL, *parts = NULL, coarse = NULL, prolong = NULL, restrict_op = NULL, wanted = NULL;
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  CeedVector mult = NULL;
  Problem p, q;
  uint64_t seed = 4;
  CeedInt num_parts = 0;

  coarse_case.degree = 1;
  coarse_case.num_points = c->num_points;
  CHECK_OK(create_problem(ceed, c, 8, &p));
  CHECK_OK(create_problem(ceed, &coarse_case, 8, &q));
  CHECK_OK(create_operator(c, &p, policy, &fine));
  CHECK_OK(CeedOperatorCompositeGetNumSub(fine, &num_parts));
  CHECK_OK(CeedOperatorCompositeGetSubList(fine, &parts));
  CHECK(num_parts == 1, "%s: %d parts", describe(c, policy), (int)num_parts);
  CHECK_OK(RitzSpaceCreateRestriction(q.space, ceed, &rstr));
  CHECK_OK(
      CeedBasisCreateTensorH1Lagrange(ceed, c->dim, c->num_comp, 2, c->num_points, c->quad_mode, &basis));
  CHECK_OK(CeedVectorCreate(ceed, p.size, &mult));
  CHECK_OK(CeedOperatorCompositeGetMultiplicity(fine, 0, NULL, mult));
  CHECK_OK(CeedOperatorMultigridLevelCreate(parts[0], mult, rstr, basis, &coarse, &prolong, &restrict_op));

  CHECK_OK(create_operator(&coarse_case, &q, RITZ_POLICY_STORED, &wanted));
  double *u = reference_new_random(q.size, &seed);

  check_equal(q.size, apply_operator(coarse, q.size, u), apply_operator(wanted, q.size, u),
              describe(c, policy), "coarse level");
  free(u);
  CeedVectorDestroy(&mult);
  CeedBasisDestroy(&basis);
  CeedElemRestrictionDestroy(&rstr);
  CeedOperatorDestroy(&coarse);
  CeedOperatorDestroy(&prolong);
  CeedOperatorDestroy(&restrict_op);
  CeedOperatorDestroy(&wanted);
  CeedOperatorDestroy(&fine);
  destroy_problem(&p);
  destroy_problem(&q);
}

TEST_EACH_BACKEND(coarse_levels_are_the_operators_of_the_coarse_space) {
  const Case affine = {.dim = 2,
                       .space_dim = 2,
                       .order = 1,
                       .num_regions = 1,
                       .degree = 3,
                       .num_comp = 1,
                       .num_points = 4,
                       .kind = RITZ_OPERATOR_HELMHOLTZ};
  Case bilinear = affine, curved = affine;

  bilinear.num_regions = 2;
  curved.num_regions = 3;
  curved.order = 2;
  if (compiles(ceed) && tap_level() < TAP_EXHAUSTIVE) NOT_FOR_THIS_BACKEND("makes too many kernels");
  check_levels(ceed, &affine, RITZ_POLICY_AFFINE);
  check_levels(ceed, &bilinear, RITZ_POLICY_TRILINEAR);
  check_levels(ceed, &curved, RITZ_POLICY_ISOPARAMETRIC);
  check_levels(ceed, &bilinear, RITZ_POLICY_PARTIAL);
  check_levels(ceed, &bilinear, RITZ_POLICY_MERGED);
}

// ---- Functions at points ----

static const RitzPointFunction helmholtz_functions[3] = {
    RITZ_POINT_FUNCTION_TABLE(helmholtz_at_point_1, 1, 1),
    RITZ_POINT_FUNCTION_TABLE(helmholtz_at_point_2, 2, 3),
    RITZ_POINT_FUNCTION_TABLE(helmholtz_at_point_3, 3, 2),
};
static const RitzPointFunction nonlinear_function = RITZ_POINT_FUNCTION_TABLE(nonlinear_at_point, 3, 3);

static int create_point_operator(const Case *c, const Problem *p, const RitzPointFunction *f,
                                 RitzGeometryPolicy policy, CeedOperator *op) {
  const RitzOperatorOptions options = make_options(c, p, policy);
  const PointParameters parameters = {(CeedScalar)1.7, (CeedScalar)0.6};
  CeedQFunctionContext ctx = NULL;

  RITZ_TRY(CeedQFunctionContextCreate(p->ceed, &ctx));
  int ierr = CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(parameters),
                                         (void *)&parameters);

  if (!ierr) ierr = RitzGeometryCreatePointOperator(p->geometry, p->ceed, &options, f, ctx, op);
  CeedQFunctionContextDestroy(&ctx);
  return ierr;
}

static double *apply_point_policy(const Case *c, const Problem *p, const RitzPointFunction *f,
                                  RitzGeometryPolicy policy, const double *u) {
  CeedOperator op = NULL;

  if (create_point_operator(c, p, f, policy, &op)) return NULL;
  double *y = apply_operator(op, p->size, u);

  CeedOperatorDestroy(&op);
  return y;
}

static bool is_point_policy(int policy) {
  return policy != RITZ_POLICY_PARTIAL && policy != RITZ_POLICY_MERGED;
}

// wanted: of the standard operator or, where f is not one, of stored factors.
static void check_point_function(Ceed ceed, const Case *c, const RitzPointFunction *f, bool is_standard,
                                 RitzGeometryPolicy first, RitzGeometryPolicy last) {
  Ceed plain = tap_ceed("/cpu/self/ref");
  uint64_t seed = 21;
  Problem p, reference;

  CHECK_OK(create_problem(plain, c, 6, &reference));
  CHECK_OK(create_problem(ceed, c, 6, &p));
  double *u = reference_new_random(p.size, &seed);
  double *wanted = is_standard ? apply_policy(c, &reference, RITZ_POLICY_STORED, u)
                               : apply_point_policy(c, &reference, f, RITZ_POLICY_STORED, u);

  CHECK(wanted, "%s: no reference", describe(c, RITZ_POLICY_STORED));
  for (int policy = (int)first; policy <= (int)last && !tap_failed(); policy++) {
    if (!is_point_policy(policy)) continue;
    double *y = apply_point_policy(c, &p, f, (RitzGeometryPolicy)policy, u);
    double *copy = reference_new(p.size);

    memcpy(copy, wanted, (size_t)p.size * sizeof(*copy));
    check_equal(p.size, y, copy, describe(c, (RitzGeometryPolicy)policy), "point function");
  }
  free(u);
  free(wanted);
  destroy_problem(&p);
  destroy_problem(&reference);
  CeedDestroy(&plain);
}

TEST_EACH_BACKEND(a_point_function_of_the_gradient_is_the_standard_operator) {
  static const CeedInt num_comp[3] = {1, 3, 2};
  Case c = {.dim = 2,
            .space_dim = 2,
            .order = 2,
            .num_regions = 2,
            .degree = 2,
            .num_comp = 3,
            .kind = RITZ_OPERATOR_HELMHOLTZ};

  check_point_function(ceed, &c, &helmholtz_functions[1], true, RITZ_POLICY_TRILINEAR, RITZ_POLICY_TRILINEAR);
  if (compiles(ceed)) return;
  c.num_regions = 3;
  for (c.dim = 1; c.dim <= 3 && !tap_failed(); c.dim++) {
    c.space_dim = c.dim;
    c.num_comp = num_comp[c.dim - 1];
    check_point_function(ceed, &c, &helmholtz_functions[c.dim - 1], true, RITZ_POLICY_AUTO,
                         RITZ_POLICY_ISOPARAMETRIC);
  }
}

TEST_EACH_BACKEND(a_nonlinear_point_function_does_not_depend_on_the_policy) {
  const Case c = {.dim = 3,
                  .space_dim = 3,
                  .order = 2,
                  .num_regions = 3,
                  .degree = 2,
                  .num_comp = 3,
                  .kind = RITZ_OPERATOR_HELMHOLTZ};
  const int last = compiles(ceed) ? RITZ_POLICY_AFFINE : RITZ_POLICY_ISOPARAMETRIC;

  if (compiles(ceed) && is_short(ceed)) NOT_FOR_THIS_BACKEND("makes too many kernels");
  check_point_function(ceed, &c, &nonlinear_function, false, RITZ_POLICY_AFFINE, (RitzGeometryPolicy)last);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(all_policies_give_the_same_operator, diffusion_on_mixed_hexahedra_does_not_depend_on_the_policy,
            high_degrees_do_not_depend_on_the_policy,
            mass_has_the_volume_and_diffusion_the_energy_of_coordinates,
            all_policies_assemble_the_same_matrix, coarse_levels_are_the_operators_of_the_coarse_space,
            a_point_function_of_the_gradient_is_the_standard_operator,
            a_nonlinear_point_function_does_not_depend_on_the_policy));
}
