// SPDX-License-Identifier: BSD-2-Clause
// Vectors of either precision: conversion, arrays, algebra, and what is refused.
#include "tests/precision-kit.h"

#include "base/memory.h"

enum { LENGTH = 517 };

static const double *numbers(uint64_t seed) {
  static double values[3][LENGTH];
  double *v = values[seed % 3];
  for (int i = 0; i < LENGTH; i++) v[i] = tap_uniform(&seed) + (i % 7 == 0 ? 2 : 0);
  return v;
}

// ---- Conversion ----

TEST_EACH_BACKEND(conversion_rounds_once) {
  const double *x = numbers(1);
  double found[LENGTH];
  for (int i = 0; i < NUM_PRECISIONS; i++) {
    for (int j = 0; j < NUM_PRECISIONS; j++) {
      CeedVector from = precise_vector(ceed, precisions[i], LENGTH, x);
      CeedVector to = precise_vector(ceed, precisions[j], LENGTH, NULL);
      CHECK_OK(RitzVectorConvert(from, to));
      CHECK_OK(get_values(to, found));
      for (int k = 0; k < LENGTH; k++) {
        const bool is_rounded = i == 0 || j == 0;
        CHECK(found[k] == (is_rounded ? (double)(float)x[k] : x[k]), "%d to %d: entry %d is %.17g", i, j, k,
              found[k]);
      }
      CHECK_OK(RitzVectorConvert(to, from));
      CHECK_OK(get_values(from, found));
      for (int k = 0; k < LENGTH; k++)
        CHECK(found[k] == ((i == 0 || j == 0) ? (double)(float)x[k] : x[k]), "and back: entry %d", k);
      CHECK_OK(CeedVectorDestroy(&from));
      CHECK_OK(CeedVectorDestroy(&to));
    }
  }
}

TEST_EACH_BACKEND(conversion_crosses_contexts) {
  const double *x = numbers(1);
  double found[LENGTH];
  Ceed other = tap_ceed("/cpu/self/ref");
  for (int i = 0; i < NUM_PRECISIONS; i++) {
    CeedVector from = precise_vector(ceed, precisions[i], LENGTH, x);
    CeedVector to = precise_vector(other, CEED_SCALAR_FP32, LENGTH, NULL);
    CHECK_OK(RitzVectorConvert(from, to));
    CHECK_OK(get_values(to, found));
    for (int k = 0; k < LENGTH; k++) CHECK(found[k] == (double)(float)x[k], "entry %d", k);
    CHECK_OK(CeedVectorDestroy(&from));
    CHECK_OK(CeedVectorDestroy(&to));
  }
  CHECK_OK(CeedDestroy(&other));
}

TEST_EACH_BACKEND(conversion_goes_to_infinity_beyond_the_range) {
  if (NUM_PRECISIONS == 1) NOT_FOR_THIS_BACKEND("one precision");
  const double x[4] = {1e300, -1e39, 3.4e38, 1e-60};
  double found[4];
  CeedVector from = precise_vector(ceed, CEED_SCALAR_FP64, 4, x);
  CeedVector to = precise_vector(ceed, CEED_SCALAR_FP32, 4, NULL);
  CHECK_OK(RitzVectorConvert(from, to));
  CHECK_OK(get_values(to, found));
  CHECK(isinf(found[0]) && found[0] > 0, "%g", found[0]);
  CHECK(isinf(found[1]) && found[1] < 0, "%g", found[1]);
  CHECK(found[2] == (double)3.4e38f && found[3] == 0, "%g %g", found[2], found[3]);
  CHECK_OK(CeedVectorDestroy(&from));
  CHECK_OK(CeedVectorDestroy(&to));
}

