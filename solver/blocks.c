// SPDX-License-Identifier: BSD-2-Clause
// Block preconditioners of problems of several fields (contract in ritz/preconditioner.h): ranges of entries
// that preconditioners of their own serve, one after the other. Called by solvers through the methods of
// solver/preconditioner.h; what an inverse does is its own matter.
#include <math.h>
#include <ritz/operator.h>

#include "solver/preconditioner.h"

typedef struct {
  RitzPreconditioner inverse; // counted
  double factor;
  CeedSize first, num; // its entries in the vectors; the inverse may have more of its own: ghosts
  CeedVector r, z;     // owned; z is also what is taken from r
} Block;

typedef struct {
  RitzBlocksKind kind;
  CeedInt num, num_couplings;
  Block *blocks;                // owned, [num]
  CeedOperator op;              // counted: where couplings are taken from
  RitzApplyFunction apply;      // the same in place of op; neither: from the list
  void *apply_ctx;              // borrowed
  CeedVector image;             // owned, with either
  RitzBlockCoupling *couplings; // owned, [num_couplings], the operators counted
} Blocks;

static const char own_call[] = "RitzPreconditionerCreateBlocks";

// ---- Application ----

// r_i := r_i - A_ij z_j of all blocks j that were served before. By the operator: of all entries of z.
static int subtract_couplings(const Blocks *b, CeedInt i, CeedVector z) {
  const Block *block = &b->blocks[i];

  if (b->image) {
    RITZ_TRY(b->apply ? b->apply(b->apply_ctx, z, b->image)
                      : CeedOperatorApply(b->op, z, b->image, CEED_REQUEST_IMMEDIATE));
    RITZ_TRY(RitzVectorCopyRange(b->image, block->first, block->num, block->z, 0));
    return RitzVectorSum(block->r, 1, block->r, -1, block->z);
  }
  for (CeedInt k = 0; k < b->num_couplings; k++) {
    const RitzBlockCoupling *c = &b->couplings[k];

    if (c->row != i || (c->column < i) != (b->kind == RITZ_BLOCKS_LOWER)) continue;
    RITZ_TRY(CeedOperatorApply(c->op, b->blocks[c->column].z, block->z, CEED_REQUEST_IMMEDIATE));
    RITZ_TRY(RitzVectorSum(block->r, 1, block->r, -1, block->z));
  }
  return CEED_ERROR_SUCCESS;
}

// z_i := f_i P_i (r_i - couplings), added to z_i where the block was served before.
static int serve_block(const Blocks *b, CeedInt i, CeedVector r, CeedVector z, bool has_couplings,
                       bool is_again) {
  const Block *block = &b->blocks[i];
  const CeedSize n = block->num;

  RITZ_TRY(RitzVectorCopyRange(r, block->first, n, block->r, 0));
  if (has_couplings) RITZ_TRY(subtract_couplings(b, i, z));
  RITZ_TRY(ritz_preconditioner_apply(block->inverse, block->r, block->z));
  if (is_again) {
    RITZ_TRY(RitzVectorCopyRange(z, block->first, n, block->r, 0));
    RITZ_TRY(RitzVectorSum(block->z, block->factor, block->z, 1, block->r));
  } else if (block->factor != 1) {
    RITZ_TRY(RitzVectorSum(block->z, block->factor, block->z, 0, CEED_VECTOR_NONE));
  }
  return RitzVectorCopyRange(block->z, 0, n, z, block->first);
}

static int apply_blocks(RitzPreconditioner pc, CeedVector r, CeedVector z) {
  const Blocks *b = pc->data;

  RITZ_TRY(CeedVectorSetValue(z, 0));
  for (CeedInt k = 0; k < b->num; k++) {
    const CeedInt i = b->kind == RITZ_BLOCKS_UPPER ? b->num - 1 - k : k;

    RITZ_TRY(serve_block(b, i, r, z, b->kind != RITZ_BLOCKS_DIAGONAL && k > 0, false));
  }
  for (CeedInt i = b->num - 2; i >= 0 && b->kind == RITZ_BLOCKS_SYMMETRIC; i--)
    RITZ_TRY(serve_block(b, i, r, z, true, true));
  return CEED_ERROR_SUCCESS;
}

