// SPDX-License-Identifier: BSD-2-Clause
// Derivatives of operators that nobody has to write: from the text of a residual's QFunction comes the
// operator of its Jacobian, a kernel like any other (doc/derivatives.md).
#ifndef RITZ_DERIVATIVE_H
#define RITZ_DERIVATIVE_H

#include <ceed.h>
#include <stdbool.h>

// *jacobian: du -> F'(state) du for the operator op: u -> F(u), to be destroyed with CeedOperatorDestroy. An
// operator like any other, so with a diagonal, point blocks, matrices, levels of multigrid, copies in float.
// Its QFunction is made from the text of op's, compiled as C++ with pairs (value, derivative) in the place of
// CeedScalar: forward-mode automatic differentiation by dual numbers, exact to rounding. Conditions look at
// values alone; where the function has a kink, the derivative is that of the branch that is taken.
//
// Fields: inputs of op in their order, the active ones read from `state`, then the directions, active, which
// have the same sizes and evaluation modes and the names "d " and that of their input; outputs are the active
// ones of op (others are no part of F). Restrictions, bases, passive vectors and the context are op's own,
// and `state` is kept by reference (CeedVectorDestroy may be called): new values in any of them count from
// the next use on. The precision of the arithmetic and the use (RitzOperatorSetUse) are those of op, as is
// the name behind "derivative of ". The text is read now, op may be destroyed. A composite has the composite
// of the derivatives of its parts.
//
// The QFunction needs a source: a file, a text in memory, or the library's own (gallery, geometry, point
// functions). All of C's functions of real numbers in <math.h> are differentiated, but remquo, the Bessel
// functions and those with suffix f or l. In structs that a context is cast to, CeedScalar stays a real
// number.
//
// Errors, with *jacobian unchanged: those of CeedOperatorCheckReady; CEED_ERROR_INCOMPLETE, no text;
// CEED_ERROR_DIMENSION, the length of state is not that of op's input; CEED_ERROR_INCOMPATIBLE, NULL, no
// active input, state of another context; CEED_ERROR_UNSUPPORTED, an operator at points; a device that
// compiles C alone (OpenCL); no C++ compiler; a text that C++ refuses, because it is C only, or because a
// CeedScalar is converted to float or double (the message has the compiler's words). On devices what the
// compiler says is an error of the first use.
CEED_EXTERN int RitzOperatorCreateDerivative(CeedOperator op, CeedVector state, CeedOperator *jacobian);

// What a derivative keeps at quadrature points of what depends on the state alone, instead of computing it in
// each apply: set-up operators compute it when the derivative is next used and state, passive inputs or
// context have changed since, which is seen by itself.
typedef enum {
  // What the fastest of the others is: their kernels are made and timed when the derivative is created, a few
  // applies each at the present values of the state (which needs some: texts with iterations take longer
  // where these take more steps), the set-up divided among num_applies. Each part of a composite has its own
  // choice; it takes the memory of all candidates while it lasts. On resources with `:deterministic`, and of
  // operators without elements: NOTHING. RitzOperatorExplain tells the times and the choice.
  RITZ_STORED_AUTO,
  // Nothing: state and text are evaluated in each apply, as of RitzOperatorCreateDerivative.
  RITZ_STORED_NOTHING,
  // The active inputs of op at the state, as their sizes say: 72 bytes a point for the gradient of 3
  // components in space, in double. Applies evaluate the text, but not the basis at the state: a few per cent
  // of texts that cost little.
  RITZ_STORED_INPUTS,
  // All derivatives of active outputs by active inputs, with all factors of the geometry in them: 8 bytes
  // times n_out n_in in double, of Hessians of energies one half, 8 bytes times n (n + 1) / 2. Applies are a
  // small matrix product a point, whatever the text costs; the set-up costs n_in times an apply of NOTHING.
  // Pays for texts that are expensive, such as stresses by iterations at points; others are computed sooner
  // than a matrix is read.
  RITZ_STORED_MATRIX,
} RitzDerivativeStorage;

// Start from zeros and set what differs.
typedef struct {
  RitzDerivativeStorage storage;
  CeedInt num_applies; // for AUTO: how many applies a state will have; 0: 30
} RitzDerivativeOptions;

