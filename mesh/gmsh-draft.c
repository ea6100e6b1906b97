// SPDX-License-Identifier: BSD-2-Clause
// Makes the draft of a mesh from the contents of a Gmsh file: cells, their geometry, the space dimension.
// Called by mesh/gmsh.c; groups become parts and regions in mesh/gmsh-groups.c.
//
// Cells are the elements of the largest dimension, grouped by shape; their common degree is the largest that
// occurs. Elements of one dimension less are labels of facets, all others are left out, and so are nodes that
// no cell uses.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/gmsh.h"

typedef struct {
  RitzGmshFile *file;   // borrowed
  RitzMeshDraft *draft; // borrowed
  int64_t *cells;       // owned, [draft->num_elem] indices of elements
  bool *is_used;        // owned, [num_nodes]: by cells
} Conversion;

// ---- Tags of nodes ----

// The number of a tag in the table is the index of its node.
int ritz_gmsh_enter_tags(const RitzGmshFile *file, RitzMeshTable *map) {
  RITZ_TRY(ritz_mesh_table_create(file->text->ceed, 1, file->num_nodes, map));
  for (int64_t i = 0; i < file->num_nodes; i++) {
    int64_t number;

    RITZ_TRY(ritz_mesh_table_insert(file->text->ceed, map, &file->nodes[i].tag, &number));
    if (number != i)
      return ritz_text_fail_at(file->text, file->nodes[i].place, CEED_ERROR_MAJOR,
                               "node %lld is defined twice", (long long)file->nodes[i].tag);
  }
  return CEED_ERROR_SUCCESS;
}

static int resolve_element(RitzGmshFile *file, const RitzMeshTable *map, const RitzGmshElement *element) {
  for (int64_t i = element->first; i < element->first + element->type->num_nodes; i++) {
    int64_t index = ritz_mesh_table_find(map, &file->tags[i]);

    if (index < 0)
      return ritz_text_fail_at(file->text, element->place, CEED_ERROR_MAJOR,
                               "the element uses node %lld, which is not defined", (long long)file->tags[i]);
    file->tags[i] = index;
  }
  return CEED_ERROR_SUCCESS;
}

// In the elements of dimension dim and dim - 1 tags of nodes become indices.
static int resolve_tags(RitzGmshFile *file, int dim) {
  RitzMeshTable map = {0};
  int ierr = ritz_gmsh_enter_tags(file, &map);

  for (int64_t i = 0; i < file->num_elements && !ierr; i++) {
    if (ritz_shapes[file->elements[i].type->shape].dim >= dim - 1)
      ierr = resolve_element(file, &map, &file->elements[i]);
  }
  ritz_mesh_table_clear(&map);
  return ierr;
}

// ---- Choice of cells ----

static int element_dim(const RitzGmshElement *element) { return ritz_shapes[element->type->shape].dim; }

// Finds dimension, shapes and degree of the cells, or declines them.
static int choose_cells(const RitzGmshFile *file, RitzMeshDraft *draft) {
  int64_t counts[RITZ_NUM_SHAPES] = {0};
  const RitzMeshText *text = file->text;

  for (int64_t i = 0; i < file->num_elements; i++) {
    if (element_dim(&file->elements[i]) > draft->dim) draft->dim = element_dim(&file->elements[i]);
  }
  RITZ_TEXT_REQUIRE(draft->dim > 0, text, "the mesh has points, but no elements");
  for (int64_t i = 0; i < file->num_elements; i++) {
    const RitzGmshType *type = file->elements[i].type;

    if (element_dim(&file->elements[i]) != draft->dim) continue;
    if (type->degree > draft->order) draft->order = type->degree;
    counts[type->shape]++;
  }
  return ritz_reader_lay_out(text, counts, draft);
}

// Block after block, each in the order of the file.
static void list_cells(const RitzGmshFile *file, const RitzMeshDraft *draft, int64_t *cells) {
  for (int b = 0; b < draft->num_blocks; b++) {
    RitzShape shape = ritz_reader_block_shape(&draft->blocks[b]);

    for (int64_t i = 0; i < file->num_elements; i++) {
      if (file->elements[i].type->shape == shape) *cells++ = i;
    }
  }
}

