// SPDX-License-Identifier: BSD-2-Clause
// Matrices in a fixed pattern on devices, the slots assembly_*: which rows a block of threads adds up, from
// which rows of element matrices, and where their entries go is there once (kernels/gpu/assembly-rows.h).
// Sums are made in the order of the elements, each by one thread after the other: the same bits every time.
// Element matrices are never in memory.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "backends/gpu/assembly.h"
#include "core/operator.h"

// assembly->data
typedef struct {
  bool is_native; // else core/ places element matrices
  bool is_whole;  // the first block that is not empty touches all rows
  CeedInt num_blocks;
  RitzGpuPlaces *blocks; // owned
} Pattern;

static void free_places(Ceed ceed, RitzGpuPlaces *p) {
  void **const arrays[] = {&p->firsts, &p->chunks, &p->slots, &p->nodes,
                           &p->bases,  &p->starts, &p->sums,  &p->places};
  for (size_t k = 0; k < sizeof(arrays) / sizeof(arrays[0]); k++) ritz_gpu_free(ceed, arrays[k]);
}

static void free_pattern(Ceed ceed, Pattern **pattern) {
  for (CeedInt k = 0; (*pattern)->blocks && k < (*pattern)->num_blocks; k++)
    free_places(ceed, &(*pattern)->blocks[k]);
  RITZ_FREE(&(*pattern)->blocks);
  RITZ_FREE(pattern);
}

// ---- What is added in place ----

// Signs of orientations are not in the entries that a kernel adds; parts of other contexts have memory or
// kernels of their own; few elements that are assembled once are done before there is a kernel.
static bool is_served(const struct RitzAssembly_private *a) {
  bool is_by_choice = true;
  for (CeedInt k = 0; k < a->num_blocks; k++) {
    const RitzAssemblyBlock *b = &a->blocks[k];
    bool is_small;
    if (b->op->num_elem == 0) continue;
    if (b->op->obj.ceed != a->ceed || !ritz_gpu_assembles(b->op, b->a, b->b, false) ||
        b->in->type == CEED_RESTRICTION_ORIENTED || b->in->type == CEED_RESTRICTION_CURL_ORIENTED ||
        b->out->type == CEED_RESTRICTION_ORIENTED || b->out->type == CEED_RESTRICTION_CURL_ORIENTED)
      return false;
    (void)ritz_columns_serve(b->op, &is_small);
    is_by_choice &= is_small;
  }
  return !a->is_given || !is_by_choice;
}