// RitzOperatorCreateDerivative with a choice of what is stored at points. The derivative is the same up to
// rounding, with all that derivatives have: diagonals, point blocks, matrices, composites; levels of
// multigrid (CeedOperatorMultigridLevelCreate) share what is stored; copies in float convert it when they are
// made, as any passive input. Memory: as told above, times the points of an element and the elements, from
// the first use on, in the precision of op. Fields: with INPUTS those of the state have evaluation mode
// CEED_EVAL_NONE and vectors of the library's; with MATRIX there is one input "derivatives at points" in the
// place of the inputs of op. RitzOperatorExplain tells the numbers and bytes a point.
//
// That something has changed is known of vectors by their states (CeedVectorGetState), of contexts by their
// bytes. Where a vector borrows the program's array (CEED_USE_POINTER), CeedVectorSetArray tells that there
// are new values in it.
//
// Errors, with *jacobian unchanged: those of RitzOperatorCreateDerivative; CEED_ERROR_INCOMPATIBLE, options
// NULL, no such storage, num_applies negative; CEED_ERROR_UNSUPPORTED, a matrix beyond 2^31 - 1 numbers an
// element; of AUTO those of applies. What evaluating the state cannot do is an error of the derivative's use.
CEED_EXTERN int RitzOperatorCreateDerivativeStored(CeedOperator op, CeedVector state,
                                                   const RitzDerivativeOptions *options,
                                                   CeedOperator *jacobian);
// "auto", "nothing", "inputs", "matrix". NULL past the end.
CEED_EXTERN const char *RitzDerivativeStorageName(RitzDerivativeStorage storage);

// *residual: u -> E'(u), v -> E'(u) v for all test functions v, of an energy E(u) that is the sum over all
// points of a number that a QFunction computes: the residual that vanishes where E is stationary. To be
// destroyed with CeedOperatorDestroy. Its derivative by RitzOperatorCreateDerivative is the Hessian of E, a
// symmetric operator: residual and Jacobian from a stored energy alone.
//
// energy: an operator with active inputs and one output of one number a point, the energy density times the
// quadrature weight. The output's evaluation mode is CEED_EVAL_NONE, or CEED_EVAL_INTERP in a space whose
// functions sum to 1: then an apply gives numbers that sum to E; its vector may be active or passive.
//
// Fields: inputs of energy in their order, then an output for each active input, active, of the same size,
// evaluation mode, restriction and basis, with the name "by " and that of the input: the partial derivatives
// of the energy at the point. They come from the text of the energy, compiled as C++ with a value and all its
// n partial derivatives in the place of CeedScalar, n the sum of the sizes of active inputs. Where host
// compilers see that a partial derivative is the constant 0 it costs nothing. The rest is as with
// RitzOperatorCreateDerivative: texts, names, context, precision, composites.
//
// Errors, with *residual unchanged: those of RitzOperatorCreateDerivative; CEED_ERROR_INCOMPATIBLE: more or
// fewer outputs than one, more numbers than one, another evaluation mode, no active input (in composites: of
// a part); CEED_ERROR_UNSUPPORTED: a QFunction that is made by differentiation itself.
CEED_EXTERN int RitzOperatorCreateGradient(CeedOperator energy, CeedOperator *residual);

enum { RITZ_DERIVATIVE_STEPS = 8 };

// Remainders of Taylor's formula, r(h) = |F(u + h w) - F(u) - h J w|, Euclidean, w a vector of numbers
// between -1 and 1 times the largest entry of u (at least 1).
typedef struct {
  double step[RITZ_DERIVATIVE_STEPS];      // h
  double remainder[RITZ_DERIVATIVE_STEPS]; // r(h)
  double rounding[RITZ_DERIVATIVE_STEPS];  // what the rounding of r(h) may be
  // p of r = O(h^p): of the two consecutive steps with the smallest remainders above rounding. 2 where J is
  // the derivative, 1 where it is not; infinity where no two remainders are above rounding, as with linear F.
  double order;
} RitzDerivativeCheck;

// The Taylor test of J, which may be any operator, at `state` (whose values are left as they are), along a
// direction that is the same in each call: h = first_step / 4^k, k = 0 .. 7. first_step: such that F is
// smooth along it, 0.1 for example. J reads its state itself: it has to be this one.
//
// Errors: those of CeedOperatorApply; CEED_ERROR_DIMENSION, lengths; CEED_ERROR_INCOMPATIBLE, NULL, a step
// that is not positive and finite, state that is no vector of CeedScalars.
CEED_EXTERN int RitzOperatorCheckDerivative(CeedOperator op, CeedVector state, CeedOperator jacobian,
                                            double first_step, RitzDerivativeCheck *check);

#endif
