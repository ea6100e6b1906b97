// SPDX-License-Identifier: BSD-2-Clause
// Meshes of all shapes, their elements turned at random, and operators on their facets. Included by
// test-interior-facets.c and test-interior-penalty.c.
#ifndef RITZ_TESTS_INTERIOR_KIT_H
#define RITZ_TESTS_INTERIOR_KIT_H

#include <ritz/facet.h>

#include "tests/shapes-kit.h"

#define BY_DIM(name, table, num_comp)                                                                        \
  { table(name##_1, 1, num_comp), table(name##_2, 2, num_comp), table(name##_3, 3, num_comp) }
#define OF_VALUES(name, num_comp)    BY_DIM(name, RITZ_INTERIOR_FACET_FUNCTION_TABLE, num_comp)
#define OF_GRADIENTS(name, num_comp) BY_DIM(name, RITZ_INTERIOR_FACET_GRADIENT_FUNCTION_TABLE, num_comp)

// ---- Cases ----

// Two elements that have their common facet at places no turn brings together: pyramids, one with its apex
// where the other one has a corner of its base, and prisms with axes at right angles.
enum { PYRAMIDS_LEFT = -4, PYRAMIDS_RIGHT = -5, PRISMS_ACROSS = -6 };

typedef struct {
  int shape; // topology, a mixture, or one of the above
  CeedInt order, degree;
  int num_regions; // 1: affine, 2: and multilinear, 3: and curved (geometry-kit.h)
} Case;

static const Case cases[] = {
    {CEED_TOPOLOGY_LINE, 2, 3, 3}, {CEED_TOPOLOGY_TRIANGLE, 1, 2, 1}, {CEED_TOPOLOGY_TRIANGLE, 2, 3, 3},
    {CEED_TOPOLOGY_QUAD, 1, 3, 2}, {CEED_TOPOLOGY_QUAD, 3, 2, 3},     {CEED_TOPOLOGY_TET, 1, 2, 1},
    {CEED_TOPOLOGY_TET, 2, 3, 3},  {CEED_TOPOLOGY_PRISM, 2, 2, 3},    {CEED_TOPOLOGY_HEX, 1, 2, 2},
    {CEED_TOPOLOGY_HEX, 2, 3, 3},  {CEED_TOPOLOGY_PYRAMID, 1, 2, 1},  {MIXED_PLANE, 2, 2, 3},
    {MIXED_SOLID, 1, 2, 1},        {PYRAMIDS_LEFT, 1, 3, 1},          {PYRAMIDS_RIGHT, 2, 2, 1},
    {PRISMS_ACROSS, 2, 3, 3},
};
enum { NUM_CASES = sizeof(cases) / sizeof(cases[0]), NUM_POINTS = 7, PLANE_CASE = 11, SOLID_CASE = 12 };

static inline const char *describe(const Case *c) {
  static char text[100];

  snprintf(text, sizeof(text), "shape %d, order %d, degree %d, regions %d", c->shape, (int)c->order,
           (int)c->degree, c->num_regions);
  return text;
}

static inline RitzMeshDraft draft_of_pair(CeedElemTopology topology, int num_vertices,
                                          const int64_t *vertices, const double (*X)[3]) {
  RitzMeshDraft draft = {.dim = 3,
                         .space_dim = 3,
                         .order = 1,
                         .num_vertices = num_vertices,
                         .num_blocks = 1,
                         .blocks = {{.topology = topology, .num_elem = 2}}};

  fill_out(&draft);
  memcpy(draft.elem_vertices, vertices, (size_t)draft.num_places * 8);
  place_nodes(&draft, X, identity_map);
  return draft;
}

static inline RitzMeshDraft draft_of_stiff(int shape) {
  static const double pyramid_x[7][3] = {{0, 0, 0},         {0.5, 0, 0},      {0, 0.5, 0},     {0.5, 0.5, 0},
                                         {0.25, 0.25, 0.5}, {0.9, 0.55, 0.3}, {0.65, 0.3, 0.8}};
  static const double mirrored_x[7][3] = {{0, 0, 0},       {0.5, 0, 0},       {0, 0.5, 0},
                                          {0.5, 0.5, 0},   {0.25, 0.25, 0.5}, {0.9, -0.05, 0.3},
                                          {0.65, 0.2, 0.8}};
  static const double prism_x[8][3] = {{0, 0.5, 0}, {1, 0.5, 0}, {0, 1, 0}, {0, 0.5, 1},
                                       {1, 0.5, 1}, {0, 1, 1},   {0, 0, 0}, {1, 0, 0}};
  static const int64_t pyramids[10] = {0, 1, 2, 3, 4, 4, 3, 6, 5, 1},
                       mirrored[10] = {0, 1, 2, 3, 4, 4, 6, 1, 5, 3};
  static const int64_t prisms[12] = {0, 1, 2, 3, 4, 5, 0, 3, 6, 1, 4, 7};

  if (shape == PRISMS_ACROSS)
    return draft_of_pair(CEED_TOPOLOGY_PRISM, 8, prisms, (const double(*)[3])prism_x);
  return draft_of_pair(CEED_TOPOLOGY_PYRAMID, 7, shape == PYRAMIDS_LEFT ? pyramids : mirrored,
                       (const double(*)[3])(shape == PYRAMIDS_LEFT ? pyramid_x : mirrored_x));
}

// A straight draft of order 1, of which only the corners are kept, with nodes of an order.
static inline RitzMeshDraft raise_order(RitzMeshDraft *draft, CeedInt order) {
  double(*X)[3] = calloc((size_t)draft->num_vertices, sizeof(*X));
  RitzMeshDraft raised = {.dim = draft->dim,
                          .space_dim = draft->space_dim,
                          .order = order,
                          .num_vertices = draft->num_vertices,
                          .num_blocks = draft->num_blocks};

  for (int64_t i = 0; i < draft->num_places; i++)
    memcpy(X[draft->elem_vertices[i]], draft->coords + i * draft->space_dim, (size_t)draft->space_dim * 8);
  memcpy(raised.blocks, draft->blocks, sizeof(raised.blocks));
  fill_out(&raised);
  memcpy(raised.elem_vertices, draft->elem_vertices, (size_t)draft->num_places * 8);
  place_nodes(&raised, (const double(*)[3])X, identity_map);
  ritz_mesh_draft_clear(draft);
  free(X);
  return raised;
}

typedef struct {
  Ceed ceed; // borrowed
  RitzMesh mesh;
  RitzGeometry geometry;
  RitzSpace space, continuous; // the first one is discontinuous
  CeedInt dim, num_points;     // of quadrature, a direction; 0: the default
  CeedSize size;
} Problem;

// Elements turned and vertices numbered at random.
static inline int create_mesh(Ceed ceed, const Case *c, uint64_t seed, RitzMesh *mesh) {
  const CeedInt dim = c->shape <= PYRAMIDS_LEFT ? 3 : dim_of(c->shape);
  MixedMap map = mixed_map(dim, c->num_regions, &seed);
  RitzMeshDraft draft, raised;

  if (c->shape <= PYRAMIDS_LEFT)
    draft = draft_of_stiff(c->shape);
  else
    RITZ_TRY(flat_draft(ceed, c->shape, 1, &draft));
  turn_at_random(&draft, &seed);
  raised = raise_order(&draft, c->order);
  return build_mapped(ceed, &raised, &map, mesh);
}

static inline int create_problem(Ceed ceed, const Case *c, uint64_t seed, CeedInt num_comp, Problem *p) {
  *p = (Problem){.ceed = ceed, .num_points = NUM_POINTS};
  RITZ_TRY(create_mesh(ceed, c, seed, &p->mesh));
  RITZ_TRY(RitzMeshGetDimensions(p->mesh, &p->dim, NULL));
  RITZ_TRY(RitzGeometryCreate(p->mesh, -1, &p->geometry));
  RITZ_TRY(RitzSpaceCreate(p->mesh, c->degree, num_comp, &p->continuous));
  RITZ_TRY(RitzSpaceCreateDiscontinuous(p->mesh, c->degree, num_comp, &p->space));
  return RitzSpaceGetSize(p->space, &p->size);
}

static inline void destroy_problem(Problem *p) {
  RitzSpaceDestroy(&p->space);
  RitzSpaceDestroy(&p->continuous);
  RitzGeometryDestroy(&p->geometry);
  RitzMeshDestroy(&p->mesh);
}

static inline int create_interior(const Problem *p, const RitzInteriorFacetFunction *by_dim,
                                  CeedQFunctionContext context, CeedOperator *op) {
  const RitzInteriorFacetOptions options = {.space = p->space, .num_points = p->num_points};

  return RitzGeometryCreateInteriorFacetOperator(p->geometry, p->ceed, &options, &by_dim[p->dim - 1], context,
                                                 op);
}

static inline int create_boundary(const Problem *p, const RitzFacetFunction *by_dim,
                                  CeedQFunctionContext context, CeedOperator *op) {
  const RitzBoundaryOptions options = {.space = p->space, .num_points = p->num_points};

  return RitzGeometryCreateBoundaryOperator(p->geometry, p->ceed, &options, &by_dim[p->dim - 1], context, op);
}

// A new array, the operator applied to u, and the operator's end; NaN after a failure.
static inline double *apply_once(int ierr, CeedOperator *op, CeedSize n, const double *u) {
  double *result = reference_new(n);

  for (CeedSize i = 0; i < n; i++) result[i] = NAN;
  if (!ierr) {
    free(result);
    result = apply_operator(*op, n, u);
  }
  CeedOperatorDestroy(op);
  return result;
}

static inline double *apply_interior(const Problem *p, const RitzInteriorFacetFunction *by_dim,
                                     const double *u) {
  CeedOperator op = NULL;
  const int ierr = create_interior(p, by_dim, NULL, &op);

  return apply_once(ierr, &op, p->size, u);
}

static inline double sum_of(CeedSize n, const double *a) {
  double sum = 0;

  for (CeedSize i = 0; i < n; i++) sum += a[i];
  return sum;
}

// Of some cases: those that call functions of the program take all, those that compile kernels every fifth.
static inline int step_of(Ceed ceed) {
  const char *resource = "";

  CeedGetResource(ceed, &resource);
  return !strncmp(resource, "/cpu/self/ref", 13) || !strncmp(resource, "/cpu/self/check", 15) ? 1 : 5;
}

// Sums of the entries of each element, whose nodes are consecutive: a new array [num_elem].
static inline double *sums_of_elements(RitzMesh mesh, CeedInt degree, const double *v) {
  double *sums = reference_new(mesh->num_elem), *sum = sums;

  for (int b = 0; b < mesh->num_blocks; b++) {
    const int64_t num = ritz_mesh_num_nodes(mesh->blocks[b].topology, degree);

    for (int64_t e = 0; e < mesh->blocks[b].num_elem; e++, v += num) *sum++ = sum_of(num, v);
  }
  return sums;
}

#endif
