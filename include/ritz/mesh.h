// SPDX-License-Identifier: BSD-2-Clause
// Meshes: boxes, mesh files, refinement, boundary parts, kinds of elements.
//
// A mesh is a list of elements (lines; triangles and quadrilaterals; tetrahedra, pyramids, prisms and
// hexahedra; all of one dimension), their corners (the topology) and, for every element, the positions of the
// nodes of its map (the geometry). The map of an element is the Lagrange interpolant of degree g = "geometry
// order" through the nodes of its reference element (ritz/basis.h); on lines, quadrilaterals and hexahedra
// that is degree g per direction and nodes at the tensor product of Gauss-Lobatto points of [-1,1].
//
// Elements are grouped in blocks, one for each shape that the mesh has, in the order triangles,
// quadrilaterals or tetrahedra, pyramids, prisms, hexahedra. Element numbers run through the blocks. Meshes
// of one shape have one block and may be asked without knowing of blocks.
//
// Everything inside an element is numbered lexicographically, first reference direction fastest:
//
//        corners              facets                         geometry nodes, g = 2, bottom layer
//      6--------7      0: r = -1   1: r = +1                    6---7---8
//     /|       /|      2: s = -1   3: s = +1        t  s        |       |
//    4--------5 |      4: t = -1   5: t = +1        | /         3   4   5
//    | 2------|-3                                   |/          |       |
//    |/       |/       facet 2 d + side             +---- r     0---1---2
//    0--------1
//
// The other reference elements also lie in [-1,1]^dim. Their corners, and their facets with the corners of
// each:
//
//    triangle     (-1,-1) (1,-1) (-1,1)
//                 0: r = -1 (0 2)   1: s = -1 (0 1)   2: r + s = 0 (1 2)
//    tetrahedron  the triangle at t = -1, then (-1,-1,1)
//                 0: r = -1 (0 2 3)   1: s = -1 (0 1 3)   2: t = -1 (0 1 2)   3: r + s + t = -1 (1 2 3)
//    prism        the triangle at t = -1, then at t = 1
//                 0: r = -1 (0 2 3 5)   1: s = -1 (0 1 3 4)   2: r + s = 0 (1 2 4 5)
//                 3: t = -1 (0 1 2)   4: t = 1 (3 4 5)
//    pyramid      (-1,-1) (1,-1) (-1,1) (1,1) at t = -1, then the apex (0,0,1)
//                 0: 2 r = t - 1 (0 2 4)   1: 2 r = 1 - t (1 3 4)   2: 2 s = t - 1 (0 1 4)
//                 3: 2 s = 1 - t (2 3 4)   4: t = -1 (0 1 2 3)
//
// A boundary part is a named set of facets (an element and the number of one of its facets). A facet may
// belong to several parts. The name "all" stands for every exterior facet (one that belongs to a single
// element), unless the mesh has a part of this name. Regions are integer attributes of elements with optional
// names. They may overlap: elements in a region that shares elements with another one have a negative number
// instead, -1 - k, of overlap k, which is a list of regions; elements of the same regions have the same
// overlap.
//
// Memory: 8 * space_dim bytes per node, 8 per corner and 4 per element, each element for itself; 16 bytes per
// exterior facet and per facet of a part. A mesh is immutable once made and may be shared; all arrays handed
// out belong to it and live as long as it does.
#ifndef RITZ_MESH_H
#define RITZ_MESH_H

#include <ceed.h>
#include <stdint.h>
#include <stdio.h>

typedef struct RitzMesh_private *RitzMesh;

// How simple the map of an element is; decides how its geometric factors are best obtained.
typedef enum {
  RITZ_ELEMENT_AFFINE = 0,    // constant Jacobian: parallelepiped, straight simplex
  RITZ_ELEMENT_TRILINEAR = 1, // not affine, but the Lagrange map of degree 1 (bilinear on quadrilaterals)
  RITZ_ELEMENT_CURVED = 2,    // anything else
} RitzElementKind;

// Maps the point X[dim] of the undeformed box to x[space_dim]; returns 0, anything else makes the creation
// fail with that code.
typedef int (*RitzMapFunction)(void *ctx, CeedInt dim, const double *X, double *x);

// ---- Creation ----

