// SPDX-License-Identifier: BSD-2-Clause
// One part of a mesh that is cut into parts (ritz/partition.h): elements and vertices keep their order, and
// what the part shares with others is found in the whole mesh, without communication. Slabs of a box,
// consecutive layers of elements in the last direction, are boxes themselves, numbered as such: the last part
// to have a plane between two of them owns it, so that ghosts are the upper plane, the last nodes of all.
#include <stdlib.h>
#include <string.h>

#include <ritz/partition.h>

#include "mesh/mesh.h"

// An entity of the part and another part that has it, or a boundary part it lies on.
typedef struct {
  int64_t entity;
  int32_t item;
} Pair;
typedef struct {
  int64_t num, max_num;
  Pair *pairs; // owned
} Pairs;

typedef struct {
  RitzMesh mesh; // borrowed: the whole one
  const int32_t *parts;
  CeedInt part;
  RitzMesh sub;              // owned until it is handed out
  int64_t *new_vertex;       // owned, [num_vertices] number in the part, -1: not there
  int64_t first_key;         // of vertex 0
  bool *is_shared;           // owned, [num_vertices]
  RitzMeshTable entities[3]; // owned: those of the part all of whose vertices are shared
  Pairs others[3], marks[3]; // owned
} Submesh;

static const int64_t *vertices_of(RitzMesh mesh, const RitzMeshBlock *block, int64_t e) {
  return mesh->elem_vertices + block->corner_base + (e - block->first) * block->num_corners;
}

// ---- Elements ----

// Vertices keep their order.
static void number_vertices(Submesh *s) {
  const RitzMesh mesh = s->mesh;
  int64_t next = 0;

  for (int64_t v = 0; v < mesh->num_vertices; v++) s->new_vertex[v] = -1;
  for (int b = 0; b < mesh->num_blocks; b++) {
    const RitzMeshBlock *block = &mesh->blocks[b];

    for (int64_t e = block->first; e < block->first + block->num_elem; e++) {
      if (s->parts[e] != s->part) continue;
      for (int k = 0; k < block->num_corners; k++) s->new_vertex[vertices_of(mesh, block, e)[k]] = 0;
    }
  }
  for (int64_t v = 0; v < mesh->num_vertices; v++) {
    if (s->new_vertex[v] == 0) s->new_vertex[v] = next++;
  }
  s->sub->num_vertices = next;
}

// All blocks of the whole mesh, some of them perhaps without elements.
static int lay_out(Submesh *s) {
  const RitzMesh mesh = s->mesh, sub = s->sub;
  RitzMeshDraft draft = {.dim = mesh->dim,
                         .space_dim = mesh->space_dim,
                         .order = mesh->order,
                         .num_blocks = mesh->num_blocks,
                         .may_be_empty = true};

  for (int b = 0; b < mesh->num_blocks; b++) {
    const RitzMeshBlock *block = &mesh->blocks[b];

    draft.blocks[b].topology = block->topology;
    for (int64_t e = block->first; e < block->first + block->num_elem; e++)
      draft.blocks[b].num_elem += s->parts[e] == s->part;
  }
  RITZ_TRY(ritz_mesh_draft_lay_out(mesh->ceed, "RitzMeshCreateSubmesh", &draft));
  sub->dim = mesh->dim;
  sub->space_dim = mesh->space_dim;
  sub->order = mesh->order;
  sub->num_blocks = mesh->num_blocks;
  memcpy(sub->blocks, draft.blocks, sizeof(sub->blocks));
  sub->num_elem = draft.num_elem;
  sub->num_points = draft.num_points;
  RITZ_TRY(RITZ_MALLOC(mesh->ceed, (size_t)draft.num_places, &sub->elem_vertices));
  RITZ_TRY(RITZ_MALLOC(mesh->ceed, (size_t)(draft.num_points * mesh->space_dim), &sub->coords));
  return RITZ_MALLOC(mesh->ceed, (size_t)draft.num_elem, &sub->elem_regions);
}

