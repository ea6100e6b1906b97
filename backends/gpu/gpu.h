// SPDX-License-Identifier: BSD-2-Clause
// The backends /gpu/cuda/{ref,shared} and /gpu/opencl/{ref,shared}: an operator as separate kernels for E, B
// and D over E-vectors and Q-vectors in device memory. `ref`: kernels for any size, one thread an output,
// results that do not depend on the order of threads. `shared`: bases compiled for their sizes, elements in
// the memory of blocks; what is too large for that runs on the kernels of `ref`.
#ifndef RITZ_BACKENDS_GPU_GPU_H
#define RITZ_BACKENDS_GPU_GPU_H

#include "core/core.h"
#include "devices/device.h"

extern const RitzBackend ritz_cuda_gen_backend, ritz_opencl_gen_backend;
extern const RitzBackend ritz_cuda_ref_backend, ritz_cuda_shared_backend;
extern const RitzBackend ritz_opencl_ref_backend, ritz_opencl_shared_backend;

// ---- Data of a context: ceed->data ----

// Work memory is lent by number; a slot keeps its memory, which grows to the largest that was asked for and
// is shared by all operators and bases of the context. All work of a context is in one stream's order, so the
// next user may overwrite what queued kernels of the last one still read.
typedef enum {
  RITZ_WORK_REDUCTION, // partial sums of norms
  RITZ_WORK_BASIS_0,   // intermediate results of bases on `ref` kernels
  RITZ_WORK_BASIS_1,
  RITZ_WORK_ENERGY,   // shares of u . A u
  RITZ_WORK_PATCHES,  // arrays of blocks of sweeps over patches
  RITZ_WORK_OPERATOR, // E- and Q-vectors of the operator that runs
  RITZ_WORK_ASSEMBLY, // E-vectors of all elements for a diagonal in a fixed order
  RITZ_NUM_WORK
} RitzGpuWork;

typedef struct RitzGpuTimer RitzGpuTimer;   // timer.c
typedef struct RitzGpuPasses RitzGpuPasses; // pass.c
typedef struct RitzGpuAhead RitzGpuAhead;   // ahead.c
typedef struct RitzGpuGemms RitzGpuGemms;   // gemm.c
typedef struct RitzGpuProgram_private
    *RitzGpuProgram; // loaded code, counted; shared by the contexts of a device

// Programs with kernels that are made for any size, each loaded when it is first asked for.
typedef enum {
  RITZ_BASE_VECTORS,      // kernels/gpu/{vector,entries}.h
  RITZ_BASE_FLOATS,       // the same for float, and kernels/gpu/vector-convert.h; in a library of double
  RITZ_BASE_RESTRICTIONS, // kernels/gpu/restriction.h
  RITZ_BASE_BASES,        // kernels/gpu/basis-ref.h
  RITZ_BASE_POINTS,       // kernels/gpu/points-ref.h
  RITZ_BASE_FRONTS,       // kernels/gpu/fronts.h
  RITZ_NUM_BASE
} RitzGpuBase;

typedef struct {
  const RitzDriver *driver;
  RitzDevice device;
  const RitzDeviceInfo *info;
  RitzDeviceStream stream;
  bool has_basis_kernels;             // this is `shared`, not `ref`
  bool is_deterministic;              // restrictions are transposed by their maps, not by atomic additions
  int64_t work_bytes;                 // what the E- and Q-vectors of an operator may take
  RitzGpuProgram base[RITZ_NUM_BASE]; // counted; NULL: not asked for yet
  RitzGpuProgram float_restrictions;  // counted: kernels/gpu/restriction.h for float; NULL: not asked for yet
  RitzGpuProgram collect;             // counted: kernels/gpu/collect.h; NULL: not asked for yet
  struct {
    void *memory; // owned
    size_t num_bytes;
  } work[RITZ_NUM_WORK];
  RitzGpuTimer *timer;            // owned; NULL: nothing is timed
  RitzGpuPasses *passes;          // owned; NULL: there were none
  RitzGpuGemms *gemms;            // owned; NULL: there were none
  RitzTeam hosts;                 // owned: threads that set up on the host
  RitzGpuAhead *ahead;            // owned; NULL: nothing was made ahead of its use
  int64_t bytes_in, bytes_out;    // copied to and from the device
  int64_t num_reads;              // copies from the device
  int64_t bytes_live, bytes_peak; // device memory of this context
} RitzGpu;

