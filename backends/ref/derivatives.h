// SPDX-License-Identifier: BSD-2-Clause
// Derivatives of an operator's QFunction on one element after the other, and the tables of its active fields
// there: what diagonals and matrices are made from.
#ifndef RITZ_BACKENDS_REF_DERIVATIVES_H
#define RITZ_BACKENDS_REF_DERIVATIVES_H

#include "backends/ref/state.h"

typedef struct {
  CeedOperator op; // borrowed
  RitzRefState state;
  bool uses_cache;          // else the function is evaluated
  const CeedScalar *cached; // array of the assembled QFunction that is reused
  CeedScalar *D;            // owned, derivatives on the current element
  CeedScalar *tables[2];    // owned, operators at points: tables of an output and of an input group on the
                            // current element, with room for any
  CeedSize N_in, N_out;     // scalars of all active inputs and outputs
  CeedInt num_points;       // of the current element
} RitzRefDerivatives;

// Several of them for the threads of a context: one for each slot of ritz_run_elements; one where the
// function writes to its context on the first element, and on backends without threads.
typedef struct {
  CeedOperator op; // borrowed
  int num_slots;
  RitzRefDerivatives *d; // owned [num_slots]
  int *codes;            // owned [num_slots], of the last run
} RitzRefCrew;
// Close also after a failed open; it passes on `ierr`, or else its own failure.
int ritz_ref_crew_open(CeedOperator op, bool use_cache, RitzRefCrew *crew);
int ritz_ref_crew_close(RitzRefCrew *crew, int ierr);
// Calls visit for elements first .. first + num - 1 after moving there, ascending in each slot.
typedef int (*RitzRefVisit)(RitzRefDerivatives *d, void *data, int slot, CeedInt elem);
int ritz_ref_crew_run(RitzRefCrew *crew, CeedInt first, CeedInt num, RitzRefVisit visit, void *data);

// Derivatives of active output scalar o by active input scalar i at all points of the element: array
// [num_points].
const CeedScalar *ritz_ref_derivatives_entry(const RitzRefDerivatives *d, CeedSize o, CeedSize i);

// Most points that an element has.
CeedInt ritz_ref_max_points(CeedOperator op);
// Nodes of a group on the current element.
CeedInt ritz_ref_group_num_nodes(const RitzRefDerivatives *d, bool is_input, CeedInt group);
// Table [num_points][num_modes][nodes] of a group on the current element; valid until the next call for the
// same direction. Threads need it to be there already, where it is not at points.
int ritz_ref_group_table(RitzRefDerivatives *d, bool is_input, CeedInt group, const CeedScalar **table);

#endif
