// SPDX-License-Identifier: BSD-2-Clause
// Spaces of whole problems: the numbering of all processes' entries, found by one exchange of ghosts, as a
// PetscSF and a mapping from local to global entries.
#include <ritz/mpi.h>

#include "petsc/petsc-objects.h"

// ---- Numbering ----

PetscInt ritz_petsc_global(RitzPetscSpace s, PetscInt i) {
  const PetscInt k = i - s->num_owned;

  return k < 0 ? s->first + i : s->ghosts[k / s->num_comp] * s->num_comp + k % s->num_comp;
}

static PetscErrorCode find_sizes(RitzPetscSpace s) {
  CeedSize num_owned = 0, length = 0;
  CeedInt num_comp = 1;
  PetscInt64 mine = 0, last = 0, all = 0;

  PetscFunctionBeginUser;
  RitzPetscCall(s->ceed, RitzExchangeGetNumOwned(s->exchange, &num_owned));
  RitzPetscCall(s->ceed, RitzSpaceGetSize(s->space, &length));
  RitzPetscCall(s->ceed, RitzSpaceGetNumComponents(s->space, &num_comp));
  mine = num_owned;
  PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPIU_INT64, MPI_SUM, s->comm));
  PetscCheck(all <= (PetscInt64)PETSC_MAX_INT, s->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "RitzPetscSpaceCreate: %" PetscInt64_FMT " entries, this PETSc counts up to %" PetscInt64_FMT
             ": needed one with 64-bit indices",
             all, (PetscInt64)PETSC_MAX_INT);
  PetscCallMPI(MPI_Scan(&mine, &last, 1, MPIU_INT64, MPI_SUM, s->comm));
  s->num_comp = num_comp;
  s->num_owned = (PetscInt)num_owned;
  s->num_ghosts = (PetscInt)(length - num_owned);
  s->first = (PetscInt)(last - mine);
  s->num_all = (PetscInt)all;
  PetscFunctionReturn(0);
}

// Where the owners have this process's ghosts, by an exchange of places: doubles, which count far enough.
static PetscErrorCode ask_owners(RitzPetscSpace s, PetscSFNode *remote) {
  const PetscInt length = s->num_owned + s->num_ghosts;
  CeedVector places = NULL;
  CeedScalar *write = NULL;
  const CeedScalar *read = NULL;

  PetscFunctionBeginUser;
  int code = CeedVectorCreate(s->ceed, length, &places);

  if (!code) code = CeedVectorGetArrayWrite(places, CEED_MEM_HOST, &write);
  if (!code) {
    for (PetscInt i = 0; i < length; i++) write[i] = (CeedScalar)i;
    code = CeedVectorRestoreArray(places, &write);
  }
  if (!code) code = RitzExchangeRun(s->exchange, RITZ_EXCHANGE_TO_GHOSTS, places);
  if (!code) code = CeedVectorGetArrayRead(places, CEED_MEM_HOST, &read);
  if (!code) {
    for (PetscInt i = 0; i < s->num_ghosts; i++) remote[i].index = (PetscInt)read[s->num_owned + i];
    code = CeedVectorRestoreArrayRead(places, &read);
  }
  RitzPetscCall(s->ceed, code);
  RitzPetscCall(s->ceed, CeedVectorDestroy(&places));
  PetscFunctionReturn(0);
}

static PetscErrorCode find_owners(RitzPetscSpace s, PetscSFNode *remote) {
  RitzHalo halo = NULL;
  CeedInt num = 0;

  PetscFunctionBeginUser;
  RitzPetscCall(s->ceed, RitzSpaceGetHalo(s->space, &halo));
  RitzPetscCall(s->ceed, RitzHaloGetNumNeighbours(halo, &num));
  for (CeedInt k = 0; k < num; k++) {
    CeedInt part = 0;
    int64_t num_ghosts = 0, first_ghost = 0;

    RitzPetscCall(s->ceed, RitzHaloGetNeighbour(halo, k, &part, NULL, NULL, &num_ghosts, &first_ghost));
    const PetscInt first = (PetscInt)first_ghost * s->num_comp - s->num_owned;

    for (PetscInt i = 0; i < (PetscInt)num_ghosts * s->num_comp; i++) remote[first + i].rank = part;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode number_ghosts(RitzPetscSpace s, const PetscSFNode *remote) {
  PetscInt *firsts = NULL;
  PetscMPIInt size = 1;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(s->comm, &size));
  PetscCall(PetscMalloc1(size, &firsts));
  PetscCallMPI(MPI_Allgather(&s->first, 1, MPIU_INT, firsts, 1, MPIU_INT, s->comm));
  PetscCall(PetscMalloc1(s->num_ghosts / s->num_comp, &s->ghosts));
  for (PetscInt i = 0; i < s->num_ghosts; i += s->num_comp)
    s->ghosts[i / s->num_comp] = (firsts[remote[i].rank] + remote[i].index) / s->num_comp;
  PetscCall(PetscFree(firsts));
  PetscFunctionReturn(0);
}

// Blocks: the nodes of the L-vector.
static PetscErrorCode create_map(RitzPetscSpace s) {
  const PetscInt num_owned = s->num_owned / s->num_comp, num_ghosts = s->num_ghosts / s->num_comp;
  PetscInt *nodes = NULL;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(num_owned + num_ghosts, &nodes));
  for (PetscInt i = 0; i < num_owned; i++) nodes[i] = s->first / s->num_comp + i;
  for (PetscInt i = 0; i < num_ghosts; i++) nodes[num_owned + i] = s->ghosts[i];
  PetscCall(ISLocalToGlobalMappingCreate(s->comm, s->num_comp, num_owned + num_ghosts, nodes,
                                         PETSC_OWN_POINTER, &s->map));
  PetscFunctionReturn(0);
}

