// SPDX-License-Identifier: BSD-2-Clause
// Operators of a problem that run once or a few times, between nodes and the quadrature points of a block of
// elements or facets: their points, their fields. Used by problem-*.c.
#ifndef RITZ_CLI_PROBLEM_POINTS_H
#define RITZ_CLI_PROBLEM_POINTS_H

#include <ritz/facet.h>

#include "cli/problem.h"

// Context of all functions at points. The known solution is `amplitude` times s = product of sin(pi x_c), in
// every component; its source in component c is `a` times s plus `b` times the sum over d != c of the
// derivatives of s along c and d; axisymmetric: and the terms of problem-exact.c, in which k or mu is `ring`.
typedef struct {
  double amplitude, a, b, ring;
} PointsKnown;

// A QFunction of qfunctions.h and where its text is.
typedef struct {
  CeedQFunctionUser function;
  const char *source;
} PointsFunction;
extern const PointsFunction points_sine_source, points_sine_errors, points_gradient;

// The quadrature of a block of elements, or of facets (ritz/facet.h).
typedef struct {
  CeedInt dim;                        // of elements or facets
  int64_t first;                      // number of the block's first element in the mesh
  const int64_t *elements;            // [num_elem], borrowed: those of facets; NULL: first, first + 1, ...
  CeedInt num_elem, num;              // elements or facets; points of each
  CeedElemRestriction rstr_x, rstr_u; // owned, as all that follow
  CeedBasis basis_x, basis_u;
  CeedVector x; // coordinates
  CeedElemRestriction rstr_weights;
  CeedVector weights; // axisymmetric: times the circumference 2 pi x; else NULL
} Points;

// Quadrature of loads; of errors, more points than the solution was found with.
typedef enum { POINTS_LOADS, POINTS_ERRORS } PointsRule;
int points_create(const Problem *problem, CeedInt block, PointsRule rule, Points *points);
// Exact for polynomials of the problem's degree times functions of the space on straight facets.
int points_create_facets(const Problem *problem, RitzFacets facets, CeedInt block, Points *points);
void points_destroy(Points *points);
// A field of num_comp values at the points, interlaced: value c of point i of element e at
// (e * points + i) * num_comp + c. Also makes its vector.
int points_create_field(const Problem *problem, const Points *points, CeedInt num_comp,
                        CeedElemRestriction *rstr, CeedVector *vector);
// The output of integrals over single elements: value c of element e at e * num_comp + c. A basis of one node
// that is 1 at all points of the element adds up what a function gives there.
int points_create_sums(const Problem *problem, const Points *points, CeedInt num_comp,
                       CeedElemRestriction *rstr, CeedBasis *basis, CeedVector *vector);
// Positions of all points, interlaced.
int points_compute_positions(const Problem *problem, const Points *points, CeedElemRestriction rstr,
                             CeedVector positions);
// Whether the points lie on facets that have an outward normal, and it.
bool points_have_normals(const Problem *problem, const Points *points);
int points_compute_normals(const Problem *problem, const Points *points, CeedElemRestriction rstr,
                           CeedVector normals);

// One field of an operator: what the QFunction and the operator need to know about it.
typedef struct {
  const char *name;
  CeedInt size;
  CeedEvalMode mode;
  CeedElemRestriction rstr;
  CeedBasis basis;
  CeedVector vector;
} PointsField;

PointsField points_weights(const Points *points);
PointsField points_position(const Problem *problem, const Points *points);
PointsField points_geometry(const Problem *problem, const Points *points); // the gradient of the coordinates
PointsField points_test(const Problem *problem, const Points *points);     // the output of a right-hand side

// Makes the QFunction and the operator with the first num_in fields as inputs, the others as outputs. known:
// NULL where the function has no use for it.
int points_create_operator(const Problem *problem, const Points *points, const PointsKnown *known,
                           PointsFunction function, int num_in, int num_out, const PointsField *fields,
                           CeedOperator *op);

// rhs += integrals of the values [elements][points][num_comp] at the points times the basis functions.
int points_add_values(const Problem *problem, const Points *points, CeedElemRestriction rstr,
                      CeedVector values, CeedVector rhs);
// measures: at the points, w det times the values of one component; both fields of their restrictions.
int points_measure(const Problem *problem, const Points *points, CeedElemRestriction rstr, CeedVector values,
                   CeedElemRestriction rstr_measures, CeedVector measures);
// values [elements][points][num]: components 0 .. num - 1 of f; rstr, values: a new field. `name` begins the
// message when f is not finite somewhere.
int points_evaluate(const Problem *problem, const Points *points, const char *name, ProblemFunction f,
                    const void *ctx, CeedInt num, CeedElemRestriction *rstr, CeedVector *values);
// The integrals of a function's values, as of points_add_values.
int points_add_source(const Problem *problem, const Points *points, const char *name, ProblemFunction f,
                      const void *ctx, CeedVector rhs);
// On facets: rhs += integrals of - p n . v, where component 0 of f is the pressure p.
int points_add_pressure(const Problem *problem, const Points *points, const char *name, ProblemFunction f,
                        const void *ctx, CeedVector rhs);

// Evaluates component c; not a finite number is an error.
int problem_evaluate(const Problem *problem, const char *name, ProblemFunction f, const void *ctx,
                     const ProblemPoint *point, CeedInt component, CeedScalar *value);

#endif
