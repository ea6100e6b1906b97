// SPDX-License-Identifier: BSD-2-Clause
// A driver that is played: operators and batches of /gpu/cuda run on it without a GPU, its compiler is NVRTC
// and its launches do nothing. Tells registers and spills of what was compiled. Called by
// tests/test-nvrtc-*.c.
#ifndef RITZ_TESTS_NVRTC_KIT_H
#define RITZ_TESTS_NVRTC_KIT_H

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "backends/gpu/context.h"
#include "backends/gpu/gpu.h"
#include "backends/gpu/kernel.h"
#include "jit/files.h"
#include "jit/hash.h"
#include "tests/nvrtc-log.h"
#include "tests/tap.h"

// ---- What was compiled ----

struct RitzDevice_private {
  RitzDeviceInfo info;
};

// Texts that were compiled, each once a device. Of the process.
typedef struct Compiled {
  struct Compiled *next;
  RitzDevice device;
  RitzHash key;
} Compiled;

// Of the running test.
typedef struct {
  bool wants_registers; // tells which kernels keep numbers in memory
  int num_programs, num_kernels, num_in_memory;
  double seconds;
  int64_t most_registers, most_stack, most_memory; // of a thread, a thread, a block
  char largest[256];                               // the kernel with most registers
} Totals;

// A fused kernel of the benchmark set.
typedef struct {
  int registers, spill_bytes, stack_bytes;                    // of a thread
  int num_elem, num_threads, num_blocks, unrolled, num_bytes; // of a block; blocks of a multiprocessor
  bool uses_mma;
} Fused;

static Compiled *compiled;
static Totals totals;
static Fused fused;       // the last one
static char running[128]; // what compiles now, for messages
static bool is_dumping;   // texts are not compiled
static FILE *counts;      // a line of each kernel that is compiled goes there; NULL: nowhere

static bool was_compiled(RitzDevice device, const char *text) {
  RitzHasher hasher;
  Compiled *found = compiled;

  ritz_hash_begin(&hasher);
  ritz_hash_add_string(&hasher, text);
  const RitzHash key = ritz_hash_end(&hasher);
  while (found && (found->device != device || strcmp(found->key.hex, key.hex))) found = found->next;
  if (found) return true;
  found = malloc(sizeof(*found));
  *found = (Compiled){compiled, device, key};
  compiled = found;
  return false;
}

// ---- What the assembler says ----

// The number before some words; -1: they are not there.
static int64_t number_before(const char *text, const char *words) {
  const char *number = strstr(text, words);

  if (!number) return -1;
  while (number > text && number[-1] >= '0' && number[-1] <= '9') number--;
  return strtoll(number, NULL, 10);
}

// The macros that a kernel is made with: "RITZ_DIM 3, RITZ_P 4".
static void find_sizes(const char *text, size_t length, char *sizes) {
  const char *at = strstr(text, "\"part 1\"\n");
  size_t end = 0;

  sizes[0] = '\0';
  while (at && (at = strchr(at, '\n')) && !strncmp(++at, "#define ", 8)) {
    const int n = (int)strcspn(at + 8, "\n");
    if (end + (size_t)n + 3 > length) return;
    end += (size_t)sprintf(sizes + end, "%s%.*s", end ? ", " : "", n, at + 8);
  }
}

// *header: of the section of this name; false: the code has none, or is none of a device.
static bool find_section(const RitzDeviceCode *code, const char *name, Elf64_Shdr *header) {
  Elf64_Ehdr elf;
  Elf64_Shdr names;

  if (code->num_bytes < sizeof(elf) || memcmp(code->bytes, ELFMAG, SELFMAG)) return false;
  memcpy(&elf, code->bytes, sizeof(elf));
  const char *headers = code->bytes + elf.e_shoff;
  memcpy(&names, headers + elf.e_shstrndx * sizeof(names), sizeof(names));
  for (int i = 0; i < elf.e_shnum; i++) {
    memcpy(header, headers + (size_t)i * sizeof(*header), sizeof(*header));
    if (!strcmp(code->bytes + names.sh_offset + header->sh_name, name)) return true;
  }
  return false;
}