static inline RitzGpu *ritz_gpu(Ceed ceed) { return (RitzGpu *)ceed->data; }

// gpu.c: loops on the host (base/ranges.h), by OMP_NUM_THREADS threads, else as many as there are processors,
// at most 16.
int ritz_gpu_run_ranges_slots(Ceed ceed, int *num_slots);
int ritz_gpu_run_ranges(Ceed ceed, int64_t n, RitzRangeFunction run, void *data);
// gpu.c: whether the device has tensor cores that multiply doubles.
bool ritz_gpu_has_mma(const RitzDeviceInfo *info);
// gpu.c: one of the programs for any size, released with the context.
int ritz_gpu_base(Ceed ceed, RitzGpuBase which, RitzGpuProgram *program);

// ---- memory.c: representations of core/, memory of the backend's own, counters ----
int ritz_gpu_rep_alloc(Ceed ceed, RitzRepKind kind, size_t num_bytes, void **p);
int ritz_gpu_rep_free(Ceed ceed, RitzRepKind kind, void *p);
int ritz_gpu_rep_copy(Ceed ceed, size_t num_bytes, RitzRepKind to_kind, void *to, RitzRepKind from_kind,
                      const void *from);
int ritz_gpu_rep_accept(Ceed ceed, const char *call, RitzRepKind kind, size_t num_bytes, bool is_given,
                        const void *p);
int ritz_gpu_device_counters(Ceed ceed, RitzDeviceCounters *counters);
// Device memory that the caller frees; *p is NULL for num_bytes == 0. free: *p becomes NULL; NULL is fine.
int ritz_gpu_alloc(Ceed ceed, size_t num_bytes, void **p);
void ritz_gpu_free(Ceed ceed, void **p);
// A list of 32-bit numbers in device memory that grows, zeros at first, owned: repeated calls allocate
// nothing. Lists that were too short stay for the graphs that captured them: together less than the longest.
enum { RITZ_GPU_MAX_LISTS = 40 }; // each twice as long as the one before
typedef struct {
  int64_t capacity;
  int num_older;
  void *numbers, *older[RITZ_GPU_MAX_LISTS];
} RitzGpuList;
int ritz_gpu_list_reserve(Ceed ceed, int64_t count, RitzGpuList *list);
void ritz_gpu_list_free(Ceed ceed, RitzGpuList *list);
// Device memory that the caller frees, filled with a copy of the host's array.
int ritz_gpu_upload(Ceed ceed, size_t num_bytes, const void *host, void **p);
int ritz_gpu_copy_out(Ceed ceed, size_t num_bytes, void *host, const void *device);
// The same in the order of another stream.
int ritz_gpu_copy_out_by(Ceed ceed, RitzDeviceStream stream, size_t num_bytes, void *host,
                         const void *device);
int ritz_gpu_copy_in(Ceed ceed, size_t num_bytes, void *device, const void *host);
// Memory of a slot, at least num_bytes, valid until the slot is asked for more.
int ritz_gpu_work(Ceed ceed, RitzGpuWork slot, size_t num_bytes, void **p);
// From one array in a slot to the next, of n bytes, of n CeedScalars: OpenCL devices ask for up to 512 bytes
// and more.
static inline size_t ritz_gpu_aligned_bytes(size_t n) { return (n + 4095) / 4096 * 4096; }
static inline CeedSize ritz_gpu_aligned(CeedSize n) {
  const CeedSize alignment = 4096 / sizeof(CeedScalar);
  return (n + alignment - 1) / alignment * alignment;
}

