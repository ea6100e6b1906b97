// SPDX-License-Identifier: BSD-2-Clause
// Inside of the geometry layer: the object, the case of an operator, its parts. Used by geometry/ only.
//
//     geometry.c     the object, kinds of elements, names of policies
//     blocks.c       shapes of elements, which elements of a block are of each kind
//     check.c        determinants of all elements
//     choose.c       policy -> treatment of each kind; AUTO by costs
//     functions.c    kind and treatment -> QFunction
//     coordinates.c  coordinates of the mesh and of a part
//     fields.c       bases and fields of a part, its CeedOperator
//     setup.c        numbers that a part keeps: factors, coefficients times weights
//     axis.c         bodies of revolution: circumferences at points
//     operator.c     the standard operators
//     form.c         operators of forms and point functions: checks, fields; numbers at points
//     form-text.c    their QFunctions
//     facets.c       operators of boundary parts and interior facets
//     gradients.c    mean gradients at the nodes of spaces
//     errors.c       norms of errors
#ifndef RITZ_GEOMETRY_GEOMETRY_H
#define RITZ_GEOMETRY_GEOMETRY_H

#include <ritz/form.h>
#include <ritz/geometry.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/memory.h"
#include "core/profile.h"

enum { RITZ_NUM_KINDS = 3, RITZ_NUM_OPERATOR_KINDS = 4, RITZ_NUM_POLICIES = RITZ_POLICY_ISOPARAMETRIC + 1 };

typedef struct {
  CeedElemTopology topology;
  const char *plural;         // "tetrahedra"
  bool is_tensor, is_simplex; // lines are both
  CeedInt edge_ends[4];       // corner 0, and a corner for each direction: an affine map follows from them
} RitzGeometryShape;

const RitzGeometryShape *ritz_geometry_shape(CeedElemTopology topology); // blocks.c

// The elements of one shape.
typedef struct {
  const RitzGeometryShape *shape;
  CeedInt index;                                      // of the block in the mesh
  CeedInt first;                                      // number of its first element
  CeedInt num_nodes, num_corners;                     // of an element's map
  CeedInt *corner_node;                               // owned, [num_corners]: which nodes the corners are
  CeedInt begin[RITZ_NUM_KINDS], end[RITZ_NUM_KINDS]; // of its elements of each kind in geometry->elements
} RitzGeometryBlock;

struct RitzGeometry_private {
  const RitzClass *class;
  Ceed ceed;     // borrowed: lives in mesh
  RitzMesh mesh; // counted
  CeedInt dim, space_dim, order;
  CeedInt *elements;                 // owned: ascending within each kind
  CeedInt first[RITZ_NUM_KINDS + 1]; // where the kinds begin
  CeedInt num_blocks;
  RitzGeometryBlock *blocks; // owned
};

// Makes the blocks of a geometry whose elements are sorted. Call ..._clear afterwards, also after a failure.
int ritz_geometry_blocks_create(RitzGeometry geometry);
void ritz_geometry_blocks_clear(RitzGeometry geometry);

// CEED_ERROR_MAJOR names the first element that is inverted or flat somewhere, or not finite.
int ritz_geometry_check(RitzMesh mesh);

// ---- The case: options with defaults filled in, and what is looked up once ----

typedef struct {
  RitzGeometry geometry; // borrowed, as all handles of the options
  Ceed ceed;
  RitzOperatorOptions options; // lambda, mu are set
  CeedInt dim, space_dim, num_comp, degree;
  CeedInt Q_1d;                   // points a direction; other than tensor shapes: exact to degree 2 Q_1d - 1
  const RitzGeometryBlock *block; // borrowed, that this is about; NULL: none yet
  CeedInt Q;                      // points in its elements
  bool is_device;
  double axis_width;    // of bodies of revolution: x that is zero, but for rounding
  const RitzForm *form; // borrowed: whose fields' spaces have ghosts beside that of the options; NULL: none
  const bool *is_seam;  // borrowed, [elements of the mesh]: which have ghosts; NULL: it does not matter
  RitzLimits limits;    // of the context's processors; zeros: not known
} RitzGeometryCase;

// Checks everything; `call` begins the messages.
int ritz_geometry_case(const char *call, RitzGeometry geometry, Ceed ceed, const RitzOperatorOptions *options,
                       RitzGeometryCase *c);
// From here on the case is about this block.
int ritz_geometry_enter_block(RitzGeometryCase *c, CeedInt block);
// Treatment of the elements of each kind in the case's block, never AUTO.
void ritz_geometry_choose(const RitzGeometryCase *c, RitzGeometryPolicy treatments[RITZ_NUM_KINDS]);
static inline bool ritz_geometry_has_mass(const RitzGeometryCase *c) {
  return c->options.kind != RITZ_OPERATOR_DIFFUSION;
}
static inline bool ritz_geometry_has_diffusion(const RitzGeometryCase *c) {
  return c->options.kind != RITZ_OPERATOR_MASS;
}
// Whether lambda, mu differ from point to point; the circumference of bodies of revolution is in them.
static inline bool ritz_geometry_lambda_varies(const RitzGeometryCase *c) {
  return c->options.lambda_function != NULL || c->options.is_axisymmetric;
}
static inline bool ritz_geometry_mu_varies(const RitzGeometryCase *c) {
  return c->options.mu_function != NULL || c->options.is_axisymmetric;
}

