// SPDX-License-Identifier: BSD-2-Clause
// The kernel of element matrices (contract in emit/emit.h). Derivatives of the QFunction are kept for all
// points of a batch; the matrices follow when all planes are done, and go where the space behind those of the
// plan says.
#include <string.h>

#include "emit/emit.h"
#include "emit/unit-vectors.h"
#include "plan/matrix.h"

typedef struct {
  RitzEmitter emitter;
  const RitzMatrixPlan *matrix;
} Matrix;

static int num_slots(const RitzMatrixPlan *m) { return m->num_terms * (int)m->comps_in * (int)m->comps_out; }

// ---- Terms ----

static void emit_units(Matrix *m) {
  const RitzDiagonalPlan *d = &m->matrix->units;
  RitzText *text = &m->emitter.text;

  ritz_text_add(text, "\n// ---- Terms ----\n");
  ritz_emit_integers(text, "ritz_first_in", d->num_in, d->first_in);
  ritz_emit_integers(text, "ritz_first_out", d->num_out, d->first_out);
  ritz_emit_integers(text, "ritz_term_of", d->num_in * d->num_out, d->term_of);
  ritz_emit_unit_vector(text, d->size_in);
  ritz_text_add(text,
                "static const RitzDiagonal ritz_units = {%d, %d, %d, %d, ritz_first_in, ritz_first_out, "
                "ritz_term_of, %d, ritz_unit_vector};\n",
                (int)m->matrix->comps_in, m->matrix->num_terms, (int)d->num_in, (int)d->num_out,
                (int)d->size_in);
}

// Lists of terms that share what `level` directions leave: level 1 groups, 2 heads. Returns their number.
static int emit_lists(Matrix *m, const char *begin, const char *kind, int level) {
  const RitzMatrixPlan *p = m->matrix;
  const size_t shared = (size_t)(3 - level) * sizeof(int);
  RitzText *text = &m->emitter.text;
  int num = 0;

  ritz_text_add(text, "static const int %s[] = {", begin);
  for (int t = 0, member = 0; t < p->num_terms; t++) {
    const bool is_member = t == 0 || level == 1 || memcmp(p->kinds[t - 1], p->kinds[t], 2 * sizeof(int)) != 0;
    const bool is_first = t == 0 || memcmp(p->kinds[t - 1], p->kinds[t], shared) != 0;
    if (is_first) ritz_text_add(text, num++ ? ", %d" : "%d", member);
    member += is_member;
    if (t + 1 == p->num_terms) ritz_text_add(text, ", %d};\n", member);
  }
  ritz_text_add(text, "static const int %s[] = {", kind);
  for (int t = 0; t < p->num_terms; t++) {
    if (t == 0 || memcmp(p->kinds[t - 1], p->kinds[t], shared) != 0)
      ritz_text_add(text, t ? ", %d" : "%d", p->kinds[t][2 - level]);
  }
  ritz_text_add(text, "};\n");
  return num;
}

static int emit_tensor_terms(Matrix *m) {
  const RitzMatrixPlan *p = m->matrix;
  RitzText *text = &m->emitter.text;

  ritz_text_add(text, "static const int ritz_term_kind[] = {");
  for (int t = 0; t < p->num_terms; t++) ritz_text_add(text, t ? ", %d" : "%d", p->kinds[t][2]);
  ritz_text_add(text, "};\n");
  const int num_groups = emit_lists(m, "ritz_group_begin", "ritz_group_kind", 1);
  const int num_heads = emit_lists(m, "ritz_head_begin", "ritz_head_kind", 2);
  ritz_text_add(text,
                "static const RitzMatrixTerms ritz_terms = {%d, %d, %d, %d, %d, %d, %d,\n"
                "    ritz_group_begin, ritz_head_begin, ritz_term_kind, ritz_group_kind, ritz_head_kind};\n",
                (int)p->comps_in, (int)p->comps_out, (int)p->P_out, (int)p->P_in, p->num_terms, num_groups,
                num_heads);
  return num_groups;
}

// ---- Arrays ----

