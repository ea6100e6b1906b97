// SPDX-License-Identifier: BSD-2-Clause
// Rows of `ritz bench --nekbone` as a table, as JSON, and as points of a plot.
#include <math.h>
#include <string.h>

#include "bench/nekbone.h"
#include "bp/report.h"

static const char *problem_name(const NekboneRow *row) {
  return row->problem.helmholtz ? "helmholtz" : "poisson";
}

static const char *mesh_name(const NekboneRow *row) { return row->problem.affine ? "affine" : "deformed"; }

static const char *variant_name(const NekboneRow *row) {
  return row->variant == RITZ_CG_MERGED ? "merged" : "standard";
}

// ---- Table ----

void nekbone_print_heading(FILE *stream) {
  fprintf(
      stream,
      "%-9s %4s %2s  %-8s  %-11s %9s  %-19s %-8s %5s %10s %10s %9s %9s %6s  %7s %8s %9s %9s  %-8s %8s %6s  "
      "%s\n",
      "problem", "comp", "p", "mesh", "elements", "DOF", "policy", "CG", "it", "L2 error", "max error",
      "ms/it", "MDOF*it/s", "in op", "MB/it", "Mflop/it", "GFLOP/s", "geo Mflop", "bound by", "roofline",
      "ratio", "checks");
}

// Shown as "-" unless it is known.
static const char *known(char text[24], const char *format, double value) {
  if (value > 0)
    snprintf(text, 24, format, value);
  else
    strcpy(text, "-");
  return text;
}

static const char *checks_name(const NekboneRow *row) {
  if (*row->fault) return "FAILED";
  return row->reason < 0 && row->rtol > 0 ? "ok, not converged" : "ok";
}

void nekbone_print_row(FILE *stream, const NekboneRow *row) {
  char box[40], policy[48], share[24], roofline[24], ratio[24];
  double per_iteration = row->iterations ? row->seconds / row->iterations : 0;

  snprintf(box, sizeof(box), "%dx%dx%d", (int)row->elements[0], (int)row->elements[1], (int)row->elements[2]);
  snprintf(policy, sizeof(policy), row->policy == row->used ? "%s" : "%s: %s",
           RitzGeometryPolicyName(row->policy), RitzGeometryPolicyName(row->used));
  fprintf(stream,
          "%-9s %4d %2d  %-8s  %-11s %9lld  %-19s %-8s %5d %10.3e %10.3e %9.4f %9.2f %6s  %7.3f %8.3f %9.2f "
          "%9.3f  %-8s %8s %6s  %s\n",
          problem_name(row), (int)row->problem.num_comp, (int)row->problem.order, mesh_name(row), box,
          (long long)row->dofs, policy, variant_name(row), (int)row->iterations, row->l2_error,
          row->max_error, 1e3 * per_iteration, 1e-6 * nekbone_rate(row),
          known(share, "%.0f %%", row->seconds > 0 ? 100 * row->seconds_operator / row->seconds : 0),
          1e-6 * row->costs.bytes, 1e-6 * row->costs.flops,
          per_iteration > 0 ? 1e-9 * row->costs.flops / per_iteration : 0, 1e-6 * row->costs.recompute,
          bp_bound_name(row->bound), known(roofline, "%.1f %%", 100 * row->roofline),
          known(ratio, "%.2f", row->ratio), checks_name(row));
}

void nekbone_print_fault(FILE *stream, const NekboneRow *row) {
  if (!*row->fault) return;
  fprintf(stream, "%s, %d component%s, degree %d, %s mesh, %s geometry, %s CG: %s\n", problem_name(row),
          (int)row->problem.num_comp, row->problem.num_comp > 1 ? "s" : "", (int)row->problem.order,
          mesh_name(row), RitzGeometryPolicyName(row->policy), variant_name(row), row->fault);
}

// ---- JSON ----

