// SPDX-License-Identifier: BSD-2-Clause
// Points of very unequal numbers in many elements, as backends that take several at a time cut them up: all
// backends against the reference; without delegation, and the same for any number of threads, on the CPU.
#include "tests/tap.h"

#include "plan/steps.h"
#include "tests/exchange-qfunctions.h"
#include "tests/reference.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIM = 3, NUM_ELEM = 21, NUM_CASES = 5 };

// Points of element e.
static CeedInt count_of(int number, CeedInt e) {
  static const CeedInt mixed[] = {0, 1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 130, 2};

  switch (number) {
  case 0: return e == 11;              // one in all
  case 1: return 8;                    // whole vectors
  case 2: return mixed[e % 13];        // around the numbers of lanes and of blocks
  case 3: return e == 2 ? 300 : e % 3; // a crowd beside few
  default: return 5 + e % 2;
  }
}

// Fails the running test, which goes on.
#define NOTE_OK(expr) tap_check_ok((expr), __FILE__, __LINE__, #expr)

// ---- A case: what does not depend on the backend ----

typedef struct {
  CeedInt P_1d, Q_1d, num_points;
  CeedSize num_nodes;
  CeedInt *lists, *offsets; // owned: of points and of nodes
  double *x, *q, *k, *u;    // owned: coordinates, data at the points, at the nodes, the input
} Case;

static Case make_case(int number, CeedInt P_1d, CeedInt Q_1d) {
  const CeedInt P = CeedIntPow(P_1d, DIM), begin = NUM_ELEM + 1;
  Case c = {.P_1d = P_1d, .Q_1d = Q_1d, .num_nodes = NUM_ELEM * (P - 1) + 1};
  uint64_t seed = 91 + (uint64_t)number;

  for (CeedInt e = 0; e < NUM_ELEM; e++) c.num_points += count_of(number, e);
  c.lists = calloc((size_t)(begin + c.num_points), sizeof(*c.lists));
  c.offsets = calloc((size_t)(NUM_ELEM * P), sizeof(*c.offsets));
  c.lists[0] = begin;
  for (CeedInt e = 0; e < NUM_ELEM; e++) c.lists[e + 1] = c.lists[e] + count_of(number, e);
  // Numbers of points run backwards; neighbours share a node.
  for (CeedInt i = 0; i < c.num_points; i++) c.lists[begin + i] = c.num_points - 1 - i;
  for (CeedInt i = 0; i < NUM_ELEM * P; i++) c.offsets[i] = i / P * (P - 1) + i % P;
  c.x = reference_new_random((CeedSize)c.num_points * DIM, &seed);
  c.q = reference_new_random(c.num_points, &seed);
  c.k = reference_new_random(c.num_nodes, &seed);
  c.u = reference_new_random(c.num_nodes, &seed);
  return c;
}

static void free_case(Case *c) {
  free(c->lists);
  free(c->offsets);
  free(c->x);
  free(c->q);
  free(c->k);
  free(c->u);
}

// ---- The operator ----