static int compare_numbers(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

// Whether a row of some element matrix has a column twice.
static bool has_repeated_columns(const RitzAssemblyBlock *b, int64_t *work) {
  for (CeedInt e = 0; e < b->op->num_elem; e++) {
    for (CeedInt j = 0; j < b->num_cols; j++) work[j] = ritz_assembly_col(b, e, j);
    qsort(work, (size_t)b->num_cols, sizeof(*work), compare_numbers);
    for (CeedInt j = 1; j < b->num_cols; j++) {
      if (work[j] == work[j - 1]) return true;
    }
  }
  return false;
}

// ---- Bundles ----

// Rows of the matrix by first touch, so that those of a bundle share elements; rows of elements, "parts"
// here, by bundle, element and row, then chunk by chunk by row. All owned, on the host.
typedef struct {
  const struct RitzAssembly_private *assembly;
  const RitzAssemblyBlock *block;
  const RitzGpuAssembly *shape;
  CeedInt num_rows, num_bundles, num_chunks, num_slots;
  CeedSize num_parts;
  CeedInt *numbers;         // [rows of the matrix], -1: not touched
  CeedInt *bundles;         // [num_rows + 1] at most: first rows of bundles
  int64_t *starts, *sums;   // [num_rows], [num_rows + 1]
  CeedInt *parts;           // [num_parts]: element * block->num_rows + row
  CeedInt *firsts, *chunks; // pairs, as in RitzGpuPlaces
  CeedInt *slots, *nodes;
  uint32_t *bases;
} Rows;

static void free_rows(Rows *r) {
  RITZ_FREE(&r->numbers);
  RITZ_FREE(&r->bundles);
  RITZ_FREE(&r->starts);
  RITZ_FREE(&r->sums);
  RITZ_FREE(&r->parts);
  RITZ_FREE(&r->firsts);
  RITZ_FREE(&r->chunks);
  RITZ_FREE(&r->slots);
  RITZ_FREE(&r->nodes);
  RITZ_FREE(&r->bases);
}

// Number of the row of a part.
static CeedInt number_of(const Rows *r, CeedInt part) {
  const CeedInt elem = part / r->block->num_rows, i = part % r->block->num_rows;
  return r->numbers[ritz_assembly_row(r->block, elem, i)];
}

// Numbers, where rows begin, and bundles of as many rows as a block has sums for.
static int number_rows(Rows *r) {
  const struct RitzAssembly_private *a = r->assembly;
  const CeedSize most = r->num_parts < a->num_rows ? r->num_parts : a->num_rows;
  RITZ_TRY(RITZ_MALLOC(a->ceed, (size_t)a->num_rows, &r->numbers));
  RITZ_TRY(RITZ_MALLOC(a->ceed, (size_t)most, &r->starts));
  RITZ_TRY(RITZ_CALLOC(a->ceed, (size_t)most + 1, &r->sums));
  RITZ_TRY(RITZ_CALLOC(a->ceed, (size_t)most + 1, &r->bundles));
  for (CeedSize k = 0; k < a->num_rows; k++) r->numbers[k] = -1;
  for (CeedSize k = 0; k < r->num_parts; k++) {
    const CeedInt elem = (CeedInt)(k / r->block->num_rows), i = (CeedInt)(k % r->block->num_rows);
    const CeedSize row = ritz_assembly_row(r->block, elem, i);
    if (r->numbers[row] >= 0) continue;
    const CeedInt n = r->numbers[row] = r->num_rows++;
    r->starts[n] = a->row_starts[row];
    r->sums[n + 1] = r->sums[n] + a->row_starts[row + 1] - a->row_starts[row];
    if (n == 0 || r->sums[n + 1] - r->sums[r->bundles[r->num_bundles - 1]] > r->shape->num_sums)
      r->bundles[r->num_bundles++] = n;
  }
  r->bundles[r->num_bundles] = r->num_rows;
  return CEED_ERROR_SUCCESS;
}

// Parts sorted by bundle, of a bundle as they come; ends [num_bundles + 1]: where they begin, then end.
static int sort_parts(Rows *r, CeedInt **ends) {
  CeedInt *bundle_of = NULL, *next = NULL;
  int ierr;
  RITZ_TRY_CLEANUP(RITZ_MALLOC(r->assembly->ceed, (size_t)r->num_rows, &bundle_of));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(r->assembly->ceed, (size_t)r->num_parts, &r->parts));
  RITZ_TRY_CLEANUP(RITZ_CALLOC(r->assembly->ceed, (size_t)r->num_bundles + 2, &next));
  for (CeedInt k = 0; k < r->num_bundles; k++) {
    for (CeedInt n = r->bundles[k]; n < r->bundles[k + 1]; n++) bundle_of[n] = k;
  }
  for (CeedInt p = 0; p < r->num_parts; p++) next[bundle_of[number_of(r, p)] + 2]++;
  for (CeedInt k = 2; k <= r->num_bundles + 1; k++) next[k] += next[k - 1];
  for (CeedInt p = 0; p < r->num_parts; p++) r->parts[next[bundle_of[number_of(r, p)] + 1]++] = p;
  *ends = next;
  next = NULL;
cleanup:
  RITZ_FREE(&bundle_of);
  RITZ_FREE(&next);
  return ierr;
}

// Lists the parts first .. end - 1, a chunk, by row, of a row as they come: in the upper halves of their
// bases.
static void order_chunk(Rows *r, CeedInt first, CeedInt end) {
  uint32_t *bases = r->bases + first;
  const CeedInt num = end - first;
  for (CeedInt k = 0; k < num; k++) {
    CeedInt at = k;
    for (; at > 0 && (bases[bases[at - 1] >> 16] & 0xffff) > (bases[k] & 0xffff); at--)
      bases[at] = (bases[at] & 0xffff) | (bases[at - 1] & 0xffff0000);
    bases[at] = (bases[at] & 0xffff) | (uint32_t)k << 16;
  }
}

static void end_chunk(Rows *r, CeedInt end) {
  order_chunk(r, r->chunks[2 * r->num_chunks + 1], end);
  r->num_chunks++;
  r->chunks[2 * r->num_chunks] = r->num_slots;
  r->chunks[2 * r->num_chunks + 1] = end;
}

