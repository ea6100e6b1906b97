// SPDX-License-Identifier: BSD-2-Clause
// The table of the checking backend.
#include "backends/check/check.h"

#include <string.h>

#include "backends/ref/ref.h"

// `:inner=NAME` names the backend that computes.
static int create(Ceed ceed, const char *options) {
  const char *inner = strstr(options, ":inner=");
  if (!inner) return CEED_ERROR_SUCCESS;
  size_t length = strcspn(inner + 7, ":");
  RITZ_REQUIRE(length == 3 && !strncmp(inner + 7, "ref", 3), ceed, CEED_ERROR_BACKEND,
               "CeedInit: /cpu/self/check cannot watch '%.*s'; it watches 'ref'", (int)length, inner + 7);
  return CEED_ERROR_SUCCESS;
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
