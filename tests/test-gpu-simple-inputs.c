// SPDX-License-Identifier: BSD-2-Clause
// Fused kernels of /gpu/*/gen for passive inputs of degree one and constant ones, as the geometry of
// trilinear and affine elements has them: applies and diagonals against the reference backend, by lines and
// by whole elements, with tensor and dense active bases.
#include <ritz/operator.h>

#include "base/threads.h"
#include "tests/gpu-kit.h"
#include "tests/gpu-simple-inputs.h"

// ---- Shapes of operators ----

typedef enum {
  NO_SPACE,
  LINEAR,    // two nodes a direction
  ORIENTED,  // the same with signs
  CURLED,    // with curl orientations
  ONE_NODE,  // of a tensor basis, with offsets
  ONE_EACH,  // strided, one node an element, components side by side
  SIMPLEX,   // a dense basis of degree one: dim + 1 nodes
  QUADRATIC, // three nodes a direction: not simple
  DATA,      // at the points
} Kind;

typedef struct {
  Kind kind;
  CeedInt num_comp;
  bool is_interlaced;
} SpaceShape;

typedef struct {
  int space;
  CeedEvalMode mode;
} FieldShape;

enum { MAX_SPACES = 3, MAX_FIELDS = GPU_SIMPLE_MAX - 2 };

// The active space has P nodes a direction, or P in all of a dense basis (Q_1d 0, dim + 6 points).
typedef struct {
  const char *name;
  CeedInt dim, P, Q_1d;
  CeedQuadMode quad_mode;
  CeedInt num_comp;
  CeedEvalMode mode;
  SpaceShape spaces[MAX_SPACES];
  FieldShape fields[MAX_FIELDS]; // up to a mode 0
  const char *word;              // of the text of its kernel
} Shape;

#define INTERP CEED_EVAL_INTERP
#define GRAD   CEED_EVAL_GRAD
#define NONE   CEED_EVAL_NONE
#define GAUSS  CEED_GAUSS
#define NODES  CEED_GAUSS_LOBATTO

// Those of the quick level first.
static const Shape shapes[] = {
    {"lines, trilinear map",
     3,
     4,
     4,
     GAUSS,
     1,
     GRAD,
     {{LINEAR, 3, true}, {ONE_EACH, 2, false}},
     {{0, GRAD}, {0, INTERP}, {1, INTERP}},
     "ritz_linear_gradient(3, 3, 2"},
    {"whole elements in the plane",
     2,
     2,
     3,
     GAUSS,
     1,
     GRAD,
     {{LINEAR, 2, false}, {SIMPLEX, 2, true}},
     {{0, GRAD}, {1, GRAD}},
     "ritz_linear_gradient(2, 2, 0"},
    {"dense bases, elements in stacks",
     2,
     7,
     0,
     GAUSS,
     1,
     GRAD,
     {{SIMPLEX, 2, true}, {DATA, 1, false}},
     {{0, GRAD}, {1, NONE}},
     "ritz_take_constants(4"},
    {"whole elements, trilinear map",
     3,
     2,
     2,
     NODES,
     1,
     GRAD,
     {{LINEAR, 3, true}, {ONE_NODE, 2, true}},
     {{0, GRAD}, {1, INTERP}, {1, GRAD}},
     "ritz_linear_line(3, 3, 0"},
    {"whole elements of three nodes a direction",
     3,
     3,
     4,
     GAUSS,
     1,
     GRAD,
     {{LINEAR, 3, true}},
     {{0, GRAD}, {0, INTERP}},
     "ritz_linear_gradient(3, 3, 0"},
    {"whole elements of three components, affine map",
     3,
     2,
     3,
     GAUSS,
     3,
     GRAD,
     {{SIMPLEX, 3, true}, {LINEAR, 1, false}},
     {{0, GRAD}, {1, INTERP}},
     "ritz_take_constants(9"},
    {"a line", 1, 3, 4, GAUSS, 1, GRAD, {{LINEAR, 2, true}}, {{0, INTERP}, {0, GRAD}}, "ritz_linear_values"},
    {"a line without a bend",
     1,
     3,
     4,
     GAUSS,
     3,
     INTERP,
     {{SIMPLEX, 1, true}},
     {{0, GRAD}},
     "ritz_take_constants(1"},
    {"lines in the plane, derivatives at the points",
     2,
     5,
     6,
     GAUSS,
     1,
     GRAD,
     {{ORIENTED, 2, false}, {CURLED, 1, true}},
     {{0, INTERP}, {1, GRAD}},
     "ritz_linear_gradient(1, 2, 1"},
    {"a surface, values alone",
     2,
     4,
     5,
     GAUSS,
     3,
     INTERP,
     {{LINEAR, 3, true}, {ONE_NODE, 1, false}},
     {{0, GRAD}, {1, GRAD}},
     "ritz_linear_gradient(3, 2, 1"},
    {"nodes that are points, values alone",
     3,
     4,
     4,
     NODES,
     1,
     INTERP,
     {{LINEAR, 1, false}, {DATA, 1, false}},
     {{0, INTERP}, {1, NONE}},
     "ritz_linear_values(1, 3"},
    {"nodes that are points, beside a field that is contracted",
     3,
     4,
     4,
     NODES,
     1,
     GRAD,
     {{SIMPLEX, 3, true}, {QUADRATIC, 1, false}, {ONE_EACH, 1, false}},
     {{0, GRAD}, {1, INTERP}, {2, INTERP}},
     "ritz_take_constants(9"},
    {"dense bases, values and derivatives",
     3,
     5,
     0,
     GAUSS,
     3,
     INTERP,
     {{SIMPLEX, 3, false}},
     {{0, GRAD}},
     "ritz_take_constants(9"},
};
enum { NUM_SHAPES = sizeof(shapes) / sizeof(shapes[0]), NUM_QUICK = 3 };

