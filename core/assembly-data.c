// SPDX-License-Identifier: BSD-2-Clause
// Active fields grouped by basis, with their evaluation tables: what element matrices are made from
// (doc/ceed-api.md, Assembly), and the cache of the assembled QFunction.
#include <string.h>

#include "core/operator.h"

// ---- Cache of the assembled QFunction ----

int ritz_qfunction_data_create(Ceed ceed, CeedQFunctionAssemblyData *data) {
  RITZ_TRY(RITZ_CALLOC(ceed, 1, data));
  (*data)->ref_count = 1;
  return CEED_ERROR_SUCCESS;
}

void ritz_qfunction_data_release(CeedQFunctionAssemblyData *data) {
  if (*data && --(*data)->ref_count == 0) {
    CeedVectorDestroy(&(*data)->values);
    CeedElemRestrictionDestroy(&(*data)->rstr);
    RITZ_FREE(data);
  }
  *data = NULL;
}

void ritz_qfunction_data_share(CeedOperator from, CeedOperator to) {
  ritz_qfunction_data_release(&to->qf_data);
  to->qf_data = from->qf_data;
  to->qf_data->ref_count++;
}

// ---- Groups ----

static void free_groups(RitzActiveGroups *g) {
  for (CeedInt k = 0; k < g->num; k++) {
    CeedBasisDestroy(&g->bases[k]);
    CeedElemRestrictionDestroy(&g->rstrs[k]);
    RITZ_FREE(&g->modes[k]);
    RITZ_FREE(&g->offsets[k]);
    CeedVectorDestroy(&g->vectors[k]);
    RITZ_FREE(&g->tables[k]);
  }
  RITZ_FREE((void **)&g->bases);
  RITZ_FREE((void **)&g->rstrs);
  RITZ_FREE(&g->num_modes);
  RITZ_FREE((void **)&g->modes);
  RITZ_FREE((void **)&g->offsets);
  RITZ_FREE((void **)&g->tables);
  RITZ_FREE((void **)&g->vectors);
  g->num = 0;
}

void ritz_assembly_data_free(CeedOperatorAssemblyData *data) {
  if (!*data) return;
  free_groups(&(*data)->in);
  free_groups(&(*data)->out);
  RITZ_FREE(data);
}

CeedInt ritz_group_num_nodes(const RitzActiveGroups *groups, CeedInt group) {
  return groups->bases[group] == CEED_BASIS_NONE ? groups->rstrs[group]->elem_size : groups->bases[group]->P;
}

CeedInt ritz_group_num_comp(const RitzActiveGroups *groups, CeedInt group) {
  return groups->rstrs[group]->num_comp;
}

static CeedInt find_group(const RitzActiveGroups *g, CeedOperatorField field) {
  CeedInt k = 0;
  while (k < g->num &&
         (g->bases[k] != field->basis || (field->basis == CEED_BASIS_NONE && g->rstrs[k] != field->rstr)))
    k++;
  return k;
}

// Every active field may be a group of its own.
static int allocate_groups(Ceed ceed, CeedInt capacity, RitzActiveGroups *g) {
  size_t n = (size_t)capacity;
  RITZ_TRY(RITZ_CALLOC(ceed, n, &g->bases));
  RITZ_TRY(RITZ_CALLOC(ceed, n, &g->rstrs));
  RITZ_TRY(RITZ_CALLOC(ceed, n, &g->num_modes));
  RITZ_TRY(RITZ_CALLOC(ceed, n, &g->modes));
  RITZ_TRY(RITZ_CALLOC(ceed, n, &g->offsets));
  RITZ_TRY(RITZ_CALLOC(ceed, n, &g->vectors));
  return RITZ_CALLOC(ceed, n, &g->tables);
}

static int append_modes(Ceed ceed, RitzActiveGroups *g, CeedInt group, CeedOperatorField field) {
  CeedInt num_comp = field->rstr->num_comp, num_new = field->qf_field->size / num_comp,
          first = g->num_modes[group];
  RITZ_TRY(RITZ_REALLOC(ceed, (size_t)first + (size_t)num_new, &g->modes[group]));
  RITZ_TRY(RITZ_REALLOC(ceed, (size_t)first + (size_t)num_new, &g->offsets[group]));
  for (CeedInt d = 0; d < num_new; d++) {
    g->modes[group][first + d] = field->qf_field->eval_mode;
    g->offsets[group][first + d] = g->num_total + (CeedSize)d * num_comp;
  }
  g->num_modes[group] += num_new;
  return CEED_ERROR_SUCCESS;
}

