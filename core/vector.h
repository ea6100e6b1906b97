// SPDX-License-Identifier: BSD-2-Clause
// What the files of CeedVector share among themselves: the rules of access, for entries of either size.
// `call` is named in messages.
#ifndef RITZ_CORE_VECTOR_H
#define RITZ_CORE_VECTOR_H

#include "core/core.h"

// A new vector of a precision that ritz_check_precision accepts.
int ritz_vector_create(Ceed ceed, const char *call, CeedSize length, CeedScalarType precision,
                       CeedVector *vec);

// The locks of an access, and whether there are values.
int ritz_vector_require_unlocked(CeedVector vec, const char *call);
int ritz_vector_require_readable(CeedVector vec, const char *call);
int ritz_vector_require_data(CeedVector vec, const char *call);
// The vector of an argument or a field, which the message names, has data; vectors that are lent out are left
// to the access.
int ritz_vector_require_data_of(CeedVector vec, const char *call, const char *name);

// An access in two steps: whether it is granted, then the array. A refusal leaves the caller's pointer alone;
// a failure of the second step sets it to NULL.
int ritz_vector_grant(CeedVector vec, const char *call, RitzAccess access, CeedMemType mem_type,
                      RitzRepKind *kind);
int ritz_vector_hand_out(CeedVector vec, RitzAccess access, RitzRepKind kind, void **array);
int ritz_vector_require_granted(CeedVector vec, const char *call, RitzAccess access);
int ritz_vector_give_back(CeedVector vec, RitzAccess access, void *array);
int ritz_vector_set(CeedVector vec, const char *call, CeedMemType mem_type, CeedCopyMode copy_mode,
                    void *array);
int ritz_vector_take(CeedVector vec, const char *call, CeedMemType mem_type, void **array);

#endif
