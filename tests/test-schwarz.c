// SPDX-License-Identifier: BSD-2-Clause
// Element-wise Schwarz methods as preconditioners: against their definition, symmetric, definite, zero on
// constraints, bounds of the spectrum beside those of Jacobi, in float, misuse.
#include "tests/tap.h"

#include <math.h>
#include <ritz.h>
#include <stdlib.h>

#include "fe/fe.h"
#include "tests/schwarz-problem.h"

// ---- The definition ----

// Against dense inverses of the elements. factors: as given, NULL: of the mesh, which are to be `expected`.
// The mesh is taken over; NULL: a box.
static void check_definition_on(Ceed ceed, RitzMesh mesh, const Options *o, const double *factors,
                                const double *expected) {
  uint64_t seed = 11;
  RitzPreconditioner pc = NULL;
  Problem p = {.mesh = mesh};

  CHECK_OK(mesh ? create_problem_on(ceed, mesh, o, &p) : create_problem(ceed, o, &p));
  CHECK_OK(RitzPreconditionerCreateElementSchwarz(p.op, p.space, factors, p.constraints, &pc));
  double *r = reference_new_random(p.n, &seed), *diagonal = new_diagonal(&p);
  SchwarzProblem problem = {.dim = o->dim,
                            .num_comp = o->num_comp,
                            .num_nodes = p.n / o->num_comp,
                            .diagonal = diagonal,
                            .constrained = p.constrained,
                            .num_sets = 1};
  problem.sets[0] = (SchwarzSet){.line = {3, o->degree, o->degree, o->degree + 1}, .factors = expected};
  CHECK_OK(RitzMeshGetNumElements(p.mesh, &problem.sets[0].num));
  CHECK_OK(RitzSpaceGetElementNodes(p.space, &problem.sets[0].nodes));
  double *z = new_result(pc, ceed, p.n, r), *wanted = schwarz_apply(&problem, r);
  // Condition numbers of the scaled matrices of elements are below degree^2 times their anisotropy (10).
  CHECK_NEAR(reference_distance(p.n, z, wanted) / reference_largest(p.n, wanted), 0,
             200 * eps * o->degree * o->degree, "dim %d, degree %d", (int)o->dim, (int)o->degree);
  free(r);
  free(z);
  free(wanted);
  free(diagonal);
  RitzPreconditionerDestroy(&pc);
  destroy_problem(&p);
}

static void check_definition(Ceed ceed, const Options *o, const double *factors, const double *expected) {
  check_definition_on(ceed, NULL, o, factors, expected);
}

static double *new_factors(int64_t num_elem, CeedInt dim, bool has_mass, uint64_t *seed) {
  double *factors = reference_new(num_elem * (dim + 1));

  for (int64_t i = 0; i < num_elem * (dim + 1); i++) {
    factors[i] = i % (dim + 1) < dim ? exp(1.1 * tap_uniform(seed)) : has_mass ? 1 + tap_uniform(seed) : 0;
  }
  return factors;
}

TEST_EACH_BACKEND(result_is_the_sum_of_scaled_inverses_of_elements) {
  static const Options cases[] = {
      {.dim = 2, .degree = 3, .num_comp = 2, .size = {2, 2, 1}, .order = 2, .bend = 0.08},
      {.dim = 3, .degree = 2, .num_comp = 1, .size = {2, 2, 2}, .order = 1, .bend = 0.08},
      {.dim = 3, .degree = 1, .num_comp = 3, .size = {2, 2, 2}, .order = 1, .bend = 0.08, .is_free = true},
  };
  uint64_t seed = 4;

  for (int i = 0; i < (tap_compiles_slowly(ceed) ? 1 : 3); i++) {
    double *factors = new_factors(CeedIntPow(2, cases[i].dim), cases[i].dim, cases[i].is_free, &seed);

    check_definition(ceed, &cases[i], factors, factors);
    free(factors);
    if (tap_failed()) return;
  }
}

