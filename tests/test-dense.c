// SPDX-License-Identifier: BSD-2-Clause
// Bases without tensor structure on /cpu/self/gen: the products of kernels/cpu/dense.h at all sizes around
// the edges of their blocks, plain and even-odd, and which bases plan/exchange-symmetry.c splits. The header
// is compiled here, with sizes that are known at run time only; random operators (test-gen-random.c) have it
// in generated kernels.
#include <ceed.h>
#include <math.h>
#include <ritz/basis.h>
#include <string.h>

enum { LANES = 16 / sizeof(CeedScalar) }; // of the shortest registers, so that blocks have all their rows
#define RITZ_LANES 2
#ifdef CEED_SCALAR_IS_FP32
#undef RITZ_LANES
#define RITZ_LANES 4
#endif
#define RITZ_MAX_1D 17 // loops stay loops: sizes are no constants here
#include "base/memory.h"
#include "kernels/cpu/dense.h"
#include "plan/internal.h"
#include "tests/reference.h"
#include "tests/tap.h"

// Steps are counted.
RITZ_INLINE void ritz_prefetch(RitzPrefetch *prefetch) { prefetch->step++; }

enum { MAX_NODES = 40, MAX_POINTS = 40, MAX_VALUES = 3 * MAX_POINTS, MAX_COMP = 2 };

// ---- One product ----

typedef struct {
  int num_comp, nodes, values;
  double largest; // entry of A
  CeedScalar A[MAX_VALUES * MAX_NODES];
  RitzVec x[MAX_COMP * MAX_NODES], y[MAX_COMP * MAX_VALUES];
  double wanted_x[LANES * MAX_COMP * MAX_NODES], wanted_y[LANES * MAX_COMP * MAX_VALUES];
} Product;

static void fill(uint64_t *seed, size_t n, CeedScalar *a) {
  for (size_t i = 0; i < n; i++) {
    a[i] = (CeedScalar)tap_uniform(seed);
  }
}

// Arguments, and what has to come out: y = A x, x + A^T y for the y that comes in.
static void fill_product(uint64_t *seed, Product *p) {
  fill(seed, (size_t)(p->num_comp * p->nodes) * LANES, (CeedScalar *)p->x);
  fill(seed, (size_t)(p->num_comp * p->values) * LANES, (CeedScalar *)p->y);
  for (int c = 0; c < p->num_comp; c++) {
    for (int l = 0; l < LANES; l++) {
      for (int i = 0; i < p->nodes; i++)
        p->wanted_x[(c * p->nodes + i) * LANES + l] = (double)p->x[c * p->nodes + i][l];
      for (int k = 0; k < p->values; k++) {
        double sum = 0;
        for (int i = 0; i < p->nodes; i++) {
          sum += (double)p->A[k * p->nodes + i] * (double)p->x[c * p->nodes + i][l];
          p->wanted_x[(c * p->nodes + i) * LANES + l] +=
              (double)p->A[k * p->nodes + i] * (double)p->y[c * p->values + k][l];
        }
        p->wanted_y[(c * p->values + k) * LANES + l] = sum;
      }
    }
  }
}

// Sums of `terms` products of numbers up to one and entries up to `largest`, with a round-off each.
static void check_vectors(int n, int terms, double largest, const RitzVec *a, const double *wanted,
                          const char *what) {
  for (int i = 0; i < n * LANES; i++)
    CHECK_NEAR((double)((const CeedScalar *)a)[i], wanted[i], eps * (terms + 4) * terms * largest,
               "%s, entry %d", what, i);
}

static void check_plain(uint64_t *seed, Product *p) {
  static RitzVec up[MAX_COMP * MAX_VALUES];
  RitzPrefetch prefetch = {0};
  const int blocks = RITZ_BLOCKS(p->values, RITZ_DENSE_ROWS) + RITZ_BLOCKS(p->nodes, RITZ_DENSE_ROWS);

  fill(seed, (size_t)(p->values * p->nodes), p->A);
  fill_product(seed, p);
  ritz_dense_up(&prefetch, p->num_comp, p->nodes, p->values, p->A, p->x, up);
  check_vectors(p->num_comp * p->values, p->nodes, p->largest, up, p->wanted_y, "up");
  ritz_dense_down(&prefetch, p->num_comp, p->nodes, p->values, p->A, p->y, p->x, true);
  check_vectors(p->num_comp * p->nodes, p->values, p->largest, p->x, p->wanted_x, "down");
  CHECK(prefetch.step > 0 && prefetch.step <= p->num_comp * blocks, "%d steps of %d blocks", prefetch.step,
        blocks);
}

