// SPDX-License-Identifier: BSD-2-Clause
// p-multigrid levels: transfer operators interpolate and are adjoint, coarse operators are Galerkin products,
// a two-grid cycle converges. Composites, misuse and looks: test-multigrid-use.c. Projections between bases:
// test-projection.c.
#include "tests/tap.h"

#include "fe/fe.h"
#include "tests/grid.h"
#include "tests/levels.h"
#include "tests/reference.h"
#include <ceed/backend.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const LevelsProblem problems[] = {
    {1, 5, 4, 2, 1, 0.2, true, false}, {1, 3, 3, 2, 3, 0.2, false, false}, {1, 4, 2, 1, 1, 0.2, true, true},
    {2, 3, 4, 2, 1, 0.2, true, false}, {2, 2, 3, 1, 3, 0.2, true, false},  {2, 3, 2, 1, 1, 0.2, false, true},
    {3, 2, 2, 1, 3, 0.2, true, false}, {3, 2, 4, 3, 1, 0.2, false, false}, {3, 1, 3, 2, 1, 0.2, true, false},
};

// Every problem with every variant that fits its bases; a check that fails ends them. Where kernels are
// compiled: every second problem, which still has all dimensions, one and several components, a dense basis;
// where that takes long every fourth, without the dense one.
static void with_levels(Ceed ceed, void (*check)(const LevelsProblem *p, const Levels *l)) {
  const size_t step = tap_level() == TAP_EXHAUSTIVE                          ? 1
                      : tap_compiles_slowly(ceed)                            ? 4
                      : tap_compiles_bases(ceed) && tap_level() == TAP_QUICK ? 2
                                                                             : 1;

  for (size_t i = 0; i < sizeof(problems) / sizeof(problems[0]); i += step) {
    for (int variant = 0; variant < LEVELS_NUM_VARIANTS; variant++) {
      Levels l;

      if (problems[i].is_dense && variant == LEVELS_TENSOR_H1) continue;
      CHECK_OK(levels_create(ceed, &problems[i], (LevelsVariant)variant, &l));
      check(&problems[i], &l);
      if (tap_failed()) tap_note("variant %d, %s", variant, levels_describe(&problems[i]));
      levels_destroy(&l);
      if (tap_failed()) return;
    }
  }
}

// ---- Transfer ----

// A polynomial of the given degree in each coordinate, another one for each component.
static double polynomial(CeedInt dim, CeedInt degree, CeedInt c, const double *x) {
  double product = 1;

  for (CeedInt d = 0; d < dim; d++) product *= pow(0.5 * x[d] + 0.3 * (d + c) - 0.4, degree) + x[d];
  return product;
}

static void fill_polynomial(const LevelsProblem *p, CeedInt degree, double *u) {
  for (CeedInt i = 0; i < grid_num_nodes(p->dim, p->n, degree); i++) {
    double x[3];

    grid_node(p->dim, p->n, degree, i, x);
    for (CeedInt c = 0; c < p->num_comp; c++) {
      u[i * p->num_comp + c] = polynomial(p->dim, p->coarse, c, x);
    }
  }
}

static void check_interpolant(const LevelsProblem *p, const Levels *l) {
  double *coarse = levels_allocate(l->num_coarse), *fine = levels_allocate(l->num_fine),
         *wanted = levels_allocate(l->num_fine);

  fill_polynomial(p, p->coarse, coarse);
  fill_polynomial(p, p->fine, wanted);
  CHECK_OK(levels_apply(l->prolong, l->num_coarse, coarse, l->num_fine, fine));
  // Sums of P terms per direction with tables that are exact to some rounding errors; values up to 3^dim.
  for (CeedSize i = 0; i < l->num_fine; i++) {
    CHECK_NEAR(fine[i], wanted[i], 500 * p->dim * eps * levels_largest(l->num_fine, wanted), "entry %td", i);
  }
  free(coarse);
  free(fine);
  free(wanted);
}

// Nodes are those of the reference box: transfer knows no coordinates, a moved grid would do as well.
TEST_EACH_BACKEND(prolongation_of_a_polynomial_is_its_interpolant) { with_levels(ceed, check_interpolant); }

TEST_EACH_BACKEND(restriction_is_the_transpose_of_prolongation) { with_levels(ceed, levels_check_transpose); }

