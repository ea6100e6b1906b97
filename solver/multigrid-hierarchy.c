// SPDX-License-Identifier: BSD-2-Clause
// Multigrid preconditioners of a hierarchy of spaces: the caller makes the operator of a level, all else is
// made here and given to solver/multigrid.c.
#include <ritz/operator.h>

#include "solver/multigrid.h"

enum { MAX_NULL = RITZ_SYSTEM_MAX_NULL };

typedef struct {
  Ceed ceed;
  const char *call; // for messages
  RitzHierarchy hierarchy;
  RitzLevelOperatorFunction create_operator;
  RitzLevelNullspaceFunction create_nullspace; // NULL: none
  void *ctx;
  CeedInt num_fixed;
  const RitzFixedPart *fixed;
  const RitzMultigridOptions *options; // may be NULL
  CeedInt num;
  RitzMultigridLevel *levels; // owned, with all they name but the spaces
} Levels;

static int destroy_nullspace(RitzMultigridLevel *level) {
  CeedVector *null = (CeedVector *)level->null;
  int ierr = CEED_ERROR_SUCCESS;

  for (CeedInt i = 0; null && i < MAX_NULL; i++) ierr = ritz_first_error(ierr, CeedVectorDestroy(&null[i]));
  RITZ_FREE((void **)&null);
  level->null = NULL;
  return ierr;
}

static int destroy_levels(Levels *l) {
  int ierr = CEED_ERROR_SUCCESS;

  for (CeedInt i = 0; l->levels && i < l->num; i++) {
    RitzMultigridLevel *level = &l->levels[i];
    ierr = ritz_first_error(ierr, CeedOperatorDestroy(&level->op));
    ierr = ritz_first_error(ierr, CeedOperatorDestroy(&level->prolong));
    ierr = ritz_first_error(ierr, CeedOperatorDestroy(&level->restriction));
    ierr = ritz_first_error(ierr, RitzIndicesDestroy(&level->constraints));
    ierr = ritz_first_error(ierr, destroy_nullspace(level));
  }
  RITZ_FREE(&l->levels);
  return ierr;
}

static int create_nullspace(const Levels *l, CeedInt i) {
  RitzMultigridLevel *level = &l->levels[i];
  CeedVector *null = NULL;

  if (!l->create_nullspace) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_CALLOC(l->ceed, MAX_NULL, &null));
  level->null = null;
  RITZ_TRY(l->create_nullspace(l->ctx, i, level->space, MAX_NULL, &level->num_null, null));
  RITZ_REQUIRE(level->num_null >= 0 && level->num_null <= MAX_NULL, l->ceed, CEED_ERROR_DIMENSION,
               "%s: the nullspace of level %" CeedInt_FMT " has %" CeedInt_FMT
               " vectors, possible are 0 to %d",
               l->call, i, level->num_null, MAX_NULL);
  return CEED_ERROR_SUCCESS;
}

static int create_level(const Levels *l, CeedInt i) {
  RitzMultigridLevel *level = &l->levels[i];

  RITZ_TRY(RitzHierarchyGetSpace(l->hierarchy, i, &level->space));
  RITZ_TRY(l->create_operator(l->ctx, i, level->space, &level->op));
  RITZ_REQUIRE(level->op, l->ceed, CEED_ERROR_INCOMPLETE,
               "%s: the function made no operator for level %" CeedInt_FMT, l->call, i);
  if (l->num_fixed > 0) {
    RITZ_TRY(RitzSpaceCreateConstraints(level->space, l->ceed, l->num_fixed, l->fixed, &level->constraints));
  }
  return create_nullspace(l, i);
}

// Transfers are used as the operators that they lead to.
static int create_transfer(const Levels *l, CeedInt i, CeedScalarType precision) {
  RitzMultigridLevel *level = &l->levels[i];
  RitzOperatorUse use;

  RITZ_TRY(RitzSpaceCreateTransfer(l->levels[i - 1].space, level->space, l->ceed, precision, &level->prolong,
                                   &level->restriction));
  RITZ_TRY(RitzOperatorGetUse(level->op, &use));
  RITZ_TRY(RitzOperatorSetUse(level->prolong, use));
  return RitzOperatorSetUse(level->restriction, use);
}

static int create_transfers(const Levels *l) {
  CeedScalarType precision;

  RITZ_TRY(RitzOperatorGetPrecision(l->levels[l->num - 1].op, &precision));
  if (l->options && l->options->use_precision) precision = l->options->precision;
  for (CeedInt i = 1; i < l->num; i++) RITZ_TRY(create_transfer(l, i, precision));
  return CEED_ERROR_SUCCESS;
}

static int create_of_hierarchy(Levels *l, RitzPreconditioner *pc) {
  RITZ_TRY(RitzHierarchyGetNumLevels(l->hierarchy, &l->num));
  RITZ_TRY(RITZ_CALLOC(l->ceed, (size_t)l->num, &l->levels));
  for (CeedInt i = 0; i < l->num; i++) RITZ_TRY(create_level(l, i));
  RITZ_TRY(create_transfers(l));
  return ritz_multigrid_create(l->ceed, l->call, l->num, l->levels, l->options, pc);
}

int RitzPreconditionerCreateMultigridOfHierarchy(Ceed ceed, RitzHierarchy hierarchy,
                                                 RitzLevelOperatorFunction create_operator,
                                                 RitzLevelNullspaceFunction create_nullspace, void *ctx,
                                                 CeedInt num_fixed, const RitzFixedPart fixed[],
                                                 const RitzMultigridOptions *options,
                                                 RitzPreconditioner *pc) {
  RITZ_HANDLE(ceed, hierarchy);
  RITZ_ARGUMENT(ceed, hierarchy);
  RITZ_REQUIRE(create_operator, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: there is no function that makes operators, needed one", __func__);
  RITZ_REQUIRE(num_fixed >= 0 && (num_fixed == 0 || fixed), ceed, CEED_ERROR_DIMENSION,
               "%s: %" CeedInt_FMT
               " fixed parts and %s array of them, needed a number that is not negative and an "
               "array",
               __func__, num_fixed, fixed ? "an" : "no");
  RITZ_ARGUMENT(ceed, pc);
  Levels l = {ceed,    __func__, hierarchy, create_operator, create_nullspace, ctx, num_fixed, fixed,
              options, 0,        NULL};
  const int ierr = create_of_hierarchy(&l, pc);
  return ritz_first_error(ierr, destroy_levels(&l));
}
