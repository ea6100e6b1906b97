// SPDX-License-Identifier: BSD-2-Clause
// `ritz bench --multigrid`: options, the cases and how large they may be.
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <ritz/device.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/driver.h"
#include "bench/multigrid.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/threads.h"

enum { F32, F64 };

typedef struct {
  ArgInts orders, cells, smoothers, precisions, solvers;
  double size, max_memory, deform, tol;
  int max_it, steps, source;
  bool multigrid, tunes, verbose;
  BenchCommon common;
} MgBenchOptions;

// NaN: not given; so are zeros of other members.
static const MgBenchOptions nothing_given = {
    .deform = 0, .tol = NAN, .common = {.on = {.resource = "/cpu/self"}}};

#define MEMBER(name) offsetof(MgBenchOptions, name)

static const ArgOption options_table[] = {
    ARG_OPTION("--multigrid", NULL, ARG_FLAG, MEMBER(multigrid), 0, 0, "this benchmark"),
    ARG_OPTION("--order", "LIST", ARG_INT_LIST, MEMBER(orders), 1, 16,
               "polynomial degrees, such as 1,2,4 or 1-8 (default 1-8)"),
    ARG_OPTION("--cells", "LIST", ARG_INT_LIST, MEMBER(cells), 1, 4096,
               "per direction, in this order (default 8, 16, 32, ... up to\n--size, or fewer)"),
    ARG_OPTION("--size", "DOFS", ARG_COUNT, MEMBER(size), 1, INFINITY,
               "the most degrees of freedom (default 1e6, with CUDA 1e8)"),
    ARG_OPTION("--max-memory", "GB", ARG_REAL, MEMBER(max_memory), 0, INFINITY,
               "sizes that would take more, by what the size before took, are\nleft out (default 0.9 of what "
               "device and machine have)"),
    ARG_OPTION("--deform", "A", ARG_REAL, MEMBER(deform), -INFINITY, INFINITY,
               "amplitude of a smooth displacement of the vertices (default 0)"),
    // in the order of MgSmoother
    ARG_WORDS(
        "--smoother", "LIST", ARG_CHOICE_LIST, MEMBER(smoothers),
        "sweeps over the patches of vertices, exact in three forms or\nseparable approximations by colours; "
        "polynomials over these,\nover elements with and without overlap, over Jacobi (default\npatches)",
        "patches", "patches-residual", "patches-boundary", "coloured", "additive", "cells", "overlapped",
        "jacobi"),
    ARG_OPTION("--steps", "N", ARG_INT, MEMBER(steps), 1, 100,
               "of polynomials (default: jacobi 3, others 2)"),
    ARG_WORDS("--precision", "LIST", ARG_CHOICE_LIST, MEMBER(precisions), "of the cycle (default f32)", "f32",
              "f64"),
    // in the order of MgMethod
    ARG_WORDS("--solver", "LIST", ARG_CHOICE_LIST, MEMBER(solvers),
              "flexible conjugate gradients with a V-cycle, V-cycles alone, full\nmultigrid and then "
              "V-cycles (default fcg)",
              "fcg", "v-cycles", "full"),
    // in the order of MgSource
    ARG_WORDS("--source", NULL, ARG_CHOICE, MEMBER(source),
              "of the solves that are timed: f = 1, or that of the product of\nsines (default one)", "one",
              "sine"),
    ARG_OPTION("--tol", "X", ARG_REAL, MEMBER(tol), 0, 1,
               "residual where a solve ends, relative to the right-hand side\n(default 1e-9, in single "
               "precision 1e-5)"),
    ARG_OPTION("--max-it", "N", ARG_INT, MEMBER(max_it), 1, INFINITY, "iterations at most (default 100)"),
    ARG_OPTION("--reps", "N", ARG_INT, MEMBER(common.reps), 1, 100,
               "solves that are timed, the median counts (default: at least 3\nand half a second)"),
    ARG_CEED(MEMBER(common.on.resource)),
    ARG_THREADS(MEMBER(common.on.wanted)),
    BENCH_JSON(MEMBER(common.json)),
    BENCH_PLOT(MEMBER(common.plot), "draw errors over times to solution"),
    ARG_OPTION("--tune", NULL, ARG_FLAG, MEMBER(tunes), 0, 0,
               "look for the fastest kernels of the finest level's operators first,\nwhich later runs find, "
               "too (see 'ritz tune')"),
    ARG_OPTION("--verbose", NULL, ARG_FLAG, MEMBER(verbose), 0, 0, "show the levels of each cycle"),
};

