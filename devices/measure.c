// SPDX-License-Identifier: BSD-2-Clause
// Rates of a device: seven arrays read and one written, the driver's copy, chains of multiply-adds. Timed by
// the device's own events; the fastest of a few batches counts. Called by devices/public.c.
#include "devices/measure.h"

#include <math.h>

#include "base/error.h"

// One text for both languages; sizes are those of the enumerators below.
static const char text[] =
    "#ifdef __OPENCL_VERSION__\n"
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    "#define KERNEL __kernel __attribute__((reqd_work_group_size(256, 1, 1))) void\n"
    "#define GLOBAL __global\n"
    "#define ITEM   ((LONG)get_global_id(0))\n"
    "#define LONG   long\n"
    "#else\n"
    "#define KERNEL extern \"C\" __global__ void __launch_bounds__(256)\n"
    "#define GLOBAL\n"
    "#define ITEM ((LONG)blockIdx.x * blockDim.x + threadIdx.x)\n"
    "#define LONG long long\n"
    "#endif\n"
#ifdef CEED_SCALAR_IS_FP32
    "#define SCALAR float\n"
#else
    "#define SCALAR double\n"
#endif
    "KERNEL fill(LONG n, GLOBAL double2 *x) {\n"
    "  LONG i = ITEM;\n"
    "  double2 value;\n"
    "  if (i >= n) return;\n"
    "  value.x = 1e-3 * (double)(i & 1023);\n"
    "  value.y = value.x + 1;\n"
    "  x[i] = value;\n"
    "}\n"
    "KERNEL stream(LONG n, GLOBAL double2 *x) {\n"
    "  LONG i = ITEM;\n"
    "  if (i >= n) return;\n"
    "  double2 a = x[i], b = x[n + i], c = x[2 * n + i], d = x[3 * n + i], e = x[4 * n + i],\n"
    "          f = x[5 * n + i], g = x[6 * n + i];\n"
    "  a.x += b.x + c.x + d.x + e.x + f.x + g.x;\n"
    "  a.y += b.y + c.y + d.y + e.y + f.y + g.y;\n"
    "  x[7 * n + i] = a;\n"
    "}\n"
    "KERNEL chains(int num_rounds, SCALAR x, SCALAR b, GLOBAL SCALAR *out) {\n"
    "  SCALAR a0 = b, a1 = a0 + b, a2 = a1 + b, a3 = a2 + b, a4 = a3 + b, a5 = a4 + b, a6 = a5 + b, a7 = a6 "
    "+ b;\n"
    "  for (int round = 0; round < num_rounds; round++) {\n"
    "    a0 = fma(a0, x, b), a1 = fma(a1, x, b), a2 = fma(a2, x, b), a3 = fma(a3, x, b);\n"
    "    a4 = fma(a4, x, b), a5 = fma(a5, x, b), a6 = fma(a6, x, b), a7 = fma(a7, x, b);\n"
    "  }\n"
    "  a0 += a1 + a2 + a3 + a4 + a5 + a6 + a7;\n"
    "  if (a0 < 0) out[0] = a0;\n" // looked at, so that it has to be computed
    "}\n";

enum { BLOCK = 256, WORD = 16, NUM_STREAMS = 8, NUM_CHAINS = 8, NUM_BATCHES = 5 };
static const double batch_seconds = 0.01;

typedef struct {
  const RitzDriver *driver;
  RitzDevice device;
  RitzDeviceProgram program; // owned, as all that follow
  RitzDeviceEvent begin, end;
  char *memory;      // [num_streams * num_words] words
  int64_t num_words; // of a stream
  int num_rounds;    // of the chains
} Bench;

// ---- One run of each ----

static int launch_once(const Bench *b, const char *name, int64_t num_blocks, int num_args,
                       const RitzDeviceArg *args) {
  RitzDeviceKernel kernel;

  RITZ_TRY(b->driver->kernel(NULL, b->program, name, &kernel));
  return b->driver->launch(NULL, kernel, NULL, num_blocks, BLOCK, 0, num_args, args);
}

static int launch_words(const Bench *b, const char *name, int64_t num_words) {
  const RitzDeviceArg args[] = {{.kind = RITZ_ARG_LONG, .value.l = num_words},
                                {.kind = RITZ_ARG_POINTER, .value.p = b->memory}};
  return launch_once(b, name, (num_words + BLOCK - 1) / BLOCK, 2, args);
}

static int run_stream(const Bench *b) { return launch_words(b, "stream", b->num_words); }

static int run_copy(const Bench *b) {
  const size_t half = (size_t)b->num_words * WORD * NUM_STREAMS / 2;
  return b->driver->copy(NULL, b->device, NULL, half, b->memory + half, b->memory);
}

// Enough blocks to fill every unit several times over.
static int64_t num_chain_blocks(const Bench *b) {
  return 32 * (int64_t)b->driver->info(b->device)->num_units;
}

static int run_chains(const Bench *b) {
  const RitzDeviceArg args[] = {{.kind = RITZ_ARG_INT, .value.i = b->num_rounds},
                                {.kind = RITZ_ARG_SCALAR, .value.s = 0.5},
                                {.kind = RITZ_ARG_SCALAR, .value.s = 1},
                                {.kind = RITZ_ARG_POINTER, .value.p = b->memory}};
  return launch_once(b, "chains", num_chain_blocks(b), 4, args);
}

