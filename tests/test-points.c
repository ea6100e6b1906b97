// SPDX-License-Identifier: BSD-2-Clause
// Operators at points: random ones against dense matrices (random-points.h), applied and assembled; bases at
// points evaluate polynomials; points at the quadrature points reproduce ordinary operators. Errors are in
// test-points-rules.c, restrictions at points in test-restriction-points.c.
#include "tests/tap.h"

#include "tests/assembled-qfunctions.h"
#include "tests/mass-qfunctions.h"
#include "tests/random-operator.h"
#include "tests/random-points.h"
#include "tests/reference.h"
#include "tests/triples.h"
#include <ceed/backend.h>
#include <math.h>
#include <ritz/operator.h>
#include <stdlib.h>
#include <string.h>

// ---- Random operators ----

static int num_draws(int part) {
  static const int num[] = {120, 2400, 24000};

  return num[tap_level()] / part;
}

// PoCL compiles a QFunction for seconds, and a basis for a second.
static bool is_brief(Ceed ceed) { return tap_compiles_slowly(ceed) && tap_level() < TAP_EXHAUSTIVE; }

static void with_operators(Ceed ceed, PointsOptions options, int num, uint64_t first_seed,
                           void (*check)(PointsOperator *r, uint64_t *seed)) {
  if (!tap_runs_pointers(ceed)) num = random_num_draws(ceed, num); // /cpu/self/gen compiles nothing at points
  if (is_brief(ceed) && tap_level() == TAP_FULL) num = (num + 2) / 3;
  for (int i = 0; i < num && !tap_failed(); i++) {
    PointsOperator r;
    uint64_t seed = first_seed + (uint64_t)i;
    int ierr = points_operator_create(ceed, &options, &seed, &r);

    if (!ierr) check(&r, &seed);
    if (ierr || tap_failed()) tap_note("seed %d: %s", (int)first_seed + i, points_operator_describe(&r));
    points_operator_destroy(&r);
    CHECK_OK(ierr);
  }
}

// Vectors for the active fields, CEED_VECTOR_NONE where there are none.
typedef struct {
  double *x; // [input_size]
  CeedVector in, out;
} Vectors;

static Vectors make_vectors(const PointsOperator *r, uint64_t *seed) {
  Vectors v = {reference_new_random(r->input_size, seed), CEED_VECTOR_NONE, CEED_VECTOR_NONE};

  if (r->input_size) v.in = reference_vector(r->ceed, r->input_size, v.x);
  if (r->output_size) CeedVectorCreate(r->ceed, r->output_size, &v.out);
  return v;
}

static void free_vectors(Vectors *v) {
  CeedVectorDestroy(&v->in);
  CeedVectorDestroy(&v->out);
  free(v->x);
}

// Every target holds times * (matrix x).
static void check_targets(const PointsOperator *r, const Vectors *v, double times) {
  for (int t = 0; t < r->num_targets && !tap_failed(); t++) {
    const PointsTarget *target = &r->targets[t];
    CeedVector vector = target->field < 0 ? v->out : r->out[target->field].passive;
    double *y = reference_new(target->length), *values = reference_new_values(vector);
    double tolerance = times * points_target_apply(r, target, v->x, y);

    for (CeedSize k = 0; k < target->length; k++) y[k] *= times;
    double error = reference_distance(target->length, values, y);
    free(y);
    free(values);
    CHECK(error <= tolerance, "output %d: off by %g, allowed %g", target->field, error, tolerance);
  }
}

static void check_apply(PointsOperator *r, uint64_t *seed) {
  Vectors v = make_vectors(r, seed);
  int ierr = CeedOperatorApply(r->op, v.in, v.out, CEED_REQUEST_IMMEDIATE);

  if (!ierr) check_targets(r, &v, 1.0);
  if (!ierr) ierr = CeedOperatorApplyAdd(r->op, v.in, v.out, CEED_REQUEST_IMMEDIATE);
  if (!ierr && !tap_failed()) check_targets(r, &v, 2.0);
  free_vectors(&v);
  CHECK_OK(ierr);
}

TEST_EACH_BACKEND(operators_at_random_points_match_their_dense_matrices) {
  with_operators(ceed, (PointsOptions){0}, num_draws(1), 1000000, check_apply);
}

TEST_EACH_BACKEND(operators_with_several_active_fields_at_points_match_their_dense_matrices) {
  with_operators(ceed, (PointsOptions){.num_active_in = 2, .num_active_out = 2}, num_draws(2), 1100000,
                 check_apply);
}

// y . A x = x . A^T y needs no operator A^T: the dense matrix has just been compared. What is left is that
// the transposed evaluation of a basis is the transpose of the forward one, entry by entry (below).

// ---- Assembly ----

static double *dense_of(const PointsOperator *r) {
  CeedSize m = r->output_size, n = r->input_size;
  double *dense = reference_new(m * n);

  for (CeedSize i = 0; i < m; i++)
    memcpy(dense + i * n, r->targets[0].matrix + i * (n + 1), (size_t)n * sizeof(*dense));
  return dense;
}

