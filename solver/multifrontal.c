// SPDX-License-Identifier: BSD-2-Clause
// Numbers of a sparse factorization by fronts (contract in solver/multifrontal.h). Up the tree,
// level by level: panels get the updates of their children, then all fronts of the level are one batch.
// Solutions go up the tree and down again. Nothing comes back from the context's memory but the infos of
// fronts.
#include <float.h>
#include <math.h>

#include "solver/multifrontal.h"

// ---- Tables ----

static int copy_in(RitzMultifrontal *m, size_t num_bytes, const void *host, void *address) {
  void **p = address;
  RITZ_TRY(ritz_front_memory_alloc(m->ceed, num_bytes, p));
  m->num_bytes += (int64_t)num_bytes;
  return ritz_front_memory_upload(m->ceed, num_bytes, host, *p);
}

static int copy_tree(RitzMultifrontal *m) {
  RitzSymbolic *y = &m->symbolic;
  RitzFrontTree *t = &m->tree;
  const size_t num = (size_t)y->num, num_rows = (size_t)y->rows[y->num], num_down = (size_t)y->num_down;
  t->num = y->num;
  RITZ_TRY(copy_in(m, num * sizeof(int32_t), y->d1, &t->d1));
  RITZ_TRY(copy_in(m, num * sizeof(int32_t), y->d2, &t->d2));
  RITZ_TRY(copy_in(m, num * sizeof(int32_t), y->order, &t->order));
  RITZ_TRY(copy_in(m, num * sizeof(int32_t), y->parent, &t->parent));
  RITZ_TRY(copy_in(m, num * sizeof(int64_t), y->panel, &t->panel));
  RITZ_TRY(copy_in(m, num * sizeof(int64_t), y->update, &t->update));
  RITZ_TRY(copy_in(m, (num + 1) * sizeof(int64_t), y->rows, &t->rows));
  RITZ_TRY(copy_in(m, (num + 1) * sizeof(int64_t), y->children, &t->children));
  RITZ_TRY(copy_in(m, num * sizeof(int64_t), y->down_start, &t->down_start));
  RITZ_TRY(copy_in(m, num_rows * sizeof(int32_t), y->up, &t->up));
  return copy_in(m, num_down * sizeof(int32_t), y->down, &t->down);
}

static int copy_places(RitzMultifrontal *m, const int64_t *entries) {
  const RitzSymbolic *y = &m->symbolic;
  const size_t n = (size_t)y->n;
  int64_t *where = NULL;
  RITZ_TRY(copy_in(m, n * sizeof(int64_t), y->place, &m->place));
  RITZ_TRY(copy_in(m, (size_t)y->num_entries * sizeof(int64_t), y->to, &m->to));
  RITZ_TRY(RITZ_MALLOC(m->ceed, n, &where));
  for (int64_t k = 0; k < y->n; k++) where[k] = entries ? entries[y->perm[k]] : y->perm[k];
  const int ierr = copy_in(m, n * sizeof(int64_t), where, &m->where);
  RITZ_FREE(&where);
  return ierr;
}

// Where D is among the panels, by columns.
static int copy_diagonal(RitzMultifrontal *m) {
  const RitzSymbolic *y = &m->symbolic;
  int64_t *diagonal = NULL;
  if (m->factors != RITZ_FRONT_LDLT) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_MALLOC(m->ceed, (size_t)y->n, &diagonal));
  for (int64_t f = 0; f < y->num; f++)
    for (int64_t k = 0; k < y->d1[f]; k++) diagonal[y->first[f] + k] = y->panel[f] + k * (y->order[f] + 1);
  const int ierr = copy_in(m, (size_t)y->n * sizeof(int64_t), diagonal, &m->diagonal);
  RITZ_FREE(&diagonal);
  return ierr;
}

// Objects serve levels whose largest fronts have similar sizes: powers of two, so that they are few.
static CeedInt bound_of(const int32_t *sizes, int64_t first, int64_t num) {
  CeedInt most = 0, bound = 16;
  for (int64_t f = first; f < first + num; f++) most = sizes[f] > most ? sizes[f] : most;
  while (bound < most) bound = bound < INT32_MAX / 4 ? 2 * bound : INT32_MAX / 2;
  return most == 0 ? 0 : bound;
}

