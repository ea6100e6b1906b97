// SPDX-License-Identifier: BSD-2-Clause
// Inside of preconditioners: what all kinds have in common. Each kind is a table of methods and a struct of
// its own in `data`. Used by solver/ only.
#ifndef RITZ_SOLVER_PRECONDITIONER_H
#define RITZ_SOLVER_PRECONDITIONER_H

#include <ritz/assembly.h>
#include <ritz/precision.h>
#include <ritz/preconditioner.h>
#include <ritz/space.h>

#include "core/core.h"
#include "core/vector-pass.h"
#include "solver/system.h"

// Work of a smoothing action beside passes over vectors.
typedef struct {
  double num_applies; // of the system's operator; from zero one less
  double flops;       // of operators of the preconditioner's own
} RitzSmoothingWork;

// The inside of a method z = s B (s r) with a vector s: passes of others over vectors of its context and
// precision can do the work of both s.
typedef struct {
  CeedVector scale; // borrowed: s, zero on constrained entries
  CeedVector work;  // borrowed: what B is applied to; may be longer, as the result
} RitzInside;

typedef struct {
  const char *name;           // "Jacobi", as views show it
  const char *symmetric_form; // where one is not symmetric: the option or kind that is; NULL: there is none
  // z := P r; both have pc->n entries of pc->precision.
  int (*apply)(RitzPreconditioner pc, CeedVector r, CeedVector z);
  // What is inside, and *result := B work, z or a longer vector of its own: constrained entries of work may
  // be anything, even not a number. NULL: the method has no such form.
  void (*get_inside)(RitzPreconditioner pc, RitzInside *inside);
  int (*apply_inside)(RitzPreconditioner pc, CeedVector z, CeedVector *result);
  // Applies to several vectors of the preconditioner's context and precision. NULL: one after the other.
  int (*apply_many)(RitzPreconditioner pc, CeedInt num, const CeedVector *r, const CeedVector *z);
  // The power of two that r, of another precision than the preconditioner's, is divided by on its way there:
  // near its largest entry, in all parts of a larger problem the same. NULL: by the sums of the context.
  int (*find_scale)(RitzPreconditioner pc, CeedVector r, double *scale);
  // Improves x for A x = b, as a smoother does; starts_from_zero: x has no values on entry and counts as
  // zero. Constrained entries of x are zero on entry and stay so. is_after: the action follows the coarse
  // correction of a cycle, for kinds whose steps have an order. NULL: x += P (b - A x) by system and apply.
  int (*smooth)(RitzPreconditioner pc, CeedVector b, CeedVector x, bool starts_from_zero, bool is_after);
  // Called by conjugate gradients when r . z <= 0, which bounds of eigenvalues that are too small bring
  // about: better ones, if they were estimated, and not for the second time. NULL: nothing can be done.
  int (*strengthen)(RitzPreconditioner pc, bool *is_changed);
  // Waits for the kernels of operators of its own, whatever their use. NULL: there are none.
  int (*prepare)(RitzPreconditioner pc);
  // A solve by this preconditioner begins or has ended. NULL: it makes no difference.
  void (*enter_solve)(RitzPreconditioner pc, bool begins);
  int (*view)(RitzPreconditioner pc, FILE *stream, int indent); // lines, each indented; NULL: the name
  int64_t (*bytes)(RitzPreconditioner pc);                      // NULL: none
  int (*work)(RitzPreconditioner pc, RitzSmoothingWork *work);  // NULL: one apply of the system's operator
  // Why RitzPreconditionerUpdate cannot be done, static words, before anything is; NULL: it can (the method
  // may be NULL, too).
  const char *(*why_not_updated)(RitzPreconditioner pc);
  // Computes again what depends on values of operators, those inside first. After an error the preconditioner
  // has no values. NULL: of a problem in parts, not there.
  int (*update)(RitzPreconditioner pc);
  int (*destroy)(RitzPreconditioner pc); // frees `data`
} RitzPreconditionerMethods;

