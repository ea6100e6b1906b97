// SPDX-License-Identifier: BSD-2-Clause
// Packed data of vectors: the order, what becomes of the host's array, locks, failures. That a program cannot
// tell a vector that was packed from one that was not is shown with twins on random calls.
#include "core/packing.h"
#include "tests/small-operator.h"
#include "tests/tap.h"

#include <stdlib.h>

// ---- Short forms ----

static const char *const ref = "/cpu/self/ref";

enum { NUM_ELEM = 5, NUM_NODES = 3, NUM_COMP = 2, LENGTH = 30 };

// Orders of LENGTH entries; the first NUM_DENSE hold all of them.
enum { NUM_DENSE = 5, NUM_PACKINGS = 7 };
static const RitzPacking packings[NUM_PACKINGS] = {
    {NUM_ELEM, NUM_NODES, NUM_COMP, 4, {1, NUM_NODES, NUM_NODES *NUM_COMP}},
    {NUM_ELEM, NUM_NODES, NUM_COMP, 4, {NUM_COMP, 1, NUM_NODES *NUM_COMP}}, // of the same size
    {NUM_ELEM, NUM_NODES, NUM_COMP, 8, {1, NUM_NODES *NUM_ELEM, NUM_NODES}},
    {NUM_ELEM, NUM_NODES, NUM_COMP, 1, {NUM_ELEM * NUM_COMP, NUM_ELEM, 1}},
    {LENGTH, 1, 1, 16, {0, 0, 1}},
    {NUM_ELEM - 1, NUM_NODES, NUM_COMP, 2, {1, NUM_NODES, NUM_NODES *NUM_COMP}}, // the end is left out
    {NUM_ELEM, NUM_NODES, 1, 4, {2, 0, NUM_NODES * 2}},                          // every other entry
};

static const CeedScalar *numbers(void) { // 1, 2, 3 ...
  static CeedScalar values[LENGTH];
  for (int i = 0; i < LENGTH; i++) values[i] = (CeedScalar)(i + 1);
  return values;
}

// The definition of the order, entry by entry.
static bool packed_holds(const RitzPacking *p, const CeedScalar *packed, const CeedScalar *host) {
  for (int64_t b = 0; b < ritz_packing_num_batches(p); b++) {
    for (int64_t c = 0; c < p->num_comp; c++) {
      for (int64_t n = 0; n < p->num_nodes; n++) {
        for (int64_t l = 0; l < p->lanes; l++) {
          int64_t e = b * p->lanes + l < p->num_elem ? b * p->lanes + l : p->num_elem - 1;
          CeedScalar wanted = host[n * p->strides[0] + c * p->strides[1] + e * p->strides[2]];
          CeedScalar found = packed[((b * p->num_comp + c) * p->num_nodes + n) * p->lanes + l];
          if (memcmp(&found, &wanted, sizeof(found))) return false;
        }
      }
    }
  }
  return true;
}

static bool packs_as(CeedVector vec, const RitzPacking *p, const CeedScalar *host) {
  const CeedScalar *packed = NULL;
  if (ritz_vector_get_packed(vec, p, (const void **)&packed)) return false;
  bool holds = packed_holds(p, packed, host);
  return !ritz_vector_restore_packed(vec, (const void **)&packed) && !packed && holds;
}

static const RitzRep *rep(CeedVector vec, RitzRepKind kind) { return &vec->storage.rep[kind]; }

static bool has_counts(CeedVector vec, int64_t wanted_packs, int64_t wanted_unpacks) {
  const int64_t packs = vec->storage.packed.num_packs, unpacks = vec->storage.packed.num_unpacks;
  if (packs == wanted_packs && unpacks == wanted_unpacks) return true;
  tap_note("packed %d times, converted back %d times", (int)packs, (int)unpacks);
  return false;
}

// ---- The loops ----

enum { MAX_ENTRIES = 40000, GUARD = 16 };

// Axes in random order, with a gap behind some.
static RitzPacking random_packing(uint64_t *state) {
  static const CeedInt lanes[] = {1, 2, 4, 8, 16};
  CeedInt extents[3] = {(CeedInt)tap_integer(state, 30) + 1, (CeedInt)tap_integer(state, 4) + 1,
                        (CeedInt)tap_integer(state, 40) + 1};
  RitzPacking p = {.lanes = lanes[tap_integer(state, 5)]};
  int axes[3] = {0, 1, 2};
  int64_t next = 1;

  for (int k = 0; k < 3; k++) {
    int other = k + (int)tap_integer(state, 3 - k), axis = axes[other];
    axes[other] = axes[k];
    p.strides[axis] = next;
    next = next * extents[axis] + (tap_integer(state, 4) == 0 ? tap_integer(state, 3) : 0);
  }
  p.num_nodes = extents[0], p.num_comp = extents[1], p.num_elem = extents[2];
  return p;
}

static bool is_untouched(const CeedScalar *values, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++) {
    if (values[i] != -1) return false;
  }
  return true;
}

TEST(packing_and_unpacking_are_inverse_on_any_layout) {
  const int num_runs = tap_level() == TAP_QUICK ? 300 : 10000;
  static CeedScalar host[MAX_ENTRIES], packed[MAX_ENTRIES], back[MAX_ENTRIES], covered[MAX_ENTRIES];

  for (int run = 0; run < num_runs; run++) {
    uint64_t state = (uint64_t)run;
    RitzPacking p = random_packing(&state);
    int64_t num_batches = ritz_packing_num_batches(&p), split = tap_integer(&state, num_batches + 1);
    int64_t length = ritz_packing_length(&p), batch = (int64_t)p.num_nodes * p.num_comp * p.lanes;
    CHECK(length + GUARD <= MAX_ENTRIES && num_batches * batch + GUARD <= MAX_ENTRIES, "run %d", run);
    for (int64_t i = 0; i < MAX_ENTRIES; i++) {
      host[i] = (CeedScalar)(i + 1);
      packed[i] = back[i] = covered[i] = -1;
    }
    for (int64_t e = 0; e < p.num_elem; e++) {
      for (int64_t c = 0; c < p.num_comp; c++) {
        for (int64_t n = 0; n < p.num_nodes; n++) {
          int64_t at = n * p.strides[0] + c * p.strides[1] + e * p.strides[2];
          covered[at] = host[at];
        }
      }
    }
    ritz_pack(&p, sizeof(CeedScalar), host, packed, split, num_batches);
    CHECK(is_untouched(packed, 0, split * batch), "run %d: batches that were not asked for", run);
    ritz_pack(&p, sizeof(CeedScalar), host, packed, 0, split);
    CHECK(packed_holds(&p, packed, host), "run %d: order", run);
    CHECK(is_untouched(packed, num_batches * batch, num_batches * batch + GUARD), "run %d: the end", run);
    ritz_unpack(&p, sizeof(CeedScalar), back, packed, 0, split);
    ritz_unpack(&p, sizeof(CeedScalar), back, packed, split, num_batches);
    CHECK(!memcmp(back, covered, sizeof(back)), "run %d: converted back", run);
  }
}