TEST_EACH_BACKEND(conversion_refuses_what_does_not_fit) {
  CeedVector a = precise_vector(ceed, CEED_SCALAR_TYPE, 3, NULL);
  CeedVector b = precise_vector(ceed, CEED_SCALAR_FP32, 4, NULL),
             c = precise_vector(ceed, CEED_SCALAR_FP32, 3, NULL);
  CeedVector none[2] = {precise_vector(ceed, CEED_SCALAR_FP32, 0, NULL),
                        precise_vector(ceed, CEED_SCALAR_TYPE, 0, NULL)};
  CHECK_ERROR(ceed, RitzVectorConvert(a, b), CEED_ERROR_INCOMPATIBLE,
              "RitzVectorConvert: lengths differ: 3 and 4");
  CHECK_ERROR(ceed, RitzVectorConvert(a, c), CEED_ERROR_BACKEND, "no valid data");
  CHECK_OK(RitzVectorConvert(none[0], none[1]));
  CHECK_OK(CeedVectorSetValue(a, 2));
  CHECK_OK(RitzVectorConvert(a, a));
  const double three[3] = {1, 2, 3};
  double found[3];
  float *held;
  CHECK_OK(set_values(c, three));
  CHECK_OK(RitzVectorGetArrayF32(c, CEED_MEM_HOST, &held));
  CHECK_ERROR(ceed, RitzVectorConvert(a, c), CEED_ERROR_ACCESS, "access lock");
  CHECK_OK(RitzVectorRestoreArrayF32(c, &held));
  CHECK_OK(get_values(c, found));
  CHECK(found[0] == 1 && found[2] == 3, "a refused conversion has written");
  for (int i = 0; i < 2; i++) CHECK_OK(CeedVectorDestroy(&none[i]));
  CHECK_OK(CeedVectorDestroy(&a));
  CHECK_OK(CeedVectorDestroy(&b));
  CHECK_OK(CeedVectorDestroy(&c));
}

// ---- Precisions ----

TEST_EACH_BACKEND(a_vector_tells_its_precision) {
  CeedScalarType precision, own;
  CeedVector vec = NULL;
  CHECK_OK(CeedGetScalarType(&own));
  CHECK_OK(CeedVectorCreate(ceed, 2, &vec));
  CHECK_OK(RitzVectorGetPrecision(vec, &precision));
  CHECK(precision == own, "CeedVectorCreate makes precision %d", precision);
  CHECK_OK(CeedVectorDestroy(&vec));
  for (int i = 0; i < NUM_PRECISIONS; i++) {
    CHECK_OK(RitzVectorCreate(ceed, 2, precisions[i], &vec));
    CHECK_OK(RitzVectorGetPrecision(vec, &precision));
    CHECK(precision == precisions[i], "found %d", precision);
    CHECK_OK(CeedVectorDestroy(&vec));
  }
  CHECK_ERROR(ceed, RitzVectorCreate(ceed, 2, (CeedScalarType)7, &vec), CEED_ERROR_INCOMPATIBLE,
              "RitzVectorCreate: 7 is no precision");
  CHECK_ERROR(ceed, RitzVectorCreate(ceed, -2, CEED_SCALAR_FP32, &vec), CEED_ERROR_UNSUPPORTED,
              "RitzVectorCreate: length -2 is negative");
  CHECK(!vec, "a vector in spite of the error");
}

TEST_EACH_BACKEND(a_float_library_refuses_double) {
  if (NUM_PRECISIONS == 2) NOT_FOR_THIS_BACKEND("this build has double");
  CeedVector vec = NULL;
  PrecisionKit k;
  float *array;
  CHECK_ERROR(ceed, RitzVectorCreate(ceed, 2, CEED_SCALAR_FP64, &vec), CEED_ERROR_UNSUPPORTED,
              "RitzVectorCreate: precision FP64 in a library that was built with FP32 alone");
  CHECK_OK(kit_open(ceed, &precision_cases[0], CEED_SCALAR_FP32, CEED_SCALAR_FP32, &k));
  CHECK_ERROR(ceed, RitzOperatorSetPrecision(k.op, CEED_SCALAR_FP64), CEED_ERROR_UNSUPPORTED,
              "RitzOperatorSetPrecision: precision FP64");
  CHECK_OK(kit_close(&k));
  CHECK_OK(CeedVectorCreate(ceed, 2, &vec));
  CHECK_OK(RitzVectorGetArrayWriteF32(vec, CEED_MEM_HOST, &array));
  array[0] = array[1] = 3;
  CHECK_OK(RitzVectorRestoreArrayF32(vec, &array));
  CHECK_HOLDS(vec, 3, 3);
  CHECK_OK(CeedVectorDestroy(&vec));
}

