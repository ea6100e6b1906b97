// SPDX-License-Identifier: BSD-2-Clause
// The backend /cpu/self/gen: every operator one kernel, generated for its sizes, fields and QFunction,
// SIMD across elements, threads over batches of them.
#ifndef RITZ_BACKENDS_CPU_CPU_H
#define RITZ_BACKENDS_CPU_CPU_H

#include "backends/cpu/schedule.h"
#include "backends/cpu/unfused.h"
#include "base/threads.h"
#include "core/core.h"
#include "jit/kernel.h"
#include "kernels/cpu/abi.h"
#include "plan/cpu.h"
#include "plan/point-blocks.h"

extern const RitzBackend ritz_cpu_backend;

// ---- Data of a context: ceed->data ----
typedef struct {
  int num_threads;
  bool is_deterministic; // results do not depend on the number of threads
  bool waits;            // RITZ_WAIT: operators of RITZ_USE_MANY wait for their kernels
  int64_t num_prepared;  // operators so far
  RitzTeam team;
  int64_t work_bytes; // of each thread's scratch, shared by all operators of the context
  char **work;        // owned [num_threads], 64-byte aligned, NULL before the first use
} RitzCpu;

// ---- op->data; of a composite: its RitzCpuApplyHooks, NULL before the first request ----
typedef enum {
  RITZ_PATH_TEXT,      // one kernel, the text of the QFunction inside
  RITZ_PATH_POINTER,   // one kernel that calls the application's function
  RITZ_PATH_UNFUSED,   // the ahead-of-time kernel
  RITZ_PATH_DELEGATED, // the reference backend
} RitzCpuPath;

typedef struct RitzCpuDiagonal RitzCpuDiagonal;
typedef struct RitzCpuMatrix RitzCpuMatrix; // backends/cpu/matrix.h
typedef struct RitzCpuApplyHooks RitzCpuApplyHooks;

// What of an operator has a generated kernel. Element matrices: one for each pair of active fields, in a
// list.
typedef enum {
  RITZ_CPU_APPLY,
  RITZ_CPU_DIAGONAL,
  RITZ_CPU_POINT_BLOCKS, // blocks of one component are the diagonal
  RITZ_NUM_CPU_ACTIONS
} RitzCpuAction;

// One way to run an operator, with all that it takes. Zeros: not planned.
typedef struct {
  RitzCpuPath path;
  bool is_ready;     // can run
  int64_t number;    // once ready, among those of the context, from 1 on: another schedule has another one
  char *reason;      // owned: why the path is not the first one; NULL
  bool is_unchecked; // text and function had no finite results to be compared
  RitzPlan *plan;    // owned; NULL when delegated
  RitzCpuTarget *target;                       // owned; NULL when delegated
  char *text;                                  // owned; NULL without a generated kernel
  RitzJitKernel kernels[RITZ_NUM_CPU_ACTIONS]; // by action; new without a generated kernel
  RitzKernel kernel;                           // of the apply
  RitzSchedule *schedule;                      // owned
  RitzKernelSpace *spaces;                     // owned [num_spaces]; the arrays are set for each apply
  const void **matrices;             // owned [num_matrices]: of the plan or the bases, or copies of these
  float **rounded;                   // owned [num_matrices]: the copies, in another precision; else NULL
  RitzKernelArgs *args;              // owned [threads of the context]
  RitzUnfused unfused;               // for the ahead-of-time kernel: plan and target
  void **zeroed;                     // owned [num_spaces]: outputs that the apply sets to zero; else NULL
  RitzCpuDiagonal *diagonals[2];     // owned: of the diagonal and the point blocks; NULL: not asked for yet
  RitzCpuMatrix *matrices_of_groups; // owned, a list: kernels of element matrices
  int64_t group; // batches that several vectors go through before the next ones come; 0: not asked for yet
} RitzCpuTier;

typedef struct {
  RitzCpuTier generated;    // path UNFUSED, without a plan: no generated kernel will come
  RitzCpuTier ahead;        // by the ahead-of-time kernel; also of diagonals that wait for theirs
  bool is_served_ahead;     // applies are run by `ahead`, for good or until the generated kernel is there
  bool is_cold;             // the generated kernel is not planned so far
  int64_t applies_left;     // of the ahead-of-time kernel before the generated one is begun
  RitzCpuApplyHooks *hooks; // owned; NULL before the first request
} RitzCpuOperator;

static inline bool ritz_cpu_has_generated_kernel(const RitzCpuTier *tier) {
  return tier->plan && tier->path <= RITZ_PATH_POINTER;
}

