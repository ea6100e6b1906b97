// SPDX-License-Identifier: BSD-2-Clause
// Assembly on a device: one generated kernel calls the QFunction with unit vectors at the points and makes
// derivatives, diagonals, point blocks or element matrices of what it gives (plan/gpu-assembly.h,
// emit/device.c, kernels/gpu/assembly.h). Passive inputs are evaluated before it, in batches that fit the
// work memory. Operators at points have columns (points-assembly.c). Operators of so many fields that a
// point's derivatives do not fit the memory of a block, on elements with large tables, and at points with
// fields on the points or a QFunction that is kept, are left to the reference backend, on copies. Called
// through the table.
#include "backends/gpu/assembly.h"
#include "backends/gpu/memory.h"
#include "backends/gpu/operators.h"
#include "backends/gpu/run.h"
#include "backends/ref/ref.h"
#include "core/operator.h"
#include "emit/emit.h"

// The largest table of a group; beyond, the reference backend makes diagonals by products of 1D tables.
enum { MOST_TABLE_MIB = 256 };
enum { DERIVATIVE_BYTES = 1 << 20 }; // of the points of a block, which a compiler may have on a stack

// ---- On the host ----

static bool has_large_table(const RitzActiveGroups *g, CeedInt num_qpts) {
  for (CeedInt k = 0; k < g->num; k++) {
    const CeedSize length = (CeedSize)num_qpts * g->num_modes[k] * ritz_group_num_nodes(g, k);
    if (length > ((CeedSize)MOST_TABLE_MIB << 20) / (CeedSize)sizeof(CeedScalar)) return true;
  }
  return false;
}

static bool has_large_tables(CeedOperator op) {
  return has_large_table(&op->assembly_data->in, op->num_qpts) ||
         has_large_table(&op->assembly_data->out, op->num_qpts);
}

static int delegate(CeedOperator op) {
  if (op->is_at_points)
    return ritz_gpu_delegate(op->obj.ceed, "assembly of an operator at points",
                             op->qf_data->reuse ? "the assembled QFunction is kept"
                                                : "an active field lies on the points");
  if (has_large_tables(op))
    return ritz_gpu_delegate(op->obj.ceed, "assembly on elements of many nodes",
                             "the table of a basis would take more than 256 MiB");
  return ritz_gpu_delegate(op->obj.ceed, "assembly of an operator of many fields",
                           "the derivatives at one point do not fit the memory of a block");
}

// Uploads host [n] to device[place], unless ierr says that it could not be computed; frees host.
static int upload_and_free(CeedOperator op, int ierr, CeedSize n, CeedScalar *host, CeedSize place,
                           CeedScalar *device) {
  if (!ierr) ierr = ritz_gpu_copy_in(op->obj.ceed, (size_t)n * sizeof(*host), device + place, host);
  RITZ_FREE(&host);
  return ierr;
}

// Whether all active fields of an operator at points are nodal, and its derivatives are not those that are
// kept.
static int has_columns(CeedOperator op, bool *has) {
  const RitzActiveGroups *groups[] = {&op->assembly_data->in, &op->assembly_data->out};
  bool is_reused;
  RITZ_TRY(ritz_operator_is_reused(op, &is_reused));
  *has = op->is_at_points && !is_reused;
  for (int side = 0; side < 2; side++)
    for (CeedInt k = 0; k < groups[side]->num; k++) *has &= groups[side]->bases[k] != CEED_BASIS_NONE;
  return CEED_ERROR_SUCCESS;
}

static int assemble_qfunction_at_points(CeedOperator op, CeedElemRestriction rstr, CeedScalar *values) {
  CeedScalar *host = NULL;
  RITZ_TRY(RITZ_MALLOC(op->obj.ceed, (size_t)rstr->l_size, &host));
  return upload_and_free(op, ritz_gpu_points_qfunction(op, rstr, host), rstr->l_size, host, 0, values);
}