// ---- The host's array ----

TEST(packed_data_take_the_place_of_the_hosts_array) {
  Ceed ceed = tap_ceed(ref);

  for (int k = 0; k < NUM_DENSE; k++) {
    CeedVector vec = vector_of(ceed, LENGTH, numbers());
    const int64_t live = ritz_memory_live();
    const uint64_t state = vec->state;
    CHECK(packs_as(vec, &packings[k], numbers()), "order %d", k);
    CHECK(ritz_memory_live() == live, "order %d: memory has grown", k);
    CHECK(!rep(vec, RITZ_REP_HOST)->owned && rep(vec, RITZ_REP_PACKED)->owned, "order %d", k);
    CHECK(packs_as(vec, &packings[k], numbers()) && has_counts(vec, 1, 0), "order %d: not again", k);
    CHECK(vec->state == state, "order %d: the data have not changed", k);

    // Wanted once, the array is kept.
    for (int time = 0; time < 2; time++) {
      CHECK(vector_holds(vec, LENGTH, numbers()), "order %d", k);
      CHECK(packs_as(vec, &packings[k], numbers()), "order %d", k);
      CHECK(ritz_memory_live() == live + 1 && rep(vec, RITZ_REP_HOST)->valid, "order %d: both are kept", k);
      CHECK(has_counts(vec, 1, 1) && vec->state == state, "order %d: nothing to convert", k);
    }
    CHECK_OK(CeedVectorDestroy(&vec));
  }
  CHECK_OK(CeedDestroy(&ceed));
}

TEST(data_that_change_between_the_applies_keep_both_arrays) {
  Ceed ceed = tap_ceed(ref);
  CeedVector vec = vector_of(ceed, LENGTH, numbers());
  CeedScalar *array;

  CHECK(packs_as(vec, &packings[0], numbers()), "first");
  for (int time = 1; time < 4; time++) {
    CHECK_OK(CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &array));
    for (int i = 0; i < LENGTH; i++) array[i] = numbers()[i];
    CHECK(!rep(vec, RITZ_REP_PACKED)->valid, "writing makes packed data stale");
    CHECK_OK(CeedVectorRestoreArray(vec, &array));
    CHECK(packs_as(vec, &packings[0], numbers()) && has_counts(vec, 1 + time, 0), "time %d", time);
    CHECK(rep(vec, RITZ_REP_HOST)->owned && rep(vec, RITZ_REP_HOST)->valid, "time %d", time);
  }
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK_OK(CeedDestroy(&ceed));
}

TEST(an_array_that_packed_data_do_not_cover_stays) {
  Ceed ceed = tap_ceed(ref);
  CeedVector vec = vector_of(ceed, LENGTH, numbers());

  for (int k = NUM_DENSE; k < NUM_PACKINGS; k++) {
    CHECK(packs_as(vec, &packings[k], numbers()), "order %d", k);
    CHECK(rep(vec, RITZ_REP_HOST)->owned && rep(vec, RITZ_REP_HOST)->valid, "order %d", k);
  }
  CHECK(vector_holds(vec, LENGTH, numbers()) && has_counts(vec, 2, 0), "values");
  CHECK_OK(CeedVectorDestroy(&vec));

  vec = vector_of(ceed, LENGTH + 1, NULL); // one entry beyond the last element
  CHECK_OK(CeedVectorSetValue(vec, 3));
  CHECK_OK(CeedVectorSetValueStrided(vec, 0, LENGTH, 1, 2));
  CHECK(packs_as(vec, &packings[0], rep(vec, RITZ_REP_HOST)->owned), "longer vector");
  CHECK(rep(vec, RITZ_REP_HOST)->owned, "the last entry is nowhere else");
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK_OK(CeedDestroy(&ceed));
}

TEST(the_callers_array_is_neither_freed_nor_written) {
  Ceed ceed = tap_ceed(ref);
  CeedVector vec = vector_of(ceed, LENGTH, NULL);
  CeedScalar mine[LENGTH], *taken = NULL;
  bool has_data = true;

  memcpy(mine, numbers(), sizeof(mine));
  CHECK_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, mine));
  CHECK(packs_as(vec, &packings[0], numbers()), "packed");
  CHECK(packs_as(vec, &packings[2], numbers()), "in another order");
  CHECK(rep(vec, RITZ_REP_HOST)->borrowed == mine && has_counts(vec, 2, 0), "still used");
  CHECK_OK(CeedVectorTakeArray(vec, CEED_MEM_HOST, &taken));
  CHECK(taken == mine && !memcmp(mine, numbers(), sizeof(mine)), "given back as it was");
  CHECK_OK(CeedVectorHasValidArray(vec, &has_data));
  CHECK(!has_data, "what was taken is still there");
  mine[0] = 5;
  CHECK_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, mine));
  CHECK(packs_as(vec, &packings[2], mine), "the new values");
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK(mine[0] == 5 && mine[1] == 2, "%g", (double)mine[1]);
  CHECK_OK(CeedDestroy(&ceed));
}