static int find_sizes(RitzMultifrontal *m, int l) {
  const RitzSymbolic *y = &m->symbolic;
  const CeedInt d1 = bound_of(y->d1, y->level[l], y->num_fronts[l]),
                d2 = bound_of(y->d2, y->level[l], y->num_fronts[l]);
  int k = 0;
  while (k < m->num_sizes && (m->fronts[k]->d1 != d1 || m->fronts[k]->d2 != d2)) k++;
  m->of_level[l] = k;
  if (k < m->num_sizes) return CEED_ERROR_SUCCESS;
  RITZ_REQUIRE(k < RITZ_MULTIFRONTAL_SIZES, m->ceed, CEED_ERROR_UNSUPPORTED,
               "sparse factorization: fronts of more than %d ranges of sizes", (int)RITZ_MULTIFRONTAL_SIZES);
  RITZ_TRY(RitzFrontCreate(m->ceed, m->factors, CEED_SCALAR_FP64, d1, d2, &m->fronts[k]));
  m->num_sizes++;
  return CEED_ERROR_SUCCESS;
}

// ---- Life ----

// Where a right-hand side begins behind another: OpenCL devices ask for addresses at 512 bytes and more.
static int64_t aligned(int64_t num) { return (num + 127) / 128 * 128; }
static int64_t stride_of_x(const RitzMultifrontal *m) { return aligned(m->symbolic.rows[m->symbolic.num]); }

// For so many right-hand sides.
static int make_room(RitzMultifrontal *m, int num_rhs) {
  const int64_t num_bytes = stride_of_x(m) * (int64_t)sizeof(double);
  if (num_rhs <= m->num_x) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_front_memory_free(m->ceed, (void **)&m->work));
  RITZ_TRY(ritz_front_memory_free(m->ceed, (void **)&m->x));
  m->num_bytes -= m->num_x * num_bytes;
  m->num_x = 0;
  RITZ_TRY(ritz_front_memory_alloc(m->ceed, (size_t)(num_rhs * num_bytes), (void **)&m->x));
  m->num_x = num_rhs;
  m->num_bytes += num_rhs * num_bytes;
  return CEED_ERROR_SUCCESS;
}

static int set_up_multifrontal(RitzMultifrontal *m, const int64_t *entries) {
  const RitzSymbolic *y = &m->symbolic;
  const size_t panel_bytes = (size_t)y->num_panel * sizeof(double);
  RITZ_TRY(copy_tree(m));
  RITZ_TRY(copy_places(m, entries));
  RITZ_TRY(copy_diagonal(m));
  RITZ_TRY(RITZ_MALLOC(m->ceed, (size_t)y->num_levels, &m->of_level));
  for (int l = y->num_levels - 1; l >= 0; l--) RITZ_TRY(find_sizes(m, l));
  RITZ_TRY(ritz_front_memory_alloc(m->ceed, panel_bytes, (void **)&m->panels));
  m->num_bytes += (int64_t)panel_bytes;
  RITZ_TRY(make_room(m, 1));
  m->num_bytes += 8 * (y->n + 2 * y->num); // on the host
  m->peak_bytes = m->num_bytes + 8 * (y->num_entries + y->num_update[0] + y->num_update[1]) + 4 * y->num;
  ritz_symbolic_free_tables(&m->symbolic);
  return CEED_ERROR_SUCCESS;
}

int ritz_multifrontal_create(Ceed ceed, const RitzPattern *pattern, const int64_t *entries,
                             const RitzMultifrontalOptions *options, RitzMultifrontal *m, bool *is_too_long) {
  CeedMemType mem_type;
  *m = (RitzMultifrontal){.ceed = ceed, .factors = options->factors};
  RITZ_TRY(CeedGetPreferredMemType(ceed, &mem_type));
  const int64_t pad = mem_type == CEED_MEM_DEVICE ? RITZ_MULTIFRONTAL_PAD : 1;
  RITZ_TRY(ritz_symbolic_create(ceed, pattern, options->ordering, pad, options->max_flops, &m->symbolic,
                                is_too_long));
  const int ierr = *is_too_long ? CEED_ERROR_SUCCESS : set_up_multifrontal(m, entries);
  if (ierr) (void)ritz_multifrontal_destroy(m);
  return ierr;
}

