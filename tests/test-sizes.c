// SPDX-License-Identifier: BSD-2-Clause
// Large numbers of everything: L-vectors beyond 2^31 entries (in reserved memory of which next to nothing is
// touched), order 30, 200 fields, 100 parts of a composite, contexts of any size, long lists and names.
// Nothing has a fixed maximum but what 32-bit numbers of the standard impose, and that is said.
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE // MAP_NORESERVE, mincore
#endif
#include "tests/api.h"
#include "tests/many-operator.h"
#include "tests/reference.h"
#include "tests/sizes-qfunctions.h"
#include "tests/triples.h"

#include <ceed/backend.h>
#include <limits.h>
#include <math.h>
#include <ritz/operator.h>
#include <sys/mman.h>

// ---- Reserved memory ----

// An array of `length` zeros that takes no memory until it is touched; NULL where the system has no such
// thing.
static CeedScalar *reserve(CeedSize length) {
#if defined(MAP_NORESERVE) && defined(MAP_ANONYMOUS)
  void *p = mmap(NULL, (size_t)length * sizeof(CeedScalar), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

  return p == MAP_FAILED ? NULL : p;
#else
  (void)length;
  return NULL;
#endif
}

static void release(CeedScalar *array, CeedSize length) {
  munmap(array, (size_t)length * sizeof(CeedScalar));
}

// Pages of the array that are in memory; -1 where the system does not say.
static long num_touched(const CeedScalar *array, CeedSize length) {
#ifdef __linux__
  static unsigned char flags[1 << 16];
  size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (size_t)length * sizeof(CeedScalar);
  long num = 0;

  for (size_t begin = 0; begin < size; begin += sizeof(flags) * page) {
    size_t part = size - begin < sizeof(flags) * page ? size - begin : sizeof(flags) * page;

    if (mincore((char *)(uintptr_t)array + begin, part, flags)) return -1;
    for (size_t k = 0; k < (part + page - 1) / page; k++) num += flags[k] & 1;
  }
  return num;
#else
  (void)array, (void)length;
  return -1;
#endif
}

// The largest stride that CeedInt can hold; with three elements or components entries lie at its multiples.
// Volatile: clang 14 merges stores that are a constant multiple of about 2^31 entries apart as if they were
// neighbours.
static const volatile CeedSize stride = INT_MAX;
enum { NUM_FAR = 3, FAR_NODES = 4 };
static const CeedSize far_length = (CeedSize)INT_MAX * NUM_FAR + 100; // 51 GB of doubles

// A vector in reserved memory; the vector is to be destroyed first.
static int create_reserved(Ceed ceed, CeedSize length, CeedScalar **array, CeedVector *v) {
  *array = reserve(length);
  if (!*array) return CEED_ERROR_SUCCESS;
  CeedCall(CeedVectorCreate(ceed, length, v));
  return CeedVectorSetArray(*v, CEED_MEM_HOST, CEED_USE_POINTER, *array);
}

// Entries are `stride` apart: elements of a strided restriction, or components of one with offsets, which
// begin `shift` behind the multiples.
static int create_far(Ceed ceed, bool is_strided, CeedInt shift, CeedElemRestriction *rstr) {
  const CeedInt strides[3] = {1, 1, INT_MAX};
  CeedInt offsets[FAR_NODES];

  for (int i = 0; i < FAR_NODES; i++) offsets[i] = shift + i;
  if (is_strided)
    return CeedElemRestrictionCreateStrided(ceed, NUM_FAR, FAR_NODES, 1, far_length, strides, rstr);
  return CeedElemRestrictionCreate(ceed, 1, FAR_NODES, NUM_FAR, INT_MAX, far_length, CEED_MEM_HOST,
                                   CEED_COPY_VALUES, offsets, rstr);
}

// ---- Restrictions ----

// Backends that watch copy whole vectors for each access: 51 GB are too much for them.
static void check_far_restriction(bool is_strided) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  CeedElemRestriction rstr = NULL;
  CeedVector l = NULL, e = NULL;
  CeedScalar *array = NULL;
  CeedInt shift = is_strided ? 0 : 7;

  CHECK_OK(create_reserved(ceed, far_length, &array, &l));
  if (!array) SKIP("no memory can be reserved without using it");
  CHECK_OK(create_far(ceed, is_strided, shift, &rstr));
  CHECK_OK(CeedElemRestrictionCreateVector(rstr, NULL, &e));
  for (int k = 0; k < NUM_FAR; k++)
    for (int i = 0; i < FAR_NODES; i++) array[k * stride + shift + i] = (CeedScalar)(10 * k + i);
  CHECK_OK(CeedElemRestrictionApply(rstr, CEED_NOTRANSPOSE, l, e, CEED_REQUEST_IMMEDIATE));
  double *values = reference_new_values(e); // [element][node] or [component][node]
  for (int k = 0; k < NUM_FAR * FAR_NODES; k++)
    CHECK(values[k] == 10 * (k / FAR_NODES) + k % FAR_NODES, "entry %d is %g", k, values[k]);
  free(values);
  CHECK_OK(CeedElemRestrictionApply(rstr, CEED_TRANSPOSE, e, l, CEED_REQUEST_IMMEDIATE));
  for (int k = 0; k < NUM_FAR; k++)
    for (int i = 0; i < FAR_NODES; i++)
      CHECK(array[k * stride + shift + i] == 2 * (10 * k + i), "entry %d of %d after the transpose", i, k);
  long touched = num_touched(array, far_length);
  CHECK(touched <= 4 * NUM_FAR, "%ld pages have been touched", touched);
  CeedVectorDestroy(&l);
  CeedVectorDestroy(&e);
  CeedElemRestrictionDestroy(&rstr);
  release(array, far_length);
  CeedDestroy(&ceed);
}

