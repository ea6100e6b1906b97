// SPDX-License-Identifier: BSD-2-Clause
// The reference backend: short, serial, obviously right. It keeps no data of its own, so every slot also
// serves other host backends. Elements are handled one by one; work memory is that of one element.
#ifndef RITZ_BACKENDS_REF_H
#define RITZ_BACKENDS_REF_H

#include "core/core.h"

extern const RitzBackend ritz_ref_backend;

// ---- restriction.c ----
int ritz_ref_restriction_layout(CeedElemRestriction rstr, CeedInt layout[3]);
int ritz_ref_restriction_apply(CeedElemRestriction rstr, const RitzRestrictionAction *action,
                               CeedScalarType precision, const void *u, void *v);
// One element between its place in the L-vector and an array [num_comp][elem_size] (points: [num_comp][points
// of the element]).
void ritz_ref_gather(CeedElemRestriction rstr, CeedInt elem, const CeedScalar *l_vec, CeedScalar *e_vec);
void ritz_ref_scatter_add(CeedElemRestriction rstr, CeedInt elem, bool use_signs, const CeedScalar *e_vec,
                          CeedScalar *l_vec);
// Entry (i, j), |i - j| <= 1, of the matrix that an oriented restriction applies after the plain gather.
CeedScalar ritz_ref_orientation(CeedElemRestriction rstr, CeedInt elem, CeedInt i, CeedInt j);

// ---- basis.c ----
int ritz_ref_basis_apply(CeedBasis basis, const RitzBasisAction *action, const CeedScalar *u, CeedScalar *v);
// One element: nodal array [num_comp][P], array at the points [q_comp][num_comp][Q] (weights: [Q]).
// Transposed: adds into the nodal array. work: ritz_ref_basis_work_size(basis) entries.
void ritz_ref_basis_element(CeedBasis basis, CeedTransposeMode t_mode, CeedEvalMode mode, const CeedScalar *u,
                            CeedScalar *v, CeedScalar *work);
CeedSize ritz_ref_basis_work_size(CeedBasis basis);

// One-dimensional tables of a tensor action: `special` in the directions `first` and `second` (-1: none),
// `base` in the others; each [Q_1d][P_1d].
typedef struct {
  const CeedScalar *base, *special;
  CeedInt first, second;
} RitzRefTables;
// nc components; forward [nc][P] -> [nc][Q] (overwritten), transposed [nc][Q] -> [nc][P] (added). nc at most
// that of the basis.
void ritz_ref_tensor_evaluate(CeedBasis basis, CeedInt nc, bool transposes, const RitzRefTables *tables,
                              const CeedScalar *u, CeedScalar *v, CeedScalar *work);

// ---- qfunction.c ----
int ritz_ref_qfunction_call(CeedQFunction qf, void *ctx, CeedInt Q, const CeedScalar *const *in,
                            CeedScalar *const *out);
int ritz_ref_qfunction_compile(CeedQFunction qf); // compile.c
int ritz_ref_qfunction_apply(CeedQFunction qf, CeedInt Q, const CeedScalar *const *in,
                             CeedScalar *const *out);

// ---- points.c ----
int ritz_ref_basis_apply_at_points(CeedBasis basis, const RitzBasisAction *action, const CeedInt *num_points,
                                   const CeedScalar *x, const CeedScalar *u, CeedScalar *v);

// ---- operator.c ----
int ritz_ref_operator_apply(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode);

// ---- assembly.c ----
int ritz_ref_operator_assemble_qfunction(CeedOperator op, CeedElemRestriction rstr, CeedScalar *values);
int ritz_ref_operator_assemble_add_diagonal(CeedOperator op, bool is_point_block, void *diagonal);
int ritz_ref_operator_assemble(CeedOperator op, CeedInt a, CeedInt b, CeedInt first_elem, CeedInt num_elem,
                               CeedSize place, CeedScalar *values);

// ---- batched.c ----
int ritz_ref_batched_run(RitzBatched b, const RitzBatchedCall *call);
// Matrices begin .. end - 1 of a call; work: of so many bytes, aligned to numbers, NULL for 0.
size_t ritz_ref_batched_work_bytes(const RitzBatched b);
void ritz_ref_batched_run_part(const RitzBatched b, const RitzBatchedCall *call, int64_t begin, int64_t end,
                               void *work);
int ritz_ref_batched_explain(RitzBatched b, FILE *stream);

// ---- dense.c: the dense solver (core/dense-solver.h), for all backends of the host ----
extern const RitzDenseMethods ritz_ref_dense;

// ---- dense-lapack.c: its factorizations by the LAPACK of the machine ----
// File of the library, static; NULL: there is none that can be used, and *why says so (static).
const char *ritz_lapack_find(const char **why);
// LU with pivots or Cholesky (lower) of F [n][n]; pivots [n]: the row, from 0, that was swapped with row i.
// *bad: number, from 1, of the first pivot that is zero or not finite (LU), or not positive; 0: none. The
// library was found.
int ritz_lapack_factor(Ceed ceed, bool is_symmetric, bool is_double, int64_t n, void *F, int64_t *pivots,
                       int64_t *bad);

// ---- front-tree.c ----
int ritz_ref_front_tree_run(Ceed ceed, const RitzFrontTree *tree, const RitzFrontTreeAction *action);
int ritz_ref_front_prepare(RitzFront front);
int ritz_ref_front_run(RitzFront front, const RitzFrontCall *call);

// ---- vector.c ----
int ritz_ref_vector_set_value(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar value, void *x);
int ritz_ref_vector_set_value_strided(Ceed ceed, CeedScalarType precision, CeedSize start, CeedSize stop,
                                      CeedSize step, CeedScalar value, void *x);
int ritz_ref_vector_copy_strided(Ceed ceed, CeedScalarType precision, CeedSize start, CeedSize stop,
                                 CeedSize step, const void *x, void *y);
int ritz_ref_vector_norm(Ceed ceed, CeedScalarType precision, CeedSize n, CeedNormType type, const void *x,
                         CeedScalar *norm);
int ritz_ref_vector_scale(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar alpha, void *x);
int ritz_ref_vector_filter(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar threshold, void *x);
int ritz_ref_vector_axpby(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar alpha, CeedScalar beta,
                          const void *x, void *y);
int ritz_ref_vector_pointwise_mult(Ceed ceed, CeedScalarType precision, CeedSize n, const void *x,
                                   const void *y, void *w);
int ritz_ref_vector_reciprocal(Ceed ceed, CeedScalarType precision, CeedSize n, void *x);
int ritz_ref_vector_convert(Ceed ceed, CeedSize n, CeedScalarType from, const void *x, CeedScalarType to,
                            void *y);

// ---- pass.c ----
int ritz_ref_patch_sweep_run(RitzPatchSweep sweep, const void *b, void *x, bool x_is_zero, bool is_reversed);
int ritz_ref_vector_pass(Ceed ceed, const RitzPassArrays *arrays, const double *factors, double *sums);
int ritz_ref_vector_pass_by(Ceed ceed, const RitzPassArrays *arrays, const RitzFactor *factors,
                            double *scalars, CeedInt first_sum);
int ritz_ref_vector_set_entries(Ceed ceed, CeedScalarType precision, int64_t num, const int64_t *entries,
                                const CeedScalar *values, double value, void *x);
int ritz_ref_vector_copy_entries(Ceed ceed, CeedScalarType precision, int64_t num, const int64_t *entries,
                                 const void *x, void *y);

#endif
