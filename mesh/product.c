// SPDX-License-Identifier: BSD-2-Clause
// Products of spaces of one mesh: their L-vectors, restrictions, constraints. Public functions (contract in
// ritz/product.h); offsets are those of mesh/space.c, transfers those of mesh/transfer.c.
#include "mesh/product.h"

#include <ritz/partition.h>
#include <stdlib.h>

const RitzClass ritz_product_space_class = {.name = "RitzProductSpace"};

typedef struct {
  RitzSpace space;                                        // counted
  CeedSize first, length;                                 // of its entries
  CeedElemRestriction restrictions[RITZ_MESH_MAX_BLOCKS]; // counted, made on request
} Factor;

struct RitzProductSpace_private {
  const RitzClass *class;
  Ceed ceed; // borrowed: lives in the mesh of the spaces
  int ref_count;
  CeedInt num;
  Factor *factors; // owned, [num]
  CeedSize l_size;
};

// ---- Life ----

static int check_spaces(CeedInt num, const RitzSpace spaces[]) {
  RitzMesh mesh, other;
  CeedInt num_parts = 1;

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
  RITZ_TRY(RitzMeshGetPart(mesh, &num_parts, NULL));
  RITZ_REQUIRE(num_parts == 1, mesh->ceed, CEED_ERROR_UNSUPPORTED,
               "RitzProductSpaceCreate: the mesh is a part of one in %" CeedInt_FMT
               " parts, needed a whole mesh",
               num_parts);
  return CEED_ERROR_SUCCESS;
}

static int append_space(RitzProductSpace p, RitzSpace space) {
  Factor *factor = &p->factors[p->num];

  RITZ_TRY(RitzSpaceGetSize(space, &factor->length));
  RITZ_REQUIRE(factor->length <= INT64_MAX / 8 - p->l_size, p->ceed, CEED_ERROR_DIMENSION,
               "RitzProductSpaceCreate: the L-vector of the product is too long");
  RITZ_TRY(RitzSpaceReferenceCopy(space, &factor->space));
  factor->first = p->l_size;
  p->l_size += factor->length;
  p->num++;
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
  }
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
  if (length) *length = product->factors[i].length;
  return CEED_ERROR_SUCCESS;
}

// ---- Restrictions ----

RitzPlace ritz_member_place(const RitzMember *m) {
  if (!m->product) return ritz_space_place(m->space, 0);
  return (RitzPlace){m->product->factors[m->index].first, m->product->l_size};
}

// Kept for the context that asked last, as those of spaces.
static int share_restriction(RitzProductSpace p, CeedInt i, CeedInt block, Ceed ceed, const char *call,
                             CeedElemRestriction *rstr) {
  CeedElemRestriction *kept = &p->factors[i].restrictions[block];
  const RitzPlace place = {p->factors[i].first, p->l_size};

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
  const RitzPlace place = {product->factors[i].first, product->l_size};

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

int RitzProductSpaceGetPart(RitzProductSpace product, CeedInt i, CeedVector whole, CeedVector part) {
  RITZ_HANDLE(product, whole, part);
  RITZ_TRY(check_lengths(product, i, __func__, whole, part));
  const Factor *factor = &product->factors[i];

  return RitzVectorCopyRange(whole, factor->first, factor->length, part, 0);
}

int RitzProductSpaceSetPart(RitzProductSpace product, CeedInt i, CeedVector part, CeedVector whole) {
  RITZ_HANDLE(product, whole, part);
  RITZ_TRY(check_lengths(product, i, __func__, whole, part));
  const Factor *factor = &product->factors[i];

  return RitzVectorCopyRange(part, 0, factor->length, whole, factor->first);
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
    const int64_t *own = NULL;
    int64_t count = 0;

    if (of_spaces[i]) RITZ_TRY(RitzIndicesGet(of_spaces[i], &count, &own));
    for (int64_t k = 0; k < count; k++) entries[next++] = p->factors[i].first + own[k];
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
  RITZ_TRY(RITZ_MALLOC(ceed, 2 * (size_t)fine->num, &members));
  list_members(coarse, members);
  list_members(fine, members + fine->num);
  const int ierr = ritz_transfer_create(ceed, __func__, precision, fine->num, members, members + fine->num,
                                        prolong, restriction);

  RITZ_FREE(&members);
  return ierr;
}
