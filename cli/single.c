// SPDX-License-Identifier: BSD-2-Clause
// Single precision and tetrahedra of bake-off problems (contract in cli/single.h).
#include "cli/single.h"

#include <ritz/basis.h>
#include <ritz/precision.h>

static int create_single(Ceed ceed, CeedSize length, CeedVector *vec) {
  return RitzVectorCreate(ceed, length, CEED_SCALAR_FP32, vec);
}

static int choose_single(CeedOperator op) { return RitzOperatorSetPrecision(op, CEED_SCALAR_FP32); }

const BpSingle cli_single = {create_single, RitzVectorConvert, choose_single};

const BpTets cli_tets = {RitzBasisCreateLagrange, RitzLagrangeNodes};
