// SPDX-License-Identifier: BSD-2-Clause
// What Ritz adds to CeedOperator: kernels made ahead of their first use or not at all, a look at what runs,
// several vectors at once, kernels chosen by measurement, assembly into compressed sparse rows.
#ifndef RITZ_OPERATOR_H
#define RITZ_OPERATOR_H

#include <ceed.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// How often an operator will be applied.
typedef enum {
  RITZ_USE_MANY,    // a kernel is worth compiling when applies have cost enough: the default
  RITZ_USE_ONCE,    // or a few times: for set-up, right-hand sides, errors
  RITZ_USE_NO_WAIT, // many times, but the first one does not wait for a compiler
} RitzOperatorUse;

// Of an operator, or of all sub-operators of a composite so far, before their first use.
//
// RITZ_USE_MANY on /cpu/self/gen: the ahead-of-time kernel serves first. When applies have cost about 5e7
// operations and bytes for each thread, tens of milliseconds, so in an apply that costs as much at once, the
// kernel is looked for in the cache, else compiled beside the program, and the first apply behind that
// changes to it. Small operators compile nothing. The first apply waits for its kernel where it costs more
// than 3e9 operations for each thread; where RITZ_STRICT is set; without a function pointer; on resources
// with `:deterministic`, so that results do not depend on time; with RITZ_WAIT=1 in the environment when the
// context is made. RitzOperatorsPrepare makes the kernel whatever applies have cost. Other backends wait.
//
// RITZ_USE_ONCE: on /cpu/self/gen an operator that is applied once runs on the ahead-of-time kernel, which
// calls its function pointer (no warning, no error under RITZ_STRICT: it was asked for), unless its kernel is
// in the cache, or so much is to be computed that a compilation takes less time (3e9 operations by the plan,
// for each thread). Kernels and ahead-of-time kernel round differently: where results must be the same to the
// last bit whether the cache is empty or not, take a resource with `:deterministic`. So do diagonals. The
// ahead-of-time kernel computes in the operator's precision, on vectors of either; its function is called in
// CeedScalar. An operator without a function pointer: no effect. On CUDA (NVRTC 13 and newer) a kernel that
// is used once is compiled in half the time or less, to slower code, unless more than 1e10 operations are to
// be done. Other backends: no effect.
//
// RITZ_USE_NO_WAIT: a kernel in the cache is used from the first apply; else it is compiled beside the
// program, and the ahead-of-time kernel serves until it is there (no warning, no error under RITZ_STRICT). At
// most one compiler less than there are processors works at a time, at kernels whose applies cost most first.
// What ends before its kernels are there leaves them to later runs. The first apply behind the end of the
// compilation changes to the kernel. So do diagonals, which come last. When that is depends on time, and so
// do the last bits of results, in each run that compiles; resources with `:deterministic` wait as with
// RITZ_USE_MANY. A kernel that cannot be compiled is told then, as always; the ahead-of-time kernel stays.
// Copies in another precision have the use of their operator; multigrid gives that of a level's operator to
// its transfers and smoother.
//
// CEED_ERROR_INCOMPATIBLE: no such use.
CEED_EXTERN int RitzOperatorSetUse(CeedOperator op, RitzOperatorUse use);
CEED_EXTERN int RitzOperatorGetUse(CeedOperator op,
                                   RitzOperatorUse *use); // of a composite: of its first part

// Who computes an apply on devices.
typedef enum {
  // What is expected to be fastest: as it was measured (RitzOperatorTune), else by a model, which Explain
  // tells. `shared` and `ref`: separate kernels.
  RITZ_OPERATOR_ROUTE_AUTO,
  RITZ_OPERATOR_ROUTE_FUSED,       // one kernel, on `gen` alone
  RITZ_OPERATOR_ROUTE_SEPARATE,    // kernels for E, B and D over E- and Q-vectors
  RITZ_OPERATOR_ROUTE_GEMM_OWN,    // the same, but B is large or batched matrix products by own kernels
  RITZ_OPERATOR_ROUTE_GEMM_VENDOR, // and by the vendor's library: cuBLAS on CUDA, looked up at run time
} RitzOperatorRoute;

// Of an operator, or of all sub-operators of a composite so far; default RITZ_OPERATOR_ROUTE_AUTO. Counts
// from the next apply on. All routes give the same results up to rounding. Diagonals, other assembly and
// kernels in another precision than CeedScalar have no routes: there operators on devices with another route
// than FUSED compute in CeedScalar between conversions. A vendor's results may differ from one of its
// releases to the next: AUTO of `:deterministic` contexts takes own products.
//
// Errors: CEED_ERROR_INCOMPATIBLE, no such route; CEED_ERROR_UNSUPPORTED, after which the route is that of
// before: hosts have one route, contexts but `gen` have no fused kernels, the vendor's library is not found
// or cannot be used (the message says why). Whether an operator can have a route is known when it is
// complete: applies of one that cannot be fused, or that has no basis with a matrix for GEMM, or is at
// points, end with CEED_ERROR_UNSUPPORTED and say so.
CEED_EXTERN int RitzOperatorSetRoute(CeedOperator op, RitzOperatorRoute route);
CEED_EXTERN int RitzOperatorGetRoute(CeedOperator op,
                                     RitzOperatorRoute *route); // of a composite: of its first part
