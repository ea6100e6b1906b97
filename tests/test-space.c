// SPDX-License-Identifier: BSD-2-Clause
// Tests of spaces: the node numbering against positions, restrictions, node positions, boundary nodes. The
// oracle is geometry: two nodes are one exactly when they lie at one place.
#include <ceed/backend.h>

#include "tests/mesh-tools.h"

// ---- Oracle ----

// Positions of the nodes of one element, from product formulas: x [num_local][3].
static void find_positions(RitzMesh mesh, CeedInt degree, int64_t e, double *x) {
  const int64_t n = degree + 1, num_local = power(n, mesh->dim);
  double *nodes = malloc((size_t)n * 8);

  ritz_fe_gauss_lobatto((int)n, nodes, NULL);
  for (int64_t i = 0; i < num_local; i++) {
    double r[3] = {nodes[i % n], nodes[i / n % n], nodes[i / (n * n) % n]};

    evaluate_map(mesh, e, r, -1, x + 3 * i);
  }
  free(nodes);
}

typedef struct {
  int64_t place[3]; // position in units of a fine grid
  int64_t node;
} Located;

static int compare_located(const void *first, const void *second) {
  const Located *a = first, *b = second;

  for (int c = 0; c < 3; c++) {
    if (a->place[c] != b->place[c]) return a->place[c] < b->place[c] ? -1 : 1;
  }
  return (a->node > b->node) - (a->node < b->node);
}

// The grid is coarse beside rounding (1e-15) and fine beside distances of nodes (1e-3); the odd offset keeps
// positions away from its steps. Periods (0: none) bring images of one place together.
static Located locate(const double *x, const double *period, int64_t node) {
  Located located = {.node = node};

  for (int c = 0; c < 3; c++) {
    double position = x[c];

    if (period[c] > 0.0) position -= period[c] * floor(position / period[c] + 1e-7);
    located.place[c] = (int64_t)floor(position / 1e-6 + 0.2718281828459045);
  }
  return located;
}

// Nodes of one place have one number and the other way round, and all numbers occur.
static void check_numbers(RitzSpace space, const double *period) {
  RitzMesh mesh;
  CeedInt degree;
  int64_t num_nodes;
  const int64_t *nodes;

  CHECK_OK(RitzSpaceGetMesh(space, &mesh));
  CHECK_OK(RitzSpaceGetDegree(space, &degree));
  CHECK_OK(RitzSpaceGetNumNodes(space, &num_nodes));
  CHECK_OK(RitzSpaceGetElementNodes(space, &nodes));
  const int64_t num_local = power(degree + 1, mesh->dim), num_all = mesh->num_elem * num_local;
  double *x = malloc((size_t)num_local * 24);
  Located *all = malloc((size_t)num_all * sizeof(*all));
  int64_t num_places = 1, num_mixed = 0, num_numbers = 0;
  char *is_used = calloc((size_t)num_nodes, 1);

  for (int64_t e = 0; e < mesh->num_elem; e++) {
    find_positions(mesh, degree, e, x);
    for (int64_t i = 0; i < num_local; i++) {
      int64_t node = nodes[e * num_local + i];

      CHECK(node >= 0 && node < num_nodes, "element %lld has node %lld", (long long)e, (long long)node);
      num_numbers += !is_used[node];
      is_used[node] = 1;
      all[e * num_local + i] = locate(x + 3 * i, period, node);
    }
  }
  qsort(all, (size_t)num_all, sizeof(*all), compare_located);
  for (int64_t i = 1; i < num_all; i++) {
    bool is_same_place = !memcmp(all[i].place, all[i - 1].place, sizeof(all[i].place));

    num_places += !is_same_place;
    num_mixed += is_same_place && all[i].node != all[i - 1].node;
  }
  CHECK(num_mixed == 0, "degree %d: %lld places have several numbers", (int)degree, (long long)num_mixed);
  CHECK(num_numbers == num_nodes, "degree %d: %lld of %lld numbers occur", (int)degree,
        (long long)num_numbers, (long long)num_nodes);
  CHECK(num_places == num_nodes, "degree %d: %lld places, %lld numbers", (int)degree, (long long)num_places,
        (long long)num_nodes);
  free(is_used);
  free(all);
  free(x);
}

