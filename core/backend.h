// SPDX-License-Identifier: BSD-2-Clause
// The table of functions that a backend fills. core/ checks arguments, counts references, keeps
// representations and fields, and then calls one of these. Numbers are computed behind this table only.
//
// Rules for every slot:
//  - arguments are valid: sizes, locks and modes were checked; a slot reports only its own failures;
//  - raw arrays are in the memory type `mem_type` of the backend; read-only arrays are never written, not
//  even for a moment;
//  - an empty slot is served by `fallback` (see ritz_backend_complete); the reference backend fills all but
//  the optional ones.
#ifndef RITZ_CORE_BACKEND_H
#define RITZ_CORE_BACKEND_H

#include <ceed.h>
#include <ceed/backend.h>
#include <ritz/assembly.h>
#include <ritz/batched.h>
#include <ritz/device.h>
#include <ritz/front.h>
#include <ritz/operator.h>
#include <ritz/vector.h>

#include "base/ranges.h"

// Where a vector's or context's data live. HOST and PACKED are kept by core/, DEVICE by the backend's rep_*
// slots.
typedef enum {
  RITZ_REP_HOST,
  RITZ_REP_DEVICE,
  RITZ_REP_PACKED, // a backend's own order for data that only its kernels read and write
  RITZ_NUM_REPS
} RitzRepKind;

// How an operator treats its outputs before the element contributions are added.
typedef enum {
  RITZ_APPLY_OVERWRITE,  // active and passive outputs are zeroed
  RITZ_APPLY_ADD,        // nothing is zeroed
  RITZ_APPLY_ADD_ACTIVE, // passive outputs are zeroed
} RitzApplyMode;

// The part of a restriction that acts, and how.
typedef struct {
  CeedTransposeMode t_mode;
  CeedInt first_block, num_blocks; // blocks of block_size elements (1 unless blocked)
  bool use_signs; // false: signs of oriented restrictions are +1, curl-oriented entries are taken absolutely
  bool use_orients; // false: orientations are ignored altogether
} RitzRestrictionAction;

typedef struct {
  CeedInt num_elem;
  CeedTransposeMode t_mode;
  CeedEvalMode eval_mode;
  bool add; // transpose only: sum into the output instead of overwriting it
} RitzBasisAction;

// The least that an apply of an operator has to do and to move; zeros: not known.
typedef struct {
  double flops, bytes;
  bool is_single;   // the flops are in float, whatever CeedScalar is
  const char *note; // static: how it runs until its kernel is there; NULL: as it always will
} RitzOperatorCost;

// The most that a context can do, per second, where it computes; zeros: not known.
typedef struct {
  double flops, bandwidth; // bytes
  double single_flops;     // in float; 0: not known
  double cache_bytes;      // what fits into that much is not bound by the bandwidth; 0: not known
} RitzLimits;

typedef struct RitzProfileCall RitzProfileCall; // core/profile.h
typedef struct RitzApplyHooks RitzApplyHooks;   // core/apply-hooks.h
typedef struct RitzPass RitzPass;               // core/vector-pass.h
typedef struct RitzPassArrays RitzPassArrays;
typedef struct RitzPassForm RitzPassForm;
typedef struct RitzPatchSweep_private *RitzPatchSweep; // core/patch-sweep.h
typedef struct RitzBatchedCall RitzBatchedCall;        // core/batched.h
typedef struct RitzDenseMethods RitzDenseMethods;      // core/dense-solver.h
typedef struct RitzFrontTree RitzFrontTree;            // core/front.h
typedef struct RitzFrontTreeAction RitzFrontTreeAction;
typedef struct RitzFrontCall RitzFrontCall;
typedef struct RitzBackend RitzBackend;
struct RitzBackend {
  const char *name;            // canonical resource
  const RitzBackend *fallback; // serves empty slots; NULL: none
  CeedMemType mem_type;        // preferred memory
  bool is_deterministic;
  bool pads_points; // E-vectors at points give every element as many places as the longest has, as on GPUs
  // NULL when usable on this machine, else the reason in one line (static string)
  const char *(*unusable)(void);

