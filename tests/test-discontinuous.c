// SPDX-License-Identifier: BSD-2-Clause
// Discontinuous spaces (ritz/space.h) on all shapes and on several: numbers of nodes, what takes them as it
// takes continuous ones (operators, norms, values at points, output, boundary parts), what refuses them.
#include <ceed/backend.h>

#include "tests/shapes-kit.h"

typedef struct {
  int shape; // topology, or a mixture
  CeedInt order, degree;
} Case;

static const Case cases[] = {
    {CEED_TOPOLOGY_LINE, 2, 3},    {CEED_TOPOLOGY_TRIANGLE, 2, 2},
    {CEED_TOPOLOGY_QUAD, 1, 3},    {CEED_TOPOLOGY_TET, 1, 2},
    {CEED_TOPOLOGY_PRISM, 1, 2},   {CEED_TOPOLOGY_HEX, 2, 2},
    {CEED_TOPOLOGY_PYRAMID, 1, 1}, {MIXED_PLANE, 2, 2},
    {MIXED_SOLID, 1, 2},
};
enum { NUM_CASES = sizeof(cases) / sizeof(cases[0]) };

typedef struct {
  RitzMesh mesh;
  RitzGeometry geometry;
  RitzSpace space, continuous;
  CeedSize size;
  CeedInt dim;
} Problem;

static int create_problem(Ceed ceed, const Case *c, CeedInt num_comp, Problem *p) {
  uint64_t seed = 3;
  MixedMap map = mixed_map(dim_of(c->shape), 1, &seed);
  RitzMeshDraft draft;

  *p = (Problem){.dim = dim_of(c->shape)};
  RITZ_TRY(flat_draft(ceed, c->shape, c->order, &draft));
  RITZ_TRY(build_mapped(ceed, &draft, &map, &p->mesh));
  RITZ_TRY(RitzGeometryCreate(p->mesh, -1, &p->geometry));
  RITZ_TRY(RitzSpaceCreate(p->mesh, c->degree, num_comp, &p->continuous));
  RITZ_TRY(RitzSpaceCreateDiscontinuous(p->mesh, c->degree, num_comp, &p->space));
  return RitzSpaceGetSize(p->space, &p->size);
}

static void destroy_problem(Problem *p) {
  RitzSpaceDestroy(&p->space);
  RitzSpaceDestroy(&p->continuous);
  RitzGeometryDestroy(&p->geometry);
  RitzMeshDestroy(&p->mesh);
}

// ---- Nodes ----

// Nodes are numbered one after the other, and lie where those of the continuous space lie.
static void check_nodes(const Problem *p, CeedInt degree) {
  int64_t num_nodes = 0, num_shared = 0, next = 0;
  bool is_continuous[2] = {true, false};

  CHECK_OK(RitzSpaceIsContinuous(p->space, &is_continuous[0]));
  CHECK_OK(RitzSpaceIsContinuous(p->continuous, &is_continuous[1]));
  CHECK(!is_continuous[0] && is_continuous[1], "said to be the other way round");
  CHECK_OK(RitzSpaceGetNumNodes(p->space, &num_nodes));
  CHECK_OK(RitzSpaceGetNumNodes(p->continuous, &num_shared));
  double *x = reference_new(num_nodes * p->dim), *shared = reference_new(num_shared * p->dim);
  CHECK_OK(RitzSpaceGetNodeCoordinates(p->space, x)); // before anybody asks for nodes
  CHECK_OK(RitzSpaceGetNodeCoordinates(p->continuous, shared));
  for (int b = 0; b < p->mesh->num_blocks; b++) {
    const int64_t *nodes = NULL, *of_continuous = NULL;
    CeedInt num = 0;

    CHECK_OK(RitzSpaceGetBlockNodes(p->space, b, &num, &nodes));
    CHECK_OK(RitzSpaceGetBlockNodes(p->continuous, b, NULL, &of_continuous));
    for (int64_t i = 0; i < p->mesh->blocks[b].num_elem * num; i++) {
      CHECK(nodes[i] == next++, "node %d is %d", (int)i, (int)nodes[i]);
      for (CeedInt d = 0; d < p->dim; d++)
        CHECK_NEAR(x[nodes[i] * p->dim + d], shared[of_continuous[i] * p->dim + d], 1e-13, "degree %d",
                   (int)degree);
    }
  }
  CHECK(next == num_nodes, "%d nodes of %d", (int)next, (int)num_nodes);
  double *again = reference_new(num_nodes * p->dim);
  CHECK_OK(RitzSpaceGetNodeCoordinates(p->space, again));
  CHECK(reference_distance(num_nodes * p->dim, x, again) == 0, "other positions when nodes are kept");
  free(x);
  free(shared);
  free(again);
}

