// SPDX-License-Identifier: BSD-2-Clause
// Matrices in a fixed pattern on devices, the slots assembly_*: where entries of element matrices go is there
// once, and the kernel of element matrices adds them where they belong. In any order by atomic additions; in
// a fixed one color after color, elements of a color having no row in common. Element matrices are never in
// memory.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "backends/gpu/assembly.h"
#include "backends/gpu/memory.h"
#include "backends/gpu/operators.h"
#include "backends/gpu/vectors.h"
#include "core/operator.h"

// assembly->data
typedef struct {
  bool is_supported; // else core/ places element matrices
  CeedInt num_blocks;
  RitzGpuPlaces *blocks; // owned
} Pattern;

static void free_colors(Ceed ceed, RitzGpuColors *c) {
  RITZ_FREE(&c->order);
  RITZ_FREE(&c->firsts);
  ritz_gpu_free(ceed, &c->device_order);
}

static void free_pattern(Ceed ceed, Pattern **pattern) {
  for (CeedInt k = 0; (*pattern)->blocks && k < (*pattern)->num_blocks; k++) {
    RitzGpuPlaces *p = &(*pattern)->blocks[k];
    ritz_gpu_free(ceed, &p->starts);
    ritz_gpu_free(ceed, &p->places);
    free_colors(ceed, &p->colors);
  }
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

// ---- Colors ----

static bool has_repeated(CeedInt n, const int64_t *numbers) {
  for (CeedInt i = 1; i < n; i++) {
    if (numbers[i] == numbers[i - 1]) return true;
  }
  return false;
}

static int compare_numbers(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

// Whether some element has an entry of the L-vector twice: its own entries then meet in a nonzero.
static bool meets_itself(const RitzAssemblyBlock *b, int64_t *work) {
  for (CeedInt e = 0; e < b->op->num_elem; e++) {
    for (CeedInt i = 0; i < b->num_rows; i++) work[i] = ritz_assembly_row(b, e, i);
    qsort(work, (size_t)b->num_rows, sizeof(*work), compare_numbers);
    if (has_repeated(b->num_rows, work)) return true;
    for (CeedInt j = 0; j < b->num_cols; j++) work[j] = ritz_assembly_col(b, e, j);
    qsort(work, (size_t)b->num_cols, sizeof(*work), compare_numbers);
    if (has_repeated(b->num_cols, work)) return true;
  }
  return false;
}

// Colors first .. first + 63 for elements that have none yet (-1), each the smallest that no neighbour before
// it has; taken [rows] zeros. Returns whether all have one afterwards.
static bool color_some(const RitzAssemblyBlock *b, CeedInt first, uint64_t *taken, CeedInt *colors) {
  bool is_done = true;
  for (CeedInt e = 0; e < b->op->num_elem; e++) {
    uint64_t mask = 0;
    CeedInt color = 0;
    if (colors[e] >= 0) continue;
    for (CeedInt i = 0; i < b->num_rows; i++) mask |= taken[ritz_assembly_row(b, e, i)];
    while (color < 64 && mask >> color & 1) color++;
    is_done &= color < 64;
    if (color == 64) continue;
    colors[e] = first + color;
    for (CeedInt i = 0; i < b->num_rows; i++) taken[ritz_assembly_row(b, e, i)] |= (uint64_t)1 << color;
  }
  return is_done;
}

static int color_elements(Ceed ceed, CeedSize num_rows, const RitzAssemblyBlock *b, CeedInt *colors) {
  uint64_t *taken = NULL;
  bool is_done = false;
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num_rows, &taken));
  for (CeedInt e = 0; e < b->op->num_elem; e++) colors[e] = -1;
  for (CeedInt first = 0; !is_done; first += 64) {
    memset(taken, 0, (size_t)num_rows * sizeof(*taken));
    is_done = color_some(b, first, taken, colors);
  }
  RITZ_FREE(&taken);
  return CEED_ERROR_SUCCESS;
}

// Elements sorted by color.
static int sort_elements(Ceed ceed, CeedInt num_elem, const CeedInt *colors, RitzGpuColors *c) {
  for (CeedInt e = 0; e < num_elem; e++) c->num_colors = CeedIntMax(c->num_colors, colors[e] + 1);
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)c->num_colors + 2, &c->firsts));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num_elem, &c->order));
  // Counts are kept two places up, so that firsts[k + 1] is where color k begins, and after storing, ends.
  for (CeedInt e = 0; e < num_elem; e++) c->firsts[colors[e] + 2]++;
  for (CeedInt k = 2; k <= c->num_colors + 1; k++) c->firsts[k] += c->firsts[k - 1];
  for (CeedInt e = 0; e < num_elem; e++) c->order[c->firsts[colors[e] + 1]++] = e;
  return ritz_gpu_upload(ceed, (size_t)num_elem * sizeof(*c->order), c->order, &c->device_order);
}

