// SPDX-License-Identifier: BSD-2-Clause
// Integrals over boundary parts, by quadrature on the host.
//
// On a facet the functions of an element are those of the facet's own Lagrange element, of the same degree,
// and so is its map: nodes of element and facet coincide. So everything follows from the basis of the facet
// and from which nodes of the element lie on it.
#include <math.h>
#include <ritz/basis.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/problem-points.h"

enum { MAX_FACETS = 6, MAX_CORNERS = 8 };

// Corners of each facet in lexicographic order, as in ritz/mesh.h; three of a facet: a triangle.
typedef struct {
  int num_facets;
  int num[MAX_FACETS], corners[MAX_FACETS][4];
} ShapeFacets;

static const ShapeFacets *get_facets(CeedElemTopology shape) {
  static const ShapeFacets line = {2, {1, 1}, {{0}, {1}}};
  static const ShapeFacets triangle = {3, {2, 2, 2}, {{0, 2}, {0, 1}, {1, 2}}};
  static const ShapeFacets quad = {4, {2, 2, 2, 2}, {{0, 2}, {1, 3}, {0, 1}, {2, 3}}};
  static const ShapeFacets tet = {4, {3, 3, 3, 3}, {{0, 2, 3}, {0, 1, 3}, {0, 1, 2}, {1, 2, 3}}};
  static const ShapeFacets prism = {
      5, {4, 4, 4, 3, 3}, {{0, 2, 3, 5}, {0, 1, 3, 4}, {1, 2, 4, 5}, {0, 1, 2}, {3, 4, 5}}};
  static const ShapeFacets pyramid = {
      5, {3, 3, 3, 3, 4}, {{0, 2, 4}, {1, 3, 4}, {0, 1, 4}, {2, 3, 4}, {0, 1, 2, 3}}};
  static const ShapeFacets hex = {
      6,
      {4, 4, 4, 4, 4, 4},
      {{0, 2, 4, 6}, {1, 3, 5, 7}, {0, 1, 4, 5}, {2, 3, 6, 7}, {0, 1, 2, 3}, {4, 5, 6, 7}}};

  switch (shape) {
  case CEED_TOPOLOGY_LINE: return &line;
  case CEED_TOPOLOGY_TRIANGLE: return &triangle;
  case CEED_TOPOLOGY_QUAD: return &quad;
  case CEED_TOPOLOGY_TET: return &tet;
  case CEED_TOPOLOGY_PRISM: return &prism;
  case CEED_TOPOLOGY_PYRAMID: return &pyramid;
  default: return &hex;
  }
}

// ---- Nodes of a facet ----

// A Lagrange element on one facet of one shape.
typedef struct {
  CeedInt num;                     // its nodes
  CeedInt *nodes;                  // owned: their numbers in the element
  CeedBasis basis;                 // owned; NULL for points, the facets of lines
  const CeedScalar *interp, *grad; // of the basis: [Q][num], [dim - 1][Q][num]
} Trace;

static void destroy_trace(Trace *trace) {
  free(trace->nodes);
  CeedBasisDestroy(&trace->basis);
}

// Position in the element of a point of the facet: (multi)linear between the corners.
static void place(const double *corners, CeedInt dim, const ShapeFacets *facets, int facet, const double *r,
                  double x[3]) {
  const int num = facets->num[facet];
  double weights[4] = {1};

  if (num == 2) {
    weights[0] = (1 - r[0]) / 2;
    weights[1] = (1 + r[0]) / 2;
  } else if (num == 3) {
    weights[0] = -(r[0] + r[1]) / 2;
    weights[1] = (1 + r[0]) / 2;
    weights[2] = (1 + r[1]) / 2;
  } else if (num == 4) {
    for (int i = 0; i < 4; i++)
      weights[i] = (i % 2 ? 1 + r[0] : 1 - r[0]) * (i / 2 ? 1 + r[1] : 1 - r[1]) / 4;
  }
  for (CeedInt d = 0; d < dim; d++) {
    x[d] = 0;
    for (int i = 0; i < num; i++) x[d] += weights[i] * corners[facets->corners[facet][i] * dim + d];
  }
}

static CeedInt find_nearest(CeedInt num, CeedInt dim, const double *nodes, const double x[3]) {
  CeedInt nearest = 0;
  double least = INFINITY;

  for (CeedInt i = 0; i < num; i++) {
    double distance = 0;

    for (CeedInt d = 0; d < dim; d++) distance += (nodes[i * dim + d] - x[d]) * (nodes[i * dim + d] - x[d]);
    if (distance < least) {
      least = distance;
      nearest = i;
    }
  }
  return nearest;
}

static CeedElemTopology facet_shape(int num_corners) {
  return num_corners == 2   ? CEED_TOPOLOGY_LINE
         : num_corners == 3 ? CEED_TOPOLOGY_TRIANGLE
                            : CEED_TOPOLOGY_QUAD;
}

