// SPDX-License-Identifier: BSD-2-Clause
// Results of bake-off problems as a table and as JSON. Called by bp/main.c and by `ritz bench`, whose
// other table uses the same pieces.
#ifndef RITZ_BP_REPORT_H
#define RITZ_BP_REPORT_H

#include <stdio.h>

#include "bp/bp.h"
#include "bp/rows.h"

void bp_print_heading(FILE *stream, BpMode mode);
void bp_print_row(FILE *stream, const BpResult *result);
// Says which check failed, by how much.
void bp_print_failed_checks(FILE *stream, const BpResult *result);

void bp_write_json(FILE *stream, const char *program, const char *resource, size_t num,
                   const BpResult *results);

// ---- Values of several benchmarks ----

const char *bp_bound_name(BpBound bound); // "memory" and so on, "-" when it is unknown
void bp_describe_machine(Row *row, const BpMachine *machine);
void bp_describe_bound(Row *row, BpBound bound, double seconds_bound, double roofline);

#endif
