// SPDX-License-Identifier: BSD-2-Clause
// Batched dense linear algebra: what each operation is made of, life of objects, memory, what they tell about
// themselves. Calls are in core/batched-call.c, checks of their operands in core/batched-operands.c, numbers
// behind the slots batched_* (core/batched.h).
#include "core/batched.h"

#include <string.h>

const RitzClass ritz_batched_class = {.name = "RitzBatched"};

// ---- Operations ----

// Options of ritz/batched.h that an operation has.
enum { TRANS_A = 1, TRANS_B = 2, SIDE = 4, UPLO = 8, DIAG = 16, PIVOT = 32, VECTORS = 64, NUM_PIVOTS = 128 };

static const struct {
  const char *root;
  unsigned options;
} operations[RITZ_BATCHED_NUM_OPERATIONS] = {
    [RITZ_BATCHED_GEMM] = {"Gemm", TRANS_A | TRANS_B},
    [RITZ_BATCHED_GEMV] = {"Gemv", TRANS_A},
    [RITZ_BATCHED_POTRF] = {"Potrf", UPLO},
    [RITZ_BATCHED_POTRS] = {"Potrs", UPLO},
    [RITZ_BATCHED_GETRF] = {"Getrf", PIVOT},
    [RITZ_BATCHED_GETRS] = {"Getrs", TRANS_A | PIVOT},
    [RITZ_BATCHED_GETRI] = {"Getri", PIVOT},
    [RITZ_BATCHED_INV] = {"Inv", 0},
    [RITZ_BATCHED_TRSM] = {"Trsm", SIDE | UPLO | TRANS_A | DIAG},
    [RITZ_BATCHED_TRSV] = {"Trsv", UPLO | TRANS_A | DIAG},
    [RITZ_BATCHED_SYRK] = {"Syrk", UPLO | TRANS_A},
    [RITZ_BATCHED_SYMM] = {"Symm", SIDE | UPLO},
    [RITZ_BATCHED_SYMV] = {"Symv", UPLO},
    [RITZ_BATCHED_TRMM] = {"Trmm", SIDE | UPLO | TRANS_A | DIAG},
    [RITZ_BATCHED_GESV] = {"Gesv", PIVOT},
    [RITZ_BATCHED_POSV] = {"Posv", UPLO},
    [RITZ_BATCHED_LASWP] = {"Laswp", NUM_PIVOTS},
    [RITZ_BATCHED_GEQRF] = {"Geqrf", 0},
    [RITZ_BATCHED_ORMQR] = {"Ormqr", SIDE | TRANS_A},
    [RITZ_BATCHED_ORGQR] = {"Orgqr", 0},
    [RITZ_BATCHED_GELS] = {"Gels", TRANS_A},
    [RITZ_BATCHED_COPY] = {"Copy", TRANS_A},
    [RITZ_BATCHED_GEAM] = {"Geam", TRANS_A | TRANS_B},
    [RITZ_BATCHED_LASET] = {"Laset", 0},
    [RITZ_BATCHED_SYEVJ] = {"Syevj", UPLO | VECTORS},
    [RITZ_BATCHED_GESVDJ] = {"Gesvdj", VECTORS},
};

const char *ritz_batched_root(RitzBatchedOperation operation) { return operations[operation].root; }
static bool has(RitzBatchedOperation operation, unsigned option) {
  return operations[operation].options & option;
}

