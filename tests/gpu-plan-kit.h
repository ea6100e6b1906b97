// SPDX-License-Identifier: BSD-2-Clause
// Typical operators (tests/operators-kit.h) planned for a device that is described and need not be there.
// Included by tests/gpu-cases.h.
#ifndef RITZ_TESTS_GPU_PLAN_KIT_H
#define RITZ_TESTS_GPU_PLAN_KIT_H

#include "tests/operators-kit.h"

#include "emit/emit.h"
#include "plan/gpu.h"
#include "plan/point-blocks.h"

// ---- Devices ----

typedef enum { ACTION_APPLY, ACTION_ENERGY, ACTION_DIAGONAL, ACTION_POINT_BLOCKS, ACTION_MANY } Action;

typedef struct {
  const char *name;
  void (*set)(Kit *k, const Shape *shape);
  Shape shape;
  Action action;
  bool is_deterministic;
  RitzGpuChoice choice;
  int floats;
} GpuCase;

static inline int has_rows(CeedElemRestriction rstr, CeedInt row_length, bool *has) {
  return find_rows(rstr, row_length, 1, has);
}

enum { CUDA, OPENCL, NUM_DEVICES };
static const struct {
  const char *name;
  RitzGpuMachine machine;
} devices[NUM_DEVICES] = {
    // H200
    {"sm_90",
     {.has_rows = has_rows,
      .num_banks = 32,
      .max_threads = 1024,
      .shared_bytes = 227 << 10,
      .shared_bytes_processor = 228 << 10,
      .registers_processor = 64 << 10,
      .has_mma = true}},
    // Less of everything, one stack for the threads of a block, and nothing is known of registers.
    {"OpenCL",
     {.has_rows = has_rows,
      .num_banks = 32,
      .max_threads = 256,
      .shared_bytes = 48 << 10,
      .private_bytes = 1 << 20}},
};

// ---- Texts ----

// Both owned (free()); text NULL on failure.
typedef struct {
  char *print; // identity of the plan, and its target for people
  char *text;
} GpuText;

static inline void free_gpu_text(GpuText *t) {
  free(t->print);
  free(t->text);
  *t = (GpuText){NULL, NULL};
}

static inline char *print_gpu(const RitzPlan *plan, const RitzGpuTarget *target) {
  char *text = NULL;
  size_t length = 0;
  FILE *stream = open_memstream(&text, &length);

  NOTE_OK(ritz_plan_write(plan, stream));
  ritz_plan_gpu_print(plan, target, stream);
  fclose(stream);
  return text;
}

// Copies what the library has allocated.
static inline char *take(char **text) {
  char *copy = *text ? strdup(*text) : NULL;

  RITZ_FREE(text);
  return copy;
}

static inline int emit_apply(const Kit *k, const RitzGpuTarget *target, GpuText *made) {
  char *text = NULL;
  const int ierr = ritz_emit_gpu(k->ceed, k->plan, target, "", &text);

  if (text) made->print = print_gpu(k->plan, target);
  made->text = take(&text);
  return ierr;
}

static inline int emit_energy(const Kit *k, const RitzGpuTarget *apply, GpuText *made) {
  RitzGpuTarget *target = NULL;
  int ierr = ritz_plan_gpu_add_energy(k->ceed, apply, &target);

  if (!ierr) ierr = emit_apply(k, target, made);
  ritz_plan_gpu_free_energy(&target);
  return ierr;
}

static inline int emit_many(const Kit *k, const GpuCase *c, const RitzGpuMachine *machine,
                            const RitzGpuTarget *apply, GpuText *made) {
  RitzGpuTarget *target = NULL;
  int ierr = ritz_plan_gpu_many(k->op, k->plan, machine, apply, c->is_deterministic, RITZ_GPU_MANY, &target);

  if (!ierr) ierr = emit_apply(k, target, made);
  ritz_plan_gpu_free(&target);
  return ierr;
}

static inline int emit_diagonal(const Kit *k, bool is_column, const RitzGpuMachine *machine,
                                bool is_deterministic, GpuText *made) {
  RitzBlockNodes nodes;
  RitzDiagonalPlan *diagonal = NULL;
  RitzGpuDiagonal *device = NULL;
  char *text = NULL;

  int ierr = is_column ? ritz_plan_point_blocks(k->op, k->plan, &diagonal, &nodes)
                       : ritz_plan_diagonal(k->op, k->plan, &diagonal);
  if (!ierr) ierr = ritz_plan_gpu_diagonal(k->op, diagonal, machine, is_deterministic, &device);
  if (!ierr && device->target->reason) tap_note("no diagonal: %s", device->target->reason);
  if (!ierr && !device->target->reason) ierr = ritz_emit_gpu_diagonal(k->ceed, device, "", &text);
  if (text) made->print = print_gpu(&device->plan, device->target);
  made->text = take(&text);
  ritz_plan_gpu_diagonal_free(&device);
  ritz_plan_free_diagonal(&diagonal);
  return ierr;
}

// The kernel of k->op, as case c says, without the user's text.
static inline GpuText make_gpu_text(Kit *k, const GpuCase *c, const RitzGpuMachine *machine) {
  const Machine host = {.lanes = 1, .allows_text = true, .allows_simple_inputs = true};
  RitzGpuTarget *target = NULL;
  GpuText made = {NULL, NULL};

  if (c->floats) set_precision(k, c->floats);
  make_plan(k, &host, NULL);
  if (tap_failed()) return made;
  NOTE_OK(ritz_plan_gpu(k->op, k->plan, machine, &c->choice, c->is_deterministic, &target));
  if (target && target->reason) tap_note("%s is not fused: %s", c->name, target->reason);
  if (target && !target->reason) {
    if (c->action == ACTION_DIAGONAL || c->action == ACTION_POINT_BLOCKS)
      NOTE_OK(emit_diagonal(k, c->action == ACTION_POINT_BLOCKS, machine, c->is_deterministic, &made));
    if (c->action == ACTION_ENERGY) NOTE_OK(emit_energy(k, target, &made));
    if (c->action == ACTION_MANY) NOTE_OK(emit_many(k, c, machine, target, &made));
    if (c->action == ACTION_APPLY) NOTE_OK(emit_apply(k, target, &made));
  }
  ritz_plan_gpu_free(&target);
  return made;
}

static inline GpuText make_gpu_case(const GpuCase *c, int device) {
  Kit k = kit_open();

  c->set(&k, &c->shape);
  const GpuText made = make_gpu_text(&k, c, &devices[device].machine);
  kit_close(&k);
  return made;
}

#endif
