// SPDX-License-Identifier: BSD-2-Clause
// RitzMeshView: the summary of a mesh in words.
#include "mesh/mesh.h"

#include <stdlib.h>

// Facets of every part, the exterior ones first: counts [1 + num_parts].
static void count_marks(RitzMesh mesh, int64_t *counts) {
  for (int64_t i = 0; i < mesh->num_marks; i++) counts[1 + mesh->marks[i].part]++;
}

static int compare_names(const void *key, const void *region) {
  int32_t number = *(const int32_t *)key, other = ((const RitzMeshName *)region)->number;

  return (number > other) - (number < other);
}

// Elements of every region.
static void count_regions(RitzMesh mesh, int64_t *counts) {
  for (int64_t e = 0; e < mesh->num_elem; e++) {
    const int32_t *numbers = &mesh->elem_regions[e];
    int64_t num = 1;

    if (*numbers < 0 && mesh->overlaps.num > 0) {
      const int64_t *starts = mesh->overlaps.starts - 1 - *numbers;

      numbers = mesh->overlaps.items + starts[0];
      num = starts[1] - starts[0];
    }
    for (int64_t i = 0; i < num; i++) {
      const RitzMeshName *region = bsearch(&numbers[i], mesh->regions, (size_t)mesh->num_regions,
                                           sizeof(*mesh->regions), compare_names);

      counts[region - mesh->regions]++;
    }
  }
}

static int print_sets(RitzMesh mesh, FILE *stream) {
  int64_t *counts;

  RITZ_TRY(RITZ_CALLOC(mesh->ceed, 1 + (size_t)mesh->num_parts + (size_t)mesh->num_regions, &counts));
  int64_t *region_counts = counts + 1 + mesh->num_parts;

  count_marks(mesh, counts);
  count_regions(mesh, region_counts);
  fprintf(stream, "  exterior facets: %lld\n", (long long)counts[0]);
  for (CeedInt i = 0; i < mesh->num_parts; i++) {
    fprintf(stream, "  boundary part %s: %lld facets\n", mesh->parts[i].name, (long long)counts[1 + i]);
  }
  for (CeedInt i = 0; i < mesh->num_regions; i++) {
    fprintf(stream, "  region %d %s: %lld elements\n", (int)mesh->regions[i].number, mesh->regions[i].name,
            (long long)region_counts[i]);
  }
  RITZ_FREE(&counts);
  return CEED_ERROR_SUCCESS;
}

// "TETRAHEDRON"; of several shapes "8 tetrahedra, 2 pyramids".
static void print_shapes(RitzMesh mesh, FILE *stream) {
  if (mesh->num_blocks == 1) {
    fprintf(stream, "%s", CeedElemTopologies[mesh->blocks[0].topology]);
    return;
  }
  for (int b = 0; b < mesh->num_blocks; b++) {
    fprintf(stream, "%s%lld %s", b ? ", " : "", (long long)mesh->blocks[b].num_elem,
            ritz_mesh_shape(mesh->blocks[b].topology)->plural);
  }
}

int RitzMeshView(RitzMesh mesh, FILE *stream) {
  int64_t counts[3];
  double low[3], high[3];

  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh, stream);
  RITZ_TRY(RitzMeshClassifyElements(mesh, -1.0, NULL, counts));
  ritz_mesh_bounds(mesh->space_dim, mesh->num_points, mesh->coords, low, high);
  fprintf(stream, "Mesh of %lld elements (", (long long)mesh->num_elem);
  print_shapes(mesh, stream);
  fprintf(stream, ") with %lld vertices in %dD space\n", (long long)mesh->num_vertices, (int)mesh->space_dim);
  if (mesh->seam) {
    fprintf(stream, "  part %d of %d, shares %lld vertices with other parts\n", (int)mesh->seam->part,
            (int)mesh->seam->num_parts, (long long)mesh->seam->shared[0].table.num_keys);
  }
  fprintf(stream, "  geometry of order %d: %lld affine, %lld multilinear, %lld curved elements\n",
          (int)mesh->order, (long long)counts[RITZ_ELEMENT_AFFINE], (long long)counts[RITZ_ELEMENT_TRILINEAR],
          (long long)counts[RITZ_ELEMENT_CURVED]);
  fprintf(stream, "  bounding box:");
  for (CeedInt c = 0; c < mesh->space_dim; c++)
    fprintf(stream, "%s[%g, %g]", c ? " x " : " ", low[c], high[c]);
  fprintf(stream, "\n");
  return print_sets(mesh, stream);
}