// Rows and columns of operands as they are stored, and which of them are written.
RitzBatchedForm ritz_batched_form(RitzBatchedOperation operation, const RitzBatchedOptions *o) {
  const RitzBatchDim M = RITZ_DIM_M, N = RITZ_DIM_N, K = RITZ_DIM_K, ONE = RITZ_DIM_ONE;
  const RitzBatchDim LEAST = RITZ_DIM_LEAST, LARGEST = RITZ_DIM_LARGEST;
  const bool ta = o->trans_a == CEED_TRANSPOSE, tb = o->trans_b == CEED_TRANSPOSE;
  const RitzBatchDim side = o->side == RITZ_SIDE_LEFT ? M : N;
  const bool has_pivots = o->pivot == RITZ_PIVOT_ROWS;

  switch (operation) {
  case RITZ_BATCHED_GEMM:
    return (RitzBatchedForm){
        3, {{ta ? K : M, ta ? M : K, false}, {tb ? N : K, tb ? K : N, false}, {M, N, true}}, false};
  case RITZ_BATCHED_GEMV:
    return (RitzBatchedForm){3, {{M, N, false}, {ta ? M : N, ONE, false}, {ta ? N : M, ONE, true}}, false};
  case RITZ_BATCHED_POTRF: return (RitzBatchedForm){1, {{N, N, true}}, false};
  case RITZ_BATCHED_POTRS: return (RitzBatchedForm){2, {{N, N, false}, {N, K, true}}, false};
  case RITZ_BATCHED_GETRF: return (RitzBatchedForm){1, {{M, N, true}}, has_pivots};
  case RITZ_BATCHED_GETRS: return (RitzBatchedForm){2, {{N, N, false}, {N, K, true}}, has_pivots};
  case RITZ_BATCHED_GETRI: return (RitzBatchedForm){1, {{N, N, true}}, has_pivots};
  case RITZ_BATCHED_INV: return (RitzBatchedForm){2, {{N, N, false}, {N, N, true}}, false};
  case RITZ_BATCHED_TRSM:
  case RITZ_BATCHED_TRMM: return (RitzBatchedForm){2, {{side, side, false}, {M, N, true}}, false};
  case RITZ_BATCHED_TRSV: return (RitzBatchedForm){2, {{N, N, false}, {N, ONE, true}}, false};
  case RITZ_BATCHED_SYRK: return (RitzBatchedForm){2, {{ta ? K : N, ta ? N : K, false}, {N, N, true}}, false};
  case RITZ_BATCHED_SYMM:
    return (RitzBatchedForm){3, {{side, side, false}, {M, N, false}, {M, N, true}}, false};
  case RITZ_BATCHED_SYMV:
    return (RitzBatchedForm){3, {{N, N, false}, {N, ONE, false}, {N, ONE, true}}, false};
  case RITZ_BATCHED_GESV: return (RitzBatchedForm){2, {{N, N, true}, {N, K, true}}, has_pivots};
  case RITZ_BATCHED_POSV: return (RitzBatchedForm){2, {{N, N, true}, {N, K, true}}, false};
  case RITZ_BATCHED_LASWP: return (RitzBatchedForm){1, {{M, N, true}}, true};
  case RITZ_BATCHED_GEQRF: return (RitzBatchedForm){2, {{M, N, true}, {LEAST, ONE, true}}, false};
  case RITZ_BATCHED_ORMQR:
    return (RitzBatchedForm){3, {{side, K, false}, {K, ONE, false}, {M, N, true}}, false};
  case RITZ_BATCHED_ORGQR: return (RitzBatchedForm){2, {{M, N, true}, {K, ONE, false}}, false};
  case RITZ_BATCHED_GELS: return (RitzBatchedForm){2, {{M, N, true}, {LARGEST, K, true}}, false};
  case RITZ_BATCHED_COPY: return (RitzBatchedForm){2, {{M, N, false}, {ta ? N : M, ta ? M : N, true}}, false};
  case RITZ_BATCHED_GEAM:
    return (RitzBatchedForm){
        3, {{ta ? N : M, ta ? M : N, false}, {tb ? N : M, tb ? M : N, false}, {M, N, true}}, false};
  case RITZ_BATCHED_LASET: return (RitzBatchedForm){1, {{M, N, true}}, false};
  case RITZ_BATCHED_SYEVJ: return (RitzBatchedForm){2, {{N, N, true}, {N, ONE, true}}, false};
  default: // GESVDJ
    return (RitzBatchedForm){
        o->vectors == RITZ_VECTORS_ALL ? 3 : 2, {{M, N, true}, {N, ONE, true}, {N, N, true}}, false};
  }
}

// The options that the operation has; others are zeros.
static void keep_options(RitzBatchedOperation operation, const RitzBatchedOptions *from,
                         RitzBatchedOptions *to) {
  *to = (RitzBatchedOptions){.A = from->A};
  if (has(operation, TRANS_A)) to->trans_a = from->trans_a;
  if (has(operation, TRANS_B)) to->trans_b = from->trans_b;
  if (has(operation, SIDE)) to->side = from->side;
  if (has(operation, UPLO)) to->uplo = from->uplo;
  if (has(operation, DIAG)) to->diag = from->diag;
  if (has(operation, PIVOT)) to->pivot = from->pivot;
  if (has(operation, VECTORS)) to->vectors = from->vectors;
  if (has(operation, NUM_PIVOTS)) to->num_pivots = from->num_pivots;
  const RitzBatchedForm form = ritz_batched_form(operation, to);
  if (form.num_operands > 1) to->B = from->B;
  if (form.num_operands > 2) to->C = from->C;
}

