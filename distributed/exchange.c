// SPDX-License-Identifier: BSD-2-Clause
// Exchanges of ghosts (ritz/exchange.h). Owned entries are packed and unpacked where the vectors are, by an
// element restriction of one entry an element. Ghosts of a neighbour are consecutive: messages come straight
// to them, and go from them, where the transport's memory is that of the vectors; else copies of ranges and a
// buffer are between. Messages go by the caller's transport.
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "core/core.h"
#include "distributed/exchange.h"

const RitzClass ritz_exchange_class = {.name = "RitzExchange"};

// ---- Life ----

int ritz_transport_check(Ceed ceed, const char *call, const RitzTransport *t) {
  RITZ_REQUIRE(t->begin && t->end && t->reduce, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the transport has no function begin, end or reduce, needed all three", call);
  RITZ_REQUIRE(t->part >= 0 && t->part < t->num_parts, ceed, CEED_ERROR_DIMENSION,
               "%s: the transport is that of part %" CeedInt_FMT " of %" CeedInt_FMT, call, t->part,
               t->num_parts);
  return CEED_ERROR_SUCCESS;
}

static int check_exchange(RitzSpace space, Ceed ceed, const RitzTransport *t) {
  CeedInt num_parts = 1, part = 0;
  RitzMesh mesh = NULL;

  RITZ_TRY(ritz_transport_check(ceed, "RitzExchangeCreate", t));
  RITZ_TRY(RitzSpaceGetMesh(space, &mesh));
  RITZ_TRY(RitzMeshGetPart(mesh, &num_parts, &part));
  RITZ_REQUIRE(num_parts == t->num_parts && part == t->part, ceed, CEED_ERROR_DIMENSION,
               "RitzExchangeCreate: the mesh is part %" CeedInt_FMT " of %" CeedInt_FMT
               ", the transport that of part %" CeedInt_FMT " of %" CeedInt_FMT,
               part, num_parts, t->part, t->num_parts);
  return CEED_ERROR_SUCCESS;
}

// Entries of owned nodes for each neighbour, one after the other.
static int create_pack(RitzExchange e, RitzHalo halo) {
  CeedInt *offsets = NULL;
  int64_t next = 0;

  RITZ_REQUIRE(e->num_send <= INT32_MAX && e->length <= INT32_MAX, e->ceed, CEED_ERROR_UNSUPPORTED,
               "RitzExchangeCreate: %" CeedSize_FMT " entries exceed the 32-bit offsets of a restriction",
               e->length);
  RITZ_TRY(RITZ_MALLOC(e->ceed, (size_t)e->num_send, &offsets));
  for (CeedInt i = 0; i < e->num_messages; i++) {
    const int64_t *send = NULL;
    int64_t num = 0;

    const int ierr = RitzHaloGetNeighbour(halo, i, NULL, &num, &send, NULL, NULL);
    if (ierr) {
      RITZ_FREE(&offsets);
      return ierr;
    }
    for (int64_t k = 0; k < num * e->num_comp; k++)
      offsets[next++] = (CeedInt)(send[k / e->num_comp] * e->num_comp + k % e->num_comp);
  }
  if (e->num_send == 0) return CEED_ERROR_SUCCESS;
  ritz_memory_give(offsets);
  const int ierr = CeedElemRestrictionCreate(e->ceed, (CeedInt)e->num_send, 1, 1, 1, e->length, CEED_MEM_HOST,
                                             CEED_OWN_POINTER, offsets, &e->pack);
  if (ierr) free(offsets);
  return ierr;
}

static int create_messages(RitzExchange e, RitzHalo halo) {
  RITZ_TRY(RITZ_CALLOC(e->ceed, (size_t)e->num_messages, &e->neighbours));
  RITZ_TRY(RITZ_CALLOC(e->ceed, (size_t)e->num_messages, &e->messages));
  for (CeedInt i = 0; i < e->num_messages; i++) {
    Neighbour *n = &e->neighbours[i];
    int64_t num_send = 0, num_ghosts = 0;

    RITZ_TRY(RitzHaloGetNeighbour(halo, i, &n->part, &num_send, NULL, &num_ghosts, NULL));
    RITZ_TRY(RitzHaloGetChecksums(halo, i, &n->send_sum, &n->ghost_sum));
    n->first_send = e->num_send;
    n->first_ghost = e->num_ghosts;
    n->num_send = num_send * e->num_comp;
    n->num_ghosts = num_ghosts * e->num_comp;
    e->num_send += n->num_send;
    e->num_ghosts += n->num_ghosts;
  }
  return CEED_ERROR_SUCCESS;
}

static int create_ghosts(RitzExchange e) {
  int64_t *entries = NULL;

  RITZ_TRY(RITZ_MALLOC(e->ceed, (size_t)e->num_ghosts, &entries));
  for (CeedSize i = 0; i < e->num_ghosts; i++) entries[i] = e->num_owned + i;
  const int ierr = RitzIndicesCreate(e->ceed, e->num_ghosts, entries, &e->ghosts);

  RITZ_FREE(&entries);
  return ierr;
}

// A number below 2^40 for a message of `num` bytes; sums of many are exact.
static double message_number(CeedInt from, CeedInt to, CeedSize num, uint64_t sum) {
  uint64_t z = ((uint64_t)from << 32 ^ (uint64_t)to) * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)num + sum;

  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9); // SplitMix64, as in mesh/table.c
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return num == 0 ? 0 : (double)((z ^ (z >> 31)) >> 24);
}

