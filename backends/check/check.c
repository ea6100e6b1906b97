// SPDX-License-Identifier: BSD-2-Clause
// The table of the checking backend.
#include "backends/check/check.h"

#include <string.h>

#include "backends/check/device.h"
#include "backends/ref/ref.h"

// Whether the value of an option, which goes on to the next colon, is this word.
static bool is_word(const char *value, const char *word) {
  return strcspn(value, ":") == strlen(word) && !strncmp(value, word, strlen(word));
}

// `:inner=NAME` names the backend that computes, `:mem=device` has this one play a device: the context then
// gets that one's table.
static int check_ceed_create(Ceed ceed, const char *options) {
  const char *inner = ritz_resource_option(options, RITZ_OPTION_INNER),
             *mem = ritz_resource_option(options, RITZ_OPTION_MEM);
  RITZ_REQUIRE(!inner || is_word(inner, "ref"), ceed, CEED_ERROR_BACKEND,
               "CeedInit: /cpu/self/check cannot watch '%.*s'; it watches 'ref'", (int)strcspn(inner, ":"),
               inner);
  if (!mem || is_word(mem, "host")) return CEED_ERROR_SUCCESS;
  RITZ_REQUIRE(is_word(mem, "device"), ceed, CEED_ERROR_BACKEND,
               "CeedInit: /cpu/self/check has no memory '%.*s'; it has 'host' and 'device'",
               (int)strcspn(mem, ":"), mem);
  ritz_backend_complete(&ritz_check_device_backend, &ceed->backend);
  return ceed->backend.ceed_create(ceed, options);
}

static int check_ceed_destroy(Ceed ceed) {
  (void)ceed;
  return CEED_ERROR_SUCCESS;
}

const RitzBackend ritz_check_backend = {
    .name = "/cpu/self/check",
    .fallback = &ritz_ref_backend,
    .mem_type = CEED_MEM_HOST,
    .is_deterministic = true,
    .ceed_create = check_ceed_create,
    .ceed_destroy = check_ceed_destroy,
    .qfunction_call = ritz_check_qfunction_call,
    .vector_lend = ritz_check_vector_lend,
    .vector_take_back = ritz_check_vector_take_back,
    .vector_forget = ritz_check_vector_forget,
};
