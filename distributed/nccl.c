// SPDX-License-Identifier: BSD-2-Clause
// A transport between GPUs on top of another one (ritz/exchange.h). Messages that others may run beside have
// a stream of their own, which waits for the context's where they begin; the context's waits for it where
// they end. Others, as sums, go by the context's.
#include "devices/nccl.h"
#include "base/error.h"
#include "base/memory.h"
#include "core/core.h"
#include "devices/device.h"
#include "distributed/exchange.h"

typedef struct {
  Ceed ceed;          // counted
  RitzTransport base; // its ctx borrowed
  RitzDevice device;  // borrowed
  const RitzDriver *driver;
  RitzNccl nccl;                   // owned, as all that follows
  RitzDeviceStream stream;         // of messages
  RitzDeviceEvent packed, arrived; // moments of the context's stream; of this one
  CeedInt max_messages;
  RitzNcclMessage *messages;
  bool is_busy;       // between begin and end
  bool is_registered; // the base may call `stop`
} NcclState;

// ---- Messages ----

static int get_stream(const NcclState *s, RitzDeviceStream *stream) {
  void *device;

  return s->ceed->backend.get_queue(s->ceed, &device, stream);
}

static int translate(NcclState *s, CeedInt num, const RitzMessage messages[]) {
  if (num > s->max_messages) {
    RITZ_FREE(&s->messages);
    s->max_messages = 0;
    RITZ_TRY(RITZ_MALLOC(s->ceed, (size_t)num, &s->messages));
    s->max_messages = num;
  }
  for (CeedInt i = 0; i < num; i++) {
    const RitzMessage *m = &messages[i];

    s->messages[i] = (RitzNcclMessage){m->part, m->send_bytes, m->recv_bytes, m->send, m->recv};
  }
  return CEED_ERROR_SUCCESS;
}

// Others wait for this part in what it begins now, and it for them.
static int announce(const NcclState *s) {
  return s->base.announce ? s->base.announce(&s->base) : CEED_ERROR_SUCCESS;
}

