// SPDX-License-Identifier: BSD-2-Clause
// RitzPreconditionerUpdate: after it every kind of preconditioner is what creation makes of the new values;
// values without a preconditioner are an error, of applications, too, until better ones come; patterns and
// analyses are made once.
#include "tests/tap.h"

#include <ceed/backend.h>
#include <float.h>
#include <math.h>
#include <ritz.h>
#include <stdlib.h>
#include <string.h>

#include "solver/direct.h"
#include "tests/starts-mpi.h"
#include "tests/update-qfunctions.h"

// ---- Problems ----

enum { CELLS = 4, DEGREE = 3, LEVELS = 3 };

// A level: degree 1, 2, 3. All owned but the space.
typedef struct {
  RitzSpace space;
  RitzIndices constraints;
  CeedOperator op;
  CeedVector state;
  CeedSize n;
} Level;

typedef struct {
  Ceed ceed; // borrowed
  CeedInt num_comp;
  RitzMesh mesh;
  RitzSpace space;
  RitzHierarchy hierarchy;
  CeedQFunctionContext ctx;
  Level levels[LEVELS];
} Problem;

static const Level *finest(const Problem *p) { return &p->levels[LEVELS - 1]; }

static int create_qfunction(const Problem *p, CeedQFunction *qf) {
  const CeedInt nc = p->num_comp;

  CeedCall(CeedQFunctionCreateInterior(p->ceed, 1, UpdateDiffusion, UpdateDiffusion_loc, qf));
  CeedCall(CeedQFunctionAddInput(*qf, "u", nc, CEED_EVAL_INTERP));
  CeedCall(CeedQFunctionAddInput(*qf, "du", 2 * nc, CEED_EVAL_GRAD));
  CeedCall(CeedQFunctionAddInput(*qf, "s", nc, CEED_EVAL_INTERP));
  CeedCall(CeedQFunctionAddInput(*qf, "w", 1, CEED_EVAL_WEIGHT));
  CeedCall(CeedQFunctionAddOutput(*qf, "v", nc, CEED_EVAL_INTERP));
  CeedCall(CeedQFunctionAddOutput(*qf, "dv", 2 * nc, CEED_EVAL_GRAD));
  CeedCall(CeedQFunctionSetContext(*qf, p->ctx));
  return CeedQFunctionSetContextWritable(*qf, false);
}

static int create_single(const Problem *p, const Level *l, CeedOperator *op) {
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  CeedQFunction qf = NULL;
  CeedInt degree = 0;

  CeedCall(RitzSpaceGetDegree(l->space, &degree));
  CeedCall(RitzSpaceCreateRestriction(l->space, p->ceed, &rstr));
  CeedCall(RitzSpaceCreateBlockBasis(l->space, 0, p->ceed, 2 * degree + 2, &basis));
  CeedCall(create_qfunction(p, &qf));
  CeedCall(CeedOperatorCreate(p->ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, op));
  CeedCall(CeedOperatorSetField(*op, "u", rstr, basis, CEED_VECTOR_ACTIVE));
  CeedCall(CeedOperatorSetField(*op, "du", rstr, basis, CEED_VECTOR_ACTIVE));
  CeedCall(CeedOperatorSetField(*op, "s", rstr, basis, l->state));
  CeedCall(CeedOperatorSetField(*op, "w", CEED_ELEMRESTRICTION_NONE, basis, CEED_VECTOR_NONE));
  CeedCall(CeedOperatorSetField(*op, "v", rstr, basis, CEED_VECTOR_ACTIVE));
  CeedCall(CeedOperatorSetField(*op, "dv", rstr, basis, CEED_VECTOR_ACTIVE));
  CeedQFunctionDestroy(&qf);
  CeedBasisDestroy(&basis);
  return CeedElemRestrictionDestroy(&rstr);
}

// Two components: a composite.
static int create_operator(const Problem *p, const Level *l, CeedOperator *op) {
  CeedOperator single = NULL;

  if (p->num_comp == 1) return create_single(p, l, op);
  CeedCall(create_single(p, l, &single));
  CeedCall(CeedOperatorCreateComposite(p->ceed, op));
  CeedCall(CeedOperatorCompositeAddSub(*op, single));
  return CeedOperatorDestroy(&single);
}

