// SPDX-License-Identifier: BSD-2-Clause
// Results of bake-off problems as rows of a table and of JSON.
#include "bp/report.h"

#include <math.h>

const char *bp_bound_name(BpBound bound) {
  static const char *const names[] = {[BP_BOUND_UNKNOWN] = "-",
                                      [BP_BOUND_MEMORY] = "memory",
                                      [BP_BOUND_CACHE] = "cache",
                                      [BP_BOUND_FLOPS] = "flops"};

  return names[bound];
}

void bp_describe_machine(Row *row, const BpMachine *machine) {
  row_number(row, "threads", NULL, NULL, 1, row_positive(machine->threads));
  row_text_or_null(row, "device", machine->device ? machine->device : "");
  row_number(row, "bandwidth", NULL, NULL, 1, row_positive(machine->bandwidth));
  row_number(row, "peak", NULL, NULL, 1, row_positive(machine->peak));
}

void bp_describe_bound(Row *row, BpBound bound, double seconds_bound, double roofline) {
  char percent[40] = "-";

  if (roofline > 0) snprintf(percent, sizeof(percent), "%.1f %%", 100 * roofline);
  row_number(row, "seconds_bound", NULL, NULL, 1, row_positive(seconds_bound));
  row_text_or_null(row, "bound_by", bound ? bp_bound_name(bound) : "");
  row_text(row, NULL, "bound by", " %-8s", bp_bound_name(bound));
  row_number(row, "roofline", NULL, NULL, 1, row_positive(roofline));
  row_text(row, NULL, "roofline", "%8s", percent);
}

static double rate(double work, double seconds) { return seconds > 0 ? work / seconds : 0; }

// ---- One result ----

static void describe_problem(Row *row, const BpResult *r) {
  char name[16], box[60], cut[16] = "";

  if (r->options.shape) snprintf(cut, sizeof(cut), "%dx", bp_shape_elements(r->options.shape));
  snprintf(name, sizeof(name), "BP%d", r->options.bp);
  snprintf(box, sizeof(box), "%s%" CeedInt_FMT "x%" CeedInt_FMT "x%" CeedInt_FMT, cut, r->elements[0],
           r->elements[1], r->elements[2]);
  row_text(row, NULL, "problem", "%-7s", name);
  row_number(row, "bp", NULL, NULL, 1, r->options.bp);
  row_text(row, "operator", NULL, NULL, bp_operator_name(r->options.bp));
  row_text(row, "mode", NULL, NULL, r->options.mode == BP_CG ? "cg" : "apply");
  row_number(row, "order", "p", "%3.0f", 1, r->options.order);
  row_text(row, NULL, "elements", " %-13s", box);
  row_integers(row, "elements", 3, r->elements);
  row_number(row, "components", NULL, NULL, 1, r->num_comp);
  row_number(row, "points_1d", NULL, NULL, 1, r->Q);
  row_number(row, "dofs", "DOF", "%10.0f", 1, (double)r->dofs);
  row_text(row, "shape", NULL, NULL, bp_shape_name(r->options.shape));
  row_number(row, "nodes_element", NULL, NULL, 1, r->num_nodes);
  row_number(row, "points_element", NULL, NULL, 1, r->num_points);
  row_number(row, "vector_bytes", NULL, NULL, 1,
             (double)(r->options.single ? sizeof(float) : sizeof(CeedScalar)));
  row_number(row, "deform", NULL, NULL, 1, r->options.deform);
}