// One matrix, whether the library finds the interpolation or is given it in one of two forms.
TEST_EACH_BACKEND(all_variants_make_the_same_transfer) {
  const LevelsProblem p = {2, 2, 4, 2, 3, 0.2, false, false};
  double *P[LEVELS_NUM_VARIANTS];
  CeedSize size = 0;

  for (int v = 0; v < LEVELS_NUM_VARIANTS; v++) {
    Levels l;

    CHECK_OK(levels_create(ceed, &p, (LevelsVariant)v, &l));
    P[v] = levels_create_matrix(l.prolong, l.num_fine, l.num_coarse);
    size = l.num_fine * l.num_coarse;
    levels_destroy(&l);
  }
  for (CeedSize i = 0; i < size; i++) {
    CHECK_NEAR(P[LEVELS_PLAIN][i], P[LEVELS_TENSOR_H1][i], 100 * eps, "entry %td", i);
    CHECK_NEAR(P[LEVELS_H1][i], P[LEVELS_TENSOR_H1][i], 20 * eps, "entry %td", i);
  }
  for (int v = 0; v < LEVELS_NUM_VARIANTS; v++) free(P[v]);
}

// Interpolation keeps constants, so its transpose keeps sums.
static void check_sum(const LevelsProblem *p, const Levels *l) {
  uint64_t seed = 5;
  double *fine = levels_allocate_random(l->num_fine, &seed), *coarse = levels_allocate(l->num_coarse),
         difference = 0;

  CHECK_OK(levels_apply(l->restrict_op, l->num_fine, fine, l->num_coarse, coarse));
  for (CeedSize i = 0; i < l->num_fine; i++) difference += fine[i];
  for (CeedSize i = 0; i < l->num_coarse; i++) difference -= coarse[i];
  CHECK_NEAR(difference, 0, 20 * p->dim * eps * (double)l->num_fine, "sum");
  free(fine);
  free(coarse);
}

TEST_EACH_BACKEND(restriction_preserves_sums) { with_levels(ceed, check_sum); }

// ---- Coarse operator ----

TEST_EACH_BACKEND(coarse_operator_is_the_galerkin_product) { with_levels(ceed, levels_check_galerkin); }

static int assemble_diagonal(CeedOperator op, CeedSize n, double *diagonal) {
  CeedVector vec = NULL;
  int ierr = CeedVectorCreate(CeedOperatorReturnCeed(op), n, &vec);

  if (!ierr) ierr = CeedOperatorLinearAssembleDiagonal(op, vec, CEED_REQUEST_IMMEDIATE);
  if (!ierr) reference_values(vec, diagonal);
  CeedVectorDestroy(&vec);
  return ierr;
}

static int scale_qdata(CeedOperator op, CeedScalar factor) {
  CeedOperatorField field = NULL;
  CeedVector qdata = NULL;
  int ierr = CeedOperatorGetFieldByName(op, "qdata", &field);

  if (!ierr) ierr = CeedOperatorFieldGetVector(field, &qdata);
  if (!ierr) ierr = CeedVectorScale(qdata, factor);
  CeedVectorDestroy(&qdata);
  return ierr;
}

// Doubled quadrature data stay unnoticed while the cache counts as valid; an update through either level
// refreshes both.
TEST_EACH_BACKEND(both_levels_share_the_assembled_qfunction) {
  const LevelsProblem p = {2, 2, 3, 1, 1, 0.2, true, false};
  Levels l;

  CHECK_OK(levels_create(ceed, &p, LEVELS_PLAIN, &l));
  double *old = levels_allocate(l.num_coarse), *diagonal = levels_allocate(l.num_coarse),
         *fine = levels_allocate(l.num_fine);

  CHECK_OK(CeedOperatorSetQFunctionAssemblyReuse(l.op_fine, true));
  CHECK_OK(assemble_diagonal(l.op_fine, l.num_fine, fine));
  CHECK_OK(assemble_diagonal(l.op_coarse, l.num_coarse, old));
  CHECK_OK(scale_qdata(l.op_fine, 2));
  CHECK_OK(assemble_diagonal(l.op_coarse, l.num_coarse, diagonal));
  CHECK_NEAR(diagonal[0], old[0], 0, "the cache is reused");
  CHECK_OK(CeedOperatorSetQFunctionAssemblyDataUpdateNeeded(l.op_coarse, true));
  CHECK_OK(assemble_diagonal(l.op_fine, l.num_fine, fine));
  CHECK_OK(assemble_diagonal(l.op_coarse, l.num_coarse, diagonal));
  for (CeedSize i = 0; i < l.num_coarse; i++)
    CHECK_NEAR(diagonal[i], 2 * old[i], 4 * eps * old[i], "entry %td", i);

  CeedOperatorDestroy(&l.op_fine); // the coarse operator keeps what it shares
  CHECK_OK(assemble_diagonal(l.op_coarse, l.num_coarse, diagonal));
  levels_destroy(&l);
  free(old);
  free(diagonal);
  free(fine);
}

