// SPDX-License-Identifier: BSD-2-Clause
// A matrix-vector product for every element, y_e = A_e x_e, as programs do that keep element matrices: bound
// by the memory that the matrices are read from.
//
//     products [RESOURCE] [ELEMENTS] [ORDER]       /cpu/self 20000 24;  4000000 24 takes 18.4 GB
//
// Exit status: 1 where a product is wrong.
#include "example.h"

enum { SAMPLE = 500 }; // elements with numbers of their own; the others repeat them

// Fills vec with `block` over and over, within the context's memory.
static void repeat(CeedVector block, CeedVector vec) {
  CeedSize num, length;

  MUST(CeedVectorGetLength(block, &num));
  MUST(CeedVectorGetLength(vec, &length));
  MUST(CeedVectorSetValue(vec, 0));
  for (CeedSize first = 0; first < length; first += num)
    MUST(RitzVectorCopyRange(block, 0, length - first < num ? length - first : num, vec, first));
}

static CeedVector random_vector(Ceed ceed, CeedSize length, uint64_t seed) {
  CeedVector vec = example_vector(ceed, length);
  CeedScalar *values;

  MUST(CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &values));
  for (CeedSize i = 0; i < length; i++) values[i] = example_random(&seed);
  MUST(CeedVectorRestoreArray(vec, &values));
  return vec;
}

// The largest error of the last element's product, in units of rounding.
static double error_of(CeedVector blocks, CeedVector inputs, CeedVector y, CeedSize last, int n) {
  const CeedSize sample = last % SAMPLE;
  const CeedScalar *A, *x, *found;
  Ceed ceed;
  double error = 0;

  MUST(CeedVectorGetCeed(y, &ceed));
  CeedVector column = example_vector(ceed, n);
  MUST(CeedDestroy(&ceed));
  MUST(RitzVectorCopyRange(y, last * n, n, column, 0));
  MUST(CeedVectorGetArrayRead(blocks, CEED_MEM_HOST, &A));
  MUST(CeedVectorGetArrayRead(inputs, CEED_MEM_HOST, &x));
  MUST(CeedVectorGetArrayRead(column, CEED_MEM_HOST, &found));
  for (int r = 0; r < n; r++) {
    double sum = 0, size = 0;
    for (int c = 0; c < n; c++) {
      const double term = (double)A[sample * n * n + r + c * n] * (double)x[sample * n + c];
      sum += term;
      size += fabs(term);
    }
    error = fmax(error, fabs((double)found[r] - sum) / size / example_epsilon());
  }
  MUST(CeedVectorRestoreArrayRead(blocks, &A));
  MUST(CeedVectorRestoreArrayRead(inputs, &x));
  MUST(CeedVectorRestoreArrayRead(column, &found));
  MUST(CeedVectorDestroy(&column));
  return error;
}

// Seconds of a product of all elements.
static double time_products(RitzBatched gemv, int64_t count, CeedVector A, CeedVector x, CeedVector y,
                            CeedVector one) {
  RitzBatchArray a = example_array(A, RITZ_ACCESS_READ), b = example_array(x, RITZ_ACCESS_READ);
  RitzBatchArray c = example_array(y, RITZ_ACCESS_WRITE);
  double best = INFINITY;

  for (int times = 0; times < 5; times++) {
    const double start = example_seconds(one);
    MUST(RitzGemvBatched(gemv, count, 1, &a, &b, 0, &c));
    best = fmin(best, example_seconds(one) - start);
  }
  MUST(RitzBatchArrayRestoreVector(&a));
  MUST(RitzBatchArrayRestoreVector(&b));
  MUST(RitzBatchArrayRestoreVector(&c));
  return best;
}

int main(int argc, char **argv) {
  const int64_t count = example_number(argc, argv, 2, 20000);
  const int n = (int)example_number(argc, argv, 3, 24);
  const RitzBatchLayout matrix = {.precision = CEED_SCALAR_TYPE, .m = n, .n = n};
  const RitzBatchLayout column = {.precision = CEED_SCALAR_TYPE, .m = n, .n = 1};
  const RitzBatchedOptions options = {.A = matrix, .B = column, .C = column};
  RitzBatched gemv;
  Ceed ceed;

  MUST(CeedInit(argc > 1 ? argv[1] : "/cpu/self", &ceed));
  CeedVector one = example_vector(ceed, 1), blocks = random_vector(ceed, (CeedSize)SAMPLE * n * n, 1);
  CeedVector inputs = random_vector(ceed, (CeedSize)SAMPLE * n, 2);
  CeedVector A = example_vector(ceed, count * n * n), x = example_vector(ceed, count * n);
  CeedVector y = example_vector(ceed, count * n);

  MUST(CeedVectorSetValue(one, 1));
  repeat(blocks, A);
  repeat(inputs, x);
  MUST(RitzBatchedCreate(ceed, RITZ_BATCHED_GEMV, &options, &gemv));
  const double seconds = time_products(gemv, count, A, x, y, one);
  const double error = error_of(blocks, inputs, y, count - 1, n);

  printf("%lld products of order %d\n", (long long)count, n);
  example_print_rate(ceed, "y = A x", seconds, (double)count * n * (n + 2) * sizeof(CeedScalar));
  printf("error %.2g roundings of a sum's terms\n", error);
  MUST(RitzBatchedDestroy(&gemv));
  CeedVectorDestroy(&one), CeedVectorDestroy(&blocks), CeedVectorDestroy(&inputs);
  CeedVectorDestroy(&A), CeedVectorDestroy(&x), CeedVectorDestroy(&y);
  MUST(CeedDestroy(&ceed));
  return error <= n ? 0 : 1; // a rounding a term
}
