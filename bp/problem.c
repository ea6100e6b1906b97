// SPDX-License-Identifier: BSD-2-Clause
// Mesh, geometry and operators of the bake-off problems. Includes the public Ceed header and nothing else of
// any library, so that it compiles against every implementation.
#include "bp/problem.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "bp/qfunctions.h"

static const double pi = 3.14159265358979323846;

int bp_allocate(Ceed ceed, CeedSize n, size_t size, void *p) {
  void *memory = calloc((size_t)n + 1, size);

  if (!memory) {
    return CeedError(ceed, CEED_ERROR_MAJOR, "no memory for %.0f MB", 1e-6 * (double)n * (double)size);
  }
  *(void **)p = memory;
  return CEED_ERROR_SUCCESS;
}

// ---- Mesh ----

CeedSize bp_count_nodes(const BpResult *r, CeedInt order, CeedInt nodes[3]) {
  for (int d = 0; d < 3; d++) nodes[d] = r->elements[d] * order + 1;
  return (CeedSize)nodes[0] * nodes[1] * nodes[2];
}

static CeedSize count_all_nodes(const BpResult *r, CeedInt order) {
  const CeedSize boxes = (CeedSize)r->elements[0] * r->elements[1] * r->elements[2];
  CeedInt nodes[3];

  return bp_count_nodes(r, order, nodes) + boxes * bp_shape_extra_nodes(r->options.shape, order);
}

// Nodes of element e in the lattice of the whole box.
static void find_hex_lattice(const BpResult *r, CeedInt order, CeedInt e, CeedInt *nodes) {
  const CeedInt *n = r->elements, ex = e % n[0], ey = e / n[0] % n[1], ez = e / (n[0] * n[1]);
  CeedInt size[3];

  bp_count_nodes(r, order, size);
  for (CeedInt k = 0; k <= order; k++) {
    for (CeedInt j = 0; j <= order; j++) {
      for (CeedInt i = 0; i <= order; i++)
        *nodes++ = ex * order + i + size[0] * (ey * order + j + size[1] * (ez * order + k));
    }
  }
}

// Restriction of a field of degree `order`, which has `size` nodes in an element.
static int create_restriction(const BpProblem *p, CeedInt order, CeedInt size, CeedInt num_comp,
                              CeedElemRestriction *rstr) {
  const BpResult *r = p->sizes;
  const CeedSize num = (CeedSize)r->num_elem * size;
  CeedSize l_size = num_comp * count_all_nodes(r, order);
  CeedInt *offsets = NULL;

  BP_TRY(bp_allocate(p->ceed, num, sizeof(CeedInt), &offsets));
  for (CeedInt e = 0; e < r->num_elem; e++)
    (r->options.shape ? bp_shape_lattice : find_hex_lattice)(r, order, e, offsets + (CeedSize)e * size);
  for (CeedSize i = 0; i < num; i++) offsets[i] *= num_comp;
  int ierr = CeedElemRestrictionCreate(p->ceed, r->num_elem, size, num_comp, 1, l_size, CEED_MEM_HOST,
                                       CEED_COPY_VALUES, offsets, rstr);
  free(offsets);
  return ierr;
}

void bp_deform(double amplitude, const double X[3], double x[3]) {
  for (int d = 0; d < 3; d++) x[d] = X[d];
  if (amplitude == 0) return;
  double s = amplitude * sin(pi * X[0]) * sin(pi * X[1]) * sin(pi * X[2]);

  // sin(pi) is not zero in floating point.
  for (int d = 0; d < 3; d++) {
    if (X[d] == 0 || X[d] == 1) s = 0;
  }
  x[0] = X[0] + s * cos(2.0 * X[1]);
  x[1] = X[1] - s * cos(1.5 * X[2]);
  x[2] = X[2] + s * cos(1.0 * X[0]);
}

const double bp_shear_matrix[3][3] = {{1, 0.25, 0.125}, {0, 1, -0.25}, {0, 0, 1}};

void bp_shear(const double X[3], double x[3]) {
  for (int d = 0; d < 3; d++) {
    x[d] = 0;
    for (int k = 0; k < 3; k++) x[d] += bp_shear_matrix[d][k] * X[k];
  }
}

