// SPDX-License-Identifier: BSD-2-Clause
// Tests of meshes: boxes, measure, refinement, parts, the table of vertex tuples. Kinds of elements and
// coordinates as a field are in test-mesh-kinds.c, what building refuses in test-mesh-errors.c, node
// numbering in test-space.c, files in other tests.
#include "tests/mesh-tools.h"

// ---- Counts ----

// Edges of a grid: parallel to d there are n[d] prod_{i != d} (n[i] + 1).
static int64_t grid_edges(CeedInt dim) {
  int64_t sum = 0;

  for (CeedInt d = 0; d < dim; d++) {
    int64_t product = 1;

    for (CeedInt i = 0; i < dim; i++) product *= box_size[i] + (i != d);
    sum += product;
  }
  return sum;
}

static int64_t grid_faces(CeedInt dim) {
  int64_t sum = 0;

  for (CeedInt d = 0; dim == 3 && d < dim; d++) {
    int64_t product = 1;

    for (CeedInt i = 0; i < dim; i++) product *= box_size[i] + (i == d);
    sum += product;
  }
  return sum;
}

TEST(boxes_have_the_counts_of_a_grid) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (CeedInt dim = 1; dim <= 3; dim++) {
    RitzMesh mesh;
    RitzMeshTopology topology;
    CeedElemTopology shape;
    CeedInt order, num_parts, found_dim, space_dim;
    int64_t num_elem, num_vertices, elements = 1, vertices = 1;

    CHECK_OK(make_box(ceed, dim, 2, NULL, NULL, &mesh));
    CHECK_OK(RitzMeshGetNumElements(mesh, &num_elem));
    CHECK_OK(RitzMeshGetNumVertices(mesh, &num_vertices));
    CHECK_OK(RitzMeshGetDimensions(mesh, &found_dim, &space_dim));
    CHECK_OK(RitzMeshGetGeometryOrder(mesh, &order));
    CHECK_OK(RitzMeshGetTopology(mesh, &shape));
    CHECK_OK(RitzMeshGetNumBoundaryParts(mesh, &num_parts));
    CHECK_OK(ritz_mesh_topology_create(mesh, 2, &topology));
    for (CeedInt d = 0; d < dim; d++) {
      elements *= box_size[d];
      vertices *= box_size[d] + 1;
    }
    CHECK(num_elem == elements, "dim %d: %lld elements", (int)dim, (long long)num_elem);
    CHECK(num_vertices == vertices, "dim %d: %lld vertices", (int)dim, (long long)num_vertices);
    CHECK(found_dim == dim && space_dim == dim && order == 2 && (int)shape >> 16 == dim, "dim %d", (int)dim);
    CHECK(num_parts == 2 * dim, "dim %d: %d parts", (int)dim, (int)num_parts);
    CHECK(RitzMeshReturnCeed(mesh) == ceed, "the context of the mesh");
    if (dim > 1) CHECK(topology.edges.num == grid_edges(dim), "%lld edges", (long long)topology.edges.num);
    CHECK(topology.faces.num == grid_faces(dim), "%lld faces", (long long)topology.faces.num);
    // Euler's formula for a ball: V - E + F - C = 1.
    int64_t euler = num_vertices;

    if (dim == 1) euler -= num_elem;
    if (dim == 2) euler -= topology.edges.num - num_elem;
    if (dim == 3) euler -= topology.edges.num - topology.faces.num + num_elem;
    CHECK(euler == 1, "dim %d: Euler characteristic %lld", (int)dim, (long long)euler);
    ritz_mesh_topology_clear(&topology);
    CHECK_OK(RitzMeshDestroy(&mesh));
    CHECK(mesh == NULL, "destroy leaves NULL");
  }
  CeedDestroy(&ceed);
}