// ---- program.c: texts to kernels ----
// The loaded program for a text, which is `num_texts` strings after kernels/gpu/language.h; from memory, the
// disk cache or the compiler. name: letters, digits, '-', '_'. A refused text is CEED_ERROR_BACKEND with the
// compiler's first messages after `what` ("QFunction 'f' of f.h").
int ritz_gpu_program(Ceed ceed, const char *name, const char *what, int num_texts, const char *const *texts,
                     RitzGpuProgram *program);
// The same for a text that computes otherwise than in CeedScalar.
typedef enum {
  RITZ_TEXT_SCALARS, // CeedScalar is the library's
  RITZ_TEXT_FLOATS,  // CeedScalar is float
  RITZ_TEXT_MIXED,   // CeedScalar is the library's, all but the user's functions compute in float
  RITZ_TEXT_ONCE = 4 // beside one of these: compiled in less time to slower code
} RitzGpuTextKind;
int ritz_gpu_program_of(Ceed ceed, RitzGpuTextKind kind, const char *name, const char *what, int num_texts,
                        const char *const *texts, RitzGpuProgram *program);
// Begins to make a program that will be asked for; faults are told then.
int ritz_gpu_program_ahead(Ceed ceed, RitzGpuTextKind kind, const char *name, const char *what, int num_texts,
                           const char *const *texts);
void ritz_gpu_ahead_destroy(Ceed ceed); // ahead.c: with the context
void ritz_gpu_program_release(Ceed ceed, RitzGpuProgram *program);
// The text of a template inside the library, "kernels/gpu/vector.h".
const char *ritz_gpu_template(const char *name);
// For kernels that are launched often: looked up once, valid while the caller has its program.
int ritz_gpu_kernel(Ceed ceed, RitzGpuProgram program, const char *name, RitzDeviceKernel *kernel);
// Queues a kernel on the stream of the context: num_blocks blocks of block_size threads with shared_bytes of
// RITZ_SHARED_MEMORY (0: it has none); nothing for num_blocks == 0.
int ritz_gpu_launch(Ceed ceed, RitzDeviceKernel kernel, int64_t num_blocks, int block_size,
                    int64_t shared_bytes, int num_args, const RitzDeviceArg *args);
// Queues num_bytes of zeros at p, then the kernel. *replay makes that cheap where it is repeated: NULL at
// first, the caller's, destroyed before the program is released.
int ritz_gpu_launch_cleared(Ceed ceed, RitzDeviceKernel kernel, size_t num_bytes, void *p, int64_t num_blocks,
                            int block_size, int64_t shared_bytes, int num_args, const RitzDeviceArg *args,
                            RitzDeviceReplay *replay);
void ritz_gpu_replay_destroy(Ceed ceed, RitzDeviceReplay *replay); // *replay becomes NULL; NULL is fine
// Queues a kernel of a program by its name: num_blocks blocks of block_size threads; nothing for num_blocks
// == 0. The arguments must be those that the kernel declares, in order:
//   RITZ_GPU_RUN(ceed, program, "scale", num_blocks, 256, RITZ_LONG(n), RITZ_SCALAR(alpha), RITZ_POINTER(x));
int ritz_gpu_run(Ceed ceed, RitzGpuProgram program, const char *kernel, int64_t num_blocks, int block_size,
                 int num_args, const RitzDeviceArg *args);
#define RITZ_POINTER(x)                                                                                      \
  { .kind = RITZ_ARG_POINTER, .value.p = (x) }
#define RITZ_INT(x)                                                                                          \
  { .kind = RITZ_ARG_INT, .value.i = (x) }
#define RITZ_LONG(x)                                                                                         \
  { .kind = RITZ_ARG_LONG, .value.l = (x) }
#define RITZ_SCALAR(x)                                                                                       \
  { .kind = RITZ_ARG_SCALAR, .value.s = (x) }
#define RITZ_GPU_RUN(ceed, program, kernel, num_blocks, block_size, ...)                                     \
  ritz_gpu_run(ceed, program, kernel, num_blocks, block_size,                                                \
               (int)(sizeof((const RitzDeviceArg[]){__VA_ARGS__}) / sizeof(RitzDeviceArg)),                  \
               (const RitzDeviceArg[]){__VA_ARGS__})