struct RitzPreconditioner_private {
  const RitzClass *class;
  Ceed ceed; // counted
  int ref_count;
  CeedSize n;
  CeedScalarType precision;
  bool is_symmetric; // and positive definite and fixed
  bool lacks_values; // the last update has failed: applications are errors
  const RitzPreconditionerMethods *methods;
  void *data;              // owned by the kind
  CeedVector converted[2]; // owned, for vectors of the other precision: r and z
  CeedVector correction;   // owned, for smoothing without a method of its own: z, of the vectors' precision
};

// *pc: with one reference; takes `data` over when it succeeds (methods->destroy frees it later).
int ritz_preconditioner_create(Ceed ceed, const char *call, CeedSize n, CeedScalarType precision,
                               const RitzPreconditionerMethods *methods, void *data, bool is_symmetric,
                               RitzPreconditioner *pc);
// RitzPreconditionerApply without its checks: r and z of any precision and context.
int ritz_preconditioner_apply(RitzPreconditioner pc, CeedVector r, CeedVector z);
// The forms of an application to vectors of this precision that the preconditioner has not made already.
void ritz_preconditioner_add_forms(RitzPreconditioner pc, CeedScalarType precision, RitzPassForms *forms);
// One smoothing action of any preconditioner for the system, see `smooth`. r: work vector.
int ritz_preconditioner_smooth(RitzPreconditioner pc, const RitzSystem *system, CeedVector b, CeedVector x,
                               bool starts_from_zero, CeedVector r, bool is_after);
int ritz_preconditioner_strengthen(RitzPreconditioner pc, bool *is_changed); // false: it cannot
int ritz_preconditioner_prepare(RitzPreconditioner pc);
void ritz_preconditioner_enter_solve(RitzPreconditioner pc, bool begins); // pc may be NULL
// RitzPreconditionerUpdate of one inside another, and why that cannot be done (NULL: it can).
int ritz_preconditioner_update(RitzPreconditioner pc);
const char *ritz_preconditioner_why_not_updated(RitzPreconditioner pc);
// Runs `action`; what it reports is reported with `prefix` before it.
int ritz_run_with_prefix(Ceed ceed, const char *prefix, int (*action)(void *ctx), void *ctx);
int ritz_preconditioner_view(RitzPreconditioner pc, FILE *stream, int indent);
int64_t ritz_preconditioner_bytes(RitzPreconditioner pc);
int64_t ritz_pattern_bytes(RitzAssembly assembly); // of a matrix's rows; NULL: 0
int ritz_preconditioner_work(RitzPreconditioner pc, RitzSmoothingWork *work);

// ---- Checks ----

// CEED_ERROR_DIMENSION unless all entries are below n; NULL: none.
int ritz_check_constraints(Ceed ceed, const char *call, RitzIndices constraints, CeedSize n);
// *n: length of the active vectors. CEED_ERROR_INCOMPATIBLE: none; CEED_ERROR_DIMENSION: two lengths.
int ritz_operator_square_length(CeedOperator op, const char *call, CeedSize *n);
// That of all active inputs (of the first part of a composite), borrowed; NULL: none, or several fields.
CeedElemRestriction ritz_operator_active_restriction(CeedOperator op);
CeedInt ritz_operator_num_components(CeedOperator op); // of the active input; 1 for several fields
// bytes[i] := those of the passive inputs of ops[i] (NULL: none) that no operator before it has.
int ritz_operators_count_stored(Ceed ceed, CeedInt num, const CeedOperator ops[], int64_t bytes[]);
// CEED_ERROR_DIMENSION unless the operator has vectors of the space's length and components, and constraints
// (may be NULL) are entries of it.
int ritz_check_operator_of_space(CeedOperator op, const char *call, RitzSpace space, RitzIndices constraints);
// CEED_ERROR_UNSUPPORTED for discontinuous spaces.
int ritz_check_space_is_continuous(Ceed ceed, const char *call, RitzSpace space);

// CEED_ERROR_INCOMPATIBLE unless the options make sense.
int ritz_chebyshev_check(Ceed ceed, const char *call, const RitzChebyshevOptions *options);

// ---- Assembled matrices (solver/direct.c) ----

// A matrix of `length` rows without those of constrained entries. Arrays of base/memory.h.
typedef struct {
  CeedSize length;
  int64_t n;        // unknowns
  int64_t *entries; // [n]: their rows, ascending
  int64_t *starts;  // [n + 1]
  int64_t *cols;    // [starts[n]]: unknowns, ascending in each row
  double *values;   // [starts[n]]
  CeedInt num_comp; // of a node, side by side
} RitzRows;

