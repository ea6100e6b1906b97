// SPDX-License-Identifier: BSD-2-Clause
// Conjugate gradients whose vectors stay on the device: the slots cg_create, cg_iterate, cg_destroy, for
// solver/cg-device.c. Kernels: kernels/gpu/cg.h.
//
// A merged iteration is the operator, which adds to q = 0, and three passes, of which each takes the sums of
// the one before as its first step, so that the host waits once, for three numbers. While it does, the device
// works on the product of the next iteration, which is in vain at the end (drivers without a second stream,
// and operators that may write to more than q, do not run ahead). Bytes an entry in double precision:
//
//     dot        p . q                                       16
//     advance    r -= alpha q, |r|^2, r . M r                24, with M 32
//     turn       x += alpha scale p, p = M r + beta p, q = 0    48, with M 56
//
// Where the kernel of a fused operator gives p . A p itself (energy.c), `collect` adds up its few shares in
// place of `dot`. The reference does one operation a pass: q = 0, p . q, x, r, |r|^2, z = M r, r . z, p: 104,
// with M 144.
#include "core/device-cg.h"

#include "backends/gpu/gpu.h"

// Resident blocks hide the latency of memory; each block adds up the sums of all others.
enum { BLOCKS_PER_UNIT = 6, MAX_BLOCKS = 1024, LANES = 16 / sizeof(CeedScalar) };

// Numbers of one iteration; the same struct as in kernels/gpu/cg.h.
typedef struct {
  double pq, rr, rz, scale;
} Record;

// Numbers of a block in `partial`: those of two passes, one after the other.
enum { NUM_PARTIAL = 4 };

struct RitzCgObject {
  RitzCgSetup setup;      // borrowed vectors and operator, and no list of constraints
  Ceed ceed;              // borrowed
  RitzGpuProgram program; // counted
  CeedSize length;        // of p, q and the arrays: n and zeros up to whole packs
  int64_t num_blocks;
  CeedVector p, q;         // owned
  CeedScalar *r;           // owned, as all below; in device memory
  CeedScalar *inverse;     // M, or NULL
  CeedScalar *z;           // M r of the reference, or NULL
  void *mask;              // a bit for each entry; NULL: no constraints
  double *partial;         // [NUM_PARTIAL][num_blocks]
  Record *records;         // [2]: of iterations k and k + 1, written alternately
  int number;              // index in `records` of the last iteration
  Record last;             // a copy
  RitzDeviceStream reader; // owned; of the copies, where the next product is made meanwhile. NULL: it is not
  RitzDeviceEvent turned;  // owned; the end of an iteration
  bool is_ahead;           // q is the product of the next iteration already
  bool has_energy;         // the product gave p . A p
};

#define RUN(cg, kernel, ...)                                                                                 \
  RITZ_GPU_RUN((cg)->ceed, (cg)->program, kernel, (cg)->num_blocks, RITZ_GPU_BLOCK, __VA_ARGS__)

// ---- Arrays of vectors ----

typedef struct {
  CeedScalar *p, *q, *x;
  int num_held; // arrays without entries are NULL
} Arrays;

enum { NUM_ARRAYS = 3 };

static void list(const RitzCgObject *cg, Arrays *arrays, CeedVector vectors[NUM_ARRAYS],
                 CeedScalar **places[NUM_ARRAYS]) {
  vectors[0] = cg->p, places[0] = &arrays->p;
  vectors[1] = cg->q, places[1] = &arrays->q;
  vectors[2] = cg->setup.x, places[2] = &arrays->x;
}

static int restore(const RitzCgObject *cg, Arrays *arrays, int ierr) {
  CeedVector vectors[NUM_ARRAYS];
  CeedScalar **places[NUM_ARRAYS];
  list(cg, arrays, vectors, places);
  for (int i = 0; i < arrays->num_held; i++) {
    const int restored = CeedVectorRestoreArray(vectors[i], places[i]);
    if (!ierr) ierr = restored;
  }
  return ierr;
}