// The chunks of bundle k, parts first .. end - 1.
static void cut_bundle(Rows *r, CeedInt k, CeedInt first, CeedInt end) {
  const RitzGpuAssembly *s = r->shape;
  const CeedInt num_nodes = s->out.num_nodes;
  for (CeedInt p = first; p < end; p++) {
    const CeedInt slot = r->parts[p] / num_nodes;
    const CeedInt *chunk = &r->chunks[2 * r->num_chunks];
    bool is_new = r->num_slots == chunk[0] || r->slots[r->num_slots - 1] != slot;
    if (p > chunk[1] &&
        (p - chunk[1] == s->tile_rows || (is_new && r->num_slots - chunk[0] == s->num_elem))) {
      end_chunk(r, p);
      chunk = &r->chunks[2 * r->num_chunks];
      is_new = true;
    }
    if (is_new) r->slots[r->num_slots++] = slot;
    r->nodes[p] = (r->num_slots - 1 - chunk[0]) * num_nodes + r->parts[p] % num_nodes;
    r->bases[p] = (uint32_t)(r->sums[number_of(r, r->parts[p])] - r->sums[r->bundles[k]]);
  }
  end_chunk(r, end);
}

static int cut_chunks(Rows *r, const CeedInt *ends) {
  const Ceed ceed = r->assembly->ceed;
  RITZ_TRY(RITZ_CALLOC(ceed, 2 * (size_t)r->num_bundles + 2, &r->firsts));
  RITZ_TRY(RITZ_CALLOC(ceed, 2 * (size_t)r->num_parts + 2, &r->chunks));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)r->num_parts, &r->slots));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)r->num_parts, &r->nodes));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)r->num_parts, &r->bases));
  for (CeedInt k = 0; k < r->num_bundles; k++) {
    cut_bundle(r, k, ends[k], ends[k + 1]);
    r->firsts[2 * k + 2] = r->num_chunks;
    r->firsts[2 * k + 3] = r->bundles[k + 1];
  }
  return CEED_ERROR_SUCCESS;
}

// ---- On the device ----

static int upload_numbers(Ceed ceed, CeedSize num, const CeedInt *numbers, void **device) {
  return ritz_gpu_upload(ceed, (size_t)num * sizeof(*numbers), numbers, device);
}

// As CeedInt unless is_long.
static int upload_starts(Ceed ceed, bool is_long, CeedSize num, const int64_t *starts, void **device) {
  CeedInt *narrow = NULL;
  if (is_long) return ritz_gpu_upload(ceed, (size_t)num * sizeof(*starts), starts, device);
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num, &narrow));
  for (CeedSize k = 0; k < num; k++) narrow[k] = (CeedInt)starts[k];
  const int ierr = upload_numbers(ceed, num, narrow, device);
  RITZ_FREE(&narrow);
  return ierr;
}

static int upload_rows(const Rows *r, RitzGpuPlaces *p) {
  const Ceed ceed = r->assembly->ceed;
  const RitzAssemblyBlock *b = r->block;
  p->num_bundles = r->num_bundles;
  RITZ_TRY(upload_numbers(ceed, 2 * (CeedSize)r->num_bundles + 2, r->firsts, &p->firsts));
  RITZ_TRY(upload_numbers(ceed, 2 * (CeedSize)r->num_chunks + 2, r->chunks, &p->chunks));
  RITZ_TRY(upload_numbers(ceed, r->num_slots, r->slots, &p->slots));
  RITZ_TRY(upload_numbers(ceed, r->num_parts, r->nodes, &p->nodes));
  RITZ_TRY(ritz_gpu_upload(ceed, (size_t)r->num_parts * sizeof(*r->bases), r->bases, &p->bases));
  RITZ_TRY(upload_starts(ceed, p->shape.is_long, r->num_rows, r->starts, &p->starts));
  RITZ_TRY(upload_starts(ceed, p->shape.is_long, r->num_rows + 1, r->sums, &p->sums));
  return ritz_gpu_upload(ceed, (size_t)r->num_parts * (size_t)b->num_cols * (size_t)p->shape.place_bytes,
                         b->places, &p->places);
}

static int make_rows(const struct RitzAssembly_private *a, const RitzAssemblyBlock *b, RitzGpuPlaces *p,
                     bool *is_whole) {
  Rows r = {
      .assembly = a, .block = b, .shape = &p->shape, .num_parts = (CeedSize)b->op->num_elem * b->num_rows};
  CeedInt *ends = NULL;
  int ierr = number_rows(&r);
  if (!ierr) ierr = sort_parts(&r, &ends);
  if (!ierr) ierr = cut_chunks(&r, ends);
  if (!ierr) ierr = upload_rows(&r, p);
  *is_whole = r.num_rows == a->num_rows;
  RITZ_FREE(&ends);
  free_rows(&r);
  return ierr;
}

