// SPDX-License-Identifier: BSD-2-Clause
// PNG: rows after a filter, as a zlib stream, in chunks with checksums (contract in cli/png.h). Called by
// cli/picture.c.
#include "cli/png.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef RITZ_HAVE_ZLIB
#include <zlib.h>
#endif

typedef struct {
  unsigned char *bytes; // owned
  size_t size;
} Bytes;

static void put_word(unsigned char *out, uint32_t word) {
  for (int i = 0; i < 4; i++) out[i] = (unsigned char)(word >> (24 - 8 * i));
}

// ---- zlib stream (RFC 1950, RFC 1951) ----

static uint32_t adler32_of(const unsigned char *bytes, size_t size) {
  uint32_t a = 1, b = 0;

  for (size_t i = 0; i < size; i++) {
    a = (a + bytes[i]) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

static Bytes store(const unsigned char *bytes, size_t size) {
  enum { BLOCK = 65535 };
  const size_t num_blocks = (size + BLOCK - 1) / BLOCK;
  Bytes out = {malloc(size + 5 * num_blocks + 6), 2};

  if (!out.bytes) return out;
  memcpy(out.bytes, "\x78\x01", 2);
  for (size_t done = 0; done < size;) {
    const size_t now = size - done < BLOCK ? size - done : BLOCK;
    const unsigned char head[5] = {done + now == size, now & 255, (unsigned char)(now >> 8), ~now & 255,
                                   (unsigned char)(~now >> 8)};

    memcpy(out.bytes + out.size, head, 5);
    memcpy(out.bytes + out.size + 5, bytes + done, now);
    out.size += now + 5;
    done += now;
  }
  put_word(out.bytes + out.size, adler32_of(bytes, size));
  out.size += 4;
  return out;
}

#ifdef RITZ_HAVE_ZLIB
static Bytes pack(const unsigned char *bytes, size_t size) {
  uLongf packed_size = compressBound(size);
  Bytes out = {malloc(packed_size), 0};

  if (out.bytes && compress2(out.bytes, &packed_size, bytes, size, Z_BEST_COMPRESSION) != Z_OK) {
    free(out.bytes);
    out.bytes = NULL;
  }
  out.size = packed_size;
  return out;
}
#else
static Bytes pack(const unsigned char *bytes, size_t size) { return store(bytes, size); }
#endif

// ---- Rows ----

// Each row: the number of its filter, 2, and the differences to the row above.
static unsigned char *filter(int height, size_t row, const unsigned char *pixels) {
  unsigned char *out = malloc((row + 1) * (size_t)height);

  for (int y = 0; out && y < height; y++) {
    unsigned char *to = out + (row + 1) * (size_t)y;
    const unsigned char *from = pixels + row * (size_t)y;

    *to++ = 2;
    for (size_t i = 0; i < row; i++) to[i] = (unsigned char)(from[i] - (y ? (from - row)[i] : 0));
  }
  return out;
}

// ---- Chunks ----

static uint32_t crc_of(const unsigned char *bytes, size_t size) {
  uint32_t crc = UINT32_C(0xffffffff);

  for (size_t i = 0; i < size; i++) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
  }
  return ~crc;
}

static void add_chunk(Bytes *file, const char *type, const void *data, size_t size) {
  unsigned char *out = file->bytes + file->size;

  put_word(out, (uint32_t)size);
  memcpy(out + 4, type, 4);
  if (size) memcpy(out + 8, data, size);
  put_word(out + 8 + size, crc_of(out + 4, size + 4));
  file->size += size + 12;
}

unsigned char *png_encode(int width, int height, const unsigned char *pixels, bool is_packed, size_t *size) {
  const size_t row = (size_t)width * 3;
  unsigned char *rows = filter(height, row, pixels), head[13] = {[8] = 8, [9] = 2}; // bits, red green blue
  const Bytes data = rows ? (is_packed ? pack : store)(rows, (row + 1) * (size_t)height) : (Bytes){0};
  Bytes file = {data.bytes ? malloc(data.size + 100) : NULL, 8};

  if (file.bytes) {
    memcpy(file.bytes, "\x89PNG\r\n\x1a\n", 8);
    put_word(head, (uint32_t)width);
    put_word(head + 4, (uint32_t)height);
    add_chunk(&file, "IHDR", head, sizeof(head));
    add_chunk(&file, "IDAT", data.bytes, data.size);
    add_chunk(&file, "IEND", NULL, 0);
  }
  free(rows);
  free(data.bytes);
  *size = file.size;
  return file.bytes;
}