static int hold(const RitzCgObject *cg, Arrays *arrays) {
  CeedVector vectors[NUM_ARRAYS];
  CeedScalar **places[NUM_ARRAYS];
  int ierr = CEED_ERROR_SUCCESS;
  *arrays = (Arrays){.num_held = 0};
  list(cg, arrays, vectors, places);
  for (; !ierr && arrays->num_held < NUM_ARRAYS; arrays->num_held += !ierr)
    ierr = CeedVectorGetArray(vectors[arrays->num_held], CEED_MEM_DEVICE, places[arrays->num_held]);
  return ierr ? restore(cg, arrays, ierr) : CEED_ERROR_SUCCESS;
}

// ---- Sums ----

static double sum_of_blocks(const RitzCgObject *cg, const double *partial) {
  double sum = 0;
  for (int64_t b = 0; b < cg->num_blocks; b++) sum += partial[b];
  return sum;
}

// Result of a pass that takes the largest magnitude and counts entries that are not finite.
static int read_largest(const RitzCgObject *cg, double *largest, double *num_bad) {
  double partial[2 * MAX_BLOCKS];
  RITZ_TRY(ritz_gpu_copy_out(cg->ceed, 2 * (size_t)cg->num_blocks * sizeof(double), partial, cg->partial));
  *largest = partial[0];
  for (int64_t b = 1; b < cg->num_blocks; b++) *largest = fmax(*largest, partial[b]);
  *num_bad = sum_of_blocks(cg, partial + cg->num_blocks);
  return CEED_ERROR_SUCCESS;
}

static int dot(const RitzCgObject *cg, const CeedScalar *a, const CeedScalar *b, double *result) {
  double partial[MAX_BLOCKS];
  RITZ_TRY(RUN(cg, "ritz_cg_dot", RITZ_LONG(cg->length), RITZ_POINTER(cg->mask), RITZ_POINTER(a),
               RITZ_POINTER(b), RITZ_POINTER(cg->partial)));
  RITZ_TRY(ritz_gpu_copy_out(cg->ceed, (size_t)cg->num_blocks * sizeof(double), partial, cg->partial));
  *result = sum_of_blocks(cg, partial);
  return CEED_ERROR_SUCCESS;
}

// ---- The merged iteration ----

// The pass that ends an iteration; x NULL: there was none before.
static int turn(RitzCgObject *cg, const Arrays *arrays, CeedScalar *x) {
  RITZ_TRY(RUN(cg, "ritz_cg_turn", RITZ_LONG(cg->setup.n), RITZ_POINTER(cg->partial), RITZ_INT(cg->number),
               RITZ_POINTER(cg->records), RITZ_POINTER(cg->inverse), RITZ_POINTER(cg->r), RITZ_POINTER(x),
               RITZ_POINTER(arrays->p), RITZ_POINTER(arrays->q)));
  cg->number = 1 - cg->number;
  return CEED_ERROR_SUCCESS;
}

static int read_numbers(RitzCgObject *cg, RitzDeviceStream stream) {
  return ritz_gpu_copy_out_by(cg->ceed, stream, offsetof(Record, scale), &cg->last, &cg->records[cg->number]);
}

static int iterate_merged(RitzCgObject *cg, const Arrays *arrays) {
  if (!cg->has_energy)
    RITZ_TRY(RUN(cg, "ritz_cg_dot", RITZ_LONG(cg->length), RITZ_POINTER(cg->mask), RITZ_POINTER(arrays->p),
                 RITZ_POINTER(arrays->q), RITZ_POINTER(cg->partial)));
  RITZ_TRY(RUN(cg, "ritz_cg_advance", RITZ_LONG(cg->length), RITZ_INT(cg->number), RITZ_POINTER(cg->records),
               RITZ_POINTER(cg->mask), RITZ_POINTER(cg->inverse), RITZ_POINTER(arrays->q),
               RITZ_POINTER(cg->r), RITZ_POINTER(cg->partial)));
  return turn(cg, arrays, arrays->x);
}

// ---- The reference ----

