// SPDX-License-Identifier: BSD-2-Clause
// Products of spaces of one mesh: their L-vectors, restrictions, constraints. Public functions (contract in
// ritz/product.h); offsets are those of mesh/space.c, transfers those of mesh/transfer.c.
#include "mesh/product.h"

#include <ritz/partition.h>
#include <stdlib.h>

const RitzClass ritz_product_space_class = {.name = "RitzProductSpace"};

typedef struct {
  RitzSpace space; // counted
  RitzHalo halo;   // borrowed: lives in the space
  CeedInt num_comp;
  CeedSize length, first, num_owned; // of its entries, those that are owned from `first` on
  int64_t *ghosts;                   // owned, [length - num_owned]: where the others are
  CeedElemRestriction restrictions[RITZ_MESH_MAX_BLOCKS]; // counted, made on request
} Factor;

struct RitzProductSpace_private {
  const RitzClass *class;
  Ceed ceed; // borrowed: lives in the mesh of the spaces
  int ref_count;
  CeedInt num;
  Factor *factors; // owned, [num]
  CeedSize l_size, num_owned;
  RitzHalo halo; // owned: of entries
};

// ---- Life ----

static int check_spaces(CeedInt num, const RitzSpace spaces[]) {
  RitzMesh mesh, other;

  RITZ_HANDLE_OF("RitzProductSpaceCreate", spaces);
  RITZ_REQUIRE(num >= 1, NULL, CEED_ERROR_DIMENSION,
               "RitzProductSpaceCreate: %" CeedInt_FMT " spaces, needed at least 1", num);
  for (CeedInt i = 0; i < num; i++) {
    RitzSpace space = spaces[i];

    RITZ_HANDLE_OF("RitzProductSpaceCreate", space);
    RITZ_TRY(RitzSpaceGetMesh(space, i == 0 ? &mesh : &other));
    RITZ_REQUIRE(i == 0 || other == mesh, mesh->ceed, CEED_ERROR_INCOMPATIBLE,
                 "RitzProductSpaceCreate: space %" CeedInt_FMT
                 " is on another mesh than space 0, needed spaces of one mesh",
                 i);
  }
  return CEED_ERROR_SUCCESS;
}

static int append_space(RitzProductSpace p, RitzSpace space) {
  Factor *factor = &p->factors[p->num];

  RITZ_TRY(RitzSpaceGetSize(space, &factor->length));
  RITZ_REQUIRE(factor->length <= INT64_MAX / 8 - p->l_size, p->ceed, CEED_ERROR_DIMENSION,
               "RitzProductSpaceCreate: the L-vector of the product is too long");
  RITZ_TRY(RitzSpaceReferenceCopy(space, &factor->space));
  p->num++;
  RITZ_TRY(RitzSpaceGetHalo(space, &factor->halo));
  RITZ_TRY(RitzSpaceGetNumComponents(space, &factor->num_comp));
  factor->first = p->num_owned;
  factor->num_owned = factor->halo->num_owned * factor->num_comp;
  p->num_owned += factor->num_owned;
  p->l_size += factor->length;
  return RITZ_MALLOC(p->ceed, (size_t)(factor->length - factor->num_owned), &factor->ghosts);
}

// ---- What parts share ----

// The next neighbour that some space has after this one; -1: none.
static int32_t next_neighbour(RitzProductSpace p, int32_t after) {
  int32_t next = -1;

  for (CeedInt i = 0; i < p->num; i++) {
    const struct RitzHalo_private *h = p->factors[i].halo;

    for (CeedInt k = 0; k < h->num_neighbours; k++) {
      if (h->parts[k] > after && (next < 0 || h->parts[k] < next)) next = h->parts[k];
    }
  }
  return next;
}

static CeedInt find_neighbour(const struct RitzHalo_private *h, int32_t part) {
  CeedInt k = 0;

  while (k < h->num_neighbours && h->parts[k] != part) k++;
  return k;
}

