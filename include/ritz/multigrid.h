// SPDX-License-Identifier: BSD-2-Clause
// Multigrid: hierarchies of spaces, transfers between them, cycles. Level 0 is the coarsest.
//
// The work of a cycle is done by operators (rediscretized on each level), transfers (operators, too, fused
// like all) and smoothers (ritz/preconditioner.h).
#ifndef RITZ_MULTIGRID_H
#define RITZ_MULTIGRID_H

#include <ceed.h>
#include <ritz/preconditioner.h>
#include <ritz/space.h>

// ---- Hierarchies of spaces ----

typedef struct RitzHierarchy_private *RitzHierarchy;

typedef enum {
  RITZ_HIERARCHY_AUTO, // p, then h where the mesh can be coarsened
  RITZ_HIERARCHY_P,    // degrees p, p/2 (rounded up), ..., 1 on one mesh
  RITZ_HIERARCHY_H,    // coarser meshes, one degree
  RITZ_HIERARCHY_HP,   // coarser meshes first, then degrees
} RitzHierarchyKind;

typedef struct {
  RitzHierarchyKind kind;
  CeedInt max_levels;     // 0: as many as there are
  CeedInt degree_divisor; // p -> max(1, p / divisor), rounded down; 1: p -> p - 1; 0: p / 2, rounded up
  CeedInt min_elements;   // meshes are not coarsened below so many; 0: 1. Parts of meshes (ritz/partition.h)
                          // all have the same levels: there it counts for nothing
  CeedInt num_levels;     // exactly so many; 0: what the other options allow
} RitzHierarchyOptions;

// Spaces below `fine`, which is the finest level and referenced. options NULL: zeros. Coarser meshes are
// those of RitzMeshGetCoarser. Errors: CEED_ERROR_DIMENSION (numbers below 0; num_levels that cannot be had:
// how many are possible is told).
CEED_EXTERN int RitzHierarchyCreate(RitzSpace fine, const RitzHierarchyOptions *options,
                                    RitzHierarchy *hierarchy);
CEED_EXTERN int RitzHierarchyDestroy(RitzHierarchy *hierarchy);
// Number of levels, and the space of one: 0 is the coarsest, the last one the finest.
CEED_EXTERN int RitzHierarchyGetNumLevels(RitzHierarchy hierarchy, CeedInt *num_levels);
CEED_EXTERN int RitzHierarchyGetSpace(RitzHierarchy hierarchy, CeedInt level, RitzSpace *space); // borrowed
// A line for each level, finest first: degree, elements, unknowns.
CEED_EXTERN int RitzHierarchyView(RitzHierarchy hierarchy, FILE *stream);

// A function of `coarse` as a function of `fine`: prolong, L-vector -> L-vector, exact (the spaces are
// nested: one mesh and a degree that is not larger, or meshes of which one is the other, refined once, with
// the same degree), and its transpose. On pyramids, whose functions are rational, those of a coarser mesh are
// interpolated: polynomials of the degree are kept. Boxes that were made apart count as one mesh or as
// refinements of each other when they have as many elements or twice as many in each direction, and the same
// vertices up to 1e-10 of their size. Matrix-free; constrained entries are the caller's matter. precision:
// of arithmetic and weights; vectors may have either. Each of the two belongs to the caller, and may be NULL:
// it is not wanted. Memory: 8 (float: 4) bytes an entry of `fine`, and the offsets of the restrictions, 4
// bytes per node of each coarse element, fine nodes and coarse ones. Errors: CEED_ERROR_INCOMPATIBLE (spaces
// that are not nested), CEED_ERROR_UNSUPPORTED (sizes; FP64 in a float build).
CEED_EXTERN int RitzSpaceCreateTransfer(RitzSpace coarse, RitzSpace fine, Ceed ceed, CeedScalarType precision,
                                        CeedOperator *prolong, CeedOperator *restriction);