TEST(elements_beyond_2_to_31_entries_are_reached_by_strides) { check_far_restriction(true); }
TEST(components_beyond_2_to_31_entries_are_reached_by_component_strides) { check_far_restriction(false); }

// Sizes are products in 64 bits; nothing of this length is allocated.
TEST_EACH_BACKEND(sizes_of_e_vectors_have_64_bits) {
  const CeedInt num_elem = 30000000, elem_size = 64, num_comp = 5; // strides of layouts have 32 bits
  const CeedSize size = (CeedSize)num_elem * elem_size * num_comp;
  CeedElemRestriction rstr = NULL;
  CeedVector e = NULL;
  CeedSize e_size = 0, l_size = 0, flops = 0;

  CHECK_OK(CeedElemRestrictionCreateStrided(ceed, num_elem, elem_size, num_comp, size, CEED_STRIDES_BACKEND,
                                            &rstr));
  CHECK_OK(CeedElemRestrictionGetEVectorSize(rstr, &e_size));
  CHECK_OK(CeedElemRestrictionGetLVectorSize(rstr, &l_size));
  CHECK_OK(CeedElemRestrictionGetFlopsEstimate(rstr, CEED_TRANSPOSE, &flops));
  CHECK(e_size == size && l_size == size && flops == size, "%td, %td, %td", e_size, l_size, flops);
  CHECK_OK(CeedElemRestrictionCreateVector(rstr, NULL, &e));
  CHECK(vector_length(e) == size, "%td", vector_length(e));
  CeedVectorDestroy(&e);
  CeedElemRestrictionDestroy(&rstr);
}

// ---- Vectors ----

TEST(strided_vector_actions_reach_beyond_2_to_31_entries) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const CeedSize start = (CeedSize)5 * (INT_MAX / 2); // in the last third
  CeedScalar *array[2] = {NULL};
  CeedVector v[2] = {NULL};

  for (int k = 0; k < 2; k++) CHECK_OK(create_reserved(ceed, far_length, &array[k], &v[k]));
  if (!array[0] || !array[1]) SKIP("no memory can be reserved without using it");
  CHECK_OK(CeedVectorSetValueStrided(v[0], start, start + 10, 3, 4));
  CHECK(array[0][start] == 4 && array[0][start + 9] == 4 && array[0][start + 1] == 0, "values");
  CHECK_OK(CeedVectorCopyStrided(v[0], start, start + 10, 9, v[1]));
  CHECK(array[1][start] == 4 && array[1][start + 9] == 4 && array[1][start + 3] == 0, "copies");
  CHECK_PRINTS(
      "CeedVector length 6442451041\n  start: 5368709115\n  stop:  5368709117\n  step:  1\n  4\n  0\n"
      "  ...\n",
      CeedVectorViewRange(v[0], start, start + 2, 1, "%g", stream));
  CHECK_ERROR(ceed, CeedVectorSetValueStrided(v[0], 0, far_length + 1, 1, 0), CEED_ERROR_ACCESS,
              "6442451042 is outside");
  for (int k = 0; k < 2; k++) {
    CeedVectorDestroy(&v[k]);
    release(array[k], far_length);
  }
  CeedDestroy(&ceed);
}

// ---- Operators ----

// w = x on nodes and points alike: a mass matrix without geometry, from far entries to far or near ones.
typedef struct {
  CeedElemRestriction in, out;
  CeedBasis basis;
  CeedOperator op;
} Far;

