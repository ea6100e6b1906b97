// SPDX-License-Identifier: BSD-2-Clause
// What tests of plans share: operators made of a few lines, their plans, and what the matrices of a plan must
// be. Included by tests/test-plan*.c.
#ifndef RITZ_TESTS_PLAN_KIT_H
#define RITZ_TESTS_PLAN_KIT_H

#include "tests/api.h"

#include "plan/cpu.h"
#include "tests/grid.h"
#include "tests/reference.h"
#include <math.h>

// What plans and targets are made for.
typedef struct {
  CeedInt lanes;
  bool allows_text, allows_simple_inputs, allows_even_odd, allows_points, keeps_fetches;
} Machine;

static const Machine eight_lanes = {.lanes = 8, .allows_text = true};

// ---- Operators to plan: everything that a test makes is owned by one object ----

enum { KIT_MAX = 16, NUM_1D = 2 }; // boxes of 2 elements a direction

typedef struct {
  Ceed ceed;
  int num_rstr, num_basis, num_vec;
  CeedElemRestriction rstr[KIT_MAX];
  CeedBasis basis[KIT_MAX];
  CeedVector vec[KIT_MAX];
  CeedOperator op;
  RitzPlan *plan;
  RitzCpuTarget *target;
  RitzPlanCost cost;
  const char *reason;
} Kit;

static inline Kit kit_open(void) { return (Kit){.ceed = tap_ceed("/cpu/self/ref")}; }

static inline void kit_free_plan(Kit *k) {
  ritz_plan_cpu_free(&k->target);
  ritz_plan_free(&k->plan);
}

static inline void kit_close(Kit *k) {
  kit_free_plan(k);
  CeedOperatorDestroy(&k->op);
  for (int i = 0; i < k->num_rstr; i++) CeedElemRestrictionDestroy(&k->rstr[i]);
  for (int i = 0; i < k->num_basis; i++) CeedBasisDestroy(&k->basis[i]);
  for (int i = 0; i < k->num_vec; i++) CeedVectorDestroy(&k->vec[i]);
  CeedDestroy(&k->ceed);
}

// CHECK_OK in a function that has a value; the test goes on until PLAN.
#define NOTE_OK(expr) tap_check_ok((expr), __FILE__, __LINE__, #expr)

// A box, components of a node together.
static inline CeedElemRestriction box(Kit *k, CeedInt dim, CeedInt degree, CeedInt num_comp) {
  CeedElemRestriction *rstr = &k->rstr[k->num_rstr++];

  NOTE_OK(grid_create_restriction(k->ceed, dim, NUM_1D, degree, num_comp, rstr));
  return *rstr;
}

static inline CeedElemRestriction strided(Kit *k, CeedInt num_elem, CeedInt size, CeedInt num_comp) {
  CeedElemRestriction *rstr = &k->rstr[k->num_rstr++];
  CeedSize l_size = (CeedSize)num_elem * size * num_comp;

  NOTE_OK(CeedElemRestrictionCreateStrided(k->ceed, num_elem, size, num_comp, l_size, CEED_STRIDES_BACKEND,
                                           rstr));
  return *rstr;
}

static inline CeedBasis lagrange(Kit *k, CeedInt dim, CeedInt num_comp, CeedInt P, CeedInt Q,
                                 CeedQuadMode mode) {
  CeedBasis *basis = &k->basis[k->num_basis++];

  NOTE_OK(CeedBasisCreateTensorH1Lagrange(k->ceed, dim, num_comp, P, Q, mode, basis));
  return *basis;
}

static inline CeedBasis table_basis(Kit *k, CeedInt dim, CeedInt P, CeedInt Q, const CeedScalar *interp,
                                    const CeedScalar *grad) {
  CeedBasis *basis = &k->basis[k->num_basis++];

  NOTE_OK(CeedBasisCreateTensorH1(k->ceed, dim, 1, P, Q, interp, grad, NULL, NULL, basis));
  return *basis;
}

enum { DENSE_P = 3, DENSE_Q = 4 }; // on triangles

typedef int (*CreateDense)(Ceed ceed, CeedElemTopology topo, CeedInt num_comp, CeedInt num_nodes,
                           CeedInt nqpts, const CeedScalar *interp, const CeedScalar *derivative,
                           const CeedScalar *q_ref, const CeedScalar *q_weights, CeedBasis *basis);