// An array that is handed over belongs to the library, which may free it.
TEST(an_array_handed_over_is_replaced_too) {
  Ceed ceed = tap_ceed(ref);
  CeedVector vec = vector_of(ceed, LENGTH, NULL);

  CHECK_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_OWN_POINTER,
                              duplicate(numbers(), LENGTH * sizeof(CeedScalar))));
  CHECK(packs_as(vec, &packings[1], numbers()) && !rep(vec, RITZ_REP_HOST)->owned, "not freed");
  CHECK_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_OWN_POINTER,
                              duplicate(numbers(), LENGTH * sizeof(CeedScalar))));
  CHECK(vector_holds(vec, LENGTH, numbers()) && has_counts(vec, 1, 0), "values");
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK_OK(CeedDestroy(&ceed));
}

TEST(another_order_replaces_the_first) {
  Ceed ceed = tap_ceed(ref);
  CeedVector vec = vector_of(ceed, LENGTH, numbers());
  const int64_t live = ritz_memory_live();

  for (int k = 0; k < NUM_PACKINGS; k++) {
    CHECK(packs_as(vec, &packings[k], numbers()), "order %d", k);
    CHECK(ritz_memory_live() <= live + 1, "order %d: more than one packed copy", k);
  }
  CHECK(has_counts(vec, NUM_PACKINGS, 1), "counts");
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK_OK(CeedDestroy(&ceed));
}

TEST(orders_that_differ_in_one_number_are_two) {
  static const RitzPacking orders[] = {{5, 3, 2, 4, {1, 3, 6}}, {4, 3, 2, 4, {1, 3, 6}},
                                       {5, 2, 2, 4, {1, 3, 6}}, {5, 3, 1, 4, {1, 3, 6}},
                                       {5, 3, 2, 8, {1, 3, 6}}, {5, 3, 2, 4, {2, 3, 6}},
                                       {5, 3, 2, 4, {1, 2, 6}}, {5, 3, 2, 4, {1, 3, 5}}};
  Ceed ceed = tap_ceed(ref);
  CeedScalar values[2 * LENGTH];
  for (int i = 0; i < 2 * LENGTH; i++) values[i] = (CeedScalar)i;
  CeedVector vec = vector_of(ceed, 2 * LENGTH, values);

  for (int k = 1; k < 8; k++) {
    CHECK(packs_as(vec, &orders[0], values), "before order %d", k);
    CHECK(packs_as(vec, &orders[k], values), "order %d", k);
  }
  CHECK(has_counts(vec, 14, 0), "counts");
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK_OK(CeedDestroy(&ceed));
}

TEST(packed_data_are_aligned) {
  const CeedInt num_elem = 1 << 20;
  const RitzPacking large = {num_elem, 1, 1, 8, {1, 1, 1}};
  Ceed ceed = tap_ceed(ref);
  CeedVector vec = vector_of(ceed, num_elem, NULL), small = vector_of(ceed, LENGTH, numbers());
  const CeedScalar *packed;
  CeedScalar norm = 0;

  CHECK_OK(CeedVectorSetValue(vec, 1));
  CHECK_OK(ritz_vector_get_packed(vec, &large, (const void **)&packed));
  CHECK((uintptr_t)packed % (1 << 21) == 0, "%p is not on a large page", (const void *)packed);
  CHECK(packed[0] == 1 && packed[num_elem - 1] == 1, "values");
  CHECK_OK(ritz_vector_restore_packed(vec, (const void **)&packed));
  CHECK_OK(CeedVectorNorm(vec, CEED_NORM_1, &norm));
  CHECK(norm == (CeedScalar)num_elem, "%g", (double)norm);
  CHECK_OK(ritz_vector_get_packed(small, &packings[0], (const void **)&packed));
  CHECK((uintptr_t)packed % 64 == 0, "%p", (const void *)packed);
  CHECK_OK(ritz_vector_restore_packed(small, (const void **)&packed));
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK_OK(CeedVectorDestroy(&small));
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- Locks ----

TEST(a_reader_of_packed_data_keeps_writers_out) {
  Ceed ceed = tap_ceed(ref);
  CeedVector vec = vector_of(ceed, LENGTH, numbers()), same = vec, other = vector_of(ceed, LENGTH, numbers());
  const CeedScalar *packed, *again, *none = NULL, *read;
  CeedScalar *array;

  CHECK_ERROR(ceed, ritz_vector_restore_packed(vec, (const void **)&none), CEED_ERROR_ACCESS, "not granted");
  CHECK_OK(ritz_vector_get_packed(vec, &packings[0], (const void **)&packed));
  CHECK_ERROR(ceed, CeedVectorGetArray(vec, CEED_MEM_HOST, &array), CEED_ERROR_ACCESS, "read access");
  CHECK_ERROR(ceed, CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &array), CEED_ERROR_ACCESS, "read access");
  CHECK_ERROR(ceed, CeedVectorSetValue(vec, 1), CEED_ERROR_ACCESS, "read access");
  CHECK_ERROR(ceed, CeedVectorCopy(other, vec), CEED_ERROR_ACCESS, "read access");
  CHECK_ERROR(ceed, CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_COPY_VALUES, NULL), CEED_ERROR_ACCESS,
              "read access");
  CHECK_ERROR(ceed, CeedVectorDestroy(&same), CEED_ERROR_ACCESS, "read access");
  CHECK_ERROR(ceed, CeedVectorRestoreArrayRead(vec, &none), CEED_ERROR_ACCESS, "not granted");
  CHECK_ERROR(ceed, ritz_vector_get_packed(vec, &packings[1], (const void **)&again), CEED_ERROR_ACCESS,
              "packed order");

  // Readers of both kinds at the same time.
  CHECK_OK(ritz_vector_get_packed(vec, &packings[0], (const void **)&again));
  CHECK(again == packed, "two copies in one order");
  CHECK_OK(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &read));
  CHECK(!memcmp(read, numbers(), LENGTH * sizeof(*read)), "the host's reader");
  CHECK_OK(ritz_vector_restore_packed(vec, (const void **)&again));
  CHECK_OK(ritz_vector_restore_packed(vec, (const void **)&packed));
  CHECK_ERROR(ceed, ritz_vector_restore_packed(vec, (const void **)&none), CEED_ERROR_ACCESS, "not granted");
  CHECK_ERROR(ceed, CeedVectorSetValue(vec, 1), CEED_ERROR_ACCESS, "read access");
  CHECK_OK(CeedVectorRestoreArrayRead(vec, &read));
  CHECK_OK(CeedVectorSetValue(vec, 1)); // everybody is out
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK_OK(CeedVectorDestroy(&other));
  CHECK_OK(CeedDestroy(&ceed));
}

