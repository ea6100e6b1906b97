// SPDX-License-Identifier: BSD-2-Clause
// Copies that are lent out instead of a vector's own array. A returned copy is filled with NaN and kept until
// the next access of its vector, so that a stale pointer reads NaN and not somebody else's memory.
#include <string.h>

#include "backends/check/check.h"

typedef struct Loan Loan;
struct Loan {
  CeedScalar *copy; // owned, guarded
  CeedScalar *real; // borrowed: the vector's own array; NULL: returned
  RitzAccess access;
  Loan *next; // owned
};

static void remove_returned(CeedVector vec) {
  Loan **link = (Loan **)&vec->watch;
  while (*link) {
    Loan *loan = *link;
    if (loan->real) {
      link = &loan->next;
      continue;
    }
    *link = loan->next;
    ritz_check_guarded_free(&loan->copy);
    RITZ_FREE(&loan);
  }
}

int ritz_check_vector_lend(CeedVector vec, RitzAccess access, CeedScalar **array) {
  Ceed ceed = vec->obj.ceed;
  Loan *loan = NULL;
  remove_returned(vec);
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &loan));
  int ierr = ritz_check_guarded_alloc(ceed, vec->length, access == RITZ_ACCESS_WRITE, &loan->copy);
  if (ierr) {
    RITZ_FREE(&loan);
    return ierr;
  }
  if (access != RITZ_ACCESS_WRITE) memcpy(loan->copy, *array, vec->storage.num_bytes);
  loan->real = *array;
  loan->access = access;
  loan->next = vec->watch;
  vec->watch = loan;
  *array = loan->copy;
  return CEED_ERROR_SUCCESS;
}

static Loan *find_loan(CeedVector vec, const CeedScalar *array) {
  Loan *loan = vec->watch;
  while (loan && (loan->copy != array || !loan->real)) loan = loan->next;
  return loan;
}

// The vector gets the values even when a check fails, so that it stays usable.
int ritz_check_vector_take_back(CeedVector vec, CeedScalar *array) {
  Ceed ceed = vec->obj.ceed;
  Loan *loan = find_loan(vec, array);
  RITZ_REQUIRE(loan, ceed, CEED_ERROR_BACKEND,
               "check: the array that is restored is not one that this vector has lent");
  bool is_intact = ritz_check_guards_are_intact(loan->copy, vec->length);
  bool is_changed =
      loan->access == RITZ_ACCESS_READ && memcmp(loan->copy, loan->real, vec->storage.num_bytes);
  if (loan->access != RITZ_ACCESS_READ) memcpy(loan->real, loan->copy, vec->storage.num_bytes);
  ritz_check_fill_marked(vec->length, loan->copy);
  loan->real = NULL;
  RITZ_REQUIRE(is_intact, ceed, CEED_ERROR_BACKEND,
               "check: CeedVector array of %" CeedSize_FMT " entries was written outside its bounds",
               vec->length);
  RITZ_REQUIRE(!is_changed, ceed, CEED_ERROR_BACKEND,
               "check: CeedVector array was changed through read-only access");
  return CEED_ERROR_SUCCESS;
}

// Locks were checked: nothing is lent any more.
void ritz_check_vector_forget(CeedVector vec) { remove_returned(vec); }
