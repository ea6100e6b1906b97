// SPDX-License-Identifier: BSD-2-Clause
// Measured choices: what they are good for, as a key; what this process knows of them; those on disk. Called
// by fused.c when it makes a kernel, and by tune.c (contracts in gen.h).
//
// Environment: RITZ_TUNE=off (nothing is measured, what was measured is not used), RITZ_TUNE=N (kernels to
// try).
#include <ritz/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/gpu/context.h"
#include "backends/gpu/gen.h"
#include "base/environment.h"
#include "base/threads.h"
#include "jit/strings.h"
#include "jit/tune-record.h"
#include "plan/choice.h"

enum { MOST_KERNELS = 40 };

int ritz_gpu_tune_limit(void) {
  const char *value = ritz_environment(ENV_RITZ_TUNE);
  if (value && !strcmp(value, "off")) return 0;
  const long number = value ? strtol(value, NULL, 10) : 0;
  return number > 0 && number < MOST_KERNELS ? (int)number : MOST_KERNELS;
}

// ---- Key ----

static void add_number(RitzHasher *hasher, int64_t number) { ritz_hash_add(hasher, &number, sizeof(number)); }

static int add_plan(Ceed ceed, RitzHasher *hasher, const RitzPlan *plan) {
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  const bool is_written = stream && !ritz_plan_write(plan, stream) && !ferror(stream);
  const bool is_closed = stream && !fclose(stream);
  if (is_written && is_closed) ritz_hash_add(hasher, text, size);
  free(text);
  RITZ_REQUIRE(is_written && is_closed, ceed, CEED_ERROR_BACKEND, "%s: no memory for the text of a plan",
               ceed->resource);
  return CEED_ERROR_SUCCESS;
}

// Adds the function's text without lines that name files: programs may lie anywhere.
static void add_source(RitzHasher *hasher, const char *source) {
  for (const char *line = source; *line;) {
    const size_t length = strcspn(line, "\n");
    if (strncmp(line, "#line ", 6) != 0) ritz_hash_add(hasher, line, length + (line[length] == '\n'));
    line += length + (line[length] == '\n');
  }
}

static void add_function(RitzHasher *hasher, CeedQFunction qf, const char *source) {
  add_number(hasher, qf->ctx ? (int64_t)qf->ctx->storage.num_bytes : -1);
  add_number(hasher, qf->is_context_writable);
  add_source(hasher, source);
}

// Adds to a key what depends on the mesh: which spaces have rows of nodes. A plan that no kernel takes may
// have a target without spaces.
static void add_target(RitzHasher *hasher, const RitzPlan *plan, const RitzGpuTarget *target) {
  for (int s = 0; target->spaces && s < plan->num_spaces; s++)
    add_number(hasher, target->spaces[s].row_length > 0);
}

static int make_tuning_key(CeedOperator op, const RitzPlan *plan, const RitzGpuTarget *target,
                           const char *source, RitzHash *key) {
  const RitzGpu *gpu = ritz_gpu(op->obj.ceed);
  const int64_t numbers[] = {RITZ_VERSION_MAJOR, RITZ_VERSION_MINOR,    RITZ_VERSION_PATCH,
                             sizeof(CeedScalar), gpu->is_deterministic, ritz_gpu_gen_machine(op).mma};
  RitzHasher hasher;
  ritz_hash_begin(&hasher);
  ritz_hash_add_string(&hasher, "choices of a fused kernel");
  ritz_hash_add(&hasher, numbers, sizeof(numbers));
  ritz_hash_add_string(&hasher, gpu->driver->name);
  ritz_hash_add_string(&hasher, gpu->info->name);
  ritz_hash_add_string(&hasher, gpu->info->arch);
  RITZ_TRY(add_plan(op->obj.ceed, &hasher, plan));
  add_target(&hasher, plan, target);
  add_function(&hasher, op->qf, source);
  *key = ritz_hash_end(&hasher);
  return CEED_ERROR_SUCCESS;
}

// ---- What the process knows: guarded by RITZ_LOCK_TUNING, kept until it ends ----

// A choice read from the disk cache (or the fact that there is none), or measured since.
typedef struct Known {
  struct Known *next;
  RitzHash place;
  RitzGpuTuning tuning;
} Known;

static Known *all_known;
static int64_t num_measured;

// Key and folder, which may change while a process runs.
static RitzHash place_of(const RitzHash *key) {
  static const RitzVariable variables[] = {ENV_RITZ_CACHE, ENV_RITZ_CACHE_DIR, ENV_XDG_CACHE_HOME, ENV_HOME};
  RitzHasher hasher;
  ritz_hash_begin(&hasher);
  ritz_hash_add_string(&hasher, key->hex);
  for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
    ritz_hash_add_string(&hasher, ritz_environment(variables[i]));
  return ritz_hash_end(&hasher);
}

