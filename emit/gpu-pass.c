// SPDX-License-Identifier: BSD-2-Clause
// Pass over vectors (core/vector-pass.h) -> text of its kernel, for all devices. Helpers:
// kernels/gpu/pass.h. Threads take packs of entries, 16 bytes of a vector at a time, and what is left entry
// by entry; what is done to an entry stands in the text once for each.
#include "core/vector-pass.h"
#include "emit/emit.h"
#include "emit/text.h"

typedef struct {
  const RitzPass *pass;
  const CeedScalarType *precision;
  RitzText text;
} Emitter;

#define ADD(e, ...) ritz_text_add(&(e)->text, __VA_ARGS__)

static const char *type_of(const Emitter *e, int vector) {
  return e->precision[vector] == CEED_SCALAR_FP32 ? "float" : "double";
}

static bool has_precision(const Emitter *e, CeedScalarType precision) {
  for (int i = 0; i < e->pass->num_vectors; i++) {
    if (e->precision[i] == precision) return true;
  }
  return false;
}

static void add_heading(Emitter *e) {
  const bool is_single = !has_precision(e, CEED_SCALAR_FP64);
  const int width = has_precision(e, CEED_SCALAR_FP32) ? 4 : 2;

  ADD(e, "\n#define RITZ_PASS_WIDTH %d\n", width);
  ADD(e, "#define RITZ_PASS_LARGEST %s\n", is_single ? "3.4028234663852886e38" : "1.7976931348623157e308");
  ADD(e, "typedef %s RitzPassReal;\n", is_single ? "float" : "double");
  for (int k = 0; k < 2; k++) {
    const char *type = k ? "float" : "double";
    if (!has_precision(e, k ? CEED_SCALAR_FP32 : CEED_SCALAR_FP64)) continue;
    ADD(e, "typedef struct RITZ_ALIGN16 {\n  %s v[RITZ_PASS_WIDTH];\n} RitzPass_%s;\n", type, type);
  }
}

static void add_arguments(Emitter *e) {
  const int num_factors = ritz_pass_num_factors(e->pass);

  ADD(e, "RITZ_KERNEL_RESIDENT(256, 4)\nritz_pass(RitzLong begin, RitzLong end, int is_packed,\n"
         "          RITZ_GLOBAL double *scalars, int first_sum, RITZ_GLOBAL double *partial,\n"
         "          RITZ_GLOBAL unsigned *arrived");
  for (int i = 0; i < num_factors; i++) ADD(e, ",\n          int a%d, int b%d, CeedScalar sign%d", i, i, i);
  for (int i = 0; i < e->pass->num_vectors; i++) {
    const bool is_read_only = ritz_pass_access(e->pass, i) == RITZ_ACCESS_READ;
    ADD(e, ",\n          RITZ_GLOBAL %s%s *RITZ_RESTRICT x%d", is_read_only ? "const " : "", type_of(e, i),
        i);
  }
  ADD(e, ") {\n");
}

// Lines of the pass on one entry; names of its numbers end with `l`.
static void add_entry(Emitter *e, const char *l) {
  for (int k = 0; k < e->pass->num_lines; k++) {
    const RitzPassLine *line = &e->pass->line[k];
    ADD(e, "      acc = 0;\n");
    for (int t = 0; t < line->num_terms; t++) {
      const RitzPassTerm *term = &line->term[t];
      ADD(e, "      ");
      if (term->factor >= 0) ADD(e, "if (f%d != 0) ", term->factor);
      ADD(e, "acc += ");
      if (term->factor >= 0) ADD(e, "f%d * ", term->factor);
      ADD(e, term->y >= 0 ? "((RitzPassReal)v%d%s" : "(RitzPassReal)v%d%s", term->x, l);
      if (term->y >= 0) ADD(e, " * (RitzPassReal)v%d%s)", term->y, l);
      ADD(e, ";\n");
    }
    ADD(e, "      v%d%s = (%s)acc;\n", line->to, l, type_of(e, line->to));
  }
  for (int k = 0; k < e->pass->num_sums; k++) {
    const RitzPassSum *sum = &e->pass->sum[k];
    ADD(e, "      t%d += (double)v%d%s * (double)v%d%s", k, sum->x, l, sum->y, l);
    if (sum->w >= 0) ADD(e, " * (double)v%d%s", sum->w, l);
    ADD(e, ";\n");
  }
}