// ---- Operators ----

// All handles are owned. Space MAX_SPACES is the active one.
typedef struct {
  const Shape *shape;
  CeedInt num_elem, Q;
  uint64_t seed;
  CeedElemRestriction rstr[MAX_SPACES + 1];
  CeedBasis basis[MAX_SPACES + 1];
  CeedVector vec[MAX_SPACES];
  CeedSize length[MAX_SPACES + 1]; // of L-vectors
  CeedQFunction qf;
  CeedOperator op;
} Case;

static bool is_dense(const Case *c) { return c->shape->Q_1d == 0; }

static CeedInt count_nodes(const Case *c, Kind kind) {
  const CeedInt dim = c->shape->dim;

  switch (kind) {
  case NO_SPACE: return is_dense(c) ? c->shape->P : CeedIntPow(c->shape->P, dim);
  case SIMPLEX: return dim + 1;
  case QUADRATIC: return CeedIntPow(3, dim);
  case DATA: return c->Q;
  case ONE_NODE:
  case ONE_EACH: return 1;
  default: return CeedIntPow(2, dim);
  }
}

static int create_signed(Ceed ceed, Case *c, int s, const SpaceShape *space, CeedInt size,
                         const CeedInt *offsets) {
  const CeedInt num = c->num_elem * size, stride = space->is_interlaced ? 1 : num;
  bool *orients = calloc((size_t)num, sizeof(*orients));
  CeedInt8 *rows = calloc(3 * (size_t)num, sizeof(*rows));

  for (CeedInt i = 0; i < num; i++) orients[i] = tap_integer(&c->seed, 2);
  for (CeedInt i = 0; i < 3 * num; i++) rows[i] = (CeedInt8)(tap_integer(&c->seed, 3) - 1);
  for (CeedInt e = 0; e < c->num_elem; e++) rows[3 * e * size] = rows[3 * (e + 1) * size - 1] = 0;
  const int ierr =
      space->kind == ORIENTED
          ? CeedElemRestrictionCreateOriented(ceed, c->num_elem, size, space->num_comp, stride, c->length[s],
                                              CEED_MEM_HOST, CEED_COPY_VALUES, offsets, orients, &c->rstr[s])
          : CeedElemRestrictionCreateCurlOriented(ceed, c->num_elem, size, space->num_comp, stride,
                                                  c->length[s], CEED_MEM_HOST, CEED_COPY_VALUES, offsets,
                                                  rows, &c->rstr[s]);
  free(orients);
  free(rows);
  return ierr;
}