TEST(facets_of_a_box_lie_on_its_sides) {
  static const char *const names[6] = {"xmin", "xmax", "ymin", "ymax", "zmin", "zmax"};
  const double lower[3] = {-1.0, 2.0, 5.0}, upper[3] = {3.0, 2.5, 9.0};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (CeedInt dim = 1; dim <= 3; dim++) {
    RitzMesh mesh;
    int64_t sum = 0, num, *elements;
    int8_t *facets;

    CHECK_OK(RitzMeshCreateBox(ceed, dim, box_size, lower, upper, 3, NULL, NULL, &mesh));
    for (int side = 0; side < 2 * dim; side++) {
      const char *name;
      int64_t expected = 1;

      CHECK_OK(RitzMeshGetBoundaryPartName(mesh, side, &name));
      CHECK(!strcmp(name, names[side]), "part %d is called %s", side, name);
      CHECK_OK(RitzMeshGetBoundaryPart(mesh, name, &num, &elements, &facets));
      for (CeedInt d = 0; d < dim; d++) expected *= d == side / 2 ? 1 : box_size[d];
      CHECK(num == expected, "%s has %lld facets", name, (long long)num);
      sum += num;
      for (int64_t i = 0; i < num; i++) {
        double r[3] = {0.1, -0.4, 0.3}, x[3];

        r[facets[i] / 2] = facets[i] % 2 ? 1.0 : -1.0;
        evaluate_map(mesh, elements[i], r, -1, x);
        CHECK_NEAR(x[side / 2], side % 2 ? upper[side / 2] : lower[side / 2], 20 * 2.3e-16 * 9.0, "%s", name);
        CHECK(i == 0 || elements[i] > elements[i - 1], "%s is not ascending", name);
      }
      free(elements);
      free(facets);
    }
    CHECK_OK(RitzMeshGetBoundaryPart(mesh, "all", &num, NULL, NULL));
    CHECK(num == sum, "%lld exterior facets, %lld on the sides", (long long)num, (long long)sum);
    RitzMeshDestroy(&mesh);
  }
  CeedDestroy(&ceed);
}

// ---- Measure ----

TEST(a_box_has_its_volume_and_a_constant_jacobian) {
  const double lower[3] = {-1.0, 2.0, 5.0}, upper[3] = {3.0, 2.5, 9.0};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (CeedInt dim = 1; dim <= 3; dim++) {
    for (CeedInt order = 1; order <= 4; order++) {
      RitzMesh mesh;
      double measure, min_det, max_det, volume = 1.0, det = 1.0;

      for (CeedInt d = 0; d < dim; d++) {
        volume *= upper[d] - lower[d];
        det *= (upper[d] - lower[d]) / (2.0 * box_size[d]);
      }
      CHECK_OK(RitzMeshCreateBox(ceed, dim, box_size, lower, upper, order, NULL, NULL, &mesh));
      CHECK_OK(RitzMeshGetMeasure(mesh, &measure, &min_det, &max_det));
      CHECK_NEAR(measure, volume, 100 * 2.3e-16 * volume, "dim %d order %d", (int)dim, (int)order);
      // Cancellation: coordinates up to 9, elements of size 1/6.
      CHECK_NEAR(min_det, det, 1e4 * 2.3e-16 * det, "dim %d order %d", (int)dim, (int)order);
      CHECK_NEAR(max_det, det, 1e4 * 2.3e-16 * det, "dim %d order %d", (int)dim, (int)order);
      RitzMeshDestroy(&mesh);
    }
  }
  CeedDestroy(&ceed);
}

// Integral of det J over the unit cube, from those of the factors
// (1 + a Y^g) (1 + g Y^(g-1)) / 2 and (1 + b Z^g) (1 + c Z^g) (1 + g Z^(g-1)) / 2.
static double polynomial_volume(CeedInt dim, CeedInt g) {
  const double a = 0.5, b = 0.3, c = 0.2;
  double volume = 1.0;

  if (dim > 1) volume *= 1.0 + a / 2.0 * (0.5 + 1.0 / (g + 1));
  if (dim > 2)
    volume *= 1.0 + (b + c) / 2.0 * (0.5 + 1.0 / (g + 1)) + b * c / 2.0 * (1.0 / 3.0 + 1.0 / (2 * g + 1));
  return volume;
}