// Five elements around a vertex, in any orientation; edges that three elements share.
TEST(result_is_the_same_sum_on_unstructured_meshes) {
  static const struct {
    const char *file;
    CeedInt dim, degree;
  } cases[] = {{"star-q3.mesh", 2, 4}, {"fichera.mesh", 3, 2}, {"toroid-hex.mesh", 3, 2}};
  uint64_t seed = 8;

  if (!tap_meshes()) SKIP("RITZ_TEST_MESHES is not set");
  Ceed ceed = tap_ceed("/cpu/self/ref");
  for (int i = 0; i < 3; i++) {
    const Options o = {.dim = cases[i].dim, .degree = cases[i].degree, .num_comp = 1};
    char path[1000];
    int64_t num_elem = 0;
    RitzMesh mesh = NULL;

    snprintf(path, sizeof(path), "%s/%s", tap_meshes(), cases[i].file);
    CHECK_OK(RitzMeshRead(ceed, path, &mesh));
    CHECK_OK(RitzMeshGetNumElements(mesh, &num_elem));
    double *factors = new_factors(num_elem, o.dim, false, &seed);
    check_definition_on(ceed, mesh, &o, factors, factors);
    free(factors);
    if (tap_failed()) return;
  }
  CeedDestroy(&ceed);
}

// On boxes G_dd is the product of the other lengths over that of d.
TEST_EACH_BACKEND(factors_of_a_box_follow_from_its_sides) {
  const Options o = {
      .dim = 3, .degree = 2, .num_comp = 1, .size = {2, 2, 2}, .order = 1, .sides = {1, 3, 0.5}};
  double expected[8 * 4];

  for (int i = 0; i < 8 * 4; i++) {
    expected[i] = i % 4 < 3 ? 1 / (o.sides[i % 4] * o.sides[i % 4]) : 0;
  }
  check_definition(ceed, &o, NULL, expected);
}

// A rectangle in space has the factors of a flat one: other side over own side.
TEST(factors_of_surfaces_do_not_depend_on_their_position) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const double a = 2, b = 5;
  MixedMap map = {.A = {{2 * a / 3, -2 * b / 3}, {2 * a / 3, b / 3}, {a / 3, 2 * b / 3}},
                  .space_dim = 3,
                  .num_regions = 1};
  const Options o = {.dim = 2, .degree = 3, .num_comp = 1, .is_free = true};
  RitzMesh mesh = NULL;
  double factors[6 * 3];

  for (int e = 0; e < 6; e++) {
    factors[3 * e] = b / 2 / (a / 3);
    factors[3 * e + 1] = a / 3 / (b / 2);
    factors[3 * e + 2] = 0;
  }
  CHECK_OK(make_mixed_box(ceed, 2, 1, &map, &mesh));
  check_definition_on(ceed, mesh, &o, NULL, factors);
  CeedDestroy(&ceed);
}

// ---- Symmetry, constraints ----

TEST_EACH_BACKEND(method_is_symmetric_definite_and_zero_on_constraints) {
  const Options o = {.dim = 2, .degree = 3, .num_comp = 2, .size = {2, 2, 1}, .order = 2, .bend = 0.08};
  uint64_t seed = 5;
  bool is_symmetric = false;
  RitzPreconditioner pc = NULL;
  Problem p;

  CHECK_OK(create_problem(ceed, &o, &p));
  CHECK_OK(RitzPreconditionerCreateElementSchwarz(p.op, p.space, NULL, p.constraints, &pc));
  CHECK_OK(RitzPreconditionerIsSymmetric(pc, &is_symmetric));
  CHECK(is_symmetric, "as it says");
  double *x = reference_new_random(p.n, &seed), *y = reference_new_random(p.n, &seed);
  for (CeedSize i = 0; i < p.n; i++) x[i] = p.constrained[i] ? 0 : x[i];
  for (CeedSize i = 0; i < p.n; i++) y[i] = p.constrained[i] ? NAN : y[i];
  double *Px = new_result(pc, ceed, p.n, x), *Py = new_result(pc, ceed, p.n, y);
  for (CeedSize i = 0; i < p.n; i++) {
    CHECK(isfinite(Py[i]), "entry %td of a vector whose constrained entries are no numbers", i);
    if (p.constrained[i]) CHECK(Px[i] == 0 && Py[i] == 0, "constrained entry %td", i);
    if (p.constrained[i]) y[i] = 0;
  }
  const double largest = reference_largest(p.n, Px);
  CHECK_NEAR(reference_dot(p.n, x, Py), reference_dot(p.n, y, Px), 20 * eps * (double)p.n * largest, "%s",
             "x.Py and y.Px");
  CHECK(reference_dot(p.n, x, Px) > 0, "x.Px");
  free(x);
  free(y);
  free(Px);
  free(Py);
  RitzPreconditionerDestroy(&pc);
  destroy_problem(&p);
}