enum { RITZ_GPU_BLOCK = 256 }; // threads of a block of kernels with one item a thread
#define RITZ_GPU_BLOCKS(num_items) (((int64_t)(num_items) + RITZ_GPU_BLOCK - 1) / RITZ_GPU_BLOCK)
// Announces delegation to the reference backend: an error under RITZ_STRICT, else a warning, once a process
// for each text, unless RITZ_WARNINGS says otherwise.
int ritz_gpu_delegate(Ceed ceed, const char *what, const char *reason);

// ---- timer.c: slots of the timing table ----
int ritz_gpu_timer_begin(Ceed ceed);
int ritz_gpu_timer_end(Ceed ceed, const RitzProfileCall *call);
int ritz_gpu_timer_flush(Ceed ceed);
int ritz_gpu_limits(Ceed ceed, RitzLimits *limits);

// ---- vector.c: the vector slots, on device arrays ----
int ritz_gpu_vector_set_value(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar value, void *x);
int ritz_gpu_vector_set_value_strided(Ceed ceed, CeedScalarType precision, CeedSize start, CeedSize stop,
                                      CeedSize step, CeedScalar value, void *x);
int ritz_gpu_vector_copy_strided(Ceed ceed, CeedScalarType precision, CeedSize start, CeedSize stop,
                                 CeedSize step, const void *x, void *y);
int ritz_gpu_vector_norm(Ceed ceed, CeedScalarType precision, CeedSize n, CeedNormType type, const void *x,
                         CeedScalar *norm);
int ritz_gpu_vector_scale(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar alpha, void *x);
int ritz_gpu_vector_filter(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar threshold, void *x);
int ritz_gpu_vector_axpby(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar alpha, CeedScalar beta,
                          const void *x, void *y);
int ritz_gpu_vector_pointwise_mult(Ceed ceed, CeedScalarType precision, CeedSize n, const void *x,
                                   const void *y, void *w);
int ritz_gpu_vector_reciprocal(Ceed ceed, CeedScalarType precision, CeedSize n, void *x);
int ritz_gpu_vector_convert(Ceed ceed, CeedSize n, CeedScalarType from, const void *x, CeedScalarType to,
                            void *y);

// ---- pass.c: passes over vectors (core/vector-pass.h) ----
void ritz_gpu_passes_destroy(Ceed ceed);
int ritz_gpu_vector_pass(Ceed ceed, const RitzPassArrays *arrays, const double *factors, double *sums);
int ritz_gpu_vector_pass_by(Ceed ceed, const RitzPassArrays *arrays, const RitzFactor *factors,
                            double *scalars, CeedInt first_sum);
int ritz_gpu_passes_prepare(Ceed ceed, int num, const RitzPassForm *forms);
int ritz_gpu_vector_set_entries(Ceed ceed, CeedScalarType precision, int64_t num, const int64_t *entries,
                                double value, void *x);
int ritz_gpu_vector_copy_entries(Ceed ceed, CeedScalarType precision, int64_t num, const int64_t *entries,
                                 const void *x, void *y);
// For other kernels with sums: blocks for so many items; the memory that kernels/gpu/pass.h asks for.
int64_t ritz_gpu_pass_blocks(Ceed ceed, int64_t num_items);
int ritz_gpu_pass_memory(Ceed ceed, double **partial, unsigned **arrived);
// A program of a text behind kernels/gpu/pass.h; what is to follow each of its kernels with sums, which go to
// the numbers from first_sum on.
int ritz_gpu_pass_program(Ceed ceed, const char *name, const char *text, RitzGpuProgram *program);
int ritz_gpu_pass_finish(Ceed ceed, RitzGpuProgram program, int num_sums, int64_t num_blocks,
                         CeedInt first_sum, double *scalars);
// Moments: a copy on a stream of its own, which waits for the last mark alone.
int ritz_gpu_mark_moment(Ceed ceed, bool *is_marked);
int ritz_gpu_read_marked(Ceed ceed, size_t num_bytes, void *host, const void *device);

