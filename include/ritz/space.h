// SPDX-License-Identifier: BSD-2-Clause
// Continuous finite element spaces of degree p with n components on a mesh, and discontinuous ones: node
// numbering, element restriction, Dirichlet nodes.
//
// Nodes sit at the Lagrange nodes of every element (ritz/basis.h; Gauss-Lobatto points on lines,
// quadrilaterals, hexahedra); neighbours share the nodes of common vertices, edges and faces whatever their
// relative rotation and their shapes. The numbering follows the elements: the nodes of an edge,
// face or interior are consecutive and get their numbers when the first element that has them is met, so that
// neighbouring memory is used by neighbouring elements. Boxes (RitzMeshCreateBox, not refined, not reversed
// by their map) are numbered lexicographically, first direction fastest: rows of nodes are consecutive, which
// kernels make use of.
//
// In discontinuous spaces every element has nodes of its own, at the same places: node k of element e of a
// block is number (first node of the block) + e * (nodes of an element) + k, blocks one after the other.
// Operators, boundary and interior facets (ritz/facet.h), interpolation, values at points, norms of errors
// and output take them as they take continuous ones. Hierarchies and transfers, overlapping and patch
// restrictions and the preconditioners made of these ask elements to share nodes, and refuse them
// (CEED_ERROR_UNSUPPORTED). A node on a boundary part is one of an element that has a facet there.
//
// L-vector: component c of node i at i * num_comp + c (interlaced, component stride 1), length num_nodes *
// num_comp. Memory: 8 bytes per node of each element; boxes and discontinuous spaces: none.
//
// Meshes of several shapes have a restriction and a basis for each block (ritz/mesh.h), all of one L-vector:
// operators on them are composites.
#ifndef RITZ_SPACE_H
#define RITZ_SPACE_H

#include <ritz/mesh.h>
#include <stdbool.h>

typedef struct RitzSpace_private *RitzSpace;

// degree >= 1, num_comp >= 1, sizes that fit into 64 bits (else CEED_ERROR_DIMENSION). Holds a reference to
// the mesh.
CEED_EXTERN int RitzSpaceCreate(RitzMesh mesh, CeedInt degree, CeedInt num_comp, RitzSpace *space);
// The discontinuous one. CEED_ERROR_UNSUPPORTED: a part of a mesh (ritz/partition.h).
CEED_EXTERN int RitzSpaceCreateDiscontinuous(RitzMesh mesh, CeedInt degree, CeedInt num_comp,
                                             RitzSpace *space);
CEED_EXTERN int RitzSpaceReferenceCopy(RitzSpace space, RitzSpace *copy); // as CeedVectorReferenceCopy
CEED_EXTERN int RitzSpaceDestroy(RitzSpace *space);

// The mesh that it was made on.
CEED_EXTERN int RitzSpaceGetMesh(RitzSpace space, RitzMesh *mesh); // borrowed
// Degree of its functions, and their number of components.
CEED_EXTERN int RitzSpaceGetDegree(RitzSpace space, CeedInt *degree);
CEED_EXTERN int RitzSpaceGetNumComponents(RitzSpace space, CeedInt *num_comp);
// Whether elements share nodes (RitzSpaceCreate), or not (RitzSpaceCreateDiscontinuous).
CEED_EXTERN int RitzSpaceIsContinuous(RitzSpace space, bool *is_continuous);
// Number of nodes; in parts owned ones and ghosts.
CEED_EXTERN int RitzSpaceGetNumNodes(RitzSpace space, int64_t *num_nodes);
// Length of its L-vectors.
CEED_EXTERN int RitzSpaceGetSize(RitzSpace space, CeedSize *l_size); // num_nodes * num_comp
// [num_elem][nodes] node numbers, lexicographic in the element, (p+1)^dim of them on lines, quadrilaterals,
// hexahedra; belongs to the space. Meshes of several shapes: CEED_ERROR_UNSUPPORTED. They are made
// when they are asked for first, 8 bytes each; the space itself keeps them in 4, on boxes not at all.
CEED_EXTERN int RitzSpaceGetElementNodes(RitzSpace space, const int64_t **nodes);
// Owned by the caller; the space keeps and hands out one for each block (of the context that asked last), so
// that operators share its offsets: 4 bytes per node of each element. CEED_ERROR_UNSUPPORTED when an offset
// exceeds what CeedInt offsets can address, and for meshes of several shapes.
CEED_EXTERN int RitzSpaceCreateRestriction(RitzSpace space, Ceed ceed, CeedElemRestriction *rstr);
// The same for one block of the mesh; num_nodes (may be NULL): how many an element of the block has.
CEED_EXTERN int RitzSpaceGetBlockNodes(RitzSpace space, CeedInt block, CeedInt *num_nodes,
                                       const int64_t **nodes);
