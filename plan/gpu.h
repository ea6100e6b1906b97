// SPDX-License-Identifier: BSD-2-Clause
// The target of a plan on a device: what a block of threads works on and how. emit/gpu.c turns it into
// the text of a kernel, backends/gpu/fused.c runs that.
//
// A block works on `num_elem` elements. Of small elements each thread takes a whole one (plan/gpu-element.h).
// Else threads take whole lines of nodes or points into registers, contract them with the 1D matrices and
// exchange them through shared memory. In three dimensions nodes come in as lines along the middle
// direction; then lines along the first, then along the last are contracted. A thread keeps its line of
// points along the last direction, calls the QFunction for each, and the way back mirrors this. What the
// block holds are arrays of RitzLineStrides, one after the other.
//
// Dense bases (plan/gpu-dense.c): all nodes of the elements come into shared memory, behind the
// arrays; then a thread sums over them for its points. Without a tensor basis (is_nontensor) a thread takes
// one point of several elements, so that an entry of a matrix serves them all; else the points of its line.
// The same memory takes what the QFunction gives; then a thread sums over the points for one node.
//
// Of vector bases of tensor products (plan/gpu-vector.h) the lines of each component go that way, in passes
// for its numbers of nodes.
//
// Inputs of degree one and constant ones need no lines (plan/gpu-simple-inputs.h).
#ifndef RITZ_PLAN_GPU_H
#define RITZ_PLAN_GPU_H

#include "plan/gpu-model.h"
#include "plan/lines.h"
#include "plan/plan.h"

// Whether nodes come in rows of that length (core/core.h: ritz_restriction_has_rows).
typedef int (*RitzGpuRows)(CeedElemRestriction rstr, CeedInt row_length, bool *has_rows);

// Properties of a device that plans use.
typedef struct {
  RitzGpuRows has_rows;           // NULL: not asked
  CeedInt num_banks;              // of shared memory, 4 bytes wide each
  CeedInt max_threads;            // of a block
  CeedInt shared_bytes;           // of a block
  CeedInt shared_bytes_processor; // of all blocks of a multiprocessor; 0: unknown
  CeedInt registers_processor;    // 32-bit registers of a multiprocessor; 0: unknown
  bool has_mma;                   // products of small matrices of doubles (kernels/gpu/mma.h)
  int mma;                        // RITZ_GPU_MMA: 1 wherever they can be, -1 never, 0 as is chosen
  CeedInt vectors;                // RITZ_GPU_VECTORS: of a thread that takes several, 0 as is chosen
  CeedSize private_bytes;         // of all threads of a block, where they share a stack; 0: no limit
  CeedSize context_bytes;         // of a thread's copies of the function's context
} RitzGpuMachine;

// Choices of a kernel, by the model or by measurements (`ritz tune`); 0: by the model.
typedef struct {
  CeedInt num_elem;        // of a block
  CeedInt num_blocks;      // that are to fit a multiprocessor, which bounds the registers of a thread
  int unroll;              // 1: the loop over points is unrolled, lines stay in registers; -1: it is not
  int fence;               // 1: points one after the other; -1: their loads may run ahead
  CeedInt elem_per_thread; // with dense bases alone; "stacked" in texts
  int whole;               // 1: a thread takes whole elements, where it can; -1: lines
  int join; // of whole elements, 1: neighbours add the nodes that they share together; -1: each its own
  int mma;  // 1: tensor cores multiply where they can (plan/gpu-mma.h); -1: they do not
  CeedInt vectors; // of a kernel for several: those of an element that a thread takes; 0: it is for one
} RitzGpuChoice;

// Unit of work of a thread.
typedef enum {
  RITZ_GPU_LINES,    // lines of nodes and points, exchanged through shared memory
  RITZ_GPU_ELEMENTS, // a whole element, in registers; data at points come in through shared memory
} RitzGpuEvaluation;

typedef enum {
  RITZ_PASS_NODES,  // lines of nodes, where they are gathered and scattered; one for all numbers of nodes
  RITZ_PASS_MIDDLE, // 3D: lines along the first direction between nodes and points, likewise
  RITZ_PASS_POINTS, // lines of points: a thread keeps one
  RITZ_PASS_ROWS,   // points along the first direction
  RITZ_PASS_COLUMNS // 3D: points along the middle direction
} RitzPassKind;

