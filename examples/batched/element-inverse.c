// SPDX-License-Identifier: BSD-2-Clause
// Discontinuous elements have a mass matrix for each element, which explicit time steps invert: assembled
// once, inverted once in one batch, applied to several fields in each step.
//
//     element-inverse [RESOURCE] [ELEMENTS A DIRECTION] [DEGREE]       /cpu/self 6 2
//
// Curved hexahedra, three fields. Two ways to the inverse, INV, or GETRF and GETRI; two ways to apply it, one
// GEMM for all fields, or a GEMV for each. Exit status: 1 where M^-1 (M u) is not u.
#include "example.h"

enum { DIM = 3, FIELDS = 3 };

typedef struct {
  Ceed ceed;
  CeedInt num_elem, n, num_points; // nodes, points of an element
  CeedVector qdata, one;
  CeedElemRestriction rstr_qdata;
  CeedInt P, Q;
} Problem;

static int bend(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  for (CeedInt d = 0; d < dim; d++) x[d] = X[d] + 0.05 * sin(3 * X[(d + 1) % dim]);
  return 0;
}

// Weights times det J at the points of all elements.
static void set_up(long num_1d, Problem *p) {
  const CeedInt n[DIM] = {(CeedInt)num_1d, (CeedInt)num_1d, (CeedInt)num_1d};
  CeedElemRestriction rstr_x;
  CeedVector x;
  CeedBasis basis_x;
  CeedQFunction qf;
  CeedOperator op;
  RitzMesh mesh;

  p->num_elem = n[0] * n[1] * n[2];
  p->n = p->P * p->P * p->P;
  p->num_points = p->Q * p->Q * p->Q;
  MUST(RitzMeshCreateBox(p->ceed, DIM, n, NULL, NULL, 2, bend, NULL, &mesh));
  MUST(RitzMeshCreateCoordinates(mesh, p->ceed, &rstr_x, &x));
  MUST(CeedBasisCreateTensorH1Lagrange(p->ceed, DIM, DIM, 3, p->Q, CEED_GAUSS, &basis_x));
  MUST(CeedElemRestrictionCreateStrided(p->ceed, p->num_elem, p->num_points, 1,
                                        (CeedSize)p->num_elem * p->num_points, CEED_STRIDES_BACKEND,
                                        &p->rstr_qdata));
  MUST(CeedElemRestrictionCreateVector(p->rstr_qdata, &p->qdata, NULL));
  MUST(CeedQFunctionCreateInteriorByName(p->ceed, "Mass3DBuild", &qf));
  MUST(CeedOperatorCreate(p->ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &op));
  MUST(CeedOperatorSetField(op, "dx", rstr_x, basis_x, CEED_VECTOR_ACTIVE));
  MUST(CeedOperatorSetField(op, "weights", CEED_ELEMRESTRICTION_NONE, basis_x, CEED_VECTOR_NONE));
  MUST(CeedOperatorSetField(op, "qdata", p->rstr_qdata, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  MUST(CeedOperatorApply(op, x, p->qdata, CEED_REQUEST_IMMEDIATE));
  CeedOperatorDestroy(&op), CeedQFunctionDestroy(&qf), CeedBasisDestroy(&basis_x);
  CeedElemRestrictionDestroy(&rstr_x), CeedVectorDestroy(&x), RitzMeshDestroy(&mesh);
}

// The mass operator of `num_comp` discontinuous fields: node r of field c of element e at (e num_comp + c) n
// + r, so that the fields of an element are an n x num_comp matrix.
static CeedOperator create_mass(const Problem *p, CeedInt num_comp) {
  const CeedInt strides[3] = {1, p->n, p->n * num_comp};
  CeedElemRestriction rstr;
  CeedBasis basis;
  CeedQFunction qf;
  CeedOperator op;

  MUST(CeedElemRestrictionCreateStrided(p->ceed, p->num_elem, p->n, num_comp,
                                        (CeedSize)p->num_elem * p->n * num_comp, strides, &rstr));
  MUST(CeedBasisCreateTensorH1Lagrange(p->ceed, DIM, num_comp, p->P, p->Q, CEED_GAUSS, &basis));
  MUST(CeedQFunctionCreateInteriorByName(p->ceed, num_comp == 1 ? "MassApply" : "Vector3MassApply", &qf));
  MUST(CeedOperatorCreate(p->ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &op));
  MUST(CeedOperatorSetField(op, "u", rstr, basis, CEED_VECTOR_ACTIVE));
  MUST(CeedOperatorSetField(op, "qdata", p->rstr_qdata, CEED_BASIS_NONE, p->qdata));
  MUST(CeedOperatorSetField(op, "v", rstr, basis, CEED_VECTOR_ACTIVE));
  CeedElemRestrictionDestroy(&rstr), CeedBasisDestroy(&basis), CeedQFunctionDestroy(&qf);
  return op;
}

// All element matrices: what assembly gives of an operator whose elements share no nodes is a batch already,
// n x n entries an element (symmetric here, so rows and columns are alike).
static CeedVector assemble(const Problem *p) {
  CeedOperator mass = create_mass(p, 1);
  CeedVector matrices = example_vector(p->ceed, (CeedSize)p->num_elem * p->n * p->n);

  MUST(CeedOperatorLinearAssemble(mass, matrices));
  MUST(CeedOperatorDestroy(&mass));
  return matrices;
}

static RitzBatched create(const Problem *p, RitzBatchedOperation what, CeedInt num_cols) {
  const RitzBatchLayout square = {.precision = CEED_SCALAR_TYPE, .m = p->n, .n = p->n};
  // A GEMV works on one field of the matrix of all: its columns are further apart than they are long.
  const RitzBatchLayout fields = {
      .precision = CEED_SCALAR_TYPE, .m = p->n, .n = num_cols, .stride = (int64_t)p->n * FIELDS};
  const bool is_product = what == RITZ_BATCHED_GEMM || what == RITZ_BATCHED_GEMV;
  const RitzBatchedOptions options = {.A = square, .B = is_product ? fields : square, .C = fields};
  RitzBatched batched;

  MUST(RitzBatchedCreate(p->ceed, what, &options, &batched));
  return batched;
}

// ---- Inverses, in place ----

static void invert(const Problem *p, bool has_factors, CeedVector matrices) {
  RitzBatchArray a = example_array(matrices, RITZ_ACCESS_READ_WRITE);
  // n pivots and an info for each element; CeedScalars are as large as int32_t or larger
  CeedVector memory = example_vector(p->ceed, (CeedSize)p->num_elem * (p->n + 1));
  int32_t *ipiv = example_lock_integers(memory), *info = ipiv + (CeedSize)p->num_elem * p->n, value;
  RitzBatched first = create(p, has_factors ? RITZ_BATCHED_GETRF : RITZ_BATCHED_INV, p->n), second = NULL;
  int64_t bad;

  if (has_factors) second = create(p, RITZ_BATCHED_GETRI, p->n);
  for (int times = 0; times < 1; times++) {
    const double start = example_seconds(p->one);
    if (has_factors) {
      MUST(RitzGetrfBatched(first, p->num_elem, &a, ipiv, info));
      MUST(RitzGetriBatched(second, p->num_elem, &a, ipiv, NULL));
    } else {
      MUST(RitzInvBatched(first, p->num_elem, &a, &a, info));
    }
    printf("%-34s %9.3f ms\n", has_factors ? "GETRF and GETRI" : "INV",
           1e3 * (example_seconds(p->one) - start));
  }
  MUST(RitzBatchedGetFirstFailure(first, info, p->num_elem, &bad, &value));
  if (bad >= 0) fprintf(stderr, "element %lld: zero pivot %d\n", (long long)bad, (int)value);
  MUST(RitzBatchedDestroy(&first));
  MUST(RitzBatchedDestroy(&second));
  example_unlock_integers(memory, &ipiv);
  MUST(CeedVectorDestroy(&memory));
  MUST(RitzBatchArrayRestoreVector(&a));
}

// ---- Fields: y = M^-1 b ----

static void apply(const Problem *p, bool is_by_fields, CeedVector inverses, CeedVector b, CeedVector y) {
  RitzBatchArray a = example_array(inverses, RITZ_ACCESS_READ), in = example_array(b, RITZ_ACCESS_READ);
  RitzBatchArray out = example_array(y, RITZ_ACCESS_WRITE);
  RitzBatched product =
      create(p, is_by_fields ? RITZ_BATCHED_GEMV : RITZ_BATCHED_GEMM, is_by_fields ? 1 : FIELDS);
  const double entries = (double)p->num_elem * p->n * ((is_by_fields ? FIELDS : 1) * p->n + 2 * FIELDS);
  double best = INFINITY;

  for (int times = 0; times < 5; times++) {
    const double start = example_seconds(p->one);
    if (is_by_fields) {
      for (int c = 0; c < FIELDS; c++) {
        RitzBatchArray from = in, to = out;
        from.base = (CeedScalar *)in.base + c * p->n;
        to.base = (CeedScalar *)out.base + c * p->n;
        MUST(RitzGemvBatched(product, p->num_elem, 1, &a, &from, 0, &to));
      }
    } else {
      MUST(RitzGemmBatched(product, p->num_elem, 1, &a, &in, 0, &out));
    }
    best = fmin(best, example_seconds(p->one) - start);
  }
  example_print_rate(p->ceed, is_by_fields ? "a GEMV for each field" : "a GEMM for all fields", best,
                     entries * sizeof(CeedScalar));
  MUST(RitzBatchedDestroy(&product));
  MUST(RitzBatchArrayRestoreVector(&a));
  MUST(RitzBatchArrayRestoreVector(&in));
  MUST(RitzBatchArrayRestoreVector(&out));
}

// The largest difference from u.
static double error_of(CeedVector y, CeedVector u) {
  CeedScalar norm;

  MUST(RitzVectorSum(y, 1, y, -1, u));
  MUST(CeedVectorNorm(y, CEED_NORM_MAX, &norm));
  return (double)norm;
}

static double run(const Problem *p) {
  const CeedSize length = (CeedSize)p->num_elem * p->n * FIELDS;
  CeedVector u = example_vector(p->ceed, length), b = example_vector(p->ceed, length);
  CeedVector y = example_vector(p->ceed, length);
  CeedOperator mass = create_mass(p, FIELDS);
  CeedScalar *values;
  uint64_t seed = 1;
  double error = 0;

  MUST(CeedVectorGetArrayWrite(u, CEED_MEM_HOST, &values));
  for (CeedSize i = 0; i < length; i++) values[i] = example_random(&seed);
  MUST(CeedVectorRestoreArray(u, &values));
  MUST(CeedOperatorApply(mass, u, b, CEED_REQUEST_IMMEDIATE));
  for (int way = 0; way < 2; way++) {
    CeedVector matrices = assemble(p);
    invert(p, way == 1, matrices);
    for (int by_fields = 0; by_fields < 2; by_fields++) {
      apply(p, by_fields == 1, matrices, b, y);
      error = fmax(error, error_of(y, u));
    }
    MUST(CeedVectorDestroy(&matrices));
  }
  CeedVectorDestroy(&u), CeedVectorDestroy(&b), CeedVectorDestroy(&y);
  MUST(CeedOperatorDestroy(&mass));
  return error;
}

int main(int argc, char **argv) {
  const long num_1d = example_number(argc, argv, 2, 6), degree = example_number(argc, argv, 3, 2);
  Problem p = {.P = (CeedInt)degree + 1, .Q = (CeedInt)degree + 2};

  MUST(CeedInit(argc > 1 ? argv[1] : "/cpu/self", &p.ceed));
  p.one = example_vector(p.ceed, 1);
  MUST(CeedVectorSetValue(p.one, 1));
  set_up(num_1d, &p);
  printf("%d elements, %d nodes, %d fields\n", (int)p.num_elem, (int)p.n, FIELDS);
  const double error = run(&p);
  printf("error of M^-1 (M u): %.2g\n", error);
  CeedVectorDestroy(&p.qdata), CeedVectorDestroy(&p.one), CeedElemRestrictionDestroy(&p.rstr_qdata);
  MUST(CeedDestroy(&p.ceed));
  // The condition of element mass matrices is below 100 (degree + 1)^3, sums have n terms.
  return error <= 100 * pow((double)degree + 1, 3) * pow((double)degree + 1, 3) * example_epsilon() ? 0 : 1;
}
