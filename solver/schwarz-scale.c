// SPDX-License-Identifier: BSD-2-Clause
// The scale of Schwarz methods, from the diagonals of the operator and of the subdomains' matrices (see
// solver/schwarz.c). Called there.
#include <math.h>
#include <ritz/precision.h>
#include <ritz/vector.h>

#include "base/ranges.h"
#include "solver/schwarz.h"

// s^2 = share / diag(A), share = (sum of diag(B_K) / n) / n, n the subdomains of the node; coloured ones are
// not divided by the second n.
typedef struct {
  CeedInt num_comp;
  CeedScalarType precision; // of all three
  void *share;              // [num_nodes]
  void *diagonal;           // [num_nodes * num_comp]
  void *scale;              // likewise
  int64_t *bad;             // owned, [num_slots]: the first entry of a thread that makes no sense, or -1
} Scale;

static double value_at(const Scale *s, const void *array, int64_t i) {
  return s->precision == CEED_SCALAR_FP32 ? (double)((const float *)array)[i] : ((const double *)array)[i];
}

// The value that the precision keeps.
static double put_value(const Scale *s, void *array, int64_t i, double value) {
  if (s->precision == CEED_SCALAR_FP32)
    ((float *)array)[i] = (float)value;
  else
    ((double *)array)[i] = value;
  return value_at(s, array, i);
}

static void scale_range(void *data, int slot, int64_t first, int64_t count) {
  const Scale *s = data;

  for (int64_t i = first; i < first + count; i++) {
    const double value = value_at(s, s->diagonal, i), share = value_at(s, s->share, i / s->num_comp);
    const double kept = put_value(s, s->scale, i, share == 0 ? 0 : sqrt(share / value));

    if (share != 0 && !(value > 0 && kept > 0 && isfinite(kept)) && s->bad[slot] < 0) s->bad[slot] = i;
  }
}

// CEED_ERROR_MAJOR names an entry of the diagonal that is no positive number, or too small or large for the
// precision.
static int fill_scale(CeedVector diagonal, const char *call, int num_slots, Scale *s) {
  CeedSize bad = -1;

  for (int slot = 0; slot < num_slots; slot++) s->bad[slot] = -1;
  RITZ_TRY(ritz_vector_lock(diagonal, RITZ_ACCESS_READ, CEED_MEM_HOST, &s->diagonal));
  const int ierr = ritz_run_ranges(diagonal->obj.ceed, diagonal->length, scale_range, s);
  for (int slot = 0; slot < num_slots && bad < 0; slot++) bad = s->bad[slot];
  const double value = bad < 0 ? 0 : value_at(s, s->diagonal, bad);
  RITZ_TRY(ritz_vector_unlock(diagonal, RITZ_ACCESS_READ, &s->diagonal, ierr));
  RITZ_REQUIRE(bad < 0, diagonal->obj.ceed, CEED_ERROR_MAJOR,
               "%s: entry %" CeedSize_FMT
               " of the operator's diagonal is %g, needs to be a positive finite number (constrain it, or "
               "use another preconditioner)",
               call, bad, value);
  return CEED_ERROR_SUCCESS;
}

// In the precision of the operator: its diagonal in another one would take a variant of it, with kernels.
// Constrained entries may be anything.
static int assemble_diagonal(CeedOperator op, RitzIndices constraints, CeedScalarType precision,
                             CeedVector *diagonal) {
  CeedSize n = 0;

  RITZ_TRY(CeedOperatorGetActiveVectorLengths(op, NULL, &n));
  RITZ_TRY(RitzVectorCreate(op->obj.ceed, n, precision, diagonal));
  RITZ_TRY(CeedOperatorLinearAssembleDiagonal(op, *diagonal, CEED_REQUEST_IMMEDIATE));
  return RitzVectorSetEntries(*diagonal, constraints, 1);
}

// ---- Nodes that no patch has ----

