// SPDX-License-Identifier: BSD-2-Clause
// The functions of the Ceed API: finite element operators A = E^T B^T D B E on the data of one process.
// Called by every client, through <ceed.h>. Communication between processes is left to the caller;
// functions meant for backends, which a few programs use too, are in ceed/backend.h.
#ifndef CEED_CEED_H
#define CEED_CEED_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "types.h"

// ---- Words and layouts ------------------------------------------------------------------------------------
//
//      L-vector  --E-->  E-vector  --B-->  Q-vector  --D-->  Q-vector  --B^T-->  E-vector  --E^T-->  L-vector
//      one copy          a copy for        values at         D: the QFunction,            E^T adds into
//      of each dof       each element      points            point by point               the L-vector
//
// E is a CeedElemRestriction, B a CeedBasis, D a CeedQFunction, all of it a CeedOperator. All indices count
// from 0; of an array written [a][b] the last index is the fastest. Used throughout: node i < elem_size
// (P), component j or c < num_comp, element k or e < num_elem, quadrature point q < Q, direction d < dim.
//
// L-vector: the caller's layout.
//   with offsets   offsets[k*elem_size + i] + j*comp_stride
//   strided        i*strides[0] + j*strides[1] + k*strides[2]
//   at points      offsets[offsets[k] + i]*num_comp + j
//
// E-vector: the backend's layout, i*layout[0] + j*layout[1] + k*layout[2] with CeedElemRestrictionGetELayout.
// Two elements of two components and three nodes:
//
//   host {1, elem_size, elem_size*num_comp}            device {1, elem_size*num_elem, elem_size}
//   | k=0         | k=1         |                      | j=0         | j=1         |
//   | j=0  | j=1  | j=0  | j=1  |                      | k=0  | k=1  | k=0  | k=1  |
//   | 012  | 012  | 012  | 012  | i                    | 012  | 012  | 012  | 012  | i
//
//   blocked, b elements together, k = B*b + l:  B*b*elem_size*num_comp + (j*elem_size + i)*b + l
//   at points, n_k points in element k, at most n_max:
//     host:  O(k) + j*n_k + i,  O(k) = num_comp*(n_0 + ... + n_{k-1})
//     device:  O(k) + j*n_max*num_elem + i,  O(k) = k*n_max
//
// Vectors of a basis, one element. q_comp is 1 or, for the derivatives and for vector valued spaces, more:
//   nodes      [num_comp][P]             c*P + p          tensor: p = ix + P_1d*(iy + P_1d*iz), x the fastest
//   points     [q_comp][num_comp][Q]     (d*num_comp + c)*Q + q
//   weights    [Q]                       q
//   q_comp:    H1: INTERP 1, GRAD dim.   H(div), H(curl): INTERP dim.   DIV 1.   CURL 1 if dim < 3, else dim.
//   several elements, host: index*num_elem + e, the elements fastest
//   several elements, device: d*num_comp + c (nodes: c) becomes (d*num_comp + c)*num_elem + e
//
// Fields of a QFunction with size scalars per point: [size][Q], (d*num_comp + c)*Q + q.
//
// ---- Rules for all functions ------------------------------------------------------------------------------
//
// Results    0, or a CeedErrorType after one report to the error handler of the context concerned. Codes
//            are named without CEED_ERROR_ here. A positive code from inside a larger action (a vector found
//            too short while an operator is applied) arrives as BACKEND. A NULL handle is refused with
//            INCOMPATIBLE, and so are sentinels that mean nothing to the function and objects of another
//            type. Pointers to results are not NULL unless that is allowed.
// Lifetime   Objects are counted. Create(.., &x) overwrites x and gives the caller one reference.
//            ReferenceCopy(x, &y) releases what y held (NULL or a live handle) and takes a reference for y.
//            Destroy(&x) drops a reference, frees the object with the last one, sets x to NULL; NULL and
//            sentinels do nothing. Objects keep alive their Ceed and all objects handed to them, so that the
//            caller may destroy its own handles at once.
// Getters    GetCeed gives a new reference, to be destroyed; ReturnCeed gives a borrowed handle. Strings and
//            arrays that are returned belong to the object and live as long, unless it says otherwise.
// Views      Each line is indented by 2 blanks per tab (SetNumViewTabs, at first 0); num_tabs < 0: MINOR.
// Threads    A Ceed with all its objects is used by one thread at a time.

// ---- Version ----------------------------------------------------------------------------------------------

#define CEED_VERSION_MAJOR   0
#define CEED_VERSION_MINOR   12
#define CEED_VERSION_PATCH   0
#define CEED_VERSION_RELEASE false

// Whether this is at least the given version, in expressions and in #if. A development state is newer
// than every version.
// clang-format off
#define CEED_VERSION_MINOR_GE(minor, patch) (CEED_VERSION_MINOR > (minor) || (CEED_VERSION_MINOR == (minor) && CEED_VERSION_PATCH >= (patch)))
#define CEED_VERSION_GE(major, minor, patch) (!CEED_VERSION_RELEASE || CEED_VERSION_MAJOR > (major) || (CEED_VERSION_MAJOR == (major) && CEED_VERSION_MINOR_GE(minor, patch)))
// clang-format on

// ---- Handles ----------------------------------------------------------------------------------------------

typedef struct CeedObject_private *CeedObject;                       // any of the objects below
typedef struct Ceed_private *Ceed;                                   // context: a backend and its settings
typedef struct CeedRequest_private *CeedRequest;                     // progress of an action
typedef struct CeedVector_private *CeedVector;                       // scalars on host and device
typedef struct CeedElemRestriction_private *CeedElemRestriction;     // E
typedef struct CeedBasis_private *CeedBasis;                         // B
typedef struct CeedQFunctionField_private *CeedQFunctionField;       // field of a QFunction; not counted
typedef struct CeedQFunction_private *CeedQFunction;                 // D
typedef struct CeedQFunctionContext_private *CeedQFunctionContext;   // parameters of a QFunction
typedef struct CeedContextFieldLabel_private *CeedContextFieldLabel; // named parameter; not counted
typedef struct CeedOperatorField_private *CeedOperatorField;         // field of an operator; not counted
typedef struct CeedOperator_private *CeedOperator;                   // E^T B^T D B E

// Receives every error: where it was found, its code, and a printf message. Its result becomes the result
// of the call that failed.
typedef int (*CeedErrorHandler)(Ceed ceed, const char *filename, int line, const char *func, int ecode,
                                const char *format, va_list *args);

// A QFunction: computes all outputs at Q points from all inputs at these points, each point by itself. ctx:
// bytes of its context, or NULL. in[k], out[k]: the k-th field in the order in which it was added,
// [size][Q]; arrays do not overlap. Q is whatever the backend passes, a multiple of vec_length, not the
// number of points of an element. Outputs hold nothing before; every entry is written. Returns 0, or a code
// that the caller of the action gets.
typedef int (*CeedQFunctionUser)(void *ctx, const CeedInt Q, const CeedScalar *const *in,
                                 CeedScalar *const *out);

// Releases the data of a context. Returns 0 or a code.
typedef int (*CeedQFunctionContextDataDestroyUser)(void *data);

// ---- Constants --------------------------------------------------------------------------------------------

CEED_EXTERN CeedRequest *const CEED_REQUEST_IMMEDIATE; // done when the call returns
CEED_EXTERN CeedRequest *const CEED_REQUEST_ORDERED;   // done before later calls of the same context

// Sentinels: distinct addresses, compared with ==, never dereferenced.
CEED_EXTERN const CeedVector CEED_VECTOR_ACTIVE; // field takes the vector passed to apply
CEED_EXTERN const CeedVector CEED_VECTOR_NONE;   // no vector; its length is 0
CEED_EXTERN const CeedElemRestriction CEED_ELEMRESTRICTION_NONE;
CEED_EXTERN const CeedBasis CEED_BASIS_NONE;
CEED_EXTERN const CeedQFunction CEED_QFUNCTION_NONE;

// Strides {0,0,0}, recognised by value: the L-vector has the backend's E-vector layout.
CEED_EXTERN const CeedInt CEED_STRIDES_BACKEND[3];

// Texts of the enumerators in ceed/types.h, indexed by value; CeedErrorTypes takes negative codes too.
CEED_EXTERN const char *const *CeedErrorTypes;
CEED_EXTERN const char *const CeedMemTypes[];
CEED_EXTERN const char *const CeedCopyModes[];
CEED_EXTERN const char *const CeedTransposeModes[];
CEED_EXTERN const char *const CeedEvalModes[];
CEED_EXTERN const char *const CeedQuadModes[];
CEED_EXTERN const char *const CeedElemTopologies[];
CEED_EXTERN const char *const CeedContextFieldTypes[];

// ---- Errors -----------------------------------------------------------------------------------------------

