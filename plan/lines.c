// SPDX-License-Identifier: BSD-2-Clause
// Strides and assignment of lines without bank conflicts (contract in plan/lines.h).
#include "plan/lines.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

// Strides between lines in the two directions that they do not follow.
static void line_steps(const RitzLinePass *pass, const RitzLineStrides *s, int steps[2]) {
  steps[0] = pass->along == RITZ_ALONG_FIRST ? s->row : 1;
  steps[1] = pass->along == RITZ_ALONG_LAST ? s->row : s->plane;
}

int ritz_line_address(const RitzLinePass *pass, const RitzLineStrides *s, int e, int i, int j) {
  int steps[2];

  line_steps(pass, s, steps);
  return e * s->elem + i * steps[0] + j * steps[1];
}

// From value to value of a line.
static int value_step(const RitzLinePass *pass, const RitzLineStrides *s) {
  return pass->along == RITZ_ALONG_FIRST ? 1 : pass->along == RITZ_ALONG_MIDDLE ? s->row : s->plane;
}

// Values of a line that are accessed at once.
static int num_shared(const RitzLinePass *pass) { return pass->order == RITZ_LINES_SHARED ? 4 : 1; }

static int ceil_div(int a, int b) { return (a + b - 1) / b; }
static int max_int(int a, int b) { return a > b ? a : b; }
static int min_int(int a, int b) { return a < b ? a : b; }

// ---- Choice of strides ----

// Passes along the last and the middle direction depend on two strides only, unless threads share lines: what
// they cost beyond the ideal is kept, by row or plane and by elem as banks. Negative: not known yet.
typedef struct {
  int num_elem, num_passes, num_banks;
  bool shares;
  const RitzLinePass *passes;
  double known_last[RITZ_MAX_BANKS][RITZ_MAX_BANKS], known_middle[RITZ_MAX_BANKS][RITZ_MAX_BANKS];
} Problem;

// Lines as a walk through three directions, the fastest first, with steps in banks; then what is accessed at
// once of a line.
typedef struct {
  int num[4], step[4];
} Walk;

static Walk walk_lines(const Problem *p, const RitzLinePass *pass, const RitzLineStrides *s) {
  const int elem = pass->order == RITZ_LINES_BY_ELEMENT ? 0 : pass->order == RITZ_LINES_BY_ROW ? 1 : 2;
  const int first = elem == 0 ? 1 : 0, last = elem == 2 ? 1 : 2;
  int steps[2];
  Walk w;

  line_steps(pass, s, steps);
  w.num[elem] = p->num_elem;
  w.step[elem] = s->elem % p->num_banks;
  w.num[first] = pass->num[0];
  w.step[first] = steps[0] % p->num_banks;
  w.num[last] = pass->num[1];
  w.step[last] = steps[1] % p->num_banks;
  w.num[3] = num_shared(pass);
  w.step[3] = value_step(pass, s) % p->num_banks;
  return w;
}

static int next_bank(int bank, int step, int num_banks) {
  return bank + step < num_banks ? bank + step : bank + step - num_banks;
}

// Wavefronts when consecutive lines go to consecutive threads, of groups of a size.
static int count_in_order(const Walk *w, int num_banks, int size) {
  int wavefronts = 0, fullest = 0, num_in_group = 0, bank[3] = {0, 0, 0}, counts[RITZ_MAX_BANKS] = {0};

  for (int c = 0; c < w->num[2]; c++, bank[2] = next_bank(bank[2], w->step[2], num_banks)) {
    bank[1] = bank[2];
    for (int b = 0; b < w->num[1]; b++, bank[1] = next_bank(bank[1], w->step[1], num_banks)) {
      bank[0] = bank[1];
      for (int a = 0; a < w->num[0]; a++, bank[0] = next_bank(bank[0], w->step[0], num_banks)) {
        fullest = max_int(fullest, ++counts[bank[0]]);
        if (++num_in_group < size) continue;
        wavefronts += fullest;
        fullest = num_in_group = 0;
        memset(counts, 0, sizeof(counts));
      }
    }
  }
  return wavefronts + fullest;
}

