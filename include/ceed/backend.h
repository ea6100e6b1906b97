// SPDX-License-Identifier: BSD-2-Clause
// The part of the Ceed backend header that applications use: macros of implementers, and functions that show
// layouts, sizes and parts of objects. Included by such programs and by the library itself. Words, layouts
// and rules are those at the top of ceed/ceed.h. There is no interface for adding backends from outside.
#ifndef CEED_BACKEND_H
#define CEED_BACKEND_H

#include <ceed.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

// ---- Macros -----------------------------------------------------------------------------------------------

// Prefix of declarations that stay inside a library.
#if defined(__clang_analyzer__)
#define CEED_INTERN
#elif defined(__cplusplus)
#define CEED_INTERN extern "C" CEED_VISIBILITY(hidden)
#else
#define CEED_INTERN extern CEED_VISIBILITY(hidden)
#endif

#ifdef __GNUC__
#define CEED_UNUSED __attribute__((unused))
#else
#define CEED_UNUSED
#endif

// C's restrict, which C++ lacks.
#ifdef __cplusplus
#define CEED_RESTRICT __restrict
#else
#define CEED_RESTRICT restrict
#endif

// Limits that the standard names. Ritz does not enforce those of fields and parts of composite operators.
#define CEED_MAX_RESOURCE_LEN     1024
#define CEED_MAX_BACKEND_PRIORITY UINT_MAX // of resources that cannot be used
#define CEED_ALIGN                64       // bytes
#define CEED_COMPOSITE_MAX        16
#define CEED_FIELD_MAX            16
#define CEED_TAB_WIDTH            2 // blanks per tab of a view

// Returns the code of a failing expression from the enclosing function; Backend: a positive one as
// CEED_ERROR_BACKEND.
#define CeedCall(...)                                                                                        \
  do {                                                                                                       \
    int ceed_call_code_ = (__VA_ARGS__);                                                                     \
    if (ceed_call_code_) return ceed_call_code_;                                                             \
  } while (0)
#define CeedCallBackend(...)                                                                                 \
  do {                                                                                                       \
    int ceed_call_code_ = (__VA_ARGS__);                                                                     \
    if (ceed_call_code_) return ceed_call_code_ > 0 ? (int)CEED_ERROR_BACKEND : ceed_call_code_;             \
  } while (0)

// Returns CeedError(ceed, ecode, format, ...) from the enclosing function unless cond holds.
#define CeedCheck(cond, ceed, ecode, ...)                                                                    \
  do {                                                                                                       \
    if (!(cond)) return CeedError(ceed, ecode, __VA_ARGS__);                                                 \
  } while (0)

#define CeedScalarSwap(a, b)                                                                                 \
  do {                                                                                                       \
    CeedScalar ceed_swap_ = (a);                                                                             \
    (a) = (b);                                                                                               \
    (b) = ceed_swap_;                                                                                        \
  } while (0)

// OpenMP pragmas, empty without OpenMP.
#ifdef _OPENMP
#define CEED_PRAGMA_TEXT(text) _Pragma(#text)
#define CeedPragmaOMP(text)    CEED_PRAGMA_TEXT(omp text)
#else
#define CeedPragmaOMP(text)
#endif
#define CeedPragmaAtomic         CeedPragmaOMP(atomic)
#define CeedPragmaCritical(name) CeedPragmaOMP(critical(name))

// Between the two, functions are compiled without optimisation.
#if defined(__clang__)
#define CeedPragmaOptimizeOff _Pragma("clang optimize off")
#define CeedPragmaOptimizeOn  _Pragma("clang optimize on")
#elif defined(__GNUC__)
#define CeedPragmaOptimizeOff _Pragma("GCC push_options") _Pragma("GCC optimize 0")
#define CeedPragmaOptimizeOn  _Pragma("GCC pop_options")
#else
#define CeedPragmaOptimizeOff
#define CeedPragmaOptimizeOn
#endif

// ---- Memory -----------------------------------------------------------------------------------------------
// p is the address of a pointer, n a number of what it points to. All memory may be passed to free() and
// handed over with CEED_OWN_POINTER. Result: 0, or CEED_ERROR_MAJOR with the pointer NULL (CeedRealloc:
// unchanged).

