// SPDX-License-Identifier: BSD-2-Clause
// Inside of meshes: the struct, what a reader hands over (RitzMeshDraft), what the files of mesh/ share. Used
// by mesh/ only.
#ifndef RITZ_MESH_MESH_H
#define RITZ_MESH_MESH_H

#include <ritz/mesh.h>
#include <ritz/space.h>

#include "core/error.h"
#include "core/memory.h"

// A named set: boundary part or region.
typedef struct {
  char *name;     // owned
  int32_t number; // number in the file (physical tag, attribute)
} RitzMeshName;

// A marked facet.
typedef struct {
  int64_t elem;
  int32_t part; // index into the parts, or RITZ_MESH_EXTERIOR
  int8_t facet;
} RitzMeshMark;
enum { RITZ_MESH_EXTERIOR = -1 }; // the part "all"

struct RitzMesh_private {
  Ceed ceed; // counted
  int ref_count;
  CeedElemTopology topology;
  CeedInt dim, space_dim, order;
  int64_t num_elem, num_vertices;
  int64_t grid[3];        // elements a direction of a box, elements and vertices lexicographic; else zeros
  int64_t *elem_vertices; // owned, [num_elem][2^dim], lexicographic corners
  double *coords;         // owned, [num_elem][(order+1)^dim][space_dim]
  int32_t *elem_regions;  // owned, [num_elem]
  CeedInt num_regions, num_parts;
  RitzMeshName *regions, *parts; // owned; regions ascending by number
  int64_t num_marks;             // in no order, no duplicates
  RitzMeshMark *marks;           // owned
};

// A mesh as found in a file (or made by a generator), before any check that needs the topology. All arrays
// are owned by the draft. Readers fill it; ritz_mesh_build turns it into a mesh. Unset pointers are NULL.
typedef struct {
  CeedElemTopology topology; // LINE, QUAD or HEX
  CeedInt dim, space_dim, order;
  int64_t num_elem, num_vertices;
  int64_t *elem_vertices; // [num_elem][2^dim] lexicographic corners, each in [0, num_vertices): checked by
                          // the reader
  double
      *coords; // [num_elem][(order+1)^dim][space_dim] at Gauss-Lobatto nodes, finite: checked by the reader
  int32_t *elem_regions; // [num_elem] region numbers, or NULL (all 1)
  int64_t *elem_place;   // [num_elem] line of the element in the file, or NULL
  CeedInt num_regions, num_parts;
  RitzMeshName *regions, *parts; // names may be NULL: then the number is the name
  int64_t num_labels;            // facet labels
  int64_t *label_vertices;       // [num_labels][2^(dim-1)] vertices of the facet in any order
  int32_t *label_part;           // [num_labels] index into parts
  int64_t *label_place;          // [num_labels] line in the file, or NULL
} RitzMeshDraft;

// ---- Building (mesh/build.c, checks in mesh/check.c) ----
// Checks the draft against itself (facets shared by more than two elements, labels that match no facet,
// repeated vertices in an element, two identical elements, inverted elements) and makes the mesh from its
// arrays. `source` begins messages ("file.msh", with ":LINE" when a place is known). Vertices used by no
// element are dropped. Regions and numbers found in elements only are added to the regions. On a line or in
// the plane an element that is reversed or clockwise as a whole (det J < 0 everywhere) is renumbered; any
// other element with det J <= 0 at a tested point is an error naming it and its smallest determinant. All
// errors in the data are CEED_ERROR_MAJOR. Always empties the draft.
int ritz_mesh_build(Ceed ceed, const char *source, RitzMeshDraft *draft, RitzMesh *mesh);
void ritz_mesh_draft_clear(RitzMeshDraft *draft);

// Steps of ritz_mesh_build. Each names the element it complains about.
int ritz_mesh_check_sizes(Ceed ceed, const char *source, const RitzMeshDraft *draft);
int ritz_mesh_check_vertices(Ceed ceed, const char *source, const RitzMeshDraft *draft);
int ritz_mesh_check_coordinates(Ceed ceed, const char *source, const RitzMeshDraft *draft);
int ritz_mesh_check_duplicates(Ceed ceed, const char *source, const RitzMeshDraft *draft);
// Renumbers clockwise elements when may_reverse; otherwise they are errors.
int ritz_mesh_check_orientation(Ceed ceed, const char *source, RitzMeshDraft *draft, bool may_reverse);

// CeedError with "SOURCE: text", or "SOURCE:LINE: text" when places is not NULL. Returns code.
int ritz_mesh_error(Ceed ceed, const char *source, const int64_t *places, int64_t index, int code,
                    const char *format, ...);

// ---- Objects (mesh/mesh.c) ----
int ritz_mesh_create_empty(Ceed ceed, RitzMesh *mesh); // with one reference, everything else zero
void ritz_mesh_names_clear(CeedInt num, RitzMeshName **names);
// Sorts by (part, element, facet) and removes duplicates.
void ritz_mesh_marks_sort(int64_t *num, RitzMeshMark *marks);

// Products of sizes >= 0; -1 when the result exceeds 2^63 - 1 or a factor is -1 already.
int64_t ritz_mesh_product(int num, const int64_t factors[]);
int64_t ritz_mesh_power(int64_t base, int exponent);

