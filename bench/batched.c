// SPDX-License-Identifier: BSD-2-Clause
// `ritz bench --batched`: options, the cases and how large their batches are.
#include <math.h>
#include <ritz/device.h>
#include <ritz/machine.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "bench/batched.h"
#include "bench/bench.h"
#include "bench/driver.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/threads.h"

enum { F64, F32 };
enum { CACHE, MEMORY };

typedef struct {
  const char *routines;
  ArgInts sizes, precisions, forms, places;
  double memory;
  int columns;
  bool batched, alone;
  BenchCommon common;
} BatchedOptions;

static const BatchedOptions nothing_given = {.common = {.on = {.resource = "/cpu/self"}}};

#define MEMBER(name) offsetof(BatchedOptions, name)

static const ArgOption options_table[] = {
    ARG_OPTION("--batched", NULL, ARG_FLAG, MEMBER(batched), 0, 0, "this benchmark"),
    ARG_OPTION("--routines", "LIST", ARG_TEXT, MEMBER(routines), 0, 0,
               "names such as gemm,getrf (default all; getrfnp: LU without\npivots; inv: from the matrix)"),
    ARG_OPTION("--sizes", "LIST", ARG_INT_LIST, MEMBER(sizes), 1, 4096,
               "orders n of the matrices (default 2,4,8,12,16,24,32,48,64,96,\n128,256)"),
    ARG_OPTION("--columns", "N", ARG_INT, MEMBER(columns), 1, 4096,
               "of right-hand sides of potrs, getrs and their like (default 1)"),
    ARG_WORDS("--precision", "LIST", ARG_CHOICE_LIST, MEMBER(precisions), "of the matrices (default f64)",
              "f64", "f32"),
    // in the order of BatchedForm
    ARG_WORDS("--layout", "LIST", ARG_CHOICE_LIST, MEMBER(forms),
              "strided, side by side in groups of 64 bytes, by addresses, or by\noffsets with sizes from 1 "
              "to n (default strided)",
              "strided", "interleaved", "pointers", "nonuniform"),
    ARG_WORDS("--place", "LIST", ARG_CHOICE_LIST, MEMBER(places),
              "batches in the second cache or in memory (default both; devices:\nmemory)", "cache", "memory"),
    ARG_OPTION("--memory", "MB", ARG_REAL, MEMBER(memory), 0, 1e6,
               "of the operands of a batch in memory (default 64, of devices 512)"),
    ARG_OPTION("--reps", "N", ARG_INT, MEMBER(common.reps), 1, 200,
               "rounds, whose medians count (default: at least 3 and up to a\nsecond)"),
    ARG_OPTION("--alone", NULL, ARG_FLAG, MEMBER(alone), 0, 0, "without the other libraries"),
    ARG_CEED(MEMBER(common.on.resource)),
    ARG_OPTION("--threads", "N", ARG_INT, MEMBER(common.on.wanted), 1, INFINITY,
               "threads of backends below /cpu/self that have some (default 1,\nas the loop beside it)"),
    BENCH_JSON(MEMBER(common.json)),
    BENCH_PLOT(MEMBER(common.plot), "draw rates over orders, a picture for each routine"),
};

const ArgCommand batched_command = {
    .name = "ritz bench --batched",
    .description =
        "Times the routines of ritz/batched.h on batches of n x n matrices, beside a loop over OpenBLAS (or\n"
        "another liblapack) on hosts, or the batched calls of cuBLAS and cuSOLVER on CUDA, where the "
        "dynamic\n"
        "linker finds them.",
    .notes =
        "Each round restores the operands and then times one call of each side; medians; of one thread on a "
        "host\n"
        "the time of the processor, whatever else runs there. Devices have four\n"
        "copies of the operands, and four calls are timed at once. The other side computes on strided\n"
        "matrices where ours are interleaved, and is left out with several threads.\n\n"
        "GFLOP/s by LAPACK's leading terms; GB/s of the bytes that have to move (a triangle is half a\n"
        "matrix). roof: what the machine needs at least, the larger of bytes / bandwidth and flops / peak,\n"
        "by the time; in cache of the peak alone; the peak of devices in float is not measured. ratio: of "
        "the\n"
        "other side's time to ours. error: the largest difference of a few results from those of\n"
        "/cpu/self/ref over the largest entry; above 100 n eps is a failure.\n\n"
        "Kernels are compiled for each size, once (see 'ritz cache'). Batches that the context cannot have\n"
        "are said and left out; so are batches in cache of which a single group does not fit.\n\n"
        "Exit status: 0 done; 1 failed, or a result is wrong; 2 wrong usage.",
    .examples =
        "ritz bench --batched --routines getrf,potrf --sizes 8,16,32 --plot lu.svg\n"
        "ritz bench --batched --precision f64,f32 --layout strided,interleaved,nonuniform --place memory\n"
        "ritz bench --batched --ceed /gpu/cuda --precision f64,f32 --json batched.json",
    .num_options = sizeof(options_table) / sizeof(options_table[0]),
    .options = options_table,
};

