// SPDX-License-Identifier: BSD-2-Clause
// Two p-multigrid levels on a grid of the unit box, for the tests of multigrid: made in every way there is,
// with the two properties that any of them must have.
#ifndef RITZ_TESTS_LEVELS_H
#define RITZ_TESTS_LEVELS_H

#include <ceed.h>
#include <stdint.h>

typedef enum { LEVELS_PLAIN, LEVELS_TENSOR_H1, LEVELS_H1, LEVELS_NUM_VARIANTS } LevelsVariant;

typedef struct {
  CeedInt dim, n, fine, coarse, num_comp; // degrees of the two spaces
  double shift;                           // of the vertices
  bool is_laplacian, is_dense;            // dense: both bases are given by their full matrices
} LevelsProblem;

typedef struct {
  CeedSize num_fine, num_coarse; // L-vectors
  CeedInt Q_1d;
  CeedElemRestriction rstr_fine, rstr_coarse;
  CeedBasis basis_fine, basis_coarse;
  CeedVector p_mult;
  CeedOperator op_fine, op_coarse, prolong, restrict_op;
} Levels;

// Zeros, or random numbers; to be freed with free().
double *levels_allocate(CeedSize n);
double *levels_allocate_random(CeedSize n, uint64_t *seed);
double levels_largest(CeedSize n, const double *u); // magnitude

// Everything but the level itself; the level; both. Destroy also after a failure.
int levels_create_spaces(Ceed ceed, const LevelsProblem *p, Levels *l);
int levels_create_level(const LevelsProblem *p, LevelsVariant variant, Levels *l);
int levels_create(Ceed ceed, const LevelsProblem *p, LevelsVariant variant, Levels *l);
void levels_destroy_transfers(Levels *l); // what levels_create_level has made
void levels_destroy(Levels *l);

int levels_create_basis(Ceed ceed, const LevelsProblem *p, CeedInt degree, CeedInt Q_1d, CeedBasis *basis);
// Lagrange polynomials of the coarse nodes at the fine ones, of one direction or of all; free().
CeedScalar *levels_interpolation_table(const LevelsProblem *p, bool is_1d);

int levels_apply(CeedOperator op, CeedSize n_u, const double *u, CeedSize n_v, double *v); // v = op u
// The matrix [rows][columns] by unit vectors; free().
double *levels_create_matrix(CeedOperator op, CeedSize rows, CeedSize columns);

// Checks of the running test: the restriction is the transposed prolongation (for small problems); the coarse
// operator is the Galerkin product.
void levels_check_transpose(const LevelsProblem *p, const Levels *l);
void levels_check_galerkin(const LevelsProblem *p, const Levels *l);

const char *levels_describe(const LevelsProblem *p); // overwritten by the next call

#endif
