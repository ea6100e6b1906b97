// SPDX-License-Identifier: BSD-2-Clause
// QFunctions on a device: the user's source in a kernel with one thread a point. Called through the table and
// by operator.c.
#include <string.h>

#include "backends/gpu/operators.h"
#include "base/text.h"
#include "emit/emit.h"
#include "jit/strings.h"

enum { BLOCK = 128 };               // threads; sources may need many registers
enum { CONTEXT_BYTES = 512 << 10 }; // that the threads of a block may have as copies, where each has its own

// A kernel of assembly, which is found by its text.
typedef struct Part {
  struct Part *next;
  char *text;           // owned, without the user's source
  RitzGpuKernel kernel; // owned
} Part;

// qf->data
typedef struct {
  RitzGpuKernel kernel; // owned; NONE: not asked for yet
  char *text;           // owned: the kernel and the user's source; likewise
  Part *parts;          // owned
  size_t context_bytes; // that the kernel was made for
  bool is_writable;     // the context, likewise
  int block_size;
} RitzGpuFunction;

// ---- The kernel ----

// In OpenCL the context's size is part of the text.
int ritz_gpu_context_define(CeedQFunction qf, size_t num_bytes, char **define) {
  RITZ_TRY(RITZ_MALLOC(qf->obj.ceed, 60, define));
  sprintf(*define, "#define RITZ_CONTEXT_BYTES %zu\n", num_bytes);
  if (!num_bytes) (*define)[0] = '\0';
  return CEED_ERROR_SUCCESS;
}

// The name goes into texts and into names of files.
int ritz_gpu_qfunction_load(CeedQFunction qf, char **source) {
  RITZ_REQUIRE(
      qf->source_path && ritz_is_identifier(qf->kernel_name), qf->obj.ceed, CEED_ERROR_BACKEND,
      "QFunction '%s' has no source, which a device compiles; found the source '%s', needed 'file:function'",
      qf->kernel_name, qf->source_path ? qf->source_path : "");
  RITZ_TRY_BACKEND(ritz_qfunction_load_for_device(qf, source));
  return CEED_ERROR_SUCCESS;
}

// Texts of the kernel, to follow kernels/gpu/qfunction.h.
static int describe_texts(CeedQFunction qf, const RitzGpuFunction *f, const char *own, const char *source,
                          RitzGpuKernel *kernel) {
  Ceed ceed = qf->obj.ceed;
  char *what = NULL, *define = NULL;
  int ierr = ritz_format(ceed, &what, "QFunction '%s' of %s", qf->kernel_name, qf->source_path);
  if (!ierr) ierr = ritz_gpu_context_define(qf, f->context_bytes, &define);
  if (!ierr) {
    const RitzGpuText text = {.name = qf->kernel_name,
                              .what = what,
                              .num = 4,
                              .texts = {define, ritz_gpu_template("kernels/gpu/qfunction.h"), own, source}};
    ierr = ritz_gpu_kernel_describe(ceed, &text, kernel);
  }
  RITZ_FREE(&what);
  RITZ_FREE(&define);
  return ierr;
}

// Threads of OpenCL have copies of the context (kernels/gpu/qfunction.h), two of one that they may write to.
CeedSize ritz_gpu_context_copies(CeedQFunction qf) {
  const CeedSize num_bytes = qf->ctx ? (CeedSize)qf->ctx->storage.num_bytes : 0;
  return ritz_gpu(qf->obj.ceed)->driver == &ritz_opencl ? num_bytes * (qf->is_context_writable ? 2 : 1) : 0;
}

// On CPUs the copies of all threads lie on one stack.
static int choose_block(CeedQFunction qf) {
  const CeedSize num_bytes = ritz_gpu_context_copies(qf);
  int block_size = BLOCK;
  while (block_size > 1 && block_size * num_bytes > CONTEXT_BYTES) block_size /= 2;
  return block_size;
}

static int describe_qfunction(CeedQFunction qf, RitzGpuFunction *f) {
  char *source = NULL;
  RITZ_TRY(ritz_gpu_qfunction_load(qf, &source));
  int ierr = ritz_emit_device_qfunction(qf, source, f->block_size, &f->text);
  RITZ_FREE(&source);
  if (!ierr) ierr = describe_texts(qf, f, f->text, "", &f->kernel);
  if (ierr) RITZ_FREE(&f->text);
  return ierr;
}

static bool is_current(CeedQFunction qf) {
  const RitzGpuFunction *f = qf->data;
  const size_t context_bytes = qf->ctx ? qf->ctx->storage.num_bytes : 0;
  return f && f->context_bytes == context_bytes && f->is_writable == qf->is_context_writable;
}

int ritz_gpu_qfunction_destroy(CeedQFunction qf) {
  RitzGpuFunction *f = qf->data;
  if (!f) return CEED_ERROR_SUCCESS;
  ritz_gpu_kernel_release(qf->obj.ceed, &f->kernel);
  while (f->parts) {
    Part *part = f->parts;
    f->parts = part->next;
    ritz_gpu_kernel_release(qf->obj.ceed, &part->kernel);
    RITZ_FREE(&part->text);
    RITZ_FREE(&part);
  }
  RITZ_FREE(&f->text);
  RITZ_FREE(&qf->data);
  return CEED_ERROR_SUCCESS;
}

// The data of a QFunction, made at its first call and when its context has another size.
static int open_function(CeedQFunction qf, RitzGpuFunction **function) {
  if (!is_current(qf)) {
    RitzGpuFunction *f = NULL;
    RITZ_TRY(ritz_gpu_qfunction_destroy(qf));
    RITZ_TRY(RITZ_CALLOC(qf->obj.ceed, 1, &f));
    *f = (RitzGpuFunction){.context_bytes = qf->ctx ? qf->ctx->storage.num_bytes : 0,
                           .is_writable = qf->is_context_writable,
                           .block_size = choose_block(qf)};
    qf->data = f;
  }
  *function = qf->data;
  return CEED_ERROR_SUCCESS;
}