// Reports an error with a printf message; an expression of value ecode, to be returned. ceed may be NULL.
#define CEED_HERE                   __FILE__, __LINE__, __func__
#define CeedError(ceed, ecode, ...) (CeedErrorImpl((ceed), CEED_HERE, (ecode), __VA_ARGS__), (ecode))

// Calls the error handler of ceed and returns its result. Without a context: returns ecode if the environment
// variable CEED_ERROR_HANDLER is "return", aborts otherwise.
// clang-format off
CEED_EXTERN int CeedErrorImpl(Ceed ceed, const char *filename, int lineno, const char *func, int ecode, const char *format, ...);
// clang-format on

// Handlers to choose from. Return: passes the code on in silence. Store: keeps "<file>:<line> in <func>():
// <message>" (1024 bytes) in the outermost context and passes the code on. Abort, Exit: print that text to
// stderr and end the program with abort() or exit(err_code). A new context has Abort, unless
// CEED_ERROR_HANDLER says "exit" or "store".
CEED_EXTERN int CeedErrorReturn(Ceed ceed, const char *filename, int line, const char *func, int err_code,
                                const char *format, va_list *args);
CEED_EXTERN int CeedErrorStore(Ceed ceed, const char *filename, int line, const char *func, int err_code,
                               const char *format, va_list *args);
CEED_EXTERN int CeedErrorAbort(Ceed ceed, const char *filename, int line, const char *func, int err_code,
                               const char *format, va_list *args);
CEED_EXTERN int CeedErrorExit(Ceed ceed, const char *filename, int line, const char *func, int err_code,
                              const char *format, va_list *args);

// Installs a handler in the context and in all contexts to which it delegates.
CEED_EXTERN int CeedSetErrorHandler(Ceed ceed, CeedErrorHandler handler);

// The text stored last, or "No error message stored". Belongs to the context; changes with the next error.
CEED_EXTERN int CeedGetErrorMessage(Ceed ceed, const char **err_msg);

// Forgets the stored text and sets *err_msg to NULL.
CEED_EXTERN int CeedResetErrorMessage(Ceed ceed, const char **err_msg);

// ---- Context ----------------------------------------------------------------------------------------------

// Makes a context for a resource: "[help:]<stem>[:<option>...]", as in "/cpu/self" or
// "/gpu/cuda:device_id=1". The stem is a registered name or a leading part of several, of which the one
// with the best priority is taken; "help:" lists all names on stderr first. Device missing, not compiled
// in, no such name: a negative code; there is no silent fallback. NULL resource or no match: MAJOR,
// reported without a context. An option that the resource does not have, with a value where there is none or
// without, out of range or given twice, and another RITZ_WARNINGS than off, once, all: INCOMPATIBLE. On
// failure *ceed is NULL.
CEED_EXTERN int CeedInit(const char *resource, Ceed *ceed);
CEED_EXTERN int CeedReferenceCopy(Ceed ceed, Ceed *ceed_copy);
// ACCESS (last reference): a work vector or a list of JiT paths is still checked out.
CEED_EXTERN int CeedDestroy(Ceed *ceed);

// The registered name that was chosen, without options and "help:".
CEED_EXTERN int CeedGetResource(Ceed ceed, const char **resource);

// Memory in which arrays are passed without a copy.
CEED_EXTERN int CeedGetPreferredMemType(Ceed ceed, CeedMemType *mem_type);

// Whether repeating an action gives the same bits.
CEED_EXTERN int CeedIsDeterministic(Ceed ceed, bool *is_deterministic);

// Gives the backend the device stream (or queue) on which it shall work. handle NULL: INCOMPATIBLE; a backend
// without streams: UNSUPPORTED.
CEED_EXTERN int CeedSetStream(Ceed ceed, void *handle);

// Adds a folder (its path ends in '/') in which sources of QFunctions and their includes are looked for,
// after those added earlier; the first is the library's include folder, found beside the library. Sources of
// the library's own QFunctions and the headers they need are inside it, too. Rust: the same for crates. The
// string is copied. ACCESS: the list is checked out.
CEED_EXTERN int CeedAddJitSourceRoot(Ceed ceed, const char *jit_source_root);
CEED_EXTERN int CeedAddRustSourceRoot(Ceed ceed, const char *rust_source_root);

// Adds a macro, "NAME" or "NAME=value", to all later run-time compilations. It does not reach QFunctions
// that the application compiled. The string is copied. ACCESS: the list is checked out.
CEED_EXTERN int CeedAddJitDefine(Ceed ceed, const char *jit_define);

// Whether CUDA sources are compiled with Clang.
CEED_EXTERN int CeedSetIsClang(Ceed ceed, bool isClang);
CEED_EXTERN int CeedGetIsClang(Ceed ceed, bool *isClang);

// Shows resource and preferred memory in three lines.
CEED_EXTERN int CeedView(Ceed ceed, FILE *stream);
CEED_EXTERN int CeedSetNumViewTabs(Ceed ceed, CeedInt num_tabs);
CEED_EXTERN int CeedGetNumViewTabs(Ceed ceed, CeedInt *num_tabs);

// ---- Registry and library ---------------------------------------------------------------------------------

// Registers the library's backends. CeedInit does it; calling it again does nothing.
CEED_EXTERN int CeedRegisterAll(void);

// Names of the usable resources, and their priorities (lower is preferred) unless priorities is NULL. The
// caller frees both arrays with free(), not the strings. None: MAJOR.
CEED_EXTERN int CeedRegistryGetList(size_t *n, char ***const resources, CeedInt **priorities);

// The version macros as the library was compiled. Each pointer may be NULL.
CEED_EXTERN int CeedGetVersion(int *major, int *minor, int *patch, bool *release);

// Static strings: description of the source, or "unknown"; of the build, lines "NAME = value".
CEED_EXTERN int CeedGetGitVersion(const char **git_version);
CEED_EXTERN int CeedGetBuildConfiguration(const char **build_config);

// Precision of CeedScalar in the library.
CEED_EXTERN int CeedGetScalarType(CeedScalarType *scalar_type);

// ---- Any object -------------------------------------------------------------------------------------------
// A handle of any counted object may be cast: (CeedObject)vec, (CeedObject *)&vec.

// The view of the object's own type; vectors are shown with "%12.8f". Does nothing for a type without a view.
CEED_EXTERN int CeedObjectView(CeedObject obj, FILE *stream);
CEED_EXTERN int CeedObjectSetNumViewTabs(CeedObject obj, CeedInt num_tabs);
CEED_EXTERN int CeedObjectGetNumViewTabs(CeedObject obj, CeedInt *num_tabs);
// Of a Ceed: the context itself.
CEED_EXTERN int CeedObjectGetCeed(CeedObject obj, Ceed *ceed);
CEED_EXTERN Ceed CeedObjectReturnCeed(CeedObject obj);
CEED_EXTERN int CeedObjectDestroy(CeedObject *obj);

// ---- Requests ---------------------------------------------------------------------------------------------
// A CeedRequest * argument is CEED_REQUEST_IMMEDIATE, CEED_REQUEST_ORDERED or the address of a CeedRequest,
// which becomes NULL when the action is done.

// Waits for the action. NULL: it is done. Anything else: UNSUPPORTED.
CEED_EXTERN int CeedRequestWait(CeedRequest *req);

// ---- Vectors ----------------------------------------------------------------------------------------------
// A vector has values in host memory, in device memory or in both; asking for them in one memory copies if
// need be. A memory holds at most one array: the caller's (borrowed) or the library's (owned). Values may
// be read by any number of readers or written by one writer. Unless said otherwise, calls that read need
// values and no writer, calls that write need neither readers nor a writer. Errors of all: ACCESS, the
// array is lent out; BACKEND, there are no values, or the resource has no device memory.

// A vector of len >= 0 entries without values; nothing is allocated. len < 0: UNSUPPORTED.
CEED_EXTERN int CeedVectorCreate(Ceed ceed, CeedSize len, CeedVector *vec);
CEED_EXTERN int CeedVectorReferenceCopy(CeedVector vec, CeedVector *vec_copy);
// ACCESS (last reference): the array is lent out. A borrowed array is left as it is; call
// CeedVectorTakeArray or CeedVectorSyncArray before, to have the values in it.
CEED_EXTERN int CeedVectorDestroy(CeedVector *vec);
// Number of entries.
CEED_EXTERN int CeedVectorGetLength(CeedVector vec, CeedSize *length);

// Gives the vector an array of its length; other memories lose their values. COPY_VALUES: copies into the
// present array, also if that is borrowed; array may be NULL (unspecified values). USE_POINTER: borrows.
// OWN_POINTER: owns.
CEED_EXTERN int CeedVectorSetArray(CeedVector vec, CeedMemType mem_type, CeedCopyMode copy_mode,
                                   CeedScalar *array);

