// SPDX-License-Identifier: BSD-2-Clause
// Which nodes of a space on a part of a mesh are owned, which are ghosts, and the lists that neighbours
// exchange (ritz/partition.h). Found without communication: all parts put what they share in the same order,
// by keys of vertices. Slabs of a box keep the numbers of boxes. Called by RitzSpaceCreate.
#include <stdlib.h>
#include <string.h>

#include <ritz/partition.h>

#include "mesh/mesh.h"

const RitzClass ritz_halo_class = {.name = "RitzHalo"};

// ---- Nodes of shared entities ----

typedef struct {
  RitzMesh mesh; // borrowed
  CeedInt degree;
  int64_t *starts[3]; // owned: where the nodes of each shared entity begin
  int64_t *nodes;     // owned, in the common frames of the entities; -1: not met yet
} SharedNodes;

static int64_t nodes_inside(int dim, bool is_triangle, int64_t p) {
  if (dim == 0) return 1;
  if (dim == 1) return p - 1;
  return is_triangle ? (p - 1) * (p - 2) / 2 : (p - 1) * (p - 1);
}

static int lay_out(SharedNodes *s) {
  const Ceed ceed = s->mesh->ceed;
  int64_t num = 0;

  for (int dim = 0; dim < s->mesh->dim; dim++) {
    const RitzMeshTable *table = &s->mesh->seam->shared[dim].table;

    RITZ_TRY(RITZ_MALLOC(ceed, (size_t)table->num_keys + 1, &s->starts[dim]));
    for (int64_t i = 0; i < table->num_keys; i++) {
      s->starts[dim][i] = num;
      num += nodes_inside(dim, table->keys[i * table->width] < 0, s->degree);
    }
    s->starts[dim][table->num_keys] = num;
  }
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num, &s->nodes));
  for (int64_t i = 0; i < num; i++) s->nodes[i] = -1;
  return CEED_ERROR_SUCCESS;
}

static void collect_entity(SharedNodes *s, const RitzMeshFrames *frames, const RitzMeshEntityNodes *entity,
                           const int64_t *vertices, const int64_t *nodes) {
  const int64_t number =
      ritz_mesh_seam_find(s->mesh->seam, entity->dim, entity->num_corners, entity->corner, vertices);

  if (number < 0) return;
  const int64_t *order = ritz_mesh_frame_order(s->mesh, frames, entity, vertices);
  int64_t *to = s->nodes + s->starts[entity->dim][number];

  for (int64_t i = 0; i < entity->num_nodes; i++) to[order ? order[i] : i] = nodes[entity->nodes[i]];
}

static int collect_block(SharedNodes *s, const RitzMeshFrames *frames, const RitzMeshBlock *block,
                         const int64_t *nodes) {
  const RitzMesh mesh = s->mesh;
  RitzMeshElementNodes element;

  RITZ_TRY(ritz_mesh_element_nodes_create(mesh->ceed, block->topology, s->degree, &element));
  for (int64_t e = 0; e < block->num_elem; e++, nodes += element.num_nodes) {
    const int64_t *vertices = mesh->elem_vertices + block->corner_base + e * block->num_corners;

    if (!ritz_mesh_seam_touches(mesh->seam, block->num_corners, vertices)) continue;
    for (int i = 0; i < element.num; i++) {
      if (element.entities[i].dim < mesh->dim)
        collect_entity(s, frames, &element.entities[i], vertices, nodes);
    }
  }
  ritz_mesh_element_nodes_clear(&element);
  return CEED_ERROR_SUCCESS;
}

static int collect(SharedNodes *s, const int64_t *nodes) {
  RitzMeshFrames frames;
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY(ritz_mesh_frames_create(s->mesh, s->degree, &frames));
  for (int b = 0; b < s->mesh->num_blocks && !ierr; b++) {
    const RitzMeshBlock *block = &s->mesh->blocks[b];

    ierr = collect_block(s, &frames, block, nodes);
    if (nodes) nodes += block->num_elem * ritz_mesh_num_nodes(block->topology, s->degree);
  }
  ritz_mesh_frames_clear(&frames);
  return ierr;
}

// ---- Who sends what ----

// The nodes of a shared entity as sent to, or owned by, a neighbour.
typedef struct {
  int32_t neighbour;
  int8_t dim;
  bool is_ghost;
  int64_t keys[4]; // of its vertices, ascending
  int64_t first, num;
} Share;
typedef struct {
  int64_t num, max_num;
  Share *shares; // owned
} Shares;