static const double no_period[3] = {0.0, 0.0, 0.0};

// Numbers the mesh of the draft with degrees 1 .. max_degree.
static void check_draft(Ceed ceed, RitzMeshDraft *draft, CeedInt max_degree, const double *period) {
  RitzMesh mesh;

  CHECK_OK(ritz_mesh_build(ceed, "draft", draft, &mesh));
  for (CeedInt degree = 1; degree <= max_degree; degree++) {
    RitzSpace space;

    CHECK_OK(RitzSpaceCreate(mesh, degree, 1, &space));
    check_numbers(space, period);
    if (tap_failed()) return;
    RitzSpaceDestroy(&space);
  }
  RitzMeshDestroy(&mesh);
}

static int wavy_draft(Ceed ceed, CeedInt dim, const CeedInt *n, CeedInt order, RitzMeshDraft *draft) {
  RitzMesh mesh;

  RITZ_TRY(RitzMeshCreateBox(ceed, dim, n, NULL, NULL, order, wavy_map, NULL, &mesh));
  *draft = draft_of_mesh(mesh);
  return RitzMeshDestroy(&mesh);
}

// ---- Numbering ----

TEST(spaces_have_the_nodes_of_vertices_edges_faces_and_cells) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (CeedInt dim = 1; dim <= 3; dim++) {
    RitzMesh mesh;
    RitzMeshTopology t;

    CHECK_OK(make_box(ceed, dim, 1, wavy_map, NULL, &mesh));
    CHECK_OK(ritz_mesh_topology_create(mesh, 2, &t));
    const int64_t counts[3] = {dim == 1 ? mesh->num_elem : t.edges.num,
                               dim == 2 ? mesh->num_elem : t.faces.num, dim == 3 ? mesh->num_elem : 0};

    for (CeedInt p = 1; p <= 6; p++) {
      RitzSpace space;
      int64_t num_nodes, expected = mesh->num_vertices, grid = 1;
      CeedSize l_size;
      CeedInt num_comp;

      for (int i = 0; i < 3; i++) expected += counts[i] * power(p - 1, i + 1);
      for (CeedInt d = 0; d < dim; d++) grid *= p * box_size[d] + 1;
      CHECK_OK(RitzSpaceCreate(mesh, p, 3, &space));
      CHECK_OK(RitzSpaceGetNumNodes(space, &num_nodes));
      CHECK_OK(RitzSpaceGetSize(space, &l_size));
      CHECK_OK(RitzSpaceGetNumComponents(space, &num_comp));
      CHECK(num_nodes == expected && num_nodes == grid, "dim %d degree %d: %lld nodes, not %lld", (int)dim,
            (int)p, (long long)num_nodes, (long long)expected);
      CHECK(num_comp == 3 && l_size == 3 * num_nodes, "%d components, size %td", (int)num_comp, l_size);
      RitzSpaceDestroy(&space);
      CHECK(space == NULL, "destroy leaves NULL");
    }
    ritz_mesh_topology_clear(&t);
    RitzMeshDestroy(&mesh);
  }
  CeedDestroy(&ceed);
}

static int reverse_first(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  for (CeedInt d = 0; d < dim; d++) x[d] = d == 0 ? -X[d] : X[d];
  return 0;
}

// Degree 1 .. 4: node i of row j of plane k of the whole box has number (k size[1] + j) size[0] + i.
static void check_grid_numbers(RitzMesh mesh, CeedInt degree) {
  const int64_t n = degree + 1, num_local = power(n, mesh->dim);
  const int64_t *nodes;
  RitzSpace space;

  CHECK_OK(RitzSpaceCreate(mesh, degree, 1, &space));
  CHECK_OK(RitzSpaceGetElementNodes(space, &nodes));
  for (int64_t i = 0; i < mesh->num_elem * num_local; i++) {
    int64_t e = i / num_local, local = i % num_local, number = 0, stride = 1;

    for (CeedInt d = 0; d < mesh->dim; d++, e /= box_size[d - 1], local /= n) {
      number += (e % box_size[d] * degree + local % n) * stride;
      stride *= box_size[d] * degree + 1;
    }
    CHECK(nodes[i] == number, "dim %d degree %d: node %lld is number %lld, not %lld", (int)mesh->dim,
          (int)degree, (long long)i, (long long)nodes[i], (long long)number);
  }
  RitzSpaceDestroy(&space);
}

