// SPDX-License-Identifier: BSD-2-Clause
// Matrices in a fixed pattern (ritz/assembly.h, contract in core/assembly-pattern.h): the pattern from the
// restrictions, places of entries of element matrices in it. Called by programs and, for
// RitzOperatorAssembleCSR, by core/assembly-values.c.
#include "core/assembly-pattern.h"

#include <inttypes.h>
#include <ritz/operator.h>
#include <stdlib.h>

#include "base/ranges.h"
#include "core/operator.h"

const RitzClass ritz_assembly_class = {.name = "RitzAssembly"};

// ---- Blocks ----

typedef struct {
  RitzAssemblyBlock *item; // owned
  CeedInt num;
  CeedSize num_rows, num_cols;
} Blocks;

static int add_blocks(CeedOperator op, Blocks *blocks) {
  const RitzActiveGroups *in = &op->assembly_data->in, *out = &op->assembly_data->out;
  CeedInt num_new = in->num * out->num;
  RITZ_TRY(RITZ_REALLOC(op->obj.ceed, (size_t)blocks->num + (size_t)num_new, &blocks->item));
  for (CeedInt k = 0; k < num_new; k++) {
    const CeedInt a = k / out->num, b = k % out->num;
    const CeedElemRestriction from = in->rstrs[a], to = out->rstrs[b];
    blocks->item[blocks->num++] = (RitzAssemblyBlock){.op = op,
                                                      .a = a,
                                                      .b = b,
                                                      .in = from,
                                                      .out = to,
                                                      .num_rows = to->elem_size * to->num_comp,
                                                      .num_cols = from->elem_size * from->num_comp};
  }
  return CEED_ERROR_SUCCESS;
}

// All blocks of an operator or of the parts of a composite. The count checks them and makes their groups.
static int list_blocks(CeedOperator op, Blocks *blocks) {
  CeedSize num;
  *blocks = (Blocks){0};
  RITZ_TRY(CeedOperatorLinearAssembleGetNumEntries(op, &num));
  RITZ_TRY(CeedOperatorGetActiveVectorLengths(op, &blocks->num_cols, &blocks->num_rows));
  int ierr = op->is_composite ? CEED_ERROR_SUCCESS : add_blocks(op, blocks);
  for (CeedInt i = 0; !ierr && i < op->num_sub; i++) ierr = add_blocks(op->sub[i], blocks);
  if (ierr) RITZ_FREE(&blocks->item);
  return ierr;
}

// ---- Pattern ----

// Elements that touch a row: pairs (block, element) in touched[starts[r]] ... touched[starts[r+1] - 1].
typedef struct {
  int64_t *starts;       // owned
  CeedInt (*touched)[2]; // owned
} RowMap;

// Visits all output entries of all elements; counts them, or stores who they belong to.
static void visit_rows(const Blocks *blocks, int64_t *next, CeedInt (*touched)[2]) {
  for (CeedInt k = 0; k < blocks->num; k++) {
    const RitzAssemblyBlock *block = &blocks->item[k];
    for (CeedInt elem = 0; elem < block->out->num_elem; elem++) {
      for (CeedInt i = 0; i < block->num_rows; i++) {
        const int64_t at = next[ritz_assembly_row(block, elem, i)]++;
        if (!touched) continue;
        touched[at][0] = k;
        touched[at][1] = elem;
      }
    }
  }
}

static int map_rows(Ceed ceed, const Blocks *blocks, RowMap *map) {
  CeedSize n = blocks->num_rows;
  *map = (RowMap){0};
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)n + 2, &map->starts));
  // Counts of row r are kept two places up, so that after the sums starts[r+1] is where row r begins, and
  // after storing where it ends.
  visit_rows(blocks, map->starts + 2, NULL);
  for (CeedSize r = 2; r <= n + 1; r++) map->starts[r] += map->starts[r - 1];
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)map->starts[n + 1], &map->touched));
  visit_rows(blocks, map->starts + 1, map->touched);
  return CEED_ERROR_SUCCESS;
}

// A growing list of column numbers.
typedef struct {
  int64_t *item; // owned
  int64_t num, capacity;
  int64_t *last_row; // owned, [num_cols]: the last row that has the column, plus one; NULL: not known
} Columns;

static int reserve_entries(Ceed ceed, Columns *columns, int64_t num_more) {
  int64_t needed = columns->num + num_more;
  if (needed <= columns->capacity) return CEED_ERROR_SUCCESS;
  int64_t capacity = needed > 2 * columns->capacity ? needed : 2 * columns->capacity;
  RITZ_TRY(RITZ_REALLOC(ceed, (size_t)capacity, &columns->item));
  columns->capacity = capacity;
  return CEED_ERROR_SUCCESS;
}