#define CeedMalloc(n, p)  CeedAllocateAligned((n), sizeof(**(p)), (p)) // unspecified contents
#define CeedCalloc(n, p)  CeedAllocateZeros((n), sizeof(**(p)), (p))
#define CeedRealloc(n, p) CeedReallocate((n), sizeof(**(p)), (p))
#define CeedFree(p)       CeedDeallocate(p) // the pointer becomes NULL

// Aligned to CEED_ALIGN bytes where the language has such a function (C11, C++17).
static inline int CeedAllocateAligned(size_t n, size_t size, void *p) {
  void *memory = NULL;

  if (n <= (SIZE_MAX - CEED_ALIGN) / size) {
#if (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L) ||                                            \
    (defined(__cplusplus) && __cplusplus >= 201703L)
    memory = aligned_alloc(CEED_ALIGN, (n * size + CEED_ALIGN - 1) / CEED_ALIGN * CEED_ALIGN);
#else
    memory = malloc(n * size);
#endif
  }
  memcpy(p, &memory, sizeof(memory));
  return memory || !n ? CEED_ERROR_SUCCESS : CEED_ERROR_MAJOR;
}

// What CeedCalloc calls: n times size bytes of zeros, whose address goes to *p. MAJOR: no memory.
static inline int CeedAllocateZeros(size_t n, size_t size, void *p) {
  void *memory = calloc(n, size);

  memcpy(p, &memory, sizeof(memory));
  return memory || !n ? CEED_ERROR_SUCCESS : CEED_ERROR_MAJOR;
}

// What CeedRealloc calls: *p moves to n times size bytes, with its contents as far as they fit. MAJOR: no
// memory; *p stays as it is.
static inline int CeedReallocate(size_t n, size_t size, void *p) {
  void *memory;

  if (n > SIZE_MAX / size) return CEED_ERROR_MAJOR;
  memcpy(&memory, p, sizeof(memory));
  memory = realloc(memory, n ? n * size : 1);
  if (!memory) return CEED_ERROR_MAJOR;
  memcpy(p, &memory, sizeof(memory));
  return CEED_ERROR_SUCCESS;
}

// What CeedFree calls: frees *p, which becomes NULL.
static inline int CeedDeallocate(void *p) {
  void *memory;

  memcpy(&memory, p, sizeof(memory));
  free(memory);
  memory = NULL;
  memcpy(p, &memory, sizeof(memory));
  return CEED_ERROR_SUCCESS;
}

// ---- Debug output -----------------------------------------------------------------------------------------

// Indices into the 256 colours of a terminal.
typedef enum {
  CEED_DEBUG_COLOR_SUCCESS = 108,
  CEED_DEBUG_COLOR_WARNING = 208,
  CEED_DEBUG_COLOR_ERROR = 196,
  CEED_DEBUG_COLOR_NONE = 255, // no colour
} CeedDebugColor;

// A printf line on stdout if one of the environment variables CEED_DEBUG, DEBUG, DBG is set; CeedWarn:
// always, on stderr.
#define CeedDebug(ceed, ...)           CeedDebug256((ceed), CEED_DEBUG_COLOR_NONE, __VA_ARGS__)
#define CeedDebug256(ceed, color, ...) ((void)(ceed), CeedDebugEnv256((color), __VA_ARGS__))
#define CeedDebugEnv(...)              CeedDebugEnv256(CEED_DEBUG_COLOR_NONE, __VA_ARGS__)
#define CeedWarn(...)                  CeedDebugPrint(stderr, CEED_DEBUG_COLOR_WARNING, __VA_ARGS__)

#define CeedDebugEnv256(color, ...) (CeedDebugIsOn() ? CeedDebugPrint(stdout, (color), __VA_ARGS__) : (void)0)

// No function: parsers of bindings warn of inline ones that take "...".
#define CeedDebugPrint(stream, color, ...)                                                                   \
  (CeedDebugBegin((stream), (color)), (void)fprintf((stream), __VA_ARGS__), CeedDebugEnd((stream), (color)))

// Whether the environment has CEED_DEBUG, DEBUG or DBG.
static inline bool CeedDebugIsOn(void) { return getenv("CEED_DEBUG") || getenv("DEBUG") || getenv("DBG"); }