// ---- Checks of options ----

static int check_choice(Ceed ceed, const char *root, const char *name, int value) {
  RITZ_REQUIRE(value == 0 || value == 1, ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzBatchedCreate: %s: %s is %d, needed one of the two enumerators 0, 1", root, name, value);
  return CEED_ERROR_SUCCESS;
}

static int check_choices(Ceed ceed, const char *root, const RitzBatchedOptions *o) {
  RITZ_TRY(check_choice(ceed, root, "trans_a", (int)o->trans_a));
  RITZ_TRY(check_choice(ceed, root, "trans_b", (int)o->trans_b));
  RITZ_TRY(check_choice(ceed, root, "side", (int)o->side));
  RITZ_TRY(check_choice(ceed, root, "uplo", (int)o->uplo));
  RITZ_TRY(check_choice(ceed, root, "diag", (int)o->diag));
  RITZ_TRY(check_choice(ceed, root, "pivot", (int)o->pivot));
  return check_choice(ceed, root, "vectors", (int)o->vectors);
}

// Checks the layout of one operand and fills in its defaults.
static int check_layout(RitzBatched b, CeedInt operand, RitzBatchLayout *layout) {
  const char *root = ritz_batched_root(b->operation);
  const char letter = (char)('A' + operand);

  RITZ_REQUIRE(
      layout->precision == CEED_SCALAR_FP64 || layout->precision == CEED_SCALAR_FP32, b->ceed,
      CEED_ERROR_UNSUPPORTED,
      "RitzBatchedCreate: %s: the precision of %c is %d, needed CEED_SCALAR_FP64 or CEED_SCALAR_FP32", root,
      letter, (int)layout->precision);
  RITZ_REQUIRE(layout->precision == b->precision || b->operation == RITZ_BATCHED_COPY, b->ceed,
               CEED_ERROR_INCOMPATIBLE,
               "RitzBatchedCreate: %s: %c has %s, but A has %s: operands have one precision", root, letter,
               ritz_precision_name(layout->precision), ritz_precision_name(b->precision));
  RITZ_REQUIRE(layout->m >= 0 && layout->n >= 0, b->ceed, CEED_ERROR_DIMENSION,
               "RitzBatchedCreate: %s: %c is %" CeedInt_FMT " x %" CeedInt_FMT ", needed sizes of at least 0",
               root, letter, layout->m, layout->n);
  if (layout->width == 0) layout->width = 1;
  RITZ_REQUIRE(layout->width > 0 && layout->width <= RITZ_BATCHED_MAX_WIDTH &&
                   (layout->width & (layout->width - 1)) == 0,
               b->ceed, CEED_ERROR_DIMENSION,
               "RitzBatchedCreate: %s: the width of %c is %" CeedInt_FMT ", needed a power of 2 up to %d",
               root, letter, layout->width, (int)RITZ_BATCHED_MAX_WIDTH);
  b->follows_rows[operand] = layout->ld == 0;
  if (layout->ld == 0) layout->ld = layout->m > 0 ? layout->m : 1;
  RITZ_REQUIRE(layout->ld > 0 && layout->ld >= layout->m, b->ceed, CEED_ERROR_DIMENSION,
               "RitzBatchedCreate: %s: the leading dimension of %c is %" CeedInt_FMT
               ", needed at least its %" CeedInt_FMT " rows",
               root, letter, layout->ld, layout->m);
  RITZ_REQUIRE((double)layout->ld * layout->n * layout->width < 1e18, b->ceed, CEED_ERROR_DIMENSION,
               "RitzBatchedCreate: %s: %c has %.3g entries a matrix, needed less than 1e18", root, letter,
               (double)layout->ld * layout->n * layout->width);
  const int64_t least =
      layout->n > 0 ? ((int64_t)layout->ld * (layout->n - 1) + layout->m) * layout->width : 0;
  if (layout->stride == 0) layout->stride = (int64_t)layout->ld * layout->n * layout->width;
  RITZ_REQUIRE(
      layout->stride >= least, b->ceed, CEED_ERROR_DIMENSION,
      "RitzBatchedCreate: %s: the stride of %c is %lld, needed at least the %lld entries of one matrix", root,
      letter, (long long)layout->stride, (long long)least);
  return CEED_ERROR_SUCCESS;
}

// The layouts agree about the sizes of the operation, of which A has m and n where others follow from them.
static int agree(RitzBatched b, bool is_known[RITZ_NUM_DIMS], CeedInt operand, RitzBatchDim dim,
                 const char *what, CeedInt found) {
  static const char *const names[] = {
      "m", "n", "k", "a vector is one column", "the smaller one of m and n", "the larger one of m and n"};
  const char *root = ritz_batched_root(b->operation);
  const CeedInt wanted = ritz_batched_size(b, &(RitzBatchedCall){.count = 1}, dim, 0);

  if (dim < RITZ_NUM_DIMS && !is_known[dim]) {
    is_known[dim] = true;
    b->size[dim] = found;
    return CEED_ERROR_SUCCESS;
  }
  RITZ_REQUIRE(found == wanted, b->ceed, CEED_ERROR_DIMENSION,
               "RitzBatchedCreate: %s: %c has %" CeedInt_FMT " %s, needed %" CeedInt_FMT " (%s)", root,
               (char)('A' + operand), found, what, wanted, names[dim]);
  return CEED_ERROR_SUCCESS;
}

// Q has as many columns as reflectors at least, and orthonormal columns are not more than rows.
static int check_shape(const RitzBatched b) {
  const RitzBatchedOperation op = b->operation;
  const char *root = ritz_batched_root(op);
  const CeedInt m = b->size[RITZ_DIM_M], n = b->size[RITZ_DIM_N], k = b->size[RITZ_DIM_K];
  const CeedInt most = op == RITZ_BATCHED_ORMQR && b->options.side == RITZ_SIDE_LEFT ? m : n;

  RITZ_REQUIRE((op != RITZ_BATCHED_ORGQR && op != RITZ_BATCHED_GESVDJ) || n <= m, b->ceed,
               CEED_ERROR_DIMENSION,
               "RitzBatchedCreate: %s: A is %" CeedInt_FMT " x %" CeedInt_FMT
               ", needed at least as many rows as columns",
               root, m, n);
  RITZ_REQUIRE((op != RITZ_BATCHED_ORMQR && op != RITZ_BATCHED_ORGQR) || k <= most, b->ceed,
               CEED_ERROR_DIMENSION,
               "RitzBatchedCreate: %s: %" CeedInt_FMT " reflectors, needed at most %" CeedInt_FMT, root, k,
               most);
  return CEED_ERROR_SUCCESS;
}

static int set_ipiv_stride(RitzBatched b) {
  const CeedInt m = b->size[RITZ_DIM_M], n = b->size[RITZ_DIM_N], num = b->options.num_pivots;

  RITZ_REQUIRE(num >= 0, b->ceed, CEED_ERROR_DIMENSION,
               "RitzBatchedCreate: %s: num_pivots is %" CeedInt_FMT ", needed at least 0",
               ritz_batched_root(b->operation), num);
  b->ipiv_stride = n;
  if (b->operation == RITZ_BATCHED_GETRF && m < n) b->ipiv_stride = m;
  if (b->operation == RITZ_BATCHED_LASWP) b->ipiv_stride = num ? num : m;
  return CEED_ERROR_SUCCESS;
}

static int check_options(RitzBatched b, const RitzBatchedOptions *options) {
  bool is_known[RITZ_NUM_DIMS] = {false};

  RITZ_TRY(check_choices(b->ceed, ritz_batched_root(b->operation), options));
  keep_options(b->operation, options, &b->options);
  b->form = ritz_batched_form(b->operation, &b->options);
  b->precision = b->options.A.precision;
  for (int d = 0; d < RITZ_NUM_DIMS; d++) b->size[d] = 1;
  for (CeedInt i = 0; i < b->form.num_operands; i++) {
    RitzBatchLayout *layout = i == 0 ? &b->options.A : i == 1 ? &b->options.B : &b->options.C;

    RITZ_TRY(check_layout(b, i, layout));
    RITZ_TRY(agree(b, is_known, i, b->form.operand[i].rows, "rows", layout->m));
    RITZ_TRY(agree(b, is_known, i, b->form.operand[i].cols, "columns", layout->n));
  }
  RITZ_TRY(check_shape(b));
  return set_ipiv_stride(b);
}

// ---- Life ----

// Backends without batches are served by their fallback, on the host.
static int find_server(RitzBatched b) {
  const RitzBackend *backend = &b->ceed->backend;

  while (backend && !backend->batched_run)
    backend = backend->mem_type == CEED_MEM_HOST ? backend->fallback : NULL;
  RITZ_REQUIRE(backend, b->ceed, CEED_ERROR_UNSUPPORTED,
               "RitzBatchedCreate: %s: the context %s has no kernels for batched matrices in device memory",
               ritz_batched_root(b->operation), b->ceed->resource);
  b->server = backend;
  return CEED_ERROR_SUCCESS;
}

static int setup(RitzBatched b, const RitzBatchedOptions *options) {
  RITZ_TRY(check_options(b, options));
  RITZ_TRY(find_server(b));
  return b->server->batched_prepare ? b->server->batched_prepare(b) : CEED_ERROR_SUCCESS;
}

static int destroy_batched(RitzBatched b) {
  int ierr = CEED_ERROR_SUCCESS;

  if (b->data) ierr = b->server->batched_destroy(b);
  ierr = ritz_first_error(ierr, CeedDestroy(&b->ceed));
  RITZ_FREE(&b);
  return ierr;
}

int RitzBatchedCreate(Ceed ceed, RitzBatchedOperation operation, const RitzBatchedOptions *options,
                      RitzBatched *batched) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, options);
  RITZ_ARGUMENT(ceed, batched);
  RITZ_REQUIRE((int)operation >= 0 && (int)operation < RITZ_BATCHED_NUM_OPERATIONS, ceed,
               CEED_ERROR_UNSUPPORTED, "%s: operation %d, needed 0 to %d", __func__, (int)operation,
               RITZ_BATCHED_NUM_OPERATIONS - 1);
  RitzBatched created = NULL;
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &created));
  created->operation = operation;
  created->analyzed_count = -1;
  int ierr = CeedReferenceCopy(ceed, &created->ceed);
  if (!ierr) ierr = setup(created, options);
  if (ierr) {
    (void)destroy_batched(created);
    return ierr;
  }
  created->class = &ritz_batched_class;
  *batched = created;
  return CEED_ERROR_SUCCESS;
}

