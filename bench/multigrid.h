// SPDX-License-Identifier: BSD-2-Clause
// `ritz bench --multigrid`: Poisson's equation on the unit cube by multigrid, for degrees, sizes, smoothers,
// precisions of the cycle and solvers; after Cui, Grosse-Bley, Kanschat, Strzodka 2024. multigrid.c reads the
// command line and goes through the cases; multigrid-problem.c makes the problem and its levels,
// multigrid-solve.c the cycles, solves and times, multigrid-report.c prints.
#ifndef RITZ_BENCH_MULTIGRID_H
#define RITZ_BENCH_MULTIGRID_H

#include <ritz/multigrid.h>
#include <ritz/solver.h>

#include "bench/plot.h"
#include "bp/bp.h"
#include "cli/problem.h"

// ---- What is solved, and how ----

// -Laplace u = f, u = 0 on the boundary; n^3 hexahedra of one degree; deform: amplitude of bp_deform.
typedef struct {
  CeedInt degree, n;
  double deform;
} MgCase;

// In the order of their words on the command line.
typedef enum {
  MG_PATCHES,          // vertex patches, one after the other, lifted form
  MG_PATCHES_RESIDUAL, // the same with the residual of all rows
  MG_PATCHES_BOUNDARY, // with the residual for zeros inside
  MG_COLOURED,         // the same by the true operator, with separable approximations of the patches
  MG_ADDITIVE,         // Chebyshev over additive patches
  MG_CELLS,            // Chebyshev over elements
  MG_OVERLAPPED,       // Chebyshev over overlapped elements
  MG_JACOBI,           // Chebyshev over Jacobi
  MG_NUM_SMOOTHERS
} MgSmoother;
const char *mg_smoother_name(MgSmoother smoother);
bool mg_smoother_has_steps(MgSmoother smoother); // of a Chebyshev polynomial

typedef enum {
  MG_FLEXIBLE_CG, // with one V-cycle
  MG_V_CYCLES,    // x += V r, from zero
  MG_FULL,        // full multigrid, then V-cycles, of which those after the start count
  MG_NUM_METHODS
} MgMethod;

// Choices in which the rows of a case differ.
typedef struct {
  MgSmoother smoother;
  CeedScalarType precision; // of the cycle
  MgMethod method;
} MgVariant;

typedef enum { MG_ONE, MG_SINE } MgSource; // f = 1; f = -Laplace of the product of sines

typedef struct {
  MgSource timed;
  double tol;          // |r| <= tol |b|
  CeedInt max_it;      // of the solver
  CeedInt steps;       // of Chebyshev polynomials; 0: 3 over Jacobi, else 2
  CeedInt repetitions; // 0: at least 3 and half a second
  bool verbose;        // levels are shown
} MgOptions;

enum { MG_MESSAGE = 400 };

// Times of making a case, one for all of its rows.
typedef enum {
  MG_TIME_MESH,      // meshes of all levels, and which of their elements are affine
  MG_TIME_SPACES,    // numbering, restrictions, constraints, coordinates
  MG_TIME_OPERATORS, // of all levels, in both precisions where that is wanted
  MG_TIME_TRANSFERS, // between the levels
  MG_TIME_DATA,      // right-hand sides
  MG_NUM_TIMES
} MgTime;
const char *mg_time_name(MgTime time);

typedef struct {
  MgCase of;
  MgVariant variant;
  CeedInt steps; // 0: there is no polynomial
  CeedInt num_levels;
  CeedSize dofs, free_dofs;
  CeedInt iterations, iterations_sine; // for f = 1 and for the sine
  RitzSolverReason reason;             // for f = 1; the sine's where that alone has failed
  double residual;                     // |r| / |b| at the end, f = 1
  double l2_error;                     // of the sine
  double seconds_case[MG_NUM_TIMES];
  double seconds_smoother; // smoothers, coarse problem and a rehearsal of the cycle; kernels among them
  double seconds_first;    // the first solve
  double seconds;          // of a solve for the timed source, the median
  int repetitions;
  double cycle_bytes;  // that live with the preconditioner, but for operators and transfers
  double memory_bytes; // live while it solves: on the device, or of the process
  double host_bytes;   // of the process
  char fault[MG_MESSAGE];
} MgRow;

// ---- The problem (multigrid-problem.c) ----

// Levels of one precision.
typedef struct {
  CeedInt num;
  RitzMultigridLevel *levels; // owned with what they name, but for constraints, spaces and smoothers
} MgLevels;

typedef struct {
  Ceed ceed; // borrowed
  MgCase of;
  RitzMesh mesh; // owned, as all that follow
  Problem problem;
  RitzHierarchy hierarchy;
  CeedInt num_levels;
  RitzIndices *constraints; // [num_levels]
  MgLevels doubles, floats; // empty where they are not wanted
  CeedVector rhs, u;        // zero where u is given
  double norm;              // of rhs
  double seconds[MG_NUM_TIMES];
} MgProblem;

// `problem` starts from zeros; to be destroyed even when the creation fails.
int mg_problem_create(Ceed ceed, const MgCase *of, bool wants_double, bool wants_float, MgProblem *problem);
void mg_problem_destroy(MgProblem *problem);
// Finds the fastest kernels of the finest level's operators, of the solver's and of the cycles'.
int mg_problem_tune(MgProblem *problem);
int mg_problem_set_source(MgProblem *problem, MgSource source);
// L2 norm of u minus the product of sines.
int mg_problem_find_error(const MgProblem *problem, double *error);

// ---- Solves (multigrid-solve.c) ----

// Rows [num] of a case, one for each variant; they are measured by turns. A variant that cannot be had has a
// fault, and iterations -1.
int mg_solve(MgProblem *problem, const MgOptions *options, size_t num, const MgVariant *variants,
             MgRow *rows);
// Memory of the process that is live; 0: not known.
double mg_host_bytes(void);

// ---- Reports (multigrid-report.c) ----

void mg_print_heading(FILE *stream);
void mg_print_row(FILE *stream, const MgRow *row);
void mg_print_set_up(FILE *stream, const MgRow *row); // a line for the case of the row
void mg_write_json(FILE *stream, const char *program, const char *resource, const BpMachine *machine,
                   const MgOptions *options, size_t num, const MgRow *rows);
// Points for the rows that were timed: error over time to solution; returns how many.
size_t mg_plot_points(size_t num, const MgRow *rows, PlotPoint *points);

#endif
