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
// A line may read what an earlier one has written; one without terms writes zeros. A term whose factor is
// zero is left out, whatever its vectors hold. Vectors are told apart by number; two numbers stand for one
// vector only where both are read alone. What is read before a line has written it needs values.
#ifndef RITZ_CORE_VECTOR_PASS_H
#define RITZ_CORE_VECTOR_PASS_H

#include <ritz/vector.h>

#include "core/core.h"

enum { RITZ_PASS_VECTORS = 10, RITZ_PASS_LINES = 6, RITZ_PASS_TERMS = 4, RITZ_PASS_SUMS = 8 };
enum { RITZ_PASS_NONE = -1 }; // no such vector; as a factor: one
enum { RITZ_PASS_FACTORS = RITZ_PASS_LINES * RITZ_PASS_TERMS };

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
struct RitzPass {
  const char *name; // an identifier, for kernels
  int num_vectors, num_lines, num_sums;
  RitzPassLine line[RITZ_PASS_LINES];
  RitzPassSum sum[RITZ_PASS_SUMS];
};

// Runs a pass over all entries. Vectors: of one context and length, each of its own precision; arithmetic in
// float where all are float, else in double. factors: as many as the lines use; sums [num_sums], NULL where
// there are none.
int ritz_pass_run(const RitzPass *pass, const CeedVector v[], const double factors[], double sums[]);
// Runs a pass over the first n entries of vectors that may be longer; their other entries stay as they are.
int ritz_pass_run_first(const RitzPass *pass, CeedSize n, const CeedVector v[], const double factors[],
                        double sums[]);
// The first for a public function, which messages name in place of the pass.
int ritz_pass_run_for(const char *call, const RitzPass *pass, const CeedVector v[], const double factors[],
                      double sums[]);
// The first with factors from, and sums into, numbers in the context's memory: sum i becomes number first_sum
// + i. The host does not wait.
int ritz_pass_run_by(const RitzPass *pass, const CeedVector v[], RitzScalars scalars,
                     const RitzFactor factors[], CeedInt first_sum);
int ritz_pass_run_by_for(const char *call, const RitzPass *pass, const CeedVector v[], RitzScalars scalars,
                         const RitzFactor factors[], CeedInt first_sum);
// ritz_pass_run_by whose sums are those of this part alone until ritz_scalars_sum.
int ritz_pass_run_by_alone(const RitzPass *pass, const CeedVector v[], RitzScalars scalars,
                           const RitzFactor factors[], CeedInt first_sum);
// values[i]: number first + i, summed over all parts, all by one reduction and with one wait of the host. The
// numbers in the context's memory have no meaning afterwards.
int ritz_scalars_sum(RitzScalars scalars, CeedInt first, CeedInt num, double values[]);

// Sets how sums in this context are made from now on, and says how they were: what was set before is to come
// back.
RitzSums ritz_sums_set(Ceed ceed, const RitzSums *sums);
// Numbers of this part of a larger problem become those of the whole, where a solver of it runs in this
// context; else they stay.
int ritz_reduce(Ceed ceed, RitzReduction kind, CeedInt num, double values[]);

// A pass with the precisions of its vectors: what a device has a kernel for.
struct RitzPassForm {
  const RitzPass *pass;
  CeedScalarType precision[RITZ_PASS_VECTORS]; // those after the last vector are zero
};
// All vectors of one precision.
RitzPassForm ritz_pass_form(const RitzPass *pass, CeedScalarType precision);
// Tells the context what will be run: devices begin to make the kernels, side by side with what the caller
// does next; first uses wait. What cannot be made is no error here. Nothing on hosts.
int ritz_passes_prepare(Ceed ceed, int num, const RitzPassForm forms[]);

// A list of forms, each of them once.
enum { RITZ_PASS_FORMS = 32 };
typedef struct {
  int num;
  RitzPassForm form[RITZ_PASS_FORMS];
} RitzPassForms;
void ritz_pass_forms_add(RitzPassForms *forms, RitzPassForm form);

