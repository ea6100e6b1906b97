// SPDX-License-Identifier: BSD-2-Clause
// What the files of CeedOperator share among themselves.
#ifndef RITZ_CORE_OPERATOR_H
#define RITZ_CORE_OPERATOR_H

#include "core/core.h"

// A single operator without fields; `call` is named in messages.
int ritz_operator_create(Ceed ceed, const char *call, CeedQFunction qf, CeedQFunction dqf, CeedQFunction dqfT,
                         CeedOperator *op);
// CEED_ERROR_MINOR unless the operator is (or is not) a composite.
int ritz_operator_require_composite(CeedOperator op, const char *call, bool is_composite);
// Lengths of a composite's active vectors from its parts; CEED_ERROR_MAJOR when they disagree.
int ritz_operator_update_sizes(CeedOperator op, const char *call);

// The parts of v = E_out^T B_out^T diag(E_factor factor) B_in E_in u, all borrowed. A basis CEED_BASIS_NONE
// is the identity; the factor has one entry for each component at each point.
typedef struct {
  CeedElemRestriction rstr_in, rstr_factor, rstr_out;
  CeedBasis basis_in, basis_out;
  CeedVector factor;        // in CeedScalar
  CeedScalarType precision; // of the operator, which keeps a copy of the factor in it
} RitzScale;
// A ready operator without a name. Its fields are "input", "scale" and "output", its QFunction is the
// gallery's "Scale".
int ritz_operator_create_scale(Ceed ceed, const RitzScale *scale, CeedOperator *op);
// The apply family, under the name of the public function that was called.
int ritz_operator_apply(CeedOperator op, const char *call, CeedVector in, CeedVector out, RitzApplyMode mode,
                        CeedRequest *request);
// Its parts. What it refuses before anything is written: vectors may be anything, NULL, too.
int ritz_operator_check_apply(CeedOperator op, const char *call, CeedVector in, CeedVector out,
                              RitzApplyMode mode);
// The apply of any ready operator to checked vectors.
int ritz_operator_run_any(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode);
// Called before and after a failure: outputs that were touched have no values then.
void ritz_operator_note_outputs(CeedOperator op, CeedVector out);
void ritz_operator_forget_outputs(CeedOperator op, CeedVector out);
// INCOMPATIBLE: what an assembly is to write is a vector that the operator reads, or lies in its memory.
int ritz_operator_check_assembled(CeedOperator op, const char *call, CeedVector values);
// ---- Precision ----
// The operator or its variant for active vectors of these precisions.
int ritz_operator_variant(CeedOperator op, CeedScalarType in, CeedScalarType out, CeedOperator *variant);
void ritz_operator_free_variants(CeedOperator op);
// The operator or variant that serves these active vectors.
int ritz_operator_variant_for(CeedOperator op, CeedVector in, CeedVector out, CeedOperator *variant);
// Whether the slots of the backend serve an operator or variant as it is. in: the active input, or
// CEED_VECTOR_NONE.
int ritz_variant_is_supported(CeedOperator variant, CeedVector in, bool *is_supported);
// Both for the active vectors of an apply.
int ritz_operator_find(CeedOperator op, CeedVector in, CeedVector out, CeedOperator *variant,
                       bool *is_supported);
// Precisions of an operator or variant: "FP32", "FP32, FP64 to FP32" (of arithmetic, active input and
// output); NULL where all are the library's own.
const char *ritz_operator_precisions(CeedOperator op);
// Whether all of an operator or variant is in CeedScalar.
bool ritz_variant_is_in_scalars(CeedOperator variant);
// Whether some passive vector, or the points' coordinates, are not in CeedScalar.
bool ritz_operator_has_other_precisions(CeedOperator op);
// Calls the slot of the backend; counted in the timing table.
int ritz_operator_run_slot(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode);

// An operator that computes the same in CeedScalar: op itself, or one that it keeps, with copies of the
// passive vectors that have another precision. The copies of inputs are up to date.
int ritz_operator_stand_in(CeedOperator op, CeedOperator *stand_in);
void ritz_operator_free_stand_in(CeedOperator op);
int ritz_operator_strip_stand_in(CeedOperator op); // CeedOperatorAssemblyDataStrip
// Applies it between conversions.
int ritz_operator_run_stand_in(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode);
void ritz_operator_free_reducer(CeedOperator op); // what RitzOperatorReduce keeps
// A vector in CeedScalar in the place of one that may have another precision: itself, or work memory, with
// its values if they are `read`. The end writes them back where `ierr`, the code of what was done with them,
// is 0.
int ritz_vector_begin_scalars(CeedOperator op, CeedVector vec, bool reads, CeedVector *scalars);
int ritz_vector_end_scalars(CeedOperator op, CeedVector vec, bool writes, CeedVector *scalars, int ierr);

// ---- Element matrices by columns (core/assembly-columns.c) ----
typedef struct {
  CeedOperator twin;  // owned: from and to E-vectors [element][component][node]
  CeedVector in, out; // owned
  CeedInt num;        // columns: nodes times components of the input
  CeedInt column;     // the last one
} RitzColumns;
// Whether that is possible for an operator in CeedScalar with groups, and sooner done than element by element
// on the host (or RITZ_STRICT wants kernels). It depends on the operator and its context alone. Never on
// devices, which have kernels of element matrices: there *is_possible says that elements are so few that the
// host has assembled them sooner than a kernel is compiled.
bool ritz_columns_serve(CeedOperator op, bool *is_possible);
int ritz_columns_open(CeedOperator op, RitzColumns *c);
// The next column of all elements, [element][component][node] of the output, to be given back with `done`.
int ritz_columns_next(RitzColumns *c, const CeedScalar **values);
int ritz_columns_done(RitzColumns *c, const CeedScalar **values);
void ritz_columns_close(RitzColumns *c);

// Whether assembly reads the assembled QFunction that is kept: points that are listed twice have no place for
// two derivatives there, and are computed anew.
int ritz_operator_is_reused(CeedOperator op, bool *is_reused);
// When the assembled QFunction is to be reused: it exists and is up to date afterwards.
int ritz_operator_update_reused(CeedOperator op, const char *call);

#endif
