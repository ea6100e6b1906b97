// SPDX-License-Identifier: BSD-2-Clause
// Steps on one batch of elements (contract in steps.h).
#include "backends/cpu/steps.h"

#include "backends/cpu/steps-points.h"
#include "backends/cpu/unfused.h"
#include "base/simd.h"
#include "kernels/cpu/block.h"
#include "kernels/cpu/restrict.h"

// clang makes the resolvers of cloned functions visible, also those of static ones.
#define gather_packed      RITZ_STEPS_NAME(gather_packed)
#define gather_each        RITZ_STEPS_NAME(gather_each)
#define scatter_each       RITZ_STEPS_NAME(scatter_each)
#define apply_long_lines   RITZ_STEPS_NAME(apply_long_lines)
#define apply_along        RITZ_STEPS_NAME(apply_along)
#define multiply_by_matrix RITZ_STEPS_NAME(multiply_by_matrix)
#define form_constants     RITZ_STEPS_NAME(form_constants)
#define form_linear        RITZ_STEPS_NAME(form_linear)
#define copy_in            RITZ_STEPS_NAME(copy_in)
#define copy_out           RITZ_STEPS_NAME(copy_out)

enum { LINE = 10 }; // longest line in registers
enum { LANES = sizeof(RitzReal) == sizeof(float) ? RITZ_UNFUSED_SINGLE_LANES : RITZ_UNFUSED_LANES };
_Static_assert(RITZ_LANES == LANES, "plans for this kernel have its number of lanes");

static const RitzPlanSpace *space_of(const RitzCpuRun *run, int buffer) {
  return &run->list->plan->spaces[run->list->buffers[buffer].space];
}

// ---- Between L-vectors and element arrays [component][node][lane] ----

static RitzShape shape_of(const RitzPlan *plan, const RitzPlanSpace *space) {
  const int n = space->num_nodes;
  return (RitzShape){space->num_comp, 1, n, n, n, space->precision != plan->precision};
}

// Where component 0 of a node is in the L-vector, of each lane.
RITZ_INLINE void find_entries(const RitzPlanSpace *space, const RitzCpuSpace *how,
                              const RitzKernelSpace *from, const RitzBatch *b, int64_t node, int64_t *at) {
  const int64_t n = space->num_nodes;
  if (how->gather == RITZ_GATHER_NODES) {
    for (int l = 0; l < RITZ_LANES; l++) at[l] = from->offsets[b->elem[l] * n + node];
  } else if (how->gather == RITZ_GATHER_ROWS) {
    const int64_t length = how->row_length, row = b->number * (n / length) + node / length;
    const int64_t in_row = node % length * (space->is_interlaced ? space->num_comp : 1);
    for (int l = 0; l < RITZ_LANES; l++) at[l] = from->offsets[row * RITZ_LANES + l] + in_row;
  } else {
    for (int l = 0; l < RITZ_LANES; l++) at[l] = b->elem[l] * from->strides[2] + node * from->strides[0];
  }
}

RITZ_INLINE void gather_entries(const RitzPlanSpace *space, const RitzCpuSpace *how,
                                const RitzKernelSpace *from, const RitzBatch *b, const RitzShape *shape,
                                RitzVec *x) {
  int64_t at[RITZ_LANES];
  if (how->gather == RITZ_GATHER_NODES) {
    ritz_gather_nodes(from, b, shape, x);
    return;
  }
  for (int i = 0; i < space->num_nodes; i++) {
    find_entries(space, how, from, b, i, at);
    for (int c = 0; c < space->num_comp; c++)
      x[c * space->num_nodes + i] = ritz_gather(ritz_component(from, shape, c), at);
  }
}

RITZ_INLINE void scatter_entries(const RitzPlanSpace *space, const RitzCpuSpace *how,
                                 const RitzKernelSpace *to, const RitzBatch *b, const RitzShape *shape,
                                 const RitzVec *y) {
  int64_t at[RITZ_LANES];
  if (how->gather == RITZ_GATHER_NODES) {
    ritz_scatter_nodes(to, b, shape, y);
    return;
  }
  for (int i = 0; i < space->num_nodes; i++) {
    find_entries(space, how, to, b, i, at);
    for (int c = 0; c < space->num_comp; c++)
      ritz_scatter_add(ritz_component(to, shape, c), at, b->num, y[c * space->num_nodes + i]);
  }
}

