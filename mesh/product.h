// SPDX-License-Identifier: BSD-2-Clause
// Spaces as members of products: what mesh/transfer.c needs to make transfers of either. Functions in
// mesh/product.c and mesh/transfer.c.
#ifndef RITZ_MESH_PRODUCT_H
#define RITZ_MESH_PRODUCT_H

#include <ritz/product.h>

#include "mesh/mesh.h"

typedef struct {
  RitzSpace space;          // borrowed, as the product
  RitzProductSpace product; // that has it; NULL: the space by itself
  CeedInt index;            // which of the product's spaces
} RitzMember;

RitzPlace ritz_member_place(const RitzMember *member);
// That of a block, kept by the product or space.
int ritz_member_restriction(const RitzMember *member, CeedInt block, Ceed ceed, CeedElemRestriction *rstr);

// Transfers of num pairs of spaces, all members of the same two products, in one operator each way, NULL
// where it is not wanted. Results are NULL after a failure.
int ritz_transfer_create(Ceed ceed, const char *call, CeedScalarType precision, CeedInt num,
                         const RitzMember coarse[], const RitzMember fine[], CeedOperator *prolong,
                         CeedOperator *restriction);

#endif
