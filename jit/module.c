// SPDX-License-Identifier: BSD-2-Clause
// Loaded code of the process (contracts in jit/module.h and jit/jit.h).
#include "jit/module.h"

#include <dlfcn.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"

struct RitzJitModule_private {
  RitzJitModule next; // in the list, borrowed
  int num_references;
  bool is_shared; // in the list
  RitzHash key;
  RitzJitStatus status;
  RitzJitLanguage language;
  bool is_recorded; // on disk, when it is refused
  char *reason;     // owned, NULL when READY
  void *handle;     // owned, NULL when not READY
};

// Both guarded by RITZ_LOCK_JIT. Texts that the compiler refused stay in the list until the process ends, so
// that they are compiled once; everything else leaves it with the last reference.
static RitzJitModule shared;
static RitzJitCounters counters;

static bool is_remembered(RitzJitModule module) {
  return module->is_shared && module->status == RITZ_JIT_REFUSED;
}

static void unload_module(RitzJitModule module) {
  if (module->handle) dlclose(module->handle);
  RITZ_FREE(&module->reason);
  RITZ_FREE(&module);
}

int ritz_module_create(Ceed ceed, const RitzHash *key, RitzJitStatus status, char *reason, void *handle,
                       RitzJitModule *module) {
  int ierr = RITZ_CALLOC(ceed, 1, module);

  if (ierr && handle) dlclose(handle);
  if (ierr) RITZ_FREE(&reason);
  RITZ_TRY(ierr);
  **module = (struct RitzJitModule_private){
      .num_references = 1, .key = *key, .status = status, .reason = reason, .handle = handle};
  return CEED_ERROR_SUCCESS;
}

void ritz_module_set_language(RitzJitModule module, RitzJitLanguage language) { module->language = language; }

void ritz_module_set_recorded(RitzJitModule module) { module->is_recorded = true; }

bool ritz_module_is_recorded(RitzJitModule module) { return module->is_recorded; }

// ---- The list ----

static RitzJitModule find_module_locked(const RitzHash *key) {
  RitzJitModule module = shared;

  while (module && strcmp(module->key.hex, key->hex) != 0) module = module->next;
  if (module) module->num_references++;
  return module;
}

RitzJitModule ritz_module_find(const RitzHash *key) {
  ritz_lock(RITZ_LOCK_JIT);
  RitzJitModule module = find_module_locked(key);
  ritz_unlock(RITZ_LOCK_JIT);
  return module;
}

void ritz_module_share(RitzJitModule *module) {
  ritz_lock(RITZ_LOCK_JIT);
  RitzJitModule other = find_module_locked(&(*module)->key);
  if (!other) {
    (*module)->is_shared = true;
    (*module)->next = shared;
    shared = *module;
    if (is_remembered(*module)) {
      ritz_memory_give(*module);
      ritz_memory_give((*module)->reason);
    }
  }
  ritz_unlock(RITZ_LOCK_JIT);
  if (!other) return;
  unload_module(*module);
  *module = other;
}

RitzJitModule ritz_module_reference(RitzJitModule module) {
  ritz_lock(RITZ_LOCK_JIT);
  module->num_references++;
  ritz_unlock(RITZ_LOCK_JIT);
  return module;
}

static void remove_locked(RitzJitModule module) {
  RitzJitModule *at = &shared;

  while (*at && *at != module) at = &(*at)->next;
  if (*at) *at = module->next;
}

void ritz_module_forget(RitzJitModule module) {
  ritz_lock(RITZ_LOCK_JIT);
  if (is_remembered(module)) {
    ritz_memory_adopt(module);
    ritz_memory_adopt(module->reason);
  }
  if (module->is_shared) remove_locked(module);
  module->is_shared = false;
  ritz_unlock(RITZ_LOCK_JIT);
}

void ritz_jit_release(RitzJitModule *module) {
  if (!*module) return;
  ritz_lock(RITZ_LOCK_JIT);
  bool is_last = --(*module)->num_references == 0 && !is_remembered(*module);
  if (is_last) remove_locked(*module);
  ritz_unlock(RITZ_LOCK_JIT);
  if (is_last) unload_module(*module);
  *module = NULL;
}

// ---- Questions ----

RitzJitStatus ritz_jit_status(RitzJitModule module) { return module->status; }

const char *ritz_jit_reason(RitzJitModule module) {
  return module->reason ? module->reason
                        : "its compiled code lacks a function, or has one of another version of Ritz";
}

RitzJitLanguage ritz_jit_language(RitzJitModule module) { return module->language; }

void *ritz_jit_symbol(RitzJitModule module, const char *name) {
  return module->handle ? dlsym(module->handle, name) : NULL;
}

// ---- Counters ----

void ritz_jit_count(const RitzJitCounters *more) {
  ritz_lock(RITZ_LOCK_JIT);
  counters.memory_hits += more->memory_hits;
  counters.disk_hits += more->disk_hits;
  counters.compilations += more->compilations;
  counters.failures += more->failures;
  counters.retries += more->retries;
  counters.compile_seconds += more->compile_seconds;
  counters.load_seconds += more->load_seconds;
  ritz_unlock(RITZ_LOCK_JIT);
}

void ritz_jit_counters(RitzJitCounters *result) {
  ritz_lock(RITZ_LOCK_JIT);
  *result = counters;
  ritz_unlock(RITZ_LOCK_JIT);
}
