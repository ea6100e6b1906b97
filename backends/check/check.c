// SPDX-License-Identifier: BSD-2-Clause
// The table of the checking backend.
#include "backends/check/check.h"

#include <string.h>

#include "backends/check/device.h"
#include "backends/ref/ref.h"

// The value of an option such as ":mem=", or NULL; it ends at the next colon.
static const char *value_of(const char *options, const char *name, size_t *length) {
  const char *found = strstr(options, name);
  if (!found) return NULL;
  found += strlen(name);
  *length = strcspn(found, ":");
  return found;
}

static bool is_word(const char *value, size_t length, const char *word) {
  return length == strlen(word) && !strncmp(value, word, length);
}

// `:inner=NAME` names the backend that computes, `:mem=device` has this one play a device: the context then
// gets that one's table.
static int create(Ceed ceed, const char *options) {
  size_t length;
  const char *inner = value_of(options, ":inner=", &length);
  RITZ_REQUIRE(!inner || is_word(inner, length, "ref"), ceed, CEED_ERROR_BACKEND,
               "CeedInit: /cpu/self/check cannot watch '%.*s'; it watches 'ref'", (int)length, inner);
  const char *mem = value_of(options, ":mem=", &length);
  if (!mem || is_word(mem, length, "host")) return CEED_ERROR_SUCCESS;
  RITZ_REQUIRE(is_word(mem, length, "device"), ceed, CEED_ERROR_BACKEND,
               "CeedInit: /cpu/self/check has no memory '%.*s'; it has 'host' and 'device'", (int)length,
               mem);
  ritz_backend_complete(&ritz_check_device_backend, &ceed->backend);
  return ceed->backend.ceed_create(ceed, options);
}

static int destroy(Ceed ceed) {
  (void)ceed;
  return CEED_ERROR_SUCCESS;
}

const RitzBackend ritz_check_backend = {
    .name = "/cpu/self/check",
    .fallback = &ritz_ref_backend,
    .mem_type = CEED_MEM_HOST,
    .is_deterministic = true,
    .ceed_create = create,
    .ceed_destroy = destroy,
    .qfunction_call = ritz_check_qfunction_call,
    .vector_lend = ritz_check_vector_lend,
    .vector_take_back = ritz_check_vector_take_back,
    .vector_forget = ritz_check_vector_forget,
};
