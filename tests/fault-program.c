// SPDX-License-Identifier: BSD-2-Clause
// A program that uses the whole library, step by step: see fault-program.h. Linked into every test program.
#include "tests/fault-program.h"

#include "tests/fault-qfunctions.h"
#include "tests/mesh-gmsh.h"
#include "tests/mesh-mfem.h"
#include "tests/tap.h"
#include <ceed/backend.h>
#include <ceed/jit-tools-deprecated.h>
#include <ceed/jit-tools.h>
#include <math.h>
#include <ritz.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- The program's objects: all are destroyed at its end ----

enum { MAX_OBJECTS = 128, MAX_ARRAYS = 64 };

typedef struct {
  const FaultInput *input;
  bool retries;
  FaultResult *result;
  FILE *sink; // for views
  Ceed ceed;
  int num_vectors, num_restrictions, num_bases, num_qfunctions, num_contexts, num_operators, num_arrays;
  CeedVector vectors[MAX_OBJECTS];
  CeedElemRestriction restrictions[MAX_OBJECTS];
  CeedBasis bases[MAX_OBJECTS];
  CeedQFunction qfunctions[MAX_OBJECTS];
  CeedQFunctionContext contexts[MAX_OBJECTS];
  CeedOperator operators[MAX_OBJECTS];
  void *arrays[MAX_ARRAYS]; // malloc's
  RitzMesh meshes[MAX_OBJECTS];
  int num_meshes;
  RitzSpace space;
  RitzSolver solver;
  CeedVector work; // on loan
} Program;

// Slots for new objects.
#define NEW(kind)                                                                                            \
  static Ceed##kind *new_##kind(Program *p, int *num, Ceed##kind *list) {                                    \
    if (*num == MAX_OBJECTS) abort();                                                                        \
    (void)p;                                                                                                 \
    return &list[(*num)++];                                                                                  \
  }
NEW(Vector)
NEW(ElemRestriction)
NEW(Basis)
NEW(QFunction)
NEW(QFunctionContext)
NEW(Operator)
#undef NEW
#define VECTOR(p)      new_Vector(p, &(p)->num_vectors, (p)->vectors)
#define RESTRICTION(p) new_ElemRestriction(p, &(p)->num_restrictions, (p)->restrictions)
#define BASIS(p)       new_Basis(p, &(p)->num_bases, (p)->bases)
#define QFUNCTION(p)   new_QFunction(p, &(p)->num_qfunctions, (p)->qfunctions)
#define CONTEXT(p)     new_QFunctionContext(p, &(p)->num_contexts, (p)->contexts)
#define OPERATOR(p)    new_Operator(p, &(p)->num_operators, (p)->operators)

static RitzMesh *new_mesh(Program *p) {
  if (p->num_meshes == MAX_OBJECTS) abort();
  return &p->meshes[p->num_meshes++];
}

static void **new_array(Program *p) {
  if (p->num_arrays == MAX_ARRAYS) abort();
  return &p->arrays[p->num_arrays++];
}

// A call, which is made again after a failure if the program is to go on.
#define STEP(call)                                                                                           \
  do {                                                                                                       \
    p->result->last_call = #call;                                                                            \
    int step_code_ = (call);                                                                                 \
    if (step_code_ && p->retries) {                                                                          \
      p->result->num_retries++;                                                                              \
      p->result->repeated_call = #call;                                                                      \
      step_code_ = (call);                                                                                   \
    }                                                                                                        \
    if (step_code_) return step_code_;                                                                       \
  } while (0)
// A part of the program.
#define PART(call)                                                                                           \
  do {                                                                                                       \
    int part_code_ = (call);                                                                                 \
    if (part_code_) return part_code_;                                                                       \
  } while (0)

static void record(Program *p, double number) {
  if (p->result->num_numbers == FAULT_NUM_NUMBERS) abort();
  p->result->numbers[p->result->num_numbers++] = number;
}

static int record_norm(Program *p, CeedVector v) {
  CeedScalar norm = 0;

  STEP(CeedVectorNorm(v, CEED_NORM_1, &norm));
  record(p, (double)norm);
  return CEED_ERROR_SUCCESS;
}

// ---- QFunctions ----

static int create_context(Program *p, CeedInt dim, CeedQFunctionContext *ctx) {
  FaultContext c = {1.5, dim, true};

  STEP(CeedQFunctionContextCreate(p->ceed, ctx));
  STEP(CeedQFunctionContextSetData(*ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(c), &c));
  STEP(CeedQFunctionContextRegisterDouble(*ctx, "factor", offsetof(FaultContext, factor), 1, "a factor"));
  STEP(CeedQFunctionContextRegisterInt32(*ctx, "number", offsetof(FaultContext, number), 1, NULL));
  STEP(CeedQFunctionContextRegisterBoolean(*ctx, "flag", offsetof(FaultContext, flag), 1, ""));
  STEP(CeedQFunctionContextView(*ctx, p->sink));
  return CEED_ERROR_SUCCESS;
}

static int create_mass_diffusion(Program *p, CeedInt dim, CeedQFunction *qf) {
  CeedQFunctionContext *ctx = CONTEXT(p);

  PART(create_context(p, dim, ctx));
  STEP(CeedQFunctionCreateInterior(p->ceed, 1, FaultMassDiffusion, FaultMassDiffusion_loc, qf));
  STEP(CeedQFunctionAddInput(*qf, "u", 1, CEED_EVAL_INTERP));
  STEP(CeedQFunctionAddInput(*qf, "du", dim, CEED_EVAL_GRAD));
  STEP(CeedQFunctionAddInput(*qf, "qd", 1, CEED_EVAL_NONE));
  STEP(CeedQFunctionAddOutput(*qf, "v", 1, CEED_EVAL_INTERP));
  STEP(CeedQFunctionAddOutput(*qf, "dv", dim, CEED_EVAL_GRAD));
  STEP(CeedQFunctionSetContext(*qf, *ctx));
  STEP(CeedQFunctionSetUserFlopsEstimate(*qf, 4));
  STEP(CeedQFunctionView(*qf, p->sink));
  return CEED_ERROR_SUCCESS;
}