static int delegate_diagonal(CeedOperator op, bool is_point_block, void *diagonal) {
  const CeedSize n = op->output_size * (is_point_block ? op->assembly_data->in.rstrs[0]->num_comp : 1);
  CeedScalar *host = NULL;
  RITZ_TRY(delegate(op));
  RITZ_TRY(RITZ_MALLOC(op->obj.ceed, (size_t)n, &host));
  int ierr = ritz_gpu_copy_out(op->obj.ceed, (size_t)n * sizeof(*host), host, diagonal);
  if (!ierr) ierr = ritz_ref_operator_assemble_add_diagonal(op, is_point_block, host);
  return upload_and_free(op, ierr, n, host, 0, diagonal);
}

static CeedSize matrix_size(const RitzGpuAssembly *a) {
  return (CeedSize)a->in.num_nodes * a->in.num_comp * a->out.num_nodes * a->out.num_comp;
}

// ---- A kernel and what it needs ----

typedef struct {
  CeedOperator op;
  RitzGpuAssembly shape;
  bool *is_active;       // owned, of the fields
  RitzGpuKernel *kernel; // the QFunction's
  RitzGpuRun run;
  CeedVector tables[2];   // the groups', NULL: there are none
  const CeedScalar *B[2]; // their arrays
  const CeedScalar *kept; // array of the assembled QFunction where it is reused
  int num_args, num_field_args;
  RitzDeviceArg *args; // owned
} Assembly;

static RitzAssemblySide all_scalars(const RitzActiveGroups *g) {
  return (RitzAssemblySide){.num_nodes = 1,
                            .num_comp = 1,
                            .num_modes = (CeedInt)g->num_total,
                            .num_scalars = (CeedInt)g->num_total};
}

// Threads of a block, at most. On CPUs all of them have one stack, where compilers that unroll the calls keep
// what these give.
static CeedInt most_threads(CeedOperator op) {
  const CeedSize num = op->assembly_data->in.num_total * op->assembly_data->out.num_total;
  CeedInt num_threads = ritz_gpu_qfunction_block(op->qf);
  if (ritz_gpu(op->obj.ceed)->driver != &ritz_opencl) return num_threads;
  while (num_threads > 1 && num_threads * num * (CeedSize)sizeof(CeedScalar) > DERIVATIVE_BYTES)
    num_threads /= 2;
  return num_threads;
}

static int describe_assembly(CeedOperator op, RitzAssemblyKind kind, CeedInt a, CeedInt b, bool is_blocks,
                             Assembly *m) {
  const RitzActiveGroups *in = &op->assembly_data->in, *out = &op->assembly_data->out;
  const bool is_of_all = kind == RITZ_ASSEMBLE_QFUNCTION;
  *m = (Assembly){.op = op};
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, (size_t)(op->num_in + op->num_out), &m->is_active));
  for (CeedInt i = 0; i < op->num_in + op->num_out; i++) {
    const CeedOperatorField f = ritz_operator_field(op, i);
    m->is_active[i] = f->vec == CEED_VECTOR_ACTIVE && !ritz_field_is_unused(f);
  }
  m->shape = (RitzGpuAssembly){.kind = kind,
                               .in = is_of_all ? all_scalars(in) : ritz_assembly_side(in, a),
                               .out = is_of_all ? all_scalars(out) : ritz_assembly_side(out, b),
                               .num_points = op->num_qpts,
                               .is_blocks = is_blocks,
                               .is_kept = op->qf_data->reuse && !is_of_all,
                               .is_active = m->is_active};
  (void)ritz_plan_gpu_assembly(ritz_gpu(op->obj.ceed)->info->shared_bytes, most_threads(op), &m->shape);
  return CEED_ERROR_SUCCESS;
}

