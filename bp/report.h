// SPDX-License-Identifier: BSD-2-Clause
// Results of bake-off problems as a table and as JSON. Called by bp/main.c and by `ritz bench`, whose
// other table uses the same pieces.
#ifndef RITZ_BP_REPORT_H
#define RITZ_BP_REPORT_H

#include <stdio.h>

#include "bp/bp.h"

void bp_print_heading(FILE *stream, BpMode mode);
void bp_print_row(FILE *stream, const BpResult *result);
// Says which check failed, by how much.
void bp_print_failed_checks(FILE *stream, const BpResult *result);

// One object: program, resource, size of a scalar and the array "results". Numbers that are not finite become
// null.
void bp_write_json(FILE *stream, const char *program, const char *resource, size_t num,
                   const BpResult *results);

// ---- Pieces ----

const char *bp_bound_name(BpBound bound); // "memory" and so on, "-" when it is unknown

// Lines before and after the results.
void bp_begin_json(FILE *stream, const char *program, const char *resource);
void bp_end_json(FILE *stream);
void bp_write_string(FILE *stream, const char *text);              // with quotes
void bp_write_number(FILE *stream, const char *key, double value); // after a comma
void bp_write_machine(FILE *stream, const BpMachine *machine);
void bp_write_roofline(FILE *stream, const Costs *costs, BpBound bound, double seconds_bound,
                       double roofline);

#endif