// ---- Vectors and the context ----

static int use_vectors(Program *p) {
  CeedVector *a = VECTOR(p), *b = VECTOR(p), *c = VECTOR(p);
  CeedScalar values[6] = {1, 2, 3, 4, 5, 6}, *array;
  void **owned = new_array(p);

  STEP(CeedVectorCreate(p->ceed, 6, a));
  STEP(CeedVectorCreate(p->ceed, 6, b));
  STEP(CeedVectorCreate(p->ceed, 6, c));
  STEP(CeedVectorSetArray(*a, CEED_MEM_HOST, CEED_COPY_VALUES, values));
  STEP(CeedVectorSetValue(*b, 2));
  STEP(CeedVectorCopy(*a, *c));
  STEP(CeedVectorAXPBY(*b, 2, 3, *a));
  STEP(CeedVectorPointwiseMult(*c, *a, *b));
  STEP(CeedVectorReciprocal(*c));
  STEP(CeedVectorSetValueStrided(*c, 1, -1, 2, 7));
  STEP(CeedVectorCopyStrided(*a, 0, -1, 3, *c));
  STEP(CeedVectorView(*c, "%g", p->sink));
  PART(record_norm(p, *c));
  STEP(CeedVectorGetArray(*c, CEED_MEM_HOST, &array));
  array[0] = 9;
  STEP(CeedVectorRestoreArray(*c, &array));
  STEP(CeedGetWorkVector(p->ceed, 6, &p->work));
  STEP(CeedVectorSetValue(p->work, 1));
  STEP(CeedRestoreWorkVector(p->ceed, &p->work));

  *owned = malloc(sizeof(values));
  memcpy(*owned, values, sizeof(values));
  STEP(CeedVectorSetArray(*b, CEED_MEM_HOST, CEED_OWN_POINTER, *owned));
  *owned = NULL; // the library's now
  return record_norm(p, *b);
}

static int use_ceed(Program *p) {
  size_t num;
  char **names = NULL;
  CeedInt *priorities = NULL;

  STEP(CeedInit(p->input->resource, &p->ceed));
  STEP(CeedIsDeterministic(p->ceed, &p->result->is_deterministic));
  STEP(CeedAddJitSourceRoot(p->ceed, "/a/folder/"));
  STEP(CeedAddJitDefine(p->ceed, "NAME=1"));
  STEP(CeedAddRustSourceRoot(p->ceed, "/another/root"));
  STEP(CeedRegistryGetList(&num, &names, &priorities));
  *new_array(p) = names;
  *new_array(p) = priorities;
  STEP(CeedView(p->ceed, p->sink));
  return use_vectors(p);
}

// ---- Restrictions ----

enum { NUM_ELEM = 3, ELEM_SIZE = 3, L_SIZE = 7 };

static int use_restriction(Program *p, CeedElemRestriction r) {
  CeedVector *l = VECTOR(p), *e = VECTOR(p);

  STEP(CeedElemRestrictionCreateVector(r, l, e));
  STEP(CeedElemRestrictionGetMultiplicity(r, *l));
  STEP(CeedElemRestrictionApply(r, CEED_NOTRANSPOSE, *l, *e, CEED_REQUEST_IMMEDIATE));
  STEP(CeedVectorSetValue(*l, 0));
  STEP(CeedElemRestrictionApply(r, CEED_TRANSPOSE, *e, *l, CEED_REQUEST_IMMEDIATE));
  STEP(CeedElemRestrictionView(r, p->sink));
  return record_norm(p, *l);
}

static int use_owned_restriction(Program *p, const CeedInt *offsets) {
  CeedElemRestriction *r = RESTRICTION(p);
  void **owned = new_array(p);

  *owned = malloc(sizeof(*offsets) * NUM_ELEM * ELEM_SIZE);
  memcpy(*owned, offsets, sizeof(*offsets) * NUM_ELEM * ELEM_SIZE);
  STEP(CeedElemRestrictionCreate(p->ceed, NUM_ELEM, ELEM_SIZE, 1, 1, L_SIZE, CEED_MEM_HOST, CEED_OWN_POINTER,
                                 *owned, r));
  *owned = NULL;
  return use_restriction(p, *r);
}

static int use_blocked_restrictions(Program *p, const CeedInt *offsets, const bool *orients,
                                    const CeedInt8 *curl_orients) {
  const CeedInt strides[3] = {1, ELEM_SIZE, ELEM_SIZE};
  CeedElemRestriction *r[4];

  for (int k = 0; k < 4; k++) r[k] = RESTRICTION(p);
  STEP(CeedElemRestrictionCreateBlocked(p->ceed, NUM_ELEM, ELEM_SIZE, 2, 1, 1, L_SIZE, CEED_MEM_HOST,
                                        CEED_COPY_VALUES, offsets, r[0]));
  STEP(CeedElemRestrictionCreateBlockedOriented(p->ceed, NUM_ELEM, ELEM_SIZE, 2, 1, 1, L_SIZE, CEED_MEM_HOST,
                                                CEED_COPY_VALUES, offsets, orients, r[1]));
  STEP(CeedElemRestrictionCreateBlockedCurlOriented(p->ceed, NUM_ELEM, ELEM_SIZE, 2, 1, 1, L_SIZE,
                                                    CEED_MEM_HOST, CEED_COPY_VALUES, offsets, curl_orients,
                                                    r[2]));
  STEP(CeedElemRestrictionCreateBlockedStrided(p->ceed, NUM_ELEM, ELEM_SIZE, 2, 1, NUM_ELEM * ELEM_SIZE,
                                               strides, r[3]));
  PART(use_restriction(p, *r[1]));
  return use_restriction(p, *r[2]);
}

