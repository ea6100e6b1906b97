// SPDX-License-Identifier: BSD-2-Clause
// Linear assembly: matrices, diagonals, point blocks and assembled QFunctions of random operators against the
// dense matrices of random-operator.h, and the properties that every assembly has. The rules of the calls
// (errors, caches, layouts) are in test-assembly-rules.c.
#include "tests/tap.h"

#include "tests/assembled-qfunctions.h"
#include "tests/grid.h"
#include "tests/random-operator.h"
#include "tests/reference.h"
#include "tests/triples.h"
#include <math.h>
#include <ritz/operator.h>
#include <stdlib.h>
#include <string.h>

// ---- Random operators ----

static int num_draws(int part) {
  static const int num[] = {80, 1600, 16000};

  return num[tap_level()] / part;
}

// Each operator takes several kernels, some of which PoCL compiles for 15 s: there all checks take the same
// few operators. From this seed on they are of all dimensions, with orientations and with blocks, and compile
// fast.
enum { FIRST_OF_FEW = 1000007 };
static bool takes_few(Ceed ceed) { return tap_compiles_slowly(ceed) && tap_level() < TAP_EXHAUSTIVE; }

static int num_operators(Ceed ceed, int num) {
  num = random_num_draws(ceed, num);
  return takes_few(ceed) ? (num + 2) / 3 : num;
}

static void with_operators(Ceed ceed, RandomOptions options, int num, uint64_t first_seed,
                           void (*check)(RandomOperator *r, uint64_t *seed)) {
  num = num_operators(ceed, num);
  if (takes_few(ceed)) first_seed = FIRST_OF_FEW;
  for (int i = 0; i < num && !tap_failed(); i++) {
    RandomOperator r;
    uint64_t seed = first_seed + (uint64_t)i;
    int ierr = random_operator_create(ceed, &options, &seed, &r);

    if (!ierr) check(&r, &seed);
    if (ierr || tap_failed()) {
      tap_note("operator of seed %llu: %s", (unsigned long long)first_seed + (unsigned long long)i,
               random_operator_describe(&r));
    }
    random_operator_destroy(&r);
    CHECK_OK(ierr);
  }
}

static const RandomOptions linear = {.num_active_in = 1, .num_active_out = 1, .is_linear = true};
static const RandomOptions several_fields = {.num_active_in = 2, .num_active_out = 2, .is_linear = true};
static const RandomOptions same_spaces = {.num_active_in = 1, .is_linear = true, .is_symmetric = true};

// The matrix of the active output without its last column (zero: the operator is linear).
static double *dense_of(const RandomOperator *r) {
  double *dense = reference_new(r->output_size * r->input_size);

  for (CeedSize i = 0; i < r->output_size; i++) {
    memcpy(dense + i * r->input_size, r->targets[0].matrix + i * (r->input_size + 1),
           (size_t)r->input_size * sizeof(*dense));
  }
  return dense;
}

// Rounding errors of one entry: as in random_target_apply, for a unit vector.
static double entry_tolerance(const RandomOperator *r) {
  const RandomTarget *t = &r->targets[0];
  double num_nodes = 0.0;

  for (int i = 0; i < r->num_spaces; i++) num_nodes = fmax(num_nodes, r->spaces[i].elem_size);
  return eps * (r->Q + RANDOM_MAX_SCALARS + num_nodes) *
         reference_largest(t->length * (r->input_size + 1), t->magnitude);
}

// ---- Structure of the triples, from the definition ----

enum { MAX_GROUPS = RANDOM_MAX_FIELDS };

// Spaces of the active fields in the order of their first appearance. Returns their number.
static int list_groups(const RandomField *fields, int num, const RandomSpace **groups) {
  int num_groups = 0;

  for (int i = 0; i < num; i++) {
    int k = 0;

    if (!fields[i].is_active) continue;
    while (k < num_groups && groups[k] != fields[i].space) k++;
    if (k == num_groups) groups[num_groups++] = fields[i].space;
  }
  return num_groups;
}

static CeedSize position(const RandomSpace *s, CeedInt elem, CeedInt i, CeedInt c) {
  if (s->type == CEED_RESTRICTION_STRIDED) {
    return (CeedSize)i * s->strides[0] + (CeedSize)c * s->strides[1] + (CeedSize)elem * s->strides[2];
  }
  return s->offsets[(CeedSize)elem * s->elem_size + i] + (CeedSize)c * s->comp_stride;
}

// An entry of the triples: its place in the element matrix that it belongs to.
typedef struct {
  const RandomSpace *in, *out;
  CeedInt elem, c_in, c_out, i, j;
} Place;

