// SPDX-License-Identifier: BSD-2-Clause
// Fields of the parts of an operator: restrictions to some of the elements, coordinates, bases; and the
// operator that is made of them. Called by setup.c, operator.c and point.c.
#include <ceed/backend.h>

#include "geometry/geometry.h"

// ---- What all parts share ----

static CeedInt num_nodes_of(const RitzGeometryCase *c, RitzGeometryNodes nodes) {
  return nodes == RITZ_NODES_EDGES ? c->dim + 1
                                   : CeedIntPow(nodes == RITZ_NODES_ALL ? c->geometry->order + 1 : 2, c->dim);
}

// Node in the geometry's element of a corner, the corner of an edge's end (node n of RITZ_NODES_EDGES).
static CeedInt node_of_corner(const RitzGeometryCase *c, CeedInt corner) {
  CeedInt node = 0, stride = c->geometry->order;

  for (CeedInt d = 0; d < c->dim; d++, stride *= c->geometry->order + 1) node += (corner >> d & 1) * stride;
  return node;
}
static CeedInt corner_of_edge(CeedInt n) { return n ? 1 << (n - 1) : 0; }

static int copy_offsets(RitzGeometryShared *s, CeedInt num_elem) {
  const size_t num = (size_t)num_elem * (size_t)num_nodes_of(&s->c, RITZ_NODES_ALL);
  const CeedInt *offsets = NULL;

  RITZ_TRY(CeedElemRestrictionGetOffsets(s->rstr_x, CEED_MEM_HOST, &offsets));
  int ierr = RITZ_MALLOC(s->c.ceed, num, &s->offsets_x);

  for (size_t i = 0; i < num && !ierr; i++) s->offsets_x[i] = offsets[i];
  CeedElemRestrictionRestoreOffsets(s->rstr_x, &offsets);
  return ierr;
}

// Numbers the vertices as the elements meet them, so that neighbours lie near each other.
static void number_vertices(RitzGeometryShared *s, CeedInt num_elem, const int64_t *vertices,
                            int64_t num_vertices, CeedInt *number) {
  const CeedInt num_corners = 1 << s->c.dim;
  CeedInt next = 0;

  for (int64_t v = 0; v < num_vertices; v++) number[v] = -1;
  for (size_t i = 0; i < (size_t)num_elem * (size_t)num_corners; i++) {
    if (number[vertices[i]] < 0) number[vertices[i]] = next++;
    s->offsets_vertices[i] = number[vertices[i]] * s->c.space_dim;
  }
}

static int fill_vertices(RitzGeometryShared *s, CeedInt num_elem) {
  const CeedInt num_corners = 1 << s->c.dim, num_nodes = num_nodes_of(&s->c, RITZ_NODES_ALL);
  const CeedScalar *x = NULL;
  CeedScalar *to = NULL;

  RITZ_TRY(CeedVectorCreate(s->c.ceed, s->num_vertices, &s->vertices));
  RITZ_TRY(CeedVectorGetArrayRead(s->x, CEED_MEM_HOST, &x));
  int ierr = CeedVectorGetArrayWrite(s->vertices, CEED_MEM_HOST, &to);

  for (CeedInt e = 0; e < num_elem && !ierr; e++) {
    for (CeedInt k = 0; k < num_corners; k++) {
      const CeedScalar *from =
          x + s->offsets_x[(size_t)e * (size_t)num_nodes + (size_t)node_of_corner(&s->c, k)];
      const CeedInt offset = s->offsets_vertices[(size_t)e * (size_t)num_corners + (size_t)k];
      for (CeedInt d = 0; d < s->c.space_dim; d++) to[offset + d] = from[d];
    }
  }
  if (to) CeedVectorRestoreArray(s->vertices, &to);
  CeedVectorRestoreArrayRead(s->x, &x);
  return ierr;
}

// Where geometry is continuous there are not more vertices than nodes, whose offsets are CeedInt.
static int create_vertices(RitzGeometryShared *s, CeedInt num_elem) {
  RitzMesh mesh = s->c.geometry->mesh;
  const int64_t *vertices = NULL;
  int64_t num_vertices = 0;
  CeedInt *number = NULL;

  RITZ_TRY(RitzMeshGetElementVertices(mesh, &vertices));
  RITZ_TRY(RitzMeshGetNumVertices(mesh, &num_vertices));
  s->num_vertices = (CeedSize)num_vertices * s->c.space_dim;
  RITZ_TRY(RITZ_MALLOC(s->c.ceed, (size_t)num_elem << s->c.dim, &s->offsets_vertices));
  RITZ_TRY(RITZ_MALLOC(s->c.ceed, (size_t)num_vertices, &number));
  number_vertices(s, num_elem, vertices, num_vertices, number);
  RITZ_FREE(&number);
  return fill_vertices(s, num_elem);
}

