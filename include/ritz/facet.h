// SPDX-License-Identifier: BSD-2-Clause
// Facets of boundary parts, and interior facets, for integrals over them: restrictions, bases and coordinates
// of the elements that have a facet there, on all shapes, curved ones, too. Operators made of these are
// operators like any other; ritz/geometry.h makes those of functions of values, gradients and normals
// (RitzGeometryCreateBoundaryOperator, RitzGeometryCreateInteriorFacetOperator).
//
// The facets of a part are in blocks: facets of one shape of elements and one shape of their own, whichever
// facet of its element each is. Elements are turned so that all of a block have their facet at the same place
// of the reference element, and so that x_a x x_b (2D: x_a turned by -90 degrees) points outwards. Positions
// on a facet are (a, b) in its reference element (LINE, TRIANGLE, QUAD); (a, b, c), c along an edge of the
// element that leaves the facet, are coordinates beside it. With x_a, x_b, x_c the derivatives of the map,
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
//     ELEMENT   all nodes of the element: values, and gradients in (a, b, c), num_comp * dim of them.
//               Bases have tables, and cost as dense bases do.
//     TRACE     the nodes on the facet: values, and derivatives along a and b. Not on lines, whose facets are
//               points. Tensor bases on quadrilaterals and lines.
//
// Interior facets have an element on each of two sides. A block has facets of one shape, between elements of
// two shapes that are the same for all of them. The element of side 1 is turned so that both see the points
// of the facet alike: position (a, b) of side 0 is position (a, b) of side 1, node k of one trace lies where
// node k of the other one lies (in a continuous space they are the same node). "Outwards" is out of side 0.
// Prisms beside quadrilaterals and pyramids beside triangles cannot be turned in all ways: there the bases of
// side 1 differ from block to block, which is why each side has a basis of its own. On a periodic mesh the
// coordinates of the sides differ by the period.
#ifndef RITZ_FACET_H
#define RITZ_FACET_H

#include <ritz/mesh.h>
#include <ritz/product.h>
#include <ritz/space.h>

typedef struct RitzFacets_private *RitzFacets;

typedef enum { RITZ_FACET_ELEMENT, RITZ_FACET_TRACE } RitzFacetNodes;

// The facets of the boundary part `name` (RitzMeshGetBoundaryPart; "all": the exterior facets). Holds a
// reference to the mesh. A part without facets, as parts of a mesh may have, has no blocks. Memory: 9 bytes a
// facet. Errors as RitzMeshGetBoundaryPart.
CEED_EXTERN int RitzFacetsCreate(RitzMesh mesh, const char *name, RitzFacets *facets);
// The facets between two elements; on periodic meshes between the last and the first ones, too. A mesh
// without any has no blocks. Memory: 19 bytes a facet; for the while 16 bytes and a table of the facets'
// vertices. CEED_ERROR_UNSUPPORTED: a part of a mesh (ritz/partition.h), which does not have the elements
// beyond its facets.
CEED_EXTERN int RitzFacetsCreateInterior(RitzMesh mesh, RitzFacets *facets);
CEED_EXTERN int RitzFacetsDestroy(RitzFacets *facets);

// Number of blocks: facets of a block have one shape and lie on elements of one shape.
CEED_EXTERN int RitzFacetsGetNumBlocks(RitzFacets facets, CeedInt *num_blocks);
// Shapes of elements and facets (0 for points, the facets of lines), and for each facet its element, by its
// number in the mesh, and its number in the element; arrays [*num] belong to the facets. Of interior facets:
// side 0. Pointers may be NULL. CEED_ERROR_DIMENSION: there is no such block; so below.
CEED_EXTERN int RitzFacetsGetBlock(RitzFacets facets, CeedInt block, CeedElemTopology *element,
                                   CeedElemTopology *facet, int64_t *num, const int64_t **elements,
                                   const int8_t **numbers);
// The same of a side: 0, and 1 of interior facets (else CEED_ERROR_DIMENSION; so below).
CEED_EXTERN int RitzFacetsGetSide(RitzFacets facets, CeedInt block, CeedInt side, CeedElemTopology *element,
                                  const int64_t **elements, const int8_t **numbers);

// E-vector of a space of the same mesh (else CEED_ERROR_INCOMPATIBLE) on the facets of a block: L-vector of
// the space -> [facet][node][component]. Errors as RitzSpaceCreateElementsRestriction.
CEED_EXTERN int RitzFacetsCreateRestriction(RitzFacets facets, CeedInt block, RitzFacetNodes nodes,
                                            RitzSpace space, Ceed ceed, CeedElemRestriction *rstr);
CEED_EXTERN int RitzFacetsCreateSideRestriction(RitzFacets facets, CeedInt block, CeedInt side,
                                                RitzFacetNodes nodes, RitzSpace space, Ceed ceed,
                                                CeedElemRestriction *rstr);
// The same of space i in a product: from and to L-vectors of the product.
CEED_EXTERN int RitzFacetsCreateProductRestriction(RitzFacets facets, CeedInt block, CeedInt side,
                                                   RitzFacetNodes nodes, RitzProductSpace product, CeedInt i,
                                                   Ceed ceed, CeedElemRestriction *rstr);
// Lagrange basis of these nodes, and quadrature on the facet that is exact to quad_degree
// (RitzBasisCreateLagrange of the facet's shape; the one point of a point).
CEED_EXTERN int RitzFacetsCreateBasis(RitzFacets facets, CeedInt block, RitzFacetNodes nodes, Ceed ceed,
                                      CeedInt num_comp, CeedInt degree, CeedInt quad_degree,
                                      CeedBasis *basis);
CEED_EXTERN int RitzFacetsCreateSideBasis(RitzFacets facets, CeedInt block, CeedInt side,
                                          RitzFacetNodes nodes, Ceed ceed, CeedInt num_comp, CeedInt degree,
                                          CeedInt quad_degree, CeedBasis *basis);
// Coordinates of the mesh on the facets of a block, space_dim components, and their restriction, for a basis
// of the mesh's geometry order. Boundary facets: 8 * space_dim bytes a node of each facet. Interior facets: 4
// bytes a node of each facet, and one vector of 8 * space_dim bytes a geometry node of each element of the
// mesh, which all blocks and sides share.
CEED_EXTERN int RitzFacetsCreateCoordinates(RitzFacets facets, CeedInt block, RitzFacetNodes nodes, Ceed ceed,
                                            CeedElemRestriction *rstr, CeedVector *x);
CEED_EXTERN int RitzFacetsCreateSideCoordinates(RitzFacets facets, CeedInt block, CeedInt side,
                                                RitzFacetNodes nodes, Ceed ceed, CeedElemRestriction *rstr,
                                                CeedVector *x);

#endif
