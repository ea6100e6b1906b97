// SPDX-License-Identifier: BSD-2-Clause
// Diagonals and matrices of linear operators, one element at a time, from the derivatives of the QFunction
// and the tables of the bases. On the threads of contexts that have some: /cpu/self/gen assembles by these
// loops what it has no kernel for. Memory, for each thread: one element's derivatives, some rows of one
// element, the diagonals of some elements.
#include <string.h>

#include "backends/ref/derivatives.h"
#include "backends/ref/ref.h"
#include "base/simd.h"

// ---- Diagonal ----

// A pair of groups with one basis and one restriction.
typedef struct {
  const RitzActiveGroups *in, *out;
  CeedInt a, b; // group numbers
  CeedBasis basis;
  CeedElemRestriction rstr;
  CeedInt num_comp, max_nodes;
  CeedInt num_nodes;              // of the current element
  bool is_factorised;             // tensor basis at its own quadrature points
  const CeedScalar *B_in, *B_out; // else: tables of the current element
  CeedScalar *memory;             // owned; the arrays below
  CeedScalar *squares;            // interp*interp, interp*grad, grad*grad, each [Q_1d][P_1d]
  CeedScalar *diag;               // [num_nodes] of one component pair
  CeedScalar *work;
} Pair;

static void set_squares(CeedBasis basis, CeedScalar *squares) {
  CeedInt n = basis->P_1d * basis->Q_1d;
  for (CeedInt k = 0; k < n; k++) {
    squares[k] = basis->interp_1d[k] * basis->interp_1d[k];
    squares[n + k] = basis->interp_1d[k] * basis->grad_1d[k];
    squares[2 * n + k] = basis->grad_1d[k] * basis->grad_1d[k];
  }
}