CEED_EXTERN int RitzSpaceCreateBlockRestriction(RitzSpace space, CeedInt block, Ceed ceed,
                                                CeedElemRestriction *rstr);
// The same for some elements, elements [num] by their numbers in the mesh, all of one block (else
// CEED_ERROR_DIMENSION); nothing is kept.
CEED_EXTERN int RitzSpaceCreateElementsRestriction(RitzSpace space, CeedInt block, Ceed ceed, CeedInt num,
                                                   const CeedInt elements[], CeedElemRestriction *rstr);
// The nodes of every element with layers of nodes around it, lexicographic: rstr[2] of elements that have
// neighbours beyond all facets, a layer on both sides of every direction, (p+3)^dim nodes; rstr[1] of
// elements at the boundary, a layer on one side of every direction, the upper one if there is a choice, away
// from the boundary, (p+2)^dim nodes; rstr[0] of elements between two sides of the boundary, no layers. Of
// rstr[1] the directions are those of the element but for their signs: layers are at upper ends. num[3]
// counts them (rstr[i] is NULL for none), *elements [num_elem] lists them in this order, a new array to be
// freed by the caller with free().
//
// A layer has the neighbours' nodes next to the common facet, and to the common edge or vertex where the mesh
// is a grid there (4 elements around an edge, 2^dim around a vertex). Elsewhere nodes are missing: they refer
// to a node of the L-vector beyond those of the space, one for each element that misses any. For lines,
// quadrilaterals and hexahedra, degree >= 2: the layer of degree 1 is all of the neighbour (both
// CEED_ERROR_UNSUPPORTED). Nothing is kept.
CEED_EXTERN int RitzSpaceCreateOverlapRestrictions(RitzSpace space, Ceed ceed, CeedInt num[3],
                                                   CeedInt **elements, CeedElemRestriction rstr[3]);
// Inner nodes of vertex patches, (2p-1)^dim each, lexicographic in the directions of the patch: num patches
// in the arrays of RitzMeshGetVertexPatches, or some of them in any order. Errors as above.
CEED_EXTERN int RitzSpaceCreatePatchRestriction(RitzSpace space, Ceed ceed, CeedInt num,
                                                const int64_t elements[], const int8_t axes[],
                                                CeedElemRestriction *rstr);
// Lagrange basis of the elements of a block, with the components of the space, and a quadrature that is exact
// to quad_degree: quad_degree / 2 + 1 Gauss points per direction (a tensor basis) on lines, quadrilaterals
// and hexahedra, the rule of ritz/basis.h on the other shapes.
CEED_EXTERN int RitzSpaceCreateBlockBasis(RitzSpace space, CeedInt block, Ceed ceed, CeedInt quad_degree,
                                          CeedBasis *basis);
// Positions of all nodes: x [num_nodes][space_dim], allocated by the caller. (A node of a periodic mesh takes
// the position of its last element.)
CEED_EXTERN int RitzSpaceGetNodeCoordinates(RitzSpace space, double *x);
// The same for num nodes, ascending and each once (else CEED_ERROR_DIMENSION): x [num][space_dim].
CEED_EXTERN int RitzSpaceGetCoordinatesOf(RitzSpace space, int64_t num, const int64_t *nodes, double *x);
// Nodes on the boundary part `name`, ascending, each once. *nodes is a new array, to be freed by the caller
// with free(). Errors as RitzMeshGetBoundaryPart.
CEED_EXTERN int RitzSpaceGetBoundaryNodes(RitzSpace space, const char *name, int64_t *num, int64_t **nodes);

#endif
