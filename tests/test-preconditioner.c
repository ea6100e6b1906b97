// SPDX-License-Identifier: BSD-2-Clause
// Preconditioners of operators, compared with dense matrices on every backend: what Jacobi and point blocks
// invert, bounds of spectra, polynomials, symmetry, precisions, and every method with every preconditioner.
#include <ritz/geometry.h>
#include <ritz/mesh.h>
#include <stdlib.h>

#include "base/memory.h"
#include "solver/preconditioner.h"
#include "tests/dense-system.h"
#include "tests/preconditioner-qfunctions.h"

// ---- An operator with coupled components on a line ----

enum { NUM_ELEM = 6, P_1D = 3, Q_1D = 4, NUM_NODES = NUM_ELEM * (P_1D - 1) + 1 };

typedef struct {
  CeedOperator op;
  RitzIndices constraints; // first node, and one component in the middle
  int n, num_comp;
  bool is_constrained[DENSE_MAX];
  Dense a; // without rows and columns of constrained entries: zeros there
} Line;

// k = 1 + l l^T with random l at each point: symmetric positive definite.
static int create_coefficients(Ceed ceed, CeedInt nc, CeedElemRestriction *rstr, CeedVector *k) {
  const CeedInt num = NUM_ELEM * Q_1D;
  CeedScalar *array = NULL;
  uint64_t seed = 3;
  int ierr = CeedElemRestrictionCreateStrided(ceed, NUM_ELEM, Q_1D, nc * nc, num * nc * nc,
                                              (CeedInt[]){1, Q_1D, Q_1D * nc * nc}, rstr);
  if (!ierr) ierr = CeedVectorCreate(ceed, num * nc * nc, k);
  if (!ierr) ierr = CeedVectorGetArrayWrite(*k, CEED_MEM_HOST, &array);
  if (ierr) return ierr;
  for (CeedInt e = 0; e < NUM_ELEM; e++) {
    for (CeedInt q = 0; q < Q_1D; q++) {
      double l[4];
      for (CeedInt a = 0; a < nc; a++) l[a] = 3 * tap_uniform(&seed);
      for (CeedInt a = 0; a < nc; a++) {
        for (CeedInt b = 0; b < nc; b++) {
          array[(e * nc * nc + a * nc + b) * Q_1D + q] = (CeedScalar)((a == b) + l[a] * l[b]);
        }
      }
    }
  }
  return CeedVectorRestoreArray(*k, &array);
}

static int create_qfunction(Ceed ceed, CeedInt nc, CeedQFunction *qf) {
  CeedQFunctionContext ctx = NULL;

  CeedCall(CeedQFunctionCreateInterior(ceed, 1, CoupledLine, CoupledLine_loc, qf));
  CeedCall(CeedQFunctionAddInput(*qf, "u", nc, CEED_EVAL_INTERP));
  CeedCall(CeedQFunctionAddInput(*qf, "du", nc, CEED_EVAL_GRAD));
  CeedCall(CeedQFunctionAddInput(*qf, "k", nc * nc, CEED_EVAL_NONE));
  CeedCall(CeedQFunctionAddInput(*qf, "w", 1, CEED_EVAL_WEIGHT));
  CeedCall(CeedQFunctionAddOutput(*qf, "v", nc, CEED_EVAL_INTERP));
  CeedCall(CeedQFunctionAddOutput(*qf, "dv", nc, CEED_EVAL_GRAD));
  CeedCall(CeedQFunctionContextCreate(ceed, &ctx));
  CeedCall(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(nc), &nc));
  CeedCall(CeedQFunctionSetContext(*qf, ctx));
  return CeedQFunctionContextDestroy(&ctx);
}

