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

static const char *method_name(MgMethod method) {
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

// ---- One row ----

static void name_smoother(const MgRow *row, char name[40]) {
  if (row->steps)
    snprintf(name, 40, "%s, %d steps", mg_smoother_name(row->variant.smoother), (int)row->steps);
  else
    snprintf(name, 40, "%s", mg_smoother_name(row->variant.smoother));
}

// Columns that tell the case of a row.
static void describe_case(Row *row, const MgRow *r) {
  char smoother[40];

  name_smoother(r, smoother);
  row_number(row, "order", "p", "%2.0f", 1, r->of.degree);
  row_number(row, NULL, "cells", "%5.0f", 1, r->of.n);
  row_integers(row, "elements", 3, (const int[]){r->of.n, r->of.n, r->of.n});
  row_number(row, "levels", NULL, NULL, 1, r->num_levels);
  row_number(row, "dofs", "DOF", "%10.0f", 1, (double)r->dofs);
  row_number(row, "deform", NULL, NULL, 1, r->of.deform);
  row_text(row, NULL, "smoother", " %-19s", smoother);
  row_text(row, "smoother", NULL, NULL, mg_smoother_name(r->variant.smoother));
  row_number(row, "steps", NULL, NULL, 1, row_positive(r->steps));
  row_text(row, NULL, "cycle", "%-5s", precision_name(r));
  row_text(row, "precision", NULL, NULL, precision_name(r));
  row_text(row, "solver", "solver", "%-8s", method_name(r->variant.method));
}

static void describe_set_up(Row *row, const MgRow *r) {
  for (int i = 0; i < MG_NUM_TIMES; i++) {
    char key[40];

    snprintf(key, sizeof(key), "seconds_%s", i == MG_TIME_DATA ? "data" : mg_time_name((MgTime)i));
    row_number(row, key, NULL, NULL, 1, r->seconds_case[i]);
  }
  row_number(row, NULL, "set-up, s", "%9.3f", 1, sum_of_times(r));
}

static void describe_solve(Row *row, const MgRow *r) {
  const double missing = is_missing(r) ? NAN : 1, dofs = (double)r->dofs;

  row_number(row, "iterations", "it", "%3.0f", 1, missing * r->iterations);
  row_number(row, "iterations_sine", "sine", "%4.0f", 1, missing * r->iterations_sine);
  row_number(row, "residual", NULL, NULL, 1, missing * r->residual);
  describe_set_up(row, r);
  row_number(row, "seconds_smoother", NULL, NULL, 1, missing * r->seconds_smoother);
  row_number(row, "seconds_first", "first, s", "%9.4f", 1, missing * r->seconds_first);
  row_number(row, NULL, "solve, s", "%9.4f", 1, r->seconds);
  row_number(row, "seconds", NULL, NULL, 1, row_positive(r->seconds));
  row_number(row, "repetitions", NULL, NULL, 1, r->repetitions);
  row_number(row, NULL, "MDOF/s", "%9.2f", 1e6, rate(r));
  row_number(row, "dofs_per_second", NULL, NULL, 1, row_positive(rate(r)));
  row_number(row, "bytes_cycle", "B cycle", "%8.1f", dofs, missing * r->cycle_bytes);
  row_number(row, "bytes_live", "B all", "%8.1f", dofs, missing * r->memory_bytes);
  row_number(row, "bytes_process", NULL, NULL, 1, missing * r->host_bytes);
  row_number(row, "l2_error", "L2 error", "%10.3e", 1, r->l2_error);
}

// How rows of JSON were measured.
typedef struct {
  const BpMachine *machine;
  const MgOptions *options;
} Context;

static void describe_row(Row *row, const void *of, const void *ctx) {
  const MgRow *r = of;
  const Context *context = ctx;
  char last[MG_MESSAGE + 16];

  describe_case(row, r);
  snprintf(last, sizeof(last), "%s%s",
           is_missing(r) ? "not here: "
           : *r->fault   ? "FAILED: "
                         : "ok",
           r->fault);
  if (is_missing(r) && row->form != ROW_JSON) {
    row_text(row, NULL, "checks", "%s", last);
    return;
  }
  if (context) {
    row_text(row, "source", NULL, NULL,
             context->options->timed == MG_SINE ? "sine" : "one"); // of timed solves
    row_number(row, "tolerance", NULL, NULL, 1, context->options->tol);
    bp_describe_machine(row, context->machine);
  }
  describe_solve(row, r);
  row_text(row, NULL, "checks", " %s", last);
  row_text_or_null(row, "fault", r->fault);
}

// ---- Table and JSON ----

void mg_print_heading(FILE *stream) { rows_print_heading(stream, describe_row, &(MgRow){0}, NULL); }

void mg_print_row(FILE *stream, const MgRow *row) { rows_print(stream, describe_row, row, NULL); }

void mg_print_set_up(FILE *stream, const MgRow *row) {
  fprintf(stream, "set-up of %lld unknowns, %d levels, seconds:", (long long)row->dofs, (int)row->num_levels);
  for (int i = 0; i < MG_NUM_TIMES; i++)
    fprintf(stream, "%s %s %.3f", i ? "," : "", mg_time_name((MgTime)i), row->seconds_case[i]);
  fprintf(stream, "; memory of the process %.2f GB\n", 1e-9 * row->host_bytes);
}

void mg_write_json(FILE *stream, const char *program, const char *resource, const BpMachine *machine,
                   const MgOptions *options, size_t num, const MgRow *rows) {
  const Context context = {machine, options};

  rows_write_json(stream, program, resource, sizeof(CeedScalar), num, rows, sizeof(*rows), describe_row,
                  &context);
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
    snprintf(point->kind, PLOT_NAME, "%s, %s", method_name(row->variant.method), precision_name(row));
    count++;
  }
  return count;
}