// "auto", "fused", "separate", "gemm-own", "gemm-vendor". NULL past the end.
CEED_EXTERN const char *RitzOperatorRouteName(RitzOperatorRoute route);

// What is wanted of an operator: a set.
typedef enum {
  RITZ_PREPARE_APPLY = 1,    // CeedOperatorApply and its family
  RITZ_PREPARE_DIAGONAL = 2, // the diagonal (CeedOperatorLinearAssembleDiagonal), and what the apply needs
  RITZ_PREPARE_POINT_BLOCKS = 4, // CeedOperatorLinearAssemblePointBlockDiagonal, likewise
} RitzPreparation;

// Makes the kernels of all these operators (of composites: of all sub-operators), as many compilers at a time
// as there are processors, so that no first use has to. Operators that have theirs, and equal ones, cost
// nothing; passive vectors need no values yet. Active vectors are taken to have the operator's precision.
// wanted [num]: sets of RitzPreparation; NULL: all applies. in_background: returns while compilers run; the
// first use of an operator waits for its own kernel (RITZ_USE_NO_WAIT: for none), and destroying the
// operators stops what still runs; on CUDA the end of the context waits for what has begun. The library has
// threads of its own meanwhile; on OpenCL the call returns when all is compiled. Without it the call waits
// for all of them, whatever the use. What falls back, and why, is told at the first use, as always. Backends
// with nothing to compile, and separate kernels of devices, which their first use makes: success. Errors:
// those of CeedOperatorCheckReady; CEED_ERROR_DIMENSION: num is negative.
CEED_EXTERN int RitzOperatorsPrepare(CeedInt num, const CeedOperator *ops, const int *wanted,
                                     bool in_background);

// Tells in lines for people how an operator runs on its backend: which kernel and why no better one, the plan
// with its bases, spaces and fields, its costs per element (flops, bytes). Of a composite: of all
// sub-operators. Makes what an apply would make now. Errors: those of CeedOperatorCheckReady and of
// compilation under RITZ_STRICT. What runs and why is shown here always; whether there is a warning on
// stderr, too, when an operator falls back, is a matter of RITZ_WARNINGS (doc/kernels.md).
CEED_EXTERN int RitzOperatorExplain(CeedOperator op, FILE *stream);

// out[k] := A in[k] for k < num, as CeedOperatorApply in this order, on vectors of the same kinds; single
// operators and composites. What all applies have in common, data at points, offsets, tables, is read once
// for several vectors: /cpu/self/gen takes some batches of elements through all of them before the next ones,
// generated kernels of devices take elements with up to 8 vectors side by side. Each out[k] is that of its
// own apply up to rounding, on /cpu/self/gen and on resources with `:deterministic` bit for bit.
// ApplyAddMany: out[k] += A in[k], as CeedOperatorApplyAdd.
//
// One after the other, with the same results: on other backends; operators that run without a generated
// kernel; with passive outputs (which hold what the last apply leaves, or the sums); vectors whose precisions
// differ among the inputs or among the outputs. RitzOperatorExplain tells what kernels do. A QFunction that
// writes to its context does so for all vectors, in any order, as for the elements of one.
//
// in, out [num]: borrowed; num = 0: nothing happens, both may be NULL. An input may come several times. No
// output comes twice or is an input, and none is a passive input of the operator; no input is a passive
// output. All is checked before anything is written, errors are those of CeedOperatorApply, its messages name
// the number of the vectors. Besides: CEED_ERROR_DIMENSION: num is negative. CEED_ERROR_INCOMPATIBLE: an
// array is NULL, a vector is shared as above. What fails later leaves no output that it has touched with
// values.
CEED_EXTERN int RitzOperatorApplyMany(CeedOperator op, CeedInt num, const CeedVector *in,
                                      const CeedVector *out);
CEED_EXTERN int RitzOperatorApplyAddMany(CeedOperator op, CeedInt num, const CeedVector *in,
                                         const CeedVector *out);

// sums[k] = the sum over all elements and points of number k that the QFunction gives at a point: a
// functional of the input, such as an energy, a mass, a force or the square of an error, where the QFunction
// multiplies by the quadrature weight. Numbers are counted through the outputs in the order of the QFunction,
// then through the components of each. All outputs are CEED_EVAL_NONE (their restrictions are strided, of all
// points: nothing of that size is made, and active and passive outputs are not written); of a composite: the
// sum over its sub-operators, with as many numbers each. Points of several parts of a problem: the sums are
// this part's.
//
// It runs where the operator's context computes, as an apply with one number a component and element for its
// output, fused where that is (the operator that does it is kept; RitzOperatorsPrepare does not make its
// kernel); the host gets the sums alone. Rounding: in an element that of the operator's precision, over the
// elements in double with compensation. Results repeat bit for bit where applies do. Memory, kept: 16 bytes a
// component and element.
//
// in: as of CeedOperatorApply. num_sums: the number of all components. Errors: those of CeedOperatorApply,
// after which sums is as before; CEED_ERROR_INCOMPATIBLE: an output goes through a basis;
// CEED_ERROR_DIMENSION: there are more or fewer numbers than num_sums.
CEED_EXTERN int RitzOperatorReduce(CeedOperator op, CeedVector in, CeedInt num_sums, double sums[]);

