// SPDX-License-Identifier: BSD-2-Clause
// CeedVector: its states (who owns which array, what is valid, who reads and writes), arithmetic on small
// vectors, misuse and what is left after it, views. A model of the standard's rules, run beside the library
// on random calls, covers the combinations that nobody thinks of.
#include "base/memory.h"
#include "tests/api.h"
#include "tests/tap.h"

#include <ceed/backend.h>
#include <math.h>

enum { N = 4 };

// ---- Short forms ----

static CeedVector make(Ceed ceed, CeedSize n) { return vector_of(ceed, n, NULL); }

static bool has_data(CeedVector vec) {
  bool has = false;
  CeedVectorHasValidArray(vec, &has);
  return has;
}

static bool borrows(CeedVector vec) {
  bool has = false;
  CeedVectorHasBorrowedArrayOfType(vec, CEED_MEM_HOST, &has);
  return has;
}

// ---- Arrays: owned, borrowed, valid ----

TEST_EACH_BACKEND(a_new_vector_has_a_length_and_no_values) {
  CeedVector vec = make(ceed, N);
  CeedSize length = -1;
  CeedScalar *array, norm;
  const CeedScalar *read;

  CHECK_OK(CeedVectorGetLength(vec, &length));
  CHECK(length == N && !has_data(vec) && !borrows(vec), "length %td", length);
  CHECK_ERROR(ceed, CeedVectorGetArray(vec, CEED_MEM_HOST, &array), CEED_ERROR_BACKEND, "CeedVectorGetArray");
  CHECK_ERROR(ceed, CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &read), CEED_ERROR_BACKEND,
              "CeedVectorGetArrayRead");
  CHECK_ERROR(ceed, CeedVectorNorm(vec, CEED_NORM_2, &norm), CEED_ERROR_BACKEND, "CeedVectorNorm");
  CHECK_ERROR(ceed, CeedVectorReciprocal(vec), CEED_ERROR_BACKEND, "no valid data");
  CHECK_ERROR(ceed, CeedVectorScale(vec, 2), CEED_ERROR_BACKEND, "no valid data");
  CHECK_ERROR(ceed, CeedVectorFilter(vec, 2), CEED_ERROR_BACKEND, "no valid data");
  CHECK_ERROR(ceed, CeedVectorSetValueStrided(vec, 0, -1, 2, 1), CEED_ERROR_BACKEND,
              "CeedVectorSetValueStrided");
  CHECK_ERROR(ceed, CeedVectorTakeArray(vec, CEED_MEM_HOST, &array), CEED_ERROR_BACKEND,
              "CeedVectorTakeArray");
  CHECK_PRINTS_CODE(CEED_ERROR_BACKEND, "", CeedVectorView(vec, NULL, stream));
  CHECK_OK(CeedVectorSetValue(vec, 3)); // none of these has locked it
  CHECK_HOLDS(vec, 3, 3, 3, 3);
  CHECK_OK(CeedVectorDestroy(&vec));
}

TEST_EACH_BACKEND(a_length_below_zero_is_refused) {
  CeedVector vec = NULL;

  CHECK_ERROR(ceed, CeedVectorCreate(ceed, -1, &vec), CEED_ERROR_UNSUPPORTED, "CeedVectorCreate");
  CHECK_ERROR(ceed, CeedVectorCreate(ceed, PTRDIFF_MAX, &vec), CEED_ERROR_UNSUPPORTED, "CeedVectorCreate");
  CHECK(vec == NULL, "a handle is made");
}

// Nothing is allocated at creation: a length beyond all memory is no error until the array is wanted.
TEST_EACH_BACKEND(a_vector_without_memory_fails_when_its_array_is_wanted) {
  CeedVector vec = make(ceed, N), huge = make(ceed, (CeedSize)1 << 40);
  CeedScalar *array = NULL, few[N] = {1, 2, 3, 4};
  CeedSize length = 0;

  CHECK_OK(CeedVectorGetLength(huge, &length));
  CHECK(length == (CeedSize)1 << 40, "%td", length);
  CHECK_OK(CeedVectorDestroy(&huge));
  // Where the values of the first call lie on a device, they need none of the memory that can be made to
  // fail.
  for (int call = tap_runs_pointers(ceed) ? 0 : 1; call < 3; call++) {
    ritz_memory_fail_at(1);
    CHECK_ERROR(ceed,
                call == 0   ? CeedVectorSetValue(vec, 1)
                : call == 1 ? CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &array)
                            : CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_COPY_VALUES, few),
                CEED_ERROR_MAJOR, "memory");
    CHECK(!has_data(vec), "values after failure %d", call);
  }
  CHECK_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_COPY_VALUES, few)); // not locked by the failures
  CHECK_HOLDS(vec, 1, 2, 3, 4);
  CHECK_OK(CeedVectorDestroy(&vec));
}

TEST_EACH_BACKEND(copied_values_are_independent_of_their_source) {
  CeedScalar source[N] = {1, 2, 3, 4};
  CeedVector vec = vector_of(ceed, N, source);

  source[0] = 9;
  CHECK(has_data(vec) && !borrows(vec), "state");
  CHECK_HOLDS(vec, 1, 2, 3, 4);
  CHECK_OK(CeedVectorDestroy(&vec));
}

TEST_EACH_BACKEND(copying_from_null_makes_an_array_that_counts_as_data) {
  CeedVector vec = make(ceed, N);

  CHECK_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_COPY_VALUES, NULL));
  CHECK(has_data(vec), "no data");
  CHECK_HOLDS(vec, 0, 0, 0, 0); // host arrays of the library begin as zeros
  CHECK_OK(CeedVectorDestroy(&vec));
}

TEST_EACH_BACKEND(a_borrowed_array_is_read_and_written_in_place) {
  CeedScalar mine[N] = {1, 2, 3, 4}, *array = NULL, *taken = NULL;
  CeedVector vec = make(ceed, N);

  CHECK_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, mine));
  CHECK(has_data(vec) && borrows(vec), "state");
  CHECK_OK(CeedVectorGetArray(vec, CEED_MEM_HOST, &array));
  if (lends_originals(ceed)) CHECK(array == mine, "another array is lent");
  array[1] = 7;
  CHECK_OK(CeedVectorRestoreArray(vec, &array));
  CHECK_OK(CeedVectorScale(vec, 2));
  CHECK_OK(CeedVectorSyncArray(vec, CEED_MEM_HOST));
  CHECK(mine[0] == 2 && mine[1] == 14 && mine[3] == 8, "%g %g %g", (double)mine[0], (double)mine[1],
        (double)mine[3]);
  CHECK_OK(CeedVectorTakeArray(vec, CEED_MEM_HOST, &taken));
  CHECK(taken == mine && !borrows(vec), "another array is returned");
  if (!has_device_memory(ceed)) CHECK(!has_data(vec), "values remain");
  CHECK_ERROR(ceed, CeedVectorTakeArray(vec, CEED_MEM_HOST, &taken), CEED_ERROR_BACKEND,
              "CeedVectorTakeArray");
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK(mine[1] == 14, "destruction touches the caller's array");
}

