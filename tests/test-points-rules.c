// SPDX-License-Identifier: BSD-2-Clause
// The rules of operators at points: what they refuse, that points are run-time data, elements without points,
// the layout of their assembled QFunctions, and composites that carry data to points and back. What the
// numbers are in general is in test-points.c; the checks of single calls in test-operator-api.c.
#include "tests/api.h"
#include "tests/points-qfunctions.h"
#include "tests/reference.h"
#include "tests/triples.h"

#include <ceed/backend.h>
#include <math.h>

// ---- One operator for most of it ----

// v = q u on two elements of 2 nodes in a row, with the points {1, 0} in the first and {2} in the second; u
// linear, so that the value at x is u_left (1 - x)/2 + u_right (1 + x)/2.
enum { NUM_ELEM = 2, NUM_NODES = 3, NUM_POINTS = 3 };
static const CeedInt lists[NUM_ELEM + 1 + NUM_POINTS] = {3, 5, 6, 1, 0, 2};
static const CeedScalar positions[NUM_POINTS] = {0.5, -1, 0}, factors[NUM_POINTS] = {2, 3, 4};

typedef struct {
  CeedElemRestriction rstr, rstr_x; // owned
  CeedBasis basis;                  // owned
  CeedQFunction qf;                 // owned: u INTERP, q NONE -> v INTERP
  CeedVector x, q, u, v;            // owned
  CeedOperator op;                  // owned
} Fixture;

static int create_points(Ceed ceed, CeedInt num_comp, CeedElemRestriction *rstr) {
  return CeedElemRestrictionCreateAtPoints(ceed, NUM_ELEM, NUM_POINTS, num_comp,
                                           (CeedSize)NUM_POINTS * num_comp, CEED_MEM_HOST, CEED_COPY_VALUES,
                                           lists, rstr);
}

static int create_parts(Ceed ceed, Fixture *f) {
  const CeedInt offsets[] = {0, 1, 1, 2};
  const CeedScalar ones[NUM_NODES] = {1, 10, 100};

  *f = (Fixture){.x = vector_of(ceed, NUM_POINTS, positions),
                 .q = vector_of(ceed, NUM_POINTS, factors),
                 .u = vector_of(ceed, NUM_NODES, ones),
                 .v = vector_of(ceed, NUM_NODES, NULL)};
  CeedCall(CeedElemRestrictionCreate(ceed, NUM_ELEM, 2, 1, 1, NUM_NODES, CEED_MEM_HOST, CEED_COPY_VALUES,
                                     offsets, &f->rstr));
  CeedCall(create_points(ceed, 1, &f->rstr_x));
  CeedCall(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 2, 2, CEED_GAUSS, &f->basis));
  CeedCall(CeedQFunctionCreateInterior(ceed, 1, PointsScale, PointsScale_loc, &f->qf));
  CeedCall(CeedQFunctionAddInput(f->qf, "u", 1, CEED_EVAL_INTERP));
  CeedCall(CeedQFunctionAddInput(f->qf, "q", 1, CEED_EVAL_NONE));
  return CeedQFunctionAddOutput(f->qf, "v", 1, CEED_EVAL_INTERP);
}

static int set_fields(const Fixture *f, CeedOperator op) {
  CeedCall(CeedOperatorSetField(op, "u", f->rstr, f->basis, CEED_VECTOR_ACTIVE));
  CeedCall(CeedOperatorSetField(op, "q", f->rstr_x, CEED_BASIS_NONE, f->q));
  return CeedOperatorSetField(op, "v", f->rstr, f->basis, CEED_VECTOR_ACTIVE);
}

static int fixture_create(Ceed ceed, Fixture *f) {
  CeedCall(create_parts(ceed, f));
  CeedCall(CeedOperatorCreateAtPoints(ceed, f->qf, NULL, NULL, &f->op));
  CeedCall(set_fields(f, f->op));
  return CeedOperatorAtPointsSetPoints(f->op, f->rstr_x, f->x);
}

static void fixture_destroy(Fixture *f) {
  CeedElemRestrictionDestroy(&f->rstr);
  CeedElemRestrictionDestroy(&f->rstr_x);
  CeedBasisDestroy(&f->basis);
  CeedQFunctionDestroy(&f->qf);
  CeedVectorDestroy(&f->x);
  CeedVectorDestroy(&f->q);
  CeedVectorDestroy(&f->u);
  CeedVectorDestroy(&f->v);
  CeedOperatorDestroy(&f->op);
}

static int apply(const Fixture *f) { return CeedOperatorApply(f->op, f->u, f->v, CEED_REQUEST_IMMEDIATE); }

