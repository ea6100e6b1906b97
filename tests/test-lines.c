// SPDX-License-Identifier: BSD-2-Clause
// Lines of values in the shared memory of a GPU's threads: strides and assignment without bank conflicts,
// held against their definitions, against exhaustive searches where these are small, and against the ideal.
#include "tests/tap.h"

#include "base/memory.h"
#include "plan/lines.h"
#include <stdlib.h>

static int ceil_div(int a, int b) { return (a + b - 1) / b; }
static int max_int(int a, int b) { return a > b ? a : b; }
static int min_int(int a, int b) { return a < b ? a : b; }

// ---- Kernels ----

// Passes over the lines of elements with P nodes and Q points a direction.
enum { MAX_PASSES = 5 };

typedef struct {
  int dim, P, Q, num_elem, num_threads, num_banks;
  int extent[3], num_passes;
  RitzLinePass passes[MAX_PASSES];
} Kernel;

static void add_pass(Kernel *k, RitzDirection along, int num_0, int num_1, double weight,
                     RitzLineOrder order) {
  k->passes[k->num_passes++] = (RitzLinePass){along, {num_0, num_1}, weight, order};
}

// As the fused kernels have them. global: order of those that also touch global memory.
static Kernel make_kernel(int dim, int P, int Q, int num_elem, int num_threads, int num_banks,
                          RitzLineOrder global) {
  Kernel k = {
      dim, P, Q, num_elem, num_threads, num_banks, {1, 1, 1}, 0, {{RITZ_ALONG_FIRST, {1, 1}, 1, global}}};

  for (int d = 0; d < dim; d++) k.extent[d] = max_int(P, Q);
  if (dim == 1) {
    add_pass(&k, RITZ_ALONG_FIRST, 1, 1, P + Q, global);
  } else if (dim == 2) {
    add_pass(&k, RITZ_ALONG_FIRST, P, 1, P + Q, global);
    add_pass(&k, RITZ_ALONG_MIDDLE, Q, 1, P + 2 * Q, RITZ_LINES_FREE);
    add_pass(&k, RITZ_ALONG_FIRST, Q, 1, 2 * Q, RITZ_LINES_FREE);
  } else {
    add_pass(&k, RITZ_ALONG_MIDDLE, P, P, 2 * Q, global);
    add_pass(&k, RITZ_ALONG_FIRST, Q, P, 2 * P + 2 * Q, RITZ_LINES_FREE);
    add_pass(&k, RITZ_ALONG_LAST, Q, Q, 2 * P + 7 * Q, global);
    add_pass(&k, RITZ_ALONG_FIRST, Q, Q, 4 * Q, RITZ_LINES_FREE);
    add_pass(&k, RITZ_ALONG_MIDDLE, Q, Q, 4 * Q, RITZ_LINES_FREE);
  }
  return k;
}

static RitzLineStrides choose(const Kernel *k) {
  RitzLineStrides s = {0, 0, 0};

  ritz_lines_choose_strides(k->extent, k->num_elem, k->num_passes, k->passes, k->num_banks, &s);
  return s;
}

// Random shapes of all kinds, among them fewer threads than banks and threads that no bank divides.
static Kernel random_kernel(uint64_t *state) {
  static const RitzLineOrder orders[3] = {RITZ_LINES_NATURAL, RITZ_LINES_BY_ELEMENT, RITZ_LINES_BY_ROW};
  const int dim = 1 + (int)tap_integer(state, 3), P = 1 + (int)tap_integer(state, 6);
  const int Q = 1 + (int)tap_integer(state, 6), num_elem = 1 + (int)tap_integer(state, 6);
  const int num_threads =
      tap_integer(state, 2) ? 32 * (1 + (int)tap_integer(state, 4)) : 1 + (int)tap_integer(state, 100);

  return make_kernel(dim, P, Q, num_elem, num_threads, tap_integer(state, 2) ? 16 : 32,
                     orders[tap_integer(state, 3)]);
}

// Any at all: lines may meet in one bank, even in one address.
static RitzLineStrides random_strides(uint64_t *state, int bound) {
  return (RitzLineStrides){(int)tap_integer(state, bound), (int)tap_integer(state, bound),
                           (int)tap_integer(state, bound)};
}

