// SPDX-License-Identifier: BSD-2-Clause
// Vector problems (contract in bench/vector-problem.h).
#include "bench/vector-problem.h"

#include <ritz/basis.h>
#include <stdlib.h>

#include "bench/vector-qfunctions.h"

#define TRY(expr)                                                                                            \
  do {                                                                                                       \
    const int ierr_ = (expr);                                                                                \
    if (ierr_) return ierr_;                                                                                 \
  } while (0)

// ---- Unknowns ----

// Neighbours along d share nodes of component c.
static bool is_continuous(const VectorShape *s, CeedInt c, CeedInt d) {
  return (s->mode == CEED_EVAL_DIV) == (c == d);
}

// Nodes of component c along d: of an element, of the box.
static CeedInt nodes_along(const VectorShape *s, CeedInt c, CeedInt d) {
  return d >= s->dim ? 1 : s->order + is_continuous(s, c, d);
}

static CeedSize box_along(const VectorShape *s, CeedInt c, CeedInt d) {
  return d >= s->dim ? 1 : (CeedSize)s->elements[d] * s->order + is_continuous(s, c, d);
}

static CeedInt count_nodes(const VectorShape *s, CeedInt c) {
  return nodes_along(s, c, 0) * nodes_along(s, c, 1) * nodes_along(s, c, 2);
}

static CeedSize count_dofs(const VectorShape *s, CeedInt c) {
  return box_along(s, c, 0) * box_along(s, c, 1) * box_along(s, c, 2);
}

// The number of node `node` of component c in the element at `corner`.
static CeedSize number_of(const VectorShape *s, CeedInt c, const CeedInt corner[3], CeedInt node) {
  CeedSize number = 0, stride = 1;

  for (CeedInt d = 0; d < s->dim; d++) {
    const CeedInt P = nodes_along(s, c, d);

    number += stride * ((CeedSize)corner[d] * s->order + node % P);
    stride *= box_along(s, c, d);
    node /= P;
  }
  return number;
}

static void fill_element(const VectorShape *s, CeedInt e, CeedInt *offsets, bool *orients) {
  const CeedInt n0 = s->elements[0], n1 = s->elements[1];
  const CeedInt corner[3] = {e % n0, e / n0 % n1, e / n0 / n1};
  CeedSize first = 0;

  for (CeedInt c = 0, k = 0; c < s->dim; c++) {
    for (CeedInt i = 0; i < count_nodes(s, c); i++, k++) {
      offsets[k] = (CeedInt)(first + number_of(s, c, corner, i));
      orients[k] = (e + k) % 3 == 0;
    }
    first += count_dofs(s, c);
  }
}

static int create_restriction(Ceed ceed, VectorProblem *p) {
  const size_t P = (size_t)p->num_nodes, num = (size_t)p->num_elem * P;
  CeedInt *offsets = malloc(num * sizeof(*offsets));
  bool *orients = malloc(num * sizeof(*orients));
  int ierr = offsets && orients ? CEED_ERROR_SUCCESS : CEED_ERROR_MAJOR;

  for (CeedInt e = 0; !ierr && e < p->num_elem; e++)
    fill_element(&p->shape, e, offsets + (size_t)e * P, orients + (size_t)e * P);
  if (!ierr)
    ierr = CeedElemRestrictionCreateOriented(ceed, p->num_elem, p->num_nodes, 1, 1, p->dofs, CEED_MEM_HOST,
                                             CEED_COPY_VALUES, offsets, orients, &p->rstr);
  free(offsets);
  free(orients);
  return ierr;
}

// ---- Bases ----

static int create_tensor(Ceed ceed, const VectorShape *s, CeedBasis *basis) {
  return (s->mode == CEED_EVAL_DIV ? RitzBasisCreateTensorHdiv : RitzBasisCreateTensorHcurl)(
      ceed, s->dim, 1, s->order, s->Q, CEED_GAUSS, basis);
}

