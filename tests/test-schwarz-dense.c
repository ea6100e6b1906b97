// SPDX-License-Identifier: BSD-2-Clause
// Schwarz methods with dense inverses of elements: exact for one element, against their definition on all
// shapes, symmetric positive definite, in float, iterations beside Jacobi's, misuse.
#include "tests/tap.h"

#include <ceed/backend.h>
#include <math.h>
#include <ritz.h>
#include <stdlib.h>

#include "tests/dense-system.h"
#include "tests/reference.h"
#include "tests/schwarz-dense-qfunctions.h"

// ---- Problems ----

typedef enum { ONE_TET, TETS, TRIANGLES, MIXED } Shape;

// All owned.
typedef struct {
  Ceed ceed; // borrowed
  CeedInt degree, num_comp;
  RitzMesh mesh;
  RitzGeometry geometry;
  RitzSpace space;
  CeedOperator op;
  RitzIndices constraints; // NULL: none
  CeedSize n;
} Problem;

static const char one_tet[] =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0.2\n3 0.1 1 0\n"
    "4 0 0.3 1\n$EndNodes\n$Elements\n1\n1 4 2 1 1 1 2 3 4\n$EndElements\n";

static int bend(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  for (CeedInt d = 0; d < dim; d++) x[d] = (1 + 0.2 * d) * X[d] + 0.04 * sin(3 * X[(d + 1) % dim]);
  return 0;
}

static int create_mesh(Ceed ceed, Shape shape, CeedInt size, RitzMesh *mesh) {
  const CeedInt n[3] = {size, size, size};
  RitzMesh box = NULL;

  if (shape == ONE_TET) return RitzMeshRead(ceed, tap_temp_text("one.msh", one_tet), mesh);
  if (shape == MIXED) return RitzMeshRead(ceed, "examples/meshes/four-shapes.msh", mesh);
  const bool is_plane = shape == TRIANGLES;
  int ierr = RitzMeshCreateBox(ceed, is_plane ? 2 : 3, n, NULL, NULL, 1, bend, NULL, &box);
  if (!ierr) ierr = RitzMeshSplit(box, is_plane ? CEED_TOPOLOGY_TRIANGLE : CEED_TOPOLOGY_TET, mesh);
  RitzMeshDestroy(&box);
  return ierr;
}

typedef struct {
  Shape shape;
  CeedInt size, degree, num_comp; // three components: elasticity
  bool is_fixed;                  // diffusion, zero on the boundary; else with a reaction
  double lambda;                  // of the reaction; 0: 1
} Options;

static int create_problem(Ceed ceed, const Options *o, Problem *p) {
  const RitzPointFunction coupled = RITZ_POINT_FUNCTION_TABLE(coupled_at_point, 3, 3);
  const RitzFixedPart all = {.part = "all"};

  *p = (Problem){.ceed = ceed, .degree = o->degree, .num_comp = o->num_comp};
  CeedCall(create_mesh(ceed, o->shape, o->size, &p->mesh));
  CeedCall(RitzGeometryCreate(p->mesh, -1, &p->geometry));
  CeedCall(RitzSpaceCreate(p->mesh, o->degree, o->num_comp, &p->space));
  CeedCall(RitzSpaceGetSize(p->space, &p->n));
  const RitzOperatorOptions options = {.kind =
                                           o->is_fixed ? RITZ_OPERATOR_DIFFUSION : RITZ_OPERATOR_HELMHOLTZ,
                                       .space = p->space,
                                       .lambda = o->lambda};
  if (o->num_comp == 3)
    CeedCall(RitzGeometryCreatePointOperator(p->geometry, ceed, &options, &coupled, NULL, &p->op));
  else
    CeedCall(RitzGeometryCreateOperator(p->geometry, ceed, &options, &p->op));
  CeedCall(RitzOperatorSetUse(p->op, RITZ_USE_ONCE)); // few applies
  return o->is_fixed ? RitzSpaceCreateConstraints(p->space, ceed, 1, &all, &p->constraints) : 0;
}

static void destroy_problem(Problem *p) {
  RitzIndicesDestroy(&p->constraints);
  CeedOperatorDestroy(&p->op);
  RitzSpaceDestroy(&p->space);
  RitzGeometryDestroy(&p->geometry);
  RitzMeshDestroy(&p->mesh);
}

