// SPDX-License-Identifier: BSD-2-Clause
// The checking backend: computes with another one and watches what programs and QFunctions do with arrays.
//  - Every access to a vector gets a copy of its own between guard zones: writes outside the array, writes
//  through read-only pointers
//    and (NaN after the access has ended) reads through stale pointers show.
//  - Arrays for writing start as NaN; a QFunction that leaves an output unwritten, changes an input, or
//  changes a read-only context is an error.
// Errors are codes and messages; no signal handlers.
#ifndef RITZ_BACKENDS_CHECK_H
#define RITZ_BACKENDS_CHECK_H

#include "core/core.h"

extern const RitzBackend ritz_check_backend;

// ---- vector.c ----
int ritz_check_vector_lend(CeedVector vec, RitzAccess access, RitzRepKind kind, void **array);
int ritz_check_vector_take_back(CeedVector vec, void *array);
void ritz_check_vector_forget(CeedVector vec);

// ---- qfunction.c ----
// The user's function with all checks; arrays have exactly size * Q entries a field.
int ritz_check_qfunction_call(CeedQFunction qf, void *ctx, CeedInt Q, const CeedScalar *const *in,
                              CeedScalar *const *out);

// ---- guard.c ----
// n entries of 4 or 8 bytes between guard zones. `fill` with the marked NaN, else left unset. Free with
// ritz_check_guarded_free.
int ritz_check_guarded_alloc(Ceed ceed, CeedSize n, size_t entry_bytes, bool fill, void **array);
void ritz_check_guarded_free(size_t entry_bytes, void **array);
bool ritz_check_guards_are_intact(const void *array, CeedSize n, size_t entry_bytes);
void ritz_check_fill_marked(CeedSize n, size_t entry_bytes, void *array);
// First entry that still is the marked NaN (bit for bit); -1: none.
CeedSize ritz_check_find_marked(CeedSize n, const CeedScalar *array);

#endif