// ---- Timing ----

static int time_batch(const Bench *b, int (*run)(const Bench *), int num, double *seconds) {
  RITZ_TRY(b->driver->event_record(NULL, b->device, NULL, b->begin));
  for (int i = 0; i < num; i++) RITZ_TRY(run(b));
  RITZ_TRY(b->driver->event_record(NULL, b->device, NULL, b->end));
  RITZ_TRY(b->driver->event_elapsed(NULL, b->device, b->begin, b->end, seconds));
  *seconds = fmax(*seconds, 1e-9); // a clock may stand still
  return CEED_ERROR_SUCCESS;
}

// Shortest time of one run.
static int measure_device(const Bench *b, int (*run)(const Bench *), double *shortest) {
  double seconds;
  int num = 1;

  RITZ_TRY(time_batch(b, run, num, &seconds)); // loads what is loaded on first use
  RITZ_TRY(time_batch(b, run, num, &seconds));
  *shortest = seconds;
  for (; seconds < batch_seconds && num < 1 << 16; num *= 2) RITZ_TRY(time_batch(b, run, 2 * num, &seconds));
  for (int i = 0; i < NUM_BATCHES; i++) {
    RITZ_TRY(time_batch(b, run, num, &seconds));
    *shortest = fmin(*shortest, seconds / num);
  }
  return CEED_ERROR_SUCCESS;
}

// Runs of a millisecond, so that starting one does not count.
static int measure_flops(Bench *b, double *flops) {
  double seconds = 0;

  for (b->num_rounds = 256; b->num_rounds < 1 << 24; b->num_rounds *= 2) {
    RITZ_TRY(time_batch(b, run_chains, 1, &seconds));
    if (seconds > 1e-3) break;
  }
  RITZ_TRY(measure_device(b, run_chains, &seconds));
  *flops = 2.0 * NUM_CHAINS * b->num_rounds * BLOCK * (double)num_chain_blocks(b) / seconds;
  return CEED_ERROR_SUCCESS;
}

// ---- All of it ----

static int load_kernels(Bench *b) {
  RitzDeviceCode code = {0};
  int ierr;

  RITZ_TRY(b->driver->compile(NULL, b->device, "measure", text, &code));
  if (code.bytes)
    ierr = b->driver->load(NULL, b->device, code.num_bytes, code.bytes, &b->program);
  else
    ierr = CeedError(NULL, CEED_ERROR_BACKEND, "RitzDeviceMeasure: the compiler refuses the kernels: %s",
                     code.log);
  ritz_device_code_free(&code);
  return ierr;
}

static int prepare_measurement(Bench *b) {
  const int64_t most = (int64_t)1 << 30;
  int64_t available;

  RITZ_TRY(b->driver->memory(NULL, b->device, &available));
  if (available < 0) available = b->driver->info(b->device)->num_bytes;
  int64_t num_bytes = available / 4 < most ? available / 4 : most;
  b->num_words = num_bytes / (NUM_STREAMS * WORD * BLOCK) * BLOCK;
  if (b->num_words < BLOCK) b->num_words = BLOCK;
  RITZ_TRY(load_kernels(b));
  RITZ_TRY(b->driver->event_create(NULL, b->device, &b->begin));
  RITZ_TRY(b->driver->event_create(NULL, b->device, &b->end));
  void *memory = NULL;
  RITZ_TRY(b->driver->alloc(NULL, b->device, (size_t)b->num_words * NUM_STREAMS * WORD, &memory));
  b->memory = memory;
  return launch_words(b, "fill", b->num_words * NUM_STREAMS);
}

static int measure_all(Bench *b, RitzDeviceRates *rates) {
  const double num_bytes = (double)b->num_words * NUM_STREAMS * WORD;
  double seconds, flops;

  RITZ_TRY(measure_device(b, run_stream, &seconds));
  rates->stream_bandwidth = (int64_t)(num_bytes / seconds);
  RITZ_TRY(measure_device(b, run_copy, &seconds));
  rates->copy_bandwidth = (int64_t)(num_bytes / seconds);
  RITZ_TRY(measure_flops(b, &flops));
  rates->flops = (int64_t)flops;
  return CEED_ERROR_SUCCESS;
}

// Frees everything; failures of that are not reported.
static void give_back(Bench *b) {
  if (b->memory) (void)b->driver->free(NULL, b->device, b->memory);
  if (b->begin) (void)b->driver->event_destroy(NULL, b->device, &b->begin);
  if (b->end) (void)b->driver->event_destroy(NULL, b->device, &b->end);
  if (b->program) (void)b->driver->unload(NULL, b->device, &b->program);
}

int ritz_device_measure(const RitzDriver *driver, RitzDevice device, RitzDeviceRates *rates) {
  Bench bench = {.driver = driver, .device = device};

  int ierr = prepare_measurement(&bench);
  if (!ierr) ierr = measure_all(&bench, rates);
  give_back(&bench);
  return ierr;
}
