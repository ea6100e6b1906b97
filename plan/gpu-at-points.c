// SPDX-License-Identifier: BSD-2-Clause
// Operators at points as one kernel for devices (contract in plan/gpu-at-points.h).
#include "plan/gpu-at-points.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Threads and elements of a block at most; bytes of shared memory that leave room for several blocks; bytes
// of copies of a context that the threads of a block may have.
enum {
  MAX_THREADS = 128,
  MIN_THREADS = 32,
  MAX_ELEMS = 16,
  GOOD_BYTES = 48 << 10,
  CONTEXT_BYTES = 512 << 10
};

// ---- Coefficients ----

bool ritz_plan_points_are_finite(CeedBasis basis) {
  for (CeedInt i = 0; i < basis->P_1d * basis->Q_1d; i++) {
    if (!isfinite(basis->interp_1d[i])) return false;
  }
  return true;
}

static double largest_of(CeedInt n, const CeedScalar *values) {
  double largest = 0;
  for (CeedInt i = 0; i < n; i++) largest = fmax(largest, fabs((double)values[i]));
  return largest;
}

// With more points than nodes the values of a Lagrange basis are polynomials of lower degree: the last rows
// are zeros but for rounding, of a matrix that is well conditioned.
int ritz_plan_points_coefficients(CeedBasis basis, CeedInt *K, CeedScalar **c) {
  const CeedInt P = basis->P_1d, Q = basis->Q_1d;
  const double eps = sizeof(CeedScalar) == 4 ? FLT_EPSILON : DBL_EPSILON;
  RITZ_TRY(RITZ_MALLOC(basis->obj.ceed, (size_t)Q * (size_t)P, c));
  int ierr = CeedBasisGetChebyshevInterp1D(basis, *c);
  if (ierr) RITZ_FREE(c);
  RITZ_TRY(ierr);
  const double small = 16 * eps * largest_of(Q * P, *c);
  for (*K = Q; *K > 1 && largest_of(P, *c + (CeedSize)(*K - 1) * P) <= small;) (*K)--;
  return CEED_ERROR_SUCCESS;
}

// ---- Bases and spaces ----

static bool is_same_basis(const RitzPointsBasis *a, const RitzPointsBasis *b) {
  return a->P == b->P && a->K == b->K && !memcmp(a->c, b->c, (size_t)a->P * (size_t)a->K * sizeof(*a->c));
}

static int find_points_basis(RitzGpuAtPoints *plan, CeedBasis basis, int *number) {
  RitzPointsBasis *fresh = &plan->bases[plan->num_bases];
  RITZ_TRY(ritz_plan_points_coefficients(basis, &fresh->K, &fresh->c));
  fresh->P = basis->P_1d;
  fresh->num_nodes = basis->P;
  plan->line = CeedIntMax(plan->line, fresh->P);
  for (*number = 0; *number < plan->num_bases; (*number)++) {
    if (!is_same_basis(&plan->bases[*number], fresh)) continue;
    RITZ_FREE(&fresh->c);
    return CEED_ERROR_SUCCESS;
  }
  plan->num_bases++;
  return CEED_ERROR_SUCCESS;
}

static bool is_same_space(CeedOperator op, const RitzGpuAtPoints *plan, const RitzPointsSpace *s, CeedInt i) {
  const CeedOperatorField a = ritz_operator_field(op, s->field), b = ritz_operator_field(op, i);
  return (s->field < plan->num_in) == (i < plan->num_in) && a->vec == b->vec && a->rstr == b->rstr &&
         a->basis == b->basis;
}

static const char *refuse_field(const CeedOperatorField field) {
  const bool is_plain =
      field->rstr->type == CEED_RESTRICTION_STANDARD || field->rstr->type == CEED_RESTRICTION_STRIDED;
  if (field->rstr->type == CEED_RESTRICTION_POINTS) return NULL;
  if (!is_plain) return "a restriction with orientations";
  if (field->basis->dim > 3) return "a basis of more than three dimensions";
  return ritz_plan_points_are_finite(field->basis) ? NULL : "a basis whose tables are not finite";
}

static int find_points_space(CeedOperator op, RitzGpuAtPoints *plan, CeedInt i, int *number) {
  const CeedOperatorField field = ritz_operator_field(op, i);
  for (*number = 0; *number < plan->num_spaces; (*number)++) {
    if (is_same_space(op, plan, &plan->spaces[*number], i)) return CEED_ERROR_SUCCESS;
  }
  plan->reason = refuse_field(field);
  if (plan->reason) return CEED_ERROR_SUCCESS;
  RitzPointsSpace *s = &plan->spaces[plan->num_spaces++];
  *s = (RitzPointsSpace){.field = i,
                         .basis = -1,
                         .is_strided = field->rstr->type == CEED_RESTRICTION_STRIDED,
                         .num_comp = field->rstr->num_comp};
  if (field->rstr->type == CEED_RESTRICTION_POINTS) return CEED_ERROR_SUCCESS;
  return find_points_basis(plan, field->basis, &s->basis);
}

static int describe_points_field(CeedOperator op, RitzGpuAtPoints *plan, CeedInt i) {
  const CeedOperatorField field = ritz_operator_field(op, i);
  RitzPointsField *f = &plan->fields[i];
  *f = (RitzPointsField){.mode = field->qf_field->eval_mode, .size = field->qf_field->size, .space = -1};
  if (ritz_field_is_unused(field)) f->size = 0;
  if (f->size == 0 || f->mode == CEED_EVAL_WEIGHT) return CEED_ERROR_SUCCESS;
  RITZ_TRY(find_points_space(op, plan, i, &f->space));
  if (!plan->reason && f->mode == CEED_EVAL_GRAD) plan->bases[plan->spaces[f->space].basis].has_slopes = true;
  return CEED_ERROR_SUCCESS;
}