static int num_random(void) {
  static const int num[] = {100, 1000, 10000};

  return num[tap_level()];
}

// ---- Addresses ----

// Marks in seen[num_elem * elem] what a pass walks over; each value must be met once.
static void check_addresses(const Kernel *k, const RitzLineStrides *s, const RitzLinePass *pass, char *seen) {
  const int steps[3] = {1, s->row, s->plane}, length = k->extent[pass->along];

  for (int e = 0; e < k->num_elem; e++)
    for (int j = 0; j < pass->num[1]; j++)
      for (int i = 0; i < pass->num[0]; i++)
        for (int n = 0; n < length; n++) {
          const int address = ritz_line_address(pass, s, e, i, j) + n * steps[pass->along];

          CHECK(address >= e * s->elem && address < (e + 1) * s->elem, "address %d of element %d", address,
                e);
          CHECK(!seen[address], "address %d is met twice", address);
          seen[address] = 1;
        }
}

static void check_kernel_addresses(const Kernel *k) {
  const RitzLineStrides s = choose(k);

  for (int n = 0; n < 3 && !tap_failed(); n++) {
    // All lines that there are in the three directions.
    const int num[2] = {k->extent[n == 0 ? 1 : 0], k->extent[n == 2 ? 1 : 2]};
    const RitzLinePass pass = {(RitzDirection)n, {num[0], num[1]}, 1, RITZ_LINES_FREE};
    char *seen = calloc((size_t)(k->num_elem * s.elem), 1);

    CHECK(seen, "no memory");
    check_addresses(k, &s, &pass, seen);
    free(seen);
  }
}

TEST(no_two_values_of_an_array_have_the_same_address) {
  uint64_t state = 1;

  for (int n = 0; n < num_random() && !tap_failed(); n++) {
    const Kernel k = random_kernel(&state);

    check_kernel_addresses(&k);
  }
}

TEST(a_line_begins_where_the_strides_say) {
  const RitzLineStrides s = {5, 31, 200};
  const int num[2] = {4, 4};
  const int wanted[3] = {600 + 2 * 5 + 3 * 31, 600 + 2 + 3 * 31, 600 + 2 + 3 * 5};

  for (int n = 0; n < 3; n++) {
    const RitzLinePass pass = {(RitzDirection)n, {num[0], num[1]}, 1, RITZ_LINES_FREE};
    const int address = ritz_line_address(&pass, &s, 3, 2, 3);

    CHECK(address == wanted[n], "direction %d: %d, not %d", n, address, wanted[n]);
  }
}

// ---- Assignment ----

static int line_at(const RitzLinePass *pass, int num_elem, int place) {
  const int num_lines = pass->num[0] * pass->num[1];

  const int i = place % pass->num[0], e = place / pass->num[0] % num_elem;
  const int j = place / (pass->num[0] * num_elem);

  if (pass->order == RITZ_LINES_BY_ELEMENT) return place % num_elem * num_lines + place / num_elem;
  return pass->order == RITZ_LINES_NATURAL ? place : e * num_lines + j * pass->num[0] + i;
}

// A line that may stand at a place.
static bool may_be_at(const RitzLinePass *pass, const Kernel *k, int place, int line) {
  if (pass->order == RITZ_LINES_FREE || pass->order == RITZ_LINES_SHARED) return true;
  if (pass->order == RITZ_LINES_BY_WARP) return line / (2 * k->num_banks) == place / (2 * k->num_banks);
  return line == line_at(pass, k->num_elem, place);
}

static void check_slots(const Kernel *k, const RitzLinePass *pass, int num_rounds, const int *slots) {
  const int num_lines = pass->num[0] * pass->num[1] * k->num_elem, num_slots = num_rounds * k->num_threads;
  char *seen = calloc((size_t)num_lines, 1);
  int num_taken = 0;

  CHECK(seen, "no memory");
  CHECK(num_rounds == ceil_div(num_lines, k->num_threads), "%d rounds of %d threads for %d lines", num_rounds,
        k->num_threads, num_lines);
  for (int n = 0; n < num_slots; n++) {
    if (slots[n] == -1) continue;
    CHECK(slots[n] >= 0 && slots[n] < num_lines, "slot %d holds line %d of %d", n, slots[n], num_lines);
    CHECK(!seen[slots[n]], "line %d is taken twice", slots[n]);
    seen[slots[n]] = 1;
    num_taken++;
    CHECK(may_be_at(pass, k, n, slots[n]), "place %d holds line %d", n, slots[n]);
  }
  CHECK(num_taken == num_lines, "%d of %d lines are taken", num_taken, num_lines);
  free(seen);
}

