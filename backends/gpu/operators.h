// SPDX-License-Identifier: BSD-2-Clause
// Slots of restrictions, bases, QFunctions and operators, and what these ask of each other.
#ifndef RITZ_BACKENDS_GPU_OPERATORS_H
#define RITZ_BACKENDS_GPU_OPERATORS_H

#include "backends/gpu/context.h"

// ---- restriction.c ----
int ritz_gpu_restriction_layout(CeedElemRestriction rstr, CeedInt layout[3]);
int ritz_gpu_restriction_apply(CeedElemRestriction rstr, const RitzRestrictionAction *action,
                               CeedScalarType precision, const void *u, void *v);
// At points, without padding: entry (c, t) of the n points of the elements at c * n + t. By a map, which is
// made for all elements at once, where points are listed twice and results are to repeat.
int ritz_gpu_restriction_apply_list(CeedElemRestriction rstr, CeedTransposeMode t_mode, CeedInt first_elem,
                                    CeedInt num_elem, const CeedScalar *u, CeedScalar *v);
int ritz_gpu_restriction_list_needs_map(CeedElemRestriction rstr, bool *needs_map);
// The restriction of point blocks [node][c_out][c_in] on these nodes; belongs to rstr.
int ritz_gpu_restriction_blocks(CeedElemRestriction rstr, CeedElemRestriction *blocks);
// v += E^T u of all elements, both in device memory and of this precision.
int ritz_gpu_restriction_sum(CeedElemRestriction rstr, bool has_orients, CeedScalarType precision,
                             const void *u, void *v);
int ritz_gpu_restriction_destroy(CeedElemRestriction rstr);
// Whether it is transposed by a map of the elements, which is made for all of them at once.
bool ritz_gpu_restriction_needs_map(CeedElemRestriction rstr);
// Whether its nodes come in rows (core/core.h); their first offsets, [num_elem][rows], which stay as long as
// it does.
int ritz_gpu_restriction_has_rows(CeedElemRestriction rstr, CeedInt row_length, bool *has_rows);
int ritz_gpu_restriction_rows(CeedElemRestriction rstr, CeedInt row_length, const void **firsts);
// Its orientations in device memory, which stay as long as it does.
int ritz_gpu_restriction_orients(CeedElemRestriction rstr, const void **orients);

// ---- basis.c (basis-ref.c, basis-shared.c) ----
// E-vectors [num_comp][num_elem][P], Q-vectors [q_comp][num_comp][num_elem][Q]. The kernels of `shared` are
// compiled for a basis when it is first used.
int ritz_gpu_basis_apply(CeedBasis basis, const RitzBasisAction *action, const CeedScalar *u, CeedScalar *v);
int ritz_gpu_basis_destroy(CeedBasis basis);
// The same by a route that is neither AUTO nor FUSED; GEMM_VENDOR: the library was found.
int ritz_gpu_basis_apply_by(CeedBasis basis, RitzOperatorRoute route, const RitzBasisAction *action,
                            const CeedScalar *u, CeedScalar *v);
// One line: which kernels apply it and, where they are not those of the backend's name, why.
void ritz_gpu_basis_explain(CeedBasis basis, RitzOperatorRoute route, FILE *stream);

// ---- points.c: bases at arbitrary points ----
int ritz_gpu_basis_apply_at_points(CeedBasis basis, const RitzBasisAction *action, const CeedInt *num_points,
                                   const CeedScalar *x, const CeedScalar *u, CeedScalar *v);

// ---- qfunction.c ----
// A field of a call: entry (component c, point q) is at array[first + c * stride + q].
typedef struct {
  const CeedScalar *array;
  int64_t first, stride;
} RitzGpuField;
// Calls the function for Q points; inputs, then outputs.
int ritz_gpu_qfunction_run(CeedQFunction qf, int64_t Q, const RitzGpuField *fields);
int ritz_gpu_qfunction_apply(CeedQFunction qf, CeedInt Q, const CeedScalar *const *in,
                             CeedScalar *const *out);