TEST(every_element_has_its_own_nodes_in_the_places_of_the_continuous_space) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < NUM_CASES && !tap_failed(); i++) {
    Problem p;

    CHECK_OK(create_problem(ceed, &cases[i], 1, &p));
    check_nodes(&p, cases[i].degree);
    destroy_problem(&p);
  }
  CeedDestroy(&ceed);
}

// On a box, too, whose continuous spaces do not keep nodes; a restriction of some elements.
TEST(boxes_number_discontinuous_nodes_by_element) {
  static const CeedInt some[2] = {4, 1};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  CeedElemRestriction rstr = NULL;
  const CeedInt *offsets = NULL;
  const int64_t *nodes = NULL;
  RitzMesh mesh = NULL;
  RitzSpace space = NULL;

  CHECK_OK(RitzMeshCreateBox(ceed, 3, mixed_size, NULL, NULL, 1, NULL, NULL, &mesh));
  CHECK_OK(RitzSpaceCreateDiscontinuous(mesh, 2, 3, &space));
  CHECK_OK(RitzSpaceCreateElementsRestriction(space, 0, ceed, 2, some, &rstr));
  CHECK_OK(CeedElemRestrictionGetOffsets(rstr, CEED_MEM_HOST, &offsets));
  for (CeedInt i = 0; i < 54; i++)
    CHECK(offsets[i] == 3 * (27 * some[i / 27] + i % 27), "offset %d is %d", (int)i, (int)offsets[i]);
  CHECK_OK(CeedElemRestrictionRestoreOffsets(rstr, &offsets));
  CHECK_OK(RitzSpaceGetElementNodes(space, &nodes));
  for (int64_t i = 0; i < 12 * 27; i++) CHECK(nodes[i] == i, "node %d is %d", (int)i, (int)nodes[i]);
  CeedElemRestrictionDestroy(&rstr);
  RitzSpaceDestroy(&space);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

// A node on a part of the boundary is one of an element that has a facet there, and lies there.
TEST(boundary_nodes_are_those_of_the_elements_at_the_boundary) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  int64_t num = 0, *nodes = NULL, num_nodes = 0;
  RitzMesh mesh = NULL;
  RitzSpace space = NULL;

  CHECK_OK(RitzMeshCreateBox(ceed, 2, mixed_size, NULL, NULL, 1, NULL, NULL, &mesh));
  CHECK_OK(RitzSpaceCreateDiscontinuous(mesh, 3, 1, &space));
  CHECK_OK(RitzSpaceGetBoundaryNodes(space, "ymax", &num, &nodes));
  CHECK_OK(RitzSpaceGetNumNodes(space, &num_nodes));
  double *x = reference_new(2 * num_nodes);
  CHECK_OK(RitzSpaceGetNodeCoordinates(space, x));
  CHECK(num == 3 * 4, "%d nodes on 3 edges of 4", (int)num);
  for (int64_t i = 0; i < num; i++) {
    CHECK(nodes[i] >= 3 * 16, "node %d is of the lower row", (int)nodes[i]);
    CHECK_NEAR(x[2 * nodes[i] + 1], 1, 1e-14, "node %d", (int)nodes[i]);
  }
  free(x);
  free(nodes);
  RitzSpaceDestroy(&space);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

// ---- Operators, norms ----

static double *apply_kind(const Problem *p, Ceed ceed, RitzSpace space, RitzOperatorKind kind, CeedSize n,
                          const double *u) {
  const RitzOperatorOptions options = {.kind = kind, .space = space};
  CeedOperator op = NULL;
  double *v = NULL;

  if (!RitzGeometryCreateOperator(p->geometry, ceed, &options, &op)) v = apply_operator(op, n, u);
  CeedOperatorDestroy(&op);
  return v;
}

// Of continuous u and w: w . A u is the same number in both spaces.
static void check_energy(Ceed ceed, const Case *c, RitzOperatorKind kind) {
  uint64_t seed = 9;
  CeedSize size = 0;
  Problem p;

  CHECK_OK(create_problem(ceed, c, 2, &p));
  CHECK_OK(RitzSpaceGetSize(p.continuous, &size));
  double *u = reference_new_random(size, &seed), *w = reference_new_random(size, &seed);
  double *split_u = split_nodes(p.continuous, p.space, 2, u),
         *split_w = split_nodes(p.continuous, p.space, 2, w);
  double *Au = apply_kind(&p, ceed, p.continuous, kind, size, u),
         *split_Au = apply_kind(&p, ceed, p.space, kind, p.size, split_u);
  CHECK(Au && split_Au, "no operators");
  CHECK_NEAR(reference_dot(p.size, split_w, split_Au), reference_dot(size, w, Au),
             100 * CEED_EPSILON * (double)p.size * reference_largest(size, Au), "%s", kind_name(kind));
  free(u);
  free(w);
  free(split_u);
  free(split_w);
  free(Au);
  free(split_Au);
  destroy_problem(&p);
}

TEST_EACH_BACKEND(operators_have_the_energy_of_those_of_continuous_spaces) {
  for (int i = 0; i < NUM_CASES && !tap_failed(); i += tap_compiles_slowly(ceed) ? 4 : 1) {
    check_energy(ceed, &cases[i], RITZ_OPERATOR_MASS);
    if (!tap_failed()) check_energy(ceed, &cases[i], RITZ_OPERATOR_DIFFUSION);
  }
}

static int known_step(void *ctx, const double *x, double *values, double *gradients) {
  (void)ctx;
  values[0] = x[0] < 0.5 ? 1 : 3;
  if (gradients) gradients[0] = gradients[1] = 0;
  return 0;
}

static int step_of_element(RitzSpace space, CeedVector u) {
  int64_t num = 0;
  CeedScalar *values = NULL;

  RITZ_TRY(RitzSpaceGetNumNodes(space, &num));
  RITZ_TRY(CeedVectorGetArrayWrite(u, CEED_MEM_HOST, &values));
  for (int64_t i = 0; i < num; i++) values[i] = i / 9 % 4 < 2 ? 1 : 3; // 4 x 2 elements of 9 nodes
  return CeedVectorRestoreArray(u, &values);
}

// No error, and the right values on both sides.
TEST_EACH_BACKEND(a_step_between_elements_is_in_the_space) {
  static const CeedInt size[3] = {4, 2, 1};
  const double x[4] = {0.49, 0.3, 0.51, 0.7};
  CeedScalar at[2] = {0, 0};
  CeedVector u = NULL;
  RitzGeometry geometry = NULL;
  RitzLocator locator = NULL;
  RitzMesh mesh = NULL;
  RitzSpace space = NULL;
  double l2 = -1, h1 = -1;
  int64_t num_missed = 0;
  CeedSize n = 0;

  CHECK_OK(RitzMeshCreateBox(ceed, 2, size, NULL, NULL, 1, NULL, NULL, &mesh));
  CHECK_OK(RitzGeometryCreate(mesh, -1, &geometry));
  CHECK_OK(RitzLocatorCreate(mesh, -1, &locator));
  CHECK_OK(RitzSpaceCreateDiscontinuous(mesh, 2, 1, &space));
  CHECK_OK(RitzSpaceGetSize(space, &n));
  CHECK_OK(CeedVectorCreate(ceed, n, &u));
  CHECK_OK(step_of_element(space, u));
  CHECK_OK(RitzGeometryGetErrorNorms(geometry, ceed, space, u, 0, known_step, NULL, &l2, &h1));
  CHECK_NEAR(l2, 0, 100 * CEED_EPSILON, "values");
  CHECK_NEAR(h1, 0, 1000 * CEED_EPSILON, "gradients");
  CHECK_OK(RitzSpaceEvaluate(space, locator, u, 2, x, at, &num_missed));
  CHECK_NEAR(at[0], 1, 20 * CEED_EPSILON, "left");
  CHECK_NEAR(at[1], 3, 20 * CEED_EPSILON, "right");
  CeedVectorDestroy(&u);
  RitzSpaceDestroy(&space);
  RitzLocatorDestroy(&locator);
  RitzGeometryDestroy(&geometry);
  RitzMeshDestroy(&mesh);
}

// ---- Output ----

static char *read_file(const char *path, long *length) {
  FILE *file = fopen(path, "rb");
  char *bytes = NULL;

  if (!file) return NULL;
  fseek(file, 0, SEEK_END);
  *length = ftell(file);
  rewind(file);
  bytes = malloc((size_t)*length);
  if (fread(bytes, 1, (size_t)*length, file) != (size_t)*length) {
    free(bytes);
    bytes = NULL;
  }
  fclose(file);
  return bytes;
}

// Points of a file are those of elements: a discontinuous field has the values of its elements there, so one
// that is continuous makes the same file as the continuous space.
TEST(files_have_discontinuous_fields_as_they_are) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  char *bytes[2] = {NULL, NULL};
  long length[2] = {0, 0};
  uint64_t seed = 4;
  CeedSize size = 0;
  Problem p;

  CHECK_OK(create_problem(ceed, &cases[NUM_CASES - 1], 1, &p));
  CHECK_OK(RitzSpaceGetSize(p.continuous, &size));
  double *u = reference_new_random(size, &seed), *split = split_nodes(p.continuous, p.space, 1, u);
  for (int k = 0; k < 2; k++) {
    CeedVector values = reference_vector(ceed, k ? size : p.size, k ? u : split);
    const RitzOutputField field = {.name = "u", .space = k ? p.continuous : p.space, .values = values};
    const char *path = tap_temp_file("split.vtu", NULL, 0);

    CHECK_OK(RitzWriteVTU(p.mesh, 1, &field, path));
    bytes[k] = read_file(path, &length[k]);
    CHECK(bytes[k], "'%s' cannot be read", path);
    CeedVectorDestroy(&values);
  }
  CHECK(length[0] == length[1] && !memcmp(bytes[0], bytes[1], (size_t)length[0]), "the files differ");
  free(bytes[0]);
  free(bytes[1]);
  free(u);
  free(split);
  destroy_problem(&p);
  CeedDestroy(&ceed);
}

