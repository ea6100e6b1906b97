// SPDX-License-Identifier: BSD-2-Clause
// Inside of the geometry layer: the object, the case of an operator, its parts. Used by geometry/ only.
//
//     geometry.c     the object, kinds of elements, names of policies
//     check.c        determinants of all elements
//     choose.c       policy -> treatment of each kind; AUTO by costs
//     functions.c    kind and treatment -> QFunction
//     fields.c       restrictions, coordinates and bases of a part, its CeedOperator
//     setup.c        numbers that a part keeps: factors, coefficients times weights
//     operator.c     the standard operators
//     point.c        the operator of a point function
#ifndef RITZ_GEOMETRY_GEOMETRY_H
#define RITZ_GEOMETRY_GEOMETRY_H

#include <ritz/geometry.h>
#include <stdbool.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/profile.h"

enum { RITZ_NUM_KINDS = 3, RITZ_NUM_OPERATOR_KINDS = 4, RITZ_NUM_POLICIES = RITZ_POLICY_ISOPARAMETRIC + 1 };

struct RitzGeometry_private {
  RitzMesh mesh; // counted
  CeedInt dim, space_dim, order;
  CeedInt *elements;                 // owned: ascending within each kind
  CeedInt first[RITZ_NUM_KINDS + 1]; // where the kinds begin
};

// CEED_ERROR_MAJOR names the first element that is inverted or flat somewhere, or not finite.
int ritz_geometry_check(RitzMesh mesh);

// ---- The case: options with defaults filled in, and what is looked up once ----

typedef struct {
  RitzGeometry geometry; // borrowed, as all handles of the options
  Ceed ceed;
  RitzOperatorOptions options; // num_points, lambda, mu are set
  CeedInt dim, space_dim, num_comp, degree, Q_1d, Q;
  bool is_device;
  RitzLimits limits; // of the context's processors; zeros: not known
} RitzGeometryCase;

// Checks everything; `call` begins the messages.
int ritz_geometry_case(const char *call, RitzGeometry geometry, Ceed ceed, const RitzOperatorOptions *options,
                       RitzGeometryCase *c);
// Treatment of the elements of each kind, never AUTO.
void ritz_geometry_choose(const RitzGeometryCase *c, RitzGeometryPolicy treatments[RITZ_NUM_KINDS]);
static inline bool ritz_geometry_has_mass(const RitzGeometryCase *c) {
  return c->options.kind != RITZ_OPERATOR_DIFFUSION;
}
static inline bool ritz_geometry_has_diffusion(const RitzGeometryCase *c) {
  return c->options.kind != RITZ_OPERATOR_MASS;
}

// ---- QFunctions ----

typedef struct {
  CeedQFunctionUser f;
  const char *source;
} RitzGeometryFunction;

RitzGeometryFunction ritz_geometry_function(const RitzGeometryCase *c, RitzGeometryPolicy treatment);
RitzGeometryFunction ritz_geometry_setup_function(bool has_coefficients);

// ---- Objects that the parts of an operator share ----

typedef struct {
  RitzGeometryCase c;
  CeedBasis basis_u;            // owned, as all that follow
  CeedElemRestriction rstr_x;   // coordinates of all elements; offsets, or strided
  CeedVector x, vertices;       // the latter: positions of the corners
  CeedInt *offsets_x;           // [num_elem][(order+1)^dim] into x; NULL: elements have nodes of their own
  CeedInt *offsets_vertices;    // [num_elem][2^dim] into vertices; NULL with offsets_x, as vertices
  CeedSize num_x, num_vertices; // lengths of the vectors
} RitzGeometryShared;

int ritz_geometry_shared_create(const RitzGeometryCase *c, RitzGeometryShared *shared);
void ritz_geometry_shared_destroy(RitzGeometryShared *shared);

// ---- A part: the elements of one treatment ----

typedef struct {
  const char *name;
  CeedInt size;
  CeedEvalMode mode;
  CeedElemRestriction rstr; // owned, or a sentinel, as the next two
  CeedBasis basis;
  CeedVector vector;
} RitzGeometryField;

enum { RITZ_MAX_PART_FIELDS = 8 };

typedef struct {
  const RitzGeometryShared *shared; // borrowed
  CeedInt num_elem;
  const CeedInt *elements; // borrowed, ascending
  int num_fields;
  RitzGeometryField fields[RITZ_MAX_PART_FIELDS]; // inputs, then outputs
  CeedElemRestriction rstr_u;                     // owned, made when needed, as the rest
  CeedElemRestriction rstr_coefficients;
  CeedVector coefficients; // lambda and mu at the points, interlaced
} RitzGeometryPart;

// Nodes that coordinates are taken from.
typedef enum {
  RITZ_NODES_ALL,     // of the geometry's order: tensor basis
  RITZ_NODES_CORNERS, // degree one: tensor basis
  RITZ_NODES_EDGES,   // first corner and the ends of its edges: basis of an affine map
} RitzGeometryNodes;

// The results belong to the caller, also after a failure.
int ritz_geometry_coordinates(const RitzGeometryPart *part, RitzGeometryNodes nodes,
                              CeedElemRestriction *rstr, CeedVector *x);
int ritz_geometry_coordinate_basis(const RitzGeometryShared *shared, RitzGeometryNodes nodes,
                                   CeedBasis *basis);

// Each adds a field, references to the handles.
int ritz_geometry_add_field(RitzGeometryPart *part, const char *name, CeedInt size, CeedEvalMode mode,
                            CeedElemRestriction rstr, CeedBasis basis, CeedVector vector);
int ritz_geometry_add_unknown(RitzGeometryPart *part, const char *name, CeedEvalMode mode);
int ritz_geometry_add_coordinates(RitzGeometryPart *part, RitzGeometryNodes nodes);
int ritz_geometry_add_weights(RitzGeometryPart *part, const char *name);
// RITZ_SETUP_* (a set) at every point; has_coefficients: with lambda and mu in them, else for lambda = mu
// = 1.
int ritz_geometry_add_numbers(RitzGeometryPart *part, const char *name, CeedInt wanted,
                              bool has_coefficients);
// RITZ_SETUP_MASS, RITZ_SETUP_METRIC or both once an element, for w = 1, with constant coefficients in them.
int ritz_geometry_add_constants(RitzGeometryPart *part, CeedInt wanted);
void ritz_geometry_part_clear(RitzGeometryPart *part);

// The operator of the part's fields, the last num_out of them outputs. ctx may be NULL.
int ritz_geometry_part_operator(const RitzGeometryPart *part, int num_out, RitzGeometryFunction function,
                                CeedSize flops, CeedQFunctionContext ctx, CeedOperator *op);
int ritz_geometry_create_context(Ceed ceed, size_t size, const void *data, CeedQFunctionContext *ctx);

// ---- The composite ----

// Fills the fields of a part for the treatment and makes its operator.
typedef int (*RitzGeometryMakePart)(RitzGeometryPart *part, RitzGeometryPolicy treatment, void *data,
                                    CeedOperator *op);
int ritz_geometry_composite(const RitzGeometryCase *c, const char *name, RitzGeometryMakePart make,
                            void *data, CeedOperator *op);

#endif
