// SPDX-License-Identifier: BSD-2-Clause
// What solvers need of vectors beyond the Ceed API: products, sums of several vectors, sets of entries,
// numbers that stay where the vectors are.
//
// All functions work where the vectors' context computes: on its threads, or on its device. Vectors of a call
// belong to one context and have one length (else CEED_ERROR_DIMENSION) and one precision (ritz/precision.h;
// else CEED_ERROR_INCOMPATIBLE), which may be either. Products are summed up in double with compensation:
// their relative error does not grow with the length. They repeat bit for bit for a fixed number of threads.
#ifndef RITZ_VECTOR_H
#define RITZ_VECTOR_H

#include <ceed.h>
#include <stdint.h>

// What an access to a vector's array allows.
typedef enum {
  RITZ_ACCESS_READ,
  RITZ_ACCESS_WRITE, // contents unspecified on entry
  RITZ_ACCESS_READ_WRITE,
} RitzAccess;

// What is made of numbers of several parts of a problem (ritz/exchange.h).
typedef enum {
  RITZ_REDUCTION_SUM,
  RITZ_REDUCTION_MAX,
} RitzReduction;
// values[i] becomes the sum, or the largest, of values[i] of all parts. Any other result than 0 is an error.
typedef int (*RitzReduceFunction)(void *ctx, RitzReduction kind, CeedInt num, double values[]);

// ---- Products ----

// *result = x . y; x and y may be the same.
CEED_EXTERN int RitzVectorDot(CeedVector x, CeedVector y, double *result);
// The same over the entries first .. first + num - 1.
CEED_EXTERN int RitzVectorDotRange(CeedVector x, CeedVector y, CeedSize first, CeedSize num, double *result);
// results[i] = x[i] . y in one pass over y (as many as fit in a pass), i < num.
CEED_EXTERN int RitzVectorDots(CeedInt num, const CeedVector x[], CeedVector y, double results[]);

// ---- Sums of vectors: one whose factor is zero is left out, whatever it holds ----

// w = alpha x + beta y; w may be x or y. beta = 0: y is not read, and may be w or CEED_VECTOR_NONE.
CEED_EXTERN int RitzVectorSum(CeedVector w, double alpha, CeedVector x, double beta, CeedVector y);
// y += sum of alpha[i] x[i], i < num, in one pass over y (as many as fit in a pass). No x[i] is y.
CEED_EXTERN int RitzVectorAXPYs(CeedVector y, CeedInt num, const double alpha[], const CeedVector x[]);
// y_i += alpha d_i x_i for all entries in one pass: the diagonal matrix d times x, 4 vectors of memory
// traffic. d and x may be the same vector; neither is y (CEED_ERROR_INCOMPATIBLE).
CEED_EXTERN int RitzVectorAddProduct(CeedVector y, double alpha, CeedVector d, CeedVector x);
// to[first_to + i] = from[first_from + i], i < num; from and to differ, and may differ in length. `to` needs
// values, unless all of its entries are written.
CEED_EXTERN int RitzVectorCopyRange(CeedVector from, CeedSize first_from, CeedSize num, CeedVector to,
                                    CeedSize first_to);

// ---- Sets of entries ----

// Entries of vectors, ascending, each once: Dirichlet entries, for example. Immutable; serves vectors of all
// contexts. Memory: 8 bytes an entry, as much again on a device from the first use there on.
typedef struct RitzIndices_private *RitzIndices;

// Of num entries in any order, copied, duplicates dropped. Negative ones are CEED_ERROR_DIMENSION.
CEED_EXTERN int RitzIndicesCreate(Ceed ceed, int64_t num, const int64_t *entries, RitzIndices *indices);
CEED_EXTERN int RitzIndicesReferenceCopy(RitzIndices indices, RitzIndices *copy);
CEED_EXTERN int RitzIndicesDestroy(RitzIndices *indices);
// entries belongs to the object. Either pointer may be NULL.
CEED_EXTERN int RitzIndicesGet(RitzIndices indices, int64_t *num, const int64_t **entries);
// vec[i] = value for all entries i of the set (NULL: none). Entries beyond the end: CEED_ERROR_DIMENSION.
CEED_EXTERN int RitzVectorSetEntries(CeedVector vec, RitzIndices indices, double value);
// vec[i] = values[k] for the k-th entry i of the set (NULL: none), in ascending order: values that are given
// on a boundary, for example. values [num of the set]: an array of the host, converted to the vector's
// precision; where the vector is on a device, values alone are copied there. Errors: as RitzVectorSetEntries.
CEED_EXTERN int RitzVectorSetEntryValues(CeedVector vec, RitzIndices indices, const CeedScalar values[]);
// to[i] = from[i] for all entries i of the set (NULL: none).
CEED_EXTERN int RitzVectorCopyEntries(CeedVector from, RitzIndices indices, CeedVector to);

// ---- Numbers that stay where the vectors are ----

// An array of doubles in the context's memory, zeros at first. Results of products go there, factors of sums
// come from there, so that nobody waits for a device between two passes.
typedef struct RitzScalars_private *RitzScalars;

// num >= 0 zeros. CEED_ERROR_DIMENSION: num < 0.
CEED_EXTERN int RitzScalarsCreate(Ceed ceed, CeedInt num, RitzScalars *scalars);
CEED_EXTERN int RitzScalarsDestroy(RitzScalars *scalars);
// values[i] = number first + i, i < num; waits for what computes it.
CEED_EXTERN int RitzScalarsGet(RitzScalars scalars, CeedInt first, CeedInt num, double values[]);
CEED_EXTERN int RitzScalarsSet(RitzScalars scalars, CeedInt first, CeedInt num, const double values[]);
// Number k = x . y.
CEED_EXTERN int RitzVectorDotTo(CeedVector x, CeedVector y, RitzScalars scalars, CeedInt k);
// y = f x + g y, where f is sign times number a, divided by number b (b = -1: undivided), likewise g; a = -1:
// the factor is sign itself. Divisors are squares or energies: where one is not positive, and where the
// quotient is not finite, the factor is zero.
typedef struct {
  CeedInt a, b;
  double sign;
} RitzFactor;
CEED_EXTERN int RitzVectorAXPBYBy(CeedVector y, RitzScalars scalars, RitzFactor f, CeedVector x,
                                  RitzFactor g);

#endif
