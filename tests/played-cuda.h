// SPDX-License-Identifier: BSD-2-Clause
// A device that is played on the processor: contexts of /gpu/cuda/* whose kernels, as CUDA's compiler would
// get them, are compiled for the host and run by tests/cuda-on-cpu.h. Streams have nothing queued: every call
// does its work. Instructions in PTX are exchanged for functions of that file; one that it does not have is
// refused. Included by tests/test-cuda-language.c.
#ifndef RITZ_TESTS_PLAYED_CUDA_H
#define RITZ_TESTS_PLAYED_CUDA_H

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/gpu/context.h"
#include "backends/gpu/gpu.h"
#include "base/memory.h"
#include "tests/golden-kit.h"
#include "tests/tap.h"

enum { PLAYED_MEMORY = 227 << 10 }; // of a block

struct RitzDevice_private {
  RitzDeviceInfo info;
};

struct RitzDeviceProgram_private {
  void *library;
};

struct RitzDeviceKernel_private {
  struct RitzDeviceKernel_private *next; // of the process
  RitzDeviceProgram program;
  void (*run)(void **args);
  int (*launch)(void (*run)(void **args), void **args, long num_blocks, int block_size, char *memory,
                size_t size, size_t num_bytes);
  char *memory;
  char name[64];
};

// What has run on this device, for tests that are about it.
static struct {
  int num_launches, num_copies_out, num_ahead; // ahead: launches between an event and the copy that it is for
  bool has_event;
} played;

// ---- Texts ----

// What a piece of CUDA's text is for the host. up_to_end: with all that follows up to the closing
// parenthesis.
static const struct {
  const char *from, *to;
  bool up_to_end;
} exchanges[] = {
    {"extern \"C\" ", "", false},
    {"extern __shared__ ", "extern ", false},
    {"asm volatile(\"cp.async.ca.shared.global ", "cuda_copy_async(to, from)", true},
    {"asm volatile(\"cp.async.wait_all;\"", "cuda_copy_wait()", true},
    {"asm volatile(\"mma.sync.aligned.m8n8k4.", "cuda_mma_8_8_4(a[i], i / 2 ? b1 : b0, d + i % 2 * 2)", true},
    {"asm volatile(\n      \"mma.sync.aligned.m16n8k8.", "cuda_mma_16_8_8(a, b0, b1, d)", true},
    {"asm(\"rcp.approx.ftz.f64 ", "y = cuda_reciprocal(b)", true},
};

// Behind the parenthesis that closes the first one.
static const char *behind_parentheses(const char *text) {
  int depth = 0;

  for (; *text; text++) {
    depth += (*text == '(') - (*text == ')');
    if (*text == ')' && depth == 0) return text + 1;
  }
  return text;
}

// The rest of a line that begins with these words; NULL: it does not.
static const char *behind_words(const char *line, const char *words) {
  const size_t length = strlen(words);
  return strncmp(line, words, length) ? NULL : line + length;
}

// A text whose templates stand there for one type of entries after the other, with the types and names that
// RITZ_ENTRY and RITZ_NAME are each time; to be freed.
static char *with_entries(const char *text) {
  char type[32] = "", suffix[32] = "", *made = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&made, &size);

  while (*text) {
    const char *rest;
    if ((rest = behind_words(text, "#define RITZ_ENTRY "))) sscanf(rest, "%31s", type);
    if ((rest = behind_words(text, "#define RITZ_NAME(name) name")) && sscanf(rest, "##%31s", suffix) != 1)
      suffix[0] = '\0';
    if (*text == '#') {
      const size_t length = strcspn(text, "\n");
      fprintf(stream, "%.*s", (int)length, text);
      text += length;
    } else if ((rest = behind_words(text, "RITZ_ENTRY "))) {
      fprintf(stream, "%s ", type);
      text = rest;
    } else if ((rest = behind_words(text, "RITZ_NAME("))) {
      const int length = (int)strcspn(rest, ")");
      fprintf(stream, "%.*s%s", length, rest, suffix);
      text = rest + length + 1;
      text += *text == '\n'; // in front of a kernel's arguments
    } else {
      fputc(*text++, stream);
    }
  }
  fclose(stream);
  return made;
}

static void write_for_host(const char *text, FILE *file) {
  enum { NUM = sizeof(exchanges) / sizeof(exchanges[0]) };

  while (*text) {
    int i = 0;
    while (i < NUM && strncmp(text, exchanges[i].from, strlen(exchanges[i].from)) != 0) i++;
    if (i == NUM) {
      fputc(*text++, file);
      continue;
    }
    fputs(exchanges[i].to, file);
    text = exchanges[i].up_to_end ? behind_parentheses(text) : text + strlen(exchanges[i].from);
  }
}

