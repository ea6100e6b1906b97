// SPDX-License-Identifier: BSD-2-Clause
// Fused kernels of /gpu/*/gen for dense bases and for vector bases of tensor products, alone and beside
// tensor bases, and for operators without bases: random tables and L-vectors against the reference backend.
// Random operators of all kinds: test-operator.c, test-gpu-random.c; tensor bases: test-gpu-gen.c.
#include <ceed/backend.h>
#include <math.h>
#include <ritz/basis.h>
#include <ritz/operator.h>

#include "tests/gpu-kit.h"
#include "tests/gpu-sums.h"

// ---- Shapes of operators ----

typedef enum { H1, HDIV, HCURL, TENSOR, TABLES_DIV, TABLES_CURL, INFINITE_TABLES, NO_BASIS } Kind;

typedef struct {
  Kind kind;
  CeedInt P, num_comp; // TENSOR: P a direction; TABLES: what the numbers of nodes begin with
  CeedRestrictionType type;
} SpaceShape;

typedef struct {
  int space;
  CeedEvalMode mode;
} FieldShape;

enum { MAX_SPACES = 4 };

// Without a tensor basis: dim of the dense ones, Q_1d 0. The first input and the first output are active.
typedef struct {
  const char *name;
  CeedInt dim, Q_1d, Q;
  SpaceShape spaces[MAX_SPACES];
  int num_in;
  FieldShape in[GPU_MAX_FIELDS];
  int num_out;
  FieldShape out[GPU_MAX_FIELDS];
} Shape;

#define STANDARD      CEED_RESTRICTION_STANDARD
#define ORIENTED      CEED_RESTRICTION_ORIENTED
#define CURL_ORIENTED CEED_RESTRICTION_CURL_ORIENTED
#define STRIDED       CEED_RESTRICTION_STRIDED
#define NONE          CEED_EVAL_NONE
#define INTERP        CEED_EVAL_INTERP
#define GRAD          CEED_EVAL_GRAD
#define DIV           CEED_EVAL_DIV
#define CURL          CEED_EVAL_CURL
#define WEIGHT        CEED_EVAL_WEIGHT

