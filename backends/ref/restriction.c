// SPDX-License-Identifier: BSD-2-Clause
// Gather and scatter of single elements; whole restrictions as a loop over elements.
#include <stdlib.h>

#include "backends/ref/ref.h"

int ritz_ref_restriction_layout(CeedElemRestriction rstr, CeedInt layout[3]) {
  layout[0] = 1;
  layout[1] = rstr->elem_size;
  layout[2] = rstr->elem_size * rstr->num_comp;
  return CEED_ERROR_SUCCESS;
}

// ---- Where things are ----

static CeedInt num_nodes(CeedElemRestriction r, CeedInt elem) {
  return r->type == CEED_RESTRICTION_POINTS ? ritz_restriction_points_in(r, elem) : r->elem_size;
}

// Entry (i, j) of the element's orientation matrix: diagonal +-1 when oriented, tridiagonal when
// curl-oriented.
static CeedScalar orientation(CeedElemRestriction r, const RitzRestrictionAction *action, CeedInt elem,
                              CeedInt i, CeedInt j) {
  if (r->type == CEED_RESTRICTION_ORIENTED && action->use_orients && action->use_signs && i == j) {
    return r->orients[ritz_restriction_array_index(r, r->elem_size, elem, i)] ? -1 : 1;
  }
  if (r->type == CEED_RESTRICTION_CURL_ORIENTED && action->use_orients) {
    CeedInt8 entry =
        r->curl_orients[ritz_restriction_array_index(r, 3 * r->elem_size, elem, 3 * i + (j - i + 1))];
    return action->use_signs ? entry : abs(entry);
  }
  return i == j ? 1 : 0;
}

// Distance of the outermost diagonals of the orientation matrix.
static CeedInt band(CeedElemRestriction r) { return r->type == CEED_RESTRICTION_CURL_ORIENTED ? 1 : 0; }

// ---- One element ----

// e_vec entry (i, c) is at (c*n + i) * stride.
static void gather(CeedElemRestriction r, const RitzRestrictionAction *action, CeedInt elem, CeedInt stride,
                   const CeedScalar *l_vec, CeedScalar *e_vec) {
  CeedInt n = num_nodes(r, elem);
  for (CeedInt c = 0; c < r->num_comp; c++) {
    for (CeedInt i = 0; i < n; i++) {
      CeedScalar sum = 0;
      for (CeedInt j = CeedIntMax(0, i - band(r)); j <= CeedIntMin(n - 1, i + band(r)); j++) {
        sum += orientation(r, action, elem, i, j) * l_vec[ritz_restriction_l_index(r, elem, j, c)];
      }
      e_vec[((CeedSize)c * n + i) * stride] = sum;
    }
  }
}

static void scatter_add(CeedElemRestriction r, const RitzRestrictionAction *action, CeedInt elem,
                        CeedInt stride, const CeedScalar *e_vec, CeedScalar *l_vec) {
  CeedInt n = num_nodes(r, elem);
  for (CeedInt c = 0; c < r->num_comp; c++) {
    for (CeedInt j = 0; j < n; j++) {
      CeedScalar sum = 0;
      for (CeedInt i = CeedIntMax(0, j - band(r)); i <= CeedIntMin(n - 1, j + band(r)); i++) {
        sum += orientation(r, action, elem, i, j) * e_vec[((CeedSize)c * n + i) * stride];
      }
      l_vec[ritz_restriction_l_index(r, elem, j, c)] += sum;
    }
  }
}

void ritz_ref_gather(CeedElemRestriction rstr, CeedInt elem, const CeedScalar *l_vec, CeedScalar *e_vec) {
  const RitzRestrictionAction action = {.use_signs = rstr->use_signs, .use_orients = rstr->use_orients};
  gather(rstr, &action, elem, 1, l_vec, e_vec);
}

void ritz_ref_scatter_add(CeedElemRestriction rstr, CeedInt elem, bool use_signs, const CeedScalar *e_vec,
                          CeedScalar *l_vec) {
  const RitzRestrictionAction action = {.use_signs = use_signs && rstr->use_signs,
                                        .use_orients = rstr->use_orients};
  scatter_add(rstr, &action, elem, 1, e_vec, l_vec);
}

CeedScalar ritz_ref_orientation(CeedElemRestriction rstr, CeedInt elem, CeedInt i, CeedInt j) {
  const RitzRestrictionAction action = {.use_signs = rstr->use_signs, .use_orients = rstr->use_orients};
  return orientation(rstr, &action, elem, i, j);
}

// ---- Blocks ----

// Start of a block in an E-vector.
static CeedSize block_start(CeedElemRestriction r, CeedInt block) {
  if (r->type == CEED_RESTRICTION_POINTS) return (CeedSize)(r->offsets[block] - r->offsets[0]) * r->num_comp;
  return (CeedSize)block * r->block_size * r->elem_size * r->num_comp;
}

// Lanes beyond the last element repeat it forward and are ignored backward.
int ritz_ref_restriction_apply(CeedElemRestriction rstr, const RitzRestrictionAction *action,
                               const CeedScalar *u, CeedScalar *v) {
  CeedInt b = rstr->block_size, end = action->first_block + action->num_blocks;
  CeedSize origin = block_start(rstr, action->first_block);
  for (CeedInt block = action->first_block; block < end; block++) {
    CeedSize start = block_start(rstr, block) - origin;
    for (CeedInt lane = 0; lane < b; lane++) {
      CeedSize elem = (CeedSize)block * b + lane;
      if (action->t_mode == CEED_NOTRANSPOSE) {
        CeedSize source = elem < rstr->num_elem ? elem : rstr->num_elem - 1;
        gather(rstr, action, (CeedInt)source, b, u, v + start + lane);
      } else if (elem < rstr->num_elem) {
        scatter_add(rstr, action, (CeedInt)elem, b, u + start + lane, v);
      }
    }
  }
  return CEED_ERROR_SUCCESS;
}
