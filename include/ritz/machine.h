// SPDX-License-Identifier: BSD-2-Clause
// What this machine can do at best: memory bandwidth and floating-point rates, measured, not looked up. The
// denominators of rooflines. A measurement takes about two seconds; RitzMachineGet keeps the figures.
//
// File: machine.txt in the folder of RitzJitGetFolder ($RITZ_CACHE_DIR, ...; without one nothing is read or
// written). It appears by rename, so processes may share it; one of another owner, of other hardware or
// microcode, with implausible figures or anything unexpected in it counts as missing. So do figures that are
// older than half a year, and those that were measured beside other programs (load_percent above 50) once
// these ask for less than half of that.
#ifndef RITZ_MACHINE_H
#define RITZ_MACHINE_H

#include <ceed.h>
#include <stdbool.h>
#include <stdint.h>

// Rates of one or several threads together, whole numbers per second. Bytes and operations are those that
// the program asks for: what a cache reads on its own to complete a written line is not counted.
typedef struct {
  int64_t triad_bandwidth;  // bytes/s of a = b + s c: 24 bytes an entry
  int64_t update_bandwidth; // bytes/s of a += b + ... + h, seven arrays read and one updated, as operators do
  int64_t double_flops;     // of independent fused multiply-adds in registers, each counts as two
  int64_t single_flops;
} RitzMachineRates;

typedef struct {
  char cpu_name[128]; // as the system calls it, or "unknown"
  int num_processors; // that this process may use
  int vector_bits;    // width of the registers that the multiply-adds were done in
  int64_t l1_bytes;   // data caches of the first processor, 0: unknown
  int64_t l2_bytes;
  int64_t l3_bytes;
  int64_t last_level_bytes; // of all last-level caches that num_processors processors share, 0: unknown
  int64_t measured;         // when, seconds since 1970
  int64_t load_percent;     // what other programs asked for then, of all processors of the machine
  int num_threads;          // of `all`
  RitzMachineRates one;     // one thread
  RitzMachineRates all;     // num_threads threads at the same time
} RitzMachine;

// Measures with one thread and with num_threads >= 1 (0: num_processors); nothing is kept. Temporary memory:
// four times the last-level caches, at most 1 GiB and a quarter of what the process may have. Other work on
// the machine lowers the figures. Errors, reported without a context: CEED_ERROR_INCOMPATIBLE (num_threads
// < 0, machine is NULL), CEED_ERROR_MAJOR (no memory).
CEED_EXTERN int RitzMachineMeasure(int num_threads, RitzMachine *machine);

// The figures of the file when they are of this processor, with this number of processors, and measure_again
// is false. Else measures with all processors, and keeps that; figures that cannot be kept are no error.
CEED_EXTERN int RitzMachineGet(bool measure_again, RitzMachine *machine);

// Threads that a context computes with; 1 where its backend has none, on devices, too. As many as this
// process may use (its affinity mask, the quota of its control groups) after
// CeedInit("/cpu/self/gen:threads=all").
CEED_EXTERN int RitzGetNumThreads(Ceed ceed, CeedInt *num);

#endif
