// SPDX-License-Identifier: BSD-2-Clause
// Preconditioners that solve with an assembled matrix: A z = r for every kind that there is, on meshes of all
// shapes, with constraints, components and nullspaces; what cannot be factorized ends with a reason.
#include "tests/starts-mpi.h"
#include "tests/tap.h"

#include "base/memory.h"
#include "core/operator.h"
#include "tests/direct-qfunctions.h"
#include <ceed/backend.h>
#include <math.h>
#include <ritz.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Problems ----

typedef struct {
  CeedInt dim, degree, num_comp;
  CeedElemTopology into; // shape that the box is split into; that of lines, squares and cubes: as it is
  bool is_elastic;
  double lambda;           // Helmholtz where it is not 0, else diffusion
  const char *constrained; // boundary part, NULL: none
} Case;

typedef struct {
  Ceed ceed; // borrowed
  CeedInt dim, num_comp;
  CeedSize n;
  RitzMesh mesh;
  RitzSpace space;
  RitzGeometry geometry;
  CeedOperator op;
  RitzIndices constraints;
  CeedVector r, z, az;
} Problem;

static int bend(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  for (CeedInt d = 0; d < dim; d++) x[d] = X[d] + 0.06 * sin(2 * X[(d + 1) % dim] + d);
  return 0;
}

static int create_mesh(const Case *c, Problem *p) {
  const CeedInt n[3] = {4, c->dim > 1 ? 3 : 1, 2};
  RitzMesh box = NULL;
  int ierr = RitzMeshCreateBox(p->ceed, c->dim, n, NULL, NULL, 1, bend, NULL, &box);
  if (ierr || c->into == CEED_TOPOLOGY_LINE || c->into == CEED_TOPOLOGY_QUAD ||
      c->into == CEED_TOPOLOGY_HEX) {
    p->mesh = box;
    return ierr;
  }
  ierr = RitzMeshSplit(box, c->into, &p->mesh);
  RitzMeshDestroy(&box);
  return ierr;
}

static int create_operator(const Case *c, Problem *p) {
  const RitzOperatorOptions o = {.kind = c->lambda != 0 ? RITZ_OPERATOR_HELMHOLTZ : RITZ_OPERATOR_DIFFUSION,
                                 .space = p->space,
                                 .num_points = c->degree + 1,
                                 .policy = RITZ_POLICY_STORED,
                                 .lambda = c->lambda};
  static const RitzPointFunction elasticity = RITZ_POINT_FUNCTION_TABLE(direct_elasticity_at_point, 3, 3);
  if (c->is_elastic)
    return RitzGeometryCreatePointOperator(p->geometry, p->ceed, &o, &elasticity, NULL, &p->op);
  return RitzGeometryCreateOperator(p->geometry, p->ceed, &o, &p->op);
}

static int constrain(const char *part, Problem *p) {
  int64_t num, *nodes;
  int ierr = RitzSpaceGetBoundaryNodes(p->space, part, &num, &nodes);
  if (ierr) return ierr;
  int64_t *entries = malloc((size_t)(num * p->num_comp) * sizeof(*entries));
  for (int64_t i = 0; i < num * p->num_comp; i++)
    entries[i] = nodes[i / p->num_comp] * p->num_comp + i % p->num_comp;
  ierr = RitzIndicesCreate(p->ceed, num * p->num_comp, entries, &p->constraints);
  free(entries);
  free(nodes);
  return ierr;
}

static int create_vectors(Problem *p) {
  int ierr = CeedVectorCreate(p->ceed, p->n, &p->r);
  if (!ierr) ierr = CeedVectorCreate(p->ceed, p->n, &p->z);
  return ierr ? ierr : CeedVectorCreate(p->ceed, p->n, &p->az);
}

static int create_problem(Ceed ceed, const Case *c, Problem *p) {
  *p = (Problem){.ceed = ceed, .dim = c->dim, .num_comp = c->num_comp};
  int ierr = create_mesh(c, p);
  if (!ierr) ierr = RitzSpaceCreate(p->mesh, c->degree, c->num_comp, &p->space);
  if (!ierr) ierr = RitzSpaceGetSize(p->space, &p->n);
  if (!ierr) ierr = RitzGeometryCreate(p->mesh, 1e-10, &p->geometry);
  if (!ierr) ierr = create_operator(c, p);
  if (!ierr && c->constrained) ierr = constrain(c->constrained, p);
  return ierr ? ierr : create_vectors(p);
}

static void destroy_problem(Problem *p) {
  CeedVectorDestroy(&p->r);
  CeedVectorDestroy(&p->z);
  CeedVectorDestroy(&p->az);
  RitzIndicesDestroy(&p->constraints);
  CeedOperatorDestroy(&p->op);
  RitzGeometryDestroy(&p->geometry);
  RitzSpaceDestroy(&p->space);
  RitzMeshDestroy(&p->mesh);
}

// A mass operator in one dimension, the entries of which are those of its data at the points: [num_elem][2].
// Elements share nodes, or lie apart.
static int create_mass(Ceed ceed, CeedInt num_elem, bool shares, CeedSize n, const double *data, Problem *p) {
  CeedInt *offsets = calloc(2 * (size_t)num_elem, sizeof(*offsets));
  CeedElemRestriction nodes, points;
  CeedBasis basis;
  CeedQFunction qf;
  CeedVector factors;
  CeedScalar *array;
  *p = (Problem){.ceed = ceed, .dim = 1, .num_comp = 1, .n = n};
  for (CeedInt i = 0; i < 2 * num_elem; i++) offsets[i] = shares ? i / 2 + i % 2 : i;
  CeedElemRestrictionCreate(ceed, num_elem, 2, 1, 1, n, CEED_MEM_HOST, CEED_COPY_VALUES, offsets, &nodes);
  free(offsets);
  CeedElemRestrictionCreateStrided(ceed, num_elem, 2, 1, 2 * num_elem, CEED_STRIDES_BACKEND, &points);
  CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 2, 2, CEED_GAUSS, &basis);
  CeedQFunctionCreateInteriorByName(ceed, "MassApply", &qf);
  CeedElemRestrictionCreateVector(points, &factors, NULL);
  CeedInt layout[3];
  CeedElemRestrictionGetELayout(points, layout);
  CeedVectorGetArrayWrite(factors, CEED_MEM_HOST, &array);
  for (CeedInt i = 0; i < 2 * num_elem; i++)
    array[i % 2 * layout[0] + i / 2 * layout[2]] = (CeedScalar)(data ? data[i] : 1);
  CeedVectorRestoreArray(factors, &array);
  CeedOperatorCreate(ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &p->op);
  CeedOperatorSetField(p->op, "u", nodes, basis, CEED_VECTOR_ACTIVE);
  CeedOperatorSetField(p->op, "qdata", points, CEED_BASIS_NONE, factors);
  CeedOperatorSetField(p->op, "v", nodes, basis, CEED_VECTOR_ACTIVE);
  CeedVectorDestroy(&factors);
  CeedQFunctionDestroy(&qf);
  CeedBasisDestroy(&basis);
  CeedElemRestrictionDestroy(&nodes);
  CeedElemRestrictionDestroy(&points);
  return create_vectors(p);
}