static int compare_numbers(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

// Rows of some ten columns, which come as a few ascending runs, are sorted in place.
static void sort_numbers(int64_t num, int64_t *item) {
  if (num > 128) {
    qsort(item, (size_t)num, sizeof(*item), compare_numbers);
    return;
  }
  for (int64_t k = 1; k < num; k++) {
    const int64_t number = item[k];
    int64_t at = k;
    for (; at > 0 && item[at - 1] > number; at--) item[at] = item[at - 1];
    item[at] = number;
  }
}

// Keeps each of num ascending numbers once; returns how many are left.
static int64_t drop_repeated(int64_t num, int64_t *item) {
  int64_t kept = 0;
  for (int64_t k = 0; k < num; k++)
    if (k == 0 || item[k] != item[k - 1]) item[kept++] = item[k];
  return kept;
}

// Columns of row r, sorted, each once, at the end of the list.
static int append_row(Ceed ceed, const Blocks *blocks, const RowMap *map, CeedSize r, Columns *columns) {
  const int64_t first = columns->num;
  for (int64_t t = map->starts[r]; t < map->starts[r + 1]; t++) {
    const RitzAssemblyBlock *block = &blocks->item[map->touched[t][0]];
    RITZ_TRY(reserve_entries(ceed, columns, block->num_cols));
    for (CeedInt j = 0; j < block->num_cols; j++) {
      const int64_t col = ritz_assembly_col(block, map->touched[t][1], j);
      if (columns->last_row) {
        if (columns->last_row[col] == r + 1) continue;
        columns->last_row[col] = r + 1;
      }
      columns->item[columns->num++] = col;
    }
  }
  if (columns->num == first) return CEED_ERROR_SUCCESS;
  sort_numbers(columns->num - first, columns->item + first);
  if (!columns->last_row) columns->num = first + drop_repeated(columns->num - first, columns->item + first);
  return CEED_ERROR_SUCCESS;
}

static int find_pattern(Ceed ceed, const Blocks *blocks, int64_t **row_starts, int64_t **cols) {
  RowMap map = {0};
  Columns columns = {0};
  int64_t *starts = NULL;
  int ierr;
  RITZ_TRY_CLEANUP(map_rows(ceed, blocks, &map));
  // L-vectors may have far more entries than elements touch.
  if (blocks->num_cols <= map.starts[blocks->num_rows + 1])
    RITZ_TRY_CLEANUP(RITZ_CALLOC(ceed, (size_t)blocks->num_cols, &columns.last_row));
  RITZ_TRY_CLEANUP(RITZ_CALLOC(ceed, (size_t)blocks->num_rows + 1, &starts));
  for (CeedSize r = 0; r < blocks->num_rows; r++) {
    RITZ_TRY_CLEANUP(append_row(ceed, blocks, &map, r, &columns));
    starts[r + 1] = columns.num;
  }
  *row_starts = starts;
  *cols = columns.item;
  starts = columns.item = NULL;
cleanup:
  RITZ_FREE(&starts);
  RITZ_FREE(&columns.item);
  RITZ_FREE(&columns.last_row);
  RITZ_FREE(&map.starts);
  RITZ_FREE((void **)&map.touched);
  return ierr;
}

int RitzOperatorAssembleCSRSymbolic(CeedOperator op, CeedSize *num_rows, CeedSize *num_cols,
                                    int64_t **row_starts, int64_t **cols) {
  RITZ_HANDLE(op);
  RITZ_ARGUMENT(op->obj.ceed, num_rows);
  RITZ_ARGUMENT(op->obj.ceed, num_cols);
  RITZ_ARGUMENT(op->obj.ceed, row_starts);
  RITZ_ARGUMENT(op->obj.ceed, cols);
  Blocks blocks;
  RITZ_TRY(list_blocks(op, &blocks));
  const int ierr = find_pattern(op->obj.ceed, &blocks, row_starts, cols);
  RITZ_FREE(&blocks.item);
  if (ierr) return ierr;
  ritz_memory_give(*row_starts);
  ritz_memory_give(*cols);
  *num_rows = blocks.num_rows;
  *num_cols = blocks.num_cols;
  return CEED_ERROR_SUCCESS;
}

// ---- Places ----

typedef struct {
  const struct RitzAssembly_private *assembly;
  const RitzAssemblyBlock *block;
  int64_t *cols;         // owned, [slots][num_cols]: of the current element, ascending
  CeedInt *order;        // owned, [slots][num_cols]: the columns they belong to
  int64_t (*missing)[2]; // owned, [slots]: an entry that is not in the pattern; -1: none so far
} Placing;

static void sort_columns(const RitzAssemblyBlock *block, CeedInt elem, int64_t *cols, CeedInt *order) {
  for (CeedInt j = 0; j < block->num_cols; j++) {
    const int64_t col = ritz_assembly_col(block, elem, j);
    CeedInt at = j;
    for (; at > 0 && cols[at - 1] > col; at--) {
      cols[at] = cols[at - 1];
      order[at] = order[at - 1];
    }
    cols[at] = col;
    order[at] = j;
  }
}

static void put_place(const RitzAssemblyBlock *block, int bytes, int64_t entry, int64_t place) {
  if (bytes == 1) ((uint8_t *)block->places)[entry] = (uint8_t)place;
  if (bytes == 2) ((uint16_t *)block->places)[entry] = (uint16_t)place;
  if (bytes == 4) ((uint32_t *)block->places)[entry] = (uint32_t)place;
}

// Columns ascend in the row and in `cols`: one walk along the row. Returns the first column that is not
// there, or -1.
static int64_t place_row(const Placing *p, int64_t row, const int64_t *cols, const CeedInt *order,
                         int64_t first_entry) {
  const struct RitzAssembly_private *a = p->assembly;
  const int64_t begin = a->row_starts[row], end = a->row_starts[row + 1];
  int64_t at = begin;
  for (CeedInt j = 0; j < p->block->num_cols; j++) {
    while (at < end && a->cols[at] < cols[j]) at++;
    if (at >= end || a->cols[at] != cols[j]) return cols[j];
    put_place(p->block, a->place_bytes, first_entry + order[j], at - begin);
  }
  return -1;
}

static void place_elements(void *data, int slot, int64_t first, int64_t count) {
  const Placing *p = data;
  const RitzAssemblyBlock *block = p->block;
  int64_t *cols = p->cols + (int64_t)slot * block->num_cols, *missing = p->missing[slot];
  CeedInt *order = p->order + (int64_t)slot * block->num_cols;
  for (int64_t elem = first; elem < first + count && missing[0] < 0; elem++) {
    sort_columns(block, (CeedInt)elem, cols, order);
    for (CeedInt i = 0; i < block->num_rows && missing[0] < 0; i++) {
      const int64_t row = ritz_assembly_row(block, (CeedInt)elem, i);
      const int64_t col = place_row(p, row, cols, order, (elem * block->num_rows + i) * block->num_cols);
      if (col < 0) continue;
      missing[0] = row;
      missing[1] = col;
    }
  }
}

static int place_block(struct RitzAssembly_private *a, RitzAssemblyBlock *block) {
  const size_t num = (size_t)block->num_rows * (size_t)block->num_cols * (size_t)block->op->num_elem;
  Placing p = {.assembly = a, .block = block};
  int num_slots, ierr;
  RITZ_TRY(ritz_run_ranges_slots(a->ceed, &num_slots));
  RITZ_TRY(ritz_malloc(a->ceed, num, (size_t)a->place_bytes, &block->places));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(a->ceed, (size_t)num_slots * (size_t)block->num_cols, &p.cols));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(a->ceed, (size_t)num_slots * (size_t)block->num_cols, &p.order));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(a->ceed, (size_t)num_slots, &p.missing));
  for (int slot = 0; slot < num_slots; slot++) p.missing[slot][0] = -1;
  RITZ_TRY_CLEANUP(ritz_run_elements(a->ceed, block->op->num_elem, place_elements, &p));
  for (int slot = 0; slot < num_slots && !ierr; slot++) {
    if (p.missing[slot][0] < 0) continue;
    ierr = CeedError(a->ceed, CEED_ERROR_INCOMPATIBLE,
                     "%s: entry (%" PRId64 ", %" PRId64 ") is not in the pattern", a->call,
                     p.missing[slot][0], p.missing[slot][1]);
  }
