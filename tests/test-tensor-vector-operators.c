// SPDX-License-Identifier: BSD-2-Clause
// Operators on Raviart-Thomas and Nedelec bases of quadrilaterals and hexahedra, with oriented restrictions:
// every backend does what the reference backend does with the same basis given as matrices. Bases:
// test-tensor-vector-bases.c.
#include "tests/derham.h"
#include "tests/gen-kit.h"
#include "tests/grid.h"
#include "tests/vector-qfunctions.h"

#include <ceed/backend.h>
#include <math.h>
#include <ritz/operator.h>

#include "plan/plan.h"

// ---- Problems ----

// Which fields the QFunction has.
typedef enum { FULL, VALUES, DERIVATIVES, MAPPED } Fields;

typedef struct {
  DerhamSpace space;
  Fields fields;
  CeedInt num_comp;
} Problem;

// All handles are owned.
typedef struct {
  CeedElemRestriction rstr, rstr_q, rstr_x;
  CeedBasis basis, basis_x;
  CeedQFunction qf;
  CeedOperator op;
  CeedVector q, x;
  CeedSize length;
} Run;

static CeedInt num_1d(const Problem *p) { return p->space.order > 2 ? 2 : 3; }
static CeedInt Q_1d(const Problem *p) { return p->space.order + 2; }
static CeedInt num_derivatives(const Problem *p) {
  return p->space.kind == HCURL && p->space.dim == 3 ? 3 : 1;
}

static int create_function(Ceed ceed, const Problem *p, CeedQFunction *qf) {
  const CeedInt n = p->space.dim * p->num_comp, m = num_derivatives(p) * p->num_comp;
  static const struct {
    Fields fields;
    CeedInt n, m;
    CeedQFunctionUser function;
    const char *source;
  } all[] = {
      {FULL, 2, 1, VectorFull21, VectorFull21_loc},    {FULL, 3, 1, VectorFull31, VectorFull31_loc},
      {FULL, 3, 3, VectorFull33, VectorFull33_loc},    {FULL, 4, 2, VectorFull42, VectorFull42_loc},
      {FULL, 6, 6, VectorFull66, VectorFull66_loc},    {VALUES, 2, 0, VectorOne2, VectorOne2_loc},
      {VALUES, 3, 0, VectorOne3, VectorOne3_loc},      {DERIVATIVES, 0, 1, VectorOne1, VectorOne1_loc},
      {DERIVATIVES, 0, 3, VectorOne3, VectorOne3_loc}, {MAPPED, 2, 0, VectorMapped2, VectorMapped2_loc},
      {MAPPED, 3, 0, VectorMapped3, VectorMapped3_loc}};

  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
    if (all[i].fields != p->fields || (all[i].n && all[i].n != n) || (all[i].m && all[i].m != m)) continue;
    return CeedQFunctionCreateInterior(ceed, 1, all[i].function, all[i].source, qf);
  }
  return CEED_ERROR_MAJOR;
}

static int add_fields(const Problem *p, CeedQFunction qf) {
  const CeedInt n = p->space.dim * p->num_comp, m = num_derivatives(p) * p->num_comp, dim = p->space.dim;
  const CeedEvalMode mode = derham_derivative(p->space.kind);

  if (p->fields != DERIVATIVES) CeedCall(CeedQFunctionAddInput(qf, "u", n, CEED_EVAL_INTERP));
  if (p->fields == FULL || p->fields == DERIVATIVES) CeedCall(CeedQFunctionAddInput(qf, "du", m, mode));
  if (p->fields == MAPPED)
    CeedCall(CeedQFunctionAddInput(qf, "J", dim * dim, CEED_EVAL_GRAD));
  else
    CeedCall(CeedQFunctionAddInput(qf, "q", 1, CEED_EVAL_NONE));
  CeedCall(CeedQFunctionAddInput(qf, "w", 1, CEED_EVAL_WEIGHT));
  if (p->fields != DERIVATIVES) CeedCall(CeedQFunctionAddOutput(qf, "v", n, CEED_EVAL_INTERP));
  if (p->fields == FULL || p->fields == DERIVATIVES) CeedCall(CeedQFunctionAddOutput(qf, "dv", m, mode));
  return CEED_ERROR_SUCCESS;
}