TEST(products_are_those_of_their_matrices_at_all_sizes) {
  static Product p = {.largest = 1};
  uint64_t seed = 1;

  for (p.nodes = 1; p.nodes <= MAX_NODES && !tap_failed(); p.nodes++) {
    for (p.values = 1; p.values <= MAX_POINTS && !tap_failed(); p.values++) {
      p.num_comp = 1 + (p.nodes + p.values) % MAX_COMP;
      check_plain(&seed, &p);
      if (tap_failed()) tap_note("%d nodes, %d values, %d components", p.nodes, p.values, p.num_comp);
    }
  }
}

// ---- Symmetric bases ----

// Tables of a basis in 2D or 3D that an exchange of the first two coordinates leaves as they are: node i goes
// to nodes[i], point q to points[q].
typedef struct {
  CeedInt dim, P, Q;
  CeedInt nodes[MAX_NODES], points[MAX_POINTS];
  CeedScalar interp[MAX_POINTS * MAX_NODES], grad[3 * MAX_POINTS * MAX_NODES];
} Tables;

// Neighbours change places, but `alone` of them in the middle.
static void draw_exchange(CeedInt n, CeedInt alone, CeedInt *image) {
  const CeedInt pairs = (n - alone) / 2;
  for (CeedInt i = 0; i < n; i++) image[i] = i < pairs || i >= n - pairs ? n - 1 - i : i;
}

// [num][Q][P], num = 1 or the directions.
static void make_symmetric(const Tables *t, CeedInt num, CeedScalar *table) {
  for (CeedInt i = 0; i < num * t->Q * t->P; i++) {
    const CeedInt d = i / (t->Q * t->P), q = i / t->P % t->Q, p = i % t->P;
    const CeedInt image_d = num > 1 && d < 2 ? 1 - d : d;
    table[(image_d * t->Q + t->points[q]) * t->P + t->nodes[p]] = table[i];
  }
}

static void draw_tables(uint64_t *seed, CeedInt P, CeedInt Q, Tables *t) {
  *t = (Tables){.dim = 2 + (P + Q) % 2, .P = P, .Q = Q};
  draw_exchange(P, (CeedInt)tap_integer(seed, P / 2), t->nodes);
  draw_exchange(Q, (CeedInt)tap_integer(seed, Q / 2 + 1), t->points);
  fill(seed, (size_t)(Q * P), t->interp);
  fill(seed, (size_t)(t->dim * Q * P), t->grad);
  make_symmetric(t, 1, t->interp);
  make_symmetric(t, t->dim, t->grad);
}

// The plan's basis of these tables; *ceed_basis is to be destroyed.
static RitzPlanBasis split_tables(Ceed ceed, const Tables *t, CeedBasis *ceed_basis) {
  RitzPlanBasis b = {.dim = t->dim, .P = t->P, .Q = t->Q};
  const CeedElemTopology topology = t->dim == 2 ? CEED_TOPOLOGY_TRIANGLE : CEED_TOPOLOGY_TET;

  int ierr = CeedBasisCreateH1(ceed, topology, 1, t->P, t->Q, t->interp, t->grad, NULL, NULL, ceed_basis);
  if (!ierr) ierr = ritz_plan_find_even_odd(*ceed_basis, false, &b);
  tap_check_ok(ierr, __FILE__, __LINE__, "even-odd");
  return b;
}

static RitzPairs pairs_of(const RitzPlanPairs *p) { return (RitzPairs){p->pairs, p->alone, p->at}; }

