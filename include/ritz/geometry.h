// SPDX-License-Identifier: BSD-2-Clause
// Operators with the right geometry for every element: which elements are affine, trilinear or curved, and
// for each kind the cheapest way to its geometric factors.
//
// Notation: x(r,s,t) is the map of an element, J its Jacobian with columns J_d = dx/dr_d, K = adj(J) with
// rows k_d (in 3D k_r = J_s x J_t and so on), det = det J, w the weight of a quadrature point. Then
// grad u = (1/det) sum_d k_d du/dr_d, and the integrals over an element are sums over its points of
//
//     mass        lambda w det  u v
//     diffusion   mu (w / det) (sum_a k_a u_a) . (sum_b k_b v_b)  =  mu sum_ab G_ab u_a v_b,  G = w/det K K^T
//
// On surfaces and curves (space_dim > dim) det is the ratio of areas or lengths and k_d the dual vectors
// times det. Everything is evaluated in CeedScalar.
#ifndef RITZ_GEOMETRY_H
#define RITZ_GEOMETRY_H

#include <ritz/mesh.h>
#include <ritz/space.h>
#include <stdbool.h>

typedef struct RitzGeometry_private *RitzGeometry;

// Where the factors come from. A policy names the most that is made of an element; elements that are not
// simple enough for it have stored factors. On prisms and pyramids all policies are what they are on
// hexahedra (trilinear: the map of degree 1). Of straight simplices J is constant: TRILINEAR, PARTIAL and
// MERGED are AFFINE, for mass, too; elements that are not straight are stored.
typedef enum {
  RITZ_POLICY_AUTO,   // for each kind of element what takes least time by bytes and flops of the machine: by
                      // the kept figures of the processor (ritz/machine.h), else typical ones; nothing is
                      // measured
  RITZ_POLICY_STORED, // all factors at all points: 1 number for mass, dim (dim+1)/2 for diffusion
  RITZ_POLICY_AFFINE, // affine elements: the same numbers once an element, times the weights
  RITZ_POLICY_TRILINEAR, // affine and trilinear elements: J from the corners in the kernel
  RITZ_POLICY_PARTIAL, // the same with w / det stored (1 number a point): no division. Mass has none: stored
  RITZ_POLICY_MERGED,  // the same with mu w / det and lambda w det stored, as wanted (1 or 2 numbers); where
                       // coefficients vary PARTIAL is this. Mass: stored
  RITZ_POLICY_ISOPARAMETRIC, // all elements: J from the map of the full geometry order
} RitzGeometryPolicy;
CEED_EXTERN const char *RitzGeometryPolicyName(RitzGeometryPolicy policy); // "auto"; NULL past the end
// CEED_ERROR_INCOMPATIBLE, reported without a context: no such policy.
CEED_EXTERN int RitzGeometryPolicyFromName(const char *name, RitzGeometryPolicy *policy);

typedef enum {
  RITZ_OPERATOR_MASS,           // lambda u v
  RITZ_OPERATOR_DIFFUSION,      // mu grad u . grad v
  RITZ_OPERATOR_HELMHOLTZ,      // both
  RITZ_OPERATOR_POINT_FUNCTION, // a function of the user's: for RitzGeometryGetPolicyUsed alone
} RitzOperatorKind;

// A coefficient at the position x[space_dim]; returns 0, anything else makes the creation fail with that
// code. Values that are not finite are CEED_ERROR_MAJOR.
typedef int (*RitzCoefficientFunction)(void *ctx, const double *x, double *value);

// Elements of a part of a mesh (ritz/partition.h).
typedef enum {
  RITZ_ELEMENTS_ALL = 0,
  RITZ_ELEMENTS_INSIDE, // all nodes are owned
  RITZ_ELEMENTS_SEAM,   // some nodes are ghosts
} RitzElementChoice;