// ---- Arrays ----

TEST_EACH_BACKEND(arrays_of_float_keep_the_standards_rules) {
  float mine[3] = {1, 2, 3}, *array = NULL, *taken = NULL;
  const float *read = NULL, *again = NULL;
  double found[3];
  CeedVector vec = precise_vector(ceed, CEED_SCALAR_FP32, 3, NULL);
  CHECK_ERROR(ceed, RitzVectorGetArrayReadF32(vec, CEED_MEM_HOST, &read), CEED_ERROR_BACKEND,
              "RitzVectorGetArrayReadF32: CeedVector has no valid data");
  CHECK_ERROR(ceed, RitzVectorTakeArrayF32(vec, CEED_MEM_HOST, &taken), CEED_ERROR_BACKEND,
              "RitzVectorTakeArrayF32: CeedVector has no borrowed");
  CHECK_ERROR(ceed, RitzVectorRestoreArrayF32(vec, &array), CEED_ERROR_ACCESS, "RitzVectorRestoreArrayF32");
  CHECK_ERROR(ceed, RitzVectorRestoreArrayReadF32(vec, &read), CEED_ERROR_ACCESS,
              "RitzVectorRestoreArrayReadF32");
  CHECK_OK(RitzVectorSetArrayF32(vec, CEED_MEM_HOST, CEED_USE_POINTER, mine));
  CHECK_OK(RitzVectorGetArrayReadF32(vec, CEED_MEM_HOST, &read));
  CHECK_OK(RitzVectorGetArrayReadF32(vec, CEED_MEM_HOST, &again));
  CHECK(read[0] == 1 && again[2] == 3, "values");
  CHECK(!lends_originals(ceed) || read == mine, "a copy is lent");
  CHECK_ERROR(ceed, RitzVectorGetArrayF32(vec, CEED_MEM_HOST, &array), CEED_ERROR_ACCESS, "has read access");
  CHECK_OK(RitzVectorRestoreArrayReadF32(vec, &again));
  CHECK_OK(RitzVectorRestoreArrayReadF32(vec, &read));
  CHECK(!read && !again, "pointers after the end of the access");
  CHECK_OK(RitzVectorGetArrayF32(vec, CEED_MEM_HOST, &array));
  array[1] = 20;
  CHECK_ERROR(ceed, RitzVectorGetArrayReadF32(vec, CEED_MEM_HOST, &read), CEED_ERROR_ACCESS, "access lock");
  CHECK_OK(RitzVectorRestoreArrayF32(vec, &array));
  CHECK_OK(RitzVectorTakeArrayF32(vec, CEED_MEM_HOST, &taken));
  CHECK(taken == mine && mine[1] == 20, "the array that was lent to the vector");
  CHECK_OK(RitzVectorSetArrayF32(vec, CEED_MEM_HOST, CEED_OWN_POINTER, duplicate(mine, sizeof(mine))));
  CHECK_OK(get_values(vec, found));
  CHECK(found[0] == 1 && found[1] == 20 && found[2] == 3, "%g %g %g", found[0], found[1], found[2]);
  CHECK_OK(RitzVectorSetArrayF32(vec, CEED_MEM_HOST, CEED_COPY_VALUES, mine));
  CHECK_OK(CeedVectorDestroy(&vec));
}