// Of vectors in the library's precision; NaN after a failure.
static double *new_result(const Problem *p, RitzPreconditioner pc, const double *r) {
  CeedVector in = reference_vector(p->ceed, p->n, r), out = NULL;
  double *z = reference_new(p->n);

  for (CeedSize i = 0; i < p->n; i++) z[i] = NAN;
  CeedVectorCreate(p->ceed, p->n, &out);
  if (!(pc ? RitzPreconditionerApply(pc, in, out)
           : CeedOperatorApply(p->op, in, out, CEED_REQUEST_IMMEDIATE)))
    reference_values(out, z);
  CeedVectorDestroy(&in);
  CeedVectorDestroy(&out);
  return z;
}

static bool *new_marks(const Problem *p) {
  bool *marks = calloc((size_t)p->n, sizeof(*marks));
  const int64_t *entries = NULL;
  int64_t num = 0;

  if (p->constraints) RitzIndicesGet(p->constraints, &num, &entries);
  for (int64_t i = 0; i < num; i++) marks[entries[i]] = true;
  return marks;
}

// ---- The definition ----

// z += W E^T A_K^-1 E W r of an element with these nodes.
static bool add_element(const Problem *p, const double *A, const bool *marks, const double *weights,
                        CeedInt num_nodes, const int64_t *nodes, const double *r, double *z) {
  int64_t entries[DENSE_MAX];
  double in[DENSE_MAX], out[DENSE_MAX];
  Dense dense = {.n = 0};

  for (CeedInt i = 0; i < num_nodes * p->num_comp; i++) {
    const int64_t entry = nodes[i / p->num_comp] * p->num_comp + i % p->num_comp;
    if (!marks[entry]) entries[dense.n++] = entry;
  }
  for (int i = 0; i < dense.n; i++) {
    in[i] = weights[entries[i]] * r[entries[i]];
    for (int j = 0; j < dense.n; j++) dense.a[i][j] = A[entries[i] * p->n + entries[j]];
  }
  const bool is_solved = dense_solve(&dense, in, out);
  for (int i = 0; i < dense.n; i++) z[entries[i]] += weights[entries[i]] * out[i];
  return is_solved;
}

// The matrix by applies to unit vectors, row by row (it is symmetric).
static double *new_matrix(const Problem *p) {
  double *A = reference_new(p->n * p->n), *unit = reference_new(p->n);

  for (CeedSize i = 0; i < p->n; i++) {
    unit[i] = 1;
    double *row = new_result(p, NULL, unit);
    unit[i] = 0;
    memcpy(A + i * p->n, row, (size_t)p->n * sizeof(*row));
    free(row);
  }
  free(unit);
  return A;
}

static double *new_definition(const Problem *p, const double *r) {
  double *A = new_matrix(p), *weights = reference_new(p->n), *z = reference_new(p->n);
  bool *marks = new_marks(p);

  for (int pass = 0; pass < 2; pass++) {
    CeedInt num_blocks = 0, num_nodes = 0;
    RitzMeshGetNumBlocks(p->mesh, &num_blocks);
    for (CeedInt b = 0; b < num_blocks; b++) {
      const int64_t *nodes = NULL;
      int64_t num = 0;
      RitzMeshGetBlock(p->mesh, b, NULL, NULL, &num, NULL, NULL);
      RitzSpaceGetBlockNodes(p->space, b, &num_nodes, &nodes);
      for (int64_t e = 0; e < num && pass == 1; e++)
        tap_check(add_element(p, A, marks, weights, num_nodes, nodes + e * num_nodes, r, z), __FILE__,
                  __LINE__, "regular", "element %d", (int)e);
      for (int64_t i = 0; i < num * num_nodes * p->num_comp && pass == 0; i++)
        weights[nodes[i / p->num_comp] * p->num_comp + i % p->num_comp] += 1;
    }
    for (CeedSize i = 0; i < p->n && pass == 0; i++) weights[i] = 1 / sqrt(weights[i]);
  }
  free(A);
  free(weights);
  free(marks);
  return z;
}