// Adds what space i shares with neighbour n of the product, which begins where it stands in the lists.
static void add_shared(RitzProductSpace p, CeedInt i, CeedInt n, int64_t *num_send, int64_t *num_ghosts) {
  const Factor *factor = &p->factors[i];
  const struct RitzHalo_private *h = factor->halo;
  const CeedInt k = find_neighbour(h, p->halo->parts[n]), num_comp = factor->num_comp;

  if (k == h->num_neighbours) return;
  for (int64_t j = h->send_starts[k] * num_comp; j < h->send_starts[k + 1] * num_comp; j++)
    p->halo->send[(*num_send)++] = factor->first + h->send[j / num_comp] * num_comp + j % num_comp;
  for (int64_t j = h->ghost_starts[k] * num_comp; j < h->ghost_starts[k + 1] * num_comp; j++)
    factor->ghosts[j] = p->num_owned + (*num_ghosts)++;
  if (h->send_starts[k + 1] > h->send_starts[k])
    p->halo->send_sums[n] += ritz_mesh_mix(h->send_sums[k] + (uint64_t)i);
  if (h->ghost_starts[k + 1] > h->ghost_starts[k])
    p->halo->ghost_sums[n] += ritz_mesh_mix(h->ghost_sums[k] + (uint64_t)i);
}

static int allocate_shared(RitzProductSpace p) {
  RitzHalo h = p->halo;
  int64_t num_send = 0;

  for (int32_t part = next_neighbour(p, -1); part >= 0; part = next_neighbour(p, part)) h->num_neighbours++;
  for (CeedInt i = 0; i < p->num; i++) {
    const struct RitzHalo_private *own = p->factors[i].halo;

    num_send += own->send_starts[own->num_neighbours] * p->factors[i].num_comp;
  }
  const size_t num = (size_t)h->num_neighbours;

  RITZ_TRY(RITZ_MALLOC(p->ceed, num, &h->parts));
  RITZ_TRY(RITZ_CALLOC(p->ceed, num + 1, &h->send_starts));
  RITZ_TRY(RITZ_CALLOC(p->ceed, num + 1, &h->ghost_starts));
  RITZ_TRY(RITZ_CALLOC(p->ceed, num, &h->send_sums));
  RITZ_TRY(RITZ_CALLOC(p->ceed, num, &h->ghost_sums));
  return RITZ_MALLOC(p->ceed, (size_t)num_send, &h->send);
}

// Ghosts by their owners, those of one by their spaces: one message for each neighbour, into one range.
static int create_product_halo(RitzProductSpace p) {
  int64_t num_send = 0, num_ghosts = 0;
  CeedInt n = 0;

  RITZ_TRY(RITZ_CALLOC(p->ceed, 1, &p->halo));
  p->halo->class = &ritz_halo_class;
  p->halo->ceed = p->ceed;
  p->halo->num_owned = p->num_owned;
  p->halo->num_ghosts = p->l_size - p->num_owned;
  RITZ_TRY(allocate_shared(p));
  for (int32_t part = next_neighbour(p, -1); part >= 0; part = next_neighbour(p, part)) {
    p->halo->parts[n] = part;
    for (CeedInt i = 0; i < p->num; i++) add_shared(p, i, n, &num_send, &num_ghosts);
    p->halo->send_starts[++n] = num_send;
    p->halo->ghost_starts[n] = num_ghosts;
  }
  return CEED_ERROR_SUCCESS;
}

int RitzProductSpaceCreate(CeedInt num, const RitzSpace spaces[], RitzProductSpace *product) {
  RitzProductSpace p = NULL;
  RitzMesh mesh;
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_HANDLE(product);
  *product = NULL;
  RITZ_TRY(check_spaces(num, spaces));
  RITZ_TRY(RitzSpaceGetMesh(spaces[0], &mesh));
  RITZ_TRY(RITZ_CALLOC(mesh->ceed, 1, &p));
  p->class = &ritz_product_space_class;
  p->ceed = mesh->ceed;
  p->ref_count = 1;
  RITZ_TRY_CLEANUP(RITZ_CALLOC(mesh->ceed, (size_t)num, &p->factors));
  for (CeedInt i = 0; i < num; i++) RITZ_TRY_CLEANUP(append_space(p, spaces[i]));
  RITZ_TRY_CLEANUP(create_product_halo(p));

cleanup:
  if (ierr) RitzProductSpaceDestroy(&p);
  *product = p;
  return ierr;
}

