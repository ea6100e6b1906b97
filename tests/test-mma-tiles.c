// SPDX-License-Identifier: BSD-2-Clause
// Dense bases by tensor cores (kernels/gpu/tiles.h), played by a host: which numbers threads have, which
// entries of the matrix they read, banks of shared memory. Entries are small integers: sums are exact, and
// one term missing or twice would show.
#include "tests/played-device.h"

#define RITZ_THREADS 96
#include "kernels/gpu/tiles.h"
#include "plan/gpu-tiles.h"

// Twelve nodes and nineteen points: neither fills its eights. All tiles of points are brought in two parts.
enum { NODES = 12, POINTS = 19, Q_COMP = 3, COMPS = 2, OF_ROW = 2, TILES = 3, STAGED = 2, ELEMS = 48 };
enum { OF_TILE = Q_COMP * OF_ROW * RITZ_TILE };

typedef struct {
  double matrix[Q_COMP][POINTS][NODES];
  double in[ELEMS][COMPS][NODES], at_points[ELEMS][Q_COMP][COMPS][POINTS], out[ELEMS][COMPS][NODES];
} Problem;

static Problem problem;
static CeedScalar table[Q_COMP * POINTS * NODES]; // the matrix as bases have it
static double blocks[TILES * OF_TILE];
static RITZ_ALIGN16 double shared[STAGED * OF_TILE];

// The first eight elements of each warp, then the second ones.
static int element_of(int i) { return RITZ_THREAD / 4 + RITZ_TILE_SECOND(i) * ELEMS / 2; }

// Keeps what is at the points, twice of which goes back.
static void run_tile(int tile, const double *block, const double *nodes, double *sums) {
  double values[Q_COMP * COMPS * 4], twice[Q_COMP * COMPS * 4], of_point[Q_COMP * COMPS * 2];
  ritz_tile_get(Q_COMP, COMPS, OF_ROW, shared, block, nodes, values);
  for (int i = 0; i < 2; i++) {
    const int point = tile * 8 + RITZ_TILE_COLUMN(i), is_there = point < POINTS;
    ritz_tile_take(Q_COMP * COMPS, i, values, of_point);
    for (int c = 0; c < Q_COMP * COMPS * 2; c++) {
      const int elem = element_of(i + c % 2 * 2);
      if (is_there) problem.at_points[elem][c / 2 / COMPS][c / 2 % COMPS][point] = of_point[c];
      of_point[c] = is_there ? 2 * of_point[c] : NAN;
    }
    ritz_tile_give(Q_COMP * COMPS, i, is_there, of_point, twice);
  }
  ritz_tile_add(Q_COMP, COMPS, OF_ROW, shared, block, twice, sums);
}

static void *play_thread(void *data) {
  double nodes[COMPS * OF_ROW * 4], sums[COMPS * OF_ROW * 4], node[COMPS];
  my_thread = *(const int *)data;
  for (int i = 0; i < OF_ROW * 4; i++) {
    const int n = RITZ_TILE_COLUMN(i);
    for (int c = 0; c < COMPS; c++) node[c] = problem.in[element_of(i)][c][n % NODES];
    ritz_tile_keep(COMPS, OF_ROW * 4, i, n < NODES, node, nodes);
  }
  ritz_tile_clear(COMPS * OF_ROW * 4, sums);
  for (int first = 0; first < TILES; first += STAGED) {
    RITZ_BARRIER();
    ritz_tiles_bring(OF_TILE, TILES, first, STAGED, blocks, shared);
    RITZ_BARRIER();
    for (int tile = 0; tile < STAGED && first + tile < TILES; tile++)
      run_tile(first + tile, shared + tile * OF_TILE, nodes, sums);
  }
  for (int i = 0; i < OF_ROW * 4; i++) {
    const int n = RITZ_TILE_COLUMN(i);
    for (int c = 0; n < NODES && c < COMPS; c++) problem.out[element_of(i)][c][n] = sums[c * OF_ROW * 4 + i];
  }
  return NULL;
}