static int use_restrictions(Program *p) {
  static const CeedInt offsets[NUM_ELEM * ELEM_SIZE] = {0, 1, 2, 2, 3, 4, 4, 5, 6};
  const bool orients[NUM_ELEM * ELEM_SIZE] = {true, false, true};
  const CeedInt8 curl_orients[3 * NUM_ELEM * ELEM_SIZE] = {0, 1, 0, 0, -1, 0, 0, 1, 0};
  CeedElemRestriction *r[6];
  CeedMemType mem_type;

  for (int k = 0; k < 6; k++) r[k] = RESTRICTION(p);
  STEP(CeedElemRestrictionCreate(p->ceed, NUM_ELEM, ELEM_SIZE, 1, 1, L_SIZE, CEED_MEM_HOST, CEED_USE_POINTER,
                                 offsets, r[0]));
  STEP(CeedElemRestrictionCreateOriented(p->ceed, NUM_ELEM, ELEM_SIZE, 1, 1, L_SIZE, CEED_MEM_HOST,
                                         CEED_COPY_VALUES, offsets, orients, r[1]));
  STEP(CeedElemRestrictionCreateCurlOriented(p->ceed, NUM_ELEM, ELEM_SIZE, 1, 1, L_SIZE, CEED_MEM_HOST,
                                             CEED_COPY_VALUES, offsets, curl_orients, r[2]));
  STEP(CeedElemRestrictionCreateStrided(p->ceed, NUM_ELEM, ELEM_SIZE, 1, NUM_ELEM * ELEM_SIZE,
                                        CEED_STRIDES_BACKEND, r[3]));
  STEP(CeedElemRestrictionCreateUnsignedCopy(*r[1], r[4]));
  STEP(CeedElemRestrictionCreateUnorientedCopy(*r[2], r[5]));
  for (int k = 0; k < 6; k++) PART(use_restriction(p, *r[k]));
  PART(use_owned_restriction(p, offsets));
  STEP(CeedGetPreferredMemType(p->ceed, &mem_type));
  if (mem_type == CEED_MEM_DEVICE) return CEED_ERROR_SUCCESS; // the standard has no blocks there
  return use_blocked_restrictions(p, offsets, orients, curl_orients);
}

// ---- Bases ----

static int use_basis(Program *p, CeedBasis basis) {
  CeedInt num_nodes, num_qpts, num_comp;
  CeedVector *u = VECTOR(p), *v = VECTOR(p);

  STEP(CeedBasisGetNumNodes(basis, &num_nodes));
  STEP(CeedBasisGetNumQuadraturePoints(basis, &num_qpts));
  STEP(CeedBasisGetNumComponents(basis, &num_comp));
  STEP(CeedVectorCreate(p->ceed, num_nodes * num_comp, u));
  STEP(CeedVectorCreate(p->ceed, (CeedSize)3 * num_qpts * num_comp, v));
  STEP(CeedVectorSetValue(*u, 1));
  STEP(CeedVectorSetValue(*v, 0));
  STEP(CeedBasisApply(basis, 1, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, *u, *v));
  STEP(CeedBasisApply(basis, 1, CEED_TRANSPOSE, CEED_EVAL_INTERP, *v, *u));
  STEP(CeedBasisView(basis, p->sink));
  return record_norm(p, *u);
}

static int use_points_of_basis(Program *p, CeedBasis basis) {
  CeedVector *x = VECTOR(p), *u = VECTOR(p), *v = VECTOR(p);
  CeedInt num_points = 2;
  CeedScalar chebyshev[12], collocated[16];

  STEP(CeedVectorCreate(p->ceed, 4, x));
  STEP(CeedVectorCreate(p->ceed, 9, u));
  STEP(CeedVectorCreate(p->ceed, 4, v));
  STEP(CeedVectorSetValue(*x, (CeedScalar)0.5));
  STEP(CeedVectorSetValue(*u, 2));
  STEP(CeedBasisApplyAtPoints(basis, 1, &num_points, CEED_NOTRANSPOSE, CEED_EVAL_GRAD, *x, *u, *v));
  STEP(CeedBasisApplyAtPoints(basis, 1, &num_points, CEED_TRANSPOSE, CEED_EVAL_INTERP, *x, *v, *u));
  STEP(CeedBasisGetChebyshevInterp1D(basis, chebyshev));
  STEP(CeedBasisGetCollocatedGrad(basis, collocated));
  return CEED_ERROR_SUCCESS;
}

static int use_dense_algebra(Program *p) {
  CeedScalar A[6] = {1, 2, 3, 4, 5, 7}, pinv[6], tau[2], S[4] = {2, 1, 1, 3}, B[4] = {1, 0, 0, 1}, x[4], l[2];
  CeedScalar points[5], weights[5];

  STEP(CeedMatrixPseudoinverse(p->ceed, A, 3, 2, pinv));
  STEP(CeedSimultaneousDiagonalization(p->ceed, S, B, x, l, 2));
  STEP(CeedSymmetricSchurDecomposition(p->ceed, S, l, 2));
  STEP(CeedQRFactorization(p->ceed, A, tau, 3, 2));
  STEP(CeedGaussQuadrature(5, points, weights));
  STEP(CeedLobattoQuadrature(5, points, weights));
  record(p, (double)(pinv[0] + l[0] + points[1]));
  return CEED_ERROR_SUCCESS;
}

