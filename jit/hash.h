// SPDX-License-Identifier: BSD-2-Clause
// BLAKE2s (RFC 7693) without a key, shortened to 160 bits: names of entries and proof of what files hold.
// Called by all of jit/.
#ifndef RITZ_JIT_HASH_H
#define RITZ_JIT_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
  uint32_t state[8];
  uint8_t block[64];
  size_t num_block; // bytes waiting in `block`
  uint64_t num_bytes;
} RitzHasher;

enum { RITZ_HASH_LENGTH = 40 }; // hexadecimal digits

typedef struct {
  char hex[RITZ_HASH_LENGTH + 1];
} RitzHash;

void ritz_hash_begin(RitzHasher *hasher);
void ritz_hash_add(RitzHasher *hasher, const void *data, size_t size);
// With the terminating zero, so that sequences of strings are told apart; NULL counts as "".
void ritz_hash_add_string(RitzHasher *hasher, const char *text);
RitzHash ritz_hash_end(RitzHasher *hasher);

#endif
