// SPDX-License-Identifier: BSD-2-Clause
// The kernel of a diagonal, or of a column of point blocks (contract in emit/emit.h). Terms are summed at the
// points of a slab (3D: a plane, 2D: a row) and contracted there in all directions but the last, into an
// array for each product of 1D tables in the last direction (last0, last1, last2), which follows at the end.
// Of 1D elements these are the terms.
#include "emit/cpu-text.h"
#include "emit/emit.h"
#include "emit/unit-vectors.h"

typedef struct {
  RitzEmitter emitter;
  const RitzDiagonalPlan *diagonal;
} Diagonal;

// Names of products by the number of derivatives in them.
static const char *const products[] = {"ritz_BB", "ritz_BD", "ritz_DD"};

static int last_product(const Diagonal *d, int term) {
  return d->diagonal->terms[term].product[d->diagonal->plan.dim - 1];
}

// The first of the terms begin .. num_terms - 1 with this product in the last direction, or num_terms.
static int next_term(const Diagonal *d, int product, int begin) {
  while (begin < d->diagonal->num_terms && last_product(d, begin) != product) begin++;
  return begin;
}

static bool is_used(const Diagonal *d, int product) {
  for (int t = 0; t < d->diagonal->num_terms; t++) {
    for (int k = 0; k < d->diagonal->plan.dim; k++) {
      if (d->diagonal->terms[t].product[k] == product) return true;
    }
  }
  return false;
}

// ---- Constants ----

static int emit_products(Diagonal *d) {
  RitzEmitter *e = &d->emitter;
  char name[48];

  ritz_text_add(&e->text, "\n// ---- Products of the 1D tables of basis %d ----\n",
                d->diagonal->output.basis);
  for (int k = 0; k < RITZ_NUM_PRODUCTS; k++) {
    if (!is_used(d, k)) continue;
    snprintf(name, sizeof(name), "%s_t", products[k]);
    RITZ_TRY(ritz_emit_matrix(e, name, &d->diagonal->products[k], true));
  }
  return CEED_ERROR_SUCCESS;
}

static void emit_terms(Diagonal *d) {
  const RitzDiagonalPlan *p = d->diagonal;
  RitzText *text = &d->emitter.text;

  ritz_text_add(text, "\n// ---- Terms ----\n");
  ritz_emit_integers(text, "ritz_first_in", p->num_in, p->first_in);
  ritz_emit_integers(text, "ritz_first_out", p->num_out, p->first_out);
  ritz_emit_integers(text, "ritz_term_of", p->num_in * p->num_out, p->term_of);
  ritz_emit_unit_vector(text, p->size_in);
  ritz_text_add(text,
                "static const RitzDiagonal ritz_diagonal = {%d, %d, %d, %d, ritz_first_in, ritz_first_out, "
                "ritz_term_of, %d, ritz_unit_vector};\n",
                (int)p->output.num_comp, p->num_terms, (int)p->num_in, (int)p->num_out, (int)p->size_in);
}

// ---- Arrays ----

static void emit_structs(Diagonal *d) {
  const RitzDiagonalPlan *p = d->diagonal;
  const RitzPlanBasis *b = &p->plan.bases[p->output.basis];
  const int nc = (int)p->output.num_comp, P = (int)b->P_1d, Q = (int)b->Q_1d;
  RitzEmitter *e = &d->emitter;

  ritz_text_add(&e->text, "\n// ---- Arrays of a batch, of a plane, of a row ----\ntypedef struct {\n");
  ritz_emit_arrays(e, RITZ_STAGE_ELEMENT);
  ritz_text_add(&e->text, "  RitzVec terms[%d * %d * RITZ_TERM_STRIDE];\n", p->num_terms, nc);
  for (int k = 0; b->dim > 1 && k < RITZ_NUM_PRODUCTS; k++) {
    if (next_term(d, k, 0) < p->num_terms)
      ritz_text_add(&e->text, "  RitzVec last%d[%d * RITZ_SIZE(%d, %d)];\n", k, nc, Q, P);
  }
  ritz_text_add(&e->text, "  RitzVec nodes[%d * RITZ_SIZE(%d, %d)];\n", nc, P, P);
  if (d->emitter.target->call_points > 1) ritz_emit_unit_arguments(&d->emitter, d->diagonal, "  ");
  ritz_text_add(&e->text, "} RitzWork;\ntypedef struct {\n");
  ritz_emit_arrays(e, RITZ_STAGE_PLANE);
  ritz_text_add(&e->text, "} RitzPlane;\ntypedef struct {\n");
  ritz_emit_arrays(e, RITZ_STAGE_ROW);
  ritz_text_add(&e->text, "} RitzRow;\n");
}

// ---- Contractions ----

// Steps of prefetching in the last direction: lines.
static CeedInt count_steps(const Diagonal *d) {
  const RitzPlanBasis *b = &d->diagonal->plan.bases[d->diagonal->output.basis];
  CeedInt num_products = 0;

  for (int k = 0; k < RITZ_NUM_PRODUCTS; k++) num_products += next_term(d, k, 0) < d->diagonal->num_terms;
  return num_products * d->diagonal->output.num_comp * CeedIntPow(b->P_1d, b->dim - 1);
}

