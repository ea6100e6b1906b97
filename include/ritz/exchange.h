// SPDX-License-Identifier: BSD-2-Clause
// Work of several parts of a mesh together: who carries messages, exchanges of ghosts, products with
// operators of the whole problem. Parts and ghosts: ritz/partition.h. Examples and models:
// doc/distributed.md.
//
// A transport is a table of functions of one part. The library has one for threads of one process, and one
// between GPUs on top of any other; MPI's is compiled with programs (ritz/mpi.h): the core knows none.
//
// All parts make the same calls in the same order: a call that waits for others waits for ever for one that
// is left out. Where a part fails, the transport has to make the others' calls fail.
#ifndef RITZ_EXCHANGE_H
#define RITZ_EXCHANGE_H

#include <ceed.h>
#include <ritz/multigrid.h>
#include <ritz/partition.h>
#include <ritz/precision.h>
#include <ritz/product.h>
#include <ritz/solver.h>
#include <ritz/vector.h>

// ---- Transports ----

// What goes to one other part, and what comes from it; either may be empty.
typedef struct {
  CeedInt part;
  size_t send_bytes, recv_bytes;
  const void *send;
  void *recv;
} RitzMessage;

typedef struct RitzTransport RitzTransport;
struct RitzTransport {
  CeedInt num_parts, part;
  CeedMemType mem_type; // where buffers of messages have to be
  void *ctx;
  // Starts to send and receive num messages, one for each of several parts. Buffers stay as they are until
  // `end`, which gets the same messages and waits for all of them. One set of messages is under way at a
  // time.
  int (*begin)(const RitzTransport *transport, CeedInt num, const RitzMessage messages[]);
  int (*end)(const RitzTransport *transport, CeedInt num, const RitzMessage messages[]);
  // values[i] becomes the sum, or the largest, of the values[i] of all parts, bit for bit the same in all.
  int (*reduce)(const RitzTransport *transport, RitzReduction kind, CeedInt num, double values[]);
  // Optional, NULL otherwise. The same for numbers in the memory of the context that the transport was made
  // for, in the order of the context's work: nobody waits.
  int (*reduce_in_memory)(const RitzTransport *transport, RitzReduction kind, CeedInt num, double values[]);
  // Optional, NULL otherwise. From now on another thread calls stop(ctx) when another part has failed, or has
  // left while this one waits for it, so that what this part waits for beside the transport ends; stop NULL:
  // not any more, this part leaves. One at a time. CEED_ERROR_INCOMPATIBLE: others wait for the part that
  // leaves: all were stopped, itself as well.
  int (*on_stop)(const RitzTransport *transport, void (*stop)(void *ctx), void *ctx);
  // Optional, NULL otherwise. Begin and end in one, for messages that nothing is to be done beside.
  int (*run)(const RitzTransport *transport, CeedInt num, const RitzMessage messages[]);
  // Optional, with `run` and reduce_in_memory. Both in one step: messages, and sums of num_values numbers.
  int (*run_and_sum)(const RitzTransport *transport, CeedInt num, const RitzMessage messages[],
                     CeedInt num_values, double values[]);
  // Optional, with on_stop. Says that this part now begins something beside the transport that all parts
  // have to begin, as often as it says so since on_stop: those who have said it more often wait for the
  // others. Errors: CEED_ERROR_INCOMPATIBLE (another part has left having said it less often).
  int (*announce)(const RitzTransport *transport);
  // Of transports whose mem_type is the host's. Not 0: buffers may be memory of a CUDA device as well, which
  // is current while begin and end run. They know no stream: exchanges let the host wait for what the context
  // has queued before begin, and end returns when all has arrived.
  int takes_device_memory;
};

// Where buffers of exchanges between vectors of `ceed` are by this transport: in the memory of its device
// where the transport can take them there, else the host's, by way of which they are copied.
CEED_EXTERN int RitzTransportGetMemType(Ceed ceed, const RitzTransport *transport, CeedMemType *mem_type);

// Calls run(ctx, transport) for num_parts parts, each on a thread of its own, and returns when all have
// ended: 0, or the code of the part that failed first, which is reported to `ceed`, too. A part makes
// contexts (CeedInit) and objects of its own; meshes and spaces belong to one part. Where a part returns
// another code than 0, the others' calls of the transport return CEED_ERROR_MAJOR; calls that wait for a part
// that has returned 0 return CEED_ERROR_INCOMPATIBLE, as does RitzRunParts where they wait on a device.
// Errors: CEED_ERROR_DIMENSION (num_parts < 1), CEED_ERROR_MAJOR (not so many threads can be had; nothing was
// called). Sums are made in the order of the parts: they repeat.
typedef int (*RitzPartFunction)(void *ctx, const RitzTransport *transport);
CEED_EXTERN int RitzRunParts(Ceed ceed, CeedInt num_parts, RitzPartFunction run, void *ctx);

