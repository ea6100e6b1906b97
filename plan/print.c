// SPDX-License-Identifier: BSD-2-Clause
// A plan, and its target on a CPU, as text for people and for comparisons: the same plan gives the same bytes
// on every machine. Called by backends that explain operators.
#include <string.h>

#include "base/locale.h"
#include "plan/cpu.h"

static const char *plural(CeedSize n) { return n == 1 ? "" : "s"; }

static void print_count(FILE *stream, CeedInt n, const char *what) {
  fprintf(stream, "%" CeedInt_FMT " %s%s", n, what, plural(n));
}

static const char *mode_name(CeedEvalMode mode) {
  switch (mode) {
  case CEED_EVAL_INTERP: return "interp";
  case CEED_EVAL_GRAD: return "grad";
  case CEED_EVAL_DIV: return "div";
  case CEED_EVAL_CURL: return "curl";
  case CEED_EVAL_WEIGHT: return "weight";
  default: return "none";
  }
}

// ---- Bases ----

static void print_parity(FILE *stream, const char *name, const RitzPlanMatrix *A) {
  static const char *const parities[] = {"odd", "none", "even"};
  if (A->values) fprintf(stream, "%s %s", name, parities[A->parity + 1]);
}

static void print_at_points(FILE *stream, const RitzPlanBasis *b) {
  fprintf(stream, "tensor %" CeedInt_FMT "D, ", b->dim);
  print_count(stream, b->P_1d, "node");
  fprintf(stream, " -> ");
  print_count(stream, b->Q_1d, "Chebyshev coefficient");
  fprintf(stream, " a direction");
}

static void print_tensor(FILE *stream, const RitzPlanBasis *b) {
  static const char *const routes[] = {[RITZ_ROUTE_IDENTITY] = "identity: nodes are points",
                                       [RITZ_ROUTE_COLLOCATED] =
                                           "collocated: derivatives of values at points",
                                       [RITZ_ROUTE_DIRECT] = "direct: each derivative from the nodes"};
  fprintf(stream, "tensor %" CeedInt_FMT "D, ", b->dim);
  print_count(stream, b->P_1d, "node");
  fprintf(stream, " -> ");
  print_count(stream, b->Q_1d, "point");
  fprintf(stream, " a direction; %s; parity: ", routes[b->route]);
  print_parity(stream, "interp", &b->interp);
  print_parity(stream, ", grad", &b->grad);
  print_parity(stream, ", deriv", &b->deriv);
}

static void print_dense(FILE *stream, const RitzPlanBasis *b) {
  fprintf(stream, "dense %" CeedInt_FMT "D, ", b->dim);
  print_count(stream, b->P, "node");
  fprintf(stream, " -> ");
  print_count(stream, b->Q, "point");
  fprintf(stream, "; values of ");
  print_count(stream, b->q_comp_interp, "component");
  if (b->deriv_mode != CEED_EVAL_NONE) {
    fprintf(stream, ", %s of ", mode_name(b->deriv_mode));
    print_count(stream, b->q_comp_deriv, "component");
  }
  fprintf(stream, "; matrices %" CeedInt_FMT " %" CeedInt_FMT, b->first_matrix, b->first_matrix + 1);
  if (!b->is_even_odd) return;
  fprintf(stream, ", even-odd: ");
  print_count(stream, b->node_pairs.pairs, "pair");
  fprintf(stream, " of nodes, ");
  print_count(stream, b->interp_pairs.pairs, "pair");
  fprintf(stream, " of points");
}

