// SPDX-License-Identifier: BSD-2-Clause
// Rows of `ritz bench --batched` as a table and as JSON.
#include <math.h>

#include "bench/batched.h"
#include "bp/report.h"

static const char *place_name(const BatchedRow *row) { return row->of.in_cache ? "cache" : "memory"; }

static double ratio_of(const BatchedRow *row) {
  return row->seconds > 0 ? row->seconds_peer / row->seconds : 0;
}

// ---- One row ----

static void describe_case(Row *row, const BatchedCase *c, const char *place) {
  row_text(row, "routine", "routine", "%-8s", c->routine->name);
  row_number(row, "n", "n", "%4.0f", 1, c->n);
  row_number(row, "columns", NULL, NULL, 1, c->columns);
  row_text(row, "precision", "real", "%4s", batched_precision_name(c));
  row_text(row, "layout", "layout", "%-11s", batched_form_name(c->form));
  row_text(row, "place", "place", "%-6s", place);
  row_number(row, "matrices", "matrices", "%9.0f", 1, (double)c->count);
}

static void describe_times(Row *row, const BatchedRow *r, const char *peer) {
  row_number(row, "rounds", NULL, NULL, 1, r->rounds);
  row_number(row, "seconds", "ms", "%11.4f", 1e-3, row_positive(r->seconds));
  row_number(row, NULL, "ns/matrix", "%12.2f", 1e-9, r->seconds / (double)r->of.count);
  row_number(row, "flops", NULL, NULL, 1, r->flops);
  row_number(row, NULL, "GFLOP/s", "%9.2f", 1e9, r->flops / r->seconds);
  row_number(row, "bytes", NULL, NULL, 1, r->bytes);
  row_number(row, NULL, "GB/s", "%8.1f", 1e9, r->bytes / r->seconds);
  row_number(row, "seconds_bound", NULL, NULL, 1, row_positive(r->seconds_bound));
  row_number(row, NULL, "roof, %", "%7.1f", 0.01, row_positive(r->seconds_bound / r->seconds));
  row_text(row, "bound_by", "by", "%-6s", bp_bound_name(r->bound));
  if (peer) row_text(row, "other", NULL, NULL, peer);
  row_number(row, "seconds_other", peer ? "other: ms" : NULL, "%11.4f", 1e-3, row_positive(r->seconds_peer));
  row_number(row, NULL, peer ? "GFLOP/s" : NULL, "%9.2f", 1e9,
             r->seconds_peer > 0 ? r->flops / r->seconds_peer : NAN);
  row_number(row, "ratio", peer ? "ratio" : NULL, "%7.2f", 1, row_positive(ratio_of(r)));
}

// how: a BatchedHow
static void describe_row(Row *row, const void *of, const void *how) {
  const BatchedHow *h = how;
  const BatchedRow *r = of;
  char fault[sizeof(r->fault) + 16];

  describe_case(row, &r->of, place_name(r));
  bp_describe_machine(row, &h->machine[r->of.precision == CEED_SCALAR_FP32]);
  snprintf(fault, sizeof(fault), "not here: %s", r->fault);
  if (*r->fault && row->form != ROW_JSON) {
    row_text(row, NULL, "ms", "%s", fault);
    return;
  }
  describe_times(row, r, h->peer ? h->peer->name : NULL);
  row_number(row, "error", "error", "%8.1e", 1, r->error);
  row_number(row, "tolerance", NULL, NULL, 1, r->tolerance);
  if (row->form == ROW_LINE && !batched_is_right(r)) row_text(row, NULL, "", " %s", "WRONG");
  if (*r->fault) row_text(row, "fault", NULL, NULL, r->fault);
}

// ---- Table and JSON ----

void batched_print_heading(FILE *stream, const BatchedHow *how) {
  rows_print_heading(stream, describe_row, &(BatchedRow){.of = {.routine = batched_routines}}, how);
}

void batched_print_row(FILE *stream, const BatchedRow *row, const BatchedHow *how) {
  rows_print(stream, describe_row, row, how);
}

void batched_write_json(FILE *stream, const char *program, const char *resource, const BatchedHow *how,
                        size_t num, const BatchedRow *rows) {
  rows_write_json(stream, program, resource, sizeof(CeedScalar), num, rows, sizeof(*rows), describe_row, how);
}