// Some nodes are of several elements.
static int create_offsets(Ceed ceed, Case *c, int s, const SpaceShape *space, CeedInt size) {
  const CeedInt num = c->num_elem * size, nc = space->num_comp;
  CeedInt *offsets = calloc((size_t)num, sizeof(*offsets));
  int ierr;

  for (CeedInt i = 0; i < num; i++)
    offsets[i] = (space->is_interlaced ? nc : 1) * (CeedInt)tap_integer(&c->seed, num);
  if (space->kind == ORIENTED || space->kind == CURLED)
    ierr = create_signed(ceed, c, s, space, size, offsets);
  else
    ierr = CeedElemRestrictionCreate(ceed, c->num_elem, size, nc, space->is_interlaced ? 1 : num,
                                     c->length[s], CEED_MEM_HOST, CEED_COPY_VALUES, offsets, &c->rstr[s]);
  free(offsets);
  return ierr;
}

static int create_restriction(Ceed ceed, Case *c, int s, const SpaceShape *space) {
  const CeedInt size = count_nodes(c, space->kind), nc = space->num_comp;

  c->length[s] = (CeedSize)c->num_elem * size * nc;
  if (space->kind != ONE_EACH && space->kind != DATA) return create_offsets(ceed, c, s, space, size);
  return CeedElemRestrictionCreateStrided(
      ceed, c->num_elem, size, nc, c->length[s],
      space->kind == DATA ? (CeedInt[]){1, size, size * nc} : (CeedInt[]){nc, 1, nc}, &c->rstr[s]);
}

static CeedScalar *draw(uint64_t *seed, CeedInt n) {
  CeedScalar *values = calloc((size_t)n, sizeof(*values));

  for (CeedInt i = 0; i < n; i++) values[i] = (CeedScalar)tap_uniform(seed);
  return values;
}

// Values differ from point to point, derivatives do so unless they are those of a simplex.
static int create_dense(Ceed ceed, Case *c, int s, CeedInt P, CeedInt num_comp, bool is_simplex) {
  static const CeedElemTopology topologies[][3] = {
      {CEED_TOPOLOGY_LINE, CEED_TOPOLOGY_TRIANGLE, CEED_TOPOLOGY_TET},
      {CEED_TOPOLOGY_LINE, CEED_TOPOLOGY_QUAD, CEED_TOPOLOGY_HEX}};
  const CeedInt dim = c->shape->dim, Q = c->Q;
  CeedScalar *values = draw(&c->seed, P * Q), *derivatives = draw(&c->seed, dim * P * Q),
             *points = draw(&c->seed, dim * Q), *weights = draw(&c->seed, Q);

  for (CeedInt k = 0; is_simplex && k < dim * P * Q; k++)
    derivatives[k] = derivatives[k / (P * Q) * (P * Q) + k % P];
  const int ierr = CeedBasisCreateH1(ceed, topologies[!is_dense(c)][dim - 1], num_comp, P, Q, values,
                                     derivatives, points, weights, &c->basis[s]);
  free(values);
  free(derivatives);
  free(points);
  free(weights);
  return ierr;
}

// The value of the node at all points.
static int create_one_node(Ceed ceed, Case *c, int s, CeedInt num_comp) {
  const CeedInt Q_1d = c->shape->Q_1d;
  CeedScalar *ones = draw(&c->seed, Q_1d), *zeros = calloc((size_t)Q_1d, sizeof(*zeros));

  for (CeedInt q = 0; q < Q_1d; q++) ones[q] = 1;
  const int ierr =
      CeedBasisCreateTensorH1(ceed, c->shape->dim, num_comp, 1, Q_1d, ones, zeros, zeros, ones, &c->basis[s]);
  free(ones);
  free(zeros);
  return ierr;
}

static int create_basis(Ceed ceed, Case *c, int s, const SpaceShape *space) {
  const Shape *shape = c->shape;
  const CeedInt P = space->kind == NO_SPACE ? shape->P : space->kind == QUADRATIC ? 3 : 2;

  c->basis[s] = CEED_BASIS_NONE;
  if (space->kind == DATA) return CEED_ERROR_SUCCESS;
  c->basis[s] = NULL;
  if (space->kind == SIMPLEX || is_dense(c))
    return create_dense(ceed, c, s, count_nodes(c, space->kind), space->num_comp, space->kind == SIMPLEX);
  if (space->kind == ONE_NODE || space->kind == ONE_EACH) return create_one_node(ceed, c, s, space->num_comp);
  return CeedBasisCreateTensorH1Lagrange(ceed, shape->dim, space->num_comp, P, shape->Q_1d, shape->quad_mode,
                                         &c->basis[s]);
}

