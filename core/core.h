// SPDX-License-Identifier: BSD-2-Clause
// The private structs of all Ceed objects. core/ keeps them valid; backends read them and own the `data`
// fields.
#ifndef RITZ_CORE_CORE_H
#define RITZ_CORE_CORE_H

#include <ceed.h>
#include <ceed/backend.h>
#include <stdint.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "core/backend.h"

// ---- Object header: first member of every object; its class in base/handle.h ----
struct CeedObject_private {
  const RitzClass *class;
  Ceed ceed; // counted; of a Ceed: itself, not counted
  int ref_count;
  CeedInt num_tabs;
};

int ritz_object_create(Ceed ceed, const RitzClass *class, size_t size, void *object);
void ritz_object_free(void *object); // drops the reference to the Ceed, frees the memory
// First step of every Destroy; `handle` is the address of the caller's variable. Returns from the function
// unless this is the last reference to the object: the variable is NULL then, or it is refused (an object of
// another class).
#define RITZ_RELEASE(handle)                                                                                 \
  do {                                                                                                       \
    bool ritz_is_last_;                                                                                      \
    int ritz_release_code_ =                                                                                 \
        ritz_object_release(__func__, #handle, (handle), RITZ_CLASS_OF(*(handle)), &ritz_is_last_);          \
    if (ritz_release_code_ || !ritz_is_last_) return ritz_release_code_;                                     \
  } while (0)
int ritz_object_release(const char *call, const char *name, void *handle, const RitzClass *class,
                        bool *is_last);
// CeedXReferenceCopy: references `object` (or a sentinel of its class), destroys what *copy held, stores.
#define RITZ_REFERENCE_COPY(object, copy)                                                                    \
  ritz_object_reference_copy(__func__, #object, (object), #copy, (copy), RITZ_CLASS_OF(object))
int ritz_object_reference_copy(const char *call, const char *name, void *object, const char *copy_name,
                               void *copy, const RitzClass *class);
// CeedXReturnCeed: borrowed; NULL of what is no such object.
#define RITZ_RETURN_CEED(handle)                                                                             \
  (ritz_is_live((handle), RITZ_CLASS_OF(handle)) ? ((CeedObject)(handle))->ceed : NULL)
void ritz_object_indent(CeedObject object, FILE *stream); // 2 * num_tabs blanks

// Marks a caller's request as completed; every action is complete when its call returns.
int ritz_request_complete(CeedRequest *request);

// ---- Timing table: core/profile.h ----
typedef struct RitzProfilePlace RitzProfilePlace; // where operators run
typedef struct RitzProfileRow RitzProfileRow;
typedef enum {
  RITZ_PROFILE_APPLY,
  RITZ_PROFILE_APPLY_MANY, // to several vectors at once
  RITZ_PROFILE_DIAGONAL,
  RITZ_PROFILE_POINT_BLOCKS,
  RITZ_NUM_PROFILE_ACTIONS, // of operators
  RITZ_PROFILE_PART = RITZ_NUM_PROFILE_ACTIONS,
  RITZ_PROFILE_PASS // over vectors
} RitzProfileAction;

// ---- Ceed ----

typedef struct {
  char **item; // owned strings
  CeedInt num, num_readers;
} RitzStringList;

typedef struct {
  CeedVector vec; // counted
  bool in_use;
} RitzWorkVector;

// How sums of passes are reduced over parts of a larger problem.
typedef struct {
  RitzReduceFunction reduce;           // NULL: they are not
  RitzReduceFunction reduce_in_memory; // of numbers where the context computes; NULL: by way of the host
  void *ctx;                           // borrowed, of both
  CeedSize length, num_counted;        // of vectors with so many entries the first num_counted alone count
} RitzSums;

// RITZ_WARNINGS: when a step down is warned of on stderr.
typedef enum {
  RITZ_WARNINGS_ONCE, // the same words once a process
  RITZ_WARNINGS_OFF,
  RITZ_WARNINGS_ALL, // each time
} RitzWarnings;

struct Ceed_private {
  struct CeedObject_private obj;
  RitzBackend backend;          // completed: empty slots filled from fallbacks
  const RitzRegistry *registry; // static: the one that `resource` is from
  const char *resource;         // static: the registered name that was selected
  CeedErrorHandler error_handler;
  char message[RITZ_MESSAGE_LENGTH];
  bool is_clang;
  bool is_strict; // RITZ_STRICT: falling back is an error
  bool repeats;   // `:deterministic` was asked for: nothing is chosen by the clock
  RitzWarnings warnings;
  RitzStringList jit_roots, jit_defines, rust_roots;
  CeedInt num_work;
  RitzWorkVector *work; // owned
  void *data;           // owned by the backend
  RitzSums sums; // of passes, while a solver of a larger problem runs; zeros: they are of this part alone
  // Timing table: NULL when calls are not counted; the next context of the list in core/profile.c.
  RitzProfilePlace *profile;
  Ceed next_profiled;
  // The table takes a step down that is warned of (ritz_warn_once); NULL: calls are not counted.
  int (*note)(Ceed ceed, const char *what, const char *reason, const char *outcome);
};

// What CeedInit does, with a table of backends: root/ritz.c's, or that of a context at hand. handler: of the
// context, NULL: the environment's.
int ritz_ceed_create(const RitzRegistry *registry, const char *resource, CeedErrorHandler handler,
                     Ceed *ceed);

// Options of resources, in the order of the table in core/registry.c.
typedef enum {
  RITZ_OPTION_INNER,
  RITZ_OPTION_MEM,
  RITZ_OPTION_THREADS,
  RITZ_OPTION_DEVICE,
  RITZ_OPTION_DETERMINISTIC,
  RITZ_NUM_OPTIONS
} RitzResourceOption;

// The value of an option ":name=value" of a resource, which goes on to the next colon; of a flag ":name" the
// empty string; NULL: not given.
const char *ritz_resource_option(const char *options, RitzResourceOption option);

// Whether the value is a whole number, not negative; one beyond 32 bits gives some number beyond them.
bool ritz_option_number(const char *value, int64_t *number);

// Something runs another way than it was asked for: `what`, for this `reason`, with this `outcome`. One line
// on stderr as often as RITZ_WARNINGS says, by default the same line once a process, however many contexts
// and operators it is true of; always a line of the table of RITZ_PROFILE; under RITZ_STRICT
// CEED_ERROR_BACKEND, which begins with `call`.
int ritz_warnings_from_environment(Ceed ceed, RitzWarnings *warnings); // another value: INCOMPATIBLE
int ritz_warn_once(Ceed ceed, const char *call, const char *what, const char *reason, const char *outcome);

// The first JiT source root: the include folder beside the library or program that holds this code, else the
// one that was configured.
int ritz_jit_add_include_folder(Ceed ceed);
// *found (owned by the caller): the readable file `name` in the folder of the file `including` (NULL: in the
// current folder), else the name of a text that the library carries (base/embedded.h), else the first file
// below the JiT source roots, then below the folders of RITZ_INCLUDE_PATH, else NULL: *fault (may be NULL)
// says why.
int ritz_jit_find_include(Ceed ceed, const char *including, const char *name, char **found,
                          RitzFileFault *fault);
// The file that a QFunction's source names: `path` as above, but for RITZ_INCLUDE_PATH; else, of
// "FOLDER//FILE" (RITZ_SOURCE_DIR in ceed/types.h), FILE; relative paths then below the folders of
// RITZ_SOURCE_DIR in the environment, and below those that hold the object file of the function and the
// program, or one of their two parents.
int ritz_jit_find_source(Ceed ceed, CeedQFunctionUser f, const char *path, char **found,
                         RitzFileFault *fault);
// *text (owned by the caller): a QFunction's file for a device's compiler, which reads no files: all includes
// expanded, those of headers that devices have without them dropped, #line where the text comes from.
int ritz_jit_load_for_device(Ceed ceed, const char *path, char **text);
// The same of a QFunction's source, a file that is there or a text in memory.
int ritz_qfunction_load_for_device(CeedQFunction qf, char **text);

// ---- Precision (core/precision.c) ----

// Bytes of a vector's entry, or of a number of an operator's arithmetic. Another precision than
// CEED_SCALAR_TYPE is FP32, in a library of double.
static inline size_t ritz_scalar_bytes(CeedScalarType precision) {
  return precision == CEED_SCALAR_FP32 ? sizeof(float) : sizeof(double);
}
static inline const char *ritz_precision_name(CeedScalarType precision) {
  return precision == CEED_SCALAR_FP32 ? "FP32" : "FP64";
}
// Entry i of an array of this precision on the host.
static inline double ritz_entry(const void *array, CeedScalarType precision, int64_t i) {
  return precision == CEED_SCALAR_FP32 ? (double)((const float *)array)[i] : ((const double *)array)[i];
}
static inline void ritz_set_entry(void *array, CeedScalarType precision, int64_t i, double value) {
  if (precision == CEED_SCALAR_FP32)
    ((float *)array)[i] = (float)value;
  else
    ((double *)array)[i] = value;
}
// INCOMPATIBLE: none of the two; UNSUPPORTED: not in this build.
int ritz_check_precision(Ceed ceed, const char *call, CeedScalarType precision);
// y = x, n entries on the host, of two precisions.
void ritz_convert(CeedSize n, CeedScalarType from, const void *x, CeedScalarType to, void *y);

// ---- Representations ----
typedef struct {
  void *owned;    // owned by the library, or NULL
  void *borrowed; // the caller's (CEED_USE_POINTER), or NULL; at most one of the two
  bool valid;     // holds the current values
} RitzRep;

// Order of packed data: entry (element e, node n, component c) of a strided layout stands at
// ((b*num_comp + c)*num_nodes + n)*lanes + l with e = b*lanes + l; lanes beyond the last element repeat it.
typedef struct {
  CeedInt num_elem, num_nodes, num_comp, lanes;
  int64_t strides[3]; // node, component, element; not negative
} RitzPacking;

// State of the packed representation. The host's array is freed while packed data hold all of it, until it is
// wanted back for the first time: then both are kept.
typedef struct {
  RitzPacking packing;
  bool keeps_host;
  int64_t num_packs, num_unpacks;
} RitzPacked;

// Data of a vector or context: a list of places, one rule. A write makes its place the only valid one; a read
// makes its place valid by copying.
typedef struct {
  size_t num_bytes, entry_bytes; // the second: of an entry that is packed
  RitzRep rep[RITZ_NUM_REPS];
  RitzPacked packed;
} RitzStorage;

bool ritz_storage_has_data(const RitzStorage *storage);
void *ritz_storage_pointer(const RitzStorage *storage, RitzRepKind kind); // borrowed, else owned, else NULL
// Whether arrays of the two in one kind of memory overlap, and begin at one place.
typedef enum { RITZ_APART, RITZ_SHIFTED, RITZ_ALIGNED } RitzOverlap;
RitzOverlap ritz_storage_overlap(const RitzStorage *a, const RitzStorage *b);
int ritz_storage_kind(Ceed ceed, const char *call, CeedMemType mem_type, const char *refusal,
                      RitzRepKind *kind);
// Whether the caller's array is what it is said to be, as far as the backend can tell.
int ritz_storage_accept(Ceed ceed, const char *call, RitzRepKind kind, CeedCopyMode mode, size_t num_bytes,
                        const void *data);
int ritz_storage_ensure(Ceed ceed, RitzStorage *storage, RitzRepKind kind); // buffer exists
int ritz_storage_sync(Ceed ceed, RitzStorage *storage, RitzRepKind kind);   // buffer exists and is valid
void ritz_storage_only_valid(RitzStorage *storage, RitzRepKind kind);
int ritz_storage_set(Ceed ceed, RitzStorage *storage, RitzRepKind kind, CeedCopyMode mode, void *data);
int ritz_storage_take(Ceed ceed, RitzStorage *storage, RitzRepKind kind, void **data);
void ritz_storage_clear(Ceed ceed, RitzStorage *storage);

// ---- CeedVector ----
// What computes a vector's values before they are read (core/vector-source.h).
typedef struct RitzVectorSource RitzVectorSource;
struct RitzVectorSource {
  CeedOperator op; // counted
  bool is_once;    // goes when it has computed them
  int (*refresh)(CeedVector vec);
  void (*release)(RitzVectorSource **source);
};

struct CeedVector_private {
  struct CeedObject_private obj;
  CeedSize length;
  CeedScalarType precision; // of the entries
  RitzStorage storage;
  bool is_locked;                          // write access handed out
  CeedInt num_readers, num_packed_readers; // the first counts all
  uint64_t state;                          // modifications times 2; odd while locked
  uint64_t state_before;                   // an operator's apply: when it began
  bool is_stale;                           // there are no values, because an action that writes them failed
  void *watch;                             // of a backend that watches accesses
  RitzVectorSource *source;                // owned, NULL: values are what was written
};
// Values that have a source are up to date afterwards. Whoever reads does it; whoever runs an operator does
// it before anything else runs.
static inline int ritz_vector_refresh(CeedVector vec) {
  return vec->source ? vec->source->refresh(vec) : CEED_ERROR_SUCCESS;
}
int ritz_vector_check_same_ceed(const char *call, CeedVector x, CeedVector y);
// How two vectors, which may be sentinels, share entries, as messages say it ("input and output %s"); NULL:
// they do not. Arrays that the program lent count, whichever hold the current values.
const char *ritz_vectors_meet(CeedVector x, CeedVector y);
// UNSUPPORTED: y begins at another entry of x's memory; a copy entry by entry may have it at the same one.
int ritz_vectors_require_aligned(const char *call, CeedVector x, CeedVector y);
// INCOMPATIBLE unless the vector has the precision that `call` needs.
int ritz_vector_require_precision(CeedVector vec, const char *call, CeedScalarType needed);
// INCOMPATIBLE unless both vectors hold CeedScalars; either may be CEED_VECTOR_NONE.
int ritz_vector_require_scalars(const char *call, CeedVector u, CeedVector v);
// The first n entries of both vectors, which may be of any precisions; others of `to` stay.
int ritz_vector_convert(const char *call, CeedSize n, CeedVector from, CeedVector to);
// Whether an access would be granted: the errors of CeedVectorGetArray, ..Read and ..Write.
int ritz_vector_check_access(CeedVector vec, RitzAccess access);
// The access of an action that overwrites the first n entries alone, and reads none: others stay.
RitzAccess ritz_vector_access_first(CeedVector vec, CeedSize n);
// After an action has failed that has begun to write: nothing is valid, and reading says why.
void ritz_vector_make_stale(CeedVector vec);
// Ends a write access: the action's code comes first. An action that failed leaves a stale vector.
int ritz_vector_end_write(CeedVector vec, CeedScalar **array, int ierr);
// Ends an access to values that the action reads, too: slots of backends allocate before they write, so after
// a lack of memory (MAJOR) the vector keeps what it had, and the call can be repeated.
int ritz_vector_end_update(CeedVector vec, CeedScalar **array, int ierr);
// Access to entries of either precision; otherwise CeedVectorGetArray, ..Read and ..Write. Unlocking passes
// the action's code on: after one that failed, RITZ_ACCESS_WRITE is ritz_vector_end_write,
// RITZ_ACCESS_READ_WRITE ritz_vector_end_update. *array is NULL when locking fails, and after unlocking.
int ritz_vector_lock(CeedVector vec, RitzAccess access, CeedMemType mem_type, void **array);
int ritz_vector_unlock(CeedVector vec, RitzAccess access, void **array, int ierr);
// Read access to the packed data, made from the host's array when they are not valid in this order (one order
// per vector at a time; another one replaces it, and is refused while the data are being read). Counts as a
// reader like CeedVectorGetArrayRead. 64-byte aligned; NULL when there are no entries.
int ritz_vector_get_packed(CeedVector vec, const RitzPacking *packing, const void **packed);
int ritz_vector_restore_packed(CeedVector vec, const void **packed);
// The order of data that are packed and nowhere else; false: they are not.
bool ritz_vector_packed_order(CeedVector vec, RitzPacking *packing);
// Write access to packed data, where they hold the whole vector and no host's array has been asked for; else
// *packed is NULL, and nothing is locked. Contents are unspecified on entry; ierr as of ritz_vector_unlock.
int ritz_vector_begin_packed(CeedVector vec, const RitzPacking *packing, void **packed);
int ritz_vector_end_packed(CeedVector vec, void **packed, int ierr);
// The loops themselves (core/packing.c), for the batches first_batch .. end_batch - 1 of entries of 4 or 8
// bytes.
int64_t ritz_packing_num_batches(const RitzPacking *packing);
void ritz_pack(const RitzPacking *packing, size_t entry_bytes, const void *host, void *packed,
               int64_t first_batch, int64_t end_batch);
void ritz_unpack(const RitzPacking *packing, size_t entry_bytes, void *host, const void *packed,
                 int64_t first_batch, int64_t end_batch);

// ---- CeedElemRestriction ----
struct CeedElemRestriction_private {
  struct CeedObject_private obj;
  CeedRestrictionType type;
  CeedInt num_elem, elem_size, num_comp, comp_stride;
  CeedInt block_size, num_block;
  CeedInt num_points, max_points, min_points; // points kind
  bool is_counted, is_distinct; // points kind: whether no point is listed twice, and whether that is known
  CeedSize l_size, e_size;
  CeedInt strides[3];     // strided kind: the caller's, {0,0,0} for the backend's
  CeedInt layout[3];      // E-layout
  const CeedInt *offsets; // host; see has_arrays
  const bool *orients;
  const CeedInt8 *curl_orients;
  bool owns_arrays;         // else the caller's, or those of `base`
  CeedInt *device_offsets;  // owned, in device memory, made on request
  CeedElemRestriction base; // counted: original of an unsigned or unoriented copy, or NULL
  bool use_signs, use_orients;
  CeedInt num_readers;
  void *data; // owned by the backend
};
CeedInt ritz_restriction_points_in(CeedElemRestriction rstr, CeedInt elem);
// Whether no point is listed twice; looked up once.
int ritz_restriction_is_distinct(CeedElemRestriction rstr, bool *is_distinct);
// Number of entries of `offsets`.
size_t ritz_restriction_num_offsets(CeedElemRestriction rstr);
// CeedElemRestrictionApply without its checks, for two vectors of one precision, whichever.
int ritz_restriction_apply(CeedElemRestriction rstr, CeedTransposeMode t_mode, CeedVector u, CeedVector ru);
// L-vector index of node (or point) i, component c of an element, orientations aside.
CeedSize ritz_restriction_l_index(CeedElemRestriction rstr, CeedInt elem, CeedInt i, CeedInt c);
// Position of entry i of an element in an array [num_elem][n], or [num_block][n][block_size] when blocked.
CeedSize ritz_restriction_array_index(CeedElemRestriction rstr, CeedInt n, CeedInt elem, CeedInt i);
// Whether nodes come in rows of consecutive entries: offsets[first + i] == offsets[first] + i * step in each
// row of row_length nodes, the first being nodes 0 .. row_length - 1. step: num_comp where components lie
// side by side, else 1.
bool ritz_restriction_has_rows(CeedElemRestriction rstr, CeedInt row_length);
CeedInt ritz_restriction_row_step(CeedElemRestriction rstr);
// Strides of the L-vector side of a strided restriction.
bool ritz_restriction_has_backend_strides(CeedElemRestriction rstr); // of the strided kind
void ritz_restriction_l_strides(CeedElemRestriction rstr, CeedInt strides[3]);

// ---- CeedBasis ----
// A block of a vector basis of tensor products (core/basis-vector.c): component c of a value is a scalar
// tensor product on nodes of its own, those of block c.
typedef struct {
  CeedInt P[3];                    // nodes a direction; 1 from dim on
  CeedInt num_nodes, first;        // first: among the nodes of the basis
  CeedScalar *interp[3], *grad[3]; // owned, [Q_1d][P[d]]; grad NULL where DIV or CURL does not differentiate
} RitzBasisBlock;

struct CeedBasis_private {
  struct CeedObject_private obj;
  CeedElemTopology topology;
  CeedFESpace space;
  bool is_tensor;
  CeedInt dim, num_comp;
  CeedInt P_1d, Q_1d; // tensor; Q_1d: of blocks, too
  CeedInt P, Q;
  RitzBasisBlock *blocks;  // owned, [dim]: a vector basis of tensor products, no tensor basis; else NULL
  CeedScalar *q_weight_1d; // owned, with blocks
  // owned; lengths: doc/ceed-api.md, Bases
  CeedScalar *q_ref, *q_weight;
  CeedScalar *interp_1d, *grad_1d;        // tensor
  CeedScalar *interp, *grad, *div, *curl; // dense; of tensor bases and blocks made on request
  CeedScalar *chebyshev_1d; // tensor, made on request: nodes -> Chebyshev coefficients [Q_1d][P_1d]
  void *data;               // owned by the backend
};
CeedInt ritz_basis_num_q_comp(CeedBasis basis, CeedEvalMode mode);
// The derivative that DIV or CURL takes of block c in direction d belongs to this row of it, with this sign;
// -1: to none. DIV: sum over c of d_c u_c; CURL in 2D d_0 u_1 - d_1 u_0, in 3D (i, j, k cyclic) d_j u_k - d_k
// u_j in row i.
int ritz_basis_block_row(CeedFESpace space, CeedInt dim, CeedInt c, CeedInt d, int *sign);
// The matrix of INTERP, GRAD, DIV or CURL, [q_comp][Q][P], which bases of blocks make when first asked. Not
// of tensor bases.
int ritz_basis_table(CeedBasis basis, CeedEvalMode mode, const CeedScalar **table);
void ritz_basis_free_blocks(CeedBasis basis);

// ---- fe/ (core/dense.c) computes in double whatever CeedScalar is ----
// New array of doubles with n entries of `from` (NULL: unset).
int ritz_widen(Ceed ceed, CeedSize n, const CeedScalar *from, double **to);
void ritz_narrow(CeedSize n, const double *from, CeedScalar *to);

// ---- CeedQFunction ----
struct CeedQFunctionField_private {
  char *name; // owned
  CeedInt size;
  CeedEvalMode eval_mode;
};

struct CeedQFunction_private {
  struct CeedObject_private obj;
  CeedInt vec_length;
  CeedQFunctionUser f;
  char *source_path;    // owned; as given, NULL without source
  char *resolved_path;  // owned; what run-time compilers get, see ritz_qfunction_find_source
  char *file_path;      // owned; found file, made on request
  char *text;           // owned; the source itself, NULL where it is a file; paths are RITZ_TEXT_IN_MEMORY
  bool is_cxx;          // the text is C++ and no C
  CeedQFunction energy; // counted; what a gradient is made of, NULL for other functions
  char *kernel_name;    // owned, "" without source
  const char *gallery_name; // borrowed from the gallery until exit, NULL for user functions
  CeedInt num_in, num_out;
  CeedQFunctionField *in, *out; // owned arrays of owned fields
  CeedQFunctionContext ctx;     // counted, may be NULL
  bool is_identity, is_immutable, is_context_writable;
  CeedSize user_flops;
  void *code; // owned; what holds f where it was made of the text, NULL where the application has f
  void (*release_code)(void **code);
  void *data; // owned by the backend
};
#define RITZ_TEXT_IN_MEMORY "(text in memory)"
// f, or an error; made of a text in memory when it is first needed.
int ritz_qfunction_need_pointer(CeedQFunction qf);
// *path (borrowed from qf): the source that a run-time compiler gets, the absolute path of a file or the name
// of a text that the library carries; NULL: not found, or qf has none.
int ritz_qfunction_find_source(CeedQFunction qf, const char **path);
// The same function with the same context and no fields yet.
int ritz_qfunction_copy(CeedQFunction qf, CeedQFunction *copy);
// Bytes of the context for a call of the user's function in the backend's memory, locked as its writability
// demands; *data is NULL without a context.
int ritz_qfunction_get_context_data(CeedQFunction qf, CeedMemType mem_type, void **data);
int ritz_qfunction_restore_context_data(CeedQFunction qf, void **data);

// ---- CeedQFunctionContext ----
struct CeedContextFieldLabel_private {
  char *name, *description;        // owned
  size_t offset, num_values, size; // size of one value
  CeedContextFieldType type;
  bool from_op;    // handed out by an operator query
  CeedInt num_sub; // composite labels: number of sub-operators when it was made; theirs are found by name
};

struct CeedQFunctionContext_private {
  struct CeedObject_private obj;
  RitzStorage storage;
  bool is_locked;
  CeedInt num_readers;
  CeedInt num_labels;
  CeedContextFieldLabel *labels; // owned array of owned labels
  CeedQFunctionContextDataDestroyUser destroy_data;
  CeedMemType destroy_mem_type;
};
void ritz_label_free(CeedContextFieldLabel *label);
// Values of a registered field; `call` is named in messages.
// Whether all registered fields lie in data of this size, else BACKEND.
int ritz_context_check_fields(CeedQFunctionContext ctx, const char *call, size_t num_bytes);
int ritz_context_set_field(CeedQFunctionContext ctx, const char *call, CeedContextFieldLabel label,
                           CeedContextFieldType type, const void *values);
int ritz_context_get_field(CeedQFunctionContext ctx, const char *call, CeedContextFieldLabel label,
                           CeedContextFieldType type, size_t *num_values, const void **values);
int ritz_context_restore_field(CeedQFunctionContext ctx, const char *call, CeedContextFieldLabel label,
                               CeedContextFieldType type, const void **values);

// ---- CeedOperator ----
struct CeedOperatorField_private {
  CeedQFunctionField qf_field; // borrowed from the QFunction; NULL: not set yet
  CeedElemRestriction rstr;    // counted or sentinel
  CeedBasis basis;             // counted or sentinel
  CeedVector vec;              // counted or sentinel
};

// A field of size 0: the QFunction gets a pointer to nothing. Restriction, basis and vector are sentinels.
static inline bool ritz_field_is_unused(CeedOperatorField field) { return field->qf_field->size == 0; }

// Assembled QFunction of an operator, shared with its multigrid coarse twins.
struct CeedQFunctionAssemblyData_private {
  int ref_count;
  bool reuse, needs_update;
  CeedVector values;        // counted, NULL: nothing cached
  CeedElemRestriction rstr; // counted
};

// Active fields of one direction, grouped by basis handle (fields without a basis by restriction). A mode
// entry is one quadrature component of a field: num_comp consecutive scalars of the active list, beginning at
// its offset.
typedef struct {
  CeedInt num;                // groups
  CeedSize num_total;         // scalars of all active fields a point: N_in or N_out
  CeedBasis *bases;           // counted or CEED_BASIS_NONE
  CeedElemRestriction *rstrs; // counted; restriction of the group's first field
  CeedInt *num_modes;
  CeedEvalMode **modes; // [group][mode entry]
  CeedSize **offsets;   // [group][mode entry]
  CeedScalar **tables;  // [group]: [Q][num_modes][nodes], made on request, NULL before
  CeedVector *vectors;  // [group], counted: the same for backends of devices, likewise
} RitzActiveGroups;

struct CeedOperatorAssemblyData_private {
  RitzActiveGroups in, out;
};

typedef struct RitzStandIn RitzStandIn;
typedef struct RitzReducer RitzReducer;

struct CeedOperator_private {
  struct CeedObject_private obj;
  CeedQFunction qf, dqf, dqfT; // counted; dqf, dqfT may be NULL
  char *name;                  // owned, may be NULL
  char *note;                  // owned, a line for Explain; may be NULL
  bool is_composite, is_at_points, is_ready, is_sequential;
  CeedInt num_set;             // fields set so far
  CeedInt num_in, num_out;     // of the QFunction, known from the first SetField on
  CeedOperatorField *in, *out; // owned arrays of owned fields, in QFunction order
  bool has_restriction;
  CeedInt num_elem, num_qpts;
  CeedSize input_size, output_size; // -1: no active field
  CeedInt num_sub;
  CeedOperator *sub; // owned array, counted
  CeedInt num_labels;
  CeedContextFieldLabel *labels;     // owned array; labels owned if composite, else borrowed from the context
  CeedQFunctionAssemblyData qf_data; // counted among operators; never NULL in a single operator
  CeedOperatorAssemblyData assembly_data; // owned, made on request
  CeedElemRestriction rstr_points;        // counted, may be NULL
  CeedVector point_coords;                // counted, may be NULL
  CeedElemRestriction first_points;       // counted: first AtPoints restriction seen, may be NULL
  // Precisions of the arithmetic and of the active input [0] and output [1] that `data` is made for. An
  // operator serves active vectors of its arithmetic's precision itself; each other pair that it meets has a
  // variant, which shares all but active_precision, `data`, the backend's answer and the rows of the timing
  // table with it.
  CeedScalarType precision, active_precision[2];
  RitzOperatorUse use;
  RitzOperatorRoute route;      // as asked for
  CeedOperator variants[4];     // owned; core/operator-precision.c
  RitzStandIn *stand_in;        // owned, NULL before it is needed; core/operator-stand-in.c
  RitzReducer *reducer;         // owned, NULL before it is needed; core/operator-reduce.c
  bool is_stand_in;             // belongs to another operator, for which it computes in CeedScalar
  bool was_asked, is_supported; // operator_supports_precision and its answer
  const char *why_unsupported;  // static: why not
  void *data;                   // owned by the backend
  // Timing table: its rows, NULL before the first call; seconds in which kernels were made before that.
  RitzProfileRow *profile[RITZ_NUM_PROFILE_ACTIONS];
  double profile_prepared;
};
// Field i, inputs before outputs, of an operator that is no composite.
static inline CeedOperatorField ritz_operator_field(CeedOperator op, CeedInt i) {
  return i < op->num_in ? op->in[i] : op->out[i - op->num_in];
}
int ritz_qfunction_data_create(Ceed ceed, CeedQFunctionAssemblyData *data);
void ritz_qfunction_data_release(CeedQFunctionAssemblyData *data);
void ritz_qfunction_data_share(CeedOperator from, CeedOperator to); // from now on `to` has that of `from`
void ritz_assembly_data_free(CeedOperatorAssemblyData *data);
// Nodes and components of a group; of one without a basis those of its restriction.
CeedInt ritz_group_num_nodes(const RitzActiveGroups *groups, CeedInt group);
CeedInt ritz_group_num_comp(const RitzActiveGroups *groups, CeedInt group);
// Table of a group, made on first request.
int ritz_group_table(Ceed ceed, RitzActiveGroups *groups, CeedInt group, CeedInt num_qpts,
                     const CeedScalar **table);
// The table as a vector, which can be read where the backend computes; it belongs to the groups.
int ritz_group_table_vector(Ceed ceed, RitzActiveGroups *groups, CeedInt group, CeedInt num_qpts,
                            CeedVector *table);
// Checks that an operator at points can run: points for its elements, bases that can be evaluated there.
int ritz_operator_check_points(CeedOperator op);
// Sets outputs to zero as `mode` demands, for an operator or all sub-operators.
int ritz_operator_zero_outputs(CeedOperator op, CeedVector out, RitzApplyMode mode);
// Passive inputs that have a source (ritz_vector_refresh) are up to date afterwards.
int ritz_operator_refresh(CeedOperator op);
// Whether arithmetic, passive vectors and these active ones (single operator or composite; CEED_VECTOR_NONE:
// none) are in CeedScalar.
bool ritz_operator_is_in_scalars(CeedOperator op, CeedVector in, CeedVector out);
// Whether the operator, or all of a composite, computes in this precision.
bool ritz_operator_has_precision(CeedOperator op, CeedScalarType precision);
// RitzOperatorCopyInPrecision of several operators, which share what is converted; all copies or none. What
// is to be converted has no values yet: kernels can begin to be made, then ritz_operators_renew_copies.
int ritz_operators_copy(const char *call, CeedInt num, const CeedOperator *ops, CeedScalarType precision,
                        CeedOperator *copies);
// Converts what copies have converted, each vector once: the first time, and for new values of passive
// inputs.
int ritz_operators_renew_copies(CeedInt num, const CeedOperator *ops, const CeedOperator *copies);
// Applies a single operator that has elements by the slot of its backend, whatever precisions there are;
// counted in the timing table.
int ritz_operator_run(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode);

#endif
