// SPDX-License-Identifier: BSD-2-Clause
// Single precision and shapes of bake-off problems (contract in cli/single.h).
#include "cli/single.h"

#include <ritz/basis.h>
#include <ritz/precision.h>

static int create_single(Ceed ceed, CeedSize length, CeedVector *vec) {
  return RitzVectorCreate(ceed, length, CEED_SCALAR_FP32, vec);
}

static int choose_single(CeedOperator op) { return RitzOperatorSetPrecision(op, CEED_SCALAR_FP32); }

const BpSingle cli_single = {create_single, RitzVectorConvert, choose_single};

static const BpShape tets = {CEED_TOPOLOGY_TET, RitzBasisCreateLagrange, RitzLagrangeNodes},
                     prisms = {CEED_TOPOLOGY_PRISM, RitzBasisCreateLagrange, RitzLagrangeNodes},
                     pyramids = {CEED_TOPOLOGY_PYRAMID, RitzBasisCreateLagrange, RitzLagrangeNodes};

const BpShape *const cli_shapes[CLI_NUM_SHAPES] = {NULL, &tets, &prisms, &pyramids};
