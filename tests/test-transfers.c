// SPDX-License-Identifier: BSD-2-Clause
// Transfers between nested spaces, lower degrees and coarser meshes, on all shapes of elements: they
// interpolate exactly, restriction is the transpose of prolongation, and rediscretized operators are Galerkin
// products where quadrature is exact.
#include "tests/transfer-kit.h"

static const CeedInt degree_pairs[][2] = {{1, 1}, {2, 2}, {3, 3}, {4, 4}, {1, 2}, {2, 4}, {1, 4}};
enum { NUM_PAIRS = sizeof(degree_pairs) / sizeof(degree_pairs[0]) };

// ---- Transposes ----

// |(P u, v) - (u, R v)| against the lengths of the vectors.
static void check_transpose(const KitPair *pair, Ceed ceed, uint64_t *seed, const char *name) {
  CeedVector u = NULL, v = NULL, Pu = NULL, Rv = NULL;

  CHECK_OK(kit_random(ceed, pair->coarse, seed, &u));
  CHECK_OK(kit_random(ceed, pair->fine, seed, &v));
  CHECK_OK(kit_vector(ceed, pair->coarse, CEED_SCALAR_TYPE, &Rv));
  CHECK_OK(kit_vector(ceed, pair->fine, CEED_SCALAR_TYPE, &Pu));
  CHECK_OK(kit_apply(pair->prolong, u, Pu));
  CHECK_OK(kit_apply(pair->restriction, v, Rv));
  const double left = kit_dot(Pu, v), right = kit_dot(u, Rv);
  // sums of products: rounding grows with the lengths
  const double size = sqrt(kit_dot(Pu, Pu) * kit_dot(v, v)) + sqrt(kit_dot(u, u) * kit_dot(Rv, Rv));

  CHECK_NEAR(left, right, 50 * CEED_EPSILON * size, "%s", name);
  CHECK(size > 0.1, "%s: something is transferred", name);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedVectorDestroy(&Pu);
  CeedVectorDestroy(&Rv);
}

TEST(restriction_is_the_transpose_of_prolongation) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  uint64_t seed = 1;

  for (KitMesh kind = 0; kind < KIT_NUM_MESHES; kind++) {
    for (int i = 0; i < NUM_PAIRS; i++) {
      KitPair pair;

      CHECK_OK(kit_create(&pair, ceed, kind, 1, identity_map, degree_pairs[i][0], degree_pairs[i][1], 2));
      check_transpose(&pair, ceed, &seed, kit_names[kind]);
      kit_destroy(&pair);
      if (tap_failed()) return;
    }
  }
  CeedDestroy(&ceed);
}

// ---- Exactness ----

// A polynomial of total degree p, in component c another one.
static double polynomial(CeedInt p, CeedInt c, const double *x, CeedInt dim) {
  double value = 1.0, power = 1.0;

  for (CeedInt k = 1; k <= p; k++) {
    power *= 0.7 * x[k % dim] - 0.4 * x[(k + c) % dim] + 0.3;
    value += (1.0 + 0.2 * k) * power;
  }
  return value;
}

// Nodal values; free().
static double *interpolate(RitzSpace space, CeedInt degree) {
  RitzMesh mesh;
  CeedInt space_dim = 0, num_comp = 0;
  int64_t num = 0;

  RitzSpaceGetMesh(space, &mesh);
  RitzMeshGetDimensions(mesh, NULL, &space_dim);
  RitzSpaceGetNumComponents(space, &num_comp);
  RitzSpaceGetNumNodes(space, &num);
  double *x = malloc((size_t)(num * space_dim) * 8), *values = malloc((size_t)(num * num_comp) * 8);

  if (RitzSpaceGetNodeCoordinates(space, x)) x[0] = NAN;
  for (int64_t i = 0; i < num; i++) {
    for (CeedInt c = 0; c < num_comp; c++) {
      // degree 0: the coordinates themselves
      values[i * num_comp + c] =
          degree > 0 ? polynomial(degree, c, x + i * space_dim, space_dim) : x[i * space_dim + c];
    }
  }
  free(x);
  return values;
}

