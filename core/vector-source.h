// SPDX-License-Identifier: BSD-2-Clause
// Vectors whose values an operator computes of its passive inputs, when they are read and something that the
// operator reads has changed since: what derivatives store at points; or once: geometric factors.
#ifndef RITZ_CORE_VECTOR_SOURCE_H
#define RITZ_CORE_VECTOR_SOURCE_H

#include "core/core.h"

// From now on values of vec are those that op, a single operator without active inputs, gives; vec has none
// before. Read are its passive inputs and the context of its QFunction: new values in any of them, and what
// others write into vec, make the next read of vec apply op again. The operator is kept by reference; it does
// not read vec.
int ritz_vector_set_source(CeedVector vec, CeedOperator op);

// vec := what such an operator gives, which nothing changes later. Where kernels are made beside the program,
// on devices, that of op begins to be made here; the first read of vec applies op, which is kept until then.
int ritz_vector_compute_once(CeedVector vec, CeedOperator op);

#endif