// What the definition gives for points x with factors q, in the numbers of the lists.
static void expected(const CeedScalar *x, const CeedScalar *q, double v[NUM_NODES]) {
  static const double u[NUM_NODES] = {1, 10, 100};

  for (int i = 0; i < NUM_NODES; i++) v[i] = 0.0;
  for (int e = 0; e < NUM_ELEM; e++) {
    for (int i = lists[e]; i < lists[e + 1]; i++) {
      int k = lists[i];
      double left = 0.5 * (1.0 - (double)x[k]), right = 0.5 * (1.0 + (double)x[k]);
      double value = (double)q[k] * (left * u[e] + right * u[e + 1]);

      v[e] += left * value;
      v[e + 1] += right * value;
    }
  }
}

static void check_values(const Fixture *f, const CeedScalar *x, const CeedScalar *q) {
  double wanted[NUM_NODES], *values = reference_new_values(f->v);

  expected(x, q, wanted);
  double error = reference_distance(NUM_NODES, values, wanted);
  free(values);
  CHECK(error <= 20 * eps * 1000, "off by %g", error); // products of numbers up to 10 and 100
}

// ---- Flops ----

// Three points in the first element, none in the second: devices count three for each, hosts the mean,
// rounded up. For n points an element: nodes to polynomials 8 both ways, a point 4 + 1, transposed 4 + 2 + 1,
// QFunction 7; 4 for the restriction.
TEST_EACH_BACKEND(flops_of_operators_count_the_most_points_on_devices_and_the_mean_on_hosts) {
  static const CeedInt uneven[] = {3, 6, 6, 1, 0, 2};
  const CeedSize n = has_device_memory(ceed) ? 3 : 2, wanted = NUM_ELEM * (2 * 8 + n * (5 + 7 + 7)) + 4;
  CeedSize flops = -1;
  Fixture f;

  CHECK_OK(create_parts(ceed, &f));
  CHECK_OK(CeedElemRestrictionDestroy(&f.rstr_x));
  CHECK_OK(CeedElemRestrictionCreateAtPoints(ceed, NUM_ELEM, NUM_POINTS, 1, NUM_POINTS, CEED_MEM_HOST,
                                             CEED_COPY_VALUES, uneven, &f.rstr_x));
  CHECK_OK(CeedQFunctionSetUserFlopsEstimate(f.qf, 7));
  CHECK_OK(CeedOperatorCreateAtPoints(ceed, f.qf, NULL, NULL, &f.op));
  CHECK_OK(set_fields(&f, f.op));
  CHECK_OK(CeedOperatorAtPointsSetPoints(f.op, f.rstr_x, f.x));
  CHECK_OK(CeedOperatorGetFlopsEstimate(f.op, &flops));
  fixture_destroy(&f);
  CHECK(flops == wanted, "%td, not %td", flops, wanted);
}

// ---- Points are run-time data ----

TEST_EACH_BACKEND(moved_points_and_changed_data_are_seen) {
  static const CeedScalar moved[NUM_POINTS] = {0.25, 1, -0.75}, changed[NUM_POINTS] = {-1, 0.5, 7};
  Fixture f;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(apply(&f));
  check_values(&f, positions, factors);
  CHECK_OK(CeedVectorSetArray(f.x, CEED_MEM_HOST, CEED_COPY_VALUES, (CeedScalar *)moved));
  CHECK_OK(apply(&f));
  check_values(&f, moved, factors);
  CHECK_OK(CeedVectorSetArray(f.q, CEED_MEM_HOST, CEED_COPY_VALUES, (CeedScalar *)changed));
  CHECK_OK(apply(&f));
  check_values(&f, moved, changed);
  fixture_destroy(&f);
}