// The prolonged interpolant is the fine interpolant.
static void check_exactness(const KitPair *pair, Ceed ceed, CeedInt degree, double tolerance,
                            const char *name) {
  double *from = interpolate(pair->coarse, degree), *to = interpolate(pair->fine, degree);
  CeedVector u = NULL, Pu = NULL;
  CeedSize n = 0;

  CHECK_OK(RitzSpaceGetSize(pair->coarse, &n));
  CHECK_OK(kit_fill(ceed, n, from, &u));
  CHECK_OK(kit_vector(ceed, pair->fine, CEED_SCALAR_TYPE, &Pu));
  CHECK_OK(kit_apply(pair->prolong, u, Pu));
  CHECK_NEAR(kit_distance(Pu, to), 0.0, tolerance, "%s, degree %d", name, (int)degree);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&Pu);
  free(from);
  free(to);
}

TEST(polynomials_of_the_coarse_degree_are_prolonged_exactly) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (KitMesh kind = 0; kind < KIT_NUM_MESHES; kind++) {
    for (int i = 0; i < NUM_PAIRS; i++) {
      KitPair pair;

      CHECK_OK(kit_create(&pair, ceed, kind, 1, identity_map, degree_pairs[i][0], degree_pairs[i][1], 2));
      // values below 10, tables with a condition of about 10
      check_exactness(&pair, ceed, degree_pairs[i][0], 1000 * CEED_EPSILON, kit_names[kind]);
      kit_destroy(&pair);
      if (tap_failed()) return;
    }
  }
  CeedDestroy(&ceed);
}

// Coordinates are functions of isoparametric spaces, whatever the map.
TEST(coordinates_of_curved_meshes_are_prolonged_exactly) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (KitMesh kind = 0; kind < KIT_NUM_MESHES; kind++) {
    for (CeedInt p_fine = 2; p_fine <= 3; p_fine++) {
      const bool is_box = kind == KIT_QUADS || kind == KIT_HEXES;
      const CeedInt dims[KIT_NUM_MESHES] = {1, 2, 2, 2, 3, 3, 3, 3};
      KitPair pair;

      CHECK_OK(kit_create(&pair, ceed, kind, 2, is_box ? wavy_map : quadratic_map, 2, p_fine, dims[kind]));
      check_exactness(&pair, ceed, 0, 200 * CEED_EPSILON, kit_names[kind]);
      kit_destroy(&pair);
      if (tap_failed()) return;
    }
  }
  CeedDestroy(&ceed);
}

// ---- Galerkin products ----

static int create_helmholtz(Ceed ceed, RitzSpace space, CeedInt num_points, CeedOperator *op) {
  RitzMesh mesh = NULL;
  RitzGeometry geometry = NULL;
  const RitzOperatorOptions options = {
      .kind = RITZ_OPERATOR_HELMHOLTZ, .space = space, .num_points = num_points};

  RITZ_TRY(RitzSpaceGetMesh(space, &mesh));
  int ierr = RitzGeometryCreate(mesh, -1.0, &geometry);

  if (!ierr) ierr = RitzGeometryCreateOperator(geometry, ceed, &options, op);
  RitzGeometryDestroy(&geometry);
  return ierr;
}

// (P u, A P v) = (u, A_c v)
static void check_galerkin(const KitPair *pair, Ceed ceed, CeedInt num_points, uint64_t *seed,
                           const char *name) {
  CeedOperator A[2] = {NULL, NULL};
  CeedVector u[2] = {NULL, NULL}, v[2] = {NULL, NULL}, Av[2] = {NULL, NULL};
  const RitzSpace spaces[2] = {pair->coarse, pair->fine};

  CHECK_OK(kit_random(ceed, pair->coarse, seed, &u[0]));
  CHECK_OK(kit_random(ceed, pair->coarse, seed, &v[0]));
  CHECK_OK(kit_vector(ceed, pair->fine, CEED_SCALAR_TYPE, &u[1]));
  CHECK_OK(kit_vector(ceed, pair->fine, CEED_SCALAR_TYPE, &v[1]));
  CHECK_OK(kit_apply(pair->prolong, u[0], u[1]));
  CHECK_OK(kit_apply(pair->prolong, v[0], v[1]));
  for (int i = 0; i < 2; i++) {
    CHECK_OK(create_helmholtz(ceed, spaces[i], num_points, &A[i]));
    CHECK_OK(kit_vector(ceed, spaces[i], CEED_SCALAR_TYPE, &Av[i]));
    CHECK_OK(kit_apply(A[i], v[i], Av[i]));
  }
  const double size = sqrt(kit_dot(u[1], u[1]) * kit_dot(Av[1], Av[1]));

  CHECK_NEAR(kit_dot(u[0], Av[0]), kit_dot(u[1], Av[1]), 200 * CEED_EPSILON * size, "%s", name);
  for (int i = 0; i < 2; i++) {
    CeedVectorDestroy(&u[i]);
    CeedVectorDestroy(&v[i]);
    CeedVectorDestroy(&Av[i]);
    CeedOperatorDestroy(&A[i]);
  }
}