// State of a run beside its options.
typedef struct {
  const BatchedOptions *options;
  Bench *bench;
  BatchedHow how;
  BatchedPeer peer;
  double cache_bytes, memory_bytes; // of a batch
  size_t num_rows;
  BatchedRow *rows; // owned
} Batches;

// ---- Lists ----

// Whether a word is in a list between commas; NULL: the list of everything.
static bool is_in(const char *list, const char *word) {
  const size_t length = strlen(word);

  if (!list) return true;
  for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
    if (strcspn(at, ",") == length && !strncmp(at, word, length)) return true;
  }
  return false;
}

// ---- Cases ----

// As many matrices as fill the bytes, whole groups of interleaved ones; 0: in cache not even one group.
static int64_t count_matrices(const Batches *b, const BatchedCase *c) {
  const double wanted = c->in_cache ? b->cache_bytes : b->memory_bytes;
  const int64_t width = c->form == BATCHED_INTERLEAVED ? (int64_t)(64 / batched_entry_bytes(c)) : 1;
  double entries = 0;

  for (int k = 0; k < BATCHED_MAX_OPERANDS; k++) entries += (double)c->n * batched_columns(c, k);
  const double bytes =
      entries * (double)batched_entry_bytes(c) * (c->form == BATCHED_NONUNIFORM ? 1 / 3.0 : 1);
  const double num = floor(wanted / bytes / (double)width) * (double)width;
  if (c->in_cache && num < 1) return bytes * (double)width < 2 * wanted ? width : 0;
  return num < (double)width ? width : num > INT32_MAX ? INT32_MAX / 64 * 64 : (int64_t)num;
}

static void explain_fault(const Batches *b, BatchedRow *row) {
  const char *message = NULL, *text;

  if (CeedGetErrorMessage(b->how.ceed, &message) || !message) message = "the context cannot";
  text = strstr(message, "(): ");
  snprintf(row->fault, sizeof(row->fault), "%s", text ? text + 4 : message);
  row->fault[strcspn(row->fault, "\n")] = '\0';
}

static int run_case(Batches *b, BatchedCase of) {
  of.count = count_matrices(b, &of);
  if (of.count == 0) return CEED_ERROR_SUCCESS;
  BatchedRow *rows = realloc(b->rows, (b->num_rows + 1) * sizeof(*rows));

  if (!rows) return cli_no_memory(batched_command.name);
  b->rows = rows;
  BatchedRow *row = &rows[b->num_rows];
  *row = (BatchedRow){.of = of};
  const int ierr = batched_measure(&b->how, row);
  if (ierr && ierr != CEED_ERROR_UNSUPPORTED) return ierr;
  if (ierr) explain_fault(b, row);
  b->num_rows++;
  if (b->bench->table) batched_print_row(b->bench->table, row, &b->how);
  return CEED_ERROR_SUCCESS;
}