// Whether the kernel adds to the vector of an output on the points what other threads have: nodes, unless
// these are added afterwards, and points with other places.
static bool is_shared(CeedOperator op, const RitzGpuAtPoints *plan, int i, bool is_deterministic) {
  const RitzPointsSpace *s = &plan->spaces[i];
  for (int k = 0; k < plan->num_spaces; k++) {
    const RitzPointsSpace *t = &plan->spaces[k];
    if (k == i || t->field < plan->num_in) continue;
    if (ritz_operator_field(op, t->field)->vec != ritz_operator_field(op, s->field)->vec) continue;
    if (t->basis < 0 ? t->num_comp != s->num_comp : !is_deterministic) return true;
  }
  return false;
}

static void choose_access(CeedOperator op, RitzGpuAtPoints *plan, bool is_deterministic, bool are_distinct) {
  for (int i = 0; i < plan->num_spaces; i++) {
    RitzPointsSpace *s = &plan->spaces[i];
    if (s->field < plan->num_in)
      s->access = RITZ_POINTS_READ;
    else if (s->basis < 0 && are_distinct && !is_shared(op, plan, i, is_deterministic))
      s->access = RITZ_POINTS_OWN;
    else
      s->access = is_deterministic ? RITZ_POINTS_E_VECTOR : RITZ_POINTS_ADD;
    if (s->basis < 0 && s->access == RITZ_POINTS_E_VECTOR)
      plan->reason = "entries at points with several terms, whose sums are to repeat";
  }
}

// ---- The memory of a block ----

static CeedSize place_arrays(RitzGpuAtPoints *plan) {
  const CeedSize slots = plan->num_threads + 1;
  CeedSize next = 0;
  for (int b = 0; b < plan->num_bases; b++) {
    plan->bases[b].place = (CeedInt)next;
    next += slots * plan->dim * plan->bases[b].P * (plan->bases[b].has_slopes ? 2 : 1);
  }
  for (int i = 0; i < plan->num_spaces; i++) {
    RitzPointsSpace *s = &plan->spaces[i];
    s->place = (CeedInt)next;
    if (s->basis >= 0)
      next += (CeedSize)s->num_comp * plan->max_elems * (plan->bases[s->basis].num_nodes | 1);
  }
  for (CeedInt i = plan->num_in; i < plan->num_in + plan->num_out; i++) {
    RitzPointsField *f = &plan->fields[i];
    f->place = (CeedInt)next;
    if (f->space >= 0 && plan->spaces[f->space].basis >= 0) next += slots * f->size;
  }
  return next;
}

static void choose_block(RitzGpuAtPoints *plan, const RitzGpuMachine *machine) {
  CeedSize num;
  plan->num_threads = MAX_THREADS;
  plan->max_elems = MAX_ELEMS;
  while (plan->num_threads > 1 && plan->num_threads * machine->context_bytes > CONTEXT_BYTES)
    plan->num_threads /= 2;
  while ((num = place_arrays(plan)) * (CeedSize)sizeof(CeedScalar) > GOOD_BYTES) {
    if (plan->max_elems > 1 && (plan->max_elems * 8 >= plan->num_threads || plan->num_threads <= MIN_THREADS))
      plan->max_elems /= 2;
    else if (plan->num_threads > MIN_THREADS)
      plan->num_threads /= 2;
    else
      break;
  }
  plan->num_scalars = num > INT32_MAX ? INT32_MAX : (CeedInt)num;
  const CeedSize begins = (plan->max_elems + 1) * (CeedSize)sizeof(CeedInt);
  if (num * (CeedSize)sizeof(CeedScalar) + begins > machine->shared_bytes)
    plan->reason = "an element that does not fit into shared memory";
}

// ---- The plan ----

static int describe_points_fields(CeedOperator op, RitzGpuAtPoints *plan) {
  const CeedInt num = plan->num_in + plan->num_out;
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, (size_t)num + 1, &plan->bases));
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, (size_t)num + 1, &plan->spaces));
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, (size_t)num + 1, &plan->fields));
  for (CeedInt i = 0; i < num && !plan->reason; i++) RITZ_TRY(describe_points_field(op, plan, i));
  return CEED_ERROR_SUCCESS;
}

int ritz_plan_gpu_at_points(CeedOperator op, const RitzGpuMachine *machine, bool is_deterministic,
                            bool are_distinct, RitzGpuAtPoints **made) {
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, 1, made));
  RitzGpuAtPoints *plan = *made;
  plan->dim = op->rstr_points->num_comp;
  plan->num_in = op->num_in;
  plan->num_out = op->num_out;
  plan->line = 1;
  int ierr = describe_points_fields(op, plan);
  if (ierr) ritz_plan_gpu_at_points_free(made);
  if (ierr || plan->reason) return ierr;
  choose_access(op, plan, is_deterministic, are_distinct);
  if (!plan->reason) choose_block(plan, machine);
  return CEED_ERROR_SUCCESS;
}

void ritz_plan_gpu_at_points_free(RitzGpuAtPoints **made) {
  RitzGpuAtPoints *plan = *made;
  if (!plan) return;
  for (int b = 0; b < plan->num_bases; b++) RITZ_FREE(&plan->bases[b].c);
  RITZ_FREE(&plan->bases);
  RITZ_FREE(&plan->spaces);
  RITZ_FREE(&plan->fields);
  RITZ_FREE(made);
}