static int add_share(Ceed ceed, Shares *s, Share share, int32_t neighbour, bool is_ghost) {
  share.neighbour = neighbour;
  share.is_ghost = is_ghost;
  RITZ_TRY(ritz_mesh_reserve(ceed, s->num + 1, sizeof(share), &s->max_num, (void **)&s->shares));
  s->shares[s->num++] = share;
  return CEED_ERROR_SUCCESS;
}

// The part that owns an entity: one of those that have it, by its vertices.
static int32_t find_owner(const RitzMeshSeam *seam, const Share *share, int64_t num_others,
                          const int32_t *others) {
  uint64_t place = (uint64_t)ritz_mesh_mix_keys(4, share->keys) % (uint64_t)(num_others + 1);
  int64_t before = 0;

  while (before < num_others && others[before] < seam->part) before++;
  if ((int64_t)place == before) return seam->part;
  return others[(int64_t)place < before ? place : place - 1];
}

static int share_entity(const SharedNodes *s, int dim, int64_t entity, Shares *shares) {
  const RitzMeshSeam *seam = s->mesh->seam;
  const RitzMeshTable *table = &seam->shared[dim].table;
  const RitzMeshLists *lists = &seam->shared[dim].parts;
  const int32_t *others = lists->items + lists->starts[entity];
  const int64_t num_others = lists->starts[entity + 1] - lists->starts[entity];
  Share share = {.dim = (int8_t)dim,
                 .keys = {-1, -1, -1, -1},
                 .first = s->starts[dim][entity],
                 .num = s->starts[dim][entity + 1] - s->starts[dim][entity]};

  if (share.num == 0) return CEED_ERROR_SUCCESS;
  for (int k = 0; k < table->width; k++) {
    const int64_t vertex = table->keys[entity * table->width + k];

    if (vertex >= 0) share.keys[k] = seam->keys[vertex];
  }
  ritz_mesh_sort_vertices(4, share.keys);
  const int32_t owner = find_owner(seam, &share, num_others, others);

  if (owner != seam->part) return add_share(s->mesh->ceed, shares, share, owner, true);
  for (int64_t i = 0; i < num_others; i++)
    RITZ_TRY(add_share(s->mesh->ceed, shares, share, others[i], false));
  return CEED_ERROR_SUCCESS;
}

static int compare_shares(const void *pa, const void *pb) {
  const Share *a = pa, *b = pb;

  if (a->neighbour != b->neighbour) return a->neighbour < b->neighbour ? -1 : 1;
  if (a->dim != b->dim) return a->dim - b->dim;
  for (int k = 0; k < 4; k++) {
    if (a->keys[k] != b->keys[k]) return a->keys[k] < b->keys[k] ? -1 : 1;
  }
  return 0;
}

static int find_shares(const SharedNodes *s, Shares *shares) {
  for (int dim = 0; dim < s->mesh->dim; dim++) {
    for (int64_t i = 0; i < s->mesh->seam->shared[dim].table.num_keys; i++)
      RITZ_TRY(share_entity(s, dim, i, shares));
  }
  if (shares->num > 0) qsort(shares->shares, (size_t)shares->num, sizeof(Share), compare_shares);
  for (int64_t i = 1; i < shares->num; i++) {
    RITZ_REQUIRE(compare_shares(&shares->shares[i - 1], &shares->shares[i]), s->mesh->ceed, CEED_ERROR_MAJOR,
                 "RitzSpaceCreate: two entities that part %" CeedInt_FMT
                 " shares with part %d have the same key (chance 2^-64 each); cut the mesh otherwise",
                 s->mesh->seam->part, (int)shares->shares[i].neighbour);
  }
  return CEED_ERROR_SUCCESS;
}

// ---- The halo ----

static int allocate_halo(Ceed ceed, int64_t num_send, RitzHalo halo) {
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)halo->num_neighbours, &halo->parts));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)halo->num_neighbours + 1, &halo->send_starts));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)halo->num_neighbours + 1, &halo->ghost_starts));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)halo->num_neighbours, &halo->send_sums));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)halo->num_neighbours, &halo->ghost_sums));
  return RITZ_MALLOC(ceed, (size_t)num_send, &halo->send);
}