static void check_assignment(const Kernel *k, RitzLineStrides s) {
  for (int n = 0; n < k->num_passes && !tap_failed(); n++) {
    int num_rounds = 0, *slots = NULL;

    CHECK_OK(ritz_lines_assign(NULL, &k->passes[n], &s, k->num_elem, k->num_threads, k->num_banks,
                               &num_rounds, &slots));
    check_slots(k, &k->passes[n], num_rounds, slots);
    RITZ_FREE(&slots);
  }
}

// The same kernel where threads share lines.
static Kernel with_shared_lines(Kernel k) {
  for (int n = 0; n < k.num_passes; n++) {
    RitzLinePass *pass = &k.passes[n];

    if (pass->order == RITZ_LINES_FREE) pass->weight /= 4, pass->order = RITZ_LINES_SHARED;
    if (pass->along == RITZ_ALONG_LAST) pass->order = RITZ_LINES_BY_WARP;
  }
  return k;
}

TEST(every_line_is_taken_once_in_the_fewest_rounds_and_in_the_order_asked_for) {
  uint64_t state = 2;

  for (int n = 0; n < num_random() && !tap_failed(); n++) {
    const Kernel k = random_kernel(&state), shared = with_shared_lines(k);

    check_assignment(&k, choose(&k));
    check_assignment(&k, random_strides(&state, 40));
    check_assignment(&shared, choose(&shared));
    check_assignment(&shared, random_strides(&state, 40));
  }
}

static void count_banks(const RitzLinePass *pass, const RitzLineStrides *s, int num_elem, int num_banks,
                        int *counts) {
  for (int b = 0; b < num_banks; b++) counts[b] = 0;
  for (int e = 0; e < num_elem; e++)
    for (int j = 0; j < pass->num[1]; j++)
      for (int i = 0; i < pass->num[0]; i++) counts[ritz_line_address(pass, s, e, i, j) % num_banks]++;
}

// Wavefronts of the lines of a pass assigned, -1 on failure.
static int count_assigned(const RitzLinePass *pass, const RitzLineStrides *s, int num_elem, int num_threads,
                          int num_banks) {
  int num_rounds = 0, *slots = NULL, num = -1;

  if (!ritz_lines_assign(NULL, pass, s, num_elem, num_threads, num_banks, &num_rounds, &slots))
    num = ritz_lines_count(pass, s, num_threads, num_banks, num_rounds, slots);
  RITZ_FREE(&slots);
  return num;
}

// No wavefront serves a bank twice or more than num_banks threads. This is reached when there are threads
// enough for as many groups, whatever the strides are.
static int fewest_wavefronts(const RitzLinePass *pass, const RitzLineStrides *s, int num_elem,
                             int num_banks) {
  int counts[RITZ_MAX_BANKS], fullest = 0;

  count_banks(pass, s, num_elem, num_banks, counts);
  for (int b = 0; b < num_banks; b++) fullest = max_int(fullest, counts[b]);
  return max_int(fullest, ceil_div(pass->num[0] * pass->num[1] * num_elem, num_banks));
}

TEST(free_lines_with_threads_enough_cost_what_the_fullest_bank_demands) {
  uint64_t state = 3;

  for (int n = 0; n < num_random() && !tap_failed(); n++) {
    const int num_banks = tap_integer(&state, 2) ? 16 : 32, num_elem = 1 + (int)tap_integer(&state, 8);
    const RitzLineStrides s = random_strides(&state, 40);
    const RitzLinePass pass = {(RitzDirection)tap_integer(&state, 3),
                               {1 + (int)tap_integer(&state, 10), 1 + (int)tap_integer(&state, 10)},
                               1,
                               RITZ_LINES_FREE};
    const int wanted = fewest_wavefronts(&pass, &s, num_elem, num_banks);
    const int num = count_assigned(&pass, &s, num_elem, wanted * num_banks, num_banks);

    CHECK(num == wanted, "%d wavefronts, not %d", num, wanted);
  }
}

