// SPDX-License-Identifier: BSD-2-Clause
// Preconditioners: approximate inverses z = P r of an operator on the entries that are not constrained. z is
// zero on constrained entries, whatever r has there. They serve solvers (ritz/solver.h), each other (a
// Chebyshev polynomial of a Jacobi method) and multigrid as smoothers (ritz/multigrid.h).
//
// A preconditioner has a precision of its vectors: that of its operator's arithmetic (ritz/precision.h). It
// can be applied to vectors of the other precision all the same: r is divided by its norm, converted, and z
// converted back and multiplied. So a float multigrid below a double Krylov method is one preconditioner.
//
// Constraints: entries of the L-vector (RitzIndices, NULL: none), referenced.
#ifndef RITZ_PRECONDITIONER_H
#define RITZ_PRECONDITIONER_H

#include <ceed.h>
#include <ritz/space.h>
#include <ritz/vector.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct RitzPreconditioner_private *RitzPreconditioner;

// ---- Use ----

// z := P r; r and z are different vectors of one precision, either one. Errors: CEED_ERROR_DIMENSION
// (lengths), CEED_ERROR_INCOMPATIBLE (the same vector twice, two precisions), those of the kind, after which
// entries of z are unspecified.
CEED_EXTERN int RitzPreconditionerApply(RitzPreconditioner pc, CeedVector r, CeedVector z);
// z[k] := P r[k], k < num, arrays [num], NULL is fine for num = 0. An r may come up several times; no z comes
// up twice or is one of r (CEED_ERROR_INCOMPATIBLE). Errors as above, of all vectors before anything is done,
// and CEED_ERROR_DIMENSION (num < 0). Kinds that have something to gain read their data once for several:
// RITZ_DIRECT_MULTIFRONTAL and LDLT their factors.
CEED_EXTERN int RitzPreconditionerApplyMany(RitzPreconditioner pc, CeedInt num, const CeedVector *r,
                                            const CeedVector *z);
// What it is made of, for people: kinds, degrees, bounds of eigenvalues, levels, bytes a degree of freedom.
CEED_EXTERN int RitzPreconditionerView(RitzPreconditioner pc, FILE *stream);
CEED_EXTERN int RitzPreconditionerReferenceCopy(RitzPreconditioner pc, RitzPreconditioner *copy);
CEED_EXTERN int RitzPreconditionerDestroy(RitzPreconditioner *pc);
// Whether P is (by its construction) a fixed symmetric positive definite matrix: what CG and MINRES need.
// Others take the flexible methods.
CEED_EXTERN int RitzPreconditionerIsSymmetric(RitzPreconditioner pc, bool *is_symmetric);
// Precision of the vectors that it takes.
CEED_EXTERN int RitzPreconditionerGetPrecision(RitzPreconditioner pc, CeedScalarType *precision);
// Memory that lives with it, in bytes: vectors, tables, factors (of shared operators nothing).
CEED_EXTERN int RitzPreconditionerGetBytes(RitzPreconditioner pc, int64_t *num_bytes);

// ---- New values ----

// Values of the operators behind the preconditioner have changed: the state of a Jacobian, a context,
// coefficients, a diagonal that was given. Sizes, patterns, constraints and nullspaces have not. Computes
// again what depends on values: diagonals, blocks of nodes, inverses of elements, numeric factors,
// bounds of eigenvalues (RitzChebyshevOptions.update). All else stays: spaces, transfers, kernels, vectors,
// patterns of matrices, orderings and symbolic factors, whatever AUTO has chosen. Factors that were given to
// Schwarz methods, and those of the mesh, stay, too. Preconditioners inside are updated: of a polynomial the
// inner one, of multigrid smoothers and solvers of all levels, those of the caller's among them. Operators of
// all levels have to have their new values: states of coarser levels are the caller's to set
// (RitzSpaceCreateInterpolation).
//
// The result is what creation would make of the new values, but for choices. Jacobi of a diagonal that was
// given reads that vector. Assembled matrices keep their pattern, and what their factorization needs of it,
// from the first update on, or from the start (RitzDirectOptions.for_updates); CHOLMOD, UMFPACK and own
// sparse factors keep their analysis then, hypre and dense factors have none.
//
// Errors: those of creation, for values that have no preconditioner of this kind (CEED_ERROR_MAJOR, not
// positive definite; CEED_ERROR_UNSUPPORTED, not separable any more): then applications are errors that say
// so, until an update succeeds. CEED_ERROR_UNSUPPORTED, before anything is done: multigrid with operators
// that were copied to another precision without for_updates of its options.
//
// Of problems in parts (RitzPreconditionerCreatePartMultigrid, ritz/exchange.h) all parts make the call
// together; values that have no such preconditioner are an error of all of them.
CEED_EXTERN int RitzPreconditionerUpdate(RitzPreconditioner pc);