// Begins a message in this colour of a terminal's 256.
static inline void CeedDebugBegin(FILE *stream, int color) {
  if (color != CEED_DEBUG_COLOR_NONE) fprintf(stream, "\033[38;5;%dm", color);
}

// Ends a message: the terminal's own colour again, and a new line.
static inline void CeedDebugEnd(FILE *stream, int color) {
  fputs(color != CEED_DEBUG_COLOR_NONE ? "\033[m\n" : "\n", stream);
}

// ---- Handles and enums ------------------------------------------------------------------------------------

typedef struct CeedTensorContract_private *CeedTensorContract;
typedef struct CeedQFunctionAssemblyData_private *CeedQFunctionAssemblyData;
typedef struct CeedOperatorAssemblyData_private *CeedOperatorAssemblyData;

typedef enum {
  CEED_RESTRICTION_STANDARD = 1, // offsets
  CEED_RESTRICTION_ORIENTED = 2,
  CEED_RESTRICTION_CURL_ORIENTED = 3,
  CEED_RESTRICTION_STRIDED = 4,
  CEED_RESTRICTION_POINTS = 5,
} CeedRestrictionType;

// Texts: CeedFESpaces.
typedef enum {
  CEED_FE_SPACE_H1 = 1,
  CEED_FE_SPACE_HDIV = 2,
  CEED_FE_SPACE_HCURL = 3,
} CeedFESpace;

// Texts of CeedFESpace, indexed by value.
CEED_EXTERN const char *const CeedFESpaces[];

// ---- Backends ---------------------------------------------------------------------------------------------

// Adds a backend to the registry, in other libraries. Here all are in one constant table: UNSUPPORTED,
// reported without a context, NULL or not. The name is there for those who look whether a library has it.
CEED_EXTERN int CeedRegister(const char *prefix, int (*init)(const char *resource, Ceed ceed),
                             unsigned int priority);

// *resource_root (the caller's, to be given to free): what stands before the first `delineator`, such as ":",
// in `resource`; all of it where there is none.
CEED_EXTERN int CeedGetResourceRoot(Ceed ceed, const char *resource, const char *delineator,
                                    char **resource_root);

// ---- Work vectors -----------------------------------------------------------------------------------------

// Lends a vector of at least len entries, with unspecified values or none, from a pool of the context: the
// first that is free and long enough, else a new one of len entries. *vec is overwritten.
CEED_EXTERN int CeedGetWorkVector(Ceed ceed, CeedSize len, CeedVector *vec);

// Gives it back; *vec becomes NULL. MAJOR: not of the pool. ACCESS: not lent.
CEED_EXTERN int CeedRestoreWorkVector(Ceed ceed, CeedVector *vec);

// Frees those of the pool that are not lent and shorter than min_len.
CEED_EXTERN int CeedClearWorkVectors(Ceed ceed, CeedSize min_len);

// Entries of all vectors of the pool, lent or not, in megabytes (10^6 bytes).
CEED_EXTERN int CeedGetWorkVectorMemoryUsage(Ceed ceed, CeedScalar *usage_mb);

// ---- Vectors ----------------------------------------------------------------------------------------------

// Whether there are values in any memory; a vector of length 0 has them.
CEED_EXTERN int CeedVectorHasValidArray(CeedVector vec, bool *has_valid_array);

// Twice the number of modifications so far (new arrays and values, accesses that may write), plus 1 while the
// array is lent for writing. Reading does not change it: the same number means the same values.
CEED_EXTERN int CeedVectorGetState(CeedVector vec, uint64_t *state);

// Whether the array in this memory is the caller's. BACKEND: the resource has no such memory.
CEED_EXTERN int CeedVectorHasBorrowedArrayOfType(CeedVector vec, CeedMemType mem_type,
                                                 bool *has_borrowed_array_of_type);

// ---- Element restrictions ---------------------------------------------------------------------------------