// Components side by side, or one after the other.
static int create_operator(Ceed ceed, CeedInt nc, bool is_interlaced, CeedOperator *op) {
  CeedElemRestriction rstr = NULL, rstr_k = NULL;
  CeedInt offsets[NUM_ELEM * P_1D];
  CeedQFunction qf = NULL;
  CeedBasis basis = NULL;
  CeedVector k = NULL;

  for (CeedInt e = 0; e < NUM_ELEM; e++) {
    for (CeedInt i = 0; i < P_1D; i++)
      offsets[e * P_1D + i] = (e * (P_1D - 1) + i) * (is_interlaced ? nc : 1);
  }
  int ierr = CeedElemRestrictionCreate(ceed, NUM_ELEM, P_1D, nc, is_interlaced ? 1 : NUM_NODES,
                                       NUM_NODES * nc, CEED_MEM_HOST, CEED_COPY_VALUES, offsets, &rstr);
  if (!ierr) ierr = create_coefficients(ceed, nc, &rstr_k, &k);
  if (!ierr) ierr = CeedBasisCreateTensorH1Lagrange(ceed, 1, nc, P_1D, Q_1D, CEED_GAUSS, &basis);
  if (!ierr) ierr = create_qfunction(ceed, nc, &qf);
  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, op);
  if (!ierr) ierr = CeedOperatorSetField(*op, "u", rstr, basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(*op, "du", rstr, basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(*op, "k", rstr_k, CEED_BASIS_NONE, k);
  if (!ierr) ierr = CeedOperatorSetField(*op, "w", CEED_ELEMRESTRICTION_NONE, basis, CEED_VECTOR_NONE);
  if (!ierr) ierr = CeedOperatorSetField(*op, "v", rstr, basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(*op, "dv", rstr, basis, CEED_VECTOR_ACTIVE);
  CeedQFunctionDestroy(&qf);
  CeedBasisDestroy(&basis);
  CeedVectorDestroy(&k);
  CeedElemRestrictionDestroy(&rstr);
  CeedElemRestrictionDestroy(&rstr_k);
  return ierr;
}

// Columns of a linear map of vectors of `ceed`.
typedef int (*Map)(void *ctx, CeedVector x, CeedVector y);
static int make_dense(Ceed ceed, int n, Map map, void *ctx, Dense *m) {
  CeedVector x = dense_vector(ceed, n, NULL), y = dense_vector(ceed, n, NULL);
  int ierr = CEED_ERROR_SUCCESS;

  m->n = n;
  for (int j = 0; j < n && !ierr; j++) {
    double unit[DENSE_MAX] = {0}, column[DENSE_MAX];
    unit[j] = 1;
    ierr = dense_set(x, n, unit);
    if (!ierr) ierr = map(ctx, x, y);
    if (!ierr) ierr = dense_get(y, n, column);
    for (int i = 0; i < n && !ierr; i++) m->a[i][j] = column[i];
  }
  CeedVectorDestroy(&x);
  CeedVectorDestroy(&y);
  return ierr;
}

static int apply_operator(void *ctx, CeedVector x, CeedVector y) {
  return CeedOperatorApply(ctx, x, y, CEED_REQUEST_IMMEDIATE);
}
static int apply_preconditioner(void *ctx, CeedVector x, CeedVector y) {
  return RitzPreconditionerApply(ctx, x, y);
}

static int create_line(Ceed ceed, CeedInt nc, bool is_interlaced, Line *line) {
  int64_t entries[8], num = 0;

  *line = (Line){.n = NUM_NODES * nc, .num_comp = nc};
  for (CeedInt c = 0; c < nc; c++) entries[num++] = is_interlaced ? c : c * NUM_NODES;
  entries[num++] = is_interlaced ? 5 * nc : 5;
  for (int64_t i = 0; i < num; i++) line->is_constrained[entries[i]] = true;
  CeedCall(RitzIndicesCreate(ceed, num, entries, &line->constraints));
  CeedCall(create_operator(ceed, nc, is_interlaced, &line->op));
  CeedCall(make_dense(ceed, line->n, apply_operator, line->op, &line->a));
  for (int i = 0; i < line->n; i++) {
    for (int j = 0; j < line->n; j++) {
      if (line->is_constrained[i] || line->is_constrained[j]) line->a.a[i][j] = 0;
    }
  }
  return CEED_ERROR_SUCCESS;
}

static void destroy_line(Line *line) {
  CeedOperatorDestroy(&line->op);
  RitzIndicesDestroy(&line->constraints);
}

// The nodes' component of an entry.
static int node_of(const Line *line, bool is_interlaced, int i) {
  return is_interlaced ? i / line->num_comp : i % NUM_NODES;
}

// ---- Kinds ----

typedef enum { JACOBI, POINT_BLOCKS, FOURTH_OVER_JACOBI, FIRST_OVER_BLOCKS, NESTED, NUM_KINDS } Kind;

static int create_kind(const Line *line, CeedOperator op, Kind kind, RitzPreconditioner *pc) {
  const RitzChebyshevOptions first = {.kind = RITZ_CHEBYSHEV_FIRST, .degree = 4, .lower_fraction = 0.2};
  RitzPreconditioner inner = NULL;

  if (kind == JACOBI) return RitzPreconditionerCreateOperatorJacobi(op, line->constraints, pc);
  if (kind == POINT_BLOCKS) return RitzPreconditionerCreatePointBlockJacobi(op, line->constraints, pc);
  int ierr = create_kind(line, op,
                         kind == FOURTH_OVER_JACOBI  ? JACOBI
                         : kind == FIRST_OVER_BLOCKS ? POINT_BLOCKS
                                                     : FOURTH_OVER_JACOBI,
                         &inner);
  if (!ierr)
    ierr = RitzPreconditionerCreateChebyshev(op, line->constraints, inner,
                                             kind == FIRST_OVER_BLOCKS ? &first : NULL, pc);
  RitzPreconditionerDestroy(&inner);
  return ierr;
}

// c = a b
static void multiply(const Dense *a, const Dense *b, Dense *c) {
  c->n = a->n;
  for (int i = 0; i < a->n; i++) {
    for (int j = 0; j < a->n; j++) {
      c->a[i][j] = 0;
      for (int k = 0; k < a->n; k++) c->a[i][j] += a->a[i][k] * b->a[k][j];
    }
  }
}

// Eigenvalues of P A for symmetric positive semidefinite P: those of S^T A S with P = S S^T (Cholesky, zero
// rows left out).
static void product_eigenvalues(const Dense *p, const Dense *a, double *eigenvalues) {
  Dense s = {.n = p->n}, st = {.n = p->n}, as, sas;

  for (int j = 0; j < p->n; j++) {
    double pivot = p->a[j][j];
    for (int k = 0; k < j; k++) pivot -= s.a[j][k] * s.a[j][k];
    if (!(pivot > 0)) continue;
    s.a[j][j] = sqrt(pivot);
    for (int i = j + 1; i < p->n; i++) {
      double sum = p->a[i][j];
      for (int k = 0; k < j; k++) sum -= s.a[i][k] * s.a[j][k];
      s.a[i][j] = sum / s.a[j][j];
    }
  }
  for (int i = 0; i < p->n; i++) {
    for (int j = 0; j < p->n; j++) st.a[i][j] = s.a[j][i];
  }
  multiply(a, &s, &as);
  multiply(&st, &as, &sas);
  dense_eigenvalues(&sas, eigenvalues);
}

static double largest_of(int n, const double *values) {
  double largest = values[0];
  for (int i = 1; i < n; i++) largest = fmax(largest, values[i]);
  return largest;
}

// Devices compile kernels for each number of components: one serves.
static int first_comp(Ceed ceed) { return tap_runs_pointers(ceed) ? 1 : 3; }

// ---- Tests ----

TEST_EACH_BACKEND(jacobi_and_point_blocks_are_inverses_of_blocks_of_the_matrix) {
  for (int nc = first_comp(ceed); nc <= 4; nc++) {
    const bool is_interlaced = nc != 2;
    Line line;
    CHECK_OK(create_line(ceed, nc, is_interlaced, &line));
    for (Kind kind = JACOBI; kind <= POINT_BLOCKS; kind++) {
      Dense p, blocks = line.a, product;
      RitzPreconditioner pc = NULL;
      CHECK_OK(create_kind(&line, line.op, kind, &pc));
      CHECK_OK(make_dense(ceed, line.n, apply_preconditioner, pc, &p));
      for (int i = 0; i < line.n; i++) {
        for (int j = 0; j < line.n; j++) {
          const bool is_inside =
              kind == JACOBI ? i == j : node_of(&line, is_interlaced, i) == node_of(&line, is_interlaced, j);
          if (!is_inside) blocks.a[i][j] = 0;
        }
      }
      multiply(&p, &blocks, &product);
      for (int i = 0; i < line.n; i++) {
        for (int j = 0; j < line.n; j++) {
          // Blocks have conditions of some ten.
          CHECK_NEAR(product.a[i][j], i == j && !line.is_constrained[i], 1000 * dense_eps,
                     "kind %d, %d components, entry (%d,%d)", (int)kind, nc, i, j);
        }
      }
      RitzPreconditionerDestroy(&pc);
    }
    destroy_line(&line);
    if (!tap_runs_pointers(ceed)) break;
  }
}

// The coefficients of one element become `value` times the identity.
static int spoil_element(CeedOperator op, CeedInt nc, CeedInt elem, double value) {
  CeedOperatorField field = NULL;
  CeedScalar *array = NULL;
  CeedVector k = NULL;

  CeedCall(CeedOperatorGetFieldByName(op, "k", &field));
  CeedCall(CeedOperatorFieldGetVector(field, &k));
  CeedCall(CeedVectorGetArray(k, CEED_MEM_HOST, &array));
  for (CeedInt i = 0; i < nc * nc * Q_1D; i++)
    array[elem * nc * nc * Q_1D + i] = i / Q_1D % (nc + 1) == 0 ? (CeedScalar)value : 0;
  CeedCall(CeedVectorRestoreArray(k, &array));
  return CeedVectorDestroy(&k);
}

// Of the element's nodes the first one is named; where all of them are constrained, nobody asks.
TEST_EACH_BACKEND(a_point_block_that_is_not_positive_definite_is_named) {
  const double values[] = {-1e4, NAN, INFINITY};
  const CeedInt elem = 2, first = elem * (P_1D - 1);
  int64_t entries[3 * P_1D];
  RitzIndices element = NULL;
  Line line;

  CHECK_OK(create_line(ceed, 3, true, &line));
  for (int i = 0; i < 3 * P_1D; i++) entries[i] = first * 3 + i;
  CHECK_OK(RitzIndicesCreate(ceed, 3 * P_1D, entries, &element));
  for (int i = 0; i < 3; i++) {
    char message[80];
    RitzPreconditioner pc = NULL;
    CHECK_OK(spoil_element(line.op, 3, elem, values[i]));
    (void)snprintf(message, sizeof(message), "the block of node %d is not positive definite", (int)first);
    CHECK_ERROR(ceed, RitzPreconditionerCreatePointBlockJacobi(line.op, NULL, &pc), CEED_ERROR_MAJOR,
                message);
    CHECK_OK(RitzPreconditionerCreatePointBlockJacobi(line.op, element, &pc));
    RitzPreconditionerDestroy(&pc);
  }
  RitzIndicesDestroy(&element);
  destroy_line(&line);
}

TEST_EACH_BACKEND(every_preconditioner_is_symmetric_positive_definite_and_blind_to_constraints) {
  Line line;
  CHECK_OK(create_line(ceed, 3, true, &line));

  for (Kind kind = JACOBI; kind < NUM_KINDS; kind++) {
    double eigenvalues[DENSE_MAX], largest = 0;
    RitzPreconditioner pc = NULL;
    bool is_symmetric = false;
    Dense p;
    CHECK_OK(create_kind(&line, line.op, kind, &pc));
    CHECK_OK(RitzPreconditionerIsSymmetric(pc, &is_symmetric));
    CHECK(is_symmetric, "kind %d", (int)kind);
    CHECK_OK(make_dense(ceed, line.n, apply_preconditioner, pc, &p));
    for (int i = 0; i < line.n; i++) largest = fmax(largest, p.a[i][i]);
    for (int i = 0; i < line.n; i++) {
      for (int j = 0; j < line.n; j++) {
        CHECK_NEAR(p.a[i][j], p.a[j][i], 1000 * dense_eps * largest, "kind %d, entry (%d,%d)", (int)kind, i,
                   j);
        if (line.is_constrained[i] || line.is_constrained[j]) CHECK(p.a[i][j] == 0, "(%d,%d)", i, j);
      }
      if (line.is_constrained[i]) p.a[i][i] = largest;
    }
    dense_eigenvalues(&p, eigenvalues);
    for (int i = 0; i < line.n; i++) {
      CHECK(eigenvalues[i] > 1e-4 * largest, "kind %d: eigenvalue %g", (int)kind, eigenvalues[i]);
    }
    RitzPreconditionerDestroy(&pc);
  }
  destroy_line(&line);
}

TEST_EACH_BACKEND(estimates_lie_just_below_the_largest_eigenvalue_and_bounds_above_it) {
  Line line;
  CHECK_OK(create_line(ceed, 3, true, &line));

  for (Kind kind = FOURTH_OVER_JACOBI; kind <= FIRST_OVER_BLOCKS; kind++) {
    double eigenvalues[DENSE_MAX], estimate = 0, lower = -1, upper = 0;
    RitzPreconditioner pc = NULL, inner = NULL;
    Dense p;
    CHECK_OK(create_kind(&line, line.op, kind - FOURTH_OVER_JACOBI, &inner));
    CHECK_OK(create_kind(&line, line.op, kind, &pc));
    CHECK_OK(make_dense(ceed, line.n, apply_preconditioner, inner, &p));
    product_eigenvalues(&p, &line.a, eigenvalues);
    const double largest = largest_of(line.n, eigenvalues);
    CHECK_OK(RitzPreconditionerGetChebyshevBounds(pc, &estimate, &lower, &upper));
    CHECK(estimate <= largest * (1 + 100 * dense_eps) && estimate >= 0.95 * largest, "%g of %g", estimate,
          largest);
    CHECK(upper >= largest && upper <= 1.11 * largest, "bound %g of %g", upper, largest);
    CHECK_NEAR(lower, kind == FIRST_OVER_BLOCKS ? 0.2 * upper : 0, 10 * dense_eps * upper, "lower bound");
    RitzPreconditionerDestroy(&pc);
    RitzPreconditionerDestroy(&inner);
  }
  destroy_line(&line);
}

// 1 - lambda q(lambda) is the polynomial of the kind: eigenvalues of P_k A follow from those of P A.
TEST_EACH_BACKEND(spectra_of_smoothers_are_those_of_their_polynomials) {
  Line line;
  CHECK_OK(create_line(ceed, 3, true, &line));

  for (Kind kind = FOURTH_OVER_JACOBI; kind <= FIRST_OVER_BLOCKS; kind++) {
    double inner_values[DENSE_MAX], values[DENSE_MAX], lower = 0, upper = 0, trace[2] = {0, 0};
    RitzPreconditioner pc = NULL, inner = NULL;
    Dense p, q;
    CHECK_OK(create_kind(&line, line.op, kind - FOURTH_OVER_JACOBI, &inner));
    CHECK_OK(create_kind(&line, line.op, kind, &pc));
    CHECK_OK(RitzPreconditionerGetChebyshevBounds(pc, NULL, &lower, &upper));
    CHECK_OK(make_dense(ceed, line.n, apply_preconditioner, inner, &p));
    CHECK_OK(make_dense(ceed, line.n, apply_preconditioner, pc, &q));
    product_eigenvalues(&p, &line.a, inner_values);
    product_eigenvalues(&q, &line.a, values);
    for (int i = 0; i < line.n; i++) {
      const double lambda = inner_values[i], t = (upper + lower) / 2, h = (upper - lower) / 2;
      const double theta = acos(fmax(-1, fmin(1, 1 - 2 * lambda / upper))), x = (t - lambda) / h, s = t / h;
      const double first = fabs(x) <= 1 ? cos(4 * acos(x)) : cosh(4 * acosh(fabs(x)));
      const double factor = lambda < 1e-8                ? 1
                            : kind == FOURTH_OVER_JACOBI ? sin(3.5 * theta) / (sin(theta / 2) * 7)
                                                         : first / cosh(4 * acosh(s));
      trace[0] += 1 - factor;
      trace[1] += values[i];
      CHECK(values[i] > -1e4 * dense_eps && values[i] < 2, "kind %d: eigenvalue %g", (int)kind, values[i]);
    }
    CHECK_NEAR(trace[0], trace[1], 1e4 * dense_eps * line.n, "kind %d: sum of eigenvalues", (int)kind);
    RitzPreconditionerDestroy(&pc);
    RitzPreconditionerDestroy(&inner);
  }
  destroy_line(&line);
}

TEST_EACH_BACKEND(smoothing_is_correction_by_the_preconditioned_residual) {
  double b[DENSE_MAX], x[DENSE_MAX], r[DENSE_MAX], z[DENSE_MAX], found[DENSE_MAX];
  uint64_t seed = 31;
  Line line;
  CHECK_OK(create_line(ceed, 3, true, &line));
  for (int i = 0; i < line.n; i++) {
    b[i] = tap_uniform(&seed);
    x[i] = line.is_constrained[i] ? 0 : tap_uniform(&seed);
  }
  dense_multiply(&line.a, x, r);
  for (int i = 0; i < line.n; i++) r[i] = b[i] - r[i];

  for (Kind kind = JACOBI; kind < NUM_KINDS; kind++) {
    CeedVector vb = dense_vector(ceed, line.n, b), vx = dense_vector(ceed, line.n, x),
               work = dense_vector(ceed, line.n, NULL), vz = dense_vector(ceed, line.n, NULL);
    RitzSystem system;
    RitzPreconditioner pc = NULL;
    CHECK_OK(create_kind(&line, line.op, kind, &pc));
    CHECK_OK(ritz_system_create(ceed, line.op, NULL, NULL, line.constraints, &system));

    CHECK_OK(ritz_preconditioner_smooth(pc, &system, vb, vx, false, work, false));

    CHECK_OK(dense_get(vx, line.n, found));
    CHECK_OK(dense_set(work, line.n, r));
    CHECK_OK(RitzPreconditionerApply(pc, work, vz));
    CHECK_OK(dense_get(vz, line.n, z));
    for (int i = 0; i < line.n; i++) {
      CHECK_NEAR(found[i], x[i] + z[i], 1e4 * dense_eps, "kind %d, entry %d", (int)kind, i);
      if (line.is_constrained[i]) CHECK(found[i] == 0, "constrained entry %d", i);
    }
    // From zero it is the preconditioner itself, whatever x holds.
    CHECK_OK(CeedVectorSetValue(vx, 7));
    CHECK_OK(ritz_preconditioner_smooth(pc, &system, vb, vx, true, work, false));
    CHECK_OK(RitzPreconditionerApply(pc, vb, vz));
    CHECK_OK(dense_get(vx, line.n, found));
    CHECK_OK(dense_get(vz, line.n, z));
    for (int i = 0; i < line.n; i++) CHECK(found[i] == z[i], "kind %d from zero, entry %d", (int)kind, i);
    ritz_system_destroy(&system);
    RitzPreconditionerDestroy(&pc);
    CeedVectorDestroy(&vb);
    CeedVectorDestroy(&vx);
    CeedVectorDestroy(&vz);
    CeedVectorDestroy(&work);
  }
  destroy_line(&line);
}

// Smoothers without a method for it, on vectors of float, over preconditioners of either precision.
TEST_EACH_BACKEND(smoothing_in_float_is_that_in_double_rounded) {
  if (sizeof(CeedScalar) == 4) NOT_HERE("there is one precision");
  double b[DENSE_MAX], x[DENSE_MAX], found[2][DENSE_MAX];
  CeedOperator single = NULL;
  uint64_t seed = 37;
  Line line;
  CHECK_OK(create_line(ceed, 3, true, &line));
  CHECK_OK(create_operator(ceed, 3, true, &single));
  CHECK_OK(RitzOperatorSetPrecision(single, CEED_SCALAR_FP32));
  for (int i = 0; i < line.n; i++) {
    b[i] = tap_uniform(&seed);
    x[i] = line.is_constrained[i] ? 0 : tap_uniform(&seed);
  }

  for (int k = 0; k < 4; k++) { // of vectors and the preconditioner
    const bool are_floats = k % 2, is_float = k / 2;
    CeedVector v[3] = {NULL}, from[3] = {dense_vector(ceed, line.n, b), dense_vector(ceed, line.n, x),
                                         dense_vector(ceed, line.n, NULL)};
    RitzPreconditioner pc = NULL;
    RitzSystem system;
    for (int i = 0; i < 3; i++) {
      CHECK_OK(RitzVectorCreate(ceed, line.n, are_floats ? CEED_SCALAR_FP32 : CEED_SCALAR_FP64, &v[i]));
      CHECK_OK(RitzVectorConvert(from[i], v[i]));
    }
    CHECK_OK(create_kind(&line, is_float ? single : line.op, JACOBI, &pc));
    CHECK_OK(ritz_system_create(ceed, line.op, NULL, NULL, line.constraints, &system));
    CHECK_OK(ritz_preconditioner_smooth(pc, &system, v[0], v[1], false, v[2], false));
    CHECK_OK(RitzVectorConvert(v[1], from[1]));
    CHECK_OK(dense_get(from[1], line.n, found[k > 0]));
    for (int i = 0; i < line.n; i++) CHECK_NEAR(found[k > 0][i], found[0][i], 1000 * 0x1p-23, "case %d", k);
    ritz_system_destroy(&system);
    RitzPreconditionerDestroy(&pc);
    for (int i = 0; i < 3; i++) CeedVectorDestroy(&v[i]), CeedVectorDestroy(&from[i]);
  }
  CeedOperatorDestroy(&single);
  destroy_line(&line);
}

TEST_EACH_BACKEND(every_method_with_every_preconditioner_finds_the_same_solution) {
  double exact[DENSE_MAX], b[DENSE_MAX], found[DENSE_MAX];
  CeedInt plain = 0;
  uint64_t seed = 41;
  Line line;
  CHECK_OK(create_line(ceed, 3, true, &line));
  for (int i = 0; i < line.n; i++) exact[i] = line.is_constrained[i] ? 0 : tap_uniform(&seed);
  dense_multiply(&line.a, exact, b);

  for (int kind = -1; kind < NUM_KINDS; kind++) {
    RitzPreconditioner pc = NULL;
    if (kind >= 0) CHECK_OK(create_kind(&line, line.op, (Kind)kind, &pc));
    for (int type = RITZ_SOLVER_CG; type <= RITZ_SOLVER_CHEBYSHEV; type++) {
      CeedVector vb = dense_vector(ceed, line.n, b), vx = dense_vector(ceed, line.n, NULL);
      const double rtol = 1e4 * dense_eps;
      RitzSolver solver = NULL;
      RitzSolverReason reason = RITZ_ITERATING;
      CeedInt iterations = 0;
      CHECK_OK(RitzSolverCreate(ceed, (RitzSolverType)type, &solver));
      CHECK_OK(RitzSolverSetOperator(solver, line.op));
      CHECK_OK(RitzSolverSetConstraintIndices(solver, line.constraints));
      CHECK_OK(RitzSolverSetPreconditioner(solver, pc));
      CHECK_OK(RitzSolverSetTolerances(solver, rtol, 0, 2000));
      CHECK_OK(RitzSolverSetRestart(solver, 60));
      // Convergence at the rate of the bounds, which the default would estimate from above.
      CHECK_OK(RitzSolverSetChebyshev(solver, &(RitzChebyshevOptions){.kind = RITZ_CHEBYSHEV_FIRST,
                                                                      .lower_fraction = 0.002}));
      CHECK_OK(RitzSolverSolve(solver, vb, vx));
      CHECK_OK(RitzSolverGetReason(solver, &reason));
      CHECK_OK(RitzSolverGetIterations(solver, &iterations));
      CHECK(reason == RITZ_CONVERGED_RTOL, "%s, preconditioner %d: %s",
            RitzSolverTypeName((RitzSolverType)type), kind, RitzSolverReasonName(reason));
      CHECK_OK(dense_get(vx, line.n, found));
      // The condition number is some hundreds.
      CHECK_NEAR(dense_distance(line.n, found, exact), 0, 1e3 * rtol * dense_norm(line.n, exact),
                 "%s, preconditioner %d", RitzSolverTypeName((RitzSolverType)type), kind);
      if (type == RITZ_SOLVER_CG && kind < 0) plain = iterations;
      if (type == RITZ_SOLVER_CG && kind >= FOURTH_OVER_JACOBI) {
        CHECK(iterations < 3 * plain / 4, "preconditioner %d: %d iterations, %d without", kind,
              (int)iterations, (int)plain);
      }
      RitzSolverDestroy(&solver);
      CeedVectorDestroy(&vb);
      CeedVectorDestroy(&vx);
    }
    RitzPreconditionerDestroy(&pc);
  }
  destroy_line(&line);
}

TEST_EACH_BACKEND(float_preconditioners_of_operators_cost_no_iterations) {
  if (sizeof(CeedScalar) == 4) NOT_HERE("there is one precision");
  CeedOperator single = NULL;
  CeedScalarType precision = CEED_SCALAR_FP64;
  double b[DENSE_MAX];
  uint64_t seed = 51;
  Line line;
  CHECK_OK(create_line(ceed, 3, true, &line));
  CHECK_OK(create_operator(ceed, 3, true, &single));
  CHECK_OK(RitzOperatorSetPrecision(single, CEED_SCALAR_FP32));
  for (int i = 0; i < line.n; i++) b[i] = tap_uniform(&seed);

  for (Kind kind = JACOBI; kind <= FIRST_OVER_BLOCKS; kind++) {
    CeedInt iterations[2] = {0, 0};
    Dense p[2];
    for (int f = 0; f < 2; f++) {
      CeedVector vb = dense_vector(ceed, line.n, b), vx = dense_vector(ceed, line.n, NULL);
      RitzPreconditioner pc = NULL;
      RitzSolver solver = NULL;
      CHECK_OK(create_kind(&line, f ? single : line.op, kind, &pc));
      CHECK_OK(RitzPreconditionerGetPrecision(pc, &precision));
      CHECK(precision == (f ? CEED_SCALAR_FP32 : CEED_SCALAR_FP64), "kind %d", (int)kind);
      CHECK_OK(make_dense(ceed, line.n, apply_preconditioner, pc, &p[f]));
      CHECK_OK(RitzSolverCreate(ceed, RITZ_SOLVER_FLEXIBLE_CG, &solver));
      CHECK_OK(RitzSolverSetOperator(solver, line.op));
      CHECK_OK(RitzSolverSetConstraintIndices(solver, line.constraints));
      CHECK_OK(RitzSolverSetPreconditioner(solver, pc));
      CHECK_OK(RitzSolverSetTolerances(solver, 1e-6, 0, 200));
      CHECK_OK(RitzSolverSolve(solver, vb, vx));
      CHECK_OK(RitzSolverGetIterations(solver, &iterations[f]));
      RitzSolverDestroy(&solver);
      RitzPreconditionerDestroy(&pc);
      CeedVectorDestroy(&vb);
      CeedVectorDestroy(&vx);
    }
    // As many iterations as unknowns are where conjugate gradients feel every rounding.
    CHECK(abs(iterations[0] - iterations[1]) <= 1 + iterations[0] / 8, "kind %d: %d and %d iterations",
          (int)kind, (int)iterations[0], (int)iterations[1]);
    for (int i = 0; i < line.n; i++) {
      for (int j = 0; j < line.n; j++) {
        CHECK_NEAR(p[0].a[i][j], p[1].a[i][j], 100 * 0x1p-23, "kind %d, entry (%d,%d)", (int)kind, i, j);
      }
    }
  }
  CeedOperatorDestroy(&single);
  destroy_line(&line);
}

// Two steps with a bound a third of the largest eigenvalue: 1 - p is negative up there.
TEST(bounds_that_are_too_small_are_estimated_once_more_when_they_do_harm) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  double b[DENSE_MAX], values[DENSE_MAX];
  uint64_t seed = 61;
  Dense p;
  Line line;
  RitzPreconditioner jacobi = NULL;
  CHECK_OK(create_line(ceed, 3, true, &line));
  CHECK_OK(create_kind(&line, line.op, JACOBI, &jacobi));
  CHECK_OK(make_dense(ceed, line.n, apply_preconditioner, jacobi, &p));
  product_eigenvalues(&p, &line.a, values);
  const double largest = largest_of(line.n, values);
  for (int i = 0; i < line.n; i++) b[i] = tap_uniform(&seed);

  for (int k = 0; k < 4; k++) {
    const bool is_given = k < 2;
    const RitzChebyshevOptions options = {
        .degree = 2, .largest = is_given ? largest / 3 : 0, .safety = is_given ? 0 : 1.0 / 3};
    CeedVector vb = dense_vector(ceed, line.n, b), vx = dense_vector(ceed, line.n, NULL);
    RitzPreconditioner pc = NULL;
    RitzSolver solver = NULL;
    RitzSolverReason reason = RITZ_ITERATING;
    double upper = 0;
    CHECK_OK(RitzPreconditionerCreateChebyshev(line.op, line.constraints, jacobi, &options, &pc));
    CHECK_OK(RitzSolverCreate(ceed, k % 2 ? RITZ_SOLVER_FLEXIBLE_CG : RITZ_SOLVER_CG, &solver));
    CHECK_OK(RitzSolverSetOperator(solver, line.op));
    CHECK_OK(RitzSolverSetConstraintIndices(solver, line.constraints));
    CHECK_OK(RitzSolverSetPreconditioner(solver, pc));
    CHECK_OK(RitzSolverSetTolerances(solver, 1e-4, 0, 300));
    CHECK_OK(RitzSolverSolve(solver, vb, vx));
    CHECK_OK(RitzSolverGetReason(solver, &reason));
    CHECK_OK(RitzPreconditionerGetChebyshevBounds(pc, NULL, NULL, &upper));
    CHECK(reason == (is_given ? RITZ_DIVERGED_PRECONDITIONER : RITZ_CONVERGED_RTOL), "case %d: %s", k,
          RitzSolverReasonName(reason));
    CHECK(is_given == (upper < largest), "case %d: bound %g of %g", k, upper, largest);
    RitzSolverDestroy(&solver);
    RitzPreconditionerDestroy(&pc);
    CeedVectorDestroy(&vb);
    CeedVectorDestroy(&vx);
  }
  RitzPreconditionerDestroy(&jacobi);
  destroy_line(&line);
  CeedDestroy(&ceed);
}

// ---- Objects ----

// Diffusion that nothing holds, on a few elements: after fewer steps than are asked for, what is left of the
// residual is a constant, to which the operator is rounding errors of any sign.
static int create_free_diffusion(Ceed ceed, CeedOperator *op, CeedVector *diagonal) {
  const CeedInt num[2] = {2, 3};
  RitzMesh mesh = NULL;
  RitzSpace space = NULL;
  RitzGeometry geometry = NULL;
  CeedSize size = 0;

  int ierr = RitzMeshCreateBox(ceed, 2, num, NULL, NULL, 1, NULL, NULL, &mesh);
  if (!ierr) ierr = RitzSpaceCreate(mesh, 2, 1, &space);
  if (!ierr) ierr = RitzGeometryCreate(mesh, -1, &geometry);
  const RitzOperatorOptions options = {.kind = RITZ_OPERATOR_DIFFUSION, .space = space};
  if (!ierr) ierr = RitzGeometryCreateOperator(geometry, ceed, &options, op);
  if (!ierr) ierr = RitzSpaceGetSize(space, &size);
  if (!ierr) ierr = CeedVectorCreate(ceed, size, diagonal);
  if (!ierr) ierr = CeedOperatorLinearAssembleDiagonal(*op, *diagonal, CEED_REQUEST_IMMEDIATE);
  (void)RitzGeometryDestroy(&geometry);
  (void)RitzSpaceDestroy(&space);
  (void)RitzMeshDestroy(&mesh);
  return ierr;
}

TEST_EACH_BACKEND(estimates_end_where_the_operator_is_zero) {
  CeedOperator op = NULL;
  CeedVector diagonal = NULL;
  RitzPreconditioner jacobi = NULL;
  double estimates[3] = {0}, lower = 0, upper = 0;

  CHECK_OK(create_free_diffusion(ceed, &op, &diagonal));
  CHECK_OK(RitzPreconditionerCreateJacobi(ceed, diagonal, NULL, &jacobi));
  for (int k = 0; k < 3 && !tap_failed(); k++) {
    const RitzChebyshevOptions options = {.num_steps = (CeedInt[]){12, 60, 180}[k]};
    RitzPreconditioner pc = NULL;

    CHECK_OK(RitzPreconditionerCreateChebyshev(op, NULL, jacobi, &options, &pc));
    CHECK_OK(RitzPreconditionerGetChebyshevBounds(pc, &estimates[k], &lower, &upper));
    CHECK_OK(RitzPreconditionerDestroy(&pc));
  }
  // of 35 unknowns: the first bound is above all that more steps find
  CHECK(estimates[2] <= 1.1 * estimates[0] && estimates[1] <= 1.1 * estimates[0], "%g, %g, %g", estimates[0],
        estimates[1], estimates[2]);
  CHECK_OK(RitzPreconditionerDestroy(&jacobi));
  CHECK_OK(CeedVectorDestroy(&diagonal));
  CHECK_OK(CeedOperatorDestroy(&op));
}

TEST(estimates_do_not_depend_on_the_number_of_threads) {
  const char *const resources[] = {"/cpu/self/gen:threads=1", "/cpu/self/gen:threads=3", "/cpu/self/ref"};
  double estimate[3] = {0};

  for (int k = 0; k < 3; k++) {
    Ceed ceed = tap_ceed(resources[k]);
    RitzPreconditioner pc = NULL;
    Line line;
    CHECK_OK(create_line(ceed, 3, true, &line));
    CHECK_OK(create_kind(&line, line.op, FOURTH_OVER_JACOBI, &pc));
    CHECK_OK(RitzPreconditionerGetChebyshevBounds(pc, &estimate[k], NULL, NULL));
    CHECK_NEAR(estimate[k], estimate[0], 1e3 * dense_eps * estimate[0], "%s", resources[k]);
    RitzPreconditionerDestroy(&pc);
    destroy_line(&line);
    CeedDestroy(&ceed);
  }
}

static int num_destroyed;
static void count_destroyed(void *ctx) {
  (void)ctx;
  num_destroyed++;
}

TEST(preconditioners_are_counted_viewed_and_measured) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzPreconditioner pc = NULL, copy = NULL;
  char text[1000] = "";
  int64_t num_bytes = 0;
  Dense identity = {.n = 4};
  Line line;
  num_destroyed = 0;
  CHECK_OK(RitzPreconditionerCreate(ceed, 4, CEED_SCALAR_TYPE, dense_apply, &identity, count_destroyed, true,
                                    &pc));
  CHECK_OK(RitzPreconditionerReferenceCopy(pc, &copy));
  CHECK_OK(RitzPreconditionerDestroy(&pc));
  CHECK(num_destroyed == 0, "too early");
  CHECK_OK(RitzPreconditionerReferenceCopy(copy, &copy));
  CHECK_OK(RitzPreconditionerDestroy(&copy));
  CHECK(num_destroyed == 1 && copy == NULL, "destroyed %d times", num_destroyed);
  CHECK_OK(RitzPreconditionerDestroy(&copy));

  CHECK_OK(create_line(ceed, 2, true, &line));
  CHECK_OK(create_kind(&line, line.op, FIRST_OVER_BLOCKS, &pc));
  CHECK_OK(RitzPreconditionerGetBytes(pc, &num_bytes));
  // q, d, z, and two numbers of a block for each entry.
  CHECK(num_bytes == (int64_t)(line.n * (3 + 2) * (int)sizeof(CeedScalar)), "%d bytes", (int)num_bytes);
  FILE *stream = tmpfile();
  CHECK(stream != NULL, "no file");
  CHECK_OK(RitzPreconditionerView(pc, stream));
  rewind(stream);
  CHECK(fread(text, 1, sizeof(text) - 1, stream) > 0, "empty");
  fclose(stream);
  CHECK(strstr(text, "Chebyshev, first kind, degree 4") &&
            strstr(text, "    point-block Jacobi, blocks of 2"),
        "%s", text);
  RitzPreconditionerDestroy(&pc);
  destroy_line(&line);
  CeedDestroy(&ceed);
}

