// SPDX-License-Identifier: BSD-2-Clause
// A mesh file in memory and a cursor in it (contract in mesh/text.h). Decimal numbers are converted by the C
// library, which looks at the locale: RitzMeshRead selects the C locale for its thread.
#include "mesh/text.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

// ---- The file ----

int ritz_text_open(Ceed ceed, const char *path, RitzMeshText *text) {
  RitzFileFault fault;
  size_t size;

  *text = (RitzMeshText){.ceed = ceed, .path = path, .line = 1, .place = 1};
  RITZ_TRY(ritz_regular_read(ceed, path, INT64_MAX, &size, &text->data, &fault));
  RITZ_REQUIRE(text->data, ceed, CEED_ERROR_MAJOR, "%s: %s", path, fault.text);
  text->size = (int64_t)size;
  if (text->size >= 3 && !memcmp(text->data, "\xef\xbb\xbf", 3)) text->at = 3;
  return CEED_ERROR_SUCCESS;
}

void ritz_text_close(RitzMeshText *text) {
  RITZ_FREE(&text->data);
  text->size = text->at = 0;
}

// ---- Messages ----

static int fail(const RitzMeshText *text, int64_t place, int code, const char *format, va_list args) {
  char message[640];

  vsnprintf(message, sizeof(message), format, args);
  if (text->has_bytes)
    return CeedError(text->ceed, code, "%s: byte %lld: %s", text->path, (long long)place, message);
  return CeedError(text->ceed, code, "%s:%lld: %s", text->path, (long long)place, message);
}

int ritz_text_fail(const RitzMeshText *text, int code, const char *format, ...) {
  va_list args;

  va_start(args, format);
  code = fail(text, text->place, code, format, args);
  va_end(args);
  return code;
}

int ritz_text_fail_at(const RitzMeshText *text, int64_t place, int code, const char *format, ...) {
  va_list args;

  va_start(args, format);
  code = fail(text, place, code, format, args);
  va_end(args);
  return code;
}

const char *ritz_word_quote(RitzWord word, RitzQuote *quote) {
  int64_t room = (int64_t)sizeof(quote->text) - 4, length = word.length < room ? word.length : room;

  for (int64_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)word.start[i];
    quote->text[i] = (char)(c >= ' ' && c < 127 ? c : '?');
  }
  strcpy(quote->text + length, word.length > room ? "..." : "");
  return quote->text;
}

// ---- Words ----

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// The mark of a comment counts at the beginning of a line only.
static bool at_comment(const RitzMeshText *text) {
  if (!text->comment || text->at == text->size || text->data[text->at] != text->comment) return false;
  int64_t i = text->at;

  while (i > 0 && text->data[i - 1] != '\n' && is_blank(text->data[i - 1])) i--;
  return i == 0 || text->data[i - 1] == '\n';
}

static void skip_mesh_blanks(RitzMeshText *text) {
  do {
    if (at_comment(text)) ritz_text_skip_line(text);
    while (text->at < text->size && is_blank(text->data[text->at])) {
      text->line += text->data[text->at++] == '\n';
    }
  } while (at_comment(text));
}

static void mark_place(RitzMeshText *text) { text->place = text->has_bytes ? text->at : text->line; }

bool ritz_text_peek(RitzMeshText *text, RitzWord *word) {
  skip_mesh_blanks(text);
  mark_place(text);
  int64_t end = text->at;

  while (end < text->size && !is_blank(text->data[end])) end++;
  *word = (RitzWord){text->data + text->at, end - text->at};
  return word->length > 0;
}

int ritz_text_word(RitzMeshText *text, const char *what, RitzWord *word) {
  RITZ_TEXT_REQUIRE(ritz_text_peek(text, word), text, "the file ends where %s should be", what);
  text->at += word->length;
  return CEED_ERROR_SUCCESS;
}

bool ritz_word_begins(RitzWord word, const char *wanted) {
  int64_t length = (int64_t)strlen(wanted);

  return word.length >= length && !memcmp(word.start, wanted, (size_t)length);
}

bool ritz_word_is(RitzWord word, const char *wanted) {
  return word.length == (int64_t)strlen(wanted) && ritz_word_begins(word, wanted);
}

bool ritz_text_accept(RitzMeshText *text, const char *wanted) {
  RitzWord word;

  if (!ritz_text_peek(text, &word) || !ritz_word_is(word, wanted)) return false;
  text->at += word.length;
  return true;
}

