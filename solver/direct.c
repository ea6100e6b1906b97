// SPDX-License-Identifier: BSD-2-Clause
// Preconditioners that solve with the assembled matrix of an operator (contract in ritz/preconditioner.h):
// which way, and how vectors get there and back. The ways are in direct-*.c; conjugate gradients take the
// operator as it is. Vectors of devices come to the host and go back, but for methods that compute in the
// context.
#include <ceed/backend.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "solver/direct.h"
#include "solver/preconditioner.h"

typedef struct {
  RitzMatrix matrix; // without values where nobody wants them any more
  RitzPinned pinned;
  RitzFactorization factorization; // without methods: conjugate gradients, or no unknowns
  RitzSolver solver;               // owned, conjugate gradients; else NULL
  RitzPreconditioner jacobi;       // counted: that of the solver
  CeedOperator op;                 // counted; NULL: of rows
  RitzAssembly assembly;           // owned, where it is kept for updates; NULL: made by the next one
  RitzDirectKind kind;             // of the factorization; AUTO: there is none
  int64_t num_nonzeros;            // of the matrix
  double *r, *z;                   // owned, [n]
  double seconds;                  // that the factorization took
  bool is_auto;
  int64_t max_dense; // of AUTO
  bool for_updates;  // assembly, and what factorizing again needs, are kept
  bool is_loose;     // neither constraints nor a nullspace
  bool is_of_rows;   // no operator: no conjugate gradients, no algebraic multigrid
  char notes[1024];  // lines: why not the kinds that come before
} Direct;

// ---- Kinds ----

static const char *const names[] = {"auto", "dense",        "cholmod", "umfpack", "amg",
                                    "cg",   "multifrontal", "ldlt",    "lu"};
enum {
  NUM_KINDS = sizeof(names) / sizeof(names[0]),
  MAX_LU = 4000, // unknowns of a dense matrix, where AUTO has nothing else: 128 MB, 4e10 operations
};

static const RitzDirectMethods *const all_methods[NUM_KINDS] = {
    [RITZ_DIRECT_DENSE] = &ritz_direct_dense,
    [RITZ_DIRECT_CHOLMOD] = &ritz_direct_cholmod,
    [RITZ_DIRECT_UMFPACK] = &ritz_direct_umfpack,
    [RITZ_DIRECT_AMG] = &ritz_direct_amg,
    [RITZ_DIRECT_MULTIFRONTAL] = &ritz_direct_multifrontal,
    [RITZ_DIRECT_LDLT] = &ritz_direct_ldlt,
    [RITZ_DIRECT_LU] = &ritz_direct_lu,
};

static bool is_kind(RitzDirectKind kind) { return (int)kind >= 0 && (int)kind < NUM_KINDS; }

const char *RitzDirectKindName(RitzDirectKind kind) { return is_kind(kind) ? names[kind] : NULL; }

bool RitzDirectKindIsAvailable(RitzDirectKind kind, const char **why) {
  const char *reason = is_kind(kind) ? NULL : "there is no such kind";
  if (!reason && all_methods[kind]) reason = all_methods[kind]->why_not();
  if (why) *why = reason;
  return !reason;
}

void ritz_direct_refuse_pivot(RitzFactorization *f, int64_t i) {
  f->refusal = RITZ_REFUSED_MATRIX;
  (void)snprintf(f->words, sizeof(f->words),
                 "the matrix is not positive definite (the pivot of entry %" PRId64
                 " of the L-vector is not positive)",
                 f->matrix->entries[i]);
}

// ---- Use ----

static void gather_f32(const RitzMatrix *m, const float *from, double *to) {
  for (int64_t i = 0; i < m->n; i++) to[i] = (double)from[m->entries[i]];
}
static void gather(const RitzMatrix *m, const CeedScalar *from, double *to) {
  for (int64_t i = 0; i < m->n; i++) to[i] = (double)from[m->entries[i]];
}

static int read_unknowns(const RitzPreconditioner pc, CeedVector vec, double *to) {
  const Direct *d = pc->data;
  if (pc->precision == CEED_SCALAR_FP32) {
    const float *array;
    RITZ_TRY(RitzVectorGetArrayReadF32(vec, CEED_MEM_HOST, &array));
    gather_f32(&d->matrix, array, to);
    return RitzVectorRestoreArrayReadF32(vec, &array);
  }
  const CeedScalar *array;
  RITZ_TRY(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &array));
  gather(&d->matrix, array, to);
  return CeedVectorRestoreArrayRead(vec, &array);
}

