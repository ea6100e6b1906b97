// SPDX-License-Identifier: BSD-2-Clause
// Inputs of degree one and constant inputs: plans recognize them by their tables, and kernels that treat them
// apart give what the reference backend does. The same operators with RITZ_SIMPLE_INPUTS=off are a second
// witness.
#include "tests/plan-kit.h"
#include "tests/simple-inputs-qfunctions.h"
#include "tests/tap.h"

#include <stdlib.h>

enum { NUM_ELEM = 21, NUM_PASSIVE = 5, MAX_DIM = 3 };

// ---- Plans ----

static const Machine with_simple_inputs = {.lanes = 8, .allows_text = true, .allows_simple_inputs = true};

// The kind of a passive input on this basis.
static RitzInputKind input_kind(Kit *k, CeedBasis basis, CeedInt num_nodes, CeedEvalMode mode,
                                const Machine *machine) {
  const CeedInt num_elem = 8;
  CeedElemRestriction rstr = strided(k, num_elem, num_nodes, 1), nodes = box(k, 3, 2, 1);
  CeedBasis basis_u = lagrange(k, 3, 1, 3, 4, CEED_GAUSS);
  const Field fields[] = {ACTIVE("u", INTERP, nodes, basis_u),
                          {"p", mode, rstr, basis, vector(k, (CeedSize)num_elem * num_nodes)},
                          ACTIVE("v", INTERP, nodes, basis_u)};

  set_function(k, 1, "", 2, 1, fields);
  make_plan(k, machine, NULL);
  const RitzInputKind kind = tap_failed() ? RITZ_INPUT_CONTRACTED : k->plan->spaces[1].kind;
  NOTE_OK(CeedOperatorDestroy(&k->op));
  return kind;
}

static CeedBasis tensor_basis(Kit *k, CeedInt P, const CeedScalar *interp, const CeedScalar *grad,
                              const CeedScalar *points) {
  static const CeedScalar weights[4] = {1, 1, 1, 1};
  CeedBasis *basis = &k->basis[k->num_basis++];

  NOTE_OK(CeedBasisCreateTensorH1(k->ceed, 3, 1, P, 4, interp, grad, points, weights, basis));
  return *basis;
}

// Tables of degree one at given points, with an error in one entry.
static void fill_degree_one(const CeedScalar *points, CeedScalar error, CeedScalar *interp,
                            CeedScalar *grad) {
  for (int q = 0; q < 4; q++) {
    interp[2 * q] = (1 - points[q]) / 2, interp[2 * q + 1] = (1 + points[q]) / 2;
    grad[2 * q] = -(CeedScalar)0.5, grad[2 * q + 1] = (CeedScalar)0.5;
  }
  interp[3] += error;
}

TEST(tables_of_degree_one_are_recognized_up_to_rounding) {
  static const CeedScalar points[4] = {-(CeedScalar)0.9, -(CeedScalar)0.2, (CeedScalar)0.4, (CeedScalar)0.8};
  CeedScalar interp[8], grad[8];
  Kit k = kit_open();

  fill_degree_one(points, (CeedScalar)(4 * eps), interp, grad);
  CHECK(input_kind(&k, tensor_basis(&k, 2, interp, grad, points), 8, CEED_EVAL_GRAD, &with_simple_inputs) ==
            RITZ_INPUT_LINEAR,
        "4 round-offs");
  fill_degree_one(points, (CeedScalar)(100 * eps), interp, grad);
  CHECK(input_kind(&k, tensor_basis(&k, 2, interp, grad, points), 8, CEED_EVAL_GRAD, &with_simple_inputs) ==
            RITZ_INPUT_CONTRACTED,
        "100 round-offs");
  fill_degree_one(points, 0, interp, grad);
  grad[5] = 1;
  CHECK(input_kind(&k, tensor_basis(&k, 2, interp, grad, points), 8, CEED_EVAL_GRAD, &with_simple_inputs) ==
            RITZ_INPUT_CONTRACTED,
        "another derivative");
  kit_close(&k);
}

