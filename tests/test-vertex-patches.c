// SPDX-License-Identifier: BSD-2-Clause
// Vertex patches as preconditioners: what operators they accept, that one patch is a solution, that sweeps
// converge, what is refused.
#include "tests/tap.h"

#include <ceed/backend.h>
#include <float.h>
#include <math.h>
#include <ritz.h>
#include <ritz/precision.h>
#include <stdlib.h>
#include <string.h>

#include "tests/reference.h"

typedef struct {
  CeedInt dim, degree, num_comp, cells[3];
  const char *fixed; // sides, each a letter: x, y, z low, X, Y, Z high
  RitzMapFunction map;
  RitzOperatorKind kind;
  RitzCoefficientFunction mu;
} Case;

typedef struct {
  const Case *c;
  RitzMesh mesh;
  RitzSpace space;
  RitzGeometry geometry;
  RitzIndices fixed;
  CeedOperator op;
  CeedSize n;
} Problem;

static int stretch(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  for (CeedInt d = 0; d < dim; d++) x[d] = (1 + d) * (X[d] + 0.4 * X[d] * X[d]);
  return 0;
}

static int bend(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  for (CeedInt d = 0; d < dim; d++) x[d] = X[d] + (d == 0 ? 0.05 * sin(3 * X[1]) : 0);
  return 0;
}

static int varying(void *ctx, const double *x, double *value) {
  (void)ctx;
  *value = 1 + 0.01 * x[0];
  return 0;
}

// In the last element of 5 x 5.
static int twice(void *ctx, const double *x, double *value) {
  (void)ctx;
  *value = x[0] > 0.8 && x[1] > 0.8 ? 2 : 1;
  return 0;
}

static int three(void *ctx, const double *x, double *value) {
  (void)ctx;
  (void)x;
  *value = 3;
  return 0;
}

static int open_problem(Ceed ceed, const Case *c, Problem *p) {
  static const char letters[] = "xXyYzZ", *const names[] = {"xmin", "xmax", "ymin", "ymax", "zmin", "zmax"};
  RitzFixedPart parts[6];
  CeedInt num = 0;

  *p = (Problem){.c = c};
  for (const char *side = c->fixed; *side; side++)
    parts[num++] = (RitzFixedPart){.part = names[strchr(letters, *side) - letters]};
  CeedCall(RitzMeshCreateBox(ceed, c->dim, c->cells, NULL, NULL, 1, c->map, NULL, &p->mesh));
  CeedCall(RitzSpaceCreate(p->mesh, c->degree, c->num_comp > 0 ? c->num_comp : 1, &p->space));
  CeedCall(RitzSpaceGetSize(p->space, &p->n));
  CeedCall(RitzSpaceCreateConstraints(p->space, ceed, num, parts, &p->fixed));
  CeedCall(RitzGeometryCreate(p->mesh, -1, &p->geometry));
  const RitzOperatorOptions options = {.kind = c->kind, .space = p->space, .mu_function = c->mu};
  CeedCall(RitzGeometryCreateOperator(p->geometry, ceed, &options, &p->op));
  return RitzOperatorSetUse(p->op, RITZ_USE_ONCE);
}

static int close_problem(Problem *p) {
  return CeedOperatorDestroy(&p->op) | RitzIndicesDestroy(&p->fixed) | RitzGeometryDestroy(&p->geometry) |
         RitzSpaceDestroy(&p->space) | RitzMeshDestroy(&p->mesh);
}

static int set_random(const Problem *p, uint64_t seed, CeedVector v) {
  CeedScalar *array;
  CeedCall(CeedVectorGetArrayWrite(v, CEED_MEM_HOST, &array));
  for (CeedSize i = 0; i < p->n; i++) array[i] = (CeedScalar)tap_uniform(&seed);
  return CeedVectorRestoreArray(v, &array);
}

// |b - A x| on free entries, x zero on the others; work: a vector.
static int residual(const Problem *p, CeedVector b, CeedVector x, CeedVector r, double *norm) {
  CeedScalar value = 0;
  CeedCall(CeedOperatorApply(p->op, x, r, CEED_REQUEST_IMMEDIATE));
  CeedCall(RitzVectorSum(r, 1, b, -1, r));
  CeedCall(RitzVectorSetEntries(r, p->fixed, 0));
  CeedCall(CeedVectorNorm(r, CEED_NORM_2, &value));
  *norm = (double)value;
  return 0;
}

