// SPDX-License-Identifier: BSD-2-Clause
// Conduction that depends on the unknown, -div k(x, u) grad u + lambda c(x) u, with k and c as formulas in C,
// as a form of the library. Two operators: F(u), and with the state in k alone the linear one in which k does
// not move, for preconditioners (the Jacobian is not symmetric). Called by problem.c.
#define _POSIX_C_SOURCE 200809L

#include <ritz/form.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/problem.h"

// The context tells materials apart: one kernel serves all.
static int create_text(const Problem *p, bool has_state, char **text) {
  size_t size = 0;
  FILE *stream = open_memstream(text, &size);

  if (stream)
    fprintf(stream,
            "enum { D = %d };\n"
            "%s"
            "typedef struct {\n"
            "  CeedScalar number, lambda;\n"
            "} Material;\n"
            "CEED_QFUNCTION_HELPER void conduction(const void *ctx, const CeedScalar x[D],\n"
            "    const CeedScalar u[1], const CeedScalar grad_u[1][D],%s CeedScalar v[1],\n"
            "    CeedScalar grad_v[1][D]) {\n"
            "  const Material *m = (const Material *)ctx;\n"
            "  CeedScalar at[3] = {0, 0, 0};\n"
            "  RITZ_POINT_UNROLL\n"
            "  for (int d = 0; d < D; d++) at[d] = x[d];\n"
            "  const CeedScalar k = conductivity(m->number, at[0], at[1], at[2], %s[0]);\n"
            "  v[0] = m->lambda * capacity(m->number, at[0], at[1], at[2], 0) * u[0];\n"
            "  RITZ_POINT_UNROLL\n"
            "  for (int d = 0; d < D; d++) grad_v[0][d] = k * grad_u[0][d];\n"
            "}\n",
            (int)p->dim, p->options.conductivity, has_state ? " const CeedScalar state[1]," : "",
            has_state ? "state" : "u");
  if (stream && !fclose(stream)) return CEED_ERROR_SUCCESS;
  return CeedError(p->ceed, CEED_ERROR_MAJOR, "no memory for the text of the conductivity");
}

// Material of the text.
static int set_context(const Problem *p, CeedInt material) {
  const ProblemOptions *o = &p->options;
  CeedScalar data[] = {(CeedScalar)material, o->kind == PROBLEM_HELMHOLTZ
                                                 ? (CeedScalar)o->materials[material].reaction.value
                                             : o->kind == PROBLEM_HEAT ? (CeedScalar)o->factor
                                                                       : 0};

  return CeedQFunctionContextSetData(p->conduction[material], CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(data),
                                     data);
}

static int get_context(Problem *p, CeedInt material, CeedQFunctionContext *ctx) {
  const size_t num = (size_t)p->options.num_materials;

  if (!p->conduction) CLI_TRY(cli_allocate(p->ceed, num, sizeof(*p->conduction), &p->conduction));
  *ctx = p->conduction[material];
  if (*ctx) return CEED_ERROR_SUCCESS;
  CLI_TRY(CeedQFunctionContextCreate(p->ceed, ctx));
  p->conduction[material] = *ctx;
  return set_context(p, material);
}

int problem_set_factor(Problem *p, double factor) {
  p->options.factor = factor;
  for (CeedInt i = 0; p->conduction && i < p->options.num_materials; i++) {
    if (p->conduction[i]) CLI_TRY(set_context(p, i));
  }
  return CEED_ERROR_SUCCESS;
}

void problem_destroy_conduction(Problem *p) {
  for (CeedInt i = 0; p->conduction && i < p->options.num_materials; i++)
    CeedQFunctionContextDestroy(&p->conduction[i]);
  free(p->conduction);
  p->conduction = NULL;
}

int problem_create_conduction(Problem *p, CeedInt material, CeedVector state, RitzGeometry geometry,
                              const RitzOperatorOptions *options, CeedOperator *op) {
  const RitzFormField in[] = {
      {.name = "u", .what = RITZ_FORM_BOTH, .space = options->space},
      {.name = "state", .what = RITZ_FORM_VALUE, .space = options->space, .vector = state}};
  const RitzFormField out = {.name = "v", .what = RITZ_FORM_BOTH, .space = options->space};
  CeedQFunctionContext ctx = NULL;
  char *text = NULL;

  CLI_TRY(get_context(p, material, &ctx));
  CLI_TRY(create_text(p, state != NULL, &text));
  const RitzForm form = {text, "conduction", RITZ_FORM_POSITION, state ? 2 : 1, in, 1, &out};
  const int ierr = RitzGeometryCreateFormOperator(geometry, p->ceed, options, &form, ctx, op);

  free(text);
  return ierr;
}
