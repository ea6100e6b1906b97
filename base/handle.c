// SPDX-License-Identifier: BSD-2-Clause
// Checks of handles. Called first by every public function through the macros of base/handle.h; the
// sentinels themselves are defined in core/strings.c.
#include "base/handle.h"

#include <string.h>

#include "base/error.h"

const RitzClass ritz_any_class = {.name = "CeedObject"};

static const struct {
  const RitzClass *class;
  const char *described;
} classes[] = {
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
    {&ritz_indices_class, "a RitzIndices"},
    {&ritz_scalars_class, "a RitzScalars"},
    {&ritz_batched_class, "a RitzBatched"},
    {&ritz_front_class, "a RitzFront"},
    {&ritz_hierarchy_class, "a RitzHierarchy"},
    {&ritz_locator_class, "a RitzLocator"},
    {&ritz_dense_solver_class, "a RitzDenseSolver"},
    {&ritz_assembly_class, "a RitzAssembly"},
};

static const RitzClass *class_at(const void *handle) {
  const RitzClass *class;
  memcpy(&class, handle, sizeof(class));
  return class;
}

bool ritz_is_live(const void *handle, const RitzClass *class) {
  if (!handle) return false;
  if (!class) return !ritz_sentinel(handle);
  if (class_at(handle) == class) return true;
  if (class != &ritz_any_class) return false;
  for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
    if (class_at(handle) == classes[i].class) return classes[i].class->destroy != NULL;
  }
  return false;
}

const char *ritz_found_at(const void *handle) {
  if (!handle) return "NULL";
  const RitzSentinel *sentinel = ritz_sentinel(handle);
  if (sentinel) return sentinel->name;
  for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
    if (class_at(handle) == classes[i].class) return classes[i].described;
  }
  return "no object";
}

bool ritz_is_own_sentinel(const void *handle, const RitzClass *class) {
  const RitzSentinel *sentinel = ritz_sentinel(handle);
  return sentinel && sentinel->class == class;
}

Ceed ritz_context_at_hand(size_t num, const void *const handles[]) {
  for (size_t h = 0; h < num; h++) {
    if (!handles[h] || ritz_sentinel(handles[h])) continue;
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
      if (class_at(handles[h]) == classes[i].class) return ((const RitzObject *)handles[h])->ceed;
    }
  }
  return NULL;
}

int ritz_check_handle(Ceed ceed, const char *call, const char *name, const void *handle,
                      const RitzClass *class) {
  if (ritz_is_live(handle, class)) return CEED_ERROR_SUCCESS;
  return CeedError(ceed || !class ? ceed : RITZ_CONTEXT_AT_HAND(handle), CEED_ERROR_INCOMPATIBLE,
                   "%s: argument '%s' is %s, needed %s%s", call, name, ritz_found_at(handle),
                   class ? "a " : "an address", class ? class->name : "");
}
