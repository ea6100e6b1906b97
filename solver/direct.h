// SPDX-License-Identifier: BSD-2-Clause
// Assembled matrices of coarse problems, and the ways to factorize them: one table of methods each. Used by
// direct*.c only; direct.c chooses among them and makes a preconditioner of the choice.
#ifndef RITZ_SOLVER_DIRECT_H
#define RITZ_SOLVER_DIRECT_H

#include <ritz/assembly.h>
#include <ritz/preconditioner.h>

#include "base/error.h"
#include "base/memory.h"

// The call that messages begin with.
#define RITZ_DIRECT_CALL "RitzPreconditionerCreateDirect"

// ---- Matrix ----

// Rows and columns of the entries that are not constrained, the unknowns, by rows.
typedef struct {
  Ceed ceed;        // borrowed
  CeedSize length;  // of L-vectors
  int64_t n;        // unknowns
  int64_t *entries; // owned, [n]: their places in L-vectors, ascending
  int64_t *starts;  // owned, [n + 1]
  int64_t *cols;    // owned, [starts[n]], ascending in each row
  double *values;   // owned, [starts[n]]
  CeedInt num_comp; // of the active field, where all unknowns have one
  CeedInt comp_stride;
  int64_t asymmetric;      // a row that differs from its column, -1: none does
  double seconds_pattern;  // how long it took
  double seconds_elements; // the same of its values
} RitzMatrix;

// Places of the unknowns alone; `constraints` are below the length, or NULL.
int ritz_matrix_number(Ceed ceed, CeedSize length, RitzIndices constraints, RitzMatrix *matrix);
// Components of a node in op.
int ritz_matrix_find_components(CeedOperator op, RitzMatrix *matrix);
// The rest, anew where it is there. Entries that are not finite are MAJOR.
int ritz_matrix_assemble(RitzAssembly assembly, RitzMatrix *matrix);
// Checks rows that are there: looks for values that are not finite, and for asymmetry.
int ritz_matrix_check(RitzMatrix *matrix);
void ritz_matrix_free_values(RitzMatrix *matrix); // but not the places
void ritz_matrix_free(RitzMatrix *matrix);
// y := A x for n unknowns.
void ritz_matrix_apply(const RitzMatrix *matrix, const double *x, double *y);
double ritz_direct_seconds(void); // of a clock that only goes forward

// ---- Nullspace ----

// Orthonormal basis z, and as many unknowns at which it determines a combination. The matrix plus a positive
// diagonal on these is definite, and its inverse applied to a vector orthogonal to the nullspace gives a
// solution that is zero there: A x = r exactly.
typedef struct {
  CeedInt num;
  double *basis;   // owned, [num][n]
  int64_t *pinned; // owned, [num]: unknowns
} RitzPinned;

// Vectors of the length of L-vectors, of either precision. Linearly dependent ones, or one that the matrix
// does not annihilate: INCOMPATIBLE. Adds to the diagonal.
// Vectors that are none, or not of this length.
int ritz_nullspace_check(Ceed ceed, CeedInt num, const CeedVector *vectors, CeedSize length);
// CEED_ERROR_INCOMPATIBLE: the operator without constrained entries does not make zeros of them.
int ritz_nullspace_check_applied(CeedOperator op, RitzIndices constraints, CeedInt num,
                                 const CeedVector *vectors);
int ritz_pinned_create(CeedInt num, const CeedVector *vectors, RitzMatrix *matrix, RitzPinned *pinned);
// The same basis for new values of the matrix.
int ritz_pinned_renew(const RitzPinned *pinned, RitzMatrix *matrix);
void ritz_pinned_free(RitzPinned *pinned);
// x -= its part in the nullspace, n unknowns.
void ritz_pinned_project(const RitzPinned *pinned, int64_t n, double *x);

// ---- Factorizations ----

typedef enum {
  RITZ_REFUSED_NOT,      // it is factorized
  RITZ_REFUSED_MATRIX,   // not symmetric, not definite, singular
  RITZ_REFUSED_TOO_LONG, // more than max_flops
} RitzRefusal;

typedef struct RitzDirectMethods RitzDirectMethods;
typedef struct {
  const RitzDirectMethods *methods;
  const RitzMatrix *matrix; // borrowed; its values are there during `factorize`, later where it keeps them
  double max_flops;         // more, where they are known beforehand, are refused; 0: none are
  bool for_updates;         // what `refactorize` needs is kept
  RitzRefusal refusal;      // `words` say why
  char words[256];          // else what it is, for people
  bool keeps_matrix;        // solve needs its values, on the host; `apply` does not serve
  bool computes_in_context; // else on the host
  double num_nonzeros;      // of the factors
  int64_t num_bytes;        // that are kept, of the matrix none
  void *data;               // owned by the methods
} RitzFactorization;

struct RitzDirectMethods {
  RitzDirectKind kind;
  bool is_symmetric;            // a symmetric definite method for symmetric definite matrices alone
  bool is_indefinite;           // for symmetric matrices that may be definite or not
  const char *(*why_not)(void); // static words; NULL: it can be used
  int (*factorize)(RitzFactorization *f);
  // Optional, of what was factorized for updates: numbers alone, for new values in the pattern of the matrix,
  // which is there again. Works also after a refusal of itself.
  int (*refactorize)(RitzFactorization *f);
  int (*solve)(RitzFactorization *f, const double *b, double *x); // b and x differ, n unknowns
  // Optional, for `num` L-vectors in the context's memory; entries of z that are no unknowns are left alone.
  int (*apply)(RitzFactorization *f, CeedScalarType type, int num, const void *const *r, void *const *z);
  void (*destroy)(RitzFactorization *f); // also after a failure of `factorize`
};
extern const RitzDirectMethods ritz_direct_dense, ritz_direct_cholmod, ritz_direct_umfpack, ritz_direct_amg,
    ritz_direct_multifrontal, ritz_direct_ldlt, ritz_direct_lu;

// The matrix is refused because of its unknown i: pivots are not positive.
void ritz_direct_refuse_pivot(RitzFactorization *f, int64_t i);

#endif