static int create_space(Ceed ceed, Case *c, int s, const SpaceShape *space) {
  CeedCall(create_restriction(ceed, c, s, space));
  CeedCall(create_basis(ceed, c, s, space));
  if (s == MAX_SPACES) return CEED_ERROR_SUCCESS;
  double *values = reference_new_random(c->length[s], &c->seed);
  c->vec[s] = reference_vector(ceed, c->length[s], values);
  free(values);
  return c->vec[s] ? CEED_ERROR_SUCCESS : CEED_ERROR_MAJOR;
}

static int add_input(Case *c, GpuSimpleSizes *sizes, const char *name, int s, CeedInt num_comp,
                     CeedEvalMode mode) {
  CeedInt q_comp = 1;

  if (mode == INTERP || mode == GRAD)
    CeedCall(CeedBasisGetNumQuadratureComponents(c->basis[s], mode, &q_comp));
  sizes->in_size[sizes->num_in++] = q_comp * num_comp;
  return CeedQFunctionAddInput(c->qf, name, q_comp * num_comp, mode);
}

static int create_function(Ceed ceed, Case *c) {
  const Shape *shape = c->shape;
  CeedQFunctionContext context = NULL;
  GpuSimpleSizes sizes = {0};
  char name[16];

  CeedCall(CeedQFunctionCreateInterior(ceed, 1, GpuSimpleInputs, GpuSimpleInputs_loc, &c->qf));
  CeedCall(add_input(c, &sizes, "u", MAX_SPACES, shape->num_comp, shape->mode));
  for (int i = 0; i < MAX_FIELDS && shape->fields[i].mode; i++) {
    const FieldShape *f = &shape->fields[i];
    snprintf(name, sizeof(name), "in %d", i);
    CeedCall(add_input(c, &sizes, name, f->space, shape->spaces[f->space].num_comp, f->mode));
  }
  CeedCall(add_input(c, &sizes, "weight", MAX_SPACES, 1, CEED_EVAL_WEIGHT));
  sizes.out_size = sizes.in_size[0];
  CeedCall(CeedQFunctionAddOutput(c->qf, "v", sizes.out_size, shape->mode));
  CeedCall(CeedQFunctionContextCreate(ceed, &context));
  int ierr = CeedQFunctionContextSetData(context, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(sizes), &sizes);
  if (!ierr) ierr = CeedQFunctionSetContext(c->qf, context);
  CeedQFunctionContextDestroy(&context);
  return ierr;
}

// Weights are those of the first basis, which may be that of a simple input.
static int create_operator(Ceed ceed, Case *c) {
  const Shape *shape = c->shape;
  char name[16];

  CeedCall(CeedOperatorCreate(ceed, c->qf, NULL, NULL, &c->op));
  for (int i = 0; i < MAX_FIELDS && shape->fields[i].mode; i++) {
    const int s = shape->fields[i].space;
    snprintf(name, sizeof(name), "in %d", i);
    CeedCall(CeedOperatorSetField(c->op, name, c->rstr[s], c->basis[s], c->vec[s]));
  }
  CeedCall(CeedOperatorSetField(c->op, "weight", CEED_ELEMRESTRICTION_NONE, c->basis[0], CEED_VECTOR_NONE));
  CeedCall(CeedOperatorSetField(c->op, "u", c->rstr[MAX_SPACES], c->basis[MAX_SPACES], CEED_VECTOR_ACTIVE));
  return CeedOperatorSetField(c->op, "v", c->rstr[MAX_SPACES], c->basis[MAX_SPACES], CEED_VECTOR_ACTIVE);
}

// To be destroyed in any case. The same seed draws the same in every context.
static int case_create(Ceed ceed, const Shape *shape, CeedInt num_elem, Case *c) {
  const CeedInt Q = shape->Q_1d ? CeedIntPow(shape->Q_1d, shape->dim) : shape->dim + 6;

  *c = (Case){.shape = shape, .num_elem = num_elem, .Q = Q, .seed = 4712};
  for (int s = 0; s < MAX_SPACES; s++) {
    if (shape->spaces[s].kind != NO_SPACE) CeedCall(create_space(ceed, c, s, &shape->spaces[s]));
  }
  CeedCall(create_space(ceed, c, MAX_SPACES, &(SpaceShape){NO_SPACE, shape->num_comp, true}));
  CeedCall(create_function(ceed, c));
  return create_operator(ceed, c);
}

