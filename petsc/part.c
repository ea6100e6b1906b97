// SPDX-License-Identifier: BSD-2-Clause
// Parts of whole meshes, one for each process of a communicator.
#include "petsc/petsc-objects.h"

PetscErrorCode RitzPetscMeshCreatePart(MPI_Comm comm, RitzMesh whole, const int32_t parts[], RitzMesh *part) {
  PetscMPIInt size = 1, rank = 0;
  int64_t num_elem = 0;
  int32_t *found = NULL;
  int code = 0;

  PetscFunctionBeginUser;
  PetscCheck(whole && part, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL,
             "RitzPetscMeshCreatePart: argument '%s' is NULL, needed a mesh", whole ? "part" : "whole");
  const Ceed ceed = RitzMeshReturnCeed(whole);

  *part = NULL;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  RitzPetscCall(ceed, RitzMeshGetNumElements(whole, &num_elem));
  if (!parts) {
    PetscCall(PetscMalloc1(num_elem, &found));
    code = RitzMeshPartition(whole, RITZ_PARTITION_AUTO, size, NULL, found);
  }
  if (!code) code = RitzMeshCreateSubmesh(whole, size, parts ? parts : found, rank, part);
  PetscCall(PetscFree(found));
  RitzPetscCall(ceed, code);
  PetscFunctionReturn(0);
}
