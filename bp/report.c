// SPDX-License-Identifier: BSD-2-Clause
// Results of bake-off problems as a table and as JSON.
#include "bp/report.h"

#include <math.h>

// ---- Table ----

void bp_print_heading(FILE *stream, BpMode mode) {
  const char *unit = mode == BP_CG ? "iter" : "apply";

  fprintf(stream,
          "%-7s %3s  %-13s %10s  %9s/%-5s %8s  %8s/%-5s %7s  %8s/%-5s %8s  %-9s %9s  %-8s %8s %8s  %s\n",
          "problem", "p", "elements", "DOF", "ms", unit, "MDOF/s", "MB", unit, "GB/s", "Mflop", unit,
          "GFLOP/s", "geometry", "geo Mflop", "bound by", "roofline", "first, s", "checks");
}

const char *bp_bound_name(BpBound bound) {
  static const char *const names[] = {[BP_BOUND_UNKNOWN] = "-",
                                      [BP_BOUND_MEMORY] = "memory",
                                      [BP_BOUND_CACHE] = "cache",
                                      [BP_BOUND_FLOPS] = "flops"};

  return names[bound];
}

void bp_print_row(FILE *stream, const BpResult *r) {
  char box[60], cut[16] = "", roofline[40] = "-";
  double s = r->seconds;

  if (r->options.shape) snprintf(cut, sizeof(cut), "%dx", bp_shape_elements(r->options.shape));
  snprintf(box, sizeof(box), "%s%" CeedInt_FMT "x%" CeedInt_FMT "x%" CeedInt_FMT, cut, r->elements[0],
           r->elements[1], r->elements[2]);
  if (r->roofline > 0) snprintf(roofline, sizeof(roofline), "%.1f %%", 100 * r->roofline);
  fprintf(stream,
          "BP%-5d %3" CeedInt_FMT "  %-13s %10" CeedSize_FMT
          "  %15.4f %8.2f  %14.3f %7.2f  %14.3f %8.2f  %-9s %9.3f  %-8s %8s %8.3f  %s\n",
          r->options.bp, r->options.order, box, r->dofs, 1e3 * s, 1e-6 * r->dofs_per_second,
          1e-6 * r->costs.bytes, s > 0 ? 1e-9 * r->costs.bytes / s : 0, 1e-6 * r->costs.flops,
          s > 0 ? 1e-9 * r->costs.flops / s : 0, bp_geometry_name(r->options.geometry),
          1e-6 * r->costs.recompute, bp_bound_name(r->bound), roofline, r->seconds_first,
          bp_checks_hold(r) ? "ok" : "FAILED");
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

// ---- JSON ----

void bp_write_string(FILE *stream, const char *text) {
  fputc('"', stream);
  for (const char *c = text; *c; c++) {
    if ((unsigned char)*c < 0x20)
      fprintf(stream, "\\u%04x", (unsigned)(unsigned char)*c);
    else if (*c == '"' || *c == '\\')
      fprintf(stream, "\\%c", *c);
    else
      fputc(*c, stream);
  }
  fputc('"', stream);
}

void bp_write_number(FILE *stream, const char *key, double value) {
  fprintf(stream, isfinite(value) ? ", \"%s\": %.17g" : ", \"%s\": null", key, value);
}

// Numbers that are not known are null.
static void write_known(FILE *stream, const char *key, double value) {
  bp_write_number(stream, key, value > 0 ? value : NAN);
}

void bp_write_machine(FILE *stream, const BpMachine *machine) {
  write_known(stream, "threads", machine->threads);
  fprintf(stream, ", \"device\": ");
  if (machine->device)
    bp_write_string(stream, machine->device);
  else
    fprintf(stream, "null");
  write_known(stream, "bandwidth", machine->bandwidth);
  write_known(stream, "peak", isfinite(machine->peak) ? machine->peak : 0);
}

void bp_write_roofline(FILE *stream, const Costs *costs, BpBound bound, double seconds_bound,
                       double roofline) {
  bp_write_number(stream, "bytes", costs->bytes);
  bp_write_number(stream, "flops", costs->flops);
  bp_write_number(stream, "recompute_flops", costs->recompute);
  write_known(stream, "seconds_bound", seconds_bound);
  write_known(stream, "roofline", roofline);
  fprintf(stream, bound ? ", \"bound_by\": \"%s\"" : ", \"bound_by\": null", bp_bound_name(bound));
}

static void write_checks(FILE *stream, const BpResult *r) {
  fprintf(stream, ", \"checks_hold\": %s, \"checks\": [", bp_checks_hold(r) ? "true" : "false");
  for (int i = 0; i < r->num_checks; i++) {
    fprintf(stream, "%s{\"name\": \"%s\"", i ? ", " : "", r->checks[i].name);
    bp_write_number(stream, "error", r->checks[i].error);
    bp_write_number(stream, "tolerance", r->checks[i].tolerance);
    fputc('}', stream);
  }
  fputc(']', stream);
}

static void write_many(FILE *stream, const BpResult *r) {
  fprintf(stream, ", \"many\": [");
  for (int i = 0; r->options.many && i < r->options.many->num; i++) {
    fprintf(stream, "%s{\"vectors\": %d", i ? ", " : "", r->options.many->counts[i]);
    bp_write_number(stream, "ratio", r->many[i]);
    fputc('}', stream);
  }
  fputc(']', stream);
}

static void write_result(FILE *stream, const BpResult *r) {
  fprintf(stream, "    {\"bp\": %d, \"operator\": \"%s\", \"mode\": \"%s\", \"order\": %" CeedInt_FMT,
          r->options.bp, bp_operator_name(r->options.bp), r->options.mode == BP_CG ? "cg" : "apply",
          r->options.order);
  fprintf(stream, ", \"elements\": [%" CeedInt_FMT ", %" CeedInt_FMT ", %" CeedInt_FMT "]", r->elements[0],
          r->elements[1], r->elements[2]);
  fprintf(stream,
          ", \"components\": %" CeedInt_FMT ", \"points_1d\": %" CeedInt_FMT ", \"dofs\": %" CeedSize_FMT,
          r->num_comp, r->Q, r->dofs);
  fprintf(stream,
          ", \"shape\": \"%s\", \"nodes_element\": %" CeedInt_FMT ", \"points_element\": %" CeedInt_FMT,
          bp_shape_name(r->options.shape), r->num_nodes, r->num_points);
  fprintf(stream, ", \"geometry\": \"%s\"", bp_geometry_name(r->options.geometry));
  fprintf(stream, ", \"vector_bytes\": %d", (int)(r->options.single ? sizeof(float) : sizeof(CeedScalar)));
  bp_write_number(stream, "deform", r->options.deform);
  bp_write_number(stream, "seconds_first", r->seconds_first);
  bp_write_number(stream, "seconds_min", r->seconds_min);
  bp_write_number(stream, "seconds_median", r->seconds_median);
  bp_write_number(stream, "seconds", r->seconds);
  bp_write_number(stream, "dofs_per_second", r->dofs_per_second);
  bp_write_machine(stream, &r->options.machine);
  bp_write_roofline(stream, &r->costs, r->bound, r->seconds_bound, r->roofline);
  fprintf(stream, ", \"iterations\": %" CeedInt_FMT, r->iterations);
  if (r->options.mode == BP_CG) fprintf(stream, ", \"cg\": \"%s\"", r->merged ? "merged" : "standard");
  bp_write_number(stream, "residual_reduction", r->options.mode == BP_CG ? r->reduction : NAN);
  bp_write_number(stream, "checksum", r->checksum);
  write_many(stream, r);
  write_checks(stream, r);
  fputc('}', stream);
}

void bp_begin_json(FILE *stream, const char *program, const char *resource) {
  fprintf(stream, "{\n  \"program\": ");
  bp_write_string(stream, program);
  fprintf(stream, ",\n  \"resource\": ");
  bp_write_string(stream, resource);
  fprintf(stream, ",\n  \"scalar_bytes\": %d,\n  \"results\": [\n", (int)sizeof(CeedScalar));
}

void bp_end_json(FILE *stream) { fprintf(stream, "  ]\n}\n"); }

void bp_write_json(FILE *stream, const char *program, const char *resource, size_t num,
                   const BpResult *results) {
  bp_begin_json(stream, program, resource);
  for (size_t i = 0; i < num; i++) {
    write_result(stream, &results[i]);
    fprintf(stream, i + 1 < num ? ",\n" : "\n");
  }
  bp_end_json(stream);
}
