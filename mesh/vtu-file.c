// SPDX-License-Identifier: BSD-2-Clause
// Bytes of a VTK XML file: temporary name, appended arrays in blocks, compression, system errors (contract in
// mesh/vtu-file.h). Called by mesh/vtu.c and mesh/pvd.c.
#define _FILE_OFFSET_BITS 64 // files above 2 GiB on 32-bit systems
#include "mesh/vtu-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

#ifdef RITZ_HAVE_ZLIB
#include <zlib.h>
#endif

enum { block_size = 1 << 18, max_temp_names = 1000 };

static void remove_temp(RitzVtuFile *file) {
  if (file->fd < 0) return;
  close(file->fd);
  unlink(file->temp_path);
  file->fd = -1;
}

// The incomplete file goes first: the handler of errors may end the program.
static int system_error(RitzVtuFile *file, const char *action) {
  int error = errno;

  remove_temp(file);
  return CeedError(file->ceed, CEED_ERROR_MAJOR, "%s: %s: cannot %s: %s", file->call, file->path, action,
                   strerror(error));
}

// ---- Compression ----
// In front of an array stand 64-bit words: its size in bytes; or, when compressed, the number of blocks, the
// size of a block, that of the last one (0: a full one), and the compressed size of each.

#ifdef RITZ_HAVE_ZLIB
const char ritz_vtu_compressor[] = " compressor=\"vtkZLibDataCompressor\"";
enum { num_fixed_words = 3 };

static size_t packed_capacity(void) { return compressBound(block_size); }

static size_t num_head_words(int64_t num_bytes) {
  return num_fixed_words + (size_t)(num_bytes / block_size + (num_bytes % block_size > 0));
}

static void set_head(RitzVtuFile *file, int64_t num_bytes) {
  file->head[0] = file->num_words - num_fixed_words;
  file->head[1] = block_size;
  file->head[2] = (uint64_t)(num_bytes % block_size);
}

// Level 1: on nodal values level 6 takes five times as long for six percent.
static int write_block(RitzVtuFile *file) {
  uLongf size = packed_capacity();
  int status = compress2(file->packed, &size, file->block, file->block_fill, Z_BEST_SPEED);

  RITZ_REQUIRE(status == Z_OK, file->ceed, CEED_ERROR_MAJOR,
               "%s: %s: zlib cannot compress a block (status %d)", file->call, file->path, status);
  file->head[num_fixed_words + file->num_blocks_done++] = size;
  return ritz_vtu_file_write(file, file->packed, size);
}
#else
const char ritz_vtu_compressor[] = "";

static size_t packed_capacity(void) { return 0; }

static size_t num_head_words(int64_t num_bytes) {
  (void)num_bytes;
  return 1;
}

static void set_head(RitzVtuFile *file, int64_t num_bytes) { file->head[0] = (uint64_t)num_bytes; }

static int write_block(RitzVtuFile *file) { return ritz_vtu_file_write(file, file->block, file->block_fill); }
#endif

// ---- File ----

// A new file beside `path`, readable as the user's mask allows; mkstemp would keep it from everybody else.
static int open_temp(RitzVtuFile *file) {
  size_t length = strlen(file->path) + 64;

  RITZ_TRY(RITZ_MALLOC(file->ceed, length, &file->temp_path));
  for (int i = 0; file->fd < 0 && i < max_temp_names; i++) {
    snprintf(file->temp_path, length, "%s.%ld-%d.tmp", file->path, (long)getpid(), i);
    file->fd = open(file->temp_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file->fd < 0 && errno != EEXIST) break;
  }
  return file->fd < 0 ? system_error(file, "create a file beside it") : CEED_ERROR_SUCCESS;
}

int ritz_vtu_file_open(Ceed ceed, const char *call, const char *path, RitzVtuFile *file) {
  struct stat status;

  *file = (RitzVtuFile){.ceed = ceed, .call = call, .path = path, .fd = -1};
  RITZ_REQUIRE(stat(path, &status) || S_ISREG(status.st_mode), ceed, CEED_ERROR_MAJOR,
               "%s: %s: found something that is not a regular file, it is not replaced", file->call, path);
  RITZ_TRY(RITZ_MALLOC(ceed, block_size, &file->block));
  RITZ_TRY(RITZ_MALLOC(ceed, packed_capacity(), &file->packed));
  return open_temp(file);
}