// ---- GPUs ----

// A transport between NVIDIA's GPUs by its library NCCL, one part a GPU, for vectors of the context `ceed`,
// on top of another transport of the same parts, whose numbers on the host are reduced as before: messages go
// from device to device, behind what the context has queued and beside what it queues meanwhile; sums that
// stay on devices are made there. All parts call it together, and it fails in all of them or in none. base is
// copied, its ctx borrowed; ceed is kept. Threads of one process and processes do alike. The library is
// looked up with dlopen: the file that RITZ_NCCL names, else libnccl.so.2 where the CUDA toolkit is and where
// the loader looks. Errors: CEED_ERROR_UNSUPPORTED (the context of some part is not on CUDA, or there is no
// NCCL: exchanges by base go by way of the host), CEED_ERROR_BACKEND (NCCL's own, as two parts on one
// device).
CEED_EXTERN int RitzTransportCreateNCCL(Ceed ceed, const RitzTransport *base, RitzTransport *transport);
// When the exchanges of the transport are gone. All parts make the call: they wait for each other, by a
// reduction of the base.
CEED_EXTERN int RitzTransportDestroyNCCL(RitzTransport *transport);
// The same for a part that fails, which the others do not know yet: it waits for nobody.
CEED_EXTERN int RitzTransportAbortNCCL(RitzTransport *transport);

// ---- Exchanges ----

typedef struct RitzExchange_private *RitzExchange;

typedef enum {
  RITZ_EXCHANGE_TO_GHOSTS, // ghosts take the values of their owners
  RITZ_EXCHANGE_TO_OWNERS, // owners add the values of their ghosts, which become zero
} RitzExchangeMode;

// Exchanges for vectors of a space on a part of a mesh, in the context `ceed`; `transport` is copied, its ctx
// borrowed. Holds a reference to the space. All parts call it together; between GPUs by NCCL they also
// exchange zeros both ways and wait for each other, so that what first messages take is made while no device
// waits. Bytes of an exchange: those of an entry for each entry of a ghost (sent once, received once),
// nothing else. Messages come straight to the ghosts of a vector, and go from them, where the transport's
// memory is that of the context. Memory: 12 bytes an entry that others have as a ghost (float: 8); 8 bytes
// (4) an entry of a ghost where the memory is another one. Errors: CEED_ERROR_DIMENSION (the mesh is another
// part than the transport's, or one of another number of parts), CEED_ERROR_INCOMPATIBLE (parts were cut by
// different lists, or spaces have other degrees: found by one reduction), CEED_ERROR_UNSUPPORTED (offsets
// beyond 32 bits).
CEED_EXTERN int RitzExchangeCreate(RitzSpace space, Ceed ceed, const RitzTransport *transport,
                                   RitzExchange *exchange);
// The same for vectors of this precision (ritz/precision.h), the same in all parts: those of float have half
// the bytes. Errors: CEED_ERROR_INCOMPATIBLE (no precision), CEED_ERROR_UNSUPPORTED (FP64 in a float build).
CEED_EXTERN int RitzExchangeCreateInPrecision(RitzSpace space, Ceed ceed, const RitzTransport *transport,
                                              CeedScalarType precision, RitzExchange *exchange);
// For vectors of a product of spaces on a part of a mesh (ritz/product.h), of any precision: one message for
// each neighbour. Everything below that takes an exchange or vectors of "the space" serves products alike.
CEED_EXTERN int RitzExchangeCreateOfProduct(RitzProductSpace product, Ceed ceed,
                                            const RitzTransport *transport, CeedScalarType precision,
                                            RitzExchange *exchange);
