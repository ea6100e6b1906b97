// SPDX-License-Identifier: BSD-2-Clause
// What lowering may use here: the processor, and variables of the environment (contract in cpu.h).
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/cpu.h"
#include "base/environment.h"

static CeedInt vector_bytes(void) {
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
  if (__builtin_cpu_supports("avx512f")) return 64;
  if (__builtin_cpu_supports("avx2")) return 32;
#endif
  return 16;
}

// Processors of Intel; those of AMD are known to drop fetches (doc/performance-cpu.md, 'What a batch of BP3
// takes'), others were not measured.
static bool keeps_fetches(void) {
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
  return __builtin_cpu_is("intel");
#else
  return false;
#endif
}

// RITZ_LANES: 2, 4, 8, 16 or 32 in place of what a vector register holds; else 0.
static CeedInt wanted_lanes(const char *text) {
  const long lanes = text ? strtol(text, NULL, 10) : 0;
  return lanes >= 2 && lanes <= 32 && (lanes & (lanes - 1)) == 0 ? (CeedInt)lanes : 0;
}

static bool is_not(RitzVariable variable, const char *value) {
  const char *found = ritz_environment(variable);
  return !found || strcmp(found, value) != 0;
}

bool ritz_cpu_waits(void) {
  const char *text = ritz_environment(ENV_RITZ_WAIT);
  return text && strcmp(text, "0") != 0;
}

void ritz_cpu_environment(CeedScalarType precision, RitzCpuMachine *machine, RitzPlanOptions *options) {
  const CeedInt in_register = vector_bytes() / (CeedInt)ritz_scalar_bytes(precision);
  const CeedInt lanes = wanted_lanes(ritz_environment(ENV_RITZ_LANES));
  *machine = (RitzCpuMachine){.lanes = lanes ? lanes : in_register,
                              .allows_text = is_not(ENV_RITZ_QFUNCTION, "pointer"),
                              .keeps_fetches = keeps_fetches()};
  *options = (RitzPlanOptions){.allows_simple_inputs = is_not(ENV_RITZ_SIMPLE_INPUTS, "off"),
                               .allows_even_odd = is_not(ENV_RITZ_EVEN_ODD, "off"),
                               .even_odd_near = !is_not(ENV_RITZ_EVEN_ODD, "near"),
                               .allows_blocks = true};
}
