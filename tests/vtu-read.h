// SPDX-License-Identifier: BSD-2-Clause
// A small reader of VTK XML files with raw appended arrays, for tests/test-vtu.c. It shares nothing with the
// writer, not even zlib: inflate is written out here after RFC 1950 and RFC 1951. Faults of a file are
// reported by a sentence in `fault`; the memory is malloc's.
#ifndef RITZ_TESTS_VTU_READ_H
#define RITZ_TESTS_VTU_READ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  char *bytes; // owned, with a zero behind the last
  size_t size;
  size_t data; // place of the first appended byte
  bool is_compressed;
  const char *fault; // NULL: none so far
} VtuFile;

typedef struct {
  char type[16];
  int64_t num_comp, num; // num: tuples
  double *values;        // owned, [num][num_comp]; exact below 2^53
} VtuArray;

// ---- Inflate ----

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

// ---- File ----

static void vtu_close(VtuFile *file) {
  free(file->bytes);
  file->bytes = NULL;
}

static VtuFile vtu_open(const char *path) {
  VtuFile file = {0};
  FILE *stream = fopen(path, "rb");
  static const char mark[] = "<AppendedData encoding=\"raw\">\n_";

  if (!stream || fseek(stream, 0, SEEK_END)) {
    file.fault = "the file does not exist";
    if (stream) fclose(stream);
    return file;
  }
  file.size = (size_t)ftell(stream);
  rewind(stream);
  file.bytes = calloc(file.size + 1, 1);
  if (!file.bytes || fread(file.bytes, 1, file.size, stream) != file.size) file.fault = "cannot read";
  fclose(stream);
  if (file.fault) return file;
  const char *found = strstr(file.bytes, mark);
  if (!found) {
    file.fault = "no appended data";
    return file;
  }
  file.data = (size_t)(found - file.bytes) + strlen(mark);
  const char *compressor = strstr(file.bytes, "compressor=\"vtkZLibDataCompressor\"");
  file.is_compressed = compressor && compressor < found;
  return file;
}

// The attribute of the tag that starts at `tag` as a new string, or NULL.
static char *vtu_attribute(const char *tag, const char *name) {
  char pattern[64];
  const char *end = strchr(tag, '>');

  snprintf(pattern, sizeof(pattern), " %s=\"", name);
  const char *start = strstr(tag, pattern);
  if (!start || !end || start > end) return NULL;
  start += strlen(pattern);
  size_t length = strcspn(start, "\"");
  char *text = calloc(length + 1, 1);
  if (text) memcpy(text, start, length);
  return text;
}

static int64_t vtu_integer(const char *tag, const char *name) {
  char *text = vtu_attribute(tag, name);
  int64_t value = text ? strtoll(text, NULL, 10) : -1;

  free(text);
  return value;
}

// The tag of the array called `name` (as it stands in the file, escaped), or NULL.
static const char *vtu_find(const VtuFile *file, const char *name) {
  const char *tag = file->bytes;

  while ((tag = strstr(tag, "<DataArray ")) && tag < file->bytes + file->data) {
    char *found = vtu_attribute(tag, "Name");
    bool is_it = found && !strcmp(found, name);

    free(found);
    if (is_it) return tag;
    tag++;
  }
  return NULL;
}

static uint64_t vtu_word(const VtuFile *file, size_t place) {
  uint64_t word = 0;

  if (place + sizeof(word) <= file->size) memcpy(&word, file->bytes + place, sizeof(word));
  return word;
}

// The blocks of a compressed array, one after the other; NULL when they are not what their head says.
static char *vtu_inflate_blocks(const VtuFile *file, size_t place, size_t *num_bytes) {
  uint64_t num_blocks = vtu_word(file, place), size = vtu_word(file, place + 8),
           last = vtu_word(file, place + 16);
  size_t stream = place + 24 + 8 * (size_t)num_blocks, done = 0;

  if (num_blocks > file->size || size > (UINT64_C(1) << 30) || last >= size) return NULL;
  *num_bytes = (size_t)(num_blocks * size - (last && num_blocks ? size - last : 0));
  char *bytes = malloc(*num_bytes + 1);
  for (uint64_t b = 0; bytes && b < num_blocks; b++) {
    size_t packed = (size_t)vtu_word(file, place + 24 + 8 * (size_t)b);
    size_t wanted = b + 1 < num_blocks || !last ? (size_t)size : (size_t)last;

    if (packed > file->size - stream || !inflate_zlib(file->bytes + stream, packed, bytes + done, wanted)) {
      free(bytes);
      return NULL;
    }
    stream += packed;
    done += wanted;
  }
  return bytes;
}

static char *vtu_bytes(const VtuFile *file, size_t place, size_t *num_bytes) {
  if (file->is_compressed) return vtu_inflate_blocks(file, place, num_bytes);
  *num_bytes = (size_t)vtu_word(file, place);
  if (*num_bytes > file->size - place - 8) return NULL;
  char *bytes = malloc(*num_bytes + 1);
  if (bytes) memcpy(bytes, file->bytes + place + 8, *num_bytes);
  return bytes;
}

static size_t vtu_item_size(const char *type) {
  return strstr(type, "64") ? 8 : strstr(type, "32") ? 4 : strstr(type, "8") ? 1 : 0;
}

static double vtu_item(const char *type, const char *bytes) {
  double real;
  int64_t wide;
  int32_t narrow;

  if (!strcmp(type, "Float64")) return memcpy(&real, bytes, sizeof(real)), real;
  if (!strcmp(type, "Int64")) return memcpy(&wide, bytes, sizeof(wide)), (double)wide;
  if (!strcmp(type, "Int32")) return memcpy(&narrow, bytes, sizeof(narrow)), (double)narrow;
  return (double)*(const unsigned char *)bytes;
}

// The array called `name`. On a fault values is NULL and the file says what is wrong.
static VtuArray vtu_array(VtuFile *file, const char *name) {
  VtuArray array = {0};
  const char *tag = file->fault ? NULL : vtu_find(file, name);
  char *type = tag ? vtu_attribute(tag, "type") : NULL, *bytes = NULL;
  size_t num_bytes = 0;

  if (!type) {
    if (!file->fault) file->fault = "an array is missing";
    return array;
  }
  snprintf(array.type, sizeof(array.type), "%s", type);
  free(type);
  array.num_comp = vtu_integer(tag, "NumberOfComponents");
  int64_t offset = vtu_integer(tag, "offset"), item = (int64_t)vtu_item_size(array.type) * array.num_comp;
  if (offset >= 0 && (size_t)offset < file->size - file->data)
    bytes = vtu_bytes(file, file->data + (size_t)offset, &num_bytes);
  if (!bytes || item <= 0 || (int64_t)num_bytes % item) {
    file->fault = "an array is broken";
    free(bytes);
    return array;
  }
  array.num = (int64_t)num_bytes / item;
  array.values = malloc((size_t)(array.num * array.num_comp + 1) * sizeof(*array.values));
  for (int64_t i = 0; array.values && i < array.num * array.num_comp; i++)
    array.values[i] = vtu_item(array.type, bytes + (size_t)i * vtu_item_size(array.type));
  free(bytes);
  return array;
}

#endif