static void copy_elements(const Submesh *s) {
  const RitzMesh mesh = s->mesh, sub = s->sub;
  int64_t *vertices = sub->elem_vertices;
  double *coords = sub->coords;
  int32_t *regions = sub->elem_regions;

  for (int b = 0; b < mesh->num_blocks; b++) {
    const RitzMeshBlock *block = &mesh->blocks[b];
    const int64_t num_x = block->num_nodes * mesh->space_dim;

    for (int64_t e = block->first; e < block->first + block->num_elem; e++) {
      if (s->parts[e] != s->part) continue;
      for (int k = 0; k < block->num_corners; k++)
        *vertices++ = s->new_vertex[vertices_of(mesh, block, e)[k]];
      memcpy(coords, mesh->coords + block->node_base * mesh->space_dim + (e - block->first) * num_x,
             (size_t)num_x * sizeof(*coords));
      coords += num_x;
      *regions++ = mesh->elem_regions[e];
    }
  }
}

// Copies the facets of the whole mesh's boundary parts that belong to elements of the part.
static int copy_marks(const Submesh *s) {
  const RitzMesh mesh = s->mesh, sub = s->sub;
  int64_t *new_elem = NULL, next = 0;

  RITZ_TRY(RITZ_MALLOC(mesh->ceed, (size_t)mesh->num_elem, &new_elem));
  for (int64_t e = 0; e < mesh->num_elem; e++) new_elem[e] = s->parts[e] == s->part ? next++ : -1;
  for (int64_t i = 0; i < mesh->num_marks; i++) sub->num_marks += new_elem[mesh->marks[i].elem] >= 0;
  const int ierr = RITZ_MALLOC(mesh->ceed, (size_t)sub->num_marks, &sub->marks);

  next = 0;
  for (int64_t i = 0; i < mesh->num_marks && !ierr; i++) {
    if (new_elem[mesh->marks[i].elem] < 0) continue;
    sub->marks[next] = mesh->marks[i];
    sub->marks[next++].elem = new_elem[mesh->marks[i].elem];
  }
  RITZ_FREE(&new_elem);
  return ierr;
}

// ---- What is shared ----

static void find_shared_vertices(const Submesh *s) {
  const RitzMesh mesh = s->mesh;

  for (int b = 0; b < mesh->num_blocks; b++) {
    const RitzMeshBlock *block = &mesh->blocks[b];

    for (int64_t e = block->first; e < block->first + block->num_elem; e++) {
      const int64_t *vertices = vertices_of(mesh, block, e);

      for (int k = 0; k < block->num_corners && s->parts[e] != s->part; k++)
        s->is_shared[vertices[k]] |= s->new_vertex[vertices[k]] >= 0;
    }
  }
}

// Called with an entity of an element of the whole mesh, all of whose vertices are shared; key: by the
// vertices of the whole mesh.
typedef int (*VisitFunction)(Submesh *s, int dim, const int64_t *key, int32_t item);

static int visit_entity(Submesh *s, int dim, int num, const int8_t *corners, const int64_t *vertices,
                        VisitFunction visit, int32_t item) {
  int64_t key[4];

  for (int k = 0; k < num; k++) {
    if (!s->is_shared[vertices[corners[k]]]) return CEED_ERROR_SUCCESS;
  }
  ritz_mesh_seam_key(dim, num, corners, vertices, key);
  return visit(s, dim, key, item);
}

