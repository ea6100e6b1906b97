// SPDX-License-Identifier: BSD-2-Clause
// CeedElemRestriction: all kinds, their arrays, queries (doc/ceed-api.md, Element restrictions). The gather
// and scatter are the backend's.
#include <limits.h>
#include <string.h>

#include "core/core.h"
#include "core/vector.h"

static int view_restriction(CeedObject object, FILE *stream) {
  return CeedElemRestrictionView((CeedElemRestriction)object, stream);
}
static int destroy_restriction(CeedObject *object) {
  return CeedElemRestrictionDestroy((CeedElemRestriction *)object);
}

const RitzClass ritz_restriction_class = {
    .name = "CeedElemRestriction", .view = view_restriction, .destroy = destroy_restriction};

// ---- Creation ----

// Arguments of the constructors; block_size 1 unless blocked.
typedef struct {
  const char *call;
  CeedRestrictionType type;
  CeedInt num_elem, elem_size, block_size, num_comp, comp_stride;
  CeedSize l_size;
  CeedMemType mem_type;
  CeedCopyMode copy_mode;
  const CeedInt *offsets;
  const bool *orients;
  const CeedInt8 *curl_orients;
} Arguments;

static int check_restriction_sizes(Ceed ceed, const Arguments *a) {
  RITZ_HANDLE_OF(a->call, ceed);
  RITZ_REQUIRE(a->num_elem >= 0, ceed, CEED_ERROR_DIMENSION,
               "%s: number of elements %" CeedInt_FMT " is negative", a->call, a->num_elem);
  RITZ_REQUIRE(a->elem_size > 0, ceed, CEED_ERROR_DIMENSION,
               "%s: element size must be at least 1, found %" CeedInt_FMT, a->call, a->elem_size);
  RITZ_REQUIRE(a->block_size > 0, ceed, CEED_ERROR_DIMENSION,
               "%s: block size must be at least 1, found %" CeedInt_FMT, a->call, a->block_size);
  RITZ_REQUIRE(a->num_comp > 0, ceed, CEED_ERROR_DIMENSION,
               "%s: number of components must be at least 1, found %" CeedInt_FMT, a->call, a->num_comp);
  RITZ_REQUIRE(a->type == CEED_RESTRICTION_STRIDED || a->num_comp == 1 || a->comp_stride > 0, ceed,
               CEED_ERROR_DIMENSION,
               "%s: component stride must be at least 1 for %" CeedInt_FMT " components, found %" CeedInt_FMT,
               a->call, a->num_comp, a->comp_stride);
  RITZ_REQUIRE(a->l_size >= 0, ceed, CEED_ERROR_DIMENSION, "%s: L-vector size %" CeedSize_FMT " is negative",
               a->call, a->l_size);
  CeedSize layout = (CeedSize)a->elem_size * a->num_comp;
  RITZ_REQUIRE(layout <= INT_MAX, ceed, CEED_ERROR_DIMENSION,
               "%s: element size %" CeedInt_FMT " times %" CeedInt_FMT
               " components exceeds the 32-bit layout of an E-vector",
               a->call, a->elem_size, a->num_comp);
  return CEED_ERROR_SUCCESS;
}

// Object without arrays; sizes of doc/ceed-api.md, Element restrictions.
static int create_object(Ceed ceed, const Arguments *a, CeedElemRestriction *rstr) {
  CeedElemRestriction r = NULL;
  RITZ_TRY(ritz_object_create(ceed, &ritz_restriction_class, sizeof(*r), &r));
  r->type = a->type;
  r->num_elem = a->num_elem;
  r->elem_size = a->elem_size;
  r->num_comp = a->num_comp;
  r->comp_stride = a->comp_stride;
  r->block_size = a->block_size;
  r->num_block = (CeedInt)(((CeedSize)a->num_elem + a->block_size - 1) / a->block_size);
  r->l_size = a->l_size;
  r->e_size = (CeedSize)r->num_block * r->block_size * r->elem_size * r->num_comp;
  r->use_signs = r->use_orients = true;
  *rstr = r;
  return CEED_ERROR_SUCCESS;
}

static void free_arrays(CeedElemRestriction r) {
  Ceed ceed = r->obj.ceed;
  if (r->device_offsets) ceed->backend.rep_free(ceed, RITZ_REP_DEVICE, r->device_offsets);
  r->device_offsets = NULL;
  if (r->owns_arrays) {
    RITZ_FREE((void **)&r->offsets);
    RITZ_FREE((void **)&r->orients);
    RITZ_FREE((void **)&r->curl_orients);
  }
  r->offsets = NULL;
  r->orients = NULL;
  r->curl_orients = NULL;
}

// Drops an object whose creation failed.
static int abandon(CeedElemRestriction r, int ierr) {
  free_arrays(r);
  ritz_object_free(&r);
  return ierr;
}