bool ritz_gpu_assembles(CeedOperator op, CeedInt a, CeedInt b, bool is_diagonal) {
  const RitzGpu *gpu = ritz_gpu(op->obj.ceed);
  RitzGpuAssembly shape = {.kind = is_diagonal ? RITZ_ASSEMBLE_DIAGONAL : RITZ_ASSEMBLE_MATRICES,
                           .in = ritz_assembly_side(&op->assembly_data->in, a),
                           .out = ritz_assembly_side(&op->assembly_data->out, b),
                           .num_points = op->num_qpts};
  return !op->is_at_points && !has_large_tables(op) &&
         ritz_plan_gpu_assembly(gpu->info->shared_bytes, most_threads(op), &shape);
}

static int find_kernel(Assembly *m) {
  char *text = NULL;
  RITZ_TRY(ritz_emit_device_assembly(m->op->qf, &m->shape, &text));
  const int ierr = ritz_gpu_qfunction_part(m->op->qf, !m->shape.is_kept, text, &m->kernel);
  RITZ_FREE(&text);
  return ierr;
}

static int get_table(Assembly *m, RitzActiveGroups *groups, CeedInt group, int side) {
  RITZ_TRY(ritz_group_table_vector(m->op->obj.ceed, groups, group, m->op->num_qpts, &m->tables[side]));
  const int ierr = CeedVectorGetArrayRead(m->tables[side], CEED_MEM_DEVICE, &m->B[side]);
  if (ierr) m->tables[side] = NULL;
  return ierr;
}

static int close_assembly(Assembly *m, int ierr) {
  for (int side = 0; side < 2; side++) {
    if (m->B[side]) ierr = ritz_first_error(ierr, CeedVectorRestoreArrayRead(m->tables[side], &m->B[side]));
  }
  if (m->kept) ierr = ritz_first_error(ierr, CeedVectorRestoreArrayRead(m->op->qf_data->values, &m->kept));
  ierr = ritz_gpu_run_close(&m->run, ierr);
  RITZ_FREE(&m->is_active);
  RITZ_FREE(&m->args);
  return ierr;
}

// extra_length: scalars of work memory for an element. Closed in any case.
static int open_assembly(CeedSize extra_length, Assembly *m) {
  CeedOperator op = m->op;
  RITZ_TRY(find_kernel(m));
  RITZ_TRY(RITZ_MALLOC(op->obj.ceed, 14 + 3 * (size_t)op->num_in, &m->args));
  if (m->shape.is_kept) RITZ_TRY(CeedVectorGetArrayRead(op->qf_data->values, CEED_MEM_DEVICE, &m->kept));
  return ritz_gpu_run_open_passive(op, !m->shape.is_kept, extra_length, &m->run);
}

// Kernels of tensor bases have theirs in the text.
static int get_tables(Assembly *m, CeedInt a, CeedInt b) {
  if (m->shape.is_tensor) return CEED_ERROR_SUCCESS;
  RITZ_TRY(get_table(m, &m->op->assembly_data->in, a, 0));
  return get_table(m, &m->op->assembly_data->out, b, 1);
}

// ---- A batch: elements first .. first + num - 1 ----

static void add_field_arg(Assembly *m, RitzGpuField f) {
  m->args[m->num_args++] = (RitzDeviceArg)RITZ_POINTER(f.array);
  m->args[m->num_args++] = (RitzDeviceArg)RITZ_LONG(f.first);
  m->args[m->num_args++] = (RitzDeviceArg)RITZ_LONG(f.stride);
}

// Inputs at the points, and the first arguments of the kernel.
static int begin_batch(Assembly *m, void *context, CeedInt first, CeedInt num) {
  CeedOperator op = m->op;
  m->args[0] = (RitzDeviceArg)RITZ_POINTER(context);
  m->args[1] = (RitzDeviceArg)RITZ_LONG(num);
  m->num_args = 2;
  RITZ_TRY(ritz_gpu_run_evaluate(&m->run, first, num));
  for (CeedInt i = 0; i < m->run.num_fields; i++) {
    if (!m->is_active[i] && op->qf->in[i]->size > 0) add_field_arg(m, m->run.q_fields[i]);
  }
  if (!m->kept) return CEED_ERROR_SUCCESS;
  CeedInt strides[3];
  ritz_restriction_l_strides(op->qf_data->rstr, strides);
  add_field_arg(m, (RitzGpuField){m->kept, (int64_t)first * op->num_qpts, strides[1]});
  return CEED_ERROR_SUCCESS;
}