TEST(multiples_of_the_factors_of_an_element_cancel) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const Options o = {.dim = 2, .degree = 3, .num_comp = 1, .size = {2, 2, 1}, .order = 1, .bend = 0.08};
  uint64_t seed = 6;
  RitzPreconditioner pc = NULL, scaled = NULL;
  Problem p;

  CHECK_OK(create_problem(ceed, &o, &p));
  double *factors = new_factors(4, 2, true, &seed), *r = reference_new_random(p.n, &seed);
  CHECK_OK(RitzPreconditionerCreateElementSchwarz(p.op, p.space, factors, p.constraints, &pc));
  for (int i = 0; i < 4 * 3; i++) factors[i] *= pow(1000, i / 3);
  CHECK_OK(RitzPreconditionerCreateElementSchwarz(p.op, p.space, factors, p.constraints, &scaled));
  double *z = new_result(pc, ceed, p.n, r), *z_scaled = new_result(scaled, ceed, p.n, r);
  CHECK_NEAR(reference_distance(p.n, z, z_scaled), 0, 500 * eps * reference_largest(p.n, z), "%s",
             "factors times 1000, 10^6, 10^9");
  free(factors);
  free(r);
  free(z);
  free(z_scaled);
  RitzPreconditionerDestroy(&pc);
  RitzPreconditionerDestroy(&scaled);
  destroy_problem(&p);
  CeedDestroy(&ceed);
}

// ---- Spectrum ----

// Matrix [m][m] of a linear map on the free entries, column by column.
typedef double *(*ApplyFunction)(const Problem *p, void *map, const double *x);

static double *apply_operator_map(const Problem *p, void *map, const double *x) {
  CeedVector in = reference_vector(CeedOperatorReturnCeed(p->op), p->n, x), out = NULL;
  double *y = reference_new(p->n);
  (void)map;

  CeedVectorCreate(CeedOperatorReturnCeed(p->op), p->n, &out);
  if (!CeedOperatorApply(p->op, in, out, CEED_REQUEST_IMMEDIATE)) reference_values(out, y);
  CeedVectorDestroy(&in);
  CeedVectorDestroy(&out);
  return y;
}

static double *apply_preconditioner_map(const Problem *p, void *map, const double *x) {
  return new_result(map, CeedOperatorReturnCeed(p->op), p->n, x);
}

static double *new_matrix(const Problem *p, ApplyFunction apply, void *map, int *num_free) {
  int m = 0;

  for (CeedSize i = 0; i < p->n; i++) m += !p->constrained[i];
  double *matrix = reference_new((CeedSize)m * m), *x = reference_new(p->n);
  for (CeedSize j = 0, column = 0; j < p->n; j++) {
    if (p->constrained[j]) continue;
    x[j] = 1;
    double *y = apply(p, map, x);
    x[j] = 0;
    for (CeedSize i = 0, row = 0; i < p->n; i++) {
      if (!p->constrained[i]) matrix[row++ * m + column] = y[i];
    }
    free(y);
    column++;
  }
  free(x);
  *num_free = m;
  return matrix;
}

// c [m][m] = a b
static void multiply(int m, const double *a, const double *b, double *c) {
  for (int i = 0; i < m * m; i++) c[i] = 0;
  for (int i = 0; i < m; i++) {
    for (int k = 0; k < m; k++) {
      for (int j = 0; j < m; j++) c[i * m + j] += a[i * m + k] * b[k * m + j];
    }
  }
}

static void symmetrize(int m, double *a) {
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < i; j++) a[i * m + j] = a[j * m + i] = (a[i * m + j] + a[j * m + i]) / 2;
  }
}

