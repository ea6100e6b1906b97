// SPDX-License-Identifier: BSD-2-Clause
// p-multigrid: coarse operators, transfer operators, and the multiplicity of composite operators
// (doc/ceed-api.md, p-multigrid). Everything is put together from ordinary objects; smoothers and cycles
// are the caller's.
#include <ritz/precision.h>
#include <string.h>

#include "core/operator.h"

// ---- Multiplicity across sub-operators ----

static bool is_skipped(CeedInt index, CeedInt num_skip, const CeedInt *skip) {
  for (CeedInt k = 0; k < num_skip; k++) {
    if (skip[k] == index) return true;
  }
  return false;
}

// counts [l_size]: how many element nodes refer to each entry; orientations play no part.
static int count_references(CeedElemRestriction rstr, CeedVector *counts) {
  CeedElemRestriction plain = NULL;
  RITZ_TRY(CeedElemRestrictionCreateUnorientedCopy(rstr, &plain));
  int ierr = CeedElemRestrictionCreateVector(plain, counts, NULL);
  if (!ierr) ierr = CeedElemRestrictionGetMultiplicity(plain, *counts);
  CeedElemRestrictionDestroy(&plain);
  return ierr;
}

// Adds 1 to mult where counts are not 0.
static int add_touched(CeedVector counts, CeedVector mult) {
  const CeedScalar *count;
  CeedScalar *m;
  RITZ_TRY(CeedVectorGetArrayRead(counts, CEED_MEM_HOST, &count));
  int ierr = CeedVectorGetArray(mult, CEED_MEM_HOST, &m);
  if (!ierr) {
    for (CeedSize i = 0; i < counts->length; i++) m[i] += count[i] > 0;
    ierr = CeedVectorRestoreArray(mult, &m);
  }
  int restored = CeedVectorRestoreArrayRead(counts, &count);
  return ierr ? ierr : restored;
}

static int add_sub_operator(CeedOperator sub, CeedVector mult) {
  CeedElemRestriction rstr = NULL;
  CeedVector counts = NULL;
  RITZ_TRY(CeedOperatorGetActiveElemRestriction(sub, &rstr));
  int ierr = count_references(rstr, &counts);
  if (!ierr && counts->length > 0) ierr = add_touched(counts, mult);
  CeedVectorDestroy(&counts);
  CeedElemRestrictionDestroy(&rstr);
  return ierr;
}