// ---- Weights ----

// u_f = E_f^T W B E_c u_c and its transpose on two elements of a line, with signs on both sides and weights
// that differ, against the definition.
TEST_EACH_BACKEND(weights_and_orientations_enter_as_defined) {
  enum { P_F = 3, P_C = 2, FINE = 5, COARSE = 3 };
  const CeedInt offsets_f[2 * P_F] = {0, 1, 2, 2, 3, 4}, offsets_c[2 * P_C] = {0, 1, 1, 2};
  const bool orients_f[2 * P_F] = {false, true, false, true, false, true};
  const bool orients_c[2 * P_C] = {true, false, false, true};
  const double p[FINE] = {1, 2, 1, 4, 0}; // a zero stays a zero
  const double B[P_F][P_C] = {{1, 0}, {0.5, 0.5}, {0, 1}};
  const double corners[4] = {0, 1, 1, 3};
  const GridElements elements = {1, 2, corners};
  double wanted[FINE][COARSE] = {{0}}, *P, *R;
  Levels l = {.num_fine = FINE};

  for (int k = 0; k < 2 * P_F * P_C; k++) {
    int e = k / (P_F * P_C), i = k / P_C % P_F, j = k % P_C, f = offsets_f[e * P_F + i];
    double weight = p[f] == 0 ? 0 : 1 / (p[f] * (f == 2 ? 2 : 1));
    double sign = orients_f[e * P_F + i] != orients_c[e * P_C + j] ? -1 : 1;

    wanted[f][offsets_c[e * P_C + j]] += sign * weight * B[i][j];
  }
  CHECK_OK(CeedElemRestrictionCreateOriented(ceed, 2, P_F, 1, 1, FINE, CEED_MEM_HOST, CEED_COPY_VALUES,
                                             offsets_f, orients_f, &l.rstr_fine));
  CHECK_OK(CeedElemRestrictionCreateOriented(ceed, 2, P_C, 1, 1, COARSE, CEED_MEM_HOST, CEED_COPY_VALUES,
                                             offsets_c, orients_c, &l.rstr_coarse));
  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, P_F, 4, CEED_GAUSS, &l.basis_fine));
  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, P_C, 4, CEED_GAUSS, &l.basis_coarse));
  CHECK_OK(grid_create_operator(ceed, &elements, 4, false, l.rstr_fine, l.basis_fine, &l.op_fine));
  l.p_mult = reference_vector(ceed, FINE, p);
  CHECK_OK(levels_create_level(NULL, LEVELS_PLAIN, &l));
  P = levels_create_matrix(l.prolong, FINE, COARSE);
  R = levels_create_matrix(l.restrict_op, COARSE, FINE);
  for (int f = 0; f < FINE; f++) {
    for (int c = 0; c < COARSE; c++) {
      CHECK_NEAR(P[f * COARSE + c], wanted[f][c], 20 * eps, "P (%d, %d)", f, c);
      CHECK_NEAR(R[c * FINE + f], wanted[f][c], 20 * eps, "R (%d, %d)", c, f);
    }
  }
  free(P);
  free(R);
  levels_destroy(&l);
}

