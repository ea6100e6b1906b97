// SPDX-License-Identifier: BSD-2-Clause
// Parts as processes of MPI: a transport for ritz/exchange.h. This header is all there is: the library itself
// knows no MPI. Programs that include it are compiled with MPI (mpicc); it is not part of ritz.h.
//
//     int solve_part(void *ctx, const RitzTransport *transport); // as for RitzRunParts
//
//     MPI_Init(&argc, &argv);
//     RitzRunRanks(MPI_COMM_WORLD, solve_part, &problem);
//     MPI_Finalize();
//
// Messages between vectors on CUDA devices go from device to device where the MPI library says at run time
// that it takes pointers of these (CUDA-aware MPI), else by way of the host: the packed entries alone are
// copied. RITZ_MPI_CUDA=1 or 0 in the environment says it instead of the library. Sums are those of
// MPI_Allreduce, which implementations give alike to all processes.
#ifndef RITZ_MPI_H
#define RITZ_MPI_H

#include <limits.h>
#include <mpi.h>
#include <ritz/exchange.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(OPEN_MPI) && defined(__has_include)
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#endif

// What the transport's functions know; made by RitzTransportCreateMPI.
typedef struct {
  MPI_Comm comm; // a duplicate: nobody else's messages are in it
  int is_busy;   // between begin and end
  int num_requests, max_requests;
  MPI_Request *requests;
} RitzMPIState;

// Reports a code of MPI other than MPI_SUCCESS, with the call and MPI's own text, as CEED_ERROR_MAJOR.
static inline int RitzMPIError(const char *call, int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;

  if (code == MPI_SUCCESS) return CEED_ERROR_SUCCESS;
  MPI_Error_string(code, text, &length);
  return CeedError(NULL, CEED_ERROR_MAJOR, "%s: %s", call, text);
}

// Whether the library takes pointers of CUDA devices. MPICH and those made of it are asked by
// MPIX_GPU_query_support, Open MPI by MPIX_Query_cuda_support; of others RITZ_MPI_CUDA alone tells.
static inline int RitzMPITakesDeviceMemory(int *is_taken) {
  const char *told = getenv("RITZ_MPI_CUDA");

  *is_taken = 0;
  if (told && told[0]) {
    if (strcmp(told, "0") && strcmp(told, "1"))
      return CeedError(NULL, CEED_ERROR_INCOMPATIBLE, "RITZ_MPI_CUDA is '%.40s', needed 0 or 1", told);
    *is_taken = told[0] == '1';
    return CEED_ERROR_SUCCESS;
  }
#if defined(MPIX_GPU_SUPPORT_CUDA)
  return RitzMPIError("MPIX_GPU_query_support", MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, is_taken));
#elif defined(MPIX_CUDA_AWARE_SUPPORT)
  *is_taken = MPIX_Query_cuda_support() == 1;
  return CEED_ERROR_SUCCESS;
#else
  return CEED_ERROR_SUCCESS;
#endif
}

// Starts to receive from and to send to the part of a message what it has.
static inline int RitzMPIPost(RitzMPIState *s, const RitzMessage *m) {
  if (m->recv_bytes > 0) {
    const int code =
        MPI_Irecv(m->recv, (int)m->recv_bytes, MPI_BYTE, m->part, 0, s->comm, &s->requests[s->num_requests]);
    if (code) return RitzMPIError("MPI_Irecv", code);
    s->num_requests++;
  }
  if (m->send_bytes > 0) {
    const int code =
        MPI_Isend(m->send, (int)m->send_bytes, MPI_BYTE, m->part, 0, s->comm, &s->requests[s->num_requests]);
    if (code) return RitzMPIError("MPI_Isend", code);
    s->num_requests++;
  }
  return CEED_ERROR_SUCCESS;
}