// P_0 x P_1 x P_2 nodes a component.
static void print_blocks(FILE *stream, const RitzPlanBasis *b) {
  fprintf(stream, "vector tensor %" CeedInt_FMT "D, nodes ", b->dim);
  for (CeedInt c = 0; c < b->dim; c++) {
    for (CeedInt d = 0; d < b->dim; d++)
      fprintf(stream, "%s%" CeedInt_FMT, d ? " x " : c ? " + " : "", b->blocks[c].P[d]);
  }
  fprintf(stream, " -> ");
  print_count(stream, b->Q_1d, "point");
  fprintf(stream, " a direction; block by block");
  if (b->deriv_mode != CEED_EVAL_NONE) {
    fprintf(stream, ", %s of ", mode_name(b->deriv_mode));
    print_count(stream, b->q_comp_deriv, "component");
  }
  for (int i = 0; i < b->num_lines; i++) {
    char name[32];
    snprintf(name, sizeof(name), "%s line %d", i ? "," : "; parity:", i);
    print_parity(stream, name, &b->lines[i]);
  }
}

static void print_bases(FILE *stream, const RitzPlan *plan) {
  for (int i = 0; i < plan->num_bases; i++) {
    const RitzPlanBasis *b = &plan->bases[i];
    fprintf(stream, "  basis %d: ", i);
    (b->route == RITZ_ROUTE_POINTS   ? print_at_points
     : b->is_tensor                  ? print_tensor
     : b->route == RITZ_ROUTE_BLOCKS ? print_blocks
                                     : print_dense)(stream, b);
    fprintf(stream, "%s\n", b->weights ? "; weights" : "");
  }
}

// ---- Spaces ----

static void print_modes(FILE *stream, unsigned modes) {
  static const CeedEvalMode all[] = {CEED_EVAL_INTERP, CEED_EVAL_GRAD, CEED_EVAL_DIV, CEED_EVAL_CURL};
  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
    if (modes & (unsigned)all[i]) fprintf(stream, " %s", mode_name(all[i]));
  }
}

static void print_gather(FILE *stream, const RitzPlanSpace *s, const RitzCpuSpace *how) {
  static const char *const gathers[] = {"node by node", "rows", "strided", "packed, batch after batch",
                                        "point by point"};
  fprintf(stream, "; %s: %s", s->is_input ? "gather" : "scatter", gathers[how->gather]);
  if (how->gather == RITZ_GATHER_ROWS) fprintf(stream, " of %" CeedInt_FMT " nodes", how->row_length);
}

static void print_nature(FILE *stream, const RitzPlanSpace *s) {
  if (s->kind == RITZ_INPUT_LINEAR) fprintf(stream, ", linear at the points");
  if (s->kind == RITZ_INPUT_CONSTANT) fprintf(stream, ", the same at all points");
  if (s->precision != CEED_SCALAR_TYPE) fprintf(stream, ", %s", ritz_precision_name(s->precision));
  if (s->is_oriented) fprintf(stream, ", oriented");
  if (s->is_curl_oriented) fprintf(stream, ", curl-oriented");
  if (s->is_interlaced) fprintf(stream, ", interlaced");
}

static void print_spaces(FILE *stream, const RitzPlan *plan, const RitzCpuTarget *t) {
  for (int i = 0; i < plan->num_spaces; i++) {
    const RitzPlanSpace *s = &plan->spaces[i];
    fprintf(stream, "  space %d: %s %s, vector %d, ", i, s->is_active ? "active" : "passive",
            s->is_input ? "input" : "output", (int)s->array);
    print_count(stream, s->num_nodes, s->basis < 0 ? "point" : "node");
    fprintf(stream, " of ");
    print_count(stream, s->num_comp, "component");
    if (s->basis >= 0) fprintf(stream, ", basis %d:", s->basis);
    print_modes(stream, s->modes);
    if (t) print_gather(stream, s, &t->spaces[i]);
    print_nature(stream, s);
    if (t && t->spaces[i].overwrites >= 0)
      fprintf(stream, "; works in the arrays of space %d", t->spaces[i].overwrites);
    fprintf(stream, "\n");
  }
}

// ---- Fields ----