// The basis, or one of its matrices.
static int create_basis(Ceed ceed, const Problem *p, bool by_matrices, CeedBasis *basis) {
  CeedBasis tensor = NULL;
  const CeedScalar *interp, *derivative, *points, *weights;
  CeedInt P, Q;

  CeedCall(
      derham_create_basis(ceed, &p->space, p->num_comp, Q_1d(p), CEED_GAUSS, by_matrices ? &tensor : basis));
  if (!by_matrices) return CEED_ERROR_SUCCESS;
  CeedCall(CeedBasisGetNumNodes(tensor, &P));
  CeedCall(CeedBasisGetNumQuadraturePoints(tensor, &Q));
  CeedCall(CeedBasisGetInterp(tensor, &interp));
  CeedCall((p->space.kind == HDIV ? CeedBasisGetDiv : CeedBasisGetCurl)(tensor, &derivative));
  CeedCall(CeedBasisGetQRef(tensor, &points));
  CeedCall(CeedBasisGetQWeights(tensor, &weights));
  CeedCall((p->space.kind == HDIV ? CeedBasisCreateHdiv : CeedBasisCreateHcurl)(
      ceed, p->space.dim == 2 ? CEED_TOPOLOGY_QUAD : CEED_TOPOLOGY_HEX, p->num_comp, P, Q, interp, derivative,
      points, weights, basis));
  return CeedBasisDestroy(&tensor);
}

static CeedVector random_vector(Ceed ceed, CeedSize n, uint64_t seed) {
  double *values = reference_new_random(n, &seed);
  CeedVector vector = reference_vector(ceed, n, values);

  free(values);
  return vector;
}

// Coordinates of degree 2, or data at the points.
static int create_data(Ceed ceed, const Problem *p, Run *r) {
  const CeedInt dim = p->space.dim, num_elem = CeedIntPow(num_1d(p), dim), Q = CeedIntPow(Q_1d(p), dim);
  CeedSize length;

  if (p->fields == MAPPED) {
    CeedCall(grid_create_restriction(ceed, dim, num_1d(p), 2, dim, &r->rstr_x));
    CeedCall(CeedBasisCreateTensorH1Lagrange(ceed, dim, dim, 3, Q_1d(p), CEED_GAUSS, &r->basis_x));
    CeedCall(CeedElemRestrictionGetLVectorSize(r->rstr_x, &length));
    r->x = random_vector(ceed, length, 3);
    return CEED_ERROR_SUCCESS;
  }
  const CeedInt strides[3] = {1, Q, Q};
  CeedCall(
      CeedElemRestrictionCreateStrided(ceed, num_elem, Q, 1, (CeedSize)num_elem * Q, strides, &r->rstr_q));
  r->q = random_vector(ceed, (CeedSize)num_elem * Q, 5);
  return CEED_ERROR_SUCCESS;
}

static int set_fields(const Problem *p, const Run *r) {
  CeedOperator op = r->op;

  if (p->fields != DERIVATIVES)
    CeedCall(CeedOperatorSetField(op, "u", r->rstr, r->basis, CEED_VECTOR_ACTIVE));
  if (p->fields == MAPPED)
    CeedCall(CeedOperatorSetField(op, "J", r->rstr_x, r->basis_x, r->x));
  else
    CeedCall(CeedOperatorSetField(op, "q", r->rstr_q, CEED_BASIS_NONE, r->q));
  CeedCall(CeedOperatorSetField(op, "w", CEED_ELEMRESTRICTION_NONE, r->basis, CEED_VECTOR_NONE));
  if (p->fields != DERIVATIVES)
    CeedCall(CeedOperatorSetField(op, "v", r->rstr, r->basis, CEED_VECTOR_ACTIVE));
  if (p->fields != FULL && p->fields != DERIVATIVES) return CEED_ERROR_SUCCESS;
  CeedCall(CeedOperatorSetField(op, "du", r->rstr, r->basis, CEED_VECTOR_ACTIVE));
  return CeedOperatorSetField(op, "dv", r->rstr, r->basis, CEED_VECTOR_ACTIVE);
}

