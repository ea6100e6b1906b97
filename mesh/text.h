// SPDX-License-Identifier: BSD-2-Clause
// A mesh file in memory and a cursor in it: words, numbers, quoted names, binary numbers, messages with a
// place. Used by the readers in mesh/; what the words mean is left to them.
#ifndef RITZ_MESH_TEXT_H
#define RITZ_MESH_TEXT_H

#include <stdbool.h>

#include "mesh/mesh.h"

#if defined(__GNUC__)
#define RITZ_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define RITZ_PRINTF(text, first)
#endif

struct RitzMeshText {
  Ceed ceed;        // borrowed
  const char *path; // borrowed: begins every message
  char *data;       // owned: size bytes and a 0
  int64_t size;
  int64_t at;      // next byte, 0 <= at <= size
  int64_t line;    // line of `at`, the first is 1
  int64_t place;   // where the last item begins: a line, or a byte if has_bytes
  char comment;    // lines that begin with it (after blanks) are skipped; 0: there are no comments
  bool has_bytes;  // the file has binary sections, so lines say nothing: places are offsets of bytes
  bool is_raw;     // numbers are bytes now
  bool is_swapped; // their order is that of another machine
};

// A piece of the file between blanks; not terminated.
typedef struct {
  const char *start; // borrowed: lives in text->data
  int64_t length;
} RitzWord;

// Loads the regular file `path` and skips a byte order mark (UTF-8). Close accepts a text that was never
// opened (all zero).
int ritz_text_open(Ceed ceed, const char *path, RitzMeshText *text);
void ritz_text_close(RitzMeshText *text);

// Report "PATH:LINE: message" or "PATH: byte N: message" and return `code`: at the item read last, or at a
// place noted earlier.
int ritz_text_fail(const RitzMeshText *text, int code, const char *format, ...) RITZ_PRINTF(3, 4);
int ritz_text_fail_at(const RitzMeshText *text, int64_t place, int code, const char *format, ...)
    RITZ_PRINTF(4, 5);
#define RITZ_TEXT_REQUIRE(cond, text, ...)                                                                   \
  do {                                                                                                       \
    if (!(cond)) return ritz_text_fail((text), CEED_ERROR_MAJOR, __VA_ARGS__);                               \
  } while (0)

// ---- Words ----
// The next word without taking it; false at the end of the file.
bool ritz_text_peek(RitzMeshText *text, RitzWord *word);
// Takes the next word. `what` names it in the message when there is none ("the number of vertices").
int ritz_text_word(RitzMeshText *text, const char *what, RitzWord *word);
bool ritz_word_is(RitzWord word, const char *wanted);
bool ritz_word_begins(RitzWord word, const char *wanted);
// Whether a word reads as a finite decimal number (1, -2.5, .5e-3; not nan, inf, 0x1p3, 1.0D+00, 1,5).
bool ritz_word_is_number(RitzWord word);
// A printable copy for messages, shortened to the buffer; returns buffer.
typedef struct {
  char text[48];
} RitzQuote;
const char *ritz_word_quote(RitzWord word, RitzQuote *quote);
bool ritz_text_accept(RitzMeshText *text, const char *wanted); // takes the next word if it is `wanted`
int ritz_text_expect(RitzMeshText *text, const char *wanted);
// A name in quotation marks on one line (may hold blanks, may be empty) or a bare word. The copy is new.
int ritz_text_name(RitzMeshText *text, const char *what, char **name);

// ---- Numbers: decimal words, or bytes while is_raw ----
int ritz_text_int(RitzMeshText *text, const char *what, int64_t min, int64_t max, int64_t *value); // int32
int ritz_text_size(RitzMeshText *text, const char *what, int64_t *value);  // size_t of 8 bytes; >= 0
int ritz_text_double(RitzMeshText *text, const char *what, double *value); // finite
// A count of records, each of at least so many numbers, fits into what is left of the file. To be asked
// before anything is allocated for them.
int ritz_text_check_count(const RitzMeshText *text, const char *what, int64_t count, int64_t ints,
                          int64_t sizes, int64_t doubles);
int ritz_text_count(RitzMeshText *text, const char *what, int64_t numbers, int64_t *count); // text only

// ---- Lines and sections ----
// The next line that is not blank, without blanks around it, without taking it; false at the end of the file.
bool ritz_text_peek_line(RitzMeshText *text, RitzWord *line);
// Skips the rest of the line with its end.
void ritz_text_skip_line(RitzMeshText *text);
// Skips everything up to the line that is `wanted` and that line.
int ritz_text_skip_past(RitzMeshText *text, const char *wanted);

#endif
