// SPDX-License-Identifier: BSD-2-Clause
// A nonlinear system of six unknowns at every point, by Newton's method: the LU factorization of each step in
// a thread's registers within a QFunction (ritz/jit-source/batched-device.h), or all of them in memory by
// GETRF and GETRS (ritz/batched.h).
//
//     newton [RESOURCE] [POINTS / 8]       /cpu/self 2000
//
// Exit status: 1 where steps do not converge quadratically, or the two ways differ.
#include "example.h"

#include "newton-functions.h"

enum { POINTS = 8, MAX_STEPS = 12 }; // points of an "element"

typedef struct {
  Ceed ceed;
  CeedInt num_elem;
  CeedVector initial, hot, record, u, v, one;
  CeedElemRestriction rstr_u, rstr_hot, rstr_record;
  CeedOperator step, system, update;
  RitzBatched factorize, solve;
} Problem;

// Components of a point side by side.
static CeedElemRestriction create_restriction(const Problem *p, CeedInt num_comp) {
  const CeedInt strides[3] = {num_comp, 1, num_comp * POINTS};
  CeedElemRestriction rstr;

  MUST(CeedElemRestrictionCreateStrided(p->ceed, p->num_elem, POINTS, num_comp,
                                        (CeedSize)p->num_elem * POINTS * num_comp, strides, &rstr));
  return rstr;
}