TEST(a_writer_keeps_readers_of_packed_data_out) {
  Ceed ceed = tap_ceed(ref);
  CeedVector vec = vector_of(ceed, LENGTH, numbers());
  const CeedScalar *packed = NULL;
  CeedScalar *array;

  CHECK_OK(CeedVectorGetArray(vec, CEED_MEM_HOST, &array));
  CHECK_ERROR(ceed, ritz_vector_get_packed(vec, &packings[0], (const void **)&packed), CEED_ERROR_ACCESS,
              "access lock");
  CHECK_OK(CeedVectorRestoreArray(vec, &array));
  CHECK(packs_as(vec, &packings[0], numbers()), "afterwards");
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK_OK(CeedDestroy(&ceed));
}

TEST(a_product_that_is_refused_leaves_a_packed_vector_alone) {
  Ceed ceed = tap_ceed(ref);
  CeedVector vec = vector_of(ceed, LENGTH, numbers()), factor = vector_of(ceed, LENGTH, numbers());
  CeedScalar *array;

  CHECK(packs_as(vec, &packings[0], numbers()), "packed");
  CHECK_OK(CeedVectorGetArray(factor, CEED_MEM_HOST, &array));
  CHECK_ERROR(ceed, CeedVectorPointwiseMult(vec, factor, factor), CEED_ERROR_ACCESS, "access lock");
  CHECK_OK(CeedVectorRestoreArray(factor, &array));
  CHECK(vector_holds(vec, LENGTH, numbers()), "values");
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK_OK(CeedVectorDestroy(&factor));
  CHECK_OK(CeedDestroy(&ceed));
}

TEST(an_array_that_is_being_read_is_not_freed) {
  Ceed ceed = tap_ceed(ref);
  CeedVector vec = vector_of(ceed, LENGTH, numbers());
  const CeedScalar *read;

  CHECK_OK(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &read));
  CHECK(packs_as(vec, &packings[0], numbers()), "packed");
  CHECK(rep(vec, RITZ_REP_HOST)->owned == read && read[LENGTH - 1] == LENGTH, "the reader's array");
  CHECK_OK(CeedVectorRestoreArrayRead(vec, &read));
  CHECK(packs_as(vec, &packings[0], numbers()) && has_counts(vec, 1, 0), "packed before");
  CHECK(!rep(vec, RITZ_REP_HOST)->owned, "nobody reads it any more");
  CHECK(vector_holds(vec, LENGTH, numbers()), "values");
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK_OK(CeedDestroy(&ceed));
}

TEST(data_that_are_missing_or_too_short_cannot_be_packed) {
  Ceed ceed = tap_ceed(ref);
  CeedVector empty = vector_of(ceed, LENGTH, NULL), shorter = vector_of(ceed, LENGTH - 1, numbers());
  const CeedScalar *packed = NULL;

  CHECK_ERROR(ceed, ritz_vector_get_packed(empty, &packings[0], (const void **)&packed), CEED_ERROR_BACKEND,
              "no valid data");
  CHECK_ERROR(ceed, ritz_vector_get_packed(shorter, &packings[0], (const void **)&packed),
              CEED_ERROR_INCOMPATIBLE, "29 entries, needed 30");
  CHECK(vector_holds(shorter, LENGTH - 1, numbers()), "values");
  CHECK_OK(CeedVectorDestroy(&empty));
  CHECK_OK(CeedVectorDestroy(&shorter));
  CHECK_OK(CeedDestroy(&ceed));
}

TEST(nothing_can_be_packed) {
  const RitzPacking none = {0, NUM_NODES, NUM_COMP, 8, {1, NUM_NODES, NUM_NODES * NUM_COMP}};
  Ceed ceed = tap_ceed(ref);
  CeedVector empty = vector_of(ceed, 0, NULL), vec = vector_of(ceed, LENGTH, numbers());
  const CeedScalar *packed = numbers();

  CHECK_OK(ritz_vector_get_packed(empty, &none, (const void **)&packed));
  CHECK(!packed, "an array without entries");
  CHECK_ERROR(ceed, CeedVectorSetValue(empty, 1), CEED_ERROR_ACCESS, "read access");
  CHECK_OK(ritz_vector_restore_packed(empty, (const void **)&packed));
  CHECK(packs_as(vec, &none, numbers()) && packs_as(vec, &packings[0], numbers()), "no elements, then some");
  CHECK(packs_as(vec, &none, numbers()) && vector_holds(vec, LENGTH, numbers()), "and none again");
  CHECK_OK(CeedVectorDestroy(&empty));
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- Running out of memory ----

enum { NUM_FAULT_STEPS = 8 };

// Uses the vector in all the ways that allocate.
static int fault_step(CeedVector vec, int step, const CeedScalar *values) {
  static const int order[NUM_FAULT_STEPS] = {0, -1, 2, 3, -1, 1, -1, 5};
  const CeedScalar *array = NULL;
  bool holds = true;
  int ierr;

  if (order[step] >= 0) {
    ierr = ritz_vector_get_packed(vec, &packings[order[step]], (const void **)&array);
    if (!ierr) holds = packed_holds(&packings[order[step]], array, values);
    if (!ierr) ierr = ritz_vector_restore_packed(vec, (const void **)&array);
  } else {
    ierr = CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &array);
    if (!ierr) holds = !memcmp(array, values, LENGTH * sizeof(*values));
    if (!ierr) ierr = CeedVectorRestoreArrayRead(vec, &array);
  }
  return holds ? ierr : CEED_ERROR_BACKEND;
}