// All terms of slab `slab`.
static void emit_slab(Diagonal *d, const char *slab) {
  const RitzDiagonalPlan *p = d->diagonal;
  const int nc = (int)p->output.num_comp;

  for (int t = 0; t < p->num_terms; t++) {
    const int *product = p->terms[t].product, last = last_product(d, t);
    ritz_text_add(
        &d->emitter.text,
        "  ritz_term_down(&%s_t, &%s_t, %d, w->terms + %d * RITZ_TERM_STRIDE, %s, w->last%d, %s);\n",
        products[product[0]], products[p->plan.dim == 3 ? product[1] : product[0]], nc, t * nc, slab, last,
        next_term(d, last, 0) < t ? "true" : "false");
  }
}

static void emit_last(Diagonal *d) {
  const RitzDiagonalPlan *p = d->diagonal;
  const RitzPlanBasis *b = &p->plan.bases[p->output.basis];
  const int nc = (int)p->output.num_comp;
  bool add = false;
  char array[64];

  for (int k = 0; k < RITZ_NUM_PRODUCTS; k++) {
    const int term = next_term(d, k, 0);
    if (term == p->num_terms) continue;
    if (b->dim > 1)
      snprintf(array, sizeof(array), "last%d", k);
    else
      snprintf(array, sizeof(array), "terms + %d * RITZ_TERM_STRIDE", term * nc);
    ritz_text_add(&d->emitter.text, "  ritz_last(prefetch, &%s_t, %d, %d, w->%s, w->nodes, %s);\n",
                  products[k], (int)b->P_1d, nc, array, add ? "true" : "false");
    add = true;
  }
}

static void emit_functions(Diagonal *d) {
  const RitzDiagonalPlan *p = d->diagonal;
  RitzEmitter *e = &d->emitter;

  ritz_text_add(&e->text, "\n// ---- Whole elements ----\n");
  ritz_emit_stage(e, RITZ_STAGE_ELEMENT, true);
  ritz_text_add(&e->text, "\n");
  ritz_emit_head(e, RITZ_STAGE_ELEMENT, false);
  emit_last(d);
  ritz_emit_transfer(e, &p->output, &e->target->spaces[p->plan.num_spaces], p->plan.num_spaces, "w->nodes");
  ritz_text_add(&e->text, "}\n\n// ---- Planes and rows ----\n\n");
  ritz_emit_stage(e, RITZ_STAGE_PLANE, true);
  ritz_text_add(&e->text, "\n");
  ritz_emit_head(e, RITZ_STAGE_PLANE, false);
  if (p->plan.dim == 3) emit_slab(d, "k");
  ritz_text_add(&e->text, "}\n\n");
  ritz_emit_stage(e, RITZ_STAGE_ROW, true);
  ritz_text_add(&e->text, "\n");
  ritz_emit_head(e, RITZ_STAGE_ROW, false);
  if (p->plan.dim == 2) emit_slab(d, "j");
  ritz_text_add(&e->text, "}\n");
}

// ---- Points ----

static void emit_point(Diagonal *d) {
  const RitzDiagonalPlan *p = d->diagonal;
  const char *place = ritz_emit_place(&d->emitter);
  RitzText *text = &d->emitter.text;

  ritz_emit_unit_begin(&d->emitter, p);
  ritz_text_add(text,
                "  const int at = RITZ_IN_TERM(j, i);\n  int code = 0;\n  (void)q;\n"
                "  ritz_clear_terms(&ritz_diagonal, w->terms, at);\n"
                "  RITZ_ROLLED for (int m = 0; m < %d && !code; m++) {\n",
                (int)(p->is_column ? p->num_in : p->num_in * p->output.num_comp));
  if (p->is_column)
    ritz_text_add(text, "    ritz_set_unit(&ritz_diagonal, m * %d + args->column, %sactive_in);\n",
                  (int)p->output.num_comp, place);
  else
    ritz_text_add(text, "    ritz_set_unit(&ritz_diagonal, m, %sactive_in);\n", place);
  ritz_text_add(text,
                "    code = ritz_user(args->context, RITZ_CALL * RITZ_LANES, in, out);\n"
                "    ritz_add_%sterms(&ritz_diagonal, m, %sactive_out, w->terms, at);\n"
                "  }\n  return code;\n}\n\n#include \"kernels/cpu/loop.h\"\n",
                p->is_column ? "column_" : "", place);
}

// ---- The kernel ----

int ritz_emit_cpu_diagonal(Ceed ceed, const RitzDiagonalPlan *plan, const RitzCpuTarget *target,
                           char **text) {
  Diagonal d = {.emitter = {.plan = &plan->plan, .target = target, .text = {.ceed = ceed}}, .diagonal = plan};
  const RitzCpuSpace *output = &target->spaces[plan->plan.num_spaces];
  RitzEmitter *e = &d.emitter;

  ritz_emit_heading(
      e, plan->is_column ? "a column of the point blocks of E^T B^T D B E" : "the diagonal of E^T B^T D B E",
      ritz_emit_row_columns(&plan->output, output));
  ritz_text_add(&e->text, "#include \"kernels/cpu/diagonal.h\"\n");
  int ierr = ritz_emit_bases(e);
  if (!ierr) ierr = emit_products(&d);
  emit_terms(&d);
  emit_structs(&d);
  ritz_emit_shapes(e);
  ritz_emit_shape(e, &plan->output, output, plan->plan.num_spaces);
  ritz_emit_prefetch(e, count_steps(&d));
  emit_functions(&d);
  emit_point(&d);
  ritz_emit_user(e);
  if (ierr) RITZ_FREE(&e->text.chars);
  return ierr ? ierr : ritz_text_finish(&e->text, text);
}
