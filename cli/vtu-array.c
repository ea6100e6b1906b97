// SPDX-License-Identifier: BSD-2-Clause
// The numbers of an array (contract in cli/vtu.h). Called by cli/vtu.c.
//
// Text, or bytes: raw or as base64 behind the '_' of AppendedData, or as base64 inside the tag. In front of
// the bytes stand words (32 or 64 bits): their number; or, compressed, the number of blocks, the size of a
// block, that of the last one (0: a full one), and the compressed size of each. In base64 the words of
// compressed arrays are encoded for themselves.
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/vtu.h"

#ifdef RITZ_HAVE_ZLIB
#include <zlib.h>
#endif

typedef enum { FLOAT32, FLOAT64, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64, NUM_TYPES } Type;
static const struct {
  const char *name;
  size_t size;
} types[NUM_TYPES] = {{"Float32", 4}, {"Float64", 8}, {"Int8", 1},   {"UInt8", 1}, {"Int16", 2},
                      {"UInt16", 2},  {"Int32", 4},   {"UInt32", 4}, {"Int64", 8}, {"UInt64", 8}};

typedef struct {
  const VtuFile *file;
  char name[VTU_NAME]; // for messages
  const char *at, *end;
  bool is_base64;
  unsigned char group[3]; // decoded bytes that wait
  int num_left;
} Stream;

static int broken(const Stream *s, const char *what) {
  return vtu_fail(s->file, "array '%s': %s", s->name, what);
}

// ---- Bytes ----

static int value_of_digit(int c) {
  return c >= 'A' && c <= 'Z'   ? c - 'A'
         : c >= 'a' && c <= 'z' ? c - 'a' + 26
         : c >= '0' && c <= '9' ? c - '0' + 52
         : c == '+'             ? 62
         : c == '/'             ? 63
                                : -1;
}

// Reads four digits of base64; the last ones may be '='.
static bool next_group(Stream *s) {
  int digits[4], num = 4;

  while (s->at < s->end && strchr(" \t\r\n", *s->at)) s->at++;
  if (s->end - s->at < 4) return false;
  for (int i = 0; i < 4; i++) digits[i] = value_of_digit((unsigned char)s->at[i]);
  while (num > 2 && s->at[num - 1] == '=') digits[--num] = 0;
  s->at += 4;
  for (int i = 0; i < 4; i++) {
    if (digits[i] < 0) return false;
  }
  const int bits = digits[0] << 18 | digits[1] << 12 | digits[2] << 6 | digits[3];
  for (int i = 0; i < 3; i++) s->group[i] = (unsigned char)(bits >> (16 - 8 * i));
  s->num_left = num - 1;
  return true;
}

static int take_bytes(Stream *s, size_t num, unsigned char *out) {
  if (!s->is_base64) {
    if (num > (size_t)(s->end - s->at)) return broken(s, "the file ends within its bytes");
    memcpy(out, s->at, num);
    s->at += num;
    return CLI_OK;
  }
  for (size_t i = 0; i < num; i++) {
    if (!s->num_left && !next_group(s)) return broken(s, "its text in base64 ends early or is none");
    out[i] = s->group[0];
    memmove(s->group, s->group + 1, 2);
    s->num_left--;
  }
  return CLI_OK;
}

static void reverse(unsigned char *bytes, size_t size) {
  for (size_t i = 0; i < size / 2; i++) {
    const unsigned char first = bytes[i];

    bytes[i] = bytes[size - 1 - i];
    bytes[size - 1 - i] = first;
  }
}

static int take_word(Stream *s, uint64_t *word) {
  const size_t size = s->file->has_wide_heads ? 8 : 4;
  unsigned char bytes[8];
  uint32_t narrow;

  CLI_TRY(take_bytes(s, size, bytes));
  if (s->file->is_swapped) reverse(bytes, size);
  memcpy(&narrow, bytes, sizeof(narrow));
  memcpy(word, bytes, size);
  if (size == 4) *word = narrow;
  return CLI_OK;
}

#ifdef RITZ_HAVE_ZLIB
static int take_block(Stream *s, size_t packed_size, size_t size, unsigned char *out) {
  if (packed_size > s->file->size) return broken(s, "a compressed block is larger than the file");
  unsigned char *packed = vtu_allocate(s->file, (int64_t)packed_size, 1);
  uLongf done = size;

  if (!packed) return CLI_FAILED;
  int code = take_bytes(s, packed_size, packed);
  if (!code && (uncompress(out, &done, packed, packed_size) != Z_OK || done != size))
    code = broken(s, "a compressed block is broken");
  free(packed);
  return code;
}

static int take_blocks(Stream *s, const uint64_t head[3], size_t num, unsigned char *out) {
  const size_t num_blocks = (size_t)head[0];
  uint64_t *sizes = vtu_allocate(s->file, (int64_t)num_blocks, sizeof(*sizes));
  int code = sizes ? CLI_OK : CLI_FAILED;

  for (size_t b = 0; b < num_blocks && !code; b++) code = take_word(s, &sizes[b]);
  s->num_left = 0;
  for (size_t b = 0, done = 0; b < num_blocks && !code; b++) {
    const size_t size = b + 1 < num_blocks ? (size_t)head[1] : num - done;

    code = take_block(s, (size_t)sizes[b], size, out + done);
    done += size;
  }
  free(sizes);
  return code;
}

