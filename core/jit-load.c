// SPDX-License-Identifier: BSD-2-Clause
// Source text of QFunctions with its local includes, #include "...", expanded (ceed/jit-tools-deprecated.h).
// The result says the same to a compiler as the files would, also where #pragma once or include guards are at
// work. Nothing else is preprocessed; system includes and conditions stay in the text. For devices, whose
// compilers read no files, <...> is expanded or dropped as well and #line tells where the text comes from.
#include <ceed/jit-tools-deprecated.h>
#include <stdlib.h>
#include <string.h>

#include "base/embedded.h"
#include "core/core.h"

// ---- Lines ----

typedef enum {
  LINE_BLANK, // nothing but blanks and comments
  LINE_CODE,
  LINE_INCLUDE, // #include "name"
  LINE_SYSTEM,  // #include <name>
  LINE_ONCE,    // #pragma once
  LINE_IF,      // #if, #ifdef
  LINE_IFNDEF,  // #ifndef name
  LINE_ELSE,    // #else, #elif
  LINE_ENDIF,
  LINE_DEFINE, // #define name
} LineKind;

// A view of one line of a text.
typedef struct {
  LineKind kind;
  const char *start, *end; // with the newline
  const char *name;
  size_t name_length;
} Line;

static const char *skip_source_blanks(const char *p, const char *end) {
  while (p < end && (*p == ' ' || *p == '\t')) p++;
  return p;
}