int ritz_multifrontal_destroy(RitzMultifrontal *m) {
  void *const tables[] = {&m->tree.d1,     &m->tree.d2,   &m->tree.order, &m->tree.panel,
                          &m->tree.update, &m->tree.rows, &m->tree.up,    &m->tree.children,
                          &m->tree.parent, &m->tree.down, &m->to,         &m->tree.down_start,
                          &m->place,       &m->where,     &m->panels,     &m->x,
                          &m->work,        &m->diagonal};
  int ierr = CEED_ERROR_SUCCESS;
  for (int k = 0; k < m->num_sizes; k++) ierr = ritz_first_error(ierr, RitzFrontDestroy(&m->fronts[k]));
  m->num_sizes = 0;
  for (size_t k = 0; k < sizeof(tables) / sizeof(tables[0]); k++)
    ierr = ritz_first_error(ierr, ritz_front_memory_free(m->ceed, tables[k]));
  RITZ_FREE(&m->of_level);
  ritz_symbolic_free(&m->symbolic);
  return ierr;
}

// ---- Levels ----

static RitzFrontArrays arrays_of(const RitzMultifrontal *m, int l, double *updates) {
  const RitzFrontTree *t = &m->tree;
  const int64_t first = m->symbolic.level[l];
  return (RitzFrontArrays){.d1 = t->d1 + first,
                           .d2 = t->d2 + first,
                           .panels = m->panels,
                           .panel_offsets = t->panel + first,
                           .panel_lds = t->order + first,
                           .updates = updates,
                           .update_offsets = t->update + first,
                           .update_lds = t->d2 + first};
}

static RitzFrontTreeAction action_on(const RitzMultifrontal *m, RitzFrontTreeKind kind, int l) {
  const RitzSymbolic *y = &m->symbolic;
  const int64_t first = y->level[l], count = y->num_fronts[l];
  return (RitzFrontTreeAction){.kind = kind,
                               .first = first,
                               .count = count,
                               .num_rows = y->rows[first + count] - y->rows[first],
                               .panels = m->panels,
                               .x = m->x,
                               .x_stride = stride_of_x(m)};
}

// ---- Factorization ----

// Memory of the context that a factorization has beside the factor.
typedef struct {
  double *values;     // [max(num_entries, n)]
  double *updates[2]; // of even and odd levels
  int32_t *info;      // [num]
} Work;

static int allocate_work(const RitzMultifrontal *m, const double *values, Work *w) {
  const RitzSymbolic *y = &m->symbolic;
  const size_t num_bytes = (size_t)y->num_entries * sizeof(double);
  const size_t most_bytes =
      num_bytes > (size_t)y->n * sizeof(double) ? num_bytes : (size_t)y->n * sizeof(double);
  double *sorted = NULL;
  for (int k = 0; k < 2; k++)
    RITZ_TRY(
        ritz_front_memory_alloc(m->ceed, (size_t)y->num_update[k] * sizeof(double), (void **)&w->updates[k]));
  RITZ_TRY(ritz_front_memory_alloc(m->ceed, (size_t)y->num * sizeof(int32_t), (void **)&w->info));
  RITZ_TRY(ritz_front_memory_alloc(m->ceed, most_bytes, (void **)&w->values));
  RITZ_TRY(RITZ_MALLOC(m->ceed, (size_t)y->num_entries, &sorted));
  for (int64_t k = 0; k < y->num_entries; k++) sorted[k] = values[y->from[k]];
  const int ierr = ritz_front_memory_upload(m->ceed, num_bytes, sorted, w->values);
  RITZ_FREE(&sorted);
  return ierr;
}

static int free_work(const RitzMultifrontal *m, Work *w, int ierr) {
  void **const arrays[] = {(void **)&w->values, (void **)&w->updates[0], (void **)&w->updates[1],
                           (void **)&w->info};
  for (int k = 0; k < 4; k++) ierr = ritz_first_error(ierr, ritz_front_memory_free(m->ceed, arrays[k]));
  return ierr;
}

static int fill_panels(const RitzMultifrontal *m, const Work *w) {
  const RitzSymbolic *y = &m->symbolic;
  const RitzFrontTreeAction move = {.kind = RITZ_FRONT_TREE_MOVE,
                                    .count = y->num_entries,
                                    .to = m->to,
                                    .in = w->values,
                                    .out = m->panels,
                                    .in_type = CEED_SCALAR_FP64,
                                    .out_type = CEED_SCALAR_FP64};
  RITZ_TRY(ritz_front_memory_clear(m->ceed, y->num_panel, m->panels));
  return ritz_front_tree_run(m->ceed, NULL, &move);
}

static int factorize_level(const RitzMultifrontal *m, int l, const Work *w) {
  const RitzSymbolic *y = &m->symbolic;
  const RitzFrontArrays arrays = arrays_of(m, l, w->updates[l % 2]);
  RitzFrontTreeAction extend = action_on(m, RITZ_FRONT_TREE_EXTEND_ADD, l);
  extend.updates = w->updates[l % 2];
  extend.child_updates = w->updates[(l + 1) % 2];
  RITZ_TRY(ritz_front_tree_run(m->ceed, &m->tree, &extend));
  return RitzFrontBatched(m->fronts[m->of_level[l]], y->num_fronts[l], &arrays, w->info + y->level[l]);
}

