// SPDX-License-Identifier: BSD-2-Clause
// A small program around the bake-off problems that links with any implementation of the Ceed API:
//
//     bench-bp [--bp N] [--order P] [--size DOFS | --n N] [--deform A] [--policy stored|trilinear|affine]
//              [--cg] [--reps N] [--ceed RESOURCE] [--json] [--bandwidth GB/s] [--peak GFLOP/s]
//
// One problem per run, for scripts that compare implementations; `ritz bench` is the comfortable twin.
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bp/bp.h"
#include "bp/report.h"

static const char usage[] =
    "usage: bench-bp [--bp 1..6] [--order P] [--size DOFS | --n ELEMENTS] [--deform A] [--cg] [--reps N]\n"
    "                [--policy stored|trilinear|affine] [--ceed RESOURCE] [--json]\n"
    "                [--bandwidth GB/s] [--peak GFLOP/s]\n"
    "Times one bake-off problem, of about DOFS unknowns or with ELEMENTS per direction; see bp/bp.h for "
    "what is measured. Bandwidth and peak are those of the\n"
    "threads that RESOURCE runs on; with both of them the fraction of the roofline is shown.\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage.\n";

typedef struct {
  BpOptions bp;
  const char *resource;
  bool json, help;
} Arguments;

static bool parse_number(const char *text, double *value) {
  char *end;

  errno = 0;
  *value = strtod(text, &end);
  return end != text && *end == '\0' && errno == 0;
}

static bool parse_geometry(const char *text, CostGeometry *geometry) {
  for (*geometry = COST_STORED; *geometry <= COST_AFFINE; ++*geometry) {
    if (!strcmp(text, bp_geometry_name(*geometry))) return true;
  }
  return false;
}

// Sets the option `name` to `text`; false: no such option or not its kind of value.
static bool set_option(Arguments *a, const char *name, const char *text) {
  double value = 0;

  if (!strcmp(name, "--ceed")) return a->resource = text, true;
  if (!strcmp(name, "--policy")) return parse_geometry(text, &a->bp.geometry);
  if (!parse_number(text, &value)) return false;
  if (!strcmp(name, "--deform")) return a->bp.deform = value, true;
  if (!strcmp(name, "--bandwidth")) return a->bp.machine.bandwidth = 1e9 * value, value > 0;
  if (!strcmp(name, "--peak")) return a->bp.machine.peak = 1e9 * value, value > 0;
  if (!(value >= 0 && value <= INT_MAX) || value != (double)(int)value) return false;
  if (!strcmp(name, "--bp")) return a->bp.bp = (int)value, true;
  if (!strcmp(name, "--order")) return a->bp.order = (CeedInt)value, true;
  if (!strcmp(name, "--size")) return a->bp.size = (CeedSize)value, true;
  if (!strcmp(name, "--n")) return a->bp.n = (CeedInt)value, true;
  if (!strcmp(name, "--reps")) return a->bp.repetitions = (CeedInt)value, true;
  return false;
}

static bool parse(int argc, char **argv, Arguments *a) {
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--cg"))
      a->bp.mode = BP_CG;
    else if (!strcmp(argv[i], "--json"))
      a->json = true;
    else if (!strcmp(argv[i], "--help"))
      a->help = true;
    else if (i + 1 == argc || !set_option(a, argv[i], argv[i + 1])) {
      fprintf(stderr, "bench-bp: '%s' is not an option, or '%s' is not its kind of value\n", argv[i],
              i + 1 < argc ? argv[i + 1] : "");
      return false;
    } else
      i++;
  }
  return true;
}

static int run_benchmarks(const Arguments *a) {
  Ceed ceed = NULL;
  BpResult result;
  const char *message = "cannot start the resource";
  int ierr = CeedInit(a->resource, &ceed);

  if (!ierr) {
    CeedSetErrorHandler(ceed, CeedErrorStore);
    ierr = bp_run(ceed, &a->bp, &result);
    if (ierr) CeedGetErrorMessage(ceed, &message);
  }
  if (ierr) {
    fprintf(stderr, "bench-bp: %s: %s\n", a->resource, message);
  } else if (a->json) {
    bp_write_json(stdout, "bench-bp", a->resource, 1, &result);
  } else {
    bp_print_heading(stdout, a->bp.mode);
    bp_print_row(stdout, &result);
  }
  if (!ierr) bp_print_failed_checks(stderr, &result);
  CeedDestroy(&ceed);
  return ierr || !bp_checks_hold(&result) ? 1 : 0;
}

int main(int argc, char **argv) {
  Arguments arguments = {.bp = {.bp = 5, .order = 4, .size = 100000}, .resource = "/cpu/self"};

  if (!parse(argc, argv, &arguments)) {
    fputs(usage, stderr);
    return 2;
  }
  if (arguments.help) {
    fputs(usage, stdout);
    return 0;
  }
  return run_benchmarks(&arguments);
}