// On pyramids spaces of one degree on a mesh and its refinement are not nested.
TEST(rediscretized_operators_are_galerkin_products) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  uint64_t seed = 2;

  for (KitMesh kind = 0; kind < KIT_NUM_MESHES; kind++) {
    for (int i = 0; i < NUM_PAIRS; i++) {
      const CeedInt coarse = degree_pairs[i][0], fine = degree_pairs[i][1];
      KitPair pair;

      if (coarse == fine && kit_has_pyramids(kind)) continue;
      CHECK_OK(kit_create(&pair, ceed, kind, 1, identity_map, coarse, fine, 1));
      check_galerkin(&pair, ceed, fine + 1, &seed, kit_names[kind]);
      kit_destroy(&pair);
      if (tap_failed()) return;
    }
  }
  CeedDestroy(&ceed);
}

// ---- Boxes ----

// A box knows the box with half as many elements, and two boxes that fit find each other.
TEST(boxes_are_nested_whether_coarsened_or_made_twice) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const CeedInt fine[3] = {4, 2, 4}, coarse[3] = {2, 1, 2}, degree = 3;
  CeedInt order = 2;
  uint64_t seed = 3;

  for (CeedInt dim = 1; dim <= 3; dim++) {
    for (int is_made_twice = 0; is_made_twice < 2; is_made_twice++) {
      KitPair pair = {{NULL, NULL}, NULL, NULL, NULL, NULL};

      CHECK_OK(
          RitzMeshCreateBox(ceed, dim, fine, NULL, NULL, order, polynomial_map, &order, &pair.meshes[1]));
      if (is_made_twice) {
        CHECK_OK(
            RitzMeshCreateBox(ceed, dim, coarse, NULL, NULL, order, polynomial_map, &order, &pair.meshes[0]));
      } else {
        CHECK_OK(RitzMeshGetCoarser(pair.meshes[1], &pair.meshes[0]));
      }
      CHECK_OK(kit_transfer(&pair, ceed, degree, degree, dim, CEED_SCALAR_TYPE));
      check_exactness(&pair, ceed, 0, 200 * CEED_EPSILON, "box");
      check_transpose(&pair, ceed, &seed, "box");
      kit_destroy(&pair);
      if (tap_failed()) return;
    }
  }
  CeedDestroy(&ceed);
}

// ---- Mesh files ----

static int create_file_pair(Ceed ceed, const char *folder, const char *name, CeedInt p_coarse, CeedInt p_fine,
                            KitPair *pair) {
  char path[1024];

  snprintf(path, sizeof(path), "%s/%s", folder, name);
  *pair = (KitPair){{NULL, NULL}, NULL, NULL, NULL, NULL};
  RITZ_TRY(RitzMeshRead(ceed, path, &pair->meshes[0]));
  RITZ_TRY(RitzMeshRefine(pair->meshes[0], p_coarse == p_fine, &pair->meshes[1]));
  return kit_transfer(pair, ceed, p_coarse, p_fine, 1, CEED_SCALAR_TYPE);
}

