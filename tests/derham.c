// SPDX-License-Identifier: BSD-2-Clause
// Spaces of the de Rham complex (contract in tests/derham.h).
#include "tests/derham.h"

#include <ceed/backend.h>
#include <stdlib.h>

#include "fe/fe.h"

// ---- Nodes ----

CeedInt derham_num_components(const DerhamSpace *space) {
  return space->kind == H1 || space->kind == L2 ? 1 : space->dim;
}

bool derham_has_points(const DerhamSpace *space, CeedInt c, CeedInt d) {
  switch (space->kind) {
  case H1: return true;
  case HCURL: return c != d;
  case HDIV: return c == d;
  default: return false;
  }
}

static CeedInt size_1d(const DerhamSpace *space, CeedInt c, CeedInt d) {
  return d >= space->dim ? 1 : space->order + derham_has_points(space, c, d);
}

static CeedInt block_size(const DerhamSpace *space, CeedInt c) {
  return size_1d(space, c, 0) * size_1d(space, c, 1) * size_1d(space, c, 2);
}

CeedInt derham_num_nodes(const DerhamSpace *space) {
  CeedInt num = 0;

  for (CeedInt c = 0; c < derham_num_components(space); c++) num += block_size(space, c);
  return num;
}

DerhamNode derham_node(const DerhamSpace *space, CeedInt n) {
  DerhamNode node = {0};

  for (; n >= block_size(space, node.component); node.component++) n -= block_size(space, node.component);
  for (CeedInt d = 0; d < 3; d++) {
    node.index[d] = n % size_1d(space, node.component, d);
    n /= size_1d(space, node.component, d);
  }
  return node;
}

// ---- Functionals ----

// Exact to degree 15: to rounding for waves that turn less than once an element.
enum { GAUSS_POINTS = 8 };

typedef struct {
  CeedInt num;
  double x[GAUSS_POINTS], w[GAUSS_POINTS];
} Rule;

// The ends of the cells of each order, and the rule, computed once.
static const double *ends_of(CeedInt order) {
  static double ends[REFERENCE_MAX_1D][REFERENCE_MAX_1D];

  if (ends[order][0] == 0) reference_quadrature(CEED_GAUSS_LOBATTO, order + 1, ends[order], NULL);
  return ends[order];
}

static const Rule *gauss(void) {
  static Rule rule;

  if (rule.num == 0) reference_quadrature(CEED_GAUSS, GAUSS_POINTS, rule.x, rule.w);
  rule.num = GAUSS_POINTS;
  return &rule;
}

// Along direction d of a node: its point, or Gauss points in its cell.
static Rule rule_of(const DerhamSpace *space, const DerhamNode *node, CeedInt d) {
  const CeedInt i = node->index[d];
  Rule rule = {.num = 1, .w = {1}};

  if (d >= space->dim) return rule;
  const double *ends = ends_of(space->order);
  rule.x[0] = ends[i];
  if (derham_has_points(space, node->component, d)) return rule;
  rule = *gauss();
  for (CeedInt q = 0; q < rule.num; q++) {
    rule.x[q] = (ends[i] + ends[i + 1]) / 2 + (ends[i + 1] - ends[i]) / 2 * rule.x[q];
    rule.w[q] *= (ends[i + 1] - ends[i]) / 2;
  }
  return rule;
}

static double functional(const DerhamSpace *space, const DerhamNode *node, DerhamField field,
                         const void *data) {
  const Rule rule[3] = {rule_of(space, node, 0), rule_of(space, node, 1), rule_of(space, node, 2)};
  double sum = 0;

  for (CeedInt k = 0; k < rule[2].num; k++) {
    for (CeedInt j = 0; j < rule[1].num; j++) {
      for (CeedInt i = 0; i < rule[0].num; i++) {
        const double x[3] = {rule[0].x[i], rule[1].x[j], rule[2].x[k]};
        sum += rule[0].w[i] * rule[1].w[j] * rule[2].w[k] * field(data, node->component, x);
      }
    }
  }
  return sum;
}

void derham_interpolate(const DerhamSpace *space, DerhamField field, const void *data, double *nodes) {
  for (CeedInt n = 0; n < derham_num_nodes(space); n++) {
    const DerhamNode node = derham_node(space, n);
    nodes[n] = functional(space, &node, field, data);
  }
}

// ---- Bases ----

static int create_l2(Ceed ceed, const DerhamSpace *space, CeedInt num_comp, CeedInt Q, CeedQuadMode mode,
                     CeedBasis *basis) {
  double nodes[REFERENCE_MAX_1D], points[REFERENCE_MAX_1D], weights[REFERENCE_MAX_1D];
  double edges[REFERENCE_MAX_1D * REFERENCE_MAX_1D];
  CeedScalar table[REFERENCE_MAX_1D * REFERENCE_MAX_1D], x[REFERENCE_MAX_1D], w[REFERENCE_MAX_1D];

  reference_quadrature(CEED_GAUSS_LOBATTO, space->order + 1, nodes, NULL);
  reference_quadrature(mode, Q, points, weights);
  CeedCall(ritz_fe_edge(ceed, space->order + 1, nodes, Q, points, edges));
  for (CeedInt i = 0; i < Q * space->order; i++) table[i] = (CeedScalar)edges[i];
  for (CeedInt q = 0; q < Q; q++) {
    x[q] = (CeedScalar)points[q];
    w[q] = (CeedScalar)weights[q];
  }
  return CeedBasisCreateTensorH1(ceed, space->dim, num_comp, space->order, Q, table, table, x, w, basis);
}