// Gives a borrowed array back, with the values in it; the vector keeps none in this memory. array may be
// NULL. BACKEND: no array of this memory is borrowed.
CEED_EXTERN int CeedVectorTakeArray(CeedVector vec, CeedMemType mem_type, CeedScalar **array);

// Brings the values into this memory; a borrowed array receives them. Readers do not matter.
CEED_EXTERN int CeedVectorSyncArray(CeedVector vec, CeedMemType mem_type);

// Lends the array for reading and writing; for reading; for writing, with unspecified contents (no values
// needed). Valid until restored; only this memory has values after writing. Length 0: the pointer is NULL.
CEED_EXTERN int CeedVectorGetArray(CeedVector vec, CeedMemType mem_type, CeedScalar **array);
CEED_EXTERN int CeedVectorGetArrayRead(CeedVector vec, CeedMemType mem_type, const CeedScalar **array);
CEED_EXTERN int CeedVectorGetArrayWrite(CeedVector vec, CeedMemType mem_type, CeedScalar **array);

// Ends what CeedVectorGetArray or CeedVectorGetArrayWrite, or CeedVectorGetArrayRead, began; *array, which
// may be NULL already, becomes NULL. ACCESS: nothing of the kind was lent.
CEED_EXTERN int CeedVectorRestoreArray(CeedVector vec, CeedScalar **array);
CEED_EXTERN int CeedVectorRestoreArrayRead(CeedVector vec, const CeedScalar **array);

// All entries become value. No values are needed before.
CEED_EXTERN int CeedVectorSetValue(CeedVector vec, CeedScalar value);

// Entries start, start + step, ... below stop become value; stop -1 means the length. stop beyond it: ACCESS.
CEED_EXTERN int CeedVectorSetValueStrided(CeedVector vec, CeedSize start, CeedSize stop, CeedSize step,
                                          CeedScalar value);

// Copies the values of vec to vec_copy, of the same length (else INCOMPATIBLE). A borrowed array stays
// borrowed and receives them.
CEED_EXTERN int CeedVectorCopy(CeedVector vec, CeedVector vec_copy);

// vec_copy[i] = vec[i] for i = start, start + step, ... below stop; stop -1 means the shorter length. Both
// have values. ACCESS: start or stop lies outside of the shorter length, or start > stop.
CEED_EXTERN int CeedVectorCopyStrided(CeedVector vec, CeedSize start, CeedSize stop, CeedSize step,
                                      CeedVector vec_copy);

// Norm over the entries of this process; 0 if there are none.
CEED_EXTERN int CeedVectorNorm(CeedVector vec, CeedNormType type, CeedScalar *norm);

// x = alpha x.
CEED_EXTERN int CeedVectorScale(CeedVector x, CeedScalar alpha);

// Entries with |x_i| <= threshold become 0.
CEED_EXTERN int CeedVectorFilter(CeedVector x, CeedScalar threshold);

// y = alpha x + y, and y = alpha x + beta y. UNSUPPORTED: lengths differ, or x and y are the same vector.
// INCOMPATIBLE: they belong to different contexts.
CEED_EXTERN int CeedVectorAXPY(CeedVector y, CeedScalar alpha, CeedVector x);
CEED_EXTERN int CeedVectorAXPBY(CeedVector y, CeedScalar alpha, CeedScalar beta, CeedVector x);

// w_i = x_i y_i for all entries of w, which needs no values; any two may be the same vector. UNSUPPORTED: x
// or y is shorter than w. INCOMPATIBLE: they belong to different contexts.
CEED_EXTERN int CeedVectorPointwiseMult(CeedVector w, CeedVector x, CeedVector y);

// Entries with |x_i| > CEED_EPSILON become 1 / x_i; others stay.
CEED_EXTERN int CeedVectorReciprocal(CeedVector vec);

// Shows the entries start, start + step, ... up to (not including) stop, one a line, with the printf format
// fp_fmt ("%g" if NULL); stop -1 means the length; step 0: MINOR. CeedVectorView shows all.
CEED_EXTERN int CeedVectorViewRange(CeedVector vec, CeedSize start, CeedSize stop, CeedInt step,
                                    const char *fp_fmt, FILE *stream);
CEED_EXTERN int CeedVectorView(CeedVector vec, const char *fp_fmt, FILE *stream);
CEED_EXTERN int CeedVectorSetNumViewTabs(CeedVector vec, CeedInt num_tabs);
CEED_EXTERN int CeedVectorGetNumViewTabs(CeedVector vec, CeedInt *num_tabs);
CEED_EXTERN int CeedVectorGetCeed(CeedVector vec, Ceed *ceed);
CEED_EXTERN Ceed CeedVectorReturnCeed(CeedVector vec);

// ---- Element restrictions: making them --------------------------------------------------------------------
// All: num_elem >= 0, elem_size > 0, num_comp > 0, and comp_stride > 0 if num_comp > 1 (else DIMENSION).
// Arrays are of memory mem_type (a resource without it: BACKEND) and are copied, borrowed or owned as
// copy_mode says, offsets and orientations alike. l_size: length of the L-vector, which may exceed what is
// referenced.

// offsets [num_elem][elem_size]: see the top of this file; 0 <= o, o + (num_comp - 1)*comp_stride < l_size
// (BACKEND where it is checked). May be NULL if num_elem is 0.
CEED_EXTERN int CeedElemRestrictionCreate(Ceed ceed, CeedInt num_elem, CeedInt elem_size, CeedInt num_comp,
                                          CeedInt comp_stride, CeedSize l_size, CeedMemType mem_type,
                                          CeedCopyMode copy_mode, const CeedInt *offsets,
                                          CeedElemRestriction *rstr);

// With signs: orients [num_elem][elem_size], true where the node changes sign in all components. NULL:
// BACKEND.
CEED_EXTERN int CeedElemRestrictionCreateOriented(Ceed ceed, CeedInt num_elem, CeedInt elem_size,
                                                  CeedInt num_comp, CeedInt comp_stride, CeedSize l_size,
                                                  CeedMemType mem_type, CeedCopyMode copy_mode,
                                                  const CeedInt *offsets, const bool *orients,
                                                  CeedElemRestriction *rstr);

// With a tridiagonal matrix T for each element: curl_orients [num_elem][elem_size][3] = T(i,i-1), T(i,i),
// T(i,i+1). E-vector entry i is the sum over n of T(i,n) times L-entry n; transposed, L-entry n receives
// the sum over i of T(i,n) times E-entry i. First and last number of an element are not used. NULL: BACKEND.
CEED_EXTERN int CeedElemRestrictionCreateCurlOriented(Ceed ceed, CeedInt num_elem, CeedInt elem_size,
                                                      CeedInt num_comp, CeedInt comp_stride, CeedSize l_size,
                                                      CeedMemType mem_type, CeedCopyMode copy_mode,
                                                      const CeedInt *offsets, const CeedInt8 *curl_orients,
                                                      CeedElemRestriction *rstr);

// strides[3] (copied) of node, component and element, or CEED_STRIDES_BACKEND, where E is the identity.
// DIMENSION: l_size < num_elem * elem_size * num_comp.
CEED_EXTERN int CeedElemRestrictionCreateStrided(Ceed ceed, CeedInt num_elem, CeedInt elem_size,
                                                 CeedInt num_comp, CeedSize l_size, const CeedInt strides[3],
                                                 CeedElemRestriction *rstr);

// A list of points for each element. offsets has num_elem + 1 + num_points entries (host): entries k and
// k+1 are begin and end of the list of element k in this very array, so offsets[0] = num_elem + 1; the rest
// are numbers of points, not multiplied by num_comp. Elements with points {4,0} and {2}: {3, 5, 6, 4, 0, 2}.
// DIMENSION: num_points < 0 or l_size < num_points * num_comp.
CEED_EXTERN int CeedElemRestrictionCreateAtPoints(Ceed ceed, CeedInt num_elem, CeedInt num_points,
                                                  CeedInt num_comp, CeedSize l_size, CeedMemType mem_type,
                                                  CeedCopyMode copy_mode, const CeedInt *offsets,
                                                  CeedElemRestriction *rstr);

// The same kinds with an E-vector of blocks of block_size > 0 elements (else DIMENSION); the last block is
// filled up with copies of the last element, which the transpose ignores. Arrays come unblocked, in host
// memory, and are copied; those given with OWN_POINTER are freed. A resource without blocks: UNSUPPORTED.
CEED_EXTERN int CeedElemRestrictionCreateBlocked(Ceed ceed, CeedInt num_elem, CeedInt elem_size,
                                                 CeedInt block_size, CeedInt num_comp, CeedInt comp_stride,
                                                 CeedSize l_size, CeedMemType mem_type,
                                                 CeedCopyMode copy_mode, const CeedInt *offsets,
                                                 CeedElemRestriction *rstr);