// Every call that fails is made again.
TEST(a_vector_keeps_its_values_when_memory_runs_out) {
  Ceed ceed = tap_ceed(ref);
  int num_failures = 0;
  bool has_failed = true;

  for (int n = 1; has_failed; n++) {
    CeedVector vec = vector_of(ceed, LENGTH, numbers());
    const uint64_t state = vec->state;
    has_failed = false;
    ritz_memory_fail_at(n);
    for (int step = 0; step < NUM_FAULT_STEPS; step++) {
      int code = fault_step(vec, step, numbers());
      CHECK(!code || (code == CEED_ERROR_MAJOR && !has_failed), "allocation %d, step %d: %d", n, step, code);
      if (code && step > 0) CHECK_OK(fault_step(vec, step - 1, numbers())); // what was there before
      if (code) CHECK_OK(fault_step(vec, step, numbers()));
      if (code) num_failures++, has_failed = true;
    }
    ritz_memory_fail_at(0);
    CHECK(vec->state == state, "allocation %d", n);
    CHECK_OK(CeedVectorSetValue(vec, 1)); // nobody has it locked
    CHECK_OK(CeedVectorDestroy(&vec));
  }
  CHECK(num_failures > 4, "%d allocations", num_failures);
  CHECK_OK(CeedDestroy(&ceed));
}

// Also when the array that is to be written has to be made again.
TEST(a_packed_vector_survives_a_write_that_gets_no_memory) {
  Ceed ceed = tap_ceed(ref);
  CeedScalar *array, norm;

  for (int call = 0; call < 4; call++) {
    CeedVector vec = vector_of(ceed, LENGTH, numbers());
    CHECK(packs_as(vec, &packings[0], numbers()), "call %d", call);
    ritz_memory_fail_at(1);
    int code = call == 0   ? CeedVectorSetValue(vec, 1)
               : call == 1 ? CeedVectorGetArray(vec, CEED_MEM_HOST, &array)
               : call == 2
                   ? CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_COPY_VALUES, (CeedScalar *)numbers() + 1)
                   : CeedVectorNorm(vec, CEED_NORM_2, &norm);
    ritz_memory_fail_at(0);
    CHECK(code == CEED_ERROR_MAJOR, "call %d: %d", call, code);
    CHECK(packs_as(vec, &packings[0], numbers()) && has_counts(vec, 1, 0), "call %d: still packed", call);
    CHECK(!rep(vec, RITZ_REP_HOST)->owned, "call %d: and nowhere else", call);
    CHECK(vector_holds(vec, LENGTH, numbers()), "call %d: values", call);
    CHECK_OK(CeedVectorDestroy(&vec));
  }
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- Other memory, operators ----

TEST(packed_data_reach_a_device_through_the_host) {
  Ceed ceed = tap_ceed("/cpu/self/check:mem=device");
  CeedVector vec = vector_of(ceed, LENGTH, NULL);
  const CeedScalar *read;
  CeedScalar *array, norm = 0;

  CHECK_OK(CeedVectorGetArrayWrite(vec, CEED_MEM_DEVICE, &array)); // the device is emulated
  memcpy(array, numbers(), LENGTH * sizeof(*array));
  CHECK_OK(CeedVectorRestoreArray(vec, &array));
  CHECK(packs_as(vec, &packings[0], numbers()) && rep(vec, RITZ_REP_DEVICE)->valid, "from the device");

  CHECK_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_COPY_VALUES, (CeedScalar *)numbers()));
  CHECK(packs_as(vec, &packings[2], numbers()), "from the host");
  CHECK(!rep(vec, RITZ_REP_DEVICE)->valid, "the device's values are old");
  CHECK_OK(CeedVectorGetArrayRead(vec, CEED_MEM_DEVICE, &read));
  CHECK(!memcmp(read, numbers(), LENGTH * sizeof(*read)), "to the device");
  CHECK_OK(CeedVectorRestoreArrayRead(vec, &read));
  CHECK_OK(CeedVectorNorm(vec, CEED_NORM_1, &norm));
  CHECK(norm == LENGTH * (LENGTH + 1) / 2, "%g", (double)norm);
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK_OK(CeedDestroy(&ceed));
}

