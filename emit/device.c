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

static void add_kernel(RitzText *text, CeedQFunction qf, CeedInt block_size) {
  ritz_text_add(text,
                "CEED_QFUNCTION(%s)(void *ctx, const CeedInt Q, const CeedScalar *const *in,\n"
                "                   CeedScalar *const *out);\n\n",
                qf->kernel_name);
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
  if (has_context(qf))
    ritz_text_add(text, "  RITZ_CONTEXT_OPEN%s(context)\n", qf->is_context_writable ? "_WRITABLE" : "");
  ritz_text_add(text, "  %s(%s, 1, in, out);\n", qf->kernel_name, has_context(qf) ? "RITZ_CONTEXT" : "NULL");
  if (has_context(qf) && qf->is_context_writable) ritz_text_add(text, "  RITZ_CONTEXT_CLOSE(context)\n");
  add_fields(text, qf, false, add_store);
  ritz_text_add(text, "}\n");
}

int ritz_emit_device_qfunction(CeedQFunction qf, const char *source, CeedInt block_size, char **text) {
  RitzText t = {.ceed = qf->obj.ceed};
  add_kernel(&t, qf, block_size);
  ritz_text_add(&t, "\n// ---- The user's text: last, so that its macros reach nothing of ours ----\n");
  ritz_text_add_defines(&t, (int)qf->obj.ceed->jit_defines.num, qf->obj.ceed->jit_defines.item);
  ritz_text_add(&t, "%s", source);
  return ritz_text_finish(&t, text);
}
