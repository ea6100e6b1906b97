// SPDX-License-Identifier: BSD-2-Clause
// What the texts of fused kernels for devices have in common. Called by emit/gpu*.c.
//
// Names in the text, s a space, b a basis: x<s> y<s> L-vectors of inputs and outputs, offsets<s>, orients<s>,
// strides<s>; u<s> values at the points of the thread's line, g<s> derivatives there (along the last
// direction; of the direct route all), m arrays in shared memory; ritz_interp<b>, _D, _C matrices of
// values, derivatives, derivatives at the points, with _t transposed; interp<b>, deriv<b> matrices of dense
// bases;
// ritz_T<b>_<n> 1D matrix n of a vector basis.
#ifndef RITZ_EMIT_GPU_TEXT_H
#define RITZ_EMIT_GPU_TEXT_H

#include "emit/tables.h"
#include "emit/text.h"
#include "plan/gpu.h"

// State of linear and constant inputs (plan/gpu-simple-inputs.h) in shared memory at this place of the text.
typedef enum {
  RITZ_INPUTS_COPIED,    // nodes, on their way
  RITZ_INPUTS_EVALUATED, // monomials and values, of other threads behind the next barrier
  RITZ_INPUTS_READY      // all that there are
} RitzInputState;

typedef struct {
  const RitzPlan *plan;
  const RitzGpuTarget *target;
  RitzText text;
  RitzInputState simple_state;
} RitzGpuEmitter;

static inline bool ritz_gpu_has_values(const RitzPlanSpace *s) { return s->modes & CEED_EVAL_INTERP; }
static inline bool ritz_gpu_has_gradient(const RitzPlanSpace *s) { return s->modes & CEED_EVAL_GRAD; }
// The route of the space's basis.
static inline RitzRoute ritz_gpu_route(const RitzGpuEmitter *e, int s) {
  return e->target->routes[e->plan->spaces[s].basis];
}
// L-vectors in another precision than the kernel computes in: the type of their entries, and the end of the
// names of functions that convert them.
static inline bool ritz_gpu_is_converted(const RitzGpuEmitter *e, int s) {
  return e->plan->spaces[s].precision != e->plan->precision;
}
static inline const char *ritz_gpu_entry(const RitzGpuEmitter *e, int s) {
  if (!ritz_gpu_is_converted(e, s)) return "RitzReal";
  return e->plan->spaces[s].precision == CEED_SCALAR_FP32 ? "float" : "double";
}
static inline const char *ritz_gpu_suffix(const RitzGpuEmitter *e, int s) {
  if (!ritz_gpu_is_converted(e, s)) return "";
  return e->plan->spaces[s].precision == CEED_SCALAR_FP32 ? "_f32" : "_f64";
}
// Sums over a dense basis; lines of a tensor basis.
static inline bool ritz_gpu_has_dense(const RitzGpuEmitter *e, int s) {
  return ritz_gpu_is_dense(e->plan, &e->plan->spaces[s]);
}
static inline bool ritz_gpu_has_tensor(const RitzGpuEmitter *e, int s) {
  return ritz_gpu_has_lines(e->plan, &e->plan->spaces[s]);
}
static inline bool ritz_gpu_has_vector(const RitzGpuEmitter *e, int s) {
  return ritz_gpu_is_vector(e->plan, &e->plan->spaces[s]);
}
// Derivatives pass through rows and columns of points.
static inline bool ritz_gpu_is_collocated(const RitzGpuEmitter *e, int s) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  return ritz_gpu_has_tensor(e, s) && ritz_gpu_has_gradient(space) &&
         ritz_gpu_route(e, s) != RITZ_ROUTE_DIRECT;
}
// The array of derivative d of a collocated space (its first component).
static inline int ritz_gpu_derivative_array(const RitzGpuEmitter *e, int s, int d) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  return e->target->spaces[s].first_array +
         (d + (space->is_input ? 1 : 0)) * (int)ritz_gpu_num_comp(e->target, space);
}

