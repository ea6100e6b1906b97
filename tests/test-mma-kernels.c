// SPDX-License-Identifier: BSD-2-Clause
// The kernel of batched products of small matrices by tensor cores (kernels/gpu/batched-mma.h), played by a
// host: bounds 40 x 21 with 27 products, three warps.
#include "tests/played-device.h"

#define RITZ_M     40
#define RITZ_N     21
#define RITZ_K     27
#define RITZ_TILES 1
#define RITZ_WARPS 3
#define RITZ_SHARES
#define RITZ_THREADS  96
#define RITZ_RESIDENT 1
#include "kernels/gpu/batched-mma.h"
#include "tests/played-products.h"