  // ---- Required in every backend ----
  // Reads options from the resource string (core/registry.c has refused those that the resource has not),
  // makes per-context data.
  int (*ceed_create)(Ceed ceed, const char *options);
  int (*ceed_destroy)(Ceed ceed);

  // ---- Defaulted ----
  // Layout of E-vectors of a restriction: index = i*layout[0] + c*layout[1] + e*layout[2]. Sizes and, at
  // points, max_points are known, arrays are not. A backend without blocked restrictions refuses them here.
  int (*restriction_layout)(CeedElemRestriction rstr, CeedInt layout[3]);
  // L-vector u -> E-vector v (overwritten), or E-vector u added into L-vector v, both of this precision. The
  // E-vector starts with first_block.
  int (*restriction_apply)(CeedElemRestriction rstr, const RitzRestrictionAction *action,
                           CeedScalarType precision, const void *u, void *v);
  // Layouts of doc/ceed-api.md, Bases.
  int (*basis_apply)(CeedBasis basis, const RitzBasisAction *action, const CeedScalar *u, CeedScalar *v);
  // num_points [num_elem], x reference coordinates; layouts of doc/ceed-api.md, Bases.
  int (*basis_apply_at_points)(CeedBasis basis, const RitzBasisAction *action, const CeedInt *num_points,
                               const CeedScalar *x, const CeedScalar *u, CeedScalar *v);
  // The user's function itself: ctx are the bytes of its context or NULL, arrays have size * Q entries a
  // field.
  int (*qfunction_call)(CeedQFunction qf, void *ctx, CeedInt Q, const CeedScalar *const *in,
                        CeedScalar *const *out);
  // Makes qf->f, qf->code and qf->release_code of a text in memory.
  int (*qfunction_compile)(CeedQFunction qf);
  int (*qfunction_apply)(CeedQFunction qf, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out);
  // Vectors are locked and checked by the slot through the CeedVector functions; lengths were checked.
  int (*operator_apply)(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode);
  // Assembly, of operators in CeedScalar alone unless said otherwise. D[o][i] is the derivative of active
  // output scalar o by active input scalar i at a point; it comes from the cache in op->qf_data when that is
  // to be reused, else it is evaluated. op->assembly_data exists. values: L-vector of `rstr`, in which
  // D[o][i] is component i*N_out + o of a point; every entry is stored.
  int (*operator_assemble_qfunction)(CeedOperator op, CeedElemRestriction rstr, CeedScalar *values);
  // Adds the diagonal, or blocks [node][c_out][c_in], to the active L-vector's entries, which have the
  // precision op->active_precision[1].
  int (*operator_assemble_add_diagonal)(CeedOperator op, bool is_point_block, void *diagonal);
  // Element matrices of input group a and output group b for the elements first_elem .. first_elem + num_elem
  // - 1, one after the other, each in the order of doc/ceed-api.md, Assembly: c_in, c_out, output node, input
  // node; from values[place] on, which devices may not name by a pointer.
  int (*operator_assemble)(CeedOperator op, CeedInt a, CeedInt b, CeedInt first_elem, CeedInt num_elem,
                           CeedSize place, CeedScalar *values);
  // Optional, matrices in a fixed pattern (core/assembly-pattern.h). Prepare comes before every run: whether
  // run serves all blocks with the backend's own kernels, which are made now, and what else it needs is put
  // into assembly->data; else core/ places the element matrices of the slot above, on the host. run: values
  // [nonzeros] in the backend's memory are overwritten; each is the sum of its contributions, where the
  // context is deterministic in an order that is the same in every run. destroy: the end of assembly->data,
  // where there is some; before that of its operators.
  int (*assembly_prepare)(RitzAssembly assembly, bool *is_supported);
  int (*assembly_run)(RitzAssembly assembly, CeedScalar *values);
  int (*assembly_destroy)(RitzAssembly assembly);