// ---- A function of the caller's ----

// z := P r for vectors of the preconditioner's length and precision; z has no values on entry. Any other
// result than 0 ends the solve, which returns it.
typedef int (*RitzPreconditionerFunction)(void *ctx, CeedVector r, CeedVector z);
typedef void (*RitzDestroyFunction)(void *ctx);
// is_symmetric: what the caller says of P. destroy (may be NULL) gets ctx in the end.
CEED_EXTERN int RitzPreconditionerCreate(Ceed ceed, CeedSize n, CeedScalarType precision,
                                         RitzPreconditionerFunction apply, void *ctx,
                                         RitzDestroyFunction destroy, bool is_symmetric,
                                         RitzPreconditioner *pc);
// Called by updates with the same ctx; another result than 0 is that of the update. NULL (as created):
// nothing is to be done. CEED_ERROR_INCOMPATIBLE: another kind of preconditioner.
typedef int (*RitzPreconditionerUpdateFunction)(void *ctx);
CEED_EXTERN int RitzPreconditionerSetUpdate(RitzPreconditioner pc, RitzPreconditionerUpdateFunction update);

// ---- Jacobi ----

// z = r / diagonal. The inverse is kept, 8 or 4 bytes an entry (in the precision of the vector), and a
// reference to the diagonal, for updates. A free entry that is not a positive finite number is
// CEED_ERROR_MAJOR and named.
CEED_EXTERN int RitzPreconditionerCreateJacobi(Ceed ceed, CeedVector diagonal, RitzIndices constraints,
                                               RitzPreconditioner *pc);
// The diagonal of op, assembled here. Here and below operators are referenced.
CEED_EXTERN int RitzPreconditionerCreateOperatorJacobi(CeedOperator op, RitzIndices constraints,
                                                       RitzPreconditioner *pc);
// Inverses of the num_comp x num_comp blocks of nodes (CeedOperatorLinearAssemblePointBlockDiagonal); rows
// and columns of constrained entries are dropped. A block that is not positive definite: CEED_ERROR_MAJOR,
// the node is named.
CEED_EXTERN int RitzPreconditionerCreatePointBlockJacobi(CeedOperator op, RitzIndices constraints,
                                                         RitzPreconditioner *pc);

// ---- Chebyshev polynomials over another preconditioner ----

typedef enum {
  RITZ_CHEBYSHEV_FOURTH, // fourth kind (Lottes 2023; Phillips & Fischer 2022): needs the largest eigenvalue
                         // alone; the smoother of choice
  RITZ_CHEBYSHEV_FIRST,  // first kind on [lower_fraction, 1] * largest eigenvalue
} RitzChebyshevKind;

// What RitzPreconditionerUpdate does with bounds that were estimated.
typedef enum {
  RITZ_BOUNDS_ESTIMATE, // estimates them again, as creation does
  RITZ_BOUNDS_KEEP,     // leaves them: for values that change little
} RitzBoundsUpdate;

// Start from zeros and set what differs.
typedef struct {
  RitzChebyshevKind kind;
  CeedInt degree;        // steps: applications of the operator (one less from zero) and of the inner
                         // preconditioner; 0: 3
  double lower_fraction; // first kind: 0 stands for 1/10 (smoothing)
  double largest;        // eigenvalue of P A; 0: estimated by Lanczos steps
  CeedInt num_steps;     // of the estimate; 0: 12
  double safety;         // times the estimate; 0: 1.1
  RitzBoundsUpdate update;
} RitzChebyshevOptions;

// Symmetric positive definite if inner is. The estimate starts from a fixed pseudo-random vector, so it
// repeats; where it meets r . P r <= 0 twice, from another vector the second time, it is an error
// (CEED_ERROR_MAJOR): operator or inner preconditioner is not positive definite. Conjugate gradients that
// meet r . P r <= 0 have the estimate made once more, with four times the steps: the bound was too small.
CEED_EXTERN int RitzPreconditionerCreateChebyshev(CeedOperator op, RitzIndices constraints,
                                                  RitzPreconditioner inner,
                                                  const RitzChebyshevOptions *options,
                                                  RitzPreconditioner *pc);