// ---- Refusals ----

TEST(what_wants_shared_nodes_refuses_discontinuous_spaces) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  CeedOperator op = NULL, prolong = NULL;
  CeedElemRestriction rstr[3] = {NULL, NULL, NULL};
  CeedInt num[3] = {0, 0, 0}, *elements = NULL;
  RitzHierarchy hierarchy = NULL;
  RitzPreconditioner pc = NULL;
  RitzMesh mesh = NULL;
  RitzGeometry geometry = NULL;
  RitzSpace space = NULL, continuous = NULL;

  CHECK_OK(RitzMeshCreateBox(ceed, 2, mixed_size, NULL, NULL, 1, NULL, NULL, &mesh));
  CHECK_OK(RitzGeometryCreate(mesh, -1, &geometry));
  CHECK_OK(RitzSpaceCreate(mesh, 2, 1, &continuous));
  CHECK_ERROR(ceed, RitzSpaceCreateDiscontinuous(mesh, 0, 1, &space), CEED_ERROR_DIMENSION,
              "RitzSpaceCreateDiscontinuous: degree 0");
  CHECK(!space, "left a handle");
  CHECK_OK(RitzSpaceCreateDiscontinuous(mesh, 2, 1, &space));
  const RitzOperatorOptions options = {.kind = RITZ_OPERATOR_MASS, .space = space};
  CHECK_OK(RitzGeometryCreateOperator(geometry, ceed, &options, &op));
  const char *why = "the space is discontinuous";
  CHECK_ERROR(ceed, RitzHierarchyCreate(space, NULL, &hierarchy), CEED_ERROR_UNSUPPORTED, why);
  CHECK_ERROR(ceed, RitzSpaceCreateTransfer(continuous, space, ceed, CEED_SCALAR_TYPE, &prolong, NULL),
              CEED_ERROR_UNSUPPORTED, why);
  CHECK_ERROR(ceed, RitzSpaceCreateTransfer(space, continuous, ceed, CEED_SCALAR_TYPE, &prolong, NULL),
              CEED_ERROR_UNSUPPORTED, why);
  CHECK_ERROR(ceed, RitzSpaceCreateOverlapRestrictions(space, ceed, num, &elements, rstr),
              CEED_ERROR_UNSUPPORTED, why);
  CHECK_ERROR(ceed, RitzSpaceCreatePatchRestriction(space, ceed, 0, NULL, NULL, rstr), CEED_ERROR_UNSUPPORTED,
              why);
  CHECK_ERROR(ceed, RitzPreconditionerCreateElementSchwarz(op, space, NULL, NULL, &pc),
              CEED_ERROR_UNSUPPORTED, why);
  CHECK_ERROR(ceed, RitzPreconditionerCreateVertexPatches(op, space, NULL, NULL, &pc), CEED_ERROR_UNSUPPORTED,
              why);
  CHECK(!hierarchy && !prolong && !pc, "left a handle");
  CeedOperatorDestroy(&op);
  RitzSpaceDestroy(&space);
  RitzSpaceDestroy(&continuous);
  RitzGeometryDestroy(&geometry);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