static int use_bases(Program *p) {
  CeedScalar table[2 * 3 * 4] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3};
  const CeedScalar *interp, *grad;
  CeedBasis *b[7];

  for (int k = 0; k < 7; k++) b[k] = BASIS(p);
  STEP(CeedBasisCreateTensorH1Lagrange(p->ceed, 2, 1, 3, 4, CEED_GAUSS, b[0]));
  STEP(CeedBasisCreateTensorH1Lagrange(p->ceed, 2, 1, 2, 4, CEED_GAUSS, b[1]));
  STEP(CeedBasisCreateH1(p->ceed, CEED_TOPOLOGY_TRIANGLE, 1, 3, 4, table, table, NULL, NULL, b[2]));
  STEP(CeedBasisCreateHdiv(p->ceed, CEED_TOPOLOGY_TRIANGLE, 1, 3, 4, table, table, NULL, NULL, b[3]));
  STEP(CeedBasisCreateHcurl(p->ceed, CEED_TOPOLOGY_TRIANGLE, 1, 3, 4, table, table, NULL, NULL, b[4]));
  STEP(CeedBasisCreateProjection(*b[1], *b[0], b[5]));
  STEP(RitzBasisCreateTensorHdiv(p->ceed, 2, 1, 1, 2, CEED_GAUSS, b[6]));
  for (int k = 0; k < 7; k++) PART(use_basis(p, *b[k]));
  STEP(CeedBasisGetInterp(*b[0], &interp));
  STEP(CeedBasisGetGrad(*b[0], &grad));
  PART(use_points_of_basis(p, *b[0]));
  return use_dense_algebra(p);
}

// ---- Operators ----

// Mass and diffusion on two squares, P = 3, Q = 4.
enum { QUADS = 2, QUAD_NODES = 9, QUAD_POINTS = 16, QUAD_SIZE = 15 };
static const CeedInt quad_offsets[QUADS * QUAD_NODES] = {0, 1, 2, 5, 6, 7, 10, 11, 12,
                                                         2, 3, 4, 7, 8, 9, 12, 13, 14};

typedef struct {
  CeedElemRestriction rstr, rstr_q;
  CeedBasis basis;
  CeedVector qdata;
  CeedOperator op;
} Quads;

static int create_quads(Program *p, Quads *q) {
  CeedElemRestriction *rstr = RESTRICTION(p), *rstr_q = RESTRICTION(p);
  CeedBasis *basis = BASIS(p);
  CeedVector *qdata = VECTOR(p);
  CeedQFunction *qf = QFUNCTION(p);
  CeedOperator *op = OPERATOR(p);

  STEP(CeedElemRestrictionCreate(p->ceed, QUADS, QUAD_NODES, 1, 1, QUAD_SIZE, CEED_MEM_HOST, CEED_COPY_VALUES,
                                 quad_offsets, rstr));
  STEP(CeedElemRestrictionCreateStrided(p->ceed, QUADS, QUAD_POINTS, 1, QUADS * QUAD_POINTS,
                                        CEED_STRIDES_BACKEND, rstr_q));
  STEP(CeedBasisCreateTensorH1Lagrange(p->ceed, 2, 1, 3, 4, CEED_GAUSS, basis));
  STEP(CeedVectorCreate(p->ceed, QUADS * QUAD_POINTS, qdata));
  STEP(CeedVectorSetValue(*qdata, 2));
  PART(create_mass_diffusion(p, 2, qf));
  STEP(CeedOperatorCreate(p->ceed, *qf, NULL, NULL, op));
  STEP(CeedOperatorSetField(*op, "u", *rstr, *basis, CEED_VECTOR_ACTIVE));
  STEP(CeedOperatorSetField(*op, "du", *rstr, *basis, CEED_VECTOR_ACTIVE));
  STEP(CeedOperatorSetField(*op, "qd", *rstr_q, CEED_BASIS_NONE, *qdata));
  STEP(CeedOperatorSetField(*op, "v", *rstr, *basis, CEED_VECTOR_ACTIVE));
  STEP(CeedOperatorSetField(*op, "dv", *rstr, *basis, CEED_VECTOR_ACTIVE));
  STEP(CeedOperatorSetName(*op, "quads"));
  *q = (Quads){*rstr, *rstr_q, *basis, *qdata, *op};
  return CEED_ERROR_SUCCESS;
}

static int apply_operator(Program *p, CeedOperator op) {
  CeedVector *u = VECTOR(p), *v = VECTOR(p);
  CeedSize n, flops;

  STEP(CeedOperatorGetActiveVectorLengths(op, &n, NULL));
  STEP(CeedVectorCreate(p->ceed, n, u));
  STEP(CeedVectorCreate(p->ceed, n, v));
  STEP(CeedVectorSetValue(*u, 3));
  STEP(CeedOperatorApply(op, *u, *v, CEED_REQUEST_IMMEDIATE));
  STEP(CeedOperatorGetFlopsEstimate(op, &flops));
  STEP(CeedOperatorView(op, p->sink));
  return record_norm(p, *v);
}

static int use_labels(Program *p, CeedOperator op) {
  CeedContextFieldLabel label = NULL, none = NULL;
  CeedQFunctionContext *ctx = CONTEXT(p);
  double factor = 2.5;
  const double *read;
  size_t num;
  bool is_composite;

  STEP(CeedOperatorGetContextFieldLabel(op, "factor", &label));
  STEP(CeedOperatorGetContextFieldLabel(op, "no such field", &none));
  STEP(CeedOperatorSetContextDouble(op, label, &factor));
  STEP(CeedOperatorGetContextDoubleRead(op, label, &num, &read));
  STEP(CeedOperatorRestoreContextDoubleRead(op, label, &read));
  STEP(CeedOperatorIsComposite(op, &is_composite));
  if (!is_composite) STEP(CeedOperatorGetContext(op, ctx));
  return CEED_ERROR_SUCCESS;
}