// ---- Numbers ----

static int fill_random(Problem *p, CeedVector vec, uint64_t *seed) {
  CeedScalar *array;
  int ierr = CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &array);
  if (ierr) return ierr;
  for (CeedSize i = 0; i < p->n; i++) array[i] = (CeedScalar)tap_uniform(seed);
  return CeedVectorRestoreArray(vec, &array);
}

static double norm_of(CeedVector vec) {
  CeedScalar norm = NAN;
  return CeedVectorNorm(vec, CEED_NORM_2, &norm) ? NAN : (double)norm;
}

static double dot(CeedVector x, CeedVector y) {
  double value = NAN;
  return RitzVectorDot(x, y, &value) ? NAN : value;
}

// |A z - r| / |r| on the free entries, r projected onto the complement of an orthogonal basis; NaN where z is
// not zero on the others.
static double residual_of(Problem *p, CeedInt num_null, const CeedVector *null) {
  if (CeedVectorCopy(p->z, p->az) || RitzVectorSetEntries(p->az, p->constraints, 0) ||
      CeedVectorAXPY(p->az, -1, p->z) || norm_of(p->az) != 0)
    return NAN;
  if (RitzVectorSetEntries(p->r, p->constraints, 0)) return NAN;
  for (CeedInt k = 0; k < num_null; k++)
    if (CeedVectorAXPY(p->r, (CeedScalar)(-dot(p->r, null[k]) / dot(null[k], null[k])), null[k])) return NAN;
  if (CeedOperatorApply(p->op, p->z, p->az, CEED_REQUEST_IMMEDIATE) ||
      RitzVectorSetEntries(p->az, p->constraints, 0) || CeedVectorAXPY(p->az, -1, p->r))
    return NAN;
  return norm_of(p->az) / norm_of(p->r);
}

static const double tolerance = 1e4 * CEED_EPSILON; // times conditions of some hundred

static bool is_exact(RitzDirectKind kind) { return kind != RITZ_DIRECT_AMG; }

// Each kind that there is, AUTO among them.
static void for_each_kind(void (*check)(Problem *p, RitzDirectKind kind), Problem *p) {
  for (RitzDirectKind k = RITZ_DIRECT_AUTO; !tap_failed() && RitzDirectKindName(k); k++)
    if (RitzDirectKindIsAvailable(k, NULL) && (starts_mpi || k != RITZ_DIRECT_AMG)) check(p, k);
}

// ---- Solutions ----

static double tolerance_of(RitzDirectKind kind) {
  const double of_cg = CEED_SCALAR_TYPE == CEED_SCALAR_FP32 ? 2e-5 : 2e-10;
  return kind == RITZ_DIRECT_CG && of_cg > tolerance ? of_cg : tolerance;
}

// (e, A e) / (x, A x) for r = A x, e = x - P r: what a cycle of multigrid leaves of an error in the energy
// norm.
static double energy_left(Problem *p, RitzPreconditioner pc, uint64_t *seed) {
  if (fill_random(p, p->az, seed) || RitzVectorSetEntries(p->az, p->constraints, 0) ||
      CeedOperatorApply(p->op, p->az, p->r, CEED_REQUEST_IMMEDIATE) ||
      RitzVectorSetEntries(p->r, p->constraints, 0))
    return NAN;
  const double before = dot(p->az, p->r);
  if (RitzPreconditionerApply(pc, p->r, p->z) || CeedVectorAXPY(p->az, -1, p->z) ||
      CeedOperatorApply(p->op, p->az, p->r, CEED_REQUEST_IMMEDIATE))
    return NAN;
  return dot(p->az, p->r) / before;
}

static void check_inverse(Problem *p, RitzDirectKind kind) {
  const RitzDirectOptions options = {.kind = kind};
  RitzPreconditioner pc = NULL;
  uint64_t seed = 7;
  CHECK_OK(RitzPreconditionerCreateDirect(p->op, p->constraints, &options, &pc));
  for (int repeat = 0; repeat < 2 && is_exact(kind); repeat++) {
    CHECK_OK(fill_random(p, p->r, &seed));
    CHECK_OK(RitzPreconditionerApply(pc, p->r, p->z));
    const double residual = residual_of(p, 0, NULL);
    CHECK(residual <= tolerance_of(kind), "%s: residual %g, allowed %g", RitzDirectKindName(kind), residual,
          tolerance_of(kind));
  }
  const double left = energy_left(p, pc, &seed);
  CHECK(left < 0.7, "%s: of the energy %g is left", RitzDirectKindName(kind), left);
  CHECK_OK(RitzPreconditionerDestroy(&pc));
}

static void with_case(Ceed ceed, const Case *c, void (*check)(Problem *p, RitzDirectKind kind)) {
  Problem p;
  const int ierr = create_problem(ceed, c, &p);
  if (!ierr) for_each_kind(check, &p);
  destroy_problem(&p);
  if (!tap_failed()) CHECK_OK(ierr);
}