TEST_EACH_BACKEND(values_copied_into_a_borrowing_vector_go_to_the_borrowed_array) {
  CeedScalar mine[N] = {0}, source[N] = {5, 6, 7, 8}, *taken = NULL;
  CeedVector vec = make(ceed, N), other = vector_of(ceed, N, source);

  CHECK_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, mine));
  CHECK_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_COPY_VALUES, source));
  CHECK_OK(CeedVectorSyncArray(vec, CEED_MEM_HOST));
  CHECK(borrows(vec) && mine[0] == 5 && mine[3] == 8, "SetArray");
  source[0] = 50;
  CHECK_OK(CeedVectorSetArray(other, CEED_MEM_HOST, CEED_COPY_VALUES, source));
  CHECK_OK(CeedVectorCopy(other, vec));
  CHECK_OK(CeedVectorSyncArray(vec, CEED_MEM_HOST));
  CHECK(borrows(vec) && mine[0] == 50 && mine[1] == 6, "Copy");
  CHECK_OK(CeedVectorSetValue(vec, 9));
  CHECK_OK(CeedVectorTakeArray(vec, CEED_MEM_HOST, &taken));
  CHECK(taken == mine && mine[2] == 9, "SetValue");
  CHECK_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, mine));
  CHECK_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_COPY_VALUES, NULL));
  CHECK(has_data(vec) && borrows(vec), "SetArray without values");
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK_OK(CeedVectorDestroy(&other));
}

// What is passed with CEED_OWN_POINTER is freed by the library: by the next array, or at the end.
TEST_EACH_BACKEND(an_owned_array_is_used_and_freed) {
  CeedScalar *first = malloc(N * sizeof(*first)), *second = malloc(N * sizeof(*second)),
             mine[N] = {4, 4, 4, 4};
  CeedVector vec = make(ceed, N);
  CeedScalar *array = NULL;

  for (int i = 0; i < N; i++) first[i] = i, second[i] = 10 * i;
  CHECK_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_OWN_POINTER, first));
  CHECK(has_data(vec) && !borrows(vec), "state");
  CHECK_OK(CeedVectorGetArray(vec, CEED_MEM_HOST, &array));
  if (lends_originals(ceed)) CHECK(array == first, "another array is lent");
  CHECK_OK(CeedVectorRestoreArray(vec, &array));
  CHECK_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_OWN_POINTER, first)); // the same again is not freed
  CHECK_HOLDS(vec, 0, 1, 2, 3);
  CHECK_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, mine)); // first is freed
  CHECK_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_OWN_POINTER, second));
  CHECK(!borrows(vec), "still borrows");
  CHECK_HOLDS(vec, 0, 10, 20, 30);
  CHECK_ERROR(ceed, CeedVectorTakeArray(vec, CEED_MEM_HOST, &array), CEED_ERROR_BACKEND, "borrowed");
  CHECK_HOLDS(vec, 0, 10, 20, 30);
  CHECK_OK(CeedVectorDestroy(&vec));
}

TEST_EACH_BACKEND(a_borrowed_array_replaced_or_dropped_is_left_alone) {
  CeedScalar a[N] = {1, 1, 1, 1}, b[N] = {2, 2, 2, 2};
  CeedVector vec = make(ceed, N);

  CHECK_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, a));
  CHECK_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, b));
  CHECK_HOLDS(vec, 2, 2, 2, 2);
  CHECK_OK(CeedVectorTakeArray(vec, CEED_MEM_HOST, NULL));
  CHECK_OK(CeedVectorSetValue(vec, 5)); // into an array of the library
  CHECK(a[0] == 1 && b[0] == 2, "written after they were given back");
  CHECK_HOLDS(vec, 5, 5, 5, 5);
  CHECK_OK(CeedVectorDestroy(&vec));
}

TEST_EACH_BACKEND(writing_needs_no_values_and_reading_after_it_sees_them) {
  CeedVector vec = make(ceed, N);
  CeedScalar *array = NULL;

  CHECK_OK(CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &array));
  for (int i = 0; i < N; i++) array[i] = i + 1;
  CHECK_OK(CeedVectorRestoreArray(vec, &array));
  CHECK(array == NULL, "the pointer stays");
  CHECK_HOLDS(vec, 1, 2, 3, 4);
  CHECK_OK(CeedVectorDestroy(&vec));
}

// ---- Locks ----

#define WRITE_REFUSED(call) CHECK_ERROR(ceed, call, CEED_ERROR_ACCESS, "Cannot grant CeedVector array access")

// Every call that writes vec, which is lent out.
static void check_writers_refused(Ceed ceed, CeedVector vec, CeedVector other) {
  CeedScalar *array, values[N] = {0};

  WRITE_REFUSED(CeedVectorGetArray(vec, CEED_MEM_HOST, &array));
  WRITE_REFUSED(CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &array));
  WRITE_REFUSED(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_COPY_VALUES, values));
  WRITE_REFUSED(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, values));
  WRITE_REFUSED(CeedVectorSetValue(vec, 1));
  WRITE_REFUSED(CeedVectorSetValueStrided(vec, 0, -1, 1, 1));
  WRITE_REFUSED(CeedVectorScale(vec, 2));
  WRITE_REFUSED(CeedVectorFilter(vec, 2));
  WRITE_REFUSED(CeedVectorReciprocal(vec));
  WRITE_REFUSED(CeedVectorCopy(other, vec));
  WRITE_REFUSED(CeedVectorCopyStrided(other, 0, -1, 1, vec));
  WRITE_REFUSED(CeedVectorAXPY(vec, 1, other));
  WRITE_REFUSED(CeedVectorAXPBY(vec, 1, 2, other));
  WRITE_REFUSED(CeedVectorPointwiseMult(vec, other, other));
  WRITE_REFUSED(CeedVectorTakeArray(vec, CEED_MEM_HOST, &array));
}

#define READ_REFUSED(call)                                                                                   \
  CHECK_ERROR(ceed, call, CEED_ERROR_ACCESS,                                                                 \
              "Cannot grant CeedVector read-only array access, the access lock is already in use")

static void check_readers_refused(Ceed ceed, CeedVector vec, CeedVector other) {
  const CeedScalar *read;
  CeedScalar norm;

  READ_REFUSED(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &read));
  READ_REFUSED(CeedVectorNorm(vec, CEED_NORM_1, &norm));
  READ_REFUSED(CeedVectorCopy(vec, other));
  READ_REFUSED(CeedVectorCopyStrided(vec, 0, -1, 1, other));
  READ_REFUSED(CeedVectorAXPY(other, 1, vec));
  READ_REFUSED(CeedVectorPointwiseMult(other, other, vec));
  READ_REFUSED(CeedVectorPointwiseMult(other, vec, other));
  READ_REFUSED(CeedVectorView(vec, NULL, stderr));
  CHECK_ERROR(ceed, CeedVectorSyncArray(vec, CEED_MEM_HOST), CEED_ERROR_ACCESS,
              "Cannot sync CeedVector, the access lock is already in use");
}