static inline CeedBasis dense(Kit *k, CreateDense create, CeedElemTopology topo, CeedInt num_comp) {
  static const CeedScalar table[3 * DENSE_P * DENSE_Q];
  CeedBasis *basis = &k->basis[k->num_basis++];

  NOTE_OK(create(k->ceed, topo, num_comp, DENSE_P, DENSE_Q, table, table, table, table, basis));
  return *basis;
}

static inline CeedVector vector(Kit *k, CeedSize length) {
  k->vec[k->num_vec] = vector_of(k->ceed, length, NULL);
  return k->vec[k->num_vec++];
}

typedef struct {
  const char *name;
  CeedEvalMode mode;
  CeedElemRestriction rstr;
  CeedBasis basis;
  CeedVector vec;
} Field;

#define ACTIVE(name, mode, rstr, basis)                                                                      \
  { name, CEED_EVAL_##mode, rstr, basis, CEED_VECTOR_ACTIVE }
#define PASSIVE(name, mode, rstr, basis, vec)                                                                \
  { name, CEED_EVAL_##mode, rstr, basis, vec }
#define DATA(name, rstr, vec)                                                                                \
  { name, CEED_EVAL_NONE, rstr, CEED_BASIS_NONE, vec }
#define WEIGHTS(basis)                                                                                       \
  { "weights", CEED_EVAL_WEIGHT, CEED_ELEMRESTRICTION_NONE, basis, CEED_VECTOR_NONE }

static inline int no_function(void *ctx, const CeedInt Q, const CeedScalar *const *in,
                              CeedScalar *const *out) {
  (void)ctx, (void)Q, (void)in, (void)out;
  return CEED_ERROR_SUCCESS;
}

static inline CeedInt size_of(const Field *f) {
  if (f->mode == CEED_EVAL_WEIGHT) return 1;
  if (f->mode == CEED_EVAL_NONE) return f->rstr->num_comp;
  return f->basis->num_comp * ritz_basis_num_q_comp(f->basis, f->mode);
}

static inline void set_operator(Kit *k, CeedQFunction qf, int num, const Field *fields) {
  CHECK_OK(CeedOperatorCreate(k->ceed, qf, NULL, NULL, &k->op));
  for (int i = 0; i < num; i++)
    CHECK_OK(CeedOperatorSetField(k->op, fields[i].name, fields[i].rstr, fields[i].basis, fields[i].vec));
}

// The operator of a function with these fields, inputs first.
static inline void set_function(Kit *k, CeedInt vec_length, const char *source, int num_in, int num_out,
                                const Field *fields) {
  CeedQFunction qf = NULL;

  if (tap_failed()) return;
  CHECK_OK(CeedQFunctionCreateInterior(k->ceed, vec_length, no_function, source, &qf));
  for (int i = 0; i < num_in + num_out; i++) {
    CHECK_OK((i < num_in ? CeedQFunctionAddInput
                         : CeedQFunctionAddOutput)(qf, fields[i].name, size_of(&fields[i]), fields[i].mode));
  }
  set_operator(k, qf, num_in + num_out, fields);
  CHECK_OK(CeedQFunctionDestroy(&qf));
}

static inline void set_gallery(Kit *k, const char *name, int num, const Field *fields) {
  CeedQFunction qf = NULL;

  if (tap_failed()) return;
  CHECK_OK(CeedQFunctionCreateInteriorByName(k->ceed, name, &qf));
  set_operator(k, qf, num, fields);
  CHECK_OK(CeedQFunctionDestroy(&qf));
}

// The definition of rows, from the offsets.
static inline int find_rows(CeedElemRestriction r, CeedInt row_length, CeedInt lanes, bool *has_rows) {
  CeedInt step = r->num_comp > 1 && r->comp_stride == 1 ? r->num_comp : 1;

  (void)lanes;
  *has_rows = r->elem_size % row_length == 0;
  for (CeedInt i = 0; *has_rows && i < r->num_elem * r->elem_size; i++)
    *has_rows = i % row_length == 0 || r->offsets[i] == r->offsets[i - 1] + step;
  return CEED_ERROR_SUCCESS;
}

// Plan and target of an operator; both NULL on failure and where there is no plan.
static inline int plan_and_target(CeedOperator op, const Machine *machine, RitzCpuRows rows, RitzPlan **plan,
                                  RitzCpuTarget **target, const char **reason) {
  const RitzPlanOptions options = {.allows_simple_inputs = machine->allows_simple_inputs,
                                   .allows_even_odd = machine->allows_even_odd,
                                   .allows_blocks = true,
                                   .allows_points = machine->allows_points};
  const RitzCpuMachine cpu = {
      .lanes = machine->lanes, .allows_text = machine->allows_text, .keeps_fetches = machine->keeps_fetches};

  *target = NULL;
  RITZ_TRY(ritz_plan_operator(op, &options, plan, reason));
  if (!*plan) return CEED_ERROR_SUCCESS;
  const int ierr = ritz_plan_cpu(op, *plan, &cpu, rows, target);
  if (ierr) ritz_plan_free(plan);
  return ierr;
}

static inline void make_plan(Kit *k, const Machine *machine, RitzCpuRows rows) {
  if (tap_failed()) return;
  kit_free_plan(k);
  CHECK_OK(plan_and_target(k->op, machine, rows, &k->plan, &k->target, &k->reason));
  CHECK(k->plan && !k->reason, "no plan: %s", k->reason);
  k->cost = ritz_plan_cpu_cost(k->plan, k->target);
}

#define PLAN(k, machine, rows)                                                                               \
  do {                                                                                                       \
    make_plan((k), (machine), (rows));                                                                       \
    if (tap_failed()) return;                                                                                \
  } while (0)

// ---- Matrices of a plan ----

// 16 round-offs are within what a plan may change.
static inline double table_error(const RitzPlanMatrix *A, const CeedScalar *table) {
  double error = 0, largest = 0;

  for (CeedInt k = 0; k < A->rows * A->cols; k++) {
    error = tap_larger(error, fabs((double)(A->values[k] - table[k])));
    largest = fmax(largest, fabs((double)table[k]));
  }
  return largest > 0 ? error / largest : error;
}

static inline bool is_symmetric(const RitzPlanMatrix *A) {
  for (CeedInt k = 0, n = A->rows * A->cols; A->parity && k < n; k++) {
    if (A->values[n - 1 - k] != (CeedScalar)A->parity * A->values[k]) return false;
  }
  return true;
}

// |C B - D| by the largest entry of D.
static inline double collocation_error(const RitzPlanBasis *b) {
  double error = 0, largest = 0;

  for (CeedInt q = 0; q < b->Q_1d; q++) {
    for (CeedInt p = 0; p < b->P_1d; p++) {
      double sum = 0, wanted = (double)b->grad.values[q * b->P_1d + p];
      for (CeedInt k = 0; k < b->Q_1d; k++)
        sum += (double)b->deriv.values[q * b->Q_1d + k] * (double)b->interp.values[k * b->P_1d + p];
      error = tap_larger(error, fabs(sum - wanted));
      largest = fmax(largest, fabs(wanted));
    }
  }
  return largest > 0 ? error / largest : error;
}

static inline void check_matrices(CeedOperator op, const RitzPlanBasis *b) {
  CeedBasis basis = ritz_operator_field(op, b->field)->basis;
  bool has_deriv = b->deriv.values != NULL;

  CHECK(b->interp.rows == basis->Q_1d && b->interp.cols == basis->P_1d, "sizes");
  CHECK_NEAR(table_error(&b->interp, basis->interp_1d), 0.0, 16 * eps, "values");
  CHECK_NEAR(table_error(&b->grad, basis->grad_1d), 0.0, 16 * eps, "derivatives");
  CHECK(is_symmetric(&b->interp) && is_symmetric(&b->grad), "symmetry is exact");
  CHECK(b->route != RITZ_ROUTE_DIRECT || !has_deriv, "the direct route has no derivative at the points");
  if (!has_deriv) return;
  CHECK(b->deriv.rows == b->Q_1d && b->deriv.cols == b->Q_1d && is_symmetric(&b->deriv), "deriv");
  CHECK_NEAR(collocation_error(b), 0.0, 1000 * eps, "C B = D");
}

#endif
