// SPDX-License-Identifier: BSD-2-Clause
// Plan of an operator -> plan of its element matrices (contract in plan/matrix.h).
#include "plan/matrix.h"

#include <stdlib.h>
#include <string.h>

#include "plan/internal.h"

// ---- Which element matrices have a kernel ----

static bool is_curl_oriented(const RitzActiveGroups *g, CeedInt group) {
  return g->rstrs[group]->type == CEED_RESTRICTION_CURL_ORIENTED;
}

const char *ritz_plan_refuse_matrix(CeedOperator op, CeedInt a, CeedInt b) {
  const RitzActiveGroups *in = &op->assembly_data->in, *out = &op->assembly_data->out;
  if (op->is_at_points) return "its points differ between elements";
  if (is_curl_oriented(in, a) || is_curl_oriented(out, b)) return "an active restriction is curl-oriented";
  return NULL;
}

static bool is_small_tensor(CeedBasis basis) {
  return basis != CEED_BASIS_NONE && basis->is_tensor && basis->dim > 1 && basis->dim <= 3 &&
         basis->P_1d > 2 && basis->P_1d <= RITZ_MATRIX_MAX_1D;
}

// ---- Terms ----

// Kind of the pair in a direction of modes that differentiate these (-1: none).
static int kind_of(int in, int out, int direction) { return 2 * (out == direction) + (in == direction); }

static int compare_kinds(const void *a, const void *b) { return memcmp(a, b, 3 * sizeof(int)); }

static int find_kinds(int num, int (*kinds)[3], const int *wanted) {
  int k = 0;
  while (k < num && compare_kinds(kinds[k], wanted) != 0) k++;
  return k;
}

// Kinds are small numbers: bytes compare as numbers do, on little-endian and big-endian machines alike.
static int sort_terms(Ceed ceed, const int *in, const int *out, CeedInt dim, RitzMatrixPlan *m) {
  RitzDiagonalPlan *d = &m->units;
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)d->num_in * (size_t)d->num_out, &m->kinds));
  for (int is_second = 0; is_second < 2; is_second++) {
    for (int k = 0; k < d->num_in * d->num_out; k++) {
      int kinds[3] = {0};
      for (int r = 0; r < dim; r++) kinds[r] = kind_of(in[k / d->num_out], out[k % d->num_out], r);
      const int term = find_kinds(m->num_terms, m->kinds, kinds);
      if (is_second) d->term_of[k] = term;
      if (term < m->num_terms) continue;
      memcpy(m->kinds[m->num_terms++], kinds, sizeof(kinds));
    }
    if (!is_second) qsort(m->kinds, (size_t)m->num_terms, sizeof(*m->kinds), compare_kinds);
  }
  return CEED_ERROR_SUCCESS;
}

static int list_terms(CeedOperator op, CeedInt a, CeedInt b, RitzMatrixPlan *m) {
  const RitzActiveGroups *in = &op->assembly_data->in, *out = &op->assembly_data->out;
  const Ceed ceed = op->obj.ceed;
  RitzDiagonalPlan *d = &m->units;
  int *rows[2] = {NULL, NULL}, ierr;
  d->num_in = in->num_modes[a];
  d->num_out = out->num_modes[b];
  RITZ_TRY_CLEANUP(ritz_plan_list_modes(ceed, in, a, &d->first_in, &rows[0]));
  RITZ_TRY_CLEANUP(ritz_plan_list_modes(ceed, out, b, &d->first_out, &rows[1]));
  RITZ_TRY_CLEANUP(RITZ_CALLOC(ceed, (size_t)d->num_in * (size_t)d->num_out, &d->term_of));
  m->num_terms = 0;
  if (m->is_tensor) {
    ierr = sort_terms(ceed, rows[0], rows[1], in->bases[a]->dim, m);
  } else {
    for (int k = 0; k < d->num_in * d->num_out; k++) d->term_of[k] = m->num_terms++;
  }
cleanup:
  RITZ_FREE(&rows[0]);
  RITZ_FREE(&rows[1]);
  return ierr;
}

