// SPDX-License-Identifier: BSD-2-Clause
// Texts to kernels: programs that are loaded on the devices of the process, and their launches (contracts in
// backends/gpu/program.h).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/gpu/ahead.h"
#include "base/embedded.h"
#include "base/threads.h"
#include "jit/binary.h"
#include "jit/files.h"
#include "jit/module.h"
#include "jit/words.h"

// Unreferenced programs that stay loaded.
enum { NUM_KEPT = 64 };

struct RitzGpuProgram_private {
  RitzGpuProgram next; // in the list, borrowed
  const RitzDriver *driver;
  RitzDevice device;
  RitzHash key; // of the text
  int num_references;
  RitzDeviceProgram code; // owned
};

// ---- Texts ----

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

static const char *precision_of(RitzGpuTextKind kind) {
  if (kind == RITZ_TEXT_FLOATS || CEED_SCALAR_TYPE == CEED_SCALAR_FP32) return "#define RITZ_SCALAR_F32\n";
  return kind == RITZ_TEXT_MIXED ? "#define RITZ_REAL_F32\n" : "";
}

static int append_texts(Ceed ceed, RitzGpuTextKind kind, const char *what, int num_texts,
                        const char *const *texts, Text *t) {
  const bool is_wide = ritz_gpu(ceed)->info->warp_size != 1;
  RITZ_TRY(append_string(ceed, t, precision_of(kind)));
  RITZ_TRY(append_string(ceed, t, is_wide ? "" : "#define RITZ_ONE_LANE\n"));
  RITZ_TRY(append_text(ceed, t, ritz_gpu_template("kernels/gpu/language.h"), 0));
  for (int i = 0; i < num_texts; i++) {
    RITZ_REQUIRE(texts[i], ceed, CEED_ERROR_BACKEND, "%s: part %d is not in the library", what, i + 1);
    RITZ_TRY(append_text(ceed, t, texts[i], i + 1));
  }
  return CEED_ERROR_SUCCESS;
}

static int make_text(Ceed ceed, RitzGpuTextKind kind, const char *what, int num_texts,
                     const char *const *texts, char **text) {
  Text t = {.text = NULL};
  const int ierr = append_texts(ceed, kind, what, num_texts, texts, &t);
  if (ierr) RITZ_FREE(&t.text);
  *text = t.text;
  return ierr;
}

// ---- Text to loaded code ----

typedef struct {
  const RitzGpu *gpu;
  bool is_hasty;
} Compiler;

static int compile_program(Ceed ceed, void *data, const char *name, const char *text, size_t *num_bytes,
                           char **bytes, char **log) {
  const Compiler *compiler = data;
  const RitzGpu *gpu = compiler->gpu;
  RitzDeviceCode code = {.bytes = NULL};
  const int ierr = (compiler->is_hasty ? gpu->driver->compile_hastily
                                       : gpu->driver->compile)(ceed, gpu->device, name, text, &code);
  if (ierr) ritz_device_code_free(&code);
  *num_bytes = code.num_bytes;
  *bytes = code.bytes;
  *log = code.log;
  return ierr;
}

static int get_program_bytes(Ceed ceed, const RitzGpuSource *source, bool may_find, size_t *num_bytes,
                             char **bytes) {
  const RitzGpu *gpu = ritz_gpu(ceed);
  const RitzDeviceInfo *info = gpu->info;
  const bool is_opencl = !strcmp(gpu->driver->name, "opencl");
  const char *const words[] = {gpu->driver->name, gpu->driver->options, info->name,
                               info->arch,        info->version,        source->is_hasty ? "hasty" : ""};
  const RitzJitBinary binary = {.name = source->name,
                                .extension = is_opencl ? "cl" : "cu",
                                .num_words = sizeof(words) / sizeof(words[0]),
                                .words = words,
                                .text = source->text};
  Compiler compiler = {gpu, source->is_hasty};
  char *reason = NULL;
  int ierr = ritz_jit_binary(ceed, &binary, may_find, compile_program, &compiler, num_bytes, bytes, &reason);
  if (!ierr && !*bytes)
    ierr = CeedError(ceed, CEED_ERROR_BACKEND, "%s does not compile%s for %s: %s", source->what,
                     is_opencl ? " as OpenCL C, which is no C++," : "", info->name, reason);
  RITZ_FREE(&reason);
  return ierr;
}

int ritz_gpu_program_compile(Ceed ceed, const RitzGpuSource *source, size_t *num_bytes, char **bytes) {
  return get_program_bytes(ceed, source, true, num_bytes, bytes);
}

static int load_program(Ceed ceed, size_t num_bytes, const char *bytes, RitzDeviceProgram *code) {
  RitzGpu *gpu = ritz_gpu(ceed);
  const double start = ritz_seconds();
  const int ierr = gpu->driver->load(ceed, gpu->device, num_bytes, bytes, code);
  ritz_jit_count(&(RitzJitCounters){.load_seconds = ritz_seconds() - start});
  return ierr;
}

