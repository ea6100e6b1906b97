// SPDX-License-Identifier: BSD-2-Clause
// One V-cycle of hypre's algebraic multigrid (BoomerAMG): coarsening HMIS, interpolation "extended+i" with
// four entries a row, l1-scaled Gauss-Seidel forward on the way down and backward on the way up, so the cycle
// is symmetric. hypre and its MPI are looked up at run time, by the names that they had when this library was
// built; they stay loaded. Called through the table of solver/direct.h.
#include "base/environment.h"
#include "solver/direct.h"

#ifdef RITZ_HYPRE
#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_parcsr_ls.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"

#define HYPRE_FUNCTIONS(F)                                                                                   \
  F(HYPRE_Int, IJMatrixCreate,                                                                               \
    (MPI_Comm, HYPRE_BigInt, HYPRE_BigInt, HYPRE_BigInt, HYPRE_BigInt, HYPRE_IJMatrix *))                    \
  F(HYPRE_Int, IJMatrixDestroy, (HYPRE_IJMatrix))                                                            \
  F(HYPRE_Int, IJMatrixSetObjectType, (HYPRE_IJMatrix, HYPRE_Int))                                           \
  F(HYPRE_Int, IJMatrixSetRowSizes, (HYPRE_IJMatrix, const HYPRE_Int *))                                     \
  F(HYPRE_Int, IJMatrixInitialize, (HYPRE_IJMatrix))                                                         \
  F(HYPRE_Int, IJMatrixSetValues,                                                                            \
    (HYPRE_IJMatrix, HYPRE_Int, HYPRE_Int *, const HYPRE_BigInt *, const HYPRE_BigInt *,                     \
     const HYPRE_Complex *))                                                                                 \
  F(HYPRE_Int, IJMatrixAssemble, (HYPRE_IJMatrix))                                                           \
  F(HYPRE_Int, IJMatrixGetObject, (HYPRE_IJMatrix, void **))                                                 \
  F(HYPRE_Int, IJVectorCreate, (MPI_Comm, HYPRE_BigInt, HYPRE_BigInt, HYPRE_IJVector *))                     \
  F(HYPRE_Int, IJVectorDestroy, (HYPRE_IJVector))                                                            \
  F(HYPRE_Int, IJVectorSetObjectType, (HYPRE_IJVector, HYPRE_Int))                                           \
  F(HYPRE_Int, IJVectorInitialize, (HYPRE_IJVector))                                                         \
  F(HYPRE_Int, IJVectorSetValues, (HYPRE_IJVector, HYPRE_Int, const HYPRE_BigInt *, const HYPRE_Complex *))  \
  F(HYPRE_Int, IJVectorGetValues, (HYPRE_IJVector, HYPRE_Int, const HYPRE_BigInt *, HYPRE_Complex *))        \
  F(HYPRE_Int, IJVectorAssemble, (HYPRE_IJVector))                                                           \
  F(HYPRE_Int, IJVectorGetObject, (HYPRE_IJVector, void **))                                                 \
  F(HYPRE_Int, BoomerAMGCreate, (HYPRE_Solver *))                                                            \
  F(HYPRE_Int, BoomerAMGDestroy, (HYPRE_Solver))                                                             \
  F(HYPRE_Int, BoomerAMGSetup, (HYPRE_Solver, HYPRE_ParCSRMatrix, HYPRE_ParVector, HYPRE_ParVector))         \
  F(HYPRE_Int, BoomerAMGSolve, (HYPRE_Solver, HYPRE_ParCSRMatrix, HYPRE_ParVector, HYPRE_ParVector))         \
  F(HYPRE_Int, BoomerAMGSetTol, (HYPRE_Solver, HYPRE_Real))                                                  \
  F(HYPRE_Int, BoomerAMGSetMaxIter, (HYPRE_Solver, HYPRE_Int))                                               \
  F(HYPRE_Int, BoomerAMGSetPrintLevel, (HYPRE_Solver, HYPRE_Int))                                            \
  F(HYPRE_Int, BoomerAMGSetCoarsenType, (HYPRE_Solver, HYPRE_Int))                                           \
  F(HYPRE_Int, BoomerAMGSetInterpType, (HYPRE_Solver, HYPRE_Int))                                            \
  F(HYPRE_Int, BoomerAMGSetPMaxElmts, (HYPRE_Solver, HYPRE_Int))                                             \
  F(HYPRE_Int, BoomerAMGSetStrongThreshold, (HYPRE_Solver, HYPRE_Real))                                      \
  F(HYPRE_Int, BoomerAMGSetCycleRelaxType, (HYPRE_Solver, HYPRE_Int, HYPRE_Int))                             \
  F(HYPRE_Int, BoomerAMGSetNumFunctions, (HYPRE_Solver, HYPRE_Int))                                          \
  F(HYPRE_Int, BoomerAMGSetDofFunc, (HYPRE_Solver, HYPRE_Int *))                                             \
  F(HYPRE_Int, GetError, (void))                                                                             \
  F(HYPRE_Int, ClearAllErrors, (void))

