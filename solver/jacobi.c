// SPDX-License-Identifier: BSD-2-Clause
// The Jacobi method as a preconditioner: z = r / diagonal, zero on constrained entries. Its vector serves the
// sweeps of conjugate gradients and of Chebyshev polynomials, too. Called by solver/solve.c, chebyshev.c and
// programs.
#include <math.h>

#include "core/apply-hooks.h"
#include "core/vector-pass.h"
#include "solver/preconditioner.h"

typedef struct {
  CeedVector inverse; // owned: a power of two, near the smallest entry, over the diagonal
  double factor;      // the inverse of that power
  // What updates read; all counted, NULL: none.
  CeedOperator op;     // has the diagonal, or else
  CeedVector diagonal; // of the caller
  RitzIndices constraints;
} Jacobi;

// ---- Set-up, on the host ----

// Free entries as a slot of the loops has seen them.
typedef struct {
  double smallest;
  int64_t bad_entry; // not a positive finite number; -1: none
} Seen;

typedef struct {
  const void *diagonal; // entries of the precision `from`
  void *inverse;        // of the precision `to`; zeros mark constrained entries
  CeedScalarType from, to;
  double power;
  Seen *seen; // owned, [num_slots]
  int num_slots;
} Inversion;

static void mark_as_free(void *data, int slot, int64_t first, int64_t count) {
  const Inversion *pass = data;
  (void)slot;
  for (int64_t i = first; i < first + count; i++) ritz_set_entry(pass->inverse, pass->to, i, 1);
}

static void inspect(void *data, int slot, int64_t first, int64_t count) {
  const Inversion *pass = data;
  Seen *seen = &pass->seen[slot];

  for (int64_t i = first; i < first + count; i++) {
    if (ritz_entry(pass->inverse, pass->to, i) == 0) continue;
    const double d = ritz_entry(pass->diagonal, pass->from, i);
    if ((!(d > 0) || !isfinite(d)) && (seen->bad_entry < 0 || i < seen->bad_entry)) seen->bad_entry = i;
    seen->smallest = d < seen->smallest ? d : seen->smallest;
  }
}

// An entry so much larger than the smallest that its inverse vanishes counts as bad, too.
static void invert_jacobi(void *data, int slot, int64_t first, int64_t count) {
  const Inversion *pass = data;
  Seen *seen = &pass->seen[slot];

  for (int64_t i = first; i < first + count; i++) {
    if (ritz_entry(pass->inverse, pass->to, i) == 0) continue;
    ritz_set_entry(pass->inverse, pass->to, i, pass->power / ritz_entry(pass->diagonal, pass->from, i));
    const bool is_lost = ritz_entry(pass->inverse, pass->to, i) == 0;
    if (is_lost && (seen->bad_entry < 0 || i < seen->bad_entry)) seen->bad_entry = i;
  }
}

static Seen seen_by_all(const Inversion *pass) {
  Seen all = {.smallest = INFINITY, .bad_entry = -1};

  for (int s = 0; s < pass->num_slots; s++) {
    const Seen *seen = &pass->seen[s];
    if (seen->smallest < all.smallest) all.smallest = seen->smallest;
    if (seen->bad_entry >= 0 && (all.bad_entry < 0 || seen->bad_entry < all.bad_entry)) {
      all.bad_entry = seen->bad_entry;
    }
  }
  return all;
}

// Reduces `all` over the parts of a larger problem. A bad entry of another part is noted as entry n, which
// this part does not have.
static int reduce_seen(Ceed ceed, CeedSize n, Seen *all) {
  double largest[2] = {-all->smallest, all->bad_entry >= 0};

  RITZ_TRY(ritz_reduce(ceed, RITZ_REDUCTION_MAX, 2, largest));
  all->smallest = -largest[0];
  if (largest[1] > 0 && all->bad_entry < 0) all->bad_entry = (int64_t)n;
  return CEED_ERROR_SUCCESS;
}

static int zero_constrained(Inversion *pass, RitzIndices constraints) {
  const int64_t *entries = NULL;
  int64_t num = 0;

  if (!constraints) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RitzIndicesGet(constraints, &num, &entries));
  for (int64_t i = 0; i < num; i++) ritz_set_entry(pass->inverse, pass->to, entries[i], 0);
  return CEED_ERROR_SUCCESS;
}

static int run_inversion(Ceed ceed, CeedSize n, RitzIndices constraints, Inversion *pass,
                         int64_t *bad_entry) {
  RITZ_TRY(ritz_run_ranges(ceed, n, mark_as_free, pass));
  RITZ_TRY(zero_constrained(pass, constraints));
  RITZ_TRY(ritz_run_ranges(ceed, n, inspect, pass));
  Seen all = seen_by_all(pass);
  RITZ_TRY(reduce_seen(ceed, n, &all));
  *bad_entry = all.bad_entry;
  if (*bad_entry >= 0) return CEED_ERROR_SUCCESS;
  pass->power = ritz_power_near(all.smallest, pass->to);
  RITZ_TRY(ritz_run_ranges(ceed, n, invert_jacobi, pass));
  all = seen_by_all(pass);
  RITZ_TRY(reduce_seen(ceed, n, &all));
  *bad_entry = all.bad_entry;
  return CEED_ERROR_SUCCESS;
}

