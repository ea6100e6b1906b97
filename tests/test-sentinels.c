// SPDX-License-Identifier: BSD-2-Clause
// Every public function, every argument that is an object: NULL, each of the standard's sentinels and an
// object of another type are refused by an error code, and what was valid before is valid after. So are
// enumerators that do not exist and negative counts; NULL for results, texts and arrays, and other negative
// numbers, are refused or mean something, and end no program. The calls
// are generated from the headers (tests/sentinel-calls). They are made in a child process, which is started
// again behind a call that kills it: test-sentinels --calls RESOURCE FILE, FILE being a mapped Progress.
#include "tests/sentinels.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/sentinels-qfunctions.h"
#include "tests/tap.h"

// ---- What is no mistake ----

// Arguments that mean something: such calls succeed. Values are words of the list NULL (handle), OWN (a
// sentinel of the parameter's type), FOREIGN (another sentinel), OTHER (an object of another type), ADDRESS
// (NULL for the address of a handle), NUMBER (a negative count, no enumerator), and names of sentinels.
static const struct {
  const char *function, *slot, *values, *reason; // patterns of fnmatch; values
} legal[] = {
    {"CeedObjectDestroy", "obj", "NULL FOREIGN ADDRESS", "there is nothing to destroy"},
    {"CeedDestroy", "ceed", "NULL ADDRESS", "there is nothing to destroy"},
    {"*Destroy", "*", "NULL OWN ADDRESS", "there is nothing to destroy"},
    {"Ceed*ReferenceCopy", "*_copy", "NULL OWN", "there is nothing to release"},
    {"RitzMeshReferenceCopy", "copy", "NULL", "there is nothing to release"},
    {"RitzIndicesReferenceCopy", "copy", "NULL", "there is nothing to release"},
    {"RitzLocatorReferenceCopy", "copy", "NULL", "there is nothing to release"},
    {"RitzVector*Entr*", "indices", "NULL", "the set is empty"},
    {"RitzSpaceReferenceCopy", "copy", "NULL", "there is nothing to release"},
    {"RitzProductSpaceReferenceCopy", "copy", "NULL", "there is nothing to release"},
    {"RitzProductSpaceCreateConstraints", "of_spaces", "NULL", "the space has none"},
    {"RitzExchangeReferenceCopy", "copy", "NULL", "there is nothing to release"},
    {"RitzPartOperatorCreate", "inside", "NULL", "there are no such elements"},
    {"RitzPartOperatorCreate", "seam", "NULL", "there are no such elements"},
    {"RitzSolverSetPartOperator", "constraints", "NULL", "there are none but ghosts"},
    {"RitzPreconditionerCreatePartBlocks", "op", "NULL", "the diagonal kind needs none"},
    {"Ceed*ReferenceCopy", "*", "OWN", "sentinels are copied like handles (ceed.h, Lifetime)"},
    {"CeedVectorGetLength", "vec", "CEED_VECTOR_NONE", "no vector has length 0"},
    {"CeedOperatorCreate", "dqf*", "NULL CEED_QFUNCTION_NONE", "there is no derivative"},
    {"CeedOperatorCreateAtPoints", "dqf*", "NULL CEED_QFUNCTION_NONE", "there is no derivative"},
    {"CeedOperatorSetField", "vec", "CEED_VECTOR_ACTIVE", "the field is active"},
    {"CeedOperatorSetField", "vec", "CEED_VECTOR_NONE", "not compared with the mode, but refused in apply"},
    {"CeedOperatorLinearAssembleQFunctionBuildOrUpdate", "assembled", "NULL OWN", "nothing to release"},
    {"CeedOperatorLinearAssembleQFunctionBuildOrUpdate", "rstr", "NULL OWN FOREIGN OTHER",
     "looked at beside a live *assembled alone"},
    {"CeedQFunctionSetContext", "ctx", "NULL", "detaches the context"},
    {"CeedQRFactorization", "ceed", "NULL", "there is no context to report to"},
    {"CeedMatrixPseudoinverse", "ceed", "NULL", "there is no context to report to"},
    {"CeedSymmetricSchurDecomposition", "ceed", "NULL", "there is no context to report to"},
    {"CeedSimultaneousDiagonalization", "ceed", "NULL", "there is no context to report to"},
    {"RitzJit*", "ceed", "NULL", "there is no context to report to"},
    {"CeedTensorContractApply", "contract", "NULL OWN FOREIGN", "there is one way to contract"},
    {"Ceed*", "request", "ADDRESS", "nobody waits"},
    {"RitzSolverSetJacobi", "diagonal", "NULL", "removes the preconditioner"},
    {"RitzSolverSetPreconditioner", "pc", "NULL", "removes the preconditioner"},
    {"RitzSolverSetConstraintIndices", "entries", "NULL", "removes the constraints"},
    {"RitzPreconditionerCreate*", "constraints", "NULL", "there are none"},
    {"RitzNewtonSet*", "state", "NULL", "there is none"},
    {"RitzNewtonSet*", "values", "NULL", "there are none"},
    {"RitzNewtonSolve*", "b", "NULL", "zero"},
    {"RitzPreconditionerReferenceCopy", "copy", "NULL", "there is nothing to release"},
    {"RitzGeometryCreatePointOperator", "context", "NULL", "the function has no parameters"},
    {"RitzGeometryCreate*FormOperator", "context", "NULL", "the function has no parameters"},
    {"RitzGeometryCreateBoundaryOperator", "context", "NULL", "the function has no parameters"},
    {"RitzGeometryCreateInteriorFacetOperator", "context", "NULL", "the function has no parameters"},
    {"RitzGeometryCreateInterior*", "options->tests", "NULL", "those of the space"},
    {"CeedBasisGetFlopsEstimate", "num_points", "NUMBER", "there are no points"},
    {"Ritz*Batched", "*->vector", "NULL", "the array is not a vector's"},
    {"RitzBatchArrayFromVector", "array->vector", "NULL OWN FOREIGN OTHER", "a result"},
};
enum { NUM_LEGAL = sizeof(legal) / sizeof(legal[0]) };