static void add_tables(Assembly *m) {
  if (m->shape.is_tensor) return;
  m->args[m->num_args++] = (RitzDeviceArg)RITZ_POINTER(m->B[0]);
  m->args[m->num_args++] = (RitzDeviceArg)RITZ_POINTER(m->B[1]);
}

static int run_kernel(const Assembly *m, CeedInt num) {
  return ritz_gpu_launch(m->op->obj.ceed, m->kernel, "ritz_assemble",
                         ritz_gpu_assembly_blocks(&m->shape, num), m->shape.num_threads, 0, m->num_args,
                         m->args);
}

typedef int (*RunBatch)(Assembly *m, CeedInt first, CeedInt num, void *data);

static int run_batches(Assembly *m, CeedInt begin, CeedInt end, RunBatch run_batch, void *data) {
  void *context;
  int ierr = CEED_ERROR_SUCCESS;
  m->run.first_elem = begin;
  RITZ_TRY_BACKEND(ritz_qfunction_get_context_data(m->op->qf, CEED_MEM_DEVICE, &context));
  for (CeedSize first = begin; !ierr && first < end; first += m->run.batch) {
    const CeedInt num = CeedIntMin(m->run.batch, end - (CeedInt)first);
    ierr = begin_batch(m, context, (CeedInt)first, num);
    if (!ierr) ierr = run_batch(m, (CeedInt)first, num, data);
  }
  const int restored = ritz_qfunction_restore_context_data(m->op->qf, &context);
  RITZ_TRY_BACKEND(ierr ? ierr : restored);
  return CEED_ERROR_SUCCESS;
}

// ---- QFunction ----

typedef struct {
  CeedElemRestriction rstr;
  CeedScalar *values;
} Derivatives;

// The restriction is strided like Q-vectors: core/ makes it so for this backend.
static int write_derivatives(Assembly *m, CeedInt first, CeedInt num, void *data) {
  const Derivatives *d = data;
  CeedInt strides[3];
  ritz_restriction_l_strides(d->rstr, strides);
  m->args[m->num_args++] = (RitzDeviceArg)RITZ_LONG((int64_t)first * m->op->num_qpts);
  m->args[m->num_args++] = (RitzDeviceArg)RITZ_LONG(strides[1]);
  m->args[m->num_args++] = (RitzDeviceArg)RITZ_POINTER(d->values);
  return run_kernel(m, num);
}

int ritz_gpu_operator_assemble_qfunction(CeedOperator op, CeedElemRestriction rstr, CeedScalar *values) {
  Derivatives d = {rstr, values};
  Assembly m;
  if (op->is_at_points) return assemble_qfunction_at_points(op, rstr, values);
  int ierr = describe_assembly(op, RITZ_ASSEMBLE_QFUNCTION, 0, 0, false, &m);
  if (!ierr) ierr = open_assembly(0, &m);
  if (!ierr) ierr = run_batches(&m, 0, op->num_elem, write_derivatives, &d);
  return close_assembly(&m, ierr);
}

// ---- Diagonals and point blocks ----

typedef struct {
  CeedElemRestriction rstr;
  CeedSize length;   // scalars of an element in the E-vector
  CeedScalar *whole; // E-vector of all elements, which are added up at once; NULL: batch by batch
  CeedScalar *values;
} Diagonal;

// Signs cancel: orientations are taken absolutely.
static int add_nodes(const Diagonal *d, CeedInt first, CeedInt num, const CeedScalar *e_vec) {
  const RitzRestrictionAction action = {CEED_TRANSPOSE, first, num, false, d->rstr->use_orients};
  return ritz_gpu_restriction_apply(d->rstr, &action, CEED_SCALAR_TYPE, e_vec, d->values);
}

