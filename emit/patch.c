// SPDX-License-Identifier: BSD-2-Clause
// The kernel of a sweep over vertex patches on CPUs (contract in emit/emit.h): sizes, form and, of boxes
// whose patches are all alike, the 1D tables in even and odd parts (kernels/cpu/patch-lines.h).
#include "core/patch-sweep.h"
#include "emit/emit.h"
#include "emit/text.h"

typedef struct {
  RitzText text;
  const RitzPatchBox *box;
  RitzPatchLine line;
  int p, n, m;
} Emitter;

// An entry of a table from the full one: row i, column j, of its even (sign 1) or odd (-1) part.
typedef double (*Entry)(const Emitter *e, int i, int j, int sign);

// [rows][columns]; at least one entry, so that the text is C.
static void emit_table(Emitter *e, const char *name, int rows, int columns, int sign, Entry entry) {
  const bool is_single = e->box->precision == CEED_SCALAR_FP32;

  ritz_text_add(&e->text, "static const RitzReal ritz_%s[%d][%d] = {", name, rows > 0 ? rows : 1,
                columns > 0 ? columns : 1);
  for (int i = 0; i < rows; i++) {
    ritz_text_add(&e->text, "%s{", i ? ",\n  " : "");
    for (int j = 0; j < columns; j++) {
      const double value = entry(e, i, j, sign);

      ritz_text_add(&e->text, "%s%.*g",
                    j == 0  ? ""
                    : j % 6 ? ", "
                            : ",\n   ",
                    is_single ? 9 : 17, is_single ? (double)(float)value : value);
    }
    ritz_text_add(&e->text, "%s}", columns > 0 ? "" : "0");
  }
  ritz_text_add(&e->text, "%s};\n", rows > 0 ? "" : "{0}");
}

// The even and the odd part of a table; entries of the odd ones begin with mode p where rows or columns are
// modes.
static void emit_parts(Emitter *e, const char *name, int even_rows, int even_columns, int odd_rows,
                       int odd_columns, Entry entry) {
  char part[64];

  snprintf(part, sizeof(part), "%s_even", name);
  emit_table(e, part, even_rows, even_columns, 1, entry);
  snprintf(part, sizeof(part), "%s_odd", name);
  emit_table(e, part, odd_rows, odd_columns, -1, entry);
}

// Modes of a line of the closure by sums and differences of its nodes.
static double modes(const Emitter *e, int k, int c, int sign) {
  return e->line.modes[(sign > 0 ? k : e->p + k) * e->m + c];
}

static double forward(const Emitter *e, int k, int i, int sign) {
  return e->line.S[i * e->n + (sign > 0 ? k : e->p + k)];
}

static double back(const Emitter *e, int i, int k, int sign) { return forward(e, k, i, sign); }

// Rows of a matrix on lines of the closure; the node in the middle counts once.
static double half_row(const Emitter *e, const double *table, int i, int c, int sign) {
  const double a = table[i * e->m + c], b = table[i * e->m + e->m - 1 - c];

  return c == e->p ? a : 0.5 * (a + sign * b);
}
static double stiffness(const Emitter *e, int i, int c, int sign) {
  return half_row(e, e->line.A, i, c, sign);
}
static double mass(const Emitter *e, int i, int c, int sign) { return half_row(e, e->line.M, i, c, sign); }

// A list of numbers: [rows] and one column.
static void emit_list(Emitter *e, const char *name, int num, const double *values) {
  const bool is_single = e->box->precision == CEED_SCALAR_FP32;

  ritz_text_add(&e->text, "static const RitzReal ritz_%s[%d] = {%s", name, num > 0 ? num : 1,
                num > 0 ? "" : "0");
  for (int i = 0; i < num; i++) {
    ritz_text_add(&e->text, "%s%.*g",
                  i == 0  ? ""
                  : i % 6 ? ", "
                          : ",\n  ",
                  is_single ? 9 : 17, is_single ? (double)(float)values[i] : values[i]);
  }
  ritz_text_add(&e->text, "};\n");
}

static void emit_lifted(Emitter *e) {
  double half[2][64];

  for (int i = 0; i < e->p; i++) {
    const double a = e->line.extension[i], b = e->line.extension[e->n - 1 - i];

    half[0][i] = 0.5 * (a + b);
    half[1][i] = 0.5 * (a - b);
  }
  ritz_text_add(&e->text,
                "// modes of lines of the closure; what the sum (even modes) or difference of the ends "
                "gives to the stiffness of a\n// mode; extensions of half the sum, the difference\n");
  emit_parts(e, "modes", e->p, e->p + 1, e->p - 1, e->p, modes);
  emit_list(e, "coupling", e->n, e->line.coupling);
  emit_list(e, "extension_even", e->p, half[0]);
  emit_list(e, "extension_odd", e->p - 1, half[1]);
}

static void emit_tables(Emitter *e) {
  ritz_text_add(&e->text,
                "\n// ---- Tables of a line of two cells, for sums and differences of opposite nodes ----\n"
                "// nodes -> modes\n");
  emit_parts(e, "forward", e->p, e->p, e->p - 1, e->p - 1, forward);
  ritz_text_add(&e->text, "// modes -> nodes\n");
  emit_parts(e, "back", e->p, e->p, e->p - 1, e->p - 1, back);
  if (e->box->form == RITZ_PATCH_LIFTED) {
    emit_lifted(e);
    return;
  }
  ritz_text_add(&e->text, "// rows of the interior nodes on lines of the closure\n");
  emit_parts(e, "stiffness", e->p, e->p + 1, e->p - 1, e->p, stiffness);
  emit_parts(e, "mass", e->p, e->p + 1, e->p - 1, e->p, mass);
}

int ritz_emit_cpu_patch(Ceed ceed, const RitzPatchBox *box, CeedInt lanes, bool is_scattered, char **text) {
  static const char *const forms[] = {"LIFTED", "RESIDUAL", "BOUNDARY"};
  const int p = (int)box->degree;
  Emitter e = {.text = {.ceed = ceed}, .box = box, .p = p, .n = 2 * p - 1, .m = 2 * p + 1};

  ritz_text_add(&e.text,
                "// SPDX-License-Identifier: BSD-2-Clause\n"
                "// Generated by Ritz: a sweep over vertex patches, %s tables, %d patches at a time.\n"
                "#define RITZ_REAL_IS_%s\n#define RITZ_LANES      %d\n#define RITZ_DIM        %d\n"
                "#define RITZ_DEGREE     %d\n#define RITZ_NUM_COMP   %d\n#define RITZ_IS_%-8s 1\n"
                "#define RITZ_IS_UNIFORM %d\n#define RITZ_IS_SCATTERED %d\n#define RITZ_MAX_1D     16\n"
                "#include \"kernels/cpu/restrict.h\"\n",
                box->is_uniform ? "with the same" : "each with its own", (int)lanes,
                box->precision == CEED_SCALAR_FP32 ? "FP32" : "FP64", (int)lanes, (int)box->dim, p,
                (int)box->num_comp, forms[box->form], box->is_uniform, is_scattered);
  if (box->is_uniform) {
    e.line = ritz_patch_line(box->degree, box->tables[0]);
    emit_tables(&e);
  }
  ritz_text_add(&e.text, "\n#include \"kernels/cpu/patch.h\"\n");
  return ritz_text_finish(&e.text, text);
}