TEST_EACH_BACKEND(every_kind_inverts_the_matrix_of_the_free_entries) {
  static const Case cases[] = {
      {.dim = 3, .degree = 1, .num_comp = 1, .into = CEED_TOPOLOGY_HEX, .constrained = "xmin"},
      {.dim = 1, .degree = 3, .num_comp = 1, .into = CEED_TOPOLOGY_LINE, .constrained = "xmax"},
      {.dim = 2, .degree = 2, .num_comp = 2, .into = CEED_TOPOLOGY_QUAD, .lambda = 3},
      {.dim = 2, .degree = 1, .num_comp = 1, .into = CEED_TOPOLOGY_TRIANGLE, .constrained = "ymin"},
      {.dim = 3, .degree = 1, .num_comp = 1, .into = CEED_TOPOLOGY_TET, .constrained = "zmin"},
      {.dim = 3, .degree = 1, .num_comp = 1, .into = CEED_TOPOLOGY_PRISM, .constrained = "xmin"},
      {.dim = 3, .degree = 1, .num_comp = 3, .into = CEED_TOPOLOGY_PYRAMID, .constrained = "ymax"},
      {.dim = 3,
       .degree = 1,
       .num_comp = 3,
       .into = CEED_TOPOLOGY_HEX,
       .is_elastic = true,
       .constrained = "xmin"},
  };
  const size_t num = tap_compiles_slowly(ceed) ? 1 : sizeof(cases) / sizeof(cases[0]);
  for (size_t k = 0; k < num && !tap_failed(); k++) with_case(ceed, &cases[k], check_inverse);
}

static void check_symmetric(Problem *p, RitzDirectKind kind) {
  const RitzDirectOptions options = {.kind = kind};
  RitzPreconditioner pc = NULL;
  CeedVector s = NULL, zs = NULL;
  uint64_t seed = 3;
  bool is_symmetric;
  CHECK_OK(RitzPreconditionerCreateDirect(p->op, p->constraints, &options, &pc));
  CHECK_OK(RitzPreconditionerIsSymmetric(pc, &is_symmetric));
  const bool is_definite = kind != RITZ_DIRECT_UMFPACK && kind != RITZ_DIRECT_CG &&
                           kind != RITZ_DIRECT_LDLT && kind != RITZ_DIRECT_LU;
  CHECK(is_symmetric == is_definite, "%s", RitzDirectKindName(kind));
  CHECK_OK(CeedVectorCreate(p->ceed, p->n, &s));
  CHECK_OK(CeedVectorCreate(p->ceed, p->n, &zs));
  CHECK_OK(fill_random(p, p->r, &seed));
  CHECK_OK(fill_random(p, s, &seed));
  CHECK_OK(RitzPreconditionerApply(pc, p->r, p->z));
  CHECK_OK(RitzPreconditionerApply(pc, s, zs));
  const double size = norm_of(p->z) * norm_of(s);
  if (kind != RITZ_DIRECT_CG)
    CHECK_NEAR(dot(p->z, s), dot(p->r, zs), 1e3 * CEED_EPSILON * size, "%s", RitzDirectKindName(kind));
  CHECK(dot(p->z, p->r) > 0, "%s", RitzDirectKindName(kind));
  CeedVectorDestroy(&s);
  CeedVectorDestroy(&zs);
  CHECK_OK(RitzPreconditionerDestroy(&pc));
}

TEST(inverses_are_symmetric_and_definite_and_say_so) {
  const Case c = {.dim = 3, .degree = 1, .num_comp = 1, .into = CEED_TOPOLOGY_HEX, .constrained = "xmin"};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  with_case(ceed, &c, check_symmetric);
  CeedDestroy(&ceed);
}

// The vectors may have the other precision, and so may the operator.
static void check_float_operator(Problem *p, CeedOperator narrow, RitzDirectKind kind) {
  const RitzDirectOptions options = {.kind = kind};
  RitzPreconditioner pc = NULL;
  CeedScalarType precision;
  CeedVector r = NULL, z = NULL;
  uint64_t seed = 11;

  CHECK_OK(RitzPreconditionerCreateDirect(narrow, p->constraints, &options, &pc));
  CHECK_OK(RitzPreconditionerGetPrecision(pc, &precision));
  CHECK(precision == (kind == RITZ_DIRECT_CG ? CEED_SCALAR_TYPE : CEED_SCALAR_FP32), "precision %d",
        (int)precision);
  CHECK_OK(fill_random(p, p->r, &seed));
  CHECK_OK(RitzPreconditionerApply(pc, p->r, p->z)); // converted on the way
  CHECK(residual_of(p, 0, NULL) <= 1e4 * 0x1p-24, "residual %g", residual_of(p, 0, NULL));
  CHECK_OK(RitzVectorCreate(p->ceed, p->n, CEED_SCALAR_FP32, &r));
  CHECK_OK(RitzVectorCreate(p->ceed, p->n, CEED_SCALAR_FP32, &z));
  CHECK_OK(RitzVectorConvert(p->r, r));
  CHECK_OK(RitzPreconditionerApply(pc, r, z));
  CHECK_OK(RitzVectorConvert(z, p->z));
  CHECK(residual_of(p, 0, NULL) <= 1e4 * 0x1p-24, "residual %g", residual_of(p, 0, NULL));
  CeedVectorDestroy(&r);
  CeedVectorDestroy(&z);
  CHECK_OK(RitzPreconditionerDestroy(&pc));
}

TEST_EACH_BACKEND(float_operators_are_solved_in_double) {
  const Case c = {.dim = 3, .degree = 1, .num_comp = 1, .into = CEED_TOPOLOGY_HEX, .constrained = "xmin"};
  CeedOperator narrow = NULL;
  Problem p;
  CHECK_OK(create_problem(ceed, &c, &p));
  CeedOperator wide = p.op;
  CHECK_OK(create_operator(&c, &p));
  narrow = p.op;
  p.op = wide;
  CHECK_OK(RitzOperatorSetPrecision(narrow, CEED_SCALAR_FP32));
  check_float_operator(&p, narrow, RITZ_DIRECT_AUTO);
  check_float_operator(&p, narrow, RITZ_DIRECT_CG); // in the library's own precision
  CeedOperatorDestroy(&narrow);
  destroy_problem(&p);
}

// ---- Nullspaces ----

enum { MAX_NULL = 6 };

// Component c of the rotation about an axis at x[3].
static double rotation_of(CeedInt axis, CeedInt c, const double *x) {
  const CeedInt a = (axis + 1) % 3, b = (axis + 2) % 3;
  return c == a ? -x[b] : c == b ? x[a] : 0;
}

