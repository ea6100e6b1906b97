// SPDX-License-Identifier: BSD-2-Clause
// Inside of meshes: the struct, what a reader hands over (RitzMeshDraft), what the files of mesh/ share. Used
// by mesh/ only.
#ifndef RITZ_MESH_MESH_H
#define RITZ_MESH_MESH_H

#include <ritz/mesh.h>
#include <ritz/partition.h>
#include <ritz/space.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/ranges.h"

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

// The elements of one shape. Arrays over elements and their corners (nodes) hold the blocks one after the
// other, each [num_elem][num_corners] ([num_elem][num_nodes]).
typedef struct {
  CeedElemTopology topology;
  int64_t num_elem;
  // Set by ritz_mesh_draft_lay_out:
  int64_t first;       // number of the first element
  int num_corners;     // of an element
  int64_t num_nodes;   // of the geometry of an element
  int64_t corner_base; // corners of all blocks before
  int64_t node_base;   // geometry nodes of all blocks before
} RitzMeshBlock;
enum { RITZ_MESH_MAX_BLOCKS = 4 }; // tetrahedra, pyramids, prisms, hexahedra

// Makes room for `needed` items of `size` bytes in *array, which has room for *capacity of them now; grows
// by half at least (mesh/lists.c). Fails without changing anything.
int ritz_mesh_reserve(Ceed ceed, int64_t needed, size_t size, int64_t *capacity, void **array);

// A list of numbers for each of `num` things (mesh/lists.c).
typedef struct {
  int64_t num, max_num, max_items; // room for max_num starts
  int64_t *starts;                 // owned, [num + 1]
  int32_t *items;                  // owned
} RitzMeshLists;
int ritz_mesh_lists_append(Ceed ceed, RitzMeshLists *lists, int64_t num_items, const int32_t *items);
int ritz_mesh_lists_copy(Ceed ceed, const RitzMeshLists *lists, RitzMeshLists *copy); // copy: empty
void ritz_mesh_lists_clear(RitzMeshLists *lists);

// Groups of a file that are neither regions nor parts: of points, of curves that are no facets.
typedef struct {
  CeedInt num;
  RitzMeshName *names; // owned
} RitzMeshUnused;
enum { RITZ_MESH_UNUSED_DIMS = 2 };

// Size of a mesh: length, area or volume, and the extremes of the determinants that were taken.
typedef struct {
  bool is_known;
  double value, min_det, max_det;
} RitzMeshMeasure;

typedef struct RitzMeshSeam RitzMeshSeam;

// Edges or facets of all elements.
typedef struct {
  int64_t num;                        // of the mesh
  int64_t base[RITZ_MESH_MAX_BLOCKS]; // where the numbers of a block begin
  int64_t *numbers;                   // owned, blocks one after the other, each [num_elem][entities]
} RitzMeshNumbers;

// Edges and faces of a mesh, found by mesh/topology.c. Bytes an element: 8 for each edge and face of it, and
// 4; 148 of a hexahedron, 84 of a tetrahedron.
typedef struct {
  int max_dim; // of the entities that are known: 0, 1 (edges) or 2 (faces, too), less than that of the mesh
  RitzMeshNumbers edges; // 1D: none
  RitzMeshNumbers faces; // 3D only
  // owned, [num_elem]: bit k: no element before has its corner k, and so for edges and faces
  uint32_t *is_new;
} RitzMeshTopology;
enum { RITZ_MESH_EDGE_BIT = 8, RITZ_MESH_FACE_BIT = 20 }; // of the first edge and the first face

struct RitzMesh_private {
  const RitzClass *class;
  Ceed ceed; // counted
  int ref_count;
  CeedInt dim, space_dim, order;
  int num_blocks;
  RitzMeshBlock blocks[RITZ_MESH_MAX_BLOCKS];
  int64_t num_elem, num_vertices;
  int64_t num_points;     // geometry nodes of all elements
  int64_t grid[3];        // elements a direction of a box, elements and vertices lexicographic; else zeros
  bool is_rectangular;    // a box that planes cut into elements of degree 1; false: not, or not known
  int64_t *elem_vertices; // owned, corners of all elements, lexicographic
  double *coords;         // owned, geometry nodes of all elements, [space_dim] each
  int32_t *elem_regions;  // owned, [num_elem]
  CeedInt num_regions, num_parts;
  RitzMeshName *regions, *parts;                // owned; regions ascending by number
  RitzMeshLists overlaps;                       // owned: the regions of elements whose number is -1, -2, ...
  RitzMeshUnused unused[RITZ_MESH_UNUSED_DIMS]; // owned, by dimension
  int64_t num_marks;                            // in no order, no duplicates
  RitzMeshMark *marks;                          // owned
  RitzMesh coarser;        // counted: what this mesh is a refinement of; NULL: nothing, or not made yet
  bool is_coarsest;        // a box that has been found to have no coarser one
  RitzMeshMeasure measure; // found when the mesh was checked, or when it was asked for
  RitzMeshSeam *seam;      // owned: what a part shares with others; NULL: the mesh is a whole one
  // Made when nodes are numbered, and kept for further spaces as long as there is one, or until a hierarchy
  // has got all of its spaces. Boxes have none.
  RitzMeshTopology topology;
  int num_spaces; // continuous ones
};

