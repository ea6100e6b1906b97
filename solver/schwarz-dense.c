// SPDX-License-Identifier: BSD-2-Clause
// Schwarz methods on elements of any shape with exact dense local problems: z = W sum_K E_K^T A_K^-1 E_K W r,
// A_K = E_K A E_K^T the rows and columns of the operator's matrix for the entries of element K, all
// components together, W = 1 / sqrt(elements of a node). Called by programs and by multigrid.
//
// The matrix is assembled on the host; the A_K are factorized and inverted as a batch
// (ritz/batched.h) where the context computes. An application is, for the elements of each shape, an operator
// that gathers, a batch of matrix-vector products, and an operator that adds.
//
// Rows of constrained entries in A_K are those of the identity, which nothing comes of: W is zero there.
#include <inttypes.h>
#include <math.h>
#include <ritz/assembly.h>
#include <ritz/batched.h>
#include <ritz/operator.h>

#include "base/ranges.h"
#include "core/vector-pass.h"
#include "solver/preconditioner.h"

// The elements of one shape. All handles are owned.
typedef struct {
  CeedInt num_elem, n;       // n: entries of an element, component c of node j at j * num_comp + c
  CeedElemRestriction nodes; // counted
  CeedOperator gather, add;  // L-vector -> [num_elem][n], and back
  RitzBatched product;       // out = inverses in
  CeedVector inverses;       // [num_elem][n][n]
  CeedVector in, out;        // [num_elem][n]
} Block;

typedef struct {
  CeedOperator op; // counted, as the next two
  RitzSpace space;
  RitzIndices constraints;
  RitzAssembly assembly; // owned, from the first update on
  CeedInt num_blocks, num_comp;
  Block *blocks;    // owned, [num_blocks]
  CeedVector scale; // owned: W, zero on constrained entries
  CeedVector work;  // owned
} Dense;

// ---- Application ----

// w = s r
static const RitzPass scale_into = {
    .name = "schwarz_scale",
    .num_vectors = 3,
    .num_lines = 1,
    .line = {{.to = 2, .num_terms = 1, .term = {{.factor = RITZ_PASS_NONE, .x = 0, .y = 1}}}},
};
// z = s z
static const RitzPass scale_in_place = {
    .name = "schwarz_scale_in_place",
    .num_vectors = 2,
    .num_lines = 1,
    .line = {{.to = 1, .num_terms = 1, .term = {{.factor = RITZ_PASS_NONE, .x = 0, .y = 1}}}},
};

static int multiply_schwarz_dense(const Block *b) {
  RitzBatchArray inverses = {0}, in = {0}, out = {0};
  int ierr = RitzBatchArrayFromVector(b->inverses, RITZ_ACCESS_READ, &inverses);

  if (!ierr) ierr = RitzBatchArrayFromVector(b->in, RITZ_ACCESS_READ, &in);
  if (!ierr) ierr = RitzBatchArrayFromVector(b->out, RITZ_ACCESS_WRITE, &out);
  if (!ierr) ierr = RitzGemvBatched(b->product, b->num_elem, 1, &inverses, &in, 0, &out);
  if (out.vector) ierr = ritz_first_error(ierr, RitzBatchArrayRestoreVector(&out));
  if (in.vector) ierr = ritz_first_error(ierr, RitzBatchArrayRestoreVector(&in));
  if (inverses.vector) ierr = ritz_first_error(ierr, RitzBatchArrayRestoreVector(&inverses));
  return ierr;
}

static void get_dense(RitzPreconditioner pc, RitzInside *inside) {
  const Dense *d = pc->data;
  *inside = (RitzInside){d->scale, d->work};
}

static int apply_dense_inverses(RitzPreconditioner pc, CeedVector z, CeedVector *result) {
  const Dense *d = pc->data;

  *result = z;
  RITZ_TRY(RitzVectorSetEntries(d->work, d->constraints, 0));
  for (CeedInt i = 0; i < d->num_blocks; i++) {
    const Block *b = &d->blocks[i];
    RITZ_TRY(CeedOperatorApply(b->gather, d->work, b->in, CEED_REQUEST_IMMEDIATE));
    RITZ_TRY(multiply_schwarz_dense(b));
    RITZ_TRY((i == 0 ? CeedOperatorApply : CeedOperatorApplyAdd)(b->add, b->out, z, CEED_REQUEST_IMMEDIATE));
  }
  return CEED_ERROR_SUCCESS;
}