static void case_destroy(Case *c) {
  for (int s = 0; s <= MAX_SPACES; s++) {
    CeedElemRestrictionDestroy(&c->rstr[s]);
    CeedBasisDestroy(&c->basis[s]);
    if (s < MAX_SPACES) CeedVectorDestroy(&c->vec[s]);
  }
  CeedQFunctionDestroy(&c->qf);
  CeedOperatorDestroy(&c->op);
}

// y = A x; with x NULL its diagonal.
static int case_apply(Case *c, const double *x, double *y) {
  CeedVector out = NULL;

  if (x) return apply_to_values(c->op, c->length[MAX_SPACES], x, y);
  CeedCall(CeedVectorCreate(CeedOperatorReturnCeed(c->op), c->length[MAX_SPACES], &out));
  const int ierr = CeedOperatorLinearAssembleDiagonal(c->op, out, CEED_REQUEST_IMMEDIATE);
  if (!ierr) reference_values(out, y);
  CeedVectorDestroy(&out);
  return ierr;
}

// ---- Against the reference ----

static void compare(Case *c, Case *reference, bool is_diagonal) {
  const Shape *shape = c->shape;
  const CeedSize length = c->length[MAX_SPACES];
  uint64_t seed = 99;
  double *x = reference_new_random(length, &seed), *y = reference_new(length),
         *wanted = reference_new(length);
  int ierr = case_apply(c, is_diagonal ? NULL : x, y);

  if (!ierr) ierr = case_apply(reference, is_diagonal ? NULL : x, wanted);
  // Sums over nodes, points and scalars of the inputs, one after the other: a sum of n products is off by
  // at most n eps times the sum of its terms' sizes, which is less than a hundred times the largest result.
  const double num = shape->dim * (shape->P + shape->Q_1d) + c->Q + 20;
  const double error = reference_distance(length, y, wanted),
               tolerance = 100 * eps * num * reference_largest(length, wanted);
  free(x);
  free(y);
  free(wanted);
  CHECK_OK(ierr);
  CHECK(error <= tolerance, "%s, %d elements, %s: off by %g, allowed %g", shape->name, (int)c->num_elem,
        is_diagonal ? "diagonal" : "apply", error, tolerance);
}

static void check_text(const Case *c, const char *word, bool is_wanted) {
  const char *text = NULL;

  CHECK_OK(RitzOperatorGetSource(c->op, &text));
  CHECK(text && !strstr(text, word) == !is_wanted, "%s: '%s' is%s in the text", c->shape->name, word,
        is_wanted ? " not" : "");
}

static void check_shape(Ceed ceed, const Shape *shape, CeedInt num_elem, const char *word, bool is_wanted) {
  Ceed host = tap_ceed("/cpu/self/ref");
  Case c, reference;
  const int ierr = case_create(ceed, shape, num_elem, &c),
            failed = case_create(host, shape, num_elem, &reference);

  if (!ierr && !failed) compare(&c, &reference, false);
  if (!ierr && !tap_failed()) check_text(&c, word, is_wanted);
  // A dense active basis has no such kernel.
  if (!ierr && !failed && !tap_failed() && shape->Q_1d && num_elem > 1 && (tap_level() || shape == shapes))
    compare(&c, &reference, true);
  if (tap_failed()) tap_note("on %s: %s", resource_of(ceed), shape->name);
  case_destroy(&c);
  case_destroy(&reference);
  CeedDestroy(&host);
  CHECK_OK(ierr);
  CHECK_OK(failed);
}

TEST_EACH_GEN(inputs_of_degree_one_and_constant_ones_give_what_the_reference_gives) {
  static const CeedInt nums[] = {37, 1, 130};

  for (int i = 0; i < (tap_level() ? NUM_SHAPES : NUM_QUICK) && !tap_failed(); i++) {
    for (int k = 0; k < 1 + tap_level() && !tap_failed(); k++)
      check_shape(ceed, &shapes[i], nums[k], shapes[i].word, true);
  }
}

// Compilers of devices look at the environment in their threads.
TEST_EACH_GEN(without_simple_inputs_all_are_contracted) {
  ritz_tasks_wait();
  setenv("RITZ_SIMPLE_INPUTS", "off", 1);
  check_shape(ceed, &shapes[1], 5, "kernels/gpu/simple-inputs.h", false);
  ritz_tasks_wait();
  unsetenv("RITZ_SIMPLE_INPUTS");
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(inputs_of_degree_one_and_constant_ones_give_what_the_reference_gives,
                        without_simple_inputs_all_are_contracted));
}