// The bounds it uses: estimate of the largest eigenvalue of P A, without safety, and the interval.
CEED_EXTERN int RitzPreconditionerGetChebyshevBounds(RitzPreconditioner pc, double *estimate, double *lower,
                                                     double *upper);

// ---- Schwarz methods on elements and vertex patches ----

typedef enum {
  RITZ_SCHWARZ_ELEMENTS,   // additive: the elements, no overlap beyond shared nodes
  RITZ_SCHWARZ_OVERLAPPED, // additive: elements with layers of nodes around them, on one side of each
                           // direction at the boundary (RitzSpaceCreateOverlapRestrictions); degree >= 2
  RITZ_SCHWARZ_PATCHES, // additive: the 2^dim elements around every inner vertex (RitzMeshGetVertexPatches)
  RITZ_SCHWARZ_COLOURED_PATCHES, // these multiplicatively, colour by colour: not symmetric
  // The same there and back: an application is a sweep and one in reversed order; as a smoother of multigrid
  // a sweep, in reversed order after the coarse correction. Symmetric, definite where sweeps converge.
  RITZ_SCHWARZ_SYMMETRIC_PATCHES,
} RitzSchwarzKind;

// Subdomains are solved by fast diagonalization of separable approximations B_K of the operator on their
// nodes. Additive kinds: z = W sum_K E_K^T D B_K^-1 D E_K W r with W = 1 / sqrt(subdomains of a node) and D
// from the diagonals of op and of the B_K, so that coefficients of any contrast are followed. Smoothers for
// diffusion below RitzPreconditionerCreateChebyshev: iterations grow less with the degree, the deformation
// and the stretching of elements than with Jacobi. An application takes about half an apply of op with
// elements, one and a half to two with overlapped ones, one half (degree 2) to three (7) with patches.
//
// Coloured patches: x := x + sum_K E_K^T D B_K^-1 D E_K (b - A x) over the patches of one colour after the
// other, no two of a colour share an element (2^dim colours on boxes). The preconditioner is one sweep from
// zero; as a smoother it applies op once a colour, so a sweep takes 2^dim applies of op and one application
// of additive patches. Local solves are exact on grids of equal rectangular elements; on strongly deformed
// ones, and where coefficients jump, sweeps may diverge, and nothing warns before.
//
// op: the operator, on `space` (components are not coupled by B_K); lines, quadrilaterals and hexahedra, else
// CEED_ERROR_UNSUPPORTED. factors [num_elem][dim + 1], copied: the means over each reference element of mu
// G_dd for every direction d and of lambda det (ritz/geometry.h), positive, the last one not negative. With
// elements as subdomains only their ratios within an element count; patches take means over their elements.
// NULL: those of the mesh for mu = 1, lambda = 0, which serve every scalar coefficient; given for tensors,
// and where lambda is so large that op is near a mass matrix. Memory, in the precision of op: 2 numbers an
// entry, 3 with coloured patches, and where overlapped elements miss nodes, 1 a node and 2^dim a subdomain; 4
// bytes for each node of a subdomain, beside those of `space`; 12 bytes a node meanwhile.
//
// Errors: free nodes that are inside of no patch (on free boundaries; vertices with other than 2^dim elements
// around): CEED_ERROR_UNSUPPORTED, the first one is named; degree 1 with overlapped elements: the same. An
// entry of the diagonal that is free and not positive: CEED_ERROR_MAJOR.
CEED_EXTERN int RitzPreconditionerCreateSchwarz(CeedOperator op, RitzSpace space, const double *factors,
                                                RitzIndices constraints, RitzSchwarzKind kind,
                                                RitzPreconditioner *pc);
// The same with RITZ_SCHWARZ_ELEMENTS.
CEED_EXTERN int RitzPreconditionerCreateElementSchwarz(CeedOperator op, RitzSpace space,
                                                       const double *factors, RitzIndices constraints,
                                                       RitzPreconditioner *pc);

// ---- Schwarz methods with exact elements of any shape ----