// Entities of the element below its dimension; facet >= 0: those that lie on it.
static int visit_element(Submesh *s, const RitzMeshBlock *block, int64_t e, int facet, VisitFunction visit,
                         int32_t item) {
  static const int8_t all[RITZ_MESH_MAX_CORNERS] = {0, 1, 2, 3, 4, 5, 6, 7};
  const RitzMeshShape *shape = ritz_mesh_shape(block->topology);
  const int64_t *vertices = vertices_of(s->mesh, block, e);
  const int8_t *on = facet < 0 ? NULL : shape->facets.corner[facet];

  for (int dim = 0; dim < shape->dim; dim++) {
    const RitzMeshEntities *entities = dim == 1 ? &shape->edges : &shape->facets;

    for (int i = 0; i < (dim == 0 ? shape->num_corners : entities->num); i++) {
      const int8_t *corners = dim == 0 ? &all[i] : entities->corner[i];
      const int num = dim == 0 ? 1 : ritz_mesh_entity_size(entities, i);
      RitzMeshEntityNodes entity = {.num_corners = num};

      memcpy(entity.corner, corners, (size_t)num);
      if (on && !ritz_mesh_entity_lies_on(&entity, on)) continue;
      RITZ_TRY(visit_entity(s, dim, num, corners, vertices, visit, item));
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int enter(Submesh *s, int dim, const int64_t *key, int32_t item) {
  int64_t number = 0;

  (void)item;
  return ritz_mesh_table_insert(s->mesh->ceed, &s->entities[dim], key, &number);
}

static int append(Submesh *s, Pairs *pairs, int dim, const int64_t *key, int32_t item) {
  const int64_t entity = ritz_mesh_table_find(&s->entities[dim], key);

  if (entity < 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_mesh_reserve(s->mesh->ceed, pairs->num + 1, sizeof(Pair), &pairs->max_num,
                             (void **)&pairs->pairs));
  pairs->pairs[pairs->num++] = (Pair){entity, item};
  return CEED_ERROR_SUCCESS;
}

static int append_other(Submesh *s, int dim, const int64_t *key, int32_t item) {
  return append(s, &s->others[dim], dim, key, item);
}

static int append_mark(Submesh *s, int dim, const int64_t *key, int32_t item) {
  return append(s, &s->marks[dim], dim, key, item);
}

static bool has_shared_vertex(const Submesh *s, const RitzMeshBlock *block, int64_t e) {
  const int64_t *vertices = vertices_of(s->mesh, block, e);

  for (int k = 0; k < block->num_corners; k++) {
    if (s->is_shared[vertices[k]]) return true;
  }
  return false;
}

// Elements of the part (is_own) or of others that may have shared entities.
static int visit_elements(Submesh *s, bool is_own, VisitFunction visit) {
  for (int b = 0; b < s->mesh->num_blocks; b++) {
    const RitzMeshBlock *block = &s->mesh->blocks[b];

    for (int64_t e = block->first; e < block->first + block->num_elem; e++) {
      if ((s->parts[e] == s->part) != is_own || !has_shared_vertex(s, block, e)) continue;
      RITZ_TRY(visit_element(s, block, e, -1, visit, s->parts[e]));
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int visit_marks(Submesh *s) {
  const RitzMesh mesh = s->mesh;

  for (int64_t i = 0; i < mesh->num_marks; i++) {
    const RitzMeshMark *mark = &mesh->marks[i];
    const RitzMeshBlock *block =
        &mesh->blocks[ritz_mesh_find_block(mesh->num_blocks, mesh->blocks, mark->elem)];

    if (!has_shared_vertex(s, block, mark->elem)) continue;
    RITZ_TRY(visit_element(s, block, mark->elem, mark->facet, append_mark, mark->part));
  }
  return CEED_ERROR_SUCCESS;
}

static int compare_pairs(const void *pa, const void *pb) {
  const Pair *a = pa, *b = pb;

  if (a->entity != b->entity) return a->entity < b->entity ? -1 : 1;
  return (a->item > b->item) - (a->item < b->item);
}

static void sort_pairs(Pairs *p) {
  int64_t num_kept = 0;

  if (p->num > 0) qsort(p->pairs, (size_t)p->num, sizeof(Pair), compare_pairs);
  for (int64_t i = 0; i < p->num; i++) {
    if (num_kept == 0 || compare_pairs(&p->pairs[num_kept - 1], &p->pairs[i]))
      p->pairs[num_kept++] = p->pairs[i];
  }
  p->num = num_kept;
}

// Appends the items of an entity, whose pairs begin at *next.
static int append_list(Ceed ceed, const Pairs *pairs, int64_t entity, int64_t *next, int32_t *items,
                       RitzMeshLists *lists) {
  int64_t num = 0;

  for (; *next < pairs->num && pairs->pairs[*next].entity == entity; ++*next)
    items[num++] = pairs->pairs[*next].item;
  return ritz_mesh_lists_append(ceed, lists, num, items);
}

// The entities that other parts have, too, by the vertices of the part.
static int fill_shared(Submesh *s, int dim, int32_t *items, RitzMeshShared *shared) {
  const Ceed ceed = s->mesh->ceed;
  const RitzMeshTable *table = &s->entities[dim];
  int64_t other = 0, mark = 0;

  sort_pairs(&s->others[dim]);
  sort_pairs(&s->marks[dim]);
  for (int64_t i = 0; i < table->num_keys; i++) {
    int64_t key[4], number = 0;
    const bool has_others = other < s->others[dim].num && s->others[dim].pairs[other].entity == i;

    for (; !has_others && mark < s->marks[dim].num && s->marks[dim].pairs[mark].entity == i; mark++) continue;
    if (!has_others) continue;
    for (int k = 0; k < table->width; k++) {
      const int64_t vertex = table->keys[i * table->width + k];

      key[k] = vertex < 0 ? -1 : s->new_vertex[vertex];
    }
    RITZ_TRY(ritz_mesh_table_insert(ceed, &shared->table, key, &number));
    RITZ_TRY(append_list(ceed, &s->others[dim], i, &other, items, &shared->parts));
    RITZ_TRY(append_list(ceed, &s->marks[dim], i, &mark, items, &shared->marks));
  }
  return CEED_ERROR_SUCCESS;
}

// Entities of this part all of whose vertices are shared.
static int enter_entities(Submesh *s) {
  for (int dim = 0; dim < s->mesh->dim; dim++)
    RITZ_TRY(ritz_mesh_seam_table(s->mesh->ceed, dim, &s->entities[dim]));
  return visit_elements(s, true, enter);
}

// When pairs with other parts are known.
static int create_seam(Submesh *s, RitzMeshSeam **seam) {
  const RitzMesh mesh = s->mesh;
  const Ceed ceed = mesh->ceed;
  int32_t *items = NULL;
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY(visit_marks(s));
  RITZ_TRY(ritz_mesh_seam_create(ceed, mesh->dim, s->sub->num_vertices, seam));
  for (int64_t v = 0; v < mesh->num_vertices; v++) {
    if (s->new_vertex[v] >= 0) (*seam)->keys[s->new_vertex[v]] = s->first_key + v;
  }
  for (int dim = 0; dim < mesh->dim && !ierr; dim++) {
    const int64_t most = s->others[dim].num + s->marks[dim].num;

    ierr = RITZ_MALLOC(ceed, (size_t)most, &items);
    if (!ierr) ierr = fill_shared(s, dim, items, &(*seam)->shared[dim]);
    RITZ_FREE(&items);
  }
  return ierr;
}

static int find_seam(Submesh *s) {
  find_shared_vertices(s);
  RITZ_TRY(enter_entities(s));
  RITZ_TRY(visit_elements(s, false, append_other));
  return create_seam(s, &s->sub->seam);
}

static void clear_submesh(Submesh *s) {
  RITZ_FREE(&s->new_vertex);
  RITZ_FREE(&s->is_shared);
  for (int dim = 0; dim < 3; dim++) {
    ritz_mesh_table_clear(&s->entities[dim]);
    RITZ_FREE(&s->others[dim].pairs);
    RITZ_FREE(&s->marks[dim].pairs);
  }
}

// ---- Slabs of boxes ----

int64_t ritz_mesh_plane_nodes(RitzMesh mesh, int64_t degree) {
  int64_t num = 1;

  for (int d = 0; d + 1 < mesh->dim; d++) num *= mesh->grid[d] * degree + 1;
  return num;
}

// layers [num_parts + 1], written where the list of parts makes slabs of a box, in the order of the parts.
static bool find_layers(RitzMesh mesh, CeedInt num_parts, const int32_t *parts, int64_t *layers) {
  const int64_t num_layers = mesh->grid[mesh->dim - 1],
                of_layer = num_layers ? mesh->num_elem / num_layers : 0;
  CeedInt part = 0;

  if (num_layers < num_parts || parts[0] != 0) return false;
  layers[0] = 0;
  for (int64_t e = 0; e < mesh->num_elem; e++) {
    const bool is_next = e % of_layer == 0 && parts[e] == part + 1;

    if (is_next) layers[++part] = e / of_layer;
    if (parts[e] != part) return false;
  }
  layers[num_parts] = num_layers;
  return part == num_parts - 1;
}

// The vertices of the planes that other slabs have, too.
static void share_planes(Submesh *s, bool has_lower, bool has_upper) {
  const int64_t of_plane = ritz_mesh_plane_nodes(s->mesh, 1), num = s->mesh->num_vertices;

  for (int64_t v = 0; v < num; v++) {
    s->is_shared[v] = (has_lower && v < of_plane) || (has_upper && v >= num - of_plane);
    s->new_vertex[v] = v;
  }
}

// The slab below or above has an entity all of whose vertices are on the plane to it.
static int append_slabs(Submesh *s, CeedInt part) {
  const int64_t of_plane = ritz_mesh_plane_nodes(s->mesh, 1);

  for (int dim = 0; dim < s->mesh->dim; dim++) {
    const RitzMeshTable *table = &s->entities[dim];

    for (int64_t i = 0; i < table->num_keys; i++) {
      const int64_t *key = table->keys + i * table->width; // vertices ascend
      const bool is_lower = key[table->width - 1] < of_plane,
                 is_upper = key[0] >= s->mesh->num_vertices - of_plane;

      if (is_lower || is_upper) RITZ_TRY(append_other(s, dim, key, part + (is_upper ? 1 : -1)));
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int keep_layers(RitzMeshSeam *seam, Ceed ceed, CeedInt num_parts, const int64_t *layers) {
  const size_t num = (size_t)num_parts + 1;

  RITZ_TRY(RITZ_MALLOC(ceed, num, &seam->layers));
  memcpy(seam->layers, layers, num * sizeof(*layers));
  return CEED_ERROR_SUCCESS;
}

int ritz_mesh_become_slab(RitzMesh mesh, CeedInt num_parts, CeedInt part, const int64_t layers[],
                          bool is_rectangular) {
  const Ceed ceed = mesh->ceed;
  int32_t *own = NULL;
  RitzMeshSeam *seam = NULL;
  Submesh s = {.mesh = mesh, .sub = mesh};
  int ierr;

  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)mesh->num_elem, &own)); // all elements are of one part
  s.parts = own;
  s.first_key = layers[part] * ritz_mesh_plane_nodes(mesh, 1);
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)mesh->num_vertices, &s.new_vertex));
  RITZ_TRY_CLEANUP(RITZ_CALLOC(ceed, (size_t)mesh->num_vertices, &s.is_shared));
  share_planes(&s, part > 0, part < num_parts - 1);
  RITZ_TRY_CLEANUP(enter_entities(&s));
  RITZ_TRY_CLEANUP(append_slabs(&s, part));
  RITZ_TRY_CLEANUP(create_seam(&s, &seam));
  RITZ_TRY_CLEANUP(keep_layers(seam, ceed, num_parts, layers));
  seam->num_parts = num_parts;
  seam->part = part;
  seam->is_rectangular = is_rectangular;
  mesh->seam = seam;
cleanup:
  if (ierr) ritz_mesh_seam_clear(&seam);
  clear_submesh(&s);
  RITZ_FREE(&own);
  return ierr;
}

static bool is_rectangular(RitzMesh mesh) {
  CeedInt n[3];
  double *planes[3];
  int64_t elem;
  bool is_box = false;

  if (RitzMeshGetRectangularBox(mesh, &is_box, n, planes, &elem)) return false;
  for (int d = 0; d < 3; d++) free(planes[d]);
  return is_box;
}

// Keeps what the part has as a box where all parts are slabs of one.
static int note_slab(const Submesh *s, CeedInt num_parts) {
  const RitzMesh mesh = s->mesh, sub = s->sub;
  int64_t *layers = NULL;
  int ierr = CEED_ERROR_SUCCESS;

  if (!mesh->grid[0]) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_MALLOC(mesh->ceed, (size_t)num_parts + 1, &layers));
  if (find_layers(mesh, num_parts, s->parts, layers)) {
    ierr = keep_layers(sub->seam, mesh->ceed, num_parts, layers);
    memcpy(sub->grid, mesh->grid, sizeof(sub->grid));
    sub->grid[mesh->dim - 1] = layers[s->part + 1] - layers[s->part];
    sub->is_rectangular = mesh->is_rectangular;
    sub->seam->is_rectangular = is_rectangular(mesh);
  }
  RITZ_FREE(&layers);
  return ierr;
}

// ---- All together ----

static int make(Submesh *s) {
  const RitzMesh mesh = s->mesh, sub = s->sub;
  const Ceed ceed = mesh->ceed;

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)mesh->num_vertices, &s->new_vertex));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)mesh->num_vertices, &s->is_shared));
  RITZ_TRY(lay_out(s));
  number_vertices(s);
  copy_elements(s);
  RITZ_TRY(copy_marks(s));
  RITZ_TRY(ritz_mesh_copy_sets(mesh, sub));
  return find_seam(s);
}