static Known *find_choice_locked(const RitzHash *place) {
  Known *known = all_known;
  while (known && strcmp(known->place.hex, place->hex) != 0) known = known->next;
  return known;
}

static bool recall(const RitzHash *place, RitzGpuTuning *tuning) {
  ritz_lock(RITZ_LOCK_TUNING);
  const Known *known = find_choice_locked(place);
  if (known) *tuning = known->tuning;
  ritz_unlock(RITZ_LOCK_TUNING);
  return known;
}

// is_new: was measured just now.
static int remember(Ceed ceed, const RitzHash *place, bool is_new, RitzGpuTuning *tuning) {
  Known *fresh = NULL;
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &fresh));
  ritz_lock(RITZ_LOCK_TUNING);
  Known *known = find_choice_locked(place);
  if (!known) {
    fresh->place = *place;
    fresh->next = all_known;
    ritz_memory_give(fresh);
    all_known = known = fresh;
    fresh = NULL;
  }
  if (is_new) tuning->number = ++num_measured;
  known->tuning = *tuning;
  ritz_unlock(RITZ_LOCK_TUNING);
  RITZ_FREE(&fresh);
  return CEED_ERROR_SUCCESS;
}

// ---- Texts: a choice, the route, the device ----
//     elements=4 blocks=6 route=fused device=NVIDIA H200

static const char route_word[] = "route=", device_word[] = " device=";

static int write_text(CeedOperator op, const RitzGpuTuning *tuning, char **text) {
  char choice[RITZ_CHOICE_LENGTH];
  ritz_plan_gpu_write_choice(&tuning->choice, choice);
  return ritz_format(op->obj.ceed, text, "%s%s%s%s%s%s", choice, choice[0] ? " " : "", route_word,
                     RitzOperatorRouteName(tuning->route), device_word, ritz_gpu(op->obj.ceed)->info->name);
}

static bool read_route(const char *name, size_t length, RitzOperatorRoute *route) {
  for (int r = RITZ_OPERATOR_ROUTE_FUSED; r <= RITZ_OPERATOR_ROUTE_GEMM_VENDOR; r++) {
    *route = (RitzOperatorRoute)r;
    if (strlen(RitzOperatorRouteName(*route)) == length &&
        !strncmp(name, RitzOperatorRouteName(*route), length))
      return true;
  }
  return false;
}

// False: the text is none of the above, or of another device. It is cut.
static bool read_text(CeedOperator op, char *text, RitzGpuTuning *tuning) {
  char *route = strstr(text, route_word), *device = route ? strstr(route, device_word) : NULL;
  if (!device || (route > text && route[-1] != ' ')) return false;
  if (strcmp(device + strlen(device_word), ritz_gpu(op->obj.ceed)->info->name) != 0) return false;
  const char *name = route + strlen(route_word);
  if (!read_route(name, (size_t)(device - name), &tuning->route)) return false;
  route[route > text ? -1 : 0] = '\0';
  return ritz_plan_gpu_read_choice(text, &tuning->choice);
}

// ---- Finding and keeping ----

static int read_note(CeedOperator op, RitzGpuTuning *tuning) {
  char *text = NULL;
  RITZ_TRY(ritz_tune_record_find(op->obj.ceed, &tuning->key, &text));
  tuning->is_measured = text && read_text(op, text, tuning);
  RITZ_FREE(&text);
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_tune_find(CeedOperator op, const RitzPlan *plan, const RitzGpuTarget *target, const char *source,
                       RitzGpuTuning *tuning) {
  *tuning = (RitzGpuTuning){0};
  RITZ_TRY(make_tuning_key(op, plan, target, source, &tuning->key));
  if (ritz_gpu_tune_limit() == 0) return CEED_ERROR_SUCCESS;
  const RitzHash place = place_of(&tuning->key);
  if (recall(&place, tuning)) return CEED_ERROR_SUCCESS;
  RITZ_TRY(read_note(op, tuning));
  return remember(op->obj.ceed, &place, false, tuning);
}

void ritz_gpu_tune_recall(RitzGpuTuning *tuning) {
  const RitzHash place = place_of(&tuning->key);
  (void)recall(&place, tuning);
}

int ritz_gpu_tune_keep(CeedOperator op, RitzGpuTuning *tuning) {
  char *text = NULL;
  const RitzHash place = place_of(&tuning->key);
  tuning->is_measured = true;
  RITZ_TRY(remember(op->obj.ceed, &place, true, tuning));
  RITZ_TRY(write_text(op, tuning, &text));
  const int ierr = ritz_tune_record_write(op->obj.ceed, &tuning->key, op->qf->kernel_name, text);
  RITZ_FREE(&text);
  return ierr;
}