// Wavefronts when lines may go to any thread: no bank serves two of its lines in one.
static int count_fullest_bank(const Walk *w, int num_banks) {
  int fullest = 0, counts[RITZ_MAX_BANKS] = {1};

  for (int d = 0; d < 4; d++) {
    int sums[RITZ_MAX_BANKS] = {0};

    if (w->num[d] == 1) continue;

    for (int n = 0, shift = 0; n < w->num[d]; n++, shift = next_bank(shift, w->step[d], num_banks)) {
      for (int b = shift; b < num_banks; b++) sums[b] += counts[b - shift];
      for (int b = 0; b < shift; b++) sums[b] += counts[b - shift + num_banks];
    }
    memcpy(counts, sums, sizeof(counts));
  }
  for (int b = 0; b < num_banks; b++) fullest = max_int(fullest, counts[b]);
  return fullest;
}

// The fullest bank, where values of a line may meet each other, too.
static int count_shared(const Walk *w, int num_banks) {
  const int num_lines = w->num[0] * w->num[1] * w->num[2], size = num_banks / w->num[3];
  int meetings = 0;

  for (int k = 0; k < w->num[3]; k++) meetings += k * w->step[3] % num_banks == 0;
  return max_int(count_fullest_bank(w, num_banks), meetings * ceil_div(num_lines, size));
}

static int num_ideal(const Problem *p, const RitzLinePass *pass) {
  return ceil_div(pass->num[0] * pass->num[1] * p->num_elem * num_shared(pass), p->num_banks);
}

static double ideal_cost(const Problem *p) {
  double cost = 0;

  for (int n = 0; n < p->num_passes; n++) cost += p->passes[n].weight * num_ideal(p, &p->passes[n]);
  return cost;
}

// Wavefronts beyond the ideal, weighted over the passes along one direction.
static double count_excess(const Problem *p, RitzDirection along, const RitzLineStrides *s) {
  double excess = 0;

  for (int n = 0; n < p->num_passes; n++) {
    const RitzLinePass *pass = &p->passes[n];

    if (pass->along != along) continue;
    const int ideal = num_ideal(p, pass);
    const Walk w = walk_lines(p, pass, s);

    if (pass->order == RITZ_LINES_FREE || pass->order == RITZ_LINES_SHARED)
      excess += pass->weight * max_int(count_shared(&w, p->num_banks) - ideal, 0);
    else if (pass->order == RITZ_LINES_BY_WARP)
      excess += pass->weight * max_int(count_in_order(&w, p->num_banks, 2 * p->num_banks) - ideal, 0);
    else
      excess += pass->weight * (count_in_order(&w, p->num_banks, p->num_banks) - ideal);
  }
  return excess;
}

// The excess, looked up where it is known already.
static double find_excess(Problem *p, RitzDirection along, const RitzLineStrides *s) {
  const int row = s->row % p->num_banks, plane = s->plane % p->num_banks, elem = s->elem % p->num_banks;
  double *known = along == RITZ_ALONG_LAST ? &p->known_last[row][elem] : &p->known_middle[plane][elem];

  if (along == RITZ_ALONG_FIRST || p->shares) return count_excess(p, along, s);
  if (*known < 0) *known = count_excess(p, along, s);
  return *known;
}

// Wavefronts weighted over the passes, from those of the ideal; stops where they reach the limit.
static double count_cost(Problem *p, const RitzLineStrides *s, double ideal, double limit) {
  static const RitzDirection cheapest_first[3] = {RITZ_ALONG_LAST, RITZ_ALONG_MIDDLE, RITZ_ALONG_FIRST};
  double cost = ideal;

  for (int n = 0; n < 3 && cost < limit; n++) cost += find_excess(p, cheapest_first[n], s);
  return cost;
}

static Problem make_problem(int num_elem, int num_passes, const RitzLinePass *passes, int num_banks) {
  Problem p = {.num_elem = num_elem, .num_passes = num_passes, .num_banks = num_banks, .passes = passes};

  for (int a = 0; a < num_banks; a++)
    for (int b = 0; b < num_banks; b++) p.known_last[a][b] = p.known_middle[a][b] = -1;
  for (int n = 0; n < num_passes; n++) p.shares |= passes[n].order == RITZ_LINES_SHARED;
  return p;
}