// A text that is refused is read anew by the next call: its file may be repaired.
static int prepare_qfunction_kernel(CeedQFunction qf, RitzGpuFunction **function) {
  RitzGpuFunction *f;
  RITZ_TRY(open_function(qf, &f));
  if (!f->text) RITZ_TRY(describe_qfunction(qf, f));
  const int ierr = ritz_gpu_kernel_load(qf->obj.ceed, &f->kernel);
  if (ierr) {
    ritz_gpu_kernel_release(qf->obj.ceed, &f->kernel);
    RITZ_FREE(&f->text);
  }
  *function = f;
  return ierr;
}

// ---- Kernels of assembly ----

static int describe_part(CeedQFunction qf, const RitzGpuFunction *f, bool calls, Part *part) {
  char *source = NULL, *user = NULL;
  int ierr = calls ? ritz_gpu_qfunction_load(qf, &source) : CEED_ERROR_SUCCESS;
  if (!ierr && calls) ierr = ritz_emit_device_source(qf, source, &user);
  if (!ierr) ierr = describe_texts(qf, f, part->text, calls ? user : "", &part->kernel);
  RITZ_FREE(&source);
  RITZ_FREE(&user);
  return ierr;
}

static int add_part(CeedQFunction qf, RitzGpuFunction *f, bool calls, const char *text) {
  Part *part = NULL;
  RITZ_TRY(RITZ_CALLOC(qf->obj.ceed, 1, &part));
  int ierr = ritz_strdup(qf->obj.ceed, text, &part->text);
  if (!ierr) ierr = describe_part(qf, f, calls, part);
  if (!ierr) ierr = ritz_gpu_kernel_load(qf->obj.ceed, &part->kernel);
  if (ierr) {
    ritz_gpu_kernel_release(qf->obj.ceed, &part->kernel);
    RITZ_FREE(&part->text);
    RITZ_FREE(&part);
    return ierr;
  }
  part->next = f->parts;
  f->parts = part;
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_qfunction_part(CeedQFunction qf, bool calls, const char *text, RitzGpuKernel **kernel) {
  RitzGpuFunction *f;
  RITZ_TRY(open_function(qf, &f));
  Part *part = f->parts;
  while (part && strcmp(part->text, text)) part = part->next;
  if (!part) RITZ_TRY(add_part(qf, f, calls, text));
  *kernel = part ? &part->kernel : &f->parts->kernel;
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_qfunction_block(CeedQFunction qf) { return choose_block(qf); }

int ritz_gpu_qfunction_source(CeedQFunction qf, const char **text) {
  RitzGpuFunction *f = NULL;
  RITZ_TRY(prepare_qfunction_kernel(qf, &f));
  *text = f->text;
  return CEED_ERROR_SUCCESS;
}

// ---- Calls ----

static int launch_qfunction(CeedQFunction qf, RitzGpuFunction *f, void *context, int64_t Q,
                            const RitzGpuField *fields) {
  Ceed ceed = qf->obj.ceed;
  const CeedInt num_fields = qf->num_in + qf->num_out;
  int num_args = 2;
  RitzDeviceArg *args = NULL;
  RITZ_TRY(RITZ_MALLOC(ceed, 2 + 3 * (size_t)num_fields, &args));
  args[0] = (RitzDeviceArg)RITZ_POINTER(context);
  args[1] = (RitzDeviceArg)RITZ_LONG(Q);
  for (CeedInt i = 0; i < num_fields; i++) {
    if ((i < qf->num_in ? qf->in[i] : qf->out[i - qf->num_in])->size == 0) continue;
    args[num_args++] = (RitzDeviceArg)RITZ_POINTER(fields[i].array);
    args[num_args++] = (RitzDeviceArg)RITZ_LONG(fields[i].first);
    args[num_args++] = (RitzDeviceArg)RITZ_LONG(fields[i].stride);
  }
  int ierr = ritz_gpu_launch(ceed, &f->kernel, "ritz_qfunction", (Q + f->block_size - 1) / f->block_size,
                             f->block_size, 0, num_args, args);
  RITZ_FREE(&args);
  return ierr;
}

int ritz_gpu_qfunction_run(CeedQFunction qf, int64_t Q, const RitzGpuField *fields) {
  RitzGpuFunction *f = NULL;
  void *context;
  RITZ_TRY(prepare_qfunction_kernel(qf, &f));
  RITZ_TRY_BACKEND(ritz_qfunction_get_context_data(qf, CEED_MEM_DEVICE, &context));
  int ierr = launch_qfunction(qf, f, context, Q, fields);
  int restored = ritz_qfunction_restore_context_data(qf, &context);
  RITZ_TRY_BACKEND(ierr ? ierr : restored);
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_qfunction_apply(CeedQFunction qf, CeedInt Q, const CeedScalar *const *in,
                             CeedScalar *const *out) {
  const CeedInt num_fields = qf->num_in + qf->num_out;
  RitzGpuField *fields = NULL;
  RITZ_TRY(RITZ_MALLOC(qf->obj.ceed, (size_t)num_fields, &fields));
  for (CeedInt i = 0; i < num_fields; i++)
    fields[i] = (RitzGpuField){i < qf->num_in ? in[i] : out[i - qf->num_in], 0, Q};
  int ierr = ritz_gpu_qfunction_run(qf, Q, fields);
  RITZ_FREE(&fields);
  return ierr;
}
