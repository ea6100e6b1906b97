// SPDX-License-Identifier: BSD-2-Clause
// Plans of point blocks (contract in plan/point-blocks.h).
#include "plan/point-blocks.h"

static int get_restriction(CeedOperator op, CeedElemRestriction *rstr) {
  CeedOperatorAssemblyData data;
  RITZ_TRY(CeedOperatorGetOperatorAssemblyData(op, &data));
  *rstr = data->in.num > 0 && data->out.num > 0 ? data->in.rstrs[0] : NULL;
  return CEED_ERROR_SUCCESS;
}

static CeedSize largest_offset(CeedElemRestriction rstr) {
  const size_t num = ritz_restriction_num_offsets(rstr);
  CeedSize largest = 0;
  for (size_t k = 0; k < num; k++) {
    if (rstr->offsets[k] > largest) largest = rstr->offsets[k];
  }
  return largest;
}

// Blocks are numbered as core/assembly.c does: by offset / num_comp where components are interlaced, else by
// offset.
static RitzBlockNodes find_nodes(CeedElemRestriction rstr) {
  const CeedInt nc = rstr->num_comp;
  const bool is_interlaced = rstr->comp_stride == 1;
  RitzBlockNodes nodes = {
      .num_comp = nc, .node_stride = is_interlaced ? nc : 1, .comp_stride = rstr->comp_stride};
  if (rstr->num_elem == 0) return nodes;
  nodes.first = is_interlaced ? rstr->offsets[0] % nc : 0;
  nodes.num_nodes = largest_offset(rstr) / nodes.node_stride + 1;
  return nodes;
}

int ritz_plan_block_components(CeedOperator op, CeedInt *num_comp) {
  CeedElemRestriction rstr;
  RITZ_TRY(get_restriction(op, &rstr));
  *num_comp = rstr && rstr->type != CEED_RESTRICTION_STRIDED ? rstr->num_comp : 0;
  return CEED_ERROR_SUCCESS;
}

int ritz_plan_refuse_block_nodes(CeedOperator op, const char **reason) {
  CeedElemRestriction rstr;
  RITZ_TRY(get_restriction(op, &rstr));
  *reason = NULL;
  const RitzBlockNodes nodes = find_nodes(rstr);
  if (nodes.node_stride == 1 && nodes.num_comp > 1 && nodes.num_nodes > nodes.comp_stride)
    *reason = "components of some nodes lie between those of others";
  return CEED_ERROR_SUCCESS;
}

int ritz_plan_refuse_point_blocks(CeedOperator op, const char **reason) {
  RITZ_TRY(ritz_plan_refuse_diagonal(op, reason));
  return *reason ? CEED_ERROR_SUCCESS : ritz_plan_refuse_block_nodes(op, reason);
}

int ritz_plan_point_blocks(CeedOperator op, const RitzPlan *plan, RitzDiagonalPlan **column,
                           RitzBlockNodes *nodes) {
  CeedElemRestriction rstr;
  RITZ_TRY(get_restriction(op, &rstr));
  RITZ_TRY(ritz_plan_diagonal(op, plan, column));
  (*column)->is_column = true;
  *nodes = find_nodes(rstr);
  return CEED_ERROR_SUCCESS;
}
