// SPDX-License-Identifier: BSD-2-Clause
// Derivatives that keep the matrix of all derivatives at points (contract in core/derivative.h): a set-up
// operator, whose text differentiates along unit vectors, and the product of its numbers with the direction,
// a text in plain C. Called by core/derivative.c.
#include <ritz/qfunction.h>
#include <string.h>

#include "base/text.h"
#include "core/derivative.h"
#include "core/vector-source.h"

// The output of the set-up, which is the input of the product that is stored.
static char stored_name[] = "derivatives at points";

typedef struct {
  const RitzDerivativeRequest *r;
  CeedOperator op;                // borrowed: what is differentiated
  const bool *are_active;         // [num_in], [num_out]
  CeedSize num_rows, num_columns; // numbers of active outputs, of active inputs
  bool is_symmetric;
  RitzPointNumbers numbers; // owned
} Matrix;

// ---- Its size ----

static CeedSize count_numbers(CeedInt num, CeedQFunctionField *fields, const bool *are_counted) {
  CeedSize sum = 0;
  for (CeedInt i = 0; i < num; i++) sum += are_counted[i] ? fields[i]->size : 0;
  return sum;
}

// A Hessian with all its rows and columns is symmetric: those of gradients come in one order.
static int find_symmetry(Matrix *m) {
  const CeedQFunction from = m->op->qf;
  bool *have_partials = NULL;

  if (!from->energy) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_derivative_partials(from, &have_partials));
  m->is_symmetric = true;
  for (CeedInt i = 0; i < from->num_in; i++)
    m->is_symmetric = m->is_symmetric && have_partials[i] == m->are_active[i];
  for (CeedInt i = 0; i < from->num_out; i++)
    m->is_symmetric = m->is_symmetric && m->are_active[from->num_in + i];
  RITZ_FREE(&have_partials);
  return CEED_ERROR_SUCCESS;
}

static CeedSize num_entries(const Matrix *m) {
  return ritz_derivative_num_entries(m->num_rows, m->num_columns, m->is_symmetric);
}

// ---- The set-up ----

static int add_stored_field(const Matrix *m, CeedQFunction qf, bool is_output) {
  struct CeedQFunctionField_private stored = {.name = stored_name, .size = (CeedInt)num_entries(m)};
  return ritz_derivative_add_field(qf, "", &stored, CEED_EVAL_NONE, is_output);
}

static int make_set_up_function(const Matrix *m, CeedQFunction *qf) {
  const CeedQFunction from = m->op->qf;
  RITZ_TRY(ritz_derivative_qfunction(m->r, from, m->are_active, true, m->is_symmetric, qf));
  int ierr = CEED_ERROR_SUCCESS;
  for (CeedInt i = 0; !ierr && i < from->num_in; i++)
    ierr = ritz_derivative_add_field(*qf, "", from->in[i], from->in[i]->eval_mode, false);
  if (!ierr) ierr = add_stored_field(m, *qf, true);
  if (!ierr) ierr = ritz_derivative_compile(m->r, *qf, from->kernel_name);
  if ((*qf)->user_flops > 0) (*qf)->user_flops *= m->num_columns;
  if (ierr) (void)CeedQFunctionDestroy(qf);
  return ierr;
}

