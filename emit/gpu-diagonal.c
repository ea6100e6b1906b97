// SPDX-License-Identifier: BSD-2-Clause
// The kernel of a diagonal, or of a column of point blocks, on a device (contract in emit/emit.h).
#include <stdio.h>

#include "emit/emit.h"
#include "emit/gpu-text.h"

typedef struct {
  RitzGpuEmitter emitter;
  const RitzGpuDiagonal *device;
  const RitzDiagonalPlan *plan;
  int output; // number of the diagonal's space
  int P;      // its nodes in a line
} Diagonal;

// Names of products by the number of derivatives in them; with _t transposed.
static const char *const products[] = {"ritz_BB", "ritz_BD", "ritz_DD"};

static int num_comp(const Diagonal *d) { return (int)d->plan->output.num_comp; }
static int dim(const Diagonal *d) { return (int)d->plan->plan.dim; }

// ---- Tables ----

static bool is_used_last(const Diagonal *d, int product) {
  for (int t = 0; t < d->plan->num_terms; t++) {
    if (d->plan->terms[t].product[dim(d) - 1] == product) return true;
  }
  return false;
}

static bool is_used_before(const Diagonal *d, int product) {
  for (int s = 0; s < d->device->num_sums; s++) {
    for (int k = 0; k < dim(d) - 1; k++) {
      if (d->device->sums[s].product[k] == product) return true;
    }
  }
  return false;
}

// Along the last direction rows are taken as they are, one for each point.
static int emit_product(Diagonal *d, int k) {
  RitzPlanMatrix whole = d->plan->products[k];
  char name[48];
  whole.parity = 0;
  if (is_used_last(d, k)) RITZ_TRY(ritz_emit_gpu_matrix(&d->emitter, products[k], &whole, false));
  if (!is_used_before(d, k)) return CEED_ERROR_SUCCESS;
  snprintf(name, sizeof(name), "%s_t", products[k]);
  return ritz_emit_gpu_matrix(&d->emitter, name, &d->plan->products[k], true);
}

static int emit_products(Diagonal *d) {
  ritz_text_add(&d->emitter.text, "\n// ---- Products of the 1D tables of basis %d ----\n",
                d->plan->output.basis);
  for (int k = 0; k < RITZ_NUM_PRODUCTS; k++) RITZ_TRY(emit_product(d, k));
  return CEED_ERROR_SUCCESS;
}

// ---- Points ----

static void emit_gpu_diagonal_arguments(Diagonal *d) {
  ritz_text_add(&d->emitter.text,
                "      CeedScalar active_in[%d], active_out[%d];\n      RitzReal terms[%d];\n",
                (int)d->plan->size_in, (int)d->plan->size_out, d->plan->num_terms);
  for (int i = 0; i < d->plan->plan.num_in + d->plan->plan.num_out; i++) {
    if (d->plan->offsets[i] < 0) ritz_emit_gpu_argument(&d->emitter, i);
  }
}

static void emit_pointers(Diagonal *d, bool is_input) {
  const RitzPlan *plan = &d->plan->plan;
  const int first = is_input ? 0 : plan->num_in;
  const int num = is_input ? plan->num_in_arguments : plan->num_out_arguments;
  const char *name = is_input ? "in" : "out";
  RitzText *text = &d->emitter.text;
  ritz_text_add(text, "      %sCeedScalar *%s[] = {", is_input ? "const " : "", name);
  for (int k = 0; k < num; k++) {
    const int i = ritz_plan_field_of(plan, is_input, k);
    const int offset = i < 0 ? -1 : (int)d->plan->offsets[first + i];
    ritz_text_add(text, k ? ", " : "");
    if (i < 0)
      ritz_text_add(text, "NULL");
    else if (offset < 0)
      ritz_text_add(text, "%s%s%d", ritz_emit_gpu_wide(&d->emitter), name, i);
    else
      ritz_text_add(text, "active_%s + %d", name, offset);
  }
  ritz_text_add(text, "};\n");
}

// Derivatives of component c by component c, or that of the column, of a mode.
static void emit_call(Diagonal *d, int mode) {
  const RitzDiagonalPlan *p = d->plan;
  RitzText *text = &d->emitter.text;
  ritz_text_add(text, "      ritz_set_unit(%d, %d + %s, active_in);\n", (int)p->size_in,
                (int)p->first_in[mode], p->is_column ? "column" : "c");
  ritz_emit_gpu_call(&d->emitter);
  for (int o = 0; o < p->num_out; o++)
    ritz_text_add(text, "      terms[%d] += ritz_pick(%d, active_out + %d, c);\n",
                  p->term_of[mode * p->num_out + o], num_comp(d), (int)p->first_out[o]);
}