// Start from zeros and set what differs.
typedef struct {
  RitzOperatorKind kind;
  RitzSpace space;           // borrowed; of the geometry's mesh. Its components do not couple
  CeedInt num_points;        // per direction; 0: degree + 2 (CEED_GAUSS), degree + 1 (CEED_GAUSS_LOBATTO).
                             // Triangles, tetrahedra, pyramids, prisms: exact to degree 2 num_points - 1
                             // (RitzBasisCreateLagrange), with either
  CeedQuadMode quad_mode;    // 0: CEED_GAUSS
  RitzGeometryPolicy policy; // 0: auto
  double lambda, mu;         // constants, used where there is no function; 0 stands for 1
  RitzCoefficientFunction lambda_function, mu_function; // NULL: constant. Evaluated once at every point
  void *lambda_ctx, *mu_ctx;
  CeedInt num_regions;        // the integral is over the elements of these regions of the mesh alone; 0: all
  const int32_t *regions;     // [num_regions] their numbers, or -1 - k: overlap k; borrowed during the call
  RitzElementChoice elements; // of a part of a mesh: all, or those without or with ghosts of `space`
  // The integral is over the body that the mesh, which lies in the half plane x >= 0, makes turned about x =
  // 0: weights times 2 pi x, one more number a point where they are not part of stored factors.
  bool is_axisymmetric;
  // The two functions in C, CeedScalar lambda(x, y, z) and mu(x, y, z) of CeedScalar, what is constant among
  // them, too, in the subset of C that doc/gpu.md names; borrowed during the call. A run-time compiler
  // evaluates them where there are 2 million points or more; the functions above are called with fewer, for
  // bodies of revolution, where some value is not finite and, with a warning, where there is no compiler or
  // it refuses the text. NULL: there is no text.
  const char *coefficients_text;
} RitzOperatorOptions;

// ---- Classification ----

// Classifies the elements of the mesh (referenced). tolerance as in RitzMeshClassifyElements. Elements that
// are inverted or flat somewhere, or have coordinates that are not finite, are CEED_ERROR_MAJOR, the message
// names the element and its smallest determinant. (Meshes refuse them when they are made; geometry looks at
// max(g + 1, 3) Gauss-Lobatto points a direction, on triangles, tetrahedra, pyramids and prisms at the nodes
// of degree max(g, 2), the corners among them but apexes of pyramids. Flat: det is at most 8 eps times the
// product of the lengths of J's columns.) Memory: 4 bytes per element. CEED_ERROR_UNSUPPORTED: more elements
// than CeedInt can count.
CEED_EXTERN int RitzGeometryCreate(RitzMesh mesh, double tolerance, RitzGeometry *geometry);
CEED_EXTERN int RitzGeometryDestroy(RitzGeometry *geometry);
// The mesh that it was made for.
CEED_EXTERN int RitzGeometryGetMesh(RitzGeometry geometry, RitzMesh *mesh); // borrowed
// The elements of a kind, ascending; belongs to the geometry. Either pointer may be NULL.
CEED_EXTERN int RitzGeometryGetElements(RitzGeometry geometry, RitzElementKind kind, int64_t *num,
                                        const CeedInt **elements);

// ---- Operators ----

// A composite operator L-vector -> L-vector of the space, without boundary conditions, one sub-operator for
// each block of the mesh and kind of element that the policy treats differently (kinds that end up alike are
// one; at least one). Its sub-operators are named "mass, affine" and so on, on meshes of several shapes
// "mass, tetrahedra, affine", what `ritz explain` and the timing table show. Assembly, diagonals and
// multigrid levels of composite operators work on all policies. Coefficients that vary are kept as one number
// a point, times the weight, where they are not part of stored factors. The estimate of flops
// (CeedOperatorGetFlopsEstimate) counts what stored factors take: it is the same for all policies.
//
// The same problem under two policies differs by rounding alone when both are exact for its elements; with
// quadrature that is not exact, too: every policy evaluates the same factors at the same points.
//
// Coefficients that jump are given region by region: an operator for each, whose sub-operators a composite of
// the caller's takes up (CeedOperatorCompositeAddSub; a composite takes no composites).
//
// On a part of a mesh, and for inside or seam elements, *op is NULL where there are no elements: no error.
//
// Errors: CEED_ERROR_INCOMPATIBLE (space on another mesh, NULL, a coefficient or option without meaning,
// regions without elements, bodies of revolution with x < 0, told with its place), CEED_ERROR_UNSUPPORTED
// (sizes beyond CeedInt, bodies of revolution of meshes in other spaces than the plane), those of the Ceed
// functions used.
CEED_EXTERN int RitzGeometryCreateOperator(RitzGeometry geometry, Ceed ceed,
                                           const RitzOperatorOptions *options, CeedOperator *op);

// What is made of the elements of a kind by RitzGeometryCreateOperator with these options or, when their kind
// is RITZ_OPERATOR_POINT_FUNCTION, by RitzGeometryCreatePointOperator: for AUTO what is chosen; elements too
// complex for the policy: STORED. AUTO goes by the options, the number of elements and the figures of the
// machine (see RITZ_POLICY_AUTO). Meshes of several shapes: CEED_ERROR_UNSUPPORTED.
CEED_EXTERN int RitzGeometryGetPolicyUsed(RitzGeometry geometry, Ceed ceed,
                                          const RitzOperatorOptions *options, RitzElementKind kind,
                                          RitzGeometryPolicy *policy);
