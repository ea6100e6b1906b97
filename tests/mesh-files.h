// SPDX-License-Identifier: BSD-2-Clause
// Mesh files made in memory for the tests of the readers: bytes, and the known maps of the unit box that the
// files describe. Included by tests/mesh-gmsh.h and tests/mesh-mfem.h, which write the formats.
#ifndef RITZ_TESTS_MESH_FILES_H
#define RITZ_TESTS_MESH_FILES_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fe/fe.h"
#include "tests/tap.h"

// ---- Bytes of a file ----

// A count in the file, for tests that falsify it: text of some length, or an integer of 4 or 8 bytes.
typedef struct {
  size_t at, length;
  bool is_text;
  long long value;
} FileCount;

enum { MAX_COUNTS = 200 };

typedef struct {
  char *data; // owned
  size_t size, capacity;
  bool is_binary, is_swapped; // how numbers are put
  int num_counts;
  FileCount counts[MAX_COUNTS];
} FileBytes;

static inline void file_clear(FileBytes *f) {
  free(f->data);
  *f = (FileBytes){.data = NULL};
}

static inline void file_put(FileBytes *f, const void *bytes, size_t size) {
  if (f->size + size > f->capacity) {
    f->capacity = 2 * (f->size + size);
    f->data = realloc(f->data, f->capacity);
    if (!f->data) abort();
  }
  if (size > 0) memcpy(f->data + f->size, bytes, size);
  f->size += size;
}

static inline void file_text(FileBytes *f, const char *format, ...) {
  char text[400];
  va_list args;

  va_start(args, format);
  int length = vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  file_put(f, text, (size_t)length);
}

static inline void file_number(FileBytes *f, const void *value, size_t size) {
  char bytes[8];

  memcpy(bytes, value, size);
  for (size_t i = 0; i < size; i++) file_put(f, &bytes[f->is_swapped ? size - 1 - i : i], 1);
}

static inline void file_int(FileBytes *f, long long value) {
  int32_t number = (int32_t)value;

  if (f->is_binary)
    file_number(f, &number, sizeof(number));
  else
    file_text(f, "%lld ", value);
}

static inline void file_size(FileBytes *f, long long value) {
  int64_t number = value;

  if (f->is_binary)
    file_number(f, &number, sizeof(number));
  else
    file_text(f, "%lld ", value);
}

static inline void file_double(FileBytes *f, double value) {
  if (f->is_binary)
    file_number(f, &value, sizeof(value));
  else
    file_text(f, "%.17g ", value);
}

static inline void file_line(FileBytes *f) {
  if (!f->is_binary) file_text(f, "\n");
}

static inline void file_note_count(FileBytes *f, size_t at, size_t length, bool is_text, long long value) {
  if (f->num_counts == MAX_COUNTS) abort();
  f->counts[f->num_counts++] = (FileCount){at, length, is_text, value};
}

// A count that is text in any file.
static inline void file_text_count(FileBytes *f, long long value) {
  size_t at = f->size;

  file_text(f, "%lld\n", value);
  file_note_count(f, at, f->size - at - 1, true, value);
}

static inline void file_size_count(FileBytes *f, long long value) {
  size_t at = f->size;

  file_size(f, value);
  file_note_count(f, at, f->size - at - !f->is_binary, !f->is_binary, value);
}

// ---- Known maps of the unit box ----
// Polynomials of degree p per direction that keep areas and volumes: shears along x and y. The unit segment
// gets the length 1.1; with is_bent it becomes a curve in the plane (a surface in space).

typedef struct {
  int dim, degree;
  bool is_bent;
} SampleMap;

static inline double sample_power(double x, int n) { return n == 0 ? 1 : x * sample_power(x, n - 1); }

static inline void sample_map(SampleMap map, const double X[3], double x[3]) {
  int p = map.degree;

  for (int d = 0; d < 3; d++) x[d] = d < map.dim ? X[d] : 0;
  if (map.dim == 1) x[0] += 0.1 * sample_power(X[0], p);
  if (map.dim >= 2)
    x[0] += 0.2 * sample_power(X[1], p) - (map.dim == 3 ? 0.3 * sample_power(X[2], p) * X[1] : 0);
  if (map.dim == 3) x[1] += 0.25 * sample_power(X[2], p);
  if (map.is_bent) x[map.dim] = 0.3 * sample_power(X[0], p);
}

static inline double sample_measure(SampleMap map) { return map.dim == 1 ? 1.1 : 1.0; }
static inline int sample_space_dim(SampleMap map) { return map.dim + map.is_bent; }

static inline int sample_int_power(int n, int dim) { return dim == 0 ? 1 : n * sample_int_power(n, dim - 1); }

#endif
