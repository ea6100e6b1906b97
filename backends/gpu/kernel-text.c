// SPDX-License-Identifier: BSD-2-Clause
// The text of a program: what its description names behind kernels/gpu/language.h, with what that includes of
// the library's, and lines that tell compilers where each part is from (contracts in backends/gpu/program.h).
#include <stdio.h>
#include <string.h>

#include "backends/gpu/context.h"
#include "backends/gpu/program.h"
#include "base/embedded.h"

static const RitzEmbeddedFile *find_file(size_t num, const RitzEmbeddedFile *files, const char *name) {
  for (size_t i = 0; i < num; i++) {
    if (!strcmp(files[i].name, name)) return &files[i];
  }
  return NULL;
}

static const RitzEmbeddedFile *find_template(const char *name) {
  return find_file(ritz_num_embedded_templates, ritz_embedded_templates, name);
}

const char *ritz_gpu_template(const char *name) {
  const RitzEmbeddedFile *file = find_template(name);
  return file ? (const char *)file->bytes : NULL;
}

// A text that grows.
typedef struct {
  char *text; // owned, ends with a zero
  size_t length, size;
} Text;

static int append_bytes(Ceed ceed, Text *t, size_t length, const char *more) {
  if (t->length + length + 1 > t->size) {
    const size_t size = 2 * (t->length + length + 1);
    RITZ_TRY(RITZ_REALLOC(ceed, size, &t->text));
    t->size = size;
  }
  memcpy(t->text + t->length, more, length);
  t->length += length;
  t->text[t->length] = '\0';
  return CEED_ERROR_SUCCESS;
}

static int append_string(Ceed ceed, Text *t, const char *more) {
  return append_bytes(ceed, t, strlen(more), more);
}

// Appends a #line directive, by which messages of compilers name the file and line of what follows.
static int append_mark(Ceed ceed, Text *t, int line, const char *name) {
  char mark[128];
  snprintf(mark, sizeof(mark), "#line %d \"%s\"\n", line, name);
  return append_string(ceed, t, mark);
}

// The file of a line #include <ceed/types.h>, "kernels/gpu/lines.h" or, in a file of ceed/, "ceed-f64.h";
// NULL: none of ours.
static const RitzEmbeddedFile *included_file(const char *line) {
  char name[64], path[80], quote;
  if (strncmp(line, "#include ", 9) || sscanf(line, "#include %c%63[^>\"]", &quote, name) != 2) return NULL;
  if (!strncmp(name, "kernels/", 8)) return find_template(name);
  snprintf(path, sizeof(path), "%s%s", quote == '"' ? "ceed/" : "", name);
  return find_file(ritz_num_embedded_files, ritz_embedded_files, path);
}

// A text with what it includes of the library's; other includes are in branches for hosts.
static int append_file(Ceed ceed, Text *t, const char *name, const char *bytes) {
  const char *start = bytes; // first byte not yet appended
  int number = 1;
  RITZ_TRY(append_mark(ceed, t, 1, name));
  for (const char *line = start; *line; number++) {
    const RitzEmbeddedFile *inner = included_file(line);
    const char *end = line + strcspn(line, "\n"), *next = end + (*end == '\n');
    if (inner) {
      RITZ_TRY(append_bytes(ceed, t, (size_t)(line - start), start));
      RITZ_TRY(append_file(ceed, t, inner->name, (const char *)inner->bytes));
      RITZ_TRY(append_mark(ceed, t, number + 1, name));
      start = next;
    }
    line = next;
  }
  RITZ_TRY(append_bytes(ceed, t, strlen(start), start));
  return append_bytes(ceed, t, 1, "\n");
}

// Parts that are no templates go by their number among the caller's.
static int append_text(Ceed ceed, Text *t, const char *text_part, int number) {
  char name[32];
  for (size_t i = 0; i < ritz_num_embedded_templates; i++) {
    const RitzEmbeddedFile *file = &ritz_embedded_templates[i];
    if (text_part == (const char *)file->bytes) return append_file(ceed, t, file->name, text_part);
  }
  snprintf(name, sizeof(name), "part %d", number);
  return append_file(ceed, t, name, text_part);
}

static const char *what_of(const RitzGpuText *text) {
  return text->what ? text->what : "the library's own kernels";
}

static const char *precision_of(RitzGpuTextKind kind) {
  if (kind == RITZ_TEXT_FLOATS || CEED_SCALAR_TYPE == CEED_SCALAR_FP32) return "#define RITZ_SCALAR_F32\n";
  return kind == RITZ_TEXT_MIXED ? "#define RITZ_REAL_F32\n" : "";
}

static int append_texts(Ceed ceed, const RitzGpuText *from, Text *t) {
  const bool is_wide = ritz_gpu(ceed)->info->warp_size != 1;
  RITZ_TRY(append_string(ceed, t, precision_of(from->kind & ~RITZ_TEXT_ONCE)));
  RITZ_TRY(append_string(ceed, t, is_wide ? "" : "#define RITZ_ONE_LANE\n"));
  RITZ_TRY(append_text(ceed, t, ritz_gpu_template("kernels/gpu/language.h"), 0));
  for (int i = 0; i < from->num; i++) {
    RITZ_REQUIRE(from->texts[i], ceed, CEED_ERROR_BACKEND, "%s: part %d is not in the library", what_of(from),
                 i + 1);
    RITZ_TRY(append_text(ceed, t, from->texts[i], i + 1));
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Sources ----

static RitzHash hash_source(const RitzGpuSource *source) {
  RitzHasher hasher;
  ritz_hash_begin(&hasher);
  ritz_hash_add(&hasher, &source->is_hasty, sizeof(source->is_hasty));
  ritz_hash_add_string(&hasher, source->text);
  return ritz_hash_end(&hasher);
}

static int fill_source(Ceed ceed, const RitzGpuText *text, RitzGpuSource *source) {
  Text t = {.text = NULL};
  const int ierr = append_texts(ceed, text, &t);
  source->text = t.text;
  RITZ_TRY(ierr);
  RITZ_TRY(ritz_strdup(ceed, text->name, &source->name));
  RITZ_TRY(ritz_strdup(ceed, what_of(text), &source->what));
  source->is_hasty = (text->kind & RITZ_TEXT_ONCE) && ritz_gpu(ceed)->driver->compile_hastily;
  source->key = hash_source(source);
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_source_create(Ceed ceed, const RitzGpuText *text, RitzGpuSource **source) {
  RITZ_TRY(RITZ_CALLOC(ceed, 1, source));
  (*source)->num_users = 1;
  const int ierr = fill_source(ceed, text, *source);
  if (ierr) ritz_gpu_source_release(source);
  return ierr;
}

RitzGpuSource *ritz_gpu_source_share(RitzGpuSource *source) {
  source->num_users++;
  return source;
}

void ritz_gpu_source_release(RitzGpuSource **shared) {
  RitzGpuSource *source = *shared;
  *shared = NULL;
  if (!source || --source->num_users > 0) return;
  RITZ_FREE(&source->name);
  RITZ_FREE(&source->what);
  RITZ_FREE(&source->text);
  RITZ_FREE(&source);
}