void ritz_lines_choose_strides(const int extent[3], int num_elem, int num_passes, const RitzLinePass *passes,
                               int num_banks, RitzLineStrides *strides) {
  RITZ_ASSERT(num_banks <= RITZ_MAX_BANKS);
  // Strides go through all banks, where they matter.
  const int num_rows = extent[1] > 1 ? num_banks : 1, num_planes = extent[2] > 1 ? num_banks : 1;
  const int num_elems = num_elem > 1 ? num_banks : 1, tight = extent[0] * extent[1] * extent[2];
  Problem p = make_problem(num_elem, num_passes, passes, num_banks);
  const double ideal = ideal_cost(&p);
  double best = HUGE_VAL;

  for (int row = extent[0]; row < extent[0] + num_rows; row++) {
    const int plane_begin = (extent[1] - 1) * row + extent[0];

    for (int plane = plane_begin; plane < plane_begin + num_planes; plane++) {
      const int elem_begin = (extent[2] - 1) * plane + plane_begin;

      for (int elem = elem_begin; elem < elem_begin + num_elems; elem++) {
        const RitzLineStrides s = {row, plane, elem};
        const double memory = 1 + 0.1 * ((double)elem / tight - 1);
        const double cost = memory * count_cost(&p, &s, ideal, best / memory);

        if (!(cost < best)) continue;
        best = cost;
        *strides = s;
      }
    }
  }
}

// ---- Assignment ----

// Threads in groups that are served together, round by round; the last group of a round may be smaller.
typedef struct {
  int num_threads, num_banks, per_round;
} Groups;

static int group_size(const Groups *g, int group) {
  const int begin = group % g->per_round * g->num_banks;

  return min_int(g->num_banks, g->num_threads - begin);
}

static int group_begin(const Groups *g, int group) {
  return group / g->per_round * g->num_threads + group % g->per_round * g->num_banks;
}

// How often a group may meet a bank, when num_groups do so num_meetings times together: as evenly as can be,
// which leaves room for the most lines.
static int group_share(int num_meetings, int num_groups, int group) {
  return num_meetings / num_groups + (group < num_meetings % num_groups);
}

// Whether lines fit into the first groups, counts[num_banks] of each bank in descending order. The fullest
// banks must do so for themselves, however many of them are looked at (the theorem of maximal flow and
// minimal cut between banks and groups).
static bool lines_fit(const Groups *g, const int *counts, int num_groups, int num_meetings) {
  int num_lines = 0;

  for (int n = 1; n <= g->num_banks; n++) {
    int room = 0;

    num_lines += counts[n - 1];
    for (int k = 0; k < num_groups; k++)
      room += min_int(group_size(g, k), n * group_share(num_meetings, num_groups, k));
    if (num_lines > room) return false;
  }
  return true;
}

static int compare_descending(const void *a, const void *b) { return *(const int *)b - *(const int *)a; }

// The fewest wavefronts, and the fewest groups that get along with them.
static int choose_groups(const Groups *g, const int *counts, int num_lines, int most_groups,
                         int *num_groups) {
  int sorted[RITZ_MAX_BANKS], room = 0, best = INT_MAX;

  memcpy(sorted, counts, (size_t)g->num_banks * sizeof(*sorted));
  qsort(sorted, (size_t)g->num_banks, sizeof(*sorted), compare_descending);
  for (int num = 1; num <= most_groups && num < best; num++) {
    room += group_size(g, num - 1);
    if (room < num_lines) continue;
    int meetings = max_int(num, sorted[0]);

    while (meetings < best && !lines_fit(g, sorted, num, meetings)) meetings++;
    if (meetings >= best) continue;
    best = meetings;
    *num_groups = num;
  }
  return best;
}

