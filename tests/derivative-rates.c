// SPDX-License-Identifier: BSD-2-Clause
// Rates of a residual, of its Jacobian by hand and of its derivatives, which store at points what their names
// say (RitzOperatorCreateDerivativeStored), on a cube of N^3 hexahedra with stored factors; each with
// functions of <math.h> for vectors and for one number at a time (RITZ_VECTOR_MATH):
//
//     derivative-rates [--ceed RESOURCE] [--text NAME] [--degree P] [--level P] [--points Q] [--cells N]
//                      [--rounds N]
//
// --level: Jacobians are timed on their level of multigrid of that degree, with the points of the fine one.
// Texts: neo-Hookean (tests/hyperelastic-qfunctions.h), of its energy (energy-qfunctions.h), Poisson
// (derivative-qfunctions.h), plastic (plastic-qfunctions.h). One thread. Operators take turns; medians of the
// times of the thread on its processor, on devices of the clock over 20 applies, and of their ratios. The
// last line: what a new state costs, the first apply with it less a further one.
#pragma GCC diagnostic ignored "-Wunused-function" // texts that are not timed
#include "tests/derivative-qfunctions.h"
#include "tests/energy-qfunctions.h"
#include "tests/plastic-qfunctions.h"

#include <ceed/backend.h>
#include <math.h>
#include <ritz.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  RESIDUAL,
  BY_HAND,
  DERIVATIVE,
  INPUTS,
  MATRIX,
  NUM_KINDS,
  NUM_OPS = 2 * NUM_KINDS,
  MAX_ROUNDS = 1001,
};

// Functions of u, if has_value, and its gradient.
typedef struct {
  const char *name;
  CeedQFunctionUser residual, by_hand; // by_hand NULL: none
  const char *residual_loc, *by_hand_loc;
  CeedInt num_comp;
  bool has_value, is_energy; // is_energy: the residual is the gradient of that
  double state;              // largest value
} Text;

static const Text texts[] = {
    {"neo-Hookean", HyperelasticResidual, HyperelasticJacobian, HyperelasticResidual_loc,
     HyperelasticJacobian_loc, 3, false, false, 0.02},
    {"energy", HyperelasticEnergy, HyperelasticJacobian, HyperelasticEnergy_loc, HyperelasticJacobian_loc, 3,
     false, true, 0.02},
    {"Poisson", PoissonResidual, PoissonJacobian, PoissonResidual_loc, PoissonJacobian_loc, 1, true, false,
     1},
    {"plastic", PlasticResidual, NULL, PlasticResidual_loc, NULL, 3, false, false, 0.02},
};
enum { NUM_TEXTS = sizeof(texts) / sizeof(texts[0]) };

typedef struct {
  const char *resource;
  const Text *text;
  CeedInt degree, level, points, cells, rounds;
} Options;

typedef struct {
  Ceed ceed;
  const Text *text;
  CeedSize size, level_size;
  CeedElemRestriction rstr, level_rstr, rstr_q, rstr_e;
  CeedBasis basis, level_basis;
  CeedQFunctionContext ctx;
  CeedVector qdata, state, y, x, z; // x, z: of the level
  CeedOperator ops[NUM_OPS];        // with functions for vectors, then without
} Bench;

static const Text *find_text(const char *name) {
  for (int i = 0; i < NUM_TEXTS; i++) {
    if (!strcmp(texts[i].name, name)) return &texts[i];
  }
  return NULL;
}

static bool set_option(Options *o, const char *name, const char *text) {
  if (!strcmp(name, "--ceed")) return o->resource = text, true;
  if (!strcmp(name, "--text")) return (o->text = find_text(text)) != NULL;
  if (!strcmp(name, "--degree")) return (o->degree = atoi(text)) > 0;
  if (!strcmp(name, "--level")) return (o->level = atoi(text)) > 0;
  if (!strcmp(name, "--points")) return (o->points = atoi(text)) > 0;
  if (!strcmp(name, "--cells")) return (o->cells = atoi(text)) > 0;
  if (!strcmp(name, "--rounds")) return (o->rounds = atoi(text)) > 0 && o->rounds <= MAX_ROUNDS;
  return false;
}

// ---- The problem ----

static int make_nodes(const Options *o, CeedInt p, Bench *b, CeedSize *size, CeedElemRestriction *rstr) {
  const CeedInt N = o->cells, P = p + 1, n = N * p + 1, nc = o->text->num_comp;
  CeedInt *offsets = malloc((size_t)(N * N * N * P * P * P) * sizeof(*offsets)), k = 0;

  for (CeedInt e = 0; e < N * N * N; e++) {
    for (CeedInt i = 0; i < P * P * P; i++) {
      const CeedInt x = p * (e % N) + i % P, y = p * (e / N % N) + i / P % P, z = p * (e / N / N) + i / P / P;
      offsets[k++] = nc * (x + n * (y + n * z));
    }
  }
  *size = (CeedSize)nc * n * n * n;
  CeedCall(CeedElemRestrictionCreate(b->ceed, N * N * N, P * P * P, nc, 1, *size, CEED_MEM_HOST,
                                     CEED_COPY_VALUES, offsets, rstr));
  free(offsets);
  return CEED_ERROR_SUCCESS;
}

