// SPDX-License-Identifier: BSD-2-Clause
// What makes vertices of files one, or leaves them apart: periods of Gmsh, cracks, merged vertices. Other
// tests of readers are in test-readers.c.
#include <ritz.h>

#include "tests/mesh-gmsh.h"

#define GMSH2 "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"

typedef struct {
  RitzMesh mesh; // borrowed
  SampleMap map;
  const int *n;
} Box;

// ---- Periods ----

static void check_closed_box(const Box *box, int num_closed) {
  const int degree = 3;
  int64_t num_vertices = 1, num_nodes = 1, num_facets = 0, found;
  double measure;
  RitzSpace space;

  for (int d = 0; d < box->map.dim; d++) {
    const bool is_closed = d < num_closed;
    int64_t num_across = 1;

    for (int k = 0; k < box->map.dim; k++) num_across *= k == d ? 1 : box->n[k];
    num_vertices *= box->n[d] + !is_closed;
    num_nodes *= degree * box->n[d] + !is_closed;
    num_facets += is_closed ? 0 : 2 * num_across;
  }
  CHECK_OK(RitzMeshGetNumVertices(box->mesh, &found));
  CHECK(found == num_vertices, "%d vertices, %d wanted", (int)found, (int)num_vertices);
  CHECK_OK(RitzMeshGetBoundaryPart(box->mesh, "all", &found, NULL, NULL));
  CHECK(found == num_facets, "%d facets, %d wanted", (int)found, (int)num_facets);
  CHECK_OK(RitzSpaceCreate(box->mesh, degree, 1, &space));
  CHECK_OK(RitzSpaceGetNumNodes(space, &found));
  CHECK(found == num_nodes, "%d nodes of degree 3, %d wanted", (int)found, (int)num_nodes);
  RitzSpaceDestroy(&space);
  CHECK_OK(RitzMeshGetMeasure(box->mesh, &measure, NULL, NULL));
  CHECK_NEAR(measure, sample_measure(box->map), 1e-12, "of the box");
}

static void check_periodic_file(Ceed ceed, const GmshSample *s) {
  const RitzMeshReadOptions ignoring = {.ignore_periodic = true};
  FileBytes file = gmsh_file(s);
  const char *path = tap_temp_file("periodic.msh", file.data, file.size);
  Box box = {.map = s->map, .n = s->n};

  file_clear(&file);
  CHECK_OK(RitzMeshRead(ceed, path, &box.mesh));
  check_closed_box(&box, s->num_closed);
  RitzMeshDestroy(&box.mesh);
  CHECK_OK(RitzMeshReadWith(ceed, path, &ignoring, &box.mesh));
  check_closed_box(&box, 0);
  RitzMeshDestroy(&box.mesh);
  if (tap_failed())
    tap_note("version %d, dim %d, degree %d, binary %d, swapped %d, closed %d", s->version, s->map.dim,
             s->map.degree, s->is_binary, s->is_swapped, s->num_closed);
}

// Positions stay as they are; a box that is closed in all directions has no boundary.
TEST(gmsh_periodic_boxes_have_no_boundary_across_their_periods) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < 2 * 3 * 2 * 3 && !tap_failed(); i++) {
    GmshSample s = {.map = {1 + i / 2 % 3, 1 + i / 6 % 2, false}, .n = {3, 1, 1}, .version = i % 2 ? 4 : 2};

    s.has_groups = s.has_entities = true;
    s.n[1] = s.map.dim > 1 ? 4 : 1;
    s.n[2] = s.map.dim > 2 ? 3 : 1;
    s.is_binary = i / 12 > 0;
    s.is_swapped = i / 12 > 1;
    s.has_sparse_tags = i % 5 == 0;
    s.num_closed = 1 + i % s.map.dim;
    check_periodic_file(ceed, &s);
  }
  CeedDestroy(&ceed);
}