TEST(boxes_are_numbered_row_by_row_unless_they_are_reversed) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (CeedInt dim = 1; dim <= 3 && !tap_failed(); dim++) {
    RitzMesh mesh;

    CHECK_OK(make_box(ceed, dim, 1, wavy_map, NULL, &mesh));
    for (CeedInt p = 1; p <= 4 && !tap_failed(); p++) check_grid_numbers(mesh, p);
    RitzMeshDestroy(&mesh);
    if (dim == 3) break;
    CHECK_OK(make_box(ceed, dim, 1, reverse_first, NULL, &mesh));
    for (CeedInt p = 1; p <= 4 && !tap_failed(); p++) {
      RitzSpace space;

      CHECK_OK(RitzSpaceCreate(mesh, p, 1, &space));
      check_numbers(space, no_period);
      RitzSpaceDestroy(&space);
    }
    RitzMeshDestroy(&mesh);
  }
  CeedDestroy(&ceed);
}

// Every face orientation comes up: 24 rotations of one element, some of the other, random vertex numbers.
TEST(two_hexahedra_agree_in_all_rotations) {
  const CeedInt n[3] = {2, 1, 1};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Rotation rotations[24];
  uint64_t state = 1;

  CHECK(make_rotations(3, rotations) == 24, "the cube has 24 rotations");
  for (int first = 0; first < 24; first += tap_level() == TAP_QUICK ? 5 : 1) {
    for (int second = 0; second < 24; second++) {
      RitzMeshDraft draft;

      CHECK_OK(wavy_draft(ceed, 3, n, 2, &draft));
      rotate_element(&draft, 0, &rotations[first]);
      rotate_element(&draft, 1, &rotations[second]);
      shuffle_vertices(&draft, &state);
      check_draft(ceed, &draft, tap_level() == TAP_QUICK ? 4 : 6, no_period);
      if (tap_failed()) {
        tap_note("rotations %d and %d", first, second);
        return;
      }
    }
  }
  CeedDestroy(&ceed);
}

TEST(two_quadrilaterals_agree_in_all_rotations) {
  const CeedInt n[2] = {2, 1};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Rotation rotations[24];
  uint64_t state = 2;

  CHECK(make_rotations(2, rotations) == 4, "the square has 4 rotations");
  for (int i = 0; i < 16 * 10; i++) {
    RitzMeshDraft draft;

    CHECK_OK(wavy_draft(ceed, 2, n, 2, &draft));
    rotate_element(&draft, 0, &rotations[i % 4]);
    rotate_element(&draft, 1, &rotations[i / 4 % 4]);
    shuffle_vertices(&draft, &state);
    check_draft(ceed, &draft, 6, no_period);
    if (tap_failed()) return;
  }
  CeedDestroy(&ceed);
}

TEST(boxes_of_randomly_rotated_elements_agree) {
  const CeedInt n[3] = {3, 3, 3};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  uint64_t state = 3;

  for (int round = 0; round < (tap_level() == TAP_QUICK ? 3 : 20); round++) {
    for (CeedInt dim = 1; dim <= 3; dim++) {
      RitzMeshDraft draft;

      CHECK_OK(wavy_draft(ceed, dim, n, 1 + round % 3, &draft));
      rotate_at_random(&draft, &state);
      shuffle_vertices(&draft, &state);
      check_draft(ceed, &draft, dim == 3 ? 4 : 6, no_period);
      if (tap_failed()) return;
    }
  }
  CeedDestroy(&ceed);
}

TEST(twisted_rings_close) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  uint64_t state = 4;

  for (int turns = 0; turns < 4; turns++) {
    for (int64_t num = 4; num <= 7; num += 3) {
      for (int rotated = 0; rotated < 3; rotated++) {
        RitzMeshDraft draft = draft_of_ring(num, 3, turns);

        if (rotated) rotate_at_random(&draft, &state);
        if (rotated) shuffle_vertices(&draft, &state);
        check_draft(ceed, &draft, 5, no_period);
        if (tap_failed()) return;
      }
    }
  }
  CeedDestroy(&ceed);
}