// The nodes of the element that are those of the facet.
static int find_nodes(Ceed ceed, CeedElemTopology shape, CeedInt dim, int facet, CeedInt degree,
                      Trace *trace) {
  const ShapeFacets *facets = get_facets(shape);
  const CeedElemTopology of_facet = facet_shape(facets->num[facet]);
  double corners[3 * MAX_CORNERS], x[3] = {0}, *nodes = NULL, *positions = NULL;
  CeedInt num_nodes = 0;
  int ierr;

  trace->num = 1;
  CLI_TRY(RitzLagrangeNodes(ceed, shape, 1, NULL, corners));
  CLI_TRY(RitzLagrangeNodes(ceed, shape, degree, &num_nodes, NULL));
  if (dim > 1) CLI_TRY(RitzLagrangeNodes(ceed, of_facet, degree, &trace->num, NULL));
  CLI_TRY_CLEANUP(cli_allocate(ceed, (size_t)num_nodes * 3, sizeof(double), &nodes));
  CLI_TRY_CLEANUP(cli_allocate(ceed, (size_t)trace->num * 2, sizeof(double), &positions));
  CLI_TRY_CLEANUP(cli_allocate(ceed, (size_t)trace->num, sizeof(CeedInt), &trace->nodes));
  CLI_TRY_CLEANUP(RitzLagrangeNodes(ceed, shape, degree, NULL, nodes));
  if (dim > 1) CLI_TRY_CLEANUP(RitzLagrangeNodes(ceed, of_facet, degree, NULL, positions));
  for (CeedInt i = 0; i < trace->num; i++) {
    place(corners, dim, facets, facet, positions + i * (dim - 1), x);
    trace->nodes[i] = find_nearest(num_nodes, dim, nodes, x);
  }
cleanup:
  free(nodes);
  free(positions);
  return ierr;
}

static int create_trace(Ceed ceed, CeedElemTopology shape, CeedInt dim, int facet, CeedInt degree,
                        CeedInt quad_degree, Trace *trace) {
  static const CeedScalar one = 1;

  *trace = (Trace){.interp = &one};
  CLI_TRY(find_nodes(ceed, shape, dim, facet, degree, trace));
  if (dim == 1) return CEED_ERROR_SUCCESS;
  CLI_TRY(RitzBasisCreateLagrange(ceed, facet_shape(get_facets(shape)->num[facet]), 1, degree, quad_degree,
                                  &trace->basis));
  CLI_TRY(CeedBasisGetInterp(trace->basis, &trace->interp));
  return CeedBasisGetGrad(trace->basis, &trace->grad);
}

// ---- One kind of facets: this facet of elements of this shape ----

typedef struct {
  const Problem *problem;
  const char *name; // begins messages
  ProblemFunction f;
  const void *ctx;
  CeedInt Q;
  CeedScalar *weights; // owned: [Q]
  Trace u, x;
  // of the block
  int64_t first;
  CeedInt num_nodes, num_x; // of an element: of the space and of its map
  const int64_t *nodes;
  const double *coordinates;
} Facets;

static int get_weights(Facets *k) {
  CeedVector weights = NULL;
  const CeedScalar *array = NULL;
  int ierr;

  k->Q = 1;
  if (k->u.basis) CLI_TRY(CeedBasisGetNumQuadraturePoints(k->u.basis, &k->Q));
  CLI_TRY(cli_allocate(k->problem->ceed, (size_t)k->Q, sizeof(CeedScalar), &k->weights));
  k->weights[0] = 1;
  if (!k->u.basis) return CEED_ERROR_SUCCESS;
  CLI_TRY_CLEANUP(CeedVectorCreate(k->problem->ceed, k->Q, &weights));
  CLI_TRY_CLEANUP(
      CeedBasisApply(k->u.basis, 1, CEED_NOTRANSPOSE, CEED_EVAL_WEIGHT, CEED_VECTOR_NONE, weights));
  CLI_TRY_CLEANUP(CeedVectorGetArrayRead(weights, CEED_MEM_HOST, &array));
  for (CeedInt q = 0; q < k->Q; q++) k->weights[q] = array[q];
  CLI_TRY_CLEANUP(CeedVectorRestoreArrayRead(weights, &array));
cleanup:
  CeedVectorDestroy(&weights);
  return ierr;
}

static int create_facets(CeedInt block, int facet, Facets *k) {
  const Problem *p = k->problem;
  CeedElemTopology shape = CEED_TOPOLOGY_LINE;
  CeedInt order = 0;

  CLI_TRY(RitzMeshGetGeometryOrder(p->mesh, &order));
  CLI_TRY(RitzMeshGetBlock(p->mesh, block, &shape, &k->first, NULL, NULL, &k->coordinates));
  CLI_TRY(RitzSpaceGetBlockNodes(p->space, block, &k->num_nodes, &k->nodes));
  CLI_TRY(RitzLagrangeNodes(p->ceed, shape, order, &k->num_x, NULL));
  const CeedInt quad_degree = 2 * p->options.order + 2 * (order - 1);
  CLI_TRY(create_trace(p->ceed, shape, p->dim, facet, p->options.order, quad_degree, &k->u));
  CLI_TRY(create_trace(p->ceed, shape, p->dim, facet, order, quad_degree, &k->x));
  return get_weights(k);
}