// Served ahead until a compiler is done.
static inline bool ritz_cpu_is_coming(const RitzCpuOperator *cpu) {
  return cpu->is_served_ahead && ritz_cpu_has_generated_kernel(&cpu->generated);
}

// The tier that runs a prepared operator.
static inline RitzCpuTier *ritz_cpu_tier(CeedOperator op) {
  RitzCpuOperator *cpu = op->data;
  return cpu->is_served_ahead ? &cpu->ahead : &cpu->generated;
}

// prepare.c: operators that are not ready are made so; kernels of all of them are compiled together. `in`
// is the active input, for the first check of the QFunction. Those that need not wait for a compiler get the
// ahead-of-time kernel meanwhile, and count as not ready when theirs is due: when their applies have cost as
// much as a compilation, and when it is there.
int ritz_cpu_prepare(CeedInt num, CeedOperator *ops, CeedVector in);
bool ritz_cpu_is_ready(CeedOperator op);
// As ritz_cpu_prepare of one that has waited for its kernel, whatever its applies have cost; those of
// RITZ_USE_NO_WAIT do not.
int ritz_cpu_prepare_kernel(CeedOperator op, CeedVector in);
// Plans the generated kernel of a prepared operator that is cold.
int ritz_cpu_plan_kernel(CeedOperator op);
// Whether the ahead-of-time kernel may do what is asked for until a generated one is there. The operator is
// planned.
bool ritz_cpu_may_serve_first(CeedOperator op);
// The tier of the ahead-of-time kernel, beside the one that serves; delegated where it cannot be planned.
int ritz_cpu_make_ahead(CeedOperator op, RitzCpuTier **ahead);
// Slot of the backend: kernels of operators that may not be ready afterwards.
int ritz_cpu_operators_prepare(CeedInt num, CeedOperator *ops, const int *wanted, bool in_background);
int ritz_cpu_operator_destroy(CeedOperator op);
int ritz_cpu_warn(CeedOperator op, const char *call, const char *reason, const char *outcome);

// tier.c. plan, plan_unfused: plan and target of a generated kernel, or of the ahead-of-time kernel, whose
// path is set, too; *reason (static): why there is no plan. emit: the text. finish: arguments, schedule and
// scratch, once the code is there; the tier is ready. destroy: all that it owns; the tier is zeros.
int ritz_cpu_tier_plan(CeedOperator op, RitzCpuTier *tier, const char **reason);
int ritz_cpu_tier_plan_unfused(CeedOperator op, RitzCpuTier *tier, const char **reason);
int ritz_cpu_tier_emit(CeedOperator op, RitzCpuTier *tier);
int ritz_cpu_tier_finish(CeedOperator op, RitzCpuTier *tier);
void ritz_cpu_tier_destroy_diagonals(RitzCpuTier *tier);
void ritz_cpu_tier_destroy(RitzCpuTier *tier);
// A text with the QFunction of an operator, for a tier that is planned.
RitzJitSource ritz_cpu_source(CeedOperator op, const RitzCpuTier *tier, const char *text);
// The kernel in a module; NULL: none of our kind.
RitzKernel ritz_cpu_find_kernel(RitzJitModule module, CeedInt lanes);
// Kernels of other kinds than operators': their symbols in a module, the last one a RitzKernelInfo with this
// abi and lanes; `what` for people.
typedef struct {
  const char *what, *kernel, *info;
  int32_t abi, lanes;
} RitzCpuSymbols;
// Makes the code, which may have been begun, and reserves its scratch. *kernel: the symbol, a function; NULL:
// there is none, and the reference backend has been announced.
int ritz_cpu_finish_code(Ceed ceed, const RitzJitOrder *order, const RitzCpuSymbols *symbols, void **kernel);
// Scratch of all threads, for any kernel of the context; the old one stays on failure.
int ritz_cpu_reserve_work(Ceed ceed, int64_t bytes);

// precision.c: operators whose arithmetic, or some vector, is not CeedScalar.
bool ritz_cpu_is_mixed(CeedOperator op);
// Slot of the backend: such an operator is served by kernels that hold the text of the QFunction, or,
// where its arithmetic is CeedScalar, call it; prepares it. What has no such kernel has
// RITZ_PATH_DELEGATED and a reason, and is nothing that this backend runs.
int ritz_cpu_operator_supports_precision(CeedOperator op, CeedVector in, bool *is_supported,
                                         const char **reason);
// Fills the list of matrices that kernels are handed, in the precision of the plan; bytes of copies.
int ritz_cpu_fill_matrices(CeedOperator op, RitzCpuTier *tier);
void ritz_cpu_free_matrices(RitzCpuTier *tier);
double ritz_cpu_rounded_bytes(const RitzPlan *plan);