// emit/gpu.c: the kernel's head, up to the line of the thread; the user's text, the last part.
void ritz_emit_gpu_open(RitzGpuEmitter *e, const char *kernel);
void ritz_emit_gpu_user(RitzGpuEmitter *e, const char *source);

// emit/gpu-tables.c: sizes; matrices and weights of all bases; which line a thread takes in each pass; one
// matrix.
void ritz_emit_gpu_sizes(RitzGpuEmitter *e);
int ritz_emit_gpu_bases(RitzGpuEmitter *e);
void ritz_emit_gpu_lines(RitzGpuEmitter *e);
int ritz_emit_gpu_matrix(RitzGpuEmitter *e, const char *name, const RitzPlanMatrix *m, bool transposed);
void ritz_emit_gpu_numbers(RitzGpuEmitter *e, const char *kind, const char *name, const CeedScalar *values,
                           CeedInt n);
// Weights of basis i, if a field asks for them.
void ritz_emit_gpu_weights(RitzGpuEmitter *e, int i);

// emit/gpu-spaces.c: from L-vectors to the points and back, with the barriers between. `more`: parameters
// besides the arguments of all spaces.
void ritz_emit_gpu_parameters(RitzGpuEmitter *e);
void ritz_emit_gpu_inputs(RitzGpuEmitter *e);
void ritz_emit_gpu_outputs(RitzGpuEmitter *e);
// Between L-vector and registers `name` of one line or point of a space: `first` (text) is its first node.
// Registers of an active space hold the lines of all vectors of the thread, one after the other.
void ritz_emit_gpu_gather(RitzGpuEmitter *e, int s, CeedInt n, CeedInt step, const char *elem,
                          const char *first, const char *name);
// If `when` (text) holds. adds: to an E-vector that has values of the same space already.
void ritz_emit_gpu_scatter(RitzGpuEmitter *e, int s, CeedInt n, CeedInt step, const char *when,
                           const char *elem, const char *first, const char *name, bool adds);
// One node of one component to a place in shared memory; all but the number of the space are texts. It
// is there after RITZ_COPIED().
void ritz_emit_gpu_copy_node(RitzGpuEmitter *e, int s, const char *elem, const char *node, const char *comp,
                             const char *to);
// An output field adds where an earlier one has put the same quantity of the same space.
bool ritz_emit_gpu_adds(const RitzGpuEmitter *e, int i);

// Pieces of gather and scatter: the array of a space for vector number k of the thread; offsets of an
// element's nodes or rows of nodes; the text of a stride (0 node, 1 component, 2 element).
void ritz_emit_gpu_array(RitzGpuEmitter *e, int s, int k, const char *elem);
void ritz_emit_gpu_offsets(RitzGpuEmitter *e, int s, const char *elem, const char *first);
void ritz_emit_gpu_name_stride(const RitzGpuEmitter *e, int s, int d, char name[32]);

// Name of a pass in the table of lines; a block for the threads that have a line, of several rounds a loop.
void ritz_emit_gpu_name_pass(const RitzGpuPass *pass, char name[32]);
void ritz_emit_gpu_open_pass(RitzGpuEmitter *e, const RitzGpuPass *pass, const char *what);
void ritz_emit_gpu_close_pass(RitzGpuEmitter *e);
void ritz_emit_gpu_barrier(RitzGpuEmitter *e);

// emit/gpu-dense.c: dense spaces, if there are any. Sizes; registers of the points; nodes into shared
// memory; from there to the points, and back to the L-vectors.
void ritz_emit_gpu_dense_sizes(RitzGpuEmitter *e);
void ritz_emit_gpu_dense_registers(RitzGpuEmitter *e);
void ritz_emit_gpu_dense_nodes(RitzGpuEmitter *e);
void ritz_emit_gpu_dense_inputs(RitzGpuEmitter *e);
void ritz_emit_gpu_dense_outputs(RitzGpuEmitter *e);