// How it was made: one of CeedRestrictionType, and whether it is strided, or at points.
CEED_EXTERN int CeedElemRestrictionGetType(CeedElemRestriction rstr, CeedRestrictionType *rstr_type);
CEED_EXTERN int CeedElemRestrictionIsStrided(CeedElemRestriction rstr, bool *is_strided);
CEED_EXTERN int CeedElemRestrictionIsAtPoints(CeedElemRestriction rstr, bool *is_points);

// The strides that it was made with, for CEED_STRIDES_BACKEND these: see CeedElemRestrictionGetLLayout; and
// whether they are those. MINOR: not strided.
CEED_EXTERN int CeedElemRestrictionGetStrides(CeedElemRestriction rstr, CeedInt strides[3]);
CEED_EXTERN int CeedElemRestrictionHasBackendStrides(CeedElemRestriction rstr, bool *has_backend_strides);

// Lends the offsets until they are restored (the restriction cannot be destroyed meanwhile):
// [num_elem][elem_size]; blocked [num_block][elem_size][block_size], padded; at points the whole array.
// Copies without signs or orientations give those of the original. BACKEND: the resource has no such
// memory.
CEED_EXTERN int CeedElemRestrictionGetOffsets(CeedElemRestriction rstr, CeedMemType mem_type,
                                              const CeedInt **offsets);
// *offsets becomes NULL.
CEED_EXTERN int CeedElemRestrictionRestoreOffsets(CeedElemRestriction rstr, const CeedInt **offsets);

// The same of orientations: one an offset, in the order of offsets; of curl-oriented restrictions three, with
// [3*elem_size] where offsets have [elem_size]. MINOR: not of this type. BACKEND: memory that is not the
// host's.
CEED_EXTERN int CeedElemRestrictionGetOrientations(CeedElemRestriction rstr, CeedMemType mem_type,
                                                   const bool **orients);
CEED_EXTERN int CeedElemRestrictionRestoreOrientations(CeedElemRestriction rstr, const bool **orients);
CEED_EXTERN int CeedElemRestrictionGetCurlOrientations(CeedElemRestriction rstr, CeedMemType mem_type,
                                                       const CeedInt8 **curl_orients);
CEED_EXTERN int CeedElemRestrictionRestoreCurlOrientations(CeedElemRestriction rstr,
                                                           const CeedInt8 **curl_orients);

// Strides of node, component and element in the E-vector (blocked: those without blocks). MINOR: there are
// none.
CEED_EXTERN int CeedElemRestrictionGetELayout(CeedElemRestriction rstr, CeedInt layout[3]);

// Strides of node, component and element in the L-vector; CEED_STRIDES_BACKEND is resolved. MINOR: not
// strided.
CEED_EXTERN int CeedElemRestrictionGetLLayout(CeedElemRestriction rstr, CeedInt layout[3]);

// Where the points of an element begin in the E-vector. INCOMPATIBLE: not at points.
CEED_EXTERN int CeedElemRestrictionGetAtPointsElementOffset(CeedElemRestriction rstr, CeedInt elem,
                                                            CeedSize *elem_offset);

// Whether elements, points and all offsets agree. UNSUPPORTED: one is not at points.
CEED_EXTERN int CeedElemRestrictionAtPointsAreCompatible(CeedElemRestriction rstr_a,
                                                         CeedElemRestriction rstr_b, bool *are_compatible);

// Floating-point operations: E-size times 0, 1, 5 (NOTRANSPOSE) or 1, 2, 6 (TRANSPOSE) for plain, oriented
// and curl oriented kinds; 0 at points.
CEED_EXTERN int CeedElemRestrictionGetFlopsEstimate(CeedElemRestriction rstr, CeedTransposeMode t_mode,
                                                    CeedSize *flops);

// ---- Bases ------------------------------------------------------------------------------------------------

// Whether it is a tensor product of bases in one direction.
CEED_EXTERN int CeedBasisIsTensor(CeedBasis basis, bool *is_tensor);

// Whether points are nodes: a tensor basis whose 1D interpolation is the identity up to 10 CEED_EPSILON.
CEED_EXTERN int CeedBasisIsCollocated(CeedBasis basis, bool *is_collocated);

// q_comp of a mode, see the layouts in ceed/ceed.h.
CEED_EXTERN int CeedBasisGetNumQuadratureComponents(CeedBasis basis, CeedEvalMode eval_mode, CeedInt *q_comp);