static void emit_structs(Matrix *m, int num_groups) {
  const RitzMatrixPlan *p = m->matrix;
  RitzEmitter *e = &m->emitter;

  ritz_text_add(&e->text, "\n// ---- Arrays of a batch, of a plane, of a row ----\ntypedef struct {\n");
  ritz_emit_arrays(e, RITZ_STAGE_ELEMENT);
  ritz_text_add(&e->text, "  RitzVec derivatives[%d * %d];\n", num_slots(p), (int)p->units.plan.Q);
  if (!p->is_tensor)
    ritz_text_add(&e->text, "  RitzVec rows[%d * RITZ_MATRIX_COLS];\n",
                  (int)(p->units.plan.Q * p->units.num_out));
  else
    ritz_text_add(&e->text, "  RitzVec planes[%d * RITZ_Q * RITZ_Q];\n", num_groups);
  if (e->target->call_points > 1) ritz_emit_unit_arguments(e, &p->units, "  ");
  ritz_text_add(&e->text, "} RitzWork;\ntypedef struct {\n");
  ritz_emit_arrays(e, RITZ_STAGE_PLANE);
  ritz_text_add(&e->text, "} RitzPlane;\ntypedef struct {\n");
  ritz_emit_arrays(e, RITZ_STAGE_ROW);
  ritz_text_add(&e->text, "} RitzRow;\n");
}

// ---- Functions ----

static void emit_stages(RitzEmitter *e, RitzCpuStage stage) {
  ritz_emit_stage(e, stage, true);
  ritz_text_add(&e->text, "\n");
  ritz_emit_head(e, stage, false);
  ritz_text_add(&e->text, "}\n\n");
}

static void emit_functions(Matrix *m) {
  const RitzMatrixPlan *p = m->matrix;
  const int array = p->units.plan.num_spaces, table = (int)p->units.plan.num_matrices;
  RitzEmitter *e = &m->emitter;

  ritz_text_add(&e->text, "\n// ---- Whole elements ----\n");
  ritz_emit_stage(e, RITZ_STAGE_ELEMENT, true);
  ritz_text_add(&e->text, "\n");
  ritz_emit_head(e, RITZ_STAGE_ELEMENT, false);
  ritz_text_add(&e->text, "  RitzVec *matrix = (RitzVec *)args->spaces[%d].array;\n", array);
  if (p->is_tensor)
    ritz_text_add(&e->text,
                  "  ritz_matrix_tensor(&ritz_terms, (const RitzReal *)args->matrices[%d], w->derivatives, "
                  "w->planes, matrix);\n",
                  table);
  else
    ritz_text_add(&e->text,
                  "  ritz_matrix_dense(&ritz_units, %d, %d, %d, %d, (const RitzReal *)args->matrices[%d],\n"
                  "                    (const RitzReal *)args->matrices[%d], w->derivatives, w->rows, "
                  "matrix);\n",
                  (int)p->comps_out, (int)p->units.plan.Q, (int)p->P_out, (int)p->P_in, table + 1, table);
  ritz_text_add(&e->text, "}\n\n// ---- Planes and rows ----\n\n");
  emit_stages(e, RITZ_STAGE_PLANE);
  emit_stages(e, RITZ_STAGE_ROW);
}

static void emit_point(Matrix *m) {
  const RitzMatrixPlan *p = m->matrix;
  const char *place = ritz_emit_place(&m->emitter);
  const int Q = (int)p->units.plan.Q, nc = (int)p->comps_in;

  ritz_emit_unit_begin(&m->emitter, &p->units);
  ritz_text_add(&m->emitter.text,
                "  int code = 0;\n  ritz_clear_derivatives(%d, %d, w->derivatives, q);\n"
                "  RITZ_ROLLED for (int m = 0; m < %d && !code; m++) {\n"
                "    ritz_set_unit(&ritz_units, m, %sactive_in);\n"
                "    code = ritz_user(args->context, RITZ_CALL * RITZ_LANES, in, out);\n"
                "    ritz_add_derivatives(&ritz_units, %d, m, %sactive_out, %d, w->derivatives, q);\n"
                "  }\n  return code;\n}\n\n#include \"kernels/cpu/loop.h\"\n",
                num_slots(p), Q, (int)p->units.num_in * nc, place, (int)p->comps_out, place, Q);
}

// ---- The kernel ----

int ritz_emit_cpu_matrix(Ceed ceed, const RitzMatrixPlan *plan, const RitzCpuTarget *target, char **text) {
  Matrix m = {.emitter = {.plan = &plan->units.plan, .target = target, .text = {.ceed = ceed}},
              .matrix = plan};
  RitzEmitter *e = &m.emitter;

  ritz_emit_heading(e, "element matrices of B^T D B", 1);
  ritz_text_add(&e->text, "#include \"kernels/cpu/matrix.h\"\n");
  const int ierr = ritz_emit_bases(e);
  emit_units(&m);
  emit_structs(&m, plan->is_tensor ? emit_tensor_terms(&m) : 0);
  ritz_emit_shapes(e);
  ritz_emit_prefetch(e, 0);
  emit_functions(&m);
  emit_point(&m);
  ritz_emit_user(e);
  if (ierr) RITZ_FREE(&e->text.chars);
  return ierr ? ierr : ritz_text_finish(&e->text, text);
}