static int create_problem(Ceed ceed, CeedInt num_comp, Problem *p) {
  const RitzHierarchyOptions degrees = {.kind = RITZ_HIERARCHY_P};
  const RitzFixedPart all = {.part = "all"};

  *p = (Problem){.ceed = ceed, .num_comp = num_comp};
  CeedCall(RitzMeshCreateBox(ceed, 2, (CeedInt[]){CELLS, CELLS}, NULL, NULL, 1, NULL, NULL, &p->mesh));
  CeedCall(RitzSpaceCreate(p->mesh, DEGREE, num_comp, &p->space));
  CeedCall(RitzHierarchyCreate(p->space, &degrees, &p->hierarchy));
  CeedCall(CeedQFunctionContextCreate(ceed, &p->ctx));
  UpdateContext data = {.factor = 1, .reaction = 1, .coupling = 1, .num_comp = num_comp};
  CeedCall(CeedQFunctionContextSetData(p->ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(data), &data));
  for (CeedInt i = 0; i < LEVELS; i++) {
    Level *l = &p->levels[i];
    CeedCall(RitzHierarchyGetSpace(p->hierarchy, i, &l->space));
    CeedCall(RitzSpaceGetSize(l->space, &l->n));
    CeedCall(RitzSpaceCreateConstraints(l->space, ceed, 1, &all, &l->constraints));
    CeedCall(CeedVectorCreate(ceed, l->n, &l->state));
    CeedCall(CeedVectorSetValue(l->state, 0));
    CeedCall(create_operator(p, l, &l->op));
  }
  return CEED_ERROR_SUCCESS;
}

static void destroy_problem(Problem *p) {
  for (CeedInt i = 0; i < LEVELS; i++) {
    CeedOperatorDestroy(&p->levels[i].op);
    CeedVectorDestroy(&p->levels[i].state);
    RitzIndicesDestroy(&p->levels[i].constraints);
  }
  CeedQFunctionContextDestroy(&p->ctx);
  RitzHierarchyDestroy(&p->hierarchy);
  RitzSpaceDestroy(&p->space);
  RitzMeshDestroy(&p->mesh);
}

// ---- Values ----

typedef enum { FIRST, SECOND, BAD } Values; // BAD: negative definite

typedef struct {
  CeedInt num_comp;
  bool is_constant;
  double size;
} State;

static int state_at(void *ctx, const double *x, double *s) {
  const State *state = ctx;

  for (CeedInt c = 0; c < state->num_comp; c++)
    s[c] = state->size * (state->is_constant ? 1 : 1 + sin(5 * x[0] + 3 * x[1]));
  return 0;
}

// Context and states of all levels. is_constant: separable operators.
static int set_values(const Problem *p, Values values, bool is_constant) {
  State state = {.num_comp = p->num_comp, .is_constant = is_constant, .size = values == FIRST ? 0.5 : 1.5};
  UpdateContext *data = NULL;

  CeedCall(CeedQFunctionContextGetData(p->ctx, CEED_MEM_HOST, &data));
  data->factor = values == FIRST ? 1 : values == SECOND ? 3 : -1;
  data->reaction = values == FIRST ? 1 : 7;
  data->coupling = values == FIRST ? 1 : 2;
  CeedCall(CeedQFunctionContextRestoreData(p->ctx, &data));
  for (CeedInt i = 0; i < LEVELS; i++)
    CeedCall(RitzSpaceInterpolate(p->levels[i].space, state_at, &state, p->levels[i].state));
  return CEED_ERROR_SUCCESS;
}

// ---- Kinds ----

typedef int (*Creation)(const Problem *p, int variant, RitzPreconditioner *pc);

static int create_jacobi(const Problem *p, int variant, RitzPreconditioner *pc) {
  (void)variant;
  return RitzPreconditionerCreateOperatorJacobi(finest(p)->op, finest(p)->constraints, pc);
}

static int create_blocks(const Problem *p, int variant, RitzPreconditioner *pc) {
  (void)variant;
  return RitzPreconditionerCreatePointBlockJacobi(finest(p)->op, finest(p)->constraints, pc);
}

static int create_schwarz(const Problem *p, int variant, RitzPreconditioner *pc) {
  return RitzPreconditionerCreateSchwarz(finest(p)->op, finest(p)->space, NULL, finest(p)->constraints,
                                         (RitzSchwarzKind)variant, pc);
}

static int create_dense_schwarz(const Problem *p, int variant, RitzPreconditioner *pc) {
  (void)variant;
  return RitzPreconditionerCreateDenseSchwarz(finest(p)->op, finest(p)->space, finest(p)->constraints, pc);
}

static int create_patches(const Problem *p, int variant, RitzPreconditioner *pc) {
  const RitzPatchOptions options = {.is_symmetric = variant > 0};
  return RitzPreconditionerCreateVertexPatches(finest(p)->op, finest(p)->space, finest(p)->constraints,
                                               &options, pc);
}