static int open_pair(CeedOperator op, CeedInt a, CeedInt b, Pair *p) {
  const RitzActiveGroups *in = &op->assembly_data->in, *out = &op->assembly_data->out;
  *p = (Pair){.in = in, .out = out, .a = a, .b = b, .basis = in->bases[a], .rstr = in->rstrs[a]};
  p->num_comp = ritz_group_num_comp(in, a);
  p->is_factorised = p->basis != CEED_BASIS_NONE && p->basis->is_tensor && !op->is_at_points;
  p->max_nodes = ritz_group_num_nodes(in, a);
  if (op->is_at_points) p->max_nodes = CeedIntMax(p->max_nodes, ritz_ref_max_points(op));
  CeedSize table_size = p->is_factorised ? 3 * (CeedSize)p->basis->P_1d * p->basis->Q_1d : 0;
  CeedSize work_size = p->is_factorised ? ritz_ref_basis_work_size(p->basis) : 0;
  RITZ_TRY(RITZ_MALLOC(op->obj.ceed, (size_t)(table_size + p->max_nodes + work_size), &p->memory));
  if (!p->memory) return CEED_ERROR_SUCCESS; // elements without nodes
  p->squares = p->memory;
  p->diag = p->squares + table_size;
  p->work = p->diag + p->max_nodes;
  if (p->is_factorised) set_squares(p->basis, p->squares);
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
static void add_factorised(Pair *p, CeedInt m_in, CeedInt m_out, const CeedScalar *D) {
  CeedInt n = p->basis->P_1d * p->basis->Q_1d;
  CeedInt first = direction_of(p->in, p->a, m_in), second = direction_of(p->out, p->b, m_out);
  bool is_same = first >= 0 && first == second;
  const RitzRefTables tables = {p->squares, p->squares + (is_same ? 2 * n : n), first, second};
  ritz_ref_tensor_evaluate(p->basis, 1, true, &tables, D, p->diag, p->work);
}

static void add_dense(Pair *p, CeedInt num_points, CeedInt m_in, CeedInt m_out, const CeedScalar *D) {
  CeedInt P = p->num_nodes, n_in = p->in->num_modes[p->a], n_out = p->out->num_modes[p->b];
  for (CeedInt q = 0; q < num_points; q++) {
    const CeedScalar *row_in = p->B_in + ((CeedSize)q * n_in + m_in) * P;
    const CeedScalar *row_out = p->B_out + ((CeedSize)q * n_out + m_out) * P;
    for (CeedInt n = 0; n < P; n++) p->diag[n] += row_out[n] * D[q] * row_in[n];
  }
}

// diag[n] of the component pair (c_out, c_in) on the current element.
static void element_diagonal(const RitzRefDerivatives *d, Pair *p, CeedInt c_out, CeedInt c_in) {
  memset(p->diag, 0, (size_t)p->num_nodes * sizeof(*p->diag));
  for (CeedInt m_out = 0; m_out < p->out->num_modes[p->b]; m_out++) {
    for (CeedInt m_in = 0; m_in < p->in->num_modes[p->a]; m_in++) {
      const CeedScalar *D = ritz_ref_derivatives_entry(d, p->out->offsets[p->b][m_out] + c_out,
                                                       p->in->offsets[p->a][m_in] + c_in);
      if (p->is_factorised)
        add_factorised(p, m_in, m_out, D);
      else
        add_dense(p, d->num_points, m_in, m_out, D);
    }
  }
}

// Diagonals, or blocks [nc][nc][nodes], of a group of elements: computed on the threads of the context, then
// added in the order of the elements.
typedef struct {
  bool is_point_block;
  Pair *pairs;            // owned, of each slot
  CeedInt first, num_max; // element that the group begins with, the most that it has
  CeedSize size;          // room for an element
  CeedScalar *values;     // owned [num_max][size]
} Group;

static int compute_diagonal(RitzRefDerivatives *d, void *data, int slot, CeedInt elem) {
  const Group *g = data;
  Pair *p = &g->pairs[slot];
  const CeedInt nc = p->num_comp;
  p->num_nodes = ritz_ref_group_num_nodes(d, true, p->a);
  if (g->size == 0) return CEED_ERROR_SUCCESS; // no element has a node
  CeedScalar *values = g->values + (elem - g->first) * g->size;
  memset(values, 0, (size_t)g->size * sizeof(*values));
  if (d->num_points == 0) return CEED_ERROR_SUCCESS;
  if (!p->is_factorised) RITZ_TRY(ritz_ref_group_table(d, true, p->a, &p->B_in));
  if (!p->is_factorised) RITZ_TRY(ritz_ref_group_table(d, false, p->b, &p->B_out));
  for (CeedInt k = 0; k < (g->is_point_block ? nc * nc : nc); k++) {
    element_diagonal(d, p, g->is_point_block ? k / nc : k, g->is_point_block ? k % nc : k);
    memcpy(values + (CeedSize)k * p->num_nodes, p->diag, (size_t)p->num_nodes * sizeof(*p->diag));
  }
  return CEED_ERROR_SUCCESS;
}

// Blocks are node-major whatever the component stride of the field.
static void add_blocks(CeedElemRestriction rstr, CeedInt elem, CeedInt num_nodes, const CeedScalar *values,
                       CeedScalar *blocks) {
  const CeedInt nc = rstr->num_comp;
  for (CeedInt n = 0; n < num_nodes; n++) {
    CeedSize offset = ritz_restriction_l_index(rstr, elem, n, 0);
    CeedSize node = rstr->comp_stride == 1 ? offset / nc : offset;
    for (CeedInt k = 0; k < nc * nc; k++) blocks[node * nc * nc + k] += values[(CeedSize)k * num_nodes + n];
  }
}

// Signs cancel on the diagonal: the scatter takes orientations absolutely.
static void add_group(const Group *g, CeedInt num, CeedInt num_nodes, CeedScalar *diagonal) {
  const CeedElemRestriction rstr = g->pairs[0].rstr;
  for (CeedInt k = 0; k < num && g->size > 0; k++) {
    if (g->is_point_block)
      add_blocks(rstr, g->first + k, num_nodes, g->values + k * g->size, diagonal);
    else
      ritz_ref_scatter_add(rstr, g->first + k, false, g->values + k * g->size, diagonal);
  }
}

enum { GROUP = 64 }; // elements a slot

// Tables are made here, before threads ask for them.
static int open_group(RitzRefCrew *crew, CeedInt a, CeedInt b, Group *g) {
  CeedOperator op = crew->op;
  const CeedScalar *table;
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, (size_t)crew->num_slots, &g->pairs));
  for (int s = 0; s < crew->num_slots; s++) RITZ_TRY(open_pair(op, a, b, &g->pairs[s]));
  const Pair *p = &g->pairs[0];
  if (!p->is_factorised && !op->is_at_points) {
    RITZ_TRY(ritz_ref_group_table(&crew->d[0], true, a, &table));
    RITZ_TRY(ritz_ref_group_table(&crew->d[0], false, b, &table));
  }
  g->num_max = crew->num_slots > 1 ? GROUP * crew->num_slots : 1;
  g->size = (CeedSize)p->max_nodes * p->num_comp * (g->is_point_block ? p->num_comp : 1);
  return RITZ_MALLOC(op->obj.ceed, (size_t)(g->num_max * g->size), &g->values);
}