  // Arithmetic on arrays of n entries of this precision; numbers are rounded to it first. Sums are made in
  // double.
  int (*vector_set_value)(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar value, void *x);
  int (*vector_set_value_strided)(Ceed ceed, CeedScalarType precision, CeedSize start, CeedSize stop,
                                  CeedSize step, CeedScalar value, void *x);
  int (*vector_copy_strided)(Ceed ceed, CeedScalarType precision, CeedSize start, CeedSize stop,
                             CeedSize step, const void *x, void *y);
  int (*vector_norm)(Ceed ceed, CeedScalarType precision, CeedSize n, CeedNormType type, const void *x,
                     CeedScalar *norm);
  int (*vector_scale)(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar alpha, void *x);
  int (*vector_filter)(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar threshold, void *x);
  int (*vector_axpby)(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar alpha, CeedScalar beta,
                      const void *x, void *y);
  int (*vector_pointwise_mult)(Ceed ceed, CeedScalarType precision, CeedSize n, const void *x, const void *y,
                               void *w);
  int (*vector_reciprocal)(Ceed ceed, CeedScalarType precision, CeedSize n, void *x);
  // y = x, of another precision.
  int (*vector_convert)(Ceed ceed, CeedSize n, CeedScalarType from, const void *x, CeedScalarType to,
                        void *y);

  // Passes (core/vector-pass.h), n > 0. sums [num_sums], NULL where there are none. By: factors from and sums
  // into scalars, which is memory of the backend; nobody waits.
  int (*vector_pass)(Ceed ceed, const RitzPassArrays *arrays, const double *factors, double *sums);
  int (*vector_pass_by)(Ceed ceed, const RitzPassArrays *arrays, const RitzFactor *factors, double *scalars,
                        CeedInt first_sum);
  // Optional: kernels of passes that the context has not used yet, made side by side.
  int (*passes_prepare)(Ceed ceed, int num, const RitzPassForm *forms);
  // Optional, sweeps over vertex patches (core/patch-sweep.h): begins to make kernels; one sweep, on arrays
  // in the backend's memory, b and x of sweep->length entries; frees sweep->data. Without them the fallback's
  // serve, on the host.
  int (*patch_sweep_prepare)(RitzPatchSweep sweep);
  int (*patch_sweep_run)(RitzPatchSweep sweep, const void *b, void *x, bool x_is_zero, bool is_reversed);
  int (*patch_sweep_destroy)(RitzPatchSweep sweep);
  // Optional, batched dense algebra (core/batched.h says what each is to do). Backends of the host without
  // them are served by their fallback, those of devices serve no batches.
  int (*batched_prepare)(RitzBatched batched);
  int (*batched_workspace)(RitzBatched batched, int64_t count, size_t *num_bytes);
  int (*batched_analyze)(RitzBatched batched, int64_t count, const int32_t *const sizes[3]);
  int (*batched_run)(RitzBatched batched, const RitzBatchedCall *call);
  int (*batched_explain)(RitzBatched batched, FILE *stream);
  int (*batched_destroy)(RitzBatched batched);
  // Optional, the dense solver (core/dense-solver.h). Backends of the host without methods are served by
  // their fallback, those of devices have no dense solver.
  const RitzDenseMethods *dense;
  // Fronts of multifrontal factorizations (core/front.h): what moves between those of a tree, which contexts
  // on devices may lack; optional, without which there is Cholesky alone: batches of fronts in double.
  // Prepare says in front->has_kernel whether there will be calls of run; destroy: the end of front->data.
  int (*front_tree_run)(Ceed ceed, const RitzFrontTree *tree, const RitzFrontTreeAction *action);
  int (*front_prepare)(RitzFront front);
  int (*front_run)(RitzFront front, const RitzFrontCall *call);
  int (*front_destroy)(RitzFront front);
  // x[i] = value, or the value of the entry's place in the list where there are `values`; y[i] = x[i]: for
  // the entries of a list, ascending, each once; num > 0. All arrays are in the backend's memory.
  int (*vector_set_entries)(Ceed ceed, CeedScalarType precision, int64_t num, const int64_t *entries,
                            const CeedScalar *values, double value, void *x);
  int (*vector_copy_entries)(Ceed ceed, CeedScalarType precision, int64_t num, const int64_t *entries,
                             const void *x, void *y);

