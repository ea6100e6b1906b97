// SPDX-License-Identifier: BSD-2-Clause
// Batched dense algebra -> texts of its kernels: sizes in front of kernels/gpu/batched-rows.h or
// batched-any.h.
#include "emit/gpu-batched.h"

#include "emit/text.h"

int ritz_emit_gpu_batched(Ceed ceed, const RitzGpuBatched *p, char **text) {
  static const char *const kinds[] = {"PRODUCT", "SOLVE", "POTRF", "GETRF", "GETRI", "INV"};
  RitzText t = {.ceed = ceed};
  ritz_text_add(&t, "#define RITZ_%s\n", kinds[p->kind]);
  if (p->precision == CEED_SCALAR_FP32) ritz_text_add(&t, "#define RITZ_ENTRY_F32\n");
  ritz_text_add(&t, "#define RITZ_THREADS %d\n", p->num_threads);
  if (p->work) ritz_text_add(&t, "#define RITZ_WORK    %d\n", p->work);
  ritz_text_add(&t, "#include \"kernels/gpu/batched-any.h\"\n");
  return ritz_text_finish(&t, text);
}