static int strengthen_blocks(RitzPreconditioner pc, bool *is_changed) {
  const Blocks *b = pc->data;

  for (CeedInt i = 0; i < b->num; i++) {
    bool is_block_changed = false;

    RITZ_TRY(ritz_preconditioner_strengthen(b->blocks[i].inverse, &is_block_changed));
    *is_changed = *is_changed || is_block_changed;
  }
  return CEED_ERROR_SUCCESS;
}

static void enter_solve(RitzPreconditioner pc, bool begins) {
  const Blocks *b = pc->data;

  for (CeedInt i = 0; i < b->num; i++) ritz_preconditioner_enter_solve(b->blocks[i].inverse, begins);
}

// ---- Questions ----

static int view_blocks(RitzPreconditioner pc, FILE *stream, int indent) {
  static const char *const kinds[] = {"diagonal", "lower triangular", "upper triangular", "symmetric sweeps"};
  const Blocks *b = pc->data;

  fprintf(stream, "%*sblocks, %s%s\n", indent, "", kinds[b->kind],
          b->kind == RITZ_BLOCKS_DIAGONAL ? ""
          : b->image                      ? ", couplings by the operator"
                                          : ", given couplings");
  for (CeedInt i = 0; i < b->num; i++) {
    const Block *block = &b->blocks[i];

    fprintf(stream, "%*sblock %" CeedInt_FMT ": %" CeedSize_FMT " entries, factor %g\n", indent + 2, "", i,
            block->num, block->factor);
    RITZ_TRY(ritz_preconditioner_view(block->inverse, stream, indent + 4));
  }
  return CEED_ERROR_SUCCESS;
}

static int64_t blocks_bytes(RitzPreconditioner pc) {
  const Blocks *b = pc->data;
  const int64_t num_vectors = b->image ? 3 : 2;
  int64_t num_bytes = num_vectors * (int64_t)pc->n * (int64_t)ritz_scalar_bytes(pc->precision);

  for (CeedInt i = 0; i < b->num; i++) num_bytes += ritz_preconditioner_bytes(b->blocks[i].inverse);
  return num_bytes;
}

// ---- Life ----

static int free_blocks(Blocks *b) {
  int ierr = CEED_ERROR_SUCCESS;

  for (CeedInt i = 0; b->blocks && i < b->num; i++) {
    ierr = ritz_first_error(ierr, RitzPreconditionerDestroy(&b->blocks[i].inverse));
    ierr = ritz_first_error(ierr, CeedVectorDestroy(&b->blocks[i].r));
    ierr = ritz_first_error(ierr, CeedVectorDestroy(&b->blocks[i].z));
  }
  for (CeedInt k = 0; b->couplings && k < b->num_couplings; k++)
    ierr = ritz_first_error(ierr, CeedOperatorDestroy(&b->couplings[k].op));
  ierr = ritz_first_error(ierr, CeedOperatorDestroy(&b->op));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&b->image));
  RITZ_FREE(&b->blocks);
  RITZ_FREE(&b->couplings);
  RITZ_FREE(&b);
  return ierr;
}

static const char *why_blocks_not_updated(RitzPreconditioner pc) {
  const Blocks *b = pc->data;
  const char *why = NULL;

  for (CeedInt i = 0; i < b->num && !why; i++)
    why = ritz_preconditioner_why_not_updated(b->blocks[i].inverse);
  return why;
}

static int update_blocks(RitzPreconditioner pc) {
  const Blocks *b = pc->data;

  for (CeedInt i = 0; i < b->num; i++) RITZ_TRY(ritz_preconditioner_update(b->blocks[i].inverse));
  return CEED_ERROR_SUCCESS;
}