TEST(polynomially_deformed_boxes_have_their_exact_volume) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (CeedInt dim = 1; dim <= 3; dim++) {
    for (CeedInt order = 1; order <= 5; order++) {
      RitzMesh mesh;
      double measure, volume = polynomial_volume(dim, order);

      CHECK_OK(make_box(ceed, dim, order, polynomial_map, &order, &mesh));
      CHECK_OK(RitzMeshGetMeasure(mesh, &measure, NULL, NULL));
      CHECK_NEAR(measure, volume, 200 * 2.3e-16 * volume, "dim %d order %d", (int)dim, (int)order);
      RitzMeshDestroy(&mesh);
    }
  }
  CeedDestroy(&ceed);
}

// Rounding in the sum of the elements would show at 1e-13.
TEST(measure_of_many_elements_is_as_accurate_as_of_few) {
  const CeedInt n[2] = {600, 500};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh;
  double measure;

  CHECK_OK(RitzMeshCreateBox(ceed, 2, n, NULL, NULL, 1, NULL, NULL, &mesh));
  CHECK_OK(RitzMeshGetMeasure(mesh, &measure, NULL, NULL));
  CHECK_NEAR(measure, 1.0, 20 * 2.3e-16, "the unit square");
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

// Area and flux of x/3 (outward) through a facet of a 3D mesh, by Gauss points.
static void integrate_facet(RitzMesh mesh, int64_t e, int facet, double *area, double *flux) {
  enum { Q = 8 };
  const int d = facet / 2, a = (d + 1) % 3, b = (d + 2) % 3;
  const double side = facet % 2 ? 1.0 : -1.0;
  double points[Q], weights[Q];

  ritz_fe_gauss(Q, points, weights);
  *area = *flux = 0.0;
  for (int q = 0; q < Q * Q; q++) {
    double r[3], x[3], u[3], v[3], w = weights[q % Q] * weights[q / Q];

    r[d] = side;
    r[a] = points[q % Q];
    r[b] = points[q / Q];
    evaluate_map(mesh, e, r, -1, x);
    evaluate_map(mesh, e, r, a, u);
    evaluate_map(mesh, e, r, b, v);
    double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};

    *area += w * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    *flux += side * w * (x[0] * n[0] + x[1] * n[1] + x[2] * n[2]) / 3.0;
  }
}

static void integrate_part(RitzMesh mesh, const char *name, double *area, double *flux) {
  int64_t num, *elements;
  int8_t *facets;

  *area = *flux = 0.0;
  CHECK_OK(RitzMeshGetBoundaryPart(mesh, name, &num, &elements, &facets));
  for (int64_t i = 0; i < num; i++) {
    double facet_area, facet_flux;

    integrate_facet(mesh, elements[i], facets[i], &facet_area, &facet_flux);
    *area += facet_area;
    *flux += facet_flux;
  }
  free(elements);
  free(facets);
}

TEST(volume_is_the_flux_of_x_through_the_exterior_facets) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (CeedInt order = 1; order <= 3; order++) {
    RitzMesh mesh;
    RitzMeshDraft draft;
    double measure, area, flux;
    uint64_t state = 5;

    CHECK_OK(make_box(ceed, 3, order, wavy_map, NULL, &mesh));
    draft = draft_of_mesh(mesh);
    RitzMeshDestroy(&mesh);
    rotate_at_random(&draft, &state);
    CHECK_OK(ritz_mesh_build(ceed, "draft", &draft, &mesh));
    CHECK_OK(RitzMeshGetMeasure(mesh, &measure, NULL, NULL));
    integrate_part(mesh, "all", &area, &flux);
    CHECK_NEAR(flux, measure, 1e3 * 2.3e-16 * measure, "order %d", (int)order);
    RitzMeshDestroy(&mesh);
  }
  CeedDestroy(&ceed);
}

