// SPDX-License-Identifier: BSD-2-Clause
// Fused kernels of /gpu/*/gen for bases with a 1D table for each component and direction: curl curl + mass on
// Nedelec spaces, div div + mass on Raviart-Thomas spaces, against the reference backend. Any tables, beside
// other bases: test-gpu-dense.c; texts: test-gpu-text.c; registers: test-nvrtc-kernels.c.
#include <math.h>
#include <ritz/operator.h>

#include "bench/vector-problem.h"
#include "tests/gpu-kit.h"
#include "tests/tables-qfunctions.h"

enum { MOST_ORDER = 4 };

// More elements than a block has, and a block that is not full.
static VectorShape shape_of(CeedEvalMode mode, CeedInt dim, CeedInt order) {
  VectorShape shape = {mode, dim, order, order + 1 + order % 2, {7, 5, 1}, false};

  if (dim == 3) memcpy(shape.elements, (CeedInt[]){3, 4, 2}, sizeof(shape.elements));
  return shape;
}

// Factors of no geometry: random ones. The same seed draws the same in every context.
static int create(Ceed ceed, const VectorShape *shape, VectorProblem *p) {
  uint64_t seed = 17;
  CeedSize length;

  CeedCall(vector_problem_create(ceed, shape, p));
  CeedCall(CeedVectorGetLength(p->factors, &length));
  double *factors = reference_new_random(length, &seed);
  CeedVector from = reference_vector(ceed, length, factors);
  free(factors);
  const int ierr = from ? CeedVectorCopy(from, p->factors) : CEED_ERROR_MAJOR;
  CeedVectorDestroy(&from);
  return ierr;
}

// y, owned: of a random vector from this seed.
static int apply(const VectorProblem *p, uint64_t seed, double **y) {
  double *values = reference_new_random(p->dofs, &seed);
  CeedVector u = reference_vector(p->op->obj.ceed, p->dofs, values);

  free(values);
  *y = NULL;
  int ierr = u ? CeedOperatorApply(p->op, u, p->v, CEED_REQUEST_IMMEDIATE) : CEED_ERROR_MAJOR;
  if (!ierr) *y = reference_new_values(p->v);
  CeedVectorDestroy(&u);
  return ierr;
}

// ---- Against the reference ----

static const char *name_of(const VectorShape *s) {
  static char name[64];

  snprintf(name, sizeof(name), "%s of order %d in %dD", s->mode == CEED_EVAL_DIV ? "H(div)" : "H(curl)",
           (int)s->order, (int)s->dim);
  return name;
}

// A kernel of lines, not one of matrices.
static bool takes_lines(const VectorProblem *p) {
  const char *source = NULL;

  return !RitzOperatorGetSource(p->op, &source) && source && strstr(source, "RITZ_M(ritz_line0_0)");
}

// A sum of n products is off by at most n eps times the sum of its terms' sizes, which with random numbers is
// less than a hundred times the largest result.
static void compare(const VectorProblem *p, const double *y, const double *wanted) {
  const double error = reference_distance(p->dofs, y, wanted);
  const double tolerance = 100 * eps * (p->num_nodes + p->num_points) * reference_largest(p->dofs, wanted);

  CHECK(error <= tolerance, "%s: off by %g, allowed %g", name_of(&p->shape), error, tolerance);
}

static void check_shape(Ceed ceed, const VectorShape *shape) {
  Ceed host = tap_ceed("/cpu/self/ref");
  VectorProblem p, reference;
  double *y = NULL, *wanted = NULL;
  int ierr = create(ceed, shape, &p), failed = create(host, shape, &reference);

  if (!ierr) ierr = apply(&p, 1, &y);
  if (!failed) failed = apply(&reference, 1, &wanted);
  if (!ierr && !failed) compare(&p, y, wanted);
  const bool is_by_lines = ierr || shape->is_dense || takes_lines(&p);
  free(y);
  free(wanted);
  vector_problem_destroy(&p);
  vector_problem_destroy(&reference);
  CeedDestroy(&host);
  CHECK_OK(ierr);
  CHECK_OK(failed);
  CHECK(is_by_lines, "%s: not by lines", name_of(shape));
}