static void add_terms(Emitter *e) {
  ADD(e, "    RitzPassReal acc;\n");
  for (int k = 0; k < e->pass->num_sums; k++) ADD(e, "    double t%d = 0;\n", k);
}

static void add_sums(Emitter *e) {
  for (int k = 0; k < e->pass->num_sums; k++) ADD(e, "    ritz_pass_add(&s%d, t%d);\n", k, k);
}

static void add_packs(Emitter *e) {
  ADD(e, "  for (RitzLong i = begin + RITZ_ITEM * RITZ_PASS_WIDTH; i < middle;\n"
         "       i += RITZ_NUM_ITEMS * RITZ_PASS_WIDTH) {\n");
  add_terms(e);
  for (int i = 0; i < e->pass->num_vectors; i++) {
    const bool is_written = ritz_pass_access(e->pass, i) != RITZ_ACCESS_READ;
    ADD(e, "    RitzPass_%s v%d", type_of(e, i), i);
    if (ritz_pass_access(e->pass, i) != RITZ_ACCESS_WRITE)
      ADD(e, " = *(RITZ_GLOBAL %sRitzPass_%s *)(x%d + i)", is_written ? "" : "const ", type_of(e, i), i);
    ADD(e, ";\n");
  }
  ADD(e, "    RITZ_UNROLL\n    for (int l = 0; l < RITZ_PASS_WIDTH; l++) {\n");
  add_entry(e, ".v[l]");
  ADD(e, "    }\n");
  for (int i = 0; i < e->pass->num_vectors; i++) {
    if (ritz_pass_access(e->pass, i) != RITZ_ACCESS_READ)
      ADD(e, "    *(RITZ_GLOBAL RitzPass_%s *)(x%d + i) = v%d;\n", type_of(e, i), i, i);
  }
  add_sums(e);
  ADD(e, "  }\n");
}

static void add_rest(Emitter *e) {
  ADD(e, "  for (RitzLong i = middle + RITZ_ITEM; i < end; i += RITZ_NUM_ITEMS) {\n");
  add_terms(e);
  for (int i = 0; i < e->pass->num_vectors; i++) {
    const bool is_read = ritz_pass_access(e->pass, i) != RITZ_ACCESS_WRITE;
    ADD(e, is_read ? "    %s v%d = x%d[i];\n" : "    %s v%d;\n", type_of(e, i), i, i);
  }
  add_entry(e, "");
  for (int i = 0; i < e->pass->num_vectors; i++) {
    if (ritz_pass_access(e->pass, i) != RITZ_ACCESS_READ) ADD(e, "    x%d[i] = v%d;\n", i, i);
  }
  add_sums(e);
  ADD(e, "  }\n");
}

int ritz_emit_gpu_pass(Ceed ceed, const RitzPass *pass, const CeedScalarType *precision, char **text) {
  Emitter e = {.pass = pass, .precision = precision, .text = {.ceed = ceed}};
  const int num_factors = ritz_pass_num_factors(pass);

  add_heading(&e);
  add_arguments(&e);
  if (pass->num_sums) ADD(&e, "  RITZ_SHARED_ARRAY double scratch[RITZ_PASS_SCRATCH];\n");
  ADD(&e, "  RitzLong middle = is_packed ? end - (end - begin) %% RITZ_PASS_WIDTH : begin;\n");
  for (int i = 0; i < num_factors; i++)
    ADD(&e,
        "  RitzPassReal f%d = (RitzPassReal)ritz_pass_factor(scalars, a%d, b%d, sign%d, "
        "RITZ_PASS_LARGEST);\n",
        i, i, i, i);
  for (int k = 0; k < pass->num_sums; k++) ADD(&e, "  RitzPassSum s%d = {0, 0};\n", k);
  add_packs(&e);
  add_rest(&e);
  for (int k = 0; k < pass->num_sums; k++) ADD(&e, "  ritz_pass_keep(%d, s%d, scratch, partial);\n", k, k);
  if (pass->num_sums)
    ADD(&e, "  ritz_pass_arrive(%d, partial, arrived, scratch, scalars + first_sum);\n", pass->num_sums);
  ADD(&e, "}\n");
  return ritz_text_finish(&e.text, text);
}