static bool is_word_character(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// The word at p, after blanks: its length; p moves to its start.
static size_t find_word(const char **p, const char *end) {
  size_t length = 0;
  *p = skip_source_blanks(*p, end);
  while (*p + length < end && is_word_character((*p)[length])) length++;
  return length;
}

static bool is_word(const char *p, size_t length, const char *word) {
  return length == strlen(word) && !strncmp(p, word, length);
}

// Kind and name of a line that is not blank and does not begin inside a comment.
static void read_directive(Line *line) {
  static const struct {
    const char *word;
    LineKind kind;
  } directives[] = {{"if", LINE_IF},         {"ifdef", LINE_IF},        {"ifndef", LINE_IFNDEF},
                    {"else", LINE_ELSE},     {"elif", LINE_ELSE},       {"endif", LINE_ENDIF},
                    {"define", LINE_DEFINE}, {"include", LINE_INCLUDE}, {"pragma", LINE_ONCE}};
  const char *p = skip_source_blanks(line->start, line->end);
  if (p == line->end || *p++ != '#') return;
  size_t length = find_word(&p, line->end);
  for (size_t i = 0; i < sizeof(directives) / sizeof(directives[0]); i++) {
    if (is_word(p, length, directives[i].word)) line->kind = directives[i].kind;
  }
  p += length;
  line->name_length = find_word(&p, line->end);
  line->name = p;
  if (line->kind == LINE_ONCE && !is_word(p, line->name_length, "once")) line->kind = LINE_CODE;
  if (line->kind != LINE_INCLUDE) return;
  const char opening = p < line->end ? *p : ' ';
  const char closing = opening == '<' ? '>' : '"';
  const bool has_name = opening == '"' || opening == '<';
  const char *quote = has_name ? memchr(p + 1, closing, (size_t)(line->end - p) - 1) : NULL;
  line->kind = !quote ? LINE_CODE : opening == '<' ? LINE_SYSTEM : LINE_INCLUDE;
  line->name = p + 1;
  line->name_length = quote ? (size_t)(quote - p) - 1 : 0;
}

// The character after a string or character literal that begins at p.
static const char *skip_literal(const char *p, const char *end) {
  const char delimiter = *p++;
  while (p < end && *p != delimiter && *p != '\n') p += *p == '\\' && p + 1 < end ? 2 : 1;
  return p < end ? p + 1 : end;
}

// Whether there is anything outside of comments; *in_comment is the state before and after the line.
static bool has_code(const char *p, const char *end, bool *in_comment) {
  bool found = false;
  while (p < end) {
    bool is_pair = p + 1 < end;
    if (*in_comment) {
      *in_comment = !(is_pair && p[0] == '*' && p[1] == '/');
      p += *in_comment ? 1 : 2;
    } else if (is_pair && p[0] == '/' && p[1] == '/') {
      return found;
    } else if (is_pair && p[0] == '/' && p[1] == '*') {
      *in_comment = true;
      p += 2;
    } else {
      found = found || !strchr(" \t\r\n", *p);
      p = *p == '"' || *p == '\'' ? skip_literal(p, end) : p + 1;
    }
  }
  return found;
}

static Line read_line(const char *text, bool *in_comment) {
  const char *newline = strchr(text, '\n');
  Line line = {.kind = LINE_BLANK, .start = text, .end = newline ? newline + 1 : text + strlen(text)};
  bool starts_in_comment = *in_comment;
  if (!has_code(line.start, line.end, in_comment)) return line;
  line.kind = LINE_CODE;
  if (!starts_in_comment) read_directive(&line);
  return line;
}

static int depth_change(const Line *line) {
  return line->kind == LINE_IF || line->kind == LINE_IFNDEF ? 1 : line->kind == LINE_ENDIF ? -1 : 0;
}

// ---- Files ----

// A file is taken in at most once when it has #pragma once, or a guard around all of it: #ifndef X, #define X
// ... #endif.
typedef struct {
  bool has_once, has_guard;
} Protection;

static Protection find_protection(const char *text) {
  Protection found = {false, true};
  Line first = {LINE_BLANK, NULL, NULL, NULL, 0};
  bool in_comment = false;
  int num_lines = 0, depth = 0;
  for (const char *p = text; *p;) {
    Line line = read_line(p, &in_comment);
    p = line.end;
    if (line.kind == LINE_ONCE) found.has_once = true;
    if (line.kind == LINE_ONCE || line.kind == LINE_BLANK) continue;
    bool fits = num_lines == 0 ? line.kind == LINE_IFNDEF : depth > 0;
    if (num_lines == 0) first = line;
    if (num_lines == 1) {
      fits = line.kind == LINE_DEFINE && line.name_length == first.name_length &&
             !strncmp(line.name, first.name, first.name_length);
    }
    found.has_guard = found.has_guard && fits;
    depth += depth_change(&line);
    num_lines++;
  }
  found.has_guard = found.has_guard && depth == 0;
  return found;
}

static int read_source_file(Ceed ceed, const char *path, char **text) {
  RitzFileFault fault;
  size_t length;
  const RitzEmbeddedFile *carried = ritz_embedded_find(path);
  if (carried) return ritz_strdup(ceed, (const char *)carried->bytes, text);
  RITZ_TRY(ritz_regular_read(ceed, path, RITZ_MAX_TEXT_BYTES, &length, text, &fault));
  RITZ_REQUIRE(*text, ceed, CEED_ERROR_MAJOR, "CeedLoadSourceToBuffer: '%s' %s", path, fault.text);
  return CEED_ERROR_SUCCESS;
}

// ---- Expansion ----

enum {
  MAX_DEPTH = 200,     // of includes in includes, as in C compilers
  MAX_EXPANDED = 50000 // files in a text: those that include others twice are many soon
};

// A file that was met.
typedef struct {
  char *path; // owned; canonical, or the name of a text that the library carries
  int num_open;
  bool is_certain; // its text stands where no condition can hide it
} SourceFile;

typedef struct {
  Ceed ceed;
  bool for_device;
  char *text; // owned; what has been expanded so far, NUL-terminated unless NULL
  size_t length, capacity;
  SourceFile *files; // owned array of owned paths
  size_t num_files;
  int num_expanded; // each time counts
} Expansion;

// Files that include one another several times would grow without end.
static int append_text(Expansion *e, const char *text, size_t length) {
  RITZ_REQUIRE(e->length + length <= RITZ_MAX_TEXT_BYTES, e->ceed, CEED_ERROR_MAJOR,
               "CeedLoadSourceToBuffer: '%s' and what it includes are more than %d bytes",
               e->num_files ? e->files[0].path : "", (int)RITZ_MAX_TEXT_BYTES);
  if (e->length + length + 1 > e->capacity) {
    size_t capacity = 2 * (e->length + length + 1);
    RITZ_TRY(RITZ_REALLOC(e->ceed, capacity, &e->text));
    e->capacity = capacity;
  }
  memcpy(e->text + e->length, text, length);
  e->length += length;
  e->text[e->length] = '\0';
  return CEED_ERROR_SUCCESS;
}

static int append_string(Expansion *e, const char *text) { return append_text(e, text, strlen(text)); }

// *index of the file in e->files.
static int meet_file(Expansion *e, const char *path, size_t *index) {
  char *canonical = realpath(path, NULL);
  if (canonical)
    ritz_memory_adopt(canonical);
  else if (ritz_embedded_find(path))
    RITZ_TRY(ritz_strdup(e->ceed, path, &canonical));
  RITZ_REQUIRE(canonical, e->ceed, CEED_ERROR_MAJOR, "CeedLoadSourceToBuffer: cannot open '%s'", path);
  size_t i = 0;
  while (i < e->num_files && strcmp(e->files[i].path, canonical)) i++;
  *index = i;
  int ierr = i < e->num_files ? CEED_ERROR_SUCCESS : RITZ_REALLOC(e->ceed, e->num_files + 1, &e->files);
  if (ierr || i < e->num_files) {
    RITZ_FREE(&canonical);
    return ierr;
  }
  e->files[e->num_files++] = (SourceFile){.path = canonical};
  return CEED_ERROR_SUCCESS;
}

static int expand_file(Expansion *e, const char *path, bool is_conditional, int depth);

// Headers whose contents devices have without them, and those of the standard that have nothing for them.
static bool is_built_in(const char *name) {
  static const char *const names[] = {
      "algorithm",  "cassert",  "cfloat",    "climits",  "cmath",       "cstddef",      "cstdint",
      "cstdlib",    "assert.h", "complex.h", "float.h",  "inttypes.h",  "limits.h",     "math.h",
      "stdalign.h", "stdarg.h", "stdbool.h", "stddef.h", "stdint.h",    "stdio.h",      "stdlib.h",
      "string.h",   "tgmath.h", "time.h",    "ceed.h",   "ceed/ceed.h", "ceed/types.h", "ceed/backend.h"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    if (!strcmp(name, names[i])) return true;
  }
  return false;
}

// A system header that is nowhere below the roots stays in the text, for devices any that stands below a
// condition: it may hide it from the compiler, who knows better what to say where none does.
static int expand_named(Expansion *e, const char *including, const Line *line, const char *name,
                        bool is_conditional, int depth) {
  const bool is_system = line->kind == LINE_SYSTEM;
  char *path = NULL;
  if (e->for_device && is_built_in(name)) return CEED_ERROR_SUCCESS;
  RitzFileFault fault;
  int ierr = ritz_jit_find_include(e->ceed, is_system ? NULL : including, name, &path, &fault);
  if (!ierr && !path && (is_system || (e->for_device && is_conditional))) {
    RITZ_TRY(append_text(e, line->start, (size_t)(line->end - line->start)));
    return append_string(e, "\n");
  }
  if (!ierr && !path) {
    ierr = CeedError(e->ceed, CEED_ERROR_MAJOR,
                     "CeedLoadSourceToBuffer: '%s' includes '%s', which %s; more folders of headers: "
                     "CeedAddJitSourceRoot, or RITZ_INCLUDE_PATH=FOLDER:FOLDER",
                     including, name, fault.text);
  }
  if (!ierr) ierr = expand_file(e, path, is_conditional, depth + 1);
  RITZ_FREE(&path);
  return ierr;
}

// Appends a #line directive: the next line is line `line` of file `path`.
static int append_line_mark(Expansion *e, const char *path, CeedSize number) {
  char *mark = NULL;
  if (!e->for_device) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_MALLOC(e->ceed, 2 * strlen(path) + 40, &mark));
  char *end = mark + sprintf(mark, "#line %" CeedSize_FMT " \"", number);
  for (; *path; path++) {
    if (*path == '"' || *path == '\\') *end++ = '\\';
    *end++ = *path;
    if ((unsigned char)*path < ' ') end[-1] = '?'; // a newline would end the mark
  }
  strcpy(end, "\"\n");
  int ierr = append_string(e, mark);
  RITZ_FREE(&mark);
  return ierr;
}

