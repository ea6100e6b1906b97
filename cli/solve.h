// SPDX-License-Identifier: BSD-2-Clause
// What the files of `ritz solve` share: its options and the state of a run. solve.c holds the course of the
// command, solve-mesh.c the mesh, solve-data.c formulas and boundary conditions.
//
// Functions return exit codes, after printing what went wrong; those marked so return Ceed codes, whose
// message is stored in the context.
#ifndef RITZ_CLI_SOLVE_H
#define RITZ_CLI_SOLVE_H

#include <ritz.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/expr.h"
#include "cli/problem.h"

enum { EXACT_NONE = -1, EXACT_SINE = 0 };

typedef struct {
  const char *mesh, *source, *ceed, *output;
  int problem; // ProblemKind
  int order, refine, exact, max_it;
  ArgTexts bc;
  double lambda, tol;
  bool jacobi, no_jacobi;
} SolveOptions;

extern const ArgCommand solve_command;

// A formula and where it comes from.
typedef struct {
  const char *option; // "--bc"
  const char *part;   // owned: boundary part, NULL for --source
  const char *text;   // borrowed from argv
  Expr *expr;         // owned
} Formula;

typedef struct {
  SolveOptions options;
  Formula source; // expr == NULL: 0, or the exact solution's
  size_t num_bc;
  Formula *bc; // owned, [num_bc]
  Ceed ceed;   // owned, as all that follow
  RitzMesh mesh;
  CeedInt dim, space_dim;
  Problem problem;
  int64_t num_nodes, num_constraints;
  int64_t *constraints;
  CeedVector u, rhs;
} Solve;

// ---- solve-mesh.c ----
int solve_open_mesh(Solve *s);
int solve_show_mesh(const Solve *s); // Ceed code

// ---- solve-data.c ----
int solve_parse_formulas(Solve *s);   // before the mesh is known
int solve_check_data(const Solve *s); // boundary parts, coordinates, solvability
int solve_set_boundary(Solve *s);     // Ceed code: values in u, constraints
int solve_set_source(Solve *s);       // Ceed code: rhs
void solve_show_problem(const Solve *s);
void solve_free_formulas(Solve *s);

#endif
