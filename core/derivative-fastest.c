// SPDX-License-Identifier: BSD-2-Clause
// Which way of storing is fastest for a derivative (RITZ_STORED_AUTO): all of them are made and timed at the
// present state, the fastest stays. Called by core/derivative.c.
#include <ritz/operator.h>
#include <ritz/precision.h>
#include <stdio.h>

#include "core/derivative.h"
#include "core/profile.h"

enum { NUM_ROUNDS = 4, MOST_ENTRIES = 1024 }; // the second: larger matrices are not tried

// One that stores more has to be faster by this.
static const double margin = 0.97;

typedef struct {
  CeedOperator op;      // owned, NULL: not tried
  double apply, set_up; // seconds
} Candidate;

typedef struct {
  CeedInt num_applies;
  CeedVector in, out; // owned
  Candidate of[RITZ_STORED_MATRIX + 1];
} Race;

// ---- Times ----

// Hosts have done what they were told when a call returns, devices when a number of the result is asked for.
static int wait(CeedVector vec) {
  CeedScalar norm;
  if (vec->obj.ceed->backend.mem_type == CEED_MEM_HOST) return CEED_ERROR_SUCCESS;
  return CeedVectorNorm(vec, CEED_NORM_MAX, &norm);
}

// Forgets what is stored and computes it again.
static int set_up_again(CeedOperator op) {
  for (CeedInt i = 0; i < op->num_in; i++) {
    const CeedVector vec = op->in[i]->vec;
    if (vec == CEED_VECTOR_ACTIVE || vec == CEED_VECTOR_NONE || !vec->source) continue;
    ritz_vector_make_stale(vec);
    RITZ_TRY(ritz_vector_refresh(vec));
    RITZ_TRY(wait(vec));
  }
  return CEED_ERROR_SUCCESS;
}

static void keep_shorter(double begin, bool is_first, double *seconds) {
  const double time = ritz_profile_seconds() - begin;
  if (is_first || time < *seconds) *seconds = time;
}

