// SPDX-License-Identifier: BSD-2-Clause
// A boundary value problem as Ceed objects. Made by `ritz solve`; solving is left to RitzSolver, printing to
// the command.
//
//     poisson      -div k grad u              = f
//     helmholtz    -div k grad u + lambda u   = f
//     mass                                u   = f      (the L2 projection of f)
//     heat         c du/dt - div k grad u     = f      one time step: c factor u - div k grad u = ...
//     elasticity   -div sigma(u)              = f      sigma = lambda div u + mu (grad u + its transpose)
//     hyperelasticity  -div P(grad u)         = f      P of ritz/jit-source/hyperelastic.h: operators are u
//     -> F(u)
//
// in weak form on a space of degree p, integrated with p+2 Gauss points per direction on lines,
// quadrilaterals and hexahedra, exactly to degree 2p+1 where a mesh has other shapes; on surfaces and curves
// with the gradient along them. Boundary parts without given values have a vanishing flux (k times the normal
// derivative) or traction, or the given one. Operators come from ritz/geometry.h: factors of the geometry are
// recomputed or stored as is best for each kind of element.
//
// Axisymmetric: the mesh is one half of a meridian plane, x the distance from the axis and y along it;
// integrals are those over the body of revolution, circles have the strain u_x / x.
//
// A problem on a part of a mesh is a part of one: vectors have ghosts, integrals over elements are completed
// by problem_add_up, numbers by problem_reduce.
//
//     problem.c              the object, operators on its space and on those of multigrid levels
//     problem-data.c         sources, values at nodes
//     problem-sources.c      sources in C
//     problem-conduction.c   conductivities that depend on the unknown
//     problem-exact.c        the known solution: source, errors
//     problem-law.c          laws of elastic bodies
//     problem-elasticity.c   stresses
//     problem-points.c       operators that run once
//     problem-robin.c        Robin's condition
//     problem-modes.c        functions that the operator maps to zero
//     problem-parts.c        what parts of a problem exchange
//     problem-pieces.c       what hangs together
//     problem-jumps.c        coefficients that jump within elements
#ifndef RITZ_CLI_PROBLEM_H
#define RITZ_CLI_PROBLEM_H

#include <ceed.h>
#include <ritz/exchange.h>
#include <ritz/geometry.h>
#include <ritz/mesh.h>
#include <ritz/space.h>
#include <ritz/vector.h>
#include <stdbool.h>

typedef enum {
  PROBLEM_POISSON,
  PROBLEM_MASS,
  PROBLEM_HELMHOLTZ,
  PROBLEM_HEAT,
  PROBLEM_ELASTICITY,
  PROBLEM_HYPERELASTICITY
} ProblemKind;

typedef enum { PROBLEM_NEO_HOOKEAN, PROBLEM_SAINT_VENANT_KIRCHHOFF } ProblemLaw;

// A constant, or a function of the position where there is one.
typedef struct {
  double value;
  RitzCoefficientFunction function; // NULL: constant
  void *ctx;
} ProblemCoefficient;

// What the body consists of, in all or some regions of the mesh.
typedef struct {
  CeedInt num_regions;             // 0: everywhere
  const int32_t *regions;          // borrowed
  ProblemCoefficient conductivity; // k
  ProblemCoefficient reaction;     // lambda of helmholtz, c of heat
  double young, poisson;           // of elasticity
  // Both coefficients as mu(x, y, z) and reaction(x, y, z) in C, for compilers, which make what is not
  // positive no number; borrowed. NULL: there is no text.
  const char *text;
} ProblemMaterial;

// Where a function is asked for its value: x, y, z (0 beyond the mesh's space), the time, and on boundary
// parts the outward normal (of surfaces and curves in space: 0), and a place for u, which is 0; the region of
// the element.
enum { PROBLEM_TIME = 3, PROBLEM_NORMAL = 4, PROBLEM_POINT = 8 };
typedef struct {
  double x[PROBLEM_POINT];
  int32_t region;
} ProblemPoint;
typedef double (*ProblemFunction)(const void *ctx, const ProblemPoint *point, CeedInt component);

