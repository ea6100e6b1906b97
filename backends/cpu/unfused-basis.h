// SPDX-License-Identifier: BSD-2-Clause
// Bases on one batch of elements, at sizes that are known at run time only. Used by the ahead-of-time kernel
// (unfused.c) and by CeedBasisApply of the backend (basis.c).
#ifndef RITZ_BACKENDS_CPU_UNFUSED_BASIS_H
#define RITZ_BACKENDS_CPU_UNFUSED_BASIS_H

// Vectors of 64 bytes, also where registers are shorter: all functions that pass them are inlined, so that
// the calling convention of the compiler's warning is never used.
#pragma GCC diagnostic ignored "-Wpsabi"
#include <ceed/types.h>
#ifdef CEED_SCALAR_IS_FP32
#define RITZ_LANES 16
#else
#define RITZ_LANES 8
#endif
#include "kernels/cpu/vector.h"

// Component c of a vector basis of tensor products, as in RitzPlanBlock (plan/plan.h).
typedef struct {
  CeedInt P[3], num_nodes, first;
  const CeedScalar *interp[3], *grad[3]; // borrowed, [Q_1d][P[d]]; grad NULL where nothing is differentiated
  int row[3], sign[3];                   // where its derivatives go
} RitzUnfusedBlock;

typedef struct {
  bool is_tensor, is_identity; // identity: tensor, nodes are points
  bool has_blocks;             // a vector basis of tensor products
  CeedInt dim, P_1d, Q_1d;     // tensor; Q_1d: of blocks, too
  CeedInt P, Q;
  CeedInt q_comp_interp, q_comp_deriv; // dense
  // Borrowed. Tensor: [Q_1d][P_1d], unused in an identity; dense: [q_comp][Q][P].
  const CeedScalar *interp, *grad;
  const CeedScalar *deriv;   // tensor: [Q_1d][Q_1d], grad = deriv interp; NULL: none
  const CeedScalar *weights; // tensor, blocks: [Q_1d]; dense: [Q]
  RitzUnfusedBlock blocks[3];
} RitzUnfusedBasis;

// Vectors of scratch memory that an evaluation needs.
int64_t ritz_unfused_basis_scratch(const RitzUnfusedBasis *b);
// Mode INTERP, or GRAD, DIV or CURL: x [num_comp][P] -> y [q_comp][num_comp][Q].
void ritz_unfused_basis_up(const RitzUnfusedBasis *b, CeedEvalMode mode, CeedInt num_comp, const RitzVec *x,
                           RitzVec *y, RitzVec *scratch);
// Transposed; add: into x.
void ritz_unfused_basis_down(const RitzUnfusedBasis *b, CeedEvalMode mode, CeedInt num_comp, const RitzVec *y,
                             RitzVec *x, bool add, RitzVec *scratch);
// The weights [Q] in all lanes.
void ritz_unfused_basis_weights(const RitzUnfusedBasis *b, RitzVec *weights);

#endif