// Pivots that were replaced, and the first column, in the order of elimination, that has none.
static int read_infos(RitzMultifrontal *m, const Work *w, int64_t *bad) {
  const RitzSymbolic *y = &m->symbolic;
  int64_t column = -1;
  int32_t *info = NULL;
  RITZ_TRY(RITZ_MALLOC(m->ceed, (size_t)y->num, &info));
  const int ierr = ritz_front_memory_download(m->ceed, (size_t)y->num * sizeof(*info), w->info, info);
  for (int l = 0; l < y->num_levels && !ierr; l++)
    for (int64_t f = y->level[l]; f < y->level[l] + y->num_fronts[l]; f++) {
      if (info[f] > 0 && (column < 0 || y->first[f] + info[f] - 1 < column))
        column = y->first[f] + info[f] - 1;
      if (info[f] < 0) m->num_replaced -= info[f];
    }
  RITZ_FREE(&info);
  *bad = column >= 0 ? y->perm[column] : -1;
  return ierr;
}

// w->values: no longer needed.
static int count_negative(RitzMultifrontal *m, const Work *w) {
  const int64_t n = m->symbolic.n;
  const RitzFrontTreeAction move = {.kind = RITZ_FRONT_TREE_MOVE,
                                    .count = n,
                                    .from = m->diagonal,
                                    .in = m->panels,
                                    .out = w->values,
                                    .in_type = CEED_SCALAR_FP64,
                                    .out_type = CEED_SCALAR_FP64};
  double *d = NULL;
  RITZ_TRY(ritz_front_tree_run(m->ceed, NULL, &move));
  RITZ_TRY(RITZ_MALLOC(m->ceed, (size_t)n, &d));
  const int ierr = ritz_front_memory_download(m->ceed, (size_t)n * sizeof(*d), w->values, d);
  for (int64_t k = 0; k < n && !ierr; k++) m->num_negative += d[k] < 0;
  RITZ_FREE(&d);
  return ierr;
}

static int set_smallest_pivot(RitzMultifrontal *m, const double *values) {
  double largest = 0;
  for (int64_t k = 0; k < m->symbolic.num_entries; k++)
    largest = fmax(largest, fabs(values[m->symbolic.from[k]]));
  if (!isfinite(largest)) largest = 0; // pivots will tell
  for (int k = 0; k < m->num_sizes; k++)
    RITZ_TRY(RitzFrontSetSmallestPivot(m->fronts[k], sqrt(DBL_EPSILON) * largest));
  return CEED_ERROR_SUCCESS;
}

int ritz_multifrontal_factorize(RitzMultifrontal *m, const double *values, int64_t *bad) {
  const bool is_ldlt = m->factors == RITZ_FRONT_LDLT;
  Work w = {0};
  *bad = -1;
  m->num_replaced = m->num_negative = 0;
  int ierr = allocate_work(m, values, &w);
  if (!ierr && is_ldlt) ierr = set_smallest_pivot(m, values);
  if (!ierr) ierr = fill_panels(m, &w);
  for (int l = m->symbolic.num_levels - 1; l >= 0 && !ierr; l--) ierr = factorize_level(m, l, &w);
  if (!ierr) ierr = read_infos(m, &w, bad);
  if (!ierr && is_ldlt && *bad < 0) ierr = count_negative(m, &w);
  return free_work(m, &w, ierr);
}

int ritz_multifrontal_drop_matrix(RitzMultifrontal *m) {
  RITZ_FREE(&m->symbolic.from);
  RITZ_FREE(&m->symbolic.to);
  if (m->to) m->num_bytes -= m->symbolic.num_entries * (int64_t)sizeof(*m->to);
  return ritz_front_memory_free(m->ceed, (void **)&m->to);
}

// ---- Solutions ----

