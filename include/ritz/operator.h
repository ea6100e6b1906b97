// SPDX-License-Identifier: BSD-2-Clause
// What Ritz adds to CeedOperator: a look at what runs, assembly into compressed sparse rows.
#ifndef RITZ_OPERATOR_H
#define RITZ_OPERATOR_H

#include <ceed.h>
#include <stdint.h>
#include <stdio.h>

// Tells in lines for people how an operator runs on its backend: which kernel and why no better one, the plan
// with its bases, spaces and fields, its costs per element (flops, bytes). Of a composite: of all
// sub-operators. Makes the kernel if no apply has done so yet. Errors: those of CeedOperatorCheckReady and of
// compilation under RITZ_STRICT.
CEED_EXTERN int RitzOperatorExplain(CeedOperator op, FILE *stream);

// The source text of the kernel that was generated for a single operator, as it was given to the compiler;
// NULL where none was generated. Valid while the operator lives; not to be freed. Makes the kernel like
// RitzOperatorExplain. A composite is CEED_ERROR_INCOMPATIBLE: ask for its sub-operators.
CEED_EXTERN int RitzOperatorGetSource(CeedOperator op, const char **source);

// Pattern of the matrix of a linear operator (single or composite; the fields must live on nodes). Row r
// holds the columns cols[row_starts[r]] ... cols[row_starts[r+1] - 1], ascending, each once: every pair of
// L-vector entries that an element couples. num_rows is the length of the active output, *num_cols that of
// the active input; rows that no element touches are empty. row_starts [num_rows + 1] and cols
// [row_starts[num_rows]] are new arrays, to be freed by the caller with free(). Temporary memory: 16 bytes
// per element, node and component. Errors: those of CeedOperatorLinearAssembleSymbolic.
CEED_EXTERN int RitzOperatorAssembleCSRSymbolic(CeedOperator op, CeedSize *num_rows, CeedSize *num_cols,
                                                int64_t **row_starts, int64_t **cols);

// Values of the matrix in the pattern of RitzOperatorAssembleCSRSymbolic for the same operator: values
// [row_starts[num_rows]] are overwritten. Contributions are added in a fixed order, so results are
// reproducible bit by bit. May be called any number of times as passive vectors and contexts change.
// Temporary memory: a few element matrices. An entry outside the pattern is CEED_ERROR_INCOMPATIBLE.
CEED_EXTERN int RitzOperatorAssembleCSR(CeedOperator op, const int64_t *row_starts, const int64_t *cols,
                                        CeedVector values);

#endif