static void check_definition(Ceed ceed, const Options *o, CeedScalarType precision) {
  const double roundoff = precision == CEED_SCALAR_FP32 ? FLT_EPSILON : eps;
  RitzPreconditioner pc = NULL;
  CeedOperator op = NULL;
  uint64_t seed = 3;
  Problem p;

  CHECK_OK(create_problem(ceed, o, &p));
  double *r = reference_new_random(p.n, &seed), *wanted = new_definition(&p, r);
  CHECK_OK(RitzOperatorCopyInPrecision(p.op, precision, &op));
  CHECK_OK(RitzPreconditionerCreateDenseSchwarz(op, p.space, p.constraints, &pc));
  double *z = new_result(&p, pc, r);
  // Condition numbers of elements' matrices: some hundreds; A itself is in the operator's precision.
  CHECK_NEAR(reference_distance(p.n, z, wanted) / reference_largest(p.n, wanted), 0, 1000 * roundoff,
             "shape %d, degree %d, %d components", (int)o->shape, (int)o->degree, (int)o->num_comp);
  CHECK_OK(RitzPreconditionerDestroy(&pc));
  CHECK_OK(CeedOperatorDestroy(&op));
  destroy_problem(&p);
  free(r), free(z), free(wanted);
}

TEST_EACH_BACKEND(result_is_the_sum_of_inverses_of_elements_of_all_shapes) {
  static const Options cases[] = {{TETS, 2, 2, 1, true, 0},
                                  {TETS, 1, 1, 3, false, 0},
                                  {TRIANGLES, 2, 4, 2, false, 0},
                                  {MIXED, 1, 1, 1, false, 0}};

  for (int i = 0; i < (tap_compiles_slowly(ceed) ? 1 : 4) && !tap_failed(); i++)
    check_definition(ceed, &cases[i], CEED_SCALAR_TYPE);
}

TEST_EACH_BACKEND(inverses_are_in_the_precision_of_the_operator) {
  const Options o = {TETS, 1, 2, 1, false, 0};

  if (tap_compiles_slowly(ceed) && !tap_level()) NOT_FOR_THIS_BACKEND("the same with other kernels");
  check_definition(ceed, &o, CEED_SCALAR_FP32);
}

// ---- What it is for ----

TEST_EACH_BACKEND(one_element_is_solved_exactly) {
  const Options o = {ONE_TET, 1, 3, 1, false, 0};
  RitzPreconditioner pc = NULL;
  uint64_t seed = 5;
  Problem p;

  CHECK_OK(create_problem(ceed, &o, &p));
  CHECK_OK(RitzPreconditionerCreateDenseSchwarz(p.op, p.space, NULL, &pc));
  double *x = reference_new_random(p.n, &seed), *b = new_result(&p, NULL, x), *z = new_result(&p, pc, b);
  // A's condition number is below 2000.
  CHECK_NEAR(reference_distance(p.n, z, x), 0, 2000 * eps, "P A x = x");
  CHECK_OK(RitzPreconditionerDestroy(&pc));
  destroy_problem(&p);
  free(x), free(b), free(z);
}

TEST_EACH_BACKEND(it_is_symmetric_positive_definite_and_zero_on_constraints) {
  const Options o = {TETS, 2, 2, 1, true, 0};
  bool is_symmetric = false;
  RitzPreconditioner pc = NULL;
  uint64_t seed = 7;
  Problem p;

  CHECK_OK(create_problem(ceed, &o, &p));
  CHECK_OK(RitzPreconditionerCreateDenseSchwarz(p.op, p.space, p.constraints, &pc));
  bool *marks = new_marks(&p);
  double *x = reference_new_random(p.n, &seed), *y = reference_new_random(p.n, &seed);
  for (CeedSize i = 0; i < p.n; i++) {
    if (marks[i]) x[i] = NAN;
    if (marks[i]) y[i] = 0;
  }
  double *Px = new_result(&p, pc, x), *Py = new_result(&p, pc, y);
  for (CeedSize i = 0; i < p.n; i++) {
    if (marks[i]) CHECK(Px[i] == 0 && Py[i] == 0, "entry %d: %g, %g", (int)i, Px[i], Py[i]);
    if (marks[i]) x[i] = 0;
  }
  const double xPy = reference_dot(p.n, x, Py), yPx = reference_dot(p.n, y, Px),
               xPx = reference_dot(p.n, x, Px);
  CHECK(xPx > 0, "x P x = %g", xPx);
  CHECK_NEAR(xPy, yPx, 1000 * eps * xPx, "x P y, y P x");
  CHECK_OK(RitzPreconditionerIsSymmetric(pc, &is_symmetric));
  CHECK(is_symmetric, "it says that it is not symmetric");
  CHECK_OK(RitzPreconditionerDestroy(&pc));
  destroy_problem(&p);
  free(x), free(y), free(Px), free(Py), free(marks);
}

