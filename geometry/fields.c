// SPDX-License-Identifier: BSD-2-Clause
// Fields of the parts of an operator: bases, restrictions of the unknown to some of the elements; and the
// operator that is made of them. Called by setup.c, operator.c and point.c.
#include <ceed/backend.h>
#include <ritz/basis.h>

#include "geometry/geometry.h"

// ---- What the parts of a block share ----

static int fill_shared(RitzGeometryShared *s) {
  RITZ_TRY(ritz_geometry_create_basis(&s->c, s->c.num_comp, s->c.degree, &s->basis_u));
  return ritz_geometry_shared_offsets(s);
}

int ritz_geometry_shared_create(const RitzGeometryCase *c, const RitzGeometryCoordinates *coordinates,
                                RitzGeometryShared *shared) {
  *shared = (RitzGeometryShared){.c = *c, .coordinates = coordinates};
  return fill_shared(shared);
}

void ritz_geometry_shared_destroy(RitzGeometryShared *shared) {
  CeedBasisDestroy(&shared->basis_u);
  RITZ_FREE(&shared->offsets_x);
  RITZ_FREE(&shared->offsets_vertices);
}

// ---- Bases ----

int ritz_geometry_create_basis(const RitzGeometryCase *c, CeedInt num_comp, CeedInt degree,
                               CeedBasis *basis) {
  if (!c->block->shape->is_tensor)
    return RitzBasisCreateLagrange(c->ceed, c->block->shape->topology, num_comp, degree, 2 * c->Q_1d - 1,
                                   basis);
  return CeedBasisCreateTensorH1Lagrange(c->ceed, c->dim, num_comp, degree + 1, c->Q_1d, c->options.quad_mode,
                                         basis);
}

// Points [dim][Q] and weights [Q] of a tensor product.
static void fill_quadrature_points(CeedInt dim, CeedInt Q_1d, const CeedScalar *points_1d,
                                   const CeedScalar *weights_1d, size_t Q, CeedScalar *points,
                                   CeedScalar *weights) {
  for (size_t q = 0; q < Q; q++) {
    size_t rest = q;

    weights[q] = 1;
    for (size_t d = 0; d < (size_t)dim; d++, rest /= (size_t)Q_1d) {
      weights[q] *= weights_1d[rest % (size_t)Q_1d];
      points[d * Q + q] = points_1d[rest % (size_t)Q_1d];
    }
  }
}

static int find_points(const RitzGeometryShared *s, CeedScalar *points, CeedScalar *weights) {
  const RitzGeometryCase *c = &s->c;
  const size_t Q = (size_t)c->Q, dim = (size_t)c->dim;
  const CeedScalar *q_ref = NULL, *q_weight = NULL;

  RITZ_TRY(CeedBasisGetQRef(s->basis_u, &q_ref));
  RITZ_TRY(CeedBasisGetQWeights(s->basis_u, &q_weight));
  if (c->block->shape->is_tensor) {
    fill_quadrature_points(c->dim, c->Q_1d, q_ref, q_weight, Q, points, weights);
  } else {
    for (size_t i = 0; i < dim * Q; i++) points[i] = q_ref[i];
    for (size_t q = 0; q < Q; q++) weights[q] = q_weight[q];
  }
  return CEED_ERROR_SUCCESS;
}

// Slope along direction d of the affine function that is 1 at end n of the shape's edges and 0 at the others.
// They leave the corner (-1,...) along the axes; only the apex of a pyramid is above the middle of the base.
static CeedScalar edge_slope(const RitzGeometryShape *shape, CeedInt n, CeedInt d) {
  const bool is_apex = shape->topology == CEED_TOPOLOGY_PYRAMID && d == 2;

  if (n == d + 1) return (CeedScalar)0.5;
  if (is_apex) return n ? -(CeedScalar)0.25 : 0;
  return n ? 0 : -(CeedScalar)0.5;
}

static void fill_edge_tables(const RitzGeometryCase *c, const CeedScalar *points, CeedScalar *interp,
                             CeedScalar *grad) {
  const size_t Q = (size_t)c->Q, P = (size_t)c->dim + 1;

  for (size_t q = 0; q < Q; q++) {
    for (size_t n = 0; n < P; n++) {
      interp[q * P + n] = n == 0;
      for (size_t d = 0; d + 1 < P; d++) {
        const CeedScalar slope = edge_slope(c->block->shape, (CeedInt)n, (CeedInt)d);

        grad[(d * Q + q) * P + n] = slope;
        interp[q * P + n] += slope * (1 + points[d * Q + q]);
      }
    }
  }
}

