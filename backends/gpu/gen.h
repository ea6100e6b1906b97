// SPDX-License-Identifier: BSD-2-Clause
// Fused kernels of /gpu/*/gen: what gen.c (applies), diagonal.c (diagonals) and tune.c (faster ones) share.
#ifndef RITZ_BACKENDS_GPU_GEN_H
#define RITZ_BACKENDS_GPU_GEN_H

#include "backends/gpu/context.h"
#include "jit/hash.h"
#include "plan/gpu.h"
#include "plan/route.h"

typedef struct RitzGpuDiagonalKernel RitzGpuDiagonalKernel; // diagonal.c
typedef struct RitzGpuEnergyKernel RitzGpuEnergyKernel;     // energy.c
typedef struct RitzGpuManyKernel RitzGpuManyKernel;         // many.c
typedef struct RitzGpuAtPointsKernel RitzGpuAtPointsKernel; // at-points.c

// A choice that was measured, or the fact that none was.
typedef struct {
  RitzHash key;     // of plan, model's target and QFunction that the choice is for
  int64_t number;   // counts the measurements of this process; 0: another one has made it, or none is made
  bool is_measured; // else the model chooses
  RitzGpuChoice choice;
  RitzOperatorRoute route; // that was the fastest with it; AUTO: the model chooses
} RitzGpuTuning;

// A kernel of a plan: op->data that of the apply.
typedef struct {
  CeedOperator op; // borrowed: whose kernel it is
  RitzPlan *plan;  // owned; NULL: none can be made
  RitzGpuTarget *target;
  RitzGpuTuning tuning;
  const char *reason;                  // NULL: there is such a kernel; else why not (static)
  RitzOperatorRoute route, asked;      // of applies: never AUTO; op->route that it was chosen for
  const char *route_reason;            // why this one (static)
  const char *dense_reason;            // not NULL: why vector bases do not go by lines but are dense (static)
  char *text;                          // owned
  RitzGpuProgram program;              // counted
  RitzDeviceKernel kernel;             // of the program
  RitzDeviceReplay replay;             // owned
  RitzDeviceArg *args;                 // owned: number of elements, context, target->args
  void **arrays;                       // owned, of the plan's spaces: the L-vectors during an apply
  size_t e_bytes;                      // of all E-vectors of outputs
  size_t context_bytes;                // that the kernel was made for
  bool is_writable;                    // the context, likewise
  RitzGpuDiagonalKernel *diagonal;     // owned, of the apply's; NULL: none was asked for yet
  RitzGpuDiagonalKernel *point_blocks; // likewise; blocks of one component are the diagonal
  RitzGpuEnergyKernel *energy;         // likewise
  RitzGpuManyKernel *many[2];          // likewise: for two vectors, for more
  RitzGpuAtPointsKernel *at_points;    // likewise, of an operator at points, which has nothing else
} RitzGpuOperator;

// op->data is made on first use, and again when the context of the QFunction has another size.
int ritz_gpu_gen_prepare(CeedOperator op, RitzGpuOperator **made);
bool ritz_gpu_gen_is_current(CeedOperator op);        // neither is needed
RitzGpuMachine ritz_gpu_gen_machine(CeedOperator op); // machine.c: for its context, as it is now

// A kernel of the apply with other choices, which the caller owns: its text, program, and the rest (load).
// choice NULL: what was measured, else the model's. With a reason there is no text.
int ritz_gpu_gen_describe(CeedOperator op, const RitzGpuChoice *choice, RitzGpuOperator **g);
int ritz_gpu_gen_compile(Ceed ceed, CeedOperator op, RitzGpuOperator *g); // `ceed` gets the messages
int ritz_gpu_gen_begin(CeedOperator op, RitzGpuOperator *g);              // ahead: by another thread
bool ritz_gpu_gen_is_pending(const RitzGpuOperator *g);                   // has a text and no kernel yet
int ritz_gpu_gen_apply_kernel(CeedOperator op, RitzGpuOperator *g, CeedVector in, CeedVector out,
                              RitzApplyMode mode);
void ritz_gpu_gen_free(Ceed ceed, RitzGpuOperator **g); // NULL is fine

// Loads the kernel named `kernel`: compiles g->text unless g->program is there, looks the kernel up, fills
// its arguments from plan, target and the context's fields of g.
int ritz_gpu_gen_load(CeedOperator op, RitzGpuOperator *g, const char *kernel);
// Frees all members but plan and target.
void ritz_gpu_gen_release(Ceed ceed, RitzGpuOperator *g);

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

// prepare.c: compiles the texts of all these (NULL: left out) at the same time. Those that fail have no
// program.
int ritz_gpu_gen_compile_all(Ceed ceed, CeedInt num, RitzGpuOperator **kernels);

// Bytes of an output's E-vector, whose entries are those of its L-vector; from that into the L-vector.
size_t ritz_gpu_gen_e_vector_bytes(const RitzGpuOperator *g, int s);
int ritz_gpu_gen_sum_output(const RitzGpuOperator *g, int s, const void *e_vec, void *array);

// many.c
void ritz_gpu_many_destroy(Ceed ceed, RitzGpuManyKernel **many);

// energy.c
void ritz_gpu_energy_destroy(Ceed ceed, RitzGpuEnergyKernel **energy);

// at-points.c: *reason (static) says why an operator at points is not fused, and nothing was done; NULL: it
// is.
void ritz_gpu_at_points_destroy(Ceed ceed, RitzGpuAtPointsKernel **kernel);
int ritz_gpu_at_points_apply(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode,
                             const char **reason);
int ritz_gpu_at_points_explain(CeedOperator op, FILE *stream, const char **reason);
int ritz_gpu_at_points_source(CeedOperator op, const char **source);

// diagonal.c
void ritz_gpu_diagonal_destroy(Ceed ceed, RitzGpuDiagonalKernel **diagonal);
// *kernel: that of the diagonal or of point blocks, with a text and no program; NULL: there is none to be
// made. `apply`: the operator's, which may be without a program, too.
int ritz_gpu_diagonal_describe(CeedOperator op, bool is_point_block, RitzGpuOperator *apply,
                               RitzGpuOperator **kernel);
// Loads diagonal and point blocks that have a program, drops those that have none.
int ritz_gpu_diagonal_load(CeedOperator op, RitzGpuOperator *apply);
int ritz_gpu_diagonal_explain(CeedOperator op, FILE *stream);

// ---- tune-store.c ----
// Looks up the choice measured for this plan, the model's target for it, and this source of the QFunction;
// sets the key in any case.
int ritz_gpu_tune_find(CeedOperator op, const RitzPlan *plan, const RitzGpuTarget *target, const char *source,
                       RitzGpuTuning *tuning);
// The same for a key that is known: what this process has found or measured meanwhile.
void ritz_gpu_tune_recall(RitzGpuTuning *tuning);
// Keeps tuning->choice as measured, for this process and, where there is a cache, for later ones; sets the
// number.
int ritz_gpu_tune_keep(CeedOperator op, RitzGpuTuning *tuning);
// Kernels that may be tried for an operator, by RITZ_TUNE: 0 when it is off.
int ritz_gpu_tune_limit(void);

#endif
