// SPDX-License-Identifier: BSD-2-Clause
// Rates of operators at points on a box of cubes, one component: interpolation from the nodes to the points,
// deposit from the points to the nodes, and both in one operator:
//
//     points-rates [--ceed RESOURCE] [--against RESOURCE] [--degrees FIRST-LAST] [--per-cell N]
//                  [--millions POINTS] [--batches N]
//
// --per-cell 0: from none to hundreds of points a cube. Medians of batches of 4 applies. --against: batches
// of two resources in turns, and how many times as fast the first is. Called by `bench/gpu --points`.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/gpu/context.h"
#include "jit/files.h"
#include "tests/points-problem.h"

enum { APPLIES = 4, MAX_BATCHES = 101 };

typedef struct {
  const char *resources[2]; // the second: NULL, or compared with
  int first_degree, last_degree, per_cell, num_batches;
  double millions;
} Options;

static bool set_option(Options *o, const char *name, const char *text) {
  if (!strcmp(name, "--ceed")) return o->resources[0] = text, true;
  if (!strcmp(name, "--against")) return o->resources[1] = text, true;
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

static int time_batch(Ceed ceed, const PointsProblem *p, double *seconds) {
  CeedCall(wait_for(ceed));
  const double begin = ritz_seconds();
  for (int k = 0; k < APPLIES; k++) CeedCall(CeedOperatorApply(p->op, p->u, p->v, CEED_REQUEST_IMMEDIATE));
  CeedCall(wait_for(ceed));
  *seconds = (ritz_seconds() - begin) / APPLIES;
  return CEED_ERROR_SUCCESS;
}

// Medians of the seconds of an apply on each resource, whose batches take turns.
static int time_applies(const Ceed ceed[2], const Options *o, const PointsProblem p[2], double seconds[2]) {
  const int num = o->resources[1] ? 2 : 1;
  double times[2][MAX_BATCHES];

  for (int k = 0; k < num; k++) CeedCall(CeedOperatorApply(p[k].op, p[k].u, p[k].v, CEED_REQUEST_IMMEDIATE));
  for (int i = 0; i < o->num_batches; i++)
    for (int k = 0; k < num; k++) CeedCall(time_batch(ceed[k], &p[k], &times[k][i]));
  for (int k = 0; k < num; k++) {
    qsort(times[k], (size_t)o->num_batches, sizeof(double), ascending);
    seconds[k] = times[k][o->num_batches / 2];
  }
  return CEED_ERROR_SUCCESS;
}

// A row for each resource: the rates of the three operators of a degree; a row of ratios.
static int print_rates(const Ceed ceed[2], const Options *o, int degree) {
  const double per_cell = o->per_cell ? o->per_cell : 4.2; // the mean of many cubes
  const int n = (int)fmax(1, floor(cbrt(1e6 * o->millions / per_cell) + 0.5)), num = o->resources[1] ? 2 : 1;
  const PointsShape s = {
      .n = n, .degree = degree, .num_comp = 1, .per_cell = o->per_cell, .mode = CEED_EVAL_INTERP};
  double seconds[POINTS_NUM_KINDS][2];
  int num_points = 0;

  for (int kind = 0; kind < POINTS_NUM_KINDS; kind++) {
    PointsProblem p[2] = {{0}, {0}};
    int ierr = CEED_ERROR_SUCCESS;

    for (int k = 0; k < num && !ierr; k++) {
      ierr = points_problem_create(ceed[k], &s, (PointsKind)kind, &p[k]);
      if (!ierr) ierr = points_problem_fill(&p[k]);
    }
    if (!ierr) ierr = time_applies(ceed, o, p, seconds[kind]);
    num_points = p[0].num_points;
    for (int k = 0; k < num; k++) points_problem_destroy(&p[k]);
    if (ierr) return ierr;
  }
  for (int k = 0; k < num; k++) {
    printf("%-22s %2d %9d %9d", o->resources[k], degree, n * n * n, num_points);
    for (int kind = 0; kind < POINTS_NUM_KINDS; kind++)
      printf(" %11.3f %9.4f", 1e3 * seconds[kind][k], 1e-9 * num_points / seconds[kind][k]);
    printf("\n");
  }
  if (num == 2) {
    printf("%-22s %2s %9s %9s", "times as fast", "", "", "");
    for (int kind = 0; kind < POINTS_NUM_KINDS; kind++)
      printf(" %11s %9.2f", "", seconds[kind][1] / seconds[kind][0]);
    printf("\n");
  }
  fflush(stdout);
  return CEED_ERROR_SUCCESS;
}

int main(int argc, char **argv) {
  Options o = {{"/gpu/cuda/gen", NULL}, 1, 4, 8, 7, 4};
  Ceed ceed[2] = {NULL, NULL};

  for (int i = 1; i < argc; i += 2) {
    if (i + 1 < argc && set_option(&o, argv[i], argv[i + 1])) continue;
    fprintf(stderr, "points-rates: what is '%s'? The head of tests/points-rates.c tells the options\n",
            argv[i]);
    return 2;
  }
  for (int k = 0; k < 2 && o.resources[k]; k++)
    if (CeedInit(o.resources[k], &ceed[k])) return 1;
  printf("%-22s %2s %9s %9s %11s %9s %11s %9s %11s %9s\n", "resource", "p", "cells", "points", "to: ms",
         "G/s", "from: ms", "G/s", "both: ms", "G/s");
  for (int degree = o.first_degree; degree <= o.last_degree; degree++) {
    if (print_rates(ceed, &o, degree)) return 1;
  }
  for (int k = 0; k < 2; k++) CeedDestroy(&ceed[k]);
  return 0;
}
