// SPDX-License-Identifier: BSD-2-Clause
// The bake-off problems BP1 to BP6 on the public Ceed API alone: the same file measures any implementation of
// it. Called by bp/main.c and by the `ritz` program; printing is left to report.h.
//
//        operator   components   points per direction          degree p, P = p+1 Gauss-Lobatto nodes
//   BP1  mass       1            Gauss, Q = p+2                 per direction; the unit cube in hexahedra,
//   BP2  mass       3            Gauss, Q = p+2                 trilinear geometry; nodes numbered
//   BP3  diffusion  1            Gauss, Q = p+2                 lexicographically over the whole box,
//   BP4  diffusion  3            Gauss, Q = p+2                 components interlaced
//   BP5  diffusion  1            Gauss-Lobatto, Q = p+1
//   BP6  diffusion  3            Gauss-Lobatto, Q = p+1
//
// BP1 to BP4 on other shapes, too: each box of the mesh is cut into six tetrahedra, two prisms, or six
// pyramids around its centre, with quadrature that is exact for polynomials of degree 2p. The Ceed API has no
// such bases: the caller hands over a function that makes them.
//
// Geometric factors are stored, or computed in the operator: from the gradient of the coordinates at the
// points (trilinear), or from factors that are the same in a whole element, times the weights (affine: there
// the mesh is a sheared box, of volume 1, too).
//
// Useful costs and those of recomputation: bp/costs.h.
//
// Measured: one apply from L-vector to L-vector, output zeroed by it, no boundary conditions; or one
// iteration of unpreconditioned CG, with homogeneous Dirichlet conditions by masking for BP3 to BP6: that of
// a library's solver (BpSolver), or one with the Ceed API alone, whose vector arithmetic runs on the host.
//
// Time: batches of applies. On the host one of at least 1 ms, of which the fastest counts. Devices work while
// the host goes on, and the API has no call that waits: there a batch takes at least 20 ms and ends with a
// norm of the output, which has to wait for it. The norm is counted in; it reads one vector once, so that it
// adds less than 1 % to a batch. Of devices the median batch counts.
//
// The roofline is one of time: no machine does it faster than max(bytes / bandwidth, all flops / peak), with
// recomputation.
#ifndef RITZ_BP_BP_H
#define RITZ_BP_BP_H

#include <ceed.h>
#include <stdbool.h>

#include "bp/costs.h"

enum { BP_FIRST = 1, BP_LAST = 6, BP_CG_ITERATIONS = 20 };

typedef enum { BP_APPLY, BP_CG } BpMode;

// Bandwidth and flops of the threads, or the device, that run the operator. Zeros: unknown.
typedef struct {
  int threads;        // 0 of a device
  const char *device; // its name, or NULL
  double bandwidth;   // bytes/s
  double peak;        // flops/s in the precision that is measured; infinite: not known, memory alone bounds
  double cache;       // bytes of all last-level caches
} BpMachine;

// Tetrahedra, prisms or pyramids: Lagrange bases as of include/ritz/basis.h, and the positions of their
// nodes.
typedef struct {
  CeedElemTopology topology;
  int (*create)(Ceed ceed, CeedElemTopology topology, CeedInt num_comp, CeedInt degree, CeedInt quad_degree,
                CeedBasis *basis);
  int (*nodes)(Ceed ceed, CeedElemTopology topology, CeedInt degree, CeedInt *num_nodes, double *x);
} BpShape;

// Vectors of float, and operators that compute in float, as of include/ritz/precision.h: the Ceed API has one
// precision. Geometric factors are computed in CeedScalar and rounded.
typedef struct {
  int (*create)(Ceed ceed, CeedSize length, CeedVector *vec); // a vector of float
  int (*convert)(CeedVector from, CeedVector to);             // between CeedScalar and float, either way
  int (*choose)(CeedOperator op);                             // it computes in float
} BpSingle;

// Applies to several vectors at once, as of include/ritz/operator.h, which the Ceed API has not: measured
// beside those to one vector, in turn, so that both see the same machine.
enum { BP_MAX_MANY = 8 };
typedef struct {
  int (*apply)(CeedOperator op, CeedInt num, const CeedVector *in, const CeedVector *out);
  int num;           // of the list, at most BP_MAX_MANY
  const int *counts; // borrowed: numbers of vectors, >= 1
} BpMany;