// Visits all entries in the order of the standard. Returns their number.
static CeedSize visit_pair(const RandomOperator *r, const RandomSpace *in, const RandomSpace *out,
                           CeedSize first, void (*visit)(void *data, CeedSize k, const Place *at),
                           void *data) {
  CeedSize k = first;

  for (CeedInt elem = 0; elem < r->num_elem; elem++) {
    for (CeedInt c_in = 0; c_in < in->num_comp; c_in++) {
      for (CeedInt c_out = 0; c_out < out->num_comp; c_out++) {
        for (CeedInt i = 0; i < out->elem_size; i++) {
          for (CeedInt j = 0; j < in->elem_size; j++, k++) {
            const Place at = {in, out, elem, c_in, c_out, i, j};

            visit(data, k, &at);
          }
        }
      }
    }
  }
  return k;
}

static CeedSize visit_entries(const RandomOperator *r, void (*visit)(void *data, CeedSize k, const Place *at),
                              void *data) {
  const RandomSpace *in[MAX_GROUPS], *out[MAX_GROUPS];
  int num_in = list_groups(r->in, r->num_in, in), num_out = list_groups(r->out, r->num_out, out);
  CeedSize k = 0;

  for (int a = 0; a < num_in; a++) {
    for (int b = 0; b < num_out; b++) k = visit_pair(r, in[a], out[b], k, visit, data);
  }
  return k;
}

// ---- Matrices ----

typedef struct {
  const Triples *triples;
  CeedSize first_wrong; // -1: none
} OrderCheck;

static void check_place(void *data, CeedSize k, const Place *at) {
  OrderCheck *o = data;
  const Triples *t = o->triples;
  bool is_right = k < t->num && t->rows[k] == position(at->out, at->elem, at->i, at->c_out) &&
                  t->cols[k] == position(at->in, at->elem, at->j, at->c_in);

  if (!is_right && o->first_wrong < 0) o->first_wrong = k;
}

static void check_triples(RandomOperator *r, uint64_t *seed) {
  Triples t;
  int ierr = triples_assemble(r->op, &t);
  OrderCheck order = {&t, -1};

  (void)seed;
  if (!ierr) {
    CeedSize num = visit_entries(r, check_place, &order);
    double *sum = triples_sum(&t, r->output_size, r->input_size), *dense = dense_of(r);
    double error = reference_distance(r->output_size * r->input_size, sum, dense);

    free(sum);
    free(dense);
    CHECK(t.num == num, "%td entries, wanted %td", t.num, num);
    CHECK(order.first_wrong < 0, "entry %td is not where the standard wants it", order.first_wrong);
    CHECK(error <= entry_tolerance(r), "off by %g, allowed %g", error, entry_tolerance(r));
  }
  triples_free(&t);
  CHECK_OK(ierr);
}

TEST_EACH_BACKEND(assembled_triples_are_the_matrix_in_the_standard_order) {
  with_operators(ceed, linear, num_draws(1), 1000000, check_triples);
}

TEST_EACH_BACKEND(assembled_triples_of_several_active_fields_are_the_matrix) {
  with_operators(ceed, several_fields, num_draws(2), 1100000, check_triples);
}

TEST_EACH_BACKEND(assembled_triples_of_square_operators_are_the_matrix) {
  with_operators(ceed, same_spaces, num_draws(2), 1200000, check_triples);
}

static void check_symmetric(RandomOperator *r, uint64_t *seed) {
  Triples t;
  int ierr = triples_assemble(r->op, &t);
  CeedSize n = r->input_size;

  (void)seed;
  if (!ierr) {
    double *sum = triples_sum(&t, n, n), worst = 0.0;

    for (CeedSize k = 0; k < n * n; k++) worst = tap_larger(worst, fabs(sum[k] - sum[k % n * n + k / n]));
    free(sum);
    CHECK(worst <= 2 * entry_tolerance(r), "A - A^T has an entry %g, allowed %g", worst,
          2 * entry_tolerance(r));
  }
  triples_free(&t);
  CHECK_OK(ierr);
}

TEST_EACH_BACKEND(symmetric_operators_assemble_to_symmetric_matrices) {
  with_operators(ceed, same_spaces, num_draws(4), 1300000, check_symmetric);
}

static void check_triples_after_changes(RandomOperator *r, uint64_t *seed) {
  check_triples(r, seed);
  if (!tap_failed()) CHECK_OK(random_operator_change_passive(r, seed));
  if (!tap_failed()) check_triples(r, seed);
}

TEST_EACH_BACKEND(assembly_sees_changes_of_passive_vectors) {
  with_operators(ceed, linear, num_draws(4), 1400000, check_triples_after_changes);
}