// ---- QFunctions ----

typedef struct {
  CeedQFunctionUser f;
  const char *source;
} RitzGeometryFunction;

RitzGeometryFunction ritz_geometry_function(const RitzGeometryCase *c, RitzGeometryPolicy treatment);
RitzGeometryFunction ritz_geometry_sample_function(void);
RitzGeometryFunction ritz_geometry_gradient_function(void);
RitzGeometryFunction ritz_geometry_ring_function(void);
RitzGeometryFunction ritz_geometry_setup_function(bool has_coefficients);

// ---- Objects that the parts of an operator share ----

// Coordinates of the whole mesh.
typedef struct {
  CeedInt num_blocks;
  CeedElemRestriction *rstr; // owned, [num_blocks], as all that follow
  CeedVector x, vertices; // the latter: positions of the corners; x again where all nodes are corners; NULL:
                          // elements have nodes of their own
  CeedInt *offset;        // [vertices of the mesh] into vertices; NULL with them, or where they are x
  CeedSize num_x, num_vertices; // lengths of the vectors
} RitzGeometryCoordinates;

// Call ..._clear afterwards, also after a failure.
int ritz_geometry_coordinates_create(const RitzGeometryCase *c, RitzGeometryCoordinates *coordinates);
void ritz_geometry_coordinates_clear(RitzGeometryCoordinates *coordinates);

// The parts of a block.
typedef struct {
  RitzGeometryCase c;
  const RitzGeometryCoordinates *coordinates; // borrowed
  CeedBasis basis_u;                          // owned, as the rest
  CeedInt *offsets_x; // [elements][nodes] into x; NULL: elements have nodes of their own
  CeedInt
      *offsets_vertices; // [elements][corners] into vertices; NULL with offsets_x, or where vertices are x
} RitzGeometryShared;

int ritz_geometry_shared_create(const RitzGeometryCase *c, const RitzGeometryCoordinates *coordinates,
                                RitzGeometryShared *shared);
void ritz_geometry_shared_destroy(RitzGeometryShared *shared);
// Copies the offsets of the block, if there are any.
int ritz_geometry_shared_offsets(RitzGeometryShared *shared);

// ---- A part: the elements of one treatment ----

typedef struct {
  char *name; // owned
  CeedInt size;
  CeedEvalMode mode;
  CeedElemRestriction rstr; // owned, or a sentinel, as the next two
  CeedBasis basis;
  CeedVector vector;
} RitzGeometryField;

// Fields of an operator: inputs, then outputs.
typedef struct {
  int num;
  RitzGeometryField *list; // owned
} RitzGeometryFields;

// Adds a field, references to the handles.
int ritz_geometry_fields_add(Ceed ceed, RitzGeometryFields *fields, const char *name, CeedInt size,
                             CeedEvalMode mode, CeedElemRestriction rstr, CeedBasis basis, CeedVector vector);
// The operator of qf, which gets all fields, the last num_out of them outputs, and the context (NULL: none).
int ritz_geometry_fields_operator(const RitzGeometryFields *fields, int num_out, CeedQFunction qf,
                                  CeedQFunctionContext ctx, CeedOperator *op);
void ritz_geometry_fields_clear(RitzGeometryFields *fields);

typedef struct {
  const RitzGeometryShared *shared; // borrowed
  CeedInt num_elem;
  const CeedInt *elements; // borrowed, ascending: their numbers in the mesh
  RitzGeometryFields fields;
  CeedElemRestriction rstr_u; // owned, made when needed, as the rest
  CeedElemRestriction rstr_coefficients;
  CeedVector coefficients; // lambda and mu at the points, interlaced
} RitzGeometryPart;

// Nodes that coordinates are taken from.
typedef enum {
  RITZ_NODES_ALL,     // of the geometry's order: Lagrange basis
  RITZ_NODES_CORNERS, // degree one: Lagrange basis
  RITZ_NODES_EDGES,   // the shape's edge_ends: basis of an affine map
} RitzGeometryNodes;

// The Lagrange basis of the case's block and points.
int ritz_geometry_create_basis(const RitzGeometryCase *c, CeedInt num_comp, CeedInt degree, CeedBasis *basis);
// The results belong to the caller, also after a failure.
int ritz_geometry_coordinates(const RitzGeometryPart *part, RitzGeometryNodes nodes,
                              CeedElemRestriction *rstr, CeedVector *x);
int ritz_geometry_coordinate_basis(const RitzGeometryShared *shared, RitzGeometryNodes nodes,
                                   CeedBasis *basis);

