// SPDX-License-Identifier: BSD-2-Clause
// RitzMeshFromDMPlex: boxes, reference cells and mesh files of all shapes, in one process and distributed.
#include "kit.h"

// A box of 3 x 2 x 2 cells on [0,1] x [0,2] x [0,3].
static const PetscInt cells[] = {3, 2, 2};

static PetscErrorCode create_box(PetscInt dim, const DMBoundaryType periodicity[], DM *dm) {
  const PetscReal lower[] = {0, 0, 0}, upper[] = {1, 2, 3};

  PetscFunctionBeginUser;
#if PETSC_VERSION_LT(3, 22, 0)
  PetscCall(DMPlexCreateBoxMesh(PETSC_COMM_WORLD, dim, PETSC_FALSE, cells, lower, upper, periodicity,
                                PETSC_TRUE, dm));
#else
  PetscCall(DMPlexCreateBoxMesh(PETSC_COMM_WORLD, dim, PETSC_FALSE, cells, lower, upper, periodicity,
                                PETSC_TRUE, 0, PETSC_TRUE, dm));
#endif
  PetscFunctionReturn(0);
}

// The simplices of a cell, one for each order of the directions: vertices on the way from its lower to its
// upper corner (Kuhn). In space PETSc wants them turned the other way round.
static PetscInt cut_cell(PetscInt dim, PetscInt cell, PetscInt *corners) {
  static const int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {1, 0, 2}, {0, 2, 1}, {2, 1, 0}};
  const PetscInt num = dim == 2 ? 2 : 6, steps[] = {1, cells[0] + 1, (cells[0] + 1) * (cells[1] + 1)};
  const PetscInt i = cell % cells[0], j = cell / cells[0] % cells[1], k = cell / (cells[0] * cells[1]);

  for (PetscInt s = 0; s < num; s++) {
    const int *order = orders[dim == 2 && s == 1 ? 3 : s];
    const bool is_turned = dim == 2 ? s == 1 : s < 3;
    PetscInt *v = corners + s * (dim + 1);

    v[0] = i * steps[0] + j * steps[1] + k * steps[2];
    for (PetscInt d = 0; d < dim; d++) v[d + 1] = v[d] + steps[order[d]];
    if (is_turned) {
      const PetscInt first = v[1];

      v[1] = v[2];
      v[2] = first;
    }
  }
  return num * (dim + 1);
}

static PetscErrorCode create_simplices(PetscInt dim, DM *dm) {
  PetscInt corners[288], num_corners = 0, num_vertices = 0;
  PetscReal x[108];
  PetscMPIInt rank = 0;
  DMLabel label = NULL;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  for (PetscInt c = 0; rank == 0 && c < cells[0] * cells[1] * (dim == 3 ? cells[2] : 1); c++)
    num_corners += cut_cell(dim, c, corners + num_corners);
  for (PetscInt k = 0; rank == 0 && k <= (dim == 3 ? cells[2] : 0); k++)
    for (PetscInt j = 0; j <= cells[1]; j++)
      for (PetscInt i = 0; i <= cells[0]; i++, num_vertices++) {
        PetscReal *at = x + num_vertices * dim;

        at[0] = 1.0 * (PetscReal)i / (PetscReal)cells[0];
        at[1] = 2.0 * (PetscReal)j / (PetscReal)cells[1];
        if (dim == 3) at[2] = 3.0 * (PetscReal)k / (PetscReal)cells[2];
      }
  PetscCall(DMPlexCreateFromCellListPetsc(PETSC_COMM_WORLD, dim, num_corners / (dim + 1), num_vertices,
                                          dim + 1, PETSC_TRUE, corners, dim, x, dm));
  PetscCall(DMCreateLabel(*dm, "marker"));
  PetscCall(DMGetLabel(*dm, "marker", &label));
  PetscCall(DMPlexMarkBoundaryFaces(*dm, 1, label));
  PetscFunctionReturn(0);
}