static int solve_levels(RitzMultifrontal *m, int num_rhs) {
  const RitzSymbolic *y = &m->symbolic;
  const int64_t stride = stride_of_x(m);
  for (int l = y->num_levels - 1; l >= 0; l--) {
    const RitzFrontArrays arrays = arrays_of(m, l, NULL);
    RitzFrontTreeAction forward = action_on(m, RITZ_FRONT_TREE_FORWARD, l);
    forward.num_rhs = num_rhs;
    RITZ_TRY(ritz_front_tree_run(m->ceed, &m->tree, &forward));
    RITZ_TRY(RitzFrontForwardBatched(m->fronts[m->of_level[l]], y->num_fronts[l], &arrays, num_rhs, m->x,
                                     m->tree.rows + y->level[l], stride));
  }
  for (int l = 0; l < y->num_levels; l++) {
    const RitzFrontArrays arrays = arrays_of(m, l, NULL);
    RitzFrontTreeAction backward = action_on(m, RITZ_FRONT_TREE_BACKWARD, l);
    backward.num_rhs = num_rhs;
    RITZ_TRY(ritz_front_tree_run(m->ceed, &m->tree, &backward));
    RITZ_TRY(RitzFrontBackwardBatched(m->fronts[m->of_level[l]], y->num_fronts[l], &arrays, num_rhs, m->x,
                                      m->tree.rows + y->level[l], stride));
  }
  return CEED_ERROR_SUCCESS;
}

// Unknowns in the order of elimination, at `where` of an array (NULL: in order), to and from their rows, of
// right-hand side r.
static int move_unknowns(const RitzMultifrontal *m, int r, CeedScalarType type, const int64_t *where,
                         const void *in, void *out) {
  double *x = m->x + r * stride_of_x(m);
  RitzFrontTreeAction move = {.kind = RITZ_FRONT_TREE_MOVE,
                              .count = m->symbolic.n,
                              .in = in ? in : x,
                              .out = out ? out : x,
                              .from = in ? where : m->place,
                              .to = in ? m->place : where,
                              .in_type = in ? type : CEED_SCALAR_FP64,
                              .out_type = in ? CEED_SCALAR_FP64 : type};
  return ritz_front_tree_run(m->ceed, NULL, &move);
}

int ritz_multifrontal_apply(RitzMultifrontal *m, CeedScalarType type, int num_rhs, const void *const *r,
                            void *const *z) {
  RITZ_TRY(make_room(m, num_rhs));
  for (int k = 0; k < num_rhs; k++) RITZ_TRY(move_unknowns(m, k, type, m->where, r[k], NULL));
  RITZ_TRY(solve_levels(m, num_rhs));
  for (int k = 0; k < num_rhs; k++) RITZ_TRY(move_unknowns(m, k, type, m->where, NULL, z[k]));
  return CEED_ERROR_SUCCESS;
}

// `sorted` and m->work [num_rhs][aligned(n)]: b, then x, in the order of elimination.
static int solve_sorted(RitzMultifrontal *m, int num_rhs, double *sorted) {
  const int64_t stride = aligned(m->symbolic.n);
  const size_t num_bytes = (size_t)(num_rhs * stride) * sizeof(double);
  RITZ_TRY(ritz_front_memory_upload(m->ceed, num_bytes, sorted, m->work));
  for (int r = 0; r < num_rhs; r++)
    RITZ_TRY(move_unknowns(m, r, CEED_SCALAR_FP64, NULL, m->work + r * stride, NULL));
  RITZ_TRY(solve_levels(m, num_rhs));
  for (int r = 0; r < num_rhs; r++)
    RITZ_TRY(move_unknowns(m, r, CEED_SCALAR_FP64, NULL, NULL, m->work + r * stride));
  return ritz_front_memory_download(m->ceed, num_bytes, m->work, sorted);
}

int ritz_multifrontal_solve(RitzMultifrontal *m, int num_rhs, const double *b, double *x) {
  const RitzSymbolic *y = &m->symbolic;
  const int64_t n = y->n, stride = aligned(n);
  double *sorted = NULL;
  if (num_rhs == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(make_room(m, num_rhs));
  if (!m->work)
    RITZ_TRY(
        ritz_front_memory_alloc(m->ceed, (size_t)(m->num_x * stride) * sizeof(double), (void **)&m->work));
  RITZ_TRY(RITZ_CALLOC(m->ceed, (size_t)(num_rhs * stride), &sorted));
  for (int r = 0; r < num_rhs; r++)
    for (int64_t k = 0; k < n; k++) sorted[r * stride + k] = b[r * n + y->perm[k]];
  const int ierr = solve_sorted(m, num_rhs, sorted);
  for (int r = 0; r < num_rhs && !ierr; r++)
    for (int64_t k = 0; k < n; k++) x[r * n + y->perm[k]] = sorted[r * stride + k];
  RITZ_FREE(&sorted);
  return ierr;
}