// z = W sum_K E_K^T A_K^-1 E_K W r over the elements of all shapes, A_K the rows and columns of op's matrix
// for the entries of element K, all components together, W = 1 / sqrt(elements of a node): exact for a mesh
// of one element. For simplices, prisms, pyramids and mixed meshes, and for components that op couples
// (elasticity), where RitzPreconditionerCreateSchwarz does not serve: a smoother below
// RitzPreconditionerCreateChebyshev, a preconditioner of conjugate gradients by itself. An application reads
// the inverses, n^2 numbers an element with n entries, at the speed of memory (ritz/batched.h).
//
// op: symmetric positive definite on the free entries, on `space`. It is assembled here
// (ritz/assembly.h); pattern and places are freed again, and kept from the first update on. Memory, in the
// precision of op: n^2 + 2 n an element, 2 an entry; during creation and updates twice n^2 more and the
// matrix, in CeedScalar.
//
// Errors: an A_K that is not positive definite: CEED_ERROR_MAJOR, the element is named; an element that has
// a node twice (periodic meshes of one element a direction): CEED_ERROR_UNSUPPORTED; CEED_ERROR_DIMENSION as
// above, and those of assembly and of RitzBatchedCreate.
CEED_EXTERN int RitzPreconditionerCreateDenseSchwarz(CeedOperator op, RitzSpace space,
                                                     RitzIndices constraints, RitzPreconditioner *pc);

// ---- Vertex patches of rectangular boxes ----

// Multiplicative Schwarz with the cells around each vertex as subdomains: one patch after the other, colour
// by colour (2^dim of them, by the parity of the vertex), is solved exactly for its interior nodes, by fast
// diagonalization. (Cui, Grosse-Bley, Kanschat, Strzodka 2024; the lifted form is ours, doc/multigrid.md.)
// The best smoother there is for multigrid where it applies: rectangular boxes, uniform or with lengths of
// cells that differ from slab to slab, and operators that are separable on them: diffusion with one number
// for each direction, plus a reaction, the same for all components, exact quadrature.
typedef enum {
  RITZ_PATCH_LIFTED,   // from values on the patch's boundary alone, in a basis in which edges and corners do
                       // not count and each face has one term; about 3 (2p + 1) multiply-adds a node
  RITZ_PATCH_RESIDUAL, // the residual of all interior rows, then the solution of a correction
  RITZ_PATCH_BOUNDARY, // the residual for zeros inside, then the solution
} RitzPatchForm;       // equal but for rounding; the last two are what the literature describes

// Start from zeros and set what differs.
typedef struct {
  RitzPatchForm form;
  bool is_symmetric; // an application is a sweep and one in reversed order, else one sweep: not symmetric
} RitzPatchOptions;

// As a preconditioner: sweeps from zero. As a smoother of multigrid: a sweep over b and x in place.
//
// op: the operator, on `space`, without boundary conditions; constraints: all entries on some sides of the
// box, others free. The numbers of op are found by applying it once; a sweep over a random solution, which
// has to leave it as it is, then proves every row of every patch. Errors: CEED_ERROR_UNSUPPORTED where this
// is not the matrix of a separable operator on a rectangular box (what was found is named, and what to use
// instead), dim 1, CEED_ERROR_DIMENSION (lengths). Memory: tables of a line for each slab of a graded box, of
// one line for a uniform one; nothing that grows with the number of unknowns.
CEED_EXTERN int RitzPreconditionerCreateVertexPatches(CeedOperator op, RitzSpace space,
                                                      RitzIndices constraints,
                                                      const RitzPatchOptions *options,
                                                      RitzPreconditioner *pc);

// ---- Blocks of several fields ----

// Preconditioners of problems whose unknowns are several ranges of entries, one after the other, as in
// products of spaces (ritz/product.h): each block i has an inverse P_i of its own and a factor f_i. A_ij is
// what block i of A x has of block j of x.
typedef enum {
  RITZ_BLOCKS_DIAGONAL, // z_i = f_i P_i r_i
  RITZ_BLOCKS_LOWER,    // z_i = f_i P_i (r_i - sum of A_ij z_j over j < i), from the first block to the last
  RITZ_BLOCKS_UPPER,    // the same with j > i, from the last block to the first
  // Sweeps over the residual, z_i += f_i P_i (r - A z)_i, from the first block to the last and back:
  // symmetric, definite where A is and sweeps converge (f_i P_i below twice the inverse of A_ii).
  RITZ_BLOCKS_SYMMETRIC,
} RitzBlocksKind;

typedef struct {
  RitzPreconditioner inverse; // referenced; its length is that of the block
  double factor;              // 0 stands for 1; negative for a Schur complement that is negative definite
} RitzBlock;

// A_ij, i the row, j the column: an operator from vectors of block j to those of block i.
typedef struct {
  CeedInt row, column;
  CeedOperator op; // referenced
} RitzBlockCoupling;

