// SPDX-License-Identifier: BSD-2-Clause
// Assembly of operators at points on a device, by the separate kernels of an apply (run.h): unit vectors at
// the nodes of all elements of a batch give a column of all their matrices, unit vectors at the points the
// derivatives of the QFunction. Columns are put where they belong on the host. Called by assembly.c.
#include <string.h>

#include "backends/gpu/assembly.h"
#include "backends/gpu/memory.h"
#include "backends/gpu/operators.h"
#include "backends/gpu/run.h"
#include "backends/gpu/vectors.h"
#include "plan/gpu-assembly.h"

// A batch of columns: of input group a, output group b. Columns are E-vectors [num_comp][num][nodes].
typedef struct {
  CeedOperator op;
  CeedInt a, b;
  RitzAssemblySide in, out;
  RitzGpuRun run;
  CeedInt first, num;               // elements
  CeedScalar *unit, *column, *part; // owned, host memory
} Columns;

static bool is_member(CeedOperatorField f, const RitzActiveGroups *g, CeedInt group) {
  return f->vec == CEED_VECTOR_ACTIVE && !ritz_field_is_unused(f) && f->basis == g->bases[group];
}

static int open_columns(CeedOperator op, CeedInt a, CeedInt b, CeedSize extra_length, Columns *c) {
  const RitzActiveGroups *in = &op->assembly_data->in, *out = &op->assembly_data->out;
  *c =
      (Columns){.op = op, .a = a, .b = b, .in = ritz_assembly_side(in, a), .out = ritz_assembly_side(out, b)};
  RITZ_TRY(ritz_gpu_run_open_columns(op, extra_length, &c->run));
  const CeedSize length = (CeedSize)c->run.batch * c->in.num_nodes * c->in.num_comp;
  const CeedSize length_out = (CeedSize)c->run.batch * c->out.num_nodes * c->out.num_comp;
  RITZ_TRY(RITZ_MALLOC(op->obj.ceed, (size_t)length, &c->unit));
  RITZ_TRY(RITZ_MALLOC(op->obj.ceed, (size_t)length_out, &c->column));
  return RITZ_MALLOC(op->obj.ceed, (size_t)length_out, &c->part);
}

static int close_columns(Columns *c, int ierr) {
  RITZ_FREE(&c->unit);
  RITZ_FREE(&c->column);
  RITZ_FREE(&c->part);
  return ritz_gpu_run_close(&c->run, ierr);
}

// Passive inputs at the points; active ones are zero.
static int begin_columns(Columns *c, CeedInt first, CeedInt num) {
  const CeedOperator op = c->op;
  c->first = first;
  c->num = num;
  RITZ_TRY(ritz_gpu_run_evaluate(&c->run, first, num));
  for (CeedInt i = 0; i < op->num_in; i++) {
    const RitzGpuField *f = &c->run.q_fields[i];
    if (op->in[i]->vec == CEED_VECTOR_ACTIVE)
      RITZ_TRY(ritz_gpu_vector_set_value(op->obj.ceed, CEED_SCALAR_TYPE, f->stride * op->qf->in[i]->size, 0,
                                         (void *)f->array));
  }
  return CEED_ERROR_SUCCESS;
}

static int set_unit(const Columns *c, CeedInt comp, CeedInt node) {
  const CeedSize length = (CeedSize)c->num * c->in.num_nodes * c->in.num_comp;
  const CeedInt first = comp * c->num, P = c->in.num_nodes;
  memset(c->unit, 0, (size_t)length * sizeof(*c->unit));
  for (CeedInt e = 0; e < c->num; e++) c->unit[(CeedSize)(first + e) * P + node] = 1;
  for (CeedInt i = 0; i < c->op->num_in; i++) {
    if (!is_member(c->op->in[i], &c->op->assembly_data->in, c->a)) continue;
    RITZ_TRY(ritz_gpu_copy_in(c->op->obj.ceed, (size_t)length * sizeof(*c->unit), c->run.fields[i].e_vec,
                              c->unit));
    RITZ_TRY(ritz_gpu_run_basis(&c->run, i, c->first, c->num));
  }
  return CEED_ERROR_SUCCESS;
}

// c->column: the sum of all output fields of the group.
static int get_column(const Columns *c) {
  const CeedSize length = (CeedSize)c->num * c->out.num_nodes * c->out.num_comp;
  memset(c->column, 0, (size_t)length * sizeof(*c->column));
  for (CeedInt o = 0; o < c->op->num_out; o++) {
    const CeedInt i = c->op->num_in + o;
    if (!is_member(c->op->out[o], &c->op->assembly_data->out, c->b)) continue;
    RITZ_TRY(ritz_gpu_run_basis(&c->run, i, c->first, c->num));
    RITZ_TRY(ritz_gpu_copy_out(c->op->obj.ceed, (size_t)length * sizeof(*c->part), c->part,
                               c->run.fields[i].e_vec));
    for (CeedSize k = 0; k < length; k++) c->column[k] += c->part[k];
  }
  return CEED_ERROR_SUCCESS;
}

