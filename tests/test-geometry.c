// SPDX-License-Identifier: BSD-2-Clause
// ritz/geometry.h apart from what its operators compute (test-geometry-policies.c): kinds of elements,
// elements that are refused, what becomes of each kind under each policy, misuse, failing memory.
#include "tests/geometry-kit.h"
#include "tests/geometry-points.h"

#include "base/memory.h"
#include "machine/machine.h"
#include <time.h>
#include <unistd.h>

// ---- Kinds of elements ----

static int create_mixed(Ceed ceed, CeedInt dim, int num_regions, RitzMesh *mesh, RitzGeometry *geometry) {
  uint64_t seed = 5;
  MixedMap map = mixed_map(dim, num_regions, &seed);

  RITZ_TRY(make_mixed_box(ceed, dim, 2, &map, mesh));
  return RitzGeometryCreate(*mesh, -1, geometry);
}

TEST(names_of_policies_go_both_ways) {
  RitzGeometryPolicy policy = RITZ_POLICY_AUTO;
  int num = 0;

  for (; RitzGeometryPolicyName((RitzGeometryPolicy)num); num++) {
    CHECK_OK(RitzGeometryPolicyFromName(RitzGeometryPolicyName((RitzGeometryPolicy)num), &policy));
    CHECK((int)policy == num, "policy %d", num);
  }
  CHECK(num == RITZ_POLICY_ISOPARAMETRIC + 1, "%d names", num);
  CHECK(!RitzGeometryPolicyName((RitzGeometryPolicy)-1), "a name for -1");
}

TEST(elements_are_listed_by_kind_in_ascending_order) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh = NULL, same = NULL;
  RitzGeometry geometry = NULL;
  RitzElementKind kinds[12];
  int64_t total = 0;

  CHECK_OK(create_mixed(ceed, 3, 3, &mesh, &geometry));
  CHECK_OK(RitzGeometryGetMesh(geometry, &same));
  CHECK(same == mesh, "another mesh");
  CHECK_OK(RitzMeshClassifyElements(mesh, -1, kinds, NULL));
  for (int kind = 0; kind < 3; kind++) {
    const CeedInt *elements = NULL;
    int64_t num = 0;

    CHECK_OK(RitzGeometryGetElements(geometry, (RitzElementKind)kind, &num, &elements));
    CHECK_OK(RitzGeometryGetElements(geometry, (RitzElementKind)kind, NULL, NULL));
    CHECK(num == 4, "%d elements of kind %d", (int)num, kind);
    for (int64_t i = 0; i < num; i++) {
      CHECK((int)kinds[elements[i]] == kind, "element %d is not of kind %d", (int)elements[i], kind);
      CHECK(i == 0 || elements[i] > elements[i - 1], "not ascending at %d", (int)i);
    }
    total += num;
  }
  CHECK(total == 12, "%d elements", (int)total);
  CHECK_ERROR(ceed, RitzGeometryGetElements(geometry, (RitzElementKind)3, NULL, NULL),
              CEED_ERROR_INCOMPATIBLE, "no kind");
  CHECK_OK(RitzGeometryDestroy(&geometry));
  CHECK_OK(RitzMeshDestroy(&mesh));
  CHECK_OK(CeedDestroy(&ceed));
}

// The third column of elements is bent by 4e-8 of its size.
static int nearly_straight(void *ctx, CeedInt dim, const double *X, double *x) {
  const double bend = fmax(X[0] - 2.0 / 3, 0);

  (void)ctx;
  for (CeedInt d = 0; d < dim; d++) x[d] = X[d] + (d == 1 ? 1e-7 * bend * bend : 0);
  return 0;
}

