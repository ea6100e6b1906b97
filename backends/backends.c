// SPDX-License-Identifier: BSD-2-Clause
// All backends and the names they answer to. Names that programs written for other implementations pass are
// aliases.
#include "backends/check/check.h"
#include "backends/cpu/cpu.h"
#include "backends/gpu/gpu.h"
#include "backends/ref/ref.h"

#define ALIAS(resource, priority, backend, target)                                                           \
  { resource, priority, &(backend), target }

// `/cpu/self` means the entry with the lowest number below that stem.
const RitzRegistryEntry ritz_registry[] = {
    {"/cpu/self/gen", 40, &ritz_cpu_backend, NULL},
    {"/cpu/self/ref", 50, &ritz_ref_backend, NULL},
    ALIAS("/cpu/self/ref/serial", 60, ritz_ref_backend, "/cpu/self/ref"),
    ALIAS("/cpu/self/ref/blocked", 65, ritz_ref_backend, "/cpu/self/ref"),
    ALIAS("/cpu/self/opt/serial", 70, ritz_cpu_backend, "/cpu/self/gen"),
    ALIAS("/cpu/self/opt/blocked", 75, ritz_cpu_backend, "/cpu/self/gen"),
    ALIAS("/cpu/self/avx/serial", 80, ritz_cpu_backend, "/cpu/self/gen"),
    ALIAS("/cpu/self/avx/blocked", 85, ritz_cpu_backend, "/cpu/self/gen"),
    ALIAS("/cpu/self/xsmm/serial", 90, ritz_cpu_backend, "/cpu/self/gen"),
    ALIAS("/cpu/self/xsmm/blocked", 95, ritz_cpu_backend, "/cpu/self/gen"),
    {"/cpu/self/check", 100, &ritz_check_backend, NULL},
    ALIAS("/cpu/self/memcheck/serial", 105, ritz_check_backend, "/cpu/self/check"),
    ALIAS("/cpu/self/memcheck/blocked", 110, ritz_check_backend, "/cpu/self/check"),
    {"/gpu/cuda/gen", 120, &ritz_cuda_gen_backend, NULL},
    {"/gpu/cuda/shared", 125, &ritz_cuda_shared_backend, NULL},
    {"/gpu/cuda/ref", 130, &ritz_cuda_ref_backend, NULL},
    {"/gpu/opencl/gen", 133, &ritz_opencl_gen_backend, NULL},
    {"/gpu/opencl/shared", 135, &ritz_opencl_shared_backend, NULL},
    {"/gpu/opencl/ref", 140, &ritz_opencl_ref_backend, NULL},
};
const size_t ritz_registry_size = sizeof(ritz_registry) / sizeof(ritz_registry[0]);
