// SPDX-License-Identifier: BSD-2-Clause
// The context: creation from a resource name, environment, JiT source roots, work vectors, version and build
// facts.
#include "base/environment.h"
#include "core/core.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <ritz/version.h>

#include "config/ritz-config.h"
#include "core/profile.h"
#include "core/registry.h"

static int view_ceed(CeedObject object, FILE *stream) { return CeedView((Ceed)object, stream); }
static int destroy_ceed(CeedObject *object) { return CeedDestroy((Ceed *)object); }

static CeedErrorHandler error_handler(Ceed ceed) { return ceed->error_handler; }

static int run_ranges_slots(Ceed ceed, int *num_slots) {
  *num_slots = 1;
  return ceed->backend.run_ranges_slots ? ceed->backend.run_ranges_slots(ceed, num_slots)
                                        : CEED_ERROR_SUCCESS;
}

static int run_ranges(Ceed ceed, int64_t n, RitzRangeFunction run, void *data) {
  if (ceed->backend.run_ranges) return ceed->backend.run_ranges(ceed, n, run, data);
  if (n > 0) run(data, 0, 0, n);
  return CEED_ERROR_SUCCESS;
}

static const RitzContextCalls context_calls = {error_handler, run_ranges_slots, run_ranges, ritz_warn_once};

const RitzClass ritz_ceed_class = {
    .name = "Ceed", .view = view_ceed, .destroy = destroy_ceed, .context = &context_calls};

// ---- Creation ----

static void print_resource_help(const RitzRegistry *registry) {
  fprintf(stderr, "libCEED version: %d.%d.%d%s (Ritz %s)\n", CEED_VERSION_MAJOR, CEED_VERSION_MINOR,
          CEED_VERSION_PATCH, CEED_VERSION_RELEASE ? "" : "+development", RITZ_VERSION);
  fprintf(stderr, "Available backend resources:\n");
  for (size_t k = 0; k < registry->num; k++) {
    const RitzRegistryEntry *entry = &registry->entries[k];
    if (!ritz_registry_reason(entry)) fprintf(stderr, "  %s\n", entry->resource);
  }
}

static CeedErrorHandler handler_from_environment(void) {
  const char *name = ritz_environment(ENV_CEED_ERROR_HANDLER);
  if (name && !strcmp(name, "exit")) return CeedErrorExit;
  if (name && !strcmp(name, "store")) return CeedErrorStore;
  if (name && !strcmp(name, "return")) return CeedErrorReturn;
  return CeedErrorAbort;
}

static bool clang_from_environment(void) {
  const char *use = ritz_environment(ENV_CEED_USE_CLANG_CUDA);
  return ritz_environment(ENV_CEED_CLANG_CUDA_CXX) || (use && strcmp(use, "0") && strcmp(use, "false"));
}

// Why the last CeedInit of this thread failed.
static _Thread_local char init_message[RITZ_MESSAGE_LENGTH];

// Keeps the message of a context whose creation failed, without file and line.
static void keep_init_message(Ceed ceed) {
  const char *place = strstr(ceed->message, "(): ");
  snprintf(init_message, sizeof(init_message), "%s", place ? place + 4 : "");
}

int RitzGetInitMessage(const char **message) {
  *message = init_message;
  return CEED_ERROR_SUCCESS;
}

static bool strict_from_environment(void) {
  const char *strict = ritz_environment(ENV_RITZ_STRICT);
  return strict && strcmp(strict, "0");
}

// The text of a request after `help` and one character; *is_help tells whether it was there.
static const char *skip_help(const char *resource, bool *is_help) {
  *is_help = !strncmp(resource, "help", 4);
  if (!*is_help) return resource;
  return resource[4] ? resource + 5 : resource + 4;
}

