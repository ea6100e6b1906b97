// SPDX-License-Identifier: BSD-2-Clause
// One case of `ritz bench --nekbone` as objects of Ceed and Ritz. Made by nekbone-problem.c for nekbone.c.
//
// The domain is the unit cube, its elements the trilinear ones of displaced vertices, or the image of a
// uniform one under a shear x = A X. Component c of the solution is the product of sin(k_d pi X_d), with
// k_d = 1 but for direction c - 1, where it is 2: zero on the boundary. The right-hand side is the mass
// matrix times the source at the nodes.
#ifndef RITZ_BENCH_NEKBONE_PROBLEM_H
#define RITZ_BENCH_NEKBONE_PROBLEM_H

#include "bench/nekbone.h"

typedef struct {
  Ceed ceed;             // borrowed
  const NekboneCase *of; // borrowed
  CeedInt n[3];          // elements per direction
  RitzMesh mesh;         // owned, as all that follow
  RitzGeometry geometry;
  RitzSpace space;
  CeedSize dofs;
  int64_t num_vertices, num_elem;
  RitzElementKind kind; // of most elements
  int64_t num_constraints, *constraints;
  CeedVector exact, source; // at the nodes
} NekboneProblem;

// `problem` starts from zeros but for ceed, of and n; to be destroyed even when the creation fails.
int nekbone_problem_create(NekboneProblem *problem);
void nekbone_problem_destroy(NekboneProblem *problem);

// The operator of the case, or its mass operator without coefficient. *used: what was made of the policy.
int nekbone_create_operator(const NekboneProblem *problem, RitzGeometryPolicy policy, bool mass,
                            CeedOperator *op, RitzGeometryPolicy *used);

// Norms of u minus the solution at the nodes: L2 by the mass operator, and the largest value.
int nekbone_find_errors(const NekboneProblem *problem, CeedOperator mass, CeedVector u, double *l2,
                        double *max);

#endif