static int create_dense_from(Ceed ceed, const VectorProblem *p, CeedBasis from, CeedBasis *basis) {
  const bool is_hdiv = p->shape.mode == CEED_EVAL_DIV;
  const CeedScalar *interp, *derivative, *points, *weights;

  TRY(CeedBasisGetInterp(from, &interp));
  TRY((is_hdiv ? CeedBasisGetDiv : CeedBasisGetCurl)(from, &derivative));
  TRY(CeedBasisGetQRef(from, &points));
  TRY(CeedBasisGetQWeights(from, &weights));
  return (is_hdiv ? CeedBasisCreateHdiv : CeedBasisCreateHcurl)(
      ceed, p->shape.dim == 2 ? CEED_TOPOLOGY_QUAD : CEED_TOPOLOGY_HEX, 1, p->num_nodes, p->num_points,
      interp, derivative, points, weights, basis);
}

static int create_basis(Ceed ceed, VectorProblem *p) {
  CeedBasis tensor = NULL;

  if (!p->shape.is_dense) return create_tensor(ceed, &p->shape, &p->basis);
  int ierr = create_tensor(ceed, &p->shape, &tensor);
  if (!ierr) ierr = create_dense_from(ceed, p, tensor, &p->basis);
  CeedBasisDestroy(&tensor);
  return ierr;
}

// ---- Factors ----

// With J = diag(h / 2): vectors of H(curl) come from the reference element by J^-T, their curls by J / det J,
// in two dimensions by 1 / det J; of H(div) by J / det J, divergences by 1 / det J. The squares times det J.
static void find_factors(const VectorShape *s, CeedScalar *mass, CeedScalar *other) {
  double det = 1;

  for (CeedInt d = 0; d < s->dim; d++) det *= 0.5 / s->elements[d];
  for (CeedInt d = 0; d < s->dim; d++) {
    const double J = 0.5 / s->elements[d];

    mass[d] = (CeedScalar)(s->mode == CEED_EVAL_DIV ? J * J / det : det / (J * J));
    other[d] = (CeedScalar)(J * J / det);
  }
  if (s->dim == 2 || s->mode == CEED_EVAL_DIV) other[0] = (CeedScalar)(1 / det);
}

static void fill_factors(const VectorProblem *p, const CeedScalar *weights, CeedScalar *factors) {
  const CeedInt dim = p->shape.dim, num_mass = dim * (dim + 1) / 2, Q = p->num_points;
  CeedScalar mass[3], other[3];

  find_factors(&p->shape, mass, other);
  for (CeedInt e = 0; e < p->num_elem; e++) {
    CeedScalar *own = factors + (CeedSize)e * Q; // devices have [factor][element][point]
    const CeedSize stride = (CeedSize)p->num_elem * Q;

    for (CeedInt q = 0; q < Q; q++) {
      for (CeedInt f = 0; f < p->num_factors; f++) own[f * stride + q] = 0;
      for (CeedInt d = 0; d < dim; d++) own[d * stride + q] = weights[q] * mass[d];
      for (CeedInt d = 0; d < p->num_rows; d++) own[(num_mass + d) * stride + q] = weights[q] * other[d];
    }
  }
}

static int create_factors(Ceed ceed, VectorProblem *p) {
  const CeedInt Q = p->num_points, strides[3] = {1, p->num_elem * Q, Q};
  const CeedSize length = (CeedSize)p->num_elem * Q * p->num_factors;
  const CeedScalar *weights;
  CeedScalar *array;

  TRY(CeedElemRestrictionCreateStrided(ceed, p->num_elem, Q, p->num_factors, length, strides, &p->rstr_q));
  TRY(CeedVectorCreate(ceed, length, &p->factors));
  TRY(CeedBasisGetQWeights(p->basis, &weights));
  TRY(CeedVectorGetArrayWrite(p->factors, CEED_MEM_HOST, &array));
  fill_factors(p, weights, array);
  return CeedVectorRestoreArray(p->factors, &array);
}

// ---- Operator ----

static int create_function(Ceed ceed, const VectorShape *s, CeedQFunction *qf) {
  if (s->dim == 2) return CeedQFunctionCreateInterior(ceed, 1, vector_2, vector_2_loc, qf);
  if (s->mode == CEED_EVAL_DIV)
    return CeedQFunctionCreateInterior(ceed, 1, vector_div_3, vector_div_3_loc, qf);
  return CeedQFunctionCreateInterior(ceed, 1, vector_curl_3, vector_curl_3_loc, qf);
}

