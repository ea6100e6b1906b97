// SPDX-License-Identifier: BSD-2-Clause
// CeedOperator: linear assembly of the QFunction, of diagonals and of matrices (doc/ceed-api.md,
// Assembly). Checks, caching, composites and index lists; the numbers are the backend's.
#include <limits.h>

#include "core/operator.h"
#include "core/profile.h"

// ---- QFunction ----

// A single, ready operator with active fields in both directions; its groups exist afterwards.
static int require_assembly_data(CeedOperator op, const char *call) {
  CeedOperatorAssemblyData data;
  RITZ_HANDLE_OF(call, op);
  RITZ_REQUIRE(!op->is_composite, op->obj.ceed, CEED_ERROR_UNSUPPORTED,
               "%s: not defined for a composite operator", call);
  RITZ_TRY(CeedOperatorCheckReady(op));
  RITZ_REQUIRE(!op->is_at_points || op->rstr_points, op->obj.ceed, CEED_ERROR_INCOMPLETE,
               "%s: the operator has no points, see CeedOperatorAtPointsSetPoints", call);
  RITZ_TRY(CeedOperatorGetOperatorAssemblyData(op, &data));
  RITZ_REQUIRE(data->in.num > 0 && data->out.num > 0, op->obj.ceed, CEED_ERROR_BACKEND,
               "%s: the operator needs an active input and an active output", call);
  return CEED_ERROR_SUCCESS;
}

// The operator, or its stand-in in CeedScalar, with its groups: what slots of assembly compute for.
static int prepare_scalars(CeedOperator op, const char *call, CeedOperator *computes) {
  RITZ_TRY(ritz_operator_refresh(op));
  RITZ_TRY(ritz_operator_stand_in(op, computes));
  return require_assembly_data(*computes, call);
}

static int fill_qfunction(CeedOperator op, const char *call, CeedElemRestriction rstr, CeedVector values) {
  const RitzBackend *backend = &op->obj.ceed->backend;
  CeedScalar *array;
  RITZ_TRY(prepare_scalars(op, call, &op));
  RITZ_TRY(CeedVectorGetArrayWrite(values, backend->mem_type, &array));
  return ritz_vector_end_write(values, &array, backend->operator_assemble_qfunction(op, rstr, array));
}

// Restriction of an assembled QFunction: strided like the backend's E-vectors, or that of the points with as
// many components.
static int create_qfunction_restriction(CeedOperator op, const char *call, CeedElemRestriction *rstr) {
  CeedOperatorAssemblyData data = op->assembly_data;
  Ceed ceed = op->obj.ceed;
  CeedSize num_comp = data->in.num_total * data->out.num_total;
  CeedInt Q = op->is_at_points ? 1 : op->num_qpts;
  RITZ_REQUIRE(num_comp * Q <= INT_MAX, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: %" CeedSize_FMT " derivatives at %" CeedInt_FMT
               " points exceed the 32-bit layout of an element",
               call, num_comp, Q);
  if (op->is_at_points) {
    CeedElemRestriction points = op->rstr_points;
    return CeedElemRestrictionCreateAtPoints(ceed, points->num_elem, points->num_points, (CeedInt)num_comp,
                                             points->l_size / points->num_comp * num_comp, CEED_MEM_HOST,
                                             CEED_COPY_VALUES, points->offsets, rstr);
  }
  RITZ_TRY(CeedElemRestrictionCreateStrided(ceed, op->num_elem, Q, (CeedInt)num_comp,
                                            (CeedSize)op->num_elem * Q * num_comp, CEED_STRIDES_BACKEND,
                                            rstr));
  ritz_restriction_l_strides(*rstr, (*rstr)->strides); // as numbers
  return CEED_ERROR_SUCCESS;
}

static int assemble_new(CeedOperator op, const char *call, CeedVector *assembled, CeedElemRestriction *rstr) {
  CeedVector values = NULL;
  CeedElemRestriction made = NULL;
  RITZ_TRY(create_qfunction_restriction(op, call, &made));
  int ierr = CeedElemRestrictionCreateVector(made, &values, NULL);
  if (!ierr) ierr = fill_qfunction(op, call, made, values);
  if (ierr) {
    CeedVectorDestroy(&values);
    CeedElemRestrictionDestroy(&made);
    return ierr;
  }
  *assembled = values;
  *rstr = made;
  return CEED_ERROR_SUCCESS;
}