TEST(other_bases_and_machines_go_line_by_line) {
  static const Machine without = {.lanes = 8, .allows_text = true};
  Kit k = kit_open();

  CHECK(input_kind(&k, lagrange(&k, 3, 1, 2, 4, CEED_GAUSS), 8, CEED_EVAL_GRAD, &with_simple_inputs) ==
            RITZ_INPUT_LINEAR,
        "two nodes");
  CHECK(input_kind(&k, lagrange(&k, 3, 1, 3, 4, CEED_GAUSS), 27, CEED_EVAL_GRAD, &with_simple_inputs) ==
            RITZ_INPUT_CONTRACTED,
        "three nodes");
  CHECK(input_kind(&k, lagrange(&k, 3, 1, 2, 4, CEED_GAUSS), 8, CEED_EVAL_GRAD, &without) ==
            RITZ_INPUT_CONTRACTED,
        "a machine without simple inputs");
  kit_close(&k);
}

TEST(one_node_is_constant_and_its_gradient_what_the_table_says) {
  static const CeedScalar twos[4] = {2, 2, 2, 2}, slopes[4] = {3, 3, 3, 3}, rising[4] = {1, 2, 3, 4};
  Kit k = kit_open();
  CeedBasis constant = tensor_basis(&k, 1, twos, slopes, rising);

  CHECK(input_kind(&k, constant, 1, CEED_EVAL_GRAD, &with_simple_inputs) == RITZ_INPUT_CONSTANT, "constant");
  for (int b = 0; b < k.plan->num_bases; b++) {
    if (k.plan->bases[b].P != 1) continue;
    CHECK(k.plan->bases[b].constant_interp[0] == 8, "2 in each direction");
    for (int d = 0; d < 3; d++) CHECK(k.plan->bases[b].constant_deriv[d] == 12, "3 in one, 2 in the others");
  }
  CHECK(input_kind(&k, tensor_basis(&k, 1, rising, slopes, rising), 1, CEED_EVAL_INTERP,
                   &with_simple_inputs) == RITZ_INPUT_CONTRACTED,
        "one node, but not constant");
  kit_close(&k);
}

// Values and gradients of two nodes at 64 points: the first node's are 1e18, the second one's `second` (4 of
// them, repeated).
static CeedBasis dense_basis(Kit *k, const CeedScalar second[4]) {
  CeedScalar table[2 * 3 * 64], zeros[3 * 64] = {0};
  CeedBasis *basis = &k->basis[k->num_basis++];

  for (int i = 0; i < 3 * 64; i++) table[2 * i] = (CeedScalar)1e18, table[2 * i + 1] = second[i % 4];
  NOTE_OK(CeedBasisCreateH1(k->ceed, CEED_TOPOLOGY_HEX, 1, 2, 64, table, table, zeros, zeros, basis));
  return *basis;
}

TEST(nodes_are_constant_by_their_own_scale) {
  static const CeedScalar same[4] = {2, 2, 2, 2}, other[4] = {2, 2, 3, 2};
  Kit k = kit_open();

  for (int i = 0; i < 2; i++) {
    const CeedEvalMode mode = i ? CEED_EVAL_GRAD : CEED_EVAL_INTERP;
    CHECK(input_kind(&k, dense_basis(&k, same), 2, mode, &with_simple_inputs) == RITZ_INPUT_CONSTANT,
          "constant");
    CHECK(input_kind(&k, dense_basis(&k, other), 2, mode, &with_simple_inputs) == RITZ_INPUT_CONTRACTED,
          "a small node that is not constant beside a large one");
  }
  kit_close(&k);
}

