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
  // A GEMV works on one column of the fields of an element: columns of two elements are FIELDS n apart.
  const RitzBatchLayout fields = {
      .precision = CEED_SCALAR_TYPE, .m = p->n, .n = num_cols, .stride = (int64_t)p->n * FIELDS};
  const bool is_product = what == RITZ_BATCHED_GEMM || what == RITZ_BATCHED_GEMV;
  const RitzBatchedOptions options = {.A = square, .B = is_product ? fields : square, .C = fields};
  RitzBatched batched;

  MUST(RitzBatchedCreate(p->ceed, what, &options, &batched));
  return batched;
}

// ---- Inverses, in place ----

typedef struct {
  RitzBatched inv, getrf, getri;
  CeedVector pivots, infos; // of which the arrays are locked: CeedScalars are as large as int32_t or larger
  int32_t *ipiv, *info;     // [num_elem][n], [num_elem]
} Inversion;

static Inversion create_inversion(const Problem *p) {
  Inversion v = {.inv = create(p, RITZ_BATCHED_INV, p->n),
                 .getrf = create(p, RITZ_BATCHED_GETRF, p->n),
                 .getri = create(p, RITZ_BATCHED_GETRI, p->n),
                 .pivots = example_vector(p->ceed, (CeedSize)p->num_elem * p->n),
                 .infos = example_vector(p->ceed, p->num_elem)};

  v.ipiv = example_lock_integers(v.pivots);
  v.info = example_lock_integers(v.infos);
  return v;
}

static void destroy_inversion(Inversion *v) {
  MUST(RitzBatchedDestroy(&v->inv));
  MUST(RitzBatchedDestroy(&v->getrf));
  MUST(RitzBatchedDestroy(&v->getri));
  example_unlock_integers(v->pivots, &v->ipiv);
  example_unlock_integers(v->infos, &v->info);
  MUST(CeedVectorDestroy(&v->pivots));
  MUST(CeedVectorDestroy(&v->infos));
}

static double invert_once(const Problem *p, const Inversion *v, int has_factors, CeedVector matrices) {
  RitzBatchArray a = example_array(matrices, RITZ_ACCESS_READ_WRITE);
  const double start = example_seconds(p->one);

  if (has_factors) {
    MUST(RitzGetrfBatched(v->getrf, p->num_elem, &a, v->ipiv, v->info));
    MUST(RitzGetriBatched(v->getri, p->num_elem, &a, v->ipiv, NULL));
  } else {
    MUST(RitzInvBatched(v->inv, p->num_elem, &a, &a, v->info));
  }
  const double end = example_seconds(p->one);
  MUST(RitzBatchArrayRestoreVector(&a));
  return end - start;
}

// The second time all kernels are there.
static void invert(const Problem *p, int has_factors, CeedVector matrices, CeedVector inverses) {
  Inversion v = create_inversion(p);
  double seconds = 0;
  int64_t bad;
  int32_t value;

  for (int times = 0; times < 2; times++) {
    MUST(CeedVectorCopy(matrices, inverses));
    seconds = invert_once(p, &v, has_factors, inverses);
  }
  MUST(RitzBatchedGetFirstFailure(v.inv, v.info, p->num_elem, &bad, &value));
  if (bad >= 0) fprintf(stderr, "element %lld: zero pivot %d\n", (long long)bad, (int)value);
  example_print_rate(p->ceed, has_factors ? "GETRF and GETRI" : "INV", seconds,
                     (has_factors ? 4. : 2.) * p->num_elem * p->n * p->n * sizeof(CeedScalar));
  destroy_inversion(&v);
}

// ---- Fields: y = M^-1 b ----

static void apply(const Problem *p, int is_by_fields, CeedVector inverses, CeedVector b, CeedVector y) {
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
        from.col0 = to.col0 = c;
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
  CeedVector matrices = assemble(p);
  CeedVector inverses = example_vector(p->ceed, (CeedSize)p->num_elem * p->n * p->n);
  CeedOperator mass = create_mass(p, FIELDS);
  CeedScalar *values;
  uint64_t seed = 1;
  double error = 0;

  MUST(CeedVectorGetArrayWrite(u, CEED_MEM_HOST, &values));
  for (CeedSize i = 0; i < length; i++) values[i] = example_random(&seed);
  MUST(CeedVectorRestoreArray(u, &values));
  MUST(CeedOperatorApply(mass, u, b, CEED_REQUEST_IMMEDIATE));
  for (int has_factors = 0; has_factors < 2; has_factors++) {
    invert(p, has_factors, matrices, inverses);
    for (int by_fields = 0; by_fields < 2; by_fields++) {
      apply(p, by_fields, inverses, b, y);
      error = fmax(error, error_of(y, u));
    }
  }
  CeedVectorDestroy(&matrices), CeedVectorDestroy(&inverses);
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
