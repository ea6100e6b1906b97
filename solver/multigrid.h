// SPDX-License-Identifier: BSD-2-Clause
// Inside of multigrid preconditioners: what solver/multigrid*.c share. Level 0 is the coarsest.
#ifndef RITZ_SOLVER_MULTIGRID_H
#define RITZ_SOLVER_MULTIGRID_H

#include <ritz/multigrid.h>

#include "core/core.h"
#include "core/patch-sweep.h"
#include "solver/preconditioner.h"
#include "solver/smoother-model.h"

// Kinds of work, for times.
typedef enum {
  RITZ_MULTIGRID_SMOOTHING,
  RITZ_MULTIGRID_RESIDUAL,
  RITZ_MULTIGRID_TRANSFER, // to and from the level below
  RITZ_MULTIGRID_SOLVE,    // of the coarsest problem
  RITZ_MULTIGRID_NUM_WORKS
} RitzMultigridWork;

typedef struct {
  RitzSystem system;                 // owned: operator, constraints, nullspace
  CeedOperator original;             // counted: that the operator is a copy of; NULL: not kept, or no copy
  CeedOperator prolong, restriction; // counted; NULL on level 0
  RitzPreconditioner smoother;       // counted; of level 0 what solves there
  RitzPatchSweep sweep;              // owned: begins the kernel of patches until they are made; or NULL
  CeedVector b, x;                   // owned; NULL on the finest level, where they are the caller's
  CeedVector r;                      // owned; NULL on level 0
  CeedSize n;
  CeedInt degree; // 0: not known
  int64_t num_elem;
  const char *smoother_name; // static; NULL: the name of the smoother's methods
  bool has_bounds;           // the smoother is a Chebyshev polynomial made here, with
  RitzChebyshevOptions chebyshev;
  double num_applies;     // of the operator in a smoothing action, from zero one less
  double inverse_applies; // the smoother's own operators in a smoothing action, in applies by their flops
  int64_t stored_bytes;   // passive inputs of the operator that finer levels do not have
  bool is_copy;           // of the caller's operator: these bytes live with the preconditioner
  double seconds[RITZ_MULTIGRID_NUM_WORKS]; // while a timing table is kept
  RitzProfileRow *rows[RITZ_MULTIGRID_NUM_WORKS];
} RitzCycleLevel;

typedef struct {
  CeedInt num_levels;
  RitzCycleLevel *levels; // owned
  RitzCycle cycle;
  bool is_full, is_reversed, starts_full;
  bool is_start;      // the next application is the first of a solve, by full multigrid
  CeedInt num_smooth; // smoothing actions before and after a correction
  int64_t num_calls;
  RitzSmootherChoice choice;
} RitzMultigrid;

// Arguments of a creation, and what has been made so far.
typedef struct {
  Ceed ceed;
  const char *call; // for messages
  CeedInt num;
  const RitzMultigridLevel *levels; // the caller's
  const RitzMultigridOptions *options;
  CeedScalarType precision; // of the cycle
  RitzMultigrid *mg;
  bool is_symmetric;
  RitzSmootherKind kind;  // the options', or what was chosen for MEASURED
  CeedInt steps;          // likewise, of the Chebyshev polynomial; 0: the default
  CeedInt schwarz_degree; // likewise
} RitzMultigridSetup;

// Does RitzPreconditionerCreateMultigrid; messages have the name of the function that was called.
int ritz_multigrid_create(Ceed ceed, const char *call, CeedInt num_levels, const RitzMultigridLevel levels[],
                          const RitzMultigridOptions *options, RitzPreconditioner *pc);
// Smoothers (solver/multigrid-smoothers.c). The kind for a level of this degree; its creation, and of one for
// level `level` by kind and steps; a caller's own is taken as it is.
RitzSmootherKind ritz_multigrid_smoother_kind(const RitzMultigridSetup *s, CeedOperator op, CeedInt degree);
int ritz_multigrid_create_smoother(const RitzMultigridSetup *s, CeedInt level);
// Begins the kernels of all levels' smoothers, patches and passes over vectors, beside what follows; gives
// back what the first one keeps for that.
int ritz_multigrid_begin_smoothers(const RitzMultigridSetup *s);
int ritz_multigrid_end_smoothers(const RitzMultigridSetup *s);
int ritz_multigrid_create_coarse_solver(const RitzMultigridSetup *s); // in its place on level 0
// A smoother of this kind (PATCHES: the exact ones) for a level; *is_served false, and nothing reported: it
// is not for its mesh or operator.
int ritz_multigrid_try_smoother(const RitzMultigridSetup *s, CeedInt level, RitzSmootherKind kind,
                                bool *is_served);
// Choose the smoother that RITZ_SMOOTHER_MEASURED stands for (solver/smoother-choice.c): s->kind, s->steps
// and s->schwarz_degree by the model, before levels have operators; what serves, and what measuring says,
// when they have. The finest level has its smoother afterwards if it was made on the way.
int ritz_multigrid_predict_smoother(RitzMultigridSetup *s);
int ritz_multigrid_choose_smoother(RitzMultigridSetup *s);
// What AUTO stands for: likewise, where there are several components.
int ritz_multigrid_choose_coupled(RitzMultigridSetup *s);
extern double ritz_smoother_min_work[2]; // host, device: what is worth measuring; tests lower it
// z := the result of a cycle, or of full multigrid, for r (solver/multigrid-cycle.c).
int ritz_multigrid_apply(RitzPreconditioner pc, CeedVector r, CeedVector z);
// z := one cycle for r; both of the levels' precision.
int ritz_multigrid_run(RitzMultigrid *mg, CeedVector r, CeedVector z);
// Table of levels, and the bytes that live with the preconditioner (solver/multigrid-view.c).
int ritz_multigrid_view(RitzPreconditioner pc, FILE *stream, int indent);
int64_t ritz_multigrid_bytes(RitzPreconditioner pc);
int ritz_multigrid_count_stored(RitzMultigrid *mg); // stored_bytes of all levels
const char *ritz_multigrid_work_name(RitzMultigridWork work);

#endif