// ---- Tables of vertex tuples (mesh/table.c) ----
// Numbers distinct tuples of `width` ascending vertices in the order of their first insertion. Expected
// constant time for every input: the hash has a seed that is not known outside.
typedef struct {
  int width;
  int64_t num_keys, max_keys;
  int64_t *keys; // owned, [max_keys][width]
  int64_t num_slots;
  int64_t *slots; // owned, [num_slots] key number + 1, 0: free; at most half of them taken
  uint64_t seed;
} RitzMeshTable;
int ritz_mesh_table_create(Ceed ceed, int width, int64_t expected_keys, RitzMeshTable *table);
int ritz_mesh_table_insert(Ceed ceed, RitzMeshTable *table, const int64_t *key, int64_t *number);
int64_t ritz_mesh_table_find(const RitzMeshTable *table, const int64_t *key); // -1: not there
void ritz_mesh_table_clear(RitzMeshTable *table);
void ritz_mesh_sort_vertices(int num, int64_t *vertices);

// ---- Edges and faces (mesh/topology.c) ----
// The edges or facets of the reference element: their corners, lexicographic in the free directions. Edge
// d 2^(dim-1) + k is parallel to direction d; k counts the ends of the other directions lexicographically.
// Facet 2 d + side.
typedef struct {
  int num, num_corners;
  int8_t corner[12][4];
} RitzMeshEntities;
RitzMeshEntities ritz_mesh_local_edges(int dim);
RitzMeshEntities ritz_mesh_local_facets(int dim);

// Numbers the entities of all elements by their vertices: numbers [num_elem][entities.num], allocated by the
// caller. The table is made here, tells how many there are, and belongs to the caller (also after a failure).
int ritz_mesh_number_entities(Ceed ceed, const RitzMeshEntities *entities, int num_elem_corners,
                              int64_t num_elem, const int64_t *elem_vertices, RitzMeshTable *table,
                              int64_t *numbers);

// Every edge is numbered once and directed from its smaller to its larger vertex; every quadrilateral face
// (3D) once, its frame starts at its smallest vertex, first axis towards the smaller of that vertex's two
// neighbours on the face. Numbers follow first appearance in element order.
typedef struct {
  int64_t num_edges, num_faces;
  int64_t *elem_edges; // owned, [num_elem][edges per element]; 1D: NULL
  int64_t *elem_faces; // owned, [num_elem][6]; NULL unless 3D
} RitzMeshTopology;
int ritz_mesh_topology_create(RitzMesh mesh, RitzMeshTopology *topology);
void ritz_mesh_topology_clear(RitzMeshTopology *topology);

// ---- Numbering (mesh/numbering.c) ----
// Continuous numbering of the nodes of degree p: nodes [num_elem][(p+1)^dim], allocated by the caller;
// *num_nodes is their number.
int ritz_mesh_number_nodes(RitzMesh mesh, CeedInt degree, int64_t *num_nodes, int64_t *nodes);

// ---- Geometry of one element (mesh/geometry.c) ----
// y [Q^dim][space_dim] = M[dim-1] x ... x M[0] applied to x [P^dim][space_dim]; each M[d] is [Q][P]. work:
// ritz_mesh_map_work_size doubles.
void ritz_mesh_map_points(CeedInt dim, CeedInt space_dim, CeedInt P, CeedInt Q, const double *const M[],
                          const double *x, double *y, double *work);
int64_t ritz_mesh_map_work_size(CeedInt dim, CeedInt space_dim, CeedInt P, CeedInt Q); // -1: overflow

// Takes Jacobian determinants (for surfaces the root of the metric's determinant) of element maps of degree
// g at max(g+1, ceil(3g/2)) Gauss points per direction, enough to integrate det J exactly, and at the
// corners.
typedef struct {
  CeedInt dim, space_dim, P;     // P = g + 1
  CeedInt Q;                     // Gauss points per direction
  int64_t num_nodes;             // P^dim
  int64_t num_gauss, num_points; // Q^dim, Q^dim + 2^dim
  double *interp, *grad;         // owned, [Q][P] at the Gauss points
  double *end_grad;              // owned, [2][P] at -1 and 1
  double *weights;               // owned, [num_gauss]
  double *det;                   // owned, [num_points], Gauss points first
  double *work;                  // owned
} RitzMeshSampler;
int ritz_mesh_sampler_create(Ceed ceed, CeedInt dim, CeedInt space_dim, CeedInt order,
                             RitzMeshSampler *sampler);
void ritz_mesh_sampler_clear(RitzMeshSampler *sampler);
// Fills sampler->det for the element with nodes x [P^dim][space_dim].
void ritz_mesh_sampler_take(RitzMeshSampler *sampler, const double *x);

// Smallest and largest coordinate: low, high [space_dim] of num_points points x [num_points][space_dim].
void ritz_mesh_bounds(CeedInt space_dim, int64_t num_points, const double *x, double *low, double *high);

// ---- Readers (mesh/read.c dispatches on the first line) ----
typedef struct RitzMeshText RitzMeshText;
int ritz_mesh_read_gmsh(Ceed ceed, RitzMeshText *text, RitzMeshDraft *draft);
int ritz_mesh_read_mfem(Ceed ceed, RitzMeshText *text, RitzMeshDraft *draft);

#endif
