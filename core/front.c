// SPDX-License-Identifier: BSD-2-Clause
// Batches of fronts (ritz/front.h): the backend's own kernel where it has one (slots front_*), else batched
// operations on parts of the fronts. Trees of fronts (core/front.h): memory, and what moves between fronts.
#include "core/front.h"

#include <string.h>

#include "core/batched.h"

const RitzClass ritz_front_class = {.name = "RitzFront"};

// ---- Life ----

static int check_kind(Ceed ceed, RitzFrontFactors factors, CeedScalarType precision) {
  RITZ_REQUIRE(factors == RITZ_FRONT_CHOLESKY || factors == RITZ_FRONT_LDLT, ceed, CEED_ERROR_UNSUPPORTED,
               "RitzFrontCreate: there are no factors %d", (int)factors);
  RITZ_REQUIRE(precision == CEED_SCALAR_FP64 || precision == CEED_SCALAR_FP32, ceed, CEED_ERROR_UNSUPPORTED,
               "RitzFrontCreate: the precision is %d, needed CEED_SCALAR_FP64 or CEED_SCALAR_FP32",
               (int)precision);
  RITZ_REQUIRE(factors == RITZ_FRONT_CHOLESKY || precision == CEED_SCALAR_FP64, ceed, CEED_ERROR_UNSUPPORTED,
               "RitzFrontCreate: L D L^T in float, needed CEED_SCALAR_FP64");
  return CEED_ERROR_SUCCESS;
}

static int check_bounds(Ceed ceed, CeedInt d1, CeedInt d2) {
  RITZ_REQUIRE(d1 >= 0 && d2 >= 0 && (int64_t)d1 + d2 <= INT32_MAX, ceed, CEED_ERROR_DIMENSION,
               "RitzFrontCreate: fronts up to %" CeedInt_FMT " + %" CeedInt_FMT
               ", needed at least 0 and a sum below 2^31",
               d1, d2);
  return CEED_ERROR_SUCCESS;
}

// The operations of a kind, in their order, for fronts within the bounds.
static int create_step(RitzFront f, RitzFrontKind kind, int step) {
  const CeedInt d1 = f->d1, d2 = f->d2;
  const RitzBatchLayout F11 = {.precision = f->precision, .m = d1, .n = d1};
  const RitzBatchLayout F21 = {.precision = f->precision, .m = d2, .n = d1};
  const RitzBatchLayout F22 = {.precision = f->precision, .m = d2, .n = d2};
  const RitzBatchLayout x1 = {.precision = f->precision, .m = d1, .n = 1};
  const RitzBatchLayout x2 = {.precision = f->precision, .m = d2, .n = 1};
  static const RitzBatchedOperation operations[3][RITZ_FRONT_NUM_STEPS] = {
      [RITZ_FRONT_FACTORIZE] = {RITZ_BATCHED_POTRF, RITZ_BATCHED_TRSM, RITZ_BATCHED_GEMM},
      [RITZ_FRONT_FORWARD] = {RITZ_BATCHED_TRSV, RITZ_BATCHED_GEMV},
      [RITZ_FRONT_BACKWARD] = {RITZ_BATCHED_GEMV, RITZ_BATCHED_TRSV}};
  const RitzBatchedOperation operation = operations[kind][step];
  const bool is_back = kind == RITZ_FRONT_BACKWARD;
  RitzBatchedOptions o = {.A = F11}; // lower triangles, stored diagonals

  if (f->step[kind][step]) return CEED_ERROR_SUCCESS;
  if (operation == RITZ_BATCHED_TRSM) {
    o.side = RITZ_SIDE_RIGHT;
    o.trans_a = CEED_TRANSPOSE;
    o.B = F21;
  } else if (operation == RITZ_BATCHED_GEMM) {
    o = (RitzBatchedOptions){.A = F21, .B = F21, .C = F22, .trans_b = CEED_TRANSPOSE};
  } else if (operation == RITZ_BATCHED_GEMV) {
    o = (RitzBatchedOptions){.A = F21, .B = is_back ? x2 : x1, .C = is_back ? x1 : x2};
  } else if (operation == RITZ_BATCHED_TRSV) {
    o.B = x1;
  }
  if (is_back) o.trans_a = CEED_TRANSPOSE;
  return RitzBatchedCreate(f->ceed, operation, &o, &f->step[kind][step]);
}

