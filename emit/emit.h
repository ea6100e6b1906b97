// SPDX-License-Identifier: BSD-2-Clause
// Plan -> source text of a kernel. Pure: the same plan gives the same bytes. The text holds sizes, 1D
// matrices, the defines for the user's text (CeedAddJitDefine) and one call per step; every loop lives in
// kernels/.
#ifndef RITZ_EMIT_EMIT_H
#define RITZ_EMIT_EMIT_H

#include "core/backend.h"
#include "core/patch-sweep.h"
#include "plan/cpu.h"
#include "plan/diagonal.h"
#include "plan/gpu-assembly.h"
#include "plan/gpu-at-points.h"
#include "plan/gpu-diagonal.h"
#include "plan/gpu.h"
#include "plan/matrix.h"
#include "plan/plan.h"

// C for the CPU, of a target whose evaluation is not RITZ_EVALUATE_NONE. *text is owned by the caller
// (RITZ_FREE).
int ritz_emit_cpu(Ceed ceed, const RitzPlan *plan, const RitzCpuTarget *target, char **text);
// C for a diagonal: adds into the L-vector of plan->output.
int ritz_emit_cpu_diagonal(Ceed ceed, const RitzDiagonalPlan *plan, const RitzCpuTarget *target, char **text);
// C for element matrices: those of a batch go to the array of the space behind the plan's, vectors
// [row][column] of lanes. Behind the plan's matrices come plan->pairs, or plan->B of input and output.
int ritz_emit_cpu_matrix(Ceed ceed, const RitzMatrixPlan *plan, const RitzCpuTarget *target, char **text);

// C for the CPU: one plane of a sweep over vertex patches (core/patch-sweep.h, kernels/cpu/patch-abi.h),
// `lanes` patches at a time, is_scattered: from several rows (three directions, uniform boxes, one
// component). Sizes of the box and factors are not in it, nor are tables unless
// box->is_uniform.
int ritz_emit_cpu_patch(Ceed ceed, const RitzPatchBox *box, CeedInt lanes, bool is_scattered, char **text);

// C for the CPU: a batched operation (core/batched.h, kernels/cpu/batched-abi.h), `lanes` matrices at a time,
// or large matrices, one at a time.
typedef enum {
  RITZ_BATCHED_OF_SHAPE,   // the sizes of the object, which are small
  RITZ_BATCHED_OF_CLASSES, // small sizes of non-uniform batches
  RITZ_BATCHED_OF_LARGE,   // any sizes and operations
} RitzBatchedText;
int ritz_emit_cpu_batched(RitzBatched batched, RitzBatchedText which, CeedInt lanes, char **text);

// CUDA C and OpenCL C in one: a kernel `ritz_qfunction` that calls a QFunction for each point, and its
// source, as ritz_jit_load_for_device gives it. Comes after kernels/gpu/language.h and
// kernels/gpu/qfunction.h. The kernel's arguments: context, number of points, then array, place of the first
// point and component stride of each field, inputs first. Has threads in blocks of `block_size`.
int ritz_emit_device_qfunction(CeedQFunction qf, const char *source, CeedInt block_size, char **text);
// A kernel `ritz_assemble` without the user's source, which follows it (ritz_emit_device_source) unless
// derivatives are kept; same place. Its arguments: context, number of elements,
// array, place and stride of each passive input, or of the kept derivatives, then those of
// kernels/gpu/assembly.h.
int ritz_emit_device_assembly(CeedQFunction qf, const RitzGpuAssembly *a, char **text);
// The user's source, behind the program's definitions.
int ritz_emit_device_source(CeedQFunction qf, const char *source, char **text);

// The fused kernel `ritz_operator` of an operator, of a target without a reason; source as above. Comes after
// kernels/gpu/language.h; lines #include "kernels/gpu/..." stand for those files. Its arguments: number of
// elements (RitzLong), context, target->args. Blocks: number of elements / target->num_elem, rounded up.
int ritz_emit_gpu(Ceed ceed, const RitzPlan *plan, const RitzGpuTarget *target, const char *source,
                  char **text);
// The fused kernel `ritz_operator` of an operator at points, of a plan without a reason; source as above.
// Arguments: number of elements (RitzLong), context, elements of a block (int), lists of the at-points
// restriction, coordinates, and of each space its array: with a basis also a component stride (E-vectors),
// strides of nodes, components and elements, or offsets and component stride.
int ritz_emit_gpu_at_points(CeedOperator op, const RitzGpuAtPoints *plan, const char *source, char **text);
// The kernel `ritz_diagonal` of a diagonal, likewise: adds into the array of diagonal->plan's output.
int ritz_emit_gpu_diagonal(Ceed ceed, const RitzGpuDiagonal *diagonal, const char *source, char **text);
// The kernel `ritz_pass` of a pass over vectors of these precisions, behind kernels/gpu/pass.h. Arguments:
// first and last entry + 1, whether these are packs aligned to 16 bytes, numbers, place of the first sum,
// `partial` and `arrived` of kernels/gpu/pass.h; for each factor two places and a sign; the vectors.
int ritz_emit_gpu_pass(Ceed ceed, const RitzPass *pass, const CeedScalarType *precision, char **text);

#endif