int ritz_ceed_create(const RitzRegistry *registry, const char *resource, CeedErrorHandler handler,
                     Ceed *ceed) {
  *ceed = NULL;
  RITZ_REQUIRE(resource, NULL, CEED_ERROR_MAJOR,
               "CeedInit: the resource is NULL; needed a name such as /cpu/self");
  bool is_help;
  const char *request = skip_help(resource, &is_help);
  if (is_help) print_resource_help(registry);
  RITZ_REQUIRE(request[0], NULL, CEED_ERROR_MAJOR, "CeedInit: No suitable backend: '%s' names no resource",
               resource);

  const RitzRegistryEntry *closest, *entry = ritz_registry_match(registry, request, &closest);
  init_message[0] = '\0';
  RITZ_REQUIRE(entry, NULL, CEED_ERROR_MAJOR, "CeedInit: No suitable backend: %s%s%s", request,
               closest ? "; the closest name is " : "", closest ? closest->resource : "");
  const char *reason = ritz_registry_reason(entry);
  RITZ_REQUIRE(!reason, NULL, CEED_ERROR_UNSUPPORTED, "CeedInit: %s cannot be used on this machine: %s",
               entry->resource, reason);

  Ceed created = NULL;
  RITZ_TRY(RITZ_CALLOC(NULL, 1, &created));
  created->obj = (struct CeedObject_private){.class = &ritz_ceed_class, .ceed = created, .ref_count = 1};
  created->registry = registry;
  created->resource = entry->resource;
  if (!handler) handler = handler_from_environment();
  created->error_handler = handler == CeedErrorReturn ? CeedErrorStore : handler; // for keep_init_message
  created->is_clang = clang_from_environment();
  created->is_strict = strict_from_environment();
  CeedResetErrorMessage(created, NULL);
  ritz_backend_complete(entry->backend, &created->backend);
  int ierr = ritz_warnings_from_environment(created, &created->warnings);
  if (!ierr) ierr = ritz_jit_add_include_folder(created);
  const char *options = request + strcspn(request, ":");
  created->repeats = ritz_resource_option(options, RITZ_OPTION_DETERMINISTIC) != NULL;
  if (!ierr) ierr = ritz_registry_check_options(created, entry, options);
  if (!ierr && created->backend.ceed_create) ierr = created->backend.ceed_create(created, options);
  if (ierr) created->backend.ceed_destroy = NULL; // its create has failed and left nothing
  if (!ierr) ierr = ritz_profile_open(created, request);
  if (ierr) {
    keep_init_message(created);
    CeedDestroy(&created);
    return ierr;
  }
  created->error_handler = handler;
  *ceed = created;
  return CEED_ERROR_SUCCESS;
}

bool ritz_option_number(const char *value, int64_t *number) {
  const size_t length = strcspn(value, ":"), num_digits = strspn(value, "0123456789");
  *number = 0;
  if (num_digits == 0 || num_digits != length) return false;
  for (size_t i = 0; i < length && *number < INT32_MAX; i++) *number = 10 * *number + (value[i] - '0');
  return true;
}

int CeedReferenceCopy(Ceed ceed, Ceed *ceed_copy) { return RITZ_REFERENCE_COPY(ceed, ceed_copy); }

static void free_strings(RitzStringList *list) {
  for (CeedInt i = 0; i < list->num; i++) RITZ_FREE(&list->item[i]);
  RITZ_FREE(&list->item);
}

int CeedDestroy(Ceed *ceed) {
  if (!ceed || !*ceed) return CEED_ERROR_SUCCESS;
  Ceed c = *ceed;
  RITZ_TRY(ritz_check_handle(NULL, __func__, "ceed", c, &ritz_ceed_class));
  if (c->obj.ref_count - c->num_work > 1) { // each pooled vector holds a reference, too
    c->obj.ref_count--;
    *ceed = NULL;
    return CEED_ERROR_SUCCESS;
  }
  for (CeedInt i = 0; i < c->num_work; i++) {
    RITZ_REQUIRE(!c->work[i].in_use, c, CEED_ERROR_ACCESS,
                 "CeedDestroy: Cannot destroy Ceed, a work vector of length %" CeedSize_FMT
                 " is still checked out",
                 c->work[i].vec->length);
  }
  RITZ_TRY(CeedClearWorkVectors(c, -1));
  if (c->obj.ref_count > 1) { // the caller still refers to a vector that was in the pool
    c->obj.ref_count--;
    *ceed = NULL;
    return CEED_ERROR_SUCCESS;
  }
  if (c->profile) ritz_profile_close(c);
  if (c->backend.ceed_destroy) RITZ_TRY(c->backend.ceed_destroy(c));
  RITZ_FREE(&c->work);
  free_strings(&c->jit_roots);
  free_strings(&c->jit_defines);
  free_strings(&c->rust_roots);
  RITZ_FREE(&c);
  ritz_memory_trim();
  *ceed = NULL;
  return CEED_ERROR_SUCCESS;
}

// ---- Queries ----

int CeedSetStream(Ceed ceed, void *handle) {
  RITZ_HANDLE(ceed);
  RITZ_REQUIRE(handle, ceed, CEED_ERROR_INCOMPATIBLE, "CeedSetStream: the stream handle is NULL");
  RITZ_REQUIRE(ceed->backend.set_stream, ceed, CEED_ERROR_UNSUPPORTED,
               "CeedSetStream: Backend does not implement streams: %s", ceed->resource);
  return ceed->backend.set_stream(ceed, handle);
}