static int fill_shared(RitzGeometryShared *s) {
  const RitzGeometryCase *c = &s->c;
  const CeedInt num_elem = c->geometry->first[RITZ_NUM_KINDS];
  CeedRestrictionType type;

  RITZ_TRY(CeedBasisCreateTensorH1Lagrange(c->ceed, c->dim, c->num_comp, c->degree + 1, c->Q_1d,
                                           c->options.quad_mode, &s->basis_u));
  RITZ_TRY(RitzMeshCreateCoordinates(c->geometry->mesh, c->ceed, &s->rstr_x, &s->x));
  RITZ_TRY(CeedVectorGetLength(s->x, &s->num_x));
  RITZ_TRY(CeedElemRestrictionGetType(s->rstr_x, &type));
  if (type != CEED_RESTRICTION_STANDARD) return CEED_ERROR_SUCCESS;
  RITZ_TRY(copy_offsets(s, num_elem));
  return create_vertices(s, num_elem);
}

int ritz_geometry_shared_create(const RitzGeometryCase *c, RitzGeometryShared *shared) {
  *shared = (RitzGeometryShared){.c = *c};
  return fill_shared(shared);
}

void ritz_geometry_shared_destroy(RitzGeometryShared *shared) {
  CeedBasisDestroy(&shared->basis_u);
  CeedElemRestrictionDestroy(&shared->rstr_x);
  CeedVectorDestroy(&shared->x);
  CeedVectorDestroy(&shared->vertices);
  RITZ_FREE(&shared->offsets_x);
  RITZ_FREE(&shared->offsets_vertices);
}

// ---- Coordinates of a part ----

// Which of an element's entries in the tables of offsets, or in its own nodes, is node n.
static CeedInt local_node(const RitzGeometryCase *c, RitzGeometryNodes nodes, bool is_shared, CeedInt n) {
  if (nodes == RITZ_NODES_ALL) return n;
  const CeedInt corner = nodes == RITZ_NODES_EDGES ? corner_of_edge(n) : n;

  return is_shared ? corner : node_of_corner(c, corner);
}

static int coordinates_by_offsets(const RitzGeometryPart *part, RitzGeometryNodes nodes,
                                  CeedElemRestriction *rstr, CeedVector *x) {
  const RitzGeometryShared *s = part->shared;
  const bool all = nodes == RITZ_NODES_ALL;
  const CeedInt num_nodes = num_nodes_of(&s->c, nodes);
  const size_t stride = (size_t)num_nodes_of(&s->c, all ? RITZ_NODES_ALL : RITZ_NODES_CORNERS);
  const CeedInt *from = all ? s->offsets_x : s->offsets_vertices;
  CeedInt *offsets = NULL;

  RITZ_TRY(RITZ_MALLOC(s->c.ceed, (size_t)part->num_elem * (size_t)num_nodes, &offsets));
  for (CeedInt e = 0; e < part->num_elem; e++) {
    for (CeedInt n = 0; n < num_nodes; n++) {
      offsets[(size_t)e * (size_t)num_nodes + (size_t)n] =
          from[(size_t)part->elements[e] * stride + (size_t)local_node(&s->c, nodes, true, n)];
    }
  }
  int ierr = CeedElemRestrictionCreate(s->c.ceed, part->num_elem, num_nodes, s->c.space_dim, 1,
                                       all ? s->num_x : s->num_vertices, CEED_MEM_HOST, CEED_COPY_VALUES,
                                       offsets, rstr);

  RITZ_FREE(&offsets);
  return ierr ? ierr : CeedVectorReferenceCopy(all ? s->x : s->vertices, x);
}

// Elements have nodes of their own, in a vector of the part's own.
static int coordinates_by_elements(const RitzGeometryPart *part, RitzGeometryNodes nodes,
                                   CeedElemRestriction *rstr, CeedVector *x) {
  const RitzGeometryCase *c = &part->shared->c;
  const CeedInt num_nodes = num_nodes_of(c, nodes), space_dim = c->space_dim;
  const CeedSize all_nodes = num_nodes_of(c, RITZ_NODES_ALL);
  const CeedInt strides[3] = {space_dim, 1, num_nodes * space_dim};
  const double *from = NULL;
  CeedScalar *to = NULL;

  RITZ_TRY(RitzMeshGetElementCoordinates(c->geometry->mesh, &from));
  RITZ_TRY(CeedElemRestrictionCreateStrided(c->ceed, part->num_elem, num_nodes, space_dim,
                                            (CeedSize)part->num_elem * num_nodes * space_dim, strides, rstr));
  RITZ_TRY(CeedElemRestrictionCreateVector(*rstr, x, NULL));
  RITZ_TRY(CeedVectorGetArrayWrite(*x, CEED_MEM_HOST, &to));
  for (CeedSize e = 0; e < part->num_elem; e++) {
    for (CeedInt n = 0; n < num_nodes; n++) {
      const CeedSize node = part->elements[e] * all_nodes + local_node(c, nodes, false, n);
      for (CeedInt d = 0; d < space_dim; d++)
        to[(e * num_nodes + n) * space_dim + d] = (CeedScalar)from[node * space_dim + d];
    }
  }
  return CeedVectorRestoreArray(*x, &to);
}