static int find_element(RitzSpace space, int64_t node, int64_t *element) {
  RitzMesh mesh = NULL;
  const int64_t *nodes = NULL;
  int64_t num_elem = 0;
  CeedInt num_nodes = 0;

  RITZ_TRY(RitzSpaceGetMesh(space, &mesh));
  RITZ_TRY(RitzMeshGetNumElements(mesh, &num_elem));
  RITZ_TRY(RitzSpaceGetBlockNodes(space, 0, &num_nodes, &nodes));
  *element = 0;
  for (int64_t i = 0; i < num_elem * num_nodes; i++) {
    if (nodes[i] != node) continue;
    *element = i / num_nodes;
    return CEED_ERROR_SUCCESS;
  }
  return CEED_ERROR_SUCCESS;
}

static int refuse_node(Ceed ceed, const char *call, RitzSpace space, int64_t node, CeedInt dim) {
  int64_t element = 0;

  RITZ_TRY(find_element(space, node, &element));
  return CeedError(ceed, CEED_ERROR_UNSUPPORTED,
                   "%s: node %lld of element %lld is free and inside of no vertex patch: it lies on a free "
                   "boundary, or by vertices with other than %d elements around (use overlapped elements, "
                   "RITZ_SCHWARZ_OVERLAPPED, or elements)",
                   call, (long long)node, (long long)element, 1 << dim);
}

// By ranges of nodes.
typedef struct {
  const int32_t *count; // subdomains of the nodes
  int64_t num_comp, num;
  const int64_t *entries; // [num] ascending: constrained ones
  int64_t *bare; // owned, [num_slots]: the first node of a thread that is free and not covered, or -1
} Cover;

static bool is_fixed(const Cover *c, int64_t node) {
  const int64_t num_comp = c->num_comp;
  int64_t low = 0, high = c->num; // the first entry of the node, or beyond

  while (low < high) {
    const int64_t middle = low + (high - low) / 2;

    if (c->entries[middle] < node * num_comp)
      low = middle + 1;
    else
      high = middle;
  }
  return low + num_comp <= c->num && c->entries[low + num_comp - 1] == (node + 1) * num_comp - 1;
}

static void find_bare_node(void *data, int slot, int64_t first, int64_t count) {
  const Cover *c = data;

  for (int64_t i = first; i < first + count && c->bare[slot] < 0; i++) {
    if (c->count[i] == 0 && !is_fixed(c, i)) c->bare[slot] = i;
  }
}

static int check_cover(Ceed ceed, const char *call, RitzSpace space, RitzIndices constraints, CeedInt dim,
                       int64_t num_nodes, CeedInt num_comp, const int32_t *count) {
  Cover c = {.count = count, .num_comp = num_comp};
  int64_t bare = -1;
  int num_slots = 1;

  if (constraints) RITZ_TRY(RitzIndicesGet(constraints, &c.num, &c.entries));
  RITZ_TRY(ritz_run_ranges_slots(ceed, &num_slots));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num_slots, &c.bare));
  for (int slot = 0; slot < num_slots; slot++) c.bare[slot] = -1;
  const int ierr = ritz_run_ranges(ceed, num_nodes, find_bare_node, &c);

  for (int slot = 0; slot < num_slots && bare < 0; slot++) bare = c.bare[slot];
  RITZ_FREE(&c.bare);
  RITZ_TRY(ierr);
  return bare < 0 ? CEED_ERROR_SUCCESS : refuse_node(ceed, call, space, bare, dim);
}

// ---- All of it ----

