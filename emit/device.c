// SPDX-License-Identifier: BSD-2-Clause
// The text around a QFunction on a device (contract in emit/emit.h). Called by backends/gpu/qfunction.c.
#include "core/core.h"
#include "emit/emit.h"
#include "emit/text.h"

// A field: the letter of its direction and its number name it in the text. One of size 0 has nothing but a
// NULL in the list of pointers.
typedef struct {
  char letter;
  CeedInt number, size;
} Field;

typedef void (*AddField)(RitzText *text, const Field *field);

static void add_fields(RitzText *text, CeedQFunction qf, bool of_inputs, AddField add) {
  const CeedInt num = of_inputs ? qf->num_in : qf->num_out;
  CeedQFunctionField *const fields = of_inputs ? qf->in : qf->out;
  for (CeedInt i = 0; i < num; i++) {
    if (fields[i]->size > 0) add(text, &(Field){of_inputs ? 'u' : 'v', i, fields[i]->size});
  }
}

static void add_parameters(RitzText *text, const Field *f) {
  const char *access = f->letter == 'u' ? "const " : "";
  const int n = (int)f->number;
  ritz_text_add(text, ",\n    %sRITZ_GLOBAL RitzReal *%c%d, RitzLong %c%d_first, RitzLong %c%d_stride",
                access, f->letter, n, f->letter, n, f->letter, n);
}

static void add_point(RitzText *text, const Field *f) {
  ritz_text_add(text, "  RitzReal %c%d_point[%d];\n", f->letter, (int)f->number, (int)f->size);
}

static void add_load(RitzText *text, const Field *f) {
  const int n = (int)f->number;
  ritz_text_add(text, "  ritz_point_load(%d, u%d, u%d_first + q, u%d_stride, u%d_point);\n", (int)f->size, n,
                n, n, n);
}

static void add_store(RitzText *text, const Field *f) {
  const int n = (int)f->number;
  ritz_text_add(text, "  ritz_point_store(%d, v%d, v%d_first + q, v%d_stride, v%d_point);\n", (int)f->size, n,
                n, n, n);
}

// An array of pointers; one NULL where there is no field.
static void add_pointers(RitzText *text, CeedQFunction qf, bool of_inputs) {
  const CeedInt num = of_inputs ? qf->num_in : qf->num_out;
  CeedQFunctionField *const fields = of_inputs ? qf->in : qf->out;
  ritz_text_add(text, of_inputs ? "  const CeedScalar *in[] = {" : "  CeedScalar *out[] = {");
  for (CeedInt i = 0; i < num; i++) {
    ritz_text_add(text, i ? ", " : "");
    ritz_text_add(text, fields[i]->size ? "%c%d_point" : "NULL", of_inputs ? 'u' : 'v', (int)i);
  }
  ritz_text_add(text, "%s};\n", num ? "" : "NULL");
}

// A context of no bytes is none.
static bool has_context(CeedQFunction qf) { return qf->ctx && qf->ctx->storage.num_bytes > 0; }

static void add_context(RitzText *text, CeedQFunction qf, bool opens) {
  const bool is_writable = qf->is_context_writable;
  if (has_context(qf) && opens)
    ritz_text_add(text, "  RITZ_CONTEXT_OPEN%s(context)\n", is_writable ? "_WRITABLE" : "");
  if (has_context(qf) && !opens && is_writable) ritz_text_add(text, "  RITZ_CONTEXT_CLOSE(context)\n");
}

static void add_declaration(RitzText *text, CeedQFunction qf) {
  ritz_text_add(text,
                "CEED_QFUNCTION(%s)(void *ctx, const CeedInt Q, const CeedScalar *const *in,\n"
                "                   CeedScalar *const *out);\n\n",
                qf->kernel_name);
}

static void add_call(RitzText *text, CeedQFunction qf) {
  ritz_text_add(text, "  %s(%s, 1, in, out);\n", qf->kernel_name, has_context(qf) ? "RITZ_CONTEXT" : "NULL");
}

static void add_kernel(RitzText *text, CeedQFunction qf, CeedInt block_size) {
  add_declaration(text, qf);
  ritz_text_add(text, "RITZ_KERNEL(%d) ritz_qfunction(RITZ_GLOBAL char *context, RitzLong num_points",
                (int)block_size);
  add_fields(text, qf, true, add_parameters);
  add_fields(text, qf, false, add_parameters);
  ritz_text_add(text, ") {\n  RitzLong q = RITZ_ITEM;\n");
  add_fields(text, qf, true, add_point);
  add_fields(text, qf, false, add_point);
  add_pointers(text, qf, true);
  add_pointers(text, qf, false);
  ritz_text_add(text, "  if (q >= num_points) return;\n");
  add_fields(text, qf, true, add_load);
  add_context(text, qf, true);
  add_call(text, qf);
  add_context(text, qf, false);
  add_fields(text, qf, false, add_store);
  ritz_text_add(text, "}\n");
}

