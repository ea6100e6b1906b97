// SPDX-License-Identifier: BSD-2-Clause
// RitzSpaceCreateInterpolation: the inverse of prolongation, and values of any fine function at the coarse
// nodes as RitzSpaceEvaluate finds them, on all shapes of elements, for lower degrees and coarser meshes.
#include <ritz/function.h>

#include "tests/reference.h"
#include "tests/transfer-kit.h"

static const CeedInt degree_pairs[][2] = {{1, 1}, {2, 2}, {3, 3}, {4, 4}, {1, 2}, {2, 4}, {1, 4}, {3, 4}};
enum { NUM_PAIRS = sizeof(degree_pairs) / sizeof(degree_pairs[0]) };

static int create_pair(KitPair *pair, Ceed ceed, KitMesh kind, const CeedInt degrees[2],
                       CeedOperator *interpolation) {
  RITZ_TRY(kit_create(pair, ceed, kind, 1, identity_map, degrees[0], degrees[1], 2));
  return RitzSpaceCreateInterpolation(pair->coarse, pair->fine, ceed, CEED_SCALAR_TYPE, interpolation);
}

// ---- The inverse of prolongation ----

static void check_inverse(Ceed ceed, const KitPair *pair, CeedOperator interpolation, uint64_t *seed,
                          const char *name) {
  CeedVector u = NULL, Pu = NULL, back = NULL;

  CHECK_OK(kit_random(ceed, pair->coarse, seed, &u));
  CHECK_OK(kit_vector(ceed, pair->fine, CEED_SCALAR_TYPE, &Pu));
  CHECK_OK(kit_vector(ceed, pair->coarse, CEED_SCALAR_TYPE, &back));
  CHECK_OK(kit_apply(pair->prolong, u, Pu));
  CHECK_OK(kit_apply(interpolation, Pu, back));
  double *values = reference_new_values(u);
  // values below 1, tables with a condition of about 10, twice
  CHECK_NEAR(kit_distance(back, values), 0.0, 1000 * eps, "%s", name);
  free(values);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&Pu);
  CeedVectorDestroy(&back);
}

// On pyramids, functions of a coarser mesh are none of the finer one.
static void check_inverses(Ceed ceed, int first_pair, int end_pair) {
  uint64_t seed = 1;

  for (KitMesh kind = 0; kind < KIT_NUM_MESHES; kind++) {
    for (int i = first_pair; i < end_pair && !tap_failed(); i++) {
      CeedOperator interpolation = NULL;
      KitPair pair;

      if (kit_has_pyramids(kind) && degree_pairs[i][0] == degree_pairs[i][1]) continue;
      CHECK_OK(create_pair(&pair, ceed, kind, degree_pairs[i], &interpolation));
      check_inverse(ceed, &pair, interpolation, &seed, kit_names[kind]);
      if (tap_failed()) tap_note("degrees %d, %d", (int)degree_pairs[i][0], (int)degree_pairs[i][1]);
      CeedOperatorDestroy(&interpolation);
      kit_destroy(&pair);
    }
  }
}

TEST(interpolation_inverts_prolongation) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  check_inverses(ceed, 0, NUM_PAIRS);
  CeedDestroy(&ceed);
}

TEST_EACH_BACKEND(interpolation_inverts_prolongation_on_every_backend) {
  check_inverses(ceed, 1, tap_compiles_bases(ceed) ? 2 : 3);
  check_inverses(ceed, 4, tap_compiles_bases(ceed) ? 5 : 6);
}

// ---- Values of any function ----

// The fine function with random values, at all coarse nodes.
static void check_values(Ceed ceed, const KitPair *pair, CeedOperator interpolation, uint64_t *seed,
                         const char *name) {
  int64_t num = 0, num_missed = -1;
  CeedInt dim = 0;
  RitzLocator locator = NULL;
  CeedVector v = NULL, u = NULL;

  CHECK_OK(RitzSpaceGetNumNodes(pair->coarse, &num));
  CHECK_OK(RitzMeshGetDimensions(pair->meshes[0], NULL, &dim));
  CHECK_OK(RitzLocatorCreate(pair->meshes[1], -1, &locator));
  CHECK_OK(kit_random(ceed, pair->fine, seed, &v));
  CHECK_OK(kit_vector(ceed, pair->coarse, CEED_SCALAR_TYPE, &u));
  CHECK_OK(kit_apply(interpolation, v, u));
  double *x = reference_new(num * dim), *wanted = reference_new(2 * num);
  CeedScalar *values = calloc(2 * (size_t)num, sizeof(*values));
  CHECK_OK(RitzSpaceGetNodeCoordinates(pair->coarse, x));
  CHECK_OK(RitzSpaceEvaluate(pair->fine, locator, v, num, x, values, &num_missed));
  CHECK(num_missed == 0, "%d of %d nodes are nowhere", (int)num_missed, (int)num);
  for (int64_t i = 0; i < 2 * num; i++) wanted[i] = (double)values[i];
  // positions have an error of 1e-10 at most in the reference element; slopes below 100
  CHECK_NEAR(kit_distance(u, wanted), 0.0, 1e-8 + 1000 * eps, "%s", name);
  free(x);
  free(wanted);
  free(values);
  RitzLocatorDestroy(&locator);
  CeedVectorDestroy(&v);
  CeedVectorDestroy(&u);
}