static CeedInt longest_row(const struct RitzAssembly_private *a) {
  int64_t longest = 0;
  for (CeedSize r = 0; r < a->num_rows; r++) {
    const int64_t length = a->row_starts[r + 1] - a->row_starts[r];
    if (length > longest) longest = length;
  }
  return longest > INT_MAX ? INT_MAX : (CeedInt)longest;
}

static int make_places(const struct RitzAssembly_private *a, const RitzAssemblyBlock *b, RitzGpuPlaces *p,
                       bool *is_possible, bool *is_whole) {
  CeedOperatorAssemblyData groups;
  CeedOperator computes;
  int64_t *work = NULL;
  *is_possible = true;
  if (b->op->num_elem == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_operator_stand_in(b->op, &computes));
  RITZ_TRY(CeedOperatorGetOperatorAssemblyData(computes, &groups));
  RITZ_TRY(RITZ_MALLOC(a->ceed, (size_t)b->num_cols, &work));
  p->shape = (RitzGpuAssembly){.num_sums = longest_row(a),
                               .place_bytes = (CeedInt)a->place_bytes,
                               .is_long = ritz_assembly_num_nonzeros(a) > INT_MAX,
                               .is_repeated = has_repeated_columns(b, work)};
  RITZ_FREE(&work);
  *is_possible = ritz_gpu_plan_rows(computes, b->a, b->b, &p->shape) &&
                 (CeedSize)b->op->num_elem * b->num_rows <= INT_MAX;
  return *is_possible ? make_rows(a, b, p, is_whole) : CEED_ERROR_SUCCESS;
}

static int make_pattern(RitzAssembly a, Pattern **pattern) {
  Pattern *made = NULL;
  bool is_first = true;
  RITZ_TRY(RITZ_CALLOC(a->ceed, 1, &made));
  made->is_native = is_served(a);
  made->num_blocks = a->num_blocks;
  int ierr = RITZ_CALLOC(a->ceed, (size_t)a->num_blocks, &made->blocks);
  for (CeedInt k = 0; !ierr && made->is_native && k < a->num_blocks; k++) {
    bool is_whole = false;
    ierr = make_places(a, &a->blocks[k], &made->blocks[k], &made->is_native, &is_whole);
    if (a->blocks[k].op->num_elem == 0) continue;
    made->is_whole |= is_first && is_whole;
    is_first = false;
  }
  if (ierr) free_pattern(a->ceed, &made);
  *pattern = made;
  return ierr;
}

// ---- Slots ----

int ritz_gpu_assembly_prepare(RitzAssembly assembly, bool *is_native) {
  Pattern *pattern = assembly->data;
  if (!pattern) RITZ_TRY(make_pattern(assembly, &pattern));
  assembly->data = pattern;
  *is_native = pattern->is_native;
  return CEED_ERROR_SUCCESS;
}

// The first block writes all rows where it has them all.
int ritz_gpu_assembly_run(RitzAssembly assembly, CeedScalar *values) {
  const Pattern *pattern = assembly->data;
  const int64_t num = ritz_assembly_num_nonzeros(assembly);
  bool adds = !pattern->is_whole;
  if (adds) RITZ_TRY(ritz_gpu_vector_set_value(assembly->ceed, CEED_SCALAR_TYPE, num, 0, values));
  for (CeedInt k = 0; k < assembly->num_blocks; k++) {
    const RitzAssemblyBlock *b = &assembly->blocks[k];
    CeedOperatorAssemblyData groups;
    CeedOperator computes;
    if (b->op->num_elem == 0) continue;
    RITZ_TRY(ritz_operator_stand_in(b->op, &computes));
    RITZ_TRY(CeedOperatorGetOperatorAssemblyData(computes, &groups));
    RITZ_TRY(ritz_gpu_operator_add_rows(computes, b->a, b->b, &pattern->blocks[k], adds, values));
    adds = true;
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_assembly_destroy(RitzAssembly assembly) {
  Pattern *pattern = assembly->data;
  if (pattern) free_pattern(assembly->ceed, &pattern);
  assembly->data = NULL;
  return CEED_ERROR_SUCCESS;
}