// ---- Assembly ----

static int assemble_matrix(Program *p, CeedOperator op) {
  CeedSize num, num_rows, num_cols;
  CeedInt *rows = NULL, *cols = NULL;
  int64_t *row_starts = NULL, *columns = NULL;
  CeedVector *values = VECTOR(p), *sparse = VECTOR(p);

  STEP(CeedOperatorLinearAssembleSymbolic(op, &num, &rows, &cols));
  *new_array(p) = rows;
  *new_array(p) = cols;
  STEP(CeedVectorCreate(p->ceed, num, values));
  STEP(CeedOperatorLinearAssemble(op, *values));
  PART(record_norm(p, *values));
  STEP(RitzOperatorAssembleCSRSymbolic(op, &num_rows, &num_cols, &row_starts, &columns));
  *new_array(p) = row_starts;
  *new_array(p) = columns;
  STEP(CeedVectorCreate(p->ceed, row_starts[num_rows], sparse));
  STEP(RitzOperatorAssembleCSR(op, row_starts, columns, *sparse));
  return record_norm(p, *sparse);
}

static int assemble_diagonals(Program *p, CeedOperator op, bool has_blocks) {
  CeedVector *v = VECTOR(p);
  CeedSize n, num;
  CeedInt *rows = NULL, *cols = NULL;

  STEP(CeedOperatorGetActiveVectorLengths(op, &n, NULL));
  STEP(CeedVectorCreate(p->ceed, n, v));
  STEP(CeedOperatorLinearAssembleDiagonal(op, *v, CEED_REQUEST_IMMEDIATE));
  PART(record_norm(p, *v));
  if (!has_blocks) return CEED_ERROR_SUCCESS;
  STEP(CeedOperatorLinearAssemblePointBlockDiagonal(op, *v, CEED_REQUEST_IMMEDIATE));
  STEP(CeedOperatorLinearAssemblePointBlockDiagonalSymbolic(op, &num, &rows, &cols));
  *new_array(p) = rows;
  *new_array(p) = cols;
  return record_norm(p, *v);
}

static int assemble_qfunction(Program *p, CeedOperator op) {
  CeedVector *v[2] = {VECTOR(p), VECTOR(p)};
  CeedElemRestriction *rstr[2] = {RESTRICTION(p), RESTRICTION(p)};

  STEP(CeedOperatorLinearAssembleQFunction(op, v[0], rstr[0], CEED_REQUEST_IMMEDIATE));
  STEP(CeedOperatorLinearAssembleQFunctionBuildOrUpdate(op, v[1], rstr[1], CEED_REQUEST_IMMEDIATE));
  STEP(CeedOperatorLinearAssembleQFunctionBuildOrUpdate(op, v[1], rstr[1], CEED_REQUEST_IMMEDIATE));
  return record_norm(p, *v[1]);
}

static int look_at_tables(Program *p, CeedOperator op) {
  CeedOperatorAssemblyData data;
  CeedInt num_in, num_out;
  CeedBasis *bases_in, *bases_out;
  const CeedScalar **tables_in, **tables_out;

  STEP(CeedOperatorGetOperatorAssemblyData(op, &data));
  STEP(CeedOperatorAssemblyDataGetBases(data, &num_in, &bases_in, &tables_in, &num_out, &bases_out,
                                        &tables_out));
  record(p, (double)tables_in[0][1]);
  return CEED_ERROR_SUCCESS;
}

static int assemble_operator(Program *p, CeedOperator op, bool has_blocks) {
  PART(assemble_diagonals(p, op, has_blocks));
  PART(assemble_matrix(p, op));
  PART(assemble_qfunction(p, op));
  STEP(CeedOperatorSetQFunctionAssemblyReuse(op, true));
  PART(assemble_diagonals(p, op, has_blocks));
  STEP(CeedOperatorAssemblyDataStrip(op));
  return CEED_ERROR_SUCCESS;
}

static int use_composite(Program *p, CeedOperator part) {
  CeedOperator *sum = OPERATOR(p);
  CeedVector *mult = VECTOR(p);

  STEP(CeedOperatorCreateComposite(p->ceed, sum));
  STEP(CeedOperatorCompositeAddSub(*sum, part));
  STEP(CeedOperatorCompositeAddSub(*sum, part));
  STEP(CeedVectorCreate(p->ceed, QUAD_SIZE, mult));
  STEP(CeedOperatorCompositeGetMultiplicity(*sum, 0, NULL, *mult));
  PART(record_norm(p, *mult));
  PART(apply_operator(p, *sum));
  PART(use_labels(p, *sum));
  PART(assemble_diagonals(p, *sum, true));
  return assemble_matrix(p, *sum);
}

// ---- Multigrid and element inverses ----

// The interpolation is given: degree 1 to degree 2.
static int use_tensor_level(Program *p, const Quads *q, CeedVector mult, CeedElemRestriction rstr,
                            CeedBasis basis) {
  const CeedScalar interp[3 * 2] = {1, 0, (CeedScalar)0.5, (CeedScalar)0.5, 0, 1};
  CeedOperator *coarse = OPERATOR(p), *prolong = OPERATOR(p), *op_restrict = OPERATOR(p);

  STEP(CeedOperatorMultigridLevelCreateTensorH1(q->op, mult, rstr, basis, interp, coarse, prolong,
                                                op_restrict));
  return apply_operator(p, *coarse);
}

