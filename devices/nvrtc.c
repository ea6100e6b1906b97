// SPDX-License-Identifier: BSD-2-Clause
// NVIDIA's run-time compiler (contract in devices/device.h).
// Called by cuda.c, and by tests and tools on machines without a device.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "base/error.h"
#include "base/memory.h"
#include "devices/cuda-api.h"
#include "devices/device.h"
#include "devices/vendor.h"

// ---- The library ----

static struct {
  char version[32];
  int major;
  RitzNvrtcApi api;
} nvrtc;

static const char no_library[] =
    "libnvrtc.so not found (looked for versions 13, 12 and 11.2 in CUDA_HOME, CUDA_PATH, where the loader "
    "looks, and in /usr/local/cuda*); install the CUDA toolkit, or set CUDA_HOME or RITZ_NVRTC";

static const char *take_nvrtc_functions(void *library) {
  const char *missing = NULL;
  int major, minor;

#define FIND(name, symbol, args) RITZ_VENDOR_TAKE(nvrtc.api, name, symbol);
  RITZ_NVRTC_FUNCTIONS(FIND)
#undef FIND
  RITZ_VENDOR_TAKE(nvrtc.api, error_string, nvrtcGetErrorString);
  if (missing) return missing;
  if (nvrtc.api.version(&major, &minor)) return "nvrtcVersion that succeeds";
  snprintf(nvrtc.version, sizeof(nvrtc.version), "%d.%d", major, minor);
  nvrtc.major = major;
  return NULL;
}

static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so",
                                    NULL};
static RitzVendor library = {
    .variable = ENV_RITZ_NVRTC, .names = names, .take = take_nvrtc_functions, .symbol = "nvrtcVersion"};

const char *ritz_nvrtc_file(const char **why) {
  const char *file = ritz_vendor_find(&library, why);

  if (!file && !ritz_environment(library.variable)) *why = no_library;
  return file;
}

const char *ritz_nvrtc_version(const char **why) { return ritz_nvrtc_file(why) ? nvrtc.version : NULL; }

// ---- Compilation ----

static int check_nvrtc(Ceed ceed, nvrtcResult result, const char *call, const char *name) {
  const bool is_memory = result == NVRTC_ERROR_OUT_OF_MEMORY;

  RITZ_REQUIRE(!result, ceed, is_memory ? CEED_ERROR_MAJOR : CEED_ERROR_BACKEND, "%s: %s: %s", call, name,
               nvrtc.api.error_string(result));
  return CEED_ERROR_SUCCESS;
}

// "sm_90" -> 90.
static int arch_number(const char *arch) {
  const char *digits = arch + strcspn(arch, "0123456789");

  return atoi(digits);
}

// The newest architecture that the compiler knows and whose code an architecture can be given: itself, else
// an older one, whose PTX the driver translates. 0: it knows only newer ones, from *oldest to *newest.
static int choose_arch(Ceed ceed, int wanted, int *chosen, int *oldest, int *newest) {
  int num = 0;
  int *archs = NULL;

  *chosen = *oldest = *newest = 0;
  RITZ_TRY(check_nvrtc(ceed, nvrtc.api.num_archs(&num), "nvrtcGetNumSupportedArchs", nvrtc.version));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num, &archs));
  int ierr = check_nvrtc(ceed, nvrtc.api.archs(archs), "nvrtcGetSupportedArchs", nvrtc.version);
  for (int i = 0; i < num && !ierr; i++) {
    if (archs[i] <= wanted && archs[i] > *chosen) *chosen = archs[i];
    if (i == 0 || archs[i] < *oldest) *oldest = archs[i];
    if (archs[i] > *newest) *newest = archs[i];
  }
  RITZ_FREE(&archs);
  return ierr;
}

static int get_log(Ceed ceed, nvrtcProgram program, const char *name, RitzDeviceCode *code) {
  size_t num_bytes = 0;

  RITZ_TRY(check_nvrtc(ceed, nvrtc.api.log_size(program, &num_bytes), "nvrtcGetProgramLogSize", name));
  RITZ_TRY(RITZ_CALLOC(ceed, num_bytes + 1, &code->log));
  return num_bytes ? check_nvrtc(ceed, nvrtc.api.log(program, code->log), "nvrtcGetProgramLog", name)
                   : CEED_ERROR_SUCCESS;
}