// A table of one point has nothing to save by, and loops over its nodes would be unrolled.
TEST(tables_of_one_point_stay_tables) {
  static const CeedScalar table[3 * 8] = {1, 2, 3, 4, 5, 6, 7, 8};
  Kit k = kit_open();
  CeedBasis *basis = &k.basis[k.num_basis++];
  CeedElemRestriction nodes = strided(&k, 8, 8, 1);

  NOTE_OK(CeedBasisCreateH1(k.ceed, CEED_TOPOLOGY_HEX, 1, 8, 1, table, table, table, table, basis));
  const Field fields[] = {{"p", CEED_EVAL_INTERP, nodes, *basis, vector(&k, 64)},
                          ACTIVE("v", INTERP, nodes, *basis)};
  set_function(&k, 1, "", 1, 1, fields);
  make_plan(&k, &with_simple_inputs, NULL);
  CHECK(k.plan && k.plan->spaces[0].kind == RITZ_INPUT_CONTRACTED, "not constant");
  kit_close(&k);
}

// ---- Operators ----

// A table of dim + 1 nodes, values v_0 = 1 - sum r_d, v_d = r_d at the points: a constant gradient. Nobody
// asks for the values.
static int simplex_basis(Ceed ceed, CeedInt dim, CeedInt Q_1d, CeedInt num_comp, CeedBasis *basis) {
  static const CeedElemTopology topologies[] = {CEED_TOPOLOGY_LINE, CEED_TOPOLOGY_QUAD, CEED_TOPOLOGY_HEX};
  const CeedInt Q = CeedIntPow(Q_1d, dim), P = dim + 1;
  CeedScalar *interp = calloc((size_t)Q * (size_t)P, sizeof(CeedScalar)),
             *grad = calloc((size_t)dim * (size_t)Q * (size_t)P, sizeof(CeedScalar)),
             *other = calloc((size_t)dim * (size_t)Q, sizeof(CeedScalar));

  for (CeedInt d = 0; d < dim; d++) {
    for (CeedInt q = 0; q < Q; q++) {
      grad[(d * Q + q) * P] = -1;
      grad[(d * Q + q) * P + d + 1] = 1;
    }
  }
  const int ierr =
      CeedBasisCreateH1(ceed, topologies[dim - 1], num_comp, P, Q, interp, grad, other, other, basis);
  free(interp), free(grad), free(other);
  return ierr;
}

// A passive input: a basis, a restriction and random values.
typedef struct {
  CeedBasis basis;
  CeedElemRestriction rstr;
  CeedVector vector;
  CeedEvalMode mode;
  CeedInt size, num_nodes, num_comp;
} Passive;

typedef struct {
  CeedInt dim, P_1d, Q_1d;
  Ceed ceed;
  CeedElemRestriction rstr;
  CeedBasis basis;
  CeedQFunction qf;
  CeedQFunctionContext context;
  Passive passive[NUM_PASSIVE];
  CeedOperator op;
  CeedSize l_size;
} Case;

static CeedInt *random_offsets(CeedInt num_nodes, CeedInt num_comp, CeedSize l_size, uint64_t *seed) {
  CeedInt *offsets = malloc((size_t)NUM_ELEM * (size_t)num_nodes * sizeof(*offsets));
  const int64_t places = l_size / num_comp;

  for (CeedInt i = 0; i < NUM_ELEM * num_nodes; i++)
    offsets[i] = num_comp * (CeedInt)tap_integer(seed, places);
  return offsets;
}

static CeedElemRestriction random_restriction(Case *c, CeedInt num_nodes, CeedInt num_comp, CeedSize l_size,
                                              uint64_t *seed) {
  CeedInt *offsets = random_offsets(num_nodes, num_comp, l_size, seed);
  CeedElemRestriction rstr = NULL;

  NOTE_OK(CeedElemRestrictionCreate(c->ceed, NUM_ELEM, num_nodes, num_comp, 1, l_size, CEED_MEM_HOST,
                                    CEED_COPY_VALUES, offsets, &rstr));
  free(offsets);
  return rstr;
}