TEST(the_tolerance_decides_whether_a_bent_element_is_affine) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh = NULL;

  CHECK_OK(RitzMeshCreateBox(ceed, 2, mixed_size, NULL, NULL, 2, nearly_straight, NULL, &mesh));
  for (int i = 0; i < 3; i++) {
    const double tolerance[3] = {-1, 1e-9, 1e-6};
    RitzGeometry geometry = NULL;
    int64_t num = 0;

    CHECK_OK(RitzGeometryCreate(mesh, tolerance[i], &geometry));
    CHECK_OK(RitzGeometryGetElements(geometry, RITZ_ELEMENT_AFFINE, &num, NULL));
    CHECK(num == (i == 2 ? 6 : 4), "%d affine elements with tolerance %g", (int)num, tolerance[i]);
    CHECK_OK(RitzGeometryDestroy(&geometry));
  }
  CHECK_OK(RitzMeshDestroy(&mesh));
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- Elements that are refused ----

// Moves a node of an element of a mesh that was made of better ones.
static void check_refused(Ceed ceed, CeedInt dim, CeedInt order, int64_t element, int64_t node, double x0,
                          const char *message) {
  uint64_t seed = 5;
  MixedMap map = mixed_map(dim, 1, &seed);
  RitzGeometry geometry = NULL;
  RitzMesh mesh = NULL;

  CHECK_OK(make_mixed_box(ceed, dim, order, &map, &mesh));
  mesh->coords[(element * power(order + 1, dim) + node) * dim] = x0;
  CHECK_ERROR(ceed, RitzGeometryCreate(mesh, -1, &geometry), CEED_ERROR_MAJOR, message);
  CHECK(!geometry, "a geometry in spite of the error");
  CHECK_OK(RitzMeshDestroy(&mesh));
}

TEST(elements_that_are_inverted_or_not_finite_are_refused_by_number) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (CeedInt dim = 1; dim <= 3; dim++) {
    check_refused(ceed, dim, 1, 1, 1, -5, "element 1 is inverted: its smallest Jacobian determinant is -");
    check_refused(ceed, dim, 2, 2, 0, 9, "element 2 is inverted: its smallest Jacobian determinant is -");
    check_refused(ceed, dim, 3, 1, 2, NAN, "element 1 has a coordinate that is not finite");
    check_refused(ceed, dim, 1, 2, 0, INFINITY, "element 2 has a coordinate that is not finite");
    // Between the corners only: a node of the edge lies beyond its neighbour.
    check_refused(ceed, dim, 3, 0, 1, 4, "element 0 is inverted");
  }
  CHECK_OK(CeedDestroy(&ceed));
}

// Two corners of an element in one place, and a quadrilateral whose corner lies on the line of its
// neighbours.
TEST(flat_elements_are_refused_and_thin_ones_are_not) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const double upper[3] = {1e6, 1, 1e-6};
  RitzGeometry geometry = NULL;
  RitzMesh mesh = NULL;

  CHECK_OK(RitzMeshCreateBox(ceed, 1, mixed_size, NULL, NULL, 1, NULL, NULL, &mesh));
  mesh->is_rectangular = false; // no longer
  mesh->coords[2] = mesh->coords[3];
  CHECK_ERROR(ceed, RitzGeometryCreate(mesh, -1, &geometry), CEED_ERROR_MAJOR, "element 1 is flat");
  CHECK_OK(RitzMeshDestroy(&mesh));

  CHECK_OK(RitzMeshCreateBox(ceed, 2, (CeedInt[2]){1, 1}, NULL, NULL, 1, NULL, NULL, &mesh));
  mesh->is_rectangular = false;
  for (int i = -1; i <= 1; i++) { // on the line, and off it by rounding
    mesh->coords[6] = mesh->coords[7] = 0.5 + i * 0x1p-53;
    CHECK_ERROR(ceed, RitzGeometryCreate(mesh, -1, &geometry), CEED_ERROR_MAJOR, "element 0 is flat");
  }
  CHECK_OK(RitzMeshDestroy(&mesh));

  CHECK_OK(RitzMeshCreateBox(ceed, 3, mixed_size, NULL, upper, 1, NULL, NULL, &mesh));
  CHECK_OK(RitzGeometryCreate(mesh, -1, &geometry));
  CHECK_OK(RitzGeometryDestroy(&geometry));
  CHECK_OK(RitzMeshDestroy(&mesh));
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- Policies ----