int ritz_vtu_file_complete(RitzVtuFile *file) {
  bool is_closed = !close(file->fd);

  file->fd = -1;
  if (is_closed && !rename(file->temp_path, file->path)) return CEED_ERROR_SUCCESS;

  int error = errno;
  unlink(file->temp_path);
  errno = error;
  return system_error(file, is_closed ? "give the file its name" : "write");
}

void ritz_vtu_file_discard(RitzVtuFile *file) {
  remove_temp(file);
  RITZ_FREE(&file->temp_path);
  RITZ_FREE(&file->block);
  RITZ_FREE(&file->packed);
  RITZ_FREE(&file->head);
}

int ritz_vtu_file_overwrite(RitzVtuFile *file, int64_t place, const void *data, size_t num_bytes) {
  const char *rest = data;

  while (num_bytes > 0) {
    ssize_t done = pwrite(file->fd, rest, num_bytes, (off_t)place);

    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return system_error(file, "write");
    rest += done;
    place += done;
    num_bytes -= (size_t)done;
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_vtu_file_write(RitzVtuFile *file, const void *data, size_t num_bytes) {
  RITZ_TRY(ritz_vtu_file_overwrite(file, file->size, data, num_bytes));
  file->size += (int64_t)num_bytes;
  return CEED_ERROR_SUCCESS;
}

int ritz_vtu_file_print(RitzVtuFile *file, const char *format, ...) {
  char text[512];
  va_list args;

  va_start(args, format);
  int length = vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  RITZ_ASSERT(length >= 0 && length < (int)sizeof(text));
  return ritz_vtu_file_write(file, text, (size_t)length);
}

// ---- Names ----

// Length of the UTF-8 sequence at s, 0 if it is none that XML accepts (control characters, overlong forms,
// surrogates). The Unicode Standard, table 3-7.
static int utf8_length(const unsigned char *s) {
  int length = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;

  if (length == 1) return s[0] >= 0x20 && s[0] != 0x7f;
  for (int i = 1; i < length; i++) {
    if ((s[i] & 0xc0) != 0x80) return 0;
  }
  bool is_overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
  bool is_beyond = (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f);
  return is_overlong || is_beyond ? 0 : length;
}

bool ritz_vtu_is_text(const char *name) {
  const unsigned char *s = (const unsigned char *)name;

  for (int length; *s; s += length) {
    length = utf8_length(s);
    if (!length) return false;
  }
  return true;
}

int ritz_vtu_file_print_escaped(RitzVtuFile *file, const char *text) {
  for (const char *end; *text; text = end) {
    size_t plain = strcspn(text, "&<>\"");

    RITZ_TRY(ritz_vtu_file_write(file, text, plain));
    end = text + plain;
    if (!*end) break;
    RITZ_TRY(ritz_vtu_file_print(file, "&#%d;", *end++));
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Appended arrays ----

int ritz_vtu_array_begin(RitzVtuFile *file, int64_t num_bytes) {
  RITZ_FREE(&file->head);
  file->num_words = num_head_words(num_bytes);
  file->num_blocks_done = 0;
  RITZ_TRY(RITZ_CALLOC(file->ceed, file->num_words, &file->head));
  set_head(file, num_bytes);
  file->head_place = file->size;
  return ritz_vtu_file_write(file, file->head, file->num_words * sizeof(*file->head));
}

static int flush_block(RitzVtuFile *file) {
  if (file->block_fill == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(write_block(file));
  file->block_fill = 0;
  return CEED_ERROR_SUCCESS;
}

int ritz_vtu_array_append(RitzVtuFile *file, const void *data, size_t num_bytes) {
  const char *rest = data;

  while (num_bytes > 0) {
    size_t space = block_size - file->block_fill, now = num_bytes < space ? num_bytes : space;

    memcpy(file->block + file->block_fill, rest, now);
    file->block_fill += now;
    rest += now;
    num_bytes -= now;
    if (file->block_fill == block_size) RITZ_TRY(flush_block(file));
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_vtu_array_end(RitzVtuFile *file) {
  RITZ_TRY(flush_block(file));
  return ritz_vtu_file_overwrite(file, file->head_place, file->head, file->num_words * sizeof(*file->head));
}