static void check_all(Ceed ceed, CeedInt dim, CeedInt first_order, CeedInt last_order) {
  setenv("RITZ_STRICT", "1", 1);
  for (CeedInt order = first_order; order <= last_order && !tap_failed(); order++) {
    for (int i = 0; i < 2 && !tap_failed(); i++) {
      const VectorShape shape = shape_of(i ? CEED_EVAL_DIV : CEED_EVAL_CURL, dim, order);
      check_shape(ceed, &shape);
    }
  }
  unsetenv("RITZ_STRICT");
}

TEST_EACH_GEN(lines_of_components_give_what_the_reference_gives_on_hexahedra) {
  check_all(ceed, 3, 1, tap_level() ? MOST_ORDER : 2);
}

TEST_EACH_GEN(lines_of_components_give_what_the_reference_gives_on_quadrilaterals) {
  check_all(ceed, 2, tap_level() ? 1 : 2, tap_level() ? MOST_ORDER : 3);
}

TEST_EACH_GEN(deterministic_kernels_of_components_give_what_the_reference_gives) {
  char resource[64];

  snprintf(resource, sizeof(resource), "%s:deterministic", resource_of(ceed));
  Ceed deterministic = tap_ceed(resource);
  for (CeedInt dim = 2; dim <= 3; dim++)
    check_all(deterministic, dim, tap_level() ? 1 : 2, tap_level() ? MOST_ORDER : 2);
  CeedDestroy(&deterministic);
}

// ---- Symmetry ----

// With symmetric factors v . A u = u . A v: the way back from the points is the transposed of that to them.
static void check_symmetry(Ceed ceed, const VectorShape *shape) {
  VectorProblem p;
  double *y[2] = {NULL, NULL}, product[2] = {0, 0}, size = 0;
  int ierr = create(ceed, shape, &p);

  for (int i = 0; !ierr && i < 2; i++) ierr = apply(&p, 5 + (uint64_t)i, &y[i]);
  for (int i = 0; !ierr && i < 2; i++) {
    uint64_t seed = 6 - (uint64_t)i;
    double *x = reference_new_random(p.dofs, &seed);

    product[i] = reference_dot(p.dofs, x, y[i]);
    size += sqrt(reference_dot(p.dofs, x, x) * reference_dot(p.dofs, y[i], y[i]));
    free(x);
  }
  free(y[0]);
  free(y[1]);
  const CeedInt num = p.num_nodes + p.num_points;
  vector_problem_destroy(&p);
  CHECK_OK(ierr);
  // Of entries with errors as above, sums of random signs.
  CHECK_NEAR(product[0], product[1], 10 * eps * num * size, "%s", name_of(shape));
}

TEST_EACH_GEN(operators_with_symmetric_factors_are_symmetric) {
  for (CeedInt dim = 2; dim <= 3; dim++) {
    const VectorShape curl = shape_of(CEED_EVAL_CURL, dim, 2), div = shape_of(CEED_EVAL_DIV, dim, 2);

    check_symmetry(ceed, &curl);
    check_symmetry(ceed, &div);
  }
}

// ---- The same functions by matrices ----

// The matrices of the basis, asked for and given back as a dense basis.
TEST_EACH_GEN(matrices_of_the_same_basis_give_the_same) {
  VectorShape shape = shape_of(CEED_EVAL_CURL, 3, 2);

  shape.is_dense = true;
  check_shape(ceed, &shape);
}

// ---- Diagonals ----

enum { DIAGONAL_ORDER = 2, DIAGONAL_Q = 4 };

// A scalar field on a line of quadrilaterals, and a vector field on them. All handles are owned.
typedef struct {
  CeedElemRestriction rstr;
  CeedBasis basis;
  VectorProblem field;
  CeedVector b, diagonal;
  CeedOperator op;
} Weighted;