// Reduction of the residual by `steps` steps x += P (b - A x).
static int reduce(const Problem *p, RitzPreconditioner pc, int steps, double *factor) {
  CeedVector b = NULL, x = NULL, r = NULL, z = NULL;
  double first = 0, last = 0;
  int ierr = CeedVectorCreate(CeedOperatorReturnCeed(p->op), p->n, &b) |
             CeedVectorCreate(CeedOperatorReturnCeed(p->op), p->n, &x) |
             CeedVectorCreate(CeedOperatorReturnCeed(p->op), p->n, &r) |
             CeedVectorCreate(CeedOperatorReturnCeed(p->op), p->n, &z);
  if (!ierr) ierr = set_random(p, 3, b);
  if (!ierr) ierr = CeedVectorSetValue(x, 0);
  if (!ierr) ierr = residual(p, b, x, r, &first);
  for (int i = 0; i < steps && !ierr; i++) {
    ierr = RitzPreconditionerApply(pc, r, z);
    if (!ierr) ierr = RitzVectorSum(x, 1, x, 1, z);
    if (!ierr) ierr = residual(p, b, x, r, &last);
  }
  *factor = last / first;
  return ierr | CeedVectorDestroy(&b) | CeedVectorDestroy(&x) | CeedVectorDestroy(&r) | CeedVectorDestroy(&z);
}

static const Case accepted[] = {
    {2, 1, 1, {4, 5, 1}, "xXyY", NULL, RITZ_OPERATOR_DIFFUSION, NULL},
    {2, 3, 1, {4, 3, 1}, "xXyY", NULL, RITZ_OPERATOR_HELMHOLTZ, three},
    {2, 4, 1, {3, 1, 1}, "xXyY", NULL, RITZ_OPERATOR_DIFFUSION, NULL},
    {2, 2, 1, {3, 4, 1}, "x", stretch, RITZ_OPERATOR_DIFFUSION, NULL},
    {3, 2, 3, {3, 2, 4}, "xXyYzZ", NULL, RITZ_OPERATOR_DIFFUSION, NULL},
    {3, 2, 1, {1, 3, 2}, "xyYZ", stretch, RITZ_OPERATOR_HELMHOLTZ, three},
    {3, 4, 1, {2, 3, 2}, "xXyYzZ", NULL, RITZ_OPERATOR_DIFFUSION, three},
    {3, 1, 1, {1, 1, 1}, "z", NULL, RITZ_OPERATOR_DIFFUSION, NULL},
};

// Boxes of a few cells: sweeps as a method of their own reduce every error.
TEST_EACH_BACKEND(sweeps_converge_where_the_operator_is_separable) {
  const int num = tap_compiles_slowly(ceed) ? 3 : (int)(sizeof(accepted) / sizeof(*accepted));
  for (int i = 0; i < num; i++) {
    const RitzPatchOptions options = {.form = (RitzPatchForm)(i % 3), .is_symmetric = i % 2};
    Problem p;
    RitzPreconditioner pc = NULL;
    bool is_symmetric = false;
    double factor;
    CHECK_OK(open_problem(ceed, &accepted[i], &p));
    CHECK_OK(RitzPreconditionerCreateVertexPatches(p.op, p.space, p.fixed, &options, &pc));
    CHECK_OK(RitzPreconditionerIsSymmetric(pc, &is_symmetric));
    CHECK(is_symmetric == options.is_symmetric, "case %d", i);
    CHECK_OK(reduce(&p, pc, 6, &factor));
    CHECK(factor < 0.3, "case %d: residual times %g", i, factor);
    CHECK_OK(RitzPreconditionerDestroy(&pc));
    CHECK_OK(close_problem(&p));
  }
}