// The column of all elements of the batch for a unit vector at a node.
static int make_column(const Columns *c, CeedInt comp, CeedInt node) {
  const int64_t num_points = ritz_gpu_run_points(&c->run, c->first, c->num);
  RITZ_TRY(set_unit(c, comp, node));
  RITZ_TRY(ritz_gpu_qfunction_run(c->op->qf, num_points, c->run.q_fields));
  return get_column(c);
}

typedef int (*ColumnFunction)(Columns *c, CeedInt comp, CeedInt node, void *data);
typedef int (*BatchFunction)(Columns *c, void *data);

// Calls `column` for all columns of each batch, then `end` (NULL: nothing). Elements without points have
// none.
static int run_columns(Columns *c, CeedInt begin, CeedInt end_elem, ColumnFunction column, BatchFunction end,
                       void *data) {
  for (CeedSize first = begin; first < end_elem; first += c->run.batch) {
    const CeedInt num = CeedIntMin(c->run.batch, end_elem - (CeedInt)first);
    if (ritz_gpu_run_points(&c->run, (CeedInt)first, num) == 0) continue;
    RITZ_TRY(begin_columns(c, (CeedInt)first, num));
    for (CeedInt k = 0; k < c->in.num_comp * c->in.num_nodes; k++) {
      const CeedInt comp = k / c->in.num_nodes, node = k % c->in.num_nodes;
      RITZ_TRY(make_column(c, comp, node));
      RITZ_TRY(column(c, comp, node, data));
    }
    if (end) RITZ_TRY(end(c, data));
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Diagonals ----

typedef struct {
  CeedElemRestriction rstr;
  CeedScalar *e_vec;  // owned, host: of a batch
  CeedScalar *values; // device
} Diagonal;

static int pick_diagonal(Columns *c, CeedInt comp, CeedInt node, void *data) {
  const Diagonal *d = data;
  for (CeedInt e = 0; e < c->num; e++) {
    const CeedSize at = ((CeedSize)comp * c->num + e) * c->in.num_nodes + node;
    d->e_vec[at] = c->column[at];
  }
  return CEED_ERROR_SUCCESS;
}

// Signs cancel: orientations are taken absolutely.
static int add_diagonal(Columns *c, void *data) {
  const Diagonal *d = data;
  const RitzRestrictionAction action = {CEED_TRANSPOSE, c->first, c->num, false, d->rstr->use_orients};
  const size_t length = (size_t)c->num * (size_t)c->in.num_nodes * (size_t)c->in.num_comp;
  RITZ_TRY(ritz_gpu_copy_in(c->op->obj.ceed, length * sizeof(*d->e_vec), c->run.extra, d->e_vec));
  return ritz_gpu_restriction_apply(d->rstr, &action, CEED_SCALAR_TYPE, c->run.extra, d->values);
}

int ritz_gpu_points_diagonal(CeedOperator op, CeedInt a, CeedInt b, CeedScalar *values) {
  const RitzAssemblySide in = ritz_assembly_side(&op->assembly_data->in, a);
  const CeedSize length = (CeedSize)in.num_nodes * in.num_comp;
  Diagonal d = {.rstr = op->assembly_data->in.rstrs[a], .values = values};
  Columns c;
  if (op->num_elem == 0) return CEED_ERROR_SUCCESS;
  int ierr = open_columns(op, a, b, length, &c);
  if (!ierr) ierr = RITZ_MALLOC(op->obj.ceed, (size_t)(length * c.run.batch), &d.e_vec);
  if (!ierr) ierr = run_columns(&c, 0, op->num_elem, pick_diagonal, add_diagonal, &d);
  RITZ_FREE(&d.e_vec);
  return close_columns(&c, ierr);
}

// ---- Element matrices ----

typedef struct {
  CeedInt first_elem;
  CeedScalar *values; // host
} Matrices;

// Component pairs apart: c_in, c_out, output node, input node.
static int place_column(Columns *c, CeedInt comp, CeedInt node, void *data) {
  const Matrices *t = data;
  const CeedInt P_out = c->out.num_nodes, P_in = c->in.num_nodes, nc_out = c->out.num_comp;
  const CeedSize pair = (CeedSize)P_out * P_in, size = pair * nc_out * c->in.num_comp;
  for (CeedInt k = 0; k < nc_out * c->num; k++) {
    const CeedInt c_out = k / c->num, e = k % c->num;
    const CeedScalar *from = c->column + ((CeedSize)c_out * c->num + e) * P_out;
    CeedScalar *to =
        t->values + (c->first - t->first_elem + e) * size + (comp * nc_out + c_out) * pair + node;
    for (CeedInt i = 0; i < P_out; i++) to[(CeedSize)i * P_in] = from[i];
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_points_matrices(CeedOperator op, CeedInt a, CeedInt b, CeedInt first_elem, CeedInt num_elem,
                             CeedSize length, CeedScalar *host) {
  Matrices t = {first_elem, host};
  Columns c;
  if (num_elem == 0) return CEED_ERROR_SUCCESS;
  memset(host, 0, (size_t)length * sizeof(*host));
  int ierr = open_columns(op, a, b, 0, &c);
  if (!ierr) ierr = run_columns(&c, first_elem, first_elem + num_elem, place_column, NULL, &t);
  return close_columns(&c, ierr);
}

// ---- QFunction ----

// Scalars of all active outputs of a batch, for active input scalar s: to the places of its points.
static int place_outputs(Columns *c, CeedElemRestriction rstr, CeedInt s, CeedScalar *points,
                         CeedScalar *values) {
  const CeedOperator op = c->op;
  const CeedInt N_out = (CeedInt)op->assembly_data->out.num_total;
  const int64_t num_points = ritz_gpu_run_points(&c->run, c->first, c->num);
  CeedInt row = s * N_out;
  for (CeedInt o = 0; o < op->num_out; o++) {
    const CeedInt size = op->qf->out[o]->size;
    if (op->out[o]->vec != CEED_VECTOR_ACTIVE || size == 0) continue;
    RITZ_TRY(ritz_gpu_copy_out(op->obj.ceed, (size_t)(size * num_points) * sizeof(*points), points,
                               c->run.fields[op->num_in + o].q_vec));
    const CeedScalar *from = points;
    for (CeedInt k = 0; k < size; k++, row++)
      for (CeedInt e = c->first; e < c->first + c->num; e++)
        for (CeedInt i = 0; i < ritz_restriction_points_in(rstr, e); i++)
          values[ritz_restriction_l_index(rstr, e, i, row)] = *from++;
  }
  return CEED_ERROR_SUCCESS;
}

static int unit_at_points(const Columns *c, CeedInt field, CeedInt comp, CeedScalar value) {
  const RitzGpuField *f = &c->run.q_fields[field];
  return ritz_gpu_vector_set_value_strided(c->op->obj.ceed, CEED_SCALAR_TYPE, comp * f->stride,
                                           (comp + 1) * f->stride, 1, value, (void *)f->array);
}

static int derivatives_of_batch(Columns *c, CeedElemRestriction rstr, CeedScalar *points,
                                CeedScalar *values) {
  const CeedOperator op = c->op;
  const int64_t num_points = ritz_gpu_run_points(&c->run, c->first, c->num);
  CeedInt s = 0;
  for (CeedInt i = 0; i < op->num_in; i++) {
    for (CeedInt k = 0; op->in[i]->vec == CEED_VECTOR_ACTIVE && k < op->qf->in[i]->size; k++, s++) {
      RITZ_TRY(unit_at_points(c, i, k, 1));
      RITZ_TRY(ritz_gpu_qfunction_run(op->qf, num_points, c->run.q_fields));
      RITZ_TRY(place_outputs(c, rstr, s, points, values));
      RITZ_TRY(unit_at_points(c, i, k, 0));
    }
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_points_qfunction(CeedOperator op, CeedElemRestriction rstr, CeedScalar *host) {
  CeedScalar *points = NULL;
  Columns c;
  if (op->num_elem == 0) return CEED_ERROR_SUCCESS;
  memset(host, 0, (size_t)rstr->l_size * sizeof(*host));
  int ierr = open_columns(op, 0, 0, 0, &c);
  if (!ierr)
    ierr = RITZ_MALLOC(op->obj.ceed, (size_t)(op->assembly_data->out.num_total * c.run.most_points), &points);
  for (CeedSize first = 0; !ierr && first < op->num_elem; first += c.run.batch) {
    const CeedInt num = CeedIntMin(c.run.batch, op->num_elem - (CeedInt)first);
    if (ritz_gpu_run_points(&c.run, (CeedInt)first, num) == 0) continue;
    ierr = begin_columns(&c, (CeedInt)first, num);
    if (!ierr) ierr = derivatives_of_batch(&c, rstr, points, host);
  }
  RITZ_FREE(&points);
  return close_columns(&c, ierr);
}