// emit/gpu-tiles.c: the body of a kernel of dense bases by tensor cores, from L-vectors to L-vectors.
void ritz_emit_gpu_tiles(RitzGpuEmitter *e);

// emit/gpu-vector.c: spaces of vector bases of tensor products. What of the templates they need; 1D matrices;
// registers of the points; their part of a pass over lines of nodes, along the first direction, of points,
// the latter to the points and back.
void ritz_emit_gpu_vector_sizes(RitzGpuEmitter *e);
int ritz_emit_gpu_vector_basis(RitzGpuEmitter *e, int b);
void ritz_emit_gpu_vector_registers(RitzGpuEmitter *e, int s);
void ritz_emit_gpu_vector_nodes(RitzGpuEmitter *e, int s, const RitzGpuPass *pass);
void ritz_emit_gpu_vector_middle(RitzGpuEmitter *e, int s, const RitzGpuPass *pass);
void ritz_emit_gpu_vector_points_in(RitzGpuEmitter *e, int s);
void ritz_emit_gpu_vector_points_out(RitzGpuEmitter *e, int s);

// emit/gpu-simple-inputs.c: inputs of degree one and constant ones, if there are any. Tables; nodes into
// shared memory; a barrier between passes of inputs, with what has to be done before and after it; the
// barriers that are still wanted before the points; what a thread needs for its line.
int ritz_emit_gpu_simple_tables(RitzGpuEmitter *e);
void ritz_emit_gpu_simple_nodes(RitzGpuEmitter *e);
void ritz_emit_gpu_input_barrier(RitzGpuEmitter *e);
void ritz_emit_gpu_finish_simple(RitzGpuEmitter *e);
void ritz_emit_gpu_simple_lines(RitzGpuEmitter *e);
// The argument of field i at a point of a line along direction `walk`, whose number the text `point` is.
void ritz_emit_gpu_simple_field(RitzGpuEmitter *e, int i, int walk, const char *point);
// Simple inputs of a thread with a whole element, whose nodes are in registers: once; for the row of points
// at k1, k2.
void ritz_emit_gpu_simple_of_element(RitzGpuEmitter *e, int s, const char *nodes);
void ritz_emit_gpu_simple_row(RitzGpuEmitter *e, int s, const char *nodes);

// emit/gpu-energy.c: u . A u, if the target has that: at the beginning of the kernel, after the call, at the
// end.
void ritz_emit_gpu_open_energy(RitzGpuEmitter *e);
void ritz_emit_gpu_energy(RitzGpuEmitter *e);
void ritz_emit_gpu_close_energy(RitzGpuEmitter *e);

// emit/gpu-qfunction-call.c: the loop over the points of a thread's line; its parts.
void ritz_emit_gpu_points(RitzGpuEmitter *e);
void ritz_emit_gpu_open_points(RitzGpuEmitter *e);
void ritz_emit_gpu_close_points(RitzGpuEmitter *e);
// The argument of field i; from its space into it, or back.
void ritz_emit_gpu_argument(RitzGpuEmitter *e, int i);
void ritz_emit_gpu_field(RitzGpuEmitter *e, int i);
void ritz_emit_gpu_name_argument(const RitzGpuEmitter *e, int i, char name[32]);
void ritz_emit_gpu_call(RitzGpuEmitter *e);
void ritz_emit_gpu_call_each(RitzGpuEmitter *e); // for each vector of the thread, with in and out
// Functions that compute in another precision than the kernel get copies of their arguments: the copy of
// argument i, its values if it is an input; all outputs back from their copies; the beginning of the names of
// copies. Of others nothing, and "".
void ritz_emit_gpu_widen(RitzGpuEmitter *e, int i);
void ritz_emit_gpu_narrow(RitzGpuEmitter *e);
const char *ritz_emit_gpu_wide(const RitzGpuEmitter *e);
bool ritz_emit_gpu_has_context(const RitzGpuEmitter *e);

// emit/gpu-element.c: matrices and the kernel where threads take whole elements.
int ritz_emit_gpu_elements(RitzGpuEmitter *e);

#endif
