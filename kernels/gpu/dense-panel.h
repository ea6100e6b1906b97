// SPDX-License-Identifier: BSD-2-Clause
// Dense solver on CUDA devices: LU of a panel by as many blocks as it takes that a thread has a row in its
// registers. Comes behind kernels/gpu/dense-factor.h. All blocks are resident at once: the host sees to it.
#ifndef RITZ_KERNELS_GPU_DENSE_PANEL_H
#define RITZ_KERNELS_GPU_DENSE_PANEL_H

#include "kernels/gpu/dense-factor.h"

enum { RITZ_PANEL_ROWS = 256 };

// The best of value and place over a block, which all of its threads get: the largest value, among equal ones
// the smallest place. shared: 8 of each.
RITZ_INLINE void ritz_best(RitzEntry *value, int *place, RitzEntry *values, int *places) {
  RITZ_UNROLL
  for (int step = 16; step > 0; step /= 2) {
    const RitzEntry other = __shfl_xor_sync(0xffffffffu, *value, step);
    const int where = __shfl_xor_sync(0xffffffffu, *place, step);
    if (other > *value || (other == *value && where < *place)) {
      *value = other;
      *place = where;
    }
  }
  if (RITZ_THREAD % 32 == 0) {
    values[RITZ_THREAD / 32] = *value;
    places[RITZ_THREAD / 32] = *place;
  }
  RITZ_BARRIER();
  *value = values[0];
  *place = places[0];
  for (int w = 1; w < RITZ_PANEL_ROWS / 32; w++) {
    if (values[w] > *value || (values[w] == *value && places[w] < *place)) {
      *value = values[w];
      *place = places[w];
    }
  }
}

// Rows stay where they are, and remember where LAPACK's swaps would have put them. A step: each block offers
// its best row, waits until all have done so, and finds the best of the offers. Offers take turns between two
// places, so that nobody overwrites what is still read. arrived [n], zeros: blocks that have offered for a
// column. offers [2][blocks][RITZ_PANEL + 1], places [2][blocks]. moves [panels][]: of this one the first
// number is 0 before.
RITZ_KERNEL_RESIDENT(RITZ_PANEL_ROWS, 2)
ritz_panel_wide(int n, RitzLong ld, RitzEntry *F, int first, int num, int num_blocks, int *pivots, int *moves,
                int *bad, int *arrived, RitzEntry *offers, int *offered_places) {
  RITZ_SHARED_ARRAY RitzEntry values[RITZ_PANEL_ROWS / 32], row[RITZ_PANEL];
  RITZ_SHARED_ARRAY int places[RITZ_PANEL_ROWS / 32], winner[1];
  const int block = (int)RITZ_BLOCK, mine = first + block * RITZ_PANEL_ROWS + RITZ_THREAD;
  RitzEntry *const P = F + first * ld;
  int *const moved = moves + (RitzLong)(first / RITZ_PANEL) * RITZ_MOVES_STRIDE;
  RitzEntry a[RITZ_PANEL];
  int place = mine, is_open = mine < n;
  RITZ_UNROLL
  for (int j = 0; j < RITZ_PANEL; j++) a[j] = is_open && j < num ? P[mine + j * ld] : 0;
  RITZ_UNROLL
  for (int k = 0; k < RITZ_PANEL; k++) {
    if (k >= num) break;
    const int d = first + k, turn = k % 2;
    RitzEntry *const offer = offers + (RitzLong)turn * num_blocks * (RITZ_PANEL + 1);
    volatile int *const offer_places = offered_places + turn * num_blocks;
    RitzEntry value = is_open ? RITZ_SIZE(a[k]) : -2;
    if (is_open && !(value >= 0)) value = -1; // not a number
    int best = is_open ? place : 0x7fffffff;
    ritz_best(&value, &best, values, places);
    if (is_open && place == best) {
      RITZ_UNROLL
      for (int j = 0; j < RITZ_PANEL; j++) __stcg(offer + block * (RITZ_PANEL + 1) + j, a[j]);
    }
    if (RITZ_THREAD == 0) {
      __stcg(offer + block * (RITZ_PANEL + 1) + RITZ_PANEL, value);
      offer_places[block] = best;
    }
    RITZ_PUBLISH();
    RITZ_BARRIER();
    if (RITZ_THREAD == 0) {
      atomicAdd(arrived + d, 1);
      while (*(volatile int *)(arrived + d) < num_blocks) {
      }
      RITZ_PUBLISH();
    }
    RITZ_BARRIER();
    value = -3;
    best = 0x7fffffff;
    int from = 0;
    for (int b = RITZ_THREAD; b < num_blocks; b += RITZ_PANEL_ROWS) {
      const RitzEntry other = __ldcg(offer + b * (RITZ_PANEL + 1) + RITZ_PANEL);
      const int where = offer_places[b];
      if (other > value || (other == value && where < best)) {
        value = other;
        best = where;
        from = b;
      }
    }
    const int own = best;
    ritz_best(&value, &best, values, places);
    if (own == best) winner[0] = from; // one thread: places differ
    RITZ_BARRIER();
    if (RITZ_THREAD < RITZ_PANEL)
      row[RITZ_THREAD] = __ldcg(offer + winner[0] * (RITZ_PANEL + 1) + RITZ_THREAD);
    RITZ_BARRIER();
    const RitzEntry pivot = row[k];
    if (block == 0 && RITZ_THREAD == 0) {
      pivots[d] = best;
      if (!(pivot != 0 && RITZ_FINITE(pivot)) && *bad == 0) *bad = d + 1;
    }
    if (is_open && place == best) {
      place = d;
      is_open = 0;
    } else if (place == d) {
      place = best;
    }
    if (is_open && pivot != 0) {
      a[k] /= pivot;
      RITZ_UNROLL
      for (int j = k + 1; j < RITZ_PANEL; j++) a[j] -= a[k] * row[j];
    }
  }
  if (mine < n && place != mine) {
    const int e = atomicAdd(moved, 1);
    moved[1 + e] = place;
    moved[1 + RITZ_MOVES + e] = mine;
  }
  RITZ_UNROLL
  for (int j = 0; j < RITZ_PANEL; j++) {
    if (mine < n && j < num) P[place + j * ld] = a[j];
  }
}

#endif