static void fill_passive(Case *c, Passive *p, bool is_strided, uint64_t *seed) {
  const CeedSize l_size = (CeedSize)p->num_comp * p->num_nodes * NUM_ELEM;
  const CeedInt strides[3] = {p->num_comp, 1, p->num_comp * p->num_nodes};

  if (is_strided)
    NOTE_OK(CeedElemRestrictionCreateStrided(c->ceed, NUM_ELEM, p->num_nodes, p->num_comp, l_size, strides,
                                             &p->rstr));
  else
    p->rstr = random_restriction(c, p->num_nodes, p->num_comp, l_size, seed);
  double *values = reference_new_random(l_size, seed);
  p->vector = reference_vector(c->ceed, l_size, values);
  free(values);
}

// Degree one: values and gradient of two components (one space), a gradient of one component; constants: one
// node, strided; the gradient of dim + 1 nodes.
static void make_passive(Case *c, uint64_t *seed) {
  static const CeedScalar ones[8] = {1, 1, 1, 1, 1, 1, 1, 1}, zeros[8];
  const CeedInt dim = c->dim, Q = c->Q_1d;
  Passive *p = c->passive;

  p[0] = (Passive){.mode = CEED_EVAL_INTERP, .size = 2, .num_nodes = CeedIntPow(2, dim), .num_comp = 2};
  NOTE_OK(CeedBasisCreateTensorH1Lagrange(c->ceed, dim, 2, 2, Q, CEED_GAUSS, &p[0].basis));
  fill_passive(c, &p[0], false, seed);
  p[1] = (Passive){.mode = CEED_EVAL_GRAD, .size = 2 * dim, .num_nodes = p[0].num_nodes, .num_comp = 2};
  NOTE_OK(CeedBasisReferenceCopy(p[0].basis, &p[1].basis));
  NOTE_OK(CeedElemRestrictionReferenceCopy(p[0].rstr, &p[1].rstr));
  NOTE_OK(CeedVectorReferenceCopy(p[0].vector, &p[1].vector));
  p[2] = (Passive){.mode = CEED_EVAL_GRAD, .size = dim, .num_nodes = p[0].num_nodes, .num_comp = 1};
  NOTE_OK(CeedBasisCreateTensorH1Lagrange(c->ceed, dim, 1, 2, Q, CEED_GAUSS, &p[2].basis));
  fill_passive(c, &p[2], true, seed);
  p[3] = (Passive){.mode = CEED_EVAL_INTERP, .size = 3, .num_nodes = 1, .num_comp = 3};
  NOTE_OK(CeedBasisCreateTensorH1(c->ceed, dim, 3, 1, Q, ones, zeros, zeros, ones, &p[3].basis));
  fill_passive(c, &p[3], true, seed);
  p[4] = (Passive){.mode = CEED_EVAL_GRAD, .size = 2 * dim, .num_nodes = dim + 1, .num_comp = 2};
  NOTE_OK(simplex_basis(c->ceed, dim, Q, 2, &p[4].basis));
  fill_passive(c, &p[4], false, seed);
}

static void make_function(Case *c) {
  SimpleInputsContext simple;
  char name[16];

  for (int f = 0; f < NUM_PASSIVE; f++) simple.num[f] = c->passive[f].size;
  NOTE_OK(CeedQFunctionCreateInterior(c->ceed, 1, SimpleInputs, SimpleInputs_loc, &c->qf));
  NOTE_OK(CeedQFunctionAddInput(c->qf, "u", 1, CEED_EVAL_INTERP));
  NOTE_OK(CeedQFunctionAddInput(c->qf, "w", 1, CEED_EVAL_WEIGHT));
  for (int f = 0; f < NUM_PASSIVE; f++) {
    snprintf(name, sizeof(name), "p%d", f);
    NOTE_OK(CeedQFunctionAddInput(c->qf, name, c->passive[f].size, c->passive[f].mode));
  }
  NOTE_OK(CeedQFunctionAddOutput(c->qf, "v", 1, CEED_EVAL_INTERP));
  NOTE_OK(CeedQFunctionContextCreate(c->ceed, &c->context));
  NOTE_OK(CeedQFunctionContextSetData(c->context, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(simple), &simple));
  NOTE_OK(CeedQFunctionSetContext(c->qf, c->context));
  NOTE_OK(CeedQFunctionSetContextWritable(c->qf, false));
}

