// SPDX-License-Identifier: BSD-2-Clause
// A boundary value problem for one unknown, as Ceed objects. Made by `ritz solve`; solving is left to
// RitzSolver, printing to the command.
//
//     poisson     -div grad u              = f
//     helmholtz   -div grad u + lambda u   = f
//     mass                             u   = f      (the L2 projection of f)
//
// in weak form on a space of degree p, integrated with p+2 Gauss points per direction on lines,
// quadrilaterals and hexahedra, exactly to degree 2p on other shapes; on surfaces and curves with the
// gradient along them. Boundary parts without given values have a vanishing normal derivative. Meshes of
// several shapes have one operator for each block of elements (ritz/mesh.h), all on one L-vector.
#ifndef RITZ_CLI_PROBLEM_H
#define RITZ_CLI_PROBLEM_H

#include <ceed.h>
#include <ritz/mesh.h>
#include <ritz/space.h>

typedef enum { PROBLEM_POISSON, PROBLEM_MASS, PROBLEM_HELMHOLTZ } ProblemKind;

// A scalar function of the position x[3] (0 beyond the mesh's space).
typedef double (*ProblemFunction)(const void *ctx, const double x[3]);

typedef struct {
  Ceed ceed;       // borrowed
  RitzSpace space; // owned, as all that follow
  CeedInt num_blocks;
  CeedElemRestriction *rstr_u, *rstr_x; // [num_blocks]
  CeedVector x;                         // coordinates
  CeedOperator op; // without boundary conditions; a composite if there are several blocks
  ProblemKind kind;
  double lambda;
  CeedInt dim, space_dim, order;
  bool has_directions; // all elements are lines, quadrilaterals or hexahedra
} Problem;

// Starts from zeros; to be destroyed even when the creation fails. The mesh is referenced.
int problem_create(Ceed ceed, RitzMesh mesh, ProblemKind kind, double lambda, CeedInt order,
                   Problem *problem);
void problem_destroy(Problem *problem);

// rhs = integrals of f times the basis functions. `name` begins the message when f is not finite somewhere.
int problem_set_source(const Problem *problem, const char *name, ProblemFunction f, const void *ctx,
                       CeedVector rhs);

// Writes the values of f at the given nodes (nodes == NULL: at all) into u.
int problem_set_nodes(const Problem *problem, const char *name, ProblemFunction f, const void *ctx,
                      int64_t num, const int64_t *nodes, CeedVector u);

// Product of sin(pi x_c) over the dimensions of space, *(const CeedInt *)ctx of them.
double problem_sine(const void *ctx, const double x[3]);
// The source that has it as solution is this multiple of it.
double problem_sine_factor(const Problem *problem);
// L2 norm of u minus it, and of the gradient of the difference, by p+3 Gauss points per direction,
// exactly to degree 2p+4.
int problem_sine_errors(const Problem *problem, CeedVector u, double *l2, double *h1);

#endif
