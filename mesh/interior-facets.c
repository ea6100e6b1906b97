// SPDX-License-Identifier: BSD-2-Clause
// Interior facets of a mesh (ritz/facet.h): pairs of elements, how the second one is turned towards the
// first, blocks of equal pairs. Public function; leaves turned elements to mesh/facet-turns.c, all that is
// made of blocks to mesh/facets.c.
#include <ritz/partition.h>

#include "mesh/facets.h"

// ---- A facet seen from one of its elements ----

typedef struct {
  int mesh_block, number; // of the facet in the element
  int64_t element;        // by its number in the mesh
  int kind, place;        // among the kinds of the shape, the facets of the kind
} Seen;

// Facet `at` of all facets of elements, blocks one after the other.
static Seen see(RitzMesh mesh, const RitzMeshNumbers *numbers, int64_t at) {
  Seen seen = {.mesh_block = mesh->num_blocks - 1};

  while (at < numbers->base[seen.mesh_block]) seen.mesh_block--;
  const RitzMeshBlock *block = &mesh->blocks[seen.mesh_block];
  const RitzFacetKinds *kinds = ritz_facet_kinds(block->topology);
  const int num = ritz_mesh_shape(block->topology)->facets.num;

  at -= numbers->base[seen.mesh_block];
  seen.element = block->first + at / num;
  seen.number = (int)(at % num);
  while ((seen.place = ritz_facet_place(&kinds->kinds[seen.kind], seen.number)) < 0) seen.kind++;
  return seen;
}

static const RitzFacetKind *kind_of(RitzMesh mesh, const Seen *seen) {
  return &ritz_facet_kinds(mesh->blocks[seen->mesh_block].topology)->kinds[seen->kind];
}

// The vertices of the facet in the element's own order of its corners.
static void find_vertices(RitzMesh mesh, const Seen *seen, int64_t vertices[4]) {
  const RitzMeshBlock *block = &mesh->blocks[seen->mesh_block];
  const int64_t *of_element =
      mesh->elem_vertices + block->corner_base + (seen->element - block->first) * block->num_corners;
  const RitzFacetKind *kind = kind_of(mesh, seen);
  int8_t corners[4];

  ritz_facet_corners(ritz_mesh_shape(block->topology), kind, seen->place, 0, corners);
  for (int k = 0; k < kind->num_corners; k++) vertices[k] = of_element[corners[k]];
}

static int find_vertex(const int64_t vertices[4], int64_t vertex) {
  int k = 0;

  while (k < 3 && vertices[k] != vertex) k++;
  return k;
}

// ---- A pair ----

typedef struct {
  Seen sides[RITZ_FACET_SIDES];
  int orientation, class; // of side 1
} Pair;

// Stiff elements are on side 0 where the other one is not; else the element with the smaller number.
static Pair make_pair(RitzMesh mesh, const RitzMeshNumbers *numbers, const int64_t at[2]) {
  Pair pair = {.sides = {see(mesh, numbers, at[0]), see(mesh, numbers, at[1])}};
  const RitzFacetKind *kind = kind_of(mesh, &pair.sides[1]);
  int64_t first[4], second[4];

  if (kind->is_stiff && !kind_of(mesh, &pair.sides[0])->is_stiff) {
    const Seen seen = pair.sides[0];

    pair.sides[0] = pair.sides[1];
    pair.sides[1] = seen;
    kind = kind_of(mesh, &seen);
  }
  const RitzMeshShape *shape = ritz_mesh_shape(mesh->blocks[pair.sides[1].mesh_block].topology);

  find_vertices(mesh, &pair.sides[0], first);
  find_vertices(mesh, &pair.sides[1], second);
  pair.orientation = ritz_facet_orientation(kind->num_corners, find_vertex(second, first[0]),
                                            kind->num_corners > 1 ? find_vertex(second, first[1]) : 0);
  pair.class = ritz_facet_class(shape, kind, pair.sides[1].place, pair.orientation);
  return pair;
}

enum { NUM_SIDES_SEEN = RITZ_MESH_MAX_BLOCKS * RITZ_FACET_MAX_KINDS };
enum { NUM_CODES = NUM_SIDES_SEEN * NUM_SIDES_SEEN * RITZ_FACET_CLASSES };

static int side_code(const Seen *seen) { return seen->mesh_block * RITZ_FACET_MAX_KINDS + seen->kind; }

// Pairs of one code are in one block.
static int pair_code(const Pair *pair) {
  return (side_code(&pair->sides[0]) * NUM_SIDES_SEEN + side_code(&pair->sides[1])) * RITZ_FACET_CLASSES +
         pair->class;
}