static int create_far_operator(Ceed ceed, bool is_square, Far *f) {
  const CeedInt near_offsets[FAR_NODES] = {0, 1, 2, 3};
  CeedQFunction qf = NULL;
  *f = (Far){0};
  int ierr = create_far(ceed, false, 7, &f->in);

  if (!ierr && is_square) ierr = CeedElemRestrictionReferenceCopy(f->in, &f->out);
  if (!ierr && !is_square)
    ierr = CeedElemRestrictionCreate(ceed, 1, FAR_NODES, NUM_FAR, FAR_NODES, NUM_FAR * FAR_NODES,
                                     CEED_MEM_HOST, CEED_COPY_VALUES, near_offsets, &f->out);
  if (!ierr) ierr = CeedBasisCreateTensorH1Lagrange(ceed, 1, NUM_FAR, FAR_NODES, 5, CEED_GAUSS, &f->basis);
  if (!ierr) ierr = CeedQFunctionCreateIdentity(ceed, NUM_FAR, CEED_EVAL_INTERP, CEED_EVAL_INTERP, &qf);
  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, &f->op);
  if (!ierr) ierr = CeedOperatorSetField(f->op, "input", f->in, f->basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(f->op, "output", f->out, f->basis, CEED_VECTOR_ACTIVE);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

static void destroy_far_operator(Far *f) {
  CeedElemRestrictionDestroy(&f->in);
  CeedElemRestrictionDestroy(&f->out);
  CeedBasisDestroy(&f->basis);
  CeedOperatorDestroy(&f->op);
}

// Entry (i, j) of the matrix of one component.
static double far_entry(int i, int j) {
  double x[5], interp[5 * FAR_NODES], grad[5 * FAR_NODES], sum = 0.0;

  reference_quadrature(CEED_GAUSS, 5, x, NULL);
  reference_lagrange(FAR_NODES, 5, x, interp, grad);
  for (int q = 0; q < 5; q++) sum += interp[q * FAR_NODES + i] * interp[q * FAR_NODES + j];
  return sum;
}

// Adding leaves the rest of the vector untouched; overwriting would set 51 GB to zero.
TEST(operators_apply_to_entries_beyond_2_to_31) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Far f;
  CeedScalar *in = NULL, *out = NULL;
  CeedVector u = NULL, v = NULL;

  CHECK_OK(create_reserved(ceed, far_length, &in, &u));
  CHECK_OK(create_reserved(ceed, far_length, &out, &v));
  if (!in || !out) SKIP("no memory can be reserved without using it");
  CHECK_OK(create_far_operator(ceed, true, &f));
  for (int c = 0; c < NUM_FAR; c++) in[c * stride + 7 + c] = (CeedScalar)(c + 1); // node c of component c
  CHECK_OK(CeedOperatorApplyAdd(f.op, u, v, CEED_REQUEST_IMMEDIATE));
  for (int c = 0; c < NUM_FAR; c++)
    for (int i = 0; i < FAR_NODES; i++)
      CHECK_NEAR((double)out[c * stride + 7 + i], (c + 1) * far_entry(i, c), 100 * eps,
                 "node %d of component %d", i, c);
  CHECK_OK(CeedOperatorLinearAssembleAddDiagonal(f.op, u, CEED_REQUEST_IMMEDIATE));
  CHECK_NEAR((double)in[2 * stride + 7], far_entry(0, 0), 100 * eps, "diagonal of the last component");
  CHECK_NEAR((double)in[2 * stride + 9], 3 + far_entry(2, 2), 100 * eps, "diagonal of the last component");
  CHECK(num_touched(in, far_length) <= 4 * NUM_FAR && num_touched(out, far_length) <= 4 * NUM_FAR,
        "%ld and %ld pages have been touched", num_touched(in, far_length), num_touched(out, far_length));
  destroy_far_operator(&f);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  release(in, far_length);
  release(out, far_length);
  CeedDestroy(&ceed);
}