// *rstr and *x belong to the caller, also after a failure.
int ritz_geometry_coordinates(const RitzGeometryPart *part, RitzGeometryNodes nodes,
                              CeedElemRestriction *rstr, CeedVector *x) {
  return (part->shared->offsets_x ? coordinates_by_offsets : coordinates_by_elements)(part, nodes, rstr, x);
}

// ---- Bases ----

// An affine map: node 0 at the corner (-1,..), node d + 1 at its neighbour along direction d.
static int create_edge_basis(const RitzGeometryShared *s, CeedBasis *basis) {
  static const CeedElemTopology topologies[3] = {CEED_TOPOLOGY_LINE, CEED_TOPOLOGY_QUAD, CEED_TOPOLOGY_HEX};
  const RitzGeometryCase *c = &s->c;
  const CeedInt P = c->dim + 1;
  const size_t Q = (size_t)c->Q, dim = (size_t)c->dim;
  const CeedScalar *points = NULL, *weights_1d = NULL;
  CeedScalar *work = NULL; // owned: interp [Q][P], grad [dim][Q][P], points [dim][Q], weights [Q]

  RITZ_TRY(CeedBasisGetQRef(s->basis_u, &points));
  RITZ_TRY(CeedBasisGetQWeights(s->basis_u, &weights_1d));
  RITZ_TRY(RITZ_CALLOC(c->ceed, Q * (size_t)P * (dim + 1) + Q * (dim + 1), &work));
  CeedScalar *interp = work, *grad = interp + Q * (size_t)P, *q_ref = grad + dim * Q * (size_t)P;
  CeedScalar *weights = q_ref + dim * Q;

  for (size_t q = 0; q < Q; q++) {
    size_t rest = q;

    weights[q] = interp[q * (size_t)P] = 1;
    for (size_t d = 0; d < dim; d++, rest /= (size_t)c->Q_1d) {
      const CeedScalar r = points[rest % (size_t)c->Q_1d];

      weights[q] *= weights_1d[rest % (size_t)c->Q_1d];
      q_ref[d * Q + q] = r;
      interp[q * (size_t)P + d + 1] = (1 + r) / 2;
      interp[q * (size_t)P] -= (1 + r) / 2;
      grad[(d * Q + q) * (size_t)P] = -(CeedScalar)1 / 2;
      grad[(d * Q + q) * (size_t)P + d + 1] = (CeedScalar)1 / 2;
    }
  }
  int ierr = CeedBasisCreateH1(c->ceed, topologies[c->dim - 1], c->space_dim, P, c->Q, interp, grad, q_ref,
                               weights, basis);

  RITZ_FREE(&work);
  return ierr;
}

int ritz_geometry_coordinate_basis(const RitzGeometryShared *s, RitzGeometryNodes nodes, CeedBasis *basis) {
  const RitzGeometryCase *c = &s->c;
  const CeedInt P = nodes == RITZ_NODES_ALL ? c->geometry->order + 1 : 2;

  if (nodes == RITZ_NODES_EDGES) return create_edge_basis(s, basis);
  return CeedBasisCreateTensorH1Lagrange(c->ceed, c->dim, c->space_dim, P, c->Q_1d, c->options.quad_mode,
                                         basis);
}

// ---- Fields ----

int ritz_geometry_add_field(RitzGeometryPart *part, const char *name, CeedInt size, CeedEvalMode mode,
                            CeedElemRestriction rstr, CeedBasis basis, CeedVector vector) {
  RITZ_ASSERT(part->num_fields < RITZ_MAX_PART_FIELDS);
  RitzGeometryField *field = &part->fields[part->num_fields++];

  *field = (RitzGeometryField){.name = name, .size = size, .mode = mode};
  RITZ_TRY(CeedElemRestrictionReferenceCopy(rstr, &field->rstr));
  RITZ_TRY(CeedBasisReferenceCopy(basis, &field->basis));
  return CeedVectorReferenceCopy(vector, &field->vector);
}

