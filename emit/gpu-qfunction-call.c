// SPDX-License-Identifier: BSD-2-Clause
// The QFunction in fused kernels for devices (contract in emit/gpu-text.h).
#include <stdio.h>

#include "emit/gpu-text.h"
#include "plan/gpu-simple-inputs.h"
#include "plan/gpu-tiles.h"

static bool is_output(const RitzGpuEmitter *e, int i) { return i >= e->plan->num_in; }

bool ritz_emit_gpu_adds(const RitzGpuEmitter *e, int i) {
  const RitzPlan *plan = e->plan;
  for (int j = plan->num_in; j < i; j++) {
    if (plan->fields[j].space == plan->fields[i].space && plan->fields[j].mode == plan->fields[i].mode)
      return true;
  }
  return false;
}

void ritz_emit_gpu_name_argument(const RitzGpuEmitter *e, int i, char name[32]) {
  snprintf(name, 32, is_output(e, i) ? "out%d" : "in%d", is_output(e, i) ? i - e->plan->num_in : i);
}

// Size of a field for all vectors of the thread, which follow each other.
static int size_of(const RitzGpuEmitter *e, int i) { return (int)ritz_gpu_field_size(e->plan, e->target, i); }

// ---- Fields ----

static void add_lines(RitzGpuEmitter *e, int i, int nc, const char *lines, int first) {
  const int Q = (int)e->target->Q_1d;
  char name[48];
  ritz_emit_gpu_name_argument(e, i, name);
  if (is_output(e, i))
    ritz_text_add(&e->text, "      ritz_give_lines(%d, %d, %s + %d, %d, k, %s);\n", nc, Q, name, first,
                  ritz_emit_gpu_adds(e, i), lines);
  else
    ritz_text_add(&e->text, "      ritz_take_lines(%d, %d, %s, k, %s + %d);\n", nc, Q, lines, name, first);
}

static void add_arrays(RitzGpuEmitter *e, int i, int array, int first) {
  const int nc = (int)e->plan->spaces[e->plan->fields[i].space].num_comp;
  const char *walk = e->target->dim == 3 ? "RITZ_PLANE" : "RITZ_ROW";
  char name[32], place[80];
  ritz_emit_gpu_name_argument(e, i, name);
  snprintf(place, sizeof(place), "m + %d * RITZ_ARRAY + L.points + k * %s", array, walk);
  if (is_output(e, i))
    ritz_text_add(&e->text, "      ritz_give_arrays(%d, %s + %d, %d, %s);\n", nc, name, first,
                  ritz_emit_gpu_adds(e, i), place);
  else
    ritz_text_add(&e->text, "      ritz_take_arrays(%d, %s, %s + %d);\n", nc, place, name, first);
}

// Derivative d of vector number k of the thread: arguments are [vector][direction][component], lines and
// arrays [direction][vector][component].
static void add_derivative(RitzGpuEmitter *e, int i, int k, int d) {
  const int s = e->plan->fields[i].space, dim = (int)e->target->dim, nc = (int)e->plan->spaces[s].num_comp,
            wide = (int)ritz_gpu_num_comp(e->target, &e->plan->spaces[s]);
  const bool is_collocated = ritz_gpu_is_collocated(e, s);
  char lines[48];
  if (is_collocated && d < dim - 1) {
    add_arrays(e, i, ritz_gpu_derivative_array(e, s, d) + k * nc, (k * dim + d) * nc);
    return;
  }
  snprintf(lines, sizeof(lines), "g%d + %d", s,
           ((is_collocated ? 0 : d * wide) + k * nc) * (int)e->target->Q_1d);
  add_lines(e, i, nc, lines, (k * dim + d) * nc);
}

static void add_gradient(RitzGpuEmitter *e, int i) {
  const bool is_active = e->plan->spaces[e->plan->fields[i].space].is_active;
  for (int k = 0; k < (is_active ? e->target->vectors_per_thread : 1); k++)
    for (int d = 0; d < e->target->dim; d++) add_derivative(e, i, k, d);
}

// The place of point k in the numbering of an element's points; k may also count elements.
static const char *point_of(const RitzGpuEmitter *e) {
  return e->target->elem_per_thread > 1 ? "L.points_line" : "L.points_line + k * RITZ_LINES";
}

