// SPDX-License-Identifier: BSD-2-Clause
// ritz/geometry.h on triangles, tetrahedra, prisms, pyramids and meshes of several shapes: all policies make
// the same operator, and it is the right one, by volumes and energies that are known; names, choices and
// refusals.
#include "tests/geometry-kit.h"
#include "tests/geometry-points.h"
#include "tests/shapes-kit.h"

#include "base/memory.h"

// Kernels are compiled for each operator: few cases there.
static bool compiles(Ceed ceed) {
  const char *resource = "";

  CeedGetResource(ceed, &resource);
  return !strncmp(resource, "/gpu/", 5) || strstr(resource, "/gen");
}

// ---- Meshes ----

// Position of corner k of element e of a block in the unit box.
static const double *corner_of(const RitzMeshDraft *draft, const RitzMeshBlock *block, int64_t e, int k) {
  const int8_t *at = ritz_mesh_shape(block->topology)->corner_at[k];
  const int64_t lattice[3] = {at[0] * draft->order, at[1] * draft->order, at[2] * draft->order};
  const int64_t node = ritz_mesh_lattice_index(block->topology, draft->order, lattice);

  return draft->coords + (block->node_base + e * block->num_nodes + node) * draft->dim;
}

// Sides x = 0 and x = 1 of the unit box become one: coordinates are those of the elements.
static void close_draft(RitzMeshDraft *draft) {
  double *X = calloc((size_t)draft->num_vertices * 3, sizeof(*X));

  for (int pass = 0; pass < 2; pass++) {
    for (int b = 0; b < draft->num_blocks; b++) {
      const RitzMeshBlock *block = &draft->blocks[b];

      for (int64_t i = 0; i < block->num_elem * block->num_corners; i++) {
        int64_t *vertex = &draft->elem_vertices[block->corner_base + i];
        const double *x = corner_of(draft, block, i / block->num_corners, (int)(i % block->num_corners));

        if (pass == 0) memcpy(X + 3 * *vertex, x, (size_t)draft->dim * sizeof(*x));
        for (int64_t v = 0; pass == 1 && x[0] > 1 - 1e-9 && v < draft->num_vertices; v++) {
          const double *other = X + 3 * v;
          const double gap =
              fabs(other[0]) + fabs(other[1] - x[1]) + (draft->dim > 2 ? fabs(other[2] - x[2]) : 0);
          if (gap < 1e-9) *vertex = v;
        }
      }
    }
  }
  free(X);
}

// ---- Cases ----

typedef struct {
  int shape; // topology, or a mixture
  CeedInt space_dim, order;
  int num_regions;
  bool is_closed;
  CeedInt degree, num_comp, num_points;
  RitzOperatorKind kind;
  CeedQuadMode quad_mode;
  bool lambda_varies, mu_varies;
} Case;

