// SPDX-License-Identifier: BSD-2-Clause
// Copies that are lent out instead of a vector's own array. A returned copy is filled with NaN and kept until
// the next access of its vector, so that a stale pointer reads NaN and not memory of another use.
#include <string.h>

#include "backends/check/check.h"
#include "backends/check/device.h"

typedef struct Loan Loan;
struct Loan {
  void *copy; // owned, guarded; in device memory if that was asked for
  void *real; // borrowed: the vector's own array; NULL: returned
  RitzAccess access;
  Loan *next; // owned
};

static void free_loan(CeedVector vec, Loan *loan) {
  if (loan->copy) ritz_check_device_leave(vec->obj.ceed, loan->copy);
  ritz_check_guarded_free(vec->storage.entry_bytes, &loan->copy);
  RITZ_FREE(&loan);
}

static void remove_returned(CeedVector vec) {
  Loan **link = (Loan **)&vec->watch;
  while (*link) {
    Loan *loan = *link;
    if (loan->real) {
      link = &loan->next;
      continue;
    }
    *link = loan->next;
    free_loan(vec, loan);
  }
}

// The vector's own array in device memory may be the caller's, who may have freed it.
static int make_copy(CeedVector vec, RitzAccess access, RitzRepKind kind, const void *real, void **copy) {
  Ceed ceed = vec->obj.ceed;
  size_t num_bytes = vec->storage.num_bytes;
  if (kind == RITZ_REP_DEVICE) RITZ_TRY(ritz_check_device_require(ceed, "CeedVector", num_bytes, real));
  RITZ_TRY(ritz_check_guarded_alloc(ceed, vec->length, vec->storage.entry_bytes, access == RITZ_ACCESS_WRITE,
                                    copy));
  if (kind == RITZ_REP_DEVICE) RITZ_TRY(ritz_check_device_enter(ceed, *copy, num_bytes, true));
  if (access != RITZ_ACCESS_WRITE) memcpy(*copy, real, num_bytes);
  return CEED_ERROR_SUCCESS;
}

int ritz_check_vector_lend(CeedVector vec, RitzAccess access, RitzRepKind kind, void **array) {
  Ceed ceed = vec->obj.ceed;
  Loan *loan = NULL;
  remove_returned(vec);
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &loan));
  int ierr = make_copy(vec, access, kind, *array, &loan->copy);
  if (ierr) {
    free_loan(vec, loan);
    return ierr;
  }
  loan->real = *array;
  loan->access = access;
  loan->next = vec->watch;
  vec->watch = loan;
  *array = loan->copy;
  return CEED_ERROR_SUCCESS;
}

// The loan of this array, or the newest one that has not been returned. A program that keeps no pointer
// restores NULL: the newest one, as accesses that are nested end.
static Loan *find_loan(CeedVector vec, const void *array, bool *is_foreign) {
  Loan *newest = NULL;
  *is_foreign = false;
  for (Loan *loan = vec->watch; loan; loan = loan->next) {
    if (!loan->real) continue;
    if (loan->copy == array) return loan;
    if (!newest) newest = loan;
  }
  *is_foreign = array != NULL;
  return newest;
}

// The access ends and the vector gets the values even when a check fails, so that it stays usable. core/ has
// checked that something is lent.
int ritz_check_vector_take_back(CeedVector vec, void *array) {
  Ceed ceed = vec->obj.ceed;
  bool is_foreign;
  Loan *loan = find_loan(vec, array, &is_foreign);
  bool is_intact = ritz_check_guards_are_intact(loan->copy, vec->length, vec->storage.entry_bytes);
  bool is_changed =
      loan->access == RITZ_ACCESS_READ && memcmp(loan->copy, loan->real, vec->storage.num_bytes);
  if (loan->access != RITZ_ACCESS_READ) memcpy(loan->real, loan->copy, vec->storage.num_bytes);
  ritz_check_fill_marked(vec->length, vec->storage.entry_bytes, loan->copy);
  loan->real = NULL;
  RITZ_REQUIRE(!is_foreign, ceed, CEED_ERROR_BACKEND,
               "check: the array that is restored is not one that this vector has lent");
  RITZ_REQUIRE(is_intact, ceed, CEED_ERROR_BACKEND,
               "check: CeedVector array of %" CeedSize_FMT " entries was written outside its bounds",
               vec->length);
  RITZ_REQUIRE(!is_changed, ceed, CEED_ERROR_BACKEND,
               "check: CeedVector array was changed through read-only access");
  return CEED_ERROR_SUCCESS;
}

// Locks were checked: nothing is lent any more.
void ritz_check_vector_forget(CeedVector vec) { remove_returned(vec); }