static const Shape shapes[] = {
    {"gradients",
     3,
     0,
     11,
     {{H1, 10, 1, STANDARD}, {NO_BASIS, 0, 6, STRIDED}},
     2,
     {{0, GRAD}, {1, NONE}},
     1,
     {{0, GRAD}}},
    {"values and gradients of three components",
     3,
     0,
     24,
     {{H1, 20, 3, STANDARD}},
     3,
     {{0, INTERP}, {0, GRAD}, {0, WEIGHT}},
     2,
     {{0, GRAD}, {0, INTERP}}},
    {"values and divergences",
     2,
     0,
     7,
     {{HDIV, 6, 1, ORIENTED}},
     2,
     {{0, DIV}, {0, INTERP}},
     2,
     {{0, INTERP}, {0, DIV}}},
    {"values and curls",
     3,
     0,
     9,
     {{HCURL, 12, 2, CURL_ORIENTED}},
     2,
     {{0, INTERP}, {0, CURL}},
     1,
     {{0, CURL}}},
    {"four bases on the same points",
     2,
     0,
     6,
     {{H1, 3, 1, STANDARD}, {H1, 6, 2, STRIDED}, {HDIV, 3, 1, STANDARD}, {HCURL, 5, 1, ORIENTED}},
     4,
     {{1, GRAD}, {0, INTERP}, {2, DIV}, {3, CURL}},
     3,
     {{0, INTERP}, {2, INTERP}, {1, GRAD}}},
    {"so many components that a thread takes one element",
     1,
     0,
     5,
     {{H1, 3, 14, STANDARD}},
     1,
     {{0, INTERP}},
     1,
     {{0, INTERP}}},
    {"more points than a block should have threads",
     2,
     0,
     300,
     {{H1, 7, 1, STANDARD}},
     1,
     {{0, GRAD}},
     1,
     {{0, INTERP}}},
    {"beside a basis of lines",
     1,
     4,
     4,
     {{TENSOR, 3, 1, STANDARD}, {H1, 5, 2, STANDARD}},
     2,
     {{1, INTERP}, {0, GRAD}},
     2,
     {{0, INTERP}, {1, GRAD}}},
    {"beside a basis of quadrilaterals",
     2,
     3,
     9,
     {{H1, 5, 2, STRIDED}, {TENSOR, 3, 1, STANDARD}},
     4,
     {{0, GRAD}, {1, GRAD}, {0, WEIGHT}, {1, WEIGHT}},
     2,
     {{1, GRAD}, {0, INTERP}}},
    {"beside a basis of hexahedra, input and output of different kinds",
     3,
     3,
     27,
     {{HDIV, 6, 1, ORIENTED}, {TENSOR, 2, 2, STANDARD}},
     2,
     {{0, DIV}, {0, INTERP}},
     2,
     {{1, GRAD}, {1, INTERP}}},
    {"from a basis of hexahedra",
     3,
     3,
     27,
     {{HCURL, 7, 1, CURL_ORIENTED}, {TENSOR, 4, 1, STANDARD}},
     2,
     {{1, INTERP}, {1, GRAD}},
     2,
     {{0, CURL}, {0, INTERP}}},
    {"no basis",
     1,
     0,
     10,
     {{NO_BASIS, 0, 2, STANDARD}, {NO_BASIS, 0, 3, STRIDED}},
     1,
     {{0, NONE}},
     1,
     {{1, NONE}}},
    {"no basis and many points", 1, 0, 520, {{NO_BASIS, 0, 1, STRIDED}}, 1, {{0, NONE}}, 1, {{0, NONE}}},
};
enum { NUM_SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

// With vector bases of tensor products.
static const Shape vector_shapes[] = {
    {"values of a vector alone",
     3,
     3,
     27,
     {{TABLES_DIV, 0, 1, ORIENTED}},
     1,
     {{0, INTERP}},
     1,
     {{0, INTERP}}},
    {"a divergence of two vectors",
     3,
     2,
     8,
     {{TABLES_DIV, 1, 2, STANDARD}},
     1,
     {{0, DIV}},
     2,
     {{0, INTERP}, {0, DIV}}},
    {"a curl alone", 3, 3, 27, {{TABLES_CURL, 2, 1, CURL_ORIENTED}}, 1, {{0, CURL}}, 1, {{0, CURL}}},
    {"a curl of the plane beside a gradient",
     2,
     4,
     16,
     {{TABLES_CURL, 1, 1, ORIENTED}, {TENSOR, 3, 2, STANDARD}},
     3,
     {{0, CURL}, {1, GRAD}, {0, WEIGHT}},
     3,
     {{1, INTERP}, {0, CURL}, {0, INTERP}}},
    {"a divergence of the plane",
     2,
     3,
     9,
     {{TABLES_DIV, 3, 3, STRIDED}},
     2,
     {{0, DIV}, {0, INTERP}},
     1,
     {{0, DIV}}},
    {"curls, divergences and a dense basis",
     3,
     2,
     8,
     {{TABLES_CURL, 0, 1, ORIENTED},
      {TABLES_DIV, 3, 1, STRIDED},
      {HDIV, 5, 1, STANDARD},
      {TENSOR, 2, 1, STANDARD}},
     4,
     {{0, INTERP}, {1, DIV}, {2, DIV}, {3, GRAD}},
     3,
     {{1, INTERP}, {0, CURL}, {3, INTERP}}},
};
enum { NUM_VECTOR_SHAPES = sizeof(vector_shapes) / sizeof(vector_shapes[0]) };

// ---- Operators ----

// All handles are owned.
typedef struct {
  const Shape *shape;
  CeedInt num_elem;
  uint64_t seed;
  CeedElemRestriction rstr[MAX_SPACES];
  CeedBasis basis[MAX_SPACES];
  CeedVector in[MAX_SPACES], out[MAX_SPACES]; // of spaces that inputs, that outputs use
  CeedSize length[MAX_SPACES];                // of L-vectors
  GpuSizes sizes;
  CeedQFunction qf;
  CeedOperator op;
} Case;

// Some nodes are of several elements.
static CeedInt *draw_offsets(Case *c, CeedInt elem_size, CeedInt num_comp, CeedSize num_nodes) {
  CeedInt *offsets = calloc((size_t)c->num_elem * (size_t)elem_size, sizeof(*offsets));

  for (CeedInt i = 0; i < c->num_elem * elem_size; i++)
    offsets[i] = num_comp * (CeedInt)tap_integer(&c->seed, num_nodes);
  return offsets;
}

static int create_oriented(Ceed ceed, Case *c, int s, CeedInt elem_size, const CeedInt *offsets) {
  const SpaceShape *space = &c->shape->spaces[s];
  const CeedInt num = c->num_elem * elem_size, nc = space->num_comp;
  bool *orients = calloc((size_t)num, sizeof(*orients));
  CeedInt8 *rows = calloc(3 * (size_t)num, sizeof(*rows));

  for (CeedInt i = 0; i < num; i++) orients[i] = tap_integer(&c->seed, 2);
  for (CeedInt i = 0; i < 3 * num; i++) rows[i] = (CeedInt8)(tap_integer(&c->seed, 3) - 1);
  for (CeedInt e = 0; e < c->num_elem; e++) rows[3 * e * elem_size] = rows[3 * (e + 1) * elem_size - 1] = 0;
  const int ierr =
      space->type == ORIENTED
          ? CeedElemRestrictionCreateOriented(ceed, c->num_elem, elem_size, nc, 1, c->length[s],
                                              CEED_MEM_HOST, CEED_COPY_VALUES, offsets, orients, &c->rstr[s])
          : CeedElemRestrictionCreateCurlOriented(ceed, c->num_elem, elem_size, nc, 1, c->length[s],
                                                  CEED_MEM_HOST, CEED_COPY_VALUES, offsets, rows,
                                                  &c->rstr[s]);
  free(orients);
  free(rows);
  return ierr;
}

static bool has_tables(const SpaceShape *space) {
  return space->kind == TABLES_DIV || space->kind == TABLES_CURL || space->kind == INFINITE_TABLES;
}

// Nodes of component i / dim along direction i % dim: 1 to 4, another number for neighbours.
static CeedInt nodes_along(const SpaceShape *space, CeedInt i) { return 1 + (space->P + 3 * i) % 4; }

static CeedInt size_of_element(const Shape *shape, const SpaceShape *space) {
  CeedInt size = 0;

  if (space->kind == NO_BASIS) return shape->Q;
  if (space->kind == TENSOR) return CeedIntPow(space->P, shape->dim);
  if (!has_tables(space)) return space->P;
  for (CeedInt c = 0; c < shape->dim; c++) {
    CeedInt product = 1;

    for (CeedInt d = 0; d < shape->dim; d++) product *= nodes_along(space, c * shape->dim + d);
    size += product;
  }
  return size;
}

static int create_restriction(Ceed ceed, Case *c, int s) {
  const SpaceShape *space = &c->shape->spaces[s];
  const CeedInt nc = space->num_comp, size = size_of_element(c->shape, space);
  const CeedSize num_nodes =
      space->type == STRIDED ? (CeedSize)c->num_elem * size : c->num_elem * (size - size / 3);

  c->length[s] = num_nodes * nc;
  if (space->type == STRIDED)
    return CeedElemRestrictionCreateStrided(ceed, c->num_elem, size, nc, c->length[s],
                                            (CeedInt[]){1, c->num_elem * size, size}, &c->rstr[s]);
  CeedInt *offsets = draw_offsets(c, size, nc, num_nodes);
  const int ierr = space->type == STANDARD
                       ? CeedElemRestrictionCreate(ceed, c->num_elem, size, nc, 1, c->length[s],
                                                   CEED_MEM_HOST, CEED_COPY_VALUES, offsets, &c->rstr[s])
                       : create_oriented(ceed, c, s, size, offsets);
  free(offsets);
  return ierr;
}

static CeedScalar *draw(Case *c, CeedInt n) {
  CeedScalar *values = calloc((size_t)n, sizeof(*values));

  for (CeedInt i = 0; i < n; i++) values[i] = (CeedScalar)tap_uniform(&c->seed);
  return values;
}

static int create_tables(Ceed ceed, Case *c, int s) {
  enum { MOST = 9 };
  const Shape *shape = c->shape;
  const SpaceShape *space = &shape->spaces[s];
  CeedScalar *drawn[2][MOST] = {{NULL}}, *weights = draw(c, shape->Q_1d);
  const CeedScalar *tables[2][MOST];
  CeedInt P_1d[MOST];

  for (CeedInt i = 0; i < shape->dim * shape->dim; i++) {
    P_1d[i] = nodes_along(space, i);
    for (int k = 0; k < 2; k++) tables[k][i] = drawn[k][i] = draw(c, P_1d[i] * shape->Q_1d);
  }
  if (space->kind == INFINITE_TABLES) drawn[0][0][0] = (CeedScalar)INFINITY;
  const int ierr =
      RitzBasisCreateTensorVector(ceed, shape->dim, space->num_comp, space->kind == TABLES_CURL ? CURL : DIV,
                                  P_1d, shape->Q_1d, tables[0], tables[1], NULL, weights, &c->basis[s]);
  for (int k = 0; k < 2 * MOST; k++) free(drawn[k / MOST][k % MOST]);
  free(weights);
  return ierr;
}

static int create_basis(Ceed ceed, Case *c, int s) {
  static const CeedElemTopology topologies[] = {CEED_TOPOLOGY_LINE, CEED_TOPOLOGY_TRIANGLE,
                                                CEED_TOPOLOGY_TET};
  const Shape *shape = c->shape;
  const SpaceShape *space = &shape->spaces[s];
  const CeedElemTopology topology = topologies[shape->dim - 1];
  const CeedInt nc = space->num_comp, P = space->P, Q = shape->Q;

  c->basis[s] = CEED_BASIS_NONE;
  if (space->kind == NO_BASIS) return CEED_ERROR_SUCCESS;
  c->basis[s] = NULL;
  if (has_tables(space)) return create_tables(ceed, c, s);
  if (space->kind == TENSOR)
    return CeedBasisCreateTensorH1Lagrange(ceed, shape->dim, nc, P, shape->Q_1d, CEED_GAUSS, &c->basis[s]);
  CeedScalar *values = draw(c, 3 * P * Q), *derivatives = draw(c, 3 * P * Q), *points = draw(c, 3 * Q),
             *weights = draw(c, Q);
  const int ierr = (space->kind == H1     ? CeedBasisCreateH1
                    : space->kind == HDIV ? CeedBasisCreateHdiv
                                          : CeedBasisCreateHcurl)(ceed, topology, nc, P, Q, values,
                                                                  derivatives, points, weights, &c->basis[s]);
  free(values);
  free(derivatives);
  free(points);
  free(weights);
  return ierr;
}

// Values in the vectors of inputs and, to be overwritten, of outputs.
static int create_vectors(Ceed ceed, Case *c, int s) {
  double *values = reference_new_random(c->length[s], &c->seed);

  c->in[s] = reference_vector(ceed, c->length[s], values);
  c->out[s] = reference_vector(ceed, c->length[s], values);
  free(values);
  return c->in[s] && c->out[s] ? CEED_ERROR_SUCCESS : CEED_ERROR_MAJOR;
}

static int size_of(const Case *c, const FieldShape *f, CeedInt *size) {
  CeedInt q_comp = 1;

  if (f->mode != NONE && f->mode != WEIGHT)
    CeedCall(CeedBasisGetNumQuadratureComponents(c->basis[f->space], f->mode, &q_comp));
  *size = f->mode == WEIGHT ? 1 : q_comp * c->shape->spaces[f->space].num_comp;
  return CEED_ERROR_SUCCESS;
}

static int add_fields(Case *c) {
  char name[16];

  for (int i = 0; i < c->shape->num_in; i++) {
    CeedInt *size = &c->sizes.in_size[c->sizes.num_in++];
    CeedCall(size_of(c, &c->shape->in[i], size));
    snprintf(name, sizeof(name), "in %d", i);
    CeedCall(CeedQFunctionAddInput(c->qf, name, *size, c->shape->in[i].mode));
  }
  for (int i = 0; i < c->shape->num_out; i++) {
    CeedInt *size = &c->sizes.out_size[c->sizes.num_out++];
    CeedCall(size_of(c, &c->shape->out[i], size));
    snprintf(name, sizeof(name), "out %d", i);
    CeedCall(CeedQFunctionAddOutput(c->qf, name, *size, c->shape->out[i].mode));
  }
  return CEED_ERROR_SUCCESS;
}

static int set_field(Case *c, const char *way, int i, const FieldShape *f, int active, CeedVector *vectors) {
  const bool is_weight = f->mode == WEIGHT;
  char name[16];

  snprintf(name, sizeof(name), "%s %d", way, i);
  return CeedOperatorSetField(c->op, name, is_weight ? CEED_ELEMRESTRICTION_NONE : c->rstr[f->space],
                              c->basis[f->space],
                              is_weight            ? CEED_VECTOR_NONE
                              : f->space == active ? CEED_VECTOR_ACTIVE
                                                   : vectors[f->space]);
}

static int create_operator(Ceed ceed, Case *c) {
  CeedQFunctionContext context = NULL;

  CeedCall(CeedQFunctionCreateInterior(ceed, 1, GpuSums, GpuSums_loc, &c->qf));
  CeedCall(add_fields(c));
  CeedCall(CeedQFunctionContextCreate(ceed, &context));
  int ierr =
      CeedQFunctionContextSetData(context, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(c->sizes), &c->sizes);
  if (!ierr) ierr = CeedQFunctionSetContext(c->qf, context);
  CeedQFunctionContextDestroy(&context);
  if (!ierr) ierr = CeedOperatorCreate(ceed, c->qf, NULL, NULL, &c->op);
  for (int i = 0; !ierr && i < c->sizes.num_in; i++)
    ierr = set_field(c, "in", i, &c->shape->in[i], c->shape->in[0].space, c->in);
  for (int i = 0; !ierr && i < c->sizes.num_out; i++)
    ierr = set_field(c, "out", i, &c->shape->out[i], c->shape->out[0].space, c->out);
  return ierr;
}

// To be destroyed in any case. The same seed draws the same in every context.
static int case_create(Ceed ceed, const Shape *shape, CeedInt num_elem, Case *c) {
  *c = (Case){.shape = shape, .num_elem = num_elem, .seed = 4711};
  for (int s = 0; s < MAX_SPACES && shape->spaces[s].num_comp; s++) {
    CeedCall(create_restriction(ceed, c, s));
    CeedCall(create_basis(ceed, c, s));
    CeedCall(create_vectors(ceed, c, s));
  }
  return create_operator(ceed, c);
}

static void case_destroy(Case *c) {
  for (int s = 0; s < MAX_SPACES; s++) {
    CeedElemRestrictionDestroy(&c->rstr[s]);
    CeedBasisDestroy(&c->basis[s]);
    CeedVectorDestroy(&c->in[s]);
    CeedVectorDestroy(&c->out[s]);
  }
  CeedQFunctionDestroy(&c->qf);
  CeedOperatorDestroy(&c->op);
}

static int case_apply(Case *c) {
  return CeedOperatorApply(c->op, c->in[c->shape->in[0].space], c->out[c->shape->out[0].space],
                           CEED_REQUEST_IMMEDIATE);
}

// ---- Against the reference ----

// A sum of n products is off by at most n eps times the sum of its terms' sizes, which with random numbers is
// less than a hundred times the largest result.
static double tolerance_of(const Case *c, CeedSize length, const double *y) {
  CeedInt num = c->shape->Q;

  for (int s = 0; s < MAX_SPACES && c->shape->spaces[s].num_comp; s++)
    num += size_of_element(c->shape, &c->shape->spaces[s]) * c->shape->spaces[s].num_comp;
  return 100 * eps * num * reference_largest(length, y);
}

static void compare_outputs(const Case *c, const Case *reference) {
  for (int i = 0; i < c->sizes.num_out && !tap_failed(); i++) {
    const int s = c->shape->out[i].space;
    double *y = reference_new_values(c->out[s]), *wanted = reference_new_values(reference->out[s]);
    const double error = reference_distance(c->length[s], y, wanted),
                 tolerance = tolerance_of(c, c->length[s], wanted);

    free(y);
    free(wanted);
    CHECK(error <= tolerance, "%s, %d elements, output %d: off by %g, allowed %g", c->shape->name,
          (int)c->num_elem, i, error, tolerance);
  }
}

// Whether the explanation has these words.
static bool explains(CeedOperator op, const char *words) {
  char text[8192];
  FILE *stream = tmpfile();
  const int ierr = RitzOperatorExplain(op, stream);

  rewind(stream);
  text[fread(text, 1, sizeof(text) - 1, stream)] = '\0';
  fclose(stream);
  return !ierr && strstr(text, words);
}

static void check_shape(Ceed ceed, const Shape *shape, CeedInt num_elem, const char *words) {
  Ceed host = tap_ceed("/cpu/self/ref");
  Case c, reference;
  int ierr = case_create(ceed, shape, num_elem, &c);
  int failed = case_create(host, shape, num_elem, &reference);

  if (!ierr) ierr = case_apply(&c);
  if (!failed) failed = case_apply(&reference);
  if (!ierr && !failed) compare_outputs(&c, &reference);
  const bool is_as_told = ierr || explains(c.op, words);
  case_destroy(&c);
  case_destroy(&reference);
  CeedDestroy(&host);
  CHECK_OK(ierr);
  CHECK_OK(failed);
  CHECK(is_as_told, "%s: the explanation does not say '%s'", shape->name, words);
}

TEST_EACH_GEN(fused_kernels_with_dense_bases_or_none_give_what_the_reference_gives) {
  static const CeedInt nums[] = {150, 1, 301, 1000, 33};

  for (int i = 0; i < NUM_SHAPES && !tap_failed(); i += tap_level() ? 1 : 3) {
    for (int k = 0; k < (tap_level() ? 5 : 1) && !tap_failed(); k++)
      check_shape(ceed, &shapes[i], nums[k], "one generated kernel");
  }
}

// Where tensor cores are asked for, or what stands for them: several kinds of bases, restrictions and numbers
// of components, tiles that are not full, elements that are no multiple of sixteen, matrices in parts.
TEST_EACH_GEN(tensor_cores_multiply_by_dense_bases) {
  static const int picked[] = {0, 2, 6, 4, 3};
  static const Shape staged = {"matrices in parts", 3, 0,          81, {{H1, 56, 1, STANDARD}}, 1,
                               {{0, GRAD}},         1, {{0, GRAD}}};

  if (sizeof(CeedScalar) != sizeof(double)) SKIP("tensor cores multiply doubles only");
  setenv("RITZ_GPU_MMA", "on", 1);
  for (int i = 0; i < (tap_level() ? 5 : 2) && !tap_failed(); i++)
    check_shape(ceed, &shapes[picked[i]], 75 + i, "products by tensor cores");
  if (tap_level() && !tap_failed()) check_shape(ceed, &staged, 33, "products by tensor cores");
  unsetenv("RITZ_GPU_MMA");
}

TEST_EACH_GEN(deterministic_kernels_with_dense_bases_give_what_the_reference_gives) {
  char resource[64];

  snprintf(resource, sizeof(resource), "%s:deterministic", resource_of(ceed));
  Ceed deterministic = tap_ceed(resource);
  for (int i = tap_level() ? 0 : 4; i < NUM_SHAPES && !tap_failed(); i += tap_level() ? 1 : NUM_SHAPES)
    check_shape(deterministic, &shapes[i], 150, "one generated kernel");
  CeedDestroy(&deterministic);
}

TEST_EACH_GEN(lines_of_vector_bases_give_what_the_reference_gives) {
  for (int i = 0; i < NUM_VECTOR_SHAPES && !tap_failed(); i++)
    check_shape(ceed, &vector_shapes[i], 61, "lines of each component, each derivative from the nodes");
}

// Texts of kernels have no numbers that are not finite.
TEST_EACH_GEN(vector_bases_whose_lines_are_refused_are_dense) {
  const Shape shape = {"infinite", 2,          2, 4,         {{INFINITE_TABLES, 1, 1, STANDARD}},
                       1,          {{0, DIV}}, 1, {{0, DIV}}};
  Case c;
  int ierr = case_create(ceed, &shape, 5, &c);

  if (!ierr) ierr = case_apply(&c);
  const bool is_told = !ierr && explains(c.op, "vector bases: dense matrices (tables that are not finite)");
  const bool is_fused = !ierr && explains(c.op, "one generated kernel");
  case_destroy(&c);
  CHECK_OK(ierr);
  CHECK(is_told, "the explanation does not say why");
  CHECK(is_fused, "separate kernels");
}

TEST_EACH_GEN(elements_with_more_points_than_a_block_has_threads_run_as_separate_kernels) {
  const Shape shape = {.name = "too many points",
                       .dim = 1,
                       .Q = ritz_gpu(ceed)->info->max_threads + 1,
                       .spaces = {{H1, 2, 1, STANDARD}},
                       .num_in = 1,
                       .in = {{0, INTERP}},
                       .num_out = 1,
                       .out = {{0, INTERP}}};

  check_shape(ceed, &shape, 3, "not fused: more points in an element than a block has threads");
}

// The matrices are the only thing of this size.
TEST_EACH_GEN(operators_share_the_matrices_of_their_basis) {
  const Shape shape = {.name = "shared",
                       .dim = 1,
                       .Q = 100,
                       .spaces = {{H1, 100, 1, STANDARD}},
                       .num_in = 1,
                       .in = {{0, INTERP}},
                       .num_out = 1,
                       .out = {{0, INTERP}}};
  CeedOperator other = NULL;
  Case c;

  CHECK_OK(case_create(ceed, &shape, 1, &c));
  CHECK_OK(case_apply(&c));
  const int64_t before = counters_of(ceed).bytes_in;
  CHECK_OK(CeedOperatorCreate(ceed, c.qf, NULL, NULL, &other));
  CHECK_OK(CeedOperatorSetField(other, "in 0", c.rstr[0], c.basis[0], CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(other, "out 0", c.rstr[0], c.basis[0], CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorApply(other, c.in[0], c.out[0], CEED_REQUEST_IMMEDIATE));
  const int64_t num_bytes = counters_of(ceed).bytes_in - before;
  CeedOperatorDestroy(&other);
  case_destroy(&c);
  CHECK(num_bytes < (int64_t)(100 * 100 * sizeof(CeedScalar)), "%lld bytes for a second operator",
        (long long)num_bytes);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(fused_kernels_with_dense_bases_or_none_give_what_the_reference_gives,
                        tensor_cores_multiply_by_dense_bases,
                        deterministic_kernels_with_dense_bases_give_what_the_reference_gives,
                        lines_of_vector_bases_give_what_the_reference_gives,
                        vector_bases_whose_lines_are_refused_are_dense,
                        elements_with_more_points_than_a_block_has_threads_run_as_separate_kernels,
                        operators_share_the_matrices_of_their_basis));
}