// Two cells a direction: one vertex, whose patch is all that is free.
TEST_EACH_BACKEND(one_patch_is_the_solution) {
  const CeedInt most = tap_compiles_slowly(ceed) ? 2 : 8;
  for (CeedInt degree = 1; degree <= most; degree++) {
    for (CeedInt dim = 2; dim <= (degree < 6 ? 3 : 2); dim++) {
      const Case c = {.dim = dim,
                      .degree = degree,
                      .cells = {2, 2, 2},
                      .fixed = dim == 2 ? "xXyY" : "xXyYzZ",
                      .kind = RITZ_OPERATOR_DIFFUSION};
      Problem p;
      RitzPreconditioner pc = NULL;
      double factor;
      CHECK_OK(open_problem(ceed, &c, &p));
      CHECK_OK(RitzPreconditionerCreateVertexPatches(p.op, p.space, p.fixed, NULL, &pc));
      CHECK_OK(reduce(&p, pc, 1, &factor));
      CHECK(factor < 100 * eps * degree * degree * degree, "degree %d: residual times %g", (int)degree,
            factor);
      CHECK_OK(RitzPreconditionerDestroy(&pc));
      CHECK_OK(close_problem(&p));
    }
  }
}

// P = sweep and reversed sweep: x . P y = y . P x, x . P x > 0.
TEST_EACH_BACKEND(there_and_back_is_symmetric) {
  const Case c = {2, 3, 1, {4, 3, 1}, "xXyY", NULL, RITZ_OPERATOR_DIFFUSION, NULL};
  const RitzPatchOptions options = {.is_symmetric = true};
  Problem p;
  RitzPreconditioner pc = NULL;
  CeedVector v[4] = {NULL, NULL, NULL, NULL};
  double xy, yx, xx;
  CHECK_OK(open_problem(ceed, &c, &p));
  CHECK_OK(RitzPreconditionerCreateVertexPatches(p.op, p.space, p.fixed, &options, &pc));
  for (int i = 0; i < 4; i++) CHECK_OK(CeedVectorCreate(ceed, p.n, &v[i]));
  for (int i = 0; i < 2; i++) {
    CHECK_OK(set_random(&p, 5 + (uint64_t)i, v[i]));
    CHECK_OK(RitzVectorSetEntries(v[i], p.fixed, 0));
    CHECK_OK(RitzPreconditionerApply(pc, v[i], v[2 + i]));
  }
  CHECK_OK(RitzVectorDot(v[0], v[3], &xy));
  CHECK_OK(RitzVectorDot(v[1], v[2], &yx));
  CHECK_OK(RitzVectorDot(v[0], v[2], &xx));
  CHECK(xx > 0, "%g", xx);
  CHECK_NEAR(xy, yx, 1000 * eps * xx, "products of %g", xx);
  for (int i = 0; i < 4; i++) CHECK_OK(CeedVectorDestroy(&v[i]));
  CHECK_OK(RitzPreconditionerDestroy(&pc));
  CHECK_OK(close_problem(&p));
}

static void check_refused(Ceed ceed, const Case *c, const char *words) {
  Problem p;
  RitzPreconditioner pc = NULL;
  CHECK_OK(open_problem(ceed, c, &p));
  CHECK_ERROR(ceed, RitzPreconditionerCreateVertexPatches(p.op, p.space, p.fixed, NULL, &pc),
              CEED_ERROR_UNSUPPORTED, words);
  CHECK(pc == NULL, "after an error");
  CHECK_OK(close_problem(&p));
}

TEST_EACH_BACKEND(other_operators_are_refused_with_the_place) {
  const Case bent = {2, 2, 1, {3, 3, 1}, "xXyY", bend, RITZ_OPERATOR_DIFFUSION, NULL};
  const Case variable = {2, 2, 1, {3, 3, 1}, "xXyY", NULL, RITZ_OPERATOR_DIFFUSION, varying};
  const Case line = {1, 2, 1, {3, 1, 1}, "xX", NULL, RITZ_OPERATOR_DIFFUSION, NULL};
  check_refused(ceed, &bent, "element 0 of the box is not rectangular");
  const Case jump = {2, 2, 1, {5, 5, 1}, "xXyY", NULL, RITZ_OPERATOR_DIFFUSION, twice};
  check_refused(ceed, &variable, "patches change a random solution");
  check_refused(ceed, &jump, "patches change a random solution");
  const char *message = NULL, *place;
  long element = 0;
  CHECK_OK(CeedGetErrorMessage(ceed, &message));
  place = strstr(message, "of element ");
  CHECK(place && sscanf(place, "of element %ld", &element) == 1, "%s", message);
  // Those of the patch with the element of the jump, which is 24.
  CHECK(element == 18 || element == 19 || element == 23 || element == 24, "element %ld", element);
  check_refused(ceed, &line, "elements of the shape 'line'");
}