// Constrained entries of r may be anything, even not a number.
static int apply_dense(RitzPreconditioner pc, CeedVector r, CeedVector z) {
  const Dense *d = pc->data;
  CeedVector result = NULL;

  RITZ_TRY(ritz_pass_run(&scale_into, (CeedVector[]){d->scale, r, d->work}, NULL, NULL));
  RITZ_TRY(apply_dense_inverses(pc, z, &result));
  return ritz_pass_run(&scale_in_place, (CeedVector[]){d->scale, z}, NULL, NULL);
}

// ---- Questions ----

static int view_dense(RitzPreconditioner pc, FILE *stream, int indent) {
  const Dense *d = pc->data;

  fprintf(stream, "%*s%s by dense inverses:", indent, "", pc->methods->name);
  for (CeedInt i = 0; i < d->num_blocks; i++)
    fprintf(stream, "%s %" CeedInt_FMT " of order %" CeedInt_FMT, i ? "," : "", d->blocks[i].num_elem,
            d->blocks[i].n);
  fprintf(stream, "\n");
  return CEED_ERROR_SUCCESS;
}

static int64_t num_entries(const Dense *d) {
  int64_t num = 0;

  for (CeedInt i = 0; i < d->num_blocks; i++)
    num += (int64_t)d->blocks[i].num_elem * d->blocks[i].n * d->blocks[i].n;
  return num;
}

static int64_t dense_bytes(RitzPreconditioner pc) {
  const Dense *d = pc->data;
  int64_t num = num_entries(d) + 2 * pc->n;

  for (CeedInt i = 0; i < d->num_blocks; i++) num += 2 * (int64_t)d->blocks[i].num_elem * d->blocks[i].n;
  return num * (int64_t)ritz_scalar_bytes(pc->precision) + ritz_pattern_bytes(d->assembly);
}

static int dense_work(RitzPreconditioner pc, RitzSmoothingWork *work) {
  work->flops = 2 * (double)num_entries(pc->data);
  return CEED_ERROR_SUCCESS;
}

static int free_block(Block *b) {
  int ierr = CeedElemRestrictionDestroy(&b->nodes);

  ierr = ritz_first_error(ierr, CeedOperatorDestroy(&b->gather));

  ierr = ritz_first_error(ierr, CeedOperatorDestroy(&b->add));
  ierr = ritz_first_error(ierr, RitzBatchedDestroy(&b->product));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&b->inverses));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&b->in));
  return ritz_first_error(ierr, CeedVectorDestroy(&b->out));
}

static int free_dense(Dense *d) {
  int ierr = CEED_ERROR_SUCCESS;

  for (CeedInt i = 0; i < d->num_blocks && d->blocks; i++)
    ierr = ritz_first_error(ierr, free_block(&d->blocks[i]));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&d->scale));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&d->work));
  ierr = ritz_first_error(ierr, RitzAssemblyDestroy(&d->assembly));
  ierr = ritz_first_error(ierr, RitzIndicesDestroy(&d->constraints));
  ierr = ritz_first_error(ierr, RitzSpaceDestroy(&d->space));
  ierr = ritz_first_error(ierr, CeedOperatorDestroy(&d->op));
  RITZ_FREE(&d->blocks);
  RITZ_FREE(&d);
  return ierr;
}

static int destroy_dense(RitzPreconditioner pc) { return free_dense(pc->data); }

// ---- The operator's matrix ----

typedef struct {
  const int64_t *starts, *cols; // of an assembly
  CeedVector values;            // owned
  uint8_t *marks;               // owned, [n]: constrained entries
} Matrix;

static int free_matrix(Matrix *m, int ierr) {
  RITZ_FREE(&m->marks);
  return ritz_first_error(ierr, CeedVectorDestroy(&m->values));
}