TEST(surfaces_have_their_area_and_curves_their_length) {
  const double pi = 3.14159265358979323846;
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh;
  RitzMeshDraft draft = draft_of_strip(12, 5, 0);
  double measure, min_det;

  CHECK_OK(ritz_mesh_build(ceed, "strip", &draft, &mesh));
  CHECK_OK(RitzMeshGetMeasure(mesh, &measure, &min_det, NULL));
  // The annulus between radii 0.7 and 1.3; the error is that of degree 5 on arcs of pi/6.
  CHECK_NEAR(measure, pi * (1.3 * 1.3 - 0.7 * 0.7), 1e-7, "annulus");
  CHECK(min_det > 0.0, "the metric is positive");
  RitzMeshDestroy(&mesh);

  draft = make_draft(1, 3, 1, 2, 3);
  for (int i = 0; i < 4; i++) {
    draft.elem_vertices[i] = (i + 1) / 2;
    draft.coords[3 * i] = draft.coords[3 * i + 1] = draft.coords[3 * i + 2] = (i + 1) / 2;
  }
  CHECK_OK(ritz_mesh_build(ceed, "diagonal", &draft, &mesh));
  CHECK_OK(RitzMeshGetMeasure(mesh, &measure, NULL, NULL));
  CHECK_NEAR(measure, 2.0 * sqrt(3.0), 10 * 2.3e-16 * 3.5, "a diagonal of two unit cubes");
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

// ---- Refinement ----

TEST(refinement_keeps_the_measure_and_multiplies_the_counts) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (CeedInt dim = 1; dim <= 3; dim++) {
    for (CeedInt order = 1; order <= 3; order++) {
      RitzMesh mesh, fine;
      RitzMeshTopology topology;
      double measure, fine_measure;

      CHECK_OK(make_box(ceed, dim, order, wavy_map, NULL, &mesh));
      CHECK_OK(RitzMeshRefine(mesh, 1, &fine));
      CHECK_OK(RitzMeshGetMeasure(mesh, &measure, NULL, NULL));
      CHECK_OK(RitzMeshGetMeasure(fine, &fine_measure, NULL, NULL));
      CHECK_NEAR(fine_measure, measure, 200 * 2.3e-16 * measure, "dim %d order %d", (int)dim, (int)order);
      CHECK(fine->num_elem == mesh->num_elem << dim, "dim %d: %lld children", (int)dim,
            (long long)fine->num_elem);
      CHECK_OK(ritz_mesh_topology_create(mesh, 2, &topology));
      int64_t expected = mesh->num_vertices + topology.edges.num + topology.faces.num + mesh->num_elem;

      CHECK(fine->num_vertices == expected, "dim %d: %lld vertices, not %lld", (int)dim,
            (long long)fine->num_vertices, (long long)expected);
      ritz_mesh_topology_clear(&topology);
      RitzMeshDestroy(&mesh);
      RitzMeshDestroy(&fine);
    }
  }
  CeedDestroy(&ceed);
}

TEST(children_lie_on_the_map_of_their_parent) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int turns = 0; turns < 4; turns++) {
    RitzMesh mesh, fine;
    RitzMeshDraft draft = draft_of_ring(6, 3, turns);
    uint64_t state = 17;

    CHECK_OK(ritz_mesh_build(ceed, "ring", &draft, &mesh));
    CHECK_OK(RitzMeshRefine(mesh, 1, &fine));
    for (int64_t f = 0; f < fine->num_elem; f++) {
      double r[3], parent_r[3], x[3], parent_x[3];

      for (int d = 0; d < 3; d++) {
        r[d] = tap_uniform(&state);
        parent_r[d] = 0.5 * (r[d] + (f >> d & 1 ? 1.0 : -1.0));
      }
      evaluate_map(fine, f, r, -1, x);
      evaluate_map(mesh, f / 8, parent_r, -1, parent_x);
      for (int c = 0; c < 3; c++) CHECK_NEAR(x[c], parent_x[c], 100 * 2.3e-16, "child %lld", (long long)f);
    }
    RitzMeshDestroy(&mesh);
    RitzMeshDestroy(&fine);
  }
  CeedDestroy(&ceed);
}