int RitzMeshCreateSubmesh(RitzMesh mesh, CeedInt num_parts, const int32_t parts[], CeedInt part,
                          RitzMesh *submesh) {
  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh, submesh);
  *submesh = NULL;
  RITZ_ARGUMENT(mesh->ceed, parts);
  RITZ_REQUIRE(num_parts >= 1 && part >= 0 && part < num_parts, mesh->ceed, CEED_ERROR_DIMENSION,
               "RitzMeshCreateSubmesh: part %" CeedInt_FMT " of %" CeedInt_FMT
               ", needed one of at least 1, counted from 0",
               part, num_parts);
  RITZ_REQUIRE(!mesh->seam, mesh->ceed, CEED_ERROR_UNSUPPORTED,
               "RitzMeshCreateSubmesh: the mesh is part %" CeedInt_FMT " of %" CeedInt_FMT
               " already, needed a whole one",
               mesh->seam->part, mesh->seam->num_parts);
  for (int64_t e = 0; e < mesh->num_elem; e++) {
    RITZ_REQUIRE(parts[e] >= 0 && parts[e] < num_parts, mesh->ceed, CEED_ERROR_DIMENSION,
                 "RitzMeshCreateSubmesh: element %lld belongs to part %d, needed 0 to %" CeedInt_FMT,
                 (long long)e, (int)parts[e], num_parts - 1);
  }
  Submesh s = {.mesh = mesh, .parts = parts, .part = part};

  RITZ_TRY(ritz_mesh_create_empty(mesh->ceed, &s.sub));
  int ierr = make(&s);

  if (!ierr) ierr = note_slab(&s, num_parts);
  clear_submesh(&s);
  if (ierr) return ritz_first_error(ierr, RitzMeshDestroy(&s.sub));
  s.sub->seam->num_parts = num_parts;
  s.sub->seam->part = part;
  *submesh = s.sub;
  return CEED_ERROR_SUCCESS;
}

int RitzMeshGetPart(RitzMesh mesh, CeedInt *num_parts, CeedInt *part) {
  RITZ_HANDLE(mesh);
  if (num_parts) *num_parts = mesh->seam ? mesh->seam->num_parts : 1;
  if (part) *part = mesh->seam ? mesh->seam->part : 0;
  return CEED_ERROR_SUCCESS;
}

int RitzMeshGetSlabs(RitzMesh mesh, const int64_t **layers) {
  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh, layers);
  *layers = mesh->seam ? mesh->seam->layers : NULL;
  return CEED_ERROR_SUCCESS;
}