// Box [lower, upper] in dim = 1, 2, 3 dimensions with n[d] elements in direction d, geometry of degree
// order >= 1. `map`, if not NULL, is evaluated once at every geometry node (so the geometry is its
// interpolant). Boundary parts are xmin, xmax, ymin, ymax, zmin, zmax; elements are ordered
// lexicographically. lower and upper may be NULL: 0 and 1. Errors: CEED_ERROR_DIMENSION (sizes),
// CEED_ERROR_MAJOR (an element is inverted: its number and smallest Jacobian determinant are named; on a line
// and in the plane a map that reverses everywhere only changes the numbering in the elements).
CEED_EXTERN int RitzMeshCreateBox(Ceed ceed, CeedInt dim, const CeedInt n[], const double lower[],
                                  const double upper[], CeedInt order, RitzMapFunction map, void *map_ctx,
                                  RitzMesh *mesh);

// Reads a file; its first line decides on the format: Gmsh MSH 2.2 and 4.1 (ASCII and binary;
// elements of all shapes of orders 1 to 6, those of order 2 also without nodes inside of faces: these get the
// map of their serendipity functions) and MFEM mesh v1.0, v1.2, v1.3 (straight or with nodes of Lagrange
// collections; on prisms only of H1, on pyramids only of degree 1). Boundary parts and regions take the
// physical names of the file; without a name they are called by their number. Elements are sorted by shape,
// otherwise they keep their order. The file must be a regular one (no pipe: it is not read from stdin) and
// fit into memory twice. Errors: CEED_ERROR_MAJOR for a file that cannot be read or is malformed,
// CEED_ERROR_UNSUPPORTED for a valid file whose contents Ritz does not handle; messages begin with
// "FILE:LINE: " (binary sections: "FILE: byte N: "). Nodes that $Periodic of Gmsh lists as pairs are one
// vertex; geometry stays as it is in each element. A period needs at least 3 elements.
CEED_EXTERN int RitzMeshRead(Ceed ceed, const char *path, RitzMesh *mesh);

// The same with options; start from zeros and set what differs.
typedef struct {
  bool ignore_periodic;  // nodes that $Periodic of Gmsh lists as pairs stay apart
  bool merge;            // vertices closer than ...
  double merge_distance; // ... this, or as close, become one; geometry stays as it is in each element
} RitzMeshReadOptions;
CEED_EXTERN int RitzMeshReadWith(Ceed ceed, const char *path, const RitzMeshReadOptions *options,
                                 RitzMesh *mesh);

// A mesh from arrays, all of them borrowed during the call.
typedef struct {
  CeedElemTopology topology;
  int64_t num_elem;
  const int64_t *vertices; // [num_elem][corners]
  const double *x;         // [num_elem][nodes][space_dim], NULL: the corners at vertex_x
} RitzMeshArrayBlock;
typedef struct {
  const char *name; // NULL: its number
  int32_t number;
} RitzMeshSet;
typedef struct {
  int64_t elem;
  int8_t facet; // of the element
  int32_t part; // index into the boundary parts
} RitzMeshFacet;
typedef struct {
  CeedInt dim, space_dim, order; // of elements, of space, of the geometry
  int64_t num_vertices;
  CeedInt num_blocks;
  const RitzMeshArrayBlock *blocks; // [num_blocks]: a shape each, in the order of blocks, none empty
  const double *vertex_x;           // [num_vertices][space_dim], for order 1; or NULL
  const int32_t *elem_regions;      // region numbers of all elements, or NULL: all 1
  CeedInt num_regions;
  const RitzMeshSet *regions; // names of regions, may be fewer than there are numbers
  CeedInt num_parts;
  const RitzMeshSet *parts;
  int64_t num_facets; // of boundary parts
  const RitzMeshFacet *facets;
} RitzMeshArrays;
// Corners, facets and nodes are numbered as above; elements that share vertices are neighbours. Checked as
// files are. Vertices that no element has are dropped; the others keep their order. A facet between two
// elements is marked as one of the first of them, whichever is given. Errors: CEED_ERROR_DIMENSION (numbers
// of blocks and vertices, facets that are not there), CEED_ERROR_INCOMPATIBLE (a list is missing),
// CEED_ERROR_MAJOR (what the arrays mean is no mesh: no elements, shapes that do not go together, parts that
// are not there; the element is named).
CEED_EXTERN int RitzMeshCreate(Ceed ceed, const RitzMeshArrays *arrays, RitzMesh *mesh);