// Constants of each component; for elasticity rotations, too. Not orthogonal.
static int create_nullspace(Problem *p, bool is_elastic, CeedInt *num, CeedVector null[MAX_NULL]) {
  const CeedInt nc = p->num_comp;
  double *x = malloc((size_t)(p->n / nc * p->dim) * sizeof(*x));
  int ierr = RitzSpaceGetNodeCoordinates(p->space, x);
  *num = is_elastic ? 6 : nc;
  for (CeedInt k = 0; k < *num && !ierr; k++) {
    CeedScalar *array;
    ierr = CeedVectorCreate(p->ceed, p->n, &null[k]);
    if (!ierr) ierr = CeedVectorGetArrayWrite(null[k], CEED_MEM_HOST, &array);
    if (ierr) break;
    for (CeedSize i = 0; i < p->n; i++) {
      const CeedInt c = (CeedInt)(i % nc);
      array[i] = k < nc ? (CeedScalar)(c == k) : (CeedScalar)rotation_of(k - nc, c, x + i / nc * 3);
    }
    ierr = CeedVectorRestoreArray(null[k], &array);
  }
  free(x);
  return ierr;
}

// Orthogonal to each other from here on.
static void orthogonalize(CeedInt num, CeedVector *v) {
  for (CeedInt k = 0; k < num; k++)
    for (int twice = 0; twice < 2; twice++)
      for (CeedInt m = 0; m < k; m++)
        CeedVectorAXPY(v[k], (CeedScalar)(-dot(v[k], v[m]) / dot(v[m], v[m])), v[m]);
}

static CeedInt current_num_null;
static const CeedVector *current_null;

static void check_pseudo_inverse(Problem *p, RitzDirectKind kind) {
  const RitzDirectOptions options = {.kind = kind, .num_null = current_num_null, .null = current_null};
  RitzPreconditioner pc = NULL;
  uint64_t seed = 5;
  CHECK_OK(RitzPreconditionerCreateDirect(p->op, p->constraints, &options, &pc));
  CHECK_OK(fill_random(p, p->r, &seed));
  CHECK_OK(RitzPreconditionerApply(pc, p->r, p->z));
  const double residual = residual_of(p, current_num_null, current_null);
  if (is_exact(kind))
    CHECK(residual <= tolerance_of(kind), "%s: residual %g", RitzDirectKindName(kind), residual);
  for (CeedInt k = 0; k < current_num_null; k++) {
    const CeedVector z = current_null[k];
    CHECK(fabs(dot(p->z, z)) <= 1e3 * CEED_EPSILON * norm_of(p->z) * norm_of(z), "%s: part %g in null[%d]",
          RitzDirectKindName(kind), dot(p->z, z), (int)k);
  }
  CHECK_OK(RitzPreconditionerDestroy(&pc));
}

static void check_singular(Ceed ceed, const Case *c) {
  CeedVector null[MAX_NULL] = {NULL};
  Problem p;
  int ierr = create_problem(ceed, c, &p);
  if (!ierr) ierr = create_nullspace(&p, c->is_elastic, &current_num_null, null);
  if (!ierr && c->is_elastic) { // options take any basis; the check wants an orthogonal one
    RitzPreconditioner pc = NULL;
    const RitzDirectOptions options = {.num_null = current_num_null, .null = null};
    CHECK_OK(RitzPreconditionerCreateDirect(p.op, NULL, &options, &pc));
    CHECK_OK(RitzPreconditionerDestroy(&pc));
  }
  orthogonalize(current_num_null, null);
  current_null = null;
  if (!ierr) for_each_kind(check_pseudo_inverse, &p);
  for (CeedInt k = 0; k < MAX_NULL; k++) CeedVectorDestroy(&null[k]);
  destroy_problem(&p);
  if (!tap_failed()) CHECK_OK(ierr);
}

TEST_EACH_BACKEND(pure_neumann_problems_are_solved_without_their_constants) {
  const Case one = {.dim = 3, .degree = 1, .num_comp = 1, .into = CEED_TOPOLOGY_HEX};
  const Case two = {.dim = 2, .degree = 2, .num_comp = 2, .into = CEED_TOPOLOGY_QUAD};
  check_singular(ceed, &one);
  if (!tap_failed() && !tap_compiles_slowly(ceed)) check_singular(ceed, &two);
}

TEST(free_elastic_bodies_are_solved_without_rigid_motions) {
  const Case c = {.dim = 3, .degree = 1, .num_comp = 3, .into = CEED_TOPOLOGY_HEX, .is_elastic = true};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  check_singular(ceed, &c);
  CeedDestroy(&ceed);
}

TEST(what_is_no_nullspace_is_refused) {
  const Case c = {.dim = 2, .degree = 1, .num_comp = 1, .into = CEED_TOPOLOGY_QUAD, .lambda = 1};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzPreconditioner pc = NULL;
  CeedVector ones[2] = {NULL};
  CeedVector longer = NULL;
  Problem p;
  CHECK_OK(create_problem(ceed, &c, &p));
  for (int k = 0; k < 2; k++) {
    CHECK_OK(CeedVectorCreate(ceed, p.n, &ones[k]));
    CHECK_OK(CeedVectorSetValue(ones[k], 1));
  }
  CHECK_OK(CeedVectorCreate(ceed, p.n + 1, &longer));
  CHECK_OK(CeedVectorSetValue(longer, 1));
  RitzDirectOptions options = {.num_null = 1, .null = ones};
  CHECK_ERROR(ceed, RitzPreconditionerCreateDirect(p.op, NULL, &options, &pc), CEED_ERROR_INCOMPATIBLE,
              "null[0] is not in the nullspace");
  options.kind = RITZ_DIRECT_CG; // has no matrix
  CHECK_ERROR(ceed, RitzPreconditionerCreateDirect(p.op, NULL, &options, &pc), CEED_ERROR_INCOMPATIBLE,
              "null[0] is not in the nullspace");
  options.null = (CeedVector[]){NULL};
  CHECK_ERROR(ceed, RitzPreconditionerCreateDirect(p.op, NULL, &options, &pc), CEED_ERROR_INCOMPATIBLE,
              "'null[k]' is NULL");
  options.null = &longer;
  for (RitzDirectKind kind = RITZ_DIRECT_AUTO; RitzDirectKindName(kind); kind++) {
    options.kind = kind;
    if (RitzDirectKindIsAvailable(kind, NULL)) {
      CHECK_ERROR(ceed, RitzPreconditionerCreateDirect(p.op, NULL, &options, &pc), CEED_ERROR_DIMENSION,
                  "null[0] has");
    }
  }
  options = (RitzDirectOptions){.num_null = 1};
  CHECK_ERROR(ceed, RitzPreconditionerCreateDirect(p.op, NULL, &options, &pc), CEED_ERROR_INCOMPATIBLE,
              "NULL");
  destroy_problem(&p);
  CHECK_OK(
      create_problem(ceed, &(Case){.dim = 2, .degree = 1, .num_comp = 1, .into = CEED_TOPOLOGY_QUAD}, &p));
  options = (RitzDirectOptions){.num_null = 2, .null = ones};
  CHECK_ERROR(ceed, RitzPreconditionerCreateDirect(p.op, NULL, &options, &pc), CEED_ERROR_INCOMPATIBLE,
              "null[1] depends linearly");
  CHECK(!pc, "something was made");
  for (int k = 0; k < 2; k++) CeedVectorDestroy(&ones[k]);
  CeedVectorDestroy(&longer);
  destroy_problem(&p);
  CeedDestroy(&ceed);
}