// The cheapest of all ways to put lines, as many of each bank as counts says, into num_groups groups, by
// trying each content of the last group.
static int try_all_groups(int *counts, int num_banks, int num_groups);

static int try_all_contents(int *counts, int num_banks, int num_groups, int bank, int room, int fullest) {
  int best = 1000;

  if (bank == num_banks) return fullest + try_all_groups(counts, num_banks, num_groups - 1);
  const int most = min_int(counts[bank], room);

  for (int n = 0; n <= most; n++) {
    counts[bank] -= n;
    best = min_int(best,
                   try_all_contents(counts, num_banks, num_groups, bank + 1, room - n, max_int(fullest, n)));
    counts[bank] += n;
  }
  return best;
}

static int try_all_groups(int *counts, int num_banks, int num_groups) {
  int num_lines = 0;

  for (int b = 0; b < num_banks; b++) num_lines += counts[b];
  if (num_lines > num_groups * num_banks) return 1000;
  return num_groups == 0 ? 0 : try_all_contents(counts, num_banks, num_groups, 0, num_banks, 0);
}

TEST(free_lines_cost_no_more_than_in_any_other_assignment) {
  uint64_t state = 4;

  for (int n = 0; n < num_random() && !tap_failed(); n++) {
    const int num_banks = 2 + (int)tap_integer(&state, 3), num_elem = 1 + (int)tap_integer(&state, 2);
    const int num_threads = num_banks * (1 + (int)tap_integer(&state, 2));
    const RitzLineStrides s = random_strides(&state, 4);
    const RitzLinePass pass = {RITZ_ALONG_FIRST,
                               {1 + (int)tap_integer(&state, 3), 1 + (int)tap_integer(&state, 2)},
                               1,
                               RITZ_LINES_FREE};
    const int num_lines = pass.num[0] * pass.num[1] * num_elem;
    const int num_groups = ceil_div(num_lines, num_threads) * (num_threads / num_banks);
    int counts[RITZ_MAX_BANKS];

    count_banks(&pass, &s, num_elem, num_banks, counts);
    const int wanted = try_all_groups(counts, num_banks, num_groups);
    const int num = count_assigned(&pass, &s, num_elem, num_threads, num_banks);

    CHECK(num == wanted, "%d lines, %d banks, %d groups: %d wavefronts, not %d", num_lines, num_banks,
          num_groups, num, wanted);
  }
}

TEST(idle_threads_are_the_last_ones_where_lines_meet_no_bank_twice) {
  const RitzLineStrides s = {8, 65, 561};
  const RitzLinePass pass = {RITZ_ALONG_MIDDLE, {16, 3}, 1, RITZ_LINES_FREE};
  int num_rounds = 0, *slots = NULL;

  CHECK_OK(ritz_lines_assign(NULL, &pass, &s, 1, 128, 16, &num_rounds, &slots));
  for (int n = 0; n < 128; n++) CHECK((slots[n] >= 0) == (n < 48), "slot %d holds line %d", n, slots[n]);
  RITZ_FREE(&slots);
}

TEST(wavefronts_are_counted_group_by_group) {
  // Lines begin at 0, 1, 2, 3, 16, 17, 18, 19 in 16 banks; threads come in groups of 16, the last of each
  // round of 24 in a group of 8.
  const RitzLineStrides s = {16, 1, 0};
  const RitzLinePass pass = {RITZ_ALONG_FIRST, {2, 4}, 1, RITZ_LINES_FREE};
  int slots[48];

  for (int n = 0; n < 48; n++) slots[n] = -1;
  CHECK(ritz_lines_count(&pass, &s, 24, 16, 2, slots) == 0, "idle threads cost nothing");
  for (int n = 0; n < 8; n++) slots[n] = n;
  CHECK(ritz_lines_count(&pass, &s, 24, 16, 2, slots) == 2, "two lines in each of four banks");
  for (int n = 0; n < 8; n++) slots[n] = -1;
  slots[14] = 0, slots[15] = 1, slots[16] = 2, slots[23] = 3, slots[24] = 4;
  CHECK(ritz_lines_count(&pass, &s, 24, 16, 2, slots) == 2 + 2 + 1, "three groups");
}

