// SPDX-License-Identifier: BSD-2-Clause
// Tests of slabs of a box (ritz/partition.h): boxes numbered in rows, made from the whole or without it.
#include "tests/exchange-kit.h"

static const CeedInt counts[3] = {3, 2, 7};

static int cut_whole(Ceed ceed, CeedInt dim, const CeedInt n[], CeedInt num_parts, CeedInt part,
                     RitzMesh *whole, RitzMesh *slab) {
  int64_t num = 0;

  RITZ_TRY(RitzMeshCreateBox(ceed, dim, n, NULL, NULL, 2, NULL, NULL, whole));
  RITZ_TRY(RitzMeshGetNumElements(*whole, &num));
  int32_t *parts = malloc((size_t)num * sizeof(*parts));
  int ierr = RitzMeshPartition(*whole, RITZ_PARTITION_SLABS, num_parts, NULL, parts);

  if (!ierr) ierr = RitzMeshCreateSubmesh(*whole, num_parts, parts, part, slab);
  free(parts);
  return ierr;
}

// Offsets of a slab are those of the whole box but for one number, so that kernels are those of the box;
// ghosts are the last plane.
static void check_rows(Ceed ceed, CeedInt dim, CeedInt num_parts, CeedInt part, CeedInt degree) {
  RitzMesh whole = NULL, slab = NULL;
  RitzSpace spaces[2] = {NULL, NULL};
  RitzHalo halo;
  const int64_t *all, *own;
  int64_t num = 0, num_owned = 0, num_ghosts = 0, num_seam = 0, *seam, first = 0, plane = 1, layer = 1;
  const CeedInt *n = counts + 3 - dim;

  CHECK_OK(cut_whole(ceed, dim, n, num_parts, part, &whole, &slab));
  CHECK_OK(RitzSpaceCreate(whole, degree, 1, &spaces[0]));
  CHECK_OK(RitzSpaceCreate(slab, degree, 1, &spaces[1]));
  CHECK_OK(RitzSpaceGetElementNodes(spaces[0], &all));
  CHECK_OK(RitzSpaceGetHalo(spaces[1], &halo));
  CHECK_OK(RitzHaloGetSizes(halo, &num_owned, &num_ghosts));
  CHECK_OK(RitzSpaceGetSeamElements(spaces[1], &num_seam, &seam));
  CHECK_OK(RitzSpaceGetElementNodes(spaces[1], &own));
  CHECK_OK(RitzMeshGetNumElements(slab, &num));
  for (CeedInt d = 0; d + 1 < dim; d++) plane *= n[d] * degree + 1, layer *= n[d];
  for (CeedInt p = 0; p < part; p++) first += n[dim - 1] * (p + 1) / num_parts - n[dim - 1] * p / num_parts;
  const int64_t shift = first * degree * plane, num_local = num * (int64_t)pow(degree + 1, dim);

  all += first * layer * (num_local / num);
  for (int64_t i = 0; i < num_local; i++)
    CHECK(own[i] == all[i] - shift, "node %lld is %lld, of the whole %lld", (long long)i, (long long)own[i],
          (long long)all[i]);
  CHECK(num_ghosts == (part + 1 < num_parts ? plane : 0), "%lld ghosts", (long long)num_ghosts);
  CHECK(num_seam == (part + 1 < num_parts ? layer : 0), "%lld elements with ghosts", (long long)num_seam);
  for (int64_t i = 0; i < num_seam; i++)
    CHECK(seam[i] == num - layer + i, "element %lld of the seam is %lld", (long long)i, (long long)seam[i]);
  free(seam);
  for (int i = 0; i < 2; i++) CHECK_OK(RitzSpaceDestroy(&spaces[i]));
  CHECK_OK(RitzMeshDestroy(&slab));
  CHECK_OK(RitzMeshDestroy(&whole));
}

TEST(slabs_are_numbered_as_the_box_is) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (CeedInt dim = 1; dim <= 3; dim++) {
    for (CeedInt num_parts = 1; num_parts <= 3; num_parts++) {
      for (CeedInt part = 0; part < num_parts; part++) check_rows(ceed, dim, num_parts, part, dim);
    }
  }
  CeedDestroy(&ceed);
}

static void check_equal_lists(int64_t num_a, const int64_t *a, int64_t num_b, const int64_t *b,
                              const char *what) {
  CHECK(num_a == num_b, "%s: %lld and %lld", what, (long long)num_a, (long long)num_b);
  for (int64_t i = 0; i < num_a && num_a == num_b; i++)
    CHECK(a[i] == b[i], "%s: entry %lld is %lld and %lld", what, (long long)i, (long long)a[i],
          (long long)b[i]);
}