// ---- Compressed sparse rows ----

typedef struct {
  CeedSize num_rows, num_cols;
  int64_t *row_starts, *cols; // owned, malloc's
  CeedVector values;          // owned
} Csr;

static int csr_create(CeedOperator op, Csr *m) {
  *m = (Csr){0};
  CeedCall(RitzOperatorAssembleCSRSymbolic(op, &m->num_rows, &m->num_cols, &m->row_starts, &m->cols));
  return CeedVectorCreate(CeedOperatorReturnCeed(op), m->row_starts[m->num_rows], &m->values);
}

static void csr_free(Csr *m) {
  free(m->row_starts);
  free(m->cols);
  CeedVectorDestroy(&m->values);
}

// Columns ascend strictly in every row.
static bool csr_is_sorted(const Csr *m) {
  for (CeedSize r = 0; r < m->num_rows; r++) {
    for (int64_t k = m->row_starts[r]; k < m->row_starts[r + 1]; k++) {
      if (m->cols[k] < 0 || m->cols[k] >= m->num_cols) return false;
      if (k > m->row_starts[r] && m->cols[k] <= m->cols[k - 1]) return false;
    }
  }
  return m->row_starts[0] == 0;
}

static double *csr_dense(const Csr *m) {
  double *dense = reference_new(m->num_rows * m->num_cols), *values = reference_new_values(m->values);

  for (CeedSize r = 0; r < m->num_rows; r++) {
    for (int64_t k = m->row_starts[r]; k < m->row_starts[r + 1]; k++)
      dense[r * m->num_cols + m->cols[k]] = values[k];
  }
  free(values);
  return dense;
}

// The pattern is the set of the places of the triples: no more, no less.
static bool csr_has_pattern(const Csr *m, const Triples *t) {
  double *marks = reference_new(m->num_rows * m->num_cols);
  bool is_right = true;

  for (CeedSize k = 0; k < t->num; k++) marks[t->rows[k] * m->num_cols + t->cols[k]] = 1.0;
  for (CeedSize r = 0; r < m->num_rows; r++) {
    for (int64_t k = m->row_starts[r]; k < m->row_starts[r + 1]; k++)
      marks[r * m->num_cols + m->cols[k]] -= 1.0;
  }
  for (CeedSize k = 0; k < m->num_rows * m->num_cols; k++) is_right = is_right && marks[k] == 0.0;
  free(marks);
  return is_right;
}

static void check_csr_values(const RandomOperator *r, const Csr *m) {
  CHECK_OK(RitzOperatorAssembleCSR(r->op, m->row_starts, m->cols, m->values));
  double *sum = csr_dense(m), *dense = dense_of(r);
  double error = reference_distance(r->output_size * r->input_size, sum, dense);

  free(sum);
  free(dense);
  CHECK(error <= entry_tolerance(r), "off by %g, allowed %g", error, entry_tolerance(r));
}

// The numeric call is repeated with other passive vectors in the same pattern, twice with the same ones:
// every bit is repeated where the backend promises that.
static void check_csr_numbers(RandomOperator *r, const Csr *m, uint64_t *seed) {
  check_csr_values(r, m);
  if (!tap_failed()) CHECK_OK(random_operator_change_passive(r, seed));
  if (!tap_failed()) check_csr_values(r, m);
  if (tap_failed()) return;
  double *first = reference_new_values(m->values);
  int ierr = RitzOperatorAssembleCSR(r->op, m->row_starts, m->cols, m->values);
  double *second = reference_new_values(m->values);
  bool is_same = !memcmp(first, second, (size_t)m->row_starts[m->num_rows] * sizeof(*first));
  bool is_deterministic = false;

  free(first);
  free(second);
  CHECK_OK(ierr);
  CHECK_OK(CeedIsDeterministic(r->ceed, &is_deterministic));
  CHECK(is_same || !is_deterministic, "two assemblies differ in a bit");
}

static void check_csr(RandomOperator *r, uint64_t *seed) {
  Csr m;
  Triples t = {0};
  int ierr = csr_create(r->op, &m);

  if (!ierr) ierr = triples_assemble(r->op, &t);
  bool fits = !ierr && m.num_rows == r->output_size && m.num_cols == r->input_size && csr_is_sorted(&m),
       has_pattern = fits && csr_has_pattern(&m, &t);
  if (has_pattern) check_csr_numbers(r, &m, seed);
  triples_free(&t);
  csr_free(&m);
  CHECK_OK(ierr);
  CHECK(fits, "sizes, or columns that do not ascend");
  CHECK(has_pattern, "the pattern is not that of the triples");
}