// ---- Rows of nodes as wholes ----

#ifdef RITZ_WIDE
enum { MAX_ROW = 5 };

// Transposing them pays where a register holds all lanes.
static bool has_whole_rows(const RitzPlanSpace *space, const RitzCpuSpace *how, const RitzShape *shape) {
  return how->gather == RITZ_GATHER_ROWS && !space->is_interlaced && !shape->is_other &&
         how->row_length >= 2 && how->row_length <= MAX_ROW && RITZ_HAS_WIDE;
}

#define FOR_ROW_LENGTHS(length, DO)                                                                          \
  switch (length) {                                                                                          \
  case 2: DO(2); break;                                                                                      \
  case 3: DO(3); break;                                                                                      \
  case 4: DO(4); break;                                                                                      \
  default: DO(5);                                                                                            \
  }

RITZ_WIDE static void gather_rows(const RitzKernelSpace *from, const RitzBatch *b, RitzShape shape,
                                  CeedInt length, RitzVec *x) {
  shape.is_other = false;
#define GATHER(n) ritz_gather_rows(from, b, &shape, n, false, x)
  FOR_ROW_LENGTHS(length, GATHER)
#undef GATHER
}

RITZ_WIDE static void scatter_rows(const RitzKernelSpace *to, const RitzBatch *b, RitzShape shape,
                                   CeedInt length, const RitzVec *y) {
  shape.is_other = false;
#define SCATTER(n) ritz_scatter_rows(to, b, &shape, n, false, y)
  FOR_ROW_LENGTHS(length, SCATTER)
#undef SCATTER
}
#else
#define has_whole_rows(space, how, shape)      false
#define gather_rows(from, b, shape, length, x) (void)0
#define scatter_rows(to, b, shape, length, y)  (void)0
#endif

// ---- Both ways ----

// Packed data stay where they are, unless they are to be converted.
RITZ_CLONED static void gather_packed(const RitzCpuRun *run, const RitzStep *step, const RitzBatch *b,
                                      bool is_other) {
  const RitzPlanSpace *space = space_of(run, step->from);
  const void *array = run->args->spaces[run->list->buffers[step->from].space].array;
  const int64_t size = (int64_t)space->num_comp * space->num_nodes;
  const RitzOtherVec *from = (const RitzOtherVec *)array + b->number * size;
  RitzVec *x = run->buffers[step->to];
  if (!is_other) run->buffers[step->to] = (RitzVec *)array + b->number * size;
  for (int64_t i = 0; is_other && i < size; i++) x[i] = RITZ_CONVERT(from[i], RitzVec);
}

RITZ_CLONED static void gather_each(const RitzPlanSpace *space, const RitzCpuSpace *how,
                                    const RitzKernelSpace *from, const RitzBatch *b, const RitzShape *shape,
                                    RitzVec *x) {
  RitzShape own = *shape, other = *shape;
  own.is_other = false;
  other.is_other = true;
  if (shape->is_other)
    gather_entries(space, how, from, b, &other, x);
  else
    gather_entries(space, how, from, b, &own, x);
}

RITZ_CLONED static void scatter_each(const RitzPlanSpace *space, const RitzCpuSpace *how,
                                     const RitzKernelSpace *to, const RitzBatch *b, const RitzShape *shape,
                                     const RitzVec *y) {
  RitzShape own = *shape, other = *shape;
  own.is_other = false;
  other.is_other = true;
  if (shape->is_other)
    scatter_entries(space, how, to, b, &other, y);
  else
    scatter_entries(space, how, to, b, &own, y);
}