TEST_EACH_BACKEND(a_writer_keeps_everybody_out) {
  const CeedScalar values[N] = {1, 2, 3, 4}, *none = NULL;
  CeedVector vec = vector_of(ceed, N, values), other = vector_of(ceed, N, values), handle = vec;
  CeedScalar *array = NULL;

  for (int writes_only = 0; writes_only < 2; writes_only++) {
    CHECK_OK((writes_only ? CeedVectorGetArrayWrite : CeedVectorGetArray)(vec, CEED_MEM_HOST, &array));
    check_writers_refused(ceed, vec, other);
    check_readers_refused(ceed, vec, other);
    if (tap_failed()) return;
    CHECK_ERROR(ceed, CeedVectorRestoreArrayRead(vec, &none), CEED_ERROR_ACCESS,
                "CeedVectorRestoreArrayRead");
    CHECK_ERROR(ceed, CeedVectorDestroy(&handle), CEED_ERROR_ACCESS,
                "Cannot destroy CeedVector, the writable access lock is in use");
    CHECK(handle == vec, "the handle is gone");
    for (int i = 0; i < N; i++) array[i] = 5 + i; // the array is still lent
    CHECK_OK(CeedVectorRestoreArray(vec, &array));
    CHECK_HOLDS(vec, 5, 6, 7, 8);
    CHECK_HOLDS(other, 1, 2, 3, 4);
  }
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK_OK(CeedVectorDestroy(&other));
}

TEST_EACH_BACKEND(readers_share_and_keep_writers_out) {
  const CeedScalar values[N] = {1, 2, 3, 4}, *a = NULL, *b = NULL;
  CeedVector vec = vector_of(ceed, N, values), other = vector_of(ceed, N, values), handle = vec;
  CeedScalar norm = 0, *array = NULL;

  CHECK_OK(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &a));
  CHECK_OK(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &b));
  CHECK(a[3] == 4 && b[3] == 4 && (a == b || !lends_originals(ceed)), "two readers see two arrays");
  for (int num_readers = 2; num_readers > 0; num_readers--) {
    check_writers_refused(ceed, vec, other);
    if (tap_failed()) return;
    CHECK_ERROR(ceed, CeedVectorRestoreArray(vec, &array), CEED_ERROR_ACCESS,
                "Cannot restore CeedVector array access, access was not granted");
    CHECK_ERROR(ceed, CeedVectorDestroy(&handle), CEED_ERROR_ACCESS, "CeedVectorDestroy");
    CHECK(handle == vec, "the handle is gone");
    CHECK_OK(CeedVectorSyncArray(vec, CEED_MEM_HOST)); // reads
    CHECK_OK(CeedVectorNorm(vec, CEED_NORM_MAX, &norm));
    CHECK_OK(CeedVectorCopy(vec, other));
    CHECK_OK(CeedVectorAXPY(other, 1, vec));
    CHECK_OK(CeedVectorPointwiseMult(other, vec, vec));
    CHECK_OK(CeedVectorRestoreArrayRead(vec, num_readers == 2 ? &b : &a));
  }
  CHECK_ERROR(ceed, CeedVectorRestoreArrayRead(vec, &a), CEED_ERROR_ACCESS, "CeedVectorRestoreArrayRead");
  CHECK_OK(CeedVectorSetValue(vec, 6));
  CHECK_HOLDS(vec, 6, 6, 6, 6);
  CHECK_HOLDS(other, 1, 4, 9, 16);
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK_OK(CeedVectorDestroy(&other));
}

// A binding that keeps no pointer restores NULL: the access that there is ends, and what was written counts.
TEST_EACH_BACKEND(an_access_ends_through_a_null_pointer) {
  static const CeedScalar start[] = {1, 2, 3};
  CeedVector v = vector_of(ceed, 3, start);
  CeedMemType own;

  CHECK_OK(CeedGetPreferredMemType(ceed, &own));
  for (int k = 0; k < 4; k++) {
    const CeedMemType mem_type = k % 2 ? own : CEED_MEM_HOST;
    CeedScalar *array, *none = NULL;
    const CeedScalar *read, *none_read = NULL;

    CHECK_OK((k < 2 ? CeedVectorGetArray : CeedVectorGetArrayWrite)(v, mem_type, &array));
    if (mem_type == CEED_MEM_HOST) {
      for (int i = 0; i < 3; i++) array[i] = (CeedScalar)(10 * k + i);
    }
    CHECK_OK(CeedVectorRestoreArray(v, &none));
    if (mem_type == CEED_MEM_HOST) CHECK_HOLDS(v, 10 * k, 10 * k + 1, 10 * k + 2);
    CHECK_OK(CeedVectorGetArrayRead(v, mem_type, &read));
    CHECK_OK(CeedVectorRestoreArrayRead(v, &none_read));
    CHECK_OK(CeedVectorSetValue(v, 1)); // nobody holds the array any more
  }
  CHECK_OK(CeedVectorDestroy(&v));
}

TEST_EACH_BACKEND(restoring_what_was_not_lent_is_refused) {
  CeedVector vec = make(ceed, N);
  CeedScalar *array = NULL;
  const CeedScalar *read = NULL;

  CHECK_ERROR(ceed, CeedVectorRestoreArray(vec, &array), CEED_ERROR_ACCESS,
              "Cannot restore CeedVector array access, access was not granted");
  CHECK_ERROR(ceed, CeedVectorRestoreArrayRead(vec, &read), CEED_ERROR_ACCESS, "CeedVectorRestoreArrayRead");
  CHECK_OK(CeedVectorSetValue(vec, 2));
  CHECK_HOLDS(vec, 2, 2, 2, 2);
  CHECK_OK(CeedVectorDestroy(&vec));
}

TEST_EACH_BACKEND(a_locked_vector_gives_up_references_but_not_the_last) {
  CeedVector vec = make(ceed, N), copy = NULL, over = make(ceed, 1);
  CeedScalar *array = NULL, *other_array = NULL;

  CHECK_OK(CeedVectorReferenceCopy(vec, &copy));
  CHECK_OK(CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &array));
  CHECK_OK(CeedVectorDestroy(&copy));
  CHECK(copy == NULL, "the handle stays");
  CHECK_ERROR(ceed, CeedVectorDestroy(&vec), CEED_ERROR_ACCESS, "writable access lock");
  CHECK_OK(CeedVectorGetArrayWrite(over, CEED_MEM_HOST, &other_array));
  CHECK_ERROR(ceed, CeedVectorReferenceCopy(vec, &over), CEED_ERROR_ACCESS, "writable access lock");
  CHECK_OK(CeedVectorRestoreArray(over, &other_array));
  CHECK_OK(CeedVectorRestoreArray(vec, &array));
  CHECK_OK(CeedVectorReferenceCopy(vec, &over));
  CHECK(over == vec, "another vector");
  CHECK_OK(CeedVectorDestroy(&over));
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK(vec == NULL, "the handle stays");
}

TEST_EACH_BACKEND(references_are_counted) {
  CeedVector vec = make(ceed, N), a = NULL, b = make(ceed, 2);

  CHECK_OK(CeedVectorReferenceCopy(vec, &a));
  CHECK_OK(CeedVectorReferenceCopy(vec, &b)); // over a live handle, which goes
  CHECK_OK(CeedVectorReferenceCopy(a, &a));   // onto itself
  CHECK(a == vec && b == vec, "other handles");
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK_OK(CeedVectorDestroy(&vec)); // a second time
  CHECK_OK(CeedVectorSetValue(a, 4));
  CHECK_OK(CeedVectorDestroy(&a));
  CHECK_HOLDS(b, 4, 4, 4, 4);
  CHECK_OK(CeedVectorDestroy(&b));
}

// ---- Arguments ----