// A strip of two squares, each cut into two triangles, closed along x: both lower edges would have the same
// two vertices. The triangles and all but two edges could be told apart.
TEST(gmsh_periods_of_two_elements_are_refused) {
  const char *path = tap_temp_text(
      "strip.msh",
      GMSH2 "$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 2 0 0\n4 0 1 0\n5 1 1 0\n6 2 1 0\n$EndNodes\n$Elements\n4\n"
            "1 2 2 1 1 1 2 5\n2 2 2 1 1 1 5 4\n3 2 2 1 1 2 3 6\n4 2 2 1 1 2 6 5\n$EndElements\n"
            "$Periodic\n1\n1 2 1\n2\n3 1\n6 4\n$EndPeriodic\n");
  const RitzMeshReadOptions ignoring = {.ignore_periodic = true};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh;

  CHECK_ERROR(ceed, RitzMeshRead(ceed, path, &mesh), CEED_ERROR_MAJOR,
              "(a periodic direction needs at least 3 elements)");
  CHECK_OK(RitzMeshReadWith(ceed, path, &ignoring, &mesh));
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

// ---- Cracks ----

static void check_cracks(RitzMesh mesh, int num_coincident, int num_hanging) {
  RitzMeshCracks cracks;

  CHECK_OK(RitzMeshFindCracks(mesh, &cracks));
  CHECK(cracks.num_coincident == num_coincident && cracks.num_hanging == num_hanging,
        "%d vertices coincide, %d wanted; %d hang, %d wanted", (int)cracks.num_coincident, num_coincident,
        (int)cracks.num_hanging, num_hanging);
}

// A unit square beside two halves of one: vertex 7 hangs. In space: a cube beside four prisms of half its
// height (a square cut along its diagonal, twice): two vertices hang on edges.
TEST(vertices_on_elements_that_do_not_have_them_are_cracks) {
  static const struct {
    const char *text;
    int num_hanging;
    double at[3];
  } files[] = {
      {GMSH2
       "$Nodes\n8\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 2 0 0\n6 2 1 0\n7 1 .5 0\n8 2 .5 0\n$EndNodes\n"
       "$Elements\n3\n1 3 2 1 1 1 2 3 4\n2 3 2 1 1 2 5 8 7\n3 3 2 1 1 7 8 6 3\n$EndElements\n",
       1,
       {1, .5, 0}},
      {GMSH2 "$Nodes\n16\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 0 0 1\n6 1 0 1\n7 1 1 1\n8 0 1 1\n"
             "9 2 0 0\n10 2 1 0\n11 1 0 .5\n12 1 1 .5\n13 2 0 .5\n14 2 1 .5\n15 2 0 1\n16 2 1 1\n$EndNodes\n"
             "$Elements\n5\n1 5 2 1 1 1 2 3 4 5 6 7 8\n2 6 2 1 1 2 9 10 11 13 14\n3 6 2 1 1 2 10 3 11 14 12\n"
             "4 6 2 1 1 11 13 14 6 15 16\n5 6 2 1 1 11 14 12 6 16 7\n$EndElements\n",
       2,
       {1, 0, .5}}};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < 2; i++) {
    const char *path = tap_temp_text("hanging.msh", files[i].text);
    RitzMeshCracks cracks;
    RitzMesh mesh, fine;

    CHECK_OK(RitzMeshRead(ceed, path, &mesh));
    check_cracks(mesh, 0, files[i].num_hanging);
    CHECK_OK(RitzMeshFindCracks(mesh, &cracks));
    for (int d = 0; d < 3; d++)
      CHECK_NEAR(cracks.hanging_at[d], files[i].at[d], 1e-15, "the place in file %d", i);
    CHECK_OK(RitzMeshRefine(mesh, 1, &fine));
    CHECK_OK(RitzMeshFindCracks(fine, &cracks));
    CHECK(cracks.num_coincident > 0 && cracks.num_hanging > 0, "refined, the crack has both");
    RitzMeshDestroy(&fine);
    RitzMeshDestroy(&mesh);
  }
  CeedDestroy(&ceed);
}

