// SPDX-License-Identifier: BSD-2-Clause
// Conduction that depends on the unknown, -div k(x, u) grad u + lambda u, with k as formulas in C. Two
// operators of one text: F(u), and with the state in k alone the linear one in which k does not move, for
// preconditioners (the Jacobian is not symmetric). Called by problem.c and solve-newton.c.
#define _POSIX_C_SOURCE 200809L

#include <ritz/qfunction.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/problem-points.h"

// in: u of k, u, du, x, derivatives of x, weights, number of the material; out: v, dv. D, LAMBDA and
// conductivity(material, x, y, z, u) stand before it.
static const char body[] =
    "CEED_QFUNCTION(conduction)\n"
    "(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {\n"
    "  (void)ctx;\n"
    "  CeedPragmaSIMD\n"
    "  for (CeedInt i = 0; i < Q; i++) {\n"
    "    CeedScalar inverse[D * D], grad[D], v[1], x[3] = {0, 0, 0};\n"
    "    const CeedScalar weight = in[5][i] * ritz_point_invert(D, in[4], Q, i, inverse);\n"
    "    RITZ_POINT_UNROLL\n"
    "    for (int d = 0; d < D; d++) x[d] = in[3][d * Q + i];\n"
    "    const CeedScalar k = conductivity(in[6][i], x[0], x[1], x[2], in[0][i]);\n"
    "    ritz_point_gradients(D, 1, inverse, in[2], Q, i, grad);\n"
    "    RITZ_POINT_UNROLL\n"
    "    for (int d = 0; d < D; d++) grad[d] = k * grad[d];\n"
    "    v[0] = (CeedScalar)LAMBDA * in[1][i];\n"
    "    ritz_form_test_values(1, weight, v, Q, i, out[0]);\n"
    "    ritz_form_test_gradients(D, 1, inverse, weight, grad, Q, i, out[1]);\n"
    "  }\n"
    "  return 0;\n"
    "}\n";

static int create_text(const Problem *p, char **text) {
  const double lambda = p->options.kind == PROBLEM_HELMHOLTZ ? p->options.materials[0].reaction.value : 0;
  size_t size = 0;
  FILE *stream = open_memstream(text, &size);

  if (!stream) return CeedError(p->ceed, CEED_ERROR_MAJOR, "no memory for the text of the conductivity");
  fprintf(stream, "#include <ritz/point-function.h>\n#define D %d\n#define LAMBDA %.17g\n%s%s", (int)p->dim,
          lambda, p->options.conductivity, body);
  if (!fclose(stream)) return CEED_ERROR_SUCCESS;
  return CeedError(p->ceed, CEED_ERROR_MAJOR, "no memory for the text of the conductivity");
}

// The number of the material at each point; the last one that has the region counts.
static int number_materials(const Problem *p, const Points *points, CeedVector numbers) {
  const int32_t *regions = NULL;
  CeedScalar *array = NULL;

  CLI_TRY(RitzMeshGetElementRegions(p->mesh, &regions));
  CLI_TRY(CeedVectorGetArrayWrite(numbers, CEED_MEM_HOST, &array));
  for (CeedInt e = 0; e < points->num_elem; e++) {
    const CeedInt number = problem_find_material(p, regions[points->first + e]);

    for (CeedInt i = 0; i < points->num; i++) array[(CeedSize)e * points->num + i] = (CeedScalar)number;
  }
  return CeedVectorRestoreArray(numbers, &array);
}

static int create_qfunction(const Problem *p, int num, const PointsField *fields, CeedQFunction *qf) {
  char *text = NULL;
  int ierr = create_text(p, &text);

  if (!ierr) ierr = RitzQFunctionCreateFromText(p->ceed, 1, text, "conduction", qf);
  for (int i = 0; i < num && !ierr; i++) {
    const bool is_input = i < num - 2;
    ierr = (is_input ? CeedQFunctionAddInput : CeedQFunctionAddOutput)(*qf, fields[i].name, fields[i].size,
                                                                       fields[i].mode);
  }
  free(text);
  return ierr;
}

static int create_operator(const Problem *p, int num, const PointsField *fields, CeedOperator *op) {
  CeedQFunction qf = NULL;
  int ierr;

  CLI_TRY_CLEANUP(create_qfunction(p, num, fields, &qf));
  CLI_TRY_CLEANUP(CeedOperatorCreate(p->ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, op));
  CLI_TRY_CLEANUP(CeedOperatorSetName(*op, "conduction"));
  for (int i = 0; i < num; i++)
    CLI_TRY_CLEANUP(
        CeedOperatorSetField(*op, fields[i].name, fields[i].rstr, fields[i].basis, fields[i].vector));
cleanup:
  CeedQFunctionDestroy(&qf);
  return ierr;
}

static int add_block(const Problem *p, CeedInt block, CeedVector state, CeedOperator composite) {
  CeedElemRestriction rstr = NULL;
  CeedVector numbers = NULL;
  CeedOperator op = NULL;
  Points points;
  int ierr;

  CLI_TRY_CLEANUP(points_create(p, block, POINTS_OPERATOR, &points));
  CLI_TRY_CLEANUP(points_create_field(p, &points, 1, &rstr, &numbers));
  CLI_TRY_CLEANUP(number_materials(p, &points, numbers));
  const PointsField fields[] = {
      {"u of k", 1, CEED_EVAL_INTERP, points.rstr_u, points.basis_u, state ? state : CEED_VECTOR_ACTIVE},
      {"u", 1, CEED_EVAL_INTERP, points.rstr_u, points.basis_u, CEED_VECTOR_ACTIVE},
      {"du", p->dim, CEED_EVAL_GRAD, points.rstr_u, points.basis_u, CEED_VECTOR_ACTIVE},
      {"x", p->dim, CEED_EVAL_INTERP, points.rstr_x, points.basis_x, points.x},
      points_geometry(p, &points),
      points_weights(&points),
      {"material", 1, CEED_EVAL_NONE, rstr, CEED_BASIS_NONE, numbers},
      {"v", 1, CEED_EVAL_INTERP, points.rstr_u, points.basis_u, CEED_VECTOR_ACTIVE},
      {"dv", p->dim, CEED_EVAL_GRAD, points.rstr_u, points.basis_u, CEED_VECTOR_ACTIVE}};
  CLI_TRY_CLEANUP(create_operator(p, (int)(sizeof(fields) / sizeof(fields[0])), fields, &op));
  ierr = CeedOperatorCompositeAddSub(composite, op);
cleanup:
  CeedOperatorDestroy(&op);
  CeedVectorDestroy(&numbers);
  CeedElemRestrictionDestroy(&rstr);
  points_destroy(&points);
  return ierr;
}

// With restrictions and coordinates of the level's own.
static int add_blocks_of_level(Problem *level, CeedVector state, CeedOperator *op) {
  int ierr = problem_create_restrictions(level);

  if (!ierr) ierr = CeedOperatorCreateComposite(level->ceed, op);
  for (CeedInt b = 0; b < level->num_blocks && !ierr; b++) ierr = add_block(level, b, state, *op);
  problem_destroy_restrictions(level);
  return ierr;
}

int problem_create_conduction(const Problem *p, RitzSpace space, CeedVector state, CeedOperator *op) {
  Problem level = *p; // with what is borrowed of it on the space's mesh

  level.space = space;
  level.num_blocks = 0;
  level.rstr_u = level.rstr_x = NULL;
  level.x = NULL;
  CLI_TRY(RitzSpaceGetMesh(space, &level.mesh));
  CLI_TRY(RitzSpaceGetDegree(space, &level.options.order));
  return add_blocks_of_level(&level, state, op);
}
