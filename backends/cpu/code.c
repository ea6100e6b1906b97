// SPDX-License-Identifier: BSD-2-Clause
// Texts of operators as sources, and what is in the code that is made of them (contract in
// backends/cpu/cpu.h). Called by prepare.c, diagonal.c, matrix.c, patch-sweep.c and batched.c.
#include <string.h>

#include "backends/cpu/cpu.h"
#include "base/embedded.h"

RitzJitSource ritz_cpu_source(CeedOperator op, const char *text) {
  const RitzCpuOperator *cpu = op->data;
  const Ceed ceed = op->obj.ceed;
  const bool is_text = cpu->target->call == RITZ_CALL_TEXT;
  const bool is_file =
      is_text && !ritz_embedded_find(cpu->plan->source_path); // else it travels with the text

  const RitzJitLanguage language = cpu->code.module ? ritz_jit_language(cpu->code.module)
                                   : is_file        ? ritz_jit_language_of_file(cpu->plan->source_path)
                                                    : RITZ_JIT_C;

  return (RitzJitSource){.name = cpu->plan->function_name[0] ? cpu->plan->function_name : "operator",
                         .text = text,
                         .language = language,
                         .user_file = is_file ? cpu->plan->source_path : NULL,
                         .num_roots = is_text ? (size_t)ceed->jit_roots.num : 0,
                         .roots = ceed->jit_roots.item};
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

int ritz_cpu_finish_code(Ceed ceed, const RitzJitOrder *order, const RitzCpuSymbols *symbols, void **kernel) {
  RITZ_TRY(ritz_jit_kernels_make(ceed, 1, order));
  const RitzJitModule module = order->kernel->module;
  const RitzKernelInfo *info = find_info(module, symbols);

  *kernel = info ? ritz_jit_symbol(module, symbols->kernel) : NULL;
  if (!*kernel) return ritz_cpu_delegate(ceed, symbols->what, ritz_jit_reason(module));
  return ritz_cpu_reserve_work(ceed, info->work_bytes);
}