static PetscErrorCode create_numbering(RitzPetscSpace s) {
  PetscSFNode *remote = NULL;
  PetscInt *leaves = NULL;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(s->num_ghosts, &remote));
  PetscCall(PetscMalloc1(s->num_ghosts, &leaves));
  for (PetscInt i = 0; i < s->num_ghosts; i++) leaves[i] = s->num_owned + i;
  PetscCall(ask_owners(s, remote));
  PetscCall(find_owners(s, remote));
  PetscCall(number_ghosts(s, remote));
  PetscCall(PetscSFCreate(s->comm, &s->sf));
  PetscCall(PetscSFSetGraph(s->sf, s->num_owned, s->num_ghosts, leaves, PETSC_OWN_POINTER, remote,
                            PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(s->sf));
  PetscCall(create_map(s));
  PetscFunctionReturn(0);
}

// ---- Life ----

static PetscErrorCode fill_space(RitzPetscSpace s, MPI_Comm comm, Ceed ceed, RitzSpace space) {
  PetscFunctionBeginUser;
  s->ref_count = 1;
  s->comm = comm;
  RitzPetscCall(ceed, CeedReferenceCopy(ceed, &s->ceed));
  RitzPetscCall(ceed, RitzSpaceReferenceCopy(space, &s->space));
  RitzPetscCall(ceed, RitzTransportCreateMPI(comm, &s->transport));
  RitzPetscCall(ceed, RitzExchangeCreate(space, ceed, &s->transport, &s->exchange));
  PetscCall(find_sizes(s));
  PetscCall(create_numbering(s));
  PetscFunctionReturn(0);
}

// After an error, which others may not have had: nothing is called that waits for them, so the communicator
// is left to the end of the program.
static void abandon(RitzPetscSpace s) {
  (void)RitzExchangeDestroy(&s->exchange);
  (void)RitzSpaceDestroy(&s->space);
  (void)PetscFree(s->ghosts);
  (void)CeedDestroy(&s->ceed);
  (void)PetscFree(s);
}

PetscErrorCode RitzPetscSpaceCreate(MPI_Comm comm, Ceed ceed, RitzSpace space, RitzPetscSpace *s) {
  RitzPetscSpace new_space = NULL;

  PetscFunctionBeginUser;
  PetscCheck(ceed && space && s, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL,
             "RitzPetscSpaceCreate: argument '%s' is NULL",
             !ceed    ? "ceed"
             : !space ? "space"
                      : "s");
  *s = NULL;
  PetscCall(PetscNew(&new_space));
  const PetscErrorCode code = fill_space(new_space, comm, ceed, space);

  if (code) abandon(new_space);
  PetscCall(code);
  *s = new_space;
  PetscFunctionReturn(0);
}

PetscErrorCode RitzPetscSpaceReferenceCopy(RitzPetscSpace s, RitzPetscSpace *copy) {
  PetscFunctionBeginUser;
  PetscCheck(s && copy, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL,
             "RitzPetscSpaceReferenceCopy: argument '%s' is NULL", s ? "copy" : "s");
  s->ref_count++;
  PetscCall(RitzPetscSpaceDestroy(copy));
  *copy = s;
  PetscFunctionReturn(0);
}

PetscErrorCode RitzPetscSpaceDestroy(RitzPetscSpace *s) {
  PetscFunctionBeginUser;
  if (!s || !*s) PetscFunctionReturn(0);
  RitzPetscSpace old = *s;

  PetscCheck(old->ref_count > 1 || !old->loans, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "RitzPetscSpaceDestroy: a vector is lent, needed RitzPetscVecRestoreCeedVector first");
  *s = NULL;
  if (--old->ref_count > 0) PetscFunctionReturn(0);
  PetscCall(ISLocalToGlobalMappingDestroy(&old->map));
  PetscCall(PetscSFDestroy(&old->sf));
  PetscCall(PetscFree(old->ghosts));
  RitzPetscCall(old->ceed, RitzExchangeDestroy(&old->exchange));
  RitzPetscCall(old->ceed, RitzTransportDestroyMPI(&old->transport));
  RitzPetscCall(old->ceed, RitzSpaceDestroy(&old->space));
  RitzPetscCall(NULL, CeedDestroy(&old->ceed));
  PetscCall(PetscFree(old));
  PetscFunctionReturn(0);
}

