// SPDX-License-Identifier: BSD-2-Clause
// Parts as threads of one process: RitzRunParts and its transport (ritz/exchange.h). Messages are copied by
// who receives them, straight from the sender's buffer.
#include <ritz/exchange.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"

// A message from one part to another. The sender says which exchange it belongs to, counted from 1, and the
// receiver that it has it. is_open: the receiver looks at the data.
typedef struct {
  const void *data;
  size_t bytes;
  RitzFlag sent, received;
  _Atomic int is_open;
} Mailbox;

// Numbers of one part, for all to read.
typedef struct {
  double *values;
  CeedInt num;
  RitzReduction kind;
  RitzFlag ready, done; // epochs: number of the reduction, counted from 1
  RitzFlag ended;       // 1: the part's function has returned
} Desk;

// Stops what a part does beside the transport, so that it waits no longer.
typedef struct {
  void (*stop)(void *ctx); // NULL: nothing
  void *ctx;
  int64_t num_announced; // since stop was set
  bool has_left;         // it will announce no more
} Stop;

typedef struct {
  Ceed ceed; // borrowed: of the caller
  CeedInt num_parts;
  RitzPartFunction run;
  void *ctx;
  Mailbox *boxes;        // owned, [to][from]
  Desk *desks;           // owned, [num_parts]
  RitzFlag stop;         // raised with the part that failed or left too early, counted from 1
  int *codes;            // owned, [num_parts]
  Stop *stops;           // owned, [num_parts], under RITZ_LOCK_STOPS
  char (*messages)[256]; // owned, [num_parts]: what transports complain of; "": nothing
} World;

// A part's thread.
typedef struct {
  World *world;
  uint32_t num_exchanges, num_reductions; // they may run over: flags are compared for equality
  bool is_busy;                           // between begin and end
} Member;

// Threads have no context to report to that is theirs and ours: RitzRunParts tells, when all have ended.
static int complain(const RitzTransport *t, int code, const char *format, ...) {
  const Member *member = t->ctx;
  va_list args;

  va_start(args, format);
  vsnprintf(member->world->messages[t->part], sizeof(member->world->messages[0]), format, args);
  va_end(args);
  return code;
}

static int report_stop(const RitzTransport *t, const World *w) {
  return complain(t, CEED_ERROR_MAJOR,
                  "it waits for others, but part %d has ended with an error, or too early",
                  (int)w->stop.epoch - 1);
}

static int report_end(const RitzTransport *t, CeedInt part) {
  return complain(t, CEED_ERROR_INCOMPATIBLE,
                  "it waits for part %" CeedInt_FMT ", which has ended: parts have to make the same calls",
                  part);
}

// Waits for a part's flag to be raised; an error where that will not be.
static int await(const RitzTransport *t, CeedInt part, RitzFlag *flag, uint32_t epoch) {
  World *w = ((const Member *)t->ctx)->world;

  if (ritz_flag_wait_unless(flag, (int32_t)epoch, &w->stop, &w->desks[part].ended)) return CEED_ERROR_SUCCESS;
  if (atomic_load(&w->stop.epoch) != 0) return report_stop(t, w);
  return report_end(t, part);
}

static Mailbox *find_box(const World *w, CeedInt to, CeedInt from) {
  return &w->boxes[(size_t)to * (size_t)w->num_parts + (size_t)from];
}

// ---- Messages ----

static int begin_part_messages(const RitzTransport *t, CeedInt num, const RitzMessage messages[]) {
  Member *member = t->ctx;
  World *w = member->world;

  if (member->is_busy) return complain(t, CEED_ERROR_INCOMPATIBLE, "other messages are under way");
  for (CeedInt i = 0; i < num; i++) {
    if (messages[i].part < 0 || messages[i].part >= w->num_parts || messages[i].part == t->part)
      return complain(t, CEED_ERROR_DIMENSION, "a message to part %" CeedInt_FMT " of %" CeedInt_FMT,
                      messages[i].part, w->num_parts);
  }
  member->is_busy = true;
  member->num_exchanges++;
  for (CeedInt i = 0; i < num; i++) {
    Mailbox *box = find_box(w, messages[i].part, t->part);

    box->data = messages[i].send;
    box->bytes = messages[i].send_bytes;
    ritz_flag_raise(&box->sent, (int32_t)member->num_exchanges);
  }
  return CEED_ERROR_SUCCESS;
}

static int receive(const RitzTransport *t, const RitzMessage *m) {
  const Member *member = t->ctx;
  Mailbox *box = find_box(member->world, t->part, m->part);

  RITZ_TRY(await(t, m->part, &box->sent, member->num_exchanges));
  if (box->bytes != m->recv_bytes)
    return complain(t, CEED_ERROR_DIMENSION, "it expects %zu bytes of part %" CeedInt_FMT ", which sends %zu",
                    m->recv_bytes, m->part, box->bytes);
  // A sender that stops takes its buffer back when the box is closed: either it sees that the box is open, or
  // this part sees that there was a stop.
  atomic_store(&box->is_open, 1);
  const bool is_stopped = atomic_load(&member->world->stop.epoch) != 0;
  if (!is_stopped && m->recv_bytes > 0) memcpy(m->recv, box->data, m->recv_bytes);
  atomic_store(&box->is_open, 0);
  if (is_stopped) return report_stop(t, member->world);
  ritz_flag_raise(&box->received, (int32_t)member->num_exchanges);
  return CEED_ERROR_SUCCESS;
}