CEED_EXTERN int CeedElemRestrictionCreateBlockedOriented(Ceed ceed, CeedInt num_elem, CeedInt elem_size,
                                                         CeedInt block_size, CeedInt num_comp,
                                                         CeedInt comp_stride, CeedSize l_size,
                                                         CeedMemType mem_type, CeedCopyMode copy_mode,
                                                         const CeedInt *offsets, const bool *orients,
                                                         CeedElemRestriction *rstr);
CEED_EXTERN int CeedElemRestrictionCreateBlockedCurlOriented(
    Ceed ceed, CeedInt num_elem, CeedInt elem_size, CeedInt block_size, CeedInt num_comp, CeedInt comp_stride,
    CeedSize l_size, CeedMemType mem_type, CeedCopyMode copy_mode, const CeedInt *offsets,
    const CeedInt8 *curl_orients, CeedElemRestriction *rstr);
CEED_EXTERN int CeedElemRestrictionCreateBlockedStrided(Ceed ceed, CeedInt num_elem, CeedInt elem_size,
                                                        CeedInt block_size, CeedInt num_comp, CeedSize l_size,
                                                        const CeedInt strides[3], CeedElemRestriction *rstr);

// A restriction that shares the data of rstr (and keeps it alive) but acts with the absolute values of
// signs and matrices T, or without them. Queries answer as for rstr.
CEED_EXTERN int CeedElemRestrictionCreateUnsignedCopy(CeedElemRestriction rstr,
                                                      CeedElemRestriction *rstr_unsigned);
CEED_EXTERN int CeedElemRestrictionCreateUnorientedCopy(CeedElemRestriction rstr,
                                                        CeedElemRestriction *rstr_unoriented);

CEED_EXTERN int CeedElemRestrictionReferenceCopy(CeedElemRestriction rstr, CeedElemRestriction *rstr_copy);
// ACCESS (last reference): offsets or orientations are lent out.
CEED_EXTERN int CeedElemRestrictionDestroy(CeedElemRestriction *rstr);

// ---- Element restrictions: using them ---------------------------------------------------------------------

// Vectors of L-vector and E-vector length without values; either pointer may be NULL.
CEED_EXTERN int CeedElemRestrictionCreateVector(CeedElemRestriction rstr, CeedVector *lvec, CeedVector *evec);

// NOTRANSPOSE: E-vector ru = E u, overwritten, values not needed before. TRANSPOSE: L-vector ru += E^T u.
// Without elements ru is not touched. DIMENSION: a vector is shorter than the L-size or E-size.
CEED_EXTERN int CeedElemRestrictionApply(CeedElemRestriction rstr, CeedTransposeMode t_mode, CeedVector u,
                                         CeedVector ru, CeedRequest *request);

// The same for the elements of one block; the E-side holds this block alone, lane l at
// (j*elem_size + i)*block_size + l. Not blocked: block is the element. DIMENSION: no such block, or lengths
// are not exactly those of L-vector and block.
CEED_EXTERN int CeedElemRestrictionApplyBlock(CeedElemRestriction rstr, CeedInt block,
                                              CeedTransposeMode t_mode, CeedVector u, CeedVector ru,
                                              CeedRequest *request);

// The same for one element of a restriction at points with n points in it; the E-side holds this element
// alone, j*n + i. DIMENSION: no such element or a vector is too short. UNSUPPORTED: not at points.
CEED_EXTERN int CeedElemRestrictionApplyAtPointsInElement(CeedElemRestriction rstr, CeedInt elem,
                                                          CeedTransposeMode t_mode, CeedVector u,
                                                          CeedVector ru, CeedRequest *request);

// mult = E^T E 1, overwritten: how many element nodes refer to each entry of the L-vector, if E has no signs.
CEED_EXTERN int CeedElemRestrictionGetMultiplicity(CeedElemRestriction rstr, CeedVector mult);

// Arguments of creation. CompStride: 0 if strided, 1 at points. ElementSize: 0 at points.
CEED_EXTERN int CeedElemRestrictionGetCompStride(CeedElemRestriction rstr, CeedInt *comp_stride);
CEED_EXTERN int CeedElemRestrictionGetNumElements(CeedElemRestriction rstr, CeedInt *num_elem);
CEED_EXTERN int CeedElemRestrictionGetElementSize(CeedElemRestriction rstr, CeedInt *elem_size);
CEED_EXTERN int CeedElemRestrictionGetNumComponents(CeedElemRestriction rstr, CeedInt *num_comp);
CEED_EXTERN int CeedElemRestrictionGetLVectorSize(CeedElemRestriction rstr, CeedSize *l_size);

// Length of the E-vector, padding included.
CEED_EXTERN int CeedElemRestrictionGetEVectorSize(CeedElemRestriction rstr, CeedSize *e_size);

// Number and size of blocks (CeedElemRestrictionCreateBlocked); not blocked: num_elem blocks of size 1.
CEED_EXTERN int CeedElemRestrictionGetNumBlocks(CeedElemRestriction rstr, CeedInt *num_block);
CEED_EXTERN int CeedElemRestrictionGetBlockSize(CeedElemRestriction rstr, CeedInt *block_size);

// Points in all elements, in one, and the least and greatest number in an element (0 without elements;
// pointers of the last function may be NULL). INCOMPATIBLE: not a restriction at points.
CEED_EXTERN int CeedElemRestrictionGetNumPoints(CeedElemRestriction rstr, CeedInt *num_points);
CEED_EXTERN int CeedElemRestrictionGetNumPointsInElement(CeedElemRestriction rstr, CeedInt elem,
                                                         CeedInt *num_points);
CEED_EXTERN int CeedElemRestrictionGetMaxPointsInElement(CeedElemRestriction rstr, CeedInt *max_points);
CEED_EXTERN int CeedElemRestrictionGetMinPointsInElement(CeedElemRestriction rstr, CeedInt *min_points);
CEED_EXTERN int CeedElemRestrictionGetMinMaxPointsInElement(CeedElemRestriction rstr, CeedInt *min_points,
                                                            CeedInt *max_points);

// Shows the sizes in one line.
CEED_EXTERN int CeedElemRestrictionView(CeedElemRestriction rstr, FILE *stream);
CEED_EXTERN int CeedElemRestrictionSetNumViewTabs(CeedElemRestriction rstr, CeedInt num_tabs);
CEED_EXTERN int CeedElemRestrictionGetNumViewTabs(CeedElemRestriction rstr, CeedInt *num_tabs);
CEED_EXTERN int CeedElemRestrictionGetCeed(CeedElemRestriction rstr, Ceed *ceed);
CEED_EXTERN Ceed CeedElemRestrictionReturnCeed(CeedElemRestriction rstr);

// ---- Bases: making them -----------------------------------------------------------------------------------
// All: numbers of components, nodes and points, and the dimension, are positive (else DIMENSION). Arrays
// lie in host memory, row-major, and are copied; a NULL array stands for zeros. No geometry is involved:
// derivatives and weights are those of the reference element.

// Lagrange basis on [-1,1]^dim: the P Gauss-Lobatto nodes and Q points of the rule in each direction,
// ascending. P >= 2, and Q >= 2 for Gauss-Lobatto points (else DIMENSION).
CEED_EXTERN int CeedBasisCreateTensorH1Lagrange(Ceed ceed, CeedInt dim, CeedInt num_comp, CeedInt P,
                                                CeedInt Q, CeedQuadMode quad_mode, CeedBasis *basis);

// Tensor product of one table: interp_1d, grad_1d [Q_1d][P_1d]; q_ref_1d, q_weight_1d [Q_1d].
CEED_EXTERN int CeedBasisCreateTensorH1(Ceed ceed, CeedInt dim, CeedInt num_comp, CeedInt P_1d, CeedInt Q_1d,
                                        const CeedScalar *interp_1d, const CeedScalar *grad_1d,
                                        const CeedScalar *q_ref_1d, const CeedScalar *q_weight_1d,
                                        CeedBasis *basis);

// Any element, P = num_nodes, Q = nqpts: interp [Q][P], grad [dim][Q][P], q_ref [dim][Q], q_weights [Q].
CEED_EXTERN int CeedBasisCreateH1(Ceed ceed, CeedElemTopology topo, CeedInt num_comp, CeedInt num_nodes,
                                  CeedInt nqpts, const CeedScalar *interp, const CeedScalar *grad,
                                  const CeedScalar *q_ref, const CeedScalar *q_weights, CeedBasis *basis);

// Vector valued: interp [dim][Q][P], div [Q][P].
CEED_EXTERN int CeedBasisCreateHdiv(Ceed ceed, CeedElemTopology topo, CeedInt num_comp, CeedInt num_nodes,
                                    CeedInt nqpts, const CeedScalar *interp, const CeedScalar *div,
                                    const CeedScalar *q_ref, const CeedScalar *q_weights, CeedBasis *basis);