// Extreme eigenvalues of P A: those of (P A P) x = lambda P x.
static int find_spectrum(const Problem *p, RitzPreconditioner pc, double *least, double *largest) {
  int m = 0;
  double *A = new_matrix(p, apply_operator_map, NULL, &m),
         *P = new_matrix(p, apply_preconditioner_map, pc, &m);
  double *AP = reference_new((CeedSize)m * m), *PAP = reference_new((CeedSize)m * m),
         *X = reference_new((CeedSize)m * m), *lambda = reference_new(m);

  multiply(m, A, P, AP);
  multiply(m, P, AP, PAP);
  symmetrize(m, PAP);
  symmetrize(m, P);
  const int ierr = ritz_fe_simultaneous_diagonalization(NULL, PAP, P, X, lambda, m);
  *least = INFINITY;
  *largest = 0;
  for (int i = 0; i < m; i++) {
    *least = fmin(*least, lambda[i]);
    *largest = fmax(*largest, lambda[i]);
  }
  free(A);
  free(P);
  free(AP);
  free(PAP);
  free(X);
  free(lambda);
  return ierr;
}

static int checkerboard(void *ctx, const double *x, double *value) {
  (void)ctx;
  *value = (x[0] < 0.5) == (x[1] < 1) ? 1000 : 1;
  return 0;
}

// Condition numbers with this method and with Jacobi.
static void check_condition(const Options *o, double most, double most_of_jacobi) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzPreconditioner pcs[2] = {NULL, NULL};
  double condition[2];
  Problem p;

  CHECK_OK(create_problem(ceed, o, &p));
  CHECK_OK(RitzPreconditionerCreateElementSchwarz(p.op, p.space, NULL, p.constraints, &pcs[0]));
  CHECK_OK(RitzPreconditionerCreateOperatorJacobi(p.op, p.constraints, &pcs[1]));
  for (int i = 0; i < 2; i++) {
    double least, largest;

    CHECK_OK(find_spectrum(&p, pcs[i], &least, &largest));
    CHECK(least > 0, "least eigenvalue %g", least);
    condition[i] = largest / least;
    // Two elements share a face: eigenvalues of an exact local method are below 2^dim.
    CHECK(i > 0 || largest < 1.5 * pow(2, o->dim), "largest eigenvalue %g", largest);
    RitzPreconditionerDestroy(&pcs[i]);
  }
  tap_note("dim %d, degree %d: condition %.1f, of Jacobi %.1f", (int)o->dim, (int)o->degree, condition[0],
           condition[1]);
  CHECK(condition[0] < most, "condition %g", condition[0]);
  CHECK(condition[0] < most_of_jacobi * condition[1], "condition %g, with Jacobi %g", condition[0],
        condition[1]);
  destroy_problem(&p);
  CeedDestroy(&ceed);
}

TEST(condition_is_a_fraction_of_that_of_jacobi) {
  Options o = {.dim = 2, .degree = 4, .num_comp = 1, .size = {4, 4, 1}, .order = 1, .sides = {1, 1}};

  check_condition(&o, 40, 0.3);
  o.bend = 0.1;
  check_condition(&o, 40, 0.3);
  o.mu = checkerboard;
  check_condition(&o, 800, 0.4);
}

// ---- In multigrid ----

// Flexible conjugate gradients to 1e-9, f = 1; the bounds are measured counts of meshes of 8^3 elements plus
// one.
static void check_counts(const MultigridCase *base, CeedInt most) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  MultigridCase schwarz = *base, jacobi = *base;

  schwarz.options.smoother = RITZ_SMOOTHER_ELEMENT_SCHWARZ;
  jacobi.options.smoother = RITZ_SMOOTHER_JACOBI;
  const CeedInt count = kit_count(ceed, &schwarz, 1e-9), count_jacobi = kit_count(ceed, &jacobi, 1e-9);
  tap_note("degree %d: %d iterations, with Jacobi %d", (int)base->degree, (int)count, (int)count_jacobi);
  CHECK(count > 0 && count <= most, "%d iterations", (int)count);
  CHECK(count < count_jacobi, "%d iterations, with Jacobi %d", (int)count, (int)count_jacobi);
  CeedDestroy(&ceed);
}