// Parts send as much as others expect: the sum over all parts of numbers sent less numbers expected is zero.
// Parts that were cut by different lists would wait for each other for ever.
static int check_together(RitzExchange e) {
  const CeedSize size = (CeedSize)ritz_scalar_bytes(e->precision);
  const CeedInt me = e->transport.part;
  double difference = 0;

  for (CeedInt i = 0; i < e->num_messages; i++) {
    const Neighbour *n = &e->neighbours[i];

    difference += message_number(me, n->part, size * n->num_send, n->send_sum) -
                  message_number(n->part, me, size * n->num_ghosts, n->ghost_sum);
  }
  RITZ_TRY(e->transport.reduce(&e->transport, RITZ_REDUCTION_SUM, 1, &difference));
  RITZ_REQUIRE(
      difference == 0, e->ceed, CEED_ERROR_INCOMPATIBLE,
      "RitzExchangeCreate: parts do not expect what others send; needed submeshes by the same list of "
      "parts, refined alike, spaces of one degree, and one precision");
  return CEED_ERROR_SUCCESS;
}

static int fill_exchange(RitzExchange e, RitzSpace space, RitzProductSpace product) {
  RitzHalo halo = NULL;
  int64_t num_owned = 0, num_ghosts = 0;

  RITZ_TRY(RitzSpaceReferenceCopy(space, &e->space));
  if (product) RITZ_TRY(RitzProductSpaceReferenceCopy(product, &e->product));
  RITZ_TRY(CeedReferenceCopy(e->ceed, &e->counted));
  RITZ_TRY(product ? RitzProductSpaceGetHalo(product, &halo) : RitzSpaceGetHalo(space, &halo));
  RITZ_TRY(RitzHaloGetSizes(halo, &num_owned, &num_ghosts));
  e->length = (num_owned + num_ghosts) * e->num_comp;
  RITZ_TRY(RitzHaloGetNumNeighbours(halo, &e->num_messages));
  e->num_owned = num_owned * e->num_comp;
  RITZ_TRY(create_messages(e, halo));
  RITZ_TRY(check_together(e));
  RITZ_TRY(create_pack(e, halo));
  RITZ_TRY(create_ghosts(e));
  if (e->num_send > 0) RITZ_TRY(RitzVectorCreate(e->ceed, e->num_send, e->precision, &e->at_owners));
  // a context that watches accesses has its arrays in other places each time
  e->is_direct = e->transport.mem_type == e->ceed->backend.mem_type && e->ceed->backend.vector_lend == NULL;
  if (e->num_ghosts > 0 && !e->is_direct)
    RITZ_TRY(RitzVectorCreate(e->ceed, e->num_ghosts, e->precision, &e->at_ghosts));
  return CEED_ERROR_SUCCESS;
}