// environment.c: RITZ_WAIT; what this processor offers arithmetic of a precision, and the variables
// RITZ_LANES, RITZ_QFUNCTION, RITZ_SIMPLE_INPUTS and RITZ_EVEN_ODD allow.
bool ritz_cpu_waits(void);
void ritz_cpu_environment(CeedScalarType precision, RitzCpuMachine *machine, RitzPlanOptions *options);

// function.c: calls the application's function, and the text in a kernel (NULL: none; is_single: compiled
// with float for CeedScalar), on points of the first element with copies of the context.
typedef struct {
  bool agrees;         // in all that could be compared
  bool has_compared;   // some finite results
  bool has_unusual;    // NaN or infinity, in inputs (which were replaced) or results
  bool writes_context; // the application's function or the text
} RitzCpuFunctionCheck;
int ritz_cpu_check_function(CeedOperator op, CeedVector in, RitzQFunction text, bool is_single,
                            CeedInt points_per_call, RitzCpuFunctionCheck *found);

// operator.c
int ritz_cpu_operator_apply(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode);
int ritz_cpu_composite_apply(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode);
// Sub-operators of this context that have elements are planned and compiled together, when they are first
// used with active vectors of these precisions. out NULL: as the input.
int ritz_cpu_prepare_composite(CeedOperator op, CeedVector in, CeedVector out);
// Arrays of all spaces of a prepared operator for these active vectors, in cpu->spaces, and the outputs that
// are zeroed, in cpu->zeroed. *num_held: spaces that hold their arrays, also on failure; these go back.
int ritz_cpu_get_arrays(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode, int *num_held);
int ritz_cpu_restore_arrays(CeedOperator op, CeedVector in, CeedVector out, int num_held);
// A hook of kernels, `data` a RitzCpuZeroing: ranges of outputs right before their first touch.
typedef struct {
  const RitzPlan *plan;
  void *const *arrays; // [num_spaces]; NULL: stays as it is
} RitzCpuZeroing;
void ritz_cpu_zero_range(void *data, int32_t space, int64_t first, int64_t count);
// What a space of a plan gathers: the operator's points, or that of a field; vectors of passive ones.
CeedElemRestriction ritz_cpu_restriction_of(CeedOperator op, const RitzPlanSpace *space);
CeedVector ritz_cpu_vector_of(CeedOperator op, const RitzPlanSpace *space);
// The array of input space s for a kernel of this plan and target.
int ritz_cpu_get_input(const RitzPlan *plan, const RitzCpuTarget *target, int s, CeedVector vec,
                       RitzKernelSpace *kernel);
int ritz_cpu_restore_input(const RitzCpuTarget *target, int s, CeedVector vec, RitzKernelSpace *kernel);

// many.c: slot of the backend; what of a prepared operator it does, for people.
int ritz_cpu_operator_apply_many(CeedOperator op, CeedInt num, const CeedVector *in, const CeedVector *out,
                                 RitzApplyMode mode, bool *is_done);
void ritz_cpu_explain_many(CeedOperator op, FILE *stream);

// delegate.c: the word, or the error, before the reference backend does something
int ritz_cpu_delegate(Ceed ceed, const char *what, const char *reason);

// assembly.c
int ritz_cpu_operator_assemble(CeedOperator op, CeedInt a, CeedInt b, CeedInt first_elem, CeedInt num_elem,
                               CeedSize place, CeedScalar *values);
int ritz_cpu_assembly_prepare(RitzAssembly a, bool *is_supported);
int ritz_cpu_assembly_run(RitzAssembly a, CeedScalar *values);
int ritz_cpu_assembly_destroy(RitzAssembly a);

// matrix.c
void ritz_cpu_matrices_destroy(RitzCpuMatrix **matrices);

// basis-points.c: slot of the backend
int ritz_cpu_basis_apply_at_points(CeedBasis basis, const RitzBasisAction *action, const CeedInt *num_points,
                                   const CeedScalar *x, const CeedScalar *u, CeedScalar *v);

// diagonal.c
int ritz_cpu_operator_assemble_add_diagonal(CeedOperator op, bool is_point_block, void *diagonal);
int ritz_cpu_diagonal_supports_precision(CeedOperator op, bool is_point_block, bool *is_supported);
int ritz_cpu_diagonal_explain(CeedOperator op, FILE *stream); // of a prepared operator
void ritz_cpu_diagonal_destroy(RitzCpuDiagonal **diagonal);
// The text of the diagonal or point blocks of an operator whose generated kernel is planned, which *text's
// owner frees, and the place of its code; *code NULL: there is none to be made.
int ritz_cpu_diagonal_text(CeedOperator op, bool is_point_block, char **text, RitzJitKernel **code);