static int set_fields(const VectorProblem *p, CeedQFunction qf) {
  const CeedEvalMode mode = p->shape.mode;
  const CeedInt dim = p->shape.dim;

  TRY(CeedQFunctionAddInput(qf, "u", dim, CEED_EVAL_INTERP));
  TRY(CeedQFunctionAddInput(qf, "du", p->num_rows, mode));
  TRY(CeedQFunctionAddInput(qf, "factors", p->num_factors, CEED_EVAL_NONE));
  TRY(CeedQFunctionAddOutput(qf, "v", dim, CEED_EVAL_INTERP));
  return CeedQFunctionAddOutput(qf, "dv", p->num_rows, mode);
}

static int set_operator(const VectorProblem *p) {
  static const char *const active[] = {"u", "du", "v", "dv"};

  for (int i = 0; i < 4; i++)
    TRY(CeedOperatorSetField(p->op, active[i], p->rstr, p->basis, CEED_VECTOR_ACTIVE));
  return CeedOperatorSetField(p->op, "factors", p->rstr_q, CEED_BASIS_NONE, p->factors);
}

static int create_operator(Ceed ceed, VectorProblem *p) {
  CeedQFunction qf = NULL;
  int ierr = create_function(ceed, &p->shape, &qf);

  if (!ierr) ierr = set_fields(p, qf);
  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, &p->op);
  if (!ierr) ierr = set_operator(p);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

int vector_problem_create(Ceed ceed, const VectorShape *s, VectorProblem *p) {
  const CeedInt num_mass = s->dim * (s->dim + 1) / 2;

  *p = (VectorProblem){.shape = *s, .num_elem = 1, .num_points = 1};
  for (CeedInt d = 0; d < s->dim; d++) {
    p->num_elem *= s->elements[d];
    p->num_points *= s->Q;
    p->num_nodes += count_nodes(s, d);
    p->dofs += count_dofs(s, d);
  }
  p->num_rows = s->dim == 3 && s->mode == CEED_EVAL_CURL ? 3 : 1;
  p->num_factors = num_mass + (p->num_rows == 3 ? 6 : 1);
  TRY(create_restriction(ceed, p));
  TRY(create_basis(ceed, p));
  TRY(create_factors(ceed, p));
  TRY(CeedVectorCreate(ceed, p->dofs, &p->u));
  TRY(CeedVectorCreate(ceed, p->dofs, &p->v));
  return create_operator(ceed, p);
}

void vector_problem_destroy(VectorProblem *p) {
  CeedOperatorDestroy(&p->op);
  CeedVectorDestroy(&p->factors);
  CeedVectorDestroy(&p->u);
  CeedVectorDestroy(&p->v);
  CeedBasisDestroy(&p->basis);
  CeedElemRestrictionDestroy(&p->rstr);
  CeedElemRestrictionDestroy(&p->rstr_q);
}

// ---- Costs ----

static double power(double x, CeedInt n) { return n > 0 ? x * power(x, n - 1) : 1; }

// Component c: values, and the derivatives that its part of curl or divergence takes, which begin where they
// part from the values. Directions that are differentiated come last, so that most is shared.
static double component_flops(const VectorShape *s, CeedInt c) {
  double flops = 0, entries = count_nodes(s, c), arrays = 1;

  for (int differentiated = 0; differentiated < 2; differentiated++) {
    for (CeedInt d = 0; d < s->dim; d++) {
      const bool is_differentiated = (s->mode == CEED_EVAL_DIV) == (c == d);
      if (is_differentiated != differentiated) continue;
      arrays += differentiated;
      flops += 2 * entries * s->Q * arrays;
      entries = entries / nodes_along(s, c, d) * s->Q;
    }
  }
  return flops;
}

void vector_problem_costs(const VectorProblem *p, double *bytes, double *flops) {
  const CeedInt dim = p->shape.dim;
  const double off_diagonal = dim * (dim - 1) / 2 + (p->num_rows == 3 ? 3 : 0);

  *flops = 2 * (p->num_factors + off_diagonal) * p->num_points;
  for (CeedInt c = 0; c < dim; c++) *flops += 2 * component_flops(&p->shape, c);
  *flops *= p->num_elem;
  *bytes =
      sizeof(CeedScalar) * (3.0 * (double)p->dofs + (double)p->num_factors * p->num_points * p->num_elem) +
      5.0 * p->num_nodes * p->num_elem;
}

double vector_problem_dense_flops(const VectorProblem *p) {
  return 4.0 * (p->shape.dim + p->num_rows) * power(p->shape.Q, p->shape.dim) * p->num_nodes * p->num_elem;
}
