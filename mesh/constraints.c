// SPDX-License-Identifier: BSD-2-Clause
// Dirichlet conditions: entries of a space's vectors on boundary parts.
#include <ritz/multigrid.h>
#include <stdlib.h>

#include "mesh/mesh.h"

typedef struct {
  int64_t num;
  int64_t *entries; // owned
} Entries;

static const char call[] = "RitzSpaceCreateConstraints";

static int check_part(Ceed ceed, CeedInt i, const RitzFixedPart *part, CeedInt num_comp) {
  RITZ_REQUIRE(part->part, ceed, CEED_ERROR_INCOMPATIBLE, "%s: part %" CeedInt_FMT " has no name", call, i);
  RITZ_REQUIRE(part->num_comp >= 0 && part->num_comp <= 3, ceed, CEED_ERROR_DIMENSION,
               "%s: %" CeedInt_FMT " components of part '%.100s', needed 0 (all) to 3", call, part->num_comp,
               part->part);
  for (CeedInt c = 0; c < part->num_comp; c++) {
    RITZ_REQUIRE(part->comp[c] >= 0 && part->comp[c] < num_comp, ceed, CEED_ERROR_DIMENSION,
                 "%s: component %" CeedInt_FMT " of part '%.100s', the space has %" CeedInt_FMT, call,
                 part->comp[c], part->part, num_comp);
  }
  return CEED_ERROR_SUCCESS;
}

static int append_part(RitzSpace space, Ceed ceed, const RitzFixedPart *part, CeedInt num_comp,
                       Entries *entries) {
  const CeedInt num_fixed = part->num_comp > 0 ? part->num_comp : num_comp;
  int64_t num_nodes = 0, *nodes = NULL;

  RITZ_TRY(RitzSpaceGetBoundaryNodes(space, part->part, &num_nodes, &nodes));
  int ierr = RITZ_REALLOC(ceed, (size_t)(entries->num + num_nodes * num_fixed), &entries->entries);

  for (int64_t k = 0; k < num_nodes && !ierr; k++) {
    for (CeedInt c = 0; c < num_fixed; c++) {
      entries->entries[entries->num++] = nodes[k] * num_comp + (part->num_comp > 0 ? part->comp[c] : c);
    }
  }
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