TEST(misuse_of_preconditioners_is_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const int64_t beyond = 99;
  const double values[] = {1, 2, 0, 4};
  RitzPreconditioner pc = NULL, jacobi = NULL, changing = NULL;
  CeedVector d = dense_vector(ceed, 4, values), v = dense_vector(ceed, 4, values),
             w = dense_vector(ceed, 4, values), longer = dense_vector(ceed, 5, NULL);
  RitzIndices far = NULL, third = NULL;
  Dense identity = {.n = 39};
  Line line;
  CHECK_OK(create_line(ceed, 3, true, &line));
  CHECK_OK(RitzIndicesCreate(ceed, 1, &beyond, &far));
  CHECK_OK(RitzIndicesCreate(ceed, 1, (int64_t[]){2}, &third));

  CHECK_ERROR(ceed, RitzPreconditionerCreateJacobi(ceed, d, NULL, &pc), CEED_ERROR_MAJOR,
              "entry 2 of the diagonal is 0");
  CHECK(pc == NULL, "no preconditioner");
  CHECK_OK(RitzPreconditionerCreateJacobi(ceed, d, third, &pc)); // the entry is constrained
  CHECK_ERROR(ceed, RitzPreconditionerApply(pc, v, v), CEED_ERROR_INCOMPATIBLE, "same vector");
  CHECK_ERROR(ceed, RitzPreconditionerApply(pc, v, longer), CEED_ERROR_DIMENSION, "z has 5");
  CHECK_ERROR(ceed, RitzPreconditionerApply(pc, NULL, v), CEED_ERROR_INCOMPATIBLE, "'r' is NULL");
  const CeedVector twice[] = {d, d}, apart[] = {v, w};
  CHECK_OK(RitzPreconditionerApplyMany(pc, 2, twice, apart));
  CHECK_ERROR(ceed, RitzPreconditionerApplyMany(pc, 2, apart, twice), CEED_ERROR_INCOMPATIBLE,
              "z[0] and z[1] are the same vector");
  CHECK_ERROR(ceed, RitzPreconditionerApplyMany(pc, 2, (CeedVector[]){d, v}, apart), CEED_ERROR_INCOMPATIBLE,
              "r[1] and z[0] are the same vector");
  CHECK_ERROR(ceed, RitzPreconditionerGetChebyshevBounds(pc, NULL, NULL, NULL), CEED_ERROR_INCOMPATIBLE,
              "'Jacobi'");
  CHECK_ERROR(ceed, RitzPreconditionerCreateChebyshev(line.op, NULL, pc, NULL, &jacobi), CEED_ERROR_DIMENSION,
              "has 4 entries, the operator 39");
  RitzPreconditionerDestroy(&pc);
  CHECK_ERROR(ceed, RitzPreconditionerCreateJacobi(ceed, d, far, &pc), CEED_ERROR_DIMENSION, "entry 99");
  CHECK_ERROR(ceed, RitzPreconditionerCreatePointBlockJacobi(line.op, far, &pc), CEED_ERROR_DIMENSION,
              "entry 99");
  CHECK_ERROR(ceed, RitzPreconditionerCreate(ceed, -1, CEED_SCALAR_TYPE, dense_apply, NULL, NULL, true, &pc),
              CEED_ERROR_DIMENSION, "length is -1");
  CHECK_ERROR(ceed, RitzPreconditionerCreate(ceed, 1, CEED_SCALAR_TYPE, NULL, NULL, NULL, true, &pc),
              CEED_ERROR_INCOMPATIBLE, "'apply' is NULL");
  CHECK_OK(RitzPreconditionerCreateOperatorJacobi(line.op, line.constraints, &jacobi));
  const RitzChebyshevOptions wrong[] = {{.kind = (RitzChebyshevKind)9},
                                        {.degree = -1},
                                        {.lower_fraction = 1},
                                        {.largest = NAN},
                                        {.safety = -1},
                                        {.num_steps = -2}};
  for (int k = 0; k < 6; k++) {
    CHECK_ERROR(ceed, RitzPreconditionerCreateChebyshev(line.op, NULL, jacobi, &wrong[k], &pc),
                CEED_ERROR_INCOMPATIBLE, "RitzPreconditionerCreateChebyshev");
  }
  // Negative, and not known to be fixed.
  for (int i = 0; i < 39; i++) identity.a[i][i] = -1;
  CHECK_OK(RitzPreconditionerCreate(ceed, 39, CEED_SCALAR_TYPE, dense_apply, &identity, NULL, true, &pc));
  CHECK_ERROR(ceed, RitzPreconditionerCreateChebyshev(line.op, NULL, pc, NULL, &changing), CEED_ERROR_MAJOR,
              "inner preconditioner is not positive definite");
  RitzPreconditionerDestroy(&pc);
  CHECK_OK(RitzPreconditionerCreate(ceed, 39, CEED_SCALAR_TYPE, dense_apply, &identity, NULL, false, &pc));
  CHECK_ERROR(ceed, RitzPreconditionerCreateChebyshev(line.op, NULL, pc, NULL, &changing),
              CEED_ERROR_INCOMPATIBLE, "not symmetric");
  RitzPreconditionerDestroy(&pc);
  RitzPreconditionerDestroy(&jacobi);
  RitzIndicesDestroy(&far);
  RitzIndicesDestroy(&third);
  CeedVectorDestroy(&d);
  CeedVectorDestroy(&v);
  CeedVectorDestroy(&w);
  CeedVectorDestroy(&longer);
  destroy_line(&line);
  CeedDestroy(&ceed);
}