// PTX is text, its end included.
static int get_nvrtc_output(Ceed ceed, nvrtcProgram program, const char *name, bool is_ptx,
                            RitzDeviceCode *code) {
  const RitzNvrtcApi *api = &nvrtc.api;
  const nvrtcResult result =
      is_ptx ? api->ptx_size(program, &code->num_bytes) : api->binary_size(program, &code->num_bytes);

  RITZ_TRY(check_nvrtc(ceed, result, is_ptx ? "nvrtcGetPTXSize" : "nvrtcGetCUBINSize", name));
  RITZ_TRY(RITZ_MALLOC(ceed, code->num_bytes, &code->bytes));
  return is_ptx ? check_nvrtc(ceed, api->ptx(program, code->bytes), "nvrtcGetPTX", name)
                : check_nvrtc(ceed, api->binary(program, code->bytes), "nvrtcGetCUBIN", name);
}

static int run_nvrtc(Ceed ceed, nvrtcProgram program, const char *name, const char *arch, bool is_ptx,
                     bool is_hasty, RitzDeviceCode *code) {
  char target[128];
  // The last two, known since 13.0: our own cache is enough, and what comes from theirs has no log.
  const char *const options[] = {target,       RITZ_NVRTC_STANDARD, RITZ_NVRTC_SPACE, "--ptxas-options=-v",
                                 "--no-cache", RITZ_NVRTC_HASTY};
  const int num_options = nvrtc.major >= 13 ? (is_hasty ? 6 : 5) : 4;

  snprintf(target, sizeof(target), "--gpu-architecture=%s", arch);
  const nvrtcResult result = nvrtc.api.compile(program, num_options, options);
  if (result != NVRTC_ERROR_COMPILATION) RITZ_TRY(check_nvrtc(ceed, result, "nvrtcCompileProgram", name));
  RITZ_TRY(get_log(ceed, program, name, code));
  return result ? CEED_ERROR_SUCCESS : get_nvrtc_output(ceed, program, name, is_ptx, code);
}

static int compile_for(Ceed ceed, const char *arch, const char *name, const char *text, bool is_hasty,
                       RitzDeviceCode *code, const char **why) {
  nvrtcProgram program = NULL;
  int chosen, oldest, newest;
  char target[64];

  *code = (RitzDeviceCode){.bytes = NULL};
  if (!ritz_nvrtc_version(why)) return CEED_ERROR_UNSUPPORTED;
  RITZ_TRY(choose_arch(ceed, arch_number(arch), &chosen, &oldest, &newest));
  RITZ_REQUIRE(chosen, ceed, CEED_ERROR_BACKEND,
               "nvrtcCompileProgram: %s: NVRTC %s makes code for sm_%d to sm_%d, not for %s", name,
               nvrtc.version, oldest, newest, arch);
  const bool is_ptx = chosen != arch_number(arch);
  snprintf(target, sizeof(target), "compute_%d", chosen);
  RITZ_TRY(
      check_nvrtc(ceed, nvrtc.api.create(&program, text, name, 0, NULL, NULL), "nvrtcCreateProgram", name));
  int ierr = run_nvrtc(ceed, program, name, is_ptx ? target : arch, is_ptx, is_hasty, code);
  nvrtc.api.destroy(&program);
  if (ierr) ritz_device_code_free(code);
  return ierr;
}

int ritz_nvrtc_compile(Ceed ceed, const char *arch, const char *name, const char *text, RitzDeviceCode *code,
                       const char **why) {
  return compile_for(ceed, arch, name, text, false, code, why);
}

int ritz_nvrtc_compile_hastily(Ceed ceed, const char *arch, const char *name, const char *text,
                               RitzDeviceCode *code, const char **why) {
  return compile_for(ceed, arch, name, text, true, code, why);
}