static int assemble(Ceed ceed, RitzAssembly assembly, RitzIndices constraints, Matrix *m) {
  CeedSize num_rows = 0;
  const int64_t *entries = NULL;
  int64_t num = 0;

  RITZ_TRY(RitzAssemblyGetPattern(assembly, &num_rows, NULL, &m->starts, &m->cols));
  RITZ_TRY(CeedVectorCreate(ceed, m->starts[num_rows], &m->values));
  RITZ_TRY(RitzAssemblyRun(assembly, m->values));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num_rows, &m->marks));
  if (constraints) RITZ_TRY(RitzIndicesGet(constraints, &num, &entries));
  for (int64_t i = 0; i < num; i++) m->marks[entries[i]] = 1;
  return CEED_ERROR_SUCCESS;
}

// ---- The matrices of elements ----

typedef struct {
  const Matrix *matrix;
  const CeedScalar *values; // of the matrix
  CeedScalar *dense;        // [num_elem][n][n], column-major
  const CeedInt *offsets;   // [num_elem][num_nodes]: of the space's restriction
  CeedInt num_nodes, num_comp, n;
  CeedInt *order;    // owned, [num_slots][n]: places in an element, entries ascending
  int64_t *bad_elem; // owned, [num_slots]: the first one that has a node twice; -1: none
} Extraction;

static int64_t entry_at(const Extraction *x, int64_t elem, CeedInt place) {
  return (int64_t)x->offsets[elem * x->num_nodes + place / x->num_comp] + place % x->num_comp;
}

// Returns whether all entries differ.
static bool sort_places(const Extraction *x, int64_t elem, CeedInt *order) {
  for (CeedInt i = 0; i < x->n; i++) {
    const int64_t entry = entry_at(x, elem, i);
    CeedInt at = i;
    for (; at > 0 && entry_at(x, elem, order[at - 1]) > entry; at--) order[at] = order[at - 1];
    order[at] = i;
  }
  for (CeedInt i = 1; i < x->n; i++) {
    if (entry_at(x, elem, order[i - 1]) == entry_at(x, elem, order[i])) return false;
  }
  return true;
}

// Row `row` of the matrix at place `place`: columns ascend in both.
static void fill_row(const Extraction *x, int64_t elem, const CeedInt *order, CeedInt place,
                     CeedScalar *dense) {
  const int64_t row = entry_at(x, elem, place), end = x->matrix->starts[row + 1];
  int64_t k = x->matrix->starts[row];

  for (CeedInt j = 0; j < x->n; j++) dense[place + j * x->n] = 0;
  if (x->matrix->marks[row]) {
    dense[place + place * x->n] = 1;
    return;
  }
  for (CeedInt j = 0; j < x->n; j++) {
    const int64_t col = entry_at(x, elem, order[j]);
    while (k < end && x->matrix->cols[k] < col) k++;
    if (k < end && x->matrix->cols[k] == col && !x->matrix->marks[col])
      dense[place + order[j] * x->n] = x->values[k];
  }
}

static void extract_range(void *data, int slot, int64_t first, int64_t count) {
  const Extraction *x = data;
  CeedInt *order = x->order + (int64_t)slot * x->n;

  for (int64_t e = first; e < first + count; e++) {
    if (!sort_places(x, e, order)) {
      if (x->bad_elem[slot] < 0) x->bad_elem[slot] = e;
      continue;
    }
    for (CeedInt i = 0; i < x->n; i++) fill_row(x, e, order, i, x->dense + e * x->n * x->n);
  }
}

static int run_extraction(Ceed ceed, const char *call, CeedInt num_elem, Extraction *x) {
  int num_slots = 1, ierr;
  int64_t bad = -1;

  RITZ_TRY(ritz_run_ranges_slots(ceed, &num_slots));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)num_slots * (size_t)x->n, &x->order));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)num_slots, &x->bad_elem));
  for (int s = 0; s < num_slots; s++) x->bad_elem[s] = -1;
  RITZ_TRY_CLEANUP(ritz_run_elements(ceed, num_elem, extract_range, x));
  for (int s = num_slots - 1; s >= 0; s--) bad = x->bad_elem[s] >= 0 ? x->bad_elem[s] : bad;
  if (bad >= 0)
    ierr = CeedError(ceed, CEED_ERROR_UNSUPPORTED,
                     "%s: element %" PRId64 " has a node twice (a periodic mesh needs two elements and more)",
                     call, bad);
