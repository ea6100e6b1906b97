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

// Start of a block in an E-vector.
static CeedSize block_start(CeedElemRestriction r, CeedInt block) {
  if (r->type == CEED_RESTRICTION_POINTS) return (CeedSize)(r->offsets[block] - r->offsets[0]) * r->num_comp;
  return (CeedSize)block * r->block_size * r->elem_size * r->num_comp;
}

// ---- Loops, of CeedScalars and of floats ----

#define RITZ_ENTRY      CeedScalar
#define RITZ_LOOP(name) name##_scalars
#include "backends/ref/restriction-loops.h"
#undef RITZ_ENTRY
#undef RITZ_LOOP
#define RITZ_ENTRY      float
#define RITZ_LOOP(name) name##_floats
#include "backends/ref/restriction-loops.h"

void ritz_ref_gather(CeedElemRestriction rstr, CeedInt elem, const CeedScalar *l_vec, CeedScalar *e_vec) {
  const RitzRestrictionAction action = {.use_signs = rstr->use_signs, .use_orients = rstr->use_orients};
  gather_scalars(rstr, &action, elem, 1, l_vec, e_vec);
}

void ritz_ref_scatter_add(CeedElemRestriction rstr, CeedInt elem, bool use_signs, const CeedScalar *e_vec,
                          CeedScalar *l_vec) {
  const RitzRestrictionAction action = {.use_signs = use_signs && rstr->use_signs,
                                        .use_orients = rstr->use_orients};
  scatter_add_scalars(rstr, &action, elem, 1, e_vec, l_vec);
}

CeedScalar ritz_ref_orientation(CeedElemRestriction rstr, CeedInt elem, CeedInt i, CeedInt j) {
  const RitzRestrictionAction action = {.use_signs = rstr->use_signs, .use_orients = rstr->use_orients};
  return orientation(rstr, &action, elem, i, j);
}

int ritz_ref_restriction_apply(CeedElemRestriction rstr, const RitzRestrictionAction *action,
                               CeedScalarType precision, const void *u, void *v) {
  if (precision == CEED_SCALAR_TYPE)
    run_scalars(rstr, action, u, v);
  else
    run_floats(rstr, action, u, v);
  return CEED_ERROR_SUCCESS;
}