static const RitzGeometryPolicy stored = RITZ_POLICY_STORED, affine = RITZ_POLICY_AFFINE,
                                trilinear = RITZ_POLICY_TRILINEAR, partial = RITZ_POLICY_PARTIAL,
                                merged = RITZ_POLICY_MERGED, isoparametric = RITZ_POLICY_ISOPARAMETRIC;

static int constant_coefficient(void *ctx, const double *x, double *value) {
  (void)x;
  *value = ctx ? *(double *)ctx : 1;
  return 0;
}

// The parts of the operator are the different policies used, in any order, and their names say so.
static void check_parts(Ceed ceed, RitzGeometry geometry, const RitzOperatorOptions *options) {
  RitzGeometryPolicy used[3];
  CeedOperator op = NULL, *parts = NULL;
  CeedInt num_parts = 0, num_wanted = 0, num_elem = 0;

  for (int k = 0; k < 3; k++) {
    bool is_new = true;

    CHECK_OK(RitzGeometryGetPolicyUsed(geometry, ceed, options, (RitzElementKind)k, &used[k]));
    for (int j = 0; j < k; j++) is_new = is_new && used[j] != used[k];
    num_wanted += is_new;
  }
  CHECK_OK(RitzGeometryCreateOperator(geometry, ceed, options, &op));
  CHECK_OK(CeedOperatorCompositeGetNumSub(op, &num_parts));
  CHECK_OK(CeedOperatorCompositeGetSubList(op, &parts));
  CHECK(num_parts == num_wanted, "%d parts, wanted %d", (int)num_parts, (int)num_wanted);
  for (CeedInt i = 0; i < num_parts; i++) {
    const char *name = NULL;
    CeedInt num = 0;
    bool is_used = false;

    CHECK_OK(CeedOperatorGetName(parts[i], &name));
    CHECK_OK(CeedOperatorGetNumElements(parts[i], &num));
    for (int k = 0; k < 3; k++) {
      char wanted[100];

      snprintf(wanted, sizeof(wanted), "%s, %s", kind_name(options->kind), RitzGeometryPolicyName(used[k]));
      is_used = is_used || !strcmp(name, wanted);
    }
    CHECK(is_used, "part '%s'", name);
    num_elem += num;
  }
  CHECK(num_elem == 12, "%d elements", (int)num_elem);
  CHECK_OK(CeedOperatorDestroy(&op));
}

TEST(each_policy_treats_the_elements_that_are_simple_enough_for_it) {
  // For affine, trilinear and curved elements.
  const struct {
    RitzGeometryPolicy policy, used[3], used_of_mass[3];
  } rows[] = {{stored, {stored, stored, stored}, {stored, stored, stored}},
              {affine, {affine, stored, stored}, {affine, stored, stored}},
              {trilinear, {trilinear, trilinear, stored}, {trilinear, trilinear, stored}},
              {partial, {partial, partial, stored}, {stored, stored, stored}},
              {merged, {merged, merged, stored}, {stored, stored, stored}},
              {isoparametric,
               {isoparametric, isoparametric, isoparametric},
               {isoparametric, isoparametric, isoparametric}}};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzGeometry geometry = NULL;
  RitzSpace space = NULL;
  RitzMesh mesh = NULL;

  CHECK_OK(create_mixed(ceed, 3, 3, &mesh, &geometry));
  CHECK_OK(RitzSpaceCreate(mesh, 1, 1, &space));
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    for (int kind = RITZ_OPERATOR_MASS; kind <= RITZ_OPERATOR_HELMHOLTZ && !tap_failed(); kind++) {
      const RitzOperatorOptions options = {
          .kind = (RitzOperatorKind)kind, .space = space, .policy = rows[i].policy};
      const RitzGeometryPolicy *wanted = kind == RITZ_OPERATOR_MASS ? rows[i].used_of_mass : rows[i].used;

      for (int k = 0; k < 3; k++) {
        RitzGeometryPolicy used = RITZ_POLICY_AUTO;

        CHECK_OK(RitzGeometryGetPolicyUsed(geometry, ceed, &options, (RitzElementKind)k, &used));
        CHECK(used == wanted[k], "%s, %s: kind %d is %s", kind_name((RitzOperatorKind)kind),
              RitzGeometryPolicyName(rows[i].policy), k, RitzGeometryPolicyName(used));
      }
      check_parts(ceed, geometry, &options);
    }
  }
  CHECK_OK(RitzSpaceDestroy(&space));
  CHECK_OK(RitzGeometryDestroy(&geometry));
  CHECK_OK(RitzMeshDestroy(&mesh));
  CHECK_OK(CeedDestroy(&ceed));
}