TEST(moebius_strips_close) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  uint64_t state = 5;

  for (int turns = 0; turns < 3; turns++) {
    for (int rotated = 0; rotated < 5; rotated++) {
      RitzMeshDraft draft = draft_of_strip(9, 4, turns);

      if (rotated) rotate_at_random(&draft, &state);
      if (rotated) shuffle_vertices(&draft, &state);
      check_draft(ceed, &draft, 6, no_period);
      if (tap_failed()) return;
    }
  }
  CeedDestroy(&ceed);
}

TEST(periodic_boxes_share_nodes_across_their_sides) {
  const CeedInt n[3] = {3, 4, 3};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  uint64_t state = 6;

  for (CeedInt dim = 1; dim <= 3; dim++) {
    for (int periodic = 1; periodic < 1 << dim; periodic++) {
      const double period[3] = {periodic & 1, periodic >> 1 & 1, periodic >> 2 & 1};
      RitzMesh mesh;
      RitzMeshDraft draft;

      CHECK_OK(RitzMeshCreateBox(ceed, dim, n, NULL, NULL, 1, NULL, NULL, &mesh));
      draft = draft_of_mesh(mesh);
      RitzMeshDestroy(&mesh);
      close_box(&draft, n, periodic);
      rotate_at_random(&draft, &state);
      shuffle_vertices(&draft, &state);
      check_draft(ceed, &draft, dim == 3 ? 4 : 6, period);
      if (tap_failed()) return;
    }
  }
  CeedDestroy(&ceed);
}

TEST(refined_rings_are_numbered_like_others) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  uint64_t state = 7;

  for (int turns = 0; turns < 4; turns++) {
    RitzMesh mesh, fine;
    RitzMeshDraft draft = draft_of_ring(5, 3, turns);

    rotate_at_random(&draft, &state);
    CHECK_OK(ritz_mesh_build(ceed, "ring", &draft, &mesh));
    CHECK_OK(RitzMeshRefine(mesh, 1, &fine));
    for (CeedInt degree = 1; degree <= 3; degree++) {
      RitzSpace space;

      CHECK_OK(RitzSpaceCreate(fine, degree, 1, &space));
      check_numbers(space, no_period);
      if (tap_failed()) return;
      RitzSpaceDestroy(&space);
    }
    RitzMeshDestroy(&mesh);
    RitzMeshDestroy(&fine);
  }
  CeedDestroy(&ceed);
}

// A box as a reader hands it over.
TEST(new_numbers_follow_the_elements) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh box, mesh;
  RitzSpace space;
  const int64_t *nodes;
  int64_t num_seen = 0, num_nodes;

  CHECK_OK(make_box(ceed, 3, 1, NULL, NULL, &box));
  RitzMeshDraft draft = draft_of_mesh(box);
  RitzMeshDestroy(&box);
  CHECK_OK(ritz_mesh_build(ceed, "a box without its grid", &draft, &mesh));
  CHECK_OK(RitzSpaceCreate(mesh, 4, 1, &space));
  CHECK_OK(RitzSpaceGetElementNodes(space, &nodes));
  CHECK_OK(RitzSpaceGetNumNodes(space, &num_nodes));
  char *is_seen = calloc((size_t)num_nodes, 1);

  for (int64_t e = 0; e < mesh->num_elem; e++) {
    int64_t largest = -1;

    for (int64_t i = 0; i < 125; i++) {
      int64_t node = nodes[e * 125 + i];

      if (node > largest) largest = node;
      num_seen += !is_seen[node];
      is_seen[node] = 1;
    }
    CHECK(largest < num_seen, "after element %lld there are %lld nodes, one has number %lld", (long long)e,
          (long long)num_seen, (long long)largest);
  }
  free(is_seen);
  RitzSpaceDestroy(&space);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

// ---- Positions and restriction ----

