// SPDX-License-Identifier: BSD-2-Clause
// Files of Portable Network Graphics (ISO/IEC 15948): eight bits of red, green and blue. Used by
// cli/picture.c.
#ifndef RITZ_CLI_PNG_H
#define RITZ_CLI_PNG_H

#include <stdbool.h>
#include <stddef.h>

// The file of pixels [height][width][3] as new bytes, for free(); NULL: no memory. Compressed where Ritz has
// zlib and `is_packed` says so, else in stored blocks.
unsigned char *png_encode(int width, int height, const unsigned char *pixels, bool is_packed, size_t *size);

#endif