// Rates of the processor, kept as `ritz info` does.
static void keep_rates(const char *folder, int64_t bandwidth, int64_t flops) {
  const RitzMachineRates rates = {bandwidth, bandwidth, flops, flops};
  RitzMachine machine;
  bool found;

  setenv("RITZ_CACHE_DIR", folder, 1);
  CHECK_OK(ritz_machine_find(&machine, &found));
  machine.one = machine.all = rates;
  machine.num_threads = machine.num_processors;
  machine.measured = (int64_t)time(NULL);
  machine.load_percent = 0;
  CHECK_OK(ritz_machine_keep(&machine));
  CHECK_OK(ritz_machine_find(&machine, &found));
  CHECK(found, "the figures are kept");
}

static RitzGeometryPolicy automatic_diffusion(RitzGeometry geometry, RitzSpace space) {
  const RitzOperatorOptions options = {.kind = RITZ_OPERATOR_DIFFUSION, .space = space};
  RitzGeometryPolicy used = RITZ_POLICY_AUTO;
  Ceed ceed = tap_ceed("/cpu/self/gen");

  tap_check_ok(RitzGeometryGetPolicyUsed(geometry, ceed, &options, RITZ_ELEMENT_TRILINEAR, &used), __FILE__,
               __LINE__, "RitzGeometryGetPolicyUsed");
  CeedDestroy(&ceed);
  return used;
}

TEST(the_automatic_policy_follows_the_figures_of_the_processor) {
  char folder[] = "/tmp/ritz-test-XXXXXX", path[64];
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzGeometry geometry = NULL;
  RitzSpace space = NULL;
  RitzMesh mesh = NULL;

  CHECK(mkdtemp(folder), "a folder");
  unsetenv("RITZ_CACHE");
  CHECK_OK(create_mixed(ceed, 3, 3, &mesh, &geometry));
  CHECK_OK(RitzSpaceCreate(mesh, 4, 1, &space));
  keep_rates(folder, 1000000000, 100000000000); // 100 flops a byte
  CHECK(automatic_diffusion(geometry, space) == trilinear, "flops are cheap");
  keep_rates(folder, 100000000000, 50000000000);
  CHECK(automatic_diffusion(geometry, space) == stored, "bytes are cheap");
  setenv("RITZ_CACHE", "off", 1);
  CHECK(automatic_diffusion(geometry, space) == trilinear, "typical figures");
  unsetenv("RITZ_CACHE_DIR");
  snprintf(path, sizeof(path), "%s/machine.txt", folder);
  CHECK(!unlink(path) && !rmdir(folder), "nothing but the figures in %s", folder);
  CHECK_OK(RitzSpaceDestroy(&space));
  CHECK_OK(RitzGeometryDestroy(&geometry));
  CHECK_OK(RitzMeshDestroy(&mesh));
  CHECK_OK(CeedDestroy(&ceed));
}