// Calls whose valid arguments are refused for what they are about.
static const struct {
  const char *function, *reason;
} refusing[] = {
    {"CeedSetStream", "host backends have no streams, and there is no stream to give others"},
    {"CeedError*", "returns the code that it reports"},
    {"Ceed*Restore*", "nothing was lent"},
    {"Ceed*Take*", "nothing is borrowed"},
    {"Ritz*Restore*", "nothing was lent"},
    {"Ritz*Take*", "nothing is borrowed"},
    {"Ceed*Get*Points*", "the restriction or operator is not at points"},
    {"CeedElemRestrictionGetLLayout", "not strided"},
    {"CeedElemRestrictionGetStrides", "not strided"},
    {"CeedElemRestrictionHasBackendStrides", "not strided"},
    {"CeedElemRestrictionGetOrientations", "not oriented"},
    {"CeedElemRestrictionGetCurlOrientations", "not curl-oriented"},
    {"RitzExchangeEnd", "nothing was begun"},
    {"RitzHaloGetNeighbour", "the part has no neighbours"},
    {"RitzHaloGetChecksums", "the part has no neighbours"},
    {"RitzPreconditionerGet*Level", "the preconditioner is no multigrid"},
    {"RitzPreconditionerSetUpdate", "the preconditioner is no function of the program"},
    {"RitzPreconditionerViewLevels", "the preconditioner is no multigrid"},
    {"RitzPreconditionerGetChebyshevBounds", "the preconditioner is no polynomial"},
    {"RitzPreconditionerCreateMultigrid", "the levels have no operators"},
    {"RitzPreconditionerCreateMultigridOfHierarchy", "there are no operators"},
    {"RitzPreconditionerCreatePartMultigrid", "the same"},
    {"RitzTransportCreateNCCL", "processors have no GPUs, and NCCL may not be there"},
    {"RitzBatchedCreate", "devices without kernels for batches refuse"},
    {"RitzFrontCreate", "the same"},
    {"RitzFrontSetSmallestPivot", "the factors are those of Cholesky"},
    {"RitzOperatorCreateDerivative*", "OpenCL C has no pairs of numbers with operators"},
    {"RitzOperatorCreateGradient", "the same"},
    {"RitzDenseSolver*Vector*", "vectors of float where CeedScalar is float"},
};
enum { NUM_REFUSING = sizeof(refusing) / sizeof(refusing[0]) };

// They end the program, as their names say.
static bool ends_program(const char *name) {
  return !strcmp(name, "CeedErrorAbort") || !strcmp(name, "CeedErrorExit");
}

// ---- Valid objects ----

const CeedInt sentinels_point_offsets[] = {2, 2 + SENTINELS_NODES, 0, 1, 2, 3};
const char *const sentinels_files[1] = {"/tmp/a.vtu"};
const CeedInt sentinels_num_points[] = {1, 1}, sentinels_ones[4] = {1, 1, 1, 1};
const RitzFixedPart sentinels_fixed_part = {.part = "all"};
static const CeedScalar table[2] = {1, 1};
const CeedScalar *const sentinels_tables[4] = {table, table, table, table};
const RitzFactor sentinels_factor = {.a = -1, .b = -1, .sign = 1};
const RitzPointFunction sentinels_point_function = RITZ_POINT_FUNCTION_TABLE(sentinels_at_point, 2, 1);
const RitzFacetFunction sentinels_facet_function = RITZ_FACET_FUNCTION_TABLE(sentinels_on_facet, 2, 1);
const RitzInteriorFacetFunction sentinels_interior_function =
    RITZ_INTERIOR_FACET_FUNCTION_TABLE(sentinels_on_both_sides, 2, 1);

// No operator can be made.
int sentinels_level(void *ctx, CeedInt level, RitzSpace space, CeedOperator *op) {
  (void)ctx, (void)level, (void)space, (void)op;
  return CEED_ERROR_UNSUPPORTED;
}

int sentinels_function(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx, (void)Q, (void)in, (void)out;
  return CEED_ERROR_SUCCESS;
}

int sentinels_release(void *data) {
  (void)data;
  return CEED_ERROR_SUCCESS;
}

int sentinels_apply(void *ctx, CeedVector x, CeedVector y) {
  (void)ctx;
  return CeedVectorCopy(x, y);
}

