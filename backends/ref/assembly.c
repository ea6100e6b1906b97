// SPDX-License-Identifier: BSD-2-Clause
// Linear assembly, one element at a time: derivatives of the user's function by unit vectors, then diagonals
// or matrices from them and the tables of the bases. Memory: one element's derivatives and one element
// matrix.
#include <string.h>

#include "backends/ref/ref.h"
#include "backends/ref/state.h"

// ---- Derivatives of the user's function at the points of an element
// ---------------------------------------------------------

// Where the derivatives come from: the operator's cache, or the function itself.
typedef struct {
  CeedOperator op;
  RitzRefState state;
  const CeedScalar *cached; // NULL: evaluate
  CeedScalar *own;          // one element, when evaluated
  CeedSize N_in, N_out, size;
} Derivatives;

static int open_derivatives(CeedOperator op, bool use_cache, Derivatives *d) {
  *d = (Derivatives){
      .op = op, .N_in = op->assembly_data->in.num_total, .N_out = op->assembly_data->out.num_total};
  d->size = d->N_in * d->N_out * op->num_qpts;
  if (use_cache && op->qf_data->reuse)
    return CeedVectorGetArrayRead(op->qf_data->values, CEED_MEM_HOST, &d->cached);
  RITZ_TRY(RITZ_MALLOC(op->obj.ceed, (size_t)d->size, &d->own));
  return ritz_ref_state_open(op, NULL, NULL, &d->state);
}

static int close_derivatives(Derivatives *d, int ierr) {
  int closed =
      d->cached ? CeedVectorRestoreArrayRead(d->op->qf_data->values, &d->cached) : CEED_ERROR_SUCCESS;
  if (d->state.op) closed = ritz_ref_state_close(&d->state, closed);
  RITZ_FREE(&d->own);
  return ierr ? ierr : closed;
}

// All active outputs at the points, one after the other: columns of D for one active input scalar.
static void copy_outputs(const RitzRefState *state, CeedScalar *column) {
  for (CeedInt i = state->num_in; i < state->num_fields; i++) {
    const RitzRefField *f = &state->fields[i];
    if (!f->is_active) continue;
    memcpy(column, f->points, (size_t)f->num_points * sizeof(*column));
    column += f->num_points;
  }
}