static int constrain(const RitzCgObject *cg, CeedScalar *q) {
  if (!cg->mask) return CEED_ERROR_SUCCESS;
  return RUN(cg, "ritz_cg_constrain", RITZ_LONG(cg->setup.n), RITZ_POINTER(cg->mask), RITZ_POINTER(q));
}

static int precondition(const RitzCgObject *cg, const CeedScalar **z) {
  *z = cg->z ? cg->z : cg->r;
  if (!cg->z) return CEED_ERROR_SUCCESS;
  return ritz_gpu_vector_pointwise_mult(cg->ceed, CEED_SCALAR_TYPE, cg->length, cg->inverse, cg->r, cg->z);
}

static int iterate_by_operations(RitzCgObject *cg, const Arrays *arrays) {
  Record *last = &cg->last;
  const double rz_before = last->rz;
  const CeedScalar *z;
  RITZ_TRY(constrain(cg, arrays->q));
  RITZ_TRY(dot(cg, arrays->p, arrays->q, &last->pq));
  const double alpha = rz_before / last->pq;
  if (!(last->pq > 0) || !isfinite(last->pq) || !isfinite(alpha * last->scale)) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_gpu_vector_axpby(cg->ceed, CEED_SCALAR_TYPE, cg->setup.n, (CeedScalar)(alpha * last->scale),
                                 1, arrays->p, arrays->x));
  RITZ_TRY(
      ritz_gpu_vector_axpby(cg->ceed, CEED_SCALAR_TYPE, cg->length, (CeedScalar)-alpha, 1, arrays->q, cg->r));
  RITZ_TRY(dot(cg, cg->r, cg->r, &last->rr));
  RITZ_TRY(precondition(cg, &z));
  last->rz = last->rr;
  if (cg->z) RITZ_TRY(dot(cg, cg->r, z, &last->rz));
  const double beta = rz_before > 0 ? last->rz / rz_before : 0;
  return ritz_gpu_vector_axpby(cg->ceed, CEED_SCALAR_TYPE, cg->length, 1, (CeedScalar)beta, z, arrays->p);
}

// ---- The operator ----

// The largest number of shares of p . A p that a sub-operator gives; 0: some sub-operator gives none.
static int count_shares(const RitzCgObject *cg, CeedInt num, const CeedOperator *subs, int64_t *most) {
  *most = 0;
  for (CeedInt i = 0; i < num; i++) {
    int64_t num_shares = 0;
    if (subs[i]->num_elem == 0) continue;
    if (subs[i]->obj.ceed == cg->ceed && ritz_operator_is_plain(subs[i], cg->p, cg->q))
      RITZ_TRY(ritz_gpu_energy_prepare(subs[i], &num_shares));
    *most = num_shares > *most ? num_shares : *most;
    if (num_shares == 0) {
      *most = 0;
      return CEED_ERROR_SUCCESS;
    }
  }
  return CEED_ERROR_SUCCESS;
}

// q += A p; p . A p in `partial`.
static int apply_with_energy(const RitzCgObject *cg, CeedInt num, const CeedOperator *subs, int64_t most) {
  void *shares;
  bool adds = false;
  RITZ_TRY(ritz_gpu_work(cg->ceed, RITZ_WORK_ENERGY, (size_t)most * sizeof(double), &shares));
  RITZ_TRY(ritz_operator_zero_outputs(cg->setup.op, cg->q, RITZ_APPLY_ADD_ACTIVE));
  for (CeedInt i = 0; i < num; i++) {
    int64_t num_shares;
    if (subs[i]->num_elem == 0) continue;
    RITZ_TRY(ritz_gpu_energy_prepare(subs[i], &num_shares));
    RITZ_TRY(ritz_gpu_energy_apply(subs[i], cg->p, cg->q, shares));
    RITZ_TRY(RUN(cg, "ritz_cg_collect", RITZ_LONG(num_shares), RITZ_POINTER(shares), RITZ_INT(adds),
                 RITZ_POINTER(cg->partial)));
    adds = true;
  }
  return CEED_ERROR_SUCCESS;
}