// Planes of a graded box, of its coarser mesh; not of a bent one, which names an element, nor of a refined
// one.
TEST(planes_of_boxes_are_where_their_elements_meet) {
  Ceed ceed = tap_ceed("/cpu/self");
  const CeedInt size[3] = {4, 2, 6};
  RitzMesh mesh = NULL, other = NULL;
  bool is_box = false;
  CeedInt n[3];
  double *planes[3];
  int64_t elem;
  CHECK_OK(RitzMeshCreateBox(ceed, 3, size, NULL, NULL, 1, stretch, NULL, &mesh));
  CHECK_OK(RitzMeshGetRectangularBox(mesh, &is_box, n, planes, &elem));
  CHECK(is_box && elem == -1, "element %lld", (long long)elem);
  for (int d = 0; d < 3; d++) {
    CHECK(n[d] == size[d], "direction %d", d);
    for (CeedInt i = 0; i <= n[d]; i++) {
      const double X = (double)i / n[d];
      CHECK_NEAR(planes[d][i], (1 + d) * (X + 0.4 * X * X), 10 * DBL_EPSILON, "plane %d of %d", (int)i, d);
    }
    free(planes[d]);
  }
  CHECK_OK(RitzMeshGetCoarser(mesh, &other));
  CHECK_OK(RitzMeshGetRectangularBox(other, &is_box, n, planes, &elem));
  CHECK(is_box && n[0] == 2 && n[1] == 1 && n[2] == 3, "%d x %d x %d", (int)n[0], (int)n[1], (int)n[2]);
  for (int d = 0; d < 3; d++) free(planes[d]);
  CHECK_OK(RitzMeshDestroy(&other));
  CHECK_OK(RitzMeshRefine(mesh, 1, &other));
  CHECK_OK(RitzMeshGetRectangularBox(other, &is_box, n, planes, &elem));
  CHECK(!is_box && elem == -1 && planes[0] == NULL, "element %lld", (long long)elem);
  CHECK_OK(RitzMeshDestroy(&other));
  CHECK_OK(RitzMeshDestroy(&mesh));
  CHECK_OK(RitzMeshCreateBox(ceed, 2, size, NULL, NULL, 1, bend, NULL, &mesh));
  CHECK_OK(RitzMeshGetRectangularBox(mesh, &is_box, n, planes, &elem));
  CHECK(!is_box && elem == 0 && planes[1] == NULL, "element %lld", (long long)elem);
  CHECK_OK(RitzMeshDestroy(&mesh));
  CeedDestroy(&ceed);
}

static void check_creation(Ceed ceed, CeedOperator op, RitzSpace space, RitzIndices fixed, int code,
                           const char *words) {
  RitzPreconditioner pc = NULL;
  CHECK_ERROR(ceed, RitzPreconditionerCreateVertexPatches(op, space, fixed, NULL, &pc), code, words);
  CHECK(pc == NULL, "after an error");
}

// Spaces of another length, of as many entries in pairs, of a box with its sides exchanged.
TEST(operators_of_other_spaces_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self");
  const Case large = {2, 2, 1, {3, 2, 1}, "xXyY", NULL, RITZ_OPERATOR_DIFFUSION, NULL},
             turned = {2, 2, 1, {2, 3, 1}, "xXyY", NULL, RITZ_OPERATOR_DIFFUSION, NULL},
             scalar = {2, 1, 1, {3, 3, 1}, "", NULL, RITZ_OPERATOR_DIFFUSION, NULL},
             pairs = {2, 1, 2, {3, 1, 1}, "", NULL, RITZ_OPERATOR_DIFFUSION, NULL};
  const Case *const cases[] = {&large, &turned, &scalar, &pairs};
  Problem p[4];
  RitzPreconditioner pc = NULL;
  for (int i = 0; i < 4; i++) CHECK_OK(open_problem(ceed, cases[i], &p[i]));
  check_creation(ceed, p[0].op, p[2].space, NULL, CEED_ERROR_DIMENSION, "35 entries, the space has 16");
  check_creation(ceed, p[2].op, p[3].space, NULL, CEED_ERROR_DIMENSION, "1 components, the space has 2");
  check_creation(ceed, p[0].op, p[1].space, p[1].fixed, CEED_ERROR_UNSUPPORTED,
                 "patches change a random solution");
  CHECK_ERROR(ceed, RitzPreconditionerCreateElementSchwarz(p[2].op, p[3].space, NULL, NULL, &pc),
              CEED_ERROR_DIMENSION, "1 components, the space has 2");
  for (int i = 0; i < 4; i++) CHECK_OK(close_problem(&p[i]));
  CeedDestroy(&ceed);
}