// Instructions of 16 bytes, those included that fill up the last line of code; -1: unknown.
static int64_t count_instructions(const RitzDeviceCode *code, const char *kernel) {
  Elf64_Shdr header;
  char name[80];

  snprintf(name, sizeof(name), ".text.%s", kernel);
  return find_section(code, name, &header) ? (int64_t)(header.sh_size / 16) : -1;
}

static void print_counts(const RitzDeviceCode *code, const char *kernel, const char *section) {
  const int64_t memory = number_before(section, " bytes smem"); // not said where it is zero

  fprintf(counts, "%-32s %9d  %6d  %5d  %6d  %12d\n", kernel, (int)number_before(section, " registers"),
          (int)nvrtc_spills(section), (int)number_before(section, " bytes stack frame"),
          memory > 0 ? (int)memory : 0, (int)count_instructions(code, kernel));
}

// Numbers of a thread leave the registers when there are too few, and when they are indexed at run time.
static void tell_memory(RitzDevice device, const char *text, const char *name, const char *section) {
  char sizes[512];

  find_sizes(text, sizeof(sizes), sizes);
  tap_note("%s of %s for %s: spills %d bytes, stack %d bytes, %d registers (-1: unknown); %s", name, running,
           device->info.arch, (int)nvrtc_spills(section), (int)number_before(section, " bytes stack frame"),
           (int)number_before(section, " registers"), sizes);
}

// The number behind some words of a text; -1: they are not there.
static int number_behind(const char *text, const char *words) {
  const char *at = strstr(text, words);
  return at ? atoi(at + strlen(words)) : -1;
}

static void look_at_fused(const char *text, const char *section) {
  fused = (Fused){.registers = (int)number_before(section, " registers"),
                  .spill_bytes = (int)nvrtc_spills(section),
                  .stack_bytes = (int)number_before(section, " bytes stack frame"),
                  .num_elem = number_behind(text, "#define RITZ_ELEMENTS "),
                  .num_threads = number_behind(text, "#define RITZ_THREADS "),
                  .num_blocks = number_behind(text, "RITZ_KERNEL_RESIDENT(RITZ_THREADS, "),
                  .unrolled = !strstr(text, "    RITZ_ROLL\n"),
                  .uses_mma = strstr(text, "_mma(RITZ_L(") || strstr(text, "ritz_tile_get(")};
}

static void look_at_kernel(RitzDevice device, const char *text, const RitzDeviceCode *code, const char *name,
                           const char *section) {
  const int64_t registers = number_before(section, " registers");
  const int64_t stack = number_before(section, " bytes stack frame");
  const int64_t memory = number_before(section, " bytes smem");
  const bool is_in_memory = nvrtc_spills(section) != 0 || stack != 0 || registers < 1;

  if (counts) print_counts(code, name, section);
  totals.num_kernels++;
  totals.num_in_memory += is_in_memory;
  if (is_in_memory && totals.wants_registers) tell_memory(device, text, name, section);
  if (!strcmp(name, "ritz_operator")) look_at_fused(text, section);
  if (stack > totals.most_stack) totals.most_stack = stack;
  if (memory > totals.most_memory) totals.most_memory = memory;
  if (registers <= totals.most_registers) return;
  totals.most_registers = registers;
  snprintf(totals.largest, sizeof(totals.largest), "%s of %s", name, running);
}

// A log has a section for each kernel.
static void look_at_log(RitzDevice device, const char *text, const RitzDeviceCode *code) {
  static const char begin[] = "Compiling entry function '";
  const char *at = strstr(code->log, begin);

  while (at) {
    const char *name = at + strlen(begin), *next = strstr(name, begin);
    char *section = strndup(name, next ? (size_t)(next - name) : strlen(name));
    char kernel[64];

    snprintf(kernel, sizeof(kernel), "%.*s", (int)strcspn(name, "'"), name);
    look_at_kernel(device, text, code, kernel, section);
    free(section);
    at = next;
  }
}

// ---- A driver ----

struct RitzDeviceProgram_private {
  char unused;
};

