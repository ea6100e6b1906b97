// SPDX-License-Identifier: BSD-2-Clause
// A file of VTK's XML format while it is written: its text, then raw appended arrays, in blocks that are
// compressed when the library was built with zlib. Used by mesh/vtu.c and mesh/pvd.c, which decide what is
// written.
#ifndef RITZ_MESH_VTU_FILE_H
#define RITZ_MESH_VTU_FILE_H

#include <ceed.h>
#include <stdbool.h>
#include <stdint.h>

// The file is written under a temporary name in the folder of `path` and gets its own name at the end.
// Memory: two blocks, and 8 bytes per block of the array under way.
typedef struct {
  Ceed ceed;            // borrowed, for error reports
  const char *call;     // static, for the same
  const char *path;     // borrowed: final name
  char *temp_path;      // owned: name until complete
  int fd;               // owned, -1: not open
  int64_t size;         // bytes written so far
  unsigned char *block; // owned: bytes of the array that wait to be written
  size_t block_fill;
  unsigned char *packed; // owned: a compressed block; NULL without zlib
  // The array under way: the words in front of its data, known in full only at its end.
  uint64_t *head; // owned
  size_t num_words, num_blocks_done;
  int64_t head_place;
} RitzVtuFile;

// XML attribute that tells how arrays are compressed, "" when they are not.
extern const char ritz_vtu_compressor[];

// Errors of all functions: CEED_ERROR_MAJOR with the path and the system's reason. `path` must be new or a
// regular file: a device or folder is never replaced. After a failure, as after success, the caller calls
// ritz_vtu_file_discard.
int ritz_vtu_file_open(Ceed ceed, const char *call, const char *path, RitzVtuFile *file);
int ritz_vtu_file_complete(RitzVtuFile *file); // closes and renames
void ritz_vtu_file_discard(RitzVtuFile *file); // removes what is incomplete, frees the memory
int ritz_vtu_file_print(RitzVtuFile *file, const char *format, ...);  // at most 511 characters
int ritz_vtu_file_print_escaped(RitzVtuFile *file, const char *text); // of any length, between quotes
int ritz_vtu_file_write(RitzVtuFile *file, const void *data, size_t num_bytes);
int ritz_vtu_file_overwrite(RitzVtuFile *file, int64_t place, const void *data, size_t num_bytes);

// Whether a name is UTF-8 without control characters.
bool ritz_vtu_is_text(const char *name);

// One appended array of exactly num_bytes, in any number of pieces.
int ritz_vtu_array_begin(RitzVtuFile *file, int64_t num_bytes);
int ritz_vtu_array_append(RitzVtuFile *file, const void *data, size_t num_bytes);
int ritz_vtu_array_end(RitzVtuFile *file);

#endif
