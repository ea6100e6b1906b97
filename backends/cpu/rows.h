// SPDX-License-Identifier: BSD-2-Clause
// Row index of a restriction: where the nodes of an element come in rows of P consecutive entries, one offset
// a row is enough, and rows are loaded as wholes. Kept with the restriction, shared by all operators on it.
#ifndef RITZ_BACKENDS_CPU_ROWS_H
#define RITZ_BACKENDS_CPU_ROWS_H

#include "core/core.h"

// Bytes stored per element: 4 * elem_size / row_length (+ 1/lanes).
typedef struct RitzRows {
  CeedInt row_length, lanes;
  bool has_rows;     // false: rows are not consecutive; the pointers are NULL
  int32_t *offsets;  // [batch][row][lane]; lanes beyond the last element repeat it
  uint8_t *is_chain; // [batch]: all lanes hold elements, and in every row lane l+1 starts where lane l ends
  struct RitzRows *next; // of the same restriction, for another row length
} RitzRows;

// Rows of row_length nodes, the first of elem_size / row_length rows being nodes 0 .. row_length - 1, are
// consecutive when offsets[first + i] == offsets[first] + i*step, where step is num_comp if the components
// lie between the nodes (comp_stride == 1 and num_comp > 1), else 1. A chain: offset of lane l+1 == offset of
// lane l + (row_length - 1)*step. Standard (unoriented) and oriented restrictions with offsets only. The
// result belongs to the restriction (list in rstr->data) and goes with it (ritz_rows_destroy).
int ritz_rows_get(CeedElemRestriction rstr, CeedInt row_length, CeedInt lanes, const RitzRows **rows);
int ritz_rows_destroy(CeedElemRestriction rstr);

#endif
