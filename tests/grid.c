// SPDX-License-Identifier: BSD-2-Clause
// Grids of elements (contract in tests/grid.h). Linked into every test program.
#include "tests/grid.h"

#include "tests/reference.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// ---- Operators ----

// out = the gallery's function of two fields, the first of which is active if vec is CEED_VECTOR_ACTIVE.
typedef struct {
  char function[32];
  const char *in[2], *out;
  CeedElemRestriction rstr[3]; // of in[0], in[1], out; borrowed
  CeedBasis basis[3];
  CeedVector vec[3];
} Recipe;

static int create(Ceed ceed, const Recipe *r, CeedOperator *op) {
  CeedQFunction qf = NULL;
  const char *const names[3] = {r->in[0], r->in[1], r->out};
  int ierr = CeedQFunctionCreateInteriorByName(ceed, r->function, &qf);

  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, op);
  for (int i = 0; !ierr && i < 3; i++) {
    ierr = CeedOperatorSetField(*op, names[i], r->rstr[i], r->basis[i], r->vec[i]);
  }
  CeedQFunctionDestroy(&qf);
  return ierr;
}

// Numbers at the points of the elements.
static int create_strided(Ceed ceed, CeedInt num_elem, CeedInt elem_size, CeedInt num_comp,
                          CeedElemRestriction *rstr) {
  const CeedInt strides[3] = {1, elem_size, elem_size * num_comp};

  return CeedElemRestrictionCreateStrided(ceed, num_elem, elem_size, num_comp,
                                          (CeedSize)num_elem * elem_size * num_comp, strides, rstr);
}

static int build_qdata(Ceed ceed, const GridElements *g, CeedInt Q_1d, bool is_laplacian,
                       CeedElemRestriction rstr_q, CeedVector qdata) {
  CeedInt num_corners = CeedIntPow(2, g->dim);
  CeedElemRestriction rstr_x = NULL;
  CeedBasis basis_x = NULL;
  CeedVector x = reference_vector(ceed, (CeedSize)g->num_elem * g->dim * num_corners, g->corners);
  CeedOperator build = NULL;
  int ierr = create_strided(ceed, g->num_elem, num_corners, g->dim, &rstr_x);

  if (!ierr) ierr = CeedBasisCreateTensorH1Lagrange(ceed, g->dim, g->dim, 2, Q_1d, CEED_GAUSS, &basis_x);
  Recipe r = {.in = {"dx", "weights"},
              .out = "qdata",
              .rstr = {rstr_x, CEED_ELEMRESTRICTION_NONE, rstr_q},
              .basis = {basis_x, basis_x, CEED_BASIS_NONE},
              .vec = {CEED_VECTOR_ACTIVE, CEED_VECTOR_NONE, CEED_VECTOR_ACTIVE}};

  snprintf(r.function, sizeof(r.function), "%s%dDBuild", is_laplacian ? "Poisson" : "Mass", (int)g->dim);
  if (!ierr) ierr = create(ceed, &r, &build);
  if (!ierr) ierr = CeedOperatorApply(build, x, qdata, CEED_REQUEST_IMMEDIATE);
  CeedOperatorDestroy(&build);
  CeedBasisDestroy(&basis_x);
  CeedVectorDestroy(&x);
  CeedElemRestrictionDestroy(&rstr_x);
  return ierr;
}

int grid_create_operator(Ceed ceed, const GridElements *elements, CeedInt Q_1d, bool is_laplacian,
                         CeedElemRestriction rstr, CeedBasis basis, CeedOperator *op) {
  CeedInt dim = elements->dim, num_q = is_laplacian ? dim * (dim + 1) / 2 : 1, num_comp = 0;
  CeedElemRestriction rstr_q = NULL;
  CeedVector qdata = NULL;
  int ierr = create_strided(ceed, elements->num_elem, CeedIntPow(Q_1d, dim), num_q, &rstr_q);

  if (!ierr) ierr = CeedElemRestrictionCreateVector(rstr_q, &qdata, NULL);
  if (!ierr) ierr = build_qdata(ceed, elements, Q_1d, is_laplacian, rstr_q, qdata);
  if (!ierr) ierr = CeedElemRestrictionGetNumComponents(rstr, &num_comp);
  Recipe r = {.in = {is_laplacian ? "du" : "u", "qdata"},
              .out = is_laplacian ? "dv" : "v",
              .rstr = {rstr, rstr_q, rstr},
              .basis = {basis, CEED_BASIS_NONE, basis},
              .vec = {CEED_VECTOR_ACTIVE, qdata, CEED_VECTOR_ACTIVE}};
  const char *prefix = num_comp == 3 ? "Vector3" : "";

  if (is_laplacian) {
    snprintf(r.function, sizeof(r.function), "%sPoisson%dDApply", prefix, (int)dim);
  } else {
    snprintf(r.function, sizeof(r.function), "%sMassApply", prefix);
  }
  if (!ierr) ierr = create(ceed, &r, op);
  CeedVectorDestroy(&qdata);
  CeedElemRestrictionDestroy(&rstr_q);
  return ierr;
}