static void gather(const RitzCpuRun *run, const RitzStep *step, const RitzBatch *b) {
  const int s = run->list->buffers[step->from].space;
  const RitzPlanSpace *space = space_of(run, step->from);
  const RitzCpuSpace *how = &run->how[s];
  const RitzKernelSpace *from = &run->args->spaces[s];
  const RitzShape shape = shape_of(run->list->plan, space);
  RitzVec *x = run->buffers[step->to];
  if (how->gather == RITZ_GATHER_PACKED)
    gather_packed(run, step, b, shape.is_other);
  else if (has_whole_rows(space, how, &shape))
    gather_rows(from, b, shape, how->row_length, x);
  else
    gather_each(space, how, from, b, &shape, x);
  if (space->is_oriented) ritz_orient(from, b, &shape, x);
  if (space->is_curl_oriented) ritz_curl_orient(from, b, &shape, false, x);
}

void ritz_cpu_scatter_nodes(const RitzPlan *plan, const RitzPlanSpace *space, const RitzCpuSpace *how,
                            const RitzKernelSpace *to, const RitzBatch *b, RitzVec *y) {
  const RitzShape shape = shape_of(plan, space);
  if (space->is_oriented) ritz_orient(to, b, &shape, y);
  if (space->is_curl_oriented) ritz_curl_orient(to, b, &shape, true, y);
  if (to->is_packed)
    ritz_store_packed(to, b, &shape, y);
  else if (has_whole_rows(space, how, &shape))
    scatter_rows(to, b, shape, how->row_length, y);
  else
    scatter_each(space, how, to, b, &shape, y);
}

static void scatter(const RitzCpuRun *run, const RitzStep *step, const RitzBatch *b) {
  const int s = run->list->buffers[step->to].space;
  ritz_cpu_scatter_nodes(run->list->plan, space_of(run, step->to), &run->how[s], &run->args->spaces[s], b,
                         run->buffers[step->from]);
}

// ---- Tables and matrices ----

// An array [rows][cols], or its transposed one.
typedef struct {
  RitzDense table;
  int rows, cols;
} Matrix;

static Matrix matrix_of(const RitzReal *values, CeedInt rows, CeedInt cols, bool is_transposed) {
  return is_transposed ? (Matrix){{values, 1, cols}, cols, rows} : (Matrix){{values, cols, 1}, rows, cols};
}

// y (+)= A x, values sx and sy vectors apart. Blocks of all sizes, so that no row waits for its own sum.
RITZ_INLINE void apply(const Matrix *A, const RitzVec *x, int sx, RitzVec *y, int sy, bool add) {
#define BLOCK(n) ritz_dense_block(n, A->cols, ritz_dense_from(A->table, i, 0), x, sx, y + i * sy, sy, add)
  for (int i = 0; i < A->rows; i += 8) {
    switch (A->rows - i) {
    case 1: BLOCK(1); break;
    case 2: BLOCK(2); break;
    case 3: BLOCK(3); break;
    case 4: BLOCK(4); break;
    case 5: BLOCK(5); break;
    case 6: BLOCK(6); break;
    case 7: BLOCK(7); break;
    default: BLOCK(8); break;
    }
  }
#undef BLOCK
}

static void negate(int64_t n, RitzVec *y) {
  for (int64_t i = 0; i < n; i++) y[i] = -y[i];
}

// The same for lines: y [slow][rows][fast] (+)= table x [slow][cols][fast], table [rows][cols]. Where the
// compiler knows cols, a line of x stays in registers.
RITZ_INLINE void apply_line(int cols, int rows, const RitzReal *a, int64_t fast, const RitzVec *x, RitzVec *y,
                            bool add) {
  RitzVec line[LINE];
  RITZ_UNROLL for (int j = 0; j < cols; j++) line[j] = x[j * fast];
  RITZ_ROLLED for (int i = 0; i < rows; i++, a += cols) {
    RitzVec sum = a[0] * line[0];
    RITZ_UNROLL for (int j = 1; j < cols; j++) sum += a[j] * line[j];
    ritz_dense_put(y + i * fast, sum, add);
  }
}

