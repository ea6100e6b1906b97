// SPDX-License-Identifier: BSD-2-Clause
// Point-block Jacobi: z = B r with the inverses B of the num_comp x num_comp blocks of nodes, rows and
// columns of constrained entries dropped. Inversion and product are operators (point functions in
// ritz/jit-source/solver/point-block.h, one node an "element"), so that both run where the vectors live, in
// their precision. Called by programs and by multigrid.
#include "core/qfunction-clones.h"

#include <ritz/jit-source/solver/point-block.h>
#include <string.h>

#include "core/apply-hooks.h"
#include "solver/preconditioner.h"

// Where component c of a node stands: node * node_stride + c * comp_stride.
typedef struct {
  CeedInt num_comp;
  CeedSize num_nodes, node_stride, comp_stride;
} Nodes;

typedef struct {
  CeedOperator op;   // owned: r -> z; NULL: a part of a larger problem without nodes
  CeedVector blocks; // owned: inverses, [num_nodes][num_comp][num_comp]
  Nodes nodes;
  // What updates read, counted; NULL: none.
  CeedOperator source;           // has the blocks
  RitzAssembleFunction assemble; // instead of source
  void *ctx;                     // borrowed, of assemble
  RitzIndices constraints;
} PointBlocks;

// ---- Operators: their point functions run where the vectors live ----

typedef struct {
  CeedQFunctionUser function;
  const char *location;
} PointFunction;

// Products of blocks of 2, 3 and any number of components.
static const PointFunction products[] = {{ritz_point_block_2, ritz_point_block_2_loc},
                                         {ritz_point_block_3, ritz_point_block_3_loc},
                                         {ritz_point_block_any, ritz_point_block_any_loc}};
static const PointFunction inversions[] = {{ritz_point_block_invert_2, ritz_point_block_invert_2_loc},
                                           {ritz_point_block_invert_3, ritz_point_block_invert_3_loc},
                                           {ritz_point_block_invert_any, ritz_point_block_invert_any_loc}};

// The function for num_comp components, without fields.
static int create_qfunction(Ceed ceed, const PointFunction functions[], CeedInt num_comp,
                            CeedScalarType precision, CeedQFunction *qf) {
  const PointFunction *f = &functions[num_comp == 2 || num_comp == 3 ? num_comp - 2 : 2];
  RitzPointBlockContext data = {num_comp, precision == CEED_SCALAR_FP32};
  CeedQFunctionContext ctx = NULL;

  RITZ_TRY(CeedQFunctionCreateInterior(ceed, 1, f->function, strstr(f->location, "ritz/jit-source"), qf));
  RITZ_TRY(CeedQFunctionContextCreate(ceed, &ctx));
  int ierr = CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(data), &data);
  if (!ierr) ierr = CeedQFunctionSetContext(*qf, ctx);
  if (!ierr) ierr = CeedQFunctionSetContextWritable(*qf, false);
  return ritz_first_error(ierr, CeedQFunctionContextDestroy(&ctx));
}

// Restrictions of vectors of nodes, and of `num` numbers for each node.
static int create_restrictions(Ceed ceed, const Nodes *nodes, CeedInt num, CeedElemRestriction *rstr,
                               CeedElemRestriction *rstr_numbers) {
  const CeedInt n = nodes->num_comp, num_nodes = (CeedInt)nodes->num_nodes;
  const CeedInt strides[3] = {1, (CeedInt)nodes->comp_stride, (CeedInt)nodes->node_stride};
  const CeedInt number_strides[3] = {1, 1, num};

  RITZ_TRY(CeedElemRestrictionCreateStrided(ceed, num_nodes, 1, n, nodes->num_nodes * n, strides, rstr));
  return CeedElemRestrictionCreateStrided(ceed, num_nodes, 1, num, nodes->num_nodes * num, number_strides,
                                          rstr_numbers);
}