cleanup:
  RITZ_FREE(&p.cols);
  RITZ_FREE(&p.order);
  RITZ_FREE((void **)&p.missing);
  return ierr;
}

static int bytes_of_places(const struct RitzAssembly_private *a) {
  int64_t longest = 0;
  for (CeedSize r = 0; r < a->num_rows; r++) {
    const int64_t length = a->row_starts[r + 1] - a->row_starts[r];
    if (length > longest) longest = length;
  }
  return longest <= 256 ? 1 : longest <= 65536 ? 2 : 4;
}

int ritz_assembly_place(RitzAssembly a) {
  a->place_bytes = bytes_of_places(a);
  for (CeedInt k = 0; k < a->num_blocks; k++) RITZ_TRY(place_block(a, &a->blocks[k]));
  return CEED_ERROR_SUCCESS;
}

// ---- Life ----

// With its blocks, without a pattern.
static int begin_assembly(CeedOperator op, const char *call, struct RitzAssembly_private **assembly) {
  struct RitzAssembly_private *a = NULL;
  Blocks blocks;
  RITZ_TRY(list_blocks(op, &blocks));
  int ierr = RITZ_CALLOC(op->obj.ceed, 1, &a);
  if (ierr) {
    RITZ_FREE(&blocks.item);
    return ierr;
  }
  *a = (struct RitzAssembly_private){.class = &ritz_assembly_class,
                                     .call = call,
                                     .num_rows = blocks.num_rows,
                                     .num_cols = blocks.num_cols,
                                     .num_blocks = blocks.num,
                                     .blocks = blocks.item};
  ierr = CeedReferenceCopy(op->obj.ceed, &a->ceed);
  if (!ierr) ierr = CeedOperatorReferenceCopy(op, &a->op);
  if (ierr) (void)RitzAssemblyDestroy(&a);
  *assembly = a;
  return ierr;
}