// The standard's row and column numbers have 32 bits; those of sparse rows have 64.
TEST_EACH_BACKEND(columns_beyond_2_to_31_are_assembled_into_sparse_rows_only) {
  Far f;
  CeedSize num, num_rows, num_cols;
  CeedInt *rows = NULL, *cols = NULL;
  int64_t *row_starts = NULL, *columns = NULL;
  CeedVector v = NULL;

  CHECK_OK(create_far_operator(ceed, false, &f));
  CHECK_ERROR(ceed, CeedOperatorLinearAssembleSymbolic(f.op, &num, &rows, &cols), CEED_ERROR_UNSUPPORTED,
              "6442451041 entries exceeds 32-bit");
  CHECK_OK(RitzOperatorAssembleCSRSymbolic(f.op, &num_rows, &num_cols, &row_starts, &columns));
  CHECK(num_rows == NUM_FAR * FAR_NODES && num_cols == far_length, "%td x %td", num_rows, num_cols);
  CHECK_OK(CeedVectorCreate(ceed, row_starts[num_rows], &v));
  CHECK_OK(RitzOperatorAssembleCSR(f.op, row_starts, columns, v));
  double *values = reference_new_values(v);
  for (int r = 0; r < NUM_FAR * FAR_NODES; r++) {
    for (int64_t k = row_starts[r]; k < row_starts[r + 1]; k++) {
      int64_t c = columns[k] / stride, j = columns[k] % stride - 7;
      double wanted = c == r / FAR_NODES ? far_entry(r % FAR_NODES, (int)j) : 0.0;

      CHECK(row_starts[r + 1] - row_starts[r] == NUM_FAR * FAR_NODES, "row %d", r);
      CHECK(k == row_starts[r] || columns[k] > columns[k - 1], "row %d is not sorted", r);
      CHECK_NEAR(values[k], wanted, 100 * eps, "entry (%d, %lld)", r, (long long)columns[k]);
    }
  }
  free(values);
  free(row_starts);
  free(columns);
  CeedVectorDestroy(&v);
  destroy_far_operator(&f);
}

// ---- Order 30 ----

enum { DEGREE = 30, P_1D = DEGREE + 1, Q_1D = DEGREE + 2 };

// One element [-1,1]^dim. v = w u, or dv = w du.
static int create_high_order(Ceed ceed, CeedInt dim, bool is_mass, CeedOperator *op) {
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  CeedQFunction qf = NULL;
  CeedQFunctionContext context = NULL;
  CeedInt P = CeedIntPow(P_1D, dim), size = is_mass ? 1 : dim;
  CeedEvalMode mode = is_mass ? CEED_EVAL_INTERP : CEED_EVAL_GRAD;
  int ierr = CeedElemRestrictionCreateStrided(ceed, 1, P, 1, P, CEED_STRIDES_BACKEND, &rstr);

  if (!ierr) ierr = CeedBasisCreateTensorH1Lagrange(ceed, dim, 1, P_1D, Q_1D, CEED_GAUSS, &basis);
  if (!ierr) ierr = CeedQFunctionContextCreate(ceed, &context);
  if (!ierr) ierr = CeedQFunctionContextSetData(context, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(dim), &dim);
  if (!ierr)
    ierr = CeedQFunctionCreateInterior(ceed, 1, is_mass ? SizesMass : SizesDiffusion,
                                       is_mass ? SizesMass_loc : SizesDiffusion_loc, &qf);
  if (!ierr) ierr = CeedQFunctionSetContext(qf, context);
  if (!ierr) ierr = CeedQFunctionAddInput(qf, "u", size, mode);
  if (!ierr) ierr = CeedQFunctionAddInput(qf, "w", 1, CEED_EVAL_WEIGHT);
  if (!ierr) ierr = CeedQFunctionAddOutput(qf, "v", size, mode);
  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, op);
  if (!ierr) ierr = CeedOperatorSetField(*op, "u", rstr, basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(*op, "w", CEED_ELEMRESTRICTION_NONE, basis, CEED_VECTOR_NONE);
  if (!ierr) ierr = CeedOperatorSetField(*op, "v", rstr, basis, CEED_VECTOR_ACTIVE);
  CeedElemRestrictionDestroy(&rstr);
  CeedBasisDestroy(&basis);
  CeedQFunctionDestroy(&qf);
  CeedQFunctionContextDestroy(&context);
  return ierr;
}

// The monomial prod_d x_d^15 at the nodes of the basis, which the library gives: there is no other table of
// this order here.
static int fill_monomial(Ceed ceed, CeedInt dim, double *u) {
  CeedScalar nodes[P_1D];

  CeedCall(CeedLobattoQuadrature(P_1D, nodes, NULL));
  for (CeedInt p = 0; p < CeedIntPow(P_1D, dim); p++) {
    u[p] = 1.0;
    for (CeedInt d = 0, rest = p; d < dim; d++, rest /= P_1D) u[p] *= pow((double)nodes[rest % P_1D], 15);
  }
  (void)ceed;
  return CEED_ERROR_SUCCESS;
}

