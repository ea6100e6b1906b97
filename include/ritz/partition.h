// SPDX-License-Identifier: BSD-2-Clause
// Meshes in parts, one for each process, thread or device, and what parts exchange. How a program with many
// parts is put together: doc/distributed.md.
//
// Elements belong to one part each. A part is a mesh of its own (RitzMeshCreateSubmesh) that also knows which
// of its vertices, edges and faces other parts have. All parts can be made without communication: each from
// the whole mesh and the same list of parts. They can be refined, each by itself (RitzMeshRefine), and stay
// parts of the refined mesh.
//
// A space on a part (ritz/space.h) has the nodes of the part's elements. A node that several parts have is
// owned by one of them, chosen by a hash, so that shared nodes are spread evenly; in the others it is a
// ghost. Owned nodes come first in the L-vector, in the order of the elements; then the ghosts, by their
// owner. So the first entries of the L-vectors of all parts make up the vector of the whole problem, each
// entry once.
//
// An operator on a part adds up what its elements contribute. Its product with a vector of the whole problem
// is
//
//     owners' values to ghosts        RitzExchangeBegin, RitzExchangeEnd, RITZ_EXCHANGE_TO_GHOSTS
//     y = A x                         on the L-vector of the part
//     ghosts' values added to owners  ... RITZ_EXCHANGE_TO_OWNERS
//
// which RitzPartOperatorApply does, with the first exchange hidden behind elements without ghosts.
#ifndef RITZ_PARTITION_H
#define RITZ_PARTITION_H

#include <ceed.h>
#include <ritz/mesh.h>
#include <ritz/space.h>

// ---- Cutting a mesh ----

typedef enum {
  // Bricks of a box where they are equal within 5 %, else METIS where the library has it, else Hilbert.
  RITZ_PARTITION_AUTO = 0,
  RITZ_PARTITION_BRICKS,  // of boxes (RitzMeshCreateBox, not refined), as near to cubes as the number allows
  RITZ_PARTITION_METIS,   // least number of facets between parts, by METIS (k-way on the graph of elements)
  RITZ_PARTITION_HILBERT, // pieces of equal weight of a Hilbert curve through the middles of the elements
                          // (Skilling, Programming the Hilbert curve, AIP Conf. Proc. 707, 2004)
  RITZ_PARTITION_SLABS,   // of boxes: layers of elements in the last direction that follow each other;
                          // see RitzMeshCreateBoxSlab
} RitzPartitionMethod;

// parts [num_elem], allocated by the caller: the part of each element, 0 .. num_parts - 1. weights
// [num_elem]: positive work of each element, NULL: all alike; bricks take no weights. More parts than
// elements leave some empty. The same arguments give the same parts in every process (METIS: of the same
// version). Errors: CEED_ERROR_DIMENSION (num_parts < 1, a weight that is not a positive number),
// CEED_ERROR_UNSUPPORTED (bricks of a mesh that is no box or with weights; METIS where there is none; a part
// of a mesh).
CEED_EXTERN int RitzMeshPartition(RitzMesh mesh, RitzPartitionMethod method, CeedInt num_parts,
                                  const double weights[], int32_t parts[]);

// Part `part` of a whole mesh, parts [num_elem] as above or the caller's own. Elements and vertices keep
// their order; blocks are those of the whole mesh, perhaps without elements; boundary parts and regions have
// the same names; "all" is the boundary of the whole mesh. A part may be empty. Nodes of the boundary are
// known to all parts that have them, also where their facets belong to others (RitzSpaceGetBoundaryNodes).
// Memory: as a mesh, 8 bytes a vertex, some 100 a shared vertex, edge or face. Errors: CEED_ERROR_DIMENSION
// (numbers out of range), CEED_ERROR_UNSUPPORTED (`mesh` is a part already).
CEED_EXTERN int RitzMeshCreateSubmesh(RitzMesh mesh, CeedInt num_parts, const int32_t parts[], CeedInt part,
                                      RitzMesh *submesh);
// The same for part `part` of a box (RitzMeshCreateBox) that is cut by RITZ_PARTITION_SLABS, made without the
// whole box: in the time and memory of the part. Slabs are boxes themselves: their nodes are numbered in
// rows, kernels are those of whole boxes, ghosts are the upper plane; without a map they have coarser ones
// (RitzMeshGetCoarser), of 512 elements in all, 64 and two layers a part, and more. Bounds of slabs are
// multiples of the largest power of two for which the thickest is within 5 % of the mean. Errors:
// CEED_ERROR_DIMENSION (fewer layers than parts, numbers out of range), CEED_ERROR_UNSUPPORTED (a map that
// reverses elements), those of RitzMeshCreateBox.
CEED_EXTERN int RitzMeshCreateBoxSlab(Ceed ceed, CeedInt dim, const CeedInt n[], const double lower[],
                                      const double upper[], CeedInt order, RitzMapFunction map, void *map_ctx,
                                      CeedInt num_parts, CeedInt part, RitzMesh *mesh);
// Which of how many parts a mesh is; a whole mesh: part 0 of 1. Either may be NULL.
CEED_EXTERN int RitzMeshGetPart(RitzMesh mesh, CeedInt *num_parts, CeedInt *part);
// Slabs of a box: layers[i] .. layers[i + 1] - 1 are the layers of elements of part i in the last direction,
// borrowed, [num_parts + 1]; NULL: whole meshes and other parts.
CEED_EXTERN int RitzMeshGetSlabs(RitzMesh mesh, const int64_t **layers);

// ---- Nodes that parts share ----

typedef struct RitzHalo_private *RitzHalo;

// What the nodes of a space share with other parts; without any for a space on a whole mesh. Belongs to the
// space. Memory: 8 bytes for each node that is sent, 36 for each neighbour.
CEED_EXTERN int RitzSpaceGetHalo(RitzSpace space, RitzHalo *halo);
// Nodes 0 .. num_owned - 1 of the space are owned, num_ghosts follow. Either may be NULL.
CEED_EXTERN int RitzHaloGetSizes(RitzHalo halo, int64_t *num_owned, int64_t *num_ghosts);
// Number of parts that share nodes with this one.
CEED_EXTERN int RitzHaloGetNumNeighbours(RitzHalo halo, CeedInt *num);
// Neighbour i, ascending by part: its part; the owned nodes that it has as ghosts, send [num_send], in the
// order in which it has them; the ghosts of this part that it owns: first_ghost .. first_ghost + num_ghosts -
// 1. Results may be NULL.
CEED_EXTERN int RitzHaloGetNeighbour(RitzHalo halo, CeedInt i, CeedInt *part, int64_t *num_send,
                                     const int64_t **send, int64_t *num_ghosts, int64_t *first_ghost);
// Numbers by which two parts can see that they fit together: `send` of one for the other is `ghosts` of the
// other for the one where both know the same vertices, edges and faces, by the whole mesh, and one degree.
// Results may be NULL.
CEED_EXTERN int RitzHaloGetChecksums(RitzHalo halo, CeedInt i, uint64_t *send, uint64_t *ghosts);
// Elements with ghosts, ascending, by their numbers in the mesh; the others are inside. *elements is a new
// array, to be freed by the caller with free().
CEED_EXTERN int RitzSpaceGetSeamElements(RitzSpace space, int64_t *num, int64_t **elements);

#endif
