// SPDX-License-Identifier: BSD-2-Clause
// Dirichlet conditions: entries of a space's vectors on boundary parts and on the axis x = 0.
#include <math.h>
#include <ritz/multigrid.h>
#include <stdlib.h>

#include "mesh/mesh.h"

typedef struct {
  int64_t num;
  int64_t *entries; // owned
} Entries;

static const char call[] = "RitzSpaceCreateConstraints";

static int check_part(Ceed ceed, CeedInt i, const RitzFixedPart *part, CeedInt num_comp) {
  const char *name = part->is_axis ? "x = 0" : part->part;

  RITZ_REQUIRE(!part->is_axis || !part->part, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: part %" CeedInt_FMT " is the axis, but has the name '%.100s'", call, i, part->part);
  RITZ_REQUIRE(name, ceed, CEED_ERROR_INCOMPATIBLE, "%s: part %" CeedInt_FMT " has no name", call, i);
  RITZ_REQUIRE(part->num_comp >= 0 && part->num_comp <= 3, ceed, CEED_ERROR_DIMENSION,
               "%s: %" CeedInt_FMT " components of part '%.100s', needed 0 (all) to 3", call, part->num_comp,
               name);
  for (CeedInt c = 0; c < part->num_comp; c++) {
    RITZ_REQUIRE(part->comp[c] >= 0 && part->comp[c] < num_comp, ceed, CEED_ERROR_DIMENSION,
                 "%s: component %" CeedInt_FMT " of part '%.100s', the space has %" CeedInt_FMT, call,
                 part->comp[c], name, num_comp);
  }
  return CEED_ERROR_SUCCESS;
}

static int append_nodes(Ceed ceed, const RitzFixedPart *part, CeedInt num_comp, int64_t num_nodes,
                        const int64_t *nodes, Entries *entries) {
  const CeedInt num_fixed = part->num_comp > 0 ? part->num_comp : num_comp;

  RITZ_TRY(RITZ_REALLOC(ceed, (size_t)(entries->num + num_nodes * num_fixed), &entries->entries));
  for (int64_t k = 0; k < num_nodes; k++) {
    for (CeedInt c = 0; c < num_fixed; c++) {
      entries->entries[entries->num++] = nodes[k] * num_comp + (part->num_comp > 0 ? part->comp[c] : c);
    }
  }
  return CEED_ERROR_SUCCESS;
}

// nodes [nodes of the space]: those at x = 0.
static int find_axis(RitzSpace space, Ceed ceed, int64_t *num, int64_t *nodes) {
  int64_t num_nodes = 0;
  CeedInt dim = 0;
  RitzMesh mesh = NULL;
  double *x = NULL, largest = 0;
  int ierr;

  RITZ_TRY(RitzSpaceGetNumNodes(space, &num_nodes));
  RITZ_TRY(RitzSpaceGetMesh(space, &mesh));
  RITZ_TRY(RitzMeshGetDimensions(mesh, NULL, &dim));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(num_nodes * dim), &x));
  ierr = RitzSpaceGetNodeCoordinates(space, x);
  for (int64_t i = 0; i < num_nodes && !ierr; i++) largest = fmax(largest, fabs(x[i * dim]));
  for (int64_t i = 0; i < num_nodes && !ierr; i++) {
    if (fabs(x[i * dim]) <= 1e-10 * largest) nodes[(*num)++] = i;
  }
  RITZ_FREE(&x);
  return ierr;
}

static int append_axis(RitzSpace space, Ceed ceed, const RitzFixedPart *part, CeedInt num_comp,
                       Entries *entries) {
  int64_t num_nodes = 0, num = 0, *nodes = NULL;

  RITZ_TRY(RitzSpaceGetNumNodes(space, &num_nodes));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num_nodes, &nodes));
  int ierr = find_axis(space, ceed, &num, nodes);

  if (!ierr) ierr = append_nodes(ceed, part, num_comp, num, nodes, entries);
  RITZ_FREE(&nodes);
  return ierr;
}

static int append_part(RitzSpace space, Ceed ceed, const RitzFixedPart *part, CeedInt num_comp,
                       Entries *entries) {
  int64_t num_nodes = 0, *nodes = NULL;

  if (part->is_axis) return append_axis(space, ceed, part, num_comp, entries);
  RITZ_TRY(RitzSpaceGetBoundaryNodes(space, part->part, &num_nodes, &nodes));
  const int ierr = append_nodes(ceed, part, num_comp, num_nodes, nodes, entries);

  free(nodes);
  return ierr;
}

int RitzSpaceCreateConstraints(RitzSpace space, Ceed ceed, CeedInt num, const RitzFixedPart parts[],
                               RitzIndices *constraints) {
  Entries entries = {0};
  CeedInt num_comp = 0;
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_HANDLE(space, ceed);
  RITZ_ARGUMENT(space, ceed);
  RITZ_ARGUMENT(ceed, constraints);
  *constraints = NULL;
  RITZ_REQUIRE(num >= 0, ceed, CEED_ERROR_DIMENSION, "%s: %" CeedInt_FMT " parts, needed at least 0", call,
               num);
  if (num > 0) RITZ_ARGUMENT(ceed, parts);
  RITZ_TRY(RitzSpaceGetNumComponents(space, &num_comp));
  for (CeedInt i = 0; i < num; i++) RITZ_TRY(check_part(ceed, i, &parts[i], num_comp));
  for (CeedInt i = 0; i < num; i++) {
    RITZ_TRY_CLEANUP(append_part(space, ceed, &parts[i], num_comp, &entries));
  }
  ierr = RitzIndicesCreate(ceed, entries.num, entries.entries, constraints);

cleanup:
  RITZ_FREE(&entries.entries);
  return ierr;
}