// Robin's condition on a boundary part, k du/dn = alpha (value - u).
typedef struct {
  const char *name, *part; // begins messages
  ProblemFunction alpha;   // component 0, not negative
  const void *ctx;
} ProblemRobin;

typedef struct {
  ProblemKind kind;
  ProblemLaw law;       // of hyperelasticity
  bool is_plane_stress; // elasticity of plane bodies: no stress across the plane, else no strain
  bool is_axisymmetric;
  CeedInt order;
  CeedInt more_points; // Gauss points a direction than the degree; 0: 2
  CeedInt num_materials;
  const ProblemMaterial *materials; // borrowed, as long as the problem lives
  // Functions conductivity and capacity(number of the material, x, y, z, u) in C, the second one that of
  // heat, else 1; NULL: those of the materials. Operators are u -> F(u) with them, of meshes that fill their
  // space; poisson, helmholtz and heat.
  const char *conductivity; // borrowed likewise
  CeedInt num_robin;
  const ProblemRobin *robin;      // borrowed likewise
  double factor;                  // heat: of c in the operator, 1 / time step or so
  bool has_known;                 // the solution is known: problem_prepare_sine comes first
  const RitzTransport *transport; // borrowed: the mesh is a part; NULL: it is all there is
} ProblemOptions;

// One of the two: of all elements; of all parts, with this part's elements without ghosts and the others,
// NULL where there are none.
typedef struct {
  CeedOperator whole;
  RitzPartOperator parts;
  CeedOperator pieces[2];
} ProblemOperator;

typedef struct {
  RitzMesh mesh; // borrowed, of a space
  RitzGeometry geometry;
} ProblemGeometry;

typedef struct {
  Ceed ceed;     // borrowed
  RitzMesh mesh; // borrowed
  ProblemOptions options;
  RitzSpace space; // owned, as all that follow
  CeedInt num_blocks;
  CeedElemRestriction *rstr_u, *rstr_x; // [num_blocks]
  CeedVector x;                         // coordinates
  RitzExchange exchange;                // NULL: the problem is no part
  ProblemOperator op;                   // without boundary conditions
  int num_geometries;
  ProblemGeometry *geometries;
  CeedInt dim, space_dim, num_comp;
  double time;                      // at which functions are evaluated
  bool has_directions;              // all elements are lines, quadrilaterals or hexahedra
  bool has_jumps;                   // of coefficients within elements
  CeedQFunctionContext *conduction; // [num_materials], of all operators with functions in C; NULL: none
} Problem;

// ---- problem.c ----

// Starts from zeros; to be destroyed even when the creation fails. The mesh outlives the problem.
int problem_create(Ceed ceed, RitzMesh mesh, const ProblemOptions *options, Problem *problem);
void problem_destroy(Problem *problem);
// Whether its vectors are in the memory of a device, whose kernels are made ahead of what comes first.
bool problem_is_on_device(const Problem *problem);
// Whether all elements are lines, quadrilaterals or hexahedra; in a part of a mesh: those of the whole.
int problem_has_directions(RitzMesh mesh, bool *has);
// The operator of the problem as a level of multigrid has it, on any space with as many components: one Gauss
// point a direction less, which is exact on affine elements with constant coefficients all the same; as many
// where coefficients jump within elements, so that the finest level is the problem's operator.
int problem_create_level(Problem *problem, RitzSpace space, CeedOperator *op);
// The same in two operators, on the elements without and with ghosts of the space; NULL without such
// elements.
int problem_create_part_level(Problem *problem, RitzSpace space, CeedOperator *inside, CeedOperator *seam);
// Of a conductivity in C, on any space: the linear operator with the state, a function of the space, in the
// place of u in k. The state is kept by reference.
int problem_create_picard(Problem *problem, RitzSpace space, CeedVector state, CeedOperator *op);
int problem_create_part_picard(Problem *problem, RitzSpace space, CeedVector state, CeedOperator *inside,
                               CeedOperator *seam);
