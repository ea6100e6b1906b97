// SPDX-License-Identifier: BSD-2-Clause
// Assembly into compressed sparse rows: the pattern from the restrictions, the values from element matrices,
// a few elements at a time.
#include <inttypes.h>
#include <ritz/operator.h>
#include <stdlib.h>
#include <string.h>

#include "core/operator.h"

// One pair of groups of one operator: where element matrices go.
typedef struct {
  CeedOperator op;
  CeedInt a, b; // groups of the input and the output
  CeedElemRestriction in, out;
} Block;

typedef struct {
  Block *item; // owned
  CeedInt num;
  CeedSize num_rows, num_cols;
} Blocks;

static int add_blocks(CeedOperator op, Blocks *blocks) {
  const RitzActiveGroups *in = &op->assembly_data->in, *out = &op->assembly_data->out;
  CeedInt num_new = in->num * out->num;
  RITZ_TRY(RITZ_REALLOC(op->obj.ceed, (size_t)blocks->num + (size_t)num_new, &blocks->item));
  for (CeedInt k = 0; k < num_new; k++) {
    CeedInt a = k / out->num, b = k % out->num;
    blocks->item[blocks->num++] = (Block){op, a, b, in->rstrs[a], out->rstrs[b]};
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

// Which elements touch a row: pairs (block, element) in touched[starts[r]] ... touched[starts[r+1] - 1].
typedef struct {
  int64_t *starts;       // owned
  CeedInt (*touched)[2]; // owned
} RowMap;

// Visits all output entries of all elements; counts them, or stores who they belong to.
static void visit_rows(const Blocks *blocks, int64_t *next, CeedInt (*touched)[2]) {
  for (CeedInt k = 0; k < blocks->num; k++) {
    CeedElemRestriction r = blocks->item[k].out;
    for (CeedInt elem = 0; elem < r->num_elem; elem++) {
      for (CeedInt i = 0; i < r->elem_size * r->num_comp; i++) {
        int64_t at = next[ritz_restriction_l_index(r, elem, i % r->elem_size, i / r->elem_size)]++;
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

// Of ascending numbers, each once; returns how many.
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
    CeedElemRestriction in = blocks->item[map->touched[t][0]].in;
    CeedInt size = in->elem_size * in->num_comp;
    RITZ_TRY(reserve_entries(ceed, columns, size));
    for (CeedInt j = 0; j < size; j++) {
      const int64_t col =
          ritz_restriction_l_index(in, map->touched[t][1], j % in->elem_size, j / in->elem_size);
      if (columns->last_row) {
        if (columns->last_row[col] == r + 1) continue;
        columns->last_row[col] = r + 1;
      }
      columns->item[columns->num++] = col;
    }
  }
  sort_numbers(columns->num - first, columns->item + first);
  if (!columns->last_row) columns->num = first + drop_repeated(columns->num - first, columns->item + first);
  return CEED_ERROR_SUCCESS;
}

int RitzOperatorAssembleCSRSymbolic(CeedOperator op, CeedSize *num_rows, CeedSize *num_cols,
                                    int64_t **row_starts, int64_t **cols) {
  RITZ_HANDLE(op);
  Ceed ceed = op->obj.ceed;
  Blocks blocks;
  RowMap map = {0};
  Columns columns = {0};
  int64_t *starts = NULL;
  int ierr;
  RITZ_TRY(list_blocks(op, &blocks));
  RITZ_TRY_CLEANUP(map_rows(ceed, &blocks, &map));
  // L-vectors may have far more entries than elements touch.
  if (blocks.num_cols <= map.starts[blocks.num_rows + 1])
    RITZ_TRY_CLEANUP(RITZ_CALLOC(ceed, (size_t)blocks.num_cols, &columns.last_row));
  RITZ_TRY_CLEANUP(RITZ_CALLOC(ceed, (size_t)blocks.num_rows + 1, &starts));
  for (CeedSize r = 0; r < blocks.num_rows; r++) {
    RITZ_TRY_CLEANUP(append_row(ceed, &blocks, &map, r, &columns));
    starts[r + 1] = columns.num;
  }
  ritz_memory_give(starts);
  ritz_memory_give(columns.item);
  *num_rows = blocks.num_rows;
  *num_cols = blocks.num_cols;
  *row_starts = starts;
  *cols = columns.item;
  starts = columns.item = NULL;
cleanup:
  RITZ_FREE(&starts);
  RITZ_FREE(&columns.item);
  RITZ_FREE(&columns.last_row);
  RITZ_FREE(&map.starts);
  RITZ_FREE((void **)&map.touched);
  RITZ_FREE(&blocks.item);
  return ierr;
}

// ---- Values ----

// Columns of element matrices: entry (r, k) of an element is at matrix[r * row_stride + offsets[k]]. Rows are
// counted c * nodes + node, columns as well, `first` being the number of the first one here.
typedef struct {
  const Block *block;
  const int64_t *row_starts, *cols;
  CeedScalar *values;
  CeedInt first, num, num_rows;
  CeedSize row_stride;
  CeedSize *offsets; // owned, [num]
  int64_t *places;   // owned, [num]: of the columns of the current element in L-vectors, ascending
  CeedInt *order;    // owned, [num]: the columns they belong to
  bool is_by_choice; // element by element, though kernels could do it
} Scatter;

static void free_scatter(Scatter *s) {
  RITZ_FREE(&s->offsets);
  RITZ_FREE(&s->places);
  RITZ_FREE(&s->order);
}

static int open_scatter(Scatter *s) {
  Ceed ceed = s->block->op->obj.ceed;
  s->num_rows = s->block->out->elem_size * s->block->out->num_comp;
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)s->num, &s->offsets));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)s->num, &s->places));
  return RITZ_MALLOC(ceed, (size_t)s->num, &s->order);
}