RITZ_INLINE void apply_lines(int cols, int rows, const RitzReal *a, int64_t slow, int64_t fast,
                             const RitzVec *x, RitzVec *y, bool add) {
  for (int64_t s = 0; s < slow; s++) {
    for (int64_t f = 0; f < fast; f++)
      apply_line(cols, rows, a, fast, x + s * cols * fast + f, y + s * rows * fast + f, add);
  }
}

RITZ_CLONED static void apply_long_lines(const Matrix *A, int64_t slow, int64_t fast, const RitzVec *x,
                                         RitzVec *y, bool add) {
  for (int64_t s = 0; s < slow; s++) {
    for (int64_t f = 0; f < fast; f++)
      apply(A, x + s * A->cols * fast + f, (int)fast, y + s * A->rows * fast + f, (int)fast, add);
  }
}

RITZ_CLONED static void apply_along(const Matrix *A, int64_t slow, int64_t fast, const RitzVec *x, RitzVec *y,
                                    bool add) {
#define LINES(n) apply_lines(n, A->rows, A->table.entries, slow, fast, x, y, add)
  switch (A->cols) {
  case 1: LINES(1); break;
  case 2: LINES(2); break;
  case 3: LINES(3); break;
  case 4: LINES(4); break;
  case 5: LINES(5); break;
  case 6: LINES(6); break;
  case 7: LINES(7); break;
  case 8: LINES(8); break;
  case 9: LINES(9); break;
  case 10: LINES(10); break;
  default: apply_long_lines(A, slow, fast, x, y, add);
  }
#undef LINES
}

void ritz_cpu_contract(const RitzReal *table, CeedInt rows, CeedInt cols, int64_t slow, int64_t fast,
                       const RitzVec *x, RitzVec *y, bool add) {
  const Matrix A = matrix_of(table, rows, cols, false);
  apply_along(&A, slow, fast, x, y, add);
}

// Where a step of a block has component c of the space in a buffer: nodes [component][P], points [component
// of a value][component][Q].
static RitzVec *part_of_block(const RitzCpuRun *run, const RitzStep *step, int buffer, CeedInt c) {
  const RitzPlanBasis *b = &run->list->plan->bases[step->basis];
  RitzVec *first = run->buffers[buffer];
  switch (run->list->buffers[buffer].role) {
  case RITZ_ROLE_NODES: return first + c * b->P + b->blocks[step->block].first;
  case RITZ_ROLE_WORK: return first + c * ritz_steps_comp_size(run->list, buffer);
  default: break;
  }
  return first + (step->row * space_of(run, buffer)->num_comp + c) * b->Q;
}

static Matrix table_of(const RitzCpuRun *run, const RitzStep *step) {
  const RitzPlanMatrix *table = ritz_steps_table(run->list, step);
  const RitzReal *entries = run->tables[step - run->list->steps];
  return step->is_transposed ? matrix_of(entries, table->cols, table->rows, false)
                             : matrix_of(entries, table->rows, table->cols, false);
}

static void contract_block(const RitzCpuRun *run, const RitzStep *step) {
  const Matrix A = table_of(run, step);
  const RitzBlockSweep sweep = ritz_steps_sweep(run->list, step);
  const RitzPlanBlock *block = &run->list->plan->bases[step->basis].blocks[step->block];
  const bool is_negative = step->table == RITZ_TABLE_GRAD && block->sign[step->direction] < 0;
  const CeedInt *size = sweep.size[step->position], num_comp = space_of(run, step->from)->num_comp;
  int64_t fast = 1, slow = 1;
  for (CeedInt d = 0; d < step->direction; d++) fast *= size[d];
  for (CeedInt d = step->direction + 1; d < 3; d++) slow *= size[d];
  for (CeedInt c = 0; c < num_comp; c++) {
    RitzVec *y = part_of_block(run, step, step->to, c);
    if (is_negative && step->adds) negate(slow * A.rows * fast, y);
    apply_along(&A, slow, fast, part_of_block(run, step, step->from, c), y, step->adds);
    if (is_negative) negate(slow * A.rows * fast, y);
  }
}