// The geometry of a space's mesh, borrowed; made once.
int problem_get_geometry(Problem *problem, RitzSpace space, RitzGeometry *geometry);
// Adds the parts of a composite to another one.
int problem_add_parts(CeedOperator composite, CeedOperator parts);
// The material of a region, the last one that has it; < 0: none.
CeedInt problem_find_material(const Problem *problem, int32_t region);
// Operators of heat on the problem's space: c u, on the elements of this part; c factor u - div k grad u for
// another factor.
int problem_create_capacity(Problem *problem, CeedOperator *op);
int problem_create_step(Problem *problem, double factor, ProblemOperator *op);
void problem_destroy_operator(ProblemOperator *op);
int problem_get_diagonal(const ProblemOperator *op, CeedVector diagonal);
// y = op x; in parts as RitzPartOperatorApply.
int problem_apply(const ProblemOperator *op, CeedVector x, CeedVector y);
// Makes the operator of all parts of its pieces, once more where these are others.
int problem_unite(const Problem *problem, ProblemOperator *op);
// The derivative at a state, which is kept by reference.
int problem_linearize(const Problem *problem, const ProblemOperator *op, CeedVector state,
                      ProblemOperator *jacobian);
// Makes an operator that of the solver, with constrained entries (those of boundaries alone).
int problem_set_operator(const ProblemOperator *op, RitzSolver solver, RitzIndices constraints);

// ---- problem-conduction.c ----

// The operator of a material, by its number, as RitzGeometryCreateFormOperator makes it. state: NULL for
// F(u).
int problem_create_conduction(Problem *problem, CeedInt material, CeedVector state, RitzGeometry geometry,
                              const RitzOperatorOptions *options, CeedOperator *op);
// Another factor of c in all operators with functions in C, those of levels and derivatives among them.
int problem_set_factor(Problem *problem, double factor);
void problem_destroy_conduction(Problem *problem);

// ---- problem-parts.c ----
// All three do nothing where the problem is no part.

// Numbers become the sums or the largest of all parts.
int problem_reduce(const Problem *problem, RitzReduction kind, CeedInt num, double values[]);
// Owners get what ghosts have, added, as integrals over the elements of a part need it; ghosts become zero.
int problem_add_up(const Problem *problem, CeedVector v);
// Ghosts get the values of their owners.
int problem_share(const Problem *problem, CeedVector v);

// ---- problem-data.c ----

// rhs += integrals of f times the basis functions. `name` begins the message when f is not finite somewhere.
int problem_add_source(const Problem *problem, const char *name, ProblemFunction f, const void *ctx,
                       CeedVector rhs);
// A source in C on the elements of some regions.
typedef struct {
  const char *text;    // functions source_0(x, y, z, t, u), source_1, ... of the components, of which u is 0
  CeedInt num_regions; // 0: everywhere
  const int32_t *regions;
} ProblemSource;
// The same by run-time compilers. *is_done: whether rhs has them; not where there is no compiler, a value is
// not finite or the mesh has other elements than lines, quadrilaterals and hexahedra that fill its space.
int problem_add_sources(Problem *problem, CeedInt num, const ProblemSource sources[], CeedVector rhs,
                        bool *is_done);
// Writes the values of component c of f at the given nodes, ascending, into u; c < 0: of all components.
// nodes == NULL: of all components at all nodes.
int problem_set_nodes(const Problem *problem, const char *name, ProblemFunction f, const void *ctx,
                      CeedInt component, int64_t num, const int64_t *nodes, CeedVector u);

// rhs += integrals over the boundary part of f times the basis functions, exact for polynomials f of degree p
// on straight facets.
int problem_add_boundary(const Problem *problem, const char *name, const char *part, ProblemFunction f,
                         const void *ctx, CeedVector rhs);
// The same of the force of a pressure, component 0 of f: -f times the outward normal. Elasticity.
int problem_add_pressure(const Problem *problem, const char *name, const char *part, ProblemFunction f,
                         const void *ctx, CeedVector rhs);

// ---- problem-robin.c ----

// Adds the operators of Robin's conditions on any space with as many components; a composite is made where
// *composite is NULL and there are some.
int problem_add_robin(const Problem *problem, RitzSpace space, CeedOperator *composite);

// ---- problem-exact.c ----

