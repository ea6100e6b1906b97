// SPDX-License-Identifier: BSD-2-Clause
// Rows of `ritz bench --batched` as a table and as JSON.
#include <math.h>

#include "bench/batched.h"
#include "bp/report.h"

static const char *place_name(const BatchedRow *row) { return row->of.in_cache ? "cache" : "memory"; }

static double ratio_of(const BatchedRow *row) {
  return row->seconds > 0 ? row->seconds_peer / row->seconds : 0;
}

// ---- Table ----

void batched_print_heading(FILE *stream, const char *peer) {
  fprintf(stream, "%-8s %4s %4s %-11s %-6s %9s %11s %12s %9s %8s %7s %-6s", "routine", "n", "real", "layout",
          "place", "matrices", "ms", "ns/matrix", "GFLOP/s", "GB/s", "roof, %", "by");
  if (peer) fprintf(stream, " %11s %9s %7s", "other: ms", "GFLOP/s", "ratio");
  fprintf(stream, " %8s\n", "error");
}

void batched_print_row(FILE *stream, const BatchedRow *row, bool has_peer) {
  const BatchedCase *c = &row->of;
  char roof[16] = "-";

  fprintf(stream, "%-8s %4d %4s %-11s %-6s %9lld ", c->routine->name, (int)c->n, batched_precision_name(c),
          batched_form_name(c->form), place_name(row), (long long)c->count);
  if (*row->fault) {
    fprintf(stream, "not here: %s\n", row->fault);
    return;
  }
  if (row->seconds_bound > 0) snprintf(roof, sizeof(roof), "%.1f", 100 * row->seconds_bound / row->seconds);
  fprintf(stream, "%11.4f %12.2f %9.2f %8.1f %7s %-6s", 1e3 * row->seconds,
          1e9 * row->seconds / (double)c->count, 1e-9 * row->flops / row->seconds,
          1e-9 * row->bytes / row->seconds, roof, bp_bound_name(row->bound));
  if (has_peer && row->seconds_peer > 0)
    fprintf(stream, " %11.4f %9.2f %7.2f", 1e3 * row->seconds_peer, 1e-9 * row->flops / row->seconds_peer,
            ratio_of(row));
  else if (has_peer)
    fprintf(stream, " %11s %9s %7s", "-", "-", "-");
  fprintf(stream, " %8.1e%s\n", row->error, batched_is_right(row) ? "" : "  WRONG");
}

// ---- JSON ----

static void write_text(FILE *stream, const char *key, const char *text) {
  fprintf(stream, ", \"%s\": ", key);
  bp_write_string(stream, text);
}

static double known(double value) { return value > 0 ? value : NAN; }

static void write_row(FILE *stream, const BatchedHow *how, const BatchedRow *row) {
  const BatchedCase *c = &row->of;

  fprintf(stream, "    {\"routine\": ");
  bp_write_string(stream, c->routine->name);
  fprintf(stream, ", \"n\": %d, \"columns\": %d, \"matrices\": %lld", (int)c->n, (int)c->columns,
          (long long)c->count);
  write_text(stream, "precision", batched_precision_name(c));
  write_text(stream, "layout", batched_form_name(c->form));
  write_text(stream, "place", place_name(row));
  bp_write_number(stream, "rounds", row->rounds);
  bp_write_number(stream, "seconds", known(row->seconds));
  bp_write_number(stream, "flops", row->flops);
  bp_write_number(stream, "bytes", row->bytes);
  bp_write_machine(stream, &how->machine[c->precision == CEED_SCALAR_FP32]);
  bp_write_number(stream, "seconds_bound", known(row->seconds_bound));
  write_text(stream, "bound_by", bp_bound_name(row->bound));
  if (how->peer) write_text(stream, "other", how->peer->name);
  bp_write_number(stream, "seconds_other", known(row->seconds_peer));
  bp_write_number(stream, "ratio", known(ratio_of(row)));
  bp_write_number(stream, "error", row->error);
  bp_write_number(stream, "tolerance", row->tolerance);
  if (*row->fault) write_text(stream, "fault", row->fault);
  fputc('}', stream);
}

void batched_write_json(FILE *stream, const char *program, const char *resource, const BatchedHow *how,
                        size_t num, const BatchedRow *rows) {
  bp_begin_json(stream, program, resource);
  for (size_t i = 0; i < num; i++) {
    write_row(stream, how, &rows[i]);
    fprintf(stream, i + 1 < num ? ",\n" : "\n");
  }
  bp_end_json(stream);
}