static struct {
#define DECLARE(type, name, args) type(*name) args;
  HYPRE_FUNCTIONS(DECLARE)
#undef DECLARE
  HYPRE_Int (*init)(void);
  int (*mpi_initialized)(int *);
  int (*mpi_finalized)(int *);
  int (*mpi_init)(int *, char ***);
  int (*mpi_finalize)(void);
  MPI_Comm self; // MPI_COMM_SELF
} hypre;

// ---- The libraries ----

static const char *look_for_mpi(void) {
  void *library = dlopen(RITZ_MPI, RTLD_NOW | RTLD_GLOBAL); // its plugins want to see its symbols
  if (!library) return "the library " RITZ_MPI " cannot be loaded";
  *(void **)&hypre.mpi_initialized = dlsym(library, "MPI_Initialized");
  *(void **)&hypre.mpi_finalized = dlsym(library, "MPI_Finalized");
  *(void **)&hypre.mpi_init = dlsym(library, "MPI_Init");
  *(void **)&hypre.mpi_finalize = dlsym(library, "MPI_Finalize");
#ifdef OPEN_MPI // a communicator is the address of an object of the library, elsewhere a number
  hypre.self = (MPI_Comm)dlsym(library, "ompi_mpi_comm_self");
  if (!hypre.self) return "the library " RITZ_MPI " has no ompi_mpi_comm_self";
#else
  hypre.self = MPI_COMM_SELF;
#endif
  if (!hypre.mpi_initialized || !hypre.mpi_finalized || !hypre.mpi_init || !hypre.mpi_finalize)
    return "the library " RITZ_MPI " is no MPI";
  return NULL;
}