// A mesh as found in a file (or made by a generator), before any check that needs the topology. All arrays
// are owned by the draft. Readers fill it; ritz_mesh_build turns it into a mesh. Unset pointers are NULL.
//
// A draft with elements of one shape may leave num_blocks 0 and say `topology` and num_elem instead.
// Otherwise it gives shape and number of elements of every block, ascending by shape (the order of
// CeedElemTopology, each at most once, none empty), and leaves `topology` and num_elem to
// ritz_mesh_draft_lay_out.
typedef struct {
  CeedElemTopology topology;
  CeedInt dim, space_dim, order;
  int64_t num_elem, num_vertices;
  int num_blocks;
  RitzMeshBlock blocks[RITZ_MESH_MAX_BLOCKS];
  int64_t num_places;     // corners of all elements; set by ritz_mesh_draft_lay_out
  int64_t num_points;     // geometry nodes of all elements; set by ritz_mesh_draft_lay_out
  int64_t *elem_vertices; // [num_places] lexicographic corners, each in [0, num_vertices): checked by the
                          // reader
  double *coords;         // [num_points][space_dim] at Lagrange nodes (fe.h), finite: checked by the reader
  int32_t *elem_regions;  // [num_elem] region numbers, or NULL (all 1)
  int64_t *elem_place;    // [num_elem] line of the element in the file, or NULL
  CeedInt num_regions, num_parts;
  RitzMeshName *regions, *parts; // names may be NULL: then the number is the name
  RitzMeshLists overlaps;        // as in a mesh; none: negative numbers are numbers of regions
  RitzMeshUnused unused[RITZ_MESH_UNUSED_DIMS];
  int64_t num_labels;      // facet labels
  int64_t *label_vertices; // [num_labels][2^(dim-1)] vertices of the facet in any order; triangles in
                           // space: the last one is -1
  int32_t *label_part;     // [num_labels] index into parts
  int64_t *label_place;    // [num_labels] line in the file, or NULL
  bool may_be_empty;       // blocks without elements are no error: a part of a mesh
  // Elements a direction of a box whose elements and vertices are lexicographic, and whose facets on side i
  // are labelled with part i; else zeros. It need not be checked for what a box cannot have.
  int64_t grid[3];
  bool is_rectangular;     // such a box whose elements of degree 1 lie between planes
  RitzMeshMeasure measure; // set by ritz_mesh_check_orientation
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
// Moves the arrays of a draft that is laid out into a new mesh without marks.
int ritz_mesh_create_from(Ceed ceed, RitzMeshDraft *draft, RitzMesh *mesh);

// Sets everything that follows from dim, order and the shapes and sizes of the blocks (or from `topology` and
// num_elem when there are no blocks yet). For readers before they allocate; ritz_mesh_build does it again.
// Sizes that cannot be counted and shapes that do not go together are CEED_ERROR_MAJOR.
int ritz_mesh_draft_lay_out(Ceed ceed, const char *source, RitzMeshDraft *draft);

// Steps of ritz_mesh_build. Each names the element it complains about.
int ritz_mesh_check_sizes(Ceed ceed, const char *source, RitzMeshDraft *draft); // lays it out, too
int ritz_mesh_check_vertices(Ceed ceed, const char *source, const RitzMeshDraft *draft);
int ritz_mesh_check_coordinates(Ceed ceed, const char *source, const RitzMeshDraft *draft);
int ritz_mesh_check_duplicates(Ceed ceed, const char *source, const RitzMeshDraft *draft);
// Renumbers clockwise elements when may_reverse, and then the draft is no grid any more; otherwise they are
// errors. Finds the measure.
int ritz_mesh_check_orientation(Ceed ceed, const char *source, RitzMeshDraft *draft, bool may_reverse);

// CeedError with "SOURCE: text", or "SOURCE:LINE: text" when places is not NULL. Returns code.
int ritz_mesh_error(Ceed ceed, const char *source, const int64_t *places, int64_t index, int code,
                    const char *format, ...);

// ---- Objects (mesh/mesh.c) ----
int ritz_mesh_create_empty(Ceed ceed, RitzMesh *mesh); // with one reference, everything else zero
void ritz_mesh_names_clear(CeedInt num, RitzMeshName **names);
// Regions, parts and what else has names, for a mesh made from another one; partial after a failure.
int ritz_mesh_copy_sets(RitzMesh from, RitzMesh to);
// CEED_ERROR_DIMENSION unless there is such a block; CEED_ERROR_UNSUPPORTED unless there is only one.
int ritz_mesh_check_block(RitzMesh mesh, CeedInt block, const char *call);
int ritz_mesh_require_one_block(RitzMesh mesh, const char *call, const char *block_call);
// The block that element e belongs to.
int ritz_mesh_find_block(int num_blocks, const RitzMeshBlock *blocks, int64_t e);
// Whether the part of this index (or RITZ_MESH_EXTERIOR: "all", unless another part is) is called so.
bool ritz_mesh_part_has_name(RitzMesh mesh, int32_t part, const char *name);
// Sorts by (part, element, facet) and removes duplicates.
void ritz_mesh_marks_sort(int64_t *num, RitzMeshMark *marks);

// Products of sizes >= 0; -1 when the result exceeds 2^63 - 1 or a factor is -1 already.
int64_t ritz_mesh_product(int num, const int64_t factors[]);
int64_t ritz_mesh_power(int64_t base, int exponent);
// Whether arrays of so many bytes can lie in the memory of this machine, half of them on disk; asked before
// anything is made. Where the system does not tell how much it has: 2^47 bytes, what processors address.
bool ritz_mesh_fits(double num_bytes);

// Number of the point `at` of a grid with size[3] points a direction, the first direction fastest, and back
// (mesh/box.c).
int64_t ritz_mesh_grid_index(const int64_t at[3], const int64_t size[3]);
void ritz_mesh_grid_place(int64_t index, const int64_t size[3], int64_t at[3]);

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
uint64_t ritz_mesh_mix(uint64_t z); // a bijection that leaves no pattern
void ritz_mesh_sort_vertices(int num, int64_t *vertices);

// ---- Shapes (mesh/shape.c) ----
// The edges or facets of a reference element: their corners, lexicographic in the free directions. Facets are
// numbered as ritz/mesh.h says; edge d 2^(dim-1) + k of a tensor shape is parallel to direction d, k counts
// the ends of the other directions lexicographically.
typedef struct {
  int num, num_corners; // num_corners = 2^dimension; triangles have one less, the last of their corners is -1
  int8_t corner[12][4];
} RitzMeshEntities;
typedef struct {
  CeedElemTopology topology;
  const char *plural; // "tetrahedra"
  int dim, num_corners;
  bool is_tensor;         // LINE, QUAD, HEX
  int8_t corner_at[8][3]; // lattice of degree 1
  RitzMeshEntities edges, facets;
} RitzMeshShape;
enum { RITZ_MESH_MAX_FACETS = 6, RITZ_MESH_MAX_CORNERS = 8 };
const RitzMeshShape *ritz_mesh_shape(CeedElemTopology topology);    // NULL: unknown
RitzMeshEntities ritz_mesh_local_facets(int dim);                   // of LINE, QUAD or HEX
int ritz_mesh_entity_size(const RitzMeshEntities *entities, int i); // corners of entity i
// key [num_corners]: the vertices of entity i, ascending. Triangles begin with -1.
void ritz_mesh_entity_key(const RitzMeshEntities *entities, int i, const int64_t *vertices, int64_t *key);

// Nodes of degree p >= 0 (fe/fe.h says where): how many, -1 if they cannot be counted; place of a lattice
// point in their order.
int64_t ritz_mesh_num_nodes(CeedElemTopology topology, int64_t p);
int64_t ritz_mesh_lattice_index(CeedElemTopology topology, int64_t p, const int64_t at[3]);
// The point of the lattice of degree p that has shares[k] / p of corners[k], k = 1 .. num-1, and what is left
// of corners[0]. (On a quadrilateral face three corners are enough, and shares may exceed p.)
void ritz_mesh_lattice_point(const RitzMeshShape *shape, int64_t p, const int8_t *corners, int num,
                             const int64_t *shares, int64_t at[3]);

// ---- Parts of a mesh (mesh/seam.c; made by mesh/submesh.c) ----
// Vertices, edges or faces that a part of a mesh shares with other parts.
typedef struct {
  RitzMeshTable table; // owned: entities by their vertices, which ascend (triangles begin with -1)
  RitzMeshLists parts; // owned: the others that have it, ascending
  RitzMeshLists marks; // owned: the boundary parts it lies on, or RITZ_MESH_EXTERIOR, ascending
} RitzMeshShared;
struct RitzMeshSeam {
  CeedInt num_parts, part;
  int64_t *keys;            // owned, [num_vertices]: the same in all parts, also after refinement
  RitzMeshShared shared[3]; // by dimension, those below the dimension of the mesh
  // Slabs of a box: part i has the layers layers[i] .. layers[i + 1] - 1 of elements in the last direction;
  // the mesh is a box itself (grid). NULL: other parts.
  int64_t *layers;     // owned, [num_parts + 1]
  bool is_rectangular; // the box as a whole, known to all parts
};
// An empty table of entities of a dimension, with keys as ritz_mesh_seam_key makes them.
int ritz_mesh_seam_table(Ceed ceed, int dim, RitzMeshTable *table);
// *seam belongs to the caller, also after a failure.
int ritz_mesh_seam_create(Ceed ceed, CeedInt dim, int64_t num_vertices, RitzMeshSeam **seam);
void ritz_mesh_seam_clear(RitzMeshSeam **seam);
// Vertices of an entity as a key of the table: the corners `corners` [num] of an element. Returns the number
// of vertices of a key, of an entity of this dimension.
int ritz_mesh_seam_key(int dim, int num, const int8_t *corners, const int64_t *vertices, int64_t key[4]);
// The number of the shared entity with these corners of an element, -1: it is not shared.
int64_t ritz_mesh_seam_find(const RitzMeshSeam *seam, int dim, int num, const int8_t *corners,
                            const int64_t *vertices);
// Makes a box (mesh->grid) part `part` of the slabs of a larger one, with layers [num_parts + 1] as in the
// seam (mesh/submesh.c). Nothing is changed after a failure.
int ritz_mesh_become_slab(RitzMesh mesh, CeedInt num_parts, CeedInt part, const int64_t layers[],
                          bool is_rectangular);
// layers [num_parts + 1] of slabs of num_layers >= num_parts layers: bounds are multiples of the largest
// power of two for which slabs are equal within 5 %, so that they have coarser ones (mesh/slab.c).
void ritz_mesh_choose_layers(int64_t num_layers, CeedInt num_parts, int64_t layers[]);
// Nodes of degree p, or vertices (p = 1), of a plane between layers of a box.
int64_t ritz_mesh_plane_nodes(RitzMesh mesh, int64_t degree);
// Whether any of an element's vertices is shared.
bool ritz_mesh_seam_touches(const RitzMeshSeam *seam, int num_corners, const int64_t *vertices);
// The seam of the pieces of a part.
typedef struct RitzMeshCut RitzMeshCut;
int ritz_mesh_seam_divide(const RitzMeshCut *cut, RitzMesh fine);
// A key that orders vertices alike in all parts of a mesh: their numbers where it is whole.
static inline int64_t ritz_mesh_vertex_key(RitzMesh mesh, int64_t vertex) {
  return mesh->seam ? mesh->seam->keys[vertex] : vertex;
}
// A key from those of num <= 8 vertices, in any order.
int64_t ritz_mesh_mix_keys(int num, const int64_t *keys);

// ---- Edges and faces (mesh/topology.c) ----
// The elements of a mesh or a draft: all that their edges and facets follow from.
typedef struct {
  Ceed ceed;
  int64_t num_vertices;
  int num_blocks;
  const RitzMeshBlock *blocks;  // borrowed
  const int64_t *elem_vertices; // borrowed
} RitzMeshCells;
RitzMeshCells ritz_mesh_cells(RitzMesh mesh);
RitzMeshCells ritz_mesh_draft_cells(Ceed ceed, const RitzMeshDraft *draft); // laid out
// One number for each edge or facet, by its vertices, in the order of first appearance, on any number of
// threads. While they are found: 8 bytes a corner of the elements and 16 a vertex more.
typedef enum { RITZ_MESH_EDGES, RITZ_MESH_FACETS } RitzMeshEntityKind;
// *numbers belong to the caller, also after a failure.
int ritz_mesh_number_entities(const RitzMeshCells *cells, RitzMeshEntityKind kind, RitzMeshNumbers *numbers);
// A table of them by their vertices, with the same numbers; belongs to the caller, also after a failure.
int ritz_mesh_table_entities(const RitzMeshCells *cells, RitzMeshEntityKind kind,
                             const RitzMeshNumbers *numbers, RitzMeshTable *table);
// next [num_slots]: how many things each thread has; then the number of its first one, from `first` on.
// Returns the number behind the last one.
int64_t ritz_mesh_count_slots(int num_slots, int64_t first, int64_t *next);

// Entities up to a dimension, those of elements' interiors left out.
int ritz_mesh_topology_create(RitzMesh mesh, int max_dim, RitzMeshTopology *topology);
void ritz_mesh_topology_clear(RitzMeshTopology *topology);
// mesh->topology has vertices and, where max_dim is 1 or 2, edges, or edges and faces; max_dim < mesh->dim.
int ritz_mesh_require_topology(RitzMesh mesh, int max_dim);

// ---- Elements around an element (mesh/neighbours.c) ----
// An element in the directions of another one, or of a vertex: direction d of the frame is direction axis[d]
// of the element, the other way round where is_reversed[d].
typedef struct {
  int64_t elem; // -1: there is none
  int8_t axis[3];
  bool is_reversed[3];
} RitzMeshFrame;
typedef struct {
  RitzMesh mesh;   // borrowed
  int64_t *across; // owned, [num_elem][2 dim]: 2 dim element + facet beyond a facet, -1: nothing; NULL: a box
} RitzMeshNeighbours;
// CEED_ERROR_UNSUPPORTED for elements that are no lines, quadrilaterals, hexahedra.
int ritz_mesh_require_tensor(RitzMesh mesh, const char *call);
// Errors of ritz_mesh_require_tensor. Clear it in any case.
int ritz_mesh_neighbours_create(RitzMesh mesh, const char *call, RitzMeshNeighbours *n);
void ritz_mesh_neighbours_clear(RitzMeshNeighbours *n);
// Element e with this corner at the upper end of the frame; the last corner: its own directions.
RitzMeshFrame ritz_mesh_frame(int64_t e, int corner);
// frames [base^dim], lexicographic, frames[0] given: digit 0 stands for the place of frames[0] in a
// direction, 1 for the one beyond its upper side, 2 (base 3) for the one beyond its lower side. Places
// without an element, or where the mesh is no grid, have elem -1.
void ritz_mesh_neighbours_around(const RitzMeshNeighbours *n, int base, RitzMeshFrame *frames);

// ---- Nodes of a reference element by vertices, edges, faces and interior (mesh/entity-nodes.c) ----
typedef struct {
  int dim;           // of the entity
  int number;        // of the corner, edge or face in the element; interior: 0
  int num_corners;   // interior: all
  int8_t corner[8];  // as in the tables of the shape
  int64_t num_nodes; // in its interior
  int64_t *nodes;    // borrowed: their local numbers; along an edge, lexicographic on a face seen from corner
                     // 0, its first axis towards corner 1, its second one towards corner 2
} RitzMeshEntityNodes;
typedef struct {
  int num;
  RitzMeshEntityNodes entities[27]; // ordered by their first nodes
  int64_t num_nodes;                // of the element
  int64_t *nodes;                   // owned
} RitzMeshElementNodes;
int ritz_mesh_element_nodes_create(Ceed ceed, CeedElemTopology topology, CeedInt degree,
                                   RitzMeshElementNodes *element);
void ritz_mesh_element_nodes_clear(RitzMeshElementNodes *element);
// Whether the entity lies on the facet with these corners (-1: none).
bool ritz_mesh_entity_lies_on(const RitzMeshEntityNodes *entity, const int8_t facet[4]);

// ---- Numbering (mesh/numbering.c) ----
// Continuous numbering of the nodes of degree p: nodes of all elements, blocks one after the other, allocated
// by the caller; *num_nodes is their number.
//
// An edge is directed from its smaller to its larger vertex. The frame of a quadrilateral face starts at its
// smallest vertex, first axis towards the smaller of that vertex's two neighbours on the face; that of a
// triangular face at its smallest vertex, first axis towards the next larger one. Smaller and larger are
// those of ritz_mesh_vertex_key. Numbers follow first appearance in element order, whatever the number of
// threads.
int ritz_mesh_number_nodes(RitzMesh mesh, CeedInt degree, int64_t *num_nodes, int64_t *nodes);
// Entities of one kind of boundary: edges, triangles or quadrilaterals. order[orientation][i] is the place in
// the common frame of the node that is number i in the frame of the element.
typedef struct {
  int64_t num_nodes;
  int64_t *order; // owned, [2, 6 or 8][num_nodes]
} RitzMeshOrders;
typedef struct {
  int dim; // of the mesh
  RitzMeshOrders edges, triangles, quads;
} RitzMeshFrames;
int ritz_mesh_frames_create(RitzMesh mesh, int64_t degree, RitzMeshFrames *frames);
void ritz_mesh_frames_clear(RitzMeshFrames *frames);
// The order of the nodes of an entity with these vertices in its common frame; NULL: as
// they are.
const int64_t *ritz_mesh_frame_order(RitzMesh mesh, const RitzMeshFrames *f,
                                     const RitzMeshEntityNodes *entity, const int64_t *vertices);
// Boxes (mesh->grid) are numbered lexicographically, which takes no memory: how many nodes there are, the
// nodes of one element.
int64_t ritz_mesh_grid_num_nodes(RitzMesh mesh, int64_t degree);
void ritz_mesh_grid_nodes(RitzMesh mesh, int64_t degree, int64_t e, int64_t *nodes);
// Its smallest and its largest node.
void ritz_mesh_grid_range(RitzMesh mesh, int64_t degree, int64_t e, int64_t range[2]);

// ---- Geometry of one element (mesh/geometry.c) ----
// y [Q^dim][space_dim] = M[dim-1] x ... x M[0] applied to x [P^dim][space_dim]; each M[d] is [Q][P]. work:
// ritz_mesh_map_work_size doubles.
void ritz_mesh_map_points(CeedInt dim, CeedInt space_dim, CeedInt P, CeedInt Q, const double *const M[],
                          const double *x, double *y, double *work);
int64_t ritz_mesh_map_work_size(CeedInt dim, CeedInt space_dim, CeedInt P, CeedInt Q); // -1: overflow

// y [num_points][space_dim] = M x, space_dim <= 3, for M [num_points][num_nodes], x [num_nodes][space_dim].
void ritz_mesh_map_dense(CeedInt space_dim, int64_t num_points, int64_t num_nodes, const double *M,
                         const double *x, double *y);

// Takes an element's geometry nodes to its nodes of degree p.
typedef struct {
  const RitzMeshShape *shape;
  CeedInt space_dim, P, Q;       // P = g + 1, Q = p + 1
  int64_t num_nodes, num_points; // of degree g and p
  double *matrix;                // owned, [Q][P] on tensor shapes, else [num_points][num_nodes]
  double *work;                  // owned
} RitzMeshInterpolation;
int ritz_mesh_interpolation_create(Ceed ceed, CeedElemTopology topology, CeedInt space_dim, CeedInt order,
                                   CeedInt degree, RitzMeshInterpolation *interpolation);
void ritz_mesh_interpolation_clear(RitzMeshInterpolation *interpolation);
// y [num_points][space_dim] from x [num_nodes][space_dim].
void ritz_mesh_interpolation_apply(const RitzMeshInterpolation *interpolation, const double *x, double *y);

// Smallest and largest coordinate: low, high [space_dim] of num_points points x [num_points][space_dim].
void ritz_mesh_bounds(CeedInt space_dim, int64_t num_points, const double *x, double *low, double *high);

// ---- Determinants of one element (mesh/sampler.c) ----
// Takes Jacobian determinants (for surfaces the root of the metric's determinant) of element maps of degree g
// at quadrature points and at the corners (but the apex of a pyramid). Tensor shapes: max(g+1, ceil(3g/2))
// Gauss points per direction, enough to integrate det J exactly; others: a rule of degree 3 g (0 for straight
// simplices), which is enough, too.
typedef struct {
  const RitzMeshShape *shape;
  CeedInt space_dim, P; // P = g + 1
  CeedInt Q;            // Gauss points per direction of tensor shapes
  int64_t num_nodes;
  int64_t num_gauss, num_points; // quadrature points, all points
  double *interp, *grad;         // owned, [Q][P] at the Gauss points of tensor shapes
  double *end_grad;              // owned, [2][P] at -1 and 1, tensor shapes
  double *dense_grad;            // owned, [dim][num_points][num_nodes], other shapes
  double *weights;               // owned, [num_gauss]
  double *det;                   // owned, [num_points], quadrature points first
  double *work;                  // owned
} RitzMeshSampler;
// Fills sampler->det for the element with nodes x [num_nodes][space_dim].
void ritz_mesh_sampler_take(RitzMeshSampler *sampler, const double *x);
// One for each of num threads.
int ritz_mesh_samplers_create(Ceed ceed, CeedElemTopology topology, CeedInt space_dim, CeedInt order, int num,
                              RitzMeshSampler **samplers);
void ritz_mesh_samplers_clear(int num, RitzMeshSampler **samplers);

// ---- Measure (mesh/measure.c) ----
// Parts of threads, joined so that the result does not depend on how many there are.
typedef struct {
  int num_slots;
  double *low, *high; // owned, [num_slots]: extremes of the determinants
  double *sums;       // owned, [num_elem]: of the elements
} RitzMeshMeasuring;
int ritz_mesh_measuring_create(Ceed ceed, int num_slots, int64_t num_elem, RitzMeshMeasuring *m);
void ritz_mesh_measuring_clear(RitzMeshMeasuring *m);
// Enters element e, whose determinants the sampler has taken.
void ritz_mesh_measure_element(RitzMeshMeasuring *m, int slot, int64_t e, const RitzMeshSampler *sampler);
RitzMeshMeasure ritz_mesh_measuring_result(const RitzMeshMeasuring *m, int64_t num_elem);
// Of a draft that is rectangular, from the sides of one row of elements in each direction. Not known where
// some determinant is not positive and finite.
RitzMeshMeasure ritz_mesh_measure_rows(const RitzMeshDraft *draft);

// ---- Cutting elements into others (mesh/divide.c) ----
// A piece of an element: its corners are points of the element's lattice of degree 2, and its reference
// element is mapped to the piece by an affine map of positive determinant.
typedef struct {
  CeedElemTopology topology;
  int8_t node[RITZ_MESH_MAX_CORNERS]; // unused ones are 0
} RitzMeshChild;
typedef struct {
  int num;
  RitzMeshChild child[10];
} RitzMeshDivision;
struct RitzMeshCut {
  RitzMesh mesh;    // borrowed
  const char *call; // begins messages
  int64_t num_vertices;
  void *ctx;
  // The pieces of element e; the vertex at a point of its lattice of degree 2. `block` is its block.
  void (*choose)(const void *ctx, int block, int64_t e, RitzMeshDivision *division);
  int64_t (*vertex)(const void *ctx, int block, int64_t e, int node);
};
// Pieces of one shape follow the order of the elements and in each that of its division. Geometry is
// interpolated at the nodes of the pieces; regions and marks are inherited.
int ritz_mesh_divide(const RitzMeshCut *cut, RitzMesh *pieces);
// Exchanges two corners (of prisms: at both ends) if the determinant is negative otherwise.
void ritz_mesh_child_orient(const RitzMeshShape *parent, RitzMeshChild *child);
// The point of the lattice of degree 2 at a corner.
int8_t ritz_mesh_corner_node(const RitzMeshShape *shape, int corner);
// Positions x [nodes][dim], in an element of the shape `parent`, of the nodes of degree p of its piece.
int ritz_mesh_child_positions(Ceed ceed, CeedElemTopology parent, const RitzMeshChild *child, CeedInt degree,
                              double *x);

// ---- Refinement (mesh/refine.c) ----
// In how many ways RitzMeshRefine cuts elements of a shape, the way it cuts element e, and the pieces that
// this makes, in the order of RitzMeshRefine.
int ritz_mesh_num_refinements(CeedElemTopology topology);
int ritz_mesh_refinement_of(RitzMesh mesh, int block, int64_t e);
void ritz_mesh_refinement(CeedElemTopology topology, int way, RitzMeshDivision *division);

// ---- Spaces (mesh/space.c) ----
// The nodes of element e of a block, written to scratch [nodes of an element] as long as nobody has asked for
// all of them.
const int64_t *ritz_space_nodes(RitzSpace space, int block, int64_t e, int64_t *scratch);
// Kept nodes of element e of a block: numbers of 64 bits, of 32, or, of boxes and discontinuous spaces whose
// nodes nobody has asked for, none.
typedef struct {
  const int64_t *wide;
  const int32_t *narrow;
} RitzKeptNodes;
RitzKeptNodes ritz_space_kept_nodes(RitzSpace space, int block, int64_t e);
static inline bool ritz_are_kept(const RitzKeptNodes *nodes) { return nodes->wide || nodes->narrow; }
static inline int64_t ritz_kept_node(const RitzKeptNodes *nodes, int64_t i) {
  return nodes->narrow ? nodes->narrow[i] : nodes->wide[i];
}
// CEED_ERROR_UNSUPPORTED for discontinuous spaces.
int ritz_space_require_continuous(RitzSpace space, const char *call);
int64_t ritz_space_num_local(RitzSpace space, int block);
// Nodes of element k of a list of elements, which may be written to scratch. Called by several threads.
typedef const int64_t *(*RitzNodesFunction)(const void *ctx, int64_t k, int64_t *scratch);
// Where the entries of a space are in an L-vector: from `first` on, or, of a product on a part of a mesh, its
// first num_owned ones, and the others by a list; and the length of the L-vector.
typedef struct {
  int64_t first, length, num_owned;
  const int64_t *ghosts; // NULL: there is no list
} RitzPlace;
static inline int64_t ritz_place_of(const RitzPlace *place, int64_t entry) {
  const bool is_listed = place->ghosts && entry >= place->num_owned;

  return is_listed ? place->ghosts[entry - place->num_owned] : place->first + entry;
}
// An L-vector of the space's own, with num_more nodes beyond.
RitzPlace ritz_space_place(RitzSpace space, int64_t num_more);
// A restriction to the entries of `space`, where they are in the L-vector, at nodes of num_elem elements,
// num_local each. CEED_ERROR_UNSUPPORTED as RitzSpaceCreateRestriction.
int ritz_space_create_restriction(RitzSpace space, Ceed ceed, const char *call, RitzPlace place,
                                  int64_t num_elem, int64_t num_local, RitzNodesFunction nodes,
                                  const void *ctx, CeedElemRestriction *rstr);
// Restrictions of a block and of some of its elements, as the public functions make them, not kept.
int ritz_space_create_block_restriction(RitzSpace space, CeedInt block, Ceed ceed, const char *call,
                                        RitzPlace place, CeedElemRestriction *rstr);
int ritz_space_create_elements_restriction(RitzSpace space, CeedInt block, Ceed ceed, const char *call,
                                           RitzPlace place, CeedInt num, const CeedInt elements[],
                                           CeedElemRestriction *rstr);

// ---- Partitions (mesh/partition-metis.c) ----
// *is_done false: there is no METIS, or it failed.
int ritz_mesh_partition_metis(RitzMesh mesh, CeedInt num_parts, const double *weights, int32_t *parts,
                              bool *is_done);

// ---- Halos (mesh/halo.c) ----
struct RitzHalo_private {
  const RitzClass *class;
  Ceed ceed; // borrowed
  int64_t num_owned, num_ghosts;
  CeedInt num_neighbours;
  int32_t *parts;        // owned, [num_neighbours], ascending
  int64_t *send_starts;  // owned, [num_neighbours + 1]
  int64_t *send;         // owned: nodes
  int64_t *ghost_starts; // owned, [num_neighbours + 1], from 0
  uint64_t *send_sums;   // owned, [num_neighbours]: of the degree and the keys of what is sent
  uint64_t *ghost_sums;  // owned: likewise
};
// The halo of the nodes of degree `degree`, nodes [num_entries] of all elements, which get other numbers in a
// part of a mesh: owned ones first. A whole mesh owns all of its nodes.
int ritz_halo_create(RitzMesh mesh, CeedInt degree, int64_t num_nodes, int64_t num_entries, int64_t *nodes,
                     RitzHalo *halo);
void ritz_halo_destroy(RitzHalo *halo);

// ---- Readers (mesh/read.c dispatches on the first line) ----
typedef struct RitzMeshText RitzMeshText;
int ritz_mesh_read_gmsh(Ceed ceed, RitzMeshText *text, bool ignores_periodic, RitzMeshDraft *draft);
int ritz_mesh_read_mfem(Ceed ceed, RitzMeshText *text, RitzMeshDraft *draft);

#endif
