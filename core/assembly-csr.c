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

static int compare_numbers(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

// A growing list of column numbers.
typedef struct {
  int64_t *item; // owned
  int64_t num, capacity;
} Columns;

static int reserve_entries(Ceed ceed, Columns *columns, int64_t num_more) {
  int64_t needed = columns->num + num_more;
  if (needed <= columns->capacity) return CEED_ERROR_SUCCESS;
  int64_t capacity = needed > 2 * columns->capacity ? needed : 2 * columns->capacity;
  RITZ_TRY(RITZ_REALLOC(ceed, (size_t)capacity, &columns->item));
  columns->capacity = capacity;
  return CEED_ERROR_SUCCESS;
}

// Columns of row r, sorted, each once, at the end of the list.
static int append_row(Ceed ceed, const Blocks *blocks, const RowMap *map, CeedSize r, Columns *columns) {
  int64_t first = columns->num, kept = first;
  for (int64_t t = map->starts[r]; t < map->starts[r + 1]; t++) {
    CeedElemRestriction in = blocks->item[map->touched[t][0]].in;
    CeedInt size = in->elem_size * in->num_comp;
    RITZ_TRY(reserve_entries(ceed, columns, size));
    for (CeedInt j = 0; j < size; j++) {
      columns->item[columns->num++] =
          ritz_restriction_l_index(in, map->touched[t][1], j % in->elem_size, j / in->elem_size);
    }
  }
  if (columns->num == first) return CEED_ERROR_SUCCESS;
  qsort(columns->item + first, (size_t)(columns->num - first), sizeof(*columns->item), compare_numbers);
  for (int64_t k = first; k < columns->num; k++) {
    if (k == first || columns->item[k] != columns->item[k - 1]) columns->item[kept++] = columns->item[k];
  }
  columns->num = kept;
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
  RITZ_FREE(&map.starts);
  RITZ_FREE((void **)&map.touched);
  RITZ_FREE(&blocks.item);
  return ierr;
}

// ---- Values ----

// Place of a column in its row; -1: the row does not have it.
static int64_t find_column(const int64_t *cols, int64_t first, int64_t end, int64_t col) {
  while (first < end) {
    int64_t middle = first + (end - first) / 2;
    if (cols[middle] == col) return middle;
    if (cols[middle] < col)
      first = middle + 1;
    else
      end = middle;
  }
  return -1;
}

// One element matrix in the order of doc/ceed-api.md, Assembly: c_in, c_out, output node, input node.
static int add_element(const Block *block, CeedInt elem, const CeedScalar *matrix, const int64_t *row_starts,
                       const int64_t *cols, CeedScalar *values) {
  CeedElemRestriction in = block->in, out = block->out;
  for (CeedInt k = 0; k < in->num_comp * out->num_comp; k++) {
    CeedInt c_in = k / out->num_comp, c_out = k % out->num_comp;
    for (CeedInt i = 0; i < out->elem_size; i++) {
      CeedSize row = ritz_restriction_l_index(out, elem, i, c_out);
      for (CeedInt j = 0; j < in->elem_size; j++) {
        CeedSize col = ritz_restriction_l_index(in, elem, j, c_in);
        int64_t at = find_column(cols, row_starts[row], row_starts[row + 1], col);
        RITZ_REQUIRE(at >= 0, block->op->obj.ceed, CEED_ERROR_INCOMPATIBLE,
                     "RitzOperatorAssembleCSR: entry (%" CeedSize_FMT ", %" CeedSize_FMT
                     ") is not in the pattern",
                     row, col);
        values[at] += *matrix++;
      }
    }
  }
  return CEED_ERROR_SUCCESS;
}

enum { elements_at_once = 16 };

static int add_block(const Block *block, const int64_t *row_starts, const int64_t *cols, CeedScalar *values) {
  Ceed ceed = block->op->obj.ceed;
  CeedSize size =
      (CeedSize)block->in->elem_size * block->in->num_comp * block->out->elem_size * block->out->num_comp;
  CeedVector vec = NULL;
  CeedOperator computes;
  CeedOperatorAssemblyData groups;
  CeedScalar *array;
  const CeedScalar *matrices;
  RITZ_TRY(ritz_operator_stand_in(block->op, &computes));
  RITZ_TRY(CeedOperatorGetOperatorAssemblyData(computes, &groups));
  RITZ_TRY(CeedVectorCreate(ceed, size * elements_at_once, &vec));
  int ierr = CEED_ERROR_SUCCESS;
  for (CeedInt first = 0; !ierr && first < block->op->num_elem; first += elements_at_once) {
    CeedInt num = CeedIntMin(elements_at_once, block->op->num_elem - first);
    ierr = CeedVectorGetArrayWrite(vec, ceed->backend.mem_type, &array);
    if (ierr) break;
    ierr = ceed->backend.operator_assemble(computes, block->a, block->b, first, num, array);
    CeedVectorRestoreArray(vec, &array);
    if (!ierr) ierr = CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &matrices);
    if (ierr) break;
    for (CeedInt e = 0; !ierr && e < num; e++) {
      ierr = add_element(block, first + e, matrices + e * size, row_starts, cols, values);
    }
    CeedVectorRestoreArrayRead(vec, &matrices);
  }
  CeedVectorDestroy(&vec);
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