static void contract(const RitzCpuRun *run, const RitzStep *step) {
  const Matrix A = table_of(run, step);
  const CeedInt *extents = ritz_steps_extents(run->list, step->from);
  const RitzVec *x = run->buffers[step->from];
  RitzVec *y = run->buffers[step->to];
  int64_t fast = 1;
  for (CeedInt d = 0; d < step->direction; d++) fast *= extents[d];
  const int64_t slow = ritz_steps_size(run->list, step->from) / (A.cols * fast);
  apply_along(&A, slow, fast, x, y, step->adds);
}

// nodes [component][P], points [component of a value][component][Q]
RITZ_CLONED static void multiply_by_matrix(const RitzCpuRun *run, const RitzStep *step) {
  const RitzPlanBasis *basis = &run->list->plan->bases[step->basis];
  const RitzReal *table = run->args->matrices[basis->first_matrix + (step->table == RITZ_TABLE_GRAD)];
  const CeedInt P = basis->P, Q = basis->Q, num_comp = space_of(run, step->from)->num_comp;
  const CeedInt q_comp = step->table == RITZ_TABLE_GRAD ? basis->q_comp_deriv : basis->q_comp_interp;
  const RitzVec *x = run->buffers[step->from];
  RitzVec *y = run->buffers[step->to];
  for (CeedInt d = 0; d < q_comp; d++) {
    const Matrix A = matrix_of(table + (int64_t)d * Q * P, Q, P, step->is_transposed);
    for (CeedInt c = 0; c < num_comp; c++) {
      const CeedInt points = (d * num_comp + c) * Q;
      if (step->is_transposed)
        apply(&A, x + points, 1, y + c * P, 1, step->adds || d > 0);
      else
        apply(&A, x + c * P, 1, y + points, 1, step->adds);
    }
  }
}

// ---- Forms ----

// Constant inputs: `rows` of the table, each the same sum over the nodes at all points.
RITZ_CLONED static void form_constants(const RitzPlanBasis *b, const RitzStep *step, CeedInt num_comp,
                                       CeedInt q_comp, const RitzVec *x, RitzVec *y) {
  const bool is_derivative = step->table == RITZ_TABLE_GRAD;
  const CeedScalar *rows =
      is_derivative ? b->constant_deriv + (CeedSize)step->direction * b->P : b->constant_interp;
  for (CeedInt k = 0; k < q_comp * num_comp; k++) {
    RitzVec sum = {0};
    for (CeedInt p = 0; p < b->P; p++)
      sum += (RitzReal)rows[k / num_comp * b->P + p] * x[k % num_comp * b->P + p];
    for (CeedInt q = 0; q < b->Q; q++) y[k * b->Q + q] = sum;
  }
}

// Values at the corners x -> coefficients of the monomials, whose exponents are the bits of their numbers.
static void find_coefficients(CeedInt dim, const RitzVec *x, RitzVec *a) {
  const int num = 1 << dim;
  for (int m = 0; m < num; m++) a[m] = x[m];
  for (int step = 1; step < num; step *= 2) {
    for (int m = 0; m < num; m++) {
      if (m & step) continue;
      const RitzVec low = a[m], high = a[m + step];
      a[m] = (low + high) / 2;
      a[m + step] = (high - low) / 2;
    }
  }
}

// A monomial at point q, differentiated along `direction` (-1: not).
static RitzReal monomial(const RitzPlanBasis *b, int exponents, CeedInt q, CeedInt direction) {
  CeedScalar product = direction < 0 || exponents >> direction & 1;
  for (CeedInt d = 0; d < b->dim; d++, q /= b->Q_1d) {
    if (d != direction && exponents >> d & 1) product *= b->points[q % b->Q_1d];
  }
  return (RitzReal)product;
}