// The next kernel of a text: where its name begins, behind RITZ_KERNEL(...); NULL: none.
static const char *next_kernel(const char *text) {
  for (const char *line = text; line; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (strncmp(line, "RITZ_KERNEL", 11) != 0) continue;
    line = behind_parentheses(line);
    return line + strspn(line, " \n");
  }
  return NULL;
}

// One parameter's type is what stands before its name.
static void write_argument(const char *parameter, int length, int number, FILE *file) {
  while (length > 0 && isspace((unsigned char)parameter[length - 1])) length--;
  while (length > 0 && (isalnum((unsigned char)parameter[length - 1]) || parameter[length - 1] == '_'))
    length--;
  fprintf(file, "%s*(%.*s *)args[%d]", number ? ", " : "", length, parameter, number);
}

// Branches of the preprocessor may declare one twice.
static bool is_first_of_name(const char *text, const char *name) {
  const size_t length = strcspn(name, "(") + 1;

  while ((text = next_kernel(text)) != name) {
    if (!strncmp(text, name, length)) return false;
  }
  return true;
}

// A function that takes the arguments' addresses, for each kernel.
static void write_entries(const char *text, FILE *file) {
  for (const char *name = next_kernel(text); name; name = next_kernel(name)) {
    const int length = (int)strcspn(name, "(");
    const char *at = name + length + 1, *end = strchr(at, ')');

    if (!is_first_of_name(text, name)) continue;
    fprintf(file, "void %.*s_entry(void **args) {\n  %.*s(", length, name, length, name);
    for (int i = 0; at < end; i++) {
      const int size = (int)strcspn(at, ",)");
      write_argument(at, size, i, file);
      at += size + 1;
    }
    fprintf(file, ");\n}\n");
  }
}

static int played_compile(Ceed ceed, RitzDevice device, const char *name, const char *given,
                          RitzDeviceCode *code) {
  const char *source = tap_temp_file("kernel.c", "", 0), *library = tap_temp_file("kernel.so", NULL, 0);
  const char *log = tap_temp_file("log", "", 0);
  FILE *file = fopen(source, "w");
  char command[4096];

  if (!file) return CeedError(ceed, CEED_ERROR_BACKEND, "%s cannot be written", source);
  fprintf(file, "#include \"tests/cuda-on-cpu.h\"\n#define __CUDA_ARCH__ %s0\n", device->info.arch + 3);
  char *text = with_entries(given);
  write_for_host(text, file);
  fprintf(file, "\nRitzReal m[%d / sizeof(RitzReal)] __align__(16);\n", (int)PLAYED_MEMORY);
  write_entries(text, file);
  free(text);
  fclose(file);
  snprintf(command, sizeof(command),
           "cc -std=gnu11 -O1 -w -ffp-contract=off -fPIC -shared -Wl,-z,defs -I. -o '%s' '%s' -lm >'%s' 2>&1",
           library, source, log);
  const bool is_compiled = !system(command);
  char *said = golden_read(log);
  if (!is_compiled) tap_note("%s: %s", name, said);
  int ierr = ritz_strdup(ceed, said, &code->log);
  free(said);
  if (ierr || !is_compiled) return ierr;
  code->num_bytes = strlen(library) + 1;
  return ritz_strdup(ceed, library, &code->bytes);
}

// ---- Code ----

// Programs and kernels stay until the process ends.
static int played_load(Ceed ceed, RitzDevice device, size_t num_bytes, const char *bytes,
                       RitzDeviceProgram *program) {
  void *library = num_bytes ? dlopen(bytes, RTLD_NOW | RTLD_LOCAL) : NULL;

  (void)device;
  if (!library) return CeedError(ceed, CEED_ERROR_BACKEND, "%s", dlerror());
  *program = malloc(sizeof(**program));
  (*program)->library = library;
  return CEED_ERROR_SUCCESS;
}

static struct RitzDeviceKernel_private *played_kernels;

static int played_unload(Ceed ceed, RitzDevice device, RitzDeviceProgram *program) {
  (void)ceed, (void)device;
  for (struct RitzDeviceKernel_private **at = &played_kernels; *at;) {
    struct RitzDeviceKernel_private *kernel = *at;
    if (kernel->program == *program) {
      *at = kernel->next;
      free(kernel);
    } else {
      at = &kernel->next;
    }
  }
  dlclose((*program)->library);
  free(*program);
  *program = NULL;
  return CEED_ERROR_SUCCESS;
}