static int expand_include(Expansion *e, const char *including, CeedSize number, const Line *line,
                          bool is_conditional, int depth) {
  char *name = NULL;
  RITZ_TRY(RITZ_CALLOC(e->ceed, line->name_length + 1, &name));
  memcpy(name, line->name, line->name_length);
  int ierr = expand_named(e, including, line, name, is_conditional, depth);
  RITZ_FREE(&name);
  if (ierr) return ierr;
  RITZ_TRY(append_line_mark(e, including, number));
  const char *rest = line->name + line->name_length + 1; // a comment may begin here
  return append_text(e, rest, (size_t)(line->end - rest));
}

// Marks in a branch that is not compiled are not seen: the next line needs another one.
static bool ends_branch(const Line *line) {
  return (line->kind == LINE_ELSE || line->kind == LINE_ENDIF) && *line->end;
}

// guard_depth: conditions that are the file's own guard.
static int expand_lines(Expansion *e, const char *path, const char *text, bool is_conditional,
                        int guard_depth, int depth) {
  bool in_comment = false;
  int num_conditions = 0;
  CeedSize number = 1;
  RITZ_TRY(append_line_mark(e, path, number));
  for (const char *p = text; *p; number++) {
    Line line = read_line(p, &in_comment);
    p = line.end;
    num_conditions += depth_change(&line);
    bool is_hidden = is_conditional || num_conditions > guard_depth;
    if (line.kind == LINE_INCLUDE || (line.kind == LINE_SYSTEM && e->for_device)) {
      RITZ_TRY(expand_include(e, path, number, &line, is_hidden, depth));
    } else {
      bool is_kept = line.kind != LINE_ONCE;
      RITZ_TRY(is_kept ? append_text(e, line.start, (size_t)(line.end - line.start))
                       : append_string(e, "\n"));
      if (ends_branch(&line)) RITZ_TRY(append_line_mark(e, path, number + 1));
    }
  }
  return e->length && e->text[e->length - 1] != '\n' ? append_string(e, "\n") : CEED_ERROR_SUCCESS;
}