// Loads a binary from the cache. A failure is not reported: the text is compiled anew then.
static int load_silently(Ceed ceed, size_t num_bytes, const char *bytes, RitzDeviceProgram *code) {
  const CeedErrorHandler handler = ceed->error_handler;
  ceed->error_handler = CeedErrorReturn;
  const int ierr = load_program(ceed, num_bytes, bytes, code);
  ceed->error_handler = handler;
  return ierr;
}

// From `bytes`, which were made ahead and are freed, or NULL. Bytes that the driver does not take, though
// they belong to this text and device, are made anew.
static int build(Ceed ceed, const RitzGpuSource *source, size_t num_bytes, char *bytes,
                 RitzDeviceProgram *code) {
  if (!bytes) RITZ_TRY(get_program_bytes(ceed, source, true, &num_bytes, &bytes));
  int ierr = load_silently(ceed, num_bytes, bytes, code);
  RITZ_FREE(&bytes);
  if (!ierr) return CEED_ERROR_SUCCESS;
  RITZ_TRY(get_program_bytes(ceed, source, false, &num_bytes, &bytes));
  ierr = load_program(ceed, num_bytes, bytes, code);
  RITZ_FREE(&bytes);
  if (ierr) ritz_jit_count(&(RitzJitCounters){.failures = 1});
  return ierr;
}

static void free_program(Ceed ceed, RitzGpuProgram program) {
  (void)program->driver->unload(ceed, program->device,
                                &program->code); // a driver that has gone has unloaded it
  RITZ_FREE(&program);
}

// ---- The list ----
// Guarded by RITZ_LOCK_PROGRAMS; the program that was made or given up last comes first. Unreferenced
// programs do not count as memory of the library: no context is left that could free them.

static RitzGpuProgram programs;

static RitzGpuProgram find_program_locked(RitzDevice device, const RitzHash *key) {
  RitzGpuProgram program = programs;
  while (program && (program->device != device || strcmp(program->key.hex, key->hex)))
    program = program->next;
  if (program && program->num_references++ == 0) ritz_memory_adopt(program);
  return program;
}

static void insert_locked(RitzGpuProgram program) {
  program->next = programs;
  programs = program;
}

static void remove_locked(RitzGpuProgram program) {
  RitzGpuProgram *at = &programs;
  while (*at != program) at = &(*at)->next;
  *at = program->next;
}

// The one that was given up first, out of the list, when there are too many; else NULL.
static RitzGpuProgram take_surplus_locked(void) {
  int num = 0;
  for (RitzGpuProgram program = programs; program; program = program->next) {
    if (program->num_references > 0 || ++num <= NUM_KEPT) continue;
    remove_locked(program);
    ritz_memory_adopt(program);
    return program;
  }
  return NULL;
}

RitzGpuProgram ritz_gpu_program_find(RitzDevice device, const RitzHash *key) {
  ritz_lock(RITZ_LOCK_PROGRAMS);
  const RitzGpuProgram program = find_program_locked(device, key);
  ritz_unlock(RITZ_LOCK_PROGRAMS);
  return program;
}

// Makes *program findable, or exchanges it for the one that another thread has made meanwhile.
static void share(Ceed ceed, RitzGpuProgram *program) {
  ritz_lock(RITZ_LOCK_PROGRAMS);
  const RitzGpuProgram other = find_program_locked((*program)->device, &(*program)->key);
  if (!other) insert_locked(*program);
  ritz_unlock(RITZ_LOCK_PROGRAMS);
  if (!other) return;
  free_program(ceed, *program);
  *program = other;
}

int ritz_gpu_program(Ceed ceed, const char *name, const char *what, int num_texts, const char *const *texts,
                     RitzGpuProgram *program) {
  return ritz_gpu_program_of(ceed, RITZ_TEXT_SCALARS, name, what, num_texts, texts, program);
}

// Loads code that was made ahead, which is freed, or is made now (NULL), and puts the program into the list.
static int make_program(Ceed ceed, const RitzGpuSource *source, size_t num_bytes, char *bytes,
                        RitzGpuProgram *program) {
  const RitzGpu *gpu = ritz_gpu(ceed);
  const struct RitzGpuProgram_private empty = {
      .driver = gpu->driver, .device = gpu->device, .key = source->key, .num_references = 1};
  int ierr = RITZ_CALLOC(ceed, 1, program);
  if (ierr) RITZ_FREE(&bytes);
  RITZ_TRY(ierr);
  **program = empty;
  ierr = build(ceed, source, num_bytes, bytes, &(*program)->code);
  if (ierr) RITZ_FREE(program);
  RITZ_TRY(ierr);
  share(ceed, program);
  return CEED_ERROR_SUCCESS;
}