static int enter_cell(const Conversion *c, const RitzGmshElement *cell, RitzMeshTable *table,
                      int64_t *number) {
  int64_t key[8];

  memcpy(key, &c->file->tags[cell->first], (size_t)table->width * sizeof(*key));
  ritz_mesh_sort_vertices(table->width, key);
  return ritz_mesh_table_insert(c->file->text->ceed, table, key, number);
}

// A group of a cell beyond its first one.
typedef struct {
  int64_t element;
  int32_t group;
} MoreGroup;

typedef struct {
  int64_t num, capacity;
  MoreGroup *items; // owned
} MoreGroups;

static int add_more_group(const Conversion *c, int64_t element, int32_t group, MoreGroups *more) {
  if (group == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_mesh_reserve(c->file->text->ceed, more->num + 1, sizeof(*more->items), &more->capacity,
                             (void **)&more->items));
  more->items[more->num++] = (MoreGroup){element, group};
  return CEED_ERROR_SUCCESS;
}

// Appends the cells of a block to the *num_kept ones at the beginning of the list, but for repeated ones,
// whose groups go to `more`.
static int keep_cells(const Conversion *c, const RitzMeshBlock *block, int64_t *num_kept, MoreGroups *more) {
  RitzGmshFile *file = c->file;
  RitzMeshTable table = {0};
  int64_t number, *firsts = NULL; // the first cell with the vertices of the table's entry
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY_CLEANUP(RITZ_MALLOC(file->text->ceed, (size_t)block->num_elem, &firsts));
  RITZ_TRY_CLEANUP(ritz_mesh_table_create(file->text->ceed, block->num_corners, block->num_elem, &table));
  for (int64_t e = block->first; e < block->first + block->num_elem; e++) {
    const RitzGmshElement *cell = &file->elements[c->cells[e]];
    int64_t num_known = table.num_keys;

    RITZ_TRY_CLEANUP(enter_cell(c, cell, &table, &number));
    if (number == num_known) firsts[number] = c->cells[e];
    if (file->elements[firsts[number]].physical == cell->physical)
      c->cells[(*num_kept)++] = c->cells[e];
    else
      RITZ_TRY_CLEANUP(add_more_group(c, firsts[number], cell->physical, more));
  }
cleanup:
  ritz_mesh_table_clear(&table);
  RITZ_FREE(&firsts);
  return ierr;
}

static int compare_more(const void *pa, const void *pb) {
  const MoreGroup *a = pa, *b = pb;

  if (a->element != b->element) return a->element < b->element ? -1 : 1;
  return (a->group > b->group) - (a->group < b->group);
}

// Elements with more groups than one get a list of them.
static int join_groups(const Conversion *c, MoreGroups *more) {
  RitzGmshFile *file = c->file;
  int64_t num_first = more->num, num_groups;
  int32_t *groups = NULL;
  int ierr = CEED_ERROR_SUCCESS;

  for (int64_t i = 0; i < num_first; i++) {
    const int64_t element = more->items[i].element;

    RITZ_TRY(add_more_group(c, element, file->elements[element].physical, more));
  }
  if (more->num > 0) qsort(more->items, (size_t)more->num, sizeof(*more->items), compare_more);
  RITZ_TRY(RITZ_MALLOC(file->text->ceed, (size_t)more->num, &groups));
  for (int64_t i = 0; i < more->num; i += num_first) {
    const int64_t element = more->items[i].element;

    num_groups = 0;
    for (num_first = 0; i + num_first < more->num && more->items[i + num_first].element == element;
         num_first++) {
      const int32_t group = more->items[i + num_first].group;

      if (num_groups == 0 || groups[num_groups - 1] != group) groups[num_groups++] = group;
    }
    RITZ_TRY_CLEANUP(ritz_mesh_lists_append(file->text->ceed, &file->shared, num_groups, groups));
    file->elements[element].physical = (int32_t)-file->shared.num;
  }
cleanup:
  RITZ_FREE(&groups);
  return ierr;
}