TEST_EACH_BACKEND(device_memory_is_refused_where_there_is_none) {
  CeedScalar *array = NULL, mine[N] = {1, 2, 3, 4};
  const CeedScalar *read = NULL;
  bool has = false;

  if (has_device_memory(ceed)) NOT_FOR_THIS_BACKEND("the backend has device memory");
  CeedVector vec = make(ceed, N);
  CHECK_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, mine));
  CHECK_ERROR(ceed, CeedVectorSetArray(vec, CEED_MEM_DEVICE, CEED_COPY_VALUES, mine), CEED_ERROR_BACKEND,
              "Can only set HOST memory for this backend");
#define REFUSED(call)                                                                                        \
  CHECK_ERROR(ceed, call, CEED_ERROR_BACKEND, "Can only provide HOST memory for this backend")
  REFUSED(CeedVectorGetArray(vec, CEED_MEM_DEVICE, &array));
  REFUSED(CeedVectorGetArrayWrite(vec, CEED_MEM_DEVICE, &array));
  REFUSED(CeedVectorGetArrayRead(vec, CEED_MEM_DEVICE, &read));
  REFUSED(CeedVectorSyncArray(vec, CEED_MEM_DEVICE));
  REFUSED(CeedVectorTakeArray(vec, CEED_MEM_DEVICE, &array));
  REFUSED(CeedVectorHasBorrowedArrayOfType(vec, CEED_MEM_DEVICE, &has));
#undef REFUSED
  CHECK(borrows(vec), "the array is lost");
  CHECK_HOLDS(vec, 1, 2, 3, 4);
  CHECK_OK(CeedVectorDestroy(&vec));
}

TEST_EACH_BACKEND(arguments_that_mean_nothing_are_refused) {
  const CeedScalar values[N] = {1, 2, 3, 4};
  CeedVector vec = vector_of(ceed, N, values);
  CeedScalar mine[N], norm;

  CHECK_ERROR(ceed, CeedVectorSetArray(vec, (CeedMemType)7, CEED_COPY_VALUES, mine), CEED_ERROR_INCOMPATIBLE,
              "memory type");
  CHECK_ERROR(ceed, CeedVectorSetArray(vec, CEED_MEM_HOST, (CeedCopyMode)9, mine), CEED_ERROR_INCOMPATIBLE,
              "copy mode");
  CHECK_ERROR(ceed, CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, NULL), CEED_ERROR_INCOMPATIBLE,
              "CeedVectorSetArray");
  CHECK_ERROR(ceed, CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_OWN_POINTER, NULL), CEED_ERROR_INCOMPATIBLE,
              "CeedVectorSetArray");
  CHECK_ERROR(ceed, CeedVectorNorm(vec, (CeedNormType)5, &norm), CEED_ERROR_INCOMPATIBLE, "norm");
  CHECK_HOLDS(vec, 1, 2, 3, 4);
  CHECK_OK(CeedVectorDestroy(&vec));
}

TEST(null_vectors_are_refused) {
  CeedVector vec = NULL;
  CeedSize length;
  CeedScalar *array = NULL, value;
  const CeedScalar *read = NULL;
  CeedInt tabs;
  bool flag;
  Ceed ceed = tap_ceed("/cpu/self/ref"), found = NULL;
  CeedVector live = make(ceed, 1);

#define REFUSED(expr) CHECK_ERROR(NULL, expr, CEED_ERROR_INCOMPATIBLE, "NULL")
  REFUSED(CeedVectorCreate(NULL, 1, &vec));
  REFUSED(CeedVectorReferenceCopy(NULL, &vec));
  REFUSED(CeedVectorCopy(NULL, live));
  REFUSED(CeedVectorCopy(live, NULL));
  REFUSED(CeedVectorCopyStrided(NULL, 0, 1, 1, live));
  REFUSED(CeedVectorCopyStrided(live, 0, 1, 1, NULL));
  REFUSED(CeedVectorSetArray(NULL, CEED_MEM_HOST, CEED_COPY_VALUES, NULL));
  REFUSED(CeedVectorSetValue(NULL, 1));
  REFUSED(CeedVectorSetValueStrided(NULL, 0, 1, 1, 1));
  REFUSED(CeedVectorSyncArray(NULL, CEED_MEM_HOST));
  REFUSED(CeedVectorTakeArray(NULL, CEED_MEM_HOST, &array));
  REFUSED(CeedVectorGetArray(NULL, CEED_MEM_HOST, &array));
  REFUSED(CeedVectorGetArrayRead(NULL, CEED_MEM_HOST, &read));
  REFUSED(CeedVectorGetArrayWrite(NULL, CEED_MEM_HOST, &array));
  REFUSED(CeedVectorRestoreArray(NULL, &array));
  REFUSED(CeedVectorRestoreArrayRead(NULL, &read));
  REFUSED(CeedVectorNorm(NULL, CEED_NORM_1, &value));
  REFUSED(CeedVectorScale(NULL, 1));
  REFUSED(CeedVectorFilter(NULL, 1));
  REFUSED(CeedVectorAXPY(NULL, 1, live));
  REFUSED(CeedVectorAXPY(live, 1, NULL));
  REFUSED(CeedVectorAXPBY(NULL, 1, 1, live));
  REFUSED(CeedVectorAXPBY(live, 1, 1, NULL));
  REFUSED(CeedVectorPointwiseMult(NULL, live, live));
  REFUSED(CeedVectorPointwiseMult(live, NULL, live));
  REFUSED(CeedVectorPointwiseMult(live, live, NULL));
  REFUSED(CeedVectorReciprocal(NULL));
  REFUSED(CeedVectorSetNumViewTabs(NULL, 1));
  REFUSED(CeedVectorGetNumViewTabs(NULL, &tabs));
  REFUSED(CeedVectorViewRange(NULL, 0, 1, 1, NULL, stderr));
  REFUSED(CeedVectorView(NULL, NULL, stderr));
  REFUSED(CeedVectorGetCeed(NULL, &found));
  REFUSED(CeedVectorGetLength(NULL, &length));
  REFUSED(CeedVectorHasValidArray(NULL, &flag));
  REFUSED(CeedVectorHasBorrowedArrayOfType(NULL, CEED_MEM_HOST, &flag));
#undef REFUSED
  CHECK(CeedVectorReturnCeed(NULL) == NULL && vec == NULL, "something comes of nothing");
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK_OK(CeedVectorDestroy(&live));
  CHECK_OK(CeedDestroy(&ceed));
}

TEST_EACH_BACKEND(a_vector_tells_its_context) {
  CeedVector vec = make(ceed, N);
  Ceed found = NULL;

  CHECK_OK(CeedVectorGetCeed(vec, &found));
  CHECK(found == ceed && CeedVectorReturnCeed(vec) == ceed, "another context");
  CHECK_OK(CeedDestroy(&found)); // a new reference
  CHECK_OK(CeedVectorSetValue(vec, 1));
  CHECK_OK(CeedVectorDestroy(&vec));
}

// ---- Length zero ----