static const PointsOptions nodal = {
    .num_active_in = 1, .num_active_out = 1, .is_linear = true, .is_nodal = true};

static void check_triples(PointsOperator *r, uint64_t *seed) {
  Triples t;
  int ierr = triples_assemble(r->op, &t);

  (void)seed;
  if (!ierr) {
    double *sum = triples_sum(&t, r->output_size, r->input_size), *dense = dense_of(r);
    double error = reference_distance(r->output_size * r->input_size, sum, dense);
    double tolerance = points_entry_tolerance(r, &r->targets[0]);

    free(sum);
    free(dense);
    CHECK(error <= tolerance, "off by %g, allowed %g", error, tolerance);
  }
  triples_free(&t);
  CHECK_OK(ierr);
}

// In a context where a step down to another backend is an error: all assembly of nodal fields is native.
static void with_strict_operators(Ceed ceed, PointsOptions options, int num, uint64_t seed,
                                  void (*check)(PointsOperator *r, uint64_t *seed)) {
  const char *resource = "";

  CHECK_OK(CeedGetResource(ceed, &resource));
  setenv("RITZ_STRICT", "1", 1);
  Ceed strict = tap_ceed(resource);
  unsetenv("RITZ_STRICT");
  with_operators(strict, options, num, seed, check);
  CeedDestroy(&strict);
}

TEST_EACH_BACKEND(assembled_triples_at_points_are_the_matrix) {
  PointsOptions several = nodal;

  with_strict_operators(ceed, nodal, num_draws(2), 2000000, check_triples);
  several.num_active_in = several.num_active_out = 2;
  with_strict_operators(ceed, several, num_draws(4), 2100000, check_triples);
}

static void check_csr(PointsOperator *r, uint64_t *seed) {
  CeedSize num_rows = 0, num_cols = 0;
  int64_t *row_starts = NULL, *cols = NULL;
  CeedVector v = NULL;
  double *dense = dense_of(r), worst = 0.0;
  int ierr = RitzOperatorAssembleCSRSymbolic(r->op, &num_rows, &num_cols, &row_starts, &cols);

  (void)seed;
  if (!ierr) ierr = CeedVectorCreate(r->ceed, row_starts[num_rows], &v);
  if (!ierr) ierr = RitzOperatorAssembleCSR(r->op, row_starts, cols, v);
  if (!ierr) {
    double *values = reference_new_values(v);

    for (CeedSize i = 0; i < num_rows; i++)
      for (int64_t k = row_starts[i]; k < row_starts[i + 1]; k++) dense[i * num_cols + cols[k]] -= values[k];
    worst = reference_largest(num_rows * num_cols, dense);
    free(values);
  }
  free(dense);
  free(row_starts);
  free(cols);
  CeedVectorDestroy(&v);
  CHECK_OK(ierr);
  CHECK(worst <= points_entry_tolerance(r, &r->targets[0]), "off by %g", worst);
}

TEST_EACH_BACKEND(sparse_rows_at_points_are_the_matrix) {
  with_operators(ceed, nodal, num_draws(4), 2200000, check_csr);
}

static void check_triples_with_reuse(PointsOperator *r, uint64_t *seed) {
  CHECK_OK(CeedOperatorSetQFunctionAssemblyReuse(r->op, true));
  check_triples(r, seed);
}

TEST_EACH_BACKEND(assembly_at_points_from_kept_data_gives_the_matrix) {
  with_operators(ceed, nodal, num_draws(4), 2300000, check_triples_with_reuse);
}

// The diagonals of the element matrices of one space: in the triples, c_in = c_out and i = j.
typedef struct {
  CeedSize k; // next triple
  const Triples *triples;
  double *diagonal;
} DiagonalSum;

static void add_pair_diagonal(const PointsOperator *r, const PointsSpace *in, const PointsSpace *out,
                              DiagonalSum *sum) {
  CeedSize size = (CeedSize)in->elem_size * out->elem_size * in->num_comp * out->num_comp * r->num_elem;

  for (CeedSize k = 0; k < size && in == out; k++) {
    CeedSize j = k % in->elem_size, i = k / in->elem_size % out->elem_size,
             c = k / ((CeedSize)in->elem_size * out->elem_size) % ((CeedSize)in->num_comp * in->num_comp);

    if (i != j || c % in->num_comp != c / in->num_comp) continue;
    sum->diagonal[sum->triples->rows[sum->k + k]] += sum->triples->values[sum->k + k];
  }
  sum->k += size;
}

// Numbers of the active spaces in the order of their first appearance.
static int list_spaces(const PointsField *fields, int num, int *spaces) {
  int n = 0;

  for (int i = 0; i < num; i++) {
    int k = 0;

    while (k < n && spaces[k] != fields[i].space) k++;
    if (fields[i].is_active && k == n) spaces[n++] = fields[i].space;
  }
  return n;
}

