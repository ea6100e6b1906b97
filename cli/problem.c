// SPDX-License-Identifier: BSD-2-Clause
// The object of a problem and its operators.
#define _POSIX_C_SOURCE 200809L

#include "cli/problem.h"

#include <math.h>
#include <ritz/operator.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

// ---- Geometry of the meshes of all levels ----

int problem_get_geometry(Problem *p, RitzSpace space, RitzGeometry *geometry) {
  RitzMesh mesh = NULL;
  ProblemGeometry *all;

  CLI_TRY(RitzSpaceGetMesh(space, &mesh));
  for (int i = 0; i < p->num_geometries; i++) {
    *geometry = p->geometries[i].geometry;
    if (p->geometries[i].mesh == mesh) return CEED_ERROR_SUCCESS;
  }
  all = realloc(p->geometries, ((size_t)p->num_geometries + 1) * sizeof(*all));
  if (!all) return CeedError(p->ceed, CEED_ERROR_MAJOR, "no memory for the geometry of a mesh");
  p->geometries = all;
  CLI_TRY(RitzGeometryCreate(mesh, -1, geometry));
  all[p->num_geometries++] = (ProblemGeometry){mesh, *geometry};
  return CEED_ERROR_SUCCESS;
}

// ---- Operators ----

// Terms of an operator; poisson and elasticity: diffusion.
typedef struct {
  RitzOperatorKind kind;
  double factor; // of the reaction
  CeedInt more;  // Gauss points a direction than the degree
  bool has_robin;
  RitzElementChoice elements;
  CeedVector state; // in the place of u in a conductivity in C; NULL: none
} Form;

typedef struct {
  const ProblemCoefficient *coefficient;
  double factor;
} Scaled;

static int evaluate_scaled(void *ctx, const double *x, double *value) {
  const Scaled *scaled = ctx;
  int ierr = scaled->coefficient->function(scaled->coefficient->ctx, x, value);

  *value *= scaled->factor;
  return ierr;
}

// The text of a material with lambda; NULL: no memory.
static char *write_coefficients(const ProblemMaterial *m, double factor) {
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);

  if (!stream) return NULL;
  fprintf(stream, "%s#define lambda(x, y, z) ((CeedScalar)%.17g * reaction(x, y, z))\n", m->text, factor);
  if (!fclose(stream)) return text;
  free(text);
  return NULL;
}

static int create_scalar(const Problem *p, const ProblemMaterial *m, Form form, RitzGeometry geometry,
                         RitzOperatorOptions *options, CeedOperator *op) {
  Scaled reaction = {&m->reaction, form.factor};
  char *text = NULL;

  options->mu = m->conductivity.value;
  options->mu_function = m->conductivity.function;
  options->mu_ctx = m->conductivity.ctx;
  options->lambda = m->reaction.value * form.factor;
  if (m->reaction.function) {
    options->lambda_function = evaluate_scaled;
    options->lambda_ctx = &reaction;
  }
  // A lambda of zero would be one to the library.
  if (options->kind == RITZ_OPERATOR_HELMHOLTZ && !options->lambda_function && options->lambda == 0)
    options->kind = RITZ_OPERATOR_DIFFUSION;
  if (m->text) {
    text = write_coefficients(m, form.factor);
    if (!text) return CeedError(p->ceed, CEED_ERROR_MAJOR, "no memory for the text of coefficients");
  }
  options->coefficients_text = text;
  const int ierr = RitzGeometryCreateOperator(geometry, p->ceed, options, op);

  free(text);
  return ierr;
}

static int create_of_material(Problem *p, CeedInt i, Form form, RitzGeometry geometry, RitzSpace space,
                              CeedOperator *op) {
  const ProblemMaterial *m = &p->options.materials[i];
  CeedInt degree = 0;

  CLI_TRY(RitzSpaceGetDegree(space, &degree));
  RitzOperatorOptions options = {.kind = form.kind,
                                 .space = space,
                                 .num_points = degree + (p->has_directions ? form.more : 1),
                                 .num_regions = m->num_regions,
                                 .regions = m->regions,
                                 .elements = form.elements,
                                 .is_axisymmetric = p->options.is_axisymmetric};
  if (problem_is_elastic(p->options.kind)) return problem_create_body(p, m, geometry, &options, op);
  if (p->options.conductivity && form.kind != RITZ_OPERATOR_MASS)
    return problem_create_conduction(p, i, form.state, geometry, &options, op);
  return create_scalar(p, m, form, geometry, &options, op);
}

int problem_add_parts(CeedOperator composite, CeedOperator parts) {
  CeedInt num = 0;
  CeedOperator *list = NULL;

  CLI_TRY(CeedOperatorCompositeGetNumSub(parts, &num));
  CLI_TRY(CeedOperatorCompositeGetSubList(parts, &list));
  for (CeedInt i = 0; i < num; i++) CLI_TRY(CeedOperatorCompositeAddSub(composite, list[i]));
  return CEED_ERROR_SUCCESS;
}

