// SPDX-License-Identifier: BSD-2-Clause
// The kernel of batched products of large matrices (kernels/gpu/batched-products.h) by tensor cores, played
// by a host, and its tests: bounds 40 x 21 with 37 products. The text in front, behind tests/played-device.h,
// defines RITZ_TURNED_A, _B and the shape of parts, of three warps.
#ifndef RITZ_TESTS_PLAYED_BLOCKS_H
#define RITZ_TESTS_PLAYED_BLOCKS_H

#define RITZ_M 40
#define RITZ_N 21
#define RITZ_K 37
#define RITZ_PRODUCT
#define RITZ_STAGES       3
#define RITZ_SHARED_BYTES 65536
#define RITZ_THREADS      96
#define RITZ_RESIDENT     1
#include "kernels/gpu/batched-blocks.h"
#include "tests/played-products.h"

#endif
