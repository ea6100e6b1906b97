// SPDX-License-Identifier: BSD-2-Clause
// The root, above all folders: all classes, all backends with the names they answer to, and the public
// functions that need these tables. CeedInit hands them down: nobody makes an object before. The tables are
// constant, so that registration needs no lock.
#include <ritz/context.h>
#include <ritz/version.h>

#include "backends/check/check.h"
#include "backends/cpu/cpu.h"
#include "backends/gpu/gpu.h"
#include "backends/ref/ref.h"
#include "core/registry.h"

static const RitzKnownClass classes[] = {
    {&ritz_ceed_class, "a Ceed"},
    {&ritz_vector_class, "a CeedVector"},
    {&ritz_restriction_class, "a CeedElemRestriction"},
    {&ritz_basis_class, "a CeedBasis"},
    {&ritz_qfunction_class, "a CeedQFunction"},
    {&ritz_context_class, "a CeedQFunctionContext"},
    {&ritz_operator_class, "a CeedOperator"},
    {&ritz_mesh_class, "a RitzMesh"},
    {&ritz_space_class, "a RitzSpace"},
    {&ritz_halo_class, "a RitzHalo"},
    {&ritz_exchange_class, "a RitzExchange"},
    {&ritz_part_operator_class, "a RitzPartOperator"},
    {&ritz_geometry_class, "a RitzGeometry"},
    {&ritz_solver_class, "a RitzSolver"},
    {&ritz_preconditioner_class, "a RitzPreconditioner"},
    {&ritz_newton_class, "a RitzNewton"},
    {&ritz_indices_class, "a RitzIndices"},
    {&ritz_scalars_class, "a RitzScalars"},
    {&ritz_batched_class, "a RitzBatched"},
    {&ritz_front_class, "a RitzFront"},
    {&ritz_hierarchy_class, "a RitzHierarchy"},
    {&ritz_locator_class, "a RitzLocator"},
    {&ritz_facets_class, "a RitzFacets"},
    {&ritz_product_space_class, "a RitzProductSpace"},
    {&ritz_dense_solver_class, "a RitzDenseSolver"},
    {&ritz_assembly_class, "a RitzAssembly"},
    {NULL, "no object"},
};

#define ALIAS(resource, priority, backend, target)                                                           \
  { resource, priority, &(backend), target }

// Names that programs written for other implementations pass are aliases. `/cpu/self` means the entry with
// the lowest number below that stem.
static const RitzRegistryEntry entries[] = {
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
static const RitzRegistry registry = {sizeof(entries) / sizeof(entries[0]), entries};

int CeedInit(const char *resource, Ceed *ceed) {
  ritz_classes_hand_down(classes);
  return ritz_ceed_create(&registry, resource, NULL, ceed);
}

int RitzInit(const char *resource, CeedErrorHandler handler, Ceed *ceed) {
  ritz_classes_hand_down(classes);
  const CeedErrorHandler before = ritz_error_divert(handler);
  int ierr = ritz_check_handle(NULL, __func__, "ceed", ceed, NULL);
  if (!ierr) ierr = ritz_ceed_create(&registry, resource, handler, ceed);
  (void)ritz_error_divert(before);
  return ierr;
}

int CeedRegistryGetList(size_t *n, char ***const resources, CeedInt **priorities) {
  char **names = NULL;
  CeedInt *ranks = NULL;
  size_t num = 0;
  for (size_t k = 0; k < registry.num; k++) num += ritz_registry_reason(&entries[k]) == NULL;
  RITZ_REQUIRE(num > 0, NULL, CEED_ERROR_MAJOR, "CeedRegistryGetList: no backend is usable on this machine");
  RITZ_TRY(RITZ_MALLOC(NULL, num, &names));
  int ierr = priorities ? RITZ_MALLOC(NULL, num, &ranks) : CEED_ERROR_SUCCESS;
  if (ierr) {
    RITZ_FREE(&names);
    return ierr;
  }
  for (size_t k = 0, i = 0; k < registry.num; k++) {
    if (ritz_registry_reason(&entries[k])) continue;
    names[i] = (char *)entries[k].resource;
    if (ranks) ranks[i] = (CeedInt)entries[k].priority;
    i++;
  }
  ritz_memory_give(names);
  ritz_memory_give(ranks);
  *n = num;
  *resources = names;
  if (priorities) *priorities = ranks;
  return CEED_ERROR_SUCCESS;
}

int RitzGetNumBackends(CeedInt *num) {
  *num = (CeedInt)registry.num;
  return CEED_ERROR_SUCCESS;
}

int RitzGetBackendInfo(CeedInt index, RitzBackendInfo *info) {
  RITZ_REQUIRE(index >= 0 && (size_t)index < registry.num, NULL, CEED_ERROR_DIMENSION,
               "RitzGetBackendInfo: index %" CeedInt_FMT " is outside the table of %zu entries", index,
               registry.num);
  const RitzRegistryEntry *entry = &entries[index];
  info->resource = entry->resource;
  info->alias_of = entry->alias_of;
  info->reason = ritz_registry_reason(entry);
  info->usable = info->reason == NULL;
  return CEED_ERROR_SUCCESS;
}