// NULL where there are no such elements.
static int create_inner_form(Problem *p, Form form, RitzSpace space, CeedOperator *op) {
  RitzGeometry geometry = NULL;
  CeedOperator part = NULL;
  bool has_elements = false;
  int ierr = CEED_ERROR_SUCCESS;

  CLI_TRY(problem_get_geometry(p, space, &geometry));
  if (p->options.num_materials == 1) return create_of_material(p, 0, form, geometry, space, op);
  CLI_TRY(CeedOperatorCreateComposite(p->ceed, op));
  for (CeedInt i = 0; i < p->options.num_materials; i++) {
    CLI_TRY_CLEANUP(create_of_material(p, i, form, geometry, space, &part));
    if (!part) continue;
    CLI_TRY_CLEANUP(problem_add_parts(*op, part));
    CeedOperatorDestroy(&part);
    has_elements = true;
  }
cleanup:
  CeedOperatorDestroy(&part);
  if (ierr || !has_elements) CeedOperatorDestroy(op);
  return ierr;
}

// The same with integrals over the boundary, which count as elements with ghosts.
static int create_form(Problem *p, Form form, RitzSpace space, CeedOperator *op) {
  CLI_TRY(create_inner_form(p, form, space, op));
  if (!form.has_robin || form.elements == RITZ_ELEMENTS_INSIDE) return CEED_ERROR_SUCCESS;
  return problem_add_robin(p, space, op);
}

// Elements without ghosts are an operator of their own: exchanges go on meanwhile. Where devices exchange
// among themselves that gains less than a kernel more takes: all elements are those of the seam.
static int create_in_parts(Problem *p, Form form, RitzSpace space, CeedOperator *inside, CeedOperator *seam) {
  if (p->options.transport->mem_type == CEED_MEM_HOST) {
    form.elements = RITZ_ELEMENTS_INSIDE;
    CLI_TRY(create_form(p, form, space, inside));
    form.elements = RITZ_ELEMENTS_SEAM;
  }
  CLI_TRY(create_form(p, form, space, seam));
  if (*inside) CLI_TRY(RitzOperatorSetUse(*inside, RITZ_USE_NO_WAIT));
  return *seam ? RitzOperatorSetUse(*seam, RITZ_USE_NO_WAIT) : CEED_ERROR_SUCCESS;
}

// Makes an operator on the problem's space: whole, or in two where it is a part.
static int create_whole_or_parts(Problem *p, Form form, ProblemOperator *op) {
  if (!p->exchange) return create_form(p, form, p->space, &op->whole);
  CLI_TRY(create_in_parts(p, form, p->space, &op->pieces[0], &op->pieces[1]));
  return problem_unite(p, op);
}

static Form problem_form(const Problem *p, CeedInt more) {
  static const RitzOperatorKind kinds[] = {
      [PROBLEM_POISSON] = RITZ_OPERATOR_DIFFUSION,    [PROBLEM_MASS] = RITZ_OPERATOR_MASS,
      [PROBLEM_HELMHOLTZ] = RITZ_OPERATOR_HELMHOLTZ,  [PROBLEM_HEAT] = RITZ_OPERATOR_HELMHOLTZ,
      [PROBLEM_ELASTICITY] = RITZ_OPERATOR_DIFFUSION, [PROBLEM_HYPERELASTICITY] = RITZ_OPERATOR_DIFFUSION,
  };
  const double factor = p->options.kind == PROBLEM_HEAT ? p->options.factor : 1;

  return (Form){kinds[p->options.kind], factor, more, true, RITZ_ELEMENTS_ALL, NULL};
}

int problem_create_level(Problem *p, RitzSpace space, CeedOperator *op) {
  CLI_TRY(create_form(p, problem_form(p, p->has_jumps ? 2 : 1), space, op));
  return RitzOperatorSetUse(*op, RITZ_USE_NO_WAIT);
}

int problem_create_part_level(Problem *p, RitzSpace space, CeedOperator *inside, CeedOperator *seam) {
  return create_in_parts(p, problem_form(p, p->has_jumps ? 2 : 1), space, inside, seam);
}

int problem_create_picard(Problem *p, RitzSpace space, CeedVector state, CeedOperator *op) {
  Form form = problem_form(p, 2);

  form.state = state;
  return create_form(p, form, space, op);
}

int problem_create_part_picard(Problem *p, RitzSpace space, CeedVector state, CeedOperator *inside,
                               CeedOperator *seam) {
  Form form = problem_form(p, 2);

  form.state = state;
  return create_in_parts(p, form, space, inside, seam);
}