// Splits every element into 2^dim children of its shape, a pyramid into 6 pyramids and 4 tetrahedra, `levels`
// times (0: another reference to the same mesh). The inner octahedron of a tetrahedron is cut along its
// shortest diagonal. The children carry the restriction of the parent's polynomial map, so curved geometry is
// kept exactly (only inside pyramids, whose maps are rational, it is interpolated); parts and regions are
// inherited. Without pyramids the children of element e are e*2^dim .. e*2^dim + 2^dim - 1, lexicographic in
// lines, quadrilaterals and hexahedra. With pyramids each block has the children of the elements of its own
// shape first, then those of pyramids. A refined mesh keeps its parent (RitzMeshGetCoarser), and so all
// meshes below it: 1 / (2^dim - 1) more memory. Errors: CEED_ERROR_DIMENSION (sizes), CEED_ERROR_MAJOR (a
// child is inverted where its parent was not tested).
CEED_EXTERN int RitzMeshRefine(RitzMesh mesh, CeedInt levels, RitzMesh *refined);

// The mesh that this one is a refinement of: the parent of a refined mesh (kept by RitzMeshRefine, one level
// at a time), of a box with even numbers of elements the box with half as many, made by the first call and
// kept: its geometry is the fine map at the nodes of the coarse elements, of the same degree, its boundary
// parts and regions have the same names. Another reference. *coarse NULL, no error: there is none (meshes of
// files, odd numbers, meshes cut by RitzMeshSplit, boxes of which a coarse element would be inverted).
CEED_EXTERN int RitzMeshGetCoarser(RitzMesh mesh, RitzMesh *coarse);

// Cuts elements into others of the shape `into`; elements of this shape are kept. (A mesh that has no
// others: another reference to it.) Parts and regions are inherited; curved geometry is interpolated at the
// nodes of the new elements.
//   TRIANGLE  quadrilaterals into 2
//   TET       hexahedra into 6, prisms into 3, pyramids into 2
//   PYRAMID   hexahedra into 6 with a new vertex at the centre (cut into tetrahedra again: 12 of them)
//   PRISM     hexahedra into 2 along their third direction. Where a face would be cut on one side only, or
//             the top of an element in another direction than its bottom: CEED_ERROR_UNSUPPORTED. Boxes can
//             be cut.
// Quadrilateral faces are cut at their vertex of smallest number, so neighbours agree; a box of hexahedra is
// cut into Kuhn's tetrahedra. New elements follow the order of the old ones. Errors: CEED_ERROR_UNSUPPORTED
// (other shapes), CEED_ERROR_MAJOR (a new element is inverted, as may happen in strongly bent elements).
CEED_EXTERN int RitzMeshSplit(RitzMesh mesh, CeedElemTopology into, RitzMesh *split);

CEED_EXTERN int RitzMeshReferenceCopy(RitzMesh mesh, RitzMesh *copy); // as CeedVectorReferenceCopy
CEED_EXTERN int RitzMeshDestroy(RitzMesh *mesh);

// ---- Queries ----

CEED_EXTERN Ceed RitzMeshReturnCeed(RitzMesh mesh); // borrowed
// Dimensions of the elements and of the space they are in. Either pointer may be NULL.
CEED_EXTERN int RitzMeshGetDimensions(RitzMesh mesh, CeedInt *dim, CeedInt *space_dim);
// Number of elements of all blocks.
CEED_EXTERN int RitzMeshGetNumElements(RitzMesh mesh, int64_t *num_elem);
// Number of vertices: corners that elements share count once.
CEED_EXTERN int RitzMeshGetNumVertices(RitzMesh mesh, int64_t *num_vertices);
// Degree g of the maps of the elements.
CEED_EXTERN int RitzMeshGetGeometryOrder(RitzMesh mesh, CeedInt *order);
// Whether the mesh is a rectangular box with edges along the axes: made by RitzMeshCreateBox (or a coarser
// one of such), with all geometry nodes where planes between elements place them, up to 1e-10 of the box.
// n [3]: elements in each direction (1 beyond dim); planes [3]: n[d] + 1 coordinates of the planes of
// direction d, ascending or descending, each to be freed by the caller with free() (NULL beyond dim). No such
// box: *is_box false, planes NULL, *elem the first element that is not rectangular, -1: the mesh was not made
// as a box.
CEED_EXTERN int RitzMeshGetRectangularBox(RitzMesh mesh, bool *is_box, CeedInt n[3], double *planes[3],
                                          int64_t *elem);