static int write_unknowns(const RitzPreconditioner pc, const double *from, CeedVector vec) {
  const Direct *d = pc->data;
  const RitzMatrix *m = &d->matrix;
  if (pc->precision == CEED_SCALAR_FP32) {
    float *array;
    RITZ_TRY(RitzVectorGetArrayWriteF32(vec, CEED_MEM_HOST, &array));
    if (m->length > 0) memset(array, 0, (size_t)m->length * sizeof(*array));
    for (int64_t i = 0; i < m->n; i++) array[m->entries[i]] = (float)from[i];
    return RitzVectorRestoreArrayF32(vec, &array);
  }
  CeedScalar *array;
  RITZ_TRY(CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &array));
  if (m->length > 0) memset(array, 0, (size_t)m->length * sizeof(*array));
  for (int64_t i = 0; i < m->n; i++) array[m->entries[i]] = (CeedScalar)from[i];
  return CeedVectorRestoreArray(vec, &array);
}

// Vectors whose factors are read together, where the context computes.
enum { MOST_VECTORS = 16 };
typedef struct {
  int num; // of r and z that are lent
  void *from[MOST_VECTORS], *to[MOST_VECTORS];
} Lent;

// In the precision that the vectors have.
static int lend(CeedMemType mem_type, CeedVector r, CeedVector z, Lent *lent) {
  void **from = &lent->from[lent->num];
  RITZ_TRY(ritz_vector_lock(r, RITZ_ACCESS_READ, mem_type, from));
  const int ierr = ritz_vector_lock(z, RITZ_ACCESS_READ_WRITE, mem_type, &lent->to[lent->num]);
  if (ierr) return ritz_vector_unlock(r, RITZ_ACCESS_READ, from, ierr);
  lent->num++;
  return CEED_ERROR_SUCCESS;
}

static int apply_in_context(RitzPreconditioner pc, int num, const CeedVector *r, const CeedVector *z) {
  RitzFactorization *f = &((Direct *)pc->data)->factorization;
  const CeedScalarType type = pc->precision == CEED_SCALAR_FP32 ? CEED_SCALAR_FP32 : CEED_SCALAR_TYPE;
  Lent lent = {.num = 0};
  CeedMemType mem_type;
  int ierr = CEED_ERROR_SUCCESS;
  RITZ_TRY(CeedGetPreferredMemType(pc->ceed, &mem_type));
  for (int k = 0; k < num && !ierr; k++) {
    ierr = CeedVectorSetValue(z[k], 0);
    if (!ierr) ierr = lend(mem_type, r[k], z[k], &lent);
  }
  if (!ierr) ierr = f->methods->apply(f, type, num, (const void *const *)lent.from, lent.to);
  for (int k = 0; k < lent.num; k++) {
    ierr = ritz_vector_unlock(z[k], RITZ_ACCESS_READ_WRITE, &lent.to[k], ierr);
    ierr = ritz_vector_unlock(r[k], RITZ_ACCESS_READ, &lent.from[k], ierr);
  }
  return ierr;
}

static bool computes_in_context(const Direct *d) {
  const RitzFactorization *f = &d->factorization;
  return !d->solver && d->matrix.n > 0 && d->pinned.num == 0 && f->methods->apply && !f->keeps_matrix;
}

static int apply_factors(RitzPreconditioner pc, CeedVector r, CeedVector z) {
  Direct *d = pc->data;
  const int64_t n = d->matrix.n;
  if (computes_in_context(d)) return apply_in_context(pc, 1, &r, &z);
  RITZ_TRY(read_unknowns(pc, r, d->r));
  ritz_pinned_project(&d->pinned, n, d->r);
  if (n > 0) RITZ_TRY(d->factorization.methods->solve(&d->factorization, d->r, d->z));
  ritz_pinned_project(&d->pinned, n, d->z);
  return write_unknowns(pc, d->z, z);
}

// Advice on what the caller of a singular problem may have forgotten.
static const char *advice(const Direct *d) {
  return d->is_loose
             ? " (nothing is constrained, and no nullspace is given: a singular problem needs its own)"
             : "";
}

