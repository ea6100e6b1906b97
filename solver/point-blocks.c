// SPDX-License-Identifier: BSD-2-Clause
// Point-block Jacobi: z = B r with the inverses B of the num_comp x num_comp blocks of nodes, rows and
// columns of constrained entries dropped. Blocks are factorized on the host once; the product is an operator
// (point function in ritz/jit-source/solver/point-block.h, one node an "element"), so that it runs where the
// vectors live, in their precision. Called by programs and by multigrid.
#include <float.h>
#include <math.h>
#include <ritz/jit-source/solver/point-block.h>
#include <string.h>

#include "core/apply-hooks.h"
#include "solver/preconditioner.h"

enum { MAX_COMP = 16 };

typedef struct {
  CeedOperator op;   // owned: r -> z
  CeedVector blocks; // owned: inverses, [num_nodes][num_comp][num_comp]
  CeedInt num_comp;
} PointBlocks;

// Where component c of a node stands: node * node_stride + c * comp_stride.
typedef struct {
  CeedInt num_comp;
  CeedSize num_nodes, node_stride, comp_stride;
} Nodes;

// ---- Blocks, on the host ----

// What a slot of the loop over nodes has met: a node whose block is not positive definite; -1: none.
typedef struct {
  const void *assembled;
  void *inverse;
  CeedScalarType precision; // of both
  const Nodes *nodes;
  const uint8_t *is_constrained; // [num_nodes * num_comp], by nodes; NULL: none
  int64_t *bad_node;             // [num_slots]
} Inversion;

// The inverse of the symmetric part of a on the free components, zeros elsewhere, by Cholesky factorization:
// a = L L^T, columns of the inverse by two substitutions. epsilon: of the entries' precision. Returns whether
// it is positive definite.
static bool invert_block(int n, const double *a, double epsilon, const uint8_t *is_constrained,
                         double *inverse) {
  double l[MAX_COMP][MAX_COMP];
  int free[MAX_COMP], num = 0;

  for (int i = 0; i < n; i++) {
    if (!is_constrained || !is_constrained[i]) free[num++] = i;
  }
  memset(inverse, 0, (size_t)n * (size_t)n * sizeof(*inverse));
  for (int i = 0; i < num; i++) {
    for (int j = 0; j <= i; j++) {
      double sum = (a[free[i] * n + free[j]] + a[free[j] * n + free[i]]) / 2;
      for (int k = 0; k < j; k++) sum -= l[i][k] * l[j][k];
      // A pivot that is all rounding is none.
      if (i == j && (!(sum > 4 * epsilon * fabs(a[free[i] * n + free[i]])) || !isfinite(sum))) return false;
      l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
    }
  }
  for (int c = 0; c < num; c++) {
    double column[MAX_COMP];
    for (int i = 0; i < num; i++) {
      column[i] = i == c;
      for (int k = 0; k < i; k++) column[i] -= l[i][k] * column[k];
      column[i] /= l[i][i];
    }
    for (int i = num - 1; i >= 0; i--) {
      for (int k = i + 1; k < num; k++) column[i] -= l[k][i] * column[k];
      column[i] /= l[i][i];
      inverse[free[i] * n + free[c]] = column[i];
    }
  }
  return true;
}

static void invert_blocks(void *data, int slot, int64_t first, int64_t count) {
  const Inversion *pass = data;
  const int n = pass->nodes->num_comp, size = n * n;
  const bool is_single = pass->precision == CEED_SCALAR_FP32;
  const double epsilon = is_single ? FLT_EPSILON : DBL_EPSILON;
  double block[MAX_COMP * MAX_COMP], inverse[MAX_COMP * MAX_COMP];

  for (int64_t node = first; node < first + count; node++) {
    const uint8_t *is_constrained = pass->is_constrained ? &pass->is_constrained[node * n] : NULL;
    for (int i = 0; i < size; i++) {
      block[i] = is_single ? ((const float *)pass->assembled)[node * size + i]
                           : ((const double *)pass->assembled)[node * size + i];
    }
    if (!invert_block(n, block, epsilon, is_constrained, inverse)) {
      if (pass->bad_node[slot] < 0 || node < pass->bad_node[slot]) pass->bad_node[slot] = node;
      continue;
    }
    for (int i = 0; i < size; i++) {
      if (is_single)
        ((float *)pass->inverse)[node * size + i] = (float)inverse[i];
      else
        ((double *)pass->inverse)[node * size + i] = inverse[i];
    }
  }
}

static int mark_constrained(Ceed ceed, const Nodes *nodes, RitzIndices constraints, uint8_t **marks) {
  const int64_t *entries = NULL;
  int64_t num = 0;

  if (!constraints) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RitzIndicesGet(constraints, &num, &entries));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)nodes->num_nodes * (size_t)nodes->num_comp, marks));
  for (int64_t i = 0; i < num; i++) {
    const bool is_interlaced = nodes->comp_stride == 1;
    const int64_t node = is_interlaced ? entries[i] / nodes->num_comp : entries[i] % nodes->comp_stride;
    const int64_t comp = is_interlaced ? entries[i] % nodes->num_comp : entries[i] / nodes->comp_stride;
    (*marks)[node * nodes->num_comp + comp] = 1;
  }
  return CEED_ERROR_SUCCESS;
}

