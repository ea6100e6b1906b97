// SPDX-License-Identifier: BSD-2-Clause
#include "petsc/petsc-objects.h"
PetscErrorCode RitzMeshFromDMPlex(DM dm, Ceed ceed, RitzMesh *mesh, int32_t **parts) {
  (void)dm, (void)ceed, (void)mesh, (void)parts;
  return PETSC_ERR_SUP;
}