TEST(failing_memory_is_reported_and_leaves_nothing) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const RitzLineStrides s = {3, 9, 27};
  const RitzLinePass pass = {RITZ_ALONG_FIRST, {3, 3}, 1, RITZ_LINES_FREE};

  for (int n = 1; n <= 2; n++) {
    int num_rounds, *slots = NULL;
    const int64_t num_live = ritz_memory_live();

    ritz_memory_fail_at(n);
    CHECK_ERROR(ceed, ritz_lines_assign(ceed, &pass, &s, 2, 32, 16, &num_rounds, &slots), CEED_ERROR_MAJOR,
                "out of memory");
    CHECK(!slots, "slots after a failure");
    CHECK(ritz_memory_live() == num_live, "memory left");
  }
  ritz_memory_fail_at(0);
  CeedDestroy(&ceed);
}

// ---- Strides ----

// Weighted wavefronts of these strides, with threads enough for all assignments, and more for more memory.
static double assigned_cost(const Kernel *k, const RitzLineStrides *s) {
  const double tight = k->extent[0] * k->extent[1] * k->extent[2];
  double cost = 0;

  for (int n = 0; n < k->num_passes; n++) {
    const RitzLinePass *pass = &k->passes[n];
    const int num = fewest_wavefronts(pass, s, k->num_elem, k->num_banks);

    cost += pass->weight * count_assigned(pass, s, k->num_elem, num * k->num_banks, k->num_banks);
  }
  return cost * (1 + 0.1 * (s->elem / tight - 1));
}

static void check_no_better(const Kernel *k) {
  const RitzLineStrides chosen = choose(k);
  const double cost = assigned_cost(k, &chosen);

  for (int row = 0; row < k->num_banks; row++)
    for (int plane = 0; plane < k->num_banks; plane++)
      for (int elem = 0; elem < k->num_banks; elem++) {
        RitzLineStrides s = {k->extent[0] + row, 0, 0};

        s.plane = (k->extent[1] - 1) * s.row + k->extent[0] + plane;
        s.elem = (k->extent[2] - 1) * s.plane + s.plane - plane + elem;
        const double other = assigned_cost(k, &s);

        // Rounding of a few products
        CHECK(cost <= other * (1 + 1e-14), "P %d, Q %d: strides %d %d %d cost %g, %d %d %d cost %g", k->P,
              k->Q, chosen.row, chosen.plane, chosen.elem, cost, s.row, s.plane, s.elem, other);
      }
}

TEST(no_other_strides_cost_less) {
  static const RitzLineOrder orders[3] = {RITZ_LINES_NATURAL, RITZ_LINES_BY_ELEMENT, RITZ_LINES_BY_ROW};
  const int max_Q = tap_level() == TAP_QUICK ? 3 : tap_level() == TAP_FULL ? 4 : 6;

  for (int Q = 2; Q <= max_Q && !tap_failed(); Q++)
    for (int n = 0; n < 3 && !tap_failed(); n++) {
      const Kernel solid = make_kernel(3, Q - n % 2, Q, 3, 32, 16, orders[n]);
      const Kernel plane = make_kernel(2, Q, max_int(1, Q - n), 5, 32, 16, orders[n]);

      check_no_better(&solid);
      check_no_better(&plane);
    }
}

TEST(the_same_strides_are_chosen_each_time) {
  uint64_t state = 5;

  for (int n = 0; n < 20; n++) {
    const Kernel k = random_kernel(&state);
    const RitzLineStrides a = choose(&k), b = choose(&k);

    CHECK(a.row == b.row && a.plane == b.plane && a.elem == b.elem, "other strides");
  }
}

TEST(without_passes_arrays_are_packed) {
  const int extent[3] = {4, 5, 6};
  RitzLineStrides s;

  ritz_lines_choose_strides(extent, 3, 0, NULL, 16, &s);
  CHECK(s.row == 4 && s.plane == 20 && s.elem == 120, "%d, %d, %d", s.row, s.plane, s.elem);
}

// ---- How good it gets ----