static void check_even_odd(uint64_t *seed, const RitzPlanPairs *nodes, const RitzPlanPairs *values,
                           const CeedScalar *even_odd, Product *p) {
  static RitzVec up[MAX_COMP * MAX_VALUES];
  const RitzPairs n = pairs_of(nodes), v = pairs_of(values);
  static RitzVec x[MAX_COMP * MAX_NODES];
  RitzPrefetch prefetch = {0};

  fill_product(seed, p);
  memcpy(x, p->x, sizeof(x));
  ritz_even_odd_split(p->num_comp, &n, x);
  ritz_even_odd_up(&prefetch, p->num_comp, &n, &v, even_odd, x, up);
  check_vectors(p->num_comp * p->values, p->nodes, p->largest, up, p->wanted_y, "up");
  ritz_even_odd_split(p->num_comp, &v, p->y);
  ritz_even_odd_down(&prefetch, p->num_comp, &n, &v, even_odd, p->y, p->x, true);
  check_vectors(p->num_comp * p->nodes, p->values, p->largest, p->x, p->wanted_x, "down");
  const int blocks = RITZ_BLOCKS(v.pairs, RITZ_EVEN_ODD_ROWS) + RITZ_BLOCKS(v.alone, RITZ_DENSE_ROWS) +
                     RITZ_BLOCKS(n.pairs, RITZ_EVEN_ODD_ROWS) + RITZ_BLOCKS(n.alone, RITZ_DENSE_ROWS);
  CHECK(prefetch.step > 0 && prefetch.step <= p->num_comp * blocks, "%d steps of %d blocks", prefetch.step,
        blocks);
}

static void check_tables(Ceed ceed, uint64_t *seed, const Tables *t) {
  static Product p = {.largest = 1};
  CeedBasis basis = NULL;
  RitzPlanBasis b = split_tables(ceed, t, &basis);

  CHECK(b.is_even_odd, "symmetric");
  for (CeedInt i = 0; i < b.node_pairs.pairs; i++)
    CHECK(t->nodes[b.node_pairs.at[2 * i]] == b.node_pairs.at[2 * i + 1], "pair %d of nodes", (int)i);
  p.num_comp = 1 + t->P % MAX_COMP;
  p.nodes = t->P;
  p.values = t->Q;
  memcpy(p.A, t->interp, sizeof(t->interp));
  check_even_odd(seed, &b.node_pairs, &b.interp_pairs, b.even_odd_interp, &p);
  if (tap_failed()) return;
  p.values = t->dim * t->Q;
  memcpy(p.A, t->grad, sizeof(t->grad));
  check_even_odd(seed, &b.node_pairs, &b.deriv_pairs, b.even_odd_deriv, &p);
  ritz_plan_free_basis(&b);
  CeedBasisDestroy(&basis);
}

TEST(even_odd_products_are_those_of_the_matrices) {
  static Tables t;
  Ceed ceed = tap_ceed("/cpu/self/ref");
  uint64_t seed = 2;

  for (CeedInt P = 10; P <= MAX_NODES && !tap_failed(); P++) {
    for (CeedInt Q = 3; Q <= MAX_POINTS && !tap_failed(); Q += 1 + P % 3) {
      draw_tables(&seed, P, Q, &t);
      check_tables(ceed, &seed, &t);
      if (tap_failed()) tap_note("%d nodes, %d points", (int)P, (int)Q);
    }
  }
  CeedDestroy(&ceed);
}

// ---- Which bases are even-odd ----

static void check_shape(Ceed ceed, uint64_t *seed, CeedElemTopology topology, CeedInt degree) {
  static Product p;
  CeedBasis basis = NULL;

  CHECK_OK(RitzBasisCreateLagrange(ceed, topology, 1, degree, 2 * degree, &basis));
  RitzPlanBasis b = {.dim = basis->dim, .P = basis->P, .Q = basis->Q};
  CHECK_OK(ritz_plan_find_even_odd(basis, false, &b));
  CHECK(b.is_even_odd, "even-odd");
  CHECK(b.P <= MAX_NODES && b.dim * b.Q <= MAX_VALUES, "%d nodes, %d points", (int)b.P, (int)b.Q);
  p.num_comp = 1;
  p.nodes = b.P;
  p.values = b.dim * b.Q;
  p.largest = 0;
  for (int i = 0; i < p.values * p.nodes; i++) {
    p.A[i] = basis->grad[i];
    p.largest = fmax(p.largest, fabs((double)p.A[i]));
  }
  check_even_odd(seed, &b.node_pairs, &b.deriv_pairs, b.even_odd_deriv, &p);
  ritz_plan_free_basis(&b);
  CeedBasisDestroy(&basis);
}