static int apply_operator(RitzCgObject *cg) {
  CeedOperator op = cg->setup.op;
  const CeedInt num = op->is_composite ? op->num_sub : 1;
  const CeedOperator *subs = op->is_composite ? op->sub : &op;
  int64_t most = 0;
  cg->has_energy = false;
  if (!cg->setup.is_merged) return CeedOperatorApply(op, cg->p, cg->q, CEED_REQUEST_IMMEDIATE);
  RITZ_TRY(count_shares(cg, num, subs, &most));
  cg->has_energy = most > 0;
  if (cg->has_energy) return apply_with_energy(cg, num, subs, most);
  return CeedOperatorApplyAddActive(op, cg->p, cg->q, CEED_REQUEST_IMMEDIATE);
}

// The numbers of this iteration, and the product of the next one.
static int read_and_go_ahead(RitzCgObject *cg) {
  const RitzGpu *gpu = ritz_gpu(cg->ceed);
  if (!cg->reader) return read_numbers(cg, gpu->stream);
  RITZ_TRY(gpu->driver->event_record(cg->ceed, gpu->device, gpu->stream, cg->turned));
  RITZ_TRY(gpu->driver->event_wait(cg->ceed, gpu->device, cg->reader, cg->turned));
  RITZ_TRY(apply_operator(cg));
  cg->is_ahead = true;
  return read_numbers(cg, cg->reader);
}

int ritz_gpu_cg_iterate(RitzCgObject *cg, RitzCgNumbers *numbers) {
  Arrays arrays;
  if (!cg->is_ahead) RITZ_TRY(apply_operator(cg));
  cg->is_ahead = false;
  RITZ_TRY(hold(cg, &arrays));
  const int ierr = cg->setup.is_merged ? iterate_merged(cg, &arrays) : iterate_by_operations(cg, &arrays);
  RITZ_TRY(restore(cg, &arrays, ierr));
  if (cg->setup.is_merged) RITZ_TRY(read_and_go_ahead(cg));
  *numbers = (RitzCgNumbers){cg->last.pq, cg->last.rr, cg->last.rz};
  return CEED_ERROR_SUCCESS;
}

// ---- Before the first iteration ----

static int set_scale(RitzCgObject *cg, double scale) {
  const Record records[2] = {{.scale = scale}, {.scale = scale}};
  cg->last = records[0];
  return ritz_gpu_copy_in(cg->ceed, sizeof(records), cg->records, records);
}

static int make_residual(const RitzCgObject *cg, const CeedScalar *b, const CeedScalar *q) {
  return RUN(cg, "ritz_cg_residual", RITZ_LONG(cg->setup.n), RITZ_POINTER(cg->records),
             RITZ_POINTER(cg->mask), RITZ_POINTER(cg->inverse), RITZ_POINTER(b), RITZ_POINTER(q),
             RITZ_POINTER(cg->r), RITZ_POINTER(cg->partial));
}

static int invert(const RitzCgObject *cg, const CeedScalar *diagonal, double *smallest, bool *is_positive) {
  double largest, num_bad;
  RITZ_TRY(RUN(cg, "ritz_cg_invert", RITZ_LONG(cg->setup.n), RITZ_SCALAR((CeedScalar)*smallest),
               RITZ_POINTER(cg->mask), RITZ_POINTER(diagonal), RITZ_POINTER(cg->inverse),
               RITZ_POINTER(cg->partial)));
  RITZ_TRY(read_largest(cg, &largest, &num_bad));
  *smallest = -largest;
  *is_positive = num_bad == 0;
  return CEED_ERROR_SUCCESS;
}

// The first pass finds the smallest entry, the second one divides it.
static int make_preconditioner(const RitzCgObject *cg, bool *is_positive) {
  CeedVector vector = cg->setup.diagonal;
  const CeedScalar *diagonal;
  double smallest = 1;
  *is_positive = true;
  if (!vector) return CEED_ERROR_SUCCESS;
  RITZ_TRY(CeedVectorGetArrayRead(vector, CEED_MEM_DEVICE, &diagonal));
  int ierr = invert(cg, diagonal, &smallest, is_positive);
  if (!ierr && *is_positive) ierr = invert(cg, diagonal, &smallest, is_positive);
  const int restored = CeedVectorRestoreArrayRead(vector, &diagonal);
  return ierr ? ierr : restored;
}