static int run_size(Batches *b, BatchedCase of) {
  static int f64[] = {F64}, strided[] = {BATCHED_STRIDED}, both[] = {CACHE, MEMORY};
  const BatchedOptions *o = b->options;
  const ArgInts precisions = args_or_else(o->precisions, 1, f64), forms = args_or_else(o->forms, 1, strided);
  const ArgInts places = b->how.on_device ? (ArgInts){1, &both[MEMORY]} : args_or_else(o->places, 2, both);

  for (size_t p = 0; p < precisions.num; p++) {
    of.precision = precisions.items[p] == F32 ? CEED_SCALAR_FP32 : CEED_SCALAR_FP64;
    for (size_t i = 0; i < forms.num * places.num; i++) {
      of.form = (BatchedForm)forms.items[i / places.num];
      of.in_cache = places.items[i % places.num] == CACHE;
      CLI_TRY(run_case(b, of));
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int run_cases(Batches *b) {
  static int usual[] = {2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256};
  const BatchedOptions *o = b->options;
  const ArgInts sizes = args_or_else(o->sizes, sizeof(usual) / sizeof(usual[0]), usual);

  for (int r = 0; r < batched_num_routines; r++) {
    const BatchedRoutine *routine = &batched_routines[r];

    if (!is_in(o->routines, routine->name)) continue;
    for (size_t i = 0; i < sizes.num; i++)
      CLI_TRY(run_size(
          b, (BatchedCase){.routine = routine, .n = sizes.items[i], .columns = o->columns ? o->columns : 1}));
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Surroundings ----

static void find_limits(Batches *b) {
  const BatchedOptions *o = b->options;
  const bool is_on_device = b->how.on_device;
  RitzMachine processor;

  for (int single = 0; single < 2; single++)
    b->how.machine[single] = threads_find_limits(b->how.ceed, &o->common.on, b->how.num_threads, single);
  if (sizeof(CeedScalar) == sizeof(float) && is_on_device) b->how.machine[0].peak = INFINITY;
  if (b->bench->table) threads_show_limits(&b->how.machine[0]);
  const int64_t l2 = RitzMachineGet(false, &processor) ? 0 : processor.l2_bytes;
  // beside the operands as they are before a call, which are copied in each round
  b->cache_bytes = (double)(l2 > 0 ? l2 : 1 << 20) / 4 * b->how.num_threads;
  b->memory_bytes = 1e6 * (o->memory > 0 ? o->memory : is_on_device ? 512 : 64);
}

// The other library, where it is wanted and found.
static void open_peer(Batches *b) {
  RitzDeviceCounters on;
  const bool has_driver = !RitzDeviceGetCounters(b->how.ceed, &on) && on.driver;

  if (b->options->alone) return;
  if (has_driver && !strcmp(on.driver, "cuda"))
    batched_open_cuda_peer(&b->peer);
  else if (!b->how.on_device && b->how.num_threads == 1)
    batched_open_host_peer(&b->peer);
  if (*b->peer.name) b->how.peer = &b->peer;
}

static int judge(const Batches *b) {
  int code = CLI_FAILED; // nothing was measured

  for (size_t i = 0; i < b->num_rows; i++) {
    const BatchedRow *row = &b->rows[i];

    if (*row->fault) continue;
    if (!batched_is_right(row)) {
      fprintf(stderr, "%s: %s, n = %d: the results are wrong: relative error %.3g, up to %.3g allowed\n",
              batched_command.name, row->of.routine->name, (int)row->of.n, row->error, row->tolerance);
      return CLI_FAILED;
    }
    code = CLI_OK;
  }
  return code;
}

static int write_results(const Batches *b) {
  const BatchedOptions *o = b->options;
  char title[240], subtitle[240];

  if (b->bench->json)
    batched_write_json(b->bench->json, batched_command.name, o->common.on.resource, &b->how, b->num_rows,
                       b->rows);
  if (!b->bench->plot) return CLI_OK;
  bench_name_plot(&b->how.machine[0], title, sizeof(title));
  snprintf(subtitle, sizeof(subtitle), "batched dense algebra, GFLOP/s over the order n of the matrices; %s",
           o->common.on.resource);
  const char *peer = b->how.peer ? b->peer.name : NULL;
  return batched_write_plot(b->bench->plot, title, subtitle, peer, b->num_rows, b->rows)
             ? CLI_OK
             : cli_no_memory(batched_command.name);
}

static int run_rows(Batches *b) {
  CeedMemType memory;

  b->how.on_device = !CeedGetPreferredMemType(b->how.ceed, &memory) && memory == CEED_MEM_DEVICE;
  find_limits(b);
  open_peer(b);
  if (b->bench->table) {
    cli_fact("beside", "%s", b->how.peer ? b->peer.name : "nothing");
    batched_print_heading(b->bench->table, &b->how);
  }
  int code = run_cases(b) ? cli_report(batched_command.name, b->how.ceed) : judge(b);
  if (write_results(b)) code = CLI_FAILED;
  if (b->how.on_device) batched_close_cuda_peer(&b->peer);
  return code;
}

static int run_batched_bench(Bench *bench) {
  const BatchedOptions *o = bench->options;
  Batches b = {.options = o,
               .bench = bench,
               .how = {.ceed = bench->ceed, .num_threads = bench->num_threads, .rounds = o->common.reps}};
  int code = cli_open_ceed(batched_command.name, "/cpu/self/ref", &b.how.reference);

  if (!code) code = run_rows(&b);
  free(b.rows);
  CeedDestroy(&b.how.reference);
  return code;
}

// ---- Options ----

static bool is_routine(const char *word, size_t length) {
  for (int r = 0; r < batched_num_routines; r++) {
    const char *name = batched_routines[r].name;
    if (strlen(name) == length && !strncmp(name, word, length)) return true;
  }
  return false;
}

static ArgsResult check_routines(const char *list) {
  char names[400] = "", shown[ARG_SHOWN];

  for (const char *at = list; at; at = strchr(at, ','), at = at ? at + 1 : NULL) {
    if (is_routine(at, strcspn(at, ","))) continue;
    for (int r = 0; r < batched_num_routines; r++) {
      const size_t used = strlen(names);
      snprintf(names + used, sizeof(names) - used, "%s%s", r ? ", " : "", batched_routines[r].name);
    }
    return args_wrong(&batched_command, "--routines", "expected names between commas, of %s, found '%s'",
                      names, args_shown(list, shown));
  }
  return ARGS_RUN;
}

static ArgsResult check_options(const void *options) {
  const BatchedOptions *o = options;

  return check_routines(o->routines);
}

int bench_batched(int argc, char **argv) {
  static const BenchCommand bench = {
      &batched_command, &nothing_given,   sizeof(nothing_given), MEMBER(common), 1,
      check_options,    run_batched_bench};

  return bench_main(&bench, argc, argv);
}