// The bank with most lines left among those that a group may meet once more; -1: none.
static int next_to_take(const int *left, const int *taken, int share, int num_banks) {
  int next = -1;

  for (int b = 0; b < num_banks; b++)
    if (left[b] > 0 && taken[b] < share && (next < 0 || left[b] > left[next])) next = b;
  return next;
}

// Taking from the fullest bank first leaves lines that fit into the groups to come. sorted: lines by bank.
static void fill_groups(const Groups *g, const int *counts, int num_lines, int num_rounds, const int *sorted,
                        int *slots) {
  int left[RITZ_MAX_BANKS], ends[RITZ_MAX_BANKS], num_groups = 0;
  const int num_meetings = choose_groups(g, counts, num_lines, num_rounds * g->per_round, &num_groups);

  for (int b = 0; b < g->num_banks; b++) {
    left[b] = counts[b];
    ends[b] = (b > 0 ? ends[b - 1] : 0) + counts[b];
  }
  for (int k = 0; k < num_groups; k++) {
    const int share = group_share(num_meetings, num_groups, k), size = group_size(g, k);
    int taken[RITZ_MAX_BANKS] = {0}, *group = slots + group_begin(g, k);

    for (int n = 0; n < size; n++) {
      const int b = next_to_take(left, taken, share, g->num_banks);

      if (b < 0) break;
      group[n] = sorted[ends[b] - left[b]--];
      taken[b]++;
    }
  }
}

static int line_bank(const RitzLinePass *pass, const RitzLineStrides *s, int line, int num_banks) {
  const int num_lines = pass->num[0] * pass->num[1], in_elem = line % num_lines;

  return ritz_line_address(pass, s, line / num_lines, in_elem % pass->num[0], in_elem / pass->num[0]) %
         num_banks;
}

// Counts of lines by bank and the lines in this order.
static void sort_by_bank(const RitzLinePass *pass, const RitzLineStrides *s, int num_lines, int num_banks,
                         int *counts, int *sorted) {
  int begins[RITZ_MAX_BANKS] = {0};

  memset(counts, 0, (size_t)num_banks * sizeof(*counts));
  for (int l = 0; l < num_lines; l++) counts[line_bank(pass, s, l, num_banks)]++;
  for (int b = 1; b < num_banks; b++) begins[b] = begins[b - 1] + counts[b - 1];
  for (int l = 0; l < num_lines; l++) sorted[begins[line_bank(pass, s, l, num_banks)]++] = l;
}

static int assign_freely(Ceed ceed, const RitzLinePass *pass, const RitzLineStrides *s, int num_lines,
                         const Groups *groups, int num_rounds, int *slots) {
  int counts[RITZ_MAX_BANKS], *sorted = NULL;

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num_lines, &sorted));
  sort_by_bank(pass, s, num_lines, groups->num_banks, counts, sorted);
  fill_groups(groups, counts, num_lines, num_rounds, sorted, slots);
  RITZ_FREE(&sorted);
  return CEED_ERROR_SUCCESS;
}

// Adds the line to those that a group takes, where it stays; returns how often the fullest bank is met.
static int meet_banks(const RitzLinePass *pass, const RitzLineStrides *s, int line, int num_banks, int sign,
                      int *counts) {
  const int first = line_bank(pass, s, line, num_banks), step = value_step(pass, s) % num_banks;
  int fullest = 0;

  for (int k = 0; k < num_shared(pass); k++) counts[(first + k * step) % num_banks] += sign;
  for (int b = 0; b < num_banks; b++) fullest = max_int(fullest, counts[b]);
  return fullest;
}

// First line in [first, last) with the fewest bank conflicts, of those not taken.
static int find_friend(const RitzLinePass *pass, const RitzLineStrides *s, int first, int last,
                       const bool *is_taken, int num_banks, int *counts) {
  int best = -1, fewest = INT_MAX;

  for (int l = first; l < last && fewest > 1; l++) {
    if (is_taken[l]) continue;
    const int meetings = meet_banks(pass, s, l, num_banks, 1, counts);
    (void)meet_banks(pass, s, l, num_banks, -1, counts);
    if (meetings >= fewest) continue;
    fewest = meetings;
    best = l;
  }
  return best;
}