// u . A u and the diagonal of A, which is compared with a few unit vectors.
static void check_high_order(Ceed ceed, CeedInt dim, bool is_mass) {
  CeedInt P = CeedIntPow(P_1D, dim);
  double *u = reference_new(P), *column = reference_new(P);
  CeedOperator op = NULL;
  CeedVector in = NULL, out = NULL, diagonal = NULL;

  CHECK_OK(create_high_order(ceed, dim, is_mass, &op));
  CHECK_OK(fill_monomial(ceed, dim, u));
  in = reference_vector(ceed, P, u);
  CHECK_OK(CeedVectorCreate(ceed, P, &out));
  CHECK_OK(CeedOperatorApply(op, in, out, CEED_REQUEST_IMMEDIATE));
  reference_values(out, column);
  // Integrals of x^30 and of (15 x^14)^2 over [-1,1].
  double value = 2.0 / 31.0, slope = 225.0 * 2.0 / 29.0;
  double wanted = is_mass ? pow(value, dim) : dim * slope * pow(value, dim - 1);
  double found = reference_dot(P, u, column);
  // Sums of P terms; derivatives of polynomials of degree n magnify rounding by n^2.
  double tolerance = 10 * eps * dim * P_1D * (is_mass ? 1 : P_1D) * wanted;
  CHECK_NEAR(found, wanted, tolerance, "%s in %d dimensions", is_mass ? "mass" : "diffusion", dim);

  CHECK_OK(CeedVectorCreate(ceed, P, &diagonal));
  CHECK_OK(CeedOperatorLinearAssembleDiagonal(op, diagonal, CEED_REQUEST_IMMEDIATE));
  double *values = reference_new_values(diagonal);
  for (CeedInt k = 0; k < 3; k++) {
    CeedInt p = k * (P - 1) / 2; // a corner, the middle, the other corner
    CHECK_OK(CeedVectorSetValue(in, 0));
    CHECK_OK(CeedVectorSetValueStrided(in, p, p + 1, 1, 1));
    CHECK_OK(CeedOperatorApply(op, in, out, CEED_REQUEST_IMMEDIATE));
    reference_values(out, column);
    CHECK_NEAR(values[p], column[p], 10 * eps * dim * P_1D * P_1D * fabs(column[p]), "diagonal at node %d",
               p);
  }
  free(values);
  free(u);
  free(column);
  CeedVectorDestroy(&in);
  CeedVectorDestroy(&out);
  CeedVectorDestroy(&diagonal);
  CeedOperatorDestroy(&op);
}

TEST_EACH_BACKEND(order_30_works_in_every_dimension) {
  for (CeedInt dim = 1; dim <= 3; dim++) {
    const bool is_brief = tap_compiles_slowly(ceed); // one of the two in each dimension

    if (!tap_failed() && (!is_brief || dim != 2)) check_high_order(ceed, dim, true);
    if (!tap_failed() && (!is_brief || dim == 2)) check_high_order(ceed, dim, false);
  }
}

TEST_EACH_BACKEND(order_30_is_assembled_and_evaluated_at_points) {
  CeedOperator op = NULL;
  CeedBasis basis = NULL;
  CeedInt num_points = 1;
  double u[P_1D], at[1] = {0.75};
  Triples t;

  CHECK_OK(create_high_order(ceed, 1, true, &op));
  CHECK_OK(triples_assemble(op, &t));
  CHECK(t.num == P_1D * P_1D, "%td entries", t.num);
  double sum = 0.0;
  for (CeedSize k = 0; k < t.num; k++) sum += t.values[k];
  triples_free(&t);
  CHECK_NEAR(sum, 2.0, 100 * eps, "the length of the element");

  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, P_1D, Q_1D, CEED_GAUSS, &basis));
  CHECK_OK(fill_monomial(ceed, 1, u));
  CeedVector nodal = reference_vector(ceed, P_1D, u), x = reference_vector(ceed, 1, at), v = NULL;
  CHECK_OK(CeedVectorCreate(ceed, 1, &v));
  CHECK_OK(CeedBasisApplyAtPoints(basis, 1, &num_points, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, x, nodal, v));
  double *value = reference_new_values(v);
  CHECK_NEAR(value[0], pow(0.75, 15), 100 * eps, "x^15 at 3/4");
  free(value);
  CeedVectorDestroy(&nodal);
  CeedVectorDestroy(&x);
  CeedVectorDestroy(&v);
  CeedBasisDestroy(&basis);
  CeedOperatorDestroy(&op);
}

TEST_EACH_BACKEND(more_nodes_than_32_bits_count_are_refused) {
  CeedBasis basis = NULL;

  CHECK_ERROR(ceed, CeedBasisCreateTensorH1Lagrange(ceed, 7, 1, P_1D, 2, CEED_GAUSS, &basis),
              CEED_ERROR_DIMENSION, "31^7");
  CHECK_ERROR(ceed, CeedBasisCreateTensorH1Lagrange(ceed, 7, 1, 2, P_1D, CEED_GAUSS, &basis),
              CEED_ERROR_DIMENSION, "31^7");
}

// ---- 200 fields ----