// Number of blocks, one for each shape that the mesh has.
CEED_EXTERN int RitzMeshGetNumBlocks(RitzMesh mesh, CeedInt *num_blocks);
// Block `block`: its shape, the number of its first element, how many it has, vertices [num_elem][corners]
// and geometry nodes x [num_elem][nodes][space_dim]. All results may be NULL.
CEED_EXTERN int RitzMeshGetBlock(RitzMesh mesh, CeedInt block, CeedElemTopology *topology, int64_t *first,
                                 int64_t *num_elem, const int64_t **vertices, const double **x);
// The same for meshes of one shape; meshes of several shapes: CEED_ERROR_UNSUPPORTED.
CEED_EXTERN int RitzMeshGetTopology(RitzMesh mesh, CeedElemTopology *topology);      // shape of all elements
CEED_EXTERN int RitzMeshGetElementVertices(RitzMesh mesh, const int64_t **vertices); // [num_elem][corners]
// x [num_elem][nodes][space_dim]; (g+1)^dim nodes on lines, quadrilaterals, hexahedra
CEED_EXTERN int RitzMeshGetElementCoordinates(RitzMesh mesh, const double **x);

// regions [num_elem]: numbers of regions; or of overlaps, as above, where the mesh has some.
CEED_EXTERN int RitzMeshGetElementRegions(RitzMesh mesh, const int32_t **regions);
// Number of different regions.
CEED_EXTERN int RitzMeshGetNumRegions(RitzMesh mesh, CeedInt *num_regions);
// Regions ascend by number. name and number may be NULL.
CEED_EXTERN int RitzMeshGetRegion(RitzMesh mesh, CeedInt index, const char **name, int32_t *number);
CEED_EXTERN int RitzMeshGetNumOverlaps(RitzMesh mesh, CeedInt *num_overlaps); // 0: no regions overlap
// regions [*num_regions]: the regions, ascending, that the elements of number -1 - index belong to.
CEED_EXTERN int RitzMeshGetOverlap(RitzMesh mesh, CeedInt index, CeedInt *num_regions,
                                   const int32_t **regions);
// Groups of the file of dimension 0 (points) or 1 (curves) that are neither regions nor boundary parts, as
// their dimension is less than that of the mesh by 2 or more: Ritz only knows their names.
CEED_EXTERN int RitzMeshGetNumUnusedGroups(RitzMesh mesh, CeedInt dim, CeedInt *num_groups);
CEED_EXTERN int RitzMeshGetUnusedGroup(RitzMesh mesh, CeedInt dim, CeedInt index, const char **name);

// Number of boundary parts, and the name of part 0 <= part < *num_parts, which belongs to the mesh (beyond:
// CEED_ERROR_DIMENSION).
CEED_EXTERN int RitzMeshGetNumBoundaryParts(RitzMesh mesh, CeedInt *num_parts);
CEED_EXTERN int RitzMeshGetBoundaryPartName(RitzMesh mesh, CeedInt part, const char **name);
// Facets of the part called `name` ("all": the exterior facets, as above). elements and facets are new arrays
// of length *num, to be freed by the caller with free(); either may be NULL. An unknown name is
// CEED_ERROR_INCOMPATIBLE, and the message lists the names there are.
CEED_EXTERN int RitzMeshGetBoundaryPart(RitzMesh mesh, const char *name, int64_t *num, int64_t **elements,
                                        int8_t **facets);

