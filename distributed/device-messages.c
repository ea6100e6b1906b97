// SPDX-License-Identifier: BSD-2-Clause
// Messages in the memory of a device by transports that take its pointers but know no stream, as MPI's
// (takes_device_memory of RitzTransport): the host waits for what packs before they begin, and they have
// arrived where they end. Used by exchanges.
#include "base/error.h"
#include "core/core.h"
#include "devices/cuda.h"
#include "devices/device.h"
#include "distributed/exchange.h"

int ritz_exchange_wait(const struct RitzExchange_private *e) {
  void *device = NULL, *stream = NULL;

  if (!e->ceed->backend.get_queue) return CEED_ERROR_SUCCESS;
  RITZ_TRY(e->ceed->backend.get_queue(e->ceed, &device, &stream));
  return ritz_cuda.synchronize(e->ceed, device, stream);
}

static int begin_device_messages(const RitzTransport *t, CeedInt num, const RitzMessage messages[]) {
  const struct RitzExchange_private *e = t->ctx;
  void *device = NULL, *stream = NULL;

  RITZ_TRY(ritz_exchange_wait(e));
  RITZ_TRY(e->ceed->backend.get_queue(e->ceed, &device, &stream));
  RITZ_TRY(ritz_cuda_enter(e->ceed, device));
  const int ierr = e->base.begin(&e->base, num, messages);

  ritz_cuda_leave();
  return ierr;
}

static int end_device_messages(const RitzTransport *t, CeedInt num, const RitzMessage messages[]) {
  const struct RitzExchange_private *e = t->ctx;
  void *device = NULL, *stream = NULL;
  int ierr = e->ceed->backend.get_queue(e->ceed, &device, &stream);

  if (!ierr) ierr = ritz_cuda_enter(e->ceed, device);
  const bool is_current = !ierr;

  ierr = ritz_first_error(ierr, e->base.end(&e->base, num, messages)); // buffers are its own until then
  if (is_current) ritz_cuda_leave();
  return ierr;
}

static int reduce(const RitzTransport *t, RitzReduction kind, CeedInt num, double values[]) {
  const struct RitzExchange_private *e = t->ctx;

  return e->base.reduce(&e->base, kind, num, values);
}

static bool needs_host(Ceed ceed, const RitzTransport *t) {
  return t->mem_type == CEED_MEM_HOST && !(t->takes_device_memory && ceed->backend.get_queue);
}

void ritz_exchange_set_transport(RitzExchange e, const RitzTransport *transport) {
  e->base = e->transport = *transport;
  if (transport->mem_type == CEED_MEM_DEVICE || needs_host(e->ceed, transport)) return;
  e->transport = (RitzTransport){.num_parts = transport->num_parts,
                                 .part = transport->part,
                                 .mem_type = CEED_MEM_DEVICE,
                                 .ctx = e,
                                 .begin = begin_device_messages,
                                 .end = end_device_messages,
                                 .reduce = reduce};
}

int RitzTransportGetMemType(Ceed ceed, const RitzTransport *transport, CeedMemType *mem_type) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, transport);
  RITZ_ARGUMENT(ceed, mem_type);
  *mem_type = needs_host(ceed, transport) ? CEED_MEM_HOST : CEED_MEM_DEVICE;
  return CEED_ERROR_SUCCESS;
}
