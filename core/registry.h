// SPDX-License-Identifier: BSD-2-Clause
// Choice of a backend by name. Used by core/ceed.c and root/ritz.c.
#ifndef RITZ_CORE_REGISTRY_H
#define RITZ_CORE_REGISTRY_H

#include "core/core.h"

// Entry that a request (without its help prefix) means, or NULL: of all names that go on from the request the
// one with the lowest priority number, of those that can be used here if any can. *closest is the entry with
// most leading characters in common.
const RitzRegistryEntry *ritz_registry_match(const RitzRegistry *registry, const char *request,
                                             const RitzRegistryEntry **closest);
// Refuses options (the part of a request from its first colon on) that are none of the backend's, lack their
// value, have one too many, or stand there twice: INCOMPATIBLE.
int ritz_registry_check_options(Ceed ceed, const RitzRegistryEntry *entry, const char *options);
// Why an entry cannot be used here, or NULL when it can.
const char *ritz_registry_reason(const RitzRegistryEntry *entry);

#endif