// Contexts that cannot do it say so now; kernels that will be needed begin to be made.
static int prepare_front(RitzFront f) {
  Ceed ceed = f->ceed;

  if (ceed->backend.front_prepare && f->precision == CEED_SCALAR_FP64)
    RITZ_TRY(ceed->backend.front_prepare(f));
  RITZ_REQUIRE(f->has_kernel || f->factors == RITZ_FRONT_CHOLESKY, ceed, CEED_ERROR_UNSUPPORTED,
               "RitzFrontCreate: the context %s has no L D L^T of fronts", ceed->resource);
  for (int step = 0; step < RITZ_FRONT_NUM_STEPS && !f->has_kernel; step++)
    RITZ_TRY(create_step(f, RITZ_FRONT_FACTORIZE, step));
  return CEED_ERROR_SUCCESS;
}

int RitzFrontCreate(Ceed ceed, RitzFrontFactors factors, CeedScalarType precision, CeedInt d1, CeedInt d2,
                    RitzFront *front) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, front);
  RitzFront f = NULL;
  RITZ_TRY(check_kind(ceed, factors, precision));
  RITZ_TRY(check_bounds(ceed, d1, d2));
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &f));
  *f = (struct RitzFront_private){
      .class = &ritz_front_class, .factors = factors, .precision = precision, .d1 = d1, .d2 = d2};
  int ierr = CeedReferenceCopy(ceed, &f->ceed);
  if (!ierr) ierr = prepare_front(f);
  if (ierr) {
    (void)RitzFrontDestroy(&f);
    return ierr;
  }
  *front = f;
  return CEED_ERROR_SUCCESS;
}

int RitzFrontDestroy(RitzFront *front) {
  int ierr = CEED_ERROR_SUCCESS;

  if (!front || !*front) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_check_handle(NULL, __func__, "front", *front, &ritz_front_class));
  RitzFront f = *front;
  *front = NULL;
  if (f->data) ierr = f->ceed->backend.front_destroy(f);
  for (int kind = 0; kind < 3; kind++)
    for (int step = 0; step < RITZ_FRONT_NUM_STEPS; step++)
      ierr = ritz_first_error(ierr, RitzBatchedDestroy(&f->step[kind][step]));
  ierr = ritz_first_error(ierr, CeedDestroy(&f->ceed));
  RITZ_FREE(&f);
  return ierr;
}