// Two squares whose common vertices are there twice, 1e-8 apart; boxes have no cracks.
TEST(merged_vertices_close_cracks) {
  const char *path =
      tap_temp_text("unmerged.msh", GMSH2
                    "$Nodes\n8\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 1.00000001 0 0\n6 2 0 0\n7 2 1 0\n"
                    "8 1 1 0\n$EndNodes\n$Elements\n3\n1 3 2 1 1 1 2 3 4\n2 3 2 1 1 5 6 7 8\n3 1 2 7 1 8 5\n"
                    "$EndElements\n");
  static const double distances[] = {0, 1e-9, 1e-7};
  static const int wanted[] = {7, 7, 6};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh;
  int64_t num;

  CHECK_OK(RitzMeshRead(ceed, path, &mesh));
  check_cracks(mesh, 4, 0);
  RitzMeshDestroy(&mesh);
  for (int i = 0; i < 3; i++) {
    const RitzMeshReadOptions options = {.merge = true, .merge_distance = distances[i]};

    CHECK_OK(RitzMeshReadWith(ceed, path, &options, &mesh));
    CHECK_OK(RitzMeshGetNumVertices(mesh, &num));
    CHECK(num == wanted[i], "%d vertices, merged within %g", (int)num, distances[i]);
    if (i == 2) check_cracks(mesh, 0, 0);
    RitzMeshDestroy(&mesh);
  }
  const RitzMeshReadOptions wide = {.merge = true, .merge_distance = 3},
                            negative = {.merge = true, .merge_distance = -1};

  CHECK_ERROR(ceed, RitzMeshReadWith(ceed, path, &wide, &mesh), CEED_ERROR_MAJOR, "twice");
  CHECK_ERROR(ceed, RitzMeshReadWith(ceed, path, &negative, &mesh), CEED_ERROR_INCOMPATIBLE,
              "needed at least 0");
  for (CeedInt dim = 1; dim <= 3; dim++) {
    CHECK_OK(RitzMeshCreateBox(ceed, dim, (CeedInt[]){3, 2, 2}, NULL, NULL, 2, NULL, NULL, &mesh));
    check_cracks(mesh, 0, 0);
    RitzMeshDestroy(&mesh);
  }
  CeedDestroy(&ceed);
}

static int bend_box(void *ctx, CeedInt dim, const double *X, double *x) {
  const double shift = *(const double *)ctx;

  (void)dim;
  x[0] = (2 + X[1]) * cos(X[0] + shift);
  x[1] = (2 + X[1]) * sin(X[0] + shift);
  return 0;
}

// Pieces of an annulus of degree 3 that are one mesh of two arrays: the right one has twice as many elements
// across.
TEST(curved_elements_that_share_no_vertices_have_cracks) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh pieces[2], both;
  double shifts[2] = {0, 1}, x[(2 + 4) * 16 * 2];
  int64_t vertices[(2 + 4) * 4], num_vertices = 0, num = 0;

  for (int i = 0; i < 2; i++) {
    const CeedInt n[] = {2, i + 1};
    const double *from;
    const int64_t *of_piece;
    int64_t of_this;

    CHECK_OK(RitzMeshCreateBox(ceed, 2, n, NULL, NULL, 3, bend_box, &shifts[i], &pieces[i]));
    CHECK_OK(RitzMeshGetElementCoordinates(pieces[i], &from));
    CHECK_OK(RitzMeshGetElementVertices(pieces[i], &of_piece));
    CHECK_OK(RitzMeshGetNumVertices(pieces[i], &of_this));
    memcpy(x + 32 * num, from, (size_t)(n[0] * n[1]) * 32 * sizeof(*x));
    for (int k = 0; k < 4 * n[0] * n[1]; k++) vertices[4 * num + k] = num_vertices + of_piece[k];
    num += n[0] * n[1];
    num_vertices += of_this;
    check_cracks(pieces[i], 0, 0);
    RitzMeshDestroy(&pieces[i]);
  }
  const RitzMeshArrayBlock block = {
      .topology = CEED_TOPOLOGY_QUAD, .num_elem = num, .vertices = vertices, .x = x};

  CHECK_OK(RitzMeshCreate(ceed,
                          &(RitzMeshArrays){.dim = 2,
                                            .space_dim = 2,
                                            .order = 3,
                                            .num_vertices = num_vertices,
                                            .num_blocks = 1,
                                            .blocks = &block},
                          &both));
  check_cracks(both, 4, 1);
  RitzMeshDestroy(&both);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(gmsh_periodic_boxes_have_no_boundary_across_their_periods,
                        gmsh_periods_of_two_elements_are_refused,
                        vertices_on_elements_that_do_not_have_them_are_cracks, merged_vertices_close_cracks,
                        curved_elements_that_share_no_vertices_have_cracks));
}
