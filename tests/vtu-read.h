// SPDX-License-Identifier: BSD-2-Clause
// A small reader of VTK XML files with raw appended arrays, for tests/test-vtu.c. It shares nothing with the
// writer, not even zlib. Faults of a file are reported by a sentence in `fault`; the memory is malloc's.
#ifndef RITZ_TESTS_VTU_READ_H
#define RITZ_TESTS_VTU_READ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/inflate.h"

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
