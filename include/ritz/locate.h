// SPDX-License-Identifier: BSD-2-Clause
// Points in meshes: in which element a point lies and where in it; points sorted by element, as operators at
// points want them. For particles, tracers, material points, probes, and values taken from one mesh to
// another (doc/points.md).
#ifndef RITZ_LOCATE_H
#define RITZ_LOCATE_H

#include <ritz/mesh.h>

// ---- Elements of points ----
//
// A locator finds the reference coordinates xi of a point x in the element whose map takes xi to x, for all
// shapes, straight or curved, on lines, in the plane and in space, on surfaces and curves in spaces of higher
// dimension. Elements whose boxes have the point are looked up in a tree of boxes; in each the map is
// inverted by Newton's method, damped, from the centre, and where no element is found so, from the nearest
// nodes of its geometry.
//
// The boxes hold all of their elements: on the cube that collapses to the reference element the map is a
// polynomial of the geometry's degree in each direction (on pyramids, too), which lies in the convex hull of
// its Bernstein coefficients (G. Farin, Curves and Surfaces for CAGD, 5th ed., 2002, ch. 5 and 16). The tree
// is packed: elements in Morton order of their centres, eight to a node (I. Kamel and C. Faloutsos, On
// packing R-trees, CIKM 1993).
//
// A point belongs to an element if xi lies in the reference element or outside of it by at most `tolerance`
// in the reference coordinates (edges have length 2), plus 16 roundings of the position. Of several elements
// that a point belongs to, as on facets, edges and vertices, it is given to the one of lowest number. On
// surfaces and curves it must also be no farther from the element than `tolerance` times its extent.
//
// Memory: 19 bytes an element for each dimension of space, and 8; the mesh is referenced. Making it takes
// time linear in the number of elements; finding a point grows like its logarithm. A locator is immutable and
// may be used by several threads at once.
typedef struct RitzLocator_private *RitzLocator;

// tolerance < 0 selects 1e-10. Errors: CEED_ERROR_INCOMPATIBLE (a tolerance above 0.01, or not a number),
// CEED_ERROR_UNSUPPORTED (a geometry of degree above 16).
CEED_EXTERN int RitzLocatorCreate(RitzMesh mesh, double tolerance, RitzLocator *locator);
CEED_EXTERN int RitzLocatorReferenceCopy(RitzLocator locator,
                                         RitzLocator *copy); // as CeedVectorReferenceCopy
CEED_EXTERN int RitzLocatorDestroy(RitzLocator *locator);
// The mesh that it was made for.
CEED_EXTERN int RitzLocatorGetMesh(RitzLocator locator, RitzMesh *mesh); // borrowed

// The elements of num_points points x [num_points][space_dim], and their reference coordinates xi
// [num_points][dim] (may be NULL): arrays of the caller's on the host. Points in no element, also those that
// are not finite numbers, get element -1 and xi 0. hints [num_points], NULL: none: an element for each point
// that is looked at first, as that of the step before; -1: none. It may be the array `elements`. Hints change
// no result where the sizes of neighbours differ by less than 1 / sqrt(tolerance). Points are shared among
// the threads of the mesh's context. Errors: CEED_ERROR_DIMENSION (a negative number, a hint that is no
// element: the first such point is named).
CEED_EXTERN int RitzLocatorFind(RitzLocator locator, int64_t num_points, const double *x,
                                const int64_t *hints, int64_t *elements, double *xi);

// ---- Points by element ----

// Sorts points by element: *offsets is what CeedElemRestrictionCreateAtPoints takes for the elements first ..
// first + num_elem - 1 (those of a block of the mesh, say), a new array, to be freed by the caller with
// free(). Its first num_elem + 1 entries say where the list of an element begins, the others are the numbers
// of the points in these lists, ascending in each:
//
//     listed points          offsets[num_elem] - num_elem - 1
//     points of element k    offsets[offsets[k]] .. offsets[offsets[k + 1] - 1]
//     the order by element   offsets + num_elem + 1: point i of the new order is this entry i of the old one
//
// Points of other elements, and of none (-1), are in no list: L-vectors may hold them all the same. Programs
// that bring their data into the new order number the entries of the lists 0, 1, 2 ... themselves. Time and
// memory are linear. Errors: CEED_ERROR_DIMENSION (a negative size), CEED_ERROR_UNSUPPORTED (more than
// CeedInt offsets can address).
CEED_EXTERN int RitzPointsSort(Ceed ceed, int64_t num_points, const int64_t *elements, int64_t first,
                               CeedInt num_elem, CeedInt **offsets);

#endif