TEST(refined_parts_are_the_same_pieces_of_the_boundary) {
  static const char *const names[7] = {"xmin", "xmax", "ymin", "ymax", "zmin", "zmax", "all"};
  CeedInt order = 2;
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh, fine;

  // The sides z = 0 and z = 1 and x = 0 stay flat: their area is an integral of a polynomial.
  CHECK_OK(make_box(ceed, 3, order, polynomial_map, &order, &mesh));
  CHECK_OK(RitzMeshRefine(mesh, 2, &fine));
  for (int i = 0; i < 7; i++) {
    double area, fine_area, flux, fine_flux;
    int64_t num, fine_num;

    CHECK_OK(RitzMeshGetBoundaryPart(mesh, names[i], &num, NULL, NULL));
    CHECK_OK(RitzMeshGetBoundaryPart(fine, names[i], &fine_num, NULL, NULL));
    CHECK(fine_num == 16 * num, "%s: %lld facets", names[i], (long long)fine_num);
    integrate_part(mesh, names[i], &area, &flux);
    integrate_part(fine, names[i], &fine_area, &fine_flux);
    // The flux is exact on every side, the area of a bent one up to the error of 8 Gauss points.
    CHECK_NEAR(fine_flux, flux, 1e3 * 2.3e-16, "%s", names[i]);
    CHECK_NEAR(fine_area, area, i == 0 || i == 4 || i == 5 ? 1e3 * 2.3e-16 : 1e-6, "%s", names[i]);
  }
  RitzMeshDestroy(&mesh);
  RitzMeshDestroy(&fine);
  CeedDestroy(&ceed);
}

TEST(refinement_inherits_names_and_regions) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh, fine;
  RitzMeshDraft draft;
  CeedInt num;
  const char *name;
  int32_t number;

  CHECK_OK(make_box(ceed, 2, 1, NULL, NULL, &mesh));
  draft = draft_of_mesh(mesh);
  RitzMeshDestroy(&mesh);
  CHECK_OK(RITZ_MALLOC(ceed, (size_t)draft.num_elem, &draft.elem_regions));
  for (int64_t e = 0; e < draft.num_elem; e++) draft.elem_regions[e] = e % 3 ? 7 : -5;
  CHECK_OK(RITZ_CALLOC(ceed, 2, &draft.regions));
  draft.num_regions = 2;
  CHECK_OK(ritz_strdup(ceed, "steel", &draft.regions[0].name));
  draft.regions[0].number = 7;
  draft.regions[1].number = 3;
  CHECK_OK(ritz_mesh_build(ceed, "draft", &draft, &mesh));
  CHECK_OK(RitzMeshRefine(mesh, 1, &fine));
  RitzMeshDestroy(&mesh);
  const int32_t *regions;

  CHECK_OK(RitzMeshGetElementRegions(fine, &regions));
  for (int64_t f = 0; f < fine->num_elem; f++)
    CHECK(regions[f] == (f / 4 % 3 ? 7 : -5), "%lld", (long long)f);
  CHECK_OK(RitzMeshGetNumRegions(fine, &num));
  CHECK(num == 3, "%d regions", (int)num);
  static const char *const names[3] = {"-5", "3", "steel"};
  static const int32_t numbers[3] = {-5, 3, 7};

  for (CeedInt i = 0; i < 3; i++) {
    CHECK_OK(RitzMeshGetRegion(fine, i, &name, &number));
    CHECK(!strcmp(name, names[i]) && number == numbers[i], "region %d is %d %s", (int)i, (int)number, name);
  }
  RitzMeshDestroy(&fine);
  CeedDestroy(&ceed);
}