static int open_run(Ceed ceed, const Problem *p, bool by_matrices, Run *r) {
  *r = (Run){0};
  CeedCall(derham_create_restriction(ceed, &p->space, num_1d(p), p->num_comp, &r->rstr));
  CeedCall(CeedElemRestrictionGetLVectorSize(r->rstr, &r->length));
  CeedCall(create_basis(ceed, p, by_matrices, &r->basis));
  CeedCall(create_data(ceed, p, r));
  CeedCall(create_function(ceed, p, &r->qf));
  CeedCall(add_fields(p, r->qf));
  CeedCall(CeedOperatorCreate(ceed, r->qf, NULL, NULL, &r->op));
  return set_fields(p, r);
}

static void close_run(Run *r) {
  CeedElemRestrictionDestroy(&r->rstr);
  CeedElemRestrictionDestroy(&r->rstr_q);
  CeedElemRestrictionDestroy(&r->rstr_x);
  CeedBasisDestroy(&r->basis);
  CeedBasisDestroy(&r->basis_x);
  CeedQFunctionDestroy(&r->qf);
  CeedOperatorDestroy(&r->op);
  CeedVectorDestroy(&r->q);
  CeedVectorDestroy(&r->x);
}

// ---- What operators do ----

typedef enum { APPLY, DIAGONAL } Action;

// New array of the result, of a random vector, or of the diagonal; NULL after a failure.
static double *new_result(Ceed ceed, const Run *r, Action action) {
  CeedVector u = random_vector(ceed, r->length, 17), v = NULL;
  double *result = NULL;
  int ierr = CeedVectorCreate(ceed, r->length, &v);

  if (!ierr && action == DIAGONAL)
    ierr = CeedOperatorLinearAssembleDiagonal(r->op, v, CEED_REQUEST_IMMEDIATE);
  if (!ierr && action == APPLY) ierr = CeedOperatorApply(r->op, u, v, CEED_REQUEST_IMMEDIATE);
  if (tap_check_ok(ierr, __FILE__, __LINE__, "an action")) result = reference_new_values(v);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  return result;
}

static const char *tell(const Problem *p) {
  static const char *const fields[] = {"values and derivatives", "values", "derivatives",
                                       "values and a gradient"};
  static char text[128];

  snprintf(text, sizeof(text), "%s %dD, order %d, %d components, %s",
           p->space.kind == HDIV ? "H(div)" : "H(curl)", (int)p->space.dim, (int)p->space.order,
           (int)p->num_comp, fields[p->fields]);
  return text;
}

// Sums of some hundred products of numbers up to the largest of tables and results.
static const double tolerance = 3000;

// The reference backend with matrices says what is right.
static void check_result(Ceed ceed, const Problem *p, bool by_matrices, Action action) {
  Ceed ref = tap_ceed("/cpu/self/ref");
  Run run, right;

  CHECK_OK(open_run(ref, p, true, &right));
  CHECK_OK(open_run(ceed, p, by_matrices, &run));
  double *wanted = new_result(ref, &right, action), *found = new_result(ceed, &run, action);
  const CeedSize n = run.length;
  const double size = wanted ? reference_largest(n, wanted) : 0;
  const double error = wanted && found ? reference_distance(n, wanted, found) : INFINITY;
  free(wanted);
  free(found);
  close_run(&run);
  close_run(&right);
  CeedDestroy(&ref);
  CHECK(size > 0, "%s: all zero", tell(p));
  CHECK(error <= tolerance * eps * size, "%s: off by %g of %g", tell(p), error, size);
}

static bool is_left_out(Ceed ceed, CeedInt order) { return tap_compiles_slowly(ceed) && order != 2; }

static void check_orders(Ceed ceed, DerhamKind kind, Action action) {
  for (CeedInt i = 0; i < 8 && !tap_failed(); i++) {
    const Problem p = {{kind, 2 + i % 2, 1 + i / 2}, FULL, 1};
    if (!is_left_out(ceed, p.space.order)) check_result(ceed, &p, false, action);
  }
}

