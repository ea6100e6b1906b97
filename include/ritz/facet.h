// SPDX-License-Identifier: BSD-2-Clause
// Facets of boundary parts for integrals over them: restrictions, bases and coordinates of the elements that
// have a facet there, on all shapes, curved ones, too. Operators made of these are operators like any other;
// ritz/geometry.h makes those of functions of values, gradients and normals
// (RitzGeometryCreateBoundaryOperator).
//
// The facets of a part are in blocks: facets of one shape of elements and one shape of their own, whichever
// facet of its element each is. Elements are turned so that all of a block have their facet at the same place
// of the reference element. Positions on a facet are (a, b) in its reference element (LINE, TRIANGLE, QUAD);
// (a, b, c), c along an edge of the element that leaves the facet, are coordinates beside it. With x_a, x_b,
// x_c the derivatives of the map,
//
//     area = |x_a x x_b| (2D: |x_a|, 1D: 1),   outward normal = -grad c / |grad c|.
//
//     t           block of hexahedra: c = t        quadrilaterals, triangles: c = s      prisms: c = t
//     (triangles), |  s        tetrahedra: c = t                lines: c = r                          s
//     (quadrilaterals) | /         pyramids: to the apex (quadrilaterals), c = s (triangles)
//     +---r
//
// Two sorts of nodes:
//
//     ELEMENT   all nodes of the element: values, and gradients in (a, b, c), num_comp * dim of them. Bases
//     have
//               tables, and cost as dense bases do.
//     TRACE     the nodes on the facet: values, and derivatives along a and b. Elements are turned so that
//               x_a x x_b (2D: x_a turned by -90 degrees) points outwards. Not on lines, whose facets are
//               points. Tensor bases on quadrilaterals and lines.
#ifndef RITZ_FACET_H
#define RITZ_FACET_H

#include <ritz/mesh.h>
#include <ritz/space.h>

typedef struct RitzFacets_private *RitzFacets;

typedef enum { RITZ_FACET_ELEMENT, RITZ_FACET_TRACE } RitzFacetNodes;

// The facets of the boundary part `name` (RitzMeshGetBoundaryPart; "all": the exterior facets). Holds a
// reference to the mesh. A part without facets, as parts of a mesh may have, has no blocks. Memory: 9 bytes a
// facet. Errors as RitzMeshGetBoundaryPart.
CEED_EXTERN int RitzFacetsCreate(RitzMesh mesh, const char *name, RitzFacets *facets);
CEED_EXTERN int RitzFacetsDestroy(RitzFacets *facets);

CEED_EXTERN int RitzFacetsGetNumBlocks(RitzFacets facets, CeedInt *num_blocks);
// Shapes of elements and facets (0 for points, the facets of lines), and for each facet its element, by its
// number in the mesh, and its number in the element; arrays [*num] belong to the facets. Pointers may be
// NULL. CEED_ERROR_DIMENSION: there is no such block; so below.
CEED_EXTERN int RitzFacetsGetBlock(RitzFacets facets, CeedInt block, CeedElemTopology *element,
                                   CeedElemTopology *facet, int64_t *num, const int64_t **elements,
                                   const int8_t **numbers);

// E-vector of a space of the same mesh (else CEED_ERROR_INCOMPATIBLE) on the facets of a block: L-vector of
// the space -> [facet][node][component]. Errors as RitzSpaceCreateElementsRestriction.
CEED_EXTERN int RitzFacetsCreateRestriction(RitzFacets facets, CeedInt block, RitzFacetNodes nodes,
                                            RitzSpace space, Ceed ceed, CeedElemRestriction *rstr);
// Lagrange basis of these nodes, and quadrature on the facet that is exact to quad_degree
// (RitzBasisCreateLagrange of the facet's shape; the one point of a point).
CEED_EXTERN int RitzFacetsCreateBasis(RitzFacets facets, CeedInt block, RitzFacetNodes nodes, Ceed ceed,
                                      CeedInt num_comp, CeedInt degree, CeedInt quad_degree,
                                      CeedBasis *basis);
// Coordinates of the mesh on the facets of a block, space_dim components, and their restriction, for a basis
// of the mesh's geometry order: 8 * space_dim bytes a node of each facet.
CEED_EXTERN int RitzFacetsCreateCoordinates(RitzFacets facets, CeedInt block, RitzFacetNodes nodes, Ceed ceed,
                                            CeedElemRestriction *rstr, CeedVector *x);

#endif
