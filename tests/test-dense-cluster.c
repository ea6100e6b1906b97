// SPDX-License-Identifier: BSD-2-Clause
// The dense solver's panel by a cluster of blocks (kernels/gpu/dense-cluster.h) without a device: its text is
// compiled for the host, a thread of which plays a thread of the device. Pivots, moves and entries are those
// of elimination with swaps, column by column.
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

// ---- The device's language, played ----

enum { NUM_BLOCKS = 3, NUM_THREADS = 64, WARP = 32, NUM_WARPS = NUM_BLOCKS * NUM_THREADS / WARP };

static _Thread_local int my_block, my_thread;
static pthread_barrier_t of_cluster, of_block[NUM_BLOCKS], of_warp[NUM_WARPS];
static unsigned exchanged[NUM_BLOCKS * NUM_THREADS];

#define RITZ_PLAYED
#define RITZ_KERNEL_CLUSTER(num_threads, num_blocks) static void
#define RITZ_INLINE                                  __attribute__((unused)) static inline
#define RITZ_UNROLL
#define RITZ_BARRIER() pthread_barrier_wait(&of_block[my_block])
#define RITZ_THREAD    my_thread
#define RITZ_BLOCK     my_block
typedef long long RitzLong;

static unsigned ritz_most(unsigned x) {
  const int me = my_block * NUM_THREADS + my_thread, warp = me / WARP;
  unsigned most = 0;
  exchanged[me] = x;
  pthread_barrier_wait(&of_warp[warp]);
  for (int i = warp * WARP; i < (warp + 1) * WARP; i++) most = exchanged[i] > most ? exchanged[i] : most;
  pthread_barrier_wait(&of_warp[warp]);
  return most;
}
static int ritz_least(int x) { return (int)(0x7fffffffu - ritz_most(0x7fffffffu - (unsigned)x)); }
static unsigned ritz_high_word(RitzLong bits) { return (unsigned)((unsigned long long)bits >> 32); }
static void ritz_cluster_barrier(void) { pthread_barrier_wait(&of_cluster); }
static RitzLong __double_as_longlong(double x) {
  RitzLong bits;
  memcpy(&bits, &x, sizeof(bits));
  return bits;
}
static int atomicAdd(int *p, int x) { return __atomic_fetch_add(p, x, __ATOMIC_SEQ_CST); }

#define RITZ_CLUSTER         NUM_BLOCKS
#define RITZ_CLUSTER_THREADS NUM_THREADS
#define RITZ_ROWS_HELD       4
#include "kernels/gpu/dense-cluster.h"

// ---- A panel within a matrix ----

enum { N = 600, LD = N + 8, MOVES = 2 * RITZ_PANEL };

typedef struct {
  int first, num, bad;
  double F[(size_t)LD * N];
  int pivots[N], moves[(N / RITZ_PANEL + 1) * RITZ_MOVES_STRIDE];
} Panel;

typedef struct {
  Panel *panel;
  int block, thread;
} Part;

static void *run_part(void *data) {
  const Part *part = data;
  Panel *p = part->panel;
  my_block = part->block;
  my_thread = part->thread;
  ritz_panel_cluster(N, LD, p->F, p->first, p->num, p->pivots, p->moves, &p->bad);
  return NULL;
}

static void run(Panel *p) {
  pthread_t threads[NUM_BLOCKS * NUM_THREADS];
  Part parts[NUM_BLOCKS * NUM_THREADS];
  for (int t = 0; t < NUM_BLOCKS * NUM_THREADS; t++) {
    parts[t] = (Part){p, t / NUM_THREADS, t % NUM_THREADS};
    if (pthread_create(&threads[t], NULL, run_part, &parts[t])) abort();
  }
  for (int t = 0; t < NUM_BLOCKS * NUM_THREADS; t++) pthread_join(threads[t], NULL);
}