// H1, H(div) or H(curl): see CeedFESpace.
CEED_EXTERN int CeedBasisGetFESpace(CeedBasis basis, CeedFESpace *fe_space);

// Dimension of a shape, 1 to 3: topo >> 16.
CEED_EXTERN int CeedBasisGetTopologyDimension(CeedElemTopology topo, CeedInt *dim);

// Fills the caller's [Q_1d][Q_1d] with grad_1d pinv(interp_1d): values at the points -> derivatives there.
// MINOR: not a tensor basis. UNSUPPORTED: Q_1d < P_1d.
CEED_EXTERN int CeedBasisGetCollocatedGrad(CeedBasis basis, CeedScalar *colo_grad_1d);

// Fills the caller's [Q_1d][P_1d]: nodal values -> coefficients of T_0 .. T_{Q_1d-1} of the polynomial
// through the values at the points. MINOR: not a tensor basis.
CEED_EXTERN int CeedBasisGetChebyshevInterp1D(CeedBasis basis, CeedScalar *chebyshev_interp_1d);

// Floating-point operations of one element, at quadrature points or at num_points points. INCOMPATIBLE: a
// mode or, at points, a basis without such an action.
CEED_EXTERN int CeedBasisGetFlopsEstimate(CeedBasis basis, CeedTransposeMode t_mode, CeedEvalMode eval_mode,
                                          bool is_at_points, CeedInt num_points, CeedSize *flops);

// ---- Dense algebra ----------------------------------------------------------------------------------------
// Matrices are row-major, in host memory, and belong to the caller; ceed serves error reports and may be
// NULL.

// Factors mat [m][n] = Q R in place, n <= m (else UNSUPPORTED): R in the upper triangle, Q = H_0 .. H_{n-1}
// with H_i = I - tau_i v_i v_i^T, v_i zero above row i, 1 in it, and stored in column i below it. tau [n].
CEED_EXTERN int CeedQRFactorization(Ceed ceed, CeedScalar *mat, CeedScalar *tau, CeedInt m, CeedInt n);

// A = Q A or Q^T A for A of m x n entries mat_A[i*row + j*col] and the k reflectors of a factorization
// [m][k].
CEED_EXTERN int CeedHouseholderApplyQ(CeedScalar *mat_A, const CeedScalar *mat_Q, const CeedScalar *tau,
                                      CeedTransposeMode t_mode, CeedInt m, CeedInt n, CeedInt k, CeedInt row,
                                      CeedInt col);

// mat_pinv [n][m] = R^-1 Q^T, the left inverse of mat [m][n] of full column rank, n <= m (else UNSUPPORTED).
CEED_EXTERN int CeedMatrixPseudoinverse(Ceed ceed, const CeedScalar *mat, CeedInt m, CeedInt n,
                                        CeedScalar *mat_pinv);

// Symmetric mat [n][n] = V diag(lambda) V^T; mat becomes V, whose columns are the eigenvectors. lambda [n]
// in any order. UNSUPPORTED: n < 2. MINOR: no convergence.
CEED_EXTERN int CeedSymmetricSchurDecomposition(Ceed ceed, CeedScalar *mat, CeedScalar *lambda, CeedInt n);

// x [n][n] with x^T A x = diag(lambda), x^T B x = I for symmetric A and positive definite B, which keep
// their values. lambda [n] ascends by absolute value. Errors as above.
CEED_EXTERN int CeedSimultaneousDiagonalization(Ceed ceed, CeedScalar *mat_A, CeedScalar *mat_B,
                                                CeedScalar *x, CeedScalar *lambda, CeedInt n);

// v[a][j][c] = sum_b t[j][b] u[a][b][c], with t [J][B]; TRANSPOSE: t[b][j], with t [B][J]. Added to v if
// Add is not 0.
CEED_EXTERN int CeedTensorContractApply(CeedTensorContract contract, CeedInt A, CeedInt B, CeedInt C,
                                        CeedInt J, const CeedScalar *CEED_RESTRICT t,
                                        CeedTransposeMode t_mode, const CeedInt Add,
                                        const CeedScalar *CEED_RESTRICT u, CeedScalar *CEED_RESTRICT v);