TEST_EACH_BACKEND(a_vector_of_length_zero_takes_part_in_everything) {
  CeedVector vec = make(ceed, 0), other = make(ceed, 0), longer = make(ceed, 2);
  CeedScalar norm = 5, *array = &norm;
  const CeedScalar *read = &norm;

  CHECK(has_data(vec), "no data");
  CHECK_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_COPY_VALUES, NULL));
  CHECK_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, NULL));
  CHECK_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_OWN_POINTER, NULL));
  CHECK_OK(CeedVectorSetValue(vec, 1));
  CHECK_OK(CeedVectorSetValueStrided(vec, 0, -1, 1, 1));
  CHECK_OK(CeedVectorSyncArray(vec, CEED_MEM_HOST));
  CHECK_OK(CeedVectorNorm(vec, CEED_NORM_2, &norm));
  CHECK(norm == 0, "norm %g", (double)norm);
  CHECK_OK(CeedVectorScale(vec, 2));
  CHECK_OK(CeedVectorFilter(vec, 2));
  CHECK_OK(CeedVectorReciprocal(vec));
  CHECK_OK(CeedVectorCopy(vec, other));
  CHECK_OK(CeedVectorCopyStrided(vec, 0, -1, 1, longer));
  CHECK_OK(CeedVectorCopyStrided(longer, 0, -1, 1, vec));
  CHECK_OK(CeedVectorAXPY(vec, 1, other));
  CHECK_OK(CeedVectorAXPBY(vec, 1, 1, other));
  CHECK_OK(CeedVectorPointwiseMult(vec, longer, other));
  CHECK_OK(CeedVectorTakeArray(vec, CEED_MEM_HOST, &array));
  CHECK(array == NULL, "an array of no entries");
  CHECK_PRINTS("CeedVector length 0\n", CeedVectorView(vec, "%12.8f", stream));
  CHECK_OK(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &read));
  CHECK(read == NULL, "an array of no entries");
  CHECK_ERROR(ceed, CeedVectorSetValue(vec, 1), CEED_ERROR_ACCESS, "Cannot grant CeedVector array access");
  CHECK_OK(CeedVectorRestoreArrayRead(vec, &read));
  CHECK_OK(CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &array));
  CHECK(array == NULL, "an array of no entries");
  CHECK_ERROR(ceed, CeedVectorDestroy(&vec), CEED_ERROR_ACCESS, "Cannot destroy CeedVector");
  CHECK_OK(CeedVectorRestoreArray(vec, &array));
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK_OK(CeedVectorDestroy(&other));
  CHECK_OK(CeedVectorDestroy(&longer));
}

TEST_EACH_BACKEND(a_vector_of_length_zero_lends_null_whatever_it_was_given) {
  CeedVector vec = make(ceed, 0);
  CeedScalar mine[1] = {3}, *array = mine;
  const CeedScalar *read = mine;

  CHECK_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, mine));
  CHECK_OK(CeedVectorGetArray(vec, CEED_MEM_HOST, &array));
  CHECK(array == NULL, "an array of no entries");
  CHECK_OK(CeedVectorRestoreArray(vec, &array));
  CHECK_OK(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &read));
  CHECK(read == NULL, "an array of no entries");
  CHECK_OK(CeedVectorRestoreArrayRead(vec, &read));
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK(mine[0] == 3, "the caller's array is written");
}

// ---- Arithmetic ----

TEST_EACH_BACKEND(norms_of_a_3_4_12_vector) {
  const CeedScalar values[] = {3, -4, 12, 0};
  CeedVector vec = vector_of(ceed, N, values);
  CeedScalar norm = 0;

  CHECK_OK(CeedVectorNorm(vec, CEED_NORM_1, &norm));
  CHECK(norm == 19, "sum %g", (double)norm);
  CHECK_OK(CeedVectorNorm(vec, CEED_NORM_2, &norm));
  CHECK_NEAR(norm, 13, 13 * 4 * CEED_EPSILON, "root of 169, one rounding of the root");
  CHECK_OK(CeedVectorNorm(vec, CEED_NORM_MAX, &norm));
  CHECK(norm == 12, "largest %g", (double)norm);
  CHECK_OK(CeedVectorDestroy(&vec));
}

TEST_EACH_BACKEND(scale_filter_and_reciprocal_act_on_every_entry) {
  const CeedScalar values[] = {1, -2, (CeedScalar)0.25, 0};
  CeedVector vec = vector_of(ceed, N, values);

  CHECK_OK(CeedVectorScale(vec, -2));
  CHECK_HOLDS(vec, -2, 4, (CeedScalar)-0.5, 0);
  CHECK_OK(CeedVectorReciprocal(vec)); // zero stays
  CHECK_HOLDS(vec, (CeedScalar)-0.5, (CeedScalar)0.25, -2, 0);
  CHECK_OK(CeedVectorFilter(vec, (CeedScalar)0.25)); // up to the threshold and including it
  CHECK_HOLDS(vec, (CeedScalar)-0.5, 0, -2, 0);
  CHECK_OK(CeedVectorFilter(vec, -1));
  CHECK_HOLDS(vec, (CeedScalar)-0.5, 0, -2, 0);
  CHECK_OK(CeedVectorDestroy(&vec));
}

TEST_EACH_BACKEND(the_reciprocal_of_tiny_entries_is_not_taken) {
  const CeedScalar tiny = (CeedScalar)CEED_EPSILON, values[] = {tiny, -tiny, 2 * tiny, 1};
  CeedVector vec = vector_of(ceed, N, values);

  CHECK_OK(CeedVectorReciprocal(vec));
  CHECK_HOLDS(vec, tiny, -tiny, 1 / (2 * tiny), 1);
  CHECK_OK(CeedVectorDestroy(&vec));
}

TEST_EACH_BACKEND(sums_and_products_of_vectors) {
  const CeedScalar a[] = {1, 2, 3, 4}, b[] = {10, 20, 30, 40};
  CeedVector x = vector_of(ceed, N, a), y = vector_of(ceed, N, b), w = make(ceed, N), z = make(ceed, 2);

  CHECK_OK(CeedVectorAXPY(y, 2, x));
  CHECK_HOLDS(y, 12, 24, 36, 48);
  CHECK_OK(CeedVectorAXPBY(y, 10, -1, x));
  CHECK_HOLDS(y, -2, -4, -6, -8);
  CHECK_HOLDS(x, 1, 2, 3, 4);
  CHECK_OK(CeedVectorPointwiseMult(w, x, y)); // w has no values before
  CHECK_HOLDS(w, -2, -8, -18, -32);
  CHECK_OK(CeedVectorPointwiseMult(w, w, x));
  CHECK_HOLDS(w, -2, -16, -54, -128);
  CHECK_OK(CeedVectorPointwiseMult(w, x, x));
  CHECK_HOLDS(w, 1, 4, 9, 16);
  CHECK_OK(CeedVectorPointwiseMult(w, x, w));
  CHECK_HOLDS(w, 1, 8, 27, 64);
  CHECK_OK(CeedVectorPointwiseMult(x, x, x));
  CHECK_HOLDS(x, 1, 4, 9, 16);
  CHECK_OK(CeedVectorPointwiseMult(z, x, y)); // factors may be longer
  CHECK_HOLDS(z, -2, -16);
  CHECK_OK(CeedVectorDestroy(&x));
  CHECK_OK(CeedVectorDestroy(&y));
  CHECK_OK(CeedVectorDestroy(&w));
  CHECK_OK(CeedVectorDestroy(&z));
}