static int create_product(Ceed ceed, const Nodes *nodes, CeedScalarType precision, PointBlocks *data) {
  const CeedInt n = nodes->num_comp;
  CeedElemRestriction rstr = NULL, rstr_blocks = NULL;
  CeedQFunction qf = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(create_qfunction(ceed, products, n, precision, &qf));
  RITZ_TRY_CLEANUP(CeedQFunctionAddInput(qf, "r", n, CEED_EVAL_NONE));
  RITZ_TRY_CLEANUP(CeedQFunctionAddInput(qf, "block", n * n, CEED_EVAL_NONE));
  RITZ_TRY_CLEANUP(CeedQFunctionAddOutput(qf, "z", n, CEED_EVAL_NONE));
  RITZ_TRY_CLEANUP(CeedQFunctionSetUserFlopsEstimate(qf, 2 * (CeedSize)n * n));
  RITZ_TRY_CLEANUP(create_restrictions(ceed, nodes, n * n, &rstr, &rstr_blocks));
  RITZ_TRY_CLEANUP(CeedOperatorCreate(ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &data->op));
  RITZ_TRY_CLEANUP(CeedOperatorSetField(data->op, "r", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  RITZ_TRY_CLEANUP(CeedOperatorSetField(data->op, "block", rstr_blocks, CEED_BASIS_NONE, data->blocks));
  RITZ_TRY_CLEANUP(CeedOperatorSetField(data->op, "z", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  RITZ_TRY_CLEANUP(CeedOperatorSetName(data->op, "point blocks"));
  RITZ_TRY_CLEANUP(RitzOperatorSetPrecision(data->op, precision));
cleanup:
  ierr = ritz_first_error(ierr, CeedQFunctionDestroy(&qf));
  ierr = ritz_first_error(ierr, CeedElemRestrictionDestroy(&rstr));
  return ritz_first_error(ierr, CeedElemRestrictionDestroy(&rstr_blocks));
}

// ---- Inverses of blocks ----

// blocks -> marks of nodes whose block is not positive definite; inverses: filled, too. Used once.
static int create_inversion(Ceed ceed, const Nodes *nodes, CeedVector is_free, CeedVector inverses,
                            CeedOperator *op) {
  const CeedInt n = nodes->num_comp;
  CeedElemRestriction rstr = NULL, rstr_blocks = NULL, rstr_marks = NULL;
  CeedQFunction qf = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(create_qfunction(ceed, inversions, n, inverses->precision, &qf));
  RITZ_TRY_CLEANUP(CeedQFunctionAddInput(qf, "block", n * n, CEED_EVAL_NONE));
  RITZ_TRY_CLEANUP(CeedQFunctionAddInput(qf, "is free", n, CEED_EVAL_NONE));
  RITZ_TRY_CLEANUP(CeedQFunctionAddOutput(qf, "inverse", n * n, CEED_EVAL_NONE));
  RITZ_TRY_CLEANUP(CeedQFunctionAddOutput(qf, "is bad", 1, CEED_EVAL_NONE));
  RITZ_TRY_CLEANUP(CeedQFunctionSetUserFlopsEstimate(qf, 2 * (CeedSize)n * n * n));
  RITZ_TRY_CLEANUP(create_restrictions(ceed, nodes, n * n, &rstr, &rstr_blocks));
  RITZ_TRY_CLEANUP(CeedElemRestrictionCreateStrided(ceed, (CeedInt)nodes->num_nodes, 1, 1, nodes->num_nodes,
                                                    (CeedInt[]){1, 1, 1}, &rstr_marks));
  RITZ_TRY_CLEANUP(CeedOperatorCreate(ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, op));
  RITZ_TRY_CLEANUP(CeedOperatorSetField(*op, "block", rstr_blocks, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  RITZ_TRY_CLEANUP(CeedOperatorSetField(*op, "is free", rstr, CEED_BASIS_NONE, is_free));
  RITZ_TRY_CLEANUP(CeedOperatorSetField(*op, "inverse", rstr_blocks, CEED_BASIS_NONE, inverses));
  RITZ_TRY_CLEANUP(CeedOperatorSetField(*op, "is bad", rstr_marks, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  RITZ_TRY_CLEANUP(CeedOperatorSetName(*op, "inverses of point blocks"));
  RITZ_TRY_CLEANUP(RitzOperatorSetPrecision(*op, inverses->precision));
  RITZ_TRY_CLEANUP(RitzOperatorSetUse(*op, RITZ_USE_ONCE));
cleanup:
  ierr = ritz_first_error(ierr, CeedQFunctionDestroy(&qf));
  ierr = ritz_first_error(ierr, CeedElemRestrictionDestroy(&rstr));
  ierr = ritz_first_error(ierr, CeedElemRestrictionDestroy(&rstr_blocks));
  return ritz_first_error(ierr, CeedElemRestrictionDestroy(&rstr_marks));
}

// The first entry of `marks`, CeedScalars, that is not zero; -1: none.
static int find_mark(CeedVector marks, int64_t *first) {
  const CeedScalar *array = NULL;
  CeedScalar largest = 0;
  CeedSize i = 0;

  *first = -1;
  RITZ_TRY(CeedVectorNorm(marks, CEED_NORM_MAX, &largest));
  if (largest == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(CeedVectorGetArrayRead(marks, CEED_MEM_HOST, &array));
  while (array[i] == 0) i++;
  *first = i;
  return CeedVectorRestoreArrayRead(marks, &array);
}

// inverses of the operator's blocks. *bad_node: one that is not positive definite; -1: none.
static int invert_point_blocks(Ceed ceed, const Nodes *nodes, RitzIndices constraints, CeedVector assembled,
                               CeedVector inverses, int64_t *bad_node) {
  CeedVector is_free = NULL, marks = NULL;
  CeedOperator op = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(RitzVectorCreate(ceed, nodes->num_nodes * nodes->num_comp, inverses->precision, &is_free));
  RITZ_TRY_CLEANUP(CeedVectorSetValue(is_free, 1));
  RITZ_TRY_CLEANUP(RitzVectorSetEntries(is_free, constraints, 0));
  RITZ_TRY_CLEANUP(CeedVectorCreate(ceed, nodes->num_nodes, &marks));
  RITZ_TRY_CLEANUP(create_inversion(ceed, nodes, is_free, inverses, &op));
  RITZ_TRY_CLEANUP(CeedOperatorApply(op, assembled, marks, CEED_REQUEST_IMMEDIATE));
  RITZ_TRY_CLEANUP(find_mark(marks, bad_node));
cleanup:
  ierr = ritz_first_error(ierr, CeedOperatorDestroy(&op));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&is_free));
  return ritz_first_error(ierr, CeedVectorDestroy(&marks));
}

// ---- New values ----

// Refuses a bad node of any part of a larger problem; a node of another part has no number in this one.
static int require_definite(Ceed ceed, const char *call, int64_t bad_node) {
  double is_bad = bad_node >= 0;

  RITZ_TRY(ritz_reduce(ceed, RITZ_REDUCTION_MAX, 1, &is_bad));
  RITZ_REQUIRE(bad_node < 0, ceed, CEED_ERROR_MAJOR,
               "%s: the block of node %lld is not positive definite on its free components", call,
               (long long)bad_node);
  RITZ_REQUIRE(is_bad == 0, ceed, CEED_ERROR_MAJOR,
               "%s: the block of a node in another part is not positive definite on its free components",
               call);
  return CEED_ERROR_SUCCESS;
}

// data->blocks of the assembled ones.
static int renew(Ceed ceed, const char *call, RitzIndices constraints, CeedVector assembled,
                 const PointBlocks *data) {
  int64_t bad_node = -1;

  if (data->nodes.num_nodes > 0)
    RITZ_TRY(invert_point_blocks(ceed, &data->nodes, constraints, assembled, data->blocks, &bad_node));
  return require_definite(ceed, call, bad_node);
}

// *blocks: a new vector, in the precision of the kernel that is prepared for the apply.
static int assemble_blocks(CeedOperator op, CeedSize length, CeedVector *blocks) {
  CeedScalarType precision = CEED_SCALAR_TYPE;

  RITZ_TRY(RitzOperatorGetPrecision(op, &precision));
  RITZ_TRY(RitzVectorCreate(op->obj.ceed, length, precision, blocks));
  return CeedOperatorLinearAssemblePointBlockDiagonal(op, *blocks, CEED_REQUEST_IMMEDIATE);
}

// The blocks of a function, in this precision.
static int assemble_by_function(const PointBlocks *data, Ceed ceed, CeedScalarType precision,
                                CeedVector *blocks) {
  const Nodes *nodes = &data->nodes;

  RITZ_TRY(RitzVectorCreate(ceed, nodes->num_nodes * nodes->num_comp * nodes->num_comp, precision, blocks));
  return data->assemble(data->ctx, *blocks);
}

static int update_point_blocks(RitzPreconditioner pc) {
  const PointBlocks *data = pc->data;
  CeedVector assembled = NULL;
  int ierr = data->source ? assemble_blocks(data->source, data->blocks->length, &assembled)
                          : assemble_by_function(data, pc->ceed, pc->precision, &assembled);

  if (!ierr) ierr = renew(pc->ceed, "point-block Jacobi", data->constraints, assembled, data);
  return ritz_first_error(ierr, CeedVectorDestroy(&assembled));
}

// ---- The preconditioner ----

static int apply_point_blocks(RitzPreconditioner pc, CeedVector r, CeedVector z) {
  const PointBlocks *data = pc->data;
  return data->op ? CeedOperatorApply(data->op, r, z, CEED_REQUEST_IMMEDIATE) : CEED_ERROR_SUCCESS;
}

static int view_point_blocks(RitzPreconditioner pc, FILE *stream, int indent) {
  const PointBlocks *data = pc->data;
  fprintf(stream, "%*spoint-block Jacobi, blocks of %" CeedInt_FMT "\n", indent, "", data->nodes.num_comp);
  return CEED_ERROR_SUCCESS;
}

static int64_t point_blocks_bytes(RitzPreconditioner pc) {
  const PointBlocks *data = pc->data;
  return (int64_t)pc->n * data->nodes.num_comp * (int64_t)ritz_scalar_bytes(pc->precision);
}

static int point_blocks_work(RitzPreconditioner pc, RitzSmoothingWork *work) {
  const PointBlocks *data = pc->data;
  CeedSize flops = 0;

  if (data->op) RITZ_TRY(CeedOperatorGetFlopsEstimate(data->op, &flops));
  work->flops = (double)flops;
  return CEED_ERROR_SUCCESS;
}

static int free_point_blocks(PointBlocks *data) {
  int ierr = CeedOperatorDestroy(&data->op);

  ierr = ritz_first_error(ierr, CeedVectorDestroy(&data->blocks));
  ierr = ritz_first_error(ierr, CeedOperatorDestroy(&data->source));
  ierr = ritz_first_error(ierr, RitzIndicesDestroy(&data->constraints));
  RITZ_FREE(&data);
  return ierr;
}

static int destroy_point_blocks(RitzPreconditioner pc) { return free_point_blocks(pc->data); }

static const RitzPreconditionerMethods point_block_methods = {.name = "point-block Jacobi",
                                                              .apply = apply_point_blocks,
                                                              .view = view_point_blocks,
                                                              .bytes = point_blocks_bytes,
                                                              .work = point_blocks_work,

                                                              .update = update_point_blocks,
                                                              .destroy = destroy_point_blocks};

// The nodes of the active field: components side by side, or one after the other.
static int find_nodes(CeedOperator op, const char *call, CeedSize n, Nodes *nodes) {
  CeedElemRestriction rstr = NULL;
  CeedInt comp_stride = 0;
  CeedOperator part = op;

  while (part->is_composite && part->num_sub > 0) part = part->sub[0];
  RITZ_TRY(CeedOperatorGetActiveElemRestriction(part, &rstr));
  int ierr = CeedElemRestrictionGetNumComponents(rstr, &nodes->num_comp);
  if (!ierr) ierr = CeedElemRestrictionGetCompStride(rstr, &comp_stride);
  RITZ_TRY(ritz_first_error(ierr, CeedElemRestrictionDestroy(&rstr)));
  nodes->num_nodes = n / nodes->num_comp;
  const bool is_interlaced = comp_stride == 1 || nodes->num_comp == 1;
  nodes->comp_stride = is_interlaced ? 1 : comp_stride;
  nodes->node_stride = is_interlaced ? nodes->num_comp : 1;
  RITZ_REQUIRE(n % nodes->num_comp == 0 && (is_interlaced || comp_stride == nodes->num_nodes) &&
                   nodes->num_comp <= RITZ_POINT_BLOCK_MAX && nodes->num_nodes <= INT32_MAX,
               op->obj.ceed, CEED_ERROR_UNSUPPORTED,
               "%s: %" CeedInt_FMT " components with a stride of %" CeedInt_FMT
               " in an L-vector of %" CeedSize_FMT
               " entries: possible are 1 to %d components, side by side or one after the other, that fill it",
               call, nodes->num_comp, comp_stride, n, RITZ_POINT_BLOCK_MAX);
  return CEED_ERROR_SUCCESS;
}

// data->nodes is known. The preconditioner owns data, whatever happens.
static int finish_point_blocks(Ceed ceed, const char *call, CeedVector assembled, RitzIndices constraints,
                               PointBlocks *data, RitzPreconditioner *pc) {
  const Nodes *nodes = &data->nodes;
  int ierr;

  if (constraints) RITZ_TRY_CLEANUP(RitzIndicesReferenceCopy(constraints, &data->constraints));
  RITZ_TRY_CLEANUP(RitzVectorCreate(ceed, assembled->length, assembled->precision, &data->blocks));
  RITZ_TRY_CLEANUP(renew(ceed, call, constraints, assembled, data));
  if (nodes->num_nodes > 0) RITZ_TRY_CLEANUP(create_product(ceed, nodes, assembled->precision, data));
  ierr = ritz_preconditioner_create(ceed, call, nodes->num_nodes * nodes->num_comp, assembled->precision,
                                    &point_block_methods, data, true, pc);
cleanup:
  return ierr ? ritz_first_error(ierr, free_point_blocks(data)) : CEED_ERROR_SUCCESS;
}

int ritz_point_blocks_create(Ceed ceed, const char *call, CeedInt num_comp, CeedSize n,
                             CeedScalarType precision, RitzAssembleFunction assemble, void *ctx,
                             RitzIndices constraints, RitzPreconditioner *pc) {
  const Nodes nodes = {
      .num_comp = num_comp, .num_nodes = n / num_comp, .node_stride = num_comp, .comp_stride = 1};
  PointBlocks *data = NULL;
  CeedVector assembled = NULL;

  RITZ_REQUIRE(num_comp <= RITZ_POINT_BLOCK_MAX && nodes.num_nodes <= INT32_MAX, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: point blocks of %" CeedInt_FMT " components at %" CeedSize_FMT
               " nodes: possible are 1 to %d components",
               call, num_comp, nodes.num_nodes, RITZ_POINT_BLOCK_MAX);
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &data));
  *data = (PointBlocks){.nodes = nodes, .assemble = assemble, .ctx = ctx};
  int ierr = assemble_by_function(data, ceed, precision, &assembled);

  ierr = ierr ? ritz_first_error(ierr, free_point_blocks(data))
              : finish_point_blocks(ceed, call, assembled, constraints, data, pc);
  return ritz_first_error(ierr, CeedVectorDestroy(&assembled));
}

int RitzPreconditionerCreatePointBlockJacobi(CeedOperator op, RitzIndices constraints,
                                             RitzPreconditioner *pc) {
  const char *call = "RitzPreconditionerCreatePointBlockJacobi";
  PointBlocks *data = NULL;
  CeedVector assembled = NULL;
  CeedSize n = 0;
  Nodes nodes;

  RITZ_HANDLE(op, constraints);
  Ceed ceed = op->obj.ceed;
  RITZ_OPTIONAL(ceed, constraints);
  RITZ_REQUIRE(pc != NULL, ceed, CEED_ERROR_INCOMPATIBLE, "%s: argument 'pc' is NULL", call);
  RITZ_TRY(ritz_operator_square_length(op, call, &n));
  RITZ_TRY(ritz_check_constraints(ceed, call, constraints, n));
  RITZ_TRY(find_nodes(op, call, n, &nodes));
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &data));
  data->nodes = nodes;
  int ierr = CeedOperatorReferenceCopy(op, &data->source);

  if (!ierr) ierr = assemble_blocks(op, n * nodes.num_comp, &assembled);
  ierr = ierr ? ritz_first_error(ierr, free_point_blocks(data))
              : finish_point_blocks(ceed, call, assembled, constraints, data, pc);
  return ritz_first_error(ierr, CeedVectorDestroy(&assembled));
}