// ---- patch.c: sweeps over vertex patches (core/patch-sweep.h) ----
int ritz_gpu_patch_sweep_prepare(RitzPatchSweep sweep);
int ritz_gpu_patch_sweep_run(RitzPatchSweep sweep, const void *b, void *x, bool x_is_zero, bool is_reversed);
int ritz_gpu_patch_sweep_destroy(RitzPatchSweep sweep);

// ---- batched.c: batched dense algebra (core/batched.h) ----
int ritz_gpu_batched_prepare(RitzBatched batched);
int ritz_gpu_batched_workspace(RitzBatched batched, int64_t count, size_t *num_bytes);
int ritz_gpu_batched_analyze(RitzBatched batched, int64_t count, const int32_t *const sizes[3]);
int ritz_gpu_batched_run(RitzBatched batched, const RitzBatchedCall *call);
int ritz_gpu_batched_explain(RitzBatched batched, FILE *stream);
int ritz_gpu_batched_destroy(RitzBatched batched);

// ---- gemm.c: products of matrices that bases are applied by (backends/gpu/gemm.h) ----
void ritz_gpu_gemms_destroy(Ceed ceed);
// File of the vendor's library, static; NULL: there is none that can be used, and *why says so (static).
const char *ritz_gpu_gemm_vendor_find(Ceed ceed, const char **why);

// ---- fronts.c: trees of fronts (core/fronts.h) ----
int ritz_gpu_fronts_run(Ceed ceed, const RitzFrontTree *tree, const RitzFrontsAction *action);
int ritz_gpu_front_prepare(RitzFront front); // front.c
int ritz_gpu_front_run(RitzFront front, const RitzFrontCall *call);
int ritz_gpu_front_destroy(RitzFront front);

// ---- dense.c: the dense solver (core/dense-solver.h) ----
extern const RitzDenseMethods ritz_gpu_dense;

// ---- dense-vendor.c: its factorizations by the vendor's library ----
typedef struct RitzGpuDenseVendor RitzGpuDenseVendor; // what is kept of one factorization for the next
typedef struct {
  bool is_symmetric, is_double;
  int64_t n, ld;
  void *F;           // [n][ld]
  int *pivots, *bad; // as own kernels leave them
} RitzGpuDenseFactors;
// File of the library, static; NULL: there is none that can be used, and *why says so (static).
const char *ritz_gpu_dense_vendor_find(Ceed ceed, const char **why);
// The library was found. *vendor: NULL at first, the caller's.
int ritz_gpu_dense_vendor_factor(Ceed ceed, const RitzGpuDenseFactors *factors, RitzGpuDenseVendor **vendor);
size_t ritz_gpu_dense_vendor_bytes(const RitzGpuDenseVendor *vendor); // of device memory; NULL: 0
void ritz_gpu_dense_vendor_destroy(Ceed ceed, RitzGpuDenseVendor **vendor);

// ---- restriction.c ----
int ritz_gpu_restriction_layout(CeedElemRestriction rstr, CeedInt layout[3]);
int ritz_gpu_restriction_apply(CeedElemRestriction rstr, const RitzRestrictionAction *action,
                               CeedScalarType precision, const void *u, void *v);
// At points, without padding: entry (c, t) of the n points of the elements at c * n + t. By a map, which is
// made for all elements at once, where points are listed twice and results are to repeat.
int ritz_gpu_restriction_apply_list(CeedElemRestriction rstr, CeedTransposeMode t_mode, CeedInt first_elem,
                                    CeedInt num_elem, const CeedScalar *u, CeedScalar *v);
int ritz_gpu_restriction_list_needs_map(CeedElemRestriction rstr, bool *needs_map);
// The restriction of point blocks [node][c_out][c_in] on these nodes; belongs to rstr.
int ritz_gpu_restriction_blocks(CeedElemRestriction rstr, CeedElemRestriction *blocks);
// v += E^T u of all elements, both in device memory and of this precision.
int ritz_gpu_restriction_sum(CeedElemRestriction rstr, bool has_orients, CeedScalarType precision,
                             const void *u, void *v);