static int create_unknown_restriction(const RitzGeometryPart *part, CeedElemRestriction *rstr) {
  const RitzGeometryCase *c = &part->shared->c;
  const CeedInt num_nodes = CeedIntPow(c->degree + 1, c->dim);
  const int64_t *nodes = NULL;
  CeedSize l_size = 0;
  CeedInt *offsets = NULL;

  RITZ_TRY(RitzSpaceGetElementNodes(c->options.space, &nodes));
  RITZ_TRY(RitzSpaceGetSize(c->options.space, &l_size));
  RITZ_TRY(RITZ_MALLOC(c->ceed, (size_t)part->num_elem * (size_t)num_nodes, &offsets));
  for (size_t e = 0; e < (size_t)part->num_elem; e++) {
    const int64_t *from = nodes + (size_t)part->elements[e] * (size_t)num_nodes;
    for (CeedInt n = 0; n < num_nodes; n++)
      offsets[e * (size_t)num_nodes + (size_t)n] = (CeedInt)(from[n] * c->num_comp);
  }
  int ierr = CeedElemRestrictionCreate(c->ceed, part->num_elem, num_nodes, c->num_comp, 1, l_size,
                                       CEED_MEM_HOST, CEED_COPY_VALUES, offsets, rstr);

  RITZ_FREE(&offsets);
  return ierr;
}

// All fields of the unknown share one restriction.
int ritz_geometry_add_unknown(RitzGeometryPart *part, const char *name, CeedEvalMode mode) {
  const RitzGeometryCase *c = &part->shared->c;
  const CeedInt size = c->num_comp * (mode == CEED_EVAL_GRAD ? c->dim : 1);

  if (!part->rstr_u) RITZ_TRY(create_unknown_restriction(part, &part->rstr_u));
  return ritz_geometry_add_field(part, name, size, mode, part->rstr_u, part->shared->basis_u,
                                 CEED_VECTOR_ACTIVE);
}

int ritz_geometry_add_coordinates(RitzGeometryPart *part, RitzGeometryNodes nodes) {
  const RitzGeometryCase *c = &part->shared->c;
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  CeedVector x = NULL;
  int ierr = ritz_geometry_coordinates(part, nodes, &rstr, &x);

  if (!ierr) ierr = ritz_geometry_coordinate_basis(part->shared, nodes, &basis);
  if (!ierr)
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
  for (int i = 0; i < part->num_fields; i++) {
    CeedElemRestrictionDestroy(&part->fields[i].rstr);
    CeedBasisDestroy(&part->fields[i].basis);
    CeedVectorDestroy(&part->fields[i].vector);
  }
  CeedElemRestrictionDestroy(&part->rstr_u);
  CeedElemRestrictionDestroy(&part->rstr_coefficients);
  CeedVectorDestroy(&part->coefficients);
  part->num_fields = 0;
}

// ---- The operator ----

int ritz_geometry_create_context(Ceed ceed, size_t size, const void *data, CeedQFunctionContext *ctx) {
  RITZ_TRY(CeedQFunctionContextCreate(ceed, ctx));
  return CeedQFunctionContextSetData(*ctx, CEED_MEM_HOST, CEED_COPY_VALUES, size, (void *)data);
}

static int create_qfunction(const RitzGeometryPart *part, int num_out, RitzGeometryFunction function,
                            CeedSize flops, CeedQFunctionContext ctx, CeedQFunction *qf) {
  RITZ_TRY(CeedQFunctionCreateInterior(part->shared->c.ceed, 1, function.f, function.source, qf));
  for (int i = 0; i < part->num_fields; i++) {
    const RitzGeometryField *f = &part->fields[i];
    const bool is_output = i >= part->num_fields - num_out;
    RITZ_TRY((is_output ? CeedQFunctionAddOutput : CeedQFunctionAddInput)(*qf, f->name, f->size, f->mode));
  }
  RITZ_TRY(CeedQFunctionSetUserFlopsEstimate(*qf, flops));
  if (!ctx) return CEED_ERROR_SUCCESS;
  RITZ_TRY(CeedQFunctionSetContext(*qf, ctx));
  return CeedQFunctionSetContextWritable(*qf, false);
}

int ritz_geometry_part_operator(const RitzGeometryPart *part, int num_out, RitzGeometryFunction function,
                                CeedSize flops, CeedQFunctionContext ctx, CeedOperator *op) {
  CeedQFunction qf = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(create_qfunction(part, num_out, function, flops, ctx, &qf));
  RITZ_TRY_CLEANUP(
      CeedOperatorCreate(part->shared->c.ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, op));
  for (int i = 0; i < part->num_fields; i++) {
    const RitzGeometryField *f = &part->fields[i];
    RITZ_TRY_CLEANUP(CeedOperatorSetField(*op, f->name, f->rstr, f->basis, f->vector));
  }
cleanup:
  CeedQFunctionDestroy(&qf);
  return ierr;
}
