// SPDX-License-Identifier: BSD-2-Clause
// Which resources there are, and which of them a request means (doc/ceed-api.md, Resources).
// The table itself is backends/backends.c; it is const, so registration needs no lock.
#include "core/registry.h"

#include <string.h>

#include <ritz/version.h>

static size_t equal_characters(const char *a, const char *b) {
  size_t n = 0;
  while (a[n] && a[n] == b[n]) n++;
  return n;
}

// Whether entry a is to be preferred to entry b (NULL: none).
static bool is_better(const RitzRegistryEntry *a, const RitzRegistryEntry *b) {
  if (!b) return true;
  const bool a_is_usable = !ritz_registry_reason(a), b_is_usable = !ritz_registry_reason(b);
  return a_is_usable != b_is_usable ? a_is_usable : a->priority < b->priority;
}

const RitzRegistryEntry *ritz_registry_match(const char *request, const RitzRegistryEntry **closest) {
  size_t stem = strcspn(request, ":"), best_length = 0;
  const RitzRegistryEntry *best = NULL;
  for (size_t k = 0; k < ritz_registry_size; k++) {
    const size_t length = equal_characters(ritz_registry[k].resource, request);
    if (length > best_length) best_length = length;
  }
  for (size_t k = 0; k < ritz_registry_size && best_length > 0; k++) {
    const RitzRegistryEntry *entry = &ritz_registry[k];
    if (equal_characters(entry->resource, request) == best_length && is_better(entry, best)) best = entry;
  }
  *closest = best;
  bool whole_component = best && (best->resource[best_length] == '\0' || best->resource[best_length] == '/');
  return best_length > 1 && best_length == stem && whole_component ? best : NULL;
}

const char *ritz_registry_reason(const RitzRegistryEntry *entry) {
  return entry->backend->unusable ? entry->backend->unusable() : NULL;
}

void ritz_backend_complete(const RitzBackend *backend, RitzBackend *complete) {
  *complete = *backend;
#define FILL(slot)                                                                                           \
  if (!complete->slot) complete->slot = from->slot
  for (const RitzBackend *from = backend->fallback; from; from = from->fallback) {
    FILL(restriction_layout);
    FILL(restriction_apply);
    FILL(basis_apply);
    FILL(basis_apply_at_points);
    FILL(qfunction_call);
    FILL(qfunction_apply);
    FILL(operator_apply);
    FILL(operator_assemble_qfunction);
    FILL(operator_assemble_add_diagonal);
    FILL(operator_assemble);
    FILL(vector_set_value);
    FILL(vector_set_value_strided);
    FILL(vector_copy_strided);
    FILL(vector_norm);
    FILL(vector_scale);
    FILL(vector_filter);
    FILL(vector_axpby);
    FILL(vector_pointwise_mult);
    FILL(vector_reciprocal);
  }
#undef FILL
}

int CeedRegisterAll(void) { return CEED_ERROR_SUCCESS; }

int CeedRegister(const char *prefix, int (*init)(const char *resource, Ceed ceed), unsigned int priority) {
  (void)init;
  (void)priority;
  return CeedError(NULL, CEED_ERROR_UNSUPPORTED,
                   "%s: the backend '%s' cannot be added: those of Ritz are in one constant table", __func__,
                   prefix ? prefix : "NULL");
}

int CeedRegistryGetList(size_t *n, char ***const resources, CeedInt **priorities) {
  char **names = NULL;
  CeedInt *ranks = NULL;
  size_t num = 0;
  for (size_t k = 0; k < ritz_registry_size; k++) num += ritz_registry_reason(&ritz_registry[k]) == NULL;
  RITZ_REQUIRE(num > 0, NULL, CEED_ERROR_MAJOR, "CeedRegistryGetList: no backend is usable on this machine");
  RITZ_TRY(RITZ_MALLOC(NULL, num, &names));
  int ierr = priorities ? RITZ_MALLOC(NULL, num, &ranks) : CEED_ERROR_SUCCESS;
  if (ierr) {
    RITZ_FREE(&names);
    return ierr;
  }
  for (size_t k = 0, i = 0; k < ritz_registry_size; k++) {
    if (ritz_registry_reason(&ritz_registry[k])) continue;
    names[i] = (char *)ritz_registry[k].resource;
    if (ranks) ranks[i] = (CeedInt)ritz_registry[k].priority;
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
  *num = (CeedInt)ritz_registry_size;
  return CEED_ERROR_SUCCESS;
}

int RitzGetBackendInfo(CeedInt index, RitzBackendInfo *info) {
  RITZ_REQUIRE(index >= 0 && (size_t)index < ritz_registry_size, NULL, CEED_ERROR_DIMENSION,
               "RitzGetBackendInfo: index %" CeedInt_FMT " is outside the table of %zu entries", index,
               ritz_registry_size);
  const RitzRegistryEntry *entry = &ritz_registry[index];
  info->resource = entry->resource;
  info->alias_of = entry->alias_of;
  info->reason = ritz_registry_reason(entry);
  info->usable = info->reason == NULL;
  return CEED_ERROR_SUCCESS;
}
