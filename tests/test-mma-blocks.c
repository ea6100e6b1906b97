// SPDX-License-Identifier: BSD-2-Clause
// The kernel of batched products of large matrices (kernels/gpu/batched-products.h) by tensor cores, played
// by a host: bounds 40 x 21 with 37 products, parts of 96 x 16.
#include "tests/played-device.h"

#define RITZ_M 40
#define RITZ_N 21
#define RITZ_K 37
#define RITZ_PRODUCT
#define RITZ_WARP_ROWS    32
#define RITZ_WARP_COLS    16
#define RITZ_TILE_ROWS    3
#define RITZ_TILE_COLS    1
#define RITZ_STAGES       3
#define RITZ_SHARED_BYTES 65536
#define RITZ_THREADS      96
#define RITZ_RESIDENT     1
#include "kernels/gpu/batched-blocks.h"
#include "tests/played-products.h"

TEST(threads_of_a_warp_give_tensor_cores_every_entry_once) { multiply_all(); }

int main(int argc, char **argv) {
  return tap_main(argc, argv, TESTS(threads_of_a_warp_give_tensor_cores_every_entry_once));
}