RITZ_CLONED static void form_linear(const RitzPlanBasis *b, const RitzStep *step, CeedInt num_comp,
                                    const RitzVec *x, RitzVec *y) {
  const CeedInt direction = step->table == RITZ_TABLE_GRAD ? step->direction : -1;
  RitzVec a[8];
  for (CeedInt c = 0; c < num_comp; c++) {
    find_coefficients(b->dim, x + c * b->P, a);
    for (CeedInt q = 0; q < b->Q; q++) {
      RitzVec sum = {0};
      for (int m = 0; m < 1 << b->dim; m++) sum += monomial(b, m, q, direction) * a[m];
      y[c * b->Q + q] = sum;
    }
  }
}

static void form(const RitzCpuRun *run, const RitzStep *step) {
  const RitzPlanSpace *space = space_of(run, step->from);
  const RitzPlanBasis *b = &run->list->plan->bases[step->basis];
  const RitzVec *x = run->buffers[step->from];
  RitzVec *y = run->buffers[step->to];
  if (space->kind == RITZ_INPUT_LINEAR)
    form_linear(b, step, space->num_comp, x, y);
  else
    form_constants(b, step, space->num_comp, run->list->buffers[step->to].num_comp / space->num_comp, x, y);
}

// ---- At the points ----

// The buffer of argument k; -1: one of size 0, for which the function gets NULL.
static int argument_of(const RitzCpuRun *run, bool is_input, int k) {
  const RitzPlan *plan = run->list->plan;
  const int i = ritz_plan_field_of(plan, is_input, k);
  return i < 0 ? -1 : run->list->arguments[is_input ? i : plan->num_in + i];
}

static int call_with(const RitzCpuRun *run, CeedInt num_points) {
  return run->args->function(run->args->context, num_points * RITZ_LANES,
                             (const CeedScalar *const *)run->call,
                             run->call + run->list->plan->num_in_arguments);
}

static void list_arguments(const RitzCpuRun *run, bool is_input, int num, CeedScalar **call) {
  for (int k = 0; k < num; k++) {
    const int argument = argument_of(run, is_input, k);
    call[k] = argument < 0 ? NULL : (CeedScalar *)run->buffers[argument];
  }
}

static int call_directly(const RitzCpuRun *run, CeedInt num) {
  const RitzPlan *plan = run->list->plan;
  list_arguments(run, true, plan->num_in_arguments, run->call);
  list_arguments(run, false, plan->num_out_arguments, run->call + plan->num_in_arguments);
  return call_with(run, num);
}

// ---- At the points, of arithmetic that is not in CeedScalar ----

CeedInt ritz_cpu_points_per_call(const RitzPlan *plan) {
  CeedInt num = plan->Q_1d;
  while (num < plan->Q && (num < 8 || (CeedSize)num * RITZ_LANES % plan->vec_length)) num *= plan->Q_1d;
  return plan->Q % num == 0 ? num : plan->Q;
}

CeedInt ritz_cpu_argument_size(const RitzPlan *plan, bool is_input, int k) {
  const int i = ritz_plan_field_of(plan, is_input, k);
  return i < 0 ? 0 : plan->fields[is_input ? i : plan->num_in + i].size;
}

RITZ_CLONED static void copy_in(CeedInt size, CeedInt Q, CeedInt num, const RitzVec *from, RitzCallVec *to) {
  for (CeedInt c = 0; c < size; c++) {
    for (CeedInt q = 0; q < num; q++) to[c * num + q] = RITZ_CONVERT(from[c * Q + q], RitzCallVec);
  }
}

void ritz_cpu_copy_in(CeedInt size, CeedInt Q, CeedInt num, const RitzVec *from, RitzCallVec *to) {
  copy_in(size, Q, num, from, to);
}

RITZ_CLONED static void copy_out(CeedInt size, CeedInt Q, CeedInt num, const RitzCallVec *from, RitzVec *to) {
  for (CeedInt c = 0; c < size; c++) {
    for (CeedInt q = 0; q < num; q++) to[c * Q + q] = RITZ_CONVERT(from[c * num + q], RitzVec);
  }
}