TEST_EACH_BACKEND(points_are_given_back_and_may_be_replaced_before_use) {
  Fixture f;
  CeedElemRestriction rstr = NULL;
  CeedVector x = NULL, other = NULL;
  bool is_at_points = false;
  CeedInt num_qpts = -1;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedVectorCreate(ceed, NUM_POINTS, &other));
  CHECK_OK(CeedVectorSetValue(other, 0));
  CHECK_OK(CeedOperatorAtPointsSetPoints(f.op, f.rstr_x, other));
  CHECK_OK(CeedOperatorAtPointsSetPoints(f.op, f.rstr_x, f.x));
  CHECK_OK(CeedOperatorAtPointsGetPoints(f.op, &rstr, &x));
  CHECK(rstr == f.rstr_x && x == f.x, "other objects");
  CHECK_OK(CeedOperatorAtPointsGetPoints(f.op, NULL, NULL));
  CHECK_OK(CeedOperatorIsAtPoints(f.op, &is_at_points));
  CHECK_OK(CeedOperatorGetNumQuadraturePoints(f.op, &num_qpts));
  CHECK(is_at_points && num_qpts == 0, "%d quadrature points", num_qpts);
  CHECK_ERROR(ceed, CeedOperatorAtPointsSetPoints(f.op, f.rstr_x, other), CEED_ERROR_MAJOR, "in use");
  CHECK_OK(apply(&f));
  check_values(&f, positions, factors);
  CeedElemRestrictionDestroy(&rstr);
  CeedVectorDestroy(&x);
  CeedVectorDestroy(&other);
  fixture_destroy(&f);
}

// ---- Nothing to do ----

// Lists that are empty, and no elements at all.
static int create_empty(Ceed ceed, CeedInt num_elem, Fixture *f) {
  const CeedInt no_points[] = {3, 3, 3};

  CeedCall(create_parts(ceed, f));
  CeedElemRestrictionDestroy(&f->rstr_x);
  CeedVectorDestroy(&f->x);
  CeedVectorDestroy(&f->q);
  CeedCall(CeedVectorCreate(ceed, 0, &f->x));
  CeedCall(CeedVectorCreate(ceed, 0, &f->q));
  CeedCall(CeedElemRestrictionCreateAtPoints(ceed, num_elem, 0, 1, 0, CEED_MEM_HOST, CEED_COPY_VALUES,
                                             no_points, &f->rstr_x));
  if (num_elem == 0) {
    CeedElemRestrictionDestroy(&f->rstr);
    CeedCall(CeedElemRestrictionCreate(ceed, 0, 2, 1, 1, NUM_NODES, CEED_MEM_HOST, CEED_COPY_VALUES, NULL,
                                       &f->rstr));
  }
  CeedCall(CeedOperatorCreateAtPoints(ceed, f->qf, NULL, NULL, &f->op));
  CeedCall(set_fields(f, f->op));
  return CeedOperatorAtPointsSetPoints(f->op, f->rstr_x, f->x);
}

TEST_EACH_BACKEND(without_points_or_elements_everything_is_zero) {
  for (CeedInt num_elem = 0; num_elem <= NUM_ELEM; num_elem += NUM_ELEM) {
    Fixture f;
    CeedVector assembled = NULL;
    CeedElemRestriction rstr = NULL;
    Triples t;

    CHECK_OK(create_empty(ceed, num_elem, &f));
    for (int reuses = 0; reuses < 2; reuses++) {
      CHECK_OK(CeedOperatorSetQFunctionAssemblyReuse(f.op, reuses));
      CHECK_OK(CeedVectorSetValue(f.v, 5));
      CHECK_OK(apply(&f));
      CHECK_HOLDS(f.v, 0, 0, 0);
      CHECK_OK(CeedVectorSetValue(f.v, 5));
      CHECK_OK(CeedOperatorLinearAssembleDiagonal(f.op, f.v, CEED_REQUEST_IMMEDIATE));
      CHECK_HOLDS(f.v, 0, 0, 0);
      CHECK_OK(triples_assemble(f.op, &t));
      CHECK(t.num == 4 * num_elem, "%td entries", t.num);
      CHECK(t.num == 0 || reference_largest(t.num, t.values) == 0.0, "an entry is not zero");
      triples_free(&t);
      CHECK_OK(CeedOperatorLinearAssembleQFunction(f.op, &assembled, &rstr, CEED_REQUEST_IMMEDIATE));
      CHECK(vector_length(assembled) == 0, "%td derivatives", vector_length(assembled));
      CeedVectorDestroy(&assembled);
      CeedElemRestrictionDestroy(&rstr);
    }
    fixture_destroy(&f);
  }
}

// ---- Layout of an assembled QFunction ----

