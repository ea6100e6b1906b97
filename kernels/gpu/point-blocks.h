// SPDX-License-Identifier: BSD-2-Clause
// A column of point blocks into the blocks (plan/point-blocks.h). Included by the texts of
// emit/gpu-diagonal.c, which define before
//   RITZ_BLOCK_ENTRY        float or double
//   RITZ_BLOCK_COMPONENTS   components of a node
// Launched with a thread for each component of each node.
#ifndef RITZ_KERNELS_GPU_POINT_BLOCKS_H
#define RITZ_KERNELS_GPU_POINT_BLOCKS_H

// blocks[node][c][column] += entry c of the node, at first + node * node_stride + c * comp_stride
RITZ_KERNEL(256)
ritz_add_column(RitzLong num_nodes, RitzLong first, RitzLong node_stride, RitzLong comp_stride, int column,
                RITZ_GLOBAL const RITZ_BLOCK_ENTRY *from, RITZ_GLOBAL RITZ_BLOCK_ENTRY *blocks) {
  const RitzLong item = RITZ_ITEM, node = item / RITZ_BLOCK_COMPONENTS, c = item % RITZ_BLOCK_COMPONENTS;
  if (node < num_nodes)
    blocks[item * RITZ_BLOCK_COMPONENTS + column] += from[first + node * node_stride + c * comp_stride];
}

#endif