static void sort_columns(Scatter *s, CeedInt elem) {
  CeedElemRestriction in = s->block->in;
  for (CeedInt k = 0; k < s->num; k++) {
    const CeedInt c = (s->first + k) / in->elem_size, node = (s->first + k) % in->elem_size;
    const int64_t place = ritz_restriction_l_index(in, elem, node, c);
    CeedInt at = k;
    for (; at > 0 && s->places[at - 1] > place; at--) {
      s->places[at] = s->places[at - 1];
      s->order[at] = s->order[at - 1];
    }
    s->places[at] = place;
    s->order[at] = k;
  }
}

// Columns ascend in the row and in `places`: one walk along the row.
static int add_row(const Scatter *s, int64_t row, const CeedScalar *matrix) {
  int64_t at = s->row_starts[row];
  const int64_t end = s->row_starts[row + 1];
  for (CeedInt k = 0; k < s->num; k++) {
    while (at < end && s->cols[at] < s->places[k]) at++;
    RITZ_REQUIRE(at < end && s->cols[at] == s->places[k], s->block->op->obj.ceed, CEED_ERROR_INCOMPATIBLE,
                 "RitzOperatorAssembleCSR: entry (%" PRId64 ", %" PRId64 ") is not in the pattern", row,
                 s->places[k]);
    s->values[at] += matrix[s->offsets[s->order[k]]];
  }
  return CEED_ERROR_SUCCESS;
}