TEST(node_coordinates_are_the_positions_in_every_element) {
  const CeedInt n[3] = {3, 2, 2};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  uint64_t state = 8;

  for (CeedInt dim = 1; dim <= 3; dim++) {
    for (CeedInt degree = 1; degree <= 5; degree++) {
      RitzMesh mesh;
      RitzSpace space;
      RitzMeshDraft draft;
      const int64_t *nodes, num_local = power(degree + 1, dim);
      int64_t num_nodes;
      double elem_x[216 * 3];

      CHECK_OK(wavy_draft(ceed, dim, n, 3, &draft));
      rotate_at_random(&draft, &state);
      CHECK_OK(ritz_mesh_build(ceed, "draft", &draft, &mesh));
      CHECK_OK(RitzSpaceCreate(mesh, degree, 2, &space));
      CHECK_OK(RitzSpaceGetNumNodes(space, &num_nodes));
      CHECK_OK(RitzSpaceGetElementNodes(space, &nodes));
      double *x = malloc((size_t)(num_nodes * dim) * 8);

      CHECK_OK(RitzSpaceGetNodeCoordinates(space, x));
      for (int64_t e = 0; e < mesh->num_elem; e++) {
        find_positions(mesh, degree, e, elem_x);
        for (int64_t i = 0; i < num_local * dim; i++) {
          // Sums of 4^3 terms of size 1.
          CHECK_NEAR(x[nodes[e * num_local + i / dim] * dim + i % dim], elem_x[i / dim * 3 + i % dim],
                     64 * 2.3e-16, "dim %d degree %d", (int)dim, (int)degree);
        }
      }
      free(x);
      RitzSpaceDestroy(&space);
      RitzMeshDestroy(&mesh);
    }
  }
  CeedDestroy(&ceed);
}

