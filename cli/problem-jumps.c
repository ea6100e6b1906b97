// SPDX-License-Identifier: BSD-2-Clause
// Coefficients that jump within elements. What an operator takes an element for depends on where its
// quadrature points are then: operators on one space differ by the contrast when their rules differ.
#include <math.h>

#include "cli/cli.h"
#include "cli/problem.h"

// Largest over smallest value in an element that two rules still agree about.
static const double max_ratio = 4;
// Points between the middle of an element and its nodes: these parts of the way.
static const double parts[] = {0.3, 0.6, 0.9};

typedef struct {
  const Problem *problem;
  CeedInt num_nodes; // of an element
  const double *x;   // their positions
  double middle[3];  // the mean of these
  double smallest, largest;
} Samples;

// A function without a value there, or that is not positive, counts as one that jumps: zero.
static void take_sample(Samples *s, const ProblemCoefficient *c, CeedInt node, double part) {
  const CeedInt dim = s->problem->space_dim;
  double x[3] = {0}, value = 0;

  for (CeedInt d = 0; d < dim; d++) x[d] = s->middle[d] + part * (s->x[node * dim + d] - s->middle[d]);
  if (c->function(c->ctx, x, &value) || !isfinite(value)) value = 0;
  s->smallest = fmin(s->smallest, value);
  s->largest = fmax(s->largest, value);
}

static bool jumps_in_element(Samples *s, const ProblemCoefficient *c) {
  const int num_parts = sizeof(parts) / sizeof(parts[0]);

  if (!c->function) return false;
  s->smallest = INFINITY;
  s->largest = 0;
  take_sample(s, c, 0, 0);
  for (CeedInt n = 0; n < s->num_nodes; n++) {
    for (int i = 0; i < num_parts; i++) take_sample(s, c, n, parts[i]);
  }
  return s->largest > max_ratio * s->smallest;
}

static void find_middle(Samples *s) {
  const CeedInt dim = s->problem->space_dim;

  for (CeedInt d = 0; d < 3; d++) s->middle[d] = 0;
  for (CeedInt i = 0; i < s->num_nodes * dim; i++) s->middle[i % dim] += s->x[i] / s->num_nodes;
}

static const ProblemMaterial *find_material(const Problem *p, int32_t region) {
  for (CeedInt i = 0; i < p->options.num_materials; i++) {
    const ProblemMaterial *m = &p->options.materials[i];

    if (m->num_regions == 0) return m;
    for (CeedInt k = 0; k < m->num_regions; k++) {
      if (m->regions[k] == region) return m;
    }
  }
  return NULL;
}

static bool has_functions(const Problem *p) {
  bool has = false;

  for (CeedInt i = 0; i < p->options.num_materials; i++) {
    const ProblemMaterial *m = &p->options.materials[i];
    has |= m->conductivity.function != NULL || m->reaction.function != NULL;
  }
  return has;
}

static int look_into_block(const Problem *p, CeedInt block, Samples *s, bool *jumps) {
  const int32_t *regions = NULL;
  const double *x = NULL;
  int64_t first = 0, num = 0;

  CLI_TRY(RitzMeshGetElementRegions(p->mesh, &regions));
  CLI_TRY(RitzMeshGetBlock(p->mesh, block, NULL, &first, &num, NULL, &x));
  for (int64_t e = 0; e < num && !*jumps; e++) {
    const ProblemMaterial *m = find_material(p, regions[first + e]);

    if (!m) continue;
    s->x = x + e * s->num_nodes * p->space_dim;
    find_middle(s);
    *jumps = jumps_in_element(s, &m->conductivity) || jumps_in_element(s, &m->reaction);
  }
  return CEED_ERROR_SUCCESS;
}

// ---- The range of the coefficient ----

static void take_range(Samples *s, const ProblemMaterial *m) {
  const ProblemCoefficient *c = &m->conductivity;
  double range[] = {c->value, c->value};

  if (problem_is_elastic(s->problem->options.kind)) { // about the moduli of shear and compression
    range[0] = m->young;
    range[1] = m->young / (1 - 2 * m->poisson);
  } else if (c->function) {
    Samples here = *s;
    here.smallest = INFINITY;
    here.largest = 0;
    find_middle(&here);
    take_sample(&here, c, 0, 0);
    for (CeedInt n = 0; n < s->num_nodes; n++) take_sample(&here, c, n, 0.9);
    range[0] = here.smallest;
    range[1] = here.largest;
  }
  if (range[0] > 0) s->smallest = fmin(s->smallest, range[0]);
  s->largest = fmax(s->largest, range[1]);
}

int problem_coefficient_range(const Problem *p, double *smallest, double *largest) {
  Samples s = {.problem = p, .smallest = INFINITY};
  const int32_t *regions = NULL;

  CLI_TRY(RitzMeshGetElementRegions(p->mesh, &regions));
  for (CeedInt b = 0; b < p->num_blocks; b++) {
    const double *x = NULL;
    int64_t first = 0, num = 0;

    CLI_TRY(RitzMeshGetBlock(p->mesh, b, NULL, &first, &num, NULL, &x));
    CLI_TRY(CeedElemRestrictionGetElementSize(p->rstr_x[b], &s.num_nodes));
    for (int64_t e = 0; e < num; e++) {
      const ProblemMaterial *m = find_material(p, regions[first + e]);

      s.x = x + e * s.num_nodes * p->space_dim;
      if (m) take_range(&s, m);
    }
  }
  double bounds[] = {-s.smallest, s.largest};

  CLI_TRY(problem_reduce(p, RITZ_REDUCTION_MAX, 2, bounds));
  *smallest = -bounds[0];
  *largest = bounds[1];
  return CEED_ERROR_SUCCESS;
}

// ---- Jumps ----

int problem_has_jumps(const Problem *p, bool *jumps) {
  Samples s = {.problem = p, .num_nodes = 1};
  CeedInt order = 1;

  *jumps = false;
  if (!p->has_directions || !has_functions(p)) return CEED_ERROR_SUCCESS;
  CLI_TRY(RitzMeshGetGeometryOrder(p->mesh, &order));
  for (CeedInt d = 0; d < p->dim; d++) s.num_nodes *= order + 1;
  for (CeedInt b = 0; b < p->num_blocks && !*jumps; b++) CLI_TRY(look_into_block(p, b, &s, jumps));
  double are_seen = *jumps;

  CLI_TRY(problem_reduce(p, RITZ_REDUCTION_MAX, 1, &are_seen));
  *jumps = are_seen > 0;
  return CEED_ERROR_SUCCESS;
}