static void destroy_facets(Facets *k) {
  destroy_trace(&k->u);
  destroy_trace(&k->x);
  free(k->weights);
}

// Position of point q and the ratio of areas (lengths) there, from the nodes x of the element's map.
static double map_point(const Facets *k, const double *x, CeedInt q, double position[3]) {
  const Problem *p = k->problem;
  double tangent[2][3] = {{0}}, normal[3];

  for (CeedInt c = 0; c < 3; c++) position[c] = 0;
  for (CeedInt i = 0; i < k->x.num; i++) {
    for (CeedInt c = 0; c < p->space_dim; c++) {
      const double value = x[k->x.nodes[i] * p->space_dim + c];

      position[c] += (double)k->x.interp[q * k->x.num + i] * value;
      for (CeedInt d = 0; d < p->dim - 1; d++)
        tangent[d][c] += (double)k->x.grad[(d * k->Q + q) * k->x.num + i] * value;
    }
  }
  if (p->dim == 1) return 1;
  if (p->dim == 2) return sqrt(pow(tangent[0][0], 2) + pow(tangent[0][1], 2) + pow(tangent[0][2], 2));
  for (int c = 0; c < 3; c++)
    normal[c] =
        tangent[0][(c + 1) % 3] * tangent[1][(c + 2) % 3] - tangent[0][(c + 2) % 3] * tangent[1][(c + 1) % 3];
  return sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
}

static int add_facet(const Facets *k, int64_t element, int32_t region, CeedScalar *rhs) {
  const Problem *p = k->problem;
  const int64_t e = element - k->first, *nodes = k->nodes + e * k->num_nodes;
  ProblemPoint point = {.x = {0, 0, 0, p->time}, .region = region};

  for (CeedInt q = 0; q < k->Q; q++) {
    const double area = map_point(k, k->coordinates + e * k->num_x * p->space_dim, q, point.x);

    for (CeedInt c = 0; c < p->num_comp; c++) {
      CeedScalar value = 0;

      CLI_TRY(problem_evaluate(p, k->name, k->f, k->ctx, &point, c, &value));
      const double part = area * (double)k->weights[q] * (double)value;
      for (CeedInt i = 0; i < k->u.num; i++)
        rhs[nodes[k->u.nodes[i]] * p->num_comp + c] +=
            (CeedScalar)(part * (double)k->u.interp[q * k->u.num + i]);
    }
  }
  return CEED_ERROR_SUCCESS;
}

// ---- A part ----

typedef struct {
  int64_t num, *elements;
  int8_t *facets;
} PartFacets;

static int add_kind(const Problem *p, const Facets *kind, CeedInt block, int facet, const PartFacets *part,
                    CeedScalar *rhs) {
  const int32_t *regions = NULL;
  int64_t first = 0, num = 0;
  Facets k = *kind;
  int ierr = CEED_ERROR_SUCCESS;

  CLI_TRY(RitzMeshGetElementRegions(p->mesh, &regions));
  CLI_TRY(RitzMeshGetBlock(p->mesh, block, NULL, &first, &num, NULL, NULL));
  for (int64_t i = 0; i < part->num; i++) {
    const int64_t element = part->elements[i];

    if (part->facets[i] != facet || element < first || element >= first + num) continue;
    if (!k.weights) CLI_TRY_CLEANUP(create_facets(block, facet, &k));
    CLI_TRY_CLEANUP(add_facet(&k, element, regions[element], rhs));
  }
cleanup:
  destroy_facets(&k);
  return ierr;
}

int problem_add_boundary(const Problem *p, const char *name, const char *part_name, ProblemFunction f,
                         const void *ctx, CeedVector rhs) {
  const Facets kind = {.problem = p, .name = name, .f = f, .ctx = ctx};
  PartFacets part = {0};
  CeedScalar *array = NULL;
  int ierr, restore;

  CLI_TRY(RitzMeshGetBoundaryPart(p->mesh, part_name, &part.num, &part.elements, &part.facets));
  CLI_TRY_CLEANUP(CeedVectorGetArray(rhs, CEED_MEM_HOST, &array));
  for (CeedInt b = 0; b < p->num_blocks; b++) {
    for (int facet = 0; facet < MAX_FACETS && !ierr; facet++)
      ierr = add_kind(p, &kind, b, facet, &part, array);
  }
  restore = CeedVectorRestoreArray(rhs, &array);
  ierr = ierr ? ierr : restore;
cleanup:
  free(part.elements);
  free(part.facets);
  return ierr;
}