int derham_create_basis(Ceed ceed, const DerhamSpace *space, CeedInt num_comp, CeedInt Q, CeedQuadMode mode,
                        CeedBasis *basis) {
  switch (space->kind) {
  case H1:
    return CeedBasisCreateTensorH1Lagrange(ceed, space->dim, num_comp, space->order + 1, Q, mode, basis);
  case HCURL: return RitzBasisCreateTensorHcurl(ceed, space->dim, num_comp, space->order, Q, mode, basis);
  case HDIV: return RitzBasisCreateTensorHdiv(ceed, space->dim, num_comp, space->order, Q, mode, basis);
  default: return create_l2(ceed, space, num_comp, Q, mode, basis);
  }
}

CeedEvalMode derham_derivative(DerhamKind kind) {
  static const CeedEvalMode modes[] = {CEED_EVAL_GRAD, CEED_EVAL_CURL, CEED_EVAL_DIV, CEED_EVAL_NONE};

  return modes[kind];
}

int derham_apply(CeedBasis basis, CeedTransposeMode t_mode, CeedEvalMode mode, const double *from,
                 double *to) {
  Ceed ceed = CeedBasisReturnCeed(basis);
  CeedInt P, Q, num_comp, q_comp;
  CeedVector u = NULL, v = NULL;

  CeedCall(CeedBasisGetNumNodes(basis, &P));
  CeedCall(CeedBasisGetNumQuadraturePoints(basis, &Q));
  CeedCall(CeedBasisGetNumComponents(basis, &num_comp));
  CeedCall(CeedBasisGetNumQuadratureComponents(basis, mode, &q_comp));
  const CeedSize nodes = (CeedSize)num_comp * P, points = (CeedSize)q_comp * num_comp * Q;
  const bool transposes = t_mode == CEED_TRANSPOSE;
  u = reference_vector(ceed, transposes ? points : nodes, from);
  CeedCall(CeedVectorCreate(ceed, transposes ? nodes : points, &v));
  const int ierr = CeedBasisApply(basis, 1, t_mode, mode, u, v);
  if (!ierr) reference_values(v, to);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  return ierr;
}

// ---- A box of elements ----

// Permutations and reversals that go through all as elements do.
DerhamElement derham_element(CeedInt dim, CeedInt num_1d, CeedInt elem) {
  DerhamElement e = {.axis = {0, 1, 2}, .sign = {1, 1, 1}};
  CeedInt rest = elem;
  uint64_t seed = (uint64_t)elem + 1;

  for (CeedInt d = 0; d < dim; d++, rest /= num_1d) e.corner[d] = rest % num_1d;
  for (CeedInt d = dim - 1; d > 0; d--) {
    const CeedInt other = (CeedInt)tap_integer(&seed, d + 1), axis = e.axis[d];
    e.axis[d] = e.axis[other];
    e.axis[other] = axis;
  }
  for (CeedInt d = 0; d < dim; d++) e.sign[d] = tap_integer(&seed, 2) ? 1 : -1;
  return e;
}

// Number of a node of an element among points and cells of a box with num_1d * order cells an axis: unique,
// with gaps.
static CeedInt place(const DerhamSpace *space, CeedInt num_1d, const DerhamElement *e,
                     const DerhamNode *node) {
  const CeedInt n = num_1d * space->order + 1;
  CeedInt at[3] = {0};

  for (CeedInt d = 0; d < space->dim; d++) {
    const CeedInt last = size_1d(space, node->component, d) - 1;
    const CeedInt i = e->sign[d] > 0 ? node->index[d] : last - node->index[d];
    at[e->axis[d]] = e->corner[e->axis[d]] * space->order + i;
  }
  return ((e->axis[node->component] * n + at[2]) * n + at[1]) * n + at[0];
}

// Numbers places in the order in which they are met.
int derham_create_restriction(Ceed ceed, const DerhamSpace *space, CeedInt num_1d, CeedInt num_comp,
                              CeedElemRestriction *rstr) {
  const CeedInt num_elem = CeedIntPow(num_1d, space->dim), P = derham_num_nodes(space);
  const CeedInt num_places = 3 * CeedIntPow(num_1d * space->order + 1, 3);
  CeedInt *number = malloc((size_t)num_places * sizeof(*number)), num = 0;
  CeedInt *offsets = malloc((size_t)(num_elem * P) * sizeof(*offsets));
  bool *orients = malloc((size_t)(num_elem * P) * sizeof(*orients));

  for (CeedInt i = 0; i < num_places; i++) number[i] = -1;
  for (CeedInt i = 0; i < num_elem * P; i++) {
    const DerhamElement e = derham_element(space->dim, num_1d, i / P);
    const DerhamNode node = derham_node(space, i % P);
    const CeedInt at = place(space, num_1d, &e, &node);
    if (number[at] < 0) number[at] = num++;
    offsets[i] = number[at];
    orients[i] = e.sign[node.component] < 0;
  }
  const int ierr =
      CeedElemRestrictionCreateOriented(ceed, num_elem, P, num_comp, num, (CeedSize)num * num_comp,
                                        CEED_MEM_HOST, CEED_COPY_VALUES, offsets, orients, rstr);
  free(number);
  free(offsets);
  free(orients);
  return ierr;
}
