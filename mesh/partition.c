// SPDX-License-Identifier: BSD-2-Clause
// Cuts a mesh into parts: bricks of boxes, pieces of a Hilbert curve; METIS is called by
// mesh/partition-metis.c (ritz/partition.h).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ritz/partition.h>

#include "mesh/mesh.h"

static const char call[] = "RitzMeshPartition";

// ---- Bricks ----

// Facets between the bricks of count[3] in each direction; -1: there are not so many elements.
static int64_t cut_facets(RitzMesh mesh, const int64_t count[3]) {
  int64_t sum = 0;

  for (int d = 0; d < 3; d++) {
    const int64_t n = d < mesh->dim ? mesh->grid[d] : 1;

    if (count[d] > n) return -1;
    sum += (count[d] - 1) * (mesh->num_elem / n);
  }
  return sum;
}

// The numbers of bricks with the fewest facets between them; false: num_parts has no such factors.
static bool find_bricks(RitzMesh mesh, int64_t num_parts, int64_t best[3]) {
  const int64_t n[2] = {mesh->grid[0], mesh->dim > 1 ? mesh->grid[1] : 1};
  int64_t fewest = -1;

  for (int64_t i = 1; i <= num_parts && i <= n[0]; i++) {
    for (int64_t j = 1; num_parts % i == 0 && j <= num_parts / i && j <= n[1]; j++) {
      const int64_t count[3] = {i, j, num_parts / i / j};
      const int64_t facets = num_parts / i % j ? -1 : cut_facets(mesh, count);

      if (facets < 0 || (fewest >= 0 && facets >= fewest)) continue;
      fewest = facets;
      memcpy(best, count, sizeof(count));
    }
  }
  return fewest >= 0;
}

// The largest brick over the mean of all.
static double brick_imbalance(RitzMesh mesh, const int64_t count[3]) {
  double ratio = 1;

  for (int d = 0; d < mesh->dim; d++) {
    const int64_t n = mesh->grid[d], most = (n + count[d] - 1) / count[d];

    ratio *= (double)most * (double)count[d] / (double)n;
  }
  return ratio;
}

static void cut_bricks(RitzMesh mesh, const int64_t count[3], int32_t *parts) {
  const int64_t n[3] = {mesh->grid[0], mesh->dim > 1 ? mesh->grid[1] : 1, mesh->dim > 2 ? mesh->grid[2] : 1};

  for (int64_t e = 0; e < mesh->num_elem; e++) {
    const int64_t at[3] = {e % n[0], e / n[0] % n[1], e / n[0] / n[1]};
    int64_t brick[3];

    for (int d = 0; d < 3; d++) brick[d] = at[d] * count[d] / n[d];
    parts[e] = (int32_t)((brick[2] * count[1] + brick[1]) * count[0] + brick[0]);
  }
}

// ---- Slabs ----

static int partition_slabs(RitzMesh mesh, CeedInt num_parts, const double *weights, int32_t *parts) {
  int64_t *layers = NULL;

  RITZ_REQUIRE(mesh->grid[0] && !weights, mesh->ceed, CEED_ERROR_UNSUPPORTED,
               "%s: slabs of %s, needed a mesh of RitzMeshCreateBox, without weights", call,
               mesh->grid[0] ? "a box with weights" : "a mesh that is no box");
  const int64_t num_layers = mesh->grid[mesh->dim - 1], of_layer = mesh->num_elem / num_layers;

  RITZ_REQUIRE(num_layers >= num_parts, mesh->ceed, CEED_ERROR_UNSUPPORTED,
               "%s: %" CeedInt_FMT " slabs of %lld layers of elements, needed at least one for each", call,
               num_parts, (long long)num_layers);
  RITZ_TRY(RITZ_MALLOC(mesh->ceed, (size_t)num_parts + 1, &layers));
  ritz_mesh_choose_layers(num_layers, num_parts, layers);
  for (CeedInt part = 0; part < num_parts; part++) {
    for (int64_t e = layers[part] * of_layer; e < layers[part + 1] * of_layer; e++) parts[e] = part;
  }
  RITZ_FREE(&layers);
  return CEED_ERROR_SUCCESS;
}

// ---- The Hilbert curve ----

typedef struct {
  uint64_t key;
  int64_t elem;
} Place;

