// SPDX-License-Identifier: BSD-2-Clause
// The state of a fake NCCL: what tests tell it to be and what it has seen. It is got from the loaded library
// by the name fake_nccl.
#ifndef RITZ_TESTS_FAKE_NCCL_H
#define RITZ_TESTS_FAKE_NCCL_H

typedef struct {
  // To be set.
  const char *failing; // the call of this name ends with `failure`
  int failure;
  // Seen.
  int num_comms;                           // that are left
  int num_aborts;                          // calls
  int num_outside;                         // calls while no context of the fake driver was current
  int num_groups;                          // that were ended
  int num_reduced;                         // numbers of the last reduction
  int operation, kind;                     // of it
  void *message_stream, *reduction_stream; // of the last calls
} FakeNccl;

typedef FakeNccl *(*FakeNcclState)(void); // fake_nccl

#endif