// Passes of ritz/vector.h that methods are made of.
typedef enum {
  RITZ_SUM_DOT,      // RitzVectorDot of two vectors
  RITZ_SUM_SQUARE,   // of a vector with itself
  RITZ_SUM_AXPY,     // RitzVectorAXPYs of one vector
  RITZ_SUM_UPDATE,   // RitzVectorSum where the result is one of two vectors
  RITZ_SUM_MULTIPLE, // of one vector
  RITZ_SUM_SCALING,  // of the result itself
  RITZ_SUM_DOTS_2,   // RitzVectorDots, which takes 8, 4, 2 and 1 vectors at a time
  RITZ_SUM_DOTS_4,
  RITZ_SUM_DOTS_8,
  RITZ_SUM_AXPYS_2, // RitzVectorAXPYs, the same
  RITZ_SUM_AXPYS_4,
  RITZ_SUM_AXPYS_8
} RitzVectorSumKind;
const RitzPass *ritz_vector_sum_pass(RitzVectorSumKind kind);
// The forms of products with, and sums of, `num` vectors; `or_fewer`: of any number up to that.
void ritz_pass_forms_add_many(RitzPassForms *forms, CeedInt num, bool or_fewer, CeedScalarType precision);

// ---- Numbers that are read while work goes on ----

// Notes the moment. *is_marked false: this context cannot tell moments apart (hosts, devices of one queue).
int ritz_scalars_mark(RitzScalars scalars, bool *is_marked);
// RitzScalarsGet as of the last mark, which waits for what was queued before it alone. What comes after must
// not write to these numbers.
int ritz_scalars_get_marked(RitzScalars scalars, CeedInt first, CeedInt num, double values[]);

// ---- For core/ and backends ----

// The number of factors that the lines name.
int ritz_pass_num_factors(const RitzPass *pass);
// How a pass uses a vector: WRITE where a line writes it before anything reads it.
RitzAccess ritz_pass_access(const RitzPass *pass, int vector);
// The value of a factor. largest: the largest finite number of the arithmetic.
double ritz_factor_value(const RitzFactor *factor, const double *scalars, double largest);

// A pass as a backend runs it: the entries first .. first + n - 1 of arrays in the memory where it computes.
struct RitzPassArrays {
  const RitzPass *pass;
  CeedSize first, n;
  CeedScalarType precision[RITZ_PASS_VECTORS];
  void *array[RITZ_PASS_VECTORS];
};
// Whether its arithmetic is in float.
bool ritz_pass_is_single(const RitzPassArrays *arrays);

struct RitzScalars_private {
  const RitzClass *class;
  Ceed ceed; // counted
  CeedInt num;
  double *values; // owned, in the memory where the context computes
};
// CEED_ERROR_DIMENSION unless there are these numbers.
int ritz_scalars_require(RitzScalars scalars, const char *call, CeedInt first, CeedInt num);

// Copies of the list of entries in the memory of a context that computes on a device.
typedef struct {
  Ceed ceed;        // counted
  int64_t *entries; // owned, in device memory
} RitzIndicesCopy;
struct RitzIndices_private {
  const RitzClass *class;
  Ceed ceed; // counted
  int ref_count;
  int64_t num;
  int64_t *entries; // owned, ascending
  int num_copies;
  RitzIndicesCopy *copies; // owned
};
// *entries: where vec's context computes. CEED_ERROR_DIMENSION when some lie beyond the end of vec.
int ritz_indices_for(RitzIndices indices, const char *call, CeedVector vec, const int64_t **entries);

// Locks and unlocks vectors where their context computes: all or none of them.
int ritz_pass_lock(const RitzPass *pass, const char *call, const CeedVector v[], RitzPassArrays *arrays);
int ritz_pass_unlock(const CeedVector v[], RitzPassArrays *arrays, int ierr);
// The slot vector_pass, in the timing table where there is one.
int ritz_pass_call(Ceed ceed, const RitzPassArrays *arrays, const double *factors, double *sums);

#endif
