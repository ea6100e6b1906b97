// SPDX-License-Identifier: BSD-2-Clause
// The function pointer of a QFunction that is a text alone, for all backends that call one on the host.
#include <string.h>

#include "backends/ref/ref.h"
#include "jit/jit.h"
#include "jit/strings.h"

// The text as an application would compile it, and a function of a known name that calls it.
static int make_text(CeedQFunction qf, char **text) {
  return ritz_format(
      qf->obj.ceed, text,
      "#ifdef __cplusplus\n#include <algorithm>\n#include <cmath>\n#endif\n"
      "#include <math.h>\n#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n"
      "#include <ceed/types.h>\n\n%s\n"
      "#ifdef __cplusplus\nextern \"C\"\n#endif\n"
      "__attribute__((visibility(\"default\"))) int ritz_host_function(\n"
      "    void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {\n"
      "  return %s(ctx, Q, in, out);\n}\n",
      qf->text, qf->kernel_name);
}

static void release(void **code) { ritz_jit_release((RitzJitModule *)code); }

int ritz_ref_qfunction_compile(CeedQFunction qf) {
  const Ceed ceed = qf->obj.ceed;
  RitzJitModule module = NULL;
  char *text = NULL;

  RITZ_TRY(make_text(qf, &text));
  const RitzJitSource source = {.name = qf->kernel_name,
                                .text = text,
                                .language = qf->is_cxx ? RITZ_JIT_CXX : RITZ_JIT_C,
                                .num_roots = (size_t)ceed->jit_roots.num,
                                .roots = ceed->jit_roots.item,
                                .num_defines = (size_t)ceed->jit_defines.num,
                                .defines = ceed->jit_defines.item};
  int ierr = ritz_jit_load(ceed, 1, &source, &module);
  RITZ_FREE(&text);
  RITZ_TRY(ierr);
  void *symbol = ritz_jit_symbol(module, "ritz_host_function");
  if (!symbol) {
    ierr = CeedError(ceed, CEED_ERROR_BACKEND,
                     "QFunction '%s', a text in memory, has no function for the host: %s", qf->kernel_name,
                     ritz_jit_reason(module));
    ritz_jit_release(&module);
    return ierr;
  }
  memcpy(&qf->f, &symbol, sizeof(symbol)); // C converts no object pointer into a function pointer
  qf->code = module;
  qf->release_code = release;
  return CEED_ERROR_SUCCESS;
}
