// SPDX-License-Identifier: BSD-2-Clause
// Operators of functions at points that get all they need: position, normal, several functions of any spaces
// of the mesh, numbers stored at points. A form is the text of one function in C, which run-time compilation
// makes part of the kernel, and a list of what it gets and gives:
//
//     static const char text[] = RITZ_TEXT(
//         CEED_QFUNCTION_HELPER void flow(const void *ctx, const CeedScalar x[3], const CeedScalar u[1],
//                                         const CeedScalar grad_u[1][3], const CeedScalar k[1],
//                                         CeedScalar v[1], CeedScalar grad_v[1][3]) {
//           v[0] = -sin(x[0]);
//           for (int d = 0; d < 3; d++) grad_v[0][d] = k[0] * (1 + u[0] * u[0]) * grad_u[0][d];
//         });
//     const RitzFormField u = {.name = "u", .what = RITZ_FORM_BOTH, .space = space};
//     const RitzFormField k = {.name = "k", .what = RITZ_FORM_VALUE, .space = coarse, .vector = values};
//     const RitzFormField v = {.name = "v", .what = RITZ_FORM_BOTH, .space = space}, in[] = {u, k};
//     const RitzForm form = {text, "flow", RITZ_FORM_POSITION, 2, in, 1, &v};
//
// Arguments of the function, in this order: ctx, the data of the context or NULL; x, n, w, h as asked for;
// those of the inputs; those of the outputs, all of which it sets. Of a field: the value [num_comp], then the
// physical gradient [num_comp][dim], of those that the field names; or numbers [num_numbers]. The operator is
// the integral of
//
//     sum_c  v_c phi_c + grad_v_c . grad phi_c      for all test functions phi of each output's space.
//
// It is an operator like any other, one kernel: with diagonal, matrices, levels, copies in float, and its
// derivative by RitzOperatorCreateDerivative. The text is C in the subset that doc/gpu.md names; for
// derivatives it is C++, too. It sees ritz/jit-source/geometry/fields.h, and what it includes below the JiT
// source roots.
#ifndef RITZ_FORM_H
#define RITZ_FORM_H

#include <ritz/geometry.h>
#include <ritz/product.h>

// Its arguments as a string: functions that stand in the program like any other. Comments and line breaks
// vanish; lines that begin with # cannot be in it.
#define RITZ_TEXT(...) #__VA_ARGS__

// What a function at points gets and gives of a field: a set.
enum {
  RITZ_FORM_VALUE = 1,
  RITZ_FORM_GRADIENT = 2,
  RITZ_FORM_BOTH = RITZ_FORM_VALUE | RITZ_FORM_GRADIENT,
  RITZ_FORM_NUMBERS = 4, // numbers stored at points, alone
};

// What it gets besides: a set, in this order.
enum {
  RITZ_FORM_POSITION = 1, // x [dim]
  RITZ_FORM_NORMAL = 2,   // n [dim], outward, of unit length; on facets alone
  RITZ_FORM_WEIGHT = 4,   // w [1], the point's weight in the integral: for outputs that are numbers
  // No argument: it multiplies gradients by numbers alone, the same in all directions, that depend on none,
  // grad_v[c][x] = sum of k grad_u[c'][x], and no other output depends on them. Where the geometry is stored
  // it gets gradients raised by the metric then, for half the numbers and operations. Nobody checks it.
  RITZ_FORM_ISOTROPIC = 8,
  RITZ_FORM_HEIGHT = 16, // h [1], the height of the element over the facet, by the geometry at the point
                         // (exact for affine elements); on facets alone
};

// Start from zeros and set what differs.
typedef struct {
  // An identifier, that of no other field and not x, dx or weights: operators have fields "u" and "grad u".
  const char *name;
  int what;
  RitzSpace space;     // of the mesh, any degree and number of components; NULL: numbers
  CeedInt num_numbers; // of numbers: how many at a point
  // What is read, or written by applies: an L-vector of the space or product, or a vector of numbers
  // (RitzGeometryCreatePointNumbers), kept by reference: new values count from the next apply on.
  // NULL or CEED_VECTOR_ACTIVE: the operator's own input or output.
  CeedVector vector;
  RitzProductSpace product; // whose L-vectors hold this field; NULL: those of the space
  CeedInt index;            // which of the product's spaces the space is
} RitzFormField;

typedef struct {
  const char *text, *function; // the text, and the name of the function in it
  int gets;                    // RITZ_FORM_POSITION, ..
  CeedInt num_inputs;
  const RitzFormField *inputs; // [num_inputs]
  CeedInt num_outputs;
  const RitzFormField *outputs; // [num_outputs]; numbers are given as they are, others times w
} RitzForm;

// A composite, named and made as that of RitzGeometryCreatePointOperator: for each block of the mesh and kind
// of elements the geometry that options->policy says (kind and coefficients of the options are not looked
// at). options->space gives the defaults of quadrature and policy; it need not be among the fields. Input and
// output L-vectors are those of the active fields, of one product where they are several; without an active
// input operators are applied to CEED_VECTOR_NONE. Everything in the form is copied or counted. context:
// counted reference, NULL for none. Memory: beyond the geometry's what restrictions of the spaces take, and 4
// bytes a point for numbers on meshes whose elements are treated in more than one way.
//
// Errors: CEED_ERROR_INCOMPATIBLE (a field or form without meaning, a space on another mesh),
// CEED_ERROR_DIMENSION (a vector's length), CEED_ERROR_UNSUPPORTED (surfaces and curves in space, sizes
// beyond CeedInt), those of RitzGeometryCreatePointOperator. A text that does not compile is an error of the
// first use.
CEED_EXTERN int RitzGeometryCreateFormOperator(RitzGeometry geometry, Ceed ceed,
                                               const RitzOperatorOptions *options, const RitzForm *form,
                                               CeedQFunctionContext context, CeedOperator *op);
// The same over a boundary part, with errors and composites of RitzGeometryCreateBoundaryOperator: without
// gradients and height in the form the nodes of the facets alone are read. options->space gives the default
// of quadrature. Numbers at points: CEED_ERROR_UNSUPPORTED.
CEED_EXTERN int RitzGeometryCreateBoundaryFormOperator(RitzGeometry geometry, Ceed ceed,
                                                       const RitzBoundaryOptions *options,
                                                       const RitzForm *form, CeedQFunctionContext context,
                                                       CeedOperator *op);

// The same over all interior facets, with errors and composites of RitzGeometryCreateInteriorFacetOperator.
// The function gets and gives of every field what both sides have, side 0 first: values [2][num_comp],
// gradients [2][num_comp][dim]; n goes out of side 0; h [2]. options->space gives the default of quadrature,
// options->tests is not looked at. Operators have fields "u" and "u 1".
CEED_EXTERN int RitzGeometryCreateInteriorFormOperator(RitzGeometry geometry, Ceed ceed,
                                                       const RitzInteriorFacetOptions *options,
                                                       const RitzForm *form, CeedQFunctionContext context,
                                                       CeedOperator *op);

// A vector of zeros for num_numbers numbers at each quadrature point of operators with these options (of
// which space, num_points and quad_mode count): [element][num_numbers][point], elements as they are numbered
// in the mesh. 8 bytes a number in double. An operator whose output are numbers fills it:
// x, u, stresses at points. Errors as above; CEED_ERROR_DIMENSION: num_numbers below 1.
CEED_EXTERN int RitzGeometryCreatePointNumbers(RitzGeometry geometry, Ceed ceed,
                                               const RitzOperatorOptions *options, CeedInt num_numbers,
                                               CeedVector *numbers);

#endif