// The last step that may fail before arrays are adopted: a failed call leaves the caller's arrays to the
// caller.
static int set_layout(CeedElemRestriction r) {
  int ierr = r->obj.ceed->backend.restriction_layout(r, r->layout);
  return ierr ? abandon(r, ierr) : CEED_ERROR_SUCCESS;
}

// ---- The caller's arrays ----

enum { num_arrays = 3 }; // offsets, orients, curl_orients

static const void *argument_array(const Arguments *a, int k) {
  const void *const arrays[num_arrays] = {a->offsets, a->orients, a->curl_orients};
  return arrays[k];
}

static size_t array_bytes(const Arguments *a, int k) {
  const size_t bytes[num_arrays] = {sizeof(CeedInt), sizeof(bool), 3 * sizeof(CeedInt8)};
  return (size_t)a->num_elem * (size_t)a->elem_size * bytes[k];
}

static int check_modes(Ceed ceed, const Arguments *a) {
  RitzRepKind kind;
  RITZ_TRY(ritz_storage_kind(ceed, a->call, a->mem_type, "Can only set HOST memory for this backend", &kind));
  RITZ_REQUIRE(a->copy_mode == CEED_COPY_VALUES || a->copy_mode == CEED_USE_POINTER ||
                   a->copy_mode == CEED_OWN_POINTER,
               ceed, CEED_ERROR_INCOMPATIBLE, "%s: %d is no copy mode", a->call, (int)a->copy_mode);
  for (int k = 0; k < num_arrays; k++)
    RITZ_TRY(ritz_storage_accept(ceed, a->call, kind, a->copy_mode, array_bytes(a, k), argument_array(a, k)));
  return CEED_ERROR_SUCCESS;
}

// Arrays in device memory are read once: the restriction then owns a copy on the host, of which `host`
// speaks.
static int fetch_arrays(Ceed ceed, const Arguments *a, Arguments *host) {
  void *copies[num_arrays] = {NULL};
  int ierr = CEED_ERROR_SUCCESS;
  for (int k = 0; !ierr && k < num_arrays; k++) {
    if (!argument_array(a, k) || array_bytes(a, k) == 0) continue;
    ierr = ritz_malloc(ceed, array_bytes(a, k), 1, &copies[k]);
    if (!ierr) {
      ierr = ceed->backend.rep_copy(ceed, array_bytes(a, k), RITZ_REP_HOST, copies[k], RITZ_REP_DEVICE,
                                    argument_array(a, k));
    }
  }
  for (int k = 0; k < num_arrays; k++) {
    if (ierr) ritz_free(&copies[k]);
    ritz_memory_give(copies[k]);
  }
  *host = *a;
  host->mem_type = CEED_MEM_HOST;
  host->copy_mode = CEED_OWN_POINTER;
  host->offsets = copies[0];
  host->orients = copies[1];
  host->curl_orients = copies[2];
  return ierr;
}

// A check of offsets by threads: whether any is bad. A second pass finds out which.
typedef struct {
  const CeedInt *offsets;
  CeedSize limit;
  _Atomic bool is_bad;
} OffsetCheck;

static void check_offsets(void *data, int slot, int64_t first, int64_t count) {
  OffsetCheck *check = data;
  bool is_bad = false;
  (void)slot;
  for (int64_t k = first; k < first + count; k++)
    is_bad |= check->offsets[k] < 0 || check->offsets[k] >= check->limit;
  if (is_bad) check->is_bad = true;
}

static bool has_bad_offset(Ceed ceed, const Arguments *a, CeedSize last) {
  OffsetCheck check = {.offsets = a->offsets, .limit = a->l_size - last};
  const int ierr = ritz_run_ranges(ceed, (int64_t)a->num_elem * a->elem_size, check_offsets, &check);
  return ierr || check.is_bad;
}

static int check_arrays(Ceed ceed, const Arguments *a) {
  RITZ_REQUIRE(a->type != CEED_RESTRICTION_ORIENTED || a->orients, ceed, CEED_ERROR_BACKEND,
               "%s: orients is NULL", a->call);
  RITZ_REQUIRE(a->type != CEED_RESTRICTION_CURL_ORIENTED || a->curl_orients, ceed, CEED_ERROR_BACKEND,
               "%s: curl_orients is NULL", a->call);
  if (a->num_elem == 0) return CEED_ERROR_SUCCESS;
  RITZ_REQUIRE(a->offsets, ceed, CEED_ERROR_BACKEND, "%s: offsets is NULL for %" CeedInt_FMT " elements",
               a->call, a->num_elem);
  CeedSize last = (CeedSize)(a->num_comp - 1) * a->comp_stride;
  RITZ_REQUIRE(last < a->l_size, ceed, CEED_ERROR_BACKEND,
               "%s: an L-vector of %" CeedSize_FMT " entries has no room for a node of %" CeedInt_FMT
               " components with stride %" CeedInt_FMT,
               a->call, a->l_size, a->num_comp, a->comp_stride);
  if (!has_bad_offset(ceed, a, last)) return CEED_ERROR_SUCCESS;
  for (CeedSize k = 0; k < (CeedSize)a->num_elem * a->elem_size; k++) {
    RITZ_REQUIRE(a->offsets[k] >= 0 && a->offsets[k] + last < a->l_size, ceed, CEED_ERROR_BACKEND,
                 "%s: offset %" CeedInt_FMT " of node %" CeedSize_FMT " of element %" CeedSize_FMT
                 " is outside [0, %" CeedSize_FMT ")",
                 a->call, a->offsets[k], k % a->elem_size, k / a->elem_size, a->l_size - last);
  }
  return CEED_ERROR_SUCCESS;
}