int64_t ritz_cpu_place_arguments(const RitzPlan *plan, CeedInt num, CeedScalar *memory, CeedScalar **call) {
  int64_t used = 0;
  for (int k = 0; k < plan->num_in_arguments + plan->num_out_arguments; k++) {
    const bool is_input = k < plan->num_in_arguments;
    const int64_t size = ritz_cpu_argument_size(plan, is_input, is_input ? k : k - plan->num_in_arguments);
    if (memory) call[k] = size ? memory + used : NULL;
    used += size * num * RITZ_LANES;
  }
  return used;
}

// Inputs of points q .. q + num - 1 into the arguments, or outputs out of them.
static void convert_arguments(const RitzCpuRun *run, bool is_input, CeedInt q, CeedInt num) {
  const RitzPlan *plan = run->list->plan;
  CeedScalar **call = is_input ? run->call : run->call + plan->num_in_arguments;
  for (int k = 0; k < (is_input ? plan->num_in_arguments : plan->num_out_arguments); k++) {
    const int argument = argument_of(run, is_input, k);
    const CeedInt size = ritz_cpu_argument_size(plan, is_input, k);
    if (argument < 0) continue;
    if (is_input)
      copy_in(size, plan->Q, num, run->buffers[argument] + q, (RitzCallVec *)call[k]);
    else
      copy_out(size, plan->Q, num, (const RitzCallVec *)call[k], run->buffers[argument] + q);
  }
}

static int call_converted(const RitzCpuRun *run) {
  const RitzPlan *plan = run->list->plan;
  const CeedInt num = ritz_cpu_points_per_call(plan);
  (void)ritz_cpu_place_arguments(plan, num, run->converted, run->call);
  for (CeedInt q = 0; q < plan->Q; q += num) {
    convert_arguments(run, true, q, num);
    const int code = call_with(run, num);
    if (code) return code;
    convert_arguments(run, false, q, num);
  }
  return 0;
}

int ritz_cpu_call_function(const RitzCpuRun *run, CeedInt num) {
  return ritz_cpu_converts ? call_converted(run) : call_directly(run, num);
}

// ---- Moves and sums ----

static void move(const RitzCpuRun *run, const RitzStep *step) {
  const CeedSize size = ritz_steps_size(run->list, step->from);
  const RitzVec *x = run->buffers[step->from];
  RitzVec *y = run->buffers[step->to];
  for (CeedSize i = 0; i < size; i++) y[i] = step->adds ? y[i] + x[i] : x[i];
}

// ---- Lists ----

int ritz_cpu_run_step(const RitzCpuRun *run, const RitzStep *step, const RitzBatch *b) {
  switch (step->kind) {
  case RITZ_STEP_GATHER: gather(run, step, b); break;
  case RITZ_STEP_SCATTER: scatter(run, step, b); break;
  case RITZ_STEP_CONTRACT: (step->block < 0 ? contract : contract_block)(run, step); break;
  case RITZ_STEP_MULTIPLY: multiply_by_matrix(run, step); break;
  case RITZ_STEP_FORM: form(run, step); break;
  case RITZ_STEP_POINT: return ritz_cpu_call_function(run, run->list->plan->Q);
  case RITZ_STEP_EVALUATE: RITZ_ASSERT(!"done for a block of points"); break;
  case RITZ_STEP_MOVE: move(run, step); break;
  }
  return 0;
}

int ritz_cpu_run_steps(const RitzCpuRun *run, const RitzBatch *b) {
  if (run->list->plan->is_at_points) return ritz_cpu_run_at_points(run, b);
  for (int n = 0; n < run->list->num_steps; n++) {
    const int code = ritz_cpu_run_step(run, &run->list->steps[n], b);
    if (code) return code;
  }
  return 0;
}

// ---- Memory ----

// At points of an element's own they are ones.
static void fill_weights(const RitzPlan *plan, const RitzPlanBasis *b, RitzVec *weights) {
  for (CeedInt q = 0; plan->is_at_points && q < plan->Q; q++) weights[q] = ritz_splat(1);
  if (plan->is_at_points) return;
  const bool has_grid = ritz_plan_has_grid(b);
  for (CeedInt q = 0; q < b->Q; q++) {
    CeedScalar w = has_grid ? 1 : b->weights[q];
    for (CeedInt d = 0, rest = q; has_grid && d < b->dim; d++, rest /= b->Q_1d)
      w *= b->weights[rest % b->Q_1d];
    weights[q] = ritz_splat((RitzReal)w);
  }
}