// The first pass finds the largest entry, the second one divides by the scale.
static int make_start(RitzCgObject *cg, const CeedScalar *b, const Arrays *arrays, RitzCgStart *start) {
  double largest, num_bad;
  RITZ_TRY(set_scale(cg, 1));
  RITZ_TRY(make_residual(cg, b, arrays->q));
  RITZ_TRY(read_largest(cg, &largest, &num_bad));
  start->scale = ritz_cg_scale(num_bad > 0 ? INFINITY : largest);
  RITZ_TRY(set_scale(cg, start->scale));
  RITZ_TRY(make_residual(cg, b, arrays->q));
  RITZ_TRY(turn(cg, arrays, NULL));
  RITZ_TRY(read_numbers(cg, ritz_gpu(cg->ceed)->stream));
  start->rr = cg->last.rr;
  start->rz = cg->last.rz;
  return CEED_ERROR_SUCCESS;
}

static int begin(RitzCgObject *cg, RitzCgStart *start) {
  const RitzCgSetup *s = &cg->setup;
  const CeedScalar *b;
  Arrays arrays;
  RITZ_TRY(make_preconditioner(cg, &start->is_positive));
  RITZ_TRY(CeedVectorSetValue(cg->p, 0));
  RITZ_TRY(CeedOperatorApply(s->op, s->x, cg->q, CEED_REQUEST_IMMEDIATE));
  RITZ_TRY(CeedVectorGetArrayRead(s->b, CEED_MEM_DEVICE, &b));
  int ierr = hold(cg, &arrays);
  if (!ierr) ierr = restore(cg, &arrays, make_start(cg, b, &arrays, start));
  const int restored = CeedVectorRestoreArrayRead(s->b, &b);
  return ierr ? ierr : restored;
}

// ---- Life ----

static int load_cg_kernels(RitzCgObject *cg) {
  const char *const texts[] = {ritz_gpu_template("kernels/gpu/cg.h")};
  return ritz_gpu_program(cg->ceed, "cg", "the library's own kernels", 1, texts, &cg->program);
}

static int make_mask(RitzCgObject *cg, const RitzCgSetup *setup) {
  const size_t num_words = (size_t)(setup->n + 31) / 32;
  uint32_t *bits = NULL;
  if (setup->num_constraints == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_CALLOC(cg->ceed, num_words, &bits));
  for (int64_t i = 0; i < setup->num_constraints; i++)
    bits[setup->constraints[i] / 32] |= UINT32_C(1) << (setup->constraints[i] % 32);
  const int ierr = ritz_gpu_upload(cg->ceed, num_words * sizeof(*bits), bits, &cg->mask);
  RITZ_FREE(&bits);
  return ierr;
}

// Zeros.
static int make_array(const RitzCgObject *cg, bool is_needed, CeedScalar **array) {
  if (!is_needed) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_gpu_alloc(cg->ceed, (size_t)cg->length * sizeof(CeedScalar), (void **)array));
  return ritz_gpu_vector_set_value(cg->ceed, CEED_SCALAR_TYPE, cg->length, 0, *array);
}

static int make_memory(RitzCgObject *cg) {
  const bool has_inverse = cg->setup.diagonal;
  RITZ_TRY(make_array(cg, true, &cg->r));
  RITZ_TRY(make_array(cg, has_inverse, &cg->inverse));
  RITZ_TRY(make_array(cg, has_inverse && !cg->setup.is_merged, &cg->z));
  RITZ_TRY(
      ritz_gpu_alloc(cg->ceed, NUM_PARTIAL * (size_t)cg->num_blocks * sizeof(double), (void **)&cg->partial));
  RITZ_TRY(ritz_gpu_alloc(cg->ceed, 2 * sizeof(Record), (void **)&cg->records));
  RITZ_TRY(CeedVectorCreate(cg->ceed, cg->length, &cg->p));
  return CeedVectorCreate(cg->ceed, cg->length, &cg->q);
}