static void emit_points(Diagonal *d) {
  const RitzDiagonalPlan *p = d->plan;
  RitzText *text = &d->emitter.text;
  ritz_emit_gpu_open_points(&d->emitter);
  emit_gpu_diagonal_arguments(d);
  for (int i = 0; i < p->plan.num_in; i++) {
    if (p->offsets[i] < 0) ritz_emit_gpu_field(&d->emitter, i);
  }
  for (int i = 0; i < p->plan.num_in + p->plan.num_out; i++) {
    if (p->offsets[i] < 0) ritz_emit_gpu_widen(&d->emitter, i);
  }
  emit_pointers(d, true);
  emit_pointers(d, false);
  ritz_text_add(text, "      ritz_zero(%d, terms);\n", p->num_terms);
  for (int m = 0; m < p->num_in; m++) emit_call(d, m);
  for (int t = 0; t < p->num_terms; t++)
    ritz_text_add(text, "      ritz_add_row(%d, %s + k * %d, terms[%d], sums + %d);\n", d->P,
                  products[p->terms[t].product[dim(d) - 1]], d->P, t, d->device->sum_of[t] * d->P);
  ritz_emit_gpu_close_points(&d->emitter);
}

// ---- Contractions ----

// line += product^T of array `number`
static void emit_add(Diagonal *d, int product, int number, const char *pass, const char *stride) {
  ritz_text_add(&d->emitter.text, "      ritz_get_add(RITZ_M(%s_t), m + %d * RITZ_ARRAY + L.%s, %s, line);\n",
                products[product], d->device->first_array + number, pass, stride);
}

static void open_line(Diagonal *d) {
  ritz_text_add(&d->emitter.text, "    {\n      RitzReal line[%d];\n      ritz_zero(%d, line);\n", d->P,
                d->P);
}

// The first sum with this product in the middle direction, which takes the place of all those, or num_sums.
static int first_sum(const Diagonal *d, int middle) {
  int s = 0;
  while (s < d->device->num_sums && d->device->sums[s].product[1] != middle) s++;
  return s;
}

static void emit_first_of(Diagonal *d, int middle, const char *pass) {
  const RitzGpuDiagonal *g = d->device;
  const int first = first_sum(d, middle);
  if (first == g->num_sums) return;
  open_line(d);
  for (int s = first; s < g->num_sums; s++) {
    if (g->sums[s].product[1] == middle) emit_add(d, g->sums[s].product[0], s, pass, "1");
  }
  ritz_text_add(&d->emitter.text, "      ritz_write(%d, line, m + %d * RITZ_ARRAY + L.%s, 1);\n    }\n", d->P,
                g->first_array + first, pass);
}

static void emit_middle(Diagonal *d) {
  const RitzGpuPass *pass = ritz_plan_gpu_pass(d->emitter.target, RITZ_PASS_MIDDLE, d->P);
  char name[48];
  ritz_emit_gpu_name_pass(pass, name);
  ritz_emit_gpu_open_pass(&d->emitter, pass, "Nodes along the first direction");
  for (int k = 0; k < RITZ_NUM_PRODUCTS; k++) emit_first_of(d, k, name);
  ritz_emit_gpu_close_pass(&d->emitter);
  ritz_emit_gpu_barrier(&d->emitter);
}

// Lines along the middle direction, in two dimensions along the first.
static void emit_all_of_line(Diagonal *d, const char *pass) {
  const RitzGpuDiagonal *g = d->device;
  for (int s = 0; dim(d) == 2 && s < g->num_sums; s++) emit_add(d, g->sums[s].product[0], s, pass, "1");
  for (int k = 0; dim(d) == 3 && k < RITZ_NUM_PRODUCTS; k++) {
    if (first_sum(d, k) < g->num_sums) emit_add(d, k, first_sum(d, k), pass, "RITZ_ROW");
  }
}

static void emit_nodes(Diagonal *d) {
  const RitzGpuPass *pass = ritz_plan_gpu_pass(d->emitter.target, RITZ_PASS_NODES, d->P);
  char name[32], first[64];
  ritz_emit_gpu_name_pass(pass, name);
  snprintf(first, sizeof(first), "L.%s_first", name);
  ritz_emit_gpu_open_pass(&d->emitter, pass, "Nodes along the lines that are scattered");
  open_line(d);
  emit_all_of_line(d, name);
  ritz_text_add(&d->emitter.text, "      const RitzLong e = first_elem + L.%s_elem;\n      ", name);
  ritz_emit_gpu_scatter(&d->emitter, d->output, d->P, dim(d) == 3 ? d->P : 1, "e < num_elem", "e", first,
                        "line", false);
  ritz_text_add(&d->emitter.text, "    }\n");
  ritz_emit_gpu_close_pass(&d->emitter);
}