// Greedy assignment: for each group of threads, lines without conflicts with those already chosen, among
// num_exchanged candidates.
static int assign_in_turn(Ceed ceed, const RitzLinePass *pass, const RitzLineStrides *s, int num_lines,
                          int num_exchanged, int num_banks, int *slots) {
  int counts[RITZ_MAX_BANKS];
  bool *is_taken = NULL;

  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num_lines, &is_taken));
  for (int n = 0; n < num_lines; n++) {
    if (n % (num_banks / num_shared(pass)) == 0) memset(counts, 0, sizeof(counts));
    const int first = n / num_exchanged * num_exchanged;
    slots[n] =
        find_friend(pass, s, first, min_int(first + num_exchanged, num_lines), is_taken, num_banks, counts);
    is_taken[slots[n]] = true;
    (void)meet_banks(pass, s, slots[n], num_banks, 1, counts);
  }
  RITZ_FREE(&is_taken);
  return CEED_ERROR_SUCCESS;
}

// Line at position `place` of the order by rows.
static int line_by_row(const RitzLinePass *pass, int num_elem, int place) {
  const int i = place % pass->num[0], row = place / pass->num[0];

  return (row % num_elem * pass->num[1] + row / num_elem) * pass->num[0] + i;
}

int ritz_lines_assign(Ceed ceed, const RitzLinePass *pass, const RitzLineStrides *s, int num_elem,
                      int num_threads, int num_banks, int *num_rounds, int **slots) {
  RITZ_ASSERT(num_banks <= RITZ_MAX_BANKS);
  const Groups groups = {num_threads, num_banks, ceil_div(num_threads, num_banks)};
  const int lines_per_elem = pass->num[0] * pass->num[1], num_lines = lines_per_elem * num_elem;
  const int num_slots = ceil_div(num_lines, num_threads) * num_threads;
  int ierr = CEED_ERROR_SUCCESS;

  *num_rounds = num_slots / num_threads;
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num_slots, slots));
  for (int n = 0; n < num_slots; n++) (*slots)[n] = -1;
  switch (pass->order) {
  case RITZ_LINES_FREE: ierr = assign_freely(ceed, pass, s, num_lines, &groups, *num_rounds, *slots); break;
  case RITZ_LINES_BY_WARP:
    ierr = assign_in_turn(ceed, pass, s, num_lines, 2 * num_banks, num_banks, *slots);
    break;
  case RITZ_LINES_SHARED:
    ierr = assign_in_turn(ceed, pass, s, num_lines, num_lines, num_banks, *slots);
    break;
  case RITZ_LINES_NATURAL:
    for (int n = 0; n < num_lines; n++) (*slots)[n] = n;
    break;
  case RITZ_LINES_BY_ELEMENT:
    for (int n = 0; n < num_lines; n++) (*slots)[n] = n % num_elem * lines_per_elem + n / num_elem;
    break;
  case RITZ_LINES_BY_ROW:
    for (int n = 0; n < num_lines; n++) (*slots)[n] = line_by_row(pass, num_elem, n);
    break;
  }
  if (ierr) RITZ_FREE(slots);
  return ierr;
}

static int count_group(const RitzLinePass *pass, const RitzLineStrides *s, int size, int num_banks,
                       const int *lines) {
  int fullest = 0, counts[RITZ_MAX_BANKS] = {0};

  for (int n = 0; n < size; n++)
    if (lines[n] >= 0) fullest = meet_banks(pass, s, lines[n], num_banks, 1, counts);
  return fullest;
}

int ritz_lines_count(const RitzLinePass *pass, const RitzLineStrides *s, int num_threads, int num_banks,
                     int num_rounds, const int *slots) {
  const int size = num_banks / num_shared(pass);
  const Groups groups = {num_threads, size, ceil_div(num_threads, size)};
  int wavefronts = 0;

  for (int k = 0; k < num_rounds * groups.per_round; k++)
    wavefronts += count_group(pass, s, group_size(&groups, k), num_banks, slots + group_begin(&groups, k));
  return wavefronts;
}