static int add_assembly_field(Ceed ceed, RitzActiveGroups *g, CeedOperatorField field) {
  CeedInt group = find_group(g, field);
  if (group == g->num) {
    RITZ_TRY(CeedBasisReferenceCopy(field->basis, &g->bases[group]));
    RITZ_TRY(CeedElemRestrictionReferenceCopy(field->rstr, &g->rstrs[group]));
    g->num++;
  }
  RITZ_TRY(append_modes(ceed, g, group, field));
  g->num_total += field->qf_field->size;
  return CEED_ERROR_SUCCESS;
}

static int group_fields(Ceed ceed, CeedInt num, const CeedOperatorField *fields, RitzActiveGroups *g) {
  RITZ_TRY(allocate_groups(ceed, num, g));
  for (CeedInt i = 0; i < num; i++) {
    if (fields[i]->vec == CEED_VECTOR_ACTIVE && fields[i]->rstr != CEED_ELEMRESTRICTION_NONE) {
      RITZ_TRY(add_assembly_field(ceed, g, fields[i]));
    }
  }
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorGetOperatorAssemblyData(CeedOperator op, CeedOperatorAssemblyData *data) {
  RITZ_HANDLE(op);
  RITZ_ARGUMENT(op, data);
  RITZ_REQUIRE(!op->is_composite, op->obj.ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: not defined for a composite operator", __func__);
  RITZ_TRY(CeedOperatorCheckReady(op));
  if (!op->assembly_data) {
    CeedOperatorAssemblyData made = NULL;
    RITZ_TRY(RITZ_CALLOC(op->obj.ceed, 1, &made));
    int ierr = group_fields(op->obj.ceed, op->num_in, op->in, &made->in);
    if (!ierr) ierr = group_fields(op->obj.ceed, op->num_out, op->out, &made->out);
    if (ierr) {
      ritz_assembly_data_free(&made);
      return ierr;
    }
    op->assembly_data = made;
  }
  *data = op->assembly_data;
  return CEED_ERROR_SUCCESS;
}

// ---- Tables ----

static int mode_matrix(CeedBasis basis, CeedEvalMode mode, const CeedScalar **matrix) {
  switch (mode) {
  case CEED_EVAL_INTERP: return CeedBasisGetInterp(basis, matrix);
  case CEED_EVAL_GRAD: return CeedBasisGetGrad(basis, matrix);
  case CEED_EVAL_DIV: return CeedBasisGetDiv(basis, matrix);
  default: return CeedBasisGetCurl(basis, matrix);
  }
}

// The mode entries of a field are its quadrature components d = 0, 1, ...; matrices are [q_comp][Q][P].
static int fill_table(const RitzActiveGroups *g, CeedInt group, CeedInt Q, CeedScalar *table) {
  CeedInt num_modes = g->num_modes[group], P = ritz_group_num_nodes(g, group);
  CeedBasis basis = g->bases[group];
  for (CeedInt m = 0, d = 0; m < num_modes; m++) {
    CeedEvalMode mode = g->modes[group][m];
    CeedInt q_comp = basis == CEED_BASIS_NONE ? 1 : ritz_basis_num_q_comp(basis, mode);
    const CeedScalar *matrix = NULL; // the identity
    if (basis != CEED_BASIS_NONE) RITZ_TRY(mode_matrix(basis, mode, &matrix));
    for (CeedInt q = 0; q < Q; q++) {
      for (CeedInt p = 0; p < P; p++) {
        CeedScalar identity = p == q ? 1 : 0;
        table[((CeedSize)q * num_modes + m) * P + p] =
            matrix ? matrix[((CeedSize)d * Q + q) * P + p] : identity;
      }
    }
    d = d + 1 < q_comp ? d + 1 : 0;
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_group_table(Ceed ceed, RitzActiveGroups *groups, CeedInt group, CeedInt num_qpts,
                     const CeedScalar **table) {
  if (!groups->tables[group]) {
    CeedScalar *made = NULL;
    size_t size =
        (size_t)num_qpts * (size_t)groups->num_modes[group] * (size_t)ritz_group_num_nodes(groups, group);
    RITZ_TRY(RITZ_MALLOC(ceed, size, &made));
    int ierr = fill_table(groups, group, num_qpts, made);
    if (ierr) {
      RITZ_FREE(&made);
      return ierr;
    }
    groups->tables[group] = made;
  }
  *table = groups->tables[group];
  return CEED_ERROR_SUCCESS;
}

// The vector has a copy.
int ritz_group_table_vector(Ceed ceed, RitzActiveGroups *groups, CeedInt group, CeedInt num_qpts,
                            CeedVector *table) {
  const CeedSize length = (CeedSize)num_qpts * groups->num_modes[group] * ritz_group_num_nodes(groups, group);
  CeedVector *made = &groups->vectors[group];
  const CeedScalar *values;
  if (!*made) {
    RITZ_TRY(ritz_group_table(ceed, groups, group, num_qpts, &values));
    RITZ_TRY(CeedVectorCreate(ceed, length, made));
    const int ierr = CeedVectorSetArray(*made, CEED_MEM_HOST, CEED_COPY_VALUES, (CeedScalar *)values);
    if (ierr) (void)CeedVectorDestroy(made);
    RITZ_TRY(ierr);
  }
  *table = *made;
  return CEED_ERROR_SUCCESS;
}

// ---- Queries ----

static int make_tables(RitzActiveGroups *g) {
  const CeedScalar *table;
  for (CeedInt k = 0; k < g->num; k++) {
    CeedInt Q = g->bases[k] == CEED_BASIS_NONE ? g->rstrs[k]->elem_size : g->bases[k]->Q;
    RITZ_TRY(ritz_group_table(g->rstrs[k]->obj.ceed, g, k, Q, &table));
  }
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorAssemblyDataGetBases(CeedOperatorAssemblyData data, CeedInt *num_active_bases_in,
                                     CeedBasis **active_bases_in, const CeedScalar ***assembled_bases_in,
                                     CeedInt *num_active_bases_out, CeedBasis **active_bases_out,
                                     const CeedScalar ***assembled_bases_out) {
  RITZ_HANDLE(data);
  if (num_active_bases_in) *num_active_bases_in = data->in.num;
  if (active_bases_in) *active_bases_in = data->in.bases;
  if (num_active_bases_out) *num_active_bases_out = data->out.num;
  if (active_bases_out) *active_bases_out = data->out.bases;
  if (assembled_bases_in) {
    RITZ_TRY(make_tables(&data->in));
    *assembled_bases_in = (const CeedScalar **)data->in.tables;
  }
  if (assembled_bases_out) {
    RITZ_TRY(make_tables(&data->out));
    *assembled_bases_out = (const CeedScalar **)data->out.tables;
  }
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorAssemblyDataGetElemRestrictions(CeedOperatorAssemblyData data, CeedInt *num_active_rstrs_in,
                                                CeedElemRestriction **active_rstrs_in,
                                                CeedInt *num_active_rstrs_out,
                                                CeedElemRestriction **active_rstrs_out) {
  RITZ_HANDLE(data);
  if (num_active_rstrs_in) *num_active_rstrs_in = data->in.num;
  if (active_rstrs_in) *active_rstrs_in = data->in.rstrs;
  if (num_active_rstrs_out) *num_active_rstrs_out = data->out.num;
  if (active_rstrs_out) *active_rstrs_out = data->out.rstrs;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorAssemblyDataGetEvalModes(CeedOperatorAssemblyData data, CeedInt *num_active_bases_in,
                                         CeedInt **num_eval_modes_in, const CeedEvalMode ***eval_modes_in,
                                         CeedSize ***eval_mode_offsets_in, CeedInt *num_active_bases_out,
                                         CeedInt **num_eval_modes_out, const CeedEvalMode ***eval_modes_out,
                                         CeedSize ***eval_mode_offsets_out, CeedSize *num_output_components) {
  RITZ_HANDLE(data);
  if (num_active_bases_in) *num_active_bases_in = data->in.num;
  if (num_eval_modes_in) *num_eval_modes_in = data->in.num_modes;
  if (eval_modes_in) *eval_modes_in = (const CeedEvalMode **)data->in.modes;
  if (eval_mode_offsets_in) *eval_mode_offsets_in = data->in.offsets;
  if (num_active_bases_out) *num_active_bases_out = data->out.num;
  if (num_eval_modes_out) *num_eval_modes_out = data->out.num_modes;
  if (eval_modes_out) *eval_modes_out = (const CeedEvalMode **)data->out.modes;
  if (eval_mode_offsets_out) *eval_mode_offsets_out = data->out.offsets;
  if (num_output_components) *num_output_components = data->out.num_total;
  return CEED_ERROR_SUCCESS;
}
