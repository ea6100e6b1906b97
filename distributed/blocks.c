// SPDX-License-Identifier: BSD-2-Clause
// Block preconditioners of problems in parts (ritz/exchange.h): where the blocks of a product are, and how
// its operator is applied. The method is that of one part (solver/blocks.c).
#include "base/error.h"
#include "base/memory.h"
#include "core/core.h"
#include "distributed/exchange.h"
#include "solver/preconditioner.h"

static const char call[] = "RitzPreconditionerCreatePartBlocks";

static int find_sizes(RitzProductSpace product, CeedInt num, CeedSize num_owned[], CeedSize lengths[]) {
  for (CeedInt i = 0; i < num; i++) {
    RitzSpace space = NULL;

    RITZ_TRY(RitzProductSpaceGetSpace(product, i, &space));
    RITZ_TRY(RitzSpaceGetSize(space, &lengths[i]));
    RITZ_TRY(RitzProductSpaceGetRange(product, i, NULL, &num_owned[i]));
  }
  return CEED_ERROR_SUCCESS;
}

static int set_operator(Ceed ceed, RitzPartOperator op, RitzPartBlocks *o) {
  const RitzExchange e = ritz_part_operator_pieces(op, NULL);

  RITZ_REQUIRE(e->length == o->length, ceed, CEED_ERROR_DIMENSION,
               "%s: the operator is for %" CeedSize_FMT " entries, the product has %" CeedSize_FMT, call,
               e->length, o->length);
  o->apply = RitzPartOperatorApply;
  o->ctx = op;
  o->precision = e->precision;
  return CEED_ERROR_SUCCESS;
}

int RitzPreconditionerCreatePartBlocks(Ceed ceed, RitzProductSpace product, const RitzBlock blocks[],
                                       RitzBlocksKind kind, RitzPartOperator op, RitzPreconditioner *pc) {
  RitzPartBlocks o = {.kind = kind};
  CeedSize *sizes = NULL;
  CeedInt num = 0;

  RITZ_HANDLE(ceed, product, op);
  RITZ_ARGUMENT(ceed, product);
  RITZ_ARGUMENT(ceed, blocks);
  RITZ_OPTIONAL(ceed, op);
  RITZ_ARGUMENT(ceed, pc);
  RITZ_TRY(RitzProductSpaceGetNumSpaces(product, &num));
  RITZ_TRY(RitzProductSpaceGetSize(product, &o.length));
  if (op) RITZ_TRY(set_operator(ceed, op, &o));
  RITZ_TRY(RITZ_MALLOC(ceed, 2 * (size_t)num, &sizes));
  o.num_owned = sizes;
  o.lengths = sizes + num;
  int ierr = find_sizes(product, num, sizes, sizes + num);

  if (!ierr) ierr = ritz_blocks_create_in_parts(ceed, call, num, blocks, &o, pc);
  RITZ_FREE(&sizes);
  return ierr;
}