static int allocate_for_shares(Ceed ceed, const Shares *shares, RitzHalo halo) {
  int64_t num_send = 0;

  for (int64_t i = 0; i < shares->num; i++) {
    const Share *share = &shares->shares[i];

    halo->num_neighbours += i == 0 || share->neighbour != shares->shares[i - 1].neighbour;
    if (share->is_ghost)
      halo->num_ghosts += share->num;
    else
      num_send += share->num;
  }
  return allocate_halo(ceed, num_send, halo);
}

// Ghosts follow the owned nodes, in the order of the shares: new_number [num_nodes], -1 before.
static void fill_halo(const SharedNodes *s, const Shares *shares, int64_t *new_number, RitzHalo halo) {
  int64_t num_send = 0, num_ghosts = 0;
  CeedInt n = 0;

  for (int64_t i = 0; i < shares->num; i++) {
    const Share *share = &shares->shares[i];
    const int64_t *nodes = s->nodes + share->first;

    if (i == 0 || share->neighbour != shares->shares[i - 1].neighbour) {
      halo->parts[n] = share->neighbour;
      halo->send_starts[n] = num_send;
      halo->ghost_starts[n++] = num_ghosts;
    }
    *(share->is_ghost ? &halo->ghost_sums[n - 1] : &halo->send_sums[n - 1]) +=
        ritz_mesh_mix((uint64_t)ritz_mesh_mix_keys(4, share->keys) + (uint64_t)s->degree);
    for (int64_t k = 0; k < share->num; k++) {
      if (share->is_ghost)
        new_number[nodes[k]] = halo->num_owned + num_ghosts++;
      else
        halo->send[num_send++] = nodes[k];
    }
  }
  halo->send_starts[n] = num_send;
  halo->ghost_starts[n] = num_ghosts;
}

static int renumber(const SharedNodes *s, const Shares *shares, int64_t num_nodes, int64_t num_entries,
                    int64_t *nodes, RitzHalo halo) {
  int64_t *new_number = NULL, next = 0;

  RITZ_TRY(RITZ_MALLOC(s->mesh->ceed, (size_t)num_nodes, &new_number));
  for (int64_t i = 0; i < num_nodes; i++) new_number[i] = -1;
  halo->num_owned = num_nodes - halo->num_ghosts;
  fill_halo(s, shares, new_number, halo);
  for (int64_t i = 0; i < num_nodes; i++) {
    if (new_number[i] < 0) new_number[i] = next++;
  }
  for (int64_t i = 0; i < num_entries; i++) nodes[i] = new_number[nodes[i]];
  for (int64_t i = 0; i < halo->send_starts[halo->num_neighbours]; i++)
    halo->send[i] = new_number[halo->send[i]];
  RITZ_FREE(&new_number);
  return CEED_ERROR_SUCCESS;
}

static int make(SharedNodes *s, int64_t num_nodes, int64_t num_entries, int64_t *nodes, RitzHalo halo) {
  const Ceed ceed = s->mesh->ceed;
  Shares shares = {0};
  int ierr = lay_out(s);

  if (!ierr) ierr = collect(s, nodes);
  if (!ierr) ierr = find_shares(s, &shares);
  if (!ierr) ierr = allocate_for_shares(ceed, &shares, halo);
  if (!ierr) ierr = renumber(s, &shares, num_nodes, num_entries, nodes, halo);
  RITZ_FREE(&shares.shares);
  for (int dim = 0; dim < 3; dim++) RITZ_FREE(&s->starts[dim]);
  RITZ_FREE(&s->nodes);
  return ierr;
}

// ---- Slabs of a box ----

// The owned nodes of the lower plane go to the slab below, the upper plane belongs to the one above.
static void fill_slab_halo(RitzMesh mesh, CeedInt degree, int64_t of_plane, RitzHalo halo) {
  const RitzMeshSeam *seam = mesh->seam;
  CeedInt n = 0;

  for (int upper = 0; upper < 2; upper++) {
    const CeedInt other = seam->part + (upper ? 1 : -1);
    // the plane between the layers of both
    const uint64_t sum = ritz_mesh_mix((uint64_t)seam->layers[seam->part + upper] << 16 ^ (uint64_t)degree) +
                         (uint64_t)of_plane;

    if (other < 0 || other == seam->num_parts) continue;
    halo->parts[n] = other;
    *(upper ? &halo->ghost_sums[n] : &halo->send_sums[n]) = sum;
    halo->send_starts[n + 1] = halo->send_starts[n] + (upper ? 0 : of_plane);
    halo->ghost_starts[n + 1] = halo->ghost_starts[n] + (upper ? of_plane : 0);
    n++;
  }
  for (int64_t i = 0; i < halo->send_starts[n]; i++) halo->send[i] = i;
}