TEST_EACH_BACKEND(sparse_rows_are_the_matrix_sorted_and_reproducible) {
  with_operators(ceed, linear, num_draws(1), 2000000, check_csr);
}

TEST_EACH_BACKEND(sparse_rows_of_several_active_fields_are_the_matrix) {
  with_operators(ceed, several_fields, num_draws(4), 2100000, check_csr);
}

// ---- Diagonals ----

static bool has_curl_orientation(const RandomOperator *r) {
  for (int i = 0; i < r->num_in; i++) {
    if (r->in[i].is_active && r->in[i].space->type == CEED_RESTRICTION_CURL_ORIENTED) return true;
  }
  return false;
}

typedef struct {
  const Triples *triples;
  double *diagonal;
} DiagonalSum;

// Orientations are +-1 on both sides of a diagonal entry and cancel.
static void add_to_diagonal(void *data, CeedSize k, const Place *at) {
  DiagonalSum *d = data;

  if (at->in != at->out || at->c_in != at->c_out || at->i != at->j) return;
  d->diagonal[position(at->in, at->elem, at->i, at->c_in)] += d->triples->values[k];
}

static int num_diagonals; // that were not left out

// The diagonal is made of the diagonals of the element matrices of one basis: they are in the triples.
static void check_diagonal(RandomOperator *r, uint64_t *seed) {
  Triples t;
  CeedVector v = NULL;
  CeedSize n = r->input_size;
  int ierr = random_operator_change_context(r, seed); // D is not symmetric any more

  if (has_curl_orientation(r)) return;
  num_diagonals++;
  if (!ierr) ierr = triples_assemble(r->op, &t);
  if (!ierr) ierr = CeedVectorCreate(r->ceed, n, &v);
  if (!ierr) ierr = CeedOperatorLinearAssembleDiagonal(r->op, v, CEED_REQUEST_IMMEDIATE);
  if (!ierr) {
    double *wanted = reference_new(n), *values = reference_new_values(v);
    DiagonalSum sum = {&t, wanted};

    visit_entries(r, add_to_diagonal, &sum);
    double error = reference_distance(n, wanted, values);
    ierr = CeedOperatorLinearAssembleAddDiagonal(r->op, v, CEED_REQUEST_IMMEDIATE);
    reference_values(v, values);
    for (CeedSize k = 0; k < n; k++) wanted[k] *= 2.0;
    double error_of_adding = reference_distance(n, wanted, values);

    free(wanted);
    free(values);
    CHECK(error <= 2 * entry_tolerance(r), "off by %g, allowed %g", error, 2 * entry_tolerance(r));
    CHECK(error_of_adding <= 4 * entry_tolerance(r), "twice: off by %g, allowed %g", error_of_adding,
          4 * entry_tolerance(r));
  }
  triples_free(&t);
  CeedVectorDestroy(&v);
  CHECK_OK(ierr);
}

TEST_EACH_BACKEND(diagonals_are_sums_of_the_diagonals_of_element_matrices) {
  RandomOptions two = same_spaces;

  num_diagonals = 0;
  with_operators(ceed, same_spaces, num_draws(1), 3000000, check_diagonal);
  two.num_active_in = 2;
  with_operators(ceed, two, num_draws(2), 3100000, check_diagonal);
  CHECK(tap_failed() || num_diagonals >= num_operators(ceed, num_draws(4)), "only %d were compared",
        num_diagonals);
}

typedef struct {
  CeedOperator op;
  CeedInt num_comp;
  CeedSize size;
  CeedInt dim, n, degree;
} Grid;

static int grid_create(Ceed ceed, CeedInt dim, CeedInt num_comp, bool is_laplacian, Grid *g) {
  *g = (Grid){.num_comp = num_comp, .dim = dim, .n = dim == 3 ? 2 : 3, .degree = dim == 3 ? 2 : 3};
  CeedInt num_elem = CeedIntPow(g->n, dim);
  double *corners = reference_new((CeedSize)num_elem * dim * CeedIntPow(2, dim));
  GridElements elements = {dim, num_elem, corners};
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;

  grid_corners(dim, g->n, 0.2, corners);
  g->size = (CeedSize)grid_num_nodes(dim, g->n, g->degree) * num_comp;
  int ierr = grid_create_restriction(ceed, dim, g->n, g->degree, num_comp, &rstr);
  if (!ierr) {
    ierr = CeedBasisCreateTensorH1Lagrange(ceed, dim, num_comp, g->degree + 1, g->degree + 2, CEED_GAUSS,
                                           &basis);
  }
  if (!ierr) ierr = grid_create_operator(ceed, &elements, g->degree + 2, is_laplacian, rstr, basis, &g->op);
  CeedElemRestrictionDestroy(&rstr);
  CeedBasisDestroy(&basis);
  free(corners);
  return ierr;
}