// point-blocks.c: adds a column, an L-vector of this precision, to blocks [node][num_comp][num_comp].
int ritz_cpu_add_column(Ceed ceed, const RitzBlockNodes *nodes, CeedInt column, CeedScalarType precision,
                        const void *from, void *blocks);

// apply-hooks.c
int ritz_cpu_operator_apply_hooked_prepare(CeedOperator op, CeedVector in, int *num_slots,
                                           const char **reason);
int ritz_cpu_operator_apply_hooked(CeedOperator op, CeedVector in, CeedVector out,
                                   const RitzApplyHooks *hooks);
int ritz_cpu_run_ranges_slots(Ceed ceed, int *num_slots);
int ritz_cpu_run_ranges(Ceed ceed, int64_t n, RitzRangeFunction run, void *data);
// With at least `grain` entries a thread.
int ritz_cpu_run_grained(Ceed ceed, int64_t n, int64_t grain, RitzRangeFunction run, void *data);
void ritz_cpu_apply_hooks_destroy(RitzCpuApplyHooks **hooks);

// patch-sweep.c
int ritz_cpu_patch_sweep_prepare(RitzPatchSweep sweep);
int ritz_cpu_patch_sweep_run(RitzPatchSweep sweep, const void *b, void *x, bool x_is_zero, bool is_reversed);
int ritz_cpu_patch_sweep_destroy(RitzPatchSweep sweep);

// batched.c
int ritz_cpu_batched_prepare(RitzBatched b);
int ritz_cpu_batched_analyze(RitzBatched b, int64_t count, const int32_t *const sizes[3]);
int ritz_cpu_batched_run(RitzBatched b, const RitzBatchedCall *call);
int ritz_cpu_batched_explain(RitzBatched b, FILE *stream);
int ritz_cpu_batched_destroy(RitzBatched b);

// ---- front.c: batches of fronts (core/front.h) ----
int ritz_cpu_front_prepare(RitzFront front);
int ritz_cpu_front_run(RitzFront front, const RitzFrontCall *call);

// vector.c, pass.c
int ritz_cpu_vector_set_value(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar value, void *x);
int ritz_cpu_vector_set_value_strided(Ceed ceed, CeedScalarType precision, CeedSize start, CeedSize stop,
                                      CeedSize step, CeedScalar value, void *x);
int ritz_cpu_vector_copy_strided(Ceed ceed, CeedScalarType precision, CeedSize start, CeedSize stop,
                                 CeedSize step, const void *x, void *y);
int ritz_cpu_vector_set_entries(Ceed ceed, CeedScalarType precision, int64_t num, const int64_t *entries,
                                const CeedScalar *values, double value, void *x);
int ritz_cpu_vector_copy_entries(Ceed ceed, CeedScalarType precision, int64_t num, const int64_t *entries,
                                 const void *x, void *y);
int ritz_cpu_vector_filter(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar threshold, void *x);
int ritz_cpu_vector_norm(Ceed ceed, CeedScalarType precision, CeedSize n, CeedNormType type, const void *x,
                         CeedScalar *result);
int ritz_cpu_vector_scale(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar alpha, void *x);
int ritz_cpu_vector_axpby(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar alpha, CeedScalar beta,
                          const void *x, void *y);
int ritz_cpu_vector_pointwise_mult(Ceed ceed, CeedScalarType precision, CeedSize n, const void *x,
                                   const void *y, void *w);
int ritz_cpu_vector_reciprocal(Ceed ceed, CeedScalarType precision, CeedSize n, void *x);
int ritz_cpu_vector_convert(Ceed ceed, CeedSize n, CeedScalarType from, const void *x, CeedScalarType to,
                            void *y);
int ritz_cpu_vector_pass(Ceed ceed, const RitzPassArrays *arrays, const double *factors, double *sums);

// explain.c
int ritz_cpu_operator_explain(CeedOperator op, FILE *stream);
int ritz_cpu_operator_steps(CeedOperator op, FILE *stream, bool *has_steps);
int ritz_cpu_operator_source(CeedOperator op, const char **source);

// profile.c: of a tier; nothing without a plan.
void ritz_cpu_tier_cost(const RitzCpuTier *tier, RitzOperatorCost *cost);
int ritz_cpu_operator_cost(CeedOperator op, RitzOperatorCost *cost);
int ritz_cpu_limits(Ceed ceed, RitzLimits *limits);

#endif