static void place_buffers(const RitzSteps *list, RitzVec *memory, RitzVec **buffers) {
  for (int b = 0; b < list->num_buffers; b++)
    buffers[b] = list->places[b] < 0 ? NULL : memory + list->places[b];
  for (int i = 0; i < list->plan->num_in; i++) {
    const RitzPlanField *f = &list->plan->fields[i];
    if (f->mode == CEED_EVAL_WEIGHT && list->arguments[i] >= 0)
      fill_weights(list->plan, &list->plan->bases[f->basis], buffers[list->arguments[i]]);
  }
}

static int64_t table_size(const RitzSteps *list, int n) {
  if (list->steps[n].kind != RITZ_STEP_CONTRACT) return 0;
  const RitzPlanMatrix *table = ritz_steps_table(list, &list->steps[n]);
  return (int64_t)table->rows * table->cols;
}

// Row by row as the step has them, whose precision is that of the arithmetic.
static void fill_table(const RitzSteps *list, const RitzStep *step, RitzReal *copy) {
  const RitzPlanMatrix *table = ritz_steps_table(list, step);
  for (CeedInt i = 0; i < table->rows; i++) {
    for (CeedInt j = 0; j < table->cols; j++)
      copy[step->is_transposed ? j * table->rows + i : i * table->cols + j] =
          (RitzReal)table->values[i * table->cols + j];
  }
}

static void fill_tables(const RitzSteps *list, RitzReal *memory, const RitzReal **tables) {
  for (int n = 0; n < list->num_steps; n++) {
    tables[n] = memory;
    if (list->steps[n].kind == RITZ_STEP_CONTRACT) fill_table(list, &list->steps[n], memory);
    memory += table_size(list, n);
  }
}

static int64_t count_tables(const RitzSteps *list) {
  int64_t size = 0;
  for (int n = 0; n < list->num_steps; n++) size += table_size(list, n);
  return size;
}

// The next part of the memory at `base`, or NULL while it is only measured.
static void *take(char *base, int64_t *used, int64_t num, size_t size) {
  void *part = base ? base + *used : NULL;
  *used += (num * (int64_t)size + 63) / 64 * 64;
  return part;
}

// base NULL: only measures. Returns the bytes used.
static int64_t lay_out(const RitzSteps *list, char *base, RitzCpuRun *run) {
  const int num_arguments = list->plan->num_in_arguments + list->plan->num_out_arguments;
  const CeedInt num_points = ritz_cpu_converts ? ritz_cpu_points_per_call(list->plan) : 0;
  const int64_t num_converted = ritz_cpu_place_arguments(list->plan, num_points, NULL, NULL);
  int64_t used = 0;
  run->buffers = take(base, &used, list->num_buffers, sizeof(*run->buffers));
  run->tables = take(base, &used, list->num_steps, sizeof(*run->tables));
  run->call = take(base, &used, num_arguments, sizeof(*run->call));
  run->converted = take(base, &used, num_converted, sizeof(*run->converted));
  RitzReal *tables = take(base, &used, count_tables(list), sizeof(*tables));
  run->polynomials = take(base, &used, ritz_cpu_polynomials_size(list), sizeof(RitzVec));
  RitzVec *vectors = take(base, &used, list->size, sizeof(*vectors));
  if (!base) return used;
  place_buffers(list, vectors, run->buffers);
  fill_tables(list, tables, run->tables);
  return used;
}

int64_t ritz_cpu_run_bytes(const RitzSteps *list) {
  RitzCpuRun run;
  return lay_out(list, NULL, &run);
}

void ritz_cpu_begin_run(void *memory, RitzCpuRun *run) { (void)lay_out(run->list, memory, run); }
