// SPDX-License-Identifier: BSD-2-Clause
// BLAKE2s as section 3 of RFC 7693 defines it (contract in jit/hash.h).
#include "jit/hash.h"

#include <stdio.h>
#include <string.h>

static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

static const uint8_t order[10][16] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                      {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
                                      {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
                                      {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
                                      {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
                                      {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
                                      {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
                                      {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
                                      {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
                                      {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

static uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

// One step on words of the state; with constant numbers of words all of it stays in registers.
static inline void mix(uint32_t v[16], int a, int b, int c, int d, uint32_t x, uint32_t y) {
  v[a] += v[b] + x;
  v[d] = rotate(v[d] ^ v[a], 16);
  v[c] += v[d];
  v[b] = rotate(v[b] ^ v[c], 12);
  v[a] += v[b] + y;
  v[d] = rotate(v[d] ^ v[a], 8);
  v[c] += v[d];
  v[b] = rotate(v[b] ^ v[c], 7);
}

static inline void mix_columns_and_diagonals(uint32_t v[16], const uint32_t m[16], const uint8_t s[16]) {
  mix(v, 0, 4, 8, 12, m[s[0]], m[s[1]]);
  mix(v, 1, 5, 9, 13, m[s[2]], m[s[3]]);
  mix(v, 2, 6, 10, 14, m[s[4]], m[s[5]]);
  mix(v, 3, 7, 11, 15, m[s[6]], m[s[7]]);
  mix(v, 0, 5, 10, 15, m[s[8]], m[s[9]]);
  mix(v, 1, 6, 11, 12, m[s[10]], m[s[11]]);
  mix(v, 2, 7, 8, 13, m[s[12]], m[s[13]]);
  mix(v, 3, 4, 9, 14, m[s[14]], m[s[15]]);
}

static void compress(RitzHasher *hasher, const uint8_t block[64], uint32_t is_last) {
  uint32_t m[16], v[16];

  for (int i = 0; i < 16; i++)
    m[i] = block[4 * i] | (uint32_t)block[4 * i + 1] << 8 | (uint32_t)block[4 * i + 2] << 16 |
           (uint32_t)block[4 * i + 3] << 24;
  memcpy(v, hasher->state, sizeof(hasher->state));
  memcpy(v + 8, initial, sizeof(initial));
  v[12] ^= (uint32_t)hasher->num_bytes;
  v[13] ^= (uint32_t)(hasher->num_bytes >> 32);
  v[14] ^= is_last;
  for (int round = 0; round < 10; round++) mix_columns_and_diagonals(v, m, order[round]);
  for (int i = 0; i < 8; i++) hasher->state[i] ^= v[i] ^ v[8 + i];
}

// 32 bytes of digest, no key, no tree.
void ritz_hash_begin(RitzHasher *hasher) {
  *hasher = (RitzHasher){.num_bytes = 0};
  memcpy(hasher->state, initial, sizeof(initial));
  hasher->state[0] ^= 0x01010020;
}

void ritz_hash_add(RitzHasher *hasher, const void *data, size_t size) {
  const uint8_t *bytes = data;

  while (size) {
    if (hasher->num_block == 64) { // the last block waits for ritz_hash_end
      hasher->num_bytes += 64;
      compress(hasher, hasher->block, 0);
      hasher->num_block = 0;
    }
    size_t n = 64 - hasher->num_block < size ? 64 - hasher->num_block : size;
    memcpy(hasher->block + hasher->num_block, bytes, n);
    hasher->num_block += n;
    bytes += n;
    size -= n;
  }
}

void ritz_hash_add_string(RitzHasher *hasher, const char *text) {
  if (!text) text = "";
  ritz_hash_add(hasher, text, strlen(text) + 1);
}

RitzHash ritz_hash_end(RitzHasher *hasher) {
  RitzHash hash;

  memset(hasher->block + hasher->num_block, 0, 64 - hasher->num_block);
  hasher->num_bytes += hasher->num_block;
  compress(hasher, hasher->block, UINT32_MAX);
  for (int i = 0; i < RITZ_HASH_LENGTH / 2; i++)
    sprintf(hash.hex + 2 * i, "%02x", (unsigned)(hasher->state[i / 4] >> 8 * (i % 4) & 0xff));
  return hash;
}
