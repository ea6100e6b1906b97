// SPDX-License-Identifier: BSD-2-Clause
// Batched products by a kernel in front, played (tests/played-device.h), and the program that tests it.
// Entries are small integers: sums are exact, and one term missing or twice would show.
#ifndef RITZ_TESTS_PLAYED_PRODUCTS_H
#define RITZ_TESTS_PLAYED_PRODUCTS_H

enum { COUNT = 3, STEPS = RITZ_M };

#ifdef RITZ_TURNED_A
enum { FORM_A = RITZ_IS_TRANSPOSED };
#else
enum { FORM_A = 0 };
#endif
#ifdef RITZ_TURNED_B
enum { FORM_B = RITZ_IS_TRANSPOSED };
#else
enum { FORM_B = 0 };
#endif

// Matrices of which each has STEPS columns of ld entries, ld >= RITZ_M, behind `shift` entries.
typedef struct {
  int ld, shift;
  double *A, *B, *C; // owned
  int m[COUNT], n[COUNT], k[COUNT];
} Products;

typedef struct {
  const Products *products;
  int thread;
} Part;

static RitzLong bits_of(double value) {
  RitzLong bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

// C = 2 A B - C
static void *run_part(void *data) {
  const Part *part = data;
  const Products *p = part->products;
  const RitzLong stride = (RitzLong)p->ld * STEPS;
  my_thread = part->thread;
  ritz_batched(COUNT, bits_of(2), bits_of(-1), RITZ_M, RITZ_N, RITZ_K, p->m, p->n, p->k, NULL, 0, NULL, 0,
               NULL, NULL, 0, p->A + p->shift, NULL, NULL, NULL, NULL, 0, 0, stride, p->ld, FORM_A,
               p->B + p->shift, NULL, NULL, NULL, NULL, 0, 0, stride, p->ld, FORM_B, p->C + p->shift, NULL,
               NULL, NULL, NULL, 0, 0, stride, p->ld, 0);
  return NULL;
}

static void run(const Products *p) {
  pthread_t threads[NUM_THREADS];
  Part parts[NUM_THREADS];
  num_blocks = 2;
  for (my_block = 0; my_block < num_blocks; my_block++) {
    for (int t = 0; t < NUM_THREADS; t++) {
      parts[t] = (Part){p, t};
      if (pthread_create(&threads[t], NULL, run_part, &parts[t])) abort();
    }
    for (int t = 0; t < NUM_THREADS; t++) pthread_join(threads[t], NULL);
  }
}

static double *draw(const Products *p, uint64_t *state) {
  const size_t num = (size_t)(COUNT * STEPS * p->ld + p->shift);
  double *entries = aligned_alloc(16, (num * sizeof(*entries) + 15) / 16 * 16);
  if (!entries) abort();
  for (size_t i = 0; i < num; i++) entries[i] = (double)tap_integer(state, 19) - 9;
  return entries;
}

static void check(const Products *p, const double *old) {
  for (int i = 0; i < COUNT; i++) {
    const double *A = p->A + p->shift + i * STEPS * p->ld, *B = p->B + p->shift + i * STEPS * p->ld;
    const double *C = p->C + p->shift + i * STEPS * p->ld, *before = old + p->shift + i * STEPS * p->ld;
    for (int e = 0; e < STEPS * p->ld; e++) {
      const int row = e % p->ld, col = e / p->ld;
      const bool is_entry = row < p->m[i] && col < p->n[i];
      double wanted = is_entry ? -before[e] : before[e];
      for (int k = 0; k < p->k[i] && is_entry; k++)
        wanted +=
            2 * A[FORM_A ? k + row * p->ld : row + k * p->ld] * B[FORM_B ? col + k * p->ld : k + col * p->ld];
      CHECK(C[e] == wanted, "matrix %d, entry (%d, %d): %g, wanted %g", i, row, col, C[e], wanted);
    }
  }
}

static void multiply(int ld, int shift) {
  Products p = {
      .ld = ld, .shift = shift, .m = {RITZ_M, 17, RITZ_M + 1}, .n = {RITZ_N, 20, 3}, .k = {RITZ_K, 26, 8}};
  uint64_t state = (uint64_t)(ld + shift);
  p.A = draw(&p, &state), p.B = draw(&p, &state), p.C = draw(&p, &state);
  const size_t num_bytes = (size_t)(COUNT * STEPS * ld + shift) * sizeof(double);
  double *old = malloc(num_bytes);
  if (!old) abort();
  memcpy(old, p.C, num_bytes);
  run(&p);
  p.m[2] = p.n[2] = p.k[2] = 0; // 41 rows are beyond the bound: it is left alone
  check(&p, old);
  free(p.A), free(p.B), free(p.C), free(old);
}

TEST(threads_of_a_warp_give_tensor_cores_every_entry_once) {
  pthread_barrier_init(&of_block, NULL, NUM_THREADS);
  for (int w = 0; w < NUM_THREADS / WARP; w++) pthread_barrier_init(&of_warp[w], NULL, WARP);
  multiply(RITZ_M, 0); // 16 bytes at a time
  multiply(RITZ_M, 1); // not at multiples of 16 bytes
  multiply(RITZ_M + 3, 0);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv, TESTS(threads_of_a_warp_give_tensor_cores_every_entry_once));
}

#endif