// The points are the nodes: the operator is 1 + 2 + ... + 200 = 20100 times the identity.
TEST_EACH_BACKEND(functions_and_operators_may_have_200_fields_of_a_direction) {
  const CeedScalar ones[4] = {1, 2, 3, 4};
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  CeedOperatorField *in = NULL, *out = NULL;
  CeedVector u = vector_of(ceed, 4, ones), v = NULL, assembled = NULL;
  CeedElemRestriction rstr = NULL;
  CeedInt num_in = 0, num_out = 0, num_comp = 0;

  CHECK_OK(create_many(ceed, &qf, &op));
  CHECK_OK(CeedVectorCreate(ceed, 4, &v));
  CHECK_OK(CeedOperatorGetFields(op, &num_in, &in, &num_out, &out));
  CHECK(num_in == NUM_FIELDS && num_out == NUM_FIELDS, "%d and %d fields", num_in, num_out);
  CHECK_OK(CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE));
  double *values = reference_new_values(v);
  for (int i = 0; i < 4; i++)
    CHECK_NEAR(values[i], 20100.0 * (i + 1), 20100 * 4 * 10 * eps, "node %d of the sum of all outputs", i);
  CHECK_OK(CeedOperatorLinearAssembleDiagonal(op, v, CEED_REQUEST_IMMEDIATE));
  reference_values(v, values);
  for (int i = 0; i < 4; i++) CHECK_NEAR(values[i], 20100.0, 20100 * 10 * eps, "diagonal at node %d", i);
  free(values);
  CHECK_OK(CeedOperatorLinearAssembleQFunction(op, &assembled, &rstr, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedElemRestrictionGetNumComponents(rstr, &num_comp));
  CHECK(num_comp == NUM_FIELDS * NUM_FIELDS, "%d derivatives", num_comp);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedVectorDestroy(&assembled);
  CeedElemRestrictionDestroy(&rstr);
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&op);
}

// Arrays of vectors of any length are taken by a function alone.
TEST_EACH_BACKEND(functions_of_200_fields_apply_by_themselves) {
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  CeedVector u[NUM_FIELDS], v[NUM_FIELDS];

  CHECK_OK(create_many(ceed, &qf, &op));
  for (int k = 0; k < NUM_FIELDS; k++) {
    const CeedScalar values[3] = {(CeedScalar)k, 1, 2};

    u[k] = vector_of(ceed, 3, values);
    v[k] = vector_of(ceed, 3, NULL);
  }
  CHECK_OK(CeedQFunctionApply(qf, 3, u, v));
  for (int k = 0; k < NUM_FIELDS; k++) {
    CHECK_HOLDS(v[k], (CeedScalar)((k + 1) * k), (CeedScalar)(k + 1), (CeedScalar)(2 * (k + 1)));
    CeedVectorDestroy(&u[k]);
    CeedVectorDestroy(&v[k]);
  }
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&op);
}

// ---- 100 parts ----

enum { NUM_PARTS = 100 };

// `factor` times the identity on two entries.
static int create_part(Ceed ceed, double factor, CeedOperator *op) {
  CeedElemRestriction rstr = NULL;
  CeedQFunction qf = NULL;
  CeedQFunctionContext context = NULL;
  int ierr = CeedElemRestrictionCreateStrided(ceed, 1, 2, 1, 2, CEED_STRIDES_BACKEND, &rstr);

  if (!ierr) ierr = CeedQFunctionCreateInterior(ceed, 1, SizesScale, SizesScale_loc, &qf);
  if (!ierr) ierr = CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_NONE);
  if (!ierr) ierr = CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_NONE);
  if (!ierr) ierr = CeedQFunctionContextCreate(ceed, &context);
  if (!ierr)
    ierr = CeedQFunctionContextSetData(context, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(factor), &factor);
  if (!ierr) ierr = CeedQFunctionContextRegisterDouble(context, "factor", 0, 1, NULL);
  if (!ierr) ierr = CeedQFunctionSetContext(qf, context);
  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, op);
  if (!ierr) ierr = CeedOperatorSetField(*op, "u", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(*op, "v", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE);
  CeedQFunctionContextDestroy(&context);
  CeedQFunctionDestroy(&qf);
  CeedElemRestrictionDestroy(&rstr);
  return ierr;
}