// ---- All pairs ----

typedef struct {
  RitzMesh mesh;           // borrowed
  RitzMeshNumbers numbers; // owned: of facets
  int64_t (*seen)[2];      // owned, [facets of the mesh]: where its elements have it; -1: exterior
  int64_t next[NUM_CODES]; // how many pairs have a code, then where the next one goes
} Pairs;

static int find_seen(Pairs *p) {
  const Ceed ceed = p->mesh->ceed;
  const RitzMeshCells cells = ritz_mesh_cells(p->mesh);
  int64_t num = 0;

  RITZ_TRY(ritz_mesh_number_entities(&cells, RITZ_MESH_FACETS, &p->numbers));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)p->numbers.num, &p->seen));
  for (int64_t i = 0; i < p->numbers.num; i++) p->seen[i][0] = p->seen[i][1] = -1;
  for (int b = 0; b < p->mesh->num_blocks; b++)
    num += p->mesh->blocks[b].num_elem * ritz_mesh_shape(p->mesh->blocks[b].topology)->facets.num;
  for (int64_t at = 0; at < num; at++) {
    int64_t *seen = p->seen[p->numbers.numbers[at]];

    seen[seen[0] >= 0] = at;
  }
  return CEED_ERROR_SUCCESS;
}

static void clear_pairs(Pairs *p) {
  RITZ_FREE(&p->numbers.numbers);
  RITZ_FREE(&p->seen);
}

static int64_t count_pairs(Pairs *p) {
  int64_t num = 0;

  for (int64_t i = 0; i < p->numbers.num; i++) {
    if (p->seen[i][1] < 0) continue;
    const Pair pair = make_pair(p->mesh, &p->numbers, p->seen[i]);
    p->next[pair_code(&pair)]++;
    num++;
  }
  return num;
}

static RitzFacetSide side_of_code(RitzMesh mesh, int code, int class) {
  const int b = code / RITZ_FACET_MAX_KINDS;
  const CeedElemTopology topology = mesh->blocks[b].topology;

  return ritz_facet_side(b, ritz_mesh_shape(topology),
                         &ritz_facet_kinds(topology)->kinds[code % RITZ_FACET_MAX_KINDS], class);
}

// A block for each code that there is.
static void lay_out_blocks(Pairs *p, RitzFacets f) {
  int64_t first = 0;

  for (int code = 0; code < NUM_CODES; code++) {
    const int sides = code / RITZ_FACET_CLASSES;
    const int64_t num = p->next[code];

    p->next[code] = first;
    if (num == 0) continue;
    f->blocks[f->num_blocks++] =
        (RitzFacetBlock){.sides = {side_of_code(p->mesh, sides / NUM_SIDES_SEEN, 0),
                                   side_of_code(p->mesh, sides % NUM_SIDES_SEEN, code % RITZ_FACET_CLASSES)},
                         .first = first,
                         .num = num};
    first += num;
  }
}

static void list_pairs(Pairs *p, RitzFacets f) {
  for (int64_t i = 0; i < p->numbers.num; i++) {
    if (p->seen[i][1] < 0) continue;
    const Pair pair = make_pair(p->mesh, &p->numbers, p->seen[i]);
    const int64_t k = p->next[pair_code(&pair)]++;

    for (int side = 0; side < RITZ_FACET_SIDES; side++) {
      f->elements[side][k] = pair.sides[side].element;
      f->numbers[side][k] = (int8_t)pair.sides[side].number;
    }
    f->orientations[k] = (int8_t)pair.orientation;
  }
}

int RitzFacetsCreateInterior(RitzMesh mesh, RitzFacets *facets) {
  Pairs pairs = {.mesh = mesh};
  RitzFacets f = NULL;
  int ierr;

  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh, facets);
  *facets = NULL;
  RITZ_REQUIRE(
      !mesh->seam, mesh->ceed, CEED_ERROR_UNSUPPORTED,
      "%s: the mesh is a part of a mesh, needed a whole one: a part does not have the elements beyond "
      "its facets",
      __func__);
  RITZ_TRY_CLEANUP(ritz_facets_create(mesh, RITZ_FACET_SIDES, &f));
  RITZ_TRY_CLEANUP(find_seen(&pairs));
  RITZ_TRY_CLEANUP(ritz_facets_allocate(f, count_pairs(&pairs)));
  lay_out_blocks(&pairs, f);
  list_pairs(&pairs, f);
cleanup:
  clear_pairs(&pairs);
  if (ierr) RitzFacetsDestroy(&f);
  *facets = f;
  return ierr;
}
