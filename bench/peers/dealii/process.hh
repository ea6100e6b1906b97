// SPDX-License-Identifier: BSD-2-Clause
// How the programs of the deal.II peer start: large pages, one MPI rank a core, numbers of the command line.
#ifndef RITZ_BENCH_PEERS_DEALII_PROCESS_HH
#define RITZ_BENCH_PEERS_DEALII_PROCESS_HH

// Whether the text is a number in [least, most]; stores it.
bool parse_number(const char *text, double least, double most, double *value);

// Starts the program again with an allocator that asks for large pages, as Ritz does for its arrays. glibc
// reads the setting before main; the ranks inherit it.
void ask_for_large_pages(char **argv);

// Becomes `mpiexec -n num_ranks` of this program, all else as it was, without its argument --threads. Returns
// when that fails.
void start_ranks(int num_ranks, int argc, char **argv);

// Rank r gets the r-th processor of those that the program was given, if there are enough.
void pin(int rank, int num_ranks);

#endif
