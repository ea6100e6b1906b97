// SPDX-License-Identifier: BSD-2-Clause
// Sweeps over vertex patches -> texts of their kernels: sizes and tables in front of kernels/gpu/patch.h.
#include "emit/gpu-patch.h"

#include "base/memory.h"
#include "emit/text.h"

static void add_numbers(RitzText *text, CeedScalarType precision, const char *kind, const char *name, int num,
                        const double *values) {
  const bool is_single = precision == CEED_SCALAR_FP32;
  ritz_text_add(text, "%s RitzReal %s[] = {", kind, name);
  for (int i = 0; i < num; i++)
    ritz_text_add(text, "%s%.*g",
                  i == 0  ? ""
                  : i % 6 ? ", "
                          : ",\n  ",
                  is_single ? 9 : 17, is_single ? (double)(float)values[i] : values[i]);
  ritz_text_add(text, "%s};\n", num ? "" : "0");
}

static void add_sizes(RitzText *text, const RitzGpuPatch *p) {
  ritz_text_add(text, "#define RITZ_DIM      %d\n#define RITZ_P        %d\n", (int)p->dim, (int)p->degree);
  ritz_text_add(text, "#define RITZ_PATCHES  %d // of a block\n#define RITZ_THREADS  %d\n", p->num_patches,
                p->num_threads);
  ritz_text_add(text, "#define RITZ_RESIDENT %d\n#define RITZ_PLANE    %d // strides\n", p->num_resident,
                p->plane);
  ritz_text_add(text, "#define RITZ_STEP     %d\n", p->step);
}

typedef struct {
  RitzText *text;
  const RitzGpuPatch *patch;
  int num;       // so far
  unsigned last; // entry
} Edges;

static void add_entry(Edges *e, unsigned entry) {
  ritz_text_add(e->text, "%s%uu", e->num ? "," : "", entry);
  e->num++;
  e->last = entry;
}

// A column of nodes along outer: node along inner, row along middle, place in a plane.
static void add_edge(Edges *e, int row, int node) {
  const RitzGpuPatch *p = e->patch;
  const int n = 2 * p->degree - 1, columns = p->num_patches * n, rows = p->dim == 3 ? n + 2 : 1;
  const int patch = node / (n + 1), i = node % (n + 1);
  const int at = i ? row * columns + patch * n + i - 1 : rows * columns + row * (p->num_patches + 1) + patch;
  add_entry(e, (unsigned)at | (unsigned)row << 16 | (unsigned)node << 22);
}

// `num` edges begin with a warp where no more warps are needed for it, the `left` edges from there on
// included.
static void begin_row(Edges *e, int num, int left) {
  const int pad = (32 - e->num % 32) % 32;
  if (pad >= num || (e->num + pad + left + 31) / 32 > (e->num + left + 31) / 32) return;
  for (int i = 0; i < pad; i++) add_entry(e, e->last);
}

// Ends of patches in rows of the interior; in 3D the rows at the ends along middle, in the order of places.
static void add_edges(RitzText *text, const RitzGpuPatch *p) {
  const int step = 2 * p->degree, last = p->num_patches * step, num_rows = p->dim == 3 ? step : 1;
  Edges e = {.text = text, .patch = p};
  ritz_text_add(text, "RITZ_TABLE unsigned ritz_edges[] = {");
  for (int row = p->dim - 2; row < num_rows; row++)
    for (int node = 0; node <= last; node += step) add_edge(&e, row, node);
  for (int row = 0; p->dim == 3 && row <= step; row += step) {
    begin_row(&e, last + 1, (row ? 1 : 2) * (last + 1));
    for (int is_end = 0; is_end < 2; is_end++) {
      for (int node = 0; node <= last; node++)
        if ((node % step == 0) == is_end) add_edge(&e, row, node);
    }
  }
  ritz_text_add(text, "};\n#define RITZ_EDGES    %d\n", e.num);
}

// Even modes 0 .. p - 1, odd modes p .. 2p - 2, at the first half of the nodes.
static void add_tables(RitzText *text, const RitzGpuPatch *p, const RitzPatchLine *line, double *values) {
  const int n = 2 * p->degree - 1, m = n + 2, num[2] = {p->degree, p->degree - 1};
  // Floats become operands of instructions, doubles do not fit.
  const char *kind = p->precision == CEED_SCALAR_FP32 ? "RITZ_TABLE" : "RITZ_CONSTANT";
  static const char *const names[2] = {"ritz_even", "ritz_odd"}, *const modes[2] = {"ritz_even_modes",
                                                                                    "ritz_odd_modes"};
  for (int parity = 0; parity < 2; parity++) {
    const int first = parity ? p->degree : 0;
    int size = 0;
    for (int i = 0; i < num[parity]; i++)
      for (int j = 0; j < num[parity]; j++) values[size++] = line->S[i * n + first + j];
    add_numbers(text, p->precision, kind, names[parity], size, values);
    size = 0;
    for (int j = 0; j < num[parity]; j++)
      for (int c = 0; c <= num[parity]; c++) values[size++] = line->modes[(first + j) * m + c];
    add_numbers(text, p->precision, kind, modes[parity], size, values);
  }
  for (int i = 0; i < p->degree; i++) {
    values[i] = (line->extension[i] + line->extension[n + i]) / 2;
    values[p->degree + i] = (line->extension[i] - line->extension[n + i]) / 2;
  }
  add_numbers(text, p->precision, kind, "ritz_ends", 2 * p->degree, values);
  for (int k = 0; k < n; k++) {
    values[2 * k] = line->coupling[k];
    values[2 * k + 1] = line->lambda[k];
  }
  add_numbers(text, p->precision, kind, "ritz_coupling", n, line->coupling);
  add_numbers(text, p->precision, kind, "ritz_lambda", n, line->lambda);
  add_numbers(text, p->precision, "RITZ_TABLE", "ritz_by_mode", 2 * n, values);
}

int ritz_emit_gpu_patch(Ceed ceed, const RitzGpuPatch *patch, const double *table, char **text) {
  const RitzPatchLine line = ritz_patch_line(patch->degree, table);
  RitzText t = {.ceed = ceed};
  double *values = NULL;
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)4 * (size_t)patch->degree * (size_t)(patch->degree + 1), &values));
  add_sizes(&t, patch);
  add_tables(&t, patch, &line, values);
  add_edges(&t, patch);
  ritz_text_add(&t, "#include \"kernels/gpu/patch.h\"\n");
  RITZ_FREE(&values);
  return ritz_text_finish(&t, text);
}

int ritz_emit_gpu_patch_any(Ceed ceed, const RitzGpuPatchAny *patch, char **text) {
  RitzText t = {.ceed = ceed};
  ritz_text_add(&t, "#define RITZ_DIM     %d\n#define RITZ_P       %d\n#define RITZ_FORM    %d\n",
                (int)patch->dim, (int)patch->degree, (int)patch->form);
  ritz_text_add(&t, "#define RITZ_THREADS %d\n", patch->num_threads);
  if (patch->is_in_shared) ritz_text_add(&t, "#define RITZ_PATCH_SHARED\n");
  ritz_text_add(&t, "#define RITZ_WORK    %s\n", patch->is_in_shared ? "RITZ_SHARED" : "RITZ_GLOBAL");
  ritz_text_add(&t, "#include \"kernels/gpu/patch-any.h\"\n");
  return ritz_text_finish(&t, text);
}
