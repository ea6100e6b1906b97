// SPDX-License-Identifier: BSD-2-Clause
// Gather and scatter of the emulated device: E-vectors [num_comp][num_elem][elem_size], at points padded to
// the longest element (doc/ceed-api.md, Element restrictions). Called for CeedElemRestrictionApply and
// by device-operator.c; compared with the reference element by element.
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/check/device.h"

// At points elem_size is not known yet: elements have max_points places.
int ritz_check_device_layout(CeedElemRestriction rstr, CeedInt layout[3]) {
  bool is_points = rstr->type == CEED_RESTRICTION_POINTS;
  CeedSize size = is_points ? rstr->max_points : rstr->elem_size;
  RITZ_REQUIRE(rstr->block_size == 1, rstr->obj.ceed, CEED_ERROR_UNSUPPORTED,
               "blocked restrictions: Backend does not implement them");
  RITZ_REQUIRE(size * rstr->num_elem <= INT_MAX, rstr->obj.ceed, CEED_ERROR_DIMENSION,
               "%" CeedInt_FMT " elements of %" CeedSize_FMT
               " nodes exceed the 32-bit layout of an E-vector on the device",
               rstr->num_elem, size);
  layout[0] = 1;
  layout[1] = (CeedInt)(size * rstr->num_elem);
  layout[2] = (CeedInt)size;
  return CEED_ERROR_SUCCESS;
}

// ---- Where things are ----

// The elements of an action, and how many places each has in the E-vector.
typedef struct {
  CeedElemRestriction rstr;
  const RitzRestrictionAction *action;
  CeedInt num, size;
} Range;

static CeedInt num_nodes(CeedElemRestriction r, CeedInt elem) {
  return r->type == CEED_RESTRICTION_POINTS ? ritz_restriction_points_in(r, elem) : r->elem_size;
}

static Range range_of(CeedElemRestriction r, const RitzRestrictionAction *action) {
  bool is_padded = r->type == CEED_RESTRICTION_POINTS && action->num_blocks == r->num_elem;
  return (Range){r, action, action->num_blocks,
                 is_padded ? r->max_points : num_nodes(r, action->first_block)};
}

static CeedSize restriction_e_index(const Range *g, CeedInt k, CeedInt c, CeedInt i) {
  return ((CeedSize)c * g->num + k) * g->size + i;
}

// Distance of the outermost diagonals of the orientation matrix.
static CeedInt band(const Range *g) {
  return g->rstr->type == CEED_RESTRICTION_CURL_ORIENTED && g->action->use_orients ? 1 : 0;
}

// Entry (i, j) of the orientation matrix of an element.
static CeedScalar orientation(const Range *g, CeedInt elem, CeedInt i, CeedInt j) {
  const CeedElemRestriction r = g->rstr;
  CeedSize node = (CeedSize)elem * r->elem_size + i;
  if (band(g) > 0) {
    CeedInt8 entry = r->curl_orients[3 * node + (j - i + 1)];
    return g->action->use_signs ? entry : abs(entry);
  }
  bool has_signs = r->type == CEED_RESTRICTION_ORIENTED && g->action->use_orients && g->action->use_signs;
  return has_signs && r->orients[node] ? -1 : 1;
}

// ---- Kernels ----

// One entry of the E-vector: a row of the orientation matrix times the element. Padding repeats the last
// point.
static CeedScalar gather_entry(const Range *g, CeedInt k, CeedInt c, CeedInt i, const CeedScalar *u) {
  CeedInt elem = g->action->first_block + k, n = num_nodes(g->rstr, elem);
  if (n == 0) return 0;
  if (i >= n) i = n - 1;
  CeedScalar sum = 0;
  for (CeedInt j = CeedIntMax(i - band(g), 0); j <= CeedIntMin(i + band(g), n - 1); j++)
    sum += orientation(g, elem, i, j) * u[ritz_restriction_l_index(g->rstr, elem, j, c)];
  return sum;
}

// One entry of the E-vector goes to its own and its neighbours' nodes.
static void scatter_entry(const Range *g, CeedInt k, CeedInt c, CeedInt i, CeedScalar u, CeedScalar *v) {
  CeedInt elem = g->action->first_block + k, n = num_nodes(g->rstr, elem);
  for (CeedInt j = CeedIntMax(i - band(g), 0); j <= CeedIntMin(i + band(g), n - 1); j++)
    v[ritz_restriction_l_index(g->rstr, elem, j, c)] += orientation(g, elem, i, j) * u;
}

static void run_restriction(const Range *g, const CeedScalar *u, CeedScalar *v) {
  for (CeedInt c = 0; c < g->rstr->num_comp; c++) {
    for (CeedInt k = 0; k < g->num; k++) {
      for (CeedInt i = 0; i < g->size; i++) {
        CeedSize at = restriction_e_index(g, k, c, i);
        if (g->action->t_mode == CEED_NOTRANSPOSE)
          v[at] = gather_entry(g, k, c, i, u);
        else
          scatter_entry(g, k, c, i, u[at], v);
      }
    }
  }
}

// ---- Comparison: the reference gets one element at a time, [num_comp][nodes] in every layout ----

// Element k of the range; with its signs, with absolute values, or without the orientation matrix.
typedef enum { AS_IT_IS, ABSOLUTE, PLAIN } Variant;

static int run_reference(const Range *g, CeedInt k, Variant variant, const CeedScalar *u, CeedScalar *v) {
  RitzRestrictionAction action = *g->action;
  action.first_block += k;
  action.num_blocks = 1;
  if (variant != AS_IT_IS) action.use_signs = false;
  if (variant == PLAIN) action.use_orients = false;
  return g->rstr->obj.ceed->backend.fallback->restriction_apply(g->rstr, &action, CEED_SCALAR_TYPE, u, v);
}