// A residual that is not a number is the outer method's to find.
static int apply_cg(RitzPreconditioner pc, CeedVector r, CeedVector z) {
  const Direct *d = pc->data;
  RitzSolverReason reason;
  RITZ_TRY(CeedVectorSetValue(z, 0));
  RITZ_TRY(RitzSolverSolve(d->solver, r, z));
  RITZ_TRY(RitzSolverGetReason(d->solver, &reason));
  if (reason > 0 || reason == RITZ_DIVERGED_MAX_IT) return CEED_ERROR_SUCCESS;
  if (reason == RITZ_DIVERGED_NAN) return CeedVectorSetValue(z, (CeedScalar)NAN);
  return CeedError(pc->ceed, CEED_ERROR_MAJOR, "RitzPreconditionerApply: conjugate gradients: %s%s",
                   RitzSolverReasonName(reason), advice(d));
}

static int apply_direct(RitzPreconditioner pc, CeedVector r, CeedVector z) {
  const Direct *d = pc->data;
  return d->solver ? apply_cg(pc, r, z) : apply_factors(pc, r, z);
}

static int apply_many(RitzPreconditioner pc, CeedInt num, const CeedVector *r, const CeedVector *z) {
  for (CeedInt k = 0; k < num; k += MOST_VECTORS) {
    const int some = num - k < MOST_VECTORS ? (int)(num - k) : MOST_VECTORS;
    if (computes_in_context(pc->data)) {
      RITZ_TRY(apply_in_context(pc, some, r + k, z + k));
    } else {
      for (int i = 0; i < some; i++) RITZ_TRY(apply_direct(pc, r[k + i], z[k + i]));
    }
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Views ----

static int64_t bytes(RitzPreconditioner pc) {
  const Direct *d = pc->data;
  const int64_t n = d->matrix.n;
  int64_t num = 8 * n + d->factorization.num_bytes;
  if (d->r) num += 16 * n;
  num += ritz_pattern_bytes(d->assembly);
  if (d->matrix.values) num += 8 * (n + 1) + 16 * d->num_nonzeros;
  return num + (8 * n + 8) * d->pinned.num;
}

static void view_factors(const RitzPreconditioner pc, FILE *stream, int indent) {
  const Direct *d = pc->data;
  const RitzFactorization *f = &d->factorization;
  (void)fprintf(stream, "%*s%" PRId64 " nonzeros in the matrix", indent, "", d->num_nonzeros);
  if (f->num_nonzeros > 0)
    (void)fprintf(stream, ", %.3g in the factors (fill %.3g)", f->num_nonzeros,
                  f->num_nonzeros / (double)d->num_nonzeros);
  (void)fprintf(stream, ", %.3g MB, %s in double\n", 1e-6 * (double)bytes(pc),
                f->computes_in_context ? "where the context computes," : "on the host");
  if (!d->is_of_rows)
    (void)fprintf(stream, "%*spattern %.3g s, values %.3g s, factorization %.3g s\n", indent, "",
                  d->matrix.seconds_pattern, d->matrix.seconds_elements, d->seconds);
  else
    (void)fprintf(stream, "%*sfactorization %.3g s\n", indent, "", d->seconds);
  if (d->pinned.num > 0)
    (void)fprintf(stream, "%*snullspace of %" CeedInt_FMT " dimension%s\n", indent, "", d->pinned.num,
                  d->pinned.num > 1 ? "s" : "");
}

static int view(RitzPreconditioner pc, FILE *stream, int indent) {
  const Direct *d = pc->data;
  const char *note = d->notes;
  (void)fprintf(stream, "%*sassembled matrix: %s\n", indent, "",
                d->solver         ? "none, conjugate gradients with Jacobi"
                : d->matrix.n > 0 ? d->factorization.words
                                  : "no unknowns");
  indent += 2;
  (void)fprintf(stream, "%*s%" PRId64 " unknowns of %" CeedSize_FMT " entries\n", indent, "", d->matrix.n,
                d->matrix.length);
  if (!d->solver && d->matrix.n > 0) view_factors(pc, stream, indent);
  while (*note) { // line by line
    const int length = (int)strcspn(note, "\n");
    (void)fprintf(stream, "%*snot %.*s\n", indent, "", length, note);
    note += length + (note[length] != '\0');
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Choice ----

static int free_direct(Direct **address) {
  Direct *d = *address;
  int ierr = CEED_ERROR_SUCCESS;
  if (!d) return ierr;
  if (d->factorization.methods) d->factorization.methods->destroy(&d->factorization);
  if (d->solver) ierr = RitzSolverDestroy(&d->solver);
  ierr = ritz_first_error(ierr, RitzPreconditionerDestroy(&d->jacobi));
  ierr = ritz_first_error(ierr, RitzAssemblyDestroy(&d->assembly));
  ierr = ritz_first_error(ierr, CeedOperatorDestroy(&d->op));
  ritz_pinned_free(&d->pinned);
  ritz_matrix_free(&d->matrix);
  RITZ_FREE(&d->r);
  RITZ_FREE(&d->z);
  RITZ_FREE(address);
  return ierr;
}

static int destroy_direct(RitzPreconditioner pc) {
  Direct *d = pc->data;
  pc->data = NULL;
  return free_direct(&d);
}

static void add_note(Direct *d, RitzDirectKind kind, const char *why) {
  const size_t used = strlen(d->notes);
  (void)snprintf(d->notes + used, sizeof(d->notes) - used, "%s%s: %s", used ? "\n" : "", names[kind], why);
}

static int refuse_asymmetric(RitzFactorization *f) {
  f->refusal = RITZ_REFUSED_MATRIX;
  (void)snprintf(f->words, sizeof(f->words), "the matrix is not symmetric (row %" PRId64 ")",
                 f->matrix->entries[f->matrix->asymmetric]);
  return CEED_ERROR_SUCCESS;
}

// One kind, which is available. Where it refuses the matrix, d->factorization says why, and has no methods.
static int factorize_direct(Direct *d, RitzDirectKind kind, double max_flops) {
  RitzFactorization *f = &d->factorization;
  const RitzDirectMethods *methods = all_methods[kind];
  const double start = ritz_direct_seconds();
  *f = (RitzFactorization){
      .methods = methods, .matrix = &d->matrix, .max_flops = max_flops, .for_updates = d->for_updates};
  d->kind = kind;
  const bool is_for_symmetric = methods->is_symmetric || methods->is_indefinite;
  RITZ_TRY(is_for_symmetric && d->matrix.asymmetric >= 0 ? refuse_asymmetric(f) : methods->factorize(f));
  d->seconds = ritz_direct_seconds() - start;
  if (f->refusal) {
    methods->destroy(f);
    f->methods = NULL;
  }
  return CEED_ERROR_SUCCESS;
}

// Where the kind is missing, or refuses the matrix, a note says so and *is_done is false.
static int try_kind(Direct *d, RitzDirectKind kind, double max_flops, bool *is_done) {
  const char *why;
  *is_done = false;
  if (!RitzDirectKindIsAvailable(kind, &why)) {
    add_note(d, kind, why);
    return CEED_ERROR_SUCCESS;
  }
  RITZ_TRY(factorize_direct(d, kind, max_flops));
  *is_done = d->factorization.methods != NULL;
  if (!*is_done) add_note(d, kind, d->factorization.words);
  return CEED_ERROR_SUCCESS;
}

static void note_limit(Direct *d, RitzDirectKind kind, int64_t limit) {
  char why[64];
  (void)snprintf(why, sizeof(why), "more than %" PRId64 " unknowns", limit);
  add_note(d, kind, why);
}

// hypre is for one thread of a process; parts may be threads.
static bool has_amg(const Direct *d) {
  return !d->is_of_rows && RitzDirectKindIsAvailable(RITZ_DIRECT_AMG, NULL);
}

// Where the library of algebraic multigrid is there, sparse factorizations may take this much: some tenths of
// a second. Its cycles are less good on systems (elasticity) than on scalar problems.
static double limit_flops(const Direct *d) {
  if (!has_amg(d)) return 0;
  return d->matrix.num_comp > 1 ? 5e9 : 5e8;
}

// The own one has a limit everywhere.
static double limit_own_flops(const Direct *d) {
  const double limit = limit_flops(d);
  return limit > 0 ? limit : 5e10;
}

// Factors of a matrix that has no Cholesky factors. Those that are not symmetric have own ones as dense
// matrices alone: few unknowns first, more where there is nothing else.
static int try_indefinite(Direct *d, bool is_small, bool *is_done) {
  const bool is_asymmetric = d->matrix.asymmetric >= 0;
  if (is_small && is_asymmetric) return try_kind(d, RITZ_DIRECT_LU, 0, is_done);
  RITZ_TRY(try_kind(d, RITZ_DIRECT_UMFPACK, 0, is_done));
  if (RitzDirectKindIsAvailable(RITZ_DIRECT_UMFPACK, NULL)) return CEED_ERROR_SUCCESS;
  if (!is_asymmetric) return try_kind(d, RITZ_DIRECT_LDLT, limit_own_flops(d), is_done);
  if (d->matrix.n <= MAX_LU) return try_kind(d, RITZ_DIRECT_LU, 0, is_done);
  note_limit(d, RITZ_DIRECT_LU, MAX_LU);
  return CEED_ERROR_SUCCESS;
}

// Sparse factors. Where every part of a problem has the matrix, each solves it once a cycle on its own
// processor or device: own factors, whose solutions take a third of CHOLMOD's time there.
static int try_sparse(Direct *d, bool *is_done) {
  if (!d->is_of_rows) RITZ_TRY(try_kind(d, RITZ_DIRECT_CHOLMOD, limit_flops(d), is_done));
  return d->is_of_rows || !RitzDirectKindIsAvailable(RITZ_DIRECT_CHOLMOD, NULL)
             ? try_kind(d, RITZ_DIRECT_MULTIFRONTAL, limit_own_flops(d), is_done)
             : CEED_ERROR_SUCCESS;
}

// Dense for few unknowns; a sparse factorization for more, unless that takes long; algebraic multigrid for
// many; LU factors, or own L D L^T or dense LU without UMFPACK, where there are no Cholesky factors. *is_done
// is false where nothing of that is left.
static int choose(Direct *d, const RitzDirectOptions *o, bool *is_done) {
  const bool is_small = d->matrix.n <= o->max_dense, is_sparse = !is_small && d->matrix.n <= o->max_direct;
  const RitzRefusal *refusal = &d->factorization.refusal;
  *is_done = false;
  if (is_small) {
    RITZ_TRY(try_kind(d, RITZ_DIRECT_DENSE, 0, is_done));
  } else {
    note_limit(d, RITZ_DIRECT_DENSE, o->max_dense);
  }
  if (is_sparse) {
    RITZ_TRY(try_sparse(d, is_done));
  } else if (!is_small) {
    note_limit(d, RITZ_DIRECT_CHOLMOD, o->max_direct);
    note_limit(d, RITZ_DIRECT_UMFPACK, o->max_direct);
  }
  if (!*is_done && (is_small || is_sparse) && *refusal != RITZ_REFUSED_TOO_LONG)
    RITZ_TRY(try_indefinite(d, is_small, is_done));
  if (!*is_done && !is_small && !d->is_of_rows && *refusal != RITZ_REFUSED_MATRIX)
    RITZ_TRY(try_kind(d, RITZ_DIRECT_AMG, 0, is_done));
  return CEED_ERROR_SUCCESS;
}

// ---- Creation ----

static int check_options(Ceed ceed, const RitzDirectOptions *o) {
  const char *why;
  RITZ_REQUIRE(is_kind(o->kind), ceed, CEED_ERROR_INCOMPATIBLE, RITZ_DIRECT_CALL ": there is no kind %d",
               (int)o->kind);
  RITZ_REQUIRE(o->max_dense >= 0 && o->max_direct >= 0 && o->max_it >= 0 && o->num_null >= 0, ceed,
               CEED_ERROR_INCOMPATIBLE, RITZ_DIRECT_CALL ": a limit or num_null is negative");
  RITZ_REQUIRE(o->tolerance >= 0 && o->tolerance < 1, ceed, CEED_ERROR_INCOMPATIBLE,
               RITZ_DIRECT_CALL ": the tolerance must be in [0, 1), found %g", o->tolerance);
  RITZ_REQUIRE(o->num_null == 0 || o->null, ceed, CEED_ERROR_INCOMPATIBLE,
               RITZ_DIRECT_CALL ": null is NULL for %" CeedInt_FMT " vectors", o->num_null);
  RITZ_REQUIRE(RitzDirectKindIsAvailable(o->kind, &why), ceed, CEED_ERROR_UNSUPPORTED,
               RITZ_DIRECT_CALL ": %s: %s", names[o->kind], why);
  return CEED_ERROR_SUCCESS;
}

static RitzDirectOptions complete_options(const RitzDirectOptions *given, CeedScalarType precision) {
  RitzDirectOptions o = given ? *given : (RitzDirectOptions){.kind = RITZ_DIRECT_AUTO};
  if (o.max_dense == 0) o.max_dense = 600;
  if (o.max_direct == 0) o.max_direct = 200000;
  if (o.max_it == 0) o.max_it = 1000;
  if (o.tolerance == 0) o.tolerance = precision == CEED_SCALAR_FP32 ? 1e-5 : 1e-10;
  return o;
}

static int create_cg(Direct *d, CeedOperator op, RitzIndices constraints, const RitzDirectOptions *o) {
  RITZ_TRY(RitzSolverCreateCG(d->matrix.ceed, &d->solver));
  RITZ_TRY(RitzSolverSetOperator(d->solver, op));
  RITZ_TRY(RitzSolverSetConstraintIndices(d->solver, constraints));
  RITZ_TRY(RitzSolverSetTolerances(d->solver, o->tolerance, 0, o->max_it));
  RITZ_TRY(RitzSolverSetNullspace(d->solver, o->num_null, o->null));
  RITZ_TRY(ritz_nullspace_check_applied(op, constraints, o->num_null, o->null));
  RITZ_TRY(RitzPreconditionerCreateOperatorJacobi(op, constraints, &d->jacobi));
  return RitzSolverSetPreconditioner(d->solver, d->jacobi);
}

static int factorize_kind(Direct *d, const RitzDirectOptions *o, bool *is_done) {
  if (o->kind == RITZ_DIRECT_AUTO) return choose(d, o, is_done);
  RITZ_TRY(factorize_direct(d, o->kind, 0));
  *is_done = d->factorization.methods != NULL;
  return CEED_ERROR_SUCCESS;
}

// Frees the matrix where nobody needs it any more.
static void free_rows(Direct *d) {
  if (!d->factorization.methods || !d->factorization.keeps_matrix) ritz_matrix_free_values(&d->matrix);
}

// Factorizes the matrix. *is_done is false where only conjugate gradients are left.
static int create_factors(Direct *d, const RitzDirectOptions *o, bool *is_done) {
  Ceed ceed = d->matrix.ceed;
  d->num_nonzeros = d->matrix.starts[d->matrix.n];
  RITZ_TRY(ritz_pinned_create(o->num_null, o->null, &d->matrix, &d->pinned));
  RITZ_TRY(factorize_kind(d, o, is_done));
  RITZ_REQUIRE(*is_done || d->factorization.refusal != RITZ_REFUSED_MATRIX, ceed, CEED_ERROR_MAJOR,
               RITZ_DIRECT_CALL ": %s%s%s%s", d->factorization.words, advice(d),
               d->is_auto ? ". Tried: " : "", d->is_auto ? d->notes : "");
  free_rows(d);
  if (!*is_done) ritz_pinned_free(&d->pinned);
  if (!*is_done) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)d->matrix.n, &d->r));
  return RITZ_MALLOC(ceed, (size_t)d->matrix.n, &d->z);
}

// The matrix of the values that the operator has now. The pattern is kept for updates, else freed.
static int assemble_rows(Direct *d) {
  if (!d->assembly) {
    const double start = ritz_direct_seconds();
    RITZ_TRY(RitzAssemblyCreate(d->op, &d->assembly));
    d->matrix.seconds_pattern = ritz_direct_seconds() - start;
  }
  const int ierr = ritz_matrix_assemble(d->assembly, &d->matrix);
  return d->for_updates ? ierr : ritz_first_error(ierr, RitzAssemblyDestroy(&d->assembly));
}

static int set_up_direct(Direct *d, CeedOperator op, RitzIndices constraints, const RitzDirectOptions *o) {
  bool is_done = d->matrix.n == 0;
  const bool is_huge = d->is_auto && d->matrix.n > o->max_dense && d->matrix.n > o->max_direct &&
                       !RitzDirectKindIsAvailable(RITZ_DIRECT_AMG, NULL);
  if (is_done) return CEED_ERROR_SUCCESS;
  if (is_huge) {
    bool chosen;
    RITZ_TRY(choose(d, o, &chosen)); // notes alone
  } else if (o->kind != RITZ_DIRECT_CG) {
    RITZ_TRY(ritz_matrix_find_components(op, &d->matrix));
    RITZ_TRY(assemble_rows(d));
    RITZ_TRY(create_factors(d, o, &is_done));
  }
  return is_done ? CEED_ERROR_SUCCESS : create_cg(d, op, constraints, o);
}

// ---- New values ----

static const char *why_direct_is_not_updated(RitzPreconditioner pc) {
  return ((const Direct *)pc->data)->op ? NULL : "it belongs to a problem in parts";
}

// AUTO has chosen a kind for symmetric matrices, and this is none any more: Jacobians may begin at a state
// where they are symmetric.
static int choose_asymmetric(Direct *d) {
  RitzFactorization *f = &d->factorization;
  bool is_done;
  if (f->methods) f->methods->destroy(f);
  d->notes[0] = '\0';
  return try_indefinite(d, d->matrix.n <= d->max_dense, &is_done);
}

// Numbers alone where the kind can do that, and has what it needs of an update before; else all, by the same
// kind.
static int factorize_again(Direct *d) {
  RitzFactorization *f = &d->factorization;
  const bool is_for_symmetric = all_methods[d->kind]->is_symmetric || all_methods[d->kind]->is_indefinite;
  if (d->is_auto && is_for_symmetric && d->matrix.asymmetric >= 0) return choose_asymmetric(d);
  if (!f->methods || !f->for_updates || !f->methods->refactorize) {
    if (f->methods) f->methods->destroy(f);
    return factorize_direct(d, d->kind, 0);
  }
  const double start = ritz_direct_seconds();
  f->refusal = RITZ_REFUSED_NOT;
  f->keeps_matrix = false;
  RITZ_TRY(is_for_symmetric && d->matrix.asymmetric >= 0 ? refuse_asymmetric(f) : f->methods->refactorize(f));
  d->seconds = ritz_direct_seconds() - start;
  return CEED_ERROR_SUCCESS;
}

// The matrix has its new values.
static int renew_factors(RitzPreconditioner pc) {
  Direct *d = pc->data;
  RITZ_TRY(ritz_pinned_renew(&d->pinned, &d->matrix));
  RITZ_TRY(factorize_again(d));
  const RitzRefusal refusal = d->factorization.refusal;
  free_rows(d);
  RITZ_REQUIRE(refusal == RITZ_REFUSED_NOT, d->matrix.ceed, CEED_ERROR_MAJOR, "%s: %s%s", names[d->kind],
               d->factorization.words, advice(d));
  pc->is_symmetric = d->factorization.methods->is_symmetric;
  return CEED_ERROR_SUCCESS;
}

static int update_direct(RitzPreconditioner pc) {
  Direct *d = pc->data;
  if (d->matrix.n == 0) return CEED_ERROR_SUCCESS;
  if (d->solver) return ritz_preconditioner_update(d->jacobi);
  d->for_updates = true;
  RITZ_TRY(assemble_rows(d));
  return renew_factors(pc);
}

static const RitzPreconditionerMethods methods = {.name = "assembled matrix",
                                                  .apply = apply_direct,
                                                  .apply_many = apply_many,
                                                  .view = view,
                                                  .bytes = bytes,
                                                  .why_not_updated = why_direct_is_not_updated,
                                                  .update = update_direct,
                                                  .destroy = destroy_direct};

int RitzPreconditionerCreateDirect(CeedOperator op, RitzIndices constraints, const RitzDirectOptions *options,
                                   RitzPreconditioner *pc) {
  RITZ_HANDLE(op, constraints);
  Ceed ceed = CeedOperatorReturnCeed(op);
  CeedScalarType precision;
  CeedSize length;
  Direct *d = NULL;
  RITZ_OPTIONAL(ceed, constraints);
  RITZ_ARGUMENT(ceed, pc);
  RITZ_TRY(CeedOperatorCheckReady(op));
  RITZ_TRY(RitzOperatorGetPrecision(op, &precision));
  const RitzDirectOptions o = complete_options(options, precision);
  RITZ_TRY(check_options(ceed, &o));
  RITZ_TRY(ritz_operator_square_length(op, __func__, &length));
  RITZ_TRY(ritz_check_constraints(ceed, __func__, constraints, length));
  RITZ_TRY(ritz_nullspace_check(ceed, o.num_null, o.null, length));
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &d));
  d->is_auto = o.kind == RITZ_DIRECT_AUTO;
  d->max_dense = o.max_dense;
  d->for_updates = o.for_updates;
  int ierr = CeedOperatorReferenceCopy(op, &d->op);
  if (!ierr) ierr = ritz_matrix_number(ceed, length, constraints, &d->matrix);
  d->is_loose = d->matrix.n == length && o.num_null == 0;
  if (!ierr) ierr = set_up_direct(d, op, constraints, &o);
  if (!ierr) {
    const RitzDirectMethods *used = d->factorization.methods;
    const bool is_symmetric = used ? used->is_symmetric : !d->solver;
    // Solvers take vectors of the library's precision alone.
    ierr = ritz_preconditioner_create(ceed, __func__, length, d->solver ? CEED_SCALAR_TYPE : precision,
                                      &methods, d, is_symmetric, pc);
  }
  if (ierr) (void)free_direct(&d);
  return ierr;
}

