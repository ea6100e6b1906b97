// SPDX-License-Identifier: BSD-2-Clause
// Checks of handles. Called first by every public function through the macros of base/handle.h.
#include "base/handle.h"

#include <stdatomic.h>
#include <string.h>

#include "base/error.h"

const RitzClass ritz_any_class = {.name = "CeedObject"};

// ---- Classes ----

// There are no objects before the first table comes.
static const RitzKnownClass no_classes[] = {{NULL, "no object"}};
static const RitzKnownClass *_Atomic known_classes = no_classes;

void ritz_classes_hand_down(const RitzKnownClass *classes) { atomic_store(&known_classes, classes); }

static const RitzClass *class_at(const void *handle) {
  const RitzClass *class;
  memcpy(&class, handle, sizeof(class));
  return class;
}

// Of no class: the last row.
static const RitzKnownClass *known_class_of(const void *handle) {
  const RitzKnownClass *known = atomic_load_explicit(&known_classes, memory_order_acquire);
  while (known->class && known->class != class_at(handle)) known++;
  return known;
}

const RitzClass *ritz_class_of(const void *handle) { return handle ? known_class_of(handle)->class : NULL; }

// ---- Sentinels ----

RitzSentinelPlace ritz_sentinels[RITZ_NUM_SENTINELS];

static const struct {
  const char *name, *class_name;
} sentinels[RITZ_NUM_SENTINELS] = {
    [RITZ_VECTOR_ACTIVE] = {"CEED_VECTOR_ACTIVE", "CeedVector"},
    [RITZ_VECTOR_NONE] = {"CEED_VECTOR_NONE", "CeedVector"},
    [RITZ_RESTRICTION_NONE] = {"CEED_ELEMRESTRICTION_NONE", "CeedElemRestriction"},
    [RITZ_BASIS_NONE] = {"CEED_BASIS_NONE", "CeedBasis"},
    [RITZ_QFUNCTION_NONE] = {"CEED_QFUNCTION_NONE", "CeedQFunction"},
};

// RITZ_NUM_SENTINELS: none.
static int sentinel_at(const void *handle) {
  int i = 0;
  while (i < RITZ_NUM_SENTINELS && handle != &ritz_sentinels[i]) i++;
  return i;
}

bool ritz_is_sentinel(const void *handle) {
  return (uintptr_t)handle - (uintptr_t)ritz_sentinels < sizeof(ritz_sentinels);
}

bool ritz_is_own_sentinel(const void *handle, const RitzClass *class) {
  const int i = sentinel_at(handle);
  return i < RITZ_NUM_SENTINELS && !strcmp(sentinels[i].class_name, class->name);
}

// ---- Checks ----

bool ritz_is_live(const void *handle, const RitzClass *class) {
  if (!handle) return false;
  if (!class) return !ritz_is_sentinel(handle);
  if (class_at(handle) == class) return true;
  if (class != &ritz_any_class) return false;
  const RitzClass *found = ritz_class_of(handle);
  return found && found->destroy;
}

const char *ritz_found_at(const void *handle) {
  if (!handle) return "NULL";
  const int i = sentinel_at(handle);
  return i < RITZ_NUM_SENTINELS ? sentinels[i].name : known_class_of(handle)->described;
}

Ceed ritz_context_at_hand(size_t num, const void *const handles[]) {
  for (size_t h = 0; h < num; h++) {
    if (ritz_is_sentinel(handles[h])) continue;
    if (ritz_class_of(handles[h])) return ((const RitzObject *)handles[h])->ceed;
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
