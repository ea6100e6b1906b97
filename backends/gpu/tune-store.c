// SPDX-License-Identifier: BSD-2-Clause
// Measured choices: what they are good for, as a key; what this process knows of them; those on disk. Called
// by gen.c when it makes a kernel, and by tune.c (contracts in gen.h).
//
// Environment: RITZ_TUNE=off (nothing is measured, what was measured is not used), RITZ_TUNE=N (kernels to
// try).
#include <ritz/version.h>
#include <stdlib.h>
#include <string.h>

#include "backends/gpu/gen.h"
#include "core/threads.h"
#include "jit/files.h"
#include "jit/note.h"
#include "plan/choice.h"

enum { MOST_KERNELS = 40 };

int ritz_gpu_tune_limit(void) {
  const char *value = ritz_environment("RITZ_TUNE");
  if (value && !strcmp(value, "off")) return 0;
  const long number = value ? strtol(value, NULL, 10) : 0;
  return number > 0 && number < MOST_KERNELS ? (int)number : MOST_KERNELS;
}

// ---- Key ----

static void add_number(RitzHasher *hasher, int64_t number) { ritz_hash_add(hasher, &number, sizeof(number)); }

static void add_values(RitzHasher *hasher, CeedSize num, const CeedScalar *values) {
  add_number(hasher, values ? num : -1);
  if (values) ritz_hash_add(hasher, values, (size_t)num * sizeof(*values));
}

static void add_matrix(RitzHasher *hasher, const RitzPlanMatrix *A) {
  add_values(hasher, (CeedSize)A->rows * A->cols, A->values);
}

static void add_basis(RitzHasher *hasher, const RitzPlanBasis *b) {
  const int64_t numbers[] = {b->is_tensor, b->dim,        b->P_1d,  b->Q_1d,          b->P,
                             b->Q,         b->deriv_mode, b->route, b->q_comp_interp, b->q_comp_deriv};
  ritz_hash_add(hasher, numbers, sizeof(numbers));
  add_matrix(hasher, &b->interp);
  add_matrix(hasher, &b->grad);
  add_matrix(hasher, &b->deriv);
  add_values(hasher, b->is_tensor ? b->Q_1d : b->Q, b->weights);
}

// Strides that depend on the size of the mesh do not count.
static void add_strides(RitzHasher *hasher, const RitzPlanSpace *s) {
  CeedInt strides[3];
  const CeedSize own = (CeedSize)s->num_nodes * s->num_comp;
  ritz_restriction_l_strides(s->rstr, strides);
  for (int d = 0; d < 3; d++) add_number(hasher, strides[d] > own ? -1 : strides[d]);
}

static void add_space(RitzHasher *hasher, const RitzPlanSpace *s) {
  const int64_t numbers[] = {s->is_input,         s->is_active,     s->array,      s->num_nodes,
                             s->num_comp,         s->basis,         s->modes,      s->is_oriented,
                             s->is_curl_oriented, s->is_interlaced, s->rstr->type, s->form};
  ritz_hash_add(hasher, numbers, sizeof(numbers));
  if (s->rstr->type == CEED_RESTRICTION_STRIDED) add_strides(hasher, s);
}

static void add_plan(RitzHasher *hasher, const RitzPlan *plan) {
  const int64_t numbers[] = {plan->dim,        plan->Q_1d,   plan->Q,      plan->num_bases,
                             plan->num_spaces, plan->num_in, plan->num_out};
  ritz_hash_add(hasher, numbers, sizeof(numbers));
  for (int b = 0; b < plan->num_bases; b++) add_basis(hasher, &plan->bases[b]);
  for (int s = 0; s < plan->num_spaces; s++) add_space(hasher, &plan->spaces[s]);
  for (int i = 0; i < plan->num_in + plan->num_out; i++) {
    const RitzPlanField *f = &plan->fields[i];
    const int64_t field[] = {f->mode, f->size, f->space, f->basis};
    ritz_hash_add(hasher, field, sizeof(field));
  }
}