int ritz_gpu_qfunction_destroy(CeedQFunction qf);
int ritz_gpu_qfunction_source(CeedQFunction qf, const char **text); // of its kernel; owned by the QFunction
// Source of the QFunction for devices; #define line of a text for a context of num_bytes. The caller frees
// both.
int ritz_gpu_qfunction_load(CeedQFunction qf, char **source);
int ritz_gpu_context_define(CeedQFunction qf, size_t num_bytes, char **define);
// The kernel of a text for kernels/gpu/assembly.h, with the user's source behind it where it is called; the
// QFunction's, until its context changes.
int ritz_gpu_qfunction_part(CeedQFunction qf, bool calls, const char *text, RitzGpuKernel **kernel);
int ritz_gpu_qfunction_block(CeedQFunction qf);     // threads of a block that calls it, at most
CeedSize ritz_gpu_context_copies(CeedQFunction qf); // bytes that each thread has copied of its context

// ---- gen.c, tune.c: operators as one kernel ----
int ritz_gpu_gen_apply(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode);
int ritz_gpu_gen_apply_many(CeedOperator op, CeedInt num, const CeedVector *in, const CeedVector *out,
                            RitzApplyMode mode, bool *is_done); // many.c
int ritz_gpu_operators_prepare(CeedInt num, CeedOperator *ops, const int *wanted,
                               bool in_background); // prepare.c
// The slot operator_supports_precision: what is fused computes in either precision, and converts vectors.
int ritz_gpu_gen_supports_precision(CeedOperator op, CeedVector in, bool *is_supported, const char **reason);
int ritz_gpu_gen_explain(CeedOperator op, FILE *stream);
int ritz_gpu_gen_steps(CeedOperator op, FILE *stream, bool *has_steps);
int ritz_gpu_gen_source(CeedOperator op, const char **source);
int ritz_gpu_gen_tune(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode, RitzTuning *tuning);
int ritz_gpu_operator_destroy(CeedOperator op);
int ritz_gpu_gen_cost(CeedOperator op, RitzOperatorCost *cost);

// ---- energy.c: applies of fused single operators that also give u . A u ----
// *num_shares: number of partial sums of u . A u; 0: the operator has no energy kernel.
int ritz_gpu_energy_prepare(CeedOperator op, int64_t *num_shares);
int ritz_gpu_operator_apply_energy(CeedOperator op, CeedVector in, CeedVector out, int64_t num_zeros,
                                   const int64_t *zeros, double *scalars, CeedInt k, bool adds,
                                   bool *is_done);

// ---- diagonal.c: their diagonals, likewise ----
int ritz_gpu_gen_assemble_add_diagonal(CeedOperator op, bool is_point_block, void *diagonal);
int ritz_gpu_gen_diagonal_supports_precision(CeedOperator op, bool is_point_block, bool *is_supported);

// ---- route.c: who computes an apply ----
// The slot operator_refuses_route.
const char *ritz_gpu_refuses_route(Ceed ceed, RitzOperatorRoute route);
// Why an operator cannot be applied by a route that contexts have (static); NULL: it can.
const char *ritz_gpu_operator_refuses_route(CeedOperator op, RitzOperatorRoute route);
// Reports a reason, unless it is NULL, as CEED_ERROR_UNSUPPORTED.
int ritz_gpu_require_route(CeedOperator op, RitzOperatorRoute route, const char *reason);

// ---- operator.c, assembly.c ----
int ritz_gpu_operator_apply(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode);
// The same by a route that is neither AUTO nor FUSED.
int ritz_gpu_operator_apply_by(CeedOperator op, RitzOperatorRoute route, CeedVector in, CeedVector out,
                               RitzApplyMode mode);
int ritz_gpu_operator_explain_by(CeedOperator op, RitzOperatorRoute route, FILE *stream);
int ritz_gpu_operator_explain(CeedOperator op, FILE *stream);
int ritz_gpu_operator_source(CeedOperator op, const char **source);
int ritz_gpu_operator_assemble_qfunction(CeedOperator op, CeedElemRestriction rstr, CeedScalar *values);
int ritz_gpu_operator_assemble_add_diagonal(CeedOperator op, bool is_point_block, void *diagonal);
int ritz_gpu_operator_assemble(CeedOperator op, CeedInt a, CeedInt b, CeedInt first_elem, CeedInt num_elem,
                               CeedSize place, CeedScalar *values);

// ---- assembly-pattern.c: matrices in a fixed pattern (core/assembly-pattern.h) ----
int ritz_gpu_assembly_prepare(RitzAssembly assembly, bool *is_supported);
int ritz_gpu_assembly_run(RitzAssembly assembly, CeedScalar *values);
int ritz_gpu_assembly_destroy(RitzAssembly assembly);

#endif
