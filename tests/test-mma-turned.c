// SPDX-License-Identifier: BSD-2-Clause
// Products of large matrices with transposes of both operands, in parts of 16 x 48.
#include "tests/played-device.h"

#define RITZ_TURNED_A
#define RITZ_TURNED_B
#define RITZ_WARP_ROWS 16
#define RITZ_WARP_COLS 16
#define RITZ_TILE_ROWS 1
#define RITZ_TILE_COLS 3
#include "tests/played-blocks.h"