static void play_block(void) {
  pthread_t threads[NUM_THREADS];
  int numbers[NUM_THREADS];
  pthread_barrier_init(&of_block, NULL, NUM_THREADS);
  for (int w = 0; w < NUM_THREADS / WARP; w++) pthread_barrier_init(&of_warp[w], NULL, WARP);
  for (int t = 0; t < NUM_THREADS; t++) {
    numbers[t] = t;
    if (pthread_create(&threads[t], NULL, play_thread, &numbers[t])) abort();
  }
  for (int t = 0; t < NUM_THREADS; t++) pthread_join(threads[t], NULL);
  for (int w = 0; w < NUM_THREADS / WARP; w++) pthread_barrier_destroy(&of_warp[w]);
  pthread_barrier_destroy(&of_block);
}

static void draw_all(size_t num, double *values, uint64_t *seed) {
  for (size_t i = 0; i < num; i++) values[i] = (double)tap_integer(seed, 19) - 9;
}

static double point_value(int elem, int d, int c, int q) {
  double sum = 0;
  for (int n = 0; n < NODES; n++) sum += problem.matrix[d][q][n] * problem.in[elem][c][n];
  return sum;
}

static double node_sum(int elem, int c, int n) {
  double sum = 0;
  for (int d = 0; d < Q_COMP; d++) {
    for (int q = 0; q < POINTS; q++) sum += 2 * problem.matrix[d][q][n] * point_value(elem, d, c, q);
  }
  return sum;
}

TEST(elements_go_to_their_points_and_back) {
  uint64_t seed = 20;
  draw_all(sizeof(problem.matrix) / sizeof(double), &problem.matrix[0][0][0], &seed);
  draw_all(sizeof(problem.in) / sizeof(double), &problem.in[0][0][0], &seed);
  CHECK(ritz_gpu_tiles_size(Q_COMP, POINTS, NODES) == sizeof(blocks) / sizeof(blocks[0]), "another size");
  for (int i = 0; i < Q_COMP * POINTS * NODES; i++) table[i] = (CeedScalar)(&problem.matrix[0][0][0])[i];
  ritz_gpu_fill_tiles(Q_COMP, POINTS, NODES, table, blocks);
  play_block();
  for (int e = 0; e < ELEMS; e++) {
    for (int i = 0; i < Q_COMP * COMPS * POINTS; i++) {
      const int d = i / (COMPS * POINTS), c = i / POINTS % COMPS, q = i % POINTS;
      CHECK(problem.at_points[e][d][c][q] == point_value(e, d, c, q), "element %d, derivative %d, point %d",
            e, d, q);
    }
    for (int i = 0; i < COMPS * NODES; i++)
      CHECK(problem.out[e][i / NODES][i % NODES] == node_sum(e, i / NODES, i % NODES), "element %d, node %d",
            e, i % NODES);
  }
}

// Sixteen banks of doubles. A quarter of a warp reads 16 bytes a thread at once, half of one 8 bytes.
TEST(threads_that_read_a_block_together_read_from_different_banks) {
  for (int first = 0; first < WARP; first += 8) {
    unsigned seen = 0;
    for (int lane = first; lane < first + 8; lane++)
      seen |= 3u << ritz_tile_place(lane % 4 * 2, lane / 4) % 16;
    CHECK(seen == 0xffffu, "columns, threads %d to %d: %#x", first, first + 7, seen);
  }
  for (int first = 0; first < WARP; first += 16) {
    for (int second = 0; second < 2; second++) {
      unsigned seen = 0;
      for (int lane = first; lane < first + 16; lane++)
        seen |= 1u << ritz_tile_place(lane / 4, lane % 4 * 2 + second) % 16;
      CHECK(seen == 0xffffu, "rows, number %d, threads %d to %d: %#x", second, first, first + 15, seen);
    }
  }
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(elements_go_to_their_points_and_back,
                        threads_that_read_a_block_together_read_from_different_banks));
}
