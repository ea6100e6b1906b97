// SPDX-License-Identifier: BSD-2-Clause
// Backends with a number of threads, and what these can do at best.
#ifndef RITZ_CLI_THREADS_H
#define RITZ_CLI_THREADS_H

#include "bp/bp.h"
#include "cli/args.h"

// Values of --ceed and --threads; 0: not given.
typedef struct {
  const char *resource;
  int wanted;
} ThreadsChoice;

// Whether --threads goes with --ceed. ARGS_WRONG: a message was printed.
ArgsResult threads_check(const ArgCommand *command, const ThreadsChoice *choice);

// Opens the resource with the threads that it or --threads names, else with `otherwise` of them where it can
// have some; 0: threads_of_process(). Exit code like cli_open_ceed. *num: how many that is.
int threads_open(const ArgCommand *command, const ThreadsChoice *choice, int otherwise, Ceed *ceed, int *num);

// One for each processor that this process may use; OMP_NUM_THREADS of them where that is set.
int threads_of_processors(void);
int threads_of_process(void);
int threads_of_ceed(void); // of CeedInit("/cpu/self")
// Of each of `num_users` who share `num` threads: equal shares, at least one.
int threads_shared(int num, int num_users);

// Bandwidth and flops of the threads of the context, or of its device; zeros when the measurement fails.
// is_single: in float. Of devices the peak is measured in CeedScalar; in another precision it is infinite.
BpMachine threads_find_limits(Ceed ceed, const ThreadsChoice *choice, int num, bool is_single);
void threads_show_limits(const BpMachine *limits);

// "with 8 threads", "on NVIDIA H200", into text.
enum { THREADS_NAMED = 160 };
const char *threads_named(const BpMachine *limits, char text[THREADS_NAMED]);

#endif