// The lines that threads take.
typedef struct {
  RitzPassKind kind;
  CeedInt nodes[3]; // NODES: of an element, a direction; MIDDLE: the last one alone; else, and beyond dim: 0
  RitzLinePass lines;
  int num_rounds; // lines of a thread
  int *slots;     // owned: [num_rounds][num_threads], -1 or a line's number (plan/lines.h)
  bool is_mma;    // a warp takes the lines of its threads together, 16 at a time
} RitzGpuPass;

// A kernel's argument after the number of elements and the context.
typedef enum {
  RITZ_GPU_ARG_ARRAY,   // L-vector; of an output by E-vectors its E-vector [num_comp][num_elem][num_nodes]
  RITZ_GPU_ARG_OFFSETS, // of nodes, or of rows of space->row_length nodes
  RITZ_GPU_ARG_ORIENTS, // of nodes, or of curl-oriented nodes three each
  RITZ_GPU_ARG_NODE_STRIDE,
  RITZ_GPU_ARG_COMP_STRIDE,
  RITZ_GPU_ARG_ELEM_STRIDE,
  RITZ_GPU_ARG_INTERP, // dense matrices by basis: [P][q_comp][Q], transposed [q_comp][Q][P]
  RITZ_GPU_ARG_DERIV,
  RITZ_GPU_ARG_INTERP_T,
  RITZ_GPU_ARG_DERIV_T,
  RITZ_GPU_ARG_INTERP_TILES, // the latter in blocks for tensor cores (plan/gpu-tiles.h)
  RITZ_GPU_ARG_DERIV_TILES,
  RITZ_GPU_ARG_ENERGIES, // of has_energy
  RITZ_GPU_ARG_VECTORS,  // of takes_many: how many there are, an int
  RITZ_GPU_ARG_COLUMN    // of point blocks: the component of the input, an int; comes last
} RitzGpuArgKind;

typedef struct {
  RitzGpuArgKind kind;
  int number; // of the space or basis
  int vector; // of the array of an active space where the kernel takes several vectors: which one
} RitzGpuArg;

// The most vectors that a kernel takes at once.
enum { RITZ_GPU_MANY = 8 };

// How an output reaches its L-vector.
typedef enum {
  RITZ_SCATTER_ATOMIC,   // atomic additions
  RITZ_SCATTER_OWN,      // every node has an entry of its own
  RITZ_SCATTER_E_VECTOR, // through an E-vector, in the order of the elements
} RitzGpuScatter;

typedef struct {
  int first_array, num_arrays; // of shared memory, num_arrays for each component
  RitzGpuScatter scatter;
  CeedInt row_length, row_step; // one offset a row of nodes, their distance in the L-vector; 0: one a node
  bool is_staged;     // nodes pass through shared memory, so that threads side by side add side by side
  bool is_copied;     // RITZ_GPU_ELEMENTS: data at points, which the block copies to its memory together
  bool is_joined;     // RITZ_GPU_ELEMENTS: neighbours add the nodes that they share together
  CeedInt strides[3]; // node, component, element: known to the text, or 0: an argument
  CeedInt dense_first, dense_group;  // of a dense space: its place behind the arrays, scalars of a group
  CeedInt simple_first, simple_elem; // of a simple input: its place in shared memory, scalars of an element
} RitzGpuSpace;

