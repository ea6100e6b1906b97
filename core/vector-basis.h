// SPDX-License-Identifier: BSD-2-Clause
// What a vector basis of tensor products is made from. Called by core/basis-vector.c and basis-derham.c.
#ifndef RITZ_CORE_VECTOR_BASIS_H
#define RITZ_CORE_VECTOR_BASIS_H

#include "core/core.h"

// Entry c * dim + d: of component c along direction d.
typedef struct {
  const char *call; // the public function, for messages
  CeedFESpace space;
  CeedInt dim, num_comp, Q_1d;
  const CeedInt *P_1d;
  const CeedScalar *const *interp_1d, *const
                                          *grad_1d; // [Q_1d][P_1d]; grad NULL where nothing is differentiated
  const CeedScalar *q_ref_1d, *q_weight_1d;         // [Q_1d] or NULL
} RitzVectorTables;

// Sizes that do not depend on the tables.
int ritz_basis_check_vector(Ceed ceed, const char *call, CeedInt dim, CeedInt num_comp, CeedInt Q_1d);
int ritz_basis_create_vector(Ceed ceed, const RitzVectorTables *tables, CeedBasis *basis);

#endif