static int set_fields(Ceed ceed, const Case *c, CeedOperator op, CeedVector p) {
  const CeedInt num[] = {1, 2, DIM};
  CeedElemRestriction nodes = NULL, points[3] = {NULL};
  CeedBasis basis = NULL;
  CeedVector x = reference_vector(ceed, (CeedSize)c->num_points * DIM, c->x),
             q = reference_vector(ceed, c->num_points, c->q), k = reference_vector(ceed, c->num_nodes, c->k);
  int ierr = CeedElemRestrictionCreate(ceed, NUM_ELEM, CeedIntPow(c->P_1d, DIM), 1, 1, c->num_nodes,
                                       CEED_MEM_HOST, CEED_COPY_VALUES, c->offsets, &nodes);
  if (!ierr) ierr = CeedBasisCreateTensorH1Lagrange(ceed, DIM, 1, c->P_1d, c->Q_1d, CEED_GAUSS, &basis);
  for (int i = 0; i < 3 && !ierr; i++)
    ierr = CeedElemRestrictionCreateAtPoints(ceed, NUM_ELEM, c->num_points, num[i],
                                             (CeedSize)c->num_points * num[i], CEED_MEM_HOST,
                                             CEED_COPY_VALUES, c->lists, &points[i]);
  if (!ierr) ierr = CeedOperatorSetField(op, "u", nodes, basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(op, "du", nodes, basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(op, "k", nodes, basis, k);
  if (!ierr) ierr = CeedOperatorSetField(op, "q", points[0], CEED_BASIS_NONE, q);
  if (!ierr) ierr = CeedOperatorSetField(op, "v", nodes, basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(op, "dv", nodes, basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(op, "p", points[1], CEED_BASIS_NONE, p);
  if (!ierr) ierr = CeedOperatorAtPointsSetPoints(op, points[2], x);
  CeedVectorDestroy(&x);
  CeedVectorDestroy(&q);
  CeedVectorDestroy(&k);
  CeedBasisDestroy(&basis);
  CeedElemRestrictionDestroy(&nodes);
  for (int i = 0; i < 3; i++) CeedElemRestrictionDestroy(&points[i]);
  return ierr;
}

static int create_function(Ceed ceed, CeedQFunction *qf) {
  int ierr = CeedQFunctionCreateInterior(ceed, 1, PointsExchange, PointsExchange_loc, qf);

  if (!ierr) ierr = CeedQFunctionAddInput(*qf, "u", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionAddInput(*qf, "du", DIM, CEED_EVAL_GRAD);
  if (!ierr) ierr = CeedQFunctionAddInput(*qf, "k", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionAddInput(*qf, "q", 1, CEED_EVAL_NONE);
  if (!ierr) ierr = CeedQFunctionAddOutput(*qf, "v", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionAddOutput(*qf, "dv", DIM, CEED_EVAL_GRAD);
  if (!ierr) ierr = CeedQFunctionAddOutput(*qf, "p", 2, CEED_EVAL_NONE);
  return ierr;
}

static int create_operator(Ceed ceed, const Case *c, CeedVector p, CeedOperator *op) {
  CeedQFunction qf = NULL;
  int ierr = create_function(ceed, &qf);

  if (!ierr) ierr = CeedOperatorCreateAtPoints(ceed, qf, NULL, NULL, op);
  if (!ierr) ierr = set_fields(ceed, c, *op, p);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

static CeedSize result_size(const Case *c) { return c->num_nodes + 2 * (CeedSize)c->num_points; }

// The nodes of A u, then what it leaves at the points; after an apply and one that adds the active output.
static double *apply_case(Ceed ceed, const Case *c) {
  double *result = reference_new(result_size(c));
  CeedOperator op = NULL;
  CeedVector u = reference_vector(ceed, c->num_nodes, c->u), v = NULL, p = NULL;
  int ierr = CeedVectorCreate(ceed, c->num_nodes, &v);

  if (!ierr) ierr = CeedVectorCreate(ceed, 2 * (CeedSize)c->num_points, &p);
  if (!ierr) ierr = create_operator(ceed, c, p, &op);
  if (!ierr) ierr = CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE);
  if (!ierr) ierr = CeedOperatorApplyAdd(op, u, v, CEED_REQUEST_IMMEDIATE);
  if (!ierr) reference_values(v, result);
  if (!ierr) reference_values(p, result + c->num_nodes);
  CeedOperatorDestroy(&op);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedVectorDestroy(&p);
  NOTE_OK(ierr);
  return result;
}

static double *apply_on(const char *resource, const Case *c) {
  Ceed ceed = tap_ceed(resource);
  double *result = apply_case(ceed, c);

  CeedDestroy(&ceed);
  return result;
}

// Each node is a sum over at most 600 points of products of a few numbers below the largest polynomial.
static void compare(const Case *c, const double *got, const double *wanted) {
  const CeedSize n = result_size(c);
  const double error = reference_distance(n, got, wanted), largest = reference_largest(n, wanted);

  CHECK(error <= 200 * eps * fmax(largest, 1), "P %d, Q %d: off by %g of %g", c->P_1d, c->Q_1d, error,
        largest);
}

static void with_cases(void (*check)(const Case *c, void *data), void *data) {
  for (int number = 0; number < NUM_CASES && !tap_failed(); number++) {
    Case c = make_case(number, 2 + number % 3, number == 4 ? 12 : 3 + number % 2);

    check(&c, data);
    if (tap_failed()) tap_note("case %d", number);
    free_case(&c);
  }
}

static void check_with_reference(const Case *c, void *data) {
  double *wanted = apply_on("/cpu/self/ref", c), *got = apply_case(*(Ceed *)data, c);

  if (!tap_failed()) compare(c, got, wanted);
  free(wanted);
  free(got);
}

TEST_EACH_BACKEND(unequal_numbers_of_points_give_what_the_reference_gives) {
  with_cases(check_with_reference, &ceed);
}

static void check_alike(const Case *c, void *data) {
  double *wanted = apply_on("/cpu/self/ref", c), *one = apply_on("/cpu/self/gen:deterministic:threads=1", c),
         *four = apply_on("/cpu/self/gen:deterministic:threads=4", c);

  (void)data;
  if (!tap_failed()) compare(c, one, wanted);
  CHECK(!memcmp(one, four, (size_t)result_size(c) * sizeof(*one)), "threads change the result");
  free(wanted);
  free(one);
  free(four);
}

TEST(threads_leave_operators_at_points_as_they_are_and_nothing_is_delegated) {
  setenv("RITZ_STRICT", "1", 1);
  with_cases(check_alike, NULL);
  unsetenv("RITZ_STRICT");
}

// ---- Bases ----

// Values and gradients at 1000 points, and the deposits of those, one after the other.
static double *apply_basis(const char *resource, CeedInt Q_1d, CeedSize *n) {
  CeedInt num = 1000;
  const CeedSize num_nodes = 2 * CeedIntPow(3, DIM), size[] = {2 * num, 2 * DIM * num};
  uint64_t seed = 7;
  Ceed ceed = tap_ceed(resource);
  CeedBasis basis = NULL;
  double *values = reference_new_random(DIM * num, &seed),
         *result = reference_new(*n = size[0] + size[1] + 2 * num_nodes), *to = result;
  CeedVector x = reference_vector(ceed, DIM * num, values), u = reference_vector(ceed, num_nodes, values),
             v = NULL;

  NOTE_OK(CeedBasisCreateTensorH1Lagrange(ceed, DIM, 2, 3, Q_1d, CEED_GAUSS, &basis));
  for (int k = 0; k < 2 && !tap_failed(); k++) {
    const CeedEvalMode mode = k ? CEED_EVAL_GRAD : CEED_EVAL_INTERP;
    CeedVector w = NULL;

    NOTE_OK(CeedVectorCreate(ceed, size[k], &v));
    NOTE_OK(CeedVectorCreate(ceed, num_nodes, &w));
    NOTE_OK(CeedBasisApplyAtPoints(basis, 1, &num, CEED_NOTRANSPOSE, mode, x, u, v));
    NOTE_OK(CeedBasisApplyAtPoints(basis, 1, &num, CEED_TRANSPOSE, mode, x, v, w));
    reference_values(v, to);
    reference_values(w, to + size[k]);
    to += size[k] + num_nodes;
    CeedVectorDestroy(&v);
    CeedVectorDestroy(&w);
  }
  free(values);
  CeedVectorDestroy(&x);
  CeedVectorDestroy(&u);
  CeedBasisDestroy(&basis);
  CeedDestroy(&ceed);
  return result;
}

TEST(threads_leave_bases_at_points_as_they_are) {
  setenv("RITZ_STRICT", "1", 1);
  for (CeedInt Q_1d = 3; Q_1d <= 13 && !tap_failed(); Q_1d += 5) {
    CeedSize n = 0;
    double *wanted = apply_basis("/cpu/self/ref", Q_1d, &n),
           *one = apply_basis("/cpu/self/gen:deterministic:threads=1", Q_1d, &n),
           *four = apply_basis("/cpu/self/gen:deterministic:threads=4", Q_1d, &n),
           *free_four = apply_basis("/cpu/self/gen:threads=4", Q_1d, &n);
    // Sums over 1000 points; derivatives of polynomials of degree Q_1d - 1.
    const double tolerance = 100 * eps * Q_1d * reference_largest(n, wanted);

    CHECK(reference_distance(n, one, wanted) <= tolerance, "Q %d: off by %g", Q_1d,
          reference_distance(n, one, wanted));
    CHECK(reference_distance(n, free_four, wanted) <= tolerance, "Q %d: off by %g with threads", Q_1d,
          reference_distance(n, free_four, wanted));
    CHECK(!memcmp(one, four, (size_t)n * sizeof(*one)), "Q %d: threads change the result", Q_1d);
    free(wanted);
    free(one);
    free(four);
    free(free_four);
  }
  unsetenv("RITZ_STRICT");
}

// ---- Lists ----

// The adjoint of a list is that read backwards; coordinates stay given.
static void check_adjoint(Ceed ceed, const RitzPlan *plan, int space) {
  RitzSteps *list = NULL, *once = NULL, *twice = NULL;

  NOTE_OK(ritz_steps_input(ceed, plan, space, true, &list));
  NOTE_OK(ritz_steps_adjoint(ceed, list, &once));
  NOTE_OK(ritz_steps_adjoint(ceed, once, &twice));
  for (int n = 0; n < list->num_steps; n++) {
    const RitzStep *a = &list->steps[n], *b = &once->steps[list->num_steps - 1 - n], *c = &twice->steps[n];

    CHECK(a->from == b->to && a->to == b->from && a->with == b->with, "step %d of space %d", n, space);
    CHECK(a->from == c->from && a->to == c->to && a->with == c->with && a->kind == c->kind &&
              a->is_transposed == c->is_transposed && a->adds == c->adds,
          "step %d of space %d, twice", n, space);
    CHECK(a->kind != RITZ_STEP_EVALUATE || (b->is_transposed && a->with == list->coordinates),
          "step %d of space %d deposits", n, space);
  }
  CHECK(once->buffers[list->coordinates].is_given && !once->buffers[list->coordinates].is_wanted, "given");
  ritz_steps_free(&list);
  ritz_steps_free(&once);
  ritz_steps_free(&twice);
}

TEST(lists_at_points_have_adjoints) {
  const RitzPlanOptions options = {.allows_points = true}, none = {0};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Case c = make_case(1, 3, 4);
  CeedVector p = NULL;
  CeedOperator op = NULL;
  RitzPlan *plan = NULL;
  const char *reason = NULL;

  CHECK_OK(CeedVectorCreate(ceed, 2 * (CeedSize)c.num_points, &p));
  CHECK_OK(create_operator(ceed, &c, p, &op));
  CHECK_OK(ritz_plan_operator(op, &none, &plan, &reason));
  CHECK(!plan && reason, "a plan that was not allowed");
  CHECK_OK(ritz_plan_operator(op, &options, &plan, &reason));
  for (int s = 0; s < plan->num_spaces && !tap_failed(); s++) {
    if (plan->spaces[s].basis >= 0) check_adjoint(ceed, plan, s);
  }
  ritz_plan_free(&plan);
  CeedOperatorDestroy(&op);
  CeedVectorDestroy(&p);
  free_case(&c);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(unequal_numbers_of_points_give_what_the_reference_gives,
                        threads_leave_operators_at_points_as_they_are_and_nothing_is_delegated,
                        threads_leave_bases_at_points_as_they_are, lists_at_points_have_adjoints));
}