// Column j of an operator's matrix, by application to a unit vector.
static int apply_to_unit(CeedOperator op, CeedSize n, CeedSize j, double *column) {
  Ceed ceed = CeedOperatorReturnCeed(op);
  double *x = reference_new(n);
  CeedVector in, out = NULL;

  x[j] = 1.0;
  in = reference_vector(ceed, n, x);
  int ierr = CeedVectorCreate(ceed, n, &out);
  if (!ierr) ierr = CeedOperatorApply(op, in, out, CEED_REQUEST_IMMEDIATE);
  if (!ierr) reference_values(out, column);
  CeedVectorDestroy(&in);
  CeedVectorDestroy(&out);
  free(x);
  return ierr;
}

// On meshes no element meets a node twice: the diagonal is that of the matrix.
static void check_grid_diagonal(Ceed ceed, CeedInt dim, CeedInt num_comp, bool is_laplacian) {
  Grid g;
  CeedVector v = NULL;
  int ierr = grid_create(ceed, dim, num_comp, is_laplacian, &g);

  if (!ierr) ierr = CeedVectorCreate(ceed, g.size, &v);
  if (!ierr) ierr = CeedOperatorLinearAssembleDiagonal(g.op, v, CEED_REQUEST_IMMEDIATE);
  double *diagonal = ierr ? NULL : reference_new_values(v), *column = reference_new(g.size), worst = 0.0,
         largest = 0.0;
  for (CeedSize j = 0; !ierr && j < g.size; j++) {
    ierr = apply_to_unit(g.op, g.size, j, column);
    worst = tap_larger(worst, fabs(column[j] - diagonal[j]));
    largest = fmax(largest, fabs(column[j]));
  }
  free(diagonal);
  free(column);
  CeedVectorDestroy(&v);
  CeedOperatorDestroy(&g.op);
  CHECK_OK(ierr);
  // Sums of (degree + 2)^dim points in at most 2^dim elements; gradients are derivatives of polynomials.
  CHECK(worst <= 100 * eps * largest * CeedIntPow(g.degree + 2, dim), "%dD: off by %g of %g", dim, worst,
        largest);
}

TEST_EACH_BACKEND(diagonals_on_meshes_are_those_of_unit_vector_application) {
  for (CeedInt dim = 1; dim <= 3; dim++) {
    for (int kind = 0; kind < 4 && !tap_failed(); kind++) {
      if (takes_few(ceed) && kind != dim) continue;
      check_grid_diagonal(ceed, dim, kind & 1 ? 3 : 1, kind >> 1);
    }
  }
}

// ---- Point blocks ----

// The blocks of a space whose nodes do not overlap: where the block of a node starts, or -1.
static CeedSize block_start(const RandomSpace *s, CeedInt elem, CeedInt i) {
  CeedSize offset = s->offsets[(CeedSize)elem * s->elem_size + i];
  CeedInt nc = s->num_comp;

  if (s->comp_stride == 1) return offset % nc == s->offsets[0] % nc ? offset / nc * nc * nc : -1;
  return (offset + 1) * nc <= s->l_size ? offset * nc * nc : -1;
}

static bool has_blocks(const RandomOperator *r) {
  const RandomSpace *spaces[MAX_GROUPS];

  if (list_groups(r->in, r->num_in, spaces) != 1 || has_curl_orientation(r)) return false;
  if (spaces[0]->type == CEED_RESTRICTION_STRIDED) return false;
  for (CeedInt k = 0; k < r->num_elem * spaces[0]->elem_size; k++) {
    if (block_start(spaces[0], k / spaces[0]->elem_size, k % spaces[0]->elem_size) < 0) return false;
  }
  return true;
}

typedef struct {
  const Triples *triples;
  double *values;
  CeedInt *rows, *cols;
} BlockSum;

static void add_to_block(void *data, CeedSize k, const Place *at) {
  BlockSum *b = data;
  const RandomSpace *s = at->in;

  if (at->i != at->j) return;
  CeedSize place = block_start(s, at->elem, at->i) + (CeedSize)at->c_out * s->num_comp + at->c_in;
  b->values[place] += b->triples->values[k];
  b->rows[place] = (CeedInt)position(s, at->elem, at->i, at->c_out);
  b->cols[place] = (CeedInt)position(s, at->elem, at->i, at->c_in);
}

static int num_blocked;

