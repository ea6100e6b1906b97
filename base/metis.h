// SPDX-License-Identifier: BSD-2-Clause
// METIS, looked up at run time by the name that it had when this library was built; it stays loaded. Called
// by orderings (solver/multifrontal-order.c) and partitions (mesh/partition-metis.c), which alone see
// metis.h.
#ifndef RITZ_BASE_METIS_H
#define RITZ_BASE_METIS_H

#include <stddef.h>

// The function of that name; NULL: there is no METIS, or its integers have another size than idx_t of the
// header that the caller was compiled with, index_size in bytes. Calls of it hold RITZ_LOCK_METIS.
void *ritz_metis_function(const char *name, size_t index_size);

#endif