// Lines of 8 points: four values of four of them at a time, without a bank that is met twice but where lines
// are few.
TEST(lines_that_threads_share_meet_few_banks_twice) {
  for (int P = 5; P <= 8 && !tap_failed(); P++)
    for (int num_elem = 1; num_elem <= 2; num_elem++) {
      const Kernel k =
          with_shared_lines(make_kernel(3, P, 8, num_elem, 64 * num_elem, 16, RITZ_LINES_BY_ROW));
      const RitzLineStrides s = choose(&k);

      for (int n = 0; n < k.num_passes; n++) {
        const RitzLinePass *pass = &k.passes[n];
        const int ideal =
            ceil_div(pass->num[0] * pass->num[1] * num_elem * (pass->order == RITZ_LINES_SHARED ? 4 : 1), 16);
        const int num = count_assigned(pass, &s, num_elem, k.num_threads, k.num_banks);

        CHECK(pass->order == RITZ_LINES_BY_ROW || num <= ideal + ideal / 6,
              "P %d, pass %d: %d wavefronts, ideal %d", P, n, num, ideal);
      }
    }
}

// Wavefronts and memory of a kernel over those of one without conflicts or gaps.
static void measure_kernel(const Kernel *k, double *wavefronts, double *memory) {
  const RitzLineStrides s = choose(k);
  double cost = 0, ideal = 0;

  for (int n = 0; n < k->num_passes; n++) {
    const RitzLinePass *pass = &k->passes[n];
    const int num_lines = pass->num[0] * pass->num[1] * k->num_elem;

    cost += pass->weight * count_assigned(pass, &s, k->num_elem, k->num_threads, k->num_banks);
    ideal += pass->weight * ceil_div(num_lines, k->num_banks);
  }
  *wavefronts = cost / ideal;
  *memory = (double)s.elem / (k->extent[0] * k->extent[1] * k->extent[2]);
  if (tap_level() >= TAP_FULL)
    tap_note(
        "%d banks, P %d, Q %d, %2d elements, %3d threads: strides %2d %3d %4d, wavefronts %.3f, memory %.2f",
        k->num_banks, k->P, k->Q, k->num_elem, k->num_threads, s.row, s.plane, s.elem, *wavefronts, *memory);
}

// Elements so that their lines of points fill the threads nearly. The worst and the mean over all kernels.
static void check_kernels(int num_banks, double most, double most_in_the_mean) {
  double sum = 0;
  int num = 0;

  for (int P = 2; P <= 9; P++)
    for (int Q = P; Q <= P + 1; Q++)
      for (int threads = 64; threads <= 128; threads += 32) {
        const int num_elem = max_int(1, threads / (Q * Q));
        const Kernel k = make_kernel(3, P, Q, num_elem, ceil_div(num_elem * Q * Q, 32) * 32, num_banks,
                                     RITZ_LINES_NATURAL);
        double wavefronts, memory;

        measure_kernel(&k, &wavefronts, &memory);
        CHECK(wavefronts <= most, "P %d, Q %d: wavefronts %g of the ideal", P, Q, wavefronts);
        CHECK(memory <= 3, "P %d, Q %d: memory %g of what is needed", P, Q, memory);
        sum += wavefronts;
        num++;
      }
  tap_note("%d banks: wavefronts %.3f of the ideal in the mean", num_banks, sum / num);
  CHECK(sum / num <= most_in_the_mean, "wavefronts %g of the ideal in the mean", sum / num);
}

TEST(kernels_of_doubles_cost_little_more_than_without_conflicts) { check_kernels(16, 1.25, 1.1); }

TEST(kernels_of_floats_cost_little_more_than_without_conflicts) { check_kernels(32, 1.45, 1.2); }

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(no_two_values_of_an_array_have_the_same_address, a_line_begins_where_the_strides_say,
                        every_line_is_taken_once_in_the_fewest_rounds_and_in_the_order_asked_for,
                        free_lines_with_threads_enough_cost_what_the_fullest_bank_demands,
                        free_lines_cost_no_more_than_in_any_other_assignment,
                        idle_threads_are_the_last_ones_where_lines_meet_no_bank_twice,
                        wavefronts_are_counted_group_by_group, failing_memory_is_reported_and_leaves_nothing,
                        no_other_strides_cost_less, the_same_strides_are_chosen_each_time,
                        without_passes_arrays_are_packed, lines_that_threads_share_meet_few_banks_twice,
                        kernels_of_doubles_cost_little_more_than_without_conflicts,
                        kernels_of_floats_cost_little_more_than_without_conflicts));
}