// An affine map.
static int create_edge_basis(const RitzGeometryShared *s, CeedBasis *basis) {
  const RitzGeometryCase *c = &s->c;
  const CeedInt P = c->dim + 1;
  const size_t Q = (size_t)c->Q, dim = (size_t)c->dim;
  CeedScalar *work = NULL; // owned: interp [Q][P], grad [dim][Q][P], points [dim][Q], weights [Q]

  RITZ_TRY(RITZ_MALLOC(c->ceed, Q * (size_t)P * (dim + 1) + Q * (dim + 1), &work));
  CeedScalar *interp = work, *grad = interp + Q * (size_t)P, *points = grad + dim * Q * (size_t)P;
  CeedScalar *weights = points + dim * Q;
  int ierr = find_points(s, points, weights);

  if (!ierr) {
    fill_edge_tables(c, points, interp, grad);
    ierr = CeedBasisCreateH1(c->ceed, c->block->shape->topology, c->space_dim, P, c->Q, interp, grad, points,
                             weights, basis);
  }
  RITZ_FREE(&work);
  return ierr;
}

int ritz_geometry_coordinate_basis(const RitzGeometryShared *s, RitzGeometryNodes nodes, CeedBasis *basis) {
  const RitzGeometryCase *c = &s->c;

  if (nodes == RITZ_NODES_EDGES) return create_edge_basis(s, basis);
  return ritz_geometry_create_basis(c, c->space_dim, nodes == RITZ_NODES_ALL ? c->geometry->order : 1, basis);
}

// ---- Fields ----

int ritz_geometry_fields_add(Ceed ceed, RitzGeometryFields *fields, const char *name, CeedInt size,
                             CeedEvalMode mode, CeedElemRestriction rstr, CeedBasis basis,
                             CeedVector vector) {
  RITZ_TRY(RITZ_REALLOC(ceed, (size_t)fields->num + 1, &fields->list));
  RitzGeometryField *field = &fields->list[fields->num++];

  *field = (RitzGeometryField){.size = size, .mode = mode};
  RITZ_TRY(ritz_strdup(ceed, name, &field->name));
  RITZ_TRY(CeedElemRestrictionReferenceCopy(rstr, &field->rstr));
  RITZ_TRY(CeedBasisReferenceCopy(basis, &field->basis));
  return CeedVectorReferenceCopy(vector, &field->vector);
}

void ritz_geometry_fields_clear(RitzGeometryFields *fields) {
  for (int i = 0; i < fields->num; i++) {
    RITZ_FREE(&fields->list[i].name);
    CeedElemRestrictionDestroy(&fields->list[i].rstr);
    CeedBasisDestroy(&fields->list[i].basis);
    CeedVectorDestroy(&fields->list[i].vector);
  }
  RITZ_FREE(&fields->list);
  fields->num = 0;
}

int ritz_geometry_add_field(RitzGeometryPart *part, const char *name, CeedInt size, CeedEvalMode mode,
                            CeedElemRestriction rstr, CeedBasis basis, CeedVector vector) {
  return ritz_geometry_fields_add(part->shared->c.ceed, &part->fields, name, size, mode, rstr, basis, vector);
}

int ritz_geometry_part_restriction(const RitzGeometryPart *part, RitzSpace space, CeedElemRestriction *rstr) {
  const RitzGeometryCase *c = &part->shared->c;
  int64_t num_elem = 0;

  RITZ_TRY(RitzMeshGetBlock(c->geometry->mesh, c->block->index, NULL, NULL, &num_elem, NULL, NULL));
  if (part->num_elem == num_elem)
    return RitzSpaceCreateBlockRestriction(space, c->block->index, c->ceed, rstr);
  return RitzSpaceCreateElementsRestriction(space, c->block->index, c->ceed, part->num_elem, part->elements,
                                            rstr);
}

