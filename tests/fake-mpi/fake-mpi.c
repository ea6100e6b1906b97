// SPDX-License-Identifier: BSD-2-Clause
// The calls of tests/fake-mpi/mpi.h.
#include <mpi-ext.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake-mpi/mpich.h"

FakeMpi fake_mpi;

// What is to come, until it is waited for.
typedef struct {
  void *buffer;
  int num;
} Awaited;
static Awaited awaited[8];
static int num_awaited;

static int begin(const char *call, const void *buffer) {
  if (fake_mpi.look) fake_mpi.look(call, buffer);
  return fake_mpi.failing && !strcmp(fake_mpi.failing, call) ? MPI_FAILURE : MPI_SUCCESS;
}

int MPIX_Query_cuda_support(void) {
  fake_mpi.num_questions++;
  return fake_mpi.takes_devices;
}

int MPIX_GPU_query_support(int kind, int *is_supported) {
  fake_mpi.num_questions++;
  *is_supported = kind == FAKE_MPICH_CUDA && fake_mpi.takes_devices;
  return begin(__func__, NULL);
}

int MPI_Error_string(int code, char *text, int *length) {
  strcpy(text, code == MPI_FAILURE ? "it has failed" : "nothing");
  *length = (int)strlen(text);
  return MPI_SUCCESS;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy) {
  *copy = comm + 1;
  fake_mpi.num_comms++;
  return MPI_SUCCESS;
}

int MPI_Comm_free(MPI_Comm *comm) {
  *comm = 0;
  fake_mpi.num_comms--;
  return MPI_SUCCESS;
}

int MPI_Comm_rank(MPI_Comm comm, int *rank) {
  (void)comm;
  *rank = fake_mpi.rank;
  return MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm comm, int *size) {
  (void)comm;
  *size = 2;
  return MPI_SUCCESS;
}

static int add_request(MPI_Request *request) {
  *request = ++fake_mpi.num_requests;
  return MPI_SUCCESS;
}

int MPI_Irecv(void *buffer, int num, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request) {
  const int code = begin(__func__, buffer);

  (void)tag, (void)comm;
  if (code || type != MPI_BYTE || from != 1 - fake_mpi.rank || num_awaited == 8) return MPI_FAILURE;
  awaited[num_awaited++] = (Awaited){buffer, num};
  return add_request(request);
}

int MPI_Isend(const void *buffer, int num, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
  const int code = begin(__func__, buffer);

  (void)tag, (void)comm;
  if (code || type != MPI_BYTE || to != 1 - fake_mpi.rank || num > FAKE_MPI_BYTES) return MPI_FAILURE;
  memcpy(fake_mpi.sent, buffer, (size_t)num);
  fake_mpi.num_sent = num;
  return add_request(request);
}

int MPI_Cancel(MPI_Request *request) {
  (void)request;
  return MPI_SUCCESS;
}

int MPI_Waitall(int num, MPI_Request requests[], MPI_Status *statuses) {
  const int code = begin(__func__, NULL);

  (void)requests, (void)statuses;
  for (int i = 0; i < num_awaited; i++) memset(awaited[i].buffer, fake_mpi.arriving, (size_t)awaited[i].num);
  num_awaited = 0;
  fake_mpi.num_requests -= num;
  return code;
}

int MPI_Allreduce(const void *from, void *to, int num, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  (void)comm;
  if (from != MPI_IN_PLACE || type != MPI_DOUBLE) return MPI_FAILURE;
  if (op == MPI_SUM) memset(to, 0, (size_t)num * sizeof(double));
  return MPI_SUCCESS;
}

int MPI_Abort(MPI_Comm comm, int code) {
  (void)comm;
  exit(code);
}