static int create_chebyshev(const Problem *p, int variant, RitzPreconditioner *pc) {
  const RitzChebyshevOptions options = {.kind = (RitzChebyshevKind)(variant % 2)};
  RitzPreconditioner inner = NULL;
  CeedCall((variant < 2 ? create_jacobi : create_blocks)(p, 0, &inner));
  const int ierr =
      RitzPreconditionerCreateChebyshev(finest(p)->op, finest(p)->constraints, inner, &options, pc);
  RitzPreconditionerDestroy(&inner);
  return ierr;
}

// Variants from 100 on: with what updates need from the start.
static int create_direct(const Problem *p, int variant, RitzPreconditioner *pc) {
  const RitzDirectOptions options = {.kind = (RitzDirectKind)(variant % 100), .for_updates = variant >= 100};
  return RitzPreconditionerCreateDirect(finest(p)->op, finest(p)->constraints, &options, pc);
}

static int take_level(void *ctx, CeedInt level, RitzSpace space, CeedOperator *op) {
  const Problem *p = ctx;
  (void)space;
  return CeedOperatorReferenceCopy(p->levels[level].op, op);
}

// Variants from 100 on: in float.
static int create_multigrid(const Problem *p, int variant, RitzPreconditioner *pc) {
  const RitzFixedPart all = {.part = "all"};
  const RitzMultigridOptions options = {.smoother = (RitzSmootherKind)(variant % 100),
                                        .use_precision = variant >= 100,
                                        .precision = CEED_SCALAR_FP32,
                                        .for_updates = variant >= 100};
  return RitzPreconditionerCreateMultigridOfHierarchy(p->ceed, p->hierarchy, take_level, NULL, (void *)p, 1,
                                                      &all, &options, pc);
}

typedef struct {
  const char *name;
  Creation create;
  int variant;
  CeedInt num_comp;
  bool is_constant;   // needs a separable operator
  bool is_indefinite; // BAD values are fine, or may be
  double eps;         // 0: that of CeedScalar
} Kind;

#define DIRECT_KINDS(name, kind, is_indefinite)                                                              \
  {name, create_direct, kind, 2, false, is_indefinite, 0}, {                                                 \
    name ", for updates", create_direct, 100 + kind, 2, false, is_indefinite, 0                              \
  }
static const Kind kinds[] = {
    {"Jacobi", create_jacobi, 0, 2, false, false, 0},
    {"point blocks", create_blocks, 0, 2, false, false, 0},
    {"Chebyshev, fourth kind, Jacobi", create_chebyshev, RITZ_CHEBYSHEV_FOURTH, 2, false, false, 0},
    {"Chebyshev, first kind, Jacobi", create_chebyshev, RITZ_CHEBYSHEV_FIRST, 2, false, false, 0},
    {"Chebyshev, fourth kind, blocks", create_chebyshev, 2 + RITZ_CHEBYSHEV_FOURTH, 2, false, false, 0},
    {"elements", create_schwarz, RITZ_SCHWARZ_ELEMENTS, 2, false, false, 0},
    {"overlapped elements", create_schwarz, RITZ_SCHWARZ_OVERLAPPED, 1, false, false, 0},
    {"additive patches", create_schwarz, RITZ_SCHWARZ_PATCHES, 1, false, false, 0},
    {"coloured patches", create_schwarz, RITZ_SCHWARZ_COLOURED_PATCHES, 1, false, false, 0},
    {"symmetric patches", create_schwarz, RITZ_SCHWARZ_SYMMETRIC_PATCHES, 1, false, false, 0},
    {"dense elements", create_dense_schwarz, 0, 2, false, false, 0},
    {"vertex patches", create_patches, 0, 1, true, false, 0},
    {"vertex patches there and back", create_patches, 1, 1, true, false, 0},
    DIRECT_KINDS("direct, auto", RITZ_DIRECT_AUTO, false),
    DIRECT_KINDS("direct, dense", RITZ_DIRECT_DENSE, false),
    DIRECT_KINDS("direct, CHOLMOD", RITZ_DIRECT_CHOLMOD, false),
    DIRECT_KINDS("direct, UMFPACK", RITZ_DIRECT_UMFPACK, true),
    DIRECT_KINDS("direct, AMG", RITZ_DIRECT_AMG, false),
    DIRECT_KINDS("direct, CG", RITZ_DIRECT_CG, false),
    DIRECT_KINDS("direct, multifrontal", RITZ_DIRECT_MULTIFRONTAL, false),
    DIRECT_KINDS("direct, L D L^T", RITZ_DIRECT_LDLT, true),
    DIRECT_KINDS("direct, LU", RITZ_DIRECT_LU, true),
    {"multigrid", create_multigrid, RITZ_SMOOTHER_AUTO, 2, false, false, 0},
    {"multigrid, Jacobi", create_multigrid, RITZ_SMOOTHER_JACOBI, 1, false, false, 0},
    {"multigrid, elements", create_multigrid, RITZ_SMOOTHER_ELEMENT_SCHWARZ, 2, false, false, 0},
    {"multigrid, dense elements", create_multigrid, RITZ_SMOOTHER_DENSE_SCHWARZ, 1, false, false, 0},
    {"multigrid, patches", create_multigrid, RITZ_SMOOTHER_PATCHES, 1, true, false, 0},
    {"multigrid, measured", create_multigrid, RITZ_SMOOTHER_MEASURED, 1, true, true, 0},
    {"multigrid in float", create_multigrid, 100 + RITZ_SMOOTHER_AUTO, 2, false, false, 0x1p-23},
};
enum { NUM_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static bool is_missing(const Kind *kind) {
  const RitzDirectKind direct = (RitzDirectKind)(kind->variant % 100);