TEST_EACH_BACKEND(composites_may_have_100_parts) {
  const CeedScalar values[2] = {1, 10};
  CeedOperator sum = NULL;
  CeedVector u = vector_of(ceed, 2, values), v = NULL;
  CeedContextFieldLabel label = NULL;
  CeedInt num_parts = 0;
  CeedSize num = 0;
  double factor = 0.5;

  CHECK_OK(CeedOperatorCreateComposite(ceed, &sum));
  for (int k = 0; k < NUM_PARTS; k++) {
    CeedOperator part = NULL;

    CHECK_OK(create_part(ceed, k + 1, &part));
    CHECK_OK(CeedOperatorCompositeAddSub(sum, part));
    CeedOperatorDestroy(&part);
  }
  CHECK_OK(CeedOperatorCompositeGetNumSub(sum, &num_parts));
  CHECK(num_parts == NUM_PARTS, "%d parts", num_parts);
  CHECK_OK(CeedVectorCreate(ceed, 2, &v));
  CHECK_OK(CeedOperatorApply(sum, u, v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(v, 5050, 50500);
  CHECK_OK(CeedOperatorLinearAssembleDiagonal(sum, v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(v, 5050, 5050);
  CHECK_OK(CeedOperatorLinearAssembleGetNumEntries(sum, &num));
  CHECK(num == 4 * NUM_PARTS, "%td entries", num);
  CHECK_OK(CeedOperatorGetContextFieldLabel(sum, "factor", &label));
  CHECK_OK(CeedOperatorSetContextDouble(sum, label, &factor));
  CHECK_OK(CeedOperatorApply(sum, u, v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(v, 50, 500);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedOperatorDestroy(&sum);
}

// ---- Contexts ----

// Bytes for SizesAddBytes, and their sum.
static int create_context_of_size(Ceed ceed, size_t size, int *sum, CeedQFunctionContext *context) {
  unsigned char *bytes = calloc(size, 1);

  for (size_t i = 0; i < size; i++) bytes[i] = (unsigned char)(7 * i + 1);
  bytes[0] = (unsigned char)(size > 1 ? size % 256 : 0);
  if (size > 1) bytes[1] = (unsigned char)(size / 256);
  *sum = 0;
  for (size_t i = 0; i < size; i++) *sum += bytes[i];
  int ierr = CeedQFunctionContextCreate(ceed, context);
  if (!ierr) ierr = CeedQFunctionContextSetData(*context, CEED_MEM_HOST, CEED_COPY_VALUES, size, bytes);
  free(bytes);
  return ierr;
}

TEST_EACH_BACKEND(contexts_of_odd_sizes_arrive_whole) {
  static const size_t sizes[] = {1, 2, 3, 5, 7, 13, 63, 65, 127, 509, 1021, 4099, 65533};

  for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k += tap_compiles_slowly(ceed) ? 3 : 1) {
    CeedQFunction qf = NULL;
    CeedQFunctionContext context = NULL;
    const CeedScalar two[1] = {2};
    CeedVector u = vector_of(ceed, 1, two), v = vector_of(ceed, 1, NULL);
    int sum = 0;

    CHECK_OK(create_context_of_size(ceed, sizes[k], &sum, &context));
    CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, SizesAddBytes, SizesAddBytes_loc, &qf));
    CHECK_OK(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_NONE));
    CHECK_OK(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_NONE));
    CHECK_OK(CeedQFunctionSetContext(qf, context));
    for (int is_writable = 0; is_writable < 2; is_writable++) {
      CHECK_OK(CeedQFunctionSetContextWritable(qf, is_writable));
      CHECK_OK(CeedQFunctionApply(qf, 1, &u, &v));
      CHECK_HOLDS(v, (CeedScalar)(2 * sum));
    }
    CeedVectorDestroy(&u);
    CeedVectorDestroy(&v);
    CeedQFunctionDestroy(&qf);
    CeedQFunctionContextDestroy(&context);
  }
}

// Fields may lie anywhere in a packed context, aligned or not.
TEST_EACH_BACKEND(context_fields_may_be_many_and_lie_at_odd_places) {
  enum { NUM_LABELS = 120, STEP = 13 };
  unsigned char bytes[STEP * NUM_LABELS] = {0};
  CeedQFunctionContext context = NULL;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  CeedInt num_labels = 0;
  const unsigned char *data;

  CHECK_OK(CeedQFunctionContextCreate(ceed, &context));
  CHECK_OK(CeedQFunctionContextSetData(context, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(bytes), bytes));
  for (int k = 0; k < NUM_LABELS; k++) {
    char name[32];

    snprintf(name, sizeof(name), "label %d", k);
    CHECK_OK(CeedQFunctionContextRegisterDouble(context, name, (size_t)STEP * (size_t)k + 3, 1, name));
  }
  CHECK_OK(CeedQFunctionContextGetAllFieldLabels(context, NULL, &num_labels));
  CHECK(num_labels == NUM_LABELS, "%d labels", num_labels);
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, SizesScale, SizesScale_loc, &qf));
  CHECK_OK(CeedQFunctionSetContext(qf, context));
  CHECK_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  for (int k = 0; k < NUM_LABELS; k++) {
    CeedContextFieldLabel label = NULL;
    char name[32];
    double value = k + 0.5;

    snprintf(name, sizeof(name), "label %d", k);
    CHECK_OK(CeedOperatorGetContextFieldLabel(op, name, &label));
    CHECK_OK(CeedOperatorSetContextDouble(op, label, &value));
  }
  CHECK_OK(CeedQFunctionContextGetDataRead(context, CEED_MEM_HOST, &data));
  for (int k = 0; k < NUM_LABELS; k++) {
    double value;

    memcpy(&value, data + STEP * k + 3, sizeof(value));
    CHECK(value == k + 0.5, "label %d holds %g", k, value);
  }
  CHECK_OK(CeedQFunctionContextRestoreDataRead(context, &data));
  CeedQFunctionContextDestroy(&context);
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&op);
}