typedef struct {
  const char *reason; // the operator is not fused: why (static); NULL: it is
  RitzGpuChoice choice;
  RitzGpuEvaluation evaluation;
  CeedInt dim, Q_1d, num_lines; // of points in an element; Q_1d points each. RITZ_GPU_ELEMENTS: 1
  CeedInt num_elem, num_threads, num_blocks;
  bool is_nontensor;       // no tensor basis: num_lines threads an element, Q_1d places of each
  CeedInt elem_per_thread; // non-tensor: a point of each; else 1
  CeedInt elem_per_pack;   // non-tensor: side by side in shared memory, 16 bytes of them, or 1
  CeedInt dense_scalars;   // scalars behind the arrays
  // Non-tensor, by tensor cores: tiles of points whose matrices come to shared memory at once; those whose
  // data at points are copied there ahead.
  CeedInt num_staged_tiles, num_prefetched_tiles;
  bool uses_mma;    // passes that can multiply by tensor cores; non-tensor: plan/gpu-tiles.h
  CeedInt exchange; // offset of the operands of emulated tensor cores in shared memory; 0: none
  bool unrolls, fences;
  bool has_energy;            // the kernel also gives u . A u, in shares (kernels/gpu/energy.h)
  bool takes_many;            // up to RITZ_GPU_MANY vectors at once (kernels/gpu/many.h)
  CeedInt vectors_per_thread; // that a thread takes of its element; else 1
  RitzRoute *routes;          // owned, of the plan's bases
  RitzLineStrides strides;
  CeedInt num_arrays; // in shared memory, each of num_elem * strides.elem scalars
  CeedInt shared_bytes;
  CeedSize constant_bytes; // of 1D matrices
  RitzGpuSpace *spaces;    // owned, of the plan's spaces
  int num_passes, num_args;
  RitzGpuPass *passes; // owned
  RitzGpuArg *args;    // owned
} RitzGpuTarget;

// Constant memory for 1D matrices: 60 of the 64 KiB that every device has, the rest is for the user's text.
enum { RITZ_MAX_CONSTANT_BYTES = 60 << 10 };
#define RITZ_TOO_MANY_CONSTANTS "1D matrices that do not fit the constant memory of a device"

// op: what the plan was made from, whose restrictions machine->has_rows is asked about.
// *target: always made; with a reason where the operator cannot be fused. is_deterministic: outputs that
// several elements share go through E-vectors.
int ritz_plan_gpu(CeedOperator op, const RitzPlan *plan, const RitzGpuMachine *machine,
                  const RitzGpuChoice *choice, bool is_deterministic, RitzGpuTarget **target);
void ritz_plan_gpu_free(RitzGpuTarget **target);
RitzPlanCost ritz_plan_gpu_cost(const RitzPlan *plan, const RitzGpuTarget *target);

// Every active output has a partner (ritz_plan_partner).
bool ritz_plan_gpu_can_have_energy(const RitzPlan *plan);
// A target as *from, on whose memory it depends, but with energy; it has a free of its own.
int ritz_plan_gpu_add_energy(Ceed ceed, const RitzGpuTarget *from, RitzGpuTarget **target);
void ritz_plan_gpu_free_energy(RitzGpuTarget **target);
// A target for several vectors, of an operator whose target for one is `apply`: what the text calls an
// element is one with vectors_per_thread of the vectors, which a thread holds as if they were components.
// What threads of several elements do together for data that lie one after the other, each does for its own.
// most: vectors that a launch has at most.
int ritz_plan_gpu_many(CeedOperator op, const RitzPlan *plan, const RitzGpuMachine *machine,
                       const RitzGpuTarget *apply, bool is_deterministic, CeedInt most, RitzGpuTarget **many);

// ---- The size of numbers ----
// What models know of it, they take from here: bytes of a number that the kernel computes with, the 32-bit
// registers that it takes, how many are in different banks, how many make a pack of 16 bytes.
static inline CeedInt ritz_gpu_real_bytes(const RitzPlan *plan) {
  return (CeedInt)ritz_scalar_bytes(plan->precision);
}
static inline CeedInt ritz_gpu_real_words(const RitzPlan *plan) { return ritz_gpu_real_bytes(plan) / 4; }
static inline int ritz_gpu_real_banks(const RitzPlan *plan, const RitzGpuMachine *machine) {
  return (int)(machine->num_banks / ritz_gpu_real_words(plan));
}
static inline CeedInt ritz_gpu_real_pack(const RitzPlan *plan) { return 16 / ritz_gpu_real_bytes(plan); }
// The function computes in CeedScalar within a kernel that does not: its context is laid out so.
static inline bool ritz_gpu_converts_arguments(const RitzPlan *plan) {
  return plan->has_context && plan->precision != CEED_SCALAR_TYPE;
}

