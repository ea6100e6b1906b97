// SPDX-License-Identifier: BSD-2-Clause
// An NCCL of one member that stands in for NVIDIA's in test-nccl.c, on the fake driver, whose devices are
// memory of the host: what the member sends to itself within a group arrives at the group's end.
#include "tests/fake-nccl.h"

#include <stddef.h>

#include "tests/fake-library.h"

enum { INVALID = 4, MOST_MESSAGES = 8 };

typedef struct {
  char bytes[128];
} Id;

typedef struct {
  const void *from;
  void *to;
  size_t num_bytes;
} Message;

static FakeNccl fake;
static int comm, depth, num_sends, num_receives;
static Message sends[MOST_MESSAGES], receives[MOST_MESSAGES];

EXPORTED FakeNccl *fake_nccl(void);
FakeNccl *fake_nccl(void) { return &fake; }

EXPORTED const char *ncclGetErrorString(int status);
const char *ncclGetErrorString(int status) { return status == INVALID ? "invalid argument" : "remote error"; }

DEFINE(ncclGetUniqueId, (Id * id)) {
  if (fake.failing && !strcmp(fake.failing, __func__)) return fake.failure; // no device is needed
  for (int i = 0; i < 128; i++) id->bytes[i] = (char)(3 * i - 200);
  return 0;
}

DEFINE(ncclGetVersion, (int *version)) {
  *version = 22809;
  return 0;
}

DEFINE(ncclCommInitRank, (void **made, int num, Id id, int rank)) {
  BEGIN();
  for (int i = 0; i < 128; i++) {
    if (id.bytes[i] != (char)(3 * i - 200)) return INVALID; // a byte was lost on the way
  }
  if (num != 1 || rank != 0) return INVALID;
  *made = &comm;
  fake.num_comms++;
  return 0;
}

DEFINE(ncclCommDestroy, (void *old)) {
  BEGIN();
  fake.num_comms--;
  return old == &comm ? 0 : INVALID;
}

DEFINE(ncclCommAbort, (void *old)) { // from any thread
  fake.num_comms--;
  fake.num_aborts++;
  return old == &comm ? 0 : INVALID;
}

DEFINE(ncclGroupStart, (void)) {
  BEGIN();
  depth = 1;
  num_sends = num_receives = 0;
  return 0;
}

DEFINE(ncclGroupEnd, (void)) {
  BEGIN();
  depth = 0;
  fake.num_groups++;
  if (num_sends != num_receives) return INVALID; // NVIDIA's would wait
  for (int i = 0; i < num_sends; i++) {
    if (sends[i].num_bytes != receives[i].num_bytes) return INVALID;
    memcpy(receives[i].to, sends[i].from, sends[i].num_bytes);
  }
  return 0;
}

DEFINE(ncclSend, (const void *from, size_t num, int kind, int rank, void *of, void *stream)) {
  BEGIN();
  if (depth != 1 || kind != 0 || rank != 0 || of != &comm || num_sends == MOST_MESSAGES) return INVALID;
  sends[num_sends++] = (Message){.from = from, .num_bytes = num};
  fake.message_stream = stream;
  return 0;
}

DEFINE(ncclRecv, (void *to, size_t num, int kind, int rank, void *of, void *stream)) {
  BEGIN();
  if (depth != 1 || kind != 0 || rank != 0 || of != &comm || num_receives == MOST_MESSAGES) return INVALID;
  receives[num_receives++] = (Message){.to = to, .num_bytes = num};
  fake.message_stream = stream;
  return 0;
}

DEFINE(ncclAllReduce,
       (const void *from, void *to, size_t num, int kind, int operation, void *of, void *stream)) {
  BEGIN();
  fake.num_reduced = (int)num;
  fake.kind = kind;
  fake.operation = operation;
  fake.reduction_stream = stream;
  return of == &comm && from == to ? 0 : INVALID;
}