  if (kind->create != create_direct || direct == RITZ_DIRECT_AUTO) return false;
  return !RitzDirectKindIsAvailable(direct, NULL) || (direct == RITZ_DIRECT_AMG && !starts_mpi);
}

// ---- Comparisons ----

static int set_random(CeedVector v, CeedSize n) {
  CeedScalar *array = NULL;
  uint64_t seed = 7;

  CeedCall(CeedVectorGetArrayWrite(v, CEED_MEM_HOST, &array));
  for (CeedSize i = 0; i < n; i++) array[i] = (CeedScalar)tap_uniform(&seed);
  return CeedVectorRestoreArray(v, &array);
}

// |P r - Q r| / |Q r|, largest entries, for a random r.
static int find_difference(const Problem *p, RitzPreconditioner P, RitzPreconditioner Q, double *difference) {
  CeedVector v[3] = {NULL};
  CeedScalar norms[2] = {0};

  for (int i = 0; i < 3; i++) CeedCall(CeedVectorCreate(p->ceed, finest(p)->n, &v[i]));
  CeedCall(set_random(v[0], finest(p)->n));
  CeedCall(RitzPreconditionerApply(P, v[0], v[1]));
  CeedCall(RitzPreconditionerApply(Q, v[0], v[2]));
  CeedCall(CeedVectorNorm(v[2], CEED_NORM_MAX, &norms[0]));
  CeedCall(CeedVectorAXPY(v[1], -1, v[2]));
  CeedCall(CeedVectorNorm(v[1], CEED_NORM_MAX, &norms[1]));
  *difference = (double)(norms[1] / norms[0]);
  for (int i = 0; i < 3; i++) CeedVectorDestroy(&v[i]);
  return CEED_ERROR_SUCCESS;
}

static int count_iterations(const Problem *p, RitzPreconditioner pc, CeedInt *num) {
  RitzSolver solver = NULL;
  CeedVector b = NULL, x = NULL;

  CeedCall(CeedVectorCreate(p->ceed, finest(p)->n, &b));
  CeedCall(CeedVectorCreate(p->ceed, finest(p)->n, &x));
  CeedCall(set_random(b, finest(p)->n));
  CeedCall(CeedVectorSetValue(x, 0));
  CeedCall(RitzSolverCreate(p->ceed, RITZ_SOLVER_FLEXIBLE_CG, &solver));
  CeedCall(RitzSolverSetOperator(solver, finest(p)->op));
  CeedCall(RitzSolverSetConstraintIndices(solver, finest(p)->constraints));
  CeedCall(RitzSolverSetPreconditioner(solver, pc));
  CeedCall(RitzSolverSetTolerances(solver, sizeof(CeedScalar) == 4 ? 1e-4 : 1e-8, 0, 1000));
  CeedCall(RitzSolverSolve(solver, b, x));
  CeedCall(RitzSolverGetIterations(solver, num));
  CeedVectorDestroy(&b);
  CeedVectorDestroy(&x);
  return RitzSolverDestroy(&solver);
}

// pc is what creation makes of the values that the operators have. Solutions differ by rounding times the
// condition of what is inverted, below a hundred here; estimates of eigenvalues and inner iterations by less
// than their tolerance.
static void check_is_fresh(const Problem *p, const Kind *kind, RitzPreconditioner pc) {
  const double eps = kind->eps > CEED_EPSILON ? kind->eps : CEED_EPSILON;
  const bool iterates = kind->create == create_direct && kind->variant % 100 == RITZ_DIRECT_CG;
  RitzPreconditioner fresh = NULL;
  CeedInt num[2] = {0};
  double difference = 1;

  CHECK_OK(kind->create(p, kind->variant, &fresh));
  CHECK_OK(find_difference(p, pc, fresh, &difference));
  CHECK(difference <= (iterates ? 1e6 : 1e4) * eps, "%s: results differ by %g", kind->name, difference);
  CHECK_OK(count_iterations(p, pc, &num[0]));
  CHECK_OK(count_iterations(p, fresh, &num[1]));
  CHECK(num[0] == num[1], "%s: %d iterations, by a new one %d", kind->name, (int)num[0], (int)num[1]);
  CHECK_OK(RitzPreconditionerDestroy(&fresh));
}

// ---- Every kind ----

static void check_kind(Ceed ceed, const Kind *kind) {
  RitzPreconditioner pc = NULL;
  Problem p;

  CHECK_OK(create_problem(ceed, kind->num_comp, &p));
  CHECK_OK(set_values(&p, FIRST, kind->is_constant));
  CHECK_OK(kind->create(&p, kind->variant, &pc));
  for (int i = 0; i < 2; i++) { // there and back
    CHECK_OK(set_values(&p, i == 0 ? SECOND : FIRST, kind->is_constant));
    CHECK_OK(RitzPreconditionerUpdate(pc));
    check_is_fresh(&p, kind, pc);
  }
  CHECK_OK(RitzPreconditionerDestroy(&pc));
  destroy_problem(&p);
}

TEST_EACH_BACKEND(an_updated_preconditioner_is_a_new_one) {
  for (int i = 0; i < NUM_KINDS; i += tap_compiles_slowly(ceed) ? 3 : 1) {
    if (!is_missing(&kinds[i])) check_kind(ceed, &kinds[i]);
  }
}

// What the kind refuses, and the code that it is refused with, which is that of creation: a negative
// operator, or one that is not separable, for which multigrid takes other patches at creation, but stays what
// it was.
static int set_bad_values(const Problem *p, const Kind *kind, int *code) {
  RitzPreconditioner none = NULL;

  *code = CEED_ERROR_UNSUPPORTED;
  CeedCall(set_values(p, kind->is_constant ? SECOND : BAD, false));
  if (kind->create != create_multigrid || !kind->is_constant) *code = kind->create(p, kind->variant, &none);
  return RitzPreconditionerDestroy(&none);
}

static void check_healing(Ceed ceed, const Kind *kind) {
  RitzPreconditioner pc = NULL;
  CeedVector r = NULL, z = NULL;
  int code = 0;
  Problem p;

  CHECK_OK(create_problem(ceed, kind->num_comp, &p));
  CHECK_OK(set_values(&p, FIRST, kind->is_constant));
  CHECK_OK(kind->create(&p, kind->variant, &pc));
  CHECK_OK(CeedVectorCreate(ceed, finest(&p)->n, &r));
  CHECK_OK(CeedVectorCreate(ceed, finest(&p)->n, &z));
  CHECK_OK(set_random(r, finest(&p)->n));
  for (int i = 0; i < 2; i++) {
    CHECK_OK(set_bad_values(&p, kind, &code));
    CHECK(code != 0, "%s: creation takes these values", kind->name);
    CHECK_ERROR(ceed, RitzPreconditionerUpdate(pc), code, "RitzPreconditionerUpdate: ");
    CHECK_ERROR(ceed, RitzPreconditionerApply(pc, r, z), CEED_ERROR_MAJOR, "has no values");
    CHECK_ERROR(ceed, RitzPreconditionerApplyMany(pc, 1, &r, &z), CEED_ERROR_MAJOR, "has no values");
    CHECK_OK(set_values(&p, SECOND, kind->is_constant));
    CHECK_OK(RitzPreconditionerUpdate(pc));
    check_is_fresh(&p, kind, pc);
  }
  CeedVectorDestroy(&r);
  CeedVectorDestroy(&z);
  CHECK_OK(RitzPreconditionerDestroy(&pc));
  destroy_problem(&p);
}

TEST_EACH_BACKEND(bad_values_are_an_error_until_good_ones_come) {
  for (int i = 0; i < NUM_KINDS; i++) {
    // AUTO takes another kind at creation, and stays what it was in updates
    const bool has_choice = kinds[i].create == create_direct && kinds[i].variant % 100 == RITZ_DIRECT_AUTO;
    if (!is_missing(&kinds[i]) && !kinds[i].is_indefinite && !has_choice) check_healing(ceed, &kinds[i]);
  }
}

// ---- What is kept ----

// The line of the view that says how long pattern and values took; the former is measured when it is made.
static int read_pattern_time(RitzPreconditioner pc, char *text, size_t size) {
  FILE *stream = tmpfile();
  char line[512];

  text[0] = 0;
  if (!stream) return CEED_ERROR_MAJOR;
  const int ierr = RitzPreconditionerView(pc, stream);
  rewind(stream);
  while (fgets(line, sizeof(line), stream)) {
    const char *begin = strstr(line, "pattern ");
    if (begin) (void)snprintf(text, size, "%.*s", (int)strcspn(begin, ","), begin);
  }
  (void)fclose(stream);
  return ierr;
}

TEST_EACH_BACKEND(a_pattern_is_made_once) {
  RitzPreconditioner pc = NULL;
  char before[64], after[64];
  Problem p;

  CHECK_OK(create_problem(ceed, 2, &p));
  CHECK_OK(set_values(&p, FIRST, false));
  CHECK_OK(create_direct(&p, 100 + RITZ_DIRECT_MULTIFRONTAL, &pc));
  CHECK_OK(read_pattern_time(pc, before, sizeof(before)));
  for (int i = 0; i < 3; i++) {
    CHECK_OK(set_values(&p, i % 2 ? FIRST : SECOND, false));
    CHECK_OK(RitzPreconditionerUpdate(pc));
    CHECK_OK(read_pattern_time(pc, after, sizeof(after)));
    CHECK(before[0] && strcmp(before, after) == 0, "update %d: '%s', created with '%s'", i, after, before);
  }
  CHECK_OK(RitzPreconditionerDestroy(&pc));
  destroy_problem(&p);
}

// Rows of a tridiagonal matrix: `diagonal`, -1 beside it.
enum { ROWS = 40 };
typedef struct {
  int64_t entries[ROWS], starts[ROWS + 1], cols[3 * ROWS];
  double values[3 * ROWS];
} Rows;

static RitzMatrix make_rows(Ceed ceed, double diagonal, Rows *rows) {
  int64_t at = 0;

  for (int64_t i = 0; i < ROWS; i++) {
    rows->entries[i] = i;
    rows->starts[i] = at;
    for (int64_t j = i > 0 ? i - 1 : 0; j <= i + 1 && j < ROWS; j++) {
      rows->cols[at] = j;
      rows->values[at++] = j == i ? diagonal : -1;
    }
  }
  rows->starts[ROWS] = at;
  return (RitzMatrix){.ceed = ceed,
                      .length = ROWS,
                      .n = ROWS,
                      .entries = rows->entries,
                      .starts = rows->starts,
                      .cols = rows->cols,
                      .values = rows->values,
                      .num_comp = 1,
                      .comp_stride = 1,
                      .asymmetric = -1};
}

// Largest entry of b - A x; condition below 10.
static double residual_of(RitzFactorization *f) {
  double b[ROWS], x[ROWS], y[ROWS], largest = 0;

  for (int i = 0; i < ROWS; i++) b[i] = sin(i);
  if (f->methods->solve(f, b, x)) return INFINITY;
  ritz_matrix_apply(f->matrix, x, y);
  for (int i = 0; i < ROWS; i++) largest = tap_larger(largest, fabs(b[i] - y[i]));
  return largest;
}

// Numbers go into the object that has the analysis, also after a matrix that has no factors.
static void check_analysis(Ceed ceed, const RitzDirectMethods *methods) {
  static const double diagonals[] = {4, -4, 3};
  const bool is_definite = methods->is_symmetric;
  Rows rows;
  RitzMatrix matrix = make_rows(ceed, 3, &rows);
  RitzFactorization f = {.methods = methods, .matrix = &matrix, .for_updates = true};

  CHECK_OK(methods->factorize(&f));
  const void *data = f.data;
  for (int i = 0; i < 3; i++) {
    matrix = make_rows(ceed, diagonals[i], &rows);
    f.refusal = RITZ_REFUSED_NOT;
    CHECK_OK(methods->refactorize(&f));
    CHECK(f.data == data, "%s: another object", RitzDirectKindName(methods->kind));
    const bool is_refused = f.refusal == RITZ_REFUSED_MATRIX;
    CHECK(is_refused == (is_definite && diagonals[i] < 0), "%s: diagonal %g: %s",
          RitzDirectKindName(methods->kind), diagonals[i], f.words);
    if (!is_refused)
      CHECK_NEAR(residual_of(&f), 0, 100 * 0x1p-52, "%s, diagonal %g", RitzDirectKindName(methods->kind),
                 diagonals[i]);
  }
  methods->destroy(&f);
}

TEST_EACH_BACKEND(factorizing_again_keeps_the_analysis) {
  const RitzDirectMethods *const methods[] = {&ritz_direct_cholmod, &ritz_direct_umfpack,
                                              &ritz_direct_multifrontal, &ritz_direct_ldlt};

  for (int i = 0; i < 4; i++) {
    if (!methods[i]->why_not()) check_analysis(ceed, methods[i]);
  }
}

TEST_EACH_BACKEND(bounds_are_estimated_again_or_kept) {
  RitzPreconditioner jacobi = NULL;
  Problem p;

  CHECK_OK(create_problem(ceed, 1, &p));
  CHECK_OK(set_values(&p, FIRST, false));
  CHECK_OK(create_jacobi(&p, 0, &jacobi));
  for (int i = 0; i < 2; i++) {
    const RitzChebyshevOptions options = {.update = i == 0 ? RITZ_BOUNDS_ESTIMATE : RITZ_BOUNDS_KEEP};
    RitzPreconditioner pc = NULL;
    double before = 0, after = 0;
    CHECK_OK(set_values(&p, FIRST, false));
    CHECK_OK(RitzPreconditionerUpdate(jacobi));
    CHECK_OK(
        RitzPreconditionerCreateChebyshev(finest(&p)->op, finest(&p)->constraints, jacobi, &options, &pc));
    CHECK_OK(RitzPreconditionerGetChebyshevBounds(pc, NULL, NULL, &before));
    CHECK_OK(set_values(&p, SECOND, false));
    CHECK_OK(RitzPreconditionerUpdate(pc));
    CHECK_OK(RitzPreconditionerGetChebyshevBounds(pc, NULL, NULL, &after));
    CHECK(i == 0 ? fabs(after - before) > 1e-3 * before : after == before, "bound %g, was %g", after, before);
    CHECK_OK(RitzPreconditionerDestroy(&pc));
  }
  CHECK_OK(RitzPreconditionerDestroy(&jacobi));
  destroy_problem(&p);
}

// ---- What the caller gives ----

TEST_EACH_BACKEND(jacobi_reads_the_diagonal_that_was_given) {
  const CeedSize n = 5;
  CeedVector diagonal = NULL, r = NULL, z = NULL;
  RitzPreconditioner pc = NULL;
  CeedScalar largest = 0;

  CHECK_OK(CeedVectorCreate(ceed, n, &diagonal));
  CHECK_OK(CeedVectorCreate(ceed, n, &r));
  CHECK_OK(CeedVectorCreate(ceed, n, &z));
  CHECK_OK(CeedVectorSetValue(diagonal, 2));
  CHECK_OK(CeedVectorSetValue(r, 1));
  CHECK_OK(RitzPreconditionerCreateJacobi(ceed, diagonal, NULL, &pc));
  CHECK_OK(CeedVectorSetValue(diagonal, 8));
  CHECK_OK(RitzPreconditionerUpdate(pc));
  CHECK_OK(RitzPreconditionerApply(pc, r, z));
  CHECK_OK(CeedVectorNorm(z, CEED_NORM_MAX, &largest));
  CHECK_NEAR((double)largest, 0.125, 2 * CEED_EPSILON, "1 / 8");
  CHECK_OK(RitzPreconditionerDestroy(&pc));
  CeedVectorDestroy(&diagonal);
  CeedVectorDestroy(&r);
  CeedVectorDestroy(&z);
}

typedef struct {
  int num_updates, code;
} Own;

static int copy(void *ctx, CeedVector r, CeedVector z) {
  (void)ctx;
  return CeedVectorCopy(r, z);
}

static int count_update(void *ctx) {
  Own *own = ctx;
  own->num_updates++;
  return own->code;
}

TEST_EACH_BACKEND(functions_of_the_program_have_one_for_updates) {
  RitzPreconditioner pc = NULL, chebyshev = NULL, jacobi = NULL;
  Own own = {0};
  Problem p;

  CHECK_OK(create_problem(ceed, 1, &p));
  CHECK_OK(RitzPreconditionerCreate(ceed, finest(&p)->n, CEED_SCALAR_TYPE, copy, &own, NULL, true, &pc));
  CHECK_OK(RitzPreconditionerUpdate(pc)); // nothing to be done
  CHECK_OK(RitzPreconditionerSetUpdate(pc, count_update));
  CHECK_OK(RitzPreconditionerCreateChebyshev(finest(&p)->op, finest(&p)->constraints, pc, NULL, &chebyshev));
  CHECK_OK(RitzPreconditionerUpdate(chebyshev));
  CHECK(own.num_updates == 1, "%d updates", own.num_updates);
  own.code = CEED_ERROR_MINOR;
  CHECK_ERROR(ceed, RitzPreconditionerUpdate(chebyshev), CEED_ERROR_MINOR, "");
  own.code = 0;
  CHECK_OK(RitzPreconditionerUpdate(chebyshev));
  CHECK_OK(create_jacobi(&p, 0, &jacobi));
  CHECK_ERROR(ceed, RitzPreconditionerSetUpdate(jacobi, count_update), CEED_ERROR_INCOMPATIBLE, "Jacobi");
  CHECK_OK(RitzPreconditionerDestroy(&chebyshev));
  CHECK_OK(RitzPreconditionerDestroy(&jacobi));
  CHECK_OK(RitzPreconditionerDestroy(&pc));
  destroy_problem(&p);
}

// ---- Multigrid ----

// A refusal leaves the preconditioner as it was.
TEST_EACH_BACKEND(copies_in_float_are_updated_where_that_was_asked_for) {
  const RitzFixedPart all = {.part = "all"};
  const RitzMultigridOptions options = {.use_precision = true, .precision = CEED_SCALAR_FP32};
  RitzPreconditioner pc = NULL;
  double difference = 1;
  Problem p;

  if (sizeof(CeedScalar) == 4) NOT_HERE("operators are in float");
  CHECK_OK(create_problem(ceed, 1, &p));
  CHECK_OK(RitzPreconditionerCreateMultigridOfHierarchy(ceed, p.hierarchy, take_level, NULL, &p, 1, &all,
                                                        &options, &pc));
  CHECK_ERROR(ceed, RitzPreconditionerUpdate(pc), CEED_ERROR_UNSUPPORTED, "for_updates");
  CHECK_OK(find_difference(&p, pc, pc, &difference));
  // The same cycle in float twice: devices add up in any order.
  CHECK(difference <= 100 * FLT_EPSILON, "results differ by %g", difference);
  CHECK_OK(RitzPreconditionerDestroy(&pc));
  destroy_problem(&p);
}

static int make_constant(void *ctx, CeedInt level, RitzSpace space, CeedInt max, CeedInt *num,
                         CeedVector *null) {
  const Problem *p = ctx;

  (void)space;
  (void)max;
  *num = 1;
  CeedCall(CeedVectorCreate(p->ceed, p->levels[level].n, &null[0]));
  return CeedVectorSetValue(null[0], 1);
}

// Without constraints and reaction: bounds and the coarse problem beside the constants.
TEST_EACH_BACKEND(a_nullspace_stays) {
  RitzPreconditioner pc[2] = {NULL};
  UpdateContext *data = NULL;
  double difference = 1;
  Problem p;

  CHECK_OK(create_problem(ceed, 1, &p));
  for (int i = 0; i < 2; i++) {
    CHECK_OK(set_values(&p, i == 0 ? FIRST : SECOND, false));
    CHECK_OK(CeedQFunctionContextGetData(p.ctx, CEED_MEM_HOST, &data));
    data->reaction = 0;
    CHECK_OK(CeedQFunctionContextRestoreData(p.ctx, &data));
    CHECK_OK(RitzPreconditionerCreateMultigridOfHierarchy(ceed, p.hierarchy, take_level, make_constant, &p, 0,
                                                          NULL, NULL, &pc[i]));
  }
  CHECK_OK(RitzPreconditionerUpdate(pc[0]));
  CHECK_OK(find_difference(&p, pc[0], pc[1], &difference));
  CHECK(difference <= 1e5 * CEED_EPSILON, "results differ by %g", difference); // a condition of some hundreds
  for (int i = 0; i < 2; i++) CHECK_OK(RitzPreconditionerDestroy(&pc[i]));
  destroy_problem(&p);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(an_updated_preconditioner_is_a_new_one, bad_values_are_an_error_until_good_ones_come,
                        a_pattern_is_made_once, factorizing_again_keeps_the_analysis,
                        bounds_are_estimated_again_or_kept, jacobi_reads_the_diagonal_that_was_given,
                        functions_of_the_program_have_one_for_updates,
                        copies_in_float_are_updated_where_that_was_asked_for, a_nullspace_stays));
}