const ArgCommand multigrid_command = {
    .name = "ritz bench --multigrid",
    .description =
        "Solves -Laplace u = f on the unit cube, u = 0 on its boundary, by geometric multigrid: n^3\n"
        "hexahedra, n halved from level to level, one degree (below an odd n its halves), V(1,1)-cycles.\n"
        "For each degree and size all smoothers, precisions of the cycle and solvers are made first and\n"
        "then measured by turns.",
    .notes =
        "it: iterations for f = 1, whose solves are timed (first: the first one; solve: the median); sine:\n"
        "for f = 3 pi^2 u, u = sin(pi x) sin(pi y) sin(pi z), of which the L2 error is. Both end at a\n"
        "residual of --tol times the right-hand side. full: V-cycles after the start, which is full "
        "multigrid\n"
        "once. Residuals are in double, whatever the precision of the cycle.\n\n"
        "set-up: meshes, operators, transfers, right-hand sides, smoothers, coarse problem; with kernels "
        "that\n"
        "are not in the cache of earlier runs. B cycle: bytes a degree of freedom that live with the\n"
        "preconditioner but for operators and transfers; B all: everything on the device, or of the "
        "process,\n"
        "during the solve, that of the other rows of the case included.\n\n"
        "Checks: the solves end, errors of one problem agree to a hundredth. What a mesh does not have, as\n"
        "patches on deformed elements, is said and left out.\n\n"
        "Exit status: 0 done; 1 failed, or a check failed; 2 wrong usage.",
    .examples =
        "ritz bench --multigrid --order 3 --size 2e6 --smoother patches,cells,jacobi\n"
        "ritz bench --multigrid --order 1-8 --cells 8 --solver fcg,v-cycles,full --precision f32,f64\n"
        "ritz bench --multigrid --ceed /gpu/cuda --order 3 --cells 64,128,256 --plot q3.svg\n"
        "ritz bench --multigrid --ceed /gpu/cuda --order 4 --cells 80 --deform 0.1 --smoother cells",
    .num_options = sizeof(options_table) / sizeof(options_table[0]),
    .options = options_table,
};

// State of a run beside its options.
typedef struct {
  const MgBenchOptions *options;
  Bench *bench;
  MgOptions how;
  double device_max, host_max; // bytes; 0: not known, there is no such memory
  double host_before;
  size_t num_variants;
  MgVariant *variants; // owned
  size_t num_rows;
  MgRow *rows; // owned
} MgBench;

// ---- Lists ----

static ArgInts list_orders(const MgBenchOptions *o) {
  static int all[] = {1, 2, 3, 4, 5, 6, 7, 8};

  return args_or_else(o->orders, sizeof(all) / sizeof(all[0]), all);
}

static bool wants_precision(const MgBench *b, CeedScalarType precision) {
  for (size_t i = 0; i < b->num_variants; i++) {
    if (b->variants[i].precision == precision) return true;
  }
  return false;
}

static int list_variants(MgBench *b) {
  static int first[] = {0};
  const MgBenchOptions *o = b->options;
  const ArgInts smoothers = args_or_else(o->smoothers, 1, first),
                solvers = args_or_else(o->solvers, 1, first),
                precisions = args_or_else(o->precisions, 1, first);

  b->variants = calloc(smoothers.num * solvers.num * precisions.num, sizeof(*b->variants));
  if (!b->variants) return cli_no_memory(multigrid_command.name);
  for (size_t s = 0; s < smoothers.num; s++) {
    for (size_t p = 0; p < precisions.num; p++) {
      for (size_t m = 0; m < solvers.num; m++) {
        b->variants[b->num_variants++] =
            (MgVariant){.smoother = (MgSmoother)smoothers.items[s],
                        .precision = precisions.items[p] == F64 ? CEED_SCALAR_FP64 : CEED_SCALAR_FP32,
                        .method = (MgMethod)solvers.items[m]};
      }
    }
  }
  return CLI_OK;
}