// All fields of the unknown share one restriction.
int ritz_geometry_add_unknown(RitzGeometryPart *part, const char *name, CeedEvalMode mode) {
  const RitzGeometryCase *c = &part->shared->c;
  const CeedInt size = c->num_comp * (mode == CEED_EVAL_GRAD ? c->dim : 1);

  if (!part->rstr_u) RITZ_TRY(ritz_geometry_part_restriction(part, c->options.space, &part->rstr_u));
  return ritz_geometry_add_field(part, name, size, mode, part->rstr_u, part->shared->basis_u,
                                 CEED_VECTOR_ACTIVE);
}

int ritz_geometry_add_coordinates(RitzGeometryPart *part, RitzGeometryNodes nodes, int modes) {
  const RitzGeometryCase *c = &part->shared->c;
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  CeedVector x = NULL;
  int ierr = ritz_geometry_coordinates(part, nodes, &rstr, &x);

  if (!ierr) ierr = ritz_geometry_coordinate_basis(part->shared, nodes, &basis);
  if (!ierr && modes & CEED_EVAL_INTERP)
    ierr = ritz_geometry_add_field(part, "x", c->space_dim, CEED_EVAL_INTERP, rstr, basis, x);
  if (!ierr && modes & CEED_EVAL_GRAD)
    ierr = ritz_geometry_add_field(part, "dx", c->dim * c->space_dim, CEED_EVAL_GRAD, rstr, basis, x);
  CeedElemRestrictionDestroy(&rstr);
  CeedBasisDestroy(&basis);
  CeedVectorDestroy(&x);
  return ierr;
}

int ritz_geometry_add_weights(RitzGeometryPart *part, const char *name) {
  return ritz_geometry_add_field(part, name, 1, CEED_EVAL_WEIGHT, CEED_ELEMRESTRICTION_NONE,
                                 part->shared->basis_u, CEED_VECTOR_NONE);
}

void ritz_geometry_part_clear(RitzGeometryPart *part) {
  ritz_geometry_fields_clear(&part->fields);
  CeedElemRestrictionDestroy(&part->rstr_u);
  CeedElemRestrictionDestroy(&part->rstr_coefficients);
  CeedVectorDestroy(&part->coefficients);
}

// ---- The operator ----

int ritz_geometry_create_context(Ceed ceed, size_t size, const void *data, CeedQFunctionContext *ctx) {
  RITZ_TRY(CeedQFunctionContextCreate(ceed, ctx));
  return CeedQFunctionContextSetData(*ctx, CEED_MEM_HOST, CEED_COPY_VALUES, size, (void *)data);
}

static int set_up_qfunction(const RitzGeometryFields *fields, int num_out, CeedQFunctionContext ctx,
                            CeedQFunction qf) {
  for (int i = 0; i < fields->num; i++) {
    const RitzGeometryField *f = &fields->list[i];
    const bool is_output = i >= fields->num - num_out;
    RITZ_TRY((is_output ? CeedQFunctionAddOutput : CeedQFunctionAddInput)(qf, f->name, f->size, f->mode));
  }
  if (!ctx) return CEED_ERROR_SUCCESS;
  RITZ_TRY(CeedQFunctionSetContext(qf, ctx));
  return CeedQFunctionSetContextWritable(qf, false);
}

int ritz_geometry_fields_operator(const RitzGeometryFields *fields, int num_out, CeedQFunction qf,
                                  CeedQFunctionContext ctx, CeedOperator *op) {
  RITZ_TRY(set_up_qfunction(fields, num_out, ctx, qf));
  RITZ_TRY(CeedOperatorCreate(CeedQFunctionReturnCeed(qf), qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, op));
  for (int i = 0; i < fields->num; i++) {
    const RitzGeometryField *f = &fields->list[i];
    RITZ_TRY(CeedOperatorSetField(*op, f->name, f->rstr, f->basis, f->vector));
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_geometry_part_operator(const RitzGeometryPart *part, int num_out, RitzGeometryFunction function,
                                CeedSize flops, CeedQFunctionContext ctx, CeedOperator *op) {
  CeedQFunction qf = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(CeedQFunctionCreateInterior(part->shared->c.ceed, 1, function.f, function.source, &qf));
  RITZ_TRY_CLEANUP(CeedQFunctionSetUserFlopsEstimate(qf, flops));
  RITZ_TRY_CLEANUP(ritz_geometry_fields_operator(&part->fields, num_out, qf, ctx, op));
cleanup:
  CeedQFunctionDestroy(&qf);
  return ierr;
}