int ritz_gpu_restriction_destroy(CeedElemRestriction rstr);
// Whether it is transposed by a map of the elements, which is made for all of them at once.
bool ritz_gpu_restriction_needs_map(CeedElemRestriction rstr);
// Whether its nodes come in rows (core/core.h); their first offsets, [num_elem][rows], which stay as long as
// it does.
int ritz_gpu_restriction_has_rows(CeedElemRestriction rstr, CeedInt row_length, bool *has_rows);
int ritz_gpu_restriction_rows(CeedElemRestriction rstr, CeedInt row_length, const void **firsts);
// Its orientations in device memory, which stay as long as it does.
int ritz_gpu_restriction_orients(CeedElemRestriction rstr, const void **orients);

// ---- basis.c (basis-ref.c, basis-shared.c) ----
// E-vectors [num_comp][num_elem][P], Q-vectors [q_comp][num_comp][num_elem][Q]. The kernels of `shared` are
// compiled for a basis when it is first used.
int ritz_gpu_basis_apply(CeedBasis basis, const RitzBasisAction *action, const CeedScalar *u, CeedScalar *v);
int ritz_gpu_basis_destroy(CeedBasis basis);
// The same by a route that is neither AUTO nor FUSED; GEMM_VENDOR: the library was found.
int ritz_gpu_basis_apply_by(CeedBasis basis, RitzOperatorRoute route, const RitzBasisAction *action,
                            const CeedScalar *u, CeedScalar *v);
// One line: which kernels apply it and, where they are not those of the backend's name, why.
void ritz_gpu_basis_explain(CeedBasis basis, RitzOperatorRoute route, FILE *stream);

// ---- points.c: bases at arbitrary points ----
int ritz_gpu_basis_apply_at_points(CeedBasis basis, const RitzBasisAction *action, const CeedInt *num_points,
                                   const CeedScalar *x, const CeedScalar *u, CeedScalar *v);

// ---- qfunction.c ----
// A field of a call: entry (component c, point q) is at array[first + c * stride + q].
typedef struct {
  const CeedScalar *array;
  int64_t first, stride;
} RitzGpuField;
// Calls the function for Q points; inputs, then outputs.
int ritz_gpu_qfunction_run(CeedQFunction qf, int64_t Q, const RitzGpuField *fields);
int ritz_gpu_qfunction_apply(CeedQFunction qf, CeedInt Q, const CeedScalar *const *in,
                             CeedScalar *const *out);
int ritz_gpu_qfunction_destroy(CeedQFunction qf);
int ritz_gpu_qfunction_source(CeedQFunction qf, const char **text); // of its kernel; owned by the QFunction
// Source of the QFunction for devices; #define line of a text for a context of num_bytes. The caller frees
// both.
int ritz_gpu_qfunction_load(CeedQFunction qf, char **source);
int ritz_gpu_context_define(CeedQFunction qf, size_t num_bytes, char **define);
// The program of a text for kernels/gpu/assembly.h, with the user's source behind it where it is called; the
// QFunction's, until its context changes.
int ritz_gpu_qfunction_part(CeedQFunction qf, bool calls, const char *text, RitzGpuProgram *program);
int ritz_gpu_qfunction_block(CeedQFunction qf);     // threads of a block that calls it, at most
CeedSize ritz_gpu_context_copies(CeedQFunction qf); // bytes that each thread has copied of its context

// ---- prepare.c: kernels made side by side ----
bool ritz_gpu_compiles_beside(Ceed ceed); // whether several threads may compile at once
// Calls compile(data, i) for i = 0 .. num - 1, then on several threads: it reports to no context but a
// private copy, and what fails is left to the first use.
int ritz_gpu_compile_all(Ceed ceed, CeedInt num, void (*compile)(void *data, CeedInt i), void *data);
// A copy of a context for that: it takes the messages, which are dropped; the rest is only read.
struct Ceed_private ritz_gpu_silent_copy(Ceed ceed);