// Prolonged: 1 everywhere.
static void check_constants(const KitPair *pair, Ceed ceed, const char *name) {
  CeedVector u = NULL, Pu = NULL;
  CeedSize n = 0;

  CHECK_OK(RitzSpaceGetSize(pair->fine, &n));
  double *ones = malloc((size_t)n * 8);

  for (CeedSize i = 0; i < n; i++) ones[i] = 1.0;
  CHECK_OK(kit_vector(ceed, pair->coarse, CEED_SCALAR_TYPE, &u));
  CHECK_OK(kit_vector(ceed, pair->fine, CEED_SCALAR_TYPE, &Pu));
  CHECK_OK(CeedVectorSetValue(u, 1.0));
  CHECK_OK(kit_apply(pair->prolong, u, Pu));
  CHECK_NEAR(kit_distance(Pu, ones), 0.0, 200 * CEED_EPSILON, "%s", name);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&Pu);
  free(ones);
}

static void check_file(Ceed ceed, const char *folder, const char *name) {
  static const CeedInt degrees[2][2] = {{2, 2}, {1, 2}};
  uint64_t seed = 4;

  for (int i = 0; i < 2; i++) {
    KitPair pair;

    CHECK_OK(create_file_pair(ceed, folder, name, degrees[i][0], degrees[i][1], &pair));
    check_constants(&pair, ceed, name);
    check_transpose(&pair, ceed, &seed, name);
    kit_destroy(&pair);
  }
}

TEST(constants_stay_on_meshes_of_files) {
  static const char *const names[] = {"beam-tet.mesh", "fichera-mixed.mesh", "fichera-q3.mesh",
                                      "star-q3.mesh", "toroid-hex.mesh"};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  check_file(ceed, "examples/meshes", "four-shapes.msh");
  for (size_t i = 0; tap_meshes() && i < sizeof(names) / sizeof(names[0]); i++) {
    if (!tap_failed()) check_file(ceed, tap_meshes(), names[i]);
  }
  CeedDestroy(&ceed);
}

// One element of a periodic mesh meets itself.
TEST(constants_stay_on_a_periodic_mesh) {
  const CeedInt n[3] = {4, 3, 2};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh box = NULL;
  KitPair pair = {{NULL, NULL}, NULL, NULL, NULL, NULL};
  uint64_t seed = 5;

  CHECK_OK(RitzMeshCreateBox(ceed, 2, n, NULL, NULL, 1, NULL, NULL, &box));
  RitzMeshDraft draft = draft_of_mesh(box);

  close_box(&draft, n, 1);
  CHECK_OK(kit_build(ceed, draft, &pair.meshes[0]));
  CHECK_OK(RitzMeshRefine(pair.meshes[0], 1, &pair.meshes[1]));
  CHECK_OK(kit_transfer(&pair, ceed, 2, 2, 1, CEED_SCALAR_TYPE));
  check_constants(&pair, ceed, "closed box");
  check_transpose(&pair, ceed, &seed, "closed box");
  kit_destroy(&pair);
  RitzMeshDestroy(&box);
  CeedDestroy(&ceed);
}

// ---- Backends, precisions ----

static const struct {
  KitMesh kind;
  CeedInt p_coarse, p_fine;
} backend_cases[] = {{KIT_QUADS, 2, 2}, {KIT_QUADS, 2, 4}, {KIT_TETS, 2, 2}, {KIT_PLANE, 1, 2}};

TEST_EACH_BACKEND(transfers_are_exact_and_transposed_on_every_backend) {
  uint64_t seed = 6;

  for (size_t i = 0; i < sizeof(backend_cases) / sizeof(backend_cases[0]) && !tap_failed(); i++) {
    KitPair pair;

    CHECK_OK(kit_create(&pair, ceed, backend_cases[i].kind, 1, identity_map, backend_cases[i].p_coarse,
                        backend_cases[i].p_fine, 2));
    check_exactness(&pair, ceed, backend_cases[i].p_coarse, 1000 * CEED_EPSILON,
                    kit_names[backend_cases[i].kind]);
    check_transpose(&pair, ceed, &seed, kit_names[backend_cases[i].kind]);
    kit_destroy(&pair);
  }
}

