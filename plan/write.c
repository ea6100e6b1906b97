// SPDX-License-Identifier: BSD-2-Clause
// The identity of a plan as text (contract in plan/plan.h). Called for keys of measured choices, and by
// tests.
#include "base/locale.h"
#include "plan/plan.h"

// Numbers in full: hexadecimal digits of the mantissa.
static void write_values(FILE *stream, const char *name, CeedSize num, const CeedScalar *values) {
  if (!values) return;
  fprintf(stream, " %s", name);
  for (CeedSize i = 0; i < num; i++) fprintf(stream, " %a", (double)values[i]);
}

static void write_matrix(FILE *stream, const char *name, const RitzPlanMatrix *A) {
  if (A->values) fprintf(stream, " parity %d", A->parity);
  write_values(stream, name, (CeedSize)A->rows * A->cols, A->values);
}

static void write_pairs(FILE *stream, const char *name, const RitzPlanPairs *p) {
  fprintf(stream, " %s %" CeedInt_FMT " %" CeedInt_FMT, name, p->pairs, p->alone);
  for (CeedInt i = 0; i < 2 * p->pairs + p->alone; i++) fprintf(stream, " %" CeedInt_FMT, p->at[i]);
}

static void write_blocks(FILE *stream, const RitzPlanBasis *b) {
  for (CeedInt c = 0; b->route == RITZ_ROUTE_BLOCKS && c < b->dim; c++) {
    const RitzPlanBlock *block = &b->blocks[c];
    fprintf(stream, " block");
    for (CeedInt d = 0; d < b->dim; d++)
      fprintf(stream, " %" CeedInt_FMT " %d %d", block->P[d], block->interp[d], block->grad[d]);
  }
  for (int i = 0; i < b->num_lines; i++) {
    fprintf(stream, " line %" CeedInt_FMT, b->lines[i].cols);
    write_matrix(stream, "", &b->lines[i]);
  }
}

// Matrices of dense bases are handed to kernels; their sizes and structure are part of the text.
static void write_basis(FILE *stream, const RitzPlanBasis *b) {
  fprintf(stream,
          "basis tensor %d dim %" CeedInt_FMT " nodes %" CeedInt_FMT " %" CeedInt_FMT " points %" CeedInt_FMT
          " %" CeedInt_FMT " components %" CeedInt_FMT " %" CeedInt_FMT
          " mode %d route %d matrix %" CeedInt_FMT,
          b->is_tensor, b->dim, b->P_1d, b->P, b->Q_1d, b->Q, b->q_comp_interp, b->q_comp_deriv,
          (int)b->deriv_mode, (int)b->route, b->first_matrix);
  write_matrix(stream, "interp", &b->interp);
  write_matrix(stream, "grad", &b->grad);
  write_matrix(stream, "deriv", &b->deriv);
  write_values(stream, "chebyshev", b->Q_1d * b->P_1d, b->chebyshev.values);
  write_blocks(stream, b);
  write_values(stream, "weights", ritz_plan_has_grid(b) ? b->Q_1d : b->Q, b->weights);
  write_values(stream, "at", b->Q_1d, b->points);
  write_values(stream, "constant", b->q_comp_interp * b->P, b->constant_interp);
  write_values(stream, "slope", b->q_comp_deriv * b->P, b->constant_deriv);
  if (b->is_even_odd) {
    write_pairs(stream, "nodes", &b->node_pairs);
    write_pairs(stream, "values", &b->interp_pairs);
    write_pairs(stream, "derivatives", &b->deriv_pairs);
  }
  fprintf(stream, "\n");
}

// The library's own precision goes without saying.
static void write_precision(FILE *stream, CeedScalarType precision) {
  if (precision != CEED_SCALAR_TYPE) fprintf(stream, " precision %s", ritz_precision_name(precision));
}

// Strides that depend on the size of the mesh are handed to kernels: 0.
static CeedInt stride_of_element(const RitzPlanSpace *s, CeedInt stride) {
  return stride > 0 && stride <= (CeedSize)s->num_nodes * s->num_comp ? stride : 0;
}

static void write_space(FILE *stream, const RitzPlanSpace *s) {
  const RitzPlanRestriction *r = &s->restriction;
  fprintf(stream,
          "space input %d active %d array %d restriction %d type %d step %" CeedInt_FMT " nodes %" CeedInt_FMT
          " components %" CeedInt_FMT " basis %d modes %u oriented %d %d interlaced %d kind %d strides",
          s->is_input, s->is_active, (int)s->array, r->number, (int)r->type, r->row_step, s->num_nodes,
          s->num_comp, s->basis, s->modes, s->is_oriented, s->is_curl_oriented, s->is_interlaced,
          (int)s->kind);
  for (int d = 0; d < 3; d++) fprintf(stream, " %" CeedInt_FMT, stride_of_element(s, r->strides[d]));
  write_precision(stream, s->precision);
  fprintf(stream, "\n");
}

int ritz_plan_write(const RitzPlan *plan, FILE *stream) {
  RitzLocale locale;
  RITZ_TRY(ritz_locale_enter(NULL, &locale));
  fprintf(stream, "grid %" CeedInt_FMT " %" CeedInt_FMT " %" CeedInt_FMT, plan->dim, plan->Q_1d, plan->Q);
  if (plan->is_at_points) fprintf(stream, " at points");
  write_precision(stream, plan->precision);
  fprintf(stream, "\n");
  for (int b = 0; b < plan->num_bases; b++) write_basis(stream, &plan->bases[b]);
  for (int s = 0; s < plan->num_spaces; s++) write_space(stream, &plan->spaces[s]);
  for (int i = 0; i < plan->num_in + plan->num_out; i++) {
    const RitzPlanField *f = &plan->fields[i];
    fprintf(stream, "%s %d mode %d size %" CeedInt_FMT " space %d basis %d\n",
            i < plan->num_in ? "in" : "out", f->argument, (int)f->mode, f->size, f->space, f->basis);
  }
  fprintf(stream, "function %s vector length %" CeedInt_FMT " arguments %d %d\n", plan->function_name,
          plan->vec_length, plan->num_in_arguments, plan->num_out_arguments);
  fprintf(stream, "context %d writable %d\n", plan->has_context, plan->is_context_writable);
  for (int i = 0; i < plan->num_defines; i++) fprintf(stream, "define %s\n", plan->defines[i]);
  ritz_locale_leave(&locale);
  return CEED_ERROR_SUCCESS;
}