// Refined boxes are no boxes any more, split ones have no tensor products.
TEST(other_meshes_are_refused_with_what_serves) {
  Ceed ceed = tap_ceed("/cpu/self");
  const CeedInt cells[2] = {2, 2};
  for (int i = 0; i < 2; i++) {
    RitzMesh box = NULL;
    Problem p = {.c = NULL};
    CHECK_OK(RitzMeshCreateBox(ceed, 2, cells, NULL, NULL, 1, NULL, NULL, &box));
    CHECK_OK(i == 0 ? RitzMeshRefine(box, 1, &p.mesh) : RitzMeshSplit(box, CEED_TOPOLOGY_TRIANGLE, &p.mesh));
    CHECK_OK(RitzSpaceCreate(p.mesh, 2, 1, &p.space));
    CHECK_OK(RitzGeometryCreate(p.mesh, -1, &p.geometry));
    const RitzOperatorOptions options = {.kind = RITZ_OPERATOR_DIFFUSION, .space = p.space};
    CHECK_OK(RitzGeometryCreateOperator(p.geometry, ceed, &options, &p.op));
    check_creation(
        ceed, p.op, p.space, NULL, CEED_ERROR_UNSUPPORTED,
        i == 0 ? "the mesh was not made as a box; vertex patches need a rectangular one (use overlapped"
               : "elements of the shape 'triangle'; vertex patches need quadrilaterals or hexahedra "
                 "alone (use Jacobi-Chebyshev)");
    CHECK_OK(close_problem(&p));
    CHECK_OK(RitzMeshDestroy(&box));
  }
  CeedDestroy(&ceed);
}

TEST(constraints_are_whole_sides) {
  Ceed ceed = tap_ceed("/cpu/self");
  const Case c = {2, 2, 1, {3, 3, 1}, "xX", NULL, RITZ_OPERATOR_DIFFUSION, NULL};
  Problem p;
  RitzPreconditioner pc = NULL;
  RitzIndices some = NULL;
  CHECK_OK(open_problem(ceed, &c, &p));
  CHECK_OK(RitzIndicesCreate(ceed, 3, (const int64_t[]){0, 1, 2}, &some));
  CHECK_ERROR(ceed, RitzPreconditionerCreateVertexPatches(p.op, p.space, some, NULL, &pc),
              CEED_ERROR_UNSUPPORTED, "3 entries are constrained, 0 of them on sides");
  CHECK_OK(RitzIndicesDestroy(&some));
  CHECK_OK(RitzIndicesCreate(ceed, 1, (const int64_t[]){1000}, &some));
  CHECK_ERROR(ceed, RitzPreconditionerCreateVertexPatches(p.op, p.space, some, NULL, &pc),
              CEED_ERROR_DIMENSION, "entry 1000 is constrained");
  CHECK_ERROR(ceed,
              RitzPreconditionerCreateVertexPatches(p.op, p.space, NULL,
                                                    &(RitzPatchOptions){.form = (RitzPatchForm)7}, &pc),
              CEED_ERROR_INCOMPATIBLE, "7 is no form");
  CHECK_OK(RitzIndicesDestroy(&some));
  CHECK_OK(close_problem(&p));
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(sweeps_converge_where_the_operator_is_separable, one_patch_is_the_solution,
                        there_and_back_is_symmetric, other_operators_are_refused_with_the_place,
                        planes_of_boxes_are_where_their_elements_meet, operators_of_other_spaces_are_refused,
                        other_meshes_are_refused_with_what_serves, constraints_are_whole_sides));
}