static int destroy_blocks(RitzPreconditioner pc) { return free_blocks(pc->data); }

static const RitzPreconditionerMethods blocks_methods = {
    .name = "blocks",
    .symmetric_form = "RITZ_BLOCKS_DIAGONAL or RITZ_BLOCKS_SYMMETRIC of symmetric inverses, factors positive",
    .apply = apply_blocks,
    .strengthen = strengthen_blocks,
    .enter_solve = enter_solve,
    .view = view_blocks,
    .bytes = blocks_bytes,
    .why_not_updated = why_blocks_not_updated,
    .update = update_blocks,
    .destroy = destroy_blocks};

// ---- Creation ----

// *n: entries of all inverses.
static int check_blocks(Ceed ceed, const char *call, CeedInt num, const RitzBlock blocks[], CeedSize *n) {
  *n = 0;
  RITZ_REQUIRE(num >= 1, ceed, CEED_ERROR_DIMENSION, "%s: %" CeedInt_FMT " blocks, needed at least 1", call,
               num);
  RITZ_ARGUMENT_OF(ceed, call, blocks);
  for (CeedInt i = 0; i < num; i++) {
    RitzPreconditioner inverse = blocks[i].inverse;

    RITZ_REQUIRE(ritz_is_live(inverse, &ritz_preconditioner_class), ceed, CEED_ERROR_INCOMPATIBLE,
                 "%s: the inverse of block %" CeedInt_FMT " is %s, needed a RitzPreconditioner", call, i,
                 ritz_found_at(inverse));
    RITZ_REQUIRE(isfinite(blocks[i].factor), ceed, CEED_ERROR_INCOMPATIBLE,
                 "%s: the factor of block %" CeedInt_FMT " is %g, needed a finite number", call, i,
                 blocks[i].factor);
    *n += inverse->n;
  }
  return CEED_ERROR_SUCCESS;
}

// An operator of this name takes `from` entries to `to`, in the context.
static int check_operator(Ceed ceed, const char *name, CeedOperator op, CeedSize from, CeedSize to) {
  CeedSize num_in = 0, num_out = 0;

  RITZ_ARGUMENT_OF(ceed, own_call, op);
  RITZ_REQUIRE(op->obj.ceed == ceed, ceed, CEED_ERROR_INCOMPATIBLE, "%s: the %s belongs to another context",
               own_call, name);
  RITZ_TRY(CeedOperatorGetActiveVectorLengths(op, &num_in, &num_out));
  RITZ_REQUIRE(num_in == from && num_out == to, ceed, CEED_ERROR_DIMENSION,
               "%s: the %s takes %" CeedSize_FMT " entries to %" CeedSize_FMT ", needed %" CeedSize_FMT
               " to %" CeedSize_FMT,
               own_call, name, num_in, num_out, from, to);
  return CEED_ERROR_SUCCESS;
}

static int check_coupling(Ceed ceed, CeedInt num, const RitzBlock blocks[], const RitzBlockCoupling *c) {
  RITZ_REQUIRE(c->row >= 0 && c->row < num && c->column >= 0 && c->column < num && c->row != c->column, ceed,
               CEED_ERROR_DIMENSION,
               "%s: there is no coupling of block %" CeedInt_FMT " to %" CeedInt_FMT
               ", needed two of the %" CeedInt_FMT " blocks",
               own_call, c->column, c->row, num);
  return check_operator(ceed, "coupling", c->op, blocks[c->column].inverse->n, blocks[c->row].inverse->n);
}

