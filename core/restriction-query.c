// SPDX-License-Identifier: BSD-2-Clause
// CeedElemRestriction: queries, access to offsets, view, flops (doc/ceed-api.md, Element
// restrictions).
#include <string.h>

#include "core/core.h"

#define GETTER(function, type, field)                                                                        \
  int function(CeedElemRestriction rstr, type *field) {                                                      \
    RITZ_HANDLE(rstr);                                                                                       \
    RITZ_ARGUMENT(rstr, field);                                                                              \
    *field = rstr->field;                                                                                    \
    return CEED_ERROR_SUCCESS;                                                                               \
  }
GETTER(CeedElemRestrictionGetCompStride, CeedInt, comp_stride)
GETTER(CeedElemRestrictionGetNumElements, CeedInt, num_elem)
GETTER(CeedElemRestrictionGetElementSize, CeedInt, elem_size)
GETTER(CeedElemRestrictionGetNumComponents, CeedInt, num_comp)
GETTER(CeedElemRestrictionGetLVectorSize, CeedSize, l_size)
GETTER(CeedElemRestrictionGetEVectorSize, CeedSize, e_size)
GETTER(CeedElemRestrictionGetNumBlocks, CeedInt, num_block)
GETTER(CeedElemRestrictionGetBlockSize, CeedInt, block_size)
GETTER(CeedElemRestrictionGetType, CeedRestrictionType, type)
#undef GETTER

int CeedElemRestrictionGetCeed(CeedElemRestriction rstr, Ceed *ceed) {
  RITZ_HANDLE(rstr);
  RITZ_ARGUMENT(rstr, ceed);
  return CeedObjectGetCeed((CeedObject)rstr, ceed);
}
Ceed CeedElemRestrictionReturnCeed(CeedElemRestriction rstr) { return RITZ_RETURN_CEED(rstr); }

int CeedElemRestrictionSetNumViewTabs(CeedElemRestriction rstr, CeedInt num_tabs) {
  RITZ_HANDLE(rstr);
  return CeedObjectSetNumViewTabs((CeedObject)rstr, num_tabs);
}

int CeedElemRestrictionGetNumViewTabs(CeedElemRestriction rstr, CeedInt *num_tabs) {
  RITZ_HANDLE(rstr);
  RITZ_ARGUMENT(rstr, num_tabs);
  return CeedObjectGetNumViewTabs((CeedObject)rstr, num_tabs);
}

// ---- Points ----

