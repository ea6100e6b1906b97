// SPDX-License-Identifier: BSD-2-Clause
// Problems of two fields in the plane, on any mesh: operators on the product of a space of two components and
// one of one component, or between the two spaces by themselves. Included by tests of products and of block
// preconditioners.
#ifndef RITZ_TESTS_MIXED_KIT_H
#define RITZ_TESTS_MIXED_KIT_H

#include <ritz.h>

#include "examples/stokes/stokes.h"
#include "tests/mixed-qfunctions.h"
#include "tests/reference.h"
#include "tests/transfer-kit.h"

typedef struct {
  Ceed ceed; // borrowed, as the mesh
  RitzMesh mesh;
  RitzSpace space[2];
  RitzProductSpace product;
  RitzIndices fixed, constraints; // the first field on all of the boundary; the same in the product
} MixedKit;

// Where a field of an operator comes from.
typedef enum { MIXED_U, MIXED_P, MIXED_X, MIXED_WEIGHTS, MIXED_NUM } MixedSource;

typedef struct {
  const char *name;
  CeedInt size;
  CeedEvalMode mode;
  MixedSource of;
  bool is_output;
} MixedField;

typedef struct {
  CeedQFunctionUser function;
  const char *loc;
  bool is_product; // else of the spaces by themselves
  int num;
  MixedField fields[10];
} MixedForm;

static const MixedForm mixed_stokes = {stokes,
                                       stokes_loc,
                                       true,
                                       6,
                                       {{"du", 4, CEED_EVAL_GRAD, MIXED_U, false},
                                        {"p", 1, CEED_EVAL_INTERP, MIXED_P, false},
                                        {"dx", 4, CEED_EVAL_GRAD, MIXED_X, false},
                                        {"weights", 1, CEED_EVAL_WEIGHT, MIXED_WEIGHTS, false},
                                        {"dv", 4, CEED_EVAL_GRAD, MIXED_U, true},
                                        {"q", 1, CEED_EVAL_INTERP, MIXED_P, true}}};
static const MixedForm mixed_b = {mixed_divergence,
                                  mixed_divergence_loc,
                                  false,
                                  4,
                                  {{"du", 4, CEED_EVAL_GRAD, MIXED_U, false},
                                   {"dx", 4, CEED_EVAL_GRAD, MIXED_X, false},
                                   {"weights", 1, CEED_EVAL_WEIGHT, MIXED_WEIGHTS, false},
                                   {"q", 1, CEED_EVAL_INTERP, MIXED_P, true}}};
static const MixedForm mixed_b_transposed = {mixed_gradient,
                                             mixed_gradient_loc,
                                             false,
                                             4,
                                             {{"p", 1, CEED_EVAL_INTERP, MIXED_P, false},
                                              {"dx", 4, CEED_EVAL_GRAD, MIXED_X, false},
                                              {"weights", 1, CEED_EVAL_WEIGHT, MIXED_WEIGHTS, false},
                                              {"dv", 4, CEED_EVAL_GRAD, MIXED_U, true}}};
static const MixedForm mixed_definite = {mixed_reactions,
                                         mixed_reactions_loc,
                                         true,
                                         10,
                                         {{"u", 2, CEED_EVAL_INTERP, MIXED_U, false},
                                          {"du", 4, CEED_EVAL_GRAD, MIXED_U, false},
                                          {"p", 1, CEED_EVAL_INTERP, MIXED_P, false},
                                          {"dp", 2, CEED_EVAL_GRAD, MIXED_P, false},
                                          {"dx", 4, CEED_EVAL_GRAD, MIXED_X, false},
                                          {"weights", 1, CEED_EVAL_WEIGHT, MIXED_WEIGHTS, false},
                                          {"v", 2, CEED_EVAL_INTERP, MIXED_U, true},
                                          {"dv", 4, CEED_EVAL_GRAD, MIXED_U, true},
                                          {"q", 1, CEED_EVAL_INTERP, MIXED_P, true},
                                          {"dq", 2, CEED_EVAL_GRAD, MIXED_P, true}}};