// Position of the point t (0 .. 1 in each direction) of the element whose first vertex is i: the trilinear
// map.
static void map_to_element(const BpResult *r, const CeedInt i[3], const double t[3], double x[3]) {
  x[0] = x[1] = x[2] = 0;
  for (int corner = 0; corner < 8; corner++) {
    double X[3], moved[3], weight = 1;

    for (int d = 0; d < 3; d++) {
      int far = corner >> d & 1;
      weight *= far ? t[d] : 1 - t[d];
      X[d] = (double)(i[d] + far) / r->elements[d];
    }
    if (r->options.geometry == COST_AFFINE)
      bp_shear(X, moved);
    else
      bp_deform(r->options.deform, X, moved);
    for (int d = 0; d < 3; d++) x[d] += weight * moved[d];
  }
}

void bp_node_position(const BpResult *r, CeedInt order, const double *t1d, CeedSize k, double x[3]) {
  CeedInt nodes[3], element[3];
  double t[3];
  const CeedSize lattice = bp_count_nodes(r, order, nodes);

  if (k >= lattice) {
    const CeedInt *n = r->elements, box = (CeedInt)(k - lattice);
    const CeedInt first[3] = {box % n[0], box / n[0] % n[1], box / (n[0] * n[1])};
    map_to_element(r, first, (const double[]){0.5, 0.5, 0.5}, x);
    return;
  }
  for (int d = 0; d < 3; d++) {
    CeedInt node = (CeedInt)(k % nodes[d]);
    k /= nodes[d];
    element[d] = node < nodes[d] - 1 ? node / order : r->elements[d] - 1;
    t[d] = t1d[node - element[d] * order];
  }
  map_to_element(r, element, t, x);
}

static int create_coordinates(BpProblem *p) {
  const double ends[2] = {0, 1};
  CeedScalar *array = NULL;
  double position[3];
  CeedSize num_nodes = count_all_nodes(p->sizes, 1);

  BP_TRY(CeedVectorCreate(p->ceed, 3 * num_nodes, &p->x));
  BP_TRY(CeedVectorGetArrayWrite(p->x, CEED_MEM_HOST, &array));
  for (CeedSize k = 0; k < num_nodes; k++) {
    bp_node_position(p->sizes, 1, ends, k, position);
    for (int d = 0; d < 3; d++) array[3 * k + d] = (CeedScalar)position[d];
  }
  return CeedVectorRestoreArray(p->x, &array);
}

// Determinant of the Jacobian of element i at t, relative to the undeformed one; differences of a trilinear
// map along its axes are exact derivatives.
static double relative_det(const BpResult *r, const CeedInt i[3], const double t[3]) {
  double J[3][3];

  for (int d = 0; d < 3; d++) {
    double begin[3] = {t[0], t[1], t[2]}, end[3] = {t[0], t[1], t[2]}, a[3], b[3];
    begin[d] = 0, end[d] = 1;
    map_to_element(r, i, begin, a);
    map_to_element(r, i, end, b);
    for (int k = 0; k < 3; k++) J[d][k] = (b[k] - a[k]) * r->elements[d];
  }
  return J[0][0] * (J[1][1] * J[2][2] - J[1][2] * J[2][1]) +
         J[0][1] * (J[1][2] * J[2][0] - J[1][0] * J[2][2]) +
         J[0][2] * (J[1][0] * J[2][1] - J[1][1] * J[2][0]);
}