static int played_kernel(Ceed ceed, RitzDeviceProgram program, const char *name, RitzDeviceKernel *kernel) {
  char entry[80];

  for (*kernel = played_kernels; *kernel; *kernel = (*kernel)->next) {
    if ((*kernel)->program == program && !strcmp((*kernel)->name, name)) return CEED_ERROR_SUCCESS;
  }
  snprintf(entry, sizeof(entry), "%s_entry", name);
  *kernel = calloc(1, sizeof(**kernel));
  (*kernel)->next = played_kernels;
  (*kernel)->program = program;
  *(void **)&(*kernel)->run = dlsym(program->library, entry);
  *(void **)&(*kernel)->launch = dlsym(program->library, "cuda_launch");
  (*kernel)->memory = dlsym(program->library, "m");
  snprintf((*kernel)->name, sizeof((*kernel)->name), "%s", name);
  played_kernels = *kernel;
  if ((*kernel)->run && (*kernel)->launch) return CEED_ERROR_SUCCESS;
  return CeedError(ceed, CEED_ERROR_BACKEND, "no kernel %s", name);
}

static int played_kernel_info(Ceed ceed, RitzDeviceKernel kernel, RitzDeviceKernelInfo *info) {
  (void)ceed, (void)kernel;
  *info = (RitzDeviceKernelInfo){.max_threads = 1024, .registers = -1, .spill_bytes = -1};
  return CEED_ERROR_SUCCESS;
}

static int played_launch(Ceed ceed, RitzDeviceKernel kernel, RitzDeviceStream stream, int64_t num_blocks,
                         int block_size, int64_t shared_bytes, int num_args, const RitzDeviceArg *args) {
  static const char *const faults[] = {"", "threads wait for others that do not come",
                                       "a write beyond shared memory", "no memory"};
  void *addresses[256];

  (void)stream;
  for (int i = 0; i < num_args; i++) addresses[i] = (void *)&args[i].value;
  played.num_launches++;
  played.num_ahead += played.has_event;
  const int result = kernel->launch(kernel->run, addresses, (long)num_blocks, block_size, kernel->memory,
                                    PLAYED_MEMORY, (size_t)shared_bytes);
  if (!result) return CEED_ERROR_SUCCESS;
  return CeedError(ceed, CEED_ERROR_BACKEND, "%s: %s", kernel->name, faults[result]);
}

static int played_launch_cleared(Ceed ceed, RitzDeviceKernel kernel, RitzDeviceStream stream,
                                 size_t num_bytes, void *p, int64_t num_blocks, int block_size,
                                 int64_t shared_bytes, int num_args, const RitzDeviceArg *args,
                                 RitzDeviceReplay *replay) {
  (void)replay;
  memset(p, 0, num_bytes);
  return played_launch(ceed, kernel, stream, num_blocks, block_size, shared_bytes, num_args, args);
}

// ---- Memory ----

static int played_alloc(Ceed ceed, RitzDevice device, size_t num_bytes, void **p) {
  (void)device;
  *p = aligned_alloc(256, (num_bytes + 255) / 256 * 256);
  if (!*p) return CeedError(ceed, CEED_ERROR_MAJOR, "no memory");
  memset(*p, 0xff, num_bytes); // NaN
  return CEED_ERROR_SUCCESS;
}

static int played_free(Ceed ceed, RitzDevice device, void *p) {
  (void)ceed, (void)device;
  free(p);
  return CEED_ERROR_SUCCESS;
}

static void played_find(RitzDevice device, const void *p, void **start, size_t *num_bytes) {
  (void)device, (void)p;
  *start = NULL;
  *num_bytes = 0;
}

static int played_copy(Ceed ceed, RitzDevice device, RitzDeviceStream stream, size_t num_bytes, void *to,
                       const void *from) {
  (void)ceed, (void)device, (void)stream;
  memcpy(to, from, num_bytes);
  return CEED_ERROR_SUCCESS;
}

static int played_copy_out(Ceed ceed, RitzDevice device, RitzDeviceStream stream, size_t num_bytes, void *to,
                           const void *from) {
  played.num_copies_out++;
  played.has_event = false;
  return played_copy(ceed, device, stream, num_bytes, to, from);
}

static int played_clear(Ceed ceed, RitzDevice device, RitzDeviceStream stream, size_t num_bytes, void *p) {
  (void)ceed, (void)device, (void)stream;
  memset(p, 0, num_bytes);
  return CEED_ERROR_SUCCESS;
}

// ---- Order ----

static char played_stream_or_event;

static int played_stream_create(Ceed ceed, RitzDevice device, RitzDeviceStream *stream) {
  (void)ceed, (void)device;
  *stream = (RitzDeviceStream)&played_stream_or_event;
  return CEED_ERROR_SUCCESS;
}

static int played_stream_destroy(Ceed ceed, RitzDevice device, RitzDeviceStream stream) {
  (void)ceed, (void)device, (void)stream;
  return CEED_ERROR_SUCCESS;
}

