// SPDX-License-Identifier: BSD-2-Clause
// Fused kernels of /gpu/*/gen: one object for all actions of an operator (fused.c), and what the files of its
// actions share.
#ifndef RITZ_BACKENDS_GPU_GEN_H
#define RITZ_BACKENDS_GPU_GEN_H

#include "backends/gpu/context.h"
#include "jit/hash.h"
#include "plan/gpu-at-points.h"
#include "plan/gpu-diagonal.h"
#include "plan/gpu.h"
#include "plan/point-blocks.h"
#include "plan/route.h"

// A choice that was measured, or the fact that none was.
typedef struct {
  RitzHash key;     // of plan, model's target and QFunction that the choice is for
  int64_t number;   // counts the measurements of this process; 0: another one has made it, or none is made
  bool is_measured; // else the model chooses
  RitzGpuChoice choice;
  RitzOperatorRoute route; // that was the fastest with it; AUTO: the model chooses
} RitzGpuTuning;

// Actions of an operator, each with a kernel of its own.
typedef enum {
  RITZ_ACTION_APPLY,
  RITZ_ACTION_DIAGONAL,
  RITZ_ACTION_POINT_BLOCKS, // blocks of one component are the diagonal
  RITZ_ACTION_ENERGY,       // an apply that also gives u . A u
  RITZ_ACTION_TWO,          // an apply to two vectors
  RITZ_ACTION_MANY,         // and to up to RITZ_GPU_MANY
  RITZ_ACTION_AT_POINTS,    // the apply of an operator at points, which has nothing else
  RITZ_NUM_ACTIONS
} RitzGpuAction;

// The kernel of an action: op->data that of the apply, which has the others.
typedef struct RitzGpuOperator {
  RitzGpuAction action;
  CeedOperator op; // borrowed: whose kernel it is
  RitzPlan
      *plan; // of several vectors and of the energy that of the apply, else owned; NULL: none can be made
  RitzGpuTarget *target; // owned
  RitzGpuTuning tuning;
  const char *reason;             // NULL: there is such a kernel; else why not (static)
  RitzOperatorRoute route, asked; // of applies: never AUTO; op->route that it was chosen for
  const char *route_reason;       // why this one (static)
  const char *dense_reason;       // not NULL: why vector bases do not go by lines but are dense (static)
  RitzDiagonalPlan *diagonal;     // owned: of diagonals and point blocks
  RitzGpuDiagonal *device;        // owned, likewise: whose plan and target these are
  RitzBlockNodes nodes;           // of point blocks
  RitzGpuAtPoints *points;        // owned: of an operator at points, without plan and target
  char *text;                     // owned
  RitzGpuKernel kernel;           // owned
  RitzDeviceReplay replay;        // owned
  RitzDeviceArg *args; // owned: number of elements, context, target->args; NULL: it is not loaded yet
  void **arrays;  // owned, of the plan's spaces: the L-vectors during a call; of several vectors likewise
  size_t e_bytes; // of all E-vectors of outputs
  size_t context_bytes;                              // that the kernel was made for
  bool is_writable;                                  // the context, likewise
  struct RitzGpuOperator *actions[RITZ_NUM_ACTIONS]; // owned, of the apply's; NULL: was not asked for yet
} RitzGpuOperator;

// op->data is made on first use, and again when the context of the QFunction has another size.
int ritz_gpu_gen_prepare(CeedOperator op, RitzGpuOperator **made);
int ritz_gpu_gen_begin_operator(CeedOperator op, RitzGpuOperator **made); // the same without its kernel
RitzGpuMachine ritz_gpu_gen_machine(CeedOperator op); // machine.c: for its context, as it is now

// A kernel of the apply with other choices, which the caller owns: its text, and the rest (load).
// choice NULL: what was measured, else the model's. With a reason there is no text.
int ritz_gpu_gen_describe(CeedOperator op, const RitzGpuChoice *choice, RitzGpuOperator **g);
// The kernel of another action, described when it is first asked for: `describe` sets plan, target and text,
// or a reason.
typedef int (*RitzGpuDescribe)(CeedOperator op, const RitzGpuOperator *apply, RitzGpuOperator *g);
int ritz_gpu_gen_action(CeedOperator op, RitzGpuOperator *apply, RitzGpuAction action,
                        RitzGpuDescribe describe, RitzGpuOperator **g);