static int assemble_diagonal(const PointsOperator *r, double **values) {
  CeedVector v = NULL;
  int ierr = CeedVectorCreate(r->ceed, r->input_size, &v);

  if (!ierr) ierr = CeedOperatorLinearAssembleDiagonal(r->op, v, CEED_REQUEST_IMMEDIATE);
  *values = ierr ? NULL : reference_new_values(v);
  CeedVectorDestroy(&v);
  return ierr;
}

static void check_nodal_diagonal(PointsOperator *r, uint64_t *seed) {
  int in[RANDOM_MAX_FIELDS], out[RANDOM_MAX_FIELDS];
  int num_in = list_spaces(r->in, r->num_in, in), num_out = list_spaces(r->out, r->num_out, out);
  Triples t;
  double *values = NULL, *wanted = reference_new(r->input_size), error = NAN;
  DiagonalSum sum = {0, &t, wanted};
  int ierr = triples_assemble(r->op, &t);

  (void)seed;
  for (int k = 0; !ierr && k < num_in * num_out; k++)
    add_pair_diagonal(r, &r->spaces[in[k / num_out]], &r->spaces[out[k % num_out]], &sum);
  if (!ierr) ierr = assemble_diagonal(r, &values);
  if (!ierr) error = reference_distance(r->input_size, values, wanted);
  free(values);
  free(wanted);
  triples_free(&t);
  CHECK_OK(ierr);
  CHECK(error <= 2 * points_entry_tolerance(r, &r->targets[0]), "off by %g", error);
}

TEST_EACH_BACKEND(diagonals_at_points_are_those_of_element_matrices) {
  PointsOptions options = nodal;

  options.copies_inputs = true;
  with_strict_operators(ceed, options, num_draws(2), 3000000, check_nodal_diagonal);
  options.num_active_in = 2;
  with_strict_operators(ceed, options, num_draws(4), 3100000, check_nodal_diagonal);
}

// No two points share an entry: with one space the diagonal is that of the matrix.
static void check_points_diagonal(PointsOperator *r, uint64_t *seed) {
  int spaces[RANDOM_MAX_FIELDS];
  double *values = NULL, worst = 0.0;

  (void)seed;
  if (list_spaces(r->in, r->num_in, spaces) > 1) return;
  CHECK_OK(assemble_diagonal(r, &values));
  for (CeedSize k = 0; k < r->input_size; k++)
    worst = tap_larger(worst, fabs(values[k] - r->targets[0].matrix[k * (r->input_size + 1) + k]));
  free(values);
  CHECK(worst <= 2 * points_entry_tolerance(r, &r->targets[0]), "off by %g", worst);
}

TEST_EACH_BACKEND(diagonals_of_fields_on_the_points_are_exact) {
  const PointsOptions options = {
      .num_active_in = 1, .is_linear = true, .is_on_points = true, .copies_inputs = true};

  with_operators(ceed, options, num_draws(2), 3200000, check_points_diagonal);
}

// ---- Assembled QFunctions ----

// Derivatives D[o][i] at a point: of the context, times what the passive inputs make of it. They are found by
// applying the user's function to unit vectors at each point: an operator with all inputs and outputs on the
// points, whose active inputs are those of r.
static int add_active_fields(const PointsOperator *r, CeedQFunction qf, AssembledContext *c) {
  *c = (AssembledContext){0};
  for (int i = 0; i < r->num_in; i++) {
    if (!r->in[i].is_active) continue;
    c->in_size[c->num_in++] = r->in[i].size;
    CeedCall(CeedQFunctionAddInput(qf, r->in[i].name, r->in[i].size, r->in[i].mode));
  }
  for (int i = 0; i < r->num_out; i++) {
    if (!r->out[i].is_active) continue;
    c->out_size[c->num_out++] = r->out[i].size;
    c->N_out += r->out[i].size;
    CeedCall(CeedQFunctionAddOutput(qf, r->out[i].name, r->out[i].size, r->out[i].mode));
  }
  return CEED_ERROR_SUCCESS;
}

static int set_active_fields(const PointsOperator *r, CeedOperator op) {
  for (int i = 0; i < r->num_in + r->num_out; i++) {
    const PointsField *f = i < r->num_in ? &r->in[i] : &r->out[i - r->num_in];
    const PointsSpace *s = &r->spaces[f->space];

    if (f->is_active) CeedCall(CeedOperatorSetField(op, f->name, s->rstr, s->basis, CEED_VECTOR_ACTIVE));
  }
  return CEED_ERROR_SUCCESS;
}