static void write_row(FILE *stream, const BpMachine *machine, const NekboneRow *row) {
  fprintf(stream, "    {\"problem\": \"%s\", \"components\": %d, \"order\": %d, \"mesh\": \"%s\"",
          problem_name(row), (int)row->problem.num_comp, (int)row->problem.order, mesh_name(row));
  fprintf(stream, ", \"elements\": [%d, %d, %d], \"points_1d\": %d, \"points\": \"%s\", \"dofs\": %lld",
          (int)row->elements[0], (int)row->elements[1], (int)row->elements[2], (int)row->Q,
          row->problem.quad_mode == CEED_GAUSS ? "gauss" : "lobatto", (long long)row->dofs);
  bp_write_number(stream, "lambda", row->problem.helmholtz ? row->problem.lambda : 0);
  bp_write_number(stream, "deform", row->problem.affine ? 0 : row->problem.deform);
  fprintf(stream, ", \"policy\": \"%s\", \"geometry\": \"%s\", \"cg\": \"%s\", \"jacobi\": %s",
          RitzGeometryPolicyName(row->policy), RitzGeometryPolicyName(row->used), variant_name(row),
          row->jacobi ? "true" : "false");
  bp_write_number(stream, "rtol", row->rtol);
  fprintf(stream, ", \"iterations\": %d, \"converged\": %s", (int)row->iterations,
          row->reason > 0 ? "true" : "false");
  bp_write_number(stream, "l2_error", row->l2_error);
  bp_write_number(stream, "max_error", row->max_error);
  bp_write_number(stream, "seconds_first", row->seconds_first);
  bp_write_number(stream, "seconds", row->seconds);
  bp_write_number(stream, "seconds_operator", row->seconds_operator);
  bp_write_number(stream, "dof_iterations_per_second", nekbone_rate(row));
  bp_write_machine(stream, machine);
  bp_write_roofline(stream, &row->costs, row->bound, row->seconds_bound, row->roofline);
  bp_write_number(stream, "ratio_to_stored", row->ratio > 0 ? row->ratio : NAN);
  fprintf(stream, ", \"fault\": ");
  if (*row->fault)
    bp_write_string(stream, row->fault);
  else
    fprintf(stream, "null");
  fputc('}', stream);
}

void nekbone_write_json(FILE *stream, const char *program, const char *resource, const BpMachine *machine,
                        size_t num, const NekboneRow *rows) {
  bp_begin_json(stream, program, resource);
  for (size_t i = 0; i < num; i++) {
    write_row(stream, machine, &rows[i]);
    fprintf(stream, i + 1 < num ? ",\n" : "\n");
  }
  bp_end_json(stream);
}

// ---- Plot ----

// Whether the rows differ in the mesh, or in the variant.
static bool mesh_differs(size_t num, const NekboneRow *rows) {
  for (size_t i = 1; i < num; i++) {
    if (rows[i].problem.affine != rows[0].problem.affine) return true;
  }
  return false;
}

static bool variant_differs(size_t num, const NekboneRow *rows) {
  for (size_t i = 1; i < num; i++) {
    if (rows[i].variant != rows[0].variant) return true;
  }
  return false;
}

// Auto under the name of the policy that it chose, if that ran, too, would be there twice.
static bool is_repeated(size_t num, const NekboneRow *rows, const NekboneRow *row) {
  const NekboneCase *of = &row->problem;

  if (row->policy != RITZ_POLICY_AUTO) return false;
  for (size_t i = 0; i < num; i++) {
    const NekboneCase *other = &rows[i].problem;
    if (rows[i].policy == row->used && rows[i].variant == row->variant && other->helmholtz == of->helmholtz &&
        other->affine == of->affine && other->num_comp == of->num_comp && other->order == of->order)
      return true;
  }
  return false;
}

static void name_group(const NekboneRow *row, bool with_mesh, char name[PLOT_NAME]) {
  int n = snprintf(name, PLOT_NAME, "%s", row->problem.helmholtz ? "Helmholtz" : "Poisson");

  if (row->problem.num_comp > 1)
    n += snprintf(name + n, PLOT_NAME - (size_t)n, " x %d", (int)row->problem.num_comp);
  if (with_mesh) snprintf(name + n, PLOT_NAME - (size_t)n, ", %s mesh", mesh_name(row));
}

size_t nekbone_plot_points(size_t num, const NekboneRow *rows, PlotPoint *points) {
  bool with_mesh = mesh_differs(num, rows), with_variant = variant_differs(num, rows);
  size_t count = 0;

  for (size_t i = 0; i < num; i++) {
    const NekboneRow *row = &rows[i];
    PlotPoint *point = &points[count];
    if (!(row->seconds > 0) || is_repeated(num, rows, row)) continue;
    *point = (PlotPoint){.label = row->problem.order,
                         .x = row->costs.flops / row->costs.bytes,
                         .y = row->costs.flops * row->iterations / row->seconds};
    if (row->bound == BP_BOUND_FLOPS && row->costs.recompute > 0)
      point->bound = row->costs.flops / row->seconds_bound;
    name_group(row, with_mesh, point->group);
    snprintf(point->kind, PLOT_NAME, with_variant ? "%s, %s CG" : "%s", RitzGeometryPolicyName(row->policy),
             variant_name(row));
    count++;
  }
  return count;
}
