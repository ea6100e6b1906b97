// SPDX-License-Identifier: BSD-2-Clause
// Checks of single elements of a draft: sizes, vertices, coordinates, duplicates, orientation. Called by
// ritz_mesh_build and refinement; what needs common facets is checked in mesh/build.c.
#include "mesh/mesh.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

int ritz_mesh_error(Ceed ceed, const char *source, const int64_t *places, int64_t index, int code,
                    const char *format, ...) {
  char text[600];
  va_list args;

  va_start(args, format);
  vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  if (!places) return CeedError(ceed, code, "%s: %s", source, text);
  return CeedError(ceed, code, "%s:%lld: %s", source, (long long)places[index], text);
}

static const CeedElemTopology topologies[4] = {0, CEED_TOPOLOGY_LINE, CEED_TOPOLOGY_QUAD, CEED_TOPOLOGY_HEX};

int ritz_mesh_check_sizes(Ceed ceed, const char *source, const RitzMeshDraft *draft) {
  const CeedInt dim = draft->dim, space_dim = draft->space_dim, order = draft->order;

  if (dim < 1 || dim > 3 || space_dim < dim || space_dim > 3 || draft->topology != topologies[dim]) {
    return ritz_mesh_error(ceed, source, NULL, 0, CEED_ERROR_MAJOR,
                           "elements of dimension %d in space of dimension %d are no mesh", (int)dim,
                           (int)space_dim);
  }
  if (order < 1 || order > INT32_MAX / 2) {
    return ritz_mesh_error(ceed, source, NULL, 0, CEED_ERROR_MAJOR, "geometry of order %d, needed 1 to %d",
                           (int)order, INT32_MAX / 2);
  }
  if (draft->num_elem < 1) {
    return ritz_mesh_error(ceed, source, NULL, 0, CEED_ERROR_MAJOR, "the mesh has no elements");
  }
  if (ritz_mesh_product(3, (const int64_t[]){draft->num_elem, 12 * sizeof(int64_t), 8}) < 0) {
    return ritz_mesh_error(ceed, source, NULL, 0, CEED_ERROR_MAJOR, "%lld elements are too many",
                           (long long)draft->num_elem);
  }
  return CEED_ERROR_SUCCESS;
}

static int check_vertices_of(Ceed ceed, const char *source, const RitzMeshDraft *draft, int64_t e) {
  int num_corners = 1 << draft->dim;
  int64_t sorted[8];

  for (int k = 0; k < num_corners; k++) {
    sorted[k] = draft->elem_vertices[e * num_corners + k];
    if (sorted[k] >= 0 && sorted[k] < draft->num_vertices) continue;
    return ritz_mesh_error(ceed, source, draft->elem_place, e, CEED_ERROR_MAJOR,
                           "element %lld has vertex %lld, there are %lld", (long long)e, (long long)sorted[k],
                           (long long)draft->num_vertices);
  }
  ritz_mesh_sort_vertices(num_corners, sorted);
  for (int k = 1; k < num_corners; k++) {
    if (sorted[k] != sorted[k - 1]) continue;
    return ritz_mesh_error(ceed, source, draft->elem_place, e, CEED_ERROR_MAJOR,
                           "element %lld has vertex %lld twice (a periodic direction needs at least 3 "
                           "elements)",
                           (long long)e, (long long)sorted[k]);
  }
  return CEED_ERROR_SUCCESS;
}

// Distinct vertices also keep the edges and facets of one element apart.
int ritz_mesh_check_vertices(Ceed ceed, const char *source, const RitzMeshDraft *draft) {
  for (int64_t e = 0; e < draft->num_elem; e++) RITZ_TRY(check_vertices_of(ceed, source, draft, e));
  return CEED_ERROR_SUCCESS;
}