int CeedOperatorCompositeGetMultiplicity(CeedOperator op, CeedInt num_skip_indices, CeedInt *skip_indices,
                                         CeedVector mult) {
  RITZ_HANDLE(op, mult);
  RITZ_TRY(ritz_operator_require_composite(op, __func__, true));
  RITZ_ARGUMENT(op->obj.ceed, mult);
  RITZ_REQUIRE(num_skip_indices >= 0, op->obj.ceed, CEED_ERROR_DIMENSION,
               "%s: number of indices to skip %" CeedInt_FMT " is negative", __func__, num_skip_indices);
  RITZ_REQUIRE(num_skip_indices == 0 || skip_indices, op->obj.ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the list of %" CeedInt_FMT " indices to skip is NULL", __func__, num_skip_indices);
  RITZ_TRY(CeedOperatorCheckReady(op));
  RITZ_REQUIRE(mult->length >= op->input_size, op->obj.ceed, CEED_ERROR_DIMENSION,
               "%s: the vector has %" CeedSize_FMT " entries, needed %" CeedSize_FMT, __func__, mult->length,
               op->input_size);
  RITZ_TRY(ritz_vector_require_precision(mult, __func__, CEED_SCALAR_TYPE));
  RITZ_TRY(CeedVectorSetValue(mult, 0));
  for (CeedInt i = 0; i < op->num_sub; i++) {
    if (!is_skipped(i, num_skip_indices, skip_indices)) RITZ_TRY(add_sub_operator(op->sub[i], mult));
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Arguments of the three variants ----

// Where the interpolation from coarse to fine nodes comes from.
typedef enum { FROM_PROJECTION, FROM_TABLE_1D, FROM_TABLE } InterpolationSource;

typedef struct {
  const char *call;
  InterpolationSource source;
  CeedOperator fine;
  CeedVector p_mult;
  CeedElemRestriction rstr_coarse;
  CeedBasis basis_coarse;
  const CeedScalar *interp;
  CeedOperator *op_coarse, *op_prolong, *op_restrict; // results; the last two may be NULL
  // Found by check_arguments; counted.
  CeedElemRestriction rstr_fine;
  CeedBasis basis_fine;
} Level;

static bool has_transfer(const Level *level) { return level->op_prolong || level->op_restrict; }

static int check_transfer(const Level *level) {
  Ceed ceed = level->fine->obj.ceed;
  RITZ_REQUIRE(level->p_mult, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: transfer operators need p_mult_fine, found NULL", level->call);
  CeedVector p_mult_fine = level->p_mult;
  RITZ_ARGUMENT_OF(ceed, level->call, p_mult_fine);
  RITZ_TRY(ritz_vector_require_precision(p_mult_fine, level->call, CEED_SCALAR_TYPE));
  RITZ_REQUIRE(level->source == FROM_PROJECTION || level->interp, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: transfer operators need interp_c_to_f, found NULL", level->call);
  RITZ_REQUIRE(level->rstr_fine->type != CEED_RESTRICTION_CURL_ORIENTED, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: no transfer operators for curl-oriented fine restrictions", level->call);
  return CEED_ERROR_SUCCESS;
}

// The coarse operator shares the assembled QFunction of the fine one, so elements and points must agree.
static int check_coarse(const Level *level) {
  Ceed ceed = level->fine->obj.ceed;
  CeedElemRestriction rstr = level->rstr_coarse;
  CeedBasis basis = level->basis_coarse, fine = level->basis_fine;
  RITZ_REQUIRE(fine != CEED_BASIS_NONE, ceed, CEED_ERROR_INCOMPATIBLE, "%s: the fine operator needs a basis",
               level->call);
  RITZ_REQUIRE(rstr->num_elem == level->fine->num_elem, ceed, CEED_ERROR_DIMENSION,
               "%s: the coarse restriction has %" CeedInt_FMT " elements, the operator %" CeedInt_FMT,
               level->call, rstr->num_elem, level->fine->num_elem);
  bool needs_same_points = level->source != FROM_PROJECTION || !level->fine->is_at_points;
  RITZ_REQUIRE(!needs_same_points || basis->Q == fine->Q, ceed, CEED_ERROR_DIMENSION,
               "%s: the coarse basis has %" CeedInt_FMT " quadrature points, the fine one %" CeedInt_FMT,
               level->call, basis->Q, fine->Q);
  return CEED_ERROR_SUCCESS;
}

static int check_multigrid_arguments(Level *level) {
  CeedOperator op_fine = level->fine;
  CeedElemRestriction rstr_coarse = level->rstr_coarse;
  CeedBasis basis_coarse = level->basis_coarse;
  RITZ_HANDLE_OF(level->call, op_fine, rstr_coarse, basis_coarse, level->p_mult);
  Ceed ceed = op_fine->obj.ceed;
  RITZ_ARGUMENT_OF(ceed, level->call, rstr_coarse);
  RITZ_ARGUMENT_OF(ceed, level->call, basis_coarse);
  RITZ_REQUIRE(level->op_coarse, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the address of the coarse operator is NULL", level->call);
  RITZ_REQUIRE(!op_fine->is_composite, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: not defined for a composite operator", level->call);
  RITZ_TRY(CeedOperatorCheckReady(op_fine));
  RITZ_TRY(CeedOperatorGetActiveBasis(op_fine, &level->basis_fine));
  RITZ_TRY(CeedOperatorGetActiveElemRestriction(op_fine, &level->rstr_fine));
  RITZ_TRY(check_coarse(level));
  return has_transfer(level) ? check_transfer(level) : CEED_ERROR_SUCCESS;
}

// ---- Coarse operator ----

static int set_coarse_fields(CeedOperator coarse, CeedInt num, const CeedOperatorField *fine_fields,
                             const Level *level) {
  for (CeedInt i = 0; i < num; i++) {
    CeedOperatorField f = fine_fields[i];
    bool is_active = f->vec == CEED_VECTOR_ACTIVE;
    RITZ_TRY(CeedOperatorSetField(coarse, f->qf_field->name, is_active ? level->rstr_coarse : f->rstr,
                                  is_active ? level->basis_coarse : f->basis, f->vec));
  }
  return CEED_ERROR_SUCCESS;
}

static int set_up_coarse(CeedOperator coarse, const Level *level) {
  CeedOperator fine = level->fine;
  if (fine->rstr_points) {
    RITZ_TRY(CeedOperatorAtPointsSetPoints(coarse, fine->rstr_points, fine->point_coords));
  }
  RITZ_TRY(set_coarse_fields(coarse, fine->num_in, fine->in, level));
  RITZ_TRY(set_coarse_fields(coarse, fine->num_out, fine->out, level));
  RITZ_TRY(CeedOperatorSetName(coarse, fine->name));
  ritz_qfunction_data_share(fine, coarse);
  RITZ_TRY(RitzOperatorSetPrecision(coarse, fine->precision));
  return CeedOperatorCheckReady(coarse);
}

static int create_coarse(const Level *level, CeedOperator *coarse) {
  CeedOperator fine = level->fine;
  RITZ_TRY((fine->is_at_points ? CeedOperatorCreateAtPoints : CeedOperatorCreate)(
      fine->obj.ceed, fine->qf, fine->dqf, fine->dqfT, coarse));
  return set_up_coarse(*coarse, level);
}

// ---- Interpolation from coarse to fine nodes ----

static bool power_exceeds(CeedInt base, CeedInt exponent, CeedInt limit) {
  CeedSize power = 1;
  for (CeedInt d = 0; d < exponent && power <= limit; d++) power *= base;
  return power > limit;
}

// Largest number whose power `exponent` is at most n.
static CeedInt integer_root(CeedInt n, CeedInt exponent) {
  CeedInt root = 1;
  while (!power_exceeds(root + 1, exponent, n)) root++;
  return root;
}

static int create_from_table_1d(const Level *level, CeedBasis *basis) {
  CeedBasis fine = level->basis_fine;
  CeedInt P_fine, nc = level->rstr_coarse->num_comp, elem_size = level->rstr_coarse->elem_size;
  RITZ_TRY(CeedBasisGetNumNodes1D(fine, &P_fine));
  CeedInt P_coarse = integer_root(elem_size, fine->dim);
  RITZ_REQUIRE(CeedIntPow(P_coarse, fine->dim) == elem_size, level->fine->obj.ceed, CEED_ERROR_DIMENSION,
               "%s: %" CeedInt_FMT " coarse nodes per element are no power %" CeedInt_FMT " of a number",
               level->call, elem_size, fine->dim);
  return CeedBasisCreateTensorH1(level->fine->obj.ceed, fine->dim, nc, P_coarse, P_fine, level->interp, NULL,
                                 NULL, NULL, basis);
}

static int create_from_table(const Level *level, CeedBasis *basis) {
  CeedElemRestriction coarse = level->rstr_coarse;
  return CeedBasisCreateH1(level->fine->obj.ceed, level->basis_fine->topology, coarse->num_comp,
                           coarse->elem_size, level->basis_fine->P, level->interp, NULL, NULL, NULL, basis);
}

static int create_interpolation(const Level *level, CeedBasis *basis) {
  switch (level->source) {
  case FROM_TABLE_1D: return create_from_table_1d(level, basis);
  case FROM_TABLE: return create_from_table(level, basis);
  default: return CeedBasisCreateProjection(level->basis_coarse, level->basis_fine, basis);
  }
}

// ---- Transfer operators ----

// weights = 1 / (|E|^T |E| p)
static int create_weights(CeedElemRestriction rstr_unsigned, CeedVector p, CeedVector *weights) {
  CeedVector e_vec = NULL;
  RITZ_TRY(CeedElemRestrictionCreateVector(rstr_unsigned, weights, &e_vec));
  int ierr = CeedVectorSetValue(*weights, 0);
  if (!ierr)
    ierr = CeedElemRestrictionApply(rstr_unsigned, CEED_NOTRANSPOSE, p, e_vec, CEED_REQUEST_IMMEDIATE);
  if (!ierr) {
    ierr = CeedElemRestrictionApply(rstr_unsigned, CEED_TRANSPOSE, e_vec, *weights, CEED_REQUEST_IMMEDIATE);
  }
  CeedVectorDestroy(&e_vec);
  return ierr ? ierr : CeedVectorReciprocal(*weights);
}

static int name_transfer(CeedOperator op, const char *what, const char *fine_name) {
  static const char link[] = " for ";
  char *name = NULL;
  if (!fine_name) return CeedOperatorSetName(op, what);
  RITZ_TRY(RITZ_MALLOC(op->obj.ceed, strlen(what) + strlen(link) + strlen(fine_name) + 1, &name));
  strcat(strcat(strcpy(name, what), link), fine_name);
  int ierr = CeedOperatorSetName(op, name);
  RITZ_FREE(&name);
  return ierr;
}

static int create_transfer(const Level *level, const RitzScale *scale, const char *what, CeedOperator *op) {
  RITZ_TRY(ritz_operator_create_scale(level->fine->obj.ceed, scale, op));
  return name_transfer(*op, what, level->fine->name);
}

static int create_transfers(const Level *level, CeedOperator *prolong, CeedOperator *restrict_op) {
  CeedBasis basis = NULL;
  CeedElemRestriction rstr_unsigned = NULL;
  CeedVector weights = NULL;
  int ierr;
  RITZ_TRY_CLEANUP(create_interpolation(level, &basis));
  RITZ_TRY_CLEANUP(CeedElemRestrictionCreateUnsignedCopy(level->rstr_fine, &rstr_unsigned));
  RITZ_TRY_CLEANUP(create_weights(rstr_unsigned, level->p_mult, &weights));
  const RitzScale up = {level->rstr_coarse, rstr_unsigned, level->rstr_fine,      basis,
                        CEED_BASIS_NONE,    weights,       level->fine->precision};
  const RitzScale down = {level->rstr_fine, rstr_unsigned,         level->rstr_coarse, CEED_BASIS_NONE, basis,
                          weights,          level->fine->precision};
  if (level->op_prolong) RITZ_TRY_CLEANUP(create_transfer(level, &up, "prolongation", prolong));
  if (level->op_restrict) ierr = create_transfer(level, &down, "restriction", restrict_op);
cleanup:
  CeedVectorDestroy(&weights);
  CeedElemRestrictionDestroy(&rstr_unsigned);
  CeedBasisDestroy(&basis);
  return ierr;
}

// ---- The three variants ----

static int create_level(Level *level) {
  CeedOperator coarse = NULL, prolong = NULL, restrict_op = NULL;
  int ierr = check_multigrid_arguments(level);
  if (!ierr) ierr = create_coarse(level, &coarse);
  if (!ierr && has_transfer(level)) ierr = create_transfers(level, &prolong, &restrict_op);
  CeedBasisDestroy(&level->basis_fine);
  CeedElemRestrictionDestroy(&level->rstr_fine);
  if (ierr) {
    CeedOperatorDestroy(&coarse);
    CeedOperatorDestroy(&prolong);
    CeedOperatorDestroy(&restrict_op);
    return ierr;
  }
  *level->op_coarse = coarse;
  if (level->op_prolong) *level->op_prolong = prolong;
  if (level->op_restrict) *level->op_restrict = restrict_op;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorMultigridLevelCreate(CeedOperator op_fine, CeedVector p_mult_fine,
                                     CeedElemRestriction rstr_coarse, CeedBasis basis_coarse,
                                     CeedOperator *op_coarse, CeedOperator *op_prolong,
                                     CeedOperator *op_restrict) {
  Level level = {__func__, FROM_PROJECTION, op_fine,    p_mult_fine, rstr_coarse, basis_coarse,
                 NULL,     op_coarse,       op_prolong, op_restrict, NULL,        NULL};
  return create_level(&level);
}

int CeedOperatorMultigridLevelCreateTensorH1(CeedOperator op_fine, CeedVector p_mult_fine,
                                             CeedElemRestriction rstr_coarse, CeedBasis basis_coarse,
                                             const CeedScalar *interp_c_to_f, CeedOperator *op_coarse,
                                             CeedOperator *op_prolong, CeedOperator *op_restrict) {
  Level level = {__func__,      FROM_TABLE_1D, op_fine,    p_mult_fine, rstr_coarse, basis_coarse,
                 interp_c_to_f, op_coarse,     op_prolong, op_restrict, NULL,        NULL};
  return create_level(&level);
}

int CeedOperatorMultigridLevelCreateH1(CeedOperator op_fine, CeedVector p_mult_fine,
                                       CeedElemRestriction rstr_coarse, CeedBasis basis_coarse,
                                       const CeedScalar *interp_c_to_f, CeedOperator *op_coarse,
                                       CeedOperator *op_prolong, CeedOperator *op_restrict) {
  Level level = {__func__,      FROM_TABLE, op_fine,    p_mult_fine, rstr_coarse, basis_coarse,
                 interp_c_to_f, op_coarse,  op_prolong, op_restrict, NULL,        NULL};
  return create_level(&level);
}