// What measurements say of typical machines (geometry/choose.c): affine elements always as such; trilinear
// diffusion recomputed, with merged numbers where mu is stored anyway; mass stored but on devices for degree
// 2, whose elements a thread takes whole.
TEST_EACH_BACKEND(the_automatic_policy_follows_what_was_measured) {
  const CeedInt degrees[3] = {2, 4, 8};
  RitzGeometry geometry = NULL;
  RitzMesh mesh = NULL;
  CeedMemType mem_type;

  CHECK_OK(create_mixed(ceed, 3, 3, &mesh, &geometry));
  CHECK_OK(CeedGetPreferredMemType(ceed, &mem_type));
  for (int i = 0; i < 3; i++) {
    RitzSpace space = NULL;

    CHECK_OK(RitzSpaceCreate(mesh, degrees[i], 1, &space));
    for (int row = 0; row < 4; row++) {
      const RitzOperatorKind kinds[4] = {RITZ_OPERATOR_MASS, RITZ_OPERATOR_DIFFUSION, RITZ_OPERATOR_DIFFUSION,
                                         RITZ_OPERATOR_POINT_FUNCTION};
      const RitzGeometryPolicy mass = mem_type == CEED_MEM_DEVICE && degrees[i] == 2 ? trilinear : stored;
      const RitzGeometryPolicy wanted[4][3] = {{affine, mass, stored},
                                               {affine, trilinear, stored},
                                               {affine, merged, stored},
                                               {affine, trilinear, stored}};
      const RitzOperatorOptions options = {
          .kind = kinds[row], .space = space, .mu_function = row == 2 ? constant_coefficient : NULL};

      for (int k = 0; k < (row == 3 ? 2 : 3); k++) {
        RitzGeometryPolicy used = RITZ_POLICY_AUTO;

        CHECK_OK(RitzGeometryGetPolicyUsed(geometry, ceed, &options, (RitzElementKind)k, &used));
        CHECK(used == wanted[row][k], "degree %d, case %d: elements of kind %d are %s", (int)degrees[i], row,
              k, RitzGeometryPolicyName(used));
      }
    }
    CHECK_OK(RitzSpaceDestroy(&space));
  }
  CHECK_OK(RitzGeometryDestroy(&geometry));
  CHECK_OK(RitzMeshDestroy(&mesh));
}

// The estimate counts useful operations.
TEST(the_estimate_of_flops_does_not_depend_on_the_policy) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzGeometry geometry = NULL;
  RitzSpace space = NULL;
  RitzMesh mesh = NULL;
  CeedSize first = 0;

  CHECK_OK(create_mixed(ceed, 3, 3, &mesh, &geometry));
  CHECK_OK(RitzSpaceCreate(mesh, 2, 3, &space));
  for (int policy = 0; RitzGeometryPolicyName((RitzGeometryPolicy)policy); policy++) {
    const RitzOperatorOptions options = {
        .kind = RITZ_OPERATOR_HELMHOLTZ, .space = space, .policy = (RitzGeometryPolicy)policy};
    CeedOperator op = NULL;
    CeedSize flops = 0;

    CHECK_OK(RitzGeometryCreateOperator(geometry, ceed, &options, &op));
    CHECK_OK(CeedOperatorGetFlopsEstimate(op, &flops));
    if (!policy) first = flops;
    CHECK(flops == first && flops > 0, "%s: %td flops, not %td",
          RitzGeometryPolicyName((RitzGeometryPolicy)policy), flops, first);
    CHECK_OK(CeedOperatorDestroy(&op));
  }
  CHECK_OK(RitzSpaceDestroy(&space));
  CHECK_OK(RitzGeometryDestroy(&geometry));
  CHECK_OK(RitzMeshDestroy(&mesh));
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- Misuse ----

typedef struct {
  Ceed ceed;
  RitzMesh mesh, other_mesh;
  RitzGeometry geometry;
  RitzSpace space, other_space;
} Objects;