int ritz_mesh_check_coordinates(Ceed ceed, const char *source, const RitzMeshDraft *draft) {
  int64_t num_per_elem = ritz_mesh_power(draft->order + 1, draft->dim) * draft->space_dim;

  for (int64_t i = 0; i < draft->num_elem * num_per_elem; i++) {
    if (isfinite(draft->coords[i])) continue;
    return ritz_mesh_error(ceed, source, draft->elem_place, i / num_per_elem, CEED_ERROR_MAJOR,
                           "element %lld has a coordinate that is not a finite number",
                           (long long)(i / num_per_elem));
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_mesh_check_duplicates(Ceed ceed, const char *source, const RitzMeshDraft *draft) {
  RitzMeshTable table = {0};
  int num_corners = 1 << draft->dim;
  int ierr = ritz_mesh_table_create(ceed, num_corners, draft->num_elem, &table);

  for (int64_t e = 0; e < draft->num_elem && !ierr; e++) {
    int64_t key[8], number;

    for (int k = 0; k < num_corners; k++) key[k] = draft->elem_vertices[e * num_corners + k];
    ritz_mesh_sort_vertices(num_corners, key);
    ierr = ritz_mesh_table_insert(ceed, &table, key, &number);
    if (ierr || number == e) continue;
    ierr = ritz_mesh_error(ceed, source, draft->elem_place, e, CEED_ERROR_MAJOR,
                           "elements %lld and %lld have the same vertices (a periodic direction needs at "
                           "least 3 elements)",
                           (long long)number, (long long)e);
  }
  ritz_mesh_table_clear(&table);
  return ierr;
}

// ---- Orientation ----

// Mirrors the numbering of an element along its first direction.
static void reverse(RitzMeshDraft *draft, int64_t e) {
  int num_corners = 1 << draft->dim;
  int64_t row = draft->order + 1, num_rows = ritz_mesh_power(row, draft->dim - 1),
          space_dim = draft->space_dim;
  int64_t *vertices = draft->elem_vertices + e * num_corners;
  double *x = draft->coords + e * num_rows * row * space_dim;

  for (int k = 0; k < num_corners; k += 2) {
    int64_t vertex = vertices[k];

    vertices[k] = vertices[k + 1];
    vertices[k + 1] = vertex;
  }
  for (int64_t j = 0; j < num_rows; j++, x += row * space_dim) {
    for (int64_t i = 0; i < row / 2; i++) {
      for (int64_t c = 0; c < space_dim; c++) {
        double *a = x + i * space_dim + c, *b = x + (row - 1 - i) * space_dim + c, kept = *a;

        *a = *b;
        *b = kept;
      }
    }
  }
}

// Extremes of the determinants; NaN counts as the smallest.
static void find_extremes(const RitzMeshSampler *s, double *low, double *high) {
  *low = *high = s->det[0];
  for (int64_t i = 0; i < s->num_points; i++) {
    if (!(s->det[i] >= *low)) *low = s->det[i];
    if (s->det[i] > *high) *high = s->det[i];
    if (isnan(*low)) return;
  }
}

static int report_inverted(Ceed ceed, const char *source, const RitzMeshDraft *draft, int64_t worst,
                           double worst_det, int64_t num_bad) {
  return ritz_mesh_error(ceed, source, draft->elem_place, worst, CEED_ERROR_MAJOR,
                         "element %lld is inverted or degenerate: its Jacobian determinant, which must be "
                         "positive and finite, is %.6g at worst; this affects %lld of %lld elements",
                         (long long)worst, worst_det, (long long)num_bad, (long long)draft->num_elem);
}

int ritz_mesh_check_orientation(Ceed ceed, const char *source, RitzMeshDraft *draft, bool may_reverse) {
  int64_t num_per_elem = ritz_mesh_power(draft->order + 1, draft->dim) * draft->space_dim;
  int64_t num_bad = 0, worst = 0;
  double worst_det = 0.0;
  RitzMeshSampler sampler;

  may_reverse = may_reverse && draft->dim == draft->space_dim && draft->dim < 3;
  RITZ_TRY(ritz_mesh_sampler_create(ceed, draft->dim, draft->space_dim, draft->order, &sampler));
  for (int64_t e = 0; e < draft->num_elem; e++) {
    double low, high;

    ritz_mesh_sampler_take(&sampler, draft->coords + e * num_per_elem);
    find_extremes(&sampler, &low, &high);
    if (low > 0.0 && isfinite(high)) continue;
    if (may_reverse && high < 0.0 && isfinite(low)) {
      reverse(draft, e);
      continue;
    }
    double bad_det = low > 0.0 ? high : low;

    if (num_bad++ > 0 && !(bad_det < worst_det)) continue;
    worst = e;
    worst_det = bad_det;
  }
  ritz_mesh_sampler_clear(&sampler);
  return num_bad > 0 ? report_inverted(ceed, source, draft, worst, worst_det, num_bad) : CEED_ERROR_SUCCESS;
}
