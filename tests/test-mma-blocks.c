// SPDX-License-Identifier: BSD-2-Clause
// Products of large matrices as they are stored, in parts of 96 x 16.
#include "tests/played-device.h"

#define RITZ_WARP_ROWS 32
#define RITZ_WARP_COLS 16
#define RITZ_TILE_ROWS 3
#define RITZ_TILE_COLS 1
#include "tests/played-blocks.h"