static int make_points(const Options *o, CeedInt num, Bench *b, CeedElemRestriction *rstr) {
  const CeedInt N = o->cells, Q3 = o->points * o->points * o->points, strides[3] = {1, Q3, num * Q3};

  return CeedElemRestrictionCreateStrided(b->ceed, N * N * N, Q3, num, (CeedSize)num * N * N * N * Q3,
                                          strides, rstr);
}

static int make_restrictions(const Options *o, Bench *b) {
  CeedCall(make_nodes(o, o->degree, b, &b->size, &b->rstr));
  CeedCall(make_nodes(o, o->level, b, &b->level_size, &b->level_rstr));
  CeedCall(make_points(o, 1, b, &b->rstr_e));
  return make_points(o, 10, b, &b->rstr_q);
}

static int fill(CeedVector vec, const double *values, CeedSize block, double noise) {
  uint64_t seed = 7;
  CeedScalar *a;
  CeedSize n;

  CeedCall(CeedVectorGetLength(vec, &n));
  CeedCall(CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &a));
  for (CeedSize i = 0; i < n; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    a[i] = (CeedScalar)(values[i / block % 10] + noise * (double)(seed >> 40) / (1 << 24));
  }
  return CeedVectorRestoreArray(vec, &a);
}

static int make_data(const Options *o, Bench *b) {
  const double zero[10] = {0}, factors[10] = {0.01, 2, 0.1, -0.2, 0.3, 1.5, 0.1, 0, 0.2, 1.8};
  const Material material = {7, {1.5, 2.5}, 0.9, {3, 0.7}};
  CeedVector *const vectors[] = {&b->state, &b->y, &b->x, &b->z};

  CeedCall(CeedBasisCreateTensorH1Lagrange(b->ceed, 3, o->text->num_comp, o->level + 1, o->points, CEED_GAUSS,
                                           &b->level_basis));
  CeedCall(CeedBasisCreateTensorH1Lagrange(b->ceed, 3, o->text->num_comp, o->degree + 1, o->points,
                                           CEED_GAUSS, &b->basis));
  CeedCall(CeedElemRestrictionCreateVector(b->rstr_q, &b->qdata, NULL));
  CeedCall(fill(b->qdata, factors, (CeedSize)o->points * o->points * o->points, 0));
  for (int i = 0; i < 4; i++)
    CeedCall(CeedVectorCreate(b->ceed, i < 2 ? b->size : b->level_size, vectors[i]));
  CeedCall(fill(b->state, zero, 1, o->text->state));
  CeedCall(fill(b->x, zero, 1, 1));
  CeedCall(CeedQFunctionContextCreate(b->ceed, &b->ctx));
  return CeedQFunctionContextSetData(b->ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(material),
                                     (void *)&material);
}

static int set_inputs(const Bench *b, CeedOperator op, bool is_direction, CeedVector vec) {
  if (b->text->has_value)
    CeedCall(CeedOperatorSetField(op, is_direction ? "w" : "u", b->rstr, b->basis, vec));
  return CeedOperatorSetField(op, is_direction ? "dw" : "du", b->rstr, b->basis, vec);
}

static int add_inputs(const Bench *b, CeedQFunction qf, bool is_direction) {
  const CeedInt nc = b->text->num_comp;
  if (b->text->has_value) CeedCall(CeedQFunctionAddInput(qf, is_direction ? "w" : "u", nc, CEED_EVAL_INTERP));
  return CeedQFunctionAddInput(qf, is_direction ? "dw" : "du", 3 * nc, CEED_EVAL_GRAD);
}