static int create_objects(Objects *o) {
  *o = (Objects){.ceed = tap_ceed("/cpu/self/ref")};
  RITZ_TRY(create_mixed(o->ceed, 2, 3, &o->mesh, &o->geometry));
  RITZ_TRY(RitzMeshCreateBox(o->ceed, 2, mixed_size, NULL, NULL, 1, NULL, NULL, &o->other_mesh));
  RITZ_TRY(RitzSpaceCreate(o->mesh, 2, 1, &o->space));
  return RitzSpaceCreate(o->other_mesh, 2, 1, &o->other_space);
}

static void destroy_objects(Objects *o) {
  RitzSpaceDestroy(&o->space);
  RitzSpaceDestroy(&o->other_space);
  RitzGeometryDestroy(&o->geometry);
  RitzMeshDestroy(&o->mesh);
  RitzMeshDestroy(&o->other_mesh);
  CeedDestroy(&o->ceed);
}

TEST(options_without_meaning_are_refused) {
  Objects o;

  CHECK_OK(create_objects(&o));
  const struct {
    RitzOperatorOptions options;
    const char *message;
  } rows[] = {
      {{.space = NULL}, "the space of the options is NULL"},
      {{.space = o.other_space}, "another mesh"},
      {{.space = o.space, .kind = (RitzOperatorKind)7}, "7 is no kind of operator"},
      {{.space = o.space, .kind = RITZ_OPERATOR_POINT_FUNCTION}, "RitzGeometryCreatePointOperator"},
      {{.space = o.space, .policy = (RitzGeometryPolicy)9}, "9 is no policy"},
      {{.space = o.space, .num_points = -1}, "has -1 points"},
      {{.space = o.space, .num_points = 1, .quad_mode = CEED_GAUSS_LOBATTO}, "has 1 points"},
      {{.space = o.space, .quad_mode = (CeedQuadMode)5}, "5 is no quadrature rule"},
      {{.space = o.space, .lambda = NAN}, "have to be finite"},
      {{.space = o.space, .mu = INFINITY}, "have to be finite"},
  };

  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    CeedOperator op = NULL;

    CHECK_ERROR(o.ceed, RitzGeometryCreateOperator(o.geometry, o.ceed, &rows[i].options, &op),
                CEED_ERROR_INCOMPATIBLE, rows[i].message);
    CHECK(!op, "an operator in spite of the error");
  }
  destroy_objects(&o);
}

TEST(null_and_unknown_arguments_are_refused) {
  Objects o;
  CeedOperator op = NULL;
  RitzGeometry geometry = NULL;
  RitzGeometryPolicy policy;

  CHECK_OK(create_objects(&o));
  const RitzOperatorOptions options = {.space = o.space};

  CHECK_ERROR(NULL, RitzGeometryCreate(NULL, -1, &geometry), CEED_ERROR_INCOMPATIBLE, "'mesh' is NULL");
  CHECK_ERROR(NULL, RitzGeometryCreate(o.mesh, -1, NULL), CEED_ERROR_INCOMPATIBLE, "'geometry' is NULL");
  CHECK_ERROR(o.ceed, RitzGeometryCreate(o.mesh, NAN, &geometry), CEED_ERROR_INCOMPATIBLE, "not a number");
  CHECK_ERROR(o.ceed, RitzGeometryCreateOperator(NULL, o.ceed, &options, &op), CEED_ERROR_INCOMPATIBLE,
              "'geometry' is NULL");
  CHECK_ERROR(NULL, RitzGeometryCreateOperator(o.geometry, NULL, &options, &op), CEED_ERROR_INCOMPATIBLE,
              "'ceed' is NULL");
  CHECK_ERROR(o.ceed, RitzGeometryCreateOperator(o.geometry, o.ceed, NULL, &op), CEED_ERROR_INCOMPATIBLE,
              "'options' is NULL");
  CHECK_ERROR(NULL, RitzGeometryCreateOperator(o.geometry, o.ceed, &options, NULL), CEED_ERROR_INCOMPATIBLE,
              "'op' is NULL");
  CHECK_ERROR(o.ceed, RitzGeometryGetPolicyUsed(o.geometry, o.ceed, &options, (RitzElementKind)5, &policy),
              CEED_ERROR_INCOMPATIBLE, "no kind of elements");
  CHECK_ERROR(NULL, RitzGeometryPolicyFromName("fastest", &policy), CEED_ERROR_INCOMPATIBLE, "no policy");
  CHECK_ERROR(NULL, RitzGeometryPolicyFromName(NULL, &policy), CEED_ERROR_INCOMPATIBLE, "NULL");
  CHECK_OK(RitzGeometryDestroy(&geometry));
  CHECK_OK(RitzGeometryDestroy(NULL));
  destroy_objects(&o);
}