cleanup:
  RITZ_FREE(&x->order);
  RITZ_FREE(&x->bad_elem);
  return ierr;
}

// dense: a vector of [num_elem][n][n] CeedScalars.
static int extract(Ceed ceed, const char *call, const Matrix *matrix, CeedInt num_elem, Extraction *x,
                   CeedVector dense) {
  x->matrix = matrix;
  RITZ_TRY(CeedVectorGetArrayRead(matrix->values, CEED_MEM_HOST, &x->values));
  int ierr = CeedVectorGetArrayWrite(dense, CEED_MEM_HOST, &x->dense);
  if (!ierr) {
    ierr = run_extraction(ceed, call, num_elem, x);
    ierr = ritz_first_error(ierr, CeedVectorRestoreArray(dense, &x->dense));
  }
  return ritz_first_error(ierr, CeedVectorRestoreArrayRead(matrix->values, &x->values));
}

// ---- Their inverses, where the context computes ----

static int fill_identities(CeedVector vec, CeedInt num_elem, CeedInt n) {
  CeedScalar *array = NULL;

  RITZ_TRY(CeedVectorSetValue(vec, 0));
  RITZ_TRY(CeedVectorGetArray(vec, CEED_MEM_HOST, &array));
  for (int64_t e = 0; e < num_elem; e++) {
    for (CeedInt i = 0; i < n; i++) array[e * n * n + i * (n + 1)] = 1;
  }
  return CeedVectorRestoreArray(vec, &array);
}

typedef struct {
  Ceed ceed; // borrowed, as all
  const char *call;
  CeedOperator op;
  RitzSpace space;
  CeedScalarType precision;
  RitzOperatorUse use;
  const Matrix *matrix;
} Setup;

// A := factors, X := inverses. info: of the context's memory. Waits.
static int factorize_and_solve(const Setup *s, const Block *b, int64_t first_elem, const RitzBatchArray *A,
                               const RitzBatchArray *X, int32_t *info) {
  const RitzBatchLayout square = {.precision = CEED_SCALAR_TYPE, .m = b->n, .n = b->n};
  const RitzBatchedOptions options = {.A = square, .B = square};
  RitzBatched factorize = NULL, solve = NULL;
  int64_t bad = -1;
  int32_t minor = 0;
  int ierr;

  RITZ_TRY_CLEANUP(RitzBatchedCreate(s->ceed, RITZ_BATCHED_POTRF, &options, &factorize));
  RITZ_TRY_CLEANUP(RitzBatchedCreate(s->ceed, RITZ_BATCHED_POTRS, &options, &solve));
  RITZ_TRY_CLEANUP(RitzPotrfBatched(factorize, b->num_elem, A, info));
  RITZ_TRY_CLEANUP(RitzPotrsBatched(solve, b->num_elem, A, X, NULL));
  RITZ_TRY_CLEANUP(RitzBatchedGetFirstFailure(factorize, info, b->num_elem, &bad, &minor));
  if (bad >= 0)
    ierr = CeedError(s->ceed, CEED_ERROR_MAJOR,
                     "%s: the rows and columns of the operator's matrix for element %" PRId64
                     " are not positive definite (its leading minor %d, %" CeedInt_FMT " entries)",
                     s->call, first_elem + bad, (int)minor, b->n);
cleanup:
  ierr = ritz_first_error(ierr, RitzBatchedDestroy(&factorize));
  return ritz_first_error(ierr, RitzBatchedDestroy(&solve));
}

// inverses: identities on entry. infos: a vector whose array has room for num_elem numbers of 32 bits.
static int invert_schwarz_dense(const Setup *s, const Block *b, int64_t first_elem, CeedVector dense,
                                CeedVector inverses, CeedVector infos) {
  RitzBatchArray A = {0}, X = {0}, info = {0};
  int ierr = RitzBatchArrayFromVector(dense, RITZ_ACCESS_READ_WRITE, &A);

  if (!ierr) ierr = RitzBatchArrayFromVector(inverses, RITZ_ACCESS_READ_WRITE, &X);
  if (!ierr) ierr = RitzBatchArrayFromVector(infos, RITZ_ACCESS_WRITE, &info);
  if (!ierr) ierr = factorize_and_solve(s, b, first_elem, &A, &X, info.base);
  if (info.vector) ierr = ritz_first_error(ierr, RitzBatchArrayRestoreVector(&info));
  if (X.vector) ierr = ritz_first_error(ierr, RitzBatchArrayRestoreVector(&X));
  if (A.vector) ierr = ritz_first_error(ierr, RitzBatchArrayRestoreVector(&A));
  return ierr;
}