// Lines for people.
int ritz_plan_gpu_print_steps(const RitzPlan *plan, const RitzGpuTarget *target, FILE *stream);
void ritz_plan_gpu_print(const RitzPlan *plan, const RitzGpuTarget *target, FILE *stream);

// The space comes to the points, or back, by lines of a tensor basis, by sums over the nodes of a dense one;
// else it is data at points, or is a simple input (plan/gpu-simple-inputs.h).
static inline bool ritz_gpu_has_lines(const RitzPlan *plan, const RitzPlanSpace *s) {
  return s->basis >= 0 && s->kind == RITZ_INPUT_CONTRACTED && ritz_plan_has_grid(&plan->bases[s->basis]);
}
static inline bool ritz_gpu_is_dense(const RitzPlan *plan, const RitzPlanSpace *s) {
  return s->basis >= 0 && s->kind == RITZ_INPUT_CONTRACTED && !ritz_plan_has_grid(&plan->bases[s->basis]);
}
// Whether a space has a vector basis of tensor products (plan/gpu-vector.h).
static inline bool ritz_gpu_is_vector(const RitzPlan *plan, const RitzPlanSpace *s) {
  return s->basis >= 0 && plan->bases[s->basis].route == RITZ_ROUTE_BLOCKS;
}
// Some space takes lines of this basis.
static inline bool ritz_gpu_takes_lines(const RitzPlan *plan, int basis) {
  for (int s = 0; s < plan->num_spaces; s++) {
    if (plan->spaces[s].basis == basis && ritz_gpu_has_lines(plan, &plan->spaces[s])) return true;
  }
  return false;
}
// Bases in two and three dimensions that have each derivative from the nodes: half the barriers, and with few
// nodes little more to compute. By the basis alone, as its route (plan/basis.c).
static inline bool ritz_gpu_has_direct_derivatives(const RitzPlanBasis *b) {
  return b->route == RITZ_ROUTE_COLLOCATED && b->P_1d <= RITZ_GPU_MOST_DIRECT;
}
// Components that lines and arrays have of a space, [vector][component], and scalars of a field's argument,
// [vector][as the function has them]: those of all vectors that a thread takes together.
static inline CeedInt ritz_gpu_num_comp(const RitzGpuTarget *target, const RitzPlanSpace *s) {
  return s->num_comp * (s->is_active ? target->vectors_per_thread : 1);
}
static inline CeedInt ritz_gpu_field_size(const RitzPlan *plan, const RitzGpuTarget *target, int i) {
  const RitzPlanField *f = &plan->fields[i];
  return f->size * (f->space >= 0 && plan->spaces[f->space].is_active ? target->vectors_per_thread : 1);
}
// Components of values and of derivatives that fields ask of a dense space.
static inline CeedInt ritz_gpu_dense_values(const RitzPlan *plan, const RitzPlanSpace *s) {
  return s->modes & CEED_EVAL_INTERP ? plan->bases[s->basis].q_comp_interp : 0;
}
static inline CeedInt ritz_gpu_dense_derivatives(const RitzPlan *plan, const RitzPlanSpace *s) {
  return s->modes & ~(unsigned)CEED_EVAL_INTERP ? plan->bases[s->basis].q_comp_deriv : 0;
}

// Whether the threads of a block, of a number that is chosen, have room for what each of them holds.
bool ritz_plan_gpu_has_room(const RitzPlan *plan, const RitzGpuMachine *machine, const RitzGpuTarget *target);
#define RITZ_NO_ROOM "threads of a block whose lines and copies of the context do not fit a stack"

// The pass of this kind, for NODES and MIDDLE of elements with P nodes a direction; NULL: there is none.
const RitzGpuPass *ritz_plan_gpu_pass(const RitzGpuTarget *target, RitzPassKind kind, CeedInt P);
// The pass for so many nodes in each direction.
const RitzGpuPass *ritz_plan_gpu_pass_of(const RitzGpuTarget *target, RitzPassKind kind, const CeedInt P[3]);
// The longest line of nodes of a basis that lines are taken of.
CeedInt ritz_plan_gpu_longest(const RitzPlanBasis *basis);

#endif
