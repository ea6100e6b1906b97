// SPDX-License-Identifier: BSD-2-Clause
// Random operators and their dense matrices. An operator is drawn from everything that the standard allows
// (kinds of restrictions and bases, modes, active and passive fields, sizes); its matrix is put together from
// the definitions of E, B and D, not through the library. Called by tests of operators.
//
// A field is of mode NONE, INTERP, GRAD, DIV, CURL or WEIGHT on a space: a restriction and, but for NONE, a
// basis. Fields may share spaces, passive ones vectors. The QFunction is RandomAffine.
#ifndef RITZ_TESTS_RANDOM_OPERATOR_H
#define RITZ_TESTS_RANDOM_OPERATOR_H

#include "tests/random-context.h"
#include "tests/tap.h"

#include <ceed/backend.h>

// What may be drawn. Zero means free.
typedef struct {
  CeedInt num_elem;       // elements
  CeedInt num_active_in;  // at least so many active inputs (at most 2)
  CeedInt num_active_out; // at least so many active outputs (at most 2)
  CeedSize input_size;    // length of the active input
  CeedSize output_size;   // length of the active output
  bool is_linear;         // passive inputs act as coefficients only
  bool is_symmetric;      // outputs are active, on the spaces and in the modes of the active inputs; D = D^T
  bool in_batches;        // several batches of elements; nodes in rows, elements in chains, as on boxes
  bool is_tensor;         // all bases are tensor products
  bool is_mixed;          // half of the passive vectors are of float, their values rounded to it
  // Seed of the mesh: how many elements, offsets, orientations, and of all numbers; the rest is drawn from
  // the other seed. Operators that differ in this alone are nearly always the same kernel on a device.
  // Elements leave blocks of threads that are not full.
  uint64_t mesh;
} RandomOptions;

// Kinds of bases.
typedef enum {
  RANDOM_LAGRANGE,
  RANDOM_TENSOR,
  RANDOM_H1,
  RANDOM_HDIV,
  RANDOM_HCURL,
  RANDOM_NO_BASIS
} RandomBasisKind;

// A restriction and its definition, a basis and its tables.
typedef struct {
  CeedElemRestriction rstr; // owned
  CeedRestrictionType type;
  CeedInt elem_size, num_comp, comp_stride;
  CeedSize l_size;
  CeedInt strides[3];     // node, component, element
  CeedInt *offsets;       // owned, [num_elem][elem_size]
  bool *orients;          // owned, [num_elem][elem_size]
  CeedInt8 *curl_orients; // owned, [num_elem][elem_size][3]

  CeedBasis basis; // owned, CEED_BASIS_NONE for fields of mode NONE
  RandomBasisKind kind;
  CeedInt dim, P;
  double *interp;     // owned, [q_comp][Q][P]
  double *derivative; // owned, the same of GRAD, DIV or CURL
  double *weight;     // owned, [Q]
} RandomSpace;

// A vector of passive fields.
typedef struct {
  CeedVector vector; // owned
  CeedSize length;   // the L-size or more
  double *values;    // owned, of inputs; NULL: outputs
} RandomVector;

typedef struct {
  char name[24];
  CeedEvalMode mode;
  const RandomSpace *space;
  CeedInt size;         // scalars per point
  bool is_active;       // not passive, not WEIGHT
  RandomVector *vector; // of a passive field, else NULL
} RandomField;

// Where outputs are added up: the active output, or the vector of passive ones.
typedef struct {
  RandomVector *vector; // NULL: active output
  CeedSize length;      // rows
  double *matrix;       // owned, [length][input_size + 1]: the last column does not depend on the input
  double *magnitude;    // owned, the same with all factors and terms replaced by their absolute values
} RandomTarget;

typedef struct {
  Ceed ceed; // borrowed
  CeedOperator op;
  CeedQFunctionContext qf_context;
  RandomContext context; // what qf_context holds

  CeedInt num_elem, dim, Q_1d, Q; // Q = Q_1d^dim points per element
  int num_in, num_out;            // fields
  RandomField in[RANDOM_MAX_FIELDS], out[RANDOM_MAX_FIELDS];
  int num_spaces, num_vectors;
  RandomSpace spaces[2 * RANDOM_MAX_FIELDS];
  RandomVector vectors[2 * RANDOM_MAX_FIELDS];

  CeedSize input_size, output_size; // lengths of the active vectors; 0: there is none
  int num_targets;
  RandomTarget targets[RANDOM_MAX_FIELDS]; // the active output, if there is one, is number 0
} RandomOperator;

// How many of `num` operators to draw on this backend: those that compile a kernel for each, or one for each
// combination of sizes, get a part of them (test-gen-random.c draws for /cpu/self/gen alone).
int random_num_draws(Ceed ceed, int num);

// Draws an operator and assembles it. Returns a code of the library; *r is to be destroyed in any case, and
// stays where it is (it points into itself).
int random_operator_create(Ceed ceed, const RandomOptions *options, uint64_t *seed, RandomOperator *r);

// The operator with active inputs and outputs exchanged, D transposed at each point and no passive outputs,
// of an r made with is_linear. It uses spaces and vectors of r, which has to live longer.
int random_operator_create_adjoint(RandomOperator *r, RandomOperator *adjoint);

void random_operator_destroy(RandomOperator *r);

// Draws new numbers for D, or for a passive input if there is one, in the operator as it is, and assembles
// again.
int random_operator_change_context(RandomOperator *r, uint64_t *seed);
int random_operator_change_passive(RandomOperator *r, uint64_t *seed);

// y [length] = matrix x of a target, and a bound for the rounding errors of its entries. x [input_size].
double random_target_apply(const RandomOperator *r, const RandomTarget *target, const double *x, double *y);

// One line that tells what was drawn, for messages. The next call overwrites it.
const char *random_operator_describe(const RandomOperator *r);

#endif