int ritz_text_expect(RitzMeshText *text, const char *wanted) {
  RitzWord word;
  RitzQuote quote;

  RITZ_TEXT_REQUIRE(ritz_text_peek(text, &word), text, "the file ends where '%s' should be", wanted);
  RITZ_TEXT_REQUIRE(ritz_word_is(word, wanted), text, "expected '%s', found '%s'", wanted,
                    ritz_word_quote(word, &quote));
  text->at += word.length;
  return CEED_ERROR_SUCCESS;
}

static int copy_name(const RitzMeshText *text, RitzWord word, char **name) {
  RITZ_TRY(RITZ_MALLOC(text->ceed, (size_t)word.length + 1, name));
  memcpy(*name, word.start, (size_t)word.length);
  (*name)[word.length] = '\0';
  return CEED_ERROR_SUCCESS;
}

// The mark that ends a name which begins at `begin`. Programs write marks inside of names as they are: the
// first one counts that has nothing, or a blank and a number, behind it; else the first one.
static int64_t find_closing_mark(const RitzMeshText *text, int64_t begin) {
  int64_t first = -1, i = begin;

  for (; i < text->size && text->data[i] != '\n'; i++) {
    if (text->data[i] != '"') continue;
    if (first < 0) first = i;
    int64_t next = i + 1;

    while (next < text->size && (text->data[next] == ' ' || text->data[next] == '\t')) next++;
    if (next == text->size || text->data[next] == '\n' || text->data[next] == '\r') return i;
    if (next > i + 1 && (isdigit((unsigned char)text->data[next]) || text->data[next] == '-')) return i;
  }
  return first < 0 ? i : first;
}

int ritz_text_name(RitzMeshText *text, const char *what, char **name) {
  RitzWord word;

  RITZ_TEXT_REQUIRE(ritz_text_peek(text, &word), text, "the file ends where %s should be", what);
  if (word.start[0] == '"') {
    const int64_t end = find_closing_mark(text, ++text->at);

    RITZ_TEXT_REQUIRE(end < text->size && text->data[end] == '"', text,
                      "%s has no closing quotation mark on its line", what);
    word = (RitzWord){text->data + text->at, end - text->at};
    text->at++;
  }
  RITZ_TEXT_REQUIRE(!memchr(word.start, 0, (size_t)word.length), text, "%s holds a zero byte", what);
  text->at += word.length;
  return copy_name(text, word, name);
}

// ---- Numbers ----

static int64_t skip_digits(RitzWord word, int64_t i) {
  while (i < word.length && isdigit((unsigned char)word.start[i])) i++;
  return i;
}

static int64_t skip_sign(RitzWord word, int64_t i) {
  return i + (i < word.length && (word.start[i] == '+' || word.start[i] == '-'));
}

// [sign] digits [. digits] [e [sign] digits], with a digit before or after the point.
static bool is_decimal(RitzWord word) {
  int64_t start = skip_sign(word, 0), i = skip_digits(word, start), num_digits = i - start;

  if (i < word.length && word.start[i] == '.') {
    start = i + 1;
    i = skip_digits(word, start);
    num_digits += i - start;
  }
  if (num_digits == 0) return false;
  if (i < word.length && (word.start[i] == 'e' || word.start[i] == 'E')) {
    start = skip_sign(word, i + 1);
    i = skip_digits(word, start);
    if (i == start) return false;
  }
  return i == word.length;
}

// The word of a text ends at a blank or at the final 0, where strtod stops.
bool ritz_word_is_number(RitzWord word) { return is_decimal(word) && isfinite(strtod(word.start, NULL)); }

static bool parse_int(RitzWord word, int64_t *value) {
  int64_t i = skip_sign(word, 0), v = 0, sign = word.start[0] == '-' ? -1 : 1;

  if (i == word.length || skip_digits(word, i) != word.length) return false;
  for (; i < word.length; i++) {
    int64_t digit = sign * (word.start[i] - '0');

    if (v > (INT64_MAX - 9) / 10 || v < (INT64_MIN + 9) / 10) return false;
    v = 10 * v + digit;
  }
  *value = v;
  return true;
}

static int read_word_int(RitzMeshText *text, const char *what, int64_t *value) {
  RitzWord word;
  RitzQuote quote;

  RITZ_TRY(ritz_text_word(text, what, &word));
  RITZ_TEXT_REQUIRE(parse_int(word, value), text, "expected %s, an integer, found '%s'", what,
                    ritz_word_quote(word, &quote));
  return CEED_ERROR_SUCCESS;
}