// ---- Matrices that are not positive definite ----

static void check_indefinite(Problem *p, RitzDirectKind kind) {
  const RitzDirectOptions options = {.kind = kind};
  RitzPreconditioner pc = NULL;
  if (kind == RITZ_DIRECT_UMFPACK || kind == RITZ_DIRECT_LDLT || kind == RITZ_DIRECT_LU ||
      kind == RITZ_DIRECT_AUTO) {
    check_inverse(p, kind);
  } else if (kind != RITZ_DIRECT_CG && kind != RITZ_DIRECT_AMG) {
    CHECK_ERROR(p->ceed, RitzPreconditionerCreateDirect(p->op, p->constraints, &options, &pc),
                CEED_ERROR_MAJOR, "not positive definite");
  }
  CHECK(!pc, "%s", RitzDirectKindName(kind));
}

TEST(indefinite_matrices_have_no_cholesky_factors) {
  const Case c = {
      .dim = 2, .degree = 2, .num_comp = 1, .into = CEED_TOPOLOGY_QUAD, .lambda = -20, .constrained = "xmin"};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  with_case(ceed, &c, check_indefinite);
  CeedDestroy(&ceed);
}

// Messages of every kind but conjugate gradients, which look at nothing but the diagonal.
static void check_refused(Problem *p, RitzDirectKind kind) {
  const RitzDirectOptions options = {.kind = kind};
  RitzPreconditioner pc = NULL;
  if (kind == RITZ_DIRECT_CG) return;
  CHECK_ERROR(p->ceed, RitzPreconditionerCreateDirect(p->op, p->constraints, &options, &pc), CEED_ERROR_MAJOR,
              "matrix");
  CHECK(!pc, "%s", RitzDirectKindName(kind));
}

TEST(matrices_without_an_inverse_are_refused) {
  const double nan_data[6] = {1, 1, 1, NAN, 1, 1}, negative[6] = {1, 1, -1, -1, 1, 1};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzPreconditioner pc = NULL;
  Problem p;
  CHECK_OK(create_mass(ceed, 3, true, 4, nan_data, &p));
  for_each_kind(check_refused, &p);
  destroy_problem(&p);
  if (tap_failed()) return;
  CHECK_OK(create_mass(ceed, 3, true, 5, NULL, &p)); // no element has entry 4
  for_each_kind(check_refused, &p);
  destroy_problem(&p);
  if (tap_failed()) return;
  CHECK_OK(create_mass(ceed, 3, false, 6, negative, &p));
  CHECK_ERROR(
      ceed, RitzPreconditionerCreateDirect(p.op, NULL, &(RitzDirectOptions){.kind = RITZ_DIRECT_DENSE}, &pc),
      CEED_ERROR_MAJOR, "entry 2");
  destroy_problem(&p);
  CeedDestroy(&ceed);
}

// ---- Matrices that are not symmetric ----

// What the view says; the caller frees it.
static char *view_of(RitzPreconditioner pc) {
  char *text = calloc(1, 4096);
  FILE *stream = tmpfile();
  if (!text || !stream || RitzPreconditionerView(pc, stream)) return text;
  rewind(stream);
  text[fread(text, 1, 4095, stream)] = '\0';
  fclose(stream);
  return text;
}

// Diffusion, and convection of strength *ctx along x.
static int create_convection(Problem *p, CeedQFunctionContext ctx) {
  static const char text[] =
      RITZ_TEXT(CEED_QFUNCTION_HELPER void flow(const void *ctx, const CeedScalar grad_u[1][2],
                                                CeedScalar v[1], CeedScalar grad_v[1][2]) {
        v[0] = *(const double *)ctx * grad_u[0][0];
        for (int d = 0; d < 2; d++) grad_v[0][d] = grad_u[0][d];
      });
  const RitzFormField u = {.name = "u", .what = RITZ_FORM_GRADIENT, .space = p->space};
  const RitzFormField v = {.name = "v", .what = RITZ_FORM_BOTH, .space = p->space};
  const RitzForm form = {text, "flow", 0, 1, &u, 1, &v};
  CeedOperatorDestroy(&p->op);
  return RitzGeometryCreateFormOperator(p->geometry, p->ceed, &(RitzOperatorOptions){.space = p->space},
                                        &form, ctx, &p->op);
}

static int set_strength(CeedQFunctionContext ctx, double strength) {
  return CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(strength), &strength);
}

static double residual_of_solve(Problem *p, RitzPreconditioner pc) {
  uint64_t seed = 17;
  if (fill_random(p, p->r, &seed) || RitzPreconditionerApply(pc, p->r, p->z)) return NAN;
  return residual_of(p, 0, NULL);
}

