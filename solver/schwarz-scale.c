// SPDX-License-Identifier: BSD-2-Clause
// The scale of Schwarz methods, from the diagonals of the operator and of the subdomains' matrices (see
// solver/schwarz.c). Called there.
#include <math.h>
#include <ritz/precision.h>
#include <ritz/vector.h>

#include "base/ranges.h"
#include "solver/schwarz.h"

// s^2 = (sum of diag(B_K) / n) / (n diag(A)), n the subdomains of the node; coloured ones are not divided by
// the second n.
typedef struct {
  CeedInt num_comp;
  bool is_weighted; // by 1 / sqrt(n)
  CeedScalarType precision;
  const double *sum;    // [num_nodes]
  const int32_t *count; // [num_nodes]
  void *diagonal;       // [n] of the precision, n entries of the space
  void *scale;          // likewise
  int64_t *bad;         // owned, [num_slots]: the first entry of a thread that makes no sense, or -1
} Scale;

static double diagonal_at(const Scale *s, int64_t i) {
  return s->precision == CEED_SCALAR_FP32 ? (double)((const float *)s->diagonal)[i]
                                          : ((const double *)s->diagonal)[i];
}

static void scale_range(void *data, int slot, int64_t first, int64_t count) {
  const Scale *s = data;

  for (int64_t i = first; i < first + count; i++) {
    const double value = diagonal_at(s, i);
    const int32_t num = s->count[i / s->num_comp];
    const double scale =
        num == 0 ? 0 : sqrt(s->sum[i / s->num_comp] / value / num) / (s->is_weighted ? sqrt(num) : 1);
    const double kept = s->precision == CEED_SCALAR_FP32 ? (double)(float)scale : scale;

    if (num > 0 && !(value > 0 && kept > 0 && isfinite(kept)) && s->bad[slot] < 0) s->bad[slot] = i;
    if (s->precision == CEED_SCALAR_FP32)
      ((float *)s->scale)[i] = (float)scale;
    else
      ((double *)s->scale)[i] = scale;
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
  const double value = bad < 0 ? 0 : diagonal_at(s, bad);
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

// The constraints ascend.
static int check_cover(Ceed ceed, const char *call, RitzSpace space, RitzIndices constraints, CeedInt dim,
                       CeedSize n, const RitzSchwarzSums *s) {
  const int64_t *entries = NULL;
  int64_t num = 0, next = 0;

  if (constraints) RITZ_TRY(RitzIndicesGet(constraints, &num, &entries));
  for (int64_t i = 0; i < n; i++) {
    if (s->count[i / s->num_comp] > 0) continue;
    while (next < num && entries[next] < i) next++;
    if (next == num || entries[next] > i) return refuse_node(ceed, call, space, i / s->num_comp, dim);
  }
  return CEED_ERROR_SUCCESS;
}

// ---- All of it ----

int ritz_schwarz_fill_scale(const char *call, const RitzSchwarzSums *sums, CeedVector diagonal,
                            RitzIndices constraints, CeedVector scale) {
  Ceed ceed = scale->obj.ceed;
  Scale s = {.num_comp = sums->num_comp,
             .is_weighted = sums->is_weighted,
             .precision = scale->precision,
             .sum = sums->sum,
             .count = sums->count};
  int num_slots = 1, ierr;

  RITZ_TRY(ritz_run_ranges_slots(ceed, &num_slots));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num_slots, &s.bad));
  RITZ_TRY_CLEANUP(ritz_vector_lock(scale, RITZ_ACCESS_WRITE, CEED_MEM_HOST, &s.scale));
  ierr = fill_scale(diagonal, call, num_slots, &s);
  RITZ_TRY_CLEANUP(ritz_vector_unlock(scale, RITZ_ACCESS_WRITE, &s.scale, ierr));
  RITZ_TRY_CLEANUP(RitzVectorSetEntries(scale, constraints, 0));
cleanup:
  RITZ_FREE(&s.bad);
  return ierr;
}

void ritz_schwarz_clear_sums(RitzSchwarzSums *sums) {
  RITZ_FREE(&sums->sum);
  RITZ_FREE(&sums->count);
}

int ritz_schwarz_renew_scale(CeedOperator op, const char *call, RitzIndices constraints,
                             const RitzSchwarzSums *sums, CeedVector scale) {
  CeedVector diagonal = NULL;
  int ierr = assemble_diagonal(op, constraints, scale->precision, &diagonal);

  if (!ierr) ierr = ritz_schwarz_fill_scale(call, sums, diagonal, constraints, scale);
  return ritz_first_error(ierr, CeedVectorDestroy(&diagonal));
}

int ritz_schwarz_create_scale(CeedOperator op, const char *call, RitzSpace space, RitzIndices constraints,
                              const RitzSeparables *separables, CeedScalarType precision,
                              RitzSchwarzSums *sums, CeedVector *scale) {
  const RitzSeparable *first = &separables->set[0];
  Ceed ceed = op->obj.ceed;
  const size_t num_nodes = (size_t)(first->rstr->l_size / first->num_comp);
  CeedSize n = 0;

  *sums = (RitzSchwarzSums){.num_comp = first->num_comp,
                            .is_weighted = !ritz_schwarz_is_coloured(separables->kind)};
  RITZ_TRY(RitzSpaceGetSize(space, &n));
  RITZ_TRY(RITZ_MALLOC(ceed, num_nodes, &sums->sum));
  RITZ_TRY(RITZ_MALLOC(ceed, num_nodes, &sums->count));
  RITZ_TRY(ritz_separables_sum_diagonals(ceed, separables, sums->sum, sums->count));
  RITZ_TRY(check_cover(ceed, call, space, constraints, first->dim, n, sums));
  RITZ_TRY(RitzVectorCreate(ceed, n, precision, scale));
  return ritz_schwarz_renew_scale(op, call, constraints, sums, *scale);
}