static int add_pair(RitzRefCrew *crew, CeedInt a, CeedInt b, bool is_point_block, CeedScalar *diagonal) {
  const CeedInt num_elem = crew->op->num_elem;
  Group g = {.is_point_block = is_point_block};
  int ierr = open_group(crew, a, b, &g);
  for (; !ierr && g.first < num_elem; g.first += g.num_max) {
    const CeedInt num = CeedIntMin(g.num_max, num_elem - g.first);
    ierr = ritz_ref_crew_run(crew, g.first, num, compute_diagonal, &g);
    if (!ierr) add_group(&g, num, g.pairs[0].max_nodes, diagonal);
  }
  for (int s = 0; g.pairs && s < crew->num_slots; s++) RITZ_FREE(&g.pairs[s].memory);
  RITZ_FREE(&g.pairs);
  RITZ_FREE(&g.values);
  return ierr;
}

int ritz_ref_operator_assemble_add_diagonal(CeedOperator op, bool is_point_block, void *diagonal) {
  const RitzActiveGroups *in = &op->assembly_data->in, *out = &op->assembly_data->out;
  RitzRefCrew crew;
  int ierr = ritz_ref_crew_open(op, true, &crew);
  for (CeedInt k = 0; !ierr && k < in->num * out->num; k++) {
    CeedInt a = k / out->num, b = k % out->num;
    if (in->bases[a] != out->bases[b] || in->rstrs[a] != out->rstrs[b]) continue;
    ierr = add_pair(&crew, a, b, is_point_block, diagonal);
  }
  return ritz_ref_crew_close(&crew, ierr);
}

// ---- Matrices ----

enum { ROWS = 8 };

// One pair of groups: sizes, tables of the current element, some rows.
typedef struct {
  CeedInt a, b;
  CeedElemRestriction rstr_in, rstr_out;
  CeedInt P_in, P_out, nc_in, nc_out, modes_in, modes_out;
  const CeedScalar *B_in, *B_out;
  CeedScalar *rows; // owned, [ROWS][max(P_in, P_out)]
} Block;

static int open_block(CeedOperator op, CeedInt a, CeedInt b, Block *m) {
  const RitzActiveGroups *in = &op->assembly_data->in, *out = &op->assembly_data->out;
  *m = (Block){.a = a, .b = b, .rstr_in = in->rstrs[a], .rstr_out = out->rstrs[b]};
  m->P_in = ritz_group_num_nodes(in, a);
  m->P_out = ritz_group_num_nodes(out, b);
  m->nc_in = ritz_group_num_comp(in, a);
  m->nc_out = ritz_group_num_comp(out, b);
  m->modes_in = in->num_modes[a];
  m->modes_out = out->num_modes[b];
  return RITZ_MALLOC(op->obj.ceed, ROWS * (size_t)CeedIntMax(m->P_in, m->P_out), &m->rows);
}

// row[j] = sum_{m_in} D[m_out][m_in] B^{m_in}[q][j]
static void set_row(const RitzRefDerivatives *d, const Block *m, CeedSize o, CeedInt c_in, CeedInt q,
                    CeedScalar *row) {
  const RitzActiveGroups *in = &d->op->assembly_data->in;
  memset(row, 0, (size_t)m->P_in * sizeof(*row));
  for (CeedInt m_in = 0; m_in < m->modes_in; m_in++) {
    CeedScalar entry = ritz_ref_derivatives_entry(d, o, in->offsets[m->a][m_in] + c_in)[q];
    const CeedScalar *B = m->B_in + ((CeedSize)q * m->modes_in + m_in) * m->P_in;
    for (CeedInt j = 0; j < m->P_in; j++) row[j] += entry * B[j];
  }
}

// A[i][j] += sum_k B[k][i] rows[k][j], k = 0 .. num - 1 in this order.
RITZ_INLINED void add_rows(int num, CeedInt P_out, CeedInt P_in, const CeedScalar *B, const CeedScalar *rows,
                           CeedScalar *restrict A) {
  for (CeedInt i = 0; i < P_out; i++) {
    for (CeedInt j = 0; j < P_in; j++) {
      CeedScalar sum = A[(CeedSize)i * P_in + j];
      for (int k = 0; k < num; k++) sum += B[(CeedSize)k * P_out + i] * rows[(CeedSize)k * P_in + j];
      A[(CeedSize)i * P_in + j] = sum;
    }
  }
}

