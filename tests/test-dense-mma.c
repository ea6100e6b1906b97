// SPDX-License-Identifier: BSD-2-Clause
// The dense solver's products in double by tensor cores (kernels/gpu/dense-mma-f64.h) without a device: the
// text is compiled for the host, a thread of which plays a thread of the device. Entries are small integers:
// sums are exact, and one term missing or twice would show.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

// ---- The device's language, played ----

enum { NUM_THREADS = 256, WARP = 32 };

static _Thread_local int my_thread;
static int my_block;
static pthread_barrier_t of_block, of_warp[NUM_THREADS / WARP];

#define RITZ_PLAYED
#define RITZ_KERNEL(num_threads) static void
#define RITZ_INLINE              __attribute__((unused)) static inline
#define RITZ_GLOBAL
#define RITZ_UNROLL
#define RITZ_BARRIER() pthread_barrier_wait(&of_block)
#define RITZ_THREAD    my_thread
#define RITZ_BLOCK     ((RitzLong)my_block)
typedef long long RitzLong;

#include "tests/played-mma.h"

#include "kernels/gpu/dense-mma-f64.h"

// ---- C -= A B within one matrix of zeros around its N rows and columns ----

enum { N = 320, LD = N + 128 };

typedef struct {
  double F[(size_t)LD * LD];
  int row, num_rows, col, num_cols, k0, k, is_transposed, is_lower;
} Update;

typedef struct {
  Update *update;
  int thread;
} Part;

static int num_tiles_of(int num) { return (num + RITZ_TILE - 1) / RITZ_TILE; }

static void *run_part(void *data) {
  const Part *part = data;
  Update *u = part->update;
  const int at_B = u->is_transposed ? u->col + u->k0 * LD : u->k0 + u->col * LD;
  my_thread = part->thread;
  ritz_update_mma(LD, u->F, u->row + u->col * LD, u->row + u->k0 * LD, at_B, u->is_transposed, u->num_rows,
                  u->num_cols, u->k, num_tiles_of(u->num_rows), u->is_lower);
  return NULL;
}

static void run(Update *u) {
  pthread_t threads[NUM_THREADS];
  Part parts[NUM_THREADS];
  for (my_block = 0; my_block < num_tiles_of(u->num_rows) * num_tiles_of(u->num_cols); my_block++) {
    for (int t = 0; t < NUM_THREADS; t++) {
      parts[t] = (Part){u, t};
      if (pthread_create(&threads[t], NULL, run_part, &parts[t])) abort();
    }
    for (int t = 0; t < NUM_THREADS; t++) pthread_join(threads[t], NULL);
  }
}

// Tiles above the diagonal of a block of which the lower triangle is enough are left alone.
static void check(const Update *u, const double *old) {
  for (int e = 0; e < LD * LD; e++) {
    const int i = e % LD - u->row, j = e / LD - u->col;
    const bool is_of_C = i >= 0 && i < u->num_rows && j >= 0 && j < u->num_cols;
    double wanted = old[e];
    if (is_of_C && !(u->is_lower && i / RITZ_TILE < j / RITZ_TILE)) {
      for (int p = u->k0; p < u->k0 + u->k; p++)
        wanted -= old[e % LD + p * LD] * (u->is_transposed ? old[e / LD + p * LD] : old[p + e / LD * LD]);
    }
    CHECK(u->F[e] == wanted, "entry (%d, %d): %g, wanted %g", e % LD, e / LD, u->F[e], wanted);
  }
}

static void multiply(Update *u) {
  double *old = malloc(sizeof(u->F));
  uint64_t state = (uint64_t)(u->row + u->k);
  if (!old) abort();
  for (int e = 0; e < LD * LD; e++)
    u->F[e] = e % LD < N && e / LD < N ? (double)tap_integer(&state, 19) - 9 : 0;
  memcpy(old, u->F, sizeof(u->F));
  run(u);
  check(u, old);
  free(old);
}

TEST(tiles_of_products_have_every_entry_once) {
  static Update u;
  pthread_barrier_init(&of_block, NULL, NUM_THREADS);
  for (int w = 0; w < NUM_THREADS / WARP; w++) pthread_barrier_init(&of_warp[w], NULL, WARP);
  u.row = 96, u.num_rows = N - 96 - 3, u.col = 96, u.num_cols = 37, u.k0 = 0, u.k = 96;
  multiply(&u);
  u.is_transposed = 1, u.num_cols = u.num_rows, u.is_lower = 1, u.k0 = 32, u.k = 32;
  multiply(&u);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv, TESTS(tiles_of_products_have_every_entry_once));
}