int RitzProductSpaceDestroy(RitzProductSpace *product) {
  if (!product || !*product) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_check_handle(NULL, __func__, "product", *product, &ritz_product_space_class));
  RitzProductSpace p = *product;
  int ierr = CEED_ERROR_SUCCESS;

  *product = NULL;
  if (--p->ref_count > 0) return CEED_ERROR_SUCCESS;
  for (CeedInt i = 0; i < p->num; i++) {
    for (int b = 0; b < RITZ_MESH_MAX_BLOCKS; b++)
      ierr = ritz_first_error(ierr, CeedElemRestrictionDestroy(&p->factors[i].restrictions[b]));
    ierr = ritz_first_error(ierr, RitzSpaceDestroy(&p->factors[i].space));
    RITZ_FREE(&p->factors[i].ghosts);
  }
  ritz_halo_destroy(&p->halo);
  RITZ_FREE(&p->factors);
  RITZ_FREE(&p);
  return ierr;
}

int RitzProductSpaceReferenceCopy(RitzProductSpace product, RitzProductSpace *copy) {
  RITZ_HANDLE(product);
  RITZ_ARGUMENT(product->ceed, copy);
  if (*copy == product) return CEED_ERROR_SUCCESS;
  RITZ_OPTIONAL(product->ceed, *copy);
  product->ref_count++;
  const int ierr = RitzProductSpaceDestroy(copy);

  *copy = product;
  return ierr;
}

// ---- Queries ----

static int check_index(RitzProductSpace p, CeedInt i, const char *call) {
  RITZ_REQUIRE(i >= 0 && i < p->num, p->ceed, CEED_ERROR_DIMENSION,
               "%s: there is no space %" CeedInt_FMT ", the product has %" CeedInt_FMT, call, i, p->num);
  return CEED_ERROR_SUCCESS;
}

int RitzProductSpaceGetNumSpaces(RitzProductSpace product, CeedInt *num) {
  RITZ_HANDLE(product);
  RITZ_ARGUMENT(product->ceed, num);
  *num = product->num;
  return CEED_ERROR_SUCCESS;
}

int RitzProductSpaceGetSpace(RitzProductSpace product, CeedInt i, RitzSpace *space) {
  RITZ_HANDLE(product);
  RITZ_ARGUMENT(product->ceed, space);
  RITZ_TRY(check_index(product, i, __func__));
  *space = product->factors[i].space;
  return CEED_ERROR_SUCCESS;
}

int RitzProductSpaceGetSize(RitzProductSpace product, CeedSize *l_size) {
  RITZ_HANDLE(product);
  RITZ_ARGUMENT(product->ceed, l_size);
  *l_size = product->l_size;
  return CEED_ERROR_SUCCESS;
}

int RitzProductSpaceGetRange(RitzProductSpace product, CeedInt i, CeedSize *first, CeedSize *length) {
  RITZ_HANDLE(product);
  RITZ_TRY(check_index(product, i, __func__));
  if (first) *first = product->factors[i].first;
  if (length) *length = product->factors[i].num_owned;
  return CEED_ERROR_SUCCESS;
}

int RitzProductSpaceGetHalo(RitzProductSpace product, RitzHalo *halo) {
  RITZ_HANDLE(product);
  RITZ_ARGUMENT(product->ceed, halo);
  *halo = product->halo;
  return CEED_ERROR_SUCCESS;
}

// ---- Restrictions ----

static RitzPlace place_of(RitzProductSpace p, CeedInt i) {
  const Factor *factor = &p->factors[i];

  return (RitzPlace){factor->first, p->l_size, factor->num_owned, factor->ghosts};
}

RitzPlace ritz_member_place(const RitzMember *m) {
  return m->product ? place_of(m->product, m->index) : ritz_space_place(m->space, 0);
}

// Kept for the context that asked last, as those of spaces.
static int share_restriction(RitzProductSpace p, CeedInt i, CeedInt block, Ceed ceed, const char *call,
                             CeedElemRestriction *rstr) {
  CeedElemRestriction *kept = &p->factors[i].restrictions[block];
  const RitzPlace place = place_of(p, i);

  if (*kept && CeedElemRestrictionReturnCeed(*kept) != ceed) RITZ_TRY(CeedElemRestrictionDestroy(kept));
  if (!*kept) {
    RITZ_TRY(ritz_space_create_block_restriction(p->factors[i].space, block, ceed, call, place, kept));
  }
  return CeedElemRestrictionReferenceCopy(*kept, rstr);
}

