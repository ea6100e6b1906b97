// SPDX-License-Identifier: BSD-2-Clause
// The timing table of RITZ_PROFILE: where operators and passes over vectors spend their time, printed when
// the process exits. Called by the files of Ceed and CeedOperator, and by passes; backends whose work runs on
// after a call returns hand in times later.
//
// RITZ_PROFILE=1 prints to stderr, RITZ_PROFILE=FILE to that file; unset, empty or 0: nothing is counted. A
// set-uid program ignores it. It is looked at when a context is made.
#ifndef RITZ_CORE_PROFILE_H
#define RITZ_CORE_PROFILE_H

#include "core/core.h"

// Where a call is added, once its time is known. Valid until the process ends.
struct RitzProfileCall {
  RitzProfileRow *row;
  bool is_first;       // of its operator: kernels are compiled or loaded in it
  double host_seconds; // until the call returned
};

// ceed->profile and ceed->note are set where calls are counted; `resource` is what the program asked for.
int ritz_profile_open(Ceed ceed, const char *resource);
// Waits for the times of queued work. What fails is left out of the table.
void ritz_profile_close(Ceed ceed);

// Around a call of a backend's slot, where op->obj.ceed->profile is set. *begin goes to the end, ierr is the
// slot's code: a call that fails is not counted, and the code is returned.
int ritz_profile_begin(Ceed ceed, double *begin);
int ritz_profile_end(CeedOperator op, RitzProfileAction action, double begin, int ierr);

// The kernels of all these were made together before their first calls: each gets an equal share of the time
// since `begin`.
void ritz_profile_prepared(CeedInt num, const CeedOperator *ops, double begin);
double ritz_profile_seconds(void); // of a clock that starts at any value

// Bandwidth and flops of the context, as far as they are known without measuring: zeros else, and on devices.
int ritz_profile_limits(Ceed ceed, RitzLimits *limits);

// A part of a solver's work, such as the smoothing of a multigrid level, that began at `begin`: a row of its
// own, `name`, of vectors with `size` entries, beside the rows of the operators that it applies. *row: NULL
// at first, kept by the caller. *seconds: since `begin`, on devices until the last operator has ended. Where
// ceed->profile is set.
int ritz_profile_part(Ceed ceed, const char *name, CeedSize size, double begin, RitzProfileRow **row,
                      double *seconds);

// The end of a pass over vectors that ritz_profile_begin has begun: a row for each name precisions
// (static; NULL: the library's own), number of entries and cost. ierr: as in ritz_profile_end.
typedef struct {
  const char *name, *precisions;
  CeedSize size;
  RitzOperatorCost cost;
} RitzProfilePass;
int ritz_profile_end_pass(Ceed ceed, const RitzProfilePass *pass, double begin, int ierr);

// For timers of backends (timer_end in core/backend.h): a call and its time on the device.
void ritz_profile_add(const RitzProfileCall *call, double seconds);

#endif