static void add_source(RitzText *text, CeedQFunction qf, const char *source) {
  ritz_text_add(text, "\n// ---- The user's text: last, so that its macros reach nothing of ours ----\n");
  ritz_text_add_defines(text, (int)qf->obj.ceed->jit_defines.num, qf->obj.ceed->jit_defines.item);
  ritz_text_add(text, "%s", source);
}

int ritz_emit_device_qfunction(CeedQFunction qf, const char *source, CeedInt block_size, char **text) {
  RitzText t = {.ceed = qf->obj.ceed};
  add_kernel(&t, qf, block_size);
  add_source(&t, qf, source);
  return ritz_text_finish(&t, text);
}

int ritz_emit_device_source(CeedQFunction qf, const char *source, char **text) {
  RitzText t = {.ceed = qf->obj.ceed};
  add_source(&t, qf, source);
  return ritz_text_finish(&t, text);
}

// ---- Assembly ----

// Numbers as a table of integers; one 0 for none.
static void add_integers(RitzText *text, const char *name, CeedInt num, const CeedInt *numbers) {
  ritz_text_add(text, "RITZ_CONSTANT int %s[] = {", name);
  for (CeedInt i = 0; i < num; i++) ritz_text_add(text, "%s%d", i ? ", " : "", (int)numbers[i]);
  ritz_text_add(text, "%s};\n", num ? "" : "0");
}

static void add_size(RitzText *text, const char *name, CeedInt value) {
  ritz_text_add(text, "#define RITZ_%s %d\n", name, (int)value);
}

static void add_pattern(RitzText *text, const RitzGpuAssembly *a) {
  ritz_text_add(text, "#define RITZ_START %s\n#define RITZ_PLACE %s\n", a->is_long ? "RitzLong" : "CeedInt",
                a->place_bytes == 1   ? "unsigned char"
                : a->place_bytes == 2 ? "unsigned short"
                                      : "unsigned");
}

// Values and derivatives of the nodes of one direction at its points, for threads that read different numbers
// and for all of them alike.
static void add_lines(RitzText *text, const char *side, const RitzAssemblySide *s) {
  static const char *const memories[] = {"RITZ_TABLE", "RITZ_CONSTANT"}, *const names[] = {"lines", "plane"};
  const CeedInt num = s->points_1d * s->nodes_1d;
  for (int k = 0; k < 2; k++) {
    ritz_text_add(text, "%s RitzReal ritz_%s_%s[] = {\n", memories[k], names[k], side);
    ritz_text_add_numbers(text, num, s->nodes_1d, s->interp_1d);
    ritz_text_add_numbers(text, num, s->nodes_1d, s->grad_1d);
    ritz_text_add(text, "};\n");
  }
}

static void add_all_lines(RitzText *text, const RitzGpuAssembly *a) {
  add_lines(text, "in", &a->in);
  if (a->in.interp_1d == a->out.interp_1d)
    ritz_text_add(text, "#define ritz_lines_out ritz_lines_in\n#define ritz_plane_out ritz_plane_in\n");
  else
    add_lines(text, "out", &a->out);
}

// The direction in which each mode is derived: 0 to 2, squares having 0 and 2; -1: values.
static void add_axes(RitzText *text, const char *side, const RitzAssemblySide *s) {
  CeedInt num_gradients = 0;
  ritz_text_add(text, "#define RITZ_AXES_%s {", side);
  for (CeedInt m = 0; m < s->num_modes; m++) {
    const CeedInt axis = s->modes[m] == CEED_EVAL_GRAD ? num_gradients++ % s->dim : -1;
    ritz_text_add(text, "%s%d", m ? ", " : "", (int)(axis == s->dim - 1 ? 2 : axis));
  }
  ritz_text_add(text, "}\n");
}