static int make_operator_of(Bench *b, CeedQFunction qf, bool is_jacobian, bool is_energy, CeedOperator *op) {
  CeedCall(add_inputs(b, qf, false));
  CeedCall(CeedQFunctionAddInput(qf, "qdata", 10, CEED_EVAL_NONE));
  if (is_jacobian) CeedCall(add_inputs(b, qf, true));
  CeedCall(is_energy ? CeedQFunctionAddOutput(qf, "dv", 1, CEED_EVAL_NONE)
                     : CeedQFunctionAddOutput(qf, "dv", 3 * b->text->num_comp, CEED_EVAL_GRAD));
  CeedCall(CeedQFunctionSetContext(qf, b->ctx));
  CeedCall(CeedQFunctionSetContextWritable(qf, false));
  CeedCall(CeedOperatorCreate(b->ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, op));
  CeedCall(set_inputs(b, *op, false, is_jacobian ? b->state : CEED_VECTOR_ACTIVE));
  CeedCall(CeedOperatorSetField(*op, "qdata", b->rstr_q, CEED_BASIS_NONE, b->qdata));
  if (is_jacobian) CeedCall(set_inputs(b, *op, true, CEED_VECTOR_ACTIVE));
  return is_energy ? CeedOperatorSetField(*op, "dv", b->rstr_e, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE)
                   : CeedOperatorSetField(*op, "dv", b->rstr, b->basis, CEED_VECTOR_ACTIVE);
}

static int make_operator(Bench *b, bool is_jacobian, CeedOperator *op) {
  const Text *text = b->text;
  const bool is_energy = text->is_energy && !is_jacobian;
  CeedQFunction qf = NULL;
  CeedOperator made = NULL;

  CeedCall(CeedQFunctionCreateInterior(b->ceed, 1, is_jacobian ? text->by_hand : text->residual,
                                       is_jacobian ? text->by_hand_loc : text->residual_loc, &qf));
  CeedCall(make_operator_of(b, qf, is_jacobian, is_energy, &made));
  CeedCall(CeedQFunctionDestroy(&qf));
  if (!is_energy) return *op = made, CEED_ERROR_SUCCESS;
  CeedCall(RitzOperatorCreateGradient(made, op));
  return CeedOperatorDestroy(&made);
}

static int make_derivative(const Bench *b, int k, CeedOperator residual, CeedOperator *op) {
  static const RitzDerivativeStorage storage[NUM_KINDS] = {
      [DERIVATIVE] = RITZ_STORED_NOTHING, [INPUTS] = RITZ_STORED_INPUTS, [MATRIX] = RITZ_STORED_MATRIX};
  const RitzDerivativeOptions options = {.storage = storage[k]};

  return RitzOperatorCreateDerivativeStored(residual, b->state, &options, op);
}

// The input and output of a kind of operator: Jacobians at the state.
static CeedVector input_of(const Bench *b, int op) { return op % NUM_KINDS == RESIDUAL ? b->state : b->x; }

static CeedVector output_of(const Bench *b, int op) { return op % NUM_KINDS == RESIDUAL ? b->y : b->z; }

// The level in the place of the operator.
static int make_level(const Options *o, const Bench *b, CeedOperator *op) {
  CeedOperator level = NULL;

  if (o->level == o->degree) return CEED_ERROR_SUCCESS;
  CeedCall(CeedOperatorMultigridLevelCreate(*op, NULL, b->level_rstr, b->level_basis, &level, NULL, NULL));
  CeedCall(CeedOperatorDestroy(op));
  *op = level;
  return CEED_ERROR_SUCCESS;
}

// Kernels are made here, by the first applies.
static int make_operators(const Options *o, Bench *b) {
  for (int k = 0; k < NUM_OPS; k++) {
    const int kind = k % NUM_KINDS;
    setenv("RITZ_VECTOR_MATH", k < NUM_KINDS ? "on" : "off", 1);
    if (kind == BY_HAND && !b->text->by_hand) continue;
    if (kind >= DERIVATIVE)
      CeedCall(make_derivative(b, kind, b->ops[k - kind], &b->ops[k]));
    else
      CeedCall(make_operator(b, kind == BY_HAND, &b->ops[k]));
    if (kind != RESIDUAL) CeedCall(make_level(o, b, &b->ops[k]));
    CeedCall(CeedOperatorApply(b->ops[k], input_of(b, k), output_of(b, k), CEED_REQUEST_IMMEDIATE));
  }
  return CEED_ERROR_SUCCESS;
}

static int bench_close(Bench *b) {
  CeedVector *const vectors[] = {&b->qdata, &b->state, &b->y, &b->x, &b->z};

  for (int k = 0; k < NUM_OPS; k++) CeedCall(CeedOperatorDestroy(&b->ops[k]));
  for (int i = 0; i < 5; i++) CeedCall(CeedVectorDestroy(vectors[i]));
  CeedCall(CeedQFunctionContextDestroy(&b->ctx));
  CeedCall(CeedElemRestrictionDestroy(&b->rstr));
  CeedCall(CeedElemRestrictionDestroy(&b->level_rstr));
  CeedCall(CeedElemRestrictionDestroy(&b->rstr_q));
  CeedCall(CeedElemRestrictionDestroy(&b->rstr_e));
  CeedCall(CeedBasisDestroy(&b->basis));
  CeedCall(CeedBasisDestroy(&b->level_basis));
  return CeedDestroy(&b->ceed);
}