// All parts wait for each other, and fail where one does.
static int agree_on_success(RitzExchange e, int ierr) {
  double failed = ierr != CEED_ERROR_SUCCESS;
  const int code = e->transport.reduce(&e->transport, RITZ_REDUCTION_MAX, 1, &failed);

  if (ierr || code) return ierr ? ierr : code;
  RITZ_REQUIRE(failed == 0, e->ceed, CEED_ERROR_MAJOR,
               "RitzExchangeCreate: another part has failed, needed all");
  return CEED_ERROR_SUCCESS;
}

// Where devices wait for messages, not hosts: zeros go both ways, between two meetings. What first messages
// take, memory, connections and kernels, is there before a device waits for a part that still asks for it:
// some of these calls wait for all devices of a process.
static int send_first(RitzExchange e) {
  CeedVector x = NULL;
  int ierr = RitzVectorCreate(e->ceed, e->length, e->precision, &x);

  if (!ierr) ierr = CeedVectorSetValue(x, 0);
  ierr = agree_on_success(e, ierr);
  if (!ierr) ierr = RitzExchangeRun(e, RITZ_EXCHANGE_TO_GHOSTS, x);
  if (!ierr) ierr = RitzExchangeRun(e, RITZ_EXCHANGE_TO_OWNERS, x);
  if (!ierr) ierr = ritz_exchange_wait(e);
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&x));
  return ierr ? ierr
              : agree_on_success(
                    e, ierr); // a part that fails in between is waited for by devices: it does not wait
}

int RitzExchangeCreate(RitzSpace space, Ceed ceed, const RitzTransport *transport, RitzExchange *exchange) {
  return RitzExchangeCreateInPrecision(space, ceed, transport, CEED_SCALAR_TYPE, exchange);
}

int RitzExchangeCreateInPrecision(RitzSpace space, Ceed ceed, const RitzTransport *transport,
                                  CeedScalarType precision, RitzExchange *exchange) {
  CeedInt num_comp = 0;

  RITZ_HANDLE(space, ceed);
  RITZ_ARGUMENT(space, ceed);
  RITZ_ARGUMENT(space, exchange);
  *exchange = NULL;
  RITZ_ARGUMENT(ceed, transport);
  RITZ_TRY(ritz_check_precision(ceed, "RitzExchangeCreateInPrecision", precision));
  RITZ_TRY(RitzSpaceGetNumComponents(space, &num_comp));
  return ritz_exchange_create(space, num_comp, ceed, transport, precision, exchange);
}

// product NULL: vectors of num_comp numbers a node of the space; else its first space.
static int create_exchange(RitzSpace space, RitzProductSpace product, CeedInt num_comp, Ceed ceed,
                           const RitzTransport *transport, CeedScalarType precision, RitzExchange *exchange) {
  RitzExchange e = NULL;

  *exchange = NULL;
  RITZ_TRY(check_exchange(space, ceed, transport));
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &e));
  e->class = &ritz_exchange_class;
  e->ref_count = 1;
  e->ceed = ceed;
  e->precision = precision;
  e->num_comp = num_comp;
  ritz_exchange_set_transport(e, transport);
  int ierr = fill_exchange(e, space, product);

  if (!ierr && transport->mem_type == CEED_MEM_DEVICE) ierr = send_first(e);
  if (ierr) return ritz_first_error(ierr, RitzExchangeDestroy(&e));
  *exchange = e;
  return CEED_ERROR_SUCCESS;
}