static void print_fields(FILE *stream, const RitzPlan *plan) {
  for (int i = 0; i < plan->num_in + plan->num_out; i++) {
    const RitzPlanField *f = &plan->fields[i];
    fprintf(stream, "  %s \"%s\": %s, ", i < plan->num_in ? "input" : "output", f->name, mode_name(f->mode));
    print_count(stream, f->size, "value");
    fprintf(stream, " a point");
    if (f->space >= 0)
      fprintf(stream, ", space %d\n", f->space);
    else
      fprintf(stream, ", basis %d\n", f->basis);
  }
}

// ---- Target and costs ----

// Folders differ between machines.
static const char *file_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static void print_target(FILE *stream, const RitzPlan *plan, const RitzCpuTarget *t) {
  static const char *const evaluations[] = {"plane by plane", "values row by row", "all points at once",
                                            "not fused"};
  fprintf(stream, "  target: batches of ");
  print_count(stream, t->lanes, "element");
  fprintf(stream, ", one a lane; %s", evaluations[t->evaluation]);
  if (t->unrolls_rows) fprintf(stream, ", unrolls rows");
  if (t->prefetch_packed)
    fprintf(stream, ", prefetches packed data%s", t->prefetch_again ? ", some twice" : "");
  if (t->prefetch_vectors) fprintf(stream, ", prefetches vectors");
  fprintf(stream, "\n  function: '%s'", plan->function_name);
  if (t->call == RITZ_CALL_TEXT)
    fprintf(stream, " as text of %s", file_name(plan->source_path));
  else
    fprintf(stream, " by pointer");
  fprintf(stream, ", ");
  print_count(stream, t->call_points, "point");
  fprintf(stream, " of all lanes a call, vector length %" CeedInt_FMT "\n", plan->vec_length);
}

static void print_cost(FILE *stream, const RitzPlanCost *c) {
  double bytes = c->bytes_stored + c->bytes_offsets + c->bytes_vectors;
  fprintf(stream, "  an element: %.10g flops; %.1f bytes = %.1f stored data + %.1f offsets + %.1f vectors",
          c->flops, bytes, c->bytes_stored, c->bytes_offsets, c->bytes_vectors);
  if (bytes > 0) fprintf(stream, "; %.3f flops a byte", c->flops / bytes);
  fprintf(stream, "\n");
}

static void print_grid(FILE *stream, const RitzPlan *plan) {
  print_count(stream, plan->Q, "point");
  fprintf(stream, " = %" CeedInt_FMT "^%" CeedInt_FMT, plan->Q_1d, plan->dim);
}

static void print_plan(FILE *stream, const RitzPlan *plan, const RitzCpuTarget *target) {
  fprintf(stream, "Plan of '%s': ", plan->name);
  print_count(stream, plan->num_elem, "element");
  fprintf(stream, ", ");
  if (plan->is_at_points)
    fprintf(stream, "%" CeedSize_FMT " points of their own", plan->num_points);
  else
    print_grid(stream, plan);
  if (plan->precision != CEED_SCALAR_TYPE)
    fprintf(stream, ", arithmetic in %s", ritz_precision_name(plan->precision));
  fprintf(stream, "\n");
  print_bases(stream, plan);
  print_spaces(stream, plan, target);
  print_fields(stream, plan);
}

int ritz_plan_print(const RitzPlan *plan, const RitzPlanCost *cost, FILE *stream) {
  RitzLocale locale;
  RITZ_TRY(ritz_locale_enter(NULL, &locale));
  print_plan(stream, plan, NULL);
  print_cost(stream, cost);
  ritz_locale_leave(&locale);
  return CEED_ERROR_SUCCESS;
}

int ritz_plan_cpu_print(const RitzPlan *plan, const RitzCpuTarget *target, FILE *stream) {
  const RitzPlanCost cost = ritz_plan_cpu_cost(plan, target);
  RitzLocale locale;
  RITZ_TRY(ritz_locale_enter(NULL, &locale));
  print_plan(stream, plan, target);
  print_target(stream, plan, target);
  print_cost(stream, &cost);
  fprintf(stream, "  a batch: %.0f bytes of arrays\n", target->working_set);
  ritz_locale_leave(&locale);
  return CEED_ERROR_SUCCESS;
}
