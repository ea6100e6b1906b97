// SPDX-License-Identifier: BSD-2-Clause
// What the files backends/gpu/basis*.c share: the data of a basis on a device, and its two kinds of kernels.
#ifndef RITZ_BACKENDS_GPU_BASIS_H
#define RITZ_BACKENDS_GPU_BASIS_H

#include "backends/gpu/context.h"
#include "emit/text.h"

// How a compiled kernel cuts its work: items are pairs (component, element).
typedef struct {
  const char *refusal; // why there is no such kernel, NULL: there is
  bool is_copy;        // values at the points are those at the nodes: there is nothing to compute
  int num_threads;     // of a block
  int num_items;       // of a block
  int num_groups;      // of threads, in a block
} RitzGpuBasisShape;

// One mode, one way.
typedef struct {
  bool is_ready;
  RitzGpuBasisShape shape;
  RitzGpuKernel kernel; // owned, described unless there is a refusal
} RitzGpuBasisKernel;

enum { RITZ_VALUES, RITZ_DERIVATIVES, RITZ_NUM_TABLES }; // modes with tables

enum { RITZ_MAX_GEMM_DIM = 3 }; // of tensor bases

// Tensor bases at arbitrary points: sizes of blocks of kernels/gpu/points.h.
typedef struct {
  const char *refusal;        // why there is no such kernel (static), NULL: there is
  int num_threads, max_elems; // of a block
} RitzGpuPointsShape;

typedef struct {
  bool is_ready;
  RitzGpuPointsShape shape;
  RitzGpuKernel kernel; // likewise
} RitzGpuPointsKernel;

// Which points belong to which element, for a kernel.
typedef struct {
  const void *starts;          // on the device: position of the first point of each element, and the end
  CeedInt first_elem;          // of the kernel's elements, in `starts`
  CeedInt origin, elem_stride; // places in vectors of points: kernels/gpu/basis-points.h
  int64_t distance;            // of components of vectors of points
  int64_t num_points;          // of the kernel's elements
  bool is_uniform;             // all elements have as many
} RitzGpuPoints;

// basis->data
typedef struct {
  void *weight;                    // owned, on the device
  void *table[RITZ_NUM_TABLES][2]; // owned, on the device: as in core/, and with rows and columns exchanged
  void *float_table[RITZ_NUM_TABLES][2];         // the same in float, of a library that has double
  void *tiles[RITZ_NUM_TABLES];                  // in double, in blocks for tensor cores (plan/gpu-tiles.h)
  RitzGpuBasisKernel kernel[RITZ_NUM_TABLES][2]; // [..][is transposed]
  // Own products of the directions of tensor bases but the first; NULL: none yet. Owned.
  RitzBatched products[RITZ_MAX_GEMM_DIM][2]; // [direction][is transposed]
  RitzGpuPointsKernel at_points[RITZ_NUM_TABLES][2];
  CeedInt num_coefficients; // of a direction, at points
  void *coefficients;       // owned, on the device: [num_coefficients][P_1d]
  CeedInt num_starts;       // of the last call at points
  CeedInt *starts;          // owned, [num_starts]: on the host
  void *starts_on_device;   // owned
} RitzGpuBasis;

static inline int ritz_gpu_basis_table_number(CeedEvalMode mode) {
  return mode == CEED_EVAL_INTERP ? RITZ_VALUES : RITZ_DERIVATIVES;
}
static inline int64_t ritz_gpu_basis_num_items(CeedBasis basis, CeedInt num_elem) {
  return (int64_t)basis->num_comp * num_elem;
}

// basis-tables.c: basis->data, made on first use.
int ritz_gpu_basis_open(CeedBasis basis);
// basis-tables.c: the table of a mode on the device, [q_comp * Q][P] or 1D [Q_1d][P_1d], sent on first use;
// `exchanges`: [P][q_comp * Q], dense bases only. _of: rounded to this precision.
int ritz_gpu_basis_table(CeedBasis basis, CeedEvalMode mode, bool exchanges, const void **table);
int ritz_gpu_basis_table_of(CeedBasis basis, CeedEvalMode mode, bool exchanges, CeedScalarType precision,
                            const void **table);
int ritz_gpu_basis_tiles(CeedBasis basis, CeedEvalMode mode, const void **tiles);
int ritz_gpu_basis_weight(CeedBasis basis, const void **weight);
CeedEvalMode ritz_gpu_basis_derivative(CeedBasis basis); // GRAD, DIV or CURL: which it has

// An array on the device; kernels take where it begins as a number, since OpenCL wants addresses aligned.
typedef struct {
  const void *memory;
  int64_t first;
} RitzGpuPlace;

// A contraction of one direction of a tensor basis: [before][n_in][after] to [before][n_out][after], by a 1D
// table [Q_1d][P_1d] on the device. Directions before this one are contracted, the fastest first.
typedef struct {
  CeedBasis basis;
  CeedInt direction;
  bool transposes, adds;
  CeedInt n_in, n_out, after;
  int64_t before;
  const void *table;
  RitzGpuPlace from, to;
} RitzGpuContraction;
typedef int (*RitzGpuContract)(const RitzGpuContraction *contraction);

// basis-ref.c: all modes of tensor bases but WEIGHT, one direction after the other.
int ritz_gpu_basis_apply_tensor(CeedBasis basis, const RitzBasisAction *action, RitzGpuContract contract,
                                const CeedScalar *u, CeedScalar *v);

// basis-gemm.c: all modes but WEIGHT by matrix products, by the vendor's library (which was found) or own
// kernels.
int ritz_gpu_basis_apply_gemm(CeedBasis basis, const RitzBasisAction *action, bool is_vendor,
                              const CeedScalar *u, CeedScalar *v);
void ritz_gpu_basis_explain_gemm(CeedBasis basis, FILE *stream);

// basis-ref.c: kernels for any size.
int ritz_gpu_basis_apply_ref(CeedBasis basis, const RitzBasisAction *action, const CeedScalar *u,
                             CeedScalar *v);

// points.c: a basis at arbitrary points, INTERP and GRAD.
int ritz_gpu_points_run(CeedBasis basis, const RitzBasisAction *action, const RitzGpuPoints *points,
                        const CeedScalar *x, const CeedScalar *u, CeedScalar *v);
// One line: which kernels do that and, where they are not compiled ones on `shared`, why.
void ritz_gpu_points_explain(CeedBasis basis, CeedEvalMode mode, bool transposes, FILE *stream);
// Elements of a block that keep its threads busy.
int ritz_gpu_points_elements(const RitzGpuPointsShape *shape, CeedInt num_elem, int64_t num_points,
                             bool is_uniform);
// points-ref.c: by kernels for any size; points->distance > 0.
int ritz_gpu_points_run_ref(CeedBasis b, const RitzBasisAction *action, const RitzGpuPoints *points,
                            const CeedScalar *x, const CeedScalar *u, CeedScalar *v);

// basis-shared.c: pieces of texts. #define RITZ_<name>; what processors need.
void ritz_gpu_basis_add_define(RitzText *text, const char *name, int value);
void ritz_gpu_basis_add_unrolling(RitzText *text, const RitzDeviceInfo *info);

// basis-shared.c: compiled kernels, all modes but WEIGHT. *is_done: false when there is none for this.
RitzGpuBasisShape ritz_gpu_basis_shape(CeedBasis basis, CeedEvalMode mode, bool transposes);
int ritz_gpu_basis_apply_shared(CeedBasis basis, const RitzBasisAction *action, const CeedScalar *u,
                                CeedScalar *v, bool *is_done);

#endif