// Blocks of elements are all of a mass matrix: dense Schwarz is its inverse.
TEST_EACH_BACKEND(dense_schwarz_inverts_the_mass_matrix) {
  const Case c = {MIXED_PLANE, 1, 2};
  CeedOperator op = NULL;
  CeedVector z = NULL;
  RitzPreconditioner pc = NULL;
  uint64_t seed = 21;
  Problem p;

  CHECK_OK(create_problem(ceed, &c, 1, &p));
  const RitzOperatorOptions options = {.kind = RITZ_OPERATOR_MASS, .space = p.space};
  CHECK_OK(RitzGeometryCreateOperator(p.geometry, ceed, &options, &op));
  CHECK_OK(RitzPreconditionerCreateDenseSchwarz(op, p.space, NULL, &pc));
  double *u = reference_new_random(p.size, &seed), *Mu = apply_operator(op, p.size, u);
  CeedVector r = reference_vector(ceed, p.size, Mu);
  CHECK_OK(CeedVectorCreate(ceed, p.size, &z));
  CHECK_OK(RitzPreconditionerApply(pc, r, z));
  double *found = reference_new_values(z);
  // The condition number of a mass matrix of degree 2 is some tens.
  CHECK(reference_distance(p.size, found, u) <= 1000 * CEED_EPSILON, "%g apart",
        reference_distance(p.size, found, u));
  free(u);
  free(Mu);
  free(found);
  CeedVectorDestroy(&r);
  CeedVectorDestroy(&z);
  RitzPreconditionerDestroy(&pc);
  CeedOperatorDestroy(&op);
  destroy_problem(&p);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(every_element_has_its_own_nodes_in_the_places_of_the_continuous_space,
                        boxes_number_discontinuous_nodes_by_element,
                        boundary_nodes_are_those_of_the_elements_at_the_boundary,
                        operators_have_the_energy_of_those_of_continuous_spaces,
                        a_step_between_elements_is_in_the_space, files_have_discontinuous_fields_as_they_are,
                        what_wants_shared_nodes_refuses_discontinuous_spaces,
                        dense_schwarz_inverts_the_mass_matrix));
}