static int require_pattern(const struct RitzAssembly_private *a) {
  const int64_t num = ritz_assembly_num_nonzeros(a);
  for (CeedSize r = 0; r < a->num_rows; r++)
    RITZ_REQUIRE(a->row_starts[r] >= 0 && a->row_starts[r] <= a->row_starts[r + 1], a->ceed,
                 CEED_ERROR_INCOMPATIBLE,
                 "%s: row %" CeedSize_FMT " begins at %" PRId64 " and ends at %" PRId64
                 ", needed ascending row starts from 0 on",
                 a->call, r, a->row_starts[r], a->row_starts[r + 1]);
  RITZ_REQUIRE(a->cols || num == 0, a->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: argument 'cols' is NULL for %" PRId64 " entries", a->call, num);
  return CEED_ERROR_SUCCESS;
}

int ritz_assembly_create_in(CeedOperator op, const char *call, const int64_t *row_starts, const int64_t *cols,
                            RitzAssembly *assembly) {
  RitzAssembly a = NULL;
  RITZ_TRY(begin_assembly(op, call, &a));
  a->is_given = true;
  a->row_starts = row_starts;
  a->cols = cols;
  const int ierr = require_pattern(a);
  if (ierr) (void)RitzAssemblyDestroy(&a);
  *assembly = a;
  return ierr;
}

int RitzAssemblyCreate(CeedOperator op, RitzAssembly *assembly) {
  RITZ_HANDLE(op);
  RITZ_ARGUMENT(op->obj.ceed, assembly);
  RitzAssembly a = NULL;
  int64_t *row_starts = NULL, *cols = NULL;
  RITZ_TRY(begin_assembly(op, "RitzAssemblyRun", &a));
  const Blocks blocks = {a->blocks, a->num_blocks, a->num_rows, a->num_cols};
  int ierr = find_pattern(a->ceed, &blocks, &row_starts, &cols);
  a->row_starts = row_starts;
  a->cols = cols;
  if (!ierr) ierr = ritz_assembly_place(a);
  if (ierr) (void)RitzAssemblyDestroy(&a);
  if (!ierr) *assembly = a;
  return ierr;
}

int RitzAssemblyDestroy(RitzAssembly *assembly) {
  int ierr = CEED_ERROR_SUCCESS;

  if (!assembly || !*assembly) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_check_handle(NULL, __func__, "assembly", *assembly, &ritz_assembly_class));
  RitzAssembly a = *assembly;
  *assembly = NULL;
  if (a->data) ierr = a->ceed->backend.assembly_destroy(a);
  for (CeedInt k = 0; k < a->num_blocks; k++) RITZ_FREE(&a->blocks[k].places);
  RITZ_FREE(&a->blocks);
  if (!a->is_given) {
    int64_t *row_starts = (int64_t *)a->row_starts, *cols = (int64_t *)a->cols;
    RITZ_FREE(&row_starts);
    RITZ_FREE(&cols);
  }
  ierr = ritz_first_error(ierr, CeedOperatorDestroy(&a->op));
  ierr = ritz_first_error(ierr, CeedDestroy(&a->ceed));
  RITZ_FREE(&a);
  return ierr;
}

int RitzAssemblyGetPattern(RitzAssembly assembly, CeedSize *num_rows, CeedSize *num_cols,
                           const int64_t **row_starts, const int64_t **cols) {
  RITZ_HANDLE(assembly);
  if (num_rows) *num_rows = assembly->num_rows;
  if (num_cols) *num_cols = assembly->num_cols;
  if (row_starts) *row_starts = assembly->row_starts;
  if (cols) *cols = assembly->cols;
  return CEED_ERROR_SUCCESS;
}