// ---- Rows that are known ----

static int set_up_rows(Direct *d, const RitzDirectOptions *o, bool *is_done) {
  *is_done = d->matrix.n == 0;
  if (*is_done) return CEED_ERROR_SUCCESS;
  if (o->kind == RITZ_DIRECT_AUTO && d->matrix.n > o->max_dense && d->matrix.n > o->max_direct)
    return choose(d, o, is_done); // notes alone
  RITZ_REQUIRE(o->kind != RITZ_DIRECT_CG && o->kind != RITZ_DIRECT_AMG, d->matrix.ceed,
               CEED_ERROR_UNSUPPORTED, RITZ_DIRECT_CALL ": %s of rows that every part has, needed factors",
               names[o->kind]);
  RITZ_TRY(ritz_matrix_check(&d->matrix));
  return create_factors(d, o, is_done);
}

static RitzMatrix matrix_of_rows(Ceed ceed, RitzRows *rows) {
  const RitzMatrix matrix = {.ceed = ceed,
                             .length = rows->length,
                             .n = rows->n,
                             .entries = rows->entries,
                             .starts = rows->starts,
                             .cols = rows->cols,
                             .values = rows->values,
                             .num_comp = rows->num_comp,
                             .comp_stride = 1,
                             .asymmetric = -1};
  *rows = (RitzRows){0};
  return matrix;
}