TEST_EACH_BACKEND(mass_and_curl_curl_is_what_matrices_make_of_it) { check_orders(ceed, HCURL, APPLY); }
TEST_EACH_BACKEND(mass_and_div_div_is_what_matrices_make_of_it) { check_orders(ceed, HDIV, APPLY); }

// Fewer fields, more components, and a basis of another kind beside.
static const Problem others[] = {{{HCURL, 2, 2}, VALUES, 1},      {{HDIV, 3, 2}, VALUES, 1},
                                 {{HCURL, 3, 2}, DERIVATIVES, 1}, {{HDIV, 2, 2}, DERIVATIVES, 1},
                                 {{HCURL, 3, 2}, MAPPED, 1},      {{HDIV, 2, 2}, MAPPED, 1},
                                 {{HCURL, 3, 1}, FULL, 2},        {{HDIV, 2, 2}, FULL, 2}};
enum { NUM_OTHERS = sizeof(others) / sizeof(others[0]) };

TEST_EACH_BACKEND(fewer_fields_more_components_and_other_bases_beside_are_right) {
  for (int i = 0; i < NUM_OTHERS && !tap_failed(); i++) {
    if (!tap_compiles_slowly(ceed) || i % 3 == 1) check_result(ceed, &others[i], false, APPLY);
  }
}

TEST_EACH_BACKEND(diagonals_are_right) {
  for (int i = 0; i < 4 && !tap_failed(); i++) {
    const Problem p = {{i % 2 ? HDIV : HCURL, 2 + i / 2, 2}, FULL, 1};
    check_result(ceed, &p, false, DIAGONAL);
  }
}

// The diagonal by unit vectors, and all entries of the assembled matrix.
static void check_matrix(Ceed ceed, const Problem *p) {
  Run r;
  CeedSize num = 0;
  CeedInt *rows, *cols;
  CeedVector values = NULL, u = NULL, v = NULL;

  CHECK_OK(open_run(ceed, p, false, &r));
  CHECK_OK(CeedOperatorLinearAssembleSymbolic(r.op, &num, &rows, &cols));
  CHECK_OK(CeedVectorCreate(ceed, num, &values));
  CHECK_OK(CeedOperatorLinearAssemble(r.op, values));
  double *entries = reference_new_values(values), *matrix = reference_new(r.length * r.length),
         *result = NULL;
  double *unit = reference_new(r.length);
  for (CeedSize i = 0; i < num; i++) matrix[rows[i] * r.length + cols[i]] += entries[i];
  const double size = reference_largest(r.length * r.length, matrix);
  CHECK_OK(CeedVectorCreate(ceed, r.length, &v));
  for (CeedSize j = 0; j < r.length && !tap_failed(); j++) {
    unit[j] = 1;
    u = reference_vector(ceed, r.length, unit);
    unit[j] = 0;
    CHECK_OK(CeedOperatorApply(r.op, u, v, CEED_REQUEST_IMMEDIATE));
    result = reference_new_values(v);
    for (CeedSize i = 0; i < r.length; i++)
      CHECK_NEAR(matrix[i * r.length + j], result[i], tolerance * eps * size, "%s: row %d, column %d",
                 tell(p), (int)i, (int)j);
    free(result);
    CeedVectorDestroy(&u);
  }
  free(rows), free(cols), free(entries), free(matrix), free(unit);
  CeedVectorDestroy(&values);
  CeedVectorDestroy(&v);
  close_run(&r);
}

TEST_EACH_BACKEND(assembled_matrices_do_what_the_operator_does) {
  for (int i = 0; i < 4 && !tap_failed(); i++) {
    const Problem p = {{i % 2 ? HDIV : HCURL, 2 + i / 2, 1}, FULL, 1};
    if (!tap_compiles_slowly(ceed) || i < 2) check_matrix(ceed, &p);
  }
}

// ---- How they are run ----

static const char *explain(CeedOperator op) {
  static char kept[16384];
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  const int ierr = RitzOperatorExplain(op, stream);

  fclose(stream);
  snprintf(kept, sizeof(kept), "%s", ierr ? "" : text);
  free(text);
  return kept;
}