// Conjugate gradients to 1e-8 (1e-4 in float) of a random right-hand side.
static CeedInt iterations_of(const Problem *p, RitzPreconditioner pc) {
  uint64_t seed = 9;
  double *values = reference_new_random(p->n, &seed);
  CeedVector b = reference_vector(p->ceed, p->n, values), x = reference_vector(p->ceed, p->n, values);
  RitzSolver solver = NULL;
  CeedInt iterations = -1;

  int ierr = RitzSolverCreateCG(p->ceed, &solver);
  if (!ierr) ierr = RitzSolverSetOperator(solver, p->op);
  if (!ierr) ierr = RitzSolverSetPreconditioner(solver, pc);
  if (!ierr) ierr = RitzSolverSetConstraintIndices(solver, p->constraints);
  if (!ierr) ierr = RitzSolverSetTolerances(solver, sizeof(CeedScalar) == 4 ? 1e-4 : 1e-8, 0, 1000);
  if (!ierr) ierr = RitzVectorSetEntries(b, p->constraints, 0);
  if (!ierr) ierr = CeedVectorSetValue(x, 0);
  if (!ierr) ierr = RitzSolverSolve(solver, b, x);
  if (!ierr) ierr = RitzSolverGetIterations(solver, &iterations);
  RitzSolverDestroy(&solver);
  CeedVectorDestroy(&b), CeedVectorDestroy(&x);
  free(values);
  return ierr ? -1 : iterations;
}

// There is no coarse space: iterations grow with 1 / h as Jacobi's do, but from far fewer.
TEST(conjugate_gradients_take_a_fraction_of_the_iterations_of_jacobi_on_tetrahedra) {
  Ceed ceed = tap_ceed("/cpu/self/gen");

  for (CeedInt degree = 2; degree <= 4; degree++) {
    for (CeedInt size = 2; size <= (degree < 4 ? 4 : 2); size += 2) {
      const Options o = {TETS, size, degree, 1, true, 0};
      RitzPreconditioner schwarz = NULL, jacobi = NULL;
      Problem p;

      CHECK_OK(create_problem(ceed, &o, &p));
      CHECK_OK(RitzPreconditionerCreateDenseSchwarz(p.op, p.space, p.constraints, &schwarz));
      CHECK_OK(RitzPreconditionerCreateOperatorJacobi(p.op, p.constraints, &jacobi));
      const CeedInt few = iterations_of(&p, schwarz), many = iterations_of(&p, jacobi);
      tap_note("degree %d, %d^3 cubes of tetrahedra: %d iterations, Jacobi %d", (int)degree, (int)size,
               (int)few, (int)many);
      CHECK(few > 0 && 5 * few <= (degree == 2 ? 5 : 4) * many,
            "degree %d, size %d: %d iterations, Jacobi %d", (int)degree, (int)size, (int)few, (int)many);
      CHECK_OK(RitzPreconditionerDestroy(&schwarz));
      CHECK_OK(RitzPreconditionerDestroy(&jacobi));
      destroy_problem(&p);
    }
  }
  CeedDestroy(&ceed);
}

static int create_level(void *ctx, CeedInt level, RitzSpace space, CeedOperator *op) {
  const Problem *p = ctx;
  const RitzOperatorOptions options = {.kind = RITZ_OPERATOR_DIFFUSION, .space = space};

  (void)level;
  CeedCall(RitzGeometryCreateOperator(p->geometry, p->ceed, &options, op));
  return RitzOperatorSetUse(*op, RITZ_USE_ONCE);
}