// Quadrature data are given at any points there are: here at random ones in each element.
TEST_EACH_BACKEND(coarse_operators_at_points_are_galerkin_products_too) {
  const LevelsProblem p = {2, 2, 3, 2, 1, 0, false, false};
  enum { NUM_ELEM = 4, NUM_POINTS = 6 };
  CeedInt offsets[NUM_ELEM + 1 + NUM_POINTS] = {5, 7, 7, 8, 11, 3, 1, 0, 5, 2, 4};
  uint64_t seed = 21;
  double coordinates[2 * NUM_POINTS], coefficients[NUM_POINTS];
  CeedElemRestriction rstr_x = NULL, rstr_q = NULL;
  CeedVector x = NULL, q = NULL;
  CeedQFunction qf = NULL;
  Levels l;

  reference_fill_random(2 * NUM_POINTS, coordinates, &seed);
  reference_fill_random(NUM_POINTS, coefficients, &seed);
  CHECK_OK(levels_create_spaces(ceed, &p, &l));
  CeedOperatorDestroy(&l.op_fine);
  CHECK_OK(CeedElemRestrictionCreateAtPoints(ceed, NUM_ELEM, NUM_POINTS, 2, 2 * NUM_POINTS, CEED_MEM_HOST,
                                             CEED_COPY_VALUES, offsets, &rstr_x));
  CHECK_OK(CeedElemRestrictionCreateAtPoints(ceed, NUM_ELEM, NUM_POINTS, 1, NUM_POINTS, CEED_MEM_HOST,
                                             CEED_COPY_VALUES, offsets, &rstr_q));
  x = reference_vector(ceed, 2 * NUM_POINTS, coordinates);
  q = reference_vector(ceed, NUM_POINTS, coefficients);
  CHECK_OK(CeedQFunctionCreateInteriorByName(ceed, "MassApply", &qf));
  CHECK_OK(CeedOperatorCreateAtPoints(ceed, qf, NULL, NULL, &l.op_fine));
  CHECK_OK(CeedOperatorSetField(l.op_fine, "u", l.rstr_fine, l.basis_fine, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(l.op_fine, "qdata", rstr_q, CEED_BASIS_NONE, q));
  CHECK_OK(CeedOperatorSetField(l.op_fine, "v", l.rstr_fine, l.basis_fine, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorAtPointsSetPoints(l.op_fine, rstr_x, x));
  CHECK_OK(levels_create_level(&p, LEVELS_PLAIN, &l));
  levels_check_galerkin(&p, &l);
  CeedQFunctionDestroy(&qf);
  CeedVectorDestroy(&x);
  CeedVectorDestroy(&q);
  CeedElemRestrictionDestroy(&rstr_x);
  CeedElemRestrictionDestroy(&rstr_q);
  levels_destroy(&l);
}

// ---- A two-grid cycle ----

// Solves with the boundary nodes at zero, where mask is 0.
typedef struct {
  Levels l;
  double *mask, *diagonal, *coarse_mask; // owned
  double *coarse_matrix;                 // owned, with rows and columns of the boundary those of the identity
} TwoGrid;

static double *create_mask(const LevelsProblem *p, CeedInt degree) {
  CeedInt num = grid_num_nodes(p->dim, p->n, degree);
  double *mask = levels_allocate(num), x[3];

  for (CeedInt i = 0; i < num; i++) {
    grid_node(p->dim, p->n, degree, i, x);
    mask[i] = 1;
    for (CeedInt d = 0; d < p->dim; d++) mask[i] *= x[d] > 1e-6 && x[d] < 1 - 1e-6;
  }
  return mask;
}

static void constrain(CeedSize n, const double *mask, double *matrix) {
  for (CeedSize i = 0; i < n * n; i++) {
    matrix[i] *= mask[i / n] * mask[i % n];
    if (i / n == i % n && mask[i / n] == 0) matrix[i] = 1;
  }
}

// r = mask (f - A u)
static int residual(const TwoGrid *t, const double *f, const double *u, double *r) {
  int ierr = levels_apply(t->l.op_fine, t->l.num_fine, u, t->l.num_fine, r);

  for (CeedSize i = 0; i < t->l.num_fine; i++) r[i] = t->mask[i] * (f[i] - r[i]);
  return ierr;
}

// u += 0.6 D^-1 (f - A u), some times.
static int smooth(const TwoGrid *t, int times, const double *f, double *u, double *r) {
  int ierr = 0;

  for (int k = 0; !ierr && k < times; k++) {
    ierr = residual(t, f, u, r);
    for (CeedSize i = 0; i < t->l.num_fine; i++) u[i] += 0.6 * r[i] / t->diagonal[i];
  }
  return ierr;
}

// u += P A_c^-1 R (f - A u)
static int correct(const TwoGrid *t, const double *f, double *u, double *r) {
  const Levels *l = &t->l;
  double *coarse = levels_allocate(l->num_coarse), *matrix = levels_allocate(l->num_coarse * l->num_coarse);
  int ierr = residual(t, f, u, r);

  memcpy(matrix, t->coarse_matrix, (size_t)(l->num_coarse * l->num_coarse) * sizeof(*matrix));
  if (!ierr) ierr = levels_apply(l->restrict_op, l->num_fine, r, l->num_coarse, coarse);
  for (CeedSize i = 0; i < l->num_coarse; i++) coarse[i] *= t->coarse_mask[i];
  if (!ierr) ierr = ritz_fe_solve(NULL, (int)l->num_coarse, matrix, 1, coarse);
  if (!ierr) ierr = levels_apply(l->prolong, l->num_coarse, coarse, l->num_fine, r);
  for (CeedSize i = 0; i < l->num_fine; i++) u[i] += r[i];
  free(coarse);
  free(matrix);
  return ierr;
}

// sqrt(e^T A e) of the error, which is u when f is 0.
static double energy(const TwoGrid *t, const double *u, double *r) {
  double sum = 0;

  if (levels_apply(t->l.op_fine, t->l.num_fine, u, t->l.num_fine, r)) return NAN;
  for (CeedSize i = 0; i < t->l.num_fine; i++) sum += u[i] * r[i];
  return sqrt(fmax(sum, 0));
}

// Worst factor by which the energy of the error falls, over some cycles from a random start.
static double worst_factor(const TwoGrid *t, bool has_correction) {
  CeedSize n = t->l.num_fine;
  uint64_t seed = 13;
  double *u = levels_allocate_random(n, &seed), *r = levels_allocate(n), *f = levels_allocate(n), worst = 0;

  for (CeedSize i = 0; i < n; i++) u[i] *= t->mask[i];
  for (int cycle = 0; cycle < 12; cycle++) {
    double before = energy(t, u, r);
    int ierr = smooth(t, 3, f, u, r);

    if (!ierr && has_correction) ierr = correct(t, f, u, r);
    if (!ierr) ierr = smooth(t, 3, f, u, r);
    double factor = ierr ? NAN : energy(t, u, r) / before;

    // The first cycles remove the rough part of the start; the last ones show the slowest modes.
    if (cycle >= 6 && !(factor <= worst)) worst = factor;
  }
  free(u);
  free(r);
  free(f);
  return worst;
}

// The degree is halved; smoothing alone hardly moves the smooth modes, the coarse space catches them.
TEST_EACH_BACKEND(two_grid_cycle_converges) {
  const LevelsProblem p = {2, 5, 4, 2, 1, 0.1, true, false};
  TwoGrid t = {.mask = create_mask(&p, p.fine), .coarse_mask = create_mask(&p, p.coarse)};

  CHECK_OK(levels_create(ceed, &p, LEVELS_PLAIN, &t.l));
  t.diagonal = levels_allocate(t.l.num_fine);
  CHECK_OK(assemble_diagonal(t.l.op_fine, t.l.num_fine, t.diagonal));
  t.coarse_matrix = levels_create_matrix(t.l.op_coarse, t.l.num_coarse, t.l.num_coarse);
  constrain(t.l.num_coarse, t.coarse_mask, t.coarse_matrix);

  double with = worst_factor(&t, true), without = worst_factor(&t, false);

  CHECK(with < 0.3, "two-grid cycles reduce the error by %g only", with);
  CHECK(without > 0.8, "smoothing alone reduces it by %g, the test shows nothing", without);
  levels_destroy(&t.l);
  free(t.mask);
  free(t.diagonal);
  free(t.coarse_mask);
  free(t.coarse_matrix);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(prolongation_of_a_polynomial_is_its_interpolant,
                        restriction_is_the_transpose_of_prolongation, all_variants_make_the_same_transfer,
                        restriction_preserves_sums, coarse_operator_is_the_galerkin_product,
                        both_levels_share_the_assembled_qfunction, weights_and_orientations_enter_as_defined,
                        coarse_operators_at_points_are_galerkin_products_too, two_grid_cycle_converges));
}