static int set_set_up_fields(const Matrix *m, CeedOperator set_up) {
  for (CeedInt i = 0; i < m->op->num_in; i++) {
    const CeedOperatorField f = m->op->in[i];
    if (ritz_field_is_unused(f)) continue;
    RITZ_TRY(CeedOperatorSetField(set_up, f->qf_field->name, f->rstr, f->basis,
                                  m->are_active[i] ? m->r->state : f->vec));
  }
  RITZ_TRY(CeedOperatorSetField(set_up, stored_name, m->numbers.rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  RITZ_TRY(CeedOperatorSetName(set_up, "derivatives at points"));
  return ritz_derivative_finish(m->op, set_up);
}

static int make_set_up(Matrix *m) {
  CeedQFunction qf = NULL;
  CeedOperator set_up = NULL;
  RITZ_TRY(make_set_up_function(m, &qf));
  int ierr = CeedOperatorCreate(m->op->obj.ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &set_up);
  if (!ierr) ierr = set_set_up_fields(m, set_up);
  if (!ierr) ierr = ritz_vector_set_source(m->numbers.vec, set_up);
  (void)CeedOperatorDestroy(&set_up);
  (void)CeedQFunctionDestroy(&qf);
  return ierr;
}

// ---- The product ----

// Row i of the product with x0, x1, ..
static void add_row(const Matrix *m, RitzText *t, CeedInt i) {
  for (CeedInt j = 0; j < m->num_columns; j++) {
    const CeedInt entry = ritz_derivative_entry(i, j, (CeedInt)m->num_columns, m->is_symmetric);
    ritz_text_add(t, "%s%sD[i + Q * %d] * x%d", j ? " +" : "", j % 6 ? " " : "\n        ", (int)entry,
                  (int)j);
  }
}

static void add_product(const Matrix *m, RitzText *t) {
  const CeedQFunction from = m->op->qf;
  const bool *are_wanted = m->are_active + from->num_in;
  CeedInt input = 1, output = 0, column = 0, row = 0;

  for (CeedInt i = 0; i < from->num_in; i++) {
    if (!m->are_active[i]) continue;
    for (CeedInt k = 0; k < from->in[i]->size; k++)
      ritz_text_add(t, "    const CeedScalar x%d = in[%d][i + Q * %d];\n", (int)column++, (int)input, (int)k);
    input++;
  }
  for (CeedInt i = 0; i < from->num_out; i++) {
    if (!are_wanted[i]) continue;
    for (CeedInt k = 0; k < from->out[i]->size; k++) {
      ritz_text_add(t, "    out[%d][i + Q * %d] =", (int)output, (int)k);
      add_row(m, t, row++);
      ritz_text_add(t, ";\n");
    }
    output++;
  }
}

static int product_text(const Matrix *m, const char *name, char **text) {
  RitzText t = {.ceed = m->op->obj.ceed};
  ritz_text_add(&t,
                "// The product of a %d x %d matrix of derivatives, %s, with a direction.\n"
                "#include <ceed/types.h>\n\n"
                "CEED_QFUNCTION(%s)(void *ctx, const CeedInt Q, const CeedScalar *const *in, "
                "CeedScalar *const *out) {\n"
                "  const CeedScalar *D = in[0];\n  (void)ctx;\n  CeedPragmaSIMD\n"
                "  for (CeedInt i = 0; i < Q; i++) {\n",
                (int)m->num_rows, (int)m->num_columns, m->is_symmetric ? "one half of it" : "row by row",
                name);
  add_product(m, &t);
  ritz_text_add(&t, "  }\n  return 0;\n}\n");
  return ritz_text_finish(&t, text);
}

// The context is there for the sake of its fields: operators find their labels there.
static int add_product_fields(const Matrix *m, CeedQFunction qf) {
  const CeedQFunction from = m->op->qf;
  RITZ_TRY(add_stored_field(m, qf, false));
  for (CeedInt i = 0; i < from->num_in; i++) {
    if (m->are_active[i])
      RITZ_TRY(ritz_derivative_add_field(qf, "d ", from->in[i], from->in[i]->eval_mode, false));
  }
  for (CeedInt i = 0; i < from->num_out; i++) {
    if (m->are_active[from->num_in + i])
      RITZ_TRY(ritz_derivative_add_field(qf, "", from->out[i], from->out[i]->eval_mode, true));
  }
  if (from->ctx) RITZ_TRY(CeedQFunctionSetContext(qf, from->ctx));
  RITZ_TRY(CeedQFunctionSetContextWritable(qf, false));
  return CeedQFunctionSetUserFlopsEstimate(qf, 2 * m->num_rows * m->num_columns);
}

static int make_product_function(const Matrix *m, CeedQFunction *qf) {
  const CeedQFunction from = m->op->qf;
  const Ceed ceed = m->op->obj.ceed;
  char *name = NULL, *text = NULL;

  int ierr = ritz_derivative_join(ceed, from->kernel_name, "_product", &name);
  if (!ierr) ierr = product_text(m, name, &text);
  if (!ierr) ierr = RitzQFunctionCreateFromText(ceed, from->vec_length, text, name, qf);
  RITZ_FREE(&text);
  RITZ_FREE(&name);
  RITZ_TRY(ierr);
  ierr = add_product_fields(m, *qf);
  if (ierr) (void)CeedQFunctionDestroy(qf);
  return ierr;
}

static int set_product_fields(const Matrix *m, CeedOperator made) {
  CeedInt input = 1, output = 0;
  RITZ_TRY(CeedOperatorSetField(made, stored_name, m->numbers.rstr, CEED_BASIS_NONE, m->numbers.vec));
  for (CeedInt i = 0; i < m->op->num_in + m->op->num_out; i++) {
    const CeedOperatorField f = ritz_operator_field(m->op, i);
    const bool is_input = i < m->op->num_in;
    if (!m->are_active[i]) continue;
    const char *name = (is_input ? made->qf->in[input++] : made->qf->out[output++])->name;
    RITZ_TRY(CeedOperatorSetField(made, name, f->rstr, f->basis, CEED_VECTOR_ACTIVE));
  }
  RITZ_TRY(ritz_derivative_set_name(m->r, m->op, made));
  return ritz_derivative_finish(m->op, made);
}

static int make_product(const Matrix *m, CeedOperator *made) {
  CeedQFunction qf = NULL;
  RITZ_TRY(make_product_function(m, &qf));
  int ierr = CeedOperatorCreate(m->op->obj.ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, made);
  (void)CeedQFunctionDestroy(&qf);
  RITZ_TRY(ierr);
  ierr = set_product_fields(m, *made);
  if (ierr) (void)CeedOperatorDestroy(made);
  return ierr;
}

int ritz_derivative_create_matrix(const RitzDerivativeRequest *r, CeedOperator op, const bool *are_active,
                                  CeedOperator *made) {
  const CeedQFunction from = op->qf;
  Matrix m = {.r = r,
              .op = op,
              .are_active = are_active,
              .num_rows = count_numbers(from->num_out, from->out, are_active + from->num_in),
              .num_columns = count_numbers(from->num_in, from->in, are_active)};

  RITZ_TRY(find_symmetry(&m));
  RITZ_TRY(ritz_point_numbers_create(r->call, op, num_entries(&m), &m.numbers));
  int ierr = make_set_up(&m);
  if (!ierr) ierr = make_product(&m, made);
  ritz_point_numbers_destroy(&m.numbers);
  return ierr;
}