// Vector valued: interp [dim][Q][P], curl [q_comp][Q][P] with q_comp = 1 if dim < 3, else dim.
CEED_EXTERN int CeedBasisCreateHcurl(Ceed ceed, CeedElemTopology topo, CeedInt num_comp, CeedInt num_nodes,
                                     CeedInt nqpts, const CeedScalar *interp, const CeedScalar *curl,
                                     const CeedScalar *q_ref, const CeedScalar *q_weights, CeedBasis *basis);

// The basis whose "points" are the nodes of basis_to: INTERP takes nodal values of basis_from to those of
// basis_to, by least squares on their common quadrature points, pinv(interp_to) interp_from; GRAD likewise
// (H1). Components are those of basis_from; it has no weights. DIMENSION: Q differ. MINOR: spaces differ.
// UNSUPPORTED: fewer quadrature values than nodes of basis_to.
CEED_EXTERN int CeedBasisCreateProjection(CeedBasis basis_from, CeedBasis basis_to, CeedBasis *basis_project);

CEED_EXTERN int CeedBasisReferenceCopy(CeedBasis basis, CeedBasis *basis_copy);
CEED_EXTERN int CeedBasisDestroy(CeedBasis *basis);

// ---- Bases: using them ------------------------------------------------------------------------------------

// NOTRANSPOSE: v = B u, from nodes to points. TRANSPOSE: v = B^T u, from points to nodes, all directions
// summed; the whole of v is overwritten. WEIGHT: v = weights, u is CEED_VECTOR_NONE. One element is
// portable; layouts at the top of this file. DIMENSION: a vector is too short. INCOMPATIBLE: u is v. BACKEND:
// NONE, WEIGHT transposed, DIV or CURL of a tensor basis. UNSUPPORTED: another mode the basis lacks.
CEED_EXTERN int CeedBasisApply(CeedBasis basis, CeedInt num_elem, CeedTransposeMode t_mode,
                               CeedEvalMode eval_mode, CeedVector u, CeedVector v);

// v += B^T u. NOTRANSPOSE: UNSUPPORTED. Otherwise as CeedBasisApply.
CEED_EXTERN int CeedBasisApplyAdd(CeedBasis basis, CeedInt num_elem, CeedTransposeMode t_mode,
                                  CeedEvalMode eval_mode, CeedVector u, CeedVector v);

// The same between nodes and any points of [-1,1]^dim, num_points[e] in element e (host: num_elem = 1, else
// UNSUPPORTED). One element with n points: x_ref [dim][n]; nodes [num_comp][P]; INTERP [num_comp][n]; GRAD
// [dim][num_comp][n]. What is evaluated is the polynomial of degree Q_1d - 1 per direction through the
// values at the quadrature points; for Q_1d >= P_1d that is the function itself. WEIGHT gives 1 everywhere.
// Tensor bases with Q_1d > 1 and INTERP, GRAD, WEIGHT only (else UNSUPPORTED). DIMENSION: a vector is too
// short.
CEED_EXTERN int CeedBasisApplyAtPoints(CeedBasis basis, CeedInt num_elem, const CeedInt *num_points,
                                       CeedTransposeMode t_mode, CeedEvalMode eval_mode, CeedVector x_ref,
                                       CeedVector u, CeedVector v);
// v += ..., TRANSPOSE only (else UNSUPPORTED).
CEED_EXTERN int CeedBasisApplyAddAtPoints(CeedBasis basis, CeedInt num_elem, const CeedInt *num_points,
                                          CeedTransposeMode t_mode, CeedEvalMode eval_mode, CeedVector x_ref,
                                          CeedVector u, CeedVector v);

// Sizes. Nodes and quadrature points are totals, P_1d^dim and Q_1d^dim; the 1D numbers of a basis that is
// no tensor product: MINOR.
CEED_EXTERN int CeedBasisGetDimension(CeedBasis basis, CeedInt *dim);
CEED_EXTERN int CeedBasisGetTopology(CeedBasis basis, CeedElemTopology *topo);
CEED_EXTERN int CeedBasisGetNumComponents(CeedBasis basis, CeedInt *num_comp);
CEED_EXTERN int CeedBasisGetNumNodes(CeedBasis basis, CeedInt *P);
CEED_EXTERN int CeedBasisGetNumNodes1D(CeedBasis basis, CeedInt *P_1d);
CEED_EXTERN int CeedBasisGetNumQuadraturePoints(CeedBasis basis, CeedInt *Q);
CEED_EXTERN int CeedBasisGetNumQuadraturePoints1D(CeedBasis basis, CeedInt *Q_1d);

// Points [dim][Q] and weights [Q]; of tensor bases in one direction, [Q_1d]. These and the tables below are
// host arrays that belong to the basis.
CEED_EXTERN int CeedBasisGetQRef(CeedBasis basis, const CeedScalar **q_ref);
CEED_EXTERN int CeedBasisGetQWeights(CeedBasis basis, const CeedScalar **q_weights);

// Tables over all points and nodes (of tensor bases made on the first request): interp [Q][P], of vector
// valued bases [dim][Q][P]; grad [dim][Q][P]; div [Q][P]; curl [q_comp][Q][P]. NULL if the space has none.
CEED_EXTERN int CeedBasisGetInterp(CeedBasis basis, const CeedScalar **interp);
CEED_EXTERN int CeedBasisGetGrad(CeedBasis basis, const CeedScalar **grad);
CEED_EXTERN int CeedBasisGetDiv(CeedBasis basis, const CeedScalar **div);
CEED_EXTERN int CeedBasisGetCurl(CeedBasis basis, const CeedScalar **curl);

// Tables of one direction, [Q_1d][P_1d]. Not a tensor basis: MINOR.
CEED_EXTERN int CeedBasisGetInterp1D(CeedBasis basis, const CeedScalar **interp_1d);
CEED_EXTERN int CeedBasisGetGrad1D(CeedBasis basis, const CeedScalar **grad_1d);

// Shows sizes, points, weights and tables.
CEED_EXTERN int CeedBasisView(CeedBasis basis, FILE *stream);
CEED_EXTERN int CeedBasisSetNumViewTabs(CeedBasis basis, CeedInt num_tabs);
CEED_EXTERN int CeedBasisGetNumViewTabs(CeedBasis basis, CeedInt *num_tabs);
CEED_EXTERN int CeedBasisGetCeed(CeedBasis basis, Ceed *ceed);
CEED_EXTERN Ceed CeedBasisReturnCeed(CeedBasis basis);

// Quadrature on [-1,1] with Q points, ascending and symmetric. Gauss-Legendre, exact to degree 2Q - 1.
CEED_EXTERN int CeedGaussQuadrature(CeedInt Q, CeedScalar *q_ref_1d, CeedScalar *q_weight_1d);
// Gauss-Lobatto, exact to degree 2Q - 3, ends exactly -1 and 1; q_weight_1d may be NULL. Q < 2: DIMENSION,
// reported without a context.
CEED_EXTERN int CeedLobattoQuadrature(CeedInt Q, CeedScalar *q_ref_1d, CeedScalar *q_weight_1d);

// ---- QFunctions -------------------------------------------------------------------------------------------

// A QFunction of the caller. vec_length >= 1: Q is always a multiple of it. f: called on the host. source
// (copied): "file:function", what devices compile at first use (f_loc of CEED_QFUNCTION); the file is
// looked up as it stands, then below the JiT source roots. "": no device can run it. INCOMPLETE: source
// without ':'.
CEED_EXTERN int CeedQFunctionCreateInterior(Ceed ceed, CeedInt vec_length, CeedQFunctionUser f,
                                            const char *source, CeedQFunction *qf);

// One of the library's gallery (ceed/jit-source/gallery), most with their fields. INCOMPLETE: name is NULL.
// UNSUPPORTED: no entry of exactly this name.
CEED_EXTERN int CeedQFunctionCreateInteriorByName(Ceed ceed, const char *name, CeedQFunction *qf);

// Copies field "input" to field "output", size scalars per point.
CEED_EXTERN int CeedQFunctionCreateIdentity(Ceed ceed, CeedInt size, CeedEvalMode in_mode,
                                            CeedEvalMode out_mode, CeedQFunction *qf);

CEED_EXTERN int CeedQFunctionReferenceCopy(CeedQFunction qf, CeedQFunction *qf_copy);
CEED_EXTERN int CeedQFunctionDestroy(CeedQFunction *qf);

// Registers the gallery. CeedQFunctionCreateInteriorByName does it; calling it again does nothing.
CEED_EXTERN int CeedQFunctionRegisterAll(void);