// ---- Times ----

static bool is_device(const Options *o) { return !strncmp(o->resource, "/gpu", 4); }

static double seconds(const Options *o) {
  struct timespec t;

  clock_gettime(is_device(o) ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Of one apply, the mean of num. The norm waits for a device.
static int time_apply(const Options *o, const Bench *b, int op, int num, double *time) {
  CeedScalar norm;

  const double begin = seconds(o);
  for (int i = 0; i < num; i++)
    CeedCall(CeedOperatorApply(b->ops[op], input_of(b, op), output_of(b, op), CEED_REQUEST_IMMEDIATE));
  if (is_device(o)) CeedCall(CeedVectorNorm(output_of(b, op), CEED_NORM_MAX, &norm));
  *time = (seconds(o) - begin) / num;
  return CEED_ERROR_SUCCESS;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

// The median of times a, or of a over b.
static double median(int num, const double *a, const double *b) {
  double sorted[MAX_ROUNDS];

  for (int i = 0; i < num; i++) sorted[i] = b ? a[i] / b[i] : a[i];
  qsort(sorted, (size_t)num, sizeof(*sorted), ascending);
  return sorted[num / 2];
}

static void print(const Options *o, const Bench *b, double times[NUM_OPS][MAX_ROUNDS],
                  double first[NUM_OPS][MAX_ROUNDS]) {
  static const char *const names[NUM_KINDS] = {"residual", "by hand", "nothing", "inputs", "matrix"};

  printf("%s, degree %d, %d points a direction, %d^3 elements, %lld unknowns, Jacobians of degree %d\n",
         b->text->name, (int)o->degree, (int)o->points, (int)o->cells, (long long)b->size, (int)o->level);
  printf("%-12s %16s %16s %10s %16s %18s\n", "", "scalar, MDOF/s", "vector, MDOF/s", "time/time",
         "nothing / this", "new state, applies");
  for (int k = 0; k < NUM_KINDS; k++) {
    if (!b->ops[k]) continue;
    const double millions = 1e-6 * (double)(k == RESIDUAL ? b->size : b->level_size);
    printf("%-12s %16.1f %16.1f %10.2f", names[k], millions / median(o->rounds, times[NUM_KINDS + k], NULL),
           millions / median(o->rounds, times[k], NULL), median(o->rounds, times[NUM_KINDS + k], times[k]));
    if (k >= DERIVATIVE)
      printf(" %16.2f %18.1f", median(o->rounds, times[DERIVATIVE], times[k]),
             median(o->rounds, first[k], times[k]) - 1);
    printf("\n");
  }
  if (!b->text->by_hand) return;
  printf("derivative by hand, time/time: scalar %.2f, vector %.2f\n",
         median(o->rounds, times[NUM_KINDS + DERIVATIVE], times[NUM_KINDS + BY_HAND]),
         median(o->rounds, times[DERIVATIVE], times[BY_HAND]));
}

// Where something is stored a new state costs more; else it costs what a further apply costs.
static int measure(const Options *o, Bench *b) {
  static double times[NUM_OPS][MAX_ROUNDS], first[NUM_OPS][MAX_ROUNDS];

  for (int i = 0; i < o->rounds; i++) {
    CeedCall(CeedVectorScale(b->state, 1)); // a new state
    for (int k = 0; k < NUM_OPS; k++) {
      if (!b->ops[k]) continue;
      CeedCall(time_apply(o, b, k, 1, &first[k][i]));
      CeedCall(time_apply(o, b, k, is_device(o) ? 20 : 1, &times[k][i]));
    }
  }
  print(o, b, times, first);
  return CEED_ERROR_SUCCESS;
}

int main(int argc, char **argv) {
  Options o = {"/cpu/self/gen:threads=1", texts, 3, 0, 5, 8, 101};
  Bench b = {0};

  for (int i = 1; i < argc; i += 2) {
    if (i + 1 < argc && set_option(&o, argv[i], argv[i + 1])) continue;
    fprintf(stderr,
            "derivative-rates: what is '%s'? The head of tests/derivative-rates.c tells the options\n",
            argv[i]);
    return 2;
  }
  setenv("RITZ_WAIT", "1", 1);
  b.text = o.text;
  if (o.level == 0) o.level = o.degree;
  int ierr = CeedInit(o.resource, &b.ceed);
  if (!ierr) ierr = make_restrictions(&o, &b);
  if (!ierr) ierr = make_data(&o, &b);
  if (!ierr) ierr = make_operators(&o, &b);
  if (!ierr) ierr = measure(&o, &b);
  if (!ierr) ierr = bench_close(&b);
  return ierr ? 1 : 0;
}
