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

// ---- One row ----

static const char *checks_name(const NekboneRow *row) {
  if (*row->fault) return "FAILED";
  return row->reason < 0 && row->rtol > 0 ? "ok, not converged" : "ok";
}

static void describe_problem(Row *row, const NekboneRow *r) {
  char box[40], policy[48];

  snprintf(box, sizeof(box), "%dx%dx%d", (int)r->elements[0], (int)r->elements[1], (int)r->elements[2]);
  snprintf(policy, sizeof(policy), r->policy == r->used ? "%s" : "%s: %s", RitzGeometryPolicyName(r->policy),
           RitzGeometryPolicyName(r->used));
  row_text(row, "problem", "problem", "%-9s", problem_name(r));
  row_number(row, "components", "comp", "%4.0f", 1, r->problem.num_comp);
  row_number(row, "order", "p", "%2.0f", 1, r->problem.order);
  row_text(row, "mesh", "mesh", " %-8s", mesh_name(r));
  row_text(row, NULL, "elements", " %-11s", box);
  row_integers(row, "elements", 3, r->elements);
  row_number(row, "points_1d", NULL, NULL, 1, r->Q);
  row_text(row, "points", NULL, NULL, r->problem.quad_mode == CEED_GAUSS ? "gauss" : "lobatto");
  row_number(row, "dofs", "DOF", "%9.0f", 1, (double)r->dofs);
  row_number(row, "lambda", NULL, NULL, 1, r->problem.helmholtz ? r->problem.lambda : 0);
  row_number(row, "deform", NULL, NULL, 1, r->problem.affine ? 0 : r->problem.deform);
  row_text(row, NULL, "policy", " %-19s", policy);
  row_text(row, "policy", NULL, NULL, RitzGeometryPolicyName(r->policy));
  row_text(row, "geometry", NULL, NULL, RitzGeometryPolicyName(r->used));
  row_text(row, "cg", "CG", "%-8s", variant_name(r));
  row_flag(row, "jacobi", r->jacobi);
}

static void describe_solve(Row *row, const NekboneRow *r) {
  const double per_iteration = r->iterations ? r->seconds / r->iterations : 0;
  char share[24] = "-";

  if (r->seconds > 0) snprintf(share, sizeof(share), "%.0f %%", 100 * r->seconds_operator / r->seconds);
  row_number(row, "rtol", NULL, NULL, 1, r->rtol);
  row_number(row, "iterations", "it", "%5.0f", 1, r->iterations);
  row_flag(row, "converged", r->reason > 0);
  row_number(row, "l2_error", "L2 error", "%10.3e", 1, r->l2_error);
  row_number(row, "max_error", "max error", "%10.3e", 1, r->max_error);
  row_number(row, "seconds_first", NULL, NULL, 1, r->seconds_first);
  row_number(row, "seconds", NULL, NULL, 1, r->seconds);
  row_number(row, NULL, "ms/it", "%9.4f", 1e-3, per_iteration);
  row_number(row, "dof_iterations_per_second", "MDOF*it/s", "%9.2f", 1e6, nekbone_rate(r));
  row_number(row, "seconds_operator", NULL, NULL, 1, r->seconds_operator);
  row_text(row, NULL, "in op", "%6s", share);
  row_number(row, "bytes", "MB/it", " %7.3f", 1e6, r->costs.bytes);
  row_number(row, "flops", "Mflop/it", "%8.3f", 1e6, r->costs.flops);
  row_number(row, NULL, "GFLOP/s", "%9.2f", 1e9, per_iteration > 0 ? r->costs.flops / per_iteration : 0);
  row_number(row, "recompute_flops", "geo Mflop", "%9.3f", 1e6, r->costs.recompute);
}

// machine: a BpMachine
static void describe_row(Row *row, const void *of, const void *machine) {
  const NekboneRow *r = of;

  describe_problem(row, r);
  describe_solve(row, r);
  if (machine) bp_describe_machine(row, machine);
  bp_describe_bound(row, r->bound, r->seconds_bound, r->roofline);
  row_number(row, "ratio_to_stored", "ratio", "%6.2f", 1, row_positive(r->ratio));
  row_text(row, NULL, "checks", " %s", checks_name(r));
  row_text_or_null(row, "fault", r->fault);
}

// ---- Table and JSON ----

void nekbone_print_heading(FILE *stream) { rows_print_heading(stream, describe_row, &(NekboneRow){0}, NULL); }

void nekbone_print_row(FILE *stream, const NekboneRow *row) { rows_print(stream, describe_row, row, NULL); }

void nekbone_print_fault(FILE *stream, const NekboneRow *row) {
  if (!*row->fault) return;
  fprintf(stream, "%s, %d component%s, degree %d, %s mesh, %s geometry, %s CG: %s\n", problem_name(row),
          (int)row->problem.num_comp, row->problem.num_comp > 1 ? "s" : "", (int)row->problem.order,
          mesh_name(row), RitzGeometryPolicyName(row->policy), variant_name(row), row->fault);
}

void nekbone_write_json(FILE *stream, const char *program, const char *resource, const BpMachine *machine,
                        size_t num, const NekboneRow *rows) {
  rows_write_json(stream, program, resource, sizeof(CeedScalar), num, rows, sizeof(*rows), describe_row,
                  machine);
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
