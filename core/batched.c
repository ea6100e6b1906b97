// SPDX-License-Identifier: BSD-2-Clause
// Batched dense linear algebra: what each operation is made of, life of objects, memory, what they tell about
// themselves. Calls are in core/batched-call.c, checks of their operands in core/batched-operands.c, numbers
// behind the slots batched_* (core/batched.h).
#include "core/batched.h"

#include <string.h>

const RitzClass ritz_batched_class = {.name = "RitzBatched"};

// ---- Operations ----

const char *ritz_batched_root(RitzBatchedOperation operation) {
  static const char *const roots[] = {"Gemm",  "Gemv",  "Potrf", "Potrs", "Getrf",
                                      "Getrs", "Getri", "Inv",   "Trsm",  "Trsv"};
  return roots[operation];
}

// Rows and columns of operands as they are stored; the last operand is the result, but for GETRF etc. of one.
RitzBatchedForm ritz_batched_form(RitzBatchedOperation operation, const RitzBatchedOptions *o) {
  const RitzBatchDim M = RITZ_DIM_M, N = RITZ_DIM_N, K = RITZ_DIM_K, ONE = RITZ_DIM_ONE;
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
  case RITZ_BATCHED_TRSM: return (RitzBatchedForm){2, {{side, side, false}, {M, N, true}}, false};
  default: return (RitzBatchedForm){2, {{N, N, false}, {N, ONE, true}}, false};
  }
}

// The options that the operation has; others are zeros.
static void keep_options(RitzBatchedOperation operation, const RitzBatchedOptions *from,
                         RitzBatchedOptions *to) {
  const bool solves = operation == RITZ_BATCHED_TRSM || operation == RITZ_BATCHED_TRSV;

  *to = (RitzBatchedOptions){.A = from->A};
  if (operation == RITZ_BATCHED_GEMM || operation == RITZ_BATCHED_GEMV || operation == RITZ_BATCHED_GETRS ||
      solves)
    to->trans_a = from->trans_a;
  if (operation == RITZ_BATCHED_GEMM) to->trans_b = from->trans_b;
  if (operation == RITZ_BATCHED_TRSM) to->side = from->side;
  if (solves) to->diag = from->diag;
  if (operation == RITZ_BATCHED_POTRF || operation == RITZ_BATCHED_POTRS || solves) to->uplo = from->uplo;
  if (operation == RITZ_BATCHED_GETRF || operation == RITZ_BATCHED_GETRS || operation == RITZ_BATCHED_GETRI)
    to->pivot = from->pivot;
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
  return check_choice(ceed, root, "pivot", (int)o->pivot);
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
  RITZ_REQUIRE(layout->precision == b->precision, b->ceed, CEED_ERROR_INCOMPATIBLE,
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

// The layouts agree about the sizes of the operation.
static int agree(RitzBatched b, bool is_known[RITZ_NUM_DIMS], CeedInt operand, RitzBatchDim dim,
                 const char *what, CeedInt found) {
  const char *root = ritz_batched_root(b->operation);
  const CeedInt wanted = dim == RITZ_DIM_ONE ? 1 : b->size[dim];

  if (dim != RITZ_DIM_ONE && !is_known[dim]) {
    is_known[dim] = true;
    b->size[dim] = found;
    return CEED_ERROR_SUCCESS;
  }
  RITZ_REQUIRE(found == wanted, b->ceed, CEED_ERROR_DIMENSION,
               "RitzBatchedCreate: %s: %c has %" CeedInt_FMT " %s, needed %" CeedInt_FMT " (%s)", root,
               (char)('A' + operand), found, what, wanted,
               dim == RITZ_DIM_ONE ? "a vector is one column"
               : dim == RITZ_DIM_M ? "m"
               : dim == RITZ_DIM_N ? "n"
                                   : "k");
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
  b->ipiv_stride = b->size[RITZ_DIM_N];
  if (b->operation == RITZ_BATCHED_GETRF && b->size[RITZ_DIM_M] < b->ipiv_stride)
    b->ipiv_stride = b->size[RITZ_DIM_M];
  return CEED_ERROR_SUCCESS;
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

static int destroy(RitzBatched b) {
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
    (void)destroy(created);
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
  return destroy(b);
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
  fprintf(stream, "%s\n", b->form.operand[operand].is_written ? ", written" : "");
}

static void explain_options(RitzBatched b, FILE *stream) {
  const RitzBatchedOptions *o = &b->options;
  const RitzBatchedOperation op = b->operation;
  const bool solves = op == RITZ_BATCHED_TRSM || op == RITZ_BATCHED_TRSV;

  if (o->trans_a == CEED_TRANSPOSE) fprintf(stream, ", A transposed");
  if (o->trans_b == CEED_TRANSPOSE) fprintf(stream, ", B transposed");
  if (op == RITZ_BATCHED_TRSM) fprintf(stream, ", %s side", o->side == RITZ_SIDE_LEFT ? "left" : "right");
  if (solves || op == RITZ_BATCHED_POTRF || op == RITZ_BATCHED_POTRS)
    fprintf(stream, ", %s triangle", o->uplo == RITZ_TRIANGLE_LOWER ? "lower" : "upper");
  if (o->diag == RITZ_DIAGONAL_UNIT) fprintf(stream, ", unit diagonal");
  if (o->pivot == RITZ_PIVOT_NONE) fprintf(stream, ", without pivots");
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