TEST(lagrange_bases_on_all_shapes_are_even_odd) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  uint64_t seed = 5;

  check_shape(ceed, &seed, CEED_TOPOLOGY_TRIANGLE, 5);
  if (!tap_failed()) check_shape(ceed, &seed, CEED_TOPOLOGY_TET, 3);
  if (!tap_failed()) check_shape(ceed, &seed, CEED_TOPOLOGY_PRISM, 2);
  if (!tap_failed()) check_shape(ceed, &seed, CEED_TOPOLOGY_PYRAMID, 2);
  CeedDestroy(&ceed);
}

static void check_is_even_odd(Ceed ceed, const Tables *t, bool wanted, const char *what) {
  CeedBasis basis = NULL;
  RitzPlanBasis b = split_tables(ceed, t, &basis);
  const bool is_even_odd = b.is_even_odd;

  ritz_plan_free_basis(&b);
  CeedBasisDestroy(&basis);
  CHECK(is_even_odd == wanted, "%s", what);
}

TEST(only_symmetric_bases_with_enough_nodes_are_even_odd) {
  enum { P = 12, Q = 9 };
  static Tables t;
  Ceed ceed = tap_ceed("/cpu/self/ref");
  uint64_t seed = 3;

  draw_tables(&seed, P, Q, &t);
  check_is_even_odd(ceed, &t, true, "symmetric");
  t.interp[3] *= 1 + (CeedScalar)fmax(100e-16, 2 * CEED_EPSILON);
  if (!tap_failed()) check_is_even_odd(ceed, &t, true, "symmetric up to round-off");
  t.interp[3] += (CeedScalar)0.001;
  if (!tap_failed()) check_is_even_odd(ceed, &t, false, "a value that is off");
  draw_tables(&seed, P, Q, &t);
  t.grad[Q * P + 5] += (CeedScalar)0.001;
  if (!tap_failed()) check_is_even_odd(ceed, &t, false, "a derivative that is off");
  draw_tables(&seed, P, Q, &t);
  memset(t.interp, 0, sizeof(t.interp));
  memset(t.grad, 0, sizeof(t.grad));
  if (!tap_failed()) check_is_even_odd(ceed, &t, false, "zeros, which say nothing about points");
  t.interp[0] = (CeedScalar)NAN;
  if (!tap_failed()) check_is_even_odd(ceed, &t, false, "no number");
  draw_tables(&seed, 4, Q, &t);
  if (!tap_failed()) check_is_even_odd(ceed, &t, false, "four nodes");
  CeedDestroy(&ceed);
}

// ---- Failures ----

// The n-th allocation fails. Whether the basis could be split.
static bool split_failing(CeedBasis basis, int64_t n) {
  RitzPlanBasis b = {.dim = basis->dim, .P = basis->P, .Q = basis->Q};
  const int64_t live = ritz_memory_live();

  ritz_memory_fail_at(n);
  const int ierr = ritz_plan_find_even_odd(basis, false, &b);
  ritz_memory_fail_at(0);
  const bool is_honest = b.is_even_odd == (ierr == CEED_ERROR_SUCCESS);
  ritz_plan_free_basis(&b);
  tap_check(is_honest && ritz_memory_live() == live, __FILE__, __LINE__, "no memory is left",
            "allocation %lld: code %d, %lld more are live", (long long)n, ierr,
            (long long)(ritz_memory_live() - live));
  return ierr == CEED_ERROR_SUCCESS;
}

TEST(failed_allocations_are_reported_and_leave_nothing) {
  static Tables t;
  Ceed ceed = tap_ceed("/cpu/self/ref");
  CeedBasis basis = NULL;
  uint64_t seed = 4;
  int64_t n = 1;

  draw_tables(&seed, 14, 11, &t);
  RitzPlanBasis b = split_tables(ceed, &t, &basis);
  ritz_plan_free_basis(&b);
  while (!tap_failed() && !split_failing(basis, n)) n++;
  CeedBasisDestroy(&basis);
  CeedDestroy(&ceed);
  CHECK(n > 4, "%lld allocations", (long long)n);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(products_are_those_of_their_matrices_at_all_sizes, even_odd_products_are_those_of_the_matrices,
            lagrange_bases_on_all_shapes_are_even_odd, only_symmetric_bases_with_enough_nodes_are_even_odd,
            failed_allocations_are_reported_and_leave_nothing));
}