int RitzBatchedDestroy(RitzBatched *batched) {
  if (!batched || !*batched) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_check_handle(NULL, __func__, "batched", *batched, &ritz_batched_class));
  RitzBatched b = *batched;
  *batched = NULL;
  return destroy_batched(b);
}

// ---- Classes of sizes ----

int RitzBatchedAnalyze(RitzBatched batched, int64_t count, const int32_t *m, const int32_t *n,
                       const int32_t *k) {
  RITZ_HANDLE(batched);
  const int32_t *const sizes[RITZ_NUM_DIMS] = {m, n, k};
  Ceed ceed = batched->ceed;

  RITZ_REQUIRE(count >= 0, ceed, CEED_ERROR_DIMENSION, "%s: count is %lld, needed at least 0", __func__,
               (long long)count);
  for (int d = 0; d < RITZ_NUM_DIMS && ceed->backend.mem_type == CEED_MEM_HOST; d++)
    RITZ_TRY(ritz_batched_check_sizes(batched, __func__, (RitzBatchDim)d, count, sizes[d]));
  for (int d = 0; d < RITZ_NUM_DIMS && ceed->backend.mem_type == CEED_MEM_DEVICE; d++) {
    if (!sizes[d] || count == 0 || !ceed->backend.rep_accept) continue;
    RITZ_TRY(ceed->backend.rep_accept(ceed, __func__, RITZ_REP_DEVICE, (size_t)count * sizeof(*sizes[d]),
                                      false, sizes[d]));
  }
  batched->analyzed_count = -1;
  if (batched->server->batched_analyze) RITZ_TRY(batched->server->batched_analyze(batched, count, sizes));
  batched->analyzed_count = count;
  memcpy(batched->analyzed, sizes, sizeof(sizes));
  return CEED_ERROR_SUCCESS;
}