// A value goes where the data are, and packed data are the host's.
TEST(setting_a_value_treats_packed_data_like_the_hosts) {
  Ceed ceed = tap_ceed("/cpu/self/check:mem=device");
  CeedVector vec = vector_of(ceed, LENGTH, numbers());

  CHECK(packs_as(vec, &packings[0], numbers()) && !rep(vec, RITZ_REP_HOST)->valid, "packed");
  CHECK_OK(CeedVectorSetValue(vec, 2));
  CHECK(rep(vec, RITZ_REP_HOST)->valid && !rep(vec, RITZ_REP_DEVICE)->valid, "on the host");
  CHECK_HOLDS(vec, 2, 2, 2);
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- Packed by an operator ----

// A copy of data at points, to new ones, whose layout is the backend's; that of `in` is the same, as numbers.
static int create_copy(Ceed ceed, CeedInt num_elem, CeedVector in, CeedVector *out, CeedOperator *op) {
  const CeedSize length = (CeedSize)num_elem * NUM_NODES * NUM_COMP;
  CeedElemRestriction from = NULL, to = NULL;
  CeedQFunction qf = NULL;
  CeedInt layout[3] = {0};
  int ierr = CeedElemRestrictionCreateStrided(ceed, num_elem, NUM_NODES, NUM_COMP, length,
                                              CEED_STRIDES_BACKEND, &to);

  if (!ierr) ierr = CeedElemRestrictionGetELayout(to, layout);
  if (!ierr)
    ierr = CeedElemRestrictionCreateStrided(ceed, num_elem, NUM_NODES, NUM_COMP, length, layout, &from);
  if (!ierr) ierr = CeedQFunctionCreateIdentity(ceed, NUM_COMP, CEED_EVAL_NONE, CEED_EVAL_NONE, &qf);
  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, op);
  if (!ierr) ierr = CeedOperatorSetField(*op, "input", from, CEED_BASIS_NONE, in);
  if (!ierr) ierr = CeedOperatorSetField(*op, "output", to, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedVectorCreate(ceed, length, out);
  CeedElemRestrictionDestroy(&from);
  CeedElemRestrictionDestroy(&to);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

static bool holds_multiple(CeedVector vec, CeedScalar factor, const CeedScalar *wanted, CeedInt n) {
  const CeedScalar *array = NULL;
  bool holds = true;

  if (CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &array)) return false;
  for (CeedInt i = 0; i < n; i++) holds = holds && array[i] == factor * wanted[i];
  return !CeedVectorRestoreArrayRead(vec, &array) && holds;
}

// A whole batch and a part of one; less than a batch. The program sees numbers in the layout that it was
// told.
TEST_EACH_BACKEND(an_output_whose_layout_is_the_backends_holds_what_was_written) {
  static CeedScalar values[100 * NUM_NODES * NUM_COMP];
  static const CeedInt nums[] = {19, 2};

  for (int i = 0; i < (int)(sizeof(values) / sizeof(values[0])); i++) values[i] = (CeedScalar)(i + 1);
  for (int k = 0; k < 2; k++) {
    const CeedInt length = nums[k] * NUM_NODES * NUM_COMP;
    CeedVector in = NULL, out = NULL;
    CeedOperator op = NULL;

    CHECK_OK(create_copy(ceed, nums[k], CEED_VECTOR_ACTIVE, &out, &op));
    CHECK_OK(CeedVectorCreate(ceed, length, &in));
    CHECK_OK(CeedVectorSetArray(in, CEED_MEM_HOST, CEED_COPY_VALUES, values));
    CHECK_OK(CeedOperatorApply(op, in, out, CEED_REQUEST_IMMEDIATE));
    CHECK_OK(CeedOperatorApply(op, in, out, CEED_REQUEST_IMMEDIATE)); // into the memory of the first
    CHECK_OK(CeedOperatorApplyAdd(op, in, out, CEED_REQUEST_IMMEDIATE));
    CHECK(holds_multiple(out, 2, values, length), "after adding");
    CHECK_OK(CeedOperatorApply(op, in, out, CEED_REQUEST_IMMEDIATE));
    CHECK(holds_multiple(out, 1, values, length), "written anew");
    CHECK_OK(CeedVectorDestroy(&in));
    CHECK_OK(CeedVectorDestroy(&out));
    CHECK_OK(CeedOperatorDestroy(&op));
  }
}

// So that what kernels alone write and read is never converted, and has one array.
TEST(an_output_whose_layout_is_the_backends_is_packed_at_once) {
  Ceed ceed = tap_ceed("/cpu/self/gen");
  CeedVector in = NULL, between = NULL, out = NULL;
  CeedOperator first = NULL, second = NULL;

  CHECK_OK(create_copy(ceed, 19, CEED_VECTOR_ACTIVE, &between, &first));
  CHECK_OK(create_copy(ceed, 19, between, &out, &second));
  CHECK_OK(CeedVectorCreate(ceed, between->length, &in));
  CHECK_OK(CeedVectorSetValue(in, 3));
  CHECK_OK(CeedOperatorApply(first, in, between, CEED_REQUEST_IMMEDIATE));
  CHECK(has_counts(between, 0, 0) && !rep(between, RITZ_REP_HOST)->owned, "not packed");
  CHECK(rep(between, RITZ_REP_PACKED)->valid, "not packed");
  CHECK_OK(CeedOperatorApply(second, CEED_VECTOR_NONE, out, CEED_REQUEST_IMMEDIATE));
  CHECK(has_counts(between, 0, 0) && !rep(between, RITZ_REP_HOST)->owned, "converted by a reader");
  // Who has asked for the host's array gets it.
  const CeedScalar *array = NULL;
  CHECK_OK(CeedVectorGetArrayRead(out, CEED_MEM_HOST, &array));
  CHECK(array[17] == 3, "%g", (double)array[17]);
  CHECK_OK(CeedVectorRestoreArrayRead(out, &array));
  CHECK_OK(CeedOperatorApply(second, CEED_VECTOR_NONE, out, CEED_REQUEST_IMMEDIATE));
  CHECK(rep(out, RITZ_REP_HOST)->valid && !rep(out, RITZ_REP_PACKED)->valid,
        "the host's array is not written");
  CHECK_OK(CeedVectorDestroy(&in));
  CHECK_OK(CeedVectorDestroy(&between));
  CHECK_OK(CeedVectorDestroy(&out));
  CHECK_OK(CeedOperatorDestroy(&first));
  CHECK_OK(CeedOperatorDestroy(&second));
  CeedDestroy(&ceed);
}

TEST_EACH_BACKEND(an_operator_reads_packed_data) {
  const RitzPacking p = {SMALL_ELEM, SMALL_Q, 1, 8, {1, SMALL_Q, SMALL_Q}};
  Small s;

  SMALL_OPEN(ceed, &s);
  CHECK(packs_as(s.qd, &p, small_qd), "packed");
  SMALL_CHECK_WORKS(&s);
  CHECK(packs_as(s.qd, &p, small_qd), "still the same");
  SMALL_CHECK_WORKS(&s);
  small_close(&s);
}

// ---- Twins: the same random calls, one of the two packs where the other reads ----

enum { NUM_STEPS = 60 };

enum {
  SET_COPY,
  SET_USE,
  SET_OWN,
  TAKE,
  SYNC,
  READ,
  END_READ,
  GET,
  WRITE,
  END_WRITE,
  VALUE,
  VALUE_STRIDED,
  COPY,
  COPY_STRIDED,
  NORM,
  SCALE,
  FILTER,
  AXPY,
  AXPBY,
  MULT,
  RECIPROCAL,
  VIEW,
  REFERENCE,
  PACK, // more often than others
  PACK_2,
  PACK_3,
  END_PACK,
  END_PACK_2,
  NUM_CALLS
};

typedef struct {
  int call, v; // of the vectors 0 and 1
  int x, y, packing;
  CeedScalar a, b, fresh[LENGTH];
  CeedSize start, stop, step;
} Step;

typedef struct {
  CeedScalar mine[LENGTH], *array; // array: lent for writing
  const CeedScalar *reads[NUM_STEPS], *packs[NUM_STEPS];
  int num_reads, num_packs, packing; // packing: of those in packs
} Loans;

typedef struct {
  bool packs;
  CeedVector vec[2];
  Loans loans[2];
} Side;

static Step random_step(uint64_t *state) {
  Step s = {.call = (int)tap_integer(state, NUM_CALLS), .v = tap_integer(state, 4) == 0};
  s.x = (int)tap_integer(state, 2), s.y = (int)tap_integer(state, 2);
  s.packing = (int)tap_integer(state, NUM_PACKINGS);
  s.start = tap_integer(state, LENGTH), s.stop = s.start + tap_integer(state, LENGTH + 1 - s.start);
  s.step = 1 + tap_integer(state, 5);
  s.a = (CeedScalar)tap_uniform(state), s.b = (CeedScalar)tap_uniform(state);
  for (int i = 0; i < LENGTH; i++) s.fresh[i] = (CeedScalar)tap_uniform(state);
  return s;
}

static uint64_t hash(const void *bytes, size_t n) { // FNV-1a
  uint64_t h = UINT64_C(14695981039346656037);
  for (size_t i = 0; i < n; i++) h = (h ^ ((const unsigned char *)bytes)[i]) * UINT64_C(1099511628211);
  return h;
}

static uint64_t hash_array(const CeedScalar *array) { return hash(array, LENGTH * sizeof(*array)); }

static int set_array(CeedVector vec, Loans *l, const Step *s) {
  bool is_free = !l->array && !l->num_reads && !l->num_packs;
  if (s->call == SET_COPY) {
    return CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_COPY_VALUES, (CeedScalar *)s->fresh);
  }
  if (s->call == SET_USE) {
    if (is_free) memcpy(l->mine, s->fresh, sizeof(l->mine));
    return CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, l->mine);
  }
  CeedScalar *given = duplicate(s->fresh, sizeof(s->fresh));
  int code = CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_OWN_POINTER, given);
  if (code) free(given); // a refused array stays the caller's
  return code;
}