TEST_EACH_BACKEND(vectors_that_do_not_fit_together_are_refused) {
  const CeedScalar values[] = {1, 2, 3, 4};
  Ceed other_ceed = tap_ceed("/cpu/self/ref");
  CeedVector x = vector_of(ceed, N, values), y = vector_of(ceed, N, values), shorter = make(ceed, 3),
             empty = make(ceed, N), foreign = vector_of(other_ceed, N, values);

  CHECK_OK(CeedVectorSetValue(shorter, 1));
  CHECK_ERROR(ceed, CeedVectorAXPY(x, 1, shorter), CEED_ERROR_UNSUPPORTED, "CeedVectorAXPY");
  CHECK_ERROR(ceed, CeedVectorAXPY(x, 1, x), CEED_ERROR_UNSUPPORTED, "CeedVectorAXPY");
  CHECK_ERROR(ceed, CeedVectorAXPY(x, 1, empty), CEED_ERROR_BACKEND, "CeedVectorAXPY");
  CHECK_ERROR(ceed, CeedVectorAXPY(empty, 1, x), CEED_ERROR_BACKEND, "CeedVectorAXPY");
  CHECK_ERROR(ceed, CeedVectorAXPY(x, 1, foreign), CEED_ERROR_INCOMPATIBLE, "CeedVectorAXPY");
  CHECK_ERROR(ceed, CeedVectorAXPBY(x, 1, 2, shorter), CEED_ERROR_UNSUPPORTED, "CeedVectorAXPBY");
  CHECK_ERROR(ceed, CeedVectorAXPBY(x, 1, 2, x), CEED_ERROR_UNSUPPORTED, "CeedVectorAXPBY");
  CHECK_ERROR(ceed, CeedVectorAXPBY(x, 1, 2, empty), CEED_ERROR_BACKEND, "CeedVectorAXPBY");
  CHECK_ERROR(ceed, CeedVectorAXPBY(x, 1, 2, foreign), CEED_ERROR_INCOMPATIBLE, "CeedVectorAXPBY");
  CHECK_ERROR(ceed, CeedVectorPointwiseMult(x, shorter, y), CEED_ERROR_UNSUPPORTED,
              "CeedVectorPointwiseMult");
  CHECK_ERROR(ceed, CeedVectorPointwiseMult(x, y, shorter), CEED_ERROR_UNSUPPORTED,
              "CeedVectorPointwiseMult");
  CHECK_ERROR(ceed, CeedVectorPointwiseMult(x, empty, y), CEED_ERROR_BACKEND, "CeedVectorPointwiseMult");
  CHECK_ERROR(ceed, CeedVectorPointwiseMult(x, y, empty), CEED_ERROR_BACKEND, "CeedVectorPointwiseMult");
  CHECK_ERROR(ceed, CeedVectorPointwiseMult(x, foreign, y), CEED_ERROR_INCOMPATIBLE,
              "CeedVectorPointwiseMult");
  CHECK_ERROR(ceed, CeedVectorPointwiseMult(x, y, foreign), CEED_ERROR_INCOMPATIBLE,
              "CeedVectorPointwiseMult");
  CHECK_ERROR(ceed, CeedVectorCopy(x, shorter), CEED_ERROR_INCOMPATIBLE, "CeedVectorCopy");
  CHECK_ERROR(ceed, CeedVectorCopy(empty, x), CEED_ERROR_BACKEND, "no valid data");
  CHECK_ERROR(ceed, CeedVectorCopyStrided(empty, 0, -1, 1, x), CEED_ERROR_BACKEND, "no valid data");
  CHECK_ERROR(ceed, CeedVectorCopyStrided(x, 0, -1, 1, empty), CEED_ERROR_BACKEND, "no valid data");
  CHECK_HOLDS(x, 1, 2, 3, 4); // untouched and not locked
  CHECK_HOLDS(y, 1, 2, 3, 4);
  CHECK_OK(CeedVectorCopy(foreign, x)); // copies go between contexts
  CeedVector *all[] = {&x, &y, &shorter, &empty, &foreign};
  for (int i = 0; i < 5; i++) {
    CHECK_OK(CeedVectorSetValue(*all[i], 1)); // nobody holds any of them
    CHECK_OK(CeedVectorDestroy(all[i]));
  }
  CHECK_OK(CeedDestroy(&other_ceed));
}

TEST_EACH_BACKEND(strided_calls_touch_their_entries_only) {
  enum { LONG = 7 };
  const CeedScalar values[LONG] = {0, 1, 2, 3, 4, 5, 6};
  CeedVector x = vector_of(ceed, LONG, values), y = make(ceed, 5);

  CHECK_OK(CeedVectorSetValueStrided(x, 1, 6, 2, 9));
  CHECK_HOLDS(x, 0, 9, 2, 9, 4, 9, 6);
  CHECK_OK(CeedVectorSetValueStrided(x, 0, -1, 3, 8));
  CHECK_HOLDS(x, 8, 9, 2, 8, 4, 9, 8);
  CHECK_OK(CeedVectorSetValueStrided(x, 3, 3, 1, 7)); // nothing
  CHECK_OK(CeedVectorSetValueStrided(x, LONG, LONG, 1, 7));
  CHECK_HOLDS(x, 8, 9, 2, 8, 4, 9, 8);
  CHECK_OK(CeedVectorSetValue(y, 0));
  CHECK_OK(CeedVectorCopyStrided(x, 1, -1, 2, y)); // the same index on both sides
  CHECK_HOLDS(y, 0, 9, 0, 8, 0);
  CHECK_OK(CeedVectorCopyStrided(x, 0, 1, 4, y));
  CHECK_HOLDS(y, 8, 9, 0, 8, 0);
  CHECK_OK(CeedVectorCopyStrided(x, 5, 5, 1, y));
  CHECK_OK(CeedVectorCopyStrided(x, 0, -1, 1, x));
  CHECK_HOLDS(x, 8, 9, 2, 8, 4, 9, 8);
  CHECK_OK(CeedVectorDestroy(&x));
  CHECK_OK(CeedVectorDestroy(&y));
}

TEST_EACH_BACKEND(ranges_outside_of_a_vector_are_refused) {
  const CeedScalar values[N] = {1, 2, 3, 4};
  CeedVector x = vector_of(ceed, N, values), y = vector_of(ceed, 2, values);

  CHECK_ERROR(ceed, CeedVectorSetValueStrided(x, 0, N + 1, 1, 9), CEED_ERROR_ACCESS,
              "CeedVectorSetValueStrided");
  CHECK_ERROR(ceed, CeedVectorSetValueStrided(x, 0, -2, 1, 9), CEED_ERROR_ACCESS,
              "CeedVectorSetValueStrided");
  CHECK_ERROR(ceed, CeedVectorSetValueStrided(x, -1, 2, 1, 9), CEED_ERROR_ACCESS,
              "CeedVectorSetValueStrided");
  CHECK_ERROR(ceed, CeedVectorSetValueStrided(x, 0, 2, 0, 9), CEED_ERROR_ACCESS, "CeedVectorSetValueStrided");
  CHECK_ERROR(ceed, CeedVectorSetValueStrided(x, 0, 2, -1, 9), CEED_ERROR_ACCESS,
              "CeedVectorSetValueStrided");
  CHECK_ERROR(ceed, CeedVectorCopyStrided(x, 0, 3, 1, y), CEED_ERROR_ACCESS, "CeedVectorCopyStrided");
  CHECK_ERROR(ceed, CeedVectorCopyStrided(y, 0, 3, 1, x), CEED_ERROR_ACCESS, "CeedVectorCopyStrided");
  CHECK_ERROR(ceed, CeedVectorCopyStrided(x, 0, -2, 1, y), CEED_ERROR_ACCESS, "CeedVectorCopyStrided");
  CHECK_ERROR(ceed, CeedVectorCopyStrided(x, -1, 2, 1, y), CEED_ERROR_ACCESS, "CeedVectorCopyStrided");
  CHECK_ERROR(ceed, CeedVectorCopyStrided(x, 3, -1, 1, y), CEED_ERROR_ACCESS, "CeedVectorCopyStrided");
  CHECK_ERROR(ceed, CeedVectorCopyStrided(x, 2, 1, 1, y), CEED_ERROR_ACCESS, "CeedVectorCopyStrided");
  CHECK_ERROR(ceed, CeedVectorCopyStrided(x, 0, 1, 0, y), CEED_ERROR_ACCESS, "CeedVectorCopyStrided");
  CHECK_HOLDS(x, 1, 2, 3, 4);
  CHECK_HOLDS(y, 1, 2);
  CHECK_OK(CeedVectorDestroy(&x));
  CHECK_OK(CeedVectorDestroy(&y));
}