// Adds a field; its name is copied. size = num_comp * q_comp scalars per point, of NONE the components, of
// WEIGHT 1. Size 0: not used; operators do not set the field, and the function finds no data in its place.
// MAJOR: the QFunction is in use (applied, its fields asked for, part of an operator). DIMENSION: size below
// 0, WEIGHT with another size than 1, or as an output. MINOR: name taken by an input or output.
CEED_EXTERN int CeedQFunctionAddInput(CeedQFunction qf, const char *field_name, CeedInt size,
                                      CeedEvalMode eval_mode);
CEED_EXTERN int CeedQFunctionAddOutput(CeedQFunction qf, const char *field_name, CeedInt size,
                                       CeedEvalMode eval_mode);

// Fields in the order of their addition; arrays belong to qf, pointers may be NULL. Ends adding of fields.
CEED_EXTERN int CeedQFunctionGetFields(CeedQFunction qf, CeedInt *num_input_fields,
                                       CeedQFunctionField **input_fields, CeedInt *num_output_fields,
                                       CeedQFunctionField **output_fields);
// What was given when the field was added; the name belongs to the field.
CEED_EXTERN int CeedQFunctionFieldGetName(CeedQFunctionField qf_field, const char **field_name);
CEED_EXTERN int CeedQFunctionFieldGetSize(CeedQFunctionField qf_field, CeedInt *size);
CEED_EXTERN int CeedQFunctionFieldGetEvalMode(CeedQFunctionField qf_field, CeedEvalMode *eval_mode);
// All at once; pointers may be NULL.
CEED_EXTERN int CeedQFunctionFieldGetData(CeedQFunctionField qf_field, const char **field_name, CeedInt *size,
                                          CeedEvalMode *eval_mode);

// Attaches a context (counted) in place of the previous one; NULL detaches. Allowed at any time.
CEED_EXTERN int CeedQFunctionSetContext(CeedQFunction qf, CeedQFunctionContext ctx);

// Whether the function writes to its context (default true). If not, readers may hold the context meanwhile.
CEED_EXTERN int CeedQFunctionSetContextWritable(CeedQFunction qf, bool is_writable);

// Floating-point operations per point, for CeedOperatorGetFlopsEstimate. Negative: INCOMPATIBLE.
CEED_EXTERN int CeedQFunctionSetUserFlopsEstimate(CeedQFunction qf, CeedSize flops);

// Runs the function alone, at Q points: u[k], v[k] of the k-th input and output, each at least [size][Q]. v
// is overwritten. DIMENSION: Q is no multiple of vec_length, or a vector is too short. BACKEND: a vector or
// the context is locked, or the function returned a positive code; a negative one is passed on.
CEED_EXTERN int CeedQFunctionApply(CeedQFunction qf, CeedInt Q, CeedVector *u, CeedVector *v);

// Shows name and fields.
CEED_EXTERN int CeedQFunctionView(CeedQFunction qf, FILE *stream);
CEED_EXTERN int CeedQFunctionSetNumViewTabs(CeedQFunction qf, CeedInt num_tabs);
CEED_EXTERN int CeedQFunctionGetNumViewTabs(CeedQFunction qf, CeedInt *num_tabs);
CEED_EXTERN int CeedQFunctionGetCeed(CeedQFunction qf, Ceed *ceed);
CEED_EXTERN Ceed CeedQFunctionReturnCeed(CeedQFunction qf);

// ---- Contexts of QFunctions -------------------------------------------------------------------------------
// A context is a block of bytes with one exclusive user or any number of readers, and named fields in it.
// Where a function takes `void *data` to give back a pointer, that is the address of a pointer: &params.
// Errors of all: MINOR, the data is lent out; BACKEND, there is none, or device memory is asked for where
// there is no device.

// A context without data.
CEED_EXTERN int CeedQFunctionContextCreate(Ceed ceed, CeedQFunctionContext *ctx);
CEED_EXTERN int CeedQFunctionContextReferenceCopy(CeedQFunctionContext ctx, CeedQFunctionContext *ctx_copy);
CEED_EXTERN int CeedQFunctionContextDestroy(CeedQFunctionContext *ctx);

// Gives the context `size` bytes at data (not an address of a pointer); what it had is released first.
CEED_EXTERN int CeedQFunctionContextSetData(CeedQFunctionContext ctx, CeedMemType mem_type,
                                            CeedCopyMode copy_mode, size_t size, void *data);

// Gives a borrowed block back, up to date; data may be NULL. BACKEND: nothing of this memory is borrowed.
CEED_EXTERN int CeedQFunctionContextTakeData(CeedQFunctionContext ctx, CeedMemType mem_type, void *data);

// Lends the bytes for reading and writing, or for reading. A borrowed block is lent itself, in its memory.
CEED_EXTERN int CeedQFunctionContextGetData(CeedQFunctionContext ctx, CeedMemType mem_type, void *data);
CEED_EXTERN int CeedQFunctionContextGetDataRead(CeedQFunctionContext ctx, CeedMemType mem_type, void *data);

// Ends it; the caller's pointer becomes NULL. MINOR: nothing of the kind was lent.
CEED_EXTERN int CeedQFunctionContextRestoreData(CeedQFunctionContext ctx, void *data);
CEED_EXTERN int CeedQFunctionContextRestoreDataRead(CeedQFunctionContext ctx, void *data);

// Names num_values values of this type at field_offset bytes, to be set through operators. Text is copied;
// field_description may be NULL. UNSUPPORTED: name is taken. BACKEND: the field leaves the data, when they
// are set already; later CeedQFunctionContextSetData refuses data that the fields leave.
CEED_EXTERN int CeedQFunctionContextRegisterDouble(CeedQFunctionContext ctx, const char *field_name,
                                                   size_t field_offset, size_t num_values,
                                                   const char *field_description);
CEED_EXTERN int CeedQFunctionContextRegisterInt32(CeedQFunctionContext ctx, const char *field_name,
                                                  size_t field_offset, size_t num_values,
                                                  const char *field_description);
CEED_EXTERN int CeedQFunctionContextRegisterBoolean(CeedQFunctionContext ctx, const char *field_name,
                                                    size_t field_offset, size_t num_values,
                                                    const char *field_description);

// All fields in the order of registration. The array belongs to ctx and lasts until the next registration,
// labels last as long as ctx.
CEED_EXTERN int CeedQFunctionContextGetAllFieldLabels(CeedQFunctionContext ctx,
                                                      const CeedContextFieldLabel **field_labels,
                                                      CeedInt *num_fields);

// What was registered; offset 0 for labels of composite operators. Pointers may be NULL.
CEED_EXTERN int CeedContextFieldLabelGetDescription(CeedContextFieldLabel label, const char **field_name,
                                                    size_t *field_offset, size_t *num_values,
                                                    const char **field_description,
                                                    CeedContextFieldType *field_type);

// Bytes of the data; 0 before there is any.
CEED_EXTERN int CeedQFunctionContextGetContextSize(CeedQFunctionContext ctx, size_t *ctx_size);

// A function called with the data, in memory f_mem_type, before it is replaced and when the context ends.
// The library frees what it owns in addition: use this with borrowed data. f NULL: MINOR.
CEED_EXTERN int CeedQFunctionContextSetDataDestroy(CeedQFunctionContext ctx, CeedMemType f_mem_type,
                                                   CeedQFunctionContextDataDestroyUser f);

// Shows size and fields.
CEED_EXTERN int CeedQFunctionContextView(CeedQFunctionContext ctx, FILE *stream);
CEED_EXTERN int CeedQFunctionContextSetNumViewTabs(CeedQFunctionContext ctx, CeedInt num_tabs);
CEED_EXTERN int CeedQFunctionContextGetNumViewTabs(CeedQFunctionContext ctx, CeedInt *num_tabs);

// ---- Operators: making them -------------------------------------------------------------------------------
// An operator computes q_f = B_f E_f x_f for each input field, then all outputs of the QFunction at all
// points, then adds E_g^T B_g^T r_g to the target of each output field g. Active fields take the vectors
// passed to apply, all of a direction the same; passive ones have their own.

// dqf, dqfT: derivative of qf and its transpose, kept but not used; NULL or CEED_QFUNCTION_NONE for none.
// MINOR: no qf.
CEED_EXTERN int CeedOperatorCreate(Ceed ceed, CeedQFunction qf, CeedQFunction dqf, CeedQFunction dqfT,
                                   CeedOperator *op);

// The QFunction is evaluated at the caller's points (CeedOperatorAtPointsSetPoints), not at quadrature
// points.
CEED_EXTERN int CeedOperatorCreateAtPoints(Ceed ceed, CeedQFunction qf, CeedQFunction dqf, CeedQFunction dqfT,
                                           CeedOperator *op);

// A sum of operators, empty at first.
CEED_EXTERN int CeedOperatorCreateComposite(Ceed ceed, CeedOperator *op);

CEED_EXTERN int CeedOperatorReferenceCopy(CeedOperator op, CeedOperator *op_copy);
CEED_EXTERN int CeedOperatorDestroy(CeedOperator *op);