CEED_EXTERN int RitzExchangeReferenceCopy(RitzExchange exchange, RitzExchange *copy);
CEED_EXTERN int RitzExchangeDestroy(RitzExchange *exchange);
// x: an L-vector of the space, of the exchange's precision. Between begin and end, x may be read but not
// written, and its owned entries may be used by operators on elements without ghosts; the same mode and
// vector end what was begun. One exchange of a transport is under way at a time, whatever space it is of.
// Errors: CEED_ERROR_DIMENSION (length), CEED_ERROR_INCOMPATIBLE (an exchange is under way, or none is; no
// such mode; another vector, or precision).
CEED_EXTERN int RitzExchangeBegin(RitzExchange exchange, RitzExchangeMode mode, CeedVector x);
CEED_EXTERN int RitzExchangeEnd(RitzExchange exchange, RitzExchangeMode mode, CeedVector x);
// Begin and end.
CEED_EXTERN int RitzExchangeRun(RitzExchange exchange, RitzExchangeMode mode, CeedVector x);
// Entries of ghosts, borrowed: constraints of solvers beside those of the boundary.
CEED_EXTERN int RitzExchangeGetGhosts(RitzExchange exchange, RitzIndices *ghosts);
// Number of owned entries: the first of an L-vector.
CEED_EXTERN int RitzExchangeGetNumOwned(RitzExchange exchange, CeedSize *num_owned);
// The sum over all parts; a RitzReduceFunction with an exchange as ctx.
CEED_EXTERN int RitzExchangeReduce(void *exchange, RitzReduction kind, CeedInt num, double values[]);

// ---- Operators ----

typedef struct RitzPartOperator_private *RitzPartOperator;

// The operator of the whole problem, of which this part adds `inside` (elements without ghosts,
// RitzSpaceGetSeamElements lists the others) and `seam` (the others, or all), both on L-vectors of the
// exchange's space. Either may be NULL: that part is without such elements. Vectors have the precision of the
// exchange, whatever the operators compute in. Counted references.
CEED_EXTERN int RitzPartOperatorCreate(RitzExchange exchange, CeedOperator inside, CeedOperator seam,
                                       RitzPartOperator *op);
CEED_EXTERN int RitzPartOperatorDestroy(RitzPartOperator *op);
// y = A x: a RitzApplyFunction with the operator as ctx. Ghosts of x get the values of their owners and are
// zero afterwards, as those of y: so products of vectors count owned entries alone. The exchange to ghosts
// goes on while `inside` is applied.
CEED_EXTERN int RitzPartOperatorApply(void *op, CeedVector x, CeedVector y);
// The diagonal of the whole operator at owned entries; one at ghosts.
CEED_EXTERN int RitzPartOperatorGetDiagonal(RitzPartOperator op, CeedVector diagonal);
// Makes the solver one of the whole problem: applies this operator, keeps `constraints` (boundary entries of
// this part, ghosts included or not; NULL: none) and all ghosts, sums over all parts. Constraints that are
// set afterwards take the place of both: they have to name the ghosts. RitzSolverSetReduction(solver, NULL,
// NULL) makes the solver one of this part again. The operator, of an exchange in CeedScalar (else
// CEED_ERROR_INCOMPATIBLE), has to outlive the solver's solves. b and x are L-vectors of the parts, of which
// owned entries count (RitzSolverSetNumOwned); ghosts of x are zero after the solve (RitzExchangeRun gives
// them values). Merged conjugate gradients (RITZ_CG_MERGED, the choice on devices without preconditioner or
// with RitzSolverSetJacobi) reduce once an iteration, or, where the transport has reduce_in_memory, twice
// without waiting, in one step with the exchanges (run_and_sum); other methods once for each pass with sums,
// conjugate gradients two or three times an iteration.
CEED_EXTERN int RitzSolverSetPartOperator(RitzSolver solver, RitzPartOperator op, RitzIndices constraints);

// ---- Multigrid ----

// The operators of a level on its part, as for RitzPartOperatorCreate; either may be left NULL. Owned by who
// calls.
typedef int (*RitzPartLevelFunction)(void *ctx, CeedInt level, RitzSpace space, CeedOperator *inside,
                                     CeedOperator *seam);

