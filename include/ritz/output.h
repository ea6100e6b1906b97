// SPDX-License-Identifier: BSD-2-Clause
// Output for ParaView and other readers of VTK's XML format.
#ifndef RITZ_OUTPUT_H
#define RITZ_OUTPUT_H

#include <ritz/space.h>

// One named nodal field: `values` is an L-vector of `space`. NULL-terminated lists are not used: counts are
// explicit.
typedef struct {
  const char *name;
  RitzSpace space;   // borrowed; all fields of a file live on the same mesh
  CeedVector values; // borrowed, length at least the size of the space
} RitzOutputField;

// Writes an unstructured grid (.vtu, file version 2.2) of high-order Lagrange cells (types 68, 70, 72) with
// appended raw binary arrays, compressed by zlib when the library was built with it. Cells have the largest
// degree among the geometry and the fields; every quantity is interpolated to the equispaced nodes that VTK
// expects, exactly. Points are per element (cells do not share points), so periodic and discontinuous data
// are shown as they are. Cell data: "region" and "element". The file appears under its name only when
// complete.
CEED_EXTERN int RitzWriteVTU(RitzMesh mesh, CeedInt num_fields, const RitzOutputField *fields,
                             const char *path);

#endif