static int use_multigrid(Program *p, const Quads *q) {
  const CeedInt offsets[QUADS * 4] = {0, 1, 3, 4, 1, 2, 4, 5};
  CeedElemRestriction *rstr = RESTRICTION(p);
  CeedBasis *basis = BASIS(p);
  CeedVector *mult = VECTOR(p), *fine = VECTOR(p), *coarse = VECTOR(p);
  CeedOperator *op_coarse = OPERATOR(p), *prolong = OPERATOR(p), *op_restrict = OPERATOR(p);
  CeedOperator *fdm = OPERATOR(p);

  STEP(CeedElemRestrictionCreate(p->ceed, QUADS, 4, 1, 1, 6, CEED_MEM_HOST, CEED_COPY_VALUES, offsets, rstr));
  STEP(CeedBasisCreateTensorH1Lagrange(p->ceed, 2, 1, 2, 4, CEED_GAUSS, basis));
  STEP(CeedVectorCreate(p->ceed, QUAD_SIZE, mult));
  STEP(CeedVectorSetValue(*mult, 1));
  STEP(CeedOperatorMultigridLevelCreate(q->op, *mult, *rstr, *basis, op_coarse, prolong, op_restrict));
  STEP(CeedVectorCreate(p->ceed, QUAD_SIZE, fine));
  STEP(CeedVectorCreate(p->ceed, 6, coarse));
  STEP(CeedVectorSetValue(*coarse, 1));
  STEP(CeedOperatorApply(*prolong, *coarse, *fine, CEED_REQUEST_IMMEDIATE));
  PART(record_norm(p, *fine));
  STEP(CeedOperatorApply(*op_restrict, *fine, *coarse, CEED_REQUEST_IMMEDIATE));
  PART(record_norm(p, *coarse));
  PART(apply_operator(p, *op_coarse));
  PART(use_tensor_level(p, q, *mult, *rstr, *basis));
  STEP(CeedOperatorCreateFDMElementInverse(q->op, fdm, CEED_REQUEST_IMMEDIATE));
  STEP(CeedOperatorApply(*fdm, *fine, *mult, CEED_REQUEST_IMMEDIATE));
  return record_norm(p, *mult);
}

static int use_operators(Program *p) {
  Quads q;

  PART(create_quads(p, &q));
  PART(apply_operator(p, q.op));
  PART(use_labels(p, q.op));
  PART(look_at_tables(p, q.op));
  PART(assemble_operator(p, q.op, true));
  PART(use_composite(p, q.op));
  return use_multigrid(p, &q);
}

// ---- Gallery ----

static int load_sources(Program *p, CeedQFunction qf) {
  const char *absolute = NULL, *resolved = NULL, *text = NULL;
  char *buffer = NULL;
  bool is_valid;

  STEP(CeedAddJitSourceRoot(p->ceed, "include/")); // tests run in the top folder
  STEP(CeedGetJitAbsolutePath(p->ceed, "ceed/jit-source/gallery/ceed-mass2dbuild.h", &absolute));
  *new_array(p) = (void *)(uintptr_t)absolute;
  STEP(CeedCheckFilePath(p->ceed, absolute, &is_valid));
  STEP(CeedLoadSourceToBuffer(p->ceed, absolute, &buffer));
  *new_array(p) = buffer;
  STEP(CeedQFunctionGetSourcePath(qf, &resolved));
  STEP(CeedQFunctionLoadSourceToBuffer(qf, &text));
  *new_array(p) = (void *)(uintptr_t)text;
  record(p, is_valid && !strcmp(absolute, resolved) && !strcmp(buffer, text));
  return CEED_ERROR_SUCCESS;
}

static int use_gallery(Program *p) {
  CeedQFunction *build = QFUNCTION(p), *identity = QFUNCTION(p);
  CeedVector *u = VECTOR(p), *v = VECTOR(p);

  STEP(CeedQFunctionCreateInteriorByName(p->ceed, "Mass2DBuild", build));
  PART(load_sources(p, *build));
  STEP(CeedQFunctionCreateIdentity(p->ceed, 2, CEED_EVAL_NONE, CEED_EVAL_NONE, identity));
  STEP(CeedVectorCreate(p->ceed, 8, u));
  STEP(CeedVectorCreate(p->ceed, 8, v));
  STEP(CeedVectorSetValue(*u, 3));
  STEP(CeedQFunctionApply(*identity, 4, u, v));
  return record_norm(p, *v);
}

// ---- Points ----

static int use_points(Program *p) {
  const CeedInt lists[] = {3, 5, 6, 2, 0, 1};
  CeedElemRestriction *rstr = RESTRICTION(p), *rstr_x = RESTRICTION(p), *rstr_q = RESTRICTION(p);
  CeedBasis *basis = BASIS(p);
  CeedVector *x = VECTOR(p), *qdata = VECTOR(p);
  CeedQFunction *qf = QFUNCTION(p);
  CeedOperator *op = OPERATOR(p);

  STEP(CeedElemRestrictionCreate(p->ceed, QUADS, QUAD_NODES, 1, 1, QUAD_SIZE, CEED_MEM_HOST, CEED_COPY_VALUES,
                                 quad_offsets, rstr));
  STEP(CeedElemRestrictionCreateAtPoints(p->ceed, QUADS, 3, 2, 6, CEED_MEM_HOST, CEED_COPY_VALUES, lists,
                                         rstr_x));
  STEP(CeedElemRestrictionCreateAtPoints(p->ceed, QUADS, 3, 1, 3, CEED_MEM_HOST, CEED_COPY_VALUES, lists,
                                         rstr_q));
  STEP(CeedBasisCreateTensorH1Lagrange(p->ceed, 2, 1, 3, 4, CEED_GAUSS, basis));
  STEP(CeedVectorCreate(p->ceed, 6, x));
  STEP(CeedVectorSetValue(*x, (CeedScalar)0.25));
  STEP(CeedVectorCreate(p->ceed, 3, qdata));
  STEP(CeedVectorSetValue(*qdata, 2));
  PART(create_mass_diffusion(p, 2, qf));
  STEP(CeedOperatorCreateAtPoints(p->ceed, *qf, NULL, NULL, op));
  STEP(CeedOperatorAtPointsSetPoints(*op, *rstr_x, *x));
  STEP(CeedOperatorSetField(*op, "u", *rstr, *basis, CEED_VECTOR_ACTIVE));
  STEP(CeedOperatorSetField(*op, "du", *rstr, *basis, CEED_VECTOR_ACTIVE));
  STEP(CeedOperatorSetField(*op, "qd", *rstr_q, CEED_BASIS_NONE, *qdata));
  STEP(CeedOperatorSetField(*op, "v", *rstr, *basis, CEED_VECTOR_ACTIVE));
  STEP(CeedOperatorSetField(*op, "dv", *rstr, *basis, CEED_VECTOR_ACTIVE));
  PART(apply_operator(p, *op));
  return assemble_operator(p, *op, false);
}