// RitzPreconditionerCreateDirect of rows that are known, which are taken over whatever happens. *pc stays
// NULL where factors are too much work (5e10 operations), or rows are more than options allow; `why` says so.
// AMG and CG are CEED_ERROR_UNSUPPORTED; AUTO takes own sparse factors.
int ritz_direct_create_of_rows(Ceed ceed, RitzRows *rows, const RitzDirectOptions *options, char why[1024],
                               RitzPreconditioner *pc);
// An update of what the first has made, for rows of the same pattern, which are taken over whatever happens.
int ritz_direct_renew_rows(RitzPreconditioner pc, RitzRows *rows);

// ---- Jacobi (solver/jacobi.c) ----

// z = r / diagonal, as the public function makes it, where `ceed` (the vectors' context) and the precision
// are given and the diagonal may have others. *bad_entry: a free entry that is not a positive finite number,
// then *pc is NULL and nothing is reported; -1: none.
int ritz_jacobi_create(Ceed ceed, const char *call, CeedScalarType precision, CeedVector diagonal,
                       RitzIndices constraints, int64_t *bad_entry, RitzPreconditioner *pc);
// The inverse diagonal but for a factor (its largest entry is near one; zero on constrained entries), of any
// precision, borrowed, so that passes over vectors of this context can do the work of a Jacobi method; NULL:
// another kind, another context, no preconditioner, no values. *factor (may be NULL): what it is to be
// multiplied with.
CeedVector ritz_jacobi_inverse(RitzPreconditioner pc, Ceed ceed, double *factor);
extern const RitzPass ritz_jacobi_pass; // of its apply

// Fills a vector with what an operator of all parts of a larger problem has now.
typedef int (*RitzAssembleFunction)(void *ctx, CeedVector v);

// Point-block Jacobi (solver/point-blocks.c) for L-vectors of n entries whose components stand side by side,
// of the blocks [num_nodes][num_comp][num_comp] that `assemble` makes, now and in updates; ctx lives as long.
// In a part of a larger problem with the context's sums reduced: a bad block is an error in all of them.
int ritz_point_blocks_create(Ceed ceed, const char *call, CeedInt num_comp, CeedSize n,
                             CeedScalarType precision, RitzAssembleFunction assemble, void *ctx,
                             RitzIndices constraints, RitzPreconditioner *pc);

// A block preconditioner (solver/blocks.c) of a problem in parts: vectors have the owned entries of all
// blocks one after the other, then ghosts, which are zero in z.
typedef struct {
  RitzBlocksKind kind;
  const CeedSize *num_owned, *lengths; // [number of blocks]: of owned entries; of entries of the inverses
  CeedSize length;                     // of vectors
  RitzApplyFunction apply;             // A for vectors of this precision, which clears ghosts of both; NULL
  void *ctx;                           // borrowed
  CeedScalarType precision;
} RitzPartBlocks;
int ritz_blocks_create_in_parts(Ceed ceed, const char *call, CeedInt num, const RitzBlock blocks[],
                                const RitzPartBlocks *options, RitzPreconditioner *pc);

// A Chebyshev polynomial (solver/chebyshev.c) of an operator, or, where that is NULL, of a function. The
// bounds are estimated here: in a part of a larger problem with the context's sums reduced.
int ritz_chebyshev_create(const char *call, Ceed ceed, CeedOperator op, RitzApplyFunction apply, void *ctx,
                          CeedScalarType precision, RitzIndices constraints, RitzPreconditioner inner,
                          const RitzChebyshevOptions *options, RitzPreconditioner *pc);
// Adds the passes of its steps and its estimate over a diagonal, Jacobi's method.
void ritz_chebyshev_add_forms(const RitzChebyshevOptions *options, CeedScalarType precision,
                              RitzPassForms *forms);
// Estimates its bounds by another system: those beside a nullspace, which the polynomial knows not of.
int ritz_chebyshev_estimate_beside(RitzPreconditioner pc, const RitzSystem *system,
                                   const RitzChebyshevOptions *options);

#endif