// Version 2.2 writes a cell that is in several groups several times: the first one stays, and has all groups.
// One that is repeated in its group stays as well, for ritz_mesh_build to complain about.
static int drop_repeated_cells(Conversion *c) {
  RitzMeshDraft *draft = c->draft;
  MoreGroups more = {0};
  int64_t counts[RITZ_NUM_SHAPES] = {0}, num_kept = 0;
  int ierr = CEED_ERROR_SUCCESS;

  for (int b = 0; b < draft->num_blocks; b++) {
    int64_t before = num_kept;

    RITZ_TRY_CLEANUP(keep_cells(c, &draft->blocks[b], &num_kept, &more));
    counts[ritz_reader_block_shape(&draft->blocks[b])] = num_kept - before;
  }
  RITZ_TRY_CLEANUP(join_groups(c, &more));
  ierr = ritz_reader_lay_out(c->file->text, counts, draft);

cleanup:
  RITZ_FREE(&more.items);
  return ierr;
}

static bool has_several_groups(const Conversion *c) {
  for (int64_t e = 1; e < c->draft->num_elem; e++) {
    if (c->file->elements[c->cells[e]].physical != c->file->elements[c->cells[0]].physical) return true;
  }
  return false;
}

// ---- Geometry ----

// The smallest space that holds all nodes of cells: the plane only for z = 0, the line only for y = z = 0.
static CeedInt find_space_dim(const Conversion *c) {
  CeedInt space_dim = c->draft->dim;

  for (int64_t i = 0; i < c->file->num_nodes; i++) {
    if (!c->is_used[i]) continue;
    if (c->file->nodes[i].x[2] != 0) return 3;
    if (c->file->nodes[i].x[1] != 0 && space_dim < 2) space_dim = 2;
  }
  return space_dim;
}

static void mark_used_nodes(const Conversion *c) {
  for (int64_t e = 0; e < c->draft->num_elem; e++) {
    const RitzGmshElement *element = &c->file->elements[c->cells[e]];

    for (int i = 0; i < element->type->num_nodes; i++) c->is_used[c->file->tags[element->first + i]] = true;
  }
}

// Cells of one degree, or incomplete ones: interpolation to the degree of the mesh and order of nodes.
typedef struct {
  RitzReaderNodes nodes;
  int64_t lattice[RITZ_GMSH_MAX_NODES];
  double weights[7 * 20]; // of incomplete cells: ritz_gmsh_fill_weights
} CellMap;

// Maps of all degrees, then that of incomplete cells.
enum { INCOMPLETE = RITZ_GMSH_MAX_DEGREE + 1, NUM_CELL_MAPS };

static int cell_map_create(const Conversion *c, const RitzGmshType *type, CellMap *map) {
  double points[RITZ_GMSH_MAX_DEGREE + 1];
  int p = type->degree;

  ritz_gmsh_fill_lattice(ritz_gmsh_complete_type(type), map->lattice);
  if (type->is_incomplete) ritz_gmsh_fill_weights(type, map->weights);
  for (int i = 0; i <= p; i++) points[i] = (double)(2 * i - p) / p;
  return ritz_reader_nodes_create(c->file->text->ceed, ritz_shapes[type->shape].topology, c->draft->space_dim,
                                  p, points, c->draft->order, &map->nodes);
}

// Coordinate d of node m in the order of the complete type.
static double cell_coordinate(const Conversion *c, const RitzGmshElement *element, const CellMap *map, int m,
                              int d) {
  const int64_t *tags = &c->file->tags[element->first];
  int num_given = element->type->num_nodes;
  double x = 0;

  if (m < num_given) return c->file->nodes[tags[m]].x[d];
  for (int i = 0; i < num_given; i++)
    x += map->weights[(m - num_given) * num_given + i] * c->file->nodes[tags[i]].x[d];
  return x;
}

static int fill_cell_coords(const Conversion *c, const RitzGmshElement *element, const CellMap *map,
                            double *x) {
  int num_nodes = map->nodes.num_in;

  for (int m = 0; m < num_nodes; m++) {
    for (int d = 0; d < c->draft->space_dim; d++)
      map->nodes.in[d * num_nodes + map->lattice[m]] = cell_coordinate(c, element, map, m, d);
  }
  if (ritz_reader_nodes_apply(&map->nodes, x)) return CEED_ERROR_SUCCESS;
  return ritz_text_fail_at(c->file->text, element->place, CEED_ERROR_MAJOR,
                           "the coordinates of the element are too large");
}