// D[o][i] of point q at q + Q*(i*N_out + o).
static int evaluate(RitzRefState *state, CeedInt elem, CeedSize column_size, CeedScalar *D) {
  CeedInt Q = state->op->num_qpts;
  ritz_ref_state_evaluate(state, elem);
  for (CeedInt i = 0; i < state->num_in; i++) {
    if (state->fields[i].is_active)
      memset(state->fields[i].points, 0, (size_t)state->fields[i].num_points * sizeof(*D));
  }
  for (CeedInt i = 0; i < state->num_in; i++) {
    RitzRefField *f = &state->fields[i];
    for (CeedInt s = 0; f->is_active && s < f->field->qf_field->size; s++, D += column_size) {
      CeedScalar *unit = f->points + (CeedSize)s * Q;
      for (CeedInt q = 0; q < Q; q++) unit[q] = 1;
      RITZ_TRY(ritz_ref_state_call(state));
      copy_outputs(state, D);
      memset(unit, 0, (size_t)Q * sizeof(*unit));
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int derivatives_of(Derivatives *d, CeedInt elem, const CeedScalar **D) {
  *D = d->cached ? d->cached + (CeedSize)elem * d->size : d->own;
  return d->cached ? CEED_ERROR_SUCCESS : evaluate(&d->state, elem, d->N_out * d->op->num_qpts, d->own);
}

int ritz_ref_operator_assemble_qfunction(CeedOperator op, CeedScalar *values) {
  Derivatives d;
  int ierr = open_derivatives(op, false, &d);
  for (CeedInt elem = 0; !ierr && elem < op->num_elem; elem++) {
    ierr = evaluate(&d.state, elem, d.N_out * op->num_qpts, values + (CeedSize)elem * d.size);
  }
  return close_derivatives(&d, ierr);
}

// Derivatives of output scalar o by input scalar i, all points.
static const CeedScalar *entry_of(const Derivatives *d, const CeedScalar *D, CeedSize o, CeedSize i) {
  return D + (i * d->N_out + o) * d->op->num_qpts;
}

// ---- Diagonal
// -------------------------------------------------------------------------------------------------------

// A pair of groups with one basis and one restriction.
typedef struct {
  const RitzActiveGroups *in, *out;
  CeedInt a, b; // group numbers
  CeedBasis basis;
  CeedElemRestriction rstr;
  CeedInt num_nodes, num_comp;
  CeedScalar *squares; // tensor: interp*interp, interp*grad, grad*grad, each [Q_1d][P_1d]
  CeedScalar *diag;    // [num_nodes] of one component pair, then [num_comp][num_nodes]
  CeedScalar *work;
} Pair;

static int open_pair(CeedOperator op, CeedInt a, CeedInt b, Pair *p) {
  const RitzActiveGroups *in = &op->assembly_data->in, *out = &op->assembly_data->out;
  *p = (Pair){.in = in,
              .out = out,
              .a = a,
              .b = b,
              .basis = in->bases[a],
              .rstr = in->rstrs[a],
              .num_nodes = ritz_group_num_nodes(in, a),
              .num_comp = ritz_group_num_comp(in, a)};
  bool is_tensor = p->basis != CEED_BASIS_NONE && p->basis->is_tensor;
  CeedInt table = is_tensor ? p->basis->P_1d * p->basis->Q_1d : 0;
  CeedSize work_size = p->basis != CEED_BASIS_NONE ? ritz_ref_basis_work_size(p->basis) : 0;
  CeedSize diag_size = (CeedSize)p->num_nodes * (1 + (CeedSize)p->num_comp);
  RITZ_TRY(RITZ_MALLOC(op->obj.ceed, (size_t)(3 * table + diag_size + work_size), &p->squares));
  p->diag = p->squares + 3 * table;
  p->work = p->diag + diag_size;
  for (CeedInt k = 0; k < table; k++) {
    p->squares[k] = p->basis->interp_1d[k] * p->basis->interp_1d[k];
    p->squares[table + k] = p->basis->interp_1d[k] * p->basis->grad_1d[k];
    p->squares[2 * table + k] = p->basis->grad_1d[k] * p->basis->grad_1d[k];
  }
  return CEED_ERROR_SUCCESS;
}

// Direction that mode entry m of a group differentiates; -1: none.
static CeedInt direction_of(const RitzActiveGroups *g, CeedInt group, CeedInt m) {
  CeedInt d = 0;
  if (g->modes[group][m] != CEED_EVAL_GRAD) return -1;
  while (m - d > 0 && g->modes[group][m - d - 1] == CEED_EVAL_GRAD) d++;
  return d % g->bases[group]->dim;
}

// diag[n] += sum_q B^{m_out}[q][n] D[q] B^{m_in}[q][n]. The product of two tensor tables is the tensor
// product of 1D products.
static void add_tensor_diagonal(Pair *p, CeedInt m_in, CeedInt m_out, const CeedScalar *D) {
  CeedInt table = p->basis->P_1d * p->basis->Q_1d;
  CeedInt first = direction_of(p->in, p->a, m_in), second = direction_of(p->out, p->b, m_out);
  RitzRefTables tables = {p->squares, p->squares + table, first, second};
  if (first >= 0 && first == second) tables.special = p->squares + 2 * table;
  ritz_ref_tensor_evaluate(p->basis, 1, true, &tables, D, p->diag, p->work);
}

static int add_dense_diagonal(CeedOperator op, Pair *p, CeedInt m_in, CeedInt m_out, const CeedScalar *D) {
  const CeedScalar *B_in, *B_out;
  CeedInt Q = op->num_qpts, P = p->num_nodes, n_in = p->in->num_modes[p->a], n_out = p->out->num_modes[p->b];
  RITZ_TRY(ritz_group_table(op->obj.ceed, &op->assembly_data->in, p->a, Q, &B_in));
  RITZ_TRY(ritz_group_table(op->obj.ceed, &op->assembly_data->out, p->b, Q, &B_out));
  for (CeedInt q = 0; q < Q; q++) {
    const CeedScalar *row_in = B_in + ((CeedSize)q * n_in + m_in) * P,
                     *row_out = B_out + ((CeedSize)q * n_out + m_out) * P;
    for (CeedInt n = 0; n < P; n++) p->diag[n] += row_out[n] * D[q] * row_in[n];
  }
  return CEED_ERROR_SUCCESS;
}

// diag[n] of the component pair (c_out, c_in) of one element.
static int element_diagonal(CeedOperator op, const Derivatives *d, Pair *p, const CeedScalar *D,
                            CeedInt c_out, CeedInt c_in) {
  memset(p->diag, 0, (size_t)p->num_nodes * sizeof(*p->diag));
  for (CeedInt m_out = 0; m_out < p->out->num_modes[p->b]; m_out++) {
    for (CeedInt m_in = 0; m_in < p->in->num_modes[p->a]; m_in++) {
      const CeedScalar *entry =
          entry_of(d, D, p->out->offsets[p->b][m_out] + c_out, p->in->offsets[p->a][m_in] + c_in);
      if (p->basis != CEED_BASIS_NONE && p->basis->is_tensor)
        add_tensor_diagonal(p, m_in, m_out, entry);
      else
        RITZ_TRY(add_dense_diagonal(op, p, m_in, m_out, entry));
    }
  }
  return CEED_ERROR_SUCCESS;
}

// Signs cancel on the diagonal: the scatter takes orientations absolutely.
static int add_diagonal(CeedOperator op, const Derivatives *d, Pair *p, const CeedScalar *D, CeedInt elem,
                        CeedScalar *diagonal) {
  CeedScalar *e_vec = p->diag + p->num_nodes;
  for (CeedInt c = 0; c < p->num_comp; c++) {
    RITZ_TRY(element_diagonal(op, d, p, D, c, c));
    memcpy(e_vec + (CeedSize)c * p->num_nodes, p->diag, (size_t)p->num_nodes * sizeof(*e_vec));
  }
  ritz_ref_scatter_add(p->rstr, elem, false, e_vec, diagonal);
  return CEED_ERROR_SUCCESS;
}

static int add_blocks(CeedOperator op, const Derivatives *d, Pair *p, const CeedScalar *D, CeedInt elem,
                      CeedScalar *blocks) {
  CeedInt nc = p->num_comp;
  for (CeedInt k = 0; k < nc * nc; k++) {
    RITZ_TRY(element_diagonal(op, d, p, D, k / nc, k % nc));
    for (CeedInt n = 0; n < p->num_nodes; n++) {
      CeedSize offset = ritz_restriction_l_index(p->rstr, elem, n, 0),
               node = p->rstr->comp_stride == 1 ? offset / nc : offset;
      blocks[node * nc * nc + k] += p->diag[n];
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int add_pair_diagonal(CeedOperator op, Derivatives *d, Pair *p, bool is_point_block,
                             CeedScalar *diagonal) {
  for (CeedInt elem = 0; elem < op->num_elem; elem++) {
    const CeedScalar *D;
    RITZ_TRY(derivatives_of(d, elem, &D));
    RITZ_TRY((is_point_block ? add_blocks : add_diagonal)(op, d, p, D, elem, diagonal));
  }
  return CEED_ERROR_SUCCESS;
}

// Fields are matched by the handle of their basis; without bases by that of their restriction.
static bool is_match(const RitzActiveGroups *in, CeedInt a, const RitzActiveGroups *out, CeedInt b) {
  return in->bases[a] == out->bases[b] && in->rstrs[a] == out->rstrs[b];
}

int ritz_ref_operator_assemble_add_diagonal(CeedOperator op, bool is_point_block, CeedScalar *diagonal) {
  const RitzActiveGroups *in = &op->assembly_data->in, *out = &op->assembly_data->out;
  Derivatives d;
  int ierr = open_derivatives(op, true, &d);
  for (CeedInt k = 0; !ierr && k < in->num * out->num; k++) {
    Pair p;
    if (!is_match(in, k / out->num, out, k % out->num)) continue;
    ierr = open_pair(op, k / out->num, k % out->num, &p);
    if (!ierr) ierr = add_pair_diagonal(op, &d, &p, is_point_block, diagonal);
    RITZ_FREE(&p.squares);
  }
  return close_derivatives(&d, ierr);
}

// ---- Matrices
// -------------------------------------------------------------------------------------------------------

// One pair of groups: sizes, tables, and one element matrix in work.
typedef struct {
  CeedInt a, b;
  CeedElemRestriction rstr_in, rstr_out;
  CeedInt P_in, P_out, nc_in, nc_out, modes_in, modes_out;
  const CeedScalar *B_in, *B_out;
  CeedScalar *row; // [max(P_in, P_out)]
} Block;

static int open_block(CeedOperator op, CeedInt a, CeedInt b, Block *m) {
  Ceed ceed = op->obj.ceed;
  RitzActiveGroups *in = &op->assembly_data->in, *out = &op->assembly_data->out;
  *m = (Block){.a = a,
               .b = b,
               .rstr_in = in->rstrs[a],
               .rstr_out = out->rstrs[b],
               .P_in = ritz_group_num_nodes(in, a),
               .P_out = ritz_group_num_nodes(out, b),
               .nc_in = ritz_group_num_comp(in, a),
               .nc_out = ritz_group_num_comp(out, b),
               .modes_in = in->num_modes[a],
               .modes_out = out->num_modes[b]};
  RITZ_TRY(ritz_group_table(ceed, in, a, op->num_qpts, &m->B_in));
  RITZ_TRY(ritz_group_table(ceed, out, b, op->num_qpts, &m->B_out));
  return RITZ_MALLOC(ceed, (size_t)CeedIntMax(m->P_in, m->P_out), &m->row);
}

// A[i][j] = sum_q sum_{m_out} B^{m_out}[q][i] (sum_{m_in} D[m_out][m_in] B^{m_in}[q][j])
static void element_matrix(const Derivatives *d, Block *m, const CeedScalar *D, CeedInt c_out, CeedInt c_in,
                           CeedScalar *A) {
  const RitzActiveGroups *in = &d->op->assembly_data->in, *out = &d->op->assembly_data->out;
  memset(A, 0, (size_t)m->P_out * (size_t)m->P_in * sizeof(*A));
  for (CeedInt q = 0; q < d->op->num_qpts; q++) {
    for (CeedInt m_out = 0; m_out < m->modes_out; m_out++) {
      memset(m->row, 0, (size_t)m->P_in * sizeof(*m->row));
      for (CeedInt m_in = 0; m_in < m->modes_in; m_in++) {
        CeedScalar entry =
            entry_of(d, D, out->offsets[m->b][m_out] + c_out, in->offsets[m->a][m_in] + c_in)[q];
        const CeedScalar *B = m->B_in + ((CeedSize)q * m->modes_in + m_in) * m->P_in;
        for (CeedInt j = 0; j < m->P_in; j++) m->row[j] += entry * B[j];
      }
      const CeedScalar *B = m->B_out + ((CeedSize)q * m->modes_out + m_out) * m->P_out;
      for (CeedInt i = 0; i < m->P_out; i++) {
        for (CeedInt j = 0; j < m->P_in; j++) A[(CeedSize)i * m->P_in + j] += B[i] * m->row[j];
      }
    }
  }
}

// n entries x[0], x[stride], ... become T^T x with the tridiagonal orientation matrix T of an element.
static void orient(CeedElemRestriction r, CeedInt elem, CeedInt n, CeedInt stride, CeedScalar *x,
                   CeedScalar *work) {
  for (CeedInt j = 0; j < n; j++) {
    work[j] = 0;
    for (CeedInt i = CeedIntMax(0, j - 1); i <= CeedIntMin(n - 1, j + 1); i++) {
      work[j] += ritz_ref_orientation(r, elem, i, j) * x[(CeedSize)i * stride];
    }
  }
  for (CeedInt j = 0; j < n; j++) x[(CeedSize)j * stride] = work[j];
}

static bool is_oriented(CeedElemRestriction r) {
  return r->type == CEED_RESTRICTION_ORIENTED || r->type == CEED_RESTRICTION_CURL_ORIENTED;
}

// A := T_out^T A T_in
static void orient_matrix(Block *m, CeedInt elem, CeedScalar *A) {
  for (CeedInt i = 0; is_oriented(m->rstr_in) && i < m->P_out; i++) {
    orient(m->rstr_in, elem, m->P_in, 1, A + (CeedSize)i * m->P_in, m->row);
  }
  for (CeedInt j = 0; is_oriented(m->rstr_out) && j < m->P_in; j++)
    orient(m->rstr_out, elem, m->P_out, m->P_in, A + j, m->row);
}

static int assemble_block(CeedOperator op, Derivatives *d, Block *m, CeedScalar **values) {
  for (CeedInt elem = 0; elem < op->num_elem; elem++) {
    const CeedScalar *D;
    RITZ_TRY(derivatives_of(d, elem, &D));
    for (CeedInt k = 0; k < m->nc_in * m->nc_out; k++) {
      element_matrix(d, m, D, k % m->nc_out, k / m->nc_out, *values);
      orient_matrix(m, elem, *values);
      *values += (CeedSize)m->P_out * m->P_in;
    }
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_ref_operator_assemble(CeedOperator op, CeedScalar *values) {
  CeedInt num_out = op->assembly_data->out.num;
  Derivatives d;
  int ierr = open_derivatives(op, true, &d);
  for (CeedInt k = 0; !ierr && k < op->assembly_data->in.num * num_out; k++) {
    Block m;
    ierr = open_block(op, k / num_out, k % num_out, &m);
    if (!ierr) ierr = assemble_block(op, &d, &m, &values);
    RITZ_FREE(&m.row);
  }
  return close_derivatives(&d, ierr);
}