// ---- gen.c, tune.c: operators as one kernel ----
int ritz_gpu_gen_apply(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode);
int ritz_gpu_gen_apply_many(CeedOperator op, CeedInt num, const CeedVector *in, const CeedVector *out,
                            RitzApplyMode mode, bool *is_done); // many.c
int ritz_gpu_operators_prepare(CeedInt num, CeedOperator *ops, const int *wanted,
                               bool in_background); // prepare.c
// The slot operator_is_native: what is fused computes in either precision, and converts vectors.
int ritz_gpu_gen_is_native(CeedOperator op, CeedVector in, bool *is_native, const char **reason);
int ritz_gpu_gen_explain(CeedOperator op, FILE *stream);
int ritz_gpu_gen_steps(CeedOperator op, FILE *stream, bool *has_steps);
int ritz_gpu_gen_source(CeedOperator op, const char **source);
int ritz_gpu_gen_tune(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode, RitzTuning *tuning);
int ritz_gpu_operator_destroy(CeedOperator op);
int ritz_gpu_gen_cost(CeedOperator op, RitzOperatorCost *cost);

// ---- energy.c: applies of fused single operators that also give u . A u ----
// *num_shares: number of partial sums of u . A u; 0: the operator has no energy kernel.
int ritz_gpu_energy_prepare(CeedOperator op, int64_t *num_shares);
// out += A in for an operator that was prepared; shares in device memory.
int ritz_gpu_energy_apply(CeedOperator op, CeedVector in, CeedVector out, double *shares);
int ritz_gpu_operator_apply_energy(CeedOperator op, CeedVector in, CeedVector out, int64_t num_zeros,
                                   const int64_t *zeros, double *scalars, CeedInt k, bool adds,
                                   bool *is_done);

// ---- diagonal.c: their diagonals, likewise ----
int ritz_gpu_gen_assemble_add_diagonal(CeedOperator op, bool is_point_block, void *diagonal);
int ritz_gpu_gen_diagonal_is_native(CeedOperator op, bool is_point_block, bool *is_native);

// ---- route.c: who computes an apply ----
// The slot operator_refuses_route.
const char *ritz_gpu_refuses_route(Ceed ceed, RitzOperatorRoute route);
// Why an operator cannot be applied by a route that contexts have (static); NULL: it can.
const char *ritz_gpu_operator_refuses_route(CeedOperator op, RitzOperatorRoute route);
// That as an error, CEED_ERROR_UNSUPPORTED.
int ritz_gpu_require_route(CeedOperator op, RitzOperatorRoute route, const char *reason);

// ---- operator.c, assembly.c ----
int ritz_gpu_operator_apply(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode);
// The same by a route that is neither AUTO nor FUSED.
int ritz_gpu_operator_apply_by(CeedOperator op, RitzOperatorRoute route, CeedVector in, CeedVector out,
                               RitzApplyMode mode);
int ritz_gpu_operator_explain_by(CeedOperator op, RitzOperatorRoute route, FILE *stream);
int ritz_gpu_operator_explain(CeedOperator op, FILE *stream);
int ritz_gpu_operator_source(CeedOperator op, const char **source);
int ritz_gpu_operator_assemble_qfunction(CeedOperator op, CeedElemRestriction rstr, CeedScalar *values);
int ritz_gpu_operator_assemble_add_diagonal(CeedOperator op, bool is_point_block, void *diagonal);
int ritz_gpu_operator_assemble(CeedOperator op, CeedInt a, CeedInt b, CeedInt first_elem, CeedInt num_elem,
                               CeedSize place, CeedScalar *values);

// ---- assembly-pattern.c: matrices in a fixed pattern (core/assembly-pattern.h) ----
int ritz_gpu_assembly_prepare(RitzAssembly assembly, bool *is_native);
int ritz_gpu_assembly_run(RitzAssembly assembly, CeedScalar *values);
int ritz_gpu_assembly_destroy(RitzAssembly assembly);

#endif