// How many operators the explanation of `op` is about, and how many of them run as one kernel.
static int count_kernels(CeedOperator op, int *num_operators) {
  char line[1000];
  FILE *file = tmpfile();
  int num_fused = 0;

  *num_operators = 0;
  if (!file || RitzOperatorExplain(op, file)) return -1;
  rewind(file);
  while (fgets(line, sizeof(line), file)) {
    *num_operators += strstr(line, "runs as: ") != NULL;
    num_fused += strstr(line, "runs as: one generated kernel") != NULL;
  }
  fclose(file);
  return num_fused;
}

// The kernels of the test above.
TEST_EACH_BACKEND(transfers_are_one_generated_kernel_each) {
  const char *resource;

  CHECK_OK(CeedGetResource(ceed, &resource));
  if (!strstr(resource, "/gen")) NOT_FOR_THIS_BACKEND("it generates none");
  for (size_t i = 0; i < sizeof(backend_cases) / sizeof(backend_cases[0]) && !tap_failed(); i++) {
    KitPair pair;
    int num[2] = {0, 0};

    CHECK_OK(kit_create(&pair, ceed, backend_cases[i].kind, 1, identity_map, backend_cases[i].p_coarse,
                        backend_cases[i].p_fine, 2));
    const int num_fused[2] = {count_kernels(pair.prolong, &num[0]), count_kernels(pair.restriction, &num[1])};

    for (int k = 0; k < 2; k++) {
      CHECK(num[k] > 0 && num_fused[k] == num[k], "%s: %d of %d operators", kit_names[backend_cases[i].kind],
            num_fused[k], num[k]);
    }
    kit_destroy(&pair);
  }
}

// out in float of a double vector in; the difference from `exact`, which is changed.
static double float_error(Ceed ceed, CeedOperator op, CeedVector in, CeedVector exact) {
  CeedVector small_in = NULL, small_out = NULL, out = NULL;
  CeedSize n_in = 0, n_out = 0;
  CeedScalar error = NAN;

  CeedVectorGetLength(in, &n_in);
  CeedVectorGetLength(exact, &n_out);
  int ierr = RitzVectorCreate(ceed, n_in, CEED_SCALAR_FP32, &small_in);
  if (!ierr) ierr = RitzVectorCreate(ceed, n_out, CEED_SCALAR_FP32, &small_out);
  if (!ierr) ierr = CeedVectorCreate(ceed, n_out, &out);
  if (!ierr) ierr = RitzVectorConvert(in, small_in);
  if (!ierr) ierr = kit_apply(op, small_in, small_out);
  if (!ierr) ierr = RitzVectorConvert(small_out, out);
  if (!ierr) ierr = CeedVectorAXPY(out, -1.0, exact);
  if (!ierr) ierr = CeedVectorNorm(out, CEED_NORM_MAX, &error);
  CeedVectorDestroy(&small_in);
  CeedVectorDestroy(&small_out);
  CeedVectorDestroy(&out);
  return ierr ? NAN : (double)error;
}

TEST_EACH_BACKEND(transfers_in_float_agree_to_float_rounding) {
  KitPair full, small;
  CeedVector u = NULL, v = NULL, Pu = NULL, Rv = NULL;
  CeedScalarType precision;
  uint64_t seed = 7;

  CHECK_OK(kit_create(&full, ceed, KIT_QUADS, 1, identity_map, 2, 2, 2));
  small = full;
  small.prolong = small.restriction = NULL;
  CHECK_OK(RitzSpaceCreateTransfer(full.coarse, full.fine, ceed, CEED_SCALAR_FP32, &small.prolong,
                                   &small.restriction));
  CHECK_OK(RitzOperatorGetPrecision(small.prolong, &precision));
  CHECK(precision == CEED_SCALAR_FP32, "made in float");
  CHECK_OK(kit_random(ceed, full.coarse, &seed, &u));
  CHECK_OK(kit_random(ceed, full.fine, &seed, &v));
  CHECK_OK(kit_vector(ceed, full.fine, CEED_SCALAR_TYPE, &Pu));
  CHECK_OK(kit_vector(ceed, full.coarse, CEED_SCALAR_TYPE, &Rv));
  CHECK_OK(kit_apply(full.prolong, u, Pu));
  CHECK_OK(kit_apply(full.restriction, v, Rv));
  // sums of 9 and 25 products
  CHECK_NEAR(float_error(ceed, small.prolong, u, Pu), 0.0, 100 * 6e-8, "prolongation");
  CHECK_NEAR(float_error(ceed, small.restriction, v, Rv), 0.0, 300 * 6e-8, "restriction");
  CeedOperatorDestroy(&small.prolong);
  CeedOperatorDestroy(&small.restriction);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedVectorDestroy(&Pu);
  CeedVectorDestroy(&Rv);
  kit_destroy(&full);
}

