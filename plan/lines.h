// SPDX-License-Identifier: BSD-2-Clause
// Lines of values in shared memory: strides of the arrays, and which
// thread takes which line, so that threads that are served together touch different banks. Called when the
// plan of a fused GPU kernel is made and when its tables are filled.
//
// Threads walk along lines of one direction in step: all add the same to the addresses where their lines
// begin. Whether they meet in a bank is thus decided by the banks of these addresses, address % num_banks.
// A group of num_banks consecutive threads is served at once (a wavefront) when no two of them meet, else as
// many times as threads meet in one bank. Banks are counted in values: 16 for double, 32 for float.
//
// In a pass of RITZ_LINES_SHARED four threads side by side take neighbouring values of one line: the lines of
// num_banks / 4 consecutive threads of `slots` are served together.
#ifndef RITZ_PLAN_LINES_H
#define RITZ_PLAN_LINES_H

#include <ceed.h>

// Largest number of banks: those of float, 4 bytes each.
enum { RITZ_MAX_BANKS = 32 };

// Values at (i, j, k) of element e of a block lie at e * elem + i + j * row + k * plane in an array.
typedef struct {
  int row, plane, elem;
} RitzLineStrides;

typedef enum {
  RITZ_ALONG_FIRST,  // a line is all i at one (j, k)
  RITZ_ALONG_MIDDLE, // all j at one (i, k)
  RITZ_ALONG_LAST,   // all k at one (i, j)
} RitzDirection;

typedef enum {
  RITZ_LINES_FREE,       // any order: assigned to avoid conflicts
  RITZ_LINES_NATURAL,    // thread = elem * lines + line (global memory is read in this order)
  RITZ_LINES_BY_ELEMENT, // thread = line * num_elem + elem: the same line of neighbours side by side
  RITZ_LINES_BY_ROW,     // thread = (j * num_elem + elem) * num[0] + i: rows of neighbours side by side
  RITZ_LINES_BY_WARP,    // natural by 2 * num_banks, assigned to avoid conflicts among these
  RITZ_LINES_SHARED,     // any order: assigned to avoid conflicts where four threads share a line
} RitzLineOrder;

// One step of a kernel, in which each thread reads or writes whole lines.
typedef struct {
  RitzDirection along;
  int num[2];    // lines in the two other directions, the lower one first; 1 where there is none
  double weight; // accesses to a line's entries per thread, relative
  RitzLineOrder order;
} RitzLinePass;

// Where line (i, j) of element e begins; i and j count along the two other directions, the lower one first.
int ritz_line_address(const RitzLinePass *pass, const RitzLineStrides *strides, int e, int i, int j);

// Strides for arrays of at least extent[0] x extent[1] x extent[2] values an element and num_elem elements,
// which do not overlap: those with the fewest wavefronts, weighted over the passes, at little memory. Extents
// of 1 stand for directions that there are not. FREE passes count as well as they can be assigned, SHARED
// ones and those BY_WARP at least as well.
void ritz_lines_choose_strides(const int extent[3], int num_elem, int num_passes, const RitzLinePass *passes,
                               int num_banks, RitzLineStrides *strides);

// (*slots)[round * num_threads + thread], the caller's to free with RITZ_FREE: the line e * num[0] * num[1] +
// j * num[0] + i that a thread takes in a round, or -1 for none. *num_rounds is the least that suffices. FREE
// lines occupy the first groups of threads, as few as do with the fewest wavefronts (the fewest possible
// where num_banks divides num_threads).
int ritz_lines_assign(Ceed ceed, const RitzLinePass *pass, const RitzLineStrides *strides, int num_elem,
                      int num_threads, int num_banks, int *num_rounds, int **slots);

// Shared-memory wavefronts for one access to all lines in these slots; of SHARED passes, to four values of
// each.
int ritz_lines_count(const RitzLinePass *pass, const RitzLineStrides *strides, int num_threads, int num_banks,
                     int num_rounds, const int *slots);

#endif