static PetscErrorCode distribute(PetscInt overlap, DM *dm) {
  PetscPartitioner partitioner = NULL;
  DM distributed = NULL;

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetPartitioner(*dm, &partitioner));
  PetscCall(PetscPartitionerSetFromOptions(partitioner));
  PetscCall(DMPlexDistribute(*dm, overlap, NULL, &distributed));
  if (distributed) {
    PetscCall(DMDestroy(dm));
    *dm = distributed;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode count_facets(Ceed ceed, RitzMesh mesh, const char *name, int64_t *num) {
  PetscFunctionBeginUser;
  RitzPetscCall(ceed, RitzMeshGetBoundaryPart(mesh, name, num, NULL, NULL));
  PetscFunctionReturn(0);
}

// ---- Integrals ----

// The integral of x^a y^b z^c over the mesh in all processes, by spaces of degree 3 on parts.
static PetscErrorCode integrate(Ceed ceed, RitzMesh whole, const int32_t parts[], const int power[3],
                                double *integral) {
  CeedOperator inside = NULL, seam = NULL;
  RitzMesh mesh = NULL;
  RitzSpace space = NULL;
  RitzPetscSpace s = NULL;
  Vec x = NULL, one = NULL, f = NULL, mf = NULL;
  const PetscScalar *at = NULL;
  PetscScalar *values = NULL;
  PetscInt n = 0, dim = 0;
  Mat mass = NULL;

  PetscFunctionBeginUser;
  PetscCall(RitzPetscMeshCreatePart(PETSC_COMM_WORLD, whole, parts, &mesh));
  RitzPetscCall(ceed, RitzSpaceCreate(mesh, 3, 1, &space));
  PetscCall(RitzPetscSpaceCreate(PETSC_COMM_WORLD, ceed, space, &s));
  RitzPetscCall(ceed, kit_operators(ceed, space, RITZ_OPERATOR_MASS, &inside, &seam));
  PetscCall(RitzPetscMatCreate(s, inside, seam, NULL, PETSC_TRUE, &mass));
  PetscCall(RitzPetscSpaceCreateCoordinates(s, &x));
  PetscCall(MatCreateVecs(mass, &f, &mf));
  PetscCall(VecDuplicate(f, &one));
  PetscCall(VecGetLocalSize(f, &n));
  PetscCall(VecGetBlockSize(x, &dim));
  PetscCall(VecGetArrayRead(x, &at));
  PetscCall(VecGetArrayWrite(f, &values));
  for (PetscInt i = 0; i < n; i++) {
    values[i] = 1;
    for (PetscInt d = 0; d < dim; d++) values[i] *= pow(at[i * dim + d], power[d]);
  }
  PetscCall(VecRestoreArrayWrite(f, &values));
  PetscCall(VecRestoreArrayRead(x, &at));
  PetscCall(VecSet(one, 1));
  PetscCall(MatMult(mass, f, mf));
  PetscCall(VecDot(mf, one, integral));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&one));
  PetscCall(VecDestroy(&f));
  PetscCall(VecDestroy(&mf));
  PetscCall(MatDestroy(&mass));
  PetscCall(RitzPetscSpaceDestroy(&s));
  RitzPetscCall(ceed, CeedOperatorDestroy(&inside));
  RitzPetscCall(ceed, CeedOperatorDestroy(&seam));
  RitzPetscCall(ceed, RitzSpaceDestroy(&space));
  RitzPetscCall(ceed, RitzMeshDestroy(&mesh));
  PetscFunctionReturn(0);
}

static double exact(PetscInt dim, const int power[3]) {
  double product = 1;

  for (PetscInt d = 0; d < dim; d++) product *= pow(d + 1.0, power[d] + 1) / (power[d] + 1);
  return product;
}

// ---- Boxes ----