// Fields that live on the points themselves have no place in the derivatives of nodal fields.
static int require_nodal(CeedOperator op, const char *call, int code) {
  for (int is_input = 0; is_input < 2; is_input++) {
    const RitzActiveGroups *g = is_input ? &op->assembly_data->in : &op->assembly_data->out;
    for (CeedInt k = 0; k < g->num; k++) {
      RITZ_REQUIRE(g->rstrs[k]->type != CEED_RESTRICTION_POINTS, op->obj.ceed, code,
                   "%s: not defined for active fields on the points of an operator at points", call);
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int are_points_distinct(CeedOperator op, bool *are_distinct) {
  *are_distinct = true;
  return op->is_at_points ? ritz_restriction_is_distinct(op->rstr_points, are_distinct) : CEED_ERROR_SUCCESS;
}

// An L-vector has one place for the derivatives of a point.
static int require_distinct_points(CeedOperator op, const char *call) {
  bool are_distinct;
  RITZ_TRY(are_points_distinct(op, &are_distinct));
  RITZ_REQUIRE(are_distinct, op->obj.ceed, CEED_ERROR_UNSUPPORTED,
               "%s: a point is listed twice, there is one place for its derivatives", call);
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorLinearAssembleQFunction(CeedOperator op, CeedVector *assembled, CeedElemRestriction *rstr,
                                        CeedRequest *request) {
  RITZ_TRY(require_assembly_data(op, __func__));
  RITZ_ARGUMENT(op, assembled);
  RITZ_ARGUMENT(op, rstr);
  RITZ_TRY(require_nodal(op, __func__, CEED_ERROR_BACKEND));
  RITZ_TRY(require_distinct_points(op, __func__));
  RITZ_TRY(assemble_new(op, __func__, assembled, rstr));
  return ritz_request_complete(request);
}

// The cached pair exists and is up to date afterwards.
static int update_cache(CeedOperator op, const char *call) {
  CeedQFunctionAssemblyData cache = op->qf_data;
  if (!cache->values) {
    RITZ_TRY(assemble_new(op, call, &cache->values, &cache->rstr));
  } else if (!cache->reuse || cache->needs_update) {
    RITZ_TRY(fill_qfunction(op, call, cache->rstr, cache->values));
  }
  cache->needs_update = false;
  return CEED_ERROR_SUCCESS;
}

int ritz_operator_is_reused(CeedOperator op, bool *is_reused) {
  *is_reused = op->qf_data->reuse;
  return *is_reused ? are_points_distinct(op, is_reused) : CEED_ERROR_SUCCESS;
}

// Groups may have been stripped since an assembly of the operator was made.
int ritz_operator_update_reused(CeedOperator op, const char *call) {
  bool is_reused;
  RITZ_TRY(ritz_operator_is_reused(op, &is_reused));
  if (!is_reused) return CEED_ERROR_SUCCESS;
  RITZ_TRY(require_assembly_data(op, call));
  return update_cache(op, call);
}

int CeedOperatorLinearAssembleQFunctionBuildOrUpdate(CeedOperator op, CeedVector *assembled,
                                                     CeedElemRestriction *rstr, CeedRequest *request) {
  RITZ_TRY(require_assembly_data(op, __func__));
  RITZ_REQUIRE(assembled && rstr, op->obj.ceed, CEED_ERROR_INCOMPATIBLE, "%s: an output argument is NULL",
               __func__);
  if (!ritz_is_own_sentinel(*assembled, &ritz_vector_class)) RITZ_OPTIONAL(op, *assembled);
  RITZ_TRY(require_nodal(op, __func__, CEED_ERROR_BACKEND));
  RITZ_TRY(require_distinct_points(op, __func__));
  RITZ_TRY(update_cache(op, __func__));
  if (!*assembled) *rstr = NULL;
  RITZ_TRY(CeedVectorReferenceCopy(op->qf_data->values, assembled));
  RITZ_TRY(CeedElemRestrictionReferenceCopy(op->qf_data->rstr, rstr));
  return ritz_request_complete(request);
}

// ---- Cache control ----

int CeedOperatorSetQFunctionAssemblyReuse(CeedOperator op, bool reuse_assembly_data) {
  RITZ_HANDLE(op);
  for (CeedInt i = 0; i < op->num_sub; i++)
    RITZ_TRY(CeedOperatorSetQFunctionAssemblyReuse(op->sub[i], reuse_assembly_data));
  if (op->is_composite) return CEED_ERROR_SUCCESS;
  op->qf_data->reuse = reuse_assembly_data;
  op->qf_data->needs_update = true;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorSetQFunctionAssemblyDataUpdateNeeded(CeedOperator op, bool needs_data_update) {
  RITZ_HANDLE(op);
  for (CeedInt i = 0; i < op->num_sub; i++) {
    RITZ_TRY(CeedOperatorSetQFunctionAssemblyDataUpdateNeeded(op->sub[i], needs_data_update));
  }
  if (!op->is_composite) op->qf_data->needs_update = needs_data_update;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorAssemblyDataStrip(CeedOperator op) {
  RITZ_HANDLE(op);
  for (CeedInt i = 0; i < op->num_sub; i++) RITZ_TRY(CeedOperatorAssemblyDataStrip(op->sub[i]));
  if (op->is_composite) return CEED_ERROR_SUCCESS;
  RITZ_TRY(CeedVectorDestroy(&op->qf_data->values));
  RITZ_TRY(CeedElemRestrictionDestroy(&op->qf_data->rstr));
  op->qf_data->reuse = op->qf_data->needs_update = false;
  ritz_assembly_data_free(&op->assembly_data);
  return ritz_operator_strip_stand_in(op);
}

// ---- Diagonal and point-block diagonal ----

static int check_matching_restrictions(CeedOperator op, const char *call) {
  const RitzActiveGroups *in = &op->assembly_data->in, *out = &op->assembly_data->out;
  for (CeedInt a = 0; a < in->num; a++) {
    for (CeedInt b = 0; b < out->num; b++) {
      RITZ_REQUIRE(in->bases[a] != out->bases[b] || in->bases[a] == CEED_BASIS_NONE ||
                       in->rstrs[a] == out->rstrs[b],
                   op->obj.ceed, CEED_ERROR_UNSUPPORTED,
                   "%s: input and output of one basis have different restrictions", call);
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int check_square(CeedOperator op, const char *call, CeedSize *size) {
  CeedSize input_size, output_size;
  RITZ_TRY(CeedOperatorGetActiveVectorLengths(op, &input_size, &output_size));
  RITZ_REQUIRE(input_size == output_size, op->obj.ceed, CEED_ERROR_DIMENSION,
               "%s: the operator is not square: %" CeedSize_FMT " inputs, %" CeedSize_FMT " outputs", call,
               input_size, output_size);
  *size = input_size;
  return CEED_ERROR_SUCCESS;
}

static int run_diagonal(CeedOperator op, bool is_point_block, void *diagonal) {
  Ceed ceed = op->obj.ceed;
  double begin;
  if (!ceed->profile) return ceed->backend.operator_assemble_add_diagonal(op, is_point_block, diagonal);
  RITZ_TRY(ritz_profile_begin(ceed, &begin));
  return ritz_profile_end(op, is_point_block ? RITZ_PROFILE_POINT_BLOCKS : RITZ_PROFILE_DIAGONAL, begin,
                          ceed->backend.operator_assemble_add_diagonal(op, is_point_block, diagonal));
}

// Adds the diagonal of an operator, variant or stand-in that the backend serves.
static int add_diagonal_slot(CeedOperator op, bool is_point_block, CeedVector assembled) {
  void *array;
  RITZ_TRY(ritz_vector_lock(assembled, RITZ_ACCESS_READ_WRITE, op->obj.ceed->backend.mem_type, &array));
  return ritz_vector_unlock(assembled, RITZ_ACCESS_READ_WRITE, &array,
                            run_diagonal(op, is_point_block, array));
}

static int add_diagonal_stand_in(CeedOperator op, const char *call, bool is_point_block,
                                 CeedVector assembled) {
  CeedOperator stand_in;
  CeedVector scalars;
  RITZ_TRY(prepare_scalars(op, call, &stand_in));
  RITZ_TRY(ritz_vector_begin_scalars(op, assembled, true, &scalars));
  return ritz_vector_end_scalars(op, assembled, true, &scalars,
                                 add_diagonal_slot(stand_in, is_point_block, scalars));
}

static int add_diagonal_single(CeedOperator op, const char *call, bool is_point_block, CeedVector assembled) {
  CeedOperator variant;
  bool is_supported;
  RITZ_TRY(require_assembly_data(op, call));
  if (op->num_elem == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(check_matching_restrictions(op, call));
  RITZ_TRY(ritz_operator_refresh(op));
  RITZ_TRY(ritz_operator_update_reused(op, call));
  RITZ_TRY(ritz_operator_variant(op, assembled->precision, assembled->precision, &variant));
  RITZ_TRY(ritz_variant_is_supported(variant, CEED_VECTOR_NONE, &is_supported));
  const RitzBackend *backend = &op->obj.ceed->backend;
  if (is_supported && !ritz_variant_is_in_scalars(variant) && backend->diagonal_supports_precision)
    RITZ_TRY(backend->diagonal_supports_precision(variant, is_point_block, &is_supported));
  return is_supported ? add_diagonal_slot(variant, is_point_block, assembled)
                      : add_diagonal_stand_in(op, call, is_point_block, assembled);
}

// Blocks of a restriction without overlap: node numbers offset / num_comp when components are interlaced,
// else the offsets themselves, which must leave room for a block.
static int check_block_places(CeedElemRestriction r, const char *call) {
  CeedInt nc = r->num_comp;
  CeedSize num = (CeedSize)r->num_elem * r->elem_size;
  for (CeedSize k = 0; k < num; k++) {
    CeedSize first = ritz_restriction_l_index(r, 0, 0, 0),
             offset =
                 ritz_restriction_l_index(r, (CeedInt)(k / r->elem_size), (CeedInt)(k % r->elem_size), 0);
    bool fits = r->comp_stride == 1 ? offset % nc == first % nc : (offset + 1) * nc <= r->l_size;
    RITZ_REQUIRE(fits, r->obj.ceed, CEED_ERROR_UNSUPPORTED,
                 "%s: the node at offset %" CeedSize_FMT " has no place for a block of %" CeedInt_FMT
                 " components with component stride %" CeedInt_FMT,
                 call, offset, nc, r->comp_stride);
  }
  return CEED_ERROR_SUCCESS;
}

// Components of the active fields; they must agree for point blocks.
static int block_components(CeedOperator op, const char *call, CeedInt *num_comp, CeedInt *comp_stride) {
  for (CeedInt i = 0; i < op->num_sub; i++)
    RITZ_TRY(block_components(op->sub[i], call, num_comp, comp_stride));
  if (op->is_composite) return CEED_ERROR_SUCCESS;
  RITZ_TRY(require_assembly_data(op, call));
  RITZ_REQUIRE(!op->is_at_points, op->obj.ceed, CEED_ERROR_UNSUPPORTED,
               "%s: not defined for operators at points", call);
  const RitzActiveGroups *in = &op->assembly_data->in;
  for (CeedInt a = 0; a < in->num; a++) {
    CeedElemRestriction r = in->rstrs[a];
    RITZ_REQUIRE(r == in->rstrs[0], op->obj.ceed, CEED_ERROR_MINOR,
                 "%s: the operator has several active input restrictions", call);
    RITZ_REQUIRE(r->type != CEED_RESTRICTION_STRIDED, op->obj.ceed, CEED_ERROR_UNSUPPORTED,
                 "%s: needs restrictions with offsets, found a strided one", call);
    RITZ_REQUIRE(*num_comp == 0 || *num_comp == r->num_comp, op->obj.ceed, CEED_ERROR_INCOMPATIBLE,
                 "%s: active restrictions have %" CeedInt_FMT " and %" CeedInt_FMT " components", call,
                 *num_comp, r->num_comp);
    RITZ_REQUIRE(*num_comp == 0 || *comp_stride == r->comp_stride, op->obj.ceed, CEED_ERROR_DIMENSION,
                 "%s: active restrictions have component strides %" CeedInt_FMT " and %" CeedInt_FMT, call,
                 *comp_stride, r->comp_stride);
    RITZ_TRY(check_block_places(r, call));
    *num_comp = r->num_comp;
    *comp_stride = r->comp_stride;
  }
  return CEED_ERROR_SUCCESS;
}

static int add_diagonals(CeedOperator op, const char *call, bool is_point_block, CeedVector assembled) {
  if (!op->is_composite) return add_diagonal_single(op, call, is_point_block, assembled);
  for (CeedInt i = 0; i < op->num_sub; i++)
    RITZ_TRY(add_diagonal_single(op->sub[i], call, is_point_block, assembled));
  return CEED_ERROR_SUCCESS;
}

static int assemble_diagonal(CeedOperator op, const char *call, bool is_point_block, bool adds,
                             CeedVector assembled, CeedRequest *request) {
  CeedSize size;
  CeedInt num_comp = 0, comp_stride = 0;
  RITZ_HANDLE_OF(call, op, assembled);
  RITZ_ARGUMENT_OF(op->obj.ceed, call, assembled);
  RITZ_TRY(CeedOperatorCheckReady(op));
  RITZ_TRY(check_square(op, call, &size));
  if (is_point_block) {
    RITZ_TRY(block_components(op, call, &num_comp, &comp_stride));
    size *= num_comp;
  }
  RITZ_REQUIRE(assembled->length >= size, op->obj.ceed, CEED_ERROR_DIMENSION,
               "%s: the vector has %" CeedSize_FMT " entries, needed %" CeedSize_FMT, call, assembled->length,
               size);
  RITZ_TRY(ritz_operator_check_assembled(op, call, assembled));
  if (!adds) RITZ_TRY(CeedVectorSetValue(assembled, 0));
  const int ierr = add_diagonals(op, call, is_point_block, assembled);
  if (ierr && !adds) ritz_vector_make_stale(assembled);
  RITZ_TRY(ierr);
  return ritz_request_complete(request);
}

int CeedOperatorLinearAssembleDiagonal(CeedOperator op, CeedVector assembled, CeedRequest *request) {
  return assemble_diagonal(op, __func__, false, false, assembled, request);
}

int CeedOperatorLinearAssembleAddDiagonal(CeedOperator op, CeedVector assembled, CeedRequest *request) {
  return assemble_diagonal(op, __func__, false, true, assembled, request);
}

int CeedOperatorLinearAssemblePointBlockDiagonal(CeedOperator op, CeedVector assembled,
                                                 CeedRequest *request) {
  return assemble_diagonal(op, __func__, true, false, assembled, request);
}

int CeedOperatorLinearAssembleAddPointBlockDiagonal(CeedOperator op, CeedVector assembled,
                                                    CeedRequest *request) {
  return assemble_diagonal(op, __func__, true, true, assembled, request);
}

// ---- Index lists ----

static int allocate_indices(CeedOperator op, const char *call, CeedSize num, CeedSize l_size, CeedInt **rows,
                            CeedInt **cols) {
  *rows = *cols = NULL;
  RITZ_REQUIRE(l_size <= (CeedSize)INT_MAX + 1, op->obj.ceed, CEED_ERROR_UNSUPPORTED,
               "%s: an L-vector of %" CeedSize_FMT " entries exceeds 32-bit row and column numbers", call,
               l_size);
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, (size_t)num, rows));
  int ierr = RITZ_CALLOC(op->obj.ceed, (size_t)num, cols);
  if (ierr) RITZ_FREE(rows);
  return ierr;
}

// The caller frees index lists with free().
static void give_indices(CeedInt *rows, CeedInt *cols) {
  ritz_memory_give(rows);
  ritz_memory_give(cols);
}

// Block entry (c_out, c_in) of a node is at node*nc*nc + c_out*nc + c_in.
static void fill_block_indices(CeedElemRestriction r, CeedInt *rows, CeedInt *cols) {
  CeedInt nc = r->num_comp;
  for (CeedInt elem = 0; elem < r->num_elem; elem++) {
    for (CeedInt i = 0; i < r->elem_size; i++) {
      CeedSize offset = ritz_restriction_l_index(r, elem, i, 0),
               node = r->comp_stride == 1 ? offset / nc : offset;
      for (CeedInt k = 0; k < nc * nc; k++) {
        rows[node * nc * nc + k] = (CeedInt)(offset + (CeedSize)(k / nc) * r->comp_stride);
        cols[node * nc * nc + k] = (CeedInt)(offset + (CeedSize)(k % nc) * r->comp_stride);
      }
    }
  }
}

int CeedOperatorLinearAssemblePointBlockDiagonalSymbolic(CeedOperator op, CeedSize *num_entries,
                                                         CeedInt **rows, CeedInt **cols) {
  CeedSize size;
  CeedInt num_comp = 0, comp_stride = 0;
  RITZ_HANDLE(op);
  RITZ_ARGUMENT(op, num_entries);
  RITZ_ARGUMENT(op, rows);
  RITZ_ARGUMENT(op, cols);
  RITZ_TRY(CeedOperatorCheckReady(op));
  RITZ_TRY(check_square(op, __func__, &size));
  RITZ_TRY(block_components(op, __func__, &num_comp, &comp_stride));
  RITZ_TRY(allocate_indices(op, __func__, size * num_comp, size, rows, cols));
  if (!op->is_composite) fill_block_indices(op->assembly_data->in.rstrs[0], *rows, *cols);
  for (CeedInt i = 0; i < op->num_sub; i++)
    fill_block_indices(op->sub[i]->assembly_data->in.rstrs[0], *rows, *cols);
  *num_entries = size * num_comp;
  give_indices(*rows, *cols);
  return CEED_ERROR_SUCCESS;
}

// ---- Matrices ----

static int count_single(CeedOperator op, const char *call, CeedSize *num) {
  RITZ_TRY(require_assembly_data(op, call));
  RITZ_TRY(require_nodal(op, call, CEED_ERROR_UNSUPPORTED));
  const RitzActiveGroups *in = &op->assembly_data->in, *out = &op->assembly_data->out;
  *num = 0;
  for (CeedInt a = 0; a < in->num; a++) {
    for (CeedInt b = 0; b < out->num; b++) {
      CeedSize columns = (CeedSize)in->rstrs[a]->elem_size * in->rstrs[a]->num_comp;
      CeedSize rows = (CeedSize)out->rstrs[b]->elem_size * out->rstrs[b]->num_comp;
      *num += columns * rows * op->num_elem;
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int count_entries(CeedOperator op, const char *call, CeedSize *num) {
  RITZ_HANDLE_OF(call, op);
  RITZ_TRY(CeedOperatorCheckReady(op));
  if (!op->is_composite) return count_single(op, call, num);
  *num = 0;
  for (CeedInt i = 0; i < op->num_sub; i++) {
    CeedSize part;
    RITZ_TRY(count_single(op->sub[i], call, &part));
    *num += part;
  }
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorLinearAssembleGetNumEntries(CeedOperator op, CeedSize *num_entries) {
  RITZ_HANDLE(op);
  RITZ_ARGUMENT(op, num_entries);
  return count_entries(op, __func__, num_entries);
}

// One pair of groups, in the order of doc/ceed-api.md, Assembly. Returns the number of entries.
static CeedSize fill_pair(CeedElemRestriction in, CeedElemRestriction out, CeedInt *rows, CeedInt *cols) {
  CeedSize k = 0;
  for (CeedInt elem = 0; elem < in->num_elem; elem++) {
    for (CeedInt c_in = 0; c_in < in->num_comp; c_in++) {
      for (CeedInt c_out = 0; c_out < out->num_comp; c_out++) {
        for (CeedInt i = 0; i < out->elem_size; i++) {
          CeedInt row = (CeedInt)ritz_restriction_l_index(out, elem, i, c_out);
          for (CeedInt j = 0; j < in->elem_size; j++, k++) {
            rows[k] = row;
            cols[k] = (CeedInt)ritz_restriction_l_index(in, elem, j, c_in);
          }
        }
      }
    }
  }
  return k;
}

static CeedSize fill_single(CeedOperator op, CeedInt *rows, CeedInt *cols) {
  const RitzActiveGroups *in = &op->assembly_data->in, *out = &op->assembly_data->out;
  CeedSize k = 0;
  for (CeedInt a = 0; a < in->num; a++) {
    for (CeedInt b = 0; b < out->num; b++) k += fill_pair(in->rstrs[a], out->rstrs[b], rows + k, cols + k);
  }
  return k;
}

int CeedOperatorLinearAssembleSymbolic(CeedOperator op, CeedSize *num_entries, CeedInt **rows,
                                       CeedInt **cols) {
  CeedSize num, input_size, output_size;
  RITZ_HANDLE(op);
  RITZ_ARGUMENT(op, num_entries);
  RITZ_ARGUMENT(op, rows);
  RITZ_ARGUMENT(op, cols);
  RITZ_TRY(count_entries(op, __func__, &num));
  RITZ_TRY(CeedOperatorGetActiveVectorLengths(op, &input_size, &output_size));
  RITZ_TRY(
      allocate_indices(op, __func__, num, input_size > output_size ? input_size : output_size, rows, cols));
  CeedSize filled = num > 0 && !op->is_composite ? fill_single(op, *rows, *cols) : 0;
  for (CeedInt i = 0; i < op->num_sub && filled < num; i++)
    filled += fill_single(op->sub[i], *rows + filled, *cols + filled);
  *num_entries = num;
  give_indices(*rows, *cols);
  return CEED_ERROR_SUCCESS;
}

// Values of one operator, pair of groups by pair of groups, from values[place] on.
static int assemble_pairs(CeedOperator op, CeedSize place, CeedScalar *values) {
  const RitzActiveGroups *in = &op->assembly_data->in, *out = &op->assembly_data->out;
  for (CeedInt k = 0; k < in->num * out->num; k++) {
    CeedElemRestriction r_in = in->rstrs[k / out->num], r_out = out->rstrs[k % out->num];
    RITZ_TRY(op->obj.ceed->backend.operator_assemble(op, k / out->num, k % out->num, 0, op->num_elem, place,
                                                     values));
    place += (CeedSize)r_in->elem_size * r_in->num_comp * r_out->elem_size * r_out->num_comp * op->num_elem;
  }
  return CEED_ERROR_SUCCESS;
}

static int assemble_single(CeedOperator op, const char *call, CeedSize start, CeedVector values) {
  CeedScalar *array;
  if (op->num_elem == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_operator_update_reused(op, call));
  RITZ_TRY(prepare_scalars(op, call, &op));
  RITZ_TRY(CeedVectorGetArray(values, op->obj.ceed->backend.mem_type, &array));
  return ritz_vector_end_write(values, &array, assemble_pairs(op, start, array));
}

static int assemble_all(CeedOperator op, const char *call, CeedVector values) {
  CeedSize num, start = 0;
  RITZ_TRY(ritz_operator_check_assembled(op, call, values));
  RITZ_TRY(CeedVectorSetValue(values, 0));
  if (!op->is_composite) return assemble_single(op, call, 0, values);
  for (CeedInt i = 0; i < op->num_sub; i++) {
    RITZ_TRY(assemble_single(op->sub[i], call, start, values));
    RITZ_TRY(count_single(op->sub[i], call, &num));
    start += num;
  }
  return CEED_ERROR_SUCCESS;
}

// Into a vector of another precision: through one in CeedScalar.
static int assemble_converted(CeedOperator op, CeedVector values) {
  CeedVector scalars = NULL;
  RITZ_TRY(CeedVectorCreate(op->obj.ceed, values->length, &scalars));
  int ierr = CeedOperatorLinearAssemble(op, scalars);
  if (!ierr) ierr = ritz_vector_convert("CeedOperatorLinearAssemble", values->length, scalars, values);
  (void)CeedVectorDestroy(&scalars);
  return ierr;
}

int CeedOperatorLinearAssemble(CeedOperator op, CeedVector values) {
  RITZ_HANDLE(op, values);
  CeedSize num;
  RITZ_TRY(count_entries(op, __func__, &num));
  RITZ_ARGUMENT(op->obj.ceed, values);
  RITZ_REQUIRE(values->length >= num, op->obj.ceed, CEED_ERROR_DIMENSION,
               "%s: the vector has %" CeedSize_FMT " entries, needed %" CeedSize_FMT, __func__,
               values->length, num);
  if (num == 0) return CEED_ERROR_SUCCESS;
  if (values->precision != CEED_SCALAR_TYPE) return assemble_converted(op, values);
  const uint64_t state = values->state;
  const int ierr = assemble_all(op, __func__, values);
  if (ierr && values->state != state && !values->is_locked) ritz_vector_make_stale(values);
  return ierr;
}