// ---- Memory ----

int RitzBatchedGetWorkspace(RitzBatched batched, int64_t count, size_t *num_bytes) {
  RITZ_HANDLE(batched);
  RITZ_ARGUMENT(batched->ceed, num_bytes);
  RITZ_REQUIRE(count >= 0, batched->ceed, CEED_ERROR_DIMENSION, "%s: count is %lld, needed at least 0",
               __func__, (long long)count);
  *num_bytes = 0;
  if (count == 0 || !batched->server->batched_workspace) return CEED_ERROR_SUCCESS;
  return batched->server->batched_workspace(batched, count, num_bytes);
}

int RitzBatchedSetWorkspace(RitzBatched batched, void *memory, size_t num_bytes) {
  RITZ_HANDLE(batched);
  Ceed ceed = batched->ceed;

  RITZ_REQUIRE((memory != NULL) == (num_bytes > 0), ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: %zu bytes at %s: needed memory, or NULL and 0", __func__, num_bytes,
               memory ? "an address" : "NULL");
  RITZ_REQUIRE((uintptr_t)memory % RITZ_BATCHED_ALIGNMENT == 0, ceed, CEED_ERROR_DIMENSION,
               "%s: the address is %d bytes beyond a multiple of %d", __func__,
               (int)((uintptr_t)memory % RITZ_BATCHED_ALIGNMENT), RITZ_BATCHED_ALIGNMENT);
  if (memory && ceed->backend.rep_accept && ceed->backend.mem_type == CEED_MEM_DEVICE)
    RITZ_TRY(ceed->backend.rep_accept(ceed, __func__, RITZ_REP_DEVICE, num_bytes, false, memory));
  batched->workspace = memory;
  batched->workspace_bytes = num_bytes;
  return CEED_ERROR_SUCCESS;
}

