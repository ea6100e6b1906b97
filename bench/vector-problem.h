// SPDX-License-Identifier: BSD-2-Clause
// Vector problems: curl curl + mass on Nedelec spaces, div div + mass on Raviart-Thomas spaces, on boxes of
// quadrilaterals or hexahedra. The same operator with 1D tables for each component and direction
// (ritz/basis.h), or with the dense matrices of the same basis. Called by bench/vector.c and by tests.
//
// Component c has its unknowns on a grid over the whole box, `order` to an element along directions where it
// is discontinuous, else one more, of which neighbours share one; numbered lexicographically, one component
// after the other. Signs of nodes change in a pattern, as orientations of edges and faces do.
#ifndef RITZ_BENCH_VECTOR_PROBLEM_H
#define RITZ_BENCH_VECTOR_PROBLEM_H

#include <ceed.h>
#include <stdbool.h>

typedef struct {
  CeedEvalMode mode;   // CEED_EVAL_CURL or CEED_EVAL_DIV
  CeedInt dim, order;  // 2 or 3; 1 or more
  CeedInt Q;           // Gauss points a direction
  CeedInt elements[3]; // of the box
  bool is_dense;       // the basis has matrices
} VectorShape;

// All handles are owned.
typedef struct {
  VectorShape shape;
  CeedInt num_elem, num_nodes, num_points; // the latter two of an element
  CeedInt num_rows, num_factors;           // of a curl or divergence; at a point
  CeedSize dofs;                           // unique
  CeedElemRestriction rstr, rstr_q;
  CeedBasis basis;
  CeedVector factors, u, v; // u, v: of the operator, without values
  CeedOperator op;
} VectorProblem;

// The unit cube: factors of its metric, times the weights. To be destroyed in any case.
int vector_problem_create(Ceed ceed, const VectorShape *shape, VectorProblem *problem);
void vector_problem_destroy(VectorProblem *problem);

// Least costs of an apply, whoever computes it. Flops: contractions by 1D tables, each derivative from the
// values that are common, and 2 for each factor at a point and each off the diagonal once more. Bytes: u
// once, v twice, offsets of 4 bytes and signs of 1 a node, factors.
void vector_problem_costs(const VectorProblem *problem, double *bytes, double *flops);
// Flops of the contractions with dense matrices.
double vector_problem_dense_flops(const VectorProblem *problem);

#endif
