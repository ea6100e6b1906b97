// SPDX-License-Identifier: BSD-2-Clause
// Loaded code of the process and its counters. Called by jit/load.c and jit/build.c; the functions of
// jit/jit.h that take a module are in module.c, too.
#ifndef RITZ_JIT_MODULE_H
#define RITZ_JIT_MODULE_H

#include "jit/hash.h"
#include "jit/jit.h"

// `reason` and `handle` are taken over; reason is NULL for a READY one.
int ritz_module_create(Ceed ceed, const RitzHash *key, RitzJitStatus status, char *reason, void *handle,
                       RitzJitModule *module);
// To be called before the module is shared.
void ritz_module_set_language(RitzJitModule module, RitzJitLanguage language);
void ritz_module_set_recorded(
    RitzJitModule module); // the cache says that it is refused, and how long that holds
bool ritz_module_is_recorded(RitzJitModule module);
// Is found no more, and goes with its last reference; nothing when it was not shared.
void ritz_module_forget(RitzJitModule module);
// The module of a key, with a new reference, or NULL.
RitzJitModule ritz_module_find(const RitzHash *key);
// Makes *module findable, or exchanges it for one that another thread has loaded meanwhile.
void ritz_module_share(RitzJitModule *module);
// Another reference.
RitzJitModule ritz_module_reference(RitzJitModule module);

void ritz_jit_count(const RitzJitCounters *more);

#endif
