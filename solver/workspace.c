// SPDX-License-Identifier: BSD-2-Clause
// Memory that a solver keeps between solves (contract in solver/workspace.h).
#include "solver/workspace.h"

#include <ritz/precision.h>
#include <string.h>

#include "core/core.h"
#include "core/vector-pass.h"

static bool is_lent(CeedVector v) { return v->obj.ref_count > 1; }

static bool serves(CeedVector v, Ceed ceed, CeedSize length) {
  return v->obj.ceed == ceed && v->length == length;
}

static int drop_vectors_of_others(RitzWorkspace *work, Ceed ceed, CeedSize length) {
  int ierr = CEED_ERROR_SUCCESS, num = 0;

  for (int i = 0; i < work->num_vectors; i++) {
    if (is_lent(work->vectors[i]) || serves(work->vectors[i], ceed, length))
      work->vectors[num++] = work->vectors[i];
    else
      ierr = ritz_first_error(ierr, CeedVectorDestroy(&work->vectors[i]));
  }
  work->num_vectors = num;
  return ierr;
}

int ritz_workspace_vector(RitzWorkspace *work, Ceed ceed, CeedSize length, CeedScalarType precision,
                          CeedVector *v) {
  RITZ_TRY(drop_vectors_of_others(work, ceed, length));
  for (int i = 0; i < work->num_vectors; i++) {
    if (!is_lent(work->vectors[i]) && work->vectors[i]->precision == precision)
      return CeedVectorReferenceCopy(work->vectors[i], v);
  }
  RITZ_TRY(RITZ_REALLOC(ceed, (size_t)work->num_vectors + 1, &work->vectors));
  RITZ_TRY(RitzVectorCreate(ceed, length, precision, &work->vectors[work->num_vectors]));
  return CeedVectorReferenceCopy(work->vectors[work->num_vectors++], v);
}

int ritz_workspace_scalars(RitzWorkspace *work, Ceed ceed, RitzScalars *scalars) {
  const double zeros[RITZ_WORK_SCALARS] = {0};

  if (work->scalars && work->scalars->ceed != ceed) RITZ_TRY(RitzScalarsDestroy(&work->scalars));
  if (work->scalars)
    RITZ_TRY(RitzScalarsSet(work->scalars, 0, RITZ_WORK_SCALARS, zeros));
  else
    RITZ_TRY(RitzScalarsCreate(ceed, RITZ_WORK_SCALARS, &work->scalars));
  *scalars = work->scalars;
  return CEED_ERROR_SUCCESS;
}

int ritz_workspace_array(RitzWorkspace *work, Ceed ceed, int which, size_t num, size_t size, void **array) {
  if (num > work->num_bytes[which] / size) { // the product may overflow, which ritz_malloc refuses
    ritz_free(&work->arrays[which]);
    work->num_bytes[which] = 0;
    RITZ_TRY(ritz_malloc(ceed, num, size, &work->arrays[which]));
    work->num_bytes[which] = num * size;
  }
  *array = work->arrays[which];
  if (num > 0) memset(*array, 0, num * size);
  return CEED_ERROR_SUCCESS;
}

int ritz_workspace_clear(RitzWorkspace *work) {
  int ierr = RitzScalarsDestroy(&work->scalars);

  for (int i = 0; i < work->num_vectors; i++)
    ierr = ritz_first_error(ierr, CeedVectorDestroy(&work->vectors[i]));
  RITZ_FREE((void **)&work->vectors);
  work->num_vectors = 0;
  for (int i = 0; i < RITZ_WORK_ARRAYS; i++) {
    ritz_free(&work->arrays[i]);
    work->num_bytes[i] = 0;
  }
  return ierr;
}