static int failing_coefficient(void *ctx, const double *x, double *value) {
  (void)x;
  *value = 1;
  return *(int *)ctx;
}

TEST(faults_of_coefficient_functions_come_back) {
  int code = 17, success = 0;
  double nan = NAN, two = 2;
  CeedOperator op = NULL;
  Objects o;

  CHECK_OK(create_objects(&o));
  RitzOperatorOptions options = {.kind = RITZ_OPERATOR_HELMHOLTZ, .space = o.space};

  options.mu_function = failing_coefficient;
  options.mu_ctx = &code;
  CHECK_ERROR(o.ceed, RitzGeometryCreateOperator(o.geometry, o.ceed, &options, &op), 17,
              "the function mu fails");
  options.mu_ctx = &success;
  CHECK_OK(RitzGeometryCreateOperator(o.geometry, o.ceed, &options, &op));
  CHECK_OK(CeedOperatorDestroy(&op));
  options.lambda_function = constant_coefficient;
  options.lambda_ctx = &nan;
  CHECK_ERROR(o.ceed, RitzGeometryCreateOperator(o.geometry, o.ceed, &options, &op), CEED_ERROR_MAJOR,
              "the function lambda is not finite at (");
  // Of no use for diffusion: not called.
  options.kind = RITZ_OPERATOR_DIFFUSION;
  options.mu_function = constant_coefficient;
  options.mu_ctx = &two;
  CHECK_OK(RitzGeometryCreateOperator(o.geometry, o.ceed, &options, &op));
  CHECK_OK(CeedOperatorDestroy(&op));
  destroy_objects(&o);
}

