// SPDX-License-Identifier: BSD-2-Clause
// Programs that are loaded on the devices of the process, and how the text of one becomes code (contracts in
// backends/gpu/program.h).
#include <stdlib.h>
#include <string.h>

#include "backends/gpu/context.h"
#include "backends/gpu/program.h"
#include "base/threads.h"
#include "jit/binary.h"
#include "jit/files.h"
#include "jit/module.h"
#include "jit/strings.h"

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

// *bytes and *reason, one of which is NULL, are the caller's.
static int get_program_bytes(Ceed ceed, const RitzGpuSource *source, bool may_find, size_t *num_bytes,
                             char **bytes, char **reason) {
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
  char *said = NULL;
  RITZ_TRY(ritz_jit_binary(ceed, &binary, may_find, compile_program, &compiler, num_bytes, bytes, &said));
  int ierr = CEED_ERROR_SUCCESS;
  if (!*bytes)
    ierr = ritz_format(ceed, reason, "%s does not compile%s for %s: %s", source->what,
                       is_opencl ? " as OpenCL C, which is no C++," : "", info->name, said);
  RITZ_FREE(&said);
  return ierr;
}

int ritz_gpu_program_compile(Ceed ceed, const RitzGpuSource *source, size_t *num_bytes, char **bytes) {
  char *reason = NULL;
  const int ierr = get_program_bytes(ceed, source, true, num_bytes, bytes, &reason);
  RITZ_FREE(&reason);
  return ierr;
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

// Loads `bytes`, which are freed; NULL: made now. Bytes that the driver refuses, though they belong to this
// text and device, are made anew.
static int build(Ceed ceed, const RitzGpuSource *source, size_t num_bytes, char *bytes,
                 RitzDeviceProgram *code, char **reason) {
  if (!bytes) RITZ_TRY(get_program_bytes(ceed, source, true, &num_bytes, &bytes, reason));
  if (!bytes) return CEED_ERROR_SUCCESS;
  int ierr = load_silently(ceed, num_bytes, bytes, code);
  RITZ_FREE(&bytes);
  if (!ierr) return CEED_ERROR_SUCCESS;
  RITZ_TRY(get_program_bytes(ceed, source, false, &num_bytes, &bytes, reason));
  if (!bytes) return CEED_ERROR_SUCCESS;
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

int ritz_gpu_program_make(Ceed ceed, const RitzGpuSource *source, size_t num_bytes, char *bytes,
                          RitzGpuProgram *program, char **reason) {
  const RitzGpu *gpu = ritz_gpu(ceed);
  const struct RitzGpuProgram_private empty = {
      .driver = gpu->driver, .device = gpu->device, .key = source->key, .num_references = 1};
  int ierr = RITZ_CALLOC(ceed, 1, program);
  if (ierr) RITZ_FREE(&bytes);
  RITZ_TRY(ierr);
  **program = empty;
  ierr = build(ceed, source, num_bytes, bytes, &(*program)->code, reason);
  if (ierr || !(*program)->code)
    RITZ_FREE(program);
  else
    share(ceed, program);
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

int ritz_gpu_program_kernel(Ceed ceed, RitzGpuProgram program, const char *name, RitzDeviceKernel *kernel) {
  return program->driver->kernel(ceed, program->code, name, kernel);
}