static int add_diagonal(Assembly *m, CeedInt first, CeedInt num, void *data) {
  const Diagonal *d = data;
  const CeedInt size = m->shape.in.num_nodes;
  CeedScalar *e_vec = d->whole ? d->whole : m->run.extra;
  add_tables(m);
  m->args[m->num_args++] = (RitzDeviceArg)RITZ_LONG(d->whole ? (int64_t)first * size : 0);
  m->args[m->num_args++] = (RitzDeviceArg)RITZ_LONG((int64_t)(d->whole ? m->op->num_elem : num) * size);
  m->args[m->num_args++] = (RitzDeviceArg)RITZ_POINTER(e_vec);
  RITZ_TRY(run_kernel(m, num));
  return d->whole ? CEED_ERROR_SUCCESS : add_nodes(d, first, num, e_vec);
}

static int run_diagonal(Assembly *m, CeedInt a, CeedInt b, Diagonal *d) {
  const CeedInt num_elem = m->op->num_elem;
  const bool is_whole = ritz_gpu_restriction_needs_map(d->rstr);
  RITZ_TRY(open_assembly(is_whole ? 0 : d->length, m));
  RITZ_TRY(get_tables(m, a, b));
  if (is_whole)
    RITZ_TRY(ritz_gpu_work(m->op->obj.ceed, RITZ_WORK_ASSEMBLY,
                           (size_t)(d->length * num_elem) * sizeof(CeedScalar), (void **)&d->whole));
  RITZ_TRY(run_batches(m, 0, num_elem, add_diagonal, d));
  return is_whole ? add_nodes(d, 0, num_elem, d->whole) : CEED_ERROR_SUCCESS;
}

// Adds the diagonal of the groups a and b, which have one basis and one restriction.
static int add_diagonal_of(CeedOperator op, CeedInt a, CeedInt b, bool is_point_block, void *values) {
  Diagonal d = {.rstr = op->assembly_data->in.rstrs[a], .values = values};
  Assembly m;
  int ierr = describe_assembly(op, RITZ_ASSEMBLE_DIAGONAL, a, b, is_point_block, &m);
  d.length = (CeedSize)m.shape.in.num_nodes * ritz_gpu_assembly_pairs(&m.shape);
  if (!ierr && is_point_block) ierr = ritz_gpu_restriction_blocks(d.rstr, &d.rstr);
  if (!ierr) ierr = run_diagonal(&m, a, b, &d);
  return close_assembly(&m, ierr);
}

static bool is_one_space(CeedOperator op, CeedInt a, CeedInt b) {
  const RitzActiveGroups *in = &op->assembly_data->in, *out = &op->assembly_data->out;
  return in->bases[a] == out->bases[b] && in->rstrs[a] == out->rstrs[b];
}