// ---- Views ----

TEST_EACH_BACKEND(a_view_shows_one_entry_a_line) {
  const CeedScalar values[] = {(CeedScalar)1.5, -2, (CeedScalar)0.25};
  CeedVector vec = vector_of(ceed, 3, values);

  CHECK_PRINTS("CeedVector length 3\n  1.5\n  -2\n  0.25\n", CeedVectorView(vec, NULL, stream));
  CHECK_PRINTS("CeedVector length 3\n    1.50000000\n   -2.00000000\n    0.25000000\n",
               CeedVectorView(vec, "%12.8f", stream));
  CHECK_PRINTS("CeedVector length 3\n    1.50000000\n   -2.00000000\n    0.25000000\n",
               CeedObjectView((CeedObject)vec, stream));
  CHECK_OK(CeedVectorSetNumViewTabs(vec, 1));
  CHECK_PRINTS("  CeedVector length 3\n      1.50000000\n     -2.00000000\n      0.25000000\n",
               CeedVectorView(vec, "%12.8f", stream));
  CHECK_PRINTS("  CeedVector length 3\n    x1.5e+00\n    x-2.0e+00\n    x2.5e-01\n",
               CeedVectorView(vec, "x%.1e", stream));
  CHECK_OK(CeedVectorDestroy(&vec));
}

// doc/ceed-api.md, Views and estimates: raw arguments are shown unless they mean the whole vector; three dots
// when the end is cut off.
TEST_EACH_BACKEND(a_view_of_a_range_shows_its_arguments) {
  const CeedScalar values[] = {0, 1, 2, 3, 4};
  CeedVector vec = vector_of(ceed, 5, values);
#define HEAD(start, stop, step)                                                                              \
  "CeedVector length 5\n  start: " start "\n  stop:  " stop "\n  step:  " step "\n"

  CHECK_PRINTS("CeedVector length 5\n  0\n  1\n  2\n  3\n  4\n",
               CeedVectorViewRange(vec, 0, 5, 1, NULL, stream));
  CHECK_PRINTS(HEAD("0", "-1", "1") "  0\n  1\n  2\n  3\n  4\n",
               CeedVectorViewRange(vec, 0, -1, 1, NULL, stream));
  CHECK_PRINTS(HEAD("1", "4", "2") "  1\n  3\n  ...\n", CeedVectorViewRange(vec, 1, 4, 2, NULL, stream));
  CHECK_PRINTS(HEAD("1", "5", "3") "  1\n  4\n", CeedVectorViewRange(vec, 1, 5, 3, NULL, stream));
  CHECK_PRINTS(HEAD("2", "99", "2") "  2\n  4\n", CeedVectorViewRange(vec, 2, 99, 2, NULL, stream));
  CHECK_PRINTS(HEAD("9", "5", "1"), CeedVectorViewRange(vec, 9, 5, 1, NULL, stream));
  CHECK_PRINTS(HEAD("4", "1", "-2") "  4\n  2\n  ...\n", CeedVectorViewRange(vec, 4, 1, -2, NULL, stream));
  CHECK_PRINTS(HEAD("3", "3", "1") "  ...\n", CeedVectorViewRange(vec, 3, 3, 1, NULL, stream));
  CHECK_PRINTS_CODE(CEED_ERROR_MINOR, "", CeedVectorViewRange(vec, 0, 5, 0, NULL, stream));
  CHECK_PRINTS_CODE(CEED_ERROR_MINOR, "", CeedVectorViewRange(vec, -2, 5, 1, NULL, stream));
  CHECK_OK(CeedVectorSetNumViewTabs(vec, 2));
  CHECK_PRINTS(
      "    CeedVector length 5\n      start: 0\n      stop:  1\n      step:  1\n      0\n      ...\n",
      CeedVectorViewRange(vec, 0, 1, 1, NULL, stream));
#undef HEAD
  CHECK_OK(CeedVectorSetValue(vec, 1)); // no view holds it
  CHECK_OK(CeedVectorDestroy(&vec));
}

TEST_EACH_BACKEND(view_tabs_of_a_vector_are_checked) {
  CeedVector vec = make(ceed, 0);
  CeedInt tabs = -1;

  CHECK_OK(CeedVectorGetNumViewTabs(vec, &tabs));
  CHECK(tabs == 0, "at first %d", (int)tabs);
  CHECK_OK(CeedVectorSetNumViewTabs(vec, 4));
  CHECK_ERROR(ceed, CeedVectorSetNumViewTabs(vec, -1), CEED_ERROR_MINOR, "view tabs");
  CHECK_OK(CeedVectorGetNumViewTabs(vec, &tabs));
  CHECK(tabs == 4, "%d", (int)tabs);
  CHECK_OK(CeedVectorDestroy(&vec));
}

// ---- The model: the table of 7.2 for host memory ----

enum { NUM_STEPS = 60 };

typedef struct {
  bool has_data, is_locked, lends_originals;
  int num_readers;
  CeedScalar *borrowed; // one of mine[2], or NULL
  CeedScalar values[N];
  CeedScalar mine[2][N];
  CeedScalar *array;                  // what the library has lent for writing
  const CeedScalar *reads[NUM_STEPS]; // and for reading
} Model;

static int expected_of_write(const Model *m, bool needs_data) {
  if (m->is_locked || m->num_readers) return CEED_ERROR_ACCESS;
  return needs_data && !m->has_data ? CEED_ERROR_BACKEND : CEED_ERROR_SUCCESS;
}

static void model_write(Model *m, const CeedScalar *values) {
  m->has_data = true;
  for (int i = 0; i < N; i++) m->values[i] = values[i];
}

enum {
  SET_COPY,
  SET_NULL,
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
  NUM_CALLS
};