// Start from zeros and set what differs.
typedef struct {
  RitzChebyshevOptions chebyshev; // of the smoothers; degree 0: 3, but for AUTO
  // As in RitzMultigridOptions: AUTO, JACOBI, POINT_BLOCKS, ELEMENT_SCHWARZ, PATCHES (exact ones, on slabs of
  // rectangular boxes, RITZ_PARTITION_SLABS), or MEASURED: the best one of JACOBI, ELEMENT_SCHWARZ and, where
  // they serve, PATCHES by the model of one part, nothing is timed.
  RitzSmootherKind smoother;
  bool is_reversed;         // PATCHES: as in RitzMultigridOptions
  CeedInt schwarz_degree;   // as in RitzMultigridOptions
  bool use_precision;       // cycle in `precision`, else in CeedScalar; the same in all parts
  CeedScalarType precision; // FP32: operators of the levels are copied to float (RitzOperatorCopyInPrecision)
  // The coarsest problem is gathered: every part has all of it and solves it by factors, up to so many
  // unknowns; 0: 20000; negative: never. Larger ones, and those whose factors are too much work (5e10
  // operations), are solved by all parts together, iteratively. The view says which.
  int64_t max_gathered;
  RitzDirectOptions coarse; // of what is gathered: AUTO takes dense or own sparse factors; no CG, no AMG
                            // (hypre is for one thread); num_null is not looked at
  double coarse_rtol;       // of what is not: conjugate gradients with Jacobi; 0: 1e-2
  CeedInt coarse_max_it;    // likewise; 0: 200
  RitzLevelNullspaceFunction create_nullspace; // called for level 0, vectors of the part; NULL: there is none
  bool for_updates; // RitzPreconditionerUpdate will be called: operators that are copied to `precision` are
                    // kept, for values to be converted again, and what factorizing again needs
} RitzPartMultigridOptions;

// A V-cycle of the whole problem, one smoothing before and after, on the levels of a hierarchy of this part's
// spaces (RitzHierarchyCreate; all parts have the same levels). Transfers are those of the part
// (RitzSpaceCreateTransfer) between two exchanges of the coarser level's ghosts. create_operators makes the
// operators of all levels; fixed: boundary parts, NULL: none; ctx: of the functions. The result is for
// vectors of the finest space, in a solver of RitzSolverSetPartOperator; symmetric where the coarsest problem
// is gathered and patches are reversed, else no fixed matrix: flexible methods. In float it is a fixed matrix
// but for rounding: flexible methods, below which r and z are converted; messages have half the bytes. The
// coarsest problem stays in the precision of its operators: factors are computed from them and kept in
// double; where all parts solve it together its vectors are CeedScalars. Operators that were copied are let
// go, and with them what the caller keeps no references to. A gathered problem takes one reduction of its
// length a cycle, on the host, and 24 bytes an entry in every part beside its factors; meanwhile 64 bytes a
// nonzero of all parts. All parts make the call together. Borrowed while it lives: transport->ctx. Memory: up
// to four vectors a level, what smoothers and transfers take, and passive inputs of copied operators.
//
// RitzPreconditionerUpdate is called by all parts together, when passive fields of the operators of all
// levels have their new values, those of ghosts among them (RitzExchangeRun). Values that have no such
// preconditioner are an error of all parts. What a gathered problem needs beside its values, some 16 bytes a
// nonzero, is kept from the first update on, or from the start (for_updates).
//
// Errors:
// CEED_ERROR_UNSUPPORTED (other smoothers), CEED_ERROR_MAJOR (the coarsest matrix cannot be factorized: what
// holds it, or its nullspace, is missing), those of what is made.
CEED_EXTERN int RitzPreconditionerCreatePartMultigrid(Ceed ceed, RitzHierarchy hierarchy,
                                                      const RitzTransport *transport,
                                                      RitzPartLevelFunction create_operators, void *ctx,
                                                      CeedInt num_fixed, const RitzFixedPart fixed[],
                                                      const RitzPartMultigridOptions *options,
                                                      RitzPreconditioner *pc);

// ---- Blocks of several fields ----

// RitzPreconditionerCreateBlocks of a problem in parts: r and z are vectors of the product, block i is space
// i of it. blocks [number of spaces]: inverses are preconditioners of all parts for vectors of the spaces,
// ghosts among their entries, which get zeros or what is left of earlier vectors there and are not looked at
// in their results: multigrid (RitzPreconditionerCreatePartMultigrid), Jacobi of the diagonal of an operator
// of all parts (RitzPartOperatorGetDiagonal), functions. op: A on the product (RitzExchangeCreateOfProduct),
// borrowed: it lives as long; NULL for the diagonal kind. Kinds, factors and symmetry as there; couplings
// that are given by themselves are not. z is zero at ghosts. Its precision is that of op, without op that of
// the inverses. Memory: 2 numbers an entry, 3 with op. Errors: CEED_ERROR_DIMENSION (lengths),
// CEED_ERROR_INCOMPLETE (no op for another kind than the diagonal one), CEED_ERROR_INCOMPATIBLE (NULL,
// factors that are not finite, no kind).
CEED_EXTERN int RitzPreconditionerCreatePartBlocks(Ceed ceed, RitzProductSpace product,
                                                   const RitzBlock blocks[], RitzBlocksKind kind,
                                                   RitzPartOperator op, RitzPreconditioner *pc);

#endif