static int create_slots(Ceed ceed, Inversion *pass) {
  RITZ_TRY(ritz_run_ranges_slots(ceed, &pass->num_slots));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)pass->num_slots, &pass->seen));
  for (int s = 0; s < pass->num_slots; s++) pass->seen[s] = (Seen){.smallest = INFINITY, .bad_entry = -1};
  return CEED_ERROR_SUCCESS;
}

// jacobi->inverse and the factor, from a diagonal anywhere.
static int invert_diagonal(Ceed ceed, CeedVector diagonal, RitzIndices constraints, Jacobi *jacobi,
                           int64_t *bad_entry) {
  Inversion pass = {.from = diagonal->precision, .to = jacobi->inverse->precision};
  void *read = NULL;

  RITZ_TRY(create_slots(ceed, &pass));
  int ierr = ritz_vector_lock(diagonal, RITZ_ACCESS_READ, CEED_MEM_HOST, &read);
  if (!ierr) {
    pass.diagonal = read;
    ierr = ritz_vector_lock(jacobi->inverse, RITZ_ACCESS_WRITE, CEED_MEM_HOST, &pass.inverse);
    if (!ierr) {
      ierr = run_inversion(ceed, diagonal->length, constraints, &pass, bad_entry);
      ierr = ritz_vector_unlock(jacobi->inverse, RITZ_ACCESS_WRITE, &pass.inverse, ierr);
    }
    ierr = ritz_vector_unlock(diagonal, RITZ_ACCESS_READ, &read, ierr);
  }
  RITZ_FREE(&pass.seen);
  jacobi->factor = 1 / pass.power;
  return ierr;
}

// ---- New values ----

static int read_entry(CeedVector v, int64_t i, double *value) {
  void *array = NULL;

  RITZ_TRY(ritz_vector_lock(v, RITZ_ACCESS_READ, CEED_MEM_HOST, &array));
  *value = ritz_entry(array, v->precision, i);
  return ritz_vector_unlock(v, RITZ_ACCESS_READ, &array, CEED_ERROR_SUCCESS);
}

// Reports a bad entry of the diagonal; -1: none is.
static int require_good(Ceed ceed, const char *call, CeedScalarType precision, CeedVector diagonal,
                        int64_t bad_entry) {
  double value = 0;

  if (bad_entry < 0) return CEED_ERROR_SUCCESS;
  RITZ_REQUIRE(bad_entry < (int64_t)diagonal->length, ceed, CEED_ERROR_MAJOR,
               "%s: an entry of the diagonal in another part is not a positive finite number", call);
  RITZ_TRY(read_entry(diagonal, bad_entry, &value));
  return CeedError(ceed, CEED_ERROR_MAJOR,
                   "%s: entry %lld of the diagonal is %g, needs to be a positive finite number with an "
                   "inverse in the range of %s",
                   call, (long long)bad_entry, value, ritz_precision_name(precision));
}

// *diagonal: a new vector, in the precision of the kernel that is prepared for the apply.
static int assemble_diagonal(CeedOperator op, CeedSize n, CeedVector *diagonal) {
  CeedScalarType precision = CEED_SCALAR_TYPE;

  RITZ_TRY(RitzOperatorGetPrecision(op, &precision));
  RITZ_TRY(RitzVectorCreate(op->obj.ceed, n, precision, diagonal));
  return CeedOperatorLinearAssembleDiagonal(op, *diagonal, CEED_REQUEST_IMMEDIATE);
}

static int renew(RitzPreconditioner pc, CeedVector diagonal) {
  Jacobi *jacobi = pc->data;
  int64_t bad_entry = -1;

  RITZ_TRY(invert_diagonal(pc->ceed, diagonal, jacobi->constraints, jacobi, &bad_entry));
  return require_good(pc->ceed, "Jacobi", pc->precision, diagonal, bad_entry);
}

static int update_jacobi(RitzPreconditioner pc) {
  const Jacobi *jacobi = pc->data;
  CeedVector diagonal = NULL;

  if (!jacobi->op) return renew(pc, jacobi->diagonal);
  int ierr = assemble_diagonal(jacobi->op, pc->n, &diagonal);
  if (!ierr) ierr = renew(pc, diagonal);
  return ritz_first_error(ierr, CeedVectorDestroy(&diagonal));
}

// ---- The preconditioner ----

const RitzPass ritz_jacobi_pass = {
    .name = "jacobi",
    .num_vectors = 3,
    .num_lines = 1,
    .line = {{.to = 2, .num_terms = 1, .term = {{.factor = 0, .x = 0, .y = 1}}}},
};

static int apply_jacobi(RitzPreconditioner pc, CeedVector r, CeedVector z) {
  const Jacobi *jacobi = pc->data;
  return ritz_pass_run(&ritz_jacobi_pass, (CeedVector[]){jacobi->inverse, r, z}, &jacobi->factor, NULL);
}