static void emit_sums(Diagonal *d) {
  if (dim(d) == 1) {
    ritz_text_add(&d->emitter.text, "  ");
    ritz_emit_gpu_scatter(&d->emitter, d->output, d->P, 1, "is_on", "elem", "L.points_line", "sums", false);
    return;
  }
  ritz_text_add(&d->emitter.text,
                "  if (is_live) ritz_keep(%d, %d, sums, m + %d * RITZ_ARRAY + L.points, %s);\n",
                d->device->num_sums, d->P, d->device->first_array, dim(d) == 3 ? "RITZ_PLANE" : "RITZ_ROW");
  ritz_emit_gpu_barrier(&d->emitter);
  if (dim(d) == 3) emit_middle(d);
  emit_nodes(d);
}

// ---- The kernel ----

// On to the next component.
static void emit_step(Diagonal *d) {
  const CeedInt stride = d->emitter.target->spaces[d->output].strides[1];
  if (num_comp(d) == 1) return;
  if (stride)
    ritz_text_add(&d->emitter.text, "  y%d += %d;\n", d->output, (int)stride);
  else
    ritz_text_add(&d->emitter.text, "  y%d += comp_stride%d;\n", d->output, d->output);
  if (dim(d) > 1) ritz_emit_gpu_barrier(&d->emitter);
}

static void emit_kernel(Diagonal *d) {
  const int size = d->device->num_sums * d->P;
  ritz_emit_gpu_open(&d->emitter, "ritz_diagonal");
  ritz_emit_gpu_inputs(&d->emitter);
  ritz_text_add(
      &d->emitter.text,
      "\n  RITZ_ROLL\n  for (int c = 0; c < %d; c++) {\n  RitzReal sums[%d];\n  ritz_zero(%d, sums);\n",
      num_comp(d), size, size);
  emit_points(d);
  emit_sums(d);
  emit_step(d);
  ritz_text_add(&d->emitter.text, "  }\n}\n");
}

static void emit_heading(Diagonal *d) {
  ritz_text_add(&d->emitter.text,
                "// Generated by Ritz: %s of E^T B^T D B E with the QFunction '%s', %d elements in a "
                "block.\n",
                d->plan->is_column ? "a column of the point blocks" : "the diagonal",
                d->plan->plan.function_name, (int)d->emitter.target->num_elem);
}

static void emit_addition(Diagonal *d) {
  if (!d->plan->is_column) return;
  ritz_text_add(&d->emitter.text,
                "\n#define RITZ_BLOCK_ENTRY %s\n#define RITZ_BLOCK_COMPONENTS %d\n"
                "#include \"kernels/gpu/point-blocks.h\"\n",
                d->plan->output.precision == CEED_SCALAR_FP32 ? "float" : "double", num_comp(d));
}

int ritz_emit_gpu_diagonal(Ceed ceed, const RitzGpuDiagonal *diagonal, const char *source, char **text) {
  RitzPlan inputs = diagonal->plan; // behind the sizes without the diagonal, which comes after its spaces
  Diagonal d = {.emitter = {.plan = &inputs, .target = diagonal->target, .text = {.ceed = ceed}},
                .device = diagonal,
                .plan = diagonal->diagonal,
                .output = diagonal->plan.num_spaces - 1,
                .P = (int)diagonal->plan.bases[diagonal->plan.num_bases - 1].P_1d};
  emit_heading(&d);
  ritz_emit_gpu_sizes(&d.emitter);
  inputs.num_spaces--;
  inputs.num_bases--;
  ritz_text_add(&d.emitter.text, "#include \"kernels/gpu/diagonal.h\"\n");
  int ierr = ritz_emit_gpu_bases(&d.emitter);
  if (!ierr) ierr = emit_products(&d);
  ritz_emit_gpu_lines(&d.emitter);
  emit_kernel(&d);
  emit_addition(&d);
  ritz_emit_gpu_user(&d.emitter, source);
  if (ierr) RITZ_FREE(&d.emitter.text.chars);
  return ierr ? ierr : ritz_text_finish(&d.emitter.text, text);
}