// Bits of a coordinate, so that a key has at most 63.
static int bits_of(int dim) { return dim == 1 ? 62 : dim == 2 ? 31 : 21; }

// The place on the curve of a point of the lattice with `bits` bits a coordinate: Skilling's transposition,
// bit by bit from above: the lower bits of the axes are turned as the curve of the sub-cube is.
static uint64_t hilbert_key(int dim, int bits, const uint64_t *point) {
  uint64_t x[3] = {0, 0, 0}, key = 0, turn = 0;

  for (int d = 0; d < dim; d++) x[d] = point[d];
  for (int b = bits - 1; b > 0; b--) {
    const uint64_t low = (UINT64_C(1) << b) - 1;

    for (int d = 0; d < dim; d++) {
      if (x[d] >> b & 1) {
        x[0] ^= low;
      } else {
        const uint64_t swapped = (x[0] ^ x[d]) & low;

        x[0] ^= swapped;
        x[d] ^= swapped;
      }
    }
  }
  for (int d = 1; d < dim; d++) x[d] ^= x[d - 1]; // Gray code
  for (int b = bits - 1; b > 0; b--) {
    if (x[dim - 1] >> b & 1) turn ^= (UINT64_C(1) << b) - 1;
  }
  for (int b = bits - 1; b >= 0; b--) {
    for (int d = 0; d < dim; d++) key = key << 1 | ((x[d] ^ turn) >> b & 1);
  }
  return key;
}

// The mean of an element's geometry nodes.
static void find_middle(RitzMesh mesh, const RitzMeshBlock *block, int64_t e, double *middle) {
  const double *x = mesh->coords + (block->node_base + e * block->num_nodes) * mesh->space_dim;

  for (CeedInt d = 0; d < mesh->space_dim; d++) middle[d] = 0;
  for (int64_t i = 0; i < block->num_nodes; i++) {
    for (CeedInt d = 0; d < mesh->space_dim; d++)
      middle[d] += x[i * mesh->space_dim + d] / (double)block->num_nodes;
  }
}

// A cube around the mesh, so that directions count alike.
static void place_elements(RitzMesh mesh, Place *places) {
  const int dim = mesh->space_dim, bits = bits_of(dim);
  double low[3], high[3], size = 0;

  ritz_mesh_bounds(dim, mesh->num_points, mesh->coords, low, high);
  for (int d = 0; d < dim; d++) size = fmax(size, high[d] - low[d]);
  for (int b = 0; b < mesh->num_blocks; b++) {
    const RitzMeshBlock *block = &mesh->blocks[b];

    for (int64_t e = 0; e < block->num_elem; e++) {
      double middle[3];
      uint64_t point[3];

      find_middle(mesh, block, e, middle);
      for (int d = 0; d < dim; d++) {
        const double t = size > 0 ? (middle[d] - low[d]) / size : 0;

        point[d] = (uint64_t)(fmin(fmax(t, 0), 1) * (double)((UINT64_C(1) << bits) - 1));
      }
      places[block->first + e] = (Place){hilbert_key(dim, bits, point), block->first + e};
    }
  }
}

static int compare_places(const void *pa, const void *pb) {
  const Place *a = pa, *b = pb;

  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  return (a->elem > b->elem) - (a->elem < b->elem);
}

// An element goes to the part that the middle of its weight lies in.
static void cut_curve(int64_t num, const Place *places, CeedInt num_parts, const double *weights,
                      int32_t *parts) {
  double total = 0, before = 0;

  for (int64_t i = 0; i < num; i++) total += weights ? weights[places[i].elem] : 1;
  for (int64_t i = 0; i < num; i++) {
    const double weight = weights ? weights[places[i].elem] : 1;
    const int64_t part = (int64_t)((before + 0.5 * weight) / total * num_parts);

    parts[places[i].elem] = (int32_t)(part < num_parts ? part : num_parts - 1);
    before += weight;
  }
}

static int cut_by_curve(RitzMesh mesh, CeedInt num_parts, const double *weights, int32_t *parts) {
  Place *places = NULL;

  RITZ_TRY(RITZ_MALLOC(mesh->ceed, (size_t)mesh->num_elem, &places));
  place_elements(mesh, places);
  qsort(places, (size_t)mesh->num_elem, sizeof(*places), compare_places);
  cut_curve(mesh->num_elem, places, num_parts, weights, parts);
  RITZ_FREE(&places);
  return CEED_ERROR_SUCCESS;
}