// Fills b->inverses, in the operator's precision; computed in the library's own.
static int fill_inverses(const Setup *s, CeedInt block, CeedInt num_comp, const Block *b) {
  const CeedSize size = (CeedSize)b->num_elem * b->n * b->n;
  Extraction x = {.num_nodes = b->n / num_comp, .num_comp = num_comp, .n = b->n};
  CeedVector dense = NULL, inverses = NULL, infos = NULL;
  RitzMesh mesh = NULL;
  int64_t first_elem = 0;
  int ierr;

  RITZ_TRY(RitzSpaceGetMesh(s->space, &mesh));
  RITZ_TRY(RitzMeshGetBlock(mesh, block, NULL, &first_elem, NULL, NULL, NULL));
  RITZ_TRY_CLEANUP(CeedVectorCreate(s->ceed, size, &dense));
  RITZ_TRY_CLEANUP(CeedVectorCreate(s->ceed, size, &inverses));
  RITZ_TRY_CLEANUP(CeedVectorCreate(s->ceed, b->num_elem, &infos));
  RITZ_TRY_CLEANUP(CeedElemRestrictionGetOffsets(b->nodes, CEED_MEM_HOST, &x.offsets));
  ierr = extract(s->ceed, s->call, s->matrix, b->num_elem, &x, dense);
  RITZ_TRY_CLEANUP(ritz_first_error(ierr, CeedElemRestrictionRestoreOffsets(b->nodes, &x.offsets)));
  RITZ_TRY_CLEANUP(fill_identities(inverses, b->num_elem, b->n));
  RITZ_TRY_CLEANUP(invert_schwarz_dense(s, b, first_elem, dense, inverses, infos));
  RITZ_TRY_CLEANUP(RitzVectorConvert(inverses, b->inverses));
cleanup:
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&dense));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&inverses));
  return ritz_first_error(ierr, CeedVectorDestroy(&infos));
}

// ---- Operators between vectors and elements ----