static int read_or_take(CeedVector vec, Loans *l, const Step *s, uint64_t *seen) {
  CeedScalar *taken = NULL;
  const CeedScalar *read = NULL;
  int code;

  switch (s->call) {
  case TAKE:
    code = CeedVectorTakeArray(vec, CEED_MEM_HOST, &taken);
    if (!code) *seen = taken == l->mine ? hash_array(taken) : 0;
    return code;
  case SYNC: return CeedVectorSyncArray(vec, CEED_MEM_HOST);
  case READ:
    code = CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &read);
    if (!code) *seen = hash_array(read), l->reads[l->num_reads++] = read;
    return code;
  default: // END_READ: a reader of packed data is not ended by it, which the twin cannot know
    if (l->num_packs && !l->num_reads) return CEED_ERROR_SUCCESS;
    code = CeedVectorRestoreArrayRead(vec, &l->reads[l->num_reads ? l->num_reads - 1 : 0]);
    if (!code) l->num_reads--;
    return code;
  }
}

static int write_or_end(CeedVector vec, Loans *l, const Step *s, uint64_t *seen) {
  CeedScalar *array = NULL;
  int code;

  if (s->call == END_WRITE) return CeedVectorRestoreArray(vec, &l->array);
  code = (s->call == GET ? CeedVectorGetArray : CeedVectorGetArrayWrite)(vec, CEED_MEM_HOST, &array);
  if (code) return code;
  l->array = array;
  if (s->call == GET) *seen = hash_array(array);
  for (int i = 0; i < LENGTH; i++) {
    if (s->call == WRITE || i % 3 == 0) array[i] = s->fresh[i];
  }
  return code;
}

// Packs, or reads; *array (the values as they are read, or packed) is for the comparison of the two.
static int pack_or_end(const Side *side, CeedVector vec, Loans *l, const Step *s) {
  const CeedScalar *array = NULL;
  int code;

  if (s->call >= END_PACK) {
    if (!l->num_packs) return CEED_ERROR_SUCCESS;
    const CeedScalar **last = &l->packs[--l->num_packs];
    return side->packs ? ritz_vector_restore_packed(vec, (const void **)last)
                       : CeedVectorRestoreArrayRead(vec, last);
  }
  if (!l->num_packs) l->packing = s->packing;
  code = side->packs ? ritz_vector_get_packed(vec, &packings[l->packing], (const void **)&array)
                     : CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &array);
  if (!code) l->packs[l->num_packs++] = array;
  return code;
}

static int view(CeedVector vec, const Step *s, uint64_t *seen) {
  Capture c;
  FILE *stream = capture_begin(&c);
  int code = s->x ? CeedVectorView(vec, "%.17g", stream)
                  : CeedVectorViewRange(vec, s->start, s->stop, (CeedInt)s->step, "%.17g", stream);
  fclose(c.stream);
  *seen = hash(c.text, c.size);
  free(c.text);
  return code;
}

static int compute(Side *side, const Step *s, uint64_t *seen) {
  CeedVector vec = side->vec[s->v], other = side->vec[!s->v], copy = NULL;
  CeedScalar norm = 0;
  int code;

  switch (s->call) {
  case VALUE: return CeedVectorSetValue(vec, s->a);
  case VALUE_STRIDED: return CeedVectorSetValueStrided(vec, s->start, s->stop, s->step, s->a);
  case COPY: return CeedVectorCopy(other, vec);
  case COPY_STRIDED: return CeedVectorCopyStrided(other, s->start, s->stop, s->step, vec);
  case NORM:
    code = CeedVectorNorm(vec, (CeedNormType)(s->x + s->y), &norm);
    *seen = hash(&norm, sizeof(norm));
    return code;
  case SCALE: return CeedVectorScale(vec, s->a);
  case FILTER: return CeedVectorFilter(vec, s->a / 2);
  case AXPY: return CeedVectorAXPY(vec, s->a, other);
  case AXPBY: return CeedVectorAXPBY(vec, s->a, s->b, other);
  case MULT: return CeedVectorPointwiseMult(vec, side->vec[s->x], side->vec[s->y]);
  case RECIPROCAL: return CeedVectorReciprocal(vec);
  case VIEW: return view(vec, s, seen);
  default: // REFERENCE: the copy takes the vector's place
    code = CeedVectorReferenceCopy(vec, &copy);
    if (!code) code = CeedVectorDestroy(&side->vec[s->v]);
    side->vec[s->v] = copy;
    return code;
  }
}