static int require_points(CeedElemRestriction rstr, const char *call) {
  RITZ_REQUIRE(rstr->type == CEED_RESTRICTION_POINTS, rstr->obj.ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: needs an at-points restriction", call);
  return CEED_ERROR_SUCCESS;
}

int CeedElemRestrictionGetNumPoints(CeedElemRestriction rstr, CeedInt *num_points) {
  RITZ_HANDLE(rstr);
  RITZ_ARGUMENT(rstr, num_points);
  RITZ_TRY(require_points(rstr, __func__));
  *num_points = rstr->num_points;
  return CEED_ERROR_SUCCESS;
}

static int require_element(CeedElemRestriction rstr, const char *call, CeedInt elem) {
  RITZ_TRY(require_points(rstr, call));
  RITZ_REQUIRE(elem >= 0 && elem < rstr->num_elem, rstr->obj.ceed, CEED_ERROR_DIMENSION,
               "%s: element %" CeedInt_FMT " is outside [0, %" CeedInt_FMT ")", call, elem, rstr->num_elem);
  return CEED_ERROR_SUCCESS;
}

int CeedElemRestrictionGetNumPointsInElement(CeedElemRestriction rstr, CeedInt elem, CeedInt *num_points) {
  RITZ_HANDLE(rstr);
  RITZ_ARGUMENT(rstr, num_points);
  RITZ_TRY(require_element(rstr, __func__, elem));
  *num_points = ritz_restriction_points_in(rstr, elem);
  return CEED_ERROR_SUCCESS;
}

int CeedElemRestrictionGetMinMaxPointsInElement(CeedElemRestriction rstr, CeedInt *min_points,
                                                CeedInt *max_points) {
  RITZ_HANDLE(rstr);
  RITZ_TRY(require_points(rstr, __func__));
  if (min_points) *min_points = rstr->min_points;
  if (max_points) *max_points = rstr->max_points;
  return CEED_ERROR_SUCCESS;
}

int CeedElemRestrictionGetMaxPointsInElement(CeedElemRestriction rstr, CeedInt *max_points) {
  RITZ_HANDLE(rstr);
  return CeedElemRestrictionGetMinMaxPointsInElement(rstr, NULL, max_points);
}

int CeedElemRestrictionGetMinPointsInElement(CeedElemRestriction rstr, CeedInt *min_points) {
  RITZ_HANDLE(rstr);
  return CeedElemRestrictionGetMinMaxPointsInElement(rstr, min_points, NULL);
}

int CeedElemRestrictionGetAtPointsElementOffset(CeedElemRestriction rstr, CeedInt elem,
                                                CeedSize *elem_offset) {
  RITZ_HANDLE(rstr);
  RITZ_ARGUMENT(rstr, elem_offset);
  RITZ_TRY(require_element(rstr, __func__, elem));
  *elem_offset = rstr->obj.ceed->backend.pads_points
                     ? (CeedSize)elem * rstr->max_points
                     : (CeedSize)(rstr->offsets[elem] - rstr->offsets[0]) * rstr->num_comp;
  return CEED_ERROR_SUCCESS;
}

int CeedElemRestrictionAtPointsAreCompatible(CeedElemRestriction rstr_a, CeedElemRestriction rstr_b,
                                             bool *are_compatible) {
  RITZ_HANDLE(rstr_a, rstr_b);
  RITZ_ARGUMENT(rstr_a, are_compatible);
  RITZ_ARGUMENT(rstr_a->obj.ceed, rstr_b);
  RITZ_REQUIRE(rstr_a->type == CEED_RESTRICTION_POINTS && rstr_b->type == CEED_RESTRICTION_POINTS,
               rstr_a->obj.ceed, CEED_ERROR_UNSUPPORTED, "%s: needs two at-points restrictions", __func__);
  *are_compatible = rstr_a->num_elem == rstr_b->num_elem && rstr_a->num_points == rstr_b->num_points;
  if (!*are_compatible || rstr_a->num_elem == 0) return CEED_ERROR_SUCCESS;
  size_t num_bytes = ritz_restriction_num_offsets(rstr_a) * sizeof(CeedInt);
  *are_compatible = !memcmp(rstr_a->offsets, rstr_b->offsets, num_bytes);
  return CEED_ERROR_SUCCESS;
}

int ritz_restriction_is_distinct(CeedElemRestriction rstr, bool *is_distinct) {
  bool *is_listed = NULL; // [points of the L-vector]
  *is_distinct = rstr->is_distinct;
  if (rstr->is_counted) return CEED_ERROR_SUCCESS;
  *is_distinct = true;
  RITZ_TRY(RITZ_CALLOC(rstr->obj.ceed, (size_t)(rstr->l_size / rstr->num_comp) + 1, &is_listed));
  for (CeedInt i = 0; rstr->num_elem > 0 && i < rstr->num_points && *is_distinct; i++) {
    bool *is_known = &is_listed[rstr->offsets[(CeedSize)rstr->num_elem + 1 + i]];
    *is_distinct = !*is_known;
    *is_known = true;
  }
  RITZ_FREE(&is_listed);
  rstr->is_counted = true;
  rstr->is_distinct = *is_distinct;
  return CEED_ERROR_SUCCESS;
}

// ---- Offsets and layouts ----

// Copies forward to their original, so that its destruction knows of all readers.
static CeedElemRestriction owner(CeedElemRestriction rstr) { return rstr->base ? rstr->base : rstr; }

static int make_device_offsets(CeedElemRestriction r) {
  Ceed ceed = r->obj.ceed;
  size_t num_bytes = ritz_restriction_num_offsets(r) * sizeof(CeedInt);
  void *copy = NULL;
  if (r->device_offsets || !r->offsets || num_bytes == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ceed->backend.rep_alloc(ceed, RITZ_REP_DEVICE, num_bytes, &copy));
  int ierr = ceed->backend.rep_copy(ceed, num_bytes, RITZ_REP_DEVICE, copy, RITZ_REP_HOST, r->offsets);
  if (ierr) {
    ceed->backend.rep_free(ceed, RITZ_REP_DEVICE, copy);
    return ierr;
  }
  r->device_offsets = copy;
  return CEED_ERROR_SUCCESS;
}

int CeedElemRestrictionGetOffsets(CeedElemRestriction rstr, CeedMemType mem_type, const CeedInt **offsets) {
  RITZ_HANDLE(rstr);
  RITZ_ARGUMENT(rstr, offsets);
  RitzRepKind kind;
  RITZ_TRY(ritz_storage_kind(rstr->obj.ceed, __func__, mem_type,
                             "Can only provide HOST memory for this backend", &kind));
  RITZ_REQUIRE(rstr->type != CEED_RESTRICTION_STRIDED, rstr->obj.ceed, CEED_ERROR_BACKEND,
               "%s: a strided restriction has no offsets", __func__);
  if (kind == RITZ_REP_DEVICE) RITZ_TRY(make_device_offsets(owner(rstr)));
  *offsets = kind == RITZ_REP_DEVICE ? owner(rstr)->device_offsets : rstr->offsets;
  owner(rstr)->num_readers++;
  return CEED_ERROR_SUCCESS;
}

static int end_reading(CeedElemRestriction rstr, const char *call) {
  RITZ_REQUIRE(owner(rstr)->num_readers > 0, rstr->obj.ceed, CEED_ERROR_ACCESS,
               "%s: access to the offsets was not granted", call);
  owner(rstr)->num_readers--;
  return CEED_ERROR_SUCCESS;
}

int CeedElemRestrictionRestoreOffsets(CeedElemRestriction rstr, const CeedInt **offsets) {
  RITZ_HANDLE(rstr);
  RITZ_ARGUMENT(rstr, offsets);
  RITZ_TRY(end_reading(rstr, __func__));
  *offsets = NULL;
  return CEED_ERROR_SUCCESS;
}

static int begin_orientations(CeedElemRestriction rstr, const char *call, CeedMemType mem_type,
                              CeedRestrictionType type) {
  RITZ_REQUIRE(rstr->type == type, rstr->obj.ceed, CEED_ERROR_MINOR, "%s: needs %s restriction", call,
               type == CEED_RESTRICTION_ORIENTED ? "an oriented" : "a curl-oriented");
  RITZ_REQUIRE(mem_type == CEED_MEM_HOST, rstr->obj.ceed, CEED_ERROR_BACKEND,
               "%s: orientations can be had in host memory alone", call);
  owner(rstr)->num_readers++;
  return CEED_ERROR_SUCCESS;
}

int CeedElemRestrictionGetOrientations(CeedElemRestriction rstr, CeedMemType mem_type, const bool **orients) {
  RITZ_HANDLE(rstr);
  RITZ_ARGUMENT(rstr, orients);
  RITZ_TRY(begin_orientations(rstr, __func__, mem_type, CEED_RESTRICTION_ORIENTED));
  *orients = rstr->orients;
  return CEED_ERROR_SUCCESS;
}

int CeedElemRestrictionRestoreOrientations(CeedElemRestriction rstr, const bool **orients) {
  RITZ_HANDLE(rstr);
  RITZ_ARGUMENT(rstr, orients);
  RITZ_TRY(end_reading(rstr, __func__));
  *orients = NULL;
  return CEED_ERROR_SUCCESS;
}

int CeedElemRestrictionGetCurlOrientations(CeedElemRestriction rstr, CeedMemType mem_type,
                                           const CeedInt8 **curl_orients) {
  RITZ_HANDLE(rstr);
  RITZ_ARGUMENT(rstr, curl_orients);
  RITZ_TRY(begin_orientations(rstr, __func__, mem_type, CEED_RESTRICTION_CURL_ORIENTED));
  *curl_orients = rstr->curl_orients;
  return CEED_ERROR_SUCCESS;
}

int CeedElemRestrictionRestoreCurlOrientations(CeedElemRestriction rstr, const CeedInt8 **curl_orients) {
  RITZ_HANDLE(rstr);
  RITZ_ARGUMENT(rstr, curl_orients);
  RITZ_TRY(end_reading(rstr, __func__));
  *curl_orients = NULL;
  return CEED_ERROR_SUCCESS;
}

int CeedElemRestrictionGetELayout(CeedElemRestriction rstr, CeedInt layout[3]) {
  RITZ_HANDLE(rstr);
  RITZ_ARGUMENT(rstr, layout);
  memcpy(layout, rstr->layout, sizeof(rstr->layout));
  return CEED_ERROR_SUCCESS;
}

bool ritz_restriction_has_backend_strides(CeedElemRestriction rstr) {
  return rstr->strides[0] == 0 && rstr->strides[1] == 0 && rstr->strides[2] == 0;
}

void ritz_restriction_l_strides(CeedElemRestriction rstr, CeedInt strides[3]) {
  const CeedInt *from = ritz_restriction_has_backend_strides(rstr) ? rstr->layout : rstr->strides;
  for (int d = 0; d < 3; d++) strides[d] = from[d];
}

CeedSize ritz_restriction_array_index(CeedElemRestriction rstr, CeedInt n, CeedInt elem, CeedInt i) {
  CeedSize block = elem / rstr->block_size, lane = elem % rstr->block_size;
  return (block * n + i) * rstr->block_size + lane;
}

CeedSize ritz_restriction_l_index(CeedElemRestriction rstr, CeedInt elem, CeedInt i, CeedInt c) {
  switch (rstr->type) {
  case CEED_RESTRICTION_STRIDED: {
    CeedInt strides[3];
    ritz_restriction_l_strides(rstr, strides);
    return (CeedSize)i * strides[0] + (CeedSize)c * strides[1] + (CeedSize)elem * strides[2];
  }
  case CEED_RESTRICTION_POINTS: return (CeedSize)rstr->offsets[rstr->offsets[elem] + i] * rstr->num_comp + c;
  default:
    return rstr->offsets[ritz_restriction_array_index(rstr, rstr->elem_size, elem, i)] +
           (CeedSize)c * rstr->comp_stride;
  }
}

static int require_strided(CeedElemRestriction rstr, const char *call) {
  RITZ_REQUIRE(rstr->type == CEED_RESTRICTION_STRIDED, rstr->obj.ceed, CEED_ERROR_MINOR,
               "%s: needs a strided restriction", call);
  return CEED_ERROR_SUCCESS;
}

int CeedElemRestrictionGetLLayout(CeedElemRestriction rstr, CeedInt layout[3]) {
  RITZ_HANDLE(rstr);
  RITZ_ARGUMENT(rstr, layout);
  RITZ_TRY(require_strided(rstr, __func__));
  ritz_restriction_l_strides(rstr, layout);
  return CEED_ERROR_SUCCESS;
}

int CeedElemRestrictionGetStrides(CeedElemRestriction rstr, CeedInt strides[3]) {
  RITZ_HANDLE(rstr);
  RITZ_ARGUMENT(rstr, strides);
  RITZ_TRY(require_strided(rstr, __func__));
  memcpy(strides, rstr->strides, sizeof(rstr->strides));
  return CEED_ERROR_SUCCESS;
}

int CeedElemRestrictionHasBackendStrides(CeedElemRestriction rstr, bool *has_backend_strides) {
  RITZ_HANDLE(rstr);
  RITZ_ARGUMENT(rstr, has_backend_strides);
  RITZ_TRY(require_strided(rstr, __func__));
  *has_backend_strides = ritz_restriction_has_backend_strides(rstr);
  return CEED_ERROR_SUCCESS;
}

int CeedElemRestrictionIsStrided(CeedElemRestriction rstr, bool *is_strided) {
  RITZ_HANDLE(rstr);
  RITZ_ARGUMENT(rstr, is_strided);
  *is_strided = rstr->type == CEED_RESTRICTION_STRIDED;
  return CEED_ERROR_SUCCESS;
}

int CeedElemRestrictionIsAtPoints(CeedElemRestriction rstr, bool *is_points) {
  RITZ_HANDLE(rstr);
  RITZ_ARGUMENT(rstr, is_points);
  *is_points = rstr->type == CEED_RESTRICTION_POINTS;
  return CEED_ERROR_SUCCESS;
}

// ---- View and flops ----

int CeedElemRestrictionView(CeedElemRestriction rstr, FILE *stream) {
  RITZ_HANDLE(rstr);
  RITZ_ARGUMENT(rstr, stream);
  ritz_object_indent(&rstr->obj, stream);
  if (rstr->type == CEED_RESTRICTION_POINTS) {
    fprintf(stream,
            "CeedElemRestriction at points from (%" CeedSize_FMT ", %" CeedInt_FMT ") to %" CeedInt_FMT
            " elements with a maximum of %" CeedInt_FMT " points on an element\n",
            rstr->l_size, rstr->num_comp, rstr->num_elem, rstr->max_points);
    return CEED_ERROR_SUCCESS;
  }
  fprintf(stream,
          "%sCeedElemRestriction from (%" CeedSize_FMT ", %" CeedInt_FMT ") to %" CeedInt_FMT
          " elements with %" CeedInt_FMT " nodes each and ",
          rstr->block_size > 1 ? "Blocked " : "", rstr->l_size, rstr->num_comp, rstr->num_elem,
          rstr->elem_size);
  if (rstr->type == CEED_RESTRICTION_STRIDED) {
    fprintf(stream, "strides [%" CeedInt_FMT ", %" CeedInt_FMT ", %" CeedInt_FMT "]\n", rstr->strides[0],
            rstr->strides[1], rstr->strides[2]);
  } else {
    fprintf(stream, "component stride %" CeedInt_FMT "\n", rstr->comp_stride);
  }
  return CEED_ERROR_SUCCESS;
}

int CeedElemRestrictionGetFlopsEstimate(CeedElemRestriction rstr, CeedTransposeMode t_mode, CeedSize *flops) {
  RITZ_HANDLE(rstr);
  RITZ_ARGUMENT(rstr, flops);
  RITZ_REQUIRE(t_mode == CEED_NOTRANSPOSE || t_mode == CEED_TRANSPOSE, rstr->obj.ceed,
               CEED_ERROR_INCOMPATIBLE, "%s: %d is no transpose mode", __func__, (int)t_mode);
  static const CeedSize per_entry[][2] = {
      [CEED_RESTRICTION_STANDARD] = {0, 1},      [CEED_RESTRICTION_ORIENTED] = {1, 2},
      [CEED_RESTRICTION_CURL_ORIENTED] = {5, 6}, [CEED_RESTRICTION_STRIDED] = {0, 1},
      [CEED_RESTRICTION_POINTS] = {0, 0},
  };
  *flops = rstr->e_size * per_entry[rstr->type][t_mode == CEED_TRANSPOSE];
  return CEED_ERROR_SUCCESS;
}

// ---- Rows ----

CeedInt ritz_restriction_row_step(CeedElemRestriction r) {
  return r->comp_stride == 1 && r->num_comp > 1 ? r->num_comp : 1;
}

static bool is_row(const CeedInt *offsets, CeedInt row_length, CeedInt step) {
  for (CeedInt i = 1; i < row_length; i++) {
    if (offsets[i] != offsets[0] + (int64_t)i * step) return false;
  }
  return true;
}

typedef struct {
  CeedElemRestriction r;
  CeedInt row_length, step;
  _Atomic bool has_others; // nodes that are no row
} RowSearch;

static void look_for_rows(void *data, int slot, int64_t first, int64_t count) {
  RowSearch *s = data;
  const int64_t size = s->r->elem_size;
  (void)slot;
  for (int64_t i = first * size; i < (first + count) * size; i += s->row_length) {
    if (is_row(s->r->offsets + i, s->row_length, s->step)) continue;
    s->has_others = true;
    return;
  }
}

bool ritz_restriction_has_rows(CeedElemRestriction r, CeedInt row_length) {
  const bool may_have_rows = r->type == CEED_RESTRICTION_STANDARD || r->type == CEED_RESTRICTION_ORIENTED;
  if (!may_have_rows || r->block_size != 1 || r->num_elem == 0 || r->elem_size % row_length != 0)
    return false;
  RowSearch search = {.r = r, .row_length = row_length, .step = ritz_restriction_row_step(r)};
  const int ierr = ritz_run_elements(r->obj.ceed, r->num_elem, look_for_rows, &search);
  return !ierr && !search.has_others;
}