static int create_copy(const Setup *s, CeedElemRestriction from, CeedElemRestriction to, CeedInt num_comp,
                       const char *name, CeedOperator *op) {
  CeedQFunction qf = NULL;
  int ierr;

  RITZ_TRY(CeedQFunctionCreateIdentity(s->ceed, num_comp, CEED_EVAL_NONE, CEED_EVAL_NONE, &qf));
  RITZ_TRY_CLEANUP(CeedOperatorCreate(s->ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, op));
  RITZ_TRY_CLEANUP(CeedOperatorSetName(*op, name));
  RITZ_TRY_CLEANUP(RitzOperatorSetPrecision(*op, s->precision));
  RITZ_TRY_CLEANUP(RitzOperatorSetUse(*op, s->use));
  RITZ_TRY_CLEANUP(CeedOperatorSetField(*op, "input", from, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  RITZ_TRY_CLEANUP(CeedOperatorSetField(*op, "output", to, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  RITZ_TRY_CLEANUP(CeedOperatorCheckReady(*op));
cleanup:
  return ritz_first_error(ierr, CeedQFunctionDestroy(&qf));
}

static int create_copies(const Setup *s, CeedInt num_comp, Block *b) {
  const CeedInt strides[3] = {num_comp, 1, b->n};
  CeedElemRestriction elements = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(CeedElemRestrictionCreateStrided(s->ceed, b->num_elem, b->n / num_comp, num_comp,
                                                    (CeedSize)b->num_elem * b->n, strides, &elements));
  RITZ_TRY_CLEANUP(create_copy(s, b->nodes, elements, num_comp, "elements of a vector", &b->gather));
  RITZ_TRY_CLEANUP(create_copy(s, elements, b->nodes, num_comp, "sum of elements", &b->add));
cleanup:
  return ritz_first_error(ierr, CeedElemRestrictionDestroy(&elements));
}

static int create_block(const Setup *s, CeedInt block, CeedInt num_comp, Block *b) {
  CeedInt num_nodes = 0;

  RITZ_TRY(RitzSpaceCreateBlockRestriction(s->space, block, s->ceed, &b->nodes));
  RITZ_TRY(CeedElemRestrictionGetNumElements(b->nodes, &b->num_elem));
  RITZ_TRY(CeedElemRestrictionGetElementSize(b->nodes, &num_nodes));
  b->n = num_nodes * num_comp;
  const RitzBatchLayout square = {.precision = s->precision, .m = b->n, .n = b->n};
  const RitzBatchLayout column = {.precision = s->precision, .m = b->n, .n = 1};
  const RitzBatchedOptions options = {.A = square, .B = column, .C = column};
  RITZ_TRY(create_copies(s, num_comp, b));
  RITZ_TRY(RitzOperatorsPrepare(2, (CeedOperator[]){b->gather, b->add}, NULL, true));
  RITZ_TRY(RitzBatchedCreate(s->ceed, RITZ_BATCHED_GEMV, &options, &b->product));
  RITZ_TRY(RitzVectorCreate(s->ceed, (CeedSize)b->num_elem * b->n * b->n, s->precision, &b->inverses));
  RITZ_TRY(fill_inverses(s, block, num_comp, b));
  RITZ_TRY(RitzVectorCreate(s->ceed, (CeedSize)b->num_elem * b->n, s->precision, &b->in));
  return RitzVectorCreate(s->ceed, (CeedSize)b->num_elem * b->n, s->precision, &b->out);
}

// ---- Creation ----

// Adds 1 at every entry of each element.
static int count_elements(const Block *b, CeedInt num_comp, CeedScalar *values) {
  const int64_t num = (int64_t)b->num_elem * (b->n / num_comp);
  const CeedInt *offsets = NULL;

  RITZ_TRY(CeedElemRestrictionGetOffsets(b->nodes, CEED_MEM_HOST, &offsets));
  for (int64_t k = 0; k < num; k++) {
    for (CeedInt c = 0; c < num_comp; c++) values[(int64_t)offsets[k] + c] += 1;
  }
  return CeedElemRestrictionRestoreOffsets(b->nodes, &offsets);
}

// d->scale: 1 / sqrt(elements of a node), zero on constrained entries.
static int create_scale(const Setup *s, CeedSize n, Dense *d) {
  CeedScalar *values = NULL;
  CeedVector scale = NULL;

  RITZ_TRY(CeedVectorCreate(s->ceed, n, &scale));
  int ierr = CeedVectorSetValue(scale, 0);
  if (!ierr) ierr = CeedVectorGetArray(scale, CEED_MEM_HOST, &values);
  for (CeedInt i = 0; i < d->num_blocks && !ierr; i++)
    ierr = count_elements(&d->blocks[i], d->num_comp, values);
  for (CeedSize i = 0; i < n && !ierr; i++)
    values[i] = values[i] > 0 && !s->matrix->marks[i] ? (CeedScalar)(1 / sqrt((double)values[i])) : 0;
  if (values) ierr = ritz_first_error(ierr, CeedVectorRestoreArray(scale, &values));
  if (!ierr) ierr = RitzVectorCreate(s->ceed, n, s->precision, &d->scale);
  if (!ierr) ierr = RitzVectorConvert(scale, d->scale);
  return ritz_first_error(ierr, CeedVectorDestroy(&scale));
}

static int fill_dense(const Setup *s, RitzIndices constraints, Dense *d) {
  RitzMesh mesh = NULL;
  CeedSize n = 0;

  RITZ_TRY(RitzSpaceGetMesh(s->space, &mesh));
  RITZ_TRY(RitzMeshGetNumBlocks(mesh, &d->num_blocks));
  RITZ_TRY(RitzSpaceGetNumComponents(s->space, &d->num_comp));
  RITZ_TRY(RitzSpaceGetSize(s->space, &n));
  RITZ_TRY(RITZ_CALLOC(s->ceed, (size_t)d->num_blocks, &d->blocks));
  RITZ_TRY(CeedOperatorReferenceCopy(s->op, &d->op));
  RITZ_TRY(RitzSpaceReferenceCopy(s->space, &d->space));
  if (constraints) RITZ_TRY(RitzIndicesReferenceCopy(constraints, &d->constraints));
  for (CeedInt i = 0; i < d->num_blocks; i++) RITZ_TRY(create_block(s, i, d->num_comp, &d->blocks[i]));
  RITZ_TRY(create_scale(s, n, d));
  return RitzVectorCreate(s->ceed, n, s->precision, &d->work);
}

static int prepare_passes(const Setup *s) {
  const RitzPassForm forms[] = {ritz_pass_form(&scale_into, s->precision),
                                ritz_pass_form(&scale_in_place, s->precision)};
  return ritz_passes_prepare(s->ceed, 2, forms);
}

// ---- New values ----

static int update_dense(RitzPreconditioner pc) {
  Dense *d = pc->data;
  Matrix matrix = {.starts = NULL};
  const Setup s = {.ceed = pc->ceed,
                   .call = pc->methods->name,
                   .op = d->op,
                   .space = d->space,
                   .precision = pc->precision,
                   .matrix = &matrix};
  int ierr = CEED_ERROR_SUCCESS;

  if (!d->assembly) RITZ_TRY(RitzAssemblyCreate(d->op, &d->assembly));
  RITZ_TRY_CLEANUP(assemble(s.ceed, d->assembly, d->constraints, &matrix));
  for (CeedInt i = 0; i < d->num_blocks; i++)
    RITZ_TRY_CLEANUP(fill_inverses(&s, i, d->num_comp, &d->blocks[i]));
cleanup:
  return free_matrix(&matrix, ierr);
}

static const RitzPreconditionerMethods methods = {.name = "element-wise Schwarz",
                                                  .apply = apply_dense,
                                                  .get_inside = get_dense,
                                                  .apply_inside = apply_dense_inverses,
                                                  .view = view_dense,
                                                  .bytes = dense_bytes,
                                                  .work = dense_work,
                                                  .update = update_dense,
                                                  .destroy = destroy_dense};

int RitzPreconditionerCreateDenseSchwarz(CeedOperator op, RitzSpace space, RitzIndices constraints,
                                         RitzPreconditioner *pc) {
  const char *call = "RitzPreconditionerCreateDenseSchwarz";
  Matrix matrix = {.starts = NULL};
  RitzAssembly assembly = NULL;
  Dense *d = NULL;
  int ierr;

  RITZ_HANDLE(op, space, constraints);
  Setup s = {.ceed = op->obj.ceed, .call = call, .op = op, .space = space, .matrix = &matrix};
  RITZ_ARGUMENT(s.ceed, space);
  RITZ_OPTIONAL(s.ceed, constraints);
  RITZ_REQUIRE(pc != NULL, s.ceed, CEED_ERROR_INCOMPATIBLE, "%s: argument 'pc' is NULL", call);
  RITZ_TRY(ritz_check_operator_of_space(op, call, space, constraints));
  RITZ_TRY(RitzOperatorGetPrecision(op, &s.precision));
  RITZ_TRY(RitzOperatorGetUse(op, &s.use));
  RITZ_TRY(RITZ_CALLOC(s.ceed, 1, &d));
  RITZ_TRY_CLEANUP(RitzAssemblyCreate(op, &assembly));
  RITZ_TRY_CLEANUP(assemble(s.ceed, assembly, constraints, &matrix));
  RITZ_TRY_CLEANUP(fill_dense(&s, constraints, d));
  RITZ_TRY_CLEANUP(prepare_passes(&s));
cleanup:
  ierr = ritz_first_error(free_matrix(&matrix, ierr), RitzAssemblyDestroy(&assembly));
  if (!ierr) // which owns d from here on
    ierr = ritz_preconditioner_create(s.ceed, call, d->work->length, s.precision, &methods, d, true, pc);
  return ierr ? ritz_first_error(ierr, free_dense(d)) : CEED_ERROR_SUCCESS;
}