static void make_operator(Case *c) {
  char name[16];

  NOTE_OK(CeedOperatorCreate(c->ceed, c->qf, NULL, NULL, &c->op));
  NOTE_OK(CeedOperatorSetField(c->op, "u", c->rstr, c->basis, CEED_VECTOR_ACTIVE));
  NOTE_OK(CeedOperatorSetField(c->op, "w", CEED_ELEMRESTRICTION_NONE, c->basis, CEED_VECTOR_NONE));
  for (int f = 0; f < NUM_PASSIVE; f++) {
    const Passive *p = &c->passive[f];
    snprintf(name, sizeof(name), "p%d", f);
    NOTE_OK(CeedOperatorSetField(c->op, name, p->rstr, p->basis, p->vector));
  }
  NOTE_OK(CeedOperatorSetField(c->op, "v", c->rstr, c->basis, CEED_VECTOR_ACTIVE));
}

static void case_open(Ceed ceed, CeedInt dim, CeedInt P_1d, CeedInt Q_1d, Case *c) {
  uint64_t seed = (uint64_t)(100 * dim + 10 * P_1d + Q_1d);
  const CeedInt num_nodes = CeedIntPow(P_1d, dim);

  *c = (Case){.dim = dim, .P_1d = P_1d, .Q_1d = Q_1d, .ceed = ceed, .l_size = NUM_ELEM * num_nodes / 2};
  c->rstr = random_restriction(c, num_nodes, 1, c->l_size, &seed);
  NOTE_OK(CeedBasisCreateTensorH1Lagrange(ceed, dim, 1, P_1d, Q_1d, CEED_GAUSS, &c->basis));
  make_passive(c, &seed);
  make_function(c);
  make_operator(c);
}

static void case_close(Case *c) {
  CeedOperatorDestroy(&c->op);
  CeedQFunctionDestroy(&c->qf);
  CeedQFunctionContextDestroy(&c->context);
  CeedElemRestrictionDestroy(&c->rstr);
  CeedBasisDestroy(&c->basis);
  for (int f = 0; f < NUM_PASSIVE; f++) {
    CeedElemRestrictionDestroy(&c->passive[f].rstr);
    CeedBasisDestroy(&c->passive[f].basis);
    CeedVectorDestroy(&c->passive[f].vector);
  }
}

// Results of an apply to random numbers, or the diagonal: [l_size], to be freed.
static double *evaluate(Ceed ceed, CeedInt dim, CeedInt P_1d, CeedInt Q_1d, bool is_diagonal,
                        CeedSize *size) {
  uint64_t seed = 7;
  Case c;

  case_open(ceed, dim, P_1d, Q_1d, &c);
  double *in = reference_new_random(c.l_size, &seed), *out = reference_new(c.l_size);
  CeedVector u = reference_vector(ceed, c.l_size, in), v = reference_vector(ceed, c.l_size, out);
  const CeedScalar *array = NULL;

  NOTE_OK(is_diagonal ? CeedOperatorLinearAssembleDiagonal(c.op, v, CEED_REQUEST_IMMEDIATE)
                      : CeedOperatorApply(c.op, u, v, CEED_REQUEST_IMMEDIATE));
  NOTE_OK(CeedVectorGetArrayRead(v, CEED_MEM_HOST, &array));
  for (CeedSize i = 0; array && i < c.l_size; i++) out[i] = (double)array[i];
  NOTE_OK(CeedVectorRestoreArrayRead(v, &array));
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  free(in);
  *size = c.l_size;
  case_close(&c);
  return out;
}