// Prints the list of steps that an apply is, one a line: what happens to an element, in which buffers (their
// components and extents, last direction first), by which tables, at what price (flops and bytes of an
// element); on CPUs also how its kernel does it. Every kernel of the operator does these steps. Of a
// composite: those of all sub-operators. An operator that runs without a plan has none and gets a line that
// says so. Makes the kernel and has errors like RitzOperatorExplain.
CEED_EXTERN int RitzOperatorExplainSteps(CeedOperator op, FILE *stream);

// The source text of the kernel that was generated for a single operator, as it was given to the compiler;
// NULL where none was generated. Valid while the operator lives and is not tuned; not to be freed. Makes the
// kernel, with RITZ_USE_MANY whatever applies have cost. A composite is CEED_ERROR_INCOMPATIBLE: ask for its
// sub-operators.
CEED_EXTERN int RitzOperatorGetSource(CeedOperator op, const char **source);

// Result of RitzOperatorTune; for a composite: sums over its sub-operators that were measured.
typedef struct {
  // Fused kernels that ran, the model's one included; of an operator that cannot be fused, routes. 0: nothing
  // was measured.
  CeedInt num_tried;
  const char *reason;      // why nothing was measured (static), else NULL
  double model_seconds;    // of an apply with the choices of the library's model
  double best_seconds;     // with those that are used from now on
  char choice[160];        // these, such as "elements=4 blocks=6"; "" for a composite
  RitzOperatorRoute route; // that is used from now on; of a composite: of the first part that was measured
  // Of an apply by each route, the fused one with the best kernel; 0: it was not measured, since it cannot be
  // had (of :deterministic contexts a vendor's products are left out) or another one was asked for.
  double route_seconds[RITZ_OPERATOR_ROUTE_GEMM_VENDOR + 1];
} RitzTuning;

// Measures what the library otherwise chooses by a model, and keeps the fastest kernel and, where
// RITZ_OPERATOR_ROUTE_AUTO leaves the choice, the fastest route: this operator uses it
// at once, operators that are made later find it, in this process and, through the cache (ritz/jit.h), in any
// other program on a device of this name, whatever the size of the mesh. Vectors are those of
// CeedOperatorApply: the operator is applied some thousand times, and once more at the end, so that
// afterwards they (passive outputs and a context that the QFunction writes to, too) hold what applies leave
// there. Takes a minute where kernels take seconds to compile. Meshes should be as large as those of later
// runs: small ones do not fill a device.
//
// Sub-operators of a composite are tuned one after the other; one that has the kernel of an earlier one
// takes over what was found for that. Backends that have nothing to choose, and operators that run without a
// generated kernel: success, num_tried is 0. RITZ_TUNE=off: nothing is measured, and what was measured is not
// used; RITZ_TUNE=N: at most N (1 to 40, the default) kernels are tried for an operator. tuning: may be NULL.
// Errors: those of CeedOperatorApply.
CEED_EXTERN int RitzOperatorTune(CeedOperator op, CeedVector in, CeedVector out, RitzTuning *tuning);

// Pattern of the matrix of a linear operator (single or composite; the fields must live on nodes). Row r
// holds the columns cols[row_starts[r]] ... cols[row_starts[r+1] - 1], ascending, each once: every pair of
// L-vector entries that an element couples. num_rows is the length of the active output, *num_cols that of
// the active input; rows that no element touches are empty. row_starts [num_rows + 1] and cols
// [row_starts[num_rows]] are new arrays, to be freed by the caller with free(). Temporary memory: 16 bytes
// per element, node and component, 8 bytes per column. Errors: those of CeedOperatorLinearAssembleSymbolic.
CEED_EXTERN int RitzOperatorAssembleCSRSymbolic(CeedOperator op, CeedSize *num_rows, CeedSize *num_cols,
                                                int64_t **row_starts, int64_t **cols);

// Values of the matrix in the pattern of RitzOperatorAssembleCSRSymbolic for the same operator, or in a
// larger one: values [row_starts[num_rows]] are overwritten. One run of an assembly (ritz/assembly.h, which
// keeps what this call finds anew each time: use it where values are computed again and again), with its
// order of additions and its memory. Operators of less than 40000 elements are not worth a compiler here: on
// /cpu/self/gen the reference backend makes their element matrices, unless the kernel is there; on devices
// those of less than 2000. An entry outside the pattern is CEED_ERROR_INCOMPATIBLE.
CEED_EXTERN int RitzOperatorAssembleCSR(CeedOperator op, const int64_t *row_starts, const int64_t *cols,
                                        CeedVector values);

#endif