TEST_EACH_BACKEND(arrays_of_another_precision_are_refused) {
  if (NUM_PRECISIONS == 1) NOT_FOR_THIS_BACKEND("one precision");
  const double three[3] = {1, 2, 3};
  double found[3];
  CeedScalar doubles[3] = {7, 7, 7}, *d = doubles;
  float floats[3] = {7, 7, 7}, *f = floats;
  const CeedScalar *rd = doubles;
  const float *rf = floats;
  CeedVector v32 = precise_vector(ceed, CEED_SCALAR_FP32, 3, three);
  CeedVector v64 = precise_vector(ceed, CEED_SCALAR_FP64, 3, three);
#define REFUSED(expr, fragment) CHECK_ERROR(ceed, expr, CEED_ERROR_INCOMPATIBLE, fragment)
  REFUSED(CeedVectorGetArray(v32, CEED_MEM_HOST, &d),
          "CeedVectorGetArray: the vector has precision FP32, needed FP64");
  REFUSED(CeedVectorGetArrayRead(v32, CEED_MEM_HOST, &rd),
          "CeedVectorGetArrayRead: the vector has precision FP32");
  REFUSED(CeedVectorGetArrayWrite(v32, CEED_MEM_HOST, &d), "F32");
  REFUSED(CeedVectorSetArray(v32, CEED_MEM_HOST, CEED_COPY_VALUES, d), "CeedVectorSetArray");
  REFUSED(CeedVectorTakeArray(v32, CEED_MEM_HOST, &d), "CeedVectorTakeArray");
  REFUSED(CeedVectorRestoreArray(v32, &d), "CeedVectorRestoreArray");
  REFUSED(CeedVectorRestoreArrayRead(v32, &rd), "CeedVectorRestoreArrayRead");
  REFUSED(RitzVectorGetArrayF32(v64, CEED_MEM_HOST, &f),
          "RitzVectorGetArrayF32: the vector has precision FP64, needed FP32");
  REFUSED(RitzVectorGetArrayReadF32(v64, CEED_MEM_HOST, &rf), "RitzVectorGetArrayReadF32");
  REFUSED(RitzVectorGetArrayWriteF32(v64, CEED_MEM_HOST, &f), "RitzVectorGetArrayWriteF32");
  REFUSED(RitzVectorSetArrayF32(v64, CEED_MEM_HOST, CEED_COPY_VALUES, f), "RitzVectorSetArrayF32");
  REFUSED(RitzVectorTakeArrayF32(v64, CEED_MEM_HOST, &f), "RitzVectorTakeArrayF32");
  REFUSED(RitzVectorRestoreArrayF32(v64, &f), "RitzVectorRestoreArrayF32");
  REFUSED(RitzVectorRestoreArrayReadF32(v64, &rf), "RitzVectorRestoreArrayReadF32");
  CHECK(d == doubles && f == floats && rd == doubles && rf == floats, "a refused call has changed a pointer");
  CHECK_OK(get_values(v32, found));
  CHECK(found[0] == 1 && found[2] == 3, "values of float");
  CHECK_OK(get_values(v64, found));
  CHECK(found[0] == 1 && found[2] == 3, "values of double");
  CHECK_OK(CeedVectorDestroy(&v32));
  CHECK_OK(CeedVectorDestroy(&v64));
}