// The known solution: the product of sin(pi x_c) over the coordinates of the mesh, in every component; heat:
// times exp(-t). ctx is the problem. It supposes one material of constant coefficients.
double problem_sine(const void *ctx, const ProblemPoint *point, CeedInt component);
int problem_add_sine_source(const Problem *problem, CeedVector rhs);
// L2 norm of u minus it, and of the gradient of the difference (axisymmetric: with the strain of circles), by
// p+3 Gauss points per direction, exactly to degree 2p+4.
int problem_sine_errors(const Problem *problem, CeedVector u, double *l2, double *h1);
// Begins to make the kernels of both on devices, beside what follows.
int problem_prepare_sine(const Problem *problem);

// ---- problem-law.c ----

enum { PROBLEM_STRESSES = 6 };
// Displacements are what is looked for.
bool problem_is_elastic(ProblemKind kind);
// Lame's constants of a material; of plane stress that lambda whose plane strain has the same stresses in the
// plane.
void problem_get_lame(const ProblemOptions *options, const ProblemMaterial *material, double *lambda,
                      double *mu);
// The operator of a material as RitzGeometryCreatePointOperator makes it.
int problem_create_body(const Problem *problem, const ProblemMaterial *material, RitzGeometry geometry,
                        const RitzOperatorOptions *options, CeedOperator *op);
// A pressure that follows the body becomes a part of F(u) in the problem's operator, for its Jacobian to be
// made afterwards; the context has its value, which may change.
int problem_add_follower(Problem *problem, const char *part, CeedQFunctionContext context);
int problem_set_pressure(CeedQFunctionContext context, double pressure);
// The stress (hyperelasticity: Cauchy's) xx, yy, zz, xy, yz, xz where the displacement has the gradient H,
// H[c][d] that of component c along x_d; axisymmetric: of circles H[2][2].
void problem_get_stress(const ProblemOptions *options, const ProblemMaterial *material,
                        const CeedScalar H[3][3], CeedScalar stress[PROBLEM_STRESSES]);

// ---- problem-elasticity.c ----

// The stress of the displacement u (hyperelasticity: Cauchy's, at undeformed positions), each component
// projected to continuous functions: a new space and vector of the caller's. Components xx, yy, zz, xy, yz,
// xz, also in the plane, which has no strain but stress across it; axisymmetric: zz is that along circles.
int problem_project_stress(const Problem *problem, CeedVector u, RitzSpace *space, CeedVector *stress);
double problem_von_mises(const double stress[PROBLEM_STRESSES]);

// ---- problem-pieces.c ----

// Pieces of a mesh that share no vertex: how many, and that of each element, a new array, to be freed with
// free(). They are numbered by their first elements.
int problem_find_pieces(Ceed ceed, RitzMesh mesh, int64_t *num_pieces, int64_t **piece_of_elem);
// Turns the pieces of this part, their number and that of each node of a space, into pieces of the whole
// mesh, numbered alike in all parts.
int problem_join_pieces(const Problem *problem, RitzSpace space, int64_t *num_pieces, int64_t *piece_of_node);

// ---- problem-modes.c ----

enum { PROBLEM_MAX_MODES = 64 }; // as RitzSolverSetNullspace
typedef struct {
  CeedInt num;
  CeedVector vectors[PROBLEM_MAX_MODES]; // owned, orthonormal, each zero outside of one piece and at ghosts
  double centre[PROBLEM_MAX_MODES][3];   // mean position of the piece's nodes
  int64_t num_pieces;                    // of the mesh
} ProblemModes;
// An orthonormal basis of the functions on `space` that the operator of the problem maps to zero and that
// vanish at the constrained entries: constants, rigid body motions of each piece of the mesh. In a problem
// that is a part, those of the whole, which all parts make together. More than fit: CEED_ERROR_UNSUPPORTED.
int problem_create_modes(const Problem *problem, RitzSpace space, RitzIndices constraints,
                         ProblemModes *modes);
void problem_destroy_modes(ProblemModes *modes);

// ---- problem-jumps.c ----

// Whether a coefficient, looked at in some points of every element, varies by more than a factor of 4 in one.
// False where meshes have other shapes than lines, quadrilaterals, hexahedra: one rule serves all operators.
int problem_has_jumps(const Problem *problem, bool *jumps);
// The range of k, for elasticity of the moduli, over all parts of the mesh.
int problem_coefficient_range(const Problem *problem, double *smallest, double *largest);

#endif