TEST(point_functions_have_to_fit) {
  const RitzPointFunction line = RITZ_POINT_FUNCTION_TABLE(helmholtz_at_point_1, 1, 1);
  const RitzPointFunction plane = RITZ_POINT_FUNCTION_TABLE(helmholtz_at_point_2, 2, 3);
  const RitzPointFunction solid = RITZ_POINT_FUNCTION_TABLE(helmholtz_at_point_3, 3, 2);
  const RitzPointFunction nonlinear = RITZ_POINT_FUNCTION_TABLE(nonlinear_at_point, 3, 3);
  RitzPointFunction incomplete = {.dim = 2, .num_comp = 1};
  const RitzPointFunction *unfit[4] = {&line, &plane, &solid, &nonlinear};
  RitzGeometryPolicy used;
  CeedOperator op = NULL;
  Objects o;

  CHECK_OK(create_objects(&o));
  RitzOperatorOptions options = {.space = o.space};

  for (int i = 0; i < 4; i++)
    CHECK_ERROR(o.ceed, RitzGeometryCreatePointOperator(o.geometry, o.ceed, &options, unfit[i], NULL, &op),
                CEED_ERROR_INCOMPATIBLE,
                "the mesh has dimension 2 in space of dimension 2, the space 1 components");
  CHECK_ERROR(o.ceed, RitzGeometryCreatePointOperator(o.geometry, o.ceed, &options, &incomplete, NULL, &op),
              CEED_ERROR_INCOMPATIBLE, "lacks a function");
  CHECK_ERROR(o.ceed, RitzGeometryCreatePointOperator(o.geometry, o.ceed, &options, NULL, NULL, &op),
              CEED_ERROR_INCOMPATIBLE, "'function' is NULL");
  incomplete = plane;
  incomplete.num_comp = 1;
  // Neither the kind nor coefficients are looked at.
  const RitzOperatorOptions careless = {
      .space = o.space, .kind = (RitzOperatorKind)7, .lambda = NAN, .mu = INFINITY};

  CHECK_OK(RitzGeometryCreatePointOperator(o.geometry, o.ceed, &careless, &incomplete, NULL, &op));
  CHECK_OK(CeedOperatorDestroy(&op));
  for (int policy = RITZ_POLICY_PARTIAL; policy <= RITZ_POLICY_MERGED; policy++) {
    options.policy = (RitzGeometryPolicy)policy;
    CHECK_ERROR(o.ceed, RitzGeometryCreatePointOperator(o.geometry, o.ceed, &options, &incomplete, NULL, &op),
                CEED_ERROR_UNSUPPORTED, "no policy");
    options.kind = RITZ_OPERATOR_POINT_FUNCTION;
    CHECK_ERROR(o.ceed, RitzGeometryGetPolicyUsed(o.geometry, o.ceed, &options, RITZ_ELEMENT_AFFINE, &used),
                CEED_ERROR_UNSUPPORTED, "no policy");
  }
  destroy_objects(&o);
}

// ---- Memory ----

// Every allocation on the way fails once: an error and nothing left, until there are no more of them.
TEST(failing_memory_leaves_nothing_behind) {
  Objects o;
  CeedOperator op = NULL;
  RitzGeometry geometry = NULL;
  int ierr = CEED_ERROR_MAJOR;

  CHECK_OK(create_objects(&o));
  const RitzOperatorOptions options = {.kind = RITZ_OPERATOR_HELMHOLTZ,
                                       .space = o.space,
                                       .policy = affine,
                                       .mu_function = constant_coefficient};
  const int64_t live = ritz_memory_live();

  for (int64_t n = 1; ierr; n++) {
    ritz_memory_fail_at(n);
    ierr = RitzGeometryCreate(o.mesh, -1, &geometry);
    if (!ierr) ierr = RitzGeometryCreateOperator(geometry, o.ceed, &options, &op);
    ritz_memory_fail_at(0);
    CHECK_OK(CeedOperatorDestroy(&op));
    CHECK_OK(RitzGeometryDestroy(&geometry));
    CHECK(ritz_memory_live() == live, "allocation %d of an operator: %d left", (int)n,
          (int)(ritz_memory_live() - live));
    CHECK(n < 10000, "no end");
  }
  destroy_objects(&o);
}

// Figures of this machine that other programs have kept are none of these tests' business.
int main(int argc, char **argv) {
  setenv("RITZ_CACHE", "off", 1);
  return tap_main(argc, argv,
                  TESTS(names_of_policies_go_both_ways, elements_are_listed_by_kind_in_ascending_order,
                        the_tolerance_decides_whether_a_bent_element_is_affine,
                        elements_that_are_inverted_or_not_finite_are_refused_by_number,
                        flat_elements_are_refused_and_thin_ones_are_not,
                        each_policy_treats_the_elements_that_are_simple_enough_for_it,
                        the_automatic_policy_follows_what_was_measured,
                        the_automatic_policy_follows_the_figures_of_the_processor,
                        the_estimate_of_flops_does_not_depend_on_the_policy,
                        options_without_meaning_are_refused, null_and_unknown_arguments_are_refused,
                        faults_of_coefficient_functions_come_back, point_functions_have_to_fit,
                        failing_memory_leaves_nothing_behind));
}