// Messages in NCCL's form, announced; stream: the context's.
static int prepare_nccl(NcclState *s, CeedInt num, const RitzMessage messages[], RitzDeviceStream *stream) {
  RITZ_REQUIRE(!s->is_busy, s->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzTransport (NCCL): other messages are under way");
  RITZ_TRY(translate(s, num, messages));
  RITZ_TRY(announce(s));
  return get_stream(s, stream);
}

static int begin_nccl(const RitzTransport *t, CeedInt num, const RitzMessage messages[]) {
  NcclState *s = t->ctx;
  RitzDeviceStream stream = NULL;

  RITZ_TRY(prepare_nccl(s, num, messages, &stream));
  RITZ_TRY(s->driver->event_record(s->ceed, s->device, stream, s->packed));
  RITZ_TRY(s->driver->event_wait(s->ceed, s->device, s->stream, s->packed));
  RITZ_TRY(ritz_nccl_exchange(s->ceed, s->nccl, s->stream, num, s->messages, 0, NULL));
  s->is_busy = true;
  return s->driver->event_record(s->ceed, s->device, s->stream, s->arrived);
}

static int end_nccl(const RitzTransport *t, CeedInt num, const RitzMessage messages[]) {
  NcclState *s = t->ctx;
  RitzDeviceStream stream = NULL;

  (void)num, (void)messages;
  s->is_busy = false;
  RITZ_TRY(get_stream(s, &stream));
  return s->driver->event_wait(s->ceed, s->device, stream, s->arrived);
}

// In the context's own stream, which needs no moments then.
static int run_and_sum(const RitzTransport *t, CeedInt num, const RitzMessage messages[], CeedInt num_values,
                       double values[]) {
  NcclState *s = t->ctx;
  RitzDeviceStream stream = NULL;

  RITZ_TRY(prepare_nccl(s, num, messages, &stream));
  return ritz_nccl_exchange(s->ceed, s->nccl, stream, num, s->messages, num_values, values);
}

static int run_nccl(const RitzTransport *t, CeedInt num, const RitzMessage messages[]) {
  return run_and_sum(t, num, messages, 0, NULL);
}

// ---- Reductions ----

static int reduce(const RitzTransport *t, RitzReduction kind, CeedInt num, double values[]) {
  const NcclState *s = t->ctx;

  return s->base.reduce(&s->base, kind, num, values);
}

static int reduce_in_memory(const RitzTransport *t, RitzReduction kind, CeedInt num, double values[]) {
  const NcclState *s = t->ctx;
  RitzDeviceStream stream = NULL;

  RITZ_TRY(announce(s));
  RITZ_TRY(get_stream(s, &stream));
  return ritz_nccl_reduce(s->ceed, s->nccl, stream, kind == RITZ_REDUCTION_MAX, num, values);
}

static int on_stop(const RitzTransport *t, void (*stop)(void *ctx), void *ctx) {
  const NcclState *s = t->ctx;

  return s->base.on_stop ? s->base.on_stop(&s->base, stop, ctx) : CEED_ERROR_SUCCESS;
}

static void stop(void *ctx) {
  const NcclState *s = ctx;

  if (s->nccl) ritz_nccl_abort(s->nccl);
}

static int enter(NcclState *s) {
  if (!s->base.on_stop) return CEED_ERROR_SUCCESS;
  s->is_registered = true;
  return s->base.on_stop(&s->base, stop, s);
}

static int leave(NcclState *s) {
  if (!s->is_registered) return CEED_ERROR_SUCCESS;
  s->is_registered = false;
  return s->base.on_stop(&s->base, NULL, NULL);
}

// ---- Life ----

static int check_nccl(Ceed ceed) {
  const char *why = NULL;

  RITZ_REQUIRE(ceed->backend.get_queue, ceed, CEED_ERROR_UNSUPPORTED,
               "RitzTransportCreateNCCL: the context computes on %s, needed a resource below /gpu/cuda",
               ceed->resource);
  RITZ_REQUIRE(ritz_nccl_find(&why), ceed, CEED_ERROR_UNSUPPORTED, "RitzTransportCreateNCCL: no NCCL: %s",
               why);
  return CEED_ERROR_SUCCESS;
}

// All fail where one does: nobody waits for those who are not there.
static int agree(Ceed ceed, const RitzTransport *base, int ierr) {
  double failed = ierr != CEED_ERROR_SUCCESS;
  const int code = base->reduce(base, RITZ_REDUCTION_MAX, 1, &failed);

  if (ierr || code) return ierr ? ierr : code;
  RITZ_REQUIRE(failed == 0, ceed, CEED_ERROR_UNSUPPORTED,
               "RitzTransportCreateNCCL: another part has failed, needed all");
  return CEED_ERROR_SUCCESS;
}

// The name that part 0 has made comes to all: the others add zeros.
static int share_id(const RitzTransport *base, RitzNcclId *id) {
  double numbers[RITZ_NCCL_ID_BYTES] = {0};

  for (int i = 0; base->part == 0 && i < RITZ_NCCL_ID_BYTES; i++) numbers[i] = (unsigned char)id->bytes[i];
  RITZ_TRY(base->reduce(base, RITZ_REDUCTION_SUM, RITZ_NCCL_ID_BYTES, numbers));
  for (int i = 0; i < RITZ_NCCL_ID_BYTES; i++) id->bytes[i] = (char)(unsigned char)numbers[i];
  return CEED_ERROR_SUCCESS;
}

static int make_streams(NcclState *s) {
  RITZ_TRY(s->driver->stream_create(s->ceed, s->device, &s->stream));
  RITZ_TRY(s->driver->event_create(s->ceed, s->device, &s->packed));
  return s->driver->event_create(s->ceed, s->device, &s->arrived);
}

static int destroy_state(NcclState *s) {
  Ceed ceed = s->ceed;
  int ierr = CEED_ERROR_SUCCESS;

  ritz_nccl_destroy(&s->nccl);
  if (s->arrived) ierr = s->driver->event_destroy(ceed, s->device, &s->arrived);
  if (s->packed) ierr = ritz_first_error(ierr, s->driver->event_destroy(ceed, s->device, &s->packed));
  if (s->stream) ierr = ritz_first_error(ierr, s->driver->stream_destroy(ceed, s->device, s->stream));
  RITZ_FREE(&s->messages);
  RITZ_FREE(&s);
  return ritz_first_error(ierr, CeedDestroy(&ceed));
}

// The first sum of all makes connections, which takes memory: hosts meet when they have it, before a device
// waits for others that still ask for some.
static int run_first_reduction(NcclState *s, void *number) {
  RITZ_TRY(s->driver->clear(s->ceed, s->device, s->stream, sizeof(double), number));
  RITZ_TRY(announce(s));
  RITZ_TRY(ritz_nccl_reduce(s->ceed, s->nccl, s->stream, false, 1, number));
  RITZ_TRY(s->driver->synchronize(s->ceed, s->device, s->stream));
  return agree(s->ceed, &s->base, CEED_ERROR_SUCCESS);
}

// Ends a part that has failed; its code tells the others why.
static int abort_state(NcclState *s) {
  stop(s);
  (void)leave(s);
  return destroy_state(s);
}

static int join(NcclState *s) {
  RitzNcclId id = {{0}};
  void *device = NULL, *stream = NULL, *number = NULL;
  int ierr = s->ceed->backend.get_queue(s->ceed, &device, &stream);

  s->device = device;
  s->driver = &ritz_cuda;
  if (!ierr) ierr = make_streams(s);
  if (!ierr) ierr = ritz_nccl_create(s->ceed, s->device, &s->nccl);
  if (!ierr && s->base.part == 0) ierr = ritz_nccl_make_id(s->ceed, &id);
  RITZ_TRY(agree(s->ceed, &s->base, ierr));
  RITZ_TRY(share_id(&s->base, &id));
  ierr = ritz_nccl_join(s->ceed, s->nccl, s->base.num_parts, s->base.part, &id);
  if (!ierr) ierr = s->driver->alloc(s->ceed, s->device, sizeof(double), &number);
  if (!ierr) ierr = enter(s); // before anybody announces anything
  ierr = agree(s->ceed, &s->base, ierr);
  if (!ierr) ierr = run_first_reduction(s, number);
  return number ? ritz_first_error(ierr, s->driver->free(s->ceed, s->device, number)) : ierr;
}

int RitzTransportCreateNCCL(Ceed ceed, const RitzTransport *base, RitzTransport *transport) {
  NcclState *s = NULL;

  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, base);
  RITZ_ARGUMENT(ceed, transport);
  RITZ_TRY(ritz_transport_check(ceed, __func__, base));
  RITZ_TRY(agree(ceed, base, check_nccl(ceed)));
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &s));
  s->base = *base;
  int ierr = CeedReferenceCopy(ceed, &s->ceed);

  ierr = agree(ceed, base, ierr);
  if (!ierr) ierr = join(s);
  if (ierr) return ritz_first_error(ierr, abort_state(s));
  *transport = (RitzTransport){.num_parts = base->num_parts,
                               .part = base->part,
                               .mem_type = CEED_MEM_DEVICE,
                               .ctx = s,
                               .begin = begin_nccl,
                               .end = end_nccl,
                               .run = run_nccl,
                               .reduce = reduce,
                               .reduce_in_memory = reduce_in_memory,
                               .run_and_sum = run_and_sum,
                               .on_stop = on_stop};
  return CEED_ERROR_SUCCESS;
}