// ---- Queries ----

static PetscErrorCode check_query(const char *call, RitzPetscSpace s, const void *result) {
  PetscFunctionBeginUser;
  PetscCheck(s && result, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "%s: argument '%s' is NULL", call,
             s ? "result" : "s");
  PetscFunctionReturn(0);
}

PetscErrorCode RitzPetscSpaceGetExchange(RitzPetscSpace s, RitzExchange *exchange) {
  PetscFunctionBeginUser;
  PetscCall(check_query("RitzPetscSpaceGetExchange", s, exchange));
  *exchange = s->exchange;
  PetscFunctionReturn(0);
}

PetscErrorCode RitzPetscSpaceGetTransport(RitzPetscSpace s, const RitzTransport **transport) {
  PetscFunctionBeginUser;
  PetscCall(check_query("RitzPetscSpaceGetTransport", s, transport));
  *transport = &s->transport;
  PetscFunctionReturn(0);
}

PetscErrorCode RitzPetscSpaceGetSizes(RitzPetscSpace s, PetscInt *num_owned, PetscInt *first,
                                      PetscInt *num_ghosts) {
  PetscFunctionBeginUser;
  PetscCall(check_query("RitzPetscSpaceGetSizes", s, s));
  if (num_owned) *num_owned = s->num_owned;
  if (first) *first = s->first;
  if (num_ghosts) *num_ghosts = s->num_ghosts;
  PetscFunctionReturn(0);
}

PetscErrorCode RitzPetscSpaceGetSF(RitzPetscSpace s, PetscSF *sf) {
  PetscFunctionBeginUser;
  PetscCall(check_query("RitzPetscSpaceGetSF", s, sf));
  *sf = s->sf;
  PetscFunctionReturn(0);
}

PetscErrorCode RitzPetscSpaceGetLocalToGlobal(RitzPetscSpace s, ISLocalToGlobalMapping *map) {
  PetscFunctionBeginUser;
  PetscCall(check_query("RitzPetscSpaceGetLocalToGlobal", s, map));
  *map = s->map;
  PetscFunctionReturn(0);
}

PetscErrorCode RitzPetscSpaceCreateCoordinates(RitzPetscSpace s, Vec *x) {
  CeedInt space_dim = 0;
  RitzMesh mesh = NULL;
  PetscScalar *array = NULL;
  int64_t *nodes = NULL;

  PetscFunctionBeginUser;
  PetscCall(check_query("RitzPetscSpaceCreateCoordinates", s, x));
  const PetscInt num = s->num_owned / s->num_comp;

  RitzPetscCall(s->ceed, RitzSpaceGetMesh(s->space, &mesh));
  RitzPetscCall(s->ceed, RitzMeshGetDimensions(mesh, NULL, &space_dim));
  PetscCall(VecCreate(s->comm, x));
  PetscCall(VecSetSizes(*x, num * space_dim, PETSC_DETERMINE));
  PetscCall(VecSetBlockSize(*x, space_dim));
  PetscCall(VecSetType(*x, VECSTANDARD));
  PetscCall(PetscMalloc1(num, &nodes));
  for (PetscInt i = 0; i < num; i++) nodes[i] = i;
  PetscCall(VecGetArrayWrite(*x, &array));
  const int code = num > 0 ? RitzSpaceGetCoordinatesOf(s->space, num, nodes, array) : 0;

  PetscCall(VecRestoreArrayWrite(*x, &array));
  PetscCall(PetscFree(nodes));
  RitzPetscCall(s->ceed, code);
  PetscFunctionReturn(0);
}

PetscErrorCode ritz_petsc_owned_indices(RitzPetscSpace s, RitzIndices indices, RitzIndices *owned) {
  const int64_t *entries = NULL;
  int64_t num = 0, num_owned = 0;

  PetscFunctionBeginUser;
  if (indices) RitzPetscCall(s->ceed, RitzIndicesGet(indices, &num, &entries));
  PetscCheck(num == 0 || entries[num - 1] < (int64_t)s->num_owned + s->num_ghosts, PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE,
             "constrained entry %" PetscInt64_FMT " of an L-vector of %" PetscInt64_FMT " entries",
             (PetscInt64)entries[num - 1], (PetscInt64)s->num_owned + s->num_ghosts);
  while (num_owned < num && entries[num_owned] < s->num_owned) num_owned++;
  RitzPetscCall(s->ceed, RitzIndicesCreate(s->ceed, num_owned, entries, owned));
  PetscFunctionReturn(0);
}