static int create_weighted_operator(Ceed ceed, Weighted *w) {
  CeedQFunction qf = NULL;
  int ierr = CeedQFunctionCreateInterior(ceed, 1, TablesWeighted, TablesWeighted_loc, &qf);

  if (!ierr) ierr = CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionAddInput(qf, "b", 2, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionAddInput(qf, "curl b", 1, CEED_EVAL_CURL);
  if (!ierr) ierr = CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, &w->op);
  CeedQFunctionDestroy(&qf);
  if (!ierr) ierr = CeedOperatorSetField(w->op, "u", w->rstr, w->basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(w->op, "b", w->field.rstr, w->field.basis, w->b);
  if (!ierr) ierr = CeedOperatorSetField(w->op, "curl b", w->field.rstr, w->field.basis, w->b);
  if (!ierr) ierr = CeedOperatorSetField(w->op, "v", w->rstr, w->basis, CEED_VECTOR_ACTIVE);
  return ierr;
}

// To be destroyed in any case.
static int create_weighted(Ceed ceed, Weighted *w) {
  const VectorShape shape = {CEED_EVAL_CURL, 2, DIAGONAL_ORDER, DIAGONAL_Q, {20, 1, 1}, false};
  const CeedInt P = (DIAGONAL_ORDER + 1) * (DIAGONAL_ORDER + 1);
  CeedInt offsets[20 * 9];
  uint64_t seed = 3;

  *w = (Weighted){.b = NULL};
  for (CeedInt i = 0; i < 20 * P; i++) offsets[i] = i / P * (P - 1) + i % P;
  CeedCall(CeedElemRestrictionCreate(ceed, 20, P, 1, 1, 20 * (P - 1) + 1, CEED_MEM_HOST, CEED_COPY_VALUES,
                                     offsets, &w->rstr));
  CeedCall(
      CeedBasisCreateTensorH1Lagrange(ceed, 2, 1, DIAGONAL_ORDER + 1, DIAGONAL_Q, CEED_GAUSS, &w->basis));
  CeedCall(vector_problem_create(ceed, &shape, &w->field));
  double *values = reference_new_random(w->field.dofs, &seed);
  w->b = reference_vector(ceed, w->field.dofs, values);
  free(values);
  CeedCall(CeedVectorCreate(ceed, 20 * (P - 1) + 1, &w->diagonal));
  return create_weighted_operator(ceed, w);
}

static void destroy_weighted(Weighted *w) {
  CeedOperatorDestroy(&w->op);
  CeedVectorDestroy(&w->b);
  CeedVectorDestroy(&w->diagonal);
  vector_problem_destroy(&w->field);
  CeedBasisDestroy(&w->basis);
  CeedElemRestrictionDestroy(&w->rstr);
}

TEST_EACH_GEN(diagonals_take_vector_fields_by_lines) {
  Ceed ceeds[2] = {ceed, tap_ceed("/cpu/self/ref")};
  double *diagonals[2] = {NULL, NULL};
  CeedSize length = 0;
  int ierr = CEED_ERROR_SUCCESS;

  setenv("RITZ_STRICT", "1", 1);
  for (int i = 0; !ierr && i < 2; i++) {
    Weighted w;

    ierr = create_weighted(ceeds[i], &w);
    if (!ierr) ierr = CeedOperatorLinearAssembleDiagonal(w.op, w.diagonal, CEED_REQUEST_IMMEDIATE);
    if (!ierr) ierr = CeedVectorGetLength(w.diagonal, &length);
    if (!ierr) diagonals[i] = reference_new_values(w.diagonal);
    destroy_weighted(&w);
  }
  unsetenv("RITZ_STRICT");
  const double error = ierr ? 0 : reference_distance(length, diagonals[0], diagonals[1]);
  const double tolerance =
      ierr ? 0 : 1000 * eps * reference_largest(length, diagonals[1]); // sums of 16 terms
  free(diagonals[0]);
  free(diagonals[1]);
  CeedDestroy(&ceeds[1]);
  CHECK_OK(ierr);
  CHECK(error <= tolerance, "off by %g, allowed %g", error, tolerance);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(lines_of_components_give_what_the_reference_gives_on_hexahedra,
                        lines_of_components_give_what_the_reference_gives_on_quadrilaterals,
                        deterministic_kernels_of_components_give_what_the_reference_gives,
                        operators_with_symmetric_factors_are_symmetric,
                        matrices_of_the_same_basis_give_the_same, diagonals_take_vector_fields_by_lines));
}
