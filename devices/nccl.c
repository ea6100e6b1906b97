// SPDX-License-Identifier: BSD-2-Clause
// NCCL (contract in devices/nccl.h): communicators, sums, sends and receives in groups, as its manual has
// them, "Using NCCL" and "NCCL API".
#include "devices/nccl.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "devices/cuda-api.h"
#include "devices/cuda.h"
#include "devices/vendor.h"

// ---- The library ----

// Communicators and streams are pointers. Kinds of data: 0 bytes, 8 doubles; operations: 0 sum, 2 largest.
#define NCCL_FUNCTIONS(F)                                                                                    \
  F(version, ncclGetVersion, (int *version))                                                                 \
  F(get_id, ncclGetUniqueId, (RitzNcclId * id))                                                              \
  F(create, ncclCommInitRank, (void **comm, int num, RitzNcclId id, int rank))                               \
  F(destroy, ncclCommDestroy, (void *comm))                                                                  \
  F(abort, ncclCommAbort, (void *comm))                                                                      \
  F(group_start, ncclGroupStart, (void))                                                                     \
  F(group_end, ncclGroupEnd, (void))                                                                         \
  F(send, ncclSend, (const void *from, size_t num, int kind, int rank, void *comm, void *stream))            \
  F(receive, ncclRecv, (void *to, size_t num, int kind, int rank, void *comm, void *stream))                 \
  F(reduce, ncclAllReduce,                                                                                   \
    (const void *from, void *to, size_t num, int kind, int operation, void *comm, void *stream))
enum { BYTES = 0, DOUBLES = 8, SUM = 0, LARGEST = 2 };
enum { MIN_VERSION = 21901 }; // 2.19.1: other threads may abort

static struct {
  NCCL_FUNCTIONS(RITZ_VENDOR_FIELD)
  const char *(*words)(int status);
} api;

static const char *take_functions(void *library) {
  const char *missing = NULL;
  int version = 0;
#define FIND(name, symbol, args) RITZ_VENDOR_TAKE(api, name, symbol);
  NCCL_FUNCTIONS(FIND)
#undef FIND
  RITZ_VENDOR_TAKE(api, words, ncclGetErrorString);
  if (missing) return missing;
  if (api.version(&version) || version < MIN_VERSION) return "ncclCommAbort for other threads, as of 2.19.1";
  setenv("NCCL_NVLS_ENABLE", "0", 0);
  return NULL;
}

static const char *const names[] = {"libnccl.so.2", "libnccl.so", NULL};
static RitzVendor library = {
    .variable = ENV_RITZ_NCCL, .names = names, .take = take_functions, .symbol = "ncclCommInitRank"};

const char *ritz_nccl_find(const char **why) { return ritz_vendor_find(&library, why); }

static int check_nccl(Ceed ceed, int status, const char *call) {
  RITZ_REQUIRE(!status, ceed, CEED_ERROR_BACKEND, "%s: %s (status %d of %s)", call, api.words(status), status,
               library.file);
  return CEED_ERROR_SUCCESS;
}

// ---- Members ----

struct RitzNccl_private {
  RitzDevice device;
  void *comm; // owned until it was aborted
  // The owner is in a call; others wait for its end before they abort, for a while: it may wait for them.
  _Atomic bool is_called;
  _Atomic bool is_aborted; // comm is gone, or will be
};

int ritz_nccl_make_id(Ceed ceed, RitzNcclId *id) {
  return check_nccl(ceed, api.get_id(id), "ncclGetUniqueId");
}

int ritz_nccl_create(Ceed ceed, RitzDevice device, RitzNccl *nccl) {
  RITZ_TRY(RITZ_CALLOC(ceed, 1, nccl));
  (*nccl)->device = device;
  return CEED_ERROR_SUCCESS;
}

int ritz_nccl_join(Ceed ceed, RitzNccl nccl, int num, int rank, const RitzNcclId *id) {
  RITZ_TRY(ritz_cuda_enter(ceed, nccl->device));
  const int ierr = check_nccl(ceed, api.create(&nccl->comm, num, *id, rank), "ncclCommInitRank");
  ritz_cuda_leave();
  return ierr;
}

void ritz_nccl_destroy(RitzNccl *nccl) {
  RitzNccl old = *nccl;

  if (!old) return;
  if (old->comm && !atomic_load(&old->is_aborted) && !ritz_cuda_enter(NULL, old->device)) {
    (void)api.destroy(old->comm);
    ritz_cuda_leave();
  }
  RITZ_FREE(nccl);
}

void ritz_nccl_abort(RitzNccl nccl) {
  enum { MOST_MOMENTS = 1000000 };

  if (!nccl->comm || atomic_exchange(&nccl->is_aborted, true)) return;
  for (int i = 0; i < MOST_MOMENTS && atomic_load(&nccl->is_called); i++) ritz_yield_processor();
  (void)api.abort(nccl->comm);
}

// Begins a call on the communicator; end_call ends it.
static int begin_call(Ceed ceed, RitzNccl nccl, const char *call) {
  int ierr = CEED_ERROR_SUCCESS;

  atomic_store(&nccl->is_called, true);
  if (atomic_load(&nccl->is_aborted))
    ierr = CeedError(ceed, CEED_ERROR_MAJOR, "%s: another part has stopped", call);
  if (!ierr) ierr = ritz_cuda_enter(ceed, nccl->device);
  if (ierr) atomic_store(&nccl->is_called, false);
  return ierr;
}

static void end_call(RitzNccl nccl) {
  ritz_cuda_leave();
  atomic_store(&nccl->is_called, false);
}

// ---- Messages ----

static int queue_messages(RitzNccl nccl, RitzDeviceStream stream, int num, const RitzNcclMessage messages[]) {
  int status = CEED_ERROR_SUCCESS;

  for (int i = 0; i < num && !status; i++) {
    const RitzNcclMessage *m = &messages[i];

    if (m->recv_bytes > 0) status = api.receive(m->recv, m->recv_bytes, BYTES, m->rank, nccl->comm, stream);
    if (m->send_bytes > 0 && !status)
      status = api.send(m->send, m->send_bytes, BYTES, m->rank, nccl->comm, stream);
  }
  return status;
}

int ritz_nccl_exchange(Ceed ceed, RitzNccl nccl, RitzDeviceStream stream, int num,
                       const RitzNcclMessage messages[], int num_values, double *values) {
  RITZ_TRY(begin_call(ceed, nccl, "ncclSend"));
  int status = api.group_start();
  if (!status) {
    int queued = queue_messages(nccl, stream, num, messages);

    if (!queued && num_values > 0)
      queued = api.reduce(values, values, (size_t)num_values, DOUBLES, SUM, nccl->comm, stream);

    status = api.group_end();
    if (queued) status = queued;
  }
  end_call(nccl);
  return check_nccl(ceed, status,
                    num_values > 0 ? "ncclSend, ncclRecv, ncclAllReduce" : "ncclSend, ncclRecv");
}

int ritz_nccl_reduce(Ceed ceed, RitzNccl nccl, RitzDeviceStream stream, bool is_max, int num,
                     double *values) {
  RITZ_TRY(begin_call(ceed, nccl, "ncclAllReduce"));
  const int status =
      api.reduce(values, values, (size_t)num, DOUBLES, is_max ? LARGEST : SUM, nccl->comm, stream);
  end_call(nccl);
  return check_nccl(ceed, status, "ncclAllReduce");
}