// Values of a function of `fine` at the nodes of `coarse`, L-vector -> L-vector: the Lagrange interpolant,
// for states around which problems are linearized, on every level. No transpose of anything: functions of
// `coarse` are exact, so that it takes back what prolong did (not rational functions on the pyramids of a
// coarser mesh). Spaces, precision, memory and errors as for RitzSpaceCreateTransfer, with 8 (float: 4) bytes
// an entry of `coarse` instead of `fine`. The operator belongs to the caller.
CEED_EXTERN int RitzSpaceCreateInterpolation(RitzSpace coarse, RitzSpace fine, Ceed ceed,
                                             CeedScalarType precision, CeedOperator *interpolation);

// ---- Dirichlet conditions on every level ----

typedef struct {
  const char *part; // boundary part of the mesh, "all": all of the boundary
  CeedInt num_comp; // how many components are fixed; 0: all
  CeedInt comp[3];  // these
  bool is_axis; // in the place of a part, whose name is NULL then: the nodes at x = 0, if there are any, as
                // bodies of revolution have no radial displacement there. To 1e-10 of the largest |x|
} RitzFixedPart;

// Entries of the L-vector of `space` on these boundary parts, each once. Errors: CEED_ERROR_DIMENSION
// (components that the space does not have), those of RitzSpaceGetBoundaryNodes.
CEED_EXTERN int RitzSpaceCreateConstraints(RitzSpace space, Ceed ceed, CeedInt num,
                                           const RitzFixedPart parts[], RitzIndices *constraints);

// ---- Cycles ----

typedef enum { RITZ_CYCLE_V, RITZ_CYCLE_W, RITZ_CYCLE_F } RitzCycle;

typedef enum {
  // Chebyshev over Jacobi, of three steps. Several components, which couple as a rule: five steps over
  // element-wise Schwarz on levels of degree 2 and more, where all elements are quadrilaterals or hexahedra
  // and levels have spaces; else over point blocks.
  RITZ_SMOOTHER_AUTO,
  RITZ_SMOOTHER_JACOBI,          // Chebyshev over Jacobi
  RITZ_SMOOTHER_POINT_BLOCKS,    // Chebyshev over point-block Jacobi
  RITZ_SMOOTHER_ELEMENT_SCHWARZ, // Chebyshev over element-wise Schwarz
  // Chebyshev over RitzPreconditionerCreateSchwarz: elements and a layer of nodes around each; levels of
  // degree 1 have AUTO's.
  RITZ_SMOOTHER_OVERLAPPED_SCHWARZ,
  RITZ_SMOOTHER_ADDITIVE_PATCHES, // likewise: the elements around each vertex
  // The elements around each vertex, one after the other, without Chebyshev: exact ones
  // (RitzPreconditionerCreateVertexPatches) where they serve, on rectangular boxes, else
  // RITZ_SCHWARZ_COLOURED_PATCHES, whose convergence nobody warrants: the view says which. One action is one
  // sweep. With is_reversed (then RITZ_SCHWARZ_SYMMETRIC_PATCHES) both make a symmetric cycle.
  RITZ_SMOOTHER_PATCHES,
  // The smoother and the steps whose solve to 1e-9 is predicted to be the shortest: a model of iterations by
  // degree and shape of the elements, for diffusion with coefficients that do not jump within elements, times
  // costs. Costs are those of the model where the solve is short beside measuring, and in contexts with
  // `:deterministic`; else actions of the best ones are timed, on the finest level. The view tells what was
  // chosen and why. Several components, simplices, levels without space: AUTO's.
  RITZ_SMOOTHER_MEASURED,
  RITZ_SMOOTHER_DENSE_SCHWARZ, // Chebyshev over RitzPreconditionerCreateDenseSchwarz: elements of any shape
} RitzSmootherKind;

