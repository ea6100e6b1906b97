// SPDX-License-Identifier: BSD-2-Clause
// From texts of kernels to their code: at once, or beside the caller (contract in backends/cpu/cpu.h). Called
// by prepare.c, diagonal.c, patches.c and batched.c.
#include <string.h>

#include "backends/cpu/cpu.h"
#include "base/embedded.h"

static RitzJitSource describe_source(const RitzCpuText *text) {
  const RitzCpuOperator *data = text->op->data, *cpu = data->coming ? data->coming : data;
  const Ceed ceed = text->op->obj.ceed;
  const bool is_text = cpu->target->call == RITZ_CALL_TEXT;
  const bool is_file =
      is_text && !ritz_embedded_find(cpu->plan->source_path); // else it travels with the text

  return (RitzJitSource){.name = cpu->plan->function_name[0] ? cpu->plan->function_name : "operator",
                         .text = text->text,
                         .language = cpu->code.module ? ritz_jit_language(cpu->code.module) : RITZ_JIT_C,
                         .user_file = is_file ? cpu->plan->source_path : NULL,
                         .num_roots = is_text ? (size_t)ceed->jit_roots.num : 0,
                         .roots = ceed->jit_roots.item,
                         .is_optional = text->is_optional,
                         .urgency = text->urgency};
}

// An operator may be listed twice.
static bool is_first(const RitzCpuText *texts, CeedInt i) {
  CeedInt first = 0;

  while (texts[first].code != texts[i].code) first++;
  return first == i;
}

// Of texts with neither code nor a batch.
static size_t list_sources(CeedInt num, const RitzCpuText *texts, RitzJitSource *sources) {
  size_t n = 0;

  for (CeedInt i = 0; i < num; i++) {
    if (!texts[i].code->module && !texts[i].code->batch && is_first(texts, i))
      sources[n++] = describe_source(&texts[i]);
  }
  return n;
}

static int load_rest(Ceed ceed, CeedInt num, const RitzCpuText *texts, RitzJitSource *sources,
                     RitzJitModule *modules) {
  const size_t n = list_sources(num, texts, sources);

  if (n) RITZ_TRY(ritz_jit_load(ceed, n, sources, modules));
  for (CeedInt i = 0, k = 0; i < num; i++) {
    if (!texts[i].code->module) texts[i].code->module = modules[k++];
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_cpu_load(Ceed ceed, CeedInt num, const RitzCpuText *texts) {
  RitzJitSource *sources = NULL;
  RitzJitModule *modules = NULL;

  for (CeedInt i = 0; i < num; i++) {
    RitzCpuCode *code = texts[i].code;
    if (code->batch) code->module = ritz_jit_take(code->batch, code->number);
    ritz_jit_batch_release(&code->batch);
  }
  int ierr = RITZ_CALLOC(ceed, (size_t)num, &sources);
  if (!ierr) ierr = RITZ_CALLOC(ceed, (size_t)num, &modules);
  if (!ierr) ierr = load_rest(ceed, num, texts, sources, modules);
  RITZ_FREE(&sources);
  RITZ_FREE(&modules);
  return ierr;
}

int ritz_cpu_begin_load(Ceed ceed, CeedInt num, const RitzCpuText *texts) {
  RitzJitSource *sources = NULL;
  RitzJitBatch batch = NULL;

  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num, &sources));
  const size_t n = list_sources(num, texts, sources);
  const int ierr = n ? ritz_jit_begin(ceed, n, sources, &batch) : CEED_ERROR_SUCCESS;
  for (CeedInt i = 0, k = 0; i < num && batch; i++) {
    RitzCpuCode *code = texts[i].code;
    if (code->module || code->batch) continue;
    code->batch = ritz_jit_batch_reference(batch);
    code->number = (size_t)k++;
  }
  ritz_jit_batch_release(&batch);
  RITZ_FREE(&sources);
  return ierr;
}

bool ritz_cpu_can_load(const RitzCpuCode *code) {
  return code->module || !code->batch || ritz_jit_can_take(code->batch, code->number);
}

void ritz_cpu_release_code(RitzCpuCode *code) {
  ritz_jit_release(&code->module);
  ritz_jit_batch_release(&code->batch);
}

// The kernel's description; NULL: none of this kind.
static const RitzKernelInfo *find_info(RitzJitModule module, const RitzCpuSymbols *symbols) {
  const RitzKernelInfo *info = ritz_jit_symbol(module, symbols->info);
  return info && info->abi == symbols->abi && info->lanes == symbols->lanes ? info : NULL;
}

RitzKernel ritz_cpu_find_kernel(RitzJitModule module, CeedInt lanes) {
  const RitzCpuSymbols symbols = {NULL, RITZ_KERNEL_SYMBOL, RITZ_INFO_SYMBOL, RITZ_KERNEL_ABI, lanes};
  RitzKernel kernel = NULL;
  void *symbol = ritz_jit_symbol(module, symbols.kernel);

  // C converts no object pointer into a function pointer; dlsym hands out both as void *.
  if (find_info(module, &symbols)) memcpy(&kernel, &symbol, sizeof(symbol));
  return kernel;
}

int ritz_cpu_finish_code(Ceed ceed, const RitzJitSource *source, const RitzCpuSymbols *symbols,
                         RitzCpuCode *code, void **kernel) {
  const RitzKernelInfo *info;

  if (code->batch) code->module = ritz_jit_take(code->batch, code->number);
  ritz_jit_batch_release(&code->batch);
  if (!code->module) RITZ_TRY(ritz_jit_load(ceed, 1, source, &code->module));
  info = find_info(code->module, symbols);
  *kernel = info ? ritz_jit_symbol(code->module, symbols->kernel) : NULL;
  if (!*kernel) return ritz_cpu_delegate(ceed, symbols->what, ritz_jit_reason(code->module));
  return ritz_cpu_reserve_work(ceed, info->work_bytes);
}