int ritz_member_restriction(const RitzMember *m, CeedInt block, Ceed ceed, CeedElemRestriction *rstr) {
  if (!m->product) return RitzSpaceCreateBlockRestriction(m->space, block, ceed, rstr);
  return share_restriction(m->product, m->index, block, ceed, "RitzProductSpaceCreateTransfer", rstr);
}

static int check_block(RitzProductSpace p, CeedInt i, CeedInt block, const char *call) {
  RitzMesh mesh;

  RITZ_TRY(check_index(p, i, call));
  RITZ_TRY(RitzSpaceGetMesh(p->factors[i].space, &mesh));
  return ritz_mesh_check_block(mesh, block, call);
}

int RitzProductSpaceCreateBlockRestriction(RitzProductSpace product, CeedInt i, CeedInt block, Ceed ceed,
                                           CeedElemRestriction *rstr) {
  RITZ_HANDLE(product, ceed);
  RITZ_ARGUMENT(product->ceed, ceed);
  RITZ_ARGUMENT(product->ceed, rstr);
  *rstr = NULL;
  RITZ_TRY(check_block(product, i, block, __func__));
  return share_restriction(product, i, block, ceed, __func__, rstr);
}

int RitzProductSpaceCreateElementsRestriction(RitzProductSpace product, CeedInt i, CeedInt block, Ceed ceed,
                                              CeedInt num, const CeedInt elements[],
                                              CeedElemRestriction *rstr) {
  RITZ_HANDLE(product, ceed);
  RITZ_ARGUMENT(product->ceed, ceed);
  RITZ_ARGUMENT(product->ceed, rstr);
  *rstr = NULL;
  RITZ_TRY(check_block(product, i, block, __func__));
  const RitzPlace place = place_of(product, i);

  return ritz_space_create_elements_restriction(product->factors[i].space, block, ceed, __func__, place, num,
                                                elements, rstr);
}

// ---- Vectors ----

static int check_lengths(RitzProductSpace p, CeedInt i, const char *call, CeedVector whole, CeedVector part) {
  CeedSize of_whole = 0, of_part = 0;

  RITZ_ARGUMENT_OF(p->ceed, call, whole);
  RITZ_ARGUMENT_OF(p->ceed, call, part);
  RITZ_TRY(check_index(p, i, call));
  RITZ_TRY(CeedVectorGetLength(whole, &of_whole));
  RITZ_TRY(CeedVectorGetLength(part, &of_part));
  RITZ_REQUIRE(of_whole == p->l_size && of_part == p->factors[i].length, p->ceed, CEED_ERROR_DIMENSION,
               "%s: whole has %" CeedSize_FMT " entries, part %" CeedSize_FMT ", needed %" CeedSize_FMT
               " of the product and %" CeedSize_FMT " of space %" CeedInt_FMT,
               call, of_whole, of_part, p->l_size, p->factors[i].length, i);
  return CEED_ERROR_SUCCESS;
}

static int copy_either(CeedVector whole, CeedSize in_whole, CeedVector part, CeedSize in_part, CeedSize num,
                       bool to_whole) {
  return to_whole ? RitzVectorCopyRange(part, in_part, num, whole, in_whole)
                  : RitzVectorCopyRange(whole, in_whole, num, part, in_part);
}

// Owned entries, and ghosts by runs of them.
static int copy_entries(const Factor *factor, CeedVector whole, CeedVector part, bool to_whole) {
  const int64_t num_ghosts = factor->length - factor->num_owned;
  int64_t num = 0;

  if (num_ghosts > 0 && !to_whole) RITZ_TRY(CeedVectorSetValue(part, 0)); // it is written range by range
  RITZ_TRY(copy_either(whole, factor->first, part, 0, factor->num_owned, to_whole));
  for (int64_t i = 0; i < num_ghosts; i += num) {
    for (num = 1; i + num < num_ghosts && factor->ghosts[i + num] == factor->ghosts[i] + num;) num++;
    RITZ_TRY(copy_either(whole, factor->ghosts[i], part, factor->num_owned + i, num, to_whole));
  }
  return CEED_ERROR_SUCCESS;
}

int RitzProductSpaceGetPart(RitzProductSpace product, CeedInt i, CeedVector whole, CeedVector part) {
  RITZ_HANDLE(product, whole, part);
  RITZ_TRY(check_lengths(product, i, __func__, whole, part));
  return copy_entries(&product->factors[i], whole, part, false);
}