int ritz_gpu_gen_emit(CeedOperator op, RitzGpuOperator *g); // writes g->text from plan and target
void ritz_gpu_gen_free(Ceed ceed, RitzGpuOperator **g);     // NULL is fine

bool ritz_gpu_gen_is_pending(const RitzGpuOperator *g);      // has a text, and is not loaded yet
int ritz_gpu_gen_begin(CeedOperator op, RitzGpuOperator *g); // by threads of their own
// The kernel, and its arguments from plan, target and the context. Nothing for one that is loaded.
int ritz_gpu_gen_load(CeedOperator op, RitzGpuOperator *g);
// Loads the kernel of another action, which is dropped when that fails: the next call tries again.
int ritz_gpu_gen_load_action(CeedOperator op, RitzGpuOperator *apply, RitzGpuAction action);

int ritz_gpu_gen_apply_kernel(CeedOperator op, RitzGpuOperator *g, CeedVector in, CeedVector out,
                              RitzApplyMode mode);
// The array of a space's vector, in g->arrays.
int ritz_gpu_gen_get_array(RitzGpuOperator *g, int s, CeedVector in, CeedVector out, RitzApplyMode mode);
int ritz_gpu_gen_restore_array(RitzGpuOperator *g, int s, CeedVector in, CeedVector out);
// Launches the kernel on all arrays, after clearing `array` of the vector `cleared`, unless that is NULL.
int ritz_gpu_gen_run(CeedOperator op, RitzGpuOperator *g, CeedVector cleared, void *array);

// route.c: sets g->route, whose plan and reason are made, and what was measured is looked up.
void ritz_gpu_gen_choose_route(CeedOperator op, RitzGpuOperator *g);
// Whether applies of g may take other routes than FUSED: all is in CeedScalar.
bool ritz_gpu_gen_has_routes(const RitzGpuOperator *g);
// The model's guess.
RitzRouteGuess ritz_gpu_gen_guess_route(CeedOperator op, const RitzGpuOperator *g);

// Bytes of an output's E-vector, whose entries are those of its L-vector; from that into the L-vector.
size_t ritz_gpu_gen_e_vector_bytes(const RitzGpuOperator *g, int s);
int ritz_gpu_gen_sum_output(const RitzGpuOperator *g, int s, const void *e_vec, void *array);

// at-points.c: *reason (static) says why an operator at points is not fused, and nothing was done; NULL: it
// is.
int ritz_gpu_at_points_apply(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode,
                             const char **reason);
int ritz_gpu_at_points_explain(CeedOperator op, FILE *stream, const char **reason);
int ritz_gpu_at_points_source(CeedOperator op, const char **source);

// diagonal.c: the kernel of the diagonal or of point blocks, described; NULL: there is none to be made.
int ritz_gpu_diagonal_describe(CeedOperator op, bool is_point_block, RitzGpuOperator *apply,
                               RitzGpuOperator **kernel);
int ritz_gpu_diagonal_explain(CeedOperator op, FILE *stream);

// ---- tune-store.c ----
// Looks up the choice measured for this plan, the model's target for it, and this source of the QFunction;
// sets the key in any case.
int ritz_gpu_tune_find(CeedOperator op, const RitzPlan *plan, const RitzGpuTarget *target, const char *source,
                       RitzGpuTuning *tuning);
// Looks a known key up once more: this process may have measured it meanwhile.
void ritz_gpu_tune_recall(RitzGpuTuning *tuning);
// Keeps tuning->choice as measured, for this process and, where there is a cache, for later ones; sets the
// number.
int ritz_gpu_tune_keep(CeedOperator op, RitzGpuTuning *tuning);
// Kernels that may be tried for an operator, by RITZ_TUNE: 0 when it is off.
int ritz_gpu_tune_limit(void);

#endif