// Says where a field of the QFunction comes from or goes to; all three are kept (counted).
//   at nodes               restriction, basis, CEED_VECTOR_ACTIVE or the field's own vector
//   at points (mode NONE)  restriction with elem_size = Q, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE or a vector
//   weights                CEED_ELEMRESTRICTION_NONE, a basis, CEED_VECTOR_NONE
//   AtPoints operators     nodes: offsets, tensor basis; points: restriction at points, CEED_BASIS_NONE
//   of size 0              not set at all, or all three NONE; what getters show then. Else DIMENSION
// The first field fixes elements and points. INCOMPATIBLE: a composite operator, something NULL, mode
// against NONE sentinels, other points than before, an active field of another L-size. MAJOR: the operator
// is ready and in use. DIMENSION: other numbers of elements, points, components, or a size other than
// num_comp * q_comp. INCOMPLETE: no such field. UNSUPPORTED: a restriction at points in an ordinary
// operator or with a basis.
CEED_EXTERN int CeedOperatorSetField(CeedOperator op, const char *field_name, CeedElemRestriction rstr,
                                     CeedBasis basis, CeedVector vec);

// INCOMPLETE while fields are missing; for a composite, of any part. A ready operator does not change its
// fields. Everything that applies, assembles or lists fields calls it.
CEED_EXTERN int CeedOperatorCheckReady(CeedOperator op);

// A name for views (copied); NULL or "" removes it. Without one: the name of the QFunction, NULL for a
// composite.
CEED_EXTERN int CeedOperatorSetName(CeedOperator op, const char *name);
CEED_EXTERN int CeedOperatorGetName(CeedOperator op, const char **name);

// ---- Operators: points ------------------------------------------------------------------------------------

// Reference coordinates of the points, in [-1,1]^dim: rstr_points at points with dim components,
// point_coords its L-vector, point p, direction d at p*dim + d. The offsets are those of all point fields.
// MINOR: not AtPoints. UNSUPPORTED: rstr_points is not at points. INCOMPATIBLE: other offsets. MAJOR: the
// operator is in use.
CEED_EXTERN int CeedOperatorAtPointsSetPoints(CeedOperator op, CeedElemRestriction rstr_points,
                                              CeedVector point_coords);

// New references (pointers may be NULL); the operator has to be ready. MINOR: not AtPoints.
CEED_EXTERN int CeedOperatorAtPointsGetPoints(CeedOperator op, CeedElemRestriction *rstr_points,
                                              CeedVector *point_coords);

// Whether CeedOperatorCreateAtPoints made it.
CEED_EXTERN int CeedOperatorIsAtPoints(CeedOperator op, bool *is_at_points);

// ---- Operators: sums --------------------------------------------------------------------------------------
// On an operator that is no composite these are MINOR.

// Adds a part (counted), which may still lack fields. MAJOR: its active lengths conflict with those of
// other parts.
CEED_EXTERN int CeedOperatorCompositeAddSub(CeedOperator composite_op, CeedOperator sub_op);

// The parts: number, array of the composite, and first of this explicit name (NULL: none); borrowed handles.
CEED_EXTERN int CeedOperatorCompositeGetNumSub(CeedOperator op, CeedInt *num_suboperators);
CEED_EXTERN int CeedOperatorCompositeGetSubList(CeedOperator op, CeedOperator **sub_operators);
CEED_EXTERN int CeedOperatorCompositeGetSubByName(CeedOperator op, const char *op_name, CeedOperator *sub_op);

// Whether each part may read what parts before it wrote to passive vectors (default false; devices may then
// run parts at the same time).
CEED_EXTERN int CeedOperatorCompositeSetSequential(CeedOperator op, bool is_sequential);
CEED_EXTERN int CeedOperatorCompositeIsSequential(CeedOperator op, bool *is_sequential);

// mult [active length], overwritten: in how many parts the active input refers to each entry; the parts
// listed in skip_indices are left out.
CEED_EXTERN int CeedOperatorCompositeGetMultiplicity(CeedOperator op, CeedInt num_skip_indices,
                                                     CeedInt *skip_indices, CeedVector mult);

// ---- Operators: asking ------------------------------------------------------------------------------------

// Fields in the order of the QFunction; arrays belong to op, pointers may be NULL. MINOR: composite. The
// operator has to be ready.
CEED_EXTERN int CeedOperatorGetFields(CeedOperator op, CeedInt *num_input_fields,
                                      CeedOperatorField **input_fields, CeedInt *num_output_fields,
                                      CeedOperatorField **output_fields);
// NULL and success if there is no field of this name.
CEED_EXTERN int CeedOperatorGetFieldByName(CeedOperator op, const char *field_name,
                                           CeedOperatorField *op_field);

// Parts of a field: name borrowed, objects as new references to destroy (sentinels come as they are). Data:
// all at once, pointers may be NULL.
CEED_EXTERN int CeedOperatorFieldGetName(CeedOperatorField op_field, const char **field_name);
CEED_EXTERN int CeedOperatorFieldGetElemRestriction(CeedOperatorField op_field, CeedElemRestriction *rstr);
CEED_EXTERN int CeedOperatorFieldGetBasis(CeedOperatorField op_field, CeedBasis *basis);
CEED_EXTERN int CeedOperatorFieldGetVector(CeedOperatorField op_field, CeedVector *vec);
CEED_EXTERN int CeedOperatorFieldGetData(CeedOperatorField op_field, const char **field_name,
                                         CeedElemRestriction *rstr, CeedBasis *basis, CeedVector *vec);

// 0 before any field is set; no quadrature points in AtPoints operators. MINOR: composite.
CEED_EXTERN int CeedOperatorGetNumElements(CeedOperator op, CeedInt *num_elem);
CEED_EXTERN int CeedOperatorGetNumQuadraturePoints(CeedOperator op, CeedInt *num_qpts);

// Lengths of active input and output (pointers may be NULL); -1: there is none. Works before the operator
// is ready.
CEED_EXTERN int CeedOperatorGetActiveVectorLengths(CeedOperator op, CeedSize *input_size,
                                                   CeedSize *output_size);

// Floating-point operations of one apply: restrictions, bases and QFunction of active fields. INCOMPLETE: the
// QFunction has no estimate.
CEED_EXTERN int CeedOperatorGetFlopsEstimate(CeedOperator op, CeedSize *flops);

// Shows sizes and fields, of all parts; Terse: the names alone.
CEED_EXTERN int CeedOperatorView(CeedOperator op, FILE *stream);
CEED_EXTERN int CeedOperatorViewTerse(CeedOperator op, FILE *stream);
CEED_EXTERN int CeedOperatorSetNumViewTabs(CeedOperator op, CeedInt num_tabs);
CEED_EXTERN int CeedOperatorGetNumViewTabs(CeedOperator op, CeedInt *num_tabs);
CEED_EXTERN int CeedOperatorGetCeed(CeedOperator op, Ceed *ceed);
CEED_EXTERN Ceed CeedOperatorReturnCeed(CeedOperator op);

// ---- Operators: applying them -----------------------------------------------------------------------------
// in, out: different vectors, at least as long as the active L-vectors; CEED_VECTOR_NONE where there is no
// active field. Overwriting sets whole vectors to zero first. Errors: those of CeedOperatorCheckReady;
// BACKEND for vectors that are locked, without values or too short; a negative code of the QFunction, or
// BACKEND for a positive one.

// Overwrites out and all passive outputs.
CEED_EXTERN int CeedOperatorApply(CeedOperator op, CeedVector in, CeedVector out, CeedRequest *request);
// Adds to out and to all passive outputs.
CEED_EXTERN int CeedOperatorApplyAdd(CeedOperator op, CeedVector in, CeedVector out, CeedRequest *request);
// Adds to out, overwrites passive outputs (in a composite all of them before its first part runs).
CEED_EXTERN int CeedOperatorApplyAddActive(CeedOperator op, CeedVector in, CeedVector out,
                                           CeedRequest *request);

// ---- Operators: parameters of the QFunction ---------------------------------------------------------------

// New reference to the context of the QFunction; NULL if it has none. INCOMPATIBLE: composite.
CEED_EXTERN int CeedOperatorGetContext(CeedOperator op, CeedQFunctionContext *ctx);

// Label of a registered field, NULL and success if there is none. Of a composite: one label (kept by it)
// for all parts that have the field; type or count differ between them: INCOMPATIBLE.
CEED_EXTERN int CeedOperatorGetContextFieldLabel(CeedOperator op, const char *field_name,
                                                 CeedContextFieldLabel *field_label);

// Copies the label's number of values into the context, in all parts that have the field; assembled data is
// marked for renewal. UNSUPPORTED: no label, one of another operator or type, no context, parts added
// since. MINOR: the context is lent out.
CEED_EXTERN int CeedOperatorSetContextDouble(CeedOperator op, CeedContextFieldLabel field_label,
                                             double *values);