  // ---- Optional: hooks of backends that keep data of their own with an object (its `data` field) ----
  int (*set_stream)(Ceed ceed, void *handle);
  // Where the context's work is queued, for libraries of the vendor: a RitzDevice (devices/device.h) of CUDA
  // and its stream.
  int (*get_queue)(Ceed ceed, void **device, void **stream);
  int (*device_counters)(Ceed ceed, RitzDeviceCounters *counters); // of a context on a device
  int (*rep_alloc)(Ceed ceed, RitzRepKind kind, size_t num_bytes, void **p);
  int (*rep_free)(Ceed ceed, RitzRepKind kind, void *p);
  int (*rep_copy)(Ceed ceed, size_t num_bytes, RitzRepKind to_kind, void *to, RitzRepKind from_kind,
                  const void *from);
  // Refuses memory of the caller that is not what `call` was told: num_bytes in the place `kind`; `is_given`:
  // the library is to free it, so it begins where an allocation does.
  int (*rep_accept)(Ceed ceed, const char *call, RitzRepKind kind, size_t num_bytes, bool is_given,
                    const void *p);
  int (*restriction_destroy)(CeedElemRestriction rstr);
  int (*basis_destroy)(CeedBasis basis);
  int (*qfunction_destroy)(CeedQFunction qf);
  int (*operator_destroy)(CeedOperator op);
  // Hooks of a backend that watches accesses. lend may replace the array that an access hands out by one of
  // its own; take_back gets that array when the access ends. the `watch` field of CeedVector belongs to
  // such a backend.
  int (*vector_lend)(CeedVector vec, RitzAccess access, RitzRepKind kind, void **array);
  int (*vector_take_back)(CeedVector vec, void *array);
  void (*vector_forget)(CeedVector vec); // the vector goes
  // Makes the kernels of single operators with elements that their first use would make, all at the same
  // time; they may come several times, and belong to several contexts of this backend. wanted [num]: sets of
  // RitzPreparation. No vector is read. in_background: returns before they are there.
  int (*operators_prepare)(CeedInt num, CeedOperator *ops, const int *wanted, bool in_background);
  int (*composite_apply)(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode);
  // Makes the kernels that parts of a composite lack, all at the same time, before these are applied to
  // several vectors each.
  int (*composite_prepare)(CeedOperator op, CeedVector in, CeedVector out);
  // out[k] := A in[k] (mode) for num > 1 pairs, the data of a single operator read once for several of them.
  // Vectors were checked: outputs are all different and no inputs; in [num] have one precision, out [num]
  // have one, which operator_apply serves. The operator has elements and no passive outputs. *is_done comes
  // in false and stays so where it has nothing to gain: nothing was touched, and operator_apply serves.
  int (*operator_apply_many)(CeedOperator op, CeedInt num, const CeedVector *in, const CeedVector *out,
                             RitzApplyMode mode, bool *is_done);
  // Whether operator_apply and operator_assemble_add_diagonal serve this operator, of which the arithmetic or
  // some vector (op->precision, op->active_precision, vectors of fields) is not CeedScalar. in: the active
  // input, or CEED_VECTOR_NONE where there is none yet. Else *reason (static string) says why not, and core/
  // applies an operator in CeedScalar between conversions. An empty slot: never, by the nature of the
  // backend.
  int (*operator_supports_precision)(CeedOperator op, CeedVector in, bool *is_supported, const char **reason);
  // Whether operator_assemble_add_diagonal serves an operator that the slot above serves; else core/
  // assembles that of an operator in CeedScalar. An empty slot: always.
  int (*diagonal_supports_precision)(CeedOperator op, bool is_point_block, bool *is_supported);
  // Why operators of this context cannot be asked to be applied by a route that is not AUTO (static); NULL:
  // they can. An empty slot: there is one route alone.
  const char *(*operator_refuses_route)(Ceed ceed, RitzOperatorRoute route);
  // Lines for people about the kernels of a single operator, and the text of its generated kernel (NULL:
  // there is none; valid while the operator lives).
  int (*operator_explain)(CeedOperator op, FILE *stream);
  int (*operator_source)(CeedOperator op, const char **source);
  // The list of steps of a single operator with elements; *has_steps false where there is none.
  int (*operator_steps)(CeedOperator op, FILE *stream, bool *has_steps);
  // Measures the choices that there are for a single operator with elements and uses the best ones from now
  // on; applies it as often as it takes, in `mode`. *tuning: zeros on entry; without num_tried it needs a
  // reason.
  int (*operator_tune)(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode,
                       RitzTuning *tuning);