// The same for a block of any mesh; CEED_ERROR_DIMENSION: there is no such block.
CEED_EXTERN int RitzGeometryGetBlockPolicyUsed(RitzGeometry geometry, Ceed ceed, CeedInt block,
                                               const RitzOperatorOptions *options, RitzElementKind kind,
                                               RitzGeometryPolicy *policy);

// ---- The user's function of physical gradients ----

// A function of values and physical gradients at a point, as RITZ_POINT_FUNCTION (ritz/point-function.h)
// makes it of the user's text; see there for its arguments. One QFunction for each form of the geometry.
typedef struct {
  CeedInt dim, num_comp;                 // as given to the macro; dim = space_dim of the mesh
  CeedQFunctionUser stored, computed;    // geometry from stored inverse Jacobians; from the gradient of x
  const char *stored_loc, *computed_loc; // "file:function" of the two
  int has_position;                      // 1: made by RITZ_POSITION_FUNCTION
} RitzPointFunction;

// The operator of a point function on options->space (kind and coefficients of the options are not looked
// at). Policies: STORED keeps inverse Jacobians and w det (dim^2 + 1 numbers a point); AFFINE, TRILINEAR and
// ISOPARAMETRIC compute them; PARTIAL and MERGED are CEED_ERROR_UNSUPPORTED. context: counted reference,
// NULL for none.
CEED_EXTERN int RitzGeometryCreatePointOperator(RitzGeometry geometry, Ceed ceed,
                                                const RitzOperatorOptions *options,
                                                const RitzPointFunction *function,
                                                CeedQFunctionContext context, CeedOperator *op);

// ---- Errors ----

// A known function at the position x [space_dim]: values [num_comp] and, unless gradients is NULL, gradients
// [num_comp][space_dim] (on surfaces and curves along these). As RitzFieldFunction (ritz/function.h)
// otherwise.
typedef int (*RitzKnownFunction)(void *ctx, const double *x, double *values, double *gradients);

// *l2: the norm of u - f, square root of the integral of |u - f|^2 over the mesh; *h1: that of grad u - grad
// f. u is an L-vector of the space. Quadrature as of RitzOperatorOptions; num_points 0: degree + 3. h1 NULL:
// no gradients are asked for. In a part of a mesh: over its elements. Memory for the while: 8 bytes (1 +
// space_dim + num_comp (1 + space_dim)) a point.
CEED_EXTERN int RitzGeometryGetErrorNorms(RitzGeometry geometry, Ceed ceed, RitzSpace space, CeedVector u,
                                          CeedInt num_points, RitzKnownFunction f, void *ctx, double *l2,
                                          double *h1);

// ---- Gradients as fields ----

// A composite operator that makes of an L-vector u of `space` the gradient of its function, as an L-vector of
// `gradients`: at each node of that space the mean, over the elements that have it, of their gradients there.
// `gradients` is a space on the same mesh, of any degree, with num_comp * space_dim components, gradient
// [component][direction] (on surfaces and curves along these). Where u is a polynomial of its degree on
// affine elements, and that of `gradients` is at least one less, the result is exact. It is what files of
// fluxes, strains and stresses are made of: functions of the gradient at each of their points (function of
// RitzOutputField, ritz/output.h). Nothing is solved; it runs where its context computes. In a part of a
// mesh: of its elements. *op is NULL where there are none: no error. Memory: 8 bytes an entry of `gradients`.
//
// Errors: CEED_ERROR_INCOMPATIBLE (spaces on other meshes, another number of components), those of the Ceed
// functions used.
CEED_EXTERN int RitzGeometryCreateGradientOperator(RitzGeometry geometry, Ceed ceed, RitzSpace space,
                                                   RitzSpace gradients, CeedOperator *op);

// ---- The user's function on facets ----

// A function of position, outward normal and values (and physical gradients) at a point of a facet, as
// RITZ_FACET_FUNCTION or RITZ_FACET_GRADIENT_FUNCTION (ritz/point-function.h) makes it of the user's text.
typedef struct {
  CeedInt dim, num_comp; // as given to the macro; dim = space_dim of the mesh
  int has_gradients;     // 1: made by RITZ_FACET_GRADIENT_FUNCTION
  CeedQFunctionUser function;
  const char *loc; // "file:function"
} RitzFacetFunction;