static int played_event_create(Ceed ceed, RitzDevice device, RitzDeviceEvent *event) {
  (void)ceed, (void)device;
  *event = (RitzDeviceEvent)&played_stream_or_event;
  return CEED_ERROR_SUCCESS;
}

static int played_event_destroy(Ceed ceed, RitzDevice device, RitzDeviceEvent *event) {
  (void)ceed, (void)device;
  *event = NULL;
  return CEED_ERROR_SUCCESS;
}

static int played_event_record(Ceed ceed, RitzDevice device, RitzDeviceStream stream, RitzDeviceEvent event) {
  (void)ceed, (void)device, (void)stream, (void)event;
  played.has_event = true;
  return CEED_ERROR_SUCCESS;
}

static int played_event_wait(Ceed ceed, RitzDevice device, RitzDeviceStream stream, RitzDeviceEvent event) {
  (void)ceed, (void)device, (void)stream, (void)event;
  return CEED_ERROR_SUCCESS;
}

// ---- Devices and contexts ----

static const RitzDriver played_driver = {.name = "played",
                                         .options = "",
                                         .has_warps = true,
                                         .alloc = played_alloc,
                                         .free = played_free,
                                         .find = played_find,
                                         .copy_in = played_copy,
                                         .copy_out = played_copy_out,
                                         .copy = played_copy,
                                         .clear = played_clear,
                                         .stream_create = played_stream_create,
                                         .stream_destroy = played_stream_destroy,
                                         .synchronize = played_stream_destroy,
                                         .event_create = played_event_create,
                                         .event_destroy = played_event_destroy,
                                         .event_record = played_event_record,
                                         .event_wait = played_event_wait,
                                         .compile = played_compile,
                                         .load = played_load,
                                         .unload = played_unload,
                                         .kernel = played_kernel,
                                         .kernel_info = played_kernel_info,
                                         .launch = played_launch,
                                         .launch_cleared = played_launch_cleared};

#define PLAYED_DEVICE(architecture)                                                                          \
  {                                                                                                          \
    .info = {                                                                                                \
      .driver = &played_driver,                                                                              \
      .name = "played " architecture,                                                                        \
      .arch = architecture,                                                                                  \
      .version = "1",                                                                                        \
      .num_units = 2,                                                                                        \
      .warp_size = 32,                                                                                       \
      .max_threads = 1024,                                                                                   \
      .shared_bytes = 48 << 10,                                                                              \
      .adds_atomically = true,                                                                               \
      .dynamic_shared_bytes = PLAYED_MEMORY,                                                                 \
      .shared_bytes_multiprocessor = 228 << 10,                                                              \
      .shared_bytes_reserved = 1 << 10,                                                                      \
      .registers_multiprocessor = 64 << 10,                                                                  \
      .threads_multiprocessor = 2048,                                                                        \
      .blocks_multiprocessor = 32                                                                            \
    }                                                                                                        \
  }
// Instructions differ between the three.
enum { SM_70, SM_80, SM_90, NUM_PLAYED };
static struct RitzDevice_private played_devices[NUM_PLAYED] = {PLAYED_DEVICE("sm_70"), PLAYED_DEVICE("sm_80"),
                                                               PLAYED_DEVICE("sm_90")};

// A context of the backend whose device is played; the library destroys it as any other.
static Ceed played_open(const RitzBackend *backend, int device) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzGpu *gpu = NULL;

  if (RITZ_CALLOC(ceed, 1, &gpu)) abort();
  *gpu = (RitzGpu){.driver = &played_driver,
                   .device = &played_devices[device],
                   .info = &played_devices[device].info,
                   .has_basis_kernels = backend != &ritz_cuda_ref_backend,
                   .has_fused_kernels = backend == &ritz_cuda_gen_backend,
                   .is_deterministic = backend == &ritz_cuda_ref_backend,
                   .work_bytes = 1 << 30};
  if (ritz_team_create(ceed, 1, &gpu->hosts)) abort();
  ceed->data = gpu;
  ritz_backend_complete(backend, &ceed->backend);
  return ceed;
}

// ---- Where it can be played: sanitizers do not follow coroutines ----

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
#if defined(HAS_SANITIZER) || defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { CAN_PLAY = 0 };
#else
enum { CAN_PLAY = 1 };
#endif

#define NEEDS_COROUTINES()                                                                                   \
  do {                                                                                                       \
    if (!CAN_PLAY) SKIP("threads of a block are coroutines, which sanitizers do not follow");                \
    if (system("cc --version >/dev/null 2>&1")) SKIP("no C compiler 'cc'");                                  \
  } while (0)

#endif