static int fill_block_coords(const Conversion *c, const RitzMeshBlock *block, CellMap *maps) {
  RitzMeshDraft *draft = c->draft;
  double *x = draft->coords + block->node_base * draft->space_dim;

  for (int64_t e = block->first; e < block->first + block->num_elem; e++) {
    const RitzGmshElement *element = &c->file->elements[c->cells[e]];
    CellMap *map = &maps[element->type->is_incomplete ? INCOMPLETE : element->type->degree];

    if (!map->nodes.matrix) RITZ_TRY(cell_map_create(c, element->type, map));
    RITZ_TRY(fill_cell_coords(c, element, map, x));
    x += block->num_nodes * draft->space_dim;
  }
  return CEED_ERROR_SUCCESS;
}

static int fill_coords(const Conversion *c) {
  RitzMeshDraft *draft = c->draft;
  CellMap *maps = NULL;
  int ierr = CEED_ERROR_SUCCESS;
  Ceed ceed = c->file->text->ceed;

  RITZ_TRY_CLEANUP(RITZ_CALLOC(ceed, NUM_CELL_MAPS, &maps));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)(draft->num_points * draft->space_dim), &draft->coords));
  for (int b = 0; b < draft->num_blocks && !ierr; b++) {
    ierr = fill_block_coords(c, &draft->blocks[b], maps);
    for (int p = 0; p < NUM_CELL_MAPS; p++) ritz_reader_nodes_destroy(&maps[p].nodes);
  }
cleanup:
  RITZ_FREE(&maps);
  return ierr;
}

// ---- The draft ----

static void fill_block_vertices(const Conversion *c, const RitzMeshBlock *block) {
  RitzMeshDraft *draft = c->draft;
  RitzShape shape = ritz_reader_block_shape(block);
  int64_t *vertices = draft->elem_vertices + block->corner_base;

  for (int64_t e = block->first; e < block->first + block->num_elem; e++) {
    const RitzGmshElement *element = &c->file->elements[c->cells[e]];

    if (draft->elem_place) draft->elem_place[e] = element->place;
    for (int i = 0; i < block->num_corners; i++)
      *vertices++ = c->file->tags[element->first + ritz_listed_corner(shape, i)];
  }
}

static int fill_vertices(const Conversion *c) {
  RitzMeshDraft *draft = c->draft;
  Ceed ceed = c->file->text->ceed;

  draft->num_vertices = c->file->num_nodes;
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)draft->num_places, &draft->elem_vertices));
  if (!c->file->is_binary) RITZ_TRY(RITZ_MALLOC(ceed, (size_t)draft->num_elem, &draft->elem_place));
  for (int b = 0; b < draft->num_blocks; b++) fill_block_vertices(c, &draft->blocks[b]);
  return CEED_ERROR_SUCCESS;
}

static int convert(Conversion *c) {
  RitzGmshFile *file = c->file;
  RitzMeshDraft *draft = c->draft;

  RITZ_TRY(resolve_tags(file, draft->dim));
  RITZ_TRY(RITZ_MALLOC(file->text->ceed, (size_t)draft->num_elem, &c->cells));
  RITZ_TRY(RITZ_CALLOC(file->text->ceed, (size_t)file->num_nodes, &c->is_used));
  list_cells(file, draft, c->cells);
  if (file->version == 2 && has_several_groups(c)) RITZ_TRY(drop_repeated_cells(c));
  mark_used_nodes(c);
  draft->space_dim = find_space_dim(c);
  RITZ_TRY(fill_vertices(c));
  RITZ_TRY(fill_coords(c));
  RITZ_TRY(ritz_gmsh_name_unused(file, draft));
  RITZ_TRY(ritz_gmsh_name_regions(file, c->cells, draft));
  RITZ_TRY(ritz_gmsh_name_parts(file, c->is_used, draft));
  return file->num_pairs > 0 ? ritz_gmsh_close_periods(file, draft) : CEED_ERROR_SUCCESS;
}

int ritz_gmsh_fill_draft(RitzGmshFile *file, RitzMeshDraft *draft) {
  Conversion conversion = {.file = file, .draft = draft};

  RITZ_TRY(choose_cells(file, draft));
  int ierr = convert(&conversion);

  RITZ_FREE(&conversion.cells);
  RITZ_FREE(&conversion.is_used);
  return ierr;
}