static int set_array(CeedVector vec, Model *m, int call, const CeedScalar *fresh, uint64_t *state) {
  CeedScalar *mine = m->mine[tap_integer(state, 2)], *owned = NULL;
  CeedScalar zeros[N] = {0};
  int wanted = expected_of_write(m, false), code;

  if (call == SET_COPY) {
    code = CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_COPY_VALUES, (CeedScalar *)fresh);
    if (!wanted) model_write(m, fresh);
  } else if (call == SET_USE) {
    if (!wanted) memcpy(mine, fresh, sizeof(m->mine[0]));
    code = CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, mine);
    if (!wanted) model_write(m, fresh), m->borrowed = mine;
  } else if (call == SET_OWN) {
    owned = malloc(sizeof(m->values));
    memcpy(owned, fresh, sizeof(m->values));
    code = CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_OWN_POINTER, owned);
    if (!wanted) model_write(m, fresh), m->borrowed = NULL;
    if (code) free(owned); // a refused array stays the caller's
  } else {
    code = CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_COPY_VALUES, NULL);
    if (!wanted) CeedVectorSetValue(vec, 0), model_write(m, zeros); // contents unspecified: make them zeros
  }
  return code == wanted;
}

static int take(CeedVector vec, Model *m) {
  int wanted = expected_of_write(m, false);
  CeedScalar *array = NULL;

  if (!wanted && (!m->borrowed || !m->has_data)) wanted = CEED_ERROR_BACKEND;
  int code = CeedVectorTakeArray(vec, CEED_MEM_HOST, &array);
  if (code != wanted) return false;
  if (wanted) return true;
  bool is_right = array == m->borrowed && !memcmp(array, m->values, sizeof(m->values));
  m->borrowed = NULL;
  m->has_data = false;
  return is_right;
}

static int begin_write(CeedVector vec, Model *m, bool needs_data, const CeedScalar *fresh) {
  int wanted = expected_of_write(m, needs_data);
  CeedScalar *array = NULL;
  int code = (needs_data ? CeedVectorGetArray : CeedVectorGetArrayWrite)(vec, CEED_MEM_HOST, &array);

  if (code != wanted) return false;
  if (wanted) return true;
  if (needs_data && memcmp(array, m->values, sizeof(m->values))) return false;
  if (m->borrowed && array != m->borrowed && m->lends_originals) return false;
  m->is_locked = true;
  m->array = array;
  memcpy(array, fresh, sizeof(m->values));
  model_write(m, fresh);
  return true;
}

static int end_write(CeedVector vec, Model *m) {
  int code = CeedVectorRestoreArray(vec, &m->array);

  if (code != (m->is_locked ? CEED_ERROR_SUCCESS : CEED_ERROR_ACCESS)) return false;
  m->is_locked = false;
  return m->array == NULL;
}

static int read_or_end(CeedVector vec, Model *m, int call) {
  int wanted = call == END_READ ? (m->num_readers ? CEED_ERROR_SUCCESS : CEED_ERROR_ACCESS)
               : m->is_locked   ? CEED_ERROR_ACCESS
               : !m->has_data   ? CEED_ERROR_BACKEND
                                : CEED_ERROR_SUCCESS;
  const CeedScalar *read = NULL;

  if (call == SYNC) return CeedVectorSyncArray(vec, CEED_MEM_HOST) == wanted;
  if (call == END_READ) {
    const CeedScalar **last = &m->reads[wanted ? 0 : m->num_readers - 1];
    int code = CeedVectorRestoreArrayRead(vec, last);
    if (!wanted) m->num_readers--;
    return code == wanted && (wanted || *last == NULL);
  }
  int code = CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &read);
  if (code != wanted) return false;
  if (!wanted) m->reads[m->num_readers++] = read;
  return wanted || !memcmp(read, m->values, sizeof(m->values));
}

// Whether library and model agree about one random call.
static int agree(CeedVector vec, Model *m, int call, uint64_t *state) {
  CeedScalar fresh[N];

  for (int i = 0; i < N; i++) fresh[i] = (CeedScalar)tap_uniform(state);
  switch (call) {
  case TAKE: return take(vec, m);
  case SYNC:
  case READ:
  case END_READ: return read_or_end(vec, m, call);
  case GET: return begin_write(vec, m, true, fresh);
  case WRITE: return begin_write(vec, m, false, fresh);
  case END_WRITE: return end_write(vec, m);
  case VALUE: {
    int wanted = expected_of_write(m, false), code = CeedVectorSetValue(vec, fresh[0]);
    for (int i = 1; i < N; i++) fresh[i] = fresh[0];
    if (!wanted) model_write(m, fresh);
    return code == wanted;
  }
  default: return set_array(vec, m, call, fresh, state);
  }
}

TEST_EACH_BACKEND(random_calls_do_what_the_table_of_the_standard_says) {
  const int num_runs = tap_level() == TAP_QUICK ? 200 : 5000;

  if (has_device_memory(ceed)) NOT_FOR_THIS_BACKEND("the model knows host memory only");
  for (int run = 0; run < num_runs; run++) {
    uint64_t state = (uint64_t)run;
    CeedVector vec = make(ceed, N);
    Model m = {.lends_originals = lends_originals(ceed)};
    for (int step = 0; step < NUM_STEPS; step++) {
      int call = (int)tap_integer(&state, NUM_CALLS);
      CHECK(agree(vec, &m, call, &state), "run %d, step %d, call %d", run, step, call);
      CHECK(has_data(vec) == m.has_data, "run %d, step %d, call %d: data", run, step, call);
      CHECK(borrows(vec) == (m.borrowed != NULL), "run %d, step %d, call %d: borrowed", run, step, call);
    }
    if (m.is_locked) CHECK_OK(CeedVectorRestoreArray(vec, &m.array));
    while (m.num_readers > 0) CHECK_OK(CeedVectorRestoreArrayRead(vec, &m.reads[--m.num_readers]));
    if (m.borrowed) CHECK(!memcmp(m.borrowed, m.values, sizeof(m.values)), "run %d: borrowed values", run);
    CHECK_OK(CeedVectorDestroy(&vec));
  }
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(a_new_vector_has_a_length_and_no_values, a_length_below_zero_is_refused,
            a_vector_without_memory_fails_when_its_array_is_wanted,
            copied_values_are_independent_of_their_source,
            copying_from_null_makes_an_array_that_counts_as_data,
            a_borrowed_array_is_read_and_written_in_place,
            values_copied_into_a_borrowing_vector_go_to_the_borrowed_array, an_owned_array_is_used_and_freed,
            a_borrowed_array_replaced_or_dropped_is_left_alone,
            writing_needs_no_values_and_reading_after_it_sees_them, a_writer_keeps_everybody_out,
            readers_share_and_keep_writers_out, an_access_ends_through_a_null_pointer,
            restoring_what_was_not_lent_is_refused, a_locked_vector_gives_up_references_but_not_the_last,
            references_are_counted, device_memory_is_refused_where_there_is_none,
            arguments_that_mean_nothing_are_refused, null_vectors_are_refused, a_vector_tells_its_context,
            a_vector_of_length_zero_takes_part_in_everything,
            a_vector_of_length_zero_lends_null_whatever_it_was_given, norms_of_a_3_4_12_vector,
            scale_filter_and_reciprocal_act_on_every_entry, the_reciprocal_of_tiny_entries_is_not_taken,
            sums_and_products_of_vectors, vectors_that_do_not_fit_together_are_refused,
            strided_calls_touch_their_entries_only, ranges_outside_of_a_vector_are_refused,
            a_view_shows_one_entry_a_line, a_view_of_a_range_shows_its_arguments,
            view_tabs_of_a_vector_are_checked, random_calls_do_what_the_table_of_the_standard_says));
}