static int check_options(Ceed ceed, CeedInt num, const RitzBlock blocks[], CeedSize n,
                         const RitzBlocksOptions *o) {
  RITZ_REQUIRE(o->kind >= RITZ_BLOCKS_DIAGONAL && o->kind <= RITZ_BLOCKS_SYMMETRIC, ceed,
               CEED_ERROR_INCOMPATIBLE, "%s: %d is no kind, needed a RitzBlocksKind", own_call, (int)o->kind);
  RITZ_REQUIRE(o->num_couplings >= 0 && (o->num_couplings == 0 || o->couplings), ceed, CEED_ERROR_DIMENSION,
               "%s: %" CeedInt_FMT
               " couplings and %s array of them, needed a number that is not negative and an array",
               own_call, o->num_couplings, o->couplings ? "an" : "no");
  RITZ_REQUIRE(o->kind == RITZ_BLOCKS_DIAGONAL || o->kind == RITZ_BLOCKS_SYMMETRIC || o->op ||
                   o->num_couplings > 0,
               ceed, CEED_ERROR_INCOMPLETE, "%s: triangular kinds need the operator or couplings", own_call);
  RITZ_REQUIRE(o->kind != RITZ_BLOCKS_SYMMETRIC || o->op, ceed, CEED_ERROR_INCOMPLETE,
               "%s: symmetric sweeps need the operator", own_call);
  if (o->op) RITZ_TRY(check_operator(ceed, "operator", o->op, n, n));
  for (CeedInt k = 0; k < o->num_couplings; k++)
    RITZ_TRY(check_coupling(ceed, num, blocks, &o->couplings[k]));
  return CEED_ERROR_SUCCESS;
}

// That of all inverses, or else of the library.
static CeedScalarType find_precision(CeedInt num, const RitzBlock blocks[]) {
  for (CeedInt i = 1; i < num; i++) {
    if (blocks[i].inverse->precision != blocks[0].inverse->precision) return CEED_SCALAR_TYPE;
  }
  return blocks[0].inverse->precision;
}

// Vectors are zero where nothing is copied to: at ghosts. num_owned NULL: there are none.
static int fill_blocks(Ceed ceed, CeedInt num, const RitzBlock blocks[], const CeedSize num_owned[],
                       CeedScalarType precision, Blocks *b) {
  CeedSize first = 0;

  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num, &b->blocks));
  b->num = num;
  for (CeedInt i = 0; i < num; i++) {
    Block *block = &b->blocks[i];
    const CeedSize n = blocks[i].inverse->n;

    block->factor = blocks[i].factor != 0 ? blocks[i].factor : 1;
    block->first = first;
    block->num = num_owned ? num_owned[i] : n;
    first += block->num;
    RITZ_TRY(RitzPreconditionerReferenceCopy(blocks[i].inverse, &block->inverse));
    RITZ_TRY(RitzVectorCreate(ceed, n, precision, &block->r));
    RITZ_TRY(RitzVectorCreate(ceed, n, precision, &block->z));
    RITZ_TRY(CeedVectorSetValue(block->r, 0));
    RITZ_TRY(CeedVectorSetValue(block->z, 0));
  }
  return CEED_ERROR_SUCCESS;
}

// Those that the kind has use for.
static int fill_couplings(Ceed ceed, CeedSize n, CeedScalarType precision, const RitzBlocksOptions *o,
                          Blocks *b) {
  b->kind = o->kind;
  if (o->kind == RITZ_BLOCKS_DIAGONAL) return CEED_ERROR_SUCCESS;
  if (o->num_couplings == 0 || o->kind == RITZ_BLOCKS_SYMMETRIC) {
    RITZ_TRY(CeedOperatorReferenceCopy(o->op, &b->op));
    return RitzVectorCreate(ceed, n, precision, &b->image);
  }
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)o->num_couplings, &b->couplings));
  for (CeedInt k = 0; k < o->num_couplings; k++) {
    RitzBlockCoupling *c = &b->couplings[b->num_couplings++];

    c->row = o->couplings[k].row;
    c->column = o->couplings[k].column;
    RITZ_TRY(CeedOperatorReferenceCopy(o->couplings[k].op, &c->op));
  }
  return CEED_ERROR_SUCCESS;
}