static int64_t jacobi_bytes(RitzPreconditioner pc) {
  return (int64_t)pc->n * (int64_t)ritz_scalar_bytes(pc->precision);
}

static int free_jacobi(Jacobi *jacobi) {
  int ierr = CeedVectorDestroy(&jacobi->inverse);

  ierr = ritz_first_error(ierr, CeedOperatorDestroy(&jacobi->op));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&jacobi->diagonal));
  ierr = ritz_first_error(ierr, RitzIndicesDestroy(&jacobi->constraints));
  RITZ_FREE(&jacobi);
  return ierr;
}

static int destroy_jacobi(RitzPreconditioner pc) { return free_jacobi(pc->data); }

static const char *why_jacobi_is_not_updated(RitzPreconditioner pc) {
  const Jacobi *jacobi = pc->data;
  return jacobi->op || jacobi->diagonal ? NULL : "it belongs to a solve";
}

static const RitzPreconditionerMethods jacobi_methods = {.name = "Jacobi",
                                                         .apply = apply_jacobi,
                                                         .bytes = jacobi_bytes,
                                                         .why_not_updated = why_jacobi_is_not_updated,
                                                         .update = update_jacobi,
                                                         .destroy = destroy_jacobi};

CeedVector ritz_jacobi_inverse(RitzPreconditioner pc, Ceed ceed, double *factor) {
  if (!pc || pc->methods != &jacobi_methods || pc->ceed != ceed || pc->lacks_values) return NULL;
  const Jacobi *jacobi = pc->data;
  if (factor) *factor = jacobi->factor;
  return jacobi->inverse;
}

int ritz_jacobi_create(Ceed ceed, const char *call, CeedScalarType precision, CeedVector diagonal,
                       RitzIndices constraints, int64_t *bad_entry, RitzPreconditioner *pc) {
  Jacobi *jacobi = NULL;

  *bad_entry = -1;
  RITZ_TRY(ritz_check_constraints(ceed, call, constraints, diagonal->length));
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &jacobi));
  int ierr = RitzVectorCreate(ceed, diagonal->length, precision, &jacobi->inverse);
  if (!ierr) ierr = invert_diagonal(ceed, diagonal, constraints, jacobi, bad_entry);
  if (!ierr && *bad_entry < 0) {
    ierr = ritz_preconditioner_create(ceed, call, diagonal->length, precision, &jacobi_methods, jacobi, true,
                                      pc);
    if (!ierr) return CEED_ERROR_SUCCESS;
  }
  return ritz_first_error(ierr, free_jacobi(jacobi));
}

// Creates the preconditioner, which keeps op or else the diagonal; a bad entry is an error.
static int create_or_refuse(Ceed ceed, const char *call, CeedOperator op, CeedVector diagonal,
                            RitzIndices constraints, RitzPreconditioner *pc) {
  RitzPreconditioner created = NULL;
  int64_t bad_entry = -1;

  RITZ_TRY(ritz_jacobi_create(ceed, call, diagonal->precision, diagonal, constraints, &bad_entry, &created));
  RITZ_TRY(require_good(ceed, call, diagonal->precision, diagonal, bad_entry));
  Jacobi *jacobi = created->data;
  int ierr =
      op ? CeedOperatorReferenceCopy(op, &jacobi->op) : CeedVectorReferenceCopy(diagonal, &jacobi->diagonal);
  if (!ierr && constraints) ierr = RitzIndicesReferenceCopy(constraints, &jacobi->constraints);
  if (ierr) return ritz_first_error(ierr, RitzPreconditionerDestroy(&created));
  *pc = created;
  return CEED_ERROR_SUCCESS;
}

int RitzPreconditionerCreateJacobi(Ceed ceed, CeedVector diagonal, RitzIndices constraints,
                                   RitzPreconditioner *pc) {
  RITZ_HANDLE(ceed, diagonal, constraints);
  RITZ_ARGUMENT(ceed, diagonal);
  RITZ_OPTIONAL(ceed, constraints);
  RITZ_REQUIRE(pc != NULL, ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzPreconditionerCreateJacobi: argument 'pc' is NULL");
  return create_or_refuse(ceed, "RitzPreconditionerCreateJacobi", NULL, diagonal, constraints, pc);
}

int RitzPreconditionerCreateOperatorJacobi(CeedOperator op, RitzIndices constraints, RitzPreconditioner *pc) {
  const char *call = "RitzPreconditionerCreateOperatorJacobi";
  CeedVector diagonal = NULL;
  CeedSize n = 0;

  RITZ_HANDLE(op, constraints);
  Ceed ceed = op->obj.ceed;
  RITZ_OPTIONAL(ceed, constraints);
  RITZ_REQUIRE(pc != NULL, ceed, CEED_ERROR_INCOMPATIBLE, "%s: argument 'pc' is NULL", call);
  RITZ_TRY(ritz_operator_square_length(op, call, &n));
  int ierr = assemble_diagonal(op, n, &diagonal);
  if (!ierr) ierr = create_or_refuse(ceed, call, op, diagonal, constraints, pc);
  return ritz_first_error(ierr, CeedVectorDestroy(&diagonal));
}