static void describe_speed(Row *row, const BpResult *r) {
  const bool is_cg = r->options.mode == BP_CG;

  row_number(row, "seconds", is_cg ? "ms/iter" : "ms/apply", " %15.4f", 1e-3, r->seconds);
  row_number(row, "seconds_min", NULL, NULL, 1, r->seconds_min);
  row_number(row, "seconds_median", NULL, NULL, 1, r->seconds_median);
  row_number(row, "dofs_per_second", "MDOF/s", "%8.2f", 1e6, r->dofs_per_second);
  row_number(row, "bytes", is_cg ? "MB/iter" : "MB/apply", " %14.3f", 1e6, r->costs.bytes);
  row_number(row, NULL, "GB/s", "%7.2f", 1e9, rate(r->costs.bytes, r->seconds));
  row_number(row, "flops", is_cg ? "Mflop/iter" : "Mflop/apply", " %14.3f", 1e6, r->costs.flops);
  row_number(row, NULL, "GFLOP/s", "%8.2f", 1e9, rate(r->costs.flops, r->seconds));
  row_text(row, "geometry", "geometry", " %-9s", bp_geometry_name(r->options.geometry));
  row_number(row, "recompute_flops", "geo Mflop", "%9.3f", 1e6, r->costs.recompute);
  bp_describe_machine(row, &r->options.machine);
  bp_describe_bound(row, r->bound, r->seconds_bound, r->roofline);
  row_number(row, "seconds_first", "first, s", "%8.3f", 1, r->seconds_first);
  row_number(row, "iterations", NULL, NULL, 1, r->iterations);
  row_text_or_null(row, "cg", !is_cg ? "" : r->merged ? "merged" : "standard");
  row_number(row, "residual_reduction", NULL, NULL, 1, is_cg ? r->reduction : NAN);
}

static void describe_many(Row *row, const BpResult *r) {
  FILE *stream = row_value(row, "many");

  if (!stream) return;
  fputc('[', stream);
  for (int i = 0; r->options.many && i < r->options.many->num; i++) {
    Row one = {.stream = stream, .form = ROW_JSON};

    fprintf(stream, i ? ", {" : "{");
    row_number(&one, "vectors", NULL, NULL, 1, r->options.many->counts[i]);
    row_number(&one, "ratio", NULL, NULL, 1, r->many[i]);
    fputc('}', stream);
  }
  fputc(']', stream);
}

static void describe_checks(Row *row, const BpResult *r) {
  FILE *stream;

  row_text(row, NULL, "checks", " %s", bp_checks_hold(r) ? "ok" : "FAILED");
  row_number(row, "checksum", NULL, NULL, 1, r->checksum);
  row_flag(row, "checks_hold", bp_checks_hold(r));
  if (!(stream = row_value(row, "checks"))) return;
  fputc('[', stream);
  for (int i = 0; i < r->num_checks; i++) {
    Row one = {.stream = stream, .form = ROW_JSON};

    fprintf(stream, i ? ", {" : "{");
    row_text(&one, "name", NULL, NULL, r->checks[i].name);
    row_number(&one, "error", NULL, NULL, 1, r->checks[i].error);
    row_number(&one, "tolerance", NULL, NULL, 1, r->checks[i].tolerance);
    fputc('}', stream);
  }
  fputc(']', stream);
}

static void describe_report(Row *row, const void *of, const void *ctx) {
  (void)ctx;
  describe_problem(row, of);
  describe_speed(row, of);
  describe_many(row, of);
  describe_checks(row, of);
}

// ---- Tables and files ----

void bp_print_heading(FILE *stream, BpMode mode) {
  rows_print_heading(stream, describe_report, &(BpResult){.options = {.mode = mode}}, NULL);
}

void bp_print_row(FILE *stream, const BpResult *r) {
  rows_print(stream, describe_report, r, NULL);
  for (int i = 0; r->options.many && i < r->options.many->num; i++)
    fprintf(stream, "      %3d vectors at once: %.2f times the rate of one, per vector\n",
            r->options.many->counts[i], r->many[i]);
}

void bp_print_failed_checks(FILE *stream, const BpResult *r) {
  for (int i = 0; i < r->num_checks; i++) {
    const BpCheck *check = &r->checks[i];
    if (check->error <= check->tolerance) continue;
    fprintf(stream,
            "BP%d, degree %" CeedInt_FMT ", %s geometry: %s: relative error %.3g, up to %.3g allowed\n",
            r->options.bp, r->options.order, bp_geometry_name(r->options.geometry), check->name, check->error,
            check->tolerance);
  }
}

void bp_write_json(FILE *stream, const char *program, const char *resource, size_t num,
                   const BpResult *results) {
  rows_write_json(stream, program, resource, sizeof(CeedScalar), num, results, sizeof(*results),
                  describe_report, NULL);
}
