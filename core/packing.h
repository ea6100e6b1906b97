// SPDX-License-Identifier: BSD-2-Clause
// The packed place of a storage: its memory, its order, its way to and from the host's array. Called by
// core/storage.c and core/vector.c; what backends use of it is in core/core.h.
#ifndef RITZ_CORE_PACKING_H
#define RITZ_CORE_PACKING_H

#include "core/core.h"

// Entries that an array must have at least to be packed like this.
CeedSize ritz_packing_length(const RitzPacking *packing);
// The data are packed, and in this order.
bool ritz_storage_is_packed(const RitzStorage *storage, const RitzPacking *packing);
// Makes them so, from any valid place.
int ritz_storage_pack(Ceed ceed, RitzStorage *storage, const RitzPacking *packing);
// Memory for packed data that will be overwritten; *is_whole false, and none: they would not hold the whole
// array, or there is a host's array to be kept.
int ritz_storage_reserve_packed(Ceed ceed, RitzStorage *storage, const RitzPacking *packing, bool *is_whole);
// Frees the host's array, which must not be lent out, when the packed data, which are valid, hold all of it.
void ritz_storage_drop_host(RitzStorage *storage);
// Packed data, which hold the whole array, to the host's array, which exists.
void ritz_storage_unpack(RitzStorage *storage);

#endif