static int add_element(Scatter *s, CeedInt elem, const CeedScalar *matrix) {
  CeedElemRestriction out = s->block->out;
  sort_columns(s, elem);
  for (CeedInt r = 0; r < s->num_rows; r++) {
    const CeedSize row = ritz_restriction_l_index(out, elem, r % out->elem_size, r / out->elem_size);
    RITZ_TRY(add_row(s, row, matrix + r * s->row_stride));
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Element by element ----

static CeedSize matrix_size(const Block *block) {
  return (CeedSize)block->in->elem_size * block->in->num_comp * block->out->elem_size * block->out->num_comp;
}

// Matrices of the elements first .. first + num - 1. Where the host is chosen for few elements, not for want
// of kernels, the fallback works on the host's memory, without the backend's warning.
static int assemble_some(const Scatter *s, CeedOperator computes, CeedInt first, CeedInt num,
                         CeedVector vec) {
  const RitzBackend *own = &s->block->op->obj.ceed->backend,
                    *backend = s->is_by_choice && own->fallback ? own->fallback : own;
  CeedScalar *array;
  RITZ_TRY(CeedVectorGetArrayWrite(vec, backend == own ? own->mem_type : CEED_MEM_HOST, &array));
  return ritz_vector_end_write(
      vec, &array, backend->operator_assemble(computes, s->block->a, s->block->b, first, num, array));
}

static int add_some(Scatter *s, CeedInt first, CeedInt num, CeedVector vec) {
  const CeedSize size = matrix_size(s->block);
  const CeedScalar *matrices;
  int ierr = CEED_ERROR_SUCCESS;
  RITZ_TRY(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &matrices));
  for (CeedInt e = 0; !ierr && e < num; e++) ierr = add_element(s, first + e, matrices + e * size);
  return ritz_first_error(ierr, CeedVectorRestoreArrayRead(vec, &matrices));
}

// The order of doc/ceed-api.md, Assembly: c_in, c_out, output node, input node.
static void set_offsets(Scatter *s) {
  const CeedInt P = s->block->in->elem_size;
  const CeedSize size_of_input_component = (CeedSize)s->num_rows * P;
  s->row_stride = P;
  for (CeedInt k = 0; k < s->num; k++) s->offsets[k] = k / P * size_of_input_component + k % P;
}

// Elements whose matrices are kept at once: half a megabyte.
static CeedInt elements_at_once(const Block *block) {
  const CeedSize num = 65536 / matrix_size(block);
  return num < 1 ? 1 : (CeedInt)(num < block->op->num_elem ? num : block->op->num_elem);
}

static int add_by_elements(Scatter *s, CeedOperator computes) {
  const Block *block = s->block;
  const CeedInt num_at_once = elements_at_once(block);
  CeedVector vec = NULL;
  s->num = block->in->elem_size * block->in->num_comp;
  RITZ_TRY(open_scatter(s));
  set_offsets(s);
  RITZ_TRY(CeedVectorCreate(block->op->obj.ceed, matrix_size(block) * num_at_once, &vec));
  int ierr = CEED_ERROR_SUCCESS;
  for (CeedInt first = 0; !ierr && first < block->op->num_elem; first += num_at_once) {
    const CeedInt num = CeedIntMin(num_at_once, block->op->num_elem - first);
    ierr = assemble_some(s, computes, first, num, vec);
    if (!ierr) ierr = add_some(s, first, num, vec);
  }
  return ritz_first_error(ierr, CeedVectorDestroy(&vec));
}

// ---- Column by column ----

// Columns that are kept at once: so many, of so many scalars.
enum { MAX_COLUMNS = 16, MAX_SCALARS = 1 << 25 };

static CeedInt columns_at_once(CeedInt num, CeedSize length) {
  const CeedSize fit = MAX_SCALARS / length, most = fit < 1 ? 1 : fit > MAX_COLUMNS ? MAX_COLUMNS : fit;
  return num < most ? num : (CeedInt)most;
}

static int keep_columns(Scatter *s, RitzColumns *c, CeedSize length, CeedScalar *kept) {
  for (CeedInt k = 0; k < s->num; k++) {
    const CeedScalar *values;
    RITZ_TRY(ritz_columns_next(c, &values));
    memcpy(kept + k * length, values, (size_t)length * sizeof(*values));
    RITZ_TRY(ritz_columns_done(c, &values));
    s->offsets[k] = k * length;
  }
  return CEED_ERROR_SUCCESS;
}

static int add_columns(Scatter *s, RitzColumns *c, CeedSize length, CeedScalar *kept) {
  const CeedInt num_at_once = s->num;
  for (s->first = 0; s->first < c->num; s->first += num_at_once) {
    s->num = CeedIntMin(num_at_once, c->num - s->first);
    RITZ_TRY(keep_columns(s, c, length, kept));
    for (CeedInt e = 0; e < s->block->op->num_elem; e++)
      RITZ_TRY(add_element(s, e, kept + (CeedSize)e * s->num_rows));
  }
  return CEED_ERROR_SUCCESS;
}

static int add_by_columns(Scatter *s, CeedOperator computes) {
  const Block *block = s->block;
  const CeedSize length = (CeedSize)block->op->num_elem * block->out->elem_size * block->out->num_comp;
  CeedScalar *kept = NULL;
  RitzColumns c;
  RITZ_TRY(ritz_columns_open(computes, &c));
  s->num = columns_at_once(c.num, length);
  s->row_stride = 1;
  int ierr = open_scatter(s);
  if (!ierr) ierr = RITZ_MALLOC(block->op->obj.ceed, (size_t)(s->num * length), &kept);
  if (!ierr) ierr = add_columns(s, &c, length, kept);
  RITZ_FREE(&kept);
  ritz_columns_close(&c);
  return ierr;
}

static int add_block(const Block *block, const int64_t *row_starts, const int64_t *cols, CeedScalar *values) {
  Scatter s = {.block = block, .row_starts = row_starts, .cols = cols, .values = values};
  CeedOperator computes;
  CeedOperatorAssemblyData groups;
  RITZ_TRY(ritz_operator_stand_in(block->op, &computes));
  RITZ_TRY(CeedOperatorGetOperatorAssemblyData(computes, &groups));
  const bool by_columns = ritz_columns_serve(computes, &s.is_by_choice);
  const int ierr = by_columns ? add_by_columns(&s, computes) : add_by_elements(&s, computes);
  free_scatter(&s);
  return ierr;
}

// Into a vector of another precision: through one in CeedScalar.
static int assemble_converted(CeedOperator op, const int64_t *row_starts, const int64_t *cols,
                              CeedVector values) {
  CeedVector scalars = NULL;
  RITZ_TRY(CeedVectorCreate(op->obj.ceed, values->length, &scalars));
  int ierr = RitzOperatorAssembleCSR(op, row_starts, cols, scalars);
  if (!ierr) ierr = ritz_vector_convert("RitzOperatorAssembleCSR", values->length, scalars, values);
  (void)CeedVectorDestroy(&scalars);
  return ierr;
}

int RitzOperatorAssembleCSR(CeedOperator op, const int64_t *row_starts, const int64_t *cols,
                            CeedVector values) {
  RITZ_HANDLE(op);
  RITZ_ARGUMENT(op->obj.ceed, row_starts);
  RITZ_ARGUMENT(op->obj.ceed, values);
  if (values->precision != CEED_SCALAR_TYPE) return assemble_converted(op, row_starts, cols, values);
  Blocks blocks;
  CeedScalar *array = NULL;
  int ierr;
  RITZ_TRY(list_blocks(op, &blocks));
  int64_t num = row_starts[blocks.num_rows];
  if (!cols && num > 0) {
    ierr = CeedError(op->obj.ceed, CEED_ERROR_INCOMPATIBLE,
                     "%s: argument 'cols' is NULL for %" PRId64 " entries", __func__, num);
    goto cleanup;
  }
  if (values->length < num) {
    ierr = CeedError(op->obj.ceed, CEED_ERROR_DIMENSION,
                     "%s: the vector has %" CeedSize_FMT " entries, needed %" PRId64, __func__,
                     values->length, num);
    goto cleanup;
  }
  for (CeedInt k = 0; k < blocks.num; k++)
    RITZ_TRY_CLEANUP(ritz_operator_update_reused(blocks.item[k].op, __func__));
  RITZ_TRY_CLEANUP(CeedVectorGetArrayWrite(values, CEED_MEM_HOST, &array));
  if (num > 0) memset(array, 0, (size_t)num * sizeof(*array));
  for (CeedInt k = 0; !ierr && k < blocks.num; k++)
    ierr = add_block(&blocks.item[k], row_starts, cols, array);
  ierr = ritz_vector_end_write(values, &array, ierr);
cleanup:
  RITZ_FREE(&blocks.item);
  return ierr;
}