int CeedGetResource(Ceed ceed, const char **resource) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, resource);
  *resource = ceed->resource;
  return CEED_ERROR_SUCCESS;
}

int CeedGetPreferredMemType(Ceed ceed, CeedMemType *mem_type) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, mem_type);
  *mem_type = ceed->backend.mem_type;
  return CEED_ERROR_SUCCESS;
}

int CeedIsDeterministic(Ceed ceed, bool *is_deterministic) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, is_deterministic);
  *is_deterministic = ceed->backend.is_deterministic;
  return CEED_ERROR_SUCCESS;
}

int CeedSetIsClang(Ceed ceed, bool isClang) {
  RITZ_HANDLE(ceed);
  ceed->is_clang = isClang;
  return CEED_ERROR_SUCCESS;
}

int CeedGetIsClang(Ceed ceed, bool *isClang) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, isClang);
  *isClang = ceed->is_clang;
  return CEED_ERROR_SUCCESS;
}

int CeedSetNumViewTabs(Ceed ceed, CeedInt num_tabs) {
  RITZ_HANDLE(ceed);
  return CeedObjectSetNumViewTabs((CeedObject)ceed, num_tabs);
}
int CeedGetNumViewTabs(Ceed ceed, CeedInt *num_tabs) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, num_tabs);
  return CeedObjectGetNumViewTabs((CeedObject)ceed, num_tabs);
}

int RitzDeviceGetCounters(Ceed ceed, RitzDeviceCounters *counters) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, counters);
  *counters = (RitzDeviceCounters){0};
  if (!ceed->backend.device_counters) return CEED_ERROR_SUCCESS;
  return ceed->backend.device_counters(ceed, counters);
}

static int view_device(Ceed ceed, FILE *stream) {
  RitzDeviceCounters c;
  RITZ_TRY(RitzDeviceGetCounters(ceed, &c));
  if (!c.driver) return CEED_ERROR_SUCCESS;
  ritz_object_indent(&ceed->obj, stream);
  fprintf(stream, "  Device: %s %" CeedInt_FMT ", %s\n", c.driver, c.index, c.device);
  ritz_object_indent(&ceed->obj, stream);
  fprintf(stream,
          "  Device Bytes: %" PRId64 " copied in, %" PRId64 " copied out, %" PRId64 " in use, %" PRId64
          " at most\n",
          c.bytes_in, c.bytes_out, c.bytes_live, c.bytes_peak);
  return CEED_ERROR_SUCCESS;
}

int CeedView(Ceed ceed, FILE *stream) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, stream);
  const char *const lines[][2] = {
      {"Ceed", ""},
      {"  Ceed Resource: ", ceed->resource},
      {"  Preferred MemType: ", CeedMemTypes[ceed->backend.mem_type]},
  };
  for (int i = 0; i < 3; i++) {
    ritz_object_indent(&ceed->obj, stream);
    fprintf(stream, "%s%s\n", lines[i][0], lines[i][1]);
  }
  return view_device(ceed, stream);
}

// ---- JiT roots and defines ----

static int append_string(Ceed ceed, const char *call, RitzStringList *list, const char *text) {
  RITZ_REQUIRE(text, ceed, CEED_ERROR_INCOMPATIBLE, "%s: the string is NULL", call);
  RITZ_REQUIRE(list->num_readers == 0, ceed, CEED_ERROR_ACCESS, "%s: the list is being read", call);
  RITZ_TRY(RITZ_REALLOC(ceed, (size_t)list->num + 1, &list->item));
  RITZ_TRY(ritz_strdup(ceed, text, &list->item[list->num]));
  list->num++;
  return CEED_ERROR_SUCCESS;
}

int CeedAddJitSourceRoot(Ceed ceed, const char *jit_source_root) {
  RITZ_HANDLE(ceed);
  return append_string(ceed, "CeedAddJitSourceRoot", &ceed->jit_roots, jit_source_root);
}

int CeedAddRustSourceRoot(Ceed ceed, const char *rust_source_root) {
  RITZ_HANDLE(ceed);
  RITZ_TRY(append_string(ceed, "CeedAddRustSourceRoot", &ceed->rust_roots, rust_source_root));
  return CeedSetIsClang(ceed, true);
}

