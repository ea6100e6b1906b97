// SPDX-License-Identifier: BSD-2-Clause
// QFunctions whose source is a text in memory (ritz/qfunction.h), and the pointer that hosts call where there
// is a text alone.
#include <ritz/qfunction.h>

#include "base/text.h"
#include "core/core.h"

int RitzQFunctionCreateFromText(Ceed ceed, CeedInt vec_length, const char *text, const char *name,
                                CeedQFunction *qf) {
  CeedQFunction created = NULL;

  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, qf);
  RITZ_ARGUMENT(ceed, text);
  RITZ_ARGUMENT(ceed, name);
  RITZ_REQUIRE(ritz_is_identifier(name), ceed, CEED_ERROR_INCOMPATIBLE, "%s: '%s' is no name of a function",
               __func__, name);
  RITZ_REQUIRE(vec_length >= 1, ceed, CEED_ERROR_DIMENSION,
               "%s: vector length must be at least 1, found %" CeedInt_FMT, __func__, vec_length);
  RITZ_TRY(CeedQFunctionCreateInterior(ceed, vec_length, NULL, "", &created));
  RITZ_FREE(&created->kernel_name);
  int ierr = ritz_strdup(ceed, name, &created->kernel_name);
  if (!ierr) ierr = ritz_strdup(ceed, text, &created->text);
  if (!ierr) ierr = ritz_strdup(ceed, RITZ_TEXT_IN_MEMORY, &created->source_path);
  if (!ierr) ierr = ritz_strdup(ceed, RITZ_TEXT_IN_MEMORY, &created->resolved_path);
  if (ierr) {
    (void)CeedQFunctionDestroy(&created);
    return ierr;
  }
  *qf = created;
  return CEED_ERROR_SUCCESS;
}

int ritz_qfunction_need_pointer(CeedQFunction qf) {
  const Ceed ceed = qf->obj.ceed;

  if (!qf->f && qf->text) RITZ_TRY(ceed->backend.qfunction_compile(qf));
  RITZ_REQUIRE(qf->f, ceed, CEED_ERROR_BACKEND, "QFunction '%s' has no function pointer for the host",
               qf->kernel_name);
  return CEED_ERROR_SUCCESS;
}