static void check_blocks(RandomOperator *r, uint64_t *seed) {
  Triples t = {0};
  CeedVector v = NULL;
  CeedInt *rows = NULL, *cols = NULL;
  CeedSize num = 0;
  int ierr = random_operator_change_context(r, seed);

  if (!has_blocks(r)) return;
  CeedSize n = r->input_size * r->in[0].space->num_comp;
  for (int i = 0; i < r->num_in; i++)
    if (r->in[i].is_active) n = r->input_size * r->in[i].space->num_comp;
  BlockSum sum = {&t, reference_new(n), calloc((size_t)n, sizeof(CeedInt)),
                  calloc((size_t)n, sizeof(CeedInt))};

  num_blocked++;
  if (!ierr) ierr = triples_assemble(r->op, &t);
  if (!ierr) visit_entries(r, add_to_block, &sum);
  if (!ierr) ierr = CeedVectorCreate(r->ceed, n, &v);
  if (!ierr) ierr = CeedOperatorLinearAssemblePointBlockDiagonal(r->op, v, CEED_REQUEST_IMMEDIATE);
  if (!ierr) ierr = CeedOperatorLinearAssembleAddPointBlockDiagonal(r->op, v, CEED_REQUEST_IMMEDIATE);
  if (!ierr) ierr = CeedOperatorLinearAssemblePointBlockDiagonalSymbolic(r->op, &num, &rows, &cols);
  double *values = ierr ? reference_new(n) : reference_new_values(v);
  for (CeedSize k = 0; k < n; k++) sum.values[k] *= 2.0;
  double error = reference_distance(n, sum.values, values);
  bool fits = num == n && !memcmp(rows, sum.rows, (size_t)n * sizeof(*rows)) &&
              !memcmp(cols, sum.cols, (size_t)n * sizeof(*cols));

  free(values);
  free(sum.values);
  free(sum.rows);
  free(sum.cols);
  free(rows);
  free(cols);
  triples_free(&t);
  CeedVectorDestroy(&v);
  CHECK_OK(ierr);
  CHECK(error <= 4 * entry_tolerance(r), "off by %g, allowed %g", error, 4 * entry_tolerance(r));
  CHECK(fits, "rows and columns of the blocks");
}

TEST_EACH_BACKEND(point_blocks_couple_the_components_of_a_node) {
  num_blocked = 0;
  with_operators(ceed, same_spaces, num_draws(1) * 2, 4000000, check_blocks);
  CHECK(tap_failed() || num_blocked >= num_operators(ceed, num_draws(8)), "only %d were compared",
        num_blocked);
}

// ---- Assembled QFunctions as passive fields ----

static int add_active_fields(const RandomOperator *r, CeedQFunction qf, AssembledContext *c) {
  *c = (AssembledContext){0};
  for (int i = 0; i < r->num_in; i++) {
    if (!r->in[i].is_active) continue;
    c->in_size[c->num_in++] = r->in[i].size;
    CeedCall(CeedQFunctionAddInput(qf, r->in[i].name, r->in[i].size, r->in[i].mode));
  }
  for (int i = 0; i < r->num_out; i++) {
    if (!r->out[i].is_active) continue;
    c->out_size[c->num_out++] = r->out[i].size;
    c->N_out += r->out[i].size;
    CeedCall(CeedQFunctionAddOutput(qf, r->out[i].name, r->out[i].size, r->out[i].mode));
  }
  return CEED_ERROR_SUCCESS;
}

static int set_active_fields(const RandomOperator *r, CeedOperator op) {
  for (int i = 0; i < r->num_in + r->num_out; i++) {
    const RandomField *f = i < r->num_in ? &r->in[i] : &r->out[i - r->num_in];

    if (!f->is_active) continue;
    CeedCall(CeedOperatorSetField(op, f->name, f->space->rstr, f->space->basis, CEED_VECTOR_ACTIVE));
  }
  return CEED_ERROR_SUCCESS;
}

