// SPDX-License-Identifier: BSD-2-Clause
// Loops over the nodes of elements and over elements. Included by backends/ref/restriction.c once for each
// type of entries, RITZ_ENTRY; RITZ_LOOP(name) is the name of a loop.

// e_vec entry (i, c) is at (c*n + i) * stride.
static void RITZ_LOOP(gather)(CeedElemRestriction r, const RitzRestrictionAction *action, CeedInt elem,
                              CeedInt stride, const RITZ_ENTRY *l_vec, RITZ_ENTRY *e_vec) {
  CeedInt n = num_nodes(r, elem);
  for (CeedInt c = 0; c < r->num_comp; c++) {
    for (CeedInt i = 0; i < n; i++) {
      RITZ_ENTRY sum = 0;
      for (CeedInt j = CeedIntMax(0, i - band(r)); j <= CeedIntMin(n - 1, i + band(r)); j++) {
        sum +=
            (RITZ_ENTRY)orientation(r, action, elem, i, j) * l_vec[ritz_restriction_l_index(r, elem, j, c)];
      }
      e_vec[((CeedSize)c * n + i) * stride] = sum;
    }
  }
}

static void RITZ_LOOP(scatter_add)(CeedElemRestriction r, const RitzRestrictionAction *action, CeedInt elem,
                                   CeedInt stride, const RITZ_ENTRY *e_vec, RITZ_ENTRY *l_vec) {
  CeedInt n = num_nodes(r, elem);
  for (CeedInt c = 0; c < r->num_comp; c++) {
    for (CeedInt j = 0; j < n; j++) {
      RITZ_ENTRY sum = 0;
      for (CeedInt i = CeedIntMax(0, j - band(r)); i <= CeedIntMin(n - 1, j + band(r)); i++) {
        sum += (RITZ_ENTRY)orientation(r, action, elem, i, j) * e_vec[((CeedSize)c * n + i) * stride];
      }
      l_vec[ritz_restriction_l_index(r, elem, j, c)] += sum;
    }
  }
}

// Lanes beyond the last element repeat it forward and are ignored backward.
static void RITZ_LOOP(run)(CeedElemRestriction r, const RitzRestrictionAction *action, const RITZ_ENTRY *u,
                           RITZ_ENTRY *v) {
  if (!(action->t_mode == CEED_NOTRANSPOSE ? v : u)) return; // elements without nodes or points
  CeedInt b = r->block_size, end = action->first_block + action->num_blocks;
  CeedSize origin = block_start(r, action->first_block);
  for (CeedInt block = action->first_block; block < end; block++) {
    CeedSize start = block_start(r, block) - origin;
    for (CeedInt lane = 0; lane < b; lane++) {
      CeedSize elem = (CeedSize)block * b + lane;
      if (action->t_mode == CEED_NOTRANSPOSE) {
        CeedSize source = elem < r->num_elem ? elem : r->num_elem - 1;
        RITZ_LOOP(gather)(r, action, (CeedInt)source, b, u, v + start + lane);
      } else if (elem < r->num_elem) {
        RITZ_LOOP(scatter_add)(r, action, (CeedInt)elem, b, u + start + lane, v);
      }
    }
  }
}