// `begin` of the transport: starts all messages of a set, or none.
static inline int RitzMPIBegin(const RitzTransport *t, CeedInt num, const RitzMessage messages[]) {
  RitzMPIState *s = (RitzMPIState *)t->ctx;

  if (s->is_busy)
    return CeedError(NULL, CEED_ERROR_INCOMPATIBLE, "RitzTransport (MPI): other messages are under way");
  if (s->max_requests < 2 * num) {
    MPI_Request *more = (MPI_Request *)realloc(s->requests, 2 * (size_t)num * sizeof(*more));

    if (!more)
      return CeedError(NULL, CEED_ERROR_MAJOR, "RitzTransport (MPI): no memory for %d messages", (int)num);
    s->requests = more;
    s->max_requests = 2 * num;
  }
  for (CeedInt i = 0; i < num; i++) {
    if (messages[i].send_bytes > INT_MAX || messages[i].recv_bytes > INT_MAX)
      return CeedError(NULL, CEED_ERROR_UNSUPPORTED,
                       "RitzTransport (MPI): a message of 2 GiB and more to part %d", (int)messages[i].part);
  }
  s->num_requests = 0;
  for (CeedInt i = 0; i < num; i++) {
    const int code = RitzMPIPost(s, &messages[i]);
    if (!code) continue;
    for (int k = 0; k < s->num_requests; k++) MPI_Cancel(&s->requests[k]); // buffers go back to their owner
    MPI_Waitall(s->num_requests, s->requests, MPI_STATUSES_IGNORE);
    return code;
  }
  s->is_busy = 1;
  return CEED_ERROR_SUCCESS;
}

// `end` of the transport: waits for the messages that were begun.
static inline int RitzMPIEnd(const RitzTransport *t, CeedInt num, const RitzMessage messages[]) {
  RitzMPIState *s = (RitzMPIState *)t->ctx;

  (void)num, (void)messages;
  s->is_busy = 0;
  return RitzMPIError("MPI_Waitall", MPI_Waitall(s->num_requests, s->requests, MPI_STATUSES_IGNORE));
}

// `reduce` of the transport: sums or maxima over all processes.
static inline int RitzMPIReduce(const RitzTransport *t, RitzReduction kind, CeedInt num, double values[]) {
  const RitzMPIState *s = (const RitzMPIState *)t->ctx;
  const MPI_Op op = kind == RITZ_REDUCTION_SUM ? MPI_SUM : MPI_MAX;

  return RitzMPIError("MPI_Allreduce", MPI_Allreduce(MPI_IN_PLACE, values, num, MPI_DOUBLE, op, s->comm));
}

// A transport of this process: part = rank, parts = size of `comm`, of which it takes a duplicate. All
// processes of comm call it.
static inline int RitzTransportCreateMPI(MPI_Comm comm, RitzTransport *transport) {
  int rank = 0, size = 1, takes_device_memory = 0;
  const int told = RitzMPITakesDeviceMemory(&takes_device_memory);

  if (told) return told;
  RitzMPIState *s = (RitzMPIState *)calloc(1, sizeof(*s));

  if (!s) return CeedError(NULL, CEED_ERROR_MAJOR, "RitzTransportCreateMPI: no memory");
  const int code = MPI_Comm_dup(comm, &s->comm);

  if (code) {
    free(s);
    return RitzMPIError("MPI_Comm_dup", code);
  }
  MPI_Comm_rank(s->comm, &rank);
  MPI_Comm_size(s->comm, &size);
  transport->num_parts = size;
  transport->part = rank;
  transport->mem_type = CEED_MEM_HOST;
  transport->ctx = s;
  transport->begin = RitzMPIBegin;
  transport->end = RitzMPIEnd;
  transport->reduce = RitzMPIReduce;
  transport->reduce_in_memory = NULL;
  transport->on_stop = NULL; // a part that fails ends all
  transport->run = NULL;
  transport->announce = NULL;
  transport->takes_device_memory = takes_device_memory;
  return CEED_ERROR_SUCCESS;
}

// All processes call it, when the exchanges of the transport are gone.
static inline int RitzTransportDestroyMPI(RitzTransport *transport) {
  RitzMPIState *s = (RitzMPIState *)transport->ctx;

  if (!s) return CEED_ERROR_SUCCESS;
  const int code = MPI_Comm_free(&s->comm);

  free(s->requests);
  free(s);
  transport->ctx = NULL;
  return RitzMPIError("MPI_Comm_free", code);
}

// Calls run(ctx, transport) in every process of comm: RitzRunParts with processes. Where a part returns
// another code than 0, all processes end (MPI_Abort): others may wait for it. Its messages are on stderr by
// then.
static inline int RitzRunRanks(MPI_Comm comm, RitzPartFunction run, void *ctx) {
  RitzTransport transport;

  memset(&transport, 0, sizeof(transport));
  int code = RitzTransportCreateMPI(comm, &transport);

  if (!code) code = run(ctx, &transport);
  if (code) {
    fprintf(stderr, "RitzRunRanks: part %d has ended with code %d\n", (int)transport.part, code);
    fflush(stderr);
    MPI_Abort(comm, 1);
  }
  return RitzTransportDestroyMPI(&transport);
}

#endif
