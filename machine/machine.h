// SPDX-License-Identifier: BSD-2-Clause
// What the files of this folder share, and the tests: measurements with less effort than the public ones.
#ifndef RITZ_MACHINE_MACHINE_H
#define RITZ_MACHINE_MACHINE_H

#include <ritz/machine.h>
#include <stddef.h>

#include "base/threads.h"

typedef struct {
  double seconds;   // per figure; at least three runs
  size_t max_bytes; // of the arrays
} RitzMachineEffort;

// Facts, and figures if they are kept; nothing is measured.
int ritz_machine_find(RitzMachine *machine, bool *found);
// RitzMachineMeasure and RitzMachineGet.
int ritz_machine_measure(int num_threads, RitzMachineEffort effort, RitzMachine *machine);
int ritz_machine_get(bool measure_again, RitzMachineEffort effort, RitzMachine *machine);

// Shortest time of one run of the team, of as many runs as fit into `seconds`.
int ritz_machine_time(RitzTeam team, int (*run)(void *data, int thread), void *data, double seconds,
                      double *shortest);

// The text behind `name` in the first such line of /proc/cpuinfo, else `otherwise`.
void ritz_machine_value(const char *name, const char *otherwise, char *value, int size);
// Load of all processors of the machine by all programs, this one included; 0: unknown.
int64_t ritz_machine_load_percent(void);

// ---- bandwidth.c ----
int ritz_machine_bandwidth(RitzTeam team, size_t num_bytes, double seconds, RitzMachineRates *rates);

// ---- fma.c ----
int ritz_machine_vector_bits(void);
int ritz_machine_flops(RitzTeam team, double seconds, RitzMachineRates *rates);

// ---- file.c ----
// Completes the facts of this machine by the figures of the file; *found tells whether there are any.
int ritz_machine_load(RitzMachine *machine, bool *found);
int ritz_machine_keep(const RitzMachine *machine); // nothing happens when the file cannot be written

#endif