// ---- Sizes ----

static double count_dofs(CeedInt degree, CeedInt n) { return pow((double)degree * n + 1, 3); }

static double largest_size(const MgBench *b) {
  const double usual = cli_default_size(b->bench->ceed);

  if (b->options->size > 0) return b->options->size;
  return usual > 1e5 ? 1e8 : 1e6; // a device, or the processor
}

// The size behind n (0: the first one); 0: there is none.
static CeedInt next_cells(const MgBench *b, CeedInt degree, size_t *index, CeedInt n) {
  const MgBenchOptions *o = b->options;
  const double most = largest_size(b);

  if (o->cells.num) return *index < o->cells.num ? o->cells.items[(*index)++] : 0;
  const bool is_first = n == 0;

  n = is_first ? 2 : 2 * n;
  while (n < 8 && count_dofs(degree, 2 * n) <= most) n *= 2;
  return is_first || count_dofs(degree, n) <= most ? n : 0;
}

static void find_memory(MgBench *b) {
  RitzDeviceCounters counters;
  RitzDeviceFacts facts;
  const double pages = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);

  b->host_max = 0.9 * pages;
  if (!RitzDeviceGetCounters(b->bench->ceed, &counters) && counters.driver &&
      !RitzDeviceGetInfo(counters.driver, counters.index, &facts))
    b->device_max = 0.9 * (double)facts.num_bytes;
  if (b->options->max_memory > 0) {
    b->host_max = 1e9 * b->options->max_memory;
    if (b->device_max > 0) b->device_max = b->host_max;
  }
  b->host_before = mg_host_bytes();
}

// Whether a size fits, by the row of a smaller one, with what set-up takes for a while.
static bool has_room(const MgBench *b, CeedInt degree, CeedInt n, const MgRow *last) {
  const double growth = 1.25 * count_dofs(degree, n) / count_dofs(last->of.degree, last->of.n);
  const double host = growth * (last->host_bytes - b->host_before);
  const double device = b->device_max > 0 ? growth * last->memory_bytes : 0;
  const bool is_device = b->device_max > 0 && device > b->device_max;

  if (!is_device && host <= b->host_max) return true;
  if (b->bench->table) {
    fprintf(b->bench->table, "%d cells and more of degree %d are left out: about %.1f GB, there are %.1f\n",
            (int)n, (int)degree, 1e-9 * (is_device ? device : host),
            1e-9 * (is_device ? b->device_max : b->host_max));
  }
  return false;
}

// ---- Cases ----

static int allocate_rows(MgBench *b) {
  MgRow *rows = realloc(b->rows, (b->num_rows + b->num_variants) * sizeof(*rows));

  if (!rows) return CeedError(b->bench->ceed, CEED_ERROR_MAJOR, "no memory for results");
  b->rows = rows;
  return CEED_ERROR_SUCCESS;
}

static int run_case(MgBench *b, const MgCase *of) {
  const bool is_single = sizeof(CeedScalar) == sizeof(float);
  MgProblem problem = {0};
  MgRow *rows;

  CLI_TRY(allocate_rows(b));
  rows = &b->rows[b->num_rows];
  int ierr = mg_problem_create(b->bench->ceed, of, is_single || wants_precision(b, CEED_SCALAR_FP64),
                               !is_single && wants_precision(b, CEED_SCALAR_FP32), &problem);

  if (!ierr && b->options->tunes) ierr = mg_problem_tune(&problem);
  if (!ierr) ierr = mg_solve(&problem, &b->how, b->num_variants, b->variants, rows);
  mg_problem_destroy(&problem);
  CLI_TRY(ierr);
  b->num_rows += b->num_variants;
  if (!b->bench->table) return CEED_ERROR_SUCCESS;
  mg_print_set_up(b->bench->table, rows);
  for (size_t i = 0; i < b->num_variants; i++) mg_print_row(b->bench->table, &rows[i]);
  return CEED_ERROR_SUCCESS;
}