static int run_inversion(Ceed ceed, Inversion *pass, int64_t *bad_node) {
  int num_slots = 1;

  *bad_node = -1;
  RITZ_TRY(ritz_run_ranges_slots(ceed, &num_slots));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num_slots, &pass->bad_node));
  for (int s = 0; s < num_slots; s++) pass->bad_node[s] = -1;
  const int ierr = ritz_run_ranges(ceed, pass->nodes->num_nodes, invert_blocks, pass);
  for (int s = 0; s < num_slots; s++) {
    const int64_t bad = pass->bad_node[s];
    if (bad >= 0 && (*bad_node < 0 || bad < *bad_node)) *bad_node = bad;
  }
  RITZ_FREE(&pass->bad_node);
  return ierr;
}

// data->blocks from the blocks of the operator. *bad_node: one that is not positive definite; -1: none.
static int invert(Ceed ceed, const Nodes *nodes, RitzIndices constraints, CeedVector assembled,
                  PointBlocks *data, int64_t *bad_node) {
  Inversion pass = {.nodes = nodes, .precision = data->blocks->precision};
  uint8_t *marks = NULL;

  RITZ_TRY(mark_constrained(ceed, nodes, constraints, &marks));
  pass.is_constrained = marks;
  void *entries = NULL;
  int ierr = ritz_vector_lock(assembled, RITZ_ACCESS_READ, CEED_MEM_HOST, &entries);
  if (!ierr) {
    pass.assembled = entries;
    ierr = ritz_vector_lock(data->blocks, RITZ_ACCESS_WRITE, CEED_MEM_HOST, &pass.inverse);
    if (!ierr) {
      ierr = run_inversion(ceed, &pass, bad_node);
      ierr = ritz_vector_unlock(data->blocks, RITZ_ACCESS_WRITE, &pass.inverse, ierr);
    }
    ierr = ritz_vector_unlock(assembled, RITZ_ACCESS_READ, &entries, ierr);
  }
  RITZ_FREE(&marks);
  return ierr;
}

// ---- The operator of the product ----

static int create_qfunction(Ceed ceed, CeedInt num_comp, CeedQFunction *qf) {
  const bool is_any = num_comp != 2 && num_comp != 3;
  const CeedQFunctionUser f = num_comp == 2   ? ritz_point_block_2
                              : num_comp == 3 ? ritz_point_block_3
                                              : ritz_point_block_any;
  const char *source = strstr(num_comp == 2   ? ritz_point_block_2_loc
                              : num_comp == 3 ? ritz_point_block_3_loc
                                              : ritz_point_block_any_loc,
                              "ritz/jit-source");
  RitzPointBlockContext data = {num_comp};
  CeedQFunctionContext ctx = NULL;

  RITZ_TRY(CeedQFunctionCreateInterior(ceed, 1, f, source, qf));
  RITZ_TRY(CeedQFunctionAddInput(*qf, "r", num_comp, CEED_EVAL_NONE));
  RITZ_TRY(CeedQFunctionAddInput(*qf, "block", num_comp * num_comp, CEED_EVAL_NONE));
  RITZ_TRY(CeedQFunctionAddOutput(*qf, "z", num_comp, CEED_EVAL_NONE));
  RITZ_TRY(CeedQFunctionSetUserFlopsEstimate(*qf, 2 * (CeedSize)num_comp * num_comp));
  if (!is_any) return CEED_ERROR_SUCCESS;
  RITZ_TRY(CeedQFunctionContextCreate(ceed, &ctx));
  int ierr = CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(data), &data);
  if (!ierr) ierr = CeedQFunctionSetContext(*qf, ctx);
  if (!ierr) ierr = CeedQFunctionSetContextWritable(*qf, false);
  return ritz_first_error(ierr, CeedQFunctionContextDestroy(&ctx));
}