// ---- Components, lists, names ----

TEST_EACH_BACKEND(fields_may_have_many_components) {
  enum { NUM_COMP = 60 };
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  CeedVector u = NULL, v = NULL;

  CHECK_OK(CeedElemRestrictionCreateStrided(ceed, 2, 4, NUM_COMP, 8 * NUM_COMP, CEED_STRIDES_BACKEND, &rstr));
  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 2, NUM_COMP, 2, 2, CEED_GAUSS_LOBATTO, &basis));
  CHECK_OK(CeedQFunctionCreateIdentity(ceed, 2 * NUM_COMP, CEED_EVAL_GRAD, CEED_EVAL_GRAD, &qf));
  CHECK_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  CHECK_OK(CeedOperatorSetField(op, "input", rstr, basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(op, "output", rstr, basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedVectorCreate(ceed, 8 * NUM_COMP, &u));
  CHECK_OK(CeedVectorCreate(ceed, 8 * NUM_COMP, &v));
  CHECK_OK(CeedVectorSetValue(u, 3));
  CHECK_OK(CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE));
  double *values = reference_new_values(v);
  CHECK(reference_largest(8 * NUM_COMP, values) <= 100 * eps, "constants have no gradient");
  CHECK_OK(CeedOperatorLinearAssembleDiagonal(op, v, CEED_REQUEST_IMMEDIATE));
  reference_values(v, values);
  // Two points along each of the two edges at a node, slope 1/2 in both directions: 4 / 4.
  for (int k = 0; k < 8 * NUM_COMP; k++) CHECK_NEAR(values[k], 1.0, 20 * eps, "diagonal entry %d", k);
  free(values);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedElemRestrictionDestroy(&rstr);
  CeedBasisDestroy(&basis);
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&op);
}

TEST_EACH_BACKEND(lists_and_names_may_be_long) {
  enum { NUM_ITEMS = 300, NAME_LENGTH = 5000 };
  CeedVector work[NUM_ITEMS] = {NULL};
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  char *name = malloc(NAME_LENGTH + 1);
  const char *found = NULL;

  memset(name, 'n', NAME_LENGTH);
  name[NAME_LENGTH] = '\0';
  for (int k = 0; k < NUM_ITEMS; k++) {
    CHECK_OK(CeedAddJitSourceRoot(ceed, name));
    CHECK_OK(CeedAddJitDefine(ceed, name));
    CHECK_OK(CeedGetWorkVector(ceed, k + 1, &work[k]));
  }
  for (int k = 0; k < NUM_ITEMS; k++) CHECK_OK(CeedRestoreWorkVector(ceed, &work[k]));
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, SizesScale, SizesScale_loc, &qf));
  CHECK_OK(CeedQFunctionAddInput(qf, name, 1, CEED_EVAL_NONE));
  CHECK_ERROR(ceed, CeedQFunctionAddOutput(qf, name, 1, CEED_EVAL_NONE), CEED_ERROR_MINOR, "nnnn"); // cut
  CHECK_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  CHECK_OK(CeedOperatorSetName(op, name));
  CHECK_OK(CeedOperatorGetName(op, &found));
  CHECK(!strcmp(found, name), "the name was cut");
  free(name);
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&op);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(elements_beyond_2_to_31_entries_are_reached_by_strides,
                        components_beyond_2_to_31_entries_are_reached_by_component_strides,
                        sizes_of_e_vectors_have_64_bits, strided_vector_actions_reach_beyond_2_to_31_entries,
                        operators_apply_to_entries_beyond_2_to_31,
                        columns_beyond_2_to_31_are_assembled_into_sparse_rows_only,
                        order_30_works_in_every_dimension, order_30_is_assembled_and_evaluated_at_points,
                        more_nodes_than_32_bits_count_are_refused,
                        functions_and_operators_may_have_200_fields_of_a_direction,
                        functions_of_200_fields_apply_by_themselves, composites_may_have_100_parts,
                        contexts_of_odd_sizes_arrive_whole, context_fields_may_be_many_and_lie_at_odd_places,
                        fields_may_have_many_components, lists_and_names_may_be_long));
}