// Jacobians may be symmetric at the state where a preconditioner is made, and nowhere else.
static void check_convection(Problem *p, CeedQFunctionContext ctx, const RitzDirectOptions *options,
                             const char *first, const char *then) {
  RitzPreconditioner pc = NULL;
  bool is_symmetric;
  CHECK_OK(set_strength(ctx, 0));
  CHECK_OK(RitzPreconditionerCreateDirect(p->op, p->constraints, options, &pc));
  char *before = view_of(pc);
  const double at_first = residual_of_solve(p, pc);
  CHECK_OK(set_strength(ctx, 30));
  CHECK_OK(RitzPreconditionerUpdate(pc));
  char *after = view_of(pc);
  const double at_last = residual_of_solve(p, pc);
  const bool is_told = strstr(before, first) && strstr(after, then);
  if (!is_told) tap_note("%s\n%s", before, after);
  free(before);
  free(after);
  CHECK(is_told, "the views do not say '%s', '%s'", first, then);
  CHECK(at_first <= tolerance && at_last <= tolerance, "residuals %g, %g", at_first, at_last);
  CHECK_OK(RitzPreconditionerIsSymmetric(pc, &is_symmetric));
  CHECK(!is_symmetric, "it is said to be symmetric");
  CHECK_OK(RitzPreconditionerUpdate(pc));
  CHECK(residual_of_solve(p, pc) <= tolerance,
        "another update with the same values"); // sums may have another order
  CHECK_OK(RitzPreconditionerDestroy(&pc));
}

TEST_EACH_BACKEND(matrices_that_are_not_symmetric_have_lu_factors) {
  const Case c = {.dim = 2, .degree = 2, .num_comp = 1, .into = CEED_TOPOLOGY_QUAD, .constrained = "xmin"};
  const char *many = RitzDirectKindIsAvailable(RITZ_DIRECT_UMFPACK, NULL) ? "UMFPACK" : "dense LU";
  CeedQFunctionContext ctx = NULL;
  RitzPreconditioner pc = NULL;
  Problem p;
  CHECK_OK(create_problem(ceed, &c, &p));
  CHECK_OK(CeedQFunctionContextCreate(ceed, &ctx));
  CHECK_OK(set_strength(ctx, 0));
  CHECK_OK(create_convection(&p, ctx));
  check_convection(&p, ctx, NULL, "dense Cholesky", "dense LU");
  if (!tap_failed()) check_convection(&p, ctx, &(RitzDirectOptions){.max_dense = 5}, "", many);
  if (!tap_failed()) {
    CHECK_OK(set_strength(ctx, 30));
    CHECK_ERROR(ceed,
                RitzPreconditionerCreateDirect(p.op, p.constraints,
                                               &(RitzDirectOptions){.kind = RITZ_DIRECT_DENSE}, &pc),
                CEED_ERROR_MAJOR, "not symmetric");
    CHECK_OK(RitzPreconditionerCreateDirect(p.op, p.constraints, &(RitzDirectOptions){.kind = RITZ_DIRECT_LU},
                                            &pc));
    CHECK(residual_of_solve(&p, pc) <= tolerance, "residual %g", residual_of(&p, 0, NULL));
    CHECK_OK(RitzPreconditionerDestroy(&pc));
  }
  CeedQFunctionContextDestroy(&ctx);
  destroy_problem(&p);
}

// ---- Few unknowns ----

TEST_EACH_BACKEND(disconnected_unknowns_and_one_alone_are_solved) {
  const int64_t all_but_one[] = {0, 1, 2, 4, 5}, all[] = {0, 1, 2, 3, 4, 5};
  const double data[6] = {1, 2, 3, 4, 5, 6};
  RitzPreconditioner pc = NULL;
  int64_t num_bytes;
  Problem p;
  CHECK_OK(create_mass(ceed, 3, false, 6, data, &p));
  for_each_kind(check_inverse, &p);
  if (tap_failed()) return;
  CHECK_OK(RitzIndicesCreate(ceed, 5, all_but_one, &p.constraints));
  for_each_kind(check_inverse, &p);
  if (tap_failed()) return;
  RitzIndicesDestroy(&p.constraints);
  CHECK_OK(RitzIndicesCreate(ceed, 6, all, &p.constraints));
  for (RitzDirectKind k = RITZ_DIRECT_AUTO; RitzDirectKindName(k); k++) {
    if (!RitzDirectKindIsAvailable(k, NULL)) continue;
    CHECK_OK(RitzPreconditionerCreateDirect(p.op, p.constraints, &(RitzDirectOptions){.kind = k}, &pc));
    CHECK_OK(CeedVectorSetValue(p.r, 1));
    CHECK_OK(RitzPreconditionerApply(pc, p.r, p.z));
    CHECK(norm_of(p.z) == 0, "%s: %g", RitzDirectKindName(k), norm_of(p.z));
    CHECK_OK(RitzPreconditionerGetBytes(pc, &num_bytes));
    CHECK(num_bytes == 0, "%lld bytes for nothing", (long long)num_bytes);
    CHECK_OK(RitzPreconditionerDestroy(&pc));
  }
  destroy_problem(&p);
}

// ---- Choice ----

static void check_choice(Problem *p, const RitzDirectOptions *options, const char *const *words) {
  RitzPreconditioner pc = NULL;
  uint64_t seed = 1;
  CHECK_OK(RitzPreconditionerCreateDirect(p->op, p->constraints, options, &pc));
  char *text = view_of(pc);
  const char *missing = NULL;
  for (int k = 0; words[k] && !missing; k++)
    if (!strstr(text, words[k])) missing = words[k];
  if (missing) tap_note("%s", text);
  free(text);
  CHECK(!missing, "the view does not say '%s'", missing);
  CHECK_OK(fill_random(p, p->r, &seed));
  CHECK_OK(RitzPreconditionerApply(pc, p->r, p->z));
  CHECK(residual_of(p, 0, NULL) < 0.5, "residual %g", residual_of(p, 0, NULL));
  CHECK_OK(RitzPreconditionerDestroy(&pc));
}

