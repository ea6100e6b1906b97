// SPDX-License-Identifier: BSD-2-Clause
// Rows of `ritz bench --multigrid` as a table, as JSON, and as points of a plot.
#include <math.h>
#include <string.h>

#include "bench/multigrid.h"
#include "bp/report.h"
#include "cli/cli.h"

// ---- Names ----

const char *mg_smoother_name(MgSmoother smoother) {
  static const char *const names[] = {"patches",          "patches-residual",
                                      "patches-boundary", "coloured",
                                      "additive",         "cells",
                                      "overlapped",       "jacobi"};
  return names[smoother];
}

bool mg_smoother_has_steps(MgSmoother smoother) { return smoother >= MG_ADDITIVE; }

const char *mg_method_name(MgMethod method) {
  static const char *const names[] = {"fcg", "v-cycles", "full"};
  return names[method];
}

static const char *precision_name(const MgRow *row) {
  return row->variant.precision == CEED_SCALAR_FP32 ? "f32" : "f64";
}

static bool is_missing(const MgRow *row) { return row->iterations < 0; }

static double sum_of_times(const MgRow *row) {
  double sum = row->seconds_smoother;

  for (int i = 0; i < MG_NUM_TIMES; i++) sum += row->seconds_case[i];
  return sum;
}

static double rate(const MgRow *row) { return row->seconds > 0 ? (double)row->dofs / row->seconds : 0; }

// ---- Table ----

void mg_print_heading(FILE *stream) {
  fprintf(stream, "%2s %5s %10s  %-19s %-5s %-8s %3s %4s %9s %9s %9s %9s %8s %8s %10s  %s\n", "p", "cells",
          "DOF", "smoother", "cycle", "solver", "it", "sine", "set-up, s", "first, s", "solve, s", "MDOF/s",
          "B cycle", "B all", "L2 error", "checks");
}

static void name_smoother(const MgRow *row, char name[40]) {
  if (row->steps)
    snprintf(name, 40, "%s, %d steps", mg_smoother_name(row->variant.smoother), (int)row->steps);
  else
    snprintf(name, 40, "%s", mg_smoother_name(row->variant.smoother));
}

void mg_print_row(FILE *stream, const MgRow *row) {
  const double dofs = (double)row->dofs;
  char smoother[40];

  name_smoother(row, smoother);
  fprintf(stream, "%2d %5d %10lld  %-19s %-5s %-8s ", (int)row->of.degree, (int)row->of.n,
          (long long)row->dofs, smoother, precision_name(row), mg_method_name(row->variant.method));
  if (is_missing(row)) {
    fprintf(stream, "not here: %s\n", row->fault);
    return;
  }
  fprintf(stream, "%3d %4d %9.3f %9.4f %9.4f %9.2f %8.1f %8.1f %10.3e  %s%s\n", (int)row->iterations,
          (int)row->iterations_sine, sum_of_times(row), row->seconds_first, row->seconds, 1e-6 * rate(row),
          row->cycle_bytes / dofs, row->memory_bytes / dofs, row->l2_error, *row->fault ? "FAILED: " : "ok",
          row->fault);
}

void mg_print_set_up(FILE *stream, const MgRow *row) {
  fprintf(stream, "set-up of %lld unknowns, %d levels, seconds:", (long long)row->dofs, (int)row->num_levels);
  for (int i = 0; i < MG_NUM_TIMES; i++)
    fprintf(stream, "%s %s %.3f", i ? "," : "", mg_time_name((MgTime)i), row->seconds_case[i]);
  fprintf(stream, "; memory of the process %.2f GB\n", 1e-9 * row->host_bytes);
}

// ---- JSON ----

static void write_text(FILE *stream, const char *key, const char *text) {
  fprintf(stream, ", \"%s\": ", key);
  bp_write_string(stream, text);
}

static void write_row(FILE *stream, const BpMachine *machine, const MgOptions *o, const MgRow *row) {
  const double missing = is_missing(row) ? NAN : 1;

  fprintf(stream, "    {\"order\": %d, \"elements\": [%d, %d, %d], \"levels\": %d, \"dofs\": %lld",
          (int)row->of.degree, (int)row->of.n, (int)row->of.n, (int)row->of.n, (int)row->num_levels,
          (long long)row->dofs);
  bp_write_number(stream, "deform", row->of.deform);
  write_text(stream, "smoother", mg_smoother_name(row->variant.smoother));
  bp_write_number(stream, "steps", row->steps ? row->steps : NAN);
  write_text(stream, "precision", precision_name(row));
  write_text(stream, "solver", mg_method_name(row->variant.method));
  write_text(stream, "source", o->timed == MG_SINE ? "sine" : "one"); // of the solves that are timed
  bp_write_number(stream, "tolerance", o->tol);
  bp_write_number(stream, "iterations", missing * row->iterations);
  bp_write_number(stream, "iterations_sine", missing * row->iterations_sine);
  bp_write_number(stream, "residual", missing * row->residual);
  bp_write_number(stream, "l2_error", row->l2_error);
  for (int i = 0; i < MG_NUM_TIMES; i++) {
    char key[40];

    snprintf(key, sizeof(key), "seconds_%s", i == MG_TIME_DATA ? "data" : mg_time_name((MgTime)i));
    bp_write_number(stream, key, row->seconds_case[i]);
  }
  bp_write_number(stream, "seconds_smoother", missing * row->seconds_smoother);
  bp_write_number(stream, "seconds_first", missing * row->seconds_first);
  bp_write_number(stream, "seconds", row->seconds > 0 ? row->seconds : NAN);
  bp_write_number(stream, "repetitions", row->repetitions);
  bp_write_number(stream, "dofs_per_second", row->seconds > 0 ? rate(row) : NAN);
  bp_write_number(stream, "bytes_cycle", missing * row->cycle_bytes);
  bp_write_number(stream, "bytes_live", missing * row->memory_bytes);
  bp_write_number(stream, "bytes_process", missing * row->host_bytes);
  bp_write_machine(stream, machine);
  fprintf(stream, ", \"fault\": ");
  if (*row->fault)
    bp_write_string(stream, row->fault);
  else
    fprintf(stream, "null");
  fputc('}', stream);
}

void mg_write_json(FILE *stream, const char *program, const char *resource, const BpMachine *machine,
                   const MgOptions *options, size_t num, const MgRow *rows) {
  bp_begin_json(stream, program, resource);
  for (size_t i = 0; i < num; i++) {
    write_row(stream, machine, options, &rows[i]);
    fprintf(stream, i + 1 < num ? ",\n" : "\n");
  }
  bp_end_json(stream);
}

// ---- Plot ----

size_t mg_plot_points(size_t num, const MgRow *rows, PlotPoint *points) {
  size_t count = 0;

  for (size_t i = 0; i < num; i++) {
    const MgRow *row = &rows[i];
    PlotPoint *point = &points[count];
    char smoother[40];

    if (!(row->seconds > 0) || !(row->l2_error > 0)) continue;
    name_smoother(row, smoother);
    *point = (PlotPoint){.label = (int)row->of.degree, .x = row->seconds, .y = row->l2_error};
    snprintf(point->group, PLOT_NAME, "%s", smoother);
    snprintf(point->kind, PLOT_NAME, "%s, %s", mg_method_name(row->variant.method), precision_name(row));
    count++;
  }
  return count;
}