static bool is_definite(const Blocks *b) {
  bool is_definite = b->kind == RITZ_BLOCKS_DIAGONAL || b->kind == RITZ_BLOCKS_SYMMETRIC;

  for (CeedInt i = 0; i < b->num; i++)
    is_definite = is_definite && b->blocks[i].inverse->is_symmetric && b->blocks[i].factor > 0;
  return is_definite;
}

int RitzPreconditionerCreateBlocks(Ceed ceed, CeedInt num, const RitzBlock blocks[],
                                   const RitzBlocksOptions *options, RitzPreconditioner *pc) {
  const RitzBlocksOptions none = {.kind = RITZ_BLOCKS_DIAGONAL};
  Blocks *b = NULL;
  CeedSize n = 0;

  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, pc);
  if (!options) options = &none;
  RITZ_TRY(check_blocks(ceed, __func__, num, blocks, &n));
  RITZ_TRY(check_options(ceed, num, blocks, n, options));
  const CeedScalarType precision = find_precision(num, blocks);

  RITZ_TRY(RITZ_CALLOC(ceed, 1, &b));
  int ierr = fill_blocks(ceed, num, blocks, NULL, precision, b);

  if (!ierr) ierr = fill_couplings(ceed, n, precision, options, b);
  if (!ierr) {
    ierr = ritz_preconditioner_create(ceed, __func__, n, precision, &blocks_methods, b, is_definite(b), pc);
  }
  return ierr ? ritz_first_error(ierr, free_blocks(b)) : CEED_ERROR_SUCCESS;
}

// ---- Parts of larger problems ----

static int check_part_blocks(Ceed ceed, const char *call, CeedInt num, const RitzBlock blocks[],
                             const RitzPartBlocks *o) {
  CeedSize n = 0;

  RITZ_TRY(check_blocks(ceed, call, num, blocks, &n));
  for (CeedInt i = 0; i < num; i++)
    RITZ_REQUIRE(blocks[i].inverse->n == o->lengths[i], ceed, CEED_ERROR_DIMENSION,
                 "%s: the inverse of block %" CeedInt_FMT " has %" CeedSize_FMT
                 " entries, its space %" CeedSize_FMT,
                 call, i, blocks[i].inverse->n, o->lengths[i]);
  RITZ_REQUIRE(o->kind >= RITZ_BLOCKS_DIAGONAL && o->kind <= RITZ_BLOCKS_SYMMETRIC, ceed,
               CEED_ERROR_INCOMPATIBLE, "%s: %d is no kind, needed a RitzBlocksKind", call, (int)o->kind);
  RITZ_REQUIRE(o->kind == RITZ_BLOCKS_DIAGONAL || o->apply, ceed, CEED_ERROR_INCOMPLETE,
               "%s: all kinds but RITZ_BLOCKS_DIAGONAL need the operator", call);
  return CEED_ERROR_SUCCESS;
}

int ritz_blocks_create_in_parts(Ceed ceed, const char *call, CeedInt num, const RitzBlock blocks[],
                                const RitzPartBlocks *options, RitzPreconditioner *pc) {
  const RitzPartBlocks *o = options;
  const CeedSize n = o->length;
  Blocks *b = NULL;

  RITZ_TRY(check_part_blocks(ceed, call, num, blocks, o));
  const CeedScalarType precision = o->apply ? o->precision : find_precision(num, blocks);

  RITZ_TRY(RITZ_CALLOC(ceed, 1, &b));
  b->kind = o->kind;
  b->apply = o->apply;
  b->apply_ctx = o->ctx;
  int ierr = fill_blocks(ceed, num, blocks, o->num_owned, precision, b);

  if (!ierr && o->kind != RITZ_BLOCKS_DIAGONAL) ierr = RitzVectorCreate(ceed, n, precision, &b->image);
  if (!ierr)
    ierr = ritz_preconditioner_create(ceed, call, n, precision, &blocks_methods, b, is_definite(b), pc);
  return ierr ? ritz_first_error(ierr, free_blocks(b)) : CEED_ERROR_SUCCESS;
}
