// SPDX-License-Identifier: BSD-2-Clause
// What a CPU kernel is called with: the contract between generated (or ahead-of-time) kernels and the backend
// that runs them. A kernel is serial; it works through positions of a schedule, each of which is one batch of
// RITZ_LANES elements. Changing anything here changes RITZ_KERNEL_ABI.
#ifndef RITZ_KERNELS_CPU_ABI_H
#define RITZ_KERNELS_CPU_ABI_H

#include <ceed/types.h>
#include <stdbool.h>
#include <stdint.h>

#define RITZ_KERNEL_ABI 4

// The user's function.
typedef int (*RitzQFunction)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out);

// One gather or one scatter: an L-vector and how the elements lie in it. Batch b holds the elements
// b*lanes .. b*lanes + lanes - 1; lanes beyond the last element repeat it and are never written.
typedef struct {
  void *array;             // L-vector; of packed fields the packed data (RitzPacking in core/core.h). float
                           // or double, as the plan says
  const int32_t *offsets;  // nodes: [elem][node]; rows: [batch][row][lane], first node of each row
  const uint8_t *is_chain; // rows: [batch], 1 where in all rows lane l+1 begins where lane l ends
  const bool *orients;     // oriented: [elem][node], true: sign -1
  const int8_t *curl_orients; // curl-oriented: [elem][node][3], row of a tridiagonal matrix
  int64_t strides[3];         // strided: of node, component, element; offsets: [1] of the component
  bool is_packed;             // strided output: the array is packed data, which are overwritten
} RitzKernelSpace;

// Entries first .. first + count - 1 of the array of a space.
typedef struct {
  int64_t first;
  int32_t count, space;
} RitzRange;

// Called for ranges of degrees of freedom right before their first or after their last touch in an apply:
// ranges[begin[n]] .. ranges[begin[n + 1] - 1] belong to position n.
typedef struct {
  const int64_t *begin;
  const RitzRange *ranges;
  void (*call)(void *data, int32_t space, int64_t first, int64_t count);
  void *data;
} RitzKernelHook;

typedef struct {
  int32_t abi;                   // RITZ_KERNEL_ABI
  int32_t num_elem;              // elements in all
  int32_t column;                // of point blocks: the component of the input; else unused
  const RitzKernelSpace *spaces; // in the order of the plan
  const void *const *matrices;   // of bases whose matrices are no literals, in the order of the plan, in
                                 // the precision of the arithmetic
  void *context;                 // bytes for the user's function, or NULL
  RitzQFunction function;        // the user's function; unused where its text is part of the kernel
  const int32_t *order;          // batch of each position
  const RitzKernelHook *before, *after; // NULL: none
  const void *plan;                     // of the ahead-of-time kernel (backends/cpu/unfused.h), else NULL
  void *work;                           // scratch of RitzKernelInfo.work_bytes, 64-byte aligned, one a thread
} RitzKernelArgs;

// Runs positions begin .. end - 1. Returns the first nonzero code of the user's function, else 0.
typedef int (*RitzKernel)(const RitzKernelArgs *args, int64_t begin, int64_t end);

// A kernel's own description, so that a stale one is recognised.
typedef struct {
  int32_t abi, lanes;
  int64_t work_bytes;
} RitzKernelInfo;

// Names under which a compiled kernel exports them.
#define RITZ_KERNEL_SYMBOL "ritz_kernel"      // RitzKernel
#define RITZ_INFO_SYMBOL   "ritz_kernel_info" // const RitzKernelInfo
#define RITZ_QFUNCTION_SYMBOL                                                                                \
  "ritz_qfunction_text" // RitzQFunction for Q = lanes, where the text is part of it

#endif