  // ---- Optional: for solvers (core/apply-hooks.h) ----
  int (*operator_apply_hooked_prepare)(CeedOperator op, CeedVector in, int *num_slots, const char **reason);
  int (*operator_apply_hooked)(CeedOperator op, CeedVector in, CeedVector out, const RitzApplyHooks *hooks);
  int (*run_ranges_slots)(Ceed ceed, int *num_slots); // base/ranges.h
  int (*run_ranges)(Ceed ceed, int64_t n, RitzRangeFunction run, void *data);
  // ritz_operator_apply_energy: entries of `zeros` (num_zeros, in the backend's memory) of out are zeroed;
  // `adds`: number k is added to. *is_done false: the operator has no such kernel, and nothing was done.
  int (*operator_apply_energy)(CeedOperator op, CeedVector in, CeedVector out, int64_t num_zeros,
                               const int64_t *zeros, double *scalars, CeedInt k, bool adds, bool *is_done);
  // Marks a moment in the context's queue; reads device memory as of that moment, and waits for no more.
  int (*mark_moment)(Ceed ceed, bool *is_marked);
  int (*read_marked)(Ceed ceed, size_t num_bytes, void *host, const void *device);

  // ---- Optional: for the timing table (core/profile.h) ----
  // Costs of a single operator that has been applied.
  int (*operator_cost)(CeedOperator op, RitzOperatorCost *cost);
  // Takes less than a second; called when the context ends or the process exits.
  int (*limits)(Ceed ceed, RitzLimits *limits);
  // Times of work that runs on after a call returns; without them the host's clock counts. begin and end mark
  // moments in the context's queue and do not wait. What lies between them is given to ritz_profile_add at
  // the latest by flush, which frees what timers need. No end follows the begin of a call that has failed.
  int (*timer_begin)(Ceed ceed);
  int (*timer_end)(Ceed ceed, const RitzProfileCall *call);
  int (*timer_flush)(Ceed ceed);
};

// A name that a backend answers to. alias_of is NULL for its own name.
typedef struct {
  const char *resource;
  unsigned priority; // lower is preferred
  const RitzBackend *backend;
  const char *alias_of;
} RitzRegistryEntry;

// All of them in order of registration: a constant table, handed down from root/ritz.c to every context.
typedef struct {
  size_t num;
  const RitzRegistryEntry *entries;
} RitzRegistry;

// Copy of `backend` with empty slots filled from its fallbacks.
void ritz_backend_complete(const RitzBackend *backend, RitzBackend *complete);

#endif