// Nobody reads the bytes, so that a text need not be compiled twice.
static int compile(Ceed ceed, RitzDevice device, const char *name, const char *text, RitzDeviceCode *code) {
  const double start = ritz_seconds();
  const char *why;

  if (is_dumping || was_compiled(device, text)) {
    CeedCall(ritz_strdup(ceed, "", &code->log));
    code->num_bytes = 1;
    return ritz_strdup(ceed, "", &code->bytes);
  }
  CeedCall(ritz_nvrtc_compile(ceed, device->info.arch, name, text, code, &why));
  totals.seconds += ritz_seconds() - start;
  totals.num_programs++;
  if (code->bytes)
    look_at_log(device, text, code);
  else
    tap_note("%s for %s is refused", running, device->info.arch);
  return CEED_ERROR_SUCCESS;
}

static int load(Ceed ceed, RitzDevice device, size_t num_bytes, const char *bytes,
                RitzDeviceProgram *program) {
  (void)ceed, (void)device, (void)num_bytes, (void)bytes;
  *program = malloc(sizeof(**program));
  return CEED_ERROR_SUCCESS;
}

static int unload(Ceed ceed, RitzDevice device, RitzDeviceProgram *program) {
  (void)ceed, (void)device;
  free(*program);
  *program = NULL;
  return CEED_ERROR_SUCCESS;
}

static int get_kernel(Ceed ceed, RitzDeviceProgram program, const char *name, RitzDeviceKernel *kernel) {
  (void)ceed, (void)name;
  *kernel = (RitzDeviceKernel)program;
  return CEED_ERROR_SUCCESS;
}

static int launch(Ceed ceed, RitzDeviceKernel kernel, RitzDeviceStream stream, int64_t num_blocks,
                  int block_size, int64_t shared_bytes, int num_args, const RitzDeviceArg *args) {
  (void)ceed, (void)kernel, (void)stream, (void)num_blocks, (void)block_size, (void)shared_bytes,
      (void)num_args, (void)args;
  return CEED_ERROR_SUCCESS;
}

static int launch_cleared(Ceed ceed, RitzDeviceKernel kernel, RitzDeviceStream stream, size_t num_bytes,
                          void *p, int64_t num_blocks, int block_size, int64_t shared_bytes, int num_args,
                          const RitzDeviceArg *args, RitzDeviceReplay *replay) {
  (void)ceed, (void)kernel, (void)stream, (void)num_bytes, (void)p, (void)num_blocks, (void)block_size,
      (void)num_args, (void)args, (void)replay;
  fused.num_bytes = (int)shared_bytes;
  return CEED_ERROR_SUCCESS;
}

static int allocate(Ceed ceed, RitzDevice device, size_t num_bytes, void **p) {
  (void)ceed, (void)device;
  *p = calloc(num_bytes, 1);
  return CEED_ERROR_SUCCESS;
}

static int release(Ceed ceed, RitzDevice device, void *p) {
  (void)ceed, (void)device;
  free(p);
  return CEED_ERROR_SUCCESS;
}

static void find(RitzDevice device, const void *p, void **start, size_t *num_bytes) {
  (void)device, (void)p;
  *start = NULL;
  *num_bytes = 0;
}

static int copy(Ceed ceed, RitzDevice device, RitzDeviceStream stream, size_t num_bytes, void *to,
                const void *from) {
  (void)ceed, (void)device, (void)stream;
  memcpy(to, from, num_bytes);
  return CEED_ERROR_SUCCESS;
}

static bool reads_ones; // no kernel has run: results of sums are ones, on request

static int copy_out(Ceed ceed, RitzDevice device, RitzDeviceStream stream, size_t num_bytes, void *to,
                    const void *from) {
  const double one = 1;
  CeedCall(copy(ceed, device, stream, num_bytes, to, from));
  for (size_t i = 0; reads_ones && i + sizeof(one) <= num_bytes; i += sizeof(one))
    memcpy((char *)to + i, &one, sizeof(one));
  return CEED_ERROR_SUCCESS;
}

static int clear(Ceed ceed, RitzDevice device, RitzDeviceStream stream, size_t num_bytes, void *p) {
  (void)ceed, (void)device, (void)stream;
  memset(p, 0, num_bytes);
  return CEED_ERROR_SUCCESS;
}

static int no_stream(Ceed ceed, RitzDevice device, RitzDeviceStream *stream) {
  (void)ceed, (void)device;
  *stream = NULL;
  return CEED_ERROR_SUCCESS;
}