// All that this part has sent is its own again, though others do not have it: they are told to stop.
static int take_back(const RitzTransport *t, CeedInt num, const RitzMessage messages[], int code) {
  World *w = ((const Member *)t->ctx)->world;

  (void)ritz_flag_change(&w->stop, 0, t->part + 1);
  for (CeedInt i = 0; i < num; i++) {
    Mailbox *box = find_box(w, messages[i].part, t->part);

    while (atomic_load(&box->is_open)) ritz_yield_processor();
  }
  return code;
}

// Buffers may be used again when the others have what they hold.
static int end_part_messages(const RitzTransport *t, CeedInt num, const RitzMessage messages[]) {
  Member *member = t->ctx;
  int code = CEED_ERROR_SUCCESS;

  for (CeedInt i = 0; i < num && !code; i++) code = receive(t, &messages[i]);
  for (CeedInt i = 0; i < num && !code; i++) {
    Mailbox *box = find_box(member->world, messages[i].part, t->part);

    code = await(t, messages[i].part, &box->received, member->num_exchanges);
  }
  member->is_busy = false;
  return code ? take_back(t, num, messages, code) : CEED_ERROR_SUCCESS;
}

// ---- Reductions ----

static double combine(const World *w, RitzReduction kind, CeedInt i) {
  double value = w->desks[0].values[i];

  for (CeedInt part = 1; part < w->num_parts; part++) {
    const double other = w->desks[part].values[i];

    if (kind == RITZ_REDUCTION_SUM)
      value += other;
    else if (!(other <= value)) // a value that is no number stays
      value = other;
  }
  return value;
}

// All wait until everybody's numbers are there, and again until everybody has read them.
static int wait_for_all(const RitzTransport *t, bool for_done) {
  const Member *member = t->ctx;
  World *w = member->world;

  for (CeedInt part = 0; part < w->num_parts; part++) {
    Desk *desk = &w->desks[part];

    RITZ_TRY(await(t, part, for_done ? &desk->done : &desk->ready, member->num_reductions));
  }
  return CEED_ERROR_SUCCESS;
}

static int check_desks(const RitzTransport *t, RitzReduction kind, CeedInt num) {
  const World *w = ((const Member *)t->ctx)->world;

  for (CeedInt part = 0; part < w->num_parts; part++) {
    if (w->desks[part].num == num && w->desks[part].kind == kind) continue;
    return complain(t, CEED_ERROR_INCOMPATIBLE,
                    "it reduces %" CeedInt_FMT " numbers (kind %d), part %" CeedInt_FMT " %" CeedInt_FMT
                    " (kind %d): parts have to make the same calls",
                    num, (int)kind, part, w->desks[part].num, (int)w->desks[part].kind);
  }
  return CEED_ERROR_SUCCESS;
}