TEST(periodic_meshes_refine_like_others) {
  const CeedInt n[3] = {3, 4, 3};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int dim = 1; dim <= 3; dim++) {
    for (int periodic = 1; periodic < 1 << dim; periodic++) {
      RitzMesh mesh, fine;
      RitzMeshDraft draft;
      int64_t expected = 1, exterior = 0, num_elem = 1;

      CHECK_OK(RitzMeshCreateBox(ceed, dim, n, NULL, NULL, 1, NULL, NULL, &mesh));
      draft = draft_of_mesh(mesh);
      RitzMeshDestroy(&mesh);
      close_box(&draft, n, periodic);
      CHECK_OK(ritz_mesh_build(ceed, "closed", &draft, &mesh));
      CHECK_OK(RitzMeshRefine(mesh, 1, &fine));
      for (int d = 0; d < dim; d++) num_elem *= 2 * n[d];
      for (int d = 0; d < dim; d++) {
        expected *= 2 * n[d] + !(periodic >> d & 1);
        exterior += periodic >> d & 1 ? 0 : num_elem / n[d];
      }
      int64_t num;

      CHECK_OK(RitzMeshGetBoundaryPart(fine, "all", &num, NULL, NULL));
      CHECK(fine->num_vertices == expected, "dim %d closed %d: %lld vertices, not %lld", dim, periodic,
            (long long)fine->num_vertices, (long long)expected);
      CHECK(num == exterior, "dim %d closed %d: %lld exterior facets, not %lld", dim, periodic,
            (long long)num, (long long)exterior);
      RitzMeshDestroy(&mesh);
      RitzMeshDestroy(&fine);
    }
  }
  CeedDestroy(&ceed);
}

TEST(no_levels_of_refinement_give_the_same_mesh) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh, same, other = NULL;

  CHECK_OK(make_box(ceed, 2, 1, NULL, NULL, &mesh));
  CHECK_OK(RitzMeshRefine(mesh, 0, &same));
  CHECK(same == mesh, "a mesh never changes, so it is its own copy");
  CHECK_OK(make_box(ceed, 1, 1, NULL, NULL, &other));
  CHECK_OK(RitzMeshReferenceCopy(mesh, &other));
  CHECK_OK(RitzMeshReferenceCopy(other, &other));
  CHECK_OK(RitzMeshDestroy(&mesh));
  CHECK_OK(RitzMeshDestroy(&same));
  int64_t num_elem;

  CHECK_OK(RitzMeshGetNumElements(other, &num_elem));
  CHECK(num_elem == 12, "the last reference keeps the mesh");
  CHECK_OK(RitzMeshDestroy(&other));
  CHECK_OK(RitzMeshDestroy(&other));
  CHECK_OK(RitzMeshDestroy(NULL));
  CeedDestroy(&ceed);
}

// ---- Parts ----