static int wait(Ceed ceed, RitzDevice device, RitzDeviceStream stream) {
  (void)ceed, (void)device, (void)stream;
  return CEED_ERROR_SUCCESS;
}

static const RitzDriver played = {.name = "played",
                                  .synchronize = wait,
                                  .alloc = allocate,
                                  .free = release,
                                  .find = find,
                                  .copy_in = copy,
                                  .copy_out = copy_out,
                                  .copy = copy,
                                  .clear = clear,
                                  .stream_create = no_stream,
                                  .compile = compile,
                                  .load = load,
                                  .unload = unload,
                                  .kernel = get_kernel,
                                  .launch = launch,
                                  .launch_cleared = launch_cleared};

#define DEVICE(architecture, kib_of_block, kib_of_multiprocessor)                                            \
  {                                                                                                          \
    .info = {                                                                                                \
      .driver = &played,                                                                                     \
      .name = architecture,                                                                                  \
      .arch = architecture,                                                                                  \
      .version = "1",                                                                                        \
      .warp_size = 32,                                                                                       \
      .max_threads = 1024,                                                                                   \
      .shared_bytes = 48 << 10,                                                                              \
      .adds_atomically = true,                                                                               \
      .dynamic_shared_bytes = (kib_of_block) << 10,                                                          \
      .shared_bytes_multiprocessor = (kib_of_multiprocessor) << 10,                                          \
      .shared_bytes_reserved = 1 << 10,                                                                      \
      .registers_multiprocessor = 64 << 10,                                                                  \
      .threads_multiprocessor = 2048,                                                                        \
      .blocks_multiprocessor = 32,                                                                           \
      .num_units = 132                                                                                       \
    }                                                                                                        \
  }
// H200 and A100.
static struct RitzDevice_private devices[] = {DEVICE("sm_90", 227, 228), DEVICE("sm_80", 163, 164)};

// ---- Contexts ----

static int load_base(Ceed ceed) {
  RitzGpuKernel *kernel;
  for (int which = 0; which < RITZ_NUM_BASE; which++) {
    const bool is_for_floats = which == RITZ_BASE_FLOATS || which == RITZ_BASE_FLOAT_ENTRIES;
    if (is_for_floats && sizeof(CeedScalar) == sizeof(float)) continue;
    CeedCall(ritz_gpu_base(ceed, (RitzGpuBase)which, &kernel));
    CeedCall(ritz_gpu_kernel_load(ceed, kernel));
  }
  return CEED_ERROR_SUCCESS;
}

// A context of the backend whose device is played; the library destroys it as any other.
static int open_context(const RitzBackend *backend, RitzDevice device, Ceed *ceed) {
  RitzGpu *gpu = NULL;

  *ceed = tap_ceed("/cpu/self/ref");
  CeedCall(RITZ_CALLOC(*ceed, 1, &gpu));
  *gpu = (RitzGpu){.driver = &played,
                   .device = device,
                   .info = &device->info,
                   .has_basis_kernels = backend != &ritz_cuda_ref_backend,
                   .has_fused_kernels = backend == &ritz_cuda_gen_backend,
                   .is_deterministic = backend == &ritz_cuda_ref_backend,
                   .work_bytes = 1 << 30};
  CeedCall(ritz_team_create(*ceed, 1, &gpu->hosts));
  (*ceed)->data = gpu;
  ritz_backend_complete(backend, &(*ceed)->backend);
  snprintf(running, sizeof(running), "the library's own kernels");
  return load_base(*ceed);
}

static inline void tell_totals(RitzDevice device) {
  tap_note("%s: %d programs, %d kernels, compiled in %.1f s", device->info.arch, totals.num_programs,
           totals.num_kernels, totals.seconds);
  tap_note("at most %d registers and a stack of %d bytes a thread, %d bytes of memory a block",
           (int)totals.most_registers, (int)totals.most_stack, (int)totals.most_memory);
  tap_note("most registers: %s", totals.largest);
}

#define NEEDS_NVRTC()                                                                                        \
  do {                                                                                                       \
    const char *why_;                                                                                        \
    if (!ritz_nvrtc_version(&why_)) SKIP("%s", why_);                                                        \
  } while (0)

#endif