int ritz_exchange_create(RitzSpace space, CeedInt num_comp, Ceed ceed, const RitzTransport *transport,
                         CeedScalarType precision, RitzExchange *exchange) {
  return create_exchange(space, NULL, num_comp, ceed, transport, precision, exchange);
}

int RitzExchangeCreateOfProduct(RitzProductSpace product, Ceed ceed, const RitzTransport *transport,
                                CeedScalarType precision, RitzExchange *exchange) {
  RitzSpace first = NULL;

  RITZ_HANDLE(product, ceed);
  RITZ_ARGUMENT(product, ceed);
  RITZ_ARGUMENT(product, exchange);
  *exchange = NULL;
  RITZ_ARGUMENT(ceed, transport);
  RITZ_TRY(ritz_check_precision(ceed, "RitzExchangeCreateOfProduct", precision));
  RITZ_TRY(RitzProductSpaceGetSpace(product, 0, &first));
  return create_exchange(first, product, 1, ceed, transport, precision, exchange);
}

// ---- Arrays while messages are under way ----

// The vector whose entries go to or come from ghosts; NULL: there are none.
static CeedVector ghost_side(const struct RitzExchange_private *e) {
  return e->is_direct && e->num_ghosts > 0 ? e->vector : e->at_ghosts;
}

static CeedVector side(const struct RitzExchange_private *e, bool of_ghosts) {
  return of_ghosts ? ghost_side(e) : e->at_owners;
}

static bool writes_to_vector(const struct RitzExchange_private *e) {
  return e->is_direct && e->mode == RITZ_EXCHANGE_TO_GHOSTS;
}

// Makes the array in the transport's memory the only valid one of the vector.
static int find_array(RitzExchange e, CeedVector v, void **array) {
  void *lent = NULL;

  RITZ_TRY(ritz_vector_lock(v, RITZ_ACCESS_READ_WRITE, e->transport.mem_type, &lent));
  *array = lent;
  return ritz_vector_unlock(v, RITZ_ACCESS_READ_WRITE, &lent, CEED_ERROR_SUCCESS);
}

static int lend_receiver(RitzExchange e, CeedVector to) {
  const CeedMemType mem_type = e->transport.mem_type;

  if (!to) return CEED_ERROR_SUCCESS;
  if (!writes_to_vector(e)) return ritz_vector_lock(to, RITZ_ACCESS_WRITE, mem_type, &e->receiving);
  // others may read the vector meanwhile, and only that
  RITZ_TRY(find_array(e, to, &e->receiving));
  return ritz_vector_lock(to, RITZ_ACCESS_READ, mem_type, &e->held);
}

static int return_receiver(RitzExchange e, CeedVector to) {
  if (!to) return CEED_ERROR_SUCCESS;
  if (!writes_to_vector(e))
    return ritz_vector_unlock(to, RITZ_ACCESS_WRITE, &e->receiving, CEED_ERROR_SUCCESS);
  RITZ_TRY(ritz_vector_unlock(to, RITZ_ACCESS_READ, &e->held, CEED_ERROR_SUCCESS));
  return find_array(e, to, &e->receiving); // copies that readers have made lack what has come
}

// Arrays in the transport's memory of what is sent and what is received.
static int lend_arrays(RitzExchange e) {
  const bool to_ghosts = e->mode == RITZ_EXCHANGE_TO_GHOSTS;
  CeedVector from = side(e, !to_ghosts);

  if (from) RITZ_TRY(ritz_vector_lock(from, RITZ_ACCESS_READ, e->transport.mem_type, &e->sending));
  const int ierr = lend_receiver(e, side(e, to_ghosts));

  return ierr && from ? ritz_vector_unlock(from, RITZ_ACCESS_READ, &e->sending, ierr) : ierr;
}