CEED_EXTERN int CeedOperatorSetContextInt32(CeedOperator op, CeedContextFieldLabel field_label,
                                            int32_t *values);
CEED_EXTERN int CeedOperatorSetContextBoolean(CeedOperator op, CeedContextFieldLabel field_label,
                                              bool *values);

// Lends the values (host, of the first part that has the field) until they are restored; *values becomes
// NULL then. Errors as above.
CEED_EXTERN int CeedOperatorGetContextDoubleRead(CeedOperator op, CeedContextFieldLabel field_label,
                                                 size_t *num_values, const double **values);
CEED_EXTERN int CeedOperatorRestoreContextDoubleRead(CeedOperator op, CeedContextFieldLabel field_label,
                                                     const double **values);
CEED_EXTERN int CeedOperatorGetContextInt32Read(CeedOperator op, CeedContextFieldLabel field_label,
                                                size_t *num_values, const int32_t **values);
CEED_EXTERN int CeedOperatorRestoreContextInt32Read(CeedOperator op, CeedContextFieldLabel field_label,
                                                    const int32_t **values);
CEED_EXTERN int CeedOperatorGetContextBooleanRead(CeedOperator op, CeedContextFieldLabel field_label,
                                                  size_t *num_values, const bool **values);
CEED_EXTERN int CeedOperatorRestoreContextBooleanRead(CeedOperator op, CeedContextFieldLabel field_label,
                                                      const bool **values);

// ---- Operators: assembling them ---------------------------------------------------------------------------
// For a QFunction that is linear in its active inputs. N_in, N_out: scalars per point of all active inputs,
// outputs. Errors of all: those of CeedOperatorCheckReady; BACKEND or UNSUPPORTED: no active input, output.

// The derivative D of outputs by inputs at each point: output o, input i of element e, point q is component
// i*N_out + o of a new vector with a new strided restriction (elem_size Q; both belong to the caller), so
// that the pair serves as a passive field of size N_in*N_out, mode NONE. UNSUPPORTED: composite.
CEED_EXTERN int CeedOperatorLinearAssembleQFunction(CeedOperator op, CeedVector *assembled,
                                                    CeedElemRestriction *rstr, CeedRequest *request);

// The same from the operator's cache, filled or renewed if need be: references to one shared pair.
// *assembled is NULL, or a live handle that is released together with *rstr.
CEED_EXTERN int CeedOperatorLinearAssembleQFunctionBuildOrUpdate(CeedOperator op, CeedVector *assembled,
                                                                 CeedElemRestriction *rstr,
                                                                 CeedRequest *request);

// Whether assembled data is kept between assemblies (default false), until it is said to need renewal, as
// after a change of a passive vector. Composite: passed on to all parts. Strip frees what is kept and
// resets both settings.
CEED_EXTERN int CeedOperatorSetQFunctionAssemblyReuse(CeedOperator op, bool reuse_assembly_data);
CEED_EXTERN int CeedOperatorSetQFunctionAssemblyDataUpdateNeeded(CeedOperator op, bool needs_data_update);
CEED_EXTERN int CeedOperatorAssemblyDataStrip(CeedOperator op);

// Diagonal of the matrix, overwriting or adding; layout of the active L-vector. Inputs and outputs that use
// one basis object contribute, others do not; they use the same restriction too (else UNSUPPORTED).
// DIMENSION: the operator is not square.
CEED_EXTERN int CeedOperatorLinearAssembleDiagonal(CeedOperator op, CeedVector assembled,
                                                   CeedRequest *request);
CEED_EXTERN int CeedOperatorLinearAssembleAddDiagonal(CeedOperator op, CeedVector assembled,
                                                      CeedRequest *request);

// Blocks of the matrix that couple the components of each node: [node][c_out][c_in], whatever the component
// stride; length: active length times num_comp. AtPoints: UNSUPPORTED. Otherwise as the diagonal.
CEED_EXTERN int CeedOperatorLinearAssemblePointBlockDiagonal(CeedOperator op, CeedVector assembled,
                                                             CeedRequest *request);
CEED_EXTERN int CeedOperatorLinearAssembleAddPointBlockDiagonal(CeedOperator op, CeedVector assembled,
                                                                CeedRequest *request);

// Rows and columns of these entries, in the same order; the caller frees both arrays with free(). Entries
// of nodes without elements are (0,0). DIMENSION: not square, or parts with different component strides.
// INCOMPATIBLE: parts with different components. MINOR: several active input restrictions.
CEED_EXTERN int CeedOperatorLinearAssemblePointBlockDiagonalSymbolic(CeedOperator op, CeedSize *num_entries,
                                                                     CeedInt **rows, CeedInt **cols);

// The matrix as triples (row, column, value), of which equal pairs are added up. Loops, outermost first:
// parts, active input bases, active output bases, elements, c_in, c_out, output node, input node. Symbolic:
// the caller frees both arrays with free(). values has at least num_entries entries and is overwritten.
// UNSUPPORTED: inputs and outputs with different elements or points.
CEED_EXTERN int CeedOperatorLinearAssembleGetNumEntries(CeedOperator op, CeedSize *num_entries);
CEED_EXTERN int CeedOperatorLinearAssembleSymbolic(CeedOperator op, CeedSize *num_entries, CeedInt **rows,
                                                   CeedInt **cols);
CEED_EXTERN int CeedOperatorLinearAssemble(CeedOperator op, CeedVector values);

// ---- Operators: multigrid and element inverses ------------------------------------------------------------

// A coarser operator, with the QFunction, points and passive fields of op_fine and all active fields on
// rstr_coarse and basis_coarse, and transfer operators between the two: prolongation E_f^T W B E_c,
// restriction its transpose, with B the interpolation in each element and W the weights 1 / (|E_f|^T |E_f|
// p_mult_fine). p_mult_fine is a fine L-vector: 1, or how many processes or parts share an entry. All are
// new. op_prolong and op_restrict may be NULL; if both are, so may p_mult_fine and interp_c_to_f. B comes
// from CeedBasisCreateProjection, or is interp_c_to_f: [P_1d_fine][P_1d_coarse] (TensorH1) or
// [P_fine][P_coarse] (H1). INCOMPATIBLE: p_mult_fine or interp_c_to_f is missing. UNSUPPORTED: composite;
// transfer with curl orientations. DIMENSION: bases with different quadrature. MINOR: several active input
// bases; INCOMPLETE: none.
CEED_EXTERN int CeedOperatorMultigridLevelCreate(CeedOperator op_fine, CeedVector p_mult_fine,
                                                 CeedElemRestriction rstr_coarse, CeedBasis basis_coarse,
                                                 CeedOperator *op_coarse, CeedOperator *op_prolong,
                                                 CeedOperator *op_restrict);
CEED_EXTERN int CeedOperatorMultigridLevelCreateTensorH1(CeedOperator op_fine, CeedVector p_mult_fine,
                                                         CeedElemRestriction rstr_coarse,
                                                         CeedBasis basis_coarse,
                                                         const CeedScalar *interp_c_to_f,
                                                         CeedOperator *op_coarse, CeedOperator *op_prolong,
                                                         CeedOperator *op_restrict);
CEED_EXTERN int CeedOperatorMultigridLevelCreateH1(CeedOperator op_fine, CeedVector p_mult_fine,
                                                   CeedElemRestriction rstr_coarse, CeedBasis basis_coarse,
                                                   const CeedScalar *interp_c_to_f, CeedOperator *op_coarse,
                                                   CeedOperator *op_prolong, CeedOperator *op_restrict);

// A new operator sum_e E_e^T X diag(1 / (a_e s)) X^T E_e that approximates the inverses of the element
// matrices, by fast diagonalization: X tensor product of the eigenvectors of 1D mass and stiffness, s sums
// of eigenvalues, a_e the mean of the assembled QFunction. Overlap of elements is not averaged. BACKEND: no
// active input, or no tensor basis. MINOR: composite, or the eigenvalue solver failed.
CEED_EXTERN int CeedOperatorCreateFDMElementInverse(CeedOperator op, CeedOperator *fdm_inv,
                                                    CeedRequest *request);

// ---- Integers ---------------------------------------------------------------------------------------------

// base^power for power >= 0.
static inline CeedInt CeedIntPow(CeedInt base, CeedInt power) {
  CeedInt result = 1;

  for (; power > 0; power--) result *= base;
  return result;
}

// The smaller of a and b.
static inline CeedInt CeedIntMin(CeedInt a, CeedInt b) { return a < b ? a : b; }

// The larger of a and b.
static inline CeedInt CeedIntMax(CeedInt a, CeedInt b) { return a > b ? a : b; }

#include "deprecated.h"
#include "format.h"

#endif