TEST(the_checking_backend_watches_arrays_of_float) {
  Ceed ceed = tap_ceed("/cpu/self/check");
  const double three[3] = {1, 2, 3};
  float *array;
  const float *read;
  CeedVector vec = precise_vector(ceed, CEED_SCALAR_FP32, 3, three);
  for (int place = -1; place < 4; place += 4) {
    CHECK_OK(RitzVectorGetArrayF32(vec, CEED_MEM_HOST, &array));
    array[place] = 7;
    CHECK_ERROR(ceed, RitzVectorRestoreArrayF32(vec, &array), CEED_ERROR_BACKEND,
                "written outside its bounds");
  }
  CHECK_OK(RitzVectorGetArrayReadF32(vec, CEED_MEM_HOST, &read));
  ((float *)read)[2] = 8;
  CHECK_ERROR(ceed, RitzVectorRestoreArrayReadF32(vec, &read), CEED_ERROR_BACKEND,
              "through read-only access");
  CHECK_OK(RitzVectorGetArrayWriteF32(vec, CEED_MEM_HOST, &array));
  CHECK(isnan(array[0]) && isnan(array[2]), "a fresh array holds numbers");
  for (int i = 0; i < 3; i++) array[i] = 1;
  CHECK_OK(RitzVectorRestoreArrayF32(vec, &array));
  CHECK_OK(CeedVectorDestroy(&vec));
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- Algebra ----

// One action on vectors x and y, both of one precision.
static int act(int action, CeedVector x, CeedVector y) {
  switch (action) {
  case 0: return CeedVectorScale(x, (CeedScalar)0.3);
  case 1: return CeedVectorAXPY(x, (CeedScalar)-1.7, y);
  case 2: return CeedVectorAXPBY(x, (CeedScalar)0.9, (CeedScalar)-0.4, y);
  case 3: return CeedVectorPointwiseMult(x, x, y);
  case 4: return CeedVectorPointwiseMult(x, y, y);
  case 5: return CeedVectorReciprocal(y);
  case 6: return CeedVectorCopy(y, x);
  case 7: return CeedVectorCopyStrided(y, 3, -1, 5, x);
  case 8: return CeedVectorSetValueStrided(x, 2, LENGTH - 4, 3, (CeedScalar)0.1);
  case 9: return CeedVectorFilter(x, (CeedScalar)0.6);
  case 10: return CeedVectorSetValue(x, (CeedScalar)0.7);
  default: return CeedVectorSyncArray(x, CEED_MEM_HOST);
  }
}
enum { NUM_ACTIONS = 12 };

static int run_action(Ceed ceed, int action, CeedScalarType precision, const double *x, const double *y,
                      double *found, CeedScalar *norms) {
  CeedVector a = precise_vector(ceed, precision, LENGTH, x), b = precise_vector(ceed, precision, LENGTH, y);
  int ierr = act(action, a, b);
  if (!ierr) ierr = get_values(a, found) || get_values(b, found + LENGTH);
  for (int type = 0; !ierr && type < 3; type++) ierr = CeedVectorNorm(a, (CeedNormType)type, &norms[type]);
  return ierr | CeedVectorDestroy(&a) | CeedVectorDestroy(&b);
}

// Data of both are rounded to float; at most three products and sums of numbers up to 16 follow, each rounded
// to half a unit: 4 * eps * 16. Sums of norms are made in double: those of LENGTH entries differ by as much
// an entry.
TEST_EACH_BACKEND(algebra_on_floats_is_that_on_doubles) {
  double x[LENGTH], y[LENGTH], found[2][2 * LENGTH];
  for (int i = 0; i < LENGTH; i++) x[i] = (double)(float)numbers(1)[i];
  for (int i = 0; i < LENGTH; i++) {
    const double value = (double)(float)numbers(2)[i];
    y[i] = fabs(value) < 0.0625 ? 0.5 : value; // reciprocals up to 16
  }
  for (int action = 0; action < NUM_ACTIONS; action++) {
    CeedScalar norms[2][3];
    for (int p = 0; p < 2; p++) {
      const CeedScalarType precision = p ? CEED_SCALAR_TYPE : CEED_SCALAR_FP32;
      CHECK_OK(run_action(ceed, action, precision, x, y, found[p], norms[p]));
    }
    const double tol = 4 * EPS_F32 * 16;
    CHECK(values_agree((CeedSize)2 * LENGTH, found[0], found[1], tol), "action %d", action);
    for (int type = 0; type < 3; type++)
      CHECK_NEAR(norms[0][type], norms[1][type], (type == CEED_NORM_MAX ? 1 : LENGTH) * tol,
                 "action %d, norm %d", action, type);
  }
}

// A sum in float would stop at 2^24.
TEST_EACH_BACKEND(norms_of_floats_are_summed_in_double) {
  enum { MANY = 1 << 20 };
  CeedScalar norm;
  CeedVector vec = NULL;
  CHECK_OK(RitzVectorCreate(ceed, MANY, CEED_SCALAR_FP32, &vec));
  CHECK_OK(CeedVectorSetValue(vec, (CeedScalar)0.1));
  CHECK_OK(CeedVectorNorm(vec, CEED_NORM_1, &norm));
  CHECK_NEAR(norm, MANY * (double)0.1f, 1e-6 * (NUM_PRECISIONS == 2 ? 1 : 1e6) * 0.2, "sum");
  CHECK_OK(CeedVectorNorm(vec, CEED_NORM_2, &norm));
  CHECK_NEAR(norm, 1024 * (double)0.1f, NUM_PRECISIONS == 2 ? 1e-9 : 1e-4, "2-norm");
  CHECK_OK(CeedVectorDestroy(&vec));
}

TEST_EACH_BACKEND(vectors_of_two_precisions_do_not_mix) {
  if (NUM_PRECISIONS == 1) NOT_FOR_THIS_BACKEND("one precision");
  const double three[3] = {1, 2, 3};
  double found[3];
  CeedVector a = precise_vector(ceed, CEED_SCALAR_FP32, 3, three),
             b = precise_vector(ceed, CEED_SCALAR_FP64, 3, three);
  REFUSED(CeedVectorAXPY(a, 1, b), "CeedVectorAXPY: a vector has precision FP32, another one FP64");
  REFUSED(CeedVectorAXPBY(b, 1, 1, a), "CeedVectorAXPBY: a vector has precision FP64, another one FP32");
  REFUSED(CeedVectorPointwiseMult(a, a, b), "CeedVectorPointwiseMult");
  REFUSED(CeedVectorPointwiseMult(a, b, a), "CeedVectorPointwiseMult");
  REFUSED(CeedVectorPointwiseMult(a, b, b), "CeedVectorPointwiseMult");
  REFUSED(CeedVectorCopy(a, b), "RitzVectorConvert");
  REFUSED(CeedVectorCopyStrided(b, 0, -1, 1, a), "CeedVectorCopyStrided");
  CHECK_OK(get_values(a, found));
  CHECK(found[0] == 1 && found[1] == 2 && found[2] == 3, "a refused action has written");
  CHECK_OK(CeedVectorDestroy(&a));
  CHECK_OK(CeedVectorDestroy(&b));
}

TEST_EACH_BACKEND(a_vector_of_floats_is_shown) {
  const double three[3] = {1, 2.5, -3};
  CeedVector vec = precise_vector(ceed, CEED_SCALAR_FP32, 3, three);
  CHECK_PRINTS("CeedVector length 3\n  1.0\n  2.5\n  -3.0\n", CeedVectorView(vec, "%.1f", stream));
  CHECK_OK(CeedVectorDestroy(&vec));
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(conversion_rounds_once, conversion_crosses_contexts,
                        conversion_goes_to_infinity_beyond_the_range, conversion_refuses_what_does_not_fit,
                        a_vector_tells_its_precision, a_float_library_refuses_double,
                        arrays_of_float_keep_the_standards_rules, arrays_of_another_precision_are_refused,
                        the_checking_backend_watches_arrays_of_float, algebra_on_floats_is_that_on_doubles,
                        norms_of_floats_are_summed_in_double, vectors_of_two_precisions_do_not_mix,
                        a_vector_of_floats_is_shown));
}
