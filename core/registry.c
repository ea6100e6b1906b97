// SPDX-License-Identifier: BSD-2-Clause
// Which of the resources of a table a request means (doc/ceed-api.md, Resources).
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

const RitzRegistryEntry *ritz_registry_match(const RitzRegistry *registry, const char *request,
                                             const RitzRegistryEntry **closest) {
  size_t stem = strcspn(request, ":"), best_length = 0;
  const RitzRegistryEntry *best = NULL;
  for (size_t k = 0; k < registry->num; k++) {
    const size_t length = equal_characters(registry->entries[k].resource, request);
    if (length > best_length) best_length = length;
  }
  for (size_t k = 0; k < registry->num && best_length > 0; k++) {
    const RitzRegistryEntry *entry = &registry->entries[k];
    if (equal_characters(entry->resource, request) == best_length && is_better(entry, best)) best = entry;
  }
  *closest = best;
  bool whole_component = best && (best->resource[best_length] == '\0' || best->resource[best_length] == '/');
  return best_length > 1 && best_length == stem && whole_component ? best : NULL;
}

const char *ritz_registry_reason(const RitzRegistryEntry *entry) {
  return entry->backend->unusable ? entry->backend->unusable() : NULL;
}

// ---- Options ----

enum { SHOWN = 60 }; // characters of an option in a message

static size_t name_length(const char *option) { return strcspn(option, "=:"); }

static bool is_same_name(const char *a, const char *b) {
  return name_length(a) == name_length(b) && !strncmp(a, b, name_length(a));
}

static int shown_length(const char *option) {
  const size_t length = strcspn(option, ":");
  return length < SHOWN ? (int)length : SHOWN;
}

static const RitzResourceOptionInfo resource_options[RITZ_NUM_OPTIONS] = {
    [RITZ_OPTION_INNER] = {"inner=ref", "/cpu/self/check", "the resource that is watched"},
    [RITZ_OPTION_MEM] =
        {"mem=host|device", "/cpu/self/check",
         "with device it plays a device, with the memory and the layouts of one (default host)"},
    [RITZ_OPTION_THREADS] =
        {"threads=N|all", "/cpu",
         "threads; at most the processors that the process may use (affinity mask, quota of its control "
         "groups), which is what all means (default: "
         "OMP_NUM_THREADS, else 1, as programs under MPI expect; the program ritz and the Python package but "
         "for ritz.ceed: all). Without effect on ref and check, which have one"},
    [RITZ_OPTION_DEVICE] = {"device_id=N", "/gpu",
                            "device N of the driver, from 0 (default: on CUDA the one that is current in the "
                            "calling thread, else 0)"},
    [RITZ_OPTION_DETERMINISTIC] =
        {"deterministic", "/",
         "results repeat bit for bit: they do not depend on threads, on what is being compiled, or on the "
         "order in which a device adds. Without effect on ref and check, where they always do"},
};

int RitzGetNumResourceOptions(CeedInt *num) {
  *num = RITZ_NUM_OPTIONS;
  return CEED_ERROR_SUCCESS;
}

int RitzGetResourceOptionInfo(CeedInt index, RitzResourceOptionInfo *info) {
  RITZ_REQUIRE(index >= 0 && index < RITZ_NUM_OPTIONS, NULL, CEED_ERROR_DIMENSION,
               "RitzGetResourceOptionInfo: index %" CeedInt_FMT " is outside the table of %d entries", index,
               (int)RITZ_NUM_OPTIONS);
  *info = resource_options[index];
  return CEED_ERROR_SUCCESS;
}

const char *ritz_resource_option(const char *options, RitzResourceOption option) {
  for (const char *at = strchr(options, ':'); at; at = strchr(at + 1, ':')) {
    if (!is_same_name(at + 1, resource_options[option].option)) continue;
    return at + 1 + name_length(at + 1) + (at[1 + name_length(at + 1)] == '=');
  }
  return NULL;
}