int ritz_gpu_operator_assemble_add_diagonal(CeedOperator op, bool is_point_block, void *diagonal) {
  const CeedInt num_in = op->assembly_data->in.num, num_out = op->assembly_data->out.num;
  bool has, are_supported = true;
  RITZ_TRY(has_columns(op, &has));
  for (CeedInt k = 0; k < num_in * num_out && !has; k++)
    are_supported &=
        !is_one_space(op, k / num_out, k % num_out) || ritz_gpu_assembles(op, k / num_out, k % num_out, true);
  if (!are_supported) return delegate_diagonal(op, is_point_block, diagonal);
  for (CeedInt k = 0; k < num_in * num_out; k++) {
    const CeedInt a = k / num_out, b = k % num_out;
    if (!is_one_space(op, a, b)) continue;
    RITZ_TRY(has ? ritz_gpu_points_diagonal(op, a, b, diagonal)
                 : add_diagonal_of(op, a, b, is_point_block, diagonal));
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Element matrices ----

typedef struct {
  CeedInt a, b, first_elem;
  CeedSize place;
  CeedScalar *values;
} Matrices;

static bool is_oriented(CeedElemRestriction r) {
  const bool is_signed = r->type == CEED_RESTRICTION_ORIENTED && r->use_signs;
  return r->use_orients && (is_signed || r->type == CEED_RESTRICTION_CURL_ORIENTED);
}

// Rows (stride 1) or columns of the matrices of some elements become T^T times what they were, T being the
// orientations of a restriction. num_lines: of a matrix.
static int orient(const Assembly *m, CeedElemRestriction r, CeedInt first, CeedInt num, CeedInt num_lines,
                  bool is_rows, CeedSize place, CeedScalar *values) {
  Ceed ceed = m->op->obj.ceed;
  const CeedInt num_comp = m->shape.in.num_comp * m->shape.out.num_comp;
  const int64_t num_items = (int64_t)num * num_comp * num_lines;
  RitzGpuKernel *kernel;
  const void *orients;
  if (!is_oriented(r)) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_gpu_base(ceed, RITZ_BASE_RESTRICTIONS, &kernel));
  RITZ_TRY(ritz_gpu_restriction_orients(r, &orients));
  return RITZ_GPU_RUN(ceed, kernel, "restriction_orient_lines", RITZ_GPU_BLOCKS(num_items), RITZ_GPU_BLOCK,
                      RITZ_LONG(num_items), RITZ_INT(r->elem_size), RITZ_INT(num_lines), RITZ_INT(num_comp),
                      RITZ_INT(first), RITZ_INT(is_rows), RITZ_INT(r->type == CEED_RESTRICTION_CURL_ORIENTED),
                      RITZ_INT(r->use_signs), RITZ_POINTER(orients), RITZ_LONG(place), RITZ_POINTER(values));
}

static int orient_matrices(const Assembly *m, CeedInt a, CeedInt b, CeedInt first, CeedInt num,
                           CeedSize place, CeedScalar *values) {
  const CeedElemRestriction in = m->op->assembly_data->in.rstrs[a], out = m->op->assembly_data->out.rstrs[b];
  RITZ_TRY(orient(m, in, first, num, m->shape.out.num_nodes, true, place, values));
  return orient(m, out, first, num, m->shape.in.num_nodes, false, place, values);
}

static int write_matrices(Assembly *m, CeedInt first, CeedInt num, void *data) {
  const Matrices *t = data;
  const CeedSize place = t->place + (CeedSize)(first - t->first_elem) * matrix_size(&m->shape);
  add_tables(m);
  m->args[m->num_args++] = (RitzDeviceArg)RITZ_LONG(place);
  m->args[m->num_args++] = (RitzDeviceArg)RITZ_POINTER(t->values);
  RITZ_TRY(run_kernel(m, num));
  return orient_matrices(m, t->a, t->b, first, num, place, t->values);
}

// At points a device has columns, which meet on the host; the reference backend is there, too.
static int matrices_on_host(CeedOperator op, CeedInt a, CeedInt b, CeedInt first_elem, CeedInt num_elem,
                            CeedSize place, CeedScalar *values) {
  const RitzGpuAssembly shape = {.in = ritz_assembly_side(&op->assembly_data->in, a),
                                 .out = ritz_assembly_side(&op->assembly_data->out, b)};
  const CeedSize n = matrix_size(&shape) * num_elem;
  const Assembly m = {.op = op, .shape = shape};
  CeedScalar *host = NULL;
  bool has;
  RITZ_TRY(has_columns(op, &has));
  if (!has) RITZ_TRY(delegate(op));
  RITZ_TRY(RITZ_MALLOC(op->obj.ceed, (size_t)n, &host));
  const int ierr = has ? ritz_gpu_points_matrices(op, a, b, first_elem, num_elem, n, host)
                       : ritz_ref_operator_assemble(op, a, b, first_elem, num_elem, 0, host);
  RITZ_TRY(upload_and_free(op, ierr, n, host, place, values));
  return has ? orient_matrices(&m, a, b, first_elem, num_elem, place, values) : CEED_ERROR_SUCCESS;
}

int ritz_gpu_operator_assemble(CeedOperator op, CeedInt a, CeedInt b, CeedInt first_elem, CeedInt num_elem,
                               CeedSize place, CeedScalar *values) {
  Matrices t = {a, b, first_elem, place, values};
  Assembly m;
  if (!ritz_gpu_assembles(op, a, b, false))
    return matrices_on_host(op, a, b, first_elem, num_elem, place, values);
  int ierr = describe_assembly(op, RITZ_ASSEMBLE_MATRICES, a, b, false, &m);
  if (!ierr) ierr = open_assembly(0, &m);
  if (!ierr) ierr = get_tables(&m, a, b);
  if (!ierr) ierr = run_batches(&m, first_elem, first_elem + num_elem, write_matrices, &t);
  return close_assembly(&m, ierr);
}

// ---- In a fixed pattern ----

typedef struct {
  const RitzGpuPlaces *places;
  CeedScalar *values;
} Pattern;

static void add_order(Assembly *m, const RitzGpuColors *colors, CeedInt place, CeedInt first) {
  m->args[m->num_args++] = (RitzDeviceArg)RITZ_POINTER(colors->device_order);
  m->args[m->num_args++] = (RitzDeviceArg)RITZ_LONG(place);
  m->args[m->num_args++] = (RitzDeviceArg)RITZ_LONG(first);
}

// The rest of the arguments, and `num` elements.
static int add_to_pattern(Assembly *m, CeedInt first, CeedInt num, const Pattern *p) {
  add_tables(m);
  m->args[1] = (RitzDeviceArg)RITZ_LONG(num);
  m->args[m->num_args++] = (RitzDeviceArg)RITZ_LONG(first);
  m->args[m->num_args++] = (RitzDeviceArg)RITZ_POINTER(p->places->starts);
  m->args[m->num_args++] = (RitzDeviceArg)RITZ_POINTER(p->places->places);
  m->args[m->num_args++] = (RitzDeviceArg)RITZ_POINTER(p->values);
  return run_kernel(m, num);
}

// First place from `begin` on, before `end`, of an element that is not before `elem`.
static CeedInt find_place(const CeedInt *order, CeedInt begin, CeedInt end, CeedInt elem) {
  while (begin < end) {
    const CeedInt middle = begin + (end - begin) / 2;
    if (order[middle] < elem)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

// The elements of the batch, color after color.
static int add_batch(Assembly *m, CeedInt first, CeedInt num, void *data) {
  const Pattern *p = data;
  const RitzGpuColors *c = &p->places->colors;
  const int num_args = m->num_args;
  if (!p->places->is_ordered) return add_to_pattern(m, first, num, p);
  for (CeedInt k = 0; k < c->num_colors; k++) {
    const CeedInt begin = find_place(c->order, c->firsts[k], c->firsts[k + 1], first);
    const CeedInt end = find_place(c->order, begin, c->firsts[k + 1], first + num);
    m->num_args = num_args;
    add_order(m, c, begin, first);
    if (end > begin) RITZ_TRY(add_to_pattern(m, first, end - begin, p));
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_operator_add_matrices(CeedOperator op, CeedInt a, CeedInt b, const RitzGpuPlaces *places,
                                   CeedScalar *values) {
  Pattern p = {places, values};
  Assembly m;
  int ierr = describe_assembly(op, RITZ_ASSEMBLE_PATTERN, a, b, false, &m);
  m.shape.is_ordered = places->is_ordered;
  m.shape.is_long = places->is_long;
  m.shape.place_bytes = places->place_bytes;
  if (!ierr) ierr = open_assembly(0, &m);
  if (!ierr) ierr = get_tables(&m, a, b);
  if (!ierr) ierr = run_batches(&m, 0, op->num_elem, add_batch, &p);
  return close_assembly(&m, ierr);
}
