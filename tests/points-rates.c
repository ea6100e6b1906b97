// SPDX-License-Identifier: BSD-2-Clause
// Rates of operators at points on a box of cubes, one component: interpolation from the nodes to the points,
// deposit from the points to the nodes, and both in one operator:
//
//     points-rates [--ceed RESOURCE] [--degrees FIRST-LAST] [--per-cell N] [--millions POINTS] [--batches N]
//
// --per-cell 0: from none to hundreds of points a cube. Medians of batches of 4 applies. Called by `bench/gpu
// --points`.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/gpu/gpu.h"
#include "jit/files.h"
#include "tests/points-problem.h"

enum { APPLIES = 4, MAX_BATCHES = 101 };

typedef struct {
  const char *resource;
  int first_degree, last_degree, per_cell, num_batches;
  double millions;
} Options;

static bool set_option(Options *o, const char *name, const char *text) {
  if (!strcmp(name, "--ceed")) return o->resource = text, true;
  if (!strcmp(name, "--per-cell")) return (o->per_cell = atoi(text)) >= 0;
  if (!strcmp(name, "--millions")) return (o->millions = atof(text)) > 0;
  if (!strcmp(name, "--batches")) return (o->num_batches = atoi(text)) > 0 && o->num_batches <= MAX_BATCHES;
  if (strcmp(name, "--degrees") != 0) return false;
  if (sscanf(text, "%d-%d", &o->first_degree, &o->last_degree) == 1) o->last_degree = o->first_degree;
  return o->first_degree >= 1 && o->last_degree <= 8;
}

static int wait_for(Ceed ceed) {
  if (ceed->backend.mem_type != CEED_MEM_DEVICE) return CEED_ERROR_SUCCESS;
  return ritz_gpu(ceed)->driver->synchronize(ceed, ritz_gpu(ceed)->device, ritz_gpu(ceed)->stream);
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

static int time_applies(Ceed ceed, const Options *o, const PointsProblem *p, double *seconds) {
  double times[MAX_BATCHES];

  CeedCall(CeedOperatorApply(p->op, p->u, p->v, CEED_REQUEST_IMMEDIATE));
  for (int i = 0; i < o->num_batches; i++) {
    CeedCall(wait_for(ceed));
    const double begin = ritz_seconds();
    for (int k = 0; k < APPLIES; k++) CeedCall(CeedOperatorApply(p->op, p->u, p->v, CEED_REQUEST_IMMEDIATE));
    CeedCall(wait_for(ceed));
    times[i] = (ritz_seconds() - begin) / APPLIES;
  }
  qsort(times, (size_t)o->num_batches, sizeof(double), ascending);
  *seconds = times[o->num_batches / 2];
  return CEED_ERROR_SUCCESS;
}

// A row: the rates of the three operators of a degree.
static int print_rates(Ceed ceed, const Options *o, int degree) {
  const double per_cell = o->per_cell ? o->per_cell : 4.2; // the mean of many cubes
  const int n = (int)fmax(1, floor(cbrt(1e6 * o->millions / per_cell) + 0.5));
  const PointsShape s = {
      .n = n, .degree = degree, .num_comp = 1, .per_cell = o->per_cell, .mode = CEED_EVAL_INTERP};

  for (int kind = 0; kind < POINTS_NUM_KINDS; kind++) {
    PointsProblem p = {0};
    double seconds;

    CeedCall(points_problem_create(ceed, &s, (PointsKind)kind, &p));
    CeedCall(points_problem_fill(&p));
    CeedCall(time_applies(ceed, o, &p, &seconds));
    if (kind == 0) printf("%-22s %2d %9d %9d", o->resource, degree, n * n * n, (int)p.num_points);
    printf(" %11.3f %9.4f", 1e3 * seconds, 1e-9 * p.num_points / seconds);
    fflush(stdout);
    points_problem_destroy(&p);
  }
  printf("\n");
  return CEED_ERROR_SUCCESS;
}

int main(int argc, char **argv) {
  Options o = {"/gpu/cuda/gen", 1, 4, 8, 7, 4};
  Ceed ceed;

  for (int i = 1; i < argc; i += 2) {
    if (i + 1 < argc && set_option(&o, argv[i], argv[i + 1])) continue;
    fprintf(stderr, "points-rates: what is '%s'? The head of tests/points-rates.c tells the options\n",
            argv[i]);
    return 2;
  }
  if (CeedInit(o.resource, &ceed)) return 1;
  printf("%-22s %2s %9s %9s %11s %9s %11s %9s %11s %9s\n", "resource", "p", "cells", "points", "to: ms",
         "G/s", "from: ms", "G/s", "both: ms", "G/s");
  for (int degree = o.first_degree; degree <= o.last_degree; degree++) {
    if (print_rates(ceed, &o, degree)) return 1;
  }
  CeedDestroy(&ceed);
  return 0;
}