static CeedInt iterations_of_multigrid(Problem *p, RitzSmootherKind smoother) {
  const RitzHierarchyOptions levels = {.kind = RITZ_HIERARCHY_P};
  const RitzMultigridOptions options = {.smoother = smoother, .chebyshev.degree = 2};
  const RitzFixedPart all = {.part = "all"};
  RitzHierarchy hierarchy = NULL;
  RitzPreconditioner pc = NULL;

  int ierr = RitzHierarchyCreate(p->space, &levels, &hierarchy);
  if (!ierr)
    ierr = RitzPreconditionerCreateMultigridOfHierarchy(p->ceed, hierarchy, create_level, NULL, p, 1, &all,
                                                        &options, &pc);
  const CeedInt num = ierr ? -1 : iterations_of(p, pc);
  RitzPreconditionerDestroy(&pc);
  RitzHierarchyDestroy(&hierarchy);
  return num;
}

TEST(multigrid_that_it_smooths_takes_iterations_that_do_not_grow_with_the_mesh) {
  Ceed ceed = tap_ceed("/cpu/self/gen");
  CeedInt first = 0;

  for (CeedInt size = 2; size <= 6; size += 2) {
    const Options o = {TETS, size, 3, 1, true, 0};
    Problem p;

    CHECK_OK(create_problem(ceed, &o, &p));
    const CeedInt num = iterations_of_multigrid(&p, RITZ_SMOOTHER_DENSE_SCHWARZ);
    const CeedInt num_jacobi = iterations_of_multigrid(&p, RITZ_SMOOTHER_JACOBI);
    tap_note("degree 3, %d^3 cubes of tetrahedra: %d iterations, Jacobi %d", (int)size, (int)num,
             (int)num_jacobi);
    first = size == 2 ? num : first;
    CHECK(num > 0 && num <= first + 2 && num < num_jacobi, "size %d: %d iterations, first %d, Jacobi %d",
          (int)size, (int)num, (int)first, (int)num_jacobi);
    destroy_problem(&p);
  }
  CeedDestroy(&ceed);
}

// ---- Misuse ----

TEST_EACH_BACKEND(operators_that_do_not_fit_are_refused_and_named) {
  const Options o = {TETS, 1, 1, 1, false, 0};
  RitzPreconditioner pc = NULL;
  RitzSpace other = NULL;
  Problem p;

  CHECK_OK(create_problem(ceed, &o, &p));
  CHECK_OK(RitzSpaceCreate(p.mesh, 2, 1, &other));
  CHECK_ERROR(ceed, RitzPreconditionerCreateDenseSchwarz(p.op, other, NULL, &pc), CEED_ERROR_DIMENSION,
              "the space has");
  CHECK_ERROR(ceed, RitzPreconditionerCreateDenseSchwarz(p.op, p.space, NULL, NULL), CEED_ERROR_INCOMPATIBLE,
              "'pc' is NULL");
  CHECK(!pc, "a preconditioner after errors");
  CHECK_OK(RitzSpaceDestroy(&other));
  destroy_problem(&p);
}

TEST_EACH_BACKEND(an_element_that_is_not_positive_definite_is_named) {
  const Options o = {TETS, 1, 2, 1, false, -1000};
  RitzPreconditioner pc = NULL;
  Problem p;

  if (tap_compiles_slowly(ceed)) NOT_FOR_THIS_BACKEND("the same with other kernels");
  CHECK_OK(create_problem(ceed, &o, &p));
  CHECK_ERROR(ceed, RitzPreconditionerCreateDenseSchwarz(p.op, p.space, NULL, &pc), CEED_ERROR_MAJOR,
              "for element 0 are not positive definite");
  CHECK(!pc, "a preconditioner after an error");
  destroy_problem(&p);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(result_is_the_sum_of_inverses_of_elements_of_all_shapes,
                        inverses_are_in_the_precision_of_the_operator, one_element_is_solved_exactly,
                        it_is_symmetric_positive_definite_and_zero_on_constraints,
                        conjugate_gradients_take_a_fraction_of_the_iterations_of_jacobi_on_tetrahedra,
                        multigrid_that_it_smooths_takes_iterations_that_do_not_grow_with_the_mesh,
                        operators_that_do_not_fit_are_refused_and_named,
                        an_element_that_is_not_positive_definite_is_named));
}