// A product too many would show there: passive outputs, contexts that functions may write to.
static bool has_other_output(CeedOperator op) {
  for (CeedInt i = 0; i < op->num_sub; i++) {
    if (has_other_output(op->sub[i])) return true;
  }
  if (!op->is_composite && op->qf->ctx && op->qf->is_context_writable) return true;
  for (CeedInt i = 0; i < op->num_out; i++) {
    if (op->out[i]->vec != CEED_VECTOR_ACTIVE && !ritz_field_is_unused(op->out[i])) return true;
  }
  return false;
}

static int make_reader(RitzCgObject *cg) {
  const RitzGpu *gpu = ritz_gpu(cg->ceed);
  if (!cg->setup.is_merged || has_other_output(cg->setup.op)) return CEED_ERROR_SUCCESS;
  RITZ_TRY(gpu->driver->stream_create(cg->ceed, gpu->device, &cg->reader));
  return cg->reader ? gpu->driver->event_create(cg->ceed, gpu->device, &cg->turned) : CEED_ERROR_SUCCESS;
}

static int destroy_reader(RitzCgObject *cg) {
  const RitzGpu *gpu = ritz_gpu(cg->ceed);
  int ierr = CEED_ERROR_SUCCESS;
  if (cg->turned) ierr = gpu->driver->event_destroy(cg->ceed, gpu->device, &cg->turned);
  if (!cg->reader) return ierr;
  return ritz_first_error(ierr, gpu->driver->stream_destroy(cg->ceed, gpu->device, cg->reader));
}

static void choose_sizes(RitzCgObject *cg) {
  const int64_t most = BLOCKS_PER_UNIT * (int64_t)ritz_gpu(cg->ceed)->info->num_units;
  cg->length = (cg->setup.n + LANES - 1) / LANES * LANES;
  cg->num_blocks = RITZ_GPU_BLOCKS(cg->length / LANES);
  if (cg->num_blocks > most) cg->num_blocks = most;
  if (cg->num_blocks > MAX_BLOCKS) cg->num_blocks = MAX_BLOCKS;
  if (cg->num_blocks < 1) cg->num_blocks = 1; // sums of nothing
}

int ritz_gpu_cg_create(const RitzCgSetup *setup, RitzCgStart *start, RitzCgObject **made) {
  Ceed ceed = setup->op->obj.ceed;
  *made = NULL;
  RITZ_TRY(RITZ_CALLOC(ceed, 1, made));
  RitzCgObject *cg = *made;
  cg->ceed = ceed;
  cg->setup = *setup;
  cg->setup.constraints = NULL;
  choose_sizes(cg);
  int ierr = load_cg_kernels(cg);
  if (!ierr) ierr = make_mask(cg, setup);
  if (!ierr) ierr = make_memory(cg);
  if (!ierr) ierr = make_reader(cg);
  if (!ierr) ierr = begin(cg, start);
  if (ierr) (void)ritz_gpu_cg_destroy(made);
  return ierr;
}

int ritz_gpu_cg_destroy(RitzCgObject **made) {
  RitzCgObject *cg = *made;
  if (!cg) return CEED_ERROR_SUCCESS;
  ritz_gpu_free(cg->ceed, (void **)&cg->r);
  ritz_gpu_free(cg->ceed, (void **)&cg->inverse);
  ritz_gpu_free(cg->ceed, (void **)&cg->z);
  ritz_gpu_free(cg->ceed, &cg->mask);
  ritz_gpu_free(cg->ceed, (void **)&cg->partial);
  ritz_gpu_free(cg->ceed, (void **)&cg->records);
  ritz_gpu_program_release(cg->ceed, &cg->program);
  int ierr = destroy_reader(cg);
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&cg->p));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&cg->q));
  RITZ_FREE(made);
  return ierr;
}