// v of u, u_0 and exp(-1 / temperature), which do not change.
static CeedOperator create_operator(const Problem *p, CeedQFunctionUser f, const char *source,
                                    CeedElemRestriction rstr_v, CeedInt num_v) {
  CeedQFunction qf;
  CeedOperator op;

  MUST(CeedQFunctionCreateInterior(p->ceed, 1, f, source, &qf));
  MUST(CeedQFunctionAddInput(qf, "u", NUM_SPECIES, CEED_EVAL_NONE));
  MUST(CeedQFunctionAddInput(qf, "u_0", NUM_SPECIES, CEED_EVAL_NONE));
  MUST(CeedQFunctionAddInput(qf, "hot", 1, CEED_EVAL_NONE));
  MUST(CeedQFunctionAddOutput(qf, "v", num_v, CEED_EVAL_NONE));
  MUST(CeedOperatorCreate(p->ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &op));
  MUST(CeedOperatorSetField(op, "u", p->rstr_u, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  MUST(CeedOperatorSetField(op, "u_0", p->rstr_u, CEED_BASIS_NONE, p->initial));
  MUST(CeedOperatorSetField(op, "hot", p->rstr_hot, CEED_BASIS_NONE, p->hot));
  MUST(CeedOperatorSetField(op, "v", rstr_v, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  MUST(CeedQFunctionDestroy(&qf));
  return op;
}

static CeedOperator create_update(const Problem *p) {
  CeedQFunction qf;
  CeedOperator op;

  MUST(CeedQFunctionCreateInterior(p->ceed, 1, NewtonUpdate, NewtonUpdate_loc, &qf));
  MUST(CeedQFunctionAddInput(qf, "u", NUM_SPECIES, CEED_EVAL_NONE));
  MUST(CeedQFunctionAddInput(qf, "record", NUM_RECORD, CEED_EVAL_NONE));
  MUST(CeedQFunctionAddOutput(qf, "v", NUM_SPECIES, CEED_EVAL_NONE));
  MUST(CeedOperatorCreate(p->ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &op));
  MUST(CeedOperatorSetField(op, "u", p->rstr_u, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  MUST(CeedOperatorSetField(op, "record", p->rstr_record, CEED_BASIS_NONE, p->record));
  MUST(CeedOperatorSetField(op, "v", p->rstr_u, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  MUST(CeedQFunctionDestroy(&qf));
  return op;
}

static CeedVector create_field(const Problem *p, CeedInt num_comp, double low, double high, uint64_t seed) {
  const CeedSize length = (CeedSize)p->num_elem * POINTS * num_comp;
  CeedVector vec = example_vector(p->ceed, length);
  CeedScalar *values;

  MUST(CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &values));
  for (CeedSize i = 0; i < length; i++)
    values[i] = (CeedScalar)(low + (high - low) * (0.5 + 0.5 * (double)example_random(&seed)));
  MUST(CeedVectorRestoreArray(vec, &values));
  return vec;
}

// The record of a point is a matrix of seven columns: J and, as the last one, -F. The stride is the record's.
static void create_batched(Problem *p) {
  const RitzBatchLayout matrix = {
      .precision = CEED_SCALAR_TYPE, .m = NUM_SPECIES, .n = NUM_SPECIES, .stride = NUM_RECORD};
  const RitzBatchLayout column = {
      .precision = CEED_SCALAR_TYPE, .m = NUM_SPECIES, .n = 1, .stride = NUM_RECORD};
  const RitzBatchedOptions options = {.A = matrix, .B = column};

  MUST(RitzBatchedCreate(p->ceed, RITZ_BATCHED_GETRF, &options, &p->factorize));
  MUST(RitzBatchedCreate(p->ceed, RITZ_BATCHED_GETRS, &options, &p->solve));
}

static void set_up(Problem *p) {
  p->rstr_u = create_restriction(p, NUM_SPECIES);
  p->rstr_hot = create_restriction(p, 1);
  p->rstr_record = create_restriction(p, NUM_RECORD);
  p->initial = create_field(p, NUM_SPECIES, 0.1, 2, 1);
  p->hot = create_field(p, 1, exp(-1 / 0.7), exp(-1 / 1.5), 2);
  p->record = example_vector(p->ceed, (CeedSize)p->num_elem * POINTS * NUM_RECORD);
  p->u = example_vector(p->ceed, (CeedSize)p->num_elem * POINTS * NUM_SPECIES);
  p->v = example_vector(p->ceed, (CeedSize)p->num_elem * POINTS * NUM_SPECIES);
  p->one = example_vector(p->ceed, 1);
  MUST(CeedVectorSetValue(p->one, 1));
  p->step = create_operator(p, NewtonStep, NewtonStep_loc, p->rstr_u, NUM_SPECIES);
  p->system = create_operator(p, NewtonSystem, NewtonSystem_loc, p->rstr_record, NUM_RECORD);
  p->update = create_update(p);
  create_batched(p);
}

static void clean_up(Problem *p) {
  CeedOperatorDestroy(&p->step), CeedOperatorDestroy(&p->system), CeedOperatorDestroy(&p->update);
  RitzBatchedDestroy(&p->factorize), RitzBatchedDestroy(&p->solve);
  CeedVectorDestroy(&p->initial), CeedVectorDestroy(&p->hot), CeedVectorDestroy(&p->record);
  CeedVectorDestroy(&p->u), CeedVectorDestroy(&p->v), CeedVectorDestroy(&p->one);
  CeedElemRestrictionDestroy(&p->rstr_u), CeedElemRestrictionDestroy(&p->rstr_hot);
  CeedElemRestrictionDestroy(&p->rstr_record);
  CeedDestroy(&p->ceed);
}

// ---- A step, v of u ----

static void step_in_registers(const Problem *p, int32_t *ipiv) {
  (void)ipiv;
  MUST(CeedOperatorApply(p->step, p->u, p->v, CEED_REQUEST_IMMEDIATE));
}

static void step_in_batch(const Problem *p, int32_t *ipiv) {
  const int64_t count = (int64_t)p->num_elem * POINTS;

  MUST(CeedOperatorApply(p->system, p->u, p->record, CEED_REQUEST_IMMEDIATE));
  RitzBatchArray J = example_array(p->record, RITZ_ACCESS_READ_WRITE), F = J;
  F.col0 = NUM_SPECIES;
  MUST(RitzGetrfBatched(p->factorize, count, &J, ipiv, NULL));
  MUST(RitzGetrsBatched(p->solve, count, &J, ipiv, &F, NULL));
  MUST(RitzBatchArrayRestoreVector(&J));
  MUST(CeedOperatorApply(p->update, p->u, p->v, CEED_REQUEST_IMMEDIATE));
}

// Steps until they are within rounding; changes [MAX_STEPS]: the largest of each. Returns how many, and in
// *seconds the time of the fastest.
static int iterate(Problem *p, void (*step)(const Problem *p, int32_t *ipiv), double *changes,
                   double *seconds) {
  CeedVector memory = example_vector(p->ceed, (CeedSize)p->num_elem * POINTS * NUM_SPECIES);
  int32_t *ipiv = example_lock_integers(memory);
  int num = 0;

  *seconds = INFINITY;
  MUST(CeedVectorCopy(p->initial, p->u));
  do {
    CeedScalar change;
    const double start = example_seconds(p->one);
    step(p, ipiv);
    *seconds = fmin(*seconds, example_seconds(p->one) - start);
    MUST(RitzVectorSum(p->u, 1, p->v, -1, p->u));
    MUST(CeedVectorNorm(p->u, CEED_NORM_MAX, &change));
    MUST(CeedVectorCopy(p->v, p->u));
    changes[num++] = (double)change;
  } while (num < MAX_STEPS && changes[num - 1] > 100 * example_epsilon());
  example_unlock_integers(memory, &ipiv);
  MUST(CeedVectorDestroy(&memory));
  return num;
}

// Each step that is neither the beginning nor rounding is smaller than the square of the one before, times a
// bound of the second derivative.
static int is_quadratic(int num, const double *changes) {
  int is = num < MAX_STEPS;

  for (int i = 1; i < num && is; i++) {
    if (changes[i - 1] < 0.05)
      is = changes[i] <= 20 * changes[i - 1] * changes[i - 1] + 100 * example_epsilon();
  }
  return is;
}

int main(int argc, char **argv) {
  double changes[2][MAX_STEPS] = {{0}}, seconds[2];
  CeedScalar difference;
  Problem p = {.num_elem = (CeedInt)example_number(argc, argv, 2, 2000)};
  CeedVector first;

  MUST(CeedInit(argc > 1 ? argv[1] : "/cpu/self", &p.ceed));
  set_up(&p);
  first = example_vector(p.ceed, (CeedSize)p.num_elem * POINTS * NUM_SPECIES);
  const int num = iterate(&p, step_in_registers, changes[0], &seconds[0]);
  MUST(CeedVectorCopy(p.u, first));
  const int num_batched = iterate(&p, step_in_batch, changes[1], &seconds[1]);
  MUST(RitzVectorSum(first, 1, first, -1, p.u));
  MUST(CeedVectorNorm(first, CEED_NORM_MAX, &difference));

  printf("%d points, systems of order %d\nstep  largest change, LU in registers  in a batch\n",
         (int)p.num_elem * POINTS, NUM_SPECIES);
  for (int i = 0; i < num || i < num_batched; i++)
    printf("%4d  %33.3g  %10.3g\n", i + 1, changes[0][i], changes[1][i]);
  // A record is written by the system, read and written by GETRF and GETRS, the solution read; or not at all.
  example_print_rate(p.ceed, "a step, LU in registers", seconds[0],
                     (double)p.num_elem * POINTS * (3 * NUM_SPECIES + 1) * sizeof(CeedScalar));
  example_print_rate(p.ceed, "a step, GETRF and GETRS", seconds[1],
                     (double)p.num_elem * POINTS * (6 * NUM_SPECIES + 1 + 4 * NUM_RECORD) *
                         sizeof(CeedScalar));
  printf("difference of the solutions: %.2g\n", (double)difference);
  const int is_good = is_quadratic(num, changes[0]) && is_quadratic(num_batched, changes[1]) &&
                      (double)difference <= 100 * example_epsilon();
  CeedVectorDestroy(&first);
  clean_up(&p);
  return is_good ? 0 : 1;
}