#define DO(call)                                                                                             \
  do {                                                                                                       \
    int code_ = (call);                                                                                      \
    if (code_) return fprintf(stderr, "%s: code %d\n", #call, code_), code_;                                 \
  } while (0)

// vec[2] is constant: the coefficient of an operator that is separable on the box.
static CeedScalar entry(int v, int i) { return (CeedScalar)(1 + v) + (v < 2 ? (CeedScalar)i / 8 : 0); }

static int make_vectors(Kit *kit) {
  CeedScalar values[SENTINELS_MATRIX];
  for (int v = 0; v < 3; v++) {
    for (int i = 0; i < SENTINELS_NODES; i++) values[i] = entry(v, i);
    DO(CeedVectorCreate(kit->ceed, SENTINELS_NODES, &kit->vec[v]));
    DO(CeedVectorSetArray(kit->vec[v], CEED_MEM_HOST, CEED_COPY_VALUES, values));
  }
  DO(CeedVectorCreate(kit->ceed, 2 * SENTINELS_NODES, &kit->coords));
  DO(CeedVectorSetValue(kit->coords, (CeedScalar)0.25));
  DO(CeedVectorCreate(kit->ceed, SENTINELS_MATRIX, &kit->matrix));
  DO(CeedVectorSetValue(kit->matrix, 1));
  DO(RitzVectorCreate(kit->ceed, SENTINELS_NODES, CEED_SCALAR_FP32, &kit->floats));
  DO(CeedVectorSetValue(kit->floats, 1));
  return CeedGetWorkVector(kit->ceed, SENTINELS_NODES, &kit->work);
}

// ---- Parts ----

static int do_nothing(const RitzTransport *transport, CeedInt num, const RitzMessage messages[]) {
  (void)transport, (void)num, (void)messages;
  return CEED_ERROR_SUCCESS;
}

static int keep_numbers(const RitzTransport *transport, RitzReduction kind, CeedInt num, double values[]) {
  (void)transport, (void)kind, (void)num, (void)values;
  return CEED_ERROR_SUCCESS;
}

int sentinels_part(void *ctx, const RitzTransport *transport) {
  (void)ctx, (void)transport;
  return CEED_ERROR_SUCCESS;
}

const RitzTransport sentinels_transport = {
    .num_parts = 1, .begin = do_nothing, .end = do_nothing, .reduce = keep_numbers};

static const int64_t triangle[3] = {0, 1, 2};
static const double triangle_x[6] = {0, 0, 1, 0, 0, 1};
static const RitzMeshArrayBlock triangle_block = {CEED_TOPOLOGY_TRIANGLE, 1, triangle, triangle_x};
const RitzMeshArrays sentinels_arrays = {
    .dim = 2, .space_dim = 2, .order = 1, .num_vertices = 3, .num_blocks = 1, .blocks = &triangle_block};

int sentinels_known(void *ctx, const double *x, double *values, double *gradients) {
  (void)ctx;
  (void)x;
  values[0] = 0;
  if (gradients) gradients[0] = gradients[1] = 0;
  return 0;
}

int sentinels_load(void *ctx, double load) {
  (void)ctx;
  (void)load;
  return 0;
}

int sentinels_field(void *ctx, const double *x, double *values) {
  (void)ctx;
  (void)x;
  values[0] = 0;
  return 0;
}

int sentinels_part_level(void *ctx, CeedInt level, RitzSpace space, CeedOperator *inside,
                         CeedOperator *seam) {
  (void)inside; // NULL: there are none
  return sentinels_level(ctx, level, space, seam);
}

static int make_exchange(Kit *kit) {
  DO(RitzSpaceGetHalo(kit->space, &kit->halo));
  DO(RitzExchangeCreate(kit->space, kit->ceed, &sentinels_transport, &kit->exchange));
  return RitzPartOperatorCreate(kit->exchange, NULL, kit->op, &kit->part_op);
}

static int make_context(Kit *kit) {
  const SentinelsContext data = {1, 2, true};
  const CeedScalar parameters[] = {1, 1};
  DO(CeedQFunctionContextCreate(kit->ceed, &kit->ctx));
  DO(CeedQFunctionContextSetData(kit->ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(data), (void *)&data));
  DO(CeedQFunctionContextRegisterDouble(kit->ctx, "a", offsetof(SentinelsContext, a), 1, "a"));
  DO(CeedQFunctionContextRegisterInt32(kit->ctx, "b", offsetof(SentinelsContext, b), 1, "b"));
  DO(CeedQFunctionContextRegisterBoolean(kit->ctx, "c", offsetof(SentinelsContext, c), 1, "c"));
  for (int i = 0; i < 3; i++) {
    const char name[] = {"abc"[i], '\0'};
    DO(CeedQFunctionContextGetFieldLabel(kit->ctx, name, &kit->label[i]));
  }
  DO(CeedQFunctionContextCreate(kit->ceed, &kit->point_ctx));
  return CeedQFunctionContextSetData(kit->point_ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(parameters),
                                     (void *)parameters);
}

static int make_parts(Kit *kit) {
  const CeedInt offsets[] = {0, 1, 2, 3};
  CeedQFunctionField *fields;
  DO(CeedElemRestrictionCreate(kit->ceed, 1, SENTINELS_NODES, 1, 1, SENTINELS_NODES, CEED_MEM_HOST,
                               CEED_COPY_VALUES, offsets, &kit->rstr));
  DO(CeedElemRestrictionCreateAtPoints(kit->ceed, 1, SENTINELS_NODES, 1, SENTINELS_NODES, CEED_MEM_HOST,
                                       CEED_COPY_VALUES, sentinels_point_offsets, &kit->rstr_points));
  DO(CeedElemRestrictionCreateAtPoints(kit->ceed, 1, SENTINELS_NODES, 2, 2 * SENTINELS_NODES, CEED_MEM_HOST,
                                       CEED_COPY_VALUES, sentinels_point_offsets, &kit->rstr_coords));
  DO(CeedBasisCreateTensorH1Lagrange(kit->ceed, 2, 1, 2, 2, CEED_GAUSS, &kit->basis));
  DO(CeedQFunctionCreateInteriorByName(kit->ceed, "MassApply", &kit->qf));
  DO(CeedQFunctionSetContext(kit->qf, kit->ctx));
  DO(CeedQFunctionSetUserFlopsEstimate(kit->qf, 1));
  DO(CeedQFunctionCreateInterior(kit->ceed, 1, sentinels_function, "", &kit->qf_new));
  DO(CeedQFunctionGetFields(kit->qf, NULL, &fields, NULL, NULL));
  kit->qf_field = fields[0];
  return CEED_ERROR_SUCCESS;
}

static int make_sums(Kit *kit) {
  CeedQFunction qf = NULL;
  DO(CeedQFunctionCreateIdentity(kit->ceed, 1, CEED_EVAL_NONE, CEED_EVAL_NONE, &qf));
  DO(CeedOperatorCreate(kit->ceed, qf, NULL, NULL, &kit->op_sums));
  DO(CeedOperatorSetField(kit->op_sums, "input", kit->rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  DO(CeedOperatorSetField(kit->op_sums, "output", kit->rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  return CeedQFunctionDestroy(&qf);
}

static int make_operators(Kit *kit) {
  const CeedQFunction none = CEED_QFUNCTION_NONE;
  CeedContextFieldLabel label;
  CeedOperatorField *fields;
  CeedSize num_rows, num_cols;
  DO(CeedOperatorCreate(kit->ceed, kit->qf, none, none, &kit->op));
  DO(CeedOperatorSetField(kit->op, "u", kit->rstr, kit->basis, CEED_VECTOR_ACTIVE));
  DO(CeedOperatorSetField(kit->op, "qdata", kit->rstr, CEED_BASIS_NONE, kit->vec[2]));
  DO(CeedOperatorSetField(kit->op, "v", kit->rstr, kit->basis, CEED_VECTOR_ACTIVE));
  DO(CeedOperatorCheckReady(kit->op));
  DO(CeedOperatorGetFields(kit->op, NULL, &fields, NULL, NULL));
  kit->op_field = fields[0];
  for (int i = 0; i < 3; i++) {
    const char name[] = {"abc"[i], '\0'};
    DO(CeedOperatorGetContextFieldLabel(kit->op, name, &label));
  }
  DO(CeedOperatorCreate(kit->ceed, kit->qf, none, none, &kit->op_new));
  DO(CeedOperatorCreateComposite(kit->ceed, &kit->composite));
  DO(CeedOperatorCompositeAddSub(kit->composite, kit->op));
  DO(CeedOperatorCreateAtPoints(kit->ceed, kit->qf, none, none, &kit->op_at_points_new));
  DO(CeedOperatorCreateAtPoints(kit->ceed, kit->qf, none, none, &kit->op_at_points));
  DO(CeedOperatorAtPointsSetPoints(kit->op_at_points, kit->rstr_coords, kit->coords));
  DO(CeedOperatorSetField(kit->op_at_points, "u", kit->rstr, kit->basis, CEED_VECTOR_ACTIVE));
  DO(CeedOperatorSetField(kit->op_at_points, "qdata", kit->rstr_points, CEED_BASIS_NONE, kit->vec[2]));
  DO(CeedOperatorSetField(kit->op_at_points, "v", kit->rstr, kit->basis, CEED_VECTOR_ACTIVE));
  DO(make_sums(kit));
  DO(CeedOperatorGetOperatorAssemblyData(kit->op, &kit->assembly));
  DO(RitzAssemblyCreate(kit->op, &kit->csr));
  return RitzOperatorAssembleCSRSymbolic(kit->op, &num_rows, &num_cols, &kit->row_starts, &kit->cols);
}

// A square in two groups, of which one has a second square; a point in a group.
static const char groups[] =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 2 0 0\n4 0 1 0\n5 1 1 0\n6 2 1 0\n"
    "$EndNodes\n$Elements\n4\n1 15 2 9 1 1\n2 3 2 1 1 1 2 5 4\n3 3 2 2 1 1 2 5 4\n4 3 2 1 2 2 3 6 5\n"
    "$EndElements\n";

static int make_mesh(Kit *kit) {
  DO(RitzMeshCreateBox(kit->ceed, 2, (CeedInt[]){1, 1}, NULL, NULL, 1, NULL, NULL, &kit->mesh));
  DO(RitzMeshRead(kit->ceed, tap_temp_text("groups.msh", groups), &kit->mesh_with_groups));
  DO(RitzLocatorCreate(kit->mesh, -1, &kit->locator));
  DO(RitzSpaceCreate(kit->mesh, 1, 1, &kit->space));
  DO(RitzSpaceCreate(kit->mesh, 2, 1, &kit->space_with_layers));
  DO(RitzSpaceCreate(kit->mesh, 1, 2, &kit->space_of_gradients));
  DO(RitzHierarchyCreate(kit->space, NULL, &kit->hierarchy));
  DO(RitzProductSpaceCreate(1, &kit->space, &kit->product));
  DO(RitzGeometryCreate(kit->mesh, -1, &kit->geometry));
  DO(RitzFacetsCreate(kit->mesh, "all", &kit->facets));
  DO(RitzMeshCreateBox(kit->ceed, 2, (CeedInt[]){2, 1}, NULL, NULL, 1, NULL, NULL, &kit->pair));
  DO(RitzGeometryCreate(kit->pair, -1, &kit->pair_geometry));
  DO(RitzSpaceCreateDiscontinuous(kit->pair, 1, 1, &kit->pair_space));
  DO(RitzSolverCreateCG(kit->ceed, &kit->solver));
  DO(RitzSolverSetOperator(kit->solver, kit->op));
  DO(RitzNewtonCreate(kit->ceed, &kit->newton));
  DO(RitzNewtonSetResidual(kit->newton, kit->op));
  DO(RitzNewtonSetLinearSolver(kit->newton, kit->solver));
  DO(RitzIndicesCreate(kit->ceed, 2, (int64_t[]){0, 1}, &kit->indices));
  DO(RitzScalarsCreate(kit->ceed, 1, &kit->scalars));
  DO(RitzPreconditionerCreateJacobi(kit->ceed, kit->vec[0], NULL, &kit->pc));
  DO(make_exchange(kit));
  kit->options = (RitzOperatorOptions){.kind = RITZ_OPERATOR_MASS, .space = kit->space};
  kit->boundary_options = (RitzBoundaryOptions){.space = kit->space, .part = "all"};
  kit->form_output = (RitzFormField){.name = "v", .what = RITZ_FORM_VALUE, .space = kit->space};
  kit->form = (RitzForm){"CEED_QFUNCTION_HELPER void f(const void *ctx, CeedScalar *v) { v[0] = 1; }", "f",
                         .num_outputs = 1, .outputs = &kit->form_output};
  kit->pair_output = (RitzFormField){.name = "v", .what = RITZ_FORM_VALUE, .space = kit->pair_space};
  kit->pair_form = (RitzForm){kit->form.text, "f", .num_outputs = 1, .outputs = &kit->pair_output};
  kit->block = (RitzBlock){.inverse = kit->pc};
  kit->interior_options = (RitzInteriorFacetOptions){.space = kit->pair_space, .tests = kit->pair_space};
  kit->field = (RitzOutputField){.name = "field", .space = kit->space, .values = kit->matrix};
  snprintf(kit->path, sizeof(kit->path), "/tmp/ritz-sentinels-%ld.vtu", (long)getpid());
  snprintf(kit->list_path, sizeof(kit->list_path), "/tmp/ritz-sentinels-%ld.pvtu", (long)getpid());
  snprintf(kit->piece_path, sizeof(kit->piece_path), "/tmp/ritz-sentinels-%ld-0.vtu", (long)getpid());
  snprintf(kit->series_path, sizeof(kit->series_path), "/tmp/ritz-sentinels-%ld.pvd", (long)getpid());
  kit->sink = fopen("/dev/null", "w");
  return kit->sink ? CEED_ERROR_SUCCESS : CEED_ERROR_MAJOR;
}

static int make_batched(Kit *kit) {
  RitzBatchedOptions options = {.B = {.n = 1}, .C = {.n = 1}};

  DO(CeedInit("/cpu/self/ref", &kit->host));
  DO(CeedSetErrorHandler(kit->host, CeedErrorStore));
  for (int i = 0; i <= RITZ_BATCHED_GESVDJ; i++) {
    const bool is_square = i == RITZ_BATCHED_GEMM || i == RITZ_BATCHED_INV || i == RITZ_BATCHED_SYRK ||
                           i == RITZ_BATCHED_COPY || i == RITZ_BATCHED_GEAM;

    options.B.n = is_square ? 0 : 1;
    options.C.n = is_square || i == RITZ_BATCHED_GESVDJ ? 0 : 1;
    DO(RitzBatchedCreate(kit->host, (RitzBatchedOperation)i, &options, &kit->batched[i]));
  }
  return RitzFrontCreate(kit->host, RITZ_FRONT_CHOLESKY, CEED_SCALAR_FP64, 1, 1, &kit->front);
}

static int make_kit(const char *resource, Kit *kit) {
  *kit = (Kit){.identity = {1, 0, 0, 1}};
  DO(CeedInit(resource, &kit->ceed));
  DO(CeedAddJitSourceRoot(kit->ceed, "include/")); // tests run in the top folder
  DO(CeedSetErrorHandler(kit->ceed, CeedErrorStore));
  DO(CeedReferenceCopy(kit->ceed, &kit->ceed_copy));
  DO(CeedGetPreferredMemType(kit->ceed, &kit->mem_type));
  DO(make_vectors(kit));
  DO(make_context(kit));
  DO(make_parts(kit));
  DO(make_operators(kit));
  DO(make_batched(kit));
  DO(RitzDenseSolverCreate(kit->host, 0, &kit->dense));
  DO(RitzDenseSolverFactor(kit->dense, NULL, 0));
  return make_mesh(kit);
}

// The first code of all; objects that are lent are refused.
static int destroy_kit(Kit *kit) {
  int ierr = kit->work ? CeedRestoreWorkVector(kit->ceed, &kit->work) : CEED_ERROR_SUCCESS;
#define DESTROY(type, handle)                                                                                \
  do {                                                                                                       \
    int code_ = type##Destroy(&(handle));                                                                    \
    if (!ierr) ierr = code_;                                                                                 \
  } while (0)
  for (int i = 0; i <= RITZ_BATCHED_GESVDJ; i++) DESTROY(RitzBatched, kit->batched[i]);
  DESTROY(RitzFront, kit->front);
  DESTROY(RitzAssembly, kit->csr);
  DESTROY(RitzDenseSolver, kit->dense);
  DESTROY(Ceed, kit->host);
  DESTROY(RitzIndices, kit->indices);
  DESTROY(RitzScalars, kit->scalars);
  DESTROY(RitzPreconditioner, kit->pc);
  DESTROY(RitzNewton, kit->newton);
  DESTROY(RitzSolver, kit->solver);
  DESTROY(RitzPartOperator, kit->part_op);
  DESTROY(RitzExchange, kit->exchange);
  DESTROY(RitzFacets, kit->facets);
  DESTROY(RitzGeometry, kit->geometry);
  DESTROY(RitzGeometry, kit->pair_geometry);
  DESTROY(RitzSpace, kit->pair_space);
  DESTROY(RitzMesh, kit->pair);
  DESTROY(RitzHierarchy, kit->hierarchy);
  DESTROY(RitzProductSpace, kit->product);
  DESTROY(RitzSpace, kit->space);
  DESTROY(RitzSpace, kit->space_with_layers);
  DESTROY(RitzSpace, kit->space_of_gradients);
  DESTROY(RitzLocator, kit->locator);
  DESTROY(RitzMesh, kit->mesh);
  DESTROY(RitzMesh, kit->mesh_with_groups);
  CeedOperator *operators[] = {&kit->composite,    &kit->op,      &kit->op_new,
                               &kit->op_at_points, &kit->op_sums, &kit->op_at_points_new};
  for (int i = 0; i < 6; i++) DESTROY(CeedOperator, *operators[i]);
  DESTROY(CeedQFunction, kit->qf);
  DESTROY(CeedQFunction, kit->qf_new);
  DESTROY(CeedQFunctionContext, kit->ctx);
  DESTROY(CeedQFunctionContext, kit->point_ctx);
  DESTROY(CeedBasis, kit->basis);
  DESTROY(CeedElemRestriction, kit->rstr);
  DESTROY(CeedElemRestriction, kit->rstr_points);
  DESTROY(CeedElemRestriction, kit->rstr_coords);
  for (int v = 0; v < 3; v++) DESTROY(CeedVector, kit->vec[v]);
  DESTROY(CeedVector, kit->coords);
  DESTROY(CeedVector, kit->matrix);
  DESTROY(CeedVector, kit->floats);
  DESTROY(Ceed, kit->ceed_copy);
  DESTROY(Ceed, kit->ceed);
#undef DESTROY
  free(kit->row_starts);
  free(kit->cols);
  if (kit->sink) fclose(kit->sink);
  unlink(kit->path);
  unlink(kit->list_path);
  unlink(kit->piece_path);
  unlink(kit->series_path);
  return ierr;
}

// Whether vectors can be written and have their values, and the other objects answer.
static bool is_intact(Kit *kit) {
  SentinelsContext *data;
  CeedScalar *array;
  CeedInt number;
  bool holds = true;
  for (int v = 0; v < 3; v++) {
    if (CeedVectorGetArray(kit->vec[v], CEED_MEM_HOST, &array)) return false;
    for (int i = 0; i < SENTINELS_NODES; i++) holds = holds && array[i] == entry(v, i);
    if (CeedVectorRestoreArray(kit->vec[v], &array)) return false;
  }
  if (CeedQFunctionContextGetData(kit->ctx, CEED_MEM_HOST, &data)) return false;
  holds = holds && data->a == 1 && data->b == 2 && data->c;
  if (CeedQFunctionContextRestoreData(kit->ctx, &data)) return false;
  if (CeedElemRestrictionGetNumElements(kit->rstr, &number) || number != 1) return false;
  if (CeedBasisGetNumNodes(kit->basis, &number) || number != SENTINELS_NODES) return false;
  return holds && !CeedOperatorCheckReady(kit->op);
}

// ---- Bad arguments ----

// Else the number of a sentinel. Numbers are tried from the largest to the smallest.
enum { BAD_NULL = -1, BAD_OTHER = -2, BAD_ADDRESS = -3, BAD_HIGH = -4, BAD_LOW = -5, BAD_LEAST = -6 };

// Fields, labels and the like have no type that could be looked at.
static bool has_class(const Slot *slot) {
  return !strstr(slot->type, "Field") && !strstr(slot->type, "Data") && !strstr(slot->type, "Contract");
}

// The next kind of bad argument of a slot, after BAD_NULL; false: that was the last one.
static bool next_bad(const Slot *slot, int *bad) {
  if (slot->kind == CHOICE || slot->kind == NUMBER) return --*bad >= BAD_LEAST;
  if (*bad == BAD_ADDRESS || slot->kind == ADDRESS_ONLY) return false;
  if (*bad == BAD_OTHER) {
    *bad = BAD_ADDRESS;
    return slot->kind == ADDRESS;
  }
  if (++*bad < sentinels_num) return true;
  *bad = has_class(slot) ? BAD_OTHER : BAD_ADDRESS;
  return has_class(slot) || slot->kind == ADDRESS;
}

static int first_bad(const Slot *slot) {
  if (slot->kind == ADDRESS_ONLY || slot->kind == PLAIN) return BAD_ADDRESS;
  return slot->kind == CHOICE ? BAD_HIGH : slot->kind == NUMBER ? BAD_LOW : BAD_NULL;
}

static void *other_object(const Kit *kit, const char *type) {
  if (!strcmp(type, "CeedObject")) return kit->mesh;
  return strcmp(type, "CeedVector") ? (void *)kit->vec[0] : (void *)kit->basis;
}

static Bad make_bad(const Kit *kit, const Slot *slot, int number, int bad) {
  if (bad <= BAD_HIGH)
    return (Bad){number, NULL, false, bad == BAD_HIGH ? 99 : bad == BAD_LOW ? -3 : INT32_MIN};
  if (bad == BAD_ADDRESS) return (Bad){number, NULL, true, 0};
  if (bad == BAD_OTHER) return (Bad){number, other_object(kit, slot->type), false, 0};
  return (Bad){number, bad == BAD_NULL ? NULL : *sentinels_list[bad].handle, false, 0};
}

static const char *bad_name(int bad) {
  if (bad == BAD_ADDRESS) return "a NULL address";
  if (bad == BAD_OTHER) return "an object of another type";
  if (bad == BAD_HIGH) return "99";
  if (bad == BAD_LOW) return "-3";
  if (bad == BAD_LEAST) return "the smallest number";
  return bad == BAD_NULL ? "NULL" : sentinels_list[bad].name;
}

static bool has_word(const char *list, const char *word) {
  const size_t length = strlen(word);
  for (const char *at = list; (at = strstr(at, word)); at += length) {
    if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length])) return true;
  }
  return false;
}

// The row of `legal` that allows this, or -1.
static int legal_row(const Call *call, const Slot *slot, int bad) {
  const char *word = bad <= BAD_HIGH                                 ? "NUMBER"
                     : bad == BAD_ADDRESS                            ? "ADDRESS"
                     : bad == BAD_OTHER                              ? "OTHER"
                     : bad == BAD_NULL                               ? "NULL"
                     : !strcmp(sentinels_list[bad].type, slot->type) ? "OWN"
                                                                     : "FOREIGN";
  for (int i = 0; i < NUM_LEGAL; i++) {
    if (fnmatch(legal[i].function, call->name, 0) || fnmatch(legal[i].slot, slot->name, 0)) continue;
    // Rows about addresses of handles.
    if ((slot->kind == HANDLE || slot->kind == PLAIN) && has_word(legal[i].values, "ADDRESS")) continue;
    if (has_word(legal[i].values, word)) return i;
    if (bad >= 0 && has_word(legal[i].values, sentinels_list[bad].name)) return i;
  }
  return -1;
}

// ---- The child ----

static const char no_message[] = "No error message stored";

enum { MAX_COMPLAINTS = 40 };

// Written by the child, read by the parent.
typedef struct {
  int call, slot, bad;      // what is done now; slot -1: with valid arguments
  int num_calls, num_legal; // done so far
  bool is_done;
  bool is_used[NUM_LEGAL]; // rows of `legal`
  int num_complaints;
  char complaints[MAX_COMPLAINTS][200];
} Progress;

static void complain(Progress *p, const char *what, int code) {
  const Call *call = &sentinels_calls[p->call];
  char *text = p->complaints[p->num_complaints < MAX_COMPLAINTS ? p->num_complaints : MAX_COMPLAINTS - 1];
  p->num_complaints++;
  if (p->slot < 0) {
    snprintf(text, sizeof(p->complaints[0]), "%s: valid arguments %s %d", call->name, what, code);
  } else {
    snprintf(text, sizeof(p->complaints[0]), "%s: %s as '%s' %s %d", call->name, bad_name(p->bad),
             call->slots[p->slot].name, what, code);
  }
}

static int call_with(Kit *kit, const Call *call, const Bad *bad) {
  static Scratch scratch[16];
  memset(scratch, 0, sizeof(scratch));
  alarm(60); // kernels may be compiled
  return call->call(kit, scratch, bad);
}

static int renew(const char *resource, Kit *kit, Progress *p, bool was_refused) {
  int code = destroy_kit(kit);
  if (code && was_refused) complain(p, "leaves objects that cannot be destroyed:", code);
  return make_kit(resource, kit);
}

static bool is_refusing(const Call *call) {
  for (int i = 0; i < NUM_REFUSING; i++) {
    if (!fnmatch(refusing[i].function, call->name, 0)) return true;
  }
  return false;
}

static int try_valid(const char *resource, Kit *kit, Progress *p) {
  const Call *call = &sentinels_calls[p->call];
  if (is_refusing(call)) return CEED_ERROR_SUCCESS;
  int code = call_with(kit, call, &(Bad){.slot = -1});
  p->num_calls++;
  if (code) complain(p, "are refused:", code);
  return renew(resource, kit, p, false);
}

// Whether the call has a context to report to: another object, or this one. Objects behind addresses and
// fields do not count. Functions that answer without a code do not report.
static bool has_context(const Call *call, const Progress *p) {
  if (!strncmp(call->name, "CeedError", 9) || strstr(call->name, "ReturnCeed")) return false;
  if (p->bad == BAD_OTHER) return true;
  for (int i = 0; i < call->num_slots; i++) {
    const Slot *slot = &call->slots[i];
    if (i != p->slot && slot->kind == HANDLE && has_class(slot) && !strstr(slot->name, "->")) return true;
  }
  return false;
}

// A message, where there is a context to report to, tells call and fault.
static bool names_fault(Kit *kit, const Call *call, const Progress *p) {
  const int bad = p->bad;
  const bool is_value = call->slots[p->slot].kind > ADDRESS_ONLY;
  const char *message, *fault = bad >= 0           ? sentinels_list[bad].name
                                : bad == BAD_OTHER ? " a Ceed"
                                : bad <= BAD_HIGH  ? ""
                                                   : "NULL";
  CeedGetErrorMessage(kit->ceed, &message);
  if (!strcmp(message, no_message)) CeedGetErrorMessage(kit->host, &message);
  if (!strcmp(message, no_message)) return !has_context(call, p) || (is_refusing(call) && is_value);
  if (is_value) return true; // the call may be refused for something else
  const bool is_alias = !strncmp(call->name, "CeedComposite", 13); // of a newer name
  return (is_alias || strstr(message, call->name)) && strstr(message, fault);
}

// Other pointers than handles may have a meaning as NULL, and numbers as negative ones: such calls may
// succeed or be refused, as the headers say.
static bool must_be_refused(const Slot *slot) {
  const bool is_count = !strncmp(slot->name, "num", 3) || !strncmp(slot->name, "len", 3) ||
                        strstr(slot->name, "count") || strstr(slot->name, "size");
  return slot->kind != PLAIN && (slot->kind != NUMBER || is_count);
}

static int try_bad(const char *resource, Kit *kit, Progress *p) {
  const Call *call = &sentinels_calls[p->call];
  const Slot *slot = &call->slots[p->slot];
  const int row = legal_row(call, slot, p->bad);
  const Bad bad = make_bad(kit, slot, p->slot, p->bad);
  const char *message;
  CeedResetErrorMessage(kit->ceed, &message);
  CeedResetErrorMessage(kit->host, &message);
  // Without a handler that returns the call ends the program, unless it reports to a context.
  if (has_context(call, p))
    unsetenv("CEED_ERROR_HANDLER");
  else
    setenv("CEED_ERROR_HANDLER", "return", 1);
  int code = call_with(kit, call, &bad);
  p->num_calls++;
  if (row >= 0) {
    p->num_legal++;
    p->is_used[row] = true;
    if (code) complain(p, "is legal, yet refused:", code);
    return renew(resource, kit, p, false);
  }
  if (!code && must_be_refused(slot)) complain(p, "is taken:", code);
  if (code && !names_fault(kit, call, p)) complain(p, "is refused by a message that does not tell:", code);
  if (code && !is_intact(kit)) complain(p, "is refused, but damages others:", code);
  return code ? CEED_ERROR_SUCCESS : renew(resource, kit, p, false);
}

// From the place that the progress names to the end.
static int run_calls(const char *resource, Progress *p) {
  Kit kit;
  DO(make_kit(resource, &kit));
  while (p->call < sentinels_num_calls) {
    const Call *call = &sentinels_calls[p->call];
    if (p->slot < 0 && !ends_program(call->name)) {
      DO(try_valid(resource, &kit, p));
    } else if (!ends_program(call->name)) {
      DO(try_bad(resource, &kit, p));
    }
    if (p->slot >= 0 && next_bad(&call->slots[p->slot], &p->bad)) continue;
    if (++p->slot < call->num_slots) {
      p->bad = first_bad(&call->slots[p->slot]);
      continue;
    }
    p->slot--;
    if (!ends_program(call->name)) DO(renew(resource, &kit, p, true));
    p->call++;
    p->slot = -1;
  }
  p->is_done = true;
  return destroy_kit(&kit);
}

static Progress *map_progress(const char *path) {
  int file = open(path, O_RDWR);
  if (file < 0) return NULL;
  void *progress = mmap(NULL, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return progress == MAP_FAILED ? NULL : progress;
}

// ---- The parent ----

// A child that was killed goes on behind the call that killed it. Its stderr is of no interest unless one
// looks for that call's fault: run it by hand.
static int run_child(const char *self, const char *resource, const char *path) {
  int status = -1;
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    if (!getenv("RITZ_TEST_SENTINELS_LOUD")) dup2(null, STDERR_FILENO);
    setenv("RITZ_TUNE", "off", 1);
    execl("/proc/self/exe", self, "--calls", resource, path, (char *)NULL);
    _exit(99);
  }
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

static void skip_bad(Progress *p) {
  const Call *call = &sentinels_calls[p->call];
  if (p->slot >= 0 && next_bad(&call->slots[p->slot], &p->bad)) return;
  if (++p->slot < call->num_slots) {
    p->bad = first_bad(&call->slots[p->slot]);
    return;
  }
  p->call++;
  p->slot = -1;
}

static void check_backend(const char *resource) {
  enum { MAX_DEATHS = 30 };
  char path[] = "/tmp/ritz-sentinels-XXXXXX";
  int file = mkstemp(path), num_deaths = 0;
  CHECK(file >= 0 && !ftruncate(file, sizeof(Progress)), "a file for the child");
  close(file);
  Progress *p = map_progress(path);
  CHECK(p, "the file is mapped");
  p->slot = -1;
  while (!p->is_done && num_deaths < MAX_DEATHS && p->call < sentinels_num_calls) {
    int status = run_child("test-sentinels", resource, path);
    if (p->is_done) break;
    num_deaths++;
    complain(p, WIFSIGNALED(status) ? "ends the program by signal" : "ends the program, status",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    skip_bad(p);
  }
  const Progress result = *p;
  munmap(p, sizeof(Progress));
  unlink(path);
  tap_note("%s: %d calls of %d functions (of %d), %d of them legal", resource, result.num_calls,
           sentinels_num_calls, sentinels_num_functions, result.num_legal);
  for (int i = 0; i < result.num_complaints && i < MAX_COMPLAINTS; i++) tap_note("%s", result.complaints[i]);
  CHECK(result.num_complaints == 0, "%d calls", result.num_complaints);
  CHECK(result.is_done, "the child comes to the end");
  for (int i = 0; i < NUM_LEGAL; i++) {
    CHECK(result.is_used[i], "no call is like this: %s, %s", legal[i].function, legal[i].slot);
  }
}

// CeedInit makes the classes known: this comes before the first one.
TEST(handles_are_checked_before_the_first_context) {
  void *const foreign[16] = {NULL, &CeedErrorTypes};
  CeedVector none = CEED_VECTOR_NONE, no_vector = (CeedVector)foreign;
  CeedObject object = (CeedObject)CEED_BASIS_NONE, no_object = (CeedObject)&foreign[1];

  CHECK_OK(CeedVectorDestroy(&none));
  CHECK_OK(CeedObjectDestroy(&object));
  CHECK(!none && !object, "sentinels leave their variables");
  CHECK(CeedVectorDestroy(&no_vector) == CEED_ERROR_INCOMPATIBLE, "no object");
  CHECK(CeedObjectDestroy(&no_object) == CEED_ERROR_INCOMPATIBLE, "no object");
  CHECK(CeedError((Ceed)foreign, CEED_ERROR_MINOR, "to nobody") == CEED_ERROR_MINOR, "no context");
}

TEST(what_is_no_object_is_refused_and_spoils_nothing) {
  size_t n;
  const char *const *backends = tap_backends(&n);
  // Calls are checked above the backends: every third of them, from level full on all.
  for (size_t i = 0; i < n; i += tap_level() == TAP_QUICK ? 3 : 1) {
    check_backend(backends[i]);
    if (tap_failed()) return;
  }
}

int main(int argc, char **argv) {
  if (argc == 4 && !strcmp(argv[1], "--calls")) {
    Progress *progress = map_progress(argv[3]);
    _exit(progress ? run_calls(argv[2], progress) != 0 : 2); // what calls have made is left behind
  }
  return tap_main(argc, argv,
                  TESTS(handles_are_checked_before_the_first_context,
                        what_is_no_object_is_refused_and_spoils_nothing));
}