// Copies are exact. Rows of curl-oriented elements are sums of three terms with factors up to 128.
static int check_gather(const Range *g, const CeedScalar *u, const CeedScalar *v, CeedScalar *wanted,
                        CeedScalar *plain) {
  const RitzCheckPair pair = {g->rstr->obj.ceed, "restriction", "the reference backend"};
  CeedInt nc = g->rstr->num_comp;
  for (CeedInt k = 0; k < g->num; k++) {
    CeedInt n = num_nodes(g->rstr, g->action->first_block + k);
    RITZ_TRY(run_reference(g, k, AS_IT_IS, u, wanted));
    RITZ_TRY(run_reference(g, k, PLAIN, u, plain));
    double size = band(g) > 0 ? 3 * 128 * ritz_check_largest((CeedSize)nc * n, plain) : 0;
    for (CeedSize m = 0; m < (CeedSize)nc * g->size; m++) {
      CeedInt c = (CeedInt)(m / g->size), i = (CeedInt)(m % g->size);
      CeedSize at = restriction_e_index(g, k, c, i);
      CeedScalar value = n > 0 ? wanted[(CeedSize)c * n + CeedIntMin(i, n - 1)] : 0;
      RITZ_TRY(ritz_check_compare(&pair, at, v[at], value, 4 * ritz_check_epsilon() * size));
    }
  }
  return CEED_ERROR_SUCCESS;
}

// The reference adds into `wanted`, and absolute values into `sizes`, both [l_size].
static int check_scatter(const Range *g, const CeedScalar *u, const CeedScalar *v, CeedScalar *wanted,
                         CeedScalar *sizes, CeedScalar *elem_vec) {
  const RitzCheckPair pair = {g->rstr->obj.ceed, "restriction, transposed", "the reference backend"};
  for (CeedInt k = 0; k < g->num; k++) {
    CeedInt n = num_nodes(g->rstr, g->action->first_block + k);
    for (CeedInt c = 0; c < g->rstr->num_comp; c++) {
      for (CeedInt i = 0; i < n; i++) elem_vec[(CeedSize)c * n + i] = u[restriction_e_index(g, k, c, i)];
    }
    RITZ_TRY(run_reference(g, k, AS_IT_IS, elem_vec, wanted));
    for (CeedSize i = 0; i < (CeedSize)g->rstr->num_comp * n; i++)
      elem_vec[i] = (CeedScalar)fabs((double)elem_vec[i]);
    RITZ_TRY(run_reference(g, k, ABSOLUTE, elem_vec, sizes));
  }
  // Every element adds to an entry, at worst with all its nodes.
  double factor = ritz_check_epsilon() * (8 + (double)g->num + (double)g->size);
  for (CeedSize l = 0; l < g->rstr->l_size; l++)
    RITZ_TRY(ritz_check_compare(&pair, l, v[l], wanted[l], factor * (double)sizes[l]));
  return CEED_ERROR_SUCCESS;
}

static int run_and_check(CeedElemRestriction rstr, const RitzRestrictionAction *action, const CeedScalar *u,
                         CeedScalar *v) {
  const Range g = range_of(rstr, action);
  bool sums = action->t_mode == CEED_TRANSPOSE;
  CeedSize l_size = sums ? rstr->l_size : 0;
  CeedScalar *work = NULL;
  size_t elem_length = (size_t)rstr->num_comp * (size_t)CeedIntMax(rstr->max_points, rstr->elem_size);
  if (elem_length == 0) {
    run_restriction(&g, u, v);
    return CEED_ERROR_SUCCESS;
  }
  RITZ_TRY(RITZ_MALLOC(rstr->obj.ceed, 2 * ((size_t)l_size + elem_length), &work));
  CeedScalar *wanted = work, *sizes = wanted + l_size, *elem_vec = sizes + l_size;
  for (CeedSize l = 0; l < l_size; l++) {
    wanted[l] = v[l];
    sizes[l] = (CeedScalar)fabs((double)v[l]);
  }
  run_restriction(&g, u, v);
  int ierr = sums ? check_scatter(&g, u, v, wanted, sizes, elem_vec)
                  : check_gather(&g, u, v, elem_vec, elem_vec + elem_length);
  RITZ_FREE(&work);
  return ierr;
}

// A restriction of floats: checked in CeedScalar, results rounded once.
static int run_in_floats(CeedElemRestriction rstr, const RitzRestrictionAction *action, const float *u,
                         float *v) {
  const Range g = range_of(rstr, action);
  const bool sums = action->t_mode == CEED_TRANSPOSE;
  const CeedSize e_size = (CeedSize)rstr->num_comp * g.num * g.size;
  const CeedSize num_u = sums ? e_size : rstr->l_size, num_v = sums ? rstr->l_size : e_size;
  CeedScalar *work = NULL;
  RITZ_TRY(RITZ_CALLOC(rstr->obj.ceed, (size_t)num_u + (size_t)num_v, &work));
  for (CeedSize i = 0; i < num_u; i++) work[i] = (CeedScalar)u[i];
  for (CeedSize i = 0; sums && i < num_v; i++) work[num_u + i] = (CeedScalar)v[i];
  const int ierr = run_and_check(rstr, action, work, work + num_u);
  for (CeedSize i = 0; i < num_v; i++) v[i] = (float)work[num_u + i];
  RITZ_FREE(&work);
  return ierr;
}

int ritz_check_device_restriction(CeedElemRestriction rstr, const RitzRestrictionAction *action,
                                  CeedScalarType precision, const void *u, void *v) {
  return precision == CEED_SCALAR_TYPE ? run_and_check(rstr, action, u, v)
                                       : run_in_floats(rstr, action, u, v);
}
