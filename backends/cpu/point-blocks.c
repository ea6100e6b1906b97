// SPDX-License-Identifier: BSD-2-Clause
// Columns of point blocks into the blocks (plan/point-blocks.h), by the threads of the context.
#include "backends/cpu/cpu.h"

typedef struct {
  const RitzBlockNodes *nodes;
  CeedInt column;
  CeedScalarType precision; // of both arrays
  const void *from;
  void *blocks;
} Addition;

// Of nodes first .. first + count - 1: blocks[node][c][column] += from[entry c of the node]
#define ADD_COLUMN(Real)                                                                                     \
  for (int64_t n = first; n < first + count; n++) {                                                          \
    const Real *from = (const Real *)add->from + nodes->first + n * nodes->node_stride;                      \
    Real *to = (Real *)add->blocks + n * nc * nc + add->column;                                              \
    for (CeedInt c = 0; c < nc; c++) to[c * nc] += from[c * nodes->comp_stride];                             \
  }

static void add_column(void *data, int slot, int64_t first, int64_t count) {
  const Addition *add = data;
  const RitzBlockNodes *nodes = add->nodes;
  const CeedInt nc = nodes->num_comp;

  (void)slot;
  if (add->precision == CEED_SCALAR_FP32)
    ADD_COLUMN(float)
  else
    ADD_COLUMN(double)
}

int ritz_cpu_add_column(Ceed ceed, const RitzBlockNodes *nodes, CeedInt column, CeedScalarType precision,
                        const void *from, void *blocks) {
  Addition add = {nodes, column, precision, from, blocks};
  return ritz_cpu_run_ranges(ceed, nodes->num_nodes, add_column, &add);
}
