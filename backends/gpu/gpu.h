// SPDX-License-Identifier: BSD-2-Clause
// The backends /gpu/cuda/{ref,shared,gen} and /gpu/opencl/{ref,shared,gen}. `ref` and `shared`: an operator
// as separate kernels for E, B and D over E-vectors and Q-vectors in device memory. `ref`: kernels for any
// size, one thread an output, results that do not depend on the order of threads. `shared`: bases compiled
// for their sizes, elements in the memory of blocks; what is too large for that runs on the kernels of `ref`.
// `gen`: an operator as one kernel.
#ifndef RITZ_BACKENDS_GPU_GPU_H
#define RITZ_BACKENDS_GPU_GPU_H

#include "core/backend.h"

extern const RitzBackend ritz_cuda_gen_backend, ritz_opencl_gen_backend;
extern const RitzBackend ritz_cuda_ref_backend, ritz_cuda_shared_backend;
extern const RitzBackend ritz_opencl_ref_backend, ritz_opencl_shared_backend;

#endif