static int create_mixing(Ceed ceed, const Fixture *f, CeedOperator *op) {
  const CeedInt offsets[] = {0, 1, 1, 2};
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  CeedQFunction qf = NULL;
  int ierr = CeedElemRestrictionCreate(ceed, NUM_ELEM, 2, 2, NUM_NODES, 2 * NUM_NODES, CEED_MEM_HOST,
                                       CEED_COPY_VALUES, offsets, &rstr);

  if (!ierr) ierr = CeedBasisCreateTensorH1Lagrange(ceed, 1, 2, 2, 2, CEED_GAUSS, &basis);
  if (!ierr) ierr = CeedQFunctionCreateInterior(ceed, 1, PointsMix, PointsMix_loc, &qf);
  if (!ierr) ierr = CeedQFunctionAddInput(qf, "u", 2, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionAddInput(qf, "q", 1, CEED_EVAL_NONE);
  if (!ierr) ierr = CeedQFunctionAddOutput(qf, "v", 2, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedOperatorCreateAtPoints(ceed, qf, NULL, NULL, op);
  if (!ierr) ierr = CeedOperatorSetField(*op, "u", rstr, basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(*op, "q", f->rstr_x, CEED_BASIS_NONE, f->q);
  if (!ierr) ierr = CeedOperatorSetField(*op, "v", rstr, basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorAtPointsSetPoints(*op, f->rstr_x, f->x);
  CeedElemRestrictionDestroy(&rstr);
  CeedBasisDestroy(&basis);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

TEST_EACH_BACKEND(assembled_qfunctions_keep_the_components_of_a_point_together) {
  static const double wanted[4] = {11, 21, 12, 22}; // component i*2 + o
  Fixture f;
  CeedOperator op = NULL;
  CeedVector v = NULL;
  CeedElemRestriction rstr = NULL;
  CeedInt num_comp = 0, num_points = 0;
  bool are_compatible = false;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(create_mixing(ceed, &f, &op));
  CHECK_OK(CeedOperatorLinearAssembleQFunction(op, &v, &rstr, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedElemRestrictionGetNumComponents(rstr, &num_comp));
  CHECK_OK(CeedElemRestrictionGetNumPoints(rstr, &num_points));
  CHECK_OK(CeedElemRestrictionAtPointsAreCompatible(rstr, f.rstr_x, &are_compatible));
  CHECK(num_comp == 4 && num_points == NUM_POINTS && are_compatible, "%d components at %d points", num_comp,
        num_points);
  double *values = reference_new_values(v);
  for (int k = 0; k < 4 * NUM_POINTS; k++)
    CHECK_NEAR(values[k], (double)factors[k / 4] * wanted[k % 4], 0.0, "component %d of point %d", k % 4,
               k / 4);
  free(values);
  CeedVectorDestroy(&v);
  CeedElemRestrictionDestroy(&rstr);
  CeedOperatorDestroy(&op);
  fixture_destroy(&f);
}

// A point in both elements, and twice in one of them.
TEST_EACH_BACKEND(points_that_are_listed_twice_have_no_place_for_two_derivatives) {
  static const CeedInt twice[] = {3, 4, 6, 0, 0, 0};
  const double left = (1 - (double)positions[0]) / 2, right = (1 + (double)positions[0]) / 2,
               q = (double)factors[0];
  const double wanted[NUM_NODES] = {q * left * left, q * (right * right + 2 * left * left),
                                    2 * q * right * right};
  CeedVector assembled = NULL;
  CeedElemRestriction rstr = NULL;
  Fixture f;

  CHECK_OK(create_parts(ceed, &f));
  CHECK_OK(CeedElemRestrictionDestroy(&f.rstr_x));
  CHECK_OK(CeedElemRestrictionCreateAtPoints(ceed, NUM_ELEM, NUM_POINTS, 1, NUM_POINTS, CEED_MEM_HOST,
                                             CEED_COPY_VALUES, twice, &f.rstr_x));
  CHECK_OK(CeedOperatorCreateAtPoints(ceed, f.qf, NULL, NULL, &f.op));
  CHECK_OK(set_fields(&f, f.op));
  CHECK_OK(CeedOperatorAtPointsSetPoints(f.op, f.rstr_x, f.x));
  for (int reuses = 0; reuses < 2; reuses++) {
    CHECK_OK(CeedOperatorSetQFunctionAssemblyReuse(f.op, reuses));
    CHECK_OK(CeedOperatorLinearAssembleDiagonal(f.op, f.v, CEED_REQUEST_IMMEDIATE));
    double *values = reference_new_values(f.v);
    for (int i = 0; i < NUM_NODES; i++) // three products of four factors, of some roundings each
      CHECK_NEAR(values[i], wanted[i], 32 * (double)CEED_EPSILON * fabs(wanted[i]), "node %d", i);
    free(values);
  }
  CHECK_ERROR(ceed, CeedOperatorLinearAssembleQFunction(f.op, &assembled, &rstr, CEED_REQUEST_IMMEDIATE),
              CEED_ERROR_UNSUPPORTED, "a point is listed twice");
  CHECK_ERROR(
      ceed, CeedOperatorLinearAssembleQFunctionBuildOrUpdate(f.op, &assembled, &rstr, CEED_REQUEST_IMMEDIATE),
      CEED_ERROR_UNSUPPORTED, "a point is listed twice");
  fixture_destroy(&f);
}

// ---- To points and back ----

// An operator at points from a nodal field to a field on the points, or back.
static int create_transfer(Ceed ceed, const Fixture *f, bool to_points, CeedVector on_points,
                           CeedOperator *op) {
  CeedQFunction qf = NULL;
  int ierr = CeedQFunctionCreateIdentity(ceed, 1, to_points ? CEED_EVAL_INTERP : CEED_EVAL_NONE,
                                         to_points ? CEED_EVAL_NONE : CEED_EVAL_INTERP, &qf);
  const char *const nodal = to_points ? "input" : "output", *const points = to_points ? "output" : "input";

  if (!ierr) ierr = CeedOperatorCreateAtPoints(ceed, qf, NULL, NULL, op);
  if (!ierr) ierr = CeedOperatorSetField(*op, nodal, f->rstr, f->basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(*op, points, f->rstr_x, CEED_BASIS_NONE, on_points);
  if (!ierr) ierr = CeedOperatorAtPointsSetPoints(*op, f->rstr_x, f->x);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

TEST_EACH_BACKEND(a_sequential_composite_goes_to_the_points_and_back) {
  static const CeedScalar ones[NUM_POINTS] = {1, 1, 1};
  Fixture f;
  CeedOperator parts[2] = {NULL}, chain = NULL;
  CeedVector on_points = NULL;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedVectorCreate(ceed, NUM_POINTS, &on_points));
  CHECK_OK(CeedVectorSetValue(on_points, 99));
  CHECK_OK(create_transfer(ceed, &f, true, on_points, &parts[0]));
  CHECK_OK(create_transfer(ceed, &f, false, on_points, &parts[1]));
  CHECK_OK(CeedOperatorCreateComposite(ceed, &chain));
  CHECK_OK(CeedOperatorCompositeSetSequential(chain, true));
  for (int k = 0; k < 2; k++) CHECK_OK(CeedOperatorCompositeAddSub(chain, parts[k]));
  CHECK_OK(CeedOperatorApply(chain, f.u, f.v, CEED_REQUEST_IMMEDIATE));
  check_values(&f, positions, ones);
  CHECK_OK(CeedOperatorApplyAddActive(chain, f.u, f.v, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedVectorScale(f.v, 0.5));
  check_values(&f, positions, ones);
  // Point 1 at -1 and point 0 at 1/2 of the first element, point 2 in the middle of the second.
  CHECK_OK(CeedOperatorApply(parts[0], f.u, CEED_VECTOR_NONE, CEED_REQUEST_IMMEDIATE));
  double *values = reference_new_values(on_points);
  CHECK_NEAR(values[0], 0.25 * 1 + 0.75 * 10, 100 * eps, "point 0");
  CHECK_NEAR(values[1], 1.0, 100 * eps, "point 1");
  CHECK_NEAR(values[2], 0.5 * 10 + 0.5 * 100, 1000 * eps, "point 2");
  free(values);
  CeedOperatorDestroy(&chain);
  for (int k = 0; k < 2; k++) CeedOperatorDestroy(&parts[k]);
  CeedVectorDestroy(&on_points);
  fixture_destroy(&f);
}

// Points and quadrature points under one roof.
TEST_EACH_BACKEND(composites_mix_operators_at_points_with_ordinary_ones) {
  Fixture f;
  CeedQFunction qf = NULL;
  CeedOperator ordinary = NULL, sum = NULL;
  CeedVector part = NULL;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedQFunctionCreateIdentity(ceed, 1, CEED_EVAL_INTERP, CEED_EVAL_INTERP, &qf));
  CHECK_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &ordinary));
  CHECK_OK(CeedOperatorSetField(ordinary, "input", f.rstr, f.basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(ordinary, "output", f.rstr, f.basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorCreateComposite(ceed, &sum));
  CHECK_OK(CeedOperatorCompositeAddSub(sum, f.op));
  CHECK_OK(CeedOperatorCompositeAddSub(sum, ordinary));
  CHECK_OK(CeedVectorCreate(ceed, NUM_NODES, &part));
  CHECK_OK(CeedOperatorApply(ordinary, f.u, part, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedOperatorApply(sum, f.u, f.v, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedVectorAXPY(f.v, -1, part));
  check_values(&f, positions, factors);

  Triples all = {0}, first = {0};
  CHECK_OK(triples_assemble(sum, &all));
  CHECK_OK(triples_assemble(f.op, &first));
  CHECK(all.num == 2 * first.num && triples_begin_with(&all, 0, &first), "triples of the parts in order");
  triples_free(&all);
  triples_free(&first);
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&ordinary);
  CeedOperatorDestroy(&sum);
  CeedVectorDestroy(&part);
  fixture_destroy(&f);
}

// ---- What is refused ----

TEST_EACH_BACKEND(operators_without_points_do_not_run) {
  Fixture f;
  CeedVector v = NULL;
  CeedElemRestriction rstr = NULL;

  CHECK_OK(create_parts(ceed, &f));
  CHECK_OK(CeedOperatorCreateAtPoints(ceed, f.qf, NULL, NULL, &f.op));
  CHECK_OK(set_fields(&f, f.op));
  CHECK_ERROR(ceed, apply(&f), CEED_ERROR_BACKEND, "no points");
  CHECK_ERROR(ceed, CeedOperatorLinearAssembleDiagonal(f.op, f.v, CEED_REQUEST_IMMEDIATE),
              CEED_ERROR_INCOMPLETE, "no points");
  CHECK_ERROR(ceed, CeedOperatorLinearAssembleQFunction(f.op, &v, &rstr, CEED_REQUEST_IMMEDIATE),
              CEED_ERROR_INCOMPLETE, "no points");
  CHECK_ERROR(ceed, CeedOperatorAtPointsGetPoints(f.op, &rstr, &v), CEED_ERROR_INCOMPLETE, "no points");
  fixture_destroy(&f);
}

TEST_EACH_BACKEND(short_coordinates_are_refused) {
  Fixture f;
  CeedVector x = NULL;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedVectorCreate(ceed, NUM_POINTS - 1, &x));
  CHECK_OK(CeedVectorSetValue(x, 0));
  CHECK_OK(CeedOperatorAtPointsSetPoints(f.op, f.rstr_x, x));
  CHECK_ERROR(ceed, apply(&f), CEED_ERROR_BACKEND, "2 entries, needed 3");
  CeedVectorDestroy(&x);
  fixture_destroy(&f);
}

// Before anything is written: outputs keep what they have, the coordinates themselves among them.
TEST_EACH_BACKEND(coordinates_that_cannot_be_read_are_refused) {
  Fixture f;
  CeedVector x = NULL;
  CeedScalar *array = NULL;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedVectorSetValue(f.v, 5));
  CHECK_OK(CeedVectorCreate(ceed, NUM_POINTS, &x));
  CHECK_OK(CeedOperatorAtPointsSetPoints(f.op, f.rstr_x, x));
  CHECK_ERROR(ceed, apply(&f), CEED_ERROR_BACKEND, "no valid data");
  CHECK_OK(CeedVectorSetArray(x, CEED_MEM_HOST, CEED_COPY_VALUES, (CeedScalar *)positions));
  CHECK_OK(CeedVectorGetArray(x, CEED_MEM_HOST, &array));
  CHECK_ERROR(ceed, apply(&f), CEED_ERROR_BACKEND, "already in use");
  CHECK_OK(CeedVectorRestoreArray(x, &array));
  CHECK_ERROR(ceed, CeedOperatorApplyAdd(f.op, f.u, x, CEED_REQUEST_IMMEDIATE), CEED_ERROR_INCOMPATIBLE,
              "'v' is the vector of the points' coordinates");
  CHECK_ERROR(ceed, CeedOperatorApply(f.op, f.u, x, CEED_REQUEST_IMMEDIATE), CEED_ERROR_INCOMPATIBLE,
              "'v' is the vector of the points' coordinates");
  CHECK_HOLDS(f.v, 5, 5, 5);
  CHECK_OK(apply(&f));
  check_values(&f, positions, factors);
  CeedVectorDestroy(&x);
  fixture_destroy(&f);
}

// Bases that cannot be evaluated at points: dense, of one quadrature point, of another dimension.
static int create_unfit_basis(Ceed ceed, int kind, CeedBasis *basis) {
  const CeedScalar table[4] = {1, 0, 0, 1};

  if (kind == 0) return CeedBasisCreateH1(ceed, CEED_TOPOLOGY_LINE, 1, 2, 2, table, table, NULL, NULL, basis);
  if (kind == 1) return CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 2, 1, CEED_GAUSS, basis);
  return CeedBasisCreateTensorH1(ceed, 2, 1, 1, 2, table, table, NULL, NULL, basis);
}

TEST_EACH_BACKEND(unfit_bases_are_refused_when_applied) {
  static const struct {
    int code;
    const char *text;
  } wanted[] = {{CEED_ERROR_UNSUPPORTED, "needs a tensor basis"},
                {CEED_ERROR_UNSUPPORTED, "at least 2 points"},
                {CEED_ERROR_BACKEND, "dimension 2"}};

  for (int kind = 0; kind < 3; kind++) {
    Fixture f;
    CeedVector u = NULL, v = NULL;

    CHECK_OK(create_parts(ceed, &f));
    CeedBasisDestroy(&f.basis);
    CHECK_OK(create_unfit_basis(ceed, kind, &f.basis));
    if (kind == 2) { // one node in two dimensions
      const CeedInt offsets[] = {0, 1};

      CeedElemRestrictionDestroy(&f.rstr);
      CHECK_OK(CeedElemRestrictionCreate(ceed, NUM_ELEM, 1, 1, 1, NUM_NODES, CEED_MEM_HOST, CEED_COPY_VALUES,
                                         offsets, &f.rstr));
    }
    CHECK_OK(CeedOperatorCreateAtPoints(ceed, f.qf, NULL, NULL, &f.op));
    CHECK_OK(set_fields(&f, f.op));
    CHECK_OK(CeedOperatorAtPointsSetPoints(f.op, f.rstr_x, f.x));
    CHECK_ERROR(ceed, apply(&f), wanted[kind].code, wanted[kind].text);
    CeedVectorDestroy(&u);
    CeedVectorDestroy(&v);
    fixture_destroy(&f);
  }
}

TEST_EACH_BACKEND(fields_without_a_basis_live_on_the_points) {
  Fixture f;

  CHECK_OK(create_parts(ceed, &f));
  CHECK_OK(CeedOperatorCreateAtPoints(ceed, f.qf, NULL, NULL, &f.op));
  CHECK_ERROR(ceed, CeedOperatorSetField(f.op, "q", f.rstr, CEED_BASIS_NONE, f.q), CEED_ERROR_UNSUPPORTED,
              "'q' of an operator at points needs a basis or an at-points restriction");
  CHECK_ERROR(ceed, CeedOperatorSetField(f.op, "u", f.rstr_x, f.basis, CEED_VECTOR_ACTIVE),
              CEED_ERROR_UNSUPPORTED, "basis must be CEED_BASIS_NONE");
  fixture_destroy(&f);
}

// The sizes of an element must agree in every operator: memory is laid out by them.
TEST_EACH_BACKEND(restrictions_and_bases_have_the_same_nodes) {
  const CeedInt offsets[] = {0, 1, 2, 0, 1, 2};
  Fixture f;
  CeedElemRestriction three = NULL;
  CeedOperator ordinary = NULL;

  CHECK_OK(create_parts(ceed, &f));
  CHECK_OK(CeedElemRestrictionCreate(ceed, NUM_ELEM, 3, 1, 1, NUM_NODES, CEED_MEM_HOST, CEED_COPY_VALUES,
                                     offsets, &three));
  CHECK_OK(CeedOperatorCreateAtPoints(ceed, f.qf, NULL, NULL, &f.op));
  CHECK_OK(CeedOperatorCreate(ceed, f.qf, NULL, NULL, &ordinary));
  CHECK_ERROR(ceed, CeedOperatorSetField(f.op, "u", three, f.basis, CEED_VECTOR_ACTIVE), CEED_ERROR_DIMENSION,
              "'u': the restriction has 3 nodes per element, the basis 2");
  CHECK_ERROR(ceed, CeedOperatorSetField(ordinary, "u", three, f.basis, CEED_VECTOR_ACTIVE),
              CEED_ERROR_DIMENSION, "'u': the restriction has 3 nodes per element, the basis 2");
  CeedElemRestrictionDestroy(&three);
  CeedOperatorDestroy(&ordinary);
  fixture_destroy(&f);
}

TEST_EACH_BACKEND(assemblies_that_points_do_not_have_are_refused) {
  Fixture f;
  CeedVector v = NULL, values = NULL;
  CeedElemRestriction rstr = NULL;
  CeedOperator to_points = NULL;
  CeedSize num;
  CeedInt *rows = NULL, *cols = NULL;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedVectorCreate(ceed, 16, &values));
  CHECK_ERROR(ceed, CeedOperatorLinearAssemblePointBlockDiagonal(f.op, values, CEED_REQUEST_IMMEDIATE),
              CEED_ERROR_UNSUPPORTED, "at points");
  CHECK_ERROR(ceed, CeedOperatorLinearAssembleAddPointBlockDiagonal(f.op, values, CEED_REQUEST_IMMEDIATE),
              CEED_ERROR_UNSUPPORTED, "at points");
  CHECK_ERROR(ceed, CeedOperatorLinearAssemblePointBlockDiagonalSymbolic(f.op, &num, &rows, &cols),
              CEED_ERROR_UNSUPPORTED, "at points");

  CHECK_OK(create_transfer(ceed, &f, true, CEED_VECTOR_ACTIVE, &to_points));
  CHECK_ERROR(ceed, CeedOperatorLinearAssembleQFunction(to_points, &v, &rstr, CEED_REQUEST_IMMEDIATE),
              CEED_ERROR_BACKEND, "active fields on the points");
  CHECK_ERROR(ceed,
              CeedOperatorLinearAssembleQFunctionBuildOrUpdate(to_points, &v, &rstr, CEED_REQUEST_IMMEDIATE),
              CEED_ERROR_BACKEND, "active fields on the points");
  CHECK_ERROR(ceed, CeedOperatorLinearAssembleSymbolic(to_points, &num, &rows, &cols), CEED_ERROR_UNSUPPORTED,
              "active fields on the points");
  CHECK_ERROR(ceed, CeedOperatorLinearAssemble(to_points, values), CEED_ERROR_UNSUPPORTED,
              "active fields on the points");
  CeedOperatorDestroy(&to_points);
  CeedVectorDestroy(&values);
  fixture_destroy(&f);
}

// ---- Functions that fail ----

static int fail(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  memcpy(out[0], in[0], (size_t)Q * sizeof(CeedScalar));
  return *(const int *)ctx;
}

static int set_code(CeedQFunctionContext context, int code) {
  int *data = NULL;
  CeedQFunctionContextGetData(context, CEED_MEM_HOST, &data);
  *data = code;
  return CeedQFunctionContextRestoreData(context, &data);
}

TEST_EACH_BACKEND(failures_of_the_function_at_points_are_passed_on) {
  Fixture f;
  CeedQFunctionContext context = NULL;
  int code = 0;

  if (!tap_runs_pointers(ceed)) NOT_FOR_THIS_BACKEND("devices ignore the code");
  CHECK_OK(create_parts(ceed, &f));
  CeedQFunctionDestroy(&f.qf);
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, fail, "", &f.qf));
  CHECK_OK(CeedQFunctionAddInput(f.qf, "u", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedQFunctionAddInput(f.qf, "q", 1, CEED_EVAL_NONE));
  CHECK_OK(CeedQFunctionAddOutput(f.qf, "v", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedQFunctionContextCreate(ceed, &context));
  CHECK_OK(CeedQFunctionContextSetData(context, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(code), &code));
  CHECK_OK(CeedQFunctionSetContext(f.qf, context));
  CHECK_OK(CeedOperatorCreateAtPoints(ceed, f.qf, NULL, NULL, &f.op));
  CHECK_OK(set_fields(&f, f.op));
  CHECK_OK(CeedOperatorAtPointsSetPoints(f.op, f.rstr_x, f.x));
  CHECK_OK(set_code(context, 5));
  CHECK(apply(&f) == CEED_ERROR_BACKEND, "a positive code");
  CHECK_OK(set_code(context, -77));
  CHECK(apply(&f) == -77, "a negative code");
  CHECK(CeedOperatorLinearAssembleDiagonal(f.op, f.v, CEED_REQUEST_IMMEDIATE) == -77, "the diagonal");
  CHECK_OK(set_code(context, 0));
  CHECK_OK(apply(&f));
  CeedQFunctionContextDestroy(&context);
  fixture_destroy(&f);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(flops_of_operators_count_the_most_points_on_devices_and_the_mean_on_hosts,
            moved_points_and_changed_data_are_seen, points_are_given_back_and_may_be_replaced_before_use,
            without_points_or_elements_everything_is_zero,
            assembled_qfunctions_keep_the_components_of_a_point_together,
            points_that_are_listed_twice_have_no_place_for_two_derivatives,
            a_sequential_composite_goes_to_the_points_and_back,
            composites_mix_operators_at_points_with_ordinary_ones, operators_without_points_do_not_run,
            short_coordinates_are_refused, coordinates_that_cannot_be_read_are_refused,
            unfit_bases_are_refused_when_applied, fields_without_a_basis_live_on_the_points,
            restrictions_and_bases_have_the_same_nodes, assemblies_that_points_do_not_have_are_refused,
            failures_of_the_function_at_points_are_passed_on));
}