static int run_degree(MgBench *b, CeedInt degree) {
  size_t index = 0;
  MgCase of = {.degree = degree, .deform = b->options->deform};
  const size_t before = b->num_rows;

  while ((of.n = next_cells(b, degree, &index, of.n)) > 0) {
    if (b->num_rows > before && !has_room(b, degree, of.n, &b->rows[b->num_rows - 1])) break;
    CLI_TRY(run_case(b, &of));
  }
  return CEED_ERROR_SUCCESS;
}

static int run_cases(MgBench *b) {
  const ArgInts orders = list_orders(b->options);

  for (size_t i = 0; i < orders.num; i++) CLI_TRY(run_degree(b, orders.items[i]));
  return CEED_ERROR_SUCCESS;
}

// ---- Results ----

static int plot_rows(const MgBench *b) {
  PlotPoint *points = calloc(b->num_rows + 1, sizeof(*points));

  if (!points) return cli_no_memory(multigrid_command.name);
  const Plot plot = {.x_label = "seconds of a solve",
                     .y_label = "L2 error",
                     .lines_keep_labels = true,
                     .num = mg_plot_points(b->num_rows, b->rows, points),
                     .points = points};
  const int code = bench_write_plot(b->bench, "Poisson's equation by multigrid", false, plot);

  free(points);
  return code;
}

// Rows that no mesh here has are no failures, as long as there are others.
static int judge(const MgBench *b) {
  bool has_any = false, has_failed = false;

  for (size_t i = 0; i < b->num_rows; i++) {
    const MgRow *row = &b->rows[i];

    has_any = has_any || row->iterations >= 0;
    has_failed = has_failed || (row->iterations >= 0 && *row->fault);
  }
  return has_any && !has_failed ? CLI_OK : CLI_FAILED;
}

static void show_memory(const MgBench *b) {
  RitzDeviceCounters counters;

  if (!RitzDeviceGetCounters(b->bench->ceed, &counters) && counters.driver)
    cli_fact("memory", "%.2f GB on the device at most", 1e-9 * (double)counters.bytes_peak);
}

static int run_rows(MgBench *b) {
  const Bench *bench = b->bench;
  int code;

  if (bench->table) mg_print_heading(bench->table);
  code = run_cases(b) ? cli_report(multigrid_command.name, bench->ceed) : judge(b);
  if (bench->json)
    mg_write_json(bench->json, multigrid_command.name, bench->common->on.resource, &bench->machine, &b->how,
                  b->num_rows, b->rows);
  if (bench->plot && plot_rows(b)) code = CLI_FAILED;
  if (bench->table) show_memory(b);
  return code;
}

static int run_multigrid_bench(Bench *bench) {
  const MgBenchOptions *o = bench->options;
  const double tol = sizeof(CeedScalar) == sizeof(float) ? 1e-5 : 1e-9;
  MgBench b = {.options = o,
               .bench = bench,
               .how = {.timed = (MgSource)o->source,
                       .tol = isnan(o->tol) ? tol : o->tol,
                       .max_it = o->max_it ? o->max_it : 100,
                       .steps = o->steps,
                       .repetitions = o->common.reps,
                       .verbose = o->verbose}};

  bench_find_limits(bench, false);
  find_memory(&b);
  int code = list_variants(&b);
  if (!code) code = run_rows(&b);
  free(b.variants);
  free(b.rows);
  return code;
}

// ---- The command ----

static ArgsResult check_options(const void *options) {
  const MgBenchOptions *o = options;

  for (size_t i = 0; i < o->precisions.num; i++) {
    if (o->precisions.items[i] == F64 && sizeof(CeedScalar) == sizeof(float))
      return args_wrong(&multigrid_command, "--precision",
                        "f64 only in a library of double, this one is of float");
  }
  if (o->cells.num && o->size > 0) return args_wrong(&multigrid_command, "--cells", "contradicts --size");
  if (o->tol == 0) return args_wrong(&multigrid_command, "--tol", "expected a number > 0, found '0'");
  return ARGS_RUN;
}

int bench_multigrid(int argc, char **argv) {
  static const BenchCommand bench = {
      &multigrid_command, &nothing_given,     sizeof(nothing_given), MEMBER(common), 0,
      check_options,      run_multigrid_bench};

  return bench_main(&bench, argc, argv);
}
