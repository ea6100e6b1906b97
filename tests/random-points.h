// SPDX-License-Identifier: BSD-2-Clause
// Random operators at points and their dense matrices, put together from the definition: the polynomial of
// degree Q_1d - 1 through a basis' values at its quadrature points, evaluated at the points of each element
// by Lagrange's formula. Called by tests of operators at points; the QFunction is RandomAffine.
#ifndef RITZ_TESTS_RANDOM_POINTS_H
#define RITZ_TESTS_RANDOM_POINTS_H

#include "tests/random-context.h"
#include "tests/tap.h"

enum { POINTS_MAX_1D = 8, POINTS_MAX_SPACES = 2 * RANDOM_MAX_FIELDS };

// What may be drawn.
typedef struct {
  CeedInt num_active_in, num_active_out; // at least so many
  bool is_linear;                        // passive inputs act as coefficients only
  bool is_nodal;                         // active fields live on nodes
  bool is_on_points;                     // active fields live on the points
  bool copies_inputs;                    // active outputs are the active inputs: spaces and modes
} PointsOptions;

// A restriction with a tensor basis, or one to the points.
typedef struct {
  CeedElemRestriction rstr; // owned
  CeedBasis basis;          // owned; CEED_BASIS_NONE on points
  bool is_on_points;
  CeedInt num_comp, comp_stride, P_1d, Q_1d, elem_size;
  CeedSize l_size;
  CeedInt *offsets;                                                   // owned, [num_elem][elem_size]
  double q_ref[POINTS_MAX_1D], interp[POINTS_MAX_1D * POINTS_MAX_1D]; // [Q_1d], [Q_1d][P_1d]
} PointsSpace;

typedef struct {
  char name[24];
  CeedEvalMode mode;
  int space;          // number; -1: weights
  CeedInt size;       // scalars per point
  bool is_active;     // not passive, not a weight
  CeedVector passive; // owned, NULL unless passive
  double *values;     // owned, of a passive input
} PointsField;

// Where an output goes. matrix [length][input_size + 1]: the last column does not depend on the input.
typedef struct {
  int field;         // of a passive output; -1: the active output
  CeedSize length;   // rows
  double *matrix;    // owned
  double *magnitude; // owned, the same with all factors and terms replaced by their absolute values
} PointsTarget;

typedef struct {
  Ceed ceed; // borrowed
  CeedOperator op;
  CeedQFunctionContext qf_context;
  RandomContext context;

  CeedInt dim, num_elem, num_points, max_points;
  CeedInt *lists; // owned: offsets of the at-points restrictions
  double *x;      // owned, [num_points][dim]
  CeedElemRestriction rstr_points;
  CeedVector coords;

  int num_in, num_out, num_spaces;
  PointsField in[RANDOM_MAX_FIELDS], out[RANDOM_MAX_FIELDS];
  PointsSpace spaces[POINTS_MAX_SPACES];
  CeedSize input_size, output_size; // 0: no active field
  int num_targets;
  PointsTarget targets[RANDOM_MAX_FIELDS + 1];
} PointsOperator;

// Draws an operator and assembles it. Returns a code of the library; *r is to be destroyed in any case.
int points_operator_create(Ceed ceed, const PointsOptions *options, uint64_t *seed, PointsOperator *r);
void points_operator_destroy(PointsOperator *r);

// y [length] = matrix x of a target. Returns a bound for the rounding errors of its entries.
double points_target_apply(const PointsOperator *r, const PointsTarget *target, const double *x, double *y);
// The same for one entry of the matrix.
double points_entry_tolerance(const PointsOperator *r, const PointsTarget *target);

// One line that tells what was drawn. The next call overwrites it.
const char *points_operator_describe(const PointsOperator *r);

// Value of polynomial number k through n nodes at x, or its derivative.
double points_lagrange(int n, const double *nodes, int k, bool derivative, double x);

#endif