static int return_arrays(RitzExchange e) {
  const bool to_ghosts = e->mode == RITZ_EXCHANGE_TO_GHOSTS;
  CeedVector from = side(e, !to_ghosts);
  const int ierr =
      from ? ritz_vector_unlock(from, RITZ_ACCESS_READ, &e->sending, CEED_ERROR_SUCCESS) : CEED_ERROR_SUCCESS;

  return ritz_first_error(ierr, return_receiver(e, side(e, to_ghosts)));
}

// Waits for all messages and takes the arrays back.
static int end_messages(RitzExchange e) {
  const int ierr =
      e->has_arrived ? CEED_ERROR_SUCCESS : e->transport.end(&e->transport, e->num_messages, e->messages);

  e->is_busy = false;
  return ritz_first_error(ierr, return_arrays(e));
}

int RitzExchangeDestroy(RitzExchange *exchange) {
  if (!exchange || !*exchange) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_check_handle(NULL, __func__, "exchange", *exchange, &ritz_exchange_class));
  RitzExchange e = *exchange;
  int ierr = CEED_ERROR_SUCCESS;

  *exchange = NULL;
  if (--e->ref_count > 0) return CEED_ERROR_SUCCESS;
  Ceed ceed = e->counted;
  RitzSpace space = e->space;
  RitzProductSpace product = e->product;

  if (e->is_busy) ierr = end_messages(e); // begun and never ended: buffers are the transport's until then

  ierr = ritz_first_error(ierr, CeedElemRestrictionDestroy(&e->pack));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&e->at_owners));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&e->at_ghosts));
  ierr = ritz_first_error(ierr, RitzIndicesDestroy(&e->ghosts));
  RITZ_FREE(&e->neighbours);
  RITZ_FREE(&e->messages);
  RITZ_FREE(&e);
  ierr = ritz_first_error(ierr, RitzProductSpaceDestroy(&product));
  ierr = ritz_first_error(ierr, RitzSpaceDestroy(&space));
  return ritz_first_error(ierr, CeedDestroy(&ceed));
}

int RitzExchangeReferenceCopy(RitzExchange exchange, RitzExchange *copy) {
  RITZ_HANDLE(exchange);
  RITZ_ARGUMENT(exchange, copy);
  RITZ_OPTIONAL(exchange, *copy);
  exchange->ref_count++;
  const int ierr = RitzExchangeDestroy(copy);

  if (ierr) {
    exchange->ref_count--;
    return ierr;
  }
  *copy = exchange;
  return CEED_ERROR_SUCCESS;
}

// ---- Exchanges ----

int ritz_exchange_check(RitzExchange e, const char *call, CeedVector x) {
  CeedSize length = 0;

  RITZ_ARGUMENT_OF(e->ceed, call, x);
  RITZ_TRY(CeedVectorGetLength(x, &length));
  RITZ_REQUIRE(length == e->length, e->ceed, CEED_ERROR_DIMENSION,
               "%s: the vector has %" CeedSize_FMT " entries, the space %" CeedSize_FMT, call, length,
               e->length);
  return ritz_vector_require_precision(x, call, e->precision);
}

static void fill_messages(RitzExchange e) {
  const bool to_ghosts = e->mode == RITZ_EXCHANGE_TO_GHOSTS;
  const CeedSize size = (CeedSize)ritz_scalar_bytes(e->precision);

  for (CeedInt i = 0; i < e->num_messages; i++) {
    const Neighbour *n = &e->neighbours[i];
    const CeedSize first_ghost = n->first_ghost + (e->is_direct ? e->num_owned : 0);
    const CeedSize first_from = to_ghosts ? n->first_send : first_ghost,
                   first_to = to_ghosts ? first_ghost : n->first_send;
    const CeedSize num_from = to_ghosts ? n->num_send : n->num_ghosts,
                   num_to = to_ghosts ? n->num_ghosts : n->num_send;

    e->messages[i] = (RitzMessage){.part = n->part,
                                   .send_bytes = (size_t)(num_from * size),
                                   .recv_bytes = (size_t)(num_to * size),
                                   .send = num_from > 0 ? (char *)e->sending + first_from * size : NULL,
                                   .recv = num_to > 0 ? (char *)e->receiving + first_to * size : NULL};
  }
}