// Facets of the sides that DMPlex marks, by "Face Sets" and by "marker".
static PetscErrorCode check_sides(Ceed ceed, RitzMesh mesh, PetscInt dim, PetscBool is_simplex) {
  const int64_t sides[] = {0, 2, 10, 32}, cuts[] = {1, 1, 1, 2};
  int64_t num = 0, all = 0;
  char name[16];

  PetscFunctionBeginUser;
  for (int side = 1; side <= 2 * dim && !is_simplex; side++) {
    snprintf(name, sizeof name, "%d", side);
    PetscCall(count_facets(ceed, mesh, name, &num));
    all += num;
  }
  if (is_simplex) all = sides[dim] * cuts[dim]; // without sides by number
  CHECK(all == sides[dim] * (is_simplex ? cuts[dim] : 1), "%d facets of sides in %d dimensions", (int)all,
        (int)dim);
  PetscCall(count_facets(ceed, mesh, "marker", &num));
  CHECK(num == all, "%d facets of the marker, needed %d", (int)num, (int)all);
  PetscCall(count_facets(ceed, mesh, "all", &num));
  CHECK(num == all, "%d facets of the boundary, needed %d", (int)num, (int)all);
  PetscFunctionReturn(0);
}

// Parts are those of the processes of the DM.
static PetscErrorCode check_parts(Ceed ceed, DM dm, PetscInt overlap, RitzMesh mesh, const int32_t *parts) {
  PetscInt first = 0, end = 0;
  PetscMPIInt rank = 0;
  int64_t num_elem = 0, mine = 0;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(DMPlexGetHeightStratum(dm, 0, &first, &end));
  RitzPetscCall(ceed, RitzMeshGetNumElements(mesh, &num_elem));
  for (int64_t e = 0; e < num_elem; e++) mine += parts[e] == rank;
  CHECK(overlap > 0 ? mine <= end - first : mine == end - first, "%d elements of %d cells", (int)mine,
        (int)(end - first));
  PetscFunctionReturn(0);
}

static PetscErrorCode check_box(Ceed ceed, PetscInt dim, PetscBool is_simplex, PetscInt overlap) {
  const int powers[][3] = {{0, 0, 0}, {1, 0, 2}, {2, 1, 0}, {0, 3, 0}};
  int32_t *parts = NULL;
  RitzMesh mesh = NULL;
  double integral = 0;
  DM dm = NULL;

  PetscFunctionBeginUser;
  PetscCall(is_simplex ? create_simplices(dim, &dm) : create_box(dim, NULL, &dm));
  if (overlap >= 0) PetscCall(distribute(overlap, &dm));
  PetscCall(RitzMeshFromDMPlex(dm, ceed, &mesh, &parts));
  if (dim > 1) PetscCall(check_sides(ceed, mesh, dim, is_simplex));
  PetscCall(check_parts(ceed, dm, overlap, mesh, parts));
  for (int i = 0; i < 4; i++) {
    PetscCall(integrate(ceed, mesh, i % 2 ? parts : NULL, powers[i], &integral));
    CHECK_NEAR(integral, exact(dim, powers[i]), 1e-12 * exact(dim, powers[i]), "integral over a box");
  }
  free(parts);
  RitzPetscCall(ceed, RitzMeshDestroy(&mesh));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(0);
}

static PetscErrorCode polynomials_are_integrated_over_boxes(Ceed ceed) {
  PetscFunctionBeginUser;
  for (PetscInt overlap = -1; overlap <= 1; overlap++) { // -1: not distributed
    PetscCall(check_box(ceed, 1, PETSC_FALSE, overlap));
    for (PetscInt dim = 2; dim <= 3; dim++) {
      PetscCall(check_box(ceed, dim, PETSC_TRUE, overlap));
      PetscCall(check_box(ceed, dim, PETSC_FALSE, overlap));
    }
  }
  PetscFunctionReturn(0);
}

// Cells at both ends have positions of their own where the box is periodic: the volume is right, there is no
// boundary in that direction.
static PetscErrorCode periodic_boxes_keep_their_volume(Ceed ceed) {
  const DMBoundaryType periodicity[] = {DM_BOUNDARY_PERIODIC, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE};
  RitzMesh mesh = NULL;
  double measure = 0;
  int64_t num = 0;
  DM dm = NULL;

  PetscFunctionBeginUser;
  PetscCall(create_box(3, periodicity, &dm));
  PetscCall(distribute(0, &dm));
  PetscCall(RitzMeshFromDMPlex(dm, ceed, &mesh, NULL));
  RitzPetscCall(ceed, RitzMeshGetMeasure(mesh, &measure, NULL, NULL));
  CHECK_NEAR(measure, 6, 1e-13, "volume");
  PetscCall(count_facets(ceed, mesh, "all", &num));
  CHECK(num == 24, "%d facets of the boundary", (int)num);
  RitzPetscCall(ceed, RitzMeshDestroy(&mesh));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(0);
}