TEST(labels_find_their_facets_whatever_the_order_of_vertices) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh;
  RitzMeshDraft draft;
  uint64_t state = 3;
  int64_t num, *elements;
  int8_t *facets;

  CHECK_OK(make_box(ceed, 3, 1, NULL, NULL, &mesh));
  draft = draft_of_mesh(mesh);
  RitzMeshDestroy(&mesh);
  add_label(&draft, 23, 5, 1);
  add_label(&draft, 0, 0, 0);
  add_label(&draft, 0, 0, 1); // in two parts
  add_label(&draft, 0, 0, 1); // and twice in one
  add_label(&draft, 1, 0, 2); // interior: belongs to element 0
  shuffle_vertices(&draft, &state);
  CHECK_OK(ritz_mesh_build(ceed, "draft", &draft, &mesh));
  CHECK_OK(RitzMeshGetBoundaryPart(mesh, "1", &num, &elements, &facets));
  CHECK(num == 2 && elements[0] == 0 && facets[0] == 0 && elements[1] == 23 && facets[1] == 5, "part 1");
  free(elements);
  free(facets);
  CHECK_OK(RitzMeshGetBoundaryPart(mesh, "0", &num, &elements, NULL));
  CHECK(num == 1 && elements[0] == 0, "part 0");
  free(elements);
  CHECK_OK(RitzMeshGetBoundaryPart(mesh, "2", &num, &elements, &facets));
  CHECK(num == 1 && elements[0] == 0 && facets[0] == 1, "part 2");
  free(elements);
  free(facets);
  CHECK_ERROR(ceed, RitzMeshGetBoundaryPart(mesh, "3", &num, NULL, NULL), CEED_ERROR_INCOMPATIBLE,
              "there are: all 0 1 2");
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

TEST(parts_of_one_name_are_one_part) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh;
  RitzMeshDraft draft;
  int64_t num, *elements;

  CHECK_OK(make_box(ceed, 2, 1, NULL, NULL, &mesh));
  draft = draft_of_mesh(mesh);
  RitzMeshDestroy(&mesh);
  add_label(&draft, 8, 0, 0);
  add_label(&draft, 0, 0, 0);
  add_label(&draft, 3, 1, 1);
  add_label(&draft, 4, 0, 2);
  add_label(&draft, 8, 0, 2);
  CHECK_OK(ritz_strdup(ceed, "wall", &draft.parts[0].name));
  CHECK_OK(ritz_strdup(ceed, "all", &draft.parts[1].name));
  CHECK_OK(ritz_strdup(ceed, "wall", &draft.parts[2].name));
  CHECK_OK(ritz_mesh_build(ceed, "draft", &draft, &mesh));
  CHECK_OK(RitzMeshGetBoundaryPart(mesh, "wall", &num, &elements, NULL));
  CHECK(num == 3 && elements[0] == 0 && elements[1] == 4 && elements[2] == 8, "%lld facets", (long long)num);
  free(elements);
  CHECK_OK(RitzMeshGetBoundaryPart(mesh, "all", &num, NULL, NULL));
  CHECK(num == 1, "a part 'all' of the mesh's own comes first: %lld facets", (long long)num);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

TEST(reversed_elements_are_renumbered_on_the_line_and_in_the_plane) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (CeedInt dim = 1; dim <= 2; dim++) {
    RitzMesh mesh, turned;
    RitzMeshDraft draft;
    double measure, min_det, expected;
    int64_t num, *elements;
    int8_t *facets;

    CHECK_OK(make_box(ceed, dim, 3, wavy_map, NULL, &mesh));
    CHECK_OK(RitzMeshGetMeasure(mesh, &expected, NULL, NULL));
    draft = draft_of_mesh(mesh);
    // Mirroring the last direction makes elements clockwise; renumbering mirrors the first one.
    for (int64_t e = 0; e < draft.num_elem; e += 2) {
      Rotation mirror = {.axis = {0, 1, 2}, .flip = {0, 0, 0}};

      mirror.flip[dim - 1] = 1;
      rotate_element(&draft, e, &mirror);
    }
    add_label(&draft, 0, 0, 0);
    CHECK_OK(ritz_mesh_build(ceed, "draft", &draft, &turned));
    CHECK_OK(RitzMeshGetMeasure(turned, &measure, &min_det, NULL));
    CHECK_NEAR(measure, expected, 100 * 2.3e-16, "dim %d", (int)dim);
    CHECK(min_det > 0.0, "dim %d: %g", (int)dim, min_det);
    CHECK_OK(RitzMeshGetBoundaryPart(turned, "0", &num, &elements, &facets));
    CHECK(num == 1 && elements[0] == 0, "dim %d: the label stays with its vertices", (int)dim);
    double r[3] = {0.0, 0.0, 0.0}, x[3], old_r[3] = {dim == 1 ? 1.0 : -1.0, 0.0, 0.0}, old_x[3];

    r[facets[0] / 2] = facets[0] % 2 ? 1.0 : -1.0;
    evaluate_map(turned, 0, r, -1, x);
    evaluate_map(mesh, 0, old_r, -1, old_x);
    for (CeedInt c = 0; c < dim; c++) CHECK_NEAR(x[c], old_x[c], 10 * 2.3e-16, "dim %d", (int)dim);
    free(elements);
    free(facets);
    RitzMeshDestroy(&mesh);
    RitzMeshDestroy(&turned);
  }
  CeedDestroy(&ceed);
}