int RitzFrontSetSmallestPivot(RitzFront front, double smallest) {
  RITZ_HANDLE(front);
  RITZ_REQUIRE(front->factors == RITZ_FRONT_LDLT, front->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzFrontSetSmallestPivot: the factors are Cholesky's, needed RITZ_FRONT_LDLT");
  RITZ_REQUIRE(smallest >= 0 && isfinite(smallest), front->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzFrontSetSmallestPivot: %g, needed a finite number of at least 0", smallest);
  front->smallest = smallest;
  return CEED_ERROR_SUCCESS;
}

// ---- By batched operations ----

typedef struct {
  RitzBatchArray F11, F21, F22, x1, x2;
} Parts;

// x: of right-hand side `rhs`. On devices its distance from the first one is a row, since OpenCL's want
// addresses at multiples of some hundred bytes; where sizes are read and checked rows lie within leading
// dimensions.
static Parts parts_of(const RitzFront f, const RitzFrontCall *call, int rhs) {
  const int64_t distance = rhs * call->x_stride;
  const int64_t row0 = ritz_batched_reads_sizes(f->ceed) ? 0 : distance & ((1 << 30) - 1);
  const int64_t start = (distance - row0) * (int64_t)ritz_scalar_bytes(f->precision);
  const RitzFrontArrays *a = call->arrays;
  const RitzBatchArray panel = {
      .base = a->panels, .offsets = a->panel_offsets, .lds = a->panel_lds, .cols = a->d1};
  const RitzBatchArray x = {.base = call->x ? (char *)call->x + start : NULL,
                            .offsets = call->x_offsets,
                            .lds = a->panel_lds,
                            .row0 = (int32_t)row0};
  Parts p = {.F11 = panel, .F21 = panel, .x1 = x, .x2 = x};

  p.F11.rows = p.x1.rows = a->d1;
  p.F21.rows = p.x2.rows = a->d2;
  p.F21.first_rows = p.x2.first_rows = a->d1;
  p.F22 = (RitzBatchArray){
      .base = a->updates, .offsets = a->update_offsets, .lds = a->update_lds, .rows = a->d2, .cols = a->d2};
  return p;
}

static int factorize_by_steps(RitzFront f, const RitzFrontCall *call) {
  const RitzBatched *step = f->step[RITZ_FRONT_FACTORIZE];
  const int64_t n = call->count;
  const Parts p = parts_of(f, call, 0);

  RITZ_TRY(RitzPotrfBatched(step[0], n, &p.F11, call->info));
  if (f->d1 == 0 || f->d2 == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RitzTrsmBatched(step[1], n, 1, &p.F11, &p.F21));
  return RitzGemmBatched(step[2], n, -1, &p.F21, &p.F21, 1, &p.F22);
}

static int solve_by_steps(RitzFront f, const RitzFrontCall *call, int rhs) {
  const RitzBatched *step = f->step[call->kind];
  const int64_t n = call->count;
  const Parts p = parts_of(f, call, rhs);

  if (call->kind == RITZ_FRONT_FORWARD) {
    RITZ_TRY(RitzTrsvBatched(step[0], n, &p.F11, &p.x1));
    return f->d2 > 0 ? RitzGemvBatched(step[1], n, -1, &p.F21, &p.x1, 1, &p.x2) : CEED_ERROR_SUCCESS;
  }
  if (f->d2 > 0) RITZ_TRY(RitzGemvBatched(step[0], n, -1, &p.F21, &p.x2, 1, &p.x1));
  return RitzTrsvBatched(step[1], n, &p.F11, &p.x1);
}

static int run_steps(RitzFront f, const RitzFrontCall *call) {
  if (call->kind == RITZ_FRONT_FACTORIZE) return factorize_by_steps(f, call);
  if (f->d1 == 0) return CEED_ERROR_SUCCESS;
  for (int k = 0; k < 2; k++) RITZ_TRY(create_step(f, call->kind, k));
  for (int r = 0; r < call->num_rhs; r++) RITZ_TRY(solve_by_steps(f, call, r));
  return CEED_ERROR_SUCCESS;
}

// ---- Calls ----

static int check_arrays(RitzFront f, const char *name, const RitzFrontCall *call) {
  const RitzFrontArrays *a = call->arrays;
  const bool is_complete = a->d1 && a->d2 && a->panels && a->panel_offsets && a->panel_lds &&
                           (call->kind != RITZ_FRONT_FACTORIZE ||
                            (a->update_offsets && a->update_lds && (a->updates || f->d2 == 0)));

  RITZ_REQUIRE(is_complete, f->ceed, CEED_ERROR_INCOMPATIBLE, "%s: an array of the fronts is NULL", name);
  return CEED_ERROR_SUCCESS;
}

// On devices: all arrays are memory of the context, as far as their first entries, or sizes that are known,
// tell. A kernel that reads other memory ends the context of a device.
static int check_memory(RitzFront f, const char *name, const RitzFrontCall *call) {
  const RitzFrontArrays *a = call->arrays;
  const bool is_solve = call->kind != RITZ_FRONT_FACTORIZE;
  const size_t n = (size_t)call->count, entry = ritz_scalar_bytes(f->precision);
  const struct {
    const void *p;
    size_t num_bytes;
  } arrays[] = {{a->d1, n * sizeof(*a->d1)},
                {a->d2, n * sizeof(*a->d2)},
                {f->d1 > 0 ? a->panels : NULL, entry},
                {a->panel_offsets, n * sizeof(*a->panel_offsets)},
                {a->panel_lds, n * sizeof(*a->panel_lds)},
                {is_solve || f->d2 == 0 ? NULL : a->updates, entry},
                {is_solve ? NULL : a->update_offsets, n * sizeof(*a->update_offsets)},
                {is_solve ? NULL : a->update_lds, n * sizeof(*a->update_lds)},
                {f->d1 + f->d2 > 0 ? call->x : NULL, entry},
                {call->x_offsets, n * sizeof(*call->x_offsets)},
                {call->info, n * sizeof(*call->info)}};
  const RitzBackend *backend = &f->ceed->backend;

  if (backend->mem_type == CEED_MEM_HOST || !backend->rep_accept) return CEED_ERROR_SUCCESS;
  for (size_t k = 0; k < sizeof(arrays) / sizeof(arrays[0]); k++) {
    if (!arrays[k].p) continue;
    RITZ_TRY(backend->rep_accept(f->ceed, name, RITZ_REP_DEVICE, arrays[k].num_bytes, false, arrays[k].p));
  }
  return CEED_ERROR_SUCCESS;
}

static int run_front(RitzFront f, const char *name, const RitzFrontCall *call) {
  Ceed ceed = f->ceed;

  RITZ_REQUIRE(call->count >= 0, ceed, CEED_ERROR_DIMENSION, "%s: count is %lld, needed at least 0", name,
               (long long)call->count);
  RITZ_REQUIRE(call->num_rhs >= 0, ceed, CEED_ERROR_DIMENSION, "%s: num_rhs is %d, needed at least 0", name,
               call->num_rhs);
  if (call->count == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(check_arrays(f, name, call));
  RITZ_TRY(check_memory(f, name, call));
  if (call->kind != RITZ_FRONT_FACTORIZE && call->num_rhs == 0) return CEED_ERROR_SUCCESS;
  return f->has_kernel ? ceed->backend.front_run(f, call) : run_steps(f, call);
}

int RitzFrontBatched(RitzFront front, int64_t count, const RitzFrontArrays *fronts, int32_t *info) {
  RITZ_HANDLE(front);
  RITZ_ARGUMENT(front->ceed, fronts);
  return run_front(
      front, __func__,
      &(RitzFrontCall){.kind = RITZ_FRONT_FACTORIZE, .count = count, .arrays = fronts, .info = info});
}

static int solve_front(RitzFront f, const char *name, const RitzFrontCall *call) {
  RITZ_ARGUMENT(f->ceed, call->arrays);
  RITZ_ARGUMENT(f->ceed, call->x);
  RITZ_ARGUMENT(f->ceed, call->x_offsets);
  return run_front(f, name, call);
}

#define SOLVE_CALL(which)                                                                                    \
  &(RitzFrontCall) {                                                                                         \
    .kind = (which), .count = count, .arrays = fronts, .num_rhs = num_rhs, .x = x, .x_offsets = x_offsets,   \
    .x_stride = x_stride                                                                                     \
  }

int RitzFrontForwardBatched(RitzFront front, int64_t count, const RitzFrontArrays *fronts, CeedInt num_rhs,
                            void *x, const int64_t *x_offsets, int64_t x_stride) {
  RITZ_HANDLE(front);
  return solve_front(front, __func__, SOLVE_CALL(RITZ_FRONT_FORWARD));
}

int RitzFrontBackwardBatched(RitzFront front, int64_t count, const RitzFrontArrays *fronts, CeedInt num_rhs,
                             void *x, const int64_t *x_offsets, int64_t x_stride) {
  RITZ_HANDLE(front);
  return solve_front(front, __func__, SOLVE_CALL(RITZ_FRONT_BACKWARD));
}

// ---- Trees ----

int ritz_front_tree_run(Ceed ceed, const RitzFrontTree *tree, const RitzFrontTreeAction *action) {
  RITZ_REQUIRE(ceed->backend.front_tree_run, ceed, CEED_ERROR_UNSUPPORTED,
               "the context %s has no kernels for fronts in device memory", ceed->resource);
  return action->count > 0 ? ceed->backend.front_tree_run(ceed, tree, action) : CEED_ERROR_SUCCESS;
}

static bool is_on_host(Ceed ceed) { return ceed->backend.mem_type == CEED_MEM_HOST; }

int ritz_front_memory_alloc(Ceed ceed, size_t num_bytes, void **p) {
  *p = NULL;
  if (num_bytes == 0) return CEED_ERROR_SUCCESS;
  if (is_on_host(ceed)) return ritz_malloc(ceed, num_bytes, 1, p);
  return ceed->backend.rep_alloc(ceed, RITZ_REP_DEVICE, num_bytes, p);
}

int ritz_front_memory_free(Ceed ceed, void **p) {
  void *memory = *p;
  *p = NULL;
  if (!memory) return CEED_ERROR_SUCCESS;
  if (!is_on_host(ceed)) return ceed->backend.rep_free(ceed, RITZ_REP_DEVICE, memory);
  RITZ_FREE(&memory);
  return CEED_ERROR_SUCCESS;
}

int ritz_front_memory_upload(Ceed ceed, size_t num_bytes, const void *host, void *p) {
  if (num_bytes == 0) return CEED_ERROR_SUCCESS;
  if (!is_on_host(ceed))
    return ceed->backend.rep_copy(ceed, num_bytes, RITZ_REP_DEVICE, p, RITZ_REP_HOST, host);
  memcpy(p, host, num_bytes);
  return CEED_ERROR_SUCCESS;
}

int ritz_front_memory_download(Ceed ceed, size_t num_bytes, const void *p, void *host) {
  if (num_bytes == 0) return CEED_ERROR_SUCCESS;
  if (!is_on_host(ceed))
    return ceed->backend.rep_copy(ceed, num_bytes, RITZ_REP_HOST, host, RITZ_REP_DEVICE, p);
  memcpy(host, p, num_bytes);
  return CEED_ERROR_SUCCESS;
}

int ritz_front_memory_clear(Ceed ceed, int64_t n, double *p) {
  return n > 0 ? ceed->backend.vector_set_value(ceed, CEED_SCALAR_FP64, n, 0, p) : CEED_ERROR_SUCCESS;
}