int ritz_schwarz_create_share(Ceed ceed, CeedScalarType precision, bool is_weighted, CeedSize num_nodes,
                              const double *sum, const int32_t *count, CeedVector *share) {
  Scale s = {.precision = precision};

  RITZ_TRY(RitzVectorCreate(ceed, num_nodes, precision, share));
  RITZ_TRY(ritz_vector_lock(*share, RITZ_ACCESS_WRITE, CEED_MEM_HOST, &s.share));
  for (CeedSize i = 0; i < num_nodes; i++) {
    const double value = count[i] == 0 ? 0 : sum[i] / count[i] / (is_weighted ? count[i] : 1);
    const double kept = put_value(&s, s.share, i, value);

    if (count[i] > 0 && !(kept > 0)) put_value(&s, s.share, i, NAN); // refused with the diagonal
  }
  return ritz_vector_unlock(*share, RITZ_ACCESS_WRITE, &s.share, CEED_ERROR_SUCCESS);
}

int ritz_schwarz_fill_scale(const char *call, CeedVector share, CeedVector diagonal, RitzIndices constraints,
                            CeedVector scale) {
  Ceed ceed = scale->obj.ceed;
  Scale s = {.num_comp = share->length > 0 ? (CeedInt)(scale->length / share->length) : 1,
             .precision = scale->precision};
  int num_slots = 1, ierr;

  RITZ_TRY(ritz_run_ranges_slots(ceed, &num_slots));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num_slots, &s.bad));
  RITZ_TRY_CLEANUP(ritz_vector_lock(share, RITZ_ACCESS_READ, CEED_MEM_HOST, &s.share));
  ierr = ritz_vector_lock(scale, RITZ_ACCESS_WRITE, CEED_MEM_HOST, &s.scale);
  if (!ierr) {
    ierr = fill_scale(diagonal, call, num_slots, &s);
    ierr = ritz_vector_unlock(scale, RITZ_ACCESS_WRITE, &s.scale, ierr);
  }
  RITZ_TRY_CLEANUP(ritz_vector_unlock(share, RITZ_ACCESS_READ, &s.share, ierr));
  RITZ_TRY_CLEANUP(RitzVectorSetEntries(scale, constraints, 0));
cleanup:
  RITZ_FREE(&s.bad);
  return ierr;
}

int ritz_schwarz_renew_scale(CeedOperator op, const char *call, RitzIndices constraints, CeedVector share,
                             CeedVector scale) {
  CeedVector diagonal = NULL;
  int ierr = assemble_diagonal(op, constraints, scale->precision, &diagonal);

  if (!ierr) ierr = ritz_schwarz_fill_scale(call, share, diagonal, constraints, scale);
  return ritz_first_error(ierr, CeedVectorDestroy(&diagonal));
}

int ritz_schwarz_create_scale(CeedOperator op, const char *call, RitzSpace space, RitzIndices constraints,
                              const RitzSeparables *separables, CeedScalarType precision, CeedVector *share,
                              CeedVector *scale) {
  const RitzSeparable *first = &separables->set[0];
  const CeedInt num_comp = first->num_comp;
  const size_t num_nodes = (size_t)(first->rstr->l_size / num_comp); // also those beyond the space
  Ceed ceed = op->obj.ceed;
  double *sum = NULL;
  int32_t *count = NULL;
  CeedSize n = 0;
  int ierr;

  RITZ_TRY(RitzSpaceGetSize(space, &n));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, num_nodes, &sum));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, num_nodes, &count));
  RITZ_TRY_CLEANUP(ritz_separables_sum_diagonals(ceed, separables, sum, count));
  RITZ_TRY_CLEANUP(check_cover(ceed, call, space, constraints, first->dim, n / num_comp, num_comp, count));
  RITZ_TRY_CLEANUP(ritz_schwarz_create_share(ceed, precision, !ritz_schwarz_is_coloured(separables->kind),
                                             n / num_comp, sum, count, share));
cleanup:
  RITZ_FREE(&sum);
  RITZ_FREE(&count);
  if (ierr) return ierr;
  RITZ_TRY(RitzVectorCreate(ceed, n, precision, scale));
  return ritz_schwarz_renew_scale(op, call, constraints, *share, *scale);
}