// Copies `from` [num_elem][n] of `size` bytes an entry into a new array [num_block][n][block_size]; lanes
// beyond the last element repeat it.
static int copy_blocked(CeedElemRestriction r, CeedInt n, size_t size, const void *from, const void **to) {
  char *copy = NULL;
  RITZ_TRY(ritz_malloc(r->obj.ceed, (size_t)r->num_block * (size_t)r->block_size * (size_t)n, size,
                       (void **)&copy));
  *to = copy;
  if (r->block_size == 1 && r->num_elem > 0) memcpy(copy, from, (size_t)r->num_elem * (size_t)n * size);
  for (CeedSize k = 0; r->block_size > 1 && k < (CeedSize)r->num_block * r->block_size; k++) {
    CeedSize elem = k < r->num_elem ? k : r->num_elem - 1, block = k / r->block_size,
             lane = k % r->block_size;
    for (CeedInt i = 0; i < n; i++) {
      memcpy(copy + (size_t)((block * n + i) * r->block_size + lane) * size,
             (const char *)from + (size_t)(elem * n + i) * size, size);
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int copy_arrays(CeedElemRestriction r, const Arguments *a) {
  r->owns_arrays = true;
  RITZ_TRY(copy_blocked(r, r->elem_size, sizeof(CeedInt), a->offsets, (const void **)&r->offsets));
  if (a->orients)
    RITZ_TRY(copy_blocked(r, r->elem_size, sizeof(bool), a->orients, (const void **)&r->orients));
  if (a->curl_orients) {
    RITZ_TRY(copy_blocked(r, 3 * r->elem_size, sizeof(CeedInt8), a->curl_orients,
                          (const void **)&r->curl_orients));
  }
  return CEED_ERROR_SUCCESS;
}

static void adopt_arrays(CeedElemRestriction r, const Arguments *a) {
  r->owns_arrays = a->copy_mode == CEED_OWN_POINTER;
  r->offsets = a->offsets;
  r->orients = a->orients;
  r->curl_orients = a->curl_orients;
  if (!r->owns_arrays) return;
  ritz_memory_adopt((void *)a->offsets);
  ritz_memory_adopt((void *)a->orients);
  ritz_memory_adopt((void *)a->curl_orients);
}

// Input arrays that were handed over but have been copied into blocks.
static void free_input(const Arguments *a) {
  for (int k = 0; k < num_arrays; k++) {
    void *p = (void *)argument_array(a, k);
    ritz_memory_adopt(p);
    ritz_free(&p);
  }
}

static int create_host_offsets(Ceed ceed, const Arguments *a, CeedElemRestriction *rstr) {
  CeedElemRestriction r = NULL;
  RITZ_TRY(check_arrays(ceed, a));
  RITZ_TRY(create_object(ceed, a, &r));
  RITZ_TRY(set_layout(r));
  bool copies = a->copy_mode == CEED_COPY_VALUES || a->block_size > 1;
  if (copies) {
    int ierr = copy_arrays(r, a);
    if (ierr) return abandon(r, ierr);
  } else {
    adopt_arrays(r, a);
  }
  *rstr = r;
  if (copies && a->copy_mode == CEED_OWN_POINTER) free_input(a);
  return CEED_ERROR_SUCCESS;
}

static int create_offsets(Ceed ceed, const Arguments *a, CeedElemRestriction *rstr) {
  Arguments host;
  RITZ_TRY(check_restriction_sizes(ceed, a));
  RITZ_ARGUMENT_OF(ceed, a->call, rstr);
  RITZ_TRY(check_modes(ceed, a));
  if (a->mem_type == CEED_MEM_HOST) return create_host_offsets(ceed, a, rstr);
  RITZ_TRY(fetch_arrays(ceed, a, &host));
  int ierr = create_host_offsets(ceed, &host, rstr);
  if (ierr) {
    free_input(&host);
    return ierr;
  }
  for (int k = 0; a->copy_mode == CEED_OWN_POINTER && k < num_arrays; k++) {
    if (argument_array(a, k)) ceed->backend.rep_free(ceed, RITZ_REP_DEVICE, (void *)argument_array(a, k));
  }
  return CEED_ERROR_SUCCESS;
}

int CeedElemRestrictionCreate(Ceed ceed, CeedInt num_elem, CeedInt elem_size, CeedInt num_comp,
                              CeedInt comp_stride, CeedSize l_size, CeedMemType mem_type,
                              CeedCopyMode copy_mode, const CeedInt *offsets, CeedElemRestriction *rstr) {
  const Arguments a = {__func__,    CEED_RESTRICTION_STANDARD,
                       num_elem,    elem_size,
                       1,           num_comp,
                       comp_stride, l_size,
                       mem_type,    copy_mode,
                       offsets,     NULL,
                       NULL};
  return create_offsets(ceed, &a, rstr);
}

int CeedElemRestrictionCreateOriented(Ceed ceed, CeedInt num_elem, CeedInt elem_size, CeedInt num_comp,
                                      CeedInt comp_stride, CeedSize l_size, CeedMemType mem_type,
                                      CeedCopyMode copy_mode, const CeedInt *offsets, const bool *orients,
                                      CeedElemRestriction *rstr) {
  const Arguments a = {__func__,    CEED_RESTRICTION_ORIENTED,
                       num_elem,    elem_size,
                       1,           num_comp,
                       comp_stride, l_size,
                       mem_type,    copy_mode,
                       offsets,     orients,
                       NULL};
  return create_offsets(ceed, &a, rstr);
}

int CeedElemRestrictionCreateCurlOriented(Ceed ceed, CeedInt num_elem, CeedInt elem_size, CeedInt num_comp,
                                          CeedInt comp_stride, CeedSize l_size, CeedMemType mem_type,
                                          CeedCopyMode copy_mode, const CeedInt *offsets,
                                          const CeedInt8 *curl_orients, CeedElemRestriction *rstr) {
  const Arguments a = {__func__,    CEED_RESTRICTION_CURL_ORIENTED,
                       num_elem,    elem_size,
                       1,           num_comp,
                       comp_stride, l_size,
                       mem_type,    copy_mode,
                       offsets,     NULL,
                       curl_orients};
  return create_offsets(ceed, &a, rstr);
}

int CeedElemRestrictionCreateBlocked(Ceed ceed, CeedInt num_elem, CeedInt elem_size, CeedInt block_size,
                                     CeedInt num_comp, CeedInt comp_stride, CeedSize l_size,
                                     CeedMemType mem_type, CeedCopyMode copy_mode, const CeedInt *offsets,
                                     CeedElemRestriction *rstr) {
  const Arguments a = {__func__,    CEED_RESTRICTION_STANDARD,
                       num_elem,    elem_size,
                       block_size,  num_comp,
                       comp_stride, l_size,
                       mem_type,    copy_mode,
                       offsets,     NULL,
                       NULL};
  return create_offsets(ceed, &a, rstr);
}

int CeedElemRestrictionCreateBlockedOriented(Ceed ceed, CeedInt num_elem, CeedInt elem_size,
                                             CeedInt block_size, CeedInt num_comp, CeedInt comp_stride,
                                             CeedSize l_size, CeedMemType mem_type, CeedCopyMode copy_mode,
                                             const CeedInt *offsets, const bool *orients,
                                             CeedElemRestriction *rstr) {
  const Arguments a = {__func__,    CEED_RESTRICTION_ORIENTED,
                       num_elem,    elem_size,
                       block_size,  num_comp,
                       comp_stride, l_size,
                       mem_type,    copy_mode,
                       offsets,     orients,
                       NULL};
  return create_offsets(ceed, &a, rstr);
}

int CeedElemRestrictionCreateBlockedCurlOriented(Ceed ceed, CeedInt num_elem, CeedInt elem_size,
                                                 CeedInt block_size, CeedInt num_comp, CeedInt comp_stride,
                                                 CeedSize l_size, CeedMemType mem_type,
                                                 CeedCopyMode copy_mode, const CeedInt *offsets,
                                                 const CeedInt8 *curl_orients, CeedElemRestriction *rstr) {
  const Arguments a = {__func__,    CEED_RESTRICTION_CURL_ORIENTED,
                       num_elem,    elem_size,
                       block_size,  num_comp,
                       comp_stride, l_size,
                       mem_type,    copy_mode,
                       offsets,     NULL,
                       curl_orients};
  return create_offsets(ceed, &a, rstr);
}

// Smallest and largest L-vector index that strides reach.
static int check_strides(Ceed ceed, const Arguments *a, const CeedInt strides[3]) {
  const CeedSize last[3] = {a->elem_size - 1, a->num_comp - 1, (CeedSize)a->num_elem - 1};
  CeedSize low = 0, high = 0;
  for (int d = 0; d < 3; d++) {
    CeedSize reach = last[d] * strides[d];
    if (reach < 0)
      low += reach;
    else
      high += reach;
  }
  RITZ_REQUIRE(a->num_elem == 0 || (low >= 0 && high < a->l_size), ceed, CEED_ERROR_DIMENSION,
               "%s: strides [%" CeedInt_FMT ", %" CeedInt_FMT ", %" CeedInt_FMT
               "] reach L-vector entries %" CeedSize_FMT " to %" CeedSize_FMT
               ", the L-vector has %" CeedSize_FMT,
               a->call, strides[0], strides[1], strides[2], low, high, a->l_size);
  return CEED_ERROR_SUCCESS;
}

static int create_strided(Ceed ceed, const Arguments *a, const CeedInt strides[3],
                          CeedElemRestriction *rstr) {
  CeedElemRestriction r = NULL;
  RITZ_TRY(check_restriction_sizes(ceed, a));
  RITZ_ARGUMENT_OF(ceed, a->call, rstr);
  RITZ_ARGUMENT_OF(ceed, a->call, strides);
  CeedSize needed = (CeedSize)a->num_elem * a->elem_size * a->num_comp;
  RITZ_REQUIRE(a->l_size >= needed, ceed, CEED_ERROR_DIMENSION,
               "%s: L-vector size %" CeedSize_FMT
               " is less than elements x nodes x components = %" CeedSize_FMT,
               a->call, a->l_size, needed);
  RITZ_TRY(check_strides(ceed, a, strides));
  RITZ_TRY(create_object(ceed, a, &r));
  RITZ_TRY(set_layout(r));
  memcpy(r->strides, strides, sizeof(r->strides));
  *rstr = r;
  return CEED_ERROR_SUCCESS;
}

int CeedElemRestrictionCreateStrided(Ceed ceed, CeedInt num_elem, CeedInt elem_size, CeedInt num_comp,
                                     CeedSize l_size, const CeedInt strides[3], CeedElemRestriction *rstr) {
  const Arguments a = {.call = __func__,
                       .type = CEED_RESTRICTION_STRIDED,
                       .num_elem = num_elem,
                       .elem_size = elem_size,
                       .block_size = 1,
                       .num_comp = num_comp,
                       .l_size = l_size};
  return create_strided(ceed, &a, strides, rstr);
}

int CeedElemRestrictionCreateBlockedStrided(Ceed ceed, CeedInt num_elem, CeedInt elem_size,
                                            CeedInt block_size, CeedInt num_comp, CeedSize l_size,
                                            const CeedInt strides[3], CeedElemRestriction *rstr) {
  const Arguments a = {.call = __func__,
                       .type = CEED_RESTRICTION_STRIDED,
                       .num_elem = num_elem,
                       .elem_size = elem_size,
                       .block_size = block_size,
                       .num_comp = num_comp,
                       .l_size = l_size};
  return create_strided(ceed, &a, strides, rstr);
}

// ---- At points ----

// The list of element k is offsets[offsets[k]] .. offsets[offsets[k+1] - 1], point numbers not multiplied by
// num_comp.
static int check_points(Ceed ceed, const char *call, CeedInt num_elem, CeedInt num_points,
                        CeedSize num_l_points, const CeedInt *offsets) {
  const CeedSize first = (CeedSize)num_elem + 1, end = first + num_points;
  RITZ_REQUIRE(offsets[0] == first && offsets[num_elem] == end, ceed, CEED_ERROR_BACKEND,
               "%s: element lists run from %" CeedInt_FMT " to %" CeedInt_FMT ", needed %" CeedSize_FMT
               " to %" CeedSize_FMT,
               call, offsets[0], offsets[num_elem], first, end);
  for (CeedInt k = 0; k < num_elem; k++) {
    RITZ_REQUIRE(offsets[k] <= offsets[k + 1] && offsets[k + 1] <= end, ceed, CEED_ERROR_BACKEND,
                 "%s: the list of element %" CeedInt_FMT " runs from %" CeedInt_FMT " to %" CeedInt_FMT, call,
                 k, offsets[k], offsets[k + 1]);
  }
  RITZ_REQUIRE(first == end || num_l_points > 0, ceed, CEED_ERROR_BACKEND,
               "%s: the L-vector has no room for a point, there are %" CeedInt_FMT, call, num_points);
  for (CeedSize i = first; i < end; i++) {
    RITZ_REQUIRE(offsets[i] >= 0 && offsets[i] < num_l_points, ceed, CEED_ERROR_BACKEND,
                 "%s: point %" CeedInt_FMT " is outside [0, %" CeedSize_FMT ")", call, offsets[i],
                 num_l_points);
  }
  return CEED_ERROR_SUCCESS;
}

CeedInt ritz_restriction_points_in(CeedElemRestriction rstr, CeedInt elem) {
  return rstr->offsets[elem + 1] - rstr->offsets[elem];
}

size_t ritz_restriction_num_offsets(CeedElemRestriction rstr) {
  if (rstr->type == CEED_RESTRICTION_POINTS) return (size_t)rstr->num_elem + 1 + (size_t)rstr->num_points;
  return (size_t)rstr->num_block * (size_t)rstr->block_size * (size_t)rstr->elem_size;
}

// The E-vector has max_points places for every element, or is long enough for a window of max_points points
// that begins at the last element.
static void count_points(CeedElemRestriction r) {
  CeedSize total = 0;
  for (CeedInt k = 0; k < r->num_elem; k++) {
    CeedInt n = ritz_restriction_points_in(r, k);
    if (n > r->max_points) r->max_points = n;
    if (k == 0 || n < r->min_points) r->min_points = n;
    total += n;
  }
  CeedInt last = r->num_elem > 0 ? ritz_restriction_points_in(r, r->num_elem - 1) : 0;
  bool is_padded = r->obj.ceed->backend.pads_points;
  r->e_size = is_padded ? (CeedSize)r->num_elem * r->max_points * r->num_comp
                        : (total + r->max_points - last) * r->num_comp;
}

int CeedElemRestrictionCreateAtPoints(Ceed ceed, CeedInt num_elem, CeedInt num_points, CeedInt num_comp,
                                      CeedSize l_size, CeedMemType mem_type, CeedCopyMode copy_mode,
                                      const CeedInt *offsets, CeedElemRestriction *rstr) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, rstr);
  // Only the common checks of sizes apply: an element has no fixed size here.
  const Arguments a = {__func__, CEED_RESTRICTION_POINTS,
                       num_elem, 1,
                       1,        num_comp,
                       1,        l_size,
                       mem_type, copy_mode,
                       offsets,  NULL,
                       NULL};
  CeedElemRestriction r = NULL;
  RITZ_TRY(check_restriction_sizes(ceed, &a));
  RITZ_REQUIRE(num_points >= 0, ceed, CEED_ERROR_DIMENSION,
               "%s: number of points %" CeedInt_FMT " is negative", a.call, num_points);
  RITZ_REQUIRE(l_size >= (CeedSize)num_points * num_comp, ceed, CEED_ERROR_DIMENSION,
               "%s: L-vector size %" CeedSize_FMT " is less than points x components = %" CeedSize_FMT,
               a.call, l_size, (CeedSize)num_points * num_comp);
  RITZ_REQUIRE(mem_type == CEED_MEM_HOST, ceed, CEED_ERROR_BACKEND,
               "%s: Can only set HOST memory for this backend", a.call);
  RITZ_TRY(check_modes(ceed, &a));
  RITZ_REQUIRE(offsets || num_elem == 0, ceed, CEED_ERROR_BACKEND, "%s: offsets is NULL", a.call);
  if (num_elem > 0) RITZ_TRY(check_points(ceed, a.call, num_elem, num_points, l_size / num_comp, offsets));

  RITZ_TRY(create_object(ceed, &a, &r));
  r->num_points = num_points;
  r->offsets = offsets;
  if (num_elem > 0) count_points(r);
  RITZ_TRY(set_layout(r));
  r->elem_size = 0;
  r->offsets = NULL;
  if (copy_mode == CEED_COPY_VALUES && num_elem > 0) {
    size_t length = ritz_restriction_num_offsets(r);
    CeedInt *copy = NULL;
    int ierr = RITZ_MALLOC(ceed, length, &copy);
    if (ierr) return abandon(r, ierr);
    memcpy(copy, offsets, length * sizeof(*copy));
    r->offsets = copy;
    r->owns_arrays = true;
  } else if (copy_mode != CEED_COPY_VALUES) {
    adopt_arrays(r, &a);
  }
  *rstr = r;
  return CEED_ERROR_SUCCESS;
}

// ---- Copies ----

static int create_copy(const char *call, CeedElemRestriction rstr, bool use_orients,
                       CeedElemRestriction *copy) {
  RITZ_HANDLE_OF(call, rstr);
  RITZ_ARGUMENT_OF(rstr, call, copy);
  CeedElemRestriction r = NULL, base = rstr->base ? rstr->base : rstr;
  RITZ_TRY(ritz_object_create(rstr->obj.ceed, &ritz_restriction_class, sizeof(*r), &r));
  struct CeedObject_private header = r->obj;
  *r = *rstr;
  r->obj = header;
  r->obj.num_tabs = rstr->obj.num_tabs;
  r->owns_arrays = false;
  r->device_offsets = NULL;
  r->num_readers = 0;
  r->data = NULL;
  r->use_signs = false;
  r->use_orients = use_orients && rstr->use_orients;
  r->base = base;
  base->obj.ref_count++;
  *copy = r;
  return CEED_ERROR_SUCCESS;
}

int CeedElemRestrictionCreateUnsignedCopy(CeedElemRestriction rstr, CeedElemRestriction *rstr_unsigned) {
  return create_copy(__func__, rstr, true, rstr_unsigned);
}

int CeedElemRestrictionCreateUnorientedCopy(CeedElemRestriction rstr, CeedElemRestriction *rstr_unoriented) {
  return create_copy(__func__, rstr, false, rstr_unoriented);
}

int CeedElemRestrictionReferenceCopy(CeedElemRestriction rstr, CeedElemRestriction *rstr_copy) {
  return RITZ_REFERENCE_COPY(rstr, rstr_copy);
}

int CeedElemRestrictionDestroy(CeedElemRestriction *rstr) {
  RITZ_RELEASE(rstr);
  CeedElemRestriction r = *rstr;
  RITZ_REQUIRE(r->num_readers == 0, r->obj.ceed, CEED_ERROR_ACCESS,
               "CeedElemRestrictionDestroy: Cannot destroy CeedElemRestriction, a process has read access to "
               "the offset data");
  if (r->obj.ceed->backend.restriction_destroy) RITZ_TRY(r->obj.ceed->backend.restriction_destroy(r));
  if (r->base) RITZ_TRY(CeedElemRestrictionDestroy(&r->base));
  free_arrays(r);
  ritz_object_free(&r);
  *rstr = NULL;
  return CEED_ERROR_SUCCESS;
}

// ---- Action ----

// u and v have one precision, and the lengths that the action needs.
static int apply_restriction(CeedElemRestriction r, const RitzRestrictionAction *action, CeedVector u,
                             CeedVector v) {
  const RitzBackend *backend = &r->obj.ceed->backend;
  const RitzAccess access = action->t_mode == CEED_TRANSPOSE ? RITZ_ACCESS_READ_WRITE : RITZ_ACCESS_WRITE;
  void *u_array, *v_array;
  RITZ_TRY(ritz_vector_lock(u, RITZ_ACCESS_READ, backend->mem_type, &u_array));
  int ierr = ritz_vector_lock(v, access, backend->mem_type, &v_array);
  if (!ierr) {
    ierr = backend->restriction_apply(r, action, v->precision, u_array, v_array);
    ierr = ritz_vector_unlock(v, access, &v_array, ierr);
  }
  return ritz_vector_unlock(u, RITZ_ACCESS_READ, &u_array, ierr);
}

static int check_restriction_lengths(CeedElemRestriction r, const char *call, CeedTransposeMode t_mode,
                                     CeedSize e_size, bool exactly, CeedVector u, CeedVector v) {
  CeedVector l = t_mode == CEED_TRANSPOSE ? v : u, e = t_mode == CEED_TRANSPOSE ? u : v;
  RITZ_REQUIRE(t_mode == CEED_NOTRANSPOSE || t_mode == CEED_TRANSPOSE, r->obj.ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: %d is no transpose mode", call, (int)t_mode);
  RITZ_REQUIRE(exactly ? l->length == r->l_size : l->length >= r->l_size, r->obj.ceed, CEED_ERROR_DIMENSION,
               "%s: the L-vector has %" CeedSize_FMT " entries, needed %" CeedSize_FMT, call, l->length,
               r->l_size);
  RITZ_REQUIRE(exactly ? e->length == e_size : e->length >= e_size, r->obj.ceed, CEED_ERROR_DIMENSION,
               "%s: the E-vector has %" CeedSize_FMT " entries, needed %" CeedSize_FMT, call, e->length,
               e_size);
  RITZ_REQUIRE(!ritz_vectors_meet(u, v), r->obj.ceed, CEED_ERROR_INCOMPATIBLE, "%s: input and output %s",
               call, ritz_vectors_meet(u, v));
  RITZ_TRY(ritz_vector_require_scalars(call, u, v));
  if (r->num_elem == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_vector_require_data_of(u, call, "u"));
  return t_mode == CEED_TRANSPOSE ? ritz_vector_require_data_of(v, call, "ru") : CEED_ERROR_SUCCESS;
}

int ritz_restriction_apply(CeedElemRestriction rstr, CeedTransposeMode t_mode, CeedVector u, CeedVector ru) {
  const RitzRestrictionAction action = {t_mode, 0, rstr->num_block, rstr->use_signs, rstr->use_orients};
  return rstr->num_elem > 0 ? apply_restriction(rstr, &action, u, ru) : CEED_ERROR_SUCCESS;
}

int CeedElemRestrictionApply(CeedElemRestriction rstr, CeedTransposeMode t_mode, CeedVector u, CeedVector ru,
                             CeedRequest *request) {
  RITZ_HANDLE(rstr, u, ru);
  RITZ_ARGUMENT(rstr->obj.ceed, u);
  RITZ_ARGUMENT(rstr->obj.ceed, ru);
  RITZ_TRY(check_restriction_lengths(rstr, __func__, t_mode, rstr->e_size, false, u, ru));
  RITZ_TRY(ritz_restriction_apply(rstr, t_mode, u, ru));
  return ritz_request_complete(request);
}

int CeedElemRestrictionApplyBlock(CeedElemRestriction rstr, CeedInt block, CeedTransposeMode t_mode,
                                  CeedVector u, CeedVector ru, CeedRequest *request) {
  RITZ_HANDLE(rstr, u, ru);
  RITZ_ARGUMENT(rstr->obj.ceed, u);
  RITZ_ARGUMENT(rstr->obj.ceed, ru);
  RITZ_REQUIRE(rstr->type != CEED_RESTRICTION_POINTS, rstr->obj.ceed, CEED_ERROR_UNSUPPORTED,
               "%s: an at-points restriction has no blocks, use CeedElemRestrictionApplyAtPointsInElement",
               __func__);
  RITZ_REQUIRE(block >= 0 && block < rstr->num_block, rstr->obj.ceed, CEED_ERROR_DIMENSION,
               "%s: block %" CeedInt_FMT " is outside [0, %" CeedInt_FMT ")", __func__, block,
               rstr->num_block);
  CeedSize e_size = (CeedSize)rstr->block_size * rstr->elem_size * rstr->num_comp;
  RITZ_TRY(check_restriction_lengths(rstr, __func__, t_mode, e_size, true, u, ru));
  const RitzRestrictionAction action = {t_mode, block, 1, rstr->use_signs, rstr->use_orients};
  RITZ_TRY(apply_restriction(rstr, &action, u, ru));
  return ritz_request_complete(request);
}

int CeedElemRestrictionApplyAtPointsInElement(CeedElemRestriction rstr, CeedInt elem,
                                              CeedTransposeMode t_mode, CeedVector u, CeedVector ru,
                                              CeedRequest *request) {
  RITZ_HANDLE(rstr, u, ru);
  RITZ_ARGUMENT(rstr->obj.ceed, u);
  RITZ_ARGUMENT(rstr->obj.ceed, ru);
  RITZ_REQUIRE(rstr->type == CEED_RESTRICTION_POINTS, rstr->obj.ceed, CEED_ERROR_UNSUPPORTED,
               "%s: needs an at-points restriction", __func__);
  RITZ_REQUIRE(elem >= 0 && elem < rstr->num_elem, rstr->obj.ceed, CEED_ERROR_DIMENSION,
               "%s: element %" CeedInt_FMT " is outside [0, %" CeedInt_FMT ")", __func__, elem,
               rstr->num_elem);
  CeedSize e_size = (CeedSize)ritz_restriction_points_in(rstr, elem) * rstr->num_comp;
  RITZ_TRY(check_restriction_lengths(rstr, __func__, t_mode, e_size, false, u, ru));
  const RitzRestrictionAction action = {t_mode, elem, 1, rstr->use_signs, rstr->use_orients};
  RITZ_TRY(apply_restriction(rstr, &action, u, ru));
  return ritz_request_complete(request);
}

// mult := E^T (E 1)
int CeedElemRestrictionGetMultiplicity(CeedElemRestriction rstr, CeedVector mult) {
  RITZ_HANDLE(rstr, mult);
  RITZ_ARGUMENT(rstr->obj.ceed, mult);
  CeedVector ones = NULL, e_vec = NULL;
  RITZ_REQUIRE(mult->length >= rstr->l_size, rstr->obj.ceed, CEED_ERROR_DIMENSION,
               "%s: the vector has %" CeedSize_FMT " entries, needed %" CeedSize_FMT, __func__, mult->length,
               rstr->l_size);
  RITZ_TRY(ritz_vector_require_precision(mult, __func__, CEED_SCALAR_TYPE));
  RITZ_TRY(CeedVectorSetValue(mult, 0));
  int ierr = CeedElemRestrictionCreateVector(rstr, &ones, &e_vec);
  if (!ierr) ierr = CeedVectorSetValue(ones, 1);
  if (!ierr) ierr = CeedElemRestrictionApply(rstr, CEED_NOTRANSPOSE, ones, e_vec, CEED_REQUEST_IMMEDIATE);
  if (!ierr) ierr = CeedElemRestrictionApply(rstr, CEED_TRANSPOSE, e_vec, mult, CEED_REQUEST_IMMEDIATE);
  CeedVectorDestroy(&ones);
  CeedVectorDestroy(&e_vec);
  return ierr;
}

int CeedElemRestrictionCreateVector(CeedElemRestriction rstr, CeedVector *lvec, CeedVector *evec) {
  RITZ_HANDLE(rstr);
  CeedVector l = NULL, e = NULL;
  int ierr = lvec ? CeedVectorCreate(rstr->obj.ceed, rstr->l_size, &l) : CEED_ERROR_SUCCESS;
  if (!ierr && evec) ierr = CeedVectorCreate(rstr->obj.ceed, rstr->e_size, &e);
  if (ierr) {
    CeedVectorDestroy(&l);
    return ierr;
  }
  if (lvec) *lvec = l;
  if (evec) *evec = e;
  return CEED_ERROR_SUCCESS;
}