// ---- The unit box ----

CeedInt grid_num_nodes(CeedInt dim, CeedInt n, CeedInt degree) { return CeedIntPow(n * degree + 1, dim); }

void grid_node(CeedInt dim, CeedInt n, CeedInt degree, CeedInt node, double *x) {
  double points[REFERENCE_MAX_1D];

  reference_quadrature(CEED_GAUSS_LOBATTO, degree + 1, points, NULL);
  for (CeedInt d = 0; d < dim; d++, node /= n * degree + 1) {
    CeedInt i = node % (n * degree + 1), element = i / degree < n ? i / degree : n - 1;

    x[d] = (element + 0.5 * (1 + points[i - element * degree])) / n;
  }
}

void grid_element_nodes(CeedInt dim, CeedInt n, CeedInt degree, CeedInt *nodes) {
  CeedInt num_elem = CeedIntPow(n, dim), P = CeedIntPow(degree + 1, dim);

  for (CeedInt i = 0; i < num_elem * P; i++) {
    nodes[i] = 0;
    for (CeedInt d = 0, e = i / P, p = i % P, stride = 1; d < dim; d++) {
      nodes[i] += (e % n * degree + p % (degree + 1)) * stride;
      e /= n, p /= degree + 1, stride *= n * degree + 1;
    }
  }
}

// Coordinate d of a vertex: moved unless it is on the boundary, by another amount at each vertex.
static double vertex_coordinate(CeedInt dim, CeedInt n, double shift, CeedInt vertex, CeedInt d) {
  bool is_inner = true;
  CeedInt i = 0;

  for (CeedInt k = 0, rest = vertex; k < dim; k++, rest /= n + 1) {
    if (k == d) i = rest % (n + 1);
    if (rest % (n + 1) == 0 || rest % (n + 1) == n) is_inner = false;
  }
  return (i + (is_inner ? shift * sin(5.0 * vertex + d) : 0.0)) / n;
}

void grid_corners(CeedInt dim, CeedInt n, double shift, double *corners) {
  CeedInt num_elem = CeedIntPow(n, dim), P = CeedIntPow(2, dim);
  CeedInt *vertices = calloc((size_t)num_elem * (size_t)P, sizeof(*vertices));

  grid_element_nodes(dim, n, 1, vertices);
  for (CeedInt i = 0; i < num_elem * dim * P; i++) {
    CeedInt e = i / (dim * P), d = i / P % dim;

    corners[i] = vertex_coordinate(dim, n, shift, vertices[e * P + i % P], d);
  }
  free(vertices);
}

int grid_create_restriction(Ceed ceed, CeedInt dim, CeedInt n, CeedInt degree, CeedInt num_comp,
                            CeedElemRestriction *rstr) {
  CeedInt num_elem = CeedIntPow(n, dim), P = CeedIntPow(degree + 1, dim);
  CeedInt *offsets = calloc((size_t)num_elem * (size_t)P, sizeof(*offsets));

  grid_element_nodes(dim, n, degree, offsets);
  for (CeedInt i = 0; i < num_elem * P; i++) offsets[i] *= num_comp;
  int ierr = CeedElemRestrictionCreate(ceed, num_elem, P, num_comp, 1,
                                       (CeedSize)num_comp * grid_num_nodes(dim, n, degree), CEED_MEM_HOST,
                                       CEED_COPY_VALUES, offsets, rstr);

  free(offsets);
  return ierr;
}
