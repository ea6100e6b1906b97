// SPDX-License-Identifier: BSD-2-Clause
// Levels for the tests of multigrid (contract in tests/levels.h). Linked into every test program.
#include "tests/levels.h"

#include "tests/grid.h"
#include "tests/reference.h"
#include "tests/tap.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// ---- Making them ----

double *levels_allocate(CeedSize n) { return calloc((size_t)n, sizeof(double)); }

double *levels_allocate_random(CeedSize n, uint64_t *seed) {
  double *values = levels_allocate(n);

  reference_fill_random((size_t)n, values, seed);
  return values;
}

int levels_create_basis(Ceed ceed, const LevelsProblem *p, CeedInt degree, CeedInt Q_1d, CeedBasis *basis) {
  CeedBasis tensor = NULL;
  const CeedScalar *interp = NULL, *grad = NULL;
  CeedElemTopology topology = p->dim == 1   ? CEED_TOPOLOGY_LINE
                              : p->dim == 2 ? CEED_TOPOLOGY_QUAD
                                            : CEED_TOPOLOGY_HEX;
  int ierr = CeedBasisCreateTensorH1Lagrange(ceed, p->dim, p->num_comp, degree + 1, Q_1d, CEED_GAUSS,
                                             p->is_dense ? &tensor : basis);

  if (ierr || !p->is_dense) return ierr;
  ierr = CeedBasisGetInterp(tensor, &interp);
  if (!ierr) ierr = CeedBasisGetGrad(tensor, &grad);
  if (!ierr) {
    ierr = CeedBasisCreateH1(ceed, topology, p->num_comp, CeedIntPow(degree + 1, p->dim),
                             CeedIntPow(Q_1d, p->dim), interp, grad, NULL, NULL, basis);
  }
  CeedBasisDestroy(&tensor);
  return ierr;
}

static int create_fine_operator(Ceed ceed, const LevelsProblem *p, Levels *l) {
  CeedInt num_elem = CeedIntPow(p->n, p->dim);
  double *corners = levels_allocate((CeedSize)num_elem * p->dim * CeedIntPow(2, p->dim));
  const GridElements elements = {p->dim, num_elem, corners};

  grid_corners(p->dim, p->n, p->shift, corners);
  int ierr = grid_create_operator(ceed, &elements, l->Q_1d, p->is_laplacian, l->rstr_fine, l->basis_fine,
                                  &l->op_fine);

  free(corners);
  return ierr;
}

int levels_create_spaces(Ceed ceed, const LevelsProblem *p, Levels *l) {
  *l = (Levels){.Q_1d = p->fine + 2};
  l->num_fine = (CeedSize)p->num_comp * grid_num_nodes(p->dim, p->n, p->fine);
  l->num_coarse = (CeedSize)p->num_comp * grid_num_nodes(p->dim, p->n, p->coarse);
  int ierr = grid_create_restriction(ceed, p->dim, p->n, p->fine, p->num_comp, &l->rstr_fine);

  if (!ierr) ierr = grid_create_restriction(ceed, p->dim, p->n, p->coarse, p->num_comp, &l->rstr_coarse);
  if (!ierr) ierr = levels_create_basis(ceed, p, p->fine, l->Q_1d, &l->basis_fine);
  if (!ierr) ierr = levels_create_basis(ceed, p, p->coarse, l->Q_1d, &l->basis_coarse);
  if (!ierr) ierr = create_fine_operator(ceed, p, l);
  if (!ierr) ierr = CeedVectorCreate(ceed, l->num_fine, &l->p_mult);
  return ierr ? ierr : CeedVectorSetValue(l->p_mult, 1);
}

CeedScalar *levels_interpolation_table(const LevelsProblem *p, bool is_1d) {
  CeedInt P_f = p->fine + 1, P_c = p->coarse + 1, dim = is_1d ? 1 : p->dim;
  CeedInt size = CeedIntPow(P_f, dim) * CeedIntPow(P_c, dim);
  double nodes[REFERENCE_MAX_1D], *interp = levels_allocate(P_f * P_c), *grad = levels_allocate(P_f * P_c);
  double *table = levels_allocate(size);
  CeedScalar *rounded = calloc((size_t)size, sizeof(*rounded));

  reference_quadrature(CEED_GAUSS_LOBATTO, P_f, nodes, NULL);
  reference_lagrange(P_c, P_f, nodes, interp, grad);
  reference_tensor(dim, P_c, P_f, interp, grad, -1, table);
  for (CeedInt i = 0; i < size; i++) rounded[i] = (CeedScalar)table[i];
  free(interp);
  free(grad);
  free(table);
  return rounded;
}

int levels_create_level(const LevelsProblem *p, LevelsVariant variant, Levels *l) {
  CeedScalar *table =
      variant == LEVELS_PLAIN ? NULL : levels_interpolation_table(p, variant == LEVELS_TENSOR_H1);
  int ierr =
      variant == LEVELS_PLAIN
          ? CeedOperatorMultigridLevelCreate(l->op_fine, l->p_mult, l->rstr_coarse, l->basis_coarse,
                                             &l->op_coarse, &l->prolong, &l->restrict_op)
          : (variant == LEVELS_TENSOR_H1
                 ? CeedOperatorMultigridLevelCreateTensorH1
                 : CeedOperatorMultigridLevelCreateH1)(l->op_fine, l->p_mult, l->rstr_coarse, l->basis_coarse,
                                                       table, &l->op_coarse, &l->prolong, &l->restrict_op);

  free(table);
  return ierr;
}