// The caller frees *text, which the source names.
static int make_source(Ceed ceed, RitzGpuTextKind kind, const char *name, const char *what, int num_texts,
                       const char *const *texts, char **text, RitzGpuSource *source) {
  const bool is_hasty = (kind & RITZ_TEXT_ONCE) && ritz_gpu(ceed)->driver->compile_hastily;
  RitzHasher hasher;
  RITZ_TRY(make_text(ceed, kind & ~RITZ_TEXT_ONCE, what, num_texts, texts, text));
  ritz_hash_begin(&hasher);
  ritz_hash_add(&hasher, &is_hasty, sizeof(is_hasty));
  ritz_hash_add_string(&hasher, *text);
  *source = (RitzGpuSource){name, what, *text, is_hasty, ritz_hash_end(&hasher)};
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_program_of(Ceed ceed, RitzGpuTextKind kind, const char *name, const char *what, int num_texts,
                        const char *const *texts, RitzGpuProgram *program) {
  RitzGpuSource source;
  char *text = NULL, *bytes = NULL;
  size_t num_bytes = 0;
  int ierr = CEED_ERROR_SUCCESS;
  *program = NULL;
  RITZ_TRY(make_source(ceed, kind, name, what, num_texts, texts, &text, &source));
  const bool was_asked = ritz_gpu_ahead_take(ceed, &source.key, &num_bytes, &bytes, program);
  if (!*program && !bytes) {
    *program = ritz_gpu_program_find(ritz_gpu(ceed)->device, &source.key);
    if (*program && !was_asked) ritz_jit_count(&(RitzJitCounters){.memory_hits = 1});
  }
  if (!*program) ierr = make_program(ceed, &source, num_bytes, bytes, program);
  RITZ_FREE(&text);
  return ierr;
}

int ritz_gpu_program_ahead(Ceed ceed, RitzGpuTextKind kind, const char *name, const char *what, int num_texts,
                           const char *const *texts) {
  RitzGpuSource source;
  char *text = NULL;
  RITZ_TRY(make_source(ceed, kind, name, what, num_texts, texts, &text, &source));
  const int ierr = ritz_gpu_ahead_add(ceed, &source);
  RITZ_FREE(&text);
  return ierr;
}

void ritz_gpu_program_release(Ceed ceed, RitzGpuProgram *program) {
  RitzGpuProgram surplus = NULL;
  if (!*program) return;
  ritz_lock(RITZ_LOCK_PROGRAMS);
  if (--(*program)->num_references == 0) {
    remove_locked(*program);
    insert_locked(*program);
    ritz_memory_give(*program);
    surplus = take_surplus_locked();
  }
  ritz_unlock(RITZ_LOCK_PROGRAMS);
  if (surplus) free_program(ceed, surplus);
  *program = NULL;
}

// ---- Launches ----

int ritz_gpu_kernel(Ceed ceed, RitzGpuProgram program, const char *name, RitzDeviceKernel *kernel) {
  return program->driver->kernel(ceed, program->code, name, kernel);
}

int ritz_gpu_launch(Ceed ceed, RitzDeviceKernel kernel, int64_t num_blocks, int block_size,
                    int64_t shared_bytes, int num_args, const RitzDeviceArg *args) {
  const RitzGpu *gpu = ritz_gpu(ceed);
  if (num_blocks == 0) return CEED_ERROR_SUCCESS;
  return gpu->driver->launch(ceed, kernel, gpu->stream, num_blocks, block_size, shared_bytes, num_args, args);
}

int ritz_gpu_launch_cleared(Ceed ceed, RitzDeviceKernel kernel, size_t num_bytes, void *p, int64_t num_blocks,
                            int block_size, int64_t shared_bytes, int num_args, const RitzDeviceArg *args,
                            RitzDeviceReplay *replay) {
  const RitzGpu *gpu = ritz_gpu(ceed);
  if (num_blocks == 0)
    return num_bytes ? gpu->driver->clear(ceed, gpu->device, gpu->stream, num_bytes, p) : CEED_ERROR_SUCCESS;
  if (num_bytes == 0)
    return ritz_gpu_launch(ceed, kernel, num_blocks, block_size, shared_bytes, num_args, args);
  return gpu->driver->launch_cleared(ceed, kernel, gpu->stream, num_bytes, p, num_blocks, block_size,
                                     shared_bytes, num_args, args, replay);
}

void ritz_gpu_replay_destroy(Ceed ceed, RitzDeviceReplay *replay) {
  const RitzGpu *gpu = ritz_gpu(ceed);
  if (*replay) (void)gpu->driver->replay_destroy(ceed, gpu->device, replay); // as with programs
}

int ritz_gpu_run(Ceed ceed, RitzGpuProgram program, const char *kernel, int64_t num_blocks, int block_size,
                 int num_args, const RitzDeviceArg *args) {
  RitzDeviceKernel found = NULL;
  if (num_blocks == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_gpu_kernel(ceed, program, kernel, &found));
  return ritz_gpu_launch(ceed, found, num_blocks, block_size, 0, num_args, args);
}