// *is_possible false: an element meets itself.
static int make_colors(const struct RitzAssembly_private *a, const RitzAssemblyBlock *b, RitzGpuColors *c,
                       bool *is_possible) {
  CeedInt *colors = NULL;
  int64_t *work = NULL;
  RITZ_TRY(RITZ_MALLOC(a->ceed, (size_t)CeedIntMax(b->num_rows, b->num_cols), &work));
  *is_possible = !meets_itself(b, work);
  RITZ_FREE(&work);
  if (!*is_possible) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_MALLOC(a->ceed, (size_t)b->op->num_elem, &colors));
  int ierr = color_elements(a->ceed, a->num_rows, b, colors);
  if (!ierr) ierr = sort_elements(a->ceed, b->op->num_elem, colors, c);
  RITZ_FREE(&colors);
  return ierr;
}

// ---- Places ----

static int upload_starts(const struct RitzAssembly_private *a, const RitzAssemblyBlock *b, RitzGpuPlaces *p) {
  const size_t num = (size_t)b->op->num_elem * (size_t)b->num_rows;
  const size_t bytes = p->is_long ? sizeof(int64_t) : sizeof(CeedInt);
  char *starts = NULL;
  RITZ_TRY(RITZ_MALLOC(a->ceed, num * bytes, &starts));
  for (size_t k = 0; k < num; k++) {
    const CeedInt elem = (CeedInt)(k / (size_t)b->num_rows), i = (CeedInt)(k % (size_t)b->num_rows);
    const int64_t start = a->row_starts[ritz_assembly_row(b, elem, i)];
    const CeedInt narrow = (CeedInt)start;
    memcpy(starts + k * bytes, p->is_long ? (const void *)&start : (const void *)&narrow, bytes);
  }
  const int ierr = ritz_gpu_upload(a->ceed, num * bytes, starts, &p->starts);
  RITZ_FREE(&starts);
  return ierr;
}

static int make_places(const struct RitzAssembly_private *a, const RitzAssemblyBlock *b, RitzGpuPlaces *p,
                       bool *is_possible) {
  const size_t num = (size_t)b->op->num_elem * (size_t)b->num_rows * (size_t)b->num_cols;
  p->is_long = ritz_assembly_num_nonzeros(a) > INT_MAX;
  p->place_bytes = a->place_bytes;
  p->is_ordered = ritz_gpu(a->ceed)->is_deterministic;
  *is_possible = true;
  if (b->op->num_elem == 0) return CEED_ERROR_SUCCESS;
  if (p->is_ordered) RITZ_TRY(make_colors(a, b, &p->colors, is_possible));
  if (!*is_possible) return CEED_ERROR_SUCCESS;
  RITZ_TRY(upload_starts(a, b, p));
  return ritz_gpu_upload(a->ceed, num * (size_t)a->place_bytes, b->places, &p->places);
}

static int make_pattern(RitzAssembly a, Pattern **pattern) {
  Pattern *made = NULL;
  RITZ_TRY(RITZ_CALLOC(a->ceed, 1, &made));
  made->is_supported = is_served(a);
  made->num_blocks = a->num_blocks;
  int ierr = RITZ_CALLOC(a->ceed, (size_t)a->num_blocks, &made->blocks);
  for (CeedInt k = 0; !ierr && made->is_supported && k < a->num_blocks; k++)
    ierr = make_places(a, &a->blocks[k], &made->blocks[k], &made->is_supported);
  if (ierr) free_pattern(a->ceed, &made);
  *pattern = made;
  return ierr;
}

// ---- Slots ----

// Programs that gather passive inputs for the kernel of the matrices: made beside the pattern.
static int begin_programs(Ceed ceed) {
  const RitzGpuBase programs[] = {RITZ_BASE_RESTRICTIONS, RITZ_BASE_BASES};
  for (int i = 0; i < 2 && ritz_gpu_compiles_beside(ceed); i++) {
    RitzGpuKernel *kernel;
    RITZ_TRY(ritz_gpu_base(ceed, programs[i], &kernel));
    RITZ_TRY(ritz_gpu_kernel_begin(ceed, kernel));
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_assembly_prepare(RitzAssembly assembly, bool *is_supported) {
  Pattern *pattern = assembly->data;
  RITZ_TRY(begin_programs(assembly->ceed));
  if (!pattern) RITZ_TRY(make_pattern(assembly, &pattern));
  assembly->data = pattern;
  *is_supported = pattern->is_supported;
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_assembly_run(RitzAssembly assembly, CeedScalar *values) {
  const Pattern *pattern = assembly->data;
  const int64_t num = ritz_assembly_num_nonzeros(assembly);
  RITZ_TRY(ritz_gpu_vector_set_value(assembly->ceed, CEED_SCALAR_TYPE, num, 0, values));
  for (CeedInt k = 0; k < assembly->num_blocks; k++) {
    const RitzAssemblyBlock *b = &assembly->blocks[k];
    CeedOperatorAssemblyData groups;
    CeedOperator computes;
    if (b->op->num_elem == 0) continue;
    RITZ_TRY(ritz_operator_stand_in(b->op, &computes));
    RITZ_TRY(CeedOperatorGetOperatorAssemblyData(computes, &groups));
    RITZ_TRY(ritz_gpu_operator_add_matrices(computes, b->a, b->b, &pattern->blocks[k], values));
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_assembly_destroy(RitzAssembly assembly) {
  Pattern *pattern = assembly->data;
  if (pattern) free_pattern(assembly->ceed, &pattern);
  assembly->data = NULL;
  return CEED_ERROR_SUCCESS;
}
