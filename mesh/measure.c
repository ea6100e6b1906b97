// SPDX-License-Identifier: BSD-2-Clause
// The measure of a mesh, taken by threads and summed up in the order of the elements. Called when a mesh is
// checked; public function for those that were not.
#include <math.h>

#include "mesh/mesh.h"

int ritz_mesh_measuring_create(Ceed ceed, int num_slots, int64_t num_elem, RitzMeshMeasuring *m) {
  *m = (RitzMeshMeasuring){.num_slots = num_slots};
  RITZ_TRY(RITZ_MALLOC(ceed, 2 * (size_t)num_slots, &m->low));
  m->high = m->low + num_slots;
  for (int slot = 0; slot < num_slots; slot++) {
    m->low[slot] = INFINITY;
    m->high[slot] = -INFINITY;
  }
  const int ierr = RITZ_MALLOC(ceed, (size_t)num_elem, &m->sums);
  if (ierr) ritz_mesh_measuring_clear(m);
  return ierr;
}

void ritz_mesh_measuring_clear(RitzMeshMeasuring *m) {
  RITZ_FREE(&m->low);
  RITZ_FREE(&m->sums);
}

void ritz_mesh_measure_element(RitzMeshMeasuring *m, int slot, int64_t e, const RitzMeshSampler *sampler) {
  double sum = 0.0, low = m->low[slot], high = m->high[slot];

  for (int64_t i = 0; i < sampler->num_gauss; i++) sum += sampler->weights[i] * sampler->det[i];
  for (int64_t i = 0; i < sampler->num_points; i++) {
    if (sampler->det[i] < low) low = sampler->det[i];
    if (sampler->det[i] > high) high = sampler->det[i];
  }
  m->sums[e] = sum;
  m->low[slot] = low;
  m->high[slot] = high;
}

// sum += term; *lost collects what rounding takes away (Neumaier, ZAMM 54, 1974).
static void add_compensated(double term, double *sum, double *lost) {
  double total = *sum + term;

  *lost += fabs(*sum) >= fabs(term) ? (*sum - total) + term : (term - total) + *sum;
  *sum = total;
}

RitzMeshMeasure ritz_mesh_measuring_result(const RitzMeshMeasuring *m, int64_t num_elem) {
  RitzMeshMeasure result = {.is_known = true, .min_det = INFINITY, .max_det = -INFINITY};
  double sum = 0.0, lost = 0.0;

  for (int64_t e = 0; e < num_elem; e++) add_compensated(m->sums[e], &sum, &lost);
  for (int slot = 0; slot < m->num_slots; slot++) {
    result.min_det = fmin(result.min_det, m->low[slot]);
    result.max_det = fmax(result.max_det, m->high[slot]);
  }
  result.value = sum + lost;
  return result;
}

// Length of the element whose nodes begin at x in direction d.
static double side_length(const RitzMeshDraft *draft, const double *x, CeedInt d) {
  return x[((1 << draft->dim) - 1) * draft->dim + d] - x[d];
}

RitzMeshMeasure ritz_mesh_measure_rows(const RitzMeshDraft *draft) {
  const CeedInt dim = draft->dim;
  RitzMeshMeasure result = {.value = 1.0, .min_det = 1.0, .max_det = 1.0};
  int64_t stride = (int64_t)dim << dim;

  for (CeedInt d = 0; d < dim; stride *= draft->grid[d++]) {
    double sum = 0.0, lost = 0.0, low = INFINITY, high = -INFINITY;

    for (int64_t i = 0; i < draft->grid[d]; i++) {
      const double length = side_length(draft, draft->coords + i * stride, d);

      if (!(length > 0.0)) return (RitzMeshMeasure){.is_known = false};
      add_compensated(length, &sum, &lost);
      low = fmin(low, length);
      high = fmax(high, length);
    }
    result.value *= sum + lost;
    result.min_det *= 0.5 * low;
    result.max_det *= 0.5 * high;
  }
  result.is_known = result.min_det > 0.0 && isfinite(result.max_det);
  return result;
}

// ---- Of a mesh ----

typedef struct {
  const RitzMeshBlock *block;
  const double *x; // of the block
  RitzMeshSampler *samplers;
  RitzMeshMeasuring *measuring;
} Sampling;

static void sample_range(void *data, int slot, int64_t first, int64_t count) {
  const Sampling *s = data;
  RitzMeshSampler *sampler = &s->samplers[slot];
  const int64_t stride = s->block->num_nodes * sampler->space_dim;

  for (int64_t e = first; e < first + count; e++) {
    ritz_mesh_sampler_take(sampler, s->x + e * stride);
    ritz_mesh_measure_element(s->measuring, slot, s->block->first + e, sampler);
  }
}

static int measure_block(RitzMesh mesh, const RitzMeshBlock *block, RitzMeshMeasuring *m) {
  Sampling s = {.block = block, .measuring = m};

  if (block->num_elem == 0) return CEED_ERROR_SUCCESS; // a mesh without any has no coordinates
  s.x = mesh->coords + block->node_base * mesh->space_dim;
  RITZ_TRY(ritz_mesh_samplers_create(mesh->ceed, block->topology, mesh->space_dim, mesh->order, m->num_slots,
                                     &s.samplers));
  const int ierr = ritz_run_elements(mesh->ceed, block->num_elem, sample_range, &s);
  ritz_mesh_samplers_clear(m->num_slots, &s.samplers);
  return ierr;
}

// m belongs to the caller.
static int measure_elements(RitzMesh mesh, RitzMeshMeasuring *m) {
  int num_slots = 1, ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY(ritz_run_ranges_slots(mesh->ceed, &num_slots));
  RITZ_TRY(ritz_mesh_measuring_create(mesh->ceed, num_slots, mesh->num_elem, m));
  for (int b = 0; b < mesh->num_blocks && !ierr; b++) ierr = measure_block(mesh, &mesh->blocks[b], m);
  if (ierr) ritz_mesh_measuring_clear(m);
  return ierr;
}

static int find_measure(RitzMesh mesh) {
  RitzMeshMeasuring m;

  RITZ_TRY(measure_elements(mesh, &m));
  mesh->measure = ritz_mesh_measuring_result(&m, mesh->num_elem);
  ritz_mesh_measuring_clear(&m);
  return CEED_ERROR_SUCCESS;
}

int RitzMeshGetElementMeasures(RitzMesh mesh, double *measures) {
  RitzMeshMeasuring m;

  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh, measures);
  RITZ_TRY(measure_elements(mesh, &m));
  for (int64_t e = 0; e < mesh->num_elem; e++) measures[e] = m.sums[e];
  ritz_mesh_measuring_clear(&m);
  return CEED_ERROR_SUCCESS;
}

int RitzMeshGetMeasure(RitzMesh mesh, double *measure, double *min_det, double *max_det) {
  RITZ_HANDLE(mesh);
  if (!mesh->measure.is_known) RITZ_TRY(find_measure(mesh));
  if (measure) *measure = mesh->measure.value;
  if (min_det) *min_det = mesh->measure.min_det;
  if (max_det) *max_det = mesh->measure.max_det;
  return CEED_ERROR_SUCCESS;
}