// ---- Tables ----

static int make_pairs(Ceed ceed, CeedBasis in, CeedBasis out, RitzMatrixPlan *m) {
  const CeedInt Q = in->Q_1d, size = in->P_1d * out->P_1d;
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(RITZ_NUM_PAIR_KINDS * Q * size), &m->pairs));
  for (int kind = 0; kind < RITZ_NUM_PAIR_KINDS; kind++) {
    const CeedScalar *left = kind & 2 ? out->grad_1d : out->interp_1d,
                     *right = kind & 1 ? in->grad_1d : in->interp_1d;
    for (CeedInt q = 0; q < Q; q++) {
      CeedScalar *pair = m->pairs + (kind * Q + q) * size;
      for (CeedInt k = 0; k < size; k++)
        pair[k] = left[q * out->P_1d + k / in->P_1d] * right[q * in->P_1d + k % in->P_1d];
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int copy_table(CeedOperator op, RitzActiveGroups *g, CeedInt group, CeedScalar **copy) {
  const size_t num =
      (size_t)op->num_qpts * (size_t)g->num_modes[group] * (size_t)ritz_group_num_nodes(g, group);
  const CeedScalar *table;
  RITZ_TRY(ritz_group_table(op->obj.ceed, g, group, op->num_qpts, &table));
  RITZ_TRY(RITZ_MALLOC(op->obj.ceed, num, copy));
  memcpy(*copy, table, num * sizeof(*table));
  return CEED_ERROR_SUCCESS;
}

// ---- The plan ----

static int describe_matrix(CeedOperator op, const RitzPlan *plan, CeedInt a, CeedInt b, RitzMatrixPlan *m) {
  RitzActiveGroups *in = &op->assembly_data->in, *out = &op->assembly_data->out;
  const CeedBasis from = in->bases[a], to = out->bases[b];
  m->is_tensor = is_small_tensor(from) && is_small_tensor(to) && plan->dim == from->dim &&
                 from->dim == to->dim && from->Q_1d == to->Q_1d;
  m->comps_in = ritz_group_num_comp(in, a);
  m->comps_out = ritz_group_num_comp(out, b);
  m->P_in = m->is_tensor ? from->P_1d : ritz_group_num_nodes(in, a);
  m->P_out = m->is_tensor ? to->P_1d : ritz_group_num_nodes(out, b);
  m->cols = m->comps_in * ritz_group_num_nodes(in, a);
  m->rows = m->comps_out * ritz_group_num_nodes(out, b);
  RITZ_TRY(ritz_plan_passive(op->obj.ceed, plan, &m->units));
  m->units.output.num_comp = m->comps_in; // what ritz_set_unit counts by
  RITZ_TRY(list_terms(op, a, b, m));
  if (m->is_tensor) return make_pairs(op->obj.ceed, from, to, m);
  RITZ_TRY(copy_table(op, in, a, &m->B[0]));
  return copy_table(op, out, b, &m->B[1]);
}

int ritz_plan_matrix(CeedOperator op, const RitzPlan *plan, CeedInt a, CeedInt b, RitzMatrixPlan **matrix) {
  RitzMatrixPlan *made = NULL;
  *matrix = NULL;
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, 1, &made));
  const int ierr = describe_matrix(op, plan, a, b, made);
  if (ierr) ritz_plan_free_matrix(&made);
  *matrix = made;
  return ierr;
}

void ritz_plan_free_matrix(RitzMatrixPlan **matrix) {
  RitzMatrixPlan *m = *matrix;
  if (!m) return;
  ritz_plan_clear_diagonal(&m->units);
  RITZ_FREE((void **)&m->kinds);
  RITZ_FREE(&m->pairs);
  RITZ_FREE(&m->B[0]);
  RITZ_FREE(&m->B[1]);
  RITZ_FREE(matrix);
}
