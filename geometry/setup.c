// SPDX-License-Identifier: BSD-2-Clause
// Numbers that the parts of operators keep: factors at the points or once an element, coefficients times
// weights. Made by an operator that runs once. Called by operator.c and point.c.
#include <math.h>
#include <ritz/jit-source/geometry/points.h>
#include <ritz/operator.h>
#include <ritz/qfunction.h>

#include "base/text.h"
#include "core/vector-source.h"
#include "geometry/geometry.h"

// ---- Values at points ----

// Interlaced, for data that the host writes: value k of point q of element e at (e Q + q) num_comp + k.
static int create_point_field(const RitzGeometryPart *part, CeedInt num_comp, CeedElemRestriction *rstr,
                              CeedVector *vector) {
  const RitzGeometryCase *c = &part->shared->c;
  const CeedInt strides[3] = {num_comp, 1, num_comp * c->Q};

  RITZ_TRY(CeedElemRestrictionCreateStrided(c->ceed, part->num_elem, c->Q, num_comp,
                                            (CeedSize)part->num_elem * c->Q * num_comp, strides, rstr));
  return CeedElemRestrictionCreateVector(*rstr, vector, NULL);
}

static int add_point_field(RitzGeometryPart *part, const char *name, CeedInt size, CeedElemRestriction rstr,
                           CeedVector vector) {
  return ritz_geometry_add_field(part, name, size, CEED_EVAL_NONE, rstr, CEED_BASIS_NONE, vector);
}

// ---- Coefficients ----