// As add_rows for any number of rows: A is read and written once for ROWS of them.
RITZ_CLONED static void add_products(int num, CeedInt P_out, CeedInt P_in, const CeedScalar *B,
                                     const CeedScalar *rows, CeedScalar *restrict A) {
  if (num == ROWS) {
    add_rows(ROWS, P_out, P_in, B, rows, A);
    return;
  }
  for (int k = 0; k < num; k++)
    add_rows(1, P_out, P_in, B + (CeedSize)k * P_out, rows + (CeedSize)k * P_in, A);
}

// A[i][j] = sum_q sum_{m_out} B^{m_out}[q][i] row[j], some rows at a time.
static void element_matrix(const RitzRefDerivatives *d, Block *m, CeedInt c_out, CeedInt c_in,
                           CeedScalar *A) {
  const RitzActiveGroups *out = &d->op->assembly_data->out;
  const CeedInt num = d->num_points * m->modes_out;

  memset(A, 0, (size_t)m->P_out * (size_t)m->P_in * sizeof(*A));
  for (CeedInt first = 0; first < num; first += ROWS) {
    const CeedInt num_rows = CeedIntMin(ROWS, num - first);
    for (CeedInt k = 0; k < num_rows; k++) {
      const CeedInt q = (first + k) / m->modes_out, m_out = (first + k) % m->modes_out;
      set_row(d, m, out->offsets[m->b][m_out] + c_out, c_in, q, m->rows + (CeedSize)k * m->P_in);
    }
    add_products(num_rows, m->P_out, m->P_in, m->B_out + (CeedSize)first * m->P_out, m->rows, A);
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
    orient(m->rstr_in, elem, m->P_in, 1, A + (CeedSize)i * m->P_in, m->rows);
  }
  for (CeedInt j = 0; is_oriented(m->rstr_out) && j < m->P_in; j++) {
    orient(m->rstr_out, elem, m->P_out, m->P_in, A + j, m->rows);
  }
}

typedef struct {
  Block *blocks; // owned, of each slot
  CeedInt first; // element whose matrix `values` begins with
  CeedScalar *values;
} Matrices;

static int assemble_element(RitzRefDerivatives *d, void *data, int slot, CeedInt elem) {
  const Matrices *to = data;
  Block *m = &to->blocks[slot];
  const CeedSize size = (CeedSize)m->P_out * m->P_in;
  CeedScalar *values = to->values + (elem - to->first) * size * m->nc_in * m->nc_out;
  RITZ_TRY(ritz_ref_group_table(d, true, m->a, &m->B_in));
  RITZ_TRY(ritz_ref_group_table(d, false, m->b, &m->B_out));
  for (CeedInt k = 0; k < m->nc_in * m->nc_out; k++, values += size) {
    element_matrix(d, m, k % m->nc_out, k / m->nc_out, values);
    orient_matrix(m, elem, values);
  }
  return CEED_ERROR_SUCCESS;
}

// Tables are made here, before threads ask for them.
static int open_matrices(RitzRefCrew *crew, CeedInt a, CeedInt b, Matrices *to) {
  const CeedScalar *table;
  RITZ_TRY(RITZ_CALLOC(crew->op->obj.ceed, (size_t)crew->num_slots, &to->blocks));
  for (int s = 0; s < crew->num_slots; s++) RITZ_TRY(open_block(crew->op, a, b, &to->blocks[s]));
  if (crew->op->is_at_points) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_ref_group_table(&crew->d[0], true, a, &table));
  return ritz_ref_group_table(&crew->d[0], false, b, &table);
}

int ritz_ref_operator_assemble(CeedOperator op, CeedInt a, CeedInt b, CeedInt first_elem, CeedInt num_elem,
                               CeedSize place, CeedScalar *values) {
  Matrices to = {.first = first_elem, .values = values + place};
  RitzRefCrew crew;
  int ierr = ritz_ref_crew_open(op, true, &crew);
  if (!ierr) ierr = open_matrices(&crew, a, b, &to);
  if (!ierr) ierr = ritz_ref_crew_run(&crew, first_elem, num_elem, assemble_element, &to);
  for (int s = 0; to.blocks && s < crew.num_slots; s++) RITZ_FREE(&to.blocks[s].rows);
  RITZ_FREE(&to.blocks);
  return ritz_ref_crew_close(&crew, ierr);
}