static bool has_option(const RitzRegistryEntry *entry, int option) {
  const char *resource = entry->alias_of ? entry->alias_of : entry->resource;
  const char *below = resource_options[option].below;
  return !strncmp(resource, below, strlen(below));
}

// text: ":threads=N|all, :deterministic", cut where it is full.
static void list_options(const RitzRegistryEntry *entry, size_t size, char *text) {
  size_t length = 0;
  for (int i = 0; i < RITZ_NUM_OPTIONS && length < size; i++) {
    if (!has_option(entry, i)) continue;
    length += (size_t)snprintf(text + length, size - length, "%s:%s", length ? ", " : "",
                               resource_options[i].option);
  }
}

static int check_option(Ceed ceed, const RitzRegistryEntry *entry, const char *option) {
  const char *const resource = entry->resource;
  char list[200];
  int i = 0;
  list_options(entry, sizeof(list), list);
  while (i < RITZ_NUM_OPTIONS && !(has_option(entry, i) && is_same_name(resource_options[i].option, option)))
    i++;
  RITZ_REQUIRE(i < RITZ_NUM_OPTIONS, ceed, CEED_ERROR_INCOMPATIBLE,
               "CeedInit: %s has no option ':%.*s'; it has %s", resource, shown_length(option), option, list);
  const char *known = resource_options[i].option;
  const bool has_value = option[name_length(option)] == '=', needs_value = strchr(known, '=');
  RITZ_REQUIRE(has_value || !needs_value, ceed, CEED_ERROR_INCOMPATIBLE,
               "CeedInit: option ':%.*s' of %s needs a value, as in ':%s'", shown_length(option), option,
               resource, known);
  RITZ_REQUIRE(!has_value || needs_value, ceed, CEED_ERROR_INCOMPATIBLE,
               "CeedInit: option ':%.*s' of %s takes no value", shown_length(option), option, resource);
  return CEED_ERROR_SUCCESS;
}

int ritz_registry_check_options(Ceed ceed, const RitzRegistryEntry *entry, const char *options) {
  for (const char *at = options; *at; at += 1 + strcspn(at + 1, ":")) {
    RITZ_TRY(check_option(ceed, entry, at + 1));
    for (const char *before = options; before < at; before += 1 + strcspn(before + 1, ":"))
      RITZ_REQUIRE(!is_same_name(before + 1, at + 1), ceed, CEED_ERROR_INCOMPATIBLE,
                   "CeedInit: option ':%.*s' is given twice", (int)name_length(at + 1), at + 1);
  }
  return CEED_ERROR_SUCCESS;
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
    FILL(qfunction_compile);
    FILL(qfunction_apply);
    FILL(operator_apply);
    FILL(operator_assemble_qfunction);
    FILL(operator_assemble_add_diagonal);
    FILL(operator_assemble);
    FILL(vector_set_value);
    FILL(vector_set_value_strided);
    FILL(vector_copy_strided);
    FILL(vector_norm);
    FILL(vector_convert);
    FILL(vector_scale);
    FILL(vector_filter);
    FILL(vector_axpby);
    FILL(vector_pointwise_mult);
    FILL(vector_reciprocal);
    FILL(vector_pass);
    FILL(vector_pass_by);
    FILL(vector_set_entries);
    FILL(vector_copy_entries);
    FILL(front_tree_run);
    FILL(front_prepare);
    FILL(front_run);
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

int CeedGetResourceRoot(Ceed ceed, const char *resource, const char *delineator, char **resource_root) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, resource_root);
  RITZ_REQUIRE(resource && delineator, ceed, CEED_ERROR_INCOMPATIBLE, "%s: %s is NULL", __func__,
               resource ? "delineator" : "resource");
  const char *end = strstr(resource, delineator);
  RITZ_TRY(ritz_strdup(ceed, resource, resource_root));
  if (end) (*resource_root)[end - resource] = '\0';
  ritz_memory_give(*resource_root);
  return CEED_ERROR_SUCCESS;
}
