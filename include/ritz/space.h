// SPDX-License-Identifier: BSD-2-Clause
// Continuous finite element spaces of degree p with n components on a mesh: node numbering, element
// restriction, Dirichlet nodes.
//
// Nodes sit at the Gauss-Lobatto points of every element; neighbours share the nodes of common vertices,
// edges and faces whatever their relative rotation. The numbering follows the elements: the nodes of an edge,
// face or interior are consecutive and get their numbers when the first element that has them is met, so that
// neighbouring memory is used by neighbouring elements. Boxes (RitzMeshCreateBox, not refined, not reversed
// by their map) are numbered lexicographically, first direction fastest: rows of nodes are consecutive, which
// kernels make use of.
//
// L-vector: component c of node i at i * num_comp + c (interlaced, component stride 1), length num_nodes *
// num_comp. Memory: 8 (p+1)^dim bytes per element.
#ifndef RITZ_SPACE_H
#define RITZ_SPACE_H

#include <ritz/mesh.h>

typedef struct RitzSpace_private *RitzSpace;

// degree >= 1, num_comp >= 1, sizes that fit into 64 bits (else CEED_ERROR_DIMENSION). Holds a reference to
// the mesh.
CEED_EXTERN int RitzSpaceCreate(RitzMesh mesh, CeedInt degree, CeedInt num_comp, RitzSpace *space);
CEED_EXTERN int RitzSpaceDestroy(RitzSpace *space);

CEED_EXTERN int RitzSpaceGetMesh(RitzSpace space, RitzMesh *mesh); // borrowed
CEED_EXTERN int RitzSpaceGetDegree(RitzSpace space, CeedInt *degree);
CEED_EXTERN int RitzSpaceGetNumComponents(RitzSpace space, CeedInt *num_comp);
CEED_EXTERN int RitzSpaceGetNumNodes(RitzSpace space, int64_t *num_nodes);
CEED_EXTERN int RitzSpaceGetSize(RitzSpace space, CeedSize *l_size); // num_nodes * num_comp
// [num_elem][(p+1)^dim] node numbers, lexicographic in the element; belongs to the space.
CEED_EXTERN int RitzSpaceGetElementNodes(RitzSpace space, const int64_t **nodes);
// Owned by the caller. CEED_ERROR_UNSUPPORTED when an offset exceeds what CeedInt offsets can address.
CEED_EXTERN int RitzSpaceCreateRestriction(RitzSpace space, Ceed ceed, CeedElemRestriction *rstr);
// Positions of all nodes: x [num_nodes][space_dim], allocated by the caller. (A node of a periodic mesh takes
// the position of its last element.)
CEED_EXTERN int RitzSpaceGetNodeCoordinates(RitzSpace space, double *x);
// Nodes on the boundary part `name`, ascending, each once. *nodes is a new array, to be freed by the caller
// with free(). Errors as RitzMeshGetBoundaryPart.
CEED_EXTERN int RitzSpaceGetBoundaryNodes(RitzSpace space, const char *name, int64_t *num, int64_t **nodes);

#endif
