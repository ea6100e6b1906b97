// SPDX-License-Identifier: BSD-2-Clause
// What the reference backend does for /cpu/self/gen, serially: with one warning, and an error under
// RITZ_STRICT. All delegations of this backend but whole operators (prepare.c) go through here.
#include "backends/cpu/cpu.h"

int ritz_cpu_delegate(Ceed ceed, const char *what, const char *reason) {
  return ritz_warn_once(ceed, ceed->resource, what, reason, "the reference backend runs it");
}
