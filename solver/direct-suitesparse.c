// SPDX-License-Identifier: BSD-2-Clause
// Sparse factorizations by SuiteSparse: CHOLMOD (A = L L^T) and UMFPACK (A = L U), with 64-bit indices. The
// libraries are looked up at run time, by the names that they had when this library was built; they stay
// loaded. Without their headers both kinds are missing. Called through the tables of solver/direct.h.
#include <inttypes.h>
#include <stdio.h>

#include "solver/direct.h"

#if defined(RITZ_CHOLMOD) || defined(RITZ_UMFPACK)
#include <dlfcn.h>

#include "base/threads.h"

// Looked for once.
typedef struct {
  bool is_known;
  const char *why_not;
} Found;
#endif

#ifdef RITZ_CHOLMOD
#include <cholmod.h>

// ---- CHOLMOD ----

#define CHOLMOD_FUNCTIONS(F)                                                                                 \
  F(int, start, (cholmod_common *))                                                                          \
  F(int, finish, (cholmod_common *))                                                                         \
  F(int, version, (int[3]))                                                                                  \
  F(cholmod_factor *, analyze, (cholmod_sparse *, cholmod_common *))                                         \
  F(int, factorize, (cholmod_sparse *, cholmod_factor *, cholmod_common *))                                  \
  F(int, free_factor, (cholmod_factor **, cholmod_common *))                                                 \
  F(int, free_dense, (cholmod_dense **, cholmod_common *))                                                   \
  F(int, solve2,                                                                                             \
    (int, cholmod_factor *, cholmod_dense *, cholmod_sparse *, cholmod_dense **, cholmod_sparse **,          \
     cholmod_dense **, cholmod_dense **, cholmod_common *))

static struct {
#define DECLARE(type, name, args) type(*name) args;
  CHOLMOD_FUNCTIONS(DECLARE)
#undef DECLARE
} cholmod;