int problem_create_capacity(Problem *p, CeedOperator *op) {
  return create_form(p, (Form){RITZ_OPERATOR_MASS, 1, 2, false, RITZ_ELEMENTS_ALL, NULL}, p->space, op);
}

int problem_create_step(Problem *p, double factor, ProblemOperator *op) {
  return create_whole_or_parts(p, (Form){RITZ_OPERATOR_HELMHOLTZ, factor, 2, true, RITZ_ELEMENTS_ALL, NULL},
                               op);
}

// ---- The object ----

bool problem_is_on_device(const Problem *p) {
  CeedMemType memory = CEED_MEM_HOST;

  CeedGetPreferredMemType(p->ceed, &memory);
  return memory == CEED_MEM_DEVICE;
}

int problem_has_directions(RitzMesh mesh, bool *has) {
  CeedInt num_blocks = 0;

  *has = true;
  CLI_TRY(RitzMeshGetNumBlocks(mesh, &num_blocks));
  for (CeedInt b = 0; b < num_blocks; b++) {
    CeedElemTopology shape = CEED_TOPOLOGY_LINE;

    CLI_TRY(RitzMeshGetBlock(mesh, b, &shape, NULL, NULL, NULL, NULL));
    *has &= shape == CEED_TOPOLOGY_LINE || shape == CEED_TOPOLOGY_QUAD || shape == CEED_TOPOLOGY_HEX;
  }
  return CEED_ERROR_SUCCESS;
}

static int create_restrictions(Problem *p) {
  CLI_TRY(RitzMeshGetNumBlocks(p->mesh, &p->num_blocks));
  CLI_TRY(cli_allocate(p->ceed, (size_t)p->num_blocks, sizeof(CeedElemRestriction), &p->rstr_u));
  CLI_TRY(cli_allocate(p->ceed, (size_t)p->num_blocks, sizeof(CeedElemRestriction), &p->rstr_x));
  CLI_TRY(problem_has_directions(p->mesh, &p->has_directions));
  for (CeedInt b = 0; b < p->num_blocks; b++)
    CLI_TRY(RitzSpaceCreateBlockRestriction(p->space, b, p->ceed, &p->rstr_u[b]));
  return RitzMeshCreateBlockCoordinates(p->mesh, p->ceed, p->rstr_x, &p->x);
}

CeedInt problem_find_material(const Problem *p, int32_t region) {
  CeedInt found = -1;

  for (CeedInt i = 0; i < p->options.num_materials; i++) {
    const ProblemMaterial *m = &p->options.materials[i];
    bool is_here = m->num_regions == 0;

    for (CeedInt k = 0; k < m->num_regions; k++) is_here |= m->regions[k] == region;
    if (is_here) found = i;
  }
  return found;
}

int problem_create(Ceed ceed, RitzMesh mesh, const ProblemOptions *options, Problem *p) {
  int64_t num_elem = 0;

  *p = (Problem){.ceed = ceed, .mesh = mesh, .options = *options, .num_comp = 1};
  CLI_TRY(RitzMeshGetDimensions(mesh, &p->dim, &p->space_dim));
  CLI_TRY(RitzMeshGetNumElements(mesh, &num_elem));
  if (problem_is_elastic(options->kind)) p->num_comp = p->dim;
  // Counts of points in an element, times components, are CeedInt.
  if (num_elem > INT32_MAX || pow(options->order + 3.0, p->dim) > INT32_MAX / 9.0) {
    return CeedError(ceed, CEED_ERROR_UNSUPPORTED, "%lld elements of degree %" CeedInt_FMT " are too large",
                     (long long)num_elem, options->order);
  }
  CLI_TRY(RitzSpaceCreate(mesh, options->order, p->num_comp, &p->space));
  CLI_TRY(create_restrictions(p));
  if (options->has_known) CLI_TRY(problem_prepare_sine(p));
  if (options->transport) CLI_TRY(RitzExchangeCreate(p->space, ceed, options->transport, &p->exchange));
  CLI_TRY(create_whole_or_parts(p, problem_form(p, options->more_points ? options->more_points : 2), &p->op));
  return problem_has_jumps(p, &p->has_jumps);
}

void problem_destroy(Problem *p) {
  problem_destroy_operator(&p->op);
  problem_destroy_conduction(p);
  RitzExchangeDestroy(&p->exchange);
  CeedVectorDestroy(&p->x);
  for (CeedInt b = 0; b < p->num_blocks; b++) {
    if (p->rstr_u) CeedElemRestrictionDestroy(&p->rstr_u[b]);
    if (p->rstr_x) CeedElemRestrictionDestroy(&p->rstr_x[b]);
  }
  free(p->rstr_x);
  free(p->rstr_u);
  for (int i = 0; i < p->num_geometries; i++) RitzGeometryDestroy(&p->geometries[i].geometry);
  free(p->geometries);
  RitzSpaceDestroy(&p->space);
}