// ---- Meshes ----

static int use_mesh(Program *p, RitzMesh mesh) {
  int64_t counts[3], num;
  double measure, smallest, largest;
  int64_t *elements = NULL;
  int8_t *facets = NULL;
  CeedElemRestriction *rstr = RESTRICTION(p);
  CeedVector *x = VECTOR(p);

  STEP(RitzMeshClassifyElements(mesh, -1, NULL, counts));
  STEP(RitzMeshGetMeasure(mesh, &measure, &smallest, &largest));
  STEP(RitzMeshGetBoundaryPart(mesh, "all", &num, &elements, &facets));
  *new_array(p) = elements;
  *new_array(p) = facets;
  STEP(RitzMeshView(mesh, p->sink));
  STEP(RitzMeshCreateCoordinates(mesh, p->ceed, rstr, x));
  record(p, measure);
  return record_norm(p, *x);
}

static int use_meshes(Program *p) {
  const CeedInt n[2] = {2, 2};
  RitzMesh *box = new_mesh(p), *refined = new_mesh(p);

  for (int k = 0; k < FAULT_NUM_MESHES; k++) {
    RitzMesh *mesh = new_mesh(p);

    STEP(RitzMeshRead(p->ceed, p->input->mesh_paths[k], mesh));
    PART(use_mesh(p, *mesh));
  }
  STEP(RitzMeshCreateBox(p->ceed, 2, n, NULL, NULL, 2, NULL, NULL, box));
  STEP(RitzMeshRefine(*box, 1, refined));
  return use_mesh(p, *refined);
}

// ---- Output and solver ----

static int write_output(Program *p, RitzMesh mesh, CeedVector values) {
  RitzOutputField field = {.name = "u", .space = p->space, .values = values};

  STEP(RitzWriteVTU(mesh, 1, &field, p->input->vtu_path));
  return CEED_ERROR_SUCCESS;
}

// Mass and "diffusion" along the reference directions of every element: positive definite.
static int create_system(Program *p, CeedInt dim, int64_t num_elem, CeedElemRestriction rstr,
                         CeedOperator *op) {
  CeedInt Q = CeedIntPow(4, dim);
  CeedElemRestriction *rstr_q = RESTRICTION(p);
  CeedBasis *basis = BASIS(p);
  CeedVector *qdata = VECTOR(p);
  CeedQFunction *qf = QFUNCTION(p);

  STEP(CeedElemRestrictionCreateStrided(p->ceed, (CeedInt)num_elem, Q, 1, num_elem * Q, CEED_STRIDES_BACKEND,
                                        rstr_q));
  STEP(CeedBasisCreateTensorH1Lagrange(p->ceed, dim, 1, 3, 4, CEED_GAUSS, basis));
  STEP(CeedVectorCreate(p->ceed, num_elem * Q, qdata));
  STEP(CeedVectorSetValue(*qdata, 2));
  PART(create_mass_diffusion(p, dim, qf));
  STEP(CeedOperatorCreate(p->ceed, *qf, NULL, NULL, op));
  STEP(CeedOperatorSetField(*op, "u", rstr, *basis, CEED_VECTOR_ACTIVE));
  STEP(CeedOperatorSetField(*op, "du", rstr, *basis, CEED_VECTOR_ACTIVE));
  STEP(CeedOperatorSetField(*op, "qd", *rstr_q, CEED_BASIS_NONE, *qdata));
  STEP(CeedOperatorSetField(*op, "v", rstr, *basis, CEED_VECTOR_ACTIVE));
  STEP(CeedOperatorSetField(*op, "dv", rstr, *basis, CEED_VECTOR_ACTIVE));
  return CEED_ERROR_SUCCESS;
}

// A failed solve leaves an iterate in x.
static int solve_from_zero(RitzSolver solver, CeedVector b, CeedVector x) {
  int ierr = CeedVectorSetValue(x, 0);

  return ierr ? ierr : RitzSolverSolve(solver, b, x);
}

static int solve(Program *p, CeedOperator op, CeedSize n, int64_t num_fixed, const int64_t *fixed,
                 CeedVector *x) {
  CeedVector *b = VECTOR(p), *diagonal = VECTOR(p);

  STEP(CeedVectorCreate(p->ceed, n, x));
  STEP(CeedVectorCreate(p->ceed, n, b));
  STEP(CeedVectorCreate(p->ceed, n, diagonal));
  STEP(CeedVectorSetValue(*b, 1));
  STEP(CeedOperatorLinearAssembleDiagonal(op, *diagonal, CEED_REQUEST_IMMEDIATE));
  STEP(RitzSolverCreateCG(p->ceed, &p->solver));
  STEP(RitzSolverSetOperator(p->solver, op));
  STEP(RitzSolverSetJacobi(p->solver, *diagonal));
  STEP(RitzSolverSetConstraints(p->solver, num_fixed, fixed));
  STEP(RitzSolverSetTolerances(p->solver, 1e-8, 0, 5));
  STEP(solve_from_zero(p->solver, *b, *x));
  return record_norm(p, *x);
}