static void add_tensor_shares(RitzText *text, const RitzGpuAssembly *a) {
  add_size(text, "PLANES", a->planes);
  add_size(text, "RESIDENT", a->num_resident);
  add_size(text, "ROWS_1", a->rows_1);
  add_size(text, "ROWS_2", a->rows_2);
  add_size(text, "P_IN", a->in.num_nodes);
  add_size(text, "P_OUT", a->out.num_nodes);
  add_size(text, "N_IN", a->in.nodes_1d);
  add_size(text, "N_OUT", a->out.nodes_1d);
  add_size(text, "N2_IN", ritz_assembly_second(&a->in, a->in.nodes_1d));
  add_size(text, "N2_OUT", ritz_assembly_second(&a->out, a->out.nodes_1d));
  add_size(text, "Q1", a->in.points_1d);
  add_size(text, "Q2", ritz_assembly_second(&a->in, a->in.points_1d));
  add_size(text, "IS_FLAT", a->in.dim == 2);
  add_axes(text, "IN", &a->in);
  add_axes(text, "OUT", &a->out);
  add_all_lines(text, a);
}

static void add_shares(RitzText *text, const RitzGpuAssembly *a) {
  const bool is_diagonal = a->kind == RITZ_ASSEMBLE_DIAGONAL;
  add_size(text, "ROWS", a->rows);
  add_size(text, "COLS", a->cols);
  add_size(text, "COL_GROUPS", a->col_groups);
  add_size(text, "ROW_GROUPS", a->row_groups);
  add_size(text, "TILE_ROWS", a->tile_rows);
  add_size(text, "ROW_TILES", ritz_gpu_assembly_tiles(a->row_groups, a->tile_rows));
  add_size(text, is_diagonal ? "P" : "P_IN", a->in.num_nodes);
  if (is_diagonal) {
    add_size(text, "IS_BLOCKS", a->is_blocks);
    add_size(text, "IS_SYMMETRIC", a->is_symmetric);
    return;
  }
  add_size(text, "P_OUT", a->out.num_nodes);
  add_size(text, "TILE_COLS", a->tile_cols);
  add_size(text, "COL_TILES", ritz_gpu_assembly_tiles(a->col_groups, a->tile_cols));
}

// Sizes that all blocks of threads have.
static void add_block(RitzText *text, const RitzGpuAssembly *a) {
  add_size(text, "ELEMS", a->num_elem);
  add_size(text, "CHUNK", a->chunk);
  add_size(text, "PAIRS", ritz_gpu_assembly_pairs(a));
  add_size(text, "COMP_IN", a->in.num_comp);
  add_size(text, "COMP_OUT", a->out.num_comp);
  add_size(text, "IS_ORDERED", a->is_ordered);
  if (a->kind == RITZ_ASSEMBLE_PATTERN) add_pattern(text, a);
}

static void add_sizes(RitzText *text, const RitzGpuAssembly *a) {
  add_size(text, "KIND", (CeedInt)a->kind);
  add_size(text, "THREADS", a->num_threads);
  add_size(text, "Q", a->num_points);
  add_size(text, "MODES_IN", a->in.num_modes);
  add_size(text, "MODES_OUT", a->out.num_modes);
  add_size(text, "SCALARS_OUT", a->out.num_scalars);
  ritz_text_add(text, "#define RITZ_D_MEMORY %s\n",
                a->kind == RITZ_ASSEMBLE_QFUNCTION ? "RITZ_GLOBAL" : "RITZ_SHARED");
  if (a->kind >= RITZ_ASSEMBLE_MATRICES) add_size(text, "IS_TENSOR", a->is_tensor);
  if (a->kind == RITZ_ASSEMBLE_QFUNCTION) return;
  add_block(text, a);
  if (a->is_tensor)
    add_tensor_shares(text, a);
  else
    add_shares(text, a);
}

// Mode and component of each scalar of the outputs, -1 where it belongs to no mode of this group; of each
// mode of the inputs its first scalar.
static void add_scalars(RitzText *text, const RitzGpuAssembly *a) {
  const CeedInt num_in = a->in.num_modes, num_out = a->out.num_scalars;
  CeedInt *units = NULL;
  if (!text->error) text->error = RITZ_MALLOC(text->ceed, (size_t)num_in + 2 * (size_t)num_out, &units);
  if (text->error) return;
  CeedInt *modes = units + num_in, *comps = modes + num_out;
  for (CeedInt m = 0; m < num_in; m++) units[m] = a->in.offsets ? (CeedInt)a->in.offsets[m] : m;
  for (CeedInt o = 0; o < num_out; o++) {
    modes[o] = a->out.offsets ? 0 : o;
    comps[o] = a->out.offsets ? -1 : 0;
  }
  for (CeedInt m = 0; a->out.offsets && m < a->out.num_modes; m++) {
    for (CeedInt c = 0; c < a->out.num_comp; c++) {
      modes[a->out.offsets[m] + c] = m;
      comps[a->out.offsets[m] + c] = c;
    }
  }
  add_integers(text, "ritz_units", num_in, units);
  add_integers(text, "ritz_output_modes", num_out, modes);
  add_integers(text, "ritz_output_comps", num_out, comps);
  RITZ_FREE(&units);
}

