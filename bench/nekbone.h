// SPDX-License-Identifier: BSD-2-Clause
// `ritz bench --nekbone`: conjugate gradients on Poisson's and Helmholtz' problem on a box, with a known
// solution, under several policies for the geometry; after the benchmark of that name (Fischer & Heisey
// 2013). bake-off.c reads the command line; nekbone-problem.c makes the problem, nekbone.c solves and
// compares, nekbone-report.c prints.
#ifndef RITZ_BENCH_NEKBONE_H
#define RITZ_BENCH_NEKBONE_H

#include <ritz/geometry.h>
#include <ritz/solver.h>

#include "bench/plot.h"
#include "bp/bp.h"
#include "bp/costs.h"

typedef struct {
  bool helmholtz, affine; // else Poisson, else a deformed mesh
  CeedInt num_comp, order;
  CeedInt n;     // elements per direction, or 0:
  CeedSize size; // wanted number of degrees of freedom
  CeedQuadMode quad_mode;
  double lambda, deform;
} NekboneCase;

// Cases, policies and numbers of repetitions; lists are borrowed.
typedef struct {
  size_t num_cases, num_policies[2]; // [affine mesh]
  const NekboneCase *cases;          // those that differ in nothing but the order follow each other
  const RitzGeometryPolicy *policies[2];
  size_t num_variants;
  const RitzCGVariant *variants;
  bool jacobi;
  double rtol;
  CeedInt max_it, repetitions; // 0: at least 2 solves and a quarter of a second
  BpMachine machine;
} NekboneOptions;

enum { NEKBONE_MESSAGE = 240 };

// One policy and variant of a case.
typedef struct {
  NekboneCase problem;
  CeedInt elements[3], Q;
  CeedSize dofs; // constrained ones included
  RitzGeometryPolicy policy, used;
  RitzCGVariant variant; // that ran
  bool jacobi;
  double rtol;
  CeedInt iterations;
  RitzSolverReason reason;
  double l2_error, max_error;
  double seconds_first;    // the first solve: kernels are made, data go to the device
  double seconds;          // of a solve
  double seconds_operator; // of as many applies as the solve has iterations, and nothing else
  Costs costs;             // of an iteration
  BpBound bound;
  double seconds_bound, roofline; // of an iteration, as in bp/bp.h
  double ratio;                   // to the speed of the stored policy, 0: that did not run
  char fault[NEKBONE_MESSAGE];    // what contradicts the first row of the case, or ""
} NekboneRow;

// Called as soon as a row is there.
typedef void (*NekboneReport)(void *ctx, const NekboneRow *row);

// Rows for all cases, policies and variants go to `rows`, [the number of nekbone_count_rows]; *num counts
// those that are there when something fails.
size_t nekbone_count_rows(const NekboneOptions *options);
int nekbone_run(Ceed ceed, const NekboneOptions *options, NekboneReport report, void *ctx, NekboneRow *rows,
                size_t *num);

double nekbone_rate(const NekboneRow *row); // degrees of freedom times iterations a second

// ---- Reports ----

void nekbone_print_heading(FILE *stream);
void nekbone_print_row(FILE *stream, const NekboneRow *row);
void nekbone_print_fault(FILE *stream, const NekboneRow *row); // if there is one
void nekbone_write_json(FILE *stream, const char *program, const char *resource, const BpMachine *machine,
                        size_t num, const NekboneRow *rows);
// Points of a plot for the rows that iterated, no policy twice under two names; returns how many.
size_t nekbone_plot_points(size_t num, const NekboneRow *rows, PlotPoint *points);

#endif