static int make_slab_halo(RitzMesh mesh, CeedInt degree, RitzHalo halo) {
  const int64_t of_plane = ritz_mesh_plane_nodes(mesh, degree);
  const bool has_lower = mesh->seam->part > 0, has_upper = mesh->seam->part + 1 < mesh->seam->num_parts;
  const Ceed ceed = mesh->ceed;

  halo->num_neighbours = has_lower + has_upper;
  halo->num_ghosts = has_upper ? of_plane : 0;
  halo->num_owned -= halo->num_ghosts;
  RITZ_TRY(allocate_halo(ceed, has_lower ? of_plane : 0, halo));
  fill_slab_halo(mesh, degree, of_plane, halo);
  return CEED_ERROR_SUCCESS;
}

int ritz_halo_create(RitzMesh mesh, CeedInt degree, int64_t num_nodes, int64_t num_entries, int64_t *nodes,
                     RitzHalo *halo) {
  SharedNodes s = {.mesh = mesh, .degree = degree};

  RITZ_TRY(RITZ_CALLOC(mesh->ceed, 1, halo));
  (*halo)->class = &ritz_halo_class;
  (*halo)->ceed = mesh->ceed;
  (*halo)->num_owned = num_nodes;
  const int ierr = !mesh->seam          ? RITZ_CALLOC(mesh->ceed, 1, &(*halo)->send_starts)
                   : mesh->seam->layers ? make_slab_halo(mesh, degree, *halo)
                                        : make(&s, num_nodes, num_entries, nodes, *halo);

  if (ierr) ritz_halo_destroy(halo);
  return ierr;
}

void ritz_halo_destroy(RitzHalo *halo) {
  RitzHalo h = *halo;

  if (!h) return;
  RITZ_FREE(&h->parts);
  RITZ_FREE(&h->send_starts);
  RITZ_FREE(&h->send);
  RITZ_FREE(&h->ghost_starts);
  RITZ_FREE(&h->send_sums);
  RITZ_FREE(&h->ghost_sums);
  RITZ_FREE(halo);
}

int RitzHaloGetSizes(RitzHalo halo, int64_t *num_owned, int64_t *num_ghosts) {
  RITZ_HANDLE(halo);
  if (num_owned) *num_owned = halo->num_owned;
  if (num_ghosts) *num_ghosts = halo->num_ghosts;
  return CEED_ERROR_SUCCESS;
}

int RitzHaloGetNumNeighbours(RitzHalo halo, CeedInt *num) {
  RITZ_HANDLE(halo);
  RITZ_ARGUMENT(halo, num);
  *num = halo->num_neighbours;
  return CEED_ERROR_SUCCESS;
}

int RitzHaloGetNeighbour(RitzHalo halo, CeedInt i, CeedInt *part, int64_t *num_send, const int64_t **send,
                         int64_t *num_ghosts, int64_t *first_ghost) {
  RITZ_HANDLE(halo);
  RITZ_REQUIRE(i >= 0 && i < halo->num_neighbours, halo->ceed, CEED_ERROR_DIMENSION,
               "RitzHaloGetNeighbour: there is no neighbour %" CeedInt_FMT ", the part has %" CeedInt_FMT, i,
               halo->num_neighbours);
  if (part) *part = halo->parts[i];
  if (num_send) *num_send = halo->send_starts[i + 1] - halo->send_starts[i];
  if (send) *send = halo->send ? halo->send + halo->send_starts[i] : NULL;
  if (num_ghosts) *num_ghosts = halo->ghost_starts[i + 1] - halo->ghost_starts[i];
  if (first_ghost) *first_ghost = halo->num_owned + halo->ghost_starts[i];
  return CEED_ERROR_SUCCESS;
}

int RitzHaloGetChecksums(RitzHalo halo, CeedInt i, uint64_t *send, uint64_t *ghosts) {
  RITZ_HANDLE(halo);
  RITZ_REQUIRE(i >= 0 && i < halo->num_neighbours, halo->ceed, CEED_ERROR_DIMENSION,
               "RitzHaloGetChecksums: there is no neighbour %" CeedInt_FMT ", the part has %" CeedInt_FMT, i,
               halo->num_neighbours);
  if (send) *send = halo->send_sums[i];
  if (ghosts) *ghosts = halo->ghost_sums[i];
  return CEED_ERROR_SUCCESS;
}
