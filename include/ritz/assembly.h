// SPDX-License-Identifier: BSD-2-Clause
// Matrices of linear operators in compressed rows, with a pattern that is found once and values that are
// computed again and again.
//
//     RitzAssemblyCreate(op, &assembly);                      // symbolic, once
//     RitzAssemblyGetPattern(assembly, &num_rows, &num_cols, &row_starts, &cols);
//     CeedVectorCreate(ceed, row_starts[num_rows], &values);
//     RitzAssemblyRun(assembly, values);                      // numeric, as often as coefficients change
//
// Row r holds the columns cols[row_starts[r]] ... cols[row_starts[r + 1] - 1], ascending, each once: every
// pair of L-vector entries that an element couples. Rows that no element touches are empty. Operators are
// single or composite, of any number of components and active fields, square or not, on restrictions of all
// kinds that CeedOperatorLinearAssemble serves; the fields must live on nodes. As there, active inputs (or
// outputs) with one basis handle are all taken to be on the restriction of the first of them: fields on
// different restrictions need basis handles of their own.
//
// Memory of an assembly, besides values (8 bytes a nonzero in double): 8 bytes a nonzero and 8 a row for the
// pattern; for each entry of each element matrix its place in the row, 1 byte where no row is longer than
// 256, 2 up to 65536, else 4. On /cpu/self/gen 10 bytes a row, about 8 a batch of elements (4 to 16), and the
// matrices of one batch a thread. On devices the places again, in their memory, and 4 bytes for each row of
// an element matrix (8 beyond 2^31 nonzeros).
//
// Results have the same bits in every run with the same values of passive vectors and contexts: contributions
// to a nonzero are added in a fixed order, which does not depend on the number of threads; on devices where
// the context is deterministic, else by atomic additions. With RITZ_USE_NO_WAIT last bits change once, when
// the kernels are there.
#ifndef RITZ_ASSEMBLY_H
#define RITZ_ASSEMBLY_H

#include <ceed.h>
#include <stdint.h>

typedef struct RitzAssembly_private *RitzAssembly;

// Finds the pattern, and where entries of element matrices go in it. The operator is counted, and no field
// may be set in it any more. Temporary memory: 16 bytes per element, node and component, 8 bytes per column.
// Errors: those of CeedOperatorLinearAssembleGetNumEntries.
CEED_EXTERN int RitzAssemblyCreate(CeedOperator op, RitzAssembly *assembly);
CEED_EXTERN int RitzAssemblyDestroy(RitzAssembly *assembly);

// num_rows: length of the active output; num_cols: of the active input. row_starts [num_rows + 1] and cols
// [row_starts[num_rows]] are the assembly's, valid while it lives, not to be written. Any may be NULL.
CEED_EXTERN int RitzAssemblyGetPattern(RitzAssembly assembly, CeedSize *num_rows, CeedSize *num_cols,
                                       const int64_t **row_starts, const int64_t **cols);

// values: at least row_starts[num_rows] entries, of which these are overwritten, of any precision; computed
// in CeedScalar. With values of passive vectors and contexts as they are now. By generated kernels on
// /cpu/self/gen, on all threads, and on devices; the first run makes them (RitzOperatorsPrepare does not). On
// /cpu/self/gen with RITZ_USE_ONCE, and with RITZ_USE_NO_WAIT until a compiler has done its work, by the
// reference backend without a warning.
//
// Where there are no kernels (on processors curl-oriented active restrictions, no text of the QFunction, an
// assembled QFunction that is reused; on devices oriented active restrictions, so many fields that the
// derivatives at a point do not fit the memory of a block, tables of bases beyond 256 MiB; of a composite,
// parts of other contexts) and on other backends: from the element matrices of CeedOperatorLinearAssemble, on
// processors also from applications to unit vectors of elements. Temporary memory there: half a megabyte or
// one element matrix, by unit vectors up to 16 columns of all element matrices.
//
// Errors: CEED_ERROR_DIMENSION (values are too short); those of CeedOperatorApply.
CEED_EXTERN int RitzAssemblyRun(RitzAssembly assembly, CeedVector values);

#endif