// ---- The choice ----

static int check_partition(RitzMesh mesh, CeedInt num_parts, const double *weights) {
  RITZ_REQUIRE(num_parts >= 1, mesh->ceed, CEED_ERROR_DIMENSION,
               "%s: %" CeedInt_FMT " parts, needed at least 1", call, num_parts);
  RITZ_REQUIRE(!mesh->seam, mesh->ceed, CEED_ERROR_UNSUPPORTED,
               "%s: the mesh is part %" CeedInt_FMT " of %" CeedInt_FMT " already, needed a whole one", call,
               mesh->seam->part, mesh->seam->num_parts);
  for (int64_t e = 0; weights && e < mesh->num_elem; e++) {
    RITZ_REQUIRE(weights[e] > 0 && isfinite(weights[e]), mesh->ceed, CEED_ERROR_DIMENSION,
                 "%s: element %lld has weight %g, needed a positive number", call, (long long)e, weights[e]);
  }
  return CEED_ERROR_SUCCESS;
}

static int partition_bricks(RitzMesh mesh, CeedInt num_parts, const double *weights, int32_t *parts) {
  int64_t count[3];

  RITZ_REQUIRE(mesh->grid[0] && !weights, mesh->ceed, CEED_ERROR_UNSUPPORTED,
               "%s: bricks of %s, needed a mesh of RitzMeshCreateBox, without weights", call,
               mesh->grid[0] ? "a box with weights" : "a mesh that is no box");
  RITZ_REQUIRE(find_bricks(mesh, num_parts, count), mesh->ceed, CEED_ERROR_UNSUPPORTED,
               "%s: %" CeedInt_FMT " bricks do not fit into %lld x %lld x %lld elements", call, num_parts,
               (long long)mesh->grid[0], (long long)mesh->grid[1], (long long)mesh->grid[2]);
  cut_bricks(mesh, count, parts);
  return CEED_ERROR_SUCCESS;
}

static int partition_metis(RitzMesh mesh, CeedInt num_parts, const double *weights, int32_t *parts) {
  bool is_done = false;

  if (num_parts >= mesh->num_elem) return cut_by_curve(mesh, num_parts, weights, parts); // METIS wants fewer
  RITZ_TRY(ritz_mesh_partition_metis(mesh, num_parts, weights, parts, &is_done));
  RITZ_REQUIRE(is_done, mesh->ceed, CEED_ERROR_UNSUPPORTED,
               "%s: METIS is not there, or could not cut %lld elements into %" CeedInt_FMT " parts", call,
               (long long)mesh->num_elem, num_parts);
  return CEED_ERROR_SUCCESS;
}

static int partition_automatically(RitzMesh mesh, CeedInt num_parts, const double *weights, int32_t *parts) {
  const double most = 1.05;
  int64_t count[3];
  bool is_done = false;

  if (mesh->grid[0] && !weights && find_bricks(mesh, num_parts, count) &&
      brick_imbalance(mesh, count) <= most) {
    cut_bricks(mesh, count, parts);
    return CEED_ERROR_SUCCESS;
  }
  if (num_parts < mesh->num_elem)
    RITZ_TRY(ritz_mesh_partition_metis(mesh, num_parts, weights, parts, &is_done));
  return is_done ? CEED_ERROR_SUCCESS : cut_by_curve(mesh, num_parts, weights, parts);
}

int RitzMeshPartition(RitzMesh mesh, RitzPartitionMethod method, CeedInt num_parts, const double weights[],
                      int32_t parts[]) {
  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh->ceed, parts);
  RITZ_TRY(check_partition(mesh, num_parts, weights));
  switch (method) {
  case RITZ_PARTITION_AUTO: return partition_automatically(mesh, num_parts, weights, parts);
  case RITZ_PARTITION_BRICKS: return partition_bricks(mesh, num_parts, weights, parts);
  case RITZ_PARTITION_METIS: return partition_metis(mesh, num_parts, weights, parts);
  case RITZ_PARTITION_HILBERT: return cut_by_curve(mesh, num_parts, weights, parts);
  case RITZ_PARTITION_SLABS: return partition_slabs(mesh, num_parts, weights, parts);
  }
  return CeedError(mesh->ceed, CEED_ERROR_UNSUPPORTED, "%s: there is no method %d", call, (int)method);
}