// A function of positions, fields "input" and "output", at all points of the part: a field of points.
static int apply_to_positions(const RitzGeometryPart *part, CeedQFunction qf, CeedElemRestriction rstr_points,
                              CeedVector result) {
  const RitzGeometryCase *c = &part->shared->c;
  CeedOperator op = NULL;
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  CeedVector x = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(ritz_geometry_coordinates(part, RITZ_NODES_ALL, &rstr, &x));
  RITZ_TRY_CLEANUP(ritz_geometry_coordinate_basis(part->shared, RITZ_NODES_ALL, &basis));
  RITZ_TRY_CLEANUP(CeedOperatorCreate(c->ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &op));
  RITZ_TRY_CLEANUP(CeedOperatorSetField(op, "input", rstr, basis, CEED_VECTOR_ACTIVE));
  RITZ_TRY_CLEANUP(CeedOperatorSetField(op, "output", rstr_points, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  RITZ_TRY_CLEANUP(RitzOperatorSetUse(op, RITZ_USE_ONCE));
  RITZ_TRY_CLEANUP(CeedOperatorApply(op, x, result, CEED_REQUEST_IMMEDIATE));
cleanup:
  CeedOperatorDestroy(&op);
  CeedElemRestrictionDestroy(&rstr);
  CeedBasisDestroy(&basis);
  CeedVectorDestroy(&x);
  return ierr;
}

// Positions of all points of the part, as create_point_field with space_dim components.
static int interpolate_positions(const RitzGeometryPart *part, CeedElemRestriction rstr_points,
                                 CeedVector positions) {
  const RitzGeometryCase *c = &part->shared->c;
  CeedQFunction qf = NULL;

  RITZ_TRY(CeedQFunctionCreateIdentity(c->ceed, c->space_dim, CEED_EVAL_INTERP, CEED_EVAL_NONE, &qf));
  const int ierr = apply_to_positions(part, qf, rstr_points, positions);

  CeedQFunctionDestroy(&qf);
  return ierr;
}

static int evaluate_map(const RitzGeometryCase *c, const char *name, RitzCoefficientFunction f, void *ctx,
                        const double x[3], CeedScalar *value) {
  double result = NAN;
  const int code = f(ctx, x, &result);

  RITZ_REQUIRE(!code, c->ceed, code,
               "RitzGeometryCreateOperator: the function %s fails at (%g, %g, %g) with code %d", name, x[0],
               x[1], x[2], code);
  *value = (CeedScalar)result;
  RITZ_REQUIRE(isfinite(*value), c->ceed, CEED_ERROR_MAJOR,
               "RitzGeometryCreateOperator: the function %s is not finite at (%g, %g, %g)", name, x[0], x[1],
               x[2]);
  return CEED_ERROR_SUCCESS;
}

// Both coefficients at one point, of bodies of revolution times the circumference: functions that the
// operator has no use for are not called.
static int evaluate_both(const RitzGeometryCase *c, const CeedScalar *position, CeedScalar values[2]) {
  const RitzOperatorOptions *o = &c->options;
  double x[3] = {0, 0, 0}, circumference = 1;

  for (CeedInt d = 0; d < c->space_dim; d++) x[d] = position[d];
  values[0] = (CeedScalar)o->lambda;
  values[1] = (CeedScalar)o->mu;
  if (o->lambda_function && ritz_geometry_has_mass(c))
    RITZ_TRY(evaluate_map(c, "lambda", o->lambda_function, o->lambda_ctx, x, &values[0]));
  if (o->mu_function && ritz_geometry_has_diffusion(c))
    RITZ_TRY(evaluate_map(c, "mu", o->mu_function, o->mu_ctx, x, &values[1]));
  if (o->is_axisymmetric)
    RITZ_TRY(
        ritz_geometry_circumference("RitzGeometryCreateOperator", c->ceed, c->axis_width, x, &circumference));
  for (int i = 0; i < 2; i++) values[i] *= (CeedScalar)circumference;
  return CEED_ERROR_SUCCESS;
}

static int evaluate_at_points(const RitzGeometryPart *part, CeedVector positions, CeedVector coefficients) {
  const RitzGeometryCase *c = &part->shared->c;
  const CeedSize num = (CeedSize)part->num_elem * c->Q;
  const CeedScalar *x = NULL;
  CeedScalar *values = NULL;

  RITZ_TRY(CeedVectorGetArrayRead(positions, CEED_MEM_HOST, &x));
  int ierr = CeedVectorGetArrayWrite(coefficients, CEED_MEM_HOST, &values);

  for (CeedSize i = 0; i < num && !ierr; i++) ierr = evaluate_both(c, x + i * c->space_dim, values + 2 * i);
  if (values) CeedVectorRestoreArray(coefficients, &values);
  CeedVectorRestoreArrayRead(positions, &x);
  return ierr;
}

// ---- Coefficients in C ----

static int create_coefficients_text(const RitzGeometryCase *c, char **text) {
  RitzText t = {.ceed = c->ceed};

  ritz_text_add(&t,
                "%s\n"
                "CEED_QFUNCTION(coefficients)(void *ctx, const CeedInt Q, const CeedScalar *const *in,\n"
                "                             CeedScalar *const *out) {\n"
                "  (void)ctx;\n"
                "  for (CeedInt i = 0; i < Q; i++) {\n"
                "    const CeedScalar x = in[0][i], y = %s, z = %s;\n"
                "    out[0][i] = lambda(x, y, z);\n"
                "    out[0][Q + i] = mu(x, y, z);\n"
                "  }\n"
                "  return 0;\n"
                "}\n",
                c->options.coefficients_text, c->space_dim > 1 ? "in[0][Q + i]" : "0",
                c->space_dim > 2 ? "in[0][2 * Q + i]" : "0");
  return ritz_text_finish(&t, text);
}

static int create_coefficients_qfunction(const RitzGeometryCase *c, CeedQFunction *qf) {
  char *text = NULL;

  RITZ_TRY(create_coefficients_text(c, &text));
  const int ierr = RitzQFunctionCreateFromText(c->ceed, 1, text, "coefficients", qf);

  RITZ_FREE(&text);
  RITZ_TRY(ierr);
  RITZ_TRY(CeedQFunctionAddInput(*qf, "input", c->space_dim, CEED_EVAL_INTERP));
  return CeedQFunctionAddOutput(*qf, "output", 2, CEED_EVAL_NONE);
}

static int evaluate_text(const RitzGeometryPart *part) {
  CeedQFunction qf = NULL;
  int ierr = create_coefficients_qfunction(&part->shared->c, &qf);

  if (!ierr) ierr = apply_to_positions(part, qf, part->rstr_coefficients, part->coefficients);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

// The same where functions are another way: a text that fails is warned of, whatever the program's handler
// makes of errors. *is_done: whether all values are there and finite.
static int try_text(const RitzGeometryPart *part, bool *is_done) {
  const Ceed ceed = part->shared->c.ceed;
  const RitzContextCalls *calls = ((const RitzObject *)ceed)->class->context;
  const CeedErrorHandler handler = calls->error_handler(ceed);
  const char *message = "";
  char why[RITZ_MESSAGE_LENGTH];
  CeedScalar norm = NAN;

  RITZ_TRY(CeedSetErrorHandler(ceed, CeedErrorStore));
  const int ierr = evaluate_text(part);

  RITZ_TRY(CeedSetErrorHandler(ceed, handler));
  if (!ierr) RITZ_TRY(CeedVectorNorm(part->coefficients, CEED_NORM_1, &norm));
  *is_done = isfinite(norm);
  if (!ierr) return CEED_ERROR_SUCCESS;
  RITZ_TRY(CeedGetErrorMessage(ceed, &message));
  snprintf(why, sizeof(why), "%s", message);
  RITZ_TRY(CeedResetErrorMessage(ceed, NULL));
  return calls->warn_once(ceed, "RitzGeometryCreateOperator", "coefficients in C", why,
                          "their functions are called at each point");
}

static bool has_text_for_points(const RitzGeometryPart *part) {
  const double least = 2e6; // points that functions take about as long for as compilers
  const RitzGeometryCase *c = &part->shared->c;

  return c->options.coefficients_text && !c->options.is_axisymmetric &&
         (double)part->num_elem * (double)c->Q >= least;
}

// Once for a part.
static int require_coefficients(RitzGeometryPart *part) {
  CeedElemRestriction rstr = NULL;
  CeedVector positions = NULL;
  bool is_done = false;
  int ierr;

  if (part->coefficients) return CEED_ERROR_SUCCESS;
  RITZ_TRY_CLEANUP(create_point_field(part, 2, &part->rstr_coefficients, &part->coefficients));
  if (has_text_for_points(part)) RITZ_TRY_CLEANUP(try_text(part, &is_done));
  if (is_done) return CEED_ERROR_SUCCESS;
  RITZ_TRY_CLEANUP(create_point_field(part, part->shared->c.space_dim, &rstr, &positions));
  RITZ_TRY_CLEANUP(interpolate_positions(part, rstr, positions));
  RITZ_TRY_CLEANUP(evaluate_at_points(part, positions, part->coefficients));
cleanup:
  CeedElemRestrictionDestroy(&rstr);
  CeedVectorDestroy(&positions);
  return ierr;
}

// ---- The operator that runs once ----

static CeedInt count_numbers(const RitzGeometryCase *c, CeedInt wanted) {
  CeedInt num = 0;

  for (CeedInt one = RITZ_SETUP_MASS; one <= RITZ_SETUP_GRADIENTS; one *= 2) {
    if (!(wanted & one)) continue;
    num += one == RITZ_SETUP_METRIC      ? c->dim * (c->dim + 1) / 2
           : one == RITZ_SETUP_GRADIENTS ? c->dim * c->space_dim
                                         : 1;
  }
  return num;
}

static int add_setup_fields(RitzGeometryPart *setup, RitzGeometryNodes nodes, CeedInt num,
                            CeedElemRestriction rstr) {
  RITZ_TRY(ritz_geometry_add_coordinates(setup, nodes, CEED_EVAL_GRAD));
  RITZ_TRY(ritz_geometry_add_weights(setup, "weights"));
  if (setup->coefficients)
    RITZ_TRY(add_point_field(setup, "coefficients", 2, setup->rstr_coefficients, setup->coefficients));
  return add_point_field(setup, "numbers", num, rstr, CEED_VECTOR_ACTIVE);
}

// numbers = what `wanted` says on the elements and points of `setup`, whose fields are made here.
static int run_setup_operator(RitzGeometryPart *setup, RitzGeometryNodes nodes, const RitzGeometrySetup *data,
                              CeedElemRestriction rstr, CeedVector numbers) {
  Ceed ceed = setup->shared->c.ceed;
  const CeedInt num = count_numbers(&setup->shared->c, data->wanted);
  const RitzGeometryFunction function = ritz_geometry_setup_function(setup->coefficients != NULL);
  CeedQFunctionContext ctx = NULL;
  CeedOperator op = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(add_setup_fields(setup, nodes, num, rstr));
  RITZ_TRY_CLEANUP(ritz_geometry_create_context(ceed, sizeof(*data), data, &ctx));
  RITZ_TRY_CLEANUP(ritz_geometry_part_operator(setup, 1, function, 0, ctx, &op));
  RITZ_TRY_CLEANUP(CeedOperatorSetName(op, "geometric factors"));
  RITZ_TRY_CLEANUP(RitzOperatorSetUse(op, RITZ_USE_ONCE));
  RITZ_TRY_CLEANUP(ritz_vector_compute_once(numbers, op));
cleanup:
  CeedOperatorDestroy(&op);
  CeedQFunctionContextDestroy(&ctx);
  ritz_geometry_part_clear(setup);
  return ierr;
}

static bool varies(const RitzGeometryCase *c, CeedInt wanted) {
  const CeedInt of_mass = RITZ_SETUP_MASS | RITZ_SETUP_MASS_WEIGHT;
  const CeedInt of_diffusion = RITZ_SETUP_METRIC | RITZ_SETUP_INVERSE | RITZ_SETUP_DIFFUSION_WEIGHT;

  return (wanted & of_mass && ritz_geometry_lambda_varies(c)) ||
         (wanted & of_diffusion && ritz_geometry_mu_varies(c));
}

int ritz_geometry_add_numbers(RitzGeometryPart *part, const char *name, CeedInt wanted,
                              bool has_coefficients) {
  const RitzGeometryCase *c = &part->shared->c;
  const CeedInt num = count_numbers(c, wanted);
  const bool is_variable = has_coefficients && varies(c, wanted);
  const bool is_constant = has_coefficients && !is_variable;
  const RitzGeometrySetup data = {.dim = c->dim,
                                  .space_dim = c->space_dim,
                                  .wanted = wanted,
                                  .lambda = is_constant ? (CeedScalar)c->options.lambda : 1,
                                  .mu = is_constant ? (CeedScalar)c->options.mu : 1};
  CeedElemRestriction rstr = NULL;
  CeedVector numbers = NULL;
  int ierr;

  RitzGeometryPart setup = {.shared = part->shared, .num_elem = part->num_elem, .elements = part->elements};

  if (is_variable) {
    RITZ_TRY_CLEANUP(require_coefficients(part));
    RITZ_TRY_CLEANUP(CeedElemRestrictionReferenceCopy(part->rstr_coefficients, &setup.rstr_coefficients));
    RITZ_TRY_CLEANUP(CeedVectorReferenceCopy(part->coefficients, &setup.coefficients));
  }
  RITZ_TRY_CLEANUP(CeedElemRestrictionCreateStrided(c->ceed, part->num_elem, c->Q, num,
                                                    (CeedSize)part->num_elem * c->Q * num,
                                                    CEED_STRIDES_BACKEND, &rstr));
  RITZ_TRY_CLEANUP(CeedElemRestrictionCreateVector(rstr, &numbers, NULL));
  RITZ_TRY_CLEANUP(run_setup_operator(&setup, RITZ_NODES_ALL, &data, rstr, numbers));
  RITZ_TRY_CLEANUP(add_point_field(part, name, num, rstr, numbers));
cleanup:
  ritz_geometry_part_clear(&setup);
  CeedElemRestrictionDestroy(&rstr);
  CeedVectorDestroy(&numbers);
  return ierr;
}

// ---- Numbers that are the same at all points of an element ----

// The weight of the centre is the size of the reference element.
static int find_size(const RitzGeometryCase *c, CeedBasis centre, CeedScalar *size) {
  const CeedScalar *weights = NULL;

  RITZ_TRY(CeedBasisGetQWeights(centre, &weights));
  *size = weights[0];
  for (CeedInt d = 1; d < c->dim && c->block->shape->is_tensor; d++) *size *= weights[0];
  return CEED_ERROR_SUCCESS;
}

// At the centre, where the derivatives of a map of degree one are its best affine part.
static int compute_constants(const RitzGeometryPart *part, const RitzGeometrySetup *data,
                             CeedElemRestriction rstr, CeedVector numbers) {
  RitzGeometrySetup unweighted = *data;
  RitzGeometryShared centre = *part->shared;
  RitzGeometryPart setup = {.shared = &centre, .num_elem = part->num_elem, .elements = part->elements};
  CeedScalar size = 1;

  centre.c.Q_1d = centre.c.Q = 1;
  centre.c.options.quad_mode = CEED_GAUSS;
  centre.basis_u = NULL;
  RITZ_TRY(ritz_geometry_create_basis(&centre.c, 1, 1, &centre.basis_u));
  int ierr = find_size(&centre.c, centre.basis_u, &size);

  unweighted.lambda /= size;
  unweighted.mu /= size;
  if (!ierr) ierr = run_setup_operator(&setup, RITZ_NODES_CORNERS, &unweighted, rstr, numbers);
  CeedBasisDestroy(&centre.basis_u);
  return ierr;
}

static int create_constant_table(const RitzGeometryShared *s, CeedInt num_comp, CeedBasis *basis) {
  const RitzGeometryCase *c = &s->c;
  const CeedScalar *points = NULL, *weights = NULL;
  CeedScalar *tables = NULL; // owned: [Q] ones, [dim][Q] zeros

  RITZ_TRY(CeedBasisGetQRef(s->basis_u, &points));
  RITZ_TRY(CeedBasisGetQWeights(s->basis_u, &weights));
  RITZ_TRY(RITZ_CALLOC(c->ceed, ((size_t)c->dim + 1) * (size_t)c->Q, &tables));
  for (CeedInt q = 0; q < c->Q; q++) tables[q] = 1;
  int ierr = CeedBasisCreateH1(c->ceed, c->block->shape->topology, num_comp, 1, c->Q, tables, tables + c->Q,
                               points, weights, basis);

  RITZ_FREE(&tables);
  return ierr;
}

static int create_constant_lines(const RitzGeometryShared *s, CeedInt num_comp, CeedBasis *basis) {
  const RitzGeometryCase *c = &s->c;
  const CeedScalar *points = NULL, *weights = NULL;
  CeedScalar *tables = NULL; // owned: [Q_1d] ones, [Q_1d] zeros

  RITZ_TRY(CeedBasisGetQRef(s->basis_u, &points));
  RITZ_TRY(CeedBasisGetQWeights(s->basis_u, &weights));
  RITZ_TRY(RITZ_CALLOC(c->ceed, 2 * (size_t)c->Q_1d, &tables));
  for (CeedInt q = 0; q < c->Q_1d; q++) tables[q] = 1;
  int ierr = CeedBasisCreateTensorH1(c->ceed, c->dim, num_comp, 1, c->Q_1d, tables, tables + c->Q_1d, points,
                                     weights, basis);

  RITZ_FREE(&tables);
  return ierr;
}

// One node (a direction), value 1 and derivative 0 everywhere.
static int create_constant_basis(const RitzGeometryShared *s, CeedInt num_comp, CeedBasis *basis) {
  return (s->c.block->shape->is_tensor ? create_constant_lines : create_constant_table)(s, num_comp, basis);
}

int ritz_geometry_add_constants(RitzGeometryPart *part, CeedInt wanted) {
  const RitzGeometryCase *c = &part->shared->c;
  const RitzOperatorOptions *o = &c->options;
  const CeedInt num = count_numbers(c, wanted), strides[3] = {1, 1, num};
  const RitzGeometrySetup data = {.dim = c->dim,
                                  .space_dim = c->space_dim,
                                  .wanted = wanted,
                                  .lambda = ritz_geometry_lambda_varies(c) ? 1 : (CeedScalar)o->lambda,
                                  .mu = ritz_geometry_mu_varies(c) ? 1 : (CeedScalar)o->mu};
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  CeedVector numbers = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(CeedElemRestrictionCreateStrided(c->ceed, part->num_elem, 1, num,
                                                    (CeedSize)part->num_elem * num, strides, &rstr));
  RITZ_TRY_CLEANUP(CeedElemRestrictionCreateVector(rstr, &numbers, NULL));
  RITZ_TRY_CLEANUP(compute_constants(part, &data, rstr, numbers));
  RITZ_TRY_CLEANUP(create_constant_basis(part->shared, num, &basis));
  RITZ_TRY_CLEANUP(ritz_geometry_add_field(part, "factors", num, CEED_EVAL_INTERP, rstr, basis, numbers));
cleanup:
  CeedElemRestrictionDestroy(&rstr);
  CeedBasisDestroy(&basis);
  CeedVectorDestroy(&numbers);
  return ierr;
}