static const char *look_for_hypre(void) {
  const char *why = look_for_mpi();
  if (why) return why;
  void *library = dlopen(RITZ_HYPRE, RTLD_NOW | RTLD_LOCAL);
  if (!library) return "the library " RITZ_HYPRE " cannot be loaded";
#define FIND(type, name, args)                                                                               \
  if (!(*(void **)&hypre.name = dlsym(library, "HYPRE_" #name)))                                             \
    return "the library " RITZ_HYPRE " has no HYPRE_" #name;
  HYPRE_FUNCTIONS(FIND)
#undef FIND
  *(void **)&hypre.init = dlsym(library, "HYPRE_Init"); // older ones have none and need none
  return NULL;
}

static const char *why_not(void) {
  static struct {
    bool is_known;
    const char *why_not;
  } found;
  ritz_lock(RITZ_LOCK_DIRECT);
  if (!found.is_known) {
    found.why_not = look_for_hypre();
    found.is_known = true;
  }
  ritz_unlock(RITZ_LOCK_DIRECT);
  return found.why_not;
}

static void finalize_mpi(void) {
  int is_over = 0;
  if (!hypre.mpi_finalized(&is_over) && !is_over) (void)hypre.mpi_finalize();
}

// Settings of Open MPI for a process on its own: no daemon, no network. It starts six times as fast. Taken
// back afterwards; what the user has set stays.
static const struct {
  RitzVariable variable;
  const char *value;
} alone[] = {
    {ENV_OMPI_MCA_ess_singleton_isolated, "1"}, {ENV_OMPI_MCA_pml, "ob1"}, {ENV_OMPI_MCA_btl, "self"}};
enum { NUM_ALONE = sizeof(alone) / sizeof(alone[0]) };

static int init_mpi(void) {
  const bool is_alone = !ritz_environment(ENV_OMPI_COMM_WORLD_SIZE) &&
                        !ritz_environment(ENV_PMIX_RANK); // not started by mpirun
  bool is_ours[NUM_ALONE] = {false};
  for (int k = 0; k < NUM_ALONE && is_alone; k++) {
    is_ours[k] = !ritz_environment(alone[k].variable);
    if (is_ours[k]) (void)setenv(ritz_environment_name(alone[k].variable), alone[k].value, 1);
  }
  const int code = hypre.mpi_init(NULL, NULL);
  for (int k = 0; k < NUM_ALONE; k++)
    if (is_ours[k]) (void)unsetenv(ritz_environment_name(alone[k].variable));
  return code;
}

// MPI for this process alone, unless the program has started it.
static const char *start_mpi(void) {
  int is_there = 0, is_over = 0;
  if (hypre.mpi_finalized(&is_over) || is_over) return "MPI has been finalized by the program";
  if (hypre.mpi_initialized(&is_there)) return "MPI_Initialized fails";
  if (is_there) return NULL;
  if (init_mpi()) return "MPI_Init fails";
  (void)atexit(finalize_mpi);
  return NULL;
}

static const char *start_amg(void) {
  static bool has_started;
  ritz_lock(RITZ_LOCK_DIRECT);
  const char *why = start_mpi();
  if (!why && !has_started) {
    if (hypre.init) (void)hypre.init();
    has_started = true;
  }
  ritz_unlock(RITZ_LOCK_DIRECT);
  return why;
}

// ---- Set-up ----

typedef struct {
  HYPRE_IJMatrix matrix;
  HYPRE_IJVector vectors[2]; // right-hand side and solution
  HYPRE_ParCSRMatrix par_matrix;
  HYPRE_ParVector par_vectors[2];
  HYPRE_Solver solver;
  HYPRE_BigInt *numbers; // owned, [n]: 0, 1, ...
} Amg;

static int fails(const RitzFactorization *f, const char *what) {
  const int error = (int)hypre.GetError();
  (void)hypre.ClearAllErrors();
  return CeedError(f->matrix->ceed, CEED_ERROR_MAJOR, RITZ_DIRECT_CALL ": hypre: %s fails (error %d)%s", what,
                   error, error & HYPRE_ERROR_MEMORY ? ", there is no memory" : "");
}

// Rows in hypre's integers, which may have 32 bits.
typedef struct {
  HYPRE_Int *sizes;   // owned, [n]
  HYPRE_BigInt *cols; // owned, [nonzeros]
} Rows;

static int make_rows(const RitzMatrix *a, Amg *amg, Rows *rows) {
  const int64_t num = a->starts[a->n];
  RITZ_TRY(RITZ_MALLOC(a->ceed, (size_t)a->n, &amg->numbers));
  RITZ_TRY(RITZ_MALLOC(a->ceed, (size_t)a->n, &rows->sizes));
  RITZ_TRY(RITZ_MALLOC(a->ceed, (size_t)num, &rows->cols));
  for (int64_t i = 0; i < a->n; i++) {
    amg->numbers[i] = (HYPRE_BigInt)i;
    rows->sizes[i] = (HYPRE_Int)(a->starts[i + 1] - a->starts[i]);
  }
  for (int64_t k = 0; k < num; k++) rows->cols[k] = (HYPRE_BigInt)a->cols[k];
  return CEED_ERROR_SUCCESS;
}

static int copy_matrix(const RitzFactorization *f, Amg *amg, Rows *rows) {
  const RitzMatrix *a = f->matrix;
  const HYPRE_BigInt last = (HYPRE_BigInt)(a->n - 1);
  if (hypre.IJMatrixCreate(hypre.self, 0, last, 0, last, &amg->matrix)) return fails(f, "a new matrix");
  (void)hypre.IJMatrixSetObjectType(amg->matrix, HYPRE_PARCSR);
  (void)hypre.IJMatrixSetRowSizes(amg->matrix, rows->sizes);
  if (hypre.IJMatrixInitialize(amg->matrix) ||
      hypre.IJMatrixSetValues(amg->matrix, (HYPRE_Int)a->n, rows->sizes, amg->numbers, rows->cols,
                              a->values) ||
      hypre.IJMatrixAssemble(amg->matrix) || hypre.IJMatrixGetObject(amg->matrix, (void **)&amg->par_matrix))
    return fails(f, "filling the matrix");
  return CEED_ERROR_SUCCESS;
}

static int create_vectors(const RitzFactorization *f, Amg *amg) {
  const HYPRE_BigInt last = (HYPRE_BigInt)(f->matrix->n - 1);
  for (int k = 0; k < 2; k++) {
    HYPRE_IJVector *vec = &amg->vectors[k];
    if (hypre.IJVectorCreate(hypre.self, 0, last, vec) || hypre.IJVectorSetObjectType(*vec, HYPRE_PARCSR) ||
        hypre.IJVectorInitialize(*vec) || hypre.IJVectorAssemble(*vec) ||
        hypre.IJVectorGetObject(*vec, (void **)&amg->par_vectors[k]))
      return fails(f, "a new vector");
  }
  return CEED_ERROR_SUCCESS;
}

// Tells hypre the component of each unknown; hypre frees the list.
static int set_components(const RitzFactorization *f, Amg *amg) {
  const RitzMatrix *a = f->matrix;
  HYPRE_Int *components;
  if (a->num_comp == 1) return CEED_ERROR_SUCCESS;
  components = malloc((size_t)a->n * sizeof(*components));
  RITZ_REQUIRE(components, a->ceed, CEED_ERROR_MAJOR, RITZ_DIRECT_CALL ": hypre: there is no memory");
  for (int64_t i = 0; i < a->n; i++)
    components[i] = (HYPRE_Int)(a->entries[i] / a->comp_stride % a->num_comp);
  (void)hypre.BoomerAMGSetNumFunctions(amg->solver, a->num_comp);
  (void)hypre.BoomerAMGSetDofFunc(amg->solver, components);
  return CEED_ERROR_SUCCESS;
}

enum {
  HMIS = 10,
  EXTENDED_I = 6,
  FORWARD = 13,
  BACKWARD = 14,
  ELIMINATION = 9,
  DOWN = 1,
  UP = 2,
  COARSEST = 3
};

static int set_up_cycle(const RitzFactorization *f, Amg *amg) {
  if (hypre.BoomerAMGCreate(&amg->solver)) return fails(f, "a new cycle");
  (void)hypre.BoomerAMGSetTol(amg->solver, 0);
  (void)hypre.BoomerAMGSetMaxIter(amg->solver, 1);
  (void)hypre.BoomerAMGSetPrintLevel(amg->solver, 0);
  (void)hypre.BoomerAMGSetCoarsenType(amg->solver, HMIS);
  (void)hypre.BoomerAMGSetInterpType(amg->solver, EXTENDED_I);
  (void)hypre.BoomerAMGSetPMaxElmts(amg->solver, 4);
  (void)hypre.BoomerAMGSetStrongThreshold(amg->solver, 0.25);
  (void)hypre.BoomerAMGSetCycleRelaxType(amg->solver, FORWARD, DOWN);
  (void)hypre.BoomerAMGSetCycleRelaxType(amg->solver, BACKWARD, UP);
  (void)hypre.BoomerAMGSetCycleRelaxType(amg->solver, ELIMINATION, COARSEST);
  RITZ_TRY(set_components(f, amg));
  if (hypre.BoomerAMGSetup(amg->solver, amg->par_matrix, amg->par_vectors[0], amg->par_vectors[1]))
    return fails(f, "the set-up of the cycle");
  return CEED_ERROR_SUCCESS;
}

// The first unknown with a diagonal entry that is not positive; n: there is none.
static int64_t find_bad_diagonal(const RitzMatrix *a) {
  for (int64_t i = 0; i < a->n; i++) {
    bool is_positive = false;
    for (int64_t k = a->starts[i]; k < a->starts[i + 1]; k++)
      is_positive = is_positive || (a->cols[k] == i && a->values[k] > 0);
    if (!is_positive) return i;
  }
  return a->n;
}

static int factorize_amg(RitzFactorization *f) {
  const RitzMatrix *a = f->matrix;
  const char *why = start_amg();
  Amg *amg = NULL;
  Rows rows = {0};
  RITZ_REQUIRE(!why, a->ceed, CEED_ERROR_UNSUPPORTED, RITZ_DIRECT_CALL ": hypre: %s", why);
  RITZ_REQUIRE(sizeof(HYPRE_Int) > 4 || a->starts[a->n] <= INT_MAX, a->ceed, CEED_ERROR_UNSUPPORTED,
               RITZ_DIRECT_CALL ": hypre: %" PRId64 " nonzeros exceed its 32-bit integers", a->starts[a->n]);
  const int64_t bad = find_bad_diagonal(a);
  if (bad < a->n) {
    ritz_direct_refuse_pivot(f, bad);
    return CEED_ERROR_SUCCESS;
  }
  RITZ_TRY(RITZ_CALLOC(a->ceed, 1, &amg));
  f->data = amg;
  (void)hypre.ClearAllErrors();
  int ierr = make_rows(a, amg, &rows);
  if (!ierr) ierr = copy_matrix(f, amg, &rows);
  RITZ_FREE(&rows.sizes);
  RITZ_FREE(&rows.cols);
  if (!ierr) ierr = create_vectors(f, amg);
  if (!ierr) ierr = set_up_cycle(f, amg);
  f->num_nonzeros = 0; // hypre does not tell
  f->num_bytes =
      a->starts[a->n] * (int64_t)(sizeof(double) + sizeof(HYPRE_Int)) * 2; // with its coarser levels
  (void)snprintf(f->words, sizeof(f->words),
                 "hypre %s, one V-cycle of BoomerAMG, %" CeedInt_FMT " component%s", HYPRE_RELEASE_VERSION,
                 a->num_comp, a->num_comp > 1 ? "s" : "");
  return ierr;
}

// ---- Use ----

static int solve_amg(RitzFactorization *f, const double *b, double *x) {
  Amg *amg = f->data;
  const HYPRE_Int n = (HYPRE_Int)f->matrix->n;
  memset(x, 0, (size_t)n * sizeof(*x));
  if (hypre.IJVectorSetValues(amg->vectors[0], n, amg->numbers, b) ||
      hypre.IJVectorSetValues(amg->vectors[1], n, amg->numbers, x))
    return fails(f, "filling a vector");
  (void)hypre.BoomerAMGSolve(amg->solver, amg->par_matrix, amg->par_vectors[0], amg->par_vectors[1]);
  (void)hypre.ClearAllErrors(); // it has not converged: one cycle was asked for
  if (hypre.IJVectorGetValues(amg->vectors[1], n, amg->numbers, x)) return fails(f, "reading a vector");
  return CEED_ERROR_SUCCESS;
}

static void destroy_amg(RitzFactorization *f) {
  Amg *amg = f->data;
  int is_over = 0;
  if (!amg) return;
  // After MPI's end nothing of hypre may be called.
  if (!hypre.mpi_finalized(&is_over) && !is_over) {
    if (amg->solver) (void)hypre.BoomerAMGDestroy(amg->solver);
    for (int k = 0; k < 2; k++)
      if (amg->vectors[k]) (void)hypre.IJVectorDestroy(amg->vectors[k]);
    if (amg->matrix) (void)hypre.IJMatrixDestroy(amg->matrix);
  }
  RITZ_FREE(&amg->numbers);
  RITZ_FREE(&f->data);
}

const RitzDirectMethods ritz_direct_amg = {.kind = RITZ_DIRECT_AMG,
                                           .is_symmetric = true,
                                           .why_not = why_not,
                                           .factorize = factorize_amg,
                                           .solve = solve_amg,
                                           .destroy = destroy_amg};
#else
static const char *why_not(void) { return "Ritz was built without hypre"; }
const RitzDirectMethods ritz_direct_amg = {.kind = RITZ_DIRECT_AMG, .why_not = why_not};
#endif
