// SPDX-License-Identifier: BSD-2-Clause
// Operators at points on devices: what the reference backend gives, for elements without points, with one and
// with more than a block has threads, in batches, with points listed twice; bits that repeat; nothing on the
// host. Random operators: test-points.c.
#include <math.h>
#include <string.h>

#include <ritz/operator.h>

#include "tests/gpu-kit.h"
#include "tests/points-problem.h"
#include "tests/points-split.h"

enum { POINTS_DEGREE = 3 };

static const PointsShape uneven = {.n = 4, .degree = POINTS_DEGREE, .num_comp = 2, .mode = CEED_EVAL_INTERP};

// Sums of up to 300 points and 8 elements of terms below 8^3 (gradients; the slopes of degree 3 on [-1, 1]).
static double tolerance(const PointsShape *s) {
  return 400 * (double)CEED_EPSILON * (s->mode == CEED_EVAL_GRAD ? 512 : 8);
}

// *values: of the output, the caller's (free()).
static int points_values(Ceed ceed, const PointsShape *s, PointsKind kind, CeedSize *length,
                         CeedScalar **values) {
  PointsProblem p = {0};
  const CeedScalar *array;

  CeedCall(points_problem_create(ceed, s, kind, &p));
  CeedCall(points_problem_fill(&p));
  CeedCall(CeedVectorSetValue(p.v, 3));
  CeedCall(CeedOperatorApply(p.op, p.u, p.v, CEED_REQUEST_IMMEDIATE));
  CeedCall(CeedOperatorApplyAdd(p.op, p.u, p.v, CEED_REQUEST_IMMEDIATE));
  CeedCall(CeedVectorGetLength(p.v, length));
  CeedCall(CeedVectorGetArrayRead(p.v, CEED_MEM_HOST, &array));
  *values = malloc((size_t)*length * sizeof(**values));
  memcpy(*values, array, (size_t)*length * sizeof(**values));
  CeedCall(CeedVectorRestoreArrayRead(p.v, &array));
  points_problem_destroy(&p);
  return CEED_ERROR_SUCCESS;
}

static void check_points(Ceed ceed, const PointsShape *s, PointsKind kind) {
  Ceed host = tap_ceed("/cpu/self/ref");
  CeedScalar *values = NULL, *wanted = NULL;
  CeedSize length, host_length;
  double worst = 0, largest = 0;

  CHECK_OK(points_values(host, s, kind, &host_length, &wanted));
  CHECK_OK(points_values(ceed, s, kind, &length, &values));
  CHECK(length == host_length, "lengths");
  for (CeedSize i = 0; i < length; i++) {
    const double off = fabs((double)(values[i] - wanted[i]));
    worst = off <= worst ? worst : off; // keeps what is no number
    largest = fmax(largest, fabs((double)wanted[i]));
  }
  CHECK(worst <= tolerance(s) * fmax(1, largest) && largest > 0, "%s on %s: off by %g of %g",
        points_kinds[kind], resource_of(ceed), worst, largest);
  free(values);
  free(wanted);
  CeedDestroy(&host);
}

// RITZ_STRICT makes an error of what the host would do, and of operators that are not fused.
static void with_strict(void (*check)(Ceed ceed), Ceed ceed) {
  setenv("RITZ_STRICT", "1", 1);
  check(ceed);
  unsetenv("RITZ_STRICT");
}

static void check_all_kinds(Ceed ceed) {
  for (int kind = 0; kind < POINTS_NUM_KINDS && !tap_failed(); kind++)
    check_points(ceed, &uneven, (PointsKind)kind);
}

TEST_EACH_GPU(elements_of_any_number_of_points_give_what_the_reference_gives) {
  with_strict(check_all_kinds, ceed);
}

static void check_gradients(Ceed ceed) {
  PointsShape s = uneven;

  s.mode = CEED_EVAL_GRAD;
  s.num_comp = 1;
  check_points(ceed, &s, POINTS_BOTH);
  s.per_cell = 8;
  check_points(ceed, &s, POINTS_BOTH);
}

TEST_EACH_GPU(gradients_of_any_number_of_points_give_what_the_reference_gives) {
  with_strict(check_gradients, ceed);
}