// An operator with the active fields of r and the assembled QFunction in place of everything else.
static int create_twin(const RandomOperator *r, CeedVector assembled, CeedElemRestriction rstr,
                       CeedOperator *op) {
  CeedQFunction qf = NULL;
  CeedQFunctionContext context = NULL;
  AssembledContext c;
  CeedInt num_comp = 0;
  int ierr = CeedQFunctionCreateInterior(r->ceed, 1, ApplyAssembled, ApplyAssembled_loc, &qf);

  if (!ierr) ierr = CeedElemRestrictionGetNumComponents(rstr, &num_comp);
  if (!ierr) ierr = add_active_fields(r, qf, &c);
  if (!ierr) ierr = CeedQFunctionAddInput(qf, "A", num_comp, CEED_EVAL_NONE);
  if (!ierr) ierr = CeedQFunctionContextCreate(r->ceed, &context);
  if (!ierr) ierr = CeedQFunctionContextSetData(context, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(c), &c);
  if (!ierr) ierr = CeedQFunctionSetContext(qf, context);
  if (!ierr) ierr = CeedOperatorCreate(r->ceed, qf, NULL, NULL, op);
  if (!ierr) ierr = set_active_fields(r, *op);
  if (!ierr) ierr = CeedOperatorSetField(*op, "A", rstr, CEED_BASIS_NONE, assembled);
  CeedQFunctionContextDestroy(&context);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

typedef int (*AssembleQFunction)(CeedOperator op, CeedVector *assembled, CeedElemRestriction *rstr,
                                 CeedRequest *request);

static void check_twin(RandomOperator *r, uint64_t *seed, AssembleQFunction assemble) {
  CeedVector assembled = NULL, in = NULL, out = NULL;
  CeedElemRestriction rstr = NULL;
  CeedOperator twin = NULL;
  double *x = reference_new_random(r->input_size, seed), *y = reference_new(r->output_size);
  double tolerance = random_target_apply(r, &r->targets[0], x, y), error = NAN;
  int ierr = assemble(r->op, &assembled, &rstr, CEED_REQUEST_IMMEDIATE);

  if (!ierr) ierr = create_twin(r, assembled, rstr, &twin);
  in = reference_vector(r->ceed, r->input_size, x);
  if (!ierr) ierr = CeedVectorCreate(r->ceed, r->output_size, &out);
  if (!ierr) ierr = CeedOperatorApply(twin, in, out, CEED_REQUEST_IMMEDIATE);
  if (!ierr) {
    double *values = reference_new_values(out);

    error = reference_distance(r->output_size, values, y);
    free(values);
  }
  CeedOperatorDestroy(&twin);
  CeedVectorDestroy(&assembled);
  CeedVectorDestroy(&in);
  CeedVectorDestroy(&out);
  CeedElemRestrictionDestroy(&rstr);
  free(x);
  free(y);
  CHECK_OK(ierr);
  CHECK(error <= 2 * tolerance, "off by %g, allowed %g", error, 2 * tolerance);
}

static void check_new_twin(RandomOperator *r, uint64_t *seed) {
  check_twin(r, seed, CeedOperatorLinearAssembleQFunction);
}

static void check_cached_twin(RandomOperator *r, uint64_t *seed) {
  check_twin(r, seed, CeedOperatorLinearAssembleQFunctionBuildOrUpdate);
}

TEST_EACH_BACKEND(assembled_qfunctions_serve_as_passive_fields) {
  with_operators(ceed, linear, num_draws(2), 5000000, check_new_twin);
  with_operators(ceed, several_fields, num_draws(4), 5100000, check_new_twin);
  with_operators(ceed, several_fields, num_draws(4), 5200000, check_cached_twin);
}

// With reuse everything is made from the assembled QFunction instead of the user's function.
static void check_all_with_reuse(RandomOperator *r, uint64_t *seed) {
  Csr m;

  CHECK_OK(CeedOperatorSetQFunctionAssemblyReuse(r->op, true));
  check_triples(r, seed);
  if (tap_failed()) return;
  int ierr = csr_create(r->op, &m);
  if (!ierr) check_csr_values(r, &m);
  csr_free(&m);
  CHECK_OK(ierr);
}

TEST_EACH_BACKEND(assembly_from_kept_qfunction_data_gives_the_matrix) {
  with_operators(ceed, linear, num_draws(4), 5300000, check_all_with_reuse);
}

// ---- Composite operators ----

enum { NUM_PARTS = 3, COMPOSITE_ROWS = 45, COMPOSITE_COLS = 60 };

typedef struct {
  RandomOperator parts[NUM_PARTS];
  CeedOperator op;
} Composite;

static int composite_create(Ceed ceed, RandomOptions options, uint64_t *seed, Composite *c) {
  int ierr = CeedOperatorCreateComposite(ceed, &c->op);

  for (int i = 0; i < NUM_PARTS; i++) {
    int failed = random_operator_create(ceed, &options, seed, &c->parts[i]);

    if (!ierr) ierr = failed;
    if (!ierr) ierr = CeedOperatorCompositeAddSub(c->op, c->parts[i].op);
  }
  return ierr;
}

static void composite_destroy(Composite *c) {
  CeedOperatorDestroy(&c->op);
  for (int i = 0; i < NUM_PARTS; i++) random_operator_destroy(&c->parts[i]);
}

// The triples are those of the parts, one list after the other; the sparse rows hold their sum.
static void check_composite_matrix(const Composite *c) {
  Triples all = {0}, part = {0};
  Csr m = {0};
  CeedSize start = 0;
  bool is_list = true;
  double tolerance = 0.0;
  int ierr = triples_assemble(c->op, &all);

  for (int i = 0; !ierr && i < NUM_PARTS; i++) {
    ierr = triples_assemble(c->parts[i].op, &part);
    is_list = is_list && triples_begin_with(&all, start, &part);
    start += part.num;
    tolerance += entry_tolerance(&c->parts[i]);
    triples_free(&part);
  }
  is_list = is_list && start == all.num;
  if (!ierr) ierr = csr_create(c->op, &m);
  if (!ierr) ierr = RitzOperatorAssembleCSR(c->op, m.row_starts, m.cols, m.values);
  double error = NAN;
  bool is_sorted = !ierr && csr_is_sorted(&m) && csr_has_pattern(&m, &all);
  if (is_sorted) {
    double *sum = triples_sum(&all, m.num_rows, m.num_cols), *dense = csr_dense(&m);

    error = reference_distance(m.num_rows * m.num_cols, sum, dense);
    free(sum);
    free(dense);
  }
  csr_free(&m);
  triples_free(&all);
  CHECK_OK(ierr);
  CHECK(is_list, "the triples are not those of the parts in their order");
  CHECK(is_sorted, "order or pattern of the sparse rows");
  CHECK(error <= tolerance, "sparse rows are off by %g, allowed %g", error, tolerance);
}

TEST_EACH_BACKEND(composite_matrices_are_sums_of_their_parts) {
  RandomOptions options = linear;

  options.input_size = COMPOSITE_COLS;
  options.output_size = COMPOSITE_ROWS;
  for (int i = 0; i < random_num_draws(ceed, num_draws(16)) && !tap_failed(); i++) {
    Composite c = {.op = NULL};
    uint64_t seed = 6000000 + (uint64_t)i;
    int ierr = composite_create(ceed, options, &seed, &c);

    if (!ierr) check_composite_matrix(&c);
    composite_destroy(&c);
    CHECK_OK(ierr);
  }
}

static void check_composite_diagonal(const Composite *c) {
  Ceed ceed = CeedOperatorReturnCeed(c->op);
  double *sum = reference_new(COMPOSITE_COLS), *values = reference_new(COMPOSITE_COLS), tolerance = 0.0;
  CeedVector v = NULL;
  int ierr = CeedVectorCreate(ceed, COMPOSITE_COLS, &v);

  for (int i = 0; !ierr && i < NUM_PARTS; i++) {
    ierr = CeedOperatorLinearAssembleDiagonal(c->parts[i].op, v, CEED_REQUEST_IMMEDIATE);
    reference_values(v, values);
    for (int k = 0; k < COMPOSITE_COLS; k++) sum[k] += values[k];
    tolerance += 2 * entry_tolerance(&c->parts[i]);
  }
  if (!ierr) ierr = CeedOperatorLinearAssembleDiagonal(c->op, v, CEED_REQUEST_IMMEDIATE);
  reference_values(v, values);
  double error = reference_distance(COMPOSITE_COLS, sum, values);

  free(sum);
  free(values);
  CeedVectorDestroy(&v);
  CHECK_OK(ierr);
  CHECK(error <= tolerance, "off by %g, allowed %g", error, tolerance);
}

TEST_EACH_BACKEND(composite_diagonals_are_sums_of_their_parts) {
  RandomOptions options = same_spaces;

  options.input_size = COMPOSITE_COLS;
  for (int i = 0; i < random_num_draws(ceed, num_draws(16)) && !tap_failed(); i++) {
    Composite c = {.op = NULL};
    uint64_t seed = 6100000 + (uint64_t)i;
    int ierr = composite_create(ceed, options, &seed, &c);

    if (!ierr) check_composite_diagonal(&c);
    composite_destroy(&c);
    CHECK_OK(ierr);
  }
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(assembled_triples_are_the_matrix_in_the_standard_order,
            assembled_triples_of_several_active_fields_are_the_matrix,
            assembled_triples_of_square_operators_are_the_matrix,
            symmetric_operators_assemble_to_symmetric_matrices, assembly_sees_changes_of_passive_vectors,
            sparse_rows_are_the_matrix_sorted_and_reproducible,
            sparse_rows_of_several_active_fields_are_the_matrix,
            diagonals_are_sums_of_the_diagonals_of_element_matrices,
            diagonals_on_meshes_are_those_of_unit_vector_application,
            point_blocks_couple_the_components_of_a_node, assembled_qfunctions_serve_as_passive_fields,
            assembly_from_kept_qfunction_data_gives_the_matrix, composite_matrices_are_sums_of_their_parts,
            composite_diagonals_are_sums_of_their_parts));
}