// *seen: what the call has shown of the values.
static int act(Side *side, const Step *s, uint64_t *seen) {
  CeedVector vec = side->vec[s->v];
  Loans *l = &side->loans[s->v];

  *seen = 0;
  switch (s->call) {
  case SET_COPY:
  case SET_USE:
  case SET_OWN: return set_array(vec, l, s);
  case TAKE:
  case SYNC:
  case READ:
  case END_READ: return read_or_take(vec, l, s, seen);
  case GET:
  case WRITE:
  case END_WRITE: return write_or_end(vec, l, s, seen);
  case PACK:
  case PACK_2:
  case PACK_3:
  case END_PACK:
  case END_PACK_2: return pack_or_end(side, vec, l, s);
  default: return compute(side, s, seen);
  }
}

// What can be seen without changing anything. Arrays that are lent hold the values until they are restored.
static bool look_alike(const Side *a, const Side *b, int v) {
  const Loans *x = &a->loans[v], *y = &b->loans[v];
  bool has[2], borrows[2];

  for (int k = 0; k < 2; k++) {
    CeedVector vec = (k ? b : a)->vec[v];
    if (CeedVectorHasValidArray(vec, &has[k])) return false;
    if (CeedVectorHasBorrowedArrayOfType(vec, CEED_MEM_HOST, &borrows[k])) return false;
  }
  if (has[0] != has[1] || borrows[0] != borrows[1] || a->vec[v]->state != b->vec[v]->state) return false;
  if (memcmp(x->mine, y->mine, sizeof(x->mine))) return false;
  if (x->num_reads != y->num_reads || x->num_packs != y->num_packs) return false;
  for (int i = 0; i < x->num_reads; i++) {
    if (hash_array(x->reads[i]) != hash_array(y->reads[i])) return false;
  }
  for (int i = 0; i < x->num_packs; i++) {
    if (!packed_holds(&packings[x->packing], x->packs[i], y->packs[i])) return false;
  }
  return true;
}

static int close_side(Side *side, uint64_t seen[2]) {
  int ierr = 0;
  for (int v = 0; v < 2; v++) {
    Loans *l = &side->loans[v];
    CeedVector vec = side->vec[v];
    if (l->array) ierr |= CeedVectorRestoreArray(vec, &l->array);
    while (l->num_reads) ierr |= read_or_take(vec, l, &(Step){.call = END_READ}, &seen[v]);
    while (l->num_packs) ierr |= pack_or_end(side, vec, l, &(Step){.call = END_PACK});
    view(vec, &(Step){.x = 1}, &seen[v]);
    ierr |= CeedVectorDestroy(&side->vec[v]);
  }
  return ierr;
}

TEST_EACH_BACKEND(a_program_cannot_tell_that_a_vector_was_packed) {
  const int num_runs = tap_level() == TAP_QUICK ? 400 : 20000;
  int64_t num_packs = 0, num_unpacks = 0;

  for (int run = 0; run < num_runs; run++) {
    uint64_t state = (uint64_t)run, seen[2][2];
    static Side side[2];
    for (int k = 0; k < 2; k++) {
      side[k] = (Side){.packs = k == 0};
      for (int v = 0; v < 2; v++) side[k].vec[v] = vector_of(ceed, LENGTH, v ? NULL : numbers());
    }
    for (int i = 0; i < NUM_STEPS; i++) {
      Step s = random_step(&state);
      int code[2];
      for (int k = 0; k < 2; k++) code[k] = act(&side[k], &s, &seen[k][0]);
      CHECK(code[0] == code[1], "run %d, step %d, call %d: %d, unpacked %d", run, i, s.call, code[0],
            code[1]);
      CHECK(seen[0][0] == seen[1][0], "run %d, step %d, call %d: values", run, i, s.call);
      for (int v = 0; v < 2; v++) {
        CHECK(look_alike(&side[0], &side[1], v), "run %d, step %d, call %d: vector %d", run, i, s.call, v);
      }
    }
    for (int v = 0; v < 2; v++) {
      num_packs += side[0].vec[v]->storage.packed.num_packs;
      num_unpacks += side[0].vec[v]->storage.packed.num_unpacks;
    }
    for (int k = 0; k < 2; k++) CHECK_OK(close_side(&side[k], seen[k]));
    for (int v = 0; v < 2; v++) CHECK(seen[0][v] == seen[1][v], "run %d: values of %d at the end", run, v);
  }
  CHECK(num_packs > num_runs && num_unpacks > num_runs / 10, "packed %d times, back %d times", (int)num_packs,
        (int)num_unpacks);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(an_output_whose_layout_is_the_backends_holds_what_was_written,
            an_output_whose_layout_is_the_backends_is_packed_at_once,
            packing_and_unpacking_are_inverse_on_any_layout, packed_data_take_the_place_of_the_hosts_array,
            data_that_change_between_the_applies_keep_both_arrays,
            an_array_that_packed_data_do_not_cover_stays, the_callers_array_is_neither_freed_nor_written,
            an_array_handed_over_is_replaced_too, another_order_replaces_the_first,
            orders_that_differ_in_one_number_are_two, packed_data_are_aligned,
            a_reader_of_packed_data_keeps_writers_out, a_writer_keeps_readers_of_packed_data_out,
            a_product_that_is_refused_leaves_a_packed_vector_alone, an_array_that_is_being_read_is_not_freed,
            data_that_are_missing_or_too_short_cannot_be_packed, nothing_can_be_packed,
            a_vector_keeps_its_values_when_memory_runs_out,
            a_packed_vector_survives_a_write_that_gets_no_memory, packed_data_reach_a_device_through_the_host,
            setting_a_value_treats_packed_data_like_the_hosts, an_operator_reads_packed_data,
            a_program_cannot_tell_that_a_vector_was_packed));
}