int levels_create(Ceed ceed, const LevelsProblem *p, LevelsVariant variant, Levels *l) {
  int ierr = levels_create_spaces(ceed, p, l);

  return ierr ? ierr : levels_create_level(p, variant, l);
}

void levels_destroy_transfers(Levels *l) {
  CeedOperatorDestroy(&l->op_coarse);
  CeedOperatorDestroy(&l->prolong);
  CeedOperatorDestroy(&l->restrict_op);
}

void levels_destroy(Levels *l) {
  levels_destroy_transfers(l);
  CeedOperatorDestroy(&l->op_fine);
  CeedVectorDestroy(&l->p_mult);
  CeedBasisDestroy(&l->basis_fine);
  CeedBasisDestroy(&l->basis_coarse);
  CeedElemRestrictionDestroy(&l->rstr_fine);
  CeedElemRestrictionDestroy(&l->rstr_coarse);
}

int levels_apply(CeedOperator op, CeedSize n_u, const double *u, CeedSize n_v, double *v) {
  Ceed ceed = CeedOperatorReturnCeed(op);
  CeedVector from = reference_vector(ceed, n_u, u), to = NULL;
  int ierr = CeedVectorCreate(ceed, n_v, &to);

  if (!ierr) ierr = CeedOperatorApply(op, from, to, CEED_REQUEST_IMMEDIATE);
  if (!ierr) reference_values(to, v);
  CeedVectorDestroy(&from);
  CeedVectorDestroy(&to);
  return ierr;
}

double levels_largest(CeedSize n, const double *u) {
  double value = 0;

  for (CeedSize i = 0; i < n; i++) value = fmax(value, fabs(u[i]));
  return value;
}

const char *levels_describe(const LevelsProblem *p) {
  static char text[128];

  snprintf(text, sizeof(text), "dim %d, %d elements per direction, degrees %d and %d, %d components, %s%s",
           (int)p->dim, (int)p->n, (int)p->fine, (int)p->coarse, (int)p->num_comp,
           p->is_laplacian ? "Laplacian" : "mass", p->is_dense ? ", dense" : "");
  return text;
}

double *levels_create_matrix(CeedOperator op, CeedSize rows, CeedSize columns) {
  double *matrix = levels_allocate(rows * columns), *unit = levels_allocate(columns),
         *column = levels_allocate(rows);

  for (CeedSize j = 0; j < columns; j++) {
    unit[j] = 1;
    if (levels_apply(op, columns, unit, rows, column)) column[0] = NAN;
    for (CeedSize i = 0; i < rows; i++) matrix[i * columns + j] = column[i];
    unit[j] = 0;
  }
  free(unit);
  free(column);
  return matrix;
}

void levels_check_transpose(const LevelsProblem *p, const Levels *l) {
  double *P, *R;

  if (l->num_fine > 300) return;
  P = levels_create_matrix(l->prolong, l->num_fine, l->num_coarse);
  R = levels_create_matrix(l->restrict_op, l->num_coarse, l->num_fine);
  for (CeedSize i = 0; i < l->num_fine; i++) {
    for (CeedSize j = 0; j < l->num_coarse; j++) {
      // The same few products, perhaps summed in another order.
      CHECK_NEAR(P[i * l->num_coarse + j], R[j * l->num_fine + i], 16 * p->dim * eps, "entry (%td, %td)", i,
                 j);
    }
  }
  free(P);
  free(R);
}

// The coarse space is part of the fine one and both use the same points: A_c = R A_f P whatever the geometry.
void levels_check_galerkin(const LevelsProblem *p, const Levels *l) {
  uint64_t seed = 6;
  double *u = levels_allocate_random(l->num_coarse, &seed), *direct = levels_allocate(l->num_coarse);
  double *Pu = levels_allocate(l->num_fine), *APu = levels_allocate(l->num_fine),
         *product = levels_allocate(l->num_coarse);

  CHECK_OK(levels_apply(l->op_coarse, l->num_coarse, u, l->num_coarse, direct));
  CHECK_OK(levels_apply(l->prolong, l->num_coarse, u, l->num_fine, Pu));
  CHECK_OK(levels_apply(l->op_fine, l->num_fine, Pu, l->num_fine, APu));
  CHECK_OK(levels_apply(l->restrict_op, l->num_fine, APu, l->num_coarse, product));
  // Terms of R A_f P u have the size of entries of A_f, times the degree squared for the derivatives.
  double tolerance = 200 * p->dim * p->fine * p->fine * eps * levels_largest(l->num_fine, APu);

  for (CeedSize i = 0; i < l->num_coarse; i++) CHECK_NEAR(product[i], direct[i], tolerance, "entry %td", i);
  CHECK(levels_largest(l->num_coarse, direct) > 0, "the operator is not zero");
  free(u);
  free(direct);
  free(Pu);
  free(APu);
  free(product);
}