static int pack(RitzExchange e, bool to_ghosts, CeedVector x) {
  if (!to_ghosts && e->at_ghosts) return RitzVectorCopyRange(x, e->num_owned, e->num_ghosts, e->at_ghosts, 0);
  if (to_ghosts && e->num_send > 0) return ritz_restriction_apply(e->pack, CEED_NOTRANSPOSE, x, e->at_owners);
  return CEED_ERROR_SUCCESS;
}

static int unpack(RitzExchange e, bool to_ghosts, CeedVector x) {
  if (to_ghosts && e->at_ghosts) return RitzVectorCopyRange(e->at_ghosts, 0, e->num_ghosts, x, e->num_owned);
  if (!to_ghosts && e->num_send > 0) return ritz_restriction_apply(e->pack, CEED_TRANSPOSE, e->at_owners, x);
  return CEED_ERROR_SUCCESS;
}

static int prepare_exchange(RitzExchange e, RitzExchangeMode mode, CeedVector x) {
  RITZ_TRY(pack(e, mode == RITZ_EXCHANGE_TO_GHOSTS, x));
  e->mode = mode;
  e->vector = x;
  RITZ_TRY(lend_arrays(e));
  fill_messages(e);
  return CEED_ERROR_SUCCESS;
}

// After prepare. has_arrived: there is nothing to wait for.
static int note_begin(RitzExchange e, bool has_arrived, int ierr) {
  if (ierr) return ritz_first_error(ierr, return_arrays(e));
  e->has_arrived = has_arrived;
  e->is_busy = true;
  return CEED_ERROR_SUCCESS;
}

static int begin_exchange(RitzExchange e, RitzExchangeMode mode, CeedVector x) {
  const RitzTransport *t = &e->transport;

  RITZ_TRY(prepare_exchange(e, mode, x));
  return note_begin(e, false, t->begin(t, e->num_messages, e->messages));
}

// Runs the messages at once where the transport can; sums come with them or behind them.
static int begin_at_once(RitzExchange e, RitzExchangeMode mode, CeedVector x, CeedInt num, double values[]) {
  const RitzTransport *t = &e->transport;

  if (!t->run) RITZ_TRY(begin_exchange(e, mode, x));
  if (t->run) {
    RITZ_TRY(prepare_exchange(e, mode, x));
    const int ierr = num > 0 && t->run_and_sum ? t->run_and_sum(t, e->num_messages, e->messages, num, values)
                                               : t->run(t, e->num_messages, e->messages);

    RITZ_TRY(note_begin(e, true, ierr));
    if (t->run_and_sum) return CEED_ERROR_SUCCESS;
  }
  if (num == 0) return CEED_ERROR_SUCCESS;
  const int ierr = t->reduce_in_memory(t, RITZ_REDUCTION_SUM, num, values);

  return ierr ? ritz_first_error(ierr, end_messages(e)) : CEED_ERROR_SUCCESS;
}

static int end_exchange(RitzExchange e) {
  RITZ_TRY(end_messages(e));
  return unpack(e, e->mode == RITZ_EXCHANGE_TO_GHOSTS, e->vector);
}

static int end_and_clear(RitzExchange e) {
  RITZ_TRY(end_exchange(e));
  return e->mode == RITZ_EXCHANGE_TO_OWNERS ? RitzVectorSetEntries(e->vector, e->ghosts, 0)
                                            : CEED_ERROR_SUCCESS;
}

static int require_mode(RitzExchange e, const char *call, RitzExchangeMode mode) {
  RITZ_REQUIRE(mode == RITZ_EXCHANGE_TO_GHOSTS || mode == RITZ_EXCHANGE_TO_OWNERS, e->ceed,
               CEED_ERROR_INCOMPATIBLE, "%s: there is no mode %d", call, (int)mode);
  return CEED_ERROR_SUCCESS;
}