static int take_compressed(Stream *s, size_t num, unsigned char *out) {
  uint64_t head[3];

  for (int i = 0; i < 3; i++) CLI_TRY(take_word(s, &head[i]));
  if (!head[0] && !num) return CLI_OK;
  const uint64_t last = head[2] ? head[2] : head[1];
  const bool fits = head[0] && head[1] && last <= head[1] && last <= num && (num - last) % head[1] == 0 &&
                    (num - last) / head[1] == head[0] - 1;
  return fits ? take_blocks(s, head, num, out) : broken(s, "its compressed blocks have another size");
}
#else
static int take_compressed(Stream *s, size_t num, unsigned char *out) {
  (void)num, (void)out;
  return broken(s, "it is compressed, and this ritz was built without zlib");
}
#endif

static int take_all(Stream *s, size_t num, unsigned char *out) {
  uint64_t size;

  if (s->file->is_compressed) return take_compressed(s, num, out);
  CLI_TRY(take_word(s, &size));
  if (size != num)
    return vtu_fail(s->file, "array '%s': needs %zu bytes, found %llu", s->name, num,
                    (unsigned long long)size);
  return take_bytes(s, num, out);
}

// ---- Numbers ----

static double convert(Type type, const unsigned char *bytes) {
  union {
    float f;
    double d;
    int16_t i16;
    uint16_t u16;
    int32_t i32;
    uint32_t u32;
    int64_t i64;
    uint64_t u64;
  } v;

  memcpy(&v, bytes, types[type].size);
  switch (type) {
  case FLOAT32: return (double)v.f;
  case FLOAT64: return v.d;
  case INT8: return (double)(signed char)bytes[0];
  case UINT8: return (double)bytes[0];
  case INT16: return (double)v.i16;
  case UINT16: return (double)v.u16;
  case INT32: return (double)v.i32;
  case UINT32: return (double)v.u32;
  case INT64: return (double)v.i64;
  default: return (double)v.u64;
  }
}

static int read_bytes(Stream *s, Type type, int64_t num, double *values) {
  const size_t size = types[type].size;
  unsigned char *bytes = vtu_allocate(s->file, num, size);

  if (!bytes) return CLI_FAILED;
  const int code = take_all(s, (size_t)num * size, bytes);
  for (int64_t i = 0; i < num && !code; i++) {
    if (s->file->is_swapped) reverse(bytes + (size_t)i * size, size);
    values[i] = convert(type, bytes + (size_t)i * size);
  }
  free(bytes);
  return code;
}

static int read_text(Stream *s, int64_t num, double *values) {
  const char *at = s->at;

  for (int64_t i = 0; i < num; i++) {
    char *end;

    values[i] = strtod(at, &end);
    if (end == at || end > s->end)
      return vtu_fail(s->file, "array '%s': needs %lld numbers, found %lld", s->name, (long long)num,
                      (long long)i);
    at = end;
  }
  return CLI_OK;
}

static int open_inside(Stream *s, const VtuTag *tag) {
  const char *last = (const char *)s->file->bytes + s->file->size;

  s->at = tag->end;
  s->end = tag->is_empty ? tag->end : memchr(tag->end, '<', (size_t)(last - tag->end));
  return s->end ? CLI_OK : broken(s, "the file ends within it");
}

static int open_appended(Stream *s, const VtuTag *tag) {
  const VtuFile *file = s->file;
  const char *last = (const char *)file->bytes + file->size;
  const int64_t offset = vtu_count(tag, "offset");

  if (!file->appended) return broken(s, "there are no appended data");
  if (offset < 0 || offset > last - file->appended) return broken(s, "its offset lies outside the file");
  s->at = file->appended + offset;
  s->end = last;
  s->is_base64 = file->appended_is_base64;
  return CLI_OK;
}

int vtu_read_array(const VtuFile *file, const VtuTag *tag, int64_t num, double *values) {
  Stream s = {.file = file};
  char name[VTU_NAME], format[VTU_NAME];
  int type = 0;

  if (!vtu_attribute(tag, "Name", s.name)) strcpy(s.name, "Points");
  vtu_attribute(tag, "type", name);
  vtu_attribute(tag, "format", format);
  while (type < NUM_TYPES && strcmp(types[type].name, name) != 0) type++;
  if (type == NUM_TYPES) return vtu_fail(file, "array '%s': numbers of type '%s' are not read", s.name, name);
  if (!strcmp(format, "appended")) {
    CLI_TRY(open_appended(&s, tag));
    return read_bytes(&s, (Type)type, num, values);
  }
  CLI_TRY(open_inside(&s, tag));
  if (!strcmp(format, "ascii") || !format[0]) return read_text(&s, num, values);
  s.is_base64 = true;
  return strcmp(format, "binary") ? broken(&s, "its format is none of ascii, binary, appended")
                                  : read_bytes(&s, (Type)type, num, values);
}