static int create_twin(const PointsOperator *r, CeedVector assembled, CeedElemRestriction rstr,
                       CeedOperator *op) {
  CeedQFunction qf = NULL;
  CeedQFunctionContext context = NULL;
  AssembledContext c;
  CeedInt num_comp = 0;
  int ierr = CeedQFunctionCreateInterior(r->ceed, 1, ApplyAssembled, ApplyAssembled_loc, &qf);

  if (!ierr) ierr = CeedElemRestrictionGetNumComponents(rstr, &num_comp);
  if (!ierr) ierr = add_active_fields(r, qf, &c);
  if (!ierr) ierr = CeedQFunctionAddInput(qf, "A", num_comp, CEED_EVAL_NONE);
  if (!ierr) ierr = CeedQFunctionContextCreate(r->ceed, &context);
  if (!ierr) ierr = CeedQFunctionContextSetData(context, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(c), &c);
  if (!ierr) ierr = CeedQFunctionSetContext(qf, context);
  if (!ierr) ierr = CeedOperatorCreateAtPoints(r->ceed, qf, NULL, NULL, op);
  if (!ierr) ierr = set_active_fields(r, *op);
  if (!ierr) ierr = CeedOperatorSetField(*op, "A", rstr, CEED_BASIS_NONE, assembled);
  if (!ierr) ierr = CeedOperatorAtPointsSetPoints(*op, r->rstr_points, r->coords);
  CeedQFunctionContextDestroy(&context);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

static void check_twin(PointsOperator *r, uint64_t *seed) {
  CeedVector assembled = NULL;
  CeedElemRestriction rstr = NULL;
  CeedOperator twin = NULL;
  Vectors v = make_vectors(r, seed);
  double *y = reference_new(r->output_size), error = NAN;
  double tolerance = 2 * points_target_apply(r, &r->targets[0], v.x, y);
  int ierr = CeedOperatorLinearAssembleQFunction(r->op, &assembled, &rstr, CEED_REQUEST_IMMEDIATE);

  if (!ierr) ierr = create_twin(r, assembled, rstr, &twin);
  if (!ierr) ierr = CeedOperatorApply(twin, v.in, v.out, CEED_REQUEST_IMMEDIATE);
  if (!ierr) {
    double *values = reference_new_values(v.out);

    error = reference_distance(r->output_size, values, y);
    free(values);
  }
  free(y);
  free_vectors(&v);
  CeedOperatorDestroy(&twin);
  CeedVectorDestroy(&assembled);
  CeedElemRestrictionDestroy(&rstr);
  CHECK_OK(ierr);
  CHECK(error <= tolerance, "off by %g, allowed %g", error, tolerance);
}

TEST_EACH_BACKEND(assembled_qfunctions_at_points_serve_as_passive_fields) {
  with_strict_operators(ceed, nodal, num_draws(2), 4000000, check_twin);
}

// ---- Points at the quadrature points ----

// v = w u, dv = w du with the weights as a field: an ordinary operator, or one at points, where weights
// are 1.
typedef struct {
  CeedInt dim, num_comp, P_1d, Q_1d, num_elem;
  CeedQuadMode mode;
  CeedElemRestriction rstr; // owned
  CeedBasis basis;          // owned
  CeedSize size;            // of the L-vector
} Setting;

static int create_qfunction(Ceed ceed, const Setting *s, bool takes_weights, CeedQFunction *qf) {
  CeedQFunctionContext context = NULL;
  MassContext c = {{s->num_comp, s->num_comp * s->dim}};
  int ierr = CeedQFunctionCreateInterior(ceed, 1, MassAndDiffusion, MassAndDiffusion_loc, qf);

  if (!ierr) ierr = CeedQFunctionAddInput(*qf, "u", c.size[0], CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionAddInput(*qf, "du", c.size[1], CEED_EVAL_GRAD);
  if (!ierr) ierr = CeedQFunctionAddInput(*qf, "w", 1, takes_weights ? CEED_EVAL_WEIGHT : CEED_EVAL_NONE);
  if (!ierr) ierr = CeedQFunctionAddOutput(*qf, "v", c.size[0], CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionAddOutput(*qf, "dv", c.size[1], CEED_EVAL_GRAD);
  if (!ierr) ierr = CeedQFunctionContextCreate(ceed, &context);
  if (!ierr) ierr = CeedQFunctionContextSetData(context, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(c), &c);
  if (!ierr) ierr = CeedQFunctionSetContext(*qf, context);
  CeedQFunctionContextDestroy(&context);
  return ierr;
}

static int set_nodal_fields(const Setting *s, CeedOperator op) {
  static const char *const names[] = {"u", "du", "v", "dv"};

  for (int i = 0; i < 4; i++)
    CeedCall(CeedOperatorSetField(op, names[i], s->rstr, s->basis, CEED_VECTOR_ACTIVE));
  return CEED_ERROR_SUCCESS;
}

static int create_ordinary(Ceed ceed, const Setting *s, CeedOperator *op) {
  CeedQFunction qf = NULL;
  int ierr = create_qfunction(ceed, s, true, &qf);

  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, op);
  if (!ierr) ierr = set_nodal_fields(s, *op);
  if (!ierr) ierr = CeedOperatorSetField(*op, "w", CEED_ELEMRESTRICTION_NONE, s->basis, CEED_VECTOR_NONE);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

// All elements have their points at the quadrature points, in another order each; weights are looked up.
static int create_points(Ceed ceed, const Setting *s, int num_comp, CeedElemRestriction *rstr) {
  CeedInt Q = CeedIntPow(s->Q_1d, s->dim), num = s->num_elem * Q, first = s->num_elem + 1;
  CeedInt *lists = calloc((size_t)(first + num), sizeof(*lists));

  for (CeedInt e = 0; e <= s->num_elem; e++) lists[e] = first + e * Q;
  for (CeedInt k = 0; k < num; k++) lists[first + k] = k / Q * Q + (k + k / Q) % Q;
  int ierr = CeedElemRestrictionCreateAtPoints(ceed, s->num_elem, num, num_comp, (CeedSize)num * num_comp,
                                               CEED_MEM_HOST, CEED_COPY_VALUES, lists, rstr);
  free(lists);
  return ierr;
}

static int create_at_points(Ceed ceed, const Setting *s, CeedOperator *op) {
  CeedInt Q = CeedIntPow(s->Q_1d, s->dim), num = s->num_elem * Q;
  double q_ref[REFERENCE_MAX_1D], q_weight[REFERENCE_MAX_1D], *x = reference_new((CeedSize)num * s->dim),
                                                              *w = reference_new(num);
  CeedQFunction qf = NULL;
  CeedElemRestriction rstr_x = NULL, rstr_w = NULL;

  reference_quadrature(s->mode, s->Q_1d, q_ref, q_weight);
  for (CeedInt k = 0; k < num; k++) {
    w[k] = 1.0;
    for (CeedInt d = 0, q = k % Q; d < s->dim; d++, q /= s->Q_1d) {
      x[k * s->dim + d] = q_ref[q % s->Q_1d];
      w[k] *= q_weight[q % s->Q_1d];
    }
  }
  CeedVector x_vec = reference_vector(ceed, (CeedSize)num * s->dim, x),
             w_vec = reference_vector(ceed, num, w);
  int ierr = create_qfunction(ceed, s, false, &qf);

  if (!ierr) ierr = create_points(ceed, s, s->dim, &rstr_x);
  if (!ierr) ierr = create_points(ceed, s, 1, &rstr_w);
  if (!ierr) ierr = CeedOperatorCreateAtPoints(ceed, qf, NULL, NULL, op);
  if (!ierr) ierr = set_nodal_fields(s, *op);
  if (!ierr) ierr = CeedOperatorSetField(*op, "w", rstr_w, CEED_BASIS_NONE, w_vec);
  if (!ierr) ierr = CeedOperatorAtPointsSetPoints(*op, rstr_x, x_vec);
  CeedQFunctionDestroy(&qf);
  CeedElemRestrictionDestroy(&rstr_x);
  CeedElemRestrictionDestroy(&rstr_w);
  CeedVectorDestroy(&x_vec);
  CeedVectorDestroy(&w_vec);
  free(x);
  free(w);
  return ierr;
}

static int create_setting(Ceed ceed, Setting *s) {
  CeedInt P = CeedIntPow(s->P_1d, s->dim), num_nodes = s->num_elem * (P - 1) + 1;
  CeedInt *offsets = calloc((size_t)(s->num_elem * P), sizeof(*offsets));

  s->size = (CeedSize)num_nodes * s->num_comp;
  for (CeedInt k = 0; k < s->num_elem * P; k++) offsets[k] = k / P * (P - 1) + k % P;
  int ierr = CeedElemRestrictionCreate(ceed, s->num_elem, P, s->num_comp, num_nodes, s->size, CEED_MEM_HOST,
                                       CEED_COPY_VALUES, offsets, &s->rstr);
  if (!ierr)
    ierr = CeedBasisCreateTensorH1Lagrange(ceed, s->dim, s->num_comp, s->P_1d, s->Q_1d, s->mode, &s->basis);
  free(offsets);
  return ierr;
}

static void compare_with_ordinary(Ceed ceed, Setting s) {
  CeedOperator op[2] = {NULL};
  double *matrix[2] = {NULL}, largest = 0.0, error = NAN;
  int ierr = create_setting(ceed, &s);

  if (!ierr) ierr = create_ordinary(ceed, &s, &op[0]);
  if (!ierr) ierr = create_at_points(ceed, &s, &op[1]);
  for (int k = 0; !ierr && k < 2; k++) {
    Triples t;

    ierr = triples_assemble(op[k], &t);
    if (!ierr) matrix[k] = triples_sum(&t, s.size, s.size);
    triples_free(&t);
  }
  if (!ierr) {
    largest = reference_largest(s.size * s.size, matrix[0]);
    error = reference_distance(s.size * s.size, matrix[0], matrix[1]);
  }
  for (int k = 0; k < 2; k++) {
    CeedOperatorDestroy(&op[k]);
    free(matrix[k]);
  }
  CeedElemRestrictionDestroy(&s.rstr);
  CeedBasisDestroy(&s.basis);
  CHECK_OK(ierr);
  // Derivatives of the interpolant at its own points: errors grow like Q_1d^2.
  CHECK(error <= 20 * s.Q_1d * s.Q_1d * s.dim * eps * largest, "%dD, P %d, Q %d: off by %g of %g", s.dim,
        s.P_1d, s.Q_1d, error, largest);
}

TEST_EACH_BACKEND(points_at_the_quadrature_points_reproduce_ordinary_operators) {
  for (CeedInt dim = 1; dim <= 3; dim++) {
    for (CeedInt k = 0; k < 6 && !tap_failed(); k++) {
      CeedInt P_1d = 2 + k % 3;
      Setting s = {.dim = dim, .num_comp = 1 + k % 2, .P_1d = P_1d, .Q_1d = P_1d + k / 3, .num_elem = 2};

      if (is_brief(ceed) && (dim + k) % 6 > 0) continue;
      s.mode = k == 4 ? CEED_GAUSS_LOBATTO : CEED_GAUSS;
      compare_with_ordinary(ceed, s);
    }
  }
}

// ---- Bases at points ----

// sum over all monomials of degree < n per direction, with coefficients c[n^dim]; derivative -1: the value.
static double polynomial(CeedInt dim, CeedInt n, const double *c, const double *x, CeedInt derivative) {
  double sum = 0.0;

  for (CeedInt k = 0; k < CeedIntPow(n, dim); k++) {
    double term = c[k];

    for (CeedInt d = 0, rest = k; d < dim; d++, rest /= n) {
      CeedInt power = rest % n;

      if (d == derivative) term *= power;
      for (CeedInt i = d == derivative; i < power; i++) term *= x[d];
    }
    sum += term;
  }
  return sum;
}

typedef struct {
  CeedInt dim, num_comp, P_1d, Q_1d, num_points;
  double *coefficients; // owned, [num_comp][n^dim] of polynomials of degree n - 1, n = min(P_1d, Q_1d)
  double *x;            // owned, [dim][num_points]
  CeedVector points;    // owned
  CeedBasis basis;      // owned
} Evaluation;

static int evaluation_create(Ceed ceed, uint64_t *seed, Evaluation *e) {
  CeedInt n = CeedIntMin(e->P_1d, e->Q_1d);

  e->coefficients = reference_new_random((CeedSize)e->num_comp * CeedIntPow(n, e->dim), seed);
  e->x = reference_new_random((CeedSize)e->dim * e->num_points, seed);
  // The ends of the interval are points, too.
  for (CeedInt d = 0; d < e->dim && e->num_points > 1; d++) {
    e->x[d * e->num_points] = -1.0;
    e->x[d * e->num_points + 1] = 1.0;
  }
  e->points = reference_vector(ceed, (CeedSize)e->dim * e->num_points, e->x);
  return CeedBasisCreateTensorH1Lagrange(ceed, e->dim, e->num_comp, e->P_1d, e->Q_1d, CEED_GAUSS, &e->basis);
}

static void evaluation_destroy(Evaluation *e) {
  free(e->coefficients);
  free(e->x);
  CeedVectorDestroy(&e->points);
  CeedBasisDestroy(&e->basis);
}

// Values of the polynomials at the nodes, [num_comp][P].
static CeedVector nodal_values(Ceed ceed, const Evaluation *e) {
  CeedInt P = CeedIntPow(e->P_1d, e->dim), n = CeedIntMin(e->P_1d, e->Q_1d);
  double nodes[REFERENCE_MAX_1D], x[3], *u = reference_new((CeedSize)e->num_comp * P);

  reference_quadrature(CEED_GAUSS_LOBATTO, e->P_1d, nodes, NULL);
  for (CeedInt c = 0; c < e->num_comp; c++) {
    for (CeedInt p = 0; p < P; p++) {
      for (CeedInt d = 0, rest = p; d < e->dim; d++, rest /= e->P_1d) x[d] = nodes[rest % e->P_1d];
      u[c * P + p] = polynomial(e->dim, n, e->coefficients + c * CeedIntPow(n, e->dim), x, -1);
    }
  }
  CeedVector vec = reference_vector(ceed, (CeedSize)e->num_comp * P, u);
  free(u);
  return vec;
}

static void check_polynomials(Ceed ceed, Evaluation *e, bool is_gradient) {
  CeedInt n = CeedIntMin(e->P_1d, e->Q_1d), num_directions = is_gradient ? e->dim : 1;
  CeedSize length = (CeedSize)num_directions * e->num_comp * e->num_points;
  CeedVector u = nodal_values(ceed, e), v = NULL;
  double worst = 0.0, largest = 1.0;

  CHECK_OK(CeedVectorCreate(ceed, length, &v));
  int ierr = CeedBasisApplyAtPoints(e->basis, 1, &e->num_points, CEED_NOTRANSPOSE,
                                    is_gradient ? CEED_EVAL_GRAD : CEED_EVAL_INTERP, e->points, u, v);
  double *values = reference_new_values(v);
  for (CeedSize k = 0; k < length; k++) {
    CeedInt i = (CeedInt)(k % e->num_points), c = (CeedInt)(k / e->num_points % e->num_comp),
            d = (CeedInt)(k / e->num_points / e->num_comp);
    double x[3];

    for (CeedInt j = 0; j < e->dim; j++) x[j] = e->x[j * e->num_points + i];
    double wanted =
        polynomial(e->dim, n, e->coefficients + c * CeedIntPow(n, e->dim), x, is_gradient ? d : -1);
    worst = tap_larger(worst, fabs(values[k] - wanted));
    largest = fmax(largest, fabs(wanted));
  }
  free(values);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CHECK_OK(ierr);
  // Coefficients below 1 in size: values of at most n^dim, derivatives of polynomials of degree n - 1.
  CHECK(worst <= 40 * eps * CeedIntPow(n, e->dim) * (is_gradient ? n * n : 1),
        "%dD, %d components, P %d, Q %d: off by %g (values up to %g)", e->dim, e->num_comp, e->P_1d, e->Q_1d,
        worst, largest);
}

// Devices compile a kernel for each number of nodes.
static bool is_left_out(Ceed ceed, CeedInt P_1d) {
  const bool has_time = tap_level() > TAP_QUICK && !is_brief(ceed);
  return !has_time && !tap_runs_pointers(ceed) && P_1d % 2 == 1;
}

static void with_evaluations(Ceed ceed, CeedInt Q_minus_P, void (*check)(Ceed ceed, Evaluation *e)) {
  uint64_t seed = 5000000;

  for (CeedInt dim = 1; dim <= 3; dim++) {
    for (CeedInt num_comp = 1; num_comp <= 3; num_comp++) {
      for (CeedInt P_1d = 2; P_1d <= 5 && !tap_failed(); P_1d++) {
        Evaluation e = {.dim = dim, .num_comp = num_comp, .P_1d = P_1d, .Q_1d = P_1d + Q_minus_P};

        if (e.Q_1d < 2 || is_left_out(ceed, P_1d)) continue;
        e.num_points = 1 + (CeedInt)tap_integer(&seed, 9);
        int ierr = evaluation_create(ceed, &seed, &e);
        if (!ierr) check(ceed, &e);
        evaluation_destroy(&e);
        CHECK_OK(ierr);
      }
    }
  }
}

static void check_values_and_gradients(Ceed ceed, Evaluation *e) {
  check_polynomials(ceed, e, false);
  if (!tap_failed()) check_polynomials(ceed, e, true);
}

TEST_EACH_BACKEND(polynomials_and_their_gradients_are_exact_at_random_points) {
  for (CeedInt more = 0; more <= 2 && !tap_failed(); more += is_brief(ceed) ? 2 : 1)
    with_evaluations(ceed, more, check_values_and_gradients);
}

// With fewer quadrature points than nodes polynomials of the lower degree are still exact.
TEST_EACH_BACKEND(low_polynomials_are_exact_with_fewer_quadrature_points) {
  with_evaluations(ceed, -1, check_values_and_gradients);
  if (!tap_failed() && !is_brief(ceed)) with_evaluations(ceed, -2, check_values_and_gradients);
}

// ... and others are replaced by their interpolants at the quadrature points: x^2 on three nodes and two
// points is 1/3 everywhere.
TEST_EACH_BACKEND(with_fewer_quadrature_points_the_interpolant_is_evaluated) {
  const double squares[3] = {1, 0, 1}, points[3] = {-1, 0.25, 1};
  CeedInt num_points = 3;
  CeedBasis basis = NULL;
  CeedVector u = reference_vector(ceed, 3, squares), x = reference_vector(ceed, 3, points), v = NULL;

  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 3, 2, CEED_GAUSS, &basis));
  CHECK_OK(CeedVectorCreate(ceed, 3, &v));
  for (int is_gradient = 0; is_gradient < 2; is_gradient++) {
    CHECK_OK(CeedBasisApplyAtPoints(basis, 1, &num_points, CEED_NOTRANSPOSE,
                                    is_gradient ? CEED_EVAL_GRAD : CEED_EVAL_INTERP, x, u, v));
    double *values = reference_new_values(v);
    for (int i = 0; i < 3; i++)
      CHECK_NEAR(values[i], is_gradient ? 0.0 : 1.0 / 3.0, 10 * eps, "gradient %d at point %d", is_gradient,
                 i);
    free(values);
  }
  CeedBasisDestroy(&basis);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedVectorDestroy(&x);
}

// ---- Transposes ----

static int apply_basis(const Evaluation *e, CeedTransposeMode t_mode, CeedEvalMode mode, CeedVector u,
                       CeedVector v) {
  return CeedBasisApplyAtPoints(e->basis, 1, &e->num_points, t_mode, mode, e->points, u, v);
}

// (B u) . w = u . (B^T w). The transpose overwrites a longer vector wholly; adding gives twice as much.
static void check_adjoint(Ceed ceed, Evaluation *e, CeedEvalMode mode) {
  CeedSize num_nodes = (CeedSize)e->num_comp * CeedIntPow(e->P_1d, e->dim),
           num_values = (CeedSize)e->num_comp * e->num_points * (mode == CEED_EVAL_GRAD ? e->dim : 1);
  uint64_t seed = 77;
  double *u = reference_new_random(num_nodes, &seed), *w = reference_new_random(num_values, &seed);
  CeedVector u_vec = reference_vector(ceed, num_nodes, u), w_vec = reference_vector(ceed, num_values, w),
             bu = NULL, btw = NULL;

  CHECK_OK(CeedVectorCreate(ceed, num_values, &bu));
  CHECK_OK(CeedVectorCreate(ceed, num_nodes + 2, &btw));
  CHECK_OK(CeedVectorSetValue(btw, 9));
  CHECK_OK(apply_basis(e, CEED_NOTRANSPOSE, mode, u_vec, bu));
  CHECK_OK(apply_basis(e, CEED_TRANSPOSE, mode, w_vec, btw));
  double *bu_values = reference_new_values(bu), *btw_values = reference_new_values(btw);
  double left = reference_dot(num_values, bu_values, w), right = reference_dot(num_nodes, u, btw_values);
  double largest = reference_largest(num_values, bu_values);
  bool is_cleared = btw_values[num_nodes] == 0.0 && btw_values[num_nodes + 1] == 0.0;

  CHECK_OK(
      CeedBasisApplyAddAtPoints(e->basis, 1, &e->num_points, CEED_TRANSPOSE, mode, e->points, w_vec, btw));
  double *twice = reference_new_values(btw), error = 0.0;
  for (CeedSize k = 0; k < num_nodes; k++) error = tap_larger(error, fabs(twice[k] - 2 * btw_values[k]));
  free(u);
  free(w);
  free(bu_values);
  free(btw_values);
  free(twice);
  CeedVectorDestroy(&u_vec);
  CeedVectorDestroy(&w_vec);
  CeedVectorDestroy(&bu);
  CeedVectorDestroy(&btw);
  double tolerance = 40 * eps * (double)(num_values + num_nodes) * fmax(largest, 1.0) * e->Q_1d;
  CHECK_NEAR(left, right, tolerance, "B u . w and u . B^T w");
  CHECK(is_cleared, "the transpose overwrites the whole vector");
  CHECK(error <= tolerance, "adding is off by %g", error);
}

static void check_adjoints(Ceed ceed, Evaluation *e) {
  check_adjoint(ceed, e, CEED_EVAL_INTERP);
  if (!tap_failed()) check_adjoint(ceed, e, CEED_EVAL_GRAD);
}

TEST_EACH_BACKEND(transposed_evaluation_at_points_is_adjoint) {
  for (CeedInt more = -1; more <= 1 && !tap_failed(); more++) {
    if (!is_brief(ceed) || more == 0) with_evaluations(ceed, more, check_adjoints);
  }
}

TEST_EACH_BACKEND(weights_at_points_are_one) {
  CeedInt num_points = 4;
  CeedBasis basis = NULL;
  CeedVector v = NULL;

  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 2, 1, 2, 3, CEED_GAUSS, &basis));
  CHECK_OK(CeedVectorCreate(ceed, 4, &v));
  CHECK_OK(CeedBasisApplyAtPoints(basis, 1, &num_points, CEED_NOTRANSPOSE, CEED_EVAL_WEIGHT, CEED_VECTOR_NONE,
                                  CEED_VECTOR_NONE, v));
  double *values = reference_new_values(v);
  for (int i = 0; i < 4; i++) CHECK(values[i] == 1.0, "weight %d is %g", i, values[i]);
  free(values);
  CeedBasisDestroy(&basis);
  CeedVectorDestroy(&v);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(operators_at_random_points_match_their_dense_matrices,
                        operators_with_several_active_fields_at_points_match_their_dense_matrices,
                        assembled_triples_at_points_are_the_matrix, sparse_rows_at_points_are_the_matrix,
                        assembly_at_points_from_kept_data_gives_the_matrix,
                        diagonals_at_points_are_those_of_element_matrices,
                        diagonals_of_fields_on_the_points_are_exact,
                        assembled_qfunctions_at_points_serve_as_passive_fields,
                        points_at_the_quadrature_points_reproduce_ordinary_operators,
                        polynomials_and_their_gradients_are_exact_at_random_points,
                        low_polynomials_are_exact_with_fewer_quadrature_points,
                        with_fewer_quadrature_points_the_interpolant_is_evaluated,
                        transposed_evaluation_at_points_is_adjoint, weights_at_points_are_one));
}