// The first of each is not counted: it allocates memory.
static int run(Race *race, Candidate *c) {
  RITZ_TRY(RitzOperatorsPrepare(1, &c->op, NULL, false));
  for (int i = 0; i <= NUM_ROUNDS; i++) {
    double begin = ritz_profile_seconds();
    RITZ_TRY(set_up_again(c->op));
    keep_shorter(begin, i <= 1, &c->set_up);
    begin = ritz_profile_seconds();
    RITZ_TRY(CeedOperatorApply(c->op, race->in, race->out, CEED_REQUEST_IMMEDIATE));
    RITZ_TRY(wait(race->out));
    keep_shorter(begin, i <= 1, &c->apply);
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Candidates ----

static bool is_tried(CeedOperator op, const bool *are_active, RitzDerivativeStorage storage) {
  CeedSize rows = 0, columns = 0;
  bool has_basis = false;
  for (CeedInt i = 0; i < op->num_in + op->num_out; i++) {
    const CeedQFunctionField f = ritz_operator_field(op, i)->qf_field;
    if (!are_active[i]) continue;
    *(i < op->num_in ? &columns : &rows) += f->size;
    has_basis = has_basis || (i < op->num_in && f->eval_mode != CEED_EVAL_NONE);
  }
  if (storage == RITZ_STORED_INPUTS) return has_basis;
  return storage == RITZ_STORED_NOTHING || rows * columns <= MOST_ENTRIES;
}

static int make_candidates(const RitzDerivativeRequest *r, CeedOperator op, const bool *are_active,
                           Race *race) {
  for (RitzDerivativeStorage s = RITZ_STORED_NOTHING; s <= RITZ_STORED_MATRIX; s++) {
    RitzDerivativeRequest request = *r;
    request.storage = s;
    if (is_tried(op, are_active, s))
      RITZ_TRY(ritz_derivative_create(&request, op, are_active, &race->of[s].op));
  }
  return CEED_ERROR_SUCCESS;
}

static int make_vectors(CeedOperator op, Race *race) {
  RITZ_TRY(RitzVectorCreate(op->obj.ceed, op->input_size, op->precision, &race->in));
  RITZ_TRY(
      RitzVectorCreate(op->obj.ceed, op->output_size > 0 ? op->output_size : 0, op->precision, &race->out));
  return CeedVectorSetValue(race->in, 1);
}

// Of num_applies with one state.
static double seconds(const Race *race, RitzDerivativeStorage s) {
  return race->num_applies * race->of[s].apply + race->of[s].set_up;
}

static int run_all(Race *race, RitzDerivativeStorage *fastest) {
  *fastest = RITZ_STORED_NOTHING;
  for (RitzDerivativeStorage s = RITZ_STORED_NOTHING; s <= RITZ_STORED_MATRIX; s++) {
    if (!race->of[s].op) continue;
    RITZ_TRY(run(race, &race->of[s]));
    if (seconds(race, s) < margin * seconds(race, *fastest)) *fastest = s;
  }
  return CEED_ERROR_SUCCESS;
}

// ---- The choice ----

static int tell(const Race *race, RitzDerivativeStorage fastest) {
  char note[320];
  int length =
      snprintf(note, sizeof(note), "stores %s at points, measured for %" CeedInt_FMT " applies a state:",
               RitzDerivativeStorageName(fastest), race->num_applies);
  for (RitzDerivativeStorage s = RITZ_STORED_NOTHING; s <= RITZ_STORED_MATRIX; s++) {
    if (!race->of[s].op) continue;
    length +=
        snprintf(note + length, sizeof(note) - (size_t)length, "%s %s %.3g ms",
                 s > RITZ_STORED_NOTHING ? "," : "", RitzDerivativeStorageName(s), 1e3 * race->of[s].apply);
    if (s > RITZ_STORED_NOTHING)
      length += snprintf(note + length, sizeof(note) - (size_t)length, " and %.3g ms of set-up",
                         1e3 * race->of[s].set_up);
  }
  const CeedOperator op = race->of[fastest].op;
  return ritz_strdup(op->obj.ceed, note, &op->note);
}

static int create_without_race(const RitzDerivativeRequest *r, CeedOperator op, const bool *are_active,
                               CeedOperator *made) {
  RitzDerivativeRequest request = *r;
  request.storage = RITZ_STORED_NOTHING;
  RITZ_TRY(ritz_derivative_create(&request, op, are_active, made));
  const int ierr =
      ritz_strdup(op->obj.ceed,
                  op->num_elem > 0 ? "stores nothing at points: ':deterministic' measures nothing"
                                   : "stores nothing at points: there are no elements",
                  &(*made)->note);
  if (ierr) (void)CeedOperatorDestroy(made);
  return ierr;
}

int ritz_derivative_create_fastest(const RitzDerivativeRequest *r, CeedOperator op, const bool *are_active,
                                   CeedOperator *made) {
  Race race = {.num_applies = r->num_applies};
  RitzDerivativeStorage fastest = RITZ_STORED_NOTHING;

  if (op->num_elem == 0 || op->obj.ceed->repeats) return create_without_race(r, op, are_active, made);
  int ierr = make_candidates(r, op, are_active, &race);
  if (!ierr) ierr = make_vectors(op, &race);
  if (!ierr) ierr = run_all(&race, &fastest);
  if (!ierr) ierr = tell(&race, fastest);
  if (!ierr) {
    *made = race.of[fastest].op;
    race.of[fastest].op = NULL;
  }
  for (RitzDerivativeStorage s = RITZ_STORED_NOTHING; s <= RITZ_STORED_MATRIX; s++)
    (void)CeedOperatorDestroy(&race.of[s].op);
  (void)CeedVectorDestroy(&race.in);
  (void)CeedVectorDestroy(&race.out);
  return ierr;
}