// ---- For people ----

static void explain_layout(RitzBatched b, CeedInt operand, FILE *stream) {
  const RitzBatchLayout *layout = ritz_batched_layout(&b->options, operand);

  fprintf(stream,
          "  %c: %" CeedInt_FMT " x %" CeedInt_FMT ", leading dimension %" CeedInt_FMT "%s, stride %lld",
          (char)('A' + operand), layout->m, layout->n, layout->ld,
          b->follows_rows[operand] ? " (or own rows)" : "", (long long)layout->stride);
  if (layout->width > 1) fprintf(stream, ", %" CeedInt_FMT " interleaved", layout->width);
  if (layout->precision != b->precision) fprintf(stream, ", %s", ritz_precision_name(layout->precision));
  fprintf(stream, "%s\n", b->form.operand[operand].is_written ? ", written" : "");
}

static void explain_options(RitzBatched b, FILE *stream) {
  const RitzBatchedOptions *o = &b->options;
  const RitzBatchedOperation op = b->operation;

  if (o->trans_a == CEED_TRANSPOSE) fprintf(stream, ", A transposed");
  if (o->trans_b == CEED_TRANSPOSE) fprintf(stream, ", B transposed");
  if (has(op, SIDE)) fprintf(stream, ", %s side", o->side == RITZ_SIDE_LEFT ? "left" : "right");
  if (has(op, UPLO)) fprintf(stream, ", %s triangle", o->uplo == RITZ_TRIANGLE_LOWER ? "lower" : "upper");
  if (o->diag == RITZ_DIAGONAL_UNIT) fprintf(stream, ", unit diagonal");
  if (o->pivot == RITZ_PIVOT_NONE) fprintf(stream, ", without pivots");
  if (o->vectors == RITZ_VECTORS_NONE) fprintf(stream, ", without vectors");
}

int RitzBatchedExplain(RitzBatched batched, FILE *stream) {
  RITZ_HANDLE(batched);
  RITZ_ARGUMENT(batched->ceed, stream);
  fprintf(stream, "Ritz%sBatched on %s, %s", ritz_batched_root(batched->operation), batched->ceed->resource,
          ritz_precision_name(batched->precision));
  explain_options(batched, stream);
  fprintf(stream, "\n");
  for (CeedInt i = 0; i < batched->form.num_operands; i++) explain_layout(batched, i, stream);
  return batched->server->batched_explain ? batched->server->batched_explain(batched, stream)
                                          : CEED_ERROR_SUCCESS;
}
