// SPDX-License-Identifier: BSD-2-Clause
// What the parts of the Gmsh reader share: element types and the contents of a file, independent of its
// version. Used by mesh/gmsh*.c.
#ifndef RITZ_MESH_GMSH_H
#define RITZ_MESH_GMSH_H

#include "mesh/reader.h"

// ---- Element types (mesh/gmsh-cells.c) ----
typedef struct {
  int code;
  RitzShape shape;
  int degree, num_nodes;
  bool is_incomplete; // no nodes inside of faces or of the element ("serendipity")
} RitzGmshType;

const RitzGmshType *ritz_gmsh_find_type(int64_t code); // NULL: unknown

// Incomplete types have degree 2 and lack at most 7 nodes. The complete type of the same nodes and these;
// others: itself.
const RitzGmshType *ritz_gmsh_complete_type(const RitzGmshType *type);
// Of an incomplete type: the nodes that it lacks as sums of those that it has, [lacking][num_nodes].
void ritz_gmsh_fill_weights(const RitzGmshType *type, double *weights);

enum { RITZ_GMSH_MAX_DEGREE = 6, RITZ_GMSH_MAX_NODES = 343 }; // of the complete types known here

// lattice[m] is the number of the m-th node on the lattice of a mesh. Complete types only, no points.
void ritz_gmsh_fill_lattice(const RitzGmshType *type, int64_t *lattice);

// ---- Contents of a file ----
typedef struct {
  int64_t tag, place;
  double x[3];
} RitzGmshNode;

typedef struct {
  const RitzGmshType *type;
  int64_t place;
  int64_t first;            // its nodes: tags[first] ...
  int32_t entity, physical; // physical: version 2.2 only; 0: none; -1, -2, ...: several, a list of `shared`
} RitzGmshElement;

typedef struct {
  int dim;
  int32_t tag;
  int64_t first, num; // its physical groups: groups[first] ...
} RitzGmshEntity;

typedef struct {
  int dim;
  int32_t tag;
  int64_t place;
  char *name; // owned
} RitzGmshName;

typedef struct {
  RitzMeshText *text; // borrowed
  int version;        // 2 for 2.2, 4 for 4.1; 0 before $MeshFormat
  bool is_binary, has_entities, ignores_periodic;
  int64_t num_nodes, nodes_capacity;
  RitzGmshNode *nodes; // owned
  int64_t num_elements, elements_capacity;
  RitzGmshElement *elements; // owned
  int64_t num_tags, tags_capacity;
  int64_t *tags; // owned
  int64_t num_entities, entities_capacity;
  RitzGmshEntity *entities; // owned; sorted by (dim, tag) once the file is read
  int64_t num_groups, groups_capacity;
  int32_t *groups;      // owned, positive; ascending in an entity once the file is read
  RitzMeshLists shared; // owned: groups, ascending, of cells of version 2.2 that are in several
  int64_t num_pairs, pairs_capacity;
  int64_t *pairs; // owned, [num_pairs][2]: tags of nodes that are one, slave and master
  int64_t num_names, names_capacity;
  RitzGmshName *names; // owned; sorted by (dim, tag) once the file is read
} RitzGmshFile;

// Sections; their keywords have been taken and $End... is left.
int ritz_gmsh2_read_nodes(RitzGmshFile *file); // mesh/gmsh2.c
int ritz_gmsh2_read_parametric_nodes(RitzGmshFile *file);
int ritz_gmsh2_read_elements(RitzGmshFile *file);
int ritz_gmsh4_read_entities(RitzGmshFile *file); // mesh/gmsh4.c
int ritz_gmsh4_read_nodes(RitzGmshFile *file);
int ritz_gmsh4_read_elements(RitzGmshFile *file);

int ritz_gmsh_read_periodic(RitzGmshFile *file); // mesh/gmsh-periodic.c

// For the sections (mesh/gmsh.c): makes room for `count` more nodes or elements; adds an element, whose nodes
// are to be put at *tags.
int ritz_gmsh_reserve_nodes(RitzGmshFile *file, int64_t count);
int ritz_gmsh_reserve_elements(RitzGmshFile *file, int64_t count);
int ritz_gmsh_add_element(RitzGmshFile *file, RitzGmshElement element, int64_t **tags);
int ritz_gmsh_require_type(const RitzGmshFile *file, int64_t code, const RitzGmshType **type);

// Tags of nodes into an empty table, where their numbers are indices (mesh/gmsh-draft.c).
int ritz_gmsh_enter_tags(const RitzGmshFile *file, RitzMeshTable *map);
// Vertices of a whole draft that $Periodic lists as pairs become one (mesh/gmsh-periodic.c).
int ritz_gmsh_close_periods(const RitzGmshFile *file, RitzMeshDraft *draft);

// Turns the contents into a draft (mesh/gmsh-draft.c).
int ritz_gmsh_fill_draft(RitzGmshFile *file, RitzMeshDraft *draft);

// The groups of an element (mesh/gmsh-groups.c): directly in version 2.2, through its entity in 4.1.
int ritz_gmsh_find_groups(const RitzGmshFile *file, const RitzGmshElement *element, int64_t *num,
                          const int32_t **groups);
// The names of groups of one dimension, sorted. *known is new.
int ritz_gmsh_list_names(const RitzGmshFile *file, int dim, int64_t *num_known, RitzReaderName **known);

// Boundary parts of the draft and groups that it has no use for (mesh/gmsh-groups.c), regions
// (mesh/gmsh-regions.c), after the nodes of all elements of dimension dim and dim - 1 have become indices.
// cells[draft->num_elem] are the elements that the draft keeps; is_used[num_nodes] marks their nodes.
int ritz_gmsh_name_unused(const RitzGmshFile *file, RitzMeshDraft *draft);
int ritz_gmsh_name_regions(const RitzGmshFile *file, const int64_t *cells, RitzMeshDraft *draft);
int ritz_gmsh_name_parts(const RitzGmshFile *file, const bool *is_used, RitzMeshDraft *draft);

#endif