int CeedAddJitDefine(Ceed ceed, const char *jit_define) {
  RITZ_HANDLE(ceed);
  return append_string(ceed, "CeedAddJitDefine", &ceed->jit_defines, jit_define);
}

// ---- Work vectors ----

static int add_work_vector(Ceed ceed, CeedSize len) {
  CeedVector vec = NULL;
  RITZ_TRY(RITZ_REALLOC(ceed, (size_t)ceed->num_work + 1, &ceed->work));
  RITZ_TRY(CeedVectorCreate(ceed, len, &vec));
  ceed->work[ceed->num_work++] = (RitzWorkVector){.vec = vec};
  return CEED_ERROR_SUCCESS;
}

int CeedGetWorkVector(Ceed ceed, CeedSize len, CeedVector *vec) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, vec);
  CeedInt i = 0;
  while (i < ceed->num_work && (ceed->work[i].in_use || ceed->work[i].vec->length < len)) i++;
  if (i == ceed->num_work) RITZ_TRY(add_work_vector(ceed, len));
  ceed->work[i].in_use = true;
  *vec = NULL;
  return CeedVectorReferenceCopy(ceed->work[i].vec, vec);
}

int CeedRestoreWorkVector(Ceed ceed, CeedVector *vec) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, vec);
  CeedInt i = 0;
  while (i < ceed->num_work && ceed->work[i].vec != *vec) i++;
  RITZ_REQUIRE(i < ceed->num_work, ceed, CEED_ERROR_MAJOR,
               "CeedRestoreWorkVector: the vector is not from the pool, found %s", ritz_found_at(*vec));
  RITZ_REQUIRE(ceed->work[i].in_use, ceed, CEED_ERROR_ACCESS,
               "CeedRestoreWorkVector: the vector is not checked out");
  RITZ_REQUIRE(!(*vec)->is_locked && (*vec)->num_readers == 0, ceed, CEED_ERROR_ACCESS,
               "CeedRestoreWorkVector: the vector's array is still in use");
  RITZ_TRY(CeedVectorDestroy(vec));
  ceed->work[i].in_use = false;
  return CEED_ERROR_SUCCESS;
}

// Free vectors of the pool that are shorter than min_len leave it; min_len < 0 stands for every length. An
// entry leaves the pool before its vector is destroyed, so that CeedDestroy always counts the pool's
// references right.
int CeedClearWorkVectors(Ceed ceed, CeedSize min_len) {
  RITZ_HANDLE(ceed);
  for (CeedInt i = ceed->num_work - 1; i >= 0; i--) {
    RitzWorkVector entry = ceed->work[i];
    if (entry.in_use || (min_len >= 0 && entry.vec->length >= min_len)) continue;
    ceed->num_work--;
    for (CeedInt k = i; k < ceed->num_work; k++) ceed->work[k] = ceed->work[k + 1];
    RITZ_TRY(CeedVectorDestroy(&entry.vec));
  }
  return CEED_ERROR_SUCCESS;
}

int CeedGetWorkVectorMemoryUsage(Ceed ceed, CeedScalar *usage_mb) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, usage_mb);
  double entries = 0;
  for (CeedInt i = 0; i < ceed->num_work; i++) entries += (double)ceed->work[i].vec->length;
  *usage_mb = (CeedScalar)(entries * sizeof(CeedScalar) * 1e-6);
  return CEED_ERROR_SUCCESS;
}

// ---- Version and build ----

int CeedGetVersion(int *major, int *minor, int *patch, bool *release) {
  if (major) *major = CEED_VERSION_MAJOR;
  if (minor) *minor = CEED_VERSION_MINOR;
  if (patch) *patch = CEED_VERSION_PATCH;
  if (release) *release = CEED_VERSION_RELEASE;
  return CEED_ERROR_SUCCESS;
}

int RitzGetVersion(int *major, int *minor, int *patch) {
  if (major) *major = RITZ_VERSION_MAJOR;
  if (minor) *minor = RITZ_VERSION_MINOR;
  if (patch) *patch = RITZ_VERSION_PATCH;
  return CEED_ERROR_SUCCESS;
}

int CeedGetGitVersion(const char **git_version) {
  *git_version = RITZ_GIT_VERSION;
  return CEED_ERROR_SUCCESS;
}

int CeedGetBuildConfiguration(const char **build_config) {
  *build_config = RITZ_BUILD_CONFIGURATION;
  return CEED_ERROR_SUCCESS;
}

int CeedGetScalarType(CeedScalarType *scalar_type) {
  *scalar_type = CEED_SCALAR_TYPE;
  return CEED_ERROR_SUCCESS;
}