// Vertex patches: the 2^dim elements around an inner vertex that lie as in a grid (the vertex belongs to no
// other element), for all vertices that have one, ascending by their first elements. elements
// [*num][2^dim], lexicographic in the directions of the patch, those of its first element but for their
// signs: it is at the patch's lower corner. axes [*num][2^dim][dim]: direction d of the patch is direction
// axes[d] of the element, the other way round where that is negative: -1 - axes[d]. Both are new arrays, to
// be freed by the caller with free(). Elements other than lines, quadrilaterals, hexahedra:
// CEED_ERROR_UNSUPPORTED.
CEED_EXTERN int RitzMeshGetVertexPatches(RitzMesh mesh, int64_t *num, int64_t **elements, int8_t **axes);

// Kind of every element: kinds [num_elem] (may be NULL), counts [3] (may be NULL). A map counts as affine
// when it differs from the affine map that fits its corners best (least squares), and as trilinear when it
// differs from the Lagrange map of degree 1 through its corners, by at most tolerance * diameter of the
// element at every geometry node. So straight simplices are affine, and prisms and pyramids with straight
// edges are affine where the fit is exact, else trilinear. tolerance < 0
// selects 1e-12 (100 eps with a margin for coordinates read from decimal files). Deviations up to the
// rounding of the coordinates themselves, 8 eps times the largest one of the element, never count.
CEED_EXTERN int RitzMeshClassifyElements(RitzMesh mesh, double tolerance, RitzElementKind *kinds,
                                         int64_t counts[3]);

// Integral of det J (of the metric's root for surfaces) by max(g+1, ceil(3g/2)) Gauss points per direction,
// on the other shapes by a rule of degree 3 g, which is exact unless the mesh is a surface or curve in a
// space of higher dimension, and the extremes over these points and the corners (but apexes of pyramids).
// Inverted elements are looked for at the same points. Results may be NULL.
CEED_EXTERN int RitzMeshGetMeasure(RitzMesh mesh, double *measure, double *min_det, double *max_det);

// The same integral of each element: measures [num_elem].
CEED_EXTERN int RitzMeshGetElementMeasures(RitzMesh mesh, double *measures);

// Where elements meet, but do not share vertices: files with hanging nodes, or whose parts were not merged,
// are read as meshes with cracks. A vertex of the boundary that lies on an element which does not have it (by
// up to 1e-6 of its reference coordinates) coincides with a corner of it, or hangs on an edge, a face or
// inside. CEED_ERROR_UNSUPPORTED: geometry of a degree above 16.
typedef struct {
  int64_t num_coincident, num_hanging;    // vertices of the boundary
  double coincident_at[3], hanging_at[3]; // the first of each
} RitzMeshCracks;
CEED_EXTERN int RitzMeshFindCracks(RitzMesh mesh, RitzMeshCracks *cracks);

// Multi-line summary: shape, sizes, order, kinds, bounding box, parts with their facet counts, regions.
CEED_EXTERN int RitzMeshView(RitzMesh mesh, FILE *stream);

// ---- Geometry as a Ceed field ----

// The coordinates as a field of degree g with space_dim components: an element restriction and an L-vector,
// to be used with a basis of P = g+1 Gauss-Lobatto nodes. Nodes are shared between elements (offsets) when
// all neighbours agree on them to rounding; otherwise (periodic meshes) the field is discontinuous and the
// restriction strided. Both objects belong to the caller.
// Meshes of several shapes: CEED_ERROR_UNSUPPORTED.
CEED_EXTERN int RitzMeshCreateCoordinates(RitzMesh mesh, Ceed ceed, CeedElemRestriction *rstr, CeedVector *x);
// The same for every mesh: rstr [num_blocks], one restriction for each block, all of the one L-vector x. With
// several blocks a discontinuous field has offsets, too; CEED_ERROR_UNSUPPORTED if they exceed 32 bits.
CEED_EXTERN int RitzMeshCreateBlockCoordinates(RitzMesh mesh, Ceed ceed, CeedElemRestriction rstr[],
                                               CeedVector *x);
// A basis of degree g with space_dim components for the coordinates of a block, and a quadrature that is
// exact to quad_degree: quad_degree / 2 + 1 Gauss points per direction on lines, quadrilaterals, hexahedra.
CEED_EXTERN int RitzMeshCreateBlockBasis(RitzMesh mesh, CeedInt block, Ceed ceed, CeedInt quad_degree,
                                         CeedBasis *basis);

#endif