TEST(the_choice_follows_the_number_of_unknowns_and_is_told) {
  const Case c = {.dim = 3, .degree = 1, .num_comp = 1, .into = CEED_TOPOLOGY_HEX, .constrained = "xmin"};
  const bool has_cholmod = RitzDirectKindIsAvailable(RITZ_DIRECT_CHOLMOD, NULL);
  const bool has_amg = RitzDirectKindIsAvailable(RITZ_DIRECT_AMG, NULL);
  const char *many = has_amg ? "BoomerAMG" : "conjugate gradients";
  const char *some = has_cholmod ? "CHOLMOD" : "multifrontal";
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Problem p;
  CHECK_OK(create_problem(ceed, &c, &p)); // 48 unknowns of 60
  check_choice(&p, NULL,
               (const char *[]){"dense Cholesky", "48 unknowns of 60 entries", "on the host", NULL});
  if (!tap_failed())
    check_choice(&p, &(RitzDirectOptions){.max_dense = 47},
                 (const char *[]){some, "not dense: more than 47 unknowns", NULL});
  if (!tap_failed() && (starts_mpi || !has_amg))
    check_choice(&p, &(RitzDirectOptions){.max_dense = 10, .max_direct = 47},
                 (const char *[]){many, "not cholmod: more than 47 unknowns", "not dense", NULL});
  destroy_problem(&p);
  CeedDestroy(&ceed);
}

TEST(kinds_have_names_and_missing_ones_say_what_is_missing) {
  const Case c = {.dim = 1, .degree = 1, .num_comp = 1, .into = CEED_TOPOLOGY_LINE, .constrained = "xmin"};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzPreconditioner pc = NULL;
  const char *why;
  Problem p;
  CHECK_OK(create_problem(ceed, &c, &p));
  CHECK(!RitzDirectKindName(RITZ_DIRECT_LU + 1), "a name past the end");
  CHECK(!RitzDirectKindIsAvailable(RITZ_DIRECT_LU + 1, &why) && why, "a kind past the end");
  CHECK(RitzDirectKindIsAvailable(RITZ_DIRECT_DENSE, &why) && !why, "dense");
  CHECK_ERROR(
      ceed, RitzPreconditionerCreateDirect(p.op, NULL, &(RitzDirectOptions){.kind = RITZ_DIRECT_LU + 1}, &pc),
      CEED_ERROR_INCOMPATIBLE, "kind");
  for (RitzDirectKind k = RITZ_DIRECT_AUTO; RitzDirectKindName(k); k++) {
    if (RitzDirectKindIsAvailable(k, &why)) continue;
    tap_note("%s: %s", RitzDirectKindName(k), why);
    CHECK_ERROR(ceed,
                RitzPreconditionerCreateDirect(p.op, p.constraints, &(RitzDirectOptions){.kind = k}, &pc),
                CEED_ERROR_UNSUPPORTED, why);
  }
  CHECK_ERROR(ceed, RitzPreconditionerCreateDirect(p.op, NULL, &(RitzDirectOptions){.tolerance = 2}, &pc),
              CEED_ERROR_INCOMPATIBLE, "tolerance");
  CHECK_ERROR(ceed, RitzPreconditionerCreateDirect(p.op, NULL, &(RitzDirectOptions){.max_dense = -1}, &pc),
              CEED_ERROR_INCOMPATIBLE, "negative");
  const int64_t beyond = 1000;
  CHECK_OK(RitzIndicesDestroy(&p.constraints));
  CHECK_OK(RitzIndicesCreate(ceed, 1, &beyond, &p.constraints));
  CHECK_ERROR(ceed, RitzPreconditionerCreateDirect(p.op, p.constraints, NULL, &pc), CEED_ERROR_DIMENSION,
              "1000");
  CHECK(!pc, "something was made");
  destroy_problem(&p);
  CeedDestroy(&ceed);
}

// ---- Large operators ----

// A box in the plane with enough elements for assembly by kernels, where there are any.
static int create_large(Ceed ceed, CeedInt num_comp, bool has_kernels, bool is_device, Problem *p) {
  const CeedInt side = !has_kernels ? 10 : is_device ? 46 : 202, n[2] = {side + 1, side};
  *p = (Problem){.ceed = ceed, .dim = 2, .num_comp = num_comp};
  int ierr = RitzMeshCreateBox(ceed, 2, n, NULL, NULL, 1, bend, NULL, &p->mesh);
  if (!ierr) ierr = RitzSpaceCreate(p->mesh, 1, num_comp, &p->space);
  if (!ierr) ierr = RitzSpaceGetSize(p->space, &p->n);
  if (!ierr) ierr = RitzGeometryCreate(p->mesh, 1e-10, &p->geometry);
  if (!ierr) ierr = create_operator(&(Case){.degree = 1, .lambda = 2}, p);
  return ierr ? ierr : create_vectors(p);
}

// y = A r by the rows of the assembled matrix; the caller frees it. NULL: it cannot be assembled.
static double *multiply(Problem *p) {
  CeedSize num_rows, num_cols;
  int64_t *starts, *cols;
  CeedVector values = NULL;
  const CeedScalar *v, *r;
  double *y = NULL;
  if (RitzOperatorAssembleCSRSymbolic(p->op, &num_rows, &num_cols, &starts, &cols)) return NULL;
  int ierr = CeedVectorCreate(p->ceed, starts[num_rows], &values);
  if (!ierr) ierr = RitzOperatorAssembleCSR(p->op, starts, cols, values);
  if (!ierr && !CeedVectorGetArrayRead(values, CEED_MEM_HOST, &v) &&
      !CeedVectorGetArrayRead(p->r, CEED_MEM_HOST, &r)) {
    y = calloc((size_t)num_rows, sizeof(*y));
    for (CeedSize i = 0; i < num_rows; i++)
      for (int64_t k = starts[i]; k < starts[i + 1]; k++) y[i] += (double)v[k] * (double)r[cols[k]];
    CeedVectorRestoreArrayRead(values, &v);
    CeedVectorRestoreArrayRead(p->r, &r);
  }
  CeedVectorDestroy(&values);
  free(starts);
  free(cols);
  return y;
}

// Devices have kernels of element matrices, where the host is not chosen for few; others apply to unit
// vectors.
static bool is_by_kernels(CeedOperator op, bool is_device) {
  CeedOperatorAssemblyData data;
  bool is_by_choice;
  if (CeedOperatorGetOperatorAssemblyData(op->sub[0], &data)) return false;
  const bool is_by_columns = ritz_columns_serve(op->sub[0], &is_by_choice);
  return is_device ? !is_by_choice : is_by_columns;
}