static int read_bytes(RitzMeshText *text, const char *what, size_t size, void *value) {
  unsigned char bytes[8];

  mark_place(text);
  RITZ_TEXT_REQUIRE((int64_t)size <= text->size - text->at, text, "the file ends where %s should be", what);
  for (size_t i = 0; i < size; i++) {
    bytes[text->is_swapped ? size - 1 - i : i] = (unsigned char)text->data[text->at++];
  }
  memcpy(value, bytes, size);
  return CEED_ERROR_SUCCESS;
}

int ritz_text_int(RitzMeshText *text, const char *what, int64_t min, int64_t max, int64_t *value) {
  if (text->is_raw) {
    int32_t raw = 0;

    RITZ_TRY(read_bytes(text, what, sizeof(raw), &raw));
    *value = raw;
  } else {
    RITZ_TRY(read_word_int(text, what, value));
  }
  RITZ_TEXT_REQUIRE(*value >= min && *value <= max, text, "%s is %lld: it must lie in %lld .. %lld", what,
                    (long long)*value, (long long)min, (long long)max);
  return CEED_ERROR_SUCCESS;
}

int ritz_text_size(RitzMeshText *text, const char *what, int64_t *value) {
  if (text->is_raw)
    RITZ_TRY(read_bytes(text, what, sizeof(*value), value));
  else
    RITZ_TRY(read_word_int(text, what, value));
  RITZ_TEXT_REQUIRE(*value >= 0, text, "%s is %lld: it must not be negative", what, (long long)*value);
  return CEED_ERROR_SUCCESS;
}

static int read_word_double(RitzMeshText *text, const char *what, double *value) {
  RitzWord word;
  RitzQuote quote;

  RITZ_TRY(ritz_text_word(text, what, &word));
  *value = is_decimal(word) ? strtod(word.start, NULL) : NAN;
  RITZ_TEXT_REQUIRE(isfinite(*value), text, "expected %s, a finite decimal number, found '%s'", what,
                    ritz_word_quote(word, &quote));
  return CEED_ERROR_SUCCESS;
}

int ritz_text_double(RitzMeshText *text, const char *what, double *value) {
  if (!text->is_raw) return read_word_double(text, what, value);
  RITZ_TRY(read_bytes(text, what, sizeof(*value), value));
  RITZ_TEXT_REQUIRE(isfinite(*value), text, "%s is not a finite number", what);
  return CEED_ERROR_SUCCESS;
}

// A number in text takes at least two bytes, itself and a blank; the last blank may be missing.
int ritz_text_check_count(const RitzMeshText *text, const char *what, int64_t count, int64_t ints,
                          int64_t sizes, int64_t doubles) {
  int64_t bytes = text->is_raw ? 4 * ints + 8 * sizes + 8 * doubles : 2 * (ints + sizes + doubles);
  int64_t left = text->size - text->at + 1;

  RITZ_TEXT_REQUIRE(count >= 0, text, "%s is %lld: it must not be negative", what, (long long)count);
  RITZ_TEXT_REQUIRE(bytes == 0 || count <= left / bytes, text,
                    "%s is %lld, more than the rest of the file can hold (%lld bytes)", what,
                    (long long)count, (long long)(text->size - text->at));
  return CEED_ERROR_SUCCESS;
}

int ritz_text_count(RitzMeshText *text, const char *what, int64_t numbers, int64_t *count) {
  RITZ_TRY(ritz_text_size(text, what, count));
  return ritz_text_check_count(text, what, *count, numbers, 0, 0);
}

// ---- Lines and sections ----

bool ritz_text_peek_line(RitzMeshText *text, RitzWord *line) {
  if (!ritz_text_peek(text, line)) return false;
  const char *end = memchr(line->start, '\n', (size_t)(text->size - text->at));

  line->length = end ? end - line->start : text->size - text->at;
  while (is_blank(line->start[line->length - 1])) line->length--;
  return true;
}

void ritz_text_skip_line(RitzMeshText *text) {
  const char *end = memchr(text->data + text->at, '\n', (size_t)(text->size - text->at));

  if (!end) {
    text->at = text->size;
    return;
  }
  text->at = end - text->data + 1;
  text->line++;
}

int ritz_text_skip_past(RitzMeshText *text, const char *wanted) {
  int64_t length = (int64_t)strlen(wanted);

  mark_place(text);
  while (text->at < text->size) {
    ritz_text_skip_line(text);
    int64_t end = text->at + length;

    if (end > text->size || memcmp(text->data + text->at, wanted, (size_t)length)) continue;
    if (end < text->size && !is_blank(text->data[end])) continue;
    text->at = end;
    return CEED_ERROR_SUCCESS;
  }
  return ritz_text_fail(text, CEED_ERROR_MAJOR, "the section that begins here has no line '%s'", wanted);
}