// Runs on /cpu/self/gen, which says that `path` runs.
static void check_path(const Problem *p, bool by_matrices, const char *path) {
  Ceed ceed = tap_ceed("/cpu/self/gen");
  Run r;

  CHECK_OK(open_run(ceed, p, by_matrices, &r));
  free(new_result(ceed, &r, APPLY));
  const char *text = explain(r.op);
  CHECK(strstr(text, "runs as: ") && !strncmp(strstr(text, "runs as: ") + 9, path, strlen(path)),
        "wanted: %s\n%s", path, text);
  CHECK(by_matrices || strstr(text, "vector tensor") || strstr(path, "ahead"), "%s", text);
  close_run(&r);
  if (!tap_failed()) check_result(ceed, p, by_matrices, APPLY);
  CeedDestroy(&ceed);
}

TEST(operators_are_one_generated_kernel_that_goes_block_by_block) {
  GEN_NEEDS_COMPILER();
  for (int i = 0; i < 2 && !tap_failed(); i++) {
    const Problem p = {{i ? HDIV : HCURL, i ? 2 : 3, 2}, FULL, 1};
    check_path(&p, false, "one generated kernel, the text");
  }
}

TEST(kernels_that_call_the_function_of_the_program_are_right) {
  GEN_NEEDS_COMPILER();
  setenv("RITZ_QFUNCTION", "pointer", 1);
  for (int i = 0; i < 2 && !tap_failed(); i++) {
    const Problem p = {{i ? HDIV : HCURL, 2 + i, 2}, i ? MAPPED : FULL, 1};
    check_path(&p, false, "one generated kernel that calls");
  }
  unsetenv("RITZ_QFUNCTION");
}

TEST(the_ahead_of_time_kernel_is_right) {
  gen_begin();
  setenv("RITZ_CC", "/nonexistent", 1);
  setenv("RITZ_WARNINGS", "off", 1);
  for (int i = 0; i < NUM_OTHERS + 8 && !tap_failed(); i++) {
    const Problem full = {{i % 2 ? HDIV : HCURL, 2 + i / 2 % 2, 1 + i / 4 * 2}, FULL, 1};
    check_path(i < 8 ? &full : &others[i - 8], false, "the ahead-of-time kernel");
  }
  unsetenv("RITZ_CC");
}

// A plan keeps the matrices of a line once: Lagrange values, their derivatives, edge functions.
TEST(plans_keep_three_lines_or_are_dense) {
  for (int i = 0; i < 4; i++) {
    Ceed ceed = tap_ceed("/cpu/self/gen");
    const Problem p = {{i % 2 ? HDIV : HCURL, 2 + i / 2, 3}, FULL, 1};
    RitzPlan *plan = NULL;
    const char *reason;
    Run r;

    CHECK_OK(open_run(ceed, &p, false, &r));
    for (int allows = 0; allows < 2; allows++) {
      const RitzPlanOptions options = {.allows_blocks = allows};
      CHECK_OK(ritz_plan_operator(r.op, &options, &plan, &reason));
      const RitzPlanBasis *b = &plan->bases[0];
      CHECK(b->route == (allows ? RITZ_ROUTE_BLOCKS : RITZ_ROUTE_DENSE), "route %d", b->route);
      CHECK(b->num_lines == (allows ? 3 : 0) && plan->num_matrices == (allows ? 0 : 2),
            "%d lines, %d matrices", b->num_lines, plan->num_matrices);
      CHECK(plan->dim == (allows ? p.space.dim : 1) && plan->Q_1d == (allows ? Q_1d(&p) : plan->Q), "grid");
      for (int k = 0; k < b->num_lines; k++) CHECK(b->lines[k].parity != 0, "line %d is not symmetric", k);
      ritz_plan_free(&plan);
    }
    close_run(&r);
    CeedDestroy(&ceed);
  }
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(mass_and_curl_curl_is_what_matrices_make_of_it,
                        mass_and_div_div_is_what_matrices_make_of_it,
                        fewer_fields_more_components_and_other_bases_beside_are_right, diagonals_are_right,
                        assembled_matrices_do_what_the_operator_does,
                        operators_are_one_generated_kernel_that_goes_block_by_block,
                        kernels_that_call_the_function_of_the_program_are_right,
                        the_ahead_of_time_kernel_is_right, plans_keep_three_lines_or_are_dense));
}