static int create_product(Ceed ceed, const Nodes *nodes, CeedScalarType precision, PointBlocks *data) {
  const CeedInt n = nodes->num_comp, num_nodes = (CeedInt)nodes->num_nodes;
  const CeedInt strides[3] = {1, (CeedInt)nodes->comp_stride, (CeedInt)nodes->node_stride};
  const CeedInt block_strides[3] = {1, 1, n * n};
  CeedElemRestriction rstr = NULL, rstr_blocks = NULL;
  CeedQFunction qf = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(create_qfunction(ceed, n, &qf));
  RITZ_TRY_CLEANUP(
      CeedElemRestrictionCreateStrided(ceed, num_nodes, 1, n, nodes->num_nodes * n, strides, &rstr));
  RITZ_TRY_CLEANUP(CeedElemRestrictionCreateStrided(ceed, num_nodes, 1, n * n, nodes->num_nodes * n * n,
                                                    block_strides, &rstr_blocks));
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

// ---- The preconditioner ----

static int apply_point_blocks(RitzPreconditioner pc, CeedVector r, CeedVector z) {
  const PointBlocks *data = pc->data;
  return CeedOperatorApply(data->op, r, z, CEED_REQUEST_IMMEDIATE);
}

static int view_point_blocks(RitzPreconditioner pc, FILE *stream, int indent) {
  const PointBlocks *data = pc->data;
  fprintf(stream, "%*spoint-block Jacobi, blocks of %" CeedInt_FMT "\n", indent, "", data->num_comp);
  return CEED_ERROR_SUCCESS;
}

static int64_t point_blocks_bytes(RitzPreconditioner pc) {
  const PointBlocks *data = pc->data;
  return (int64_t)pc->n * data->num_comp * (int64_t)ritz_scalar_bytes(pc->precision);
}

static int point_blocks_work(RitzPreconditioner pc, RitzSmoothingWork *work) {
  const PointBlocks *data = pc->data;
  CeedSize flops = 0;

  RITZ_TRY(CeedOperatorGetFlopsEstimate(data->op, &flops));
  work->flops = (double)flops;
  return CEED_ERROR_SUCCESS;
}

static int free_point_blocks(PointBlocks *data) {
  const int ierr = CeedOperatorDestroy(&data->op);
  const int error = ritz_first_error(ierr, CeedVectorDestroy(&data->blocks));
  RITZ_FREE(&data);
  return error;
}

static int destroy_point_blocks(RitzPreconditioner pc) { return free_point_blocks(pc->data); }

static const RitzPreconditionerMethods point_block_methods = {.name = "point-block Jacobi",
                                                              .apply = apply_point_blocks,
                                                              .view = view_point_blocks,
                                                              .bytes = point_blocks_bytes,
                                                              .work = point_blocks_work,
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
                   nodes->num_comp <= MAX_COMP && nodes->num_nodes <= INT32_MAX,
               op->obj.ceed, CEED_ERROR_UNSUPPORTED,
               "%s: %" CeedInt_FMT " components with a stride of %" CeedInt_FMT
               " in an L-vector of %" CeedSize_FMT
               " entries: possible are 1 to %d components, side by side or one after the other, that fill it",
               call, nodes->num_comp, comp_stride, n, MAX_COMP);
  return CEED_ERROR_SUCCESS;
}

static int set_up(CeedOperator op, const char *call, RitzIndices constraints, const Nodes *nodes,
                  CeedScalarType precision, PointBlocks *data) {
  Ceed ceed = op->obj.ceed;
  const CeedSize size = nodes->num_nodes * nodes->num_comp * nodes->num_comp;
  CeedVector assembled = NULL;
  int64_t bad_node = -1;

  data->num_comp = nodes->num_comp;
  RITZ_TRY(RitzVectorCreate(ceed, size, precision, &data->blocks));
  RITZ_TRY(RitzVectorCreate(ceed, size, precision, &assembled)); // that of the kernel prepared for the apply
  int ierr = CeedOperatorLinearAssemblePointBlockDiagonal(op, assembled, CEED_REQUEST_IMMEDIATE);
  if (!ierr) ierr = invert(ceed, nodes, constraints, assembled, data, &bad_node);
  RITZ_TRY(ritz_first_error(ierr, CeedVectorDestroy(&assembled)));
  RITZ_REQUIRE(bad_node < 0, ceed, CEED_ERROR_MAJOR,
               "%s: the block of node %lld is not positive definite on its free components", call,
               (long long)bad_node);
  return create_product(ceed, nodes, precision, data);
}

int RitzPreconditionerCreatePointBlockJacobi(CeedOperator op, RitzIndices constraints,
                                             RitzPreconditioner *pc) {
  const char *call = "RitzPreconditionerCreatePointBlockJacobi";
  CeedScalarType precision = CEED_SCALAR_TYPE;
  PointBlocks *data = NULL;
  CeedSize n = 0;
  Nodes nodes;

  RITZ_HANDLE(op);
  Ceed ceed = op->obj.ceed;
  RITZ_OPTIONAL(ceed, constraints);
  RITZ_REQUIRE(pc != NULL, ceed, CEED_ERROR_INCOMPATIBLE, "%s: argument 'pc' is NULL", call);
  RITZ_TRY(ritz_operator_square_length(op, call, &n));
  RITZ_TRY(ritz_check_constraints(ceed, call, constraints, n));
  RITZ_TRY(find_nodes(op, call, n, &nodes));
  RITZ_TRY(RitzOperatorGetPrecision(op, &precision));
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &data));
  int ierr = set_up(op, call, constraints, &nodes, precision, data);
  if (!ierr)
    ierr = ritz_preconditioner_create(ceed, call, n, precision, &point_block_methods, data, true, pc);
  return ierr ? ritz_first_error(ierr, free_point_blocks(data)) : CEED_ERROR_SUCCESS;
}