// Separate kernels in batches: 1 MiB holds a part of the elements.
TEST_EACH_GPU(batches_of_elements_of_any_number_of_points_are_all_there_is) {
  PointsShape s = uneven;
  char resource[CEED_MAX_RESOURCE_LEN];

  if (strstr(resource_of(ceed), "/gen")) return;
  s.n = 9;
  snprintf(resource, sizeof(resource), "%s", resource_of(ceed));
  setenv("RITZ_GPU_WORK", "1", 1);
  Ceed small = tap_ceed(resource);
  unsetenv("RITZ_GPU_WORK");
  check_points(small, &s, POINTS_BOTH);
  CeedDestroy(&small);
}

TEST_EACH_GPU(points_that_are_listed_twice_add_twice) {
  PointsShape s = uneven;

  s.repeats = true;
  check_points(ceed, &s, POINTS_INTERPOLATE);
}

// ---- Outputs of several spaces to one vector ----

enum { NUM_SPLIT = 200 }; // points of one element

static int create_split(Ceed ceed, CeedVector first, CeedVector u, CeedOperator *op) {
  CeedInt lists[2 + NUM_SPLIT] = {2, 2 + NUM_SPLIT};
  CeedElemRestriction one = NULL, two = NULL, wide = NULL;
  CeedQFunction qf = NULL;

  for (CeedInt i = 0; i < NUM_SPLIT; i++) lists[2 + i] = i;
  CeedCall(CeedElemRestrictionCreateAtPoints(ceed, 1, NUM_SPLIT, 1, NUM_SPLIT, CEED_MEM_HOST,
                                             CEED_COPY_VALUES, lists, &one));
  CeedCall(CeedElemRestrictionCreateAtPoints(ceed, 1, NUM_SPLIT, 1, 2 * NUM_SPLIT, CEED_MEM_HOST,
                                             CEED_COPY_VALUES, lists, &wide));
  CeedCall(CeedElemRestrictionCreateAtPoints(ceed, 1, NUM_SPLIT, 2, 2 * NUM_SPLIT, CEED_MEM_HOST,
                                             CEED_COPY_VALUES, lists, &two));
  CeedCall(CeedQFunctionCreateInterior(ceed, 1, PointsSplit, PointsSplit_loc, &qf));
  CeedCall(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_NONE));
  CeedCall(CeedQFunctionAddOutput(qf, "first", 1, CEED_EVAL_NONE));
  CeedCall(CeedQFunctionAddOutput(qf, "second", 2, CEED_EVAL_NONE));
  CeedCall(CeedOperatorCreateAtPoints(ceed, qf, NULL, NULL, op));
  CeedCall(CeedOperatorSetField(*op, "u", one, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  CeedCall(CeedOperatorSetField(*op, "first", wide, CEED_BASIS_NONE, first));
  CeedCall(CeedOperatorSetField(*op, "second", two, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  CeedCall(CeedOperatorAtPointsSetPoints(*op, one, u));
  CeedElemRestrictionDestroy(&one);
  CeedElemRestrictionDestroy(&two);
  CeedElemRestrictionDestroy(&wide);
  return CeedQFunctionDestroy(&qf);
}

static void check_split(CeedVector v) {
  double *values = reference_new_values(v);

  for (int i = 0; i < 2 * NUM_SPLIT; i++) { // sums of whole numbers
    const double wanted = (i < NUM_SPLIT ? i + 1 : 0) + (2 + i % 2) * (i / 2 + 1);
    CHECK(values[i] == wanted, "entry %d is %g, not %g", i, values[i], wanted);
  }
  free(values);
}

// Entry i of the vector is that of point i in one output, of point i / 2 in the other: threads meet there.
TEST_EACH_GPU(outputs_to_one_vector_do_not_lose_each_others_terms) {
  CeedVector u = NULL, v = NULL;
  CeedScalar numbers[NUM_SPLIT];
  const char *source = NULL;

  for (int i = 0; i < NUM_SPLIT; i++) numbers[i] = (CeedScalar)(i + 1);
  CHECK_OK(CeedVectorCreate(ceed, NUM_SPLIT, &u));
  CHECK_OK(CeedVectorSetArray(u, CEED_MEM_HOST, CEED_COPY_VALUES, numbers));
  CHECK_OK(CeedVectorCreate(ceed, 2 * NUM_SPLIT, &v));
  for (int is_passive = 0; is_passive < 2; is_passive++) {
    const bool is_fused = strstr(resource_of(ceed), "/gen");
    CeedOperator op = NULL;

    CHECK_OK(create_split(ceed, is_passive ? v : CEED_VECTOR_ACTIVE, u, &op));
    CHECK_OK(CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE));
    check_split(v);
    if (is_fused && !is_passive) {
      CHECK_OK(RitzOperatorGetSource(op, &source));
      CHECK(!strstr(source, "] += out"), "an addition is not atomic");
    } else if (is_fused) {
      CHECK_OK(RitzOperatorSetRoute(op, RITZ_OPERATOR_ROUTE_FUSED));
      CHECK_ERROR(ceed, CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE), CEED_ERROR_UNSUPPORTED,
                  "an active output that is a passive one, too");
    }
    CeedOperatorDestroy(&op);
  }
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
}

// ---- Bits ----

static void check_same_bits(Ceed ceed, const PointsShape *s, PointsKind kind) {
  CeedScalar *values[2] = {NULL, NULL};
  CeedSize length;

  for (int i = 0; i < 2; i++) CHECK_OK(points_values(ceed, s, kind, &length, &values[i]));
  CHECK(!memcmp(values[0], values[1], (size_t)length * sizeof(CeedScalar)), "%s: bits differ",
        points_kinds[kind]);
  check_points(ceed, s, kind);
  free(values[0]);
  free(values[1]);
}

TEST_EACH_GPU(deterministic_operators_at_points_repeat_every_bit) {
  PointsShape s = uneven;
  char resource[CEED_MAX_RESOURCE_LEN];

  if (strstr(resource_of(ceed), "/shared")) return; // the kernels of gen's fallback
  snprintf(resource, sizeof(resource), "%s:deterministic", resource_of(ceed));
  Ceed deterministic = tap_ceed(resource);
  check_same_bits(deterministic, &s, POINTS_DEPOSIT);
  s.repeats = true;
  if (!tap_failed()) check_same_bits(deterministic, &s, POINTS_INTERPOLATE);
  CeedDestroy(&deterministic);
}

// Nothing comes back to the host, and nothing is sent, once data are there.
TEST_EACH_GPU(applies_at_points_copy_nothing) {
  PointsProblem p = {0};

  CHECK_OK(points_problem_create(ceed, &uneven, POINTS_BOTH, &p));
  CHECK_OK(points_problem_fill(&p));
  CHECK_OK(CeedOperatorApply(p.op, p.u, p.v, CEED_REQUEST_IMMEDIATE));
  const RitzDeviceCounters before = counters_of(ceed);
  for (int i = 0; i < 3; i++) CHECK_OK(CeedOperatorApply(p.op, p.u, p.v, CEED_REQUEST_IMMEDIATE));
  const RitzDeviceCounters after = counters_of(ceed);
  CHECK(after.bytes_in == before.bytes_in && after.bytes_out == before.bytes_out, "bytes were copied");
  points_problem_destroy(&p);
}

// Explanations tell what runs.
TEST_EACH_GPU(explanations_tell_how_operators_at_points_run) {
  PointsProblem p = {0};
  char *text = NULL;
  size_t length = 0;
  const char *wanted = strstr(resource_of(ceed), "/gen") ? "one generated kernel" : "separate kernels";

  CHECK_OK(points_problem_create(ceed, &uneven, POINTS_BOTH, &p));
  FILE *stream = open_memstream(&text, &length);
  CHECK_OK(RitzOperatorExplain(p.op, stream));
  fclose(stream);
  CHECK(strstr(text, wanted) && strstr(text, "points of their own"), "%s says: %s", resource_of(ceed), text);
  free(text);
  points_problem_destroy(&p);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(elements_of_any_number_of_points_give_what_the_reference_gives,
                        gradients_of_any_number_of_points_give_what_the_reference_gives,
                        batches_of_elements_of_any_number_of_points_are_all_there_is,
                        points_that_are_listed_twice_add_twice,
                        outputs_to_one_vector_do_not_lose_each_others_terms,
                        deterministic_operators_at_points_repeat_every_bit, applies_at_points_copy_nothing,
                        explanations_tell_how_operators_at_points_run));
}