static const MixedForm mixed_nonlinear = {mixed_products,
                                          mixed_products_loc,
                                          true,
                                          8,
                                          {{"u", 2, CEED_EVAL_INTERP, MIXED_U, false},
                                           {"du", 4, CEED_EVAL_GRAD, MIXED_U, false},
                                           {"p", 1, CEED_EVAL_INTERP, MIXED_P, false},
                                           {"dx", 4, CEED_EVAL_GRAD, MIXED_X, false},
                                           {"weights", 1, CEED_EVAL_WEIGHT, MIXED_WEIGHTS, false},
                                           {"v", 2, CEED_EVAL_INTERP, MIXED_U, true},
                                           {"dv", 4, CEED_EVAL_GRAD, MIXED_U, true},
                                           {"q", 1, CEED_EVAL_INTERP, MIXED_P, true}}};

// Degrees of the two spaces.
static inline int mixed_create(Ceed ceed, RitzMesh mesh, CeedInt degree_u, CeedInt degree_p, MixedKit *k) {
  static const RitzFixedPart all = {.part = "all"};

  *k = (MixedKit){.ceed = ceed, .mesh = mesh};
  RITZ_TRY(RitzSpaceCreate(mesh, degree_u, 2, &k->space[0]));
  RITZ_TRY(RitzSpaceCreate(mesh, degree_p, 1, &k->space[1]));
  RITZ_TRY(RitzProductSpaceCreate(2, k->space, &k->product));
  RITZ_TRY(RitzSpaceCreateConstraints(k->space[0], ceed, 1, &all, &k->fixed));
  return RitzProductSpaceCreateConstraints(k->product, ceed, (RitzIndices[]){k->fixed, NULL},
                                           &k->constraints);
}

static inline void mixed_destroy(MixedKit *k) {
  for (int i = 0; i < 2; i++) RitzSpaceDestroy(&k->space[i]);
  RitzProductSpaceDestroy(&k->product);
  RitzIndicesDestroy(&k->fixed);
  RitzIndicesDestroy(&k->constraints);
}

// ---- Operators ----

typedef struct {
  CeedElemRestriction rstr[MIXED_NUM];
  CeedBasis basis[MIXED_NUM];
} MixedBlock;

static inline int mixed_open_block(const MixedKit *k, bool is_product, CeedInt block, CeedInt quad_degree,
                                   MixedBlock *b) {
  for (CeedInt i = 0; i < 2; i++) {
    RITZ_TRY(is_product ? RitzProductSpaceCreateBlockRestriction(k->product, i, block, k->ceed, &b->rstr[i])
                        : RitzSpaceCreateBlockRestriction(k->space[i], block, k->ceed, &b->rstr[i]));
    RITZ_TRY(RitzSpaceCreateBlockBasis(k->space[i], block, k->ceed, quad_degree, &b->basis[i]));
  }
  b->rstr[MIXED_WEIGHTS] = CEED_ELEMRESTRICTION_NONE;
  RITZ_TRY(RitzMeshCreateBlockBasis(k->mesh, block, k->ceed, quad_degree, &b->basis[MIXED_X]));
  return CeedBasisReferenceCopy(b->basis[MIXED_X], &b->basis[MIXED_WEIGHTS]);
}

static inline int mixed_fill_part(const MixedKit *k, const MixedForm *form, const MixedBlock *b, CeedVector x,
                                  CeedQFunction qf, CeedOperator *part) {
  const CeedVector vectors[MIXED_NUM] = {CEED_VECTOR_ACTIVE, CEED_VECTOR_ACTIVE, x, CEED_VECTOR_NONE};

  for (int i = 0; i < form->num; i++) {
    const MixedField *f = &form->fields[i];
    RITZ_TRY((f->is_output ? CeedQFunctionAddOutput : CeedQFunctionAddInput)(qf, f->name, f->size, f->mode));
  }
  RITZ_TRY(CeedOperatorCreate(k->ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, part));
  for (int i = 0; i < form->num; i++) {
    const MixedField *f = &form->fields[i];
    RITZ_TRY(CeedOperatorSetField(*part, f->name, b->rstr[f->of], b->basis[f->of], vectors[f->of]));
  }
  return CEED_ERROR_SUCCESS;
}