TEST(interpolation_takes_the_values_at_the_coarse_nodes) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  uint64_t seed = 2;

  for (KitMesh kind = 0; kind < KIT_NUM_MESHES; kind++) {
    for (int i = 0; i < NUM_PAIRS && !tap_failed(); i++) {
      CeedOperator interpolation = NULL;
      KitPair pair;

      CHECK_OK(create_pair(&pair, ceed, kind, degree_pairs[i], &interpolation));
      check_values(ceed, &pair, interpolation, &seed, kit_names[kind]);
      if (tap_failed()) tap_note("degrees %d, %d", (int)degree_pairs[i][0], (int)degree_pairs[i][1]);
      CeedOperatorDestroy(&interpolation);
      kit_destroy(&pair);
    }
  }
  CeedDestroy(&ceed);
}

// ---- Boxes, precision, refusals ----

// A box knows the box with half as many elements; its spaces keep no nodes of elements.
TEST_EACH_BACKEND(boxes_are_interpolated) {
  const CeedInt fine[3] = {4, 2, 4};
  uint64_t seed = 3;

  for (CeedInt dim = 1; dim <= 3 && !tap_failed(); dim++) {
    CeedOperator interpolation = NULL;
    KitPair pair = {{NULL, NULL}, NULL, NULL, NULL, NULL};

    CHECK_OK(RitzMeshCreateBox(ceed, dim, fine, NULL, NULL, 1, NULL, NULL, &pair.meshes[1]));
    CHECK_OK(RitzMeshGetCoarser(pair.meshes[1], &pair.meshes[0]));
    CHECK_OK(kit_transfer(&pair, ceed, 3, 3, 2, CEED_SCALAR_TYPE));
    CHECK_OK(RitzSpaceCreateInterpolation(pair.coarse, pair.fine, ceed, CEED_SCALAR_TYPE, &interpolation));
    check_inverse(ceed, &pair, interpolation, &seed, "box");
    check_values(ceed, &pair, interpolation, &seed, "box");
    CeedOperatorDestroy(&interpolation);
    kit_destroy(&pair);
  }
}

TEST_EACH_BACKEND(interpolation_in_float_agrees_to_float_rounding) {
  CeedOperator full = NULL, small = NULL;
  CeedVector v = NULL, u = NULL, rounded = NULL;
  CeedScalarType precision;
  uint64_t seed = 4;
  KitPair pair;

  CHECK_OK(create_pair(&pair, ceed, KIT_QUADS, degree_pairs[5], &full));
  CHECK_OK(RitzSpaceCreateInterpolation(pair.coarse, pair.fine, ceed, CEED_SCALAR_FP32, &small));
  CHECK_OK(RitzOperatorGetPrecision(small, &precision));
  CHECK(precision == CEED_SCALAR_FP32, "made in float");
  CHECK_OK(kit_random(ceed, pair.fine, &seed, &v));
  CHECK_OK(kit_vector(ceed, pair.coarse, CEED_SCALAR_TYPE, &u));
  CHECK_OK(kit_vector(ceed, pair.coarse, CEED_SCALAR_TYPE, &rounded));
  CHECK_OK(kit_apply(full, v, u));
  CHECK_OK(kit_apply(small, v, rounded));
  double *values = reference_new_values(u);
  CHECK_NEAR(kit_distance(rounded, values), 0.0, 300 * 6e-8, "sums of 25 products");
  free(values);
  CeedOperatorDestroy(&full);
  CeedOperatorDestroy(&small);
  CeedVectorDestroy(&v);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&rounded);
  kit_destroy(&pair);
}

TEST(spaces_that_are_not_nested_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  CeedOperator interpolation = NULL;
  KitPair pair;

  CHECK_OK(kit_create(&pair, ceed, KIT_TRIANGLES, 1, identity_map, 1, 2, 1));
  CHECK_ERROR(ceed,
              RitzSpaceCreateInterpolation(pair.fine, pair.coarse, ceed, CEED_SCALAR_TYPE, &interpolation),
              CEED_ERROR_INCOMPATIBLE, "RitzSpaceCreateInterpolation: the spaces are not nested");
  CHECK_ERROR(ceed, RitzSpaceCreateInterpolation(pair.coarse, pair.fine, ceed, CEED_SCALAR_TYPE, NULL),
              CEED_ERROR_INCOMPATIBLE, "'interpolation' is NULL");
  CHECK(!interpolation, "nothing was made");
  kit_destroy(&pair);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(interpolation_inverts_prolongation, interpolation_inverts_prolongation_on_every_backend,
            interpolation_takes_the_values_at_the_coarse_nodes, boxes_are_interpolated,
            interpolation_in_float_agrees_to_float_rounding, spaces_that_are_not_nested_are_refused));
}
