// SPDX-License-Identifier: BSD-2-Clause
// Partitions by METIS (Karypis & Kumar, A fast and high quality multilevel scheme for partitioning irregular
// graphs, SIAM J. Sci. Comput. 20, 1998), looked up at run time: k-way on the graph whose edges are the
// facets between two elements. Called by mesh/partition.c.
#include "mesh/mesh.h"

#ifdef RITZ_METIS
#include <math.h>
#include <metis.h>

#include "base/metis.h"
#include "base/threads.h"

typedef int (*PartGraph)(idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, real_t *,
                         real_t *, idx_t *, idx_t *, idx_t *);

typedef struct {
  idx_t *starts, *neighbours, *weights, *parts; // owned
} Graph;

static void clear_partition_metis(Graph *g) {
  RITZ_FREE(&g->starts);
  RITZ_FREE(&g->neighbours);
  RITZ_FREE(&g->weights);
  RITZ_FREE(&g->parts);
}

// The two elements at each facet, -1: none.
static int find_sides(RitzMesh mesh, int64_t *num_facets, int64_t **sides) {
  const RitzMeshCells cells = ritz_mesh_cells(mesh);
  RitzMeshNumbers numbers = {0};
  int ierr = ritz_mesh_number_entities(&cells, RITZ_MESH_FACETS, &numbers);

  *num_facets = numbers.num;
  if (!ierr) ierr = RITZ_MALLOC(mesh->ceed, 2 * (size_t)numbers.num, sides);
  for (int64_t i = 0; i < 2 * numbers.num && !ierr; i++) (*sides)[i] = -1;
  for (int b = 0; b < mesh->num_blocks && !ierr; b++) {
    const int num = ritz_mesh_shape(mesh->blocks[b].topology)->facets.num;
    const int64_t *of_block = numbers.numbers + numbers.base[b];

    for (int64_t i = 0; i < mesh->blocks[b].num_elem * num; i++) {
      int64_t *pair = *sides + 2 * of_block[i];

      pair[pair[0] >= 0] = mesh->blocks[b].first + i / num;
    }
  }
  RITZ_FREE(&numbers.numbers);
  return ierr;
}

// starts: counted two places up, so that filling leaves them right.
static int fill_graph(RitzMesh mesh, int64_t num_facets, const int64_t *sides, Graph *g) {
  const int64_t n = mesh->num_elem;

  RITZ_TRY(RITZ_CALLOC(mesh->ceed, (size_t)n + 2, &g->starts));
  for (int64_t i = 0; i < 2 * num_facets; i++) {
    if (sides[i | 1] >= 0) g->starts[sides[i] + 2]++;
  }
  for (int64_t e = 2; e < n + 2; e++) g->starts[e] += g->starts[e - 1];
  RITZ_TRY(RITZ_MALLOC(mesh->ceed, (size_t)g->starts[n + 1], &g->neighbours));
  for (int64_t i = 0; i < 2 * num_facets; i++) {
    if (sides[i | 1] >= 0) g->neighbours[g->starts[sides[i] + 1]++] = (idx_t)sides[i ^ 1];
  }
  return CEED_ERROR_SUCCESS;
}

// Whole numbers from 1 to 1000 in their ratios, fewer where their sum, which METIS makes, would exceed an
// idx_t.
static int fill_weights(RitzMesh mesh, const double *weights, Graph *g) {
  double most = 0, sum = 0;

  if (!weights) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_MALLOC(mesh->ceed, (size_t)mesh->num_elem, &g->weights));
  for (int64_t e = 0; e < mesh->num_elem; e++) most = fmax(most, weights[e]);
  for (int64_t e = 0; e < mesh->num_elem; e++) sum += weights[e] / most;
  const double scale = fmin(1000, (0x1p30 - (double)mesh->num_elem) / sum);

  for (int64_t e = 0; e < mesh->num_elem; e++)
    g->weights[e] = (idx_t)fmax(1, floor(scale * (weights[e] / most) + 0.5));
  return CEED_ERROR_SUCCESS;
}

static bool run_partition_metis(PartGraph metis, RitzMesh mesh, CeedInt num_parts, Graph *g) {
  idx_t n = (idx_t)mesh->num_elem, one = 1, k = num_parts, cut = 0;

  ritz_lock(RITZ_LOCK_METIS);
  const int code =
      metis(&n, &one, g->starts, g->neighbours, g->weights, NULL, NULL, &k, NULL, NULL, NULL, &cut, g->parts);
  ritz_unlock(RITZ_LOCK_METIS);
  return code == METIS_OK;
}

int ritz_mesh_partition_metis(RitzMesh mesh, CeedInt num_parts, const double *weights, int32_t *parts,
                              bool *is_done) {
  PartGraph metis = NULL;
  int64_t num_facets = 0, *sides = NULL;
  Graph g = {0};

  *is_done = false;
  *(void **)&metis = ritz_metis_function("METIS_PartGraphKway", sizeof(idx_t));
  if (!metis || mesh->num_elem > INT32_MAX / (2 * RITZ_MESH_MAX_FACETS)) return CEED_ERROR_SUCCESS;
  int ierr = find_sides(mesh, &num_facets, &sides);

  if (!ierr) ierr = fill_graph(mesh, num_facets, sides, &g);
  if (!ierr) ierr = fill_weights(mesh, weights, &g);
  if (!ierr) ierr = RITZ_CALLOC(mesh->ceed, (size_t)mesh->num_elem, &g.parts);
  if (!ierr) *is_done = num_parts == 1 || run_partition_metis(metis, mesh, num_parts, &g);
  for (int64_t e = 0; e < mesh->num_elem && *is_done; e++) parts[e] = (int32_t)g.parts[e];
  RITZ_FREE(&sides);
  clear_partition_metis(&g);
  return ierr;
}
#else
int ritz_mesh_partition_metis(RitzMesh mesh, CeedInt num_parts, const double *weights, int32_t *parts,
                              bool *is_done) {
  (void)mesh, (void)num_parts, (void)weights, (void)parts;
  *is_done = false;
  return CEED_ERROR_SUCCESS;
}
#endif
