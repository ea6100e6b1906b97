// SPDX-License-Identifier: BSD-2-Clause
// Inflate, written out after RFC 1950 and RFC 1951, for tests that read what Ritz compresses: they share
// nothing with the writer, not even zlib.
#ifndef RITZ_TESTS_INFLATE_H
#define RITZ_TESTS_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
  const unsigned char *in;
  size_t in_size, in_place;
  unsigned char *out;
  size_t out_size, out_place;
  uint32_t bits;
  int num_bits;
  bool is_broken;
} Inflate;

static uint32_t inflate_bits(Inflate *s, int n) {
  while (s->num_bits < n) {
    if (s->in_place == s->in_size) {
      s->is_broken = true;
      return 0;
    }
    s->bits |= (uint32_t)s->in[s->in_place++] << s->num_bits;
    s->num_bits += 8;
  }
  uint32_t value = s->bits & ((UINT32_C(1) << n) - 1);
  s->bits >>= n;
  s->num_bits -= n;
  return value;
}

static void inflate_put(Inflate *s, unsigned char byte) {
  if (s->out_place < s->out_size) {
    s->out[s->out_place++] = byte;
  } else {
    s->is_broken = true;
  }
}

// Canonical codes: count[l] codes of length l, their symbols in order.
typedef struct {
  int count[16], symbol[288];
} InflateCode;

static void inflate_make_code(InflateCode *code, const unsigned char *lengths, int n) {
  int first[16] = {0};

  memset(code, 0, sizeof(*code));
  for (int i = 0; i < n; i++) code->count[lengths[i]]++;
  code->count[0] = 0;
  for (int l = 1; l < 15; l++) first[l + 1] = first[l] + code->count[l];
  for (int i = 0; i < n; i++) {
    if (lengths[i]) code->symbol[first[lengths[i]]++] = i;
  }
}

static int inflate_symbol(Inflate *s, const InflateCode *code) {
  int value = 0, first = 0, index = 0;

  for (int l = 1; l < 16 && !s->is_broken; l++) {
    value |= (int)inflate_bits(s, 1);
    if (value - first < code->count[l]) return code->symbol[index + value - first];
    index += code->count[l];
    first = (first + code->count[l]) << 1;
    value <<= 1;
  }
  s->is_broken = true;
  return 0;
}

static void inflate_match(Inflate *s, int symbol, const InflateCode *distances) {
  static const int length_base[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                    31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
  static const int length_bits[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                    2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};

  if (symbol > 285) {
    s->is_broken = true;
    return;
  }
  int length = length_base[symbol - 257] + (int)inflate_bits(s, length_bits[symbol - 257]);
  int d = inflate_symbol(s, distances);
  int extra = d < 2 ? 0 : d / 2 - 1; // distances double every second code
  size_t distance = (size_t)(d < 2 ? d : (2 + d % 2) << extra) + inflate_bits(s, extra) + 1;

  if (d > 29 || distance > s->out_place) s->is_broken = true;
  for (int i = 0; i < length && !s->is_broken; i++) inflate_put(s, s->out[s->out_place - distance]);
}

static void inflate_dynamic_codes(Inflate *s, InflateCode *literals, InflateCode *distances) {
  static const int order[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  unsigned char lengths[320 + 138] = {0}, small[19] = {0};
  int num_literals = (int)inflate_bits(s, 5) + 257, num_distances = (int)inflate_bits(s, 5) + 1;
  int num_small = (int)inflate_bits(s, 4) + 4, n = 0;
  InflateCode code;

  for (int i = 0; i < num_small; i++) small[order[i]] = (unsigned char)inflate_bits(s, 3);
  inflate_make_code(&code, small, 19);
  while (n < num_literals + num_distances && !s->is_broken) {
    int symbol = inflate_symbol(s, &code), repeat = 1;
    unsigned char length = (unsigned char)symbol;

    if (symbol >= 16) {
      length = symbol == 16 && n ? lengths[n - 1] : 0;
      repeat = symbol == 16   ? 3 + (int)inflate_bits(s, 2)
               : symbol == 17 ? 3 + (int)inflate_bits(s, 3)
                              : 11 + (int)inflate_bits(s, 7);
    }
    while (repeat-- > 0) lengths[n++] = length;
  }
  if (num_literals > 286 || n != num_literals + num_distances) s->is_broken = true;
  if (s->is_broken) return;
  inflate_make_code(literals, lengths, num_literals);
  inflate_make_code(distances, lengths + num_literals, num_distances);
}

static void inflate_fixed_codes(InflateCode *literals, InflateCode *distances) {
  unsigned char lengths[288];

  for (int i = 0; i < 288; i++) lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
  inflate_make_code(literals, lengths, 288);
  memset(lengths, 5, 30);
  inflate_make_code(distances, lengths, 30);
}

static void inflate_stored(Inflate *s) {
  s->bits = 0, s->num_bits = 0;
  uint32_t length = inflate_bits(s, 16), check = inflate_bits(s, 16);

  if (length != (check ^ 0xffff)) s->is_broken = true;
  for (uint32_t i = 0; i < length && !s->is_broken; i++) inflate_put(s, (unsigned char)inflate_bits(s, 8));
}

static void inflate_block(Inflate *s, int type) {
  InflateCode literals, distances;

  if (type == 0) {
    inflate_stored(s);
    return;
  }
  if (type == 1) {
    inflate_fixed_codes(&literals, &distances);
  } else if (type == 2) {
    inflate_dynamic_codes(s, &literals, &distances);
  } else {
    s->is_broken = true;
  }
  while (!s->is_broken) {
    int symbol = inflate_symbol(s, &literals);

    if (symbol == 256) return;
    if (symbol < 256) {
      inflate_put(s, (unsigned char)symbol);
    } else {
      inflate_match(s, symbol, &distances);
    }
  }
}

static uint32_t adler32_of(const unsigned char *data, size_t n) {
  uint32_t a = 1, b = 0;

  for (size_t i = 0; i < n; i++) {
    a = (a + data[i]) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

// A zlib stream of exactly in_size bytes that holds exactly out_size bytes.
static bool inflate_zlib(const void *in, size_t in_size, void *out, size_t out_size) {
  Inflate s = {.in = in, .in_size = in_size, .in_place = 2, .out = out, .out_size = out_size};
  bool is_last = false;

  if (in_size < 6 || (s.in[0] & 15) != 8 || (s.in[0] * 256 + s.in[1]) % 31 || (s.in[1] & 32)) return false;
  while (!is_last && !s.is_broken) {
    is_last = inflate_bits(&s, 1);
    inflate_block(&s, (int)inflate_bits(&s, 2));
  }
  if (s.is_broken || s.out_place != out_size || s.in_place + 4 != in_size) return false;
  const unsigned char *t = s.in + s.in_place;
  uint32_t check = (uint32_t)t[0] << 24 | (uint32_t)t[1] << 16 | (uint32_t)t[2] << 8 | t[3];
  return check == adler32_of(out, out_size);
}

#endif