static int reduce(const RitzTransport *t, RitzReduction kind, CeedInt num, double values[]) {
  enum { AT_ONCE = 512 }; // few enough for the stack of a thread
  Member *member = t->ctx;
  World *w = member->world;
  double results[AT_ONCE];

  for (CeedInt first = 0; first < num; first += AT_ONCE) {
    const CeedInt count = CeedIntMin(AT_ONCE, num - first);
    Desk *desk = &w->desks[t->part];

    desk->values = values + first;
    desk->num = count;
    desk->kind = kind;
    ritz_flag_raise(&desk->ready, (int32_t)++member->num_reductions);
    RITZ_TRY(wait_for_all(t, false));
    RITZ_TRY(check_desks(t, kind, count));
    for (CeedInt i = 0; i < count; i++) results[i] = combine(w, kind, i);
    ritz_flag_raise(&desk->done, (int32_t)member->num_reductions);
    RITZ_TRY(wait_for_all(t, true));
    memcpy(values + first, results, (size_t)count * sizeof(*values));
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Beside the transport: all under RITZ_LOCK_STOPS ----

static void stop_others(World *w, CeedInt part) {
  (void)ritz_flag_change(&w->stop, 0, part + 1); // those that come later mostly fail because of the first
  for (CeedInt i = 0; i < w->num_parts; i++) {
    if (i != part && w->stops[i].stop) w->stops[i].stop(w->stops[i].ctx);
  }
}

// Stops all parts, this one first, where others wait for a message that it has not begun: parts that do not
// wait for it may wait for those.
static int leave(const RitzTransport *t) {
  World *w = ((const Member *)t->ctx)->world;
  Stop *mine = &w->stops[t->part];
  CeedInt waiting = 0;

  if (!mine->stop) return CEED_ERROR_SUCCESS;
  mine->has_left = true;
  while (waiting < w->num_parts &&
         !(w->stops[waiting].stop && w->stops[waiting].num_announced > mine->num_announced))
    waiting++;
  if (waiting < w->num_parts) mine->stop(mine->ctx);
  mine->stop = NULL;
  if (waiting == w->num_parts) return CEED_ERROR_SUCCESS;
  stop_others(w, t->part);
  if (w->messages[t->part][0]) return CEED_ERROR_INCOMPATIBLE; // it has said before what went wrong
  return complain(t, CEED_ERROR_INCOMPATIBLE,
                  "part %" CeedInt_FMT " waits for it: parts have to make the same calls", waiting);
}

static int on_stop(const RitzTransport *t, void (*stop)(void *ctx), void *ctx) {
  World *w = ((const Member *)t->ctx)->world;
  int ierr = CEED_ERROR_SUCCESS;

  ritz_lock(RITZ_LOCK_STOPS);
  if (stop) {
    w->stops[t->part] = (Stop){.stop = stop, .ctx = ctx};
    if (atomic_load(&w->stop.epoch) != 0) stop(ctx); // it comes late
  } else {
    ierr = leave(t);
  }
  ritz_unlock(RITZ_LOCK_STOPS);
  return ierr;
}

static int announce(const RitzTransport *t) {
  World *w = ((const Member *)t->ctx)->world;
  CeedInt gone = 0;

  ritz_lock(RITZ_LOCK_STOPS);
  const int64_t num = ++w->stops[t->part].num_announced;
  while (gone < w->num_parts && !(w->stops[gone].has_left && w->stops[gone].num_announced < num)) gone++;
  ritz_unlock(RITZ_LOCK_STOPS);
  if (gone < w->num_parts) return report_end(t, gone);
  return atomic_load(&w->stop.epoch) == 0 ? CEED_ERROR_SUCCESS : report_stop(t, w);
}

// ---- Threads ----

static int run_part(void *data, int part) {
  World *w = data;
  Member member = {.world = w};
  const RitzTransport transport = {.num_parts = w->num_parts,
                                   .part = part,
                                   .mem_type = CEED_MEM_HOST,
                                   .ctx = &member,
                                   .begin = begin_part_messages,
                                   .end = end_part_messages,
                                   .reduce = reduce,
                                   .on_stop = on_stop,
                                   .announce = announce};
  const int code = w->run(w->ctx, &transport);

  w->codes[part] = code;
  ritz_lock(RITZ_LOCK_STOPS);
  if (code) stop_others(w, part);
  (void)leave(&transport); // what comes of it is in w->stop
  ritz_unlock(RITZ_LOCK_STOPS);
  ritz_flag_raise(&w->desks[part].ended, 1);
  return CEED_ERROR_SUCCESS;
}

static int allocate_part_messages(Ceed ceed, CeedInt num_parts, World *w) {
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num_parts * (size_t)num_parts, &w->boxes));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num_parts, &w->desks));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num_parts, &w->messages));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num_parts, &w->stops));
  return RITZ_CALLOC(ceed, (size_t)num_parts, &w->codes);
}

static int run_world(World *w) {
  RitzTeam team = NULL;
  bool is_done = false;

  RITZ_TRY(ritz_team_create(w->ceed, w->num_parts, &team));
  (void)ritz_team_run_together(team, run_part, w, &is_done);
  ritz_team_destroy(&team);
  RITZ_REQUIRE(is_done, w->ceed, CEED_ERROR_MAJOR, "RitzRunParts: %" CeedInt_FMT " threads cannot be had",
               w->num_parts);
  if (w->stop.epoch == 0) return CEED_ERROR_SUCCESS;
  const int part = w->stop.epoch - 1, code = w->codes[part]; // 0: it has ended too early, as its message says

  return CeedError(w->ceed, code ? code : CEED_ERROR_INCOMPATIBLE,
                   "RitzRunParts: part %d has ended with code %d%s%s", part, code,
                   w->messages[part][0] ? ": " : "", w->messages[part]);
}

int RitzRunParts(Ceed ceed, CeedInt num_parts, RitzPartFunction run, void *ctx) {
  World w = {.ceed = ceed, .num_parts = num_parts, .run = run, .ctx = ctx};

  RITZ_HANDLE(ceed);
  RITZ_REQUIRE(num_parts >= 1 && num_parts <= RITZ_MAX_THREADS, ceed, CEED_ERROR_DIMENSION,
               "RitzRunParts: %" CeedInt_FMT " parts, needed 1 to %d", num_parts, RITZ_MAX_THREADS);
  RITZ_REQUIRE(run, ceed, CEED_ERROR_INCOMPATIBLE, "RitzRunParts: argument 'run' is NULL, needed a function");
  int ierr = allocate_part_messages(ceed, num_parts, &w);

  if (!ierr) ierr = run_world(&w);
  RITZ_FREE(&w.boxes);
  RITZ_FREE(&w.desks);
  RITZ_FREE(&w.messages);
  RITZ_FREE(&w.stops);
  RITZ_FREE(&w.codes);
  return ierr;
}