// Start from zeros and set what differs.
typedef struct {
  RitzCycle cycle;
  bool is_full; // full multigrid: the preconditioner starts from the coarsest level (prolonged solutions),
                // then one cycle a level, in every application
  bool starts_full; // the same in the first application of a solve by RitzSolver alone, cycles follow: full
                    // multigrid as it is described, with RITZ_SOLVER_RICHARDSON the solver itself
  RitzSmootherKind smoother;      // where a level has none of its own
  RitzChebyshevOptions chebyshev; // of these smoothers: degree 0: 3, but for AUTO
  CeedInt schwarz_degree; // ELEMENT_, OVERLAPPED_, DENSE_SCHWARZ: for levels of this degree and more; others
                          // have Jacobi, or point blocks where there are several components, with three steps
                          // or more. 0: all levels
  RitzPatchForm patch_form; // PATCHES: of the exact ones
  bool is_reversed;   // PATCHES: colours after the correction in reversed order: a symmetric cycle. Else
                      // the same order: fewer iterations, flexible methods
  CeedInt num_smooth; // smoother actions before and after each coarse correction; 0: 1
  bool use_precision; // cycle in `precision`, else in the operators' own
  CeedScalarType precision; // FP32: operators of the levels are copied to float (RitzOperatorCopyInPrecision)
  bool for_updates; // RitzPreconditionerUpdate will be called: operators that are copied to `precision` are
                    // kept, for values to be converted again, and what the coarsest problem needs (as
                    // coarse's)
  RitzDirectOptions coarse;         // the coarsest problem
  RitzPreconditioner coarse_solver; // instead of these: any preconditioner of level 0, referenced
} RitzMultigridOptions;

typedef struct {
  CeedOperator op;                   // of this level, without boundary conditions; all referenced
  RitzIndices constraints;           // NULL: none
  CeedOperator prolong, restriction; // from and to the level below; NULL on level 0
  RitzPreconditioner smoother;       // NULL: by the options
  RitzSpace space;                   // for smoothers that need it, and views; may be NULL
  CeedInt num_null; // nullspace of op (Neumann), [num_null], borrowed; must be given on all levels or none
  const CeedVector *null;
} RitzMultigridLevel;

// A preconditioner: one cycle from zero. Symmetric when the cycle is V or W with symmetric smoothers and a
// symmetric coarse solver.
CEED_EXTERN int RitzPreconditionerCreateMultigrid(Ceed ceed, CeedInt num_levels,
                                                  const RitzMultigridLevel levels[],
                                                  const RitzMultigridOptions *options,
                                                  RitzPreconditioner *pc);

// The same from a hierarchy and a function that makes the operator of a level (num_elem, quadrature and
// coefficients its own matter); boundary parts are those of the meshes.
typedef int (*RitzLevelOperatorFunction)(void *ctx, CeedInt level, RitzSpace space, CeedOperator *op);
typedef int (*RitzLevelNullspaceFunction)(void *ctx, CeedInt level, RitzSpace space, CeedInt max,
                                          CeedInt *num,
                                          CeedVector null[]); // writes new vectors; NULL: none
CEED_EXTERN int RitzPreconditionerCreateMultigridOfHierarchy(
    Ceed ceed, RitzHierarchy hierarchy, RitzLevelOperatorFunction create_operator,
    RitzLevelNullspaceFunction create_nullspace, void *ctx, CeedInt num_fixed, const RitzFixedPart fixed[],
    const RitzMultigridOptions *options, RitzPreconditioner *pc);

// The operator of level `level`, borrowed: in the precision of the cycle.
CEED_EXTERN int RitzPreconditionerGetMultigridLevel(RitzPreconditioner pc, CeedInt level, CeedOperator *op,
                                                    RitzPreconditioner *smoother);

// One line a level: unknowns, degree, elements, smoother, bounds, bytes; seconds spent there by kind of work
// when RITZ_PROFILE counts. (What `ritz solve` prints.)
CEED_EXTERN int RitzPreconditionerViewLevels(RitzPreconditioner pc, FILE *stream);

#endif