static const char *describe(const Case *c, RitzGeometryPolicy policy) {
  static char text[300];

  snprintf(text, sizeof(text),
           "%s, %s: shape %s in %d, order %d, regions %d, closed %d, degree %d, components %d, points %d, "
           "rule %d, varying %d %d",
           kind_name(c->kind), RitzGeometryPolicyName(policy),
           c->shape < 0 ? "mixed" : CeedElemTopologies[c->shape], (int)c->space_dim, (int)c->order,
           c->num_regions, c->is_closed, (int)c->degree, (int)c->num_comp, (int)c->num_points,
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

// Under the map of geometry-kit.h, whose thirds are affine, multilinear and curved.
static int create_mesh(Ceed ceed, const Case *c, uint64_t seed, RitzMesh *mesh) {
  MixedMap map = mixed_map(c->space_dim, c->num_regions, &seed);
  RitzMeshDraft draft;

  RITZ_TRY(flat_draft(ceed, c->shape, c->order, &draft));
  if (c->is_closed) close_draft(&draft);
  return build_mapped(ceed, &draft, &map, mesh);
}

static int create_problem(Ceed ceed, const Case *c, uint64_t seed, Problem *p) {
  *p = (Problem){.ceed = ceed};
  RITZ_TRY(create_mesh(ceed, c, seed, &p->mesh));
  RITZ_TRY(RitzGeometryCreate(p->mesh, -1, &p->geometry));
  RITZ_TRY(RitzSpaceCreate(p->mesh, c->degree, c->num_comp, &p->space));
  return RitzSpaceGetSize(p->space, &p->size);
}

static void destroy_problem(Problem *p) {
  RitzSpaceDestroy(&p->space);
  RitzGeometryDestroy(&p->geometry);
  RitzMeshDestroy(&p->mesh);
}

// *ctx: the dimension of space. Linear, positive.
static int varying_lambda(void *ctx, const double *x, double *value) {
  *value = 9;
  for (CeedInt d = 0; d < *(CeedInt *)ctx; d++) *value += (d + 1) * x[d];
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

static double *apply_policy(const Case *c, const Problem *p, RitzGeometryPolicy policy, const double *u) {
  CeedOperator op = NULL;

  if (create_operator(c, p, policy, &op)) return NULL;
  double *y = apply_operator(op, p->size, u);

  CeedOperatorDestroy(&op);
  return y;
}

// ---- All policies agree ----

// Sums of some hundred products of factors whose own error is a few dozen eps, and that of the tables.
static double tolerance(CeedSize n, const double *y) { return 1000 * eps * reference_largest(n, y); }

static void check_policies(Ceed ceed, const Case *c, RitzGeometryPolicy first, RitzGeometryPolicy last) {
  Ceed plain = tap_ceed("/cpu/self/ref");
  uint64_t seed = 7;
  Problem p, reference;

  CHECK_OK(create_problem(plain, c, 3, &reference));
  CHECK_OK(create_problem(ceed, c, 3, &p));
  double *u = reference_new_random(p.size, &seed);
  double *wanted = apply_policy(c, &reference, RITZ_POLICY_STORED, u);

  CHECK(wanted, "%s: no reference", describe(c, RITZ_POLICY_STORED));
  for (int i = (int)first; i <= (int)last && !tap_failed(); i++) {
    double *y = apply_policy(c, &p, (RitzGeometryPolicy)i, u);

    CHECK(y, "%s: no operator", describe(c, (RitzGeometryPolicy)i));
    CHECK_NEAR(reference_distance(p.size, y, wanted), 0, tolerance(p.size, wanted), "%s",
               describe(c, (RitzGeometryPolicy)i));
    free(y);
  }
  free(u);
  free(wanted);
  destroy_problem(&p);
  destroy_problem(&reference);
  CeedDestroy(&plain);
}

static const int all_shapes[] = {CEED_TOPOLOGY_TRIANGLE, CEED_TOPOLOGY_TET, CEED_TOPOLOGY_PRISM,
                                 CEED_TOPOLOGY_PYRAMID,  MIXED_PLANE,       MIXED_SOLID};
enum { NUM_SHAPES = sizeof(all_shapes) / sizeof(all_shapes[0]) };

// Every shape and kind, the rest at random.
static Case random_case(int index, uint64_t *seed) {
  Case c = {.shape = all_shapes[index % NUM_SHAPES], .kind = (RitzOperatorKind)(index / NUM_SHAPES % 3)};
  const CeedInt dim = dim_of(c.shape);

  c.space_dim = dim == 2 && tap_integer(seed, 3) == 0 ? 3 : dim;
  c.num_regions = 1 + (int)tap_integer(seed, 3);
  c.order = c.num_regions < 3 ? 1 + (CeedInt)tap_integer(seed, 2) : 2 + (CeedInt)tap_integer(seed, 2);
  c.degree = 1 + (CeedInt)tap_integer(seed, dim == 3 ? 2 : 4);
  c.num_comp = 1 + (CeedInt)tap_integer(seed, 3);
  c.quad_mode = tap_integer(seed, 2) ? CEED_GAUSS : CEED_GAUSS_LOBATTO;
  c.num_points = tap_integer(seed, 3) ? 0 : c.degree + 1;
  c.lambda_varies = tap_integer(seed, 3) == 0;
  c.mu_varies = tap_integer(seed, 3) == 0;
  c.is_closed = tap_integer(seed, 4) == 0;
  return c;
}

TEST_EACH_BACKEND(all_policies_give_the_same_operator_on_every_shape) {
  const int num_cases = tap_level() == TAP_QUICK ? 12 : tap_level() == TAP_FULL ? 36 : 540;
  uint64_t seed = 12;

  if (compiles(ceed) && tap_level() < TAP_EXHAUSTIVE) NOT_FOR_THIS_BACKEND("each case compiles many kernels");
  for (int i = 0; i < num_cases && !tap_failed(); i++) {
    const Case c = random_case(i, &seed);
    check_policies(ceed, &c, RITZ_POLICY_AUTO, RITZ_POLICY_ISOPARAMETRIC);
  }
}

// On all backends.
TEST_EACH_BACKEND(diffusion_on_straight_tetrahedra_is_that_of_stored_factors) {
  const Case c = {.shape = CEED_TOPOLOGY_TET,
                  .space_dim = 3,
                  .order = 1,
                  .num_regions = 2,
                  .degree = 2,
                  .num_comp = 1,
                  .kind = RITZ_OPERATOR_DIFFUSION};

  check_policies(ceed, &c, RITZ_POLICY_AUTO, RITZ_POLICY_AUTO);
}

// Also where the elements have coordinates of their own.
TEST_EACH_BACKEND(triangles_and_quadrilaterals_add_up) {
  Case c = {.shape = MIXED_PLANE,
            .space_dim = 2,
            .order = 1,
            .num_regions = 1,
            .degree = 3,
            .num_comp = 3,
            .kind = RITZ_OPERATOR_HELMHOLTZ};

  if (compiles(ceed) && tap_level() == TAP_QUICK) NOT_FOR_THIS_BACKEND("makes too many kernels");
  if (tap_compiles_slowly(ceed)) NOT_FOR_THIS_BACKEND("makes too many kernels");
  for (int closed = 0; closed < 2 && !tap_failed(); closed++) {
    c.is_closed = closed;
    check_policies(ceed, &c, RITZ_POLICY_AFFINE, RITZ_POLICY_AFFINE);
  }
}

TEST_EACH_BACKEND(a_mesh_of_all_shapes_and_kinds_has_the_right_operator) {
  const Case c = {.shape = MIXED_SOLID,
                  .space_dim = 3,
                  .order = 2,
                  .num_regions = 3,
                  .degree = 2,
                  .num_comp = 1,
                  .kind = RITZ_OPERATOR_DIFFUSION};

  if (compiles(ceed) && tap_level() < TAP_EXHAUSTIVE) NOT_FOR_THIS_BACKEND("makes too many kernels");
  check_policies(ceed, &c, RITZ_POLICY_AUTO, RITZ_POLICY_AUTO);
}

// ---- What the operators compute ----

// Component 0 is 1 (d < 0) or coordinate number d of the position, the others vanish.
static double *new_function(const Problem *p, const Case *c, CeedInt d) {
  const int64_t num_nodes = p->size / c->num_comp;
  double *x = reference_new((CeedSize)num_nodes * c->space_dim), *u = reference_new(p->size);

  RitzSpaceGetNodeCoordinates(p->space, x);
  for (int64_t i = 0; i < num_nodes; i++)
    u[i * c->num_comp] = d < 0 ? 1 : (double)(CeedScalar)x[i * c->space_dim + d];
  free(x);
  return u;
}

static double energy(CeedOperator op, const Problem *p, const Case *c, CeedInt d) {
  double *u = new_function(p, c, d), *y = apply_operator(op, p->size, u);
  const double result = reference_dot(p->size, u, y);

  free(u);
  free(y);
  return result;
}

// lambda = 9 + sum (d + 1) x_d inside the integral of 1, or applied to the nodes: what the points see is the
// same, since coordinates are in the space.
static void check_positions(const Case *c, const Problem *p, RitzGeometryPolicy policy) {
  Case constant = *c;
  CeedOperator op = NULL, op_constant = NULL;
  double *one = new_function(p, c, -1), *sum = reference_new(p->size);

  constant.lambda_varies = false;
  CHECK_OK(create_operator(c, p, policy, &op));
  CHECK_OK(create_operator(&constant, p, policy, &op_constant));
  for (CeedInt d = -1; d < c->space_dim; d++) {
    double *x = new_function(p, c, d);

    for (CeedSize i = 0; i < p->size; i++) sum[i] += (d < 0 ? 9 : d + 1) * x[i] / 1.7;
    free(x);
  }
  double *y = apply_operator(op_constant, p->size, sum);
  const double wanted = reference_dot(p->size, one, y);

  CHECK_NEAR(energy(op, p, c, -1), wanted, 1000 * eps * fabs(wanted), "%s", describe(c, policy));
  free(y);
  free(one);
  free(sum);
  CeedOperatorDestroy(&op);
  CeedOperatorDestroy(&op_constant);
}

// The degree is at least the order, so that coordinates are in the space; the rule integrates det exactly. On
// surfaces in space det is integrated exactly where it is constant.
static void check_integrals(Ceed ceed, const Case *c, RitzGeometryPolicy policy) {
  CeedOperator op = NULL;
  double volume = 0, sum = 0;
  Problem p;

  CHECK_OK(create_problem(ceed, c, 5, &p));
  CHECK_OK(RitzMeshGetMeasure(p.mesh, &volume, NULL, NULL));
  if (c->lambda_varies) {
    check_positions(c, &p, policy);
    destroy_problem(&p);
    return;
  }
  CHECK_OK(create_operator(c, &p, policy, &op));
  for (CeedInt d = 0; d < c->space_dim && c->kind == RITZ_OPERATOR_DIFFUSION; d++)
    sum += energy(op, &p, c, d);
  if (c->kind == RITZ_OPERATOR_DIFFUSION) {
    double *one = new_function(&p, c, -1), *y = apply_operator(op, p.size, one);

    CHECK_NEAR(reference_largest(p.size, y), 0, 1000 * eps, "%s: of a constant", describe(c, policy));
    CHECK_NEAR(sum, 0.6 * dim_of(c->shape) * volume, 3000 * eps * volume, "%s", describe(c, policy));
    free(one);
    free(y);
  } else {
    CHECK_NEAR(energy(op, &p, c, -1), 1.7 * volume, 1000 * eps * volume, "%s", describe(c, policy));
  }
  CeedOperatorDestroy(&op);
  destroy_problem(&p);
}

TEST_EACH_BACKEND(mass_has_the_volume_and_diffusion_the_energy_of_coordinates) {
  if (compiles(ceed) && tap_level() < TAP_EXHAUSTIVE) NOT_FOR_THIS_BACKEND("makes too many kernels");
  for (int i = 0; i < 4 * NUM_SHAPES * 2 && !tap_failed(); i++) {
    const int shape = all_shapes[i / 8], embedded = i % 2;
    const RitzGeometryPolicy policy[3] = {RITZ_POLICY_AFFINE, RITZ_POLICY_TRILINEAR,
                                          RITZ_POLICY_ISOPARAMETRIC};
    const Case c = {.shape = shape,
                    .space_dim = embedded ? 3 : dim_of(shape),
                    .order = 2,
                    .num_regions = embedded ? 1 : 3,
                    .degree = 2,
                    .num_comp = 2,
                    .kind = i / 2 % 4 == 0 ? RITZ_OPERATOR_MASS : RITZ_OPERATOR_DIFFUSION,
                    .lambda_varies = false};
    Case varying = c;

    if (embedded && dim_of(shape) == 3) continue;
    check_integrals(ceed, &c, policy[i / 2 % 3]);
    varying.kind = RITZ_OPERATOR_MASS;
    varying.lambda_varies = true;
    if (i / 2 % 4 == 1) check_integrals(ceed, &varying, policy[i % 3]);
  }
}

// Node i of the diagonal is what unit vector i gives in place i, and the parts add up to it.
TEST_EACH_BACKEND(the_diagonal_is_that_of_the_sum_of_the_parts) {
  const Case c = {.shape = MIXED_SOLID,
                  .space_dim = 3,
                  .order = 2,
                  .num_regions = 3,
                  .degree = 1,
                  .num_comp = 2,
                  .kind = RITZ_OPERATOR_HELMHOLTZ};
  CeedOperator op = NULL, *parts = NULL;
  CeedVector diagonal = NULL, part = NULL;
  CeedInt num_parts = 0;
  Problem p;

  if (compiles(ceed) && tap_level() < TAP_EXHAUSTIVE) NOT_FOR_THIS_BACKEND("makes too many kernels");
  CHECK_OK(create_problem(ceed, &c, 4, &p));
  CHECK_OK(create_operator(&c, &p, RITZ_POLICY_TRILINEAR, &op));
  CHECK_OK(CeedVectorCreate(ceed, p.size, &diagonal));
  CHECK_OK(CeedVectorCreate(ceed, p.size, &part));
  CHECK_OK(CeedOperatorLinearAssembleDiagonal(op, diagonal, CEED_REQUEST_IMMEDIATE));
  double *found = reference_new_values(diagonal), *sum = reference_new(p.size), *unit = reference_new(p.size);

  CHECK_OK(CeedOperatorCompositeGetNumSub(op, &num_parts));
  CHECK_OK(CeedOperatorCompositeGetSubList(op, &parts));
  for (CeedInt k = 0; k < num_parts; k++) {
    CHECK_OK(CeedOperatorLinearAssembleDiagonal(parts[k], part, CEED_REQUEST_IMMEDIATE));
    double *of_part = reference_new_values(part);

    for (CeedSize i = 0; i < p.size; i++) sum[i] += of_part[i];
    free(of_part);
  }
  CHECK_NEAR(reference_distance(p.size, found, sum), 0, tolerance(p.size, sum), "sum of the parts");
  for (CeedSize i = 0; i < p.size && !tap_failed(); i += 3) {
    unit[i] = 1;
    double *column = apply_operator(op, p.size, unit);

    CHECK_NEAR(found[i], column[i], tolerance(p.size, sum), "entry %d", (int)i);
    unit[i] = 0;
    free(column);
  }
  free(found);
  free(sum);
  free(unit);
  CeedVectorDestroy(&diagonal);
  CeedVectorDestroy(&part);
  CeedOperatorDestroy(&op);
  destroy_problem(&p);
}

// ---- Functions at points ----

static const RitzPointFunction helmholtz_functions[3] = {
    RITZ_POINT_FUNCTION_TABLE(helmholtz_at_point_1, 1, 1),
    RITZ_POINT_FUNCTION_TABLE(helmholtz_at_point_2, 2, 3),
    RITZ_POINT_FUNCTION_TABLE(helmholtz_at_point_3, 3, 2),
};
static const RitzPointFunction nonlinear_function = RITZ_POINT_FUNCTION_TABLE(nonlinear_at_point, 3, 3);

static double *apply_point_function(const Case *c, const Problem *p, const RitzPointFunction *f,
                                    RitzGeometryPolicy policy, const double *u) {
  const RitzOperatorOptions options = make_options(c, p, policy);
  const PointParameters parameters = {(CeedScalar)1.7, (CeedScalar)0.6};
  CeedQFunctionContext ctx = NULL;
  CeedOperator op = NULL;
  double *y = NULL;

  if (CeedQFunctionContextCreate(p->ceed, &ctx)) return NULL;
  CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(parameters), (void *)&parameters);
  if (!RitzGeometryCreatePointOperator(p->geometry, p->ceed, &options, f, ctx, &op))
    y = apply_operator(op, p->size, u);
  CeedQFunctionContextDestroy(&ctx);
  CeedOperatorDestroy(&op);
  return y;
}

// wanted: of the standard operator or, where f is not one, of stored factors.
static void check_point_function(Ceed ceed, const Case *c, const RitzPointFunction *f, bool is_standard) {
  uint64_t seed = 21;
  Problem p;

  CHECK_OK(create_problem(ceed, c, 6, &p));
  double *u = reference_new_random(p.size, &seed);
  double *wanted = is_standard ? apply_policy(c, &p, RITZ_POLICY_STORED, u)
                               : apply_point_function(c, &p, f, RITZ_POLICY_STORED, u);

  CHECK(wanted, "no reference");
  for (int policy = RITZ_POLICY_AUTO; policy <= RITZ_POLICY_ISOPARAMETRIC; policy++) {
    if (policy == RITZ_POLICY_PARTIAL || policy == RITZ_POLICY_MERGED) continue;
    double *y = apply_point_function(c, &p, f, (RitzGeometryPolicy)policy, u);

    CHECK(y, "%s: no operator", describe(c, (RitzGeometryPolicy)policy));
    CHECK_NEAR(reference_distance(p.size, y, wanted), 0, tolerance(p.size, wanted), "%s",
               describe(c, (RitzGeometryPolicy)policy));
    free(y);
  }
  free(u);
  free(wanted);
  destroy_problem(&p);
}

TEST_EACH_BACKEND(a_point_function_of_the_gradient_is_the_standard_operator) {
  if (compiles(ceed) && tap_level() < TAP_EXHAUSTIVE) NOT_FOR_THIS_BACKEND("makes too many kernels");
  for (int i = 0; i < NUM_SHAPES && !tap_failed(); i++) {
    const RitzPointFunction *f = &helmholtz_functions[dim_of(all_shapes[i]) - 1];
    const Case c = {.shape = all_shapes[i],
                    .space_dim = f->dim,
                    .order = 2,
                    .num_regions = 3,
                    .degree = 2,
                    .num_comp = f->num_comp,
                    .is_closed = i % 2,
                    .kind = RITZ_OPERATOR_HELMHOLTZ};

    check_point_function(ceed, &c, f, true);
  }
}

TEST_EACH_BACKEND(a_nonlinear_point_function_does_not_depend_on_the_policy) {
  const Case c = {
      .shape = MIXED_SOLID, .space_dim = 3, .order = 2, .num_regions = 3, .degree = 1, .num_comp = 3};

  if (compiles(ceed) && tap_level() < TAP_EXHAUSTIVE) NOT_FOR_THIS_BACKEND("makes too many kernels");
  check_point_function(ceed, &c, &nonlinear_function, false);
}

// ---- Policies ----

static const RitzGeometryPolicy stored = RITZ_POLICY_STORED, affine = RITZ_POLICY_AFFINE,
                                trilinear = RITZ_POLICY_TRILINEAR, partial = RITZ_POLICY_PARTIAL,
                                merged = RITZ_POLICY_MERGED, isoparametric = RITZ_POLICY_ISOPARAMETRIC;

TEST(straight_simplices_are_affine_where_hexahedra_are_trilinear) {
  const struct {
    RitzGeometryPolicy policy, simplices[3], others[3]; // affine, trilinear, curved
  } rows[] = {{stored, {stored, stored, stored}, {stored, stored, stored}},
              {affine, {affine, stored, stored}, {affine, stored, stored}},
              {trilinear, {affine, stored, stored}, {trilinear, trilinear, stored}},
              {partial, {affine, stored, stored}, {partial, partial, stored}},
              {merged, {affine, stored, stored}, {merged, merged, stored}},
              {isoparametric,
               {isoparametric, isoparametric, isoparametric},
               {isoparametric, isoparametric, isoparametric}}};
  const Case c = {
      .shape = MIXED_SOLID, .space_dim = 3, .order = 2, .num_regions = 3, .degree = 1, .num_comp = 1};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Problem p;

  CHECK_OK(create_problem(ceed, &c, 1, &p));
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    const RitzOperatorOptions options = {
        .kind = RITZ_OPERATOR_DIFFUSION, .space = p.space, .policy = rows[i].policy};

    for (int b = 0; b < 4; b++) { // the first block: tetrahedra
      for (int k = 0; k < 3; k++) {
        RitzGeometryPolicy used = RITZ_POLICY_AUTO;
        const RitzGeometryPolicy wanted = b ? rows[i].others[k] : rows[i].simplices[k];

        CHECK_OK(RitzGeometryGetBlockPolicyUsed(p.geometry, ceed, b, &options, (RitzElementKind)k, &used));
        CHECK(used == wanted, "%s: block %d, kind %d is %s", RitzGeometryPolicyName(rows[i].policy), b, k,
              RitzGeometryPolicyName(used));
      }
    }
  }
  const RitzOperatorOptions options = {.space = p.space};
  RitzGeometryPolicy used;

  CHECK_ERROR(ceed, RitzGeometryGetPolicyUsed(p.geometry, ceed, &options, RITZ_ELEMENT_AFFINE, &used),
              CEED_ERROR_UNSUPPORTED, "elements of 4 shapes");
  CHECK_ERROR(ceed, RitzGeometryGetBlockPolicyUsed(p.geometry, ceed, 4, &options, RITZ_ELEMENT_AFFINE, &used),
              CEED_ERROR_DIMENSION, "no block 4");
  destroy_problem(&p);
  CHECK_OK(CeedDestroy(&ceed));
}

// Whatever the operator, the degree and the backend.
TEST_EACH_BACKEND(the_automatic_policy_treats_straight_simplices_as_affine) {
  for (int i = 0; i < 2 * 4 * 8 && !tap_failed(); i++) {
    const Case c = {.shape = i % 2 ? CEED_TOPOLOGY_TET : CEED_TOPOLOGY_TRIANGLE,
                    .space_dim = i % 2 ? 3 : 2,
                    .order = 1,
                    .num_regions = 2,
                    .degree = 1 + i / 8,
                    .num_comp = 1};
    RitzGeometryPolicy used = RITZ_POLICY_AUTO;
    Problem p;

    CHECK_OK(create_problem(ceed, &c, 1, &p));
    const RitzOperatorOptions options = {.kind = (RitzOperatorKind)(i / 2 % 4), .space = p.space};

    CHECK_OK(RitzGeometryGetPolicyUsed(p.geometry, ceed, &options, RITZ_ELEMENT_AFFINE, &used));
    CHECK(used == affine, "%s of degree %d: %s", kind_name(options.kind), (int)c.degree,
          RitzGeometryPolicyName(used));
    destroy_problem(&p);
  }
}

static bool has_name(const char *name, const char *const *names) {
  while (*names && strcmp(*names, name)) names++;
  return *names != NULL;
}

// The parts of a mass operator under the affine policy have these names, in any order, and all elements.
static void check_names(Ceed ceed, const Case *c, const char *const *names) {
  CeedOperator op = NULL, *parts = NULL;
  CeedInt num_parts = 0, num_elem = 0;
  int64_t wanted = 0;
  Problem p;

  CHECK_OK(create_problem(ceed, c, 1, &p));
  CHECK_OK(RitzMeshGetNumElements(p.mesh, &wanted));
  CHECK_OK(create_operator(c, &p, RITZ_POLICY_AFFINE, &op));
  CHECK_OK(CeedOperatorCompositeGetNumSub(op, &num_parts));
  CHECK_OK(CeedOperatorCompositeGetSubList(op, &parts));
  for (CeedInt i = 0; i < num_parts; i++) {
    const char *name = NULL;
    CeedInt num = 0;

    CHECK_OK(CeedOperatorGetName(parts[i], &name));
    CHECK_OK(CeedOperatorGetNumElements(parts[i], &num));
    CHECK(has_name(name, names), "part '%s'", name);
    num_elem += num;
  }
  for (; *names; names++) num_parts--;
  CHECK(num_parts == 0 && num_elem == wanted, "%d parts too many, %d of %d elements", (int)num_parts,
        (int)num_elem, (int)wanted);
  CeedOperatorDestroy(&op);
  destroy_problem(&p);
}

TEST(parts_are_named_by_shape_where_there_are_several) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const char *const one[] = {"mass, affine", "mass, stored", NULL};
  // A pyramid on the face of an affine hexahedron is affine.
  const char *const several[] = {"mass, hexahedra, affine", "mass, tetrahedra, affine",
                                 "mass, pyramids, affine",  "mass, pyramids, stored",
                                 "mass, prisms, stored",    NULL};
  Case c = {.shape = CEED_TOPOLOGY_PRISM,
            .space_dim = 3,
            .order = 1,
            .num_regions = 2,
            .degree = 1,
            .num_comp = 1,
            .kind = RITZ_OPERATOR_MASS};

  check_names(ceed, &c, one);
  c.shape = MIXED_SOLID;
  check_names(ceed, &c, several);
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- Elements that are refused ----

// Spoils the last element of block b: it is mirrored, or a number is missing, or node 1 of an edge lies
// behind its end.
typedef enum { MIRRORED, NOT_FINITE, FOLDED } Damage;

static void spoil(Damage damage, CeedInt order, int64_t num_nodes, double *x) {
  for (int64_t i = 0; i < num_nodes && damage == MIRRORED; i++) x[3 * i] = -x[3 * i];
  if (damage == NOT_FINITE) x[3 * num_nodes - 1] = NAN;
  for (int d = 0; d < 3 && damage == FOLDED; d++) x[3 + d] = x[d] + 3 * (x[3 * order + d] - x[d]);
}

static void check_refused(Ceed ceed, CeedInt order, int b, Damage damage, const char *problem) {
  const Case c = {.shape = MIXED_SOLID, .space_dim = 3, .order = order, .num_regions = 1};
  RitzGeometry geometry = NULL;
  RitzMesh mesh = NULL;
  char message[100];

  CHECK_OK(create_mesh(ceed, &c, 1, &mesh));
  const RitzMeshBlock *block = &mesh->blocks[b];
  const int64_t last = block->num_elem - 1;

  spoil(damage, order, block->num_nodes, mesh->coords + (block->node_base + last * block->num_nodes) * 3);
  snprintf(message, sizeof(message), "element %lld %s", (long long)(block->first + last), problem);
  CHECK_ERROR(ceed, RitzGeometryCreate(mesh, -1, &geometry), CEED_ERROR_MAJOR, message);
  CHECK(!geometry, "a geometry in spite of the error");
  CHECK_OK(RitzMeshDestroy(&mesh));
}

TEST(elements_of_every_shape_are_refused_by_their_number_in_the_mesh) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int b = 0; b < 4; b++) {
    for (CeedInt order = 1; order <= 3; order++) {
      check_refused(ceed, order, b, MIRRORED, "is inverted: its smallest Jacobian determinant is -");
      check_refused(ceed, order, b, NOT_FINITE, "has a coordinate that is not finite");
      if (order > 1) check_refused(ceed, order, b, FOLDED, "is inverted");
    }
  }
  CHECK_OK(CeedDestroy(&ceed));
}