// An amplitude that is too large turns elements inside out.
static int check_elements(Ceed ceed, const BpResult *r) {
  if (r->options.deform == 0) return CEED_ERROR_SUCCESS;

  const CeedInt num_boxes = r->elements[0] * r->elements[1] * r->elements[2];

  for (CeedInt e = 0; e < num_boxes; e++) {
    CeedInt i[3] = {e % r->elements[0], e / r->elements[0] % r->elements[1],
                    e / (r->elements[0] * r->elements[1])};
    for (int point = 0; point < 9; point++) { // corners and centre
      double t[3] = {point & 1, point >> 1 & 1, point >> 2 & 1};
      if (point == 8) t[0] = t[1] = t[2] = 0.5;
      double det = relative_det(r, i, t);
      if (!(det > 0)) {
        return CeedError(ceed, CEED_ERROR_INCOMPATIBLE,
                         "deformation %g inverts element %" CeedInt_FMT
                         ": its volume shrinks by the factor %g",
                         r->options.deform, e, det);
      }
    }
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Bases and restrictions ----

// A basis of one node: its value everywhere, on the points of basis_u.
static int create_constant_basis(BpProblem *p, CeedQuadMode mode) {
  const BpResult *r = p->sizes;
  CeedInt factors = bp_is_mass(r->options.bp) ? 1 : 6;
  CeedScalar *table = NULL; // interp, grad, points, weights, each [Q]
  int ierr;

  BP_TRY(bp_allocate(p->ceed, 4 * (CeedSize)r->Q, sizeof(*table), &table));
  CeedScalar *grad = table + r->Q, *points = grad + r->Q, *weights = points + r->Q;
  for (CeedInt i = 0; i < r->Q; i++) table[i] = 1;
  ierr = mode == CEED_GAUSS ? CeedGaussQuadrature(r->Q, points, weights)
                            : CeedLobattoQuadrature(r->Q, points, weights);
  if (!ierr) {
    ierr = CeedBasisCreateTensorH1(p->ceed, 3, factors, 1, r->Q, table, grad, points, weights,
                                   &p->basis_constant);
  }
  free(table);
  return ierr;
}

static int create_shape_bases(BpProblem *p) {
  const BpResult *r = p->sizes;

  BP_TRY(bp_shape_create_basis(p, 1, 3, false, &p->basis_x));
  BP_TRY(bp_shape_create_basis(p, r->options.order, r->num_comp, false, &p->basis_u));
  if (r->options.geometry != COST_AFFINE) return CEED_ERROR_SUCCESS;
  return bp_shape_create_constant_basis(p, bp_is_mass(r->options.bp) ? 1 : 6, &p->basis_constant);
}

static int create_bases(BpProblem *p) {
  const BpResult *r = p->sizes;
  CeedQuadMode mode = r->options.bp <= 4 ? CEED_GAUSS : CEED_GAUSS_LOBATTO;

  if (r->options.shape) return create_shape_bases(p);
  BP_TRY(CeedBasisCreateTensorH1Lagrange(p->ceed, 3, 3, 2, r->Q, mode, &p->basis_x));
  BP_TRY(CeedBasisCreateTensorH1Lagrange(p->ceed, 3, r->num_comp, r->P, r->Q, mode, &p->basis_u));
  return r->options.geometry == COST_AFFINE ? create_constant_basis(p, mode) : CEED_ERROR_SUCCESS;
}

static int create_restrictions(BpProblem *p) {
  const BpResult *r = p->sizes;
  CeedInt points = r->options.geometry == COST_AFFINE ? 1 : r->num_points;
  CeedInt factors = bp_is_mass(r->options.bp) ? 1 : 6;
  CeedSize size = (CeedSize)r->num_elem * points * factors;

  BP_TRY(create_restriction(p, 1, r->options.shape ? bp_shape_corners(r->options.shape) : 8, 3, &p->rstr_x));
  BP_TRY(create_restriction(p, r->options.order, r->num_nodes, r->num_comp, &p->rstr_u));
  if (r->options.geometry == COST_TRILINEAR) return CEED_ERROR_SUCCESS;
  return CeedElemRestrictionCreateStrided(p->ceed, r->num_elem, points, factors, size, CEED_STRIDES_BACKEND,
                                          &p->rstr_qdata);
}

// ---- Stored factors ----

// Sets all fields of the operator that computes the stored factors.
static int set_build_fields(const BpProblem *p, CeedBasis basis_x, CeedOperator op) {
  BP_TRY(CeedOperatorSetField(op, "dx", p->rstr_x, basis_x, CEED_VECTOR_ACTIVE));
  BP_TRY(CeedOperatorSetField(op, "weights", CEED_ELEMRESTRICTION_NONE, basis_x, CEED_VECTOR_NONE));
  return CeedOperatorSetField(op, "qdata", p->rstr_qdata, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE);
}

// Factors at the points of basis_x, computed by an operator from the coordinates.
static int build_factors(BpProblem *p, CeedBasis basis_x) {
  bool mass = bp_is_mass(p->sizes->options.bp);
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  int ierr;

  BP_TRY(CeedQFunctionCreateInterior(p->ceed, 1, mass ? bp_mass_build : bp_diffusion_build,
                                     mass ? bp_mass_build_loc : bp_diffusion_build_loc, &qf));
  ierr = CeedQFunctionAddInput(qf, "dx", 9, CEED_EVAL_GRAD);
  if (!ierr) ierr = CeedQFunctionAddInput(qf, "weights", 1, CEED_EVAL_WEIGHT);
  if (!ierr) ierr = CeedQFunctionAddOutput(qf, "qdata", mass ? 1 : 6, CEED_EVAL_NONE);
  if (!ierr) ierr = CeedOperatorCreate(p->ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &op);
  if (!ierr) ierr = set_build_fields(p, basis_x, op);
  if (!ierr) ierr = CeedElemRestrictionCreateVector(p->rstr_qdata, &p->qdata, NULL);
  if (!ierr) ierr = CeedOperatorApply(op, p->x, p->qdata, CEED_REQUEST_IMMEDIATE);
  CeedOperatorDestroy(&op);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

// Factors of whole elements: those of the one Gauss point, without its weight, the volume of the element.
static int build_element_factors(BpProblem *p) {
  const BpShape *shape = p->sizes->options.shape;
  CeedBasis centre = NULL;
  int ierr;

  BP_TRY(shape ? bp_shape_create_basis(p, 1, 3, true, &centre)
               : CeedBasisCreateTensorH1Lagrange(p->ceed, 3, 3, 2, 1, CEED_GAUSS, &centre));
  ierr = build_factors(p, centre);
  if (!ierr) ierr = CeedVectorScale(p->qdata, (CeedScalar)(shape ? bp_shape_inverse_volume(shape) : 0.125));
  CeedBasisDestroy(&centre);
  return ierr;
}

static int create_factors(BpProblem *p) {
  switch (p->sizes->options.geometry) {
  case COST_STORED: return build_factors(p, p->basis_x);
  case COST_AFFINE: return build_element_factors(p);
  default: return CEED_ERROR_SUCCESS;
  }
}

// ---- The operator ----

typedef struct {
  CeedQFunctionUser function;
  const char *source;
} PointFunction;

// QFunctions of the apply, by [geometry][diffusion][three components].
static const PointFunction apply_functions[3][2][2] = {
    [COST_STORED] = {{{bp_mass_apply, bp_mass_apply_loc}, {bp_mass_apply_3, bp_mass_apply_3_loc}},
                     {{bp_diffusion_apply, bp_diffusion_apply_loc},
                      {bp_diffusion_apply_3, bp_diffusion_apply_3_loc}}},
    [COST_TRILINEAR] = {{{bp_mass_trilinear, bp_mass_trilinear_loc},
                         {bp_mass_trilinear_3, bp_mass_trilinear_3_loc}},
                        {{bp_diffusion_trilinear, bp_diffusion_trilinear_loc},
                         {bp_diffusion_trilinear_3, bp_diffusion_trilinear_3_loc}}},
    [COST_AFFINE] = {{{bp_mass_affine, bp_mass_affine_loc}, {bp_mass_affine_3, bp_mass_affine_3_loc}},
                     {{bp_diffusion_affine, bp_diffusion_affine_loc},
                      {bp_diffusion_affine_3, bp_diffusion_affine_3_loc}}},
};

static int create_bp_qfunction(const BpProblem *p, CeedQFunction *qf) {
  const BpResult *r = p->sizes;
  CostGeometry geometry = r->options.geometry;
  bool mass = bp_is_mass(r->options.bp);
  CeedEvalMode mode = mass ? CEED_EVAL_INTERP : CEED_EVAL_GRAD;
  CeedInt size = r->num_comp * (mass ? 1 : 3), factors = mass ? 1 : 6;
  const PointFunction *f = &apply_functions[geometry][!mass][r->num_comp > 1];

  BP_TRY(CeedQFunctionCreateInterior(p->ceed, 1, f->function, f->source, qf));
  BP_TRY(CeedQFunctionAddInput(*qf, "u", size, mode));
  if (geometry == COST_TRILINEAR)
    BP_TRY(CeedQFunctionAddInput(*qf, "dx", 9, CEED_EVAL_GRAD));
  else
    BP_TRY(CeedQFunctionAddInput(*qf, "qdata", factors,
                                 geometry == COST_AFFINE ? CEED_EVAL_INTERP : CEED_EVAL_NONE));
  if (geometry != COST_STORED) BP_TRY(CeedQFunctionAddInput(*qf, "weights", 1, CEED_EVAL_WEIGHT));
  BP_TRY(CeedQFunctionAddOutput(*qf, "v", size, mode));
  return CeedQFunctionSetUserFlopsEstimate(*qf, r->num_comp * (mass ? 1 : 15));
}

static int set_apply_fields(const BpProblem *p) {
  CostGeometry geometry = p->sizes->options.geometry;

  BP_TRY(CeedOperatorSetField(p->op, "u", p->rstr_u, p->basis_u, CEED_VECTOR_ACTIVE));
  if (geometry == COST_TRILINEAR)
    BP_TRY(CeedOperatorSetField(p->op, "dx", p->rstr_x, p->basis_x, p->x));
  else
    BP_TRY(CeedOperatorSetField(p->op, "qdata", p->rstr_qdata,
                                geometry == COST_AFFINE ? p->basis_constant : CEED_BASIS_NONE, p->qdata));
  if (geometry != COST_STORED) {
    BP_TRY(CeedOperatorSetField(p->op, "weights", CEED_ELEMRESTRICTION_NONE, p->basis_x, CEED_VECTOR_NONE));
  }
  return CeedOperatorSetField(p->op, "v", p->rstr_u, p->basis_u, CEED_VECTOR_ACTIVE);
}

static int create_operator(BpProblem *p) {
  CeedQFunction qf = NULL;
  int ierr = create_bp_qfunction(p, &qf);

  if (!ierr) ierr = CeedOperatorCreate(p->ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &p->op);
  CeedQFunctionDestroy(&qf);
  if (!ierr && p->sizes->options.single) ierr = p->sizes->options.single->choose(p->op);
  return ierr ? ierr : set_apply_fields(p);
}

// ---- In float ----

static int refuse_single(const BpProblem *p) {
  if (!p->sizes->options.single || p->sizes->options.mode == BP_APPLY) return CEED_ERROR_SUCCESS;
  return CeedError(p->ceed, CEED_ERROR_UNSUPPORTED,
                   "BP%d: conjugate gradients of the benchmark have one precision", p->sizes->options.bp);
}

// Takes a copy in float in the vector's place.
static int round_vector(const BpProblem *p, CeedVector *vec) {
  const BpSingle *single = p->sizes->options.single;
  CeedVector rounded = NULL;
  CeedSize length;

  if (!*vec || !single) return CEED_ERROR_SUCCESS;
  BP_TRY(CeedVectorGetLength(*vec, &length));
  BP_TRY(single->create(p->ceed, length, &rounded));
  int ierr = single->convert(*vec, rounded);
  CeedVectorDestroy(ierr ? &rounded : vec);
  if (!ierr) *vec = rounded;
  return ierr;
}

static int create_vectors(BpProblem *p) {
  const BpSingle *single = p->sizes->options.single;
  const CeedSize n = p->sizes->dofs;

  BP_TRY(CeedVectorCreate(p->ceed, n, &p->u));
  BP_TRY(CeedVectorCreate(p->ceed, n, &p->v));
  BP_TRY(single ? single->create(p->ceed, n, &p->in) : CeedVectorReferenceCopy(p->u, &p->in));
  return single ? single->create(p->ceed, n, &p->out) : CeedVectorReferenceCopy(p->v, &p->out);
}

int bp_problem_create(BpProblem *p) {
  CeedMemType memory;

  BP_TRY(refuse_single(p));
  BP_TRY(CeedGetPreferredMemType(p->ceed, &memory));
  p->on_device = memory == CEED_MEM_DEVICE;
  BP_TRY(create_bases(p));
  BP_TRY(create_restrictions(p));
  BP_TRY(check_elements(p->ceed, p->sizes));
  BP_TRY(create_coordinates(p));
  BP_TRY(create_factors(p));
  BP_TRY(round_vector(p, &p->x));
  BP_TRY(round_vector(p, &p->qdata));
  BP_TRY(create_operator(p));
  return create_vectors(p);
}

void bp_problem_destroy(BpProblem *p) {
  CeedOperatorDestroy(&p->op);
  CeedVectorDestroy(&p->x);
  CeedVectorDestroy(&p->qdata);
  CeedVectorDestroy(&p->u);
  CeedVectorDestroy(&p->v);
  CeedVectorDestroy(&p->in);
  CeedVectorDestroy(&p->out);
  CeedBasisDestroy(&p->basis_x);
  CeedBasisDestroy(&p->basis_u);
  CeedBasisDestroy(&p->basis_constant);
  CeedElemRestrictionDestroy(&p->rstr_x);
  CeedElemRestrictionDestroy(&p->rstr_u);
  CeedElemRestrictionDestroy(&p->rstr_qdata);
}