static const char *look_for_cholmod(void) {
  int version[3] = {0};
  void *library = dlopen(RITZ_CHOLMOD, RTLD_NOW | RTLD_LOCAL);
  if (!library) return "the library " RITZ_CHOLMOD " cannot be loaded";
#define FIND(type, name, args)                                                                               \
  if (!(*(void **)&cholmod.name = dlsym(library, "cholmod_l_" #name)))                                       \
    return "the library " RITZ_CHOLMOD " has no cholmod_l_" #name;
  CHOLMOD_FUNCTIONS(FIND)
#undef FIND
  (void)cholmod.version(version);
  // Its struct of settings changes with these.
  if (version[0] != CHOLMOD_MAIN_VERSION || version[1] != CHOLMOD_SUB_VERSION)
    return "the library " RITZ_CHOLMOD " has another version than the headers that Ritz was built with";
  return NULL;
}

static const char *cholmod_why_not(void) {
  static Found found;
  ritz_lock(RITZ_LOCK_DIRECT);
  if (!found.is_known) found = (Found){true, look_for_cholmod()};
  ritz_unlock(RITZ_LOCK_DIRECT);
  return found.why_not;
}

typedef struct {
  cholmod_common common;
  cholmod_factor *factor;
  cholmod_dense *x, *work[2]; // kept from one solution to the next
} Cholmod;

static int cholmod_fails(const RitzFactorization *f, const Cholmod *c, const char *what) {
  const bool lacks_memory = c->common.status == CHOLMOD_OUT_OF_MEMORY;
  return CeedError(f->matrix->ceed, CEED_ERROR_MAJOR, RITZ_DIRECT_CALL ": CHOLMOD: %s fails, %s (status %d)",
                   what, lacks_memory ? "there is no memory" : "see cholmod.h", c->common.status);
}

// Rows of a symmetric matrix are columns; one triangle is read.
static cholmod_sparse view_matrix(const RitzMatrix *a) {
  return (cholmod_sparse){.nrow = (size_t)a->n,
                          .ncol = (size_t)a->n,
                          .nzmax = (size_t)a->starts[a->n],
                          .p = a->starts,
                          .i = a->cols,
                          .x = a->values,
                          .stype = 1,
                          .itype = CHOLMOD_LONG,
                          .xtype = CHOLMOD_REAL,
                          .dtype = CHOLMOD_DOUBLE,
                          .sorted = 1,
                          .packed = 1};
}

static void describe_cholmod(RitzFactorization *f, const Cholmod *c) {
  const cholmod_factor *factor = c->factor;
  const cholmod_common *common = &c->common;
  const int ordering = common->method[common->selected].ordering;
  const size_t entries = factor->is_super ? factor->xsize : factor->nzmax;
  f->num_nonzeros = common->lnz;
  f->num_bytes = (int64_t)(entries * sizeof(double) + factor->ssize * sizeof(int64_t) +
                           (factor->is_super ? 0 : factor->nzmax * sizeof(int64_t)));
  (void)snprintf(f->words, sizeof(f->words), "CHOLMOD %d.%d.%d, %s, ordered by %s, %.3g Gflop",
                 CHOLMOD_MAIN_VERSION, CHOLMOD_SUB_VERSION, CHOLMOD_SUBSUB_VERSION,
                 factor->is_super ? "supernodal" : "simplicial", ordering == CHOLMOD_METIS ? "METIS" : "AMD",
                 1e-9 * common->fl);
}

// Whether the factorization takes too long by a rule of thumb, which spares the analysis: 3 n^2 operations
// where rows are as long as those of meshes in 3D. Of systems n^2: slender bodies take 2 n^2, and without
// factors they have many times the iterations.
static bool is_surely_too_long(const RitzFactorization *f) {
  const RitzMatrix *a = f->matrix;
  const double n = (double)a->n, flops = (a->num_comp > 1 ? 1 : 3) * n * n;
  if (f->max_flops == 0 || (double)a->starts[a->n] < 12 * n * a->num_comp) return false;
  return flops > f->max_flops;
}

// Numbers alone: the factor has the analysis.
static int by_cholmod_refactorize(RitzFactorization *f) {
  cholmod_sparse a = view_matrix(f->matrix);
  Cholmod *c = f->data;
  (void)cholmod.factorize(&a, c->factor, &c->common);
  if (c->factor->minor < c->factor->n) {
    ritz_direct_refuse_pivot(f, ((const int64_t *)c->factor->Perm)[c->factor->minor]);
    return CEED_ERROR_SUCCESS;
  }
  if (c->common.status < CHOLMOD_OK) return cholmod_fails(f, c, "the factorization");
  describe_cholmod(f, c);
  return CEED_ERROR_SUCCESS;
}

static int by_cholmod_factorize(RitzFactorization *f) {
  cholmod_sparse a = view_matrix(f->matrix);
  Cholmod *c = NULL;
  if (is_surely_too_long(f)) {
    f->refusal = RITZ_REFUSED_TOO_LONG;
    (void)snprintf(f->words, sizeof(f->words), "a factorization would take several Gflop");
    return CEED_ERROR_SUCCESS;
  }
  RITZ_TRY(RITZ_CALLOC(f->matrix->ceed, 1, &c));
  f->data = c;
  (void)cholmod.start(&c->common);
  c->common.print = 0;
  c->common.final_ll = 1; // no pivot that is not positive
  c->factor = cholmod.analyze(&a, &c->common);
  if (!c->factor) return cholmod_fails(f, c, "the analysis");
  if (f->max_flops > 0 && c->common.fl > f->max_flops) {
    f->refusal = RITZ_REFUSED_TOO_LONG;
    (void)snprintf(f->words, sizeof(f->words), "a factorization takes %.3g Gflop", 1e-9 * c->common.fl);
    return CEED_ERROR_SUCCESS;
  }
  return by_cholmod_refactorize(f);
}

static int by_cholmod_solve(RitzFactorization *f, const double *b, double *x) {
  Cholmod *c = f->data;
  const size_t n = (size_t)f->matrix->n;
  // Right-hand sides are read alone, whatever their type says.
  cholmod_dense right = {.nrow = n,
                         .ncol = 1,
                         .nzmax = n,
                         .d = n,
                         .x = (void *)(uintptr_t)b,
                         .xtype = CHOLMOD_REAL,
                         .dtype = CHOLMOD_DOUBLE};
  if (!cholmod.solve2(CHOLMOD_A, c->factor, &right, NULL, &c->x, NULL, &c->work[0], &c->work[1], &c->common))
    return cholmod_fails(f, c, "the solution");
  const double *values = c->x->x;
  for (size_t i = 0; i < n; i++) x[i] = values[i];
  return CEED_ERROR_SUCCESS;
}

static void by_cholmod_destroy(RitzFactorization *f) {
  Cholmod *c = f->data;
  if (!c) return;
  (void)cholmod.free_factor(&c->factor, &c->common);
  (void)cholmod.free_dense(&c->x, &c->common);
  (void)cholmod.free_dense(&c->work[0], &c->common);
  (void)cholmod.free_dense(&c->work[1], &c->common);
  (void)cholmod.finish(&c->common);
  RITZ_FREE(&f->data);
}

const RitzDirectMethods ritz_direct_cholmod = {.kind = RITZ_DIRECT_CHOLMOD,
                                               .is_symmetric = true,
                                               .why_not = cholmod_why_not,
                                               .factorize = by_cholmod_factorize,
                                               .refactorize = by_cholmod_refactorize,
                                               .solve = by_cholmod_solve,
                                               .destroy = by_cholmod_destroy};
#else
static const char *no_cholmod(void) { return "Ritz was built without CHOLMOD (SuiteSparse)"; }
const RitzDirectMethods ritz_direct_cholmod = {.kind = RITZ_DIRECT_CHOLMOD, .why_not = no_cholmod};
#endif

#ifdef RITZ_UMFPACK
#include <umfpack.h>

// ---- UMFPACK ----

#define UMFPACK_FUNCTIONS(F)                                                                                 \
  F(void, defaults, (double *))                                                                              \
  F(int64_t, symbolic,                                                                                       \
    (int64_t, int64_t, const int64_t *, const int64_t *, const double *, void **, const double *, double *)) \
  F(int64_t, numeric,                                                                                        \
    (const int64_t *, const int64_t *, const double *, void *, void **, const double *, double *))           \
  F(int64_t, wsolve,                                                                                         \
    (int64_t, const int64_t *, const int64_t *, const double *, double *, const double *, void *,            \
     const double *, double *, int64_t *, double *))                                                         \
  F(void, free_symbolic, (void **))                                                                          \
  F(void, free_numeric, (void **))

#ifdef SuiteSparse_long // a name of SuiteSparse 5; later ones write int64_t
_Static_assert(sizeof(SuiteSparse_long) == sizeof(int64_t), "long indices of SuiteSparse have 64 bits");
#endif

static struct {
#define DECLARE(type, name, args) type(*name) args;
  UMFPACK_FUNCTIONS(DECLARE)
#undef DECLARE
} umfpack;

static const char *look_for_umfpack(void) {
  void *library = dlopen(RITZ_UMFPACK, RTLD_NOW | RTLD_LOCAL);
  if (!library) return "the library " RITZ_UMFPACK " cannot be loaded";
#define FIND(type, name, args)                                                                               \
  if (!(*(void **)&umfpack.name = dlsym(library, "umfpack_dl_" #name)))                                      \
    return "the library " RITZ_UMFPACK " has no umfpack_dl_" #name;
  UMFPACK_FUNCTIONS(FIND)
#undef FIND
  return NULL;
}

static const char *umfpack_why_not(void) {
  static Found found;
  ritz_lock(RITZ_LOCK_DIRECT);
  if (!found.is_known) found = (Found){true, look_for_umfpack()};
  ritz_unlock(RITZ_LOCK_DIRECT);
  return found.why_not;
}

typedef struct {
  void *symbolic; // NULL: not for updates
  void *numeric;
  double control[UMFPACK_CONTROL];
  int64_t *indices; // owned, [n]
  double *work;     // owned, [5 n]: with refinement
} Umfpack;

static int umfpack_fails(const RitzFactorization *f, const char *what, int64_t status) {
  const char *why = status == UMFPACK_ERROR_out_of_memory ? "there is no memory" : "see umfpack.h";
  return CeedError(f->matrix->ceed, CEED_ERROR_MAJOR,
                   RITZ_DIRECT_CALL ": UMFPACK: %s fails, %s (status %" PRId64 ")", what, why, status);
}

static int refuse_singular(RitzFactorization *f, const double *info) {
  f->refusal = RITZ_REFUSED_MATRIX;
  (void)snprintf(f->words, sizeof(f->words), "the matrix is singular (a reciprocal condition of %.2g)",
                 info[UMFPACK_RCOND]);
  return CEED_ERROR_SUCCESS;
}

static void describe_umfpack(RitzFactorization *f, const double *info) {
  f->keeps_matrix = true;
  f->num_nonzeros = info[UMFPACK_LNZ] + info[UMFPACK_UNZ];
  f->num_bytes = (int64_t)(info[UMFPACK_NUMERIC_SIZE] * info[UMFPACK_SIZE_OF_UNIT]) + 48 * f->matrix->n;
  (void)snprintf(f->words, sizeof(f->words), "UMFPACK %d.%d.%d, %.3g Gflop, reciprocal condition %.2g",
                 UMFPACK_MAIN_VERSION, UMFPACK_SUB_VERSION, UMFPACK_SUBSUB_VERSION,
                 1e-9 * info[UMFPACK_FLOPS], info[UMFPACK_RCOND]);
}

static int find_numbers(RitzFactorization *f, double *info) {
  const RitzMatrix *a = f->matrix;
  Umfpack *u = f->data;
  if (u->numeric) umfpack.free_numeric(&u->numeric);
  const int64_t status =
      umfpack.numeric(a->starts, a->cols, a->values, u->symbolic, &u->numeric, u->control, info);
  if (status == UMFPACK_WARNING_singular_matrix || (status == UMFPACK_OK && info[UMFPACK_RCOND] < 1e-15))
    return refuse_singular(f, info);
  if (status != UMFPACK_OK) return umfpack_fails(f, "the factorization", status);
  describe_umfpack(f, info);
  return CEED_ERROR_SUCCESS;
}

static int by_umfpack_refactorize(RitzFactorization *f) {
  double info[UMFPACK_INFO] = {0};
  return find_numbers(f, info);
}

static int by_umfpack_factorize(RitzFactorization *f) {
  const RitzMatrix *a = f->matrix;
  double info[UMFPACK_INFO] = {0};
  Umfpack *u = NULL;
  RITZ_TRY(RITZ_CALLOC(a->ceed, 1, &u));
  f->data = u;
  umfpack.defaults(u->control);
  RITZ_TRY(RITZ_MALLOC(a->ceed, (size_t)a->n, &u->indices));
  RITZ_TRY(RITZ_MALLOC(a->ceed, (size_t)a->n * 5, &u->work));
  const int64_t status =
      umfpack.symbolic(a->n, a->n, a->starts, a->cols, a->values, &u->symbolic, u->control, info);
  if (status != UMFPACK_OK) return umfpack_fails(f, "the analysis", status);
  RITZ_TRY(find_numbers(f, info));
  if (!f->for_updates) umfpack.free_symbolic(&u->symbolic);
  return CEED_ERROR_SUCCESS;
}

// UMFPACK takes rows for columns, so the system with the transposed matrix is ours.
static int by_umfpack_solve(RitzFactorization *f, const double *b, double *x) {
  const RitzMatrix *a = f->matrix;
  Umfpack *u = f->data;
  const int64_t status = umfpack.wsolve(UMFPACK_At, a->starts, a->cols, a->values, x, b, u->numeric,
                                        u->control, NULL, u->indices, u->work);
  return status == UMFPACK_OK ? CEED_ERROR_SUCCESS : umfpack_fails(f, "the solution", status);
}

static void by_umfpack_destroy(RitzFactorization *f) {
  Umfpack *u = f->data;
  if (!u) return;
  if (u->numeric) umfpack.free_numeric(&u->numeric);
  if (u->symbolic) umfpack.free_symbolic(&u->symbolic);
  RITZ_FREE(&u->indices);
  RITZ_FREE(&u->work);
  RITZ_FREE(&f->data);
}

const RitzDirectMethods ritz_direct_umfpack = {.kind = RITZ_DIRECT_UMFPACK,
                                               .why_not = umfpack_why_not,
                                               .factorize = by_umfpack_factorize,
                                               .refactorize = by_umfpack_refactorize,
                                               .solve = by_umfpack_solve,
                                               .destroy = by_umfpack_destroy};
#else
static const char *no_umfpack(void) { return "Ritz was built without UMFPACK (SuiteSparse)"; }
const RitzDirectMethods ritz_direct_umfpack = {.kind = RITZ_DIRECT_UMFPACK, .why_not = no_umfpack};
#endif