// The fourth corner of a tetrahedron in the plane of the others; thin ones are fine.
TEST(flat_tetrahedra_are_refused_and_thin_ones_are_not) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const double heights[3] = {0, eps / 2, 1000 * eps};
  const Case c = {.shape = CEED_TOPOLOGY_TET, .space_dim = 3, .order = 1, .num_regions = 1};

  for (int i = 0; i < 3; i++) {
    RitzGeometry geometry = NULL;
    RitzMesh mesh = NULL;

    CHECK_OK(create_mesh(ceed, &c, 1, &mesh));
    const double corners[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.25, 0.25, heights[i]}};

    memcpy(mesh->coords + 5 * 12, corners, sizeof(corners));
    if (i < 2) {
      CHECK_ERROR(ceed, RitzGeometryCreate(mesh, -1, &geometry), CEED_ERROR_MAJOR, "element 5 is flat");
    } else {
      CHECK_OK(RitzGeometryCreate(mesh, -1, &geometry));
    }
    CHECK_OK(RitzGeometryDestroy(&geometry));
    CHECK_OK(RitzMeshDestroy(&mesh));
  }
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- Memory ----

// Every allocation on the way fails once: an error and nothing left, until there are no more of them.
TEST(failing_memory_leaves_nothing_behind) {
  const Case c = {.shape = MIXED_PLANE,
                  .space_dim = 2,
                  .order = 1,
                  .num_regions = 2,
                  .degree = 1,
                  .num_comp = 1,
                  .kind = RITZ_OPERATOR_HELMHOLTZ,
                  .mu_varies = true};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  CeedOperator op = NULL;
  RitzGeometry geometry = NULL;
  int ierr = CEED_ERROR_MAJOR;
  Problem p;

  const int64_t live = ritz_memory_live();
  for (int64_t n = 1; ierr; n++) {
    CHECK_OK(create_problem(ceed, &c, 1, &p)); // the space keeps restrictions that were made
    const RitzOperatorOptions options = make_options(&c, &p, RITZ_POLICY_AFFINE);
    ritz_memory_fail_at(n);
    ierr = RitzGeometryCreate(p.mesh, -1, &geometry);
    if (!ierr) ierr = RitzGeometryCreateOperator(geometry, ceed, &options, &op);
    ritz_memory_fail_at(0);
    CHECK_OK(CeedOperatorDestroy(&op));
    CHECK_OK(RitzGeometryDestroy(&geometry));
    destroy_problem(&p);
    CHECK(ritz_memory_live() == live, "allocation %d of an operator: %d left", (int)n,
          (int)(ritz_memory_live() - live));
    CHECK(n < 10000, "no end");
  }
  CHECK_OK(CeedDestroy(&ceed));
}

// Figures of this machine that other programs have kept are none of these tests' business.
int main(int argc, char **argv) {
  setenv("RITZ_CACHE", "off", 1);
  return tap_main(
      argc, argv,
      TESTS(all_policies_give_the_same_operator_on_every_shape,
            diffusion_on_straight_tetrahedra_is_that_of_stored_factors, triangles_and_quadrilaterals_add_up,
            a_mesh_of_all_shapes_and_kinds_has_the_right_operator,
            mass_has_the_volume_and_diffusion_the_energy_of_coordinates,
            the_diagonal_is_that_of_the_sum_of_the_parts,
            a_point_function_of_the_gradient_is_the_standard_operator,
            a_nonlinear_point_function_does_not_depend_on_the_policy,
            straight_simplices_are_affine_where_hexahedra_are_trilinear,
            the_automatic_policy_treats_straight_simplices_as_affine,
            parts_are_named_by_shape_where_there_are_several,
            elements_of_every_shape_are_refused_by_their_number_in_the_mesh,
            flat_tetrahedra_are_refused_and_thin_ones_are_not, failing_memory_leaves_nothing_behind));
}