TEST_EACH_BACKEND(restrictions_gather_the_nodes_of_the_elements) {
  const CeedInt degree = 3, num_comp = 2;
  RitzMesh mesh;
  RitzSpace space;
  CeedElemRestriction rstr;
  CeedVector l_vec, e_vec;
  CeedSize l_size;
  CeedInt layout[3];
  CeedScalar *array;
  const CeedScalar *gathered;
  const int64_t *nodes;

  CHECK_OK(make_box(ceed, 3, 1, NULL, NULL, &mesh));
  CHECK_OK(RitzSpaceCreate(mesh, degree, num_comp, &space));
  RitzMeshDestroy(&mesh); // the space keeps it
  CHECK_OK(RitzSpaceGetMesh(space, &mesh));
  CHECK_OK(RitzSpaceGetSize(space, &l_size));
  CHECK_OK(RitzSpaceGetElementNodes(space, &nodes));
  CHECK_OK(RitzSpaceCreateRestriction(space, ceed, &rstr));
  CHECK_OK(CeedElemRestrictionCreateVector(rstr, &l_vec, &e_vec));
  CHECK_OK(CeedVectorGetArrayWrite(l_vec, CEED_MEM_HOST, &array));
  for (CeedSize i = 0; i < l_size; i++) array[i] = (CeedScalar)i; // exact also in single precision
  CHECK_OK(CeedVectorRestoreArray(l_vec, &array));
  CHECK_OK(CeedElemRestrictionApply(rstr, CEED_NOTRANSPOSE, l_vec, e_vec, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedElemRestrictionGetELayout(rstr, layout));
  CHECK_OK(CeedVectorGetArrayRead(e_vec, CEED_MEM_HOST, &gathered));
  for (int64_t k = 0; k < mesh->num_elem * 64; k++) {
    for (CeedInt c = 0; c < num_comp; c++) {
      double found = gathered[k % 64 * layout[0] + c * layout[1] + k / 64 * layout[2]];

      CHECK(found == (double)(nodes[k] * num_comp + c), "entry %lld component %d", (long long)k, (int)c);
    }
  }
  CHECK_OK(CeedVectorRestoreArrayRead(e_vec, &gathered));
  CeedVectorDestroy(&l_vec);
  CeedVectorDestroy(&e_vec);
  CeedElemRestrictionDestroy(&rstr);
  RitzSpaceDestroy(&space);
}

// ---- Boundary nodes ----

// Compares the nodes of a part with those that lie on side `side` of the unit box (-1: on any).
static void check_side(RitzSpace space, CeedInt dim, const double *x, int64_t num_nodes, const char *name,
                       int side) {
  int64_t num, *nodes, next = 0;

  CHECK_OK(RitzSpaceGetBoundaryNodes(space, name, &num, &nodes));
  for (int64_t i = 0; i < num_nodes; i++) {
    bool is_there = false;

    for (int s = 0; s < 2 * dim; s++) {
      is_there = is_there || ((side == -1 || side == s) && fabs(x[i * dim + s / 2] - s % 2) < 1e-12);
    }
    bool is_listed = next < num && nodes[next] == i;

    CHECK(is_there == is_listed, "%s: node %lld lies there: %d, is listed: %d", name, (long long)i, is_there,
          is_listed);
    next += is_listed;
  }
  CHECK(next == num, "%s lists %lld nodes, %lld in ascending order", name, (long long)num, (long long)next);
  free(nodes);
}

TEST(boundary_nodes_are_those_on_the_sides) {
  static const char *const names[6] = {"xmin", "xmax", "ymin", "ymax", "zmin", "zmax"};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (CeedInt dim = 1; dim <= 3; dim++) {
    RitzMesh mesh, fine;

    CHECK_OK(make_box(ceed, dim, 1, NULL, NULL, &mesh));
    CHECK_OK(RitzMeshRefine(mesh, 1, &fine));
    for (int refined = 0; refined < 2; refined++) {
      for (CeedInt degree = 1; degree <= 3; degree++) {
        RitzSpace space;
        int64_t num_nodes;

        CHECK_OK(RitzSpaceCreate(refined ? fine : mesh, degree, 1, &space));
        CHECK_OK(RitzSpaceGetNumNodes(space, &num_nodes));
        double *x = malloc((size_t)(num_nodes * dim) * 8);

        CHECK_OK(RitzSpaceGetNodeCoordinates(space, x));
        check_side(space, dim, x, num_nodes, "all", -1);
        for (int side = 0; side < 2 * dim; side++) check_side(space, dim, x, num_nodes, names[side], side);
        if (tap_failed()) return;
        free(x);
        RitzSpaceDestroy(&space);
      }
    }
    RitzMeshDestroy(&mesh);
    RitzMeshDestroy(&fine);
  }
  CeedDestroy(&ceed);
}

TEST(closed_meshes_have_no_boundary_nodes) {
  const CeedInt n[3] = {3, 3, 3};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh;
  RitzMeshDraft draft;
  RitzSpace space;
  int64_t num, *nodes;

  CHECK_OK(wavy_draft(ceed, 3, n, 1, &draft));
  close_box(&draft, n, 7);
  CHECK_OK(ritz_mesh_build(ceed, "closed", &draft, &mesh));
  CHECK_OK(RitzSpaceCreate(mesh, 2, 1, &space));
  CHECK_OK(RitzSpaceGetBoundaryNodes(space, "all", &num, &nodes));
  CHECK(num == 0 && nodes == NULL, "%lld nodes", (long long)num);
  RitzSpaceDestroy(&space);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

// ---- Errors ----

TEST_EACH_BACKEND(spaces_are_counted_and_share_their_restriction) {
  const CeedInt n[2] = {2, 3};
  RitzMesh mesh = NULL;
  RitzSpace space = NULL, copy = NULL;
  CeedElemRestriction first = NULL, second = NULL;
  CeedInt degree = 0;

  CHECK_OK(RitzMeshCreateBox(ceed, 2, n, NULL, NULL, 1, NULL, NULL, &mesh));
  CHECK_OK(RitzSpaceCreate(mesh, 2, 1, &space));
  CHECK_OK(RitzMeshDestroy(&mesh));
  CHECK_OK(RitzSpaceReferenceCopy(space, &copy));
  CHECK(copy == space, "another object");
  CHECK_OK(RitzSpaceCreateRestriction(space, ceed, &first));
  CHECK_OK(RitzSpaceDestroy(&space));
  CHECK_OK(RitzSpaceGetDegree(copy, &degree)); // it lives on
  CHECK(degree == 2, "degree %d", (int)degree);
  CHECK_OK(RitzSpaceCreateRestriction(copy, ceed, &second));
  CHECK(first == second, "offsets are there twice");
  CHECK_OK(RitzSpaceDestroy(&copy));
  CHECK_OK(CeedElemRestrictionDestroy(&first));
  CHECK_OK(CeedElemRestrictionDestroy(&second));
}

TEST(wrong_arguments_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh;
  RitzSpace space;
  CeedElemRestriction rstr;
  int64_t num, *nodes;

  CHECK_OK(make_box(ceed, 3, 1, NULL, NULL, &mesh));
  CHECK_ERROR(ceed, RitzSpaceCreate(mesh, 0, 1, &space), CEED_ERROR_DIMENSION, "degree 0");
  CHECK_ERROR(ceed, RitzSpaceCreate(mesh, 1, 0, &space), CEED_ERROR_DIMENSION, "0 components");
  CHECK_ERROR(ceed, RitzSpaceCreate(mesh, INT32_MAX - 1, 1, &space), CEED_ERROR_DIMENSION, "too many nodes");
  CHECK_ERROR(ceed, RitzSpaceCreate(mesh, INT32_MAX, 1, &space), CEED_ERROR_DIMENSION, "degree 2147483647");
  CHECK_ERROR(NULL, RitzSpaceCreate(NULL, 1, 1, &space), CEED_ERROR_INCOMPATIBLE, "'mesh' is NULL");
  // 60 vertices with 2^30 components need offsets up to 59 2^30.
  CHECK_OK(RitzSpaceCreate(mesh, 1, 1 << 30, &space));
  CHECK_ERROR(ceed, RitzSpaceCreateRestriction(space, ceed, &rstr), CEED_ERROR_UNSUPPORTED, "32-bit offsets");
  CeedSize l_size;

  CHECK_OK(RitzSpaceGetSize(space, &l_size));
  CHECK(l_size == (CeedSize)60 << 30, "the size is counted in 64 bits: %td", l_size);
  CHECK_ERROR(ceed, RitzSpaceGetBoundaryNodes(space, "lid", &num, &nodes), CEED_ERROR_INCOMPATIBLE,
              "'lid'; there are: all xmin");
  RitzSpaceDestroy(&space);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

// Makes every allocation of the calls fail in turn.
TEST(running_out_of_memory_is_reported) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh;
  int64_t live;
  int code = -1;

  CHECK_OK(make_box(ceed, 3, 2, NULL, NULL, &mesh));
  live = ritz_memory_live();
  for (int64_t n = 1; code; n++) {
    RitzSpace space = NULL;
    CeedElemRestriction rstr = NULL;
    int64_t num, *nodes = NULL;
    double x[3 * 315];

    ritz_memory_fail_at(n);
    code = RitzSpaceCreate(mesh, 2, 1, &space);
    if (!code) code = RitzSpaceCreateRestriction(space, ceed, &rstr);
    if (!code) code = RitzSpaceGetNodeCoordinates(space, x);
    if (!code) code = RitzSpaceGetBoundaryNodes(space, "all", &num, &nodes);
    ritz_memory_fail_at(0);
    free(nodes);
    CeedElemRestrictionDestroy(&rstr);
    RitzSpaceDestroy(&space);
    CHECK(ritz_memory_live() == live, "allocation %lld fails: %lld are left", (long long)n,
          (long long)(ritz_memory_live() - live));
    CHECK(n < 1000, "the calls succeed in the end");
  }
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(spaces_have_the_nodes_of_vertices_edges_faces_and_cells,
                        spaces_are_counted_and_share_their_restriction,
                        boxes_are_numbered_row_by_row_unless_they_are_reversed,
                        two_hexahedra_agree_in_all_rotations, two_quadrilaterals_agree_in_all_rotations,
                        boxes_of_randomly_rotated_elements_agree, twisted_rings_close, moebius_strips_close,
                        periodic_boxes_share_nodes_across_their_sides, refined_rings_are_numbered_like_others,
                        new_numbers_follow_the_elements, node_coordinates_are_the_positions_in_every_element,
                        restrictions_gather_the_nodes_of_the_elements, boundary_nodes_are_those_on_the_sides,
                        closed_meshes_have_no_boundary_nodes, wrong_arguments_are_refused,
                        running_out_of_memory_is_reported));
}