// ---- QFunctions -------------------------------------------------------------------------------------------

// Adds an entry to the gallery, for all contexts and until exit. source contains "ceed/jit-source" (else
// MAJOR) and counts from there; init runs after creation, gets the name asked for, and adds the fields; it
// may be NULL. Strings are copied. The same entry again changes nothing. MINOR: the name is taken. MAJOR:
// more than 1024 entries.
CEED_EXTERN int CeedQFunctionRegister(const char *name, const char *source, CeedInt vec_length,
                                      CeedQFunctionUser f,
                                      int (*init)(Ceed ceed, const char *requested, CeedQFunction qf));

// Numbers of fields; pointers may be NULL.
CEED_EXTERN int CeedQFunctionGetNumArgs(CeedQFunction qf, CeedInt *num_input, CeedInt *num_output);

// Gallery name or else kernel name; text after the last ':' of the source ("" without one); path of the
// source file as it was found (NULL without source; not found: MAJOR).
CEED_EXTERN int CeedQFunctionGetName(CeedQFunction qf, const char **name);
CEED_EXTERN int CeedQFunctionGetKernelName(CeedQFunction qf, const char **kernel_name);
CEED_EXTERN int CeedQFunctionGetSourcePath(CeedQFunction qf, const char **source_path);

// New reference; NULL if there is none.
CEED_EXTERN int CeedQFunctionGetContext(CeedQFunction qf, CeedQFunctionContext *ctx);
// The same; another one where bindings of other languages wrap a context in their own.
CEED_EXTERN int CeedQFunctionGetInnerContext(CeedQFunction qf, CeedQFunctionContext *ctx);

// Arguments and states. IsIdentity: made by CeedQFunctionCreateIdentity. Flops: -1 if not set.
CEED_EXTERN int CeedQFunctionIsIdentity(CeedQFunction qf, bool *is_identity);
CEED_EXTERN int CeedQFunctionIsContextWritable(CeedQFunction qf, bool *is_writable);
CEED_EXTERN int CeedQFunctionIsImmutable(CeedQFunction qf, bool *is_immutable);
CEED_EXTERN int CeedQFunctionGetVectorLength(CeedQFunction qf, CeedInt *vec_length);
CEED_EXTERN int CeedQFunctionGetUserFunction(CeedQFunction qf, CeedQFunctionUser *f);
CEED_EXTERN int CeedQFunctionGetFlopsEstimate(CeedQFunction qf, CeedSize *flops);

// ---- Contexts of QFunctions -------------------------------------------------------------------------------

// Label of a registered field, which lives as long as ctx; NULL and success if there is none.
CEED_EXTERN int CeedQFunctionContextGetFieldLabel(CeedQFunctionContext ctx, const char *field_name,
                                                  CeedContextFieldLabel *field_label);

// Copies the label's number of values into the data, unless they are there already. UNSUPPORTED: no label,
// or one of another type. MINOR: the data is lent out. BACKEND: there is none.
CEED_EXTERN int CeedQFunctionContextSetDouble(CeedQFunctionContext ctx, CeedContextFieldLabel field_label,
                                              double *values);
CEED_EXTERN int CeedQFunctionContextSetInt32(CeedQFunctionContext ctx, CeedContextFieldLabel field_label,
                                             int32_t *values);
CEED_EXTERN int CeedQFunctionContextSetBoolean(CeedQFunctionContext ctx, CeedContextFieldLabel field_label,
                                               bool *values);

// Lends the values (host) for reading until they are restored; *values becomes NULL then. Errors as above.
CEED_EXTERN int CeedQFunctionContextGetDoubleRead(CeedQFunctionContext ctx, CeedContextFieldLabel field_label,
                                                  size_t *num_values, const double **values);
CEED_EXTERN int CeedQFunctionContextRestoreDoubleRead(CeedQFunctionContext ctx,
                                                      CeedContextFieldLabel field_label,
                                                      const double **values);
CEED_EXTERN int CeedQFunctionContextGetInt32Read(CeedQFunctionContext ctx, CeedContextFieldLabel field_label,
                                                 size_t *num_values, const int32_t **values);
