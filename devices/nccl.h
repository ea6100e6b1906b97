// SPDX-License-Identifier: BSD-2-Clause
// Messages between devices of NVIDIA's by its library NCCL, looked up with dlopen once in a process. Called
// by distributed/nccl.c. Errors as devices/device.h says.
#ifndef RITZ_DEVICES_NCCL_H
#define RITZ_DEVICES_NCCL_H

#include "devices/device.h"

// One device's end of a group of devices, each of which has one, in any process.
typedef struct RitzNccl_private *RitzNccl;

// Messages to and from one other device; either may be empty.
typedef struct {
  int rank;
  size_t send_bytes, recv_bytes;
  const void *send;
  void *recv;
} RitzNcclMessage;

enum { RITZ_NCCL_ID_BYTES = 128 };
typedef struct {
  char bytes[RITZ_NCCL_ID_BYTES];
} RitzNcclId;

// File of the library, static; NULL: there is none that can be used, and *why says so (static). The file that
// RITZ_NCCL names, else where the toolkit is (devices/toolkit.h). Where the environment does not say whether
// NCCL may use multicast over NVLink (NCCL_NVLS_ENABLE), it may not: a process that ends in the midst of that
// can leave the devices of a host unusable.
const char *ritz_nccl_find(const char **why);
// The library was found. A group's name: made by one, known to all who join.
int ritz_nccl_make_id(Ceed ceed, RitzNcclId *id);
// For a device of ritz_cuda, which does not take part yet.
int ritz_nccl_create(Ceed ceed, RitzDevice device, RitzNccl *nccl);
// All `num` members make the call, each with a device of its own; returns when all have.
int ritz_nccl_join(Ceed ceed, RitzNccl nccl, int num, int rank, const RitzNcclId *id);
// *nccl becomes NULL; NULL is fine. Members may wait for each other, unless they were aborted.
void ritz_nccl_destroy(RitzNccl *nccl);
// Ends what is under way on the device, whoever it waits for; later calls fail. May be called by another
// thread while the owner waits for its device.
void ritz_nccl_abort(RitzNccl nccl);
// Queues all messages on the stream, in one step, and with them sums over all members of num_values numbers
// in the device's memory (0: none), which have as many.
int ritz_nccl_exchange(Ceed ceed, RitzNccl nccl, RitzDeviceStream stream, int num,
                       const RitzNcclMessage messages[], int num_values, double *values);
// Queues a reduction of numbers in the device's memory on the stream: all members' sums, or largest values.
int ritz_nccl_reduce(Ceed ceed, RitzNccl nccl, RitzDeviceStream stream, bool is_max, int num, double *values);

#endif