// ---- Misuse ----

TEST(spaces_that_are_not_nested_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh = NULL, refined = NULL, twice = NULL;
  RitzSpace coarse = NULL, vectors = NULL, lower = NULL, fine = NULL, finest = NULL;
  CeedOperator prolong = NULL, restriction = NULL;

  CHECK_OK(kit_mesh(ceed, KIT_TRIANGLES, 1, NULL, &mesh));
  CHECK_OK(RitzMeshRefine(mesh, 1, &refined));
  CHECK_OK(RitzMeshRefine(mesh, 2, &twice));
  CHECK_OK(RitzSpaceCreate(mesh, 2, 1, &coarse));
  CHECK_OK(RitzSpaceCreate(mesh, 2, 2, &vectors));
  CHECK_OK(RitzSpaceCreate(mesh, 1, 1, &lower));
  CHECK_OK(RitzSpaceCreate(refined, 2, 1, &fine));
  CHECK_OK(RitzSpaceCreate(twice, 2, 1, &finest));
  CHECK_ERROR(ceed, RitzSpaceCreateTransfer(vectors, fine, ceed, CEED_SCALAR_TYPE, &prolong, &restriction),
              CEED_ERROR_INCOMPATIBLE, "the coarse space has 2 components, the fine one 1");
  CHECK_ERROR(ceed, RitzSpaceCreateTransfer(coarse, lower, ceed, CEED_SCALAR_TYPE, &prolong, &restriction),
              CEED_ERROR_INCOMPATIBLE, "the coarse space has degree 2, the fine one on the same mesh 1");
  CHECK_ERROR(ceed, RitzSpaceCreateTransfer(lower, fine, ceed, CEED_SCALAR_TYPE, &prolong, &restriction),
              CEED_ERROR_INCOMPATIBLE, "one transfer changes the mesh or the degree");
  CHECK_ERROR(ceed, RitzSpaceCreateTransfer(coarse, finest, ceed, CEED_SCALAR_TYPE, &prolong, &restriction),
              CEED_ERROR_INCOMPATIBLE, "(64 elements) is neither the coarse one (4 elements) nor that");
  CHECK_ERROR(ceed, RitzSpaceCreateTransfer(fine, coarse, ceed, CEED_SCALAR_TYPE, &prolong, &restriction),
              CEED_ERROR_INCOMPATIBLE, "not nested");
  CHECK(!prolong && !restriction, "nothing was made");
  CHECK_OK(RitzSpaceCreateTransfer(coarse, fine, ceed, CEED_SCALAR_TYPE, &prolong, NULL));
  CHECK(prolong != NULL, "one of the two is enough");
  CeedOperatorDestroy(&prolong);
  RitzSpaceDestroy(&coarse);
  RitzSpaceDestroy(&vectors);
  RitzSpaceDestroy(&lower);
  RitzSpaceDestroy(&fine);
  RitzSpaceDestroy(&finest);
  RitzMeshDestroy(&mesh);
  RitzMeshDestroy(&refined);
  RitzMeshDestroy(&twice);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(restriction_is_the_transpose_of_prolongation,
            polynomials_of_the_coarse_degree_are_prolonged_exactly,
            coordinates_of_curved_meshes_are_prolonged_exactly, rediscretized_operators_are_galerkin_products,
            boxes_are_nested_whether_coarsened_or_made_twice, constants_stay_on_meshes_of_files,
            constants_stay_on_a_periodic_mesh, transfers_are_exact_and_transposed_on_every_backend,
            transfers_are_one_generated_kernel_each, transfers_in_float_agree_to_float_rounding,
            spaces_that_are_not_nested_are_refused));
}