static inline int mixed_add_part(const MixedKit *k, const MixedForm *form, CeedInt block, CeedInt quad_degree,
                                 CeedElemRestriction rstr_x, CeedVector x, CeedOperator op) {
  MixedBlock b = {{NULL}, {NULL}};
  CeedQFunction qf = NULL;
  CeedOperator part = NULL;
  int ierr = mixed_open_block(k, form->is_product, block, quad_degree, &b);

  b.rstr[MIXED_X] = rstr_x;
  if (!ierr) ierr = CeedQFunctionCreateInterior(k->ceed, 1, form->function, form->loc, &qf);
  if (!ierr) ierr = mixed_fill_part(k, form, &b, x, qf, &part);
  if (!ierr) ierr = CeedOperatorCompositeAddSub(op, part);
  b.rstr[MIXED_X] = NULL;
  for (int i = 0; i < MIXED_NUM; i++) {
    CeedElemRestrictionDestroy(&b.rstr[i]);
    CeedBasisDestroy(&b.basis[i]);
  }
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&part);
  return ierr;
}

// A composite of the form on all blocks of the mesh.
static inline int mixed_operator(const MixedKit *k, const MixedForm *form, CeedOperator *op) {
  CeedElemRestriction rstr_x[RITZ_MESH_MAX_BLOCKS] = {NULL};
  CeedVector x = NULL;
  CeedInt num_blocks = 0, degree = 0;
  int ierr;

  RITZ_TRY(RitzMeshGetNumBlocks(k->mesh, &num_blocks));
  RITZ_TRY(RitzSpaceGetDegree(k->space[0], &degree));
  RITZ_TRY(CeedOperatorCreateComposite(k->ceed, op));
  ierr = RitzMeshCreateBlockCoordinates(k->mesh, k->ceed, rstr_x, &x);
  for (CeedInt b = 0; b < num_blocks && !ierr; b++)
    ierr = mixed_add_part(k, form, b, 2 * degree + 1, rstr_x[b], x, *op);
  for (CeedInt b = 0; b < num_blocks; b++) CeedElemRestrictionDestroy(&rstr_x[b]);
  CeedVectorDestroy(&x);
  return ierr;
}

// Mass or diffusion on one of the spaces.
static inline int mixed_standard(const MixedKit *k, RitzOperatorKind kind, int i, CeedOperator *op) {
  CeedInt degree = 0;
  RitzGeometry geometry = NULL;

  RITZ_TRY(RitzSpaceGetDegree(k->space[0], &degree));
  const RitzOperatorOptions options = {.kind = kind, .space = k->space[i], .num_points = degree + 1};
  RITZ_TRY(RitzGeometryCreate(k->mesh, -1, &geometry));
  const int ierr = RitzGeometryCreateOperator(geometry, k->ceed, &options, op);
  RitzGeometryDestroy(&geometry);
  return ierr;
}

// ---- Vectors ----

static inline CeedSize mixed_size(const MixedKit *k, int i) { // -1: of the product
  CeedSize n = 0;
  const int ierr = i < 0 ? RitzProductSpaceGetSize(k->product, &n) : RitzSpaceGetSize(k->space[i], &n);

  return ierr ? 0 : n;
}

// A random vector of a space or of the product.
static inline int mixed_random(const MixedKit *k, int i, uint64_t *seed, CeedVector *vec) {
  const CeedSize n = mixed_size(k, i);
  double *values = reference_new_random(n, seed);
  const int ierr = kit_fill(k->ceed, n, values, vec);

  free(values);
  return ierr;
}

// |x - y| / |y| in the largest entries.
static inline double mixed_difference(CeedVector x, CeedVector y) {
  CeedSize n = 0;

  CeedVectorGetLength(y, &n);
  double *values = reference_new_values(y);
  const double difference = kit_distance(x, values) / reference_largest(n, values);

  free(values);
  return difference;
}

#endif