// Elimination with swaps; order: where the row of each place was.
static int eliminate(double *F, int first, int num, int *pivots, int *order) {
  int bad = 0;
  for (int i = 0; i < N; i++) order[i] = i;
  for (int d = first; d < first + num; d++) {
    int best = d;
    for (int i = d; i < N; i++) {
      if (fabs(F[i + d * LD]) > fabs(F[best + d * LD])) best = i;
    }
    for (int j = first; j < first + num; j++) {
      const double kept = F[d + j * LD];
      F[d + j * LD] = F[best + j * LD];
      F[best + j * LD] = kept;
    }
    const int kept = order[d];
    order[d] = order[best];
    order[best] = kept;
    pivots[d] = best;
    if (F[d + d * LD] == 0 && !bad) bad = d + 1;
    for (int i = d + 1; i < N && F[d + d * LD] != 0; i++) {
      F[i + d * LD] /= F[d + d * LD];
      for (int j = d + 1; j < first + num; j++) F[i + j * LD] -= F[i + d * LD] * F[d + j * LD];
    }
  }
  return bad;
}

static void check(const Panel *p, const double *F, int bad, const int *pivots, const int *order) {
  const int *moves = p->moves + p->first / RITZ_PANEL * RITZ_MOVES_STRIDE;
  int num_moved = 0;
  CHECK(p->bad == bad, "bad %d, wanted %d", p->bad, bad);
  for (int d = p->first; d < p->first + p->num; d++)
    CHECK(p->pivots[d] == pivots[d], "pivot %d: %d, wanted %d", d, p->pivots[d], pivots[d]);
  for (int i = 0; i < N; i++) num_moved += order[i] != i;
  CHECK(moves[0] == num_moved, "%d rows move, wanted %d", moves[0], num_moved);
  for (int e = 0; e < moves[0] && e < MOVES; e++)
    CHECK(order[moves[1 + e]] == moves[1 + MOVES + e], "row %d gets %d", moves[1 + e], moves[1 + MOVES + e]);
  for (int e = 0; e < LD * N; e++) // sums in the same order; products may be fused
    CHECK(fabs(p->F[e] - F[e]) <= 1e-9, "entry (%d, %d): %g, wanted %g", e % LD, e / LD, p->F[e], F[e]);
}

// range: of integers, few of which make ties. zero: a column of zeros, or -1.
static void factorize(int first, int num, uint64_t range, int zero) {
  static Panel p;
  static double F[(size_t)LD * N];
  uint64_t state = (uint64_t)(first + num) + range;
  int pivots[N], order[N];
  memset(&p, 0, sizeof(p));
  p.first = first;
  p.num = num;
  for (int e = 0; e < LD * N; e++)
    p.F[e] = e / LD == zero ? 0 : (double)tap_integer(&state, range) - (double)(range / 2);
  memcpy(F, p.F, sizeof(F));
  const int bad = eliminate(F, first, num, pivots, order);
  run(&p);
  check(&p, F, bad, pivots, order);
}

TEST(a_cluster_factorizes_panels_as_elimination_with_swaps_does) {
  pthread_barrier_init(&of_cluster, NULL, NUM_BLOCKS * NUM_THREADS);
  for (int b = 0; b < NUM_BLOCKS; b++) pthread_barrier_init(&of_block[b], NULL, NUM_THREADS);
  for (int w = 0; w < NUM_WARPS; w++) pthread_barrier_init(&of_warp[w], NULL, WARP);
  factorize(0, RITZ_PANEL, 1 << 20, -1);
  factorize(64, RITZ_PANEL, 3, -1);                                    // ties
  factorize(96, RITZ_PANEL, 1 << 20, 96 + 19);                         // a pivot of zero
  factorize(N / RITZ_PANEL * RITZ_PANEL, N % RITZ_PANEL, 1 << 20, -1); // rows and columns that end
}

int main(int argc, char **argv) {
  return tap_main(argc, argv, TESTS(a_cluster_factorizes_panels_as_elimination_with_swaps_does));
}
