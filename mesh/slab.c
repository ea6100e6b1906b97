// SPDX-License-Identifier: BSD-2-Clause
// Slabs of a box: which layers each part has, and a part made without the whole box (ritz/partition.h).
#include <string.h>

#include "mesh/mesh.h"

static const char call[] = "RitzMeshCreateBoxSlab";

void ritz_mesh_choose_layers(int64_t num_layers, CeedInt num_parts, int64_t layers[]) {
  const double most = 1.05; // the thickest slab over the mean
  int64_t best = 1;

  for (int64_t unit = 1; num_layers % unit == 0 && num_layers / unit >= num_parts; unit *= 2) {
    const int64_t units = num_layers / unit, thickest = (units + num_parts - 1) / num_parts;

    if ((double)(thickest * num_parts) <= most * (double)units) best = unit;
  }
  for (CeedInt i = 0; i <= num_parts; i++) layers[i] = best * (num_layers / best * i / num_parts);
}

// A box has marks on all of its sides: those that the whole box does not have go.
static void remove_marks(RitzMesh mesh, bool has_lower, bool has_upper) {
  const int lower = 2 * (mesh->dim - 1);
  int64_t num = 0;

  for (int64_t i = 0; i < mesh->num_marks; i++) {
    const int64_t layer = mesh->marks[i].elem / (mesh->num_elem / mesh->grid[mesh->dim - 1]);
    const bool is_lower = mesh->marks[i].facet == lower && layer == 0,
               is_upper = mesh->marks[i].facet == lower + 1 && layer == mesh->grid[mesh->dim - 1] - 1;

    if ((is_lower && has_lower) || (is_upper && has_upper)) continue;
    mesh->marks[num++] = mesh->marks[i];
  }
  mesh->num_marks = num;
}

typedef struct {
  CeedInt dim, n[3];
  double lower[3], upper[3];
} Extent;

// Planes are placed by the layers of the whole box, so that two slabs have the same numbers there.
static void cut_extent(const int64_t layers[2], Extent *x) {
  const CeedInt d = x->dim - 1;
  const double low = x->lower[d], high = x->upper[d];

  for (int side = 0; side < 2; side++) {
    const long double t = (long double)layers[side] / (long double)x->n[d];

    *(side ? &x->upper[d] : &x->lower[d]) = (double)((1.0L - t) * low + t * high);
  }
  x->n[d] = (CeedInt)(layers[1] - layers[0]);
}

static int create_slab(Ceed ceed, Extent *x, CeedInt order, RitzMapFunction map, void *map_ctx,
                       CeedInt num_parts, CeedInt part, const int64_t *layers, RitzMesh *mesh) {
  cut_extent(layers + part, x);
  RITZ_TRY(RitzMeshCreateBox(ceed, x->dim, x->n, x->lower, x->upper, order, map, map_ctx, mesh));
  RITZ_REQUIRE((*mesh)->grid[0], ceed, CEED_ERROR_UNSUPPORTED,
               "%s: the map reverses elements, needed one that keeps their direction", call);
  remove_marks(*mesh, part > 0, part + 1 < num_parts);
  return ritz_mesh_become_slab(*mesh, num_parts, part, layers, !map);
}

static int check_slab(Ceed ceed, CeedInt dim, const CeedInt n[], CeedInt num_parts, CeedInt part) {
  RITZ_REQUIRE(dim >= 1 && dim <= 3, ceed, CEED_ERROR_DIMENSION,
               "%s: dimension %" CeedInt_FMT ", needed 1, 2 or 3", call, dim);
  RITZ_REQUIRE(num_parts >= 1 && part >= 0 && part < num_parts, ceed, CEED_ERROR_DIMENSION,
               "%s: part %" CeedInt_FMT " of %" CeedInt_FMT ", needed one of at least 1, counted from 0",
               call, part, num_parts);
  RITZ_REQUIRE(n[dim - 1] >= num_parts, ceed, CEED_ERROR_DIMENSION,
               "%s: %" CeedInt_FMT " layers of elements, needed one or more for each of %" CeedInt_FMT
               " parts",
               call, n[dim - 1], num_parts);
  return CEED_ERROR_SUCCESS;
}

int RitzMeshCreateBoxSlab(Ceed ceed, CeedInt dim, const CeedInt n[], const double lower[],
                          const double upper[], CeedInt order, RitzMapFunction map, void *map_ctx,
                          CeedInt num_parts, CeedInt part, RitzMesh *mesh) {
  Extent x = {.dim = dim, .upper = {1, 1, 1}};
  int64_t *layers = NULL;

  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, n);
  RITZ_ARGUMENT(ceed, mesh);
  *mesh = NULL;
  RITZ_TRY(check_slab(ceed, dim, n, num_parts, part));
  memcpy(x.n, n, (size_t)dim * sizeof(*n));
  if (lower) memcpy(x.lower, lower, (size_t)dim * sizeof(*lower));
  if (upper) memcpy(x.upper, upper, (size_t)dim * sizeof(*upper));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num_parts + 1, &layers));
  ritz_mesh_choose_layers(n[dim - 1], num_parts, layers);
  const int ierr = create_slab(ceed, &x, order, map, map_ctx, num_parts, part, layers, mesh);

  RITZ_FREE(&layers);
  return ierr ? ritz_first_error(ierr, RitzMeshDestroy(mesh)) : CEED_ERROR_SUCCESS;
}