int RitzProductSpaceSetPart(RitzProductSpace product, CeedInt i, CeedVector part, CeedVector whole) {
  RITZ_HANDLE(product, whole, part);
  RITZ_TRY(check_lengths(product, i, __func__, whole, part));
  return copy_entries(&product->factors[i], whole, part, true);
}

// ---- Constraints ----

static int count_constraints(RitzProductSpace p, const RitzIndices of_spaces[], const char *call,
                             int64_t *num) {
  *num = 0;
  for (CeedInt i = 0; i < p->num; i++) {
    const int64_t *entries = NULL;
    int64_t count = 0;

    if (!of_spaces[i]) continue;
    RITZ_ARGUMENT_OF(p->ceed, call, of_spaces[i]);
    RITZ_TRY(RitzIndicesGet(of_spaces[i], &count, &entries));
    RITZ_REQUIRE(count == 0 || entries[count - 1] < p->factors[i].length, p->ceed, CEED_ERROR_DIMENSION,
                 "%s: entry %lld of space %" CeedInt_FMT " is constrained, it has %" CeedSize_FMT " entries",
                 call, (long long)entries[count - 1], i, p->factors[i].length);
    *num += count;
  }
  return CEED_ERROR_SUCCESS;
}

static int fill_constraints(RitzProductSpace p, const RitzIndices of_spaces[], int64_t *entries) {
  int64_t next = 0;

  for (CeedInt i = 0; i < p->num; i++) {
    const RitzPlace place = place_of(p, i);
    const int64_t *own = NULL;
    int64_t count = 0;

    if (of_spaces[i]) RITZ_TRY(RitzIndicesGet(of_spaces[i], &count, &own));
    for (int64_t k = 0; k < count; k++) entries[next++] = ritz_place_of(&place, own[k]);
  }
  return CEED_ERROR_SUCCESS;
}

int RitzProductSpaceCreateConstraints(RitzProductSpace product, Ceed ceed, const RitzIndices of_spaces[],
                                      RitzIndices *constraints) {
  int64_t num = 0, *entries = NULL;

  RITZ_HANDLE(product, ceed);
  RITZ_ARGUMENT(product->ceed, ceed);
  RITZ_ARGUMENT(ceed, constraints);
  *constraints = NULL;
  RITZ_ARGUMENT(ceed, of_spaces);
  RITZ_TRY(count_constraints(product, of_spaces, __func__, &num));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num, &entries));
  int ierr = fill_constraints(product, of_spaces, entries);

  if (!ierr) ierr = RitzIndicesCreate(ceed, num, entries, constraints);
  RITZ_FREE(&entries);
  return ierr;
}

// ---- Transfers ----

static void list_members(RitzProductSpace p, RitzMember members[]) {
  for (CeedInt i = 0; i < p->num; i++) members[i] = (RitzMember){p->factors[i].space, p, i};
}

int RitzProductSpaceCreateTransfer(RitzProductSpace coarse, RitzProductSpace fine, Ceed ceed,
                                   CeedScalarType precision, CeedOperator *prolong,
                                   CeedOperator *restriction) {
  RitzMember *members = NULL; // owned: of coarse, of fine

  RITZ_HANDLE(coarse, fine, ceed);
  RITZ_ARGUMENT(coarse->ceed, fine);
  RITZ_ARGUMENT(coarse->ceed, ceed);
  if (prolong) *prolong = NULL;
  if (restriction) *restriction = NULL;
  RITZ_REQUIRE(coarse->num == fine->num, ceed, CEED_ERROR_DIMENSION,
               "%s: the coarse product has %" CeedInt_FMT " spaces, the fine one %" CeedInt_FMT
               ", needed as many",
               __func__, coarse->num, fine->num);
  RITZ_REQUIRE(coarse->halo->num_ghosts == 0 && fine->halo->num_ghosts == 0, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: the products are on a part of a mesh, needed a whole one", __func__);
  RITZ_TRY(RITZ_MALLOC(ceed, 2 * (size_t)fine->num, &members));
  list_members(coarse, members);
  list_members(fine, members + fine->num);
  const int ierr = ritz_transfer_create(ceed, __func__, precision, fine->num, members, members + fine->num,
                                        prolong, restriction);

  RITZ_FREE(&members);
  return ierr;
}