// Start from zeros and set what differs.
typedef struct {
  RitzSpace space;      // borrowed; of the geometry's mesh
  const char *part;     // boundary part, borrowed; NULL: "all", the exterior facets
  CeedInt num_points;   // quadrature exact to degree 2 num_points - 1 on the facet, num_points Gauss points a
                        // direction on lines and quadrilaterals; 0: degree + order of the geometry + 1
  bool is_axisymmetric; // as of RitzOperatorOptions
} RitzBoundaryOptions;

// A composite operator L-vector -> L-vector of the space: the integral over a boundary part of a facet
// function, one sub-operator for each shape of elements and facets that it has ("boundary, hexahedra"). Its
// sub-operators may be added to other composites: Robin, Nitsche, traction and pressure terms become part of
// an operator, with its assembly, diagonals and levels. Functions without gradients read the nodes of the
// facets alone, others all nodes of the elements at the boundary. Nothing is stored at points, of bodies of
// revolution one number. On a part of a mesh *op is NULL where the boundary part has no facets there: no
// error. context: counted reference, NULL for none.
//
// Errors: CEED_ERROR_INCOMPATIBLE (space on another mesh, no such part, a part without facets, a function for
// another dimension or number of components), CEED_ERROR_UNSUPPORTED (surfaces and curves in space; sizes
// beyond CeedInt), those of the Ceed functions used.
CEED_EXTERN int RitzGeometryCreateBoundaryOperator(RitzGeometry geometry, Ceed ceed,
                                                   const RitzBoundaryOptions *options,
                                                   const RitzFacetFunction *function,
                                                   CeedQFunctionContext context, CeedOperator *op);

// ---- The user's function on interior facets ----

// A function of what both sides of a facet have at a point, as RITZ_INTERIOR_FACET_FUNCTION or
// RITZ_INTERIOR_FACET_GRADIENT_FUNCTION (ritz/point-function.h) makes it of the user's text.
typedef struct {
  CeedInt dim, num_comp; // as given to the macro; dim = space_dim of the mesh
  int has_gradients;     // 1: made by RITZ_INTERIOR_FACET_GRADIENT_FUNCTION
  CeedQFunctionUser function;
  const char *loc;  // "file:function"; with a text the function's name alone
  const char *text; // what the file would hold (RitzQFunctionCreateFromText), function is NULL then; or NULL
} RitzInteriorFacetFunction;

// Start from zeros and set what differs.
typedef struct {
  RitzSpace space;    // borrowed; of the geometry's mesh, continuous or not
  RitzSpace tests;    // borrowed; of the test functions, with as many components; NULL: `space`
  CeedInt num_points; // as of RitzBoundaryOptions
} RitzInteriorFacetOptions;

// A composite operator L-vector -> L-vector: the integral over all interior facets of a function of both
// sides, one sub-operator or more for each pair of shapes of elements ("interior facets, hexahedra"): fluxes
// of discontinuous Galerkin methods, interior penalties, jumps that indicate errors. Sub-operators may be
// added to composites with those of elements and of the boundary. Functions without gradients read the nodes
// of the facets alone, others all nodes of the elements on both sides. Nothing is stored at points. Memory: 4
// bytes for each node of `space` (of `tests`, where it is another one) and of the geometry on both sides of
// each facet, and what RitzFacetsCreateCoordinates says.
//
// Tested by another space: for each element K the integral of eta over its facets is the sum of the result at
// the nodes of K, where `tests` is discontinuous of degree 1 and the function sets v of both sides to eta: an
// error indicator (doc/architecture.md).
//
// Matrices are those of both sides. Diagonals are, too, on discontinuous spaces; on continuous ones, whose
// sides have nodes in common, they lack the terms between the sides, as the standard's diagonals lack those
// between fields of different bases: take a matrix's.
//
// Errors: CEED_ERROR_INCOMPATIBLE (spaces on another mesh, no interior facets, a function for another
// dimension or number of components), CEED_ERROR_UNSUPPORTED (surfaces and curves in space; parts of a mesh,
// which lack the elements beyond their facets; sizes beyond CeedInt), those of the Ceed functions used.
CEED_EXTERN int RitzGeometryCreateInteriorFacetOperator(RitzGeometry geometry, Ceed ceed,
                                                        const RitzInteriorFacetOptions *options,
                                                        const RitzInteriorFacetFunction *function,
                                                        CeedQFunctionContext context, CeedOperator *op);

#endif