static int use_solver(Program *p) {
  RitzMesh mesh = p->meshes[1]; // refined box
  CeedElemRestriction *rstr = RESTRICTION(p);
  CeedOperator *op = OPERATOR(p);
  CeedVector *x = VECTOR(p);
  CeedSize n;
  int64_t num_elem, num_fixed, num_nodes, *fixed = NULL;
  void **positions = new_array(p);

  STEP(RitzMeshGetNumElements(mesh, &num_elem));
  STEP(RitzSpaceCreate(mesh, 2, 1, &p->space));
  STEP(RitzSpaceGetSize(p->space, &n));
  STEP(RitzSpaceGetNumNodes(p->space, &num_nodes));
  *positions = malloc((size_t)num_nodes * 2 * sizeof(double));
  STEP(RitzSpaceGetNodeCoordinates(p->space, *positions));
  STEP(RitzSpaceGetBoundaryNodes(p->space, "xmin", &num_fixed, &fixed));
  *new_array(p) = fixed;
  STEP(RitzSpaceCreateRestriction(p->space, p->ceed, rstr));
  PART(create_system(p, 2, num_elem, *rstr, op));
  PART(solve(p, *op, n, num_fixed, fixed, x));
  return write_output(p, mesh, *x);
}

// ---- All of it ----

static int run(Program *p) {
  PART(use_ceed(p));
  PART(use_restrictions(p));
  PART(use_bases(p));
  PART(use_gallery(p));
  PART(use_operators(p));
  PART(use_points(p));
  PART(use_meshes(p));
  return use_solver(p);
}

// Returns the first failure of a destruction.
static int destroy(Program *p) {
  int ierr = RitzSolverDestroy(&p->solver), code = RitzSpaceDestroy(&p->space);

#define DESTROY(num, function, list)                                                                         \
  for (int i = 0; i < (num); i++) {                                                                          \
    if (!ierr) ierr = code;                                                                                  \
    code = function(&(list)[i]);                                                                             \
  }
  DESTROY(p->num_meshes, RitzMeshDestroy, p->meshes)
  DESTROY(p->num_operators, CeedOperatorDestroy, p->operators)
  DESTROY(p->num_qfunctions, CeedQFunctionDestroy, p->qfunctions)
  DESTROY(p->num_contexts, CeedQFunctionContextDestroy, p->contexts)
  DESTROY(p->num_bases, CeedBasisDestroy, p->bases)
  DESTROY(p->num_restrictions, CeedElemRestrictionDestroy, p->restrictions)
  DESTROY(p->num_vectors, CeedVectorDestroy, p->vectors)
#undef DESTROY
  for (int i = 0; i < p->num_arrays; i++) free(p->arrays[i]);
  if (!ierr) ierr = code;
  if (p->work && !ierr) ierr = CeedRestoreWorkVector(p->ceed, &p->work);
  code = CeedDestroy(&p->ceed);
  return ierr ? ierr : code;
}

int fault_program_run(const FaultInput *input, bool retries, FaultResult *result) {
  Program *p = calloc(1, sizeof(*p));

  if (!p) abort();
  *result = (FaultResult){.last_call = "", .repeated_call = ""};
  p->input = input;
  p->retries = retries;
  p->result = result;
  p->sink = fopen("/dev/null", "w");
  int ierr = run(p);
  result->destroyed = destroy(p);
  fclose(p->sink);
  free(p);
  return ierr;
}

// Norms of some hundred entries; those of the solver's iterate carry the errors of five steps. Where
// additions come in any order they are off by a rounding error for each term.
bool fault_numbers_agree(const FaultResult *a, const FaultResult *b) {
  bool agree = a->num_numbers == b->num_numbers;

  for (int k = 0; agree && k < a->num_numbers; k++) {
    double tolerance = a->is_deterministic ? 0.0 : 1e4 * CEED_EPSILON * fabs(a->numbers[k]);

    agree = fabs(a->numbers[k] - b->numbers[k]) <= tolerance;
  }
  return agree;
}

// ---- Input ----

static const char *write_file(const char *name, FileBytes bytes) {
  const char *path = tap_temp_file(name, bytes.data, bytes.size);

  file_clear(&bytes);
  return path;
}

FaultInput fault_program_input(void) {
  GmshSample gmsh = {.map = {2, 2, false}, .n = {2, 1, 1}, .version = 2, .has_groups = true};
  MfemSample mfem = {.map = {2, 1, false}, .n = {2, 1, 1}, .version = "1.3", .seed = 1};
  FaultInput input = {.vtu_path = tap_temp_file("out.vtu", NULL, 0)};

  gmsh.has_entities = true;
  input.mesh_paths[0] = write_file("two.msh", gmsh_file(&gmsh));
  gmsh.version = 4;
  gmsh.is_binary = gmsh.has_sparse_tags = true;
  input.mesh_paths[1] = write_file("four.msh", gmsh_file(&gmsh));
  input.mesh_paths[2] = write_file("straight.mesh", mfem_file(&mfem));
  mfem.map.degree = 2;
  mfem.version = "1.0";
  mfem.collection = "H1_2D_P2";
  mfem.is_shared = true;
  for (int i = 0; i <= 2; i++) mfem.points[i] = 0.5 * i;
  input.mesh_paths[3] = write_file("curved.mesh", mfem_file(&mfem));
  return input;
}