// The passive inputs as parameters (is_named: or as arguments) of functions.
static void add_passive(RitzText *text, CeedQFunction qf, const RitzGpuAssembly *a, bool is_named) {
  const char *pointer = is_named ? "" : "RITZ_GLOBAL const RitzReal *", *number = is_named ? "" : "RitzLong ";
  ritz_text_add(text, "#define RITZ_FIELD_%s", is_named ? "ARGUMENTS" : "PARAMETERS");
  if (a->is_kept) ritz_text_add(text, " , %skept, %skept_first, %skept_stride", pointer, number, number);
  for (CeedInt i = 0; i < qf->num_in && !a->is_kept; i++) {
    const int n = (int)i;
    if (a->is_active[i] || qf->in[i]->size == 0) continue;
    ritz_text_add(text, " , %su%d, %su%d_first, %su%d_stride", pointer, n, number, n, number, n);
  }
  ritz_text_add(text, "\n");
}

static void add_loads(RitzText *text, CeedQFunction qf, const RitzGpuAssembly *a) {
  for (CeedInt i = 0; i < qf->num_in; i++) {
    if (!a->is_active[i] && qf->in[i]->size > 0) add_load(text, &(Field){'u', i, qf->in[i]->size});
  }
}

// One unit vector after the other.
static void add_columns(RitzText *text, CeedQFunction qf, const RitzGpuAssembly *a) {
  CeedInt first_in = 0, first_out = 0;
  ritz_text_add(text, "  RITZ_ROLL\n  for (int m = 0; m < RITZ_MODES_IN; m++) {\n"
                      "  const int unit = ritz_units[m] + c_in;\n");
  for (CeedInt i = 0; i < qf->num_in; i++) {
    if (!a->is_active[i] || qf->in[i]->size == 0) continue;
    ritz_text_add(text, "  ritz_set_unit(%d, unit - %d, u%d_point);\n", (int)qf->in[i]->size, (int)first_in,
                  (int)i);
    first_in += qf->in[i]->size;
  }
  add_call(text, qf);
  for (CeedInt i = 0; i < qf->num_out; i++) {
    const CeedInt size = qf->out[i]->size;
    if (!a->is_active[qf->num_in + i] || size == 0) continue;
    ritz_text_add(
        text,
        "  RITZ_KEEP(%d, v%d_point, ritz_output_modes + %d, ritz_output_comps + %d, c_out, stride,\n"
        "            D + m * RITZ_MODES_OUT * stride)\n",
        (int)size, (int)i, (int)first_out, (int)first_out);
    first_out += size;
  }
  ritz_text_add(text, "  }\n");
}

static void add_evaluation(RitzText *text, CeedQFunction qf, const RitzGpuAssembly *a) {
  add_fields(text, qf, true, add_point);
  add_fields(text, qf, false, add_point);
  add_pointers(text, qf, true);
  add_pointers(text, qf, false);
  add_loads(text, qf, a);
  add_context(text, qf, true);
  add_columns(text, qf, a);
  add_context(text, qf, false);
}

int ritz_emit_device_assembly(CeedQFunction qf, const RitzGpuAssembly *a, char **text) {
  RitzText t = {.ceed = qf->obj.ceed};
  ritz_text_add(&t, "#include \"kernels/gpu/units.h\"\n\n");
  add_sizes(&t, a);
  add_scalars(&t, a);
  add_passive(&t, qf, a, false);
  add_passive(&t, qf, a, true);
  if (!a->is_kept) add_declaration(&t, qf);
  ritz_text_add(&t, "RITZ_INLINE void\nritz_derivatives_at(RITZ_GLOBAL char *context, RitzLong q "
                    "RITZ_FIELD_PARAMETERS, int c_in, int c_out,\n"
                    "                    RitzLong stride, RITZ_D_MEMORY RitzReal *D) {\n");
  if (a->is_kept)
    ritz_text_add(&t, "  RITZ_COPY_KEPT(kept + kept_first + q, kept_stride, c_in, c_out, stride, D)\n");
  else
    add_evaluation(&t, qf, a);
  ritz_text_add(&t, "}\n\n#include \"kernels/gpu/assembly.h\"\n");
  return ritz_text_finish(&t, text);
}
