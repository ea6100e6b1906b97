// SPDX-License-Identifier: BSD-2-Clause
// Passes: several sums and products of vectors in one sweep over their entries, what iterations are made of.
// Called by solver/ and by core/vector-pass.c for ritz/vector.h; served by the slots vector_pass,
// vector_pass_scalars of backends, where every vector of a pass comes from memory once.
//
// A pass is lines, done one after the other for each entry, and then sums over all entries:
//
//     v[to] = sum over the terms of factor * v[x] (* v[y])
//     sum   = sum over the entries of v[x] v[y] (v[w])
//
// A line may read what an earlier one has written. Vectors are told apart by number; two numbers never stand
// for one vector. What is read before a line has written it needs values.
#ifndef RITZ_CORE_VECTOR_PASS_H
#define RITZ_CORE_VECTOR_PASS_H

#include <ritz/vector.h>

enum { RITZ_PASS_VECTORS = 10, RITZ_PASS_LINES = 6, RITZ_PASS_TERMS = 4, RITZ_PASS_SUMS = 8 };
enum { RITZ_PASS_NONE = -1 }; // no such vector; as a factor: one

typedef struct {
  int factor; // index into the factors of the call, RITZ_PASS_NONE: 1
  int x, y;   // y RITZ_PASS_NONE: v[x] alone
} RitzPassTerm;

typedef struct {
  int to, num_terms;
  RitzPassTerm term[RITZ_PASS_TERMS];
} RitzPassLine;

typedef struct {
  int x, y, w; // w RITZ_PASS_NONE: v[x] v[y] alone
} RitzPassSum;

// The form of a pass; static, the same address for the same form (devices compile it once).
typedef struct {
  const char *name; // an identifier, for kernels and the timing table
  int num_vectors, num_lines, num_sums;
  RitzPassLine line[RITZ_PASS_LINES];
  RitzPassSum sum[RITZ_PASS_SUMS];
} RitzPass;

// Runs a pass over all entries. Vectors: of one context and length, each of its own precision; arithmetic in
// float where all are float, else in double. factors: as many as the lines use; sums [num_sums], NULL where
// there are none.
int ritz_pass_run(const RitzPass *pass, const CeedVector v[], const double factors[], double sums[]);
// The same with factors from, and sums into, numbers in the context's memory: sum i becomes number first_sum
// + i. The host does not wait.
int ritz_pass_run_by(const RitzPass *pass, const CeedVector v[], RitzScalars scalars,
                     const RitzFactor factors[], CeedInt first_sum);

#endif