// ---- Shapes ----

static PetscErrorCode reference_cells_are_reference_elements(Ceed ceed) {
  static const DMPolytopeType types[] = {DM_POLYTOPE_SEGMENT,       DM_POLYTOPE_TRIANGLE,
                                         DM_POLYTOPE_QUADRILATERAL, DM_POLYTOPE_TETRAHEDRON,
                                         DM_POLYTOPE_PYRAMID,       DM_POLYTOPE_TRI_PRISM,
                                         DM_POLYTOPE_HEXAHEDRON};
  static const double measures[] = {2, 2, 4, 4.0 / 3, 8.0 / 3, 4, 8};

  PetscFunctionBeginUser;
  for (int i = 0; i < 7; i++) {
    RitzMesh mesh = NULL;
    double measure = 0;
    DM dm = NULL;

    PetscCall(DMPlexCreateReferenceCell(PETSC_COMM_SELF, types[i], &dm));
    PetscCall(RitzMeshFromDMPlex(dm, ceed, &mesh, NULL));
    RitzPetscCall(ceed, RitzMeshGetMeasure(mesh, &measure, NULL, NULL));
    CHECK_NEAR(measure, measures[i], 1e-13 * measures[i], DMPolytopeTypes[types[i]]);
    RitzPetscCall(ceed, RitzMeshDestroy(&mesh));
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(0);
}

// ---- Files ----

// Straight and curved: volumes, boundary parts and their facets are those that Ritz reads from the file.
static PetscErrorCode check_file(Ceed ceed, const char *file, int num_parts, const char *const parts[],
                                 PetscBool has_names) {
  RitzMesh theirs = NULL, ours = NULL;
  const char *our_region = NULL, *their_region = NULL;
  double a = 0, b = 0;
  int64_t m = 0, n = 0;
  char path[256], number[16];
  DM dm = NULL;

  PetscFunctionBeginUser;
  snprintf(path, sizeof path, "examples/meshes/%s", file);
  RitzPetscCall(ceed, RitzMeshRead(ceed, path, &ours));
  if (has_names) PetscCall(PetscOptionsSetValue(NULL, "-dm_plex_gmsh_use_regions", NULL));
  PetscCall(DMPlexCreateFromFile(PETSC_COMM_WORLD, path, "mesh", PETSC_TRUE, &dm));
  PetscCall(PetscOptionsClearValue(NULL, "-dm_plex_gmsh_use_regions"));
  PetscCall(distribute(0, &dm));
  PetscCall(RitzMeshFromDMPlex(dm, ceed, &theirs, NULL));
  RitzPetscCall(ceed, RitzMeshGetMeasure(ours, &a, NULL, NULL));
  RitzPetscCall(ceed, RitzMeshGetMeasure(theirs, &b, NULL, NULL));
  CHECK_NEAR(b, a, 1e-12 * a, file);
  RitzPetscCall(ceed, RitzMeshGetNumVertices(ours, &m));
  RitzPetscCall(ceed, RitzMeshGetNumVertices(theirs, &n));
  CHECK(m == n, "%s: %d vertices, needed %d", file, (int)n, (int)m);
  for (int i = 0; i < num_parts; i++) {
    snprintf(number, sizeof number, "%d", i + 1);
    PetscCall(count_facets(ceed, ours, parts[i], &m));
    PetscCall(count_facets(ceed, theirs, has_names ? parts[i] : number, &n));
    CHECK(m == n && n > 0, "%s: %d facets of part %s, needed %d", file, (int)n, number, (int)m);
  }
  RitzPetscCall(ceed, RitzMeshGetRegion(ours, 0, &our_region, NULL));
  RitzPetscCall(ceed, RitzMeshGetRegion(theirs, 0, &their_region, NULL));
  CHECK(!has_names || !strcmp(our_region, their_region), "%s: the region is called '%s'", file, their_region);
  RitzPetscCall(ceed, RitzMeshDestroy(&ours));
  RitzPetscCall(ceed, RitzMeshDestroy(&theirs));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(0);
}

static PetscErrorCode files_of_gmsh_are_those_that_ritz_reads(Ceed ceed) {
  static const char *const sink[] = {"base", "fins", "sides"};
  static const char *const elbow[] = {"inner", "outer", "inlet", "outlet"};
  static const char *const disk[] = {"wall"};

  PetscFunctionBeginUser;
  for (int has_names = 0; has_names < 2; has_names++) {
    PetscCall(check_file(ceed, "heat-sink.msh", 3, sink, has_names));
    PetscCall(check_file(ceed, "pipe-elbow.msh", 4, elbow, has_names));
    PetscCall(check_file(ceed, "disk.msh", 1, disk, has_names));
  }
  PetscFunctionReturn(0);
}

// ---- Labels ----

// Facets and cells of this process whose middle has x below (above) a number.
static PetscErrorCode mark(DM dm, const char *name, PetscInt height, PetscReal lower, PetscReal upper,
                           PetscInt value) {
  PetscInt first = 0, end = 0;
  DMLabel label = NULL;

  PetscFunctionBeginUser;
  PetscCall(DMGetLabel(dm, name, &label));
  if (!label) PetscCall(DMCreateLabel(dm, name));
  PetscCall(DMGetLabel(dm, name, &label));
  PetscCall(DMPlexGetHeightStratum(dm, height, &first, &end));
  for (PetscInt i = first; i < end; i++) {
    PetscReal middle[3] = {0}, volume = 0;

    PetscCall(DMPlexComputeCellGeometryFVM(dm, i, &volume, middle, NULL));
    if (middle[0] > lower && middle[0] < upper) PetscCall(DMLabelSetValue(label, i, value));
  }
  PetscFunctionReturn(0);
}

// The plane x = 1/3 between cells is a part; its facets, which two processes may have, count once. Labels
// with several values are several parts; values of "Cell Sets" are regions.
static PetscErrorCode labels_become_parts_and_regions(Ceed ceed) {
  const char *name = NULL;
  CeedInt num_regions = 0;
  int32_t number = 0, numbers[2] = {0};
  int64_t num = 0;
  RitzMesh mesh = NULL;
  DM dm = NULL;

  PetscFunctionBeginUser;
  PetscCall(create_box(3, NULL, &dm));
  PetscCall(distribute(1, &dm));
  PetscCall(mark(dm, "plane", 1, 0.33, 0.34, 5));
  PetscCall(mark(dm, "ends", 1, -0.1, 0.1, 1));
  PetscCall(mark(dm, "ends", 1, 0.9, 1.1, 2));
  PetscCall(mark(dm, "Cell Sets", 0, 0, 0.4, 11));
  PetscCall(mark(dm, "Cell Sets", 0, 0.4, 1, 12));
  PetscCall(mark(dm, "copper", 0, 0.4, 1, 12));
  PetscCall(RitzMeshFromDMPlex(dm, ceed, &mesh, NULL));
  PetscCall(count_facets(ceed, mesh, "plane", &num));
  CHECK(num == 4, "%d facets of the plane", (int)num);
  PetscCall(count_facets(ceed, mesh, "ends:1", &num));
  CHECK(num == 4, "%d facets of one end", (int)num);
  PetscCall(count_facets(ceed, mesh, "ends:2", &num));
  CHECK(num == 4, "%d facets of the other end", (int)num);
  RitzPetscCall(ceed, RitzMeshGetNumRegions(mesh, &num_regions));
  CHECK(num_regions == 2, "%d regions", (int)num_regions);
  for (CeedInt i = 0; i < 2; i++) RitzPetscCall(ceed, RitzMeshGetRegion(mesh, i, &name, &numbers[i]));
  CHECK(numbers[0] == 11 && numbers[1] == 12, "regions %d and %d", (int)numbers[0], (int)numbers[1]);
  RitzPetscCall(ceed, RitzMeshGetRegion(mesh, 1, &name, &number));
  CHECK(name && !strcmp(name, "copper"), "region 12 is called '%s'", name ? name : "");
  RitzPetscCall(ceed, RitzMeshDestroy(&mesh));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(0);
}

// ---- What goes wrong ----

// A square of triangles of which one is refined, so that its neighbour is not.
static PetscErrorCode create_hanging_node(DM *dm) {
  DM coarse = NULL, reference = NULL;
  PetscInt first = 0;

  PetscFunctionBeginUser;
  PetscCall(DMPlexCreateFromCellListPetsc(PETSC_COMM_SELF, 2, 2, 4, 3, PETSC_TRUE,
                                          (PetscInt[]){0, 1, 2, 1, 3, 2}, 2,
                                          (PetscReal[]){0, 0, 1, 0, 0, 1, 1, 1}, &coarse));
  PetscCall(DMPlexCreateDefaultReferenceTree(PETSC_COMM_SELF, 2, PETSC_TRUE, &reference));
  PetscCall(DMPlexSetReferenceTree(coarse, reference));
  PetscCall(DMDestroy(&reference));
  PetscCall(DMPlexGetHeightStratum(coarse, 0, &first, NULL));
  PetscCall(DMPlexTreeRefineCell(coarse, first, dm));
  PetscCall(DMDestroy(&coarse));
  PetscFunctionReturn(0);
}

static PetscErrorCode mistakes_are_errors(Ceed ceed) {
  RitzMesh mesh = NULL;
  DM dm = NULL, other = NULL;

  PetscFunctionBeginUser;
  PetscCall(create_simplices(3, &dm));
  CHECK_FAILS(RitzMeshFromDMPlex(NULL, ceed, &mesh, NULL), PETSC_ERR_ARG_NULL, "'dm'");
  CHECK_FAILS(RitzMeshFromDMPlex(dm, NULL, &mesh, NULL), PETSC_ERR_ARG_NULL, "'ceed'");
  CHECK_FAILS(RitzMeshFromDMPlex(dm, ceed, NULL, NULL), PETSC_ERR_ARG_NULL, "'mesh'");
  PetscCall(DMCreate(PETSC_COMM_SELF, &other));
  CHECK_FAILS(RitzMeshFromDMPlex(other, ceed, &mesh, NULL), PETSC_ERR_ARG_WRONG, "needed a plex");
  PetscCall(DMDestroy(&other));
  PetscCall(DMPlexUninterpolate(dm, &other));
  PetscCall(DMDestroy(&dm));
  PetscCall(distribute(0, &other));
  CHECK_FAILS(RitzMeshFromDMPlex(other, ceed, &mesh, NULL), PETSC_ERR_SUP, "has no facets");
  CHECK(!mesh, "there is a mesh after an error");
  PetscCall(DMDestroy(&other));
  PetscCall(DMPlexCreateReferenceCell(PETSC_COMM_SELF, DM_POLYTOPE_TRI_PRISM_TENSOR, &other));
  CHECK_FAILS(RitzMeshFromDMPlex(other, ceed, &mesh, NULL), PETSC_ERR_SUP, "needed lines, triangles");
  PetscCall(DMDestroy(&other));
  PetscCall(create_hanging_node(&other));
  CHECK_FAILS(RitzMeshFromDMPlex(other, ceed, &mesh, NULL), PETSC_ERR_SUP, "hanging nodes");
  PetscCall(DMDestroy(&other));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
#define ROW(name)                                                                                            \
  { #name, name }
  static const KitTest tests[] = {
      ROW(polynomials_are_integrated_over_boxes),  ROW(periodic_boxes_keep_their_volume),
      ROW(reference_cells_are_reference_elements), ROW(files_of_gmsh_are_those_that_ritz_reads),
      ROW(labels_become_parts_and_regions),        ROW(mistakes_are_errors)};

  return kit_run(argc, argv, sizeof tests / sizeof *tests, tests) ? 1 : 0;
}