// Without the lines that name files: programs may lie anywhere.
static void add_source(RitzHasher *hasher, const char *source) {
  for (const char *line = source; *line;) {
    const size_t length = strcspn(line, "\n");
    if (strncmp(line, "#line ", 6) != 0) ritz_hash_add(hasher, line, length + (line[length] == '\n'));
    line += length + (line[length] == '\n');
  }
}

static void add_function(RitzHasher *hasher, CeedQFunction qf, const char *source) {
  const RitzStringList *defines = &qf->obj.ceed->jit_defines;
  ritz_hash_add_string(hasher, qf->kernel_name);
  add_number(hasher, qf->ctx ? (int64_t)qf->ctx->storage.num_bytes : -1);
  add_number(hasher, qf->is_context_writable);
  for (CeedInt i = 0; i < defines->num; i++) ritz_hash_add_string(hasher, defines->item[i]);
  add_source(hasher, source);
}

// What the mesh decides of a kernel: whether offsets are those of rows.
static void add_target(RitzHasher *hasher, const RitzPlan *plan, const RitzGpuTarget *target) {
  for (int s = 0; s < plan->num_spaces; s++) add_number(hasher, target->spaces[s].row_length > 0);
}

static RitzHash make_key(CeedOperator op, const RitzPlan *plan, const RitzGpuTarget *target,
                         const char *source) {
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
  add_plan(&hasher, plan);
  add_target(&hasher, plan, target);
  add_function(&hasher, op->qf, source);
  return ritz_hash_end(&hasher);
}

// ---- What the process knows: guarded by RITZ_LOCK_TUNING, kept until it ends ----

// What the disk said when it was asked, nothing included, or what was measured since.
typedef struct Known {
  struct Known *next;
  RitzHash place;
  RitzGpuTuning tuning;
} Known;

static Known *all_known;
static int64_t num_measured;

// Key and folder, which may change while a process runs.
static RitzHash place_of(const RitzHash *key) {
  static const char *const variables[] = {"RITZ_CACHE", "RITZ_CACHE_DIR", "XDG_CACHE_HOME", "HOME"};
  RitzHasher hasher;
  ritz_hash_begin(&hasher);
  ritz_hash_add_string(&hasher, key->hex);
  for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
    ritz_hash_add_string(&hasher, ritz_environment(variables[i]));
  return ritz_hash_end(&hasher);
}

static Known *find_locked(const RitzHash *place) {
  Known *known = all_known;
  while (known && strcmp(known->place.hex, place->hex) != 0) known = known->next;
  return known;
}

static bool recall(const RitzHash *place, RitzGpuTuning *tuning) {
  ritz_lock(RITZ_LOCK_TUNING);
  const Known *known = find_locked(place);
  if (known) *tuning = known->tuning;
  ritz_unlock(RITZ_LOCK_TUNING);
  return known;
}

// is_new: was measured just now.
static int remember(Ceed ceed, const RitzHash *place, bool is_new, RitzGpuTuning *tuning) {
  Known *fresh = NULL;
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &fresh));
  ritz_lock(RITZ_LOCK_TUNING);
  Known *known = find_locked(place);
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

// ---- Finding and keeping ----

static int read_note(CeedOperator op, RitzGpuTuning *tuning) {
  char *text = NULL;
  RITZ_TRY(ritz_note_find(op->obj.ceed, &tuning->key, &text));
  tuning->is_measured = text && ritz_plan_gpu_read_choice(text, &tuning->choice);
  RITZ_FREE(&text);
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_tune_find(CeedOperator op, const RitzPlan *plan, const RitzGpuTarget *target, const char *source,
                       RitzGpuTuning *tuning) {
  *tuning = (RitzGpuTuning){.key = make_key(op, plan, target, source)};
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
  char text[RITZ_CHOICE_LENGTH];
  const RitzHash place = place_of(&tuning->key);
  tuning->is_measured = true;
  ritz_plan_gpu_write_choice(&tuning->choice, text);
  RITZ_TRY(remember(op->obj.ceed, &place, true, tuning));
  return ritz_note_keep(op->obj.ceed, &tuning->key, op->qf->kernel_name, text);
}