// #pragma once means the file, not the text it is copied to; there it becomes a guard.
static int expand_text(Expansion *e, size_t index, const char *path, const char *text, bool is_conditional,
                       int depth) {
  Protection protection = find_protection(text);
  bool is_protected = protection.has_once || protection.has_guard;
  if (is_protected && (e->files[index].num_open || e->files[index].is_certain)) return CEED_ERROR_SUCCESS;
  RITZ_REQUIRE(depth <= MAX_DEPTH, e->ceed, CEED_ERROR_MAJOR,
               "CeedLoadSourceToBuffer: includes nest deeper than %d files at '%s'", (int)MAX_DEPTH, path);
  char guard[100];
  bool needs_guard = protection.has_once && depth > 0;
  snprintf(guard, sizeof(guard), "#ifndef RITZ_ONCE_%zu\n#define RITZ_ONCE_%zu\n", index, index);
  e->files[index].num_open++;
  if (needs_guard) RITZ_TRY(append_string(e, guard));
  RITZ_TRY(expand_lines(e, path, text, is_conditional, protection.has_guard ? 1 : 0, depth));
  if (needs_guard) RITZ_TRY(append_string(e, "#endif\n"));
  e->files[index].num_open--;
  if (!is_conditional) e->files[index].is_certain = true;
  return CEED_ERROR_SUCCESS;
}

static int expand_file(Expansion *e, const char *path, bool is_conditional, int depth) {
  size_t index;
  char *text = NULL;
  RITZ_REQUIRE(e->num_expanded++ < MAX_EXPANDED, e->ceed, CEED_ERROR_MAJOR,
               "CeedLoadSourceToBuffer: '%s' includes more than %d files, the same ones counted each time",
               e->files[0].path, (int)MAX_EXPANDED);
  RITZ_TRY(meet_file(e, path, &index));
  int ierr = read_source_file(e->ceed, path, &text);
  if (!ierr) ierr = expand_text(e, index, path, text, is_conditional, depth);
  RITZ_FREE(&text);
  return ierr;
}

// source: of a text in memory, which `path` names in messages; NULL: of a file.
static int load_source(Ceed ceed, const char *path, const char *source, bool for_device, char **text) {
  Expansion e = {.ceed = ceed, .for_device = for_device};
  int ierr = append_string(&e, "");
  if (!ierr) ierr = source ? expand_lines(&e, path, source, false, 0, 0) : expand_file(&e, path, false, 0);
  for (size_t i = 0; i < e.num_files; i++) RITZ_FREE(&e.files[i].path);
  RITZ_FREE(&e.files);
  if (ierr) RITZ_FREE(&e.text);
  *text = e.text;
  return ierr;
}

int ritz_jit_load_for_device(Ceed ceed, const char *path, char **text) {
  return load_source(ceed, path, NULL, true, text);
}

int ritz_qfunction_load_for_device(CeedQFunction qf, char **text) {
  const char *path = NULL;
  RITZ_TRY(ritz_qfunction_find_source(qf, &path));
  if (!path) RITZ_TRY(CeedQFunctionGetSourcePath(qf, &path)); // which says what is missing
  return load_source(qf->obj.ceed, path, qf->text, true, text);
}

int CeedLoadSourceToBuffer(Ceed ceed, const char *source_file_path, char **buffer) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, buffer);
  RITZ_REQUIRE(source_file_path, ceed, CEED_ERROR_MAJOR, "%s: the path is NULL", __func__);
  char *text = NULL;
  RITZ_TRY(load_source(ceed, source_file_path, NULL, false, &text));
  ritz_memory_give(text);
  *buffer = text;
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionLoadSourceToBuffer(CeedQFunction qf, const char **source_buffer) {
  RITZ_HANDLE(qf);
  RITZ_ARGUMENT(qf, source_buffer);
  const char *path;
  *source_buffer = NULL;
  if (qf->text) {
    char *copy = NULL;
    RITZ_TRY(ritz_strdup(qf->obj.ceed, qf->text, &copy));
    ritz_memory_give(copy);
    *source_buffer = copy;
    return CEED_ERROR_SUCCESS;
  }
  RITZ_TRY(ritz_qfunction_find_source(qf, &path));
  if (!path) RITZ_TRY(CeedQFunctionGetSourcePath(qf, &path)); // which says what is missing
  return path ? CeedLoadSourceToBuffer(qf->obj.ceed, path, (char **)source_buffer) : CEED_ERROR_SUCCESS;
}