TEST(multigrid_takes_fewer_iterations_than_with_jacobi) {
  MultigridCase c = {.dim = 3,
                     .n = 2,
                     .degree = 5,
                     .kind = RITZ_HIERARCHY_P,
                     .amplitude = 0.1,
                     .options = {.chebyshev = {.degree = 2}}};

  if (sizeof(CeedScalar) < sizeof(double)) SKIP("a residual of 1e-9 is not reached in float");
  check_counts(&c, 9);
  c = (MultigridCase){.dim = 2,
                      .n = 8,
                      .degree = 4,
                      .kind = RITZ_HIERARCHY_H,
                      .max_levels = 2,
                      .amplitude = 0.1,
                      .options = {.chebyshev = {.degree = 2}}};
  check_counts(&c, 8);
  c.kind = RITZ_HIERARCHY_P; // levels with the same coefficients, that jump between elements
  c.amplitude = 0;
  c.max_levels = 0;
  c.contrast = 1000;
  check_counts(&c, 14);
}

// ---- Precision ----

TEST_EACH_BACKEND(method_of_a_float_operator_is_the_same_to_float) {
  const Options o = {.dim = 2, .degree = 3, .num_comp = 2, .size = {2, 2, 1}, .order = 2, .bend = 0.08};
  uint64_t seed = 7;
  CeedScalarType precision = CEED_SCALAR_TYPE;
  RitzPreconditioner pc = NULL, pc_float = NULL;
  Problem p, single;

  CHECK_OK(create_problem(ceed, &o, &p));
  CHECK_OK(create_problem(ceed, &o, &single));
  CHECK_OK(RitzOperatorSetPrecision(single.op, CEED_SCALAR_FP32));
  CHECK_OK(RitzPreconditionerCreateElementSchwarz(p.op, p.space, NULL, p.constraints, &pc));
  CHECK_OK(
      RitzPreconditionerCreateElementSchwarz(single.op, single.space, NULL, single.constraints, &pc_float));
  CHECK_OK(RitzPreconditionerGetPrecision(pc_float, &precision));
  CHECK(precision == CEED_SCALAR_FP32, "precision %d", (int)precision);
  double *r = reference_new_random(p.n, &seed);
  // Far beyond the range of float: residuals of any size are served.
  for (CeedSize i = 0; i < p.n && sizeof(CeedScalar) == 8; i++) r[i] *= 1e60;
  double *z = new_result(pc, ceed, p.n, r), *z_float = new_result(pc_float, ceed, p.n, r);
  CHECK_NEAR(reference_distance(p.n, z, z_float) / reference_largest(p.n, z), 0, 500 * (double)FLT_EPSILON,
             "%s", "double and float");
  free(r);
  free(z);
  free(z_float);
  RitzPreconditionerDestroy(&pc);
  RitzPreconditionerDestroy(&pc_float);
  destroy_problem(&p);
  destroy_problem(&single);
}

// ---- Misuse ----

#define CHECK_REFUSED(code, fragment, ...)                                                                   \
  CHECK_ERROR(ceed, RitzPreconditionerCreateElementSchwarz(__VA_ARGS__, &pc), code, fragment)

TEST(what_cannot_be_done_is_refused_in_words) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const Options o = {.dim = 2, .degree = 2, .num_comp = 1, .size = {2, 2, 1}, .order = 1, .bend = 0.08};
  double factors[4 * 3] = {1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0};
  RitzPreconditioner pc = NULL;
  RitzSpace other = NULL;
  RitzIndices beyond = NULL;
  Problem p;

  CHECK_OK(create_problem(ceed, &o, &p));
  CHECK_OK(RitzSpaceCreate(p.mesh, 3, 1, &other));
  CHECK_OK(RitzIndicesCreate(ceed, 1, (int64_t[]){25}, &beyond));
  CHECK_REFUSED(CEED_ERROR_DIMENSION, "25 entries, the space has 49", p.op, other, NULL, NULL);
  CHECK_REFUSED(CEED_ERROR_DIMENSION, "entry 25", p.op, p.space, NULL, beyond);
  factors[3] = -1;
  CHECK_REFUSED(CEED_ERROR_INCOMPATIBLE, "element 1 are -1, 1", p.op, p.space, factors, NULL);
  factors[3] = 1;
  factors[11] = NAN;
  CHECK_REFUSED(CEED_ERROR_INCOMPATIBLE, "element 3", p.op, p.space, factors, NULL);
  CHECK(pc == NULL, "nothing was made");
  RitzIndicesDestroy(&beyond);
  RitzSpaceDestroy(&other);
  destroy_problem(&p);
  CeedDestroy(&ceed);
}