static void check_large(Ceed ceed, CeedInt num_comp) {
  const char *resource;
  CeedMemType mem_type;
  const CeedScalar *array;
  uint64_t seed = 21;
  double error = 0, size = 0;
  Problem p;
  CHECK_OK(CeedGetResource(ceed, &resource));
  CHECK_OK(CeedGetPreferredMemType(ceed, &mem_type));
  const bool is_device = mem_type == CEED_MEM_DEVICE,
             has_kernels = is_device || !strcmp(resource, "/cpu/self/gen");
  CHECK_OK(create_large(ceed, num_comp, has_kernels, is_device, &p));
  CHECK(is_by_kernels(p.op, is_device) == has_kernels, "%s", resource);
  CHECK_OK(fill_random(&p, p.r, &seed));
  double *y = multiply(&p);
  CHECK(y, "not assembled");
  CHECK_OK(CeedOperatorApply(p.op, p.r, p.az, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedVectorGetArrayRead(p.az, CEED_MEM_HOST, &array));
  for (CeedSize i = 0; i < p.n; i++) {
    error = tap_larger(error, fabs(y[i] - (double)array[i]));
    size = fmax(size, fabs(y[i]));
  }
  CeedVectorRestoreArrayRead(p.az, &array);
  free(y);
  CHECK(error <= 100 * CEED_EPSILON * size, "off by %g of %g", error, size); // nine terms a row, each of some
  destroy_problem(&p);
}

TEST_EACH_BACKEND(large_operators_are_assembled_by_kernels) {
  check_large(ceed, 1);
  if (!tap_failed() && !tap_compiles_slowly(ceed)) check_large(ceed, 5); // more columns than are kept at once
}

// ---- Failures ----

static void check_faults(Problem *p, RitzDirectKind kind) {
  const RitzDirectOptions options = {.kind = kind};
  RitzPreconditioner pc = NULL;
  CHECK_OK(RitzPreconditionerCreateDirect(p->op, p->constraints, &options, &pc)); // tables are made now
  CHECK_OK(RitzPreconditionerDestroy(&pc));
  const int64_t live = ritz_memory_live();
  int num_failures = 0, code = CEED_ERROR_MAJOR;
  while (code && num_failures < 200) {
    ritz_memory_fail_at(num_failures + 1);
    code = RitzPreconditionerCreateDirect(p->op, p->constraints, &options, &pc);
    ritz_memory_fail_at(0);
    num_failures += code != 0;
    if (code)
      CHECK(!pc && ritz_memory_live() == live, "%s: allocation %d", RitzDirectKindName(kind), num_failures);
  }
  CHECK(code == 0 && num_failures > 3, "%s: %d failures, code %d", RitzDirectKindName(kind), num_failures,
        code);
  CHECK_OK(RitzPreconditionerDestroy(&pc));
}

TEST(every_failing_allocation_leaves_nothing_behind) {
  const Case c = {.dim = 2, .degree = 1, .num_comp = 1, .into = CEED_TOPOLOGY_QUAD, .constrained = "xmin"};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  with_case(ceed, &c, check_faults);
  CeedDestroy(&ceed);
}

// RITZ_STRICT wants kernels for few elements, too.
TEST(assembly_by_kernels_leaves_nothing_behind_when_memory_ends) {
  const Case c = {.dim = 2, .degree = 1, .num_comp = 1, .into = CEED_TOPOLOGY_QUAD, .constrained = "xmin"};
  setenv("RITZ_STRICT", "1", 1);
  Ceed ceed = tap_ceed("/cpu/self/gen");
  unsetenv("RITZ_STRICT");
  Problem p;
  CHECK_OK(create_problem(ceed, &c, &p));
  CHECK(is_by_kernels(p.op, false), "by elements");
  check_inverse(&p, RITZ_DIRECT_DENSE);
  if (!tap_failed()) check_faults(&p, RITZ_DIRECT_DENSE);
  destroy_problem(&p);
  CeedDestroy(&ceed);
}

static void check_nan_residual(Problem *p, RitzDirectKind kind) {
  const RitzDirectOptions options = {.kind = kind};
  RitzPreconditioner pc = NULL;
  uint64_t seed = 9;
  CHECK_OK(RitzPreconditionerCreateDirect(p->op, p->constraints, &options, &pc));
  CHECK_OK(CeedVectorSetValue(p->r, (CeedScalar)NAN));
  CHECK_OK(RitzPreconditionerApply(pc, p->r, p->z));
  CHECK(!isfinite(norm_of(p->z)), "%s: %g of no number", RitzDirectKindName(kind), norm_of(p->z));
  CHECK_OK(fill_random(p, p->r, &seed));
  CHECK_OK(RitzPreconditionerApply(pc, p->r, p->z));
  CHECK(residual_of(p, 0, NULL) < 0.5, "%s: residual %g afterwards", RitzDirectKindName(kind),
        residual_of(p, 0, NULL));
  CHECK_OK(RitzPreconditionerDestroy(&pc));
}

TEST(residuals_that_are_no_numbers_pass_through) {
  const Case c = {.dim = 2, .degree = 1, .num_comp = 1, .into = CEED_TOPOLOGY_QUAD, .constrained = "xmin"};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  with_case(ceed, &c, check_nan_residual);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(every_kind_inverts_the_matrix_of_the_free_entries, inverses_are_symmetric_and_definite_and_say_so,
            float_operators_are_solved_in_double, pure_neumann_problems_are_solved_without_their_constants,
            free_elastic_bodies_are_solved_without_rigid_motions, what_is_no_nullspace_is_refused,
            indefinite_matrices_have_no_cholesky_factors, matrices_without_an_inverse_are_refused,
            matrices_that_are_not_symmetric_have_lu_factors, disconnected_unknowns_and_one_alone_are_solved,
            the_choice_follows_the_number_of_unknowns_and_is_told,
            kinds_have_names_and_missing_ones_say_what_is_missing, large_operators_are_assembled_by_kernels,
            every_failing_allocation_leaves_nothing_behind,
            assembly_by_kernels_leaves_nothing_behind_when_memory_ends,
            residuals_that_are_no_numbers_pass_through));
}