int RitzTransportAbortNCCL(RitzTransport *transport) {
  if (!transport || !transport->ctx) return CEED_ERROR_SUCCESS;
  NcclState *s = transport->ctx;

  transport->ctx = NULL;
  return abort_state(s);
}

// Waits for queued work while this part can still be stopped.
static int finish_nccl(const NcclState *s) {
  RitzDeviceStream stream = NULL;

  RITZ_TRY(get_stream(s, &stream));
  RITZ_TRY(s->driver->synchronize(s->ceed, s->device, stream));
  return s->driver->synchronize(s->ceed, s->device, s->stream);
}

int RitzTransportDestroyNCCL(RitzTransport *transport) {
  if (!transport || !transport->ctx) return CEED_ERROR_SUCCESS;
  NcclState *s = transport->ctx;
  double nothing = 0;
  int ierr = finish_nccl(s);

  transport->ctx = NULL;
  ierr = ritz_first_error(ierr, leave(s));
  // NCCL's own end waits for all: hosts meet before, which ends where somebody does not come
  if (!ierr) ierr = s->base.reduce(&s->base, RITZ_REDUCTION_SUM, 1, &nothing);
  if (ierr) ritz_nccl_abort(s->nccl);
  return ritz_first_error(ierr, destroy_state(s));
}
