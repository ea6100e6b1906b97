// SPDX-License-Identifier: BSD-2-Clause
// What the texts of fused kernels for devices have in common. Called by emit/gpu*.c.
//
// Names in the text, s a space, b a basis: x<s> y<s> L-vectors of inputs and outputs, offsets<s>, orients<s>,
// strides<s>; u<s> values at the points of the thread's line, g<s> derivatives there (along the last direction; of
// the direct route all), m arrays in the memory of the block; ritz_B<b>, _D, _C matrices of values, derivatives,
// derivatives at the points, with _t transposed.
#ifndef RITZ_EMIT_GPU_PARTS_H
#define RITZ_EMIT_GPU_PARTS_H

#include "emit/text.h"
#include "plan/gpu.h"

typedef struct {
  const RitzPlan *plan;
  const RitzGpuTarget *target;
  CeedQFunction qf;
  RitzText text;
} RitzGpuEmitter;

static inline bool ritz_gpu_has_values(const RitzPlanSpace *s) { return s->modes & CEED_EVAL_INTERP; }
static inline bool ritz_gpu_has_gradient(const RitzPlanSpace *s) { return s->modes & CEED_EVAL_GRAD; }
// The route of the space's basis.
static inline RitzRoute ritz_gpu_route(const RitzGpuEmitter *e, int s) {
  return e->target->routes[e->plan->spaces[s].basis];
}
// Derivatives pass through rows and columns of points.
static inline bool ritz_gpu_is_collocated(const RitzGpuEmitter *e, int s) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  return space->basis >= 0 && ritz_gpu_has_gradient(space) && ritz_gpu_route(e, s) != RITZ_ROUTE_DIRECT;
}
// The array of derivative d of a collocated space (its first component).
static inline int ritz_gpu_derivative_array(const RitzGpuEmitter *e, int s, int d) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  return e->target->spaces[s].first_array + (d + (space->is_input ? 1 : 0)) * (int)space->num_comp;
}

// emit/gpu-tables.c: sizes; matrices and weights of all bases; which line a thread takes in each pass.
void ritz_emit_gpu_sizes(RitzGpuEmitter *e);
int ritz_emit_gpu_bases(RitzGpuEmitter *e);
void ritz_emit_gpu_lines(RitzGpuEmitter *e);

// emit/gpu-spaces.c: from L-vectors to the points and back, with the barriers between. `more`: of what a kernel
// passes besides the arguments of all spaces.
void ritz_emit_gpu_parameters(RitzGpuEmitter *e);
void ritz_emit_gpu_inputs(RitzGpuEmitter *e);
void ritz_emit_gpu_outputs(RitzGpuEmitter *e);
// Between L-vector and registers `name` of one line or point of a space: `first` (text) is its first node.
void ritz_emit_gpu_gather(RitzGpuEmitter *e, int s, CeedInt n, CeedInt step, const char *elem, const char *first,
                          const char *name);
void ritz_emit_gpu_scatter(RitzGpuEmitter *e, int s, CeedInt n, CeedInt step, const char *elem, const char *first,
                           const char *name);

// emit/gpu-points.c: the loop over the points of a thread's line.
void ritz_emit_gpu_points(RitzGpuEmitter *e);

#endif