// Conjugate gradients of a library, as of include/ritz/solver.h, which the Ceed API has not: vectors stay
// where the operator computes.
typedef struct {
  CeedInt iterations; // fewer than wanted: no residual was left
  double reduction;   // |r| / |r_0| at the end
  bool merged;        // vectors are read and written by the operator
} BpSolve;
typedef struct {
  int (*create)(CeedOperator op, int variant, CeedInt num_fixed, const CeedInt *fixed, void **solver);
  int (*solve)(void *solver, CeedVector b, CeedVector x, CeedInt iterations, BpSolve *result);
  void (*destroy)(void **solver);
  int variant; // for `create`
} BpSolver;

typedef struct {
  int bp;                 // 1 .. 6
  const BpShape *shape;   // borrowed; NULL: hexahedra
  const BpSingle *single; // borrowed; applies alone, all of whose vectors are in float; NULL: CeedScalar
  const BpMany *many;     // borrowed; applies alone; NULL: one vector at a time
  const BpSolver *solver; // borrowed; CG alone; NULL: that of bp.c, with vectors on the host
  CeedInt order;          // p >= 1
  CeedSize size;          // wanted number of unique degrees of freedom; the nearest box is taken
  CeedInt n;              // elements per direction; 0: those that `size` asks for
  double deform;          // amplitude of a smooth displacement of the vertices, 0 at the boundary
  BpMode mode;            // what is timed
  CostGeometry geometry;  // COST_STORED, COST_TRILINEAR or COST_AFFINE, which takes no deformation
  CeedInt repetitions;    // timed batches or solves; 0: at least 5 and half a second (devices: a quarter)
  BpMachine machine;      // nothing but the roofline depends on it
} BpOptions;

// A property that holds in exact arithmetic.
typedef struct {
  const char *name;
  double error, tolerance; // relative; it holds when error <= tolerance
} BpCheck;

enum { BP_MAX_CHECKS = 3 };

// Resource that limits the speed; the caches may have more bandwidth than memory has.
typedef enum { BP_BOUND_UNKNOWN, BP_BOUND_MEMORY, BP_BOUND_CACHE, BP_BOUND_FLOPS } BpBound;

typedef struct {
  BpOptions options;
  CeedInt elements[3];                // boxes per direction
  CeedInt num_elem, P, Q, num_comp;   // P, Q per direction; Q 0 on other shapes
  CeedInt num_nodes, num_points;      // of an element
  CeedSize dofs;                      // unique global degrees of freedom, masked ones included
  CeedInt iterations;                 // CG iterations of a solve; 0 when applies are timed
  double seconds_first;               // the first apply: kernels are made, data go to the device
  double seconds_median, seconds_min; // per apply, or per CG iteration
  double seconds;                     // the one that counts: seconds_min, on devices seconds_median
  double dofs_per_second;             // dofs / seconds
  Costs costs;                        // per apply, or per CG iteration
  BpBound bound;            // CACHE: bytes / bandwidth is the larger one, but all bytes fit into caches
  double seconds_bound;     // max(bytes / bandwidth, all flops / peak), 0 when one of the rates is unknown
  double roofline;          // seconds_bound / seconds: 1 is the best possible, unless in caches
  double reduction;         // CG: |r| / |r_0| at the end
  bool merged;              // CG: vectors are read and written by the operator
  double many[BP_MAX_MANY]; // of the list: rate per vector by that of one vector, the median of pairs
  double checksum;          // r . A r for a fixed r: the same, to rounding, everywhere
  int num_checks;
  BpCheck checks[BP_MAX_CHECKS];
} BpResult;

// Fills in sizes, costs and the bound, which are known before anything runs.
int bp_predict(Ceed ceed, const BpOptions *options, BpResult *result);

// Sets up the problem, checks it and times it. Errors are reported through the error handler of `ceed`.
int bp_run(Ceed ceed, const BpOptions *options, BpResult *result);

// Resource that limits the costs on the machine, and the least number of seconds; *seconds = 0: unknown.
BpBound bp_find_bound(const BpMachine *machine, const Costs *costs, double *seconds);

bool bp_checks_hold(const BpResult *result);         // false for NaN
const char *bp_operator_name(int bp);                // "mass" or "diffusion"
const char *bp_geometry_name(CostGeometry geometry); // "stored" and so on
const char *bp_shape_name(const BpShape *shape);     // "tet", "prism", "pyramid"; "hex" for NULL
int bp_shape_elements(const BpShape *shape);         // of a box

#endif