// Sums of up to 40 products a point, of hundreds of points, of several elements at a node: 1000 round-offs of
// the largest result.
static void check_equal(Ceed ceed, CeedInt dim, CeedInt P_1d, CeedInt Q_1d, bool is_diagonal) {
  Ceed ref = tap_ceed("/cpu/self/ref");
  CeedSize size = 0;
  double *wanted = evaluate(ref, dim, P_1d, Q_1d, is_diagonal, &size);
  double *found = evaluate(ceed, dim, P_1d, Q_1d, is_diagonal, &size);

  if (!tap_failed())
    CHECK_NEAR(reference_distance(size, found, wanted), 0.0, 1000 * eps * reference_largest(size, wanted),
               "%dD, %d nodes, %d points%s", (int)dim, (int)P_1d, (int)Q_1d, is_diagonal ? ", diagonal" : "");
  free(wanted);
  free(found);
  CeedDestroy(&ref);
}

TEST_EACH_BACKEND(operators_with_simple_inputs_are_those_of_the_reference) {
  const CeedInt max_dim = tap_compiles_slowly(ceed) && tap_level() == TAP_QUICK ? 1 : MAX_DIM;

  for (CeedInt dim = 1; dim <= max_dim && !tap_failed(); dim++) check_equal(ceed, dim, 3, 4, false);
  if (tap_compiles_slowly(ceed)) return;
  for (CeedInt dim = 1; dim <= MAX_DIM && !tap_failed(); dim++) {
    check_equal(ceed, dim, 2, 2, false);
    if (tap_level() >= TAP_FULL) check_equal(ceed, dim, 5, 7 - dim, false);
  }
}

TEST_EACH_BACKEND(diagonals_with_simple_inputs_are_those_of_the_reference) {
  const CeedInt min_dim = tap_compiles_slowly(ceed) || tap_level() == TAP_QUICK ? 3 : 1;

  if (tap_compiles_slowly(ceed) && tap_level() == TAP_QUICK) NOT_FOR_THIS_BACKEND("at a higher level");
  for (CeedInt dim = min_dim; dim <= MAX_DIM && !tap_failed(); dim++) check_equal(ceed, dim, 3, 4, true);
}

TEST(functions_called_by_pointer_see_simple_inputs_row_by_row) {
  setenv("RITZ_QFUNCTION", "pointer", 1);
  Ceed ceed = tap_ceed("/cpu/self/gen");

  for (CeedInt dim = 1; dim <= MAX_DIM && !tap_failed(); dim++) check_equal(ceed, dim, 3, 4, false);
  CeedDestroy(&ceed);
  unsetenv("RITZ_QFUNCTION");
}

TEST(simple_inputs_can_be_switched_off) {
  Ceed ceed = tap_ceed("/cpu/self/gen");
  const char *source = NULL;
  Case with, without;

  case_open(ceed, 3, 3, 4, &with);
  CHECK_OK(RitzOperatorGetSource(with.op, &source));
  CHECK(source && strstr(source, "ritz_take_slopes") && strstr(source, "ritz_take_constants"),
        "simple inputs");
  setenv("RITZ_SIMPLE_INPUTS", "off", 1);
  case_open(ceed, 3, 3, 4, &without);
  CHECK_OK(RitzOperatorGetSource(without.op, &source));
  CHECK(source && !strstr(source, "ritz_take_slopes") && !strstr(source, "ritz_take_constants"),
        "no simple inputs");
  check_equal(ceed, 3, 3, 4, false);
  unsetenv("RITZ_SIMPLE_INPUTS");
  case_close(&with);
  case_close(&without);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(tables_of_degree_one_are_recognized_up_to_rounding, other_bases_and_machines_go_line_by_line,
            one_node_is_constant_and_its_gradient_what_the_table_says, nodes_are_constant_by_their_own_scale,
            tables_of_one_point_stay_tables, operators_with_simple_inputs_are_those_of_the_reference,
            diagonals_with_simple_inputs_are_those_of_the_reference,
            functions_called_by_pointer_see_simple_inputs_row_by_row, simple_inputs_can_be_switched_off));
}