TEST(unused_vertices_are_dropped) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh, thinned;
  RitzMeshDraft draft;

  CHECK_OK(make_box(ceed, 2, 1, NULL, NULL, &mesh));
  draft = draft_of_mesh(mesh);
  draft.num_vertices = 3 * mesh->num_vertices + 5;
  for (int64_t i = 0; i < draft.num_elem * 4; i++) draft.elem_vertices[i] = 3 * draft.elem_vertices[i] + 2;
  CHECK_OK(ritz_mesh_build(ceed, "draft", &draft, &thinned));
  CHECK(thinned->num_vertices == mesh->num_vertices, "%lld vertices", (long long)thinned->num_vertices);
  CHECK(!memcmp(thinned->elem_vertices, mesh->elem_vertices, (size_t)mesh->num_elem * 32), "order is kept");
  RitzMeshDestroy(&mesh);
  RitzMeshDestroy(&thinned);
  CeedDestroy(&ceed);
}

// ---- Tables ----

TEST(tables_number_tuples_in_the_order_of_their_coming) {
  enum { NUM = 200000 };
  RitzMeshTable table;

  // Regular patterns far apart, which a weak hash would put on few slots.
  CHECK_OK(ritz_mesh_table_create(NULL, 2, 0, &table));
  for (int round = 0; round < 2; round++) {
    for (int64_t i = 0; i < NUM; i++) {
      int64_t key[2] = {i << 20, (i << 40) + (INT64_C(1) << 50)}, number;

      CHECK_OK(ritz_mesh_table_insert(NULL, &table, key, &number));
      CHECK(number == i, "round %d: tuple %lld has number %lld", round, (long long)i, (long long)number);
      CHECK(ritz_mesh_table_find(&table, key) == i, "tuple %lld is found", (long long)i);
      key[1]++;
      CHECK(ritz_mesh_table_find(&table, key) == -1, "tuple %lld has no sister", (long long)i);
    }
  }
  CHECK(table.num_keys == NUM, "%lld tuples", (long long)table.num_keys);
  ritz_mesh_table_clear(&table);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(boxes_have_the_counts_of_a_grid, facets_of_a_box_lie_on_its_sides,
            a_box_has_its_volume_and_a_constant_jacobian, polynomially_deformed_boxes_have_their_exact_volume,
            measure_of_many_elements_is_as_accurate_as_of_few,
            volume_is_the_flux_of_x_through_the_exterior_facets,
            surfaces_have_their_area_and_curves_their_length,
            refinement_keeps_the_measure_and_multiplies_the_counts, children_lie_on_the_map_of_their_parent,
            refined_parts_are_the_same_pieces_of_the_boundary, refinement_inherits_names_and_regions,
            periodic_meshes_refine_like_others, no_levels_of_refinement_give_the_same_mesh,
            labels_find_their_facets_whatever_the_order_of_vertices, parts_of_one_name_are_one_part,
            reversed_elements_are_renumbered_on_the_line_and_in_the_plane, unused_vertices_are_dropped,
            tables_number_tuples_in_the_order_of_their_coming));
}