TEST(diagonals_that_are_not_positive_are_named) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const Options o = {.dim = 2, .degree = 2, .num_comp = 1, .size = {2, 2, 1}, .order = 1, .bend = 0.08};
  RitzPreconditioner pc = NULL;
  CeedOperator negative = NULL;
  Problem p;

  CHECK_OK(create_problem(ceed, &o, &p));
  const RitzOperatorOptions options = {.kind = RITZ_OPERATOR_DIFFUSION, .space = p.space, .mu = -1};
  CHECK_OK(RitzGeometryCreateOperator(p.geometry, ceed, &options, &negative));
  CHECK_REFUSED(CEED_ERROR_MAJOR, "of the operator's diagonal is -", negative, p.space, NULL, p.constraints);
  CHECK(pc == NULL, "nothing was made");
  CeedOperatorDestroy(&negative);
  destroy_problem(&p);
  CeedDestroy(&ceed);
}

TEST(simplices_have_no_fast_diagonalization) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const Options o = {.dim = 2, .degree = 2, .num_comp = 1};
  RitzPreconditioner pc = NULL;
  RitzMesh box = NULL;
  Problem p = {.dim = 2};

  CHECK_OK(RitzMeshCreateBox(ceed, 2, (CeedInt[]){2, 2}, NULL, NULL, 1, NULL, NULL, &box));
  CHECK_OK(RitzMeshSplit(box, CEED_TOPOLOGY_TRIANGLE, &p.mesh));
  CHECK_OK(create_problem_on(ceed, p.mesh, &o, &p));
  CHECK_REFUSED(CEED_ERROR_UNSUPPORTED, "'triangle'", p.op, p.space, NULL, p.constraints);
  RitzMeshDestroy(&box);
  destroy_problem(&p);
  CeedDestroy(&ceed);
}

TEST(view_and_bytes_say_what_it_is) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const Options o = {.dim = 2, .degree = 2, .num_comp = 1, .size = {2, 2, 1}, .order = 1, .sides = {1, 4}};
  RitzPreconditioner pc = NULL;
  char text[500] = "";
  int64_t num_bytes = 0;
  Problem p;

  CHECK_OK(create_problem(ceed, &o, &p));
  CHECK_OK(RitzPreconditionerCreateElementSchwarz(p.op, p.space, NULL, p.constraints, &pc));
  CHECK_OK(RitzPreconditionerGetBytes(pc, &num_bytes));
  CHECK(num_bytes == (3 * 25 + 4 * 4) * (int64_t)sizeof(CeedScalar), "%lld bytes", (long long)num_bytes);
  FILE *stream = tmpfile();
  CHECK(stream != NULL, "a file");
  CHECK_OK(RitzPreconditionerView(pc, stream));
  rewind(stream);
  const size_t length = fread(text, 1, sizeof(text) - 1, stream);
  fclose(stream);
  CHECK(length > 0 && strstr(text, "degree 2, 4 elements, directions differ by up to 16"), "%s", text);
  RitzPreconditionerDestroy(&pc);
  destroy_problem(&p);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(result_is_the_sum_of_scaled_inverses_of_elements, result_is_the_same_sum_on_unstructured_meshes,
            factors_of_a_box_follow_from_its_sides, factors_of_surfaces_do_not_depend_on_their_position,
            method_is_symmetric_definite_and_zero_on_constraints,
            multiples_of_the_factors_of_an_element_cancel, condition_is_a_fraction_of_that_of_jacobi,
            multigrid_takes_fewer_iterations_than_with_jacobi,
            method_of_a_float_operator_is_the_same_to_float, what_cannot_be_done_is_refused_in_words,
            diagonals_that_are_not_positive_are_named, simplices_have_no_fast_diagonalization,
            view_and_bytes_say_what_it_is));
}