CEED_EXTERN int CeedQFunctionContextRestoreInt32Read(CeedQFunctionContext ctx,
                                                     CeedContextFieldLabel field_label,
                                                     const int32_t **values);
CEED_EXTERN int CeedQFunctionContextGetBooleanRead(CeedQFunctionContext ctx,
                                                   CeedContextFieldLabel field_label, size_t *num_values,
                                                   const bool **values);
CEED_EXTERN int CeedQFunctionContextRestoreBooleanRead(CeedQFunctionContext ctx,
                                                       CeedContextFieldLabel field_label,
                                                       const bool **values);

// ---- Operators --------------------------------------------------------------------------------------------

// Whether it is a sum of operators (CeedOperatorCreateComposite).
CEED_EXTERN int CeedOperatorIsComposite(CeedOperator op, bool *is_composite);

// New reference. MINOR: composite.
CEED_EXTERN int CeedOperatorGetQFunction(CeedOperator op, CeedQFunction *qf);

// The basis, or restriction, that all active inputs (or outputs) share, as a new reference; of the
// functions with two results pointers may be NULL. The operator has to be ready. MINOR: they do not share
// one; composite. INCOMPLETE: there is no active field.
CEED_EXTERN int CeedOperatorGetActiveBasis(CeedOperator op, CeedBasis *active_basis);
CEED_EXTERN int CeedOperatorGetActiveBases(CeedOperator op, CeedBasis *active_input_basis,
                                           CeedBasis *active_output_basis);
CEED_EXTERN int CeedOperatorGetActiveElemRestriction(CeedOperator op, CeedElemRestriction *active_rstr);
CEED_EXTERN int CeedOperatorGetActiveElemRestrictions(CeedOperator op, CeedElemRestriction *active_input_rstr,
                                                      CeedElemRestriction *active_output_rstr);

// Number of fields set so far. MINOR: composite.
CEED_EXTERN int CeedOperatorGetNumArgs(CeedOperator op, CeedInt *num_args);

// Whether all bases of a ready operator are tensor products.
CEED_EXTERN int CeedOperatorHasTensorBases(CeedOperator op, bool *has_tensor_bases);

// What assembly is made of, built on the first request from a ready operator; belongs to it. INCOMPATIBLE:
// composite.
CEED_EXTERN int CeedOperatorGetOperatorAssemblyData(CeedOperator op, CeedOperatorAssemblyData *data);

// The different bases of active inputs and outputs in order of appearance, and for each the rows of all its
// modes: assembled_bases[b][(q*num_modes + m)*P + p] is mode m of node p at point q. Borrowed; pointers may
// be NULL.
CEED_EXTERN int CeedOperatorAssemblyDataGetBases(CeedOperatorAssemblyData data, CeedInt *num_active_bases_in,
                                                 CeedBasis **active_bases_in,
                                                 const CeedScalar ***assembled_bases_in,
                                                 CeedInt *num_active_bases_out, CeedBasis **active_bases_out,
                                                 const CeedScalar ***assembled_bases_out);

// The restriction of the first field of each of these bases. Borrowed; pointers may be NULL.
CEED_EXTERN int CeedOperatorAssemblyDataGetElemRestrictions(CeedOperatorAssemblyData data,
                                                            CeedInt *num_active_rstrs_in,
                                                            CeedElemRestriction **active_rstrs_in,
                                                            CeedInt *num_active_rstrs_out,
                                                            CeedElemRestriction **active_rstrs_out);

// For each of these bases its modes, one entry per quadrature component (GRAD counts dim times), and where
// the scalars of each begin in the list of all active inputs or outputs; num_output_components: length of
// the latter. Borrowed; pointers may be NULL.
CEED_EXTERN int CeedOperatorAssemblyDataGetEvalModes(
    CeedOperatorAssemblyData data, CeedInt *num_active_bases_in, CeedInt **num_eval_modes_in,
    const CeedEvalMode ***eval_modes_in, CeedSize ***eval_mode_offsets_in, CeedInt *num_active_bases_out,
    CeedInt **num_eval_modes_out, const CeedEvalMode ***eval_modes_out, CeedSize ***eval_mode_offsets_out,
    CeedSize *num_output_components);

#endif