// Start from zeros and set what differs.
typedef struct {
  RitzBlocksKind kind;
  CeedOperator op; // A, referenced: all kinds but the diagonal one apply it for each block but the first one
                   // that is served
  CeedInt num_couplings; // triangular kinds: these A_ij instead of op, others are zero; those that the kind
                         // does not need may be there
  const RitzBlockCoupling *couplings; // [num_couplings], borrowed
} RitzBlocksOptions;

// options NULL: zeros. Constraints are those of the inverses. Symmetric positive definite, for CG and MINRES:
// the diagonal kind and the symmetric one when all inverses are and all factors are positive. Its precision
// is that of the inverses, CeedScalar's where they differ. Memory: 2 numbers an entry, 3 with op. Errors:
// CEED_ERROR_DIMENSION (num < 1, operators of other lengths, couplings of blocks that are not there),
// CEED_ERROR_INCOMPLETE (a triangular kind with neither op nor couplings, the symmetric one without op),
// CEED_ERROR_INCOMPATIBLE (NULL, operators of another context, factors that are not finite).
CEED_EXTERN int RitzPreconditionerCreateBlocks(Ceed ceed, CeedInt num, const RitzBlock blocks[],
                                               const RitzBlocksOptions *options, RitzPreconditioner *pc);

// ---- Assembled matrices: coarse problems ----

// doc/coarse-problems.md says when which kind is of use. Libraries of others are looked up at run time.
typedef enum {
  RITZ_DIRECT_AUTO, // the first that serves: dense for few unknowns, a sparse factorization, AMG for many, or
                    // where that is too much work, CG. Not definite: UMFPACK, LDLT where that is missing; not
                    // symmetric: LU for few, UMFPACK, LU up to 4000 where that is missing
  RITZ_DIRECT_DENSE,        // own Cholesky factorization, 8 n^2 bytes
  RITZ_DIRECT_CHOLMOD,      // SuiteSparse's sparse Cholesky factorization
  RITZ_DIRECT_UMFPACK,      // SuiteSparse's sparse LU factorization
  RITZ_DIRECT_AMG,          // one V-cycle of hypre's algebraic multigrid. Starts MPI unless the program has
  RITZ_DIRECT_CG,           // Jacobi-CG to a tolerance: a variable preconditioner
  RITZ_DIRECT_MULTIFRONTAL, // own sparse Cholesky factorization, which is computed, lives and solves where
                            // the context computes
  RITZ_DIRECT_LDLT, // the same, L D L^T of symmetric matrices that need not be definite, without exchanges:
                    // pivots below sqrt(eps) |A| are replaced, solutions then refined on the host
  RITZ_DIRECT_LU,   // own dense LU factorization with exchanges, for matrices that are not symmetric, 8 n^2
                    // bytes
} RitzDirectKind;
CEED_EXTERN const char *RitzDirectKindName(RitzDirectKind kind); // "auto"; NULL past the end
// Whether this library and machine have it; *why (static, may be NULL): why not.
CEED_EXTERN bool RitzDirectKindIsAvailable(RitzDirectKind kind, const char **why);

typedef struct {
  RitzDirectKind kind;
  CeedInt max_dense;      // AUTO: dense up to so many unknowns; 0: 600
  int64_t max_direct;     // AUTO: sparse factorization up to so many; 0: 200000
  double tolerance;       // of CG, relative; 0: 1e-10 (1e-5 in float)
  CeedInt max_it;         // of CG; 0: 1000
  CeedInt num_null;       // nullspace of op: the factorization is made definite, the result orthogonal to it
  const CeedVector *null; // [num_null], borrowed during creation
  bool for_updates; // RitzPreconditionerUpdate will be called: what it needs is kept from the start, else
                    // from the first update on, which makes the pattern and its analysis once more
} RitzDirectOptions;

// Assembles op (RitzOperatorAssembleCSR) without constrained rows and columns and factorizes it. A kind that
// is not available: CEED_ERROR_UNSUPPORTED with what is missing. A matrix that cannot be factorized, is not
// finite, or not symmetric (but for UMFPACK and LU): CEED_ERROR_MAJOR. Vectors that are no nullspace, or
// depend on each other, options without meaning: CEED_ERROR_INCOMPATIBLE. options: NULL stands for zeros.
// Factors are in double, whatever the operator's precision, and on the host but for MULTIFRONTAL and LDLT;
// conjugate gradients have vectors of the library's own precision.
CEED_EXTERN int RitzPreconditionerCreateDirect(CeedOperator op, RitzIndices constraints,
                                               const RitzDirectOptions *options, RitzPreconditioner *pc);

#endif
