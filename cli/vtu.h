// SPDX-License-Identifier: BSD-2-Clause
// Reads unstructured grids of VTK's XML format (.vtu, .pvtu) for pictures: whatever Ritz writes, and what
// others write in text, in base64 and raw, uncompressed or (where Ritz has zlib) compressed by zlib. Used by
// cli/picture.c.
//
//     vtu.c         grids and pieces: what is in a file, what of it is taken, whether it fits together
//     vtu-text.c    tags and attributes
//     vtu-array.c   numbers of an array
#ifndef RITZ_CLI_VTU_H
#define RITZ_CLI_VTU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { VTU_NAME = 256, VTU_COMPONENTS = 100 }; // bytes of a name, longer ones are cut; of a field, at most

typedef struct {
  int64_t num_points, num_cells, num_ids;
  double *points;    // owned, [num_points][3]
  double tolerance;  // of positions that are meant to be the same, in terms of the grid's size
  int64_t *ids;      // owned, [num_ids]: points of all cells
  int64_t *ends;     // owned, [num_cells]: where the ids of each cell end
  uint8_t *types;    // owned, [num_cells]: VTK's codes
  int64_t *elements; // owned, [num_cells]: cells of one element have the same number
  // The field that was asked for; num_comp 0: none.
  char name[VTU_NAME];
  bool is_of_cells;
  int num_comp;
  double *values; // owned, [num_points or num_cells][num_comp]
} VtuGrid;

// field NULL: the first one of points, or none. Returns an exit code, after a message that begins with the
// command.
int vtu_read(const char *command, const char *path, const char *field, VtuGrid *grid);
void vtu_destroy(VtuGrid *grid);

// ---- Shared by the files above ----

// All of a file in memory.
typedef struct {
  const char *command, *path; // borrowed, for messages
  unsigned char *bytes;       // owned, with a zero behind the last
  size_t size;
  const char *appended; // what offsets of arrays count from; NULL: there is nothing
  bool appended_is_base64, is_compressed, is_swapped, has_wide_heads;
} VtuFile;

// Prints "COMMAND: PATH: message"; returns CLI_FAILED.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
int vtu_fail(const VtuFile *file, const char *format, ...);

// Zeroed memory for n things and one more; NULL after a message, also when a file that is open cannot hold as
// much.
void *vtu_allocate(const VtuFile *file, int64_t n, size_t size);

typedef struct {
  const char *name; // in the text, followed by the attributes
  size_t length;
  const char *end;       // behind the tag
  bool is_end, is_empty; // </x>, <x/>
} VtuTag;

// The next tag from *text on, which moves behind it; false: there is none before `end`.
bool vtu_next_tag(const char **text, const char *end, VtuTag *tag);
bool vtu_is_tag(const VtuTag *tag, const char *name);
// The value of an attribute, cut to VTU_NAME; false: it is not there.
bool vtu_attribute(const VtuTag *tag, const char *name, char value[VTU_NAME]);
// A number >= 0 that an attribute holds; -1: it does not.
int64_t vtu_count(const VtuTag *tag, const char *name);

// The num numbers of a DataArray. Returns an exit code.
int vtu_read_array(const VtuFile *file, const VtuTag *tag, int64_t num, double *values);

#endif