int ritz_direct_create_of_rows(Ceed ceed, RitzRows *rows, const RitzDirectOptions *options, char why[1024],
                               RitzPreconditioner *pc) {
  const RitzDirectOptions o = complete_options(options, CEED_SCALAR_TYPE);
  const RitzMatrix matrix = matrix_of_rows(ceed, rows);
  Direct *d = NULL;
  bool is_done = false;
  *pc = NULL;
  int ierr = RITZ_CALLOC(ceed, 1, &d);
  if (ierr) {
    RitzMatrix lost = matrix;
    ritz_matrix_free(&lost);
    return ierr;
  }
  d->matrix = matrix;
  d->is_of_rows = true;
  d->for_updates = o.for_updates;
  d->is_auto = o.kind == RITZ_DIRECT_AUTO;
  d->max_dense = o.max_dense;
  d->is_loose = d->matrix.n == d->matrix.length && o.num_null == 0;
  ierr = check_options(ceed, &o);
  if (!ierr) ierr = ritz_nullspace_check(ceed, o.num_null, o.null, d->matrix.length);
  if (!ierr) ierr = set_up_rows(d, &o, &is_done);
  (void)snprintf(why, 1024, "%s", d->notes);
  if (!ierr && is_done)
    ierr =
        ritz_preconditioner_create(ceed, RITZ_DIRECT_CALL, d->matrix.length, CEED_SCALAR_TYPE, &methods, d,
                                   !d->factorization.methods || d->factorization.methods->is_symmetric, pc);
  return ierr || !is_done ? ritz_first_error(ierr, free_direct(&d)) : CEED_ERROR_SUCCESS;
}

int ritz_direct_renew_rows(RitzPreconditioner pc, RitzRows *rows) {
  Direct *d = pc->data;
  ritz_matrix_free_values(&d->matrix);
  d->matrix.starts = rows->starts;
  d->matrix.cols = rows->cols;
  d->matrix.values = rows->values;
  RITZ_FREE(&rows->entries); // they are known
  *rows = (RitzRows){0};
  d->for_updates = true;
  int ierr = ritz_matrix_check(&d->matrix);
  if (!ierr && d->matrix.n > 0) ierr = renew_factors(pc);
  pc->lacks_values = ierr != CEED_ERROR_SUCCESS;
  return ierr;
}
