// SPDX-License-Identifier: BSD-2-Clause
// Products of spaces of one mesh, for problems of several fields of different degrees and numbers of
// components: velocity and pressure, displacement and temperature (doc/mixed.md).
//
// L-vector of a product: those of its spaces (ritz/space.h), one after the other; space i has the entries
// first .. first + length - 1 of RitzProductSpaceGetRange. On a part of a mesh (ritz/partition.h) these are
// the owned ones, and the ghosts of all spaces follow, by their owners, those of one owner by their spaces:
//
//     owned of 0 | owned of 1 | ... | ghosts of 0 of part a | of 1 of part a | ... | of 0 of part b | ...
//
// so that exchanges (RitzExchangeCreateOfProduct, ritz/exchange.h) and solvers are those of single spaces.
//
// An operator on a product has one active input and one active output vector as any other: each of its active
// fields takes the restriction of its space in the product, and so all fields are in one kernel.
//
// Products are no RitzSpace: what is made of a single space (hierarchies, coordinates of nodes, output) is
// made of the spaces in them.
#ifndef RITZ_PRODUCT_H
#define RITZ_PRODUCT_H

#include <ceed.h>
#include <ritz/partition.h>
#include <ritz/space.h>
#include <ritz/vector.h>

typedef struct RitzProductSpace_private *RitzProductSpace;

// num >= 1 spaces, referenced; a space may come up several times. Errors: CEED_ERROR_DIMENSION (num < 1,
// sizes beyond 64 bits), CEED_ERROR_INCOMPATIBLE (spaces on different meshes). Memory, in parts: 8 bytes an
// entry of a ghost, and 8 for each entry that is sent.
CEED_EXTERN int RitzProductSpaceCreate(CeedInt num, const RitzSpace spaces[], RitzProductSpace *product);
CEED_EXTERN int RitzProductSpaceReferenceCopy(RitzProductSpace product, RitzProductSpace *copy);
CEED_EXTERN int RitzProductSpaceDestroy(RitzProductSpace *product);

// Number of spaces, each as often as it comes up.
CEED_EXTERN int RitzProductSpaceGetNumSpaces(RitzProductSpace product, CeedInt *num);
// Space i.
CEED_EXTERN int RitzProductSpaceGetSpace(RitzProductSpace product, CeedInt i, RitzSpace *space); // borrowed
// Length of L-vectors of the product.
CEED_EXTERN int RitzProductSpaceGetSize(RitzProductSpace product, CeedSize *l_size);
// The entries of space i in the L-vector of the product, in parts the owned ones. Either pointer may be NULL.
CEED_EXTERN int RitzProductSpaceGetRange(RitzProductSpace product, CeedInt i, CeedSize *first,
                                         CeedSize *length);
// What the product shares with other parts, with entries in the place of nodes; without any on a whole mesh.
// Belongs to the product.
CEED_EXTERN int RitzProductSpaceGetHalo(RitzProductSpace product, RitzHalo *halo);

// The restriction of space i in the product: from and to L-vectors of the product. As
// RitzSpaceCreateBlockRestriction and RitzSpaceCreateElementsRestriction otherwise; those of blocks are kept
// and shared. The bases are those of the space (RitzSpaceCreateBlockBasis).
CEED_EXTERN int RitzProductSpaceCreateBlockRestriction(RitzProductSpace product, CeedInt i, CeedInt block,
                                                       Ceed ceed, CeedElemRestriction *rstr);
CEED_EXTERN int RitzProductSpaceCreateElementsRestriction(RitzProductSpace product, CeedInt i, CeedInt block,
                                                          Ceed ceed, CeedInt num, const CeedInt elements[],
                                                          CeedElemRestriction *rstr);

// part := the entries of space i in whole, in parts ghosts, too; and the other way round, where `whole` needs
// values and keeps those of other spaces. Copies, made where the vectors' context computes. Errors:
// CEED_ERROR_DIMENSION (lengths), those of RitzVectorCopyRange (ritz/vector.h).
CEED_EXTERN int RitzProductSpaceGetPart(RitzProductSpace product, CeedInt i, CeedVector whole,
                                        CeedVector part);
CEED_EXTERN int RitzProductSpaceSetPart(RitzProductSpace product, CeedInt i, CeedVector part,
                                        CeedVector whole);

// Constraints of the product from those of its spaces (RitzSpaceCreateConstraints): of_spaces [number of
// spaces], NULL where a space has none. Entries beyond a space: CEED_ERROR_DIMENSION.
CEED_EXTERN int RitzProductSpaceCreateConstraints(RitzProductSpace product, Ceed ceed,
                                                  const RitzIndices of_spaces[], RitzIndices *constraints);

// Transfers between products of as many spaces, space by space as RitzSpaceCreateTransfer (ritz/multigrid.h),
// in one operator each way. Coarser products are products of coarser spaces, for example of the same level of
// hierarchies of each space (RitzHierarchyGetSpace), whose meshes are the same. Errors: CEED_ERROR_DIMENSION
// (another number of spaces), CEED_ERROR_UNSUPPORTED (products with ghosts: multigrid in parts is for single
// spaces, in blocks of RitzPreconditionerCreatePartBlocks), those of RitzSpaceCreateTransfer.
CEED_EXTERN int RitzProductSpaceCreateTransfer(RitzProductSpace coarse, RitzProductSpace fine, Ceed ceed,
                                               CeedScalarType precision, CeedOperator *prolong,
                                               CeedOperator *restriction);

#endif