// Data at points, without a basis.
static void add_data(RitzGpuEmitter *e, int i) {
  const int s = e->plan->fields[i].space, nc = (int)e->plan->spaces[s].num_comp;
  char name[48];
  ritz_emit_gpu_name_argument(e, i, name);
  ritz_text_add(&e->text, "      ");
  if (is_output(e, i))
    ritz_emit_gpu_scatter(e, s, 1, 0, "is_on", "elem", point_of(e), name, ritz_emit_gpu_adds(e, i));
  else if (ritz_plan_gpu_is_ahead(e->plan, e->target, s))
    ritz_text_add(&e->text,
                  "ritz_tile_read(%d, m + %d + (%s2 * k + point) * %d * RITZ_THREADS + RITZ_THREAD, %s);\n",
                  nc, (int)ritz_plan_gpu_ahead_place(e->plan, e->target, s),
                  e->target->num_prefetched_tiles == 2 ? "tile % 2 * 4 + " : "", nc, name);
  else
    ritz_emit_gpu_gather(e, s, 1, 0, "elem", point_of(e), name);
}

static void add_weights(RitzGpuEmitter *e, int i) {
  const int b = e->plan->fields[i].basis;
  if (!ritz_plan_has_grid(&e->plan->bases[b]))
    ritz_text_add(&e->text, "      in%d[0] = ritz_weights%d_table[%s];\n", i, b, point_of(e));
  else if (e->target->dim == 1 && e->target->Q_1d == 1)
    ritz_text_add(&e->text, "      in%d[0] = w%d;\n", i, b);
  else
    ritz_text_add(&e->text, "      in%d[0] = ritz_weights%d[k] * w%d;\n", i, b, b);
}

void ritz_emit_gpu_field(RitzGpuEmitter *e, int i) {
  const RitzPlanField *f = &e->plan->fields[i];
  char lines[32];
  if (f->space >= 0 && ritz_gpu_is_simple(&e->plan->spaces[f->space])) {
    ritz_emit_gpu_simple_field(e, i, (int)e->target->dim - 1, "k");
    return;
  }
  switch (f->mode) {
  case CEED_EVAL_WEIGHT: add_weights(e, i); break;
  case CEED_EVAL_NONE: add_data(e, i); break;
  case CEED_EVAL_INTERP:
    snprintf(lines, sizeof(lines), "u%d", f->space);
    add_lines(e, i, size_of(e, i), lines, 0);
    break;
  default:
    if (ritz_gpu_has_dense(e, f->space) || ritz_gpu_has_vector(e, f->space)) {
      snprintf(lines, sizeof(lines), "g%d", f->space);
      add_lines(e, i, (int)f->size, lines, 0);
    } else {
      add_gradient(e, i);
    }
  }
}

// ---- The call ----

void ritz_emit_gpu_argument(RitzGpuEmitter *e, int i) {
  char name[48];
  ritz_emit_gpu_name_argument(e, i, name);
  ritz_text_add(&e->text, "      RitzReal %s[%d];\n", name, size_of(e, i));
}

void ritz_emit_gpu_widen(RitzGpuEmitter *e, int i) {
  const int size = size_of(e, i);
  char name[48];
  if (!ritz_gpu_converts_arguments(e->plan)) return;
  ritz_emit_gpu_name_argument(e, i, name);
  ritz_text_add(&e->text, "      CeedScalar wide_%s[%d];\n", name, size);
  if (!is_output(e, i)) ritz_text_add(&e->text, "      ritz_widen(%d, %s, wide_%s);\n", size, name, name);
}

void ritz_emit_gpu_narrow(RitzGpuEmitter *e) {
  for (int i = e->plan->num_in; i < e->plan->num_in + e->plan->num_out; i++) {
    char name[48];
    if (!ritz_gpu_converts_arguments(e->plan)) return;
    ritz_emit_gpu_name_argument(e, i, name);
    ritz_text_add(&e->text, "      ritz_narrow(%d, wide_%s, %s);\n", size_of(e, i), name, name);
  }
}

const char *ritz_emit_gpu_wide(const RitzGpuEmitter *e) {
  return ritz_gpu_converts_arguments(e->plan) ? "wide_" : "";
}

static void add_pointers(RitzGpuEmitter *e, bool is_input) {
  const int num = is_input ? e->plan->num_in_arguments : e->plan->num_out_arguments;
  const char *name = is_input ? "in" : "out";
  ritz_text_add(&e->text, "      %sCeedScalar *%s[] = {", is_input ? "const " : "", name);
  for (int k = 0; k < num; k++) {
    const int i = ritz_plan_field_of(e->plan, is_input, k);
    ritz_text_add(&e->text, k ? ", " : "");
    if (i < 0)
      ritz_text_add(&e->text, "NULL");
    else
      ritz_text_add(&e->text, "%s%s%d", ritz_emit_gpu_wide(e), name, i);
  }
  ritz_text_add(&e->text, "%s};\n", num ? "" : "NULL");
}