TEST(failing_allocations_leave_no_preconditioner_behind) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Line line;
  CHECK_OK(create_line(ceed, 2, true, &line));

  for (Kind kind = JACOBI; kind <= FIRST_OVER_BLOCKS; kind++) {
    RitzPreconditioner pc = NULL;
    int failures = 0;
    CHECK_OK(create_kind(&line, line.op, kind, &pc)); // work vectors of the context and the operator exist
    CHECK_OK(RitzPreconditionerDestroy(&pc));
    const int64_t live = ritz_memory_live();
    for (int n = 1; n < 1000; n++) {
      ritz_memory_fail_at(n);
      const int ierr = create_kind(&line, line.op, kind, &pc);
      ritz_memory_fail_at(0);
      if (!ierr) break;
      CHECK(pc == NULL && ritz_memory_live() == live, "kind %d, allocation %d: %d more are left", (int)kind,
            n, (int)(ritz_memory_live() - live));
      failures++;
    }
    CHECK(pc != NULL && failures > 3, "kind %d: %d failures", (int)kind, failures);
    RitzPreconditionerDestroy(&pc);
  }
  destroy_line(&line);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(jacobi_and_point_blocks_are_inverses_of_blocks_of_the_matrix,
                        a_point_block_that_is_not_positive_definite_is_named,
                        every_preconditioner_is_symmetric_positive_definite_and_blind_to_constraints,
                        estimates_lie_just_below_the_largest_eigenvalue_and_bounds_above_it,
                        spectra_of_smoothers_are_those_of_their_polynomials,
                        smoothing_is_correction_by_the_preconditioned_residual,
                        smoothing_in_float_is_that_in_double_rounded,
                        every_method_with_every_preconditioner_finds_the_same_solution,
                        float_preconditioners_of_operators_cost_no_iterations,
                        bounds_that_are_too_small_are_estimated_once_more_when_they_do_harm,
                        estimates_end_where_the_operator_is_zero,
                        estimates_do_not_depend_on_the_number_of_threads,
                        preconditioners_are_counted_viewed_and_measured, misuse_of_preconditioners_is_refused,
                        failing_allocations_leave_no_preconditioner_behind));
}