// A space of the geometry's mesh on the elements of a part.
int ritz_geometry_part_restriction(const RitzGeometryPart *part, RitzSpace space, CeedElemRestriction *rstr);

// Each adds a field.
int ritz_geometry_add_field(RitzGeometryPart *part, const char *name, CeedInt size, CeedEvalMode mode,
                            CeedElemRestriction rstr, CeedBasis basis, CeedVector vector);
int ritz_geometry_add_unknown(RitzGeometryPart *part, const char *name, CeedEvalMode mode);
// "x", the position, "dx", the gradient, or both in this order: modes is a sum of CEED_EVAL_INTERP and _GRAD.
int ritz_geometry_add_coordinates(RitzGeometryPart *part, RitzGeometryNodes nodes, int modes);
int ritz_geometry_add_weights(RitzGeometryPart *part, const char *name);
// RITZ_SETUP_* (a set) at every point; has_coefficients: with lambda and mu in them, else for lambda = mu
// = 1.
int ritz_geometry_add_numbers(RitzGeometryPart *part, const char *name, CeedInt wanted,
                              bool has_coefficients);
// RITZ_SETUP_MASS, _METRIC, _GRADIENTS once an element, for w = 1, with constant coefficients in them.
int ritz_geometry_add_constants(RitzGeometryPart *part, CeedInt wanted);
void ritz_geometry_part_clear(RitzGeometryPart *part);

// The operator of the part's fields, the last num_out of them outputs. ctx may be NULL.
int ritz_geometry_part_operator(const RitzGeometryPart *part, int num_out, RitzGeometryFunction function,
                                CeedSize flops, CeedQFunctionContext ctx, CeedOperator *op);
int ritz_geometry_create_context(Ceed ceed, size_t size, const void *data, CeedQFunctionContext *ctx);

// ---- Forms ----

// Where a form's geometry comes from. Its fields follow the inputs of the form:
typedef enum {
  RITZ_FORM_STORED,   // [x]; w det and, with gradients, the inverse Jacobian, in one field
  RITZ_FORM_CONSTANT, // [x]; det and, with gradients, the inverse Jacobian, once an element; weights
  // The same with the metric of RITZ_SETUP_METRIC instead of the inverse Jacobian, for isotropic forms
  RITZ_FORM_STORED_METRIC,
  RITZ_FORM_CONSTANT_METRIC,
  RITZ_FORM_COMPUTED, // [x]; dx; weights
  RITZ_FORM_TRACE,    // facets: [x]; dx along the facet; weights
  RITZ_FORM_ELEMENT,  // facets: [x]; dx of the element, of both sides of interior ones; weights
} RitzFormGeometry;

bool ritz_form_has_gradients(const RitzForm *form);
bool ritz_form_has_metric(const RitzForm *form);     // where it is stored, instead of the inverse Jacobian
bool ritz_form_needs_elements(const RitzForm *form); // on facets: more than what lies on them
int ritz_form_check(const char *call, Ceed ceed, RitzMesh mesh, const RitzForm *form, bool is_facet);
// num_sides: 2 on interior facets, else 1; fields of side 1 follow those of side 0, field by field.
int ritz_form_create_qfunction(Ceed ceed, const RitzForm *form, CeedInt dim, CeedInt num_sides,
                               RitzFormGeometry geometry, CeedQFunction *qf);
// Restriction and basis of a field, sentinels of which are none.
typedef int (*RitzFormFind)(void *data, const RitzFormField *field, CeedInt side, CeedElemRestriction *rstr,
                            CeedBasis *basis);
typedef int (*RitzFormAddGeometry)(void *data, RitzGeometryFields *fields);
// All fields of a form: inputs, those of the geometry, outputs.
int ritz_form_add_fields(Ceed ceed, const RitzForm *form, CeedInt dim, CeedInt num_sides, RitzFormFind find,
                         RitzFormAddGeometry add_geometry, void *data, RitzGeometryFields *fields);
CeedInt ritz_form_num_outputs(const RitzForm *form); // of the QFunction, on one side

// ---- Bodies of revolution ----

// Checks that the mesh is one half of a meridian plane, x >= -width.
int ritz_geometry_check_axis(const char *call, Ceed ceed, RitzGeometry geometry, double *width);
// 2 pi x, of x >= -width.
int ritz_geometry_circumference(const char *call, Ceed ceed, double width, const double x[3],
                                double *circumference);
// A field "weights": those of the points of basis_x times their circumference, of the coordinates x.
int ritz_geometry_add_ring_weights(Ceed ceed, CeedElemRestriction rstr_x, CeedBasis basis_x, CeedVector x,
                                   RitzGeometryFields *fields);

// ---- The composite ----

// Fills the fields of a part for the treatment and makes its operator.
typedef int (*RitzGeometryMakePart)(RitzGeometryPart *part, RitzGeometryPolicy treatment, void *data,
                                    CeedOperator *op);
int ritz_geometry_composite(const RitzGeometryCase *c, const char *name, RitzGeometryMakePart make,
                            void *data, CeedOperator *op);

#endif