// A context of no bytes is none.
bool ritz_emit_gpu_has_context(const RitzGpuEmitter *e) { return e->plan->has_context; }

void ritz_emit_gpu_call(RitzGpuEmitter *e) {
  ritz_text_add(&e->text, "      %s(%s, 1, in, out);\n", e->plan->function_name,
                ritz_emit_gpu_has_context(e) ? "RITZ_CONTEXT" : "NULL");
}

// From the arguments of a vector of the thread to those of the next one; passive ones are those of all.
static void add_steps(RitzGpuEmitter *e) {
  for (int i = 0; i < e->plan->num_in + e->plan->num_out; i++) {
    const RitzPlanField *f = &e->plan->fields[i];
    if (size_of(e, i) > f->size)
      ritz_text_add(&e->text, "      %s[%d] += %d;\n", is_output(e, i) ? "out" : "in", f->argument,
                    (int)f->size);
  }
}

void ritz_emit_gpu_call_each(RitzGpuEmitter *e) {
  for (int i = 0; i < e->plan->num_in + e->plan->num_out; i++) ritz_emit_gpu_widen(e, i);
  add_pointers(e, true);
  add_pointers(e, false);
  for (int k = 0; k < e->target->vectors_per_thread; k++) {
    if (k > 0) add_steps(e);
    ritz_emit_gpu_call(e);
  }
}

// Products of the weights of the directions that the line does not run along.
static void add_line_weights(RitzGpuEmitter *e) {
  const int Q = (int)e->target->Q_1d, dim = (int)e->target->dim;
  for (int b = 0; b < e->plan->num_bases; b++) {
    if (!e->plan->bases[b].weights || !ritz_plan_has_grid(&e->plan->bases[b])) continue;
    ritz_text_add(&e->text, "    const RitzReal w%d = ", b);
    if (dim == 3)
      ritz_text_add(&e->text,
                    "ritz_weights%d_table[L.points_line %% %d] * ritz_weights%d_table[L.points_line / %d];\n",
                    b, Q, b, Q);
    else if (dim == 2 || Q == 1)
      ritz_text_add(&e->text, "ritz_weights%d_table[L.points_line];\n", b);
    else
      ritz_text_add(&e->text, "1;\n");
  }
}

void ritz_emit_gpu_open_points(RitzGpuEmitter *e) {
  ritz_text_add(&e->text, "\n  // Points\n  if (is_live) {\n");
  add_line_weights(e);
  if (e->target->elem_per_thread == 1) ritz_emit_gpu_simple_lines(e);
  if (ritz_emit_gpu_has_context(e))
    ritz_text_add(&e->text, "    RITZ_CONTEXT_OPEN%s(context)\n",
                  e->plan->is_context_writable ? "_WRITABLE" : "");
  ritz_text_add(&e->text, "    %s\n    for (int k = 0; k < %d; k++) {\n",
                e->target->unrolls ? "RITZ_UNROLL" : "RITZ_ROLL", (int)e->target->Q_1d);
  if (e->target->fences) ritz_text_add(&e->text, "      RITZ_FENCE(mask);\n");
  if (e->target->elem_per_thread > 1) {
    ritz_text_add(&e->text, "      const RitzLong own = first_elem + L.points_elem + k * RITZ_GROUPS;\n"
                            "      const RitzLong elem = ritz_element(own, num_elem);\n"
                            "      const int is_on = own < num_elem;\n");
    ritz_emit_gpu_simple_lines(e);
  }
}

void ritz_emit_gpu_close_points(RitzGpuEmitter *e) {
  ritz_text_add(&e->text, "    }\n");
  if (ritz_emit_gpu_has_context(e) && e->plan->is_context_writable)
    ritz_text_add(&e->text, "    RITZ_CONTEXT_CLOSE(context)\n");
  ritz_text_add(&e->text, "  }\n");
}

void ritz_emit_gpu_points(RitzGpuEmitter *e) {
  const RitzPlan *plan = e->plan;
  ritz_emit_gpu_open_points(e);
  for (int i = 0; i < plan->num_in + plan->num_out; i++) ritz_emit_gpu_argument(e, i);
  for (int i = 0; i < plan->num_in; i++) ritz_emit_gpu_field(e, i);
  ritz_emit_gpu_call_each(e);
  ritz_emit_gpu_narrow(e);
  ritz_emit_gpu_energy(e);
  for (int i = plan->num_in; i < plan->num_in + plan->num_out; i++) ritz_emit_gpu_field(e, i);
  ritz_emit_gpu_close_points(e);
}
