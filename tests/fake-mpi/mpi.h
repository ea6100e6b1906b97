// SPDX-License-Identifier: BSD-2-Clause
// An MPI of one process among several, for ritz/mpi.h in test-mpi.c: the others are made up. What is sent is
// looked at, what is to come is filled with one byte, sums are zero. Its kind is Open MPI's, FAKE_MPICH:
// MPICH's, FAKE_PLAIN: one that cannot be asked about devices.
#ifndef RITZ_TESTS_FAKE_MPI_H
#define RITZ_TESTS_FAKE_MPI_H

#include <stddef.h>

typedef int MPI_Comm, MPI_Datatype, MPI_Op, MPI_Request;
typedef struct {
  int unused;
} MPI_Status;

enum { MPI_SUCCESS, MPI_FAILURE = 15, MPI_MAX_ERROR_STRING = 64 };
enum { MPI_COMM_WORLD = 1, MPI_BYTE, MPI_DOUBLE, MPI_SUM, MPI_MAX };
#define MPI_STATUSES_IGNORE ((MPI_Status *)NULL)
#define MPI_IN_PLACE        ((void *)-1)

#if defined(FAKE_MPICH)
#define MPIX_GPU_SUPPORT_CUDA 7
int MPIX_GPU_query_support(int kind, int *is_supported);
#elif !defined(FAKE_PLAIN)
#define OPEN_MPI 1
#endif

enum { FAKE_MPI_BYTES = 256 };
typedef struct {
  // To be set.
  int rank, takes_devices;
  const char *failing;                                // the call of this name fails
  unsigned char arriving;                             // each byte that comes from others
  void (*look)(const char *call, const void *buffer); // at each call that has to do with messages
  // Seen.
  int num_comms, num_requests; // that are left
  int num_questions;           // whether devices are served
  int num_sent;                // bytes
  unsigned char sent[FAKE_MPI_BYTES];
} FakeMpi;
extern FakeMpi fake_mpi;

int MPI_Error_string(int code, char *text, int *length);
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy);
int MPI_Comm_free(MPI_Comm *comm);
int MPI_Comm_rank(MPI_Comm comm, int *rank);
int MPI_Comm_size(MPI_Comm comm, int *size);
int MPI_Irecv(void *buffer, int num, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request);
int MPI_Isend(const void *buffer, int num, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request);
int MPI_Cancel(MPI_Request *request);
int MPI_Waitall(int num, MPI_Request requests[], MPI_Status *statuses);
int MPI_Allreduce(const void *from, void *to, int num, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int MPI_Abort(MPI_Comm comm, int code);

#endif