static int require_idle(RitzExchange e, const char *call) {
  RITZ_REQUIRE(!e->is_busy, e->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: an exchange is under way, needed RitzExchangeEnd first", call);
  return CEED_ERROR_SUCCESS;
}

int RitzExchangeBegin(RitzExchange exchange, RitzExchangeMode mode, CeedVector x) {
  RITZ_HANDLE(exchange, x);
  RITZ_TRY(ritz_exchange_check(exchange, "RitzExchangeBegin", x));
  RITZ_TRY(require_mode(exchange, "RitzExchangeBegin", mode));
  RITZ_TRY(require_idle(exchange, "RitzExchangeBegin"));
  return begin_exchange(exchange, mode, x);
}

int RitzExchangeEnd(RitzExchange exchange, RitzExchangeMode mode, CeedVector x) {
  RITZ_HANDLE(exchange, x);
  RITZ_TRY(ritz_exchange_check(exchange, "RitzExchangeEnd", x));
  RITZ_REQUIRE(exchange->is_busy && exchange->mode == mode, exchange->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzExchangeEnd: no exchange of this mode is under way, needed RitzExchangeBegin first");
  RITZ_REQUIRE(exchange->vector == x, exchange->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzExchangeEnd: the exchange was begun with another vector");
  return end_and_clear(exchange);
}

int RitzExchangeRun(RitzExchange exchange, RitzExchangeMode mode, CeedVector x) {
  RITZ_HANDLE(exchange, x);
  RITZ_TRY(ritz_exchange_check(exchange, "RitzExchangeRun", x));
  RITZ_TRY(require_mode(exchange, "RitzExchangeRun", mode));
  RITZ_TRY(require_idle(exchange, "RitzExchangeRun"));
  RITZ_TRY(begin_at_once(exchange, mode, x, 0, NULL));
  return end_and_clear(exchange);
}

int ritz_exchange_run_and_sum(RitzExchange exchange, RitzExchangeMode mode, CeedVector x, CeedInt num,
                              double values[]) {
  RITZ_TRY(require_idle(exchange, "RitzPartOperatorApply"));
  RITZ_TRY(begin_at_once(exchange, mode, x, num, values));
  return end_exchange(exchange);
}

// ---- Queries ----

int RitzExchangeGetGhosts(RitzExchange exchange, RitzIndices *ghosts) {
  RITZ_HANDLE(exchange);
  RITZ_ARGUMENT(exchange, ghosts);
  *ghosts = exchange->ghosts;
  return CEED_ERROR_SUCCESS;
}

int RitzExchangeGetNumOwned(RitzExchange exchange, CeedSize *num_owned) {
  RITZ_HANDLE(exchange);
  RITZ_ARGUMENT(exchange, num_owned);
  *num_owned = exchange->num_owned;
  return CEED_ERROR_SUCCESS;
}

int RitzExchangeReduce(void *exchange, RitzReduction kind, CeedInt num, double values[]) {
  const RitzExchange e = exchange;

  RITZ_HANDLE(e);
  RITZ_REQUIRE(kind == RITZ_REDUCTION_SUM || kind == RITZ_REDUCTION_MAX, e->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzExchangeReduce: there is no reduction %d", (int)kind);
  RITZ_REQUIRE(num >= 0, e->ceed, CEED_ERROR_DIMENSION,
               "RitzExchangeReduce: num is %" CeedInt_FMT ", needed at least 0", num);
  RITZ_REQUIRE(values || num == 0, e->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzExchangeReduce: argument 'values' is NULL, needed %" CeedInt_FMT " numbers", num);
  return e->transport.reduce(&e->transport, kind, num, values);
}

int ritz_exchange_reduce_in_memory(void *exchange, RitzReduction kind, CeedInt num, double values[]) {
  const RitzExchange e = exchange;

  return e->transport.reduce_in_memory(&e->transport, kind, num, values);
}