// Nodes of two meshes: where they are, those of the boundary, and what neighbours get.
static void check_alike(RitzMesh a, RitzMesh b, CeedInt degree) {
  static const char *const parts[] = {"all", "xmin", "zmin", "zmax"};
  RitzSpace spaces[2] = {NULL, NULL};
  RitzHalo halos[2];
  PlacedNodes placed[2] = {{0}, {0}};
  CeedInt num[2];

  for (int i = 0; i < 2; i++) {
    CHECK_OK(RitzSpaceCreate(i ? b : a, degree, 1, &spaces[i]));
    CHECK_OK(place_all(spaces[i], &placed[i]));
    CHECK_OK(RitzSpaceGetHalo(spaces[i], &halos[i]));
    CHECK_OK(RitzHaloGetNumNeighbours(halos[i], &num[i]));
  }
  CHECK(placed[0].num == placed[1].num, "%lld and %lld nodes", (long long)placed[0].num,
        (long long)placed[1].num);
  for (int64_t i = 0; i < placed[0].num; i++)
    CHECK(!compare_placed(&placed[0].nodes[i], &placed[1].nodes[i]), "node %lld", (long long)i);
  for (int p = 0; p < 4; p++) {
    int64_t count[2], *nodes[2];

    for (int i = 0; i < 2; i++)
      CHECK_OK(RitzSpaceGetBoundaryNodes(spaces[i], parts[p], &count[i], &nodes[i]));
    check_equal_lists(count[0], nodes[0], count[1], nodes[1], parts[p]);
    for (int i = 0; i < 2; i++) free(nodes[i]);
  }
  CHECK(num[0] == num[1], "%d and %d neighbours", (int)num[0], (int)num[1]);
  for (CeedInt k = 0; k < num[0]; k++) {
    int64_t count[2], num_ghosts[2];
    const int64_t *send[2];
    uint64_t sums[2][2];

    for (int i = 0; i < 2; i++) {
      CHECK_OK(RitzHaloGetNeighbour(halos[i], k, NULL, &count[i], &send[i], &num_ghosts[i], NULL));
      CHECK_OK(RitzHaloGetChecksums(halos[i], k, &sums[i][0], &sums[i][1]));
    }
    check_equal_lists(count[0], send[0], count[1], send[1], "sent");
    CHECK(num_ghosts[0] == num_ghosts[1] && !memcmp(sums[0], sums[1], sizeof(sums[0])), "neighbour %d",
          (int)k);
  }
  for (int i = 0; i < 2; i++) {
    free(placed[i].nodes);
    CHECK_OK(RitzSpaceDestroy(&spaces[i]));
  }
}

// Refined ones know their neighbours by keys of vertices, whichever way the slab was made.
TEST(slabs_made_without_the_box_are_those_cut_from_it) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (CeedInt part = 0; part < 3; part++) {
    RitzMesh whole = NULL, cut = NULL, made = NULL, fine[2] = {NULL, NULL};

    CHECK_OK(cut_whole(ceed, 3, counts, 3, part, &whole, &cut));
    CHECK_OK(RitzMeshCreateBoxSlab(ceed, 3, counts, NULL, NULL, 2, NULL, NULL, 3, part, &made));
    check_alike(cut, made, 2);
    CHECK_OK(RitzMeshRefine(cut, 1, &fine[0]));
    CHECK_OK(RitzMeshRefine(made, 1, &fine[1]));
    check_alike(fine[0], fine[1], 3);
    for (int i = 0; i < 2; i++) CHECK_OK(RitzMeshDestroy(&fine[i]));
    CHECK_OK(RitzMeshDestroy(&made));
    CHECK_OK(RitzMeshDestroy(&cut));
    CHECK_OK(RitzMeshDestroy(&whole));
  }
  CeedDestroy(&ceed);
}

// Down to 512 elements of all parts.
TEST(slabs_have_coarser_slabs) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const CeedInt n[3] = {16, 8, 48}, half[3] = {8, 4, 24};

  for (CeedInt part = 0; part < 3; part++) {
    RitzMesh made = NULL, coarser = NULL, next = NULL, wanted = NULL;

    CHECK_OK(RitzMeshCreateBoxSlab(ceed, 3, n, NULL, NULL, 1, NULL, NULL, 3, part, &made));
    CHECK_OK(RitzMeshGetCoarser(made, &coarser));
    CHECK_OK(RitzMeshCreateBoxSlab(ceed, 3, half, NULL, NULL, 1, NULL, NULL, 3, part, &wanted));
    check_alike(coarser, wanted, 2);
    CHECK_OK(RitzMeshGetCoarser(coarser, &next)); // it would have 96 elements
    CHECK(next == NULL, "a mesh below that every part should have whole");
    CHECK_OK(RitzMeshDestroy(&wanted));
    CHECK_OK(RitzMeshDestroy(&coarser));
    CHECK_OK(RitzMeshDestroy(&made));
  }
  CeedDestroy(&ceed);
}

static int reverse(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  for (CeedInt d = 0; d < dim; d++) x[d] = d == 0 ? -X[0] : X[d];
  return 0;
}

TEST(wrong_slabs_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh = NULL;
  int32_t parts[42];

  CHECK_ERROR(ceed, RitzMeshCreateBoxSlab(ceed, 4, counts, NULL, NULL, 1, NULL, NULL, 1, 0, &mesh),
              CEED_ERROR_DIMENSION, "dimension 4");
  CHECK_ERROR(ceed, RitzMeshCreateBoxSlab(ceed, 3, counts, NULL, NULL, 1, NULL, NULL, 2, 2, &mesh),
              CEED_ERROR_DIMENSION, "part 2 of 2");
  CHECK_ERROR(ceed, RitzMeshCreateBoxSlab(ceed, 2, counts, NULL, NULL, 1, NULL, NULL, 3, 0, &mesh),
              CEED_ERROR_DIMENSION, "2 layers of elements");
  CHECK_ERROR(ceed, RitzMeshCreateBoxSlab(ceed, 2, counts + 1, NULL, NULL, 1, reverse, NULL, 3, 0, &mesh),
              CEED_ERROR_UNSUPPORTED, "reverses elements");
  CHECK(mesh == NULL, "no mesh is left");
  CHECK_OK(RitzMeshCreateBox(ceed, 3, counts, NULL, NULL, 1, NULL, NULL, &mesh));
  CHECK_ERROR(ceed, RitzMeshPartition(mesh, RITZ_PARTITION_SLABS, 8, NULL, parts), CEED_ERROR_UNSUPPORTED,
              "8 slabs of 7 layers");
  CHECK_OK(RitzMeshDestroy(&mesh));
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(slabs_are_numbered_as_the_box_is, slabs_made_without_the_box_are_those_cut_from_it,
                        slabs_have_coarser_slabs, wrong_slabs_are_refused));
}
