// SPDX-License-Identifier: BSD-2-Clause
// Tables of generated kernels and their names: RITZ_TEXT_INTERP of basis 0 is ritz_interp0 in the text.
// Included by emit/cpu-text.h and emit/gpu-text.h.
#ifndef RITZ_EMIT_TABLES_H
#define RITZ_EMIT_TABLES_H

typedef enum {
  RITZ_TEXT_NONE,             // ends a list
  RITZ_TEXT_INTERP,           // matrix: values at the points from nodes
  RITZ_TEXT_GRAD,             // matrix: derivatives at the points from nodes
  RITZ_TEXT_COLLOCATED,       // matrix: derivatives at the points from values there
  RITZ_TEXT_WEIGHTS,          // of quadrature
  RITZ_TEXT_NODE_PAIRS,       // of an even-odd basis: indices of its nodes,
  RITZ_TEXT_VALUE_PAIRS,      // of values at the points,
  RITZ_TEXT_DERIVATIVE_PAIRS, // of derivatives at the points
} RitzTextTable;

// A list of tables.
#define RITZ_TEXT_TABLES(...) ((const RitzTextTable[]){__VA_ARGS__, RITZ_TEXT_NONE})

// Word between "ritz_" and the number of the basis.
static inline const char *ritz_text_table_name(RitzTextTable table) {
  static const char *const names[] = {"none",    "interp",     "grad",        "collocated",
                                      "weights", "node_pairs", "value_pairs", "derivative_pairs"};
  return names[table];
}

static inline int ritz_num_text_tables(const RitzTextTable *tables) {
  int num = 0;
  while (tables[num]) num++;
  return num;
}

#endif
